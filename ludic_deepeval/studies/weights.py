"""Weights of LPI from an outside criterion, and whether they predict it better than the weights in force (§7).

A target is what LPI should follow: how playable people find the stories, or how little a game master had to invent. A method
fits weights to it; cross-validation says what they are worth on stories that they were not fitted to, beside the weights in
force on the same stories.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ludic_deepeval.errors import DataError
from ludic_deepeval.outcome import Outcome, Scored
from ludic_deepeval.stats import bca
from ludic_deepeval.studies.refusals import unscored

Floats: TypeAlias = NDArray[np.float64]
NAMES: Final = ("RTN", "MV", "UCR", "TH")
NOTHING: Final = 0.005
"""A weight below this has shrunk to zero."""
LEAST: Final = 10
"""Stories that a fit needs: fewer leave nothing to test it on."""
FOLDS: Final = 5


@dataclass(frozen=True)
class Observations:
    """Stories with their components and a target.

    Attributes:
        components: Stories × (RTN, MV, UCR, TH), each in [0, 1].
        target: What LPI should follow, higher for the more playable; any unit.
        about: What the target is, in words.
    """

    components: Floats
    target: Floats
    about: str = "the target"

    def __len__(self) -> int:
        return len(self.target)

    def take(self, places: Sequence[int] | NDArray[Any]) -> "Observations":
        """The stories at these places."""
        return Observations(self.components[places], self.target[places], self.about)


def observe(components: ArrayLike, target: ArrayLike, about: str = "the target") -> Observations:
    """Return observations that a fit can use.

    Raises:
        DataError: No table of finite numbers, components outside [0, 1], fewer than 10 stories, or a target that does
            not vary.
    """
    try:
        x, y = np.array(components, dtype=float), np.array(target, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError("weights", "no table of numbers") from error
    if x.ndim != 2 or x.shape != (y.size, len(NAMES)) or not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise DataError(
            "weights", f"shapes {x.shape} and {y.shape}", allowed="stories × 4 and stories, all finite"
        )
    if x.size and (x.min() < 0 or x.max() > 1):
        raise DataError("weights", "a component outside 0 to 1", allowed="RTN, MV, UCR, TH from 0 to 1")
    if y.size < LEAST:
        raise DataError("weights", f"{y.size} stories with a target", allowed=f"at least {LEAST}")
    if np.ptp(y) <= 1e-12 * max(1.0, float(np.abs(y).max())):
        raise DataError("weights", f"{about} is the same for every story")
    return Observations(x, y, about)


@dataclass(frozen=True)
class Fit:
    """Weights that a method found.

    Attributes:
        method: Which, in words.
        weights: Of RTN, MV, UCR, TH; they sum to 1.
        details: What else the method says, by name: plain values.
        remarks: What a reader must know of this fit.
    """

    method: str
    weights: tuple[float, ...]
    details: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def shrunk(self) -> tuple[str, ...]:
        """The dimensions whose weight has shrunk to zero: redundant beside the others (§7)."""
        return tuple(name for name, one in zip(NAMES, self.weights, strict=True) if one < NOTHING)


Fitter: TypeAlias = Callable[[Observations], Fit]


@dataclass(frozen=True)
class Comparison:
    """What fitted weights are worth on stories that they were not fitted to, beside the weights in force.

    Attributes:
        error: Root mean squared error of the target's prediction, in the target's unit; lower is better.
        default_error: The same of the weights in force.
        gain: Mean squared error in force less fitted; above 0 when the fit is better.
        interval: 95 % BCa of the gain over stories, or why there is none.
        concordance: Of the pairs of stories within a fold whose targets differ, the share that LPI orders alike, a tie
            counting half; from 0 to 1, higher is better.
        default_concordance: The same of the weights in force.
        stories: How many were predicted.
        folds: In how many parts.
        ranges: The least and the largest weight of each dimension over the folds: how far a fit depends on its stories.
    """

    error: float
    default_error: float
    gain: float
    interval: Outcome[tuple[float, float]]
    concordance: float
    default_concordance: float
    stories: int
    folds: int
    ranges: tuple[tuple[float, float], ...]

    @property
    def better(self) -> bool | None:
        """Whether the interval of the gain lies above 0; None without an interval."""
        return self.interval.value[0] > 0 if isinstance(self.interval, Scored) else None


def cross_validate(
    observations: Observations, fit: Fitter, default: Sequence[float], *, folds: int = FOLDS, seed: int = 0
) -> Comparison:
    """Fit on all folds but one, predict that one, and do the same with the weights in force.

    The prediction is a + b · LPI with a and b ≥ 0 by least squares on the same training stories for both, since a target has a
    unit of its own.

    Args:
        observations: The stories.
        fit: The method.
        default: The weights in force.
        folds: At least 2; no more than half as many as there are stories.
        seed: Of the partition.

    Raises:
        DataError: The method cannot be fitted to a training set.
    """
    n = len(observations)
    folds = max(2, min(folds, n // 2))
    part = np.random.default_rng([seed, 1]).permutation(n) % folds
    errors = np.zeros((2, n))
    right, pairs = np.zeros(2), 0.0
    fits = []
    for number in range(folds):
        train, test = observations.take(part != number), observations.take(part == number)
        fits.append(fit(train).weights)
        for row, weights in enumerate((fits[-1], tuple(default))):
            w = np.array(weights)
            a, b = line_through(train.components @ w, train.target)
            errors[row, part == number] = (test.target - a - b * (test.components @ w)) ** 2
            found, count = _concordant(test, w)
            right[row] += found
            pairs += count / 2
    gains = errors[1] - errors[0]
    interval: Outcome[tuple[float, float]]
    try:
        interval = Scored(bca(np.mean, gains, seed=seed))
    except DataError as error:
        interval = unscored(error)
    fitted, inforce = (float(one) for one in np.sqrt(errors.mean(axis=1)))
    shares = right / pairs if pairs else np.full(2, 0.5)
    ranges = tuple((min(column), max(column)) for column in zip(*fits, strict=True))
    return Comparison(
        fitted, inforce, float(gains.mean()), interval, float(shares[0]), float(shares[1]), n, folds, ranges
    )


def line_through(x: Floats, y: Floats) -> tuple[float, float]:
    """Return a and b ≥ 0 of the least-squares line y ≈ a + b x; b = 0 where x does not vary or y falls with it."""
    spread = x - x.mean()
    square = float(spread @ spread)
    b = max(0.0, float(spread @ y) / square) if square > 1e-18 else 0.0
    return float(y.mean()) - b * float(x.mean()), b


def _concordant(observations: Observations, weights: Floats) -> tuple[float, int]:
    differences = ordered_pairs(observations)
    found = differences @ weights
    return float((found > 1e-12).sum() + (np.abs(found) <= 1e-12).sum() / 2), len(found)


def ordered_pairs(observations: Observations) -> Floats:
    """The differences in components of each pair of stories whose targets differ, the more playable less the other."""
    x, y = observations.components, observations.target
    i, j = np.triu_indices(len(y), k=1)
    sign = np.sign(y[i] - y[j])
    kept = sign != 0
    return np.asarray(((x[i] - x[j]) * sign[:, None])[kept])


def rounded(weights: Sequence[float], places: int = 3) -> tuple[Decimal, ...]:
    """Round weights so that they still sum to exactly 1: the largest remainders are rounded up."""
    units = 10**places
    exact = [one * units for one in weights]
    floors = [int(one + 1e-9) for one in exact]
    rest = units - sum(floors)
    ups = sorted(range(len(exact)), key=lambda at: (floors[at] - exact[at], at))[: max(0, rest)]
    return tuple(Decimal(floor + (at in ups)).scaleb(-places) for at, floor in enumerate(floors))
