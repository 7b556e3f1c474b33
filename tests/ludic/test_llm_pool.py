"""Many requests at once: the bound, the budget, Ctrl-C, and what is kept."""

import asyncio
import os
import signal
import threading
from typing import Any

import pytest

from ludic_deepeval.errors import InputError, ModelError
from ludic_deepeval.llm.budget import Budget, Meter, preview
from ludic_deepeval.llm.client import Completion, Model, Request
from ludic_deepeval.llm.pool import Batch, complete_many
from ludic_deepeval.llm.retry import Retry
from tests.llm_faults import SILENT, FaultServer, Models, Step, failed, said


class Scripted(Model):
    """Answers by a function of the request, and counts how many it is asked at once."""

    provider = "scripted"

    def __init__(self, answer: Any = "yes", **options: Any) -> None:
        super().__init__("scripted:test", **options)
        self._says = answer
        self.now = self.most = self.calls = 0

    async def answer(self, request: Request) -> Completion:
        self.calls += 1
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.005)
        self.now -= 1
        said = self._says(request) if callable(self._says) else self._says
        if isinstance(said, Exception):
            raise said
        return Completion(text=said, model="test", prompt_tokens=100, completion_tokens=50, kind="scripted")


def asks(count: int, **options: Any) -> list[Request]:
    return [Request(prompt=f"{at}?", **options) for at in range(count)]


def test_results_keep_the_order_of_the_requests() -> None:
    got = complete_many(Scripted(lambda request: f"to {request.prompt}"), asks(20), concurrency=7)
    assert [one.text for one in got.completions] == [f"to {at}?" for at in range(20)]
    assert got.stopped is None
    assert str(got) == "20 of 20 answered; 20 calls, 2,000 tokens read, 1,000 written"


@pytest.mark.parametrize("concurrency", [1, 3, 50])
def test_no_more_are_under_way_than_allowed(concurrency: int) -> None:
    model = Scripted()
    complete_many(model, asks(12), concurrency=concurrency)
    assert model.most == min(concurrency, 12)


def test_each_result_is_told_once_in_the_callers_thread() -> None:
    told: list[tuple[int, str]] = []

    def on_done(at: int, result: Any) -> None:
        told.append((at, threading.current_thread().name))

    complete_many(Scripted(), asks(9), on_done=on_done)
    assert sorted(told) == [(at, threading.current_thread().name) for at in range(9)]


def test_a_failure_is_one_result_and_stops_nothing() -> None:
    model = Scripted(lambda request: ModelError("rejected", "m", "no") if request.prompt == "1?" else "yes")
    got = complete_many(model, asks(4))
    assert [isinstance(one, Completion) for one in got.results] == [True, False, True, True]
    assert str(got).startswith("3 of 4 answered, 1 failed; 4 calls")


def test_what_all_would_end_in_stops_the_rest(models: Models, server: FaultServer) -> None:
    server.close()
    got = complete_many(models("openai"), asks(30), concurrency=2)
    assert isinstance(got.stopped, ModelError)
    assert (got.stopped.kind, got.left) == ("unreachable", tuple(range(30)))
    assert got.spent.calls == 2


def test_a_budget_of_calls_keeps_what_is_done_and_says_what_is_left() -> None:
    model = Scripted()
    got = complete_many(model, asks(10), concurrency=3, budget=Budget(calls=4))
    assert model.calls == 4
    assert (len(got.completions), len(got.left)) == (4, 6)
    assert isinstance(got.stopped, ModelError)
    assert got.stopped.kind == "budget"
    assert "4 of 10 answered, 6 left to ask (the budget of 4 calls is spent)" in str(got)


def test_a_request_that_is_sent_again_is_a_call_of_the_budget(models: Models, server: FaultServer) -> None:
    server.play(failed("openai", 500), failed("openai", 500), said("openai", "x"))
    got = complete_many(models("openai"), asks(3), concurrency=1, budget=Budget(calls=4))
    assert (len(server.asked), len(got.completions), got.left) == (4, 2, (2,))


def test_a_budget_of_tokens_is_never_exceeded_and_used_up_as_answers_turn_out_short() -> None:
    """A prompt of 2 characters is at most 1 token, with 64 for a template and 1,000 to answer 1,065; it costs 150."""
    model = Scripted()
    got = complete_many(model, asks(10, max_tokens=1000), concurrency=10, budget=Budget(tokens=1500))
    # 1,500 holds one worst case at a time. After n answers 150 n is spent, and 1,065 more fit while n <= 2: three are asked.
    assert (model.calls, model.most, got.spent.tokens) == (3, 1, 450)
    assert isinstance(got.stopped, ModelError)
    assert "of the budget of 1,500 tokens 1,050 are left, and the next request may take 1,065" in str(
        got.stopped
    )


def test_a_meter_is_shared_between_runs() -> None:
    meter = Meter(Budget(calls=5))
    first = complete_many(Scripted(), asks(3), budget=meter)
    second = complete_many(Scripted(), asks(3), budget=meter)
    assert (first.spent.calls, second.spent.calls, meter.spent.calls) == (3, 2, 5)
    assert len(second.left) == 1


def test_a_failed_request_costs_its_call_and_no_tokens() -> None:
    got = complete_many(Scripted(ModelError("rejected", "m", "no")), asks(2))
    assert (got.spent.calls, got.spent.tokens) == (2, 0)


def test_ctrl_c_keeps_what_is_done(models: Models, server: FaultServer) -> None:
    """A real signal, while the third question is never answered."""
    server.play(
        said("openai", "1"),
        said("openai", "2"),
        Step(silent=True, then=lambda: os.kill(os.getpid(), signal.SIGINT)),
    )
    told: list[int] = []
    got = complete_many(models("openai"), asks(9), concurrency=1, on_done=lambda at, _: told.append(at))
    assert [one.text for one in got.completions] == ["1", "2"]
    assert (got.stopped, got.left, told) == ("interrupted", tuple(range(2, 9)), [0, 1])
    assert "7 left to ask (interrupted)" in str(got)
    assert len(server.asked) == 3


def test_ctrl_c_while_a_result_is_written_keeps_the_result() -> None:
    def interrupted(at: int, result: Any) -> None:
        raise KeyboardInterrupt

    got = complete_many(Scripted(), asks(5), concurrency=1, on_done=interrupted)
    assert got.stopped == "interrupted"
    assert got.results[0] is not None


def test_ctrl_c_ends_a_single_question(models: Models, server: FaultServer) -> None:
    server.play(Step(silent=True, then=lambda: os.kill(os.getpid(), signal.SIGINT)))
    with pytest.raises(KeyboardInterrupt):
        models("openai").complete("Who?")


def test_an_error_of_the_caller_is_not_swallowed() -> None:
    def full(at: int, result: Any) -> None:
        raise InputError("disk", "full")

    model = Scripted()
    with pytest.raises(InputError, match="full"):
        complete_many(model, asks(50), concurrency=1, on_done=full)
    assert model.calls < 50


def test_a_mistake_in_a_model_is_not_swallowed() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        complete_many(Scripted(ZeroDivisionError()), asks(3))
    assert isinstance(caught.value.exceptions[0], ZeroDivisionError)


def test_time_outs_of_one_question_do_not_hold_up_the_others(models: Models, server: FaultServer) -> None:
    server.play(SILENT, said("openai", "x"))
    model = models("openai", timeout=0.4)
    got = complete_many(model, asks(6), concurrency=2)
    assert len(got.completions) == 6


def test_nothing_to_ask_is_an_empty_batch() -> None:
    assert complete_many(Scripted(), []) == Batch((), None, Meter().spent)


@pytest.mark.parametrize("concurrency", [0, -1])
def test_a_concurrency_of_nothing_is_refused(concurrency: int) -> None:
    with pytest.raises(InputError, match="concurrency"):
        complete_many(Scripted(), asks(1), concurrency=concurrency)


def test_a_preview_says_what_it_would_cost_at_most() -> None:
    # 300 and 30 ASCII characters by three, 10 Chinese ones by two: 100 + 10 + 20 for one, 100 + 10 for the other; 64 for each template.
    requests = [
        Request(prompt="a" * 300 + "鐘" * 10, system="b" * 30, max_tokens=500),
        Request(prompt="a" * 300, system="b" * 30, max_tokens=500),
    ]
    assert str(preview(requests)) == "2 calls, at most about 368 tokens to read and 1,000 to write"


def test_waiting_inside_the_loop_that_asks_is_refused() -> None:
    model = Scripted()

    class Nested(Scripted):
        async def answer(self, request: Request) -> Completion:
            return model.complete(request.prompt)

    with pytest.raises(RuntimeError, match="await it"):
        Nested(retry=Retry()).complete("?")
