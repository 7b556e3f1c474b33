"""Weights recovered where they were planted, and left alone where nothing was."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="the extra studies")

from scipy import optimize  # noqa: E402  # after the skip

from ludic_deepeval.effort import Label  # noqa: E402
from ludic_deepeval.errors import DataError, InputError  # noqa: E402
from ludic_deepeval.ledger import FactLedger, Goal, Hook, Mystery, Npc  # noqa: E402
from ludic_deepeval.outcome import Scored, Unscored  # noqa: E402
from ludic_deepeval.session import load_session  # noqa: E402
from ludic_deepeval.studies.weights import (  # noqa: E402
    Fit,
    Observations,
    cross_validate,
    line_through,
    observe,
    ordered_pairs,
    rounded,
)
from ludic_deepeval.studies.weights_draws import (  # noqa: E402
    Draws,
    OnlineWeights,
    cross_validate_draws,
    dimension_of,
    drawn_in,
    fit_draws,
    weights_of_counts,
)
from ludic_deepeval.studies.weights_factor import fit_factor, one_factor  # noqa: E402
from ludic_deepeval.studies.weights_genetic import concordance, fit_genetic, simplex  # noqa: E402
from ludic_deepeval.studies.weights_ridge import fit_ridge, ridge, simplex_ridge  # noqa: E402

ROOT = Path(__file__).parents[2]
DEFAULT = (0.4, 0.3, 0.2, 0.1)
PLANTED = (0.25, 0.15, 0.2, 0.4)


def corpus(
    weights: tuple[float, ...] | None, *, n: int = 120, noise: float = 0.05, seed: int = 1
) -> Observations:
    """Stories whose target is 1 + 6 LPI under these weights, with noise; None: noise alone."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, 4))
    y = 6 * noise * rng.standard_normal(n) + (0 if weights is None else 1 + 6 * x @ np.array(weights))
    return observe(x, y)


def by_ridge(seen: Observations) -> Fit:
    return fit_ridge(seen, DEFAULT)


def by_search(seen: Observations) -> Fit:
    return fit_genetic(seen, DEFAULT, generations=25)


# Observations


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ([[0.1] * 4] * 9, range(9), "9 stories"),
        ([[0.1] * 3] * 12, range(12), "shapes"),
        ([[1.1, 0, 0, 0]] * 12, range(12), "outside 0 to 1"),
        ([[0.1] * 4] * 12, [3.0] * 12, "the same for every story"),
        ([[0.1] * 4] * 12, [float("nan")] * 12, "shapes"),
        ([["a"] * 4] * 12, range(12), "no table"),
    ],
)
def test_what_nothing_can_be_fitted_to_is_refused_with_why(x: Any, y: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        observe(x, list(y))


def test_rounded_weights_sum_to_one_exactly() -> None:
    assert rounded((1 / 3, 1 / 3, 1 / 3, 0)) == (
        Decimal("0.334"),
        Decimal("0.333"),
        Decimal("0.333"),
        Decimal("0.000"),
    )
    assert rounded((0.4, 0.3, 0.2, 0.1)) == tuple(map(Decimal, ("0.400", "0.300", "0.200", "0.100")))
    rng = np.random.default_rng(0)
    for raw in rng.dirichlet(np.ones(4), 200):
        assert sum(rounded(raw.tolist())) == 1
        assert (
            max(abs(float(one) - exact) for one, exact in zip(rounded(raw.tolist()), raw, strict=True))
            < 0.001
        )


# Ridge


def test_the_simplex_ridge_is_that_of_r_quadprog() -> None:
    rng = np.random.default_rng(0)
    x = rng.random((60, 4))
    y = x @ [0.5, 0.3, 0.2, 0] + 0.05 * rng.standard_normal(60)
    for penalty, expected in (
        (0, (0.473772, 0.302444, 0.210822, 0.012963)),
        (1, (0.444387, 0.288902, 0.218111, 0.0486)),
        (10, (0.339448, 0.258413, 0.238532, 0.163608)),
    ):
        assert simplex_ridge(x, y, penalty) == pytest.approx(expected, abs=2e-6)


def test_a_penalty_pulls_to_the_prior_and_not_to_zero_or_to_a_quarter() -> None:
    seen = corpus(PLANTED)
    far = [
        abs(np.array(ridge(seen, DEFAULT, penalty).weights) - DEFAULT).max()
        for penalty in (0, 0.1, 1, 10, 1e6)
    ]
    assert far == sorted(far, reverse=True)
    assert far[-1] < 1e-4
    assert simplex_ridge(seen.components, seen.target, 1e9, DEFAULT) == pytest.approx(DEFAULT, abs=1e-5)


@pytest.mark.parametrize("penalty", [0, 0.1, 1])
def test_the_ridge_is_the_least_of_what_it_says_that_it_minimises(penalty: float) -> None:
    """By another way: the correlation by NumPy, over vectors drawn from all over the simplex and from round the answer."""
    seen = corpus((0.1, 0.2, 0.3, 0.4), n=40, noise=0.2, seed=3)

    def cost(weights: Any) -> float:
        r = max(0.0, float(np.corrcoef(seen.components @ weights, seen.target)[0, 1]))
        return 1 - r * r + penalty * float(((np.array(weights) - DEFAULT) ** 2).sum())

    found = ridge(seen, DEFAULT, penalty)
    best = cost(np.array(found.weights))
    rng = np.random.default_rng(0)
    near = np.abs(np.array(found.weights) + 0.01 * rng.standard_normal((200, 4)))
    for weights in [*rng.dirichlet(np.ones(4), 800), *(near / near.sum(axis=1, keepdims=True))]:
        assert cost(weights) >= best - 1e-9


def test_planted_weights_are_recovered_by_ridge() -> None:
    # Without a pull: 120 stories, noise of .05 beside components with sd .29: each weight to about .05/(.29 √120) = .016.
    assert ridge(corpus(PLANTED), DEFAULT, 0.0).weights == pytest.approx(PLANTED, abs=0.04)
    # With the pull that cross-validation bears at most a fifth of the way back, which is .30 for TH.
    found = by_ridge(corpus(PLANTED))
    assert found.weights == pytest.approx(PLANTED, abs=0.06)
    assert found.weights[3] > 0.3
    assert found.shrunk == ()


def test_a_dimension_that_says_nothing_shrinks_to_zero_and_is_named() -> None:
    found = ridge(corpus((0.6, 0.0, 0.4, 0.0), n=400, noise=0.01), (0.25,) * 4, 0.0)
    assert set(found.shrunk) <= {"MV", "TH"}
    seen = corpus((0.6, 0.4, 0.0, 0.0), n=400, noise=0.01)
    against = observe(seen.components, seen.target - 0.5 * seen.components[:, 3])
    assert "TH" in ridge(against, DEFAULT, 0.0).shrunk  # what falls with the target has nothing


def test_noise_leaves_the_weights_in_force_nearly_as_they_are_and_is_never_called_better() -> None:
    far = []
    for seed in (0, 1, 2, 4):
        seen = corpus(None, n=60, noise=1, seed=seed)
        try:
            far.append(max(abs(np.array(by_ridge(seen).weights) - DEFAULT)))
        except DataError:  # nothing rises with it: that is an answer too
            continue
        if seed < 2:
            assert cross_validate(seen, by_ridge, DEFAULT, folds=3).better is not True
    assert len(far) >= 3
    assert sorted(far)[len(far) // 2] < 0.05


def test_a_target_that_falls_with_every_dimension_gives_no_weights() -> None:
    seen = corpus(PLANTED)
    with pytest.raises(DataError, match="no dimension rises with"):
        ridge(Observations(seen.components, -seen.target, "dullness"), DEFAULT, 0.0)


# Genetic search


def test_planted_weights_are_recovered_by_search_and_order_more_pairs_than_the_default() -> None:
    seen = corpus(PLANTED)
    found = by_search(seen)
    assert found.weights == pytest.approx(PLANTED, abs=0.08)
    pairs = ordered_pairs(seen)
    mine, inforce = (float(concordance(pairs, np.array(one)[:, None])[0]) for one in (found.weights, DEFAULT))
    assert mine > inforce
    assert found.details["concordance"] == pytest.approx(mine)
    assert by_search(seen) == found  # the same seed


def test_concordance_is_counted_by_hand() -> None:
    # Targets 1 2 3 3; RTN .1 .1 .9 .5. Pairs that differ: 12 level, 13 14 23 24 right: 4.5 of 5.
    x = [[0.1, 0, 0, 0], [0.1, 0, 0, 0], [0.9, 0, 0, 0], [0.5, 0, 0, 0]]
    seen = Observations(np.array(x), np.array([1.0, 2, 3, 3]))
    pairs = ordered_pairs(seen)
    assert len(pairs) == 5
    assert concordance(pairs, np.array([[1.0], [0], [0], [0]])).tolist() == [0.9]


def test_of_weights_that_order_alike_those_nearest_to_the_weights_in_force_are_taken() -> None:
    """Where one dimension alone varies every weight above zero orders alike, and nothing is moved."""
    rng = np.random.default_rng(4)
    x = np.full((30, 4), 0.5)
    x[:, 0] = rng.random(30)
    found = fit_genetic(observe(x, x[:, 0] * 5), DEFAULT)
    assert found.weights == pytest.approx(DEFAULT, abs=0.03)


def test_the_simplex_keeps_ratios_and_makes_quarters_of_nothing() -> None:
    raw = np.array([[2.0, 0], [1, 0], [1, 0], [0, 0]])
    assert simplex(raw).T.tolist() == [[0.5, 0.25, 0.25, 0], [0.25] * 4]


# One factor


def indicators(loadings: tuple[float, ...], n: int, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    lam = np.array(loadings)
    return np.outer(rng.standard_normal(n), lam) + rng.standard_normal((n, len(lam))) * np.sqrt(1 - lam**2)


def test_planted_loadings_are_recovered_and_the_model_fits() -> None:
    planted = (0.8, 0.7, 0.6, 0.5)
    found = one_factor(indicators(planted, 2000))
    assert found.loadings == pytest.approx(planted, abs=0.06)
    assert found.p_value is not None
    assert found.p_value > 0.01
    assert (found.df, found.n) == (2, 2000)
    assert found.cfi > 0.99
    assert found.srmr < 0.02
    assert found.unrelated < 1e-6


def test_the_likelihood_is_that_of_a_second_implementation() -> None:
    """F_ML minimised by a general optimiser over loadings, from the covariance of standardised data."""
    x = indicators((0.7, 0.6, 0.4, 0.3), 150, seed=7)
    r = np.corrcoef(x.T)

    def misfit(free: Any) -> float:
        lam, psi = free[:4], np.exp(free[4:])
        sigma = np.outer(lam, lam) + np.diag(psi)
        return float(
            np.linalg.slogdet(sigma)[1] + np.trace(np.linalg.solve(sigma, r)) - np.linalg.slogdet(r)[1] - 4
        )

    least = optimize.minimize(misfit, [0.5] * 4 + [-0.5] * 4, method="BFGS", options={"gtol": 1e-10})
    found = one_factor(x)
    assert found.loadings == pytest.approx(np.abs(least.x[:4]), abs=2e-3)
    assert found.chi2 == pytest.approx(150 * least.fun, abs=1e-3)


def test_loadings_and_fit_are_those_of_lavaan() -> None:
    """Holzinger and Swineford (1939), 301 pupils, x4, x5, x6 and x9; oracle `cfa.hs1`, lavaan 0.6-14 in R.

    A one-factor model sees the data only through these correlations, so scores that have them exactly stand for the pupils'.
    """
    r = np.array([
        [1, 0.733170, 0.704480, 0.207848],
        [0.733170, 1, 0.719956, 0.227466],
        [0.704480, 0.719956, 1, 0.214162],
        [0.207848, 0.227466, 0.214162, 1],
    ])  # fmt: skip
    scores = np.random.default_rng(0).standard_normal((301, 4))
    scores -= scores.mean(axis=0)
    white = np.linalg.solve(np.linalg.cholesky(np.cov(scores.T)), scores.T)
    found = one_factor((np.linalg.cholesky(r) @ white).T)
    assert found.loadings == pytest.approx((0.846, 0.866, 0.832, 0.256), abs=0.001)
    assert (found.chi2, found.df) == (pytest.approx(0.133, abs=0.001), 2)


def test_a_second_factor_is_noticed() -> None:
    rng = np.random.default_rng(3)
    one, two = rng.standard_normal((2, 500))
    noise = rng.standard_normal((500, 4)) * 0.5
    x = np.column_stack([one, one, two, two]) + noise
    found = one_factor(x)
    assert found.p_value is not None
    assert found.p_value < 1e-6
    assert found.cfi < 0.9
    assert found.rmsea is not None
    assert found.rmsea > 0.1


def as_components(x: Any) -> Observations:
    low, high = x.min(axis=0), x.max(axis=0)
    spread = np.where(high > low, high - low, 1)
    return observe((x - low) / spread, x.sum(axis=1))


def test_a_dimension_that_does_not_load_weighs_nothing_and_is_named() -> None:
    found = fit_factor(as_components(indicators((0.8, 0.7, 0.6, 0.0), 800)))
    assert found.weights[3] == 0
    assert found.shrunk == ("TH",)
    assert any(remark.startswith("TH does not load") for remark in found.remarks)
    assert found.weights[:3] == pytest.approx((0.8 / 2.1, 0.7 / 2.1, 0.6 / 2.1), abs=0.06)


def test_a_dimension_that_does_not_vary_is_named_and_three_make_no_test() -> None:
    x = indicators((0.8, 0.7, 0.6, 0.5), 300)
    x[:, 3] = 1
    found = fit_factor(as_components(x))
    assert found.weights[3] == 0
    assert found.remarks[0] == "TH does not vary in these stories"
    assert found.details["df"] == 0
    assert found.details["p_value"] is None


def test_dimensions_that_do_not_correlate_have_no_factor_and_that_is_said() -> None:
    found = fit_factor(corpus(PLANTED, n=200))
    assert "the dimensions do not correlate: there is no one factor to weigh them by" in found.remarks


@pytest.mark.parametrize(
    ("x", "said"),
    [
        (np.random.default_rng(0).random((9, 4)), "9 observations"),
        (np.random.default_rng(0).random((50, 2)), "of 2 indicators"),
        (np.column_stack([np.random.default_rng(0).random((50, 3)), np.ones(50)]), "does not vary"),
        (np.random.default_rng(0).random((50, 3))[:, [0, 1, 2, 2]], "repeats the others"),
    ],
)
def test_what_no_factor_can_be_fitted_to_is_refused(x: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        one_factor(x)


# Cross-validation


def test_weights_that_are_planted_do_better_on_stories_not_seen_and_the_interval_says_so() -> None:
    for fit in (by_ridge, by_search):
        found = cross_validate(corpus(PLANTED, n=80), fit, DEFAULT, folds=4)
        assert found.better
        assert found.error < found.default_error
        assert found.concordance > found.default_concordance
        assert found.stories == 80
        # 6 × .05 is the noise that nothing can predict.
        assert 0.25 < found.error < 0.40


def test_where_the_weights_in_force_are_right_no_fit_is_better() -> None:
    for fit in (by_ridge, by_search):
        assert not cross_validate(corpus(DEFAULT, n=80), fit, DEFAULT, folds=4).better


def test_a_method_is_never_tested_on_what_it_was_fitted_to() -> None:
    seen, sizes = corpus(PLANTED, n=50), []

    def spy(train: Observations) -> Fit:
        sizes.append({float(one) for one in train.target})
        return Fit("spy", DEFAULT)

    found = cross_validate(seen, spy, DEFAULT)
    assert len(sizes) == 5
    everything = {float(one) for one in seen.target}
    left_out = [everything - train for train in sizes]
    assert set().union(*left_out) == everything
    assert sum(map(len, left_out)) == 50
    # The same weights on both sides: no difference, to the last digit.
    assert (found.gain, found.error) == (0, found.default_error)
    assert found.better is not True


def test_the_line_never_falls() -> None:
    x = np.array([1.0, 2, 3])
    assert line_through(x, 2 * x + 1) == pytest.approx((1, 2))
    assert line_through(x, -x) == (-2, 0)
    assert line_through(np.ones(3), x) == (2, 0)


# Draws

LEDGER = FactLedger(
    schema_version=1,
    protagonist="Ysolde",
    npcs=(
        Npc(id="odo", name="Odo", unresolved=True),
        Npc(id="dead", name="Ama", unresolved=True, status="dead"),
        Npc(id="calm", name="Bea", unresolved=False),
    ),
    hooks=(
        Hook(id="now", text="a", tier=1, open=True),
        Hook(id="later", text="b", tier=2, open=True),
        Hook(id="shut", text="c", tier=1, open=False),
    ),
    goals=(Goal(id="judge", text="d", proactive=True), Goal(id="dream", text="e", proactive=False)),
    mysteries=(Mystery(id="bell", text="f"),),
)


@pytest.mark.parametrize(
    ("item", "dimension"),
    [
        ("npcs:odo", "RTN"), ("npcs:dead", None), ("npcs:calm", None), ("npcs:nobody", None), ("goals:judge", "MV"),
        ("goals:dream", None), ("hooks:now", "UCR"), ("hooks:later", None), ("hooks:shut", None), ("mysteries:bell", "TH"),
        ("mysteries:none", None), ("events:fire", None), ("protagonist", None),
    ],
)  # fmt: skip
def test_an_item_counts_for_the_dimension_that_the_equations_count_it_in(
    item: str, dimension: str | None
) -> None:
    assert dimension_of(item, LEDGER) == dimension


def test_a_recorded_session_is_read_by_what_its_labels_rest_on() -> None:
    from ludic_deepeval.check import Checker

    name = "two-short-one-long"
    session = load_session(ROOT / f"test_cases/sessions/{name}/session.json")
    result = Checker().check(ROOT / f"test_cases/backstories/{name}.md")
    assert isinstance(result.outcome, Scored)
    ledger = result.outcome.value.ledger
    drawn = drawn_in(session, ledger)
    items = {
        label.item
        for outline in session.told()
        for label in outline
        if isinstance(label, Label) and label.item
    }
    assert drawn == {found for item in items if (found := dimension_of(item, ledger))}
    assert drawn


def test_planted_shares_are_recovered_from_sessions() -> None:
    rng = np.random.default_rng(5)
    chances = (0.94, 0.71, 0.48, 0.19)
    sessions = tuple(
        frozenset(
            name for name, p in zip(("RTN", "MV", "UCR", "TH"), chances, strict=True) if rng.random() < p
        )
        for _ in range(400)
    )
    found = fit_draws(Draws(sessions))
    assert found.weights == pytest.approx(np.array(chances) / sum(chances), abs=0.03)
    tested = cross_validate_draws(Draws(sessions), (0.1, 0.2, 0.3, 0.4))
    assert tested.better
    assert tested.error < tested.default_error
    assert not cross_validate_draws(Draws(sessions), tuple(np.array(chances) / sum(chances))).better


def test_no_draw_gives_no_weights() -> None:
    with pytest.raises(DataError, match="no session drew"):
        fit_draws(Draws((frozenset(), frozenset())))
    with pytest.raises(DataError, match="3 sessions"):
        cross_validate_draws(Draws((frozenset({"RTN"}),) * 3), DEFAULT)
    assert weights_of_counts((3, 0, 0, 1)) == (0.75, 0, 0, 0.25)


# At the table


def test_an_update_is_the_posterior_mean_worked_out_by_hand() -> None:
    start = OnlineWeights(prior=DEFAULT, strength=10)
    assert start.weights == pytest.approx(DEFAULT)
    # 4 3 2 1 pseudo-draws, and one of TH and RTN each: 5 3 2 2 of 12.
    after = start.update([("s1", ["TH", "RTN"])])
    assert after.weights == pytest.approx((5 / 12, 3 / 12, 2 / 12, 2 / 12))
    assert after.update([("s1", ["MV"])]) == after  # counted once
    # Half of s1 is left after s2: 4.5 4 2 1.5 of 12.
    fading = OnlineWeights(prior=DEFAULT, strength=10, keep=0.5).update(
        [("s1", ["TH", "RTN"]), ("s2", ["MV"])]
    )
    assert fading.weights == pytest.approx((4.5 / 12, 4 / 12, 2 / 12, 1.5 / 12))
    with pytest.raises(InputError, match="LOOT"):
        start.update([("s3", ["LOOT"])])


def test_much_play_overrules_the_prior() -> None:
    played = [(f"s{at}", ["TH"] if at % 2 else ["TH", "MV"]) for at in range(2000)]
    assert OnlineWeights(prior=DEFAULT).update(played).weights == pytest.approx(
        (0, 1 / 3, 0, 2 / 3), abs=0.01
    )


# The commands


def table(tmp_path: Path, seen: Observations) -> Path:
    path = tmp_path / "table.csv"
    rows = [",".join(map(str, [*x, y])) for x, y in zip(seen.components, seen.target, strict=True)]
    path.write_text("\n".join(["rtn,mv,ucr,th,target", *rows]), encoding="utf-8")
    return path


def test_the_command_fits_a_table_and_says_what_to_write(tmp_path: Path, ludic: Any) -> None:
    path = table(tmp_path, corpus(PLANTED, n=60))
    ran = ludic("weights", "fit", "--table", path, "--method", "ridge", "--method", "draws")
    assert ran.code == 0
    assert "to use those of ridge, in ludic.toml:" in ran.out
    assert "draws         not fitted: no recorded sessions given" in ran.out
    data = json.loads(ludic("weights", "fit", "--table", path, "--method", "factor", "--json").out)
    (method,) = data["methods"]
    assert sum(method["weights"].values()) == pytest.approx(1)
    assert method["cross_validation"]["better"] is False
    assert data["in_force"] == {"RTN": 0.4, "MV": 0.3, "UCR": 0.2, "TH": 0.1}


def test_the_command_takes_stories_with_sessions_and_ratings_with_a_key(tmp_path: Path, ludic: Any) -> None:
    stories, sessions = ROOT / "test_cases/backstories", ROOT / "test_cases/sessions"
    data = json.loads(ludic("weights", "fit", stories, "--sessions", sessions, "--json").out)
    found = {one["name"]: one for one in data["methods"]}
    assert found["ridge"]["unscored"] == {
        "cause": "data",
        "reason": "4 stories with a target (needed: at least 10)",
    }
    assert found["draws"]["details"]["sessions"] == 4  # the fifth has no labels
    assert (
        ludic(
            "ratings", "form", stories, "--raters", 4, "--out", tmp_path / "f", "--key", tmp_path / "k.json"
        ).code
        == 0
    )
    assert ludic("ratings", "rehearse", tmp_path / "k.json", "--out", tmp_path / "s").code == 0
    ratings = [option for path in sorted((tmp_path / "s").iterdir()) for option in ("--ratings", path)]
    ran = ludic("weights", "fit", "--key", tmp_path / "k.json", *ratings, "--method", "ridge")
    assert "target: the rating of playability, of 16 stories" in ran.out
    assert "SIMULATED" in ran.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "no source"),
        (("--method", "magic"), "--method: found 'magic'"),
        (("--key", "k"), "found --key"),
    ],
)
def test_a_call_without_sense_is_one_line(ludic: Any, options: tuple[str, ...], said: str) -> None:
    ran = ludic("weights", "fit", *options)
    assert (ran.code, len(ran.faults)) == (2, 1)
    assert said in ran.err


@pytest.mark.parametrize(
    ("cell", "said"), [("x", "found 'x'"), ("1.5", "found '1.5'"), ("nan", "found 'nan'")]
)
def test_a_cell_that_is_no_component_is_named(tmp_path: Path, ludic: Any, cell: str, said: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"rtn,mv,ucr,th,target\n0.1,0.2,{cell},0.3,4\n", encoding="utf-8")
    ran = ludic("weights", "fit", "--table", path)
    assert ran.code == 2
    assert f"row 2: ucr: {said}" in ran.err


def test_the_command_moves_weights_along_with_play_and_counts_a_session_once(
    tmp_path: Path, ludic: Any
) -> None:
    log, state = tmp_path / "log.csv", tmp_path / "state.json"
    log.write_text("session,drew\n1,RTN; TH\n2,th\n", encoding="utf-8")
    ran = ludic("weights", "update", state, log, "--strength", 10, "--json")
    data = json.loads(ran.out)
    assert (ran.code, data["new"], data["sessions"]) == (0, 2, 2)
    assert data["after"]["TH"] == pytest.approx(3 / 13)  # 1 + 2 of 10 + 3
    before = state.read_bytes()
    assert "0 new sessions, 2 in all" in ludic("weights", "update", state, log).out
    assert state.read_bytes() == before
    assert ludic("weights", "update", state, log, "--strength", 5).code == 2
    log.write_text("session,drew\n3,LOOT\n", encoding="utf-8")
    assert "row 2: drew: found 'LOOT'" in ludic("weights", "update", state, log).err


def test_the_policy_in_force_is_told_with_who_calibrated_it(tmp_path: Path, ludic: Any) -> None:
    said = ludic("policy", tmp_path).out
    assert "the paper's weights: from one synthetic game master" in said
    (tmp_path / "ludic.toml").write_text("weights = [0.25, 0.25, 0.25, 0.25]\n", encoding="utf-8")
    assert "weights of your own that nobody has calibrated" in ludic("policy", tmp_path).out
    (tmp_path / "ludic.toml").write_text(
        'weights = [0.25, 0.25, 0.25, 0.25]\ncalibration = "ridge on 60 stories"\n', encoding="utf-8"
    )
    data = json.loads(ludic("policy", tmp_path, "--json").out)
    assert (data["provenance"], data["caveat"]) == ("calibrated: ridge on 60 stories", "")
    assert data["policy"]["weights"] == [0.25] * 4
    assert data["passes_at"] == {"lpi": 0.7, "pcv": 150}


def test_a_verdict_under_weights_that_nobody_calibrated_says_so(locked: Path, ludic: Any) -> None:
    (locked / "ludic.toml").write_text("weights = [0.25, 0.25, 0.25, 0.25]\n", encoding="utf-8")
    assert "(uncalibrated weights)" in ludic("check", "tale.md").out
    page = ludic("check", "tale.md", "--format", "html").out
    assert "(Uncalibrated weights.)" in page
    (locked / "ludic.toml").write_text(
        'weights = [0.25, 0.25, 0.25, 0.25]\ncalibration = "ours"\n', encoding="utf-8"
    )
    assert "uncalibrated" not in ludic("check", "tale.md").out


def test_without_a_target_only_what_needs_none_is_fitted(tmp_path: Path) -> None:
    from ludic_deepeval.studies.calibration import Basis, calibrate

    x = as_components(indicators((0.8, 0.7, 0.6, 0.5), 100)).components
    basis = Basis("none", Unscored("data", "no target"), tuple(map(tuple, x.tolist())))
    found = {one.name: one for one in calibrate(("ridge", "genetic", "factor", "draws"), basis, DEFAULT)}
    assert isinstance(found["ridge"].fit, Unscored)
    assert isinstance(found["factor"].fit, Scored)
    assert found["factor"].comparison == Unscored("data", "no target")
