"""Hypotheses as data: what was said beforehand about the cells of a study (LudicMetrics §4.6).

An effect is always *to* less *from*: the mean of a measure in the cells of one level of a factor (`gated`) less that in the
cells of another (`ungated`), at a level of the other factors or over all of them.
"""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from ludic_deepeval.ledger import Frozen, Text

Direction: TypeAlias = Literal["lower", "higher"]
Sign: TypeAlias = Literal["lower", "higher", "near-zero"]
Metric: TypeAlias = Literal[
    "e_a", "invented_of_all", "div_alpha", "div_by_item", "clusters", "lpi", "pcv", "rtn", "mv", "ucr", "th"
]
METRICS: Final = {
    "e_a": "E_a",
    "invented_of_all": "invented / all",
    "div_alpha": "Div_alpha",
    "div_by_item": "Div_alpha by item",
    "clusters": "branching count",
    "lpi": "LPI",
    "pcv": "PCV",
    "rtn": "RTN",
    "mv": "MV",
    "ucr": "UCR",
    "th": "TH",
}
_Alpha = Annotated[float, Field(gt=0, lt=1)]
_Bound = Annotated[float, Field(gt=0, le=1000)]


class _Hypothesis(Frozen):
    """What every hypothesis says.

    Attributes:
        id: H1a …
        text: In words.
        metric: What is measured.
        factor: Whose effect it is about.
        from_level: The level that is compared with.
        to_level: The level whose effect it is.
        alpha: The level of significance.
    """

    id: Text
    text: Text
    metric: Metric
    factor: Text
    from_level: Text = Field(alias="from")
    to_level: Text = Field(alias="to")
    alpha: _Alpha = 0.05


class SimpleEffect(_Hypothesis):
    """A directional effect at given levels of the other factors (over all of them without any): Welch, one-tailed (H1a)."""

    kind: Literal["simple-effect"]
    at: dict[str, Text] = Field(default_factory=dict)
    direction: Direction


class BoundedNull(_Hypothesis):
    """An effect of at most `bound` either way, with its interval; TOST stands beside (H1c)."""

    kind: Literal["bounded-null"]
    at: dict[str, Text] = Field(default_factory=dict)
    bound: _Bound


class Interaction(_Hypothesis):
    """The effect differs between two levels of `by`, and is lower (or higher) at `at_level` than at `than` (H1b)."""

    kind: Literal["interaction"]
    by: Text
    at_level: Text
    than: Text
    direction: Direction


class Overall(_Hypothesis):
    """A directional effect over all cells together, `without` some levels (H2)."""

    kind: Literal["overall"]
    direction: Direction
    without: dict[str, tuple[Text, ...]] = Field(default_factory=dict)


class SignedPattern(_Hypothesis):
    """The effect has a sign of its own at each level of `by`, and the levels differ (Study 2).

    Levels that are not named, such as a cross-family control, are in neither the pattern nor the analysis of variance.
    `band` is how far from 0 an effect may be and still be near zero.
    """

    kind: Literal["signed-pattern"]
    by: Text
    signs: dict[str, Sign] = Field(min_length=2)
    band: _Bound


class General(_Hypothesis):
    """A directional effect over the ladder's levels that is general only if the control's replicate it (Study 2, Div_alpha)."""

    kind: Literal["general"]
    direction: Direction
    by: Text
    ladder: tuple[Text, ...] = Field(min_length=1)
    controls: tuple[Text, ...] = Field(min_length=1)


Hypothesis: TypeAlias = Annotated[
    SimpleEffect | BoundedNull | Interaction | Overall | SignedPattern | General, Field(discriminator="kind")
]


def levels_named(one: Hypothesis) -> dict[str, tuple[str, ...]]:
    """The factors that a hypothesis names, each with the levels that it names."""
    found: dict[str, tuple[str, ...]] = {one.factor: (one.from_level, one.to_level)}
    match one:
        case SimpleEffect() | BoundedNull():
            found |= {name: (level,) for name, level in one.at.items()}
        case Interaction():
            found[one.by] = (one.at_level, one.than)
        case Overall():
            found |= dict(one.without)
        case SignedPattern():
            found[one.by] = tuple(one.signs)
        case General():
            found[one.by] = (*one.ladder, *one.controls)
    return found
