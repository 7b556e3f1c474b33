"""How far raters agree: the intraclass correlation of one rater, and Krippendorff's alpha."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from ludic_deepeval.errors import DataError
from ludic_deepeval.stats.inputs import Floats, one_of, sample, share, varies
from ludic_deepeval.stats.results import Result

Level: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: Final = ("nominal", "ordinal", "interval", "ratio")


@dataclass(frozen=True, kw_only=True, slots=True)
class Icc(Result):
    """ICC(1) as statistic and effect; `p_value` and `df` are those of the F test of the items.

    Attributes:
        k0: Ratings an item, weighted so that unequal numbers count right; their number where all items have the same.
        msb: Mean square between items.
        msw: Mean square within items.
    """

    k0: float
    msb: float
    msw: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Alpha(Result):
    """Krippendorff's alpha as statistic and effect.

    Attributes:
        observed: D_o, the mean disagreement within items.
        expected: D_e, the mean disagreement of all ratings.
        items: Items with at least two ratings; the others say nothing.
        ratings: The ratings of these items.
    """

    observed: float
    expected: float
    items: int
    ratings: int


def icc1(groups: Sequence[ArrayLike], *, confidence: float = 0.95) -> Icc:
    """The reliability of one rating, from a one-way analysis of variance (ICC(1), Shrout and Fleiss 1979).

    ICC = (MSB − MSW) / (MSB + (k0 − 1) MSW), k0 = (N − Σ n_i²/N) / (a − 1) for a items with n_i ratings. From
    −1/(k0 − 1) to 1; below 0 when raters differ more on one item than the items do.

    Args:
        groups: The ratings of each item; who gave them does not matter, and items may differ in number.
        confidence: The interval's level.

    Returns:
        The estimate. The interval inverts the F of the items, exactly where all have as many ratings, else with k0.

    Raises:
        DataError: Fewer than 2 items, an item without ratings, no item with two, or ratings that are all the same.
    """
    share(confidence, "icc1", "confidence")
    ratings = [
        sample(group, "icc1", what=f"the item at {place}", least=1) for place, group in enumerate(groups)
    ]
    a, n = len(ratings), sum(map(len, ratings))
    if a < 2:
        raise DataError("icc1", f"{a} items", allowed="at least 2")
    if n == a:
        raise DataError("icc1", "one rating an item", allowed="an item with two")
    every = np.concatenate(ratings)
    if not varies(every):
        raise DataError(
            "icc1", "all ratings are the same", hint="without differences agreement cannot be judged"
        )
    grand = every.mean()
    msb = sum(len(group) * (group.mean() - grand) ** 2 for group in ratings) / (a - 1)
    msw = sum(((group - group.mean()) ** 2).sum() for group in ratings) / (n - a)
    k0 = (n - sum(len(group) ** 2 for group in ratings) / n) / (a - 1)
    df = (float(a - 1), float(n - a))
    value = float((msb - msw) / (msb + (k0 - 1) * msw))
    if msw <= 1e-24 * msb:
        f, p, interval = np.inf, 0.0, (1.0, 1.0)
    else:
        f, p = msb / msw, float(stats.f.sf(msb / msw, *df))
        tail = (1 - confidence) / 2
        low, high = (f / stats.f.ppf(level, *df) for level in (1 - tail, tail))
        interval = (float((low - 1) / (low + k0 - 1)), float((high - 1) / (high + k0 - 1)))
    return Icc(
        statistic=value,
        df=df,
        p_value=p,
        effect=value,
        interval=interval,
        method="ICC(1), one-way ANOVA with k0",
        k0=float(k0),
        msb=float(msb),
        msw=float(msw),
    )


def krippendorff_alpha(ratings: ArrayLike, *, level: Level = "interval") -> Alpha:
    """Agreement of any number of raters with ratings missing (Krippendorff 2011).

    α = 1 − D_o / D_e over the coincidences of pairable ratings: 1 is perfect, 0 is chance, below 0 is worse. The
    difference of two ratings is 0 or 1 (nominal), the squared number of ratings between them (ordinal), (c − k)²
    (interval) or ((c − k) / (c + k))² (ratio).

    Args:
        ratings: Raters × items, NaN (or None) where a rater left an item out.
        level: What the ratings mean.

    Returns:
        α, with no interval.

    Raises:
        DataError: No table of numbers, no item with two ratings, or ratings that are all the same, where chance
            agreement is perfect and α is 0/0.
    """
    one_of(level, LEVELS, "krippendorff_alpha", "level")
    try:
        table = np.array(ratings, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError("krippendorff_alpha", "no table of raters × items") from error
    if table.ndim != 2 or np.isinf(table).any():
        raise DataError(
            "krippendorff_alpha", "no table of finite numbers", allowed="raters × items, NaN where missing"
        )
    here = ~np.isnan(table)
    numbers = here.sum(axis=0)
    table, here, numbers = (part[..., numbers >= 2] for part in (table, here, numbers))
    if not numbers.size:
        raise DataError("krippendorff_alpha", "no item has two ratings")
    values, place = np.unique(table[here], return_inverse=True)
    if len(values) < 2:
        raise DataError("krippendorff_alpha", "all ratings are the same", hint="α is 0/0 without differences")
    if level == "ratio" and values[0] < 0:
        raise DataError("krippendorff_alpha", "a rating below 0", allowed="at least 0 on a ratio scale")
    item = np.broadcast_to(np.arange(table.shape[1]), table.shape)[here]
    counts = np.zeros((table.shape[1], len(values)))
    np.add.at(counts, (item, place), 1)
    totals = counts.sum(axis=0)
    n = totals.sum()
    pairs = counts.T @ (counts / (numbers - 1)[:, None]) - np.diag(
        (counts / (numbers - 1)[:, None]).sum(axis=0)
    )
    distance = _distances(values, totals, level)
    observed = float((pairs * distance).sum() / n)
    expected = float(totals @ distance @ totals / (n * (n - 1)))
    alpha = 1 - observed / expected
    return Alpha(
        statistic=alpha,
        effect=alpha,
        method=f"Krippendorff's alpha, {level}",
        observed=observed,
        expected=expected,
        items=int(numbers.size),
        ratings=int(n),
    )


def _distances(values: Floats, totals: Floats, level: Level) -> Floats:
    one, other = values[:, None], values[None, :]
    if level == "nominal":
        return np.asarray(one != other, dtype=float)
    if level == "interval":
        return np.asarray((one - other) ** 2)
    if level == "ratio":
        whole = one + other
        return np.asarray((np.divide(one - other, whole, out=np.zeros_like(whole), where=whole > 0)) ** 2)
    # The ratings between two values, half of either's own among them.
    middles = np.cumsum(totals) - totals / 2
    return np.asarray((middles[:, None] - middles[None, :]) ** 2)
