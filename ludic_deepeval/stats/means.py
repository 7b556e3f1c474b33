"""Two means: Welch's t, Cohen's d, and whether they are equivalent (TOST)."""

from math import isfinite, sqrt
from typing import Final

from numpy.typing import ArrayLike
from scipy import optimize, stats

from ludic_deepeval.errors import DataError
from ludic_deepeval.stats.inputs import Alternative, Floats, one_of, sample, share, varies
from ludic_deepeval.stats.results import Result

ALTERNATIVES: Final = ("two-sided", "less", "greater")
_FARTHEST: Final = 5_000.0


def welch_t(
    first: ArrayLike,
    second: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    confidence: float = 0.95,
) -> Result:
    """Compare two means without assuming equal variances (Welch).

    t = (x̄ − ȳ) / √(s_x²/n + s_y²/m), with the degrees of freedom of Satterthwaite.

    Args:
        first: x, at least 2 values.
        second: y, at least 2 values.
        alternative: "less" tests whether x̄ is below ȳ.
        confidence: The interval's level.

    Returns:
        The test. Its effect is Cohen's d (pooled); its interval that of x̄ − ȳ, two-sided whatever the alternative.

    Raises:
        DataError: A group is too small, or neither varies.
    """
    one_of(alternative, ALTERNATIVES, "welch_t", "alternative")
    share(confidence, "welch_t", "confidence")
    x, y = _pair(first, second, "welch_t")
    t, df, p = _welch(x, y, alternative)
    difference, error = _difference(x, y)
    half = stats.t.ppf((1 + confidence) / 2, df) * error
    return Result(
        statistic=t,
        df=df,
        p_value=p,
        effect=_d(x, y),
        interval=(float(difference - half), float(difference + half)),
        method=f"Welch t, {alternative}",
    )


def cohens_d(first: ArrayLike, second: ArrayLike, *, confidence: float = 0.95) -> Result:
    """The difference of two means in units of their pooled standard deviation (Cohen's d).

    d = (x̄ − ȳ) / √(((n−1) s_x² + (m−1) s_y²) / (n+m−2)); below 0 when x̄ is the smaller.

    Returns:
        d as statistic and effect, with the interval that inverts the noncentral t with n + m − 2 degrees of freedom;
        None for a t beyond 5,000, where that cannot be computed.

    Raises:
        DataError: A group is too small, or neither varies.
    """
    share(confidence, "cohens_d", "confidence")
    x, y = _pair(first, second, "cohens_d")
    d, n, m = _d(x, y), len(x), len(y)
    return Result(
        statistic=d,
        df=float(n + m - 2),
        effect=d,
        interval=_d_interval(d, n, m, confidence),
        method="Cohen's d, pooled",
    )


def tost(first: ArrayLike, second: ArrayLike, bound: float, *, alpha: float = 0.05) -> Result:
    """Test whether two means differ by less than a bound: two one-sided Welch tests (Schuirmann).

    p is the larger of the two one-sided p-values against −bound and +bound; equivalent at α when p < α, which is when the
    1 − 2α interval of the difference lies within the bounds.

    Args:
        first: x, at least 2 values.
        second: y, at least 2 values.
        bound: The largest difference that does not matter, above 0, in the data's unit.
        alpha: Sets the interval's level.

    Returns:
        The test; its statistic is the t of the nearer bound, its effect x̄ − ȳ, its interval the 1 − 2α interval of it.
    """
    x, y = _pair(first, second, "tost")
    difference, error = _difference(x, y)
    return tost_summary(difference, error, _welch(x, y, "two-sided")[1], bound, alpha=alpha)


def tost_summary(difference: float, error: float, df: float, bound: float, *, alpha: float = 0.05) -> Result:
    """The same from a difference, its standard error and the degrees of freedom."""
    share(2 * alpha, "tost", "2 alpha")
    if not bound > 0:
        raise DataError("tost", f"the bound is {bound}", allowed="more than 0")
    if not error > 0 or not df > 0:
        raise DataError(
            "tost", f"standard error {error} with {df} degrees of freedom", allowed="both above 0"
        )
    t = (abs(difference) - bound) / error  # below 0 inside the bounds
    half = stats.t.ppf(1 - alpha, df) * error
    return Result(
        statistic=float(t if difference >= 0 else -t),
        df=df,
        p_value=float(stats.t.cdf(t, df)),
        effect=float(difference),
        interval=(float(difference - half), float(difference + half)),
        method="two one-sided Welch t tests",
    )


def _pair(first: ArrayLike, second: ArrayLike, name: str) -> tuple[Floats, Floats]:
    x = sample(first, name, what="the first group")
    y = sample(second, name, what="the second group")
    if not varies(x) and not varies(y):
        raise DataError(name, "neither group varies", hint="without spread no difference can be judged")
    return x, y


def _welch(x: Floats, y: Floats, alternative: Alternative) -> tuple[float, float, float]:
    """t, its degrees of freedom and p. From means and deviations: on raw data SciPy warns when one group is constant."""
    found = stats.ttest_ind_from_stats(
        *(part for group in (x, y) for part in (group.mean(), group.std(ddof=1), len(group))),
        equal_var=False,
        alternative=alternative,
    )
    a, b = x.var(ddof=1) / len(x), y.var(ddof=1) / len(y)
    df = (a + b) ** 2 / (a**2 / (len(x) - 1) + b**2 / (len(y) - 1))
    return float(found.statistic), float(df), float(found.pvalue)


def _difference(x: Floats, y: Floats) -> tuple[float, float]:
    error = sqrt(x.var(ddof=1) / len(x) + y.var(ddof=1) / len(y))
    return float(x.mean() - y.mean()), error


def _d(x: Floats, y: Floats) -> float:
    n, m = len(x), len(y)
    pooled = ((n - 1) * x.var(ddof=1) + (m - 1) * y.var(ddof=1)) / (n + m - 2)
    return float((x.mean() - y.mean()) / sqrt(pooled))


def _d_interval(d: float, n: int, m: int, confidence: float) -> tuple[float, float] | None:
    scale = sqrt(n * m / (n + m))
    t, df = abs(d) * scale, n + m - 2
    if t > _FARTHEST:
        return None

    def below(shift: float, level: float) -> float:
        found = float(stats.nct.cdf(t, df, shift))
        # SciPy gives NaN where so little is left that it cannot be added up.
        return (found if isfinite(found) else float(shift < t)) - level

    low, high = (
        float(optimize.brentq(below, -8 - t, 2 * t + 8, args=(level,))) / scale
        for level in ((1 + confidence) / 2, (1 - confidence) / 2)
    )
    return (low, high) if d >= 0 else (-high, -low)
