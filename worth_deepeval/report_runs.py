"""What `worth score` says of records of runs: each reply with whose it is, and what was left out and why."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ludic_deepeval.errors import clean
from ludic_deepeval.files import read_bytes
from ludic_deepeval.outcome import Unscored
from worth_deepeval.episode import Sheet
from worth_deepeval.records import RunRecord, read_records, records_file, settled
from worth_deepeval.report import Scoring
from worth_deepeval.runs import MOST_BYTES, Run, holds_records, load_runs
from worth_deepeval.scoring import score_text


@dataclass(frozen=True)
class Runs:
    """Records that were scored.

    Attributes:
        scored: Each reply, under its file and name.
        records: The record of each, in the same order; or the line of a plain file, which tells less of it.
        failed: Runs in which the model gave no reply: they are no replies and are not scored.
        others: Records of other stories, or of another version of this one.
    """

    scored: tuple[Scoring, ...]
    records: tuple[RunRecord | Run, ...]
    failed: tuple[RunRecord | Run, ...]
    others: tuple[RunRecord, ...]

    def as_json(self, at: int) -> dict[str, Any]:
        """What `worth score --json` has beside `replies`.

        Args:
            at: Where in `replies` these begin.
        """
        return {
            "runs": [_run(one) | {"reply": at + number} for number, one in enumerate(self.records)],
            "failures": [
                _run(one)
                | {
                    "failure": one.failure.model_dump()
                    if isinstance(one, RunRecord) and one.failure
                    else None
                }
                for one in self.failed
            ],
            "skipped": [_run(one) | {"episode": one.episode.model_dump()} for one in self.others],
        }

    def as_text(self) -> Iterator[str]:
        """Yield lines for people."""
        for one in self.failed:
            why = f": {one.failure.message}" if isinstance(one, RunRecord) and one.failure else ""
            yield f"{clean(one.name, limit=200)}: no reply{clean(why, limit=300)}"
        cued = sum(one.condition.startswith("evidence-cueing") for one in self.records)
        if cued:
            yield f"shown the key's ids: {cued}; their points for sentences are a check, and no result"
        idle = sum(isinstance(one, RunRecord) and not one.formal for one in self.records)
        if idle:
            yield f"exploratory, which do not count: {idle}"
        if self.others:
            yield f"left out, of other stories or another version of this one: {len(self.others)}"


def score_runs(sheet: Sheet, paths: Sequence[Path]) -> Runs:
    """Score all records of this episode in files or folders, and all runs of plain files, which tell no episode.

    Raises:
        InputError: A file that cannot be read, or a line in it that is no run.
    """
    scored: list[Scoring] = []
    kept: list[RunRecord | Run] = []
    failed: list[RunRecord | Run] = []
    others: list[RunRecord] = []
    for path in paths:
        if not holds_records(path) and read_bytes(path, limit=MOST_BYTES).strip():
            for run in load_runs(path, sheet):
                if isinstance(run.outcome, Unscored) and run.outcome.cause == "model":
                    failed.append(run)
                else:
                    scored.append((f"{path.as_posix()}: {run.name}", run.response, run.outcome))
                    kept.append(run)
            continue
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


def _run(one: RunRecord | Run) -> dict[str, Any]:
    if isinstance(one, Run):  # what a plain file does not tell is null
        told = {"model": one.model, "condition": one.condition, "repetition": one.repetition}
        return {"key": None, "modification": None, "rewrite": None, "formal": None, "by": None} | told
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
