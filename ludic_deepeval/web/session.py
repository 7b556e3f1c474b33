"""One person marking one story: what is marked now, what it comes to, and how it is saved."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ludic_deepeval.candidates import find_candidates
from ludic_deepeval.check import Checker
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import MAX_YAML_BYTES, decode, dump_json, read_bytes, write_atomic
from ludic_deepeval.ledger import MAX_ITEMS, PHASE_NAMES, BackgroundEvent, FactLedger, load_ledger
from ludic_deepeval.lockfile import write_lockfile
from ludic_deepeval.marks import SECTIONS, lock_story, write_sheet
from ludic_deepeval.report.as_text import counted
from ludic_deepeval.sources import Story, read_story
from ludic_deepeval.text import paragraphs
from ludic_deepeval.web.anchors import Anchor, anchor
from ludic_deepeval.web.questions import SECTIONS as ASKED
from ludic_deepeval.web.verdict import Sheet, Sifted, sift, verdict

_PHASES: Final = {name: phase for phase, name in PHASE_NAMES.items()}
_SECOND_NOTE: Final = (
    "a second reading, kept in step with its .second.ledger.json by: ludic annotate --web --second"
)


class StaleMarksError(Exception):
    """Marks were sent that were made on top of marks that are no longer the latest: a second tab is open."""


@dataclass
class Session:
    """What is being marked. `open_session` makes one.

    Attributes:
        story: The story as it was when the page was opened.
        sheet_path: The mark sheet that is kept in step.
        lock_path: Where saving puts the ledger.
        second: Whether this is a second reader, who does not see the first one's marks.
        sheet: The marks: a mark sheet's content, quotes and answers without offsets.
        notices: What to tell the reader at the top.
        aside: What an earlier reading named without words of the story: {section, item, reason}.
        unread: Spans of the body that are new since it was read.
        background_log: What a person's lockfile says happened off stage; kept as it is.
        on_disk: The mark sheet's content, where that is what the page opened with.
        must_save: Whether what is on disk is behind even if nothing is changed.
        revision: Goes up with every change.
    """

    story: Story
    sheet_path: Path
    lock_path: Path
    second: bool
    sheet: Sheet
    notices: list[str] = field(default_factory=list)
    aside: list[dict[str, Any]] = field(default_factory=list)
    unread: list[tuple[int, int]] = field(default_factory=list)
    background_log: tuple[BackgroundEvent, ...] = ()
    on_disk: Sheet | None = None
    must_save: bool = False
    revision: int = 0

    def __post_init__(self) -> None:
        """Remember what lies on disk, so that nobody's work is written over unseen."""
        self._checker = Checker()
        self._saved_sheet = self.sheet
        self._lock_on_disk = bytes_of(self.lock_path)
        self.own_sheets = {write_sheet(self.story)}
        self.summary = ""  # of what was saved, for the terminal

    @property
    def unsaved_path(self) -> Path:
        """Where marks are kept that were not saved when the page was closed."""
        return self.sheet_path.with_name(self.sheet_path.name.replace(".marks.yaml", ".marks.unsaved.yaml"))

    @property
    def dirty(self) -> bool:
        """Whether there are marks that are not saved."""
        return self.must_save or self.sheet != self._saved_sheet

    # What the page asks for

    def view(self) -> dict[str, Any]:
        """All that the page opens with."""
        prose, bible = self.story.prose, self._checker.bible_for(self.story)
        return {
            "title": self.story.front.title or self.story.id,
            "file": self.story.path.name,
            "target": self.lock_path.name,
            "second": self.second,
            "body": prose.body,
            "paragraphs": paragraphs(prose.body),
            "unread": self.unread,
            "sections": ASKED,
            "sheet": self.sheet,
            "notices": self.notices,
            "candidates": [
                {"kind": found.kind, "about": found.about, "quote": found.quote, "span": list(span)}
                for found in find_candidates(prose)
                if (span := next(iter(prose.find(found.quote)), None))
            ],
            "known": {
                "places": [node.name for node in bible.locations] if bible else [],
                "factions": [node.name for node in bible.factions] if bible else [],
            },
            **self.result(),
        }

    def result(self) -> dict[str, Any]:
        """What the marks come to: the troubles, where the quotes stand, the ids, the verdict."""
        sifted = sift(self.sheet, self.story)
        ledger = self._with_log(sifted.ledger)
        return {
            "revision": self.revision,
            "dirty": self.dirty,
            "saved": self._lock_on_disk is not None and not self.dirty,
            "aside": self._still_aside(),
            "troubles": [
                {"section": trouble.section, "index": trouble.index, "line": trouble.line}
                for trouble in sifted.troubles
            ],
            "spans": {section: self._spans(section) for section in SECTIONS},
            "ids": {section: _ids(sifted, section, len(self.sheet[section])) for section in SECTIONS},
            "verdict": verdict(ledger, self.story, self._checker),
        }

    def _spans(self, section: str) -> list[list[tuple[int, int]]]:
        rows = []
        for item in self.sheet[section]:
            quotes = item.get("quote")
            quotes = [quotes] if isinstance(quotes, str) else quotes if isinstance(quotes, list) else []
            found = [self.story.prose.find(quote) for quote in quotes if isinstance(quote, str)]
            rows.append([places[0] for places in found if len(places) == 1])
        return rows

    def quote(self, start: int, end: int) -> dict[str, Any]:
        """What a selection, in characters of the body, becomes when it is marked."""
        made = anchor(self.story.prose, start, end)
        if isinstance(made, Anchor):
            return {"quote": made.quote, "span": [made.start, made.end]}
        return {"line": made}

    def update(self, sheet: object, revision: int) -> dict[str, Any]:
        """Take the page's marks and return what they come to.

        Raises:
            StaleMarksError: Another tab was faster.
            InputError: This is no mark sheet.
        """
        if revision != self.revision:
            raise StaleMarksError
        before, self.sheet = self.sheet, shaped(sheet)
        try:
            self.revision += 1
            return self.result()
        except InputError:
            self.sheet = before
            self.revision -= 1
            raise

    def save(self, sheet: object, revision: int, *, overwrite: bool = False) -> dict[str, Any]:
        """Write the mark sheet and, as `ludic lock` does, the lockfile made from it.

        Args:
            sheet: The page's marks.
            revision: What they were made on top of.
            overwrite: Write although the lockfile is no longer the one that was opened.

        Returns:
            The result, with whether it is `done`, and the `line` to tell; with `conflict` when `overwrite` has to be asked for.

        Raises:
            StaleMarksError: Another tab was faster.
            InputError: No mark sheet, or a file that cannot be written.
        """
        result = self.update(sheet, revision)
        if wrong := len(result["troubles"]):
            line = f"Not saved yet: {counted(wrong, 'thing', 'things')} below {'needs' if wrong == 1 else 'need'} an answer or other words."
            return result | {"done": False, "line": line}
        if bytes_of(self.lock_path) != self._lock_on_disk and not overwrite:
            line = (
                f"Not saved: {clean(self.lock_path.name)} was changed by somebody else since you opened it."
            )
            return result | {"done": False, "conflict": True, "line": line}
        kept = self._write(sift(self.sheet, self.story).ledger)
        line = f"Saved to {clean(self.lock_path.name, limit=200)}."
        if kept:
            line += f" The mark sheet that was there is kept as {clean(kept.name, limit=200)}."
        if _changed_meanwhile(self.story):
            line += f" The story itself was edited meanwhile: run ludic relock {clean(self.story.path.name, limit=200)} and open it again."
        return result | {"done": True, "saved": True, "dirty": False, "line": line}

    def _write(self, ledger: FactLedger) -> Path | None:
        text = self.sheet_of(ledger)
        kept = None
        there = bytes_of(self.sheet_path)
        if there is not None and there not in {own.encode("utf-8") for own in (*self.own_sheets, text)}:
            # Typed or commented by hand: what it says is nowhere else.
            kept = self.sheet_path.with_name(f"{self.sheet_path.name}.bak")
            write_atomic(kept, decode(there, self.sheet_path))
        write_atomic(self.sheet_path, text)
        lock = lock_story(self.story, self.sheet_path)
        lock = lock.model_copy(update={"ledger": self._with_log(lock.ledger)})
        write_lockfile(lock, self.lock_path)
        self.own_sheets.add(text)
        self._lock_on_disk = bytes_of(self.lock_path)
        self._saved_sheet, self.must_save = self.sheet, False
        self.unread.clear()
        self.forget_unsaved()
        self.summary = _summary(lock.ledger)
        return kept

    def sheet_of(self, ledger: FactLedger) -> str:
        """The mark sheet of a ledger, with what has no words at its top."""
        notes = [_SECOND_NOTE] if self.second else []
        notes += [f"no words found: {entry['section']}: {entry['reason']}" for entry in self._still_aside()]
        return write_sheet(self.story, ledger, tuple(notes))

    def _still_aside(self) -> list[dict[str, Any]]:
        """What has no words and was not marked since."""
        return [
            entry
            for entry in self.aside
            if not any(
                entry["item"].get(key) and entry["item"].get(key) == item.get(key)
                for item in self.sheet[entry["section"]]
                for key in ("id", "name", "text", "summary")
            )
        ]

    def _with_log(self, ledger: FactLedger) -> FactLedger:
        if not self.background_log:
            return ledger
        log = [entry.model_dump() for entry in self.background_log]
        return load_ledger(ledger.model_dump() | {"background_log": log}, self.lock_path)

    def discard(self) -> None:
        """Forget what was not saved, because the reader says so."""
        self.sheet, self.must_save = self._saved_sheet, False
        self.forget_unsaved()

    def keep_unsaved(self) -> Path | None:
        """Put marks that were not saved where the next `open_session` finds them; None when there are none."""
        if self.sheet in (self._saved_sheet, self.on_disk):
            return None
        write_atomic(self.unsaved_path, dump_json({"sheet": 1, **self.sheet}))
        return self.unsaved_path

    def forget_unsaved(self) -> None:
        """Drop what `keep_unsaved` kept: it is saved now, or not wanted."""
        self.unsaved_path.unlink(missing_ok=True)


def shaped(sheet: object, file: object = "marks") -> Sheet:
    """Marks with every section a list of mappings; what is in those is for the ledger to judge."""
    if not isinstance(sheet, dict) or not all(isinstance(key, str) for key in sheet):
        raise InputError(file, "no mark sheet", allowed="a mapping")
    if unknown := sorted(set(sheet) - {"sheet", "story", "candidates", "protagonist", *SECTIONS}):
        raise InputError(file, f"unknown key '{clean(unknown[0])}'")
    who = sheet.get("protagonist")
    shaped: Sheet = {"protagonist": who if isinstance(who, str) else ""}
    for section in SECTIONS:
        items = [] if sheet.get(section) is None else sheet[section]
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise InputError(file, "no list of marks", where=section, allowed="a list of mappings")
        if len(items) > MAX_ITEMS:
            raise InputError(file, f"{len(items)} marks", where=section, allowed=f"at most {MAX_ITEMS}")
        shaped[section] = [_item(item) for item in items]
    return shaped


def _item(item: dict[Any, Any]) -> dict[str, Any]:
    """An item with its phase as the ledger writes it and its quotes as a list."""
    made = {str(key): value for key, value in item.items() if value is not None}
    phase = made.get("phase")
    if isinstance(phase, str):
        made["phase"] = _PHASES.get(phase.lower(), phase)
    if isinstance(made.get("quote"), str):
        made["quote"] = [made["quote"]]
    return made


def _ids(sifted: Sifted, section: str, count: int) -> list[str | None]:
    """The id of each item of a section, None where the item is not right."""
    ids: list[str | None] = [None] * count
    for index, item in zip(sifted.places[section], getattr(sifted.ledger, SECTIONS[section]), strict=True):
        ids[index] = item.id
    return ids


def _summary(ledger: FactLedger) -> str:
    """Count the items as `ludic lock` does: 4 people, 5 hooks."""
    words = {section["key"]: (section["one"].lower(), section["many"].lower()) for section in ASKED}
    return ", ".join(counted(len(getattr(ledger, SECTIONS[key])), *pair) for key, pair in words.items())


def bytes_of(path: Path) -> bytes | None:
    """What lies on disk, or None."""
    return read_bytes(path, limit=MAX_YAML_BYTES * 8) if path.exists() else None


def _changed_meanwhile(story: Story) -> bool:
    try:
        return read_story(story.path).prose.sha256 != story.prose.sha256
    except InputError:
        return True
