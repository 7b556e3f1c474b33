"""The study of orthogonality: its figures by hand, and that it recovers what was planted."""

import subprocess
import sys
from pathlib import Path

import pytest

from ludic_deepeval.errors import InputError
from trulens_feedback.lore_study import OUTCOMES, Study, run_study, table
from trulens_feedback.study_drafts import CONDITIONS, OPENNESS, Design
from trulens_feedback.study_figures import eta_squared, resampled, slope

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def design() -> Design:
    return Design(ROOT / "bible")


@pytest.fixture(scope="module")
def study(design: Design) -> Study:
    return run_study(design, seeds=3, draws=50)


def test_eta_squared_by_hand() -> None:
    # Means 2 and 6, grand mean 4: between 2·4 + 2·4 = 16; total 9+1+1+9 = 20; 16/20.
    assert eta_squared("aabb", [1, 3, 5, 7]) == pytest.approx(0.8)
    assert eta_squared("abab", [1, 1, 2, 2]) == 0
    assert eta_squared("aabb", [1, 1, 2, 2]) == 1
    assert eta_squared("ab", [3, 3]) == 0
    assert eta_squared("", []) is None


def test_a_slope_by_hand() -> None:
    # x̄ = 1, ȳ = 2; Σ(x−x̄)(y−ȳ) = 1·1 + 0 + 1·2 = 3, Σ(x−x̄)² = 2.
    assert slope([0, 1, 2], [1, 1, 4]) == pytest.approx(1.5)
    assert slope([1, 1], [2, 3]) is None


def test_whole_lives_are_drawn_and_a_figure_without_variance_has_no_interval() -> None:
    found = resampled([[1.0, 1.0], [3.0, 3.0]], lambda rows: sum(rows) / len(rows), draws=200)
    assert found is not None
    assert (found.value, found.low, found.high, found.draws) == (2.0, 1.0, 3.0, 200)
    assert resampled([[1.0]], lambda _: None, draws=5) is None


def test_every_cell_of_the_design_is_there_once(study: Study) -> None:
    cells = {(row.condition, row.openness, row.seed) for row in study.rows}
    assert len(cells) == len(study.rows) == len(CONDITIONS) * len(OPENNESS) * 3


def test_a_life_and_its_mysteries_are_the_same_in_every_condition(design: Design) -> None:
    ledger = design.ledger(3, 7)
    assert ledger == design.ledger(3, 7)
    texts = {condition: design.draft(condition, 7, ledger, ()).prose for condition in CONDITIONS}
    for mystery in ledger.mysteries:
        assert all(mystery.text in text for text in texts.values())
    assert len(set(texts.values())) == len(CONDITIONS)


def test_what_was_planted_is_found_in_every_draft(study: Study) -> None:
    assert study.exact == (len(study.rows), len(study.rows))
    assert study.slope is not None
    assert study.slope.value == pytest.approx(1)
    assert sum(row.planted for row in study.rows) > 0


def test_mysteries_that_pass_eq_11_cost_nothing_and_are_all_set_apart(study: Study) -> None:
    moved, of = study.opened
    assert moved == 0
    assert of > 0
    for row in study.rows:
        assert row.open_found >= row.openness - row.closed


def test_faults_and_groundedness_move_with_retrieval_and_lpi_hardly_does(study: Study) -> None:
    effects = {one.outcome: one for one in study.effects}
    assert set(effects) == set(OUTCOMES)
    moved = {name: one.retrieval.value for name, one in effects.items() if one.retrieval is not None}
    assert moved["faults"] > 0.3
    assert moved["in_world"] > 0.3
    assert moved["lpi"] < 0.02
    assert effects["relevance"].means["none"] is None  # nothing retrieved is unmeasured, not 0


def test_the_report_names_every_outcome(study: Study) -> None:
    text = "\n".join(table(study))
    assert all(name in text for name in OUTCOMES)
    assert "No model wrote a word" in text
    assert "nan" not in text


def test_too_few_lives_are_refused(design: Design) -> None:
    with pytest.raises(InputError, match="--seeds: found 1"):
        run_study(design, seeds=1)


@pytest.mark.parametrize("arguments", [["--bible", "nowhere"], ["--seeds", "0"]])
def test_the_command_says_what_is_wrong_in_one_line(arguments: list[str]) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "trulens_feedback.lore_study", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, len(ran.stderr.splitlines())) == (2, 1)
    assert ran.stderr.startswith("lore-study: ")
