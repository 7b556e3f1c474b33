"""The commands `ludic study report` and `ludic study score-corpus`: what a study shows, and the scores of a whole corpus."""

from pathlib import Path
from typing import Annotated

import typer

from ludic_deepeval.cli_validity import AllowMissing, imported
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import print_json, require_profile, say

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def report(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of a study that was run.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where the report goes; by default FOLDER/report.")
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(metavar="KEY", help="The key of a rating form that was made from the store."),
    ] = None,
    ratings: Annotated[
        list[Path] | None, typer.Option(metavar="CSV", help="The ratings that came back; may be repeated.")
    ] = None,
    allow_missing: AllowMissing = False,
    as_json: AsJson = False,
) -> None:
    """Say what a study shows: Markdown, one HTML page, and every number with the lines that it comes from."""
    from importlib.util import find_spec

    if find_spec("scipy") is None or find_spec("numpy") is None:
        raise InputError(
            "ludic study report",
            "NumPy and SciPy are not installed",
            hint="pip install 'ludic-worth[studies]'",
        )
    from ludic_deepeval.files import dump_json, make_folder, write_atomic
    from ludic_deepeval.report.study.as_html import study_html
    from ludic_deepeval.report.study.as_markdown import study_markdown
    from ludic_deepeval.studies.findings import findings_json, findings_of
    from ludic_deepeval.studies.store import Store

    if bool(key) != bool(ratings):
        lacks, has = ("--ratings", "--key") if key else ("--key", "--ratings")
        raise InputError("ludic study report", f"{has} without {lacks}", allowed="both or neither")
    if allow_missing and not ratings:
        raise InputError("ludic study report", "--allow-missing without --ratings", allowed="with ratings")
    keyed, came = imported(key, ratings, allow_missing=allow_missing) if key and ratings else (None, None)
    found = findings_of(Store(folder), keyed, came)
    target = out or folder / "report"
    make_folder(target)
    data = findings_json(found)
    write_atomic(target / "report.json", dump_json(data))
    write_atomic(target / "report.md", study_markdown(found))
    write_atomic(target / "report.html", study_html(found))
    if as_json:
        print_json(data)
        raise typer.Exit(0)
    for caution in found.cautions:
        say(clean(caution, limit=400))
    for one in found.verdicts:
        say(clean(f"{one.hypothesis.id}: {one.outcome}: {one.why}", limit=800))
    if found.threshold is not None:
        for backbone in found.threshold.backbones:
            failure = f", {backbone.failure} failure" if backbone.failure else ""
            say(clean(f"the gate, {backbone.name}: {backbone.effect or 'not measured'}{failure}", limit=400))
        say(clean(found.threshold.boundary, limit=400))
    say(
        clean(
            f"{sum(1 for _ in found.numbers())} numbers in {target}: report.html, report.md, report.json",
            limit=400,
        )
    )


def score_corpus(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="JSONL or Parquet with a ledger a row.")
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the scored parts go.")],
    profile: Annotated[str | None, typer.Option(help="campaign, one-shot, cosy or submission.")] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Send the parts to a Dask cluster: its address, or local:2."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score a corpus of ledgers part by part; what is written already is not done again."""
    from ludic_deepeval.settings import find_policy
    from ludic_deepeval.studies.partitions import parts_of, score_corpus

    require_profile(profile)
    policy = find_policy(Path.cwd())[0].with_profile(profile)
    parts = parts_of(files)
    found = score_corpus(parts, out, policy, cluster)
    unscored = found.rows - found.scored
    if as_json:
        print_json(
            {
                "version": 1,
                "parts": len(parts),
                "rows": found.rows,
                "scored": found.scored,
                "passed": found.passed,
                "unscored": unscored,
            }
        )
    else:
        say(
            clean(
                f"{found.rows:,} ledgers in {len(parts)} part{'s' * (len(parts) != 1)}: {found.passed:,} of {found.scored:,} scored ones clear the"
                f" gate, {unscored:,} could not be scored; the figures are in {out}",
                limit=600,
            )
        )
    raise typer.Exit(1 if unscored else 0)
