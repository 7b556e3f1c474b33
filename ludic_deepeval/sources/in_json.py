"""Where a value stands in a JSON file. Python's own reader checks the file; this finds the places in it."""

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.sources.pointer import Steps
from ludic_deepeval.sources.spelling import json_pieces, spelled, where

_BLANK: Final = re.compile(r"[ \t\n\r]*")
_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
_SCALAR: Final = re.compile(r"[^][{}\", \t\n\r]+")
_MARK: Final = re.compile(rf"{_STRING.pattern}|[][{{}}]")


def load(raw: str, file: object) -> Any:
    """Return the plain data of a JSON file.

    Raises:
        InputError: It is not valid JSON, or nested too deeply.
    """
    bom = 1 if raw.startswith("\ufeff") else 0
    try:
        return json.loads(raw[bom:])
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {clean(error.msg, limit=160)}"
        raise InputError(file, message, where=where(raw, error.pos + bom)) from None
    except RecursionError:
        raise InputError(file, "nested too deeply", allowed="a flatter file") from None
    except ValueError:  # Python refuses to read an integer of thousands of digits
        raise InputError(file, "not valid JSON: a huge number") from None


def locate(raw: str, wanted: Iterable[Steps], file: object) -> dict[Steps, int]:
    """Return the offset at which each wanted value begins in a file that `load` has accepted.

    Raises:
        InputError: A key on the way that is given twice.
    """
    tree: dict[str | int, Any] = {}
    for steps in wanted:
        branch = tree
        for step in steps:
            branch = branch.setdefault(step, {})
    found: dict[Steps, int] = {}
    start = 1 if raw.startswith("\ufeff") else 0
    _visit(raw, _BLANK.match(raw, start).end(), (), tree, found, file)  # type: ignore[union-attr]  # matches anywhere
    return found


def text_at(raw: str, offset: int) -> tuple[str, Any]:
    """Return the string that begins at an offset, and the places of its characters."""
    end = _STRING.match(raw, offset).end()  # type: ignore[union-attr]  # `locate` found a string there
    return spelled(raw, offset + 1, end - 1, json_pieces(raw, offset + 1, end - 1))


def _visit(
    raw: str, at: int, here: Steps, tree: dict[str | int, Any], found: dict[Steps, int], file: object
) -> int:
    """Note a wanted value's place and those of wanted values in it; return where it ends."""
    found[here] = at
    if not tree or raw[at] not in "[{":
        return _end(raw, at)
    is_object = raw[at] == "{"
    seen: set[str] = set()
    at = _after(raw, at + 1)
    index = 0
    while raw[at] not in "]}":
        step: str | int = index
        if is_object:
            end = _end(raw, at)
            step = str(json.loads(raw[at:end]))
            if step in seen:
                raise InputError(file, f"the key {shown(step)} is given twice", where=where(raw, at))
            seen.add(step)
            at = _after(raw, _after(raw, end) + 1)  # past the colon
        branch = tree.get(step)
        at = _after(
            raw, _end(raw, at) if branch is None else _visit(raw, at, (*here, step), branch, found, file)
        )
        if raw[at] == ",":
            at = _after(raw, at + 1)
        index += 1
    return at + 1


def _after(raw: str, at: int) -> int:
    """Step over white space."""
    return _BLANK.match(raw, at).end()  # type: ignore[union-attr]  # matches anywhere


def _end(raw: str, at: int) -> int:
    """Return where the value ends that begins at an offset, without recursion."""
    if raw[at] == '"':
        return _STRING.match(raw, at).end()  # type: ignore[union-attr]  # the file is valid JSON
    if raw[at] not in "[{":
        return _SCALAR.match(raw, at).end()  # type: ignore[union-attr]  # the file is valid JSON
    depth = 0
    for match in _MARK.finditer(raw, at):
        mark = raw[match.start()]
        depth += (mark in "[{") - (mark in "]}")
        if not depth:
            return match.end()
    return len(raw)
