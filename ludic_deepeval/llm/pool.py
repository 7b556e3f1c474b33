"""Asking a model many things at once, and keeping what was answered whatever ends it."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final, Literal, TypeAlias

from ludic_deepeval.errors import InputError, ModelError
from ludic_deepeval.llm.budget import Budget, Meter, Spent
from ludic_deepeval.llm.client import ChatModel, Completion, Request
from ludic_deepeval.llm.loop import submit

Answered: TypeAlias = Completion | ModelError
OnDone: TypeAlias = Callable[[int, Answered], None]
CONCURRENCY: Final = 4
_TICK: Final = 0.2


@dataclass(frozen=True)
class Batch:
    """What came of many requests.

    Attributes:
        results: For each request its completion, or the error that it ended in, or None when it was not asked to the end.
        stopped: Why the rest was left: Ctrl-C, or an error that all the rest would end in; None when there is no rest.
        spent: What was spent.
    """

    results: tuple[Answered | None, ...]
    stopped: Literal["interrupted"] | ModelError | None
    spent: Spent

    @property
    def completions(self) -> tuple[Completion, ...]:
        """What was answered, in the order of the requests."""
        return tuple(one for one in self.results if isinstance(one, Completion))

    @property
    def left(self) -> tuple[int, ...]:
        """Which requests are still to be asked."""
        return tuple(at for at, one in enumerate(self.results) if one is None)

    def __str__(self) -> str:
        answered, left = len(self.completions), len(self.left)
        parts = [f"{answered} of {len(self.results)} answered"]
        if failed := len(self.results) - answered - left:
            parts.append(f"{failed} failed")
        if left:
            why = self.stopped.found if isinstance(self.stopped, ModelError) else self.stopped
            parts.append(f"{left} left to ask ({why})" if why else f"{left} left to ask")
        return f"{', '.join(parts)}; {self.spent}"


def complete_many(
    model: ChatModel,
    requests: Sequence[Request],
    *,
    concurrency: int = CONCURRENCY,
    budget: Budget | Meter | None = None,
    on_done: OnDone | None = None,
) -> Batch:
    """Ask many things, a bounded number of them at once.

    A request that fails is one result and stops nothing, unless every other would fail likewise (no server, no such model, no
    key). At the end of the budget no more are sent and those under way are awaited; at Ctrl-C those under way are given up.

    Args:
        model: Who is asked.
        requests: What.
        concurrency: How many requests may be under way.
        budget: The most that may be spent, or a meter that others spend on too.
        on_done: Told the place and the result of each request as it ends, in the caller's thread.

    Raises:
        InputError: A concurrency below 1.
    """
    if concurrency < 1:
        raise InputError("concurrency", f"found {concurrency}", allowed="a whole number of at least 1")
    meter = budget if isinstance(budget, Meter) else Meter(budget)
    before = meter.spent
    results: list[Answered | None] = [None] * len(requests)
    ended: SimpleQueue[tuple[int, Answered]] = SimpleQueue()
    stopped: Literal["interrupted"] | ModelError | None = None
    work = submit(_work(model, requests, min(concurrency, len(requests)), meter, ended))
    try:
        while (arrived := _next(ended, work)) is not None:
            results[arrived[0]] = arrived[1]
            if on_done:
                on_done(*arrived)
        stopped = work.result()
    except KeyboardInterrupt:
        stopped = "interrupted"
    finally:
        work.cancel()
    while not ended.empty():
        at, result = ended.get()
        results[at] = result
    return Batch(tuple(results), stopped, meter.spent.since(before))


def _next(
    ended: "SimpleQueue[tuple[int, Answered]]", work: "Future[ModelError | None]"
) -> tuple[int, Answered] | None:
    """Wait for the next result; None when the work is over and none is left."""
    while True:
        over = work.done()
        try:
            return ended.get(timeout=0 if over else _TICK)
        except Empty:
            if over:
                return None


async def _work(
    model: ChatModel,
    requests: Sequence[Request],
    workers: int,
    meter: Meter,
    ended: "SimpleQueue[tuple[int, Answered]]",
) -> ModelError | None:
    """Ask all; return what stopped it."""
    waiting = iter(enumerate(requests))
    stops: list[ModelError] = []

    async def worker() -> None:
        for at, request in waiting:
            if stops:
                return
            try:
                result: Answered = await model.ask(request, meter)
            except ModelError as error:
                if error.kind == "budget" or error.for_all:
                    stops.append(error)
                    return
                result = error
            ended.put((at, result))

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(worker())
    return stops[0] if stops else None
