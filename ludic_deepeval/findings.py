"""What a score card and a consistency report mean to a writer: findings with a code, a place and a quote."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from ludic_deepeval.codes import CODES, Severity
from ludic_deepeval.consistency import ConsistencyReport
from ludic_deepeval.faults import LORE
from ludic_deepeval.ledger import Extracted, FactLedger
from ludic_deepeval.lockfile import Lockfile
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.scoring import ScoreCard, decimal
from ludic_deepeval.text import Prose

if TYPE_CHECKING:
    from ludic_deepeval.bible import Bible

Status: TypeAlias = Literal["open", "expected", "intentional", "known"]
_HIGH_LINKAGE: Final = 7
_ENOUGH_PEOPLE: Final = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to tell a writer.

    Attributes:
        code: A key of `CODES`.
        severity: error, warning or note; an open error fails the check.
        message: One line.
        line: Line of the stored file, from 1.
        column: Column in it, in characters from 1.
        quote: The words it is about; None when it is about the story as a whole.
        against: For a contradiction, where the other side stands and its words.
        span: Where the quote stands in the body, half-open; None without a quote.
        end_line: Line of the stored file in which the quote ends; None without a quote.
        end_column: The column after its last character; None without a quote.
        status: `open`, or why it does not count: `expected` (by the front matter's `expect`), `intentional` (the front
            matter says so) or `known` (in the team's baseline).
        reason: The front matter's reason for `intentional`.
    """

    code: str
    severity: Severity
    message: str
    line: int
    column: int
    quote: str | None = None
    against: str | None = None
    span: tuple[int, int] | None = None
    end_line: int | None = None
    end_column: int | None = None
    status: Status = "open"
    reason: str | None = None

    @property
    def fails(self) -> bool:
        """Whether it fails a check."""
        return self.severity == "error" and self.status == "open"


class Placer:
    """Puts findings where their words stand."""

    def __init__(self, prose: Prose, ledger: FactLedger | None) -> None:
        self._prose = prose
        self._items: dict[tuple[str, str], Extracted] = (
            {(name, item.id): item for name, _, item in ledger.items()} if ledger else {}
        )

    def at(self, offset: int, code: str, message: str) -> Finding:
        """A finding at a body offset."""
        place = self._prose.place(offset)
        return Finding(code, CODES[code].severity, message, place.line, place.column)

    def said(self, finding: Finding) -> str:
        """Where a finding is; with the column where a whole story may be on one line of another file."""
        return f"line {finding.line}" + (f", column {finding.column}" if self._prose.is_part else "")

    def over(self, start: int, end: int, code: str, message: str, quote: str | None = None) -> Finding:
        """A finding on a span of the body."""
        after = self._prose.place(end)
        return replace(
            self.at(start, code, message),
            quote=self._prose.body[start:end] if quote is None else quote,
            span=(start, end),
            end_line=after.line,
            end_column=after.column,
        )

    def on(self, name: str, item_id: str, code: str, message: str) -> Finding:
        """A finding on the first quote of an item."""
        item = self._items.get((name, item_id))
        if item is None or not item.evidence:
            return self.at(0, code, message)
        first = item.evidence[0]
        return self.over(first.start, first.end, code, message, first.quote)


def of_consistency(report: ConsistencyReport, placer: Placer, ledger: FactLedger) -> Iterator[Finding]:
    """One error for each fault, at the later side that stands in the prose, with the words of the other side."""
    lists = {npc.id: "npcs" for npc in ledger.npcs} | {event.id: "events" for event in ledger.events}
    logged = {entry.id for entry in ledger.background_log}
    for fault in report.faults:
        here, there = (1, 0) if fault.events[1] in lists and fault.code != LORE else (0, 1)
        finding = placer.on(lists.get(fault.events[here], ""), fault.events[here], fault.code, fault.message)
        other = fault.events[there]
        if fault.code == LORE:
            where = "the Story Bible"
        elif other in logged:
            where = "the background log"
        else:
            where = placer.said(placer.on(lists[other], other, fault.code, ""))
        yield replace(finding, against=f"{where}: “{fault.quotes[there]}”")


def of_play(card: ScoreCard, placer: Placer, ledger: FactLedger, bible: "Bible | None") -> Iterator[Finding]:
    """Warnings where the gate is missed, with what is missing; notes where a mark looks doubtful."""
    policy = card.policy
    lpi_low = not isinstance(card.lpi, Unscored) and card.lpi < policy.lpi_gate
    gates = policy.lpi_threshold > 0  # else a low LPI only says what could be added
    pcv_low = not isinstance(card.pcv, Unscored) and card.pcv < policy.pcv_threshold
    if lpi_low and not isinstance(card.lpi, Unscored):
        value, gate = decimal(card.lpi, policy.lpi_gate), decimal(policy.lpi_gate, policy.lpi_gate)
        if gates:
            yield placer.at(0, "few-hooks", f"too little is left open to play (LPI {value}, needs {gate})")
        yield from _missing(card, placer, ledger)
    if pcv_low and not isinstance(card.pcv, Unscored):
        value, gate = (
            decimal(card.pcv, policy.pcv_threshold, places=0),
            decimal(policy.pcv_threshold, policy.pcv_threshold, places=0),
        )
        yield placer.at(0, "flat-events", f"{policy.words['flat-events']} (PCV {value}, needs {gate})")
        for row in card.events:
            if row.counted < row.raw:
                message = f"counts half ({decimal(row.counted, places=0)} of {decimal(row.raw, places=0)}): two stronger events are as grave as this one"
                yield placer.on("events", row.id, "same-weight", message)
    for mystery in card.mysteries:
        if mystery.hole is False and not isinstance(mystery.measured, Unscored):
            named, tokens = mystery.measured.named, mystery.measured.tokens
            message = f"tells too much to be a mystery: {len(named)} of {tokens} words are names or dates ({', '.join(named[:6])})"
            yield placer.on("mysteries", mystery.id, "told-mystery", message)
    if bible is not None:
        from ludic_deepeval.bible import linkage_support  # noqa: PLC0415  # loaded with the bible

        for event in ledger.events:
            if event.location and event.practices and bible.location(event.location) is None:
                known = ", ".join(place.id for place in bible.locations)
                message = f"'{event.location}' is no place of {bible.name}, so its laws were not looked up; it has {known}"
                yield placer.on("events", event.id, "unknown-place", message)
            support = linkage_support(event, bible)
            if event.linkage is not None and event.linkage >= _HIGH_LINKAGE and not support.supported:
                message = f"linkage {event.linkage}, but it names nothing of {bible.name}"
                yield placer.on("events", event.id, "bare-linkage", message)


def _missing(card: ScoreCard, placer: Placer, ledger: FactLedger) -> Iterator[Finding]:
    who = ledger.protagonist
    counts = card.counts
    if not counts.goals:
        yield placer.at(0, "no-goal", f"{who} pursues nothing")
    if counts.active < min(_ENOUGH_PEOPLE, card.policy.active_cap):
        people = {0: "nobody has", 1: "only one person has"}.get(
            counts.active, f"only {counts.active} people have"
        )
        yield placer.at(0, "few-people", f"{people} unfinished business with {who}")
    if not counts.tiers[0]:
        yield placer.at(0, "no-urgent-hook", "no open thread could drive the next scene")
    if counts.holes == 0:
        yield placer.at(0, "no-mystery", "nothing is left unexplained")
    elif counts.holes is not None and counts.holes > card.policy.hole_peak:
        message = f"{counts.holes} things are left unexplained; past {card.policy.hole_peak} they blur"
        yield placer.at(0, "too-many-mysteries", message)


def of_lock(lock: Lockfile, placer: Placer, prose: Prose) -> Iterator[Finding]:
    """What of the prose nobody has read, and what of the reading rests on no prose."""
    for part in lock.unread:
        quote = " ".join(prose.body[part.start : part.end].split()[:8])
        yield placer.over(
            part.start, part.end, "new-paragraph", "this paragraph is new or changed and not read yet", quote
        )
    for item in lock.ungrounded:
        named = (
            item.item.get("name")
            or item.item.get("text")
            or item.item.get("summary")
            or item.item.get("id")
            or "an item"
        )
        yield placer.at(0, "no-quote", f"not scored: {item.list} '{named}': {item.reason}")
