"""The Chinese episode: its size, its key, and an archive that agrees with it."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from ludic_deepeval.outcome import Scored
from worth_deepeval.episode import Sheet, load_question, load_sheet
from worth_deepeval.prompt import build_prompt
from worth_deepeval.scoring import score
from worth_deepeval.validate import derivable, validate

FOLDER = Path(__file__).parents[2] / "test_cases" / "episodes" / "WZH01"


@pytest.fixture(scope="module")
def episode() -> Sheet:
    return load_sheet(FOLDER)


@pytest.fixture(scope="module")
def archive() -> str:
    return (FOLDER / "archive.md").read_text(encoding="utf-8")


def test_it_is_sound(episode: Sheet) -> None:
    assert validate(episode) == ()
    assert (episode.episode.id, episode.episode.language, episode.key.status) == ("WZH01", "zh", "final")


def test_it_has_the_size_it_should_have(episode: Sheet) -> None:
    sentences = [one.id for one in episode.episode.sentences]
    assert sentences == [f"S{n:03d}" for n in range(1, len(sentences) + 1)]
    assert 125 <= len(sentences) <= 145
    assert len(episode.episode.candidates) == 9
    assert len(episode.key.clues) == episode.episode.quota.sentences == 20
    assert {clue.weight for clue in episode.key.clues} == {1, 2, 3, 4}
    assert episode.key.clue_total == 41
    assert len({note.sentence for note in episode.key.annotations}) >= 30


def test_the_range_is_what_it_comes_to_by_hand(episode: Sheet) -> None:
    # K: 3 sentences of 4, 2 of 3, 8 of 2 and 7 of 1 are 12 + 6 + 16 + 7 = 41. Participants: 3 x 2 = 6.
    # The others: -8 - 6 - 5 - 4 - 3 - 2 = -28. So -28 at the least, and 41 + 6 = 47 at the most.
    assert isinstance(episode.range, Scored)
    possible = episode.range.value
    assert (possible.minimum, possible.maximum) == (-28, 47)
    assert (possible.clues, possible.participants) == (41, (-28, 6))
    best = score(episode.key.sentences, episode.key.guilty, episode)
    assert isinstance(best, Scored)
    assert best.value.total == 47


def test_a_sentence_that_clears_follows_the_one_that_accuses(episode: Sheet) -> None:
    assert len(episode.key.pairs) >= 2
    for pair in episode.key.pairs:
        assert int(pair.exoneration[1:]) - int(pair.suspicion[1:]) == 1
        assert pair.exoneration in episode.key.sentences
        assert pair.suspicion not in episode.key.sentences


def test_whoever_took_no_part_has_both_sides_and_is_cleared_within_k(episode: Sheet) -> None:
    others = episode.episode.role_ids - episode.key.guilty
    assert {one.role for one in episode.key.distractors} == others
    for one in episode.key.distractors:
        assert set(one.exonerating) <= set(episode.key.sentences)


def test_without_any_one_key_sentence_some_step_is_missing(episode: Sheet) -> None:
    everything = derivable(episode.key.chain, episode.key.sentences)
    verdicts = {one for one in everything if ":" in one}
    for sentence in episode.key.sentences:
        rest = [one for one in episode.key.sentences if one != sentence]
        assert not verdicts <= derivable(episode.key.chain, rest), sentence


def test_the_key_sentences_are_spread_and_no_longer_than_others_are(episode: Sheet) -> None:
    places = sorted(int(one[1:]) for one in episode.key.sentences)
    assert all(later - earlier > 1 for earlier, later in pairwise(places))
    assert all(later - earlier <= 15 for earlier, later in pairwise(places))
    longest = sorted(episode.episode.sentences, key=lambda one: -len(one.text))[:20]
    assert len({one.id for one in longest} & set(episode.key.sentences)) <= 3  # 20 of 139 by chance: 2.9


def test_the_archive_names_what_exists_and_quotes_k_word_for_word(episode: Sheet, archive: str) -> None:
    named = set(re.findall(r"S\d{3}", archive))
    assert named <= episode.episode.sentence_ids
    assert set(re.findall(r"R\d{2}", archive)) == episode.episode.role_ids
    text = {one.id: one.text for one in episode.episode.sentences}
    for clue in episode.key.clues:
        assert f"### {clue.sentence}（权重 {clue.weight}）\n\n> {text[clue.sentence]}\n" in archive
    for fact in episode.key.chain.facts:
        assert f"**{fact.id}**（{'、'.join(fact.needs)}）{fact.text}" in archive


def test_a_prompt_tells_the_story_and_nothing_of_the_key(episode: Sheet) -> None:
    prompt = build_prompt(load_question(FOLDER)).text
    assert "本故事共有20个关键句" in prompt
    for sentence in episode.episode.sentences:
        assert f"[{sentence.id}] {sentence.text}" in prompt
    for clue in episode.key.clues:
        assert clue.function is not None
        assert clue.function not in prompt
    assert episode.episode.canary not in prompt
