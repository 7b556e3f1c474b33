"""The sensitivity analyses of §5.4 against exact scoring, SciPy and examples worked by hand."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ludic_deepeval.errors import DataError
from ludic_deepeval.ledger import Event, FactLedger, Goal, Hook, Mystery, Npc
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import ScoreCard, score_ledger
from ludic_deepeval.studies.corpus import Corpus, corpus_of
from ludic_deepeval.studies.policies import (
    FACTORS,
    lpi_under,
    policies,
    policy_sobol,
    policy_stability,
    verdicts,
)
from ludic_deepeval.studies.sensitivity import (
    WEIGHTS,
    corpus_stability,
    perturbed,
    weight_sobol,
    weight_stability,
)

HOLES = ("someone left no word", "a debt nobody names", "Captain Anne Hook saw it", "in May 1492 near Dover")


def ledger(rng: np.random.Generator) -> FactLedger:
    def count(most: int) -> range:
        return range(int(rng.integers(0, most + 1)))

    def dims() -> dict[str, int]:
        return {name: int(rng.integers(1, 11)) for name in ("immediacy", "gravity", "linkage", "divergence")}

    return FactLedger(
        schema_version=1,
        protagonist="Kaelen",
        npcs=tuple(Npc(id=f"n{i}", name="a rival", status="alive", unresolved=True) for i in count(4)),
        hooks=tuple(
            Hook(id=f"h{i}", text="a thread", tier=int(rng.integers(1, 4)), open=bool(rng.random() < 0.8))  # type: ignore[arg-type]  # 1, 2 or 3
            for i in count(6)
        ),
        goals=tuple(Goal(id=f"g{i}", text="an aim") for i in count(5)),
        mysteries=tuple(Mystery(id=f"m{i}", text=HOLES[int(rng.integers(4))]) for i in count(5)),
        events=tuple(Event(id=f"e{i}", phase="P2", summary="it happened", **dims()) for i in count(7)),  # type: ignore[arg-type]  # ints
    )


def corpus(seed: int, count: int = 25, policy: Policy | None = None) -> tuple[Corpus, list[ScoreCard]]:
    rng = np.random.default_rng(seed)
    cards = [score_ledger(ledger(rng), policy) for _ in range(count)]
    return corpus_of((str(i), card) for i, card in enumerate(cards)), cards


def fractions(values: Sequence[float]) -> tuple[Any, ...]:
    return tuple(Fraction(value).limit_denominator(10**6) for value in values)


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_scores_under_other_policies_are_those_of_exact_scoring(seed: int) -> None:
    """A second implementation: every perturbed policy as a `Policy`, every ledger scored by `score_ledger`."""
    found, cards = corpus(seed, count=8)
    inputs = np.random.default_rng(seed).random((len(FACTORS), 6))
    inputs[16] = 0.2  # the strongest first, which is the only order that a policy knows
    tried = policies(found, inputs, 0.3)
    gate, lpi = {}, lpi_under(found, tried)
    for where, plays, presses in verdicts(found, tried):
        for column, draw in enumerate(where):
            gate[int(draw)] = plays[:, column], presses[:, column]
    for draw in range(6):
        *three, _ = weights = list(fractions(tried.weights[:, draw]))
        weights[3] = 1 - sum(three)
        policy = Policy(
            weights=tuple(weights),  # type: ignore[arg-type]  # four
            tau=fractions(tried.tau[:, draw]),
            pcv_weights=fractions(tried.pcv_weights[:, draw]),
            density=Fraction(tried.density[draw]),
            lpi_gate=Fraction(7, 10) * Fraction(tried.lpi_gate[draw]),
            pcv_gate=150 * Fraction(tried.pcv_gate[draw]),
            further_share=Fraction(tried.further_share[draw]),
            full_events=int(tried.full_events[draw]),
        )
        for i, card in enumerate(cards):
            exact = score_ledger(card.ledger, policy)
            assert lpi[i, draw] == pytest.approx(float(exact.lpi), abs=1e-5)  # type: ignore[arg-type]  # all are scored
            near = abs(float(exact.lpi) - float(policy.lpi_gate)) < 1e-4  # type: ignore[arg-type]  # as above
            assert near or gate[draw][0][i] == (exact.lpi >= policy.lpi_threshold)  # type: ignore[operator]  # as above
            near = abs(float(exact.pcv) - float(policy.pcv_threshold)) < 1e-2  # type: ignore[arg-type]  # as above
            assert near or gate[draw][1][i] == (exact.pcv >= policy.pcv_threshold)  # type: ignore[operator]  # as above


def test_the_default_policy_gives_the_exact_verdicts() -> None:
    found, cards = corpus(1, count=60)
    inputs = np.full((len(FACTORS), 2), 0.5)
    inputs[16] = 0.0
    for _, plays, presses in verdicts(found, policies(found, inputs, 0.2)):
        assert (plays == found.plays[:, None]).all()
        assert (presses == found.presses[:, None]).all()
    assert found.passes.tolist() == [card.gate.passed for card in cards]  # type: ignore[union-attr]  # all are scored
    assert found.lpi == pytest.approx([float(card.lpi) for card in cards])  # type: ignore[arg-type]  # as above


def test_the_order_of_telling_matters_where_a_band_is_full() -> None:
    # Three events of one band worth 59, 57 and 89, told so: in that order 59 + 57 + 89/2 = 160.5, strongest first
    # 89 + 59 + 57/2 = 176.5. The gate at 150 · 1.15 = 172.5 tells them apart.
    told = ((3, 8, 9, 6), (4, 7, 7, 6), (10, 8, 9, 8))
    events = tuple(
        Event(id=f"e{i}", phase="P1", summary="it happened", immediacy=a, gravity=b, linkage=c, divergence=d)
        for i, (a, b, c, d) in enumerate(told)
    )
    card = score_ledger(FactLedger(schema_version=1, protagonist="Kaelen", events=events))
    assert card.pcv == Fraction(353, 2)
    found = corpus_of([("one", card)])
    inputs = np.full((len(FACTORS), 2), 0.5)
    inputs[13] = 0.75  # 1 + .3 · (2 · .75 − 1) = 1.15
    inputs[16] = [0.0, 0.9]
    passed = {
        int(draw): bool(presses[0, column])
        for where, _, presses in verdicts(found, policies(found, inputs, 0.3))
        for column, draw in enumerate(where)
    }
    assert passed == {0: True, 1: False}


@pytest.mark.parametrize("tied", [False, True])
def test_rank_correlations_are_scipys(tied: bool) -> None:
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 3, (30, 4)) / 2 if tied else rng.random((30, 4))
    found = weight_stability(scores, draws=40, spread=0.4, seed=11)
    vectors = perturbed(np.array(WEIGHTS), 0.4, 40, np.random.default_rng(11))
    expected = [
        stats.spearmanr(np.round(scores @ WEIGHTS, 12), np.round(scores @ vector, 12)).statistic
        for vector in vectors
    ]
    assert found.spearman_mean == pytest.approx(np.mean(expected), abs=1e-12)
    assert found.spearman_min == pytest.approx(min(expected), abs=1e-12)
    base = np.round(scores @ WEIGHTS, 12) >= 0.7
    moved = np.array([(np.round(scores @ vector, 12) >= 0.7) != base for vector in vectors])
    assert found.moved == tuple(moved.mean(axis=0))
    assert found.reclassified == pytest.approx(moved.mean())
    assert found.never == (~moved.any(axis=0)).mean()


def test_ledgers_in_any_order_change_as_much() -> None:
    rng = np.random.default_rng(4)
    scores = rng.integers(0, 5, (50, 4)) / 4
    order = rng.permutation(50)
    found, again = weight_stability(scores, draws=300), weight_stability(scores[order], draws=300)
    assert again.moved == tuple(found.moved[i] for i in order)
    assert again.spearman_mean == pytest.approx(found.spearman_mean, abs=1e-12)
    assert (again.never, again.robust) == (found.never, found.robust)


def test_what_no_weighting_can_move_is_never_moved() -> None:
    # All four alike: LPI is that value under any weights, and .70 exactly passes under all of them.
    passing = np.array([True, False, False])
    found = weight_stability([[0.7] * 4, [0.69] * 4, [0.0] * 4], plays=passing, draws=500, spread=0.5)
    assert (found.reclassified, found.never, found.spearman_min) == (0, 1, 1)
    assert found.robust


def test_a_ledger_on_the_edge_is_moved_half_the_time() -> None:
    # RTN .4, MV 1, UCR 1, TH .4: LPI = .16 + .3 + .2 + .04 = .70. It passes when ω_MV + ω_UCR ≥ .5 after scaling,
    # that is when .3 a + .2 b ≥ .4 c + .1 d for four equal and independent perturbations: one half by symmetry.
    found = weight_stability([[0.4, 1, 1, 0.4]], draws=20_000)
    assert found.reclassified == pytest.approx(0.5, abs=0.02)
    assert found.spearman_mean is None


def test_a_larger_spread_moves_more() -> None:
    found, _ = corpus(5, count=60)
    rates = [corpus_stability(found, spread=p, draws=2_000).reclassified for p in (0.1, 0.3, 0.5)]
    assert rates == sorted(rates)
    assert rates[0] < rates[2]


def test_the_share_that_passes_depends_on_the_weight_that_decides() -> None:
    # Ledgers at .70 but for UCR against the rest: RTN = MV = TH = c, UCR = 1; only UCR's share of the weights matters.
    scores = [[c, c, 1.0, c] for c in np.linspace(0.58, 0.67, 60)]
    found = weight_sobol(scores, n=2048, resamples=50)
    assert found.names == ("rtn", "mv", "ucr", "th")
    assert max(found.total) == found.total[2]
    # ω_UCR / Σω is pulled down by each of the others as much as it weighs: .4 > .3 > .1.
    assert found.total[0] > found.total[1] > found.total[3]
    assert all(
        low <= total <= high for total, (low, high) in zip(found.total, found.total_interval, strict=True)
    )
    assert sum(found.first) <= 1.02


def test_variance_of_everything_is_split_and_repeats_under_its_seed() -> None:
    found, _ = corpus(6, count=40)
    one, again = policy_sobol(found, n=128, seed=3), policy_sobol(found, n=128, seed=3)
    assert one == again
    lpi, pcv = one["lpi"], one["pcv"]
    assert lpi is not None
    assert pcv is not None
    about = dict(zip(FACTORS, zip(lpi.total, pcv.total, strict=True), strict=True))
    for name in (*FACTORS[:7], "density", "lpi_gate"):
        assert about[name][1] == 0, "what PCV does not read has no part in its variance"
    for name in (*FACTORS[7:11], "pcv_gate", "further_share", "full_events", "order"):
        assert about[name][0] == 0, "what LPI does not read has no part in its variance"
    assert about["lpi_gate"][0] > 0.3


def test_what_nothing_moves_has_no_indices() -> None:
    found = corpus_of([("empty", score_ledger(FactLedger(schema_version=1, protagonist="Kaelen")))])
    assert policy_sobol(found, n=32) == {"lpi": None, "pcv": None, "gate": None}
    stability = policy_stability(found, draws=50)
    assert (stability.quadrant, stability.never) == (0, 1)
    with pytest.raises(DataError, match="does not vary"):
        weight_sobol(found.components, n=32)


def test_all_numbers_at_once_move_at_least_each_axis() -> None:
    found, _ = corpus(7, count=40)
    stability = policy_stability(found, draws=300)
    assert stability.quadrant >= max(stability.lpi, stability.pcv, stability.gate) > 0
    assert stability.quadrant <= stability.lpi + stability.pcv
    assert stability == policy_stability(found, draws=300)
    assert stability.quadrant == pytest.approx(np.mean(stability.moved))


def test_profiles_keep_their_own_threshold() -> None:
    found = corpus_of(
        (profile, score_ledger(ledger(np.random.default_rng(1)), Policy(profile=profile)))  # type: ignore[arg-type]  # a profile
        for profile in ("campaign", "one-shot")
    )
    assert found.pcv_least.tolist() == [150, 100]


def test_what_cannot_be_scored_is_left_out_with_its_reason() -> None:
    lacking = FactLedger(
        schema_version=1, protagonist="Kaelen", events=(Event(id="e1", phase="P1", summary="it happened"),)
    )
    found = corpus_of(
        [("good", score_ledger(ledger(np.random.default_rng(2)))), ("bad", score_ledger(lacking))]
    )
    assert (len(found), found.left_out[0][0]) == (1, "bad")
    assert "e1" in found.left_out[0][1]
    with pytest.raises(DataError, match="1 could not be scored"):
        corpus_of([("bad", score_ledger(lacking))])


def test_two_policies_do_not_mix() -> None:
    story = ledger(np.random.default_rng(2))
    with pytest.raises(DataError, match=r"b was scored under another density; .*one profile"):
        corpus_of([("a", score_ledger(story)), ("b", score_ledger(story, Policy(density=Fraction(1, 5))))])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"spread": 0}, "spread is 0"),
        ({"spread": 1}, "spread is 1"),
        ({"draws": 0}, "0 draws"),
        ({"weights": [0.5, 0.5, 0.5, 0.5]}, "shares"),
        ({"weights": [1.2, -0.2, 0, 0]}, "shares"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        weight_stability([[0.5, 0.5, 0.5, 0.5]], **arguments)
