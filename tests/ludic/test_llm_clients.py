"""What the official clients are made to send, and what is learnt from a server's refusals."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from ludic_deepeval.errors import InputError, ModelError
from ludic_deepeval.llm import anthropic_batches
from ludic_deepeval.llm.anthropic import AnthropicModel
from ludic_deepeval.llm.client import Request
from ludic_deepeval.llm.openai import Dialect
from ludic_deepeval.schema import notary_schema
from tests.llm_faults import KEY, PROVIDERS, FaultServer, Models, Step, failed, said

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]}


def sent(server: FaultServer, at: int = -1) -> Any:
    return server.asked[at].body


# Ollama


def test_ollama_is_sent_schema_options_and_a_context_that_fits(server: FaultServer, models: Models) -> None:
    server.play(said("ollama", '{"a": 1}'))
    models("ollama").complete("Who?", system="Read.", schema=SCHEMA, temperature=0.0, seed=0, max_tokens=100)
    body = sent(server)
    assert body["format"] == SCHEMA
    assert body["options"] == {"temperature": 0.0, "seed": 0, "num_ctx": 4096, "num_predict": 100}
    assert [one["role"] for one in body["messages"]] == ["system", "user"]
    assert (body["model"], body["stream"], body["keep_alive"]) == ("qwen3:14b", False, "10m")
    assert "temperature" not in _plain(server, models)["options"]


def _plain(server: FaultServer, models: Models) -> Any:
    models("ollama").complete("Who?")
    return sent(server)


def test_ollamas_context_grows_by_doubling_and_never_shrinks(server: FaultServer, models: Models) -> None:
    """Another size makes the server load the model anew."""
    model = models("ollama")
    for prompt, read in (("short", 5), ("word " * 6000, 6000), ("short", 5)):
        server.play(said("ollama", "x", read=read))
        model.complete(prompt, max_tokens=100)
    # 30,000 characters are at most 10,000 tokens; with 100 to answer and 64 for the template 16,384 is the next power of two.
    assert [one.body["options"]["num_ctx"] for one in server.asked] == [4096, 16384, 16384]
    assert [one.path for one in server.seen].count("/api/show") == 1


def test_ollama_takes_the_whole_context_of_a_model_between_two_powers(
    server: FaultServer, models: Models
) -> None:
    server.play(said("ollama", "x", read=30_000))
    models("ollama").complete("word " * 20_000, max_tokens=1000)  # 33,334 + 1,064, below 40,960
    assert sent(server)["options"]["num_ctx"] == 40960


def test_a_prompt_that_cannot_fit_is_refused_before_it_is_sent(server: FaultServer, models: Models) -> None:
    server.play(said("ollama", "x"))
    with pytest.raises(ModelError) as caught:
        models("ollama").complete("word " * 30_000, max_tokens=1000)
    assert (caught.value.kind, server.asked) == ("too-long", [])
    # 150,000 / 3 + 64 = 50,064, which is 9,104 more than 40,960
    assert "50,064 tokens where 40,960 fit, 9,104 too many" in str(caught.value)


def test_a_prompt_that_fits_without_its_answer_is_not_called_too_long(
    server: FaultServer, models: Models
) -> None:
    server.play(said("ollama", "x"))
    with pytest.raises(ModelError) as caught:
        models("ollama").complete("word " * 300, max_tokens=40_900)
    assert (caught.value.kind, server.asked) == ("too-long", [])
    # 1,500 / 3 + 64 = 564 to read; 564 + 40,900 is 504 more than 40,960, of which 40,396 are left for the answer
    assert "564 tokens to read and 40,900 to write where 40,960 fit, 504 too many" in str(caught.value)
    assert "at most 40,396 (--max-tokens)" in str(caught.value)
    assert "prompt is too long" not in str(caught.value)


@pytest.mark.parametrize("read", [4096, 5000, 300])
def test_a_prompt_that_the_server_cut_is_no_answer(read: int, server: FaultServer, models: Models) -> None:
    """It read all that its context holds, or fewer tokens than the prompt has words."""
    server.play(said("ollama", "x", read=read))
    with pytest.raises(ModelError) as caught:
        models("ollama").complete("word " * 1000, max_tokens=100)
    assert caught.value.kind == "too-long"
    assert f"read only {read:,} tokens" in str(caught.value)


def test_a_chinese_prompt_that_the_server_cut_is_noticed(server: FaultServer, models: Models) -> None:
    server.play(said("ollama", "x", read=300))
    with pytest.raises(ModelError, match="cut the prompt"):
        models("ollama").complete("誰還記得鐘聲" * 300, max_tokens=100)


def test_a_prompt_from_the_servers_cache_is_no_cut_prompt(server: FaultServer, models: Models) -> None:
    server.play(said("ollama", "x", read=0))
    assert models("ollama").complete("word " * 1000).prompt_tokens is None


def test_an_answer_that_fills_the_context_is_too_long(server: FaultServer, models: Models) -> None:
    server.play(said("ollama", "x", stop="length", read=4000, written=96))
    with pytest.raises(ModelError) as caught:
        models("ollama").complete("word " * 1000, max_tokens=100)
    assert caught.value.kind == "too-long"


def test_a_model_that_does_not_say_its_context_is_asked_all_the_same(
    server: FaultServer, models: Models
) -> None:
    server.fixed["/api/show"] = Step(body='{"model_info": {}}')
    server.play(said("ollama", "x", read=40_000))
    assert models("ollama").complete("word " * 30_000).text == "x"
    assert sent(server)["options"]["num_ctx"] == 65536


# Anthropic


def test_anthropic_is_sent_the_fixed_part_for_its_cache_and_the_schema_as_format(
    server: FaultServer, models: Models
) -> None:
    server.play(said("anthropic", '{"a": 1}'))
    got = models("anthropic").complete(
        "Who?", system="Read.", schema=SCHEMA, temperature=0.0, seed=7, max_tokens=100
    )
    body = sent(server)
    assert body["system"] == [{"type": "text", "text": "Read.", "cache_control": {"type": "ephemeral"}}]
    assert body["messages"] == [{"role": "user", "content": "Who?"}]
    assert body["output_config"]["format"]["type"] == "json_schema"
    assert body["output_config"]["format"]["schema"]["additionalProperties"] is False
    # The client (2.14) has no parameter for either, and the completion says so.
    assert got.ignored == ("temperature", "seed")
    assert not {"temperature", "seed", "tools"} & body.keys()


def test_the_notarys_schema_is_one_that_anthropic_takes(server: FaultServer, models: Models) -> None:
    server.play(said("anthropic", "{}"))
    models("anthropic").complete("Who?", schema=notary_schema())
    assert "npcs" in sent(server)["output_config"]["format"]["schema"]["properties"]


def test_a_model_without_formats_fills_in_a_tool(server: FaultServer, models: Models) -> None:
    tool = json.loads(said("anthropic", "").body)
    tool["content"] = [{"type": "tool_use", "id": "t", "name": "answer", "input": {"a": 1}}]
    tool["stop_reason"] = "tool_use"
    refused = failed("anthropic", 400, "output_config.format: this model has no structured outputs")
    server.play(refused, Step(body=json.dumps(tool)))
    model = models("anthropic")
    got = model.complete("Who?", schema=SCHEMA)
    assert (got.json(), got.requests, models.waits) == ({"a": 1}, 2, [])
    assert sent(server)["tools"][0]["input_schema"] == SCHEMA
    assert sent(server)["tool_choice"] == {"type": "tool", "name": "answer"}
    assert model.complete("And who else?", schema=SCHEMA).requests == 1  # learnt


def test_a_schema_that_leaves_a_type_open_goes_into_a_tool(server: FaultServer, models: Models) -> None:
    server.play(said("anthropic", "{}"))
    models("anthropic").complete("Who?", schema={"type": "object", "properties": {"a": {}}})
    assert "tools" in sent(server)


def test_tokens_from_anthropics_cache_are_counted_apart(server: FaultServer, models: Models) -> None:
    reply = json.loads(said("anthropic", "x").body)
    reply["usage"] |= {"input_tokens": 10, "cache_read_input_tokens": 2000, "cache_creation_input_tokens": 5}
    server.play(Step(body=json.dumps(reply)))
    got = models("anthropic").complete("Who?")
    assert (got.prompt_tokens, got.cached_tokens) == (2015, 2000)


def test_anthropics_reason_for_a_refusal_is_said(server: FaultServer, models: Models) -> None:
    reply = json.loads(said("anthropic", "", stop="refusal").body)
    reply["stop_details"] = {"type": "refusal", "category": "general_harms", "explanation": None}
    server.play(Step(body=json.dumps(reply)))
    with pytest.raises(ModelError, match="the model refused: general_harms"):
        models("anthropic").complete("Who?")


def test_the_context_of_anthropics_model_is_told_from_the_limit_of_the_answer(
    server: FaultServer, models: Models
) -> None:
    server.play(said("anthropic", "x", stop="model_context_window_exceeded"))
    with pytest.raises(ModelError) as caught:
        models("anthropic").complete("Who?")
    assert caught.value.kind == "too-long"


# Anthropic's batches


def _batch(server: FaultServer, lines: list[dict[str, Any]], *, status: str = "ended") -> None:
    counts = {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
    made = {"id": "msgbatch_1", "type": "message_batch", "processing_status": status, "request_counts": counts,
            "created_at": "2026-01-01T00:00:00Z", "expires_at": "2026-01-02T00:00:00Z",
            "results_url": f"{server.url}/v1/messages/batches/msgbatch_1/results"}  # fmt: skip
    for path in ("/v1/messages/batches", "/v1/messages/batches/msgbatch_1"):
        server.fixed[path] = Step(body=json.dumps(made))
    server.fixed["/v1/messages/batches/msgbatch_1/results"] = Step(
        body="\n".join(map(json.dumps, lines)), headers={"Content-Type": "application/x-jsonl"}
    )


def _line(at: int, text: str, stop: str = "end") -> dict[str, Any]:
    message = json.loads(said("anthropic", text, stop=stop).body)
    return {"custom_id": f"r{at}", "result": {"type": "succeeded", "message": message}}


def test_a_batch_gives_its_results_in_the_order_of_the_requests(server: FaultServer, models: Models) -> None:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": f"bad {KEY}"}}
    _batch(
        server,
        [
            _line(2, "", stop="refusal"),
            {"custom_id": "r3", "result": {"type": "errored", "error": error}},
            {"custom_id": "r4", "result": {"type": "expired"}},
            _line(1, "Two."),
            _line(0, "One."),
            _line(99, "Whose?"),
        ],
    )
    model = models("anthropic")
    assert isinstance(model, AnthropicModel)
    requests = [Request(prompt=f"{at}?", system="Read.") for at in range(6)]
    made = anthropic_batches.submit(model, requests)
    got = anthropic_batches.collect(model, made, requests)
    assert [one.text for one in got.completions] == ["One.", "Two."]
    assert [one.kind for one in got.results if isinstance(one, ModelError)] == [
        "refused",
        "rejected",
        "timed-out",
    ]
    assert got.left == (5,)
    assert KEY not in str(got.results)
    posted = next(one.body for one in server.seen if one.method == "POST")
    assert posted["requests"][1]["custom_id"] == "r1"
    assert posted["requests"][1]["params"]["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert got.spent.calls == 3  # what was answered, refusals among it: 3 of 11 + 7 tokens
    assert (got.spent.prompt_tokens, got.spent.completion_tokens) == (33, 21)


def test_a_batch_is_waited_for(server: FaultServer, models: Models) -> None:
    _batch(server, [_line(0, "One.")], status="in_progress")
    model = models("anthropic")
    assert isinstance(model, AnthropicModel)
    requests = [Request(prompt="?")]

    async def ended(seconds: float) -> None:
        models.waits.append(seconds)
        _batch(server, [_line(0, "One.")])

    object.__setattr__(model.retry, "sleep", ended)
    assert len(anthropic_batches.collect(model, "msgbatch_1", requests, poll=9.0).completions) == 1
    assert models.waits == [9.0]


def test_a_batch_that_is_not_there_or_over_the_budget(server: FaultServer, models: Models) -> None:
    model = models("anthropic")
    assert isinstance(model, AnthropicModel)
    with pytest.raises(ModelError, match="there is no batch 'msgbatch_9'"):
        anthropic_batches.collect(model, "msgbatch_9", [Request(prompt="?")])
    from ludic_deepeval.llm.budget import Budget

    with pytest.raises(ModelError) as caught:
        anthropic_batches.submit(model, [Request(prompt="?")] * 3, budget=Budget(calls=2))
    assert caught.value.kind == "budget"
    with pytest.raises(InputError, match="0 requests"):
        anthropic_batches.submit(model, [])
    assert all(one.method == "GET" for one in server.seen)


# OpenAI-compatible servers


def test_openais_protocol_is_sent_the_schema_as_response_format(server: FaultServer, models: Models) -> None:
    server.play(said("openai", '{"a": 1}'))
    models("openai").complete("Who?", system="Read.", schema=SCHEMA, temperature=0.0, seed=0, max_tokens=100)
    body = sent(server)
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": SCHEMA},
    }
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.0, 0, 100)
    assert [one["role"] for one in body["messages"]] == ["system", "user"]


def test_what_a_server_refuses_is_left_out_from_then_on(server: FaultServer, models: Models) -> None:
    def no(message: str) -> Step:
        return failed("openai", 400, message)

    server.play(
        no("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        no("Unsupported value: 'temperature' does not support 0."),
        no("Unknown field: seed"),
        no("response_format of type json_schema is not supported"),
        no("response_format is not supported"),
        said("openai", '{"a": 1}'),
    )
    model = models("openai")
    got = model.complete("Who?", schema=SCHEMA, temperature=0.0, seed=1)
    assert (got.json(), got.requests, models.waits) == ({"a": 1}, 6, [])
    assert got.ignored == ("temperature", "seed", "schema")
    assert sent(server, 4)["response_format"] == {"type": "json_object"}
    last = sent(server)
    assert not {"response_format", "temperature", "seed", "max_tokens"} & last.keys()
    assert json.dumps(SCHEMA, sort_keys=True) in last["messages"][0]["content"]
    assert model.complete("Again?", schema=SCHEMA, temperature=0.0, seed=1).requests == 1


def test_a_refusal_that_names_nothing_is_final(server: FaultServer, models: Models) -> None:
    server.play(failed("openai", 400, "No."))
    with pytest.raises(ModelError) as caught:
        models("openai").complete("Who?", schema=SCHEMA)
    assert (caught.value.kind, len(server.asked)) == ("rejected", 1)


def test_a_server_that_refuses_everything_is_left_alone(server: FaultServer, models: Models) -> None:
    server.play(failed("openai", 400, "max_tokens? max_completion_tokens? neither"))
    with pytest.raises(ModelError):
        models("openai").complete("Who?")
    assert len(server.asked) == 8


def test_a_dialect_keeps_what_was_not_asked_for() -> None:
    plain = Request(prompt="?")
    assert Dialect().without("temperature, seed, response_format", plain) is None


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_apart(field: str, server: FaultServer, models: Models) -> None:
    reply = json.loads(said("openai", "Odo.").body)
    reply["choices"][0]["message"][field] = "Hm."
    server.play(Step(body=json.dumps(reply)))
    got = models("openai").complete("Who?")
    assert (got.text, got.thinking) == ("Odo.", "Hm.")


# Keys, names, what is missing


def test_a_server_of_ones_own_needs_no_key(
    server: FaultServer, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OLLAMA_API_KEY"):
        monkeypatch.delenv(name)
    for provider in PROVIDERS:
        server.play(said(provider, "x"))
        assert models(provider).complete("Who?").text == "x"


@pytest.mark.parametrize(
    ("provider", "variable"), [("anthropic", "ANTHROPIC_API_KEY"), ("openai", "OPENAI_API_KEY")]
)
def test_no_key_is_said_before_anything_is_sent(
    provider: str, variable: str, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(variable)
    with pytest.raises(ModelError) as caught:
        models(provider, base_url=None)
    assert caught.value.kind == "denied"
    assert f"set {variable}" in str(caught.value)
    assert "ludic annotate" in str(caught.value)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_client_that_is_not_installed_names_the_extra(
    provider: str, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, provider, None)
    with pytest.raises(InputError) as caught:
        models(provider)
    assert str(caught.value) == (
        f"{provider}:…: the client '{provider}' is not installed; pip install 'ludic-worth[models]'"
    )


NO_URLS = ["ftp://host", "http://", "http://[::1", "http://host:port", "http://host:99999"]


@pytest.mark.parametrize("url", NO_URLS)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_is_no_url_is_said(provider: str, url: str, models: Models) -> None:
    with pytest.raises(InputError, match="no URL of a server"):
        models(provider, base_url=url)


@pytest.mark.parametrize("url", NO_URLS)
def test_an_address_of_ollama_that_is_none_is_said_before_its_client_reads_it(url: str) -> None:
    """In a process of its own: the client reads the variable when it is imported."""
    code = (
        "from ludic_deepeval.errors import InputError\nfrom ludic_deepeval.llm.ollama import OllamaModel\n"
        "try:\n    OllamaModel('m')\nexcept InputError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"OLLAMA_HOST": url}, capture_output=True, encoding="utf-8", check=False
    )  # fmt: skip
    said = "base URL ($OLLAMA_HOST): this is no URL of a server; allowed: http://… or https://…\n"
    assert (done.stdout, done.stderr) == (said, "")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_completion_can_be_awaited_and_the_model_used_from_any_loop(
    provider: str, server: FaultServer, models: Models
) -> None:
    import asyncio

    server.play(said(provider, "x"))
    model = models(provider)

    async def twice() -> list[str]:
        both = await asyncio.gather(model.acomplete("1?"), model.acomplete("2?"))
        return [one.text for one in both] + [model.complete("inside a running loop?").text]

    for _ in range(2):  # each run has a loop of its own
        assert asyncio.run(twice()) == ["x", "x", "x"]


def test_a_request_without_words_is_refused() -> None:
    with pytest.raises(InputError, match="prompt: it is empty"):
        Request(prompt=" ")
    with pytest.raises(InputError, match="max_tokens: found 0"):
        Request(prompt="?", max_tokens=0)
