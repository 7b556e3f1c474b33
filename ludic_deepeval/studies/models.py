"""The models of a study: each opened once, asked so many times at once, and watched trial by trial."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self, TypeAlias, Unpack

from ludic_deepeval.errors import ModelError, ModelFault
from ludic_deepeval.llm.budget import Meter, Spent
from ludic_deepeval.llm.client import ChatModel, Completion, Model, Options, Producer, Request
from ludic_deepeval.llm.loop import arun, run
from ludic_deepeval.llm.names import open_model
from ludic_deepeval.llm.pool import CONCURRENCY

PASSING: Final[frozenset[ModelFault]] = frozenset({"timed-out", "overloaded", "server-error", "dropped"})
"""Failures of a server or a network: no outcome of a trial, which is tried again when the study is resumed."""

Opener: TypeAlias = Callable[[str], Model]


class _Asked:
    """A model whose other two ways of being asked go through `ask`."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """`provider:model`."""
        return self._model.name

    @property
    def producer(self) -> Producer:
        """Who gives the answers."""
        return self._model.producer

    def complete(self, prompt: str, **options: Unpack[Options]) -> Completion:
        """Ask and wait."""
        return run(self.ask(Request(prompt=prompt, **options)))

    async def acomplete(self, prompt: str, **options: Unpack[Options]) -> Completion:
        """Ask and await."""
        return await arun(self.ask(Request(prompt=prompt, **options)))

    async def ask(self, request: Request, meter: Meter | None = None) -> Completion:
        """Ask within a budget."""
        return await self._model.ask(request, meter)


class Limited(_Asked):
    """A model that is asked at most so many times at once.

    Args:
        model: Who is asked.
        most: How many requests may be under way.
    """

    def __init__(self, model: ChatModel, most: int) -> None:
        super().__init__(model)
        self._turn = asyncio.Semaphore(most)

    async def ask(self, request: Request, meter: Meter | None = None) -> Completion:
        """Wait for a turn, and ask."""
        async with self._turn:
            return await super().ask(request, meter)


class Watched(_Asked):
    """A model in one role of one trial: how long it took to answer, and in what it failed.

    Args:
        model: Who is asked.
    """

    def __init__(self, model: ChatModel) -> None:
        super().__init__(model)
        self.seconds = 0.0
        self.failed: ModelError | None = None
        self.under_way = False

    async def ask(self, request: Request, meter: Meter | None = None) -> Completion:
        """Ask, and watch."""
        self.under_way = True
        try:
            completion = await super().ask(request, meter)
        except ModelError as error:
            self.failed = error
            raise
        self.under_way = False
        self.seconds += completion.seconds
        return completion


class Share(Meter):
    """What one trial spends of the study's budget, counted apart.

    Args:
        whole: The study's meter, which decides.
    """

    def __init__(self, whole: Meter) -> None:
        super().__init__()
        self._whole = whole

    async def admit(self, request: Request, model: str) -> int:
        """Take what a request may cost, of the whole."""
        return self._count(await self._whole.admit(request, model))

    def admit_now(self, request: Request, model: str) -> int:
        """The same, waiting for nobody."""
        return self._count(self._whole.admit_now(request, model))

    def settle(self, held: int, request: Request, completion: Completion | None) -> None:
        """Replace what was taken by what it cost, here and in the whole."""
        self._whole.settle(held, request, completion)
        super().settle(held, request, completion)

    def _count(self, held: int) -> int:
        self._held.append(held)
        self.spent += Spent(calls=1)
        return held


@dataclass
class Models:
    """Every model of a study, opened when it is first asked for.

    Attributes:
        concurrency: How many requests each may have under way, `default` for those not named.
        record: Where their answers are recorded, if anywhere.
        opener: What opens one, in place of `llm.names.open_model`.
    """

    concurrency: Mapping[str, int] = field(default_factory=dict)
    record: Path | None = None
    opener: Opener | None = None
    _stack: ExitStack = field(default_factory=ExitStack)
    _opened: dict[str, Limited] = field(default_factory=dict)

    def get(self, name: str) -> ChatModel:
        """Return a model by its name in the study's file.

        Raises:
            InputError: No such client; or `ModelError` `denied` without a key.
        """
        if name not in self._opened:
            record = None if name.startswith("recorded:") else self.record
            model = self.opener(name) if self.opener else open_model(name, record=record)
            most = self.concurrency.get(name, self.concurrency.get("default", CONCURRENCY))
            self._opened[name] = Limited(self._stack.enter_context(model), most)
        return self._opened[name]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._opened.clear()
