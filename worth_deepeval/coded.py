"""Sheets that coders have filled in: read strictly, compared by kappa, counted where coders agree (WORTH §7.2)."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.files import decode, read_bytes
from ludic_deepeval.kappa import nominal_kappa
from ludic_deepeval.stats.intervals import Rate, wilson
from worth_deepeval.coding import CODES, KINDS, MAX_BYTES, Kind
from worth_deepeval.csv_text import read_table


@dataclass(frozen=True)
class Coded:
    """A sheet that came back.

    Attributes:
        path: The file.
        kind: Of what.
        codes: By mark and column; what is not coded is not there.
    """

    path: str
    kind: Kind
    codes: Mapping[str, Mapping[str, str]]


def read_coded(path: Path) -> Coded:
    """Read a sheet that was filled in.

    Raises:
        InputError: It is no sheet, a mark is there twice, or a code is none of those allowed.
    """
    header, rows = read_table(path, ("item",), limit=MAX_BYTES)
    kind = next((one for one in KINDS if {code.name for code in CODES[one]} <= set(header)), None)
    if kind is None:
        raise InputError(path, "no columns of codes", allowed="a sheet that worth code sheet wrote")
    found: dict[str, dict[str, str]] = {}
    for line, row in rows:
        item = row["item"].strip()
        if not item or item in found:
            raise InputError(
                path,
                f"found '{clean(item)}'" + (" twice" if item else ""),
                where=f"row {line}: item",
                allowed="each mark once",
            )
        found[item] = {}
        for code in CODES[kind]:
            value = row[code.name].strip().casefold()
            if value and value not in code.allowed:
                raise InputError(
                    path,
                    f"found '{clean(value)}'",
                    where=f"row {line}: {code.name}",
                    allowed=f"{', '.join(code.allowed)}, or nothing",
                )
            if value:
                found[item][code.name] = value
    return Coded(path.as_posix(), kind, found)


@dataclass(frozen=True)
class Agreement:
    """How far two coders agree in one code.

    Attributes:
        code: The column.
        both: Rows that both coded.
        one_only: Rows that only one of them coded.
        same: Of the rows that both coded, those with the same code.
        kappa: Cohen's, from −1 to 1; None where it is 0/0.
        table: (first's code, second's code, rows).
    """

    code: str
    both: int
    one_only: int
    same: Rate
    kappa: Fraction | None
    table: tuple[tuple[str, str, int], ...]


def agreement(first: Coded, second: Coded) -> tuple[Agreement, ...]:
    """Compare two coders' sheets, code by code.

    Raises:
        InputError: They are not of the same rows.
    """
    if first.kind != second.kind or first.codes.keys() != second.codes.keys():
        raise InputError(
            second.path, f"not the rows of {clean(first.path)}", allowed="two copies of one sheet"
        )
    out = []
    for code in CODES[first.kind]:
        pairs, single = [], 0
        for item, own in first.codes.items():
            a, b = own.get(code.name), second.codes[item].get(code.name)
            if a and b:
                pairs.append((a, b))
            elif a or b:
                single += 1
        out.append(
            Agreement(
                code=code.name,
                both=len(pairs),
                one_only=single,
                same=wilson(sum(a == b for a, b in pairs), len(pairs)),
                kappa=nominal_kappa(pairs),
                table=tuple((a, b, count) for (a, b), count in sorted(Counter(pairs).items())),
            )
        )
    return tuple(out)


@dataclass(frozen=True)
class CodeCount:
    """How often a code was given, of the rows of one model that were coded (and on which all coders agree).

    Attributes:
        code: The column.
        value: The code.
        model: Whose rows; "all" for every model's.
        rows: Of the coded rows, those with it.
        uncoded: Rows without a code, or on which coders differ; they are in no rate.
    """

    code: str
    value: str
    model: str
    rows: Rate
    uncoded: int


def read_key(path: Path) -> dict[str, Any]:
    """Read a key file.

    Raises:
        InputError: It is none.
    """
    try:
        data = json.loads(decode(read_bytes(path, limit=MAX_BYTES), path))
    except (ValueError, RecursionError):
        raise InputError(path, "no JSON", allowed="the key that worth code sheet wrote") from None
    items = data.get("items") if isinstance(data, dict) else None
    if not isinstance(items, dict) or not all(
        isinstance(one, dict) and isinstance(one.get("model"), str) for one in items.values()
    ):
        raise InputError(path, f"found {shown(data)}", allowed="the key that worth code sheet wrote")
    return dict(data)


def counts(key: Mapping[str, Any], sheets: Sequence[Coded]) -> tuple[CodeCount, ...]:
    """Count codes by model, where all coders who coded a row agree on it.

    Raises:
        InputError: A sheet is not of this key.
    """
    items: Mapping[str, Mapping[str, Any]] = key["items"]
    for one in sheets:
        if one.kind != key.get("kind") or one.codes.keys() != items.keys():
            raise InputError(one.path, "not the rows of this key", allowed="a sheet that was written with it")
    models = [*dict.fromkeys(one["model"] for one in items.values()), "all"]
    out = []
    for code in CODES[sheets[0].kind]:
        given = {item: _agreed(item, code.name, sheets) for item in items}
        for model in models:
            mine = [given[item] for item, one in items.items() if model in {"all", one["model"]}]
            coded = [one for one in mine if one]
            out += [
                CodeCount(
                    code.name, value, model, wilson(coded.count(value), len(coded)), len(mine) - len(coded)
                )
                for value in code.allowed
            ]
    return tuple(out)


def _agreed(item: str, code: str, sheets: Iterable[Coded]) -> str | None:
    values = {one.codes[item][code] for one in sheets if code in one.codes[item]}
    return values.pop() if len(values) == 1 else None


def agreement_json(found: Sequence[Agreement]) -> list[dict[str, Any]]:
    """Return agreement for programs: kappa as a number and as its exact fraction."""
    return [
        asdict(one)
        | {
            "kappa": None if one.kappa is None else float(one.kappa),
            "kappa_exact": None if one.kappa is None else str(one.kappa),
        }
        for one in found
    ]
