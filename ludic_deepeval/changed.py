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
from typing import TYPE_CHECKING, Any, Final

from ludic_deepeval.errors import InputError
from ludic_deepeval.files import MARKS_FOLDER, decode, load_yaml, read_bytes
from ludic_deepeval.git import Changes, changes_since
from ludic_deepeval.settings import FILES, find_table
from ludic_deepeval.sources.markdown import SUFFIXES, is_story_of, others_in, read_story, real_file
from ludic_deepeval.sources.search import is_searched
from ludic_deepeval.text import Prose

if TYPE_CHECKING:
    from ludic_deepeval.sources.embedded import Settings

_BESIDE: Final = (".ledger.json", ".marks.yaml")
_ABOUT: Final = ".about.yaml"  # the front matter of a card
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
    holding = {folder for path in shared for folder in path.parents}  # a note may lie deep in its vault
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
    mistaken: set[Path] = set()
    for path, place in places.items():
        if path.is_dir():
            inside = _all_in(path) if shared else _direct_in(path, place, direct)
        elif (inside := _named(path)) == [] and not _is_gone(path, real, changed):
            inside = [path]
            mistaken.add(path.absolute())  # the check complains of it
        for file in inside:
            found.setdefault(file.absolute(), file)
    if shared:
        front = any(path.name not in FILES for path in shared)
        rests = list(map(_reader(real, extra, front=front), found.values()))
    else:
        rests = [Rests(_own(file, real)) for file in found.values()]
    picked = zip(found.items(), concerned(rests, changed, shared), strict=True)
    return Since(tuple(file for (name, file), is_one in picked if is_one or name in mistaken), changes.base)


class _Real:
    """Where a file stands, once symbolic links to its folder are followed; a link itself stands where it is."""

    def __init__(self) -> None:
        self._folder = cache(os.path.realpath)

    def __call__(self, path: Path) -> Path:
        if path.is_dir():
            return Path(self._folder(path))
        return Path(self._folder(path.parent), path.name)


def _all_in(folder: Path) -> list[Path]:
    """Every story of a folder; unlike with `find_stories` there may be none."""
    from ludic_deepeval.sources.embedded import embedded_in  # noqa: PLC0415  # most changes are to Markdown

    stories = _in_order(path for path in folder.rglob("*") if is_story_of(folder, path))
    return [*stories, *embedded_in(folder), *others_in(folder)]


def _direct_in(folder: Path, place: Path, direct: set[Path]) -> list[Path]:
    """The same stories in the same order, of those files only that changes name."""
    below = [folder / file.relative_to(place) for file in direct if place in file.parents]
    stories = _in_order(
        file for file in below if file.suffix.lower() in SUFFIXES and is_story_of(folder, file)
    )
    others = [file for file in below if file.suffix.lower() not in SUFFIXES and file.is_file()]
    if not others:
        return stories
    from ludic_deepeval.sources.embedded import embedded_of  # noqa: PLC0415

    def order(file: Path) -> list[tuple[bool, str]]:
        """A folder's files come before the folders in it."""
        *folders, name = file.relative_to(folder).parts
        return [*((True, part) for part in folders), (False, name)]

    seen = (file for file in others if not any(map(_is_passed_over, file.relative_to(folder).parts)))
    inside = [(file, embedded_of(file)) for file in sorted(seen, key=order)]
    alone = [file for file, found in inside if not found and not _is_read_by_source(file) and _is_other(file)]
    return [*stories, *(story for _, found in inside for story in found), *_in_order(alone)]


def _is_read_by_source(file: Path) -> bool:
    from ludic_deepeval.sources.embedded import sources_of  # noqa: PLC0415

    return bool(sources_of(file))


def _is_other(file: Path) -> bool:
    """Whether a changed file is a card or an actor."""
    from ludic_deepeval.sources.known import holds_known  # noqa: PLC0415  # most changes are to Markdown

    return is_searched(file) and "bible" not in file.parts and file.is_file() and holds_known(file)


def _in_order(files: Iterable[Path]) -> list[Path]:
    return sorted(files, key=lambda file: file.as_posix())


def _is_passed_over(part: str) -> bool:
    return part.startswith(".") or part.endswith(MARKS_FOLDER)


def _named(path: Path) -> list[Path]:
    """The stories that a path stands for which is no folder; none where it stands for nothing."""
    if path.is_file() and path.suffix.lower() not in SUFFIXES:
        from ludic_deepeval.sources.embedded import embedded_of, sources_of  # noqa: PLC0415

        if sources_of(path):
            return embedded_of(path)
        from ludic_deepeval.branches.reading import holds_branches  # noqa: PLC0415
        from ludic_deepeval.sources.known import is_known  # noqa: PLC0415

        return [path] if holds_branches(path) or is_known(path) else []
    return [path] if real_file(path).is_file() else []


def _is_gone(path: Path, real: _Real, changed: frozenset[Path]) -> bool:
    """Whether something was deleted that a path stood for."""
    places = {real(path), real(real_file(path))}
    return not path.exists() and any(not places.isdisjoint((file, *file.parents)) for file in changed)


def _sorted_out(changed: frozenset[Path], places: dict[Path, Path]) -> tuple[set[Path], set[Path]]:
    """The files of stories that a change names, and the changes that other stories may rest on."""
    folders = {place if path.is_dir() else place.parent for path, place in places.items()}
    holds_stories = _source_of(folders)
    direct: set[Path] = set()
    shared: set[Path] = set()
    is_in_vault = cache(_is_in_vault)
    for path in changed:
        suffix = path.suffix.lower()
        if path.is_dir() or (not suffix and not path.exists()):
            shared.add(path)  # a submodule, a repository inside, or a link to a folder, which may be gone
        elif suffix in SUFFIXES:
            direct.add(path)
            if is_in_vault(path.parent):
                shared.add(path)  # a note is a part of its vault's bible
        elif (owners := _owners(path, changed)) is not None:
            direct |= owners
        elif path.name in FILES:
            shared.add(path)
        elif holds_stories(path) or _is_other(path):
            direct.add(path)
        elif suffix in {".png", ".charx"} and "bible" in path.parts:
            shared.add(path)
        elif suffix in _DATA and ("bible" in path.parts or not folders.isdisjoint(path.parents)):
            shared.add(path)  # a background log lies in its story's folder or below
    return direct, shared


def _is_in_vault(folder: Path) -> bool:
    """Whether a folder is a part of a vault that may be a bible: one with `.obsidian`, or notes in `bible/NAME`."""
    from ludic_deepeval.bible import VAULT, is_lore  # noqa: PLC0415  # with other changes there is no need

    for above in (folder, *folder.parents):
        if above.parent.name == "bible":
            return is_lore(above)
        if (above / VAULT).is_dir():
            return True
    return False


def _source_of(folders: set[Path]) -> Callable[[Path], bool]:
    """Make the function that says whether a file in one of these folders has stories inside, by the settings."""

    @cache
    def settings(folder: Path) -> "Settings | None":
        from ludic_deepeval.sources.embedded import settings_for  # noqa: PLC0415  # most changes are to Markdown

        try:
            return settings_for(folder.resolve())
        except InputError:
            return None  # of which the check complains

    def holds_stories(path: Path) -> bool:
        if folders.isdisjoint(path.parents):
            return False
        found = settings(path.parent)
        return found is not None and bool(found.of(path.parent.resolve(), path.name))

    return holds_stories


def _owners(path: Path, changed: frozenset[Path]) -> set[Path] | None:
    """The stories whose lockfile or mark sheet a file is; none for a second reading; None for another file."""

    def called(stem: str) -> set[Path]:
        named = [path.with_name(stem + suffix) for suffix in SUFFIXES]
        if Path(stem).suffix:
            named.append(path.with_name(stem))  # `aqua.png` of `aqua.png.ledger.json`
        return {story for story in named if story in changed or story.is_file()}

    for ending in (*_BESIDE, _ABOUT):
        if path.name.endswith(ending):
            if path.parent.name.endswith(MARKS_FOLDER):
                return {path.parent.with_suffix("")}  # of a story inside this file
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
        said = _front_matter(file) if front else {}
        files = (
            *_own(file, real),
            *_log(file, said.get("background_log"), real),
            *settings(folder),
            *extra,
        )
        return Rests(files, tuple(_bibles(said.get("bible"), folder)))

    return rests


def _own(path: Path, real: _Real) -> tuple[Path, ...]:
    """A story's file, lockfile and mark sheet."""
    file = real_file(path)
    if file == path:
        own = path.suffix.lower() in SUFFIXES
        endings = _BESIDE if own else (*_BESIDE, _ABOUT)
        marks = [path.with_name((path.stem if own else path.name) + ending) for ending in endings]
    else:
        from ludic_deepeval.sources.naming import split_path, stem_of  # noqa: PLC0415

        parts = split_path(path)
        stem = stem_of(parts[1]) if parts else ""
        marks = [file.with_name(file.name + MARKS_FOLDER) / (stem + ending) for ending in _BESIDE]
    return tuple(map(real, (file, *marks)))


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


def _front_matter(path: Path) -> dict[Any, Any]:
    """What the front matter says, unchecked; nothing when it cannot be read, of which the check complains."""
    try:
        if path.suffix.lower() not in SUFFIXES:
            return {"bible": read_story(path).front.bible}  # a log is in the file itself
        data = read_bytes(path)
        if not any(
            word in data for word in (b"bible", b"background_log", b"\\")
        ):  # keys may be spelt in escapes
            return {}
        prose = Prose(decode(data, path), path)
        found = load_yaml(prose.front_matter or "", path)
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
