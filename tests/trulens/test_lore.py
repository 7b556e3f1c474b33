"""Lines held against a version of the world: what counts on the retired, what contradicts, and what is no fault."""

from pathlib import Path

import pytest

from ludic_deepeval.bible import Bible, open_bible
from ludic_deepeval.errors import InputError
from tests.trulens.test_retrieval import CHINESE
from trulens_feedback.contradiction import contradictions
from trulens_feedback.lore import assert_lore, lore_faults
from trulens_feedback.setting import Setting

ROOT = Path(__file__).parents[2]
NOW = Setting(open_bible(str(ROOT / "bible/ember-road@v2")))
BEFORE = Setting(open_bible(str(ROOT / "bible/ember-road@v1")))
FAERUN = Setting(open_bible(str(ROOT / "bible/faerun")))


def told(text: str, world: Setting = NOW) -> list[tuple[str, str, str]]:
    return [(one.kind, one.node, one.version) for one in lore_faults(text, world)]


def test_the_papers_case_a_city_destroyed_last_season_is_no_current_trade_hub() -> None:
    """LudicMetrics §6.3: "prevent the model from referring to a city destroyed last season as a current trade hub"."""
    line = "Ombrey is the great trade hub of the road."
    assert told(line) == [("retired", "ombrey", "v2")]
    assert told(line, BEFORE) == []


@pytest.mark.parametrize(
    "text",
    [
        "We drive to Ombrey.",
        "Ombrey's inns keep a bed for you.",
        "The Ombrey market opens at dawn.",
        "You need Ombrey salt for this.",
        "Had you heard that Ombrey is rich?",
        "Ombrey was not destroyed.",
        "Ombrey didn't burn.",
        "Ombrey still stands.",
        "It burned, they say, but Ombrey pays well; ask anybody.",
        "Go to OMBREY? No: go to Ombrey.",
    ],
)
def test_a_statement_counts_on_what_is_gone(text: str) -> None:
    assert ("retired", "ombrey", "v2") in told(text)


@pytest.mark.parametrize(
    "text",
    [
        "I grew up in Ombrey.",
        "Before the fire my mother kept an inn in Ombrey.",
        "Ombrey is ashes.",
        "What is left of Ombrey fits into a sack: nothing but cinders.",
        "The ruins of Ombrey are still warm.",
        "Ombrey is no more.",
        "We used to drive to Ombrey.",
        "ombrey is a word for a hat here.",  # not the name
        "Ombreyans are everywhere.",  # another word
        "The Burning of Ombrey took one night.",  # the event, which holds
    ],
)
def test_its_end_and_the_time_before_are_no_fault(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Saltgrave belongs to the Carters' League.", ("allegiance", "saltgrave", "v2")),
        ("The Carters' League rules Saltgrave.", ("allegiance", "saltgrave", "v2")),
        ("Saltgrave is no longer held by the Crown; it answers to the League.", ("allegiance", "saltgrave", "v2")),
        ("Saltgrave does not belong to the Glass Crown.", ("allegiance", "saltgrave", "v2")),
        ("Dousing a hearth is legal in Saltgrave.", ("law", "hearth-law", "v2")),
        ("The hearth law does not hold.", ("law", "hearth-law", "v2")),
        ("The Ash Sisters carry fire from hearth to hearth in open pots, and the Sisters take coin.", ("denied", "ash-sisters", "v2")),
        ("The Glass Crown carries fire from hearth to hearth in closed pots.", ("swapped", "ash-sisters", "v2")),
        ("Nine years ago every fire on the road went out in one night.", ("number", "dark-winter", "v2")),
        ("By the lamp law you owe me the waggon.", ("retired", "lamp-law", "v2")),
        ("The Weighmaster will want to see that.", ("retired", "ilse-corran", "v2")),
    ],
)  # fmt: skip
def test_each_kind_of_contradiction_names_node_and_version(text: str, fault: tuple[str, str, str]) -> None:
    assert fault in told(text)


@pytest.mark.parametrize(
    "text",
    [
        "Saltgrave belongs to the Glass Crown.",
        "Saltgrave does not belong to the League.",
        "Men of the League drink in Saltgrave.",
        "Dousing a hearth is forbidden.",
        "Dousing a hearth is not allowed.",
        "I would not put out a hearth for all the salt in Saltgrave.",
        "The Sisters take no coin.",
        "The Sisters never take coin.",
        "Sixty years ago every fire on the road went out in one night.",
        "The lamp law is repealed.",
        "Do the Sisters take coin?",
    ],
)
def test_what_the_bible_says_is_no_contradiction_of_it(text: str) -> None:
    assert told(text) == []


def test_a_law_holds_where_it_holds() -> None:
    assert told("Necromancy is perfectly legal in Waterdeep.", FAERUN) == [("law", "magic-law", "v1")]
    assert told("Necromancy is perfectly legal in Candlekeep.", FAERUN) == []  # no city of the Alliance


def test_an_open_question_is_no_denial_but_what_it_presupposes_is_looked_at() -> None:
    assert told("Nobody knows whether the Sisters ever take coin.") == []
    assert told("Nobody has ever said why Saltgrave belongs to the League.") == [
        ("allegiance", "saltgrave", "v2")
    ]
    assert told("Who sleeps in Ombrey tonight?") == [("retired", "ombrey", "v2")]


def test_an_assertion_fails_with_a_line_for_each_fault() -> None:
    with pytest.raises(AssertionError) as failed:
        assert_lore(
            "Ask the Weighmaster. Then drive to Ombrey.", str(ROOT / "bible/ember-road@v2"), where="line 7"
        )
    one, two = str(failed.value).splitlines()
    assert one.startswith(
        "line 7: “Ask the Weighmaster.” counts on Ilse Corran, dead since v2 (ilse-corran, v2)"
    )
    assert "ember-road@v2: “Ombrey burned to the waterline" in two
    assert_lore("Ask the Weighmaster. Then drive to Ombrey.", str(ROOT / "bible/ember-road@v1"))
    with pytest.raises(InputError, match="no version 'v9'"):
        assert_lore("x", str(ROOT / "bible/ember-road@v9"))


def test_chinese_lines() -> None:
    world = Setting(Bible.model_validate(CHINESE))
    assert told("把盐运到青石集去卖。", world) == [("retired", "qingshi", "v2")]
    assert told("青石集已经烧毁了。", world) == []
    assert told("当年我在青石集卖过布。", world) == []
    assert told("银渡镇属于灯社。", world) == [("allegiance", "yindu-town", "v2")]
    assert told("银渡镇不属于盐帮。", world) == [("allegiance", "yindu-town", "v2")]
    assert told("银渡镇属于盐帮。", world) == []


def test_hostile_text_ends_in_one_line_and_in_linear_time() -> None:
    with pytest.raises(AssertionError) as failed:
        assert_lore("Go to \x1b Ombrey\x07 now.", NOW)
    assert "\x1b" not in str(failed.value)
    long = "Ombrey, " * 2000
    assert len(lore_faults(long, NOW)) == 1  # one for each statement and node
    assert contradictions("not " * 5000, NOW) == ()
