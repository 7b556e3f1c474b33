"""Story Bibles: what is true in a setting, as data (LudicMetrics §4.5).

A bible is a folder with a `bible.yaml`, or with one folder a version (`v1`, `v2`, …) that each hold one. Its nodes are
factions, locations, deities, people, history and rules. A rule forbids a practice in places, or wherever a faction holds
sway. A node that a later version has ended (a city destroyed, a law repealed) is not taken out but *retired*: it says in which
version, how, and what became of it, so that prose which still counts on it can be told (LudicMetrics §6.3).
Lorebooks, cards that bring one and vaults of notes are bibles as well (`lore`); what they do not say the kind of is an entry.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import Field, StringConstraints, model_validator

from ludic_deepeval.errors import InputError, shown
from ludic_deepeval.files import MAX_YAML_BYTES, decode, load_yaml, read_bytes
from ludic_deepeval.ledger import Event, Flag, Frozen, Id, SchemaVersion, Text, load_model
from ludic_deepeval.text import name_key

FILE: Final = "bible.yaml"
VAULT: Final = ".obsidian"
LORE_SUFFIXES: Final = (".json", ".yaml", ".yml", ".png", ".charx")
_REFERENCE: Final = re.compile(r"([\w-]+)(?:@(v\d+))?\Z")
_VERSION: Final = re.compile(r"v(\d+)\Z")

NodeKind: TypeAlias = Literal["factions", "locations", "deities", "people", "history", "rules", "entries"]
KINDS: Final[tuple[NodeKind, ...]] = (
    "factions",
    "locations",
    "deities",
    "people",
    "history",
    "rules",
    "entries",
)
MAX_NODES: Final = 20_000
MAX_TEXT: Final = 100_000
How: TypeAlias = Literal["destroyed", "dead", "dissolved", "lost", "repealed", "other"]


class Retired(Frozen):
    """That a node is no more: since which version, how, and what became of it."""

    version: Annotated[str, Field(pattern=r"^v\d+$")]
    how: How
    text: Text


class Node(Frozen):
    """Anything that a bible knows by name. `text` is what it is, or what it was until it was `retired`."""

    id: Id
    name: Text
    aliases: tuple[Text, ...] = ()
    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT, pattern=r"\S")]
    retired: Retired | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The name and every alias."""
        return (self.name, *self.aliases)


class Location(Node):
    """A place, and the faction that it belongs to."""

    allegiance: Id | None = None


class Rule(Node):
    """A practice that is forbidden in `places`, or in every place of an `allegiance`, or everywhere.

    With `openly` (the default) only what is done in the open breaks it; a secret is a hook and no fault.
    """

    practice: Text
    places: tuple[Id, ...] = ()
    allegiance: Id | None = None
    openly: Flag = True


_Many = Field(max_length=MAX_NODES)


class Bible(Frozen):
    """One version of one setting."""

    schema_version: SchemaVersion
    id: Id
    name: Text
    version: Text = "v1"
    language: Text = "en"
    factions: Annotated[tuple[Node, ...], _Many] = ()
    locations: Annotated[tuple[Location, ...], _Many] = ()
    deities: Annotated[tuple[Node, ...], _Many] = ()
    people: Annotated[tuple[Node, ...], _Many] = ()
    history: Annotated[tuple[Node, ...], _Many] = ()
    rules: Annotated[tuple[Rule, ...], _Many] = ()
    entries: Annotated[tuple[Node, ...], _Many] = ()

    @model_validator(mode="after")
    def _references(self) -> Self:
        seen: dict[str, Node] = {}
        for kind, index, node in self.nodes():
            for name in {name_key(node.id), *map(name_key, node.names)}:
                if seen.setdefault(name, node) is not node:
                    found = f"{shown(name)} is also a name of '{seen[name].id}'; allowed: ids and names of one node only"
                    raise ValueError(f"@{kind}[{index}]@{found}")
            if node.retired is not None:
                self._in_time(node.retired.version, f"{kind}[{index}].retired.version")
        factions = {node.id for node in self.factions}
        locations = {node.id for node in self.locations}
        wanted: list[tuple[str, str | None, set[str], str]] = []
        for index, place in enumerate(self.locations):
            wanted.append((f"locations[{index}].allegiance", place.allegiance, factions, "factions"))
        for index, rule in enumerate(self.rules):
            wanted.append((f"rules[{index}].allegiance", rule.allegiance, factions, "factions"))
            wanted += [
                (f"rules[{index}].places", place_id, locations, "locations") for place_id in rule.places
            ]
        for path, found_id, known, kind_name in wanted:
            if found_id is not None and found_id not in known:
                allowed = ", ".join(sorted(known)) or "there are none"
                raise ValueError(f"@{path}@{shown(found_id)} is none of the {kind_name}; allowed: {allowed}")
        return self

    def _in_time(self, version: str, where: str) -> None:
        """A version can have retired only what an earlier one had, and no version knows the next."""
        own = _VERSION.match(self.version)
        last = int(own[1]) if own else None
        if int(version[1:]) < 2 or last is None or int(version[1:]) > last:
            allowed = f"v2 to {self.version}" if last and last > 1 else "nothing retired in a first version"
            raise ValueError(f"@{where}@found {shown(version)}; allowed: {allowed}")

    def nodes(self) -> Iterator[tuple[NodeKind, int, Node]]:
        """Yield every node as (kind, index, node)."""
        for kind in KINDS:
            for index, node in enumerate(getattr(self, kind)):
                yield kind, index, node

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every name and alias of all nodes but rules, which are laws and not entities.

        What an entry is found by and is written small throughout, such as "old magic", is a word and no name.
        """
        return tuple(
            name
            for kind, _, node in self.nodes()
            if kind != "rules"
            for name in node.names
            if kind != "entries" or not name.islower()
        )

    @cached_property
    def _by_name(self) -> dict[str, tuple[NodeKind, Node]]:
        return {
            name_key(name): (kind, node) for kind, _, node in self.nodes() for name in (node.id, *node.names)
        }

    @cached_property
    def _by_start(self) -> dict[str, list[tuple[int, str, NodeKind, Node, str]]]:
        """Every name by its first word, or by its first character that is not ASCII, in the order of the nodes."""
        found: dict[str, list[tuple[int, str, NodeKind, Node, str]]] = {}
        every = ((kind, node, name) for kind, _, node in self.nodes() for name in node.names)
        for number, (kind, node, name) in enumerate(every):
            key = name_key(name)
            if key:
                start = key.split()[0] if key.isascii() else next(char for char in key if char > "\x7f")
                found.setdefault(start, []).append((number, key, kind, node, name))
        return found

    def named_in(self, text: str) -> Iterator[tuple[NodeKind, Node, str]]:
        """Yield the nodes that a text names, each name once, in the order of the nodes, as (kind, node, name).

        A name is found as whole words, also with an s; one that is not ASCII anywhere. It takes time that grows with
        the text and with what it names, not with the bible.
        """
        plain = name_key(text)
        padded = f" {plain} "
        words = set(plain.split())
        starts = (
            words | {word[:-1] for word in words if word.endswith("s")} | {c for c in plain if c > "\x7f"}
        )
        near = sorted(
            (one for start in starts for one in self._by_start.get(start, ())), key=lambda one: one[0]
        )
        for _, key, kind, node, name in near:
            if f" {key} " in padded or f" {key}s " in padded or (not key.isascii() and key in padded):
                yield kind, node, name

    def find(self, name: str) -> tuple[NodeKind, Node] | None:
        """Return the node that an id, name or alias means, whatever its case and articles."""
        return self._by_name.get(name_key(name))

    def location(self, name: str | None) -> Location | None:
        """Return the location that a name means, or None."""
        found = self.find(name) if name else None
        return found[1] if found and isinstance(found[1], Location) else None


@dataclass(frozen=True, slots=True)
class LinkageSupport:
    """What an event's linkage score rests on.

    Attributes:
        event: The event's id.
        linkage: Its score V, None when it has none.
        supported: Nodes that the event names, as (kind, node id, the words that name it).
        unknown: Locations and factions given by the event that the bible does not have.
    """

    event: str
    linkage: int | None
    supported: tuple[tuple[NodeKind, str, str], ...]
    unknown: tuple[str, ...]

    @property
    def kinds(self) -> frozenset[NodeKind]:
        """The kinds of node named; §3.5 scores an event high that names a faction, a location and a precedent."""
        return frozenset(kind for kind, _, _ in self.supported)


def linkage_support(event: Event, bible: Bible) -> LinkageSupport:
    """Say which named entities of the bible an event's linkage (V, §3.5) rests on.

    Looks at the event's `location` and `factions`, and for names in its summary and quotes. It judges nothing: a
    linkage of 9 that rests on no node is for a reader to see.
    """
    supported: dict[str, tuple[NodeKind, str, str]] = {}
    unknown: list[str] = []
    for given in filter(None, (event.location, *event.factions)):
        found = bible.find(given)
        if found is None:
            unknown.append(given)
        else:
            supported.setdefault(found[1].id, (found[0], found[1].id, given))
    for text in (event.summary, *(item.quote for item in event.evidence)):
        for kind, node, name in bible.named_in(text):
            supported.setdefault(node.id, (kind, node.id, name))
    return LinkageSupport(event.id, event.linkage, tuple(sorted(supported.values())), tuple(unknown))


def load_bible(folder: Path, version: str | None = None) -> Bible:
    """Load a bible from its folder: `bible.yaml` in it, or in the newest (or the named) version folder.

    A file is read as a lorebook or as a card that brings one, a folder of notes as a vault.

    Raises:
        InputError: No bible there, or one that is malformed; names file, place, what was found and what is allowed.
    """
    path = folder / FILE
    if version is None and is_lore(folder):
        from ludic_deepeval.lore.loading import load_lore  # noqa: PLC0415  # most bibles are written for us

        return load_lore(folder)
    if version is not None or not path.is_file():
        versions = _versions(folder)
        if version is not None and version not in versions:
            raise InputError(
                folder, f"no version {shown(version)}", allowed=", ".join(versions) or "there are no versions"
            )
        if not versions:
            raise InputError(
                folder, "no Story Bible here", allowed=f"a folder with {FILE}, or with v1/{FILE}"
            )
        path = folder / (version or versions[-1]) / FILE
    data = load_yaml(decode(read_bytes(path, limit=MAX_YAML_BYTES), path), path)
    if not isinstance(data, dict):
        raise InputError(
            path, f"found {shown(data)}", allowed="a mapping with schema_version, id, name and nodes"
        )
    bible = load_model(Bible, data, path)
    if _VERSION.match(path.parent.name) and bible.version != path.parent.name:
        raise InputError(
            path,
            f"found {shown(bible.version)}",
            where="version",
            allowed=f"{path.parent.name}, as its folder",
        )
    return bible


def versions_of(folder: Path) -> tuple[Bible, ...]:
    """Load every version that a setting's folder has, the oldest first; of one without versions, the bible itself."""
    if (folder / FILE).is_file():
        return (load_bible(folder),)
    return tuple(load_bible(folder, version) for version in _versions(folder)) or (load_bible(folder),)


def dropped(older: Bible, newer: Bible) -> tuple[str, ...]:
    """Ids of nodes that a newer version leaves out. They should be kept as retired, or old lore goes unnoticed."""
    kept = {node.id for _, _, node in newer.nodes()}
    return tuple(node.id for _, _, node in older.nodes() if node.id not in kept)


def open_bible(reference: str, start: Path | None = None) -> Bible:
    """Load the bible that a person names on a command line: a folder, a lorebook's file, or a setting's name, each with `@vN` or without.

    Raises:
        InputError: There is none, or it cannot be used.
    """
    given, at, version = reference.rpartition("@")
    if not at or not _VERSION.match(version):
        given, version = reference, ""
    folder = Path(given)
    if folder.is_dir() or (folder.is_file() and not version):
        return load_bible(folder, version or None)
    return load_bible(resolve_bible(reference, start or Path.cwd(), "--bible"))


def _versions(folder: Path) -> list[str]:
    if not folder.is_dir():
        raise InputError(folder, "no such folder")
    named = [path.name for path in folder.iterdir() if _VERSION.match(path.name) and (path / FILE).is_file()]
    return sorted(named, key=lambda name: int(name[1:]))


def resolve_bible(reference: str, start: Path, file: object) -> Path:
    """Find the folder of the bible that a story names: `bible/<name>` in its own folder or any above.

    Args:
        reference: `faerun`, or `faerun@v1` for a version; never a path, since stories come from anybody.
        start: The story's folder.
        file: The story, for errors.
    """
    match = _REFERENCE.match(unicodedata.normalize("NFC", reference))
    if not match:
        raise InputError(
            file,
            f"found {shown(reference)}",
            where="bible",
            allowed="a name such as faerun or faerun@v1, not a path",
        )
    name, version = match.groups()
    for found in places(name, start):
        if is_bible(found) and not (version and found.is_file()):
            return found / version if version else found
    raise InputError(
        file,
        f"no Story Bible called {shown(name)}",
        where="bible",
        allowed=f"a folder bible/{name}, a lorebook bible/{name}.json or a vault {name}, beside the story or above it",
    )


def name_in(reference: str) -> str | None:
    """The bible's name in a reference such as `faerun@v1`; None when it is no reference."""
    match = _REFERENCE.match(unicodedata.normalize("NFC", reference))
    return match.group(1) if match else None


def places(name: str, start: Path) -> Iterator[Path]:
    """Yield where a bible is looked for, the nearest first; the first that `is_bible` is taken.

    That is `bible/NAME`, `bible/NAME.json` and its like, and a vault called NAME, where `my-world` is also "My World"; the
    name in NFC and as a Mac writes it.
    """
    resolved = start.resolve()
    spelt = dict.fromkeys((name, unicodedata.normalize("NFD", name)))
    for folder in (resolved, *resolved.parents):
        for one in spelt:
            yield folder / "bible" / one
            if folder.name == "bible":
                yield folder / one
            for ending in LORE_SUFFIXES:
                yield folder / "bible" / f"{one}{ending}"
            if one in {folder.name, _slug(folder.name)} and (folder / VAULT).is_dir():
                yield folder


def _slug(name: str) -> str:
    return re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", name).casefold()).strip("-")


def is_bible(folder: Path) -> bool:
    """Whether a folder holds a bible, a version of one or a vault, or a file is one that may be a lorebook."""
    if folder.suffix in LORE_SUFFIXES:
        return folder.is_file()
    return folder.is_dir() and (
        (folder / FILE).is_file() or (folder / VAULT).is_dir() or bool(_versions(folder)) or is_lore(folder)
    )


def is_lore(path: Path) -> bool:
    """Whether what lies there is no bible of our own: a file, or a folder of notes."""
    if path.is_file():
        return True
    if not path.is_dir() or (path / FILE).is_file() or _versions(path):
        return False
    from ludic_deepeval.lore.vault import is_vault  # noqa: PLC0415  # most bibles are written for us

    return is_vault(path)
