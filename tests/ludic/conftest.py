import _thread
import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.cli import main
from ludic_deepeval.llm.client import Completion, Request

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


CtrlC = Callable[[Any, int], None]


@pytest.fixture
def ctrl_c_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[CtrlC]:
    """Have Ctrl-C pressed once when a scripted model has been asked so often and is asked again, as in a terminal.

    A process that was started in the background begins with it switched off.
    """

    def arrange(model: Any, asked: int) -> None:
        answer, pressed = model.answer, False

        async def instead(request: Request) -> Completion:
            nonlocal pressed
            if len(model.asked) >= asked:
                if not pressed:
                    pressed = True
                    _thread.interrupt_main()
                await asyncio.sleep(60)
            completion: Completion = await answer(request)
            return completion

        monkeypatch.setattr(model, "answer", instead)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield arrange
    signal.signal(signal.SIGINT, before)
