"""The statistics that a diagnosis stands on, against values worked by hand and the paper's figures."""

import random
from math import comb

import pytest
from scipy import stats

from ludic_deepeval.stats.exact import fisher, fisher_within, holm, hypergeometric, mcnemar, sign_test
from ludic_deepeval.stats.intervals import wilson
from ludic_deepeval.stats.permutation import pearson, permutation_test, ranks, shuffled_within


def test_a_wilson_interval_by_hand() -> None:
    # 5 of 10 with z = 2: (0.5 + 4/20) / (1 + 4/10) ± sqrt(0.25·0.4 + 0.04) / 1.4 = 0.5 ± 0.3741657/1.4 = 0.5 ± 0.2672612
    found = wilson(5, 10, z=2)
    assert (found.low, found.high) == pytest.approx((0.2327388, 0.7672612), abs=1e-7)


@pytest.mark.parametrize(("count", "of"), [(0, 37), (25, 37), (31, 37), (37, 37), (1, 1)])
def test_wilson_intervals_as_scipy_has_them(count: int, of: int) -> None:
    found, other = wilson(count, of), stats.binomtest(count, of).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=1e-12)


def test_a_rate_of_nothing_is_none_and_not_zero() -> None:
    assert wilson(0, 0).rate is None
    with pytest.raises(ValueError, match="5 of 4"):
        wilson(5, 4)


def test_mcnemar_is_twice_the_binomial_tail() -> None:
    assert mcnemar(25, 0).p_value == 2 * 0.5**25  # 5.96e-8: WORTH §5.2.2, S113 against S112
    # 3 against 1: 2 (C(4,0) + C(4,1)) / 16 = 10/16.
    assert sign_test(3, 1).p_value == 0.625
    assert mcnemar(0, 0).p_value == 1
    assert mcnemar(2, 2).p_value == 1  # 2·11/16 is above 1


def test_mcnemar_of_thousands_of_runs_is_a_number_still() -> None:
    assert mcnemar(1100, 900).p_value == pytest.approx(stats.binomtest(900, 2000).pvalue, rel=1e-9)


def test_fishers_test_of_the_papers_s081() -> None:
    # WORTH §5.2.3 and 5.2.7: 6 of the 15 runs with somebody right selected S081, none of the other 22.
    found = fisher(6, 0, 9, 22)
    # Only 6 of 6 among the 15 is as improbable, the other tail (0 of 6) being C(22,6)/C(37,6) = 0.032.
    assert found.p_value == pytest.approx(comb(15, 6) / comb(37, 6), rel=1e-9)
    assert round(found.p_value, 6) == 0.002153
    assert found.effect is not None
    assert round(found.effect, 4) == 2.4667


def test_fishers_test_as_scipy_has_it() -> None:
    rng = random.Random(5)  # noqa: S311  # cases, no secret
    for _ in range(200):
        a, b, c, d = (rng.randrange(12) for _ in range(4))
        assert fisher(a, b, c, d).p_value == pytest.approx(
            stats.fisher_exact([[a, b], [c, d]]).pvalue, abs=1e-9
        )


def test_a_hypergeometric_distribution_by_hand() -> None:
    # 5 balls, 2 marked, 4 drawn: one marked C(2,1)C(3,3)/C(5,4) = 2/5, both 1·3/5.
    least, chances = hypergeometric(5, 2, 4)
    assert least == 1
    assert chances == pytest.approx([0.4, 0.6])


def test_within_strata_a_difference_between_models_is_no_evidence() -> None:
    # One model always selects both, the other neither: over all runs that is strong, within either it says nothing.
    assert fisher(10, 0, 0, 10).p_value < 1e-4
    assert fisher_within([(10, 0, 0, 0), (0, 0, 0, 10)]).p_value == 1
    # Two tables of (1, 0, 0, 1), each 1/2: both together 1/4; two-sided 1/4 + 1/4.
    assert fisher_within([(1, 0, 0, 1)] * 2).p_value == pytest.approx(0.5)
    assert fisher_within([(3, 1, 1, 3)]).p_value == pytest.approx(fisher(3, 1, 1, 3).p_value)


def test_holm_by_hand() -> None:
    # Sorted .01 .03 .04, times 3, 2, 1: .03 .06 .04, made monotone .03 .06 .06.
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])


def test_shuffling_keeps_the_values_of_each_group() -> None:
    out = shuffled_within([(0, 2, 4), (1, 3)], [1, 2, 3, 4, 5], random.Random(1))  # noqa: S311  # a shuffle
    assert sorted(out[i] for i in (0, 2, 4)) == [1, 3, 5]
    assert sorted(out[i] for i in (1, 3)) == [2, 4]


def test_a_permutation_p_value_counts_the_observation_itself() -> None:
    values = iter([1.0, 2.0, 3.0])
    found = permutation_test(2, lambda: next(values), 3, "three")
    assert (found.p_value, found.expected) == (3 / 4, 2.0)  # (1 + two of three) / (1 + 3)


def test_correlations_and_ranks_by_hand() -> None:
    # Deviations −1 0 1 and −1 1 0: Σ = 1, squares 2 and 2.
    assert pearson([1, 2, 3], [1, 3, 2]) == 0.5
    assert pearson([1, 1, 1], [1, 2, 3]) is None
    assert ranks([5, 7, 7, 1]) == [3, 1.5, 1.5, 4]
