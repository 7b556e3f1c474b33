"""What can be wrong with a database is said in one line, and a password is in none."""

import sqlite3
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from trulens.core.schema.event import Event, EventRecordType
from trulens.otel.semconv.trace import SpanAttributes as Span

from ludic_deepeval.errors import InputError
from tests.trulens.conftest import Open, figure, recorded
from trulens_feedback import database as module
from trulens_feedback.database import GuardedConnector, Place, find_place, open_database
from trulens_feedback.reading import read_records
from trulens_feedback.replay import events_of, replay

SECRET = "tops3cret"  # noqa: S105  # what must be shown nowhere


def in_sqlite(place: Place) -> bool:
    return place.file is not None


def test_a_place_is_a_file_or_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LUDIC_TRULENS_DATABASE", raising=False)
    assert find_place().file == tmp_path / "trulens.sqlite"
    assert find_place("a b#?.db").file == tmp_path / "a b#?.db"
    assert find_place("postgresql://u@h:1/n") == Place("postgresql+psycopg://u@h:1/n")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("mysql://h/n", "found mysql"),
        ("sqlite://", "a database in memory"),
        ("://", "no address of a database"),
        (f"postgresql://u:{SECRET}@h/n", "a password in an argument"),
        (f"postgresql://u@h/n?password={SECRET}", "a password in an argument"),
    ],
)
def test_what_is_no_address_is_refused_and_a_password_is_not_repeated(given: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as error:
        find_place(given)
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("url", ["postgresql://u:{}@h/n", "postgresql://u@h/n?password={}"])
def test_an_address_in_the_environment_may_hold_a_password_that_is_shown_nowhere(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LUDIC_TRULENS_DATABASE", url.format(SECRET))
    place = find_place()
    assert place.password == SECRET
    assert SECRET not in f"{place.url} {place.shown} {place!r}"


def test_a_database_that_is_not_there_is_not_made_by_reading(tmp_path: Path) -> None:
    place = find_place(str(tmp_path / "none.sqlite"))
    with pytest.raises(InputError, match="no such database; ludic record makes one"):
        open_database(place, make=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("version", "says"), [("99", "made by a newer TruLens"), ("5", "made by an older TruLens")]
)
def test_a_database_of_another_trulens_is_named_and_left_alone(
    version: str, says: str, place: Place, opened: Open
) -> None:
    database = opened(place)
    replay([recorded("one", figure("LPI", 0.5))], database)
    with database.db.engine.begin() as connection:
        connection.execute(sa.text("UPDATE trulens_alembic_version SET version_num = :v"), {"v": version})
    with pytest.raises(InputError, match=says):
        open_database(place)
    with database.db.engine.begin() as connection:
        connection.execute(sa.text("UPDATE trulens_alembic_version SET version_num = '13'"))
    assert [one.id for one in read_records(opened(place))] == ["one"]


def test_tables_under_another_prefix_are_named(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
    connection.close()
    with pytest.raises(InputError, match="another prefix"):
        open_database(find_place(str(path)))


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "story.md"
    path.write_text("Once upon a time. " * 100)
    with pytest.raises(InputError, match="this is no SQLite database"):
        open_database(find_place(str(path)))
    assert path.read_text().startswith("Once")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened; does its folder exist"):
        open_database(find_place(str(tmp_path / "no" / "x.sqlite")))


def test_a_locked_database_is_named_and_nothing_is_half_written(
    place: Place, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WAIT", 1)
    database = opened(place)
    other = sa.create_engine(place.url)
    lock = "BEGIN EXCLUSIVE" if in_sqlite(place) else "LOCK TABLE trulens_events IN ACCESS EXCLUSIVE MODE"
    with other.connect() as connection:
        if in_sqlite(place):
            connection.connection.driver_connection.isolation_level = None
        connection.execute(sa.text(lock))
        with pytest.raises(InputError, match="locked by another program"):
            replay([recorded("one", figure("LPI", 0.5))], database)
        if in_sqlite(place):
            connection.execute(sa.text("ROLLBACK"))
    other.dispose()
    assert read_records(database) == []
    assert replay([recorded("one", figure("LPI", 0.5))], database).added == 1


def test_a_full_database_is_named_and_what_was_there_can_be_read(place: Place, opened: Open) -> None:
    if not in_sqlite(place):
        pytest.skip("nobody can fill a PostgreSQL server's disk for a test; the error's name is tested below")
    database = opened(place)
    replay([recorded("one", figure("LPI", 0.5))], database)

    def small(connection: sqlite3.Connection, record: object) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")

    sa.event.listen(database.db.engine, "connect", small)
    database.db.engine.dispose()
    with pytest.raises(InputError, match="no room left on its disk"):
        replay([recorded(f"r{n}", figure("LPI", 0.5), said="x" * 50_000) for n in range(20)], database)
    assert [one.id for one in read_records(database)] == ["one"]


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("DiskFull: could not extend file: No space left on device", "no room left"),
        ("connection failed: password authentication failed for user", "the password was not accepted"),
        ("connection refused", "no PostgreSQL server answers there"),
        ("something\nnobody foresaw", "cannot be used"),
    ],
)
def test_errors_of_a_server_have_names(said: str, says: str) -> None:
    with pytest.raises(InputError, match=says), module.named_errors(Place("postgresql+psycopg://u@h/n")):
        raise sa.exc.OperationalError("INSERT", {}, Exception(said))


def test_a_server_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    with pytest.raises(InputError, match="no PostgreSQL server answers there") as error:
        open_database(find_place("postgresql://u@127.0.0.1:9/n"))
    assert SECRET not in str(error.value)


def test_a_wrong_password_is_named_and_not_shown(postgres: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    with pytest.raises(InputError, match="the password was not accepted") as error:
        open_database(postgres)
    assert SECRET not in str(error.value)


def test_an_address_with_a_password_in_the_environment_opens(
    postgres: Place, database_server: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGPASSWORD")
    url = postgres.url.replace("+psycopg", "").replace("ludic@", f"ludic:{database_server[1]}@")
    monkeypatch.setenv("LUDIC_TRULENS_DATABASE", url)
    database = open_database(find_place())
    assert read_records(database) == []
    database.db.engine.dispose()


def spoilt(name: str, value: object) -> Event:
    """An event as a running app of somebody else would send it."""
    from datetime import datetime

    *_, event = events_of(recorded("one", figure("LPI", 0.5)), datetime(2026, 1, 2))  # noqa: DTZ001  # as TruLens
    assert event.record_type is EventRecordType.SPAN
    return event.model_copy(update={"record_attributes": event.record_attributes | {name: value}})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("name", [Span.EVAL_ROOT.SCORE, "ai.observability.eval.metadata.x", "x"])
def test_a_number_that_is_none_spoils_no_database_whoever_sends_it(
    name: str, value: float, database: GuardedConnector
) -> None:
    """Unguarded, every later read of a SQLite file fails, and PostgreSQL refuses the whole batch."""
    replay([recorded("one"), recorded("two", figure("LPI", 0.25))], database)
    database.add_events([spoilt(name, value)])
    assert "not finite" in str(database.failures[0])
    seen = {one.id: one for one in read_records(database)}
    assert set(seen) == {"one", "two"}
    frame, _ = database.get_records_and_feedback()
    assert len(frame) == 2


def test_the_sign_of_a_failed_judge_becomes_an_unmeasured_value(database: GuardedConnector) -> None:
    replay([recorded("one")], database)
    database.add_events([spoilt(Span.EVAL_ROOT.SCORE, -1.0)])
    (seen,) = read_records(database)
    assert [one.score for one in seen.evaluations] == [None]


def test_a_database_that_another_program_spoilt_is_read_and_its_nan_is_no_score(
    tmp_path: Path, opened: Open
) -> None:
    """TruLens's own reader, and so the dashboard, fails as a whole on it; `named_errors` says why."""
    place = find_place(str(tmp_path / "x.sqlite"))
    database = opened(place)
    replay([recorded("one", figure("LPI", 0.5)), recorded("two", figure("LPI", 0.25))], database)
    with database.db.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE trulens_events SET record_attributes = replace(record_attributes, '0.5', 'NaN')")
        )
    seen = {one.id: one.evaluations[0] for one in read_records(database)}
    assert (seen["one"].score, seen["two"].score) == (None, 0.25)
    assert seen["one"].reason == "unmeasured (model): nan is no score"
    with pytest.raises(InputError, match=r"cannot be read back \(NaN\?\)"), module.named_errors(place):
        database.get_records_and_feedback()


def test_without_psycopg_a_server_is_named_with_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InputError, match=r"needs psycopg; pip install 'ludic-worth\[postgres\]'"):
        open_database(find_place("postgresql://u@127.0.0.1:9/n"))
