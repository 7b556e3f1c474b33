"""Changes that an editor is offered: a finding marked as intentional, words marked in the mark sheet."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ludic_deepeval.candidates import names_in
from ludic_deepeval.codes import NEVER_MEANT
from ludic_deepeval.editor.insertion import Insertion, Rows, add_entry
from ludic_deepeval.editor.looking import Look, Note
from ludic_deepeval.editor.places import Range, offset_in, range_in
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import load_yaml
from ludic_deepeval.lockfile import load_lockfile
from ludic_deepeval.marks import scalar, sheet_ledger, sheet_of
from ludic_deepeval.reanchor import relock
from ludic_deepeval.sources import Story
from ludic_deepeval.sources.markdown import story_of
from ludic_deepeval.text import folded, word_count
from ludic_deepeval.web.anchors import Anchor, anchor

ReadSheet: TypeAlias = Callable[[Path], str | None]
"""Takes a mark sheet's path and returns what is in it, saved or not; None when there is none. May raise InputError."""

WHY: Final = "TODO: say why this is meant"
_NAME_WORDS: Final = 4  # a longer selection is words about somebody, not a name
_OPENING: Final = re.compile(r"\ufeff?---[^\S\r\n]*(?:\r\n|\r|\n)")


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one file.

    Attributes:
        path: The file.
        range: What is taken out, in the file as it is.
        text: What comes in its place.
        creates: Whether the file is not there yet.
    """

    path: Path
    range: Range
    text: str
    creates: bool = False


@dataclass(frozen=True, slots=True)
class Action:
    """Something that an editor can offer.

    Attributes:
        title: What it says.
        kind: `quickfix` for a finding, `mark` for a selection.
        change: What it does; None where that is not possible.
        why_not: Why not.
        note: The finding that it is about.
        command: What the server does itself, where it is no change of a text (see `keeping`).
    """

    title: str
    kind: Literal["quickfix", "mark"]
    change: Change | None = None
    why_not: str = ""
    note: Note | None = None
    command: str = ""


def actions(look: Look, chosen: Range, read_sheet: ReadSheet) -> tuple[Action, ...]:
    """What can be done about a selection, or where the cursor is."""
    if look.story is None:
        return ()
    found: dict[tuple[str, str | None], Action] = {}
    for note in look.notes:
        if _can_be_meant(note) and note.range.meets(chosen):
            key = note.code, note.finding.quote if note.finding else None
            found.setdefault(key, _meant(note, look.story))
    return (*found.values(), *_marks(look.story, chosen, read_sheet))


# Marking a finding as intentional


def _can_be_meant(note: Note) -> bool:
    return note.finding is not None and note.finding.status == "open" and note.code not in NEVER_MEANT


def _meant(note: Note, story: Story) -> Action:
    title = f"Mark as intentional: {note.code}"
    quote = note.finding.quote if note.finding else None
    rows: Rows = (("code", note.code, ""), *((("quote", scalar(quote), ""),) if quote else ()))
    rows += (("reason", scalar(WHY), ""),)
    try:
        made = _into_front_matter(story, rows)
        _require_same(story, made, code=note.code)
    except InputError as error:
        return Action(title, "quickfix", why_not=_said(error), note=note)
    raw = story.prose.raw
    where = range_in(raw, made.start, made.end)
    return Action(title, "quickfix", Change(story.path, where, made.text), note=note)


def _into_front_matter(story: Story, rows: Rows) -> Insertion:
    prose = story.prose
    if prose.front_matter is None:
        end = "\r\n" if "\r\n" in prose.raw else "\n"
        at = 1 if prose.raw.startswith("\ufeff") else 0
        entry = add_entry("", "intentional", rows, story.path).text.replace("\n", end)
        return Insertion(at, at, f"---{end}{entry}---{end}{end}")
    made = add_entry(prose.front_matter, "intentional", rows, story.path)
    opening = _OPENING.match(prose.raw)
    first = opening.end() if opening else 0
    return Insertion(made.start + first, made.end + first, made.text)


def _require_same(story: Story, made: Insertion, *, code: str) -> None:
    """Make sure that the story is what it was, with one more mark."""
    after = story_of(made.applied(story.prose.raw), story.path)
    marks, before = after.front.intentional, story.front.intentional
    same = after.front.model_copy(update={"intentional": before}) == story.front
    if not (
        same and after.prose.sha256 == story.prose.sha256 and marks[:-1] == before and marks[-1].code == code
    ):
        raise InputError(story.path, "nothing can be added to this front matter", hint="add it by hand")


# Marking a selection


@dataclass(frozen=True, slots=True)
class _Mark:
    """What a selection may be marked as: the words for it, the section, and the entry made of a quote."""

    title: str
    section: str
    values: dict[str, Any]
    comments: dict[str, str]


def _marks(story: Story, chosen: Range, read_sheet: ReadSheet) -> tuple[Action, ...]:
    start, end = offset_in(story.prose, chosen.start), offset_in(story.prose, chosen.end)
    if start >= end:
        return ()
    none = partial(Action, "Mark selection as …", "mark", None)
    made = anchor(story.prose, start, end)
    if not isinstance(made, Anchor):
        return (none(made),)
    try:
        there = read_sheet(story.sheet)
        sheet = _fresh(story) if there is None else there
        content = load_yaml(sheet, story.sheet)
    except InputError as error:
        return (none(_said(error)),)
    if not isinstance(content, dict):
        return (none(f"{story.sheet.name} is no mark sheet: ludic annotate writes one."),)
    quote = " ".join(made.quote.split())
    selected = story.prose.body[start:end]
    return tuple(
        _marked(mark, story, sheet, content, new=there is None) for mark in _possible(quote, selected)
    )


def _fresh(story: Story) -> str:
    """The sheet as `ludic annotate` would begin it, for the prose as it is now."""
    if not story.lockfile.exists():
        return sheet_of(story, None)
    lock = load_lockfile(story.lockfile)
    return sheet_of(story, relock(lock, story.prose, story.lockfile).lock)


def _possible(quote: str, selected: str) -> list[_Mark]:
    tiers = {1: "that could drive the next scene", 2: "to explore", 3: "for colour"}
    found = [
        _Mark(
            f"a hook {words} (tier {tier})",
            "hooks",
            {"text": quote, "quote": quote, "tier": tier, "open": None, "npc": None},
            {
                "text": "in a few words: what could play pick up here?",
                "open": "false, if it was settled in the story",
                "npc": "whose thread it is, if anybody's",
            },
        )
        for tier, words in tiers.items()
    ]
    found += [
        _Mark(
            "a mystery", "mysteries", {"quote": quote, "thematic_hole": None},
            {"thematic_hole": "your own judgement: implied, but left unclear?"},
        ),
        _Mark(
            "a goal", "goals", {"text": quote, "quote": quote, "proactive": None},
            {"text": "in a few words: what does the protagonist want?", "proactive": "false, if it is not being pursued now"},
        ),
        _Mark(
            "a person", "people",
            {"name": _name(selected, quote), "quote": quote, "status": None, "tie": None, "unresolved": None},
            {
                "status": "alive, dead, missing, undead or unknown: at the end of the story",
                "tie": "enemy, rival, ally, family, mentor, lover, debtor, creditor, patron, other",
                "unresolved": "true, if something between the two is still open",
            },
        ),
    ]  # fmt: skip
    asked = {
        "summary": "in a few words: what happens?",
        "immediacy": "1 to 10, all four or none: must this be answered next session?",
        "gravity": "1 to 10: what is at stake?",
        "linkage": "1 to 10: how much of the world is in it?",
        "divergence": "1 to 10: how many different things could come of it?",
    }
    found += [
        _Mark(
            f"an event of {phase}",
            "events",
            {"phase": phase, "summary": quote, "quote": quote}
            | dict.fromkeys(("immediacy", "gravity", "linkage", "divergence")),
            asked,
        )
        for phase in ("childhood", "youth", "adulthood")
    ]
    return found


def _name(selected: str, quote: str) -> str | None:
    """Whose name a selection is or holds."""
    plain = " ".join(selected.split()).strip(".,;:!?“”\"'«»。，、；：！？")
    if plain and word_count(plain) <= _NAME_WORDS and (plain in names_in(plain) or not plain.isascii()):
        return plain
    return next(iter(names_in(selected) or names_in(quote)), None)


def _marked(mark: _Mark, story: Story, sheet: str, content: dict[Any, Any], *, new: bool) -> Action:
    title = f"Mark selection as {mark.title}"
    if mark.section == "people":
        if mark.values["name"] is None:
            return Action(title, "mark", why_not="No name in this selection: select the name of somebody.")
        title += f": {clean(mark.values['name'], limit=60)}"
    try:
        if why := _already(mark, content):
            return Action(title, "mark", why_not=why)
        trial = {"sheet": 1, "protagonist": "?", mark.section: [mark.values]}
        sheet_ledger(trial, story.prose, story.sheet.name)
        rows = tuple(
            (key, "" if value is None else scalar(value), mark.comments.get(key, ""))
            for key, value in mark.values.items()
        )
        made = add_entry(sheet, mark.section, rows, story.sheet)
    except InputError as error:
        return Action(title, "mark", why_not=_said(error))
    if new:
        top = range_in("", 0, 0)
        return Action(title, "mark", Change(story.sheet, top, made.applied(sheet), creates=True))
    return Action(title, "mark", Change(story.sheet, range_in(sheet, made.start, made.end), made.text))


def _already(mark: _Mark, content: dict[Any, Any]) -> str:
    """Why these words are marked as this already, or nothing."""
    entries = content.get(mark.section)
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict):
            continue
        quotes = entry.get("quote")
        for quote in quotes if isinstance(quotes, list) else [quotes]:
            if isinstance(quote, str) and folded(quote) == folded(mark.values["quote"]):
                return f"These words are in the mark sheet already, under {mark.section}."
        name = mark.values.get("name")
        if name and isinstance(entry.get("name"), str) and folded(entry["name"]) == folded(name):
            return f"{clean(name)} is in the mark sheet already: add the words to the quotes there."
    return ""


def _said(error: InputError) -> str:
    said = clean(str(error), limit=600)
    return said[:1].upper() + said[1:]
