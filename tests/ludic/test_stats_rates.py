"""Simulated data with and without an effect: every test errs as often as it says, and finds what it should.

Six hundred simulations each with a fixed seed. A rate of .05 then lies within .05 ± 3 √(.05 · .95 / 600) = .05 ± .027 in all
but three of a thousand seeds.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ludic_deepeval.stats import (
    aligned_friedman,
    bca,
    friedman,
    holm,
    icc1,
    iman_davenport,
    mcnemar_exact,
    nemenyi,
    pearson_r,
    power_f,
    power_r,
    power_t,
    quade,
    rank_pairs,
    shaffer,
    tost,
    two_way_anova,
    welch_t,
    wilson,
)

RUNS = 600
GATED = [0] * 40 + [1] * 40


def rate(p_value: Callable[[np.random.Generator], Any], seed: int, runs: int = RUNS) -> float:
    rng = np.random.default_rng(seed)
    return sum(float(p_value(rng)) < 0.05 for _ in range(runs)) / runs


def nominal(found: float, expected: float = 0.05, runs: int = RUNS) -> bool:
    return bool(abs(found - expected) < 3 * (expected * (1 - expected) / runs) ** 0.5)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_welch_errs_at_its_level_with_unequal_variances(alternative: Any) -> None:
    assert nominal(
        rate(
            lambda rng: welch_t(rng.normal(0, 1, 40), rng.normal(0, 3, 15), alternative=alternative).p_value,
            1,
        )
    )


def test_welch_finds_a_medium_effect_as_often_as_the_power_says() -> None:
    # H1a's design: 40 against 40, one-tailed, d = −.5.
    found = rate(
        lambda rng: welch_t(rng.normal(-0.5, 1, 40), rng.normal(0, 1, 40), alternative="less").p_value, 2
    )
    assert nominal(found, power_t(n=40, d=0.5, tails="one").power)


def test_equivalence_is_claimed_at_the_level_when_the_difference_is_the_bound() -> None:
    assert nominal(rate(lambda rng: tost(rng.normal(0.1, 0.1, 40), rng.normal(0, 0.1, 40), 0.1).p_value, 3))
    assert rate(lambda rng: tost(rng.normal(0, 0.1, 40), rng.normal(0, 0.1, 40), 0.1).p_value, 4, 100) > 0.9


def factorial(rng: np.random.Generator, effects: list[float]) -> Any:
    """A 2 × 4 design with forty values a cell and a spread of 1; the effect of the first factor at each level of the other."""
    cells = [
        {
            level: rng.normal(0.4 * level + (effect if gated else 0), 1, 40)
            for level, effect in enumerate(effects)
        }
        for gated in (False, True)
    ]
    return two_way_anova({"ungated": cells[0], "gated": cells[1]})


def test_an_anova_without_effects_of_the_first_factor_errs_at_its_level() -> None:
    rng = np.random.default_rng(5)
    found = [factorial(rng, [0, 0, 0, 0]) for _ in range(RUNS)]
    assert nominal(sum(one.first.p_value < 0.05 for one in found) / RUNS)
    assert nominal(sum(one.interaction.p_value < 0.05 for one in found) / RUNS)
    assert sum(one.second.p_value < 0.05 for one in found) / RUNS > 0.9
    # The interval of partial eta squared begins at 0 unless p < .025.
    assert nominal(sum(one.interaction.interval[0] > 0 for one in found) / RUNS, 0.025)


def test_a_sign_flipped_interaction_is_found_where_the_average_is_flat() -> None:
    # ±.4 standard deviations by turns: f² of the interaction is the variance of the cell deviations ±.2, .04.
    rng = np.random.default_rng(6)
    found = [factorial(rng, [0.4, 0.4, -0.4, -0.4]) for _ in range(300)]
    assert nominal(sum(one.first.p_value < 0.05 for one in found) / 300, runs=300)
    expected = power_f(cells=8, df=3, n=320, f=0.2).power
    assert nominal(sum(one.interaction.p_value < 0.05 for one in found) / 300, expected, runs=300)


@pytest.mark.parametrize("test", [friedman, iman_davenport, aligned_friedman, quade])
@pytest.mark.parametrize("tied", [False, True])
def test_rank_tests_err_at_their_level(test: Any, tied: bool) -> None:
    def one(rng: np.random.Generator) -> Any:
        data = rng.normal(0, 1, (30, 5)) + rng.normal(0, 2, (30, 1))
        return test(np.round(data) if tied else data, ties="corrected").p_value

    assert nominal(rate(one, 7))


@pytest.mark.parametrize("test", [friedman, iman_davenport, aligned_friedman, quade])
def test_rank_tests_find_a_planted_order(test: Any) -> None:
    shift = np.array([0, 0.3, 0.6, 0.9, 1.2])
    assert rate(lambda rng: test(rng.normal(0, 1, (30, 5)) + shift).p_value, 8, 100) > 0.95


def test_of_many_pairs_none_is_called_more_often_than_the_level() -> None:
    """The family-wise error, at most .05: Nemenyi's by the range, Holm's and Shaffer's by adjustment."""
    rng = np.random.default_rng(9)
    wrong = np.zeros(3)
    for _ in range(RUNS):
        data = rng.random((40, 6))
        raw = rank_pairs(data).p_values
        found = nemenyi(data)
        smallest = (min(found.p_values), min(holm(raw)), min(shaffer(raw, k=6)))
        assert (smallest[0] < 0.05) == bool(found.significant)
        wrong += np.array(smallest) < 0.05
    assert nominal(wrong[0] / RUNS)
    assert (wrong / RUNS < 0.05 + 0.027).all()


def test_shaffer_keeps_its_level_when_some_algorithms_do_differ() -> None:
    def wrong(rng: np.random.Generator) -> float:
        data = rng.normal(0, 1, (40, 5)) + np.array([0, 0, 0, 2, 2])
        found = rank_pairs(data)
        adjusted = dict(zip(found.pairs, shaffer(found.p_values, k=5), strict=True))
        return min(adjusted[pair] for pair in ((0, 1), (0, 2), (1, 2), (3, 4)))

    assert rate(wrong, 10) < 0.05 + 0.027


def test_mcnemar_never_errs_more_often_than_its_level() -> None:
    def one(rng: np.random.Generator) -> float:
        b = int(rng.binomial(30, 0.5))
        return mcnemar_exact(b, 30 - b).p_value

    assert rate(one, 11) < 0.05 + 0.027


def test_reliability_of_noise_is_called_real_at_the_level() -> None:
    assert nominal(rate(lambda rng: icc1(list(rng.normal(0, 1, (20, 3)))).p_value, 12))


def test_the_interval_of_an_icc_holds_the_truth() -> None:
    # An item's own spread 1 and a rater's 1: ICC = 1 / (1 + 1) = .5.
    rng = np.random.default_rng(13)
    missed = 0
    for _ in range(RUNS):
        low, high = icc1(list(rng.normal(0, 1, (30, 1)) + rng.normal(0, 1, (30, 3)))).interval or (0, 0)
        missed += not low <= 0.5 <= high
    assert nominal(missed / RUNS)


def test_a_correlation_errs_at_its_level_and_is_found_at_its_power() -> None:
    def correlated(rng: np.random.Generator, r: float) -> float:
        x = rng.normal(0, 1, 60)
        y = r * x + (1 - r * r) ** 0.5 * rng.normal(0, 1, 60)
        return pearson_r(x, y, alternative="greater", interval="fisher").p_value or 0.0

    assert nominal(rate(lambda rng: correlated(rng, 0), 14))
    assert nominal(rate(lambda rng: correlated(rng, 0.32), 15), power_r(n=60, r=0.32, tails="one").power)


def test_the_power_of_few_pairs_is_an_approximation_as_documented() -> None:
    powers = [power_r(n=n, r=1e-6, tails="one").power for n in (4, 20)]
    assert [round(power, 4) for power in powers] == [0.0705, 0.0503]


def test_bca_intervals_hold_the_truth() -> None:
    # The mean of an exponential distribution is 1; at n = 30 BCa falls a few points short of its 95 %, and not more.
    rng = np.random.default_rng(16)
    runs, missed = 200, 0
    for seed in range(runs):
        low, high = bca(np.mean, rng.exponential(1, 30), resamples=500, seed=seed)
        missed += not low <= 1 <= high
    assert 0.02 < missed / runs < 0.13


def test_wilson_intervals_hold_the_truth() -> None:
    rng = np.random.default_rng(17)
    missed = 0
    for _ in range(RUNS):
        low, high = wilson(int(rng.binomial(40, 0.2)), 40).interval or (0, 0)
        missed += not low <= 0.2 <= high
    assert nominal(missed / RUNS)
