"""Our figures as TruLens `Metric`s: of a ledger, of a stress test, of a reply to a mystery, and the RAG triad. Imports TruLens.

A metric reads what an app noted on the root span of its record (`notes.note`): the ledger, the session, the ids of the chunks;
or the record's own output. Each has a direction, a range and a reason; a value that could not be measured raises `Unmeasured`,
which TruLens keeps as an evaluation with an error and no score. TruLens tells results apart by the metric's name, so the name
carries what makes two results incomparable: other weights, another threshold, another episode, another judge.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from trulens.core import Metric, Selector  # noqa: TID251  # this module is an adapter
from trulens.core.utils import pyschema  # noqa: TID251
from trulens.otel.semconv.trace import SpanAttributes as Span  # noqa: TID251

from ludic_deepeval.bible import Bible
from ludic_deepeval.consistency import check_consistency
from ludic_deepeval.errors import InputError, LudicError
from ludic_deepeval.judging import Reading
from ludic_deepeval.ledger import load_ledger, load_model
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import score_ledger
from ludic_deepeval.session import Session
from trulens_feedback.figures import (
    DIVERSITY,
    EFFORT,
    Figure,
    Measure,
    reading_figures,
    reading_measures,
    session_figures,
    worth_figures,
    worth_measures,
)
from trulens_feedback.notes import CHUNKS, LEDGER, PHASE, SESSION
from trulens_feedback.replay import describe
from trulens_feedback.retrieval import Chunk, chunks_of
from trulens_feedback.setting import Setting
from trulens_feedback.statements import Background
from trulens_feedback.triad import Judge, answer_relevance, context_relevance, groundedness
from trulens_feedback.triad_figures import answer_figure, context_figure, groundedness_figure, triad_measures
from worth_deepeval.episode import Sheet
from worth_deepeval.scoring import score_text

Compute = Callable[..., Figure]
_KEPT: Final = 64


class Unmeasured(Exception):  # noqa: N818  # what it says is no fault of the program
    """A metric that has no value; TruLens keeps its words as the evaluation's error, and no score."""


def make_metric(measure: Measure, compute: Compute, selectors: Mapping[str, Selector]) -> Metric:
    """Make a TruLens metric that no record and no database can be spoilt by.

    Args:
        measure: Its name, direction and range.
        compute: Called with what the selectors found, by name; returns a figure of this measure.
        selectors: What it is computed from.

    Returns:
        A metric that gives a finite score in its range with a reason, or raises `Unmeasured` (`unmeasured (CAUSE): …`), also when
        `compute` raises.
    """

    def implementation(**found: Any) -> tuple[float, dict[str, Any]]:
        try:
            figure = compute(**found)
        except LudicError as error:
            raise Unmeasured(f"unmeasured (model): {error}") from None
        except Exception as error:
            raise Unmeasured(f"unmeasured (model): {type(error).__name__} in the metric: {error}") from error
        if figure.value is None:
            raise Unmeasured(figure.why)
        return figure.value, {"reason": figure.reason, **figure.details}

    return Metric(
        imp=_with_parameters(implementation, list(selectors)),
        implementation=pyschema.FunctionOrMethod.of_callable(describe),
        name=measure.name,
        higher_is_better=measure.higher_is_better,
        metric_type=measure.name,
        description=describe(measure),
        selectors=dict(selectors),
    )


def _with_parameters(function: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """Give a function the signature that TruLens checks its selectors against."""
    import inspect  # noqa: PLC0415  # nobody else needs it

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    function.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]  # functions have one
    return function


def on_root(attribute: str) -> Selector:
    """What an app noted on the root of its record; None where it noted nothing, which a metric then tells."""
    return Selector(span_type=Span.SpanType.RECORD_ROOT, span_attribute=attribute)


def story_metrics(policy: Policy | None = None, bible: Bible | None = None) -> list[Metric]:
    """LPI, RTN, MV, UCR, TH, PCV and consistency of the ledger that the app noted as `ludic.ledger`.

    Args:
        policy: Weights and thresholds; by default the paper's.
        bible: What its names and laws are read from.
    """
    policy = policy or Policy()
    names = bible.names if bible else ()

    @lru_cache(_KEPT)
    def figures(ledger: str) -> Mapping[str, Figure]:
        facts = load_ledger(ledger.encode(), LEDGER)
        reading = Reading(
            facts, score_ledger(facts, policy, names=names), check_consistency(facts, bible), names
        )
        return {one.name: one for one in reading_figures(reading)}

    return [_noted(measure, figures, LEDGER, "ledger") for measure in reading_measures(policy).values()]


def session_metrics() -> list[Metric]:
    """E_a (lower is better) and Div_alpha of the session that the app noted as `ludic.session`."""

    @lru_cache(_KEPT)
    def figures(session: str) -> Mapping[str, Figure]:
        found = load_model(Session, session.encode(), SESSION)
        return {one.name: one for one in session_figures(found)}

    return [_noted(measure, figures, SESSION, "session") for measure in (EFFORT, DIVERSITY)]


def worth_metrics(sheet: Sheet, *, discovery: bool = True) -> list[Metric]:
    """Clue, participant and total of one episode; the record's output is the raw reply.

    Args:
        sheet: The episode with its key. Its id is in each name; the app's version is to carry it, too (`app_version`).
        discovery: False where the key's sentences were shown.
    """
    episode = sheet.episode.id

    @lru_cache(_KEPT)
    def figures(reply: str) -> Mapping[str, Figure]:
        _, outcome = score_text(reply, sheet)
        return {one.name: one for one in worth_figures(episode, outcome, discovery=discovery)}

    selector = Selector.select_record_output()
    return [
        make_metric(measure, _one_of(figures, measure, "output"), {"given": selector})
        for measure in worth_measures(episode)
    ]


def worth_version(sheet: Sheet, model: str) -> str:
    """The app version of an episode's replies: points of two episodes must never share one."""
    return f"{sheet.episode.id} {sheet.episode.version}, {model}"


def triad_metrics(setting: Setting, judge: Judge, policy: Policy | None = None) -> list[Metric]:
    """The RAG triad over a Story Bible, judged by our own judge: no `eval`, no downloads, one reason a statement.

    Context relevance is evaluated for every retrieval span, groundedness for the record's output against the chunks that the app
    noted as `ludic.chunks`, answer relevance for its output against its input.
    """
    known = {chunk.id: chunk for chunk in chunks_of(setting.bible)}
    context, grounded, answer = triad_measures(judge.name)

    def chunks(ids: Any) -> tuple[Chunk, ...] | None:
        if ids is None:
            return None
        wanted = json.loads(ids) if isinstance(ids, str) else list(ids)
        missing = [one for one in wanted if one not in known]
        if missing:
            raise InputError(CHUNKS, f"no chunk {missing[0]} in {setting.id}")
        return tuple(known[one] for one in wanted)

    def of_context(query: str, ids: Any, phase: str | None) -> Figure:
        return context_figure(context_relevance(query or "", chunks(ids), setting, judge), phase or "")

    def of_output(prose: str, ids: Any, ledger: str | None) -> Figure:
        facts = load_ledger(ledger.encode(), LEDGER) if ledger else None
        background = Background(facts, policy=policy)
        return groundedness_figure(
            groundedness(prose or "", chunks(ids), setting, judge, background=background)
        )

    def of_answer(asked: str, prose: str) -> Figure:
        return answer_figure(answer_relevance(asked or "", prose or "", judge), judge.name)

    retrieval = Span.SpanType.RETRIEVAL
    return [
        make_metric(
            context,
            of_context,
            {
                "query": Selector(span_type=retrieval, span_attribute=Span.RETRIEVAL.QUERY_TEXT),
                "ids": Selector(span_type=retrieval, span_attribute=CHUNKS),
                "phase": Selector(span_type=retrieval, span_attribute=PHASE),
            },
        ),
        make_metric(
            grounded,
            of_output,
            {
                "prose": Selector.select_record_output(),
                "ids": on_root(CHUNKS),
                "ledger": on_root(LEDGER),
            },
        ),
        make_metric(
            answer,
            of_answer,
            {"asked": Selector.select_record_input(), "prose": Selector.select_record_output()},
        ),
    ]


def _noted(
    measure: Measure, figures: Callable[[str], Mapping[str, Figure]], attribute: str, what: str
) -> Metric:
    return make_metric(measure, _one_of(figures, measure, what), {"given": on_root(attribute)})


def _one_of(figures: Callable[[str], Mapping[str, Figure]], measure: Measure, what: str) -> Compute:
    def compute(given: Any) -> Figure:
        if not isinstance(given, str):
            return Figure(measure, Unscored("unread", f"the record has no {what}"), "")
        return figures(given)[measure.name]

    return compute
