"""What holds of the score of any ledger, and of every small one."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ludic_deepeval.ledger import Event, FactLedger, Goal, Hook, Mystery, Npc
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import ScoreCard, score_ledger, thematic_holes

STATUSES = ("alive", "dead", "missing", "undead", "unknown")
TEXTS = (
    "someone left in the night",
    "nobody knows who paid",
    "on October 12 Kaelen met Captain Hook",
    "Thay sent three Red Wizards",
    "有人在夜里离开了",
    "",
)

# No deadline: the first Chinese span loads a dictionary.
brief = settings(max_examples=40, deadline=None)
dimensions = st.integers(1, 10)


def with_ids(items: Sequence[dict[str, Any]], letter: str) -> list[dict[str, Any]]:
    return [{"id": f"{letter}{index}", **item} for index, item in enumerate(items)]


def listed(letter: str, item: dict[str, st.SearchStrategy[Any]], most: int) -> st.SearchStrategy[Any]:
    return st.lists(st.fixed_dictionaries(item), max_size=most).map(lambda items: with_ids(items, letter))


npcs = listed(
    "n",
    {
        "name": st.sampled_from(["Thay", "Kaelen", "Ilse"]),
        "status": st.sampled_from(STATUSES),
        "unresolved": st.booleans(),
    },
    5,
)
hooks = listed("h", {"text": st.just("a thread"), "tier": st.integers(1, 3), "open": st.booleans()}, 8)
goals = listed("g", {"text": st.just("an aim"), "proactive": st.booleans()}, 6)
mysteries = listed("m", {"text": st.sampled_from([text for text in TEXTS if text])}, 8)
events = listed(
    "e",
    {
        "phase": st.sampled_from(["P1", "P2", "P3"]),
        "summary": st.just("it happened"),
        "immediacy": dimensions,
        "gravity": dimensions,
        "linkage": dimensions,
        "divergence": dimensions,
    },
    10,
)
ledgers = st.builds(
    lambda **lists: FactLedger.model_validate({"schema_version": 1, "protagonist": "Kaelen", **lists}),
    npcs=npcs,
    hooks=hooks,
    goals=goals,
    mysteries=mysteries,
    events=events,
)


def plus(ledger: FactLedger, **items: Any) -> FactLedger:
    return ledger.model_copy(update={name: (*getattr(ledger, name), item) for name, item in items.items()})


def figures(card: ScoreCard) -> tuple[Any, ...]:
    """Every figure, without the order of rows (a tie may fall on either of two equal events)."""
    return (
        card.lpi,
        card.components,
        card.counts,
        card.pcv,
        card.tier,
        card.quadrant,
        card.gate,
        Counter((row.raw, row.band, row.counted) for row in card.events),
        Counter((row.id, row.hole) for row in card.mysteries),
    )


@brief
@given(ledgers)
def test_lpi_and_its_components_stay_within_zero_and_one(ledger: FactLedger) -> None:
    card = score_ledger(ledger)
    assert all(0 <= figure <= 1 for figure in (card.lpi, *card.components.values()))


@brief
@given(ledgers)
def test_one_more_open_tier_1_hook_never_lowers_rtn_mv_or_ucr(ledger: FactLedger) -> None:
    before, after = score_ledger(ledger), score_ledger(plus(ledger, hooks=Hook(id="new", text="x", tier=1)))
    assert after.rtn >= before.rtn
    assert after.mv == before.mv
    assert after.ucr >= before.ucr


@brief
@given(ledgers)
def test_one_more_proactive_goal_never_lowers_mv_and_leaves_rtn_alone(ledger: FactLedger) -> None:
    before, after = score_ledger(ledger), score_ledger(plus(ledger, goals=Goal(id="new", text="x")))
    assert after.mv >= before.mv
    assert after.rtn == before.rtn


@brief
@given(ledgers, st.sampled_from([status for status in STATUSES if status != "dead"]))
def test_one_more_tied_person_who_is_not_dead_never_lowers_rtn_and_leaves_mv_alone(
    ledger: FactLedger, status: str
) -> None:
    person = Npc.model_validate({"id": "new", "name": "a rival", "status": status, "unresolved": True})
    before, after = score_ledger(ledger), score_ledger(plus(ledger, npcs=person))
    assert after.rtn >= before.rtn
    assert after.mv == before.mv


@brief
@given(ledgers, st.booleans())
def test_one_more_dead_person_changes_no_component(ledger: FactLedger, unresolved: bool) -> None:
    person = Npc(id="new", name="a ghost", status="dead", unresolved=unresolved)
    assert score_ledger(plus(ledger, npcs=person)).components == score_ledger(ledger).components


@brief
@given(st.integers(0, 200))
def test_th_rises_to_three_holes_and_falls_after(holes: int) -> None:
    now, more = thematic_holes(holes), thematic_holes(holes + 1)
    if holes < 3:
        assert now < more
    elif now:
        assert now > more
    else:
        assert more == 0


@brief
@given(ledgers, st.randoms(use_true_random=False))
def test_the_order_of_no_list_matters_to_any_figure(ledger: FactLedger, random: Any) -> None:
    lists = {name: list(getattr(ledger, name)) for name in FactLedger.LISTS}
    for items in lists.values():
        random.shuffle(items)
    shuffled = ledger.model_copy(update={name: tuple(items) for name, items in lists.items()})
    assert figures(score_ledger(shuffled)) == figures(score_ledger(ledger))


@brief
@given(ledgers, st.tuples(dimensions, dimensions, dimensions, dimensions), st.integers(0, 10))
def test_one_more_event_never_lowers_pcv(
    ledger: FactLedger, igvd: tuple[int, int, int, int], place: int
) -> None:
    i, g, v, d = igvd
    event = Event(id="new", phase="P1", summary="x", immediacy=i, gravity=g, linkage=v, divergence=d)
    more = (*ledger.events[:place], event, *ledger.events[place:])
    assert score_ledger(ledger.model_copy(update={"events": more})).pcv > score_ledger(ledger).pcv


def pcv_doubled(events: Sequence[tuple[int, int, int, int]]) -> int:
    """Twice the PCV of Eq 7 with saturation, in integers: an event counts twice, but once if two of its band beat it."""
    raw = [(4 * i + 4 * g + v + d, -at) for at, (i, g, v, d) in enumerate(events)]
    total = 0
    for at, event in enumerate(events):
        stronger = sum(
            raw[other] > raw[at] and events[other][1] // 3 == event[1] // 3 for other in range(len(events))
        )
        total += raw[at][0] * (2 if stronger < 2 else 1)
    return total


@brief
@given(ledgers)
def test_pcv_is_that_of_an_independent_implementation(ledger: FactLedger) -> None:
    rows = [(e.immediacy, e.gravity, e.linkage, e.divergence) for e in ledger.events]
    card = score_ledger(ledger)
    assert 2 * card.pcv == pcv_doubled(rows)
    assert card.pcv == sum(row.counted for row in card.events)


@brief
@given(ledgers)
def test_the_verdict_follows_from_lpi_and_pcv_alone(ledger: FactLedger) -> None:
    card = score_ledger(ledger)
    playable, urgent = card.lpi >= Fraction(70, 100), card.pcv >= 150
    assert card.gate.passed is (playable and urgent)
    assert len(card.gate.reasons) == (not playable) + (not urgent)
    assert (
        card.quadrant
        == {
            (True, True): "campaign-ready",
            (True, False): "rich-lore-flat-play",
            (False, True): "explosive-but-shallow",
            (False, False): "unplayable-draft",
        }[playable, urgent]
    )


@brief
@given(ledgers, st.integers(0, 10))
def test_an_event_without_dimensions_never_touches_lpi(ledger: FactLedger, place: int) -> None:
    bare = Event(id="bare", phase="P2", summary="x")
    events = (*ledger.events[:place], bare, *ledger.events[place:])
    before, after = score_ledger(ledger), score_ledger(ledger.model_copy(update={"events": events}))
    assert (after.lpi, after.components) == (before.lpi, before.components)
    assert isinstance(after.pcv, Unscored)


# Every small ledger: 0–3 active people, 0–5 hooks of tier 1, 0–7 of tier 2, 0–5 of tier 3, 0–4 goals, 0–9 holes.
GRID = (4, 6, 8, 6, 5, 10)


def lpi_in_whole_numbers(
    people: int, one: int, two: int, three: int, goals: int, holes: int
) -> tuple[int, int]:
    """LPI as (numerator, denominator) over 60,000 · |H|, from Eq 1–4 by hand.

    0.4 · 0.7 · N/3 = 5,600 N; 0.4 · 0.3 · (Σ τ in tenths)/50 = 144 Σ; 0.3 · G/4 = 4,500 G; 0.2 · T1/|H|; and TH in
    sixtieths, 20 for each of three holes, then 9 less for each further one, at 0.1 = 100 a sixtieth.
    """
    count = one + two + three
    tau = min(10 * one + 6 * two + 2 * three, 50)
    th = 20 * holes if holes <= 3 else max(60 - 9 * (holes - 3), 0)
    size = count or 1
    whole = size * (5_600 * min(people, 3) + 144 * tau + 4_500 * min(goals, 4) + 100 * th)
    return whole + 12_000 * one, 60_000 * size


def lpi_in_floats(people: int, one: int, two: int, three: int, goals: int, holes: int) -> float:
    """Eq 1–4 as anybody would write them."""
    count = one + two + three
    rtn = 0.7 * min(people, 3) / 3 + 0.3 * min(1.0 * one + 0.6 * two + 0.2 * three, 5) / 5
    mv = min(goals, 4) / 4
    ucr = one / count if count else 0.0
    th = holes / 3 if holes <= 3 else max(0.0, 1 - 0.15 * (holes - 3))
    return 0.4 * rtn + 0.3 * mv + 0.2 * ucr + 0.1 * th


def test_the_gate_judges_all_57_600_small_ledgers_as_whole_numbers_do_and_floats_misjudge_eleven() -> None:
    people = [Npc(id=f"n{n}", name="a rival", status="alive", unresolved=True) for n in range(GRID[0])]
    hooks = [[Hook(id=f"h{tier}-{n}", text="x", tier=tier) for n in range(8)] for tier in (1, 2, 3)]
    goals = [Goal(id=f"g{n}", text="x") for n in range(GRID[4])]
    holes = [Mystery(id=f"m{n}", text="why") for n in range(GRID[5])]
    policy = Policy(pcv_gate=Fraction(0))  # so that LPI alone decides
    judged = exactly_at = misjudged_by_floats = 0
    for counts in product(*map(range, GRID)):
        n, one, two, three, g, k = counts
        ledger = FactLedger.model_construct(
            schema_version=1,
            protagonist="Kaelen",
            npcs=tuple(people[:n]),
            hooks=(*hooks[0][:one], *hooks[1][:two], *hooks[2][:three]),
            goals=tuple(goals[:g]),
            mysteries=tuple(holes[:k]),
        )
        numerator, denominator = lpi_in_whole_numbers(*counts)
        passes = 10 * numerator >= 7 * denominator
        card = score_ledger(ledger, policy)
        same = card.lpi.numerator * denominator == numerator * card.lpi.denominator
        if not same or card.gate.passed is not passes:
            raise AssertionError(f"{counts}: {card.lpi}, {card.gate} against {numerator}/{denominator}")
        judged += 1
        exactly_at += 10 * numerator == 7 * denominator
        misjudged_by_floats += (lpi_in_floats(*counts) >= 0.7) is not passes
    assert (judged, exactly_at, misjudged_by_floats) == (57_600, 63, 11)
