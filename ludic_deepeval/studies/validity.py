"""Do the metrics measure what people see? Convergent and discriminant validity, and how far raters agree (§5.7).

Each question has a target metric (Q1 openness and Q4 playability LPI, Q2 conflict PCV, Q3 preparation E_a). Convergent: the mean
rating of an item rises with its target. Discriminant: it goes with its target more than with any other metric. The
multitrait-multimethod table holds all correlations of the four questions and the three metrics.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from ludic_deepeval.errors import DataError
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from ludic_deepeval.stats import holm, pearson_r, power_r
from ludic_deepeval.studies.rating_key import RatingKey
from ludic_deepeval.studies.rating_words import QUESTIONS, TARGETS, Question
from ludic_deepeval.studies.ratings import Ratings
from ludic_deepeval.studies.refusals import unscored
from ludic_deepeval.studies.reliability import (
    RESAMPLES,
    Estimate,
    Reliability,
    measure_reliability,
)
from ludic_deepeval.studies.sample import METRICS, Metric

ALPHA: Final = 0.05
POWER: Final = 0.80


@dataclass(frozen=True)
class Convergence:
    """Whether a question's mean rating rises with its target metric.

    Attributes:
        question: q1 … q4.
        metric: Its target.
        r: Pearson's r over items, from −1 to 1; higher is better.
        p_value: One-tailed, that r is above 0; None with r.
        p_holm: Adjusted by Holm over the four questions; one that could not be computed counts among the four.
    """

    question: Question
    metric: Metric
    r: Outcome[Estimate]
    p_value: float | None
    p_holm: float | None

    @property
    def supported(self) -> bool | None:
        """Whether the adjusted p-value is at most .05; None where it was not computed."""
        return None if self.p_holm is None else self.p_holm <= ALPHA


@dataclass(frozen=True)
class Rival:
    """How a question goes with another metric, and with its target over the same stories.

    Attributes:
        r: With the other metric.
        own: With the target, over the stories for which both metrics were measured.
        n: How many those are.
    """

    r: float
    own: float
    n: int


@dataclass(frozen=True)
class Discrimination:
    """Whether a question goes with its target more than with any other metric (the MTMM criterion).

    Attributes:
        question: q1 … q4.
        metric: Its target.
        target: r with the target, over all stories.
        others: Each other metric beside the target.
    """

    question: Question
    metric: Metric
    target: Outcome[float]
    others: Mapping[Metric, Outcome[Rival]]

    @property
    def strongest(self) -> tuple[Metric, Rival] | None:
        """The other metric that comes nearest to the target or furthest ahead of it, by |r| over the same stories; None where none was computed."""
        known = [(name, one.value) for name, one in self.others.items() if isinstance(one, Scored)]
        return max(known, key=lambda pair: abs(pair[1].r) - abs(pair[1].own)) if known else None

    @property
    def holds(self) -> bool | None:
        """Whether |r| with the target is larger than with every other; None when one that could be was not computed."""
        known = [one.value for one in self.others.values() if isinstance(one, Scored)]
        if any(abs(one.r) >= abs(one.own) for one in known):
            return False
        return True if len(known) == len(self.others) else None


@dataclass(frozen=True)
class Validity:
    """All that the ratings of a form say of the metrics.

    Attributes:
        items: Items with at least one rating.
        raters: Raters with at least one.
        ratings: Rows.
        convergent: By question.
        discriminant: By question.
        reliability: By question.
        table: The multitrait-multimethod table: r and n of each pair of the seven measures.
        detectable: The smallest r that so many items show with a power of 80 %, one-tailed at .05.
        resamples: Of the bootstrap.
        seed: Of the bootstrap.
    """

    items: int
    raters: int
    ratings: int
    convergent: tuple[Convergence, ...]
    discriminant: tuple[Discrimination, ...]
    reliability: tuple[Reliability, ...]
    table: Mapping[tuple[str, str], tuple[Outcome[float], int]]
    detectable: Outcome[float]
    resamples: int
    seed: int


def measure_validity(
    key: RatingKey, ratings: Ratings, *, resamples: int = RESAMPLES, seed: int = 0
) -> Validity:
    """Compare ratings with the metrics of the stories that were rated.

    Args:
        key: The stories and what was measured of them.
        ratings: What raters said.
        resamples: Of the bootstrap over items.
        seed: Of the bootstrap.
    """
    means = mean_ratings(ratings)
    measures: dict[str, dict[str, float]] = {name: means[name] for name in QUESTIONS}
    for metric in METRICS:
        values = {one.item: getattr(one.metrics, metric) for one in key.items}
        measures[metric] = {item: value for item, value in values.items() if value is not None}
    rated = {row.item for row in ratings.rows}
    found = [_convergence(name, measures, resamples, seed) for name in QUESTIONS]
    adjusted = iter(_holm([one.p_value for one in found]))
    return Validity(
        items=len(rated),
        raters=len({row.rater for row in ratings.rows}),
        ratings=len(ratings.rows),
        convergent=tuple(
            Convergence(one.question, one.metric, one.r, one.p_value, next(adjusted)) for one in found
        ),
        discriminant=tuple(_discrimination(name, measures, rated) for name in QUESTIONS),
        reliability=tuple(
            measure_reliability(name, ratings.by_item(name), resamples=resamples, seed=seed)
            for name in QUESTIONS
        ),
        table={(a, b): _r(measures[a], measures[b], rated) for a, b in combinations(measures, 2)},
        detectable=_detectable(len(rated)),
        resamples=resamples,
        seed=seed,
    )


def mean_ratings(ratings: Ratings) -> dict[Question, dict[str, float]]:
    """The mean rating of each item on each question, over the raters who answered it."""
    return {
        name: {item: sum(given.values()) / len(given) for item, given in ratings.by_item(name).items()}
        for name in QUESTIONS
    }


def _holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjustment over all that were planned: what could not be computed counts as 1."""
    adjusted = holm([1.0 if p is None else p for p in p_values])
    return [None if p is None else one for p, one in zip(p_values, adjusted, strict=True)]


def _convergence(
    name: Question, measures: Mapping[str, Mapping[str, float]], resamples: int, seed: int
) -> Convergence:
    metric = TARGETS[name]
    x, y = _paired(measures[name], measures[metric])
    try:
        found = pearson_r(x, y, alternative="greater", interval="fisher")
    except DataError as error:
        return Convergence(name, metric, unscored(error, name, metric), None, None)
    interval: Outcome[tuple[float, float]]
    try:
        ends = pearson_r(x, y, alternative="greater", resamples=resamples, seed=seed).interval
        assert ends is not None  # noqa: S101  # pearson_r gives one, or raises
        interval = Scored(ends)
    except DataError as error:
        interval = unscored(error)
    return Convergence(name, metric, Scored(Estimate(found.statistic, len(x), interval)), found.p_value, None)


def _discrimination(
    name: Question, measures: Mapping[str, Mapping[str, float]], rated: set[str]
) -> Discrimination:
    target = TARGETS[name]
    others: dict[Metric, Outcome[Rival]] = {}
    for metric in METRICS:
        if metric != target:
            both = rated & measures[metric].keys() & measures[target].keys()
            r, n = _r(measures[name], measures[metric], both)
            own, _ = _r(measures[name], measures[target], both)
            lost = next((one for one in (r, own) if isinstance(one, Unscored)), None)
            if isinstance(r, Scored) and isinstance(own, Scored):
                others[metric] = Scored(Rival(r.value, own.value, n))
            elif lost is not None:
                others[metric] = lost
    return Discrimination(name, target, _r(measures[name], measures[target], rated)[0], others)


def _r(one: Mapping[str, float], other: Mapping[str, float], rated: set[str]) -> tuple[Outcome[float], int]:
    x, y = _paired(one, {item: value for item, value in other.items() if item in rated})
    try:
        return Scored(pearson_r(x, y, interval="fisher").statistic), len(x)
    except DataError as error:
        return unscored(error), len(x)


def _paired(one: Mapping[str, float], other: Mapping[str, float]) -> tuple[list[float], list[float]]:
    both = sorted(one.keys() & other.keys())
    return [one[item] for item in both], [other[item] for item in both]


def _detectable(items: int) -> Outcome[float]:
    try:
        return Scored(power_r(n=items, power=POWER, alpha=ALPHA, tails="one").effect)
    except DataError as error:
        return unscored(error)
