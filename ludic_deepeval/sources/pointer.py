"""JSON Pointers (RFC 6901) over plain data, with `*` for every element or member."""

import re
from typing import Final, TypeAlias

from ludic_deepeval.errors import clean, shown

ANY: Final = "*"
MAX_STEPS: Final = 32
_SHOWN_KEYS: Final = 12
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")

Steps: TypeAlias = tuple[str | int, ...]
"""Where a value stands: the keys and indexes that lead to it."""

MISSING: Final = object()


def is_pointer(text: str) -> bool:
    """Whether a setting is a pointer and no constant: it begins with `/` or `../`."""
    return text.startswith(("/", "../"))


def parse(pointer: str) -> tuple[str, ...]:
    """Return the keys of a pointer.

    Raises:
        ValueError: It is none.
    """
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"found {shown(pointer)}; allowed: a pointer such as /npcs/*/backstory")
    parts = pointer.split("/")[1:]
    if len(parts) > MAX_STEPS:
        raise ValueError(f"found {len(parts)} steps; allowed: at most {MAX_STEPS}")
    if bad := re.search(r"~(?![01])", pointer):
        raise ValueError(f"found {shown(pointer[bad.start() :])}; allowed: ~0 for ~ and ~1 for / in a key")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def write(steps: Steps) -> str:
    """Return the pointer to one place."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def find(data: object, pointer: tuple[str, ...]) -> list[tuple[Steps, object]]:
    """Return every value that a pointer leads to, in the order of the data, with the way to each."""
    level: list[tuple[Steps, object]] = [((), data)]
    for key in pointer:
        level = [((*steps, step), value) for steps, node in level for step, value in _under(node, key)]
    return level


def _under(node: object, key: str) -> list[tuple[str | int, object]]:
    if key == ANY:
        return (
            list(node.items())
            if isinstance(node, dict)
            else list(enumerate(node))
            if isinstance(node, list)
            else []
        )
    value = _child(node, key)
    return [] if value is MISSING else [(int(key) if isinstance(node, list) else key, value)]


def _child(node: object, key: str) -> object:
    if isinstance(node, dict):
        return node.get(key, MISSING)
    if isinstance(node, list) and _INDEX.fullmatch(key) and int(key) < len(node):
        return node[int(key)]
    return MISSING


def related(reference: str, pointer: tuple[str, ...], steps: Steps) -> Steps:
    """Return where a reference leads from one text.

    Args:
        reference: `../id` is the member `id` beside the text; in `/npcs/*/id` each `*` is what it was for the text.
        pointer: The pointer that found the text.
        steps: Where it stands.

    Raises:
        ValueError: More `..` than there are steps, or more `*` than the text's own pointer has.
    """
    if reference.startswith("../"):
        rest = reference
        base = steps
        while rest.startswith("../"):
            if not base:
                raise ValueError(
                    f"found {shown(reference)}; allowed: at most one ../ for each key of pointer"
                )
            base, rest = base[:-1], rest[3:]
        keys = parse(f"/{rest}")
        if ANY in keys:
            raise ValueError(f"found {shown(reference)}; allowed: ../ and keys, without *")
        return (*base, *keys)
    matched = iter([step for key, step in zip(pointer, steps, strict=True) if key == ANY])
    keys = parse(reference)
    if keys.count(ANY) > pointer.count(ANY):
        raise ValueError(f"found {shown(reference)}; allowed: at most as many * as pointer has")
    return tuple(next(matched) if key == ANY else key for key in keys)


def value_at(data: object, steps: Steps) -> object:
    """Return the value at a place, or `MISSING`."""
    for step in steps:
        data = _child(data, str(step))
    return data


def what_is_there(data: object, pointer: tuple[str, ...]) -> str:
    """Say how far a pointer leads that leads to nothing, and what there is instead; nothing for a `*` over nothing."""
    length = next(n for n in range(len(pointer), -1, -1) if find(data, pointer[:n]))
    nodes = [value for _, value in find(data, pointer[:length])]
    if length < len(pointer) and pointer[length] == ANY and all(node in ([], {}) for node in nodes):
        return ""
    keys = dict.fromkeys(str(key) for node in nodes if isinstance(node, dict) for key in node)
    here = f"at {shown(write(pointer[:length]))}" if length else "at the top"
    if keys:
        said = ", ".join(clean(key) for key in list(keys)[:_SHOWN_KEYS])
        return f"{here} are the keys {said}{', …' if len(keys) > _SHOWN_KEYS else ''}"
    first = nodes[0]
    if isinstance(first, list):
        return f"{here} is a list of {len(first)}"
    return f"{here} is {'an empty mapping' if first == {} else shown(first)}"
