"""How far raters agree: ICC(1) and Krippendorff's alpha, with intervals from resampled items (§5.7)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ludic_deepeval.errors import DataError
from ludic_deepeval.outcome import Outcome, Scored
from ludic_deepeval.stats import bca, icc1, krippendorff_alpha
from ludic_deepeval.studies.rating_words import SCALE, Question
from ludic_deepeval.studies.refusals import unscored

Floats: TypeAlias = NDArray[np.float64]
Many: TypeAlias = Callable[[Floats], Floats]
"""A statistic of many resamples at once: (…, items, answers) counts in, (…) values out."""
GATE: Final = 0.50
"""The least ICC(1) that the protocol accepts (§5.7)."""
RESAMPLES: Final = 10_000
_ANSWERS: Final = np.arange(SCALE[0], SCALE[1] + 1, dtype=float)


@dataclass(frozen=True)
class Estimate:
    """A value with its interval.

    Attributes:
        value: The estimate.
        n: Over how many items.
        interval: 95 % BCa over items, or why there is none.
    """

    value: float
    n: int
    interval: Outcome[tuple[float, float]]


@dataclass(frozen=True)
class Reliability:
    """How far raters agree on a question.

    Attributes:
        question: q1 … q4.
        icc: ICC(1), the reliability of one rating, from −1/(k0 − 1) to 1; higher is better.
        ordinal: Krippendorff's α on ranks, at most 1; higher is better. The paper does not say which level it took.
        interval: The same on differences.
        ratings: How many ratings there are.
        items: Of how many items.
        mean_rating: The reliability of the mean over k0 raters (Spearman and Brown), k0 ICC / (1 + (k0 − 1) ICC).
    """

    question: Question
    icc: Outcome[Estimate]
    ordinal: Outcome[Estimate]
    interval: Outcome[Estimate]
    ratings: int
    items: int
    mean_rating: Outcome[float]

    @property
    def accepted(self) -> bool | None:
        """Whether ICC(1) reaches .50; None where it was not computed."""
        return self.icc.value.value >= GATE if isinstance(self.icc, Scored) else None


def measure_reliability(
    name: Question,
    answers: Mapping[str, Mapping[str, int]],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Reliability:
    """How far raters agree on a question.

    Args:
        name: The question.
        answers: Item, rater, answer from 1 to 7.
        resamples: Of the bootstrap over items.
        seed: Of the bootstrap.
    """
    groups = [sorted(given.values()) for _, given in sorted(answers.items())]
    counts = tally(groups)

    def estimate(value: float, many: Many) -> Scored[Estimate]:
        interval = _interval(many, counts, resamples, seed)
        return Scored(Estimate(value, len(groups), interval))

    icc: Outcome[Estimate]
    mean: Outcome[float]
    try:
        found = icc1(groups)
    except DataError as error:
        icc = mean = unscored(error)
    else:
        icc = estimate(found.statistic, iccs)
        mean = Scored(found.k0 * found.statistic / (1 + (found.k0 - 1) * found.statistic))
    return Reliability(
        name,
        icc,
        _alpha(answers, "ordinal", estimate),
        _alpha(answers, "interval", estimate),
        int(counts.sum()),
        len(groups),
        mean,
    )


def _alpha(
    answers: Mapping[str, Mapping[str, int]],
    level: Literal["ordinal", "interval"],
    estimate: Callable[[float, Many], Scored[Estimate]],
) -> Outcome[Estimate]:
    items = sorted(answers)
    raters = sorted({rater for given in answers.values() for rater in given})
    table = [[float(answers[item].get(rater, np.nan)) for item in items] for rater in raters]
    try:
        found = krippendorff_alpha(table or [[]], level=level)
    except DataError as error:
        return unscored(error)
    return estimate(found.statistic, lambda counts: alphas(counts, level))


def _interval(many: Many, counts: Floats, resamples: int, seed: int) -> Outcome[tuple[float, float]]:
    """The BCa interval of a statistic when items are drawn anew with all their ratings."""

    def over(drawn: Floats, axis: int = -1) -> Floats:
        return many(counts[np.moveaxis(drawn, axis, -1).astype(np.intp)])

    try:
        return Scored(bca(over, np.arange(len(counts)), resamples=resamples, seed=seed))
    except DataError as error:
        return unscored(error)


def tally(groups: Sequence[Sequence[int]]) -> Floats:
    """Return how often each answer was given to each item: items × answers."""
    return np.array(
        [[group.count(int(answer)) for answer in _ANSWERS] for group in map(list, groups)], dtype=float
    ).reshape(len(groups), len(_ANSWERS))


def iccs(counts: Floats) -> Floats:
    """ICC(1) of each resample, as `stats.icc1` computes it; NaN where it is undefined."""
    sizes, sums, squares = counts.sum(axis=-1), counts @ _ANSWERS, counts @ _ANSWERS**2
    total, items = sizes.sum(axis=-1), counts.shape[-2]
    between = (sums**2 / sizes).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        msb = (between - sums.sum(axis=-1) ** 2 / total) / (items - 1)
        msw = (squares.sum(axis=-1) - between) / (total - items)
        k0 = (total - (sizes**2).sum(axis=-1) / total) / (items - 1)
        found: Floats = (msb - msw) / (msb + (k0 - 1) * msw)
    return found


def alphas(counts: Floats, level: Literal["ordinal", "interval"]) -> Floats:
    """Krippendorff's α of each resample, as `stats.krippendorff_alpha` computes it; NaN where it is undefined."""
    sizes = counts.sum(axis=-1, keepdims=True)
    paired = np.where(sizes >= 2, counts, 0.0)
    totals = paired.sum(axis=-2)
    pairs = np.swapaxes(paired / np.maximum(sizes - 1, 1), -1, -2) @ paired
    places = np.broadcast_to(_ANSWERS, totals.shape)
    if level == "ordinal":
        places = np.cumsum(totals, axis=-1) - totals / 2
    distance = (places[..., :, None] - places[..., None, :]) ** 2
    everyone = totals.sum(axis=-1)
    expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-1, -2))
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = 1 - (everyone - 1) * (pairs * distance).sum(axis=(-1, -2)) / expected
    return found
