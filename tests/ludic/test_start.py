import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval import __main__ as start
from ludic_deepeval import cli, terminal

STORY = Path(cli.__file__).with_name("demo") / "2-open.md"


@pytest.mark.parametrize(
    "words",
    [
        ["a.md"],
        ["a.md", "b", "--json"],
        ["--quiet", "a.md", "--allow-unread"],
        ["-q", "--json", "--json", "a.md"],
        ["", "a b.md"],
        ["--changed"],
        ["a.md", "--changed", "--base", "HEAD", "--json"],
        ["--base", "-x", "--changed"],
    ],
)
def test_the_fast_start_reads_a_check_as_typer_does(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[dict[str, Any]] = []

    def run_check(paths: list[Path], **options: Any) -> int:
        calls.append({"paths": paths} | {name: value for name, value in options.items() if value})
        return 0

    monkeypatch.setattr(cli, "run_check", run_check)
    monkeypatch.setattr(sys, "argv", ["ludic", "check", *words])
    with pytest.raises(SystemExit):
        cli.main()
    assert calls == [start.plain_check(["check", *words])]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["score", "a.md"],
        ["check"],
        ["check", "--help"],
        ["check", "--json"],
        ["check", "a.md", "--profile", "cosy"],
        ["check", "a.md", "--jsom"],
        ["check", "--", "a.md"],
        ["check", "*.md"],
        ["check", "~/a.md"],
        ["check", "--base", "HEAD"],
        ["check", "--changed", "--base"],
        ["check", "--changed", "--base", ""],
        ["check", "--changed", "--base", "HEAD~1"],
        ["check", "--changed", "--base=HEAD"],
    ],
)
def test_whatever_else_is_left_to_typer(words: list[str]) -> None:
    assert start.plain_check(words) is None


def _ran(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ludic_deepeval", *map(str, words)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def test_the_program_ends_with_all_said_and_the_exit_code(tmp_path: Path) -> None:
    good = _ran("check", STORY, "--json")
    assert (good.returncode, good.stderr) == (0, "")
    assert json.loads(good.stdout)["summary"]["passed"] == 1
    (tmp_path / "new.md").write_text("Nobody has read this.", encoding="utf-8")
    assert _ran("check", tmp_path).returncode == 1
    absent = _ran("check", tmp_path / "absent.md")
    assert absent.returncode == 2
    assert absent.stderr.startswith("ludic: ")
    assert absent.stderr.count("\n") == 1
    assert _ran("schema").returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [f"check '{STORY}' --json", "schema", f"advise '{STORY}' --json"])
def test_a_reader_that_has_seen_enough_is_no_error(words: str, unbuffered: str) -> None:
    code = f"PYTHONUNBUFFERED={unbuffered} {sys.executable} -m ludic_deepeval {words} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", code], capture_output=True, encoding="utf-8", check=False)
    assert (done.stdout.strip(), done.stderr) == ("0", "")


def test_the_fast_start_loads_no_typer() -> None:
    code = (
        "import sys\nfrom ludic_deepeval.__main__ import plain_check\nfrom ludic_deepeval.terminal import run_check\n"
        f"run_check(**plain_check(['check', {str(STORY)!r}]))\nassert 'typer' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
    assert terminal.run_check is cli.run_check


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        [],
        ["--jsom", "a.md"],
        ["absent.md", "--model", "ollama:m"],
        ["absent.md", "--model", "nobody"],
        [STORY, "--dry-run", "--force", "--repeat", "2"],
    ],
)
def test_extract_alone_says_what_it_says_among_the_others(words: list[object]) -> None:
    among = "import sys\nsys.argv[0] = 'ludic'\nfrom ludic_deepeval.cli import main\nmain()"
    command = [sys.executable, "-c", among, "extract", *map(str, words)]
    full = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    alone = _ran("extract", *words)
    assert alone.stdout + alone.stderr != ""
    assert (alone.returncode, alone.stdout, alone.stderr) == (full.returncode, full.stdout, full.stderr)


def test_a_client_is_opened_without_what_only_the_command_of_httpx_needs() -> None:
    pytest.importorskip("ollama")
    code = (
        "import sys\nfrom ludic_deepeval.llm.servers import client_module\nclient_module('ollama')\n"
        "assert 'rich' not in sys.modules and 'httpx._main' not in sys.modules\nimport httpx\nassert callable(httpx.main)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
