"""One change that advice may ask for, and the ledger as it would be with it made."""

from dataclasses import dataclass
from typing import Any, Final

from ludic_deepeval.ledger import Event, FactLedger, Goal, Hook, Mystery, Npc
from ludic_deepeval.wording import ChangeKind

STRONG: Final = 9  # "at the door tonight": the most that advice asks of an event


@dataclass(frozen=True, slots=True)
class Change:
    """One thing to do.

    Attributes:
        kind: What kind of change.
        target: The id of the item to change; of the item to add, for additions.
        text: What to do, for people.
        value: The new immediacy or gravity, where that is what changes.
    """

    kind: ChangeKind
    target: str
    text: str
    value: int | None = None


def applied(ledger: FactLedger, changes: tuple[Change, ...]) -> FactLedger:
    """The ledger with the changes made; nothing here can make a valid ledger invalid."""
    lists: dict[str, list[Any]] = {name: list(getattr(ledger, name)) for name in FactLedger.LISTS}
    for change in changes:
        name, key, update = _edit(change)
        if isinstance(update, dict):
            lists[name] = [item.model_copy(update=update) if item.id == key else item for item in lists[name]]
        elif update is None:
            lists[name] = [item for item in lists[name] if item.id != key]
        else:
            lists[name].append(update.model_copy(update={"id": _free_id(key, lists[name])}))
    return ledger.model_copy(update={name: tuple(items) for name, items in lists.items()})


def _free_id(wanted: str, items: list[Any]) -> str:
    taken = {item.id for item in items}
    while wanted in taken:
        wanted += "-"
    return wanted


def _edit(change: Change) -> tuple[str, str, dict[str, Any] | Npc | Goal | Hook | Mystery | Event | None]:  # noqa: C901, PLR0911, PLR0912  # a table
    """Return the list, the id, and what to do there: fields to set, an item to add, or None to drop."""
    key = change.target
    match change.kind:
        case "reopen-tie":
            return "npcs", key, {"unresolved": True}
        case "add-person":
            return "npcs", key, Npc(id=key, name="(a new person)", status="alive", unresolved=True)
        case "pursue-goal":
            return "goals", key, {"proactive": True}
        case "add-goal":
            return "goals", key, Goal(id=key, text="(a new goal)", proactive=True)
        case "make-urgent":
            return "hooks", key, {"tier": 1}
        case "reopen-hook":
            return "hooks", key, {"open": True}
        case "add-hook":
            return "hooks", key, Hook(id=key, text="(a new hook)", tier=1, open=True)
        case "blur-mystery":
            return "mysteries", key, {"text": "somebody did something, for a reason that nobody will say"}
        case "add-mystery":
            return (
                "mysteries",
                key,
                Mystery(id=key, text="somebody did something, for a reason that nobody will say"),
            )
        case "answer-mystery":
            return "mysteries", key, None
        case "raise-immediacy":
            return "events", key, {"immediacy": change.value}
        case "raise-gravity":
            return "events", key, {"gravity": change.value}
        case "add-event":
            value = change.value or STRONG
            event = Event(
                id=key,
                phase="P3",
                summary="(a new event)",
                immediacy=value,
                gravity=value,
                linkage=5,
                divergence=5,
            )
            return "events", key, event
