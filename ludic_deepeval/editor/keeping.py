"""The lockfile from within an editor: what `ludic lock` and `ludic relock` do, for a story that is saved."""

from pathlib import Path
from typing import Final

from ludic_deepeval.editor.changes import Action
from ludic_deepeval.editor.looking import Look, Note
from ludic_deepeval.editor.places import Range
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.lockfile import load_lockfile, write_lockfile
from ludic_deepeval.marks import lock_story
from ludic_deepeval.reanchor import accept, relock
from ludic_deepeval.report.as_text import counted
from ludic_deepeval.sources import read_story
from ludic_deepeval.sources.markdown import story_of

LOCK: Final = "ludic.lock"
RELOCK: Final = "ludic.relock"
READ: Final = "ludic.relockRead"
TITLES: Final = {
    LOCK: "Lock the mark sheet (ludic lock)",
    RELOCK: "Move the marks along with their words (ludic relock)",
    READ: "I have read what is new: nothing in it wants marking (ludic relock --read)",
}


def keepers(look: Look, chosen: Range) -> tuple[Action, ...]:
    """What can be done about a reading that is behind the text, where a finding says that it is."""
    if look.story is None:
        return ()
    found: dict[str, Action] = {}
    for note in look.notes:
        if note.range.meets(chosen) and (command := _command(note, look)):
            found.setdefault(command, Action(TITLES[command], "quickfix", note=note, command=command))
    return tuple(found.values())


def _command(note: Note, look: Look) -> str | None:
    if note.code == "unread" and look.story is not None:
        return LOCK if look.story.sheet.is_file() else None
    return {"unlocked-sheet": LOCK, "stale": RELOCK, "new-paragraph": READ}.get(note.code)


def keep(command: str, path: Path, text: str) -> str:
    """Write a story's lockfile anew, and say in a line what was done.

    Args:
        command: One of `TITLES`.
        path: The story.
        text: What the editor has of it.

    Raises:
        InputError: It is not saved, or what `ludic lock` or `ludic relock` would complain of.
    """
    story = read_story(path)
    if story_of(text, path).prose.sha256 != story.prose.sha256:
        raise InputError(path, "it is not saved yet", hint="save it, then do this again")
    name = clean(story.lockfile.name, limit=200)
    if command == LOCK:
        made = lock_story(story)
        write_lockfile(made, story.lockfile)
        return f"{name}: {counted(sum(1 for _ in made.ledger.items()), 'mark', 'marks')}"
    moved = relock(load_lockfile(story.lockfile), story.prose, story.lockfile)
    done = accept(moved.lock) if command == READ else moved.lock
    write_lockfile(done, story.lockfile)
    unread = counted(len(done.unread), "paragraph", "paragraphs")
    return f"{name}: {counted(moved.kept, 'quote', 'quotes')} on their words, {len(moved.lost)} lost, {unread} unread"
