"""Files that people have from other programs, told by what they hold and not by what they are called."""

import re
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ludic_deepeval.errors import InputError
from ludic_deepeval.files import decode, read_bytes
from ludic_deepeval.sources import cards, foundry
from ludic_deepeval.sources.markdown import Story
from ludic_deepeval.sources.search import BESIDE
from ludic_deepeval.sources.tree import DataFile, is_json

Kind: TypeAlias = Literal["card", "card-file", "actor", "text"]

PLAIN: Final = frozenset({".txt", ".text"})
_SIGN: Final = re.compile(rb"chara_card|first_mes|mes_example|biography")
_KEYS: Final = re.compile(r"^(?:\ufeff)?(?:spec|data|name|first_mes|system|description)[ \t]*:", re.MULTILINE)
_BOOK: Final = re.compile(rb'"entries"\s*:')


def kind_of(path: Path) -> Kind | None:
    """What a file is that is neither Markdown nor a branching story; None for what is no story.

    A file that looks like a card and cannot be read is one, so that its fault is told.

    Raises:
        InputError: It cannot be read at all.
    """
    if cards.is_binary(path):
        return "card-file"
    data = read_bytes(path)
    text_like = path.suffix.lower() in PLAIN
    if _SIGN.search(data):
        raw = decode(data, path)
        if is_json(raw) or _KEYS.search(raw):
            try:
                found = DataFile(raw, path).data
            except InputError:
                return "text" if text_like else "card"
            if cards.is_card(found):
                return "card"
            if foundry.is_actor(found):
                return "actor"
    return "text" if text_like else None


def read_known(path: Path) -> Story | None:
    """Read a story from a card, an actor or plain text; None for a file that is none of them.

    Raises:
        InputError: It is one of them and cannot be used.
    """
    if not path.is_file() or path.name.lower().endswith(BESIDE):
        return None
    kind = kind_of(path)
    if kind is None:
        return None
    if kind == "card-file":
        found = cards.card_text(path)
        if found is None:
            raise InputError(
                path, "no character card in this file", allowed="an image or archive with a card"
            )
        return cards.read_card(found.raw, path, found.remarks).story(path)
    raw = decode(read_bytes(path), path)
    if kind == "text":
        from ludic_deepeval.sources.plain import read_plain  # noqa: PLC0415

        return read_plain(raw, path)
    read = cards.read_card if kind == "card" else foundry.read_actor
    return read(raw, path).story(path)


def is_known(path: Path) -> bool:
    """Whether `read_known` reads a file that is named by itself."""
    if path.name.lower().endswith(BESIDE):
        return False
    return kind_of(path) is not None


def is_lorebook(path: Path) -> bool:
    """Whether a file looks like a lorebook, which is a Story Bible and no story."""
    return not cards.is_binary(path) and _BOOK.search(read_bytes(path)) is not None


def holds_known(path: Path) -> bool:
    """Whether a file of a folder, which `search` found by its name, holds a card or an actor; what is no card has no fault to be told here."""
    try:
        kind = kind_of(path)
    except InputError:
        return False
    if kind == "card-file":
        try:
            return cards.card_text(path) is not None
        except InputError:
            return path.suffix.lower() == ".charx" or b"chara" in _beginning(path)
    return kind is not None


def _beginning(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(64 * 1024)
