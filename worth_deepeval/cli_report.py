"""`worth report`: what the runs of an episode have in common, and what each model is."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ludic_deepeval.terminal import note, print_json, say


def report(
    episode: Annotated[
        Path, typer.Argument(metavar="EPISODE", help="An episode's folder or its episode.yaml.")
    ],
    runs: Annotated[
        Path,
        typer.Argument(
            metavar="RUNS",
            help="The folder or file of worth run, or a file with a line for each run: model, repetition, condition, text.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    as_markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write the tables as Markdown.")
    ] = None,
    as_html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write one page with pictures.")
    ] = None,
) -> None:
    """Diagnose runs: where finding and concluding part, common wrong answers, broken links of the argument."""
    from ludic_deepeval.files import write_atomic
    from worth_deepeval.diagnosis.markdown import markdown, terminal
    from worth_deepeval.diagnostics import diagnose
    from worth_deepeval.episode import load_sheet
    from worth_deepeval.runs import load_runs

    sheet = load_sheet(episode)
    found = diagnose(sheet, load_runs(runs, sheet))
    if as_markdown:
        write_atomic(as_markdown, markdown(sheet, found))
        note(f"written: {as_markdown}")
    if as_html:
        from worth_deepeval.diagnosis.page import page

        write_atomic(as_html, page(sheet, found))
        note(f"written: {as_html}")
    if as_json:
        print_json({"version": 1, "episode": sheet.episode.id, "conditions": [asdict(one) for one in found]})
    else:
        for line in terminal(sheet, found):
            say(line)
    raise typer.Exit(0 if all(one.scored == one.runs for one in found) else 1)
