"""How far repetitions of one story agree: readings in figures, gate and items, stress tests in E_a and Div_alpha."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Final

from ludic_deepeval.agreement import answers, match
from ludic_deepeval.effort import HIGH
from ludic_deepeval.grounding import ITEM, LISTS
from ludic_deepeval.ledger import Extracted, FactLedger
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from ludic_deepeval.scoring import Gate, ScoreCard
from ludic_deepeval.session import Session

MOST: Final = 30
# Student's t at 0.975 for 1 to 29 degrees of freedom.
_T: Final = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure over several readings.

    Attributes:
        n: How many readings have it.
        minimum: The lowest.
        mean: Their mean.
        maximum: The highest.
        low: The lower end of the 95% t-interval of the mean, x̄ − t(.975, n − 1)·s/√n; None for one reading.
        high: The upper end. Neither is cut at the figure's range.
    """

    n: int
    minimum: float
    mean: float
    maximum: float
    low: float | None
    high: float | None


def interval(values: Sequence[Fraction]) -> Interval | None:
    """Sum up 1 to 30 values; None without any."""
    n = len(values)
    if not n:
        return None
    mean = sum(values, Fraction(0)) / n
    low = high = None
    if n > 1:
        variance = sum(((value - mean) ** 2 for value in values), Fraction(0)) / (n - 1)
        half = _T[n - 2] * sqrt(variance / n)
        low, high = float(mean) - half, float(mean) + half
    return Interval(n, float(min(values)), float(mean), float(max(values)), low, high)


@dataclass(frozen=True, slots=True)
class Unstable:
    """An item that not every reading has, or to which they give different answers.

    Attributes:
        kind: person, event, hook, goal or mystery.
        words: Its name, text or summary in the first reading that has it.
        readings: How many have it.
        answers: How many different answers they give to what scores (status and unresolved, tier and open, …).
    """

    kind: str
    words: str
    readings: int
    answers: int


@dataclass(frozen=True)
class Stability:
    """Several readings of one story.

    Attributes:
        asked: How many readings were asked for.
        read: How many were made.
        scored: Of those, how many have a gate.
        passed: Of those, how many pass it.
        unscored: Why the others have none.
        lpi: LPI of the readings that have one.
        pcv: PCV likewise.
        unstable: The items that moved, those of most readings first.
    """

    asked: int
    read: int
    scored: int
    passed: int
    unscored: tuple[str, ...]
    lpi: Interval | None
    pcv: Interval | None
    unstable: tuple[Unstable, ...]


def stability(readings: Sequence[tuple[FactLedger, Outcome[ScoreCard]]], asked: int) -> Stability:
    """Set several readings of one story side by side.

    Args:
        readings: Each with its score card, or why it has none; such a reading counts in no figure.
        asked: How many were asked for.
    """
    cards = [card.value for _, card in readings if isinstance(card, Scored)]
    gates = [card.gate for card in cards if isinstance(card.gate, Gate)]
    unscored = [card.reason for _, card in readings if isinstance(card, Unscored)]
    unscored += [card.gate.reason for card in cards if isinstance(card.gate, Unscored)]
    return Stability(
        asked=asked,
        read=len(readings),
        scored=len(gates),
        passed=sum(gate.passed for gate in gates),
        unscored=tuple(unscored),
        lpi=interval([card.lpi for card in cards if isinstance(card.lpi, Fraction)]),
        pcv=interval([card.pcv for card in cards if isinstance(card.pcv, Fraction)]),
        unstable=unstable_items([ledger for ledger, _ in readings]),
    )


def unstable_items(ledgers: Sequence[FactLedger]) -> tuple[Unstable, ...]:
    """Find the items that moved. Each reading is matched, by the rule of `agreement.compare`, with the first to have an item."""
    moved = []
    for name in LISTS:
        groups: list[list[Extracted]] = []
        for ledger in ledgers:
            items: tuple[Extracted, ...] = getattr(ledger, name)
            pairs = {j: i for i, j in match([group[0] for group in groups], items)}
            for at, item in enumerate(items):
                if at in pairs:
                    groups[pairs[at]].append(item)
                else:
                    groups.append([item])
        for group in groups:
            different = len({answers(item) for item in group})
            if len(group) < len(ledgers) or different > 1:
                moved.append(Unstable(ITEM[name], words_of(group[0]), len(group), different))
    return tuple(sorted(moved, key=lambda one: -one.readings))


@dataclass(frozen=True)
class Trials:
    """Several stress tests of one story.

    Attributes:
        asked: How many were asked for.
        held: How many came to an end.
        scored: Of those, how many have an E_a.
        within: Of those, how many had at most .40 to be invented.
        unscored: Why the others have none.
        effort: E_a of those that have one, in [0, 1]; lower is better.
        diversity: Div_alpha likewise, in [0, 1].
    """

    asked: int
    held: int
    scored: int
    within: int
    unscored: tuple[str, ...]
    effort: Interval | None
    diversity: Interval | None


def trials(sessions: Sequence[Session], asked: int) -> Trials:
    """Set several stress tests of one story side by side; one without labels counts in no figure.

    Args:
        sessions: Those that came to an end.
        asked: How many were asked for.
    """
    efforts = [session.effort() for session in sessions]
    values = [one.value.value for one in efforts if isinstance(one, Scored)]
    openings = [session.diversity() for session in sessions]
    return Trials(
        asked=asked,
        held=len(sessions),
        scored=len(values),
        within=sum(value <= HIGH for value in values),
        unscored=tuple(one.reason for one in efforts if isinstance(one, Unscored)),
        effort=interval(values),
        diversity=interval([one.value.value for one in openings if isinstance(one, Scored)]),
    )


def words_of(item: Extracted) -> str:
    """What people would call an item."""
    return str(
        getattr(item, "name", None)
        or getattr(item, "summary", None)
        or getattr(item, "text", None)
        or item.id
    )
