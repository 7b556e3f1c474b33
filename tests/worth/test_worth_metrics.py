"""WORTH's metrics inside DeepEval: copies, async, evaluate(), and names that keep episodes apart."""

import asyncio
import copy
import json
from pathlib import Path

import pytest
from deepeval import assert_test, evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics.utils import copy_metrics
from deepeval.test_case import LLMTestCase

from ludic_deepeval.errors import InputError
from worth_deepeval.episode import Sheet
from worth_deepeval.metrics import (
    WorthClueMetric,
    WorthParticipantMetric,
    WorthProtocolMetric,
    WorthTotalMetric,
)

ALL = (WorthClueMetric, WorthParticipantMetric, WorthTotalMetric, WorthProtocolMetric)


def case(clues: list[str], roles: list[str], **metadata: str) -> LLMTestCase:
    reply = json.dumps({"clue_sentence_ids": clues, "selected_role_ids": roles})
    return LLMTestCase(name="r", input="x", actual_output=reply, metadata=metadata or None)


def test_scores_are_shares_of_the_range_with_the_points_beside_them(sheet: Sheet) -> None:
    """Weights 3, 4, 2, 1 and points 5, -8, -2: clues 0 to 10, participants -10 to 5, totals -10 to 15."""
    reply = case(["S002", "S004", "S008"], ["R01", "R03"])  # 7 for sentences, 5 - 2 = 3 for participants
    clues, people, total = WorthClueMetric(sheet), WorthParticipantMetric(sheet), WorthTotalMetric(sheet)
    assert clues.measure(reply) == pytest.approx(7 / 10)
    assert people.measure(reply) == pytest.approx(13 / 15)
    assert total.measure(reply) == pytest.approx(20 / 25)
    assert total.score_breakdown == {
        "episode": "T01",
        "points": 10,
        "minimum": -10,
        "maximum": 15,
        "clue": 7,
        "participant": 3,
    }
    assert people.reason == "3 points of -10 to 5: rightly Ada, wrongly Cyn."
    assert clues.reason == "7 points of 0 to 10: 2 of 4 key sentences, 1 other sentences."


def test_a_threshold_is_compared_exactly(sheet: Sheet) -> None:
    metric = WorthClueMetric(sheet, threshold=0.7)
    metric.measure(case(["S002", "S004"], []))
    assert metric.is_successful()
    assert WorthClueMetric(sheet, strict_mode=True).threshold == 1


@pytest.mark.parametrize("kind", ALL)
def test_names_carry_the_episode(kind: type, sheet: Sheet) -> None:
    assert kind(sheet).__name__.endswith("[T01]")


@pytest.mark.parametrize("kind", ALL)
def test_copies_keep_every_argument(kind: type, folder: Path) -> None:
    metric = kind(str(folder), threshold=0.25)
    for other in (*copy_metrics([metric]), copy.deepcopy(metric)):
        assert (other.episode, other.threshold, other.__name__) == (
            str(folder),
            0.25,
            metric.__name__,
        )


def test_async_evaluate_and_assert_give_the_same(sheet: Sheet) -> None:
    reply = case(["S002", "S004", "S006", "S007"], ["R01"])
    metric = WorthTotalMetric(sheet)
    assert asyncio.run(metric.a_measure(reply)) == metric.measure(reply) == 1
    assert_test(reply, [WorthTotalMetric(sheet), WorthParticipantMetric(sheet)])
    result = evaluate(
        [reply, case(["S207"], [])],
        [WorthTotalMetric(sheet)],
        async_config=AsyncConfig(run_async=True),
        cache_config=CacheConfig(write_cache=False),
        display_config=DisplayConfig(print_results=False, show_indicator=False),
    )
    first, second = sorted(result.test_results, key=lambda one: not one.success)
    assert (first.success, first.metrics_data[0].score) == (True, 1)
    assert (second.success, second.metrics_data[0].score) == (False, None)
    assert "S207" in second.metrics_data[0].error


def test_points_for_sentences_are_no_result_where_the_key_was_shown(sheet: Sheet) -> None:
    cued = case(["S002"], ["R01"], condition="evidence-cueing")
    for kind in (WorthClueMetric, WorthTotalMetric):
        metric = kind(sheet)
        assert metric.measure(cued) is None
        assert metric.error is not None
        assert "the key's ids were shown" in metric.error
    assert WorthParticipantMetric(sheet).measure(cued) == 1


def test_a_case_without_a_reply_is_an_error(sheet: Sheet) -> None:
    metric = WorthProtocolMetric(sheet)
    assert metric.measure(LLMTestCase(input="x", actual_output=None)) is None
    assert metric.error is not None
    assert "no actual_output" in metric.error


def test_an_episode_that_is_not_there_is_told_when_the_metric_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        WorthTotalMetric(tmp_path / "EP")
