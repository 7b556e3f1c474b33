"""How totals are spread over what the key makes possible (§5.2.6)."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from ludic_deepeval.outcome import Scored
from ludic_deepeval.stats.intervals import Rate, wilson
from worth_deepeval.diagnosis.sample import Sample

_WIDTHS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_MOST_BINS: Final = 20


@dataclass(frozen=True)
class Bin:
    """A step of the scale of points; steps meet at 0, so that none holds totals of both signs.

    Attributes:
        low: Its least total.
        high: Its largest.
        runs: Runs with such a total.
        by_model: How many of each model.
    """

    low: int
    high: int
    runs: Rate
    by_model: tuple[tuple[str, int], ...]


def histogram(sample: Sample) -> tuple[Bin, ...]:
    """Return how many runs have which totals, over the whole theoretical range; () without scored runs."""
    totals = [one.total for one in sample.scores]
    if not totals:
        return ()
    possible = sample.sheet.range
    least, most = (
        (possible.value.minimum, possible.value.maximum)
        if isinstance(possible, Scored)
        else (min(totals), max(totals))
    )
    width = next(
        (one for one in _WIDTHS if most // one - least // one < _MOST_BINS), (most - least) // _MOST_BINS + 1
    )
    whole = Counter(one // width for one in totals)
    own = {
        model: Counter(totals[i] // width for i in positions) for model, positions in sample.positions.items()
    }
    return tuple(
        Bin(
            low=max(least, at * width),
            high=min(most, at * width + width - 1),
            runs=wilson(whole[at], len(totals)),
            by_model=tuple((model, each[at]) for model, each in own.items()),
        )
        for at in range(least // width, most // width + 1)
    )
