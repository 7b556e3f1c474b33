"""Tests from the figures that a paper prints: p of a t or r, d of a t, an interval read backwards."""

from math import sqrt

from scipy import stats

from ludic_deepeval.errors import DataError
from ludic_deepeval.stats.correlation import r_interval
from ludic_deepeval.stats.inputs import Alternative, one_of, share
from ludic_deepeval.stats.results import Result


def t_summary(t: float, df: float, *, alternative: Alternative = "two-sided") -> Result:
    """The p-value of a printed t."""
    one_of(alternative, ("two-sided", "less", "greater"), "t", "alternative")
    if not df > 0:
        raise DataError("t", f"{df} degrees of freedom", allowed="more than 0")
    p = {
        "two-sided": 2 * stats.t.sf(abs(t), df),
        "less": stats.t.cdf(t, df),
        "greater": stats.t.sf(t, df),
    }[alternative]
    return Result(statistic=t, df=df, p_value=float(p), method=f"t, {alternative}")


def d_of_t(t: float, n: int, m: int) -> float:
    """Cohen's d of a printed two-sample t: t √(1/n + 1/m), exact where the groups' sizes are equal."""
    if n < 2 or m < 2:
        raise DataError("d", f"groups of {n} and {m}", allowed="at least 2")
    return t * sqrt(1 / n + 1 / m)


def r_summary(
    r: float, n: int, *, alternative: Alternative = "two-sided", confidence: float = 0.95
) -> Result:
    """The p-value of a printed correlation of n pairs, with Fisher's interval."""
    if n < 4 or not -1 < r < 1:
        raise DataError("r", f"r = {r} of {n} pairs", allowed="between -1 and 1, of at least 4")
    found = t_summary(r * sqrt((n - 2) / (1 - r * r)), n - 2, alternative=alternative)
    return Result(
        statistic=r,
        df=found.df,
        p_value=found.p_value,
        effect=r,
        interval=r_interval(r, n, confidence=confidence),
        method=f"Pearson r, {alternative}",
    )


def interval_backwards(
    low: float, high: float, df: float, *, confidence: float = 0.95
) -> tuple[float, float]:
    """The estimate and the standard error that a printed t interval was made of: its centre, and half over t's quantile."""
    share(confidence, "interval", "confidence")
    if not low < high or not df > 0:
        raise DataError("interval", f"from {low} to {high} with {df} degrees of freedom")
    return (low + high) / 2, float((high - low) / 2 / stats.t.ppf((1 + confidence) / 2, df))
