"""Every figure has a range, a direction and a reason; what was not measured has none, and nothing else gets through."""

from fractions import Fraction

import pytest

from ludic_deepeval.errors import InputError
from ludic_deepeval.outcome import Scored, Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.session import load_session
from tests.trulens.conftest import ROOT, figure
from trulens_feedback.figures import (
    MOST_DETAILS,
    Figure,
    Measure,
    policy_text,
    reading_measures,
    require_score,
    session_figures,
    tag,
    worth_figures,
)
from worth_deepeval.episode import load_sheet
from worth_deepeval.scoring import score_text

WEN = ROOT / "test_cases" / "episodes" / "WEN01"
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("value", [NAN, INF, -INF, -1.0, 1.0001, -0.1, True, "0.5", None])
def test_what_is_no_share_is_no_score(value: object) -> None:
    """-1 is TruLens's own sign for a reply that could not be read: no figure may be it."""
    with pytest.raises(InputError, match="metric LPI: found"):
        require_score("LPI", value)


def test_a_fraction_becomes_a_float_at_the_edge() -> None:
    assert require_score("LPI", Fraction(7, 10)) == 0.7


@pytest.mark.parametrize("details", [{"x": NAN}, {"x": INF}, {"x": None}, {"x": [1]}, {"x": {"y": NAN}}])
def test_details_that_no_database_gives_back_are_refused(details: dict[str, object]) -> None:
    with pytest.raises(InputError, match="metric LPI: x: found"):
        Figure(Measure("LPI", ""), Scored(0.5), "", details)  # type: ignore[arg-type]  # that is the point


def test_more_details_than_fit_are_refused() -> None:
    with pytest.raises(InputError, match=r"41 details; allowed: at most 40: TruLens drops a metric"):
        figure("LPI", 0.5, **{f"d{n}": n for n in range(MOST_DETAILS + 1)})


def test_an_unmeasured_figure_has_no_value_and_says_why() -> None:
    one = Figure(Measure("PCV", ""), Unscored("dimensions", "event 'fire' has none"), "")
    assert (one.value, one.why) == (None, "unmeasured (dimensions): event 'fire' has none")


# E_a by counting the labels in test_cases/sessions/scripts.yaml, as its README has them.
@pytest.mark.parametrize(
    ("story", "effort"),
    [
        ("two-short-one-long", Fraction(4, 27)),
        ("from-the-box", Fraction(5, 17)),
        ("four-hundred-and-six-gulls", Fraction(11, 15)),
        ("xiu-dipian-de-ren", Fraction(2, 14)),
    ],
)
def test_effort_is_lower_the_better(story: str, effort: Fraction) -> None:
    found, _ = session_figures(load_session(ROOT / "test_cases" / "sessions" / story / "session.json"))
    assert found.value == float(effort)
    assert not found.measure.higher_is_better
    assert "scripted, no model" in found.reason


def test_a_session_without_labels_measures_nothing() -> None:
    path = ROOT / "test_cases" / "sessions" / "three-hours-dry" / "session.json"
    assert [one.value for one in session_figures(load_session(path))] == [None, None]


def test_points_of_worth_are_shares_of_their_range_and_carry_the_episode() -> None:
    """S021 and S082 are worth 3 each of 36; R05 7, R04 -5, of -15 to 17; 8 in all, of -15 to 53."""
    sheet = load_sheet(WEN)
    _, outcome = score_text((WEN / "recordings/protocol/direct.txt").read_text(encoding="utf-8"), sheet)
    clue, participant, total = worth_figures("WEN01", outcome)
    assert (clue.value, participant.value, total.value) == (6 / 36, 17 / 32, 23 / 68)
    assert [one.name for one in (clue, participant, total)] == [
        "WORTH clue [WEN01]",
        "WORTH participant [WEN01]",
        "WORTH total [WEN01]",
    ]
    assert participant.details["points"] == 2


def test_the_least_points_of_worth_are_0_and_never_the_sign_of_a_failed_judge() -> None:
    """-1 point is a share of its range like any other."""
    sheet = load_sheet(WEN)
    wrong = [one.role for one in sheet.key.participants if one.points < 0]
    points = sum(one.points for one in sheet.key.participants if one.points < 0)
    reply = (
        '{"episode_id": "WEN01", "clue_sentence_ids": [], "selected_role_ids": ['
        + ", ".join(f'"{one}"' for one in wrong)
        + "]}"
    )
    _, outcome = score_text(reply, sheet)
    assert isinstance(outcome, Scored)
    _, participant, total = worth_figures("WEN01", outcome)
    assert (outcome.value.total, participant.value, total.value) == (points, 0.0, 0.0)


def test_where_the_key_was_shown_points_for_sentences_are_no_result() -> None:
    sheet = load_sheet(WEN)
    _, outcome = score_text((WEN / "recordings/protocol/direct.txt").read_text(encoding="utf-8"), sheet)
    clue, participant, total = worth_figures("WEN01", outcome, discovery=False)
    assert (clue.value, participant.value, total.value) == (None, 17 / 32, None)


def test_figures_under_other_weights_are_other_metrics() -> None:
    """TruLens keeps one result a name: LPI under other weights must not pass for the first."""
    other = Policy(weights=(Fraction(1, 4),) * 4)
    assert tag(policy_text(Policy())) == ""
    assert tag(policy_text(other))
    assert reading_measures(other)["lpi"].name != reading_measures(Policy())["lpi"].name
    assert reading_measures(other)["pcv"].name == reading_measures(Policy())["pcv"].name


def test_a_profile_changes_what_pcv_is_a_share_of_and_no_lpi() -> None:
    one_shot = reading_measures(Policy().with_profile("one-shot"))
    campaign = reading_measures(Policy())
    assert one_shot["lpi"].name == campaign["lpi"].name == "LPI"
    assert (campaign["pcv"].name, one_shot["pcv"].name[:10]) == ("PCV of 150", "PCV of 100")


def test_a_stricter_gate_is_a_verdict_and_no_other_figure() -> None:
    assert tag(policy_text(Policy(lpi_gate=Fraction(9, 10)))) == ""


def test_every_measure_says_its_range_and_source() -> None:
    for measure in reading_measures(Policy()).values():
        assert (measure.low, measure.high) == (0.0, 1.0)
        assert "Eq" in measure.says or "§" in measure.says, measure
