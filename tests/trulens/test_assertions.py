"""The two offline DeepEval metrics: what they say, and that the harness may handle them as it does."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("deepeval.metrics")

from deepeval import assert_test
from deepeval.metrics.utils import copy_metrics
from deepeval.test_case import LLMTestCase

from ludic_deepeval.bible import open_bible
from trulens_feedback.assertions import LoreGroundednessMetric, LoreMetric
from trulens_feedback.retrieval import chunks_of

BIBLE = str(Path(__file__).parents[2] / "bible/ember-road@v2")
GONE = "Take the salt to Ombrey. Saltgrave is the white town above the pans."


def case(text: str, **more: Any) -> LLMTestCase:
    return LLMTestCase(input="hawker", actual_output=text, **more)


def test_a_line_that_counts_on_what_is_gone_fails_naming_node_and_version() -> None:
    metric = LoreMetric(BIBLE)
    assert metric.measure(case(GONE)) == 0
    assert not metric.is_successful()
    assert metric.score_breakdown["faults"] == [
        {"code": "retired-lore", "node": "ombrey", "version": "v2", "text": "Take the salt to Ombrey."}
    ]
    assert "(ombrey, v2)" in (metric.reason or "")
    assert LoreMetric(BIBLE.replace("v2", "v1")).measure(case(GONE)) == 1
    with pytest.raises(AssertionError):
        assert_test(case(GONE), [LoreMetric(BIBLE)], run_async=False)


def test_groundedness_is_held_against_what_was_retrieved() -> None:
    chunks = {chunk.node: chunk.text for chunk in chunks_of(open_bible(BIBLE))}
    metric = LoreGroundednessMetric(BIBLE)
    assert metric.measure(case(GONE)) == 0.5  # one supported, one contradicted
    assert metric.is_successful()
    assert metric.score_breakdown["contradicted"] == 1
    assert metric.measure(case(GONE, retrieval_context=[chunks["saltgrave"]])) == 0.5
    assert metric.score_breakdown["unsupported"] == 1  # nobody retrieved Ombrey, so nobody can tell
    assert metric.measure(case(GONE, retrieval_context=[])) == 0
    assert metric.measure(case("I was born.")) is None
    assert "claims" in (metric.error or "")
    assert metric.measure(case(GONE, retrieval_context=["something else"])) is None
    assert "is no chunk of this bible" in (metric.error or "")


@pytest.mark.parametrize("kind", [LoreMetric, LoreGroundednessMetric])
def test_what_cannot_be_measured_is_an_error_and_no_score(kind: Any) -> None:
    for metric, test_case in ((kind(), case("x")), (kind(BIBLE), case("")), (kind("nowhere"), case("x"))):
        assert metric.measure(test_case) is None
        assert metric.error
        assert metric.score is None
        assert not metric.is_successful()


@pytest.mark.parametrize("kind", [LoreMetric, LoreGroundednessMetric])
def test_a_metric_survives_copying_and_async(kind: Any) -> None:
    (copied,) = copy_metrics([kind(threshold=0.25)])
    assert (type(copied), copied.threshold) == (kind, 0.25)
    text = case("Saltgrave is the white town above the pans.", metadata={"bible": BIBLE})
    assert asyncio.run(copied.a_measure(text)) == 1
    assert copied.is_successful()
