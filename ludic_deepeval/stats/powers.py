"""How likely a study is to find an effect, and how large it must be for that."""

from collections.abc import Callable
from dataclasses import dataclass
from math import atanh, isfinite, sqrt
from typing import Final, Literal, TypeAlias

from scipy import optimize, stats

from ludic_deepeval.errors import DataError
from ludic_deepeval.stats.inputs import one_of, share

Tails: TypeAlias = Literal["one", "two"]
_MOST: Final = 1e7


@dataclass(frozen=True, kw_only=True, slots=True)
class Power:
    """A study's size, the effect it looks for, and how likely it finds it. One of the three was solved for.

    Attributes:
        n: Observations: in each group for t, pairs for r, the whole study for F. Not rounded where it was solved for.
        effect: d, r or f.
        power: The chance of a significant result, from 0 to 1.
        alpha: The level.
        method: The test, in words.
    """

    n: float
    effect: float
    power: float
    alpha: float
    method: str


def power_t(
    *,
    n: float | None = None,
    d: float | None = None,
    power: float | None = None,
    alpha: float = 0.05,
    tails: Tails = "two",
) -> Power:
    """Two means with n values each, by the noncentral t with 2n − 2 degrees of freedom and d √(n/2).

    Args:
        n: Values in each group, at least 2; None solves for it.
        d: Cohen's d, above 0; None solves for it.
        power: The chance to find d; None computes it.
        alpha: The level.
        tails: "one" tests the direction of d.

    Raises:
        DataError: Not exactly one of n, d and power is left out, or one is out of range.
    """

    def chance(size: float, effect: float) -> float:
        df, shift = 2 * size - 2, effect * sqrt(size / 2)
        critical = stats.t.ppf(1 - _level(alpha, tails), df)
        # SciPy gives NaN where so little is left of a tail that it cannot be added up.
        found = _or(stats.nct.sf(critical, df, shift), float(shift > critical))
        return found + _or(stats.nct.cdf(-critical, df, shift), 0.0) if tails == "two" else found

    return _solved(
        (n, d, power), chance, alpha=alpha, name=f"two-sample t, {tails}-tailed", least=2.0, most=100.0
    )


def power_r(
    *,
    n: float | None = None,
    r: float | None = None,
    power: float | None = None,
    alpha: float = 0.05,
    tails: Tails = "two",
) -> Power:
    """A correlation of n pairs against 0, by Fisher's z with its bias r / (2(n−1)) (as R's pwr.r.test).

    An approximation for small n: where nothing is correlated it gives .0705 for four pairs and .0503 for twenty, not .05.

    Args:
        n: Pairs, at least 4; None solves for it.
        r: Above 0 and below 1; None solves for it.
        power: The chance to find r; None computes it.
        alpha: The level.
        tails: "one" tests the direction of r.
    """

    def chance(size: float, effect: float) -> float:
        t = stats.t.ppf(1 - _level(alpha, tails), size - 2)
        critical = atanh(sqrt(t * t / (t * t + size - 2)))
        centre, root = atanh(effect) + effect / (2 * (size - 1)), sqrt(size - 3)
        found = stats.norm.cdf((centre - critical) * root)
        return float(found + stats.norm.cdf((-centre - critical) * root)) if tails == "two" else float(found)

    return _solved(
        (n, r, power), chance, alpha=alpha, name=f"correlation, {tails}-tailed", least=4.0, most=0.9999
    )


def power_f(
    *,
    cells: int,
    df: int,
    n: float | None = None,
    f: float | None = None,
    power: float | None = None,
    alpha: float = 0.05,
) -> Power:
    """An effect with `df` degrees of freedom in an ANOVA of so many cells, by the noncentral F with λ = n f².

    Args:
        cells: Cells of the design; 4 in a 2 × 2.
        df: Of the effect; 1 for the interaction of a 2 × 2.
        n: Observations of the whole study; None solves for it.
        f: Cohen's f = √(η_p² / (1 − η_p²)); None solves for it.
        power: The chance to find f; None computes it.
        alpha: The level.
    """
    if cells < 2 or not 1 <= df < cells:
        raise DataError("power_f", f"{df} degrees of freedom in {cells} cells", allowed="1 to cells - 1")
    share(alpha, "power", "alpha")

    def chance(size: float, effect: float) -> float:
        left = size - cells
        return float(stats.ncf.sf(stats.f.ppf(1 - alpha, df, left), df, left, size * effect * effect))

    return _solved((n, f, power), chance, alpha=alpha, name=f"F with {df} df", least=cells + 1.0, most=100.0)


def _solved(
    asked: tuple[float | None, float | None, float | None],
    chance: Callable[[float, float], float],
    *,
    alpha: float,
    name: str,
    least: float,
    most: float,
) -> Power:
    """Fill in what was left out of (n, effect, power); n is at least `least`, the effect at most `most`."""
    n, effect, power = asked
    if n is not None and not least <= n <= _MOST:
        raise DataError("power", f"n is {n}", allowed=f"{least:g} to {_MOST:g}")
    if effect is not None and not 0 < effect <= most:
        raise DataError("power", f"the effect is {effect}", allowed=f"more than 0, at most {most:g}")
    if power is not None:
        share(power, "power", "power")
    size, looked_for, chosen = n, effect, power
    if n is not None and effect is not None and power is None:
        chosen = chance(n, effect)
    elif n is None and effect is not None and power is not None:
        size = _root(lambda one: chance(one, effect) - power, least, _MOST, "n")
    elif n is not None and effect is None and power is not None:
        looked_for = _root(lambda one: chance(n, one) - power, 1e-9, most, "effect")
    if size is None or looked_for is None or chosen is None or None not in asked:
        raise DataError("power", "not exactly one of size, effect and power is left out")
    return Power(n=float(size), effect=float(looked_for), power=chosen, alpha=alpha, method=name)


def _or(found: float, limit: float) -> float:
    return float(found) if isfinite(found) else limit


def _root(function: Callable[[float], float], low: float, high: float, what: str) -> float:
    top = low * 2
    while function(min(top, high)) < 0:
        if top >= high:
            raise DataError("power", f"no {what} up to {high:g} gives that power")
        top *= 2
    if function(low) >= 0:
        return low
    return float(optimize.brentq(function, low, min(top, high), xtol=1e-10))


def _level(alpha: float, tails: Tails) -> float:
    one_of(tails, ("one", "two"), "power", "tails")
    share(alpha, "power", "alpha")
    return alpha / 2 if tails == "two" else alpha
