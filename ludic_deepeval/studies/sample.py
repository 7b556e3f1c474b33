"""A sample of stories that covers the range of the metrics, whichever way most of the corpus lies (§5.7).

Stories are cut into thirds (or so many parts) on each metric, which makes strata; the sample takes as many from each stratum
as it can, so that the rare corners are in it and the crowded middle does not fill it.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, TypeVar

from ludic_deepeval.errors import InputError
from ludic_deepeval.text import Prose

Metric: TypeAlias = Literal["lpi", "pcv", "e_a"]
METRICS: Final[tuple[Metric, ...]] = ("lpi", "pcv", "e_a")
COMPONENTS: Final = ("rtn", "mv", "ucr", "th")
T = TypeVar("T")


@dataclass(frozen=True)
class Candidate:
    """A story that may be rated, with what was measured of it.

    Attributes:
        id: The story's id.
        path: Where it lies.
        prose: Its text.
        metrics: LPI in [0, 1], PCV in points, E_a in [0, 1]; None where it was not measured.
        components: RTN, MV, UCR, TH, each in [0, 1].
        cell: The cell of a study that it comes from; empty where there is none.
    """

    id: str
    path: str
    prose: Prose
    metrics: dict[Metric, float | None]
    components: dict[str, float]
    cell: str = ""


def bins_of(values: Sequence[float | None], bins: int) -> list[int | None]:
    """Return for each value the part of the ordered values that it lies in, 0 the lowest; None for None.

    Part = ⌊bins · (values that are smaller) / (values)⌋, so that equal values are in one part.

    Args:
        values: Any numbers.
        bins: The number of parts, at least 1.
    """
    known = sorted(value for value in values if value is not None)
    first = {value: at for at, value in reversed(list(enumerate(known)))}
    return [None if value is None else bins * first[value] // len(known) for value in values]


def strata_of(candidates: Sequence[Candidate], bins: int = 3) -> list[str]:
    """Return the stratum of each story: its parts on LPI, PCV and E_a, such as `2-0-x`, with x where one was not measured."""
    columns = [bins_of([one.metrics[name] for one in candidates], bins) for name in METRICS]
    return [
        "-".join("x" if part is None else str(part) for part in row) for row in zip(*columns, strict=True)
    ]


def stratified(items: Sequence[T], stratum: Callable[[T], str], size: int, seed: int) -> list[T]:
    """Draw a sample that takes from every stratum in turn.

    Strata come in an order that the seed sets, and one item a round is drawn from each that has any left, so that two
    strata differ by at most one unless the smaller is used up.

    Args:
        items: What to draw from.
        stratum: The stratum of an item.
        size: How many to draw, from 1 to the number of items.
        seed: The same seed gives the same sample.

    Returns:
        The sample in the order of `items`.

    Raises:
        InputError: More are asked for than there are.
    """
    if not 1 <= size <= len(items):
        raise InputError(
            "--sample", f"found {size}", allowed=f"1 to {len(items)}, the stories that were measured"
        )
    rng = random.Random(f"sample:{seed}")  # noqa: S311  # a sample, no secret
    groups: dict[str, list[int]] = defaultdict(list)
    for at, item in enumerate(items):
        groups[stratum(item)].append(at)
    names = sorted(groups)
    rng.shuffle(names)
    for name in names:
        rng.shuffle(groups[name])
    drawn: list[int] = []
    while len(drawn) < size:
        for name in names:
            if groups[name] and len(drawn) < size:
                drawn.append(groups[name].pop())
    return [items[at] for at in sorted(drawn)]
