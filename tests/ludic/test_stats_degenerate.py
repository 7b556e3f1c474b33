"""Too few data, constants, ties, holes: a clear error or the value that is documented, never NaN and never silence."""

from math import factorial, inf, isnan, nan
from typing import Any

import numpy as np
import pytest

from ludic_deepeval import InputError
from ludic_deepeval import stats as statistics
from ludic_deepeval.errors import DataError
from ludic_deepeval.stats import (
    ahp,
    aligned_friedman,
    bca,
    cohens_d,
    critical_difference,
    f_summary,
    fisher,
    friedman,
    holm,
    icc1,
    iman_davenport,
    krippendorff_alpha,
    mcnemar_exact,
    nemenyi,
    pearson_r,
    power_f,
    power_r,
    power_t,
    quade,
    rank_pairs,
    shaffer,
    sobol_indices,
    spearman_r,
    t_summary,
    tost,
    tost_summary,
    two_way_anova,
    welch_t,
    wilson,
)

RANK_TESTS = [friedman, iman_davenport, aligned_friedman, quade]
CELLS = {"a": {"x": [1.0, 2.0], "y": [2.0, 4.0]}, "b": {"x": [1.0, 5.0], "y": [3.0, 3.0]}}

WRONG = [
    (lambda: welch_t([1], [1, 2]), "the first group has 1 value; allowed: at least 2"),
    (lambda: welch_t([1, 2], []), "the second group has 0 values"),
    (lambda: welch_t([1, 1], [2, 2]), "neither group varies"),
    (lambda: welch_t([1, nan], [2, 3]), "missing or not finite"),
    (lambda: welch_t([1, inf], [2, 3]), "missing or not finite"),
    (lambda: welch_t([[1, 2]], [2, 3]), "2 dimensions"),
    (lambda: welch_t(["a", "b"], [2, 3]), "no table of numbers"),
    (lambda: welch_t([1, 2], [2, 3], alternative="more"), "allowed: two-sided or less or greater"),
    (lambda: welch_t([1, 2], [2, 3], confidence=95), "confidence is 95"),
    (lambda: cohens_d([3, 3], [3, 3]), "neither group varies"),
    (lambda: tost([1, 2], [2, 3], 0), "the bound is 0"),
    (lambda: tost([1, 2], [2, 3], nan), "the bound is nan"),
    (lambda: tost_summary(0.1, 0, 10, 0.1), "standard error 0"),
    (lambda: two_way_anova([1, 2, 3], ["a"] * 3, ["x", "y", "y"]), "the first factor has 1 level"),
    (lambda: two_way_anova([1, 2, 3], ["a", "b", "b"], ["x", "x", "y"]), "no value for 'a' with 'y'"),
    (lambda: two_way_anova([1, 2], ["a"], ["x"]), "differ in number"),
    (lambda: two_way_anova([1.0, 2, 3, 4], list("aabb"), list("xyxy")), "one value in each cell"),
    (lambda: two_way_anova([1.0, 2, 3, 4] * 2, list("aabb") * 2, list("xyxy") * 2), "no cell varies"),
    (lambda: two_way_anova(CELLS | {"b": {"x": [1.0, nan], "y": [3.0]}}), "missing or not finite"),
    (lambda: two_way_anova(CELLS | {"b": {"x": [1.0, 2.0], "y": []}}), "no value for 'b' with 'y'"),
    (lambda: f_summary(-1, 1, 10), "F = -1"),
    (lambda: f_summary(nan, 1, 10), "F = nan"),
    (lambda: t_summary(1, 0), "0 degrees of freedom"),
    *[
        (lambda test=test, data=data: test(data), message)
        for test in [*RANK_TESTS, nemenyi, rank_pairs]
        for data, message in (
            ([[1, 2], [1, nan]], "missing or not finite"),
            ([[1, 2], [1]], "no table of numbers"),
            ([1, 2], "allowed: problems × algorithms"),
            ([[1], [2]], "algorithm"),
            ([], "allowed: problems × algorithms"),
        )
    ],
    *[(lambda test=test: test([[1, 2, 3]]), "1 problem of 3 algorithms") for test in RANK_TESTS],
    *[
        (lambda test=test: test([[1, 2], [2, 1]], ties="broken"), "corrected or uncorrected")
        for test in RANK_TESTS
    ],
    (lambda: critical_difference(1, 10), "1 algorithms"),
    (lambda: nemenyi([[1, 2], [2, 1]], alpha=0), "alpha is 0"),
    (lambda: holm([0.1, nan]), "a p-value of nan"),
    (lambda: holm([1.1]), "a p-value of 1.1"),
    (lambda: shaffer([0.1, 0.2], k=3), "2 p-values for k = 3"),
    (lambda: shaffer([0.1, -0.2, 0.3], k=3), "a p-value of -0.2"),
    (lambda: wilson(3, 2), "3 of 2"),
    (lambda: mcnemar_exact(-1, 2), "below 0"),
    (lambda: fisher(1, 2, -3, 4), "below 0"),
    (lambda: mcnemar_exact(2.5, 1), "no whole number"),
    (lambda: fisher(1, 2, nan, 4), "no whole number"),
    (lambda: fisher(1, 2, 3, 4, alternative="both"), "allowed"),
    (lambda: icc1([[1, 2]]), "1 items"),
    (lambda: icc1([[1, 2], []]), "the item at 1 has 0 values"),
    (lambda: icc1([[1], [2]]), "one rating an item"),
    (lambda: icc1([[3, 3], [3]]), "all ratings are the same"),
    (lambda: icc1([[1, nan], [2, 3]]), "missing or not finite"),
    (lambda: krippendorff_alpha([[1, 2]]), "no item has two ratings"),
    (lambda: krippendorff_alpha([[1, nan], [nan, 2]]), "no item has two ratings"),
    (lambda: krippendorff_alpha([[2, 2], [2, nan]]), "all ratings are the same"),
    (lambda: krippendorff_alpha([[1, 2], [2, 1]], level="likert"), "nominal or ordinal or interval or ratio"),
    (lambda: krippendorff_alpha([1, 2]), "raters × items"),
    (lambda: krippendorff_alpha([[-1, 2], [2, 2]], level="ratio"), "below 0"),
    (lambda: ahp([[1, 2], [2, 1]]), "row 1, column 2 is 2 and its mirror 2; allowed: reciprocals"),
    (lambda: ahp([[1, 2, 3], [0.5, 1, 1]]), "a square of 1 to 10 items"),
    (lambda: ahp([[1, 0], [0, 1]]), "not above 0"),
    (lambda: ahp([[1, nan], [nan, 1]]), "missing"),
    (lambda: ahp(np.ones((11, 11))), "a square of 1 to 10 items"),
    (lambda: pearson_r([1, 2], [1, 2]), "at least 3"),
    (lambda: pearson_r([1, 2, 3], [1, 2]), "has 2 values"),
    (lambda: pearson_r([1, 2, 3, 4], [1, 2, 3]), "4 values against 3"),
    (lambda: pearson_r([1, 1, 1], [1, 2, 3]), "the first measure does not vary"),
    (lambda: pearson_r([1, 2, 3], [1, 3, 2], interval="fisher"), "at least 4"),
    (lambda: pearson_r([1, 1, 1, 2], [1, 3, 2, 2]), "some resamples do not vary"),
    (lambda: spearman_r([1, 2, 3], [0.1 + 0.2, 0.3, 0.3]), "does not vary"),
    (lambda: bca(np.mean, [1, 2]), "at least 3"),
    (lambda: bca(np.mean, [2, 2, 2, 2]), "do not vary"),
    (lambda: power_t(n=20, d=1, power=0.9), "not exactly one"),
    (lambda: power_t(n=20), "not exactly one"),
    (lambda: power_t(n=1, d=1), "n is 1"),
    (lambda: power_t(n=20, d=0), "the effect is 0"),
    (lambda: power_t(n=20, d=1, alpha=0), "alpha is 0"),
    (lambda: power_t(n=20, d=1, tails="three"), "one or two"),
    (lambda: power_r(r=1, power=0.8), "the effect is 1"),
    (lambda: power_r(n=4, power=0.9999999), "no effect up to"),
    (lambda: power_f(cells=1, df=1, n=20, f=0.1), "1 to cells - 1"),
    (lambda: sobol_indices(np.sin, [(0, 1)], n=100), "a power of two"),
    (lambda: sobol_indices(np.sin, [(1, 1)], n=64), "an empty range"),
    (lambda: sobol_indices(lambda x: x[0] * 0 + 3, [(0, 1)], n=64), "does not vary"),
    (lambda: sobol_indices(lambda x: x[0] / 0 * np.inf, [(0, 1)], n=64), "finite"),
]


@pytest.mark.parametrize(
    ("call", "message"), WRONG, ids=[f"{i}-{one[1][:30]}" for i, one in enumerate(WRONG)]
)
@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_cannot_be_computed_says_why(call: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        call()
    assert message in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, InputError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("test", RANK_TESTS)
@pytest.mark.parametrize("ties", ["corrected", "uncorrected"])
def test_where_all_rank_alike_nothing_differs(test: Any, ties: str) -> None:
    found = test([[1, 1, 1], [5, 5, 5], [0.1 + 0.2, 0.3, 0.3]], ties=ties)
    assert (found.statistic, found.p_value) == (0, 1)
    assert len(set(found.mean_ranks)) == 1


@pytest.mark.parametrize("test", [iman_davenport, quade])
def test_where_all_problems_agree_f_is_infinite_and_p_is_their_chance(test: Any) -> None:
    found = test(
        [[1, 2, 3], [4, 5, 6], [0, 1, 2], [0.4, 0.8, 2.4]]
    )  # of one range, so that Quade weighs them alike
    assert found.statistic == inf
    assert found.p_value == (1 / factorial(3)) ** 3


def test_mean_ranks_of_equal_values_are_shared() -> None:
    # 1 1 2 ranks 1.5 1.5 3, and 0 5 5 ranks 1 2.5 2.5: means 1.25, 2, 2.75.
    assert friedman([[1, 1, 2], [0, 5, 5]]).mean_ranks == (1.25, 2, 2.75)


def test_float_noise_breaks_no_tie() -> None:
    noisy, clean = [[0.1 + 0.2, 0.3, 0.4], [0.7, 0.1 * 7, 0.2]], [[0.3, 0.3, 0.4], [0.7, 0.7, 0.2]]
    assert noisy != clean
    for test in RANK_TESTS:
        assert test(noisy) == test(clean)
    assert spearman_r([3, 1, 2, 4], [0.1 + 0.2, 0.3, 0.5, 0.7]) == spearman_r(
        [3, 1, 2, 4], [0.3, 0.3, 0.5, 0.7]
    )


def test_problems_of_very_different_size_are_ranked_exactly() -> None:
    table = [[1e-9, 2e-9, 3e-9], [1e9, 3e9, 2e9], [3e200, 1e200, 2e200], [0, 0, 1e-300]]
    assert friedman(table).mean_ranks == ((1 + 1 + 3 + 1.5) / 4, (2 + 3 + 1 + 1.5) / 4, (3 + 2 + 2 + 3) / 4)
    assert aligned_friedman(table).p_value is not None
    # The ranges rank 2, 3, 4, 1, so that Q weighs the rows so: (2·1 + 3·1 + 4·3 + 1·1.5) / 10.
    assert quade(table).mean_ranks[0] == pytest.approx(1.85)


def test_a_group_that_does_not_vary_beside_one_that_does() -> None:
    # 2 − 0 over √(0/2 + 2/2) with the one group's single degree of freedom.
    found = welch_t([2, 2], [-1, 1])
    assert found.statistic == pytest.approx(2)
    assert found.df == pytest.approx(1)


def test_raters_who_all_agree() -> None:
    found = icc1([[1, 1], [2, 2], [5, 5, 5]])
    assert (found.statistic, found.p_value, found.interval) == (1, 0, (1, 1))
    assert krippendorff_alpha([[1, 2, 3], [1, 2, 3]], level="ordinal").statistic == 1


def test_counts_from_numpy_do_not_overflow() -> None:
    many, few = np.int64(300), np.int64(200)
    assert mcnemar_exact(many, few).p_value == mcnemar_exact(300, 200).p_value
    assert fisher(many, few, few, many).p_value == fisher(300, 200, 200, 300).p_value


def test_nothing_to_compare_is_documented() -> None:
    assert holm([]) == []
    assert shaffer([0.03], k=2) == [0.03]
    assert mcnemar_exact(0, 0).p_value == 1
    assert wilson(0, 0).interval is None
    assert ahp([[1]]).weights == (1,)
    assert ahp([[1, 3], [1 / 3, 1]]).consistency_ratio == 0
    assert pearson_r([1, 2, 3], [2, 4, 6]).interval == (1, 1)


def test_no_effect_has_an_interval_from_zero() -> None:
    found = f_summary(0.5, 1, 100)
    assert found.interval is not None
    assert found.interval[0] == 0
    assert 0 < found.effect < found.interval[1]  # type: ignore[operator]  # an F has an effect
    assert f_summary(0, 2, 30).effect == 0


def test_the_interval_of_partial_eta_squared_inverts_the_noncentral_f() -> None:
    # Steiger (2004): λ / (λ + df + df_residual + 1), where F stands at 97.5 % and 2.5 % of its distributions.
    from scipy.stats import ncf

    found = f_summary(8.23, 3, 312)
    assert found.interval is not None
    for end, level in zip(found.interval, (0.975, 0.025), strict=True):
        shift = end * 316 / (1 - end)
        assert ncf.cdf(8.23, 3, 312, shift) == pytest.approx(level, abs=1e-6)


def test_a_result_is_its_statistic_and_cannot_be_changed() -> None:
    found = welch_t([1, 2, 4], [2, 3, 9])
    assert float(found) == found.statistic
    assert not isnan(float(found))
    with pytest.raises(AttributeError):
        found.statistic = 3  # type: ignore[misc]  # that it cannot be set is what is tested


def test_every_public_name_loads_and_others_do_not() -> None:
    for name in statistics.__all__:
        assert getattr(statistics, name) is not None
    assert dir(statistics) == sorted(statistics.__all__)
    with pytest.raises(AttributeError, match="no attribute 'anova'"):
        statistics.nothing_of_this_name if False else statistics.__getattr__("anova")
