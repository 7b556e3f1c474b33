"""`worth code`: sheets for coders, how far two of them agree, what came of it, and a model as one more coder. No points."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import note, print_json, say

if TYPE_CHECKING:
    from worth_deepeval.coded import Agreement, CodeCount
    from worth_deepeval.coding import Kind, SheetRow
    from worth_deepeval.episode import Sheet

_RUNS: Final = "The folder or file of worth run, or a file with a line for each run."
EpisodePath = Annotated[
    Path, typer.Argument(metavar="EPISODE", help="An episode's folder or its episode.yaml.")
]
Runs = Annotated[Path, typer.Argument(metavar="RUNS", help=_RUNS)]
Out = Annotated[Path, typer.Option(metavar="SHEET.csv", help="Where the sheet goes.")]
Seed = Annotated[int, typer.Option(help="Decides marks and order; the same seed, the same sheet.")]
ConditionOf = Annotated[str, typer.Option("--condition", help="Of which condition's runs.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def register(app: typer.Typer) -> None:
    """Add the commands to `worth`."""
    code = typer.Typer(
        help="Code neighbours and explanations by hand, blind; no points.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    code.command("sheet")(sheet)
    code.command("ask")(ask)
    code.command("agree")(agree)
    code.command("count")(count)
    app.add_typer(code, name="code")


def _rows(
    episode: Path, runs: Path, kind: "Kind", seed: int, condition: str
) -> "tuple[Sheet, tuple[SheetRow, ...]]":
    from worth_deepeval.coding import rows_of
    from worth_deepeval.diagnosis.sample import Sample
    from worth_deepeval.episode import load_sheet
    from worth_deepeval.runs import load_runs

    loaded = load_sheet(episode)
    every = load_runs(runs, loaded)
    chosen = tuple(run for run in every if run.condition == condition)
    if not chosen:
        there = ", ".join(dict.fromkeys(run.condition for run in every))
        raise InputError(
            "--condition", f"no runs under '{clean(condition)}'", allowed=clean(there, limit=400)
        )
    rows = rows_of(kind, Sample(loaded, chosen), seed=seed)
    if not rows:
        raise InputError(runs, f"no {kind} to code")
    return loaded, rows


def sheet(
    episode: EpisodePath,
    runs: Runs,
    out: Out,
    kind: Annotated[str, typer.Option(help="explanations or neighbours.")] = "explanations",
    seed: Seed = 0,
    condition: ConditionOf = "full-story",
    as_json: AsJson = False,
) -> None:
    """Write a blind sheet for coders, a codebook, and a key that is not for them."""
    from ludic_deepeval.files import dump_json, write_atomic
    from worth_deepeval.coding import KINDS, codebook, key_json, sheet_csv

    chosen = next((one for one in KINDS if one == kind), None)
    if chosen is None:
        raise InputError("--kind", f"found '{clean(kind)}'", allowed=", ".join(KINDS))
    if out.exists():
        raise InputError(out, "it is there already", allowed="a new file: a sheet may have codes in it")
    loaded, rows = _rows(episode, runs, chosen, seed, condition)
    key, book = out.with_suffix(".key.json"), out.with_suffix(".codebook.md")
    write_atomic(key, dump_json(key_json(chosen, loaded, rows, seed)))
    write_atomic(book, codebook(chosen, loaded))
    write_atomic(out, sheet_csv(chosen, rows))
    named = sum(
        str(row.source["model"]).casefold() in " ".join(row.shown.values()).casefold() for row in rows
    )
    if as_json:
        print_json(
            {
                "version": 1,
                "sheet": out.as_posix(),
                "key": key.as_posix(),
                "codebook": book.as_posix(),
                "rows": len(rows),
                "rows_that_name_their_model": named,
            }
        )
        return
    say(
        f"{len(rows):,} rows to code: {clean(str(out), limit=400)}; what the codes mean: {clean(str(book), limit=400)}"
    )
    say(f"whose row is whose, not for coders: {clean(str(key), limit=400)}")
    if named:
        say(f"{named:,} rows hold the name of their model and are not blind")


def ask(  # noqa: PLR0913, PLR0917  # one argument an option of the command
    episode: EpisodePath,
    runs: Runs,
    out: Out,
    model: Annotated[str, typer.Option(help="provider:model, who codes.")],
    seed: Seed = 0,
    condition: ConditionOf = "full-story",
    base_url: Annotated[str | None, typer.Option(help="The server of ollama, anthropic or openai.")] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also record the answers, to be replayed.")
    ] = None,
    concurrency: Annotated[int, typer.Option(help="How many requests may be under way.")] = 4,
    budget_calls: Annotated[int | None, typer.Option(help="The most requests.")] = None,
    as_json: AsJson = False,
) -> None:
    """Have a model fill in a sheet of explanations by a rubric: one more coder, to be laid beside a person's."""
    import os

    os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
    from ludic_deepeval.files import dump_json, write_atomic
    from ludic_deepeval.llm.budget import Budget, Meter
    from ludic_deepeval.llm.loop import run
    from ludic_deepeval.llm.names import open_model
    from worth_deepeval.coding import CODES, sheet_csv

    try:
        from worth_deepeval.coding_judge import code_explanations, coding_prompt
    except ModuleNotFoundError as error:
        if error.name != "deepeval":
            raise
        raise InputError(
            "worth code ask", "DeepEval is not installed", hint="pip install 'ludic-worth[deepeval]'"
        ) from None
    loaded, rows = _rows(episode, runs, "explanations", seed, condition)
    asked = open_model(model, base_url=base_url, record=record)
    note(f"{len(rows) * len(CODES['explanations']):,} requests to {clean(asked.name)}")
    found = run(
        code_explanations(
            loaded, rows, asked, meter=Meter(Budget(budget_calls, None)), concurrency=concurrency
        )
    )
    producer = asked.producer
    reasons = out.with_suffix(".reasons.json")
    write_atomic(
        reasons,
        dump_json(
            {
                "version": 1,
                "model": asked.name,
                "by": producer.kind,
                "prompts": {
                    one.name: {
                        "version": coding_prompt(one.name).version,
                        "sha256": coding_prompt(one.name).sha256,
                    }
                    for one in CODES["explanations"]
                },
                "reasons": {item: dict(each) for item, each in found.reasons.items()},
                "failures": [{"item": item, "code": code, "why": why} for item, code, why in found.failures],
            }
        ),
    )
    write_atomic(out, sheet_csv("explanations", rows, found.codes))
    if as_json:
        print_json(
            {"version": 1, "sheet": out.as_posix(), "rows": len(rows), "failures": len(found.failures)}
        )
    else:
        say(
            f"{len(rows):,} rows coded by {clean(asked.name)}: {clean(str(out), limit=400)}; what it said for it: {clean(str(reasons), limit=400)}"
        )
        if found.failures:
            say(f"{len(found.failures):,} cells without a usable answer are left empty")
    raise typer.Exit(1 if found.failures else 0)


def agree(
    first: Annotated[Path, typer.Argument(metavar="A.csv")],
    second: Annotated[Path, typer.Argument(metavar="B.csv")],
    as_json: AsJson = False,
) -> None:
    """Say how far two coders of one sheet agree: Cohen's kappa for each code."""
    from worth_deepeval.coded import agreement, agreement_json, read_coded

    found = agreement(read_coded(first), read_coded(second))
    if as_json:
        print_json({"version": 1, "codes": agreement_json(found)})
    else:
        for line in map(_agreed, found):
            say(line)
    raise typer.Exit(0 if all(one.both for one in found) else 1)


def _agreed(one: "Agreement") -> str:
    from worth_deepeval.diagnosis.profiles import rate_text

    kappa = "no kappa: both say the same throughout" if one.kappa is None else f"kappa {float(one.kappa):.2f}"
    if not one.both:
        return f"{one.code}: no row that both coded"
    parted = "; ".join(f"{a} against {b}: {n}" for a, b, n in one.table if a != b)
    alone = f"; coded by one of them alone: {one.one_only}" if one.one_only else ""
    return f"{one.code}: the same in {rate_text(one.same)}, {kappa}{f' ({parted})' if parted else ''}{alone}"


def count(
    key: Annotated[Path, typer.Argument(metavar="SHEET.key.json")],
    sheets: Annotated[
        list[Path], typer.Argument(metavar="CODED.csv...", help="One sheet or several coders'.")
    ],
    as_json: AsJson = False,
) -> None:
    """Count codes by model, where all coders agree."""
    from dataclasses import asdict

    from worth_deepeval.coded import counts, read_coded, read_key

    found = counts(read_key(key), [read_coded(path) for path in sheets])
    if as_json:
        print_json({"version": 1, "coders": len(sheets), "counts": [asdict(one) for one in found]})
    else:
        for line in _counted(found):
            say(line)
    raise typer.Exit(0 if all(not one.uncoded for one in found if one.model == "all") else 1)


def _counted(found: "tuple[CodeCount, ...]") -> list[str]:
    from worth_deepeval.diagnosis.profiles import rate_text

    lines = [
        f"{one.code} {one.value}, {clean(one.model)}: {rate_text(one.rows)}"
        for one in found
        if one.rows.count or one.model == "all"
    ]
    for code in dict.fromkeys(one.code for one in found):
        left = next(one.uncoded for one in found if one.code == code and one.model == "all")
        if left:
            lines.append(f"{code}: {left} rows are not coded, or coders differ; they are in no rate")
    return lines
