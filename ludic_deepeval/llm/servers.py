"""What the three servers have in common: what a status or a broken connection means, said without any key."""

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib import import_module
from importlib.metadata import version
from math import isfinite
from typing import Any, Final
from urllib.parse import urlsplit

from ludic_deepeval.errors import InputError, ModelError, ModelFault, clean

OTHERS: Final = (
    "or name another model (anthropic:…, openai:…, ollama:…, recorded:PATH); "
    "or mark the story up by hand, which needs none: ludic annotate"
)
_SHOWN_NAMES: Final = 12
_OVERLOADED: Final = frozenset({429, 503, 529})
# How servers say that a prompt is too long: the first number is what was sent, the second the most; or the other way round.
_TOO_LONG: Final = (
    re.compile(r"prompt is too long: (?P<sent>\d+) tokens > (?P<most>\d+)"),
    re.compile(r"maximum context length is (?P<most>\d+) tokens\D{1,80}(?P<sent>\d+)"),
    re.compile(r"\((?P<sent>\d+) tokens\) exceeds the available context size \((?P<most>\d+) tokens\)"),
)
_TOO_LONG_WORDS: Final = (
    "context_length_exceeded", "context length", "context size", "context window", "prompt is too long",
)  # fmt: skip


@dataclass(frozen=True)
class Server:
    """Who is asked, as errors name it.

    Attributes:
        model: `provider:model`.
        url: Where it is, without user, password or query.
        start: How to get such a server.
        key_name: The variable that holds its key.
        secrets: What must never be shown.
    """

    model: str
    url: str
    start: str
    key_name: str = ""
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """The model's own name."""
        return self.model.partition(":")[2]

    def safe(self, text: object, *, limit: int = 300) -> str:
        """Return what a server said, without a key that it may have sent back."""
        return clean(" ".join(self.scrub(text).split()), limit=limit)

    def scrub(self, text: object) -> str:
        """Return text without a key in it."""
        scrubbed = str(text)
        for secret in self.secrets:
            scrubbed = scrubbed.replace(secret, "[key]")
        return scrubbed

    def unreachable(self) -> ModelError:
        """No server there."""
        return ModelError(
            "unreachable", self.model, f"no server at {self.url}", hint=f"{self.start}; {OTHERS}"
        )

    def broken(self, error: BaseException | None) -> ModelError:
        """What a client's error below HTTP means, told by its class: httpx and httpx2 have the same names."""
        names = {kind.__name__ for kind in type(error).__mro__} if error is not None else set()
        if names & {
            "ConnectError",
            "ConnectTimeout",
            "ConnectionRefusedError",
            "UnsupportedProtocol",
            "InvalidURL",
        }:
            return self.unreachable()
        if "TimeoutException" in names:
            return ModelError("timed-out", self.model, f"{self.url} sent nothing for too long")
        return ModelError(
            "dropped", self.model, f"{self.url} broke the connection before its answer was whole"
        )

    def malformed(self, what: str) -> ModelError:
        """A reply that is not what its protocol says."""
        return ModelError("malformed", self.model, f"the reply of {self.url} {what}")

    def status(self, status: int, said: str, headers: Mapping[str, str] | None = None) -> ModelError:
        """What an HTTP status other than success means."""
        if status == 413 or (status in {400, 422, 500} and any(words in said for words in _TOO_LONG_WORDS)):
            return self.too_long(said)
        if status == 404:
            return self.unknown(())
        after = retry_after(headers or {})
        told = f": {self.safe(said)}" if said.strip() else ""
        kind: ModelFault
        if status in {401, 402, 403} or "insufficient_quota" in said:
            why = "the key is not accepted" if status in {401, 403} else "there is nothing left to pay with"
            kind, found = "denied", why
        elif status in _OVERLOADED:
            asks = f" and asks to be left alone for {after:g} s" if after else ""
            kind, found = "overloaded", f"it has too much to do ({status}){asks}"
        elif status in {408, 504}:
            kind, found = "timed-out", f"it took too long ({status})"
        elif status >= 500:
            kind, found = "server-error", f"it failed ({status}){told}"
        else:
            kind, found = "rejected", f"it refused the request ({status}){told}"
        hint = f"set {self.key_name}" if kind == "denied" and self.key_name else ""
        return ModelError(kind, self.model, f"{self.url}: {found}", hint=hint, retry_after=after)

    def unknown(self, has: tuple[str, ...]) -> ModelError:
        """No such model, and those that there are."""
        names = ", ".join(self.safe(name, limit=80) for name in has[:_SHOWN_NAMES])
        more = f" and {len(has) - _SHOWN_NAMES} more" if len(has) > _SHOWN_NAMES else ""
        hint = f"it has: {names}{more}" if has else self.start
        return ModelError("unknown-model", self.model, f"{self.url} has no such model", hint=hint)

    def too_long(self, said: str = "", *, sent: int = 0, most: int = 0) -> ModelError:
        """The prompt does not fit, and by how much if that is known."""
        match = next((found for pattern in _TOO_LONG if (found := pattern.search(said))), None)
        if match:
            sent, most = int(match["sent"]), int(match["most"])
        over = f": {sent:,} tokens where {most:,} fit, {sent - most:,} too many" if sent > most > 0 else ""
        hint = "cut the text into parts, or take a model with a longer context"
        return ModelError("too-long", self.model, f"the prompt is too long{over}", hint=hint)

    def no_room(self, *, read: int, written: int, most: int) -> ModelError:
        """Prompt and answer do not both fit into the model's context, the prompt alone perhaps; tokens are bounds from above."""
        if read >= most:
            return self.too_long(sent=read, most=most)
        found = (
            f"no room for the answer: up to {read:,} tokens to read and {written:,} to write where {most:,} fit,"
            f" {read + written - most:,} too many"
        )
        hint = f"allow an answer of at most {most - read:,} (--max-tokens), or take a model with a longer context"
        return ModelError("too-long", self.model, found, hint=hint)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds for which a server asks to be left alone, from Retry-After in seconds or as a date."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            then = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = (then.replace(tzinfo=then.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if isfinite(seconds) else None


def shown_url(url: str, variable: str) -> str:
    """Return a server's URL without user, password, query and fragment.

    Args:
        url: As it was given.
        variable: The environment's variable that may have given it.

    Raises:
        InputError: It is no URL of a server.
    """
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname or "", f":{parts.port}" if parts.port else ""
    except ValueError:
        host = ""
    if not host or parts.scheme not in {"http", "https"}:
        raise InputError(
            f"base URL (${variable})", "this is no URL of a server", allowed="http://… or https://…"
        )
    return clean(
        f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}{parts.path.rstrip('/')}", limit=200
    )


def client_module(name: str) -> Any:
    """Import an official client, or say how to get it."""
    try:
        with _without_httpx_command():
            return import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != name:
            raise
    raise InputError(
        f"{name}:…", f"the client '{name}' is not installed", hint="pip install 'ludic-worth[models]'"
    )


@contextmanager
def _without_httpx_command() -> Iterator[None]:
    """Keep httpx, which the clients stand on, from loading rich and pygments for a command line of its own: a third of its start.

    None in `sys.modules` makes that import fail, which httpx allows for.
    """
    command = "httpx._main"
    if "httpx" not in sys.modules:
        sys.modules.setdefault(command, None)  # type: ignore[arg-type]
    try:
        yield
    finally:
        if sys.modules.get(command, ...) is None:
            sys.modules.pop(command, None)


def client_version(name: str) -> str:
    """A client's name and version, as recordings state it."""
    return f"{name} {version(name)}"


def whole_number(value: object) -> int | None:
    """A count of tokens that a server stated, or None where it stated none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
