"""Which stories a change concerns: those that it touches, and those whose verdict rests on something that it touches.

A verdict rests on the story, its lockfile and its mark sheet; on the settings nearest above it; and on the bible and the
background log that its front matter names. As long as only stories, lockfiles and mark sheets have changed, the changes
themselves say which stories they concern, and no other file is read.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from ludic_deepeval.errors import InputError
from ludic_deepeval.files import MARKS_FOLDER, decode, load_yaml, read_bytes
from ludic_deepeval.git import Changes, changes_since
from ludic_deepeval.policy import FILES, find_table
from ludic_deepeval.sources.markdown import SUFFIXES, is_story_of
from ludic_deepeval.text import Prose

_BESIDE: Final = (".ledger.json", ".marks.yaml")
_DATA: Final = frozenset({".yaml", ".yml", ".json"})  # what bibles and background logs are written in


@dataclass(frozen=True)
class Since:
    """The stories to judge.

    Attributes:
        stories: In the order in which a check of the same paths judges them.
        base: What they have changed since: "origin/main".
    """

    stories: tuple[Path, ...]
    base: str


@dataclass(frozen=True)
class Rests:
    """What the verdict on one story rests on, by absolute paths, whether or not there is anything.

    Attributes:
        files: The story, its lockfile, mark sheet and background log, and all settings that could be its nearest.
        bibles: The folders that could be its bible's.
    """

    files: tuple[Path, ...]
    bibles: tuple[Path, ...] = ()


def concerned(stories: Iterable[Rests], changed: Collection[Path], shared: Collection[Path]) -> list[bool]:
    """Say of each story whether a change concerns it.

    Args:
        stories: What each of them rests on.
        changed: What has changed. A folder stands for all that is in it.
        shared: Those of the changes that more than one story may rest on; in a bible's folder only these count.

    Returns:
        One answer a story, in their order.
    """
    holding = {folder for path in shared for folder in (path.parent, path.parent.parent)}
    known: dict[Path, bool] = {}

    def reached(path: Path) -> bool:
        if path not in known:
            known[path] = path in changed or (path.parent != path and reached(path.parent))
        return known[path]

    return [
        any(map(reached, story.files)) or any(bible in holding or reached(bible) for bible in story.bibles)
        for story in stories
    ]


def changed_stories(paths: list[Path], base: str | None = None, *, also: Path | None = None) -> Since:
    """Return the stories under some paths that the changes since a base concern.

    A story that is gone is left out; one whose lockfile is gone is there, and will be unread.

    Args:
        paths: Files and folders, as `find_stories` takes them; none is the current folder.
        base: See `git.changes_since`.
        also: One more file that every verdict rests on (a baseline).

    Raises:
        InputError: A path outside of the repository, or whatever `git.changes_since` raises.
    """
    changes = changes_since(base)
    changed = _with_settings(changes)
    real = _Real()
    places = {path: real(path) for path in paths or [Path()]}
    for path, place in places.items():
        if not place.is_relative_to(changes.root):
            raise InputError(path, "outside of the repository", allowed=f"paths in {changes.root}")
    direct, shared = _sorted_out(changed, places)
    extra = () if also is None else (real(also),)
    shared |= changed.intersection(extra)

    found: dict[Path, Path] = {}
    for path, place in places.items():
        inside = [
            *_candidates(path, place, changed, None if shared else direct),
            *_embedded(path, place, changed, shared),
        ]
        for file in inside:
            found.setdefault(file.absolute(), file)
    stories = [file for file in found.values() if "#" not in file.name or file.is_file()]
    embedded = {file for file in found.values() if file not in stories}
    if shared:
        front = any(path.name not in FILES for path in shared)
        rests = list(map(_reader(real, extra, front=front), stories))
        chosen = concerned(rests, changed, shared)
    else:
        chosen = [real(file) in direct for file in stories]
    picked = {file for file, is_one in zip(stories, chosen, strict=True) if is_one or not _is_story(file)}
    return Since(tuple(file for file in found.values() if file in picked | embedded), changes.base)


def _embedded(path: Path, place: Path, changed: frozenset[Path], shared: set[Path]) -> Iterator[Path]:
    """The stories inside other files: those of a file that changed or whose marks did; all, where settings or the like did."""
    if path.is_dir() and shared:
        from ludic_deepeval.sources.embedded import embedded_in  # noqa: PLC0415  # most changes are to Markdown

        yield from embedded_in(path)
        return
    for file in sorted({_container(one) for one in changed}):
        if (file == place or place in file.parents) and _holds_stories(file):
            from ludic_deepeval.sources.embedded import embedded_of  # noqa: PLC0415  # as above

            yield from embedded_of(path / file.relative_to(place) if path.is_dir() else path)


def _holds_stories(path: Path) -> bool:
    """Whether sources read stories out of a file."""
    if (
        path.suffix.lower() in SUFFIXES
        or path.name.endswith(_BESIDE)
        or path.name in FILES
        or not path.is_file()
    ):
        return False
    from ludic_deepeval.sources.embedded import sources_of  # noqa: PLC0415  # most changes are to Markdown

    try:
        return bool(sources_of(path))
    except InputError:
        return False  # settings that cannot be used


def _container(path: Path) -> Path:
    """The file in which the stories stand whose marks lie in a folder beside it; any other file itself."""
    return path.parent.with_suffix("") if path.parent.suffix == MARKS_FOLDER else path


class _Real:
    """Where a file stands, once symbolic links to its folder are followed; a link itself stands where it is."""

    def __init__(self) -> None:
        self._folder = cache(os.path.realpath)

    def __call__(self, path: Path) -> Path:
        if path.is_dir():
            return Path(self._folder(path))
        return Path(self._folder(path.parent), path.name)


def _is_story(path: Path) -> bool:
    """False for what a caller named by mistake, of which the check complains."""
    return path.is_file() and path.suffix.lower() in SUFFIXES


def _candidates(path: Path, place: Path, changed: frozenset[Path], direct: set[Path] | None) -> list[Path]:
    """The files to choose from that one path stands for, in `find_stories`' order; `direct` spares a search."""
    if path.is_dir():
        if direct is None:
            inside = list(path.rglob("*"))
        else:
            inside = [path / file.relative_to(place) for file in direct if place in file.parents]
        return sorted((file for file in inside if is_story_of(path, file)), key=lambda file: file.as_posix())
    if not path.exists() and (place in changed or any(place in file.parents for file in changed)):
        return []  # deleted
    return [] if _holds_stories(path) else [path]


def _sorted_out(changed: frozenset[Path], places: dict[Path, Path]) -> tuple[set[Path], set[Path]]:
    """The stories that a change names, and the changes that other stories may rest on."""
    folders = {place if path.is_dir() else place.parent for path, place in places.items()}
    direct: set[Path] = set()
    shared: set[Path] = set()
    for path in changed:
        suffix = path.suffix.lower()
        if path.is_dir() or (not suffix and not path.exists()):
            shared.add(path)  # a submodule, a repository inside, or a link to a folder, which may be gone
        elif suffix in SUFFIXES:
            direct.add(path)
        elif (owners := _owners(path, changed)) is not None:
            direct |= owners
        elif path.name in FILES:
            shared.add(path)
        elif path.parent.suffix == MARKS_FOLDER or _holds_stories(path):
            continue  # see _embedded
        elif suffix in _DATA and ("bible" in path.parts or not folders.isdisjoint(path.parents)):
            shared.add(path)  # a background log lies in its story's folder or below
    return direct, shared


def _owners(path: Path, changed: frozenset[Path]) -> set[Path] | None:
    """The stories whose lockfile or mark sheet a file is; none for a second reading; None for another file."""

    def called(stem: str) -> set[Path]:
        named = (path.with_name(stem + suffix) for suffix in SUFFIXES)
        return {story for story in named if story in changed or story.is_file()}

    for ending in _BESIDE:
        if path.name.endswith(ending):
            stem = path.name.removesuffix(ending)
            if stories := called(stem):
                return stories
            if called(stem.removesuffix(".second")):
                return set()
    return None


def _with_settings(changes: Changes) -> frozenset[Path]:
    """The changes without files of settings that have none for us, neither now nor at the base."""

    def counts(path: Path) -> bool:
        if path.name != "pyproject.toml":
            return True
        try:
            now = read_bytes(path) if path.is_file() else None
        except InputError:
            return True
        return any(data is not None and _has_settings(data) for data in (now, changes.before(path)))

    return frozenset(filter(counts, changes.paths))


def _has_settings(data: bytes) -> bool:
    import tomllib  # noqa: PLC0415  # most changes are to stories

    try:
        tool = tomllib.loads(data.decode("utf-8")).get("tool")
    except (ValueError, RecursionError):
        return True  # nobody knows
    return isinstance(tool, dict) and "ludic" in tool


def _reader(real: _Real, extra: tuple[Path, ...], *, front: bool) -> Callable[[Path], Rests]:
    """Make the function that says what a story rests on; `front` also reads its front matter."""
    settings = cache(lambda folder: tuple(map(real, _settings(folder))))

    def rests(file: Path) -> Rests:
        folder = file.absolute().parent
        beside = [real(file), *(real(file.with_name(file.stem + ending)) for ending in _BESIDE)]
        said = _front_matter(file) if front else {}
        files = (*beside, *_log(file, said.get("background_log"), real), *settings(folder), *extra)
        return Rests(files, tuple(_bibles(said.get("bible"), folder)))

    return rests


def _settings(folder: Path) -> Iterator[Path]:
    """Every file that is, was or may become the settings of a folder: up to the nearest that there is."""
    try:
        nearest = find_table(folder)[1]
    except InputError:
        nearest = None  # one that is broken
    for above in (folder, *folder.parents):
        for name in FILES:
            yield above / name
            if above / name == nearest:
                return


def _front_matter(file: Path) -> dict[Any, Any]:
    """What the front matter says, unchecked; nothing when it cannot be read, of which the check complains."""
    try:
        data = read_bytes(file)
        if not any(
            word in data for word in (b"bible", b"background_log", b"\\")
        ):  # a key may be spelt in escapes
            return {}
        prose = Prose(decode(data, file), file)
        found = load_yaml(prose.front_matter or "", file)
    except InputError:
        return {}
    return found if isinstance(found, dict) else {}


def _log(file: Path, name: object, real: _Real) -> tuple[Path, ...]:
    """The file of a background log, if it has one of its own."""
    if not isinstance(name, str) or "\0" in name:
        return ()
    return (real(Path(os.path.normpath(file.parent / name))),)


def _bibles(reference: object, folder: Path) -> Iterator[Path]:
    """Every folder that is, was or may become a story's bible: up to the nearest that there is."""
    from ludic_deepeval.bible import is_bible, name_in, places  # noqa: PLC0415  # most changes are to stories

    name = name_in(reference) if isinstance(reference, str) else None
    if name is None:
        return
    for found in places(name, folder):
        yield found
        if is_bible(found):
            return
