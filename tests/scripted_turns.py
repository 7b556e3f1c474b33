"""A model that says what a test tells it to, and readings made of sentences: nothing here was said by a model."""

import json
from collections.abc import Callable
from typing import Any

from ludic_deepeval.llm.client import Completion, Model, Producer, Request

Answer = str | Exception | Callable[[Request], str]


class Scripted(Model):
    """Gives its answers in turn, the last one for ever, and keeps what it was asked."""

    provider = "scripted"

    def __init__(self, *answers: Answer, name: str = "ollama:scripted") -> None:
        super().__init__(name)
        self.answers = list(answers)
        self.asked: list[Request] = []

    @property
    def producer(self) -> Producer:
        return Producer("scripted", "scripted", self.name.partition(":")[2])

    async def answer(self, request: Request) -> Completion:
        self.asked.append(request)
        said = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(said, Exception):
            raise said
        text = said if isinstance(said, str) else said(request)
        return Completion(
            text=text, model="scripted", prompt_tokens=100, completion_tokens=40, kind="scripted"
        )


def prose_of(ledger: dict[str, Any]) -> str:
    """A story of the quotes that a reading rests on, a paragraph each."""
    return "\n\n".join(f"{quote}." for quote in dict.fromkeys(_quotes(ledger)))


def notary_of(ledger: dict[str, Any]) -> str:
    """What a Notary would answer: the items, with quotes as evidence."""
    said: dict[str, Any] = {"schema_version": 1, "protagonist": ledger["protagonist"]}
    for name in ("npcs", "events", "hooks", "goals", "mysteries"):
        said[name] = [
            {key: value for key, value in item.items() if key != "quote"}
            | {"evidence": [{"quote": item["quote"]}]}
            for item in ledger.get(name, [])
        ]
    return json.dumps(said)


def bare(ledger: dict[str, Any]) -> dict[str, Any]:
    """The same as a ledger that rests on nothing, for what is pure."""
    return {"schema_version": 1} | {
        key: [{k: v for k, v in item.items() if k != "quote"} for item in value]
        if isinstance(value, list)
        else value
        for key, value in ledger.items()
    }


def _quotes(ledger: dict[str, Any]) -> list[str]:
    return [item["quote"] for value in ledger.values() if isinstance(value, list) for item in value]


# Seed 1 draws the Red Wizards of Thay and Candlekeep from bible/faerun.
WEAK: dict[str, Any] = {
    "protagonist": "Ysolde",
    "npcs": [
        {
            "id": "odo",
            "name": "Odo Marsh",
            "status": "alive",
            "tie": "enemy",
            "unresolved": True,
            "quote": "Odo Marsh still signs the ledgers at the mill",
        }
    ],
    "events": [
        {
            "id": "fire",
            "phase": "P1",
            "summary": "the mill burns",
            "quote": "When Ysolde was six the mill burned for two nights",
            "immediacy": 3,
            "gravity": 8,
            "linkage": 2,
            "divergence": 3,
        }
    ],
    "hooks": [
        {
            "id": "ledger",
            "text": "he will come for the ledger",
            "tier": 2,
            "npc": "odo",
            "quote": "Somewhere there is a ledger that he wants back",
        }
    ],
    "goals": [],
    "mysteries": [
        {
            "id": "bell",
            "text": "the bell",
            "quote": "Somebody had paid for the bell not to ring",
            "thematic_hole": True,
        }
    ],
}
# One person (RTN 0.7/3 + 0.3·0.6/5 = 0.26933…), no goal, no urgent thread, one mystery: LPI 0.4·RTN + 0.1/3 = 0.14106…; PCV 49.

SELA: dict[str, Any] = {
    "id": "sela",
    "name": "Sela Vant",
    "status": "alive",
    "tie": "enemy",
    "faction": "the Red Wizards",
    "unresolved": True,
    "quote": "Sela Vant wears the red of Thay and has read the page",
}
MEETING: dict[str, Any] = {
    "id": "meeting",
    "text": "Sela Vant waits for her at Candlekeep with the page",
    "tier": 1,
    "npc": "sela",
    "location": "Candlekeep",
    "quote": "Before the tenday is out Sela Vant will be at Candlekeep with the page",
}
READY: dict[str, Any] = {
    **WEAK,
    "npcs": [
        *WEAK["npcs"],
        SELA,
        {
            "id": "brother",
            "name": "Wat",
            "status": "missing",
            "tie": "family",
            "unresolved": True,
            "quote": "Her brother Wat never came up from the cellar",
        },
    ],
    "events": [
        *WEAK["events"],
        {
            "id": "page",
            "phase": "P3",
            "summary": "Sela Vant finds the page in Candlekeep",
            "location": "Candlekeep",
            "quote": "In Candlekeep the page was found by the wrong reader",
            "immediacy": 9,
            "gravity": 8,
            "linkage": 8,
            "divergence": 7,
        },
        {
            "id": "summons",
            "phase": "P3",
            "summary": "a summons comes for the day after tomorrow",
            "quote": "The summons came this morning for the day after tomorrow",
            "immediacy": 8,
            "gravity": 9,
            "linkage": 5,
            "divergence": 5,
        },
    ],
    "hooks": [
        *WEAK["hooks"],
        MEETING,
        {
            "id": "wat",
            "text": "her brother is somewhere below",
            "tier": 1,
            "npc": "brother",
            "quote": "Something below still knocks as Wat used to knock",
        },
    ],
    "goals": [
        {
            "id": "judge",
            "text": "stand before the judge with the ledger",
            "quote": "She is on the road to the judge with the ledger under her coat",
        },
        {
            "id": "page-first",
            "text": "reach Candlekeep before Sela",
            "quote": "She means to be at the gate of Candlekeep first",
        },
        {"id": "dig", "text": "dig out the cellar", "quote": "At night she digs at the cellar wall"},
    ],
}
# RTN 0.7 + 0.3·(1 + 1 + 0.6)/5 = 0.856, MV 3/4, UCR 2/3, TH 1/3: LPI 0.3424 + 0.225 + 0.13333… + 0.03333… = 0.73406…
# PCV: band 2 has 49 and 36 + 32 + 8 + 7 = 83, band 3 has 32 + 36 + 5 + 5 = 78: 210.
