"""What the Stress-Tester and the reuse judge are asked for, and how their answers are read: strictly, and nothing mended."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from ludic_deepeval.errors import clean, shown
from ludic_deepeval.session import MOST, Emitted, Outline, Person, Told
from ludic_deepeval.text import name_key

_SHOWN_NAME: Final = 160
_SHOWN_TEXT: Final = 600


class UnusableError(Exception):
    """An answer that is JSON and is not what was asked for; its text says why."""


OUTLINE: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "npcs": {
            "type": "array",
            "maxItems": MOST,
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "role": {"type": "string"}},
                "required": ["name", "role"],
                "additionalProperties": False,
            },
        },
        "hooks": {
            "type": "array",
            "maxItems": MOST,
            "items": {
                "type": "object",
                "properties": {"text": {"type": "string"}},
                "required": ["text"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["npcs", "hooks"],
    "additionalProperties": False,
}


def labels_schema(ids: frozenset[str], count: int) -> dict[str, Any]:
    """What the judge fills in; a server that enforces it lets no unknown id, label or number through, and no gap."""
    item = {"anyOf": [{"type": "string", "enum": sorted(ids)}, {"type": "null"}]}
    return {
        "type": "object",
        "properties": {
            "labels": {
                "type": "array",
                "minItems": count,
                "maxItems": count,
                "items": {
                    "type": "object",
                    "properties": {
                        "number": {"type": "integer", "minimum": 1, "maximum": count},
                        "label": {"type": "string", "enum": ["reused", "invented", "ambiguous"]},
                        "item": item,
                    },
                    "required": ["number", "label", "item"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["labels"],
        "additionalProperties": False,
    }


def read_outline(answer: Any, seed: str) -> Outline:
    """Read a tester's answer. Who or what is listed twice is one; keys that were not asked for are left alone.

    Raises:
        UnusableError: It is no outline, or one of more than twelve people or threads.
    """
    people, hooks = (_objects(answer, name) for name in ("npcs", "hooks"))
    try:
        outline = Outline(
            seed=seed,
            npcs=tuple(
                Person.model_validate({"name": one.get("name"), "role": one.get("role")}) for one in people
            ),
            hooks=tuple(one.get("text") for one in hooks),
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UnusableError(clean(f"{where}: {first['msg']}", limit=200)) from None
    named: dict[str, Person] = {}
    for person in outline.npcs:
        named.setdefault(name_key(person.name) or person.name, person)
    worded: dict[str, str] = {}
    for text in outline.hooks:
        worded.setdefault(name_key(text) or text, text)
    return Outline(seed=seed, npcs=tuple(named.values()), hooks=tuple(worded.values()))


def read_labels(answer: Any, count: int, ids: frozenset[str]) -> tuple[Told, ...]:
    """Read a judge's answer: one label for each number from 1 to `count`, each reused one with an item that there is.

    Raises:
        UnusableError: A number is missing, unknown or labelled twice, a label is none of the three, or an item does not exist.
    """
    found: dict[int, Told] = {}
    for one in _objects(answer, "labels"):
        number, label, item = one.get("number"), one.get("label"), one.get("item")
        if type(number) is not int or not 1 <= number <= count:
            raise UnusableError(f"there is no number {shown(number)}")
        if number in found:
            raise UnusableError(f"number {number} is labelled twice")
        if item is not None and not (isinstance(item, str) and item in ids):
            raise UnusableError(f"number {number} rests on {shown(item)}, which is no item")
        try:
            found[number] = Told.model_validate({"label": label, "item": item})
        except ValidationError:
            raise UnusableError(
                f"number {number} is labelled {shown(label)} with the item {shown(item)}"
            ) from None
    if missing := [str(number) for number in range(1, count + 1) if number not in found]:
        raise UnusableError(f"no label for {', '.join(missing)}")
    return tuple(found[number] for number in range(1, count + 1))


def _objects(answer: Any, name: str) -> list[dict[str, Any]]:
    found = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise UnusableError(f"'{name}' is no list of objects")
    return found


def emitted_lines(emitted: Sequence[Emitted]) -> str:
    """What the judge labels, numbered; every value is one JSON string, so that no text makes a line of its own."""
    lines: list[dict[str, object]] = []
    for number, one in enumerate(emitted, 1):
        if one.kind == "npc":
            name, role = clean(one.text, limit=_SHOWN_NAME), clean(one.role, limit=_SHOWN_TEXT)
            lines.append({"number": number, "person": name, "role": role})
        else:
            lines.append({"number": number, "thread": clean(one.text, limit=_SHOWN_TEXT)})
    return json_lines(lines)


def json_lines(objects: Sequence[Mapping[str, object]]) -> str:
    """A JSON object a line."""
    return "\n".join(json.dumps(one, ensure_ascii=False) for one in objects)
