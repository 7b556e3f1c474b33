"""Exact tests on counts: binomial (McNemar, sign), and fourfold tables, whole (Fisher) or by stratum."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, exp, fsum, lgamma, log, sqrt
from operator import index
from typing import Final, Literal

from ludic_deepeval.errors import DataError

# Two probabilities that differ by rounding alone are equally extreme (R's fisher.test does the same).
_TIE: Final = 1 + 1e-7
_MOST_EXACT: Final = 2000


@dataclass(frozen=True, slots=True)
class Test:
    """What a test found.

    Attributes:
        statistic: The count or difference that was tested.
        p_value: Two-sided unless the method says otherwise, from 0 to 1.
        effect: The effect's size, where the method has one.
        method: Which test, in words.
    """

    __test__ = False  # pytest takes it for one of its own otherwise

    statistic: float
    p_value: float
    effect: float | None
    method: str


def mcnemar(first_only: int, second_only: int) -> Test:
    """Compare two answers of the same runs by the runs in which they differ (exact McNemar).

    p = min(1, 2 Σ_{i ≤ min(b, c)} C(b+c, i) / 2^(b+c)); 1 when no run differs.

    Args:
        first_only: b, runs with the first and not the second; at least 0.
        second_only: c, the reverse.

    Returns:
        The test; its effect is b / (b + c).
    """
    return _halves(first_only, second_only, "exact McNemar")


def sign_test(up: int, down: int) -> Test:
    """Test whether as many go up as down, ties left out: the binomial test at one half, as in `mcnemar`."""
    return _halves(up, down, "exact sign test")


def _counts(name: str, *values: int) -> tuple[int, ...]:
    """Counts as Python's own whole numbers, which do not overflow as NumPy's would."""
    try:
        counts = tuple(index(value) for value in values)
    except TypeError:
        raise DataError(name, "a count that is no whole number") from None
    if min(counts) < 0:
        raise DataError(name, "a count below 0")
    return counts


def _halves(one: int, other: int, method: str) -> Test:
    one, other = _counts(method, one, other)
    total = one + other
    tail, choose = 0, 1
    for i in range(min(one, other) + 1):
        tail += choose
        choose = choose * (total - i) // (i + 1)
    p = min(1.0, 2 * tail / 2**total) if total < 1000 else _large_tail(min(one, other), total)
    return Test(one - other, p, one / total if total else None, method)


def _large_tail(least: int, total: int) -> float:
    """The same tail by logarithms: 2^1000 and more is no float."""
    terms = (_log_choose(total, i) - total * log(2) for i in range(least + 1))
    return min(1.0, 2 * fsum(exp(one) for one in terms))


def fisher(
    both: int,
    first: int,
    second: int,
    neither: int,
    *,
    alternative: Literal["two-sided", "less", "greater"] = "two-sided",
) -> Test:
    """Test a fourfold table (Fisher).

    Two-sided p = the sum of the hypergeometric probabilities of all tables with these margins that are at most as probable as this
    one. The effect is the lift, P(both) / (P(first) P(second)); None when a margin is empty.

    Args:
        both: Runs with both.
        first: Runs with the first alone.
        second: Runs with the second alone.
        neither: Runs with neither.
        alternative: "greater" tests whether both is more than chance: the sum over tables with at least as many.

    Raises:
        DataError: A count is below 0, or no such alternative.
    """
    both, first, second, neither = _counts("fisher", both, first, second, neither)
    total, rows, columns = both + first + second + neither, both + first, both + second
    lift = both * total / (rows * columns) if rows and columns else None
    start, chances = hypergeometric(total, rows, columns)
    at = both - start
    if alternative == "two-sided":
        p = _as_extreme(chances, at)
    elif alternative in {"less", "greater"}:
        p = min(1.0, fsum(chances[: at + 1] if alternative == "less" else chances[at:]))
    else:
        raise DataError("fisher", f"alternative is {alternative!r}", allowed="two-sided, less or greater")
    return Test(both, p, lift, f"Fisher, {alternative}")


def fisher_within(tables: Sequence[tuple[int, int, int, int]]) -> Test:
    """Test fourfold tables of several strata together: the exact test that permutes within each stratum.

    The sum of the strata's `both` is compared with its distribution when, in each stratum, the margins stay and the pairing
    is chance: a convolution of hypergeometric distributions. Two-sided as in `fisher`. Above 2,000 runs the sum's normal
    distribution serves (Mantel and Haenszel, without correction): (a − Σ r c / n)² / Σ r c (n−r) (n−c) / n² (n−1).

    Args:
        tables: (both, first alone, second alone, neither) of each stratum.

    Returns:
        The test; its effect is the observed sum over the expected one.
    """
    observed, expected, variance = sum(table[0] for table in tables), 0.0, 0.0
    margins = []
    for both, first, second, neither in tables:
        total, rows, columns = both + first + second + neither, both + first, both + second
        if total:
            expected += rows * columns / total
            margins.append((total, rows, columns))
        if total > 1:
            variance += rows * columns * (total - rows) * (total - columns) / (total * total * (total - 1))
    effect = observed / expected if expected else None
    if sum(total for total, _, _ in margins) > _MOST_EXACT:
        p = erfc(abs(observed - expected) / sqrt(2 * variance)) if variance else 1.0
        return Test(observed, p, effect, "Mantel-Haenszel, normal, within strata")
    start, chances = 0, [1.0]
    for margin in margins:
        least, more = hypergeometric(*margin)
        start += least
        if len(more) > 1:
            chances = _convolve(chances, more)
    return Test(observed, _as_extreme(chances, observed - start), effect, "exact, permuted within strata")


def hypergeometric(total: int, marked: int, drawn: int) -> tuple[int, list[float]]:
    """Return the least possible number of marked among the drawn, and the probability of it and of each number above.

    P(k) = C(marked, k) C(total − marked, drawn − k) / C(total, drawn).
    """
    least, most = max(0, drawn + marked - total), min(marked, drawn)
    whole = _log_choose(total, drawn)
    return least, [
        exp(_log_choose(marked, k) + _log_choose(total - marked, drawn - k) - whole)
        for k in range(least, most + 1)
    ]


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted by Holm: the i-th smallest of m times m − i + 1, made monotone, at most 1.

    Args:
        p_values: In any order; none is an empty list.

    Returns:
        The adjusted ones in the order given.

    Raises:
        DataError: One is not from 0 to 1.
    """
    return adjusted(p_values, range(len(p_values), 0, -1), "holm")


def adjusted(p_values: Sequence[float], factors: Sequence[int], name: str) -> list[float]:
    """Return p-values adjusted step by step: the i-th smallest times the i-th factor, made monotone, at most 1."""
    for p in p_values:
        if not 0 <= p <= 1:  # NaN is neither
            raise DataError(name, f"a p-value of {p}", allowed="0 to 1")
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    out, reached = [0.0] * len(p_values), 0.0
    for factor, i in zip(factors, order, strict=True):
        reached = max(reached, min(1.0, float(p_values[i]) * factor))
        out[i] = reached
    return out


def _as_extreme(chances: list[float], at: int) -> float:
    bound = chances[at] * _TIE
    return min(1.0, fsum(one for one in chances if one <= bound))


def _convolve(one: list[float], other: list[float]) -> list[float]:
    out = [0.0] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            out[i + j] += a * b
    return out


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
