"""A stress test as it was recorded: what was planned from a story, how each part was labelled, and who did either.

A session holds no figure. E_a and Div_alpha are worked out from its labels whenever it is read, so that a file cannot say one
thing and count another.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import Field, StringConstraints, model_validator

from ludic_deepeval.effort import (
    Branching,
    Effort,
    Kind,
    Label,
    Verdict,
    adaptation_effort,
    branching_diversity,
)
from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.files import decode, dump_json, load_yaml, make_folder, read_bytes, write_atomic
from ludic_deepeval.ledger import FactLedger, Flag, Frozen, Id, Npc, Offset, SchemaVersion, Text, load_model
from ludic_deepeval.lockfile import Plain, Sha256
from ludic_deepeval.outcome import Cause, Outcome, Unscored
from ludic_deepeval.text import name_key

SEEDS: Final = Path(__file__).with_name("player-seeds.yaml")
PROTAGONIST: Final = "protagonist"
MOST: Final = 12  # people in an outline, and threads
_LONGEST_NAME: Final = 160
_LONGEST_TEXT: Final = 600
_SHOWN: Final = 600  # characters of an item that the judge sees

Role: TypeAlias = Literal["stress", "reuse"]
_Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=_LONGEST_NAME, pattern=r"\S")]
_Words: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=_LONGEST_TEXT, pattern=r"\S")]
_ItemId: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^\S+$")]
_Version: TypeAlias = Annotated[int, Field(strict=True, ge=1)]


class Seed(Frozen):
    """What the player says before the session."""

    id: Id
    text: Text


class Seeds(Frozen):
    """The three fixed openings, and the version that is raised whenever one of them changes."""

    version: _Version
    seeds: tuple[Seed, Seed, Seed]

    @cached_property
    def sha256(self) -> str:
        """The hash of what they say."""
        return _hash(self.model_dump())


def load_seeds(path: Path = SEEDS) -> Seeds:
    """Read the three player seeds.

    Raises:
        InputError: The file is not three different seeds.
    """
    found = load_yaml(decode(read_bytes(path), path), path)
    if not isinstance(found, dict):
        raise InputError(path, f"found {shown(found)}", allowed="version and seeds")
    seeds = load_model(Seeds, found, path)
    if len({seed.id for seed in seeds.seeds}) < 3 or len({name_key(seed.text) for seed in seeds.seeds}) < 3:
        raise InputError(path, "two seeds are the same", where="seeds", allowed="three different ones")
    return seeds


class Known(Frozen):
    """An item of the ledger as the reuse judge sees it: never its tier, its dimensions or a score."""

    id: _ItemId
    names: tuple[Text, ...] = ()
    text: Text | None = None

    @property
    def line(self) -> dict[str, object]:
        """What the judge is shown."""
        shown_names: dict[str, object] = {"name": self.names[0]} if self.names else {}
        if len(self.names) > 1:
            shown_names["also"] = list(self.names[1:])
        return {"id": self.id} | shown_names | ({"text": self.text} if self.text else {})


def known_items(ledger: FactLedger) -> tuple[Known, ...]:
    """Return what the judge may rest a label on, the protagonist first; an id is `LIST:ID`, since ids are unique by list.

    The background log is not among it: the tester read the prose, where it is not told.
    """

    def plain(text: str) -> str:
        return clean(text, limit=_SHOWN)

    found = [Known(id=PROTAGONIST, names=(plain(ledger.protagonist),))]
    found += [Known(id=f"npcs:{npc.id}", names=tuple(map(plain, npc.names))) for npc in ledger.npcs]
    found += [Known(id=f"hooks:{hook.id}", text=plain(hook.text)) for hook in ledger.hooks]
    found += [Known(id=f"goals:{goal.id}", text=plain(goal.text)) for goal in ledger.goals]
    found += [Known(id=f"mysteries:{one.id}", text=plain(one.text)) for one in ledger.mysteries]
    found += [Known(id=f"events:{event.id}", text=plain(event.summary)) for event in ledger.in_order()]
    return tuple(found)


class Person(Frozen):
    """Somebody who appears in a session."""

    name: _Name
    role: _Words


@dataclass(frozen=True, slots=True)
class Emitted:
    """A person or a thread of an outline; `text` is the name, or the thread's words."""

    kind: Kind
    text: str
    role: str = ""


class Outline(Frozen):
    """A first session as the tester planned it for one seed."""

    seed: Id
    npcs: Annotated[tuple[Person, ...], Field(max_length=MOST)] = ()
    hooks: Annotated[tuple[_Words, ...], Field(max_length=MOST)] = ()

    @property
    def emitted(self) -> tuple[Emitted, ...]:
        """Its people, then its threads: what the judge labels, in this order."""
        people = [Emitted("npc", person.name, person.role) for person in self.npcs]
        return (*people, *(Emitted("hook", text) for text in self.hooks))


class Told(Frozen):
    """A label: reused with the item that it rests on, invented, or ambiguous with perhaps the item that it may be."""

    label: Verdict
    item: _ItemId | None = None

    @model_validator(mode="after")
    def _rests_on_something(self) -> Self:
        if self.label == "reused" and self.item is None:
            raise ValueError("@item@nothing; allowed: the id of an item, since the label is reused")
        if self.label == "invented" and self.item is not None:
            raise ValueError(f"@item@found {shown(self.item)}; allowed: null, since the label is invented")
        return self


class Versioned(Frozen):
    """Which version of a prompt or of the seeds was used."""

    version: _Version
    sha256: Sha256


class Asked(Frozen):
    """Who was asked, and what the answers took when they were given.

    `kind` is `model`, `scripted` or `hand-written`: what a person or a script wrote never passes as a model's. `again` counts
    the answers that had to be asked for a second time, `ignored` names options that the model does not have.
    """

    name: Text
    kind: Literal["model", "scripted", "hand-written"]
    provider: str = ""
    model: str = ""
    client: str = ""
    calls: Offset = 0
    prompt_tokens: Offset = 0
    completion_tokens: Offset = 0
    again: Offset = 0
    ignored: tuple[str, ...] = ()


class Why(Frozen):
    """Why a trial has no labels."""

    cause: Cause
    reason: Text


class Session(Frozen):
    """One trial: three outlines of one story, and the labels of all that is in them, or why there are none."""

    schema_version: SchemaVersion
    story: Text
    source_sha256: Sha256
    repetition: Annotated[int, Field(strict=True, ge=1)] = 1
    options: Plain = Field(default_factory=dict)
    tester: Asked
    judge: Asked
    same_model: Flag = False
    seeds: Versioned
    prompts: dict[Role, Versioned]
    known: tuple[Known, ...]
    outlines: Annotated[tuple[Outline, ...], Field(max_length=3)] = ()
    labels: Annotated[tuple[tuple[Told, ...], ...], Field(max_length=3)] = ()
    unscored: Why | None = None

    @model_validator(mode="after")
    def _every_label_rests_on_something(self) -> Self:
        ids = {item.id for item in self.known}
        if len(ids) < len(self.known):
            raise ValueError("@known@an id is used twice; allowed: each id once")
        if self.unscored is not None:
            if self.labels:
                raise ValueError("@labels@labels of an unscored trial; allowed: none")
            return self
        if len(self.outlines) != 3 or len(self.labels) != 3:
            raise ValueError("@outlines@not three outlines with their labels; allowed: three of each")
        for at, (outline, labels) in enumerate(zip(self.outlines, self.labels, strict=True)):
            if len(labels) != len(outline.emitted):
                count = f"{len(labels)} labels for {len(outline.emitted)} people and threads"
                raise ValueError(f"@labels[{at}]@{count}; allowed: one for each")
            for number, told in enumerate(labels):
                if told.item is not None and told.item not in ids:
                    raise ValueError(
                        f"@labels[{at}][{number}].item@{shown(told.item)} is no item; allowed: an id under known"
                    )
        return self

    def told(self) -> tuple[tuple[Label, ...], ...]:
        """The labels of each outline as `effort` counts them."""
        return tuple(
            count_labels(outline.emitted, labels)
            for outline, labels in zip(self.outlines, self.labels, strict=True)
        )

    @property
    def people(self) -> FactLedger:
        """The people of the ledger with their names and aliases, and nothing else of it."""
        npcs = [item for item in self.known if item.id.startswith("npcs:")]
        return FactLedger(
            schema_version=1,
            protagonist=next((item.names[0] for item in self.known if item.id == PROTAGONIST), "unknown"),
            npcs=tuple(
                Npc(id=f"n{at}", name=one.names[0], aliases=one.names[1:]) for at, one in enumerate(npcs)
            ),
        )

    def effort(self) -> Outcome[Effort]:
        """E_a, pooled and for each outline; see `effort.adaptation_effort`."""
        if self.unscored is not None:
            return Unscored(self.unscored.cause, self.unscored.reason)
        return adaptation_effort(self.told())

    def diversity(self) -> Outcome[Branching]:
        """Div_alpha; see `effort.branching_diversity`."""
        if self.unscored is not None:
            return Unscored(self.unscored.cause, self.unscored.reason)
        return branching_diversity(self.told(), self.people)

    @property
    def producers(self) -> str:
        """Who planned and who labelled, in words; what no model gave is said to be so."""
        tester, judge = (
            one.name if one.kind == "model" else f"{one.name} ({one.kind}, no model)"
            for one in (self.tester, self.judge)
        )
        return f"planned by {tester}, labelled by {judge}"


def count_labels(emitted: tuple[Emitted, ...], labels: tuple[Told, ...]) -> tuple[Label, ...]:
    """Return labels as they are counted: the player's own character is neither reused nor invented, and left out."""

    def pairs() -> Iterator[Label]:
        for one, told in zip(emitted, labels, strict=True):
            if told.item != PROTAGONIST:
                yield Label(one.kind, one.text, told.label, told.item if told.label == "reused" else None)

    return tuple(pairs())


def load_session(path: Path) -> Session:
    """Read a session; raise `InputError` when it is none, or a label in it rests on nothing."""
    return load_model(Session, read_bytes(path), path)


def save_session(session: Session, path: Path) -> None:
    """Write a session whole or not at all, the same to the byte for the same session."""
    make_folder(path.parent)
    write_atomic(path, dump_json(session.model_dump(mode="json")))


def _hash(value: object) -> str:
    return sha256(dump_json(value).encode("utf-8")).hexdigest()
