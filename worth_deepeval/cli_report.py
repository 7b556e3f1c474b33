"""`worth report`: what the runs of an episode have in common, and what each model is."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import note, print_json, say

if TYPE_CHECKING:
    from worth_deepeval.diagnosis.contrasts import Contrast
    from worth_deepeval.episode import Sheet
    from worth_deepeval.runs import Run


def _beside_base(base: Path, sheet: "Sheet", runs: Path, loaded: "tuple[Run, ...]") -> "tuple[Contrast, ...]":
    """The contrasts of a variation with the episode that it varies, whose runs are among the same records."""
    from worth_deepeval.diagnosis.retold import retold
    from worth_deepeval.episode import load_sheet
    from worth_deepeval.runs import holds_records, load_runs
    from worth_deepeval.variation import compare_with_base

    if not holds_records(runs):
        raise InputError(
            runs,
            "a plain file, which tells no episode",
            allowed="with --base: records of worth run or import-run",
        )
    varied = load_sheet(base)
    if fault := next(iter(compare_with_base(varied, sheet)), None):
        raise InputError(
            "--base",
            fault.message,
            where=fault.where,
            hint=f"worth validate … --base {clean(str(base))} has all",
        )
    return retold((varied, load_runs(runs, varied)), (sheet, loaded))


def _of_others(sheet: "Sheet", loaded: "tuple[Run, ...]") -> int:
    """How many replies say that they are of another episode: a file may have been taken for another one."""
    said = ((run.response.body or {}).get("episode_id", sheet.episode.id) for run in loaded)
    return sum(one != sheet.episode.id for one in said)


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
    as_csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FOLDER", help="Write a tidy file for each table.")
    ] = None,
    author: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the author's page: how each clue and distractor works."),
    ] = None,
    as_markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write the tables as Markdown.")
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option(
            metavar="EPISODE",
            help="The episode of which this one is a rewrite or modification: its runs in RUNS are laid beside.",
        ),
    ] = None,
    as_html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write one page with pictures.")
    ] = None,
) -> None:
    """Diagnose runs: where finding and concluding part, common wrong answers, broken links of the argument."""
    from ludic_deepeval.files import write_atomic
    from worth_deepeval.diagnosis.markdown import markdown, terminal
    from worth_deepeval.diagnostics import contrast_all, diagnose
    from worth_deepeval.episode import load_sheet
    from worth_deepeval.report import draft_note
    from worth_deepeval.runs import load_runs

    sheet = load_sheet(episode)
    loaded = load_runs(runs, sheet)
    found, contrasts = diagnose(sheet, loaded), contrast_all(sheet, loaded)
    if base is not None:
        contrasts += _beside_base(base, sheet, runs, loaded)
    if strangers := _of_others(sheet, loaded):
        note(
            f"{strangers} of {len(loaded)} replies name another episode than {sheet.episode.id}, and are scored by this key"
        )
    for line in draft_note(sheet):
        note(line)
    if as_markdown:
        write_atomic(as_markdown, markdown(sheet, found, contrasts))
        note(f"written: {clean(str(as_markdown), limit=400)}")
    if as_html:
        from worth_deepeval.diagnosis.page import page

        write_atomic(as_html, page(sheet, found, contrasts))
        note(f"written: {clean(str(as_html), limit=400)}")
    if author:
        from worth_deepeval.diagnosis.author import author_page

        write_atomic(author, author_page(sheet, found))
        note(f"written: {clean(str(author), limit=400)}")
    if as_csv:
        from worth_deepeval.diagnosis.tidy import as_csv as csv_text
        from worth_deepeval.diagnosis.tidy import tidy

        try:
            as_csv.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(as_csv, f"no folder can be made ({error.strerror})") from None
        files = tidy(sheet, found, contrasts, loaded)
        for name, rows in files.items():
            write_atomic(as_csv / f"{name}.csv", csv_text(rows))
        note(f"written: {len(files)} files in {clean(str(as_csv), limit=400)}")
    if as_json:
        print_json(
            {
                "version": 1,
                "episode": sheet.episode.id,
                "key": sheet.key.status,
                "conditions": [asdict(one) for one in found],
                "contrasts": [asdict(one) for one in contrasts],
            }
        )
    else:
        for line in terminal(sheet, found, contrasts):
            say(line)
    raise typer.Exit(0 if all(one.scored == one.runs for one in found) else 1)
