"""The stories of a study with what was measured of them: LPI and PCV from their ledgers, E_a from recorded sessions."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ludic_deepeval.check import CheckResult, StoryResult, check_stories
from ludic_deepeval.errors import InputError
from ludic_deepeval.judging import figures
from ludic_deepeval.outcome import Scored, Unscored
from ludic_deepeval.session import Session, load_session
from ludic_deepeval.studies.sample import COMPONENTS, Candidate


@dataclass(frozen=True)
class Corpus:
    """Stories that can take part, and those that cannot.

    Attributes:
        candidates: With a measured LPI, each prose once.
        results: Their verdicts, in the same order.
        left_out: The path of each other story, and why.
        errors: Files that could not be used.
    """

    candidates: tuple[Candidate, ...]
    results: tuple[StoryResult, ...]
    left_out: tuple[tuple[str, str], ...]
    errors: tuple[InputError, ...]


def read_corpus(paths: list[Path], sessions: Path | None = None, *, profile: str | None = None) -> Corpus:
    """Measure stories.

    Args:
        paths: Stories, or folders of them.
        sessions: A folder of recorded stress tests (`ludic stress --out`); their E_a goes to the story whose prose they
            were planned from, the mean where there are several.
        profile: Overrides the stories' own.

    Raises:
        InputError: A path that does not exist, or a session that is none.
    """
    found = check_stories(paths, profile=profile)
    efforts = efforts_in(sessions) if sessions else {}
    return _corpus(found, efforts)


def _corpus(found: CheckResult, efforts: dict[str, Fraction]) -> Corpus:
    kept: dict[str, tuple[Candidate, StoryResult]] = {}
    left_out = []
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
        elif prose.sha256 in kept:
            left_out.append((path, f"the same prose as {kept[prose.sha256][0].path}"))
        else:
            effort = efforts.get(prose.sha256)
            candidate = Candidate(
                id=story.id,
                path=path,
                prose=prose,
                metrics={
                    "lpi": row["lpi"],
                    "pcv": row["pcv"],
                    "e_a": None if effort is None else float(effort),
                },
                components={name: row[name] for name in COMPONENTS},
            )
            kept[prose.sha256] = candidate, story
    return Corpus(
        tuple(one for one, _ in kept.values()),
        tuple(story for _, story in kept.values()),
        tuple(left_out),
        found.errors,
    )


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
