"""A model that answers by a script: it stands for none, and says so in everything that it produces."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from ludic_deepeval.errors import ModelError
from ludic_deepeval.llm.client import Completion, Model, Producer, Request
from ludic_deepeval.llm.retry import Retry

Said = dict[str, Any] | str | ModelError


class Scripted(Model):
    """Gives what a function makes of each request, or the next of a list."""

    provider = "scripted"

    def __init__(self, says: Callable[[Request], Said] | list[Said], name: str = "scripted:test") -> None:
        super().__init__(name, retry=Retry(attempts=1))
        self._says = says
        self.asked: list[Request] = []

    @property
    def producer(self) -> Producer:
        return Producer("scripted", "scripted", "test")

    async def answer(self, request: Request) -> Completion:
        self.asked.append(request)
        await asyncio.sleep(0)
        said = self._says.pop(0) if isinstance(self._says, list) else self._says(request)
        if isinstance(said, ModelError):
            raise said
        text = said if isinstance(said, str) else json.dumps(said)
        return Completion(text=text, model="test", prompt_tokens=100, completion_tokens=50, kind="scripted")


def quoted(*quotes: str) -> list[dict[str, str]]:
    return [{"quote": one} for one in quotes]


TALE_SAID: dict[str, Any] = {
    "schema_version": 1,
    "protagonist": "Ysolde",
    "npcs": [{"id": "odo", "name": "Odo Marsh", "status": "alive", "tie": "enemy", "unresolved": True,
              "evidence": quoted("Odo Marsh still signs the ledgers")}],
    "events": [{"id": "fire", "phase": "P2", "summary": "the mill burns", "immediacy": 3, "gravity": 8, "linkage": 5,
                "divergence": 6, "evidence": quoted("the mill burned for two nights")}],
    "hooks": [{"id": "ledger", "text": "he will come for the ledger", "tier": 1, "npc": "odo",
               "evidence": quoted("he signs them late")}],
    "goals": [{"id": "judge", "text": "reach a judge", "evidence": quoted("She means to stand before the judge")}],
    "mysteries": [{"id": "bell", "text": "who paid", "thematic_hole": True,
                   "evidence": quoted("Somebody had paid for the bell not to ring")}],
}  # fmt: skip
"""What a script says of the tale of `conftest.py`."""
