"""A loopback server that speaks the protocols of Ollama, Anthropic and OpenAI, and plays a script of replies and faults."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from ludic_deepeval.llm.client import Model
from ludic_deepeval.llm.names import open_model
from ludic_deepeval.llm.retry import Retry

PROVIDERS = ("ollama", "anthropic", "openai")
ASKED = ("/api/chat", "/api/embed", "/v1/messages", "/v1/chat/completions")
KEY = "sk-canary-6f1d0c2b9a"


@dataclass(frozen=True)
class Step:
    """One reply.

    `cut` breaks the connection after so many bytes of the body, `silent` never answers, `drip` sends a byte at a time and never
    comes to the end.
    """

    status: int = 200
    body: str | bytes = ""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    silent: bool = False
    drip: bool = False
    then: Callable[[], None] | None = None


SILENT = Step(silent=True)
DROPPED = Step(cut=-1)


@dataclass(frozen=True)
class Seen:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


def said(
    provider: str, text: str, *, stop: str = "end", thinking: str = "", read: int = 11, written: int = 7
) -> Step:
    """A whole reply of a provider's protocol."""
    stops = {
        "ollama": {"end": "stop", "length": "length"},
        "anthropic": {"end": "end_turn", "length": "max_tokens", "refusal": "refusal"},
        "openai": {"end": "stop", "length": "length", "refusal": "content_filter"},
    }
    reason = stops[provider].get(stop, stop)
    reply: dict[str, Any]
    if provider == "ollama":
        message = {"role": "assistant", "content": text} | ({"thinking": thinking} if thinking else {})
        reply = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": True, "done_reason": reason,
                 "prompt_eval_count": read, "eval_count": written, "total_duration": 1}  # fmt: skip
    elif provider == "anthropic":
        content = [{"type": "thinking", "thinking": thinking, "signature": "s"}] if thinking else []
        content += [{"type": "text", "text": text}] if text else []
        reply = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
                 "stop_reason": reason, "stop_sequence": None, "usage": {"input_tokens": read, "output_tokens": written}}  # fmt: skip
    else:
        message = {"role": "assistant", "content": text} | (
            {"reasoning_content": thinking} if thinking else {}
        )
        reply = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m",
                 "choices": [{"index": 0, "finish_reason": reason, "message": message}],
                 "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}}  # fmt: skip
    return Step(body=json.dumps(reply))


def failed(provider: str, status: int, message: str = "no", **headers: str) -> Step:
    """An error as a provider's protocol words it."""
    bodies: dict[str, Any] = {
        "ollama": {"error": message},
        "anthropic": {"type": "error", "error": {"type": "api_error", "message": message}},
        "openai": {"error": {"message": message, "type": "server_error", "code": None}},
    }
    return Step(
        status,
        json.dumps(bodies[provider]),
        {name.replace("_", "-"): value for name, value in headers.items()},
    )


class FaultServer:
    """Plays one step for each question; the last one stays. Other paths answer from `fixed`."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.seen: list[Seen] = []
        self.fixed: dict[str, Step] = {
            "/api/show": Step(body=json.dumps({"details": {}, "model_info": {"x.context_length": 40960}})),
            "/api/tags": Step(body=json.dumps({"models": [{"model": "qwen3:14b"}, {"model": "smol:135m"}]})),
            "/v1/models": Step(
                body=json.dumps(
                    {"data": [{"id": "alpha", "type": "model", "object": "model"}], "has_more": False}
                )
            ),
        }
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def base_url(self, provider: str) -> str:
        return f"{self.url}/v1" if provider == "openai" else self.url

    def play(self, *steps: Step) -> None:
        self.steps = list(steps)

    @property
    def asked(self) -> list[Seen]:
        """The questions to a model; other requests are left out."""
        return [one for one in self.seen if one.path in ASKED]

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()

    def _next(self, seen: Seen) -> Step:
        with self._lock:
            self.seen.append(seen)
            if seen.path not in ASKED:
                return self.fixed.get(seen.path, Step(404, "{}"))
            return self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *args: object) -> None:
                pass

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                raw = self.rfile.read(length)
                headers = {name.lower(): value for name, value in self.headers.items()}
                path = self.path.partition("?")[0]
                step = owner._next(Seen(self.command, path, headers, json.loads(raw) if raw else None))
                if step.then:
                    step.then()
                if step.silent:
                    owner.closing.wait(30)
                    self.close_connection = True
                    return
                body = step.body.encode() if isinstance(step.body, str) else step.body
                if step.cut == -1:
                    self.close_connection = True
                    return
                self.send_response(step.status)
                for name, value in {"Content-Type": "application/json", **step.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body) + 9999 * step.drip))
                self.end_headers()
                if step.drip:
                    self._drip()
                    return
                self.wfile.write(body if step.cut is None else body[: step.cut])
                self.close_connection = step.cut is not None

            def _drip(self) -> None:
                self.close_connection = True
                with suppress(OSError):  # the client has had enough
                    while not owner.closing.wait(0.05):
                        self.wfile.write(b" ")

            do_GET = do_POST  # noqa: N815  # the base class calls it so

        return Handler


@contextmanager
def fault_server() -> Iterator[FaultServer]:
    server = FaultServer()
    try:
        yield server
    finally:
        server.close()


class Models:
    """Opens models behind a fault server, and closes them."""

    def __init__(self, server: FaultServer) -> None:
        self._server = server
        self._opened: list[Model] = []
        self.waits: list[float] = []

    async def _note(self, seconds: float) -> None:
        self.waits.append(seconds)

    def __call__(self, provider: str, model: str = "qwen3:14b", **options: Any) -> Model:
        retry = Retry(sleep=self._note, draw=lambda: 0.0)
        made = open_model(
            f"{provider}:{model}",
            **{"base_url": self._server.base_url(provider), "retry": retry, "timeout": 5.0} | options,
        )
        self._opened.append(made)
        return made

    def forget(self) -> None:
        """Let go of the models that are not to be closed."""
        self._opened.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for model in self._opened:
            model.close()
