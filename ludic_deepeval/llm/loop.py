"""One event loop in the background, so that asking a model is written once and can be called from anywhere.

Clients live in this loop: they keep their connections between calls, work inside a notebook whose own loop is running,
and a request that is given up (Ctrl-C, a deadline) is cancelled and its connection closed.
"""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from functools import cache
from typing import Any, Final, TypeVar

T = TypeVar("T")

_TICK: Final = 0.2  # on Windows Ctrl-C is noticed only between two waits


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="ludic-models", daemon=True).start()
    return loop


def submit(work: Coroutine[Any, Any, T]) -> "Future[T]":
    """Start work in the background."""
    return asyncio.run_coroutine_threadsafe(work, _loop())


def run(work: Coroutine[Any, Any, T]) -> T:
    """Do work in the background and wait for it; whatever interrupts the waiting cancels the work."""
    if threading.current_thread().name == "ludic-models":
        work.close()
        raise RuntimeError("waiting for a model inside the loop that asks it would wait for ever: await it")
    future = submit(work)
    try:
        while not future.done():
            wait([future], timeout=_TICK)
        return future.result()
    finally:
        future.cancel()


async def arun(work: Coroutine[Any, Any, T]) -> T:
    """Do work in the background and await it from any loop; cancelling the one cancels the other."""
    return await asyncio.wrap_future(submit(work))
