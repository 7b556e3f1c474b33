"""What can be contradicted in a story: each person, item, skill, injury and age, with what every event does to it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, TypeAlias

from ludic_deepeval.faults import FaultCode
from ludic_deepeval.ledger import Event, FactLedger
from ludic_deepeval.text import name_key

Role: TypeAlias = Literal["fix", "break", "clear"]
Token: TypeAlias = tuple[Role, Event]
Placed: TypeAlias = Mapping[str, list[Event]]

_LOST: Final[Mapping[str, tuple[Role, ...]]] = {
    "lost": ("break", "fix"),
    "used": ("break",),
    "gained": ("clear",),
}
_EARLY: Final[Mapping[str, tuple[Role, ...]]] = {"lost": ("fix",), "used": ("fix",), "gained": ("break",)}


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that one passage fixes and another can contradict.

    Attributes:
        code: What a contradiction of it is.
        about: What the background log calls it, which may explain a change.
        said: Three parts of the message, between which the two passages are named.
        tokens: What each passage does to it, in the order of its words: fixes it, breaks it, or clears the way for a change.
        own: Whether a log entry about the protagonist explains a change too.
        fresh: Whether a fix counts only where no break can have come before it.
    """

    code: FaultCode
    about: str
    said: tuple[str, str, str]
    tokens: Mapping[str, list[Token]]
    own: bool = False
    fresh: bool = False


def subjects_of(ledger: FactLedger, placed: Placed) -> Iterator[Subject]:
    """Yield everything that more than one passage says something about, and that one of them breaks."""
    for subject in _all(ledger, placed):
        if any(role == "break" for tokens in subject.tokens.values() for role, _ in tokens):
            yield subject


def _all(ledger: FactLedger, placed: Placed) -> Iterator[Subject]:
    events = [event for found in placed.values() for event in found]
    for npc in ledger.npcs:
        said = (f"{npc.name} dies", " and takes part again", "")
        yield Subject("dead-then-active", npc.id, said, _tokens(placed, partial(_life, npc.id)))
    yield from _things(events, placed, "item-not-held", "item", _items)
    yield from _things(events, placed, "skill-not-had", "skill", _skills)
    wounds = {name_key(c.text): c.text for e in events for c in e.physical if c.text and c.kind != "age"}
    for key, text in sorted(wounds.items()):
        said = (f"'{text}' is for good", " and gone", "; nothing healed it")
        yield Subject("injury-vanished", text, said, _tokens(placed, partial(_wound, key)), own=True)
    ages = {e.id: c.age for e in events for c in e.physical if c.age is not None}
    for event in events:
        if event.id in ages:
            said = (f"aged {ages[event.id]}", ", then younger", "")
            tokens = _tokens(placed, partial(_age, event.id, ages))
            yield Subject("age-fell", ledger.protagonist, said, tokens, own=True)


def _tokens(placed: Placed, roles: Callable[[Event], list[Role]]) -> dict[str, list[Token]]:
    found = {
        name: [(role, event) for event in events for role in roles(event)] for name, events in placed.items()
    }
    return {name: tokens for name, tokens in found.items() if tokens}


def _things(
    events: list[Event],
    placed: Placed,
    code: FaultCode,
    what: str,
    changes: Callable[[Event], list[tuple[str, str]]],
) -> Iterator[Subject]:
    names = {name_key(name): name for event in events for name, _ in changes(event)}
    for key, name in sorted(names.items()):
        said = (f"the {what} '{name}' is lost", " and used or lost again", "")
        yield Subject(code, name, said, _tokens(placed, partial(_done, key, changes, _LOST)))
        said = (f"the {what} '{name}' is used", ", before it is gained", "")
        yield Subject(code, name, said, _tokens(placed, partial(_done, key, changes, _EARLY)), fresh=True)


def _items(event: Event) -> list[tuple[str, str]]:
    return [(change.item, change.change) for change in event.inventory]


def _skills(event: Event) -> list[tuple[str, str]]:
    return [(change.skill, change.change) for change in event.skills]


def _done(
    key: str,
    changes: Callable[[Event], list[tuple[str, str]]],
    roles: Mapping[str, tuple[Role, ...]],
    event: Event,
) -> list[Role]:
    return [role for name, change in changes(event) if name_key(name) == key for role in roles[change]]


def _life(npc_id: str, event: Event) -> list[Role]:
    roles: dict[str | None, Role] = {"dead": "fix", "undead": "clear", "alive": "break", None: "break"}
    return [roles[one.status] for one in event.relations if one.npc == npc_id and one.status in roles]


def _wound(key: str, event: Event) -> list[Role]:
    return [
        "fix" if change.present else "break"
        for change in event.physical
        if change.text
        and change.kind != "age"
        and name_key(change.text) == key
        and (change.permanent or not change.present)
    ]


def _age(event_id: str, ages: Mapping[str, int], event: Event) -> list[Role]:
    if event.id == event_id:
        return ["fix"]
    return ["break"] if ages.get(event.id, ages[event_id]) < ages[event_id] else []
