"""Wikilinks, `[[Name]]`, as Obsidian shows them to a reader."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ludic_deepeval.sources.spelling import Piece, spelled

if TYPE_CHECKING:
    from array import array

# Code is left as it is: a fence, or a run of backticks with its like further on in the paragraph.
_CODE: Final = (
    r"(?m:^[ ]{0,3}(?P<fence>```++|~~~++)[^\n]*+\n(?s:.)*?(?:^[ ]{0,3}(?P=fence)|\Z))|(?P<tick>`++)"
)
_TARGET: Final = (
    r"(?P<embed>!)?\[\[(?P<target>[^\[\]|\r\n]{1,400})(?P<bar>\|(?P<alias>[^\[\]\r\n]{0,400}))?\]\]"
)
_LINK: Final = re.compile(rf"{_CODE}|{_TARGET}")
_TICKS: Final = re.compile(r"`+")


def as_read(text: str) -> "tuple[str, array[int]]":
    """Return a text with its links as their words, and for each character, and for the end, the offset in it.

    `[[Name]]` is Name, `[[Name|alias]]` is alias, `[[Name#Heading]]` is "Name > Heading", and `![[embed]]`, which shows
    another file, is nothing.
    """
    return spelled(text, 0, len(text), _pieces(text))


def _pieces(text: str) -> Iterator[Piece]:
    at = 0
    closed: set[int] = set()  # lengths of runs of backticks that have no like further on
    while match := _LINK.search(text, at):
        start, at = match.span()
        if match["tick"]:
            at = _past_code(text, at, len(match["tick"]), closed)
        elif match["target"]:
            said = shown_as(match["target"], match["alias"])
            if match["embed"]:
                yield (start, at, "")
                continue
            words = text.find(said, match.start("alias" if match["alias"] else "target"), at)
            if words < 0:
                yield (start, at, said)
            else:  # the words keep their own places
                yield (start, words, "")
                yield (words + len(said), at, "")


def _past_code(text: str, at: int, length: int, closed: set[int]) -> int:
    """Where code ends that a run of backticks opens; where nothing closes it, the run stands for itself."""
    if length in closed:
        return at
    for run in _TICKS.finditer(text, at):
        if run.end() - run.start() == length:
            return at if "\n\n" in text[at : run.start()] else run.end()
    closed.add(length)
    return at


def shown_as(target: str, alias: str | None) -> str:
    """Return the words of a link: its alias, else where it leads."""
    if alias is not None and alias.strip():
        return alias.strip()
    name = target.removesuffix("\\").strip()  # in a table the bar is escaped
    return " > ".join(part.strip() for part in name.split("#") if part.strip()) or name


def links_in(text: str) -> Iterator[str]:
    """Yield where the links of a text lead: names of notes, without heading, as they are written."""
    for match in _LINK.finditer(text):
        if match["target"]:
            yield match["target"].removesuffix("\\").partition("#")[0].strip()
