"""Character cards V1, V2 and V3: JSON, YAML, PNG and CHARX. A card's prose is who somebody is and where they stand."""

import binascii
import re
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.files import MAX_BYTES, decode
from ludic_deepeval.sources import charx, png
from ludic_deepeval.sources.macros import macro_pieces
from ludic_deepeval.sources.passage import MAX_ID
from ludic_deepeval.sources.remarks import Remark, told_fields
from ludic_deepeval.sources.sheet import Sheet
from ludic_deepeval.sources.tree import DataFile

READ: Final = ("description", "personality", "scenario")
"""The fields that are a backstory. Greetings and examples are play, instructions and notes are for people and models."""

SKIPPED: Final = (
    "first_mes", "alternate_greetings", "group_only_greetings", "mes_example", "system_prompt",
    "post_history_instructions", "creator_notes", "creator_notes_multilingual",
)  # fmt: skip
_CHUNKS: Final = frozenset({"chara", "ccv3"})
_V1: Final = ("description", "personality", "scenario", "first_mes", "mes_example")


@dataclass(frozen=True, slots=True)
class CardText:
    """The text of a card, wherever it was.

    Attributes:
        raw: The decoded JSON or YAML.
        remarks: What there is to say about how it was found.
    """

    raw: str
    remarks: tuple[Remark, ...] = ()


def is_card(data: object) -> bool:
    """Whether plain data is a character card of any version."""
    if not isinstance(data, dict):
        return False
    if str(data.get("spec", "")).startswith("chara_card"):
        return True
    texts = sum(isinstance(data.get(name), str) for name in _V1)
    return isinstance(data.get("name"), str) and ("first_mes" in data or "mes_example" in data) and texts >= 2


def fields_of(data: Mapping[str, Any], file: object) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return a card's fields, and the keys that lead to them: in `data` since V2."""
    inner = data.get("data")
    if isinstance(inner, dict):
        return inner, ("data",)
    if inner is not None or not any(isinstance(data.get(name), str) for name in _V1):
        raise InputError(file, f"found {shown(inner)}", where="data", allowed="the fields of a card")
    return data, ()


def name_of(fields: Mapping[str, Any]) -> str:
    """What `{{char}}` stands for: the nickname of V3, else the name."""
    for key in ("nickname", "name"):
        value = fields.get(key)
        if isinstance(value, str) and value.strip():
            return " ".join(clean(value, limit=MAX_ID).split())
    return "Char"


# From a file to the text of a card


def card_text(path: Path) -> CardText | None:
    """Return the card's text that an image or an archive holds; None for a file that holds none.

    Raises:
        InputError: The image, the archive or every card in it cannot be used.
    """
    head = _head(path)
    if head.startswith(png.SIGNATURE):
        return _in_image(path)
    if head.startswith(charx.SIGNATURE):
        data = charx.card_in(path)
        return None if data is None else CardText(decode(data, path))
    return None


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(8)
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror or 'input or output error'})") from None


def is_binary(path: Path) -> bool:
    """Whether a file is an image or an archive, whatever it is called."""
    return _head(path).startswith((png.SIGNATURE, charx.SIGNATURE))


def _in_image(path: Path) -> CardText | None:
    """The card in an image: `ccv3` before `chara`, and the first of a kind."""
    chunks = png.texts_in(path, _CHUNKS)
    if not chunks:
        return None
    found: list[tuple[str, str, Any]] = []
    faults: list[tuple[str, InputError]] = []
    for keyword, data in sorted(chunks, key=lambda chunk: chunk[0] != "ccv3"):
        try:
            raw = _unwrapped(data, keyword, path)
            found.append((keyword, raw, DataFile(raw, path).data))
        except InputError as error:
            faults.append((keyword, error))
    if not found:
        raise faults[0][1]
    read, raw, card = found[0]
    remarks = [
        Remark("card-disagrees", f"the chunk {keyword} cannot be used ({error.found}); {read} is read")
        for keyword, error in faults
    ]
    for keyword, _, other in found[1:]:
        if differing := _differences(card, other, path):
            what = ", ".join(differing)
            named = f"{read} and {keyword}" if keyword != read else f"two chunks {read}"
            which = read if keyword != read else "the first"
            remarks.append(Remark("card-disagrees", f"{named} disagree in {what}; {which} is read"))
    return CardText(raw, tuple(remarks))


def _unwrapped(data: bytes, keyword: str, path: Path) -> str:
    """The JSON in a chunk, which is base64 by the rules and now and then is not."""
    plain = data.strip()
    if not plain.startswith(b"{"):
        packed = re.sub(rb"\s+", b"", plain)
        try:
            plain = b64decode(packed + b"=" * (-len(packed) % 4), validate=True)
        except (binascii.Error, ValueError):
            raise InputError(path, f"the chunk {keyword} is no base64", allowed="JSON in base64") from None
    if len(plain) > MAX_BYTES:
        raise InputError(path, f"the chunk {keyword} is larger than {MAX_BYTES // 1024:,} KiB")
    try:
        raw = decode(plain, path)
        card = DataFile(raw, path).data if raw.lstrip("\ufeff \t\r\n").startswith("{") else None
    except InputError as error:
        raise InputError(path, f"the chunk {keyword}: {error.found}", where=error.where) from None
    if not is_card(card):
        raise InputError(path, f"the chunk {keyword} holds no card", allowed="the JSON of a character card")
    return raw


def _differences(one: Any, other: Any, path: Path) -> list[str]:
    """The fields that two cards of one image give otherwise, where both give them."""
    try:
        first, second = fields_of(one, path)[0], fields_of(other, path)[0]
    except InputError:
        return ["everything"]
    names = [
        name for name in ("name", *READ, "first_mes", "character_book") if name in first and name in second
    ]
    return [name for name in names if (first[name] or None) != (second[name] or None)]


# From the text of a card to prose


def read_card(raw: str, path: Path, remarks: tuple[Remark, ...] = ()) -> Sheet:
    """Return the prose of a card.

    Raises:
        InputError: It is malformed, a field that is read is no text, or there is nothing in the fields that are read.
    """
    file = DataFile(raw, path)
    fields, way = fields_of(file.data, path)
    for name in READ:
        if not isinstance(fields.get(name, ""), str | None):
            where = ".".join((*way, name))
            raise InputError(path, f"found {shown(fields[name])}", where=where, allowed="text")
    wanted = [name for name in READ if isinstance(fields.get(name), str) and fields[name].strip()]
    name = name_of(fields)
    parts = [
        one.respelled(macro_pieces(one.text, name)) for one in file.texts([(*way, key) for key in wanted])
    ]
    has_book = _has_lore(file.data, fields, path)
    skipped = [key for key in SKIPPED if fields.get(key)]
    also = "its character_book is its Story Bible" if has_book else ""
    told = told_fields(wanted, parts, skipped, also)
    if not any(part.text.strip() for part in parts):
        allowed = f"words in {', '.join(READ[:-1])} or {READ[-1]}"
        raise InputError(path, "no prose in this card", allowed=allowed, hint=told)
    remark = Remark("fields-read", told)
    return Sheet(raw, parts, name, (remark, *remarks), has_book=has_book)


def _has_lore(data: Any, fields: Mapping[str, Any], path: Path) -> bool:
    """Whether a card brings a lorebook with an entry in use; one that is malformed is told when it is asked for."""
    book = fields.get("character_book")
    if not isinstance(book, dict) or not book.get("entries"):
        return False
    from ludic_deepeval.lore.book import book_in  # noqa: PLC0415  # most cards have none
    from ludic_deepeval.lore.loading import nodes_in  # noqa: PLC0415

    try:
        return bool(nodes_in(book_in(data, path))[0])
    except InputError:
        return True
