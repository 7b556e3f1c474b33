"""The JSON that other programs read. Its shape is stable; fields are only ever added."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ludic_deepeval.check import CheckResult, StoryResult
from ludic_deepeval.consistency import Fault
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
        lines = {
            (finding.code, finding.message.removesuffix(" (expected)")): finding.line
            for finding in story.findings
        }
        faults = [
            fault_json(fault) | {"line": lines.get((fault.code, fault.message))} for fault in report.faults
        ]
        body = card_json(story.outcome.value.card) | {
            "consistency": {
                "score": report.score,
                "temporal": report.temporal,
                "lore": report.lore,
                "faults": faults,
            }
        }
    findings = [
        {name: getattr(finding, name) for name in ("code", "severity", "message", "line", "column", "quote")}
        for finding in story.findings
    ]
    return head | body | {"holds": story.holds, "findings": findings, "unscored": _unscored(story)}


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
        "fixes": [_fix(fix) for fix in story.fixes],
        "unscored": _unscored(story),
    }


def _fix(fix: "Fix") -> dict[str, Any]:
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
