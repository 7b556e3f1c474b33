"""Models that say what a test tells them to, and say of themselves that they are scripted."""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from ludic_deepeval.errors import ModelError
from ludic_deepeval.llm.client import Completion, Model, Producer, Request
from ludic_deepeval.llm.retry import Retry
from ludic_deepeval.session import load_seeds

Said: TypeAlias = Any  # a value that becomes JSON, a text as it is, or a ModelError to raise
SEEDS = [seed.id for seed in load_seeds().seeds]


class Scripted(Model):
    """Answers by a function of the request; keeps what it was asked."""

    provider = "scripted"

    def __init__(self, name: str, answer: Callable[[Request], Said]) -> None:
        super().__init__(f"scripted:{name}", retry=Retry(attempts=1))
        self._answer = answer
        self.asked: list[Request] = []

    @property
    def producer(self) -> Producer:
        return Producer("scripted", "scripted", self.name.partition(":")[2])

    async def answer(self, request: Request) -> Completion:
        self.asked.append(request)
        said = self._answer(request)
        if isinstance(said, ModelError):
            raise said
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        return Completion(
            text=text, model=self.name, prompt_tokens=100, completion_tokens=20, kind="scripted"
        )


def seed_of(request: Request) -> str:
    """Which of the three openings a tester was asked for."""
    return next(seed.id for seed in load_seeds().seeds if seed.text in request.prompt)


def emitted_in(request: Request) -> list[dict[str, Any]]:
    """The numbered people and threads that a judge was shown."""
    part = request.prompt.partition("The plan holds:\n")[2]
    return [json.loads(line) for line in part.splitlines() if line.startswith("{")]


def known_in(request: Request) -> list[dict[str, Any]]:
    """The items of the ledger that a judge was shown."""
    part = request.prompt.partition("The backstory holds:\n")[2].partition("The plan holds:")[0]
    return [json.loads(line) for line in part.splitlines() if line.startswith("{")]


def outline(*people: str, hooks: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "npcs": [{"name": name, "role": "is there"} for name in people],
        "hooks": [{"text": text} for text in hooks],
    }


def plans(*people: str, hooks: tuple[str, ...] = ("a thread",)) -> Scripted:
    """Plans the same for every seed."""
    return Scripted("tester", lambda _: outline(*people, hooks=hooks))


def judge_by(told: Callable[[str], tuple[str, str | None]]) -> Scripted:
    """Labels by the text of each person or thread."""

    def answer(request: Request) -> Said:
        lines = emitted_in(request)
        pairs = [told(line.get("person") or line["thread"]) for line in lines]
        return {
            "labels": [
                {"number": line["number"], "label": label, "item": item}
                for line, (label, item) in zip(lines, pairs, strict=True)
            ]
        }

    return Scripted("judge", answer)


def all_invented() -> Scripted:
    return judge_by(lambda _: ("invented", None))
