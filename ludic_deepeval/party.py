"""What the backstories of a party share: pages in, a frozen comparison out.

Names are compared by `text.name_key`, with aliases and a Story Bible's names joined. Nothing is guessed from plots: two
threads touch when they are about the same person, side or place, or when the words of one name what the other is about.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ludic_deepeval.ledger import Tie
from ludic_deepeval.table import Happening, NoPage, Page, Person, Thread
from ludic_deepeval.text import folded, holds_name, name_key, words

Kind: TypeAlias = Literal["person", "faction", "place"]
AGAINST: Final[frozenset[Tie]] = frozenset({"enemy", "rival"})
BESIDE: Final[frozenset[Tie]] = frozenset({"ally", "family", "mentor", "lover", "patron"})

# What everybody calls somebody: two stories with a "Mother" have two mothers.
_KIN: Final = frozenset(
    "mother father mama papa mum mom dad daddy mummy parents grandmother grandfather grandma grandpa granny brother "
    "sister aunt uncle cousin son daughter wife husband master mistress madame sir lord lady boss captain "
    "母亲 父亲 妈妈 爸爸 娘 爹 哥哥 弟弟 姐姐 妹妹 爷爷 奶奶 外公 外婆 叔叔 姑姑 舅舅 师父 师傅 老板".split()
)


@dataclass(frozen=True, slots=True)
class Side:
    """What one character has to do with something shared.

    Attributes:
        who: The character.
        is_it: The character is the person that is shared.
        people: The character's people: the shared person, or those of the shared side.
        threads: The character's open threads about it or naming it, urgent ones first.
        events: What happened there or by it, if no thread is about it.
    """

    who: str
    is_it: bool = False
    people: tuple[Person, ...] = ()
    threads: tuple[Thread, ...] = ()
    events: tuple[Happening, ...] = ()


@dataclass(frozen=True, slots=True)
class Shared:
    """A person, a faction or a place in the stories of at least two characters.

    Attributes:
        kind: Which.
        name: Its name.
        certain: False when only a short name is the same, as of Nan Oxley and Nan Ebble.
        sides: What each character has to do with it.
    """

    kind: Kind
    name: str
    certain: bool
    sides: tuple[Side, ...]

    @property
    def touches(self) -> bool:
        """Whether open threads of at least two characters meet here."""
        return sum(bool(side.threads) for side in self.sides) > 1

    @property
    def urgent(self) -> int:
        """How many characters have an urgent thread here."""
        return sum(any(thread.urgent for thread in side.threads) for side in self.sides)


@dataclass(frozen=True, slots=True)
class Crossing:
    """One character's enemy or rival who is, or whose side is, on another's side.

    Attributes:
        kind: `person`: the same person; `faction`: two people of one side.
        name: The person or the faction.
        against: (character, person) for enemies and rivals.
        beside: (character, person) for allies, family, mentors, lovers and patrons.
    """

    kind: Literal["person", "faction"]
    name: str
    against: tuple[tuple[str, Person], ...]
    beside: tuple[tuple[str, Person], ...]


@dataclass(frozen=True, slots=True)
class Idle:
    """A character with nothing to do next session.

    Attributes:
        who: The character.
        ways_in: What the character shares with somebody for whom it is urgent.
    """

    who: str
    ways_in: tuple[Shared, ...]


@dataclass(frozen=True, slots=True)
class Party:
    """What a game master looks for across backstories.

    Attributes:
        characters: Each once; two stories about the same protagonist are one character's.
        shared: People first, then factions, then places; within a kind, what is urgent for most first.
        crossings: Whose enemy is whose friend.
        idle: Who has nothing to do next session.
        missing: Stories that are not in the comparison.
    """

    characters: tuple[str, ...]
    shared: tuple[Shared, ...]
    crossings: tuple[Crossing, ...]
    idle: tuple[Idle, ...]
    missing: tuple[NoPage, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is brought to the table.

    Attributes:
        pages: One for each story, in order.
        party: What they share; None with fewer than two characters that can be read.
    """

    pages: tuple[Page | NoPage, ...]
    party: Party | None


@dataclass(frozen=True, slots=True)
class _Character:
    """A protagonist with all stories about it.

    Attributes:
        key: The name as names are compared.
        pages: The stories.
        written: The words of every open thread, folded, to look for a name in.
    """

    key: str
    pages: tuple[Page, ...]
    written: str

    @property
    def name(self) -> str:
        return self.pages[0].protagonist


@dataclass(frozen=True, slots=True)
class _Mention:
    """One story's entry for something that other stories may have too."""

    character: str
    names: tuple[str, ...]
    keys: frozenset[str]
    people: tuple[Person, ...] = ()
    is_it: bool = False

    @property
    def name(self) -> str:
        return self.names[0]


def make_sheet(pages: Iterable[Page | NoPage]) -> Sheet:
    """Put pages together, with what they share."""
    every = tuple(pages)
    by_key: dict[str, list[Page]] = {}
    for page in every:
        if isinstance(page, Page):
            by_key.setdefault(name_key(page.protagonist) or page.protagonist, []).append(page)
    characters = [
        _Character(key, tuple(own), "\n".join(folded(text) for page in own for text in _texts(page)))
        for key, own in by_key.items()
    ]
    if len(characters) < 2:
        return Sheet(every, None)
    missing = tuple(page for page in every if isinstance(page, NoPage))
    return Sheet(every, _party(characters, missing))


def _texts(page: Page) -> Iterator[str]:
    for thread in page.threads:
        yield thread.text
        if thread.words:
            yield thread.words.quote


def _party(characters: list[_Character], missing: tuple[NoPage, ...]) -> Party:
    mentions: dict[Kind, list[_Mention]] = {
        "person": list(_people(characters)),
        "faction": list(_factions(characters)),
        "place": list(_places(characters)),
    }
    shared = [
        found
        for kind, entries in mentions.items()
        for group in _joined(entries)
        if (found := _shared(kind, group, characters)) is not None
    ]
    rank = {kind: number for number, kind in enumerate(mentions)}
    shared.sort(key=lambda item: (rank[item.kind], not item.certain, -item.urgent, -len(item.sides)))
    return Party(
        tuple(character.name for character in characters),
        tuple(shared),
        tuple(_crossings(mentions, {character.key: character.name for character in characters})),
        tuple(_idle(characters, shared)),
        missing,
    )


# What might be shared


def _people(characters: list[_Character]) -> Iterator[_Mention]:
    for character in characters:
        yield _Mention(character.key, (character.name,), frozenset({character.key}), is_it=True)
        for person in (person for page in character.pages for person in page.people):
            names = {name_key(name) for name in person.names if _is_name(name)}
            first = name_key(person.name)
            if _is_long(first) and first not in _KIN:  # whatever its case
                names.add(first)
            if keys := frozenset(names - {""}):
                yield _Mention(character.key, person.names, keys, (person,))


def _factions(characters: list[_Character]) -> Iterator[_Mention]:
    for character in characters:
        for page in character.pages:
            for person in page.people:
                if person.faction:
                    yield _Mention(character.key, person.faction.names, person.faction.keys, (person,))
            for event in page.events:
                for faction in event.factions:
                    yield _Mention(character.key, faction.names, faction.keys)


def _places(characters: list[_Character]) -> Iterator[_Mention]:
    for character in characters:
        for page in character.pages:
            for place in (
                *(thread.place for thread in page.threads),
                *(event.place for event in page.events),
            ):
                if place:
                    yield _Mention(character.key, place.names, place.keys)


def _is_name(name: str) -> bool:
    """Whether a name is one: "the usher" and "Mother" describe somebody, in another story somebody else."""
    if name_key(name) in _KIN:
        return False
    return any(char.isupper() or (char.isalpha() and char.lower() == char.upper()) for char in name)


def _joined(mentions: Iterable[_Mention]) -> list[list[_Mention]]:
    """Put together what has a name in common, however many names it takes to get there."""
    groups: dict[int, tuple[list[_Mention], set[str]]] = {}
    owner: dict[str, int] = {}
    for number, mention in enumerate(mentions):
        members, keys = [mention], set(mention.keys)
        for found in sorted({owner[key] for key in mention.keys if key in owner}, reverse=True):
            older, more = groups.pop(found)
            members, keys = older + members, keys | more
        groups[number] = (members, keys)
        owner.update(dict.fromkeys(keys, number))
    return [members for members, _ in groups.values()]


# What is shared


def _shared(kind: Kind, group: list[_Mention], characters: list[_Character]) -> Shared | None:
    written = dict.fromkeys(name for mention in group for name in mention.names if _is_name(name))
    # Of people, only names that hardly two would have are looked for in a thread's words.
    names = [name for name in written if kind != "person" or _is_long(name_key(name))]
    keys = frozenset[str]().union(*(mention.keys for mention in group))
    sides = [
        side
        for character in characters
        if (side := _side(kind, [m for m in group if m.character == character.key], character, names, keys))
    ]
    if len(sides) < 2:
        return None
    return Shared(kind, group[0].name, kind != "person" or _is_certain(group), tuple(sides))


def _side(
    kind: Kind, mine: list[_Mention], character: _Character, names: list[str], keys: frozenset[str]
) -> Side | None:
    """One character's side of it, or None."""
    people = tuple(dict.fromkeys(person for mention in mine for person in mention.people))
    named = [name for name in names if holds_name(character.written, name)]
    if not (mine or named):
        return None

    def is_about(thread: Thread) -> bool:
        if kind == "place" and thread.place and thread.place.keys & keys:
            return True
        if kind != "place" and thread.person in people:
            return True
        return any(_names(thread, name) for name in named)

    def is_of(event: Happening) -> bool:
        if kind == "place":
            return bool(event.place and event.place.keys & keys)
        return kind == "faction" and any(faction.keys & keys for faction in event.factions)

    threads = [thread for page in character.pages for thread in page.threads if is_about(thread)]
    events = [event for page in character.pages for event in page.events if is_of(event)]
    return Side(
        character.name,
        any(mention.is_it for mention in mine),
        people,
        tuple(sorted(threads, key=lambda thread: thread.tier)),
        () if threads else tuple(events),
    )


def _names(thread: Thread, name: str) -> bool:
    return holds_name(thread.text, name) or (
        thread.words is not None and holds_name(thread.words.quote, name)
    )


def _is_long(key: str) -> bool:
    """Whether a name is more than a given name: two words, or two Chinese characters."""
    return len(words(key)) > 1


def _is_certain(group: list[_Mention]) -> bool:
    """Whether every two stories agree on a full name, or call the person by the same name first of all."""
    return all(
        (_is_name(one.name) or _is_name(other.name))
        and (name_key(one.name) == name_key(other.name) or any(map(_is_long, one.keys & other.keys)))
        for at, one in enumerate(group)
        for other in group[at + 1 :]
        if one.character != other.character
    )


def _crossings(mentions: dict[Kind, list[_Mention]], names: dict[str, str]) -> Iterator[Crossing]:
    told: list[tuple[object, object]] = []
    for kind in ("person", "faction"):
        for group in _joined(mentions[kind]):
            found = _crossing(kind, group, names) if kind == "faction" or _is_certain(group) else None
            # The same two people need no second line for being of one side.
            if found and (found.against, found.beside) not in told:
                told.append((found.against, found.beside))
                yield found


def _crossing(
    kind: Literal["person", "faction"], group: list[_Mention], names: dict[str, str]
) -> Crossing | None:
    living = [(m.character, person) for m in group for person in m.people if person.status != "dead"]
    foes = [(who, person) for who, person in living if person.tie in AGAINST]
    friends = [(who, person) for who, person in living if person.tie in BESIDE]
    # An enemy and a friend of one character are that story's own affair.
    foes = [(who, foe) for who, foe in foes if any(who != other for other, _ in friends)]
    friends = [(who, friend) for who, friend in friends if any(who != other for other, _ in foes)]
    if not (foes and friends):
        return None
    return Crossing(
        kind,
        group[0].name,
        tuple((names[who], foe) for who, foe in foes),
        tuple((names[who], friend) for who, friend in friends),
    )


def _idle(characters: list[_Character], shared: list[Shared]) -> Iterator[Idle]:
    for character in characters:
        if all(page.idle for page in character.pages):
            ways = (
                item
                for item in shared
                if item.urgent and any(side.who == character.name for side in item.sides)
            )
            yield Idle(character.name, tuple(ways))
