"""The Architect under TruLens's eyes: a span each, why a draft was written anew, and nothing that spoils the database."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from trulens.core import TruSession
from trulens.core.otel.instrument import instrument
from trulens.otel.semconv.trace import SpanAttributes as Span

from ludic_deepeval.bible import Bible, load_bible
from ludic_deepeval.errors import InputError, ModelError
from ludic_deepeval.ledger import load_ledger
from ludic_deepeval.outcome import Scored, Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import score_ledger
from ludic_deepeval.session import load_session
from ludic_deepeval.trial_plan import Setting as Trial
from tests.scripted_turns import READY, WEAK, Scripted, bare, notary_of, prose_of
from tests.trulens.conftest import ROOT
from trulens_feedback.app import APP, ArchitectApp, Evaluated, Recorder, architect_recorder
from trulens_feedback.board import Seen
from trulens_feedback.database import GuardedConnector
from trulens_feedback.figures import Figure, Measure
from trulens_feedback.judge import ModelJudge
from trulens_feedback.lexical import LexicalJudge
from trulens_feedback.metrics import (
    Unmeasured,
    make_metric,
    on_root,
    session_metrics,
    story_metrics,
    triad_metrics,
    worth_metrics,
    worth_version,
)
from trulens_feedback.notes import note, note_session
from trulens_feedback.reading import read_records
from trulens_feedback.retrieval import Bm25Retriever, NoRetriever, Retriever
from trulens_feedback.setting import Setting
from worth_deepeval.episode import load_sheet

REQUEST = "a miller's daughter near Baldur's Gate"


@pytest.fixture(scope="module")
def bible() -> Bible:
    return load_bible(ROOT / "bible" / "faerun")


@pytest.fixture(autouse=True)
def one_session() -> Iterator[None]:
    yield
    TruSession.delete_singleton(TruSession)


def architect(bible: Bible, retriever: Retriever, *drafts: dict[str, Any], **more: Any) -> ArchitectApp:
    return ArchitectApp(
        Trial(bible, Policy()),
        architect=Scripted(*map(prose_of, drafts)),
        notary=Scripted(*map(notary_of, drafts)),
        retriever=retriever,
        **more,
    )


def scores(record: Seen) -> dict[str, float | None]:
    return {one.name: one.score for one in record.evaluations}


def reasons(record: Seen) -> dict[str, str]:
    return {one.name: one.reason for one in record.evaluations}


def whole(database: GuardedConnector, found: Evaluated) -> None:
    """Every record can be read back, by us and by TruLens, whose readers fail as a whole."""
    ids = {one.record_id for one in read_records(database)}
    assert {one.record_id for one in found.records} <= ids
    frame, _ = database.get_records_and_feedback()
    assert set(frame["record_id"]) == ids


def test_a_run_shows_each_stage_and_why_a_draft_was_written_anew(
    bible: Bible, database: GuardedConnector
) -> None:
    app = architect(bible, Bm25Retriever(bible), WEAK, READY)
    metrics = story_metrics(bible=bible) + triad_metrics(Setting(bible), LexicalJudge())
    recorder = architect_recorder(app, metrics, database)
    with recorder.record("the mill"):
        told = app.tell(request=REQUEST)
    found = recorder.evaluate()
    assert found.failures == ()
    (record,) = found.records
    assert (record.app, record.id, record.said) == (APP, "the mill", told)
    assert record.version == "ollama:scripted (scripted, no model), bm25:faerun@v1, gated"
    assert [one.name for one in record.steps] == [
        *["retrieve"] * 3, *["generate", "extract", "score", "gate"] * 2
    ]  # fmt: skip
    gates = [one for one in record.steps if one.name == "gate"]
    assert [one.decision for one in gates] == ["rewrite", "accept"]
    assert [one.split()[0] for one in gates[0].reasons] == ["LPI", "PCV"]
    card = score_ledger(load_ledger(bare(READY), "READY"), Policy(), names=bible.names)
    assert scores(record)["LPI"] == pytest.approx(float(card.lpi))  # type: ignore[arg-type]  # it is scored
    assert None not in scores(record).values()
    assert (
        "rests on" in reasons(record)["Groundedness [lexical]"]
        or "[" in reasons(record)["Groundedness [lexical]"]
    )
    assert all(phase in reasons(record)["Context relevance [lexical]"] for phase in ("P1:", "P2:", "P3:"))
    whole(database, found)


def test_evaluating_twice_adds_nothing(bible: Bible, database: GuardedConnector) -> None:
    app = architect(bible, NoRetriever(), READY)
    recorder = architect_recorder(app, story_metrics(), database)
    with recorder.record("once"):
        app.tell(request=REQUEST)
    first = recorder.evaluate()
    events = len(database.get_events())
    assert recorder.evaluate() == first
    assert len(database.get_events()) == events


def test_without_a_retrieval_span_the_triad_is_unmeasured_and_says_so(
    bible: Bible, database: GuardedConnector
) -> None:
    """TruLens says nothing where a selector finds no span (truera/trulens #1106)."""
    app = architect(bible, NoRetriever(), READY)
    recorder = architect_recorder(app, triad_metrics(Setting(bible), LexicalJudge()), database)
    with recorder.record("none"):
        app.tell(request=REQUEST)
    found = recorder.evaluate()
    (record,) = found.records
    assert scores(record)["Context relevance [lexical]"] is None
    assert scores(record)["Groundedness [lexical]"] is None
    assert "no span that this metric reads" in reasons(record)["Context relevance [lexical]"]
    assert "there was no retrieval" in reasons(record)["Groundedness [lexical]"]
    assert scores(record)["Answer relevance [lexical]"] is not None
    whole(database, found)


def test_an_empty_bible_is_a_named_error(bible: Bible) -> None:
    empty = bible.model_copy(
        update={"factions": (), "locations": (), "deities": (), "history": (), "rules": ()}
    )
    with pytest.raises(InputError, match="it is empty"):
        Bm25Retriever(empty)
    with pytest.raises(InputError, match="it is empty"):
        triad_metrics(Setting(empty), LexicalJudge())
    with pytest.raises(InputError, match="it has no factions"):
        architect(empty, NoRetriever(), READY).tell(request=REQUEST)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("I would rate this highly.", "unmeasured (model)"),
        ("__import__('os').system('touch /tmp/ludic-was-here')", "unmeasured (model)"),
        ('{"score": NaN}', "unmeasured (model)"),
        (ModelError("timed-out", "ollama:scripted", "no answer in time"), "unmeasured (model)"),
        (ModelError("unreachable", "ollama:scripted", "no server there"), "no server there"),
    ],
)
def test_a_judge_that_says_nothing_usable_leaves_an_unmeasured_value(
    said: str | Exception, why: str, bible: Bible, database: GuardedConnector
) -> None:
    app = architect(bible, Bm25Retriever(bible), READY)
    judge = ModelJudge(Scripted(said, name="ollama:judge"))
    recorder = architect_recorder(app, triad_metrics(Setting(bible), judge), database)
    with recorder.record("one"):
        app.tell(request=REQUEST)
    found = recorder.evaluate()
    (record,) = found.records
    assert set(scores(record).values()) == {None}
    assert all(why in reason for reason in reasons(record).values()), reasons(record)
    whole(database, found)


def test_a_dead_provider_ends_the_call_and_the_record_tells_of_it(
    bible: Bible, database: GuardedConnector
) -> None:
    dead = Scripted(ModelError("unreachable", "ollama:scripted", "no server there"))
    app = ArchitectApp(Trial(bible, Policy()), architect=dead, notary=dead, retriever=Bm25Retriever(bible))
    recorder = architect_recorder(app, story_metrics(), database)
    with recorder.record("dead"), pytest.raises(ModelError, match="no server there"):
        app.tell(request=REQUEST)
    found = recorder.evaluate()
    (record,) = found.records
    assert "no server there" in record.failed
    assert [one.name for one in record.steps][-1] == "generate"
    assert set(scores(record).values()) == {None}
    assert "the record has no ledger" in reasons(record)["LPI"]
    whole(database, found)


class Told:
    """Somebody else's app: it notes what a test says on the root of its record."""

    def __init__(self, said: str = "x", deed: Callable[[], None] = lambda: None) -> None:
        self.said, self.deed = said, deed

    @instrument()  # type: ignore[untyped-decorator]
    def tell(self, asked: str) -> str:
        del asked
        self.deed()
        return self.said


def evaluated(app: Told, metrics: list[Any], database: GuardedConnector, version: str = "v1") -> Evaluated:
    recorder = Recorder(app, main=app.tell, name="told", version=version, metrics=metrics, database=database)
    with recorder.record("one"):
        app.tell("what?")
    return recorder.evaluate()


def test_a_session_is_measured_where_it_is_noted(database: GuardedConnector) -> None:
    session = load_session(ROOT / "test_cases/sessions/from-the-box/session.json")
    found = evaluated(Told(deed=lambda: note_session(session)), session_metrics(), database)
    (record,) = found.records
    assert scores(record)["E_a"] == pytest.approx(5 / 17)
    assert [one.higher_is_better for one in record.evaluations if one.name == "E_a"] == [False]


def test_a_reply_to_a_mystery_is_measured_under_its_episode(database: GuardedConnector) -> None:
    folder = ROOT / "test_cases/episodes/WEN01"
    sheet = load_sheet(folder)
    reply = (folder / "recordings/protocol/direct.txt").read_text(encoding="utf-8")
    version = worth_version(sheet, "scripted")
    (record,) = evaluated(Told(reply), worth_metrics(sheet), database, version).records
    assert scores(record) == {
        "WORTH clue [WEN01]": pytest.approx(6 / 36),
        "WORTH participant [WEN01]": pytest.approx(17 / 32),
        "WORTH total [WEN01]": pytest.approx(23 / 68),
    }
    assert record.version == "WEN01 1, scripted"


def test_a_refusal_is_unmeasured_and_not_0(database: GuardedConnector) -> None:
    sheet = load_sheet(ROOT / "test_cases/episodes/WEN01")
    (record,) = evaluated(Told("I cannot help with that."), worth_metrics(sheet), database).records
    assert set(scores(record).values()) == {None}
    assert all("unmeasured (selections)" in one for one in reasons(record).values())


BAD: dict[str, Callable[[], Figure]] = {
    "nan": lambda: Figure(Measure("M", ""), Scored(float("nan")), ""),
    "inf": lambda: Figure(Measure("M", ""), Scored(float("inf")), ""),
    "sentinel": lambda: Figure(Measure("M", ""), Scored(-1.0), ""),
    "details": lambda: Figure(Measure("M", ""), Scored(0.5), "", {f"d{n}": n for n in range(129)}),
    "nan in details": lambda: Figure(Measure("M", ""), Scored(0.5), "", {"x": float("nan")}),
    "unmeasured": lambda: Figure(Measure("M", ""), Unscored("labels", "none"), ""),
    "raises": lambda: 1 / 0,  # type: ignore[return-value]
}


@pytest.mark.parametrize("name", BAD)
def test_no_metric_spoils_a_record(name: str, database: GuardedConnector) -> None:
    bad = make_metric(
        Measure("M", ""), lambda output: output and BAD[name](), {"output": on_root(Span.RECORD_ROOT.OUTPUT)}
    )
    good = make_metric(
        Measure("G", ""),
        lambda output: Figure(Measure("G", ""), Scored(0.5), output),
        {"output": on_root(Span.RECORD_ROOT.OUTPUT)},
    )
    found = evaluated(Told(), [bad, good], database)
    (record,) = found.records
    assert scores(record) == {"M": None, "G": 0.5}
    assert reasons(record)["M"].startswith("unmeasured (")
    whole(database, found)


def test_a_metric_called_by_hand_raises_what_it_could_not_measure() -> None:
    (lpi, *_) = story_metrics()
    with pytest.raises(Unmeasured, match="the record has no ledger"):
        lpi.imp(given=None)


def test_a_note_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputError, match=r"span: x: found nan"):
        note(x=float("nan"))


def test_an_apps_own_nan_is_taken_out_and_named(database: GuardedConnector) -> None:
    """An app that sets attributes by OpenTelemetry itself is not ours to stop, but the database stays readable."""
    from opentelemetry import trace

    app = Told(deed=lambda: trace.get_current_span().set_attribute("x", float("nan")))
    found = evaluated(app, worth_metrics(load_sheet(ROOT / "test_cases/episodes/WEN01")), database)
    assert "a number that is not finite" in str(found.failures[0])
    whole(database, found)


def test_two_metrics_of_one_name_are_refused(database: GuardedConnector) -> None:
    """TruLens would keep one of them."""
    with pytest.raises(InputError, match="two are called LPI"):
        Recorder(Told(), main=None, name="a", version="b", metrics=story_metrics() * 2, database=database)
