"""Each fault of a server, through the official clients: the error's kind, and how many requests the server saw."""

import json
import logging
import socket
from typing import Any

import pytest

from ludic_deepeval.errors import LudicError, ModelError
from ludic_deepeval.llm.client import unscored
from ludic_deepeval.llm.retry import Retry
from tests.llm_faults import DROPPED, KEY, PROVIDERS, SILENT, FaultServer, Models, Step, failed, said

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
each_provider = pytest.mark.parametrize("provider", PROVIDERS)


def fault(model: Any, prompt: str = "Who is left?", **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        model.complete(prompt, **options)
    assert "\n" not in str(caught.value)
    return caught.value


@each_provider
def test_an_answer_comes_with_its_counts(provider: str, server: FaultServer, models: Models) -> None:
    server.play(said(provider, "Odo Marsh.", thinking="Hm.", read=31, written=5))
    got = models(provider).complete("Who is left?", system="You read.")
    assert (got.text, got.thinking, got.stop, got.model) == ("Odo Marsh.", "Hm.", "end", "m")
    assert (got.prompt_tokens, got.completion_tokens, got.requests) == (31, 5, 1)
    assert (got.kind, got.replayed) == ("model", False)
    assert len(server.asked) == 1


@each_provider
@pytest.mark.parametrize(
    ("status", "kind", "requests"),
    [
        # Four requests in all where waiting may help; two when time was lost already; one when it cannot help.
        (429, "overloaded", 4), (503, "overloaded", 4), (529, "overloaded", 4),
        (500, "server-error", 4), (502, "server-error", 4), (504, "timed-out", 2), (408, "timed-out", 2),
        (400, "rejected", 1), (422, "rejected", 1), (413, "too-long", 1),
        (401, "denied", 1), (403, "denied", 1), (402, "denied", 1), (404, "unknown-model", 1),
    ],
)  # fmt: skip
def test_each_status_has_its_kind_and_its_number_of_requests(
    provider: str, status: int, kind: str, requests: int, server: FaultServer, models: Models
) -> None:
    server.play(failed(provider, status))
    error = fault(models(provider))
    assert (error.kind, error.requests, len(server.asked)) == (kind, requests, requests)
    assert isinstance(error, LudicError)
    assert str(error).startswith(f"{provider}:qwen3:14b: ")


@each_provider
def test_waits_double_and_a_passing_fault_ends_in_the_answer(
    provider: str, server: FaultServer, models: Models
) -> None:
    server.play(failed(provider, 529), failed(provider, 500), DROPPED, said(provider, "Here."))
    got = models(provider).complete("Who?")
    assert (got.text, got.requests, len(server.asked)) == ("Here.", 4, 4)
    assert models.waits == [1.0, 2.0, 4.0]


def test_waits_are_shortened_at_random_and_bounded() -> None:
    retry = Retry(attempts=99, first=1.0, most=30.0, draw=lambda: 0.5)
    failure = ModelError("overloaded", "m", "busy")
    # 1, 2, 4, 8, 16, then 32 is more than 30; half of a half is taken off.
    assert [retry.wait(failure, tries) for tries in range(1, 7)] == [0.75, 1.5, 3.0, 6.0, 12.0, 22.5]


@each_provider
def test_a_wait_that_the_server_asks_for_is_kept(provider: str, server: FaultServer, models: Models) -> None:
    server.play(failed(provider, 429, Retry_After="7"), said(provider, "Here."))
    assert models(provider).complete("Who?").requests == 2
    assert models.waits == [7.0]


@each_provider
def test_a_server_that_asks_for_an_hour_is_not_waited_for(
    provider: str, server: FaultServer, models: Models
) -> None:
    server.play(failed(provider, 429, Retry_After="3600"))
    error = fault(models(provider))
    assert (error.kind, error.retry_after, len(server.asked), models.waits) == ("overloaded", 3600.0, 1, [])
    assert "asks to be left alone for 3600 s" in str(error)


@pytest.mark.parametrize("value", ["soon", "nan", "-5", "inf"])
def test_a_nonsensical_wait_is_no_wait(value: str, server: FaultServer, models: Models) -> None:
    server.play(failed("openai", 429, Retry_After=value), said("openai", "Here."))
    assert models("openai").complete("Who?").text == "Here."
    assert models.waits == [1.0]


def test_a_wait_until_a_date_is_kept(server: FaultServer, models: Models) -> None:
    server.play(
        failed("anthropic", 529, Retry_After="Fri, 31 Dec 1999 23:59:59 GMT"), said("anthropic", "Here.")
    )
    assert models("anthropic").complete("Who?").text == "Here."
    assert models.waits == [1.0]  # that date is over


@each_provider
def test_half_a_body_is_a_broken_connection(provider: str, server: FaultServer, models: Models) -> None:
    whole = said(provider, "Here.")
    server.play(Step(body=whole.body, cut=20))
    error = fault(models(provider))
    assert (error.kind, len(server.asked)) == ("dropped", 4)


@each_provider
@pytest.mark.parametrize(
    "body",
    ['{"model": "m", "mess', "[1, 2", "null", "[]", '"text"', "{}", '{"choices": []}', '{"choices": [7]}', '{"content": 3}',
     '{"message": {"role": "assistant", "content": 7}, "content": "no"}', "", "\x00", "[" * 100_000],
)  # fmt: skip
def test_a_body_that_is_no_reply_is_malformed_and_never_an_answer(
    provider: str, body: str, server: FaultServer, models: Models
) -> None:
    server.play(Step(body=body))
    error = fault(models(provider))
    assert (error.kind, len(server.asked)) == ("malformed", 1)


@each_provider
def test_a_page_of_html_is_malformed(provider: str, server: FaultServer, models: Models) -> None:
    server.play(Step(body="<html>Sign in</html>", headers={"Content-Type": "text/html"}))
    assert fault(models(provider)).kind == "malformed"


@each_provider
@pytest.mark.parametrize("text", ["", "  \n", "<think>Let me see.</think>", "<think>Let me"])
def test_no_words_are_empty(provider: str, text: str, server: FaultServer, models: Models) -> None:
    server.play(said(provider, text))
    error = fault(models(provider))
    assert (error.kind, len(server.asked)) == ("empty", 1)
    assert ("thought" in str(error)) is text.startswith("<think>")


@each_provider
def test_an_answer_at_its_limit_is_truncated(provider: str, server: FaultServer, models: Models) -> None:
    server.play(said(provider, "Odo Ma", stop="length"))
    error = fault(models(provider), max_tokens=9)
    assert (error.kind, len(server.asked)) == ("truncated", 1)
    assert "cut off at 9 tokens" in str(error)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_refusal_is_refused(provider: str, server: FaultServer, models: Models) -> None:
    server.play(said(provider, "I cannot.", stop="refusal"))
    error = fault(models(provider))
    assert (error.kind, len(server.asked)) == ("refused", 1)


def test_openais_refusal_field_is_refused(server: FaultServer, models: Models) -> None:
    reply = json.loads(said("openai", "").body)
    reply["choices"][0]["message"] = {"role": "assistant", "content": None, "refusal": "I will not."}
    server.play(Step(body=json.dumps(reply)))
    assert "I will not." in str(fault(models("openai")))


@each_provider
@pytest.mark.parametrize(
    "wrap", ["{}", "<think>{{1}}</think>\n{}", "```json\n{}\n```", "<think>x</think>```\n{}\n```"]
)
def test_thinking_and_fences_around_json_come_off(
    provider: str, wrap: str, server: FaultServer, models: Models
) -> None:
    server.play(said(provider, wrap.format('{"a": 1}')))
    assert models(provider).complete("Who?", schema=SCHEMA).json() == {"a": 1}


@each_provider
@pytest.mark.parametrize(
    "text", ['{"a": 1', "{'a': 1}", 'Here: {"a": 1}', '{"a": 1, "a": 2}', '{"a": NaN}', "{a:1,}"]
)
def test_json_is_never_mended(provider: str, text: str, server: FaultServer, models: Models) -> None:
    server.play(said(provider, text))
    got = models(provider).complete("Who?", schema=SCHEMA)
    with pytest.raises(ModelError) as caught:
        got.json()
    assert caught.value.kind == "malformed"


@each_provider
def test_a_server_that_never_answers_is_given_up_twice(
    provider: str, server: FaultServer, models: Models
) -> None:
    server.play(SILENT)
    error = fault(models(provider, timeout=0.5))
    assert (error.kind, len(server.asked)) == ("timed-out", 2)


@each_provider
def test_a_server_that_sends_a_byte_at_a_time_is_given_up_all_the_same(
    provider: str, server: FaultServer, models: Models
) -> None:
    server.play(Step(drip=True))
    error = fault(models(provider, timeout=0.5))
    assert (error.kind, len(server.asked)) == ("timed-out", 2)


@each_provider
def test_nobody_there_is_one_line_at_once_with_the_ways_out(provider: str, models: Models) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    error = fault(models(provider, base_url=f"http://127.0.0.1:{port}/v1"))
    assert (error.kind, error.requests, models.waits) == ("unreachable", 1, [])
    assert "ludic annotate" in str(error)
    assert f"127.0.0.1:{port}" in str(error)


@each_provider
def test_a_host_that_does_not_answer_is_given_up_within_five_seconds(provider: str, models: Models) -> None:
    """Nobody waits for it here: the client is made with that limit, and such a failure is not tried again."""
    model: Any = models(provider, timeout=600.0)
    client = model._opened()
    timeout = client._client.timeout if provider == "ollama" else client.timeout
    assert (timeout.connect, timeout.read) == (4.0, 600.0)
    assert Retry().wait(ModelError("unreachable", "m", "no"), 1) is None


@each_provider
def test_a_server_that_is_gone_after_it_was_there_is_waited_for(
    provider: str, server: FaultServer, models: Models
) -> None:
    def stop() -> None:
        server.close()

    server.play(Step(cut=-1, then=stop))
    error = fault(models(provider))
    assert (error.kind, error.requests, len(server.asked)) == ("unreachable", 4, 1)


@each_provider
def test_an_unknown_model_is_told_those_that_there_are(
    provider: str, server: FaultServer, models: Models
) -> None:
    server.play(failed(provider, 404, "no such model"))
    error = fault(models(provider))
    assert error.kind == "unknown-model"
    assert ("qwen3:14b, smol:135m" if provider == "ollama" else "alpha") in str(error)


def test_an_unknown_model_of_ollama_is_noticed_before_it_is_asked(
    server: FaultServer, models: Models
) -> None:
    server.fixed["/api/show"] = failed("ollama", 404, "model not found")
    server.play(said("ollama", "x"))
    assert fault(models("ollama", "nobody")).kind == "unknown-model"
    assert server.asked == []


def test_a_wrong_path_names_nothing(server: FaultServer, models: Models) -> None:
    server.fixed.clear()
    server.play(failed("openai", 404))
    assert "most end in /v1" in str(fault(models("openai")))


@pytest.mark.parametrize(
    ("provider", "message"),
    [
        ("anthropic", "prompt is too long: 210000 tokens > 200000 maximum"),
        ("openai", "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens."),
        ("openai", "the request (210000 tokens) exceeds the available context size (200000 tokens), try increasing it"),
    ],
)  # fmt: skip
def test_a_prompt_too_long_says_by_how_much(
    provider: str, message: str, server: FaultServer, models: Models
) -> None:
    server.play(failed(provider, 400, message))
    error = fault(models(provider))
    assert error.kind == "too-long"
    assert "210,000 tokens where 200,000 fit, 10,000 too many" in str(error)


def test_an_error_in_a_reply_of_200_is_an_error(server: FaultServer, models: Models) -> None:
    server.play(
        Step(body=json.dumps({"id": "x", "choices": None, "error": {"code": 429, "message": "slow"}}))
    )
    error = fault(models("openai"))
    assert (error.kind, len(server.asked)) == ("overloaded", 4)


def test_nothing_left_to_pay_with_is_not_tried_again(server: FaultServer, models: Models) -> None:
    body = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    server.play(Step(429, json.dumps(body)))
    error = fault(models("openai"))
    assert (error.kind, len(server.asked)) == ("denied", 1)


@each_provider
@pytest.mark.parametrize("status", [200, 400, 401, 404, 500])
def test_a_key_that_the_server_sends_back_is_shown_nowhere(
    provider: str, status: int, server: FaultServer, models: Models, caplog: pytest.LogCaptureFixture
) -> None:
    """The canary: in the request's headers, and nowhere else, though the server repeats it in every field."""
    caplog.set_level(logging.DEBUG)
    for path in ("/api/tags", "/v1/models"):
        server.fixed[path] = Step(body=json.dumps({"models": [{"model": KEY}], "data": [{"id": KEY}]}))
    server.play(
        said(provider, f"{KEY}", thinking=KEY) if status == 200 else failed(provider, status, f"bad {KEY}")
    )
    model = models(provider)
    shown = [repr(model), repr(model.producer), str(vars(model).get("_server", ""))]
    if status == 200:
        shown.append(repr(model.complete("Who?")))
    else:
        error = fault(model)
        shown += [str(error), repr(error), repr(vars(error)), repr(unscored(error)), repr(error.__cause__)]
    assert KEY in str(server.asked[0].headers)
    assert KEY not in "\n".join(shown)
    assert KEY not in caplog.text


def test_what_is_secret_in_a_url_is_not_shown(models: Models) -> None:
    error = fault(models("openai", base_url="http://user:pass@127.0.0.1:9/v1?key=abc"))
    assert "http://127.0.0.1:9/v1" in str(error)
    assert "pass" not in str(error)
    assert "abc" not in str(error)


def test_a_failure_becomes_the_cause_why_nothing_was_measured(server: FaultServer, models: Models) -> None:
    server.play(said("ollama", ""))
    why = unscored(fault(models("ollama")))
    assert why.cause == "model"
    assert why.reason == "empty: ollama:qwen3:14b: the answer is empty"
