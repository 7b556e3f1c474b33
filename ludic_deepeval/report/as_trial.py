"""What `ludic generate` says of trials: lines for people, JSON for programs. Nothing is computed here."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from ludic_deepeval.architect import Draft, Trial
from ludic_deepeval.contrast import FIGURES, Cell, Contrast
from ludic_deepeval.errors import ModelError, clean
from ludic_deepeval.ledger import PHASE_NAMES
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.report.as_json import card_json
from ludic_deepeval.report.margin import count
from ludic_deepeval.rewrite_failures import Cascade, Quiet
from ludic_deepeval.rewrites import Added, Met, Rewrite
from ludic_deepeval.scoring import ScoreCard, decimal
from ludic_deepeval.trial import Plan, Result

_KINDS: Final = {
    "npcs": ("person", "people"),
    "hooks": ("thread", "threads"),
    "goals": ("goal", "goals"),
    "events": ("event", "events"),
    "mysteries": ("mystery", "mysteries"),
}
_MOST: Final = 6


def plan_text(plan: Plan, faction: str, location: str) -> str:
    """What a trial is about, in a line."""
    prompt = "the Architect of Hooks" if plan.arm == "architect" else "the control prompt"
    rewrites = count(plan.max_iter, "rewrite", "rewrites")
    gate = "not gated" if not plan.gated else f"up to {rewrites}" if plan.max_iter else rewrites
    return f"seed {plan.seed}: {faction}, {location}; {prompt}, {gate}"


def figures_text(card: ScoreCard) -> str:
    """LPI with its parts, and PCV."""
    parts = ", ".join(
        f"{name.upper()} {decimal(value)}"
        for name, value in card.components.items()
        if not isinstance(value, Unscored)
    )
    lpi = "not measured" if isinstance(card.lpi, Unscored) else decimal(card.lpi, card.policy.lpi_threshold)
    needed = card.policy.pcv_threshold
    pcv = "not measured" if isinstance(card.pcv, Unscored) else decimal(card.pcv, needed, places=0)
    return f"LPI {lpi} ({parts}), PCV {pcv} ({decimal(needed, places=0)} needed)"


def draft_text(draft: Draft, faction: str, location: str) -> Iterator[str]:
    """One draft: its verdict, its figures, and what the rewrite did."""
    name = "first draft" if draft.number == 0 else f"rewrite {draft.number}"
    by = "" if draft.written.kind == "model" else f" [{draft.written.kind}, not a model's]"
    if draft.unscored is not None:
        yield f"{name}{by}: not scored ({draft.unscored.cause}): {clean(draft.unscored.reason, limit=300)}"
        return
    yield f"{name}{by}: {'ready to play' if draft.passed else 'below the gate'}"
    yield f"  {figures_text(draft.card)}"
    faults = (draft.decided.figures or {}).get("consistency", {}).get("faults", [])
    for fault in faults[:_MOST]:
        yield f"  contradiction: {clean(fault['message'], limit=300)}"
    if draft.decided.rewrite is not None:
        yield from _rewrite_text(draft.decided.rewrite, faction, location)


def _rewrite_text(rewrite: Rewrite, faction: str, location: str) -> Iterator[str]:
    asked = {
        "person": f"a new person, alive, for or against {faction}",
        "hook": f"an urgent thread with that person, to be met at {location}",
        "goal": "a new goal",
    }
    for met in rewrite.demands:
        yield f"  asked for {asked[met.demand]}: {_met_text(met)}"
    if rewrite.added:
        loose = [one for one in rewrite.added if not one.anchors]
        told = ", ".join(
            count(number, *words)
            for kind, words in _KINDS.items()
            if (number := sum(one.list == kind for one in rewrite.added))
        )
        yield f"  new: {told}; {len(rewrite.added) - len(loose)} of {len(rewrite.added)} rest on the Story Bible"
        yield from _listed("nothing in the bible under", [_named(one) for one in loose])
        unknown = sorted({given for one in rewrite.added for given in one.unknown})
        yield from _listed("not in the bible", [f"“{clean(one, limit=80)}”" for one in unknown])
    else:
        yield "  new: nothing"
    if rewrite.lost:
        told = ", ".join(
            count(number, *words)
            for kind, words in _KINDS.items()
            if (number := sum(one.list == kind for one in rewrite.lost))
        )
        yield f"  gone: {told}"


def _met_text(met: Met) -> str:
    if not met.met:
        return "no"
    found = f"“{clean(met.text or '', limit=120)}”"
    if met.demand == "hook" and not met.new_person:
        return f"{found}, but about somebody whom the draft had already"
    return f"{found}, more urgent than it was" if met.promoted else found


def _named(one: Added) -> str:
    return f"{_KINDS[one.list][0]} “{clean(one.text, limit=60)}”"


def _listed(label: str, items: list[str]) -> Iterator[str]:
    if items:
        more = f" and {len(items) - _MOST} more" if len(items) > _MOST else ""
        yield f"    {label}: {', '.join(items[:_MOST])}{more}"


def end_text(trial: Trial) -> Iterator[str]:
    """How a trial ended, and whether rewriting failed in one of its two ways."""
    result = trial.result
    rewrites = count(result.rewrites, "rewrite", "rewrites")
    yield {
        "accept": f"ready to play after {rewrites}",
        "exhausted": f"still below the gate after {rewrites}",
        "not-gated": "not gated: the first draft stands as it is",
        "unscored": "ended without a score: whether to rewrite cannot be told",
        "rewrite": "not finished",
    }[result.ended]
    if result.cascade and result.cascade.found:
        yield f"rewrite cascade (§5.5): {'; '.join(_cascade_signs(result.cascade))}"
    if result.quiet and result.quiet.found:
        yield _quiet_text(result.quiet)


def _cascade_signs(found: Cascade) -> Iterator[str]:
    if found.near_identical:
        yield "every rewrite says nearly what the one before it said"
    if found.phases_lost:
        yield f"less is left of {', '.join(PHASE_NAMES[phase] for phase in found.phases_lost)}"
    if found.falling:
        yield "LPI fell"


def _quiet_text(found: Quiet) -> str:
    loose = count(found.unanchored, "person or thread", "people and threads")
    return (
        f"quiet failure (§5.5): it passed by {loose} that rest on nothing in the Story Bible, against {found.anchored:+d} that"
        " do; a game master will have to make up the world around them"
    )


def trial_json(
    plan: Plan,
    drafts: Sequence[Draft],
    result: Result | None,
    folder: Path,
    *,
    stopped: ModelError | KeyboardInterrupt | None = None,
) -> dict[str, Any]:
    """One trial for programs: what `run.json`, the decisions and `result.json` say, or what there is of them and what ended it."""
    why = None
    if stopped is not None:
        kind = stopped.kind if isinstance(stopped, ModelError) else "interrupted"
        why = {"kind": kind, "message": str(stopped) or "interrupted"}
    return {
        "version": 1,
        "folder": folder.as_posix(),
        "plan": plan.model_dump(mode="json"),
        "drafts": [
            draft.decided.model_dump(mode="json")
            | {"written": draft.written.model_dump(mode="json"), "read": draft.read.model_dump(mode="json")}
            for draft in drafts
        ],
        "result": result.model_dump(mode="json") if result else None,
        "stopped": why,
    }


# Two arms


def contrast_text(found: Contrast) -> Iterator[str]:
    """The table, the means, and what they are worth."""
    yield f"{'':<11}{'seed':>5}  {'':<38}{''.join(f'{name.upper():>7}' for name in FIGURES)}  gate"
    for cell in found.cells:
        about = clean(f"{cell.faction}, {cell.location}", limit=36)
        head = f"{cell.arm:<11}{cell.seed:>5}  {about:<38}"
        if cell.card is None:
            yield f"{head} not scored: {clean(cell.why, limit=200)}"
        else:
            yield f"{head}{''.join(f'{_cell(cell, name):>7}' for name in FIGURES)}  {'passed' if cell.passed else 'below'}"
    for arm in found.arms:
        told = "".join(f"{_mean(arm.means[name], name):>7}" for name in FIGURES)
        yield f"{f'mean of {arm.scored} {arm.arm}':<56}{told}  {arm.passed} of {arm.scored}"
    told = "".join(f"{_mean(found.difference(name), name, sign=True):>7}" for name in FIGURES)
    yield f"{'architect less control':<56}{told}"
    yield ""
    yield from found.caution


def _cell(cell: Cell, name: str) -> str:
    return _mean(cell.figure(name), name)


def _mean(value: Any, name: str, *, sign: bool = False) -> str:
    if value is None:
        return "–"
    text = decimal(value, places=0 if name == "pcv" else 2)
    return f"+{text}" if sign and value > 0 else text


def contrast_json(found: Contrast) -> dict[str, Any]:
    """The contrast for programs."""

    def number(value: Any) -> float | None:
        return None if value is None else float(value)

    return {
        "version": 1,
        "drafts": [
            {
                "arm": cell.arm,
                "seed": cell.seed,
                "faction": cell.faction,
                "location": cell.location,
                "figures": card_json(cell.card) if cell.card else None,
                "unscored": cell.why or None,
            }
            for cell in found.cells
        ],
        "arms": [
            {
                "arm": arm.arm,
                "drafts": arm.drafts,
                "scored": arm.scored,
                "passed": arm.passed,
                "means": {name: number(value) for name, value in arm.means.items()},
                "ranges": {
                    name: None if span is None else [number(span[0]), number(span[1])]
                    for name, span in arm.ranges.items()
                },
            }
            for arm in found.arms
        ],
        "difference": {name: number(found.difference(name)) for name in FIGURES},
        "caution": list(found.caution),
    }
