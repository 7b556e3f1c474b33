"""The Architect and the gate loop (LudicMetrics §4.2, 4.5): a model writes, the Notary reads, arithmetic decides.

A draft below the gate goes back to the Architect under INSTABILITY_PROMPT, until one passes or `max_iter` rewrites are
spent. The gate asks no model. Faction and place are drawn from the Story Bible by the trial's seed, so that trials of one
seed are about the same in every arm.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from time import monotonic
from typing import Any, TypeAlias

from ludic_deepeval.bible import Bible
from ludic_deepeval.consistency import check_consistency
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.llm.budget import Meter
from ludic_deepeval.llm.client import ChatModel
from ludic_deepeval.lockfile import Lockfile
from ludic_deepeval.notary import extract
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.report.as_json import card_json, fault_json
from ludic_deepeval.rewrite_failures import cascade, quiet_failure
from ludic_deepeval.rewrites import compare_drafts
from ludic_deepeval.scoring import Gate, ScoreCard, score_ledger
from ludic_deepeval.sources import Story
from ludic_deepeval.trial import (
    Cost,
    Decided,
    Decision,
    Plan,
    Read,
    Result,
    TrialFolder,
    Written,
)
from ludic_deepeval.trial_plan import Setting, draft_request, node_of


@dataclass(frozen=True)
class Draft:
    """One draft of a trial, read and judged.

    Attributes:
        number: 0 for the first.
        story: Its prose, in its file.
        written: Who wrote it.
        read: What reading it took.
        lock: Its lockfile.
        card: Its scores.
        unscored: Why it has none.
        decided: What was decided about it.
    """

    number: int
    story: Story
    written: Written
    read: Read
    lock: Lockfile
    card: ScoreCard
    unscored: Unscored | None
    decided: Decided

    @property
    def ledger(self) -> FactLedger:
        """What it says."""
        return self.lock.ledger

    @property
    def lpi(self) -> Fraction:
        """Its LPI; of a draft that is scored."""
        assert isinstance(self.card.lpi, Fraction)  # noqa: S101  # see above
        return self.card.lpi

    @property
    def passed(self) -> bool:
        """Whether it passed the gate."""
        return self.unscored is None and isinstance(self.card.gate, Gate) and self.card.gate.passed


OnDraft: TypeAlias = Callable[[Draft], None]


@dataclass(frozen=True)
class Trial:
    """A trial that came to its end.

    Attributes:
        plan: What was set.
        drafts: Every draft, in order.
        result: How it ended.
    """

    plan: Plan
    drafts: tuple[Draft, ...]
    result: Result


async def run_trial(
    plan: Plan,
    setting: Setting,
    folder: TrialFolder,
    *,
    architect: ChatModel,
    notary: ChatModel,
    meter: Meter | None = None,
    on_draft: OnDraft = lambda _: None,
) -> Trial:
    """Run a trial, or go on with it; everything is kept as soon as it is there.

    Args:
        plan: What was set.
        setting: Bible and policy, which the plan was made from.
        folder: Where it is kept.
        architect: Who writes.
        notary: Who reads.
        meter: What may be spent.
        on_draft: Told of each draft once it is judged.

    Raises:
        InputError: The folder holds another run, or was changed.
        ModelError: No answer that can be used, or the budget is spent; what was done before is kept.
    """
    folder.begin(plan)
    meter = meter or Meter()
    drafts: list[Draft] = []
    for number in range(plan.passes):
        story, written = folder.story(number) or await _write(plan, setting, folder, drafts, architect, meter)
        lock, read = folder.lock(number, story) or await _read(number, story, setting, folder, notary, meter)
        draft = _judged(number, story, written, lock, read, plan, setting, drafts)
        folder.keep_decision(draft.decided)
        drafts.append(draft)
        on_draft(draft)
        if draft.decided.decision != "rewrite":
            break
    trial = Trial(plan, tuple(drafts), _result(drafts, setting.bible))
    folder.keep_result(trial.result)
    return trial


async def _write(
    plan: Plan,
    setting: Setting,
    folder: TrialFolder,
    drafts: list[Draft],
    architect: ChatModel,
    meter: Meter,
) -> tuple[Story, Written]:
    request, prompt = draft_request(plan, setting, drafts[-1].story.prose.body if drafts else None)
    completion = await architect.ask(request, meter)
    asked = sha256(request.prompt.encode("utf-8")).hexdigest()
    return folder.keep_draft(len(drafts), completion, architect.producer, prompt, asked)


async def _read(
    number: int, story: Story, setting: Setting, folder: TrialFolder, notary: ChatModel, meter: Meter
) -> tuple[Lockfile, Read]:
    before, started = meter.spent, monotonic()
    found = await extract(story.prose, notary, setting.reading, meter=meter)
    spent = meter.spent.since(before)
    read = Read(
        model=notary.name,
        kind=notary.producer.kind,
        asked_again=found.asked_again,
        ungrounded=len(found.lock.ungrounded),
        repairs=found.repairs,
        cost=Cost(
            calls=spent.calls,
            prompt_tokens=spent.prompt_tokens,
            completion_tokens=spent.completion_tokens,
            cached_tokens=spent.cached_tokens,
        ),
        seconds=round(monotonic() - started, 3),
    )
    folder.keep_lock(number, story, found.lock, read)
    return found.lock, read


def _judged(
    number: int,
    story: Story,
    written: Written,
    lock: Lockfile,
    read: Read,
    plan: Plan,
    setting: Setting,
    drafts: list[Draft],
) -> Draft:
    bible = setting.bible
    card = score_ledger(lock.ledger, setting.policy, names=bible.names)
    unscored = lock.too_little_grounded or (card.gate if isinstance(card.gate, Unscored) else None)
    passed = unscored is None and isinstance(card.gate, Gate) and card.gate.passed
    rewrite = None
    if drafts:
        faction, location = node_of(bible, plan.faction), node_of(bible, plan.location)
        rewrite = compare_drafts(drafts[-1].ledger, lock.ledger, bible, faction=faction, location=location)
    decided = Decided(
        number=number,
        decision=decide(plan, number, passed=passed, unscored=unscored is not None),
        lpi=str(card.lpi) if unscored is None else None,
        pcv=str(card.pcv) if unscored is None else None,
        figures=_figures(card, lock.ledger, bible) if unscored is None else None,
        unscored={"cause": unscored.cause, "reason": unscored.reason} if unscored else None,
        rewrite=rewrite,
    )
    return Draft(number, story, written, read, lock, card, unscored, decided)


def _figures(card: ScoreCard, ledger: FactLedger, bible: Bible) -> dict[str, Any]:
    report = check_consistency(ledger, bible)
    faults = [fault_json(fault) for fault in report.faults]
    return card_json(card) | {"consistency": {"score": report.score, "faults": faults}}


def decide(plan: Plan, number: int, *, passed: bool, unscored: bool) -> Decision:
    """What becomes of a draft: the gate alone decides, and of a draft that nobody could score it decides nothing."""
    if unscored:  # nobody knows whether it falls short, so nothing is asked of the Architect
        return "unscored"
    if not plan.gated:
        return "not-gated"
    if passed:
        return "accept"
    return "rewrite" if number < plan.max_iter else "exhausted"


def _result(drafts: list[Draft], bible: Bible) -> Result:
    last = drafts[-1]
    scored = [draft for draft in drafts if draft.unscored is None]
    rewritten = len(scored) > 1
    return Result(
        ended=last.decided.decision,
        passed=None if last.unscored else last.passed,
        rewrites=len(drafts) - 1,
        cascade=cascade(scored) if rewritten else None,
        quiet=quiet_failure(scored, bible) if rewritten else None,
    )
