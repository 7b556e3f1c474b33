"""Does a backstory contradict itself, its Background Event Log or its Story Bible (LudicMetrics §4.1, 4.3)?

A separate axis from playability: openness is never a fault, and a fault never touches LPI or PCV. States are carried
through the events by phase, within a phase in the order of telling; a change that nothing explains is a fault. What
somebody only asserts (`asserted_by`: a rumour, a lie, a flashback) changes no state and breaks no law.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ludic_deepeval.faults import LORE, Fault, Past, during, fault_between, quote_of
from ludic_deepeval.ledger import BackgroundEvent, Event, FactLedger
from ludic_deepeval.text import name_key

if TYPE_CHECKING:  # a story without a bible does not pay for its models
    from ludic_deepeval.bible import Bible, Rule


@dataclass(frozen=True, slots=True)
class ConsistencyReport:
    """Every fault of one ledger.

    Attributes:
        faults: In the order of the later event; the same ledger gives the same order.
    """

    faults: tuple[Fault, ...]

    @property
    def score(self) -> int:
        """1 when there is no fault, else 0 (§4.1: any unjustified change makes it 0)."""
        return 0 if self.faults else 1

    @property
    def lore(self) -> int:
        """How many faults break a rule of the bible."""
        return sum(fault.code == LORE for fault in self.faults)

    @property
    def temporal(self) -> int:
        """How many faults contradict the story's own past or its log."""
        return len(self.faults) - self.lore


def check_consistency(ledger: FactLedger, bible: "Bible | None" = None) -> ConsistencyReport:
    """Find every contradiction in a ledger.

    Args:
        ledger: The ledger, with the designer's background log in it.
        bible: The setting's rules; without one no lore violation can be found.
    """
    story = [event for event in ledger.in_order() if event.asserted_by is None]
    log = sorted(ledger.background_log, key=lambda event: event.phase)
    past = Past(ledger, log)
    faults = [
        *_deaths(story, past),
        *_injuries(story, past),
        *_ages(story, past),
        *_held(story, past, "item-not-held", _items, "item"),
        *_held(story, past, "skill-not-had", _skills, "skill"),
        *_against_log(story, past),
    ]
    if bible is not None:
        faults += _lore(story, bible)
    order = {event_id: index for index, event_id in enumerate([*(e.id for e in log), *(e.id for e in story)])}
    end = len(order)
    faults.sort(
        key=lambda fault: (order.get(fault.events[1], end), order.get(fault.events[0], end), fault.code)
    )
    return ConsistencyReport(tuple(faults))


def _deaths(story: list[Event], past: Past) -> Iterator[Fault]:
    died: dict[str, Event] = {}
    for event in story:
        for relation in event.relations:
            npc_id = relation.npc
            if relation.status == "dead":
                died.setdefault(npc_id, event)
            elif npc_id in died and relation.status in {"alive", None}:
                death = died.pop(npc_id)
                if past.explains("dead-then-active", npc_id, death.phase, event.phase):
                    continue
                does = "is alive" if relation.status == "alive" else "takes part again"
                yield fault_between(
                    "dead-then-active",
                    f"{past.npcs[npc_id].name} dies {during(death)} and {does} {during(event)}; nothing says how",
                    death,
                    event,
                )
            elif relation.status == "undead":
                died.pop(npc_id, None)


def _injuries(story: list[Event], past: Past) -> Iterator[Fault]:
    hurt: dict[str, tuple[Event, str]] = {}
    for event in story:
        for change in event.physical:
            if change.kind == "age" or change.text is None:
                continue
            key = name_key(change.text)
            if change.present:
                if change.permanent:
                    hurt.setdefault(key, (event, change.text))
            elif key in hurt:
                injury, text = hurt.pop(key)
                if not past.explains("injury-vanished", text, injury.phase, event.phase, own=True):
                    yield fault_between(
                        "injury-vanished",
                        f"'{text}' is for good {during(injury)} and gone {during(event)}; nothing healed it",
                        injury,
                        event,
                    )


def _ages(story: list[Event], past: Past) -> Iterator[Fault]:
    oldest: tuple[int, Event] | None = None
    for event in story:
        for change in event.physical:
            if change.age is None:
                continue
            if oldest is not None and change.age < oldest[0]:
                if not past.explains("age-fell", past.protagonist, oldest[1].phase, event.phase, own=True):
                    yield fault_between(
                        "age-fell",
                        f"aged {oldest[0]} {during(oldest[1])}, then {change.age} {during(event)}",
                        oldest[1],
                        event,
                    )
                oldest = None
            if oldest is None or change.age >= oldest[0]:
                oldest = (change.age, event)


def _items(event: Event) -> Iterable[tuple[str, str]]:
    return ((change.item, change.change) for change in event.inventory)


def _skills(event: Event) -> Iterable[tuple[str, str]]:
    return ((change.skill, change.change) for change in event.skills)


def _held(
    story: list[Event],
    past: Past,
    code: Literal["item-not-held", "skill-not-had"],
    changes: Callable[[Event], Iterable[tuple[str, str]]],
    what: str,
) -> Iterator[Fault]:
    """Faults of what can be gained, used and lost.

    A thing that no event gains may have been there from the start, so that its use is no fault. One that is gained
    later in the story was not.
    """
    gained_in = {
        name_key(name): event
        for event in reversed(story)
        for name, change in changes(event)
        if change == "gained"
    }
    held: set[str] = set()
    lost: dict[str, Event] = {}
    for event in story:
        for name, change in changes(event):
            key = name_key(name)
            if change == "gained":
                held.add(key)
                lost.pop(key, None)
                continue
            done = "used" if change == "used" else "lost"
            if key in lost:
                before = lost[key]
                if not past.explains(code, name, before.phase, event.phase):
                    again = "again " if done == "lost" else ""
                    yield fault_between(
                        code,
                        f"the {what} '{name}' is lost {during(before)} and {done} {again}{during(event)}",
                        before,
                        event,
                    )
                lost.pop(key)
                held.add(key)
            elif key not in held and key in gained_in and gained_in[key] is not event:
                after = gained_in[key]
                if not past.explains(code, name, "P1", event.phase):
                    yield fault_between(
                        code,
                        f"the {what} '{name}' is {done} {during(event)}, before it is gained {during(after)}",
                        event,
                        after,
                    )
                held.add(key)
            if change == "lost":
                held.discard(key)
                lost[key] = event


def _against_log(story: list[Event], past: Past) -> Iterator[Fault]:
    """The prose against what the log says happened in an earlier phase."""
    for entry in past.log:
        if entry.kind == "death":
            yield from _log_death(entry, story, past)
        elif entry.kind == "destruction":
            key = name_key(entry.subject)
            hit = next(
                (e for e in story if e.phase > entry.phase and e.location and name_key(e.location) == key),
                None,
            )
            if hit and not past.explains("place-destroyed", entry.subject, entry.phase, hit.phase):
                yield _against(
                    entry, hit, f"{entry.subject} is destroyed {during(entry)} and stands {during(hit)}"
                )
        elif entry.kind == "loss":
            yield from _log_loss(entry, story, past)
        elif entry.kind == "injury":
            yield from _log_injury(entry, story, past)


def _against(entry: BackgroundEvent, event: Event, message: str) -> Fault:
    return fault_between("against-log", f"by the background log {message}", entry, event)


def _log_death(entry: BackgroundEvent, story: list[Event], past: Past) -> Iterator[Fault]:
    npc = past.person(entry.subject)
    if npc is None:
        return
    for event in story:
        statuses = [relation.status for relation in event.relations if relation.npc == npc.id]
        if event.phase > entry.phase and any(status in {"alive", None} for status in statuses):
            if not past.explains("dead-then-active", npc.id, entry.phase, event.phase):
                yield _against(entry, event, f"{npc.name} dies {during(entry)}, but is alive {during(event)}")
            return
        if event.phase > entry.phase and any(status in {"dead", "undead"} for status in statuses):
            return
    met = any(relation.npc == npc.id for event in story for relation in event.relations)
    if npc.status == "alive" and not met and not past.explains("dead-then-active", npc.id, entry.phase, "P3"):
        # No event shows the person, so the ledger's own word for how things stand at the end is what contradicts.
        words = npc.evidence[0].quote if npc.evidence else npc.name
        message = f"by the background log {npc.name} dies {during(entry)}, but is alive when the story ends"
        yield Fault("against-log", message, (entry.id, npc.id), (entry.phase, "P3"), (entry.text, words))


def _log_loss(entry: BackgroundEvent, story: list[Event], past: Past) -> Iterator[Fault]:
    key = name_key(entry.subject)
    for code, changes in (("item-not-held", _items), ("skill-not-had", _skills)):
        for event in story:
            found = [change for name, change in changes(event) if name_key(name) == key]
            if event.phase <= entry.phase or not found:
                continue
            if found[0] != "gained" and not past.explains(code, entry.subject, entry.phase, event.phase):
                yield _against(
                    entry,
                    event,
                    f"'{entry.subject}' is lost {during(entry)}, but is {found[0]} {during(event)}",
                )
            break


def _log_injury(entry: BackgroundEvent, story: list[Event], past: Past) -> Iterator[Fault]:
    key = name_key(entry.subject)
    for event in story:
        gone = any(
            change.text and name_key(change.text) == key and not change.present for change in event.physical
        )
        if event.phase > entry.phase and gone:
            if not past.explains("injury-vanished", entry.subject, entry.phase, event.phase, own=True):
                yield _against(
                    entry,
                    event,
                    f"there is '{entry.subject}' {during(entry)}, but no longer {during(event)}",
                )
            return


def _lore(story: list[Event], bible: "Bible") -> Iterator[Fault]:
    for event in story:
        place = bible.location(event.location)
        for practice in event.practices:
            for rule in bible.rules:
                if rule.retired or not _forbids(rule, practice.practice) or rule.openly > practice.openly:
                    continue  # a law that was repealed forbids nothing
                everywhere = not rule.places and rule.allegiance is None
                there = place is not None and (
                    place.id in rule.places
                    or (rule.allegiance is not None and place.allegiance == rule.allegiance)
                )
                if everywhere or there:
                    how = "openly " if practice.openly else ""
                    yield Fault(
                        LORE,
                        f"{practice.practice} practised {how}in {place.name if place else 'the story'} {during(event)};"
                        f" {rule.name} of {bible.name} forbids it",
                        (event.id, rule.id),
                        (event.phase, event.phase),
                        (quote_of(event), rule.text),
                    )


def _forbids(rule: "Rule", practice: str) -> bool:
    return name_key(practice) in {name_key(name) for name in (rule.practice, *rule.aliases)}
