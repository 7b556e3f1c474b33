"""What the commands do at a terminal, and all of `ludic check`, which starts without Typer (see `__main__`)."""

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any, Final

from ludic_deepeval.errors import InputError, LudicError, clean

if TYPE_CHECKING:
    from ludic_deepeval.check import CheckResult

_COLOURS: Final = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1", "dim": "2"}
_LONG_RUN: Final = 50
INTERRUPTED: Final = 130
"""The exit code after Ctrl-C, as shells have it."""


def painter() -> Callable[[str, str], str]:
    """What colours a text: nothing does where nobody would see it, or wants it."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return lambda text, _: text
    return lambda text, colour: f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def print_json(data: Any) -> None:
    """Print JSON; in a terminal that has no Unicode, with escapes."""
    plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(data, ensure_ascii=plain, indent=1, allow_nan=False))  # noqa: T201


def say(line: str) -> None:
    """Print a line for people. In a job on GitHub a quotation must not be taken for a command of the runner."""
    if os.environ.get("GITHUB_ACTIONS"):
        line = re.sub(r"(?m)^(\s*):(?=:)", r"\1 : ", line.replace("##[", "## ["))
    print(line)  # noqa: T201


def say_now(line: str) -> None:
    """Print a line of what goes on for long: a log is read meanwhile, and the run goes on when nobody reads any more (`| head`)."""
    try:
        say(line)
        sys.stdout.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def complain(error: LudicError, program: str = "ludic") -> None:
    """Print an error on standard error."""
    print(f"{program}: {error}", file=sys.stderr)  # noqa: T201


def progress(paths: list[Path]) -> Iterator[Path]:
    """Show a bar on a terminal when there is something to wait for."""
    if len(paths) < _LONG_RUN or not sys.stderr.isatty():
        return iter(paths)
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import track  # noqa: PLC0415

    return iter(track(paths, description="reading", console=Console(stderr=True), transient=True))


def require_profile(profile: str | None) -> None:
    """Refuse a `--profile` that neither the program nor the working directory's settings have."""
    from ludic_deepeval.policy import PROFILES  # noqa: PLC0415

    if profile is None or profile in PROFILES:
        return
    from ludic_deepeval.settings import find_policy  # noqa: PLC0415  # only for a team's own

    known = (*PROFILES, *(name for name, _ in find_policy(Path.cwd())[0].profiles))
    if profile not in known:
        raise InputError("--profile", f"found '{clean(profile)}'", allowed=", ".join(known))


def run_check(  # noqa: PLR0913  # one argument an option of the command
    paths: list[Path],
    *,
    as_json: bool = False,
    profile: str | None = None,
    allow_unread: bool = False,
    quiet: bool = False,
    baseline: Path | None = None,
    write: bool = False,
    prune: bool = False,
    format_name: str | None = None,
    reports: Sequence[str] = (),
    changed: bool = False,
    base: str | None = None,
    bible: str | None = None,
) -> int:
    """Judge stories, say what was found, and return the exit code: what `ludic check` does."""
    from ludic_deepeval.check import check_stories  # noqa: PLC0415

    require_profile(profile)
    _require_sense(changed=changed, base=base, write=write)
    asked: Sequence[tuple[str, Path | None]] = [("json" if as_json else "text", None)]
    if format_name or reports:
        from ludic_deepeval.report.formats import targets  # noqa: PLC0415

        if as_json and format_name not in {None, "json"}:
            raise InputError("--json", f"beside --format {clean(str(format_name))}", allowed="one of them")
        asked = targets("json" if as_json else format_name, reports)
    paths = [_with_slashes(path) for path in paths]
    known = _baseline_of(paths, baseline)
    since = ""
    if changed:
        from ludic_deepeval.changed import changed_stories  # noqa: PLC0415

        found = changed_stories(paths, base, also=known)
        paths, since = list(found.stories), found.base
    lore = None
    if bible is not None:
        from ludic_deepeval.bible import open_bible  # noqa: PLC0415
        from trulens_feedback.lore import LoreCheck  # noqa: PLC0415  # only this option needs that package

        lore = LoreCheck(open_bible(bible))
    result = check_stories(paths, profile=profile, allow_unread=allow_unread, progress=progress, lore=lore)
    if known is not None or write or prune:
        result = _against(result, known, write=write, prune=prune)
    for name, file in asked:
        if file is None and name == "text" and changed and not paths:
            say(f"no story to check: none has changed since {clean(since)}")
        elif file is None:
            _show(result, name, quiet=quiet)
    for error in result.errors:
        complain(error)
    return max([result.exit_code, *(_written(result, name, file) for name, file in asked if file)])


def _with_slashes(path: Path) -> Path:
    """A path written as on Windows, where no file has that name: lists of files travel between machines."""
    if os.sep == "\\" or "\\" not in str(path) or path.exists():
        return path
    return Path(PureWindowsPath(path).as_posix())


def _show(result: "CheckResult", name: str, *, quiet: bool) -> None:
    """Print a report on standard output."""
    if name == "text":
        from ludic_deepeval.report.as_text import check_text  # noqa: PLC0415

        for line in check_text(result, paint=painter(), quiet=quiet):
            say(line)
    elif name == "json":
        from ludic_deepeval.report.as_json import check_json  # noqa: PLC0415

        print_json(check_json(result))
    else:
        from ludic_deepeval.report.formats import FORMATS  # noqa: PLC0415

        if isinstance(sys.stdout, io.TextIOWrapper):  # programs read these, and as UTF-8
            sys.stdout.reconfigure(encoding="utf-8")
        sys.stdout.write(FORMATS[name](result))


def _written(result: "CheckResult", name: str, file: Path) -> int:
    """Write a report to its file; 2 when that is not possible, which stops no other."""
    from ludic_deepeval.report.formats import write_report  # noqa: PLC0415

    try:
        write_report(result, name, file)
    except InputError as error:
        complain(error)
        return 2
    return 0


def _require_sense(*, changed: bool, base: str | None, write: bool) -> None:
    """Refuse options that do not go together."""
    if base is not None and not changed:
        raise InputError("--base", "says what --changed compares with", allowed="--changed --base REF")
    if changed and write:
        raise InputError("--write-baseline", "not with --changed", allowed="a check of all stories")


def _baseline_of(paths: list[Path], given: Path | None) -> Path | None:
    """The baseline that was asked for, else the one that the settings name."""
    if given is not None:
        return given
    from ludic_deepeval.settings import find_table  # noqa: PLC0415

    start = (paths or [Path()])[0].absolute()
    table, _ = find_table(start if start.is_dir() else start.parent)
    if "baseline" not in table:
        return None
    from ludic_deepeval.baseline import find_baseline  # noqa: PLC0415

    return find_baseline(start if start.is_dir() else start.parent)


def _against(result: "CheckResult", path: Path | None, *, write: bool, prune: bool) -> "CheckResult":
    """Compare with a baseline, and write or prune it where that was asked for."""
    from ludic_deepeval.baseline import (  # noqa: PLC0415
        compare,
        load_baseline,
        make_baseline,
        save_baseline,
    )

    if path is None:
        raise InputError(
            "--baseline", "no file named", allowed='--baseline FILE, or baseline = "FILE" in ludic.toml'
        )
    if write and not result.errors:
        save_baseline(make_baseline(result, path.absolute().parent), path)
    found = compare(result, load_baseline(path), path.absolute().parent)
    if prune and not write and found.mended and not result.errors:
        save_baseline(found.pruned, path)
    if write:
        note(f"{path}: {found.known} known {'finding' if found.known == 1 else 'findings'}")
    elif found.mended:
        count = sum(entry.count for entry in found.mended)
        what = f"{count} known {'finding is' if count == 1 else 'findings are'} mended"
        note(f"{path}: {what}{'; taken out' if prune else '; take them out with --prune'}")
    return found.result


def note(line: str) -> None:
    """Print a line for people beside the result, on standard error."""
    print(clean(line, limit=1000), file=sys.stderr)  # noqa: T201


def _code_of(command: Callable[[], int]) -> int:
    """Run a command that may end as Typer ends every one: by `SystemExit`, and a closed pipe as a 1 that says "falls short"."""
    try:
        return command()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):
            raise end.__context__ from None
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        raise


def guarded(command: Callable[[], int], program: str = "ludic") -> int:
    """Run a command and return its exit code; every error is one line on standard error and exit code 2."""
    for stream in (sys.stdout, sys.stderr):  # a Windows pipe, or a file whose name is no text, ends no run
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _code_of(command)
        sys.stdout.flush()
    except LudicError as error:
        complain(error, program)
        return 2
    except BrokenPipeError:
        # The reader (head, less) has seen enough.
        sys.stdout = None
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    return code
