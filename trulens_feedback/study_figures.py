"""The figures of the study: shares of variance, correlations and a slope, with percentile bootstrap intervals over whole lives."""

import random
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure and its 95 % percentile bootstrap interval.

    Attributes:
        value: The figure over all.
        low: The 2.5 % point of the resampled figures.
        high: The 97.5 % point.
        draws: How many resamples gave the figure; those in which nothing varied gave none.
    """

    value: float
    low: float
    high: float
    draws: int


def eta_squared(groups: Sequence[Hashable], values: Sequence[float]) -> float | None:
    """Return η² = SS_between / SS_total, the share of the values' variance that lies between groups, in [0, 1].

    0 where nothing differs between groups; None without values. Values that do not vary at all have no variance to share: 0.
    """
    if not values:
        return None
    mean = fmean(values)
    total = sum((value - mean) ** 2 for value in values)
    if total < 1e-12:
        return 0.0
    by_group: dict[Hashable, list[float]] = {}
    for group, value in zip(groups, values, strict=True):
        by_group.setdefault(group, []).append(value)
    return sum(len(own) * (fmean(own) - mean) ** 2 for own in by_group.values()) / total


def slope(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return the least-squares slope of y on x; None where x does not vary."""
    if len(x) < 2:
        return None
    at, up = fmean(x), fmean(y)
    spread = sum((one - at) ** 2 for one in x)
    return sum((one - at) * (two - up) for one, two in zip(x, y, strict=True)) / spread if spread else None


def resampled(
    clusters: Sequence[Sequence[T]],
    figure: Callable[[Sequence[T]], float | None],
    *,
    draws: int,
    seed: int = 0,
) -> Interval | None:
    """Return a figure over all clusters, and its interval from drawing whole clusters with replacement.

    None where the figure does not exist, or in no draw.
    """
    value = figure([one for cluster in clusters for one in cluster])
    if value is None:
        return None
    rng = random.Random(seed)  # noqa: S311  # resampling, no secret
    found = sorted(
        one
        for _ in range(draws)
        if (one := figure([row for cluster in rng.choices(clusters, k=len(clusters)) for row in cluster]))
        is not None
    )
    if not found:
        return None
    return Interval(
        value, found[int(0.025 * (len(found) - 1))], found[round(0.975 * (len(found) - 1))], len(found)
    )
