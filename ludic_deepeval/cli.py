"""The command `ludic`. Exit codes: 0 holds, 1 something falls short, 2 the input or the call is wrong."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ludic_deepeval.errors import InputError, LudicError, clean

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

_COLOURS: Final = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1", "dim": "2"}
_LONG_RUN: Final = 50

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Profile = Annotated[str | None, typer.Option(help="campaign, one-shot or cosy; by default the story's own.")]
Files = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Stories, or folders of stories.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="A story.")]


def _painter() -> Callable[[str, str], str]:
    from ludic_deepeval.report.as_text import plain

    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return plain
    return lambda text, colour: f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def _print_json(data: Any) -> None:
    print(json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False))  # noqa: T201


def _say(line: str) -> None:
    print(line)  # noqa: T201


def _complain(error: LudicError) -> None:
    print(f"ludic: {error}", file=sys.stderr)  # noqa: T201


def _progress(paths: list[Path]) -> Iterator[Path]:
    """Show a bar on a terminal when there is something to wait for."""
    if len(paths) < _LONG_RUN or not sys.stderr.isatty():
        return iter(paths)
    from rich.console import Console
    from rich.progress import track

    return iter(track(paths, description="reading", console=Console(stderr=True), transient=True))


@contextmanager
def _profile_checked(profile: str | None) -> Iterator[None]:
    from ludic_deepeval.policy import PROFILES

    if profile is not None and profile not in PROFILES:
        raise InputError("--profile", f"found '{clean(profile)}'", allowed=", ".join(PROFILES))
    yield


@app.command()
def demo() -> None:
    """Judge a story that comes with the program, and show what a finding looks like."""
    from ludic_deepeval.check import check_stories
    from ludic_deepeval.report.as_text import check_text

    folder = Path(__file__).parent / "demo"
    _say(
        "Two tellings of one backstory. In the first the writer closed every door and slipped once; the second mends it.\n"
    )
    for line in check_text(check_stories([folder]), paint=_painter()):
        _say(line)
    _say(
        f"\nThe stories are in {folder}. Your own:  ludic annotate my-story.md   then   ludic lock my-story.md   then   ludic check my-story.md"
    )


@app.command()
def check(
    paths: Files,
    as_json: AsJson = False,
    profile: Profile = None,
    allow_unread: Annotated[
        bool, typer.Option("--allow-unread", help="Let stories without a ledger through.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show only stories that do not hold.")] = False,
) -> None:
    """Judge stories: is there something to play, and do they contradict themselves?"""
    from ludic_deepeval.check import check_stories as run

    with _profile_checked(profile):
        result = run(paths, profile=profile, allow_unread=allow_unread, progress=_progress)
    if as_json:
        from ludic_deepeval.report.as_json import check_json

        _print_json(check_json(result))
    else:
        from ludic_deepeval.report.as_text import check_text

        for line in check_text(result, paint=_painter(), quiet=quiet):
            _say(line)
    for error in result.errors:
        _complain(error)
    raise typer.Exit(result.exit_code)


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

    with _profile_checked(profile):
        policy = find_policy(ledger.absolute().parent)[0].with_profile(profile)
    facts = _ledger_in(ledger)
    card = score_ledger(facts, policy)
    if as_json:
        _print_json({"version": 1, "path": ledger.as_posix(), "profile": policy.profile} | card_json(card))
    else:
        for line in score_text(card, cheapest_fixes(facts, policy), paint=_painter()):
            _say(line)
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
    from ludic_deepeval.advice import cheapest_fixes
    from ludic_deepeval.check import check_stories as run
    from ludic_deepeval.outcome import Unscored
    from ludic_deepeval.report.as_json import number

    with _profile_checked(profile):
        result = run(paths, profile=profile)
    rows: list[dict[str, Any]] = []
    for story in result.stories:
        row: dict[str, Any] = {
            "path": story.path.as_posix(),
            "id": story.id,
            "passed": None,
            "fixes": [],
            "said": "",
        }
        if isinstance(story.outcome, Unscored) or isinstance(story.outcome.value.card.gate, Unscored):
            row["said"] = story.unscored.reason if story.unscored else "not scored"
        else:
            reading = story.outcome.value
            fixes = cheapest_fixes(reading.ledger, reading.card.policy, names=reading.names)
            row["passed"] = story.outcome.value.card.gate.passed
            row["said"] = (
                "passes the gate; nothing to add"
                if row["passed"]
                else ""
                if fixes
                else "out of reach of a few changes"
            )
            row["fixes"] = [
                {
                    "changes": [
                        {
                            "kind": change.kind,
                            "target": change.target,
                            "text": change.text,
                            "value": change.value,
                        }
                        for change in fix.changes
                    ],
                    "lpi": number(fix.after.lpi),
                    "pcv": number(fix.after.pcv),
                    "text": str(fix),
                }
                for fix in fixes
            ]
        rows.append(row)
    if as_json:
        _print_json({"version": 1, "stories": rows})
    else:
        paint = _painter()
        for row in rows:
            _say(paint(clean(row["path"], limit=400), "bold"))
            for line in [row["said"]] * bool(row["said"]) + [fix["text"] for fix in row["fixes"]]:
                _say(f"  {clean(line, limit=600)}")
    for error in result.errors:
        _complain(error)
    passed = all(row["passed"] for row in rows)
    raise typer.Exit(2 if result.errors else 0 if passed else 1)


@app.command()
def annotate(
    file: File,
    force: Annotated[bool, typer.Option("--force", help="Write over a mark sheet that is there.")] = False,
) -> None:
    """Write a mark sheet beside a story: quotes and plain questions, and candidates found in the text. No AI."""
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
            hint=f"edit it and run: ludic lock {file}; or --force to begin anew",
        )
    lock = load_lockfile(story.lockfile) if story.lockfile.is_file() else None
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
    write_atomic(story.sheet, write_sheet(story, lock.ledger if lock else None, notes))
    _say(f"{story.sheet}: fill it in, then run: ludic lock {file}")


@app.command()
def lock(files: Files) -> None:
    """Turn filled mark sheets into lockfiles."""
    from ludic_deepeval.files import MAX_YAML_BYTES, decode, load_yaml, read_bytes
    from ludic_deepeval.lockfile import write_lockfile
    from ludic_deepeval.marks import lock_sheet

    def one(story: "Story") -> None:
        if not story.sheet.is_file():
            raise InputError(
                story.path,
                "no mark sheet beside it",
                allowed=story.sheet.name,
                hint=f"run first: ludic annotate {story.path}",
            )
        text = decode(read_bytes(story.sheet, limit=MAX_YAML_BYTES), story.sheet)
        made = lock_sheet(load_yaml(text, story.sheet), story, story.sheet)
        write_lockfile(made, story.lockfile)
        counts = {
            name: sum(1 for kind, _, _ in made.ledger.items() if kind == name)
            for name in ("npcs", "hooks", "goals", "mysteries", "events")
        }
        _say(
            f"{story.lockfile}: {counts['npcs']} people, {counts['hooks']} hooks, {counts['goals']} goals, {counts['mysteries']} mysteries, {counts['events']} events"
        )

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

    left = False

    def one(story: "Story") -> None:
        nonlocal left
        moved = move(load_lockfile(story.lockfile), story.prose, story.lockfile)
        done, lost = accept(moved.lock) if read else moved.lock, moved.lost
        write_lockfile(done, story.lockfile)
        _say(
            f"{story.lockfile}: {moved.kept} quotes on their words, {len(lost)} lost,"
            f" {len(done.unread)} paragraphs unread"
        )
        for kind, item, quote in lost:
            _say(f"  lost: {kind} '{clean(item)}': “{clean(quote, limit=160)}”")
        for part in done.unread:
            line = story.prose.place(part.start).line
            _say(
                f"  unread: line {line}: {clean(' '.join(story.prose.body[part.start : part.end].split()[:10]), limit=120)}…"
            )
        if done.unread or (lost and not read):
            left = True
            _say(
                f"  then: ludic annotate --force {story.path} to mark what is new; or, if there is nothing to mark: ludic relock --read {story.path}"
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
            _complain(error)
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
    from ludic_deepeval.lockfile import load_lockfile
    from ludic_deepeval.policy import find_policy
    from ludic_deepeval.report.as_json import card_json
    from ludic_deepeval.report.as_text import details

    locks = [load_lockfile(path) for path in (first, second)]
    if locks[0].source_sha256 != locks[1].source_sha256:
        raise InputError(
            second, "a reading of other prose", where="source_sha256", allowed=f"the prose of {first}"
        )
    found = compare(locks[0].ledger, locks[1].ledger, find_policy(first.absolute().parent)[0])
    if as_json:
        kinds = [
            {
                "kind": row.kind,
                "first": row.first,
                "second": row.second,
                "matched": row.matched,
                "same": row.same,
                "f1": None if row.f1 is None else float(row.f1),
            }
            for row in found.kinds
        ]
        _print_json(
            {"version": 1, "kinds": kinds, "first": card_json(found.first), "second": card_json(found.second)}
        )
        return
    _say(f"{'':<10} {'A':>4} {'B':>4} {'both':>5} {'same answers':>13}   F1")
    for row in found.kinds:
        f1 = "–" if row.f1 is None else f"{float(row.f1):.2f}"
        _say(
            f"{row.kind:<10} {row.first:>4} {row.second:>4} {row.matched:>5} {row.same:>8} of {row.matched:<2}   {f1}"
        )
    _say(f"A: {details(found.first)}")
    _say(f"B: {details(found.second)}")


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
    _print_json(SCHEMAS[part]())


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
        _print_json(
            {
                "version": 1,
                "id": bible.id,
                "name": bible.name,
                "bible_version": bible.version,
                "nodes": counts,
            }
        )
    else:
        _say(
            f"{folder}: {bible.name} {bible.version}: "
            + ", ".join(f"{count} {kind}" for kind, count in counts.items())
        )


def main() -> None:
    """Run the command; every error is one line on standard error and exit code 2."""
    try:
        app(prog_name="ludic")
    except LudicError as error:
        _complain(error)
        sys.exit(2)
    except BrokenPipeError:
        # The reader (head, less) has seen enough.
        sys.stdout = None
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(130)
