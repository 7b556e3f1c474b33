"""What every model looks like: a request goes in, a completion comes out, or a `ModelError` says why there is none."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, Self, TypeAlias, TypedDict, Unpack

from ludic_deepeval.errors import InputError, ModelError
from ludic_deepeval.llm.loop import arun, run
from ludic_deepeval.llm.parsing import parse_json, split_thinking
from ludic_deepeval.llm.retry import Retry
from ludic_deepeval.outcome import Unscored

if TYPE_CHECKING:
    from ludic_deepeval.llm.budget import Meter

Kind: TypeAlias = Literal["model", "scripted", "hand-written"]
Stop: TypeAlias = Literal["end", "length", "context", "refusal", "other"]
TIMEOUT: Final = 600.0
CONNECT: Final = 4.0  # "no server there" is said within five seconds
_WAYS: Final = 8  # more ways of putting a request than any client has


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a model is asked. A repetition asks the same again, and is recorded apart.

    Attributes:
        prompt: What changes from request to request.
        system: What stays the same; providers that can keep it in a cache.
        schema: The JSON Schema that the answer is to follow, enforced where the server can.
        temperature: None takes the server's own.
        seed: None takes none.
        max_tokens: The longest answer, thinking included.
        repetition: 1 for the first time this is asked.
    """

    prompt: str
    system: str = ""
    schema: Mapping[str, Any] | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int = 4096
    repetition: int = 1

    def __post_init__(self) -> None:
        """Refuse what no server would take."""
        if not self.prompt.strip():
            raise InputError("prompt", "it is empty", allowed="text")
        if self.max_tokens < 1 or self.repetition < 1:
            name = "max_tokens" if self.max_tokens < 1 else "repetition"
            raise InputError(name, f"found {getattr(self, name)}", allowed="a whole number of at least 1")
        if self.temperature is not None and not 0 <= self.temperature < inf:
            raise InputError("temperature", f"found {self.temperature}", allowed="a number of at least 0")

    @cached_property
    def schema_text(self) -> str:
        """The schema as JSON that is the same to the byte for the same schema; empty without one."""
        return "" if self.schema is None else json.dumps(self.schema, ensure_ascii=False, sort_keys=True)


class Options(TypedDict, total=False):
    """The fields of a `Request` beside its prompt, as `complete` takes them."""

    system: str
    schema: Mapping[str, Any] | None
    temperature: float | None
    seed: int | None
    max_tokens: int
    repetition: int


@dataclass(frozen=True, kw_only=True)
class Completion:
    """What a model answered.

    Attributes:
        text: The answer as the server gave it; `answer` is without thinking that stands in it.
        model: Its name, as the server says it.
        stop: Why it ended: of itself, at the limit of tokens, at the end of its context, by refusing, or otherwise.
        prompt_tokens: Tokens read, those from a cache among them; None when the server did not say.
        completion_tokens: Tokens written, thinking included; likewise.
        cached_tokens: Tokens read from a cache.
        seconds: From the request to the answer.
        thinking: What the server gave as thinking, apart.
        ignored: Options of the request that this client or server does not have.
        requests: How many were sent for it.
        kind: Whether a model, a script or a person gave it.
        replayed: Whether it comes from a recording.
        date: The day on which it was recorded, of a recording.
    """

    text: str
    model: str
    stop: Stop = "end"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int = 0
    seconds: float = 0.0
    thinking: str = ""
    ignored: tuple[str, ...] = ()
    requests: int = 1
    kind: Kind = "model"
    replayed: bool = False
    date: str | None = None

    @property
    def answer(self) -> str:
        """The text without thinking in front of it."""
        return split_thinking(self.text)[1]

    def json(self, name: str = "") -> Any:
        """The answer as JSON, read strictly (see `parse_json`); an error names the model by `name`, as `provider:model`."""
        return parse_json(self.text, model=name or self.model)


@dataclass(frozen=True)
class Producer:
    """Who gives the answers: what a recording says of where it comes from.

    Attributes:
        kind: A model, a script, or a person.
        provider: ollama, anthropic, openai, deepeval …
        model: The model's name there.
        client: The client and its version.
    """

    kind: Kind
    provider: str
    model: str
    client: str = ""


class ChatModel(Protocol):
    """Anything that can be asked."""

    @property
    def name(self) -> str:
        """`provider:model`."""

    @property
    def producer(self) -> Producer:
        """Who gives the answers."""

    def complete(self, prompt: str, **options: Unpack[Options]) -> Completion:
        """Ask and wait; the options are the fields of `Request`."""

    async def acomplete(self, prompt: str, **options: Unpack[Options]) -> Completion:
        """Ask and await."""

    async def ask(self, request: Request, meter: "Meter | None" = None) -> Completion:
        """Ask within a budget; runs in the loop of `llm.loop`, and is what the other two and the pool call."""


class Model(ABC):
    """A model of which only `answer` is left to say: how one request is sent and its reply read.

    Args:
        name: `provider:model`.
        timeout: Seconds for which one request may take, from its first to its last byte.
        retry: When it is sent again.
    """

    provider = ""

    def __init__(self, name: str, *, timeout: float = TIMEOUT, retry: Retry | None = None) -> None:
        self.name = name
        self.timeout = timeout
        self.retry = retry or Retry()

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.name}')"

    @property
    def producer(self) -> Producer:
        """Who gives the answers."""
        return Producer("model", self.provider, self.name.partition(":")[2], self.client_version())

    def client_version(self) -> str:
        """The client and its version."""
        return ""

    @abstractmethod
    async def answer(self, request: Request) -> Completion:
        """Send one request and read its reply, whatever stopped it.

        Raises:
            ModelError: There is no reply, or none that can be read.
        """

    async def aclose(self) -> None:
        """Close connections, of which some models have none."""
        return

    def complete(self, prompt: str, **options: Unpack[Options]) -> Completion:
        """Ask and wait; see `Request`.

        Raises:
            ModelError: No answer that can be used.
        """
        return run(self.ask(Request(prompt=prompt, **options)))

    async def acomplete(self, prompt: str, **options: Unpack[Options]) -> Completion:
        """Do what `complete` does, awaited."""
        return await arun(self.ask(Request(prompt=prompt, **options)))

    async def ask(self, request: Request, meter: "Meter | None" = None) -> Completion:
        """Send a request, again where that may help, and return a whole answer.

        Raises:
            ModelError: No answer that can be used, or no budget.
        """
        sent = tries = 0
        while True:
            sent += 1
            outcome = await self._attempt(request, meter)
            if isinstance(outcome, Completion):
                return whole(replace(outcome, requests=sent), request, self.name)
            outcome.requests = sent
            if outcome.again and sent < _WAYS:
                continue
            tries += 1
            seconds = self.retry.wait(outcome, tries)
            if seconds is None:
                raise outcome
            await self.retry.sleep(seconds)

    async def _attempt(self, request: Request, meter: "Meter | None") -> Completion | ModelError:
        """Send a request once, on the meter. A failure is returned: raised here it would carry the client's own error along."""
        held = await meter.admit(request, self.name) if meter else 0
        outcome: Completion | ModelError
        completion = None
        started = monotonic()
        try:
            async with asyncio.timeout(self.timeout):
                completion = await self.answer(request)
        except TimeoutError:
            outcome = ModelError("timed-out", self.name, f"no whole answer within {self.timeout:g} s")
        except ModelError as error:
            outcome = error
        else:
            outcome = completion = replace(completion, seconds=round(monotonic() - started, 3))
        finally:
            if meter:
                meter.settle(held, request, completion)
        return outcome

    def close(self) -> None:
        """Close connections; the model can still be asked, and opens new ones."""
        run(self.aclose())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def whole(completion: Completion, request: Request, model: str) -> Completion:
    """Return a completion that ended of itself and says something.

    Raises:
        ModelError: `refused`, `truncated`, `too-long` or `empty`; its `completion` is what was given.
    """
    error = _wanting(completion, request, model)
    if error is None:
        return completion
    error.completion = completion
    raise error


def _wanting(completion: Completion, request: Request, model: str) -> ModelError | None:
    """What a completion lacks, if anything."""
    if completion.stop == "refusal":
        said = completion.answer or "it gave no reason"
        return ModelError("refused", model, f"the model refused: {said}")
    if completion.stop == "length":
        found = f"the answer was cut off at {request.max_tokens:,} tokens"
        return ModelError("truncated", model, found, hint="allow it more, or ask for less at once")
    if completion.stop == "context":
        return ModelError("too-long", model, "prompt and answer do not fit into the model's context")
    if not completion.answer:
        thought = completion.thinking or split_thinking(completion.text)[0]
        return ModelError(
            "empty", model, "the model thought and gave no answer" if thought else "the answer is empty"
        )
    return None


def unscored(error: ModelError) -> Unscored:
    """Make a model's failure the cause why something was not measured."""
    return Unscored("model", f"{error.kind}: {error}")
