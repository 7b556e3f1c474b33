"""Backstories of one shape and different words: six people, five hooks, four goals, three mysteries, four events.

They are written through the project's own mark sheets and lockfiles. What each one scores was worked out by hand:

    RTN = 0.7 · 3/3 + 0.3 · (3·1.0 + 0.6 + 0.2)/5 = 0.928     MV = 4/4     UCR = 3/5     TH = 3/3
    LPI = 0.4 · 0.928 + 0.3 · 1 + 0.2 · 0.6 + 0.1 · 1 = 0.8912
    PCV = 15 + 80 + 76 + 58/2 = 200; the last three share a gravity band, and the weakest of them counts half
"""

import random
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from ludic_deepeval.lockfile import Lockfile, write_lockfile
from ludic_deepeval.marks import lock_sheet
from ludic_deepeval.sources import read_story

LPI: Final = Fraction("0.8912")
PCV: Final = 200

_FIRST: Final = (
    "Bram",
    "Corva",
    "Dorrit",
    "Edda",
    "Fenn",
    "Greet",
    "Hob",
    "Imke",
    "Joss",
    "Kester",
    "Lies",
    "Maude",
)
_HEADS: Final = (
    "Ash",
    "Black",
    "Cold",
    "Drift",
    "Elder",
    "Frost",
    "Glass",
    "Hollow",
    "Iron",
    "Lantern",
    "Marsh",
    "Salt",
)
_TAILS: Final = (
    "acre",
    "bottom",
    "croft",
    "dyke",
    "ford",
    "gate",
    "holm",
    "mere",
    "more",
    "stead",
    "water",
    "wick",
)
_TRADES: Final = (
    "brewery",
    "chandlery",
    "dye works",
    "ferry house",
    "foundry",
    "granary",
    "paper mill",
    "tannery",
)
_THINGS: Final = (
    "account book",
    "bell rope",
    "brass key",
    "burial list",
    "ledger",
    "oar",
    "ring",
    "tide table",
)
_CRAFTS: Final = (
    "bind a book",
    "count fares",
    "mend a net",
    "pick a lock",
    "read the weather",
    "splice a rope",
)


def _sentences(people: list[str], hero: str, town: str, rng: random.Random) -> dict[str, str]:
    """The sentences of one story by a word for each; every one of them is a quote of its sheet."""
    trade, thing, craft = rng.choice(_TRADES), rng.choice(_THINGS), rng.choice(_CRAFTS)
    age, dead, years = rng.randint(9, 17), rng.randint(11, 48), rng.randint(3, 12)
    father, master, clerk, friend, lender, rival = people
    return {
        "born": f"{hero} was born above the {trade} in {town} in a winter when the river froze to its bed",
        "father": f"Her father, {father}, taught her to {craft} before she could read",
        "fire": f"When she was {age} the {trade} burned for two nights with {dead} people in it",
        "missing": f"{father} was not among those they carried out, and neither was the {thing}",
        "bell": f"Somebody at the {trade} had paid for the bell not to ring, and {years} winters on nobody says who",
        "master": f"The harbour master, {master}, signed for the ashes and offered her a bed",
        "clerk": f"His clerk, {clerk}, keeps a second {thing} and has never said for whom",
        "friend": f"{friend} brought her bread for {years} years and would take nothing for it",
        "lender": f"She owes the price of a boat to {lender}, who has begun to ask about it politely",
        "rival": f"{rival} swam for the same prize at the regatta and lost it to her by a hand",
        "window": "Every autumn a lamp burns in the window of the room that is no longer there",
        "copies": f"In {years} years she has copied out the pages that matter, and she hides them under the {trade} stairs",
        "judge": f"She means to lay them before the judge who comes to {town} after the thaw",
        "search": f"She is asking every boatman on the river where {father} was seen last",
        "debt": f"She is working off the boat one night at a time in {lender}'s yard",
        "dive": f"She dives at slack water for whatever holds the {thing} down",
        "note": f"This morning a wet note in her father's hand lay on the counter of the {trade}",
        "boat": f"Before noon {master} booked the last boat of the year for two",
        "voice": "Something called her by her childish name across the ice. It was not a man, and it wasn't a bird",
    }


_PARAGRAPHS: Final = (
    ("born", "father"),
    ("fire", "missing", "bell"),
    ("master", "clerk", "friend", "lender", "rival"),
    ("window", "copies", "judge", "search", "debt", "dive"),
    ("note", "boat", "voice"),
)


def _sheet(said: dict[str, str], people: list[str], hero: str) -> dict[str, Any]:
    father, master, clerk, friend, lender, rival = people

    def person(name: str, key: str, tie: str, status: str = "alive") -> dict[str, Any]:
        return {"name": name, "quote": said[key], "tie": tie, "status": status, "unresolved": True, "id": key}

    def hook(text: str, key: str, tier: int, npc: str) -> dict[str, Any]:
        return {"text": text, "quote": said[key], "tier": tier, "npc": npc}

    def event(key: str, phase: str, summary: str, dimensions: tuple[int, int, int, int]) -> dict[str, Any]:
        names = ("immediacy", "gravity", "linkage", "divergence")
        return {"id": f"the-{key}", "phase": phase, "summary": summary, "quote": said[key]} | dict(
            zip(names, dimensions, strict=True)
        )

    return {
        "sheet": 1,
        "protagonist": hero,
        "people": [
            person(father, "father", "family", "missing"),
            person(master, "master", "enemy"),
            person(clerk, "clerk", "other"),
            person(friend, "friend", "ally"),
            person(lender, "lender", "creditor"),
            person(rival, "rival", "rival"),
        ],
        "hooks": [
            hook("her father is missing and has left a warning", "missing", 1, "father"),
            hook(f"{master} has booked the last boat for two", "boat", 1, "master"),
            hook(f"somebody reads what {clerk} writes", "clerk", 1, "clerk"),
            hook(f"{lender} wants the boat or its price", "lender", 2, "lender"),
            hook(f"{rival} has not forgotten the regatta", "rival", 3, "rival"),
        ],
        "goals": [
            {"text": "lay the copies before the judge", "quote": said["judge"]},
            {"text": f"find where {father} was seen last", "quote": said["search"]},
            {"text": f"work off what {lender} is owed", "quote": said["debt"]},
            {"text": "dive for what was sunk", "quote": said["dive"]},
        ],
        "mysteries": [
            {"quote": said["bell"], "thematic_hole": True},
            {"quote": said["window"], "thematic_hole": True},
            {"quote": said["voice"]},
        ],
        "events": [
            event("born", "P1", "she is born above the works in a hard winter", (1, 2, 2, 1)),
            event("fire", "P2", f"the works burn, and {father} is not found", (5, 7, 4, 6)),
            event("note", "P3", "a note from her missing father lies on the counter", (9, 8, 4, 8)),
            event("boat", "P3", f"{master} prepares to leave before the thaw", (10, 6, 5, 7)),
        ],
    }


def _surname(number: int) -> str:
    return _HEADS[number % 12] + _TAILS[number // 12 % 12]


def write_story(folder: Path, number: int) -> tuple[Path, Lockfile]:
    """Write story `number` and its lockfile into a folder; return its path and what the lockfile holds."""
    rng = random.Random(number)  # noqa: S311  # the same story for the same number
    firsts = rng.sample(_FIRST, 7)
    numbers = rng.sample(range(144), 8)
    hero, *people = (f"{first} {_surname(at)}" for first, at in zip(firsts, numbers[:7], strict=True))
    said = _sentences(people, hero, _surname(numbers[7]), rng)
    body = "\n\n".join(" ".join(f"{said[key]}." for key in keys) for keys in _PARAGRAPHS)
    path = folder / f"story-{number:04}.md"
    path.write_text(
        f"---\nid: story-{number:04}\ntitle: The return of {hero}\n---\n\n{body}\n", encoding="utf-8"
    )
    story = read_story(path)
    lock = lock_sheet(_sheet(said, people, hero), story, path)
    write_lockfile(lock, story.lockfile)
    return path, lock
