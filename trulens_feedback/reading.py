"""Reading records back out of a TruLens database, each figure with its reason. Imports TruLens."""

import math
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from trulens.otel.semconv.trace import ResourceAttributes as Resource  # noqa: TID251  # this module is an adapter
from trulens.otel.semconv.trace import SpanAttributes as Span  # noqa: TID251

from trulens_feedback.board import Did, Evaluation, Seen
from trulens_feedback.database import GuardedConnector, named_errors

_ROOT = Span.SpanType.RECORD_ROOT.value
_EVAL_ROOT = Span.SpanType.EVAL_ROOT.value
_ASIDE = {Span.SpanType.EVAL.value, Span.SpanType.EVAL_DECISION.value}
DECISION = "ludic.gate.decision"
REASONS = "ludic.gate.reasons"


def read_records(
    database: GuardedConnector, *, app: str | None = None, ids: set[str] | None = None
) -> list[Seen]:
    """Return every record, newest first, whoever wrote it.

    Args:
        database: Where.
        app: Only those of this app.
        ids: Only those with these record ids.

    Raises:
        InputError: The database cannot be read: locked, gone, or spoilt by a record of another program.
    """
    event = database.db.orm.Event
    spans: dict[str, list[Any]] = {}
    query = sa.select(
        event.record_attributes,
        event.record,
        event.start_timestamp,
        event.event_id,
        event.resource_attributes,
    ).order_by(event.start_timestamp, event.timestamp.desc())
    with named_errors(database.place), database.db.session.begin() as session:
        for row in session.execute(query):
            record_id = row[0].get(Span.RECORD_ID)
            if record_id and (ids is None or record_id in ids):
                spans.setdefault(record_id, []).append(row)
    found = [one for record_id, rows in spans.items() for one in _record(record_id, rows)]
    found = [one for one in found if app is None or one.app == app]
    return sorted(found, key=lambda one: (-one.when.timestamp(), one.app, one.version, one.id))


def _record(record_id: str, rows: list[Any]) -> Iterator[Seen]:
    root = next((row for row in rows if row[0].get(Span.SPAN_TYPE) == _ROOT), None)
    if root is None:  # spans of a record that is still being made
        return
    attributes = root[0]
    resource = root[4] or {}
    evaluations = [row for row in rows if row[0].get(Span.SPAN_TYPE) == _EVAL_ROOT]
    steps = [row for row in rows if row[0].get(Span.SPAN_TYPE) not in {_ROOT, _EVAL_ROOT, *_ASIDE}]
    yield Seen(
        record_id=record_id,
        app=str(resource.get(Resource.APP_NAME) or attributes.get(Resource.APP_NAME, "")),
        version=str(resource.get(Resource.APP_VERSION) or attributes.get(Resource.APP_VERSION, "")),
        id=str(attributes.get(Span.INPUT_ID) or record_id),
        asked=str(attributes.get(Span.RECORD_ROOT.INPUT, "")),
        said=str(attributes.get(Span.RECORD_ROOT.OUTPUT, "")),
        when=root[2],
        evaluations=tuple(_evaluations(evaluations)),
        steps=tuple(map(_did, steps)),
        failed=str(attributes.get(Span.RECORD_ROOT.ERROR, "")),
    )


def _did(row: Any) -> Did:
    attributes = row[0]
    reasons = attributes.get(REASONS, [])
    name = str(row[1].get("name", "")).rpartition(".")[2]
    return Did(
        name,
        str(attributes.get(DECISION, "")),
        tuple(reasons) if isinstance(reasons, list) else (str(reasons),),
        str(attributes.get(Span.CALL.ERROR, "")),
    )


def _evaluations(rows: list[Any]) -> Iterator[Evaluation]:
    """One evaluation a metric: of each input what was measured last, and the mean over its inputs, as TruLens has it."""
    metrics: dict[str, dict[str, Any]] = {}
    for attributes, *_ in rows:
        name = str(attributes.get(Span.EVAL_ROOT.METRIC_NAME, ""))
        inputs = sorted(
            f"{key}={value}"
            for key, value in attributes.items()
            if key.startswith(Span.EVAL_ROOT.ARGS_SPAN_ID)
        )
        by_input = metrics.setdefault(name, {})
        known = by_input.get(" ".join(inputs))
        if known is None or _score(attributes) is not None or _score(known) is None:
            by_input[" ".join(inputs)] = attributes
    for name, by_input in metrics.items():
        of_it = list(by_input.values())
        scores = [score for one in of_it if (score := _score(one)) is not None]
        told = [one for one in of_it if _score(one) is not None] or of_it
        yield Evaluation(
            name=name,
            score=sum(scores) / len(scores) if scores else None,
            reason=" ".join(filter(None, (_reason(one) for one in told))),
            higher_is_better=bool(told[-1].get(Span.EVAL_ROOT.HIGHER_IS_BETTER, True)),
        )


def _score(attributes: dict[str, Any]) -> float | None:
    score = attributes.get(Span.EVAL_ROOT.SCORE)
    if not isinstance(score, int | float) or not math.isfinite(score) or score == -1:  # -1: a failed judge's
        return None
    return float(score)


def _reason(attributes: dict[str, Any]) -> str:
    score = attributes.get(Span.EVAL_ROOT.SCORE)
    if score is not None and _score(attributes) is None:
        return f"unmeasured (model): {score} is no score"
    return str(attributes.get(Span.EVAL.EXPLANATION) or attributes.get(Span.EVAL_ROOT.ERROR) or "")
