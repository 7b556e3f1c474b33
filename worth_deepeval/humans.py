"""Submissions of people: the first of each player and episode, and nothing else (WORTH §4.8).

The first submission is the earliest of all that a player made for an episode, trial plays and anomalies among them: who
has tried the story once does not read it for the first time again. So if the first is a trial play, a listed anomaly or
not valid, the player is out for that episode. Every row that is left out is counted under one reason and named.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from ludic_deepeval.errors import InputError, clean
from worth_deepeval.csv_text import read_table
from worth_deepeval.episode import Episode
from worth_deepeval.finding import CLUES, ROLES
from worth_deepeval.response import read_response

Reason: TypeAlias = Literal[
    "trial-play",  # marked as one
    "anomaly",  # on the list of anomalies
    "invalid-first",  # the first submission breaks the rules: the player is out
    "unclear-first",  # two submissions at one time, and they differ: the player is out
    "after-excluded-first",  # a later one of a player who is out
    "later-attempt",  # a later one of a player whose first is kept
    "other-episode",  # of an episode that was not given
    "unusable",  # no player, no time: it belongs to nobody
]
REASONS: Final[tuple[Reason, ...]] = get_args(Reason)
NEEDED: Final = ("player", "episode", "submitted_at", CLUES, ROLES)
MAX_CSV: Final = 256 * 1024 * 1024
_YES: Final = frozenset({"1", "true", "yes", "是"})
_NO: Final = frozenset({"", "0", "false", "no", "否"})


@dataclass(frozen=True)
class Submission:
    """One row.

    Attributes:
        line: The number of the row in the file, the header being 1.
        row: It as it stands.
        player: Who.
        episode: For which.
        at: When; None where that cannot be read.
        trial: Whether it is marked as a trial play.
    """

    line: int
    row: Mapping[str, str]
    player: str
    episode: str
    at: datetime | None
    trial: bool


@dataclass(frozen=True)
class Exclusion:
    """A row that is left out, and why."""

    submission: Submission
    reason: Reason
    detail: str = ""


@dataclass(frozen=True)
class Cleaned:
    """What came of cleaning.

    Attributes:
        fields: The columns of the file.
        kept: The first valid submissions, in the order of the file.
        excluded: All other rows, in the order of the file, each under one reason.
    """

    fields: tuple[str, ...]
    kept: tuple[Submission, ...]
    excluded: tuple[Exclusion, ...]

    def counts(self) -> dict[str, Any]:
        """The counts as JSON: every row is kept or excluded for one reason, and the excluded are named."""
        by_episode: dict[str, Counter[str]] = {}
        for one in self.kept:
            by_episode.setdefault(one.episode, Counter())["kept"] += 1
        for out in self.excluded:
            by_episode.setdefault(out.submission.episode, Counter())[out.reason] += 1
        reasons = Counter(one.reason for one in self.excluded)
        everyone = {one.player for one in self.kept} | {
            one.submission.player for one in self.excluded if one.submission.player
        }
        return {
            "version": 1,
            "rows": len(self.kept) + len(self.excluded),
            "kept": len(self.kept),
            "players": len(everyone),
            "players_kept": len({one.player for one in self.kept}),
            "excluded": {reason: reasons[reason] for reason in REASONS},
            "episodes": {name: dict(sorted(found.items())) for name, found in sorted(by_episode.items())},
            "exclusions": [
                {
                    "line": one.submission.line,
                    "player": one.submission.player,
                    "episode": one.submission.episode,
                    "reason": one.reason,
                    "detail": one.detail,
                }
                for one in self.excluded
            ],
        }

    def csv(self) -> str:
        """The kept rows as CSV, as they stood."""
        out = io.StringIO()
        writer = csv.DictWriter(out, self.fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(one.row for one in self.kept)
        return out.getvalue()


def read_submissions(path: Path) -> tuple[tuple[str, ...], tuple[Submission, ...]]:
    """Read a CSV file of submissions, a row each; returns its columns and rows.

    Needed columns: player, episode, submitted_at (ISO 8601, or seconds since 1970), clue_sentence_ids, selected_role_ids (ids
    parted by blanks, commas or semicolons, or a JSON array). `trial` (yes or no) may be there; others are carried along.

    Raises:
        InputError: It is not UTF-8, not CSV, or lacks a column.
    """
    fields, rows = read_table(path, NEEDED, limit=MAX_CSV)
    found = []
    for line, row in rows:
        trial = row.get("trial", "").strip().casefold()
        if trial not in _YES | _NO:
            raise InputError(path, f"found '{clean(trial)}'", where=f"row {line}: trial", allowed="yes or no")
        found.append(
            Submission(
                line=line,
                row=row,
                player=row["player"].strip(),
                episode=row["episode"].strip(),
                at=_time(row["submitted_at"].strip()),
                trial=trial in _YES,
            )
        )
    return fields, tuple(found)


def read_anomalies(path: Path) -> dict[tuple[str, str], str]:
    """Read the list of anomalies: player, reason, and episode, which is empty where a player is out everywhere.

    Raises:
        InputError: As for submissions, or a row without player or reason.
    """
    _, rows = read_table(path, ("player", "reason"), limit=MAX_CSV)
    found: dict[tuple[str, str], str] = {}
    for line, row in rows:
        player, reason = row["player"].strip(), row["reason"].strip()
        if not player or not reason:
            raise InputError(path, "no player or no reason", where=f"row {line}", allowed="both")
        found[player, row.get("episode", "").strip()] = reason
    return found


def clean_submissions(
    fields: Sequence[str],
    submissions: Iterable[Submission],
    episodes: Iterable[Episode],
    anomalies: Mapping[tuple[str, str], str] | None = None,
) -> Cleaned:
    """Keep the first submission of each player and episode, where it is valid.

    Args:
        fields: The columns of the file.
        submissions: All rows.
        episodes: What they may be of, which says what is valid.
        anomalies: By player and episode ("" for all), why they are out.
    """
    known = {one.id: one for one in episodes}
    listed = anomalies or {}
    every = list(submissions)
    out: dict[int, Exclusion] = {}
    groups: dict[tuple[str, str], list[Submission]] = {}
    for one in every:
        if not one.player or one.at is None:
            out[one.line] = Exclusion(one, "unusable", "no player" if not one.player else "no time")
        elif one.episode not in known:
            out[one.line] = Exclusion(one, "other-episode", one.episode)
        else:
            groups.setdefault((one.player, one.episode), []).append(one)
    kept: set[int] = set()
    for (player, name), group in groups.items():
        # All have a time; equal times keep the order of the file.
        group.sort(key=lambda one: one.at or datetime.max.replace(tzinfo=UTC))
        first, later = group[0], group[1:]
        why = _fault(first, later, known[name], listed.get((player, name)) or listed.get((player, "")))
        if why is None:
            kept.add(first.line)
        else:
            out[first.line] = why
        for one in later:
            if one.trial:
                out[one.line] = Exclusion(one, "trial-play")
            else:
                out[one.line] = Exclusion(one, "later-attempt" if why is None else "after-excluded-first")
    return Cleaned(
        tuple(fields),
        tuple(one for one in every if one.line in kept),
        tuple(out[one.line] for one in every if one.line in out),
    )


def _fault(
    first: Submission, later: Sequence[Submission], episode: Episode, anomaly: str | None
) -> Exclusion | None:
    """Why a first submission cannot be kept."""
    if first.trial:
        return Exclusion(first, "trial-play")
    if anomaly is not None:
        return Exclusion(first, "anomaly", anomaly)
    same = [one for one in later if one.at == first.at]
    if any(selected(one) != selected(first) for one in same):
        return Exclusion(first, "unclear-first", "another at the same time, and they differ")
    clues, roles = selected(first)
    found = read_response(json.dumps({CLUES: clues, ROLES: roles}), episode)
    if found.selections == "invalid":
        broken = [one for one in found.violations if one.code != "missing-field"]
        return Exclusion(first, "invalid-first", broken[0].message if broken else "")
    return None


def selected(one: Submission) -> tuple[list[Any], list[Any]]:
    """Return the sentences and the candidates that a submission selects, as they stand."""
    return _ids(one.row[CLUES]), _ids(one.row[ROLES])


def _ids(cell: str) -> list[Any]:
    """The ids of a cell: a JSON array, or parted by blanks, commas or semicolons."""
    if cell.lstrip().startswith("["):
        try:
            found = json.loads(cell)
        except (ValueError, RecursionError):
            return [cell]
        return found if isinstance(found, list) else [cell]
    for mark in ",;，；、":
        cell = cell.replace(mark, " ")
    return list(cell.split())


def _time(text: str) -> datetime | None:
    """A time in UTC; one without a zone is taken as UTC, since only the order counts."""
    try:
        if text.replace(".", "", 1).isdecimal() and "-" not in text:
            return datetime.fromtimestamp(float(text), UTC)
        found = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
