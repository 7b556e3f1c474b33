"""Making nodes of a bible from things that were never checked: names that are taken, missing or no names."""

import re
import unicodedata
from collections import Counter
from typing import Any, Final

from ludic_deepeval.text import name_key

_MAX_NAME: Final = 200
_MAX_ID: Final = 60


class Namer:
    """Gives every node an id and a name of its own, and aliases that no other node has; the first come is served."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._numbers: Counter[str] = Counter()
        self.shared = 0

    def node(self, name: str, aliases: list[str], text: str) -> dict[str, Any]:
        """Return the fields of a node."""
        own = self._free(_one_line(name) or "Entry")
        node_id = self._free_id(own)
        kept = []
        for alias in map(_one_line, aliases):
            key = name_key(alias)
            if not key or key == name_key(own) or alias in kept:
                continue
            if key in self._taken:
                self.shared += key != name_key(name)
                continue
            self._taken.add(key)
            kept.append(alias)
        return {"id": node_id, "name": own, "aliases": tuple(kept), "text": text if text.strip() else own}

    def _free(self, name: str) -> str:
        return self._numbered(name if name_key(name) else f"Entry {name}", " ")

    def _free_id(self, name: str) -> str:
        """An id that means nobody else; as a name it is this node's own."""
        slug = (
            re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", name).casefold())
            .strip("-")[:_MAX_ID]
            .strip("-")
        )
        if slug and name_key(slug) == name_key(name):
            return slug
        return self._numbered(slug or "entry", "-")

    def _numbered(self, name: str, mark: str) -> str:
        key = name_key(name)
        found = name
        while not name_key(found) or name_key(found) in self._taken:
            self._numbers[key] += 1
            found = f"{name}{mark}{self._numbers[key] + 1}"
        self._taken.add(name_key(found))
        return found


def _one_line(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())[:_MAX_NAME].strip()


def slug_of(name: str) -> str:
    """An id for a bible from a file's name."""
    return (
        re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", name).casefold()).strip("-")[:_MAX_ID] or "lore"
    )
