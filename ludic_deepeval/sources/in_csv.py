"""The cells of a CSV file (RFC 4180) with their places, which Python's own reader does not tell."""

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.sources.spelling import spelled, where

_QUOTED: Final = re.compile(r'"[^"]*+(?:""[^"]*+)*+"')
_DOUBLED: Final = re.compile('""')
_SHOWN_COLUMNS: Final = 20


@dataclass(frozen=True, slots=True)
class Cell:
    """The half-open offsets of a cell's text, within its quotation marks if it has any."""

    start: int
    end: int
    quoted: bool

    def text(self, raw: str) -> "tuple[str, array[int]]":
        """Return what the cell says, and the places of its characters."""
        doubled = _DOUBLED.finditer(raw, self.start, self.end) if self.quoted else ()
        return spelled(raw, self.start, self.end, ((*match.span(), '"') for match in doubled))


def rows(raw: str, delimiter: str, file: object) -> Iterator[list[Cell]]:
    """Yield the cells of each row; none for an empty line.

    Raises:
        InputError: A quotation mark that is never closed, or text after a closing one.
    """
    at = 1 if raw.startswith("\ufeff") else 0
    row: list[Cell] = []
    while at < len(raw) or row:
        cell, at = _cell(raw, at, delimiter, file)
        if raw.startswith(delimiter, at):
            row.append(cell)
            at += 1
            continue
        if row or cell.quoted or cell.end > cell.start:
            row.append(cell)
        yield row
        row = []
        at += 2 if raw.startswith("\r\n", at) else 1


def _cell(raw: str, at: int, delimiter: str, file: object) -> tuple[Cell, int]:
    if not raw.startswith('"', at):
        end = _unquoted(delimiter).match(raw, at).end()  # type: ignore[union-attr]  # matches anywhere
        return Cell(at, end, quoted=False), end
    match = _QUOTED.match(raw, at)
    if match is None:
        raise InputError(
            file,
            "a quotation mark that is never closed",
            where=where(raw, at),
            allowed='a second " at the end of the cell; "" for one within it',
        )
    end = match.end()
    if end < len(raw) and raw[end] not in f"{delimiter}\r\n":
        raise InputError(
            file,
            "text after a closing quotation mark",
            where=where(raw, end),
            allowed=f'{shown(delimiter)} or the end of the line; "" for a quotation mark within a cell',
        )
    return Cell(at + 1, end - 1, quoted=True), end


@cache
def _unquoted(delimiter: str) -> re.Pattern[str]:
    return re.compile(rf"[^{re.escape(delimiter)}\r\n]*")


class Table:
    """A CSV file whose first row names the columns.

    Args:
        raw: The decoded file.
        delimiter: One character.
        file: What to call the file in errors.

    Raises:
        InputError: It is empty, or a row has more cells than the first.
    """

    def __init__(self, raw: str, delimiter: str, file: object) -> None:
        self._raw, self._file = raw, file
        lines = [row for row in rows(raw, delimiter, file) if row]
        if not lines:
            raise InputError(file, "no columns", allowed="a first row with their names")
        self._names = [cell.text(raw)[0].strip() for cell in lines[0]]
        self.rows = lines[1:]
        for row in self.rows:
            if len(row) > len(self._names):
                raise InputError(
                    file,
                    f"{len(row)} cells in a row",
                    where=where(raw, row[0].start),
                    allowed=f"at most {len(self._names)}, as in the first row",
                    hint=f"put text that holds {shown(delimiter)} in quotation marks",
                )

    def column(self, name: str, setting: str) -> int:
        """Return the number of a column, from 0; raise `InputError` when there is none or more than one."""
        count = self._names.count(name)
        if count == 1:
            return self._names.index(name)
        named = ", ".join(clean(given) for given in self._names[:_SHOWN_COLUMNS])
        found = f"{count} columns are called {shown(name)}" if count else f"no column {shown(name)}"
        raise InputError(self._file, found, where=setting, allowed=f"one of {named}")
