"""`ludic ratings`: what people make of stories, and whether the metrics mean the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import complain, note, painter, print_json, require_profile, say

ratings_app = typer.Typer(
    help="Ratings by people: blinded forms, their import, and what they say of the metrics.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Paths = Annotated[
    list[Path], typer.Argument(metavar="PATH...", help="Stories, folders, or a study's trials.jsonl.")
]
Key = Annotated[Path, typer.Argument(metavar="KEY", help="The key that `ludic ratings form` wrote.")]
Sheets = Annotated[list[Path], typer.Argument(metavar="CSV...", help="Sheets that came back.")]
AllowMissing = Annotated[
    bool, typer.Option("--allow-missing", help="Take what raters answered, and count what they did not.")
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same forms.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    from ludic_deepeval import cli_weights

    app.add_typer(ratings_app, name="ratings")
    cli_weights.register(app)


@ratings_app.command("form")
def ratings_form(  # noqa: PLR0913, PLR0917  # one argument an option of the command
    paths: Paths,
    raters: Annotated[int, typer.Option(help="How many people will rate.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the forms go: what raters are sent.")],
    key: Annotated[Path, typer.Option(metavar="FILE", help="Where the key goes: what no rater is sent.")],
    per_story: Annotated[int, typer.Option(help="Raters for each story.")] = 3,
    per_rater: Annotated[
        int | None, typer.Option(help="Stories for each rater; by default what --per-story needs.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(help="Take so many stories, spread over the metrics; by default all.")
    ] = None,
    bins: Annotated[int, typer.Option(min=1, max=20, help="Parts that each metric is cut into.")] = 3,
    seed: Seed = 1,
    sessions: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Recorded stress tests, for E_a.")
    ] = None,
    language: Annotated[str, typer.Option(help="Of the questions: en or zh.")] = "en",
    profile: Annotated[str | None, typer.Option(help="Measure all stories under this profile.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a key that is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a form for each rater: stories and four questions, with nothing in it of where they come from or how they score."""
    from ludic_deepeval.studies.assignment import assign
    from ludic_deepeval.studies.measured import read_corpus
    from ludic_deepeval.studies.rating_form import write_forms
    from ludic_deepeval.studies.rating_key import make_key, save_key
    from ludic_deepeval.studies.sample import strata_of, stratified
    from ludic_deepeval.studies.sheets import require_no_forms

    require_profile(profile)
    if language not in {"en", "zh"}:
        raise InputError("--language", f"found '{clean(language)}'", allowed="en or zh")
    if key.exists() and not force:
        raise InputError(
            key, "is there already", where="--key", allowed="a new file", hint="--force overwrites it"
        )
    require_no_forms(out, "rating")  # before the key is written
    corpus = read_corpus(paths, sessions, profile=profile)
    for error in corpus.errors:
        complain(error)
    if corpus.errors:
        raise typer.Exit(2)
    if not corpus.candidates:
        for path, reason in corpus.left_out:
            note(f"{path}: left out: {reason}")
        raise InputError(
            str(paths[0]),
            "no story that was measured",
            allowed="stories with a ledger, or trials with an LPI",
            hint="ludic annotate or ludic extract makes a ledger",
        )
    all_strata = strata_of(corpus.candidates, bins)
    pairs = list(zip(corpus.candidates, all_strata, strict=True))
    drawn = stratified(pairs, lambda pair: pair[1], len(pairs) if sample is None else sample, seed)
    stories, strata = [one for one, _ in drawn], [stratum for _, stratum in drawn]
    plan = assign(strata, raters, per_story=per_story, per_rater=per_rater, seed=seed)
    made = make_key(stories, strata, plan, seed=seed, language=language)  # type: ignore[arg-type]  # en or zh
    save_key(made, key, out)
    prose = {item.item: one.prose.body for item, one in zip(made.items, stories, strict=True)}
    written = write_forms(made, prose, out)
    for path, reason in corpus.left_out:
        note(f"{path}: left out: {reason}")
    data = {
        "version": 1,
        "form": made.form,
        "stories": len(stories),
        "of": len(pairs),
        "left_out": [{"path": path, "reason": reason} for path, reason in corpus.left_out],
        "strata": len(set(strata)),
        "raters": raters,
        "per_rater": [min(plan.loads), max(plan.loads)],
        "per_story": [min(plan.raters_of), max(plan.raters_of)],
        "unmeasured": {name: sum(one.metrics[name] is None for one in stories) for name in ("pcv", "e_a")},
        "files": [path.as_posix() for path in written],
        "key": key.as_posix(),
    }
    if as_json:
        print_json(data)
        return
    for line in _form_text(data, out):
        say(line)


def _form_text(data: dict[str, Any], out: Path) -> list[str]:
    from ludic_deepeval.report.as_text import counted

    def span(pair: list[int], one: str, many: str) -> str:
        return counted(pair[0], one, many) if pair[0] == pair[1] else f"{pair[0]} to {pair[1]} {many}"

    lacks = [
        f"{count} without {name.upper()}" for name, count in (("pcv", data["unmeasured"]["pcv"]),) if count
    ]
    lacks += [f"{data['unmeasured']['e_a']} without E_a"] if data["unmeasured"]["e_a"] else []
    return [
        f"{data['stories']} of {counted(data['of'], 'story', 'stories')} from {counted(data['strata'], 'stratum', 'strata')}"
        + (f"; {', '.join(lacks)}" if lacks else ""),
        f"{counted(data['raters'], 'rater', 'raters')} with {span(data['per_rater'], 'story', 'stories')} each; {span(data['per_story'], 'rater', 'raters')} a story",
        f"{out}: rating-R… .html, or .csv with .txt: one to each rater, nothing else",
        f"{data['key']}: the key; keep it from the raters",
    ]


def imported(key_file: Path, sheets: list[Path], *, allow_missing: bool) -> Any:
    """The key and what came back for it; every fault is told and ends the command with 2."""
    from ludic_deepeval.studies.rating_key import load_key
    from ludic_deepeval.studies.ratings import import_ratings

    key = load_key(key_file)
    found = import_ratings(key, sheets, allow_missing=allow_missing)
    for error in found.errors:
        complain(error)
    if found.errors:
        raise typer.Exit(2)
    return key, found.ratings


@ratings_app.command("import")
def ratings_import(
    key: Key,
    sheets: Sheets,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all ratings into one sheet.")
    ] = None,
    allow_missing: AllowMissing = False,
    as_json: AsJson = False,
) -> None:
    """Check sheets that came back, row by row, and join them."""
    from ludic_deepeval.files import write_atomic
    from ludic_deepeval.report.as_ratings import import_text
    from ludic_deepeval.studies.ratings import counts, ratings_csv

    _, ratings = imported(key, sheets, allow_missing=allow_missing)
    if out is not None:
        write_atomic(out, ratings_csv(ratings))
    if as_json:
        print_json({"version": 1, "form": ratings.form, "simulated": ratings.simulated, **counts(ratings)})
    else:
        for line in import_text(ratings):
            say(line)
    raise typer.Exit(1 if ratings.absent or ratings.unanswered else 0)


@ratings_app.command("report")
def ratings_report(
    key: Key,
    sheets: Sheets,
    allow_missing: AllowMissing = False,
    resamples: Annotated[int, typer.Option(min=100, max=100_000, help="Of the bootstrap.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Say whether the metrics mean what people mean, and how far people agree; 1 when something cannot be computed."""
    with needs_studies():
        from ludic_deepeval.report.as_ratings import validity_json, validity_text
        from ludic_deepeval.studies.validity import measure_validity
    from ludic_deepeval.outcome import Unscored

    keyed, ratings = imported(key, sheets, allow_missing=allow_missing)
    found = measure_validity(keyed, ratings, resamples=resamples, seed=seed)
    if as_json:
        print_json(validity_json(found, ratings))
    else:
        for line in validity_text(found, ratings, painter()):
            say(line)
    lost = [one.r for one in found.convergent] + [one.icc for one in found.reliability]
    raise typer.Exit(1 if any(isinstance(one, Unscored) for one in lost) else 0)


@ratings_app.command("rehearse")
def ratings_rehearse(
    key: Key,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the sheets go.")],
    validity: Annotated[
        float, typer.Option(min=-1, max=1, help="Planted correlation of stories with their metric.")
    ] = 0.6,
    agreement: Annotated[float, typer.Option(min=0, max=1, help="Planted ICC(1).")] = 0.5,
    seed: Seed = 0,
) -> None:
    """Make up sheets, to try a study out before anybody is asked; each row says that it is SIMULATED."""
    from ludic_deepeval.files import make_folder, write_atomic
    from ludic_deepeval.studies.rating_key import load_key
    from ludic_deepeval.studies.rehearsal import rehearse

    sheets = rehearse(load_key(key), validity=validity, agreement=agreement, seed=seed)
    make_folder(out)
    for rater, sheet in sheets.items():
        write_atomic(out / f"simulated-{rater}.csv", sheet)
    say(f"{out}: {len(sheets)} sheets of made-up answers; they say nothing of any story")


@contextmanager
def needs_studies() -> Iterator[None]:
    """Say which extra is missing where NumPy, SciPy or statsmodels is."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"numpy", "scipy", "statsmodels"}:
            raise
        raise InputError(
            "ludic", f"{error.name} is not installed", hint="pip install 'ludic-worth[studies]'"
        ) from None
