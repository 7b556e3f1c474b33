"""Stories, stress tests and trials of the Architect as `Recorded`. Pure: no TruLens."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from ludic_deepeval.check import Checker, StoryResult
from ludic_deepeval.files import read_bytes
from ludic_deepeval.judging import Reading
from ludic_deepeval.ledger import FactLedger, load_model
from ludic_deepeval.llm.client import Kind
from ludic_deepeval.lockfile import Lockfile, load_lockfile
from ludic_deepeval.outcome import Scored, Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.session import Session
from ludic_deepeval.sources import read_story
from ludic_deepeval.trial import PLAN, Decided, Plan, Written
from trulens_feedback.figures import Figure, reading_figures, session_figures, unread_figures
from trulens_feedback.recorded import Recorded, Step, short_name

STORIES: Final = "ludic stories"
SESSIONS: Final = "ludic sessions"
TRIALS: Final = "ludic trials"


def story_record(result: StoryResult, policy: Policy) -> Recorded:
    """The record of a story that was checked; unread, it has no figures."""
    story = result.story
    lock = load_lockfile(story.lockfile) if story.lockfile.exists() else None
    figures: tuple[Figure, ...]
    if isinstance(result.outcome, Unscored):
        figures = unread_figures(policy, result.outcome)
        steps: tuple[Step, ...] = ()
    else:
        reading = result.outcome.value
        figures = reading_figures(reading)
        steps = reading_steps(reading, notary=_notary(lock))
    return Recorded(
        app=STORIES,
        version=short_name(f"{_notary(lock)}, {result.profile}"),
        id=short_name(result.id),
        asked=result.title,
        said=story.prose.body,
        figures=figures,
        steps=steps,
        notes={
            "ludic.kind": "story",
            "ludic.profile": result.profile,
            "ludic.bible": story.front.bible or "",
            "ludic.sha256": story.prose.sha256,
        },
    )


def _notary(lock: Lockfile | None) -> str:
    if lock is None:
        return "unread"
    return "by hand" if lock.notary.kind == "hand" else lock.notary.model or "a model"


def ledger_note(ledger: FactLedger) -> str:
    """A ledger as the attribute `ludic.ledger` carries it."""
    return ledger.model_dump_json(exclude_defaults=True)


def reading_steps(reading: Reading, *, notary: str) -> tuple[Step, ...]:
    """The steps from prose to verdict: extract, score, gate."""
    card = reading.card
    ledger = ledger_note(reading.ledger)
    counts = {
        name: len(getattr(reading.ledger, name)) for name in ("npcs", "events", "hooks", "goals", "mysteries")
    }
    if isinstance(card.gate, Unscored):
        verdict, reasons = "unscored", [card.gate.reason]
    else:
        verdict, reasons = ("passed" if card.gate.passed else "below the gate"), list(card.gate.reasons)
    told = {
        "lpi": "unscored" if isinstance(card.lpi, Unscored) else str(card.lpi),
        "pcv": "unscored" if isinstance(card.pcv, Unscored) else str(card.pcv),
    }
    return (
        Step("extract", {"notary": notary}, counts, notes={"ludic.ledger": ledger}),
        Step("score", {"profile": card.policy.profile}, told, notes={"ludic.profile": card.policy.profile}),
        Step("gate", told, verdict, notes={"ludic.gate.decision": verdict, "ludic.gate.reasons": reasons}),
    )


def session_record(session: Session) -> Recorded:
    """The record of one stress test."""
    plans = "\n\n".join(
        f"{outline.seed}\n"
        + "\n".join(f"- {one.text}{f': {one.role}' if one.role else ''}" for one in outline.emitted)
        for outline in session.outlines
    )
    steps = tuple(
        Step(
            "plan",
            {"seed": outline.seed},
            [one.text for one in outline.emitted],
            kind="generation",
            notes={"ludic.labels": [told.label for told in labels]},
        )
        for outline, labels in zip(session.outlines, session.labels or ((),) * 3, strict=False)
    )
    why = session.unscored
    return Recorded(
        app=SESSIONS,
        version=short_name(_said_by(session)),
        id=short_name(session.story + (f" #{session.repetition}" if session.repetition > 1 else "")),
        asked=f"Three openings of {session.story}",
        said=plans or (why.reason if why else ""),
        figures=session_figures(session),
        steps=steps,
        notes={
            "ludic.kind": "session",
            "ludic.sha256": session.source_sha256,
            "ludic.repetition": session.repetition,
            "ludic.tester": session.tester.name,
            "ludic.judge": session.judge.name,
            "ludic.seeds": session.seeds.sha256,
        },
    )


def _said_by(session: Session) -> str:
    tester, judge = (
        one.name if one.kind == "model" else f"{one.name} ({one.kind})"
        for one in (session.tester, session.judge)
    )
    return tester if tester == judge else f"{tester}; judge {judge}"


def trial_record(folder: Path, checker: Checker | None = None) -> Recorded:
    """The record of a trial of `ludic generate`: a generate, extract, score and gate for each draft that there is."""
    plan = load_model(Plan, read_bytes(folder / PLAN), folder / PLAN)
    checker = checker or Checker()
    steps: list[Step] = []
    body, kind = "", "model"
    figures: tuple[Figure, ...] = ()
    numbers = [at for at in range(plan.passes) if (folder / f"draft-{at}.md").is_file()]
    for number in numbers:
        story = read_story(folder / f"draft-{number}.md")
        by = folder / f"draft-{number}.json"
        written = load_model(Written, read_bytes(by), by) if by.is_file() else None
        kind = written.kind if written else "unknown"
        body = story.prose.body
        steps.append(
            Step(
                "generate",
                {"draft": number},
                body,
                kind="generation",
                notes={
                    "ludic.draft": number,
                    "ludic.model": written.model if written else plan.architect,
                    "ludic.by": kind,
                },
            )
        )
        result = checker.check(story.path)
        if isinstance(result.outcome, Scored):
            figures = reading_figures(
                result.outcome.value, result.unscored if result.state == "unscored" else None
            )
            steps += _decided(reading_steps(result.outcome.value, notary=plan.notary), folder, number)
        else:
            figures = unread_figures(checker.policy_for(story), result.outcome)
    return Recorded(
        app=TRIALS,
        version=short_name(_arm(plan, kind)),
        id=short_name(f"{folder.name}, seed {plan.seed}"),
        asked=f"{plan.bible}: {plan.faction}, {plan.location}"
        + (f"; {plan.request}" if plan.request else ""),
        said=body,
        figures=figures or unread_figures(Policy(), Unscored("unread", "no draft was written")),
        steps=tuple(steps),
        notes={
            "ludic.kind": "trial",
            "ludic.seed": plan.seed,
            "ludic.drafts": len(numbers),
            "ludic.gated": plan.gated,
        },
    )


def _arm(plan: Plan, kind: Kind | str) -> str:
    gate = "gated" if plan.gated else "not gated"
    by = "" if kind == "model" else f" ({kind})"
    return f"{plan.architect}{by}, {plan.arm}, {gate}"


def _decided(steps: tuple[Step, ...], folder: Path, number: int) -> tuple[Step, ...]:
    """The steps of a draft, its gate with what was decided there."""
    file = folder / f"decision-{number}.json"
    if not file.is_file():
        return steps
    found = load_model(Decided, read_bytes(file), file)
    gate = steps[-1]
    notes = {**gate.notes, "ludic.gate.decision": found.decision, "ludic.draft": number}
    return (*steps[:-1], replace(gate, gave=found.decision, notes=notes))
