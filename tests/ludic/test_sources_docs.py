"""What docs/sources.md shows is what the commands print, one after another, in a copy of the files that it speaks of."""

import re
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # no package: it would shadow the library

from made_cards import image, text

ROOT = Path(__file__).parents[2]
Ludic = Callable[..., Any]


def test_every_command_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ludic: Ludic
) -> None:
    shutil.copytree(ROOT / "tests/ludic/data/sources", tmp_path, dirs_exist_ok=True)
    (tmp_path / "broken.png").write_bytes(image(text("chara", b"%%%")))
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/sources.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n\$ (.*)\n((?:.*\n)*?)```", page)
    assert len(blocks) == 11
    for command, output in blocks:
        ran = ludic(*shlex.split(command)[1:])
        assert ran.out + ran.err == output, command
