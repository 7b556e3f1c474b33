"""Stories inside other files: JSON, YAML, CSV and code, as `[[tool.ludic.sources]]` says where they are.

Such a story has a path of its own, `FILE#ID`, and its marks lie in `FILE.ludic/`. A file belongs to the nearest
settings above it, as its policy does.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ludic_deepeval.errors import InputError
from ludic_deepeval.files import MARKS_FOLDER, MAX_YAML_BYTES, decode, read_bytes
from ludic_deepeval.ledger import load_model
from ludic_deepeval.policy import settings_in
from ludic_deepeval.sources.markdown import SUFFIXES, FrontMatter, Story
from ludic_deepeval.sources.naming import split_path, virtual_path
from ludic_deepeval.sources.passage import Passage, require_distinct
from ludic_deepeval.text import Prose

if TYPE_CHECKING:  # a folder of Markdown needs no readers of other files
    from ludic_deepeval.sources.settings import Source

_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class Settings:
    """The sources of one file of settings.

    Attributes:
        folder: Its folder, without links, which the sources' files are in.
        sources: None where the settings name none.
    """

    folder: Path
    sources: "tuple[Source, ...]"

    def of(self, file: Path) -> "tuple[Source, ...]":
        """The sources that a file is read by. A Markdown file, a mark and what lies outside the folder have none."""
        place = file.parent.resolve() / file.name
        if not self.sources or not place.is_relative_to(self.folder) or file.suffix.lower() in SUFFIXES:
            return ()
        if place.parent.suffix == MARKS_FOLDER or place.name.endswith((".ledger.json", ".marks.yaml")):
            return ()
        if not place.resolve().is_relative_to(self.folder):
            return ()  # a link out of the folder
        path = place.relative_to(self.folder).as_posix()
        return tuple(source for source in self.sources if source.reads(path))


def _settings_of(folder: Path) -> Settings | None:
    """The settings that a folder has of its own."""
    found = settings_in(folder)
    if found is None:
        return None
    table, file = found
    if "sources" not in table:
        return Settings(folder, ())
    from ludic_deepeval.sources.settings import sources_from  # noqa: PLC0415  # not for a folder of Markdown to pay

    return Settings(folder, sources_from(table["sources"], file))


def settings_for(folder: Path) -> Settings | None:
    """The settings in force for a folder: the nearest upwards."""
    place = folder.resolve()
    return next((found for each in (place, *place.parents) if (found := _settings_of(each))), None)


def sources_of(file: Path) -> "tuple[Source, ...]":
    """The sources that a file is read by."""
    settings = settings_for(file.parent)
    return settings.of(file) if settings else ()


# Finding


def embedded_in(folder: Path) -> Iterator[Path]:
    """Yield the path of every story in the files of a folder, in the order of the files and within each.

    A file that cannot be used is given itself, so that whoever reads it is told why.

    Raises:
        InputError: Settings that cannot be used.
    """
    in_force = {str(folder): settings_for(folder)}
    for place, below, names in os.walk(folder):
        here = Path(place)
        settings = in_force[str(here)]
        if here != folder and {"ludic.toml", "pyproject.toml"}.intersection(names):
            settings = _settings_of(here.resolve()) or settings
        below[:] = sorted(
            name for name in below if not name.startswith(".") and not name.endswith(MARKS_FOLDER)
        )
        in_force |= {str(here / name): settings for name in below}
        for file in (here / name for name in sorted(names) if not name.startswith(".")):
            if settings is not None and settings.of(file) and file.is_file():
                yield from embedded_of(file)


def embedded_of(file: Path) -> list[Path]:
    """Return the paths of the stories in one file; the file itself when it cannot be used."""
    try:
        return [virtual_path(file, passage.id) for passage in _stories(file, sources_of(file)).passages]
    except InputError:
        return [file]


# Reading


@dataclass(frozen=True, slots=True)
class _Container:
    raw: str
    passages: tuple[Passage, ...]


def _stories(file: Path, sources: "tuple[Source, ...]") -> _Container:
    yaml = any(source.kind == "yaml" for source in sources)
    return _parsed(file, read_bytes(file, limit=MAX_YAML_BYTES) if yaml else read_bytes(file), sources)


@lru_cache(maxsize=16)  # the stories of one file are read one after another
def _parsed(file: Path, data: bytes, sources: "tuple[Source, ...]") -> _Container:
    from ludic_deepeval.sources.reading import passages_in  # noqa: PLC0415  # not for a folder of Markdown to pay

    raw = decode(data, file)
    passages = tuple(
        passage for source in sources for passage in passages_in(source, raw, file) if passage.text.strip()
    )
    require_distinct(passages, raw, file)
    return _Container(raw, passages)


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
    known = {passage.id: passage for passage in container.passages}
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
