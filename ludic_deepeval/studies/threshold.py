"""The capability threshold (LudicMetrics §5.5, 5.12): for each backbone, does the gate help, harm, or do nothing?

Helping and harming are said of E_a, which the gate cannot see; LPI and PCV are what it selects on. Two failures are told apart:
the *loud* one (rewrites do not converge) and the *quiet* one (they converge, LPI and PCV rise, and so does what has to be invented).
"""

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from ludic_deepeval.errors import DataError
from ludic_deepeval.studies.design import GateFactor
from ludic_deepeval.studies.numbers import Number, make
from ludic_deepeval.studies.rows import Data

BOUND: Final = 0.10  # §4.6: what H1c registers as no effect
ALPHA: Final = 0.05
LOUD_BELOW: Final = 0.25  # of the gated trials converge: 2 of 40 did at 4B, 39 of 40 at 8B
QUIET_FROM: Final = 0.5

Effect: TypeAlias = Literal["helps", "harms", "does nothing", "not shown"]
Failure: TypeAlias = Literal["loud", "quiet"]


@dataclass(frozen=True)
class Backbone:
    """What the gate does to one generator.

    Attributes:
        name: Its level.
        effect: `helps` or `harms` when the two-sided test of ΔE_a is significant, `does nothing` when ΔE_a is equivalent to 0
            within ±.10 (TOST), else `not shown`; None when E_a was not measured in two trials on either side.
        failure: `loud`: less than a quarter of the gated trials converge. `quiet`: at least half do, the means of LPI, PCV and E_a all
            rise, and more Invented than Reused entities are added.
        numbers: The figures, by name.
        cascades: How many gated trials are rewrite cascades, trial by trial (`rewrite_failures`).
        quiet_trials: How many passed the gate on things that rest on nothing in the bible.
    """

    name: str
    effect: Effect | None
    failure: Failure | None
    numbers: dict[str, Number]
    cascades: Number | None
    quiet_trials: Number | None


@dataclass(frozen=True)
class Threshold:
    """All backbones, and where the boundary lies.

    Attributes:
        backbones: In the ladder's order, controls last.
        boundary: Between which two rungs harm turns into benefit, in a sentence.
    """

    backbones: tuple[Backbone, ...]
    boundary: str


_DELTAS: Final = {
    "e_a": ("measures.e_a", 3),
    "lpi": ("measures.lpi", 3),
    "pcv": ("measures.pcv", 1),
    "div_alpha": ("measures.div_alpha", 3),
    "reused": ("measures.reused", 2),
    "invented": ("measures.invented", 2),
    "ambiguous": ("measures.ambiguous", 2),
}


def capability_threshold(data: Data) -> Threshold | None:
    """Say what the gate does to each backbone; None when the study has no gate or no ladder."""
    design = data.design
    if design.gate is None or design.ladder is None:
        return None
    ladder = design.ladder
    others = [name for name in design.factors[ladder.factor] if name not in ladder.levels]
    found = tuple(_backbone(data, design.gate, ladder.factor, name) for name in (*ladder.levels, *others))
    return Threshold(found, _boundary(found[: len(ladder.levels)]))


def _backbone(data: Data, gate: GateFactor, factor: str, name: str) -> Backbone:
    before = data.select({factor: name, gate.factor: gate.from_level})
    after = data.select({factor: name, gate.factor: gate.to_level})
    groups = (before, after)
    numbers: dict[str, Number] = {}

    def add(
        key: str, recipe: str, path: str, *, digits: int | str = 3, sign: bool = False, **more: Any
    ) -> None:
        try:
            number = make(recipe, path, groups, digits=digits, sign=sign, **more)
        except DataError:
            return
        if number is not None:
            numbers[key] = number

    for key, (path, digits) in _DELTAS.items():
        add(key, "difference of means", path, digits=digits, sign=True)
    path = "measures.e_a"
    add("e_a from", "interval of the difference, lower end", path, sign=True)
    add("e_a to", "interval of the difference, upper end", path, sign=True)
    add("p", "Welch p, two-sided", path, digits="p")
    add("TOST p", "TOST p", path, digits="p", bound=BOUND)
    for key, path, digits in (("converged", "gate.converged", 3), ("rewrites", "gate.rewrites", 2)):
        number = make("mean", path, [after], digits=digits)
        if number is not None:
            numbers[key] = number
    return Backbone(
        name,
        _effect(numbers),
        _failure(numbers),
        numbers,
        make("sum", "cascade.found", [after], digits=0),
        make("sum", "quiet.found", [after], digits=0),
    )


def _effect(numbers: dict[str, Number]) -> Effect | None:
    if "e_a" not in numbers:
        return None
    if "p" in numbers and numbers["p"].value < ALPHA:
        return "helps" if numbers["e_a"].value < 0 else "harms"
    if "TOST p" in numbers and numbers["TOST p"].value < ALPHA:
        return "does nothing"
    return "not shown" if "p" in numbers else None


def _failure(numbers: dict[str, Number]) -> Failure | None:
    if "converged" not in numbers:
        return None
    converged = numbers["converged"].value
    if converged < LOUD_BELOW:
        return "loud"
    rises = all(name in numbers and numbers[name].value > 0 for name in ("lpi", "pcv", "e_a", "invented"))
    if converged >= QUIET_FROM and rises and numbers["invented"].value > numbers["reused"].value:
        return "quiet"
    return None


def _boundary(rungs: tuple[Backbone, ...]) -> str:
    signs = [(one.name, one.numbers["e_a"].value) for one in rungs if "e_a" in one.numbers]
    if len(signs) < len(rungs) or not signs:
        return "E_a is not measured on every rung of the ladder, so no boundary is drawn."
    worse = [value > 0 for _, value in signs]
    first_better = worse.index(False) if False in worse else None
    if first_better is None:
        return "E_a is higher with the gate on every rung: no backbone here is above the threshold."
    if first_better == 0:
        if not any(worse):
            return "E_a is not higher with the gate on any rung: no backbone here is below the threshold."
        return "E_a does not turn from higher to lower along the ladder, so no boundary is drawn."
    return (
        f"E_a is higher with the gate up to {signs[first_better - 1][0]} and not at {signs[first_better][0]}:"
        " by point estimates the boundary lies between the two."
    )
