"""From a file to a branching story: which format it is is told by what it holds, not by its name."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from ludic_deepeval.branches.graph import MAX_PASSAGES, MAX_WAYS, Graph
from ludic_deepeval.branches.ink import is_compiled_ink, is_ink, read_compiled_ink, read_ink
from ludic_deepeval.branches.scripts import is_choicescript, is_renpy, read_choicescript, read_renpy
from ludic_deepeval.branches.twee import is_twee, read_twee
from ludic_deepeval.branches.twine import is_html, is_twison, read_html, read_twison
from ludic_deepeval.branches.yarn import is_yarn, read_yarn
from ludic_deepeval.errors import InputError
from ludic_deepeval.files import decode, read_bytes
from ludic_deepeval.sources.about import about
from ludic_deepeval.sources.markdown import Story
from ludic_deepeval.text import Prose

Reader: TypeAlias = Callable[[str, Path], tuple[Graph, Prose]]


@dataclass(frozen=True, slots=True)
class Format:
    """A format of branching stories.

    Attributes:
        name: What people call it.
        suffixes: Endings by which files of it are found in a folder.
        holds: Whether a file's text is of this format, given the text and the path.
        read: Its reader.
    """

    name: str
    suffixes: tuple[str, ...]
    holds: Callable[[str, Path], bool]
    read: Reader


FORMATS: Final[tuple[Format, ...]] = (
    Format("ink (compiled)", (".ink.json",), lambda raw, _: is_compiled_ink(raw), read_compiled_ink),
    Format("Twine 2 HTML", (".html", ".htm"), lambda raw, _: is_html(raw), read_html),
    Format("Twison JSON", (".twison.json", ".twison"), lambda raw, _: is_twison(raw), read_twison),
    Format("Twee 3", (".twee", ".tw"), lambda raw, _: is_twee(raw), read_twee),
    Format("Yarn", (".yarn",), lambda raw, _: is_yarn(raw), read_yarn),
    Format("Ren'Py", (".rpy",), lambda raw, _: is_renpy(raw), read_renpy),
    Format("ink", (".ink",), is_ink, read_ink),
    Format("ChoiceScript", (".txt",), lambda raw, _: is_choicescript(raw), read_choicescript),
)
_SHARED: Final = frozenset({".txt"})
SUFFIXES: Final = frozenset(suffix for one in FORMATS for suffix in one.suffixes)


def is_branching(path: Path) -> bool:
    """Whether a file's name says that it may be a branching story."""
    return any(path.name.lower().endswith(suffix) for suffix in SUFFIXES)


def holds_branches(path: Path) -> bool:
    """Whether a file is read as a branching story: by its name, and where plain text has that ending too, by what it holds."""
    if not is_branching(path):
        return False
    if path.suffix.lower() not in _SHARED:
        return True
    raw = decode(read_bytes(path), path)
    return any(one.holds(raw, path) for one in FORMATS)


def read_branches(path: Path, raw: str | None = None) -> tuple[Graph, Story]:
    """Read a branching story.

    Args:
        path: Its file.
        raw: What to read in place of what the file holds, such as what an editor has not saved.

    Returns:
        Its graph, and its prose as a story, whose marks lie in `FILE.ledger.json`. Title, bible, profile and background
        log stand in `FILE.about.yaml`, if there is one, with the keys of front matter.

    Raises:
        InputError: It cannot be read, is of no format that is known, or has more passages or ways than anybody writes.
    """
    raw = decode(read_bytes(path), path) if raw is None else raw
    known = next((one for one in FORMATS if one.holds(raw, path)), None)
    if known is None:
        raise InputError(
            path,
            "no branching story of a format that is known",
            allowed=", ".join(one.name for one in FORMATS),
        )
    graph, prose = known.read(raw, path)
    ways = sum(len(passage.ways) for passage in graph.passages.values())
    for what, number, most in (("passages", len(graph.passages), MAX_PASSAGES), ("ways", ways, MAX_WAYS)):
        if number > most:
            raise InputError(path, f"{number:,} {what}", allowed=f"at most {most:,}")
    if not graph.passages:
        raise InputError(path, "no passages in this file", allowed=f"a {known.name} story")
    return graph, Story(path, prose, about(path))
