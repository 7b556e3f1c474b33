"""The English episode: it is sound, it has the size that was asked for, and its archive speaks of the same sentences."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from ludic_deepeval.outcome import Scored
from worth_deepeval.episode import Sheet, load_question, load_sheet
from worth_deepeval.scoring import score
from worth_deepeval.validate import derivable, validate

FOLDER = Path(__file__).parents[2] / "test_cases" / "episodes" / "WEN01"
KEY = (
    "S021", "S027", "S037", "S055", "S064", "S072", "S077", "S082", "S096", "S100", "S115", "S124",
)  # fmt: skip


@pytest.fixture(scope="module")
def sheet() -> Sheet:
    return load_sheet(FOLDER)


@pytest.fixture(scope="module")
def archive() -> str:
    return (FOLDER / "archive.md").read_text(encoding="utf-8")


def test_it_is_sound(sheet: Sheet) -> None:
    assert validate(sheet) == ()
    assert sheet.key.status == "final"


def test_its_size(sheet: Sheet) -> None:
    episode, key = sheet.episode, sheet.key
    assert [one.id for one in episode.sentences] == [f"S{n:03d}" for n in range(1, 138)]
    assert len({one.text for one in episode.sentences}) == 137
    assert [one.id for one in episode.candidates] == [f"R{n:02d}" for n in range(1, 7)]
    assert key.sentences == KEY
    assert set(sheet.weights.values()) == {3}
    assert episode.quota.sentences == load_question(FOLDER).key_size == 12
    assert sheet.points == {"R01": -5, "R02": -5, "R03": 5, "R04": -5, "R05": 7, "R06": 5}
    assert len({note.sentence for note in key.annotations}) >= 30
    assert {one.role for one in key.distractors} == {"R01", "R02", "R04"}


def test_the_range(sheet: Sheet) -> None:
    # Least: no key sentence, and the three who took no part, 3 × −5 = −15.
    # Most: twelve key sentences, 12 × 3 = 36, and the three who did, 7 + 5 + 5 = 17; 36 + 17 = 53.
    assert isinstance(sheet.range, Scored)
    possible = sheet.range.value
    assert (possible.minimum, possible.maximum) == (-15, 53)
    assert (possible.clues, possible.participants) == (36, (-15, 17))
    # The bait: the inquest's story and the three loud suspects. S070, S104 and S110 are outside of K: 0 − 15.
    bait = score(("S070", "S104", "S110"), ("R01", "R02", "R04"), sheet)
    assert isinstance(bait, Scored)
    assert bait.value.total == -15


def test_pairs_are_neighbours_and_only_the_quiet_half_is_key(sheet: Sheet) -> None:
    pairs = [(one.suspicion, one.exoneration, one.target) for one in sheet.key.pairs]
    assert pairs == [("S063", "S064", "R02"), ("S071", "S072", "R04"), ("S114", "S115", "R01")]
    for suspicion, exoneration, _ in pairs:
        assert int(exoneration[1:]) - int(suspicion[1:]) == 1
        assert exoneration in KEY
        assert suspicion not in KEY


def test_key_sentences_do_not_stand_together(sheet: Sheet) -> None:
    places = [int(one[1:]) for one in sheet.key.sentences]
    assert min(later - earlier for earlier, later in pairwise(places)) >= 4


@pytest.mark.parametrize(
    ("missing", "open_then"),
    [
        ("S037", {"R03:participant", "R06:participant"}),
        ("S064", {"R02:excluded"}),
        ("S072", {"R01:excluded", "R02:excluded", "R03:participant", "R04:excluded"}),
        ("S100", {"R03:participant"}),
        ("S082", {"R01:excluded", "R02:excluded", "R03:participant", "R04:excluded", "R05:participant",
                  "R06:participant"}),
    ],
)  # fmt: skip
def test_what_remains_open_without_a_premise(sheet: Sheet, missing: str, open_then: set[str]) -> None:
    verdicts = {f"{one.role}:{one.verdict}" for one in sheet.key.chain.conclusions}
    known = derivable(sheet.key.chain, [one for one in KEY if one != missing])
    assert verdicts - known == open_then


def test_the_archive_speaks_of_this_story(sheet: Sheet, archive: str) -> None:
    assert set(re.findall(r"\bS\d+\b", archive)) <= sheet.episode.sentence_ids
    assert set(re.findall(r"\bR\d+\b", archive)) == sheet.episode.role_ids
    text = {one.id: one.text for one in sheet.episode.sentences}
    for one in KEY:
        assert f"**{one}** “{text[one]}”" in archive
    for fact in sheet.key.chain.facts:
        assert f"**{fact.id}**" in archive


def test_no_reader_gets_the_key(sheet: Sheet) -> None:
    shown = "\n".join((*sheet.episode.numbered(), sheet.episode.scope, sheet.episode.participant_definition))
    assert sheet.episode.canary not in shown
    assert not any(clue.function and clue.function in shown for clue in sheet.key.clues)
