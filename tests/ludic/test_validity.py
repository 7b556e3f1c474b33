"""What ratings say of the metrics: convergence, discrimination, agreement, and what cannot be computed."""

import json
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="the extra studies")

from scipy import stats  # noqa: E402  # after the skip

from ludic_deepeval.outcome import Outcome, Scored, Unscored  # noqa: E402
from ludic_deepeval.stats import icc1, krippendorff_alpha  # noqa: E402
from ludic_deepeval.studies.assignment import assign  # noqa: E402
from ludic_deepeval.studies.rating_key import KeyItem, KeyMetrics, KeyRater, RatingKey  # noqa: E402
from ludic_deepeval.studies.rating_words import QUESTIONS  # noqa: E402
from ludic_deepeval.studies.ratings import Rating, Ratings, import_ratings  # noqa: E402
from ludic_deepeval.studies.rehearsal import rehearse  # noqa: E402
from ludic_deepeval.studies.reliability import alphas, iccs, measure_reliability, tally  # noqa: E402
from ludic_deepeval.studies.sample import Metric  # noqa: E402
from ludic_deepeval.studies.validity import Discrimination, Rival, Validity, measure_validity  # noqa: E402


def key_of(
    metrics: list[dict[str, float | None]], raters: int = 3, per_story: int | None = None
) -> RatingKey:
    plan = assign(["0"] * len(metrics), raters, per_story=per_story or raters, seed=1)
    codes = [f"I{at:04}" for at in range(len(metrics))]
    return RatingKey(
        form="F-TEST",
        seed=1,
        items=tuple(
            KeyItem(item=code, story=code, path=code, sha256="0" * 64, stratum="0", metrics=KeyMetrics(**one))
            for code, one in zip(codes, metrics, strict=True)
        ),
        raters=tuple(
            KeyRater(rater=f"R{at}", items=tuple(codes[item] for item in order))
            for at, order in enumerate(plan.orders)
        ),
    )


def ratings_of(key: RatingKey, answers: dict[str, list[tuple[int, ...]]]) -> Ratings:
    """Answers of each rater to each item: q1, q2, q3, q4."""
    rows = [
        Rating(f"R{at}", item, dict(zip(QUESTIONS, given, strict=True)))
        for item, all_given in answers.items()
        for at, given in enumerate(all_given)
    ]
    return Ratings(key.form, tuple(rows), len(rows), (), 0)


def simulated(tmp_path: Path, stories: int, *, seed: int, resamples: int = 200, **planted: float) -> Validity:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((stories, 3))
    metrics = [{"lpi": float(a), "pcv": float(b), "e_a": float(c)} for a, b, c in values]
    key = key_of(metrics, raters=11, per_story=3)
    files = []
    for rater, sheet in rehearse(key, seed=seed, **planted).items():
        files.append(tmp_path / f"{rater}.csv")
        files[-1].write_text(sheet, encoding="utf-8")
    found = import_ratings(key, files)
    assert found.errors == ()
    return measure_validity(key, found.ratings, resamples=resamples)


# By hand

# Five stories, two raters. Mean ratings of q4: 1, 2, 3, 5, 4. LPI: .1 .2 .3 .4 .5.
#   Σdx·dy = (-2)(-2) + (-1)(-1) + 0 + (1)(2) + (2)(1) = 9 over .1 steps; Σdx² = 10, Σdy² = 10: r = 9/10.
# q1 is the reverse, 5 4 3 1 2: r = -.9. q2 is the same for all stories. q3 has no E_a to go with.
FIVE = {
    "I0000": [(5, 4, 1, 1), (5, 4, 2, 1)],
    "I0001": [(4, 4, 2, 1), (4, 4, 2, 3)],
    "I0002": [(3, 4, 3, 3), (3, 4, 1, 3)],
    "I0003": [(1, 4, 4, 5), (1, 4, 2, 5)],
    "I0004": [(2, 4, 5, 4), (2, 4, 3, 4)],
}


@pytest.fixture
def five() -> Validity:
    key = key_of(
        [{"lpi": (at + 1) / 10, "pcv": [10.0, 50, 20, 40, 30][at], "e_a": None} for at in range(5)], raters=2
    )
    return measure_validity(key, ratings_of(key, FIVE), resamples=300)


def test_a_correlation_and_its_one_tailed_p_are_those_worked_out_by_hand(five: Validity) -> None:
    openness, conflict, preparation, overall = five.convergent
    assert isinstance(overall.r, Scored)
    assert overall.r.value.value == pytest.approx(0.9)
    assert overall.r.value.n == 5
    # t = .9 √3 / √(1 − .81) with 3 degrees of freedom, the upper tail.
    p = float(stats.t.sf(0.9 * sqrt(3) / sqrt(0.19), 3))
    assert overall.p_value == pytest.approx(p)
    assert overall.p_holm == pytest.approx(4 * p)
    assert overall.supported is False  # 4 × .0187
    assert isinstance(openness.r, Scored)
    assert openness.r.value.value == pytest.approx(-0.9)
    assert openness.p_value == pytest.approx(1 - p)  # the wrong way is no support
    assert openness.p_holm == 1
    assert isinstance(conflict.r, Unscored)
    assert (conflict.p_value, conflict.p_holm, conflict.supported) == (None, None, None)
    assert isinstance(preparation.r, Unscored)
    assert preparation.r.cause == "data"
    assert "0 values" in preparation.r.reason


def test_discrimination_wants_the_target_to_be_ahead_of_every_other_metric(five: Validity) -> None:
    openness, conflict, _, overall = five.discriminant
    # q4 with PCV: dy = -2 -1 0 2 1, dz = -20 20 -10 10 0: Σ = 40 - 20 + 0 + 20 + 0 = 40 over √(10 · 1000): .4.
    assert isinstance(overall.others["pcv"], Scored)
    assert overall.others["pcv"].value.r == pytest.approx(0.4)
    assert overall.others["pcv"].value.own == pytest.approx(0.9)
    assert overall.strongest is not None
    assert overall.strongest[0] == "pcv"
    assert overall.holds is None  # E_a was not measured: it could be ahead
    assert conflict.holds is None
    assert openness.others.keys() == {"pcv", "e_a"}


def test_a_question_that_goes_with_another_metric_as_much_fails_whatever_else_is_missing() -> None:
    key = key_of([{"lpi": (at + 1) / 10, "pcv": at + 1.0, "e_a": None} for at in range(5)], raters=2)
    overall = measure_validity(key, ratings_of(key, FIVE), resamples=300).discriminant[3]
    assert overall.holds is False  # PCV orders the stories exactly as LPI does


def test_two_metrics_are_compared_over_the_same_stories() -> None:
    # E_a is known of the first four alone. Over these q4 is 1 2 3 5 and LPI .1 .2 .3 .4: dx -1.5 -.5 .5 1.5 (tenths),
    # dy -1.75 -.75 .25 2.25: 6.5 / √(5 · 8.75) = .9827. E_a .1 .3 .2 .4: dz -1.5 .5 -.5 1.5: 5.5 / √(5 · 8.75) = .8315.
    e_a: list[float | None] = [0.1, 0.3, 0.2, 0.4, None]
    pcv = [10.0, 50, 20, 40, 30]
    key = key_of([{"lpi": (at + 1) / 10, "pcv": pcv[at], "e_a": e_a[at]} for at in range(5)], raters=2)
    overall = measure_validity(key, ratings_of(key, FIVE), resamples=300).discriminant[3]
    assert isinstance(overall.others["e_a"], Scored)
    assert overall.others["e_a"].value.n == 4
    assert overall.others["e_a"].value.own == pytest.approx(0.9827, abs=1e-4)
    assert overall.others["e_a"].value.r == pytest.approx(0.8315, abs=1e-4)
    assert overall.target == Scored(pytest.approx(0.9))
    assert overall.holds is True


def test_the_metric_that_is_shown_beside_a_target_is_the_one_that_is_ahead_of_it() -> None:
    # PCV has the larger |r|, but .6 is ahead of it over the same stories; E_a, known of fewer, is ahead of .4.
    others: dict[Metric, Outcome[Rival]] = {
        "pcv": Scored(Rival(0.5, 0.6, 60)),
        "e_a": Scored(Rival(-0.45, 0.4, 46)),
    }
    found = Discrimination("q4", "lpi", Scored(0.6), others)
    assert found.holds is False
    assert found.strongest == ("e_a", Rival(-0.45, 0.4, 46))


def test_the_table_holds_every_pair_of_the_seven_with_its_denominator(five: Validity) -> None:
    assert len(five.table) == 21
    r, n = five.table["q1", "q4"]
    assert (r, n) == (Scored(pytest.approx(-1.0)), 5)
    assert isinstance(five.table["lpi", "e_a"][0], Unscored)
    assert five.table["lpi", "e_a"][1] == 0


def test_agreement_is_that_of_a_hand_calculation(five: Validity) -> None:
    # q4: items (1,1) (1,3) (3,3) (5,5) (4,4): means 1 2 3 5 4, grand 3. MSB = 2 (4+1+0+4+1) / 4 = 5,
    # MSW = (0+2+0+0+0) / 5 = .4: ICC(1) = (5 − .4) / (5 + .4) = .8519; of the mean of two 2r/(1+r) = .92.
    overall = five.reliability[3]
    assert isinstance(overall.icc, Scored)
    assert overall.icc.value.value == pytest.approx(4.6 / 5.4)
    assert overall.accepted is True
    assert overall.mean_rating == Scored(pytest.approx(0.92))
    assert (overall.ratings, overall.items) == (10, 5)
    # Interval alpha: D_o = Σ over the 10 ordered pairs within items of (a−b)², /10 = 2·4/10 = .8.
    # D_e: mean (a−b)² over the 90 ordered pairs of ratings = 2 · s² with n − 1: values 1 1 1 3 3 3 5 5 4 4, mean 3,
    # Σd² = 12 + 0 + 8 + 2 = 22, s² = 22/9: D_e = 44/9. α = 1 − .8 / 4.889 = .8364.
    assert isinstance(overall.interval, Scored)
    assert overall.interval.value.value == pytest.approx(1 - 0.8 / (44 / 9))
    assert isinstance(five.reliability[1].icc, Unscored)  # everybody said 4 of everything
    assert five.reliability[1].accepted is None


def test_one_rating_a_story_says_nothing_of_agreement() -> None:
    found = measure_reliability("q1", {f"i{at}": {"R1": at % 7 + 1} for at in range(9)})
    assert isinstance(found.icc, Unscored)
    assert isinstance(found.ordinal, Unscored)
    assert (found.ratings, found.items) == (9, 9)


def test_nothing_rated_is_unscored_throughout() -> None:
    key = key_of([{"lpi": 0.1, "pcv": 1.0, "e_a": 0.1}] * 3)
    found = measure_validity(key, ratings_of(key, {}), resamples=200)
    assert all(isinstance(one.r, Unscored) for one in found.convergent)
    assert all(isinstance(one.icc, Unscored) for one in found.reliability)
    assert isinstance(found.detectable, Unscored)


# A second implementation


def test_the_resampled_statistics_are_those_of_the_library_on_any_ratings() -> None:
    rng = np.random.default_rng(11)
    for _ in range(20):
        groups = [rng.integers(1, 8, size=int(rng.integers(1, 5))).tolist() for _ in range(25)]
        counts = tally(groups)
        assert float(iccs(counts)) == pytest.approx(icc1(groups).statistic)
        table = [[group[rater] if rater < len(group) else None for group in groups] for rater in range(4)]
        for level in ("ordinal", "interval"):
            expected = krippendorff_alpha(table, level=level).statistic  # type: ignore[arg-type]
            assert float(alphas(counts, level)) == pytest.approx(expected)
        pair = np.stack([counts, counts[::-1]])  # two resamples at once
        assert iccs(pair).shape == (2,)


def test_neither_the_order_of_rows_nor_the_names_of_raters_matter(tmp_path: Path) -> None:
    key = key_of([{"lpi": at / 10, "pcv": float(at % 3), "e_a": at / 20} for at in range(8)])
    rng = np.random.default_rng(3)
    answers = {one.item: [tuple(map(int, rng.integers(1, 8, 4))) for _ in range(3)] for one in key.items}
    one = measure_validity(key, ratings_of(key, answers), resamples=300)
    back = dict(reversed([(item, given[::-1]) for item, given in answers.items()]))
    other = measure_validity(key, ratings_of(key, back), resamples=300)
    assert (one.convergent, one.discriminant, one.reliability) == (
        other.convergent,
        other.discriminant,
        other.reliability,
    )


# Planted


def test_a_planted_relation_is_found_and_its_interval_holds_it(tmp_path: Path) -> None:
    found = simulated(tmp_path, 60, seed=4, validity=0.8, agreement=0.7, resamples=2000)
    for one in found.convergent:
        assert one.supported
        assert isinstance(one.r, Scored)
        assert isinstance(one.r.value.interval, Scored)
        low, high = one.r.value.interval.value
        # What is planted in the stories is attenuated by the mean of three raters: .8 √(.7·3/(1+2·.7)) = .748.
        assert low < 0.748 < high
    assert all(one.holds for one in found.discriminant)
    assert all(one.accepted for one in found.reliability)


def test_without_a_relation_one_in_twenty_is_found_and_agreement_stays_what_it_was(tmp_path: Path) -> None:
    p_values, agreement = [], []
    for seed in range(12):
        found = simulated(tmp_path, 40, seed=seed, validity=0.0, agreement=0.4, resamples=100)
        p_values += [one.p_value for one in found.convergent if one.p_value is not None]
        agreement += [one.icc.value.value for one in found.reliability if isinstance(one.icc, Scored)]
    assert len(p_values) == 48
    # 48 tests at .05: 2.4 expected; 9 and more has a probability below .001.
    assert sum(p <= 0.05 for p in p_values) < 9
    # 48 estimates of .4 with sd about .1 each: the mean is within .05; rounding to whole answers takes a little off.
    assert np.mean(agreement) == pytest.approx(0.4, abs=0.07)


def test_a_planted_reversal_is_no_support(tmp_path: Path) -> None:
    found = simulated(tmp_path, 60, seed=9, validity=-0.8, agreement=0.7)
    assert not any(one.supported for one in found.convergent)
    assert all(isinstance(one.r, Scored) and one.r.value.value < -0.4 for one in found.convergent)


def test_sixty_stories_detect_what_the_paper_says_they_do(tmp_path: Path) -> None:
    found = simulated(tmp_path, 60, seed=1)
    assert found.detectable == Scored(pytest.approx(0.315, abs=0.002))  # §5.7 prints r ≈ .32
    # A check by Fisher's z, which is close: tanh((1.6449 + .8416) / √57).
    normal = NormalDist()
    z = (normal.inv_cdf(0.95) + normal.inv_cdf(0.8)) / sqrt(57)
    assert float(np.tanh(z)) == pytest.approx(0.315, abs=0.006)


# The command


def test_the_report_of_the_command_and_its_json_agree(tmp_path: Path, ludic: Any) -> None:
    key = key_of([{"lpi": at / 10, "pcv": float(at * 7 % 10), "e_a": None} for at in range(10)])
    (tmp_path / "key.json").write_text(key.model_dump_json(), encoding="utf-8")
    for rater, sheet in rehearse(key, validity=0.9, agreement=0.9, seed=2).items():
        (tmp_path / f"{rater}.csv").write_text(sheet, encoding="utf-8")
    files = sorted(tmp_path.glob("R*.csv"))
    ran = ludic("ratings", "report", tmp_path / "key.json", *files, "--resamples", 500)
    assert ran.code == 1  # E_a was not measured
    assert "preparation  E_a  not computed: q3 with e_a: the first measure has 0 values" in ran.out
    assert "SIMULATED: 30 of these ratings" in ran.out
    data = json.loads(
        ludic("ratings", "report", tmp_path / "key.json", *files, "--resamples", 500, "--json").out
    )
    assert [one["question"] for one in data["convergent"]] == list(QUESTIONS)
    assert data["convergent"][2]["unscored"]["cause"] == "data"
    assert data["convergent"][2]["value"] is None
    assert f"{data['convergent'][3]['value']:.3f}" in ran.out
    assert data["counts"] == {
        "ratings": 30,
        "asked": 30,
        "raters": 3,
        "items": 10,
        "raters_per_item": {"3": 10},
        "absent": [],
        "unanswered": 0,
    }
