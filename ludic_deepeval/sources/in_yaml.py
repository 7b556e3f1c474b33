"""Where a value stands in a YAML file, and where each character of a scalar does."""

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

from ludic_deepeval.safe_yaml import compose
from ludic_deepeval.sources.pointer import Steps
from ludic_deepeval.sources.spelling import Piece, spelled

_BREAK: Final = r"(?:\r\n|[\r\n\x85\u2028\u2029])"
_BREAKS: Final = re.compile(_BREAK)
_REST: Final = rf"{_BREAK}(?:[ \t]*+{_BREAK})*+[ \t]*+"
_FOLD: Final = re.compile(rf"[ \t]++(?:{_REST})?|{_REST}")  # a run of blanks is looked at once
_SINGLE: Final = re.compile(rf"''|{_FOLD.pattern}")
_DOUBLE: Final = re.compile(
    rf"\\(?:x([0-9a-fA-F]{{2}})|u([0-9a-fA-F]{{4}})|U([0-9a-fA-F]{{8}})"
    rf"|({_REST})|(.))|{_FOLD.pattern}",
    re.DOTALL,
)
_CHARS: Final = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_HEADER: Final = re.compile(rf"[|>][^\r\n\x85\u2028\u2029]*{_BREAK}?")
_TAG: Final = re.compile(rf"![^ \t\r\n]*+(?:[ \t]|{_BREAK})*+")
_NEAR: Final = 1000


class Tree:
    """The nodes of one YAML file.

    Args:
        raw: The decoded file.
        file: What to call it in errors.

    Attributes:
        data: The plain data.

    Raises:
        InputError: What `files.load_yaml` refuses, anchors and aliases among it.
    """

    def __init__(self, raw: str, file: object) -> None:
        self._raw = raw
        self._bom = 1 if raw.startswith("\ufeff") else 0
        self._root, self.data = compose(raw[self._bom :], file)
        self._by_key: dict[int, dict[str | int, yaml.Node]] = {}

    def offset(self, steps: Steps) -> int:
        """The offset at which a value begins."""
        return int(self._node(steps).start_mark.index) + self._bom

    def text_at(self, steps: Steps) -> "tuple[str, array[int]]":
        """Return the text at a place and the places of its characters."""
        node = self._node(steps)
        start, end = (mark.index + self._bom for mark in (node.start_mark, node.end_mark))
        return scalar(self._raw, start, end, node.style, node.value)

    def _node(self, steps: Steps) -> Any:
        node: Any = self._root
        for step in steps:
            node = self._members(node)[step] if isinstance(node, yaml.MappingNode) else node.value[step]
        return node

    def _members(self, node: yaml.MappingNode) -> dict[str | int, yaml.Node]:
        if id(node) not in self._by_key:
            self._by_key[id(node)] = {key.value: value for key, value in node.value}
        return self._by_key[id(node)]


def scalar(raw: str, start: int, end: int, style: str | None, value: str) -> "tuple[str, array[int]]":
    """Return a scalar's text, and for each character, and for its end, the offset in the file.

    What is worked out here is compared with what the YAML reader read. Where the two differ, the places are those of
    the same characters in the same order, which are right to a few characters.
    """
    tag = _TAG.match(raw, start, end)
    start = tag.end() if tag else start
    text, at = _reading(raw, start, end, style, value)
    if text.startswith(value):  # a block's last line breaks may be cut off
        return value, at[: len(value) + 1]
    return value, _same_characters(raw, start, end, value)


def _reading(raw: str, start: int, end: int, style: str | None, value: str) -> "tuple[str, array[int]]":
    if style in {"|", ">"}:
        header = _HEADER.match(raw, start, end)
        first = header.end() if header else end
        # How deep `|2` is depends on what is around it; the text that was read tells.
        indent = _indent(raw, first, end) - _indent(value, 0, len(value))
        return spelled(raw, first, end, _block_pieces(raw, first, end, indent, folded=style == ">"))
    if style == '"':
        return spelled(raw, start + 1, end - 1, _double_pieces(raw, start + 1, end - 1))
    if style == "'":
        return spelled(raw, start + 1, end - 1, _folding_pieces(_SINGLE, raw, start + 1, end - 1))
    return spelled(raw, start, end, _folding_pieces(_FOLD, raw, start, end))


def _folding_pieces(pattern: re.Pattern[str], raw: str, start: int, end: int) -> Iterator[Piece]:
    for match in pattern.finditer(raw, start, end):
        if match.group() == "''":
            yield (*match.span(), "'")
        else:
            yield from _fold(raw, *match.span())


def _double_pieces(raw: str, start: int, end: int) -> Iterator[Piece]:
    for match in _DOUBLE.finditer(raw, start, end):
        byte, short, long, joined, char = match.groups()
        if digits := byte or short or long:
            yield (*match.span(), chr(int(digits, 16)))
        elif joined:
            yield from _fold(raw, *match.span(), joins=True)
        elif char:
            yield (*match.span(), _CHARS.get(char, char))
        else:
            yield from _fold(raw, *match.span())


def _fold(raw: str, start: int, end: int, *, joins: bool = False) -> Iterator[Piece]:
    """White space around line breaks: one break is a blank, or nothing after a backslash; any more are themselves."""
    breaks = list(_BREAKS.finditer(raw, start, end))
    if not breaks:
        return  # blanks within a line
    first, *others = breaks
    said = _newline(first.group())
    yield (start, first.end(), "" if joins or (others and said == "\n") else " " if said == "\n" else said)
    position = first.end()
    for match in others:
        yield (position, match.start(), "")
        yield (*match.span(), _newline(match.group()))
        position = match.end()
    yield (position, end, "")


def _newline(text: str) -> str:
    return text if text in "\u2028\u2029" else "\n"


def _indent(raw: str, start: int, end: int) -> int:
    """How far the first line is indented that is not blank."""
    match = re.compile(rf"(?:[ ]*+{_BREAK})*+([ ]*)").match(raw, start, end)
    return len(match[1]) if match else 0


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: int  # where the indentation ends
    end: int  # where the line break begins
    after: int  # where the next line begins

    @property
    def empty(self) -> bool:
        return self.text == self.end


def _lines(raw: str, start: int, end: int, indent: int) -> Iterator[_Line]:
    while start < end:
        text = start
        while text < min(start + indent, end) and raw[text] == " ":
            text += 1
        found = _BREAKS.search(raw, text, end)
        line = _Line(start, text, *(found.span() if found else (end, end)))
        if text < start + indent and not line.empty:
            return  # less indented: no longer in the block
        yield line
        start = line.after


def _block_pieces(raw: str, start: int, end: int, indent: int, *, folded: bool) -> Iterator[Piece]:
    """The indentation of each line, and each line break; in a folded block some stand for a blank or for nothing."""
    lines = list(_lines(raw, start, end, indent))
    written: list[_Line | None] = [None]  # for each line, from the last, the next one that is not empty
    for line in reversed(lines):
        written.append(written[-1] if line.empty else line)
    for n, line in enumerate(lines):
        yield (line.start, line.text, "")
        following = written[len(lines) - n - 1]
        said = _newline(raw[line.end : line.after])
        if folded and following is not None and said == "\n" and _folds(raw, line) and _folds(raw, following):
            said = " " if following is lines[n + 1] else ""
        if line.end < line.after:
            yield (line.end, line.after, said)


def _folds(raw: str, line: _Line) -> bool:
    """Lines that are indented further stay as they are, and so do the breaks beside them."""
    return not line.empty and raw[line.text] not in " \t"


def _same_characters(raw: str, start: int, end: int, value: str) -> "array[int]":
    at = array("L")
    for char in value:
        here = raw.find(char, start, min(start + _NEAR, end))
        if here >= 0:
            start = here
        at.append(start)
        start += here >= 0
    at.append(end)
    return at
