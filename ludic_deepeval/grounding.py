"""From what a model says of a story to what the story says: items that rest on its words, and those that do not.

The model gives quotes, code finds them. An item none of whose quotes stands in the prose is kept apart with its reason
and never scored; so is one that breaks the ledger's rules. Nothing that a model writes reaches a score in any other way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, get_args

from pydantic import ValidationError

from ludic_deepeval.errors import clean, shown
from ludic_deepeval.ledger import (
    MAX_ITEMS,
    Event,
    FactLedger,
    Frozen,
    Goal,
    Hook,
    Mystery,
    Npc,
)
from ludic_deepeval.lockfile import ListName, Ungrounded, quote_problem
from ludic_deepeval.text import Prose, holds_name, name_key

Span: TypeAlias = tuple[int, int]

_MODELS: Final[dict[ListName, type[Frozen]]] = {
    "npcs": Npc,
    "events": Event,
    "hooks": Hook,
    "goals": Goal,
    "mysteries": Mystery,
}
LISTS: Final[tuple[ListName, ...]] = get_args(ListName)
ITEM: Final[dict[ListName, str]] = {
    "npcs": "person",
    "events": "event",
    "hooks": "hook",
    "goals": "goal",
    "mysteries": "mystery",
}
_MOST_QUOTES: Final = 20
_MOST_DROPPED: Final = 4000
Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Unquoted:
    """Where in a reading an item stands whose quotes were not found, and what was wrong with them."""

    list: ListName
    index: int
    reason: str


@dataclass(frozen=True)
class Grounded:
    """What of a model's reading rests on the prose.

    Attributes:
        ledger: The items whose quotes were found, with their offsets.
        ungrounded: The others, each with its reason.
        repairs: What had to be changed for the items to fit together, a line each.
        unquoted: The items that failed by their quotes alone; asking again may help.
    """

    ledger: FactLedger
    ungrounded: tuple[Ungrounded, ...]
    repairs: tuple[str, ...] = ()
    unquoted: tuple[Unquoted, ...] = ()


def ground(
    said: dict[str, Any],
    prose: Prose,
    within: Sequence[Span] = (),
    *,
    known: FactLedger | None = None,
) -> Grounded:
    """Find the quotes of a model's reading in the prose.

    Args:
        said: A ledger as a model fills it in (`ludic schema --for notary`): quotes without offsets.
        prose: What it read.
        within: The parts of the body that it was shown; a quote is looked for there first.
        known: What was read before. Items may name its people, who then stand in the ledger as they were known.

    Returns:
        The grounded ledger. Never raises over what a model wrote: an item of a wrong shape is set apart like one without
        words. The text of a mystery becomes its quote, since Eq 11 measures the prose and not a paraphrase of it.
    """
    repairs: list[str] = []
    dropped: list[Ungrounded] = []
    unquoted: list[Unquoted] = []
    kept: dict[ListName, list[Item]] = {}
    for name in LISTS:
        kept[name] = []
        taken: set[str] = set()
        for number, raw in enumerate(_list_of(said.get(name))):
            item, reason = _grounded(name, raw, prose, within)
            if item is None or len(kept[name]) >= MAX_ITEMS:
                if item is None and isinstance(raw, dict):
                    unquoted.append(Unquoted(name, number, reason))
                dropped.append(_aside(name, raw, reason or f"more than {MAX_ITEMS} {name}"))
                continue
            item["id"] = free_id(item.get("id"), f"{ITEM[name]}-{number + 1}", taken)
            if name == "npcs":
                _named_in_prose(item, prose, repairs)
            kept[name].append(item)
    _resolve(kept, repairs, known)
    for name in LISTS:
        kept[name] = list(_valid(name, kept[name], dropped))
    _known_only(kept, repairs)
    agree_on_status(kept, repairs)
    ledger = FactLedger.model_validate(
        {
            "schema_version": 1,
            "protagonist": _protagonist(said.get("protagonist")),
            **kept,
        }
    )
    return Grounded(ledger, tuple(dropped[:_MOST_DROPPED]), tuple(repairs), tuple(unquoted))


def _protagonist(value: object) -> str:
    return value.strip()[:200] if isinstance(value, str) and value.strip() else "the protagonist"


def _list_of(value: object) -> list[Any]:
    return value[: MAX_ITEMS * 2] if isinstance(value, list) else []


def _grounded(name: ListName, raw: object, prose: Prose, within: Sequence[Span]) -> tuple[Item | None, str]:
    """An item with the quotes that were found, or None and why."""
    if not isinstance(raw, dict):
        return None, f"found {shown(raw)} where an item should be"
    quotes = [quote for part in _list_of(raw.get("evidence")) if (quote := _quote_in(part)) is not None]
    if not quotes:
        return None, "no quote"
    found, problems = [], []
    for quote in quotes[:_MOST_QUOTES]:
        problem = _problem(name, raw, quote, prose)
        if problem is None:
            start, end = _place(prose.find(quote), within)
            found.append({"quote": prose.body[start:end], "start": start, "end": end})
        else:
            problems.append(problem)
    if not found:
        return None, problems[0]
    item = {key: value for key, value in raw.items() if value is not None} | {"evidence": found}
    if name == "mysteries":
        item["text"] = found[0]["quote"]
    return item, ""


def _place(places: list[Span], within: Sequence[Span]) -> Span:
    """The first place of a quote in the parts that were shown, else the first in the story."""
    inside = (place for place in places if any(a <= place[0] and place[1] <= b for a, b in within))
    return next(inside, places[0])


def _quote_in(part: object) -> str | None:
    quote = part.get("quote") if isinstance(part, dict) else part
    return quote if isinstance(quote, str) and quote.strip() else None


def _problem(name: ListName, raw: Item, quote: str, prose: Prose) -> str | None:
    if problem := quote_problem(quote):
        return problem
    if not prose.find(quote):
        return f"the quote {shown(quote)} is not in the prose"
    if name == "npcs":
        names = [raw.get("name"), *_list_of(raw.get("aliases"))]
        if not any(isinstance(one, str) and one.strip() and holds_name(quote, one) for one in names):
            return f"the quote {shown(quote)} does not hold the name {shown(raw.get('name'))} or an alias"
    return None


def _named_in_prose(item: Item, prose: Prose, repairs: list[str]) -> None:
    """Take from a person the names that the prose does not have: nobody is scored under an invented one."""
    names = [one for one in (item.get("name"), *_list_of(item.get("aliases"))) if isinstance(one, str)]
    there = [one for one in dict.fromkeys(names) if one.strip() and holds_name(prose.body, one)]
    gone = [one for one in dict.fromkeys(names) if one not in there]
    if gone and there and isinstance(item.get("name"), str):
        item["name"], item["aliases"] = there[0], there[1:]
        repairs.append(f"person '{clean(item['id'])}': {shown(gone[0])} is no name in the prose; left out")


def free_id(wanted: object, otherwise: str, taken: set[str]) -> str:
    """An id like the wanted one that nothing has yet; it is taken thereby."""
    base = "-".join(wanted.split())[:60] if isinstance(wanted, str) and wanted.strip() else otherwise
    found, number = base, 2
    while found in taken:
        found, number = f"{base}-{number}", number + 1
    taken.add(found)
    return found


def _aside(name: ListName, raw: object, reason: str) -> Ungrounded:
    """Keep what was said, within bounds: a reply may be anything."""
    item = raw if isinstance(raw, dict) else {"found": raw}
    flat = {
        clean(str(key), limit=40): clean(str(value), limit=300)
        for key, value in list(item.items())[:20]
        if key != "evidence" and value is not None
    }
    return Ungrounded(list=name, item=flat, reason=clean(reason, limit=600))


# What belongs together


def _resolve(kept: dict[ListName, list[Item]], repairs: list[str], known: FactLedger | None) -> None:
    """Let items name people by name as well as by id, and leave out those that no quote carries."""
    people: dict[str, str] = {}
    for person in kept["npcs"]:
        for name in (person["id"], person.get("name"), *_list_of(person.get("aliases"))):
            if isinstance(name, str):
                people.setdefault(name_key(name), person["id"])
    here = {person["id"] for person in kept["npcs"]}
    before: dict[str, Npc] = {}
    for npc in known.npcs if known else ():
        if npc.id not in here:
            for name in (npc.id, *npc.names):
                if people.setdefault(name_key(name), npc.id) == npc.id:
                    before[npc.id] = npc
    _refer(kept, people, repairs)
    named = {hook.get("npc") for hook in kept["hooks"]}
    named |= {one["npc"] for event in kept["events"] for one in event.get("relations") or ()}
    kept["npcs"] += [npc.model_dump(exclude_defaults=True) for key, npc in before.items() if key in named]


def _refer(kept: dict[ListName, list[Item]], people: dict[str, str], repairs: list[str]) -> None:
    """Put the ids of people where items name them."""
    for hook in kept["hooks"]:
        if hook.get("npc") is not None:
            hook["npc"] = _person(hook["npc"], people, f"hook '{hook['id']}'", repairs)
    for event in kept["events"]:
        relations = []
        for relation in _list_of(event.get("relations")):
            if isinstance(relation, dict):
                npc = _person(relation.get("npc"), people, f"event '{event['id']}'", repairs)
                relations += [relation | {"npc": npc}] if npc else []
        if "relations" in event:
            event["relations"] = relations


def _person(given: object, people: dict[str, str], where: str, repairs: list[str]) -> str | None:
    found = people.get(name_key(given)) if isinstance(given, str) else None
    if found is None:
        repairs.append(f"{clean(where)}: {shown(given)} is nobody that a quote carries; left out")
    return found


def _valid(name: ListName, items: list[Item], dropped: list[Ungrounded]) -> Iterator[Item]:
    for item in items:
        try:
            _MODELS[name].model_validate(item)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            dropped.append(_aside(name, item, f"not as the ledger has it: {where or 'item'}: {first['msg']}"))
        else:
            yield item


def _known_only(kept: dict[ListName, list[Item]], repairs: list[str]) -> None:
    """Take out references to people who turned out not to be valid."""
    known = {npc["id"] for npc in kept["npcs"]}
    for hook in kept["hooks"]:
        if hook.get("npc") is not None and hook["npc"] not in known:
            repairs.append(f"hook '{hook['id']}': {shown(hook['npc'])} was set apart; left out")
            hook["npc"] = None
    for event in kept["events"]:
        if event.get("relations"):
            event["relations"] = [one for one in event["relations"] if one["npc"] in known]


def agree_on_status(kept: dict[ListName, list[Item]], repairs: list[str]) -> None:
    """A person is at the end what the last event made of them; a model that says otherwise counted differently."""
    last: dict[str, str] = {}
    for event in sorted(kept["events"], key=lambda one: str(one["phase"])):
        if event.get("asserted_by") is None:
            for relation in event.get("relations") or ():
                if relation.get("status") is not None:
                    last[relation["npc"]] = relation["status"]
    for npc in kept["npcs"]:
        status = npc.get("status", "unknown")
        if npc["id"] in last and last[npc["id"]] != status:
            repairs.append(
                f"person '{npc['id']}': '{status}', but '{last[npc['id']]}' in the last event; taken as the event says"
            )
            npc["status"] = last[npc["id"]]
