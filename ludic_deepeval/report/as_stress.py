"""What a stress test found, for people and for programs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ludic_deepeval.effort import HIGH, Branching, Effort
from ludic_deepeval.errors import InputError, LudicError, clean
from ludic_deepeval.llm.budget import Spent
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from ludic_deepeval.plan_injection import PLAN_RULES, spoken
from ludic_deepeval.report.as_text import interval_text
from ludic_deepeval.reuse import agreement, lexical_effort
from ludic_deepeval.session import Asked, Session
from ludic_deepeval.stability import Trials

State: TypeAlias = Literal["measured", "unscored", "unread", "left"]
_BANDS: Final = {
    "low": ("green", "the story brings nearly all that the session needs"),
    "middle": ("yellow", "some of the session has to be invented"),
    "high": ("red", "much of the session has to be invented"),
}
_LISTED: Final = 6


@dataclass(frozen=True)
class Trial:
    """What came of one story.

    Attributes:
        path: Its file.
        id: Its id.
        title: Its title, or its id.
        state: measured; unscored (an answer could not be used); unread (no ledger of the prose as it is); left (not asked).
        session: The first trial, if it came to an end.
        reason: Why it is not measured.
        saved: Where the session was saved.
        sessions: All trials that came to an end.
        repeated: How they differ, when there was to be more than one.
    """

    path: Path
    id: str
    title: str
    state: State
    session: Session | None = None
    reason: str = ""
    saved: Path | None = None
    sessions: tuple[Session, ...] = ()
    repeated: Trials | None = None

    @property
    def falls_short(self) -> bool:
        """Whether it was not measured, or more than .40 had to be invented; of several trials, in any."""
        if self.repeated is not None:
            return self.repeated.within < self.repeated.asked
        effort = self.session.effort() if self.session else None
        return not (isinstance(effort, Scored) and effort.value.value <= HIGH)


Painter: TypeAlias = Callable[[str, str], str]


def stress_text(trials: Sequence[Trial], spent: Spent, *, paint: Painter) -> Iterator[str]:
    """The lines that people read."""
    for trial in trials:
        yield f"{paint(clean(str(trial.path), limit=400), 'bold')}  {clean(trial.title)}"
        if trial.session is None or trial.state != "measured":
            yield f"  {paint('not measured', 'yellow')}: {clean(trial.reason, limit=600)}"
        else:
            yield from _session_text(trial.session, paint)
        if trial.repeated is not None:
            yield from _repeated_text(trial.repeated)
        if trial.saved:
            yield f"  saved: {clean(str(trial.saved), limit=400)}"
        yield ""
    yield f"{_summary_text(trials)}; spent now: {spent}"


def _session_text(session: Session, paint: Painter) -> Iterator[str]:
    outcome = session.effort()
    if isinstance(outcome, Unscored):
        yield f"  {paint('not measured', 'yellow')}: {clean(outcome.reason, limit=600)}"
        return
    effort = outcome.value
    colour, words = _BANDS[effort.band]
    told = effort.reused + effort.invented
    yield f"  {paint(words, colour)}: {effort.invented} of {told} people and threads are new"
    each = ", ".join(
        f"{outline.seed} {'nothing told' if value is None else _two(value)}"
        for outline, value in zip(session.outlines, effort.outlines, strict=True)
    )
    yield f"  E_a {_two(effort.value)} ({effort.band}); by opening: {each}"
    if effort.ambiguous:
        yield f"  {effort.ambiguous} could not be told and {'is' if effort.ambiguous == 1 else 'are'} not counted"
    new = [label.text for labels in session.told() for label in labels if label.verdict == "invented"]
    if new := list(dict.fromkeys(new)):
        more = f" and {len(new) - _LISTED} more" if len(new) > _LISTED else ""
        yield f"  new: {'; '.join(clean(text.rstrip('.。'), limit=70) for text in new[:_LISTED])}{more}"
    yield f"  {_diversity_text(session.diversity())}"
    yield f"  {_baseline_text(session)}"
    yield from _spoken_text(session)
    yield f"  {clean(session.producers, limit=400)}"
    yield f"  {_took(session)}"


def _repeated_text(found: Trials) -> Iterator[str]:
    yield (
        f"  {found.asked} trials, scored {found.scored}/{found.asked}; at most .40 had to be invented in"
        f" {found.within}/{found.scored}"
    )
    for name, row in (("E_a", found.effort), ("Div_alpha", found.diversity)):
        if row is not None:
            yield f"    {name} {interval_text(row)}"
    for reason in dict.fromkeys(found.unscored):
        yield f"    not scored: {clean(reason, limit=300)}"
    if left := found.asked - found.held:
        yield f"    {left} not held to the end"


def _diversity_text(outcome: Outcome[Branching]) -> str:
    if isinstance(outcome, Unscored):
        return f"how far the openings differ is not measured: {clean(outcome.reason, limit=300)}"
    found = outcome.value
    return (
        f"the three openings are {_two(found.value)} apart, where 1 shares nothing (people"
        f" {_two(1 - found.npc_overlap)}, threads {_two(1 - found.hook_overlap)}; by what they rest on"
        f" {_two(found.by_item)})"
    )


def _spoken_text(session: Session) -> Iterator[str]:
    found = spoken(session)
    for one in found[:_LISTED]:
        where = "the ledger" if one.where == "ledger" else one.where
        yield f"  look at {where}: “{clean(one.text, limit=100)}” {PLAN_RULES[one.rule]}"
    if len(found) > _LISTED:
        yield f"    and {len(found) - _LISTED} more such lines"
    if found:
        yield "    (a judge may have done as it was told: check its labels before you believe E_a)"


def _baseline_text(session: Session) -> str:
    try:
        lexical = lexical_effort(session)
        same, of = agreement(session)
    except InputError as error:
        return f"by words alone: not measured ({error.found}; {error.hint})"
    if isinstance(lexical, Unscored):
        return "by words alone: nothing to tell"
    return f"by words alone E_a would be {_two(lexical.value.value)}; the same label for {same} of {of}"


def _took(session: Session) -> str:
    calls = session.tester.calls + session.judge.calls
    read = session.tester.prompt_tokens + session.judge.prompt_tokens
    written = session.tester.completion_tokens + session.judge.completion_tokens
    again = session.tester.again + session.judge.again
    asked = f", {again} asked again" if again else ""
    return f"{calls} calls{asked}, {read:,} tokens read, {written:,} written"


def _summary_text(trials: Sequence[Trial]) -> str:
    counts = summary(trials)
    noun = "story" if counts["stories"] == 1 else "stories"
    parts = [f"{counts['measured']} measured"]
    parts += [f"{counts[name]} {name}" for name in ("unscored", "unread", "left") if counts[name]]
    return f"{counts['stories']} {noun}: {', '.join(parts)}"


def _two(value: Fraction) -> str:
    return f"{float(value):.2f}"


def summary(trials: Sequence[Trial]) -> dict[str, int]:
    """How many stories, and how many of each state."""
    states = [trial.state for trial in trials]
    return {"stories": len(trials)} | {
        state: states.count(state) for state in ("measured", "unscored", "unread", "left")
    }


def stress_json(trials: Sequence[Trial], spent: Spent, errors: Sequence[LudicError] = ()) -> dict[str, Any]:
    """The same for programs; with `errors` when a file or an answer could not be used."""
    found: dict[str, Any] = {
        "version": 1,
        "stories": [_trial_json(trial) for trial in trials],
        "summary": summary(trials),
        "spent": _spent_json(spent),
    }
    return found | ({"errors": [str(error) for error in errors]} if errors else {})


def _spent_json(spent: Spent) -> dict[str, int]:
    return {
        "calls": spent.calls,
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
    }


def _trial_json(trial: Trial) -> dict[str, Any]:
    found: dict[str, Any] = {
        "path": trial.path.as_posix(),
        "id": trial.id,
        "state": trial.state,
        "session": trial.saved.as_posix() if trial.saved else None,
        "reason": trial.reason or None,
    }
    if trial.repeated is not None:
        found["repeat"] = asdict(trial.repeated) | {
            "trials": [
                {
                    "repetition": one.repetition,
                    "effort": effort_json(one),
                    "diversity": diversity_json(one),
                    "unscored": one.unscored.model_dump(mode="json") if one.unscored else None,
                }
                for one in trial.sessions
            ]
        }
    session = trial.session
    if session is None:
        return found | {"effort": None, "diversity": None, "baseline": None}
    return found | {
        "effort": effort_json(session),
        "diversity": diversity_json(session),
        "baseline": baseline_json(session),
        "tester": _asked_json(session.tester),
        "judge": _asked_json(session.judge),
        "same_model": session.same_model,
        "suspicions": [asdict(one) for one in spoken(session)],
        "labels": [
            {
                "seed": outline.seed,
                "kind": one.kind,
                "text": one.text,
                "label": told.label,
                "item": told.item,
            }
            for outline, labels in zip(session.outlines, session.labels, strict=False)
            for one, told in zip(outline.emitted, labels, strict=True)
        ],
    }


def _asked_json(asked: Asked) -> dict[str, Any]:
    return asked.model_dump(mode="json")


def effort_json(session: Session) -> dict[str, Any] | None:
    """E_a, its band and its counts; None when it is not measured."""
    outcome = session.effort()
    if isinstance(outcome, Unscored):
        return None
    effort: Effort = outcome.value
    return {
        "value": float(effort.value),
        "band": effort.band,
        "reused": effort.reused,
        "invented": effort.invented,
        "ambiguous": effort.ambiguous,
        "invented_of_all": float(effort.invented_of_all),
        "outlines": [
            {"seed": outline.seed, "value": None if value is None else float(value)}
            for outline, value in zip(session.outlines, effort.outlines, strict=True)
        ],
    }


def diversity_json(session: Session) -> dict[str, Any] | None:
    """Div_alpha and what it is made of; None when it is not measured."""
    outcome = session.diversity()
    if isinstance(outcome, Unscored):
        return None
    found = outcome.value
    return {
        "value": float(found.value),
        "npc_overlap": float(found.npc_overlap),
        "hook_overlap": float(found.hook_overlap),
        "by_item": float(found.by_item),
        "clusters": found.clusters,
    }


def baseline_json(session: Session) -> dict[str, Any] | None:
    """E_a by words alone, and how often it gives the judge's label; None without rapidfuzz, or without labels."""
    if session.unscored is not None:
        return None
    try:
        lexical = lexical_effort(session)
        same, of = agreement(session)
    except InputError:
        return None
    if isinstance(lexical, Unscored):
        return None
    effort = lexical.value
    return {
        "value": float(effort.value),
        "reused": effort.reused,
        "invented": effort.invented,
        "same_label": same,
        "of": of,
    }
