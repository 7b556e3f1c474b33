"""The commands of a person who marks stories: `ludic annotate`, `lock` and `relock`."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import complain, note, say

if TYPE_CHECKING:
    from ludic_deepeval.sources import Story

Files = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Stories, or folders of stories.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="A story.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    for command in (annotate, lock, relock):
        app.command()(command)


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
    from ludic_deepeval.marks import sheet_of
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
    if lock is not None and lock.source_sha256 != story.prose.sha256:
        raise InputError(
            story.lockfile,
            "the prose has changed since it was read",
            hint=f"run first: ludic relock {file}",
        )
    text = sheet_of(story, lock)
    if story.sheet.is_file() and story.sheet.read_bytes() != text.encode("utf-8"):
        # What was typed since the last lock is nowhere else.
        kept = story.sheet.with_name(f"{story.sheet.name}.bak")
        story.sheet.replace(kept)
        say(clean(f"{kept}: the sheet that was there", limit=800))
    write_atomic(story.sheet, text)
    for _, message in story.remarks:
        note(f"{file}: {message}")
    todo = "holds what is marked; add what is missing" if lock else "fill it in"
    say(clean(f"{story.sheet}: {todo}, then run: ludic lock {file}", limit=800))


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
