"""Recorded things into a TruLens database, with their scores and reasons; replaying twice adds nothing. Imports TruLens.

TruLens 2.16 has no call that takes a record with its scores: `add_record` and `TruVirtual` raise, and a log ingestion drops
reasons. So the spans that a running app would have written are written through TruLens's own connector, many in one
transaction: a root, a span a step, and for each figure an evaluation. Their ids are hashes of what they say, and that is
what makes a replay idempotent, also when two run at once. A figure that was not measured is an evaluation that ended in
an error, as when a metric of a running app raises: it has no score, and the dashboard shows none.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from itertools import islice
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import exc as sa_errors
from trulens.core.schema.app import AppDefinition  # noqa: TID251  # this module is an adapter
from trulens.core.schema.event import Event, EventRecordType  # noqa: TID251
from trulens.core.schema.feedback import FeedbackDefinition  # noqa: TID251
from trulens.core.utils import pyschema  # noqa: TID251
from trulens.otel.semconv.trace import ResourceAttributes as Resource  # noqa: TID251
from trulens.otel.semconv.trace import SpanAttributes as Span  # noqa: TID251

from trulens_feedback.database import GuardedConnector, named_errors
from trulens_feedback.figures import Figure, Measure
from trulens_feedback.recorded import Recorded, Step, fit, flat

UNMEASURED: Final = "ludic.unmeasured"
BATCH: Final = 100  # records in one transaction
_TRIES: Final = 5
_MOST_IDS: Final = 500
_TICK: Final = timedelta(microseconds=1)
_OURS: Final = version("ludic-worth")
_KINDS: Final = {
    "retrieval": Span.SpanType.RETRIEVAL,
    "generation": Span.SpanType.GENERATION,
    "unknown": Span.SpanType.UNKNOWN,
}


@dataclass(frozen=True)
class Replayed:
    """What a replay did.

    Attributes:
        records: How many were given.
        added: How many were not in the database yet.
        figures: How many evaluations were added, those without a score among them.
        unmeasured: How many of all given figures have no value.
    """

    records: int = 0
    added: int = 0
    figures: int = 0
    unmeasured: int = 0

    @property
    def known(self) -> int:
        """How many records were there already."""
        return self.records - self.added


def replay(records: Iterable[Recorded], database: GuardedConnector) -> Replayed:
    """Write records with their figures into a database; what is there already is left as it is.

    Raises:
        InputError: The database cannot be written. A hundred records at a time are written whole or not at all.
    """
    done = Replayed()
    rest = iter(records)
    while batch := list(islice(rest, BATCH)):
        with named_errors(database.place):
            one = _write(batch, database)
        done = Replayed(
            done.records + one.records,
            done.added + one.added,
            done.figures + one.figures,
            done.unmeasured + one.unmeasured,
        )
    return done


def _write(batch: Sequence[Recorded], database: GuardedConnector) -> Replayed:
    now = datetime.now()  # noqa: DTZ005  # TruLens keeps local times without a zone
    events = {event.event_id: event for record in batch for event in events_of(record, now)}
    for attempt in range(_TRIES):
        known = _known(list(events), database)
        new = [event for key, event in events.items() if key not in known]
        try:
            if new:
                _insert(batch, new, database)
        except sa_errors.IntegrityError:  # another replay was faster with one of them
            if attempt == _TRIES - 1:
                raise
        else:
            break
    kinds = [event.record_attributes[Span.SPAN_TYPE] for event in new]
    return Replayed(
        records=len({record.digest for record in batch}),
        added=kinds.count(Span.SpanType.RECORD_ROOT.value),
        figures=kinds.count(Span.SpanType.EVAL_ROOT.value),
        unmeasured=sum(figure.value is None for record in batch for figure in record.figures),
    )


def _known(ids: Sequence[str], database: GuardedConnector) -> set[str]:
    event = database.db.orm.Event
    found: set[str] = set()
    with database.db.session.begin() as session:
        for at in range(0, len(ids), _MOST_IDS):
            some = ids[at : at + _MOST_IDS]
            found.update(session.scalars(sa.select(event.event_id).where(event.event_id.in_(some))))
    return found


def _insert(batch: Sequence[Recorded], events: Sequence[Event], database: GuardedConnector) -> None:
    """Write apps, metrics and events in one transaction."""
    orm = database.db.orm
    apps = {(record.app, record.version): record for record in batch}
    measures = {figure.name: figure.measure for record in batch for figure in record.figures}
    with database.db.session.begin() as session:
        for name, app_version in apps:
            session.merge(orm.AppDefinition.parse(app_of(name, app_version)))
        for measure in measures.values():
            session.merge(orm.FeedbackDefinition.parse(definition_of(measure)))
        session.add_all(orm.Event.parse(event) for event in events)


@cache
def app_of(name: str, app_version: str) -> AppDefinition:
    """An app of replayed records."""
    return AppDefinition(
        app_name=name,
        app_version=app_version,
        app={"kind": "replayed"},
        root_class=pyschema.Class.of_class(Recorded),
    )


@cache
def definition_of(measure: Measure) -> FeedbackDefinition:
    """A measure as TruLens keeps metrics: with its direction and what it measures."""
    return FeedbackDefinition(
        supplied_name=measure.name,
        higher_is_better=measure.higher_is_better,
        implementation=pyschema.FunctionOrMethod.of_callable(describe),
        description=describe(measure),
    )


def describe(measure: Measure) -> str:
    """A measure in a line: what it is, its range, its direction."""
    better = "higher" if measure.higher_is_better else "lower"
    return f"{measure.says}; {measure.low:g} to {measure.high:g}, {better} is better"


def events_of(record: Recorded, now: datetime) -> Iterator[Event]:
    """The spans of a record, as TruLens 2.16 writes those of a running app.

    Args:
        record: What was recorded.
        now: When nobody knows when it was made.
    """
    digest = record.digest
    spans = _Spans(record, record.ended.astimezone().replace(tzinfo=None) if record.ended else now, digest)
    root = spans.id("root")
    unmeasured = [f"{figure.name}: {figure.why}" for figure in record.figures if figure.value is None]
    yield spans.event(
        root,
        None,
        f"{record.app}.replay",
        {
            Span.SPAN_TYPE: Span.SpanType.RECORD_ROOT.value,
            Span.RECORD_ROOT.INPUT: record.asked,
            Span.RECORD_ROOT.OUTPUT: record.said,
            **({Span.RECORD_ROOT.ERROR: record.failed} if record.failed else {}),
            Span.CALL.FUNCTION: f"{record.app}.replay",
            f"{Span.CALL.KWARGS}.asked": record.asked,
            Span.CALL.RETURN: record.said,
            **{name: flat(value) for name, value in record.notes.items()},
            # The dashboard shows no metric without a score; here a reader finds why.
            **({UNMEASURED: unmeasured} if unmeasured else {}),
        },
    )
    for number, step in enumerate(record.steps, 1):
        yield spans.event(spans.id(f"step {number}"), root, step.name, _of_step(step), at=number)
    for figure in record.figures:
        yield from _of_figure(figure, spans, root)


def _of_step(step: Step) -> dict[str, Any]:
    found: dict[str, Any] = {
        Span.SPAN_TYPE: _KINDS[step.kind].value,
        Span.CALL.FUNCTION: step.name,
        Span.CALL.RETURN: flat(step.gave),
        **{f"{Span.CALL.KWARGS}.{name}": flat(value) for name, value in step.given.items()},
        **{name: flat(value) for name, value in step.notes.items()},
    }
    if step.kind == "retrieval":
        contexts = flat(step.gave)
        found[Span.RETRIEVAL.QUERY_TEXT] = flat(step.given.get("query", ""))
        found[Span.RETRIEVAL.RETRIEVED_CONTEXTS] = contexts if isinstance(contexts, list) else [str(contexts)]
    return found


def _of_figure(figure: Figure, spans: "_Spans", root: str) -> Iterator[Event]:
    top, below = spans.id(f"eval {figure.name}"), spans.id(f"eval-0 {figure.name}")
    target = {
        Span.EVAL.TARGET_RECORD_ID: spans.record_id,
        Span.EVAL.EVAL_ROOT_ID: top,
        Span.EVAL.METRIC_NAME: figure.name,
    }
    details = {f"{Span.EVAL.METADATA}.{name}": value for name, value in figure.details.items()}
    reason = {f"{Span.EVAL.METADATA}.reason": figure.why, Span.EVAL.EXPLANATION: figure.why}
    if figure.value is None:
        scores: tuple[dict[str, Any], dict[str, Any]] = (
            {Span.EVAL_ROOT.ERROR: figure.why},
            {Span.EVAL.ERROR: figure.why},
        )
    else:
        scores = ({Span.EVAL_ROOT.SCORE: figure.value}, {Span.EVAL.SCORE: figure.value})
    at_root = {
        Span.SPAN_TYPE: Span.SpanType.EVAL_ROOT.value,
        Span.EVAL_ROOT.METRIC_NAME: figure.name,
        Span.EVAL_ROOT.HIGHER_IS_BETTER: figure.measure.higher_is_better,
        f"{Span.EVAL_ROOT.ARGS_SPAN_ID}.said": root,
        f"{Span.EVAL_ROOT.ARGS_SPAN_ATTRIBUTE}.said": Span.RECORD_ROOT.OUTPUT,
    }
    yield spans.event(
        below,
        top,
        "eval-0",
        target | {Span.SPAN_TYPE: Span.SpanType.EVAL.value} | reason | details | scores[1],
    )
    yield spans.event(top, None, "eval_root", target | at_root | reason | details | scores[0])


class _Spans:
    """Makes the events of one record; every id is a hash of the record and of what the span is in it."""

    def __init__(self, record: Recorded, started: datetime, digest: str) -> None:
        self._digest = digest
        # Steps are told apart by their times; a microsecond each keeps their order.
        self._started = started
        self._ended = started + max(timedelta(seconds=record.seconds), len(record.steps) * _TICK)
        self.record_id = digest[:32]
        self._trace = str(int(digest[:32], 16))
        app_id = app_of(record.app, record.version).app_id
        self._resource = {
            Resource.APP_ID: app_id,
            Resource.APP_NAME: record.app,
            Resource.APP_VERSION: record.version,
        }
        self._common = {
            Resource.APP_NAME: record.app,
            Resource.APP_VERSION: record.version,
            Resource.APP_ID: app_id,
            Span.RECORD_ID: self.record_id,
            Span.RUN_NAME: "",
            Span.INPUT_ID: fit(record.id),
            Span.CONVERSATION_ID: fit(
                record.id
            ),  # the dashboard's first column; a story's versions are one thread
        }

    def id(self, what: str) -> str:
        """The id of a span: 64 bits in decimal, as OpenTelemetry's."""
        return str(int(sha256(f"{self._digest} {what}".encode()).hexdigest()[:16], 16))

    def event(
        self, span: str, parent: str | None, name: str, attributes: dict[str, Any], *, at: int = 0
    ) -> Event:
        """An event: the span `at` so many microseconds after its record began, or the record itself."""
        started = self._started + at * _TICK
        return Event(
            event_id=span,
            record={
                "name": name,
                "kind": 1,
                "parent_span_id": parent or "",
                "status": "STATUS_CODE_UNSET",
            },
            record_attributes=self._common | fit(attributes),
            record_type=EventRecordType.SPAN,
            resource_attributes={"service.name": "ludic", "service.version": _OURS} | self._resource,
            start_timestamp=started,
            timestamp=started if at else self._ended,
            trace={"trace_id": self._trace, "parent_id": parent or "", "span_id": span},
        )
