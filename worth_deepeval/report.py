"""What `worth score` and `worth validate` say: the JSON that other programs read, and lines for people."""

from collections.abc import Iterator
from typing import Any

from ludic_deepeval.errors import clean
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from worth_deepeval.episode import Sheet
from worth_deepeval.response import Response
from worth_deepeval.scoring import WorthScore, participant_points

Scoring = tuple[str, Response, Outcome[WorthScore]]


def score_json(sheet: Sheet, replies: list[Scoring]) -> dict[str, Any]:
    """The result of `worth score --json`. Its shape is stable; fields are only ever added."""
    return {
        "version": 1,
        "episode": sheet.episode.id,
        "status": sheet.key.status,
        "replies": [_reply(sheet, path, response, outcome) for path, response, outcome in replies],
    }


def _reply(sheet: Sheet, path: str, response: Response, outcome: Outcome[WorthScore]) -> dict[str, Any]:
    possible = sheet.range
    scored = outcome.value if isinstance(outcome, Scored) else None
    return {
        "path": path,
        "json": response.json,
        "selections": response.selections,
        "compliant": response.compliant,
        "violations": [{"code": one.code, "message": one.message} for one in response.violations],
        "clue_ids": list(response.clue_ids),
        "role_ids": list(response.role_ids),
        "clue_hits": list(scored.hits) if scored else None,
        "clue_score": scored.clue if scored else None,
        "participant_score": scored.participant if scored else participant_points(response, sheet),
        "total": scored.total if scored else None,
        "minimum": possible.value.minimum if isinstance(possible, Scored) else None,
        "maximum": possible.value.maximum if isinstance(possible, Scored) else None,
        "correct": list(scored.correct) if scored else None,
        "incorrect": list(scored.incorrect) if scored else None,
        "lenient": None
        if response.lenient is None
        else {"clue_ids": list(response.lenient[0]), "role_ids": list(response.lenient[1])},
        "unscored": {"cause": outcome.cause, "reason": outcome.reason}
        if isinstance(outcome, Unscored)
        else None,
    }


def draft_note(sheet: Sheet) -> Iterator[str]:
    """Yield the line that goes with points under a key that nobody has confirmed."""
    if sheet.key.status == "draft":
        yield f"the key of {sheet.episode.id} is a draft: nobody has confirmed it, and these points say no more than it does"


def score_text(sheet: Sheet, replies: list[Scoring]) -> Iterator[str]:
    """Yield the lines of `worth score`: what each reply found, and what it concluded, apart."""
    names = {one.id: one.name for one in sheet.episode.candidates}
    possible = sheet.range
    for path, response, outcome in replies:
        if isinstance(outcome, Unscored):
            yield f"{clean(path, limit=400)}: not scored: {clean(outcome.reason, limit=400)}"
            if (known := participant_points(response, sheet)) is not None:
                yield f"  concluded: {known} points; what is known of it is no total"
            continue
        found = outcome.value
        span = (
            f" (from {possible.value.minimum} to {possible.value.maximum})"
            if isinstance(possible, Scored)
            else ""
        )
        yield f"{clean(path, limit=400)}: {found.total} points{span}"
        yield f"  found {len(found.hits)} of {len(sheet.key.clues) + sheet.key.unplaced} key sentences: {found.clue} points ({', '.join(found.hits) or 'none'})"
        right = ", ".join(clean(names[one]) for one in found.correct) or "nobody"
        wrong = ", ".join(clean(names[one]) for one in found.incorrect) or "nobody"
        yield f"  concluded: {found.participant} points; rightly {right}, wrongly {wrong}"
        for one in response.violations:
            yield f"  protocol: {clean(one.message, limit=300)}  [{one.code}]"
    yield from draft_note(sheet)
    scored = sum(isinstance(outcome, Scored) for _, _, outcome in replies)
    yield f"{scored} of {len(replies)} {'reply' if len(replies) == 1 else 'replies'} scored"
