"""The archives of the two shipped mysteries have every part that an author's archive must have."""

import re
from pathlib import Path

import pytest

from worth_deepeval.episode import Sheet, load_sheet
from worth_deepeval.validate import derivable

EPISODES = Path(__file__).parents[2] / "test_cases" / "episodes"
PARTS = {  # function, place in the chain, how it was lowered, what is open without it
    "WEN01": ("- Function:", "- Place:", "- Lowered:", "- Without it, open:"),
    "WZH01": ("- 推理作用：", "- 在链中的位置：", "- 怎样压低：", "- 去掉它："),
}


def section(archive: str, language: str, sentence: str) -> str:
    mark = f"**{sentence}** “" if language == "en" else f"### {sentence}（"
    rest = archive[archive.index(mark) + len(mark) :]
    end = re.search(r"(?m)^(\*\*S\d{3}\*\* “|### S\d{3}|## )|^They stand at", rest)
    return rest[: end.start()] if end else rest


@pytest.fixture(params=["WEN01", "WZH01"])
def told(request: pytest.FixtureRequest) -> tuple[Sheet, str]:
    folder = EPISODES / request.param
    return load_sheet(folder), (folder / "archive.md").read_text(encoding="utf-8")


def test_each_key_sentence_has_its_function_its_place_how_it_was_lowered_and_what_is_open_without_it(
    told: tuple[Sheet, str],
) -> None:
    sheet, archive = told
    for sentence in sheet.key.sentences:
        part = section(archive, sheet.episode.language, sentence)
        for name in PARTS[sheet.episode.id]:
            line = re.search(rf"(?m)^{name}(.*)$", part)
            assert line, (sentence, name)
            assert len(line.group(1).strip()) >= 2, (sentence, name)


def test_the_place_in_the_archive_is_the_place_in_the_chain(told: tuple[Sheet, str]) -> None:
    sheet, archive = told
    for sentence in sheet.key.sentences:
        place = re.search(
            rf"(?m)^{PARTS[sheet.episode.id][1]}(.*(?:\n  .*)*)",
            section(archive, sheet.episode.language, sentence),
        )
        assert place
        using = {fact.id for fact in sheet.key.chain.facts if sentence in fact.needs}
        assert using & set(re.findall(r"F\d+", place.group(1))), sentence


def test_what_happened_is_told_hour_by_hour(told: tuple[Sheet, str]) -> None:
    sheet, archive = told
    times = re.findall(r"\d{1,2}[.:]\d{2}", archive[: archive.index(sheet.key.sentences[0])])
    assert len(set(times)) >= 10


def test_each_who_took_no_part_is_cleared_by_sentences_that_the_archive_names(
    told: tuple[Sheet, str],
) -> None:
    sheet, archive = told
    rows = [line for line in archive.splitlines() if line.startswith("|")]
    for one in sheet.key.distractors:
        row = next(line for line in rows if one.role in line)
        for sentence in one.exonerating:
            assert sentence in row, (one.role, sentence)


def test_without_any_one_premise_the_answer_is_open(told: tuple[Sheet, str]) -> None:
    sheet, _ = told
    whole = {f"{one.role}:{one.verdict}" for one in sheet.key.chain.conclusions}
    assert whole <= derivable(sheet.key.chain, sheet.key.sentences)
    for sentence in sheet.key.sentences:
        rest = [one for one in sheet.key.sentences if one != sentence]
        assert not whole <= derivable(sheet.key.chain, rest), sentence
