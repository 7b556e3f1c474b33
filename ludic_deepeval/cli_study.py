"""The commands `ludic study …`: run, resume, status, amend, report."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import INTERRUPTED, complain, note, print_json, say, say_now

if TYPE_CHECKING:
    from ludic_deepeval.studies.frozen import Sidecar
    from ludic_deepeval.studies.plan import StudyPlan
    from ludic_deepeval.studies.runner import Progress, Run
    from ludic_deepeval.studies.store import Line, Store

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of a study that was run.")]
Design = Annotated[Path, typer.Argument(metavar="STUDY.toml", help="The study.")]
Record = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Record the answers; what is recorded is not asked again."),
]
Calls = Annotated[
    int | None, typer.Option("--budget-calls", min=0, metavar="N", help="Send at most so many requests.")
]
Tokens = Annotated[
    int | None,
    typer.Option("--budget-tokens", min=0, metavar="N", help="Read and write at most so many tokens."),
]
AtOnce = Annotated[
    int,
    typer.Option(min=1, max=256, help="Trials at a time; each model has its own limit in the study's file."),
]
Most = Annotated[int | None, typer.Option(min=1, metavar="N", help="End after so many trials.")]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Send the trials to a Dask cluster: its address, or local:2."),
]
Deviation = Annotated[
    str | None,
    typer.Option(metavar="WHY", help="Go on with other code or packages, and put it on record."),
]

study_app = typer.Typer(help="Studies: factorial ablations.", no_args_is_help=True, rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    from ludic_deepeval.cli_study_report import report, score_corpus

    study_app.command()(run)
    study_app.command()(resume)
    study_app.command()(status)
    study_app.command()(amend)
    study_app.command()(report)
    study_app.command("score-corpus")(score_corpus)
    app.add_typer(study_app, name="study")


def run(  # noqa: PLR0913, PLR0917  # one argument an option of the command
    design: Design,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where everything is kept; by default ID.study. A study in it is gone on with.",
        ),
    ] = None,
    record: Record = None,
    budget_calls: Calls = None,
    budget_tokens: Tokens = None,
    at_once: AtOnce = 4,
    most: Most = None,
    cluster: Cluster = None,
    deviation: Deviation = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would take; ask nobody, write nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a study: every cell with every seed, each trial kept as it ends."""
    from ludic_deepeval.studies.design import load_design
    from ludic_deepeval.studies.frozen import freeze
    from ludic_deepeval.studies.plan import plan_study
    from ludic_deepeval.studies.store import Store, now

    loaded = load_design(design)
    plan = plan_study(loaded.design, design.absolute().parent, design)
    if dry_run:
        _preview(plan, as_json=as_json)
        return
    store = Store(out or Path(f"{loaded.design.id}.study".replace(":", "_").replace(" ", "_")))
    sidecar = freeze(plan, loaded.text, created=now())
    with store.locked():
        if store.exists:
            _take_up(store, sidecar, deviation)
        else:
            store.begin(sidecar)
        code = _go_on(
            store, plan, sidecar, record=record, calls=budget_calls, tokens=budget_tokens, at_once=at_once,
            most=most, cluster=cluster, as_json=as_json,
        )  # fmt: skip
    raise typer.Exit(code)


def resume(  # noqa: PLR0913, PLR0917  # one argument an option of the command
    folder: Folder,
    record: Record = None,
    budget_calls: Calls = None,
    budget_tokens: Tokens = None,
    at_once: AtOnce = 4,
    most: Most = None,
    cluster: Cluster = None,
    deviation: Deviation = None,
    as_json: AsJson = False,
) -> None:
    """Go on with a study where it was, from what was frozen."""
    from ludic_deepeval.studies.frozen import freeze
    from ludic_deepeval.studies.store import SIDECAR, Store, now

    store = Store(folder)
    was = store.sidecar()
    plan = was.plan(folder / SIDECAR)
    sidecar = freeze(plan, was.study, created=now())
    with store.locked():
        _take_up(store, sidecar, deviation)
        code = _go_on(
            store, plan, sidecar, record=record, calls=budget_calls, tokens=budget_tokens, at_once=at_once,
            most=most, cluster=cluster, as_json=as_json,
        )  # fmt: skip
    raise typer.Exit(code)


def _take_up(store: "Store", sidecar: "Sidecar", deviation: str | None) -> None:
    """Mend what a kill left, and refuse to go on with anything else than what was frozen."""
    from ludic_deepeval.studies.frozen import require_same
    from ludic_deepeval.studies.store import SIDECAR

    if lost := store.mend():
        note(f"{store.path}: the last line was not whole ({lost:,} bytes), and its trial is done again")
    known = frozenset(
        change for entry in store.log() if entry.kind == "deviation" for change in entry.changes
    )
    changes = require_same(
        store.sidecar(), sidecar, store.path / SIDECAR, known=known, deviation=deviation is not None
    )
    if deviation is not None and changes:
        store.deviate(_reason(deviation, "--deviation"), changes)


def _reason(text: str, option: str) -> str:
    if not text.strip():
        raise InputError(option, "it is empty", allowed="why, in a sentence")
    return clean(text, limit=2000)


def _go_on(  # noqa: PLR0913  # what the two commands have in common
    store: "Store",
    plan: "StudyPlan",
    sidecar: "Sidecar",
    *,
    record: Path | None,
    calls: int | None,
    tokens: int | None,
    at_once: int,
    most: int | None,
    cluster: str | None,
    as_json: bool,
) -> int:
    from ludic_deepeval.llm.budget import Budget, Meter
    from ludic_deepeval.studies.models import Models
    from ludic_deepeval.studies.runner import run_study

    meter = Meter(Budget(calls, tokens))
    tell = _teller(quiet=as_json)
    if cluster is not None:
        from ludic_deepeval.studies.cluster import run_on_cluster

        found = run_on_cluster(
            store, plan, sidecar, cluster, meter=meter, record=record, most=most, on_line=tell
        )
    else:
        with Models(plan.design.concurrency, record) as models:
            found = run_study(store, plan, models, meter=meter, at_once=at_once, most=most, on_line=tell)
    return _ended(store, plan, found, as_json=as_json)


def _teller(*, quiet: bool) -> "Callable[[Line, Progress], None]":
    def tell(line: "Line", progress: "Progress") -> None:
        from ludic_deepeval.studies.wording import line_text, progress_text

        if not quiet:
            say_now(f"{progress_text(progress)}  {line_text(line)}")

    return tell


def _ended(store: "Store", plan: "StudyPlan", found: "Run", *, as_json: bool) -> int:
    """Say how a run ended: 0 when every trial is kept, 1 when some are left, 2 when nothing could go on."""
    from ludic_deepeval.errors import ModelError

    kept = len(store.done())
    left = len(plan.trials) - kept
    stopped = found.stopped
    if as_json:
        print_json(
            {
                "version": 1,
                "folder": str(store.path),
                "trials": len(plan.trials),
                "kept": kept,
                "kept_now": found.kept,
                "failed": [{"trial": key.id, "reason": str(error)} for key, error in found.failed],
                "stopped": None if stopped is None else str(stopped),
                "spent": {"calls": found.spent.calls, "tokens": found.spent.tokens},
            }
        )
    else:
        for key, error in found.failed:
            say(clean(f"left: {key.id}: {error}", limit=600))
        say(clean(f"{kept} of {len(plan.trials)} trials are kept in {store.path}; {found.spent}", limit=600))
        if left:
            say(clean(f"{left} to do:  ludic study resume {store.path}", limit=600))
        else:
            say(clean(f"what they show:  ludic study report {store.path}", limit=600))
    if isinstance(stopped, ModelError):
        complain(stopped)
        return 1 if stopped.kind == "budget" else 2
    return INTERRUPTED if stopped == "interrupted" else 1 if left else 0


def _preview(plan: "StudyPlan", *, as_json: bool) -> None:
    from dataclasses import asdict

    least, most = plan.cost()
    if as_json:
        print_json(
            {
                "version": 1,
                "trials": [key.id for key in plan.trials],
                "models": list(plan.models),
                "least": asdict(least),
                "most": asdict(most),
            }
        )
        return
    cells, seeds = len(plan.design.cells), len(plan.design.seeds)
    say(f"{cells} cells with {seeds} seed{'s' * (seeds != 1)} each: {cells * seeds} trials")
    for name, levels in plan.design.factors.items():
        say(clean(f"{name}: {', '.join(levels)}", limit=600))
    say(clean(f"asked: {', '.join(plan.models)}", limit=600))
    say(f"without a rewrite {least}")
    say(f"with every rewrite {most}")
    say("sessions are guessed at their usual length; nothing was asked or written")


def status(folder: Folder, as_json: AsJson = False) -> None:
    """Say how far a study is, cell by cell, and what is on record of its changes."""
    from ludic_deepeval.studies.store import SIDECAR, Store
    from ludic_deepeval.studies.wording import status_json, status_text

    store = Store(folder)
    sidecar = store.sidecar()
    plan = sidecar.plan(folder / SIDECAR)
    found = status_json(plan, sidecar, store)
    if as_json:
        print_json(found)
    else:
        for one in status_text(found):
            say(one)
    raise typer.Exit(1 if found["left"] else 0)


def amend(
    folder: Folder,
    design: Annotated[
        Path | None, typer.Argument(metavar="[STUDY.toml]", help="The study as it is to be from now on.")
    ] = None,
    reason: Annotated[str, typer.Option(metavar="WHY", help="Why it is changed.")] = "",
    deviation: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT", help="Note instead that something was not as it was set; changes nothing."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change a study before its first trial is kept, or note a deviation; either is dated and stays in the report."""
    from ludic_deepeval.studies.design import load_design
    from ludic_deepeval.studies.frozen import differences, freeze
    from ludic_deepeval.studies.plan import plan_study
    from ludic_deepeval.studies.store import Store, now

    store = Store(folder)
    was = store.sidecar()
    if (design is None) == (deviation is None):
        raise InputError(
            "ludic study amend", "neither or both", allowed="a changed study with --reason, or --deviation"
        )
    with store.locked():
        store.mend()
        if design is None:
            entry = store.deviate(_reason(str(deviation), "--deviation"))
        else:
            loaded = load_design(design)
            plan = plan_study(loaded.design, design.absolute().parent, design)
            sidecar = freeze(plan, loaded.text, created=now())
            changes = differences(was, sidecar)
            if not changes:
                raise InputError(design, "says what is frozen already", allowed="a study that was changed")
            entry = store.amend(sidecar, _reason(reason, "--reason"), changes)
    if as_json:
        print_json({"version": 1} | entry.model_dump(mode="json"))
        return
    say(f"{entry.kind} of {entry.date}: {entry.reason}")
    for change in entry.changes:
        say(f"  {change}")
