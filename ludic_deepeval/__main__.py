"""The program `ludic`, made to start fast.

`ludic check` runs at every commit, over a story or two, and most of its time goes to starting Python. So its plain
form is run without Typer, and the process spares itself what only long-lived ones need. `ludic extract` is run without the other
commands, so that the first question is sent sooner. Everything else is in `cli`.
"""

import gc
import os
import sys
from pathlib import Path
from typing import Any, Final

from ludic_deepeval.terminal import guarded, run_check

_FLAGS: Final = {
    "--json": "as_json",
    "--allow-unread": "allow_unread",
    "--quiet": "quiet",
    "-q": "quiet",
    "--changed": "changed",
}
_SPECIAL: Final = frozenset("*?[~$%")  # Typer expands these on Windows


def plain_check(words: list[str]) -> dict[str, Any] | None:
    """Return the arguments of `run_check` for `check PATH… [flags] [--base REF]`, or None for what Typer has to read."""
    if words[:1] != ["check"]:
        return None
    paths: list[Path] = []
    flags: dict[str, Any] = {}
    rest = iter(words[1:])
    for word in rest:
        if word in _FLAGS:
            flags[_FLAGS[word]] = True
        elif word == "--base" and (ref := next(rest, "")) and not _SPECIAL.intersection(ref):
            flags["base"] = ref
        elif word.startswith("-") or _SPECIAL.intersection(word):
            return None
        else:
            paths.append(Path(word))
    return {"paths": paths, **flags} if paths or "changed" in flags else None


def main() -> None:
    """Run the command that was called for."""
    gc.set_threshold(50_000)  # importing makes many objects and no garbage
    os.environ.setdefault(
        "PYDANTIC_DISABLE_PLUGINS", "__all__"
    )  # else every installed package is asked for one
    call = plain_check(sys.argv[1:])
    if sys.argv[1:2] == ["extract"]:
        from ludic_deepeval.cli_extract import main as extract  # noqa: PLC0415

        _leave(extract(sys.argv[2:]))
    elif call is None:
        from ludic_deepeval.cli import main as full  # noqa: PLC0415

        full()
    else:
        _leave(guarded(lambda: run_check(**call)))


def _leave(code: int) -> None:
    """End the process without taking apart, object by object, what the system frees at once."""
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
