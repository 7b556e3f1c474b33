"""Which of several ranked algorithms differ: Nemenyi's critical difference, pairwise z tests, Shaffer's adjustment."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb, inf, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from ludic_deepeval.errors import DataError
from ludic_deepeval.stats.exact import adjusted
from ludic_deepeval.stats.inputs import Floats, sample, share
from ludic_deepeval.stats.ranks import mean_ranks


@dataclass(frozen=True, kw_only=True, slots=True)
class Nemenyi:
    """All pairs of algorithms under Nemenyi's test.

    Attributes:
        critical_difference: Mean ranks that are at least this far apart differ at `alpha`.
        alpha: The level.
        mean_ranks: Of each algorithm, 1 for the smallest value.
        pairs: (i, j) with i < j, in order: (0, 1), (0, 2) …
        p_values: Of each pair, adjusted for all of them by the studentized range.
        significant: The pairs that differ at `alpha`.
        method: The procedure.
    """

    critical_difference: float
    alpha: float
    mean_ranks: tuple[float, ...]
    pairs: tuple[tuple[int, int], ...]
    p_values: tuple[float, ...]
    significant: tuple[tuple[int, int], ...]
    method: str = "Nemenyi, studentized range with infinite degrees of freedom"


@dataclass(frozen=True, kw_only=True, slots=True)
class RankPairs:
    """All pairs of algorithms under the z test on mean ranks, not adjusted for their number.

    Attributes:
        pairs: (i, j) with i < j, in order: (0, 1), (0, 2) …
        z: (R_i − R_j) / √(k(k+1) / 6N) of each pair.
        p_values: Two-sided; `holm` and `shaffer` adjust them.
        method: The procedure.
    """

    pairs: tuple[tuple[int, int], ...]
    z: tuple[float, ...]
    p_values: tuple[float, ...]
    method: str = "z test on mean ranks"


@lru_cache(maxsize=256)
def critical_difference(algorithms: int, problems: int, *, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference in mean ranks: q_α(k, ∞)/√2 · √(k(k+1)/6N) (Demšar 2006).

    Raises:
        DataError: Fewer than 2 algorithms or 1 problem.
    """
    share(alpha, "nemenyi", "alpha")
    if algorithms < 2 or problems < 1:
        raise DataError(
            "nemenyi", f"{algorithms} algorithms, {problems} problems", allowed="at least 2 and 1"
        )
    q = float(stats.studentized_range.ppf(1 - alpha, algorithms, inf))
    return q / sqrt(2) * _error(algorithms, problems)


def nemenyi(data: ArrayLike, *, alpha: float = 0.05) -> Nemenyi:
    """Compare every algorithm with every other by their mean ranks (Nemenyi 1963).

    p of a pair is the upper tail of the studentized range of k at |R_i − R_j| √2 / √(k(k+1)/6N), with infinite degrees of
    freedom; this test uses one critical difference for all pairs and is therefore weaker than `shaffer`.

    Args:
        data: Problems × algorithms.
        alpha: The level of the critical difference.
    """
    ranks = mean_ranks(data)
    return nemenyi_ranks(ranks, len(np.asarray(data)), alpha=alpha)


def nemenyi_ranks(ranks: Sequence[float], problems: int, *, alpha: float = 0.05) -> Nemenyi:
    """The same from mean ranks, as a paper prints them."""
    means = sample(ranks, "nemenyi", what="the list of mean ranks")
    k = len(means)
    least = critical_difference(k, problems, alpha=alpha)
    pairs = tuple(combinations(range(k), 2))
    apart = np.array([abs(means[i] - means[j]) for i, j in pairs])
    return Nemenyi(
        critical_difference=least,
        alpha=alpha,
        mean_ranks=tuple(means.tolist()),
        pairs=pairs,
        p_values=tuple(range_p(apart, k, problems).tolist()),
        significant=tuple(pair for pair, gap in zip(pairs, apart, strict=True) if gap >= least),
    )


def rank_pairs(data: ArrayLike) -> RankPairs:
    """Test every pair of algorithms by their mean ranks: the p-values that `holm` and `shaffer` adjust.

    z = (R_i − R_j) / √(k(k+1)/6N), two-sided by the normal distribution (García and Herrera 2008).
    """
    ranks = mean_ranks(data)
    return rank_pairs_of(ranks, len(np.asarray(data)))


def rank_pairs_of(ranks: Sequence[float], problems: int) -> RankPairs:
    """The same from mean ranks, as a paper prints them."""
    means = sample(ranks, "rank_pairs", what="the list of mean ranks")
    if problems < 1:
        raise DataError("rank_pairs", f"{problems} problems", allowed="at least 1")
    pairs = tuple(combinations(range(len(means)), 2))
    apart = np.array([means[i] - means[j] for i, j in pairs])
    z = apart / _error(len(means), problems)
    return RankPairs(
        pairs=pairs, z=tuple(z.tolist()), p_values=tuple(normal_p(apart, len(means), problems).tolist())
    )


def range_p(apart: ArrayLike, algorithms: int, problems: int) -> Floats:
    """Nemenyi's p of mean ranks that are so far apart, by the studentized range."""
    q = np.abs(apart) * sqrt(2) / _error(algorithms, problems)
    return np.asarray(np.clip(stats.studentized_range.sf(q, algorithms, inf), 0, 1))


def normal_p(apart: ArrayLike, algorithms: int, problems: int) -> Floats:
    """The unadjusted two-sided p of mean ranks that are so far apart, by the normal distribution."""
    return np.asarray(2 * stats.norm.sf(np.abs(apart) / _error(algorithms, problems)))


def shaffer(p_values: Sequence[float], k: int) -> list[float]:
    """Return the p-values of all pairs of k algorithms adjusted by Shaffer's static procedure.

    The i-th smallest is multiplied by t_i, the largest number of hypotheses that can be true at once when i − 1 are false
    (`true_counts`), made monotone, at most 1. Never weaker than `holm`.

    Args:
        p_values: In any order; one for each of the k (k−1) / 2 pairs.
        k: The number of algorithms.

    Returns:
        The adjusted ones in the order given.

    Raises:
        DataError: Not as many p-values as pairs, or one that is not from 0 to 1.
    """
    if k < 2 or len(p_values) != comb(k, 2):
        raise DataError(
            "shaffer", f"{len(p_values)} p-values for k = {k}", allowed="one for each of k (k-1) / 2 pairs"
        )
    return adjusted(p_values, true_counts(k), "shaffer")


@lru_cache(maxsize=64)
def true_counts(k: int) -> tuple[int, ...]:
    """Return t_1 … t_m of Shaffer's procedure for the m pairs of k algorithms: t_i = max {s ∈ S(k): s ≤ m − i + 1}."""
    possible = true_sets(k)
    pairs = comb(k, 2)
    return tuple(max(s for s in possible if s <= pairs - i) for i in range(pairs))


@lru_cache(maxsize=64)
def true_sets(k: int) -> frozenset[int]:
    """Return S(k), how many equalities of pairs can hold at once: S(k) = ⋃_j {C(j,2) + s: s ∈ S(k−j)} (Shaffer 1986)."""
    if k < 2:
        return frozenset({0})
    return frozenset(comb(j, 2) + s for j in range(1, k + 1) for s in true_sets(k - j))


def _error(k: int, n: int) -> float:
    return sqrt(k * (k + 1) / (6 * n))
