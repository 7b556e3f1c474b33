"""The figures of the suite for capable models, on readings whose worth is known; no model is asked."""

from dataclasses import replace
from pathlib import Path

import pytest

from ludic_deepeval.errors import ModelError
from ludic_deepeval.lockfile import Lockfile, Ungrounded, load_lockfile, write_lockfile
from ludic_deepeval.notary import Extraction
from ludic_deepeval.sources import Story
from ludic_deepeval.sources.markdown import read_story
from tests.live.capability import gold_stories, mean_errors, measured, pooled, repeated, second_readings
from tests.ludic.conftest import Ludic

FAILED = ModelError("truncated", "ollama:m", "the answer was cut off at 12,000 tokens")


@pytest.fixture
def story(locked: Path) -> Story:
    """One story with 1 person, 1 event, 1 hook, 1 goal and 1 mystery."""
    return read_story(locked / "tale.md")


def reading(story: Story, **changes: object) -> Extraction:
    """What the marks say, as a model's reading, with some lists changed."""
    lock = load_lockfile(story.lockfile)
    notary = lock.notary.model_copy(update={"kind": "model", "model": "ollama:m"})
    ledger = lock.ledger.model_copy(update=changes)
    return Extraction(Lockfile.model_validate(lock.model_copy(update={"notary": notary, "ledger": ledger})))


def test_a_reading_that_is_the_marks_has_f1_1_and_no_error(story: Story) -> None:
    row = measured(story, reading(story))
    assert [kind["f1"] for kind in row["kinds"].values()] == [1.0] * 5
    assert (row["lpi"]["error"], row["pcv"]["error"], row["unscored"]) == (0.0, 0.0, None)
    assert row["gate"]["marked"] == row["gate"]["read"]


def test_a_missing_goal_costs_its_share_of_lpi_and_its_kinds_f1(story: Story) -> None:
    row = measured(story, reading(story, goals=()))
    # One goal is MV 1/4, and LPI has 0.3·MV: 0.075 less. F1 of goals: 2·0/(1 + 0).
    assert row["lpi"]["error"] == -0.075
    assert row["kinds"]["goals"] == {"marked": 1, "read": 0, "matched": 0, "same_answers": 0, "f1": 0.0}
    # The event has 4·3 + 4·8 + 5 + 6 = 55 in both.
    assert row["pcv"] == {"marked": 55.0, "read": 55.0, "error": 0.0}


def test_a_reading_that_found_nothing_has_no_error_and_is_counted_apart(story: Story) -> None:
    empty = measured(story, reading(story, npcs=(), events=(), hooks=(), goals=(), mysteries=()))
    assert "found nothing" in empty["unscored"]
    assert empty["lpi"]["read"] is empty["lpi"]["error"] is empty["gate"]["read"] is None
    # Items: 1 marked and 1 read, then 1 marked and none read: F1 = 2·1/(2 + 1).
    found = pooled([empty, measured(story, reading(story)), measured(story, FAILED)])
    assert (found["stories"], found["failed"], found["unscored"]) == (3, 1, 1)
    assert found["kinds"]["hooks"]["f1"] == 0.6667
    assert found["lpi"] == {"of": 1, "mean": 0.0, "mean_absolute": 0.0}
    assert found["gate"] == {"of": 1, "agree": 1}


def test_errors_that_cancel_out_still_have_a_size() -> None:
    assert mean_errors([0.1, None, -0.1]) == {"of": 2, "mean": 0.0, "mean_absolute": 0.1}
    assert mean_errors([None]) == {"of": 0, "mean": None, "mean_absolute": None}
    assert pooled([])["stories"] == 0


def test_readings_that_differ_are_said_to_differ_and_by_how_much(story: Story) -> None:
    row = repeated(story, {1: reading(story), 2: reading(story), 3: reading(story, goals=()), 4: FAILED})
    assert (row["readings"], row["failed"], row["identical_to_the_first"]) == (4, 1, 1)
    # 5 items against 5, and 5 against 4: 2·4/(5 + 4).
    assert row["f1_with_the_first"] == [1.0, 0.8889]
    assert row["lpi"][0] == row["lpi"][1] != row["lpi"][2]


def test_readings_that_kept_nothing_are_not_alike_for_that(story: Story) -> None:
    nothing = reading(story, npcs=(), events=(), hooks=(), goals=(), mysteries=())
    aside = Ungrounded(list="goals", item={"text": "a crown"}, reason="no quote")
    other = replace(nothing, lock=nothing.lock.model_copy(update={"ungrounded": (aside,)}))
    assert repeated(story, {1: nothing, 2: nothing})["identical_to_the_first"] == 1
    assert repeated(story, {1: nothing, 2: other})["identical_to_the_first"] == 0


def test_marks_made_by_hand_are_gold_and_a_models_are_not(locked: Path, ludic: Ludic) -> None:
    (locked / "twin.md").write_text((locked / "tale.md").read_text("utf-8"), encoding="utf-8")
    assert [one.id for one in gold_stories(locked)] == ["tale"]  # the twin is unread
    lock = locked / "tale.ledger.json"
    (locked / "twin.ledger.json").write_text(lock.read_text("utf-8"), encoding="utf-8")
    assert [one.id for one in gold_stories(locked)] == ["tale"]  # and now the same prose
    for file in ("tale", "twin"):
        text = (locked / f"{file}.ledger.json").read_text("utf-8")
        (locked / f"{file}.ledger.json").write_text(
            text.replace('"kind": "hand"', '"kind": "model"'), "utf-8"
        )
    assert gold_stories(locked) == []


def test_second_readings_by_hand_are_laid_beside_the_first(story: Story) -> None:
    assert second_readings([story]) == []
    write_lockfile(load_lockfile(story.lockfile), story.lockfile.with_name("tale.second.ledger.json"))
    (row,) = second_readings([story])
    assert row["kinds"]["people"]["f1"] == 1.0
