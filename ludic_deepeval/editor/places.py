"""Positions as editors count them, and the way to and from offsets.

The Language Server Protocol counts lines from 0 and characters of a line in UTF-16 units, also from 0. Lines end at LF,
CRLF or CR. A byte-order mark, where an editor keeps it in the text, is a character of the first line.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ludic_deepeval.text import Place, Prose, place_in

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place between two characters: line and UTF-16 units, both from 0."""

    line: int
    character: int


@dataclass(frozen=True, slots=True)
class Range:
    """From one position to another, half-open."""

    start: Position
    end: Position

    def meets(self, other: "Range") -> bool:
        """Whether two ranges have something in common; a mere cursor is in a range at both of its ends."""
        return self.start <= other.end and other.start <= self.end


TOP = Range(Position(0, 0), Position(0, 0))


def _position(place: Place, raw: str) -> Position:
    mark = 1 if place.line == 1 and raw.startswith("\ufeff") else 0
    return Position(place.line - 1, place.utf16 - 1 + mark)


def position_in(raw: str, offset: int) -> Position:
    """Where a character of a text stands."""
    return Position(0, 0) if offset == 0 else _position(place_in(raw, offset), raw)


def range_in(raw: str, start: int, end: int) -> Range:
    """Where a part of a text stands."""
    return Range(position_in(raw, start), position_in(raw, end))


def range_of(prose: Prose, span: Span) -> Range:
    """Where a span of a story's body stands in its file."""
    start, end = span
    return Range(_position(prose.place(start), prose.raw), _position(prose.place(end), prose.raw))


def line_range(raw: str, line: int) -> Range:
    """The words of a line, counted from 1; the last line for one that is not there."""
    lines = raw.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    number = min(max(line, 1), len(lines))
    text = lines[number - 1]
    blank = len(text) - len(text.lstrip(" \t\ufeff"))
    return Range(Position(number - 1, _units(text[:blank])), Position(number - 1, _units(text.rstrip())))


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def offset_in(prose: Prose, position: Position) -> int:
    """The offset in the body of the first character that stands at a position or behind it; its end at most."""
    return _first(len(prose.body), lambda at: _position(prose.place(at), prose.raw) >= position)


def _first(end: int, holds: Callable[[int], bool]) -> int:
    """The first number for which something holds that then holds for all; the end if for none."""
    low, high = 0, end
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
