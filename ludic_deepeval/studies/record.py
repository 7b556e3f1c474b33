"""What the store keeps of one trial: everything §4.5 lists, and what it was worked out from, on one line.

`times` holds all that may differ between two runs of the same trial. Figures are floats at this edge; LPI and PCV stand exactly
beside them. What was not measured is null, and `unscored` says why.
"""

from time import perf_counter
from typing import Any, Final

from ludic_deepeval.architect import Draft, Trial
from ludic_deepeval.bible import Bible
from ludic_deepeval.consistency import check_consistency
from ludic_deepeval.errors import ModelError, clean
from ludic_deepeval.outcome import Scored, Unscored
from ludic_deepeval.report.as_json import number, word
from ludic_deepeval.scoring import score_ledger
from ludic_deepeval.session import Asked, Session
from ludic_deepeval.studies.plan import TrialKey
from ludic_deepeval.studies.store import Line, now

STAGES: Final = ("generate", "extract", "score", "outline", "label")
MEASURES: Final = (
    "lpi", "rtn", "mv", "ucr", "th", "pcv", "e_a", "invented_of_all", "reused", "invented", "ambiguous",
    "div_alpha", "div_by_item", "npc_overlap", "hook_overlap", "clusters",
)  # fmt: skip


def line_of(
    key: TrialKey,
    trial: Trial,
    session: Session | Unscored,
    bible: Bible,
    seconds: dict[str, float],
    log: int,
) -> Line:
    """Write down a trial that came to its end.

    Args:
        key: Which.
        trial: Its drafts.
        session: Its stress test, or why there is none.
        bible: Its bible.
        seconds: How long tester and judge took.
        log: How many entries the study's log has.
    """
    last = trial.drafts[-1]
    started = perf_counter()
    card = score_ledger(last.ledger, last.card.policy, names=bible.names)
    consistency = check_consistency(last.ledger, bible)
    measures: dict[str, Any] = dict.fromkeys(MEASURES)
    unscored: list[dict[str, str]] = []
    # A reading that rests on too little says nothing of the story; one that merely lacks dimensions still gives LPI.
    unread = last.lock.too_little_grounded
    if unread is None:
        measures |= {name: number(getattr(card, name)) for name in ("lpi", "rtn", "mv", "ucr", "th", "pcv")}
    if last.unscored is not None:
        unscored.append({"stage": "score", "cause": last.unscored.cause, "reason": last.unscored.reason})
    scored = perf_counter() - started
    if isinstance(session, Unscored):
        unscored.append({"stage": "outline", "cause": session.cause, "reason": session.reason})
    else:
        measures |= _of_session(session, unscored, unread)
    gated, measured = trial.plan.gated, last.unscored is None
    return _head(key, trial.plan.faction, trial.plan.location, log) | {
        "measures": measures,
        "exact": {"lpi": str(card.lpi), "pcv": str(card.pcv)} if measured else None,
        "tier": word(card.tier) if measured else None,
        "quadrant": word(card.quadrant) if measured else None,
        "gate": {
            "gated": gated,
            "ended": trial.result.ended,
            "passed": trial.result.passed,
            "passed_first": trial.drafts[0].passed if trial.drafts[0].unscored is None else None,
            "rewrites": trial.result.rewrites,
            "converged": trial.result.ended == "accept" if gated and measured else None,
        },
        "consistency": None
        if unread is not None
        else {
            "score": consistency.score,
            "temporal": consistency.temporal,
            "lore": consistency.lore,
            "faults": [fault.code for fault in consistency.faults],
        },
        "cascade": _dump(trial.result.cascade),
        "quiet": _dump(trial.result.quiet),
        "drafts": [_draft(one) for one in trial.drafts],
        "ledger": last.ledger.model_dump(mode="json"),
        "prose": last.story.prose.body,
        "prose_sha256": last.story.prose.sha256,
        "session": None if isinstance(session, Unscored) else session.model_dump(mode="json"),
        "producers": _producers(last, session),
        "cost": _costs(trial, session),
        "unscored": unscored,
        "times": {
            "finished": now(),
            "seconds": _seconds(trial) | {"score": round(scored, 6)} | seconds,
        },
    }


def line_of_failure(key: TrialKey, drawn: tuple[str, str], stage: str, error: ModelError, log: int) -> Line:
    """Write down a trial that ended because a model gave no answer that can be used: an outcome, without a figure."""
    reason = clean(f"{error.kind}: {error}", limit=1000)
    return _head(key, *drawn, log) | {
        "measures": dict.fromkeys(MEASURES),
        "gate": None,
        "unscored": [{"stage": stage, "cause": "model", "reason": reason}],
        "times": {"finished": now(), "seconds": {}},
    }


def _head(key: TrialKey, faction: str, location: str, log: int) -> Line:
    return {
        "version": 1,
        "trial": key.id,
        "cell": dict(key.cell),
        "seed": key.seed,
        "faction": faction,
        "location": location,
        "log": log,
    }


def _of_session(session: Session, unscored: list[dict[str, str]], unread: Unscored | None) -> dict[str, Any]:
    """E_a and Div_alpha. Labels against a ledger that was not rightly read would measure the Notary, so they give no E_a."""
    found: dict[str, Any] = {}
    effort, branching = unread or session.effort(), session.diversity()
    if isinstance(effort, Scored):
        one = effort.value
        found |= {
            "e_a": float(one.value),
            "invented_of_all": float(one.invented_of_all),
            "reused": one.reused,
            "invented": one.invented,
            "ambiguous": one.ambiguous,
        }
    else:
        unscored.append({"stage": "label", "cause": effort.cause, "reason": effort.reason})
    if isinstance(branching, Scored):
        two = branching.value
        found |= {
            "div_alpha": float(two.value),
            "div_by_item": float(two.by_item),
            "npc_overlap": float(two.npc_overlap),
            "hook_overlap": float(two.hook_overlap),
            "clusters": two.clusters,
        }
    elif not isinstance(effort, Unscored) or effort.reason != branching.reason:
        unscored.append({"stage": "outline", "cause": branching.cause, "reason": branching.reason})
    return found


def _dump(value: Any) -> Any:
    return None if value is None else value.model_dump(mode="json")


def _draft(one: Draft) -> dict[str, Any]:
    rewrite = one.decided.rewrite
    return {
        "decision": one.decided.decision,
        "lpi": one.decided.lpi,
        "pcv": one.decided.pcv,
        "passed": None if one.unscored else one.passed,
        "prose_sha256": one.story.prose.sha256,
        "asked_again": one.read.asked_again,
        "ungrounded": one.read.ungrounded,
        "likeness": None if rewrite is None else rewrite.likeness,
        "demands_met": None if rewrite is None else [met.demand for met in rewrite.demands if met.met],
    }


def _producers(last: Draft, session: Session | Unscored) -> dict[str, Any]:
    """Who gave the answers: what no model gave is said to be so."""
    found: dict[str, Any] = {
        "architect": {"model": last.written.model, "kind": last.written.kind, "client": last.written.client},
        "notary": {"model": last.read.model, "kind": last.read.kind},
    }
    if isinstance(session, Session):
        for role, by in (("tester", session.tester), ("judge", session.judge)):
            found[role] = {"model": by.name, "kind": by.kind, "client": by.client}
    return found


def _costs(trial: Trial, session: Session | Unscored) -> dict[str, dict[str, int]]:
    drafts = trial.drafts
    found = {
        "generate": {
            "calls": len(drafts),
            "prompt_tokens": sum(one.written.prompt_tokens or 0 for one in drafts),
            "completion_tokens": sum(one.written.completion_tokens or 0 for one in drafts),
        },
        "extract": {
            name: sum(getattr(one.read.cost, name) for one in drafts)
            for name in ("calls", "prompt_tokens", "completion_tokens")
        },
    }
    if isinstance(session, Session):
        found |= {"outline": _asked(session.tester), "label": _asked(session.judge)}
    return found


def _asked(by: Asked) -> dict[str, int]:
    return {
        "calls": by.calls,
        "prompt_tokens": by.prompt_tokens,
        "completion_tokens": by.completion_tokens,
    }


def _seconds(trial: Trial) -> dict[str, float]:
    read = [one.read.seconds for one in trial.drafts if one.read.seconds is not None]
    return {
        "generate": round(sum(one.written.seconds for one in trial.drafts), 3),
        "extract": round(sum(read), 3),
    }
