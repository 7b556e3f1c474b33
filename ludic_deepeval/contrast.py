"""The pilot's contrast (LudicMetrics §4.5, 5.1): first drafts of the control prompt beside those of the Architect of Hooks.

Seeds are the same in both arms, so each pair has one faction and one place. It shows that the pipeline runs; it tests
nothing, since the Architect's prompt asks for the very things that LPI counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Final

from ludic_deepeval.outcome import Unscored
from ludic_deepeval.scoring import Gate, ScoreCard
from ludic_deepeval.trial import Arm

ARMS: Final[tuple[Arm, ...]] = ("control", "architect")
FIGURES: Final = ("lpi", "rtn", "mv", "ucr", "th", "pcv")
_SIGNIFICANT: Final = Fraction(1, 20)


@dataclass(frozen=True)
class Cell:
    """One first draft, or why there is none that is scored.

    Attributes:
        arm: Which prompt.
        seed: Which seed.
        faction: Which faction was drawn, by name.
        location: Which place.
        card: Its scores; None when it is not scored.
        why: Why not.
    """

    arm: Arm
    seed: int
    faction: str
    location: str
    card: ScoreCard | None = None
    why: str = ""

    def figure(self, name: str) -> Fraction | None:
        """One of `FIGURES`; None when it was not measured."""
        value = None if self.card is None else getattr(self.card, name)
        return None if isinstance(value, Unscored) else value

    @property
    def passed(self) -> bool | None:
        """Whether it passed the gate; None when unmeasured."""
        gate = self.card.gate if self.card else None
        return gate.passed if isinstance(gate, Gate) else None


@dataclass(frozen=True)
class ArmSummary:
    """One arm.

    Attributes:
        arm: Which prompt.
        drafts: How many drafts it has.
        scored: How many of them are scored.
        passed: How many of those pass the gate.
        means: The mean of each figure over the scored ones; None without any.
        ranges: The least and the greatest of each.
    """

    arm: Arm
    drafts: int
    scored: int
    passed: int
    means: dict[str, Fraction | None]
    ranges: dict[str, tuple[Fraction, Fraction] | None]


@dataclass(frozen=True)
class Contrast:
    """Both arms.

    Attributes:
        cells: Every draft, by arm and seed.
        arms: A summary of each.
    """

    cells: tuple[Cell, ...]
    arms: tuple[ArmSummary, ...]

    def difference(self, name: str) -> Fraction | None:
        """The Architect's mean of a figure less the control's; None when an arm has none."""
        control, architect = (arm.means[name] for arm in self.arms)
        return None if control is None or architect is None else architect - control

    @property
    def caution(self) -> tuple[str, ...]:
        """What may be said of so few, and what may not."""
        one, other = (arm.scored for arm in self.arms)
        circular = "It is no evidence for the prompt: the Architect's prompt asks for the very things that LPI counts (§4.5)"
        said = [f"This shows that the pipeline runs. {circular}, so it would be odd if LPI were not higher."]
        if min(one, other):
            least = (
                Fraction(2, comb(one + other, one)) if one == other else Fraction(1, comb(one + other, one))
            )
            reached = least <= _SIGNIFICANT
            said.append(
                f"With {one} and {other} scored drafts the smallest two-sided p that an exact permutation test could give is"
                f" {float(least):.2g}: "
                + (
                    "a test could find something, and none was made here."
                    if reached
                    else "no difference, however large, could be told from chance at .05."
                )
            )
        if missing := sum(arm.drafts - arm.scored for arm in self.arms):
            said.append(
                f"{missing} {'draft is' if missing == 1 else 'drafts are'} not scored and in no mean; if what cannot be"
                " scored is worse or better than the rest, the means are off."
            )
        return tuple(said)


def contrast(cells: Sequence[Cell]) -> Contrast:
    """Set two arms side by side."""
    ordered = sorted(cells, key=lambda cell: (ARMS.index(cell.arm), cell.seed))
    return Contrast(
        tuple(ordered), tuple(_summary(arm, [cell for cell in ordered if cell.arm == arm]) for arm in ARMS)
    )


def _summary(arm: Arm, cells: list[Cell]) -> ArmSummary:
    scored = [cell for cell in cells if cell.card is not None]
    values = {
        name: [value for cell in scored if (value := cell.figure(name)) is not None] for name in FIGURES
    }
    return ArmSummary(
        arm=arm,
        drafts=len(cells),
        scored=len(scored),
        passed=sum(cell.passed is True for cell in scored),
        means={
            name: sum(found, Fraction(0)) / len(found) if found else None for name, found in values.items()
        },
        ranges={name: (min(found), max(found)) if found else None for name, found in values.items()},
    )
