"""Every backstory is an assertion: it scores what its front matter expects, and passes or fails the gate as stated."""

from pathlib import Path

import pytest
from deepeval import assert_test
from deepeval.test_case import LLMTestCase

from ludic_deepeval.metrics import (
    LudicPotentialIndexMetric,
    PlayabilityGateMetric,
    PotentialConflictValueMetric,
    StoryExpectationMetric,
    TemporalConsistencyMetric,
)
from ludic_deepeval.sources import read_story


def test_backstory_is_what_its_front_matter_expects(backstory_case: LLMTestCase) -> None:
    """Of a story that should pass, all four metrics pass; of one that should not, those fail that are said to."""
    expect = read_story(Path(backstory_case.metadata["story"])).front.expect
    assert expect is not None, "every story here says what it expects"
    assert expect.gate is not None
    assert expect.consistency is not None
    measures = {"lpi": LudicPotentialIndexMetric(), "pcv": PotentialConflictValueMetric()}
    if expect.gate == "pass":
        measures["gate"] = PlayabilityGateMetric()
    else:
        gate = PlayabilityGateMetric()
        gate.measure(backstory_case)
        assert not gate.is_successful()
        assert gate.reason is not None
        for name in expect.reasons or ():
            metric = measures.pop(name)
            metric.measure(backstory_case)
            assert metric.error is None
            assert not metric.is_successful()
            assert f"{name.upper()} " in gate.reason
    if expect.consistency == 1:
        measures["consistency"] = TemporalConsistencyMetric()
    else:
        consistency = TemporalConsistencyMetric()
        assert consistency.measure(backstory_case) == 0
        assert tuple(fault["code"] for fault in consistency.score_breakdown["faults"]) == expect.faults
    assert_test(backstory_case, [StoryExpectationMetric(), *measures.values()], run_async=False)


@pytest.mark.parametrize(
    "quadrant", ["campaign-ready", "rich-lore-flat-play", "explosive-but-shallow", "unplayable-draft"]
)
def test_each_quadrant_has_at_least_three_stories(quadrant: str, backstory_cases: list[LLMTestCase]) -> None:
    """Twins share their prose, so they count once."""
    stories = [read_story(Path(case.metadata["story"])) for case in backstory_cases]
    bodies = {
        story.prose.sha256
        for story in stories
        if story.front.expect and story.front.expect.quadrant == quadrant
    }
    assert len(bodies) >= 3
