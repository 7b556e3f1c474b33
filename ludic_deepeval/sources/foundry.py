"""Foundry VTT actors (dnd5e), in JSON or YAML: the biography, which is HTML, and what drives the character."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ludic_deepeval.errors import InputError, shown
from ludic_deepeval.sources.in_html import html_pieces
from ludic_deepeval.sources.remarks import Remark, told_fields
from ludic_deepeval.sources.sheet import Sheet
from ludic_deepeval.sources.tree import DataFile

READ: Final = ("biography.value", "trait", "ideal", "bond", "flaw")
_ROOTS: Final = ("system", "data")  # before Foundry 10 it was `data`


def is_actor(data: object) -> bool:
    """Whether plain data is an actor whose details hold a biography."""
    return _details(data) is not None


def _details(data: object) -> tuple[Mapping[str, Any], tuple[str, ...]] | None:
    if not isinstance(data, dict) or not isinstance(data.get("name"), str):
        return None
    for root in _ROOTS:
        details = data[root].get("details") if isinstance(data.get(root), dict) else None
        if isinstance(details, dict) and "biography" in details:
            return details, (root, "details")
    return None


def read_actor(raw: str, path: Path) -> Sheet:
    """Return the prose of an actor: tags, scripts and styles are gone, and each character knows its place.

    Raises:
        InputError: It is malformed, or there is nothing in the fields that are read.
    """
    file = DataFile(raw, path)
    found = _details(file.data)
    if found is None:
        raise InputError(path, "no actor with a biography", allowed="an actor of dnd5e")
    details, way = found
    ways: dict[str, tuple[str, ...]] = {}
    for name in READ:
        keys = tuple(name.split("."))
        value = details.get(keys[0])
        if len(keys) > 1 and isinstance(value, dict):
            value = value.get(keys[1])
        elif len(keys) > 1:
            keys = keys[:1]  # older sheets: the biography itself is the text
        if value is not None and not isinstance(value, str):
            where = ".".join((*way, *keys))
            raise InputError(path, f"found {shown(value)}", where=where, allowed="text")
        if value and value.strip():
            ways[".".join(keys)] = keys
    texts = file.texts([(*way, *keys) for keys in ways.values()])
    parts = [one.respelled(html_pieces(one.text)) for one in texts]
    skipped = [key for key in ("appearance",) if details.get(key)]
    if isinstance(details["biography"], dict) and details["biography"].get("public"):
        skipped.insert(0, "biography.public")
    told = told_fields(list(ways), parts, skipped)
    if not any(part.text.strip() for part in parts):
        allowed = f"words in {', '.join(READ[:-1])} or {READ[-1]}"
        raise InputError(path, "no prose in this actor", allowed=allowed, hint=told)
    name = " ".join(file.data["name"].split())
    return Sheet(raw, [part for part in parts if part.text.strip()], name, (Remark("fields-read", told),))
