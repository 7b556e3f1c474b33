"""Spans that overlap, cut into pieces that do not."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

LANES: Final = 4  # lines that can be told apart below one row of words


class Piece(NamedTuple):
    """A stretch of text over which the same spans lie.

    Attributes:
        start: Where it begins.
        end: Where it ends, half-open.
        over: The spans that lie over it, by their index, in the order of their beginnings, the longer first.
    """

    start: int
    end: int
    over: tuple[int, ...]


def ordered(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return the indexes of the spans by their beginnings, the longer first."""
    return sorted(range(len(spans)), key=lambda at: (spans[at][0], -spans[at][1], at))


def pieces(length: int, spans: Sequence[tuple[int, int]], cuts: Iterable[int] = ()) -> Iterator[Piece]:
    """Cut a text at every end of a span, and at further places.

    Args:
        length: Of the text. Spans have to lie in it and hold something.
        spans: Half-open.
        cuts: Where to cut besides.

    Yields:
        Pieces that follow on each other and make up the whole text.
    """
    edges = sorted({0, length, *cuts, *(edge for span in spans for edge in span)})
    waiting = ordered(spans)[::-1]
    over: list[int] = []
    for start, end in pairwise(edges):
        over = [at for at in over if spans[at][1] > start]
        while waiting and spans[waiting[-1]][0] == start:
            over.append(waiting.pop())
        yield Piece(start, end, tuple(over))


def lanes(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Give each span the first lane that is free over all of it; past the last lane they share the last."""
    free_from = [0] * LANES
    found = [0] * len(spans)
    for at in ordered(spans):
        start, end = spans[at]
        lane = next((lane for lane in range(LANES) if free_from[lane] <= start), LANES - 1)
        free_from[lane] = max(free_from[lane], end)
        found[at] = lane
    return found
