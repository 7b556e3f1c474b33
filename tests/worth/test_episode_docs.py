"""What docs/worth.md, docs/worth-episodes.md and the README of the paper's sheets show as output is what the commands print."""

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
PAGES = (PAGE, ROOT / "docs" / "worth.md", ROOT / "test_cases" / "paper-sheets" / "README.md")
# A file of somebody else's; files of the reader's own; a command of Inspect.
ELSEWHERE = ("two_murder_mysteries", "import-run EP", "inspect eval")
PLAYS = """\
player,episode,submitted_at,clue_sentence_ids,selected_role_ids,trial
p1,WEN01,2026-08-30T10:00:00,S021 S082,R05,
p1,WEN01,2026-08-30T11:00:00,S021,R05,
p2,WEN01,2026-08-30T10:00:00,S021,R05,yes
p3,WEN01,2026-08-30T10:00:00,S207,R05,
"""


def blocks() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for block in re.findall(r"```console\n\$ (.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            command, _, output = block.replace("\\\n", " ").partition("\n")
            if command.startswith("cd "):
                second, _, output = output.removeprefix("$ ").partition("\n")
                command = f"{command}\n{second}"
            if not any(one in command for one in ELSEWHERE):
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
    (tmp_path / "plays.csv").write_text(PLAYS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    replies = Path("test_cases/episodes/WEN01/recordings/protocol")
    for model, names in {
        "example A": ("direct", "embedded-fence", "direct-nobody"),
        "example B": ("direct", "direct-nobody", "unscored-refusal"),
    }.items():
        files = [str(replies / f"{name}.txt") for name in names]
        how = [
            "--model",
            model,
            "--interface",
            "none",
            "--tested",
            "2026-08-30",
            "--hand-written",
            "--out",
            "runs",
        ]
        assert (
            CliRunner().invoke(app, ["import-run", "test_cases/episodes/WEN01", *files, *how]).exit_code == 0
        )


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("command", "output"), blocks())
def test_a_command_prints_what_the_page_shows(
    monkeypatch: pytest.MonkeyPatch, command: str, output: str
) -> None:
    if command.startswith("cd "):
        folder, _, command = command.partition("\n")
        monkeypatch.chdir(shlex.split(folder, comments=True)[1])
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
