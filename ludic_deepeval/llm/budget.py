"""What asking may cost, what it did cost, and what it would: in requests and tokens, since prices change."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ludic_deepeval.errors import InputError, ModelError
from ludic_deepeval.llm.client import Completion, Request
from ludic_deepeval.llm.tokens import TEMPLATE, most_tokens


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be spent. None: as much as it takes.

    Attributes:
        calls: Requests sent, those that are sent again among them.
        tokens: Tokens read and written.
    """

    calls: int | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is no budget."""
        for name in ("calls", "tokens"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise InputError(
                    "budget", f"found {value}", where=name, allowed="a whole number of at least 0"
                )


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent.

    Attributes:
        calls: Requests sent.
        prompt_tokens: Read by the model. Where a server did not say, the estimate.
        completion_tokens: Written by it, thinking included; likewise.
        cached_tokens: Those of `prompt_tokens` that came from a provider's cache, which cost less.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Read and written together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
        )

    def since(self, before: "Spent") -> "Spent":
        """What was spent after an earlier count."""
        return self + Spent(
            -before.calls, -before.prompt_tokens, -before.completion_tokens, -before.cached_tokens
        )

    def __str__(self) -> str:
        calls = "1 call" if self.calls == 1 else f"{self.calls:,} calls"
        return f"{calls}, {self.prompt_tokens:,} tokens read, {self.completion_tokens:,} written"


@dataclass(frozen=True, slots=True)
class Preview:
    """What requests would cost at most, if none has to be sent again.

    Attributes:
        calls: How many.
        prompt_tokens: What the model would read: an estimate from above (see `tokens`).
        completion_tokens: What it may write.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int

    def __str__(self) -> str:
        calls = "1 call" if self.calls == 1 else f"{self.calls:,} calls"
        return f"{calls}, at most about {self.prompt_tokens:,} tokens to read and {self.completion_tokens:,} to write"


def preview(requests: Sequence[Request]) -> Preview:
    """Say what requests would cost, without asking anybody."""
    return Preview(len(requests), sum(map(read_at_most, requests)), sum(one.max_tokens for one in requests))


def read_at_most(request: Request) -> int:
    """The most tokens that a request has a model read."""
    return TEMPLATE + most_tokens(request.system, request.prompt, request.schema_text)


class Meter:
    """Counts what is spent, and lets no request through that the budget might not hold.

    A request takes its worst case while it is under way. One that does not fit waits for those under way, whose real cost
    may leave room, and is refused when there is none. One meter may be shared by all that a command asks.

    Args:
        budget: The most that may be spent.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self.spent = Spent()
        self._held: list[int] = []
        self._freed = asyncio.Event()

    async def admit(self, request: Request, model: str) -> int:
        """Take what a request may cost; give back what it took with `settle`.

        Raises:
            ModelError: `budget`, when it does not fit.
        """
        worst = read_at_most(request) + request.max_tokens
        while why := self._short_of(worst):
            if not self._held:
                raise ModelError("budget", model, why)
            self._freed.clear()
            await self._freed.wait()
        return self._take(worst)

    def admit_now(self, request: Request, model: str) -> int:
        """Take what a request may cost, waiting for nobody.

        Raises:
            ModelError: `budget`, when it does not fit.
        """
        worst = read_at_most(request) + request.max_tokens
        if why := self._short_of(worst):
            raise ModelError("budget", model, why)
        return self._take(worst)

    def settle(self, held: int, request: Request, completion: Completion | None) -> None:
        """Replace what was taken by what it cost: nothing but the call when there was no answer."""
        self._held.remove(held)
        if completion is not None:
            read, written = completion.prompt_tokens, completion.completion_tokens
            self.spent += Spent(
                prompt_tokens=read_at_most(request) if read is None else read,
                completion_tokens=most_tokens(completion.text, completion.thinking)
                if written is None
                else written,
                cached_tokens=completion.cached_tokens,
            )
        self._freed.set()

    def _take(self, worst: int) -> int:
        self._held.append(worst)
        self.spent += Spent(calls=1)
        return worst

    def _short_of(self, worst: int) -> str:
        calls, tokens = self.budget.calls, self.budget.tokens
        if calls is not None and self.spent.calls >= calls:
            return (
                f"the budget of {calls:,} calls is spent" if calls != 1 else "the budget of 1 call is spent"
            )
        if tokens is not None and self.spent.tokens + sum(self._held) + worst > tokens:
            left = max(0, tokens - self.spent.tokens)
            return f"of the budget of {tokens:,} tokens {left:,} are left, and the next request may take {worst:,}"
        return ""
