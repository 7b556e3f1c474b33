"""Eq 1–4, 7 and 11 on ledgers small enough to score by hand."""

from fractions import Fraction
from typing import Any

import pytest

from ludic_deepeval.conflict import tier_of
from ludic_deepeval.ledger import Event, FactLedger, Goal, Hook, Mystery, Npc
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import ScoreCard, score_ledger, thematic_holes

VAGUE = "someone left in the night"
CLOSED = "on October 12 Kaelen met Captain Hook"  # 5 of 7 tokens are names or date parts
ARABIC = "لا أحد يعرف من قتل الملك"


def npc(name: str, status: str = "alive", *, unresolved: bool = True) -> Npc:
    return Npc.model_validate({"id": name, "name": name, "status": status, "unresolved": unresolved})


def people(count: int) -> tuple[Npc, ...]:
    return tuple(npc(f"n{i}") for i in range(count))


def hooks(*tiers: int) -> tuple[Hook, ...]:
    return tuple(Hook(id=f"h{i}", text="a thread", tier=tier) for i, tier in enumerate(tiers))


def goals(count: int) -> tuple[Goal, ...]:
    return tuple(Goal(id=f"g{i}", text="an aim") for i in range(count))


def mysteries(*texts: str) -> tuple[Mystery, ...]:
    return tuple(Mystery(id=f"m{i}", text=text) for i, text in enumerate(texts))


def holes(count: int) -> tuple[Mystery, ...]:
    return mysteries(*[VAGUE] * count)


def event(name: str, i: int, g: int, v: int, d: int, phase: str = "P1") -> Event:
    return Event.model_validate(
        {
            "id": name,
            "phase": phase,
            "summary": name,
            "immediacy": i,
            "gravity": g,
            "linkage": v,
            "divergence": d,
        }
    )


def bare_event(name: str = "bare") -> Event:
    return Event(id=name, phase="P1", summary=name)


def score(policy: Policy | None = None, **lists: Any) -> ScoreCard:
    return score_ledger(FactLedger(schema_version=1, protagonist="Kaelen", **lists), policy)


# 4·8 + 4·8 + 8 + 8 = 80 and 4·8 + 4·7 + 8 + 7 = 75: both of band 2
EIGHTY = event("eighty", 8, 8, 8, 8)
SEVENTY_FIVE = event("seventy-five", 8, 7, 8, 7)
# 0.4·1 + 0.3·0 + 0.2·1 + 0.1·1 = 0.70: three people, five tier-1 hooks (Σ τ = 5), three holes, no goal.
# Plain binary floats make 0.6999999999999998 of it.
SEVENTY_HUNDREDTHS: dict[str, Any] = {
    "npcs": people(3),
    "hooks": hooks(1, 1, 1, 1, 1),
    "mysteries": holes(3),
}
# 75 + 75 = 150, in one band
HUNDRED_FIFTY = (SEVENTY_FIVE, event("twin", 8, 7, 8, 7))


# LPI


def test_a_ledger_with_nothing_in_it_scores_zero_on_everything() -> None:
    card = score()
    assert (card.lpi, card.rtn, card.mv, card.ucr, card.th, card.pcv) == (0, 0, 0, 0, 0, 0)
    assert card.tier == "insufficient"
    assert card.quadrant == "unplayable-draft"


def test_figures_are_exact_fractions() -> None:
    # RTN = 0.7·1/3 + 0.3·(1 + 0.6 + 0.2)/5 = 7/30 + 27/250 = 256/750; MV = 1/4; UCR = 1/3; TH = 1/3
    # LPI = 0.4·256/750 + 0.3/4 + 0.2/3 + 0.1/3 = 1024/7500 + 562.5/7500 + 500/7500 + 250/7500 = 2336.5/7500
    card = score(npcs=people(1), hooks=hooks(1, 2, 3), goals=goals(1), mysteries=holes(1))
    assert card.components == {
        "rtn": Fraction(256, 750),
        "mv": Fraction(1, 4),
        "ucr": Fraction(1, 3),
        "th": Fraction(1, 3),
    }
    assert card.lpi == Fraction(23365, 75000)
    assert all(isinstance(figure, Fraction) for figure in (card.lpi, card.pcv, *card.components.values()))


def test_a_full_ledger_scores_one() -> None:
    card = score(npcs=people(3), hooks=hooks(1, 1, 1, 1, 1), goals=goals(4), mysteries=holes(3))
    assert card.lpi == 1


@pytest.mark.parametrize(
    ("status", "counted"), [("alive", 1), ("missing", 1), ("undead", 1), ("unknown", 1), ("dead", 0)]
)
def test_everybody_but_the_dead_is_active_while_something_is_unresolved(status: str, counted: int) -> None:
    card = score(npcs=(npc("Ilse", status),))
    assert card.counts.active == counted
    assert card.rtn == Fraction(7, 30) * counted


def test_a_person_with_nothing_unresolved_is_not_active() -> None:
    assert score(npcs=(npc("Ilse", unresolved=False),)).counts.active == 0


def test_a_fourth_person_adds_nothing_to_rtn() -> None:
    assert score(npcs=people(2)).rtn == Fraction(14, 30)
    assert score(npcs=people(3)).rtn == score(npcs=people(4)).rtn == Fraction(7, 10)


@pytest.mark.parametrize(("tier", "tau"), [(1, Fraction(1)), (2, Fraction(3, 5)), (3, Fraction(1, 5))])
def test_an_open_hook_reacts_by_its_tier(tier: int, tau: Fraction) -> None:
    card = score(hooks=hooks(tier))
    assert card.counts.reactivity == tau
    assert card.rtn == Fraction(3, 10) * tau / 5


def test_the_hooks_of_rtn_saturate_at_five() -> None:
    assert score(hooks=hooks(1, 1, 1, 1, 2)).rtn == Fraction(3, 10) * Fraction(46, 50)
    assert score(hooks=hooks(1, 1, 1, 1, 2, 2)).rtn == Fraction(3, 10)  # 5.2, cut to 5


def test_a_closed_hook_counts_nowhere() -> None:
    closed = Hook(id="closed", text="it ended", tier=1, open=False)
    card = score(hooks=(*hooks(2), closed))
    assert card.counts.tiers == (0, 1, 0)
    assert card.ucr == 0
    assert card.rtn == Fraction(3, 10) * Fraction(6, 50)


def test_ucr_is_zero_when_every_hook_is_closed() -> None:
    assert score(hooks=(Hook(id="closed", text="it ended", tier=1, open=False),)).ucr == 0


def test_ucr_is_the_tier_1_share_of_the_open_hooks() -> None:
    assert score(hooks=hooks(1, 1, 2, 3, 3)).ucr == Fraction(2, 5)


def test_goals_that_nobody_pursues_do_not_move_mv() -> None:
    idle = Goal(id="idle", text="one day", proactive=False)
    assert score(goals=(*goals(1), idle)).mv == Fraction(1, 4)


def test_a_fifth_goal_adds_nothing_to_mv() -> None:
    assert score(goals=goals(3)).mv == Fraction(3, 4)
    assert score(goals=goals(4)).mv == score(goals=goals(5)).mv == 1


@pytest.mark.parametrize(
    ("count", "hundredths"),
    [(3, 100), (4, 85), (5, 70), (6, 55), (7, 40), (8, 25), (9, 10), (10, 0), (11, 0), (100, 0)],
)
def test_th_falls_by_fifteen_hundredths_past_three_holes_and_never_below_zero(
    count: int, hundredths: int
) -> None:
    assert thematic_holes(count) == Fraction(hundredths, 100)
    assert score(mysteries=holes(count)).th == Fraction(hundredths, 100)


def test_a_mystery_that_says_too_much_is_no_hole() -> None:
    card = score(mysteries=mysteries(VAGUE, CLOSED))
    assert [row.hole for row in card.mysteries] == [True, False]
    assert card.th == Fraction(1, 3)


def test_three_names_in_ten_tokens_are_a_hole_and_four_in_thirteen_are_not() -> None:
    three = "in the end they asked Ilse and Kaelen of Thay"  # 3/10 = 0.30
    four = "in the end they asked Ilse and Kaelen of Thay Reach about it"  # 4/13 = 0.3077
    card = score(mysteries=mysteries(three, four))
    assert [row.measured.density for row in card.mysteries] == [Fraction(3, 10), Fraction(4, 13)]
    assert [row.hole for row in card.mysteries] == [True, False]


def test_the_readers_own_mark_stands_beside_the_rule_and_changes_no_figure() -> None:
    marked = (
        Mystery(id="a", text=VAGUE, thematic_hole=True),
        Mystery(id="b", text=VAGUE, thematic_hole=False),
        Mystery(id="c", text=CLOSED, thematic_hole=True),
        Mystery(id="d", text=CLOSED, thematic_hole=False),
        Mystery(id="e", text=CLOSED),
    )
    card = score(mysteries=marked)
    assert card.counts.holes == 2  # a and b
    assert card.hole_agreement == (2, 4)  # agreed on a and d; e carries no mark
    assert [row.marked for row in card.mysteries] == [True, False, True, False, None]


def test_a_known_name_from_a_bible_closes_a_mystery_that_begins_with_it() -> None:
    # "Candlekeep burned down": the capital begins the sentence, so it is a name only to those who know it: 1 of 3.
    ledger = FactLedger(schema_version=1, protagonist="Kaelen", mysteries=mysteries("Candlekeep burned down"))
    assert score_ledger(ledger).counts.holes == 1
    assert score_ledger(ledger, names=["Candlekeep"]).counts.holes == 0


# PCV


def test_two_strong_events_of_one_band_count_in_full() -> None:
    assert score(events=(EIGHTY, SEVENTY_FIVE)).pcv == 155


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_weak_event_never_costs_the_strong_ones_wherever_it_is_told(place: int) -> None:
    # 4·1 + 4·6 + 1 + 1 = 30, of band 2 too: 80 + 75 + 30/2 = 170. In order of telling it would be
    # 30 + 80 + 75/2 = 147.5, below the gate that 80 + 75 = 155 passes.
    events = [EIGHTY, SEVENTY_FIVE]
    events.insert(place, event("weak", 1, 6, 1, 1))
    card = score(events=tuple(events))
    assert card.pcv == 170
    assert {row.id: row.counted for row in card.events} == {"eighty": 80, "seventy-five": 75, "weak": 15}


def test_half_weights_give_halves() -> None:
    # 80 + 75 + 75/2 = 192.5
    assert score(events=(EIGHTY, *HUNDRED_FIFTY)).pcv == Fraction(385, 2)


def test_events_of_different_bands_do_not_saturate_each_other() -> None:
    # gravity 8, 7, 9: bands 2, 2, 3; 4·8 + 4·9 + 8 + 8 = 84
    card = score(events=(EIGHTY, SEVENTY_FIVE, event("graver", 8, 9, 8, 8)))
    assert [row.band for row in card.events] == [2, 2, 3]
    assert card.pcv == 80 + 75 + 84


def test_event_rows_show_raw_band_and_counted_in_the_ledgers_order() -> None:
    row = score(events=(event("e", 3, 8, 9, 6, "P2"),)).events[0]
    assert (row.id, row.phase, row.dimensions, row.raw, row.band, row.counted) == (
        "e",
        "P2",
        (3, 8, 9, 6),
        59,
        2,
        59,
    )


@pytest.mark.parametrize(
    ("pcv", "tier"),
    [
        (Fraction(0), "insufficient"),
        (Fraction(199, 2), "insufficient"),
        (Fraction(100), "one-shot"),
        (Fraction(299, 2), "one-shot"),
        (Fraction(150), "campaign"),
    ],
)
def test_the_tiers_begin_at_100_and_150(pcv: Fraction, tier: str) -> None:
    assert tier_of(pcv) == tier


def test_the_tier_does_not_depend_on_the_profile() -> None:
    for profile in ("campaign", "one-shot", "cosy"):
        assert score(Policy(profile=profile), events=(EIGHTY, event("e", 5, 5, 3, 3))).tier == "one-shot"


# The gate


def test_an_lpi_of_exactly_seventy_hundredths_passes() -> None:
    card = score(**SEVENTY_HUNDREDTHS, events=HUNDRED_FIFTY)
    assert card.lpi == Fraction(7, 10)
    assert card.pcv == 150
    assert card.gate.passed
    assert card.gate.reasons == ()


def test_floats_would_fail_the_ledger_that_is_exactly_at_the_gate() -> None:
    rtn = 0.7 * min(3, 3) / 3 + 0.3 * min(5.0, 5) / 5
    assert 0.4 * rtn + 0.3 * 0.0 + 0.2 * 1.0 + 0.1 * 1.0 < 0.7


# Just under the gate: 0.4·(0.7 + 0.3·1/5) + 0.3·2/4 + 0.2·1 + 0.1·0.4 = 0.304 + 0.15 + 0.2 + 0.04 = 0.694
JUST_UNDER: dict[str, Any] = {
    "npcs": people(3),
    "hooks": hooks(1),
    "goals": goals(2),
    "mysteries": holes(7),
}
# 4·8 + 4·8 + 8 + 2 = 74 (band 2); 75 + 74 = 149
HUNDRED_FORTY_NINE = (SEVENTY_FIVE, event("less", 8, 8, 8, 2))


@pytest.mark.parametrize(
    ("lists", "events", "quadrant", "reasons"),
    [
        (SEVENTY_HUNDREDTHS, HUNDRED_FIFTY, "campaign-ready", ()),
        (SEVENTY_HUNDREDTHS, HUNDRED_FORTY_NINE, "rich-lore-flat-play", ("PCV 149 is below 150",)),
        (JUST_UNDER, HUNDRED_FIFTY, "explosive-but-shallow", ("LPI 0.69 is below 0.70",)),
        (
            JUST_UNDER,
            HUNDRED_FORTY_NINE,
            "unplayable-draft",
            ("LPI 0.69 is below 0.70", "PCV 149 is below 150"),
        ),
    ],
)
def test_the_quadrants_meet_at_the_thresholds_and_each_miss_has_its_reason(
    lists: dict[str, Any], events: tuple[Event, ...], quadrant: str, reasons: tuple[str, ...]
) -> None:
    card = score(**lists, events=events)
    assert card.quadrant == quadrant
    assert card.gate.reasons == reasons
    assert card.gate.passed is (reasons == ())


@pytest.mark.parametrize(
    ("lpi", "gate", "reason"),
    [
        ("0.694", "0.70", "LPI 0.69 is below 0.70"),
        ("0.697", "0.70", "LPI 0.697 is below 0.70"),  # with two digits it would read 0.70
        ("0.694", "0.6945", "LPI 0.69 is below 0.6945"),  # and this gate 0.69
        ("0.69999999", "0.70", "LPI 0.699999 is below 0.70"),
    ],
)
def test_a_reason_never_rounds_a_miss_up_to_the_threshold(lpi: str, gate: str, reason: str) -> None:
    # With weights of 1 − x on RTN and x on MV, and RTN = 0.7 + 0.3·0 = 0.7 of three people, LPI is 0.7·(1 − x).
    share = 1 - Fraction(lpi) / Fraction("0.7")
    policy = Policy(
        weights=(1 - share, share, Fraction(0), Fraction(0)), lpi_gate=Fraction(gate), pcv_gate=Fraction(0)
    )
    card = score(policy, npcs=people(3))
    assert card.lpi == Fraction(lpi)
    assert card.gate.reasons == (reason,)


def test_half_a_point_under_the_pcv_gate_is_told_as_such() -> None:
    # Two of 75 and a third of 75 by half, all of band 2: 187.5
    events = (*HUNDRED_FIFTY, event("third", 8, 7, 8, 7))
    card = score(Policy(pcv_gate=Fraction(188)), **SEVENTY_HUNDREDTHS, events=events)
    assert card.pcv == Fraction(375, 2)
    assert card.gate.reasons == ("PCV 187.5 is below 188",)


def test_a_pcv_gate_with_decimals_is_told_with_them() -> None:
    card = score(Policy(pcv_gate=Fraction("149.3")), **SEVENTY_HUNDREDTHS, events=HUNDRED_FORTY_NINE)
    assert card.gate.reasons == ("PCV 149 is below 149.3",)


def test_a_one_shot_passes_at_a_pcv_of_100() -> None:
    # 80 + (4·1 + 4·3 + 2 + 2 = 20) = 100
    events = (EIGHTY, event("small", 1, 3, 2, 2))
    campaign = score(**SEVENTY_HUNDREDTHS, events=events)
    one_shot = score(Policy(profile="one-shot"), **SEVENTY_HUNDREDTHS, events=events)
    assert campaign.pcv == one_shot.pcv == 100
    assert not campaign.gate.passed
    assert campaign.quadrant == "rich-lore-flat-play"
    assert one_shot.gate.passed
    assert one_shot.quadrant == "campaign-ready"


def test_a_one_shot_below_100_fails_and_says_so() -> None:
    # 80 + (4·1 + 4·3 + 2 + 1 = 19) = 99
    card = score(
        Policy(profile="one-shot"),
        **SEVENTY_HUNDREDTHS,
        events=(EIGHTY, event("small", 1, 3, 2, 1)),
    )
    assert card.gate.reasons == ("PCV 99 is below 100",)


# What cannot be measured


def test_an_event_without_dimensions_leaves_pcv_and_gate_unscored_and_lpi_standing() -> None:
    card = score(**SEVENTY_HUNDREDTHS, events=(EIGHTY, bare_event("rumour")))
    for figure in (card.pcv, card.tier, card.quadrant, card.gate):
        assert isinstance(figure, Unscored)
        assert figure.cause == "dimensions"
        assert "rumour" in figure.reason
    assert card.events == ()
    assert card.lpi == Fraction(7, 10)


def test_a_mystery_in_a_script_that_cannot_be_read_leaves_lpi_unscored_and_pcv_standing() -> None:
    card = score(
        npcs=people(3),
        hooks=hooks(1),
        goals=goals(4),
        mysteries=mysteries(VAGUE, ARABIC),
        events=HUNDRED_FIFTY,
    )
    for figure in (card.lpi, card.th, card.quadrant, card.gate):
        assert isinstance(figure, Unscored)
        assert figure.cause == "script"
    assert "'m1'" in card.lpi.reason
    assert card.counts.holes is None
    assert [row.hole for row in card.mysteries] == [True, None]
    assert (card.pcv, card.tier, card.mv) == (150, "campaign", 1)
    assert card.rtn == Fraction(76, 100)


def test_an_unmeasured_mystery_is_left_out_of_the_agreement() -> None:
    card = score(
        mysteries=(
            Mystery(id="a", text=ARABIC, thematic_hole=True),
            Mystery(id="b", text=VAGUE, thematic_hole=True),
        )
    )
    assert card.hole_agreement == (1, 1)
