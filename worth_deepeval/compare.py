"""Two models, or two conditions, on one episode: paired by repetition, tested by flipping signs (WORTH §4.10).

A comparison is of one episode: it takes one `Sheet`, leaves out every record of another story or version, and says so.
Points of two episodes are on two scales, and nothing here can bring them together.

Under the hypothesis that the two do not differ, either sign of each pair's difference is as likely, so that the exact
two-sided p is the share of the 2^n sign patterns whose sum is at least as far from 0 as the one that was seen. Points
are whole numbers: sums are counted, not sampled, for any n. The interval inverts the same test (Hartigan 1969): the
means of all non-empty subsets of the differences, in order, cut off alike at both ends. With 5 pairs the widest one has
30/32 = 93.75 %; 95 % needs 6.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import sqrt
from statistics import NormalDist, fmean, stdev
from typing import Final, Literal, TypeAlias

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.outcome import Scored
from worth_deepeval.episode import Sheet
from worth_deepeval.records import RunRecord, settled
from worth_deepeval.scoring import WorthScore, score_text

Kind: TypeAlias = Literal["model", "condition"]
LEVEL: Final = 0.95
_ALL_SUBSETS: Final = 12  # pairs; 4,095 means
_DRAWN: Final = 9_999  # subsets that are drawn where there are more pairs, by a fixed seed


@dataclass(frozen=True)
class Interval:
    """An interval and the level that it really has."""

    low: float
    high: float
    level: float


@dataclass(frozen=True)
class Side:
    """One of the two.

    Attributes:
        name: The model or condition.
        runs: Runs that there are, failures left out.
        scored: Of them, those whose selections could be read and are valid.
        scored_rate: Its Wilson interval.
        failures: Runs in which the model gave no reply; they are no runs.
        totals: Of the runs that are scored, in order of model and repetition.
        clues: Points for sentences, likewise.
        participants: Points for candidates, likewise.
    """

    name: str
    runs: int
    scored: int
    scored_rate: Interval | None
    failures: int
    totals: tuple[int, ...]
    clues: tuple[int, ...]
    participants: tuple[int, ...]

    @property
    def mean(self) -> float | None:
        """The mean total."""
        return fmean(self.totals) if self.totals else None

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation of the totals."""
        return stdev(self.totals) if len(self.totals) > 1 else None


@dataclass(frozen=True)
class Paired:
    """The test of one figure over the pairs.

    Attributes:
        differences: B minus A, in order of model and repetition.
        effect: Their mean.
        p_value: Two-sided, exact.
        interval: Of the effect; None below two pairs.
        method: How.
    """

    differences: tuple[int, ...]
    effect: float
    p_value: float
    interval: Interval | None
    method: str


@dataclass(frozen=True)
class Comparison:
    """What two models or conditions did on one episode.

    Attributes:
        episode: Its id: a comparison is of one episode.
        kind: What differs.
        held: The model or condition that does not; "several" where pairs come from several models.
        a: The first.
        b: The second.
        pairs: Runs that were scored on both sides.
        unpaired: Runs without a scored partner.
        skipped: Records of other stories or versions.
        figures: Of total, clue and participant points; empty without a pair.
        discovery: Whether the clue score is a result on both sides, and not a check of the manipulation.
    """

    episode: str
    kind: Kind
    held: str
    a: Side
    b: Side
    pairs: int
    unpaired: int
    skipped: int
    figures: dict[str, Paired]
    discovery: bool


def sign_flip(differences: Sequence[int]) -> float:
    """Return the exact two-sided p of a sign-flip test on whole numbers; 1 when there are none."""
    seen = abs(sum(differences))
    sums: Counter[int] = Counter({0: 1})
    for one in differences:
        further: Counter[int] = Counter()
        for total, count in sums.items():
            further[total + one] += count
            further[total - one] += count
        sums = further
    extreme = sum(count for total, count in sums.items() if abs(total) >= seen)
    return float(Fraction(extreme, 2 ** len(differences)))


def mean_interval(differences: Sequence[int], level: float = LEVEL) -> Interval | None:
    """Return the interval of the mean difference that the sign-flip test does not reject, with the level that it has.

    Exact for a symmetric distribution. Where few pairs cannot give the level, the widest interval is given with its own.
    """
    count = len(differences)
    if count < 2:
        return None
    if count <= _ALL_SUBSETS:
        means = [fmean(chosen) for size in range(1, count + 1) for chosen in combinations(differences, size)]
    else:
        draw = random.Random(0)  # noqa: S311  # a fixed draw, so that a figure can be had again
        means = []
        while len(means) < _DRAWN:
            if chosen := [one for one in differences if draw.random() < 0.5]:
                means.append(fmean(chosen))
    means.sort()
    gaps = len(means) + 1
    cut = max(1, int(gaps * (1 - level) / 2 + 1e-9))
    return Interval(means[cut - 1], means[-cut], 1 - 2 * cut / gaps)


def wilson(hits: int, of: int, level: float = LEVEL) -> Interval | None:
    """Return Wilson's interval of a rate; None of nothing."""
    if of == 0:
        return None
    z = NormalDist().inv_cdf(0.5 + level / 2)
    rate, share = hits / of, z * z / of
    middle, half = rate + share / 2, z * sqrt(rate * (1 - rate) / of + share / (4 * of))
    return Interval(max(0.0, (middle - half) / (1 + share)), min(1.0, (middle + half) / (1 + share)), level)


def compare(
    sheet: Sheet,
    records: Iterable[RunRecord],
    a: str,
    b: str,
    *,
    condition: str | None = None,
    exploratory: bool = False,
) -> Comparison:
    """Compare two models under one condition, or two conditions over all models, on one episode.

    Args:
        sheet: The episode.
        records: Runs; those of other stories and versions are left out.
        a: A model's or a condition's name.
        b: Another of the same kind.
        condition: Of two models, the condition under which; by default full-story.
        exploratory: Whether runs that do not count are taken, too.

    Raises:
        InputError: No runs of a name, or a model against a condition.
    """
    listed = list(records)
    ours = [one for one in listed if one.episode.sha256 == sheet.episode.digest]
    runs = [one for one in settled(ours).values() if one.formal or exploratory or one.failure is not None]
    models = {one.access.model for one in runs}
    conditions = {one.prompt.condition for one in runs}
    kind: Kind
    if {a, b} <= models:
        kind, held = "model", condition or "full-story"
        kept = [one for one in runs if one.prompt.condition == held]
        sides = [[one for one in kept if one.access.model == name] for name in (a, b)]
    elif {a, b} <= conditions and condition is not None:
        raise InputError(
            "--condition", "beside two conditions", allowed="of two models, under which they are compared"
        )
    elif {a, b} <= conditions:
        kind, held = "condition", "several" if len(models) > 1 else next(iter(models))
        sides = [[one for one in runs if one.prompt.condition == name] for name in (a, b)]
    else:
        raise InputError(
            "worth compare",
            f"'{clean(a)}' and '{clean(b)}' are not two models or two conditions with runs of {sheet.episode.id}",
            allowed=clean(
                f"models: {', '.join(sorted(models)) or 'none'}; conditions: {', '.join(sorted(conditions)) or 'none'}",
                limit=600,
            ),
        )
    if a == b:
        raise InputError("worth compare", f"'{clean(a)}' twice", allowed="two that differ")
    scored = [_scored(side, sheet, with_model=kind == "condition") for side in sides]
    both = sorted(scored[0].keys() & scored[1].keys())
    figures: dict[str, Paired] = {}
    if both:
        for name, value in _FIGURES.items():
            found = tuple(value(scored[1][one]) - value(scored[0][one]) for one in both)
            figures[name] = Paired(
                found, fmean(found), sign_flip(found), mean_interval(found), "exact sign-flip test on pairs"
            )
    return Comparison(
        episode=sheet.episode.id,
        kind=kind,
        held=held,
        a=_side(a, sides[0], scored[0]),
        b=_side(b, sides[1], scored[1]),
        pairs=len(both),
        unpaired=len(scored[0]) + len(scored[1]) - 2 * len(both),
        skipped=len(listed) - len(ours),
        figures=figures,
        discovery=all(
            not one.prompt.condition.startswith("evidence-cueing") for side in sides for one in side
        ),
    )


_FIGURES: Final[dict[str, Callable[[WorthScore], int]]] = {
    "total": lambda one: one.total,
    "clue": lambda one: one.clue,
    "participant": lambda one: one.participant,
}
_Place: TypeAlias = tuple[str, str, int]


def _scored(side: list[RunRecord], sheet: Sheet, *, with_model: bool) -> dict[_Place, WorthScore]:
    """The scores of one side, by what pairs them: the model (of conditions), how it was had, and the repetition."""
    found: dict[_Place, WorthScore] = {}
    for one in side:
        if one.text is None:
            continue
        access = one.access
        how = f"{access.model} {access.interface} {access.tier_executed or access.tier_configured}"
        place = (how if with_model else "", f"{one.prompt.modification} {one.prompt.rewrite}", one.repetition)
        if place in found:
            raise InputError(
                "worth compare",
                f"two runs {one.repetition} of {clean(one.name, limit=200)}",
                hint="give only the records of one interface, tier and set of options",
            )
        _, outcome = score_text(one.text, sheet)
        if isinstance(outcome, Scored):
            found[place] = outcome.value
    return found


def _side(name: str, side: list[RunRecord], scored: dict[_Place, WorthScore]) -> Side:
    values = [scored[place] for place in sorted(scored)]
    runs = sum(one.text is not None for one in side)
    return Side(
        name=name,
        runs=runs,
        scored=len(values),
        scored_rate=wilson(len(values), runs),
        failures=len(side) - runs,
        totals=tuple(one.total for one in values),
        clues=tuple(one.clue for one in values),
        participants=tuple(one.participant for one in values),
    )
