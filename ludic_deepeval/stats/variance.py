"""Sobol's variance decomposition with the pick-and-freeze estimators of Jansen (1999) for both orders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.stats import qmc

from ludic_deepeval.errors import DataError
from ludic_deepeval.stats.inputs import Floats, share


@dataclass(frozen=True, kw_only=True, slots=True)
class SobolIndices:
    """Which inputs the variance of an output comes from.

    Attributes:
        names: The inputs.
        first: S_i, the share of the variance that input i explains alone; about 0 to 1, estimates may be a little below 0.
        total: S_Ti, the share that input i has a part in, interactions among them; at least 0.
        first_interval: Bootstrap interval of each S_i; empty when no resamples were asked for.
        total_interval: Of each S_Ti.
        mean: Of the output.
        variance: Of the output.
        n: Base samples; the output was computed n (inputs + 2) times.
        method: The procedure.
    """

    names: tuple[str, ...]
    first: tuple[float, ...]
    total: tuple[float, ...]
    first_interval: tuple[tuple[float, float], ...]
    total_interval: tuple[tuple[float, float], ...]
    mean: float
    variance: float
    n: int
    method: str = "Sobol, Jansen estimators, scrambled sequence"


def jansen(f_a: Floats, f_b: Floats, f_ab: Floats) -> tuple[Floats, Floats]:
    """Both orders by Jansen: S_i = 1 − Σ (f(B) − f(A_B^i))² / 2nV and S_Ti = Σ (f(A) − f(A_B^i))² / 2nV.

    A_B^i is A with its i-th input from B; V is the variance of f over A and B together.

    Args:
        f_a: f(A), outputs × n.
        f_b: f(B), outputs × n.
        f_ab: f(A_B^i), inputs × outputs × n.

    Returns:
        First and total indices, inputs × outputs.

    Raises:
        DataError: An output does not vary, so that there is nothing to split.
    """
    both = np.concatenate([f_a, f_b], axis=-1)
    spread = np.ptp(both, axis=-1)
    if (spread <= 1e-13 * np.abs(both).max(axis=-1)).any():
        place = int(spread.argmin())
        raise DataError(
            "sobol",
            f"output {place + 1} of {len(both)} does not vary",
            hint="a larger spread may move it, or nothing here does",
        )
    variance = both.var(axis=-1)
    first: Floats = 1 - ((f_b - f_ab) ** 2).mean(axis=-1) / (2 * variance)
    total: Floats = ((f_a - f_ab) ** 2).mean(axis=-1) / (2 * variance)
    return first, total


def sobol_indices(
    function: Callable[[Floats], Floats],
    bounds: Sequence[tuple[float, float]],
    *,
    names: Sequence[str] = (),
    n: int = 4096,
    seed: int = 0,
    resamples: int = 0,
    confidence: float = 0.95,
) -> tuple[SobolIndices, ...]:
    """Split the variance of each output of a function between its inputs.

    The function is called once, with A, B and every A_B^i side by side: n (inputs + 2) columns.

    Args:
        function: Takes inputs × samples and returns outputs × samples.
        bounds: The range of each input, in which it is uniform.
        names: Of the inputs.
        n: Base samples, a power of two.
        seed: Of the sequence's scrambling; the same seed gives the same indices.
        resamples: Of the percentile bootstrap for the intervals; 0 makes none.
        confidence: The intervals' level.

    Returns:
        One for each output.

    Raises:
        DataError: n is no power of two, a range is empty, or an output does not vary.
    """
    share(confidence, "sobol", "confidence")
    if n < 2 or n & (n - 1):
        raise DataError("sobol", f"n is {n}", allowed="a power of two")
    if not bounds or any(not low < high for low, high in bounds):
        raise DataError("sobol", "no inputs, or an empty range")
    d = len(bounds)
    if names and len(names) != d:
        raise DataError("sobol", f"{len(names)} names for {d} inputs")
    rng = np.random.default_rng(seed)
    low, high = np.array(bounds, dtype=float).T
    base = qmc.Sobol(2 * d, rng=rng).random(n)
    a, b = (low + (high - low) * half for half in (base[:, :d], base[:, d:]))
    mixed = np.repeat(a[None], d, axis=0)
    for i in range(d):
        mixed[i, :, i] = b[:, i]
    inputs = np.concatenate([a, b, mixed.reshape(d * n, d)]).T
    outputs = np.atleast_2d(np.asarray(function(np.ascontiguousarray(inputs)), dtype=float))
    if outputs.shape[1] != inputs.shape[1] or not np.isfinite(outputs).all():
        raise DataError("sobol", "the function returned not one finite number for each sample")
    f_a, f_b = outputs[:, :n], outputs[:, n : 2 * n]
    f_ab = np.moveaxis(outputs[:, 2 * n :].reshape(-1, d, n), 1, 0)
    first, total = jansen(f_a, f_b, f_ab)
    ends = _intervals((f_a, f_b, f_ab), resamples, confidence, rng)
    return tuple(
        SobolIndices(
            names=tuple(names) or tuple(f"x{i + 1}" for i in range(d)),
            first=tuple(first[:, s].tolist()),
            total=tuple(total[:, s].tolist()),
            first_interval=ends[0][s] if ends else (),
            total_interval=ends[1][s] if ends else (),
            mean=float(outputs[s, : 2 * n].mean()),
            variance=float(outputs[s, : 2 * n].var()),
            n=n,
        )
        for s in range(len(outputs))
    )


Ends: TypeAlias = list[tuple[tuple[float, float], ...]]


def _intervals(
    found: tuple[Floats, Floats, Floats], resamples: int, confidence: float, rng: np.random.Generator
) -> tuple[Ends, Ends] | None:
    """For each output the interval of each first and each total index."""
    if not resamples:
        return None
    n = found[0].shape[-1]
    drawn: list[tuple[Floats, Floats]] = []
    for _ in range(resamples):
        rows = rng.integers(n, size=n)
        drawn.append(jansen(*(part[..., rows] for part in found)))
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    orders = []
    for order in zip(*drawn, strict=True):
        ends = np.quantile(np.stack(order), tails, axis=0)  # 2 × inputs × outputs
        orders.append([tuple(map(tuple, ends[:, :, s].T.tolist())) for s in range(ends.shape[2])])
    return orders[0], orders[1]
