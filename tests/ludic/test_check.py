import json
import unicodedata
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.check import check_stories
from ludic_deepeval.errors import InputError
from ludic_deepeval.outcome import Scored
from ludic_deepeval.policy import Policy
from ludic_deepeval.report.as_json import check_json
from ludic_deepeval.report.as_text import check_text
from ludic_deepeval.sources import find_stories

Ludic = Callable[..., Any]

AGES = """\
😀 Zoë was nine when she first saw the sea.

It meant nothing at all. “When I was seven I sailed it,” she would say of her grown years.
"""
AGES_SHEET = """\
sheet: 1
protagonist: Zoë
events:
- {phase: childhood, id: sea, summary: sees the sea, quote: Zoë was nine when she first saw the sea, physical: [{kind: age, age: 9}]}
- {phase: adult, id: sail, summary: sails, quote: '“When I was seven I sailed it,”', physical: [{kind: age, age: 7}]}
"""


def front(path: Path, matter: str) -> None:
    path.write_text(f"---\n{matter}\n---\n{path.read_text(encoding='utf-8')}", encoding="utf-8")


def judged(ludic: Ludic, *arguments: object) -> tuple[int, dict[str, Any]]:
    ran = ludic("check", "--json", *arguments)
    return ran.code, json.loads(ran.out)


# The JSON


def test_the_json_of_a_story_has_the_documented_shape_and_figures_worked_by_hand(
    locked: Path, ludic: Ludic
) -> None:
    code, data = judged(ludic, "tale.md")
    assert code == 0
    assert list(data) == ["version", "stories", "summary"]
    assert data["version"] == 1
    assert data["summary"] == {"stories": 1, "passed": 1, "failed": 0, "unread": 0, "unscored": 0}
    [story] = data["stories"]
    # RTN: .7 · 1/3 for one person, .3 · 1/5 for one urgent thread.
    rtn = Fraction(7, 30) + Fraction(3, 50)
    lpi = Fraction(4, 10) * rtn + Fraction(3, 10) / 4 + Fraction(2, 10) + Fraction(1, 10) / 3
    findings = story.pop("findings")
    assert story == {
        "path": "tale.md",
        "id": "tale",
        "profile": "campaign",
        "state": "read",
        "lpi": pytest.approx(float(lpi)),
        "components": {"rtn": pytest.approx(float(rtn)), "mv": 0.25, "ucr": 1, "th": pytest.approx(1 / 3)},
        "pcv": 4 * 3 + 4 * 8 + 5 + 6,
        "events": [{"id": "fire", "phase": "P2", "raw": 55, "band": 2, "counted": 55}],
        "tier": "insufficient",
        "quadrant": "unplayable-draft",
        "gate": {"passed": False, "reasons": story["gate"]["reasons"]},
        "consistency": {"score": 1, "temporal": 0, "lore": 0, "faults": []},
        "holds": True,
        "unscored": None,
    }
    assert [reason.partition(" ")[0] for reason in story["gate"]["reasons"]] == ["LPI", "PCV"]
    assert {finding["code"] for finding in findings} == {"few-hooks", "few-people", "flat-events"}
    for finding in findings:
        assert list(finding)[:6] == ["code", "severity", "message", "line", "column", "quote"]
        assert (finding["severity"], finding["line"], finding["column"], finding["quote"]) == (
            "warning",
            1,
            1,
            None,
        )


def test_an_unread_story_has_the_same_keys_and_no_figures(tale: Path, ludic: Ludic) -> None:
    code, data = judged(ludic, "tale.md")
    reason = "not read yet (no ledger). Mark it up: ludic annotate tale.md. No AI needed."
    assert code == 1
    assert data["summary"] == {"stories": 1, "passed": 0, "failed": 0, "unread": 1, "unscored": 0}
    assert data["stories"] == [
        {
            "path": "tale.md",
            "id": "tale",
            "profile": "campaign",
            "state": "unread",
            "lpi": None,
            "components": {"rtn": None, "mv": None, "ucr": None, "th": None},
            "pcv": None,
            "events": [],
            "tier": None,
            "quadrant": None,
            "gate": None,
            "consistency": None,
            "holds": False,
            "findings": [
                {
                    "code": "unread",
                    "severity": "warning",
                    "message": reason,
                    "line": 1,
                    "column": 1,
                    "quote": None,
                    "end_line": None,
                    "end_column": None,
                    "against": None,
                    "status": "open",
                    "reason": None,
                }
            ],
            "unscored": {"cause": "unread", "reason": reason},
        }
    ]


def test_a_fault_is_told_with_its_code_events_phases_quotes_and_line(tale: Path, ludic: Ludic) -> None:
    (tale / "tale.md").write_text(AGES, encoding="utf-8")
    (tale / "tale.marks.yaml").write_text(AGES_SHEET, encoding="utf-8")
    assert ludic("lock", "tale.md").code == 0
    code, data = judged(ludic, "tale.md")
    assert code == 1
    consistency = data["stories"][0]["consistency"]
    assert (consistency["score"], consistency["temporal"], consistency["lore"]) == (0, 1, 0)
    [fault] = consistency["faults"]
    assert fault == {
        "code": "age-fell",
        "message": "aged 9 in childhood (P1), then 7 in adulthood (P3)",
        "events": ["sea", "sail"],
        "phases": ["P1", "P3"],
        "quotes": ["Zoë was nine when she first saw the sea", "“When I was seven I sailed it,”"],
        "line": 3,
    }
    assert data["stories"][0]["state"] == "unscored"  # the events have no numbers


def test_a_story_whose_events_have_no_numbers_is_unscored_and_keeps_its_lpi(
    locked: Path, ludic: Ludic
) -> None:
    sheet = (locked / "tale.marks.yaml").read_text(encoding="utf-8")
    (locked / "tale.marks.yaml").write_text(
        sheet.replace(", immediacy: 3, gravity: 8, linkage: 5, divergence: 6", ""), encoding="utf-8"
    )
    ludic("lock", "tale.md")
    code, data = judged(ludic, "tale.md")
    assert (code, data["summary"]["unscored"]) == (1, 1)
    [story] = data["stories"]
    assert (story["state"], story["pcv"], story["gate"], story["quadrant"]) == ("unscored", None, None, None)
    assert story["unscored"]["cause"] == "dimensions"
    assert story["lpi"] is not None
    assert judged(ludic, "tale.md", "--allow-unread")[0] == 0


def test_a_models_reading_of_little_ground_is_unscored(locked: Path, ludic: Ludic) -> None:
    path = locked / "tale.ledger.json"
    data = json.loads(path.read_bytes())
    apart = {"list": "hooks", "item": {"id": "x", "text": "t"}, "reason": "not in the prose"}
    path.write_text(json.dumps(data | {"notary": {"kind": "model"}, "ungrounded": [apart]}), encoding="utf-8")
    assert judged(ludic, "tale.md")[1]["stories"][0]["state"] == "read"  # 1 of 6
    path.write_text(
        json.dumps(data | {"notary": {"kind": "model"}, "ungrounded": [apart] * 2}), encoding="utf-8"
    )
    code, found = judged(ludic, "tale.md")  # 2 of 7
    assert code == 1
    [story] = found["stories"]
    assert (story["state"], story["unscored"]["cause"], story["lpi"]) == ("unscored", "extraction", None)
    assert [finding["code"] for finding in story["findings"]].count("no-quote") == 2


def test_the_summary_adds_up_and_errors_are_told_apart(locked: Path, ludic: Ludic) -> None:
    (locked / "unread.md").write_text("Nobody has read this.", encoding="utf-8")
    (locked / "bad.md").write_bytes(b"\xff")
    (locked / "ages.md").write_text(AGES, encoding="utf-8")
    (locked / "ages.marks.yaml").write_text(
        AGES_SHEET.replace("physical: [{kind: age, age: 7}]", "location: x"), encoding="utf-8"
    )
    (locked / "failing.md").write_text((locked / "tale.md").read_text(encoding="utf-8"), encoding="utf-8")
    (locked / "failing.ledger.json").write_bytes((locked / "tale.ledger.json").read_bytes())
    front(locked / "failing.md", "expect: {gate: pass}")
    assert ludic("lock", "ages.md").code == 0
    code, data = judged(ludic, ".")
    assert code == 2
    assert data["summary"] == {"stories": 4, "passed": 1, "failed": 1, "unread": 1, "unscored": 1}
    assert [story["id"] for story in data["stories"]] == ["ages", "failing", "tale", "unread"]
    assert data["errors"] == [
        "bad.md: line 1: byte 0xff is not UTF-8; allowed: text in UTF-8; save it again as UTF-8"
    ]
    assert judged(ludic, ".", "--allow-unread")[0] == 2


# Order and paths


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("b/2.md", "b/1.md", "a/z.md", "a/sub/y.markdown", "c.md", "README.md", "a/readme.md", "a/CHANGELOG.md",
                 ".hidden/x.md", "a/.git/x.md", "a/notes.txt", "a/blank.md", "a/only-front.md"):  # fmt: skip
        path = tmp_path / "shelf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = {"blank.md": " \n", "only-front.md": "---\nid: x\n---\n"}.get(
            path.name, f"This is {name}, a story."
        )
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "shelf")
    return tmp_path / "shelf"


SHELF = ["a/sub/y.markdown", "a/z.md", "b/1.md", "b/2.md", "c.md"]


def names(ludic: Ludic, root: Path, *arguments: object) -> list[str]:
    stories = judged(ludic, *arguments)[1]["stories"]
    return [Path(story["path"]).absolute().relative_to(root).as_posix() for story in stories]


def test_a_folder_is_searched_to_the_bottom_in_stable_order_without_readmes_hidden_and_blank_files(
    shelf: Path, ludic: Ludic
) -> None:
    assert names(ludic, shelf, ".") == SHELF


def test_the_style_of_a_path_changes_neither_order_nor_findings(
    shelf: Path, ludic: Ludic, monkeypatch: pytest.MonkeyPatch
) -> None:
    for style in (".", "./", shelf, f"{shelf}/", "a/.."):
        code, data = judged(ludic, style)
        assert (code, data["summary"]["unread"]) == (1, 5)
        ids = [story["id"] for story in data["stories"]]
        assert ids == ["y", "z", "1", "2", "c"]
    monkeypatch.chdir(shelf.parent)
    assert names(ludic, shelf, "shelf") == SHELF


def test_paths_are_judged_in_the_order_given_and_each_once(shelf: Path, ludic: Ludic) -> None:
    assert names(ludic, shelf, "b", "a") == ["b/1.md", "b/2.md", "a/sub/y.markdown", "a/z.md"]
    assert names(ludic, shelf, "c.md", ".", "./c.md", shelf / "a") == [
        "c.md",
        "a/sub/y.markdown",
        "a/z.md",
        "b/1.md",
        "b/2.md",
    ]


def test_the_verdict_on_a_story_does_not_depend_on_what_is_judged_beside_it(
    shelf: Path, ludic: Ludic
) -> None:
    forth = judged(ludic, "a", "b")[1]["stories"]
    back = judged(ludic, "b", "a")[1]["stories"]
    assert sorted(forth, key=lambda story: story["path"]) == sorted(back, key=lambda story: story["path"])


def test_a_readme_that_is_named_is_judged(shelf: Path) -> None:
    assert find_stories([shelf / "README.md"]) == [shelf / "README.md"]


# Copies of one story


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_every_copy_of_a_story_gives_the_same_findings_at_the_right_line_and_column(
    tale: Path, ludic: Ludic, form: str, end: str, bom: str
) -> None:
    (tale / "tale.md").write_text(AGES, encoding="utf-8")
    (tale / "tale.marks.yaml").write_text(AGES_SHEET, encoding="utf-8")
    assert ludic("lock", "tale.md").code == 0
    text = "---\ntitle: Zoë\n---\n\n" + AGES.replace("It meant", "Ït meant")
    (tale / "tale.md").write_text(text, encoding="utf-8")
    assert ludic("relock", "tale.md").code == 0
    copy = bom + unicodedata.normalize(form, text).replace("\n", end)
    (tale / "tale.md").write_bytes(copy.encode("utf-8"))
    [story] = judged(ludic, "tale.md")[1]["stories"]
    [found] = [finding for finding in story["findings"] if finding["code"] == "age-fell"]
    # "Ït meant nothing at all. " is 25 characters; apart, the dots of the Ï are one more.
    assert (found["line"], found["column"]) == (7, 26 if form == "NFC" else 27)
    assert found["quote"] == "“When I was seven I sailed it,”"
    assert found["severity"] == "error"


# What is expected


@pytest.mark.parametrize(
    ("expect", "broken"),
    [
        ("{gate: fail}", None),
        ("{gate: fail, reasons: [pcv, lpi], quadrant: unplayable-draft, tier: insufficient, consistency: 1}", None),
        ("{lpi: 0.426, pcv: 55}", None),
        ("{lpi: '1277/3000', pcv: '55'}", None),
        ("{lpi: 0.43}", None),
        ("{rejected_mysteries: []}", None),
        ("{gate: pass}", "gate: expected pass, got fail"),
        ("{reasons: [lpi]}", "reasons: expected lpi, got lpi, pcv"),
        ("{quadrant: campaign-ready}", "quadrant: expected campaign-ready, got unplayable-draft"),
        ("{tier: campaign}", "tier: expected campaign, got insufficient"),
        ("{consistency: 0}", "consistency: expected 0, got 1"),
        ("{faults: [age-fell]}", "faults: expected age-fell, got none"),
        ("{rejected_mysteries: [bell]}", "rejected_mysteries: expected bell, got none"),
        ("{lpi: 0.427}", "lpi: expected 0.427, got 0.425667"),
        ("{lpi: 4257/10000}", "lpi: expected 4257/10000, got 0.425667"),
        ("{pcv: 56}", "pcv: expected 56, got 55"),
    ],
)  # fmt: skip
def test_an_expectation_that_is_met_holds_and_one_that_is_not_is_an_error(
    locked: Path, ludic: Ludic, expect: str, broken: str | None
) -> None:
    front(locked / "tale.md", f"expect: {expect}")
    code, data = judged(ludic, "tale.md")
    [story] = data["stories"]
    errors = [f["message"] for f in story["findings"] if f["severity"] == "error"]
    assert errors == ([] if broken is None else [broken])
    assert (code, story["holds"]) == ((0, True) if broken is None else (1, False))


def test_an_expected_gate_turns_its_findings_into_notes(locked: Path, ludic: Ludic) -> None:
    front(locked / "tale.md", "expect: {gate: fail}")
    [story] = judged(ludic, "tale.md")[1]["stories"]
    assert {finding["severity"] for finding in story["findings"]} == {"note"}
    assert all(finding["message"].endswith(" (expected)") for finding in story["findings"])


def test_a_contradiction_that_is_expected_holds_and_keeps_its_line(locked: Path, ludic: Ludic) -> None:
    numbers = "immediacy: 1, gravity: 1, linkage: 1, divergence: 1, physical"
    (locked / "tale.md").write_text(
        f"---\nexpect: {{consistency: 0, faults: [age-fell]}}\n---\n{AGES}", encoding="utf-8"
    )
    (locked / "tale.marks.yaml").write_text(AGES_SHEET.replace("physical", numbers), encoding="utf-8")
    assert ludic("lock", "tale.md").code == 0
    code, data = judged(ludic, "tale.md")
    assert code == 0
    assert data["stories"][0]["consistency"]["faults"][0]["line"] == 6


# Policy


def test_the_gate_fails_a_check_only_where_the_configuration_says_so(locked: Path, ludic: Ludic) -> None:
    assert ludic("check", "tale.md").code == 0
    (locked / "ludic.toml").write_text('fail_on = ["gate"]\n', encoding="utf-8")
    assert ludic("check", "tale.md").code == 1
    (locked / "ludic.toml").write_text(
        'fail-on = ["gate"]\nlpi-gate = 0.42\npcv-gate = 55\n', encoding="utf-8"
    )
    assert ludic("check", "tale.md").code == 0
    front(locked / "tale.md", "expect: {gate: fail}")
    assert ludic("check", "tale.md").code == 1


def test_the_nearest_configuration_upwards_decides(locked: Path, ludic: Ludic) -> None:
    (locked.parent / "pyproject.toml").write_text('[tool.ludic]\nfail-on = ["gate"]\n', encoding="utf-8")
    assert ludic("check", "tale.md").code == 1
    (locked / "pyproject.toml").write_text("[tool.other]\nx = 1\n", encoding="utf-8")
    assert ludic("check", "tale.md").code == 1
    (locked / "ludic.toml").write_text("", encoding="utf-8")
    assert ludic("check", "tale.md").code == 0


def test_the_profile_of_the_call_beats_the_storys_and_that_the_configurations(
    locked: Path, ludic: Ludic
) -> None:
    def profile(*arguments: object) -> str:
        return str(judged(ludic, "tale.md", *arguments)[1]["stories"][0]["profile"])

    assert profile() == "campaign"
    (locked / "ludic.toml").write_text('profile = "cosy"\n', encoding="utf-8")
    assert profile() == "cosy"
    front(locked / "tale.md", "profile: one-shot")
    assert profile() == "one-shot"
    assert profile("--profile", "campaign") == "campaign"


def test_a_one_shot_needs_less_pressure(locked: Path) -> None:
    path = locked / "tale.md"
    for profile, needed in (("campaign", 150), ("one-shot", 100), ("cosy", 150)):
        [story] = check_stories([path], profile=profile).stories
        assert isinstance(story.outcome, Scored)
        assert story.outcome.value.card.policy.pcv_threshold == needed


def test_a_policy_given_to_the_function_is_used_for_every_story(locked: Path) -> None:
    (locked / "ludic.toml").write_text("lpi_gate = 0.1\n", encoding="utf-8")
    assert not check_stories([locked / "tale.md"], policy=Policy(fail_on=("gate",))).stories[0].holds
    assert check_stories([locked / "tale.md"]).stories[0].holds


# Background logs and bibles beside the story


def test_a_background_log_explains_or_contradicts_wherever_it_is_written(locked: Path, ludic: Ludic) -> None:
    log = "{id: b1, phase: P1, kind: death, subject: Odo Marsh, text: Odo Marsh drowned}"
    sheet = (locked / "tale.marks.yaml").read_text(encoding="utf-8")
    sheet = sheet.replace(
        "summary: the mill burns", "summary: the mill burns, relations: [{npc: odo, status: alive}]"
    )
    (locked / "tale.marks.yaml").write_text(sheet, encoding="utf-8")
    assert ludic("lock", "tale.md").code == 0
    prose = (locked / "tale.md").read_text(encoding="utf-8")
    (locked / "log.yaml").write_text(f"- {log}\n", encoding="utf-8")
    (locked / "log.json").write_text(
        json.dumps(
            {
                "background_log": [
                    {"id": "b1", "phase": "P1", "kind": "death", "subject": "Odo Marsh", "text": "t"}
                ]
            }
        ),
        encoding="utf-8",
    )
    for matter in (f"[{log}]", "log.yaml", "log.json", "./log.yaml"):
        (locked / "tale.md").write_text(f"---\nbackground_log: {matter}\n---\n{prose}", encoding="utf-8")
        code, data = judged(ludic, "tale.md")
        assert code == 1
        assert [fault["code"] for fault in data["stories"][0]["consistency"]["faults"]] == ["against-log"]
    (locked / "tale.md").write_text(
        f"---\nbackground_log: [{log.replace('b1', 'fire')}]\n---\n{prose}", encoding="utf-8"
    )
    ran = ludic("check", "tale.md")
    assert ran.code == 2
    assert ran.faults == [
        "ludic: tale.md: background_log: the id 'fire' is used twice; allowed: an id that no other event has"
    ]


# Edits


def test_a_sheet_that_was_edited_after_it_was_locked_is_told_until_it_is_locked_again(
    locked: Path, ludic: Ludic
) -> None:
    def codes() -> set[str]:
        return {finding["code"] for finding in judged(ludic, "tale.md")[1]["stories"][0]["findings"]}

    sheet = locked / "tale.marks.yaml"
    assert "unlocked-sheet" not in codes()
    text = sheet.read_bytes()
    sheet.write_bytes(text.replace(b"\n", b"\r\n"))
    assert "unlocked-sheet" not in codes()
    sheet.write_bytes(text.replace(b"tier: 1", b"tier: 2"))
    assert "unlocked-sheet" in codes()
    assert ludic("lock", "tale.md").code == 0
    assert "unlocked-sheet" not in codes()


def test_a_story_that_changed_is_unread_until_it_is_relocked(locked: Path, ludic: Ludic) -> None:
    path = locked / "tale.md"
    path.write_text(path.read_text(encoding="utf-8").replace("twelve", "twelve or so"), encoding="utf-8")
    code, data = judged(ludic, "tale.md")
    assert (code, data["stories"][0]["state"]) == (1, "unread")
    assert [finding["code"] for finding in data["stories"][0]["findings"]] == ["stale"]
    assert ludic("relock", "tale.md").code == 0
    assert judged(ludic, "tale.md")[0] == 0


def test_a_new_paragraph_is_unread_at_its_line_until_somebody_says_that_it_is_read(
    locked: Path, ludic: Ludic
) -> None:
    path = locked / "tale.md"
    first, rest = path.read_text(encoding="utf-8").split("\n\n", 1)
    path.write_text(f"{first}\n\nThen a stranger came with a wooden leg.\n\n{rest}", encoding="utf-8")
    assert ludic("relock", "tale.md").code == 1
    code, data = judged(ludic, "tale.md")
    assert (code, data["stories"][0]["state"]) == (1, "unread")
    [finding] = data["stories"][0]["findings"]
    assert (finding["code"], finding["line"], finding["column"]) == ("new-paragraph", 3, 1)
    assert finding["quote"] == "Then a stranger came with a wooden leg."
    assert ludic("relock", "tale.md").code == 1
    assert judged(ludic, "tale.md", "--allow-unread")[0] == 0
    assert ludic("relock", "--read", "tale.md").code == 0
    assert judged(ludic, "tale.md")[0] == 0


# The library


def test_the_function_says_what_the_command_says(locked: Path, ludic: Ludic) -> None:
    result = check_stories([Path("tale.md")])
    assert result.exit_code == 0
    assert check_json(result) == judged(ludic, "tale.md")[1]
    assert "\n".join(check_text(result)) + "\n" == ludic("check", "tale.md").out


def test_a_file_that_is_not_there_is_an_error_of_the_result_and_a_folder_without_stories_raises(
    tmp_path: Path,
) -> None:
    result = check_stories([tmp_path / "gone.md"])
    assert (result.stories, result.exit_code) == ((), 2)
    assert [str(error) for error in result.errors] == [f"{tmp_path}/gone.md: no such file"]
    with pytest.raises(InputError, match="no stories here"):
        check_stories([tmp_path])
