"""The formats of `ludic check`, and where each report goes."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from ludic_deepeval.check import CheckResult
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import write_atomic


def _text(result: CheckResult) -> str:
    from ludic_deepeval.report.as_text import check_text  # noqa: PLC0415

    return "".join(f"{line}\n" for line in check_text(result))


def _json(result: CheckResult) -> str:
    import json  # noqa: PLC0415

    from ludic_deepeval.report.as_json import check_json  # noqa: PLC0415

    return json.dumps(check_json(result), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _sarif(result: CheckResult) -> str:
    from ludic_deepeval.report.as_sarif import check_sarif  # noqa: PLC0415

    return check_sarif(within(result, Path.cwd()))


def _junit(result: CheckResult) -> str:
    from ludic_deepeval.report.as_junit import check_junit  # noqa: PLC0415

    return check_junit(within(result, Path.cwd()))


def _github(result: CheckResult) -> str:
    from ludic_deepeval.report.as_github import check_github  # noqa: PLC0415

    return check_github(within(result, Path.cwd()))


def _markdown(result: CheckResult) -> str:
    from ludic_deepeval.report.as_markdown import check_markdown  # noqa: PLC0415

    return check_markdown(within(result, Path.cwd()))


def _html(result: CheckResult) -> str:
    from ludic_deepeval.report.as_html import check_html  # noqa: PLC0415

    return check_html(within(result, Path.cwd()))


# Each imports its module when it is called for: a check in one format loads no other.
FORMATS: Final[dict[str, Callable[[CheckResult], str]]] = {
    "text": _text,
    "json": _json,
    "sarif": _sarif,
    "junit": _junit,
    "github": _github,
    "markdown": _markdown,
    "html": _html,
}
_LINES_OF_A_LOG: Final = frozenset({"text", "github"})


class Target(NamedTuple):
    """A report that was asked for, and its file; None is standard output."""

    format: str
    file: Path | None


def targets(format_name: str | None, reports: Sequence[str]) -> list[Target]:
    """Where which report goes.

    A report for standard output takes the place of the text that nobody asked for, but annotations stand after it:
    both are lines of a log.

    Args:
        format_name: What `--format` says; None for text.
        reports: What each `--report` says: FORMAT=PATH, with `-` for standard output.

    Raises:
        InputError: No such format, no path, two reports for one file, or two for standard output.
    """
    asked = [_target(report) for report in reports]
    main = Target(_known(format_name or "text", "--format"), None)
    shown = [target for target in asked if target.file is None]
    if format_name or all(target.format in _LINES_OF_A_LOG for target in shown):
        asked.insert(0, main)
    shown = [target for target in asked if target.file is None]
    if len(shown) > 1 and [target.format for target in shown] != ["text", "github"]:
        names = " and ".join(target.format for target in shown)
        raise InputError(
            "--report", f"{names} on standard output", allowed="one of them; a file for the other"
        )
    files = [target.file.absolute() for target in asked if target.file]
    if len(set(files)) < len(files):
        raise InputError("--report", "two reports for one file", allowed="a file for each")
    return asked


def _target(report: str) -> Target:
    name, equals, path = report.partition("=")
    if not (equals and path):
        raise InputError(
            "--report", f"found '{clean(report)}'", allowed="FORMAT=PATH, such as sarif=ludic.sarif"
        )
    return Target(_known(name, "--report"), None if path == "-" else Path(path))


def _known(name: str, option: str) -> str:
    if name not in FORMATS:
        raise InputError(option, f"found '{clean(name)}'", allowed=", ".join(FORMATS))
    return name


def write_report(result: CheckResult, name: str, path: Path) -> None:
    """Write a report to its file, whole or not at all.

    Raises:
        InputError: It cannot be written, or would be written over a story or what lies beside it.
    """
    stories = [one.story for one in result.stories]
    taken = {file.resolve() for one in stories for file in (one.file, one.lockfile, one.sheet)}
    if path.resolve() in taken | {Path(error.file).resolve() for error in result.errors}:
        raise InputError(path, "a report would replace a story or what belongs to it", where="--report")
    write_atomic(path, encodable(FORMATS[name](result)))


def encodable(text: str) -> str:
    """The text with what UTF-8 cannot hold escaped: a file's name may be no text at all."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def within(result: CheckResult, folder: Path) -> CheckResult:
    """The same result with paths as they are from a folder, however they were given; those outside are absolute."""
    stories = tuple(replace(story, path=_from(story.path, folder)) for story in result.stories)
    errors = tuple(
        InputError(
            _from(Path(error.file), folder),
            error.found,
            where=error.where,
            allowed=error.allowed,
            hint=error.hint,
        )
        for error in result.errors
    )
    return replace(result, stories=stories, errors=errors)


def _from(path: Path, folder: Path) -> Path:
    # By its name first, so that a link stays what it is called.
    for base, whole in (
        (Path(os.path.abspath(folder)), Path(os.path.abspath(path))),  # noqa: PTH100  # resolve() follows links
        (folder.resolve(), path.resolve()),
    ):
        if whole.is_relative_to(base):
            return whole.relative_to(base)
    return Path(os.path.abspath(path))  # noqa: PTH100
