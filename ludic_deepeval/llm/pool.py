"""Asking a model many things at once, and keeping what was answered whatever ends it."""

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Final, Literal, Self, TypeAlias, TypeVar

from ludic_deepeval.errors import InputError, ModelError
from ludic_deepeval.llm.budget import Budget, Meter, Spent
from ludic_deepeval.llm.client import ChatModel, Completion, Request
from ludic_deepeval.llm.loop import submit

Answered: TypeAlias = Completion | ModelError
OnDone: TypeAlias = Callable[[int, Answered], None]
Stopped: TypeAlias = Literal["interrupted"] | ModelError | None
Job = TypeVar("Job")
Done = TypeVar("Done")
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
    stopped: Stopped
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

    async def ask(request: Request) -> Completion:
        return await model.ask(request, meter)

    results, stopped = work_through(requests, ask, workers=concurrency, on_done=on_done)
    return Batch(results, stopped, meter.spent.since(before))


def work_through(
    jobs: Sequence[Job],
    work: Callable[[Job], Awaitable[Done]],
    *,
    workers: int,
    on_done: Callable[[int, Any], None] | None = None,
) -> tuple[tuple[Done | ModelError | None, ...], Stopped]:
    """Do jobs that ask models, so many at a time; see `complete_many` for what ends them.

    Args:
        jobs: What is to be done.
        work: Does one of them.
        workers: How many are under way at once.
        on_done: Told the place and the result of each as it ends, in the caller's thread.

    Returns:
        For each job its result, the error that it ended in, or None when it was not done; and what stopped the rest.

    Raises:
        InputError: A job met what cannot be used, such as a folder of recordings that cannot be written. What was done has
            been handed over.
    """
    results: list[Done | ModelError | None] = [None] * len(jobs)
    ended: SimpleQueue[tuple[int, Done | ModelError]] = SimpleQueue()
    stopped: Stopped = None

    def take(at: int, result: Done | ModelError) -> None:
        results[at] = result
        if on_done:
            on_done(at, result)

    unusable: InputError | None = None
    with _CtrlC() as ctrl_c:  # before anything is asked, or what was answered by then would be lost
        background = submit(_work(jobs, work, max(1, min(workers, len(jobs))), ended))
        try:
            while (arrived := _next(ended, background, ctrl_c)) is not None:
                take(*arrived)
            if ctrl_c.pressed:
                stopped = "interrupted"
            elif isinstance(ended_by := background.result(), InputError):
                unusable = ended_by
            else:
                stopped = ended_by
        except KeyboardInterrupt:
            stopped = "interrupted"
        finally:
            background.cancel()
        while not ended.empty():  # what had come when the run was ended
            take(*ended.get())
    if unusable is not None:
        raise unusable
    return tuple(results), stopped


class _CtrlC:
    """Notes Ctrl-C while results are kept, so that it comes between two of them and not in the middle of one.

    Pressed a second time it interrupts whatever is being done. Where somebody ignores it, it stays ignored.
    """

    def __init__(self) -> None:
        self.pressed = False
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):
                self._before = before
                signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, *_: object) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True


def _next(
    ended: "SimpleQueue[tuple[int, Done | ModelError]]",
    background: "Future[ModelError | InputError | None]",
    ctrl_c: _CtrlC,
) -> tuple[int, Done | ModelError] | None:
    """Wait for the next result; None when the work is over and none is left, or at Ctrl-C."""
    while not ctrl_c.pressed:
        over = background.done()
        try:
            return ended.get(timeout=0 if over else _TICK)
        except Empty:
            if over:
                return None
    return None


async def _work(
    jobs: Sequence[Job],
    work: Callable[[Job], Awaitable[Done]],
    workers: int,
    ended: "SimpleQueue[tuple[int, Done | ModelError]]",
) -> ModelError | InputError | None:
    """Do all; return what stopped it."""
    waiting = iter(enumerate(jobs))
    stops: list[ModelError | InputError] = []

    async def worker() -> None:
        for at, job in waiting:
            if stops:
                return
            try:
                result: Done | ModelError = await work(job)
            except ModelError as error:
                if error.kind == "budget" or error.for_all:
                    stops.append(error)
                    return
                result = error
            except InputError as error:
                stops.append(error)
                return
            ended.put((at, result))

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(worker())
    return stops[0] if stops else None
