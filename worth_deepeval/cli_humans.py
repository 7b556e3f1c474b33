"""`worth humans clean` and `report`: the first valid attempt of each player, and what players did beside models."""

from pathlib import Path
from typing import Annotated

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import note, print_json, say


def clean_csv(
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="A row for each submission.")],
    episode: Annotated[list[Path], typer.Option(help="The episode of the submissions; may be given again.")],
    out: Annotated[Path, typer.Option(metavar="OUT.csv", help="Where the kept rows go.")],
    anomalies: Annotated[
        Path | None, typer.Option(metavar="LIST.csv", help="player, reason, and perhaps episode: who is out.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Keep the initial submission of each player and episode; count and name whatever is left out."""
    from ludic_deepeval.files import dump_json, write_atomic
    from worth_deepeval.episode import load_question
    from worth_deepeval.humans import clean_submissions, read_anomalies, read_submissions

    if out.resolve() == file.resolve():
        raise InputError("--out", "the file itself", allowed="another file")
    episodes = [load_question(path).episode for path in episode]
    fields, rows = read_submissions(file)
    found = clean_submissions(fields, rows, episodes, read_anomalies(anomalies) if anomalies else None)
    counts = found.counts()
    counted = out.with_suffix(".counts.json")
    write_atomic(out, found.csv())
    write_atomic(counted, dump_json(counts))
    if as_json:
        print_json(counts)
        return
    say(
        f"{counts['rows']:,} submissions of {counts['players']:,} players: {counts['kept']:,} kept,"
        f" the first valid attempt of each player and episode"
    )
    for reason, number in counts["excluded"].items():
        if number:
            say(f"  {number:,} left out: {_SAID[reason]}")
    say(
        f"kept: {clean(str(out), limit=400)}; counts, and every row that is left out: {clean(str(counted), limit=400)}"
    )


def report(
    episode: Annotated[Path, typer.Argument(metavar="EPISODE")],
    players: Annotated[Path, typer.Argument(metavar="FIRST.csv", help="What worth humans clean has kept.")],
    runs: Annotated[
        Path,
        typer.Argument(
            metavar="RUNS", help="The folder or file of worth run, or a file with a line for each run."
        ),
    ],
    condition: Annotated[str, typer.Option(help="Under which condition the models read.")] = "full-story",
    as_markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write the tables as Markdown.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Set what people did beside what models did: descriptions, and no test between the two."""
    from dataclasses import asdict

    from ludic_deepeval.files import write_atomic
    from worth_deepeval.episode import load_sheet
    from worth_deepeval.reference import load_players, reference
    from worth_deepeval.report_humans import reference_markdown, reference_text
    from worth_deepeval.runs import load_runs

    sheet = load_sheet(episode)
    people, skipped = load_players(players, sheet)
    loaded = load_runs(runs, sheet)
    chosen = tuple(run for run in loaded if run.condition == condition)
    if not chosen:
        there = ", ".join(dict.fromkeys(run.condition for run in loaded))
        raise InputError(
            "--condition", f"no runs under '{clean(condition)}'", allowed=clean(there, limit=400)
        )
    found = reference(sheet, people, condition, chosen, skipped)
    if as_markdown:
        write_atomic(as_markdown, reference_markdown(sheet, found))
        note(f"written: {clean(str(as_markdown), limit=400)}")
    if as_json:
        print_json({"version": 1} | asdict(found))
    else:
        for line in reference_text(sheet, found):
            say(line)


_SAID = {
    "trial-play": "a trial play",
    "anomaly": "on the list of anomalies",
    "invalid-first": "a first submission that breaks the rules; the player is out",
    "unclear-first": "two different submissions at one time, so that the first cannot be told; the player is out",
    "after-excluded-first": "a later one of a player whose first is out",
    "later-attempt": "a later attempt",
    "other-episode": "of another episode",
    "unusable": "without a player or a time",
}
