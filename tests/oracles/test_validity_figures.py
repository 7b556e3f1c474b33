"""The figures of LudicMetrics §3.2 and §5.7 on weights, ratings and experts, recomputed by this library.

`COPIED` holds inputs and figures of `shared/oracles/paper_oracles.json`, which were read off the paper; the last test
compares the two where that file is at hand.
"""

import json
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="the extra studies")

from ludic_deepeval.stats import holm, power_r, r_summary  # noqa: E402  # after the skip
from ludic_deepeval.studies.ahp import corroborate  # noqa: E402
from ludic_deepeval.studies.ahp_words import SYMBOLS  # noqa: E402
from ludic_deepeval.studies.assignment import assign  # noqa: E402
from ludic_deepeval.studies.weights import rounded  # noqa: E402
from ludic_deepeval.studies.weights_draws import Draws, fit_draws  # noqa: E402

ORACLES = Path(__file__).parents[3] / "shared" / "oracles" / "paper_oracles.json"
DEFAULT = (0.4, 0.3, 0.2, 0.1)
PANEL = (0.34, 0.21, 0.23, 0.22)

# id: (section, inputs, what the paper prints; None where the figure is only derived from it)
COPIED: dict[str, tuple[str, dict[str, Any], Any]] = {
    "draw.weights": ("3.2", {"pct": [94, 71, 48, 19]}, [0.4, 0.3, 0.2, 0.1]),
    "ratings": ("5.7", {"four": 14, "three": 46}, 194),
    "r.Q4.holm": ("5.7", {"r": 0.36, "n": 60, "m": 4}, 0.006),
    "r.Q3.p": ("5.7", {"r": 0.23, "n": 60}, 0.039),
    "r.Q1": ("5.7", {"r": 0.16, "n": 60}, "n.s."),
    "r.Q2": ("5.7", {"r": 0.05, "n": 60}, "null"),
    "power.r": ("5.7", {"n": 60, "alpha": 0.05, "tail": "one", "power": 0.8}, "r ~ .32"),
    "ahp.sum": ("5.7", {"w": [0.34, 0.21, 0.23, 0.22]}, 1),
    "ahp.delta": ("5.7", {"w": [0.34, 0.21, 0.23, 0.22], "default": [0.4, 0.3, 0.2, 0.1]}, "rule not met"),
    "ahp.inside_sweep": (
        "5.7 vs 5.4",
        {"w": [0.34, 0.21, 0.23, 0.22], "default": [0.4, 0.3, 0.2, 0.1], "p": 0.5},
        '"perturbations far larger than this"',
    ),
    "ahp.lpi": ("5.7", {"w": [0.34, 0.21, 0.23, 0.22]}, None),
}


def test_the_draw_counts_give_the_papers_weights() -> None:
    """94, 71, 48 and 19 % of 160 sessions are 150, 114, 77 and 30: .405 .306 .207 .082, to one decimal .4 .3 .2 .1."""
    sessions = tuple(
        frozenset(name for name, count in (("RTN", 150), ("MV", 114), ("UCR", 77), ("TH", 30)) if at < count)
        for at in range(160)
    )
    found = fit_draws(Draws(sessions))
    # 150/371 .4043, 114/371 .3073, 77/371 .2075, 30/371 .0809; from the printed percentages .405 .306 .207 .082.
    assert found.weights == pytest.approx((0.405, 0.306, 0.207, 0.082), abs=0.0015)
    assert [round(one, 1) for one in found.weights] == list(DEFAULT)
    assert [float(one) for one in rounded(found.weights, 1)] == list(DEFAULT)


def test_fourteen_items_with_four_raters_and_the_others_with_three_are_194_ratings() -> None:
    assert COPIED["ratings"][2] == 14 * 4 + 46 * 3
    # Eleven raters with 18 each can do it in 198: the paper's panel was balanced to within a story or so.
    assert sum(assign(["0"] * 60, 11, per_story=3, per_rater=18, seed=1).raters_of) == 198


def test_the_convergent_p_values_of_table_14() -> None:
    """Q4's printed Holm p of .006 is smaller than any r that rounds to .36 allows under the t test (.0083 to .0108)."""
    p = [r_summary(r, 60, alternative="greater").p_value for r in (0.16, 0.05, 0.23, 0.36)]
    assert p[0] == pytest.approx(0.111, abs=5e-4)
    assert p[1] == pytest.approx(0.3522, abs=5e-4)
    assert p[2] == pytest.approx(0.03854, abs=5e-5)
    adjusted = holm([one for one in p if one is not None])
    assert adjusted[3] == pytest.approx(0.00945, abs=5e-5)
    assert adjusted[3] > 0.006
    assert adjusted[2] == pytest.approx(3 * 0.03854, abs=2e-4)  # "falls just short" is .116
    low, high = (4 * (r_summary(r, 60, alternative="greater").p_value or 0) for r in (0.365, 0.355))
    assert (low, high) == (pytest.approx(0.00828, abs=5e-5), pytest.approx(0.01076, abs=5e-5))


def test_sixty_stories_have_eighty_percent_power_for_the_printed_correlation() -> None:
    assert power_r(n=60, power=0.8, alpha=0.05, tails="one").effect == pytest.approx(0.3154, abs=1e-3)


def test_the_panel_of_nine_does_not_bear_the_default_weights_out() -> None:
    assert sum(PANEL) == pytest.approx(1)
    found = corroborate(PANEL, DEFAULT)
    assert [abs(one) for one in found.deltas] == pytest.approx([0.06, 0.09, 0.03, 0.12])
    assert " > ".join(SYMBOLS[name] for name in found.order) == "RTN > UCR > TH > MV"
    assert (found.order_kept, found.near, found.met) == (False, False, False)


def test_the_panels_vector_lies_outside_the_papers_widest_sweep() -> None:
    """Its largest ratio over its smallest is 2.2/.7 = 3.143; a sweep of ±50 % reaches 1.5/.5 = 3 (and ±20 % 1.5)."""
    found = corroborate(PANEL, DEFAULT)
    assert found.spread == pytest.approx(3.143, abs=5e-4)
    assert found.reach == pytest.approx((found.spread - 1) / (found.spread + 1))
    assert found.reach > 0.5


def test_the_worked_examples_under_the_panels_weights() -> None:
    assert np.dot(PANEL, (0.796, 0, 0.5, 1 / 3)) == pytest.approx(0.45897, abs=5e-6)
    assert np.dot(PANEL, (0.82, 1, 1, 1)) == pytest.approx(0.9388, abs=5e-6)


@pytest.mark.skipif(not ORACLES.is_file(), reason="shared/oracles is not beside this checkout")
def test_what_was_copied_is_what_the_oracles_say() -> None:
    known = {one["id"]: one for one in json.loads(ORACLES.read_text(encoding="utf-8"))["oracles"]}
    for name, (section, inputs, printed) in COPIED.items():
        assert (known[name]["section"], known[name]["inputs"], known[name]["printed"]) == (
            section,
            inputs,
            printed,
        )
