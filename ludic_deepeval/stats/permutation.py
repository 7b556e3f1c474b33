"""Tests that shuffle within groups: runs of one model are alike, so that only its own runs are exchangeable."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from operator import mul
from typing import Final

MOST_SHUFFLED: Final = 2000


@dataclass(frozen=True, slots=True)
class Permutation:
    """What a permutation test found.

    Attributes:
        statistic: The observed value.
        expected: Its mean over the shuffles.
        p_value: (1 + shuffles at least as large) / (1 + shuffles), one-sided.
        draws: The number of shuffles.
        method: What was shuffled, in words.
    """

    statistic: float
    expected: float
    p_value: float
    draws: int
    method: str


def permutation_test(statistic: float, draw: Callable[[], float], draws: int, method: str) -> Permutation:
    """Compare a value with the values of shuffles: p = (1 + #{shuffle ≥ value}) / (1 + draws).

    Args:
        statistic: The observed value; larger is more extreme.
        draw: Shuffles once and returns the value.
        draws: How many shuffles; at least 1.
        method: What is shuffled, in words.
    """
    values = [draw() for _ in range(draws)]
    # What is equal but for the order of its summands is equal.
    as_large = sum(one >= statistic - 1e-12 for one in values)
    return Permutation(statistic, sum(values) / draws, (1 + as_large) / (1 + draws), draws, method)


def shuffled_within(
    groups: Iterable[Sequence[int]], values: Sequence[float], rng: random.Random
) -> list[float]:
    """Return the values with those of each group's positions shuffled among these positions."""
    out = list(values)
    for positions in groups:
        mine = [values[i] for i in positions]
        rng.shuffle(mine)
        for i, value in zip(positions, mine, strict=True):
            out[i] = value
    return out


def pearson(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return Σ(x−x̄)(y−ȳ) / √(Σ(x−x̄)² Σ(y−ȳ)²), from −1 to 1; None when either does not vary."""
    n = len(one)
    if n < 2:
        return None
    a, b = sum(one) / n, sum(other) / n
    both = sum((x - a) * (y - b) for x, y in zip(one, other, strict=True))
    square = sum((x - a) ** 2 for x in one) * sum((y - b) ** 2 for y in other)
    return both / sqrt(square) if square > 0 else None


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value, 1 for the largest; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=lambda i: -values[i])
    out, at = [0.0] * len(values), 0
    while at < len(order):
        end = at
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for i in order[at:end]:
            out[i] = (at + 1 + end) / 2
        at = end
    return out


def centred(groups: Iterable[Sequence[int]], values: Sequence[float]) -> list[float]:
    """Return each value less the mean of its group; a position in no group is 0."""
    out = [0.0] * len(values)
    for positions in groups:
        middle = sum(values[i] for i in positions) / len(positions) if positions else 0.0
        for i in positions:
            out[i] = values[i] - middle
    return out


def correlation_within(
    groups: Sequence[Sequence[int]], one: Sequence[float], other: Sequence[float]
) -> float | None:
    """Return the correlation that is left when each group's means are taken away, from −1 to 1.

    Σ x̃ỹ / √(Σ x̃² Σ ỹ²), with x̃ = x − x̄ of its group; None when either does not vary within any group.
    """
    a, b = centred(groups, one), centred(groups, other)
    square = sum(x * x for x in a) * sum(y * y for y in b)
    return max(-1.0, min(1.0, sum(map(mul, a, b)) / sqrt(square))) if square > 1e-12 else None


def product_test(
    groups: Sequence[Sequence[int]],
    one: Sequence[float],
    other: Sequence[float],
    *,
    rng: random.Random,
    draws: int,
    two_sided: bool,
    method: str,
) -> Permutation | None:
    """Test whether two columns go together within groups: Σ x̃ỹ, with one column shuffled among each group's positions.

    Above 2,000 positions the sum's normal distribution serves: mean 0, variance Σ_g Σx̃² Σỹ² / (n_g − 1). The statistic is
    `correlation_within`; None where that is.

    Args:
        groups: The positions of each group.
        one: The column that stays.
        other: The column that is shuffled.
        rng: What shuffles.
        draws: How many shuffles; at least 1.
        two_sided: Whether the sign is free; else larger is more extreme.
        method: What is shuffled, in words.
    """
    seen = correlation_within(groups, one, other)
    if seen is None:
        return None
    a, b = centred(groups, one), centred(groups, other)
    scale = 1 / sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    if len(one) > MOST_SHUFFLED:
        variance = sum(
            sum(a[i] ** 2 for i in each) * sum(b[i] ** 2 for i in each) / (len(each) - 1)
            for each in groups
            if len(each) > 1
        )
        z = seen / scale / sqrt(variance)
        p = erfc(abs(z) / sqrt(2)) if two_sided else erfc(z / sqrt(2)) / 2
        return Permutation(seen, 0.0, p, 0, f"{method}; normal")

    def draw() -> float:
        value: float = scale * sum(map(mul, a, shuffled_within(groups, b, rng)))
        return abs(value) if two_sided else value

    found = permutation_test(abs(seen) if two_sided else seen, draw, draws, method)
    return Permutation(seen, 0.0, found.p_value, draws, method)
