"""What a stress test found as DeepEval metrics: read from a recorded session, or asked of models."""

from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Final

from deepeval.test_case import LLMTestCase  # noqa: TID251  # this package is the adapter

from ludic_deepeval.errors import InputError, LudicError, StaleError, shown
from ludic_deepeval.ledger import load_model
from ludic_deepeval.llm.client import ChatModel, Model
from ludic_deepeval.llm.loop import arun, run
from ludic_deepeval.llm.names import open_model
from ludic_deepeval.metrics.base import LedgerMetric, Measured
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.report.as_stress import baseline_json, diversity_json, effort_json
from ludic_deepeval.session import Session, known_items, load_session
from ludic_deepeval.sources import read_story
from ludic_deepeval.stress import stress
from ludic_deepeval.text import Prose

_WAYS: Final = (
    'give metadata={"session": …} (a Session, a mapping, or the path of a session.json of ludic stress --out),'
    " or give the metric a tester and a judge"
)


class _SessionMetric(LedgerMetric):
    """Base: finds the session, or holds one, and leaves the rest to `_tell`.

    Args:
        threshold: What the score is compared with.
        tester: Who plans the sessions: a model, or its name (`provider:model`).
        judge: Who labels them.
        same_model: Let one model do both.
        repetition: Which of several trials this is.
        options: As for the other metrics; they say where the ledger of a live trial is found.
    """

    _title: ClassVar[str]

    def __init__(
        self,
        threshold: float,
        tester: ChatModel | str | None = None,
        judge: ChatModel | str | None = None,
        same_model: bool = False,
        repetition: int = 1,
        **options: Any,
    ) -> None:
        super().__init__(threshold=threshold, **options)
        self.tester = tester
        self.judge = judge
        self.same_model = same_model
        self.repetition = repetition

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """Do what `measure` does, awaiting the models."""
        self._forget()
        try:
            return self._settle(self._tell(await arun(self._session(test_case))))
        except LudicError as error:
            return self._settle(error)

    def _outcome(self, test_case: LLMTestCase) -> Measured | Unscored:
        return self._tell(run(self._session(test_case)))

    @abstractmethod
    def _tell(self, session: Session) -> Measured | Unscored: ...

    async def _session(self, test_case: LLMTestCase) -> Session:
        metadata: Mapping[str, Any] = test_case.metadata or {}
        if (given := metadata.get("session")) is None:
            return await self._live(test_case)
        session = _loaded(given)
        if test_case.actual_output and Prose(test_case.actual_output).sha256 != session.source_sha256:
            raise StaleError(
                'metadata["session"]', "the prose has changed since it was tested", hint="run: ludic stress"
            )
        if "ledger" in metadata and known_items(self._read(test_case)[1].ledger) != session.known:
            raise StaleError(
                'metadata["session"]', "the ledger has changed since it was tested", hint="run: ludic stress"
            )
        return session

    async def _live(self, test_case: LLMTestCase) -> Session:
        if self.tester is None or self.judge is None:
            raise InputError("test case", "no session of this story", hint=_WAYS)
        story, reading = self._read(test_case)
        prose = Prose(test_case.actual_output) if test_case.actual_output else story.prose if story else None
        if prose is None:
            raise InputError("test case", "no prose to plan a session from", allowed="actual_output")
        models = [open_model(one) if isinstance(one, str) else one for one in (self.tester, self.judge)]
        try:
            return await stress(
                story.id if story else "story",
                prose,
                reading.ledger,
                models[0],
                models[1],
                repetition=self.repetition,
                same_model=self.same_model,
                policy=reading.card.policy,
            )
        finally:
            for model, given in zip(models, (self.tester, self.judge), strict=True):
                if isinstance(given, str) and isinstance(model, Model):
                    await model.aclose()


def _loaded(given: object) -> Session:
    if isinstance(given, Session):
        return given
    if isinstance(given, str | Path):
        return load_session(Path(given))
    if isinstance(given, Mapping):
        return load_model(Session, dict(given), 'metadata["session"]')
    raise InputError('metadata["session"]', f"found {shown(given)}", allowed="a Session, a mapping or a path")


def session_case(story: str | Path, session: str | Path) -> LLMTestCase:
    """Return the test case of a recorded session: the story's prose as `actual_output`, ledger and session in the metadata."""
    read = read_story(Path(story))
    return LLMTestCase(
        name=read.id,
        input=read.front.title or read.id,
        actual_output=read.prose.body,
        metadata={"ledger": str(read.lockfile), "session": str(session)},
    )


class AdaptationEffortMetric(_SessionMetric):
    """Adaptation Effort, E_a (LudicMetrics Eq 12): #Invented / (#Reused + #Invented), pooled over three outlines.

    Range [0, 1], **lower is better**: `threshold` is a ceiling, like that of DeepEval's Bias, and .40 by default, where §4.4
    begins to speak of substantial invention. It passes at or below the ceiling, compared exactly; `strict_mode` makes it 0.
    `score_breakdown` has the counts, each outline's value, and the lexical baseline beside it.
    """

    _title = "Adaptation Effort"

    def __init__(self, threshold: float = 0.4, strict_mode: bool = False, **options: Any) -> None:
        super().__init__(threshold, strict_mode=strict_mode, **options)
        if strict_mode:
            self.threshold = 0.0

    def _tell(self, session: Session) -> Measured | Unscored:
        outcome = session.effort()
        if isinstance(outcome, Unscored):
            return outcome
        effort = outcome.value
        baseline = baseline_json(session)
        breakdown = {
            "effort": effort_json(session),
            "baseline": baseline,
            "tester": session.tester.model_dump(mode="json"),
            "judge": session.judge.model_dump(mode="json"),
        }
        told = effort.reused + effort.invented
        note = (
            f"E_a {float(effort.value):.2f} ({effort.band}; the ceiling is {self.threshold:g}): {effort.invented} of"
            f" {told} people and threads had to be invented"
        )
        if effort.ambiguous:
            note += f", {effort.ambiguous} could not be told"
        if baseline:
            note += f"; by words alone {baseline['value']:.2f}"
        return Measured(
            float(effort.value), effort.value <= self._least(), breakdown, f"{note}; {session.producers}."
        )


class BranchingDiversityMetric(_SessionMetric):
    """Branching Diversity, Div_alpha (LudicMetrics §5.5): how far three openings of one story differ.

    Range [0, 1], higher is more divergent. Nobody has calibrated a threshold, so the default of 0 passes whatever was measured.
    `score_breakdown` has the overlaps of people and threads, the same measure by ledger item, and the count of clusters.
    """

    _title = "Branching Diversity"

    def __init__(self, threshold: float = 0.0, **options: Any) -> None:
        super().__init__(threshold, **options)

    def _tell(self, session: Session) -> Measured | Unscored:
        outcome = session.diversity()
        if isinstance(outcome, Unscored):
            return outcome
        found = outcome.value
        people, threads, by_item = (
            float(one) for one in (1 - found.npc_overlap, 1 - found.hook_overlap, found.by_item)
        )
        note = (
            f"Div_alpha {float(found.value):.2f} (people {people:.2f}, threads {threads:.2f}; by what they rest on"
            f" {by_item:.2f}); {session.producers}."
        )
        holds = found.value >= Fraction(self._least())
        return Measured(float(found.value), holds, {"diversity": diversity_json(session)}, note)
