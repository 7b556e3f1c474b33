"""The errors that this library raises.

::

    LudicError
    ├── InputError        a file, argument or setting that cannot be used (exit code 2)
    │   ├── StaleError    a ledger whose prose has changed since it was read
    │   └── DataError     figures that a statistic cannot be computed from; a ValueError too
    └── ModelError        a model that gave no answer that can be used; `kind` says why

A measurement that cannot be made is not an error but an `Unscored` (see `outcome`).
"""

import unicodedata
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from ludic_deepeval.llm.client import Completion

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


class DataError(InputError, ValueError):
    """Figures that a statistic cannot be computed from: too few, all alike, not a number.

    `file` is the name of the statistic.
    """


ModelFault: TypeAlias = Literal[
    "unreachable",  # no server there
    "unknown-model",  # the server has no such model
    "denied",  # no key, or one that is not accepted, or nothing left to pay with
    "unrecorded",  # a recording that does not hold this request
    "rejected",  # the server calls the request wrong
    "too-long",  # the prompt does not fit, or was cut to fit
    "refused",  # the model will not answer
    "truncated",  # the answer was cut off at its limit of tokens
    "empty",  # an answer without words
    "malformed",  # a reply or an answer that is not what it should be
    "overloaded",  # 429, 503, 529: asked too much or too fast
    "server-error",  # any other 5xx
    "timed-out",
    "dropped",  # the connection broke before the answer was whole
    "budget",  # the calls or tokens that were allowed are spent
]
_FOR_ALL: Final = frozenset({"unreachable", "unknown-model", "denied"})
_WRONG_CALL: Final = _FOR_ALL | {"unrecorded", "rejected", "too-long"}


class ModelError(LudicError):
    """A model that gave no answer that can be used, said in one line.

    A command ends with it (exit code 2 for a `wrong_call`, else 1), or a caller makes it the cause of an `Unscored` (`llm.client.unscored`).

    Args:
        kind: What went wrong, for programs.
        model: Who was asked, as `provider:model`.
        found: What happened. It must hold no key.
        hint: What to do.
        retry_after: Seconds for which the server asked to be left alone.
        again: Whether the same request, put in another way that was just learnt, may be answered.
    """

    def __init__(
        self,
        kind: ModelFault,
        model: str,
        found: str,
        *,
        hint: str = "",
        retry_after: float | None = None,
        again: bool = False,
    ) -> None:
        self.kind: ModelFault = kind
        self.model = model
        self.found = found
        self.hint = hint
        self.retry_after = retry_after
        self.again = again
        self.requests = 1
        # What it answered all the same, where that was refused, cut off or empty.
        self.completion: Completion | None = None
        super().__init__(kind, model, found)

    def __str__(self) -> str:
        tries = f" (asked {self.requests} times)" if self.requests > 1 else ""
        head = f"{clean(self.model, limit=200)}: {clean(self.found, limit=_PART)}{tries}"
        return f"{head}; {clean(self.hint, limit=_PART)}" if self.hint else head

    @property
    def for_all(self) -> bool:
        """Whether every other request to this model would end the same way."""
        return self.kind in _FOR_ALL

    @property
    def wrong_call(self) -> bool:
        """Whether the call has to be changed (exit code 2); else the same call may be answered another time (exit code 1)."""
        return self.kind in _WRONG_CALL


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
