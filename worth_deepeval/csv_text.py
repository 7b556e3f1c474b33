"""CSV in and out: tables with a header, and cells that no spreadsheet takes for formulas."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import decode, read_bytes

MOST_CELL: Final = 32_000  # characters; spreadsheets cut off above 32,767
# A spreadsheet takes a cell that begins so for a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def cell(value: Any) -> Any:
    """Return what goes into a cell: numbers as they are, text without what makes it a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        text = value.replace("\x00", "\ufffd")
        text = text if len(text) <= MOST_CELL else f"{text[:MOST_CELL]}…"
        return f"'{text}" if text.startswith(_FORMULA) else text
    return value


def read_table(
    path: Path, needed: Sequence[str], *, limit: int
) -> tuple[tuple[str, ...], list[tuple[int, dict[str, str]]]]:
    """Read a CSV file; returns its columns, and its rows with their numbers, the header being 1.

    Raises:
        InputError: It is not UTF-8, not CSV, lacks a column or has one twice, or a row has another number of cells.
    """
    text = decode(read_bytes(path, limit=limit), path).removeprefix("\ufeff")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        rows = list(reader)
    except csv.Error as error:
        raise InputError(path, f"not CSV: {clean(str(error))}", where=f"line {reader.line_num}") from None
    header = tuple(one.strip() for one in rows[0]) if rows else ()
    if missing := [name for name in needed if name not in header]:
        raise InputError(path, f"no column {missing[0]}", where="row 1", allowed=", ".join(needed))
    if len(set(header)) < len(header):
        raise InputError(path, "a column is there twice", where="row 1")
    found = []
    for line, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        if len(row) != len(header):
            raise InputError(path, f"{len(row)} cells", where=f"row {line}", allowed=str(len(header)))
        found.append((line, dict(zip(header, row, strict=True))))
    return header, found
