"""Verdicts on simulated stores: planted effects, none, and a turned sign, at their nominal rates; and what cannot be tested."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ludic_deepeval.studies.adjudicate import Verdict, adjudicate
from ludic_deepeval.studies.design import Design
from ludic_deepeval.studies.rows import Data
from ludic_deepeval.studies.store import Line
from ludic_deepeval.studies.threshold import capability_threshold
from tests.simulated_store import NOTHING, PAPER, data_of, simulated, study

DESIGN = study()
STUDIES = 60
FEW = 25  # where every one is to be found, or none
# A rate of r over n studies is within 3.3 standard errors of r but once in a thousand times.
NEAR = 3.3


def verdicts(lines: list[Line], design: Design = DESIGN) -> dict[str, Verdict]:
    return {one.hypothesis.id: one for one in adjudicate(data_of(design, lines))}


def only(*names: str) -> Design:
    kept = tuple(one for one in DESIGN.hypotheses if one.id in names)
    return DESIGN.model_copy(update={"hypotheses": kept})


def rate(names: tuple[str, ...], *, studies: int = STUDIES, **options: Any) -> Counter[str]:
    """How often each hypothesis is supported."""
    found: Counter[str] = Counter()
    for seed in range(studies):
        for name, one in verdicts(simulated(DESIGN, seed=1000 + seed, **options), only(*names)).items():
            found[name] += one.outcome == "supported"
    return found


def bound(expected: float) -> float:
    return NEAR * (STUDIES * expected * (1 - expected)) ** 0.5


def test_without_an_effect_each_directional_test_errs_at_its_nominal_rate() -> None:
    """One-tailed tests at .05, the interaction at .05 and in the right direction half of the time, and a bound that holds."""
    found = rate(("H1a", "S2-4B", "H1b", "S2-pattern", "S2-diversity", "H1c"), effects=NOTHING)
    for name in ("H1a", "S2-4B"):
        assert abs(found[name] - 0.05 * STUDIES) <= bound(0.05)
    assert abs(found["H1b"] - 0.025 * STUDIES) <= bound(0.025)
    assert found["S2-pattern"] <= 0.05 * STUDIES + bound(0.05)  # the interaction and every sign
    assert found["S2-diversity"] <= 0.0025 * STUDIES + bound(0.0025)  # ladder and control, each at .05
    # |Δ| <= .10 with SD .14 and n = 40: the standard error is .14 √(2/40) = .0313, so .10 is 3.19 of them: .9986.
    assert found["H1c"] >= 0.9986 * STUDIES - bound(0.9986) - 1


def test_a_planted_effect_is_found_as_often_as_its_power_says() -> None:
    """H1a at d = .40 with n = 40: one-tailed power by the noncentral t, the paper's own effect."""
    found = rate(("H1a", "S2-diversity", "H1c"), effects=PAPER | {"14B": -0.4 * 0.14}, narrowing=0.03)
    df, noncentral = 78, 0.4 * (40 / 2) ** 0.5
    power = float(scipy_stats.nct.cdf(scipy_stats.t.ppf(0.05, df), df, -noncentral))
    assert 0.5 < power < 0.6
    assert abs(found["H1a"] - power * STUDIES) <= bound(power)
    assert found["S2-diversity"] >= 0.95 * STUDIES  # .03 with an SD of .03 is d = 1
    assert found["H1c"] >= 0.97 * STUDIES


def test_a_sign_that_turns_along_the_ladder_is_found_and_one_that_does_not_is_none() -> None:
    turned = {"4B": 0.13, "8B": 0.0, "14B": -0.13, "Opus": 0.0, "Llama": 0.0}
    found = rate(("S2-pattern", "H1b"), studies=FEW, effects=turned)
    assert found["S2-pattern"] >= 0.9 * FEW
    the_other_way = {name: -value for name, value in turned.items()}
    found = rate(("S2-pattern", "H1b"), studies=FEW, effects=the_other_way)
    assert found["S2-pattern"] == 0
    assert found["H1b"] == 0
    alike = dict.fromkeys(turned, -0.13)  # it helps everybody: no interaction
    assert rate(("S2-pattern",), effects=alike)["S2-pattern"] <= 0.05 * STUDIES + bound(0.05)


def test_the_verdicts_do_not_depend_on_the_order_of_the_lines() -> None:
    lines = simulated(DESIGN, PAPER, seed=5, narrowing=0.02)
    order = np.random.default_rng(1).permutation(len(lines))
    one, other = verdicts(lines), verdicts([lines[at] for at in order])
    for name, verdict in one.items():
        assert (verdict.outcome, verdict.why) == (other[name].outcome, other[name].why)
        for (label, a), (_, b) in zip(verdict.numbers, other[name].numbers, strict=True):
            assert a.value == pytest.approx(b.value, rel=1e-9), label


def test_figures_are_those_of_another_implementation() -> None:
    lines = simulated(DESIGN, PAPER, seed=5)
    found = verdicts(lines)

    def values(gate: str, generator: str) -> list[float]:
        return [
            one["measures"]["e_a"] for one in lines if one["cell"] == {"gate": gate, "generator": generator}
        ]

    test = scipy_stats.ttest_ind(
        values("gated", "14B"), values("ungated", "14B"), equal_var=False, alternative="less"
    )
    numbers = dict(found["H1a"].numbers)
    assert numbers["t"].value == pytest.approx(test.statistic)
    assert numbers["df"].value == pytest.approx(test.df)
    assert numbers["one-tailed p"].value == pytest.approx(test.pvalue)


def test_the_bounded_null_is_told_by_the_estimate_with_interval_and_equivalence_beside() -> None:
    base = dict.fromkeys(PAPER, 0.4)
    wide = verdicts(simulated(DESIGN, NOTHING, seed=2, spread=0.3, base=base), only("H1c"))["H1c"]
    assert wide.outcome == "supported"
    assert "95 % interval is not" in wide.why  # .3 √(2/40) · 2 = .13 on either side
    assert dict(wide.numbers)["TOST p, ±0.1"].value > 0.05
    off = verdicts(simulated(DESIGN, NOTHING | {"Opus": 0.3}, seed=2, base=base), only("H1c"))["H1c"]
    assert (off.outcome, "outside ±0.1" in off.why) == ("not supported", True)


def test_diversity_is_general_only_if_the_control_replicates_it() -> None:
    narrow = {"4B": 0.05, "8B": 0.05, "14B": 0.05, "Opus": 0.05}
    ladder_alone = verdicts(simulated(DESIGN, PAPER, seed=3, narrowing=narrow))["S2-diversity"]
    assert ladder_alone.outcome == "not supported"
    assert "Llama did not replicate it: it may not be called general" in ladder_alone.why
    assert verdicts(simulated(DESIGN, PAPER, seed=3, narrowing=0.05))["S2-diversity"].outcome == "supported"


def test_the_cross_family_control_is_in_no_analysis_of_variance() -> None:
    lines = simulated(DESIGN, PAPER, seed=4)
    moved = [
        replace_e_a(line, 0.9 if line["cell"]["gate"] == "gated" else 0.05)
        if line["cell"]["generator"] == "Llama"
        else line
        for line in lines
    ]
    one, other = (dict(verdicts(these)["S2-pattern"].numbers) for these in (lines, moved))
    assert {name: number.value for name, number in one.items()} == {
        name: number.value for name, number in other.items()
    }
    assert one["residual df"].value == 312  # 8 cells of 40: §5.5
    assert one["df"].value == 3


def replace_e_a(line: Line, value: float) -> Line:
    return line | {"measures": line["measures"] | {"e_a": value}}


# What cannot be tested


def test_a_measure_at_its_ceiling_is_not_testable() -> None:
    found = verdicts(simulated(DESIGN, PAPER, seed=1))["H2"]
    assert found.outcome == "not testable"
    assert "branching count is 3 in every trial" in found.why.replace("Branching", "branching")


def test_a_cell_that_was_not_measured_is_not_testable_and_is_counted() -> None:
    lines = simulated(DESIGN, PAPER, seed=1)
    gone = [
        line | {"measures": dict.fromkeys(line["measures"])}
        if line["cell"] == {"gate": "gated", "generator": "14B"}
        else line
        for line in lines
    ]
    found = verdicts(gone)
    for name in ("H1a", "H1b", "S2-pattern"):
        assert found[name].outcome == "not testable"
        assert "measured in 0 trials of gated, 14B" in found[name].why
    some = [
        line | {"measures": dict.fromkeys(line["measures"])} if line["seed"] > 30 else line for line in lines
    ]
    assert verdicts(some)["H1a"].missing == 20
    assert {one.outcome for one in verdicts([]).values()} == {"not testable"}


def test_cells_without_spread_are_not_testable() -> None:
    lines = [
        replace_e_a(line, 0.2 if line["cell"]["gate"] == "gated" else 0.3)
        for line in simulated(DESIGN, PAPER, seed=1)
    ]
    found = verdicts(lines)["H1a"]
    assert found.outcome == "not testable"


# The capability threshold


def backbones(lines: list[Line]) -> dict[str, Any]:
    found = capability_threshold(data_of(DESIGN, lines))
    assert found is not None
    return {one.name: one for one in found.backbones} | {"": found}


def test_each_backbone_is_helped_harmed_or_neither() -> None:
    effects = {"4B": 0.15, "8B": 0.12, "14B": -0.15, "Opus": 0.0, "Llama": -0.15}
    found = backbones(simulated(DESIGN, effects, seed=7, spread=0.10))
    assert {name: one.effect for name, one in found.items() if name} == {
        "4B": "harms", "8B": "harms", "14B": "helps", "Opus": "does nothing", "Llama": "helps",
    }  # fmt: skip
    assert "up to 8B and not at 14B" in found[""].boundary
    few = [line for line in simulated(DESIGN, NOTHING, seed=6, spread=0.3) if line["seed"] <= 3]
    assert {one.effect for name, one in backbones(few).items() if name} == {"not shown"}


def test_the_two_failures_of_the_paper_are_told_apart() -> None:
    """§5.5: at 4B 2 of 40 converge; at 8B 39 of 40 do, LPI and PCV rise, E_a by .075, Invented by 1.13 and Reused by −.32."""
    lines = simulated(DESIGN, PAPER, seed=8)
    for line in lines:
        name, gated = line["cell"]["generator"], line["cell"]["gate"] == "gated"
        if gated:
            passed = line["seed"] <= 2 if name == "4B" else line["seed"] <= 39
            line["gate"] |= {"passed": passed, "converged": passed, "rewrites": 3 if name == "4B" else 1}
            line["cascade"] = {"found": not passed}
        if name == "8B":
            line["measures"] |= {"reused": 28 - 0.32 * gated, "invented": 8 + 1.13 * gated}
    found = backbones(lines)
    assert (found["4B"].failure, found["8B"].failure) == ("loud", "quiet")
    assert found["14B"].failure is None
    eight = found["8B"].numbers
    assert (eight["invented"].text, eight["reused"].text) == ("+1.13", "-0.32")
    assert found["4B"].numbers["converged"].value == 2 / 40
    assert found["4B"].cascades.value == 38


def test_a_study_without_a_ladder_has_no_threshold() -> None:
    design = DESIGN.model_copy(update={"ladder": None})
    assert capability_threshold(Data(design, ())) is None
    assert replace(Data(design, ()), design=DESIGN).trials == 400
