"""A count out of a number of trials, and how far the rate behind it may be off."""

from dataclasses import dataclass
from math import sqrt
from typing import Final

from ludic_deepeval.errors import DataError

Z95: Final = 1.959963984540054  # the standard normal's 97.5 % point


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate with its denominator and its 95 % Wilson interval.

    Attributes:
        count: How often it happened.
        of: How often it could have.
        rate: count / of, from 0 to 1; None when it never could have.
        low: The interval's lower end; None with rate.
        high: The interval's upper end; None with rate.
    """

    count: int
    of: int
    rate: float | None
    low: float | None
    high: float | None

    @property
    def interval(self) -> tuple[float, float] | None:
        """(low, high); None when it never could have."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def wilson(count: int, of: int, z: float = Z95) -> Rate:
    """Return a rate with its Wilson score interval.

    (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n), with p = count/of and n = of.

    Args:
        count: From 0 to of.
        of: The number of trials, at least 0.
        z: The normal quantile of the level.

    Raises:
        DataError: count is not between 0 and of.
    """
    if not 0 <= count <= of:
        raise DataError("wilson", f"{count} of {of} is no count")
    if of == 0:
        return Rate(0, 0, None, None, None)
    rate, square = count / of, z * z / of
    middle, half = rate + square / 2, sqrt(rate * (1 - rate) * square + square * square / 4)
    # At the ends the formula is exact and floating point is not.
    low = 0.0 if count == 0 else (middle - half) / (1 + square)
    high = 1.0 if count == of else (middle + half) / (1 + square)
    return Rate(count, of, rate, low, high)
