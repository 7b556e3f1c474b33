"""Replies to episodes are assertions, too: each branch of §4.7 is read, scored or left unscored as it should be.

The replies in `recordings/protocol` are written by hand (see the README there); they are no model's. The run in
`recordings/smollm2-135m` of either episode is a real one of a very small model, which did not answer in form.
"""

from pathlib import Path

import pytest
from deepeval import assert_test

from worth_deepeval.metrics import (
    WorthClueMetric,
    WorthParticipantMetric,
    WorthProtocolMetric,
    WorthTotalMetric,
    reply_case,
    run_case,
)
from worth_deepeval.records import read_records

EPISODES = Path(__file__).parent / "episodes"
EPISODE = EPISODES / "WEN01"
PROTOCOL = EPISODE / "recordings" / "protocol"

# S021 and S082 are key sentences of 3 points each, S050 is none: 6. R05 took part (7), R04 did not (-5): 2; in all 8.
# `direct-nobody` chooses nobody: 6 and 0. Totals go from -15 to 53.
SCORED = {
    "direct": 8,
    "direct-nobody": 6,
    "direct-field-missing": 8,
    "direct-interpretation-missing": 8,
    "embedded-fence": 8,
    "embedded-prose": 8,
    "embedded-thought": 8,
    "embedded-twice-the-same": 8,
    "invalid-trailing-comma": 8,
    "invalid-cut-off": 8,
    "invalid-arrays-in-prose": 8,
}
COMPLIANT = {"direct", "direct-nobody"}
UNSCORED = {
    "unscored-unknown-sentence": "unknown-id",
    "unscored-unknown-candidate": "unknown-id",
    "unscored-illegal-expression": "malformed-id",
    "unscored-duplicate": "duplicate",
    "unscored-over-quota": "over-quota",
    "unscored-wrong-type": "wrong-type",
    "unscored-two-that-differ": "ambiguous",
    "unscored-arrays-cut-off": "no-selection",
    "unscored-refusal": "no-selection",
    "unscored-empty": "no-selection",
}


def test_every_fixture_is_expected_here() -> None:
    assert {path.stem for path in PROTOCOL.glob("*.txt")} == SCORED.keys() | UNSCORED.keys()


@pytest.mark.parametrize("name", SCORED)
def test_a_reply_whose_selections_can_be_read_is_scored(name: str) -> None:
    case = reply_case(PROTOCOL / f"{name}.txt")
    total = WorthTotalMetric(EPISODE, threshold=0.3)
    participants = WorthParticipantMetric(EPISODE, threshold=0.45)
    clues = WorthClueMetric(EPISODE, threshold=0.15)
    assert_test(case, [total, participants, clues], run_async=False)
    total.measure(case)
    assert total.score_breakdown["points"] == SCORED[name]
    assert total.score == pytest.approx((SCORED[name] + 15) / 68)
    clues.measure(case)
    assert (clues.score, clues.score_breakdown["hits"]) == (pytest.approx(6 / 36), ["S021", "S082"])


@pytest.mark.parametrize("name", SCORED | UNSCORED)
def test_the_protocol_is_kept_by_direct_json_alone(name: str) -> None:
    case = reply_case(PROTOCOL / f"{name}.txt")
    protocol = WorthProtocolMetric(EPISODE)
    if name in COMPLIANT:
        assert_test(case, [protocol], run_async=False)
        return
    assert protocol.measure(case) == 0
    assert not protocol.is_successful()
    form = protocol.score_breakdown["json"]
    assert name.startswith((form, "unscored"))


@pytest.mark.parametrize("name", UNSCORED)
def test_a_reply_that_cannot_be_scored_fails_and_is_not_0(name: str) -> None:
    case = reply_case(PROTOCOL / f"{name}.txt")
    for metric in (WorthTotalMetric(EPISODE), WorthClueMetric(EPISODE), WorthParticipantMetric(EPISODE)):
        assert metric.measure(case) is None
        assert metric.score is None
        assert not metric.is_successful()
        assert metric.error is not None
        assert "could not be scored" in metric.error
    protocol = WorthProtocolMetric(EPISODE)
    protocol.measure(case)
    assert UNSCORED[name] in {one["code"] for one in protocol.score_breakdown["violations"]}


@pytest.mark.parametrize("name", ["WEN01", "WZH01"])
def test_a_real_run_of_a_very_small_model_is_kept_as_it_came_and_has_no_points(name: str) -> None:
    """SmolLM2-135M wrote a review of the English story and scraps on the Chinese one: unmeasured, which is not nothing found."""
    episode = EPISODES / name
    [record] = read_records(episode / "recordings" / "smollm2-135m" / "runs.jsonl")
    assert (record.by, record.formal, record.access.executed) == ("model", True, "smollm2:135m")
    case = run_case(record)
    for metric in (WorthTotalMetric(episode), WorthClueMetric(episode), WorthParticipantMetric(episode)):
        assert metric.measure(case) is None
        assert not metric.is_successful()
    protocol = WorthProtocolMetric(episode)
    assert protocol.measure(case) == 0
    assert {one["code"] for one in protocol.score_breakdown["violations"]} >= {"no-selection"}
