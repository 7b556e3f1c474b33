"""Weights from pairwise comparisons: the Analytic Hierarchy Process (Saaty 1980)."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ludic_deepeval.errors import DataError
from ludic_deepeval.stats.inputs import one_of

# The mean consistency index of random matrices of order 1 … 10 (Saaty 1980): RI(4) = .90.
RANDOM_INDEX: Final = (0.0, 0.0, 0.58, 0.90, 1.12, 1.24, 1.32, 1.41, 1.45, 1.49)
CONSISTENT: Final = 0.10
_RECIPROCAL: Final = 1e-3  # 0.333 is meant as a third

Weighting: TypeAlias = Literal["geometric-mean", "eigenvector"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Ahp:
    """Weights, and how consistent the comparisons were.

    Attributes:
        weights: Of each item; they sum to 1.
        lambda_max: The mean of (A w)_i / w_i; the principal eigenvalue.
        consistency_index: (λ − n) / (n − 1), at least 0.
        consistency_ratio: The index over that of random matrices; 0 for one or two items, which cannot contradict.
        consistent: Whether the ratio is at most .10 (LudicMetrics §5.7).
        method: The procedure.
    """

    weights: tuple[float, ...]
    lambda_max: float
    consistency_index: float
    consistency_ratio: float
    consistent: bool
    method: str


def ahp(matrix: ArrayLike, *, method: Weighting = "geometric-mean") -> Ahp:
    """Return the weights that a matrix of pairwise comparisons implies.

    By the row geometric mean, w_i ∝ (Π_j a_ij)^(1/n) (LudicMetrics §5.7), or by the principal eigenvector (§7).

    Args:
        matrix: a_ij says how many times i weighs what j does; a_ji = 1 / a_ij, and a_ii = 1.
        method: How the weights are found.

    Raises:
        DataError: No square matrix of 1 to 10 items with positive numbers, or one that is not reciprocal.
    """
    one_of(method, ("geometric-mean", "eigenvector"), "ahp", "method")
    try:
        a = np.array(matrix, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError("ahp", "no matrix of numbers") from error
    if a.ndim != 2 or a.shape[0] != a.shape[1] or not 1 <= len(a) <= len(RANDOM_INDEX):
        raise DataError(
            "ahp", f"a table of shape {a.shape}", allowed=f"a square of 1 to {len(RANDOM_INDEX)} items"
        )
    if not np.isfinite(a).all() or (a <= 0).any():
        raise DataError("ahp", "a comparison that is missing or not above 0")
    off = np.abs(a * a.T - 1)
    if off.max() > _RECIPROCAL * 10:
        i, j = np.unravel_index(int(off.argmax()), off.shape)
        raise DataError(
            "ahp",
            f"row {i + 1}, column {j + 1} is {a[i, j]:g} and its mirror {a[j, i]:g}",
            allowed="reciprocals",
        )
    n = len(a)
    if method == "eigenvector":
        vectors = np.linalg.eig(a)
        weights = np.abs(vectors.eigenvectors[:, int(vectors.eigenvalues.real.argmax())].real)
    else:
        weights = np.exp(np.log(a).mean(axis=1))
    weights = weights / weights.sum()
    largest = float((a @ weights / weights).mean())
    index = max(0.0, (largest - n) / (n - 1)) if n > 1 else 0.0
    ratio = index / RANDOM_INDEX[n - 1] if n > 2 else 0.0
    return Ahp(
        weights=tuple(weights.tolist()),
        lambda_max=largest,
        consistency_index=index,
        consistency_ratio=ratio,
        consistent=ratio <= CONSISTENT,
        method=f"AHP, {method.replace('-', ' ')}",
    )
