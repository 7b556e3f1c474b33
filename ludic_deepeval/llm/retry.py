"""When a failed request is sent again, and after how long."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from ludic_deepeval.errors import ModelError, ModelFault

_PASSING: Final[frozenset[ModelFault]] = frozenset(
    {"overloaded", "server-error", "timed-out", "dropped", "unreachable"}
)


@dataclass(frozen=True)
class Retry:
    """How often and when a request is sent again.

    A server that cannot be reached at the first try is not there, and is not tried again; one that was reached before may be
    starting anew. The official clients' own retries are off, so these are all.

    Attributes:
        attempts: Requests in all, the first among them.
        attempts_timed_out: The same when the server gave no answer in time, which has cost its time already.
        first: Seconds before the second request, doubled before each further one and shortened by up to a half at random.
        most: The longest such wait.
        patience: The longest wait that a server may ask for (Retry-After); one that asks for more is not asked again.
        sleep: Waits.
        draw: A number from 0 to 1.
    """

    attempts: int = 4
    attempts_timed_out: int = 2
    first: float = 1.0
    most: float = 30.0
    patience: float = 60.0
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep, repr=False)
    draw: Callable[[], float] = field(default=random.random, repr=False)  # no secret hangs on it

    def wait(self, failure: ModelError, tries: int) -> float | None:
        """Return the seconds to wait before the next request, or None when there is to be none.

        Args:
            failure: How the last request ended.
            tries: How many there were.
        """
        if failure.kind not in _PASSING or (failure.kind == "unreachable" and tries == 1):
            return None
        most = min(self.attempts, self.attempts_timed_out) if failure.kind == "timed-out" else self.attempts
        if tries >= most:
            return None
        asked = failure.retry_after or 0.0
        if asked > self.patience:
            return None
        backoff: float = min(self.most, self.first * 2.0 ** (tries - 1))
        return max(asked, backoff * (1 - self.draw() / 2))
