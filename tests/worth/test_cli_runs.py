"""The commands at a terminal: run, import-run, score over records, compare, humans clean."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.llm.client import Completion, Producer, Request
from ludic_deepeval.llm.recorded import Recordings
from worth_deepeval.cli import main
from worth_deepeval.conditions import read_condition
from worth_deepeval.records import FILE, read_records
from worth_deepeval.runner import MAX_TOKENS, Cell, prompt_of

REPLY = json.dumps({"clue_sentence_ids": ["S002", "S004"], "selected_role_ids": ["R01"]})  # 7 + 5 points
Worth = Callable[..., tuple[int, str, str]]


@pytest.fixture
def worth(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Worth:
    monkeypatch.chdir(tmp_path)

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["worth", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out, said.err

    return call


def tape(folder: Path, where: Path, *texts: str, model: str = "ollama:m", cue: str = "full-story") -> str:
    """Record replies to the story under one condition."""
    _, _, prompt = prompt_of(Cell(folder, read_condition(cue)))
    recordings = Recordings(where)
    for repetition, text in enumerate(texts, start=1):
        recordings.add(
            Producer("model", "ollama", "m", "ollama 1"),
            model,
            Request(prompt=prompt, max_tokens=MAX_TOKENS, repetition=repetition),
            Completion(text=text, model="m", prompt_tokens=500, completion_tokens=90),
        )
    return f"recorded:{where}#{model}"


def test_a_run_says_what_it_would_ask_how_it_goes_on_and_what_came_of_it(
    worth: Worth, folder: Path, tmp_path: Path
) -> None:
    model = tape(folder, tmp_path / "tape", REPLY, "no")
    code, out, _ = worth("run", folder, "--model", model, "--runs", 2, "--out", "runs")
    assert code == 0
    assert "2 runs: 1 prompt, 1 model, 2 repetitions; 0 recorded already" in out
    assert "to ask: 2 calls, at most about" in out
    assert f"worth run {folder} --model" in out
    assert f"T01, ollama:m, full-story, run 1: {len(REPLY)} characters, 90 tokens, 0 s, replayed" in out
    assert "2 of 2 runs have a reply" in out
    assert len(read_records(tmp_path / "runs")) == 2
    assert "2 recorded already" in worth("run", folder, "--model", model, "--runs", 2, "--out", "runs")[1]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
def test_runs_go_on_when_nobody_reads_what_they_say(folder: Path, tmp_path: Path) -> None:
    """As with `worth run … | head -1`: each line is written at once, and the first that finds no reader ends nothing."""
    model = tape(folder, tmp_path / "tape", *[REPLY] * 5)
    command = [sys.executable, "-m", "worth_deepeval", "run", folder, "--model", model, "--out", "runs"]
    with subprocess.Popen(
        list(map(str, command)), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as done:
        assert done.stdout is not None
        assert done.stderr is not None
        assert done.stdout.readline().startswith("5 runs: ")
        done.stdout.close()
        assert done.stderr.read() == ""
    assert done.returncode == 0
    assert len(read_records(tmp_path / "runs")) == 5


def test_what_was_run_can_be_reported(worth: Worth, folder: Path, tmp_path: Path) -> None:
    model = tape(folder, tmp_path / "tape", REPLY, "no", REPLY)
    assert worth("run", folder, "--model", model, "--runs", 2, "--out", "runs")[0] == 0
    idle = tmp_path / "idle"
    assert worth("run", folder, "--model", model, "--runs", 1, "--exploratory", "--out", idle)[0] == 0
    for path in ("runs", f"runs/{FILE}"):
        code, out, _ = worth("report", folder, path, "--json")
        [found] = json.loads(out)["conditions"]
        # Of two runs one selected nothing that can be read, so the report falls short.
        assert (code, found["condition"], found["scored"], found["runs"]) == (1, "full-story", 1, 2)
        [one] = found["models"]
        assert (one["model"], one["totals"]) == ("ollama:m", [12])
    _, out, _ = worth("report", folder, idle, "--json")
    assert json.loads(out)["conditions"][0]["condition"] == "full-story, exploratory"


def test_one_model_by_two_interfaces_is_two_readers_who_keep_their_own_runs(
    worth: Worth, folder: Path, tmp_path: Path
) -> None:
    """By A: run 1 with 7 + 5 = 12 points. By B: three runs, of which 2 and 3 have no counterpart by A, with 0 points each."""
    nothing = json.dumps({"clue_sentence_ids": [], "selected_role_ids": []})
    (tmp_path / "a.txt").write_text(REPLY, encoding="utf-8")
    for n in (1, 2, 3):
        (tmp_path / f"b{n}.txt").write_text(nothing + " " * n, encoding="utf-8")
    how = ("--model", "M", "--tested", "2026-08-30", "--out", "runs")
    assert worth("import-run", folder, "a.txt", "--interface", "A", *how)[0] == 0
    assert worth("import-run", folder, "b1.txt", "b2.txt", "b3.txt", "--interface", "B", *how)[0] == 0
    cue = ("--condition", "evidence-cueing")
    assert worth("import-run", folder, "b1.txt", "--interface", "B", *how, *cue)[0] == 0
    code, out, _ = worth("report", folder, "runs", "--json")
    found = {
        (one["condition"], model["model"]): model["totals"]
        for one in json.loads(out)["conditions"]
        for model in one["models"]
    }
    assert code == 0
    assert found == {
        ("full-story", "M (A)"): [12],
        ("full-story", "M (B)"): [0, 0, 0],
        ("evidence-cueing", "M (B)"): [0],
    }


def test_a_report_leaves_out_runs_of_other_stories(
    worth: Worth, folder: Path, tmp_path: Path, data: dict[str, Any], write: Callable[..., Path]
) -> None:
    assert (
        worth("run", folder, "--model", tape(folder, tmp_path / "tape", REPLY), "--runs", 1, "--out", "runs")[
            0
        ]
        == 0
    )
    data["title"] = "Another"
    code, _, err = worth("report", write(tmp_path / "other", data), "runs")
    assert code == 2
    assert "no runs of T01 in this version" in err


def test_a_dry_run_asks_nobody_and_opens_no_client(worth: Worth, folder: Path, tmp_path: Path) -> None:
    code, out, err = worth("run", folder, "--model", "anthropic:x", "--dry-run", "--json", "--out", "runs")
    assert code == 0
    assert json.loads(out)["preview"]["calls"] == 5
    assert "--dry-run" not in json.loads(out)["resume"]  # going on asks
    assert "to ask: 5 calls" in err
    assert not (tmp_path / "runs").exists()


def test_what_is_left_exits_1_and_says_how_to_go_on(worth: Worth, folder: Path, tmp_path: Path) -> None:
    model = tape(folder, tmp_path / "tape", REPLY)
    code, out, _ = worth("run", folder, "--model", model, "--runs", 2, "--json")
    found = json.loads(out)
    assert (code, found["replied"], found["failed"], found["left"]) == (1, 1, 1, 0)
    assert found["resume"].startswith("worth run ")


def test_replies_of_a_chat_window_come_with_the_fields_of_the_paper(
    worth: Worth, folder: Path, tmp_path: Path
) -> None:
    for name in ("1.txt", "2.txt"):
        (tmp_path / name).write_text(REPLY + name)
    words = [
        "import-run", folder, "1.txt", "2.txt", "--model", "Claude Opus 4.6", "--interface", "Claude.ai",
        "--tier", "High + Extended", "--tested", "2026-08-30 to 2026-08-31", "--fresh", "--setting", "memory=off",
        "--out", "runs",
    ]  # fmt: skip
    code, out, _ = worth(*words)
    assert (code, "2 runs added to runs" in out) == (0, True)
    first, second = read_records(tmp_path / "runs")
    assert (first.access.model, first.access.interface, first.access.tier_executed) == (
        "Claude Opus 4.6",
        "Claude.ai",
        "High + Extended",
    )
    assert (first.tested.first, first.tested.last, first.formal) == ("2026-08-30", "2026-08-31", True)
    assert (first.settings.memory, first.settings.search, first.settings.conversation) == (
        "off",
        "unknown",
        "fresh",
    )
    assert (first.repetition, second.repetition, first.text) == (1, 2, REPLY + "1.txt")
    assert "2 were there already" in worth(*words, "--repetition", 1)[1]
    code, _, err = worth(*[one if one != "1.txt" else "2.txt" for one in words], "--repetition", 1)
    assert code == 2
    assert "another reply stands as Claude Opus 4.6, full-story, run 1" in err


def test_replies_that_were_taken_in_are_not_taken_in_again_unless_a_number_says_so(
    worth: Worth, folder: Path, tmp_path: Path
) -> None:
    for name in ("1.txt", "2.txt"):
        (tmp_path / name).write_text(REPLY + name, encoding="utf-8")
    call = ("import-run", folder, "1.txt", "2.txt", "--model", "M", "--tested", "2026-08-30", "--out", "runs")
    assert worth(*call, "--interface", "web")[0] == 0
    code, out, err = worth(*call, "--interface", "web")
    assert (code, out, len(read_records(tmp_path / "runs"))) == (2, "", 2)
    assert "1.txt: the same reply stands already as M, full-story, run 1" in err
    assert "2 were there already" in worth(*call, "--interface", "web", "--repetition", 1)[1]
    assert worth(*call, "--interface", "web", "--repetition", 3)[0] == 0
    assert worth(*call, "--interface", "app")[0] == 0  # another reader may have said the same
    assert len(read_records(tmp_path / "runs")) == 6


def test_records_are_scored_beside_raw_replies_and_failures_stay_out(
    worth: Worth, folder: Path, tmp_path: Path
) -> None:
    model = tape(folder, tmp_path / "tape", REPLY)
    worth("run", folder, "--model", model, "--runs", 2, "--out", "runs")
    (tmp_path / "raw.txt").write_text(REPLY)
    code, out, _ = worth("score", folder, "raw.txt", "runs", "--json")
    found = json.loads(out)
    assert code == 1
    assert [one["total"] for one in found["replies"]] == [12, 12]
    assert [(one["reply"], one["model"], one["repetition"]) for one in found["runs"]] == [(1, "ollama:m", 1)]
    assert [one["failure"]["kind"] for one in found["failures"]] == ["unrecorded"]
    _, out, _ = worth("score", folder, "runs/runs.jsonl")
    assert "1 of 1 reply scored" in out
    assert "ollama:m, full-story, run 2: no reply" in out


def test_a_plain_file_of_runs_is_scored_as_it_is_reported(worth: Worth, folder: Path, tmp_path: Path) -> None:
    """The form of `worth import-log`: S002, S004 and R01 give 3 + 4 + 5 = 12; a text of null is no reply."""
    lines = [
        {"model": "a", "repetition": 1, "condition": "full-story", "text": REPLY},
        {"model": "a", "repetition": 2, "condition": "full-story", "text": None},
    ]
    # As an editor on Windows saves it.
    text = "\ufeff" + "\r\n".join(map(json.dumps, lines)) + "\r\n"
    (tmp_path / "plain.jsonl").write_bytes(text.encode())
    code, out, _ = worth("score", folder, "plain.jsonl")
    assert (code, "plain.jsonl: a run 1: 12 points" in out, "a run 2: no reply" in out) == (1, True, True)
    code, out, _ = worth("score", folder, "plain.jsonl", "--json")
    found = json.loads(out)
    assert [one["total"] for one in found["replies"]] == [12]
    [run], [failure] = found["runs"], found["failures"]
    assert (run["model"], run["repetition"], run["reply"], run["key"]) == ("a", 1, 0, None)
    assert (failure["repetition"], failure["failure"]) == (2, None)
    code, _, err = worth("report", folder, "plain.jsonl", "--json")
    assert (code, err) == (1, "")  # one of two was scored
    lines[0]["text"] = json.dumps({"episode_id": "T02"} | json.loads(REPLY))
    (tmp_path / "plain.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert "1 of 2 replies name another episode than T01" in worth("report", folder, "plain.jsonl")[2]


def test_two_models_are_compared_on_one_episode(worth: Worth, folder: Path, tmp_path: Path) -> None:
    worse = json.dumps({"clue_sentence_ids": [], "selected_role_ids": ["R02"]})  # -8
    for model, texts in (("ollama:a", (REPLY, worse)), ("ollama:b", (REPLY, REPLY))):
        name = tape(folder, tmp_path / model[-1], *texts, model=model)
        worth("run", folder, "--model", name, "--runs", 2, "--out", "runs")
    code, out, _ = worth("compare", "ollama:a", "ollama:b", "--episode", folder, "--runs", "runs")
    assert code == 0
    assert "totals 12, -8: mean 2.00, SD 14.1" in out
    assert "total points, B − A: +10.00, 50 % interval +0.00 to +20.00, p = 1" in out
    code, out, _ = worth("compare", "ollama:a", "ollama:b", "--episode", folder, "--runs", "runs", "--json")
    assert json.loads(out)["figures"]["total"]["differences"] == [0, 20]
    two = ("compare", "full-story", "evidence-cueing", "--episode", folder, "--runs", "runs")
    worth("run", folder, "--model", tape(folder, tmp_path / "c", REPLY, cue="evidence-cueing"), "--runs", 1,
          "--condition", "evidence-cueing", "--out", "runs")  # fmt: skip
    assert worth(*two)[0] == 1  # no model has runs under both
    mixed = "evidence-cueing+no-disclosure+no-definition"  # which records call +no-definition+no-disclosure
    worth("run", folder, "--model", tape(folder, tmp_path / "d", REPLY, cue=mixed), "--runs", 1,
          "--condition", mixed, "--out", "runs")  # fmt: skip
    assert worth("compare", "full-story", mixed, "--episode", folder, "--runs", "runs")[0] == 1
    code, _, err = worth(*two, "--condition", "full-story")
    assert (code, "--condition: beside two conditions" in err) == (2, True)
    code, _, err = worth("compare", "ollama:a", "ollama:z", "--episode", folder, "--runs", "runs")
    assert (code, "models: ollama:a, ollama:b" in err) == (2, True)


def test_submissions_are_cleaned_into_a_file_and_its_counts(
    worth: Worth, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "in.csv").write_text(
        "player,episode,submitted_at,clue_sentence_ids,selected_role_ids\n"
        "a,T01,1,S002,R01\na,T01,2,S004,R01\nb,T01,1,S999,R01\n"
    )
    code, out, _ = worth("humans", "clean", "in.csv", "--episode", folder, "--out", "out.csv")
    assert code == 0
    assert "3 submissions of 2 players: 1 kept" in out
    assert "1 left out: a later attempt" in out
    assert (tmp_path / "out.csv").read_text().splitlines()[1:] == ["a,T01,1,S002,R01"]
    assert json.loads((tmp_path / "out.counts.json").read_text())["excluded"]["invalid-first"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run"], "no episode"),
        (["run", "EP", "--matrix", "m.yaml"], "--matrix"),
        (["run", "EP", "--model", "a:b"], "--model"),
        (["run", "EP", "--runs", "0", "--model", "ollama:m"], "--runs"),
        (["run", "EP", "--model", "ollama:m", "--model", "ollama:m", "--dry-run"], "named twice"),
        (["run", "EP", "--model", "ollama:m", "--temperature", "nan", "--dry-run"], "temperature: found nan"),
        (["run", "EP", "--model", "ollama:m", "--temperature", "-1", "--dry-run"], "temperature: found -1.0"),
        (
            ["run", "EP", "--model", "ollama:m", "--timeout", "0", "--dry-run"],
            "--timeout: found 0; allowed: 1 to",
        ),
        (["run", "EP", "--model", "ollama:m", "--timeout", "nan", "--dry-run"], "--timeout"),
        (["run", "EP", "--model", "ollama:m", "--concurrency", "0", "--dry-run"], "--concurrency"),
        (["run", "--matrix", "m.yaml", "--runs", "0", "--model", "ollama:m", "--dry-run"], "--runs: 0 runs"),
        (["score", "EP", "none.jsonl"], "no such file"),
        (["report", "EP", "one.jsonl", "--html", "."], ".: a folder; allowed: a file in it"),
        (["import-run", "EP", "r", "--model", "m", "--interface", "i", "--tested", "now"], "--tested"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(
    worth: Worth, folder: Path, words: list[str], said: Any
) -> None:
    (Path.cwd() / "r").write_text("x")
    (Path.cwd() / "m.yaml").write_text("version: 1\nstories: [T01]\n")
    run = {"model": "a", "repetition": 1, "condition": "full-story", "text": REPLY}
    (Path.cwd() / "one.jsonl").write_text(json.dumps(run))
    code, out, err = worth(*[folder if one == "EP" else one for one in words])
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_matrix_runs_as_one_command(worth: Worth, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(
        "version: 1\nstories: [T01]\ncue: [full-story, evidence-cueing]\nmodels: ['ollama:m']\nruns: 2\n"
    )
    code, out, _ = worth("run", "--matrix", "m.yaml", "--dry-run")
    assert code == 0
    assert "4 runs: 2 prompts, 1 model, 2 repetitions" in out
    assert not (tmp_path / "worth-runs" / FILE).exists()


def test_the_package_runs_as_the_command() -> None:
    command = [sys.executable, "-m", "worth_deepeval", "validate", "absent"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("worth: absent")
