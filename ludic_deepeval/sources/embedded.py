"""Stories inside other files: JSON, YAML, CSV and code, as `[[tool.ludic.sources]]` says where they are.

Such a story has a path of its own, `FILE#ID`, and its marks lie in `FILE.ludic/`. A file belongs to the nearest
settings above it, as its policy does.
"""

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ludic_deepeval.errors import InputError
from ludic_deepeval.files import MARKS_FOLDER, MAX_YAML_BYTES, decode, read_bytes
from ludic_deepeval.ledger import load_model
from ludic_deepeval.settings import settings_in
from ludic_deepeval.sources.markdown import SUFFIXES, FrontMatter, Story
from ludic_deepeval.sources.naming import split_path, virtual_path
from ludic_deepeval.sources.passage import Passage, by_id
from ludic_deepeval.text import Prose

if TYPE_CHECKING:  # a folder of Markdown needs no readers of other files
    from ludic_deepeval.sources.settings import Source

_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class Settings:
    """The sources of one file of settings.

    Attributes:
        file: The file; its folder, which has no links in it, is what the sources' files are in.
        sources: Empty where the settings name none.
    """

    file: Path
    sources: "tuple[Source, ...]"

    def of(self, folder: Path, name: str) -> "tuple[Source, ...]":
        """The sources that read a file of a folder without links in its path.

        None reads a Markdown file, a mark, or what is a link out of the settings' folder.
        """
        home, place = self.file.parent, folder / name
        if not self.sources or not place.is_relative_to(home) or place.suffix.lower() in SUFFIXES:
            return ()
        if folder.suffix == MARKS_FOLDER or name.endswith((".ledger.json", ".marks.yaml")):
            return ()
        path = place.relative_to(home).as_posix()
        found = tuple(source for source in self.sources if source.reads(path))
        return found if found and place.resolve().is_relative_to(home) else ()


def _settings_of(folder: Path) -> Settings | None:
    """The settings that a folder has of its own."""
    found = settings_in(folder)
    if found is None:
        return None
    table, file = found
    if "sources" not in table:
        return Settings(file, ())
    from ludic_deepeval.sources.settings import sources_from  # noqa: PLC0415  # not for a folder of Markdown to pay

    return Settings(file, sources_from(table["sources"], file))


def settings_for(folder: Path) -> Settings | None:
    """The settings in force for a folder without links in its path: the nearest upwards."""
    return next((found for each in (folder, *folder.parents) if (found := _settings_of(each))), None)


def sources_of(file: Path) -> "tuple[Source, ...]":
    """The sources that a file is read by.

    Raises:
        InputError: Settings that cannot be used.
    """
    folder = file.parent.resolve()
    settings = settings_for(folder)
    return settings.of(folder, file.name) if settings else ()


# Finding


def embedded_in(folder: Path) -> list[Path]:
    """Return the path of every story in the files of a folder, in the order of the files and within each.

    A file that cannot be used is given itself, so that whoever reads it is told why.

    Raises:
        InputError: Settings for the folder that cannot be used, or in it a source that reads no file.
    """
    found: list[Path] = []
    top = settings_for(folder.resolve())
    idle = _sources_within(top, folder)
    in_force = {folder: top}
    for place, below, names in os.walk(folder):
        here = Path(place)
        resolved, settings = here.resolve(), in_force[here]
        if here != folder and (name := _own_settings(here, names)):
            try:
                settings = _settings_of(resolved) or settings
            except InputError:
                found.append(here / name)
                settings = None
            idle |= _sources_within(settings, folder)
        below[:] = sorted(
            name for name in below if not name.startswith(".") and not name.endswith(MARKS_FOLDER)
        )
        in_force |= {here / name: settings for name in below}
        if settings is None or not settings.sources:
            continue
        for name in sorted(name for name in names if not name.startswith(".")):
            sources = settings.of(resolved, name)
            if sources and (here / name).is_file():
                idle -= {(settings.file, settings.sources.index(source)) for source in sources}
                found += embedded_of(here / name, sources)
    for file, number in sorted(idle):
        raise InputError(
            file,
            "no such file here",
            where=f"tool.ludic.sources[{number}].files",
            allowed="names of files, in which ** stands for any folders",
        )
    return found


def _sources_within(settings: Settings | None, folder: Path) -> set[tuple[Path, int]]:
    """The sources all of whose files are in a folder, by their settings and number."""
    if settings is None or not settings.file.is_relative_to(folder.resolve()):
        return set()
    return {(settings.file, number) for number in range(len(settings.sources))}


def _own_settings(folder: Path, names: list[str]) -> str:
    """The name of the settings that a folder further down may have of its own."""
    if "ludic.toml" in names:
        return "ludic.toml"
    try:  # whatever else is wrong with the settings of other tools is not ours to say
        ours = "pyproject.toml" in names and b"ludic" in read_bytes(folder / "pyproject.toml")
    except InputError:
        return ""
    return "pyproject.toml" if ours else ""


def embedded_of(file: Path, sources: "tuple[Source, ...] | None" = None) -> list[Path]:
    """Return the paths of the stories in one file; the file itself when it cannot be used.

    Args:
        file: The file.
        sources: The sources that read it, where they are known.
    """
    try:
        known = _stories(file, sources_of(file) if sources is None else sources).passages
        return [virtual_path(file, story_id) for story_id in known]
    except InputError:
        return [file]


# Reading


@dataclass(frozen=True, slots=True)
class _Container:
    raw: str
    passages: dict[str, Passage]  # by their ids


def _stories(file: Path, sources: "tuple[Source, ...]") -> _Container:
    yaml = any(source.kind == "yaml" for source in sources)
    return _parsed(file, read_bytes(file, limit=MAX_YAML_BYTES) if yaml else read_bytes(file), sources)


@lru_cache(maxsize=16)  # the stories of one file are read one after another
def _parsed(file: Path, data: bytes, sources: "tuple[Source, ...]") -> _Container:
    from ludic_deepeval.sources.reading import passages_in  # noqa: PLC0415  # not for a folder of Markdown to pay

    raw = decode(data, file)
    passages = (passage for source in sources for passage in passages_in(source, raw, file))
    return _Container(raw, by_id((passage for passage in passages if passage.text.strip()), raw, file))


def read_embedded(path: Path) -> Story | None:
    """Return the story that `FILE#ID` names; None for a path that sources have nothing to do with.

    Raises:
        InputError: There is no such story in the file, the file cannot be used, or it is named without an id.
    """
    parts = None if path.is_file() else split_path(path)
    file, wanted = parts or (path, None)
    if not file.is_file():
        return None
    sources = sources_of(file)
    if not sources:
        if wanted is None:
            return None
        hint = "say in ludic.toml where its stories are; see docs/formats.md"
        raise InputError(file, "no [[tool.ludic.sources]] reads this file", hint=hint)
    container = _stories(file, sources)
    known = container.passages
    if wanted is not None and wanted in known:
        return _story(path, file, container.raw, known[wanted])
    if not known:
        raise InputError(file, "no prose in this file", allowed="a story")
    some = ", ".join(virtual_path(file, story_id).name for story_id in list(known)[:_SHOWN])
    more = ", …" if len(known) > _SHOWN else ""
    found = "this file holds stories and is none" if wanted is None else "no such story in this file"
    raise InputError(path, found, allowed=f"{some}{more}")


def _story(path: Path, file: Path, raw: str, passage: Passage) -> Story:
    prose = Prose(raw, path, part=(passage.text, passage.at))
    front = load_model(FrontMatter, dict(passage.front), path)
    return Story(path, prose, front, file, passage.id)


def story_beside(lockfile: Path, stem: str) -> Story | None:
    """Return the story whose marks are called `stem` in the folder of a lockfile, `FILE.ludic`."""
    file = lockfile.parent.with_suffix("")
    if not file.is_file():
        return None
    for path in embedded_of(file):
        story = read_embedded(path)
        if story is not None and story.lockfile.name == f"{stem}.ledger.json":
            return story
    return None
