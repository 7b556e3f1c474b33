"""What experts say the four dimensions of LPI weigh: an Analytic Hierarchy Process with screening (§5.7, §7).

Every expert compares each two of the four dimensions on Saaty's scale. Judgements that contradict themselves too much
(CR > .10, RI(4) = .90) are screened out; the others make the group's vector by geometric means. It corroborates the weights in
force when it keeps their order and no weight is off by more than .10.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ludic_deepeval.errors import DataError
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from ludic_deepeval.stats import Ahp, ahp, bca
from ludic_deepeval.studies.ahp_words import DIMENSIONS, Dimension
from ludic_deepeval.studies.refusals import unscored

TOLERANCE: Final = 0.10
"""The most that a corroborated weight may be off (§5.7)."""
_NOISE: Final = 1e-9  # .30 − .20 is not above .10
Pair = tuple[Dimension, Dimension]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Judgement:
    """What one expert said.

    Attributes:
        expert: The expert's code.
        ratios: For each pair (in the order of `DIMENSIONS`), how many times the first weighs what the second does.
    """

    expert: str
    ratios: Mapping[Pair, Fraction]

    @property
    def matrix(self) -> Floats:
        """The reciprocal matrix of comparisons."""
        found = np.ones((len(DIMENSIONS), len(DIMENSIONS)))
        for (one, other), ratio in self.ratios.items():
            i, j = DIMENSIONS.index(one), DIMENSIONS.index(other)
            found[i, j], found[j, i] = float(ratio), float(1 / ratio)
        return found


@dataclass(frozen=True)
class Screened:
    """An expert's weights and consistency.

    Attributes:
        judgement: What was said.
        result: Weights, λ, CI and CR.
        oddest: The comparison that fits the expert's other answers worst, and by what factor; at least 1.
    """

    judgement: Judgement
    result: Ahp
    oddest: tuple[Pair, float]

    @property
    def kept(self) -> bool:
        """Whether the ratio is at most .10."""
        return self.result.consistent


@dataclass(frozen=True)
class Corroboration:
    """Whether a vector bears out the weights in force (§5.7).

    Attributes:
        weights: The vector, for RTN, MV, UCR, TH.
        against: The weights in force.
        order: The dimensions by their weight in the vector, heaviest first.
        order_kept: Whether no two dimensions that differ in the weights in force are turned round or level.
        spread: The largest ratio of vector to weight in force over the smallest, at least 1. A perturbation of ±p with
            renormalisation reaches the vector only if this is at most (1 + p) / (1 − p).
    """

    weights: tuple[float, ...]
    against: tuple[float, ...]
    order: tuple[Dimension, ...]
    order_kept: bool
    spread: float

    @property
    def deltas(self) -> tuple[float, ...]:
        """Each weight less the one in force."""
        return tuple(one - other for one, other in zip(self.weights, self.against, strict=True))

    @property
    def near(self) -> bool:
        """Whether no weight is off by more than .10."""
        return all(abs(delta) <= TOLERANCE + _NOISE for delta in self.deltas)

    @property
    def met(self) -> bool:
        """Whether the order is kept and every weight near."""
        return self.order_kept and self.near

    @property
    def reach(self) -> float:
        """The least p of a ±p perturbation that reaches the vector: (spread − 1) / (spread + 1), below 1."""
        return 1.0 if self.spread == float("inf") else (self.spread - 1) / (self.spread + 1)


@dataclass(frozen=True)
class Elicitation:
    """What a panel says.

    Attributes:
        experts: Each expert, kept or not.
        group: The vector of those kept, by geometric mean, or why there is none.
        intervals: Of each weight: 95 % BCa over the experts kept, or why there is none.
        corroboration: Of the group's vector; None without one.
    """

    experts: tuple[Screened, ...]
    group: Outcome[tuple[float, ...]]
    intervals: tuple[Outcome[tuple[float, float]], ...]
    corroboration: Corroboration | None

    @property
    def kept(self) -> int:
        """How many experts are consistent."""
        return sum(one.kept for one in self.experts)


def screen(judgement: Judgement) -> Screened:
    """Return an expert's weights by row geometric means, with CR = ((λ − 4)/3) / .90, and the answer that fits worst."""
    result = ahp(judgement.matrix)
    weights = dict(zip(DIMENSIONS, result.weights, strict=True))

    def off(pair: Pair) -> float:
        ratio = float(judgement.ratios[pair]) * weights[pair[1]] / weights[pair[0]]
        return max(ratio, 1 / ratio)

    worst = max(combinations(DIMENSIONS, 2), key=off)
    return Screened(judgement, result, (worst, off(worst)))


def elicit(
    judgements: Sequence[Judgement], against: Sequence[float], *, resamples: int = 10_000, seed: int = 0
) -> Elicitation:
    """Screen a panel and join those who are consistent.

    w_i ∝ (Π_experts Π_j a_ij)^(1/(4 m)), the row geometric mean of the joint matrix, which is the geometric mean of the
    experts' own vectors.

    Args:
        judgements: One an expert.
        against: The weights in force.
        resamples: Of the bootstrap over experts.
        seed: Of the bootstrap.
    """
    experts = tuple(map(screen, judgements))
    kept = [one for one in experts if one.kept]
    if not kept:
        said = f"none of {len(experts)} experts" if experts else "no expert"
        none = Unscored("data", f"{said} gave consistent judgements (CR at most .10)")
        return Elicitation(experts, none, (none,) * len(DIMENSIONS), None)
    logs = np.array([np.log(one.result.weights) for one in kept])
    weights = tuple(_joined(logs[None])[0].tolist())
    intervals = tuple(_interval(logs, at, resamples, seed) for at in range(len(DIMENSIONS)))
    return Elicitation(experts, Scored(weights), intervals, corroborate(weights, against))


def _joined(logs: Floats) -> Floats:
    """The normalised geometric mean over the experts of (…, experts, dimensions) logarithms."""
    found = np.exp(logs.mean(axis=-2))
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def _interval(logs: Floats, at: int, resamples: int, seed: int) -> Outcome[tuple[float, float]]:
    def over(drawn: Floats, axis: int = -1) -> Floats:
        return _joined(logs[np.moveaxis(drawn, axis, -1).astype(np.intp)])[..., at]

    try:
        return Scored(bca(over, np.arange(len(logs)), resamples=resamples, seed=seed))
    except DataError as error:
        return unscored(error)


def corroborate(weights: Sequence[float], against: Sequence[float]) -> Corroboration:
    """Compare a vector with the weights in force by the pre-registered rule: order kept, every |Δω| ≤ .10."""
    kept = all(
        weights[i] - weights[j] > _NOISE if against[i] > against[j] else weights[j] - weights[i] > _NOISE
        for i, j in combinations(range(len(against)), 2)
        if against[i] != against[j]
    )
    order = sorted(range(len(weights)), key=lambda at: -weights[at])
    ratios = [
        one / other if other else float("inf")
        for one, other in zip(weights, against, strict=True)
        if one or other
    ]
    spread = max(ratios) / min(ratios) if min(ratios) > 0 else float("inf")
    return Corroboration(tuple(weights), tuple(against), tuple(DIMENSIONS[at] for at in order), kept, spread)
