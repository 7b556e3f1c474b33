"""The command `worth`. Exit codes: 0 holds, 1 something falls short, 2 the input or the call is wrong."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import guarded, print_json, say
from worth_deepeval import cli_author, cli_code
from worth_deepeval.cli_humans import clean_csv
from worth_deepeval.cli_humans import report as humans_report
from worth_deepeval.cli_inspect import import_log
from worth_deepeval.cli_report import report
from worth_deepeval.cli_run import compare, import_run, run

app = typer.Typer(
    name="worth",
    help="Can a model find its own evidence in a mystery?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

humans = typer.Typer(help="What people answered.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(humans, name="humans")
app.command()(run)
app.command("import-run")(import_run)
app.command("import-log")(import_log)
app.command()(compare)
humans.command("clean")(clean_csv)
humans.command("report")(humans_report)
cli_code.register(app)
app.command()(report)
cli_author.register(app)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
EpisodePath = Annotated[
    Path, typer.Argument(metavar="EPISODE", help="An episode's folder or its episode.yaml.")
]
_MOST_REPLY: int = 32 * 1024 * 1024


@app.command()
def validate(
    episodes: Annotated[list[Path], typer.Argument(metavar="EPISODE...")],
    base: Annotated[
        Path | None,
        typer.Option(metavar="EPISODE", help="The episode of which these are rewrites or modifications."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check episodes: ids, points, whether the key sentences suffice for the answer, and variations against what they vary."""
    from worth_deepeval.episode import load_sheet
    from worth_deepeval.validate import validate as find_faults

    found: list[dict[str, Any]] = []
    for path in episodes:
        sheet = load_sheet(path)
        faults = find_faults(sheet)
        if base is not None:
            from worth_deepeval.variation import compare_with_base

            faults += tuple(compare_with_base(load_sheet(base), sheet))
        found.append(
            {
                "path": path.as_posix(),
                "episode": sheet.episode.id,
                "status": sheet.key.status,
                "faults": [{"code": one.code, "where": one.where, "message": one.message} for one in faults],
            }
        )
        if not as_json:
            for one in faults:
                say(
                    f"{clean(str(path), limit=400)}: {one.where}: {clean(one.message, limit=400)}  [{one.code}]"
                )
            if not faults:
                said = (
                    "sound"
                    if sheet.key.status == "final"
                    else "a draft; its ids are sound, its key is not claimed to be"
                )
                say(
                    f"{clean(str(path), limit=400)}: {said}: {len(sheet.episode.sentences)} sentences,"
                    f" {len(sheet.episode.candidates)} candidates, {len(sheet.key.clues) + sheet.key.unplaced} key sentences"
                )
    if as_json:
        print_json({"version": 1, "episodes": found})
    raise typer.Exit(1 if any(one["faults"] for one in found) else 0)


@app.command()
def prompt(
    episode: EpisodePath,
    condition: Annotated[
        str,
        typer.Option(help="full-story or evidence-cueing, with +no-definition, +no-disclosure, +roster-N."),
    ] = "full-story",
) -> None:
    """Print the prompt of an episode, as it is sent in a single turn."""
    from worth_deepeval.conditions import read_condition
    from worth_deepeval.episode import load_question, load_sheet
    from worth_deepeval.prompt import build_prompt

    how = read_condition(condition)
    # Only a prompt that shows K's ids may read the key.
    cued = load_sheet(episode).key.sentences if how.cue == "evidence-cueing" else ()
    sys.stdout.write(build_prompt(load_question(episode), how, cued=cued).text)


@app.command()
def score(
    episode: EpisodePath,
    replies: Annotated[
        list[Path],
        typer.Argument(
            metavar="REPLY...",
            help="Raw replies, - for standard input, or records of runs: a folder or a .jsonl file.",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Score raw replies: what was found and what was concluded, each apart."""
    from ludic_deepeval.outcome import Scored
    from worth_deepeval.episode import load_sheet
    from worth_deepeval.report import score_json, score_text
    from worth_deepeval.scoring import score_text as score_one

    sheet = load_sheet(episode)
    records = [path for path in replies if path.suffix == ".jsonl" or path.is_dir()]
    raw = [path for path in replies if path not in records]
    found = [(path.as_posix(), *score_one(read_reply(path), sheet)) for path in raw]
    runs = None
    if records:
        from worth_deepeval.report_runs import score_runs

        runs = score_runs(sheet, records)
        found += runs.scored
    if as_json:
        print_json(score_json(sheet, found) | (runs.as_json(len(raw)) if runs else {}))
    else:
        for line in [*score_text(sheet, found), *(runs.as_text() if runs else ())]:
            say(line)
    whole = all(isinstance(outcome, Scored) for _, _, outcome in found)
    raise typer.Exit(0 if whole and found and not (runs and runs.failed) else 1)


def read_reply(path: Path) -> str:
    """A reply as text. Bytes that are no UTF-8 are shown as such: a reply is read as it stands, and never refused."""
    from ludic_deepeval.files import read_bytes

    if str(path) == "-":
        data = sys.stdin.buffer.read(_MOST_REPLY + 1)
        if len(data) > _MOST_REPLY:
            raise InputError(
                "standard input", "too long", allowed=f"at most {_MOST_REPLY // 1024 // 1024} MB"
            )
    else:
        data = read_bytes(path, limit=_MOST_REPLY)
    return data.decode("utf-8-sig", errors="replace")


def main() -> None:
    """Run the command; every error is one line on standard error and exit code 2."""

    def run() -> int:
        app(prog_name="worth")
        return 0

    sys.exit(guarded(run, "worth"))
