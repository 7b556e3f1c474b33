"""What action.yml runs, run here."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".ci" / "action.py"
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
DEMO = ROOT / "ludic_deepeval" / "demo"


@pytest.fixture(scope="module")
def action() -> ModuleType:
    spec = importlib.util.spec_from_file_location("action", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Ran:
    """One run of the script, with the files that GitHub would give it."""

    def __init__(self, folder: Path, cwd: Path | None = None, **inputs: str) -> None:
        quiet = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
        files = {name: str(folder / f"{name}.txt") for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        done = subprocess.run(
            [sys.executable, str(SCRIPT)],
            cwd=cwd or folder,
            env=quiet
            | files
            | {"RUNNER_TEMP": str(folder), "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
            | inputs,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.summary, self.output = (
            Path(name).read_text(encoding="utf-8") if Path(name).exists() else "" for name in files.values()
        )

    @property
    def obeyed(self) -> list[str]:
        """The lines that the runner takes for commands: it trims, and stops where it is told to."""
        found, token = [], None
        for line in map(str.strip, self.out.splitlines()):
            if token is not None:
                token = None if line == f"::{token}::" else token
            elif line.startswith("::stop-commands::"):
                token = line.removeprefix("::stop-commands::")
            elif line.startswith("::") or "##[" in line:
                found.append(line)
        assert token is None
        return found


def broken(folder: Path, count: int = 1) -> None:
    """Copies of the demo's story in which a dead man walks in again, and one that holds."""
    folder.mkdir(exist_ok=True)
    for number in range(count):
        for ending in (".md", ".ledger.json"):
            shutil.copy(DEMO / f"1-closed{ending}", folder / f"s{number:02}{ending}")
    for ending in (".md", ".ledger.json"):
        shutil.copy(DEMO / f"2-open{ending}", folder / f"open{ending}")


def test_a_run_annotates_summarises_and_leaves_a_report(tmp_path: Path) -> None:
    broken(tmp_path / "stories")
    ran = Ran(tmp_path, LUDIC_PATHS="stories")
    assert ran.code == 1
    assert "dead-then-active" in ran.out
    [first, *_] = ran.obeyed
    assert first.startswith("::error file=stories/s00.md,line=")
    assert ran.summary.startswith("## ludic: 1 of 2 stories falls short\n")
    path = re.fullmatch(r"report=(.+)\n", ran.output)
    assert path is not None
    assert json.loads(Path(path.group(1)).read_text(encoding="utf-8"))["summary"]["failed"] == 1


def test_what_holds_exits_with_0_and_a_second_run_adds_to_the_summary(tmp_path: Path) -> None:
    broken(tmp_path / "stories")
    assert Ran(tmp_path, LUDIC_PATHS="stories/open.md").code == 0
    again = Ran(tmp_path, LUDIC_PATHS="stories/open.md\n\n  stories/s00.md  \n")
    assert again.code == 1
    assert again.summary.count("## ludic: ") == 2


def test_annotations_stop_at_ten_errors_first_and_say_how_many_more(tmp_path: Path) -> None:
    broken(tmp_path / "stories", count=14)
    ran = Ran(tmp_path, LUDIC_PATHS="stories")
    levels = [line.split(" ")[0].strip(":") for line in ran.obeyed]
    assert levels.count("error") == 10
    assert max(levels.count("warning"), sum(level.startswith("notice") for level in levels)) <= 10
    assert levels[:10] == ["error"] * 10
    assert "in the summary" in ran.obeyed[-1]
    # All fourteen are in it.
    assert ran.summary.count("### ") == 14


def test_annotations_start_at_the_repositorys_top_folder(tmp_path: Path) -> None:
    inside = tmp_path / "a, b" / "game"
    inside.mkdir(parents=True)
    broken(inside / "stories")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    ran = Ran(tmp_path, cwd=inside, LUDIC_PATHS="stories")
    assert ran.obeyed[0].startswith("::error file=a%2C b/game/stories/s00.md,line=")


def test_only_what_changed_is_checked_when_that_is_asked_for(tmp_path: Path) -> None:
    broken(tmp_path / "stories")
    run = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "stories"], ["commit", "-q", "-m", "start"]):
        subprocess.run([*run, *words], cwd=tmp_path, check=True)
    ran = Ran(tmp_path, LUDIC_PATHS="stories", LUDIC_CHANGED="true")
    assert (ran.code, ran.obeyed) == (0, [])
    assert ran.summary.startswith("## ludic: no story to check\n")
    (tmp_path / "stories/open.ledger.json").unlink()
    ran = Ran(tmp_path, LUDIC_PATHS="stories", LUDIC_BASE="HEAD")
    assert ran.code == 1
    assert [line.split(",")[0] for line in ran.obeyed] == ["::warning file=stories/open.md"]
    ran = Ran(tmp_path, LUDIC_PATHS="stories", GITHUB_BASE_REF="main")
    assert ran.code == 2
    assert ran.obeyed == [
        "::error title=ludic::ludic: --changed: no merge base with origin/main: set fetch-depth: 0"
    ]
    assert "fetch-depth: 0" in ran.summary


def test_a_wrong_input_is_one_annotation_and_exits_with_2(tmp_path: Path) -> None:
    for inputs in (
        {"LUDIC_CHANGED": "perhaps"},
        {"LUDIC_ARGS": "--profile 'cosy"},
        {"LUDIC_BASE": "--output=x"},
    ):
        ran = Ran(tmp_path, **inputs)
        assert ran.code == 2, inputs
        assert len(ran.obeyed) == 1
        assert ran.obeyed[0].startswith("::error title=ludic::")


def test_a_story_gives_the_runner_no_orders(tmp_path: Path) -> None:
    stories = tmp_path / "stories"
    broken(stories)
    for name in ("s00", "open"):
        text = (stories / f"{name}.md").read_text(encoding="utf-8")
        front = text.replace("---\n", '---\ntitle: "::error::owned"\n', 1) if "title:" not in text else text
        front = re.sub(
            r"^title:.*$", 'title: "::add-mask::a ##[error]owned"', front, count=1, flags=re.MULTILINE
        )
        (stories / f"{name}.md").write_text(front, encoding="utf-8")
    (stories / "unread.md").write_text("::warning::owned\n\n::set-env name=A::b\n", encoding="utf-8")
    ran = Ran(tmp_path, LUDIC_PATHS="stories")
    assert "owned" in ran.out
    assert ran.obeyed
    assert all(re.match(r"::(error|warning|notice) file=stories/", line) for line in ran.obeyed)


def test_modules_of_the_repository_that_is_checked_are_not_imported(tmp_path: Path) -> None:
    broken(tmp_path / "stories")
    for name in ("ludic_deepeval", "yaml", "pydantic", "secrets", "shlex"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('owned')", encoding="utf-8")
    ran = Ran(tmp_path, LUDIC_PATHS="stories/open.md")
    assert (ran.code, "owned" in ran.out + ran.err) == (0, False)


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({}, ["--", "."]),
        ({"LUDIC_PATHS": "a b\n-x\n"}, ["--", "a b", "-x"]),
        ({"LUDIC_ARGS": "--profile cosy --baseline 'a b.json'"}, ["--profile", "cosy", "--baseline", "a b.json", "--", "."]),
        ({"GITHUB_BASE_REF": "main"}, ["--changed", "--", "."]),
        ({"GITHUB_BASE_REF": "main", "LUDIC_CHANGED": "false"}, ["--", "."]),
        ({"LUDIC_BASE": "v1; rm -rf ."}, ["--changed", "--base=v1; rm -rf .", "--", "."]),
    ],
)  # fmt: skip
def test_inputs_become_arguments_and_no_more(
    action: ModuleType, inputs: dict[str, str], expected: list[str]
) -> None:
    assert action.arguments(inputs) == expected


def test_only_relative_files_get_the_way_from_the_top(action: ModuleType) -> None:
    lines = "::error file=a.md,line=1::x\n::notice::file=a\n::error file=/abs.md::x\n::warning file=C%3A/a.md::x\n"
    assert action.from_root(lines, "") == lines
    assert action.from_root(lines, "in/") == lines.replace("file=a.md", "file=in/a.md")


# action.yml


def test_inputs_never_stand_in_the_text_of_a_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert step.get("shell", "bash") == "bash"
        assert ("run" in step) != ("uses" in step)
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"])


def test_the_readmes_step_has_inputs_that_there_are() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [steps] = re.findall(r"```yaml\n(- uses:.*?)```", readme, re.DOTALL)
    checkout, ours = yaml.safe_load(steps)
    assert checkout["with"] == {"fetch-depth": 0}
    assert set(ours["with"]) <= set(ACTION["inputs"])


def test_every_input_is_used_and_described() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    for name, described in ACTION["inputs"].items():
        assert described["description"]
        assert f"${{{{ inputs.{name} }}}}" in text
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(ACTION["inputs"])
    # What the script reads is what the action sets.
    [check] = [step for step in ACTION["runs"]["steps"] if step.get("id") == "check"]
    assert set(re.findall(r'"(LUDIC_\w+)"', SCRIPT.read_text(encoding="utf-8"))) == set(check["env"]) - {
        "LUDIC_PYTHON",
        "PYTHONUTF8",
    }


@pytest.mark.skipif(shutil.which("bash") is None, reason="the action's shell")
def test_the_scripts_of_the_steps_run(tmp_path: Path) -> None:
    """The last step's text, in a folder that is not the repository, with the variables that GitHub sets."""
    broken(tmp_path / "stories")
    [check] = [step for step in ACTION["runs"]["steps"] if step.get("id") == "check"]
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", check["run"]],
        cwd=tmp_path,
        env=quiet
        | {
            "GITHUB_ACTION_PATH": str(ROOT),
            "RUNNER_TEMP": str(tmp_path),
            "LUDIC_PYTHON": sys.executable,
            "LUDIC_PATHS": "stories",
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 1
    assert "::error file=stories/s00.md" in done.stdout
