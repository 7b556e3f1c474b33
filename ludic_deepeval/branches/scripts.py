"""Ren'Py and ChoiceScript: labels and jumps, told by indentation. A label that does not jump goes on into the next one."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ludic_deepeval.branches.body import BodyBuilder
from ludic_deepeval.branches.graph import Graph, Kind, Passage, Way
from ludic_deepeval.errors import clean
from ludic_deepeval.sources.spelling import spelled
from ludic_deepeval.text import Prose

_RENPY_LABEL: Final = re.compile(
    r"^([ \t]*)label[ \t]+(\.?[\w.]+)[ \t]*(?:\([^)\r\n]{0,500}\))?[ \t]*(?:hide[ \t]*)?:"
)
_RENPY_JUMP: Final = re.compile(r"^[ \t]*(jump|call)[ \t]+(?:(expression)\b|(?!screen\b)(\.?[\w.]+))")
_RENPY_CHOICE: Final = re.compile(
    r'^[ \t]*"((?:\\.|[^"\\\r\n])*)"[ \t]*(?:\([^)\r\n]{0,500}\))?[ \t]*(if\b[^:\r\n]{0,500})?:[ \t]*(?:#.*)?$'
)
_RENPY_SAYS: Final = re.compile(
    r'^[ \t]*(?:[A-Za-z_][\w ]{0,80}[ \t]+)?"((?:\\.|[^"\\\r\n])*)"[ \t]*(?:with\b.*|#.*)?$'
)
_RENPY_BLOCK: Final = re.compile(
    r"^[ \t]*(if|elif|else|while|menu|python|init|screen|style|transform|image|define|default)\b[^\r\n]*$"
)
_ESCAPE: Final = re.compile(r"\\(.)")
_CHOICE_COMMAND: Final = re.compile(r"^([ \t]*)\*(\w+)[ \t]*(.*)$")
_CHOICE_OPTION: Final = re.compile(
    r"^([ \t]*)((?:\*(?:hide_reuse|disable_reuse|allow_reuse|selectable_if|if)\b[^#\r\n]*)*)#(.*)$"
)


@dataclass
class _Block:
    """A label while it is read."""

    name: str
    line: int
    ways: list[Way] = field(default_factory=list)
    pieces: list[tuple[str, list[int] | int]] = field(default_factory=list)
    leaves: bool = False
    ends: bool = False
    returns: bool = False


@dataclass(frozen=True, slots=True)
class _Inside:
    """An indented block around a line: a condition, or a choice with its text."""

    indent: int
    condition: bool
    label: str | None
    menu: list[bool] | None = None  # for each option of a menu, whether it jumps


class _Reader:
    """What the two formats share: blocks by indentation, labels in order."""

    def __init__(self, raw: str, first: str | None) -> None:
        self.raw = raw
        self.blocks: list[_Block] = [] if first is None else [_Block(first, 1)]
        self.inside: list[_Inside] = []
        self.notes: list[str] = []
        self.line = 0

    @property
    def block(self) -> _Block | None:
        return self.blocks[-1] if self.blocks else None

    def leave(self, indent: int) -> None:
        while self.inside and indent <= self.inside[-1].indent:
            left = self.inside.pop()
            if left.menu and all(left.menu) and self.sure and self.block is not None:
                self.block.leaves = True  # a menu of which every option jumps is not passed

    @property
    def conditional(self) -> bool:
        return any(one.condition for one in self.inside)

    @property
    def sure(self) -> bool:
        """Whether a line is read whatever the variables hold and whatever the player chooses."""
        return not self.inside

    def way(self, target: str, kind: Kind) -> None:
        if self.block is None:
            return
        label = next((one.label for one in reversed(self.inside) if one.label is not None), None)
        if label is not None and kind == "jump":
            self.block.ways.append(Way(target, "choice", label, self.line, self.conditional))
        else:
            self.block.ways.append(Way(target, kind, "", self.line, self.conditional))
        if kind == "jump":
            self.jumped()

    def jumped(self) -> None:
        """Note that nothing after this line is read on this way."""
        if self.sure and self.block is not None:
            self.block.leaves = True
        asked = False  # within the option; a condition of the option itself does not matter
        for one in reversed(self.inside):
            if one.menu:
                one.menu[-1] = one.menu[-1] or not asked
                return
            asked = asked or (one.condition and one.label is None)

    def graph(self, path: Path, format_name: str, first: str | None, *, falls: bool) -> tuple[Graph, Prose]:
        """Put the labels together; `falls`: whether the last one goes on to an end that the format knows."""
        builder = BodyBuilder(self.raw)
        passages: dict[str, Passage] = {}
        self.leave(0)
        for number, block in enumerate(self.blocks):
            after = self.blocks[number + 1].name if number + 1 < len(self.blocks) else None
            stays = not block.leaves
            ways = list(block.ways)
            if stays and after is not None:
                sure = not any(way.kind != "call" for way in ways)
                ways.append(Way(after, "jump", "", self.blocks[number + 1].line, conditional=not sure))
            start, end = builder.add(block.pieces)
            if block.name in passages:
                self.notes.append(
                    f"line {block.line}: '{clean(block.name)}' is there twice; the first is kept"
                )
                continue
            passages[block.name] = Passage(
                block.name,
                block.line,
                tuple(ways),
                block.ends,
                stays and after is None and falls,
                start,
                end,
                block.returns,
            )
        return Graph(path, format_name, passages, first, notes=tuple(self.notes)), builder.prose(path)


def is_renpy(raw: str) -> bool:
    """Whether a text has a label of Ren'Py's."""
    return (
        re.search(r"(?m)^[ \t]*label[ \t]+\.?[\w.]+[ \t]*(?:\([^)\r\n]{0,500}\))?[ \t]*(?:hide[ \t]*)?:", raw)
        is not None
    )


def read_renpy(raw: str, path: Path) -> tuple[Graph, Prose]:
    """Read a script of Ren'Py's: labels, jumps, calls and menus; Python is not followed."""
    reader = _Reader(raw, None)
    whole = ""
    at = 0
    for number, line in enumerate(raw.splitlines(keepends=True), 1):
        reader.line = number
        text = line.rstrip("\r\n")
        begin, at = at, at + len(line)
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        indent = len(text) - len(text.lstrip())
        if label := _RENPY_LABEL.match(text):
            reader.leave(0)
            whole = label[2] if not label[2].startswith(".") else whole
            reader.inside.clear()
            reader.blocks.append(_Block(label[2] if label[2] == whole else whole + label[2], number))
            continue
        reader.leave(indent)
        _renpy_line(reader, text, indent, begin, whole)
    first = "start" if any(block.name == "start" for block in reader.blocks) else None
    return reader.graph(path, "Ren'Py", first, falls=True)


def _renpy_line(reader: _Reader, text: str, indent: int, begin: int, whole: str) -> None:
    if jump := _RENPY_JUMP.match(text):
        if jump[2]:
            reader.notes.append(
                f"line {reader.line}: where '{clean(text.strip(), limit=60)}' leads is not written there"
            )
            return
        target = whole + jump[3] if jump[3].startswith(".") else jump[3]
        reader.way(target, "call" if jump[1] == "call" else "jump")
    elif text.strip().split("#")[0].split(" ")[0].strip() == "return":
        if reader.block is not None:
            reader.block.ends = True
            reader.jumped()
    elif choice := _RENPY_CHOICE.match(text):
        menu = next((one.menu for one in reversed(reader.inside) if one.menu is not None), None)
        if menu is not None:
            menu.append(False)
        reader.inside.append(_Inside(indent, choice[2] is not None, choice[1]))
        _say(reader, begin + choice.start(1), begin + choice.end(1))
    elif (said := _RENPY_SAYS.match(text)) and not _RENPY_BLOCK.match(text):
        _say(reader, begin + said.start(1), begin + said.end(1))
    elif (block := _RENPY_BLOCK.match(text)) and text.rstrip().endswith(":"):
        menu_options: list[bool] | None = [] if block[1] == "menu" else None
        asks = block[1] in {"if", "elif", "else", "while"}
        reader.inside.append(_Inside(indent, asks, None, menu_options))


def _say(reader: _Reader, start: int, end: int) -> None:
    """Keep what a string says: a backslash stands for what follows it, or a line break."""
    escapes = (
        (one.start(), one.end(), " " if one[1] == "n" else one[1])
        for one in _ESCAPE.finditer(reader.raw, start, end)
    )
    text, at = spelled(reader.raw, start, end, escapes)
    if reader.block is not None:
        reader.block.pieces.append((text, list(at)))


def _keep(reader: _Reader, text: str, at: int) -> None:
    if reader.block is not None:
        reader.block.pieces.append((text, at))


def is_choicescript(raw: str) -> bool:
    """Whether a text has commands of ChoiceScript's at the beginnings of lines."""
    return (
        re.search(r"(?m)^[ \t]*\*(?:choice|fake_choice|goto|goto_scene|finish|scene_list)\b", raw) is not None
    )


def read_choicescript(raw: str, path: Path) -> tuple[Graph, Prose]:
    """Read one scene of ChoiceScript's; other scenes are other files."""
    first = path.stem or "scene"
    reader = _Reader(raw, first)
    elsewhere: set[str] = set()
    at = 0
    for number, line in enumerate(raw.splitlines(keepends=True), 1):
        reader.line = number
        text = line.rstrip("\r\n")
        begin, at = at, at + len(line)
        if not text.strip():
            continue
        indent = len(text) - len(text.lstrip())
        reader.leave(indent)
        option = _CHOICE_OPTION.match(text)
        command = _CHOICE_COMMAND.match(text)
        if option:
            asked = "if" in option[2]
            reader.inside.append(_Inside(indent, asked, option[3].strip()))
            _keep(reader, option[3], begin + option.start(3))
        elif command:
            _choicescript_command(reader, command[2], command[3].strip(), indent, elsewhere)
        else:
            _keep(reader, text.strip(), begin + indent)
    graph, prose = reader.graph(path, "ChoiceScript", first, falls=True)
    known = frozenset(elsewhere - graph.passages.keys())
    return Graph(graph.path, graph.format, graph.passages, first, notes=graph.notes, elsewhere=known), prose


def _choicescript_command(reader: _Reader, name: str, rest: str, indent: int, elsewhere: set[str]) -> None:
    block = reader.block
    if name == "label" and rest:
        reader.blocks.append(_Block(rest.split(maxsplit=1)[0], reader.line))
        reader.inside = [one for one in reader.inside if one.indent < indent]
    elif name in {"goto", "gosub"} and rest:
        target = rest.split(maxsplit=1)[0]
        if target.startswith("{"):
            reader.notes.append(
                f"line {reader.line}: where '*{name} {clean(rest, limit=60)}' leads is not written there"
            )
        else:
            reader.way(target, "call" if name == "gosub" else "jump")
    elif name in {"goto_scene", "gosub_scene", "redirect_scene"} and rest:
        elsewhere.add(rest.split(maxsplit=1)[0])
        reader.way(rest.split(maxsplit=1)[0], "call" if name == "gosub_scene" else "jump")
    elif name in {"finish", "ending"} and block is not None:
        block.ends = True
        block.leaves = block.leaves or reader.sure
    elif name == "return" and block is not None:
        block.returns = True
        block.leaves = block.leaves or reader.sure
    elif name in {"if", "elseif", "elsif", "else"}:
        reader.inside.append(_Inside(indent, condition=True, label=None))
    elif name in {"choice", "fake_choice"}:
        # Each option of *choice must leave; what comes after is not fallen into.
        if block is not None and name == "choice" and reader.sure:
            block.leaves = True
        reader.inside.append(_Inside(indent, condition=False, label=None))
