"""The JSON with which `ludic judge` answers. Its shape is stable; fields are only ever added."""

from typing import Any

from ludic_deepeval.errors import InputError
from ludic_deepeval.report.as_json import card_json, fault_json, finding_json, fix_json
from ludic_deepeval.report.reply import reply_to
from ludic_deepeval.submission import MAX_FINDINGS, Verdict

_FIGURES = ("tier", "lpi", "pcv", "gate")


def answer_json(verdict: Verdict) -> dict[str, Any]:
    """The answer to one request."""
    card = card_json(verdict.reading.card) if verdict.reading else {}
    unscored = verdict.unscored
    return {
        "version": 1,
        "id": verdict.id,
        "state": verdict.state,
        "verdict": verdict.word,
        "profile": verdict.policy.profile,
        "language": verdict.language,
        "words": verdict.words,
        "caveat": verdict.caveat,
        **{name: card.get(name) for name in _FIGURES},
        "consistency": _consistency(verdict),
        "findings": [finding_json(finding) for finding in verdict.findings],
        "more_findings": verdict.more_findings,
        "fixes": [fix_json(fix) for fix in verdict.fixes],
        "reply": reply_to(verdict),
        "unscored": {"cause": unscored.cause, "reason": unscored.reason} if unscored else None,
    }


def _consistency(verdict: Verdict) -> dict[str, Any] | None:
    if verdict.reading is None:
        return None
    report = verdict.reading.consistency
    faults = [fault_json(fault) for fault in report.faults[:MAX_FINDINGS]]
    return {"score": report.score, "temporal": report.temporal, "lore": report.lore, "faults": faults}


def error_json(error: InputError, request_id: str | None = None) -> dict[str, Any]:
    """The answer to a request that cannot be used: the same words as on standard error, whole and in parts."""
    parts = {name: getattr(error, name) or None for name in ("found", "where", "allowed", "hint")}
    return {"version": 1, "id": request_id, "error": {"message": str(error), **parts}}
