"""What a rewrite did to a backstory (LudicMetrics §4.2): two ledgers in, what came, what went and what was asked for out.

INSTABILITY_PROMPT makes three demands of a rewrite, against the draft that it is given: (i) one new named person, alive, for
or against a faction (RTN); (ii) one new or promoted tier-1 hook that names this person and ties the protagonist to a place
(UCR); (iii) one new goal that is pursued (MV). Each is looked for in the ledgers, and everything that is new is held against
the Story Bible. Nothing here asks a model. `docs/decisions.md` has the definitions.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, Literal, TypeAlias, TypeVar

from ludic_deepeval.bible import Bible, Node
from ludic_deepeval.ledger import Event, Extracted, FactLedger, Flag, Frozen, Hook, Item, Npc
from ludic_deepeval.lockfile import ListName
from ludic_deepeval.text import folded, holds_name, name_key, words

Demand: TypeAlias = Literal["person", "hook", "goal"]
DEMANDS: Final[tuple[Demand, ...]] = ("person", "hook", "goal")  # (i) RTN, (ii) UCR, (iii) MV
_SAME_WORDS: Final = 2  # half of the words of the shorter text: two texts say the same
_COMMON: Final = frozenset(
    "a an and are as at be been but by for from had has have he her hers him his i if in into is it its me my not of"
    " off on or our out she so that the their them they this to up was we were what when where which who whom whose"
    " will with would you your".split()
)
_Same = TypeVar("_Same", bound=Extracted)


class Met(Frozen):
    """Whether a rewrite met one demand, and by which item of its ledger.

    Attributes:
        demand: person, hook or goal.
        met: Whether it did.
        item: The id of the item that meets it.
        text: Its name or words.
        person: Of a hook: the id of the person it names.
        new_person: Of a hook: whether that is a person who meets the first demand; else one whom the draft had already.
        promoted: Of a hook: whether the draft had it too, less urgent or settled.
    """

    demand: Demand
    met: Flag
    item: str | None = None
    text: str | None = None
    person: str | None = None
    new_person: Flag | None = None
    promoted: Flag | None = None


class Added(Frozen):
    """An item that the draft did not have.

    Attributes:
        list: npcs, events, hooks, goals or mysteries.
        id: Its id.
        text: Its name or words.
        anchors: Ids of the bible's nodes that it rests on; none: it is not anchored.
        unknown: Factions and places that it gives and the bible does not have.
    """

    list: ListName
    id: str
    text: str
    anchors: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class Lost(Frozen):
    """An item of the draft that the rewrite does not have."""

    list: ListName
    id: str
    text: str


class Rewrite(Frozen):
    """What one pass did.

    Attributes:
        demands: The three demands, in order.
        added: What is new.
        lost: What is gone.
        likeness: 2·kept / (items before + items after) in [0, 1]; 1 is the same ledger.
    """

    demands: tuple[Met, ...]
    added: tuple[Added, ...]
    lost: tuple[Lost, ...]
    likeness: float


def compare_drafts(
    before: FactLedger, after: FactLedger, bible: Bible, *, faction: Node, location: Node
) -> Rewrite:
    """Say what a rewrite did.

    Args:
        before: The ledger of the draft.
        after: The ledger of the rewrite.
        bible: The setting.
        faction: Which faction was demanded.
        location: Which place was demanded.
    """
    added: list[Added] = []
    lost: list[Lost] = []
    kept = 0
    for name in LISTS:
        pairs = same_items(getattr(before, name), getattr(after, name))
        kept += len(pairs)
        went, came = {i for i, _ in pairs}, {j for _, j in pairs}
        lost += [
            Lost(list=name, id=item.id, text=said(item))
            for at, item in enumerate(getattr(before, name))
            if at not in went
        ]
        added += [
            Added(
                list=name,
                id=item.id,
                text=said(item),
                anchors=anchors_of(item, after, bible),
                unknown=unknown_of(item, bible),
            )
            for at, item in enumerate(getattr(after, name))
            if at not in came
        ]
    return Rewrite(
        demands=tuple(_demands(before, after, bible, faction, location)),
        added=tuple(added),
        lost=tuple(lost),
        likeness=_likeness(kept, before, after),
    )


LISTS: Final[tuple[ListName, ...]] = ("npcs", "events", "hooks", "goals", "mysteries")


def likeness(before: FactLedger, after: FactLedger) -> float:
    """How alike two ledgers are: 2·kept / (items before + items after) in [0, 1]; 1 when both are empty."""
    kept = sum(len(same_items(getattr(before, name), getattr(after, name))) for name in LISTS)
    return _likeness(kept, before, after)


def _likeness(kept: int, before: FactLedger, after: FactLedger) -> float:
    total = sum(1 for ledger in (before, after) for _ in ledger.items())
    return round(2 * kept / total, 4) if total else 1.0


# Which items are the same


def same_items(before: Sequence[_Same], after: Sequence[_Same]) -> list[tuple[int, int]]:
    """Pair the items that stand in both, each at most once, those that are most alike first, as (index, index).

    People are the same by a name or alias, everything else when at least half of the shorter text's words (common ones
    left out) are in the other. It is a matter of words: what is told anew in other words counts as new.
    """
    alike = sorted(
        (-share, i, j)
        for i, one in enumerate(before)
        for j, other in enumerate(after)
        if (share := _share(one, other))
    )
    left: set[int] = set()
    right: set[int] = set()
    pairs = []
    for _, i, j in alike:
        if i not in left and j not in right:
            left.add(i)
            right.add(j)
            pairs.append((i, j))
    return sorted(pairs)


def _share(one: Extracted, other: Extracted) -> float:
    """How much two items are alike, in [0, 1]; 0 when they are not the same."""
    if isinstance(one, Npc) and isinstance(other, Npc):
        return float(_is_same_person(one, other))
    if isinstance(one, Event) and isinstance(other, Event) and one.phase != other.phase:
        return 0.0
    mine, yours = _content(said(one)), _content(said(other))
    if not mine or not yours:
        return float(folded(said(one)) == folded(said(other)))
    common = len(mine & yours)
    fewer = min(len(mine), len(yours))
    # Which of several is most alike is told by all their words; whether they are the same by the shorter one's.
    return common / len(mine | yours) if common * _SAME_WORDS >= fewer else 0.0


def _is_same_person(one: Npc, other: Npc) -> bool:
    return not {name_key(name) for name in one.names}.isdisjoint(name_key(name) for name in other.names)


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    """The words of a text that carry its meaning; of one that has no others, all."""
    found = frozenset(match.group().casefold().removesuffix("'s") for match in words(folded(text)))
    return found - _COMMON or found


def said(item: Extracted) -> str:
    """The name of a person, the summary of an event, the words of anything else."""
    if isinstance(item, Npc):
        return item.name
    return item.summary if isinstance(item, Event) else str(item.text)


# What was asked for


def _demands(
    before: FactLedger, after: FactLedger, bible: Bible, faction: Node, location: Node
) -> Iterator[Met]:
    sided = [npc for npc in after.npcs if npc.status == "alive" and _has_name(npc)]
    sided = [npc for npc in sided if _is_about(npc, after, bible, faction)]
    fresh = [npc for npc in sided if not any(_is_same_person(npc, old) for old in before.npcs)]
    first = fresh[0] if fresh else None
    yield Met(
        demand="person", met=first is not None, **({"item": first.id, "text": first.name} if first else {})
    )
    yield _hook(
        before, after, bible, location, [*fresh, *(npc for npc in sided if npc not in fresh)], len(fresh)
    )
    old = [goal for goal in before.goals if goal.proactive]
    pursued = (goal for goal in after.goals if goal.proactive)
    # A goal that is told twice is not a second one, so each is held against all that were there.
    goal = next((goal for goal in pursued if not any(_share(one, goal) for one in old)), None)
    yield Met(demand="goal", met=goal is not None, **({"item": goal.id, "text": goal.text} if goal else {}))


def _hook(
    before: FactLedger, after: FactLedger, bible: Bible, location: Node, people: list[Npc], fresh: int
) -> Met:
    """The second demand: an urgent open hook that names one of these people at the place, and was not there before."""
    for at, npc in enumerate(people):
        was = [old for old in before.npcs if _is_same_person(npc, old)]
        if any(_urgent(hook, old, bible, location) for old in was for hook in before.hooks):
            continue
        for hook in after.hooks:
            if _urgent(hook, npc, bible, location):
                earlier = [
                    before.hooks[i]
                    for i, j in same_items(before.hooks, after.hooks)
                    if after.hooks[j] is hook
                ]
                return Met(
                    demand="hook",
                    met=True,
                    item=hook.id,
                    text=hook.text,
                    person=npc.id,
                    new_person=at < fresh,
                    promoted=any(not one.open or one.tier > 1 for one in earlier),
                )
    return Met(demand="hook", met=False)


def _urgent(hook: Hook, npc: Npc, bible: Bible, location: Node) -> bool:
    if not hook.open or hook.tier != 1 or not _names(hook, npc):
        return False
    given = bible.find(hook.location) if hook.location else None
    return bool(given and given[1].id == location.id) or _tells_of(_texts(hook), location)


def _names(item: Hook | Event, npc: Npc) -> bool:
    """Whether a hook or event is about a person: by its reference, or by a name in its words."""
    by_id = (item.npc,) if isinstance(item, Hook) else tuple(one.npc for one in item.relations)
    return npc.id in by_id or any(holds_name(text, name) for text in _texts(item) for name in npc.names)


def _has_name(npc: Npc) -> bool:
    """Whether a person is named and not described: "Sela Vant" and "the Widow" are, "the harbour master" is not."""
    letters = [word.group()[0] for word in words(npc.name) if word.group().casefold() not in _COMMON]
    return any(not letter.islower() for letter in letters)


def _is_about(npc: Npc, ledger: FactLedger, bible: Bible, faction: Node) -> bool:
    """Whether a person has to do with a faction: by the ledger's field, or by words about the person that name it."""
    given = bible.find(npc.faction) if npc.faction else None
    if given and given[1].id == faction.id:
        return True
    items: tuple[Hook | Event, ...] = (*ledger.hooks, *ledger.events)
    for item in items:
        if _names(item, npc):
            fields = item.factions if isinstance(item, Event) else ()
            found = [bible.find(one) for one in fields]
            if any(one and one[1].id == faction.id for one in found) or _tells_of(_texts(item), faction):
                return True
    return _tells_of(_texts(npc), faction)


def _texts(item: Item) -> tuple[str, ...]:
    own = () if isinstance(item, Npc) else (said(item),)  # type: ignore[arg-type]  # every item here is extracted
    return (*own, *(one.quote for one in item.evidence))


def _tells_of(texts: Iterable[str], node: Node) -> bool:
    """Whether words name a node, in its own capitals: "the city gate" is not Baldur's Gate."""
    return any(holds_name(text, name) for text in texts for name in node.names)


# What it rests on


def anchors_of(item: Extracted, ledger: FactLedger, bible: Bible) -> tuple[str, ...]:
    """The ids of the bible's nodes that an item rests on: given in its fields, or named in its words or quotes.

    A person rests also on what the hooks that name the person rest on; not on events, since nearly all of these have a
    place. Rules are laws and anchor nothing.
    """
    about: list[Extracted] = [item]
    if isinstance(item, Npc):
        about += [hook for hook in ledger.hooks if _names(hook, item)]
    found: set[str] = set()
    for one in about:
        found |= {node.id for given in _given(one) if (node := _entity(given, bible))}
        found |= {
            node.id for kind, _, node in bible.nodes() if kind != "rules" and _tells_of(_texts(one), node)
        }
    if isinstance(item, Npc):
        found |= {node.id for name in item.names if (node := _entity(name, bible))}
    return tuple(sorted(found))


def unknown_of(item: Extracted, bible: Bible) -> tuple[str, ...]:
    """Factions and places in an item's fields that the bible does not have."""
    return tuple(given for given in _given(item) if _entity(given, bible) is None)


def _entity(name: str, bible: Bible) -> Node | None:
    found = bible.find(name)
    return found[1] if found and found[0] != "rules" else None


def _given(item: Extracted) -> tuple[str, ...]:
    given: tuple[str | None, ...] = ()
    if isinstance(item, Npc):
        given = (item.faction,)
    elif isinstance(item, Event):
        given = (item.location, *item.factions)
    elif isinstance(item, Hook):
        given = (item.location,)
    return tuple(one for one in given if one)
