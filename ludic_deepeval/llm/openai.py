"""Models behind OpenAI's chat protocol, which vLLM, LM Studio, OpenRouter and llama.cpp speak too, by the official client."""

import os
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from ludic_deepeval.errors import ModelError
from ludic_deepeval.llm.client import CONNECT, TIMEOUT, Completion, Model, Request, Stop
from ludic_deepeval.llm.retry import Retry
from ludic_deepeval.llm.servers import OTHERS, Server, client_module, client_version, shown_url, whole_number

_OPENAI: Final = "https://api.openai.com/v1"
_KEY: Final = "OPENAI_API_KEY"
_STOPS: Final[dict[str, Stop]] = {
    "stop": "end",
    "length": "length",
    "content_filter": "refusal",
}
_FORMAT_WORDS: Final = ("response_format", "json_schema", "json_object", "schema", "grammar")


@dataclass(frozen=True)
class Dialect:
    """How a server wants to be asked, learnt from what it refuses.

    Attributes:
        structure: How a schema is asked for: enforced, as JSON of any shape, or in words alone.
        limit: How the longest answer is called.
        temperature: Whether a temperature may be named.
        seed: Whether a seed may be.
    """

    structure: Literal["json_schema", "json_object", "words"] = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    seed: bool = True

    def without(self, said: str, request: Request) -> "Dialect | None":
        """Return the dialect that does without what a refusal names, or None when it names nothing of this request."""
        if self.limit == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, limit="max_completion_tokens")
        if self.limit == "max_completion_tokens" and "max_completion_tokens" in said:
            return replace(self, limit="max_tokens")
        if self.temperature and request.temperature is not None and "temperature" in said:
            return replace(self, temperature=False)
        if self.seed and request.seed is not None and "seed" in said:
            return replace(self, seed=False)
        if (
            request.schema is not None
            and self.structure != "words"
            and any(word in said for word in _FORMAT_WORDS)
        ):
            return replace(self, structure="json_object" if self.structure == "json_schema" else "words")
        return None


class OpenAIModel(Model):
    """A model behind OpenAI's chat protocol.

    A schema is asked for as `response_format`; a server that has no such thing is told it in words. What a server refuses is
    left out from then on, and named in `Completion.ignored`. The key comes from the environment alone, and a server that is
    not OpenAI's needs none.

    Args:
        model: Its name there.
        base_url: Where the server is, `http://127.0.0.1:8000/v1`; by default `$OPENAI_BASE_URL`, else OpenAI.
        timeout: Seconds for one request.
        retry: When it is sent again.
    """

    provider = "openai"

    def __init__(
        self, model: str, *, base_url: str | None = None, timeout: float = TIMEOUT, retry: Retry | None = None
    ) -> None:
        super().__init__(f"openai:{model}", timeout=timeout, retry=retry)
        self._openai = client_module("openai")
        self._model = model
        self._url = base_url or os.environ.get("OPENAI_BASE_URL") or _OPENAI
        self._key = os.environ.get(_KEY) or ""
        url = shown_url(self._url, "OPENAI_BASE_URL")
        if not self._key and url == _OPENAI:
            hint = f"set {_KEY}, or $OPENAI_BASE_URL to a server of your own; {OTHERS}"
            raise ModelError("denied", self.name, "no key for OpenAI", hint=hint)
        start = "start it, or correct $OPENAI_BASE_URL (most end in /v1)"
        self._server = Server(self.name, url, start, _KEY, (self._key,) if self._key else ())
        self._dialect = Dialect(limit="max_completion_tokens" if url == _OPENAI else "max_tokens")
        self._client: Any = None

    def client_version(self) -> str:
        """The client and its version."""
        return client_version("openai")

    async def answer(self, request: Request) -> Completion:
        """Send one request."""
        dialect = self._dialect
        try:
            reply = await self._asked(
                self._opened().chat.completions.create, **_arguments(self._model, request, dialect)
            )
        except ModelError as error:
            if error.kind == "unknown-model":
                raise self._server.unknown(await self._names()) from None
            if error.kind == "rejected" and (plainer := dialect.without(error.found, request)):
                self._dialect = plainer
                error.again = True
            raise
        return self._completion(reply, request, dialect)

    def _completion(self, reply: Any, request: Request, dialect: Dialect) -> Completion:
        if not isinstance(reply, self._openai.types.chat.ChatCompletion):
            raise self._server.malformed("is not what OpenAI's protocol says")
        fault = getattr(reply, "error", None)  # OpenRouter answers 200 with an error in it
        if isinstance(fault, dict):
            code = whole_number(fault.get("code")) or 500
            raise self._server.status(code, str(fault.get("message", "")))
        choice = reply.choices[0] if isinstance(reply.choices, list) and reply.choices else None
        message = getattr(choice, "message", None)
        if message is None:
            raise self._server.malformed("holds no answer")
        stop = _STOPS.get(str(getattr(choice, "finish_reason", "")), "other")
        refusal = getattr(message, "refusal", None)
        usage = getattr(reply, "usage", None)
        details = getattr(usage, "prompt_tokens_details", None)
        # vLLM, llama.cpp and LM Studio say reasoning_content, OpenRouter reasoning.
        thought = getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None)
        ignored = [
            name
            for name in ("temperature", "seed")
            if getattr(request, name) is not None and not getattr(dialect, name)
        ]
        return Completion(
            text=self._server.scrub(refusal or getattr(message, "content", None) or ""),
            model=str(reply.model or self._model),
            stop="refusal" if refusal else stop,
            prompt_tokens=whole_number(getattr(usage, "prompt_tokens", None)),
            completion_tokens=whole_number(getattr(usage, "completion_tokens", None)),
            cached_tokens=whole_number(getattr(details, "cached_tokens", None)) or 0,
            thinking=self._server.scrub(thought if isinstance(thought, str) else ""),
            ignored=tuple(ignored)
            + (("schema",) if request.schema is not None and dialect.structure != "json_schema" else ()),
        )

    async def _asked(self, call: Any, **arguments: Any) -> Any:
        """Call the client, and say what its error means."""
        sdk, server = self._openai, self._server
        try:
            return await call(**arguments)
        except sdk.APIStatusError as error:
            failure = server.status(error.status_code, _said(error), error.response.headers)
        except sdk.APIConnectionError as error:
            failure = server.broken(error.__cause__)
        except (
            sdk.OpenAIError,
            ValueError,
            TypeError,
            RecursionError,
        ):  # no JSON, or not the fields of a reply
            failure = server.malformed("is not what OpenAI's protocol says")
        raise failure

    async def _names(self) -> tuple[str, ...]:
        try:
            page = await self._asked(self._opened().models.list, timeout=CONNECT)
            return tuple(sorted(str(one.id) for one in page.data))
        except (ModelError, AttributeError, TypeError):
            return ()

    def _opened(self) -> Any:
        if self._client is None:
            self._client = self._openai.AsyncOpenAI(
                api_key=self._key or "none",
                base_url=self._url,
                max_retries=0,
                timeout=self._openai.Timeout(self.timeout, connect=min(CONNECT, self.timeout)),
            )
        return self._client

    async def aclose(self) -> None:
        """Close connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None


def _arguments(model: str, request: Request, dialect: Dialect) -> dict[str, Any]:
    system = request.system
    if request.schema is not None and dialect.structure != "json_schema":
        system = f"{system}\n\nAnswer with one JSON value and nothing else. It must fit this JSON Schema:\n{request.schema_text}".strip()
    messages = [{"role": "system", "content": system}] if system else []
    call: dict[str, Any] = {
        "model": model,
        "messages": [*messages, {"role": "user", "content": request.prompt}],
        dialect.limit: request.max_tokens,
    }
    if request.temperature is not None and dialect.temperature:
        call["temperature"] = request.temperature
    if request.seed is not None and dialect.seed:
        call["seed"] = request.seed
    if request.schema is not None and dialect.structure == "json_schema":
        shape = {"name": "answer", "schema": dict(request.schema)}
        call["response_format"] = {"type": "json_schema", "json_schema": shape}
    elif request.schema is not None and dialect.structure == "json_object":
        call["response_format"] = {"type": "json_object"}
    return call


def _said(error: Any) -> str:
    """The server's own words; the body is JSON, text, or nothing."""
    body = error.body
    if isinstance(body, dict):
        return " ".join(str(body[name]) for name in ("message", "detail", "code", "error") if body.get(name))
    return str(body or "")
