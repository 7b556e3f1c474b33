"""Plans and ledgers that tell the reuse judge what to label: lines that a person should look at before E_a is believed.

A label must be one of three and rest on an item that there is, whatever a line says. But a judge that obeys a line gives labels
that are well formed, and E_a is then what the line wants. These rules find such lines by their form, and no other way of
asking (the rates are in docs/metrics.md).
"""

import re
from dataclasses import dataclass
from typing import Final

from ludic_deepeval.errors import clean
from ludic_deepeval.injection import RULES, suspicions
from ludic_deepeval.session import Session
from ludic_deepeval.text import Prose

LABEL: Final = "label"
PLAN_RULES: Final[dict[str, str]] = {str(rule): words for rule, words in RULES.items()} | {
    LABEL: "says how it is to be labelled"
}
_MOST: Final = 50
_LABELS: Final = r"(?:reused|invented|ambiguous|taken from the (?:backstory|ledger|story))"
_SAYS: Final = re.compile(
    rf"\b(?:label|mark|count|classify|treat|tag|consider|rate|score)\w*\b[^.!?\n]{{0,60}}\b{_LABELS}\b"
    rf"|\b(?:is|are|nothing|all|everything|nobody)\b[^.!?\n]{{0,30}}\b(?:reused|not invented|is invented)\b"
    r"|[\"']?\b(?:label|item)\b[\"']?\s*[:=]\s*[\"']?(?:reused|invented|ambiguous|null|npcs|hooks|goals|mysteries|events)"
    r"|\b(?:npcs|hooks|goals|mysteries|events):[\w-]+"
    r"|\b(?:number|item|person|thread)s?\b[^.!?\n]{0,20}\brests? on\b"
    r"|(?:标为|标记为|标成|算作|视为|判为)[^。！？\n]{0,12}(?:沿用|复用|虚构|新编|不明|reused|invented)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A line that seems to speak to the judge.

    Attributes:
        where: `ledger`, or the opening of the plan.
        rule: Which rule found it; `PLAN_RULES` says what it means.
        text: The line.
    """

    where: str
    rule: str
    text: str


def speaks(text: str) -> str | None:
    """The first rule that finds a line to speak to a judge; None when there is none."""
    if _SAYS.search(text):
        return LABEL
    found = suspicions(Prose(text, front_matter=False)) if text.strip() else ()
    return found[0].rule if found else None


def spoken(session: Session) -> tuple[Spoken, ...]:
    """Find such lines in what the judge of a trial was shown, at most fifty."""
    lines = [("ledger", words) for item in session.known for words in (*item.names, item.text or "")]
    lines += [
        (outline.seed, f"{one.text}: {one.role}" if one.role else one.text)
        for outline in session.outlines
        for one in outline.emitted
    ]
    found = (Spoken(where, rule, clean(text, limit=200)) for where, text in lines if (rule := speaks(text)))
    return tuple(dict.fromkeys(found))[:_MOST]
