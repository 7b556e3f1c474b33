"""The TruLens database: opening it, guarding what goes in, and naming what can be wrong with it. Imports TruLens.

TruLens's own exporter logs an error and goes on, and one NaN in one record makes every later read of a SQLite file fail. So
all events, those of a running app too, go through `GuardedConnector`: what no database can read back is taken out and
named, and what could not be written is remembered, for `failures` to tell.
"""

import logging
import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else an import asks the network for prices

import sqlalchemy as sa
from sqlalchemy import exc as sa_errors
from trulens.core.database.connector.default import DefaultDBConnector  # noqa: TID251  # this module is an adapter
from trulens.core.database.exceptions import DatabaseVersionException  # noqa: TID251
from trulens.core.schema.event import Event  # noqa: TID251
from trulens.otel.semconv.trace import SpanAttributes as Span  # noqa: TID251

from ludic_deepeval.errors import InputError, clean
from trulens_feedback.recorded import fit

DEFAULT: Final = "trulens.sqlite"
VARIABLE: Final = "LUDIC_TRULENS_DATABASE"
PREFIX: Final = "trulens_"
WAIT: Final = 10  # seconds for which a lock is waited for
_DRIVERS: Final = {
    "sqlite": "sqlite",
    "sqlite+pysqlite": "sqlite",
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
_ALLOWED: Final = "a file, sqlite:///FILE, or postgresql://USER@HOST/NAME"
logging.getLogger("alembic").setLevel(logging.WARNING)


@dataclass(frozen=True)
class Place:
    """Where a database is.

    Attributes:
        url: Its address with the driver, and without a password.
        password: The password that its address in the environment held, if it held one.
    """

    url: str
    password: str | None = None

    def __repr__(self) -> str:
        return f"Place('{self.url}')"

    @property
    def file(self) -> Path | None:
        """The file of a SQLite database."""
        url = sa.engine.make_url(self.url)
        return Path(url.database) if url.drivername == "sqlite" and url.database else None

    @property
    def shown(self) -> str:
        """What people call it; never a password."""
        file = self.file
        if file is None:
            return clean(self.url, limit=200)
        return clean(
            str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file), limit=400
        )


def find_place(given: str | None = None) -> Place:
    """Say which database is meant: what was given, else `$LUDIC_TRULENS_DATABASE`, else `trulens.sqlite` here.

    An argument is seen by everybody on a machine, so a password in one is refused: PostgreSQL takes it from `PGPASSWORD`,
    from `~/.pgpass`, or from the address in the environment.

    Raises:
        InputError: No such kind of database, or a password in an argument.
    """
    name = "--database" if given is not None else VARIABLE
    text = given if given is not None else os.environ.get(VARIABLE) or DEFAULT
    if "://" not in text:
        return Place(sa.engine.URL.create("sqlite", database=str(Path(text).absolute())).render_as_string())
    try:
        url = sa.engine.make_url(text)
    except (sa_errors.ArgumentError, ValueError):
        raise InputError(name, "no address of a database", allowed=_ALLOWED) from None
    if url.drivername not in _DRIVERS:
        raise InputError(name, f"found {clean(url.drivername)}", allowed=_ALLOWED)
    secret = url.password if isinstance(url.password, str) else None
    in_query = next(
        (key for key in url.query if key.lower() in {"password", "passfile", "sslpassword"}), None
    )
    if given is not None and (secret is not None or in_query == "password"):
        raise InputError(
            name,
            "a password in an argument, which every user of this machine can read",
            hint=f"set PGPASSWORD, write ~/.pgpass, or put the address into {VARIABLE}",
        )
    if in_query == "password":
        value = url.query["password"]
        secret = value if isinstance(value, str) else value[0]
        url = url.difference_update_query(["password"])
    url = url.set(drivername=_DRIVERS[url.drivername])._replace(password=None)
    if url.drivername == "sqlite" and not url.database:
        raise InputError(name, "a database in memory", allowed=_ALLOWED, hint="it would be gone at once")
    return Place(url.render_as_string(hide_password=False), secret)


@contextmanager
def named_errors(place: Place) -> Iterator[None]:
    """Say in one line what a database answered with, and never its address with a password.

    Raises:
        InputError: Locked, full, of another TruLens version, no database, or not there.
    """
    try:
        yield
    except DatabaseVersionException as error:
        other = {
            DatabaseVersionException.Reason.AHEAD: "made by a newer TruLens",
            DatabaseVersionException.Reason.BEHIND: "made by an older TruLens",
        }.get(error.reason, "holds tables of TruLens under another prefix")
        hint = "give another --database, or migrate it: TruSession(database_url=…).migrate_database()"
        raise InputError(place.shown, other, allowed="one of TruLens 2.16", hint=hint) from None
    except (sa_errors.SQLAlchemyError, OSError, ValueError) as error:
        found, hint = _what(error)
        raise InputError(place.shown, found, hint=hint) from None


_SAYINGS: Final = (
    (r"database is locked|lock timeout|LockNotAvailable", "locked by another program", "wait for it, and try again"),
    (r"disk is full|No space left|DiskFull", "no room left on its disk", "make room, and try again: nothing was half written"),
    (r"not a database|file is encrypted", "this is no SQLite database", "give another --database"),
    (r"malformed JSON|invalid input syntax for type json", "another program wrote a record that cannot be read back (NaN?)", "give another --database"),
    (r"disk image is malformed", "a damaged SQLite database", "give another --database"),
    (r"readonly database|Permission denied|permission denied", "may not be written", ""),
    (r"unable to open database file", "cannot be opened", "does its folder exist?"),
    (r"password authentication failed|no password supplied|fe_sendauth", "the password was not accepted", "PGPASSWORD or ~/.pgpass"),
    (r"role .* does not exist|database .* does not exist", "no such user or database there", "createdb makes one"),
    (r"Connection refused|could not translate|timeout expired|connection timeout|Name or service|server closed|connection failed", "no PostgreSQL server answers there", ""),
    (r"disk I/O error", "its disk gave an error", ""),
)  # fmt: skip


def _what(error: Exception) -> tuple[str, str]:
    text = f"{type(getattr(error, 'orig', error)).__name__} {getattr(error, 'orig', error)}"
    for pattern, found, hint in _SAYINGS:
        if re.search(pattern, text, re.IGNORECASE):
            return found, hint
    plain = clean(" ".join(str(getattr(error, "orig", error)).split()), limit=200)
    return f"cannot be used ({plain})", ""


class GuardedConnector(DefaultDBConnector):  # type: ignore[misc]  # TruLens's types are skipped
    """TruLens's connector, but nothing goes through it that a database could not give back.

    Attributes:
        place: Where the database is.
        failures: What could not be written, or had to be taken out; TruLens's exporter would only log it.
    """

    def __init__(self, place: Place, engine: sa.Engine) -> None:
        super().__init__(database_engine=engine, database_prefix=PREFIX, database_check_revision=False)
        self.place = place
        self.failures: list[InputError] = []

    def add_event(self, event: Event) -> Any:
        """Add one event; see `add_events`."""
        return self.add_events([event])[0]

    def add_events(self, events: list[Event]) -> Any:
        """Add events, all or none, each made fit first.

        Raises:
            InputError: The database would not have them; it is in `failures` as well.
        """
        fitted = [self._fitted(one) for one in events]
        try:
            with named_errors(self.place):
                return super().add_events(fitted)
        except InputError as error:
            self.failures.append(error)
            raise

    def _fitted(self, event: Event) -> Event:
        changed: dict[str, Any] = {}
        attributes = dict(event.record_attributes or {})
        bad = [name for name, value in attributes.items() if not _finite(value)]
        for name in bad:
            attributes[name] = _as_text(attributes[name])
            self.failures.append(
                InputError(event.record.get("name", "span"), "a number that is not finite", where=name)
            )
        for score in (Span.EVAL.SCORE, Span.EVAL_ROOT.SCORE):
            if score in bad or attributes.get(score) == -1:
                said = attributes.pop(score)
                attributes[Span.EVAL_ROOT.ERROR] = f"unmeasured (model): {said} is no score"
        changed["record_attributes"] = fit(attributes)
        if not _finite(event.record):
            changed["record"] = _as_text(event.record)
        else:
            changed["record"] = fit(dict(event.record))
        changed["resource_attributes"] = fit(_as_text(dict(event.resource_attributes or {})))
        return event.model_copy(update=changed)

    def raise_failures(self) -> None:
        """Raise the first thing that went wrong since the last call, and forget it.

        Raises:
            InputError: Something did.
        """
        if self.failures:
            found, self.failures = self.failures, []
            raise found[0]


def _finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    return all(map(_finite, value)) if isinstance(value, list | tuple) else True


def _as_text(value: Any) -> Any:
    """The same value with words in place of numbers that are not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {name: _as_text(inner) for name, inner in value.items()}
    return [_as_text(one) for one in value] if isinstance(value, list | tuple) else value


def open_database(place: Place, *, make: bool = True) -> GuardedConnector:
    """Open a database, and make its tables where there are none.

    Args:
        place: Where it is.
        make: Make it where there is none; else that is an error.

    Raises:
        InputError: It cannot be used; the line says why.
    """
    file = place.file
    if file is not None and not make and not file.exists():
        raise InputError(place.shown, "no such database", hint="ludic record makes one")
    options: dict[str, Any] = {"pool_pre_ping": True}
    if file is not None:
        options["connect_args"] = {"timeout": WAIT}
    else:
        options["connect_args"] = {"connect_timeout": WAIT, "options": f"-c lock_timeout={WAIT}s"}
        if place.password is not None:
            options["connect_args"]["password"] = place.password
    with named_errors(place):
        try:
            engine = sa.create_engine(place.url, **options)
        except ImportError:
            raise InputError(
                place.shown, "PostgreSQL needs psycopg", hint="pip install 'ludic-worth[postgres]'"
            ) from None
        try:
            connector = GuardedConnector(place, engine)
            connector.db.check_db_revision()
        except BaseException:
            engine.dispose()
            raise
    return connector
