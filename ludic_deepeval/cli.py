"""The command `ludic`. Exit codes: 0 holds, 1 something falls short, 2 the input or the call is wrong."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ludic_deepeval import (
    cli_archive,
    cli_bible,
    cli_branches,
    cli_crosscheck,
    cli_generate,
    cli_lsp,
    cli_marks,
    cli_profile,
    cli_quests,
    cli_sensitivity,
    cli_stress,
    cli_study,
    cli_table,
    cli_trulens,
    cli_validity,
)
from ludic_deepeval.cli_extract import extract
from ludic_deepeval.cli_judge import judge
from ludic_deepeval.cli_notary_eval import notary_eval
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import complain, guarded, painter, print_json, require_profile, run_check, say

app = typer.Typer(
    name="ludic",
    help="Is a backstory playable, and does it contradict itself?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Profile = Annotated[
    str | None,
    typer.Option(help="campaign, one-shot, cosy, submission or one of your own; by default the story's."),
]
Files = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Stories, or folders of stories.")]


@app.command()
def demo() -> None:
    """Judge a story that comes with the program, and show what a finding looks like."""
    from ludic_deepeval.check import check_stories
    from ludic_deepeval.report.as_text import check_text

    folder = Path(__file__).parent / "demo"
    say(
        "Two tellings of one backstory. In the first the writer closed every door and slipped once; the second mends it.\n"
    )
    for line in check_text(check_stories([folder]), paint=painter()):
        say(line)
    say(
        f"\nThe stories are in {folder}. Your own:  ludic annotate --web my-story.md   then   ludic check my-story.md"
    )


cli_marks.register(app)  # here, as --help lists them


@app.command()
def check(  # noqa: PLR0913, PLR0917  # one argument an option of the command
    context: typer.Context,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH...", help="Stories, or folders of stories.")
    ] = None,
    as_json: AsJson = False,
    profile: Profile = None,
    allow_unread: Annotated[
        bool, typer.Option("--allow-unread", help="Let stories without a ledger through.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show only stories that do not hold.")] = False,
    baseline: Annotated[
        Path | None, typer.Option(help="A file of known findings, which fail nothing.")
    ] = None,
    write_baseline: Annotated[
        bool, typer.Option("--write-baseline", help="Write what is found now into the baseline.")
    ] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Take out of the baseline what is mended.")] = False,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="text (the default), json, sarif, junit, github, markdown or html.",
        ),
    ] = None,
    reports: Annotated[
        list[str] | None,
        typer.Option(
            "--report", metavar="FORMAT=PATH", help="Also write this format to a file; may be repeated."
        ),
    ] = None,
    changed: Annotated[
        bool,
        typer.Option(
            "--changed", help="Only stories that git sees changed, or whose bible, log or settings did."
        ),
    ] = False,
    base: Annotated[
        str | None,
        typer.Option(metavar="REF", help="What --changed compares with; by default the main branch."),
    ] = None,
    bible: Annotated[
        str | None,
        typer.Option(metavar="BIBLE[@vN]", help="Also hold the prose against this version of a Story Bible."),
    ] = None,
) -> None:
    """Judge stories: is there something to play, and do they contradict themselves?"""
    if not paths and not changed:
        raise typer.BadParameter("there is none; or ask for --changed", ctx=context, param_hint="PATH...")
    raise typer.Exit(
        run_check(
            paths or [],
            as_json=as_json,
            profile=profile,
            allow_unread=allow_unread,
            quiet=quiet,
            baseline=baseline,
            write=write_baseline,
            prune=prune,
            format_name=format_name,
            reports=reports or (),
            changed=changed,
            base=base,
            bible=bible,
        )
    )


@app.command()
def score(
    ledger: Annotated[Path, typer.Argument(metavar="LEDGER", help="A ledger or lockfile (JSON).")],
    as_json: AsJson = False,
    profile: Profile = None,
) -> None:
    """Score a ledger by itself: the figures, what they were counted from, and the cheapest fixes."""
    from ludic_deepeval.advice import cheapest_fixes
    from ludic_deepeval.outcome import Unscored
    from ludic_deepeval.report.as_json import card_json
    from ludic_deepeval.report.as_text import score_text
    from ludic_deepeval.scoring import score_ledger
    from ludic_deepeval.settings import find_policy

    require_profile(profile)
    policy = find_policy(ledger.absolute().parent)[0].with_profile(profile)
    facts = _ledger_in(ledger)
    card = score_ledger(facts, policy)
    if as_json:
        print_json({"version": 1, "path": ledger.as_posix(), "profile": policy.profile} | card_json(card))
    else:
        for line in score_text(card, cheapest_fixes(facts, policy), paint=painter()):
            say(line)
    raise typer.Exit(0 if not isinstance(card.gate, Unscored) and card.gate.passed else 1)


def _ledger_in(path: Path) -> Any:
    """Read a bare ledger or the ledger of a lockfile."""
    from ludic_deepeval.files import read_bytes
    from ludic_deepeval.ledger import load_ledger, load_model
    from ludic_deepeval.lockfile import Lockfile
    from ludic_deepeval.lookup import is_lockfile

    data = read_bytes(path)
    return load_model(Lockfile, data, path).ledger if is_lockfile(data) else load_ledger(data, path)


@app.command()
def advise(paths: Files, as_json: AsJson = False, profile: Profile = None) -> None:
    """Say the smallest sets of changes that would make stories playable, each with the score it would give."""
    from ludic_deepeval.check import check_stories as run

    require_profile(profile)
    result = run(paths, profile=profile)
    if as_json:
        from ludic_deepeval.report.as_json import advise_json

        print_json(advise_json(result))
    else:
        from ludic_deepeval.report.as_text import advise_text

        for line in advise_text(result, paint=painter()):
            say(line)
    for error in result.errors:
        complain(error)
    left = not all(story.plays for story in result.stories)
    raise typer.Exit(2 if result.errors else 1 if left else 0)


@app.command()
def agree(
    first: Annotated[Path, typer.Argument(metavar="A", help="A ledger or lockfile.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another reading of the same prose.")],
    as_json: AsJson = False,
) -> None:
    """Compare two readings of one story: per kind of item, and in the figures they lead to."""
    from ludic_deepeval.agreement import compare
    from ludic_deepeval.check import Checker
    from ludic_deepeval.lockfile import load_lockfile
    from ludic_deepeval.lookup import story_of

    one, two = (load_lockfile(path) for path in (first, second))
    if one.source_sha256 != two.source_sha256:
        raise InputError(
            second, "a reading of other prose", where="source_sha256", allowed=f"the prose of {first}"
        )
    story, checker = story_of(first), Checker()
    if story is None:
        raise InputError(first, "no story beside it", allowed="a lockfile beside the prose that it reads")
    bible = checker.bible_for(story)
    found = compare(one.ledger, two.ledger, checker.policy_for(story), names=bible.names if bible else ())
    if as_json:
        from ludic_deepeval.report.as_json import agree_json

        print_json(agree_json(found))
    else:
        from ludic_deepeval.report.as_text import agree_text

        for line in agree_text(found):
            say(line)


@app.command()
def explain(
    code: Annotated[
        str | None, typer.Argument(metavar="CODE", help="The code in a finding's brackets.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a code means, why it matters at the table, and how to mend it; without a code, list them."""
    from ludic_deepeval.codes import CODES
    from ludic_deepeval.explain import EXPLANATIONS
    from ludic_deepeval.report.as_text import explain_text

    if code is not None and code not in CODES:
        raise InputError("ludic explain", f"no code '{clean(code)}'", allowed=", ".join(CODES))
    wanted = [code] if code else list(CODES)
    if as_json:
        found = [{"code": one} | CODES[one]._asdict() | EXPLANATIONS[one]._asdict() for one in wanted]
        print_json({"version": 1, "codes": found})
        return
    for line in explain_text(code, paint=painter()):
        say(line)


@app.command()
def schema(
    part: Annotated[
        str, typer.Option("--for", help="ledger, lockfile, bible, or notary: the part that a model fills in.")
    ] = "ledger",
) -> None:
    """Print a JSON Schema."""
    from ludic_deepeval.schema import SCHEMAS

    if part not in SCHEMAS:
        raise InputError("--for", f"found '{clean(part)}'", allowed=", ".join(SCHEMAS))
    print_json(SCHEMAS[part]())


cli_table.register(app)
app.command()(judge)
app.command()(extract)
app.command()(notary_eval)
cli_stress.register(app)
cli_generate.register(app)
cli_crosscheck.register(app)
cli_profile.register(app)
cli_quests.register(app)
cli_archive.register(app)
cli_branches.register(app)
cli_bible.register(app)
cli_sensitivity.register(app)
cli_study.register(app)
cli_validity.register(app)
cli_trulens.register(app)
cli_lsp.register(app)


def main() -> None:
    """Run the command; every error is one line on standard error and exit code 2."""

    def run() -> int:
        app(prog_name="ludic")
        return 0

    sys.exit(guarded(run))
