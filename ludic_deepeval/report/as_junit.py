"""JUnit XML, which every CI server shows as tests: a test case a story."""

import re
import xml.etree.ElementTree as ET  # only writes
from collections import Counter
from pathlib import Path, PurePath
from typing import Final

from ludic_deepeval.check import CheckResult, StoryResult
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.judging import figures
from ludic_deepeval.outcome import Scored
from ludic_deepeval.report.as_text import finding_text

# XML 1.0 knows no other characters; it has no way to escape them either.
_ILLEGAL: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FIGURES: Final = ("lpi", "pcv", "tier", "quadrant", "consistency")
_HERE: Final = "(this folder)"


def check_junit(result: CheckResult) -> str:
    """The result of `ludic check` as JUnit XML: one suite, in which a story passes when it does not fail the check."""
    suites = ET.Element("testsuites", name="ludic")
    suite = ET.SubElement(suites, "testsuite", name="ludic check")
    for story in result.stories:
        _story(suite, story, let_through=result.allow_unread or story.is_known_unread)
    for error in result.errors:
        _unusable(suite, error)
    _tell_apart(suite)
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {"tests": len(suite)} | {
        name: len(suite.findall(f"testcase/{kind}")) for name, kind in kinds.items()
    }
    for name, count in counts.items():
        suite.set(name, str(count))
        if name != "skipped":  # no attribute of the root in the schemas that readers know
            suites.set(name, str(count))
    ET.indent(suites, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def legal(text: str) -> str:
    """The text without the characters that XML 1.0 forbids."""
    return _ILLEGAL.sub("", text)


def _case(suite: ET.Element, path: PurePath, name: str) -> ET.Element:
    folder = path.parent.as_posix()
    return ET.SubElement(
        suite, "testcase", classname=legal(folder) if folder != "." else _HERE, name=legal(name)
    )


def _tell_apart(suite: ET.Element) -> None:
    """Number stories of one folder that have the same id: readers would join their results."""
    seen: Counter[tuple[str | None, str]] = Counter()
    for case in suite:
        key = (case.get("classname"), case.get("name", ""))
        seen[key] += 1
        if seen[key] > 1:
            case.set("name", f"{key[1]} ({seen[key]})")


def _story(suite: ET.Element, story: StoryResult, *, let_through: bool) -> None:
    case = _case(suite, story.path, story.id)
    known: dict[str, object] = {"path": story.path.as_posix()}
    if isinstance(story.outcome, Scored):
        measured = figures(story.outcome.value)
        known |= {name: measured[name] for name in _FIGURES if measured[name] is not None}
    properties = ET.SubElement(case, "properties")
    for name, value in known.items():
        ET.SubElement(properties, "property", name=name, value=_figure(value))
    lines = (line for one in story.findings for line in finding_text(one, column=story.file != story.path))
    told = legal("\n".join(line.removeprefix("  ") for line in lines))
    if story.holds:
        _out(case, told)
    elif story.state != "read":
        reason = legal(clean(story.unscored.reason if story.unscored else story.state, limit=600))
        if let_through:
            ET.SubElement(case, "skipped", type=story.state, message=reason)
            _out(case, told)
        else:
            ET.SubElement(case, "failure", type=story.state, message=reason).text = told
    else:
        first = next(finding for finding in story.findings if finding.fails)
        message = legal(clean(first.message, limit=600))
        ET.SubElement(case, "failure", type=first.code, message=message).text = told


def _unusable(suite: ET.Element, error: InputError) -> None:
    path = Path(error.file)
    said = legal(str(error))
    case = _case(suite, path, path.name or error.file)
    ET.SubElement(case, "error", type="unusable-file", message=said).text = said


def _out(case: ET.Element, told: str) -> None:
    if told:
        ET.SubElement(case, "system-out").text = told


def _figure(value: object) -> str:
    return legal(f"{value:.6g}" if isinstance(value, float) else str(value))
