"""Runs of a study with scripted models: killed, resumed, short of budget, on a cluster; each comes to the same store."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.errors import InputError, ModelError
from ludic_deepeval.llm.budget import Budget, Meter
from ludic_deepeval.llm.client import Completion, Model, Request
from ludic_deepeval.studies.models import Models
from ludic_deepeval.studies.plan import StudyPlan
from ludic_deepeval.studies.runner import Progress, Run, run_study
from ludic_deepeval.studies.store import TRIALS, Line, Store
from tests.ludic.conftest import Ludic
from tests.scripted_study import ROOT, TWO_BY_TWO, Script, begun, opened

SEEDS = 3
STUDY = TWO_BY_TWO.format(seeds=SEEDS)


def without_times(store: Store) -> dict[str, Line]:
    return {
        line["trial"]: {name: value for name, value in line.items() if name != "times"}
        for _, line in store.lines()
    }


def go(store: Store, plan: StudyPlan, *, opener: Any = opened, **options: Any) -> Run:
    with store.locked(), Models(plan.design.concurrency, opener=opener) as models:
        store.mend()
        return run_study(store, plan, models, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Line]:
    """What an uninterrupted run keeps, one trial at a time."""
    store, plan = begun(tmp_path_factory.mktemp("whole") / "s", STUDY)
    assert go(store, plan, at_once=1).kept == 12
    assert [line["trial"] for _, line in store.lines()] == [key.id for key in plan.trials]
    return without_times(store)


def test_a_line_holds_all_that_the_paper_records(whole: dict[str, Line]) -> None:
    line = whole["gate=gated/generator=small/seed=1"]
    # The script's small Architect passes at its first rewrite; test_architect.py works out READY's LPI and PCV.
    assert line["measures"]["lpi"] == pytest.approx(0.3424 + 0.225 + 2 / 15 + 1 / 30)
    assert line["measures"]["pcv"] == 210
    assert (line["tier"], line["quadrant"]) == ("campaign", "campaign-ready")
    assert line["gate"] == {
        "gated": True, "ended": "accept", "passed": True, "passed_first": False, "rewrites": 1, "converged": True,
    }  # fmt: skip
    labels = [told["label"] for outline in line["session"]["labels"] for told in outline]
    counts = Counter(labels)
    measures = line["measures"]
    assert (measures["reused"], measures["invented"]) == (counts["reused"], counts["invented"])
    assert measures["e_a"] == counts["invented"] / (counts["invented"] + counts["reused"])
    assert 0 <= measures["div_alpha"] <= 1
    assert measures["clusters"] in {1, 2, 3}
    assert len(line["session"]["outlines"]) == 3
    assert [draft["decision"] for draft in line["drafts"]] == ["rewrite", "accept"]
    assert line["cost"]["generate"]["calls"] == 2
    assert line["cost"]["outline"]["calls"] == line["cost"]["label"]["calls"] == 3
    assert {by["kind"] for by in line["producers"].values()} == {"scripted"}
    assert line["unscored"] == []


def test_arms_of_one_seed_are_about_the_same(whole: dict[str, Line]) -> None:
    for seed in range(1, SEEDS + 1):
        assert (
            len({(line["faction"], line["location"]) for line in whole.values() if line["seed"] == seed}) == 1
        )


def test_many_at_once_keep_the_same(tmp_path: Path, whole: dict[str, Line]) -> None:
    store, plan = begun(tmp_path / "s", STUDY)
    said: list[Progress] = []
    found = go(store, plan, at_once=5, on_line=lambda _, progress: said.append(progress))
    assert (found.kept, found.failed, found.stopped) == (12, [], None)
    assert without_times(store) == whole
    assert [one.done for one in said] == list(range(1, 13))
    assert said[-1].left == 0
    assert found.spent.calls == sum(
        sum(cost["calls"] for cost in line["cost"].values()) for line in whole.values()
    )


def test_fifty_kills_at_random_moments_leave_the_store_of_an_uninterrupted_run(
    tmp_path: Path, whole: dict[str, Line]
) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    folder = tmp_path / "s"
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/kill_study.py"), str(folder), str(SEEDS), "50"],
        capture_output=True, text=True, timeout=240, check=False, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["killed"] == 50
    assert told["cut"] > 0
    assert len(set(told["kept"])) > 3  # it was killed at many places
    store = Store(folder)
    raw = (folder / TRIALS).read_bytes()
    assert raw.count(b"\n") == len(store.done()) == 12  # no line twice, none torn
    assert without_times(store) == whole


def test_a_run_that_was_killed_in_a_trial_does_not_write_its_drafts_anew(
    tmp_path: Path, whole: dict[str, Line]
) -> None:
    store, plan = begun(tmp_path / "s", STUDY)
    asked: list[str] = []

    class Counting(Script):
        async def answer(self, request: Request) -> Completion:
            asked.append(self.name)
            if self.name.endswith("tester") and "broken" in alive:
                raise ModelError("unreachable", self.name, "no server")
            return await super().answer(request)

    alive = {"broken"}
    found = go(store, plan, opener=Counting, at_once=1)
    assert isinstance(found.stopped, ModelError)
    assert found.kept == 0
    written = asked.count("ollama:small")
    assert written == 1
    alive.clear()
    assert go(store, plan, opener=Counting, at_once=1).kept == 12
    assert asked.count("ollama:small") == sum(
        line["cost"]["generate"]["calls"] for line in whole.values() if line["cell"]["generator"] == "small"
    )
    assert without_times(store) == whole


def test_what_a_kill_left_half_written_in_a_trials_folder_is_swept_out(
    tmp_path: Path, whole: dict[str, Line]
) -> None:
    store, plan = begun(tmp_path / "s", STUDY)
    folder = store.path / "trials" / plan.trials[0].folder
    folder.mkdir(parents=True)
    (folder / ".run.json.0123456789abcdef.tmp").write_text('{"sche')
    assert go(store, plan).failed == []
    assert without_times(store) == whole
    assert not list(folder.glob(".*"))


def test_a_budget_ends_a_run_that_the_next_goes_on_with(tmp_path: Path, whole: dict[str, Line]) -> None:
    store, plan = begun(tmp_path / "s", STUDY)
    found = go(store, plan, meter=Meter(Budget(calls=40)))
    assert isinstance(found.stopped, ModelError)
    assert found.stopped.kind == "budget"
    assert found.spent.calls <= 40
    assert 0 < found.kept < 12
    assert go(store, plan).stopped is None
    assert without_times(store) == whole


def test_what_may_pass_is_tried_again_and_what_a_model_would_not_say_is_an_outcome(tmp_path: Path) -> None:
    store, plan = begun(tmp_path / "s", STUDY)
    faults: dict[str, ModelError] = {
        "small": ModelError("overloaded", "ollama:small", "too much"),
        "large": ModelError("refused", "ollama:large", "the model refused: no"),
        "judge": ModelError("timed-out", "ollama:judge", "no whole answer within 600 s"),
    }

    class Faulty(Script):
        async def answer(self, request: Request) -> Completion:
            fault = faults.get(self.name.rpartition(":")[2])
            if fault is not None:
                raise ModelError(fault.kind, fault.model, fault.found)
            return await super().answer(request)

    found = go(store, plan, opener=Faulty, at_once=1)
    assert found.kept == 6
    assert {key.cell["generator"] for key, _ in found.failed} == {"small"}
    for line in without_times(store).values():
        (why,) = line["unscored"]
        assert (why["stage"], why["cause"]) == ("generate", "model")
        assert why["reason"].startswith("refused:")
        assert set(line["measures"].values()) == {None}
    faults.pop("small")
    found = go(store, plan, opener=Faulty, at_once=1)
    assert (found.kept, len(found.failed)) == (0, 6)  # the judge timed out: no outcome either
    faults.clear()
    assert go(store, plan, opener=Faulty, at_once=1).kept == 6


def test_a_story_that_was_not_rightly_read_has_no_figure_but_how_its_outlines_differ(tmp_path: Path) -> None:
    store, plan = begun(tmp_path / "s", STUDY)

    class Blind(Script):
        async def answer(self, request: Request) -> Completion:
            found = await super().answer(request)
            if not self.name.endswith("notary"):
                return found
            text = '{"schema_version": 1, "protagonist": "Ysolde", "npcs": [], "events": [], "hooks": [], "goals": [], "mysteries": []}'
            return replace(found, text=text)

    assert go(store, plan, opener=Blind, most=4).kept == 4
    for line in without_times(store).values():
        measured = {name for name, value in line["measures"].items() if value is not None}
        assert measured == {"div_alpha", "div_by_item", "npc_overlap", "hook_overlap", "clusters"}
        assert {(one["stage"], one["cause"]) for one in line["unscored"]} == {
            ("score", "extraction"),
            ("label", "extraction"),
        }
        assert line["consistency"] is None
        assert line["gate"]["passed"] is None
        assert line["gate"]["rewrites"] == 0  # nobody knows whether it falls short
        assert len(line["session"]["labels"]) == 3  # kept, and not counted


def test_each_model_has_its_own_limit_of_requests_under_way(tmp_path: Path) -> None:
    text = STUDY + '[concurrency]\n"ollama:notary" = 1\ndefault = 3\n'
    store, plan = begun(tmp_path / "s", text)
    under_way: Counter[str] = Counter()
    most: Counter[str] = Counter()

    class Slow(Script):
        async def answer(self, request: Request) -> Completion:
            under_way[self.name] += 1
            most[self.name] = max(most[self.name], under_way[self.name])
            await asyncio.sleep(0.001)
            under_way[self.name] -= 1
            return await super().answer(request)

    assert go(store, plan, opener=Slow, at_once=8).kept == 12
    assert most["ollama:notary"] == 1
    assert 1 < most["ollama:tester"] <= 3


def test_a_draft_that_was_edited_fails_its_trial_alone(tmp_path: Path) -> None:
    store, plan = begun(tmp_path / "s", STUDY)
    go(store, plan, most=1)
    (store.path / TRIALS).write_text("")
    draft = store.path / "trials" / plan.trials[0].folder / "draft-0.md"
    draft.write_text(draft.read_text().replace("the mill", "a mill"))
    found = go(store, plan)
    ((key, error),) = found.failed
    assert key == plan.trials[0]
    assert isinstance(error, InputError)
    assert found.kept == 11


def test_ctrl_c_keeps_what_is_done(tmp_path: Path, whole: dict[str, Line]) -> None:
    store, plan = begun(tmp_path / "s", STUDY)

    def interrupt(_: Line, progress: Progress) -> None:
        if progress.here == 3:
            os.kill(os.getpid(), signal.SIGINT)

    found = go(store, plan, at_once=1, on_line=interrupt)
    assert found.stopped == "interrupted"
    assert 3 <= found.kept < 12
    go(store, plan)
    assert without_times(store) == whole


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_two_workers_of_a_cluster_come_to_the_same_store(tmp_path: Path, whole: dict[str, Line]) -> None:
    pytest.importorskip("distributed", reason="needs the extra cluster")
    from distributed import LocalCluster

    from ludic_deepeval.studies.cluster import client_at, remote_trial, run_on_cluster

    store, plan = begun(tmp_path / "s", STUDY)
    sidecar = store.sidecar()
    with store.locked(), LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as two:
        address = two.scheduler_address
        found = run_on_cluster(store, plan, sidecar, address, most=5, opener=opened)
        assert (found.kept, found.failed) == (5, [])
        short = run_on_cluster(store, plan, sidecar, address, meter=Meter(Budget(calls=60)), opener=opened)
        assert isinstance(short.stopped, ModelError)
        assert short.stopped.kind == "budget"
        assert short.spent.calls <= 60
        run_on_cluster(store, plan, sidecar, address, opener=opened)
    assert without_times(store) == whole
    drafts = store.path / "trials" / plan.trials[0].folder
    assert (drafts / "draft-0.md").is_file()
    with pytest.raises(InputError, match="--cluster: found 'local:many'"), client_at("local:many"):
        pass
    other = sidecar.model_copy(
        update={"environment": sidecar.environment.model_copy(update={"python": "3.0"})}
    )
    key = plan.trials[0]
    with pytest.raises(InputError, match="a worker of the cluster: it differs in python"):
        remote_trial(other.model_dump_json(), dict(key.cell), key.seed, 0, None, None, opened)


# The commands


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models of any name are scripts."""

    def open_script(name: str, **_: object) -> Model:
        return opened(name)

    monkeypatch.setattr("ludic_deepeval.studies.models.open_model", open_script)


@pytest.mark.usefixtures("scripted")
def test_run_status_resume_and_amend(ludic: Ludic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    (tmp_path / "bible").symlink_to(ROOT / "bible")
    monkeypatch.chdir(tmp_path)
    ran = ludic("study", "run", file, "--dry-run")
    assert ran.code == 0
    assert "4 cells with 3 seeds each: 12 trials" in ran.out
    assert not (tmp_path / "scripted.study").exists()
    ran = ludic("study", "run", file, "--most", "2", "--at-once", "1")
    assert ran.code == 1
    assert "[1/12, about" in ran.out
    assert "ungated, small, seed 1: LPI 0.14, PCV 49, E_a 0.68" in ran.out
    assert "10 to do:  ludic study resume scripted.study" in ran.out
    ran = ludic("study", "status", "scripted.study")
    assert ran.code == 1
    assert "2 of 12 trials are kept" in ran.out
    file.write_text(STUDY.replace('"1-3"', '"1-4"'))
    ran = ludic("study", "run", file)
    assert ran.code == 2
    assert "this run differs from what was frozen: study.seeds: [1, 2, 3], and now [1, 2, 3, 4]" in ran.err
    ran = ludic("study", "amend", "scripted.study", file, "--reason", "more seeds")
    assert (ran.code, "2 trials are kept already" in ran.err) == (2, True)
    with (tmp_path / "scripted.study" / TRIALS).open("ab") as torn:
        torn.write(b'{"trial": "gate=')
    ran = ludic("study", "resume", "scripted.study", "--json")
    assert ran.code == 0
    assert "the last line was not whole (16 bytes)" in ran.err
    assert json.loads(ran.out)["kept"] == 12
    ran = ludic("study", "amend", "scripted.study", "--deviation", "the machine slept for a night", "--json")
    assert json.loads(ran.out)["trials"] == 12
    found = json.loads(ludic("study", "status", "scripted.study", "--json").out)
    assert (found["kept"], found["left"]) == (12, 0)
    assert found["log"][0]["reason"] == "the machine slept for a night"
    ran = ludic("study", "report", "scripted.study")
    assert ran.code == 0
    assert "The answers are scripted: no model gave them." in ran.out
    ran = ludic("study", "resume", "nowhere")
    assert (ran.code, len(ran.faults)) == (2, 1)


SCRIPTED_COMMAND = """
from ludic_deepeval.studies import models
from tests.scripted_study import opened
models.open_model = lambda name, **_: opened(name)
from ludic_deepeval.cli import main
main()
"""


def test_a_run_whose_lines_nobody_reads_any_more_goes_on_to_its_end(
    tmp_path: Path, whole: dict[str, Line]
) -> None:
    """As with `ludic study run … | head -1`."""
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "bible").symlink_to(ROOT / "bible")
    running = subprocess.Popen(
        [sys.executable, "-c", SCRIPTED_COMMAND, "study", "run", "study.toml", "--at-once", "1"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert running.stdout is not None
    assert running.stdout.readline().startswith(b"[1/12, about")
    running.stdout.close()
    assert running.stderr is not None
    said = running.stderr.read()
    running.stderr.close()
    assert (running.wait(timeout=120), said) == (0, b"")
    assert without_times(Store(tmp_path / "scripted.study")) == whole


@pytest.mark.usefixtures("scripted")
def test_a_place_where_nothing_can_be_kept_is_one_line(ludic: Ludic, tmp_path: Path) -> None:
    file, taken = tmp_path / "study.toml", tmp_path / "taken"
    file.write_text("\ufeff" + STUDY, encoding="utf-8")  # as an editor on Windows saves it
    taken.write_text("a file")
    (tmp_path / "bible").symlink_to(ROOT / "bible")
    begun(tmp_path / "s", STUDY)
    for options in (("run", file, "--out"), ("report", tmp_path / "s", "--out")):
        for out in (taken, taken / "below"):
            ran = ludic("study", *options, out)
            assert (ran.code, len(ran.faults)) == (2, 1), ran.err
            assert f"{out}: cannot be made" in ran.err
    ran = ludic("study", "amend", tmp_path / "s", "--deviation", " ")
    assert (ran.code, "--deviation: it is empty" in ran.err) == (2, True)


@pytest.mark.usefixtures("scripted")
def test_a_study_is_amended_before_its_first_trial(ludic: Ludic, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    (tmp_path / "bible").symlink_to(ROOT / "bible")
    out = tmp_path / "s"
    begun(out, STUDY)
    file.write_text(STUDY.replace("gated = true", "gated = true\nmax_iter = 1"))
    ran = ludic("study", "amend", out, file, "--reason", "one rewrite is enough")
    assert ran.code == 0
    assert "study.factors.gate.gated.max_iter: nothing, and now 1" in ran.out
    assert ludic("study", "run", file, "--out", out, "--most", "1").code == 1
    ran = ludic("study", "amend", out)
    assert (ran.code, "--deviation" in ran.err) == (2, True)
