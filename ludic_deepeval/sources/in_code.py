"""Prose in code, found by a regular expression.

A pattern can take longer than the universe lasts, and Python's `re` cannot be given a time limit. So it runs in a
process of its own (`matcher`), which is ended when it takes too long.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.sources.passage import MAX_STORIES

SECONDS: float = 10
_MATCHER: Final = Path(__file__).with_name("matcher.py")

Spans = dict[str, tuple[int, int]]
"""The half-open offsets of each named group that took part in a match."""


def find_all(pattern: str, raw: str, file: object) -> list[Spans]:
    """Return the named groups of every match in a file.

    Args:
        pattern: A regular expression of Python with a group called `text`.
        raw: The decoded file.
        file: What to call the file in errors.

    Raises:
        InputError: The pattern is none, has no such group, or takes longer than `SECONDS` for this file.
    """
    request = json.dumps({"pattern": pattern, "text": raw, "most": MAX_STORIES + 1})
    command = [sys.executable, "-I", "-S", "-W", "ignore", str(_MATCHER)]
    try:
        done = subprocess.run(  # noqa: S603  # this interpreter and a file of this package
            command, input=request, capture_output=True, encoding="ascii", check=True, timeout=SECONDS
        )
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise InputError(
            file,
            f"the pattern takes longer than {SECONDS:g} seconds",
            where="pattern",
            allowed="a simpler pattern",
            hint='no repetition within a repetition, and [^"]* rather than .*',
        ) from None
    except (OSError, ValueError, subprocess.CalledProcessError):
        raise InputError(
            file, "the pattern cannot be applied", where="pattern", allowed="a simpler pattern"
        ) from None
    if "error" in answer:
        said = clean(str(answer["error"]), limit=200)
        raise InputError(file, said, where="pattern", allowed="a regular expression with a group (?P<text>…)")
    return [{name: (start, end) for name, (start, end) in spans.items()} for spans in answer["matches"]]
