"""The JSON that other programs read. Its shape is stable; fields are only ever added."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ludic_deepeval.check import CheckResult, StoryResult
from ludic_deepeval.faults import Fault
from ludic_deepeval.findings import Finding
from ludic_deepeval.outcome import Scored, Unscored
from ludic_deepeval.scoring import ScoreCard

if TYPE_CHECKING:
    from ludic_deepeval.advice import Fix
    from ludic_deepeval.agreement import Agreement


def number(value: Fraction | Unscored) -> float | int | None:
    """A figure at the edge: whole numbers without a point, None when unmeasured."""
    if isinstance(value, Unscored):
        return None
    return int(value) if value.denominator == 1 else float(value)


def word(value: str | Unscored) -> str | None:
    """A word such as a tier, None when unmeasured."""
    return None if isinstance(value, Unscored) else value


def card_json(card: ScoreCard) -> dict[str, Any]:
    """The figures of one score card."""
    gate = (
        None
        if isinstance(card.gate, Unscored)
        else {"passed": card.gate.passed, "reasons": list(card.gate.reasons)}
    )
    return {
        "lpi": number(card.lpi),
        "components": {name: number(value) for name, value in card.components.items()},
        "pcv": number(card.pcv),
        "events": [
            {
                "id": row.id,
                "phase": row.phase,
                "raw": number(row.raw),
                "band": row.band,
                "counted": number(row.counted),
            }
            for row in card.events
        ],
        "tier": word(card.tier),
        "quadrant": word(card.quadrant),
        "gate": gate,
    }


def fault_json(fault: Fault) -> dict[str, Any]:
    """One contradiction with both its sides."""
    sides = {name: list(getattr(fault, name)) for name in ("events", "phases", "quotes")}
    return {"code": fault.code, "message": fault.message, **sides}


_NOTHING: dict[str, Any] = {
    "lpi": None,
    "components": {"rtn": None, "mv": None, "ucr": None, "th": None},
    "pcv": None,
    "events": [],
    "tier": None,
    "quadrant": None,
    "gate": None,
    "consistency": None,
}


def check_json(result: CheckResult) -> dict[str, Any]:
    """The result of `ludic check --json`."""
    data: dict[str, Any] = {
        "version": 1,
        "stories": [_story(story) for story in result.stories],
        "summary": result.summary,
    }
    if result.errors:
        data["errors"] = [str(error) for error in result.errors]
    return data


def _story(story: StoryResult) -> dict[str, Any]:
    head = {"path": story.path.as_posix(), "id": story.id, "profile": story.profile, "state": story.state}
    if story.file != story.path:
        head["file"] = story.file.as_posix()
    body = dict(_NOTHING)
    if isinstance(story.outcome, Scored):
        report = story.outcome.value.consistency
        faults = [fault_json(fault) | {"line": _line_of(fault, story)} for fault in report.faults]
        body = card_json(story.outcome.value.card) | {
            "consistency": {
                "score": report.score,
                "temporal": report.temporal,
                "lore": report.lore,
                "faults": faults,
            }
        }
    findings = [finding_json(finding) for finding in story.findings]
    return head | body | {"holds": story.holds, "findings": findings, "unscored": _unscored(story)}


def finding_json(finding: Finding) -> dict[str, Any]:
    """One finding; columns count characters from 1, ends are the place after the last one."""
    names = ("code", "severity", "message", "line", "column", "quote", "end_line", "end_column", "against")
    return {name: getattr(finding, name) for name in (*names, "status", "reason")}


def _line_of(fault: Fault, story: StoryResult) -> int | None:
    told = (f for f in story.findings if f.code == fault.code and f.message.startswith(fault.message))
    return next((finding.line for finding in told), None)


def _unscored(story: StoryResult) -> dict[str, str] | None:
    return {"cause": story.unscored.cause, "reason": story.unscored.reason} if story.unscored else None


def advise_json(result: CheckResult) -> dict[str, Any]:
    """The result of `ludic advise --json`."""
    return {"version": 1, "stories": [_advice(story) for story in result.stories]}


def _advice(story: StoryResult) -> dict[str, Any]:
    return {
        "path": story.path.as_posix(),
        "id": story.id,
        "passed": story.plays,
        "fixes": [fix_json(fix) for fix in story.fixes],
        "unscored": _unscored(story),
    }


def fix_json(fix: "Fix") -> dict[str, Any]:
    """One smallest fix, and the scores that it gives."""
    changes = [
        {name: getattr(change, name) for name in ("kind", "target", "text", "value")}
        for change in fix.changes
    ]
    return {"text": str(fix), "changes": changes, "lpi": number(fix.after.lpi), "pcv": number(fix.after.pcv)}


def agree_json(found: "Agreement") -> dict[str, Any]:
    """The result of `ludic agree --json`."""
    kinds = [
        {name: getattr(row, name) for name in ("kind", "first", "second", "matched", "same")}
        | {"f1": None if row.f1 is None else float(row.f1)}
        for row in found.kinds
    ]
    return {"version": 1, "kinds": kinds, "first": card_json(found.first), "second": card_json(found.second)}
