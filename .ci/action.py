"""What action.yml runs: `ludic check` with its findings as annotations, and the whole report in the job's summary.

To try it anywhere: `LUDIC_PATHS=stories GITHUB_STEP_SUMMARY=summary.md python .ci/action.py`. It reads `LUDIC_PATHS` (one a
line), `LUDIC_CHANGED` (auto, true, false), `LUDIC_BASE` and `LUDIC_ARGS`, and of GitHub's own variables `GITHUB_BASE_REF`,
`GITHUB_STEP_SUMMARY`, `GITHUB_OUTPUT` and `RUNNER_TEMP`. The exit code is that of `ludic check`.
"""

import os
import re
import secrets
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

_PLACE = re.compile(r"^(::(?:error|warning|notice) file=)(?!/|[A-Za-z]%3A|--)", re.MULTILINE)


def main() -> int:
    """Check, annotate, summarise."""
    folder = Path(tempfile.mkdtemp(prefix="ludic-", dir=os.environ.get("RUNNER_TEMP")))
    reports = {
        "json": folder / "ludic.json",
        "markdown": folder / "ludic.md",
        "github": folder / "annotations.txt",
    }
    try:
        options = arguments(os.environ)
    except ValueError as error:
        print(f"::error title=ludic::{_escaped(str(error))}")
        return 2
    written = [f"--report={name}={path}" for name, path in reports.items()]
    # -P: a pydantic.py in the repository that is checked is not what we import.
    code, complaint = run([sys.executable, "-P", "-m", "ludic_deepeval", "check", *written, *options])
    if reports["github"].exists():
        print(from_root(reports["github"].read_text(encoding="utf-8"), prefix()), end="")
        add_to("GITHUB_STEP_SUMMARY", reports["markdown"].read_text(encoding="utf-8"))
        add_to("GITHUB_OUTPUT", f"report={reports['json']}")
    else:
        said = complaint.strip() or f"exit code {code}"
        print(f"::error title=ludic::{_escaped(said)}")
        add_to("GITHUB_STEP_SUMMARY", f"## ludic could not check\n\n{indented(said)}")
    return code


def arguments(inputs: Mapping[str, str]) -> list[str]:
    """The arguments of `ludic check` that the action's inputs stand for.

    Raises:
        ValueError: `LUDIC_CHANGED` is none of its three words, or `LUDIC_ARGS` has a quotation mark too few.
    """
    changed = inputs.get("LUDIC_CHANGED", "").strip() or "auto"
    base = inputs.get("LUDIC_BASE", "").strip()
    if changed not in {"auto", "true", "false"}:
        raise ValueError(f"changed: found '{changed}'; allowed: auto, true, false")
    if changed == "auto":
        changed = "true" if base or inputs.get("GITHUB_BASE_REF") else "false"
    try:
        options = shlex.split(inputs.get("LUDIC_ARGS", ""))
    except ValueError as error:
        raise ValueError(f"args: {error}") from None
    if changed == "true":
        options += ["--changed", *([f"--base={base}"] if base else [])]
    paths = [line.strip() for line in inputs.get("LUDIC_PATHS", "").splitlines()]
    return [*options, "--", *(filter(None, paths) if any(paths) else ["."])]


def run(command: list[str]) -> tuple[int, str]:
    """Run a command; its words are shown, but none of them is obeyed as a command to the runner."""
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}", flush=True)
    done = subprocess.run(command, stderr=subprocess.PIPE, encoding="utf-8", errors="replace", check=False)
    print(done.stderr, end="", flush=True)
    print(f"\n::{token}::", flush=True)
    return done.returncode, done.stderr


def prefix() -> str:
    """The way from the repository's top folder, where GitHub's annotations start, to the current one: "" or "a/b/"."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--show-prefix"], capture_output=True, encoding="utf-8", check=False
        )
    except OSError:
        return ""
    return done.stdout.removesuffix("\n") if done.returncode == 0 else ""


def from_root(annotations: str, way: str) -> str:
    """Annotations whose files start at the top folder."""
    escaped = _escaped(way).replace(":", "%3A").replace(",", "%2C")
    return _PLACE.sub(lambda match: match.group(1) + escaped, annotations)


def add_to(variable: str, text: str) -> None:
    """Append to one of the files that GitHub names; nothing when there is none."""
    if name := os.environ.get(variable):
        with Path(name).open("a", encoding="utf-8") as stream:
            stream.write(text.rstrip("\n") + "\n")


def indented(text: str) -> str:
    """Text as code in Markdown."""
    return "".join(f"    {line}\n" for line in text.splitlines())


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


if __name__ == "__main__":
    sys.exit(main())
