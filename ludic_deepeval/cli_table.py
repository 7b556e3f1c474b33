"""The commands `ludic hooks` and `ludic watch`, for the evening before the session and for the writing before that."""

import json
import shutil
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import complain, painter, require_profile, say

if TYPE_CHECKING:
    from ludic_deepeval.check import Checker
    from ludic_deepeval.party import Sheet
    from ludic_deepeval.table import NoPage, Page
    from ludic_deepeval.watch import Look

_NARROWEST, _WIDEST = 40, 100
_SHEETS = (b"At the table: ", b"# At the table: ", b'{\n "version": 1,\n "characters": [')

Files = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Stories, or folders of stories.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
AllowUnread = Annotated[bool, typer.Option("--allow-unread", help="Let stories without a ledger through.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command()(hooks)
    app.command()(watch)


def hooks(
    paths: Files,
    as_json: AsJson = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, for notes or a printer.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the sheet to a file.")
    ] = None,
    allow_unread: AllowUnread = False,
) -> None:
    """Print a page for the table: what is open, who wants something, what presses, and where the stories meet."""
    from ludic_deepeval.sources import find_stories

    if as_json and markdown:
        raise InputError("--markdown", "given with --json", allowed="one of them")
    stories = find_stories(paths)
    if out is not None:
        _require_free(out, paths)
    sheet, errors = gather(stories)
    lines = _lines(sheet, tuple(errors), as_json=as_json, markdown=markdown, to_file=out is not None)
    if out is None:
        for line in lines:
            say(line)
    else:
        from ludic_deepeval.files import write_atomic

        write_atomic(out, "\n".join(lines) + "\n")
        say(clean(f"{out}: the sheet is written", limit=800))
    for error in errors:
        complain(error)
    from ludic_deepeval.table import NoPage

    unread = any(isinstance(page, NoPage) for page in sheet.pages)
    raise typer.Exit(2 if errors else 1 if unread and not allow_unread else 0)


def gather(stories: "list[Path]") -> "tuple[Sheet, list[InputError]]":
    """Read stories into a sheet; a file that cannot be used is an error and does not stop the others."""
    from ludic_deepeval.check import Checker
    from ludic_deepeval.party import make_sheet

    checker = Checker()
    pages: list[Page | NoPage] = []
    errors: list[InputError] = []
    for path in stories:
        try:
            pages.append(_page(path, checker))
        except InputError as error:
            errors.append(error)
    return make_sheet(pages), errors


def _page(path: Path, checker: "Checker") -> "Page | NoPage":
    from ludic_deepeval.outcome import Scored
    from ludic_deepeval.sources import read_story
    from ludic_deepeval.table import NoPage, page_of

    result = checker.check(path)
    if not isinstance(result.outcome, Scored):
        return NoPage(path, result.id, result.title, result.outcome.reason)
    story = read_story(path)
    return page_of(story, result.outcome.value.ledger, checker.bible_for(story))


def _lines(
    sheet: "Sheet", errors: tuple[InputError, ...], *, as_json: bool, markdown: bool, to_file: bool
) -> list[str]:
    from ludic_deepeval.report.as_sheet import sheet_markdown, sheet_text

    if as_json:
        from ludic_deepeval.report.sheet_json import sheet_json

        plain = not to_file and not (sys.stdout.encoding or "").lower().startswith("utf")
        return [json.dumps(sheet_json(sheet, errors), ensure_ascii=plain, indent=1)]
    if not sheet.pages:
        return []
    if markdown:
        return list(sheet_markdown(sheet))
    if to_file or not sys.stdout.isatty():
        return list(sheet_text(sheet))
    width = min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)
    return list(sheet_text(sheet, width=width, paint=painter()))


def _require_free(out: Path, paths: list[Path]) -> None:
    """Refuse to write a sheet over what is none, or where it would be taken for a story."""
    if out.exists():
        beginning = b""
        if out.is_file():
            with out.open("rb") as stream:
                beginning = stream.read(200)
        if not beginning.startswith(_SHEETS):
            raise InputError(out, "there is a file already, and it is no sheet", allowed="another name")
    from ludic_deepeval.sources.markdown import SUFFIXES

    inside = any(path.is_dir() and out.resolve().is_relative_to(path.resolve()) for path in paths)
    if inside and out.suffix.lower() in SUFFIXES and not out.name.startswith("_"):
        raise InputError(
            out, "would be taken for a story here", allowed=f"_{out.name}: files that begin with _ are none"
        )


def watch(
    paths: Files,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each look.")] = False,
    profile: Annotated[
        str | None, typer.Option(help="campaign, one-shot or cosy; by default the story's own.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Look once and end.")] = False,
) -> None:
    """Judge stories again whenever they or what they rest on change, and say what is different. Writes nothing."""
    from ludic_deepeval.report.as_text import summary_text
    from ludic_deepeval.report.as_watch import as_check, look_json, look_text
    from ludic_deepeval.sources import find_stories
    from ludic_deepeval.watch import Watcher
    from ludic_deepeval.watch import watch as keep_looking

    require_profile(profile)
    if once:
        find_stories(paths)  # without a second look, no stories is an error
    paint = painter()
    watcher = Watcher(paths, profile=profile, sleep=time.sleep)
    first = True

    def tell(looks: "list[Look]") -> None:
        nonlocal first
        now = datetime.now(tz=UTC).astimezone()
        complaints = set()
        for look in looks:
            if as_json:
                say(json.dumps(look_json(look, now.isoformat(timespec="seconds"))))
            elif lines := list(look_text(look, "" if first else f"{now:%H:%M:%S}", paint=paint)):
                say("\n".join(lines) + "\n" * (len(lines) > 1))
            sys.stdout.flush()
            if isinstance(look.result, InputError) and str(look.result) not in complaints:
                complaints.add(str(look.result))  # broken settings break many stories alike
                complain(look.result)
        if first and not as_json:
            say(summary_text(as_check(watcher.looks)))
            if not once:
                say("watching; Ctrl-C ends")
        sys.stdout.flush()
        first = False

    try:
        keep_looking(watcher, tell, sleep=time.sleep, once=once)
    except KeyboardInterrupt:
        if not as_json:
            say("\nno longer watching")
        raise typer.Exit(0) from None
    moved = any(look.moved for look in watcher.looks)
    raise typer.Exit(as_check(watcher.looks).exit_code or int(moved))
