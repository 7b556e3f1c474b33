"""The commands `ludic record`, `ludic trace` and `ludic dashboard`: recorded things in a TruLens database."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import complain, note, print_json, say

if TYPE_CHECKING:
    from trulens_feedback.database import GuardedConnector, Place
    from trulens_feedback.gather import Gathered
    from trulens_feedback.replay import Replayed

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="FILE|URL",
        help="A SQLite file or postgresql://USER@HOST/NAME, without a password; by default $LUDIC_TRULENS_DATABASE, else trulens.sqlite.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command()(record)
    app.command()(trace)
    app.command()(dashboard)


def _place(given: str | None) -> "Place":
    """The database that is meant; whoever has no TruLens is told how to get it."""
    from importlib.util import find_spec

    if find_spec("trulens") is None or find_spec("trulens.core") is None:
        raise InputError("TruLens", "not installed", hint="pip install 'ludic-worth[trulens]'")
    from trulens_feedback.database import find_place

    return find_place(given)


def _record(paths: list[Path], place: "Place") -> "tuple[Gathered, Replayed, GuardedConnector]":
    from trulens_feedback.database import open_database
    from trulens_feedback.gather import gather
    from trulens_feedback.replay import replay

    found = gather(paths)
    database = open_database(place)
    return found, replay(found.records, database), database


def _told(done: "Replayed", place: "Place") -> str:
    line = f"{place.shown}: {done.added} of {done.records} records added"
    line += f", {done.known} were there already" if done.known else ""
    if done.unmeasured:
        line += f"; {done.unmeasured} figures could not be measured, which is recorded as such"
    return line


def record(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="Stories, sessions, folders of ludic generate and worth run, or folders of all of them.",
        ),
    ],
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Record stories, stress tests, trials and runs of WORTH in a TruLens database; twice adds nothing."""
    place = _place(database)
    found, done, _ = _record(paths, place)
    if as_json:
        print_json(
            {
                "version": 1,
                "database": place.shown,
                "records": done.records,
                "added": done.added,
                "figures": done.figures,
                "unmeasured": done.unmeasured,
                "errors": [str(error) for error in found.errors],
            }
        )
    else:
        say(_told(done, place))
    for error in found.errors:
        complain(error)
    raise typer.Exit(2 if found.errors else 0)


def trace(
    database: Database = None,
    app: Annotated[str | None, typer.Option(metavar="NAME", help="Only the records of this app.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="The most records listed for an app.")] = 50,
    reasons: Annotated[
        bool, typer.Option("--reasons", help="Tell each record's steps and the reason of each figure.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print what a TruLens database holds: its leaderboard, and its records."""
    place = _place(database)
    from trulens_feedback.board import board_json, board_text
    from trulens_feedback.database import open_database
    from trulens_feedback.reading import read_records

    records = read_records(open_database(place, make=False), app=app)
    if app is not None and not records:
        raise InputError("--app", f"no record of '{clean(app)}' in {place.shown}")
    if as_json:
        print_json(board_json(records, place.shown))
        return
    for line in board_text(records, place.shown, most=limit, reasons=reasons):
        say(line)


def dashboard(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH...]", help="Record these first, as ludic record does."),
    ] = None,
    database: Database = None,
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, help="The port on this computer; by default 8501, or any that is free."
        ),
    ] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the address.")] = False,
) -> None:
    """Open TruLens's dashboard on this computer: leaderboard, records, and the reason of each score."""
    import threading
    import webbrowser

    place = _place(database)
    from trulens_feedback.dashboard import dashboard as started
    from trulens_feedback.dashboard import serve_until_left
    from trulens_feedback.database import open_database

    if paths:
        found, done, opened = _record(paths, place)
        say(_told(done, place))
        for error in found.errors:
            complain(error)
    else:
        opened = open_database(place, make=False)
    opened.db.engine.dispose()
    note("starting the dashboard …")
    with started(place, port or None) as running:
        say("the dashboard is at")
        say(f"  {running.url}")
        say("It is on this computer only. It ends here with Ctrl-C.")
        if not no_open:
            # In a thread: a browser that runs in the terminal returns only when it is closed.
            threading.Thread(target=webbrowser.open, args=(running.url,), daemon=True).start()
        code = serve_until_left(running)
    if code:
        raise InputError("ludic dashboard", "it ended by itself")
    say("stopped")
