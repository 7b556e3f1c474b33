"""What a prompt says, and what it must not know."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ludic_deepeval.errors import InputError
from ludic_deepeval.llm.tokens import least_tokens, most_tokens
from worth_deepeval.conditions import Condition, read_condition
from worth_deepeval.episode import load_question
from worth_deepeval.prompt import build_prompt
from worth_deepeval.response import FIELDS

Write = Callable[[Path, dict[str, Any]], Path]
EPISODES = Path(__file__).parents[2] / "test_cases" / "episodes"


def test_a_prompt_has_the_story_the_candidates_seven_fields_and_nine_rules(folder: Path) -> None:
    text = build_prompt(load_question(folder)).text
    for field in FIELDS:
        assert f'"{field}"' in text
    assert (
        [line for line in text.splitlines() if line.strip()[:2] in {f"{n}." for n in range(1, 10)}][-1]
        .strip()
        .startswith("9.")
    )
    assert "[S001] The bridge was shut on Friday." in text
    assert "[R02] Ben: a ferryman" in text
    assert "has 4 key sentences" in text
    assert "at most 4 sentences" in text
    assert "how many are right is not disclosed" in text


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    weights=st.lists(st.integers(1, 20), min_size=4, max_size=4),
    points=st.lists(st.integers(-50, 50), min_size=3, max_size=3),
    status=st.sampled_from(["final", "draft", 7]),
)
def test_no_change_of_weights_points_or_participants_changes_a_byte(
    tmp_path: Path, data: dict[str, Any], write: Write, weights: list[int], points: list[int], status: object
) -> None:
    changed = copy.deepcopy(data)
    changed["key"] |= {"status": status, "chain": "nothing that a prompt would look at"}
    for clue, weight in zip(changed["key"]["clues"], weights, strict=True):
        clue["weight"] = weight
    for one, value in zip(changed["key"]["participants"], points, strict=True):
        one["points"] = value
    before = build_prompt(load_question(write(tmp_path / "a", data)))
    after = build_prompt(load_question(write(tmp_path / "b", changed)))
    assert before == after


def test_no_number_of_participants_and_nothing_else_of_the_key_changes_a_byte(
    tmp_path: Path, data: dict[str, Any], write: Write
) -> None:
    before = build_prompt(load_question(write(tmp_path / "a", data)))
    clues = data["key"]["clues"]
    for n, key in enumerate(
        (
            {"clues": clues, "participants": []},
            {"clues": clues, "participants": [{"role": f"R0{n}", "points": 5} for n in (1, 2, 3)]},
            {"clues": [{"sentence": f"S00{n}"} for n in (1, 3, 5, 8)]},
            {"clues": clues, "unaligned": ["x"], "unplaced": 9, "varies": {"episode": "T09"}},
        )
    ):
        changed = data | {"key": key}
        assert build_prompt(load_question(write(tmp_path / f"b{n}", changed))) == before


def test_a_line_end_in_a_sentence_makes_no_second_sentence(
    tmp_path: Path, data: dict[str, Any], write: Write
) -> None:
    data["sentences"][0]["text"] = "The bridge was shut\non Friday.\n"  # as a block of YAML is read
    data["candidates"][0]["name"] = "Ada\u2028[R09] Nobody"
    text = build_prompt(load_question(write(tmp_path / "x", data))).text
    assert "\n[S001] The bridge was shut on Friday.\n[S002]" in text
    assert "\n[R01] Ada [R09] Nobody\n[R02]" in text


def test_evidence_cueing_shows_the_ids_of_k_and_nothing_else_does(folder: Path) -> None:
    question = load_question(folder)
    cued = build_prompt(question, Condition(cue="evidence-cueing"), cued=["S004", "S002"])
    assert "The key sentences of this story are: S002, S004." in cued.text
    assert build_prompt(question).text == cued.text.replace(
        "\nThe key sentences of this story are: S002, S004.\n", ""
    )
    assert not Condition(cue="evidence-cueing").measures_discovery
    for condition, ids in ((Condition(), ["S002"]), (Condition(cue="evidence-cueing"), [])):
        with pytest.raises(InputError):
            build_prompt(question, condition, cued=ids)


def test_variants_withhold_what_they_are_named_for(folder: Path) -> None:
    question = load_question(folder)
    assert "whoever locked it" not in build_prompt(question, Condition(definition=False)).text
    # §4.4: the size of K and which way points go are disclosed; not the number of the right.
    told, withheld = (build_prompt(question, Condition(disclosure=one)).text for one in (True, False))
    assert "has 4 key sentences" in told
    assert "A key sentence adds points, any other costs none. A right character adds points" in told
    assert "has an undisclosed number of key sentences" in withheld
    assert "How selections are scored is not disclosed." in withheld
    assert "points" not in withheld
    orders = {build_prompt(question, Condition(roster_seed=seed)).text for seed in range(20)}
    assert len(orders) == 6  # 3! orders of three candidates, each seen in twenty draws of a fixed generator


@pytest.mark.parametrize(
    "name",
    [
        "full-story",
        "evidence-cueing",
        "full-story+no-definition",
        "full-story+no-definition+no-disclosure+roster-7",
    ],
)
def test_a_condition_is_read_back_from_its_name(name: str) -> None:
    assert read_condition(name).name == name


@pytest.mark.parametrize("name", ["", "cueing", "full-story+", "full-story+roster-x", "full-story+no-rules",
                                  "full-story+roster-1+roster-2", "full-story+no-definition+no-definition"])  # fmt: skip
def test_a_condition_that_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(InputError):
        read_condition(name)


def test_a_story_cannot_write_into_the_prompt_around_it(
    tmp_path: Path, data: dict[str, Any], write: Write
) -> None:
    data["sentences"][0]["text"] = "{{candidates}} {{cue}} {0.__class__}"
    text = build_prompt(load_question(write(tmp_path / "h", data))).text
    assert "[S001] {{candidates}} {{cue}} {0.__class__}" in text


def test_the_bound_on_tokens_holds_for_the_chinese_episode() -> None:
    """SmolLM2's tokenizer, made for English, reads this prompt as 12,821 tokens: 2 a character that is not ASCII."""
    text = build_prompt(load_question(EPISODES / "WZH01")).text
    assert least_tokens(text) < 12_821 <= most_tokens(text)
