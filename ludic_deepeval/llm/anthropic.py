"""Models of Anthropic, by the official client."""

import inspect
import json
import os
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from ludic_deepeval.errors import ModelError
from ludic_deepeval.llm.client import CONNECT, TIMEOUT, Completion, Model, Request, Stop
from ludic_deepeval.llm.retry import Retry
from ludic_deepeval.llm.servers import OTHERS, Server, client_module, client_version, shown_url, whole_number

_STOPS: Final[dict[str, Stop]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "end",
    "max_tokens": "length",
    "model_context_window_exceeded": "context",
    "refusal": "refusal",
}
_TOOL: Final = "answer"
_KEYS: Final = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
Structure: TypeAlias = Literal["format", "tool"]


class AnthropicModel(Model):
    """A model behind Anthropic's Messages API.

    The fixed part of a request (`system`) is marked for the provider's cache. A schema is asked for as an output format; a
    model that has no such thing is asked to fill in a tool's arguments instead. The key comes from the environment alone.

    Args:
        model: Its name, `claude-opus-4-7`.
        base_url: Another server of the same protocol; by default `$ANTHROPIC_BASE_URL`, else Anthropic.
        timeout: Seconds for one request.
        retry: When it is sent again.
    """

    provider = "anthropic"

    def __init__(
        self, model: str, *, base_url: str | None = None, timeout: float = TIMEOUT, retry: Retry | None = None
    ) -> None:
        super().__init__(f"anthropic:{model}", timeout=timeout, retry=retry)
        self._anthropic = client_module("anthropic")
        self._transport_error = client_module(
            "httpx2"
        ).HTTPError  # let through while a batch's results are read
        self._model = model
        self._structure: Structure = "format"
        self._url = base_url or os.environ.get("ANTHROPIC_BASE_URL")
        self._keys = {name: os.environ[name] for name in _KEYS if os.environ.get(name)}
        if not self._keys and self._url is None:
            raise ModelError("denied", self.name, "no key for Anthropic", hint=f"set {_KEYS[0]}; {OTHERS}")
        url = shown_url(self._url or "https://api.anthropic.com", "ANTHROPIC_BASE_URL")
        secrets = tuple(self._keys.values())
        self.server = Server(self.name, url, "check the network and $ANTHROPIC_BASE_URL", _KEYS[0], secrets)
        self._client: Any = None

    def client_version(self) -> str:
        """The client and its version."""
        return client_version("anthropic")

    async def answer(self, request: Request) -> Completion:
        """Send one request."""
        structure = self._structure
        call = self.arguments(request, structure)
        try:
            reply = await self.asked(self.client.messages.create, **call)
        except ModelError as error:
            if error.kind == "unknown-model":
                raise self.server.unknown(await self._names()) from None
            if request.schema is not None and structure == "format" and _is_about_format(error):
                self._structure = "tool"
                error.again = True
            raise
        return self.completion(reply, request)

    def arguments(self, request: Request, structure: Structure | None = None) -> dict[str, Any]:
        """What `messages.create` takes for a request; a batch takes the same."""
        call: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.max_tokens,
            "messages": [{"role": "user", "content": request.prompt}],
        }
        if request.system:
            fixed = {"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}
            call["system"] = [fixed]
        if request.temperature is not None and "temperature" not in self._ignored(request):
            call["temperature"] = request.temperature
        if request.schema is not None:
            call |= self._structured(request.schema, structure or self._structure)
        return call

    def _structured(self, schema: Mapping[str, Any], structure: Structure) -> dict[str, Any]:
        if structure == "format":
            try:
                fitted = self._anthropic.transform_schema(dict(schema))
            except ValueError:  # a schema that leaves a type open
                pass
            else:
                return {"output_config": {"format": {"type": "json_schema", "schema": fitted}}}
        tool = {"name": _TOOL, "description": "Give the answer.", "input_schema": dict(schema)}
        return {"tools": [tool], "tool_choice": {"type": "tool", "name": _TOOL}}

    def _ignored(self, request: Request) -> tuple[str, ...]:
        """Options that this version of the client has no parameter for."""
        has = inspect.signature(self._anthropic.resources.AsyncMessages.create).parameters
        return tuple(
            name for name in ("temperature", "seed") if getattr(request, name) is not None and name not in has
        )

    def completion(self, reply: Any, request: Request) -> Completion:
        """Read a message, of a reply or of a batch."""
        if not isinstance(reply, self._anthropic.types.Message) or not isinstance(reply.content, list):
            raise self.server.malformed("is not what Anthropic sends")
        parts: dict[str, list[str]] = {"text": [], "thinking": []}
        for block in reply.content:
            kind = getattr(block, "type", "")
            if kind in parts:
                parts[kind].append(str(getattr(block, kind, "")))
            elif kind == "tool_use" and getattr(block, "name", "") == _TOOL:
                parts["text"].append(json.dumps(block.input, ensure_ascii=False))
        usage = reply.usage
        cached = whole_number(getattr(usage, "cache_read_input_tokens", None)) or 0
        made = whole_number(getattr(usage, "cache_creation_input_tokens", None)) or 0
        fresh = whole_number(getattr(usage, "input_tokens", None))
        stop = _STOPS.get(str(reply.stop_reason), "other")
        text = "".join(parts["text"])
        if stop == "refusal":
            details = getattr(reply, "stop_details", None)
            text = str(getattr(details, "explanation", None) or getattr(details, "category", None) or text)
        return Completion(
            text=self.server.scrub(text),
            model=str(reply.model or self._model),
            stop=stop,
            prompt_tokens=None if fresh is None else fresh + cached + made,
            completion_tokens=whole_number(getattr(usage, "output_tokens", None)),
            cached_tokens=cached,
            thinking=self.server.scrub("\n".join(parts["thinking"])),
            ignored=self._ignored(request),
        )

    async def asked(self, call: Any, **arguments: Any) -> Any:
        """Call the client, and say what its error means."""
        sdk, server = self._anthropic, self.server
        try:
            return await call(**arguments)
        except sdk.APIStatusError as error:
            failure = server.status(error.status_code, _said(error), error.response.headers)
        except sdk.APIConnectionError as error:
            failure = server.broken(error.__cause__)
        except (
            sdk.AnthropicError,
            ValueError,
            TypeError,
            RecursionError,
        ):  # no JSON, or not the fields of a reply
            failure = server.malformed("is not what Anthropic sends")
        raise failure

    async def _names(self) -> tuple[str, ...]:
        try:
            page = await self.asked(self.client.models.list, limit=20, timeout=CONNECT)
            return tuple(str(one.id) for one in page.data)
        except (ModelError, AttributeError, TypeError):
            return ()

    @property
    def client(self) -> Any:
        """The official client, its own retries off."""
        return self._opened()

    def _opened(self) -> Any:
        if self._client is None:
            key, token = (self._keys.get(name) for name in _KEYS)
            self._client = self._anthropic.AsyncAnthropic(
                api_key=key or (None if token else "none"),
                auth_token=None if key else token,
                base_url=self._url,
                max_retries=0,
                timeout=self._anthropic.Timeout(self.timeout, connect=min(CONNECT, self.timeout)),
            )
        return self._client

    async def aclose(self) -> None:
        """Close connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None


def _said(error: Any) -> str:
    """The server's own words, which are not in the same place everywhere."""
    return str(getattr(error, "api_message", None) or error.body or "")


def _is_about_format(error: ModelError) -> bool:
    return error.kind == "rejected" and any(
        word in error.found
        for word in ("output_config", "output_format", "structured output", "json_schema", "schema")
    )
