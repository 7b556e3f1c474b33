"""Looking again at stories whenever a file that their verdict depends on has changed.

Files are polled, which works on every disk and needs no library. Nothing is written: a story whose prose was edited is
judged as if it had been relocked. What two looks have between them is worked out by `difference`.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias

from ludic_deepeval.check import Checker, StoryResult
from ludic_deepeval.difference import Difference, difference
from ludic_deepeval.errors import InputError
from ludic_deepeval.files import decode, read_bytes
from ludic_deepeval.lockfile import Lockfile
from ludic_deepeval.reanchor import accept, effort, relock
from ludic_deepeval.settings import find_policy
from ludic_deepeval.sources import Story, find_stories, read_story
from ludic_deepeval.sources.markdown import SUFFIXES
from ludic_deepeval.sources.naming import split_path
from ludic_deepeval.text import Prose

Sleep: TypeAlias = Callable[[float], object]
Stamps: TypeAlias = dict[Path, tuple[int, ...] | None]
Signs: TypeAlias = tuple[list[Path], Stamps]

INTERVAL: Final = 0.5
SETTLE: Final = 0.2
_PATIENCE: Final = 25  # looks at files that never hold still, before they are judged as they are
_NAMED_BIBLE: Final = re.compile(r"^bible:[^\S\n]*[\"']?([\w-]+)", re.MULTILINE)
_NAMED_LOG: Final = re.compile(r"^background_log:[^\S\n]*[\"']?([^\s\"'#]+\.(?:ya?ml|json))", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Moved:
    """How the marks of an edited story were moved along, in memory only.

    Attributes:
        lost: (list, item id, quote) of each quote that is no longer there.
        unread: The lines of paragraphs that nobody has read.
        spans: Where those are in the body, half-open.
    """

    lost: tuple[tuple[str, str, str], ...]
    unread: tuple[int, ...]
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """One story as it was found.

    Attributes:
        path: The story.
        result: The verdict, the error that kept it from one, or None when the story is gone.
        changed: What has changed since the last look: prose, marks, settings …; "new" or "back" for the story itself;
            nothing at the first look of all.
        moved: How the marks were moved along, when the prose is not what was locked.
        since: What is different from the last verdict.
        same: Whether there is nothing new to tell: not in the verdict, and not in how the marks were moved.
    """

    path: Path
    result: StoryResult | InputError | None
    changed: tuple[str, ...] = ()
    moved: Moved | None = None
    since: Difference = field(default_factory=Difference)
    same: bool = False


@dataclass(frozen=True, slots=True)
class _Known:
    """A look, the last verdict that there was, and the files that it rests on, as they were just before it."""

    look: Look
    verdict: StoryResult | None
    inputs: dict[Path, str]
    stamps: Stamps
    digests: dict[Path, bytes | None]


class Watcher:
    """Remembers the last look at every story.

    Args:
        paths: Files and folders; a folder may be empty, and stories may come and go.
        profile: A profile that overrides the stories' own.
        sleep: What waits, in seconds, while files settle.

    Raises:
        InputError: A path that is neither a story nor a folder.
    """

    def __init__(self, paths: list[Path], *, profile: str | None = None, sleep: Sleep) -> None:
        for path in paths:
            if not path.is_dir():
                read_bytes(path)
                find_stories([path])
        self._paths = paths
        self._profile = profile
        self._sleep = sleep
        self._known: dict[Path, _Known] = {}
        self._gone: dict[Path, _Known] = {}
        self._listing: Stamps | None = None
        self._stories: list[Path] = []

    @property
    def looks(self) -> tuple[Look, ...]:
        """The last look at every story that is there."""
        return tuple(self._known[path].look for path in self._stories if path in self._known)

    def look(self) -> list[Look]:
        """Judge what has changed since the last look, and at first everything.

        Waits until files that are being written hold still. A file that was only touched tells nothing.
        """
        first = self._listing is None
        signs = self._signs()
        if not first:
            if not self._has_changed(signs):
                return []
            self._settle(signs)
        checker = Checker(profile=self._profile)
        found = [look for path in self._stories if (look := self._judged(path, checker, first=first))]
        gone = [path for path in self._known if path not in self._stories]
        for path in gone:
            self._gone[path] = self._known.pop(path)
            found.append(Look(path, None))
        return found

    def _signs(self) -> Signs:
        """The stories that are there, and the stamps of all that any verdict rests on."""
        listing = stamps_of(_files_in(self._paths))
        if listing != self._listing:
            try:
                self._listing, self._stories = listing, _stories_in(self._paths)
            except OSError:
                self._listing = {}  # a folder went away while it was searched: look once more next time
        concerned = {path for known in self._known.values() for path in known.inputs}
        return self._stories, stamps_of({*self._stories, *concerned})

    def _has_changed(self, signs: Signs) -> bool:
        stories, stamps = signs
        return set(self._known) != set(stories) or any(
            stamps[path] != stamp for known in self._known.values() for path, stamp in known.stamps.items()
        )

    def _settle(self, signs: Signs) -> None:
        """Wait until two looks in a row see the same: an editor that saves by rename has then done so."""
        for _ in range(_PATIENCE):
            self._sleep(SETTLE)
            before, signs = signs, self._signs()
            if signs == before:
                return

    def _judged(self, path: Path, checker: Checker, *, first: bool) -> Look | None:
        """Judge one story; None if nothing that it rests on has changed."""
        known = self._known.get(path)
        if known and stamps_of(known.inputs) == known.stamps:
            return None
        inputs = inputs_of(path)
        stamps = stamps_of(inputs)
        digests = {part: _digest(part) for part in inputs}
        if known and digests == known.digests:
            self._known[path] = _Known(known.look, known.verdict, inputs, stamps, digests)
            return None
        result, moved = judge_moved(path, checker)
        before = known or self._gone.pop(path, None)
        since = difference(
            before.look.result if before else None, result, last=before.verdict if before else None
        )
        if known:
            words = {**known.inputs, **inputs}
            parts = (part for part in words if digests.get(part) != known.digests.get(part))
            changed = tuple(dict.fromkeys(words[part] for part in parts))
        else:
            changed = () if first else ("back",) if before else ("new",)
        same = bool(known) and not since and _told_of(moved) == _told_of(known.look.moved if known else None)
        look = Look(path, result, changed, moved, since, same)
        verdict = result if isinstance(result, StoryResult) else before.verdict if before else None
        self._known[path] = _Known(look, verdict, inputs, stamps, digests)
        return look


def _told_of(moved: Moved | None) -> tuple[object, ...]:
    """What of moved marks is worth telling twice only if it changes; lines move with every edit."""
    return (moved.lost, len(moved.unread)) if moved else ((), 0)


def watch(
    watcher: Watcher,
    tell: Callable[[list[Look]], object],
    *,
    sleep: Sleep,
    interval: float = INTERVAL,
    once: bool = False,
) -> None:
    """Tell the first look, and then every look at which something has changed; without end, or only the first."""
    tell(watcher.look())
    while not once:
        sleep(interval)
        if looks := watcher.look():
            tell(looks)


def judge_moved(
    path: Path, checker: Checker, story: Story | None = None, *, most: int | None = None
) -> tuple[StoryResult | InputError, Moved | None]:
    """Judge a story; if its prose was edited, by its marks as `ludic relock` would move them. Writes nothing.

    Lost items do not count, and new paragraphs are left aside. A story with paragraphs that were unread before stays
    without a verdict.

    Args:
        path: Its file.
        checker: What judges it.
        story: What to judge in place of what the file holds, such as what an editor has not saved.
        most: Move no marks where that takes more `effort`; the story is then without a verdict.
    """
    moved: list[Moved] = []

    def move_marks(lock: Lockfile, story: Story) -> Lockfile | None:
        if most is not None and effort(lock, story.prose) > most:
            return None
        try:
            done = relock(lock, story.prose, story.lockfile)
        except InputError:
            return None
        lines = tuple(story.prose.place(part.start).line for part in done.lock.unread)
        moved.append(Moved(done.lost, lines, tuple((part.start, part.end) for part in done.lock.unread)))
        return done.lock if lock.unread else accept(done.lock)

    try:
        result = checker.check_story(story or read_story(path), move_marks=move_marks)
        return result, next(iter(moved), None)
    except InputError as error:
        return error, None


# What a verdict rests on


def inputs_of(path: Path) -> dict[Path, str]:
    """Every file that a story's verdict rests on, there or not, with a word for it."""
    folder = path.absolute().parent
    settings = dict.fromkeys(_settings(folder), "settings")
    if (split_path(path) and not path.is_file()) or path.suffix.lower() not in SUFFIXES:
        return settings | _of_other(path)
    found = {
        path: "prose",
        path.with_name(f"{path.stem}.ledger.json"): "marks",
        path.with_name(f"{path.stem}.marks.yaml"): "mark sheet",
    } | settings
    try:
        front = Prose(decode(read_bytes(path), path), path).front_matter or ""
    except InputError:
        return found
    if log := _NAMED_LOG.search(front):
        found[path.parent / log.group(1)] = "background log"
    if bible := _NAMED_BIBLE.search(front):
        found |= dict.fromkeys(_bible_files(bible.group(1), folder.resolve()), "Story Bible")
    return found


def _of_other(path: Path) -> dict[Path, str]:
    """The same for a story in another file than Markdown."""
    parts = None if path.is_file() else split_path(path)
    file = parts[0] if parts else path
    found = {file: "prose"}
    if not parts:
        found[path.with_name(f"{path.name}.about.yaml")] = "front matter"
    try:
        story = read_story(path)
    except InputError:
        return found
    found |= {story.lockfile: "marks", story.sheet: "mark sheet"}
    if story.front.bible:
        found |= dict.fromkeys(
            _bible_files(story.front.bible.partition("@")[0], file.absolute().parent.resolve()), "Story Bible"
        )
    return found


def _settings(folder: Path) -> Iterator[Path]:
    """The settings in force and every place nearer to the story where there could be others."""
    try:
        in_force = find_policy(folder)[1]
    except InputError:
        in_force = None
    for place in (folder, *folder.parents):
        yield from (place / "ludic.toml", place / "pyproject.toml")
        if in_force and in_force.parent == place:
            return


def _bible_files(name: str, start: Path) -> Iterator[Path]:
    from ludic_deepeval.bible import FILE, is_lore, places  # noqa: PLC0415  # most stories have none

    for place in places(name, start):
        yield from (place, place / FILE)
        if place.is_dir():
            yield from sorted(place.glob(f"v*/{FILE}"))
            if is_lore(place):
                yield from sorted(place.rglob("*.md"))


def stamps_of(paths: Iterable[Path]) -> Stamps:
    """What tells, without reading, that a file is another than it was; None where there is none."""
    return {path: _stamp(path) for path in paths}


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _digest(path: Path) -> bytes | None:
    try:
        if path.is_dir():
            names = sorted(inner.name for inner in path.iterdir())
            return "\n".join(names).encode("utf-8", "surrogateescape")
        return sha256(read_bytes(path)).digest()
    except (InputError, OSError, ValueError):
        return None


def _files_in(paths: list[Path]) -> Iterator[Path]:
    """Every file that might be a story: those given, and those of folders that are not hidden."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for folder, inner, files in os.walk(path):
            inner[:] = [name for name in inner if not name.startswith(".")]
            yield from (Path(folder, name) for name in files if not name.startswith("."))


def _stories_in(paths: list[Path]) -> list[Path]:
    """The stories that are there now; a file that is gone, or a folder without any, is no error."""
    found: dict[Path, Path] = {}
    for path in paths:
        try:
            inside = find_stories([path])
        except InputError:
            continue
        for story in inside:
            if story.exists():
                found.setdefault(story.absolute(), story)
    return list(found.values())
