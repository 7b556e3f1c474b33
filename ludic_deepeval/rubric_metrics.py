"""Rubrics asked by DeepEval's G-Eval: `judge_by`, and `LudicRubricMetric` for test cases (LudicMetrics §4.2, layer 2).

G-Eval is given its steps and never invents any. What it answers is checked again here, since it takes a 47 on a scale to 10:
a score off the scale, or an answer without one, is an error that names it, and never a score.

Beside `metrics` the only module of this package that imports DeepEval's metrics.
"""

import asyncio
import json
from fractions import Fraction
from math import isfinite
from typing import Any, Final, TypeAlias

from deepeval.metrics import GEval  # noqa: TID251  # this module is an adapter
from deepeval.metrics.g_eval import Rubric as Anchor  # noqa: TID251
from deepeval.metrics.g_eval.schema import ReasonScore  # noqa: TID251
from deepeval.metrics.g_eval.utils import calculate_weighted_summed_score  # noqa: TID251
from deepeval.metrics.utils import a_generate_rubric_score  # noqa: TID251
from deepeval.models import DeepEvalBaseLLM  # noqa: TID251
from deepeval.test_case import LLMTestCase, SingleTurnParams  # noqa: TID251

from ludic_deepeval.crosscheck import JudgeCall, Row, compare_one
from ludic_deepeval.errors import InputError, LudicError, ModelError, clean, shown
from ludic_deepeval.judging import Reading
from ludic_deepeval.ledger import DIMENSIONS, Event
from ludic_deepeval.llm.budget import Meter
from ludic_deepeval.llm.client import ChatModel, Request
from ludic_deepeval.llm.deepeval import AsDeepEval
from ludic_deepeval.llm.loop import arun, run
from ludic_deepeval.llm.names import choose_name, open_model
from ludic_deepeval.llm.pool import CONCURRENCY
from ludic_deepeval.metrics.base import LedgerMetric, Measured
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.rubrics import EFFORT, NAMES, Judged, Rubric, RubricKind, judged, reading_for, rubric
from ludic_deepeval.text import Prose

Judge: TypeAlias = ChatModel | DeepEvalBaseLLM | str
_MOST_REASON: Final = 1000


class _GEval(GEval):  # type: ignore[misc]  # DeepEval has no types
    """G-Eval that remembers whether its score is a mean weighted by log-probabilities."""

    weighted = False

    async def _a_evaluate(
        self, test_case: LLMTestCase, multimodal: bool, _additional_context: str | None = None
    ) -> tuple[float, str]:
        prompt = self._results_prompt(test_case, multimodal, _additional_context)
        found: tuple[float, str] = await a_generate_rubric_score(
            metric=self,
            prompt=prompt,
            schema_cls=ReasonScore,
            strict_mode=self.strict_mode,
            top_logprobs=self.top_logprobs,
            weighted_score_fn=self._weigh,
        )
        return found

    def _weigh(self, raw: int, response: Any) -> float:
        score: float = calculate_weighted_summed_score(raw, response)
        self.weighted = True
        return score


def judge_with(
    model: Judge, *, meter: Meter | None = None, concurrency: int = CONCURRENCY, seed: int | None = 0
) -> JudgeCall:
    """Return what asks a model for scores.

    Args:
        model: Any model of this package or of DeepEval, or a name such as `ollama:qwen3:14b`.
        meter: What may be spent; DeepEval's own models are not metered.
        concurrency: How many requests may be under way.
        seed: As in `Request`.
    """
    if isinstance(model, str):
        model = open_model(model)
    asked = model if isinstance(model, DeepEvalBaseLLM) else AsDeepEval(model, meter=meter, seed=seed)

    gate = asyncio.Semaphore(concurrency)

    async def judge(one: Rubric, text: str) -> Judged:
        async with gate:
            return await judge_by(one, text, asked)

    return judge


async def judge_by(one: Rubric, text: str, model: DeepEvalBaseLLM) -> Judged:
    """Have a text scored by a rubric.

    Raises:
        ModelError: No answer that can be used: none, one without a score, or a score off the scale.
    """
    metric = g_eval(one, model)
    name = str(model.get_model_name())
    failure = None
    try:
        await metric.a_measure(LLMTestCase(input=one.name, actual_output=text), _show_indicator=False)
    except ModelError:
        raise
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
    ) as error:  # what DeepEval makes of a wrong answer
        failure = f"the answer is no score by rubric {one.name} ({type(error).__name__})"
    if failure:
        raise ModelError("malformed", name, failure)
    raw = _raw(metric.score, one)
    if raw is None or not one.least <= raw <= 10:
        found = f"the score by rubric {one.name} is {shown(raw)}"
        raise ModelError("malformed", name, f"{found}, off its scale from {one.least} to 10")
    reason = clean(" ".join(str(metric.reason or "").split()), limit=_MOST_REASON)
    return judged(one, raw, weighted=metric.weighted, reason=reason)


def g_eval(one: Rubric, model: DeepEvalBaseLLM) -> _GEval:
    """Return DeepEval's G-Eval for a rubric: fixed steps, and anchors where it has some."""
    anchors = [Anchor(score_range=(least, most), expected_outcome=said) for least, most, said in one.anchors]
    return _GEval(
        name=f"{one.name} ({one.kind})",
        evaluation_steps=list(one.steps),
        evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT],
        rubric=anchors or None,
        model=model,
    )


def request_for(one: Rubric, text: str) -> Request:
    """Return what a judge would be asked, for a preview of the cost."""
    metric = g_eval(one, _Nobody("nobody"))
    case = LLMTestCase(input=one.name, actual_output=text)
    prompt = metric._results_prompt(case, False, None)  # noqa: SLF001  # the same as it asks with
    return Request(prompt=prompt, schema=ReasonScore.model_json_schema(), temperature=0.0, seed=0)


class _Nobody(DeepEvalBaseLLM):  # type: ignore[misc]  # DeepEval has no types
    """Stands in for a model where a prompt is made and nobody is asked."""

    def load_model(self) -> "_Nobody":
        return self

    def get_model_name(self) -> str:
        return "nobody"

    def generate(self, *_: Any, **__: Any) -> str:
        raise NotImplementedError

    async def a_generate(self, *_: Any, **__: Any) -> str:
        raise NotImplementedError


def _raw(score: Any, one: Rubric) -> float | None:
    """The score on the rubric's scale, from the share that G-Eval makes of it."""
    if not isinstance(score, int | float) or isinstance(score, bool) or not isfinite(score):
        return None
    return round(one.least + float(score) * (10 - one.least), 6)


class LudicRubricMetric(LedgerMetric):
    """One figure of the Judge's second layer: a validation instrument and not a scoring path (LudicMetrics §4.2).

    The score is the judge's, as a share in [0, 1]. Higher is better and passes at `threshold` (0.5), except for `e_a`, which is
    lower is better and whose threshold is a ceiling (0.40). `score_breakdown` has the raw score, of what kind it is (weighted by
    log-probabilities, or the raw number: not comparable), and for what arithmetic measures too its figure, the difference and a
    verdict. A judge that gives no score sets `error`.

    Args:
        rubric: rtn, mv, ucr, th, e_a, or a dimension of PCV with `event`.
        model: Who judges: a model of this package or of DeepEval, or a name; None chooses as `choose_name` does.
        kind: `equation` or `paper-4.2`.
        threshold: What the score must reach, or of `e_a` may not exceed.
        event: The id of the event that a dimension is of.
        options: The ledger's, as in the other metrics: `policy`, `profile`, `bible`, `lockfiles`, `notary`.

    For `e_a` the session's outline is `metadata["outline"]`, beside the story and its ledger.
    """

    _title = "Ludic Rubric"

    def __init__(
        self,
        rubric: str,
        model: Judge | None = None,
        kind: RubricKind = "equation",
        threshold: float | None = None,
        event: str | None = None,
        **options: Any,
    ) -> None:
        if rubric not in NAMES:
            raise InputError("rubric", f"found {shown(rubric)}", allowed=", ".join(NAMES))
        if (rubric in DIMENSIONS) != (event is not None):
            found = f"{'no' if event is None else 'an'} event with the rubric {rubric}"
            raise InputError(
                "event", found, allowed=f"an event's id with {', '.join(DIMENSIONS)}, and only there"
            )
        usual = 0.4 if rubric == EFFORT else 0.5
        super().__init__(threshold=usual if threshold is None else threshold, **options)
        self.rubric = rubric
        self.model = model
        self.kind = kind
        self.event = event

    @property
    def __name__(self) -> str:
        return f"{self._title} {self.rubric} ({self.kind})"

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """Do what `measure` does, awaiting the judge."""
        self._forget()
        try:
            return self._settle(await arun(self._asked(test_case)))
        except LudicError as error:
            return self._settle(error)

    def _outcome(self, test_case: LLMTestCase) -> Measured | Unscored:
        return run(self._asked(test_case))

    async def _asked(self, test_case: LLMTestCase) -> Measured:
        story, reading = self._read(test_case)
        one = rubric(self.rubric, self.kind, reading.card.policy)
        event = None
        if self.event is not None:
            event = next((event for event in reading.ledger.events if event.id == self.event), None)
            if event is None:
                ids = ", ".join(event.id for event in reading.ledger.events) or "there are none"
                raise InputError("event", f"found {shown(self.event)}", allowed=ids)
        body = test_case.actual_output or (story.prose.body if story else "")
        outline = (test_case.metadata or {}).get("outline", "")
        text = reading_for(
            one,
            reading.ledger,
            body=Prose(body, front_matter=False).body,
            event=event,
            names=reading.names,
            outline=outline
            if isinstance(outline, str)
            else json.dumps(outline, ensure_ascii=False, indent=1),
        )
        answer = await judge_with(self.model or str(choose_name()))(one, text)
        share = one.share(answer.raw)
        if self.rubric == EFFORT:
            holds = Fraction(str(share)) <= self._least()
        else:
            holds = Fraction(str(share)) >= self._least()
        breakdown = {
            "value": answer.value,
            "raw": answer.raw,
            "score_kind": answer.score_kind,
            "rubric": {"name": one.name, "kind": one.kind, "sha256": one.sha256},
        }
        return Measured(share, holds, breakdown | self._beside(reading, event, answer), answer.reason)

    def _beside(self, reading: Reading, event: Event | None, answer: Judged) -> dict[str, Any]:
        """The arithmetic's figure, where there is one."""
        if self.rubric == EFFORT:
            return {}
        first: Fraction | Unscored
        if event is None:
            first = reading.card.components[self.rubric]
        else:
            value = getattr(event, self.rubric)
            first = Unscored("dimensions", "the event has none") if value is None else Fraction(value)
        row: Row = compare_one(self.rubric, first, answer, self.kind, rounds=event is None)
        return {
            "arithmetic": None if row.first is None else float(row.first),
            "difference": None if row.difference is None else float(row.difference),
            "verdict": row.verdict,
        }
