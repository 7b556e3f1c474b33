"""The stories of a study with what was measured of them: LPI and PCV from their ledgers, E_a from recorded sessions.

A store of trials (`*.jsonl`, a line each with `trial`, `cell`, `prose`, `measures`, and perhaps `ledger` and `session`) is taken as it
stands: what it measured is not measured again.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from ludic_deepeval.check import CheckResult, check_stories
from ludic_deepeval.errors import InputError, shown
from ludic_deepeval.files import MAX_BYTES
from ludic_deepeval.judging import figures
from ludic_deepeval.ledger import FactLedger, load_model
from ludic_deepeval.outcome import Scored, Unscored
from ludic_deepeval.session import Session, load_session
from ludic_deepeval.strict_json import load_json
from ludic_deepeval.studies.sample import COMPONENTS, METRICS, Candidate
from ludic_deepeval.text import Prose

STORE: Final = ".jsonl"


@dataclass(frozen=True)
class Corpus:
    """Stories that can take part, and those that cannot.

    Attributes:
        candidates: With a measured LPI, each prose once.
        ledgers: By the hash of the prose.
        sessions: The stress tests that a store of trials holds.
        left_out: The path of each other story, and why.
        errors: Files that could not be used.
    """

    candidates: tuple[Candidate, ...]
    ledgers: Mapping[str, FactLedger]
    sessions: tuple[Session, ...]
    left_out: tuple[tuple[str, str], ...]
    errors: tuple[InputError, ...]


def read_corpus(paths: list[Path], sessions: Path | None = None, *, profile: str | None = None) -> Corpus:
    """Measure stories.

    Args:
        paths: Stories, folders of them, or stores of trials (`*.jsonl`).
        sessions: A folder of recorded stress tests (`ludic stress --out`); their E_a goes to the story whose prose they
            were planned from, the mean where there are several.
        profile: Overrides the stories' own.

    Raises:
        InputError: A path that does not exist, or a session that is none.
    """
    stores = [path for path in paths if path.suffix == STORE and path.is_file()]
    stories = [path for path in paths if path not in stores]
    found = check_stories(stories, profile=profile) if stories else CheckResult(())
    efforts = efforts_in(sessions) if sessions else {}
    left_out: list[tuple[str, str]] = []
    rows = list(_of_stories(found, efforts, left_out))
    for store in stores:
        rows += _of_store(store, left_out)
    kept: dict[str, _Row] = {}
    for row in rows:
        first = kept.setdefault(row.candidate.prose.sha256, row)
        if first is not row:
            left_out.append((row.candidate.path, f"the same prose as {first.candidate.path}"))
    return Corpus(
        tuple(row.candidate for row in kept.values()),
        {name: row.ledger for name, row in kept.items() if row.ledger is not None},
        tuple(row.session for row in kept.values() if row.session is not None),
        tuple(left_out),
        found.errors,
    )


@dataclass(frozen=True)
class _Row:
    candidate: Candidate
    ledger: FactLedger | None
    session: Session | None = None


def _of_stories(
    found: CheckResult, efforts: dict[str, Fraction], left_out: list[tuple[str, str]]
) -> Iterator[_Row]:
    for story in found.stories:
        path = story.path.as_posix()
        if not isinstance(story.outcome, Scored):
            left_out.append((path, story.outcome.reason))
            continue
        row = figures(story.outcome.value)
        prose = story.story.prose
        lpi = story.outcome.value.card.lpi
        if isinstance(lpi, Unscored):
            left_out.append((path, lpi.reason))
            continue
        effort = efforts.get(prose.sha256)
        candidate = Candidate(
            id=story.id,
            path=path,
            prose=prose,
            metrics={"lpi": row["lpi"], "pcv": row["pcv"], "e_a": None if effort is None else float(effort)},
            components={name: row[name] for name in COMPONENTS},
        )
        yield _Row(candidate, story.outcome.value.ledger)


def _of_store(file: Path, left_out: list[tuple[str, str]]) -> Iterator[_Row]:
    for number, raw in enumerate(_lines(file), start=1):
        where = f"line {number}"
        line = load_json(raw, file)
        if not isinstance(line, dict) or not isinstance(line.get("measures"), dict):
            raise InputError(file, "no trial", where=where, allowed="trial, cell, prose and measures")
        name = f"{file.as_posix()}#{line.get('trial', number)}"
        figures_of = {key: _number(line["measures"].get(key), file, where) for key in (*METRICS, *COMPONENTS)}
        components = {key: value for key in COMPONENTS if (value := figures_of[key]) is not None}
        text = line.get("prose")
        if figures_of["lpi"] is None or len(components) < len(COMPONENTS) or not isinstance(text, str):
            left_out.append((name, "nothing was measured of this trial"))
            continue
        cell = line.get("cell")
        candidate = Candidate(
            id=str(line.get("trial", number)),
            path=name,
            prose=Prose(text, file, front_matter=False),
            metrics={key: figures_of[key] for key in METRICS},
            components=components,
            cell=", ".join(f"{key} {value}" for key, value in cell.items()) if isinstance(cell, dict) else "",
        )
        ledger, session = line.get("ledger"), line.get("session")
        yield _Row(
            candidate,
            load_model(FactLedger, ledger, f"{file}: {where}") if ledger else None,
            # JSON again, since in a dictionary lists are no tuples to a strict model.
            load_model(Session, json.dumps(session), f"{file}: {where}") if session else None,
        )


def _number(value: object, file: Path, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e9:
        raise InputError(file, f"found {shown(value)}", where=where, allowed="numbers and null in measures")
    return float(value)


def _lines(file: Path) -> Iterator[bytes]:
    """The whole lines of a store; a torn last one is no trial."""
    with file.open("rb") as stream:
        while line := stream.readline(MAX_BYTES + 1):
            if len(line) > MAX_BYTES:
                raise InputError(
                    file, "a line that is too long", allowed=f"at most {MAX_BYTES // 1024:,} KiB"
                )
            if line.endswith(b"\n") and line.strip():
                yield line


def efforts_in(folder: Path) -> dict[str, Fraction]:
    """The E_a of each prose that was stress-tested, by its hash; trials without labels are left out."""
    values: dict[str, list[Fraction]] = defaultdict(list)
    for session in sessions_in(folder):
        effort = session.effort()
        if isinstance(effort, Scored):
            values[session.source_sha256].append(effort.value.value)
    return {name: sum(found, Fraction(0)) / len(found) for name, found in values.items()}


def sessions_in(folder: Path) -> Iterator[Session]:
    """Yield the recorded sessions under a folder, in the order of their paths.

    Raises:
        InputError: There is no such folder, no session in it, or one that cannot be read.
    """
    paths = session_files(folder)
    if not paths:
        raise InputError(
            folder, "no recorded session in this folder", allowed="what ludic stress --out wrote"
        )
    for path in paths:
        yield load_session(path)


def session_files(folder: Path) -> Sequence[Path]:
    """The session files under a folder."""
    if not folder.is_dir():
        raise InputError(folder, "no such folder", allowed="a folder of recorded sessions")
    return sorted(folder.rglob("session.json"))
