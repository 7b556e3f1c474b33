"""Published data and values for every statistic. What may not be copied is read from `../shared`, where that is at hand."""

import json
from functools import cache
from math import inf, pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ludic_deepeval.stats import (
    ahp,
    aligned_friedman,
    bca,
    cohens_d,
    critical_difference,
    fisher,
    friedman,
    holm,
    icc1,
    iman_davenport,
    krippendorff_alpha,
    mcnemar_exact,
    mean_ranks,
    nemenyi,
    pearson_r,
    power_r,
    power_t,
    quade,
    rank_pairs,
    rank_pairs_of,
    shaffer,
    sobol_indices,
    spearman_r,
    two_way_anova,
    welch_t,
    wilson,
)
from ludic_deepeval.stats.posthoc import true_counts, true_sets

SHARED = Path(__file__).parents[3] / "shared" / "oracles" / "external_oracles.json"
COPIED = {
    one["id"]: one
    for one in json.loads((Path(__file__).parent / "external.json").read_text(encoding="utf-8"))["oracles"]
}
# Data that came through a download and stays outside this repository.
SHARED_ONLY = ("gh2008.omnibus", "gh2008.aligned", "gh2010", "qpcr.k11")


@cache
def shared() -> dict[str, Any]:
    if not SHARED.exists():
        pytest.skip("../shared is not here: its data may not be copied into this repository")
    return {one["id"]: one for one in json.loads(SHARED.read_text(encoding="utf-8"))["oracles"]}


def near(value: object, oracle: dict[str, Any]) -> Any:
    return pytest.approx(value, abs=oracle["abs_tol"], rel=0)


def test_welch_and_d_of_the_sleep_data() -> None:
    oracle = COPIED["welch.sleep"]
    x, y, expected = oracle["data"]["x"], oracle["data"]["y"], oracle["expected"]
    found = welch_t(x, y)
    assert found.statistic == near(expected["t"], oracle)
    assert found.df == near(expected["df"], oracle)
    assert found.p_value == near(expected["p"], oracle)
    assert found.interval == near((expected["lo"], expected["hi"]), oracle)
    assert found.effect == near(expected["d"], oracle)
    assert cohens_d(x, y).statistic == near(expected["d"], oracle)
    less = welch_t(x, y, alternative="less")
    assert less.p_value == near(expected["p_less"], oracle)
    assert less.interval == found.interval


def test_the_two_way_anova_of_tooth_growth() -> None:
    oracle = COPIED["anova2.ToothGrowth"]
    found, expected = two_way_anova(oracle["data"]), oracle["expected"]
    effects = [found.first, found.second, found.interaction]
    assert [one.statistic for one in effects] == near(
        [expected[f"F_{n}"] for n in ("supp", "dose", "int")], oracle
    )
    assert [one.effect for one in effects] == near(
        [expected[f"e_{n}"] for n in ("supp", "dose", "int")], oracle
    )
    assert [one.df for one in effects] == [(1, 54), (2, 54), (2, 54)]


def test_pearson_and_fishers_interval_of_anscombe() -> None:
    oracle = COPIED["pearson.anscombe1"]
    found, expected = (
        pearson_r(oracle["data"]["x"], oracle["data"]["y"], interval="fisher"),
        oracle["expected"],
    )
    assert found.statistic == near(expected["r"], oracle)
    assert found.p_value == near(expected["p"], oracle)
    assert found.interval == near((expected["lo"], expected["hi"]), oracle)


def test_the_bca_interval_of_the_law_schools() -> None:
    oracle = COPIED["bca.law"]
    found = pearson_r(oracle["data"]["lsat"], oracle["data"]["gpa"], confidence=0.9)
    assert found.interval == near((oracle["expected"]["lo"], oracle["expected"]["hi"]), oracle)


def test_the_bca_interval_of_a_skewed_mean() -> None:
    oracle = COPIED["bca.mean"]
    found = bca(np.mean, oracle["data"], resamples=100_000)
    assert found == near((oracle["expected"]["lo"], oracle["expected"]["hi"]), oracle)


def test_holm_of_four() -> None:
    assert holm(COPIED["holm.4"]["data"]) == near(COPIED["holm.4"]["expected"], COPIED["holm.4"])


def test_demsars_fourteen_data_sets() -> None:
    oracle = COPIED["demsar2006"]
    auc, expected = np.array(oracle["data"]["auc"]), oracle["expected"]
    # The printed table ties two values of its last row that the ranks of the paper tell apart.
    assert auc[12].tolist() == [0.972, 0.981, 0.975, 0.975]
    auc[12, 2] = 0.97501
    assert mean_ranks(auc, highest_first=True) == near(tuple(expected[f"r{i}"] for i in (1, 2, 3, 4)), oracle)
    assert friedman(auc, ties="uncorrected").statistic == near(expected["chi2"], oracle)
    assert iman_davenport(auc).statistic == near(expected["FF"], oracle)
    assert nemenyi(auc).critical_difference == near(expected["CD05"], oracle)
    at_ten = nemenyi(auc, alpha=0.1)
    assert at_ten.critical_difference == near(expected["CD10"], oracle)
    assert at_ten.significant == ((0, 1), (0, 3))


@pytest.mark.parametrize(("name", "alpha"), [("q05", 0.05), ("q10", 0.10)])
def test_the_quantiles_of_nemenyis_test(name: str, alpha: float) -> None:
    oracle = COPIED["nemenyi.q"]
    # CD = q √(k(k+1)/6N), with N = 1.
    found = [critical_difference(k, 1, alpha=alpha) / (k * (k + 1) / 6) ** 0.5 for k in oracle["data"]["k"]]
    assert found == near(oracle["expected"][name], oracle)


def test_friedman_and_quade_of_rounding_first_base() -> None:
    oracle = COPIED["friedman.rounding"]
    found = friedman(oracle["data"])
    assert (found.statistic, found.p_value) == near(
        (oracle["expected"]["chi2"], oracle["expected"]["p"]), oracle
    )
    exact = COPIED["quade.rounding_exact"]
    assert quade(oracle["data"]).statistic == near(exact["expected"]["F"], exact)


def test_quade_of_conover() -> None:
    oracle = COPIED["quade.conover"]
    found = quade(oracle["data"])
    assert (found.statistic, found.p_value) == near(
        (oracle["expected"]["F"], oracle["expected"]["p"]), oracle
    )
    assert found.df == (4, 24)


def test_three_rank_tests_of_stac() -> None:
    oracle = COPIED["stac"]
    data, expected = oracle["data"], oracle["expected"]
    for found, one, p in (
        (iman_davenport(data), "FF", "FFp"),
        (aligned_friedman(data), "T", "Tp"),
        (quade(data), "Q", "Qp"),
    ):
        assert (found.statistic, found.p_value) == near((expected[one], expected[p]), oracle)


def test_friedman_quade_and_nemenyi_of_sachs() -> None:
    oracle = COPIED["sachs"]
    data = np.array(oracle["data"]["column_major_6x6"]).reshape(6, 6).T
    expected = oracle["expected"]
    assert friedman(data).statistic == near(expected["chi2"], oracle)
    assert friedman(data).p_value == near(expected["p"], oracle)
    assert quade(data).statistic == near(expected["quade"], oracle)
    found = nemenyi(data)
    p_values = dict(zip(found.pairs, found.p_values, strict=True))
    assert [p_values[pair] for pair in ((0, 5), (3, 5), (0, 4))] == near(
        [expected[name] for name in ("n16", "n46", "n15")], oracle
    )


def test_pairwise_z_tests_of_garcia_and_herrera() -> None:
    oracle = COPIED["gh2008.raw"]
    found = rank_pairs_of(oracle["data"]["mean_ranks"], oracle["data"]["N"])
    assert found.p_values == near(tuple(oracle["expected"]), oracle)
    adjusted = COPIED["gh2008.shaffer"]
    assert shaffer(found.p_values, k=5) == near(adjusted["expected"], adjusted)


def test_shaffer_of_a_printed_matrix() -> None:
    oracle = COPIED["gh2008.shaffer_printed"]
    # The data are printed to seven digits, so that a product of ten may be off by one more unit.
    assert shaffer(oracle["data"], k=5) == pytest.approx(oracle["expected"], abs=oracle["abs_tol"])


def test_how_many_hypotheses_can_be_true() -> None:
    expected = COPIED["shaffer.S"]["expected"]
    for k in (4, 5, 10):
        assert sorted(true_sets(k)) == expected[f"S{k}"]
    for k in (5, 10):
        assert list(true_counts(k)) == expected[f"t{k}"]


def test_spearman_of_iq_and_television() -> None:
    oracle = COPIED["spearman.iq"]
    found = spearman_r(oracle["data"]["x"], oracle["data"]["y"])
    assert (found.statistic, found.p_value) == near(
        (oracle["expected"]["rho"], oracle["expected"]["p"]), oracle
    )


def test_sobol_indices_of_ishigamis_function() -> None:
    oracle = COPIED["ishigami"]
    a, b, expected = oracle["data"]["a"], oracle["data"]["b"], oracle["expected"]

    def ishigami(x: np.ndarray) -> np.ndarray:
        return np.sin(x[0]) + a * np.sin(x[1]) ** 2 + b * x[2] ** 4 * np.sin(x[0])

    (found,) = sobol_indices(ishigami, [(-pi, pi)] * 3, n=4096)
    assert found.first == near(tuple(expected[f"S{i}"] for i in (1, 2, 3)), oracle)
    assert found.total == near(tuple(expected[f"T{i}"] for i in (1, 2, 3)), oracle)


def test_icc_of_shrout_and_fleiss() -> None:
    oracle = COPIED["icc.shrout"]
    assert icc1(oracle["data"]).statistic == near(oracle["expected"]["a"], oracle)


def test_icc_of_unequal_groups() -> None:
    oracle = COPIED["icc1.unbalanced"]
    found, expected = icc1(oracle["data"]["groups"]), oracle["expected"]
    assert (found.statistic, found.k0, found.msb, found.msw) == near(
        tuple(expected[name] for name in ("icc", "k0", "msb", "msw")), oracle
    )


@pytest.mark.parametrize("name", ["alpha.kripp2011", "alpha.wiki"])
def test_krippendorffs_alpha(name: str) -> None:
    oracle = COPIED[name]
    levels = {"n": "nominal", "o": "ordinal", "i": "interval", "r": "ratio"}
    for short, expected in oracle["expected"].items():
        found = krippendorff_alpha(np.array(oracle["data"], dtype=float), level=levels[short])  # type: ignore[arg-type]  # one of them
        assert found.statistic == near(expected, oracle)


def test_the_ahp_of_drinks() -> None:
    oracle = COPIED["ahp.drinks"]
    found = ahp(oracle["data"], method="eigenvector")
    assert found.weights == near(tuple(oracle["expected"]["w"]), oracle)
    assert found.consistency_ratio == near(oracle["expected"]["CR"], oracle)
    # By the row geometric mean, as the oracle's note has it.
    noted = (0.1787, 0.0185, 0.0422, 0.1165, 0.1911, 0.1286, 0.3243)
    assert ahp(oracle["data"]).weights == pytest.approx(noted, abs=5e-5)


def test_power_as_r_has_it() -> None:
    oracle = COPIED["power"]
    found = (
        power_t(n=20, d=1).power,
        power_t(d=1, power=0.9).n,
        power_t(n=40, d=0.5, tails="one").power,
        power_t(d=0.5, power=0.8, tails="one").n,
        power_r(r=0.3, power=0.8).n,
    )
    assert found == near(tuple(oracle["expected"][name] for name in "abcde"), oracle)


def test_mcnemar_of_agresti() -> None:
    oracle = COPIED["mcnemar.agresti"]
    (_, b), (c, _) = oracle["data"]
    assert mcnemar_exact(b, c).p_value == near(oracle["expected"]["exact"], oracle)


def test_fisher_of_convictions() -> None:
    oracle = COPIED["fisher"]
    _, ((a, b), (c, d)) = oracle["data"]
    assert fisher(a, b, c, d).p_value == near(oracle["expected"][1], oracle)


def test_fisher_of_the_tea() -> None:
    oracle = COPIED["fisher"]
    ((a, b), (c, d)), _ = oracle["data"]
    assert fisher(a, b, c, d, alternative="greater").p_value == near(oracle["expected"][0], oracle)


def test_newcombes_wilson_intervals() -> None:
    oracle = COPIED["wilson"]
    for (hits, n), expected in zip(oracle["data"], oracle["expected"], strict=True):
        assert wilson(hits, n).interval == near(tuple(expected), oracle)
    assert wilson(0, 37).interval is not None
    assert wilson(0, 37).interval[0] == 0


def test_garcia_and_herreras_thirty_data_sets() -> None:
    oracle = shared()["gh2008.omnibus"]
    data, expected = np.array(oracle["data"]), oracle["expected"]
    assert mean_ranks(data, highest_first=True) == near(tuple(expected["r"]), oracle)
    assert friedman(data, ties="uncorrected").statistic == near(expected["chi2"], oracle)
    assert iman_davenport(data).statistic == near(expected["FF"], oracle)
    assert quade(data, ties="uncorrected").statistic == near(expected["quade"], oracle)
    exact = shared()["gh2008.aligned"]
    assert aligned_friedman(data).statistic == near(exact["expected"]["T"], exact)
    raw = COPIED["gh2008.raw"]
    assert rank_pairs(data).p_values == near(tuple(raw["expected"]), raw)


def test_garcia_and_others_2010() -> None:
    oracle = shared()["gh2010"]
    data, expected = np.array(oracle["data"]), oracle["expected"]
    assert mean_ranks(data, highest_first=True) == near(tuple(expected["r"]), oracle)
    assert friedman(data, ties="uncorrected").statistic == near(expected["chi2"], oracle)
    assert iman_davenport(data).statistic == near(expected["FF"], oracle)
    assert aligned_friedman(data).statistic == near(expected["T"], oracle)
    assert quade(data, ties="uncorrected").statistic == near(expected["quade"], oracle)
    assert quade(data).statistic == near(expected["quade_ties"], oracle)


def test_eleven_methods_of_qpcr() -> None:
    oracle = shared()["qpcr.k11"]
    data, expected = np.array(oracle["data"]["y"]), oracle["expected"]
    found = friedman(data)
    assert [4 * rank for rank in found.mean_ranks] == near(expected["sums"], oracle)
    assert found.statistic == near(expected["chi2"], oracle)


def test_the_copies_are_what_they_were_copied_from() -> None:
    for name, copy in COPIED.items():
        original = shared()[name]
        assert {key: original[key] for key in copy} == copy
    assert set(SHARED_ONLY) == {name for name, one in shared().items() if "under shared" in one["origin"]}
    assert not set(SHARED_ONLY) & set(COPIED)
    assert all(np.isfinite(one["abs_tol"]) and one["abs_tol"] < inf for one in COPIED.values())
