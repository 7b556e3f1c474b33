"""What to say where a reader points: what a finding means and what mends it, and what words are marked as."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ludic_deepeval.advice import cheapest_fixes
from ludic_deepeval.check import StoryResult
from ludic_deepeval.codes import CODES
from ludic_deepeval.editor.looking import Look, Note, first_word
from ludic_deepeval.editor.places import Position, Range, range_of
from ludic_deepeval.errors import clean
from ludic_deepeval.explain import EXPLANATIONS
from ludic_deepeval.judging import Reading
from ludic_deepeval.ledger import PHASE_NAMES, Event, Extracted, Goal, Hook, Mystery, Npc
from ludic_deepeval.outcome import Scored, Unscored
from ludic_deepeval.report.as_text import details, verdict_words
from ludic_deepeval.scoring import decimal

Kind: TypeAlias = Literal["head", "text", "item", "aside"]

MAX_PARTS: Final = 40
_TRIALS: Final = 8000  # the bounds of `ludic judge`: pointing at a story should not take longer
_MOST_ITEMS: Final = 200
_TIERS: Final = {1: "could drive the very next scene", 2: "wants exploring first", 3: "colour"}
_OF_STORY: Final = frozenset(
    {
        "few-hooks",
        "flat-events",
        "no-goal",
        "few-people",
        "no-urgent-hook",
        "no-mystery",
        "too-many-mysteries",
    }
)
_MARKUP: Final = re.compile(r"[\\`*_\[\]~|&]|^[#+=>-]|(?<=^\d)[.)]|(?<=^\d\d)[.)]")
_MANY: Final = 2  # more findings at one place are told without why they matter


@dataclass(frozen=True, slots=True)
class Part:
    """A paragraph of a hover: a head, a text, an item of a list, or an aside in small print."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Hover:
    """What to say, and of which part of the text."""

    range: Range
    parts: tuple[Part, ...]


def hover(look: Look, at: Position) -> Hover | None:
    """What there is to say of a position; None if there is nothing."""
    here = Range(at, at)
    notes = [note for note in look.notes if note.range.meets(here)]
    ranges = [note.range for note in notes]
    parts: list[Part] = []
    if look.story is not None and look.result is not None and first_word(look.story.prose).meets(here):
        parts += _of_story(look.result)
        ranges.append(first_word(look.story.prose))
    told = list(_once(notes))
    parts += [part for note in told for part in _of_note(note, briefly=len(told) > _MANY)]
    for where, said in _marked(look, here):
        ranges.append(where)
        parts += said
    if not parts:
        return None
    smallest = min(
        ranges, key=lambda one: (one.end.line - one.start.line, one.end.character - one.start.character)
    )
    return Hover(smallest, tuple(parts[:MAX_PARTS]))


def as_markdown(said: Hover) -> str:
    """A hover in Markdown; nothing that a story holds is taken for markup."""
    return "\n\n".join(_in_markdown(part) for part in said.parts)


def as_plain(said: Hover) -> str:
    """A hover in plain text."""
    return "\n".join(("- " if part.kind == "item" else "") + part.text for part in said.parts)


def _in_markdown(part: Part) -> str:
    text = _MARKUP.sub(r"\\\g<0>", " ".join(part.text.split())).replace("<", "&lt;")
    return {"head": f"**{text}**", "text": text, "item": f"* {text}", "aside": f"*{text}*"}[part.kind]


def _once(notes: list[Note]) -> Iterator[Note]:
    """Each message once."""
    seen: set[tuple[str, str]] = set()
    for note in notes:
        if (note.code, note.message) not in seen:
            seen.add((note.code, note.message))
            yield note


def _of_note(note: Note, *, briefly: bool) -> Iterator[Part]:
    first, *more = note.message.splitlines()
    yield Part("head", f"{first} ({note.code})")
    yield from (Part("text", line) for line in more)
    if note.finding is not None and note.finding.reason:
        yield Part("text", f"Meant so: {clean(note.finding.reason, limit=400)}")
    told = EXPLANATIONS.get(note.code) if note.code in CODES else None
    if told is not None:
        if not briefly:
            yield Part("text", f"Why it matters: {_plain(told.why)}")
        yield Part("text", f"To mend it: {_plain(told.mend)}")
        yield Part("aside", f"ludic explain {note.code}")


def _plain(text: str) -> str:
    """Words of our own without the marks by which a page shows code."""
    return text.replace("`", "")


# The story as a whole


def _of_story(result: StoryResult) -> Iterator[Part]:
    if not isinstance(result.outcome, Scored):
        return
    reading = result.outcome.value
    yield Part("head", f"{clean(result.title, limit=200)}: {verdict_words(reading.card)}")
    yield Part("text", details(reading.card))
    meant = any(one.code in _OF_STORY and one.status != "open" for one in result.findings)
    if meant or result.plays or sum(1 for _ in reading.ledger.items()) > _MOST_ITEMS:
        return
    fixes = cheapest_fixes(reading.ledger, reading.card.policy, names=reading.names, trials=_TRIALS)
    if fixes:
        yield Part("text", f"The smallest fix ({fixes[0].effect}):")
        yield from (Part("item", clean(step, limit=300)) for step in fixes[0].todo)


# Marks


def _marked(look: Look, here: Range) -> Iterator[tuple[Range, list[Part]]]:
    result, story = look.result, look.story
    if result is None or story is None or not isinstance(result.outcome, Scored):
        return
    reading = result.outcome.value
    for _, _, item in reading.ledger.items():
        for evidence in item.evidence:
            where = range_of(story.prose, (evidence.start, evidence.end))
            if where.meets(here):
                yield where, list(_of_item(item, reading))
                break


def _of_item(item: Extracted, reading: Reading) -> Iterator[Part]:
    if isinstance(item, Npc):
        yield Part("head", f"Marked as a person: {clean(item.name, limit=200)}")
        also = f", also called {', '.join(clean(one) for one in item.aliases[:6])}" if item.aliases else ""
        open_now = item.unresolved and item.status != "dead"
        business = "counts: unfinished business" if open_now else "does not count: nothing unfinished"
        yield Part("text", f"{item.tie}, {item.status} at the end{also}; {business}")
    elif isinstance(item, Hook):
        yield Part("head", f"Marked as a hook: {clean(item.text, limit=300)}")
        state = "open" if item.open else "settled, so it does not count"
        yield Part("text", f"tier {item.tier}: {_TIERS[item.tier]}; {state}")
    elif isinstance(item, Goal):
        yield Part("head", f"Marked as a goal: {clean(item.text, limit=300)}")
        yield Part("text", "being pursued" if item.proactive else "not being pursued, so it does not count")
    elif isinstance(item, Mystery):
        yield Part("head", "Marked as a mystery")
        yield Part("text", _of_mystery(item, reading))
    elif isinstance(item, Event):
        yield Part("head", f"Marked as an event: {clean(item.summary, limit=300)}")
        yield Part("text", _of_event(item, reading))


def _of_mystery(item: Mystery, reading: Reading) -> str:
    row = next((row for row in reading.card.mysteries if row.id == item.id), None)
    if row is None or isinstance(row.measured, Unscored):
        why = row.measured.reason if row is not None and isinstance(row.measured, Unscored) else "no figures"
        return f"not measured: {clean(why, limit=300)}"
    named = row.measured.named
    which = f" ({', '.join(clean(one) for one in named[:6])})" if named else ""
    verdict = "counts as left unexplained" if row.hole else "tells too much to count"
    return f"{len(named)} of {row.measured.tokens} words are names or dates{which}: {verdict}"


def _of_event(item: Event, reading: Reading) -> str:
    claim = f"; what {clean(item.asserted_by)} says, and no fact" if item.asserted_by else ""
    when = f"in {PHASE_NAMES[item.phase]} ({item.phase})"
    row = next(
        (
            row
            for row in (() if isinstance(reading.card.pcv, Unscored) else reading.card.events)
            if row.id == item.id
        ),
        None,
    )
    if row is None:
        return f"{when}; without its four answers, so how much it presses is not measured{claim}"
    i, g, v, d = row.dimensions
    half = (
        ""
        if row.counted == row.raw
        else f", counts {decimal(row.counted, places=0)}: two as grave are stronger"
    )
    figures = f"immediacy {i}, gravity {g}, linkage {v}, divergence {d}"
    return f"{when}; presses with {decimal(row.raw, places=0)} ({figures}){half}{claim}"
