"""A vault of notes, as Obsidian keeps it, read as a Story Bible: a note is a node, its aliases are names."""

import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ludic_deepeval.bible import MAX_NODES, MAX_TEXT, VAULT, NodeKind
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import decode, load_yaml, read_bytes
from ludic_deepeval.lore.nodes import Namer
from ludic_deepeval.sources.markdown import SUFFIXES, is_skipped
from ludic_deepeval.sources.wikilinks import as_read, links_in
from ludic_deepeval.text import Prose, name_key

MAX_TOTAL: Final = 128 * 1024 * 1024  # bytes of all notes together
_SHOWN: Final = 3
_WORDS: Final[dict[NodeKind, str]] = {
    "factions": "faction factions organization organizations organisation organisations guild guilds house houses",
    "locations": "location locations place places city cities town towns region regions settlement settlements",
    "deities": "deity deities god gods goddess pantheon",
    "people": "people person character characters npc npcs cast",
    "history": "history event events timeline era eras",
}
_KINDS: Final = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_SETTINGS: Final = ("type", "kind", "category")


@dataclass(frozen=True, slots=True)
class Note:
    """One note.

    Attributes:
        path: Its file.
        kind: What its front matter or a folder says that it is.
        name: Its title or name, else its file's name, in NFC.
        aliases: Its further names.
        text: Its body as a reader reads it.
        allegiance: For a place, the faction that its front matter names.
        links: Where its links lead.
    """

    path: Path
    kind: NodeKind
    name: str
    aliases: tuple[str, ...]
    text: str
    allegiance: str
    links: frozenset[str]


@dataclass(slots=True)
class Vault:
    """The notes of a vault, and what could not be read."""

    notes: list[Note] = field(default_factory=list)
    faults: list[InputError] = field(default_factory=list)


def is_vault(folder: Path) -> bool:
    """Whether a folder is a vault: it has `.obsidian`, or a note in it has front matter or links."""
    if (folder / VAULT).is_dir():
        return True
    for number, path in enumerate(_files(folder)):
        if number >= 100:
            break
        try:
            with path.open("rb") as stream:
                head = stream.read(64 * 1024)
        except OSError:
            continue
        if head.removeprefix(b"\xef\xbb\xbf").startswith(b"---") or b"[[" in head:
            return True
    return False


def read_vault(folder: Path) -> Vault:
    """Read every note once; one that cannot be used is a fault and stops no other.

    Raises:
        InputError: More notes, or more text, than anybody has.
    """
    vault = Vault()
    total = 0
    for path in _files(folder):
        if len(vault.notes) >= MAX_NODES:
            raise InputError(folder, f"more than {MAX_NODES:,} notes", allowed=f"at most {MAX_NODES:,}")
        try:
            data = read_bytes(path)
            total += len(data)
            if total <= MAX_TOTAL:
                vault.notes.append(_note(path, decode(data, path), folder))
        except InputError as error:
            vault.faults.append(error)
        if total > MAX_TOTAL:
            size = f"{MAX_TOTAL // 1024 // 1024} MiB"
            raise InputError(folder, f"more than {size} of notes", allowed=f"at most {size}")
    return vault


def _files(folder: Path) -> Iterator[Path]:
    """The notes in a stable order; no stories, which have marks beside them, and no links."""
    for place, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if not name.startswith("."))
        beside = set(names)
        for name in sorted(names):
            stem, suffix = Path(name).stem, Path(name).suffix
            if suffix.lower() not in SUFFIXES or name.startswith(".") or is_skipped(name):
                continue
            if beside.isdisjoint({f"{stem}.ledger.json", f"{stem}.marks.yaml"}):
                path = Path(place, name)
                if not path.is_symlink():
                    yield path


def _note(path: Path, raw: str, folder: Path) -> Note:
    prose = Prose(raw, path, reading=as_read if "[[" in raw else None)
    data = load_yaml(prose.front_matter, path, first_line=2) if prose.front_matter else None
    front: dict[Any, Any] = data if isinstance(data, dict) else {}
    stem = unicodedata.normalize("NFC", path.stem)
    title = next((one for key in ("name", "title") if (one := _text(front.get(key)))), stem)
    aliases = [*_texts(front.get("aliases")), *_texts(front.get("alias")), *([stem] if stem != title else [])]
    allegiance = next((one for key in ("allegiance", "faction") if (one := _text(front.get(key)))), "")
    links = frozenset(links_in(raw)) if "[[" in raw else frozenset()
    text = prose.body[:MAX_TEXT]
    return Note(path, _kind(front, path, folder), title, tuple(aliases), text, _plain(allegiance), links)


def _kind(front: dict[Any, Any], path: Path, folder: Path) -> NodeKind:
    words = [_text(front.get(key)) for key in _SETTINGS]
    words += reversed(path.relative_to(folder).parts[:-1])
    return next(
        (_KINDS[_plain(word).casefold()] for word in words if _plain(word).casefold() in _KINDS), "entries"
    )


def _text(value: object) -> str:
    return " ".join(unicodedata.normalize("NFC", value).split()) if isinstance(value, str) else ""


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [one.strip() for one in value.split(",") if one.strip()]
    return [text for one in value if (text := _text(one))] if isinstance(value, list) else []


def _plain(text: str) -> str:
    """The words of a link, or the text itself."""
    return as_read(text)[0].strip() if "[[" in text else text


def nodes_of(vault: Vault) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    """Return the nodes by kind, and what there is to say."""
    namer = Namer()
    nodes: dict[str, list[dict[str, Any]]] = {}
    factions: dict[str, str] = {}
    wanted: list[tuple[dict[str, Any], str]] = []
    for note in vault.notes:
        node = namer.node(note.name, list(note.aliases), note.text)
        nodes.setdefault(note.kind, []).append(node)
        if note.kind == "factions":
            factions |= {name_key(name): node["id"] for name in (node["name"], *node["aliases"])}
        elif note.kind == "locations" and note.allegiance:
            wanted.append((node, note.allegiance))
    for node, allegiance in wanted:
        node["allegiance"] = factions.get(name_key(allegiance))
    told = []
    if namer.shared:
        told.append(f"{_counted(namer.shared, 'name is', 'names are')} another note's already")
    if lost := _lost(vault):
        some = ", ".join(clean(name) for name in lost[:_SHOWN]) + (", …" if len(lost) > _SHOWN else "")
        told.append(
            f"links lead to {_counted(len(lost), 'note that is', 'notes that are')} not there ({some})"
        )
    if vault.faults:
        told.append(f"{_counted(len(vault.faults), 'note', 'notes')} could not be read: {vault.faults[0]}")
    return nodes, told


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _lost(vault: Vault) -> list[str]:
    """Where links lead to no note. Case does not matter, nor whether a name is written as a Mac does."""
    known = {_link_key(name) for note in vault.notes for name in (note.path.stem, note.name, *note.aliases)}
    found: dict[str, str] = {}
    for note in vault.notes:
        for link in sorted(note.links):
            last = re.split(r"[/\\]", link)[-1]
            key = _link_key(last.removesuffix(".md"))
            if key and key not in known and not re.search(r"\.\w{1,5}\Z", last):
                found.setdefault(key, link)
    return list(found.values())


def _link_key(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold().strip()
