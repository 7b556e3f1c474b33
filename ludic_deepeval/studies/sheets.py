"""CSV that came back from people: whatever a spreadsheet made of it, read or refused with the row that is wrong."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import decode, read_bytes

MAX_CSV: Final = 8 * 1024 * 1024
MAX_ROWS: Final = 100_000
_MAX_CELL: Final = 4096


@dataclass(frozen=True)
class Row:
    """A row of a sheet.

    Attributes:
        file: The sheet.
        line: The row's number, the header being 1.
        cells: What it says, by column, without blanks around it.
    """

    file: Path
    line: int
    cells: dict[str, str]

    def error(self, found: str, *, column: str = "", allowed: str = "", hint: str = "") -> InputError:
        """An error that names the sheet, the row and the column."""
        where = f"row {self.line}" + (f": {column}" if column else "")
        return InputError(self.file, found, where=where, allowed=allowed, hint=hint)


def read_sheet(path: Path, needed: Sequence[str]) -> tuple[Row, ...]:
    """Read a sheet; a semicolon or a tab may stand for the comma, as spreadsheets of some countries write it.

    Args:
        path: The file, at most 8 MB in UTF-8.
        needed: Columns that must be there; others are kept.

    Raises:
        InputError: It is no CSV, lacks a column, has one twice, a row longer than the header, or too many rows.
    """
    said = decode(read_bytes(path, limit=MAX_CSV), path).removeprefix("\ufeff")
    head = said.partition("\n")[0]
    mark = max(",;\t", key=head.count)
    try:
        rows = list(csv.reader(io.StringIO(said, newline=""), delimiter=mark, strict=True))
    except csv.Error as error:
        raise InputError(path, f"not valid CSV: {clean(str(error))}") from None
    if not rows:
        raise InputError(path, "an empty file", allowed=f"columns {', '.join(needed)}")
    if len(rows) > MAX_ROWS:
        raise InputError(path, f"{len(rows):,} rows", allowed=f"at most {MAX_ROWS:,}")
    names = [name.strip().casefold() for name in rows[0]]
    if missing := [name for name in needed if name not in names]:
        raise InputError(path, f"no column {', '.join(missing)}", where="row 1", allowed=", ".join(needed))
    if len({name for name in names if name}) < len([name for name in names if name]):
        raise InputError(path, "a column is there twice", where="row 1", allowed="each once")
    found = []
    for line, row in enumerate(rows[1:], start=2):
        if not any(value.strip() for value in row):
            continue
        cells = dict(zip(names, (value.strip() for value in row), strict=False))
        one = Row(path, line, {name: cells.get(name, "") for name in names})
        if len(row) > len(names) and any(value.strip() for value in row[len(names) :]):
            raise one.error("more values than columns", allowed=f"{len(names)} values")
        if any(len(value) > _MAX_CELL for value in row):
            raise one.error("a value that is too long", allowed=f"at most {_MAX_CELL} characters")
        found.append(one)
    return tuple(found)


def require_no_forms(folder: Path, prefix: str) -> None:
    """Refuse a folder that holds forms: filled-in sheets would be lost, or forms of two sets be sent out together.

    Raises:
        InputError: There is a file of this prefix in it.
    """
    there = sorted(folder.glob(f"{prefix}-*")) if folder.is_dir() else []
    if there:
        what = f"holds forms already ({there[0].name})"
        raise InputError(folder, what, where="--out", allowed="a folder without any")


def written(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return CSV in which nothing runs as a formula when a spreadsheet opens it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([[_harmless(str(value)) for value in row] for row in rows])
    return out.getvalue()


def _harmless(value: str) -> str:
    return f"'{value}" if value[:1] in {"=", "+", "-", "@", "\t"} else value
