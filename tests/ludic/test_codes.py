"""Codes and their severities, marks of intent, and baselines."""

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

import ludic_deepeval
from ludic_deepeval.codes import CODES, GROUPS, NEVER_MEANT
from ludic_deepeval.explain import EXPLANATIONS
from ludic_deepeval.faults import FaultCode

Ludic = Callable[..., Any]

# Two contradictions: an age that falls twice, each time in words of its own.
AGES = """\
Zoë was nine when she first saw the sea.

“When I was seven I sailed it,” she would say.

She was six years old when she married it.
"""
SHEET = """\
sheet: 1
protagonist: Zoë
events:
- {phase: childhood, id: sea, summary: s, quote: Zoë was nine when she first saw the sea, physical: [{kind: age, age: 9}], immediacy: 1, gravity: 1, linkage: 1, divergence: 1}
- {phase: youth, id: sail, summary: s, quote: '“When I was seven I sailed it,”', physical: [{kind: age, age: 7}], immediacy: 1, gravity: 1, linkage: 1, divergence: 1}
- {phase: adult, id: marry, summary: s, quote: She was six years old when she married it, physical: [{kind: age, age: 6}], immediacy: 1, gravity: 1, linkage: 1, divergence: 1}
"""


@pytest.fixture
def ages(tale: Path, ludic: Ludic) -> Path:
    (tale / "tale.md").write_text(AGES, encoding="utf-8")
    (tale / "tale.marks.yaml").write_text(SHEET, encoding="utf-8")
    assert ludic("lock", "tale.md").code == 0
    return tale


def front(path: Path, matter: str) -> None:
    path.write_text(f"---\n{matter}\n---\n{path.read_text(encoding='utf-8')}", encoding="utf-8")


def judged(ludic: Ludic, *arguments: object) -> tuple[int, dict[str, Any]]:
    ran = ludic("check", "--json", *arguments)
    return ran.code, json.loads(ran.out)["stories"][0]


def told(story: dict[str, Any]) -> dict[str, set[tuple[str, str]]]:
    """The severities and statuses by code."""
    found: dict[str, set[tuple[str, str]]] = {}
    for finding in story["findings"]:
        found.setdefault(finding["code"], set()).add((finding["severity"], finding["status"]))
    return found


# Codes


def test_every_code_that_the_program_can_say_is_listed_and_every_listed_code_is_said() -> None:
    package = Path(ludic_deepeval.__file__).parent
    said: set[str] = set()
    lore = "../trulens_feedback/lore.py"
    for name in (
        "findings.py",
        "judging.py",
        "check.py",
        "consistency.py",
        "faults.py",
        "sources/cards.py",
        lore,
    ):
        tree = ast.parse((package / name).read_text(encoding="utf-8"))
        said |= {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value in CODES
        }
    assert said == set(CODES)
    assert set(get_args(FaultCode)) <= set(CODES)


def test_every_code_is_explained_at_length() -> None:
    assert sorted(EXPLANATIONS) == sorted(CODES)
    for explanation in EXPLANATIONS.values():
        assert all(len(part) > 20 and part[-1] in ".”" for part in explanation)


def test_explain_says_why_a_code_matters_and_how_to_mend_it(ludic: Ludic) -> None:
    said = ludic("explain", "few-people").out
    assert said.startswith("few-people: fewer than three people have unfinished business")
    assert [line.partition(":")[0] for line in said.splitlines() if ":" in line][1:] == [
        "Why it matters", "For example", "To mend it",
    ]  # fmt: skip
    listed = ludic("explain").out.splitlines()
    assert len(listed) == len(CODES)
    assert json.loads(ludic("explain", "--json").out)["codes"][0]["code"] == next(iter(CODES))


def test_explaining_an_unknown_code_is_a_wrong_call(ludic: Ludic) -> None:
    ran = ludic("explain", "few-hook")
    assert (ran.code, len(ran.faults)) == (2, 1)
    assert "no code 'few-hook'; allowed: dead-then-active" in ran.err


# Severities


@pytest.mark.parametrize(
    ("settings", "code", "severities"),
    [
        ("", 0, {"few-hooks": "warning", "few-people": "warning", "flat-events": "warning"}),
        ('fail-on = ["gate"]', 1, {"few-hooks": "error", "few-people": "warning", "flat-events": "error"}),
        ('fail-on = ["few-people"]', 1, {"few-hooks": "warning", "few-people": "error", "flat-events": "warning"}),
        ('fail-on = ["warnings"]', 1, {"few-hooks": "error", "few-people": "error", "flat-events": "error"}),
        ('[severity]\nfew-people = "note"', 0, {"few-hooks": "warning", "few-people": "note", "flat-events": "warning"}),
        ('[severity]\nfew-people = "off"\nfew-hooks = "error"', 1, {"few-hooks": "error", "flat-events": "warning"}),
        ('fail-on = ["warnings"]\n[severity]\nfew-people = "off"', 1, {"few-hooks": "error", "flat-events": "error"}),
    ],
)  # fmt: skip
def test_a_policy_says_what_a_finding_weighs(
    locked: Path, ludic: Ludic, settings: str, code: int, severities: dict[str, str]
) -> None:
    (locked / "ludic.toml").write_text(settings, encoding="utf-8")
    found, story = judged(ludic, "tale.md")
    assert {finding["code"]: finding["severity"] for finding in story["findings"]} == severities
    assert (found, story["holds"]) == (code, code == 0)


def test_a_contradiction_that_a_team_only_warns_of_fails_nothing_and_still_counts(
    ages: Path, ludic: Ludic
) -> None:
    (ages / "ludic.toml").write_text('[severity]\nage-fell = "warning"\n', encoding="utf-8")
    code, story = judged(ludic, "tale.md")
    assert (code, story["consistency"]["score"], len(story["consistency"]["faults"])) == (0, 0, 2)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ('severity = "high"', "tool.ludic.severity: found 'high'; allowed: a table of codes"),
        ("[severity]\nfew-hook = 'error'", "tool.ludic.severity: unknown code 'few-hook'; allowed: dead-then-active"),
        ("[severity]\nfew-hooks = 'fatal'", "severity.few-hooks: found 'fatal'; allowed: error, warning, note, off"),
        ("[severity]\nfew-hooks = ['error']", "severity.few-hooks: found a list; allowed: error, warning, note, off"),
    ],
)  # fmt: skip
def test_a_severity_that_there_is_not_is_refused(
    locked: Path, ludic: Ludic, settings: str, line: str
) -> None:
    (locked / "ludic.toml").write_text(settings, encoding="utf-8")
    ran = ludic("check", "tale.md")
    assert (ran.code, len(ran.faults)) == (2, 1)
    assert line in ran.err


def test_groups_name_codes_that_there_are() -> None:
    assert all(group <= set(CODES) for group in GROUPS.values())
    assert set(CODES) > NEVER_MEANT


# Marks of intent


def test_a_finding_marked_intentional_fails_nothing_and_shows_its_reason(ages: Path, ludic: Ludic) -> None:
    assert judged(ludic, "tale.md")[0] == 1
    front(ages / "tale.md", "intentional:\n- {code: age-fell, reason: she lies about her age}")
    code, story = judged(ludic, "tale.md")
    assert code == 0
    marked = [finding for finding in story["findings"] if finding["code"] == "age-fell"]
    assert [(one["severity"], one["status"], one["reason"]) for one in marked] == [
        ("note", "intentional", "she lies about her age")
    ] * 2
    assert "(intentional: she lies about her age)" in ludic("check", "tale.md").out
    # What was measured stays measured: the mark is about the build, not about the figure.
    assert story["consistency"]["score"] == 0
    assert [fault["line"] for fault in story["consistency"]["faults"]] == [7, 9]


def test_a_mark_with_a_quote_is_about_those_words_alone(ages: Path, ludic: Ludic) -> None:
    front(ages / "tale.md", "intentional:\n- {code: age-fell, reason: a lie, quote: 'When  I was seven'}")
    code, story = judged(ludic, "tale.md")
    assert code == 1
    # The second fault has the quoted words on its other side; it is about "six".
    statuses = {one["line"]: one["status"] for one in story["findings"] if one["code"] == "age-fell"}
    assert statuses == {7: "intentional", 9: "open"}


def test_a_mark_that_excuses_nothing_is_an_error(ages: Path, ludic: Ludic) -> None:
    front(
        ages / "tale.md",
        "intentional:\n- {code: age-fell, reason: a lie}\n- {code: lore-violation, reason: it is a joke, quote: at noon}",
    )
    code, story = judged(ludic, "tale.md")
    assert code == 1
    [finding] = [one for one in story["findings"] if one["severity"] == "error"]
    assert finding["code"] == "unused-mark"
    assert "lore-violation “at noon”" in finding["message"]


@pytest.mark.parametrize(
    ("mark", "line"),
    [
        ("{code: age-fell}", "intentional[0].reason: missing"),
        ("{code: old-age, reason: x}", "intentional[0].code: found 'old-age'; allowed: dead-then-active"),
        ("{code: expectation, reason: x}", "intentional[0].code: found 'expectation'"),
        ("{code: stale, reason: x}", "intentional[0].code: found 'stale'"),
        (
            "{code: age-fell, reason: ' '}",
            "intentional[0].reason: found ' '; allowed: text that is not blank",
        ),
    ],
)
def test_a_mark_needs_a_code_that_can_be_meant_and_a_reason(
    ages: Path, ludic: Ludic, mark: str, line: str
) -> None:
    front(ages / "tale.md", f"intentional:\n- {mark}")
    ran = ludic("check", "tale.md")
    assert (ran.code, len(ran.faults)) == (2, 1)
    assert line in ran.err


# Baselines


def test_a_team_adopts_an_old_corpus_and_is_told_only_what_is_new(ages: Path, ludic: Ludic) -> None:
    ran = ludic("check", ".", "--baseline", "known.json", "--write-baseline")
    assert ran.code == 0
    # Two ages; LPI, PCV, and what is missing for them: goal, people, urgent hook, mystery; the third event of one band.
    assert "known.json: 9 known findings" in ran.err
    assert "9 findings in the baseline" in ran.out
    assert ludic("check", ".", "--baseline", "known.json").code == 0
    assert ludic("check", ".").code == 1

    (ages / "new.md").write_text(AGES.replace("six years old", "only six years old"), encoding="utf-8")
    (ages / "new.marks.yaml").write_text(
        SHEET.replace("six years old", "only six years old"), encoding="utf-8"
    )
    assert ludic("lock", "new.md").code == 0
    code, story = judged(ludic, "new.md", "--baseline", "known.json")
    assert code == 1
    # The first contradiction has words that the baseline knows, the second has not.
    assert {(one["line"], one["status"]) for one in story["findings"] if one["code"] == "age-fell"} == {
        (3, "known"), (5, "open"),
    }  # fmt: skip


def test_known_findings_are_known_by_their_words_wherever_the_lines_go(ages: Path, ludic: Ludic) -> None:
    assert ludic("check", "tale.md", "--baseline", "known.json", "--write-baseline").code == 0
    front(ages / "tale.md", "title: The same")
    (ages / "tale.md").rename(ages / "other.md")
    (ages / "tale.ledger.json").rename(ages / "other.ledger.json")
    code, story = judged(ludic, "other.md", "--baseline", "known.json")
    assert (code, told(story)["age-fell"]) == (0, {("note", "known")})


def test_the_settings_can_name_the_baseline_from_any_folder(
    ages: Path, ludic: Ludic, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ages.parent / "ludic.toml").write_text('baseline = "known.json"\n', encoding="utf-8")
    assert ludic("check", "tale.md", "--write-baseline").code == 0
    assert (ages.parent / "known.json").is_file()
    monkeypatch.chdir(ages.parent)
    assert ludic("check", "stories").code == 0
    assert ludic("check", ages / "tale.md").code == 0


def test_prune_takes_out_what_is_mended_and_nothing_else(ages: Path, ludic: Ludic) -> None:
    (ages / "other.md").write_text(AGES.replace("Zoë was nine", "My Zoë was nine"), encoding="utf-8")
    (ages / "other.marks.yaml").write_text(SHEET.replace("Zoë was nine", "My Zoë was nine"), encoding="utf-8")
    assert ludic("lock", "other.md").code == 0
    assert ludic("check", ".", "--baseline", "known.json", "--write-baseline").code == 0
    before = json.loads((ages / "known.json").read_text(encoding="utf-8"))["findings"]
    # The last age is mended: six becomes sixteen, after seven and before nothing.
    (ages / "tale.md").write_text(AGES.replace("six years old", "sixteen years old"), encoding="utf-8")
    sheet = SHEET.replace("six years old", "sixteen years old").replace("age: 6", "age: 16")
    (ages / "tale.marks.yaml").write_text(sheet, encoding="utf-8")
    assert ludic("lock", "tale.md").code == 0

    ran = ludic("check", "tale.md", "--baseline", "known.json")
    assert (ran.code, "2 known findings are mended; take them out with --prune" in ran.err) == (0, True)
    assert json.loads((ages / "known.json").read_text(encoding="utf-8"))["findings"] == before
    assert "taken out" in ludic("check", "tale.md", "--baseline", "known.json", "--prune").err
    after = json.loads((ages / "known.json").read_text(encoding="utf-8"))["findings"]
    gone = [entry for entry in before if entry not in after]
    assert [(entry["path"], entry["code"], entry["quote"]) for entry in gone] == [
        ("tale.md", code, "She was six years old when she married it") for code in ("age-fell", "same-weight")
    ]
    assert ludic("check", "tale.md", "--baseline", "known.json").err == ""
    # A finding that comes back after it was mended is new.
    (ages / "tale.md").write_text(AGES, encoding="utf-8")
    (ages / "tale.marks.yaml").write_text(SHEET, encoding="utf-8")
    assert ludic("lock", "tale.md").code == 0
    (ages / "other.md").unlink()
    assert ludic("check", ".", "--baseline", "known.json").code == 0  # its twin's words were known twice


def test_a_story_that_nobody_has_read_can_be_known_and_one_that_was_edited_cannot(
    tale: Path, ludic: Ludic
) -> None:
    assert ludic("check", "tale.md").code == 1
    assert ludic("check", "tale.md", "--baseline", "known.json", "--write-baseline").code == 0
    code, story = judged(ludic, "tale.md", "--baseline", "known.json")
    assert (code, story["state"]) == (0, "unread")
    assert ludic("lock", "tale.md").code == 0
    (tale / "tale.md").write_text("Something else.\n", encoding="utf-8")
    assert ludic("check", "tale.md", "--baseline", "known.json").code == 1


@pytest.mark.parametrize(
    ("arguments", "text", "line"),
    [
        (("--baseline", "none.json"), None, "none.json: no baseline there"),
        (("--write-baseline",), None, "--baseline: no file named; allowed: --baseline FILE"),
        (("--prune",), None, "--baseline: no file named"),
        (("--baseline", "b.json"), "{", "b.json: not valid JSON"),
        (("--baseline", "b.json"), '{"version": 2}', "b.json: version: found 2; allowed: 1"),
        (
            ("--baseline", "b.json"),
            '{"findings": [{"code": "x", "path": "p", "count": 0}]}',
            "findings[0].count",
        ),
    ],
)
def test_a_baseline_that_cannot_be_used_is_one_line(
    ages: Path, ludic: Ludic, arguments: tuple[str, ...], text: str | None, line: str
) -> None:
    if text is not None:
        (ages / "b.json").write_text(text, encoding="utf-8")
    ran = ludic("check", "tale.md", *arguments)
    assert (ran.code, len(ran.faults)) == (2, 1)
    assert line in ran.err


@pytest.mark.parametrize("name", ['"../known.json"', "7", '["x"]', '"a\\u0000b"'])
def test_the_settings_name_no_baseline_outside_of_their_folder(ages: Path, ludic: Ludic, name: str) -> None:
    (ages / "ludic.toml").write_text(f"baseline = {name}\n", encoding="utf-8")
    ran = ludic("check", "tale.md")
    assert (ran.code, len(ran.faults)) == (2, 1)
    assert "tool.ludic.baseline" in ran.err
