"""A Fact Ledger as short text for a judge to read (LudicMetrics §5.9): without evidence, one line an item.

It holds what the equations count. Left out are quotes and offsets, the reader's own mark on mysteries, which no equation
reads, and on request the four dimensions, so that whoever is to rate an event does not see how it was rated.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from ludic_deepeval.ledger import DIMENSIONS, Event, FactLedger, Hook, Npc

_LETTERS: Final = ("I", "G", "V", "D")


LISTS: Final = (*FactLedger.LISTS, "background_log")


def compact(ledger: FactLedger, *, dimensions: bool = True, lists: Iterable[str] = LISTS) -> str:
    """Return a ledger as short text, the same for the same ledger.

    Args:
        ledger: The ledger.
        dimensions: Whether events keep immediacy (I), gravity (G), linkage (V) and divergence (D).
        lists: Which lists; a judge who counts goals needs no others.
    """
    wanted = set(lists)
    ledger = ledger.model_copy(update={name: () for name in LISTS if name not in wanted})
    lines = [f"protagonist: {_flat(ledger.protagonist)}"]
    lines += _part("people", map(_person, ledger.npcs))
    lines += _part("events", (_event(event, dimensions=dimensions) for event in ledger.in_order()))
    lines += _part("hooks", map(_hook, ledger.hooks))
    lines += _part(
        "goals",
        (
            f"{goal.id}: {'pursued' if goal.proactive else 'not pursued'}: {_flat(goal.text)}"
            for goal in ledger.goals
        ),
    )
    lines += _part("mysteries", (f"{one.id}: {_flat(one.text)}" for one in ledger.mysteries))
    lines += _part(
        "off-screen",
        (
            f"{one.phase} {one.id}: {one.kind} of {_flat(one.subject)}: {_flat(one.text)}"
            for one in ledger.background_log
        ),
    )
    return "\n".join(lines)


def compact_event(event: Event, *, dimensions: bool = True) -> str:
    """Return one event as its line of the ledger."""
    return _event(event, dimensions=dimensions)


def _part(title: str, lines: Iterator[str]) -> list[str]:
    found = [f"- {line}" for line in lines]
    return [title, *found] if found else []


def _person(npc: Npc) -> str:
    said: list[str] = [npc.status, npc.tie]
    if npc.faction:
        said.append(f"of {_flat(npc.faction)}")
    if npc.unresolved:
        said.append("unresolved")
    also = f" (also {', '.join(map(_flat, npc.aliases))})" if npc.aliases else ""
    return f"{npc.id}: {_flat(npc.name)}{also}: {', '.join(said)}"


def _hook(hook: Hook) -> str:
    said = [f"tier {hook.tier}", "open" if hook.open else "closed"]
    if hook.npc:
        said.append(hook.npc)
    if hook.location:
        said.append(f"at {_flat(hook.location)}")
    return f"{hook.id}: {', '.join(said)}: {_flat(hook.text)}"


def _event(event: Event, *, dimensions: bool) -> str:
    said = [_flat(event.summary)]
    if event.location:
        said.append(f"at {_flat(event.location)}")
    if event.factions:
        said.append(f"factions {', '.join(map(_flat, event.factions))}")
    said += [f"{'openly' if one.openly else 'in secret'} {_flat(one.practice)}" for one in event.practices]
    if event.asserted_by:
        said.append(f"claimed by {_flat(event.asserted_by)}")
    said += [
        f"age {one.age}" if one.kind == "age" else _body(one.text, one.present) for one in event.physical
    ]
    said += [" ".join(filter(None, (one.npc, one.status, one.tie))) for one in event.relations]
    said += [f"{one.change} {_flat(one.item)}" for one in event.inventory]
    said += [f"{one.change} {_flat(one.skill)}" for one in event.skills]
    if dimensions and event.immediacy is not None:
        numbers = (getattr(event, name) for name in DIMENSIONS)
        said.append(" ".join(f"{letter}{number}" for letter, number in zip(_LETTERS, numbers, strict=True)))
    return f"{event.phase} {event.id}: {'; '.join(said)}"


def _body(text: str | None, present: bool) -> str:
    return f"{'has' if present else 'no longer'} {_flat(text or '')}"


def _flat(text: str) -> str:
    """A text on one line: a line of a ledger that holds a line break would pass for two."""
    return " ".join(text.split())
