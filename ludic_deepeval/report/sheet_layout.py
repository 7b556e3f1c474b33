"""What stands on a sheet for the table, in which words and in which order; how it is printed is `as_sheet`'s business."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from ludic_deepeval.errors import clean
from ludic_deepeval.ledger import Tie, Tier
from ludic_deepeval.party import Crossing, Idle, Party, Shared, Side
from ludic_deepeval.report.columns import apart
from ludic_deepeval.table import Happening, Named, Page, Person, Said, Thread, Words

TITLE: Final = "At the table"
PAGE_LINES: Final = 26
PARTY_LINES: Final = 45
TIE_SAID: Final[dict[Tie, str]] = {
    "enemy": "is an enemy",
    "rival": "is a rival",
    "ally": "is an ally",
    "family": "is family",
    "mentor": "is a teacher",
    "lover": "is a lover",
    "debtor": "owes a debt",
    "creditor": "is owed a debt",
    "patron": "is a patron",
    "other": "is involved",
}
TIER_SAID: Final[dict[Tier, str]] = {1: "urgent", 2: "to explore", 3: "in the background"}
_LIMIT: Final = 240


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing on the sheet.

    Attributes:
        lead: What stands before it, such as its number.
        text: What it is.
        under: Short lines below it: where it stands in the prose, or each character's side.
        tight: Whether the line below may be cut to what is left of the line above.
        name: What to call it where it does not fit on the page.
    """

    lead: str
    text: str
    under: tuple[str, ...] = ()
    tight: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands under it.

    Attributes:
        title: The heading.
        entries: What there is, most urgent first.
        nothing: What to say when there is nothing; "" leaves the section out.
        keep: How many entries stay, however full the page is.
        run_on: Whether the entries stand in one paragraph.
        left: What did not fit on the page.
    """

    title: str
    entries: tuple[Entry, ...]
    nothing: str = ""
    keep: int = 2
    run_on: bool = False
    left: tuple[Entry, ...] = ()


# What is said


def safe(text: str, limit: int = _LIMIT) -> str:
    """Hostile text fit for one line, and for its neighbours if it runs from right to left."""
    return apart(clean(text, limit=limit))


def _where(words: Words | None) -> tuple[str, ...]:
    return (f"line {words.line}: “{safe(words.quote)}”",) if words else ()


def _aside(*parts: str) -> str:
    said = "; ".join(part for part in parts if part)
    return f" ({said})" if said else ""


def _with(text: str, *parts: str) -> str:
    """A sentence with an aside, its full stop left out."""
    aside = _aside(*parts)
    return safe(text.rstrip(".。") if aside else text) + aside


def _name(named: Named | None) -> str:
    return safe(named.name, 200) if named else ""


def _status(person: Person) -> str:
    """What of a status makes a game master think twice."""
    return "" if person.status in {"alive", "unknown"} else person.status


def _tied(person: Person) -> str:
    """What a person is, in words: "is family, missing"."""
    return ", ".join(filter(None, (TIE_SAID[person.tie], _status(person))))


def page_sections(page: Page) -> tuple[Section, ...]:
    """Lay out one character's page."""
    urgent = [_thread(thread) for thread in page.urgent]
    under_way = [_happening(event) for event in page.pressing if event.thread is None]
    later = [
        _thread(thread, TIER_SAID[3] if thread.tier == 3 else "")
        for thread in page.threads
        if not thread.urgent
    ]
    return (
        Section("Pursues", tuple(Entry("-", safe(goal.text)) for goal in page.goals), "nothing", run_on=True),
        Section(
            "Next session",
            (*urgent, *under_way),
            "nothing; no thread is urgent, and no event is at the door",
            keep=4,
        ),
        Section("Other open threads", tuple(later), "" if urgent else "none", keep=1),
        Section("People with unfinished business", tuple(map(_person, page.wanting)), "nobody", keep=3),
        Section("Left unexplained", tuple(map(_unexplained, page.unexplained)), "nothing"),
    )


def _thread(thread: Thread, tier: str = "") -> Entry:
    person = thread.person
    about = ", ".join(filter(None, (safe(person.name, 200), _status(person)))) if person else ""
    text = _with(thread.text, about, _name(thread.place), tier)
    return Entry(f"{thread.number}.", text, _where(thread.words))


def _happening(event: Happening) -> Entry:
    claim = f"as {safe(event.claim_of, 200)} tells it" if event.claim_of else ""
    return Entry("-", _with(event.text, claim, _name(event.place)), _where(event.words))


def _person(person: Person) -> Entry:
    text = f"{safe(person.name, 200)}{_aside(_name(person.faction))} {_tied(person)}"
    if person.threads:
        text += f": {_numbers(person.threads)}"
    # A thread has its own quote; without one, the person's is all there is.
    return Entry("-", text, _where(person.words), tight=bool(person.threads), name=safe(person.name, 80))


def _numbers(threads: tuple[int, ...]) -> str:
    *firsts, last = map(str, threads)
    return f"threads {', '.join(firsts)} and {last}" if firsts else f"thread {last}"


def _unexplained(said: Said) -> Entry:
    """A mystery is its words; they are not said twice."""
    if said.words and said.text in said.words.quote:
        return Entry("-", f"line {said.words.line}: “{safe(said.words.quote)}”")
    return Entry("-", safe(said.text), _where(said.words))


def party_sections(party: Party) -> tuple[Section, ...]:
    """Lay out what a party shares."""
    meeting = [item for item in party.shared if item.kind == "person" or item.touches]
    others = [item for item in party.shared if item not in meeting]
    return (
        Section(
            "Where the stories meet",
            tuple(_meetings(meeting)),
            "nowhere; no two threads touch by name",
            keep=4,
        ),
        Section("Also in more than one story", tuple(map(_briefly, others))),
        Section("Enemy of one, friend of another", tuple(map(_crossing, party.crossings))),
        Section("Nothing to do next session", tuple(map(_idle, party.idle)), "nobody"),
        Section(
            "Not read, so not compared",
            tuple(Entry("-", safe(page.title, 200)) for page in party.missing),
            run_on=True,
        ),
    )


def _meetings(items: list[Shared]) -> Iterator[Entry]:
    """An entry for each, but one for a side and a place where the very same threads meet."""
    alike: dict[object, list[Shared]] = {}
    for item in items:
        threads = tuple((side.who, side.threads[0].id if side.threads else None) for side in item.sides)
        alike.setdefault(item.name if item.kind == "person" else threads, []).append(item)
    for first, *others in alike.values():
        entry = _shared(first)
        yield replace(entry, text=", ".join((entry.text, *(safe(item.name, 200) for item in others))))


def _shared(item: Shared) -> Entry:
    title = safe(item.name, 200)
    if not item.certain:
        names = dict.fromkeys(safe(p.name, 200) for side in item.sides for p in side.people)
        title = f"{' or '.join(names) or title}: perhaps the same person"
    return Entry("-", title, tuple(_side(side, item) for side in item.sides))


def _side(side: Side, item: Shared) -> str:
    """One character's side: "Mab Corrigle: Uthmar Zeel is owed a debt; 1. The paper falls due (urgent)"."""
    said = []
    if side.is_it:
        said.append("is this character")
    elif item.kind == "person":
        said += [_tied(person) for person in side.people[:1]]
    else:
        said += list(dict.fromkeys(f"{safe(p.name, 200)} {_tied(p)}" for p in side.people))[:2]
    if side.threads:
        said.append(_most_urgent(side))
    if not said:
        said = [_with(event.text, "past") for event in side.events[:1]] or ["in the story"]
    return f"{safe(side.who, 200)}: {'; '.join(said)}"


def _most_urgent(side: Side) -> str:
    first = side.threads[0]
    more = f"; {len(side.threads) - 1} more" if len(side.threads) > 1 else ""
    return f"{first.number}. {_with(first.text, TIER_SAID[first.tier])}{more}"


def _briefly(item: Shared) -> Entry:
    return Entry("-", f"{safe(item.name, 200)}: {', '.join(safe(side.who, 200) for side in item.sides)}")


def _crossing(item: Crossing) -> Entry:
    def said(pairs: tuple[tuple[str, Person], ...]) -> str:
        return ", ".join(
            f"{safe(p.name, 200) + ' ' if item.kind == 'faction' else ''}{_tied(p)} of {safe(who, 200)}"
            for who, p in pairs
        )

    return Entry("-", f"{safe(item.name, 200)}: {said(item.against)}; {said(item.beside)}")


def _idle(item: Idle) -> Entry:
    if not item.ways_in:
        return Entry("-", safe(item.who, 200))
    ways = ", ".join(safe(way.name, 200) for way in item.ways_in[:4])
    return Entry("-", f"{safe(item.who, 200)}. A way in, where it is urgent for somebody else: {ways}")


# Fitting a page


def fitted(
    sections: tuple[Section, ...], lines: Callable[[Section], list[str]], room: int
) -> tuple[Section, ...]:
    """Leave out the last entries of the longest sections until the page has at most `room` lines.

    A section keeps its first `keep` entries even so. Of two as long, the later one is cut.
    """
    kept = list(sections)
    lengths = [len(lines(section)) for section in kept]
    while sum(lengths) > room:
        giving = [at for at, section in enumerate(kept) if len(section.entries) > section.keep]
        if not giving:
            break
        at = max(giving, key=lambda index: (lengths[index], index))
        *entries, last = kept[at].entries
        kept[at] = replace(kept[at], entries=tuple(entries), left=(last, *kept[at].left))
        lengths[at] = len(lines(kept[at]))
    return tuple(kept)
