"""Draw the README's picture from the real output of `ludic demo` (needs the extra dev; run from the root folder)."""

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]


def in_a_terminal(command: list[str]) -> str:
    """Run a command on a pseudo-terminal, so that it colours its output."""
    master, slave = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm"}
    with subprocess.Popen(command, stdout=slave, cwd=ROOT, env=environment) as process:  # noqa: S603  # our own command
        os.close(slave)
        chunks = []
        while True:
            try:
                chunk = os.read(master, 65536)
            except OSError:  # Linux says so when the other end is closed
                break
            if not chunk:
                break
            chunks.append(chunk)
        process.wait()
    return b"".join(chunks).decode("utf-8").replace("\r\n", "\n")


def main() -> None:
    """Write docs/images/demo.svg."""
    output = in_a_terminal([sys.executable, "-c", "from ludic_deepeval.cli import main; main()", "demo"])
    shown = output.replace(f"{ROOT}/ludic_deepeval/demo", "demo").rpartition("\nThe stories are in")[0]
    console = Console(record=True, width=118, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(shown), end="")
    svg = console.export_svg(title="ludic demo")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)  # nothing is loaded from elsewhere
    svg = svg.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace")
    target = ROOT / "docs" / "images" / "demo.svg"
    target.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
