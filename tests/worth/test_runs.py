"""Runs are recorded as they end, taken up after any kill, and told apart: five repetitions are five runs."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.errors import InputError, ModelError
from ludic_deepeval.llm.budget import Budget
from ludic_deepeval.llm.client import Completion, Model, Producer, Request
from ludic_deepeval.llm.recorded import RecordedModel, RecordingModel, Recordings
from ludic_deepeval.llm.retry import Retry
from worth_deepeval.conditions import read_condition
from worth_deepeval.matrix import load_matrix
from worth_deepeval.records import FILE, RunRecord, read_records, read_window, settled, writing
from worth_deepeval.runner import Cell, Job, Sampling, plan, run

NOON = datetime(2026, 8, 30, 12, tzinfo=UTC)


class Scripted(Model):
    """Says which repetition it is, and fails where it is told to."""

    provider = "scripted"

    def __init__(self, says: Callable[[Request], Any] | None = None, kind: Any = "model") -> None:
        super().__init__("ollama:scripted", retry=Retry(attempts=1))
        self._says = says or (lambda request: f"reply {request.repetition}")
        self._kind = kind
        self.asked: list[int] = []

    @property
    def producer(self) -> Producer:
        return Producer(self._kind, "ollama", "scripted", "script 1")

    async def answer(self, request: Request) -> Completion:
        self.asked.append(request.repetition)
        said = self._says(request)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Completion):
            return said
        return Completion(text=said, model="scripted", prompt_tokens=9, completion_tokens=3, kind=self._kind)


def jobs(folder: Path, *conditions: str, runs: int = 5, **sampling: Any) -> list[Job]:
    cells = [Cell(folder, read_condition(one)) for one in conditions or ("full-story",)]
    return plan(cells, "ollama:scripted", runs=runs, sampling=Sampling(**sampling))


def made(model: Model, mine: list[Job], out: Path, **options: Any) -> Any:
    return run([(model, mine)], out, concurrency=1, now=lambda: NOON, **options)


def timeless(records: tuple[RunRecord, ...]) -> list[dict[str, Any]]:
    return [one.model_dump() | {"seconds": None} for one in records]


def test_five_repetitions_are_five_runs_and_each_is_recorded_whole(folder: Path, tmp_path: Path) -> None:
    done = made(Scripted(), jobs(folder), tmp_path / "out")
    assert (done.planned, done.replied, done.failed, done.left) == (5, 5, 0, 0)
    records = read_records(tmp_path / "out")
    assert [one.text for one in records] == [f"reply {at}" for at in range(1, 6)]
    assert len({one.key for one in records}) == 5
    one = records[2]
    assert (one.repetition, one.formal, one.by, one.stop) == (3, True, "model", "end")
    assert (one.episode.id, one.episode.version, one.prompt.condition) == ("T01", "1", "full-story")
    assert (one.settings.memory, one.settings.personalization, one.settings.tools) == ("off", "off", "off")
    assert (one.access.model, one.access.executed, one.access.interface) == (
        "ollama:scripted",
        "scripted",
        "api: ollama",
    )
    assert (one.usage.read, one.usage.written) == (9, 3)
    assert (one.tested.first, one.tested.last, one.ended) == (
        "2026-08-30",
        "2026-08-30",
        "2026-08-30T12:00:00+00:00",
    )


def test_the_same_command_asks_nothing_twice(folder: Path, tmp_path: Path) -> None:
    made(Scripted(), jobs(folder, runs=2), tmp_path)
    again = Scripted()
    assert made(again, jobs(folder), tmp_path).replied == 5
    assert again.asked == [3, 4, 5]


def test_a_file_cut_at_any_byte_is_taken_up_to_what_an_uninterrupted_run_gives(
    folder: Path, tmp_path: Path
) -> None:
    """A file that only grows can be left by a kill in no other state than one of its beginnings."""
    mine = jobs(folder, runs=3)
    made(Scripted(), mine, tmp_path / "whole")
    whole = (tmp_path / "whole" / FILE).read_bytes()
    wanted = timeless(read_records(tmp_path / "whole"))
    ends = [at for at, byte in enumerate(whole) if byte == 10]
    cuts = {at + step for at in ends for step in (-1, 0, 1)} | set(range(0, len(whole), 97))
    for cut in sorted(cuts):
        out = tmp_path / str(cut)
        out.mkdir()
        (out / FILE).write_bytes(whole[:cut])
        complete = sum(end <= cut for end in ends)  # a line that lacks nothing but its end is whole
        model = Scripted()
        made(model, mine, out)
        assert model.asked == list(range(complete + 1, 4)), cut
        assert timeless(read_records(out)) == wanted, cut
        assert (out / FILE).read_bytes().count(b"\n") == 3


SCRIPT = """
import os, signal, sys, time
from pathlib import Path
sys.path[:0] = [{tests!r}]
import test_runs as t
def says(request):
    if request.repetition == {at}:
        time.sleep(1)  # so that what was replied before is written
        os.kill(os.getpid(), signal.SIGKILL)
    return f"reply {{request.repetition}}"
t.made(t.Scripted(says), t.jobs(Path({folder!r}), runs=3), Path({out!r}))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
@pytest.mark.parametrize("at", [1, 3])
def test_a_killed_process_leaves_what_was_replied(folder: Path, tmp_path: Path, at: int) -> None:
    out = tmp_path / "out"
    code = SCRIPT.format(tests=str(Path(__file__).parent), at=at, folder=str(folder), out=str(out))
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        env=os.environ | {"PYTHONPATH": str(root)},
        cwd=root,
    )
    assert done.returncode == -signal.SIGKILL
    model = Scripted()
    made(model, jobs(folder, runs=3), out)
    assert model.asked == list(range(at, 4))
    assert [one.text for one in read_records(out)] == ["reply 1", "reply 2", "reply 3"]


def test_a_failure_is_recorded_is_no_reply_and_can_be_tried_again(folder: Path, tmp_path: Path) -> None:
    broken = ModelError("dropped", "ollama:scripted", "the connection broke")
    model = Scripted(lambda request: broken if request.repetition == 2 else "yes")
    first = made(model, jobs(folder, runs=3), tmp_path)
    assert (first.replied, first.failed, first.left) == (2, 1, 0)
    failed = read_records(tmp_path)[1]
    assert failed.text is None
    assert failed.failure is not None
    assert failed.failure.kind == "dropped"
    untouched = Scripted()
    assert made(untouched, jobs(folder, runs=3), tmp_path).failed == 1
    assert untouched.asked == []
    again = Scripted()
    assert made(again, jobs(folder, runs=3), tmp_path, retry=True).replied == 3
    assert again.asked == [2]
    assert [one.failure is None for one in read_records(tmp_path)] == [True, False, True, True]
    assert [one.text for one in settled(read_records(tmp_path)).values()] == ["yes", "reply 2", "yes"]


@pytest.mark.parametrize("stop", ["length", "refusal", "context"])
def test_a_reply_that_was_cut_off_or_refused_is_a_reply(folder: Path, tmp_path: Path, stop: Any) -> None:
    said = Completion(text='{"clue_sentence_ids": ["S0', model="m", stop=stop)
    assert made(Scripted(lambda _: said), jobs(folder, runs=1), tmp_path).replied == 1
    (one,) = read_records(tmp_path)
    assert (one.text, one.stop, one.failure) == ('{"clue_sentence_ids": ["S0', stop, None)


def test_an_empty_reply_is_a_reply(folder: Path, tmp_path: Path) -> None:
    made(Scripted(lambda _: Completion(text="", model="m", thinking="hm")), jobs(folder, runs=1), tmp_path)
    assert [(one.text, one.thinking) for one in read_records(tmp_path)] == [("", "hm")]


def test_at_the_end_of_the_budget_the_rest_is_left_and_taken_up(folder: Path, tmp_path: Path) -> None:
    done = made(Scripted(), jobs(folder), tmp_path, budget=Budget(calls=2))
    assert (done.replied, done.left) == (2, 3)
    assert done.stopped is not None
    assert "the budget of 2 calls is spent" in done.stopped
    assert made(Scripted(), jobs(folder), tmp_path).replied == 5


def test_a_server_that_is_not_there_is_no_failure_of_a_run(folder: Path, tmp_path: Path) -> None:
    gone = ModelError("unreachable", "ollama:scripted", "no server")
    done = made(Scripted(lambda _: gone), jobs(folder), tmp_path)
    assert (done.replied, done.failed, done.left) == (0, 0, 5)
    assert read_records(tmp_path) == ()


def test_repetitions_are_replayed_as_they_were_recorded(folder: Path, tmp_path: Path) -> None:
    tape = Recordings(tmp_path / "tape", today=NOON.date)
    made(RecordingModel(Scripted(), tape), jobs(folder), tmp_path / "live")
    replay = RecordedModel(tmp_path / "tape")
    made(replay, jobs(folder), tmp_path / "again")
    records = read_records(tmp_path / "again")
    assert [one.text for one in records] == [f"reply {at}" for at in range(1, 6)]
    assert all(one.replayed and one.tested.first == "2026-08-30" and one.ended is None for one in records)
    assert [one.key for one in records] == [one.key for one in read_records(tmp_path / "live")]


def test_what_a_script_or_a_person_wrote_never_counts(folder: Path, tmp_path: Path) -> None:
    made(Scripted(kind="hand-written"), jobs(folder, runs=1), tmp_path)
    (one,) = read_records(tmp_path)
    assert (one.by, one.formal) == ("hand-written", False)


def test_seeds_differ_between_repetitions_and_options_make_another_run(folder: Path) -> None:
    assert [one.options.seed for one in jobs(folder, seed=7, runs=3)] == [7, 8, 9]
    assert jobs(folder)[0].key != jobs(folder, temperature=0.0)[0].key
    assert jobs(folder)[0].key != jobs(folder, "full-story+no-definition")[0].key


def test_a_prompt_without_cue_reads_nothing_of_the_key(
    data: dict[str, Any], write: Callable[[Path, dict[str, Any]], Path], tmp_path: Path
) -> None:
    data["key"] = {"clues": [{"nonsense": 1}]}
    assert len(jobs(write(tmp_path, data), runs=1)) == 1


def test_one_episode_under_one_condition_is_not_run_twice_at_once(folder: Path) -> None:
    with pytest.raises(InputError, match="asked for twice"):
        jobs(folder, "full-story", "full-story")


def test_two_programs_do_not_write_one_file(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with writing(tmp_path), pytest.raises(InputError, match="another program"), writing(tmp_path):
        pass


def test_a_broken_line_that_is_not_the_last_is_told_with_its_number(folder: Path, tmp_path: Path) -> None:
    made(Scripted(), jobs(folder, runs=2), tmp_path)
    file = tmp_path / FILE
    first, second, _ = file.read_text().split("\n")
    file.write_text(f"{first[:40]}\n{second}\n")
    with pytest.raises(InputError, match="line 1"):
        read_records(tmp_path)
    file.write_text(first.replace('"formal":true', '"formal":true,"score":9') + "\n")
    with pytest.raises(InputError, match="line 1: score"):
        read_records(tmp_path)


def test_a_record_has_a_text_or_a_failure_and_never_both(folder: Path, tmp_path: Path) -> None:
    made(Scripted(), jobs(folder, runs=1), tmp_path)
    (one,) = read_records(tmp_path)
    both = one.model_dump() | {"failure": {"kind": "dropped", "message": "x"}}
    with pytest.raises(ValueError, match="either a text or a failure"):
        RunRecord.model_validate(both)


def test_half_a_surrogate_pair_in_a_reply_ends_no_run(folder: Path, tmp_path: Path) -> None:
    made(Scripted(lambda _: "a\ud800\x00b"), jobs(folder, runs=1), tmp_path)
    (one,) = read_records(tmp_path)
    assert one.text is not None
    assert one.text.startswith("a�")
    assert one.text.endswith("\x00b")


@pytest.mark.parametrize("text", ["yesterday", "2026-8-3", "2026-08-31/2026-08-30", "2026-08-30/31/32", ""])
def test_a_window_is_one_day_or_two_in_order(text: str) -> None:
    with pytest.raises(InputError, match="--tested"):
        read_window(text)
    assert read_window("2026-08-30 to 2026-08-31").last == "2026-08-31"


MATRIX = """
version: 1
stories:
  - {episode: T01}
  - {episode: T02, modification: ada-cleared}
cue: [full-story, evidence-cueing]
definition: [given, withheld]
models: ["ollama:a"]
runs: 3
"""


def test_a_matrix_is_every_story_under_every_combination(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "matrix.yaml"
    file.write_text(MATRIX)
    design = load_matrix(file)
    assert [(one.path.name, one.condition.name, one.modification) for one in design.cells] == [
        (path, name, modification)
        for path, modification in (("T01", "none"), ("T02", "ada-cleared"))
        for name in (
            "full-story",
            "full-story+no-definition",
            "evidence-cueing",
            "evidence-cueing+no-definition",
        )
    ]
    assert (design.models, design.runs, design.missing) == (("ollama:a",), 3, ())
    file.write_text(MATRIX.replace("ada-cleared}", "ada-cleared, rewrite: third-person}"))
    assert set(load_matrix(file).missing) == {("none", "third-person"), ("ada-cleared", "none")}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("cue: [full-story, evidence-cueing]", "cue: [all]"), "cue: found 'all'"),
        (("definition: [given, withheld]", "definition: [given, given]"), "one twice"),
        (("T02", "T01"), None),
        (("{episode: T02, modification: ada-cleared}", "{episode: T01}"), "stands there twice"),
        (("runs: 3", "runs: true"), "runs: found true"),
        (("version: 1", "version: 2"), "version: found 2"),
        (("runs: 3", "shots: 3"), "found 'shots'"),
        (("{episode: T01}", "{story: T01}"), "stories[0]"),
    ],
)
def test_a_fault_in_a_matrix_is_named(tmp_path: Path, change: tuple[str, str], said: str | None) -> None:
    file = tmp_path / "matrix.yaml"
    file.write_text(MATRIX.replace(*change, 1))
    if said is None:
        load_matrix(file)
        return
    with pytest.raises(InputError) as error:
        load_matrix(file)
    assert said in str(error.value)


def test_records_are_lines_of_json_that_other_programs_read(folder: Path, tmp_path: Path) -> None:
    made(Scripted(), jobs(folder, runs=2), tmp_path)
    lines = (tmp_path / FILE).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["schema_version"] for line in lines] == [1, 1]
