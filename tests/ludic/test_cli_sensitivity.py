"""`ludic sensitivity` on the shipped stories."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ludic_deepeval.scoring import score_ledger
from ludic_deepeval.stats import friedman, nemenyi, rank_battery, sobol_indices
from ludic_deepeval.stats.posthoc import shaffer

ROOT = Path(__file__).parents[2]
STORIES = ROOT / "test_cases/backstories"
Ludic = Callable[..., Any]
QUICK = ("--draws", "300", "--sobol", "64")


@pytest.fixture(autouse=True)
def from_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def copy_of(name: str, folder: Path) -> None:
    """A shipped story with its ledger, and the bibles that stories name."""
    shutil.copytree(ROOT / "bible", folder / "bible")
    for ending in ("md", "ledger.json"):
        shutil.copy(STORIES / f"{name}.{ending}", folder)


def test_the_report_says_what_moves_and_whether_it_holds(ludic: Ludic) -> None:
    done = ludic("sensitivity", str(STORIES), *QUICK)
    assert done.code == 0
    assert done.out.startswith(
        "22 stories, 13 at or above their LPI threshold; 300 draws of the four LPI weights\n"
    )
    # The one story at exactly .70 changes sides about as often as not.
    assert "five-doors.md: on the other side in " in done.out
    assert "below the 5% bound." in done.out


def test_json_tells_every_story_and_every_index(ludic: Ludic) -> None:
    done = ludic("sensitivity", str(STORIES), *QUICK, "--everything", "--json")
    found = json.loads(done.out)
    assert (found["version"], len(found["stories"]), found["robust"], done.code) == (1, 22, True, 0)
    assert [one["spread"] for one in found["weights"]] == [0.1, 0.2, 0.3, 0.4, 0.5]
    at = next(one for one in found["weights"] if one["spread"] == found["spread"])
    assert len(at["moved"]) == 22
    assert at["reclassified"] == pytest.approx(np.mean(at["moved"]))
    assert found["sobol"]["names"] == ["rtn", "mv", "ucr", "th"]
    assert len(found["sobol"]["total_interval"]) == 4
    assert len(found["sobol_everything"]["gate"]["names"]) == 17
    assert found["everything"]["quadrant"] >= found["everything"]["gate"]


def test_a_corpus_that_hangs_on_the_weights_does_not_hold(ludic: Ludic, tmp_path: Path) -> None:
    copy_of("five-doors", tmp_path)
    done = ludic("sensitivity", str(tmp_path / "five-doors.md"), *QUICK)
    assert done.code == 1
    assert "Does not hold: " in done.out
    assert "With 1 story these shares are coarse: one story is 100% of them." in done.out


def test_the_same_seed_gives_the_same_figures_and_another_others(ludic: Ludic) -> None:
    one, again, other = (
        ludic("sensitivity", str(STORIES), *QUICK, "--json", "--seed", seed).out for seed in ("1", "1", "2")
    )
    assert one == again != other


def test_a_story_without_a_ledger_is_left_out_and_said(ludic: Ludic, tmp_path: Path) -> None:
    copy_of("from-the-box", tmp_path)
    (tmp_path / "new.md").write_text("Nobody has read this story so far.\n", encoding="utf-8")
    done = ludic("sensitivity", str(tmp_path / "from-the-box.md"), str(tmp_path / "new.md"), *QUICK)
    assert done.out.startswith("1 story, 1 at or above")
    assert f"left out: {tmp_path / 'new.md'}: " in done.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--spread", "1"), "--spread: found 1.0; allowed: more than 0 and less than 1"),
        (("--spread", "nan"), "--spread: found nan"),
        (("--draws", "0"), "--draws: found 0; allowed: 1 to 1,000,000"),
        (("--draws", "2000000"), "--draws: found 2000000"),
        (("--sobol", "100"), "--sobol: found 100; allowed: a power of two"),
        (("--seed", "-1"), "--seed: found -1"),
        (("--profile", "epic"), "--profile: found 'epic'"),
    ],
)
def test_wrong_options_are_one_line(ludic: Ludic, options: tuple[str, ...], message: str) -> None:
    done = ludic("sensitivity", str(STORIES), *options)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


def test_nothing_to_score_is_an_error(ludic: Ludic, tmp_path: Path) -> None:
    (tmp_path / "new.md").write_text("Nobody has read this story so far.\n", encoding="utf-8")
    done = ludic("sensitivity", str(tmp_path))
    assert done.code == 2
    assert "no story that could be scored" in done.err


def test_without_numpy_it_says_what_to_install(ludic: Ludic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    done = ludic("sensitivity", str(STORIES))
    assert done.code == 2
    assert "pip install 'ludic-worth[studies]'" in done.err


def test_the_plain_statistics_load_no_numpy() -> None:
    code = (
        "import sys\nimport ludic_deepeval.stats as s\n"
        "[getattr(s, name) for name in ('holm', 'wilson', 'mcnemar_exact', 'fisher', 'Result')]\n"
        "import ludic_deepeval.studies\nprint('numpy' in sys.modules or 'scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "False"


def test_sobol_asks_the_function_once() -> None:
    asked = []

    def add(inputs: np.ndarray) -> np.ndarray:
        asked.append(inputs.shape)
        return inputs.sum(axis=0)

    (found,) = sobol_indices(add, [(0, 1), (0, 2)], n=1024)
    assert asked == [(2, 1024 * 4)]
    # Variances 1/12 and 4/12: 1/5 and 4/5, without interactions.
    assert found.first == pytest.approx((0.2, 0.8), abs=0.01)
    assert found.total == pytest.approx((0.2, 0.8), abs=0.01)


def test_the_battery_is_its_parts() -> None:
    data = np.random.default_rng(0).integers(0, 9, (40, 10)) / 8
    data[:, 3] += 1
    found = rank_battery(data)
    assert found.friedman == friedman(data)
    assert found.nemenyi == nemenyi(data)
    assert list(found.shaffer) == shaffer(found.pairs.p_values, k=10)
    low = [pair for pair, p in zip(found.pairs.pairs, found.shaffer, strict=True) if p < 0.01]
    assert list(found.significant(0.01)) == low
    assert sum(3 in pair for pair in low) == 9  # the one that is a point worse, against every other
    best = rank_battery(data, highest_first=True)
    assert best.mean_ranks == pytest.approx([11 - rank for rank in found.mean_ranks])
    assert best.quade.statistic == pytest.approx(found.quade.statistic)
    assert best.shaffer == pytest.approx(found.shaffer)


def test_a_score_is_the_same_in_the_corpus_and_alone() -> None:
    from ludic_deepeval.ledger import FactLedger
    from ludic_deepeval.studies.corpus import corpus_of

    card = score_ledger(FactLedger(schema_version=1, protagonist="Kaelen"))
    assert corpus_of([("empty", card)]).components.tolist() == [[0, 0, 0, 0]]
