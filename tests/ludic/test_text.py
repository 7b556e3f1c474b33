import re
import time
import unicodedata
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludic_deepeval.errors import InputError
from ludic_deepeval.text import (
    Prose,
    folded,
    holds_name,
    name_key,
    paragraphs,
    sentence_starts,
    word_count,
)

FRONT = "---\nid: tale\ntitle: Die Brücke\n---\n"
TALE = (
    "\n\n😀 Zoë Brûlée waited at the bridge.\n"
    "“He never came”, she said – 🕯️ and the café closed.\n"
    "\n"
    "葛含烟站在台口，手里没有刀。\n"
    "The end of it 😀😀 is not permitted here.\n\n"
)


def copies(text: str) -> dict[str, str]:
    found = {}
    for form in ("NFC", "NFD"):
        for name, end in (("LF", "\n"), ("CRLF", "\r\n"), ("CR", "\r")):
            for bom in ("", "\ufeff"):
                found[f"{form}-{name}-{'bom' if bom else 'none'}"] = bom + unicodedata.normalize(
                    form, text
                ).replace("\n", end)
    return found


COPIES = copies(FRONT + TALE)


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
def test_every_copy_of_a_story_has_the_same_body_and_hash(copy: str) -> None:
    body = unicodedata.normalize("NFC", TALE.strip())
    prose = Prose(copy)
    assert prose.body == body
    assert prose.sha256 == sha256(body.encode()).hexdigest()


def independent_place(copy: str, words: str, form: str) -> tuple[int, int, int]:
    """Look the words up line by line in the stored copy, knowing nothing of offsets."""
    wanted = unicodedata.normalize(form, words)
    for number, line in enumerate(re.split(r"\r\n|\r|\n", copy.removeprefix("\ufeff")), 1):
        at = line.find(wanted)
        if at >= 0:
            units = sum(2 if ord(char) > 0xFFFF else 1 for char in line[:at])
            return number, at + 1, units + 1
    raise AssertionError(words)


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize(
    "words",
    [
        "😀 Zoë Brûlée waited",
        "waited at the bridge",
        "and the café closed",
        "手里没有刀",
        "is not permitted here",
    ],
)
def test_offsets_map_to_line_column_and_utf16_column_of_every_copy(name: str, words: str) -> None:
    prose = Prose(COPIES[name])
    [(start, end)] = prose.find(words)
    assert prose.body[start:end] == words
    place = prose.place(start)
    assert (place.line, place.column, place.utf16) == independent_place(COPIES[name], words, name[:3])


def test_places_counted_by_hand() -> None:
    prose = Prose("\ufeff---\r\nid: x\r\n---\r\n\r\n  😀e\u0301 one two three\r\nfour")
    [(start, _)] = prose.find("one two three")
    assert prose.body.startswith("😀é one")
    place = prose.place(start)
    # Two blanks, 😀, e, its accent, a blank: the word is the 7th character and the 8th UTF-16 unit of line 5.
    assert (place.line, place.column, place.utf16) == (5, 7, 8)
    place = prose.place(len(prose.body) - 4)
    assert (place.line, place.column, place.utf16) == (6, 1, 1)


def test_an_offset_past_the_end_gives_the_end() -> None:
    prose = Prose("one two\n\n")
    assert prose.place(10**9) == prose.place(7)
    assert prose.place(-3) == prose.place(0)


# Any text whatever, with much of what is hard about it

LETTERS = "aezE'’“”\"-–—… \u00a0\u3000\t.!?。，！中文한글ガか〜Ａｂ\r\n\u200b\u00ad\ufeff"
JOINED = """
\u0301 \u0323 \u1161 \u11a8 \u3099 \u0344 \u0958 \u2126 \u212b \ufb1d \U0001d15e \U0001f600 \u0f73 \u0f71 \u0c56 \U000e0100
e\u0301 \u1100\u1161\u11a8 \U00011099\U000110ba
"""
HARD = st.sampled_from([*LETTERS, "\r\n", *JOINED.split()])
hard_text = st.lists(HARD | st.characters(codec="utf-8"), max_size=40).map("".join)


@given(hard_text)
def test_nfc_by_clusters_is_nfc(text: str) -> None:
    raw = "x" + text.replace("\x00", "")
    expected = unicodedata.normalize("NFC", re.sub(r"\r\n|\r", "\n", raw)).strip()
    assert Prose(raw).body == expected


@given(hard_text, st.data())
def test_every_place_lies_in_the_file_and_places_rise_with_offsets(text: str, data: st.DataObject) -> None:
    raw = "x" + text
    prose = Prose(raw)
    lines = re.split(r"\r\n|\r|\n", raw)
    last = (0, 0)
    for offset in range(len(prose.body) + 1):
        place = prose.place(offset)
        assert 1 <= place.line <= len(lines)
        assert place.column <= len(lines[place.line - 1]) + 2
        assert (place.line, place.column) >= last
        last = (place.line, place.column)


@given(hard_text, st.data())
def test_a_span_that_is_found_folds_to_the_folded_quote(text: str, data: st.DataObject) -> None:
    prose = Prose("x" + text)
    start = data.draw(st.integers(0, len(prose.body)))
    end = data.draw(st.integers(start, len(prose.body)))
    quote = prose.body[start:end]
    for found_start, found_end in prose.find(quote):
        assert folded(prose.body[found_start:found_end]) == folded(quote)


@given(st.lists(st.sampled_from(["is", "not", "permitted", "to", "café", "中文", "“so”", "…"]), min_size=1))
def test_words_of_the_prose_are_found_where_they_stand(words: list[str]) -> None:
    prose = Prose(" ".join(words))
    for n in range(len(words)):
        before, quote = " ".join(words[:n]), " ".join(words[n:])
        start = len(before) + (1 if before else 0)
        assert (start, len(prose.body)) in prose.find(quote)


@given(hard_text)
def test_folding_twice_is_folding_once_but_for_full_width_punctuation(text: str) -> None:
    # White space beside full-width punctuation goes; once that is folded, white space beside it would stay.
    plain = re.sub(r"[\uff00-\uffef]", "", text)
    # What is dropped between a letter and its accent leaves the two apart, until somebody composes them.
    assert folded(folded(plain)) in {folded(plain), folded(unicodedata.normalize("NFC", folded(plain)))}


@pytest.mark.parametrize(
    ("prose", "quote"),
    [
        ("she said\n  he  never\tcame back", "said he never came"),
        ("she said\u00a0he\u3000never came", "said he never came"),
        ("“He never came”, she said", '"He never came", she said'),
        ("he said ‘never again’ twice", "said 'never again' twice"),
        ("it’s hers and not mine", "it's hers and not mine"),
        ("«He never came» was all", '"He never came" was all'),
        ("he waited — and waited", "he waited - and waited"),
        ("he waited–and waited", "he waited--and waited"),
        ("he waited… and then left", "he waited... and then left"),
        ("Ｈｅ ｎｅｖｅｒ came！", "He never came!"),
        ("他说：好！走吧", "他说:好!走吧"),
        ("葛含烟站在\n台口 手里没有刀", "葛含烟站在台口手里没有刀"),
        ("葛含烟站在台口手里没有刀", "葛含烟 站在 台口　手里没有刀"),
        ("「他没有来」她说", "“他没有来”她说"),
        ("a re\u00adgarded\u200b thing of note", "a regarded thing of note"),
        ("one \u200b two three", "one two three"),
        ("the cafe\u0301 by the sea", "café by the sea"),
    ],
)
def test_a_quote_may_differ_as_a_careful_copy_does(prose: str, quote: str) -> None:
    assert len(Prose(prose).find(quote)) == 1


@pytest.mark.parametrize(
    ("prose", "quote"),
    [
        ("it is not permitted here", "it is permitted here"),
        ("it is not permitted here", "is permitted"),
        ("it is permitted here", "is not permitted"),
        ("she said she can't swim", "she said she can"),
        ("she said she can’t swim", "she said she can"),
        ("she wouldn't go", "t go"),
        ("the artist was here", "he artist was"),
        ("the artist was here", "the art"),
        ("the artist was here", "The artist was"),
        ("room 1234 is empty now", "34 is empty"),
        ("a m\u0303 is no bare letter", "a m"),
        ("he waited… then left", ".. then left"),
        ("他没有刀", "他有刀"),
        ("one two three", "one three"),
        ("anything", "   "),
        ("anything", "\u200b"),
    ],
)
def test_a_quote_that_says_something_else_is_not_found(prose: str, quote: str) -> None:
    assert Prose(prose).find(quote) == []


def test_the_plain_and_the_negated_words_are_told_apart_where_both_stand() -> None:
    body = "It is not permitted by day. It is permitted by night."
    assert Prose(body).find("is permitted") == [(31, 43)]
    assert Prose(body).find("is not permitted") == [(3, 19)]


def test_every_place_of_a_quote_is_given() -> None:
    assert Prose("the bell rang. the bell rang. the bell rang").find("the bell rang") == [
        (0, 13),
        (15, 28),
        (30, 43),
    ]


@pytest.mark.parametrize(
    ("text", "name", "held"),
    [
        ("Ann went home early", "Ann", True),
        ("Ann's brother went home", "Ann", True),
        ("“Ann”, he said, “go", "Ann", True),
        ("Hannah went home early", "Ann", False),
        ("Annabel and Ann went", "Ann", True),
        ("葛含烟站在台口", "含烟", True),
        ("nobody at all was there", "Ann", False),
    ],
)
def test_a_name_stands_in_a_quote_as_whole_words(text: str, name: str, held: bool) -> None:
    assert holds_name(text, name) is held


# Front matter


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("close", ["---", "...", "---  "])
def test_front_matter_is_no_body(end: str, close: str) -> None:
    prose = Prose(end.join(["---", "id: a", "title: b", close, "", "Prose here."]))
    assert prose.body == "Prose here."
    assert prose.front_matter == f"id: a{end}title: b{end}"


def test_a_file_of_front_matter_alone_has_an_empty_body() -> None:
    assert Prose("---\nid: a\n---").body == ""
    assert Prose("---\nid: a\n---\n").body == ""


def test_a_rule_further_down_is_prose() -> None:
    assert Prose("One.\n\n---\n\nTwo.").body == "One.\n\n---\n\nTwo."


def test_front_matter_that_is_never_closed_is_an_error() -> None:
    with pytest.raises(InputError, match=r"^tale\.md: line 1: the front matter is never closed; allowed: "):
        Prose("---\nid: a\n\nOnce upon a time.", "tale.md")


# Words, sentences, paragraphs


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("one two three", 3),
        ("don't stop", 2),
        ("the café — closed!", 3),
        ("cafe\u0301 closed", 2),
        ("中文", 1),
        ("葛含烟站在台", 3),
        ("葛含烟，站在台。", 3),
        ("3 Kythorn 1490", 3),
        ("一 two 三", 2),
        ("カタカナ", 2),
        ("— … !", 0),
    ],
)
def test_words_are_counted_and_a_cjk_character_is_half_a_word(text: str, count: float) -> None:
    assert word_count(text) == count


@pytest.mark.parametrize(
    ("text", "firsts"),
    [
        ("One. Two! Three?", ["One", "Two", "Three"]),
        ("“Go.” She went.", ["“Go", "She"]),
        ("Dr. Vane met Mr. Oss. They left.", ["Dr.", "They"]),
        ("He stopped… Then on.", ["He", "Then"]),
        ("Version 3.5 is out.", ["Version"]),
        ("One\nTwo\n\nThree", ["One", "Two", "Three"]),
        ("他走了。她没有！真的？是的", ["他走了", "她没有", "真的", "是的"]),
        ("“走吧。”她说。", ["“走吧", "她说"]),
        ("  Lead. Next.", ["Lead", "Next"]),
    ],
)
def test_sentences_start_where_a_reader_sees_them_start(text: str, firsts: list[str]) -> None:
    starts = sentence_starts(text)
    assert len(starts) == len(firsts)
    for start, first in zip(starts, firsts, strict=True):
        assert text[start:].startswith(first)


@pytest.mark.parametrize(
    "text", ["!" * 200_000, "\n \n" * 60_000, ".)" * 100_000, "…x" * 100_000, "a. " * 60_000]
)
def test_long_runs_of_sentence_ends_take_no_long_time(text: str) -> None:
    started = time.process_time()
    sentence_starts(text)
    paragraphs(text)
    assert time.process_time() - started < 10  # quadratic time would be minutes


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ("One.\n\nTwo\nstill two.\n \t\n\n\nThree.", ["One.", "Two\nstill two.", "Three."]),
        ("一段。\n二段。\n三段。", ["一段。", "二段。", "三段。"]),
        ("Only one.", ["Only one."]),
        ("", []),
    ],
)
def test_paragraphs_stand_between_blank_lines_or_on_lines_of_their_own(body: str, parts: list[str]) -> None:
    assert [body[start:end] for start, end in paragraphs(body)] == parts


@given(hard_text)
def test_paragraphs_cover_all_that_is_not_white_space_once(text: str) -> None:
    body = Prose("x" + text).body
    spans = paragraphs(body)
    cuts = [0, *(offset for span in spans for offset in span), len(body)]
    assert cuts == sorted(cuts)
    between = [body[start:end] for start, end in zip(cuts[::2], cuts[1::2], strict=True)]
    assert "".join(between).strip() == ""
    assert all(body[start:end].strip() == body[start:end] != "" for start, end in spans)


def test_names_are_compared_without_case_articles_width_and_punctuation() -> None:
    assert name_key("The Reeve") == name_key("reeve")
    assert name_key("Ｏｄｏ Marsh") == name_key("odo  marsh!")
    assert name_key("Zoe\u0308") == name_key("Zoë")
    assert name_key("Odo Marsh") != name_key("Odo Marshal")
    assert name_key("Odo's Mill") == "odos mill"
