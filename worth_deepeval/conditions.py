"""Under which condition a story is given, and in which variant of the prompt (WORTH §3.4).

`full-story` is the benchmark. `evidence-cueing` shows the ids of K: its clue score checks the manipulation and is no
result. `evidence-modification` is an episode with a second key; rewrites change person or salience and no fact: both are
episodes of their own, which name the one that they vary.
"""

import random
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ludic_deepeval.errors import InputError, clean

Cue: TypeAlias = Literal["full-story", "evidence-cueing"]
CUES: Final[tuple[Cue, ...]] = ("full-story", "evidence-cueing")


@dataclass(frozen=True)
class Condition:
    """How one prompt differs from the benchmark's.

    Attributes:
        cue: Whether the ids of K are shown.
        definition: Whether the definition of a participant is given.
        disclosure: Whether the size of K and which way points go are disclosed (§4.4).
        roster_seed: Shuffles the list of candidates; None leaves the episode's order.
    """

    cue: Cue = "full-story"
    definition: bool = True
    disclosure: bool = True
    roster_seed: int | None = None

    @property
    def name(self) -> str:
        """A name that a run keeps: "full-story", "evidence-cueing+no-definition+roster-7"."""
        parts: list[str] = [self.cue]
        parts += [] if self.definition else ["no-definition"]
        parts += [] if self.disclosure else ["no-disclosure"]
        parts += [] if self.roster_seed is None else [f"roster-{self.roster_seed}"]
        return "+".join(parts)

    @property
    def measures_discovery(self) -> bool:
        """Whether its clue score is a result: not where the key was shown."""
        return self.cue == "full-story"

    def roster(self, ids: list[str]) -> list[str]:
        """The order in which candidates are listed."""
        if self.roster_seed is not None:
            random.Random(self.roster_seed).shuffle(ids)  # noqa: S311  # an order, no secret
        return ids


def read_condition(name: str) -> Condition:
    """Return the condition of a name.

    Raises:
        InputError: There is none of that name.
    """
    cue, *variants = name.split("+")
    if cue not in CUES:
        raise InputError(
            "--condition",
            f"found '{clean(name)}'",
            allowed=f"{' or '.join(CUES)}, with +no-definition, +no-disclosure, +roster-N",
        )
    values: dict[str, bool | int] = {}
    kinds = [one.partition("-")[0] if one.startswith("roster-") else one for one in variants]
    if len(set(kinds)) < len(kinds):
        raise InputError("--condition", f"found '{clean(name)}'", allowed="each variant once")
    for one in variants:
        if one in {"no-definition", "no-disclosure"}:
            values[one.removeprefix("no-")] = False
        elif one.startswith("roster-") and one.removeprefix("roster-").isdecimal() and len(one) < 20:
            values["roster_seed"] = int(one.removeprefix("roster-"))
        else:
            raise InputError(
                "--condition", f"found '{clean(one)}'", allowed="no-definition, no-disclosure, roster-N"
            )
    return Condition(cue=cue, **values)  # type: ignore[arg-type]  # as the two branches put them
