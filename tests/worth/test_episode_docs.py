"""What docs/worth-episodes.md and the README of the paper's sheets show as output is what the commands print."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ludic_deepeval.errors import InputError
from worth_deepeval.cli import app

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "worth-episodes.md"
PAGES = (PAGE, ROOT / "test_cases" / "paper-sheets" / "README.md")


def blocks() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for block in re.findall(r"```console\n\$ (.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            command, _, output = block.partition("\n")
            if "two_murder_mysteries" not in command:  # a file of somebody else's
                found.append((command, output))
    return found


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in ("episodes", "paper-sheets"):
        shutil.copytree(ROOT / "test_cases" / part, tmp_path / "test_cases" / part)
    shutil.copy(ROOT / "test_cases" / "control.yaml", tmp_path / "test_cases")
    story = re.search(r"```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert story
    (tmp_path / "bridge.txt").write_text(story.group(1), encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("command", "output"), blocks())
def test_a_command_prints_what_the_page_shows(
    monkeypatch: pytest.MonkeyPatch, command: str, output: str
) -> None:
    monkeypatch.setattr("sys.argv", shlex.split(command))
    done = CliRunner().invoke(app, shlex.split(command)[1:])
    error = f"worth: {done.exception}" if isinstance(done.exception, InputError) else ""
    assert (done.output + error).strip() == output.strip()


def test_every_code_of_a_fault_stands_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    source = (ROOT / "worth_deepeval" / "validate.py").read_text(encoding="utf-8")
    codes = set(re.findall(r'Fault\(\s*"([a-z-]+)"', source)) | set(
        re.findall(r'\("(unknown-[a-z]+)"', source)
    )
    assert len(codes) > 20
    assert {code for code in codes if f"`{code}`" not in page} == set()
    tested = (ROOT / "tests" / "worth" / "test_validate.py").read_text(encoding="utf-8")
    assert {code for code in codes if f'"{code}"' not in tested} == set()
