"""What the benchmarks share: a row of the table, and whole processes timed side by side."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PYTEST_INI: Final = """\
[pytest]
asyncio_default_fixture_loop_scope = function
addopts = -p no:cacheprovider
ludic_backstories = stories
"""


@dataclass(frozen=True)
class Row:
    """One line of the table: a ratio of two times that were taken in turns."""

    what: str
    ratio: float
    target: float
    times: str

    @property
    def met(self) -> bool:
        return self.ratio <= self.target

    def __str__(self) -> str:
        return f"| {self.what} | {_said(self.ratio)} | {_said(self.target)} | {self.times} |"


def _said(ratio: float) -> str:
    """A small ratio as a part: 1/12.5."""
    return f"1/{1 / ratio:.1f}" if ratio < 0.2 else f"{ratio:.2f}"


def program(name: str) -> str:
    """A program of the environment that runs the benchmark."""
    found = Path(sys.executable).with_name(name)
    assert found.exists(), f"no {name} beside {sys.executable}: install the extra dev"
    return str(found)


def timed(*command: str | Path, folder: Path) -> tuple[float, str]:
    """Run a command that succeeds; return its seconds and what it printed."""
    # As users run it: with compiled modules, which some containers forbid to write.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_DISABLE_DOTENV": "1", "COLUMNS": "80"}
    begun = time.perf_counter()
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    seconds = time.perf_counter() - begun
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return seconds, done.stdout
