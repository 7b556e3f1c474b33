"""Lorebooks and World Info: what of an entry we know, and a way to change it that keeps everything else.

There are two shapes. World Info has `entries` as an object of `{key, keysecondary, order, disable}`; the books in cards, and
those of the V3 specification, have a list of `{keys, secondary_keys, insertion_order, enabled}`. Content may begin with
decorators, lines such as `@@depth 4`.
"""

import copy
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ludic_deepeval.bible import MAX_NODES
from ludic_deepeval.errors import InputError, shown
from ludic_deepeval.sources.cards import fields_of, is_card, name_of

_PATTERN: Final = re.compile(r"/.+/[a-z]*\Z", re.DOTALL)
_NAMES: Final = ("comment", "name", "displayName")
_KEYS: Final = ("keys", "key")
_SECOND: Final = ("secondary_keys", "keysecondary")
_ORDER: Final = ("insertion_order", "order")
_OFF: Final = frozenset({"@@dont_activate"})


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one entry.

    Attributes:
        key: Where it stands: its key in the object, or its number in the list. Empty for one that is new.
        name: What people call it; may be empty.
        keys: The words that call it up.
        secondary: Further words, of which some must stand there too.
        content: Its text, without decorators.
        decorators: The lines that begin with `@@`, at the start of the content.
        enabled: Whether it is used at all.
        order: Where it is put among those that are called up.
    """

    key: str
    name: str
    keys: tuple[str, ...]
    content: str
    secondary: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    enabled: bool = True
    order: int = 100

    @property
    def is_used(self) -> bool:
        """Whether it is switched on and may be called up."""
        return self.enabled and not any(line.split()[0] in _OFF for line in self.decorators)


@dataclass(frozen=True, slots=True)
class Book:
    """A lorebook as it was found.

    Attributes:
        document: The whole file's data; never changed.
        way: The keys that lead to the book in it.
        name: What the book calls itself; may be empty.
        character: What `{{char}}` stands for, if the book is a card's.
        entries: Its entries, in the order of the file.
    """

    document: Any
    way: tuple[str, ...]
    name: str
    character: str | None
    entries: tuple[Entry, ...]

    @property
    def as_object(self) -> bool:
        """Whether it has the shape of World Info."""
        return isinstance(_at(self.document, self.way)["entries"], dict)


def is_pattern(key: str) -> bool:
    """Whether a key is a regular expression, `/…/i`, and no word."""
    return _PATTERN.match(key) is not None


def book_in(document: Any, file: object) -> Book:
    """Find the lorebook in a file's data: World Info, a V3 lorebook, or a card's `character_book`.

    Raises:
        InputError: There is none, or an entry is malformed; names its place.
    """
    character = None
    way: tuple[str, ...] = ()
    if is_card(document):
        fields, above = fields_of(document, file)
        character = name_of(fields)
        way = (*above, "character_book")
        if not isinstance(fields.get("character_book"), dict):
            found = shown(fields.get("character_book"))
            raise InputError(file, f"found {found}", where=".".join(way), allowed="a card with a lorebook")
    elif isinstance(document, dict) and isinstance(document.get("data"), dict) and "entries" not in document:
        way = ("data",)
    book = _at(document, way)
    listed = book.get("entries") if isinstance(book, dict) else None
    if not isinstance(listed, dict | list):
        raise InputError(
            file, "no lorebook in this file", allowed="entries, as World Info and cards have them"
        )
    if len(listed) > MAX_NODES:
        raise InputError(file, f"{len(listed):,} entries", allowed=f"at most {MAX_NODES:,}")
    where = ".".join((*way, "entries"))
    pairs = listed.items() if isinstance(listed, dict) else enumerate(listed)
    entries = tuple(_entry(str(key), raw, f"{where}.{key}", file) for key, raw in pairs)
    name = book.get("name")
    return Book(document, way, name.strip() if isinstance(name, str) else "", character, entries)


def _at(document: Any, way: Iterable[str]) -> Any:
    for key in way:
        document = document[key]
    return document


def _entry(key: str, raw: Any, where: str, file: object) -> Entry:
    if not isinstance(raw, dict):
        raise InputError(file, f"found {shown(raw)}", where=where, allowed="an entry with keys and content")
    content = raw.get("content")
    if not isinstance(content, str | None):
        raise InputError(file, f"found {shown(content)}", where=f"{where}.content", allowed="text")
    lines = (content or "").split("\n")
    count = next((n for n, line in enumerate(lines) if not line.startswith("@@")), len(lines))
    order = _first(raw, _ORDER)
    enabled = raw.get("enabled", True)
    return Entry(
        key,
        next((" ".join(raw[one].split()) for one in _NAMES if isinstance(raw.get(one), str) and raw[one].strip()), ""),
        _words(_first(raw, _KEYS), f"{where}.keys", file),
        "\n".join(lines[count:]),
        _words(_first(raw, _SECOND), f"{where}.secondary_keys", file),
        tuple(lines[:count]),
        enabled is not False and not raw.get("disable"),
        order if type(order) is int else 100,
    )  # fmt: skip


def _first(raw: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((raw[name] for name in names if name in raw), None)


def _words(value: Any, where: str, file: object) -> tuple[str, ...]:
    """The keys of an entry: a list, or one text with commas, as old programs wrote it."""
    if value is None:
        return ()
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InputError(file, f"found {shown(value)}", where=where, allowed="a list of words")
    return tuple(one.strip() for one in value if one.strip())


# Writing


def with_entries(book: Book, entries: Iterable[Entry]) -> Any:
    """Return the book's whole document with other entries.

    An entry is known by its `key`. One that is as it was stays as it was, to the byte; of one that is not, only the fields that
    differ are written, in the names that the file uses. What is not understood, and the order of everything, is kept.
    Entries that are left out are gone, and those without a key are added at the end.

    Args:
        book: The book.
        entries: What it is to hold.
    """
    document = copy.deepcopy(book.document)
    home = _at(document, book.way)
    listed: Any = home["entries"]
    given = list(entries)
    wanted = {one.key: one for one in given if one.key}
    old = {one.key: one for one in book.entries}
    fresh = [
        _written(one, number, book) for number, one in enumerate((e for e in given if not e.key), _next(book))
    ]
    if isinstance(listed, dict):
        kept = {key: _changed(raw, old[key], wanted[key]) for key, raw in listed.items() if key in wanted}
        home["entries"] = kept | {str(raw["uid"]): raw for raw in fresh}
    else:
        home["entries"] = [
            _changed(raw, old[str(number)], wanted[str(number)])
            for number, raw in enumerate(listed)
            if str(number) in wanted
        ] + fresh
    return document


def _next(book: Book) -> int:
    """The first number that no entry has."""
    listed = _at(book.document, book.way)["entries"]
    raws = listed.values() if isinstance(listed, dict) else listed
    taken = [
        int(one.key) for one in book.entries if one.key.isascii() and one.key.isdigit() and len(one.key) < 10
    ]
    taken += [raw[name] for raw in raws for name in ("uid", "id") if type(raw.get(name)) is int]
    return max(taken, default=-1) + 1


def _text_of(entry: Entry) -> str:
    return "\n".join((*entry.decorators, entry.content))


def _changed(raw: dict[str, Any], was: Entry, new: Entry) -> dict[str, Any]:
    """One entry with what differs written into it."""
    shape = "key" in raw or ("keys" not in raw and "disable" in raw)
    if _text_of(new) != _text_of(was):
        raw["content"] = _text_of(new)
    for names, before, after in ((_KEYS, was.keys, new.keys), (_SECOND, was.secondary, new.secondary)):
        if before != after:
            raw[next((one for one in names if one in raw), names[shape])] = list(after)
    if was.name != new.name:
        filled = (one for one in _NAMES if isinstance(raw.get(one), str) and raw[one].strip())
        raw[next(filled, _NAMES[not shape])] = new.name
    if was.order != new.order:
        raw[next((one for one in _ORDER if one in raw), _ORDER[shape])] = new.order
    if was.enabled != new.enabled:
        if "disable" in raw or shape:
            raw["disable"] = not new.enabled
        if "enabled" in raw or not shape:
            raw["enabled"] = new.enabled
    return raw


def _written(entry: Entry, number: int, book: Book) -> dict[str, Any]:
    """A new entry in the book's shape."""
    if book.as_object:
        return {
            "uid": number,
            "key": list(entry.keys),
            "keysecondary": list(entry.secondary),
            "comment": entry.name,
            "content": _text_of(entry),
            "constant": False,
            "selective": bool(entry.secondary),
            "order": entry.order,
            "position": 0,
            "disable": not entry.enabled,
        }
    return {
        "keys": list(entry.keys),
        "content": _text_of(entry),
        "extensions": {},
        "enabled": entry.enabled,
        "insertion_order": entry.order,
        "use_regex": False,
        "name": entry.name,
        "comment": entry.name,
        "id": number,
        "secondary_keys": list(entry.secondary),
        "selective": bool(entry.secondary),
        "constant": False,
    }
