"""No statistic depends on the order of its data or on what things are called."""

from collections.abc import Sequence
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from ludic_deepeval.stats import (
    ahp,
    aligned_friedman,
    cohens_d,
    fisher,
    friedman,
    holm,
    icc1,
    iman_davenport,
    krippendorff_alpha,
    mcnemar_exact,
    nemenyi,
    pearson_r,
    power_r,
    power_t,
    quade,
    rank_pairs,
    shaffer,
    spearman_r,
    tost,
    two_way_anova,
    welch_t,
    wilson,
)

CLOSE = {"rel": 1e-9, "abs": 1e-12}
# Tenths: the values of a rating or a share, where ties are many and float noise would break them.
tenths = st.integers(-30, 30).map(lambda n: n / 10)
groups = st.lists(tenths, min_size=2, max_size=8)
seeds = st.integers(0, 2**32 - 1)
tables = st.tuples(st.integers(2, 7), st.integers(2, 5), seeds).map(
    lambda shape: np.random.default_rng(shape[2]).integers(0, 12, shape[:2]) / 10
)
RANK_TESTS = [friedman, iman_davenport, aligned_friedman, quade]


def figures(found: Any) -> list[float | None]:
    return [found.statistic, found.p_value, found.effect]


def same(one: Any, other: Any) -> bool:
    return bool(figures(one) == [None if b is None else pytest.approx(b, **CLOSE) for b in figures(other)])


def some_vary(x: Sequence[float], y: Sequence[float]) -> bool:
    return len(set(x)) > 1 or len(set(y)) > 1


@settings(max_examples=40)
@given(groups, groups, seeds)
def test_two_means_in_any_order(x: list[float], y: list[float], seed: int) -> None:
    assume(some_vary(x, y))
    rng = np.random.default_rng(seed)
    for test in (welch_t, cohens_d):
        found, again, turned = test(x, y), test(rng.permutation(x), rng.permutation(y)), test(y, x)
        assert same(found, again)
        assert turned.statistic == pytest.approx(-found.statistic, **CLOSE)
        assert turned.p_value == (None if found.p_value is None else pytest.approx(found.p_value, **CLOSE))
        assert found.interval is not None
        assert turned.interval == pytest.approx((-found.interval[1], -found.interval[0]), rel=1e-6, abs=1e-9)


@given(groups, groups, st.integers(1, 50))
def test_means_are_equivalent_whichever_comes_first(x: list[float], y: list[float], bound: int) -> None:
    assume(some_vary(x, y))
    found, turned, wider = tost(x, y, bound / 10), tost(y, x, bound / 10), tost(x, y, bound / 5)
    assert turned.p_value == pytest.approx(found.p_value, **CLOSE)
    assert found.p_value is not None
    assert wider.p_value is not None
    assert wider.p_value <= found.p_value + 1e-12
    # Equivalent at 5 % exactly when the 90 % interval lies within the bounds.
    assert found.interval is not None
    if abs(found.p_value - 0.05) > 1e-9:
        inside = -bound / 10 < found.interval[0] and found.interval[1] < bound / 10
        assert (found.p_value < 0.05) == inside


@given(st.integers(2, 3), st.integers(2, 4), seeds)
def test_an_anova_in_any_order_under_any_names(i: int, j: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = (part.ravel() for part in np.indices((i, j)))
    more = rng.integers(0, i * j, 10)  # a design that need not be balanced
    a, b = np.concatenate([one, one, one[more]]), np.concatenate([other, other, other[more]])
    y = rng.normal(size=len(a)) + a * 0.5 + a * b * 0.3
    found = two_way_anova(y, a.tolist(), b.tolist())
    order = rng.permutation(len(y))
    renamed = [f"level {i - level}" for level in a[order]]
    again = two_way_anova(y[order], renamed, b[order].tolist())
    turned = two_way_anova(y, b.tolist(), a.tolist())
    moved = two_way_anova(y * 3 + 1000, a.tolist(), b.tolist())
    for which in ("first", "second", "interaction"):
        assert same(getattr(found, which), getattr(again, which))
        assert figures(getattr(found, which)) == pytest.approx(
            figures(getattr(moved, which)), rel=1e-7, abs=1e-9
        )
    assert same(found.first, turned.second)
    assert same(found.interaction, turned.interaction)


@pytest.mark.parametrize("test", RANK_TESTS)
@given(table=tables, seed=seeds)
def test_rank_tests_in_any_order(test: Any, table: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.permutation(table.shape[1])
    found, again = test(table), test(rng.permutation(table)[:, columns])
    assert same(found, again)
    assert again.mean_ranks == pytest.approx([found.mean_ranks[j] for j in columns], **CLOSE)
    assert test(-table).statistic == pytest.approx(found.statistic, **CLOSE)  # best or worst first
    # 1.1 * 3 is not 3.3 in binary floating point; the ranks are the same for all that.
    assert same(found, test(table * 1.1 * 3))


@given(tables, seeds)
def test_friedman_sees_only_the_order_within_a_problem(table: np.ndarray, seed: int) -> None:
    factors = np.random.default_rng(seed).uniform(1, 1000, (len(table), 1))
    assert same(friedman(table), friedman(np.exp(table) * factors))


@given(tables, seeds)
def test_aligned_ranks_do_not_see_how_hard_a_problem_is(table: np.ndarray, seed: int) -> None:
    shift = np.random.default_rng(seed).integers(-20, 20, (len(table), 1)) / 10
    assert same(aligned_friedman(table), aligned_friedman(table + shift))


@given(tables)
def test_friedman_as_scipy_has_it(table: np.ndarray) -> None:
    assume(table.shape[1] > 2)
    assume(any(len(set(row)) > 1 for row in table.tolist()))
    other = stats.friedmanchisquare(*table.T)
    found = friedman(table)
    assert (found.statistic, found.p_value) == pytest.approx((other.statistic, other.pvalue), abs=1e-9)


@given(tables, seeds)
def test_pairs_follow_their_algorithms(table: np.ndarray, seed: int) -> None:
    columns = np.random.default_rng(seed).permutation(table.shape[1]).tolist()
    for test in (nemenyi, rank_pairs):
        found, again = test(table), test(table[:, columns])
        p = {frozenset(pair): one for pair, one in zip(found.pairs, found.p_values, strict=True)}
        for (i, j), one in zip(again.pairs, again.p_values, strict=True):
            assert one == pytest.approx(p[frozenset({columns[i], columns[j]})], rel=1e-6, abs=1e-9)


@given(st.integers(2, 6), seeds)
def test_adjusted_p_values_stand_where_the_raw_ones_did(k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    raw = np.round(rng.random(k * (k - 1) // 2) ** 3, 3)
    order = rng.permutation(len(raw))
    by_holm, by_shaffer = holm(raw.tolist()), shaffer(raw.tolist(), k=k)
    assert holm(raw[order].tolist()) == [by_holm[i] for i in order]
    assert shaffer(raw[order].tolist(), k=k) == [by_shaffer[i] for i in order]
    for p, one, other in zip(raw, by_shaffer, by_holm, strict=True):
        assert p <= one <= other <= 1


@given(st.lists(st.lists(st.integers(1, 7), min_size=1, max_size=4), min_size=2, max_size=6), seeds)
def test_raters_of_an_item_have_no_order(items: list[list[int]], seed: int) -> None:
    assume(sum(map(len, items)) > len(items))
    assume(len({rating for item in items for rating in item}) > 1)
    rng = np.random.default_rng(seed)
    found = icc1(items)
    shuffled = [rng.permutation(items[i]) for i in rng.permutation(len(items))]
    assert same(found, icc1(shuffled))
    assert same(found, icc1([[rating * 10 - 3 for rating in item] for item in items]))
    if found.msw > 0:
        assert found.interval is not None
        assert found.interval[0] - 1e-9 <= found.statistic <= found.interval[1] + 1e-9 or found.p_value == 1


def by_definition(ratings: np.ndarray, distance: Any) -> float:
    """Alpha from every pair, one at a time: mean disagreement within items over that of all ratings."""
    items = [column[~np.isnan(column)] for column in ratings.T]
    items = [item for item in items if len(item) > 1]
    every = np.concatenate(items)
    observed = sum(
        2 * distance(a, b) / (len(item) - 1) for item in items for a, b in combinations(item, 2)
    ) / len(every)
    expected = 2 * sum(distance(a, b) for a, b in combinations(every, 2)) / (len(every) * (len(every) - 1))
    return float(1 - observed / expected)


ratings = st.tuples(st.integers(2, 4), st.integers(2, 6), seeds).map(
    lambda shape: np.where(
        np.random.default_rng(shape[2]).random(shape[:2]) < 0.2,
        np.nan,
        np.random.default_rng(shape[2] + 1).integers(1, 5, shape[:2]).astype(float),
    )
)


@settings(max_examples=60)
@given(ratings, seeds)
def test_alpha_by_its_definition_and_in_any_order(table: np.ndarray, seed: int) -> None:
    pairable = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    assume(len(np.unique(pairable[~np.isnan(pairable)])) > 1)
    rng = np.random.default_rng(seed)
    for level, distance in (("nominal", lambda a, b: a != b), ("interval", lambda a, b: (a - b) ** 2)):
        found = krippendorff_alpha(table, level=level)  # type: ignore[arg-type]  # one of them
        assert found.statistic == pytest.approx(by_definition(table, distance), abs=1e-9)
        shuffled = rng.permutation(rng.permutation(table).T).T
        assert same(found, krippendorff_alpha(shuffled, level=level))  # type: ignore[arg-type]  # as above
    other_names = np.select([table == n for n in (1, 2, 3, 4)], [40.0, 2.0, 7.0, -1.0], np.nan)
    assert same(krippendorff_alpha(table, level="nominal"), krippendorff_alpha(other_names, level="nominal"))
    assert same(krippendorff_alpha(table, level="ordinal"), krippendorff_alpha(table**3, level="ordinal"))
    assert same(
        krippendorff_alpha(table, level="interval"), krippendorff_alpha(5 - 2 * table, level="interval")
    )


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=6), seeds)
def test_consistent_comparisons_give_back_their_weights(weights: list[float], seed: int) -> None:
    w = np.array(weights) / sum(weights)
    matrix = w[:, None] / w[None, :]
    for method in ("geometric-mean", "eigenvector"):
        found = ahp(matrix, method=method)  # type: ignore[arg-type]  # one of them
        assert found.weights == pytest.approx(w, abs=1e-9)
        assert found.consistency_ratio == pytest.approx(0, abs=1e-9)
    rng = np.random.default_rng(seed)
    noisy = np.triu(matrix * np.exp(rng.normal(0, 0.5, matrix.shape)), 1)
    noisy = noisy + np.divide(1, noisy.T, out=np.zeros_like(noisy), where=noisy.T > 0) + np.eye(len(w))
    order = rng.permutation(len(w))
    found, again = ahp(noisy), ahp(noisy[np.ix_(order, order)])
    assert again.weights == pytest.approx([found.weights[i] for i in order], abs=1e-9)
    assert again.consistency_ratio == pytest.approx(found.consistency_ratio, abs=1e-9)


@given(st.lists(st.tuples(tenths, tenths), min_size=4, max_size=12), seeds)
def test_correlations_in_any_order(pairs: list[tuple[float, float]], seed: int) -> None:
    x, y = np.array(pairs).T
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    order = np.random.default_rng(seed).permutation(len(x))
    found = pearson_r(x, y, interval="fisher")
    assert same(found, pearson_r(x[order], y[order], interval="fisher"))
    assert same(found, pearson_r(y, x * 2 + 1, interval="fisher"))
    assert same(spearman_r(x, y), spearman_r(np.exp(x[order]), y[order]))


counts = st.integers(0, 12)


@given(counts, counts, counts, counts)
def test_tables_of_counts_under_other_names(a: int, b: int, c: int, d: int) -> None:
    p = fisher(a, b, c, d).p_value
    for turned in ((a, c, b, d), (d, c, b, a), (b, a, d, c), (c, d, a, b)):
        assert fisher(*turned).p_value == pytest.approx(p, **CLOSE)
    less, greater = (fisher(a, b, c, d, alternative=one).p_value for one in ("less", "greater"))
    assert fisher(b, a, d, c, alternative="greater").p_value == pytest.approx(less, **CLOSE)
    assert less + greater >= 1 - 1e-9  # what was seen counts on both sides
    assert mcnemar_exact(a, b).p_value == mcnemar_exact(b, a).p_value


@given(counts, counts)
def test_a_rate_and_its_opposite_have_mirrored_intervals(hits: int, misses: int) -> None:
    assume(hits + misses)
    low, high = wilson(hits, hits + misses).interval or (0, 0)
    assert wilson(misses, hits + misses).interval == pytest.approx((1 - high, 1 - low), abs=1e-12)
    assert low <= hits / (hits + misses) <= high


@settings(max_examples=30)
@given(st.integers(20, 200), st.floats(0.05, 0.9), st.sampled_from(["one", "two"]))
def test_power_solved_either_way_is_one_and_the_same(n: int, effect: float, tails: Any) -> None:
    for solve, name in ((power_t, "d"), (power_r, "r")):
        power = solve(n=n, tails=tails, **{name: effect}).power
        assume(0.2 < power < 0.999)
        assert solve(power=power, tails=tails, **{name: effect}).n == pytest.approx(n, rel=1e-5)
        assert solve(n=n, power=power, tails=tails).effect == pytest.approx(effect, rel=1e-5)


def test_a_tail_too_thin_for_scipy_is_no_power_at_all() -> None:
    """At n = 127 and d = 1.0737 SciPy's noncentral t gives NaN for the far tail, which is below 1e-23."""
    assert power_t(n=127, d=1.073741824).power == pytest.approx(
        power_t(n=127, d=1.073741824, alpha=0.025, tails="one").power
    )


@given(groups, groups)
def test_welch_by_hand(x: list[float], y: list[float]) -> None:
    assume(some_vary(x, y))
    a, b = np.var(x, ddof=1) / len(x), np.var(y, ddof=1) / len(y)
    found = welch_t(x, y)
    assert found.statistic == pytest.approx((np.mean(x) - np.mean(y)) / sqrt(a + b), **CLOSE)
    assert found.df == pytest.approx((a + b) ** 2 / (a**2 / (len(x) - 1) + b**2 / (len(y) - 1)))


def test_an_unbalanced_anova_as_statsmodels_has_it() -> None:
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 2, 60), rng.integers(0, 4, 60)
    y = rng.normal(size=60) + 0.4 * a + 0.3 * (b == 2) * a
    frame = pd.DataFrame({"y": y, "a": a.astype(str), "b": b.astype(str)})
    other = anova_lm(ols("y ~ C(a) * C(b)", frame).fit(), typ=2)
    found = two_way_anova(y, a.tolist(), b.tolist())
    assert not found.balanced
    ours = [(one.statistic, one.p_value) for one in (found.first, found.second, found.interaction)]
    theirs = list(zip(other["F"][:3], other["PR(>F)"][:3], strict=True))
    assert np.array(ours) == pytest.approx(np.array(theirs), rel=1e-9)
    assert found.residual_df == other["df"].iloc[3]
