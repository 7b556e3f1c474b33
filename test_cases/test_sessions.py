"""Recorded stress tests as assertions. The sessions are scripted (sessions/README.md): no model planned or labelled them."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from deepeval import assert_test

from ludic_deepeval.metrics import AdaptationEffortMetric, BranchingDiversityMetric, session_case
from ludic_deepeval.session import load_session

HERE = Path(__file__).parent
SCRIPTS: list[dict[str, Any]] = yaml.safe_load(
    (HERE / "sessions" / "scripts.yaml").read_text(encoding="utf-8")
)["stories"]
MEASURED = [one for one in SCRIPTS if "effort" in one["expect"]]


def saved(script: dict[str, Any]) -> Path:
    return HERE / "sessions" / script["story"] / "session.json"


def case_of(script: dict[str, Any]) -> Any:
    return session_case(HERE / "backstories" / f"{script['story']}.md", saved(script))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda one: one["story"])
def test_a_session_says_that_it_is_scripted(script: dict[str, Any]) -> None:
    session = load_session(saved(script))
    assert (session.tester.kind, session.judge.kind) == ("scripted", "scripted")


@pytest.mark.parametrize("script", MEASURED, ids=lambda one: one["story"])
def test_adaptation_effort_is_what_was_counted_by_hand(script: dict[str, Any]) -> None:
    expect = script["expect"]
    effort = AdaptationEffortMetric()
    score = effort.measure(case_of(script))
    assert score == float(Fraction(expect["effort"]))
    found = effort.score_breakdown["effort"]
    assert {name: found[name] for name in ("reused", "invented", "ambiguous", "band")} == {
        name: expect[name] for name in ("reused", "invented", "ambiguous", "band")
    }
    assert "no model" in effort.reason
    assert effort.is_successful() is expect["passes"]
    if expect["passes"]:
        assert_test(case_of(script), [AdaptationEffortMetric(), BranchingDiversityMetric()], run_async=False)


def test_a_session_whose_labels_could_not_be_used_is_an_error_and_not_a_score() -> None:
    (script,) = [one for one in SCRIPTS if "unscored" in one["expect"]]
    for metric in (AdaptationEffortMetric(), BranchingDiversityMetric()):
        assert metric.measure(case_of(script)) is None
        assert not metric.is_successful()
        assert "could not be measured (labels)" in metric.error
