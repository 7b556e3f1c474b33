"""What docs/validity.md shows as output is what the commands print; ends of resampled intervals aside."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy", reason="the extra studies")

ROOT = Path(__file__).parents[2]
_ENDS = re.compile(r"\[-?\d\.\d+, -?\d\.\d+\]")
_SEARCHED = "weights fit"  # its figures are those of searches, which another SciPy may end elsewhere


def test_the_commands_print_what_the_page_shows(
    tmp_path: Path, ludic: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("test_cases", "bible"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/validity.md").read_text(encoding="utf-8")
    shown = re.findall(r"```console\n\$ ludic (.*?)\n(.*?)```", text, re.DOTALL)
    assert len(shown) == 6
    for command, output in shown:
        words = [
            path
            for word in shlex.split(command)
            for path in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
        ]
        said = ludic(*words).out
        if command.startswith(_SEARCHED):
            assert said.splitlines()[:3] == output.splitlines()[:3]
        else:
            assert _ENDS.sub("[]", said).strip() == _ENDS.sub("[]", output).strip()
