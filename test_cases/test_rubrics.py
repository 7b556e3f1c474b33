"""The Judge's second layer on recorded replies, held against the arithmetic.

The replies are a script's that counts to the letter (tests/letter_judge.py), and say so: no model gave them.
"""

from pathlib import Path

import pytest
from deepeval import assert_test

from ludic_deepeval.llm.recorded import RecordedModel
from ludic_deepeval.metrics import backstory_case
from ludic_deepeval.rubric_metrics import LudicRubricMetric

HERE = Path(__file__).parent
REPLIES = HERE / "recordings" / "rubrics"


@pytest.mark.parametrize("story", ["three-liens", "five-doors", "four-hundred-and-six-gulls"])
def test_a_judge_by_rubrics_agrees_with_the_arithmetic(story: str) -> None:
    """A story of no people, goals and hooks has 0 in both layers, which is a score and no failure."""
    judge = RecordedModel(REPLIES, command="python -m tests.letter_judge")
    assert judge.producer.kind == "scripted"
    case = backstory_case(HERE / "backstories" / f"{story}.md")
    metrics = [LudicRubricMetric(name, judge, threshold=0) for name in ("rtn", "mv", "ucr")]
    metrics[0].measure(case)
    if "has no answer to this" in (metrics[0].error or ""):
        pytest.skip(
            "DeepEval asks in other words than when these were recorded: python -m tests.letter_judge"
        )
    for metric in metrics:
        metric.measure(case)
        assert metric.error is None
        assert metric.score_breakdown["score_kind"] == "raw-integer"
        assert metric.score_breakdown["verdict"] in {"agrees", "rounding"}
    assert_test(case, metrics, run_async=False)
