"""The command `ludic`. Exit codes: 0 holds, 1 something falls short, 2 the input or the call is wrong."""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludic_deepeval import cli_crosscheck, cli_generate, cli_stress, cli_table
from ludic_deepeval.cli_extract import extract
from ludic_deepeval.cli_judge import judge
from ludic_deepeval.cli_notary_eval import notary_eval
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import complain, guarded, painter, print_json, require_profile, run_check, say

if TYPE_CHECKING:
    from ludic_deepeval.sources import Story

app = typer.Typer(
    name="ludic",
    help="Is a backstory playable, and does it contradict itself?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
bible_app = typer.Typer(help="Story Bibles.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(bible_app, name="bible")
cli_table.register(app)
cli_stress.register(app)
cli_generate.register(app)
cli_crosscheck.register(app)
app.command()(judge)
app.command()(extract)
app.command()(notary_eval)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Profile = Annotated[
    str | None, typer.Option(help="campaign, one-shot, cosy or submission; by default the story's own.")
]
Files = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Stories, or folders of stories.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="A story.")]


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
    from ludic_deepeval.policy import find_policy
    from ludic_deepeval.report.as_json import card_json
    from ludic_deepeval.report.as_text import score_text
    from ludic_deepeval.scoring import score_ledger

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
def annotate(
    file: File,
    force: Annotated[bool, typer.Option("--force", help="Write over a mark sheet that is there.")] = False,
    web: Annotated[bool, typer.Option("--web", help="Mark the story in the browser instead.")] = False,
    second: Annotated[
        bool,
        typer.Option("--second", help="With --web: a second reader, who sees none of the first one's marks."),
    ] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="With --web: only print the address.")] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="With --web: the port; by default any that is free.")
    ] = 0,
) -> None:
    """Write a mark sheet beside a story: quotes and plain questions, and candidates found in the text. No AI."""
    if web:
        from ludic_deepeval.web.command import annotate_in_browser

        raise typer.Exit(annotate_in_browser(file, second=second, port=port, open_browser=not no_open))
    if second or no_open or port:
        raise InputError("ludic annotate", "--second, --no-open or --port without --web", hint="add --web")
    from ludic_deepeval.files import write_atomic
    from ludic_deepeval.lockfile import load_lockfile
    from ludic_deepeval.marks import write_sheet
    from ludic_deepeval.sources import read_story

    story = read_story(file)
    if not story.prose.body:
        raise InputError(file, "no prose in this file", allowed="a story")
    if story.sheet.exists() and not force:
        raise InputError(
            story.sheet,
            "there is a mark sheet already",
            hint=f"edit it and run: ludic lock {file}; or --force to write it anew from the lockfile",
        )
    lock = load_lockfile(story.lockfile) if story.lockfile.exists() else None
    notes: tuple[str, ...] = ()
    if lock is not None:
        if lock.source_sha256 != story.prose.sha256:
            raise InputError(
                story.lockfile,
                "the prose has changed since it was read",
                hint=f"run first: ludic relock {file}",
            )
        lines = [story.prose.place(part.start).line for part in lock.unread]
        notes = tuple(f"not read yet: the paragraph at line {line}" for line in lines)
        notes += tuple(
            f"{item.list}: {item.item.get('name') or item.item.get('text') or item.item.get('id')}: {item.reason}"
            for item in lock.ungrounded
        )
    text = write_sheet(story, lock.ledger if lock else None, notes)
    if story.sheet.is_file() and story.sheet.read_bytes() != text.encode("utf-8"):
        # What was typed since the last lock is nowhere else.
        kept = story.sheet.with_name(f"{story.sheet.name}.bak")
        story.sheet.replace(kept)
        say(clean(f"{kept}: the sheet that was there", limit=800))
    write_atomic(story.sheet, text)
    todo = "holds what is marked; add what is missing" if lock else "fill it in"
    say(clean(f"{story.sheet}: {todo}, then run: ludic lock {file}", limit=800))


@app.command()
def lock(files: Files) -> None:
    """Turn filled mark sheets into lockfiles."""
    from ludic_deepeval.lockfile import write_lockfile
    from ludic_deepeval.marks import lock_story
    from ludic_deepeval.report.as_text import SAID, counted

    def one(story: "Story") -> None:
        made = lock_story(story)
        write_lockfile(made, story.lockfile)
        counts = Counter(SAID[kind] for kind, _, _ in made.ledger.items())
        told = ", ".join(counted(counts[words], *words) for words in SAID.values())
        say(f"{clean(str(story.lockfile), limit=400)}: {told}")

    _for_each(files, one)


@app.command()
def relock(
    files: Files,
    read: Annotated[
        bool,
        typer.Option(
            "--read", help="I have read what is new: there is nothing to mark, and what was lost is gone."
        ),
    ] = False,
) -> None:
    """Move the marks of stories that were edited to where their words now stand. Needs no model."""
    from ludic_deepeval.lockfile import load_lockfile, write_lockfile
    from ludic_deepeval.reanchor import accept
    from ludic_deepeval.reanchor import relock as move
    from ludic_deepeval.report.as_text import SAID, counted

    left = False

    def one(story: "Story") -> None:
        nonlocal left
        moved = move(load_lockfile(story.lockfile), story.prose, story.lockfile)
        done, lost = accept(moved.lock) if read else moved.lock, moved.lost
        write_lockfile(done, story.lockfile)
        told = [
            f"{counted(moved.kept, 'quote', 'quotes')} on their words",
            f"{len(lost)} lost",
            f"{counted(len(done.unread), 'paragraph', 'paragraphs')} unread",
        ]
        say(f"{clean(str(story.lockfile), limit=400)}: {', '.join(told)}")
        for kind, item, quote in lost:
            say(f"  lost: {SAID[kind][0]} '{clean(item)}': “{clean(quote, limit=160)}”")
        if read:
            for aside in moved.lock.ungrounded[len(done.ungrounded) :]:
                name = (
                    aside.item.get("name")
                    or aside.item.get("text")
                    or aside.item.get("summary")
                    or aside.item.get("id")
                )
                say(
                    f"  dropped: {SAID[aside.list][0]} '{clean(str(name))}' (the mark sheet still has it: mend or delete it there)"
                )
        for part in done.unread:
            line = story.prose.place(part.start).line
            say(
                f"  unread: line {line}: {clean(' '.join(story.prose.body[part.start : part.end].split()[:10]), limit=120)}…"
            )
        if done.unread or (lost and not read):
            left = True
            say(
                clean(
                    f"  then: ludic annotate --force {story.path} to mark what is new; or, if there is nothing to mark: ludic relock --read {story.path}",
                    limit=1000,
                )
            )

    _for_each(files, one)
    raise typer.Exit(1 if left else 0)


def _for_each(files: list[Path], work: "Callable[[Story], None]") -> None:
    """Do the same for every story, report every error, and end with 2 if there was one."""
    from ludic_deepeval.sources import find_stories, read_story

    failed = False
    for path in find_stories(files):
        try:
            work(read_story(path))
        except InputError as error:
            failed = True
            complain(error)
    if failed:
        raise typer.Exit(2)


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


@bible_app.command("check")
def bible_check(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A Story Bible's folder.")],
    as_json: AsJson = False,
) -> None:
    """Check a Story Bible: every field, every name and every reference."""
    from ludic_deepeval.bible import KINDS, load_bible

    bible = load_bible(folder)
    counts = {kind: len(getattr(bible, kind)) for kind in KINDS}
    if as_json:
        print_json(
            {
                "version": 1,
                "id": bible.id,
                "name": bible.name,
                "bible_version": bible.version,
                "nodes": counts,
            }
        )
    else:
        say(
            f"{folder}: {bible.name} {bible.version}: "
            + ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
        )


def main() -> None:
    """Run the command; every error is one line on standard error and exit code 2."""

    def run() -> int:
        app(prog_name="ludic")
        return 0

    sys.exit(guarded(run))
