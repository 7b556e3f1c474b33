"""Functional coding of what scores do not see (WORTH §7.2): neighbours that were selected, and explanations. No code awards points.

A sheet is a CSV file that a coder fills in. It is blind: rows bear a mark made of the seed and the run and are ordered by it, so that the
same seed gives the same sheet and neither model nor repetition can be told from a row. Whose row is whose stands in a key file beside it.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.files import decode, read_bytes
from ludic_deepeval.kappa import nominal_kappa
from ludic_deepeval.stats.intervals import Rate, wilson
from worth_deepeval.csv_text import cell, read_table
from worth_deepeval.diagnosis.sample import Sample
from worth_deepeval.episode import Sheet

Kind: TypeAlias = Literal["explanations", "neighbours"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
MAX_BYTES: Final = 256 * 1024 * 1024


@dataclass(frozen=True)
class Code:
    """One question that a coder answers.

    Attributes:
        name: The column.
        allowed: What may stand in it.
        asks: What is asked.
    """

    name: str
    allowed: tuple[str, ...]
    asks: str


_YES_NO: Final = ("yes", "no", "unclear")
CODES: Final[dict[Kind, tuple[Code, ...]]] = {
    "explanations": (
        Code(
            "attribution_drift",
            _YES_NO,
            "Does the explanation state what tells against its own conclusion, and yet conclude it? (It notes who could not have done it,"
            " or that a death was no suicide, and names others than these facts lead to; §5.1.2.)",
        ),
        Code(
            "extratextual_completion",
            _YES_NO,
            "Does the argument rest on an event, a means or a motive of which the story says nothing? What follows from the text or"
            " from common knowledge is no completion; a guess on which nothing rests is none either.",
        ),
        Code(
            "omission",
            _YES_NO,
            "Does the explanation speak of what a participant did to bring it about, while that participant is not among those named?",
        ),
    ),
    "neighbours": (
        Code(
            "same_information",
            ("all", "part", "none", "unclear"),
            "How much of what the key sentence gives the argument does the selected neighbour give, as the reader uses it?",
        ),
    ),
}
SHOWN: Final[dict[Kind, tuple[str, ...]]] = {
    "explanations": ("selected", "named", "interpretations", "combination", "conclusion"),
    "neighbours": ("key_sentence", "function", "neighbour", "interpretation"),
}


@dataclass(frozen=True)
class SheetRow:
    """A row to be coded.

    Attributes:
        item: Its mark.
        shown: What the coder reads.
        source: Whose it is; not in the sheet.
    """

    item: str
    shown: Mapping[str, str]
    source: Mapping[str, Any]


def rows_of(kind: Kind, sample: Sample, *, seed: int) -> tuple[SheetRow, ...]:
    """Return what is to be coded of scored runs, in the order of a seed.

    Args:
        kind: Explanations: a row a run that has some. Neighbours: a row for each key sentence that a run missed and each sentence
            beside it that it selected.
        sample: The runs.
        seed: Decides marks and order.
    """
    made = _explanations(sample) if kind == "explanations" else _neighbours(sample)
    rows = []
    for shown_, source in made:
        mark = sha256(
            json.dumps([seed, kind, sample.sheet.episode.id, *source.values()]).encode("utf-8")
        ).hexdigest()[:12]
        rows.append(SheetRow(mark, shown_, source))
    return tuple(sorted(rows, key=lambda row: row.item))


def _explanations(sample: Sample) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    texts = {one.id: one.text for one in sample.sheet.episode.sentences}
    names = {one.id: one.name for one in sample.sheet.episode.candidates}
    for run in sample.scored:
        body = run.response.body
        if body is None:
            continue
        told = _interpretations(body)
        combination, conclusion = (
            body[name] if isinstance(body.get(name), str) else ""
            for name in ("evidence_combination", "final_conclusion")
        )
        if not (told or combination.strip() or conclusion.strip()):
            continue
        yield (
            {
                "selected": "\n".join(f"{one} {texts[one]}" for one in run.response.clue_ids),
                "named": ", ".join(names[one] for one in run.response.role_ids) or "nobody",
                "interpretations": "\n".join(f"{one}: {text}" for one, text in told.items()),
                "combination": combination,
                "conclusion": conclusion,
            },
            {"condition": run.condition, "model": run.model, "repetition": run.repetition},
        )


def _neighbours(sample: Sample) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    ids = [one.id for one in sample.sheet.episode.sentences]
    texts = {one.id: one.text for one in sample.sheet.episode.sentences}
    functions = {one.sentence: one.function or "" for one in sample.sheet.key.clues}
    place = {one: at for at, one in enumerate(ids)}
    for run in sample.scored:
        chosen = set(run.response.clue_ids)
        told = _interpretations(run.response.body or {})
        for sentence in sample.sheet.key.sentences:
            if sentence in chosen:
                continue
            at = place[sentence]
            for beside in (ids[i] for i in (at - 1, at + 1) if 0 <= i < len(ids)):
                if beside in chosen:
                    yield (
                        {
                            "key_sentence": f"{sentence} {texts[sentence]}",
                            "function": functions[sentence],
                            "neighbour": f"{beside} {texts[beside]}",
                            "interpretation": told.get(beside, ""),
                        },
                        {
                            "condition": run.condition,
                            "model": run.model,
                            "repetition": run.repetition,
                            "sentence": sentence,
                            "neighbour": beside,
                        },
                    )


def _interpretations(body: Mapping[str, Any]) -> dict[str, str]:
    given = body.get("clue_interpretations")
    return {
        str(one.get("sentence_id")): str(one.get("interpretation"))
        for one in (given if isinstance(given, list) else [])
        if isinstance(one, dict) and isinstance(one.get("interpretation"), str)
    }


def sheet_csv(
    kind: Kind, rows: Sequence[SheetRow], coded: Mapping[str, Mapping[str, str]] | None = None
) -> str:
    """Return a sheet as CSV; the columns of codes are empty unless codes are given by mark."""
    out = io.StringIO()
    columns = ["item", *SHOWN[kind], *(one.name for one in CODES[kind]), "note"]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        values = {"item": row.item} | dict(row.shown) | dict((coded or {}).get(row.item, {}))
        writer.writerow([cell(values.get(name, "")) for name in columns])
    return out.getvalue()


def key_json(kind: Kind, sheet: Sheet, rows: Sequence[SheetRow], seed: int) -> dict[str, Any]:
    """Return whose row is whose; not for coders."""
    return {
        "version": 1,
        "kind": kind,
        "episode": sheet.episode.id,
        "episode_version": sheet.episode.version,
        "seed": seed,
        "items": {row.item: dict(row.source) for row in rows},
    }


def codebook(kind: Kind, sheet: Sheet) -> str:
    """Return what coders are told, as Markdown."""
    lines = [
        f"# Codes: {kind}, {sheet.episode.id}",
        "",
        "Code every row alone, by what stands in it and in the story; other coders' sheets are not for you. Whose row it is does not stand",
        "in it: do not look for it. A code says what kind of thing is there; none is a mark, and none gives or takes points.",
        "",
    ]
    for one in CODES[kind]:
        lines += [f"- `{one.name}`: {', '.join(one.allowed)}. {one.asks}"]
    lines += [
        "",
        "`unclear` where two careful readers could disagree; an empty cell is not coded. `note` is free.",
        "",
    ]
    return "\n".join(lines)


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
