"""Each fault of a server as `ludic extract` ends in it: the error's kind, the exit code, how many requests were sent, and no score."""

import json
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.llm import names
from ludic_deepeval.llm.recorded import RecordingModel, Recordings
from tests.llm_faults import KEY, PROVIDERS, SILENT, FaultServer, Models, Step, failed, said
from tests.ludic.conftest import Ludic
from tests.ludic.scripted import TALE_SAID

GOOD = json.dumps(TALE_SAID)
each_provider = pytest.mark.parametrize("provider", PROVIDERS)


def reply(provider: str, text: str, **options: Any) -> Step:
    """A whole reply to a prompt of the Notary, which is some thousand tokens: who says fewer has cut it."""
    return said(provider, text, **{"read": 3000} | options)


@pytest.fixture
def behind(server: FaultServer, models: Models, monkeypatch: pytest.MonkeyPatch) -> Models:
    """Have the command open its models behind the fault server: the official clients, and no waits between tries."""

    def opened(name: Any = None, *, record: Path | None = None, **_: Any) -> Any:
        provider, _, model = str(name).partition(":")
        made = models(provider, model, timeout=0.5 if server.steps == [SILENT] else 30.0)
        return RecordingModel(made, Recordings(record)) if record else made

    monkeypatch.setattr(names, "open_model", opened)
    return models


FAULTS = [
    # name, what the server plays, kind, exit code, requests
    ("429", lambda p: [failed(p, 429)], "overloaded", 1, 4),
    ("429 with Retry-After", lambda p: [failed(p, 429, Retry_After="7")], "overloaded", 1, 4),
    ("529", lambda p: [failed(p, 529)], "overloaded", 1, 4),
    ("500", lambda p: [failed(p, 500)], "server-error", 1, 4),
    ("half a body", lambda p: [Step(body=reply(p, GOOD).body, cut=40)], "dropped", 1, 4),
    ("half a JSON", lambda p: [reply(p, GOOD[:90])], "malformed", 1, 1),
    ("wrong JSON", lambda p: [reply(p, "[1, 2]")], "malformed", 1, 1),
    ("empty text", lambda p: [reply(p, "")], "empty", 1, 1),
    ("thinking alone", lambda p: [reply(p, "<think>Odo, then.</think>")], "empty", 1, 1),
    ("cut off", lambda p: [reply(p, GOOD, stop="length")], "truncated", 1, 1),
    ("never answering", lambda _: [SILENT], "timed-out", 1, 2),
    ("no key that is taken", lambda p: [failed(p, 401)], "denied", 2, 1),
]


@each_provider
@pytest.mark.parametrize("fault", FAULTS, ids=[row[0] for row in FAULTS])
def test_a_fault_is_named_and_leaves_no_ledger(  # fixtures
    provider: str, fault: Any, tale: Path, server: FaultServer, behind: Models, ludic: Ludic
) -> None:
    _, played, kind, code, requests = fault
    server.play(*played(provider))
    ran = ludic("extract", "tale.md", "--model", f"{provider}:qwen3:14b", "--json")
    assert (ran.code, len(server.asked)) == (code, requests)
    assert not (tale / "tale.ledger.json").exists()
    if kind == "denied":  # which every other story would end in: one line, and no report
        assert (ran.out, len(ran.faults)) == ("", 1)
        return
    (story,) = json.loads(ran.out)["stories"]
    assert (story["state"], story["error"]["kind"]) == ("failed", kind)
    assert "items" not in story


@pytest.mark.parametrize("provider", ["anthropic", "openai"])  # Ollama has no word for it
def test_a_refusal_is_named_and_leaves_no_ledger(
    provider: str, tale: Path, server: FaultServer, behind: Models, ludic: Ludic
) -> None:
    server.play(reply(provider, "I cannot.", stop="refusal"))
    ran = ludic("extract", "tale.md", "--model", f"{provider}:m", "--json")
    (story,) = json.loads(ran.out)["stories"]
    assert (ran.code, story["error"]["kind"], len(server.asked)) == (1, "refused", 1)
    assert not (tale / "tale.ledger.json").exists()


@each_provider
@pytest.mark.parametrize("wrap", ["<think>Odo {1}</think>\n", "```json\n", "<think>x</think>\n```json\n"])
def test_thinking_and_fences_come_off_and_the_story_is_read(
    provider: str, wrap: str, tale: Path, server: FaultServer, behind: Models, ludic: Ludic
) -> None:
    server.play(reply(provider, f"{wrap}{GOOD}" + ("\n```" if "```" in wrap else "")))
    ran = ludic("extract", "tale.md", "--model", f"{provider}:m")
    assert (ran.code, len(server.asked)) == (0, 1)
    assert (tale / "tale.ledger.json").exists()


@each_provider
def test_a_fault_that_passes_ends_in_the_ledger(
    provider: str, tale: Path, server: FaultServer, behind: Models, ludic: Ludic
) -> None:
    server.play(failed(provider, 429), failed(provider, 529), reply(provider, GOOD))
    ran = ludic("extract", "tale.md", "--model", f"{provider}:m")
    assert (ran.code, len(server.asked), behind.waits) == (0, 3, [1.0, 2.0])


def test_a_prompt_too_long_is_told_by_how_much(
    tale: Path, server: FaultServer, behind: Models, ludic: Ludic
) -> None:
    server.play(failed("anthropic", 400, "prompt is too long: 210000 tokens > 200000 maximum"))
    ran = ludic("extract", "tale.md", "--model", "anthropic:m")
    assert (ran.code, len(server.asked)) == (2, 1)
    assert "210,000 tokens where 200,000 fit, 10,000 too many" in ran.out + ran.err


@each_provider
def test_a_key_is_in_no_file_and_no_line_even_when_the_model_says_it(
    provider: str, tale: Path, server: FaultServer, behind: Models, ludic: Ludic
) -> None:
    """It is in the request's headers, and nowhere else: lockfile, recording, report, errors."""
    told = TALE_SAID | {"protagonist": KEY, "goals": [{"id": "k", "text": KEY, "evidence": [{"quote": KEY}]}]}
    server.play(reply(provider, json.dumps(told), thinking=KEY))
    ran = ludic("extract", "tale.md", "--model", f"{provider}:m", "--record", "kept", "--json")
    written = [path for path in tale.rglob("*") if path.is_file()]
    assert {path.name for path in written} >= {"tale.ledger.json"}
    assert list((tale / "kept").glob("*.json"))
    assert KEY in str(server.asked[0].headers)
    assert KEY not in ran.out + ran.err + "".join(path.read_text(encoding="utf-8") for path in written)


BIBLE = Path(__file__).parents[2] / "bible" / "faerun"
OTHERS: dict[str, tuple[str, ...]] = {
    "crosscheck": ("crosscheck", "tale.md", "--no-pcv", "--model", "openai:m"),
    "stress": ("stress", "tale.md", "--tester", "openai:m", "--judge", "openai:n"),
    "generate": ("generate", "--bible", str(BIBLE), "--out", "run", "--model", "openai:m"),
    "notary-eval": ("notary-eval", "tale.md", "--model", "openai:m"),
}
ASKED = {
    # what the server plays, and how many requests it sees: of four rubrics; of three plans, each asked for once more where the
    # answer is useless; of a draft, and its reading where the draft is words of any kind; of one reading
    "429": {"crosscheck": 16, "stress": 12, "generate": 4, "notary-eval": 4},
    "500": {"crosscheck": 16, "stress": 12, "generate": 4, "notary-eval": 4},
    "half a JSON": {"crosscheck": 4, "stress": 6, "generate": 2, "notary-eval": 1},
    "empty text": {"crosscheck": 4, "stress": 6, "generate": 1, "notary-eval": 1},
    "cut off": {"crosscheck": 4, "stress": 6, "generate": 1, "notary-eval": 1},
    "never answering": {"crosscheck": 8, "stress": 6, "generate": 2, "notary-eval": 2},
}
WORDS = {"429": "too much to do (429)", "500": "it failed (500)", "half a JSON": "openai:m: the answer is not JSON",
         "empty text": "the answer is empty", "cut off": "the answer was cut off", "never answering": "no whole answer within"}  # fmt: skip


@pytest.mark.parametrize("command", OTHERS)
@pytest.mark.parametrize("fault", ASKED)
def test_in_every_other_command_a_fault_is_named_and_in_no_figure(
    command: str, fault: str, locked: Path, server: FaultServer, behind: Models, ludic: Ludic
) -> None:
    """The call was right, so the exit code is 1; what was measured is null, and not 0."""
    (played,) = (row[1] for row in FAULTS if row[0] == fault)
    server.play(*played("openai"))
    ran = ludic(*OTHERS[command], "--json")
    assert (ran.code, len(server.asked)) == (1, ASKED[fault][command])
    words = WORDS[fault].replace("openai:m: ", "") if command == "stress" else WORDS[fault]
    assert words in ran.out + ran.err
    if command == "generate":
        assert not list(locked.rglob("decision-*.json"))
        return
    found = json.loads(ran.out)
    if command == "crosscheck":
        assert {row["judge"] for row in found["stories"][0]["rows"]} == {None}
    elif command == "stress":
        assert (found["stories"][0]["effort"], found["stories"][0]["diversity"]) == (None, None)
    else:
        assert (found["lpi_error"], found["pcv_error"], found["gate"]["both"]) == (None, None, 0)


@pytest.mark.parametrize("command", OTHERS)
def test_in_every_other_command_a_key_that_is_not_taken_is_a_wrong_call(
    command: str, locked: Path, server: FaultServer, behind: Models, ludic: Ludic
) -> None:
    server.play(failed("openai", 401))
    ran = ludic(*OTHERS[command])
    assert ran.code == 2
    assert "the key is not accepted" in ran.err


def test_a_record_that_is_no_folder_is_told_before_anybody_is_asked(
    tale: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch, ludic: Ludic
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    server.play(reply("openai", GOOD))
    (tale / "kept").write_text("a file", encoding="utf-8")
    ran = ludic("extract", "tale.md", "--model", "openai:m", "--record", "kept")
    assert (ran.code, server.asked, ran.out) == (2, [], "")
    assert ran.faults == ["ludic: kept: --record: this is no folder; allowed: a folder, also a new one"]
    assert not (tale / "tale.ledger.json").exists()
