"""Yarn Spinner 1 to 3: nodes with headers, options, `<<jump>>`, `<<detour>>`, and the `[[…]]` links of version 1.

A node's way is a choice where it stands in an option's body or in a link, and a jump otherwise. Whether it is sure to be there
depends on the `<<if>>` blocks around it and on a condition behind its option.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ludic_deepeval.branches.body import BodyBuilder
from ludic_deepeval.branches.graph import Graph, Kind, Passage, Way
from ludic_deepeval.errors import clean
from ludic_deepeval.files import MAX_BYTES
from ludic_deepeval.text import Prose

_HEADER: Final = re.compile(r"^[ \t]*([A-Za-z][\w.-]*)[ \t]*:[ \t]?(.*)$")
_COMMAND: Final = re.compile(r"<<[ \t]*(\w+)\b[ \t]*([^<>]*(?:>(?!>)[^<>]*)*)>>")
_LINK: Final = re.compile(r"\[\[([^\[\]|\r\n]{0,1000})(?:\|([^\[\]|\r\n]{1,500}))?\]\]")
_OPTION: Final = re.compile(r"^([ \t]*)(->|=>)[ \t]*(.*)$")
_HASHTAG: Final = re.compile(r"[ \t]#[^\s#]+")
_TITLE: Final = re.compile(r"(?m)^[ \t]*title[ \t]*:[ \t]*(\S[^\r\n]*?)[ \t]*$")
_MAX_BESIDE: Final = 500


def is_yarn(raw: str) -> bool:
    """Whether a text has a Yarn node: a title, then a line of three hyphens, then one of three equals signs."""
    return bool(
        re.search(r"(?m)^[ \t]*title[ \t]*:", raw)
        and re.search(r"(?m)^---[ \t]*\r?$", raw)
        and re.search(r"(?m)^===[ \t]*", raw)
    )


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    at: int
    text: str


def read_yarn(raw: str, path: Path) -> tuple[Graph, Prose]:
    """Read a Yarn file; nodes of the `.yarn` files beside it count as there."""
    builder = BodyBuilder(raw)
    notes: list[str] = []
    passages: dict[str, Passage] = {}
    for title, line, body in _nodes(raw):
        if title in passages:
            notes.append(f"line {line}: '{clean(title)}' is there twice; the first is kept")
        else:
            passages[title] = _Node(title, line, body, builder, notes).passage()
    first = "Start" if "Start" in passages else None
    led_to = {way.target for passage in passages.values() for way in passage.ways}
    entries = tuple(name for name in passages if name not in led_to)
    graph = Graph(
        path,
        "Yarn",
        passages,
        first,
        notes=tuple(notes),
        entries=() if first else entries,
        elsewhere=_beside(path) - passages.keys(),
    )
    return graph, builder.prose(path)


def _nodes(raw: str) -> Iterator[tuple[str, int, list[_Line]]]:
    title, line, body, inside, at = "", 0, list[_Line](), False, 0
    for number, text in enumerate(raw.splitlines(keepends=True), 1):
        plain = text.rstrip("\r\n")
        if inside:
            if plain.startswith("==="):
                if title:
                    yield title, line, body
                title, line, body, inside = "", 0, [], False
            else:
                body.append(_Line(number, at, plain))
        elif plain.rstrip() == "---":
            inside = True
        elif (header := _HEADER.match(plain.lstrip("\ufeff"))) and header[1] == "title":
            title, line = header[2].strip(), number
        at += len(text)
    if inside and title:
        yield title, line, body


class _Node:
    """Reads the lines of one node."""

    def __init__(
        self, title: str, line: int, body: list[_Line], builder: BodyBuilder, notes: list[str]
    ) -> None:
        self._title, self._line, self._body = title, line, body
        self._builder, self._notes = builder, notes
        self._ways: list[Way] = []
        self._pieces: list[tuple[str, int]] = []
        self._blocks = 0  # <<if>> blocks around the line
        self._options: list[tuple[int, str, bool]] = []  # indentation, text, conditional; the innermost last
        self._lasting: list[bool] = []  # for each option at the top, whether a way out of it is sure
        self._leaves = False  # whether a jump at the top is sure

    def passage(self) -> Passage:
        for line in self._body:
            self._read(line)
        start, end = self._builder.add(self._pieces)
        links = any(way.kind == "choice" and not way.conditional and not self._lasting for way in self._ways)
        stays = not (self._leaves or links or (self._lasting and all(self._lasting)))
        return Passage(self._title, self._line, tuple(self._ways), stops=stays, start=start, end=end)

    def _read(self, line: _Line) -> None:
        text = line.text.partition("//")[0] if "://" not in line.text else line.text
        option = _OPTION.match(text)
        indent = len(text) - len(text.lstrip())
        while self._options and indent <= self._options[-1][0] and text.strip():
            self._options.pop()
        if option:
            asked = _COMMAND.search(option[3])
            conditional = self._blocks > 0 or (asked is not None and asked[1] in {"if", "once"})
            shown = _HASHTAG.sub("", _COMMAND.sub("", option[3])).strip()
            if not self._options and self._blocks == 0 and not conditional:
                self._lasting.append(False)
            self._options.append((indent, shown, conditional))
        for command in _COMMAND.finditer(text):
            self._command(command[1], command[2].strip(), line, inline=option is not None)
        for link in _LINK.finditer(text):
            label, target = (link[1].strip(), link[2]) if link[2] else ("", link[1])
            self._way(target.strip(), "choice" if link[2] else "jump", label, line)
        self._prose(line, text, option)

    def _command(self, name: str, rest: str, line: _Line, *, inline: bool) -> None:
        if inline and name in {"if", "once"}:
            return
        if name in {"if", "once"}:
            self._blocks += 1
        elif name in {"endif", "endonce"}:
            self._blocks = max(0, self._blocks - 1)
        elif name in {"jump", "detour"}:
            if rest.startswith(("{", "$")):
                self._notes.append(
                    f"line {line.number}: where '{clean(rest, limit=60)}' leads is not written there"
                )
            else:
                self._way(rest, "call" if name == "detour" else "jump", "", line)
        elif name in {"stop", "return"} and not self._options and self._blocks == 0:
            self._leaves = False

    def _way(self, target: str, kind: Kind, label: str, line: _Line) -> None:
        inside = self._options
        conditional = self._blocks > 0 or any(asked for _, _, asked in inside)
        if inside and kind == "jump":
            kind, label = "choice", inside[-1][1]
        self._ways.append(Way(target, kind, label, line.number, conditional))
        if kind == "call" or conditional:
            return
        if inside and self._lasting:
            self._lasting[-1] = True
        elif not inside and kind == "jump":
            self._leaves = True

    def _prose(self, line: _Line, text: str, option: re.Match[str] | None) -> None:
        begin = option.start(3) if option else 0
        kept = _HASHTAG.sub("", _COMMAND.sub("", text[begin:]))
        kept = _LINK.sub(lambda link: link[1], kept).strip()
        if kept:
            first = text.find(kept[:12], begin)
            self._pieces.append((kept, line.at + max(first, begin)))


def _beside(path: Path) -> frozenset[str]:
    """The titles of the nodes in the other `.yarn` files of the folder: a project is compiled as one."""
    found: set[str] = set()
    others = [one for one in sorted(path.parent.glob("*.yarn"))[:_MAX_BESIDE] if one.name != path.name]
    for other in others:
        try:
            if other.stat().st_size <= MAX_BYTES:
                found.update(_TITLE.findall(other.read_text(encoding="utf-8", errors="replace")))
        except OSError:
            continue
    return frozenset(found)
