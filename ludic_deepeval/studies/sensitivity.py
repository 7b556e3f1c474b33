"""Whether the verdicts depend on the choice of the LPI weights (LudicMetrics §5.4).

Both analyses perturb each ω_i by ±p, uniformly and independently, and renormalise the four to 1. Monte Carlo asks how
many ledgers change sides of the LPI gate and how far the order of ledgers stays; Sobol asks which weight the share of
ledgers that pass depends on. `policies` does the same for every other number of a policy.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ludic_deepeval.errors import DataError
from ludic_deepeval.stats.inputs import Floats, codes, share, table, whole
from ludic_deepeval.stats.variance import SobolIndices, sobol_indices
from ludic_deepeval.studies.corpus import COMPONENTS, Bools, Corpus

DRAWS: Final = 20_000  # §5.4, as are the two below
SPREAD: Final = 0.20
ROBUST: Final = 0.05
SWEEP: Final = (0.1, 0.2, 0.3, 0.4, 0.5)
WEIGHTS: Final = (0.4, 0.3, 0.2, 0.1)
_CHUNK: Final = 256  # weight vectors at a time, so that their scores stay in the processor's cache
_SLACK: Final = 1e-12  # a ledger at the threshold is not moved by float noise
_MOST: Final = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class WeightStability:
    """What perturbing the weights by ±spread did.

    Attributes:
        spread: p; each weight was multiplied by 1 ± p at most, and the four renormalised.
        draws: Weight vectors.
        ledgers: How many were scored.
        reclassified: The mean share of ledgers on the other side of the gate than with the default weights.
        never: The share of ledgers that no weight vector moved to the other side.
        spearman_mean: The mean over the draws of the rank correlation of LPI with the default LPI, from −1 to 1; None
            where all ledgers have one LPI by default.
        spearman_min: The smallest.
        moved: For each ledger the share of draws that moved it.
        seed: Of the draws.
    """

    spread: float
    draws: int
    ledgers: int
    reclassified: float
    never: float
    spearman_mean: float | None
    spearman_min: float | None
    moved: tuple[float, ...]
    seed: int

    @property
    def robust(self) -> bool:
        """Whether less than 5 % are reclassified, the conventional bound (§5.4)."""
        return self.reclassified < ROBUST


def weight_stability(
    components: ArrayLike,
    *,
    weights: ArrayLike = WEIGHTS,
    least: ArrayLike = 0.70,
    plays: Bools | None = None,
    spread: float = SPREAD,
    draws: int = DRAWS,
    seed: int = 0,
) -> WeightStability:
    """Perturb the LPI weights and count what changes.

    Args:
        components: Ledgers × (RTN, MV, UCR, TH).
        weights: ω; they sum to 1.
        least: The LPI that passes, one for all or one for each.
        plays: Which ledgers pass by default, where that was told exactly.
        spread: p, above 0 and below 1.
        draws: Weight vectors.
        seed: The same seed gives the same vectors.

    Raises:
        DataError: Components that are not numbers, a spread or number of draws out of range.
    """
    scores = table(components, "sensitivity", rows=1, columns=4)
    default = _weights(weights, scores.shape[1])
    share(spread, "sensitivity", "spread")
    if draws < 1 or len(scores) > _MOST:
        raise DataError(
            "sensitivity", f"{draws} draws of {len(scores)} ledgers", allowed=f"1, and at most {_MOST}"
        )
    floor = np.broadcast_to(np.asarray(least, dtype=float), len(scores)) - _SLACK
    base = scores @ default >= floor if plays is None else plays
    vectors = perturbed(default, spread, draws, np.random.default_rng(seed))
    ranks = _Ranks(scores, default)
    moved = np.zeros(len(scores), dtype=np.int64)
    columns = np.ascontiguousarray(scores.T)
    correlations = []
    for start in range(0, draws, _CHUNK):
        found = vectors[start : start + _CHUNK] @ columns
        moved += np.count_nonzero((found >= floor) != base, axis=0)
        correlations.append(ranks.spearman(found))
    rho = np.concatenate(correlations) if ranks.vary else None
    return WeightStability(
        spread=spread,
        draws=draws,
        ledgers=len(scores),
        reclassified=float(moved.mean() / draws),
        never=float((moved == 0).mean()),
        spearman_mean=None if rho is None else float(rho.mean()),
        spearman_min=None if rho is None else float(rho.min()),
        moved=tuple((moved / draws).tolist()),
        seed=seed,
    )


def corpus_stability(
    corpus: Corpus, *, spread: float = SPREAD, draws: int = DRAWS, seed: int = 0
) -> WeightStability:
    """The same for scored ledgers, whose default verdicts are exact."""
    return weight_stability(
        corpus.components,
        weights=corpus.weights,
        least=corpus.lpi_least,
        plays=corpus.plays,
        spread=spread,
        draws=draws,
        seed=seed,
    )


def weight_sobol(
    components: ArrayLike,
    *,
    weights: ArrayLike = WEIGHTS,
    least: ArrayLike = 0.70,
    spread: float = SPREAD,
    n: int = 4096,
    seed: int = 0,
    resamples: int = 0,
) -> SobolIndices:
    """Split the variance of the share of ledgers that pass between the four weights.

    Each weight is uniform in ω_i (1 ± p) before the four are renormalised, so that they interact (§5.4).

    Args:
        components: Ledgers × (RTN, MV, UCR, TH).
        weights: ω.
        least: The LPI that passes, one for all or one for each.
        spread: p, above 0 and below 1.
        n: Base samples, a power of two; the share is computed for 6 n weight vectors.
        seed: Of the sample.
        resamples: Of the bootstrap intervals; 0 makes none.

    Raises:
        DataError: As above, or no weight vector moves a ledger.
    """
    scores = table(components, "sensitivity", rows=1, columns=4)
    default = _weights(weights, scores.shape[1])
    share(spread, "sensitivity", "spread")
    floor = np.broadcast_to(np.asarray(least, dtype=float), len(scores)) - _SLACK
    columns = np.ascontiguousarray(scores.T)

    def passing(inputs: Floats) -> Floats:
        vectors = inputs.T * default
        vectors /= vectors.sum(axis=1, keepdims=True)
        out = np.empty(len(vectors))
        for start in range(0, len(vectors), _CHUNK):
            found = vectors[start : start + _CHUNK] @ columns >= floor
            out[start : start + _CHUNK] = np.count_nonzero(found, axis=1)
        return out[None] / len(scores)

    bounds = [(1 - spread, 1 + spread)] * len(COMPONENTS)
    return sobol_indices(passing, bounds, names=COMPONENTS, n=n, seed=seed, resamples=resamples)[0]


def perturbed(weights: Floats, spread: float, draws: int, rng: np.random.Generator) -> Floats:
    """Return draws × weights: each times 1 ± spread, then scaled so that their sum stays what it was."""
    found = weights * rng.uniform(1 - spread, 1 + spread, (draws, len(weights)))
    found *= weights.sum() / found.sum(axis=1, keepdims=True)
    return np.asarray(found)


class _Ranks:
    """The default order of ledgers, and how other orders correlate with it.

    A score and its ledger's number are sorted as one integer, the number in the lowest bits of the score's fraction, which
    costs one sort and no second look-up. Scores are told apart to 2^-43 for 400 ledgers. Ledgers with the same components
    have the same score whatever the weights: they stay side by side, and since they share their default rank too, it does
    not matter in which order; what their ties cost the variance of the ranks is the same in every draw.
    """

    def __init__(self, scores: Floats, default: Floats) -> None:
        count = len(scores)
        baseline = codes(whole((scores @ default)[None]))[0]
        self._ranks = _mid_ranks(baseline)
        self._places = np.arange(1, count + 1, dtype=float)
        alike = np.unique(scores[:, default > 0], axis=0, return_counts=True)[1]
        mine, theirs = np.unique(baseline, return_counts=True)[1], alike
        self._scale = np.sqrt(_spread(count, mine) * _spread(count, theirs))
        self._number = np.arange(count, dtype=np.int64)
        self._mask = np.int64((1 << max(1, (count - 1).bit_length())) - 1)

    @property
    def vary(self) -> bool:
        """Whether there is an order to correlate with."""
        return bool(self._scale > 0)

    def spearman(self, scores: Floats) -> Floats:
        """Correlate each row of scores, which are at least 0 and are overwritten, with the default order."""
        if not self.vary:
            return np.empty(0)
        keys = scores.view(np.int64)  # floats of one sign are in the order of their bits
        keys &= ~self._mask
        keys |= self._number
        keys.sort(axis=1)
        keys &= self._mask
        count = len(self._places)
        found: Floats = (self._ranks[keys] @ self._places - count * (count + 1) ** 2 / 4) / self._scale
        return found


def _mid_ranks(places: np.ndarray) -> Floats:
    counts = np.bincount(places)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[places])


def _spread(count: int, alike: np.ndarray) -> float:
    """The sum of squares of ranks about their mean, with so many ties."""
    return float(count**3 - count - (alike.astype(float) ** 3 - alike).sum()) / 12


def _weights(weights: ArrayLike, count: int) -> Floats:
    found = np.asarray(weights, dtype=float)
    if found.shape != (count,) or not (found >= 0).all() or not abs(found.sum() - 1) < 1e-9:
        raise DataError("sensitivity", "weights that are no shares", allowed=f"{count} shares that sum to 1")
    return found
