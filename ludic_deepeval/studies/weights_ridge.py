"""Weights by ridge regression towards a prior, on the simplex (§7, route ii).

A penalty on the size of weights that sum to 1 pulls them to a quarter each, and a Lasso's penalty is then a constant. What is
penalised is the distance from the weights in force: data that say nothing leave them as they are.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from ludic_deepeval.errors import DataError
from ludic_deepeval.studies.weights import FOLDS, Fit, Floats, Observations, line_through

PENALTIES: Final = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0)


def simplex_ridge(
    components: ArrayLike, target: ArrayLike, penalty: float, prior: Sequence[float] | None = None
) -> tuple[float, ...]:
    """Return the w that minimises |Xw − y|² + λ|w − prior|² with w ≥ 0 and Σw = 1, by SLSQP.

    Args:
        components: X, stories × dimensions.
        target: y, on the scale of LPI.
        penalty: λ, at least 0.
        prior: Weights that sum to 1; by default all the same, with which the penalty is that on |w|².

    Raises:
        DataError: λ below 0, or the solver does not converge.
    """
    x, y = np.array(components, dtype=float), np.array(target, dtype=float)
    size = x.shape[1]
    to = np.full(size, 1 / size) if prior is None else np.array(prior, dtype=float)
    if not penalty >= 0:
        raise DataError("simplex_ridge", f"a penalty of {penalty}", allowed="at least 0")
    square = x.T @ x + penalty * np.eye(size)
    linear = x.T @ y + penalty * to
    # The same minimum at a scale of 1, which the solver's tolerance is made for.
    scale = max(1.0, float(np.abs(square).max()))
    found = _slsqp(square / scale, linear / scale, to)
    return tuple(np.clip(found, 0.0, 1.0).tolist())


def ridge(observations: Observations, prior: Sequence[float], penalty: float) -> Fit:
    """Fit weights to a target in a unit of its own: y ≈ a + b · Xw with the best a and b ≥ 0 for every w.

    w is the least of 1 − R²(w) + λ |w − prior|² over w ≥ 0, Σw = 1, where R(w) is the correlation of y with Xw, or 0 where it is
    below 0: the share of the target's variance that is left over, so that λ has no unit. By SLSQP from the prior and from where
    there is no penalty, since the objective may have two valleys.

    Raises:
        DataError: No dimension rises with the target.
    """
    x = observations.components - observations.components.mean(axis=0)
    y = observations.target - observations.target.mean()
    n, to = len(y), np.array(prior, dtype=float)
    spread, along = x.T @ x / n, x.T @ y / n / (float(y.std()) or 1.0)
    if not (along > 1e-12).any():
        raise DataError("ridge", f"no dimension rises with {observations.about}")

    def left_over(w: Floats) -> tuple[float, Floats]:
        c, s = float(along @ w), float(w @ spread @ w)
        if c <= 0 or s <= 1e-15:
            return 1.0, np.zeros(len(w))
        return 1 - c * c / s, -2 * c * along / s + 2 * c * c * (spread @ w) / (s * s)

    def cost(w: Floats) -> tuple[float, Floats]:
        rest, slope = left_over(w)
        return rest + penalty * float((w - to) @ (w - to)), slope + 2 * penalty * (w - to)

    starts = [to, _freely(spread, along, to)]
    # Where the objective is flat the search may end at its limit of steps; the least of all that was seen is taken.
    tried = [np.clip(_searched(cost, start, tolerance=1e-12).x, 0.0, None) for start in starts]
    best = min([*starts, *(one / one.sum() for one in tried)], key=lambda w: cost(w)[0])
    details = {"penalty": penalty, "r_squared": 1 - left_over(best)[0]}
    return Fit("ridge", tuple(best.tolist()), details)


def _freely(spread: Floats, along: Floats, to: Floats) -> Floats:
    """Where 1 − R² is least: the direction of the β ≥ 0 that fits best, ½ βᵀ S β − lᵀ β, by non-negative least squares."""
    root = np.linalg.cholesky(spread + 1e-9 * np.trace(spread) * np.eye(len(to)))
    beta, _ = optimize.nnls(root.T, np.linalg.solve(root, along))
    return np.asarray(beta / beta.sum()) if beta.sum() > 1e-9 else to


def fit_ridge(
    observations: Observations,
    prior: Sequence[float],
    *,
    penalties: Sequence[float] = PENALTIES,
    folds: int = FOLDS,
    seed: int = 0,
) -> Fit:
    """Fit with the penalty that cross-validation chooses.

    It is the largest that is worse than the best by at most one standard error of the difference.

    Args:
        observations: The stories.
        prior: The weights in force.
        penalties: To choose from.
        folds: Of the inner cross-validation.
        seed: Of its partition.

    Raises:
        DataError: No dimension rises with the target under any penalty.
    """
    n = len(observations)
    part = np.random.default_rng([seed, 2]).permutation(n) % max(2, min(folds, n // 2))
    errors = np.array([_errors(observations, prior, one, part) for one in penalties])
    # Story by story: what both miss by as much says nothing of the difference between two penalties.
    worse = errors - errors[int(errors.mean(axis=1).argmin())]
    bearable = worse.mean(axis=1) <= worse.std(axis=1, ddof=1) / np.sqrt(n)
    chosen = max(one for one, good in zip(penalties, bearable, strict=True) if good)
    found = ridge(observations, prior, chosen)
    return Fit(found.method, found.weights, dict(found.details), _remarks(chosen, penalties))


def _remarks(chosen: float, penalties: Sequence[float]) -> tuple[str, ...]:
    return ("the data do not pull away from the weights in force",) if chosen == max(penalties) else ()


def _errors(observations: Observations, prior: Sequence[float], penalty: float, part: Any) -> Floats:
    """The squared error of each story when it is left out with its fold."""
    errors = np.zeros(len(observations))
    for number in range(int(part.max()) + 1):
        train, test = observations.take(part != number), observations.take(part == number)
        try:
            weights = np.array(ridge(train, prior, penalty).weights)
        except DataError:
            errors[part == number] = (test.target - train.target.mean()) ** 2
            continue
        a, b = line_through(train.components @ weights, train.target)
        errors[part == number] = (test.target - a - b * (test.components @ weights)) ** 2
    return errors


def _slsqp(square: Floats, linear: Floats, start: Floats) -> Floats:
    """The w ≥ 0 with Σw = 1 that minimises ½ wᵀ S w − lᵀ w."""

    def cost(w: Floats) -> tuple[float, Floats]:
        return float(0.5 * w @ square @ w - linear @ w), square @ w - linear

    found = _searched(cost, start, tolerance=1e-16)
    # 8: the line search cannot go down any further, which at this tolerance is where the minimum is.
    if found.status not in {0, 8}:
        raise DataError("ridge", f"the solver did not converge ({found.message})")
    return np.asarray(found.x)


def _searched(cost: Callable[[Floats], tuple[float, Floats]], start: Floats, *, tolerance: float) -> Any:
    ones = np.ones(len(start))
    return optimize.minimize(
        cost,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0, 1)] * len(start),
        constraints=[{"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda _: ones}],
        options={"ftol": tolerance, "maxiter": 200},
    )
