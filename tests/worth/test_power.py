"""Every diagnosis that tests something: silent where there is nothing, as often as its level lets it, and loud where there is.

A small version of docs/worth_power.py, with fixed seeds.
"""

from pathlib import Path

import pytest

from worth_deepeval.episode import Sheet, load_sheet
from worth_deepeval.power import SCENARIOS, Scenario, rate


@pytest.fixture(scope="module")
def story() -> Sheet:
    return load_sheet(Path(__file__).parents[2] / "test_cases" / "episodes" / "WEN01")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[one.name for one in SCENARIOS])
def test_a_diagnosis_is_silent_by_lot_and_speaks_at_full_strength(story: Sheet, scenario: Scenario) -> None:
    """Of 20 samples by lot more than 5 alarms at .05, or more than 2 at .01, have a chance of 3 or 10 in 10,000."""
    alarms = rate(scenario, story, 0, runs=5, samples=20)
    assert alarms.of == 20
    assert alarms.count <= (5 if scenario.level == 0.05 else 2)
    assert rate(scenario, story, 1, runs=5, samples=4).count >= 3


def test_the_same_seed_gives_the_same_rate(story: Sheet) -> None:
    (one,) = (scenario for scenario in SCENARIOS if scenario.name == "watched pair, over runs (McNemar)")
    assert rate(one, story, 0.3, runs=5, samples=5) == rate(one, story, 0.3, runs=5, samples=5)
