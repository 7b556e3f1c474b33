"""A ledger as flat tables, which every engine's form is made from, and the way back.

Each list of the ledger is a table; what is nested in an event is a table of its own whose rows name the event. A value
that the ledger does not give is an empty text, or -1 where a number is meant: engines' serializers know no null.
"""

from collections.abc import Mapping
from typing import Any, Final

from ludic_deepeval.engines import Exported
from ludic_deepeval.ledger import FactLedger

NO_NUMBER: Final = -1

# column: kind (text, number, flag, texts), in the order of the columns.
Kind = str
TABLES: Final[Mapping[str, Mapping[str, Kind]]] = {
    "Characters": {"story": "text", "title": "text", "protagonist": "text", "schema_version": "number"},
    "Npcs": {
        "story": "text", "id": "text", "name": "text", "aliases": "texts", "status": "text", "tie": "text",
        "faction": "text", "unresolved": "flag",
    },
    "Events": {
        "story": "text", "id": "text", "phase": "text", "summary": "text", "immediacy": "number", "gravity": "number",
        "linkage": "number", "divergence": "number", "location": "text", "factions": "texts", "asserted_by": "text",
    },
    "EventRelations": {"story": "text", "event": "text", "npc": "text", "status": "text", "tie": "text"},
    "EventPhysical": {
        "story": "text", "event": "text", "kind": "text", "text": "text", "permanent": "flag", "present": "flag",
        "age": "number",
    },
    "EventInventory": {"story": "text", "event": "text", "item": "text", "change": "text"},
    "EventSkills": {"story": "text", "event": "text", "skill": "text", "change": "text"},
    "EventPractices": {"story": "text", "event": "text", "practice": "text", "openly": "flag"},
    "Hooks": {
        "story": "text", "id": "text", "text": "text", "tier": "number", "open": "flag", "npc": "text",
        "location": "text",
    },
    "Goals": {"story": "text", "id": "text", "text": "text", "proactive": "flag"},
    "Mysteries": {"story": "text", "id": "text", "text": "text"},
    "BackgroundEvents": {
        "story": "text", "id": "text", "phase": "text", "kind": "text", "subject": "text", "text": "text",
    },
    "Quests": {
        "story": "text", "id": "text", "template": "text", "kind": "text", "title": "text", "tier": "number",
        "grows_from": "text", "summary": "text",
    },
    "QuestFields": {"story": "text", "quest": "text", "name": "text", "value": "text", "source": "text"},
}  # fmt: skip
_LISTS: Final = {
    "Npcs": "npcs",
    "Events": "events",
    "Hooks": "hooks",
    "Goals": "goals",
    "Mysteries": "mysteries",
    "BackgroundEvents": "background_log",
}
_NESTED: Final = {
    "EventRelations": "relations",
    "EventPhysical": "physical",
    "EventInventory": "inventory",
    "EventSkills": "skills",
    "EventPractices": "practices",
}
Row = dict[str, Any]


def tables_of(stories: tuple[Exported, ...]) -> dict[str, list[Row]]:
    """Return the rows of every table, in the order of the ledgers."""
    found: dict[str, list[Row]] = {name: [] for name in TABLES}
    for story in stories:
        ledger = story.ledger
        found["Characters"].append(_row("Characters", story, ledger, title=story.title))
        for table, attribute in _LISTS.items():
            found[table] += [_row(table, story, item) for item in getattr(ledger, attribute)]
        for event in ledger.events:
            for table, attribute in _NESTED.items():
                found[table] += [
                    _row(table, story, item, event=event.id) for item in getattr(event, attribute)
                ]
        for quest in story.quests:
            found["Quests"].append(_row("Quests", story, quest))
            found["QuestFields"] += [_row("QuestFields", story, one, quest=quest.id) for one in quest.fields]
    return found


def _row(table: str, story: Exported, item: object, **more: str) -> Row:
    given = {"story": story.key, **more}
    return {
        column: given[column] if column in given else _value(getattr(item, column), kind)
        for column, kind in TABLES[table].items()
    }


def _value(value: Any, kind: Kind) -> Any:  # a cell
    if kind == "texts":
        return [str(one) for one in value]
    if value is None:
        return NO_NUMBER if kind == "number" else ""
    return value


def ledgers_of(tables: Mapping[str, list[Row]]) -> dict[str, FactLedger]:
    """Build the ledgers back, by story. Evidence and readers' own marks are not exported.

    Raises:
        pydantic.ValidationError: The tables hold what no ledger may.
    """
    found: dict[str, dict[str, Any]] = {}
    for row in tables["Characters"]:
        found[row["story"]] = {"schema_version": row["schema_version"], "protagonist": row["protagonist"]}
    for table, attribute in _LISTS.items():
        for row in tables[table]:
            found[row["story"]].setdefault(attribute, []).append(_item(table, row))
    for table, attribute in _NESTED.items():
        for row in tables[table]:
            events = found[row["story"]]["events"]
            event = next(one for one in events if one["id"] == row["event"])
            event.setdefault(attribute, []).append(_item(table, row))
    return {story: FactLedger.model_validate(parts) for story, parts in found.items()}


def _item(table: str, row: Row) -> dict[str, Any]:
    item = {}
    for column, kind in TABLES[table].items():
        value = row[column]
        missing = value == NO_NUMBER if kind == "number" else value == ""
        if column not in {"story", "event"} and not missing:
            item[column] = value
    return item
