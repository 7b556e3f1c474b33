"""Runs to be diagnosed: which model, which repetition, under which condition, what was read and what it scored."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any, Final

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.files import decode, read_bytes
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from worth_deepeval.episode import Sheet
from worth_deepeval.records import MAX_LINE, RunRecord, read_records, settled
from worth_deepeval.response import Response
from worth_deepeval.scoring import WorthScore, score_text

MOST_BYTES: Final = 512 * 1024 * 1024
_MOST_NAME: Final = 200
_ALLOWED: Final = '{"model": "…", "repetition": 1, "condition": "full-story", "text": "…"}'


@dataclass(frozen=True)
class Run:
    """One reply of one model.

    Attributes:
        model: Its name, as the file has it.
        repetition: Which of its runs, from 1.
        condition: Under which condition the story was given.
        response: What was read.
        outcome: Its score, or why there is none.
    """

    model: str
    repetition: int
    condition: str
    response: Response
    outcome: Outcome[WorthScore]

    @property
    def score(self) -> WorthScore | None:
        """The score, where there is one."""
        return self.outcome.value if isinstance(self.outcome, Scored) else None

    @property
    def name(self) -> str:
        """The run, for people."""
        return f"{self.model} run {self.repetition}"


def make_run(model: str, repetition: int, condition: str, text: str | None, sheet: Sheet) -> Run:
    """Read and score a raw reply; None is a call that gave no reply."""
    response, outcome = score_text(text or "", sheet)
    if text is None:
        outcome = Unscored("model", "the model gave no reply")
    return Run(model, repetition, condition, response, outcome)


def load_runs(path: Path, sheet: Sheet) -> tuple[Run, ...]:
    """Read runs: the records of `worth run` and `worth import-run`, or a plain file of one JSON object a line.

    Args:
        path: A folder of records, a file of them, or a plain file, whose further fields are ignored.
        sheet: The episode that all of them answer; records of other stories or versions are left out.

    Raises:
        InputError: The file or a line is not as it must be, a run is there twice, or there is none.
    """
    if holds_records(path):
        return _of_records(path, sheet)
    lines = decode(read_bytes(path, limit=MOST_BYTES), path).removeprefix("\ufeff").split("\n")
    runs = tuple(_runs(lines, path, sheet))
    if not runs:
        raise InputError(path, "no runs", allowed=f"a line for each run: {_ALLOWED}")
    return runs


def holds_records(path: Path) -> bool:
    """Whether runs are records: those of a folder are, and those of a file whose first line has what only a record has."""
    if path.is_dir():
        return True
    try:
        with path.open("rb") as stream:
            first = json.loads(stream.readline(MAX_LINE))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(first, dict) and {"schema_version", "access", "prompt"} <= first.keys()


def _of_records(path: Path, sheet: Sheet) -> tuple[Run, ...]:
    """What stands of each recorded run of this episode. Exploratory runs are a condition of their own: they do not count."""
    records = [
        one for one in settled(read_records(path)).values() if one.episode.sha256 == sheet.episode.digest
    ]
    if not records:
        raise InputError(path, f"no runs of {sheet.episode.id} in this version", hint="worth run makes some")
    names = _readers(records)
    return tuple(
        make_run(
            names[one.key],
            one.repetition,
            one.condition if one.formal else f"{one.condition}, exploratory",
            one.text,
            sheet,
        )
        for one in records
    )


def _readers(records: Sequence[RunRecord]) -> dict[str, str]:
    """Who read, by the key of each record: the model, and what tells it from itself by another interface or with other options.

    One reader has one name under every condition, and all of its repetitions bear it, so that runs are averaged and paired with
    those of their own reader.
    """
    prompts: dict[tuple[str, str, bool], list[str]] = {}
    own = {}
    for one in records:
        sent = prompts.setdefault((one.access.model, one.condition, one.formal), [])
        if one.prompt.sha256 not in sent:
            sent.append(one.prompt.sha256)
        own[one.key] = (*_told_apart(one), f"prompt {sent.index(one.prompt.sha256) + 1}")
    parts: dict[str, set[tuple[str, ...]]] = {}
    for one in records:
        parts.setdefault(one.access.model, set()).add(own[one.key])
    # Which of the parts differ among the readers of each model.
    differ = {
        model: [len(set(values)) > 1 for values in zip(*each, strict=True)] for model, each in parts.items()
    }
    names = {}
    for one in records:
        said = list(compress(own[one.key], differ[one.access.model]))
        names[one.key] = f"{one.access.model} ({', '.join(said)})" if said else one.access.model
    return names


def _told_apart(one: RunRecord) -> tuple[str, ...]:
    """What may tell a record's reader from another of the same model, in words; a seed as it was for the first repetition."""
    access, options = one.access, one.options
    ran = access.tier_executed or access.tier_configured
    seed = None if options.seed is None else options.seed - one.repetition + 1
    return (
        access.interface,
        ("no tier" if ran is None else f"tier {ran}")
        + (f" set to {access.tier_configured}" if access.tier_configured != ran else ""),
        "its own temperature" if options.temperature is None else f"temperature {options.temperature:g}",
        "no seed" if seed is None else f"seeds from {seed}",
        "any length" if options.max_tokens is None else f"at most {options.max_tokens} tokens",
    )


def _runs(lines: Iterable[str], path: Path, sheet: Sheet) -> Iterator[Run]:
    seen: set[tuple[str, int, str]] = set()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"line {number}"
        record = _record(line, path, where)
        model, repetition, condition = record["model"], record["repetition"], record["condition"]
        if (model, repetition, condition) in seen:
            raise InputError(
                path,
                f"{clean(model)} run {repetition} ({clean(condition)}) is there twice",
                where=where,
                allowed="each run once",
            )
        seen.add((model, repetition, condition))
        yield make_run(model, repetition, condition, record["text"], sheet)


def _record(line: str, path: Path, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(path, "no JSON", where=where, allowed=_ALLOWED) from None
    if not isinstance(record, dict):
        raise InputError(path, f"found {shown(record)}", where=where, allowed=_ALLOWED)
    for name in ("model", "condition"):
        value = record.get(name)
        if not (isinstance(value, str) and value.strip() and len(value) <= _MOST_NAME):
            raise InputError(
                path,
                f"found {shown(value)}",
                where=f"{where}: {name}",
                allowed=f"a name of up to {_MOST_NAME} characters",
            )
    repetition = record.get("repetition")
    if not isinstance(repetition, int) or isinstance(repetition, bool) or not 0 <= repetition < 10**9:
        raise InputError(
            path, f"found {shown(repetition)}", where=f"{where}: repetition", allowed="a whole number"
        )
    if "text" not in record or not isinstance(record["text"], str | None):
        raise InputError(
            path,
            f"found {shown(record.get('text'))}",
            where=f"{where}: text",
            allowed="the raw reply, or null for none",
        )
    return record
