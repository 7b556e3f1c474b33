"""`ludic ahp`, `ludic weights` and `ludic policy`: what the dimensions of LPI weigh, and who says so."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludic_deepeval.cli_validity import AllowMissing, AsJson, Seed, imported, needs_studies
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import complain, note, painter, print_json, require_profile, say

if TYPE_CHECKING:
    from ludic_deepeval.studies.calibration import Effect
    from ludic_deepeval.studies.measured import Corpus
    from ludic_deepeval.studies.rating_words import Question

ahp_app = typer.Typer(
    help="Experts on the weights of LPI: pairwise forms and what they say.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
weights_app = typer.Typer(
    help="Weights of LPI from ratings, sessions or play.", no_args_is_help=True, rich_markup_mode=None
)
Profile = Annotated[str | None, typer.Option(help="Measure all stories under this profile.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.add_typer(ahp_app, name="ahp")
    app.add_typer(weights_app, name="weights")
    app.command()(policy)


def policy(
    path: Annotated[Path, typer.Argument(metavar="[PATH]", help="A story or folder.")] = Path(),
    profile: Annotated[str | None, typer.Option(help="campaign, one-shot, cosy or submission.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say which numbers a story is judged by, which file sets them, and whether anybody has calibrated the weights."""
    from dataclasses import fields
    from fractions import Fraction

    from ludic_deepeval.settings import find_policy

    require_profile(profile)
    if not path.exists():
        raise InputError(path, "no such file or folder")
    start = path.absolute()
    found, file = find_policy(start if start.is_dir() else start.parent)
    found = found.with_profile(profile)

    def plain(value: object) -> Any:
        if isinstance(value, Fraction):
            return int(value) if value.denominator == 1 else float(value)
        return [plain(one) for one in value] if isinstance(value, tuple) else value

    values = {one.name: plain(getattr(found, one.name)) for one in fields(found)}
    thresholds = {"lpi": plain(found.lpi_threshold), "pcv": plain(found.pcv_threshold)}
    said = {"file": file.as_posix() if file else None, "provenance": found.provenance, "caveat": found.caveat}
    if as_json:
        print_json({"version": 1, "policy": values, "passes_at": thresholds, **said})
        return
    say(f"profile {found.profile}, from {clean(str(file), limit=300) if file else 'the built-in defaults'}")
    say(f"  passes at LPI {thresholds['lpi']:g} and PCV {thresholds['pcv']:g}")
    say(
        "  LPI weighs "
        + ", ".join(f"{n} {v:g}" for n, v in zip(("RTN", "MV", "UCR", "TH"), values["weights"], strict=True))
    )
    say("  PCV weighs " + ", ".join(f"{n} {v:g}" for n, v in zip("IGVD", values["pcv_weights"], strict=True)))
    say(f"  {found.provenance}")


@ahp_app.command("form")
def ahp_form(
    experts: Annotated[int, typer.Option(help="How many experts.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the forms go.")],
    seed: Seed = 1,
    language: Annotated[str, typer.Option(help="Of the questions: en or zh.")] = "en",
    as_json: AsJson = False,
) -> None:
    """Write a pairwise form for each expert: six comparisons, with no weight in it."""
    from ludic_deepeval.studies.ahp_form import make_forms, write_pair_forms

    if language not in {"en", "zh"}:
        raise InputError("--language", f"found '{clean(language)}'", allowed="en or zh")
    forms = list(make_forms(experts, seed=seed, language=language))  # type: ignore[arg-type]  # en or zh
    files = write_pair_forms(forms, out)
    if as_json:
        print_json({"version": 1, "form": forms[0].form, "files": [path.as_posix() for path in files]})
    else:
        say(f"{out}: ahp-E… .html, or .csv with .txt, for {experts} experts")


@ahp_app.command("report")
def ahp_report(
    sheets: Annotated[list[Path], typer.Argument(metavar="CSV...", help="Sheets that came back.")],
    stories: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH", help="Stories to judge again under the panel's weights; may be repeated."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap over experts.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Screen a panel, join those who are consistent, and compare with the weights in force; 0 when it bears them out."""
    with needs_studies():
        from ludic_deepeval.report.as_weights import ahp_json, ahp_text
        from ludic_deepeval.studies.ahp import Judgement, elicit
    from ludic_deepeval.outcome import Scored
    from ludic_deepeval.settings import find_policy
    from ludic_deepeval.studies.ahp_form import read_pairs

    answers = read_pairs(sheets)
    for error in answers.errors:
        complain(error)
    if answers.errors:
        raise typer.Exit(2)
    start = stories[0].absolute() if stories else Path.cwd()
    in_force = find_policy(start if start.is_dir() else start.parent)[0]
    judgements = [Judgement(expert, ratios) for expert, ratios in sorted(answers.ratios.items())]
    found = elicit(judgements, [float(one) for one in in_force.weights], seed=seed)
    effect = _effect(found.group.value, stories) if stories and isinstance(found.group, Scored) else None
    if as_json:
        print_json(ahp_json(found, effect))
    else:
        for line in ahp_text(found, effect, painter()):
            say(line)
    raise typer.Exit(0 if found.corroboration is not None and found.corroboration.met else 1)


def _effect(weights: tuple[float, ...], paths: list[Path]) -> "Effect":
    from ludic_deepeval.check import check_stories
    from ludic_deepeval.studies.calibration import effect_of

    found = check_stories(paths)
    for error in found.errors:
        complain(error)
    if found.errors:
        raise typer.Exit(2)
    return effect_of(weights, found.stories)


@weights_app.command("fit")
def weights_fit(  # noqa: PLR0913, PLR0917  # one argument an option of the command
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH...]", help="Stories, folders, or a study's trials.jsonl."),
    ] = None,
    sessions: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Their recorded stress tests: E_a is the target.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="KEY", help="The key of ratings, which are the target.")
    ] = None,
    ratings: Annotated[
        list[Path] | None, typer.Option(metavar="CSV", help="The ratings; may be repeated.")
    ] = None,
    question: Annotated[str, typer.Option(help="q1 … q4: which rating is the target.")] = "q4",
    table: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Columns rtn, mv, ucr, th, target, in place of all these."),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help="ridge, genetic, factor or draws; by default all; may be repeated."),
    ] = None,
    allow_missing: AllowMissing = False,
    profile: Profile = None,
    seed: Annotated[int, typer.Option(min=0, help="Of searches and partitions.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Fit weights to a target and say what they are worth on stories they were not fitted to; 0 when one is clearly better."""
    with needs_studies():
        from ludic_deepeval.report.as_weights import weights_json, weights_text
        from ludic_deepeval.studies import calibration
    from ludic_deepeval.outcome import Scored
    from ludic_deepeval.settings import find_policy

    methods = _methods(method, calibration.METHODS)
    require_profile(profile)
    _require_one_source(paths, sessions, key, ratings, table)
    if table is not None:
        basis = calibration.from_table(table)
    elif key is not None:
        keyed, came = imported(key, ratings or [], allow_missing=allow_missing)
        basis = calibration.from_ratings(keyed, came, _question(question))
    else:
        basis = calibration.from_stories(_corpus(paths or [], sessions, profile), sessions)
    start = (paths or [Path()])[0].absolute()
    in_force = find_policy(start if start.is_dir() else start.parent)[0]
    default = tuple(float(one) for one in in_force.weights)
    found = calibration.calibrate(methods, basis, default, seed=seed)
    if as_json:
        head = {
            "target": basis.about,
            "stories": basis.stories,
            "simulated": basis.simulated,
            "scripted": basis.scripted,
        }
        print_json(weights_json(found, default, head | {"provenance": in_force.provenance}))
    else:
        lines = [f"target: {basis.about}" + (f", of {basis.stories} stories" if basis.stories else "")]
        if basis.simulated:
            lines.append(f"SIMULATED: {basis.simulated} of the ratings were made up by a program")
        if basis.scripted:
            lines.append(f"scripted: {basis.scripted} of the sessions were planned or labelled by no model")
        for line in weights_text(found, default, [*lines, f"in force: {in_force.provenance}"], painter()):
            say(line)
    better = any(isinstance(one.comparison, Scored) and one.comparison.value.better for one in found)
    raise typer.Exit(0 if better else 1)


def _require_one_source(
    paths: list[Path] | None,
    sessions: Path | None,
    key: Path | None,
    ratings: list[Path] | None,
    table: Path | None,
) -> None:
    sources = [name for name, given in (("PATH", paths), ("--key", key), ("--table", table)) if given]
    if len(sources) != 1 or bool(key) != bool(ratings) or (sessions and not paths):
        allowed = "PATH… with --sessions; or --key with --ratings; or --table"
        raise InputError("ludic weights fit", f"found {', '.join(sources) or 'no source'}", allowed=allowed)


def _question(name: str) -> "Question":
    from ludic_deepeval.studies.rating_words import QUESTIONS

    for one in QUESTIONS:
        if one == name:
            return one
    raise InputError("--question", f"found '{clean(name)}'", allowed=", ".join(QUESTIONS))


def _corpus(paths: list[Path], sessions: Path | None, profile: str | None) -> "Corpus":
    from ludic_deepeval.studies.measured import read_corpus

    corpus = read_corpus(paths, sessions, profile=profile)
    for error in corpus.errors:
        complain(error)
    if corpus.errors:
        raise typer.Exit(2)
    for path, reason in corpus.left_out:
        note(f"{path}: left out: {reason}")
    return corpus


def _methods(asked: list[str] | None, known: tuple[Any, ...]) -> tuple[Any, ...]:
    for name in asked or ():
        if name not in known:
            raise InputError("--method", f"found '{clean(name)}'", allowed=", ".join(known))
    return tuple(name for name in known if not asked or name in asked)


@weights_app.command("update")
def weights_update(
    state: Annotated[Path, typer.Argument(metavar="STATE", help="A JSON file; made when it is not there.")],
    log: Annotated[
        Path, typer.Argument(metavar="CSV", help="Columns session and drew, such as 3 and RTN; TH.")
    ],
    strength: Annotated[
        float | None,
        typer.Option(help="Draws that the weights in force are worth to begin with; 40 by default."),
    ] = None,
    keep: Annotated[
        float | None,
        typer.Option(help="What is left of a draw after each later session, above 0 to 1; 1 by default."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Move weights along with what players take up at the table; a session is counted once."""
    with needs_studies():
        from ludic_deepeval.studies.weights import NAMES, rounded
        from ludic_deepeval.studies.weights_draws import OnlineWeights
    from ludic_deepeval.files import dump_json, read_bytes, write_atomic
    from ludic_deepeval.ledger import load_model
    from ludic_deepeval.settings import find_policy
    from ludic_deepeval.studies.calibration import read_log

    if state.exists():
        if strength is not None or keep is not None:
            raise InputError(
                state, "is there already, with its own strength and keep", allowed="neither option"
            )
        before = load_model(OnlineWeights, read_bytes(state), state)
    else:
        in_force = find_policy(state.absolute().parent)[0]
        data = {
            "prior": [float(one) for one in in_force.weights],
            "strength": 40.0 if strength is None else strength,
            "keep": 1.0 if keep is None else keep,
        }
        before = load_model(OnlineWeights, data, "--strength, --keep")
    after = before.update(read_log(log))
    write_atomic(state, dump_json(after.model_dump(mode="json")))
    new = len(after.seen) - len(before.seen)
    if as_json:
        moved = {"before": before.weights, "after": after.weights}
        named = {when: dict(zip(NAMES, one, strict=True)) for when, one in moved.items()}
        print_json({"version": 1, "new": new, "sessions": len(after.seen), **named})
        return
    say(f"{state}: {new} new sessions, {len(after.seen)} in all")
    for name, one, other in zip(NAMES, before.weights, after.weights, strict=True):
        say(f"  {name:<4} {one:.3f} -> {other:.3f}")
    say(f"  weights = [{', '.join(map(str, rounded(after.weights)))}]")
