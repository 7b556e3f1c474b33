"""The errors that this library raises.

::

    LudicError
    └── InputError        a file, argument or setting that cannot be used (exit code 2)
        └── StaleError    a ledger whose prose has changed since it was read

A measurement that cannot be made is not an error but an `Unscored` (see `outcome`).
"""

import unicodedata

_SHOWN = 80
_PART = 800
_JOINERS = "\u200c\u200d"  # Persian and emoji are spelt with them
_HUGE = 1 << 256


class LudicError(Exception):
    """Base of every error raised on purpose by this library."""


class InputError(LudicError):
    """One thing that is wrong with an input, said in one line.

    Args:
        file: The file, or a word for what was given ("--profile").
        found: What was found there.
        where: The place in it: a line, a JSON path, an item.
        allowed: What would have been right.
        hint: What to do.
    """

    def __init__(
        self, file: object, found: str, *, where: str = "", allowed: str = "", hint: str = ""
    ) -> None:
        self.file = str(file)
        self.found = found
        self.where = where
        self.allowed = allowed
        self.hint = hint
        # Whatever a caller forgot to clean, an error stays one line that no terminal obeys.
        head = ": ".join(clean(part, limit=_PART) for part in (self.file, where, found) if part)
        tail = [clean(part, limit=_PART) for part in (allowed and f"allowed: {allowed}", hint) if part]
        super().__init__("; ".join([head, *tail]))


class StaleError(InputError):
    """The prose is not the prose that the ledger was made from."""


def clean(text: str, *, limit: int = _SHOWN) -> str:
    """Return hostile text fit for one line of a terminal: no control characters, bounded length."""
    safe = "".join(
        c if c in _JOINERS or unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} else "�"
        for c in text[: limit + 1]
    )
    return safe if len(text) <= limit else safe[:limit] + "…"


def shown(value: object) -> str:
    """Return a value as an error message quotes it."""
    if isinstance(value, str):
        return f"'{clean(value)}'"
    if isinstance(value, dict | list | tuple):
        return "a mapping" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    if isinstance(value, int) and abs(value) > _HUGE:  # Python refuses to print some
        return "a huge number"
    return clean(str(value))
