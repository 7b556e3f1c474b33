"""Models behind an Ollama server, by the official client."""

import asyncio
import os
import ssl
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from ludic_deepeval.errors import ModelError
from ludic_deepeval.llm.client import CONNECT, TIMEOUT, Completion, Model, Request, Stop
from ludic_deepeval.llm.retry import Retry
from ludic_deepeval.llm.servers import Server, client_module, client_version, shown_url, whole_number
from ludic_deepeval.llm.tokens import TEMPLATE, least_tokens, most_tokens

_SMALLEST: Final = 4096
_STOPS: Final[dict[str, Stop]] = {"stop": "end", "length": "length"}


class OllamaModel(Model):
    """A model behind Ollama.

    Ollama's default context is small, and a prompt that does not fit is cut without a word. So the context is set from the
    prompt's length (in powers of two, and never smaller than before: another size makes the server load the model anew), a
    prompt that cannot fit is refused before it is sent, and a reply to a prompt that was cut is an error.

    Args:
        model: Its name there, `qwen3:14b`.
        base_url: Where the server is; by default `$OLLAMA_HOST`, else this machine.
        timeout: Seconds for one request.
        retry: When it is sent again.
        keep_alive: For how long the server keeps the model loaded.
        think: Whether a model that can think does; None leaves it to the model.
    """

    provider = "ollama"

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        timeout: float = TIMEOUT,
        retry: Retry | None = None,
        keep_alive: str = "10m",
        think: bool | None = None,
    ) -> None:
        super().__init__(f"ollama:{model}", timeout=timeout, retry=retry)
        named = os.environ.get("OLLAMA_HOST")
        self._host = base_url or named or "http://127.0.0.1:11434"
        shown = [
            shown_url(one, "OLLAMA_HOST") for one in (named, self._host) if one
        ]  # the client reads the first as it is imported
        self._ollama = client_module("ollama")
        self._transport_error = client_module(
            "httpx"
        ).HTTPError  # what the client is made of, and lets through
        self._model = model
        start = f"start one (ollama serve) and get the model (ollama pull {model})"
        self._server = Server(
            self.name,
            shown[-1],
            start,
            key_name="OLLAMA_API_KEY",
            secrets=tuple(filter(None, [os.environ.get("OLLAMA_API_KEY")])),
        )
        self._keep_alive = keep_alive
        self._think = think
        self._context = 0
        self._most: int | None = None  # 0 when the server does not say
        self._asking = asyncio.Lock()
        self._client: Any = None

    def client_version(self) -> str:
        """The client and its version."""
        return client_version("ollama")

    async def answer(self, request: Request) -> Completion:
        """Send one request."""
        try:
            return await self._answer(request)
        except ModelError as error:
            if error.kind != "unknown-model":
                raise
        raise self._server.unknown(await self._names())

    async def _answer(self, request: Request) -> Completion:
        client = self._opened()
        context = await self._context_for(request, client)
        options: dict[str, float] = {"num_ctx": context, "num_predict": request.max_tokens}
        if request.temperature is not None:
            options["temperature"] = request.temperature
        if request.seed is not None:
            options["seed"] = request.seed
        messages = [{"role": "user", "content": request.prompt}]
        if request.system:
            messages.insert(0, {"role": "system", "content": request.system})
        reply = await self._asked(
            client.chat,
            model=self._model,
            messages=messages,
            format=None if request.schema is None else dict(request.schema),
            options=options,
            keep_alive=self._keep_alive,
            think=self._think,
        )
        read = whole_number(reply.prompt_eval_count) or None  # 0 and nothing both mean "from the cache"
        if read is not None and (read >= context or read < least_tokens(request.system, request.prompt)):
            found = f"the server cut the prompt and read only {read:,} tokens of it"
            raise ModelError("too-long", self.name, found, hint="cut the text into parts")
        written = whole_number(reply.eval_count)
        full = written is not None and read is not None and read + written >= context
        stop = _STOPS.get(reply.done_reason or "stop", "other")
        return Completion(
            text=self._server.scrub(reply.message.content or ""),
            model=reply.model or self._model,
            stop="context" if stop == "length" and full else stop,
            prompt_tokens=read,
            completion_tokens=written,
            thinking=self._server.scrub(reply.message.thinking or ""),
        )

    async def embed(self, texts: Sequence[str]) -> Any:
        """Send one request for the vectors of texts, which are never cut to fit, and return the client's reply.

        Raises:
            ModelError: There is none, or none that can be read.
        """
        client = self._opened()
        try:
            return await self._asked(
                client.embed,
                model=self._model,
                input=list(texts),
                truncate=False,
                keep_alive=self._keep_alive,
            )
        except ModelError as error:
            if error.kind != "unknown-model":
                raise
        raise self._server.unknown(await self._names())

    async def _context_for(self, request: Request, client: Any) -> int:
        """The context to ask for; refuse a prompt that cannot fit into the model's."""
        read = most_tokens(request.system, request.prompt) + TEMPLATE
        need = read + request.max_tokens
        async with self._asking:
            if self._most is None:
                shown = await self._asked(client.show, model=self._model)
                found = [
                    value for key, value in (shown.modelinfo or {}).items() if key.endswith(".context_length")
                ]
                self._most = (whole_number(found[0]) or 0) if found else 0
            if self._most and need > self._most:
                raise self._server.no_room(read=read, written=request.max_tokens, most=self._most)
            size = max(_SMALLEST, 1 << (need - 1).bit_length(), self._context)
            self._context = min(size, self._most) if self._most else size
            return self._context

    async def _asked(self, call: Any, **arguments: Any) -> Any:
        """Call the client, and say what its error means."""
        server = self._server
        try:
            return await call(**arguments)
        except self._ollama.ResponseError as error:
            # The client drops the reply's headers; the error that it came from has them.
            headers = getattr(getattr(error.__context__, "response", None), "headers", None)
            failure = server.status(error.status_code, str(error.error), headers)
        except ConnectionError:
            failure = server.unreachable()
        except self._transport_error as error:
            failure = server.broken(error)
        except (ValueError, TypeError, RecursionError):  # no JSON, or not the fields of a reply
            failure = server.malformed("is not what Ollama sends")
        raise failure

    async def _names(self) -> tuple[str, ...]:
        try:
            listed = await self._asked(self._opened().list)
        except ModelError:
            return ()
        return tuple(sorted(str(one.model) for one in listed.models if one.model))

    def _opened(self) -> Any:
        if self._client is None:
            timeout = (min(CONNECT, self.timeout), self.timeout, self.timeout, self.timeout)
            # Reading the authorities takes longer than asking; an empty context trusts none.
            verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if self._is_here() else True
            self._client = self._ollama.AsyncClient(host=self._host, timeout=timeout, verify=verify)
        return self._client

    def _is_here(self) -> bool:
        """Whether the server is on this machine and speaks plain HTTP, so that no certificate authority is needed."""
        url = urlsplit(self._host)
        return url.scheme == "http" and url.hostname in {"127.0.0.1", "localhost", "::1"}

    async def aclose(self) -> None:
        """Close connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None
