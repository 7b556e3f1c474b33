"""The official clients, the Notary and G-Eval against a real model.

The model is far too small to read a story. What is tested is that what goes in and comes out is whole, valid and repeatable, and
that what fails is named. What it says is never looked at for its sense.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anthropic
import jsonschema
import pytest

from ludic_deepeval.errors import ModelError
from ludic_deepeval.llm.client import Completion, Model, Request
from ludic_deepeval.llm.loop import run
from ludic_deepeval.llm.pool import complete_many
from ludic_deepeval.llm.retry import Retry
from ludic_deepeval.lockfile import load_lockfile, write_lockfile
from ludic_deepeval.notary import Settings, extract
from ludic_deepeval.schema import notary_schema
from ludic_deepeval.sources.markdown import read_story
from tests.live.conftest import ROOT, Standin
from tests.live.protocols import NAME
from tests.live.standin import CONTEXT

pytestmark = pytest.mark.live
each_provider = pytest.mark.parametrize("provider", ["ollama", "anthropic", "openai"])
seeded = pytest.mark.parametrize("provider", ["ollama", "openai"])  # Anthropic's client has no seed

Note = Callable[[str, object], None]
PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "status": {"type": "string", "enum": ["alive", "dead"]},
        "ties": {"type": "array", "items": {"type": "string", "enum": ["enemy", "ally"]}, "minItems": 1},
    },
    "required": ["name", "status", "ties"],
    "additionalProperties": False,
}
ASKED = "Odo Marsh signs the ledgers at the mill. Who is he?"
TALE = "Odo Marsh still signs the ledgers at the mill, and he signs them late.\n\nSomebody had paid for the bell not to ring.\n"
PATIENT = Retry(attempts=8, first=1.0, most=4.0)
HASTY = Retry(attempts=2, first=0.1)


def fits(value: object, schema: dict[str, Any]) -> bool:
    jsonschema.Draft202012Validator.check_schema(schema)
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


@each_provider
def test_an_answer_fits_its_schema_and_says_what_it_cost(
    provider: str, local: Standin, record_property: Note
) -> None:
    with local.model(provider) as model:
        reply = model.complete(
            ASKED, system="Answer in JSON.", schema=PERSON, temperature=0, seed=1, max_tokens=120
        )
    assert fits(reply.json(), PERSON)
    assert (reply.stop, reply.model, reply.requests, reply.kind) == ("end", NAME, 1, "model")
    assert reply.prompt_tokens is not None
    assert reply.completion_tokens is not None
    assert reply.prompt_tokens >= 16  # the prompt and the system have 15 words
    assert 0 < reply.completion_tokens <= 120
    assert reply.ignored == (("temperature", "seed") if provider == "anthropic" else ())
    record_property("client", model.producer.client)
    record_property("tokens", [reply.prompt_tokens, reply.completion_tokens])


def test_a_schema_that_anthropics_format_does_not_take_is_asked_for_as_a_tool(local: Standin) -> None:
    choices = ["Odo", ["Odo", "Ysolde"]]  # its format takes no list in an enum
    shape: dict[str, Any] = {"properties": {"who": {"enum": choices}}, "required": ["who"]}
    schema = {"type": "object", "additionalProperties": False, **shape}
    with pytest.raises(ValueError, match="type"):
        anthropic.transform_schema(schema)
    with local.model("anthropic") as model:
        reply = model.complete(ASKED, schema=schema, max_tokens=60)
    assert reply.json()["who"] in choices


@each_provider
def test_an_answer_that_is_cut_off_is_no_answer(provider: str, local: Standin) -> None:
    with local.model(provider) as model, pytest.raises(ModelError) as failed:
        model.complete(ASKED, schema=PERSON, temperature=0, max_tokens=5)
    assert failed.value.kind == "truncated"
    assert "5 tokens" in str(failed.value)


@each_provider
def test_an_unknown_model_is_answered_with_those_that_there_are(provider: str, local: Standin) -> None:
    with local.model(provider, "qwen3:14b") as model, pytest.raises(ModelError) as failed:
        model.complete(ASKED)
    assert failed.value.kind == "unknown-model"
    assert f"it has: {NAME}" in str(failed.value)


@each_provider
def test_a_prompt_that_does_not_fit_is_refused_with_how_much_it_is_too_long(
    provider: str, local: Standin
) -> None:
    asked = len(local.asked)
    with local.model(provider) as model, pytest.raises(ModelError) as failed:
        model.complete("word " * 9000, max_tokens=8)
    assert failed.value.kind == "too-long"
    assert f"where {CONTEXT:,} fit" in str(failed.value)
    # Ollama would cut it without a word, so there it is not even sent.
    assert len(local.asked) - asked == (0 if provider == "ollama" else 1)


@seeded
def test_temperature_0_and_a_seed_repeat_to_the_byte(provider: str, local: Standin) -> None:
    with local.model(provider) as model:
        first, second = (
            model.complete(ASKED, temperature=0, seed=7, max_tokens=1_000, schema=PERSON) for _ in "12"
        )
    assert first.text.encode() == second.text.encode()
    assert first.completion_tokens == second.completion_tokens


@seeded
def test_a_seed_decides_where_a_temperature_leaves_a_choice(provider: str, local: Standin) -> None:
    def said(seed: int) -> str:
        # Sixteen tokens at this temperature do not come out alike by chance.
        with local.model(provider) as model:
            return drawn(model, seed)

    first, again, other = said(7), said(7), said(8)
    assert first == again
    assert first != other


def drawn(model: Model, seed: int) -> str:
    """What a model writes in 16 tokens at temperature 1, cut off or not."""
    request = Request(prompt="Name ten towns.", temperature=1.0, seed=seed, max_tokens=16)
    return run(model.answer(request)).text  # before a cut answer is made an error


def test_several_at_once_are_all_answered_and_counted(local: Standin) -> None:
    requests = [
        Request(prompt=f"Is {name} alive?", schema=PERSON, temperature=0, seed=1, max_tokens=120)
        for name in ("Odo", "Ysolde", "Hesba")
    ]
    with local.model("openai") as model:
        batch = complete_many(model, requests, concurrency=3)
    replies = [one for one in batch.results if isinstance(one, Completion)]
    assert len(replies) == 3
    assert all(fits(one.json(), PERSON) for one in replies)
    assert batch.spent.calls == 3


@each_provider
def test_a_server_killed_in_the_middle_of_an_answer_and_started_again_gives_it_whole(
    provider: str, mortal: Standin, local: Standin, record_property: Note
) -> None:
    request: dict[str, Any] = {"schema": PERSON, "temperature": 0, "seed": 7, "max_tokens": 120}
    with mortal.model(provider, retry=PATIENT) as model, ThreadPoolExecutor(1) as pool:
        asking = pool.submit(lambda: model.complete(ASKED, **request))
        wait_until(lambda: mortal.written > 2)
        mortal.kill()
        assert not asking.done()
        mortal.start()
        reply = asking.result(timeout=120)
        assert mortal.asked == [reply_path(provider)]  # the new process was asked once
    assert fits(reply.json(), PERSON)
    assert reply.requests >= 2
    record_property("requests", reply.requests)
    if provider != "anthropic":  # which has no seed
        with local.model(provider) as model:
            assert model.complete(ASKED, **request).text == reply.text  # another process, the same bytes


@each_provider
def test_a_server_killed_in_the_middle_of_an_answer_for_good_is_an_error_that_says_so(
    provider: str, mortal: Standin
) -> None:
    with mortal.model(provider, retry=HASTY) as model, ThreadPoolExecutor(1) as pool:
        asking = pool.submit(lambda: model.complete("Tell a long tale.", max_tokens=600))
        wait_until(lambda: mortal.written > 2)
        mortal.kill()
        with pytest.raises(ModelError) as failed:
            asking.result(timeout=60)
    assert failed.value.kind == "unreachable"  # dropped at first, and then there was nobody
    assert failed.value.requests == 2
    assert f"no server at {mortal.url}" in str(failed.value)


def wait_until(holds: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < give_up, "the local model did not begin to write"
        time.sleep(0.05)


def reply_path(provider: str) -> str:
    return {"ollama": "/api/chat", "anthropic": "/v1/messages", "openai": "/v1/chat/completions"}[provider]


def test_a_story_is_read_into_a_valid_lockfile_whose_every_quote_is_in_the_prose(
    local: Standin, tmp_path: Path, record_property: Note
) -> None:
    path = tmp_path / "tale.md"
    path.write_text(TALE, encoding="utf-8")
    story = read_story(path)
    by = "the command" if has_command("extract") else "notary.extract"
    if by == "the command":
        done = ludic(local, "extract", "--model", f"openai:{NAME}", str(path))
        assert done.returncode in {0, 1}, done.stderr
    else:
        with local.model("openai") as model:
            found = run(extract(story.prose, model, Settings(max_tokens=1500)))
        write_lockfile(found.lock, story.lockfile)
    lock = load_lockfile(story.lockfile)
    body = story.prose.body
    kept = [item for name in LISTS for item in getattr(lock.ledger, name)]
    assert all(body[one.start : one.end] == one.quote for item in kept for one in item.evidence)
    assert all(item.evidence for item in kept)
    assert lock.notary.kind == "model"
    assert lock.notary.model == f"openai:{NAME}"
    assert lock.notary.prompt is not None
    assert local.asked[-1] == reply_path("openai")
    record_property("by", by)
    record_property("items_kept_and_set_apart", [len(kept), len(lock.ungrounded)])
    # A story is unscored when too few of the items rest on the prose: never a score, and never a failure of the command.
    checked = ludic(local, "check", "--json", str(path))
    assert checked.returncode in {0, 1}, checked.stderr
    (row,) = json.loads(checked.stdout)["stories"]
    assert (row["state"] == "unscored") == (lock.too_little_grounded is not None)
    assert row["unscored"] is None or row["unscored"]["cause"] == "extraction"


LISTS = ("npcs", "events", "hooks", "goals", "mysteries")


def test_a_context_too_small_for_the_notarys_answer_is_refused_before_anything_is_sent(
    local: Standin, tmp_path: Path
) -> None:
    path = tmp_path / "tale.md"
    path.write_text(TALE, encoding="utf-8")
    asked = len(local.asked)
    with local.model("ollama") as model, pytest.raises(ModelError) as failed:
        run(extract(read_story(path).prose, model, Settings(max_tokens=CONTEXT)))
    assert failed.value.kind == "too-long"
    assert len(local.asked) == asked


@pytest.mark.parametrize("provider", ["ollama", "anthropic"])  # openai: the whole story above
def test_the_notarys_schema_is_kept_to(provider: str, local: Standin, record_property: Note) -> None:
    schema = enforced = notary_schema()
    if provider == "anthropic":
        # Its format has no ranges and no lengths: its client takes them out, and grounding checks them afterwards.
        enforced = anthropic.transform_schema(schema)
    with local.model(provider) as model:
        reply = model.complete(TALE, schema=schema, temperature=0, seed=1, max_tokens=1200)
    assert fits(reply.json(), enforced)
    record_property("whole_schema_kept_to", fits(reply.json(), schema))


def test_g_eval_asks_the_model_and_gets_a_number_and_a_reason(local: Standin, record_property: Note) -> None:
    from deepeval.metrics import GEval
    from deepeval.test_case import LLMTestCase, SingleTurnParams

    from ludic_deepeval.llm.deepeval import AsDeepEval

    asked = len(local.asked)
    with local.model("ollama") as model:
        judge = GEval(
            name="left open",
            model=AsDeepEval(model, seed=1, max_tokens=300),
            evaluation_steps=["Count the threads that are left open."],
            evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT],
            async_mode=False,
            _include_g_eval_suffix=False,
        )
        judge.measure(LLMTestCase(input="a backstory", actual_output=TALE), _show_indicator=False)
    assert isinstance(judge.score, float | int)  # which number is of no interest: the model cannot judge
    assert isinstance(judge.reason, str)
    assert judge.reason
    record_property("requests", len(local.asked) - asked)


def has_command(name: str) -> bool:
    return ludic(None, name, "--help").returncode == 0


def ludic(local: Standin | None, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the command as a user does."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if local is not None:
        environment |= {
            "OPENAI_BASE_URL": f"{local.url}/v1",
            "ANTHROPIC_BASE_URL": local.url,
            "OLLAMA_HOST": local.url,
        }
    command = [sys.executable, "-m", "ludic_deepeval", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
