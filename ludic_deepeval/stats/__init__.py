"""Statistics: numbers in, frozen results out. Nothing here knows a story.

`exact`, `intervals` and `permutation` are plain Python; the other modules need the extra `studies`. The public names
load on first use, so that `worth score` and `ludic check` load no NumPy. docs/statistics.md says what each does with
too few data, ties and constants.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ludic_deepeval.stats.agreement import Alpha, Icc, icc1, krippendorff_alpha
    from ludic_deepeval.stats.anova import Effect, TwoWay, f_summary, two_way_anova
    from ludic_deepeval.stats.battery import Battery, rank_battery
    from ludic_deepeval.stats.comparisons import Ahp, ahp
    from ludic_deepeval.stats.correlation import bca, pearson_r, r_interval, spearman_r
    from ludic_deepeval.stats.exact import fisher, fisher_within, holm, mcnemar, sign_test
    from ludic_deepeval.stats.exact import mcnemar as mcnemar_exact
    from ludic_deepeval.stats.intervals import Rate, wilson
    from ludic_deepeval.stats.means import cohens_d, tost, tost_summary, welch_t
    from ludic_deepeval.stats.posthoc import (
        Nemenyi,
        RankPairs,
        critical_difference,
        nemenyi,
        nemenyi_ranks,
        rank_pairs,
        rank_pairs_of,
        shaffer,
    )
    from ludic_deepeval.stats.powers import Power, power_f, power_r, power_t
    from ludic_deepeval.stats.ranks import (
        RankTest,
        aligned_friedman,
        friedman,
        iman_davenport,
        mean_ranks,
        quade,
    )
    from ludic_deepeval.stats.results import Result
    from ludic_deepeval.stats.summaries import d_of_t, interval_backwards, r_summary, t_summary
    from ludic_deepeval.stats.variance import SobolIndices, sobol_indices

_HOME = {
    "agreement": ("Alpha", "Icc", "icc1", "krippendorff_alpha"),
    "anova": ("Effect", "TwoWay", "f_summary", "two_way_anova"),
    "battery": ("Battery", "rank_battery"),
    "comparisons": ("Ahp", "ahp"),
    "correlation": ("bca", "pearson_r", "r_interval", "spearman_r"),
    "exact": ("fisher", "fisher_within", "holm", "mcnemar", "sign_test"),
    "intervals": ("Rate", "wilson"),
    "means": ("cohens_d", "tost", "tost_summary", "welch_t"),
    "posthoc": (
        "Nemenyi", "RankPairs", "critical_difference", "nemenyi", "nemenyi_ranks", "rank_pairs", "rank_pairs_of", "shaffer",
    ),
    "powers": ("Power", "power_f", "power_r", "power_t"),
    "ranks": ("RankTest", "aligned_friedman", "friedman", "iman_davenport", "mean_ranks", "quade"),
    "results": ("Result",),
    "summaries": ("d_of_t", "interval_backwards", "r_summary", "t_summary"),
    "variance": ("SobolIndices", "sobol_indices"),
}  # fmt: skip
_PLACE = {name: (module, name) for module, names in _HOME.items() for name in names}
_PLACE["mcnemar_exact"] = ("exact", "mcnemar")

__all__ = [
    "Ahp",
    "Alpha",
    "Battery",
    "Effect",
    "Icc",
    "Nemenyi",
    "Power",
    "RankPairs",
    "RankTest",
    "Rate",
    "Result",
    "SobolIndices",
    "TwoWay",
    "ahp",
    "aligned_friedman",
    "bca",
    "cohens_d",
    "critical_difference",
    "d_of_t",
    "f_summary",
    "fisher",
    "fisher_within",
    "friedman",
    "holm",
    "icc1",
    "iman_davenport",
    "interval_backwards",
    "krippendorff_alpha",
    "mcnemar",
    "mcnemar_exact",
    "mean_ranks",
    "nemenyi",
    "nemenyi_ranks",
    "pearson_r",
    "power_f",
    "power_r",
    "power_t",
    "quade",
    "r_interval",
    "r_summary",
    "rank_battery",
    "rank_pairs",
    "rank_pairs_of",
    "shaffer",
    "sign_test",
    "sobol_indices",
    "spearman_r",
    "t_summary",
    "tost",
    "tost_summary",
    "two_way_anova",
    "welch_t",
    "wilson",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACE:
        raise AttributeError(f"module 'ludic_deepeval.stats' has no attribute '{name}'")
    module, within = _PLACE[name]
    value = getattr(import_module(f"ludic_deepeval.stats.{module}"), within)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
