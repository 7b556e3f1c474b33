"""Recorded stories into a TruLens database: our replay to what TruLens's own calls take for the same spans and scores."""

import logging
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.measure import Row

TARGET = 2.0
_AT_ONCE = (
    200  # five spans a record: OpenTelemetry keeps 2,048 and drops what comes faster than it is written
)
_STORIES = Path(__file__).parents[1] / "test_cases" / "backstories"


def run(*, smoke: bool = False) -> list[Row]:
    """Both sides write a root, three steps and seven evaluations with reasons a record, and read the frame of records back."""
    logging.disable(logging.WARNING)
    try:
        size = 20 if smoke else 1000
        with tempfile.TemporaryDirectory() as name:
            records = _records(size)
            _bare(records[:3], Path(name, "warm-bare.sqlite"))  # the first record waits for imports
            _ours(records[:3], Path(name, "warm.sqlite"))
            bare = _bare(records, Path(name, "bare.sqlite"))
            ours = _ours(records, Path(name, "ours.sqlite"))
    finally:
        logging.disable(logging.NOTSET)
    return [
        Row(
            f"replaying {size:,} stories to the bare calls of TruLens",
            ours / bare,
            TARGET,
            f"{ours:.1f} s to {bare:.1f} s",
        )
    ]


def _records(size: int):  # type: ignore[no-untyped-def]  # TruLens is imported where it is needed
    from trulens_feedback.gather import gather

    stories = gather([_STORIES]).records
    return [replace(stories[n % len(stories)], id=f"story {n}") for n in range(size)]


def _ours(records, file: Path) -> float:  # type: ignore[no-untyped-def]
    from trulens_feedback.database import find_place, open_database
    from trulens_feedback.replay import replay

    begun = time.perf_counter()
    database = open_database(find_place(str(file)))
    done = replay(records, database)
    took = time.perf_counter() - begun
    assert (done.added, done.figures) == (len(records), 7 * len(records))
    _whole(database, records)
    database.db.engine.dispose()
    return took


def _bare(records, file: Path) -> float:  # type: ignore[no-untyped-def]
    """What a user of TruLens would write: instrumented methods that give back what is stored, and metrics that pass it through."""
    from trulens.apps.app import TruApp
    from trulens.core import Metric, Selector, TruSession
    from trulens.core.otel.instrument import instrument

    stored = {record.id: record for record in records}

    class App:
        @instrument()
        def tell(self, name: str) -> str:
            for step in range(3):
                self.step(name, step)
            return stored[name].said

        @instrument(
            attributes=lambda ret, exception, *args, **kwargs: {
                key: value for key, value in ret.items() if isinstance(value, str)
            }
        )
        def step(self, name: str, number: int) -> dict[str, object]:
            return dict(stored[name].steps[number].notes)

    def metric(name: str) -> Metric:
        def passed_through(given: str) -> tuple[float, dict[str, str]]:
            figure = by_text[given][name]
            return figure.value, {"reason": figure.reason}

        return Metric(implementation=passed_through, name=name).on({"given": Selector.select_record_input()})

    by_text = {record.id: {one.name: one for one in record.figures} for record in records}
    begun = time.perf_counter()
    session = TruSession(database_url=f"sqlite:///{file}")
    app = App()
    names = [one.name for one in records[0].figures]
    recorder = TruApp(
        app,
        main_method=app.tell,
        app_name="bare",
        app_version="v1",
        feedbacks=[metric(name) for name in names],
        connector=session.connector,
        start_evaluator=False,
    )
    for number, record in enumerate(records, start=1):
        with recorder.input(record.id):
            app.tell(record.id)
        if number % _AT_ONCE == 0:
            session.force_flush()
    session.force_flush()
    recorder.compute_feedbacks(raise_error_on_no_feedbacks_computed=False)
    session.force_flush()
    took = time.perf_counter() - begun
    _whole(session.connector, records)
    TruSession.delete_singleton(TruSession)
    return took


def _whole(connector, records) -> None:  # type: ignore[no-untyped-def]
    frame, names = connector.get_records_and_feedback()
    assert len(frame) == len(records)
    assert frame[list(names)].notna().all().all()
    means = {one.name: 0.0 for one in records[0].figures}
    for record in records:
        for figure in record.figures:
            means[figure.name] += figure.value / len(records)
    assert all(abs(frame[name].astype(float).mean() - mean) < 1e-9 for name, mean in means.items())
