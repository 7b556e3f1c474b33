"""A story cut into sentences: closing quotation marks in English and Chinese, and what a person is asked to look at."""

from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludic_deepeval.errors import InputError
from worth_deepeval.authoring.splitting import MAX_PARAGRAPH, MAX_TEXT, Language, split_story
from worth_deepeval.episode import load_sheet

EPISODES = Path(__file__).parents[2] / "test_cases" / "episodes"


def ends(sentences: tuple[str, ...]) -> list[int]:
    """Where each sentence ends, white space not counted."""
    return list(accumulate(len("".join(one.split())) for one in sentences))


@pytest.mark.parametrize(("name", "language", "wrong"), [("WEN01", "en", 2), ("WZH01", "zh", 4)])
def test_two_stories_split_by_hand_come_out_alike_and_every_difference_is_listed(
    name: str, language: Language, wrong: int
) -> None:
    by_hand = tuple(one.text for one in load_sheet(EPISODES / name).episode.sentences)
    found = split_story(("" if language == "zh" else " ").join(by_hand), language)
    theirs, ours = ends(by_hand), ends(found.sentences)
    differ = set(theirs) ^ set(ours)
    assert len(differ) <= wrong
    doubted = {one.sentence for one in found.doubts}
    for place in differ:
        # A cut too few lies inside a sentence; one too many, where a sentence begins.
        at = sum(end < place for end in ours)
        assert at in doubted or at + 1 in doubted, found.sentences[at]
    assert len(doubted) < len(by_hand) / 10  # a list that is worth reading


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("zh", ["他说：“我不去。”", "然后他走了。"]),
        ("zh", ["“查死！”", "下午我表哥骑车去县里送公函。"]),
        ("zh", ["她问：「谁在那里？」", "没有人回答。"]),
        ("zh", ["他念了一遍（声音很低）。", "谁也没听见。"]),
        ("en", ["“I will not go.”", "Then he left."]),
        ("en", ['"Who is there?"', "Nobody answered."]),
        ("en", ["‘Not tonight.’", "He shut the door."]),
        ("en", ["Mr Ombler saved it.", "Dr. Watson did not."]),
        ("en", ["It was 3.5 miles to St. Ives.", "We walked."]),
    ],
)
def test_a_closing_quotation_mark_stays_with_its_sentence(language: Language, sentences: list[str]) -> None:
    text = ("" if language == "zh" else " ").join(sentences)
    assert list(split_story(text, language).sentences) == sentences


@pytest.mark.parametrize(
    ("language", "text", "code"),
    [
        ("zh", "“先不要响。”老韦说。", "after-quotation"),
        ("zh", "我喊：“着火！着火！”", "mark-inside"),
        ("zh", "“我没有……”他停住了。", "mark-inside"),  # three dots may end a sentence or not
        ("zh", "厂里静下来……灯灭了。", "mark-inside"),
        ("en", "He waited… Nothing came.", "mark-inside"),
        ("en", '"Stop!" Anna Vane said. Then she ran.', "after-quotation"),
        ("en", "I told her in May. I have known people.", "mark-inside"),
        ("en", "It was flatter than his own top C. From then on he sat.", "abbreviation"),
        ("en", "word " * 100 + ".", "very-long"),
        ("en", "One came. * * *", "very-short"),
    ],
)
def test_a_doubtful_place_is_listed_and_not_decided(language: Language, text: str, code: str) -> None:
    assert code in {one.code for one in split_story(text, language).doubts}


def test_a_speech_is_cut_only_where_that_is_asked_for() -> None:
    text = 'She nodded. "I came at nine. Mr. Vane was there... I think. Is that all?" He wrote it down.'
    assert split_story(text, "en").sentences == (
        "She nodded.",
        '"I came at nine. Mr. Vane was there... I think. Is that all?"',
        "He wrote it down.",
    )
    assert split_story(text, "en", speeches=True).sentences == (
        "She nodded.",
        '"I came at nine.',
        "Mr. Vane was there... I think.",
        'Is that all?"',
        "He wrote it down.",
    )


def test_line_ends_are_white_space_and_blank_lines_end_paragraphs() -> None:
    found = split_story("\ufeffThe bridge\r\nwas shut.\r\n\r\nA heading\r\n\r\nIt rained.", "en")
    assert found.sentences == ("The bridge was shut.", "A heading", "It rained.")
    assert found.begins == {0, 1, 2}
    assert split_story("桥在星期五\n关了。\n\n下雨。", "zh").sentences == ("桥在星期五关了。", "下雨。")
    assert split_story('"Go on.\n"And she went.\nAll of it."', "en").begins == {0, 1, 2}


def test_lines_that_a_person_has_cut_stay_as_they_are() -> None:
    found = split_story("One. Two.\n\n  three \n", "en", lines=True)
    assert (found.sentences, found.doubts) == (("One. Two.", "three"), ())


@settings(max_examples=150, deadline=None)
@given(
    text=st.text(alphabet='ab M.r!?“”"‘’…\n\r。！”」「（） 人说', max_size=120),
    language=st.sampled_from(["en", "zh"]),
)
def test_nothing_but_white_space_is_lost(text: str, language: Language) -> None:
    for speeches in (False, True):
        found = split_story(text, language, speeches=speeches)
        assert "".join("".join(found.sentences).split()) == "".join(text.split())
        assert all(one.strip() == one and one for one in found.sentences)


def test_a_story_without_end_is_refused_before_any_work() -> None:
    for text, said in (
        ("x" * (MAX_TEXT + 1), "300,001"),
        ("“" * (MAX_PARAGRAPH + 1), "a paragraph of 40,001"),
    ):
        with pytest.raises(InputError) as caught:
            split_story(text, "en")
        assert said in str(caught.value)


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "sentencex", None)
    with pytest.raises(InputError, match=r"ludic-worth\[episodes\]"):
        split_story("One. Two.", "en")
    assert split_story("One.\nTwo.", "en", lines=True).sentences == ("One.", "Two.")
