"""What an app notes on its spans for the metrics to read. Pure but for OpenTelemetry, which TruLens brings."""

import json
from collections.abc import Sequence
from typing import Any, Final

from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.session import Session
from trulens_feedback.recorded import flat, require_finite
from trulens_feedback.retrieval import Chunk

LEDGER: Final = "ludic.ledger"
SESSION: Final = "ludic.session"
CHUNKS: Final = "ludic.chunks"
PHASE: Final = "ludic.phase"
DECISION: Final = "ludic.gate.decision"
REASONS: Final = "ludic.gate.reasons"


def note(**attributes: Any) -> None:
    """Note something on the span that is open: `note(**{"ludic.phase": "P1"})`.

    Raises:
        InputError: NaN or infinity, which would spoil the database.
    """
    from opentelemetry import trace  # noqa: PLC0415  # comes with TruLens

    for name, value in attributes.items():
        require_finite("span", name, value)
        trace.get_current_span().set_attribute(name, flat(value))


def note_ledger(ledger: FactLedger) -> None:
    """Note the ledger of a record on its root span: what `story_metrics` read."""
    note(**{LEDGER: ledger.model_dump_json(exclude_defaults=True)})


def note_session(session: Session) -> None:
    """Note a stress test on the root span: what `session_metrics` read."""
    note(**{SESSION: session.model_dump_json()})


def note_chunks(chunks: Sequence[Chunk]) -> None:
    """Note the ids of what was retrieved, on a retrieval span or on the root: what `triad_metrics` read."""
    note(**{CHUNKS: json.dumps([chunk.id for chunk in chunks])})
