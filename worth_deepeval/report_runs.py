"""What `worth score` says of records of runs: each reply with whose it is, and what was left out and why."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ludic_deepeval.errors import clean
from worth_deepeval.episode import Sheet
from worth_deepeval.records import RunRecord, read_records, records_file, settled
from worth_deepeval.report import Scoring
from worth_deepeval.scoring import score_text


@dataclass(frozen=True)
class Runs:
    """Records that were scored.

    Attributes:
        scored: Each reply, under its file and name.
        records: The record of each, in the same order.
        failed: Runs in which the model gave no reply: they are no replies and are not scored.
        others: Records of other stories, or of another version of this one.
    """

    scored: tuple[Scoring, ...]
    records: tuple[RunRecord, ...]
    failed: tuple[RunRecord, ...]
    others: tuple[RunRecord, ...]

    def as_json(self, at: int) -> dict[str, Any]:
        """What `worth score --json` has beside `replies`.

        Args:
            at: Where in `replies` these begin.
        """
        return {
            "runs": [_run(one) | {"reply": at + number} for number, one in enumerate(self.records)],
            "failures": [
                _run(one) | {"failure": one.failure.model_dump() if one.failure else None}
                for one in self.failed
            ],
            "skipped": [_run(one) | {"episode": one.episode.model_dump()} for one in self.others],
        }

    def as_text(self) -> Iterator[str]:
        """Yield lines for people."""
        for one in self.failed:
            why = one.failure.message if one.failure else ""
            yield f"{clean(one.name, limit=200)}: no reply: {clean(why, limit=300)}"
        cued = sum(one.prompt.condition.startswith("evidence-cueing") for one in self.records)
        if cued:
            yield f"shown the key's ids: {cued}; their points for sentences are a check, and no result"
        idle = sum(not one.formal for one in self.records)
        if idle:
            yield f"exploratory, which do not count: {idle}"
        if self.others:
            yield f"left out, of other stories or another version of this one: {len(self.others)}"


def score_runs(sheet: Sheet, paths: Sequence[Path]) -> Runs:
    """Score all records of this episode in files or folders.

    Raises:
        InputError: A file that cannot be read, or a line in it that is no record.
    """
    scored, kept, failed, others = [], [], [], []
    for path in paths:
        file = records_file(path).as_posix()
        for one in settled(read_records(path)).values():
            if one.episode.sha256 != sheet.episode.digest:
                others.append(one)
            elif one.text is None:
                failed.append(one)
            else:
                scored.append((f"{file}: {one.name}", *score_text(one.text, sheet)))
                kept.append(one)
    return Runs(tuple(scored), tuple(kept), tuple(failed), tuple(others))


def _run(one: RunRecord) -> dict[str, Any]:
    return {
        "key": one.key,
        "model": one.access.model,
        "condition": one.prompt.condition,
        "modification": one.prompt.modification,
        "rewrite": one.prompt.rewrite,
        "repetition": one.repetition,
        "formal": one.formal,
        "by": one.by,
    }
