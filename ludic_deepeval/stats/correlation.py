"""Correlations with their intervals, and the BCa bootstrap."""

import warnings
from collections.abc import Callable
from math import atanh, sqrt, tanh
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from ludic_deepeval.errors import DataError
from ludic_deepeval.stats.inputs import Alternative, Floats, codes, one_of, sample, share, varies, whole
from ludic_deepeval.stats.results import Result

Interval: TypeAlias = Literal["bca", "fisher"]
_ALTERNATIVES: Final = ("two-sided", "less", "greater")
RESAMPLES: Final = 10_000  # LudicMetrics §5.7


def pearson_r(
    first: ArrayLike,
    second: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    interval: Interval = "bca",
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Result:
    """The linear correlation of two measures of the same items, from −1 to 1.

    p is that of t = r √((n−2) / (1−r²)) with n − 2 degrees of freedom.

    Args:
        first: x, at least 3 values.
        second: y, as many.
        alternative: "greater" tests whether r is above 0.
        interval: "bca", the bias-corrected and accelerated bootstrap, or "fisher", tanh(atanh r ± z/√(n−3)).
        confidence: The interval's level; it is two-sided whatever the alternative.
        resamples: Of the bootstrap.
        seed: Of the bootstrap; the same seed gives the same interval.

    Returns:
        r as statistic and effect.

    Raises:
        DataError: Fewer than 3 pairs (4 for an interval by Fisher), or a measure that does not vary.
    """
    one_of(alternative, _ALTERNATIVES, "pearson_r", "alternative")
    one_of(interval, ("bca", "fisher"), "pearson_r", "interval")
    share(confidence, "pearson_r", "confidence")
    x, y = _pairs(first, second, "pearson_r")
    found = stats.pearsonr(x, y, alternative=alternative)
    r = float(found.statistic)
    if interval == "fisher":
        ends = r_interval(r, len(x), confidence=confidence)
    elif 1 - abs(r) < 1e-12:  # on a line every resample is on it
        ends = (float(round(r)), float(round(r)))
    else:
        ends = bca(_correlations, x, y, confidence=confidence, resamples=resamples, seed=seed)
    return Result(
        statistic=r,
        df=float(len(x) - 2),
        p_value=float(found.pvalue),
        effect=r,
        interval=ends,
        method=f"Pearson r, {alternative}, {'BCa' if interval == 'bca' else 'Fisher z'} interval",
    )


def spearman_r(first: ArrayLike, second: ArrayLike, *, alternative: Alternative = "two-sided") -> Result:
    """The correlation of two measures' ranks, from −1 to 1; ties share a rank, and float noise breaks none.

    p as in `pearson_r`; without an interval.
    """
    one_of(alternative, _ALTERNATIVES, "spearman_r", "alternative")
    x, y = _pairs(first, second, "spearman_r")
    found = stats.spearmanr(codes(whole(x[None]))[0], codes(whole(y[None]))[0], alternative=alternative)
    rho = float(found.statistic)
    return Result(
        statistic=rho,
        df=float(len(x) - 2),
        p_value=float(found.pvalue),
        effect=rho,
        method=f"Spearman rho, {alternative}",
    )


def r_interval(r: float, n: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Fisher's interval of a correlation of n pairs: tanh(atanh r ± z / √(n−3)); the point itself at −1 and 1."""
    share(confidence, "pearson_r", "confidence")
    if n < 4 or not -1 <= r <= 1:
        raise DataError("pearson_r", f"r = {r} of {n} pairs", allowed="-1 to 1, of at least 4")
    if abs(r) == 1:
        return r, r
    half = float(stats.norm.ppf((1 + confidence) / 2)) / sqrt(n - 3)
    return tanh(atanh(r) - half), tanh(atanh(r) + half)


def bca(
    statistic: Callable[..., Floats],
    *samples: ArrayLike,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float]:
    """The bias-corrected and accelerated bootstrap interval of a statistic (Efron 1987), by SciPy.

    Args:
        statistic: Takes the samples as arrays and an `axis`, and returns the statistic along it.
        samples: One, or several whose values belong together and are drawn together.
        confidence: The interval's level.
        resamples: How many resamples.
        seed: The same seed gives the same interval.

    Raises:
        DataError: The samples differ in length or are too small, or the interval is undefined, which happens when
            resamples without any spread are likely.
    """
    share(confidence, "bca", "confidence")
    if resamples < 100:
        raise DataError("bca", f"{resamples} resamples", allowed="at least 100")
    data = [sample(one, "bca", least=3) for one in samples]
    if len({len(one) for one in data}) != 1:
        raise DataError("bca", "samples of different length")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a bound is undefined is said below
        found = stats.bootstrap(
            data,
            statistic,
            paired=len(data) > 1,
            vectorized=True,
            confidence_level=confidence,
            n_resamples=resamples,
            method="BCa",
            batch=2_000,
            rng=np.random.default_rng(seed),
        ).confidence_interval
    if not (np.isfinite(found.low) and np.isfinite(found.high)):
        raise DataError(
            "bca", "some resamples do not vary, which leaves the interval undefined", hint="use more data"
        )
    return float(found.low), float(found.high)


def _correlations(x: Floats, y: Floats, axis: int = -1) -> Floats:
    a = x - x.mean(axis=axis, keepdims=True)
    b = y - y.mean(axis=axis, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (a * b).sum(axis=axis) / np.sqrt((a * a).sum(axis=axis) * (b * b).sum(axis=axis))
    return found


def _pairs(first: ArrayLike, second: ArrayLike, name: str) -> tuple[Floats, Floats]:
    x = sample(first, name, what="the first measure", least=3)
    y = sample(second, name, what="the second measure", least=3)
    if len(x) != len(y):
        raise DataError(name, f"{len(x)} values against {len(y)}", allowed="pairs")
    for what, values in (("first", x), ("second", y)):
        if not varies(values):
            raise DataError(name, f"the {what} measure does not vary")
    return x, y
