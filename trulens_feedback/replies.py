"""Replies to WORTH's episodes as `Recorded`: the version of the app carries the episode. Pure: no TruLens."""

from datetime import datetime
from typing import Final

from ludic_deepeval.errors import clean
from ludic_deepeval.outcome import Unscored
from trulens_feedback.figures import Figure, worth_figures
from trulens_feedback.recorded import Recorded, short_name
from worth_deepeval.conditions import read_condition
from worth_deepeval.episode import Sheet
from worth_deepeval.records import RunRecord
from worth_deepeval.scoring import score_text

WORTH: Final = "WORTH"


def run_record(record: RunRecord, sheet: Sheet) -> Recorded:
    """The record of one run of WORTH; a call that gave no reply has no figures."""
    failure = record.failure
    if record.text is None:
        reason = f"{failure.kind}: {failure.message}" if failure else "no reply"
        return _worth(
            sheet,
            record.access.model,
            record,
            figures=worth_figures(sheet.episode.id, Unscored("model", clean(reason, limit=400))),
            said="",
            failed=clean(reason, limit=400),
        )
    return _worth(
        sheet,
        record.access.model,
        record,
        said=record.text,
        figures=_scored(sheet, record.text, record.prompt.condition),
    )


def reply_record(sheet: Sheet, text: str, *, name: str, model: str, by: str | None) -> Recorded:
    """The record of a reply in a file; who gave it is said as far as it is known."""
    episode = sheet.episode
    _, outcome = score_text(text, sheet)
    return Recorded(
        app=WORTH,
        version=short_name(f"{episode.id} {episode.version}, {model}, protocol"),
        id=short_name(name),
        asked=episode.question,
        said=text,
        figures=worth_figures(episode.id, outcome),
        notes={
            "ludic.kind": "reply",
            "worth.episode": episode.id,
            "ludic.by": by or "unknown",
            "worth.sha256": episode.digest,
        },
    )


def _scored(sheet: Sheet, text: str, condition: str) -> tuple[Figure, ...]:
    _, outcome = score_text(text, sheet)
    return worth_figures(sheet.episode.id, outcome, discovery=read_condition(condition).measures_discovery)


def _worth(
    sheet: Sheet, model: str, record: RunRecord, *, figures: tuple[Figure, ...], said: str, failed: str = ""
) -> Recorded:
    episode = sheet.episode
    by = "" if record.by == "model" else f" ({record.by})"
    cell = record.condition if record.formal else f"{record.condition}, exploratory"
    return Recorded(
        app=WORTH,
        version=short_name(f"{episode.id} {episode.version}, {model}{by}, {cell}"),
        id=short_name(f"{model}, {cell}, run {record.repetition}"),
        asked=episode.question,
        said=said,
        figures=figures,
        notes={
            "ludic.kind": "run",
            "worth.episode": episode.id,
            "worth.condition": cell,
            "worth.run": record.key,
            "worth.sha256": episode.digest,
            "worth.prompt": record.prompt.sha256,
            "ludic.by": record.by,
        },
        ended=_when(record.ended),
        seconds=record.seconds or 0.0,
        failed=failed,
    )


def _when(text: str | None) -> datetime | None:
    """When a run ended; a day that nobody can read is no day."""
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo else None
