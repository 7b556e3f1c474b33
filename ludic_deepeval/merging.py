"""Joining the readings of the parts of one story, in order, with the people of one part known again in the next."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Final

from ludic_deepeval.grounding import LISTS, Grounded, Item, agree_on_status, free_id
from ludic_deepeval.ledger import Event, FactLedger, Npc
from ludic_deepeval.lockfile import ListName, quote_problem
from ludic_deepeval.reanchor import without_dangling
from ludic_deepeval.text import Prose, name_key

_MOST_QUOTES: Final = 20


@dataclass(frozen=True, slots=True)
class Settled:
    """A hook of an earlier part that a later one settles.

    Attributes:
        id: The hook's id.
        quote: The words that settle it.
    """

    id: str
    quote: str


def merge(parts: list[Grounded]) -> Grounded:
    """Join the readings of consecutive parts of one story.

    The same person is one person, whose last stated status, tie and openness stand: by a name or alias, or by the same id
    and a shared word of the name. Items of two parts that rest on the same words are one item.
    """
    if len(parts) == 1:
        return parts[0]
    people: dict[str, Item] = {}
    by_name: dict[str, str] = {}
    kept: dict[ListName, list[Item]] = {name: [] for name in LISTS}
    taken: dict[ListName, set[str]] = {name: set() for name in LISTS}
    for part in parts:
        renamed: dict[str, str] = {}
        for npc in part.ledger.npcs:
            here = _known_as(npc, people, by_name)
            if here is None:
                here = free_id(npc.id, "person", taken["npcs"])
                people[here] = npc.model_dump() | {"id": here}
            else:
                _same_person(people[here], npc)
            renamed[npc.id] = here
            for one in npc.names:
                by_name.setdefault(name_key(one), here)
        for name in LISTS[1:]:
            earlier = {_span(one) for item in kept[name] for one in item["evidence"]}
            for other in getattr(part.ledger, name):
                item = other.model_dump(exclude_defaults=True)
                if any(_span(one) in earlier for one in item["evidence"]):
                    continue
                item["id"] = free_id(other.id, name, taken[name])
                if item.get("npc"):
                    item["npc"] = renamed[item["npc"]]
                for relation in item.get("relations", ()):
                    relation["npc"] = renamed[relation["npc"]]
                kept[name].append(item)
    kept["npcs"] = list(people.values())
    repairs = [line for part in parts for line in part.repairs]
    agree_on_status(kept, repairs)
    names = Counter(part.ledger.protagonist for part in parts)
    ledger = FactLedger.model_validate(
        {"schema_version": 1, "protagonist": names.most_common(1)[0][0], **kept}
    )
    return Grounded(ledger, tuple(one for part in parts for one in part.ungrounded), tuple(repairs))


def _known_as(npc: Npc, people: dict[str, Item], by_name: dict[str, str]) -> str | None:
    """The id of the person that this one is, or None for a new one; the name says more than an alias."""
    if found := next((by_name[name_key(one)] for one in npc.names if name_key(one) in by_name), None):
        return found
    same = people.get(npc.id)
    words = {word for one in npc.names for word in name_key(one).split()}
    if same and words & {word for one in (same["name"], *same["aliases"]) for word in name_key(one).split()}:
        return npc.id
    return None


def _same_person(known: Item, later: Npc) -> None:
    names = [known["name"], *known["aliases"]]
    known["aliases"] = (*known["aliases"], *(one for one in later.names if one not in names))
    if later.status != "unknown":
        known["status"] = later.status
    if later.tie != "other":
        known["tie"] = later.tie
    known["faction"] = later.faction or known["faction"]
    if "unresolved" in later.model_fields_set:  # a part that says nothing of it settles nothing
        known["unresolved"] = later.unresolved
    there = {_span(one) for one in known["evidence"]}
    more = (one.model_dump() for one in later.evidence if (one.start, one.end) not in there)
    known["evidence"] = (*known["evidence"], *more)[:_MOST_QUOTES]


def _span(evidence: dict[str, Any]) -> tuple[int, int]:
    return evidence["start"], evidence["end"]


def close_hooks(found: Grounded, settled: tuple[Settled, ...], prose: Prose) -> Grounded:
    """Close hooks of earlier parts that a later part settles, each by words of the prose, which become its evidence.

    A hook said to be settled without such words stays open, and a repair says so.
    """
    hooks = {hook.id: hook for hook in found.ledger.hooks}
    repairs = []
    for one in settled:
        if (hook := hooks.get(one.id)) is None or not hook.open:
            continue
        place = None if quote_problem(one.quote) else next(prose.places(one.quote), None)
        if place is None:
            repairs.append(f"hook '{hook.id}': said to be settled, but no quote says how; left open")
            continue
        start, end = place
        quote = {"quote": prose.body[start:end], "start": start, "end": end}
        data = hook.model_dump(exclude_defaults=True) | {"open": False}
        data["evidence"] = (*data["evidence"], quote)[:_MOST_QUOTES]
        hooks[hook.id] = type(hook).model_validate(data)
    ledger = found.ledger.model_copy(update={"hooks": tuple(hooks.values())})
    return replace(found, ledger=ledger, repairs=(*found.repairs, *repairs))


def in_prose_order(ledger: FactLedger, fresh: frozenset[str]) -> FactLedger:
    """Put events that were read later, out of turn, before those of their phase that stand further on in the prose."""
    events: list[Event] = [event for event in ledger.events if event.id not in fresh]
    for new in (event for event in ledger.events if event.id in fresh):
        behind = (
            at
            for at, event in enumerate(events)
            if event.phase == new.phase and _begins(event) > _begins(new)
        )
        events.insert(next(behind, len(events)), new)
    # Another event of somebody may be the last one now.
    return without_dangling(
        ledger, {name: events if name == "events" else list(getattr(ledger, name)) for name in LISTS}
    )


def _begins(event: Event) -> int:
    return min((one.start for one in event.evidence), default=0)
