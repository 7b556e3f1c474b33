"""The figures that the papers print, and how a recomputed one stands to a printed one."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ludic_deepeval.files import read_bytes
from ludic_deepeval.strict_json import load_json

FIGURES: Final = Path(__file__).with_name("paper-figures.json")
_NOISE: Final = 1e-9

Verdict: TypeAlias = Literal[
    "agrees",  # the recomputed value rounds to the printed one
    "within rounding",  # it does for some inputs that round to the printed inputs
    "disagrees",  # it does for none
    "left open",  # the paper does not say which of several readings is meant
    "remark",  # it agrees, and the words about it do not
    "not printed",  # a figure that follows from printed ones
]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a paper.

    Attributes:
        id: Its name here.
        paper: LudicMetrics or WORTH.
        section: Where it stands.
        inputs: The printed figures that it is computed from.
        printed: The figure as printed; None when only its inputs are.
    """

    id: str
    paper: str
    section: str
    inputs: dict[str, Any]
    printed: Any


@dataclass(frozen=True, slots=True)
class Found:
    """What a figure comes to.

    Attributes:
        value: The recomputed figure, or figures; None where there is nothing to compute.
        verdict: How it stands to the printed one.
        by: What computed it.
    """

    value: Any
    verdict: Verdict
    by: str


Recipe: TypeAlias = Callable[[Figure, dict[str, Figure]], Found]


def load_figures() -> dict[str, Figure]:
    """Return every figure by its name."""
    found = load_json(read_bytes(FIGURES), FIGURES)["figures"]
    return {one["id"]: Figure(**one) for one in found}


def rounds_to(value: float, printed: float, digits: int | None = None) -> bool:
    """Whether a value rounds to a printed one, whichever way a half goes.

    Args:
        value: The value.
        printed: As printed.
        digits: Digits after the point as printed, where trailing zeros were lost; else those of `printed`.
    """
    return abs(value - printed) <= _half(printed, digits) + _NOISE


def reaches(ends: tuple[float, float], printed: float, digits: int | None = None) -> bool:
    """Whether some value between two ends rounds to a printed one."""
    half = _half(printed, digits) + _NOISE
    return ends[0] - half <= printed <= ends[1] + half


def corners(function: Callable[..., float], *inputs: tuple[float, float]) -> tuple[float, float]:
    """Return the least and the largest value of a monotone function over inputs known to ± a half unit."""
    values = [
        function(*point) for point in product(*((value - half, value + half) for value, half in inputs))
    ]
    return min(values), max(values)


def agreement(
    pairs: Iterable[tuple[float, float, int | None]], reach: Iterable[tuple[float, float]] = ()
) -> Verdict:
    """Judge recomputed figures: each with the printed one and its digits, and where known what rounding allows."""
    asked = list(pairs)
    if all(rounds_to(value, printed, digits) for value, printed, digits in asked):
        return "agrees"
    ends = list(reach)
    if ends and all(
        reaches(end, printed, digits) for end, (_, printed, digits) in zip(ends, asked, strict=True)
    ):
        return "within rounding"
    return "disagrees"


def equal(value: Any, printed: Any) -> Verdict:
    """Judge figures that are whole or that were printed in full."""
    return "agrees" if value == printed else "disagrees"


def _half(printed: float, digits: int | None) -> float:
    if digits is None:
        digits = max(0, -int(Decimal(str(printed)).as_tuple().exponent))
    return 0.5 * 10.0**-digits
