"""A page for the table: what of a backstory can be played next. A story and its ledger in, a frozen page out.

What is over does not appear: closed hooks, and the dead among those who want something. Quotes come with the line of
the stored file. What several pages share is worked out in `party`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ludic_deepeval.ledger import Event, Extracted, FactLedger, Hook, Npc, Status, Tie, Tier
from ludic_deepeval.sources import Story
from ludic_deepeval.text import Prose, folded, name_key

if TYPE_CHECKING:
    from ludic_deepeval.bible import Bible

PRESSES: Final = 7
"""The least immediacy (1 to 10) of an event that cannot wait for the session after next."""


@dataclass(frozen=True, slots=True)
class Words:
    """Words of the prose.

    Attributes:
        line: Where they begin in the stored file, from 1.
        quote: The words on one line.
    """

    line: int
    quote: str


@dataclass(frozen=True, slots=True)
class Named:
    """A place or a faction.

    Attributes:
        names: What to call it, then what else it is called: the Story Bible's names where it has some.
        keys: The same and ids, as names are compared (`text.name_key`).
    """

    names: tuple[str, ...]
    keys: frozenset[str]

    @property
    def name(self) -> str:
        """What to call it."""
        return self.names[0]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody tied to the character.

    Attributes:
        id: In the ledger.
        names: The name, then every alias.
        tie: What the person is to the character.
        status: alive, dead, missing, undead or unknown.
        faction: Whose side the person is on, if anybody's.
        wants: Whether something is unfinished with the person, who is not dead.
        threads: The numbers of the open threads that are about the person.
        words: Where the prose names the person.
    """

    id: str
    names: tuple[str, ...]
    tie: Tie
    status: Status
    faction: Named | None
    wants: bool
    threads: tuple[int, ...]
    words: Words | None

    @property
    def name(self) -> str:
        """What to call the person."""
        return self.names[0]


@dataclass(frozen=True, slots=True)
class Thread:
    """An open hook.

    Attributes:
        number: Its number on the page, from 1; urgent ones first.
        id: In the ledger.
        text: What it is.
        tier: 1 could open the next scene, 2 wants exploring, 3 is in the background.
        person: Whom it is about, if anybody.
        place: Where, if it says.
        words: What it rests on.
    """

    number: int
    id: str
    text: str
    tier: Tier
    person: Person | None
    place: Named | None
    words: Words | None

    @property
    def urgent(self) -> bool:
        """Whether it could open the next scene."""
        return self.tier == 1


@dataclass(frozen=True, slots=True)
class Happening:
    """An event.

    Attributes:
        id: In the ledger.
        text: What happened.
        immediacy: 1 to 10; None when nobody has marked it.
        claim_of: Whose claim, rumour or memory it is, if it is one.
        people: The ids of those who take part.
        place: Where.
        factions: Whose affair it is.
        thread: The number of the urgent thread about one of its people, which says what comes of it.
        words: What it rests on.
    """

    id: str
    text: str
    immediacy: int | None
    claim_of: str | None
    people: tuple[str, ...]
    place: Named | None
    factions: tuple[Named, ...]
    thread: int | None
    words: Words | None

    @property
    def presses(self) -> bool:
        """Whether it cannot wait for the session after next."""
        return self.immediacy is not None and self.immediacy >= PRESSES


@dataclass(frozen=True, slots=True)
class Said:
    """A goal, or something left unexplained."""

    id: str
    text: str
    words: Words | None


@dataclass(frozen=True, slots=True)
class Page:
    """What a character brings to the table.

    Attributes:
        path: The story's file.
        id: Its id.
        title: Its title, or its id.
        protagonist: The character.
        threads: Open threads, urgent ones first, then those to explore, then the background.
        people: Everybody in the ledger, the dead too; `wanting` has those who want something.
        events: By immediacy, highest first; those as immediate as each other by gravity.
        goals: What the character pursues.
        unexplained: What the story leaves unexplained.
    """

    path: Path
    id: str
    title: str
    protagonist: str
    threads: tuple[Thread, ...]
    people: tuple[Person, ...]
    events: tuple[Happening, ...]
    goals: tuple[Said, ...]
    unexplained: tuple[Said, ...]

    @property
    def urgent(self) -> tuple[Thread, ...]:
        """The threads that could open the next scene."""
        return tuple(thread for thread in self.threads if thread.urgent)

    @property
    def pressing(self) -> tuple[Happening, ...]:
        """The events that cannot wait."""
        return tuple(event for event in self.events if event.presses)

    @property
    def idle(self) -> bool:
        """Whether the character has nothing to do next session unless somebody finds it."""
        return not (self.urgent or self.pressing)

    @property
    def wanting(self) -> tuple[Person, ...]:
        """Who wants something of the character; those of the most urgent threads first."""
        last = len(self.threads) + 1
        return tuple(
            sorted(
                (person for person in self.people if person.wants),
                key=lambda person: person.threads[0] if person.threads else last,
            )
        )


@dataclass(frozen=True, slots=True)
class NoPage:
    """A story without a page: nobody has read it, or not as it stands now.

    Attributes:
        path: The story's file.
        id: Its id.
        title: Its title, or its id.
        reason: Why, and what to do.
    """

    path: Path
    id: str
    title: str
    reason: str


def page_of(story: Story, ledger: FactLedger, bible: "Bible | None" = None) -> Page:
    """Lay out one character's page.

    Args:
        story: The story, for its lines.
        ledger: A reading of it as it stands.
        bible: Gives factions and places their names, and joins what they are called.
    """
    hooks = sorted((hook for hook in ledger.hooks if hook.open), key=lambda hook: hook.tier)
    people = {npc.id: _person(npc, hooks, story.prose, bible) for npc in ledger.npcs}
    urgent_of = {hook.npc: number for number, hook in reversed(_numbered(hooks)) if hook.tier == 1}
    events = sorted(ledger.events, key=lambda event: (-(event.immediacy or 0), -(event.gravity or 0)))
    return Page(
        path=story.path,
        id=story.id,
        title=story.front.title or story.id,
        protagonist=ledger.protagonist,
        threads=tuple(
            Thread(
                number,
                hook.id,
                _line(hook.text),
                hook.tier,
                people[hook.npc] if hook.npc else None,
                _named(hook.location, bible),
                _words(hook, story.prose),
            )
            for number, hook in _numbered(hooks)
        ),
        people=tuple(people.values()),
        events=tuple(_happening(event, urgent_of, story.prose, bible) for event in events),
        goals=tuple(
            Said(goal.id, _line(goal.text), _words(goal, story.prose))
            for goal in ledger.goals
            if goal.proactive
        ),
        unexplained=tuple(
            Said(mystery.id, _line(mystery.text), _words(mystery, story.prose))
            for mystery in ledger.mysteries
        ),
    )


def _numbered(hooks: list[Hook]) -> list[tuple[int, Hook]]:
    return list(enumerate(hooks, 1))


def _person(npc: Npc, hooks: list[Hook], prose: Prose, bible: "Bible | None") -> Person:
    return Person(
        npc.id,
        tuple(map(_line, npc.names)),
        npc.tie,
        npc.status,
        _named(npc.faction, bible),
        npc.unresolved and npc.status != "dead",
        tuple(number for number, hook in _numbered(hooks) if hook.npc == npc.id),
        _words(npc, prose),
    )


def _happening(
    event: Event, urgent_of: dict[str | None, int], prose: Prose, bible: "Bible | None"
) -> Happening:
    people = tuple(relation.npc for relation in event.relations)
    return Happening(
        event.id,
        _line(event.summary),
        event.immediacy,
        event.asserted_by,
        people,
        _named(event.location, bible),
        tuple(_all_named(event.factions, bible)),
        next((urgent_of[person] for person in people if person in urgent_of), None),
        _words(event, prose),
    )


def _named(given: str | None, bible: "Bible | None") -> Named | None:
    return next(_all_named((given,) if given else (), bible), None)


def _all_named(given: tuple[str, ...], bible: "Bible | None") -> Iterator[Named]:
    for name in given:
        found = bible.find(name) if bible else None
        names = found[1].names if found else (name,)
        known_as = (name, *names, *((found[1].id,) if found else ()))
        yield Named(tuple(map(_line, names)), frozenset(filter(None, map(name_key, known_as))))


def _words(item: Extracted, prose: Prose) -> Words | None:
    if not item.evidence:
        return None
    return Words(prose.place(item.evidence[0].start).line, _line(item.evidence[0].quote))


def _line(text: str) -> str:
    """Text on one line; between Chinese characters a line break was no space."""
    return " ".join(text.split()) if text.isascii() else _unbroken(text)


def _unbroken(text: str) -> str:
    parts = text.split()
    line = parts[0] if parts else ""
    for part in parts[1:]:
        apart = " " in folded(f"{line[-1]} {part[0]}")
        line += f" {part}" if apart else part
    return line
