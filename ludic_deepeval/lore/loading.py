"""From a lorebook, a card or a vault to a Story Bible."""

import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ludic_deepeval.bible import MAX_TEXT, Bible, Node
from ludic_deepeval.errors import InputError
from ludic_deepeval.files import decode, read_bytes
from ludic_deepeval.ledger import load_model
from ludic_deepeval.lore.book import Book, Entry, book_in, is_pattern
from ludic_deepeval.lore.nodes import Namer, slug_of
from ludic_deepeval.sources.cards import card_text, is_binary
from ludic_deepeval.sources.macros import expanded
from ludic_deepeval.sources.tree import DataFile
from ludic_deepeval.text import name_key


@dataclass(frozen=True, slots=True)
class Lore:
    """A bible that was made of something else.

    Attributes:
        bible: The bible.
        told: What there is to say about how it was read.
    """

    bible: Bible
    told: tuple[str, ...] = ()


def load_lore(path: Path) -> Bible:
    """Load a lorebook, a card that brings one, or a vault.

    Raises:
        InputError: It is none of them, or cannot be used.
    """
    return read_lore(path).bible


def read_lore(path: Path) -> Lore:
    """Load it and say what was left out.

    Raises:
        InputError: As `load_lore`.
    """
    if path.is_dir():
        from ludic_deepeval.lore.vault import nodes_of, read_vault  # noqa: PLC0415  # a lorebook needs it not

        vault = read_vault(path)
        if not vault.notes:
            first = vault.faults[0] if vault.faults else None
            raise first or InputError(path, "no notes here", allowed="a folder of notes")
        nodes, told = nodes_of(vault)
        return Lore(_bible(path.resolve().name, "", nodes, path), tuple(told))
    data = read_document(path)[1]
    if isinstance(data, dict) and "schema_version" in data:
        return Lore(load_model(Bible, data, path))
    book = book_in(data, path)
    made, told = nodes_in(book)
    if not made:
        raise InputError(path, "no entry of this lorebook is in use", allowed="an entry with words")
    entries = {"entries": [node for _, node in made]}
    return Lore(_bible(path.stem, book.name or book.character or "", entries, path), tuple(told))


def read_document(path: Path) -> tuple[str, Any]:
    """Return the text and the data of a file of JSON or YAML, or of the card in an image or an archive."""
    if is_binary(path):
        card = card_text(path)
        if card is None:
            raise InputError(path, "no character card in this file", allowed="a card with a lorebook")
        raw = card.raw
    else:
        raw = decode(read_bytes(path), path)
    return raw, DataFile(raw, path).data


def _bible(stem: str, name: str, nodes: dict[str, list[dict[str, Any]]], file: object) -> Bible:
    stem = unicodedata.normalize("NFC", stem)
    head = {
        "schema_version": 1,
        "id": slug_of(stem),
        "name": " ".join(name.split())[:200] or stem,
        "version": "v1",
    }
    return load_model(Bible, head | {kind: tuple(found) for kind, found in nodes.items()}, file)


def nodes_in(book: Book) -> tuple[list[tuple[Entry, dict[str, Any]]], list[str]]:
    """Return each entry in use with the fields of its node, and what there is to say about the others."""
    namer = Namer()
    made: list[tuple[Entry, dict[str, Any]]] = []
    off = patterns = 0
    for entry in book.entries:
        if not entry.is_used:
            off += 1
            continue
        keys = [expanded(key, book.character) for key in entry.keys if not is_pattern(key)]
        patterns += len(entry.keys) - len(keys)
        text = expanded(entry.content, book.character).strip()[:MAX_TEXT]
        if not (text or keys or entry.name):
            continue
        name = expanded(entry.name, book.character) or next((key for key in keys if name_key(key)), "")
        made.append((entry, namer.node(name or f"Entry {entry.key}", keys, text)))
    told = []
    if off:
        told.append("1 entry is switched off" if off == 1 else f"{off:,} entries are switched off")
    if patterns:
        told.append(
            "1 key is a pattern and no name"
            if patterns == 1
            else f"{patterns:,} keys are patterns and no names"
        )
    if namer.shared:
        what = "1 key is" if namer.shared == 1 else f"{namer.shared:,} keys are"
        told.append(f"{what} another entry's already")
    return made, told


def updated(book: Book, bible: Bible) -> list[Entry]:
    """Return a book's entries as a bible has them.

    An entry is the node of its name, whatever its case. It gets the node's text and those of its names that are no key yet; what
    the bible does not have stays, and what only the bible has is added.

    Args:
        book: The book.
        bible: What is right. Rules are left out.
    """
    from dataclasses import replace  # noqa: PLC0415  # for this alone

    left: dict[str, Node] = {name_key(node.name): node for kind, _, node in bible.nodes() if kind != "rules"}
    derived = {entry.key: fields for entry, fields in nodes_in(book)[0]}
    found: list[Entry] = []
    for entry in book.entries:
        mine = derived.get(entry.key)
        node = left.pop(name_key(mine["name"]), None) if mine else None
        if mine is None or node is None:
            found.append(entry)
            continue
        known = {name_key(word) for word in (mine["name"], *mine["aliases"], *entry.keys)}
        fresh = tuple(name for name in node.aliases if name_key(name) not in known)
        content = entry.content if node.text == mine["text"] else node.text
        found.append(replace(entry, content=content, keys=(*entry.keys, *fresh)))
    added = (Entry("", node.name, node.names, node.text) for node in left.values())
    return [*found, *added]
