"""A contradiction, and what the background log has to say of one: what `consistency` and `branches` both work with."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ludic_deepeval.ledger import PHASE_NAMES, BackgroundEvent, Event, FactLedger, Npc, Phase
from ludic_deepeval.text import name_key

FaultCode: TypeAlias = Literal[
    "dead-then-active",
    "injury-vanished",
    "age-fell",
    "item-not-held",
    "skill-not-had",
    "against-log",
    "lore-violation",
]
LORE: Final[FaultCode] = "lore-violation"

# Which kinds of background event explain a fault. `other` serves what has no kind of its own.
_EXPLAINS: Final[dict[str, frozenset[str]]] = {
    "dead-then-active": frozenset({"resurrection", "return"}),
    "injury-vanished": frozenset({"healing", "resurrection"}),
    "age-fell": frozenset({"other"}),
    "item-not-held": frozenset({"return", "other"}),
    "skill-not-had": frozenset({"return", "healing", "other"}),
    "place-destroyed": frozenset({"return", "resurrection", "other"}),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One contradiction.

    Attributes:
        code: What kind it is.
        message: One line for people.
        events: The two ids that contradict each other, the earlier first: of events of the prose or of the log, or of
            an event and the bible's rule.
        phases: Their phases; a rule has the phase of the event that breaks it.
        quotes: Their words: the first quote of an event, the text of a log entry or rule, the summary of an event
            without evidence.
    """

    code: FaultCode
    message: str
    events: tuple[str, str]
    phases: tuple[Phase, Phase]
    quotes: tuple[str, str]


class Past:
    """The background log, asked whether it explains a change.

    Args:
        ledger: Whose people the log speaks of.
        log: Its entries by phase.
    """

    def __init__(self, ledger: FactLedger, log: list[BackgroundEvent]) -> None:
        self.log = log
        self.npcs = {npc.id: npc for npc in ledger.npcs}
        self.protagonist = ledger.protagonist
        self._keys = {npc.id: {name_key(npc.id), *map(name_key, npc.names)} for npc in ledger.npcs}

    def person(self, subject: str) -> Npc | None:
        """Whom a log entry's subject names, if it is a person."""
        key = name_key(subject)
        return next((self.npcs[npc_id] for npc_id, keys in self._keys.items() if key in keys), None)

    def is_about(self, event: BackgroundEvent, subject: str) -> bool:
        """Whether a log entry is about a person's id, or an injury, item, skill or place."""
        keys = self._keys.get(subject, {name_key(subject)})
        return name_key(event.subject) in keys

    def explains(self, code: str, subject: str, first: Phase, last: Phase, *, own: bool = False) -> bool:
        """Whether the log has, in a phase between the two, an event of the right kind about the subject.

        Args:
            code: The fault.
            subject: An NPC's id, or the words for an injury, item or skill.
            first: The phase of the earlier event.
            last: The phase of the later one.
            own: Whether an event about the protagonist explains it too.
        """
        return any(
            event.kind in _EXPLAINS[code]
            and first <= event.phase <= last
            and (
                self.is_about(event, subject)
                or (own and name_key(event.subject) == name_key(self.protagonist))
            )
            for event in self.log
        )


def fault_between(
    code: FaultCode, message: str, first: Event | BackgroundEvent, second: Event | BackgroundEvent
) -> Fault:
    """Return the fault that two events make together, the earlier first."""
    return Fault(
        code, message, (first.id, second.id), (first.phase, second.phase), (quote_of(first), quote_of(second))
    )


def quote_of(event: Event | BackgroundEvent) -> str:
    """The words that an event rests on."""
    if isinstance(event, BackgroundEvent):
        return event.text
    return event.evidence[0].quote if event.evidence else event.summary


def during(event: Event | BackgroundEvent) -> str:
    """When something happened, in a writer's words with the phase's name."""
    return f"in {PHASE_NAMES[event.phase]} ({event.phase})"
