"""A baseline: the findings that a team has decided to live with, so that a check of an old corpus tells what is new.

A finding with a quote is known by its code and its words, wherever they stand; one about a story as a whole by its code
and the story's file. Neither depends on line numbers or on the words of a message.
"""

import os.path
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Annotated, Final

from pydantic import Field

from ludic_deepeval.check import CheckResult, StoryResult, in_order
from ludic_deepeval.codes import NEVER_MEANT
from ludic_deepeval.errors import InputError, shown
from ludic_deepeval.files import dump_json, read_bytes, write_atomic
from ludic_deepeval.findings import Finding
from ludic_deepeval.ledger import Frozen, SchemaVersion, Text, load_model
from ludic_deepeval.settings import find_table
from ludic_deepeval.text import folded

_MOST: Final = 100_000
# A story that nobody has read yet is what an old corpus is made of; the rest of these goes away by itself.
_NOT_KEPT: Final = NEVER_MEANT - {"unread"}
Key = tuple[str, str]


class Entry(Frozen):
    """A known finding, and how often it occurs.

    Attributes:
        code: The finding's code.
        path: The story's file, from the baseline's folder.
        quote: Its words as quotes are compared, or null for the story as a whole.
        count: How many of them there are.
    """

    code: Text
    path: Text
    quote: Text | None = None
    count: Annotated[int, Field(strict=True, ge=1)] = 1

    @property
    def key(self) -> Key:
        """What a finding is recognised by."""
        return (self.code, self.path if self.quote is None else f"“{self.quote}”")


class Baseline(Frozen):
    """The findings that are known."""

    version: SchemaVersion = 1
    findings: Annotated[tuple[Entry, ...], Field(max_length=_MOST)] = ()


@dataclass(frozen=True)
class Compared:
    """A check against a baseline.

    Attributes:
        result: The result, with known findings set apart: they fail nothing.
        known: How many findings were known.
        mended: Entries that were not found any more in the stories that were checked.
        pruned: The baseline without them.
    """

    result: CheckResult
    known: int
    mended: tuple[Entry, ...]
    pruned: Baseline


def load_baseline(path: Path) -> Baseline:
    """Read a baseline.

    Raises:
        InputError: No such file, or it is no baseline.
    """
    if not path.exists():
        raise InputError(
            path, "no baseline there", hint=f"make one: ludic check --write-baseline --baseline {path} PATH"
        )
    return load_model(Baseline, read_bytes(path), path)


def save_baseline(baseline: Baseline, path: Path) -> None:
    """Write a baseline: sorted, one finding an entry, the same to the byte for the same findings."""
    entries = [entry.model_dump(mode="json") for entry in baseline.findings]
    write_atomic(path, dump_json({"version": 1, "findings": entries}))


def find_baseline(start: Path) -> Path | None:
    """The baseline that the settings in force for a folder name, or None.

    Raises:
        InputError: The setting is no name of a file in the settings' folder or below.
    """
    table, file = find_table(start)
    name = table.get("baseline")
    if file is None or name is None:
        return None
    path = file.parent / name if isinstance(name, str) and "\0" not in name else file.parent / ".."
    if not path.resolve().is_relative_to(file.parent.resolve()):
        allowed = "the name of a file in this folder or below"
        raise InputError(file, f"found {shown(name)}", where="tool.ludic.baseline", allowed=allowed)
    return path


def make_baseline(result: CheckResult, folder: Path) -> Baseline:
    """Make the baseline of all errors and warnings that are open, and of stories that nobody has read."""
    counts: Counter[tuple[str, str, str | None]] = Counter()
    for story in result.stories:
        path = _path_from(story.path, folder)
        for finding in story.findings:
            if _can_be_known(finding):
                counts[finding.code, path, _words(finding)] += 1
    entries = [
        Entry(code=code, path=path, quote=quote, count=count)
        for (code, path, quote), count in sorted(
            counts.items(), key=lambda item: (item[0][1], item[0][0], item[0][2] or "")
        )
    ]
    return Baseline(findings=tuple(entries))


def compare(result: CheckResult, baseline: Baseline, folder: Path) -> Compared:
    """Set apart the findings that a baseline knows.

    Args:
        result: What a check found.
        baseline: What is known.
        folder: The baseline's folder, from which its paths go.
    """
    left: Counter[Key] = Counter()
    for entry in baseline.findings:
        left[entry.key] += entry.count
    stories = tuple(_told_apart(story, left, _path_from(story.path, folder)) for story in result.stories)
    checked = {_path_from(story.path, folder) for story in result.stories}
    for entry in baseline.findings:  # the same words may be known in a story that nobody looked at today
        if entry.path not in checked:
            left[entry.key] -= entry.count
    mended, kept = [], []
    for entry in baseline.findings:
        gone = min(entry.count, max(left[entry.key], 0)) if entry.path in checked else 0
        left[entry.key] -= gone
        if gone:
            mended.append(entry.model_copy(update={"count": gone}))
        if entry.count > gone:
            kept.append(entry.model_copy(update={"count": entry.count - gone}))
    known = sum(finding.status == "known" for story in stories for finding in story.findings)
    return Compared(replace(result, stories=stories), known, tuple(mended), Baseline(findings=tuple(kept)))


def _told_apart(story: StoryResult, left: Counter[Key], path: str) -> StoryResult:
    findings = list(_known_first(story.findings, left, path))
    ordered = in_order(findings)
    holds = story.state == "read" and not any(finding.fails for finding in ordered)
    return replace(story, findings=ordered, holds=holds)


def _known_first(findings: Iterable[Finding], left: Counter[Key], path: str) -> Iterator[Finding]:
    for finding in findings:
        words = _words(finding)
        key = (finding.code, path if words is None else f"“{words}”")
        if _can_be_known(finding) and left[key] > 0:
            left[key] -= 1
            yield replace(finding, severity="note", status="known")
        else:
            yield finding


def _can_be_known(finding: Finding) -> bool:
    return finding.status == "open" and finding.severity != "note" and finding.code not in _NOT_KEPT


def _words(finding: Finding) -> str | None:
    return folded(finding.quote) or None if finding.quote else None


def _path_from(path: Path, folder: Path) -> str:
    """A path that is the same wherever the command was called from."""
    return PurePath(os.path.relpath(path.absolute(), folder.absolute())).as_posix()
