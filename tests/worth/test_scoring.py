"""Points, by the paper's scoring sheets and by hand (§4.5)."""

import json
from statistics import mean, stdev
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ludic_deepeval.outcome import Scored, Unscored
from worth_deepeval.episode import Key, Quota, Sheet, score_range
from worth_deepeval.scoring import WorthScore, score, score_text


def points(sheet: Sheet, clues: list[str], roles: list[str]) -> WorthScore:
    found = score(clues, roles, sheet)
    assert isinstance(found, Scored)
    return found.value


def key(weights: list[int | None], participants: list[int], **more: Any) -> Key:
    return Key.model_validate(
        {
            "status": "final",
            "clues": [{"sentence": f"S{n:03d}", "weight": weight} for n, weight in enumerate(weights, 1)],
            "participants": [{"role": f"R{n:02d}", "points": one} for n, one in enumerate(participants, 1)],
            **more,
        }
    )


def test_points_are_the_weights_of_key_sentences_and_the_points_of_candidates(sheet: Sheet) -> None:
    # S002 3 + S006 2; S001 is not in K. R01 +5, R02 −8.
    found = points(sheet, ["S001", "S002", "S006"], ["R01", "R02"])
    assert (found.clue, found.participant, found.total) == (5, -3, 2)
    assert (found.hits, found.correct, found.incorrect) == (("S002", "S006"), ("R01",), ("R02",))
    # 3+4+2+1 = 10 and 5; −8 and −2.
    assert (found.range.minimum, found.range.maximum) == (-10, 15)


def test_nothing_selected_is_a_score_of_nothing_and_no_failure(sheet: Sheet) -> None:
    assert points(sheet, [], []).total == 0


def test_the_ranges_of_the_papers_episodes() -> None:
    """§4.5 and A.2: EP01 −15 to 53; EP02 −22 to 47, whose weights are known by their sum alone."""
    one = score_range(key([3] * 12, [7, 5, 5, -5, -5, -5]), 12)
    assert isinstance(one, Scored)
    assert (one.value.minimum, one.value.maximum) == (-15, 53)
    two = score_range(key([None] * 20, [2, 2, 2, -8, -6, -2, -2, -2, -2], clue_total=41), 20)
    assert isinstance(two, Scored)
    assert (two.value.minimum, two.value.maximum) == (-22, 47)


def test_a_quota_smaller_than_k_bounds_the_range() -> None:
    found = score_range(key([4, 3, 1], [1, -1]), 2)  # 4 + 3, and 1
    assert isinstance(found, Scored)
    assert found.value.maximum == 8


def test_weights_that_are_not_known_leave_a_score_unscored(sheet: Sheet) -> None:
    assert isinstance(score_range(key([None, 2], [1]), 2), Unscored)
    half = Sheet(
        sheet.episode,
        sheet.key.model_copy(update={"clues": key([None], [1]).clues, "clue_total": 3}),
        sheet.path,
    )
    assert isinstance(score(["S001"], [], half), Unscored)
    assert isinstance(score(["S002"], ["R01"], half), Scored)
    fewer = half.key.model_copy(update={"participants": half.key.participants[:1]})
    missing = score(["S002"], ["R02"], Sheet(half.episode, fewer, half.path))
    assert isinstance(missing, Unscored)
    assert (missing.cause, missing.reason) == ("points", "the points of R02 are not known")


EP01 = {  # §5.1.1: hits and right minus wrong for each run, the only whole numbers that give the printed totals
    "GPT-5.6 Sol": ([3, 4, 3, 2, 5], [1, 1, -1, -2, 2], [14, 17, 4, -4, 25], 11.2, 11.3),
    "Claude Opus 4.6": ([4, 4, 3, 2, 3], [2, -1, -1, 0, 2], [22, 7, 4, 6, 19], 11.6, 8.3),
    "GLM-5.2": ([4, 2, 5, 3, 1], [2, 2, 1, 1, 0], [22, 16, 20, 14, 3], 15.0, 7.4),
    "Kimi K3": ([3, 2, 4, 1, 4], [2, -1, 0, 1, -1], [19, 1, 12, 8, 7], 9.4, 6.7),
    "Gemini 3.1 Pro": ([2, 3, 3, 2, 2], [0, 2, 2, 0, 0], [6, 19, 19, 6, 6], 11.2, 7.1),
    "DeepSeek-V4-Flash": ([2, 1, 4, 1, 3], [1, 2, 2, 1, 2], [11, 13, 22, 8, 19], 14.6, 5.8),
}


@pytest.mark.parametrize("model", EP01)
def test_the_five_run_totals_of_episode_01(sheet: Sheet, model: str) -> None:
    hits, net, totals, average, deviation = EP01[model]
    # Twelve key sentences of 3 points; the +7 participant was never chosen, so right and wrong are 5 points each.
    ep01 = Sheet(sheet.episode, key([3] * 12, [7, 5, 5, -5, -5, -5]), sheet.path)
    got = [
        points(
            ep01,
            [f"S{k:03d}" for k in range(1, h + 1)],
            ["R02", "R03"][: max(n, 0)] + ["R04", "R05", "R06"][: max(-n, 0)],
        ).total
        for h, n in zip(hits, net, strict=True)
    ]
    assert got == totals
    assert (round(mean(got), 1), round(stdev(got), 1)) == (average, deviation)


@pytest.mark.parametrize(
    ("clue", "right", "wrong", "participant", "total"),
    [(12, 2, [], 4, 16), (17, 0, [-8, -6, -2, -2, -2], -20, -3)],  # §5.2: GPT run 1, Kimi run 3
)
def test_single_runs_of_episode_02(
    sheet: Sheet, clue: int, right: int, wrong: list[int], participant: int, total: int
) -> None:
    ep02 = key([None] * 20, [2, 2, 2, -8, -6, -2, -2, -2, -2], clue_total=41)
    values = ep02.points
    chosen = [one for one in values if values[one] > 0][:right]
    others = [one for one in values if values[one] < 0]
    for amount in wrong:
        chosen.append(others.pop(next(n for n, one in enumerate(others) if values[one] == amount)))
    found = points(
        Sheet(sheet.episode.model_copy(update={"quota": Quota(sentences=20)}), ep02, sheet.path), [], chosen
    )
    assert (found.participant, clue + found.participant) == (participant, total)
    assert found.correct + found.incorrect == tuple(chosen)


ids = st.lists(st.sampled_from([f"S{n:03d}" for n in range(1, 9)]), unique=True)
roles = st.lists(st.sampled_from(["R01", "R02", "R03"]), unique=True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(clues=ids, chosen=roles, seed=st.integers(0, 7))
def test_a_score_is_additive_bounded_and_knows_no_order(
    sheet: Sheet, clues: list[str], chosen: list[str], seed: int
) -> None:
    found = points(sheet, clues, chosen)
    assert found.range.minimum <= found.total <= found.range.maximum
    assert found.total == sum(points(sheet, [one], []).total for one in clues) + sum(
        points(sheet, [], [one]).total for one in chosen
    )
    turned = clues[seed % (len(clues) or 1) :] + clues[: seed % (len(clues) or 1)]
    assert points(sheet, turned, chosen[::-1]).total == found.total
    outside = [one for one in clues if one in sheet.key.sentences]
    assert points(sheet, outside, chosen).total == found.total


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    weights=st.lists(st.integers(1, 20), min_size=1, max_size=8),
    worth=st.lists(st.integers(-50, 50), min_size=3, max_size=3),
    clues=ids,
    chosen=roles,
    quota=st.integers(1, 8),
)
def test_under_any_key_a_score_is_a_sum_within_its_range(
    sheet: Sheet, weights: list[int], worth: list[int], clues: list[str], chosen: list[str], quota: int
) -> None:
    """K is S001 to its size; a selection within the quota never leaves the range that the key alone makes."""
    episode = sheet.episode.model_copy(update={"quota": Quota(sentences=quota)})
    any_key = Sheet(episode, key(list(weights), worth), sheet.path)
    clues = clues[:quota]
    found = points(any_key, clues, chosen)
    assert found.clue == sum(weights[int(one[1:]) - 1] for one in clues if int(one[1:]) <= len(weights))
    assert found.participant == sum(worth[int(one[1:]) - 1] for one in chosen)
    assert found.range.minimum <= found.total <= found.range.maximum
    assert points(any_key, sorted(clues, reverse=True), sorted(chosen)).total == found.total


def test_an_invalid_selection_is_unscored_and_not_zero(sheet: Sheet) -> None:
    reply = json.dumps({"clue_sentence_ids": ["S207"], "selected_role_ids": ["R01"]})
    response, outcome = score_text(reply, sheet)
    assert response.json == "direct"
    assert isinstance(outcome, Unscored)
    assert (outcome.cause, "S207" in outcome.reason) == ("selections", True)
