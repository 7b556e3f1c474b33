"""What runs say of their own confidence, beside what they scored (§5.1.3): shown together, never corrected by one another."""

import random
from collections import Counter
from dataclasses import dataclass
from math import atanh, sqrt, tanh
from statistics import fmean
from typing import Final

from ludic_deepeval.stats.intervals import Z95, Rate, wilson
from ludic_deepeval.stats.permutation import Permutation, correlation_within, pearson, product_test, ranks
from worth_deepeval.diagnosis.models import confidence_of
from worth_deepeval.diagnosis.sample import Sample

SURE: Final = 90


@dataclass(frozen=True)
class Correlation:
    """A rank correlation (Spearman's), from −1 to 1, and its 95 % interval.

    Attributes:
        value: The correlation; None when either side does not vary.
        low: The interval's lower end, by Fisher's z with Bonett and Wright's variance (1 + r²/2) / (n − k − 2), k groups; it
            takes runs for independent. None below two runs more than k + 1, or where the value is ±1.
        high: Its upper end.
        runs: Over how many runs.
    """

    value: float | None
    low: float | None
    high: float | None
    runs: int


@dataclass(frozen=True)
class ModelConfidence:
    """One model: what it says of itself.

    Attributes:
        model: Its name.
        stated: Of its scored runs, those that state a number from 0 to 100.
        least: The least that was stated.
        most: The most.
        mean: The mean.
        constant: Whether at least two were stated and all are the same.
        correlation: With the total, over its own runs.
    """

    model: str
    stated: Rate
    least: float | None
    most: float | None
    mean: float | None
    constant: bool
    correlation: Correlation


@dataclass(frozen=True)
class Confidence:
    """Confidence against score.

    Attributes:
        stated: Of the scored runs, those that state a number from 0 to 100; all else is over these.
        models: The same for each model.
        constant: Of the models that stated at least two, those that always say the same.
        whole: Rank correlation with the total over all runs, differences between models among it.
        within: The same by ranks within each model: whether a model's better runs are the surer ones.
        test: Whether `within` differs from 0 when each model's confidences are shuffled among its runs; two-sided.
        sure_and_negative: Of the runs that state 90 or more, those whose total is below 0.
        sure_and_wrong: Of the runs that state 90 or more, those that name somebody who took no part, or no participant.
        points: (confidence, total, runs): how many runs lie there.
    """

    stated: Rate
    models: tuple[ModelConfidence, ...]
    constant: Rate
    whole: Correlation
    within: Correlation
    test: Permutation | None
    sure_and_negative: Rate
    sure_and_wrong: Rate
    points: tuple[tuple[float, int, int], ...]


def confidence(sample: Sample, *, seed: int, draws: int) -> Confidence:
    """Return how stated confidence and score go together."""
    said = [confidence_of(run) for run in sample.scored]
    kept = [i for i, one in enumerate(said) if one is not None and 0 <= one <= 100]
    values = [said[i] or 0.0 for i in kept]
    totals = [sample.scores[i].total for i in kept]
    place = {i: at for at, i in enumerate(kept)}
    groups = {
        model: [place[i] for i in positions if i in place] for model, positions in sample.positions.items()
    }
    models = tuple(
        _model(model, [values[at] for at in own], [totals[at] for at in own], len(sample.positions[model]))
        for model, own in groups.items()
    )
    many = [one for one in models if one.stated.count > 1]
    own = [each for each in groups.values() if each]
    first, second = _ranked(own, values), _ranked(own, totals)
    within = correlation_within(own, first, second) if kept else None
    sure = [i for i in kept if (said[i] or 0) >= SURE]
    wrong = [i for i in sure if sample.scores[i].incorrect or not sample.scores[i].correct]
    return Confidence(
        stated=wilson(len(kept), len(sample.scored)),
        models=models,
        constant=wilson(sum(one.constant for one in many), len(many)),
        whole=_correlation(pearson(ranks(values), ranks(totals)), len(kept), 1),
        within=_correlation(within, len(kept), len(own)),
        test=product_test(
            own,
            first,
            second,
            rng=random.Random(seed),  # noqa: S311  # a shuffle, no secret
            draws=draws,
            two_sided=True,
            method="totals shuffled among each model's runs",
        )
        if kept
        else None,
        sure_and_negative=wilson(sum(sample.scores[i].total < 0 for i in sure), len(sure)),
        sure_and_wrong=wilson(len(wrong), len(sure)),
        points=tuple((*at, count) for at, count in sorted(Counter(zip(values, totals, strict=True)).items())),
    )


def _model(model: str, values: list[float], totals: list[int], scored: int) -> ModelConfidence:
    return ModelConfidence(
        model=model,
        stated=wilson(len(values), scored),
        least=min(values, default=None),
        most=max(values, default=None),
        mean=fmean(values) if values else None,
        constant=len(values) > 1 and min(values) == max(values),
        correlation=_correlation(pearson(ranks(values), ranks(totals)), len(values), 1),
    )


def _ranked(groups: "list[list[int]]", values: "list[float] | list[int]") -> list[float]:
    """Ranks within each group."""
    out = [0.0] * len(values)
    for own in groups:
        for i, rank in zip(own, ranks([values[i] for i in own]), strict=True):
            out[i] = rank
    return out


def _correlation(value: float | None, runs: int, groups: int) -> Correlation:
    free = runs - groups - 2
    if value is None or free < 1 or abs(value) > 1 - 1e-9:
        return Correlation(value, None, None, runs)
    half = Z95 * sqrt((1 + value * value / 2) / free)
    return Correlation(value, tanh(atanh(value) - half), tanh(atanh(value) + half), runs)
