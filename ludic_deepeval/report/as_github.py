"""Annotations on a pull request: lines that GitHub's runner takes for commands.

The runner obeys any line that begins with `::`, so all that is not ours is escaped as its own toolkit does it, and no
text reaches a line of its own.
"""

import re
from typing import Final, NamedTuple

from ludic_deepeval.check import CheckResult, StoryResult
from ludic_deepeval.codes import CODES, SEVERITIES, Severity
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.findings import Finding

MOST: Final = 10
"""How many annotations of a level GitHub shows for a step."""

_COMMAND: Final = {"error": "error", "warning": "warning", "note": "notice"}


class _Line(NamedTuple):
    severity: Severity
    text: str


def check_github(result: CheckResult) -> str:
    """The open findings of `ludic check` as workflow commands: errors first, at most ten of each level.

    What does not fit is counted in a last notice, which is itself one of the ten. Findings that are expected, meant or
    known are left out: nobody has to do anything about them.
    """
    lines = [_unusable(error) for error in result.errors]
    for story in result.stories:
        lines += [_finding(finding, story) for finding in story.findings if finding.status == "open"]
    levels = {severity: [line for line in lines if line.severity == severity] for severity in SEVERITIES}
    shown = {severity: level[:MOST] for severity, level in levels.items()}
    if any(len(level) > MOST for level in levels.values()):
        shown["note"] = shown["note"][: MOST - 1]
    left = len(lines) - sum(map(len, shown.values()))
    told = [line.text for level in shown.values() for line in level]
    if left:
        more = f"{left} more {'finding is' if left == 1 else 'findings are'}"
        told.append(f"::notice::{escape_data(f'{more} in the summary; GitHub shows {MOST} of each level')}")
    return "".join(f"{line}\n" for line in told)


def escape_data(text: str) -> str:
    """A message as the runner's toolkit escapes it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """A property's value as the runner's toolkit escapes it."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _command(severity: Severity, place: dict[str, str], message: str) -> _Line:
    where = ",".join(f"{name}={escape_property(value)}" for name, value in place.items())
    return _Line(severity, f"::{_COMMAND[severity]} {where}::{escape_data(message)}")


def _finding(finding: Finding, story: StoryResult) -> _Line:
    place = {"file": story.file.as_posix(), "line": str(finding.line)}
    if finding.end_line is not None and finding.end_column is not None:
        place["endLine"] = str(finding.end_line)
        # Columns are for a span within a line; GitHub's last column is the last character, not the one after it.
        if finding.end_line == finding.line:
            place |= {
                "col": str(finding.column),
                "endColumn": str(max(finding.end_column - 1, finding.column)),
            }
    place["title"] = f"{CODES[finding.code].what} ({finding.code})"
    message = [_one_line(finding.message)]
    if finding.quote:
        message.append(f"“{_one_line(finding.quote)}”")
    if finding.against:
        message.append(f"against {_one_line(finding.against)}")
    return _command(finding.severity, place, "\n".join(message))


def _unusable(error: InputError) -> _Line:
    place = {"file": error.file}
    line = re.match(r"line (\d+)", error.where)
    if line:
        place["line"] = line.group(1)
    return _command("error", place | {"title": "this file cannot be used"}, str(error))


def _one_line(text: str) -> str:
    return clean(" ".join(text.split()), limit=1000)
