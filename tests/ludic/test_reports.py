"""Reports from one list of findings. Hostile texts are in every one of them."""

import json
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import product
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator
from junitparser.xunit2 import JUnitXml
from markdown_it import MarkdownIt

from ludic_deepeval.check import CheckResult, StoryResult, check_stories
from ludic_deepeval.codes import CODES
from ludic_deepeval.errors import InputError
from ludic_deepeval.findings import Finding
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.report.as_github import check_github
from ludic_deepeval.report.as_junit import check_junit
from ludic_deepeval.report.as_markdown import LIMIT, check_markdown, inert
from ludic_deepeval.report.as_sarif import artifact_location, check_sarif, sarif_log
from ludic_deepeval.report.formats import FORMATS, within
from ludic_deepeval.sources import Story
from ludic_deepeval.sources.markdown import FrontMatter
from ludic_deepeval.text import Prose

Ludic = Callable[..., Any]
ROOT = Path(__file__).parents[2]
DEMO = ROOT / "ludic_deepeval" / "demo"
BACKSTORIES = ROOT / "test_cases" / "backstories"
SCHEMA = Draft4Validator(
    json.loads((Path(__file__).parent / "data" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
)
ATTACKS = [
    "@octocat",
    "<script>alert(1)</script>",
    "<img src=https://evil.example/b.png>",
    "![beacon](https://evil.example/b.png)",
    "[click](javascript:alert(1))",
    "[ref]: https://evil.example",
    "<https://evil.example>",
    "www.evil.example and evil.com",
    "me@evil.example",
    "a | b `c` *d* _e_ ~~f~~ **g**",
    "octo/repo#12 and GH-12 and #12 :octocat:",
    "$\\href{https://evil.example}{x}$",
    "</details></summary><!--",
    "\n::set-output name=token::x",
    "\r\n::add-mask::hunter2",
    "##[add-mask]hunter2",
    "%0A::stop-commands::x",
    "a,line=1::b",
    "]]></failure><failure/>",
    "{0} {{1}} [a](1) \\",
    "\x00\x01\x1b[31m\x85\u2028\u202e\ufffe",
    "# h\n- l\n1. o\n> q\n\n    c",
]


def finding(**changes: Any) -> Finding:
    return Finding(
        **{"code": "age-fell", "severity": "error", "message": "m", "line": 1, "column": 1} | changes
    )


def story(
    *findings: Finding, path: str = "a.md", title: str = "A", state: Any = "read", holds: bool = False
) -> StoryResult:
    """A story nobody scored, with these findings."""
    prose = Prose("Some prose.", path)
    read = Story(Path(path), prose, FrontMatter())
    why = Unscored("unread", "not read yet")
    unscored = None if state == "read" else why
    return StoryResult(Path(path), read, "a", title, "campaign", state, why, findings, holds, unscored)


def result(*stories: StoryResult, errors: tuple[InputError, ...] = (), allow: bool = False) -> CheckResult:
    return CheckResult(stories, errors, allow)


def hostile(text: str) -> CheckResult:
    """The same text wherever somebody else's text may stand."""
    quoted = finding(message=text, quote=text, against=text, span=(0, 4), end_line=1, end_column=5)
    meant = finding(message=text, severity="note", status="intentional", reason=text)
    name = text.replace("\x00", "").replace("/", "") or "x"
    return result(
        story(quoted, finding(message=text), meant, path=f"{name}.md", title=text),
        story(finding(message=text, severity="warning"), path=f"{name}/b.md", title=text, holds=True),
        errors=(InputError(f"{name}.md", text, where=text),),
    )


TEXTS = st.lists(
    st.sampled_from(ATTACKS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=4
).map(" ".join)


def on_hostile_texts(examples: int) -> Callable[[Callable[[str], None]], Callable[[], None]]:
    """Run a test on every attack, and on mixtures of them with any text."""

    def decorate(test: Callable[[str], None]) -> Callable[[], None]:
        for attack in ATTACKS:
            test = example(attack)(test)
        tried: Callable[[], None] = settings(max_examples=examples)(given(TEXTS)(test))
        return tried

    return decorate


FRONT = "---\nexpect: {gate: fail}\n---\n"
AGES = """\
😀 Zoë was nine when she first saw the sea.

It meant nothing at all. “When I was seven I sailed it,” she would say of her grown years.
"""
AGES_SHEET = """\
sheet: 1
protagonist: Zoë
events:
- {phase: childhood, id: sea, summary: sees the sea, quote: Zoë was nine when she first saw the sea, physical: [{kind: age, age: 9}], immediacy: 1, gravity: 1, linkage: 1, divergence: 1}
- {phase: adult, id: sail, summary: sails, quote: When I was seven I sailed it, physical: [{kind: age, age: 7}], immediacy: 1, gravity: 1, linkage: 1, divergence: 1}
"""


@pytest.fixture
def ages(tale: Path, ludic: Ludic) -> Path:
    """A locked story whose heroine grows younger, in the working directory; and nothing else."""
    for name in ("tale.md", "tale.marks.yaml"):
        (tale / name).unlink()
    (tale / "ages.md").write_text(FRONT + AGES, encoding="utf-8")
    (tale / "ages.marks.yaml").write_text(AGES_SHEET, encoding="utf-8")
    assert ludic("lock", "ages.md").code == 0
    return tale


@pytest.fixture
def corpus(ages: Path, ludic: Ludic) -> Path:
    """Stories of every kind: it contradicts itself, holds, was never read, cannot be used."""
    for file in DEMO.glob("2-open.*"):
        (ages / file.name).write_bytes(file.read_bytes())
    (ages / "later").mkdir()
    (ages / "later" / "new.md").write_text("Nobody has read this.\n", encoding="utf-8")
    (ages / "later" / "open front.md").write_text("---\nid: x\n", encoding="utf-8")
    return ages


def sarif_of(ludic: Ludic, *arguments: object) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(ludic("check", "--format", "sarif", *arguments).out)["runs"][0]
    return run


# One list


def key(found: dict[str, Any]) -> tuple[Any, ...]:
    return (found["code"], found["severity"], found["line"], found["column"], found["quote"], found["status"])


def test_findings_their_order_and_the_exit_code_depend_on_no_format_path_style_or_folder(
    corpus: Path, ludic: Ludic, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected = [[key(vars_of(one)) for one in read.findings] for read in check_stories([corpus]).stories]
    assert [len(findings) > 0 for findings in expected] == [False, True, True]  # 2-open, ages, later/new
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    styles: dict[str, Callable[[str], str]] = {
        "plain": str,
        "dotted": lambda path: f"./{path}",
        "trailing": lambda path: f"{path}/",
        "windows": lambda path: path.replace("/", "\\"),
        "absolute": lambda path: str((Path.cwd() / path).resolve()),
    }
    places = [(corpus.parent, corpus.name), (corpus, f"../{corpus.name}"), (elsewhere, f"../{corpus.name}")]
    # Every format with every style, each of them in every place.
    for (i, name), (j, style) in product(enumerate(FORMATS), enumerate(styles)):
        place, path = places[(i + j) % len(places)]
        monkeypatch.chdir(place)
        kept, log = elsewhere / "kept.json", elsewhere / "log.sarif"
        ran = ludic(
            "check",
            styles[style](path),
            "--format",
            name,
            "--report",
            f"json={kept}",
            "--report",
            f"sarif={log}",
        )
        data = json.loads(kept.read_text(encoding="utf-8"))
        assert ran.code == 2
        assert [[key(one) for one in read["findings"]] for read in data["stories"]] == expected, (name, style)
        run = json.loads(log.read_text(encoding="utf-8"))["runs"][0]
        told = [(one["ruleId"], one["level"], one["properties"]["status"]) for one in run["results"]]
        assert told == [(one[0], one[1], one[5]) for findings in expected for one in findings]
        marks = [one["partialFingerprints"] for one in run["results"]]
        uris = [one["location"]["uri"] for one in run["artifacts"]]
        if place == corpus:
            assert uris == ["2-open.md", "ages.md", "later/new.md"]
        if place == corpus.parent:
            assert uris == [f"{corpus.name}/{name}" for name in ("2-open.md", "ages.md", "later/new.md")]
        assert len({json.dumps(mark) for mark in marks}) == len(marks)


def vars_of(one: Finding) -> dict[str, Any]:
    return {name: getattr(one, name) for name in ("code", "severity", "line", "column", "quote", "status")}


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in {"text", "json"}])
def test_a_report_is_the_same_to_the_byte_from_however_the_path_was_written(
    name: str, ages: Path, ludic: Ludic
) -> None:
    first = ludic("check", "ages.md", "--format", name).out
    for path in (ages / "ages.md", "./ages.md", f"../{ages.name}/ages.md", "."):
        assert ludic("check", path, "--format", name).out == first


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_in_a_file_is_what_the_format_prints(name: str, ages: Path, ludic: Ludic) -> None:
    ran = ludic("check", "ages.md", "--report", f"{name}=out.report", "--format", name)
    assert (ages / "out.report").read_text(encoding="utf-8") == ran.out
    assert ran.code == 1


def test_json_is_short_for_its_format_and_text_is_the_default(ages: Path, ludic: Ludic) -> None:
    assert ludic("check", "ages.md", "--json").out == ludic("check", "ages.md", "--format", "json").out
    assert ludic("check", "ages.md").out == ludic("check", "ages.md", "--format", "text").out


def test_a_report_on_standard_output_takes_the_place_of_text_and_annotations_follow_it(
    ages: Path, ludic: Ludic
) -> None:
    text = ludic("check", "ages.md").out
    assert (
        ludic("check", "ages.md", "--report", "sarif=-").out
        == ludic("check", "ages.md", "--format", "sarif").out
    )
    both = ludic("check", "ages.md", "--report", "github=-").out
    assert both == text + ludic("check", "ages.md", "--format", "github").out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--format", "sarf"], "ludic: --format: found 'sarf'; allowed: text, json, sarif, junit, github"),
        (["--report", "sarf=a"], "ludic: --report: found 'sarf'"),
        (["--report", "sarif"], "FORMAT=PATH"),
        (["--report", "sarif="], "FORMAT=PATH"),
        (["--json", "--format", "sarif"], "ludic: --json: beside --format sarif"),
        (["--format", "json", "--report", "sarif=-"], "json and sarif on standard output"),
        (["--report", "json=a", "--report", "sarif=./a"], "two reports for one file"),
        (["--report", "text=ages.md"], "a report would replace a story or what belongs to it"),
        (["--report", "text=ages.ledger.json"], "a report would replace a story"),
        (["--report", "text=absent/a.txt"], "cannot be written"),
    ],
)
def test_a_wrong_call_is_one_line_and_replaces_nothing(
    options: list[str], said: str, ages: Path, ludic: Ludic
) -> None:
    before = {file: file.read_bytes() for file in ages.iterdir()}
    ran = ludic("check", "ages.md", *options)
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.faults) == 1
    assert {file: file.read_bytes() for file in ages.iterdir()} == before


@pytest.mark.skipif(sys.platform == "win32", reason="names are text there")
def test_a_name_that_is_no_text_breaks_no_report(tmp_path: Path) -> None:
    name = b"caf\xe9 100%.md".decode("utf-8", "surrogateescape")
    told = result(story(finding(), path=name))
    log = sarif_log(told)
    assert log["runs"][0]["artifacts"][0]["location"]["uri"] == "caf%E9%20100%25.md"
    for name, report in FORMATS.items():
        assert "caf" in report(told).encode("utf-8", "backslashreplace").decode(), name


# SARIF


@pytest.mark.parametrize("folder", [DEMO, BACKSTORIES])
def test_the_sarif_of_our_own_stories_is_valid(folder: Path) -> None:
    log = json.loads(check_sarif(within(check_stories([folder]), ROOT)))
    SCHEMA.validate(log)
    for told in log["runs"][0]["results"]:
        place = told["locations"][0]["physicalLocation"]
        lines = re.split(r"\r\n|\r|\n", (ROOT / place["artifactLocation"]["uri"]).read_text(encoding="utf-8"))
        region = place["region"]
        if region.get("endLine") == region["startLine"]:  # what the columns cut out is what is quoted
            cut = lines[region["startLine"] - 1][region["startColumn"] - 1 : region["endColumn"] - 1]
            assert cut == region["snippet"]["text"]


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_sarif_is_valid_and_its_messages_hold_no_link_and_no_placeholder(attack: str) -> None:
    log = json.loads(check_sarif(hostile(attack)))
    SCHEMA.validate(log)
    run = log["runs"][0]
    told = [*run["results"], *run["invocations"][0]["toolExecutionNotifications"]]
    for text in [one["message"]["text"] for one in told]:
        assert "](" not in text
        assert not {"{", "}"}.intersection(text.replace("{{", "").replace("}}", ""))


def test_sarif_has_the_place_the_other_side_and_how_it_ended(ages: Path, ludic: Ludic) -> None:
    run = sarif_of(ludic, "ages.md")
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["invocations"] == [
        {
            "executionSuccessful": True,
            "exitCode": 1,
            "exitCodeDescription": "something falls short",
            "toolExecutionNotifications": [],
        }
    ]
    told = run["results"][0]
    assert (told["ruleId"], told["level"], told["suppressions"]) == ("age-fell", "error", [])
    # "It meant nothing at all. “" has 26 characters, the quotation 28.
    place = told["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "ages.md", "uriBaseId": "%SRCROOT%", "index": 0}
    assert place["region"] == {
        "startLine": 6,
        "startColumn": 27,
        "endLine": 6,
        "endColumn": 55,
        "snippet": {"text": "When I was seven I sailed it"},
    }
    [other] = told["relatedLocations"]
    # The emoji is one character here and two units in UTF-16; a blank; then 39 characters.
    assert other["physicalLocation"]["region"] == {
        "startLine": 4,
        "startColumn": 3,
        "endLine": 4,
        "endColumn": 42,
        "snippet": {"text": "Zoë was nine when she first saw the sea"},
    }
    assert f"against [line 4]({other['id']}): “Zoë was nine" in told["message"]["text"]
    assert run["tool"]["driver"]["rules"][told["ruleIndex"]]["id"] == "age-fell"
    # PCV: two events of 10 each, and no LPI.
    assert {name: told["properties"][name] for name in ("lpi", "pcv", "tier")} == {
        "lpi": 0,
        "pcv": 20,
        "tier": "insufficient",
    }


def test_sarif_rules_are_the_codes(ages: Path, ludic: Ludic) -> None:
    rules = sarif_of(ludic, "ages.md")["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(CODES)
    assert [rule["defaultConfiguration"]["level"] for rule in rules] == [
        code.severity for code in CODES.values()
    ]
    assert all(rule["fullDescription"]["text"] and "helpUri" not in rule for rule in rules)


def test_sarif_fingerprints_stay_when_lines_move_and_tell_equal_findings_apart(
    ages: Path, ludic: Ludic
) -> None:
    def marks() -> list[tuple[str, str, int]]:
        return [
            (
                told["ruleId"],
                told["partialFingerprints"]["codeQuotePath/v1"],
                told["locations"][0]["physicalLocation"]["region"]["startLine"],
            )
            for told in sarif_of(ludic, "ages.md")["results"]
        ]

    before = marks()
    (ages / "ages.md").write_text(FRONT + "A first line,\n\nand a third.\n\n" + AGES, encoding="utf-8")
    ludic("relock", "--read", "ages.md")
    after = marks()
    assert [mark[:2] for mark in after] == [mark[:2] for mark in before]
    assert (before[0][2], after[0][2]) == (6, 10)
    twice = sarif_log(result(story(finding(quote="a b c"), finding(quote="a  b\nc"), finding(quote="a b d"))))
    first, second, third = (
        told["partialFingerprints"]["codeQuotePath/v1"] for told in twice["runs"][0]["results"]
    )
    assert second == first.removesuffix(":1") + ":2"
    assert third.endswith(":1")
    assert third != first


def test_sarif_suppresses_what_is_meant_expected_or_known() -> None:
    told = sarif_log(
        result(
            story(
                finding(status="intentional", severity="note", reason="a ghost story"),
                finding(status="expected", severity="note"),
                finding(status="known", severity="note"),
            )
        )
    )["runs"][0]["results"]
    assert [one["suppressions"] for one in told] == [
        [{"kind": "inSource", "status": "accepted", "justification": "a ghost story"}],
        [{"kind": "inSource", "status": "accepted", "justification": "the front matter expects it"}],
        [{"kind": "external", "status": "accepted", "justification": "in the team's baseline"}],
    ]


def test_sarif_notifies_of_files_that_cannot_be_used(corpus: Path, ludic: Ludic) -> None:
    [run] = sarif_of(ludic, "later")["invocations"]
    assert (run["executionSuccessful"], run["exitCode"]) == (False, 2)
    [told] = run["toolExecutionNotifications"]
    assert told["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "later/open%20front.md", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 1},
    }


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        (PurePosixPath("a b/c#d?e%f.md"), "a%20b/c%23d%3Fe%25f.md"),
        (PurePosixPath("c:d.md"), "c%3Ad.md"),
        (PurePosixPath("修.md"), "%E4%BF%AE.md"),
        (PureWindowsPath(r"stories\a b.md"), "stories/a%20b.md"),
        (PurePosixPath("/srv/a b.md"), "file:///srv/a%20b.md"),
        (PureWindowsPath(r"C:\srv\a b.md"), "file:///C:/srv/a%20b.md"),
    ],
)
def test_addresses_are_percent_encoded_and_relative_ones_have_a_base(path: Any, uri: str) -> None:
    base = {} if path.is_absolute() else {"uriBaseId": "%SRCROOT%"}
    assert artifact_location(path) == {"uri": uri} | base
    assert unquote(uri).endswith(path.as_posix())


def test_a_path_through_a_folder_above_is_not_taken_for_one_below(tmp_path: Path) -> None:
    inside, outside = tmp_path / "here", tmp_path / "there"
    told = within(result(story(path=str(inside / ".." / "there" / "a.md"))), inside)
    assert told.stories[0].path == outside / "a.md"


# JUnit


def test_junit_has_a_case_a_story_with_its_figures(corpus: Path, ludic: Ludic) -> None:
    [suite] = JUnitXml.fromstring(ludic("check", ".", "--format", "junit").out.encode())
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (4, 2, 1, 0)
    cases = {case.name: case for case in suite}
    assert list(cases) == ["open", "ages", "new", "open front.md"]
    assert [case.classname for case in cases.values()] == ["(this folder)", "(this folder)", "later", "later"]
    assert cases["open"].is_passed
    assert {one.name: one.value for one in cases["ages"].properties()} == {
        "path": "ages.md",
        "lpi": "0",
        "pcv": "20",
        "tier": "insufficient",
        "quadrant": "unplayable-draft",
        "consistency": "0",
    }
    [failure] = cases["ages"].result
    assert (failure.type, failure.message) == (
        "age-fell",
        "aged 9 in childhood (P1), then 7 in adulthood (P3)",
    )
    assert "against line 4: “Zoë was nine when she first saw the sea”" in failure.text
    assert [type(one).__name__ for one in cases["new"].result] == ["Failure"]
    assert [type(one).__name__ for one in cases["open front.md"].result] == ["Error"]


def test_junit_skips_what_is_let_through(corpus: Path, ludic: Ludic) -> None:
    ran = ludic("check", "later/new.md", "--format", "junit", "--allow-unread")
    [suite] = JUnitXml.fromstring(ran.out.encode())
    assert (ran.code, suite.failures, suite.errors, suite.skipped) == (0, 0, 0, 1)
    [case] = suite
    assert case.result[0].message.startswith("not read yet")
    known = story(finding(code="unread", severity="note", status="known"), state="unread")
    [suite] = JUnitXml.fromstring(check_junit(result(known)).encode())
    assert (result(known).exit_code, suite.skipped) == (0, 1)


def test_junit_tells_stories_of_one_id_apart() -> None:
    [suite] = JUnitXml.fromstring(
        check_junit(result(*[story(finding(), path=path) for path in ("a.md", "b.md", "c/b.md")])).encode()
    )
    assert [(case.classname, case.name) for case in suite] == [
        ("(this folder)", "a"),
        ("(this folder)", "a (2)"),
        ("c", "a"),
    ]


@on_hostile_texts(60)
def test_junit_is_xml_whatever_is_in_it(text: str) -> None:
    read = ET.fromstring(check_junit(hostile(text)))  # noqa: S314  # our own
    assert sorted({one.tag for one in read.iter()}) == [
        "error",
        "failure",
        "properties",
        "property",
        "system-out",
        "testcase",
        "testsuite",
        "testsuites",
    ]
    assert len(read.findall(".//testcase")) == 3


# Annotations


def obeyed(line: str) -> tuple[str, dict[str, str], str] | None:
    """What GitHub's runner makes of a line, written after its own parser: command, properties, data."""
    line = line.lstrip()
    if not line.startswith("::") or "::" not in line[2:]:
        return None
    info, _, data = line[2:].partition("::")
    name, _, rest = info.partition(" ")

    def plain(text: str, *more: tuple[str, str]) -> str:
        for code, char in (("%0D", "\r"), ("%0A", "\n"), *more, ("%25", "%")):
            text = text.replace(code, char)
        return text

    pairs = [pair.split("=", 1) for pair in rest.split(",") if "=" in pair]
    return name, {key: plain(value, ("%3A", ":"), ("%2C", ",")) for key, value in pairs}, plain(data)


@on_hostile_texts(100)
def test_no_prose_writes_a_command_of_its_own(text: str) -> None:
    told = hostile(text)
    lines = re.split(r"\r\n|\r|\n", check_github(told))
    assert lines.pop() == ""
    assert len(lines) == 4  # a file, two errors, a warning; what is meant is left out
    for line in lines:
        command = obeyed(line)
        assert command is not None
        name, properties, data = command
        assert name in {"error", "warning"}
        assert set(properties) <= {"file", "line", "endLine", "col", "endColumn", "title"}
        assert data.count("\n") <= 2
    read = obeyed(lines[1])
    assert read is not None
    assert read[1]["file"] == told.stories[0].path.as_posix()
    assert (read[1]["line"], read[1]["col"], read[1]["endColumn"]) == ("1", "1", "4")


def test_an_annotation_is_what_github_documents(ages: Path, ludic: Ludic) -> None:
    first = ludic("check", "ages.md", "--format", "github").out.splitlines()[0]
    # GitHub's last column is that of the last character: 27 + 28 - 1.
    assert first == (
        "::error file=ages.md,line=6,endLine=6,col=27,endColumn=54,title=a stated age is lower than an earlier one (age-fell)"
        "::aged 9 in childhood (P1), then 7 in adulthood (P3)%0A“When I was seven I sailed it”"
        "%0Aagainst line 4: “Zoë was nine when she first saw the sea”"
    )


def test_an_annotation_over_several_lines_has_no_columns() -> None:
    told = check_github(result(story(finding(quote="q", column=7, end_line=3, end_column=2))))
    assert told.startswith("::error file=a.md,line=1,endLine=3,title=")


def test_at_most_ten_of_a_level_and_errors_first() -> None:
    found = [
        *[finding(severity="note", code="bare-linkage") for _ in range(10)],
        *[finding(severity="warning", code="no-goal") for _ in range(3)],
        *[finding() for _ in range(12)],
    ]
    lines = check_github(result(story(*found))).splitlines()
    # Two errors do not fit, and the notice that says so costs a tenth note its place.
    assert [line.split(" ")[0].split("::")[1] for line in lines] == ["error"] * 10 + ["warning"] * 3 + [
        "notice"
    ] * 10
    assert lines[-1] == "::notice::3 more findings are in the summary; GitHub shows 10 of each level"


# Markdown


class Page(HTMLParser):
    """The tags of a page, its attributes, and its text outside code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words: list[str] = []
        self.odd: list[str] = []
        self._code = 0
        self.feed(MarkdownIt("gfm-like", {"html": True}).render(text))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self._code += tag == "code"

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag == "code"

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.words.append(data)

    def handle_comment(self, data: str) -> None:
        self.odd.append(data)

    handle_decl = handle_pi = unknown_decl = handle_comment

    @property
    def text(self) -> str:
        return "".join(self.words)


OURS = set("h2 h3 p table thead tbody tr th td strong code ul li blockquote details summary br span".split())


@on_hostile_texts(100)
def test_nothing_of_somebody_else_does_anything_in_markdown(text: str) -> None:
    page = Page(check_markdown(hostile(text)))
    assert page.tags <= OURS
    assert page.attributes == set()
    assert page.odd == []
    for looked_for in (r"@\w", r"#\d", r"://", r"\bwww\.", r"(?i)\bgh-\d", r":\w+:", r"\$\w.*\$"):
        assert not any(re.search(looked_for, words) for words in page.words), looked_for


@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if attack.isprintable()])
def test_inert_text_still_reads_as_it_was_written(attack: str) -> None:
    page = Page(f"> {inert('x ' + attack)}\n")
    assert page.text.strip().replace("\u200b", "") == f"x {attack}"
    table = Page(f"| a | b |\n|---|---|\n| {inert(attack)} | z |\n")
    assert table.text.replace("\u200b", "").split() == ["a", "b", *attack.split(), "z"]


def test_markdown_says_the_verdict_what_is_the_matter_and_the_smallest_fix(
    corpus: Path, ludic: Ludic
) -> None:
    text = ludic("check", ".", "--format", "markdown").out
    heading = text.splitlines()[0]
    assert (
        heading == "## ludic: 1 of 3 stories falls short, 1 is not read or not scored, 1 file cannot be used"
    )
    rows = [line for line in text.splitlines() if line.startswith(("| **", "| `"))]
    assert rows[0].startswith(
        "| **The Ferry Clerk, second draft**<br>`2-open.md` | holds | ready to play | 0 | 3 (2 urgent) |"
    )
    assert rows[1].startswith("| `ages.md` | **falls short** | not playable yet")
    assert rows[2] == "| `later/new.md` | not read | – | – | – | – | – | – |"
    assert (
        "- **error** in `ages.md`, line 6: aged 9 in childhood (P1), then 7 in adulthood (P3) (age-fell)\n\n  > “When I"
        in text
    )
    assert "  > against line 4: “Zoë was nine when she first saw the sea”\n" in text
    assert "ludic annotate `later/new.md`" in text
    assert "Smallest fix" not in text  # it is expected to be thin
    demo = check_markdown(check_stories([DEMO]))
    assert "**Smallest fix**: LPI 0.03 → " in demo
    assert "\n- one more urgent thread\n" in demo


@pytest.mark.parametrize(
    ("told", "heading"),
    [
        (result(story(finding())), "the story falls short"),
        (result(story(state="unread")), "the story is not read or not scored"),
        (result(story(state="unread"), allow=True), "no story falls short"),
        (
            result(*[story(state="unread")] * 2, story(holds=True)),
            "2 of 3 stories are not read or not scored",
        ),
        (result(*[story(finding())] * 2), "2 of 2 stories fall short"),
        (result(story(holds=True)), "every story is as it should be"),
        (result(errors=(InputError("a.md", "bad"),)), "1 file cannot be used"),
        (result(), "no story to check"),
    ],
)
def test_markdown_begins_with_the_verdict(told: CheckResult, heading: str) -> None:
    assert check_markdown(told).splitlines()[0] == f"## ludic: {heading}"


def test_markdown_folds_stories_that_hold_away(corpus: Path) -> None:
    held = story(finding(severity="warning", code="no-goal", message="pursues nothing"), holds=True)
    text = check_markdown(result(held))
    assert text.startswith("## ludic: every story is as it should be\n")
    fold = text[text.index("<details>") : text.index("</details>")]
    assert "1 story that holds, with remarks" in fold
    assert "pursues nothing" in fold


def test_markdown_fits_a_comment_and_says_what_was_cut() -> None:
    many = [story(*[finding(message=f"m{at}", quote="q " * 60)] * 5, path=f"{at}.md") for at in range(400)]
    text = check_markdown(result(*many))
    assert LIMIT * 0.9 < len(text) <= LIMIT < 65_536
    shown, rows = text.count("- **error**"), len(re.findall(r"^\| \*\*A\*\*", text, re.MULTILINE))
    assert (
        f"Cut to fit here: {400 - rows} lines of the table, {2000 - shown} findings" in text.splitlines()[-1]
    )
    assert text.count("<details>") == text.count("</details>")
    assert len(check_markdown(result(*many), limit=4000)) <= 4000
    assert "Cut" not in check_markdown(result(*many[:10]))


def test_a_plain_check_loads_no_other_report() -> None:
    import subprocess

    code = (
        "import sys\nfrom ludic_deepeval.terminal import run_check\nfrom pathlib import Path\n"
        f"run_check([Path({str(DEMO / '2-open.md')!r})])\n"
        "told = {name for name in sys.modules if name.startswith('ludic_deepeval.report.')}\n"
        "assert told == {'ludic_deepeval.report.as_text'}, told\nassert 'xml.etree' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
