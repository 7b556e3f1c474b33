"""What marks come to: every mark that is not right with why, and the verdict on the rest. Nothing here touches a file."""

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from ludic_deepeval.advice import cheapest_fixes
from ludic_deepeval.check import Checker, in_order
from ludic_deepeval.errors import InputError
from ludic_deepeval.findings import Finding, Placer
from ludic_deepeval.judging import Reading, graded, judge
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.marks import SECTIONS, lock_sheet
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.report.as_text import details, score_text
from ludic_deepeval.report.margin import inventory
from ludic_deepeval.scoring import decimal
from ludic_deepeval.sources import Story
from ludic_deepeval.text import name_key
from ludic_deepeval.web.questions import LABELS

NOBODY: Final = "the protagonist"
_WHERE: Final = re.compile(r"(people|hooks|goals|mysteries|events)\[(\d+)\]\.?(.*)")

Sheet = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a mark cannot be counted.

    Attributes:
        section: A key of `SECTIONS`, or "protagonist".
        index: Which of its items.
        line: What to tell its reader.
    """

    section: str
    index: int
    line: str


@dataclass(frozen=True, slots=True)
class Sifted:
    """Marks that are right as a ledger, and those that are not.

    Attributes:
        ledger: What is right.
        places: For each section, which item of the sheet each item of the ledger was.
        troubles: What is not.
    """

    ledger: FactLedger
    places: dict[str, list[int]]
    troubles: tuple[Trouble, ...]


def sift(sheet: Sheet, story: Story) -> Sifted:
    """Read a mark sheet, setting aside each item that the ledger would refuse.

    Raises:
        InputError: The sheet as a whole cannot be read.
    """
    troubles: list[Trouble] = []
    trial: Sheet = {"sheet": 1, **sheet}
    who = trial.get("protagonist")
    if not isinstance(who, str) or not who.strip():
        troubles.append(Trouble("protagonist", 0, "Give the protagonist a name."))
        trial["protagonist"] = NOBODY
    places = {
        section: list(range(len(sheet[section]))) if isinstance(sheet.get(section), list) else []
        for section in SECTIONS
    }
    while True:
        for section, kept in places.items():
            if isinstance(sheet.get(section), list):
                trial[section] = [sheet[section][index] for index in kept]
        trial |= _without_strangers(trial, sheet)
        try:
            ledger = lock_sheet(trial, story, story.sheet.name).ledger
        except InputError as error:
            place = _WHERE.match(error.where)
            if not place or int(place.group(2)) >= len(places[place.group(1)]):
                raise
            section, field = place.group(1), place.group(3)
            index = places[section].pop(int(place.group(2)))
            troubles.append(Trouble(section, index, _plain_line(error, section, field)))
        else:
            order = ["protagonist", *SECTIONS]
            troubles.sort(key=lambda trouble: (order.index(trouble.section), trouble.index))
            return Sifted(ledger, places, tuple(troubles))


def _without_strangers(trial: Sheet, sheet: Sheet) -> Sheet:
    """The hooks and events without those people who are set aside, whose fault is told once and not at each of them."""
    aside = {
        name_key(name)
        for person in sheet.get("people") or ()
        if isinstance(person, dict) and person not in (trial.get("people") or ())
        for name in (person.get("id"), person.get("name"))
        if isinstance(name, str)
    }
    if not aside:
        return {}

    def known(holder: object) -> bool:
        return not (
            isinstance(holder, dict)
            and isinstance(holder.get("npc"), str)
            and name_key(holder["npc"]) in aside
        )

    hooks = [
        hook if known(hook) else {key: value for key, value in hook.items() if key != "npc"}
        for hook in trial.get("hooks") or ()
    ]
    events = [
        event | {"relations": [relation for relation in event["relations"] if known(relation)]}
        if isinstance(event, dict) and isinstance(event.get("relations"), list)
        else event
        for event in trial.get("events") or ()
    ]
    return {"hooks": hooks, "events": events}


def _plain_line(error: InputError, section: str, field: str) -> str:
    """An error as it is said beside the item that it concerns."""
    name = re.split(r"[.\[]", field)[0]
    label = LABELS.get((section, name), "")
    if error.found == "missing" or (not error.hint and not error.allowed):
        said = "not answered yet" if error.found == "missing" else error.found
    elif name in {"quote", ""}:
        said = f"{error.found}; {error.hint}" if error.hint else error.found
    else:
        said = f"{error.found}; allowed: {error.allowed}"
    return f"{label.removesuffix('?')}: {said}" if label else f"{said[:1].upper()}{said[1:]}"


def verdict(ledger: FactLedger, story: Story, checker: Checker) -> dict[str, Any]:
    """Return what a ledger comes to, as the page shows it. What the front matter expects is left out of it.

    Raises:
        InputError: A bible or background log that cannot be used.
    """
    if not any(True for _ in ledger.items()):
        return {"empty": True}
    # Who marks a story must not mark towards a figure that somebody wrote down beforehand.
    story = replace(story, front=story.front.model_copy(update={"expect": None}))
    reading = checker.read_ledger(story, ledger)
    placer = Placer(story.prose, reading.ledger)
    card, policy = reading.card, reading.card.policy
    findings = in_order(graded(judge(story, reading, placer, checker.bible_for(story)), policy))
    headline, *_ = score_text(card)  # its first line is the verdict in words
    return {
        "empty": False,
        "headline": headline.strip(),
        "passed": None if isinstance(card.gate, Unscored) else card.gate.passed,
        "left_open": _meter(card.lpi, policy.lpi_threshold, 2),
        "presses": _meter(card.pcv, policy.pcv_threshold, 0),
        "contradictions": len(reading.consistency.faults),
        "details": details(card),
        "inventory": inventory(card, ledger.protagonist),
        "threads": [
            {"text": hook.text, "urgent": hook.tier == 1, "id": hook.id}
            for hook in sorted(ledger.hooks, key=lambda hook: hook.tier)
            if hook.open
        ],
        "findings": [_finding(finding, story) for finding in findings],
        "fix": _fix(reading),
    }


def _meter(value: Fraction | Unscored, needed: Fraction, places: int) -> dict[str, Any]:
    """A figure against what it needs; `share` of that is there, at most all of it."""
    if isinstance(value, Unscored):
        return {"value": None, "needed": decimal(needed, needed, places=places), "why": value.reason}
    return {
        "value": decimal(value, needed, places=places),
        "needed": decimal(needed, needed, places=places),
        "enough": value >= needed,
        "share": float(min(Fraction(1), value / needed)) if needed else 1.0,
    }


def _finding(finding: Finding, story: Story) -> dict[str, Any]:
    found = story.prose.find(finding.quote) if finding.quote else []
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "against": finding.against,
        "span": list(found[0]) if found else None,
    }


def _fix(reading: Reading) -> dict[str, Any] | None:
    fixes = cheapest_fixes(reading.ledger, reading.card.policy, names=reading.names)
    return {"effect": fixes[0].effect, "todo": list(fixes[0].todo)} if fixes else None
