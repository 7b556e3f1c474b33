"""The reply that a moderator pastes: what works, the smallest fixes, no figures, whatever the player wrote."""

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludic_deepeval.policy import Policy
from ludic_deepeval.report.reply import MAX_WORDS, reply_to
from ludic_deepeval.report.reply_words import WORDS
from ludic_deepeval.submission import Request, judge_submission
from ludic_deepeval.text import word_count

SUBMISSIONS = Path(__file__).parent / "data" / "submissions"
NAMES = sorted(path.stem for path in SUBMISSIONS.glob("*.json"))
JARGON = re.compile(
    r"\d|\b(?:LPI|PCV|RTN|UCR|P[123]|tier|hook|gate|gravity|immediacy|linkage|score|ledger)\b", re.IGNORECASE
)


def reply(name: str, policy: Policy | None = None, **more: Any) -> str:
    request = json.loads((SUBMISSIONS / f"{name}.json").read_text(encoding="utf-8")) | more
    said = reply_to(judge_submission(Request.model_validate(request), policy))
    assert said is not None
    return said


def of(text: str, policy: Policy | None = None, profile: str = "submission", **lists: Any) -> str | None:
    ledger = {"schema_version": 1, "protagonist": "Mara"} | lists
    request = Request.model_validate({"version": 1, "text": text, "ledger": ledger, "profile": profile})
    return reply_to(judge_submission(request, policy))


def item(number: int, quote: str, **fields: Any) -> dict[str, Any]:
    return {"id": f"i{number}", "evidence": [{"quote": quote}], **fields}


# As a moderator reads them


def test_the_lone_wolf_is_told_the_papers_own_advice() -> None:
    assert reply("lone-wolf") == (
        "Thank you for Kael Dravenmoor. The past you describe holds together."
        " What is still missing is something that cannot wait once play begins."
        " Your character has no active enemies; consider adding an unresolved debt that somebody is on the way to collect."
        " “raiders burned Harrow's Ford and killed his whole family” is strong but not urgent;"
        " consider bringing it to the door: who wants an answer for it, and why this week?"
        " Then send it in again; we would be glad to read it."
    )


def test_what_works_comes_first_and_what_is_wished_for_is_asked_for() -> None:
    assert reply("midsummer-loaf") == (
        "Thank you for Tilda Quill. What works: three people have unfinished business with Tilda Quill,"
        " and one thread could open the very next session."
        " What is still missing is something that cannot wait once play begins."
        " The next move could be made by Hob Tansley;"
        " consider letting them arrive, write or send somebody just before play begins."
        " “Tilda would like to bake the midsummer loaf” is only a wish so far;"
        " consider saying what your character is doing about it."
        " Then send it in again; we would be glad to read it."
    )


def test_a_contradiction_is_told_with_the_words_of_both_sides() -> None:
    assert reply("speech-of-the-dead") == (
        "Thank you for Brannick Oake. What works: Wren and Joss Keever have unfinished business with Brannick Oake."
        " Two places do not fit together: “My father Aldous died in the Great Collapse” and"
        " “my father Aldous gave the longest speech of the night”. Aldous is dead in the first and back in the second."
        " If it is meant, one sentence on how it came about is enough; otherwise please change one of the two."
    )


def test_what_is_ready_is_told_so_and_why() -> None:
    assert reply("short-and-ready") == (
        "Thank you for Mara Venn. This is ready to play. Three people have unfinished business with Mara Venn,"
        " three threads could open the very next session, and your character has something to go after."
        " Nothing needs to change."
    )


def test_where_there_is_nothing_the_reply_says_what_to_write() -> None:
    for request in (
        json.loads((SUBMISSIONS / "spam.json").read_text(encoding="utf-8")),
        {"version": 1, "text": "!!"},
    ):
        assert reply_to(judge_submission(Request.model_validate(request))) == (
            "Thank you for sending this in. There is no character in it yet that a game could begin with."
            " Tell us in a few sentences who they are, what they are after right now, and who stands in their way."
        )


def test_a_chinese_submission_gets_a_chinese_reply() -> None:
    assert reply("half-ground-ink") == (
        "谢谢你投来沈砚秋的故事。写得好的地方：韩槐、冯七都和沈砚秋有事没了结，还留着一个让人惦记的谜。"
        "还缺一样：一开场就等不得的事。"
        "“当夜就不见了，只留下一方磨了一半的墨”很有分量，只是还不急；"
        "不妨让它找上门来：有谁要为它讨个说法，又为什么偏偏是这几天？"
        "你的角色还没有想做的事；不妨写写接下来打算做什么，又为什么等不得。"
        "改好后欢迎再投，我们很想读到。"
    )
    assert reply("half-ground-ink", language="en").startswith(
        "Thank you for 沈砚秋. What works: 韩槐 and 冯七 have"
    )


def test_an_injected_instruction_is_not_repeated_and_nobody_is_called() -> None:
    said = reply("injection")
    assert said.startswith("Thank you for Zed. What works: Nim has unfinished business with Zed.")
    for word in ("accept", "approved", "@", "<", "everyone"):
        assert word not in said


# What holds of every reply


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", NAMES)
def test_no_reply_has_figures_or_terms_or_is_long(name: str, language: str) -> None:
    for profile in ("submission", "one-shot", "campaign"):
        said = reply(name, language=language, profile=profile)
        assert not JARGON.search(said)
        assert word_count(said) <= MAX_WORDS
        assert ("谢谢" in said) is (language == "zh")


def test_a_reply_that_would_be_too_long_leaves_out_what_it_can_spare() -> None:
    """Six words of a name and sixteen of a quote are the most that is repeated of each."""
    name = "Old Tom of the Far Low Country"
    died = f"{name} died one night in the cold and the wet of the old sea wall"
    back = f"{name} came up the lane to me on the day of the fair as he"
    wish = "I do so want to see all of it once more in the sun if I may"
    flat = {"summary": "s", "immediacy": 1, "gravity": 1, "linkage": 1, "divergence": 1}
    npc = {"id": "tom", "name": name, "status": "alive", "tie": "ally", "unresolved": True}
    lists = {
        "npcs": [npc | {"evidence": [{"quote": died}]}],
        "goals": [item(0, wish, text="t")],
        "events": [
            item(1, died, phase="P1", relations=[{"npc": "tom", "status": "dead"}], **flat),
            item(2, back, phase="P3", relations=[{"npc": "tom", "status": "alive"}], **flat),
        ],
    }
    said = of(f"{died}. {back} said. {wish}.", protagonist="I Am He Who Is To Go On", **lists)
    assert said is not None
    assert word_count(said) <= MAX_WORDS
    assert f"“{name} died one night in the cold and the wet…”" in said  # 7 + 9 words
    assert "Old Tom of the Far Low… is dead in the first and back in the second." in said
    assert said.endswith("otherwise please change one of the two.")  # what else is missing can wait


def test_what_has_no_verdict_has_no_reply() -> None:
    assert reply_to(judge_submission(Request(version=1, text="Mara waits here now."))) is None
    assert of("Mara waits here now.") is None


def test_a_thin_submission_that_passes_gets_one_idea_and_no_demand() -> None:
    text = "Mara owes the ferryman, and he is at the door."
    event = {"phase": "P3", "summary": "s", "immediacy": 10, "gravity": 10, "linkage": 10, "divergence": 10}
    said = of(text, events=[item(0, "he is at the door", **event)])
    assert said == (
        "Thank you for Mara. We can take this as it is. One idea, only if you like it: Your character has no active"
        " enemies; consider adding an unresolved debt that somebody is on the way to collect."
    )


def test_a_contradiction_that_also_falls_short_gets_its_first_idea_at_once() -> None:
    text = "My father died in the mine. My father came to dinner."
    flat = {"summary": "s", "immediacy": 1, "gravity": 1, "linkage": 1, "divergence": 1}
    events = [
        item(
            0, "My father died in the mine", phase="P1", relations=[{"npc": "i2", "status": "dead"}], **flat
        ),
        item(1, "My father came to dinner", phase="P3", relations=[{"npc": "i2", "status": "alive"}], **flat),
    ]
    said = of(
        text, npcs=[item(2, "My father died in the mine", name="My father", status="alive")], events=events
    )
    assert said is not None
    assert "What works" not in said
    assert "holds together" not in said
    assert said.endswith(
        "What is still missing is something that cannot wait once play begins. Your character has no active enemies;"
        " consider adding an unresolved debt that somebody is on the way to collect."
    )


def test_a_mystery_that_the_team_forbids_is_named_in_the_players_words() -> None:
    text = "On October 12 Mara met Hook. He is at the door."
    strong = {"phase": "P3", "summary": "s", "immediacy": 10, "gravity": 10, "linkage": 10, "divergence": 10}
    lists = {
        "mysteries": [item(0, "On October 12 Mara met Hook", text="On October 12 Mara met Hook")],
        "events": [item(1, "He is at the door", **strong)],
    }
    said = of(text, Policy(profile="submission", fail_on=("mysteries",)), **lists)
    assert said is not None
    assert "“On October 12 Mara met Hook” tells us nearly everything; consider naming less." in said
    assert "still missing" not in said


def test_both_languages_say_something_for_every_change_and_fault() -> None:
    english, chinese = WORDS["en"], WORDS["zh"]
    assert set(english.edits) == set(chinese.edits)
    assert set(english.faults) == set(chinese.faults)
    assert set(english.not_yet) == set(chinese.not_yet)
    for words in (english, chinese):
        assert len(words.numbers) == 11
        texts = [value for value in vars(words).values() if isinstance(value, str)] + [*words.edits.values()]
        assert not any(JARGON.search(text) for text in texts)


def test_the_players_words_are_harmless_wherever_they_are_pasted() -> None:
    bad = "<b>@here</b> \u202eevil\u0007 words"
    text = f"{bad} came to us today. And more was said of it."
    name = "@everyone <script>"
    people = [item(0, f"{bad} came to us today", name=bad, tie="enemy", unresolved=True)]
    request = {
        "version": 1,
        "text": text,
        "ledger": {"schema_version": 1, "protagonist": name, "npcs": people, "goals": [item(1, f"{bad} came to us today", text="t", proactive=False)]},
    }  # fmt: skip
    said = reply_to(judge_submission(Request.model_validate(request)))
    assert said is not None
    assert "＠everyone ‹script›" in said
    assert not re.search("[@<>\u202e\u0007]", said)


_any_text = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("a b　\n@<“{}%字"), min_size=1, max_size=60
)
_statuses = st.sampled_from(["alive", "dead", "missing"])
_ties = st.sampled_from(["enemy", "creditor", "family", "other"])
_number = st.integers(1, 10)


@settings(max_examples=25)
@given(
    _any_text,
    st.lists(st.tuples(_any_text, _statuses, _ties, st.booleans()), max_size=4),
    st.lists(st.tuples(_any_text, st.integers(1, 3), st.booleans()), max_size=4),
    st.lists(st.tuples(_number, _number, _number, _number), max_size=4),
    st.sampled_from(["en", "zh"]),
    st.sampled_from(["submission", "campaign"]),
)
def test_any_reading_gets_a_short_clean_reply(
    who: str, people: Any, threads: Any, rows: Any, language: Any, profile: Any
) -> None:
    """Every name and quote is text of any kind; the quotes are found because they are the text."""
    lines = [f"so {name} it is then" for name, *_ in people] + [
        f"yes {words} it goes on" for words, *_ in threads
    ]
    request = {
        "version": 1,
        "text": "\n\n".join([*lines, "and here it ends now"]),
        "language": language,
        "profile": profile,
        "ledger": {
            "schema_version": 1,
            "protagonist": f"x{who}",
            "npcs": [
                item(n, lines[n], name=f"{name}x", aliases=["it is"], status=status, tie=tie, unresolved=open_)
                for n, (name, status, tie, open_) in enumerate(people)
            ],
            "hooks": [
                item(n, lines[len(people) + n], text="t", tier=tier, open=open_)
                for n, (_, tier, open_) in enumerate(threads)
            ],
            "events": [
                item(n, "and here it ends now", phase="P1", summary="s", immediacy=i, gravity=g, linkage=v, divergence=d)
                for n, (i, g, v, d) in enumerate(rows)
            ],
        },
    }  # fmt: skip
    verdict = judge_submission(Request.model_validate(request))
    said = reply_to(verdict)
    assert (said is None) is (verdict.word is None)
    if said is not None:
        assert word_count(said) <= MAX_WORDS
        assert not any(unicodedata.category(char) in {"Cc", "Zl", "Zp"} or char in "@<>" for char in said)
        assert said == reply_to(judge_submission(Request.model_validate(request)))
