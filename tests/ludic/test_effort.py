"""E_a and Div_alpha, by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludic_deepeval.effort import Label, adaptation_effort, branching_diversity
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.outcome import Scored, Unscored

LEDGER = FactLedger.model_validate(
    {"schema_version": 1, "protagonist": "Tace", "npcs": [{"id": "frayne", "name": "Lucan Frayne", "aliases": ["the harbour master"]}]}
)  # fmt: skip


def npc(text: str, verdict: str = "invented", item: str | None = None) -> Label:
    return Label("npc", text, verdict, item)  # type: ignore[arg-type]  # a plain word for the tests


def hook(text: str, verdict: str = "invented", item: str | None = None) -> Label:
    return Label("hook", text, verdict, item)  # type: ignore[arg-type]


def test_effort_is_pooled_over_the_outlines_and_given_for_each() -> None:
    # 3 reused, 1 invented, 1 ambiguous: 1/4 pooled, 1/5 of all; outlines 1/3, 0/1 and nothing told.
    found = adaptation_effort(
        [
            [npc("a", "reused"), npc("b", "reused"), hook("c", "invented")],
            [npc("a", "reused")],
            [hook("d", "ambiguous")],
        ]
    )
    assert isinstance(found, Scored)
    effort = found.value
    assert (effort.reused, effort.invented, effort.ambiguous) == (3, 1, 1)
    assert (effort.value, effort.invented_of_all, effort.band) == (Fraction(1, 4), Fraction(1, 5), "middle")
    assert effort.outlines == (Fraction(1, 3), Fraction(0), None)


@pytest.mark.parametrize(
    ("reused", "invented", "band"),
    [(4, 1, "low"), (79, 21, "middle"), (61, 39, "middle"), (3, 2, "high"), (0, 1, "high"), (1, 0, "low")],
)  # .20 is low and .40 high (§4.4)
def test_the_bands_begin_and_end_where_the_paper_says(reused: int, invented: int, band: str) -> None:
    found = adaptation_effort([[npc("x", "reused")] * reused + [npc("y", "invented")] * invented])
    assert isinstance(found, Scored)
    assert found.value.band == band


@pytest.mark.parametrize("outlines", [[], [[], [], []], [[npc("a", "ambiguous")]]])
def test_nothing_told_apart_is_unscored_and_not_zero(outlines: list[list[Label]]) -> None:
    found = adaptation_effort(outlines)
    assert isinstance(found, Unscored)
    assert found.cause == "labels"


def test_diversity_by_hand() -> None:
    # People: {frayne, pesk} {frayne} {ide}: 1/2, 0, 0. Hooks: {bell} {bell, chain} {bell}: 1/2, 1, 1/2.
    # Div = 1 − (1/2 + 2)/6 = 7/12. Pair means 1/2, 1/2, 1/4: 1-2 and 1-3 joined, one cluster.
    outlines = [
        [npc("Lucan Frayne"), npc("Old Pesk"), hook("The bell rings!")],
        [npc("the Harbour Master"), hook("the bell rings"), hook("The chain")],
        [npc("Ide"), hook("bell rings")],
    ]
    found = branching_diversity(outlines, LEDGER)
    assert isinstance(found, Scored)
    assert found.value.value == Fraction(7, 12)
    assert (found.value.npc_overlap, found.value.hook_overlap) == (Fraction(1, 6), Fraction(2, 3))
    assert found.value.clusters == 1


def test_two_wordings_of_one_hook_are_one_by_item() -> None:
    one = [hook("the bell under the bend", "reused", "h1")]
    two = [hook("who rings down there", "reused", "h1")]
    three = [hook("a debt to Pesk", "reused", "h2")]
    found = branching_diversity([one, two, three], LEDGER)
    assert isinstance(found, Scored)
    # No people anywhere: three overlaps of 1. Hooks by words: 0, 0, 0; by item: 1, 0, 0.
    assert (found.value.value, found.value.by_item) == (Fraction(1, 2), Fraction(1, 3))


@pytest.mark.parametrize(
    ("outlines", "why"),
    [([[npc("a")]] * 2, "2 outlines"), ([[npc("a")], [], [npc("a")]], "outline 2 has neither")],
)
def test_too_little_to_compare_is_unscored(outlines: list[list[Label]], why: str) -> None:
    found = branching_diversity(outlines, LEDGER)
    assert isinstance(found, Unscored)
    assert why in found.reason


labels = st.builds(
    Label,
    st.sampled_from(["npc", "hook"]),
    st.sampled_from(["Lucan Frayne", "the harbour master", "Ide", "bell", "The Bell."]),
    st.sampled_from(["reused", "invented", "ambiguous"]),
    st.sampled_from([None, "frayne", "h1"]),
)
outline = st.lists(labels, min_size=1, max_size=6)


@given(outline)
def test_the_same_opening_three_times_has_no_diversity(one: list[Label]) -> None:
    found = branching_diversity([one, one[::-1], one + one], LEDGER)
    assert isinstance(found, Scored)
    assert (found.value.value, found.value.by_item, found.value.clusters) == (0, 0, 1)


@given(st.tuples(outline, outline, outline), st.randoms())
def test_neither_order_nor_repetition_matters(three: tuple[list[Label], ...], random: object) -> None:
    found = branching_diversity(three, LEDGER)
    turned = branching_diversity([one[::-1] for one in reversed(three)], LEDGER)
    assert found == turned
    assert isinstance(found, Scored)
    assert 0 <= found.value.value <= 1
