"""Rank tests of several algorithms over common problems (Demšar 2006; García et al. 2010; Derrac et al. 2011).

All take a table of problems (rows) × algorithms (columns). Values are rounded to twelve digits of their row's largest
and ranked as whole numbers, since float noise breaks ties: García's thirty data sets give T = 41.7284 in exact arithmetic
and 41.691 and 41.696 in two programs that rank floats. A missing value is an error. Where every problem ranks all algorithms alike,
nothing differs: the statistic is 0 and p 1. Where all problems agree so that an F has no divisor, it is infinite and
p = (1/k!)^(N−1), the chance of N agreeing orders (Conover 1999).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial, inf
from typing import Final

from numpy.typing import ArrayLike
from scipy import stats

from ludic_deepeval.errors import DataError
from ludic_deepeval.stats.inputs import Floats, Ties, codes, one_of, sample, table, whole
from ludic_deepeval.stats.results import Result

TIES: Final = ("corrected", "uncorrected")


@dataclass(frozen=True, kw_only=True, slots=True)
class RankTest(Result):
    """A rank test over several algorithms.

    Attributes:
        mean_ranks: Each algorithm's mean rank over the problems, 1 for the smallest value.
        problems: N.
    """

    mean_ranks: tuple[float, ...]
    problems: int


def mean_ranks(data: ArrayLike, *, highest_first: bool = False) -> tuple[float, ...]:
    """Return each algorithm's mean rank over the problems.

    Args:
        data: Problems × algorithms; at least 1 × 2.
        highest_first: Whether the largest value has rank 1, and not the smallest.
    """
    ranks = _within(table(data, "mean_ranks", rows=1))
    if highest_first:
        ranks = ranks.shape[1] + 1 - ranks
    return tuple(ranks.mean(axis=0).tolist())


def friedman(data: ArrayLike, *, ties: Ties = "corrected") -> RankTest:
    """Test whether algorithms rank alike over the problems (Friedman).

    Corrected: χ² = (k−1) Σ_j (R_j − N(k+1)/2)² / (Σ r² − N k (k+1)²/4). Uncorrected: 12 / (N k (k+1)) Σ R_j² − 3 N (k+1).
    They agree where no problem has ties.

    Returns:
        χ² with k − 1 degrees of freedom; its effect is Kendall's W = χ² / (N (k−1)), from 0 to 1.

    Raises:
        DataError: Fewer than 2 problems or algorithms, or a value that is no number.
    """
    one_of(ties, TIES, "friedman", "ties")
    ranks = _within(table(data, "friedman"))
    n, k = ranks.shape
    chi = _chi(ranks, ties)
    return RankTest(
        statistic=chi,
        df=float(k - 1),
        p_value=float(stats.chi2.sf(chi, k - 1)),
        effect=chi / (n * (k - 1)),
        method=f"Friedman, ties {ties}",
        mean_ranks=tuple(ranks.mean(axis=0).tolist()),
        problems=n,
    )


def friedman_of(ranks: Sequence[float], problems: int) -> RankTest:
    """Friedman's test from mean ranks, as a paper prints them; not corrected for ties, which they do not show."""
    means = sample(ranks, "friedman", what="the list of mean ranks")
    k = len(means)
    if problems < 2:
        raise DataError("friedman", f"{problems} problems", allowed="at least 2")
    chi = 12 * problems / (k * (k + 1)) * float(((means - (k + 1) / 2) ** 2).sum())
    return RankTest(
        statistic=chi,
        df=float(k - 1),
        p_value=float(stats.chi2.sf(chi, k - 1)),
        effect=chi / (problems * (k - 1)),
        method="Friedman, ties uncorrected",
        mean_ranks=tuple(means.tolist()),
        problems=problems,
    )


def iman_davenport(data: ArrayLike, *, ties: Ties = "uncorrected") -> RankTest:
    """Friedman's test as an F, which is less conservative (Iman and Davenport 1980).

    F = (N−1) χ² / (N (k−1) − χ²), with k − 1 and (k−1)(N−1) degrees of freedom; χ² is the uncorrected one unless asked.
    """
    one_of(ties, TIES, "iman_davenport", "ties")
    ranks = _within(table(data, "iman_davenport"))
    n, k = ranks.shape
    chi = _chi(ranks, ties)
    return _f_test(
        ranks, (n - 1) * chi, n * (k - 1) - chi, f"Iman-Davenport, ties {ties}", chi / (n * (k - 1))
    )


def aligned_friedman(data: ArrayLike, *, ties: Ties = "uncorrected") -> RankTest:
    """Friedman's test on aligned ranks: all values at once, less their problem's mean (Hodges and Lehmann 1962).

    T = (k−1) [Σ_j R_j² − (k N²/4)(kN+1)²] / (kN(kN+1)(2kN+1)/6 − Σ_i R_i²/k), R_j and R_i the sums of an algorithm and of a
    problem. Corrected for ties, the first term of the divisor is Σ r².

    Returns:
        T with k − 1 degrees of freedom; the mean ranks are those of the aligned values, from 1 to kN.
    """
    one_of(ties, TIES, "aligned_friedman", "ties")
    values = table(data, "aligned_friedman")
    n, k = values.shape
    exact = whole(values)
    aligned = codes(k * exact - exact.sum(axis=1, keepdims=True))
    ranks = stats.rankdata(aligned.ravel()).reshape(n, k)
    columns, rows = ranks.sum(axis=0), ranks.sum(axis=1)
    # Sums of squares about their means: the raw ones of the formula are large and nearly equal.
    between = float(((columns - n * (k * n + 1) / 2) ** 2).sum())
    spread = k * n * ((k * n) ** 2 - 1) / 12
    if ties == "corrected":
        spread = float(((ranks - (k * n + 1) / 2) ** 2).sum())
    divisor = spread - float(((rows - k * (k * n + 1) / 2) ** 2).sum()) / k
    t = (k - 1) * between / divisor if between > 0 else 0.0
    return RankTest(
        statistic=t,
        df=float(k - 1),
        p_value=float(stats.chi2.sf(t, k - 1)),
        method=f"Friedman aligned ranks, ties {ties}",
        mean_ranks=tuple(ranks.mean(axis=0).tolist()),
        problems=n,
    )


def quade(data: ArrayLike, *, ties: Ties = "corrected") -> RankTest:
    """A rank test that weighs each problem by the rank of its range (Quade 1979).

    S_ij = Q_i (r_ij − (k+1)/2), A = Σ S², B = Σ_j S_j² / N, F = (N−1) B / (A − B), with k − 1 and (k−1)(N−1) degrees of
    freedom. Uncorrected for ties, A = N(N+1)(2N+1) k(k+1)(k−1) / 72.

    Returns:
        F; the mean ranks are weighted by Q, as the post-hoc comparisons need them.
    """
    one_of(ties, TIES, "quade", "ties")
    values = table(data, "quade")
    n, k = values.shape
    exact = whole(values)
    ranks = stats.rankdata(codes(exact), axis=1)
    weights = stats.rankdata(codes(exact.max(axis=1) - exact.min(axis=1)))
    scores = weights[:, None] * (ranks - (k + 1) / 2)
    a = n * (n + 1) * (2 * n + 1) * k * (k + 1) * (k - 1) / 72
    if ties == "corrected":
        a = float((scores**2).sum())
    b = float((scores.sum(axis=0) ** 2).sum()) / n
    weighted = (weights[:, None] * ranks).sum(axis=0) / (n * (n + 1) / 2)
    return _f_test(ranks, (n - 1) * b, a - b, f"Quade, ties {ties}", None, means=weighted)


def _f_test(
    ranks: Floats,
    upper: float,
    lower: float,
    method: str,
    effect: float | None,
    means: Floats | None = None,
) -> RankTest:
    n, k = ranks.shape
    df = (float(k - 1), float((k - 1) * (n - 1)))
    if upper <= 0:
        f, p = 0.0, 1.0
    elif lower <= 1e-9 * upper:
        f, p = inf, (1 / factorial(k)) ** (n - 1)
    else:
        f = upper / lower
        p = float(stats.f.sf(f, *df))
    shown = ranks.mean(axis=0) if means is None else means
    return RankTest(
        statistic=f,
        df=df,
        p_value=p,
        effect=effect,
        method=method,
        mean_ranks=tuple(shown.tolist()),
        problems=n,
    )


def _within(values: Floats) -> Floats:
    found: Floats = stats.rankdata(codes(whole(values)), axis=1)
    return found


def _chi(ranks: Floats, ties: Ties) -> float:
    n, k = ranks.shape
    between = float(((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum())
    within = float(((ranks - (k + 1) / 2) ** 2).sum()) if ties == "corrected" else n * k * (k * k - 1) / 12
    return (k - 1) * between / within if between > 0 else 0.0
