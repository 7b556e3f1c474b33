"""What a rewrite did, and the two ways in which rewriting fails: on ledgers made by hand."""

from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.bible import Bible, Node, load_bible
from ludic_deepeval.effort import Effort
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.rewrite_failures import (
    cascade,
    entities,
    phase_items,
    quiet_by_effort,
    quiet_failure,
)
from ludic_deepeval.rewrites import Met, Rewrite, anchors_of, compare_drafts, likeness, same_items
from tests.scripted_turns import MEETING, READY, SELA, WEAK, bare

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def faerun() -> Bible:
    return load_bible(ROOT / "bible" / "faerun")


def node(bible: Bible, name: str) -> Node:
    found = bible.find(name)
    assert found
    return found[1]


def ledger(data: dict[str, Any]) -> FactLedger:
    return FactLedger.model_validate(bare(data))


def changed(data: dict[str, Any], **lists: Any) -> dict[str, Any]:
    return deepcopy(data) | lists


def compare(before: dict[str, Any], after: dict[str, Any], bible: Bible) -> Rewrite:
    return compare_drafts(
        ledger(before),
        ledger(after),
        bible,
        faction=node(bible, "red-wizards"),
        location=node(bible, "candlekeep"),
    )


def demands(before: dict[str, Any], after: dict[str, Any], bible: Bible) -> dict[str, Met]:
    return {met.demand: met for met in compare(before, after, bible).demands}


# The three demands


def test_a_rewrite_that_does_all_that_was_asked_meets_all_three(faerun: Bible) -> None:
    found = demands(WEAK, READY, faerun)
    assert [found[name].met for name in ("person", "hook", "goal")] == [True, True, True]
    assert (found["person"].item, found["person"].text) == ("sela", "Sela Vant")
    assert (found["hook"].item, found["hook"].person, found["hook"].new_person) == ("meeting", "sela", True)
    assert found["hook"].promoted is False
    assert found["goal"].item == "judge"


def test_a_draft_meets_nothing_against_itself(faerun: Bible) -> None:
    for same in (WEAK, READY):
        assert not any(met.met for met in demands(same, same, faerun).values())
    assert compare(READY, READY, faerun).likeness == 1


@pytest.mark.parametrize(
    ("person", "met"),
    [
        ({}, True),
        ({"status": "dead"}, False),
        ({"status": "missing"}, False),  # "still alive at the end of the text"
        (
            {"faction": "the Harpers"},
            False,
        ),  # somebody, but not for or against the faction that was asked for
        ({"name": "the red-robed usher"}, False),  # described and not named
        ({"name": "Odo Marsh"}, False),  # not new
        ({"name": "Old Marsh", "aliases": ["Odo Marsh"]}, False),
        ({"faction": None}, False),
        ({"faction": "Thay"}, True),  # an alias of the faction
    ],
)
def test_the_first_demand_is_a_new_named_living_person_of_that_faction(
    person: dict[str, Any], met: bool, faerun: Bible
) -> None:
    after = changed(WEAK, npcs=[*WEAK["npcs"], {**SELA, **person}])
    if after["npcs"][-1]["name"] == "Odo Marsh":
        after["npcs"] = [after["npcs"][-1]]
        after["hooks"] = []
    assert demands(WEAK, after, faerun)["person"].met is met


def test_somebody_is_against_a_faction_when_the_words_about_them_name_it(faerun: Bible) -> None:
    against = {**SELA, "faction": None}
    hook = {
        "id": "hunt",
        "text": "Sela Vant hunts the Red Wizards for her sister",
        "tier": 2,
        "quote": "x y z",
    }
    after = changed(WEAK, npcs=[*WEAK["npcs"], against], hooks=[*WEAK["hooks"], hook])
    assert demands(WEAK, after, faerun)["person"].met
    quiet = {**hook, "text": "Sela Vant hunts a man in a red coat"}
    after = changed(WEAK, npcs=[*WEAK["npcs"], against], hooks=[*WEAK["hooks"], quiet])
    assert not demands(WEAK, after, faerun)["person"].met


@pytest.mark.parametrize(
    ("hook", "met"),
    [
        ({}, True),
        ({"tier": 2}, False),
        ({"open": False}, False),
        ({"location": "Waterdeep", "text": "Sela Vant waits"}, False),
        ({"location": None, "text": "Sela Vant waits"}, False),
        ({"location": None}, True),  # the words name the place
        ({"npc": None, "location": "Candlekeep", "text": "somebody waits"}, False),
        ({"npc": None, "text": "Sela Vant waits", "location": "candlekeep"}, True),
        ({"npc": "odo", "text": "he waits at Candlekeep"}, False),  # not that person
    ],
)
def test_the_second_demand_is_an_urgent_open_thread_with_that_person_at_that_place(
    hook: dict[str, Any], met: bool, faerun: Bible
) -> None:
    after = changed(WEAK, npcs=[*WEAK["npcs"], SELA], hooks=[*WEAK["hooks"], {**MEETING, **hook}])
    assert demands(WEAK, after, faerun)["hook"].met is met


def test_the_city_gate_is_not_baldurs_gate(faerun: Bible) -> None:
    """The bible calls Baldur's Gate "the Gate"; words name it in its capitals alone."""
    hook = {**MEETING, "location": None, "text": "Sela Vant waits by the gate"}
    draft = ledger(changed(WEAK, npcs=[*WEAK["npcs"], SELA], hooks=[hook]))
    assert anchors_of(draft.hooks[0], draft, faerun) == ()
    hook["text"] = "Sela Vant waits in the Gate"
    draft = ledger(changed(WEAK, npcs=[*WEAK["npcs"], SELA], hooks=[hook]))
    assert anchors_of(draft.hooks[0], draft, faerun) == ("baldurs-gate",)


def test_a_thread_that_became_urgent_is_promoted(faerun: Bible) -> None:
    before = changed(
        WEAK, npcs=[*WEAK["npcs"], SELA], hooks=[{**MEETING, "tier": 3, "location": None, "text": "Sela Vant waits with the page"}]
    )  # fmt: skip
    after = changed(WEAK, npcs=[*WEAK["npcs"], SELA], hooks=[MEETING])
    found = demands(before, after, faerun)
    assert not found["person"].met  # Sela was there
    assert (found["hook"].met, found["hook"].promoted, found["hook"].new_person) == (True, True, False)
    assert not demands(after, after, faerun)["hook"].met


@pytest.mark.parametrize(
    ("text", "pursued", "met"),
    [
        ("find the wrecker who lit the false lamp", True, True),
        ("find the wrecker who lit the false lamp", False, False),
        ("to reach Candlekeep well before Sela Vant", True, False),  # the same in other words that share half
        ("reach Candlekeep before Sela", True, False),
    ],
)
def test_the_third_demand_is_a_goal_that_is_pursued_and_not_one_said_again(
    text: str, pursued: bool, met: bool, faerun: Bible
) -> None:
    after = changed(READY, goals=[*READY["goals"], {"id": "new", "text": text, "proactive": pursued}])
    assert demands(READY, after, faerun)["goal"].met is met


def test_a_goal_that_was_only_wanted_and_is_now_pursued_is_new(faerun: Bible) -> None:
    before = changed(READY, goals=[{**goal, "proactive": False} for goal in READY["goals"]])
    assert demands(before, READY, faerun)["goal"].met


# What came, what went, and what it rests on


def test_what_is_new_is_held_against_the_bible(faerun: Bible) -> None:
    found = {one.id: one for one in compare(WEAK, READY, faerun).added}
    assert set(found) == {
        "sela",
        "brother",
        "page",
        "summons",
        "meeting",
        "wat",
        "judge",
        "page-first",
        "dig",
    }
    assert found["sela"].anchors == (
        "candlekeep",
        "red-wizards",
    )  # her faction, and the thread that names her
    assert found["meeting"].anchors == found["page"].anchors == found["page-first"].anchors == ("candlekeep",)
    assert found["brother"].anchors == found["wat"].anchors == found["dig"].anchors == ()
    assert compare(WEAK, READY, faerun).lost == ()


def test_factions_and_places_that_the_bible_does_not_have_are_named(faerun: Bible) -> None:
    stranger = {**SELA, "id": "kell", "name": "Kell", "faction": "the Ash Guild"}
    hook = {**MEETING, "id": "ash", "npc": "kell", "location": "Nowhere Keep", "text": "Kell has the key"}
    after = changed(WEAK, npcs=[*WEAK["npcs"], stranger], hooks=[*WEAK["hooks"], hook])
    found = {one.id: one for one in compare(WEAK, after, faerun).added}
    assert (found["kell"].anchors, found["kell"].unknown) == ((), ("the Ash Guild",))
    assert (found["ash"].anchors, found["ash"].unknown) == ((), ("Nowhere Keep",))


def test_a_law_anchors_nothing(faerun: Bible) -> None:
    hook = {"id": "law", "text": "the magic law is broken", "tier": 2}
    draft = ledger(changed(WEAK, hooks=[hook]))
    assert anchors_of(draft.hooks[0], draft, faerun) == ()


def test_likeness_counts_what_stands_in_both() -> None:
    # WEAK has 4 items, READY these and 9 more: 2·4 / (4 + 13).
    assert likeness(ledger(WEAK), ledger(READY)) == pytest.approx(8 / 17, abs=1e-4)
    empty = ledger({"protagonist": "Ysolde"})
    assert likeness(empty, empty) == 1
    assert likeness(empty, ledger(WEAK)) == 0


def test_each_item_is_the_same_as_one_other_at_most() -> None:
    texts = ["the ledger in the mill", "the ledger"]
    two = [FactLedger.model_validate(bare(changed(WEAK, hooks=[{"id": f"h{n}", "text": text, "tier": 2} for n, text in enumerate(texts)]))).hooks] * 2  # fmt: skip
    assert same_items(*two) == [(0, 0), (1, 1)]
    assert same_items(two[0][:1], two[1]) == [(0, 0)]


def test_an_event_told_of_another_time_is_another() -> None:
    other = changed(WEAK, events=[{**WEAK["events"][0], "phase": "P2"}])
    assert same_items(ledger(WEAK).events, ledger(other).events) == []


def test_chinese_is_compared_character_by_character() -> None:
    one = changed(WEAK, goals=[{"id": "g", "text": "把堤修好"}])
    other = changed(WEAK, goals=[{"id": "g", "text": "要把堤重新修好"}])
    assert same_items(ledger(one).goals, ledger(other).goals) == [(0, 0)]
    assert same_items(ledger(one).goals, ledger(changed(WEAK, goals=[{"id": "g", "text": "去找弟弟"}])).goals) == []  # fmt: skip


# The two failures


@dataclass(frozen=True)
class Draft:
    ledger: FactLedger
    lpi: Fraction
    passed: bool = False


def draft(data: dict[str, Any], lpi: str, *, passed: bool = False) -> Draft:
    return Draft(ledger(data), Fraction(lpi), passed)


FULL = changed(
    WEAK,
    events=[
        *WEAK["events"],
        {"id": "school", "phase": "P2", "summary": "she learns to read", "skills": [{"skill": "reading", "change": "gained"}]},
    ],
)  # fmt: skip


def test_what_a_phase_holds_are_its_events_and_their_changes() -> None:
    assert phase_items(ledger(FULL)) == {"P1": 1, "P2": 2, "P3": 0}


def test_a_cascade_is_loud() -> None:
    """The same thin ledger three times, youth gone, LPI lower: all three signs."""
    thin = [draft(WEAK, "0.3"), draft(WEAK, "0.25"), draft(WEAK, "0.2")]
    found = cascade([draft(FULL, "0.4"), *thin])
    assert found.found
    assert (found.near_identical, found.phases_lost, found.falling) == (True, ("P2",), True)
    assert found.likeness == (1.0, 1.0)


@pytest.mark.parametrize(
    ("first", "rewrites", "found"),
    [
        (draft(FULL, "0.4"), [draft(WEAK, "0.5"), draft(WEAK, "0.5")], True),  # nearly the same, youth lost
        (draft(WEAK, "0.4"), [draft(WEAK, "0.3"), draft(WEAK, "0.3")], True),  # nearly the same, LPI fell
        (draft(FULL, "0.4"), [draft(READY, "0.3"), draft(WEAK, "0.3")], True),  # youth lost, LPI fell
        (draft(WEAK, "0.4"), [draft(WEAK, "0.5"), draft(WEAK, "0.5")], False),  # one sign
        (draft(WEAK, "0.4"), [draft(WEAK, "0.4"), draft(WEAK, "0.4")], False),  # level is not falling
        (draft(FULL, "0.4"), [draft(READY, "0.5"), draft(WEAK, "0.5")], False),
        (draft(FULL, "0.4"), [draft(WEAK, "0.3")], False),  # one rewrite is no cascade
        (draft(FULL, "0.4"), [draft(WEAK, "0.3"), draft(WEAK, "0.3", passed=True)], False),  # it got there
    ],
)
def test_a_cascade_takes_two_rewrites_two_signs_and_no_pass(
    first: Draft, rewrites: list[Draft], found: bool
) -> None:
    assert cascade([first, *rewrites]).found is found


def test_without_drafts_nothing_failed(faerun: Bible) -> None:
    assert not cascade([]).found
    assert not quiet_failure([], faerun).found


def strangers(number: int) -> dict[str, Any]:
    people = [{**SELA, "id": f"n{n}", "name": f"Kell{n}", "faction": None} for n in range(number)]
    return changed(WEAK, npcs=[*WEAK["npcs"], *people])


@pytest.mark.parametrize(
    ("last", "passed", "found", "anchored", "unanchored"),
    [
        (strangers(2), True, True, 0, 2),
        (strangers(2), False, False, 0, 2),  # below the gate it deceives nobody
        (READY, True, False, 2, 2),  # Sela and the meeting rest on the bible, Wat and his knocking on nothing
        (WEAK, True, False, 0, 0),
    ],
)
def test_the_quiet_failure_passes_on_people_who_rest_on_nothing(
    last: dict[str, Any], passed: bool, found: bool, anchored: int, unanchored: int, faerun: Bible
) -> None:
    got = quiet_failure([draft(WEAK, "0.1"), draft(last, "0.8", passed=passed)], faerun)
    assert (got.found, got.anchored, got.unanchored) == (found, anchored, unanchored)


def test_a_first_draft_that_passed_was_not_made_worse_by_the_gate(faerun: Bible) -> None:
    both = [draft(WEAK, "0.8", passed=True), draft(strangers(3), "0.9", passed=True)]
    assert not quiet_failure(both, faerun).found


def test_entities_are_people_and_open_threads(faerun: Bible) -> None:
    assert entities(ledger(READY), faerun) == (2, 4)  # sela, meeting; odo, brother, ledger, wat
    closed = changed(READY, hooks=[{**hook, "open": False} for hook in READY["hooks"]])
    assert entities(ledger(closed), faerun) == (1, 2)


def test_the_papers_own_measure_is_what_a_game_master_invented() -> None:
    # E_a 2/10 = .20, then 4/12 = .33: two more invented, none more reused.
    before, after = Effort(8, 2, 0, ()), Effort(8, 4, 0, ())
    got = quiet_by_effort(before, after, passed_before=False, passed_after=True)
    assert (got.found, got.reused, got.invented, got.rise) == (True, 0, 2, Fraction(2, 15))
    assert not quiet_by_effort(before, after, passed_before=False, passed_after=False).found
    assert not quiet_by_effort(after, before, passed_before=False, passed_after=True).found
    # More invented and yet a lower share: the story grew, and most of it was used.
    assert not quiet_by_effort(before, Effort(30, 3, 0, ()), passed_before=False, passed_after=True).found
