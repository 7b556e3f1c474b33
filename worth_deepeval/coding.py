"""Functional coding of what scores do not see (WORTH §7.2): neighbours that were selected, and explanations. No code awards points.

A sheet is a CSV file that a coder fills in. It is blind: rows bear a mark made of the seed and the run and are ordered by it, so that the
same seed gives the same sheet and neither model nor repetition can be told from a row. Whose row is whose stands in a key file beside it.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Literal, TypeAlias, get_args

from worth_deepeval.csv_text import cell
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
