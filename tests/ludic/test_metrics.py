"""The DeepEval metrics: where they find a ledger, what they say, and that the harness may handle them as it does."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("deepeval.metrics")

from deepeval import assert_test, evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics.utils import copy_metrics
from deepeval.test_case import LLMTestCase

from ludic_deepeval.ledger import FactLedger, load_ledger
from ludic_deepeval.lockfile import load_lockfile
from ludic_deepeval.metrics import (
    LudicPotentialIndexMetric,
    PlayabilityGateMetric,
    PotentialConflictValueMetric,
    StoryExpectationMetric,
    TemporalConsistencyMetric,
    backstory_case,
)
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import score_ledger

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "ludic_deepeval" / "demo"
ALL = [
    LudicPotentialIndexMetric,
    PotentialConflictValueMetric,
    TemporalConsistencyMetric,
    PlayabilityGateMetric,
]


def event(name: str, phase: str, i: int, g: int, v: int, d: int) -> dict[str, Any]:
    return {
        "id": name,
        "phase": phase,
        "summary": name,
        "immediacy": i,
        "gravity": g,
        "linkage": v,
        "divergence": d,
    }


# Three people, two urgent threads, three goals, no mystery, so by Eq 1–4:
# RTN = .7 + .3·2/5 = .82, MV = .75, UCR = 1, TH = 0 → LPI = .328 + .225 + .2 + 0 = .753.
# PCV = 4·9 + 4·8 + 4 + 5 = 77 and 4·8 + 4·6 + 3 + 4 = 63; bands 2 and 2, both in full → 140.
LEDGER: dict[str, Any] = {
    "schema_version": 1,
    "protagonist": "Tace",
    "npcs": [{"id": str(n), "name": f"N{n}", "status": "alive", "unresolved": True} for n in range(3)],
    "hooks": [{"id": str(n), "text": "thread", "tier": 1} for n in range(2)],
    "goals": [{"id": str(n), "text": "goal", "proactive": True} for n in range(3)],
    "events": [event("e1", "P1", 9, 8, 4, 5), event("e2", "P2", 8, 6, 3, 4)],
}


def case(ledger: object, **more: Any) -> LLMTestCase:
    return LLMTestCase(
        input="design a ferry clerk", actual_output="prose", metadata={"ledger": ledger, **more}
    )


def test_lpi_is_the_score_with_its_parts_and_the_counts_behind_them() -> None:
    metric = LudicPotentialIndexMetric()
    assert metric.measure(case(LEDGER)) == pytest.approx(0.753)
    assert metric.is_successful()
    assert metric.score_breakdown["rtn"] == pytest.approx(0.82)
    assert metric.score_breakdown["open_hooks"] == [2, 0, 0]
    assert "3 people with unfinished business" in metric.reason


def test_pcv_is_the_share_of_what_the_profile_needs() -> None:
    metric = PotentialConflictValueMetric()
    assert metric.measure(case(LEDGER)) == pytest.approx(140 / 150)
    assert not metric.is_successful()
    assert metric.score_breakdown["pcv"] == 140
    assert "PCV 140 (150 needed)" in metric.reason
    assert "Smallest fix:" in metric.reason
    one_shot = PotentialConflictValueMetric(profile="one-shot")
    assert one_shot.measure(case(LEDGER)) == 1.0  # 140 of 100, capped
    assert one_shot.is_successful()


def test_the_gate_names_every_reason_and_the_smallest_fix() -> None:
    metric = PlayabilityGateMetric()
    assert metric.measure(case(LEDGER)) == 0.0
    assert metric.score_breakdown["reasons"] == ["PCV 140 is below 150"]
    assert metric.score_breakdown["quadrant"] == "rich-lore-flat-play"
    assert "PCV 140 → 15" in metric.reason
    assert PlayabilityGateMetric(profile="one-shot").measure(case(LEDGER)) == 1.0


def test_consistency_quotes_both_sides() -> None:
    events = [
        event("death", "P2", 1, 1, 1, 1) | {"relations": [{"npc": "0", "status": "dead"}]},
        event("supper", "P3", 1, 1, 1, 1) | {"relations": [{"npc": "0", "status": "alive"}]},
    ]
    metric = TemporalConsistencyMetric()
    assert metric.measure(case(LEDGER | {"events": events})) == 0.0
    assert metric.score_breakdown["temporal"] == 1
    assert "“death” against “supper”" in metric.reason
    log = [{"id": "b", "phase": "P3", "kind": "resurrection", "subject": "N0", "text": "called back"}]
    assert metric.measure(case(LEDGER | {"events": events}, background_log=log)) == 1.0


def test_a_lore_violation_fails_consistency_and_leaves_lpi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    events = [
        event("raising", "P3", 9, 8, 9, 8)
        | {"location": "waterdeep", "practices": [{"practice": "necromancy", "openly": True}]}
    ]
    openly = case(LEDGER | {"events": events}, bible="faerun")
    consistency, lpi = TemporalConsistencyMetric(), LudicPotentialIndexMetric()
    assert consistency.measure(openly) == 0.0
    assert consistency.score_breakdown["lore"] == 1
    assert lpi.measure(openly) == pytest.approx(0.753)


@pytest.mark.parametrize("kind", ["model", "mapping", "path", "lockfile", "lockfile path", "hash"])
def test_a_ledger_is_found_wherever_the_design_says(kind: str, tmp_path: Path) -> None:
    shutil.copytree(DEMO, tmp_path / "stories")
    lock = load_lockfile(DEMO / "2-open.ledger.json")
    bare = tmp_path / "bare.json"
    bare.write_text(lock.ledger.model_dump_json(), encoding="utf-8")
    prose = (DEMO / "2-open.md").read_text(encoding="utf-8")
    given: dict[str, object] = {
        "model": lock.ledger,
        "mapping": lock.ledger.model_dump(),
        "path": str(bare),
        "lockfile": lock.model_dump(),
        "lockfile path": tmp_path / "stories" / "2-open.ledger.json",
    }
    metric = LudicPotentialIndexMetric(lockfiles=tmp_path)
    metadata = {"ledger": given[kind]} if kind in given else None
    metric.measure(LLMTestCase(input="x", actual_output=prose, metadata=metadata))
    assert metric.error is None
    expected = score_ledger(lock.ledger).lpi
    assert isinstance(expected, Fraction)
    assert metric.score == float(expected)


def test_a_notary_reads_what_has_no_ledger() -> None:
    def notary(prose: str) -> FactLedger:
        assert prose == "an unread story"
        return load_ledger(LEDGER)

    metric = LudicPotentialIndexMetric(notary=notary)
    assert metric.measure(LLMTestCase(input="x", actual_output="an unread story")) == pytest.approx(0.753)


@pytest.mark.parametrize("kind", ALL)
def test_without_a_ledger_the_error_names_the_three_ways(kind: Any) -> None:
    metric = kind()
    assert metric.measure(LLMTestCase(input="x", actual_output="a story nobody has read")) is None
    assert metric.score is None
    assert not metric.is_successful()
    for way in ('metadata={"ledger"', "lockfile under test_cases", "notary"):
        assert way in metric.error


def test_what_cannot_be_measured_is_an_error_and_never_a_score() -> None:
    bare = LEDGER | {"events": [{"id": "e", "phase": "P1", "summary": "something"}]}
    for kind in (PotentialConflictValueMetric, PlayabilityGateMetric):
        metric = kind()
        assert metric.measure(case(bare)) is None
        assert "dimensions" in metric.error
        assert not metric.is_successful()
    assert LudicPotentialIndexMetric().measure(case(bare)) == pytest.approx(0.753)  # LPI still stands


@pytest.mark.parametrize(
    ("ledger", "said"),
    [
        ({"schema_version": 1}, "protagonist"),
        (LEDGER | {"hooks": [{"id": "h", "text": "t", "tier": 4}]}, "hooks[0].tier"),
        (7, 'metadata["ledger"]'),
        ("no/such/file.json", "no such file"),
        ({"schema_version": 1, "source_sha256": "x"}, "source_sha256"),
    ],
)
def test_a_wrong_ledger_is_an_error_that_names_the_place(ledger: object, said: str) -> None:
    metric = PlayabilityGateMetric()
    assert metric.measure(case(ledger)) is None
    assert said in metric.error


def test_a_stale_lockfile_is_not_scored() -> None:
    metric = PlayabilityGateMetric()
    story = LLMTestCase(
        input="x", actual_output="other prose", metadata={"ledger": str(DEMO / "2-open.ledger.json")}
    )
    assert metric.measure(story) is None
    assert "has changed since it was read" in metric.error


def test_an_error_does_not_outlive_the_next_measurement() -> None:
    metric = PlayabilityGateMetric(profile="one-shot")
    metric.measure(case(7))
    assert metric.error is not None
    assert metric.measure(case(LEDGER)) == 1.0
    assert metric.error is None
    assert metric.is_successful()


def test_the_threshold_is_compared_exactly() -> None:
    """LPI exactly .70: three people, five urgent threads, no goal, three holes: .4·1 + 0 + .2 + .1."""
    at_gate = LEDGER | {
        "hooks": [{"id": str(n), "text": "thread", "tier": 1} for n in range(5)],
        "goals": [],
        "mysteries": [{"id": str(n), "text": "somebody paid for it"} for n in range(3)],
    }
    metric = LudicPotentialIndexMetric()
    metric.measure(case(at_gate))
    assert metric.is_successful()
    strict = LudicPotentialIndexMetric(strict_mode=True)
    strict.measure(case(at_gate))
    assert not strict.is_successful()


@pytest.mark.parametrize("kind", ALL)
def test_every_metric_survives_being_copied_by_its_attributes(kind: Any) -> None:
    """DeepEval rebuilds a metric from attributes that are called like its arguments."""
    policy = Policy(profile="one-shot")
    metric = kind(policy=policy, lockfiles="elsewhere", profile="one-shot", threshold=0.25)
    (copy,) = copy_metrics([metric])
    assert (copy.policy, copy.lockfiles, copy.profile, copy.threshold) == (
        policy,
        "elsewhere",
        "one-shot",
        0.25,
    )
    assert copy.measure(case(LEDGER)) == metric.measure(case(LEDGER))


@pytest.mark.parametrize("kind", ALL)
def test_async_gives_the_same(kind: Any) -> None:
    one, two = kind(), kind()
    assert asyncio.run(two.a_measure(case(LEDGER))) == one.measure(case(LEDGER))
    assert (two.reason, two.score_breakdown, two.success) == (one.reason, one.score_breakdown, one.success)


@pytest.mark.parametrize("run_async", [True, False])
def test_evaluate_and_assert_test_agree_with_measure(
    run_async: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    good = backstory_case(DEMO / "2-open.md")
    bad = backstory_case(DEMO / "1-closed.md")
    found = evaluate(
        [good, bad],
        [PlayabilityGateMetric(), TemporalConsistencyMetric()],
        async_config=AsyncConfig(run_async=run_async),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        cache_config=CacheConfig(write_cache=False),
    )
    results = {
        result.name: {data.name: data.success for data in result.metrics_data}
        for result in found.test_results
    }
    assert results["open"] == {"Playability Gate": True, "Temporal Consistency": True}
    assert results["closed"] == {"Playability Gate": False, "Temporal Consistency": False}
    assert_test(good, [PlayabilityGateMetric()], run_async=run_async)
    with pytest.raises(AssertionError, match="Playability Gate"):
        assert_test(bad, [PlayabilityGateMetric()], run_async=run_async)


def test_an_expectation_metric_reports_what_is_not_met(tmp_path: Path) -> None:
    text = (DEMO / "2-open.md").read_text(encoding="utf-8")
    shutil.copy(DEMO / "2-open.ledger.json", tmp_path / "tale.ledger.json")
    (tmp_path / "tale.md").write_text(
        text.replace("id: open", 'id: open\nexpect: {gate: fail, lpi: "0.5"}'), encoding="utf-8"
    )
    metric = StoryExpectationMetric()
    assert metric.measure(backstory_case(tmp_path / "tale.md")) == 0.0
    assert metric.reason.startswith("gate: expected fail, got pass; lpi: expected 0.5, got 0.76")
    nothing_expected = StoryExpectationMetric()
    assert nothing_expected.measure(backstory_case(DEMO / "2-open.md")) is None


SUITE = """
from pathlib import Path
import pytest
from deepeval import assert_test
from ludic_deepeval.metrics import PlayabilityGateMetric, TemporalConsistencyMetric

def test_plays(backstory_case):
    assert_test(backstory_case, [PlayabilityGateMetric(), TemporalConsistencyMetric()])

def test_fixtures(policy, bible, backstory_cases):
    assert policy.profile == "campaign"
    assert bible("faerun").id == "faerun"
    assert len(backstory_cases) == 2
"""


@pytest.mark.parametrize("options", [[], ["-n", "2"]])
def test_deepeval_test_run_finds_each_story_and_fails_the_closed_one(
    options: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "test_cases"
    shutil.copytree(DEMO, folder / "backstories")
    shutil.copytree(ROOT / "bible", tmp_path / "bible")
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "test_stories.py").write_text(SUITE, encoding="utf-8")
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("DEEPEVAL", "PYTEST"))
    }
    command = [str(Path(sys.executable).with_name("deepeval")), "test", "run", "test_cases/", *options]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment, timeout=400
    )
    assert done.returncode == 1, done.stdout[-2000:]
    assert "Pass Rate: 50.0% | Passed: 1 | Failed: 1" in re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
    run = json.loads((tmp_path / ".deepeval" / ".latest_run_full.json").read_text(encoding="utf-8"))
    cases = {one["name"]: one["success"] for one in run["testCases"]}
    assert cases == {"open": True, "closed": False}
