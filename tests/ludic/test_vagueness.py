"""The Strategic-Vagueness Rule, token by token (Eq 10 and 11; decision 5 of the design)."""

from fractions import Fraction
from typing import Any

import pytest

from ludic_deepeval.ledger import Event, FactLedger, Hook, Npc
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.vagueness import Names, Vagueness, measure

LIMIT = Fraction(30, 100)


def known(*more: str, protagonist: str = "nobody", **lists: Any) -> Names:
    return Names(FactLedger(schema_version=1, protagonist=protagonist, **lists), more)


def counted(span: str, names: Names | None = None) -> Vagueness:
    found = measure(span, names or known())
    assert isinstance(found, Vagueness)
    return found


def named(span: str, *names: str) -> tuple[str, ...]:
    return counted(span, known(*names)).named


# Tokens


def test_tokens_are_split_at_white_space_of_any_kind() -> None:
    assert counted("somebody\tcame\n by  night\u00a0unseen").tokens == 5


@pytest.mark.parametrize(
    "span", ["— killed , by “ them ” …", "* killed ** by # them _ !", "killed ' by - them"]
)
def test_a_token_of_punctuation_alone_is_no_token(span: str) -> None:
    assert counted(span).tokens == 3


@pytest.mark.parametrize("mark", ['"{}"', "({})", "*{}*", "_{}_", "“{},”", "[{}]…", "—{}—", "**{}**!"])
def test_surrounding_punctuation_does_not_hide_a_name(mark: str) -> None:
    assert named(f"they went to {mark.format('Thay')} at last") == ("Thay",)


@pytest.mark.parametrize("word", ["D'Artagnan", "D’Artagnan", "Half-Moon", "O'Dell's"])
def test_an_inner_apostrophe_or_hyphen_keeps_a_token_whole(word: str) -> None:
    found = counted(f"they met {word} there")
    assert found.tokens == 4
    assert found.named == (word,)


def test_a_contraction_is_one_token_and_no_name() -> None:
    found = counted("nobody's told them they didn't")
    assert (found.tokens, found.named) == (5, ())


# Names


def test_a_capital_inside_a_sentence_is_a_name() -> None:
    assert named("it was done by Captain Hook alone") == ("Captain", "Hook")


def test_a_capital_at_the_start_of_a_sentence_is_no_name_by_itself() -> None:
    assert named("Somebody came. Nobody spoke! Everyone left? Silence fell… Then\nDarkness") == ()


def test_a_known_name_counts_at_the_start_of_each_sentence() -> None:
    assert named("Kaelen came. Kaelen spoke! Kaelen left", "Kaelen Vireth") == ("Kaelen",) * 3


@pytest.mark.parametrize("token", ["Kaelen's", "Kaelen’s", "Kaelen", "Kaelen,"])
def test_a_possessive_of_a_known_name_is_that_name(token: str) -> None:
    assert len(named(f"{token} father was killed", "Kaelen")) == 1


def test_the_possessive_of_a_name_that_ends_in_s_is_that_name() -> None:
    assert named("Dorcas' father was killed", "Dorcas") == ("Dorcas",)
    assert named("Dorcas’s father was killed", "Dorcas") == ("Dorcas’s",)


def test_an_article_in_a_known_name_makes_no_name_of_articles() -> None:
    # Of "The Red Wizards of Thay" the words Red, Wizards and Thay are names; The and of are not.
    names = ("The Red Wizards of Thay",)
    assert named("The door was open", *names) == ()
    assert named("Wizards came", *names) == ("Wizards",)
    assert named("Of this they spoke", *names) == ()


def test_every_name_of_the_ledger_is_known() -> None:
    names = known(
        protagonist="Kaelen",
        npcs=(Npc(id="n", name="Ilse", aliases=("Magpie",), faction="Zhentarim"),),
        hooks=(Hook(id="h", text="x", tier=1, location="Candlekeep"),),
        events=(Event(id="e", phase="P1", summary="x", location="Waterdeep", factions=("Harpers",)),),
    )
    for name in ("Kaelen", "Ilse", "Magpie", "Zhentarim", "Candlekeep", "Waterdeep", "Harpers"):
        assert counted(f"{name} knows why", names).named == (name,)


def test_a_lower_case_name_is_not_told_from_a_word() -> None:
    """§3.6: the rule "under-counts lowercase proper nouns"."""
    assert named("they say thay did it", "Thay") == ()


@pytest.mark.parametrize("title", ["Dr.", "Mr.", "Mrs.", "St.", "Capt."])
def test_the_point_of_a_title_ends_no_sentence(title: str) -> None:
    core = title.removesuffix(".")
    assert named(f"they sent for {title} Vane at once") == (core, "Vane")
    assert named(f"{title} Vane came") == ("Vane",)


@pytest.mark.parametrize("pronoun", ["I", "I'm", "I’ve", "I'll", "I'd", "“I”"])
def test_the_pronoun_i_is_never_a_name(pronoun: str) -> None:
    assert named(f"what {pronoun} said then") == ()
    assert named(f"{pronoun} said", "I Tatti") == ()


def test_a_name_that_begins_with_i_is_a_name() -> None:
    assert named("what Ivan and Ilse said") == ("Ivan", "Ilse")


# Dates


@pytest.mark.parametrize("token", ["12", "12th", "1492", "3rd,", "DR1372", "12:30", "１２", "r2"])
def test_a_token_with_a_digit_counts_wherever_it_stands(token: str) -> None:
    assert len(named(f"they left on {token} at dawn")) == 1
    assert len(named(f"{token} was the number")) == 1


GREGORIAN = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
HARPTOS = [
    "Hammer",
    "Alturiak",
    "Ches",
    "Tarsakh",
    "Mirtul",
    "Kythorn",
    "Flamerule",
    "Eleasis",
    "Eleint",
    "Marpenoth",
    "Uktar",
    "Nightal",
]


@pytest.mark.parametrize("month", [*GREGORIAN, *HARPTOS])
def test_a_month_with_a_capital_counts_at_the_start_of_a_sentence_too(month: str) -> None:
    assert named(f"{month} came and went") == (month,)
    assert named(f"it ended in {month}, they say") == (month,)
    assert named(f"{month}'s end was cold") == (f"{month}'s",)


@pytest.mark.parametrize("word", ["may", "march", "hammer", "august"])
def test_a_month_without_a_capital_is_a_word(word: str) -> None:
    assert named(f"they {word} in the night") == ()


def test_a_number_in_words_is_no_date() -> None:
    assert named("twelve of them left on the third day") == ()


# Eq 10 and 11


@pytest.mark.parametrize("span", ["", " ", "…", "— , !"])
def test_an_empty_span_is_wholly_vague_and_a_hole(span: str) -> None:
    found = counted(span)
    assert (found.tokens, found.density, found.index) == (0, 0, 1)
    assert found.is_hole(LIMIT)


def test_a_density_of_exactly_thirty_hundredths_passes_and_one_name_more_does_not() -> None:
    three = counted("in the end they asked Ilse and Kaelen of Thay")  # 3 of 10
    four = counted("in the end they asked Ilse and Kaelen of Thay Reach")  # 4 of 11
    assert (three.density, four.density) == (LIMIT, Fraction(4, 11))
    assert three.index == Fraction(70, 100)
    assert three.is_hole(LIMIT)
    assert not four.is_hole(LIMIT)


def test_thirty_in_a_hundred_is_compared_exactly() -> None:
    # In floats 1 − 0.3 ≥ 0.7 holds, but 3 · 0.1 ≤ 0.3 does not; the rule must not depend on how it is written.
    assert Vagueness(100, ("x",) * 30).is_hole(LIMIT)
    assert not Vagueness(100, ("x",) * 31).is_hole(LIMIT)
    assert not Vagueness(1_000_000_007, ("x",) * 1).is_hole(Fraction(1, 1_000_000_008))


# Chinese


def test_a_known_chinese_name_and_a_date_are_told() -> None:
    found = counted("凯伦十月十二日死了", known("凯伦"))
    assert found.named == ("凯伦", "十月", "十二日")
    assert found.tokens >= 4
    assert not found.is_hole(LIMIT)


def test_a_longer_chinese_name_is_not_cut_into_a_shorter_one() -> None:
    assert counted("司马懿来了", known("司马", "司马懿")).named == ("司马懿",)


@pytest.mark.parametrize(
    ("span", "dates"),
    [
        ("民国十二年", ("民国十二年",)),
        ("一九四九年十月一日", ("一九四九年", "十月", "一日")),
        ("1923年3月", ("1923年", "3月")),
        ("１９２３年", ("１９２３年",)),
        ("正月初五", ("正月", "初五")),
        ("二十世纪", ("二十世纪",)),
        ("八十年代", ("八十年代",)),
        ("甲子年", ("甲子年",)),
        ("中秋", ("中秋",)),
        ("亥时", ("亥时",)),
    ],
)
def test_chinese_and_arabic_dates_are_told(span: str, dates: tuple[str, ...]) -> None:
    assert counted(span).named == dates


@pytest.mark.parametrize(
    "span",
    [
        "有人在夜里离开了，没有人知道为什么",
        "当初没有人知道",  # 初 without a day: "at first"
        "最初的人是谁",
        "在那个年代没有人说话",  # "in those days"
        "有一点奇怪",  # "a little strange"
        "他一时说不出话",  # "for a moment"
        "自己未必知道",  # 己未 is not a year here: "need not know oneself"
        "他还是孩子时来过",  # nor 子时 an hour: "when a child"
        "王子时常来",
    ],
)
def test_chinese_words_that_look_like_parts_of_dates_are_no_dates(span: str) -> None:
    assert counted(span).named == ()


def test_a_vague_chinese_span_is_a_hole() -> None:
    found = counted("有人在夜里离开了，没有人知道为什么")
    assert found.index == 1
    assert found.is_hole(LIMIT)


def test_chinese_punctuation_is_no_token() -> None:
    assert counted("谁？").tokens == counted("谁").tokens == 1


def test_a_latin_name_in_a_chinese_span_is_told_by_its_capital() -> None:
    assert counted("有人说是Kaelen做的，没有人看见").named == ("Kaelen",)


# Other scripts


@pytest.mark.parametrize(
    "span",
    [
        "لا أحد يعرف من قتل الملك",
        "Никто не знает, кто это сделал",
        "誰がやったのか",
        "그 누구도 모른다",
        "इसे किसने किया",
    ],
)
def test_a_script_in_which_names_cannot_be_told_is_unscored(span: str) -> None:
    found = measure(span, known())
    assert isinstance(found, Unscored)
    assert found.cause == "script"


def test_a_foreign_word_in_an_english_span_does_not_hinder() -> None:
    assert counted("they said Иван did it, or nobody did").named == ("Иван",)


def test_letters_with_accents_are_latin() -> None:
    assert named("they went to Faerûn and met Élodie") == ("Faerûn", "Élodie")
    assert named("Élodie came", "Élodie") == ("Élodie",)
