import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ludic_deepeval.cli import main

TALE = """\
Odo Marsh still signs the ledgers at the mill, and he signs them late.

When she was twelve the mill burned for two nights.

Somebody had paid for the bell not to ring.

She means to stand before the judge.
"""
SHEET = """\
sheet: 1
protagonist: Ysolde
people:
- {name: Odo Marsh, id: odo, quote: Odo Marsh still signs the ledgers, status: alive, tie: enemy, unresolved: true}
hooks:
- {text: he will come for the ledger, id: ledger, quote: he signs them late, tier: 1, npc: odo}
goals:
- {text: reach a judge, id: judge, quote: She means to stand before the judge}
mysteries:
- {id: bell, quote: Somebody had paid for the bell not to ring, thematic_hole: true}
events:
- {phase: youth, id: fire, summary: the mill burns, quote: the mill burned for two nights, immediacy: 3, gravity: 8, linkage: 5, divergence: 6}
"""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def faults(self) -> list[str]:
        return self.err.splitlines()


Ludic = Callable[..., Ran]


@pytest.fixture
def ludic(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ludic:
    """Run the command `ludic` in this process, as its entry point does."""

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["ludic", *map(str, arguments)])
        capsys.readouterr()
        try:
            main()
            code: object = 0
        except SystemExit as end:
            code = 0 if end.code is None else end.code
        out, err = capsys.readouterr()
        assert isinstance(code, int)
        return Ran(code, out, err)

    return run


@pytest.fixture
def tale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an unread story and its filled mark sheet; it is the working directory."""
    folder = tmp_path / "stories"
    folder.mkdir()
    (folder / "tale.md").write_text(TALE, encoding="utf-8")
    (folder / "tale.marks.yaml").write_text(SHEET, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def locked(tale: Path, ludic: Ludic) -> Path:
    """The same folder once the story is locked."""
    assert ludic("lock", "tale.md").code == 0
    return tale
