"""How good readings are, against ledgers that people made: per kind of item, in judgements, and in the figures that follow."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ludic_deepeval.agreement import match
from ludic_deepeval.grounding import LISTS
from ludic_deepeval.kappa import weighted_kappa
from ludic_deepeval.ledger import DIMENSIONS, Extracted, FactLedger
from ludic_deepeval.lockfile import ListName, Lockfile
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from ludic_deepeval.scoring import Gate, ScoreCard

KINDS: dict[ListName, str] = {
    "npcs": "people",
    "events": "events",
    "hooks": "hooks",
    "goals": "goals",
    "mysteries": "mysteries",
}


@dataclass(frozen=True, slots=True)
class KindScore:
    """One kind of item over all stories.

    Attributes:
        kind: people, events, hooks, goals or mysteries.
        gold: How many the gold ledgers have.
        read: How many the readings have, on words of the prose.
        matched: How many are the same, by the rule of `agreement.compare`.
        ungrounded: How many more the readings had that rest on no words; they count in no other number.
    """

    kind: str
    gold: int
    read: int
    matched: int
    ungrounded: int

    @property
    def precision(self) -> Fraction | None:
        """The share matched / read, in [0, 1], higher is better; None when nothing was read."""
        return Fraction(self.matched, self.read) if self.read else None

    @property
    def recall(self) -> Fraction | None:
        """The share matched / gold, in [0, 1], higher is better; None when there is nothing to find."""
        return Fraction(self.matched, self.gold) if self.gold else None

    @property
    def f1(self) -> Fraction | None:
        """2·matched / (gold + read), in [0, 1], higher is better; None when there is neither."""
        total = self.gold + self.read
        return Fraction(2 * self.matched, total) if total else None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A number that both readers gave to the items that they share.

    Attributes:
        name: tier, immediacy, gravity, linkage or divergence.
        pairs: On how many items.
        same: How often it is the same.
        kappa: Quadratically weighted kappa; None where it is 0/0.
    """

    name: str
    pairs: int
    same: int
    kappa: Fraction | None


@dataclass(frozen=True)
class StoryRow:
    """One story.

    Attributes:
        path: The story.
        gold: Its score card by the gold ledger.
        read: By the reading, or why it has none.
    """

    path: str
    gold: ScoreCard
    read: Outcome[ScoreCard]

    @property
    def lpi_error(self) -> Fraction | None:
        """LPI of the reading less that of the gold ledger; None where either is not scored."""
        read = self.read.value.lpi if isinstance(self.read, Scored) else None
        gold = self.gold.lpi
        return read - gold if isinstance(read, Fraction) and isinstance(gold, Fraction) else None

    @property
    def pcv_error(self) -> Fraction | None:
        """The same of PCV."""
        read = self.read.value.pcv if isinstance(self.read, Scored) else None
        gold = self.gold.pcv
        return read - gold if isinstance(read, Fraction) and isinstance(gold, Fraction) else None

    @property
    def gates(self) -> tuple[bool, bool] | None:
        """Whether the gold ledger and the reading pass; None where either is not scored."""
        read = self.read.value.gate if isinstance(self.read, Scored) else None
        gold = self.gold.gate
        return (gold.passed, read.passed) if isinstance(gold, Gate) and isinstance(read, Gate) else None

    @property
    def why_not(self) -> str:
        """Why the reading has no verdict, or nothing."""
        if isinstance(self.read, Unscored):
            return self.read.reason
        return self.read.value.gate.reason if isinstance(self.read.value.gate, Unscored) else ""


@dataclass(frozen=True, slots=True)
class Error:
    """An error over stories.

    Attributes:
        n: In how many it was measured.
        mean: Signed: above 0 the readings are too kind.
        absolute: The mean of its size.
    """

    n: int
    mean: Fraction
    absolute: Fraction


@dataclass(frozen=True)
class Evaluation:
    """Readings against gold.

    Attributes:
        kinds: A row for each kind of item, over all stories, also those whose reading is not scored.
        judgements: Tier and the four dimensions on shared items.
        rows: A row for each story.
        missing: Stories without a reading, each with its reason.
    """

    kinds: tuple[KindScore, ...]
    judgements: tuple[Judgement, ...]
    rows: tuple[StoryRow, ...]
    missing: tuple[tuple[str, str], ...] = ()

    @property
    def gate(self) -> tuple[int, int]:
        """On how many stories the gate says the same, of how many where both have one."""
        both = [row.gates for row in self.rows if row.gates is not None]
        return sum(a == b for a, b in both), len(both)

    @property
    def lpi(self) -> Error | None:
        """The error of LPI over the stories where it was measured."""
        return _error([row.lpi_error for row in self.rows])

    @property
    def pcv(self) -> Error | None:
        """The error of PCV likewise."""
        return _error([row.pcv_error for row in self.rows])


def _error(found: Sequence[Fraction | None]) -> Error | None:
    errors = [one for one in found if one is not None]
    if not errors:
        return None
    n = len(errors)
    return Error(n, sum(errors, Fraction(0)) / n, sum(map(abs, errors), Fraction(0)) / n)


@dataclass(frozen=True)
class Pair:
    """A story's two ledgers and what each scores."""

    path: str
    gold: FactLedger
    read: Lockfile
    gold_card: ScoreCard
    read_card: Outcome[ScoreCard]


def evaluate(pairs: Sequence[Pair], missing: Sequence[tuple[str, str]] = ()) -> Evaluation:
    """Set readings beside gold ledgers of the same prose."""
    kinds: dict[ListName, list[int]] = {name: [0, 0, 0, 0] for name in LISTS}
    given: dict[str, list[tuple[int, int]]] = {name: [] for name in ("tier", *DIMENSIONS)}
    for pair in pairs:
        for name in LISTS:
            left: tuple[Extracted, ...] = getattr(pair.gold, name)
            right: tuple[Extracted, ...] = getattr(pair.read.ledger, name)
            both = match(left, right)
            aside = sum(one.list == name for one in pair.read.ungrounded)
            for at, more in enumerate((len(left), len(right), len(both), aside)):
                kinds[name][at] += more
            for number, values in given.items():
                found = ((getattr(left[i], number, None), getattr(right[j], number, None)) for i, j in both)
                values += [(a, b) for a, b in found if a is not None and b is not None]
    return Evaluation(
        tuple(KindScore(KINDS[name], *counts) for name, counts in kinds.items()),
        tuple(
            Judgement(name, len(values), sum(a == b for a, b in values), weighted_kappa(values))
            for name, values in given.items()
        ),
        tuple(StoryRow(pair.path, pair.gold_card, pair.read_card) for pair in pairs),
        tuple(missing),
    )
