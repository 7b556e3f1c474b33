"""Finding what was recorded on disk and reading it as `Recorded`: stories, sessions, trials, runs of WORTH. Pure: no TruLens.

Nothing is believed that can be worked out: a story is scored by its lockfile, a session by its labels, a reply by its
episode's key, so that a file cannot say one thing and show another on the dashboard.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ludic_deepeval.check import Checker
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import read_bytes
from ludic_deepeval.lookup import SECOND
from ludic_deepeval.session import load_session
from ludic_deepeval.sources import read_story
from ludic_deepeval.trial import PLAN
from trulens_feedback.backstories import session_record, story_record, trial_record
from trulens_feedback.recorded import Recorded
from trulens_feedback.replies import reply_record, run_record
from trulens_feedback.studies import SIDECAR, TRIALS, study_records
from worth_deepeval.episode import Sheet, load_sheet
from worth_deepeval.records import FILE as RUNS
from worth_deepeval.records import RunRecord, read_records, settled

_MOST_REPLY: Final = 32 * 1024 * 1024
_LOCK: Final = ".ledger.json"
_NOT_RUNS: Final = "protocol"  # episodes/*/recordings/protocol: replies that a person wrote


@dataclass(frozen=True)
class Gathered:
    """What was found.

    Attributes:
        records: What can be replayed.
        errors: Files that cannot be used; they stop no other.
    """

    records: tuple[Recorded, ...]
    errors: tuple[InputError, ...] = ()


def gather(paths: Sequence[Path]) -> Gathered:
    """Read all that was recorded in files and folders, each thing once, in a stable order.

    A story is taken where it has a lockfile (or is named itself), a session by its name `session.json`, a trial by its
    `run.json` and drafts, a study by its `study.json` and `trials.jsonl`, an episode's replies where its `episode.yaml` lies above them, runs of WORTH by `runs.jsonl`;
    their episodes are looked for beside the runs, above them, and among the paths.

    Raises:
        InputError: A path that does not exist, or in which nothing was recorded.
    """
    sources: dict[Path, _Source] = {}
    for path in paths:
        if not path.exists():
            raise InputError(path, "no such file")
        found = list(_sources(path))
        if not found:
            raise InputError(
                path,
                "nothing recorded here",
                allowed=f"stories with lockfiles, session.json, {RUNS}, or folders of ludic generate and ludic study",
            )
        for one in found:
            sources.setdefault(one.path.absolute(), one)
    reader = _Reader(tuple(paths))
    records: list[Recorded] = []
    errors: list[InputError] = []
    for source in sources.values():
        try:
            records += getattr(reader, source.kind)(source.path)
        except InputError as error:
            errors.append(error)
    return Gathered(tuple(records), tuple(errors))


@dataclass(frozen=True)
class _Source:
    kind: str
    path: Path


def _sources(path: Path) -> Iterator[_Source]:
    if path.is_file():
        yield _Source(_kind_of(path), path)
        return
    for folder, names, files in os.walk(path):
        names[:] = sorted(name for name in names if not name.startswith("."))
        here = Path(folder)
        if PLAN in files and "draft-0.md" in files:
            names.clear()
            yield _Source("trial", here)
            continue
        if SIDECAR in files and TRIALS in files:
            names.clear()
            yield _Source("study", here)
            continue
        if "episode.yaml" in files:
            recordings = here / "recordings"
            for text in sorted(recordings.rglob("*.txt")):
                yield _Source("reply", text)
            yield from (_Source("runs", file) for file in sorted(here.rglob(RUNS)))
            names.clear()
            continue
        for name in sorted(files):
            if name == RUNS:
                yield _Source("runs", here / name)
            elif name == "session.json":
                yield _Source("session", here / name)
            elif name.endswith(_LOCK) and not name.endswith(SECOND) and here.suffix != ".ludic":
                story = here / f"{name.removesuffix(_LOCK)}.md"
                if story.is_file():
                    yield _Source("story", story)


def _kind_of(path: Path) -> str:
    if path.suffix.lower() == ".jsonl":
        return "runs"
    if path.name.endswith(_LOCK):
        raise InputError(path, "a lockfile", allowed="its story", hint="name the .md beside it")
    if path.suffix.lower() == ".json":
        return "session"
    if path.suffix.lower() == ".txt":
        return "reply"
    return "story"


class _Reader:
    """Reads one source into records; bibles and episodes are loaded once."""

    def __init__(self, paths: tuple[Path, ...]) -> None:
        self._paths = paths
        self._checker = Checker()
        self._sheets: dict[Path, Sheet] = {}

    def story(self, path: Path) -> Iterator[Recorded]:
        yield story_record(self._checker.check(path), self._checker.policy_for(read_story(path)))

    def session(self, path: Path) -> Iterator[Recorded]:
        yield session_record(load_session(path))

    def trial(self, path: Path) -> Iterator[Recorded]:
        yield trial_record(path, self._checker)

    def study(self, path: Path) -> Iterator[Recorded]:
        yield from study_records(path)

    def reply(self, path: Path) -> Iterator[Recorded]:
        sheet = self._sheet_above(path)
        text = read_bytes(path, limit=_MOST_REPLY).decode("utf-8-sig", errors="replace")
        by_hand = _NOT_RUNS in path.parts
        yield reply_record(
            sheet,
            text,
            name=path.stem,
            model="hand-written" if by_hand else "unknown",
            by="hand-written" if by_hand else None,
        )

    def runs(self, path: Path) -> Iterator[Recorded]:
        for record in settled(read_records(path)).values():
            yield run_record(record, self._sheet_for(record, path))

    def _sheet_above(self, path: Path) -> Sheet:
        for folder in path.absolute().parents:
            if (folder / "episode.yaml").is_file():
                return self._load(folder)
        raise InputError(
            path, "no episode above this reply", allowed="a file under a folder with episode.yaml"
        )

    def _sheet_for(self, record: RunRecord, path: Path) -> Sheet:
        """The episode that a run read, by the hash of all that its readers got."""
        of_this_name = []
        for sheet in self._candidates(path):
            if sheet.episode.digest == record.episode.sha256:
                return sheet
            if sheet.episode.id == record.episode.id:
                of_this_name.append(sheet)
        name = clean(record.episode.id)
        if of_this_name:
            raise InputError(
                path,
                f"runs of another version of {name} than {of_this_name[0].path}",
                hint="give the episode that the runs were made with",
            )
        raise InputError(path, f"no episode {name} found", hint="give its folder among the paths")

    def _candidates(self, path: Path) -> Iterator[Sheet]:
        homes = [*path.absolute().parents[:4], *(one.absolute() for one in self._paths if one.is_dir())]
        homes += [Path.cwd() / "test_cases" / "episodes"]
        seen: set[Path] = set()
        for home in homes:
            inside = [
                home / "episode.yaml",
                *sorted(home.glob("*/episode.yaml")),
                *sorted(home.glob("episodes/*/episode.yaml")),
            ]
            for file in inside:
                if file.is_file() and file not in seen:
                    seen.add(file)
                    yield self._load(file.parent)

    def _load(self, folder: Path) -> Sheet:
        if folder not in self._sheets:
            self._sheets[folder] = load_sheet(folder)
        return self._sheets[folder]
