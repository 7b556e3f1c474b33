"""SARIF 2.1.0, the format that code scanning reads (GitHub, Azure DevOps, editors)."""

import json
import os
import re
from collections import Counter
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePath
from typing import Any, Final
from urllib.parse import quote

from ludic_deepeval.check import CheckResult, StoryResult
from ludic_deepeval.codes import CODES, NEVER_MEANT, Code
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.findings import Finding, Placer
from ludic_deepeval.judging import figures
from ludic_deepeval.outcome import Scored
from ludic_deepeval.sources.markdown import SUFFIXES
from ludic_deepeval.text import folded

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT: Final = "%SRCROOT%"
_OTHER_SIDE: Final = 1
_LONGEST_SNIPPET: Final = 1000
_UNUSABLE: Final = "unusable-file"
_WEIGHT: Final = {
    "error": "By default an error: it fails the check.",
    "warning": "By default a warning: it fails the check only where the settings say so.",
    "note": "By default a note: it fails nothing.",
}
_EXIT: Final = {0: "holds", 1: "something falls short", 2: "an input is wrong"}


def check_sarif(result: CheckResult) -> str:
    """The result of `ludic check` as a SARIF log: one run, a result a finding.

    Paths that are relative count from `%SRCROOT%`, the folder of the call; lines and columns count as findings do.
    """
    return json.dumps(sarif_log(result), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def sarif_log(result: CheckResult) -> dict[str, Any]:
    """The log as plain values."""
    # Stories inside one file share it.
    files = {file: at for at, file in enumerate(dict.fromkeys(story.file for story in result.stories))}
    run = {
        "tool": {"driver": _driver()},
        "language": "en",
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The folder that the check was run in."}}},
        "invocations": [_invocation(result)],
        "artifacts": [_artifact(file) for file in files],
        "results": [told for story in result.stories for told in _results(story, files[story.file])],
        "properties": {
            "summary": result.summary,
            "stories": [_properties(story) for story in result.stories],
        },
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _driver() -> dict[str, Any]:
    return {
        "name": "ludic",
        "fullName": "ludic: is a backstory playable, and does it contradict itself?",
        **_version(),
        "rules": [_rule(name, code) for name, code in CODES.items()],
        "notifications": [
            {
                "id": _UNUSABLE,
                "shortDescription": {"text": "A file cannot be used."},
                "fullDescription": {
                    "text": "A story, or a file that belongs to it, cannot be read or is wrong."
                },
                "help": {"text": "The message says what was found, where, and what would have been right."},
            },
        ],
    }


def _version() -> dict[str, str]:
    try:
        return {"version": version("ludic-worth")}
    except PackageNotFoundError:  # run from its sources
        return {}


def _rule(name: str, code: Code) -> dict[str, Any]:
    what = f"{code.what[0].upper()}{code.what[1:]}."
    mend = f"'ludic explain {name}' says why it matters and how to mend it."
    meant = (
        ""
        if name in NEVER_MEANT
        else f" If it is meant, say so in the story's front matter, with a reason: intentional: [{{{{code: {name}, reason: …}}}}]"
    )
    return {
        "id": name,
        "shortDescription": {"text": what},
        "fullDescription": {"text": f"{what} {_WEIGHT[code.severity]}"},
        "help": {"text": mend + meant},
        "defaultConfiguration": {"level": code.severity},
    }


def _invocation(result: CheckResult) -> dict[str, Any]:
    return {
        "executionSuccessful": not result.errors,
        "exitCode": result.exit_code,
        "exitCodeDescription": _EXIT[result.exit_code],
        "toolExecutionNotifications": [_notification(error) for error in result.errors],
    }


def _notification(error: InputError) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": artifact_location(Path(error.file))}
    line = re.match(r"line (\d+)", error.where)
    if line:
        place["region"] = {"startLine": int(line.group(1))}
    return {
        "level": "error",
        "message": {"text": _literal(str(error))},
        "descriptor": {"id": _UNUSABLE, "index": 0},
        "locations": [{"physicalLocation": place}],
    }


def artifact_location(path: PurePath) -> dict[str, Any]:
    """Where a file is: percent-encoded, from `%SRCROOT%` unless the path is absolute."""
    if path.is_absolute():
        return {"uri": path.as_uri()}
    return {"uri": quote(os.fsencode(path.as_posix())), "uriBaseId": _ROOT}


def _artifact(file: PurePath) -> dict[str, Any]:
    return {
        "location": artifact_location(file),
        **({"mimeType": "text/markdown"} if file.suffix.lower() in SUFFIXES else {}),
        "encoding": "UTF-8",
        "roles": ["analysisTarget"],
    }


def _properties(story: StoryResult) -> dict[str, Any]:
    """A story's verdict and figures; those that were not measured are null or left out."""
    head = {
        "path": story.path.as_posix(),
        "id": story.id,
        "title": story.title,
        "profile": story.profile,
        "state": story.state,
        "holds": story.holds,
    }
    return head | (figures(story.outcome.value) if isinstance(story.outcome, Scored) else {})


def _results(story: StoryResult, at: int) -> list[dict[str, Any]]:
    seen: Counter[str] = Counter()
    rules = {name: index for index, name in enumerate(CODES)}
    file = artifact_location(story.file) | {"index": at}
    measured = figures(story.outcome.value) if isinstance(story.outcome, Scored) else {}
    found = []
    for finding in story.findings:
        mark = _fingerprint(finding, story.path)
        seen[mark] += 1
        other = other_side(story, finding)
        told: dict[str, Any] = {
            "ruleId": finding.code,
            "ruleIndex": rules[finding.code],
            "level": finding.severity,
            "message": {"text": _message(finding, other)},
            "locations": [
                {"physicalLocation": {"artifactLocation": file, "region": _region(finding, story)}}
            ],
            "partialFingerprints": {"codeQuotePath/v1": f"{mark}:{seen[mark]}"},
            "suppressions": _suppressions(finding),
            "properties": {"story": story.id, "status": finding.status, "quote": finding.quote}
            | {name: measured.get(name) for name in ("lpi", "pcv", "tier", "quadrant")},
        }
        if other is not None:
            place = {"artifactLocation": file, "region": _region(other, story)}
            words = _literal(f"The other side: “{_line(other.quote or '')}”")
            told["relatedLocations"] = [
                {"id": _OTHER_SIDE, "physicalLocation": place, "message": {"text": words}}
            ]
        found.append(told)
    return found


def _fingerprint(finding: Finding, path: PurePath) -> str:
    """What a finding is known by when its lines have moved."""
    parts = (finding.code, folded(finding.quote or ""), path.as_posix())
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _message(finding: Finding, other: Finding | None) -> str:
    text = _literal(_line(finding.message))
    if not finding.against:
        return text
    against = _literal(_line(finding.against))
    if other is not None:  # an embedded link to the related location
        head, _, tail = against.partition(":")
        against = f"[{head}]({_OTHER_SIDE}):{tail}"
    return f"{text}; against {against}"


def _line(text: str) -> str:
    return clean(" ".join(text.split()), limit=1000)


def _literal(text: str) -> str:
    """A message that says just this: no placeholder (3.11.5) and no embedded link (3.11.6)."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _region(finding: Finding, story: StoryResult) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": finding.line, "startColumn": finding.column}
    if finding.end_line is not None and finding.end_column is not None:
        region |= {"endLine": finding.end_line, "endColumn": finding.end_column}
    prose = story.story.prose
    # A snippet is the file's own text, which in another file may be spelt otherwise.
    if (
        finding.span is not None
        and finding.span[1] - finding.span[0] <= _LONGEST_SNIPPET
        and prose.is_verbatim
    ):
        region["snippet"] = {"text": prose.body[slice(*finding.span)]}
    return region


def _suppressions(finding: Finding) -> list[dict[str, str]]:
    """Why a finding does not count; nothing for an open one, which SARIF reads as not suppressed."""
    if finding.status == "open":
        return []
    kind, why = {
        "intentional": ("inSource", finding.reason or "the front matter says so"),
        "expected": ("inSource", "the front matter expects it"),
        "known": ("external", "in the team's baseline"),
    }[finding.status]
    return [{"kind": kind, "status": "accepted", "justification": why}]


def other_side(story: StoryResult, finding: Finding) -> Finding | None:
    """Where the other side of a contradiction stands in the prose; None when it stands in no prose."""
    if finding.against is None or not isinstance(story.outcome, Scored):
        return None
    reading = story.outcome.value
    placer = Placer(story.story.prose, reading.ledger)
    lists = {npc.id: "npcs" for npc in reading.ledger.npcs}
    lists |= {event.id: "events" for event in reading.ledger.events}
    for fault in reading.consistency.faults:
        if fault.code != finding.code or not finding.message.startswith(fault.message):
            continue
        for item, words in zip(fault.events, fault.quotes, strict=True):
            side = placer.on(lists.get(item, ""), item, fault.code, fault.message)
            if side.span and finding.against == f"{placer.said(side)}: “{words}”":
                return side
    return None
