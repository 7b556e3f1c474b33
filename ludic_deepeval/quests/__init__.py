"""Quests from a Fact Ledger (LudicMetrics §6.1): templates are data, and every field is filled from the ledger or left out.

A quest grows from one open hook, one mystery or one goal. Nothing is invented: each value says which field of which item
it was taken from, and a template that lacks a value it needs does not apply.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ludic_deepeval.ledger import Event, FactLedger, Goal, Hook, Mystery, Npc
from ludic_deepeval.quests.templates import Needs, Template

if TYPE_CHECKING:
    from ludic_deepeval.bible import Bible

ACTIVE: Final = frozenset({"alive", "undead", "unknown", "missing"})
"""Everything but dead: an enemy who is not known to be dead can still act (the N_act of Eq 2)."""


@dataclass(frozen=True, slots=True)
class Filled:
    """One field of a quest.

    Attributes:
        name: What the template calls it.
        value: What the ledger says.
        source: Where: "hooks/the-eyes.text".
    """

    name: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class Quest:
    """A quest that a ledger has the makings of.

    Attributes:
        id: The template's id and that of the item it grows from: stable while both stay.
        template: The template's id.
        kind: What the template calls it.
        title: Filled like a field.
        tier: 1 can open the next scene, 2 wants exploring, 3 is in the background; for goals 2, for mysteries 2.
        grows_from: The item: "hooks/the-eyes".
        fields: In the template's order; what the ledger does not say is not there.
        summary: What the template says to do, filled.
    """

    id: str
    template: str
    kind: str
    title: str
    tier: int
    grows_from: str
    fields: tuple[Filled, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class _Bound:
    """What a template may speak of: an item with the person and the event that go with it."""

    ledger: FactLedger
    where: str
    hook: Hook | None = None
    goal: Goal | None = None
    mystery: Mystery | None = None
    npc: Npc | None = None
    event: Event | None = None

    def look_up(self, path: str) -> tuple[str, str] | None:
        """Return a value with its source, or None when the ledger does not say."""
        if path == "protagonist":
            return self.ledger.protagonist, "protagonist"
        owner, _, name = path.partition(".")
        item = getattr(self, owner)
        value = getattr(item, name, None) if item is not None else None
        if isinstance(value, tuple):
            value = ", ".join(str(one) for one in value)
        if value is None or value == "":
            return None
        return str(value), f"{_LISTS[owner]}/{item.id}.{name}"


_LISTS: Final = {
    "hook": "hooks",
    "goal": "goals",
    "mystery": "mysteries",
    "npc": "npcs",
    "event": "events",
}


def quests_of(
    ledger: FactLedger, templates: Iterable[Template], bible: "Bible | None" = None
) -> tuple[Quest, ...]:
    """Find the quests that a ledger has the makings of.

    Args:
        ledger: What the story says.
        templates: What to look for, the more particular first.
        bible: Gives places and factions the names that players know.

    Returns:
        By tier, within one by the order of the templates, within one by the order of the ledger.
    """
    shown = _Names(bible)
    found: list[Quest] = []
    for template in templates:
        taken = {quest.grows_from for quest in found} if template.otherwise else frozenset()
        bindings = (bound for bound in _bindings(ledger, template) if bound.where not in taken)
        found += [quest for bound in bindings if (quest := _fill(template, bound, shown)) is not None]
    return tuple(sorted(found, key=lambda quest: quest.tier))  # within a tier as found


def _bindings(ledger: FactLedger, template: Template) -> Iterator[_Bound]:
    people = {npc.id: npc for npc in ledger.npcs}
    if template.grows_from == "hook":
        for hook in ledger.hooks:
            npc = people.get(hook.npc) if hook.npc else None
            if hook.open and _meets(template.needs, npc, hook.tier):
                event = _latest_with(ledger, npc)
                yield _Bound(ledger, f"hooks/{hook.id}", hook=hook, npc=npc, event=event)
    elif template.grows_from == "goal":
        for goal in ledger.goals:
            if goal.proactive and _meets(template.needs, None, None):
                yield _Bound(ledger, f"goals/{goal.id}", goal=goal)
    elif template.grows_from == "mystery":
        for mystery in ledger.mysteries:
            if _meets(template.needs, None, None):
                yield _Bound(ledger, f"mysteries/{mystery.id}", mystery=mystery)
    else:
        for npc in ledger.npcs:
            if npc.unresolved and _meets(template.needs, npc, None) and not _hooked(ledger, npc):
                yield _Bound(ledger, f"npcs/{npc.id}", npc=npc, event=_latest_with(ledger, npc))


def _meets(needs: Needs, npc: Npc | None, tier: int | None) -> bool:
    if needs.tier and tier not in needs.tier:
        return False
    asks_for_somebody = needs.tie or needs.status or needs.active
    if npc is None:
        return not asks_for_somebody
    if needs.active and not (npc.unresolved and npc.status in ACTIVE):
        return False
    return (not needs.tie or npc.tie in needs.tie) and (not needs.status or npc.status in needs.status)


def _hooked(ledger: FactLedger, npc: Npc) -> bool:
    """Whether an open hook is about somebody: the quest grows from that one."""
    return any(hook.open and hook.npc == npc.id for hook in ledger.hooks)


def _latest_with(ledger: FactLedger, npc: Npc | None) -> Event | None:
    """The last event in which somebody takes part, but for hearsay."""
    if npc is None:
        return None
    with_npc = [
        event
        for event in ledger.in_order()
        if event.asserted_by is None and any(relation.npc == npc.id for relation in event.relations)
    ]
    return with_npc[-1] if with_npc else None


def _fill(template: Template, bound: _Bound, shown: "_Names") -> Quest | None:
    fields: list[Filled] = []
    for name, paths in template.fields.items():
        needed = not paths.optional
        found = next((value for path in paths.paths if (value := bound.look_up(path)) is not None), None)
        if found is None:
            if needed:
                return None
            continue
        fields.append(Filled(name, shown.of(found[0], found[1]), found[1]))
    values = {field.name: field.value for field in fields}
    title = template.title.filled(values)
    summary = template.summary.filled(values)
    if title is None or summary is None:
        return None
    tier = bound.hook.tier if bound.hook else 2
    return Quest(
        f"{template.id}-{bound.where.partition('/')[2]}",
        template.id,
        template.kind,
        title,
        tier,
        bound.where,
        tuple(fields),
        summary,
    )


@dataclass(frozen=True, slots=True)
class _Names:
    bible: "Bible | None"

    def of(self, value: str, source: str) -> str:
        """A place or a faction by its name in the Story Bible, anything else as the ledger has it; on one line."""
        if self.bible is not None and source.rpartition(".")[2] in {"location", "faction"}:
            found = self.bible.find(value)
            if found is not None:
                value = found[1].names[0]
        return " ".join(value.split())
