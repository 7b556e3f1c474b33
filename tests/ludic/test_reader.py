"""`ludic judge --model`: a Notary reads submissions that come without a ledger, within bounds and without its key."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.cli_judge import serve_one
from ludic_deepeval.policy import Policy
from ludic_deepeval.reader import MOST, reader_of
from tests.llm_faults import KEY, FaultServer, Models, said
from tests.ludic.conftest import TALE
from tests.ludic.scripted import TALE_SAID, Scripted

ROOT = Path(__file__).parents[2]


def asked(text: str, model: Scripted) -> tuple[int, dict[str, Any]]:
    out = io.StringIO()
    data = json.dumps({"version": 1, "id": "a7", "text": text}).encode()
    code = serve_one(io.BytesIO(data), out, Policy(profile="submission"), reader_of(model))
    return code, json.loads(out.getvalue())


def test_a_text_without_a_ledger_is_read_in_one_call_and_judged() -> None:
    """PCV of the one event: immediacy 3, gravity 8, linkage 5, divergence 6 by Eq 4, as of the same marks made by hand."""
    model = Scripted(lambda _: TALE_SAID)
    code, answer = asked(TALE, model)
    assert (code, answer["state"], answer["verdict"], len(model.asked)) == (1, "read", "revise", 1)
    assert answer["reply"]
    assert answer["pcv"] == 55


def test_a_text_longer_than_a_model_is_given_costs_no_call() -> None:
    model = Scripted(lambda _: TALE_SAID)
    _, answer = asked("Mara waits. " * (MOST // 12 + 1), model)
    assert (answer["state"], model.asked) == ("unscored", [])
    assert "at most 24,000 for a model" in answer["unscored"]["reason"]


def test_a_reading_of_which_too_little_is_in_the_text_is_no_verdict() -> None:
    made_up = TALE_SAID | {"hooks": [{"id": f"h{n}", "text": "a dragon", "tier": 1, "evidence": [{"quote": "a dragon rises at dawn"}]} for n in range(4)]}  # fmt: skip
    code, answer = asked(TALE, Scripted(lambda _: made_up))
    assert (code, answer["state"], answer["verdict"], answer["reply"]) == (1, "unscored", None, None)
    assert "rest on no quote" in answer["unscored"]["reason"]


@pytest.mark.parametrize("says", ["no JSON", "", "[]"])
def test_an_answer_that_is_no_ledger_is_no_verdict(says: str) -> None:
    code, answer = asked(TALE, Scripted(lambda _: says))
    assert (code, answer["state"], answer["verdict"]) == (1, "unscored", None)


def test_the_command_asks_the_model_and_shows_no_key(server: FaultServer, models: Models) -> None:
    server.play(said("anthropic", json.dumps(TALE_SAID | {"protagonist": KEY})))
    lines = [json.dumps({"version": 1, "id": str(n), "text": TALE}) for n in range(2)]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": KEY,
    }
    done = subprocess.run(
        [sys.executable, "-m", "ludic_deepeval", "judge", "--lines", "--model", "anthropic:claude-sonnet-4-5"],
        input="\n".join(lines), capture_output=True, text=True, check=False, env=environment, timeout=120,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one["id"], one["state"]) for one in answers] == [("0", "read"), ("1", "read")]
    assert (done.returncode, len(server.asked)) == (1, 2)
    assert KEY in str(server.asked[0].headers)
    assert KEY not in done.stdout + done.stderr


def test_no_server_is_said_in_the_answer_and_ends_no_service(models: Models) -> None:
    model = models("ollama", base_url="http://127.0.0.1:9")
    out = io.StringIO()
    data = json.dumps({"version": 1, "text": TALE}).encode()
    assert serve_one(io.BytesIO(data), out, Policy(profile="submission"), reader_of(model)) == 1
    answer = json.loads(out.getvalue())
    assert (answer["state"], answer["verdict"]) == ("unscored", None)
    assert "no server at http://127.0.0.1:9" in answer["unscored"]["reason"]
