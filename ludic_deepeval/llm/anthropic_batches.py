"""Anthropic's Message Batches: a corpus at half the price, answered within a day.

A batch stays at the server when the program ends. `submit` gives its id, and `collect` fetches it, now or another day.
"""

from collections.abc import Sequence
from typing import Any, Final

from ludic_deepeval.errors import InputError, ModelError, clean
from ludic_deepeval.llm.anthropic import AnthropicModel
from ludic_deepeval.llm.budget import Budget, Meter
from ludic_deepeval.llm.client import Request, whole
from ludic_deepeval.llm.loop import run
from ludic_deepeval.llm.pool import Answered, Batch

POLL: Final = 30.0
_MOST: Final = 100_000  # requests to a batch, by Anthropic's rules
_ENDS: Final = {
    "canceled": "the batch was cancelled before it was asked",
    "expired": "it was not asked within a day",
}


def submit(model: AnthropicModel, requests: Sequence[Request], *, budget: Budget | None = None) -> str:
    """Hand in requests and return the batch's id.

    Raises:
        InputError: No requests, or too many.
        ModelError: The server does not take them, or the whole is over the budget: a batch cannot be stopped half way.
    """
    if not 0 < len(requests) <= _MOST:
        raise InputError("batch", f"{len(requests):,} requests", allowed=f"1 to {_MOST:,}")
    return run(_submit(model, requests, Meter(budget)))


async def _submit(model: AnthropicModel, requests: Sequence[Request], meter: Meter) -> str:
    for request in requests:
        meter.admit_now(request, model.name)
    listed = [
        {"custom_id": _id(at), "params": model.arguments(request)} for at, request in enumerate(requests)
    ]
    made = await _again(model, model.client.messages.batches.create, requests=listed)
    return str(made.id)


def collect(model: AnthropicModel, batch: str, requests: Sequence[Request], *, poll: float = POLL) -> Batch:
    """Wait for a batch to end and return its results in the order of the requests that were handed in.

    At Ctrl-C the batch goes on at the server; call this again with its id.

    Raises:
        ModelError: The server has no such batch, or does not answer.
    """
    meter = Meter()
    try:
        results = run(_collect(model, batch, requests, poll, meter))
    except KeyboardInterrupt:
        return Batch((None,) * len(requests), "interrupted", meter.spent)
    return Batch(results, None, meter.spent)


async def _collect(
    model: AnthropicModel, batch: str, requests: Sequence[Request], poll: float, meter: Meter
) -> tuple[Answered | None, ...]:
    batches = model.client.messages.batches

    async def listed() -> list[Any]:
        return [one async for one in await batches.results(batch)]

    try:
        while (await _again(model, batches.retrieve, message_batch_id=batch)).processing_status != "ended":
            await model.retry.sleep(poll)
        ended = await _again(model, listed)
    except ModelError as error:
        if error.kind != "unknown-model":
            raise
        raise ModelError("rejected", model.name, f"there is no batch '{clean(batch)}'") from None
    results: list[Answered | None] = [None] * len(requests)
    places = {_id(at): at for at in range(len(requests))}
    for one in ended:
        at = places.get(str(one.custom_id))
        if at is not None:
            results[at] = _result(model, one.result, requests[at], meter)
    return tuple(results)


def _result(model: AnthropicModel, result: Any, request: Request, meter: Meter) -> Answered:
    if result.type == "errored":
        said = getattr(getattr(result.error, "error", None), "message", "")
        return ModelError("rejected", model.name, f"refused in the batch: {model.server.safe(said)}")
    if result.type != "succeeded":
        return ModelError("timed-out", model.name, _ENDS.get(result.type, "the batch has no answer to this"))
    try:
        completion = model.completion(result.message, request)
        held = meter.admit_now(request, model.name)
        meter.settle(held, request, completion)
        return whole(completion, request, model.name)
    except ModelError as error:
        return error


async def _again(model: AnthropicModel, call: Any, **arguments: Any) -> Any:
    """Call the client as often as the model's retries allow."""
    tries = 0
    while True:
        tries += 1
        try:
            return await model.asked(call, **arguments)
        except ModelError as error:
            error.requests = tries
            seconds = model.retry.wait(error, tries)
            if seconds is None:
                raise
        await model.retry.sleep(seconds)


def _id(at: int) -> str:
    return f"r{at}"
