"""Adding an entry to a list in somebody's YAML without touching anything else in it.

Where the entry goes is read off the parsed text; that nothing else has changed is read off the result, or there is none.
"""

import re
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import yaml

from ludic_deepeval.errors import InputError
from ludic_deepeval.safe_yaml import compose, load

Rows: TypeAlias = tuple[tuple[str, str, str], ...]
"""The keys of an entry, each with its value as it is written in YAML, or nothing, and a comment, or nothing."""

_BREAK: Final = re.compile(r"\r\n|[\r\n\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Insertion:
    """A part of a text and what comes in its place: offsets in characters, half-open."""

    start: int
    end: int
    text: str

    def applied(self, whole: str) -> str:
        """The text with it in place."""
        return whole[: self.start] + self.text + whole[self.end :]


def add_entry(text: str, key: str, rows: Rows, file: object) -> Insertion:
    """Add an entry at the end of the list that a key of a YAML mapping holds; or the key with a list of it alone.

    Args:
        text: The YAML; empty for none yet.
        key: A key of its mapping.
        rows: The entry.
        file: What to call it in errors.

    Raises:
        InputError: The text cannot be read, is no mapping, what the key holds is no list, or it is written in a way in
            which nothing can be added for certain.
    """
    root, _ = compose(text, file)
    if root is not None and not isinstance(root, yaml.MappingNode):
        raise InputError(file, "is no mapping", allowed=f"a mapping with {key}:")
    end = "\r\n" if "\r\n" in text else "\n"
    found = next(((name, node) for name, node in root.value if name.value == key), None) if root else None
    made = _within(text, found, rows, end) if found else _behind(text, key, rows, end)
    if made is None or not _adds_only(text, made, key, file):
        raise InputError(file, f"nothing can be added to {key}: as it is written here", hint="add it by hand")
    return made


def _within(text: str, found: tuple[yaml.Node, yaml.Node], rows: Rows, end: str) -> Insertion | None:
    name, node = found
    if isinstance(node, yaml.SequenceNode) and node.value and not node.flow_style:
        at, fresh = _after(text, _last(node))
        return Insertion(at, at, ("" if fresh else end) + _block(rows, node.start_mark.column, end))
    if isinstance(node, yaml.SequenceNode) and node.value:
        at = _offset(text, node.end_mark) - 1  # before the bracket
        entry = ", ".join(f"{key}: {value}" for key, value, _ in rows if value)
        return Insertion(at, at, f", {{{entry}}}")
    if node.tag.endswith(":null") or (isinstance(node, yaml.SequenceNode) and not node.value):
        start, stop = _offset(text, name.end_mark), _offset(text, node.end_mark)
        colon = text.index(":", start) + 1
        at, fresh = _after(text, node) if stop > colon else _line_after(text, colon)
        kept = text[max(colon, stop) : at]
        entry = ("" if fresh else end) + _block(rows, name.start_mark.column, end)
        return Insertion(colon, at, kept + entry)
    return None


def _behind(text: str, key: str, rows: Rows, end: str) -> Insertion:
    """The key at the end of the text."""
    gap = "" if not text or _BREAK.fullmatch(text[-1:]) else end
    return Insertion(len(text), len(text), f"{gap}{key}:{end}{_block(rows, 0, end)}")


def _block(rows: Rows, indent: int, end: str) -> str:
    blank = " " * indent
    lines = []
    for number, (key, value, comment) in enumerate(rows):
        row = f"{key}: {value}" if value else f"{key}:"
        lines.append(f"{blank}{'- ' if number == 0 else '  '}{row}{f'  # {comment}' if comment else ''}{end}")
    return "".join(lines)


def _last(node: yaml.Node) -> yaml.Node:
    """The last thing that is written of a node: a block's own end is where the next thing begins."""
    while isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
        node = node.value[-1][1] if isinstance(node, yaml.MappingNode) else node.value[-1]
    return node


def _after(text: str, node: yaml.Node) -> tuple[int, bool]:
    """Where the line after a node begins, and whether there is one."""
    at = _offset(text, node.end_mark)
    if node.end_mark.column == 0 and at > 0:  # a block of text ends on the next line already
        return at, True
    return _line_after(text, at)


def _line_after(text: str, at: int) -> tuple[int, bool]:
    found = _BREAK.search(text, at)
    return (found.end(), True) if found else (len(text), False)


def _offset(text: str, mark: Any) -> int:
    """The offset of a mark, whose index counts differently from one loader to another."""
    at = 0
    for _ in range(mark.line):
        found = _BREAK.search(text, at)
        if found is None:
            return len(text)
        at = found.end()
    return min(at + int(mark.column), len(text))


def _adds_only(text: str, made: Insertion, key: str, file: object) -> bool:
    """Whether the text is what it was, with one more entry at the end of one list."""
    old = load(text, file, 1) or {}
    try:
        new = load(made.applied(text), file, 1)
    except InputError:
        return False
    if not isinstance(new, dict) or not isinstance(new.get(key), list):
        return False
    others = [{name: value for name, value in one.items() if name != key} for one in (old, new)]
    return bool(others[0] == others[1] and new[key][:-1] == (old.get(key) or []) and new[key])
