"""Two models or two conditions, paired on one episode; figures by hand or by counting all sign patterns."""

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test

from ludic_deepeval.errors import InputError
from worth_deepeval.compare import compare, mean_interval, sign_flip, wilson
from worth_deepeval.conditions import read_condition
from worth_deepeval.episode import Sheet
from worth_deepeval.imported import Chat, import_replies
from worth_deepeval.records import Access, RunRecord, Settings, Window
from worth_deepeval.runner import Cell, prompt_of

KEY = ["S002", "S004", "S006", "S007"]  # 3, 4, 2 and 1 points


def taken(
    sheet: Sheet, out: Path, model: str, *clues: int, condition: str = "full-story", formal: bool = True
) -> tuple[RunRecord, ...]:
    """Runs of a model that select the first so many key sentences; -1 selects one that there is not."""
    episode, prompt, _ = prompt_of(Cell(sheet.path, read_condition(condition)))
    chat = Chat(
        Access(model=model, interface="web"),
        Settings(),
        Window(first="2026-08-30", last="2026-08-30"),
        formal=formal,
    )
    texts = [
        json.dumps(
            {"clue_sentence_ids": ["S900"] if one < 0 else KEY[:one], "selected_role_ids": [], "n": number}
        )
        for number, one in enumerate(clues)
    ]
    return import_replies([("-", one) for one in texts], out, episode=episode, prompt=prompt, chat=chat)


def test_models_are_paired_by_repetition(sheet: Sheet, tmp_path: Path) -> None:
    """A: 3, 7, 9, 0; B: 7, 7, 10 and one run that cannot be scored. Differences 4, 0, 1: 5/3 on average.

    Of 8 sign patterns of (4, 0, 1) those with |sum| >= 5 are 4: p = 1/2.
    """
    records = taken(sheet, tmp_path, "a", 1, 2, 3, 0) + taken(sheet, tmp_path, "b", 2, 2, 4, -1)
    found = compare(sheet, records, "a", "b")
    assert (found.kind, found.held, found.pairs, found.unpaired) == ("model", "full-story", 3, 1)
    assert (found.a.totals, found.b.totals, found.b.runs) == ((3, 7, 9, 0), (7, 7, 10), 4)
    total = found.figures["total"]
    assert (total.differences, total.p_value) == ((4, 0, 1), 0.5)
    assert total.effect == pytest.approx(5 / 3)
    assert found.figures["participant"].p_value == 1


def test_conditions_are_paired_by_model_and_run_and_a_shown_key_is_no_result(
    sheet: Sheet, tmp_path: Path
) -> None:
    records = (
        taken(sheet, tmp_path, "a", 1, 1)
        + taken(sheet, tmp_path, "b", 0)
        + taken(sheet, tmp_path, "a", 4, 4, condition="evidence-cueing")
        + taken(sheet, tmp_path, "b", 4, condition="evidence-cueing")
    )
    found = compare(sheet, records, "full-story", "evidence-cueing")
    assert (found.kind, found.held, found.pairs) == ("condition", "several", 3)
    assert found.figures["clue"].differences == (7, 7, 10)
    assert not found.discovery


def test_runs_of_another_story_are_left_out_and_counted(sheet: Sheet, tmp_path: Path) -> None:
    mine = taken(sheet, tmp_path, "a", 1) + taken(sheet, tmp_path, "b", 2)
    other = mine[0].model_copy(update={"episode": mine[0].episode.model_copy(update={"sha256": "0"})})
    found = compare(sheet, [*mine, other], "a", "b")
    assert (found.pairs, found.skipped) == (1, 1)
    with pytest.raises(InputError, match="two models or two conditions"):
        compare(sheet, [other], "a", "b")


def test_what_does_not_count_is_taken_only_when_asked_for(sheet: Sheet, tmp_path: Path) -> None:
    records = taken(sheet, tmp_path, "a", 1, formal=False) + taken(sheet, tmp_path, "b", 2)
    with pytest.raises(InputError, match="two models or two conditions"):
        compare(sheet, records, "a", "b")
    assert compare(sheet, records, "a", "b", exploratory=True).pairs == 1


@given(st.lists(st.integers(-60, 60), max_size=9))
def test_the_sign_flip_test_counts_all_patterns(values: list[int]) -> None:
    seen = abs(sum(values))
    sums = [
        abs(sum(sign * one for sign, one in zip(signs, values, strict=True)))
        for signs in product((1, -1), repeat=len(values))
    ]
    assert sign_flip(values) == float(Fraction(sum(one >= seen for one in sums), len(sums)))


def test_the_sign_flip_test_is_scipys() -> None:
    values = [14, -3, 7, 0, 22, 5, -1, 9]
    theirs = permutation_test((values,), lambda x: sum(x), permutation_type="samples", n_resamples=10**6)  # noqa: PLW0108
    assert sign_flip(values) == pytest.approx(theirs.pvalue)


def test_five_pairs_give_no_more_than_15_in_16() -> None:
    """All 31 subset means lie between the least and the greatest difference; outside are 2 of 32 parts."""
    found = mean_interval([3, 1, 4, 1, 5])
    assert found is not None
    assert (found.low, found.high, found.level) == (1, 5, 30 / 32)
    assert mean_interval([3]) is None


@pytest.mark.parametrize("count", [6, 12, 40])
def test_with_more_pairs_an_interval_has_at_least_its_level(count: int) -> None:
    found = mean_interval(list(range(count)))
    assert found is not None
    assert 0.95 - 1e-9 <= found.level < 0.97
    assert found.low < (count - 1) / 2 < found.high


@pytest.mark.parametrize(("hits", "of"), [(0, 5), (3, 5), (5, 5), (37, 40)])
def test_wilsons_interval_is_scipys(hits: int, of: int) -> None:
    found = wilson(hits, of)
    theirs = binomtest(hits, of).proportion_ci(method="wilson")
    assert found is not None
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))
    assert wilson(0, 0) is None
