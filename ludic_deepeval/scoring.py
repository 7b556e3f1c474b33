"""LPI, PCV, tier, quadrant and gate of a Fact Ledger (LudicMetrics Eq 1–4, 7 and 11; §3.1, 3.5, 4.2).

Pure, total and deterministic. Everything is exact: a story at 0.70 passes, whatever binary floats think of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final, Literal, NamedTuple, TypeAlias

from ludic_deepeval.conflict import Conflict, EventRow, TierName, conflict_of, event_rows
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.vagueness import Names, Span, Vagueness, measure

Quadrant: TypeAlias = Literal[
    "campaign-ready", "rich-lore-flat-play", "explosive-but-shallow", "unplayable-draft"
]

_ZERO: Final = Fraction(0)
_MOST_DIGITS: Final = 6


class MysteryRow(NamedTuple):
    """One mystery under Eq 11.

    Attributes:
        id: The mystery's id.
        measured: Its tokens and the names among them, or why they could not be told.
        hole: Whether it counts as a thematic hole; None when unmeasured.
        marked: The reader's own mark (`thematic_hole`), kept beside and never mixed in; None when not given.
    """

    id: str
    measured: Vagueness | Unscored
    hole: bool | None
    marked: bool | None


class Counts(NamedTuple):
    """What LPI was computed from.

    Attributes:
        active: N_act, people with an unresolved tie who are not dead.
        tiers: Open hooks of tier 1, 2, 3: H.
        reactivity: Σ τ over H.
        goals: |G|, goals that are pursued.
        holes: k, mysteries that pass Eq 11; None when one could not be measured.
    """

    active: int
    tiers: tuple[int, int, int]
    reactivity: Fraction
    goals: int
    holes: int | None


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdict: LPI and PCV both at their thresholds (§4.2).

    Attributes:
        passed: Whether both hold.
        reasons: One line for each that does not, LPI first; empty when it passed.
    """

    passed: bool
    reasons: tuple[str, ...]


class _Index(NamedTuple):
    """LPI and what it is made of. Without k, TH and LPI are those of no hole, and nobody looks at them."""

    counts: Counts
    rtn: Fraction
    mv: Fraction
    ucr: Fraction
    th: Fraction
    lpi: Fraction
    rich: bool


@dataclass(frozen=True)
class ScoreCard:
    """All that arithmetic says of one ledger under one policy. What is listed row by row is made when it is looked at.

    Attributes:
        ledger: What was scored.
        policy: The policy it was scored under.
    """

    ledger: FactLedger
    policy: Policy
    _measured: list[Vagueness | Unscored]
    _unread: Unscored | None
    _index: _Index
    _conflict: Conflict | Unscored

    @property
    def lpi(self) -> Fraction | Unscored:
        """Ludic Potential Index in [0, 1], higher is more playable (Eq 1)."""
        return self._unread or self._index.lpi

    @property
    def rtn(self) -> Fraction:
        """Relational Tension Nodes in [0, 1] (Eq 2)."""
        return self._index.rtn

    @property
    def mv(self) -> Fraction:
        """Motivation Vector in [0, 1] (Eq 3)."""
        return self._index.mv

    @property
    def ucr(self) -> Fraction:
        """Unresolved Conflict Ratio in [0, 1], the tier-1 share of open hooks; 0 when there are none (Eq 3)."""
        return self._index.ucr

    @property
    def th(self) -> Fraction | Unscored:
        """Thematic Holes in [0, 1], peaks at three (Eq 4)."""
        return self._unread or self._index.th

    @property
    def counts(self) -> Counts:
        """The counts behind the four."""
        return self._index.counts

    @property
    def pcv(self) -> Fraction | Unscored:
        """Potential Conflict Value, at least 0, higher is more urgent (Eq 7); 0 without events."""
        return self._conflict if isinstance(self._conflict, Unscored) else self._conflict.pcv

    @property
    def tier(self) -> TierName | Unscored:
        """By PCV alone, whatever the profile."""
        return self._conflict if isinstance(self._conflict, Unscored) else self._conflict.tier

    @property
    def quadrant(self) -> Quadrant | Unscored:
        """The LPI × PCV plane at the policy's thresholds (§3.1)."""
        return self._verdict[0]

    @property
    def gate(self) -> Gate | Unscored:
        """Whether it passes, and every reason why not."""
        return self._verdict[1]

    @cached_property
    def _verdict(self) -> tuple[Quadrant, Gate] | tuple[Unscored, Unscored]:
        if self._unread:
            return self._unread, self._unread
        if isinstance(self._conflict, Unscored):
            return self._conflict, self._conflict
        return _verdict(self._index, self._conflict, self.policy)

    @cached_property
    def mysteries(self) -> tuple[MysteryRow, ...]:
        """A row for each mystery, in the ledger's order."""
        density = self.policy.density
        return tuple(
            MysteryRow(
                mystery.id,
                measured,
                None if isinstance(measured, Unscored) else measured.is_hole(density),
                mystery.thematic_hole,
            )
            for mystery, measured in zip(self.ledger.mysteries, self._measured, strict=True)
        )

    @cached_property
    def events(self) -> tuple[EventRow, ...]:
        """A row for each event, in the ledger's order; empty when PCV is unscored."""
        return () if isinstance(self._conflict, Unscored) else event_rows(self.ledger.events, self.policy)

    @property
    def components(self) -> dict[str, Fraction | Unscored]:
        """The four terms of Eq 1 by name."""
        return {"rtn": self.rtn, "mv": self.mv, "ucr": self.ucr, "th": self.th}

    @property
    def hole_agreement(self) -> tuple[int, int]:
        """Of the mysteries that carry a reader's mark and were measured, how many marks Eq 11 agrees with (§3.6)."""
        both = [
            (row.hole, row.marked)
            for row in self.mysteries
            if row.hole is not None and row.marked is not None
        ]
        return sum(hole == marked for hole, marked in both), len(both)


def score_ledger(ledger: FactLedger, policy: Policy | None = None, *, names: Iterable[str] = ()) -> ScoreCard:
    """Score a Fact Ledger.

    Args:
        ledger: The ledger. Its order does not matter to any figure.
        policy: Weights and thresholds; the paper's when left out.
        names: Further known names, from a Story Bible, for the Strategic-Vagueness Rule.

    Returns:
        A score card. What cannot be measured in it is `Unscored` with a cause: PCV, tier, quadrant and gate when an
        event lacks its dimensions; TH, LPI, quadrant and gate when a mystery's script cannot be read.
    """
    policy = policy or _DEFAULT
    active = 0
    for npc in ledger.npcs:
        if npc.unresolved and npc.status != "dead":
            active += 1
    tiers = [0, 0, 0]
    for hook in ledger.hooks:
        if hook.open:
            tiers[hook.tier - 1] += 1
    goals = 0
    for goal in ledger.goals:
        if goal.proactive:
            goals += 1
    measured, holes = _measured(ledger, policy, names)
    unread = holes if isinstance(holes, Unscored) else None
    index = _index(policy, active, tiers, goals, holes if isinstance(holes, int) else None)
    return ScoreCard(ledger, policy, measured, unread, index, conflict_of(ledger.events, policy))


_DEFAULT: Final = Policy()


def thematic_holes(holes: int, policy: Policy | None = None) -> Fraction:
    """TH of Eq 4 in [0, 1]: rises to 1 at three holes, falls by 0.15 for each further one."""
    policy = policy or _DEFAULT
    if holes <= policy.hole_peak:
        return Fraction(holes, policy.hole_peak)
    return max(_ZERO, 1 - policy.hole_decay * (holes - policy.hole_peak))


def _measured(
    ledger: FactLedger, policy: Policy, names: Iterable[str]
) -> tuple[list[Vagueness | Unscored], int | Unscored]:
    """Measure each mystery, and count the holes among them or say why they cannot be counted."""
    known: Names | None = None  # most mysteries name nobody
    found: list[Vagueness | Unscored] = []
    holes = 0
    failure: Unscored | None = None
    part, whole = policy.density.as_integer_ratio()
    for mystery in ledger.mysteries:
        span = mystery.text
        measured: Vagueness | Unscored | None = span.settled if isinstance(span, Span) else None
        if measured is None:
            known = known or Names(ledger, names)
            measured = measure(span, known)
        found.append(measured)
        if isinstance(measured, Unscored):
            failure = failure or Unscored(measured.cause, f"mystery '{mystery.id}': {measured.reason}")
        elif len(measured.named) * whole <= measured.tokens * part:  # is_hole, in whole numbers
            holes += 1
    return found, failure or holes


def _index(policy: Policy, active: int, tiers: list[int], goals: int, holes: int | None) -> _Index:
    """Eq 1 to 4. Few stories differ in all of their counts, and fractions are slow: each is worked out once."""
    key = (active, *tiers, goals, -1 if holes is None else holes)
    known: _Index | None = policy.worked_out.get(key)
    if known is not None:
        return known
    one, two, three, cap = policy.tau_scaled
    reactivity = tiers[0] * one + tiers[1] * two + tiers[2] * three
    rtn = policy.node_terms[min(active, policy.active_cap)] + (1 - policy.node_share) * Fraction(
        min(reactivity, cap), cap
    )
    mv = policy.goal_terms[min(goals, policy.goal_cap)]
    open_hooks = sum(tiers)
    ucr = Fraction(tiers[0], open_hooks) if open_hooks else _ZERO
    th = thematic_holes(holes or 0, policy)
    w_rtn, w_mv, w_ucr, w_th = policy.weights
    lpi = w_rtn * rtn + w_mv * mv + w_ucr * ucr + w_th * th
    sum_of_tau = Fraction(reactivity, cap) * policy.reactivity_cap
    counts = Counts(active, (tiers[0], tiers[1], tiers[2]), sum_of_tau, goals, holes)
    index = _Index(counts, rtn, mv, ucr, th, lpi, lpi >= policy.lpi_gate)
    if len(policy.worked_out) < _MOST_WORKED_OUT:
        policy.worked_out[key] = index
    return index


_MOST_WORKED_OUT: Final = 4096


def _verdict(index: _Index, conflict: Conflict, policy: Policy) -> tuple[Quadrant, Gate]:
    if index.rich and conflict.pressing:
        return "campaign-ready", _PASSED
    reasons = []
    if index.lpi < policy.lpi_threshold:
        reasons.append(
            f"LPI {decimal(index.lpi, policy.lpi_gate)} is below {decimal(policy.lpi_gate, policy.lpi_gate)}"
        )
    if not conflict.pressing:
        least = policy.pcv_threshold
        reasons.append(
            f"PCV {decimal(conflict.pcv, least, places=0)} is below {decimal(least, least, places=0)}"
        )
    quadrant: Quadrant = (
        "rich-lore-flat-play"
        if index.rich
        else "explosive-but-shallow"
        if conflict.pressing
        else "unplayable-draft"
    )
    return quadrant, Gate(passed=not reasons, reasons=tuple(reasons))


_PASSED: Final = Gate(passed=True, reasons=())


def decimal(value: Fraction, against: Fraction | None = None, *, places: int = 2) -> str:
    """Write a fraction with few digits, but never so few that it seems to reach a threshold which it misses.

    Args:
        value: What to write, rounded half to even.
        against: A threshold that the text must stay on the right side of.
        places: Digits after the point to begin with.
    """
    if places == 0 and value.denominator == 2:  # half an event's weight is worth its digit
        places = 1
    for digits in range(places, _MOST_DIGITS):
        rounded = round(value, digits)
        if against is None or (rounded < against) == (value < against):
            return f"{float(rounded):.{digits}f}"
    # Closer to the threshold than can be shown: say the last number on the right side of it.
    step = Fraction(1, 10**_MOST_DIGITS)
    return f"{float((value // step) * step):.{_MOST_DIGITS}f}"
