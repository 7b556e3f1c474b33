"""`ludic extract --batch`: a corpus as one of Anthropic's Message Batches, by the official client, against a loopback server."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.llm import anthropic_batches
from ludic_deepeval.lockfile import load_lockfile
from tests.llm_faults import KEY, FaultServer, Models, Step, said
from tests.ludic.conftest import TALE, Ludic
from tests.ludic.scripted import TALE_SAID

ROOT = Path(__file__).parents[2]
BATCHES = "/v1/messages/batches"
ONE = f"{BATCHES}/msgbatch_1"
MODEL = "anthropic:claude-opus-4-7"


@pytest.fixture
def corpus(tmp_path: Path, server: FaultServer, models: Models, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three stories, the working directory, and a server of batches in the environment."""
    folder = tmp_path / "stories"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.md").write_text(f"{TALE}\nThis is telling {name}.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setattr(anthropic_batches, "POLL", 0.01)
    return tmp_path


def play(server: FaultServer, results: list[dict[str, Any]] | None) -> None:
    """Take one batch; it has ended when there are results."""
    counts = {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
    made = {"id": "msgbatch_1", "type": "message_batch", "request_counts": counts,
            "processing_status": "in_progress" if results is None else "ended",
            "created_at": "2026-01-01T00:00:00Z", "expires_at": "2026-01-02T00:00:00Z",
            "results_url": f"{server.url}{ONE}/results"}  # fmt: skip
    for path in (BATCHES, ONE):
        server.fixed[path] = Step(body=json.dumps(made))
    lines = "\n".join(map(json.dumps, results or []))
    server.fixed[f"{ONE}/results"] = Step(body=lines, headers={"Content-Type": "application/x-jsonl"})


def answered(at: int, says: object = TALE_SAID) -> dict[str, Any]:
    text = says if isinstance(says, str) else json.dumps(says)
    message = json.loads(said("anthropic", text, read=1000, written=200).body)
    return {"custom_id": f"r{at}", "result": {"type": "succeeded", "message": message}}


def posts(server: FaultServer) -> list[str]:
    return [one.path for one in server.seen if one.method == "POST"]


def test_a_corpus_is_handed_in_once_and_read(corpus: Path, server: FaultServer, ludic: Ludic) -> None:
    play(server, [answered(2), answered(0), answered(1)])
    ran = ludic("extract", "stories", "--model", MODEL, "--batch", "batch.json")
    assert (ran.code, posts(server)) == (0, [BATCHES])  # nothing is asked beside the batch
    assert "3 stories read; 3 calls, 3,000 tokens read, 600 written" in ran.out
    assert ran.faults == ["waiting for msgbatch_1, 3 requests, answered within a day"]
    lock = load_lockfile(corpus / "stories" / "b.ledger.json")
    assert (lock.notary.model, lock.notary.kind) == (MODEL, "model")
    assert [npc.id for npc in lock.ledger.npcs] == ["odo"]
    assert not (corpus / "batch.json").exists()
    (posted,) = [one for one in server.seen if one.path == BATCHES]
    assert [one["custom_id"] for one in posted.body["requests"]] == ["r0", "r1", "r2"]
    assert "output_config" in posted.body["requests"][0]["params"]
    # Unchanged prose is not handed in again.
    again = ludic("extract", "stories", "--model", MODEL, "--batch", "batch.json")
    assert (again.code, posts(server)) == (0, [BATCHES])
    assert "3 unchanged" in again.out


def test_after_a_kill_the_same_command_goes_on_with_the_batch(
    corpus: Path, server: FaultServer, ludic: Ludic
) -> None:
    play(server, None)
    command = ["extract", "stories", "--model", MODEL, "--batch", "batch.json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-m", "ludic_deepeval", *command], env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    give_up = time.monotonic() + 60
    while not (corpus / "batch.json").exists():
        assert time.monotonic() < give_up
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.communicate()
    note = (corpus / "batch.json").read_text(encoding="utf-8")
    assert json.loads(note)["batch"] == "msgbatch_1"
    assert KEY not in note
    play(server, [answered(0), answered(1), answered(2)])
    ran = ludic(*command)
    assert (ran.code, posts(server)) == (
        0,
        [BATCHES],
    )  # handed in by the one that was killed, and by nobody else
    assert len(list((corpus / "stories").glob("*.ledger.json"))) == 3


def test_what_the_batch_does_not_answer_is_named_and_never_scored(
    corpus: Path, server: FaultServer, ludic: Ludic
) -> None:
    play(server, [{"custom_id": "r0", "result": {"type": "expired"}}, answered(1)])  # and nothing for r2
    ran = ludic("extract", "stories", "--model", MODEL, "--batch", "batch.json")
    assert ran.code == 1
    assert f"stories/a.md: not read: {MODEL}: it was not asked within a day" in ran.out
    assert f"stories/c.md: not read: {MODEL}: the batch came back without an answer to this" in ran.out
    assert "1 story read, 2 not readable" in ran.out
    assert [path.name for path in (corpus / "stories").glob("*.ledger.json")] == ["b.ledger.json"]
    assert posts(server) == [BATCHES]


def test_a_refused_request_of_the_batch_and_an_answer_that_is_no_ledger_are_named(
    corpus: Path, server: FaultServer, ludic: Ludic
) -> None:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": f"bad {KEY}"}}
    play(
        server,
        [
            {"custom_id": "r0", "result": {"type": "errored", "error": error}},
            answered(1, "[]"),
            answered(2, "{"),
        ],
    )
    ran = ludic("extract", "stories", "--model", MODEL, "--batch", "batch.json", "--json")
    found = {Path(one["path"]).name: one for one in json.loads(ran.out)["stories"]}
    assert ran.code == 2  # as when the server refuses it outside of a batch
    assert [found[f"{name}.md"]["error"]["kind"] for name in "abc"] == ["rejected", "malformed", "malformed"]
    assert KEY not in ran.out + ran.err
    assert not list((corpus / "stories").glob("*.ledger.json"))


def test_a_quote_that_is_not_found_is_asked_for_at_once_outside_of_the_batch(
    corpus: Path, server: FaultServer, ludic: Ludic
) -> None:
    """One extra request, for the one story that needs it."""
    lost = TALE_SAID | {
        "goals": [TALE_SAID["goals"][0] | {"evidence": [{"quote": "She means to stand before a judge"}]}]
    }
    play(server, [answered(0), answered(1, lost), answered(2)])
    server.play(
        said(
            "anthropic",
            json.dumps({"items": [{"number": 1, "quotes": ["She means to stand before the judge"]}]}),
        )
    )
    ran = ludic("extract", "stories", "--model", MODEL, "--batch", "batch.json")
    assert (ran.code, posts(server)) == (0, [BATCHES, "/v1/messages"])
    assert len(load_lockfile(corpus / "stories" / "b.ledger.json").ledger.goals) == 1


def test_a_story_that_is_new_or_edited_since_is_left_and_said(
    corpus: Path, server: FaultServer, ludic: Ludic
) -> None:
    play(server, None)
    command = ["extract", "stories", "--model", MODEL, "--batch", "batch.json"]
    hand_in(corpus, ludic, command)
    (corpus / "stories" / "b.md").write_text(f"{TALE}\nIt ends otherwise.\n", encoding="utf-8")
    play(server, [answered(0), answered(1), answered(2)])
    ran = ludic(*command)
    assert (ran.code, posts(server)) == (1, [])
    assert "2 stories read, 1 left to read (not in the batch of batch.json, new or changed since)" in ran.out
    assert not (corpus / "stories" / "b.ledger.json").exists()


def hand_in(corpus: Path, ludic: Ludic, command: list[str]) -> None:
    """Hand in, and stop waiting at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(anthropic_batches, "run", _interrupted)
        patch.setattr(anthropic_batches, "submit", lambda *_, **__: "msgbatch_1")
        ran = ludic(*command)
    assert ran.code == 130
    assert "the same command goes on with batch.json" in ran.err
    assert (corpus / "batch.json").exists()


def _interrupted(work: Any) -> None:
    """What waiting ends in at Ctrl-C."""
    work.close()
    raise KeyboardInterrupt


def test_a_batch_over_the_budget_is_not_handed_in(corpus: Path, server: FaultServer, ludic: Ludic) -> None:
    ran = ludic("extract", "stories", "--model", MODEL, "--batch", "batch.json", "--budget-calls", 2)
    assert (ran.code, server.seen) == (1, [])
    assert "the budget of 2 calls is spent" in ran.err
    assert "nothing was handed in" in ran.err
    assert not (corpus / "batch.json").exists()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--model", "ollama:qwen3:14b", "--batch", "b.json"), "--batch: ollama:qwen3:14b takes no batches"),
        (("--model", MODEL, "--batch", "nowhere/b.json"), "there is no such folder"),
        (("--model", MODEL, "--batch", "other.json"), "a batch of anthropic:other; allowed: one of"),
        (("--model", MODEL, "--batch", "broken.json"), "broken.json"),
        (("--model", MODEL, "--batch", "strange.json"), "holds nothing of these stories as they are"),
    ],
)
def test_a_wrong_call_is_one_line_and_hands_nothing_in(
    arguments: tuple[str, ...], line: str, corpus: Path, server: FaultServer, ludic: Ludic
) -> None:
    note = {"schema_version": 1, "model": "anthropic:other", "batch": "x", "requests": ["k"]}
    (corpus / "other.json").write_text(json.dumps(note), encoding="utf-8")
    (corpus / "strange.json").write_text(json.dumps(note | {"model": MODEL}), encoding="utf-8")
    (corpus / "broken.json").write_text("[", encoding="utf-8")
    ran = ludic("extract", "stories", *arguments)
    assert (ran.code, server.seen, len(ran.faults)) == (2, [], 1)
    assert line in ran.err


def test_a_batch_that_the_server_no_longer_has_is_one_line(
    corpus: Path, server: FaultServer, ludic: Ludic
) -> None:
    play(server, None)
    command = ["extract", "stories", "--model", MODEL, "--batch", "batch.json"]
    hand_in(corpus, ludic, command)
    server.fixed.clear()
    ran = ludic(*command)
    assert ran.code == 2
    assert "there is no batch 'msgbatch_1'" in ran.err
