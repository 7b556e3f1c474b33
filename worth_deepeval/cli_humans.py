"""`worth humans clean`: what people submitted, down to the first valid attempt of each."""

from pathlib import Path
from typing import Annotated

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import print_json, say


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
