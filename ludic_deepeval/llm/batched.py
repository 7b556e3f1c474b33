"""A corpus handed in as one of Anthropic's Message Batches, and its answers as a model that can be asked.

The batch goes on at the server when the program ends. A file remembers it, so that the same command goes on with it.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field

from ludic_deepeval.errors import InputError, ModelError, clean
from ludic_deepeval.files import dump_json, read_bytes, write_atomic
from ludic_deepeval.ledger import Frozen, Text, load_model
from ludic_deepeval.llm import anthropic_batches
from ludic_deepeval.llm.anthropic import AnthropicModel
from ludic_deepeval.llm.client import Completion, Model, Producer, Request
from ludic_deepeval.llm.pool import Answered
from ludic_deepeval.llm.recorded import request_key

if TYPE_CHECKING:
    from ludic_deepeval.llm.budget import Budget, Meter

_MOST: Final = 100_000


class Handed(Frozen):
    """What was handed in.

    Attributes:
        model: Who is asked, as `provider:model`.
        batch: The batch's id at the server.
        requests: The keys of its requests, in order; a key is a hash of all that is asked and tells nothing else of it.
    """

    schema_version: Literal[1]
    model: Text
    batch: Text
    requests: Annotated[tuple[Text, ...], Field(min_length=1, max_length=_MOST)]


class BatchedModel(Model):
    """A model that gives what a batch answered, and is asked itself where the batch was not.

    Args:
        model: Who was asked.
        answers: What the batch answered, by the request's key.
    """

    def __init__(self, model: Model, answers: Mapping[str, Answered]) -> None:
        super().__init__(model.name, timeout=model.timeout, retry=model.retry)
        self._model = model
        self._answers = answers

    @property
    def producer(self) -> Producer:
        """Who gives the answers."""
        return self._model.producer

    async def answer(self, request: Request) -> Completion:
        """Return what the batch answered, or ask."""
        found = self._answers.get(request_key(self.name, request))
        if isinstance(found, ModelError):
            raise found
        return found or await self._model.answer(request)

    async def ask(self, request: Request, meter: "Meter | None" = None) -> Completion:
        """Do likewise, on the meter; what the batch failed to answer is not asked again."""
        found = self._answers.get(request_key(self.name, request))
        if isinstance(found, ModelError):
            raise found
        return await super().ask(request, meter)

    async def aclose(self) -> None:
        """Close the model's connections."""
        await self._model.aclose()


def load_handed(file: Path, model: str) -> Handed | None:
    """Read what was handed in to a model; None when there is no such file.

    Raises:
        InputError: The file is none of these, or of another model.
    """
    if not file.exists():
        return None
    handed: Handed = load_model(Handed, read_bytes(file), file)
    if handed.model != model:
        found = f"a batch of {clean(handed.model)}"
        raise InputError(file, found, allowed=f"one of {clean(model)}, or a new file")
    return handed


def hand_in(model: AnthropicModel, requests: Sequence[Request], file: Path, budget: "Budget") -> Handed:
    """Hand requests in and remember it.

    Raises:
        InputError: The file cannot be written.
        ModelError: The server does not take them, or the whole is over the budget.
    """
    if not file.absolute().parent.is_dir():  # before anything is paid for
        raise InputError(file, "there is no such folder", where="--batch", allowed="a file in a folder")
    batch = anthropic_batches.submit(model, requests, budget=budget)
    keys = tuple(request_key(model.name, request) for request in requests)
    handed = Handed(schema_version=1, model=model.name, batch=batch, requests=keys)
    write_atomic(file, dump_json(handed.model_dump(mode="json")))
    return handed


def wait_for(
    model: AnthropicModel, handed: Handed, requests: Sequence[Request], tell: Callable[[str], None]
) -> BatchedModel | None:
    """Wait for a batch and return its answers as a model; None when Ctrl-C ended the waiting.

    Args:
        model: Who was asked.
        handed: The batch.
        requests: Those of its requests that are wanted.
        tell: Told what is being waited for.

    Raises:
        ModelError: The server has no such batch, or does not answer.
    """
    by_key = {request_key(model.name, request): request for request in requests}
    blank = requests[0]  # for places that nobody wants any more: their answers are not looked at
    listed = [by_key.get(key, blank) for key in handed.requests]
    tell(f"waiting for {clean(handed.batch)}, {len(handed.requests):,} requests, answered within a day")
    found = anthropic_batches.collect(model, handed.batch, listed, poll=anthropic_batches.POLL)
    if found.stopped == "interrupted":
        return None
    missing = ModelError("dropped", model.name, "the batch came back without an answer to this")
    answers = zip(handed.requests, found.results, strict=True)
    return BatchedModel(model, {key: answer or missing for key, answer in answers})
