"""The official clients of Ollama, Anthropic and OpenAI, asked for answers in pieces: a real model, and no look at its sense."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import httpx
import httpx2
import ollama
import openai
import pytest

from tests.live.conftest import Standin
from tests.live.protocols import NAME
from tests.live.test_plumbing import ASKED, PERSON, each_provider, fits

pytestmark = pytest.mark.live
Note = Callable[[str, object], None]
Pieces = Iterator[tuple[str, str]]
"""Text, and why it ended where this is the end."""


def of_ollama(url: str, prompt: str, schema: dict[str, Any] | None, most: int) -> Pieces:
    options = {"temperature": 0.0, "seed": 7, "num_predict": most}
    asked = [{"role": "user", "content": prompt}]
    with ollama.Client(host=url) as client:
        for part in client.chat(model=NAME, messages=asked, format=schema, options=options, stream=True):
            if part.done:
                assert part.prompt_eval_count
                assert part.eval_count
            yield part.message.content or "", ended(part.done_reason)


def of_anthropic(url: str, prompt: str, schema: dict[str, Any] | None, most: int) -> Pieces:
    shape: Any = anthropic.omit
    if schema is not None:
        shape = {"format": {"type": "json_schema", "schema": anthropic.transform_schema(schema)}}
    asked: Any = [{"role": "user", "content": prompt}]
    with (
        anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as client,
        client.messages.stream(model=NAME, messages=asked, max_tokens=most, output_config=shape) as stream,
    ):
        for text in stream.text_stream:
            yield text, ""
        final = stream.get_final_message()
    assert final.usage.input_tokens
    assert final.usage.output_tokens
    yield "", ended(final.stop_reason)


def of_openai(url: str, prompt: str, schema: dict[str, Any] | None, most: int) -> Pieces:
    shape: Any = openai.omit
    if schema is not None:
        shape = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    asked: Any = [{"role": "user", "content": prompt}]
    usage = None
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        for chunk in client.chat.completions.create(
            model=NAME,
            messages=asked,
            temperature=0,
            seed=7,
            max_tokens=most,
            response_format=shape,
            stream=True,
            stream_options={"include_usage": True},
        ):
            usage = chunk.usage or usage
            for choice in chunk.choices:
                yield choice.delta.content or "", ended(choice.finish_reason)
    assert usage is not None
    assert usage.completion_tokens


def ended(reason: str | None) -> str:
    """The providers' words for one thing in ours."""
    same = {"stop": "end", "end_turn": "end", "max_tokens": "length"}
    return same.get(reason, reason) if reason else ""


CLIENTS: dict[str, Callable[[str, str, dict[str, Any] | None, int], Pieces]] = {
    "ollama": of_ollama,
    "anthropic": of_anthropic,
    "openai": of_openai,
}


@each_provider
def test_an_answer_in_pieces_fits_its_schema_and_is_the_whole_one(
    provider: str, local: Standin, record_property: Note
) -> None:
    pieces = list(CLIENTS[provider](local.url, ASKED, PERSON, 120))
    texts = [text for text, _ in pieces if text]
    assert len(texts) > 3  # it came as it was written
    assert fits(json.loads("".join(texts)), PERSON)
    assert [stop for _, stop in pieces if stop] == ["end"]
    if provider != "anthropic":  # which has no seed and no temperature to ask for
        with local.model(provider) as model:
            whole = model.complete(ASKED, schema=PERSON, temperature=0, seed=7, max_tokens=120)
        assert "".join(texts) == whole.text
    record_property("pieces", len(texts))


@each_provider
def test_an_answer_in_pieces_that_is_cut_off_says_so(provider: str, local: Standin) -> None:
    pieces = list(CLIENTS[provider](local.url, ASKED, PERSON, 5))
    assert [stop for _, stop in pieces if stop] == ["length"]


@each_provider
def test_an_unknown_model_is_an_error_before_the_first_piece(
    provider: str, local: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "NAME", "qwen3:14b")
    errors = (ollama.ResponseError, anthropic.NotFoundError, openai.NotFoundError)
    with pytest.raises(errors) as failed:
        list(CLIENTS[provider](local.url, ASKED, None, 16))
    assert getattr(failed.value, "status_code", None) == 404


@each_provider
def test_a_server_killed_between_two_pieces_is_noticed_by_the_client(provider: str, mortal: Standin) -> None:
    pieces = CLIENTS[provider](mortal.url, "Tell a long tale.", None, 600)
    for _ in range(3):
        next(pieces)
    mortal.kill()
    broken = (httpx.HTTPError, httpx2.HTTPError, anthropic.APIError, openai.APIError)
    with pytest.raises(broken):
        list(pieces)
