"""Two-way analysis of variance, with partial eta squared and its interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special, stats

from ludic_deepeval.errors import DataError
from ludic_deepeval.stats.inputs import Floats, labels, sample, share
from ludic_deepeval.stats.results import Result


@dataclass(frozen=True, kw_only=True, slots=True)
class Effect(Result):
    """One line of an analysis of variance: F, its p, partial eta squared as effect, and the interval of that.

    Attributes:
        sum_of_squares: Of the effect.
    """

    sum_of_squares: float


@dataclass(frozen=True, kw_only=True, slots=True)
class TwoWay:
    """A two-way analysis of variance.

    Attributes:
        first: The main effect of the first factor.
        second: The main effect of the second factor.
        interaction: Whether the effect of one depends on the other.
        residual_df: N less the number of cells.
        residual_sum_of_squares: Within the cells.
        n: N.
        balanced: Whether all cells hold the same number of values.
        method: The procedure.
    """

    first: Effect
    second: Effect
    interaction: Effect
    residual_df: int
    residual_sum_of_squares: float
    n: int
    balanced: bool
    method: str = "two-way ANOVA, type II sums of squares"


def two_way_anova(
    values: ArrayLike | Mapping[object, Mapping[object, Sequence[float]]],
    first: Sequence[object] | None = None,
    second: Sequence[object] | None = None,
    *,
    confidence: float = 0.95,
) -> TwoWay:
    """Split the variance of a measure between two factors and their interaction.

    Sums of squares are of type II (each main effect given the other, the interaction given both), which in a balanced
    design are those of every type. They do not depend on the order of levels, of factors or of observations.

    Args:
        values: The measure, one value an observation; or cells, {level: {level: values}}.
        first: The first factor's level of each observation; left out with cells.
        second: The second factor's.
        confidence: The level of the intervals of partial eta squared.

    Returns:
        Three effects; `effect` is η_p² = SS / (SS + SS_residual), `interval` its interval (`partial_eta_squared`).

    Raises:
        DataError: A factor has one level, a combination of levels no value, no cell two values, or nothing varies within
            the cells.
    """
    share(confidence, "two_way_anova", "confidence")
    y, one, other = _long(values, first, second)
    levels_one, a = labels(one, "two_way_anova", "the first factor")
    levels_other, b = labels(other, "two_way_anova", "the second factor")
    i, j, n = len(levels_one), len(levels_other), len(y)
    cells = a * j + b
    counts = np.bincount(cells, minlength=i * j)
    if not counts.all():
        empty = int(np.flatnonzero(counts == 0)[0])
        raise DataError(
            "two_way_anova",
            f"no value for {levels_one[empty // j]!r} with {levels_other[empty % j]!r}",
            allowed="a value in every combination of levels",
        )
    residual_df = n - i * j
    if residual_df < 1:
        raise DataError("two_way_anova", "one value in each cell", allowed="a cell with two")
    y = y - y.mean()  # a large mean would cost digits in the differences below
    within = y - (np.bincount(cells, weights=y) / counts)[cells]
    residual = float(within @ within)
    if residual <= 1e-20 * float(y @ y) or not y.any():
        raise DataError(
            "two_way_anova", "no cell varies", hint="without spread within cells no effect can be judged"
        )
    in_one, in_other = _indicators(a, i), _indicators(b, j)
    alone_one, alone_other = _left(in_one, y), _left(in_other, y)
    both = _left(np.hstack([in_one, in_other[:, 1:]]), y)

    def effect(square: float, df: int, what: str) -> Effect:
        square = max(square, 0.0)
        f = (square / df) / (residual / residual_df)
        found = f_summary(f, df, residual_df, confidence=confidence)
        return Effect(
            statistic=f,
            df=(float(df), float(residual_df)),
            p_value=found.p_value,
            effect=found.effect,
            interval=found.interval,
            method=f"two-way ANOVA, {what}",
            sum_of_squares=square,
        )

    return TwoWay(
        first=effect(alone_other - both, i - 1, "first factor"),
        second=effect(alone_one - both, j - 1, "second factor"),
        interaction=effect(both - residual, (i - 1) * (j - 1), "interaction"),
        residual_df=residual_df,
        residual_sum_of_squares=residual,
        n=n,
        balanced=bool((counts == counts[0]).all()),
    )


def f_summary(f: float, df: float, residual_df: float, *, confidence: float = 0.95) -> Result:
    """The p-value and partial eta squared of a printed F.

    η_p² = F·df / (F·df + df_residual). The interval inverts the noncentral F (Steiger 2004): λ with
    P(F' ≥ F | λ) = (1 ± confidence)/2, as λ / (λ + df + df_residual + 1); it begins at 0 when F is not significant at
    (1 − confidence)/2.

    Raises:
        DataError: F below 0 or not finite, or degrees of freedom that are not above 0.
    """
    share(confidence, "partial eta squared", "confidence")
    if not 0 <= f < np.inf or not df > 0 or not residual_df > 0:
        raise DataError("partial eta squared", f"F = {f} with {df} and {residual_df} degrees of freedom")
    tail = (1 - confidence) / 2
    low, high = (_noncentrality(f, df, residual_df, level) for level in (1 - tail, tail))
    total = df + residual_df + 1
    return Result(
        statistic=float(f),
        df=(float(df), float(residual_df)),
        p_value=float(stats.f.sf(f, df, residual_df)),
        effect=float(f * df / (f * df + residual_df)),
        interval=(low / (low + total), high / (high + total)),
        method="F test",
    )


def _noncentrality(f: float, df: float, residual_df: float, level: float) -> float:
    """λ under which F is at this level of its distribution; 0 when it lies below even without one."""
    if special.fdtr(df, residual_df, f) <= level:
        return 0.0

    def above(nc: float) -> float:
        return float(special.ncfdtr(df, residual_df, nc, f)) - level

    top = f * df + 10.0
    while above(top) > 0:
        top *= 2
    return float(optimize.brentq(above, 0, top, xtol=1e-10))


def _long(
    values: ArrayLike | Mapping[object, Mapping[object, Sequence[float]]],
    first: Sequence[object] | None,
    second: Sequence[object] | None,
) -> tuple[Floats, Sequence[object], Sequence[object]]:
    if isinstance(values, Mapping):
        rows = [
            (value, one, other)
            for one, cells in values.items()
            for other, cell in cells.items()
            for value in np.asarray(cell, dtype=object).ravel()
        ]
        y = sample([row[0] for row in rows], "two_way_anova", what="the table of cells")
        return y, [row[1] for row in rows], [row[2] for row in rows]
    y = sample(values, "two_way_anova", what="the measure")
    if first is None or second is None or not len(first) == len(second) == len(y):
        raise DataError(
            "two_way_anova", "factors and values differ in number", allowed="a level of each for each value"
        )
    return y, list(first), list(second)


def _indicators(level: NDArray[np.int64], levels: int) -> Floats:
    found: Floats = (level[:, None] == np.arange(levels)).astype(float)
    return found


def _left(design: Floats, y: Floats) -> float:
    """The sum of squares that a least-squares fit leaves."""
    fit = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return float((y - fit) @ (y - fit))
