"""Tests that shuffle within groups: runs of one model are alike, so that only its own runs are exchangeable."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt


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
    return [
        1 + sum(other > one for other in values) + (sum(other == one for other in values) - 1) / 2
        for one in values
    ]
