"""A database of each kind, new for every test: SQLite, and a real PostgreSQL where there is one."""

import importlib.util
import os
import secrets
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from ludic_deepeval.outcome import Outcome, Scored
from tests.ludic.conftest import Ludic, Ran, ludic
from trulens_feedback.figures import Figure, Measure
from trulens_feedback.recorded import Recorded

if TYPE_CHECKING:  # TruLens takes seconds to import, and half of the tests here need none of it
    from trulens_feedback.database import GuardedConnector, Place

__all__ = ["Ludic", "Ran", "ludic"]
ROOT = Path(__file__).parents[2]
# What is pure is tested without the extra `trulens`, too.
_WITH_TRULENS = ["test_app.py", "test_cli_trulens.py", "test_database.py", "test_replay.py"]
collect_ignore = [] if importlib.util.find_spec("trulens") else _WITH_TRULENS


def postgres_script() -> ModuleType:
    loader = SourceFileLoader("ci_postgres", str(ROOT / ".ci" / "postgres"))
    spec = importlib.util.spec_from_loader("ci_postgres", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def database_server() -> Iterator[tuple[str, str]]:
    """The address of a PostgreSQL server without its password, and the password."""
    if url := os.environ.get("LUDIC_TEST_POSTGRES"):
        yield url, os.environ["PGPASSWORD"]
        return
    script = postgres_script() if (ROOT / ".ci" / "postgres").is_file() else None
    if script is None or script.binaries() is None:
        pytest.skip("no PostgreSQL server on this machine (initdb, pg_ctl), or no .ci/postgres to start it")
    with script.server() as found:
        yield found


@pytest.fixture
def postgres(database_server: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator["Place"]:
    """A new, empty database on the server."""
    import psycopg

    from trulens_feedback.database import find_place

    url, password = database_server
    monkeypatch.setenv("PGPASSWORD", password)
    name = f"ludic_{secrets.token_hex(6)}"
    with psycopg.connect(url, password=password, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    yield find_place(f"{url.rpartition('/')[0]}/{name}")
    with psycopg.connect(url, password=password, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> "Place":
    """Where a new database is to be, of each kind."""
    if request.param == "postgres":
        found: Place = request.getfixturevalue("postgres")
        return found
    from trulens_feedback.database import find_place

    return find_place(str(tmp_path / "records.sqlite"))


Open: TypeAlias = Callable[["Place"], "GuardedConnector"]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Open databases, and close them all in the end."""
    from trulens_feedback.database import open_database

    found: list[GuardedConnector] = []

    def open_one(place: "Place") -> "GuardedConnector":
        found.append(open_database(place))
        return found[-1]

    yield open_one
    for one in found:
        one.db.engine.dispose()


@pytest.fixture
def database(place: "Place", opened: Open) -> "GuardedConnector":
    """A new database of each kind."""
    return opened(place)


def figure(name: str, value: float | Outcome[float], reason: str = "because", **details: Any) -> Figure:
    outcome = Scored(value) if isinstance(value, float) else value
    return Figure(Measure(name, "what a test says"), outcome, reason, details)


def recorded(name: str = "one", *figures: Figure, **more: Any) -> Recorded:
    values: dict[str, Any] = {"app": "tests", "version": "v1", "asked": "what?", "said": "that."} | more
    return Recorded(id=name, figures=figures, **values)
