"""The whole nonparametric comparison of LudicMetrics §5.6 in one call: four omnibus tests and three post-hoc procedures."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from ludic_deepeval.stats.exact import holm
from ludic_deepeval.stats.inputs import table
from ludic_deepeval.stats.posthoc import Nemenyi, RankPairs, nemenyi, rank_pairs, shaffer
from ludic_deepeval.stats.ranks import RankTest, aligned_friedman, friedman, iman_davenport, quade


@dataclass(frozen=True, kw_only=True, slots=True)
class Battery:
    """What every procedure says of one table.

    Attributes:
        friedman: Corrected for ties.
        friedman_uncorrected: As Demšar and Derrac print it.
        iman_davenport: From the uncorrected one.
        aligned: Friedman's aligned ranks.
        quade: Corrected for ties.
        nemenyi: Critical difference and adjusted p of each pair.
        pairs: The z test of each pair, unadjusted.
        holm: The same p-values adjusted by Holm, in the order of `pairs.pairs`.
        shaffer: By Shaffer's static procedure.
    """

    friedman: RankTest
    friedman_uncorrected: RankTest
    iman_davenport: RankTest
    aligned: RankTest
    quade: RankTest
    nemenyi: Nemenyi
    pairs: RankPairs
    holm: tuple[float, ...]
    shaffer: tuple[float, ...]

    @property
    def mean_ranks(self) -> tuple[float, ...]:
        """Of each algorithm."""
        return self.friedman.mean_ranks

    def significant(self, alpha: float = 0.05) -> tuple[tuple[int, int], ...]:
        """The pairs whose p by Shaffer is below α."""
        return tuple(pair for pair, p in zip(self.pairs.pairs, self.shaffer, strict=True) if p < alpha)


def rank_battery(data: ArrayLike, *, highest_first: bool = False, alpha: float = 0.05) -> Battery:
    """Compare algorithms over common problems by every rank procedure of §5.6.

    Args:
        data: Problems × algorithms.
        highest_first: Whether the largest value has rank 1: so for LPI, PCV and Div_α, and not for E_a. No statistic
            depends on it, only the mean ranks.
        alpha: The level of the critical difference.
    """
    values = table(data, "rank_battery")
    if highest_first:
        values = -values
    pairs = rank_pairs(values)
    return Battery(
        friedman=friedman(values),
        friedman_uncorrected=friedman(values, ties="uncorrected"),
        iman_davenport=iman_davenport(values),
        aligned=aligned_friedman(values),
        quade=quade(values),
        nemenyi=nemenyi(values, alpha=alpha),
        pairs=pairs,
        holm=tuple(holm(pairs.p_values)),
        shaffer=tuple(shaffer(pairs.p_values, k=values.shape[1])),
    )
