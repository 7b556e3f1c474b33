"""`ludic ratings`, `ludic ahp` and `ludic weights`: what people make of stories, and what that says of the weights."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import complain, note, print_json, require_profile, say

ratings_app = typer.Typer(
    help="Ratings by people: blinded forms, their import, and what they say of the metrics.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Stories, or folders of stories.")]
Key = Annotated[Path, typer.Argument(metavar="KEY", help="The key that `ludic ratings form` wrote.")]
Sheets = Annotated[list[Path], typer.Argument(metavar="CSV...", help="Sheets that came back.")]
AllowMissing = Annotated[
    bool, typer.Option("--allow-missing", help="Take what raters answered, and count what they did not.")
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same forms.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.add_typer(ratings_app, name="ratings")


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
    from ludic_deepeval.studies.corpus import read_corpus
    from ludic_deepeval.studies.rating_form import write_forms
    from ludic_deepeval.studies.rating_key import make_key, save_key
    from ludic_deepeval.studies.sample import strata_of, stratified

    require_profile(profile)
    if language not in {"en", "zh"}:
        raise InputError("--language", f"found '{clean(language)}'", allowed="en or zh")
    if key.exists() and not force:
        raise InputError(
            key, "is there already", where="--key", allowed="a new file", hint="--force overwrites it"
        )
    corpus = read_corpus(paths, sessions, profile=profile)
    for error in corpus.errors:
        complain(error)
    if corpus.errors:
        raise typer.Exit(2)
    if not corpus.candidates:
        raise InputError(
            str(paths[0]), "no story with a ledger", hint="ludic annotate or ludic extract makes one"
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
    def span(pair: list[int]) -> str:
        return str(pair[0]) if pair[0] == pair[1] else f"{pair[0]} to {pair[1]}"

    lacks = [
        f"{count} without {name.upper()}" for name, count in (("pcv", data["unmeasured"]["pcv"]),) if count
    ]
    lacks += [f"{data['unmeasured']['e_a']} without E_a"] if data["unmeasured"]["e_a"] else []
    return [
        f"{data['stories']} of {data['of']} stories from {data['strata']} strata"
        + (f"; {', '.join(lacks)}" if lacks else ""),
        f"{data['raters']} raters with {span(data['per_rater'])} stories each; {span(data['per_story'])} raters a story",
        f"{out}: rating-R… .html, or .csv with .txt: one to each rater, nothing else",
        f"{data['key']}: the key; keep it from the raters",
    ]
