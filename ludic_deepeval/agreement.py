"""How far two readings of the same prose agree, item by item and in the figures that they lead to."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from ludic_deepeval.ledger import Event, Extracted, FactLedger, Hook, Npc
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import ScoreCard, score_ledger
from ludic_deepeval.text import name_key

_NAMES: Final = {
    "npcs": "people",
    "events": "events",
    "hooks": "hooks",
    "goals": "goals",
    "mysteries": "mysteries",
}


@dataclass(frozen=True, slots=True)
class KindAgreement:
    """Agreement in one kind of item.

    Attributes:
        kind: people, events, hooks, goals or mysteries.
        first: How many the first reading has.
        second: How many the second has.
        matched: How many stand in both.
        same: Of those, how many have the same answers to what scores: people status and unresolved, hooks tier and
            open, goals proactive, mysteries the mark, events the phase.
    """

    kind: str
    first: int
    second: int
    matched: int
    same: int

    @property
    def f1(self) -> Fraction | None:
        """2·matched / (first + second) in [0, 1], higher is better; None when neither reading has any."""
        total = self.first + self.second
        return Fraction(2 * self.matched, total) if total else None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two readings side by side.

    Attributes:
        kinds: A row for each kind of item.
        first: The first reading's score card.
        second: The second's.
    """

    kinds: tuple[KindAgreement, ...]
    first: ScoreCard
    second: ScoreCard


def compare(
    first: FactLedger, second: FactLedger, policy: Policy | None = None, *, names: tuple[str, ...] = ()
) -> Agreement:
    """Compare two ledgers of the same prose.

    People match by a shared name or alias. Other items match when their quotes overlap, each at most once, those that
    share most characters first.
    """
    rows = []
    for attribute, kind in _NAMES.items():
        left: tuple[Extracted, ...] = getattr(first, attribute)
        right: tuple[Extracted, ...] = getattr(second, attribute)
        pairs = match(left, right)
        same = sum(answers(left[i]) == answers(right[j]) for i, j in pairs)
        rows.append(KindAgreement(kind, len(left), len(right), len(pairs), same))
    return Agreement(
        tuple(rows), score_ledger(first, policy, names=names), score_ledger(second, policy, names=names)
    )


def match(left: Sequence[Extracted], right: Sequence[Extracted]) -> list[tuple[int, int]]:
    """Pair items of one kind from two readings of the same prose, as `compare` says; return pairs of indexes."""
    people = all(isinstance(item, Npc) for item in (*left, *right))
    likeness = _shared_names if people else _overlap
    scored = sorted(
        (-likeness(a, b), i, j) for i, a in enumerate(left) for j, b in enumerate(right) if likeness(a, b) > 0
    )
    used_left: set[int] = set()
    used_right: set[int] = set()
    pairs = []
    for _, i, j in scored:
        if i not in used_left and j not in used_right:
            used_left.add(i)
            used_right.add(j)
            pairs.append((i, j))
    return pairs


def _shared_names(a: Extracted, b: Extracted) -> int:
    if not (isinstance(a, Npc) and isinstance(b, Npc)):
        return 0
    mine, yours = ({name_key(name) for name in npc.names} for npc in (a, b))
    full = len(mine & yours)
    parts = {word for name in mine for word in name.split()} & {
        word for name in yours for word in name.split()
    }
    return full * 100 + len(parts)


def _overlap(a: Extracted, b: Extracted) -> int:
    return sum(max(0, min(x.end, y.end) - max(x.start, y.start)) for x in a.evidence for y in b.evidence)


def answers(item: Extracted) -> tuple[object, ...]:
    """What an item answers of that which scores (see `KindAgreement.same`)."""
    if isinstance(item, Npc):
        return item.status, item.unresolved
    if isinstance(item, Hook):
        return item.tier, item.open
    if isinstance(item, Event):
        return (item.phase,)
    return getattr(item, "proactive", None), getattr(item, "thematic_hole", None)
