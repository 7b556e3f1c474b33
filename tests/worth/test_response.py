"""One right reading for each kind of reply (§4.7); the table in docs/worth.md is this one."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worth_deepeval.episode import Sheet
from worth_deepeval.response import FIELDS, read_response

FULL: dict[str, Any] = {
    "episode_id": "T01",
    "clue_sentence_ids": ["S002", "S004"],
    "selected_role_ids": ["R01"],
    "clue_interpretations": [
        {"sentence_id": "S002", "interpretation": "locked from the north"},
        {"sentence_id": "S004", "interpretation": "she alone had the key"},
    ],
    "evidence_combination": "North lock, north key.",
    "final_conclusion": "Ada.",
    "confidence": 80,
}
GOOD = json.dumps(FULL)
ARRAYS = '"clue_sentence_ids": ["S002", "S004"], "selected_role_ids": ["R01"]'


def with_(**more: Any) -> str:
    return json.dumps(FULL | more)


def test_a_reply_that_keeps_the_protocol_is_direct_valid_and_compliant(sheet: Sheet) -> None:
    found = read_response(GOOD, sheet.episode)
    assert (found.json, found.selections, found.compliant, found.violations) == ("direct", "valid", True, ())
    assert (found.clue_ids, found.role_ids, found.lenient) == (("S002", "S004"), ("R01",), None)
    assert tuple(FULL) == FIELDS


@pytest.mark.parametrize("around", ["\n{}\n", " \t{}\r\n"])
def test_white_space_around_json_is_json(sheet: Sheet, around: str) -> None:
    assert read_response(around.replace("{}", GOOD), sheet.episode).compliant


@pytest.mark.parametrize(
    ("reply", "form", "selections", "codes"),
    [
        ("", "invalid", "invalid", {"not-json", "no-selection"}),
        (f"```json\n{GOOD}\n```", "embedded", "valid", {"text-around"}),
        (f"Here you are:\n{GOOD}\nI hope this helps.", "embedded", "valid", {"text-around"}),
        (f"<think>{with_(clue_sentence_ids=['S008'])}</think>{GOOD}", "embedded", "valid", {"text-around"}),
        (f"<think>S001?</think>\n{GOOD}", "embedded", "valid", {"text-around"}),
        (GOOD + GOOD, "embedded", "valid", {"text-around"}),  # twice the same
        (GOOD + with_(selected_role_ids=["R02"]), "invalid", "invalid", {"not-json", "ambiguous", "no-selection"}),
        (GOOD[:-1] + ",}", "invalid", "valid", {"not-json"}),  # a trailing comma
        ("{" + ARRAYS + ', "evidence_combination": "cut o', "invalid", "valid", {"not-json"}),
        ('{"clue_sentence_ids": ["S002", "S0', "invalid", "invalid", {"not-json", "no-selection"}),
        (GOOD.replace('"', "'"), "invalid", "invalid", {"not-json", "no-selection"}),
        ("选择S001和S002", "invalid", "invalid", {"not-json", "no-selection"}),
        ("答案：{clue_sentence_ids：[\"S002\"]，selected_role_ids：[\"R01\"]}", "invalid", "valid", {"not-json"}),
        ("[" + GOOD + "]", "embedded", "valid", {"text-around"}),
        ('{"a" {' + '"selected_role_ids": ["R01"], "clue_sentence_ids": ["S002"]}', "embedded", "valid", {"text-around", "missing-field"}),
        (GOOD.replace("Ada.", "Ada\ud800"), "direct", "valid", set()),
        (GOOD.replace("Ada.", "Ada\\ud800"), "direct", "valid", set()),
        (f"So: {GOOD}".replace("Ada.", "Ada\ud800"), "embedded", "valid", {"text-around"}),
        ('{"draft": 1} ' + GOOD, "embedded", "valid", {"text-around"}),
        ("{" + GOOD, "embedded", "valid", {"text-around"}),
        ('{"draft' + GOOD + '": 1}', "embedded", "valid", {"text-around"}),  # in a text that was never closed
        (GOOD.replace("Ada.", "Ada\x00"), "invalid", "valid", {"not-json"}),
        (with_(clue_sentence_ids=["s12"]), "direct", "invalid", {"lower-case-id"}),
        (with_(clue_sentence_ids=["S１１２"]), "direct", "invalid", {"full-width-id"}),
        (GOOD + '{"clue_sentence_ids": ["S002"], ' + GOOD[1:], "invalid", "invalid", {"not-json", "ambiguous", "no-selection"}),
        (GOOD.replace("80", "NaN"), "invalid", "valid", {"not-json"}),
        ("\x00" + GOOD, "embedded", "valid", {"text-around"}),
        (json.dumps({"answer": FULL}), "direct", "invalid", {"no-selection", "missing-field", "extra-field"}),
        (with_(clue_sentence_ids=["s002"]), "direct", "invalid", {"lower-case-id"}),
        (with_(clue_sentence_ids=["S002 "]), "direct", "invalid", {"blank-in-id"}),
        (with_(clue_sentence_ids=["S001-S005"]), "direct", "invalid", {"ranged-id"}),
        (with_(clue_sentence_ids=["S００２"]), "direct", "invalid", {"full-width-id"}),
        (with_(clue_sentence_ids=["S207"]), "direct", "invalid", {"unknown-id"}),
        (with_(clue_sentence_ids=["S2"]), "direct", "invalid", {"malformed-id"}),
        (with_(clue_sentence_ids=[["S002"]]), "direct", "invalid", {"wrong-type"}),
        (with_(clue_sentence_ids=[2]), "direct", "invalid", {"wrong-type"}),
        (with_(clue_sentence_ids="S002"), "direct", "invalid", {"wrong-type"}),
        (with_(clue_sentence_ids=["S002", "S002"]), "direct", "invalid", {"duplicate"}),
        (with_(clue_sentence_ids=["S001", "S002", "S003", "S004", "S005"]), "direct", "invalid", {"over-quota"}),
        (with_(selected_role_ids=["R09"]), "direct", "invalid", {"unknown-id"}),
        (with_(selected_role_ids=["Ada"]), "direct", "invalid", {"malformed-id"}),
        (with_(selected_role_ids=[]), "direct", "valid", set()),
        (with_(clue_sentence_ids=[], clue_interpretations=[]), "direct", "valid", set()),
        (with_(episode_id="EP01"), "direct", "valid", {"wrong-episode"}),
        (with_(confidence="high"), "direct", "valid", {"wrong-type"}),
        (with_(confidence=101), "direct", "valid", {"wrong-type"}),
        (with_(confidence=True), "direct", "valid", {"wrong-type"}),
        (with_(final_conclusion=""), "direct", "valid", {"wrong-type"}),
        (with_(note="x"), "direct", "valid", {"extra-field"}),
        (with_(clue_interpretations=[]), "direct", "valid", {"interpretations"}),
        (json.dumps({key: value for key, value in FULL.items() if key != "confidence"}), "direct", "valid", {"missing-field"}),
        ('{"clue_sentence_ids": ["S001"], ' + GOOD[1:], "direct", "invalid", {"ambiguous"}),  # one key twice
    ],
)  # fmt: skip
def test_each_kind_of_reply_has_one_right_reading(
    sheet: Sheet, reply: str, form: str, selections: str, codes: set[str]
) -> None:
    found = read_response(reply, sheet.episode)
    assert (found.json, found.selections) == (form, selections)
    assert {one.code for one in found.violations} == codes
    assert found.compliant is (form == "direct" and not codes)
    if selections == "invalid":
        assert (found.clue_ids, found.role_ids) == ((), ())


def test_every_row_of_the_documented_table_is_a_case_here() -> None:
    """A row's form, selections and codes are those of at least one case above."""
    page = (Path(__file__).parents[2] / "docs" / "worth.md").read_text(encoding="utf-8")
    table = page[page.index("| reply | JSON |") : page.index("Codes of faults of form")]
    rows = [
        [cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines()[2:] if line
    ]
    assert len(rows) > 20
    mark = next(
        one for one in test_each_kind_of_reply_has_one_right_reading.pytestmark if one.name == "parametrize"
    )
    known = {(form, selections, frozenset(codes)) for _, form, selections, codes in mark.args[1]}
    known.add(("direct", "valid", frozenset()))
    for reply, form, selections, said in rows:
        codes = frozenset(re.findall(r"`([a-z-]+)`", said))
        # A row of several replies has a code for each, or all of them for each.
        each = [frozenset({one}) for one in codes] if ";" in reply and "not-json" not in codes else [codes]
        got = {(form, selections.partition(":")[0], one) for one in each or [codes]}
        assert got <= known, reply


def test_a_lenient_reading_stands_apart_and_is_not_the_selection(sheet: Sheet) -> None:
    found = read_response("选择s2、S004和S099；参与者R1。", sheet.episode)
    assert found.lenient == (("S002", "S004"), ("R01",))
    assert found.clue_ids == ()


@pytest.mark.parametrize(
    "unit", ["x{", '{"', '{"a":', '[{"a":', "</think>", '"clue_sentence_ids": [', "{{}}", "\\"]
)
def test_long_nonsense_is_read_in_bounded_work(sheet: Sheet, unit: str) -> None:
    """Work is bounded by steps and not by a clock: this would not end within the run if it were quadratic."""
    length = 10_000_000 if unit == "x{" else 400_000
    found = read_response(unit * (length // len(unit)), sheet.episode)
    assert (found.json, found.selections) == ("invalid", "invalid")


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=300) | st.text(alphabet='{}[]",:S012R clue_sentence_ids', max_size=300))
def test_no_text_breaks_the_reader(sheet: Sheet, text: str) -> None:
    found = read_response(text, sheet.episode)
    assert found.json in {"direct", "embedded", "invalid"}
    assert found.selections == "invalid" or set(found.clue_ids) <= sheet.episode.sentence_ids
