"""What docs/cli.md shows as output is what the commands print."""

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
STORIES = ROOT / "test_cases/backstories"
Ludic = Callable[..., Any]
HAWKER = (
    "Salt, is it? Take it to Ombrey, friend, they pay double at the bridge.\n\nThe League still owns Kestrel Ford. Nobody has ever said"
    " why the Sisters light no fire there.\n\nMy brother was in Ombrey when it burned.\n"
)
# Those that need no model, no edit in between and no second program.
_SHOWN = (
    "lock tale.md",
    "check tale.md",
    "explain",
    "advise",
    "score",
    "agree",
    "profile show",
    "quests",
    "archive",
    "bible check",
    "sensitivity",
)


def blocks() -> list[tuple[str, str]]:
    """Each command that is shown alone in a block, with the output that is shown for it."""
    text = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    found = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        commands = re.findall(r"(?m)^\$ (.*)$", block)
        first, _, output = block.removeprefix("$ ").partition("\n")
        if (
            len(commands) == 1
            and any(first.startswith(f"ludic {one}") for one in _SHOWN)
            and "--" not in first
        ):
            found.append((first, output))
    return found


def test_the_commands_that_are_held_to_their_output_are_shown() -> None:
    assert [any(first.startswith(f"ludic {one}") for first, _ in blocks()) for one in _SHOWN] == [True] * len(
        _SHOWN
    )


@pytest.fixture
def documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that docs/cli.md speaks of: `tale.md` is "From the Box" without what it expects."""
    shutil.copytree(ROOT / "bible", tmp_path / "bible")
    for file in STORIES.iterdir():
        shutil.copy(file, tmp_path)
    text = (tmp_path / "from-the-box.md").read_text(encoding="utf-8")
    matter, _, prose = text.removeprefix("---\n").partition("\n---\n")
    kept = re.sub(r"(?m)^expect:.*(?:\n[ ].*)*\n?", "", matter)
    (tmp_path / "tale.md").write_text(f"---\n{kept.strip()}\n---\n{prose}", encoding="utf-8")
    for ending in ("ledger.json", "marks.yaml"):
        shutil.copy(STORIES / f"from-the-box.{ending}", tmp_path / f"tale.{ending}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("command", "output"), blocks())
def test_a_command_prints_what_the_documentation_shows(
    documented: Path, ludic: Ludic, command: str, output: str
) -> None:
    assert ludic(*shlex.split(command)[1:]).out.strip() == output.strip()


@pytest.mark.parametrize("page", ["cli.md", "lore.md"])
def test_the_check_against_a_bible_prints_what_both_pages_show(
    documented: Path, ludic: Ludic, page: str
) -> None:
    (documented / "lines").mkdir()
    (documented / "lines/hawker.md").write_text(HAWKER, encoding="utf-8")
    command = "ludic check lines --bible ember-road@v2 --allow-unread"
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    shown = text.partition(f"$ {command}\n")[2].partition("```")[0]
    assert ludic(*shlex.split(command)[1:]).out.strip() == shown.strip()
