"""The Architect's path as a TruLens app: retrieve → generate → extract → score → gate, a span each. Imports TruLens.

A record then shows why a draft was written anew: the gate's span has its decision and its reasons. The stages are those of
`ludic generate`, but the Architect is told what was retrieved and not the whole bible, and nothing is kept on disk: the record
in the database is the trace.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else an import asks the network for prices

from trulens.apps.app import TruApp  # noqa: TID251  # this module is an adapter
from trulens.core import Metric, TruSession  # noqa: TID251
from trulens.core.otel.instrument import instrument  # noqa: TID251
from trulens.otel.semconv.trace import SpanAttributes as Span  # noqa: TID251

from ludic_deepeval.architect import decide
from ludic_deepeval.consistency import check_consistency
from ludic_deepeval.errors import InputError
from ludic_deepeval.judging import Reading
from ludic_deepeval.llm.budget import Meter
from ludic_deepeval.llm.client import ChatModel
from ludic_deepeval.llm.loop import run
from ludic_deepeval.lockfile import Lockfile
from ludic_deepeval.notary import extract
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.scoring import Gate, score_ledger
from ludic_deepeval.text import Prose
from ludic_deepeval.trial import Decision, Plan, draft_prose
from ludic_deepeval.trial_plan import Setting as Trial
from ludic_deepeval.trial_plan import draft_request, make_plan, node_of
from trulens_feedback.board import Evaluation, Seen
from trulens_feedback.database import GuardedConnector, named_errors
from trulens_feedback.figures import reading_figures
from trulens_feedback.notes import DECISION, PHASE, REASONS, note, note_chunks, note_ledger
from trulens_feedback.reading import read_records
from trulens_feedback.recorded import short_name
from trulens_feedback.retrieval import Chunk, NoRetriever, Retriever, request_queries

APP: Final = "ludic architect"
MOST: Final = 4


class ArchitectApp:
    """Writes a backstory, reads it, and writes it anew while it is below the gate.

    Args:
        trial: Bible, policy, and how the models are asked.
        architect: Who writes.
        notary: Who reads.
        retriever: What finds the chunks of a phase; `NoRetriever()` tells the Architect nothing of the setting.
        most: Chunks a phase.
        gated: Whether a draft below the gate is written anew.
        max_iter: The most rewrites.
        meter: What may be spent.
    """

    def __init__(
        self,
        trial: Trial,
        *,
        architect: ChatModel,
        notary: ChatModel,
        retriever: Retriever,
        most: int = MOST,
        gated: bool = True,
        max_iter: int = 3,
        meter: Meter | None = None,
    ) -> None:
        self._trial = trial
        self._architect = architect
        self._notary = notary
        self._retriever = retriever
        self._most = most
        self._gated = gated
        self._max_iter = max_iter
        self._meter = meter or Meter()

    @property
    def version(self) -> str:
        """What is compared on the leaderboard: who writes, what is retrieved, whether it is gated."""
        gate = "gated" if self._gated else "not gated"
        kind = self._architect.producer.kind
        by = "" if kind == "model" else f" ({kind}, no model)"
        return f"{self._architect.name}{by}, {self._retriever.name}, {gate}"

    @instrument()  # type: ignore[untyped-decorator]  # TruLens's types are skipped
    def tell(self, request: str, seed: int = 1) -> str:
        """Write one backstory and return its last draft.

        Raises:
            InputError: A bible to draw nothing from.
            ModelError: No answer that can be used, or the budget is spent; the record keeps what was done before.
        """
        plan = make_plan(
            self._trial,
            seed=seed,
            architect=self._architect.name,
            notary=self._notary.name,
            gated=self._gated,
            max_iter=self._max_iter,
            request=request,
        )
        path = Architect(plan, self._trial, self._architect, self._notary, self._meter)
        path.look_up(self._retriever, self._most)
        for number in range(plan.passes):
            path.generate(draft=number)
            path.extract(draft=number)
            path.score(draft=number)
            if path.gate(draft=number) != "rewrite":
                break
        note_ledger(path.lock.ledger)
        return path.draft.body


def _of_retrieval(ret: Any, exception: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """What a retrieval span says: the query and the texts; TruLens's own names of both."""
    del exception, args
    return {
        Span.RETRIEVAL.QUERY_TEXT: str(kwargs.get("query", "")),
        Span.RETRIEVAL.RETRIEVED_CONTEXTS: list(ret or ()),
    }


class Architect:
    """One way from a request to a draft that passes: what its stages have made so far."""

    draft: Prose
    lock: Lockfile
    reading: Reading

    def __init__(
        self, plan: Plan, trial: Trial, architect: ChatModel, notary: ChatModel, meter: Meter
    ) -> None:
        self._plan = plan
        self._trial = trial
        self._architect = architect
        self._notary = notary
        self._meter = meter
        self._retriever: Retriever = NoRetriever()
        self._most = MOST
        self._found: dict[str, Chunk] = {}
        self._written: Prose | None = None

    def look_up(self, retriever: Retriever, most: int) -> None:
        """Retrieve for each phase of life; without a retriever there is no such span, and metrics say so."""
        self._retriever, self._most = retriever, most
        if isinstance(retriever, NoRetriever):
            return
        bible = self._trial.bible
        names = (node_of(bible, self._plan.faction).name, node_of(bible, self._plan.location).name)
        for phase, query in request_queries(" ".join([self._plan.request, *names]).strip()).items():
            self.retrieve(query=query, phase=phase)
        note_chunks(list(self._found.values()))

    @instrument(span_type=Span.SpanType.RETRIEVAL, attributes=_of_retrieval)  # type: ignore[untyped-decorator]  # TruLens's types are skipped
    def retrieve(self, query: str, phase: str) -> list[str]:
        """Find the chunks that bear on a phase."""
        hits = self._retriever.retrieve(query, most=self._most)
        self._found |= {hit.chunk.id: hit.chunk for hit in hits}
        note(**{PHASE: phase, "ludic.retriever": self._retriever.name})
        note_chunks([hit.chunk for hit in hits])
        return [hit.chunk.text for hit in hits]

    @instrument(span_type=Span.SpanType.GENERATION)  # type: ignore[untyped-decorator]  # as above
    def generate(self, draft: int) -> str:
        """Have a draft written, the first or a rewrite of the last."""
        before = self._written.body if self._written else None
        told = "\n".join(f"- {chunk.text}" for chunk in self._found.values())
        world = f"{self._trial.bible.name}\n{told}".strip()
        request, prompt = draft_request(self._plan, self._trial, before, world=world)
        completion = run(self._architect.ask(request, self._meter))
        note(
            **{
                "ludic.draft": draft,
                "ludic.prompt": f"{prompt.role} {prompt.version}",
                "ludic.model": completion.model,
                "ludic.by": completion.kind,
            }
        )
        self._written = self.draft = draft_prose(completion.answer, completion.model)
        return self.draft.body

    @instrument()  # type: ignore[untyped-decorator]  # as above
    def extract(self, draft: int) -> str:
        """Have the draft read into a ledger."""
        del draft
        found = run(extract(self.draft, self._notary, self._trial.notary, meter=self._meter))
        self.lock = found.lock
        note_ledger(found.lock.ledger)
        note(**{"ludic.notary": self._notary.name, "ludic.ungrounded": len(found.lock.ungrounded)})
        counts = {
            name: len(getattr(found.lock.ledger, name))
            for name in ("npcs", "events", "hooks", "goals", "mysteries")
        }
        return ", ".join(f"{count} {name}" for name, count in counts.items())

    @instrument()  # type: ignore[untyped-decorator]  # as above
    def score(self, draft: int) -> dict[str, str]:
        """Score the ledger."""
        del draft
        bible, ledger = self._trial.bible, self.lock.ledger
        card = score_ledger(ledger, self._trial.policy, names=bible.names)
        self.reading = Reading(ledger, card, check_consistency(ledger, bible), bible.names)
        figures = reading_figures(self.reading, self.lock.too_little_grounded)
        return {one.name: f"{one.value:.4f}" if one.value is not None else one.why for one in figures}

    @instrument()  # type: ignore[untyped-decorator]  # as above
    def gate(self, draft: int) -> Decision:
        """Decide about the draft; the span says what and why."""
        gate = self.reading.card.gate
        unscored = self.lock.too_little_grounded or (gate if isinstance(gate, Unscored) else None)
        passed = isinstance(gate, Gate) and gate.passed and unscored is None
        decision = decide(self._plan, draft, passed=passed, unscored=unscored is not None)
        reasons = [f"{unscored.cause}: {unscored.reason}"] if unscored else list(_reasons(gate))
        note(**{DECISION: decision, REASONS: reasons})
        return decision


def _reasons(gate: Gate | Unscored) -> tuple[str, ...]:
    return gate.reasons if isinstance(gate, Gate) else (gate.reason,)


@dataclass(frozen=True)
class Evaluated:
    """What an evaluation came to.

    Attributes:
        records: The records, each with every metric: what TruLens left out without a word is an unmeasured one.
        failures: What the database would not have, or what had to be taken out to keep it readable.
    """

    records: tuple[Seen, ...]
    failures: tuple[InputError, ...]


class Recorder:
    """An app under TruLens's eyes: it records calls and evaluates metrics, in this thread and to the end.

    Args:
        app: The app: an object whose methods are instrumented.
        main: Its outermost method.
        name: The app's name on the leaderboard.
        version: What is compared there.
        metrics: From `metrics`.
        database: Where it goes; from `open_database`.
    """

    def __init__(
        self,
        app: Any,
        *,
        main: Any,
        name: str,
        version: str,
        metrics: Sequence[Metric],
        database: GuardedConnector,
    ) -> None:
        names = [metric.name for metric in metrics]
        if twice := next((one for one in names if names.count(one) > 1), None):
            raise InputError("metrics", f"two are called {twice}", allowed="each name once")
        self.database = database
        self._names = names
        self._session = _session(database)
        with named_errors(database.place):
            self.app = TruApp(
                app,
                main_method=main,
                app_name=name,
                app_version=short_name(version),
                feedbacks=list(metrics),
                connector=database,
                start_evaluator=False,
            )
        self._ids: list[str] = []

    @contextmanager
    def record(self, name: str) -> Iterator[None]:
        """Record the calls in the block, under a name for people."""
        with self.app.input(name) as recording:
            try:
                yield
            finally:
                self._ids += [one.record_id for one in recording.records]

    def evaluate(self) -> Evaluated:
        """Evaluate every metric on every record that has none of it yet, and read all of them back.

        Raises:
            InputError: The database cannot be read.
        """
        self._session.force_flush()
        if self._ids:
            with named_errors(self.database.place):
                self.app.compute_feedbacks(
                    raise_error_on_no_feedbacks_computed=False,
                    events=self.database.get_events(record_ids=self._ids),
                )
            self._session.force_flush()
        failures, self.database.failures = tuple(self.database.failures), []
        found = read_records(self.database, ids=set(self._ids))
        return Evaluated(tuple(map(self._whole, found)), failures)

    def _whole(self, record: Seen) -> Seen:
        """A record with a place for every metric: TruLens says nothing of those whose spans it did not find."""
        known = {one.name for one in record.evaluations}
        lost = tuple(
            Evaluation(name, None, "unmeasured (context): the record has no span that this metric reads")
            for name in self._names
            if name not in known
        )
        return replace(record, evaluations=(*record.evaluations, *lost))


def _session(database: GuardedConnector) -> TruSession:
    """TruLens's one session in this process; another database takes the place of the last."""
    session = TruSession(connector=database)
    if session.connector is not database:
        session.force_flush()
        TruSession.delete_singleton(TruSession)
        session = TruSession(connector=database)
    return session


def architect_recorder(app: ArchitectApp, metrics: Sequence[Metric], database: GuardedConnector) -> Recorder:
    """The Architect under TruLens's eyes."""
    return Recorder(app, main=app.tell, name=APP, version=app.version, metrics=metrics, database=database)
