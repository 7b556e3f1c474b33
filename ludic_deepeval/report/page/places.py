"""Which words of a story are marked, and as what."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ludic_deepeval.check import StoryResult
from ludic_deepeval.findings import Finding
from ludic_deepeval.judging import Reading
from ludic_deepeval.ledger import Event, Evidence, Extracted, Goal, Hook, Mystery, Npc
from ludic_deepeval.outcome import Scored
from ludic_deepeval.report.page.words import KINDS, SEVERITY, STATUS, is_open, message_of, told

GROUND: Final = "f"  # findings lie under their words as a tint; all other kinds are drawn as lines below


@dataclass(frozen=True, slots=True)
class Mark:
    """Words of the prose and what they are.

    Attributes:
        start: Where they begin in the body.
        end: Where they end, half-open.
        css: The class: of a kind, or `f` and one of `fe`, `fw`, `fn`.
        key: Of the item or finding within its story: "h3" is the third hook, "f1" the first finding.
        number: Which of its places this is, from 1.
        tag: What stands before the words.
        name: What the kind is called.
        title: What it is, for people.
    """

    start: int
    end: int
    css: str
    key: str
    number: int
    tag: str
    name: str
    title: str


@dataclass(frozen=True)
class Places:
    """All that is marked in one story.

    Attributes:
        prefix: Of every id of this story in the page: "s12".
        marks: In no order.
        found: The keys that have words in the prose, and how many places each.
    """

    prefix: str
    marks: tuple[Mark, ...]
    found: dict[str, int]

    def words(self, key: str, number: int = 1) -> str | None:
        """The address of words in the prose; None when there are none."""
        return f"#{self.prefix}-{key}w{number}" if number <= self.found.get(key, 0) else None


def key_of(list_name: str, index: int) -> str:
    """The key of an item of a ledger."""
    return f"{KINDS[list_name].css}{index + 1}"


def label_of(item: Extracted) -> str:
    """What an item is called."""
    match item:
        case Npc():
            return item.name
        case Event():
            return item.summary
        case Hook() | Goal() | Mystery():
            return item.text


def places_of(story: StoryResult, prefix: str) -> Places:
    """Find every place of a story that is marked."""
    reading = story.outcome.value if isinstance(story.outcome, Scored) else None
    marks = list(_of_items(reading))
    for number, finding in enumerate(told(story), start=1):
        marks += _of_finding(finding, number, reading)
    length = len(story.story.prose.body)
    inside = tuple(mark for mark in marks if 0 <= mark.start < mark.end <= length)
    found: dict[str, int] = {}
    for mark in inside:
        found[mark.key] = max(found.get(mark.key, 0), mark.number)
    return Places(prefix, inside, found)


def _of_items(reading: Reading | None) -> Iterator[Mark]:
    if reading is None:
        return
    for name, index, item in reading.ledger.items():
        kind, key, title = KINDS[name], key_of(name, index), label_of(item)
        for number, evidence in enumerate(item.evidence, start=1):
            yield Mark(
                evidence.start,
                evidence.end,
                kind.css,
                key,
                number,
                kind.letter,
                kind.one,
                f"{kind.one}: {title}",
            )


def _of_finding(finding: Finding, number: int, reading: Reading | None) -> Iterator[Mark]:
    if finding.span is None:
        return
    css = f"{GROUND} {GROUND}{finding.severity[0]}"
    called = SEVERITY[finding.severity] if is_open(finding) else STATUS[finding.status]
    name = f"finding {number}"
    message = message_of(finding)
    yield Mark(*finding.span, css, f"f{number}", 1, str(number), name, f"{called}: {message}")
    other = other_side(finding, reading)
    if other is not None:
        title = f"{called}, the other side: {message}"
        yield Mark(other.start, other.end, css, f"f{number}", 2, str(number), f"{name}, other side", title)


def other_side(finding: Finding, reading: Reading | None) -> Evidence | None:
    """Return the words that a contradiction is against, where they stand in the prose."""
    if reading is None or finding.against is None:
        return None
    ledger = reading.ledger
    people: dict[str, Npc | Event] = {npc.id: npc for npc in ledger.npcs}
    items = people | {event.id: event for event in ledger.events}
    for fault in reading.consistency.faults:
        if fault.code != finding.code or not finding.message.startswith(fault.message):
            continue
        for event_id in fault.events:
            item = items.get(event_id)
            first = item.evidence[0] if item and item.evidence else None
            if first and (first.start, first.end) != finding.span and first.quote in finding.against:
                return first
    return None
