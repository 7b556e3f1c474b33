"""Weights by genetic search: those under which LPI puts most pairs of stories in the target's order (§7, route ii).

The objective counts pairs and has no slope, so that a population is moved over it (SciPy's differential evolution).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from scipy import optimize

from ludic_deepeval.errors import DataError
from ludic_deepeval.studies.weights import Fit, Floats, Observations, ordered_pairs

MOST_PAIRS: Final = 10_000
GENERATIONS: Final = 50
_TIE: Final = 1e-12


def fit_genetic(
    observations: Observations, prior: Sequence[float], *, generations: int = GENERATIONS, seed: int = 0
) -> Fit:
    """Find the weights with the largest concordance.

    C(w) = (pairs in the target's order + ½ pairs level) / (pairs whose targets differ), from 0 to 1. Of weights that order as
    many pairs, those nearest to the weights in force are taken: what the data leave open is not moved.

    Args:
        observations: The stories; of more than 10,000 pairs a sample is taken.
        prior: The weights in force.
        generations: At most so many.
        seed: Of the search.

    Raises:
        DataError: No two stories differ in the target.
    """
    pairs = ordered_pairs(observations)
    if not len(pairs):
        raise DataError("genetic", f"{observations.about} is the same for every story")
    rng = np.random.default_rng([seed, 3])
    if len(pairs) > MOST_PAIRS:
        pairs = pairs[rng.choice(len(pairs), MOST_PAIRS, replace=False)]
    to = np.array(prior, dtype=float)
    nudge = 0.2 / len(pairs)  # times a squared distance of at most 2 it stays below half a pair

    def cost(raw: Floats) -> Floats:
        weights = simplex(raw)
        far = ((weights - to[:, None]) ** 2).sum(axis=0)
        return np.asarray(nudge * far - concordance(pairs, weights))

    found = optimize.differential_evolution(
        cost,
        [(0.0, 1.0)] * len(to),
        x0=to / to.max(),
        popsize=10,
        maxiter=generations,
        tol=0,
        polish=False,
        vectorized=True,
        updating="deferred",
        rng=rng,
    )
    weights = simplex(found.x[:, None])[:, 0]
    best = float(concordance(pairs, weights[:, None])[0])
    details = {"concordance": best, "pairs": len(pairs), "generations": int(found.nit)}
    return Fit("genetic search on concordance", tuple(weights.tolist()), details)


def simplex(raw: Floats) -> Floats:
    """Bring columns of non-negative numbers to a sum of 1; a column of zeros becomes a quarter each."""
    total = raw.sum(axis=0)
    return np.where(total > _TIE, raw / np.maximum(total, _TIE), 1 / len(raw))


def concordance(pairs: Floats, weights: Floats) -> Floats:
    """The share of pairs that each column of weights puts in the target's order, level ones counting half."""
    found = pairs @ weights
    return np.asarray(((found > _TIE).sum(axis=0) + (np.abs(found) <= _TIE).sum(axis=0) / 2) / len(pairs))
