"""A real, very small model behind the protocols of Ollama, Anthropic and OpenAI: `python -m tests.live.standin WEIGHTS.gguf PORT [CONTEXT]`.

llama.cpp has no Ollama routes, so this stands in front of `xllamacpp.Server`, in a process of its own that a test can kill.
It answers whole or in pieces, as it is asked. Beside the protocols, `GET /live` says what it is doing.
"""

import json
import struct
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.live.protocols import CHATS, NAME, Answer, Chat

CONTEXT = 8192  # what the model was trained on
Heard: TypeAlias = Callable[[str], None]
# A draft by so small a model would go on to its limit. This has it end of itself, after two short paragraphs.
_TALE: Final = '%llguidance {}\nstart: P "\\n\\n" P\nP: /[A-Z][^\\n]{80,240}[.]/'
_LONG: Final = 1000  # tokens: who allows fewer wants to see an answer cut off


class RefusedError(Exception):
    """What the server does not do, with its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Engine:
    """One model, one thread, one answer at a time: the same request gives the same bytes, also after a restart."""

    server: Any
    turn: threading.Lock = field(default_factory=threading.Lock)
    asked: list[str] = field(default_factory=list)
    written: int = 0  # pieces of the answer under way

    def answer(self, chat: Chat, piece: Heard = lambda _: None) -> Answer:
        call: dict[str, Any] = {
            "messages": chat.messages,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        call |= {name: value for name, value in chat.options.items() if value is not None}
        if chat.schema is not None:
            call["grammar"] = grammar(chat.schema)
        elif (call.get("max_tokens") or 0) >= _LONG:
            call["grammar"] = _TALE
        chunks: list[dict[str, Any]] = []

        def heard(chunk: Any) -> None:
            new = chunk if isinstance(chunk, list) else [chunk]
            chunks.extend(new)
            self.written = len(chunks)
            if text := said(new):
                piece(text)

        with self.turn:
            self.written = 0
            self.server.handle_chat_completions(call, heard)
            self.written = 0
        for chunk in chunks:
            if "error" in chunk:
                raise RefusedError(
                    int(chunk["error"].get("code", 500)), str(chunk["error"].get("message", ""))
                )
        choices = [choice for chunk in chunks for choice in chunk.get("choices", ())]
        usage = next(chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage"))
        cut = any(choice.get("finish_reason") == "length" for choice in choices)
        return Answer(said(chunks), cut, usage["prompt_tokens"], usage["completion_tokens"])


def said(chunks: Iterable[dict[str, Any]]) -> str:
    """The words in some chunks of an answer."""
    return "".join(
        choice["delta"].get("content") or "" for chunk in chunks for choice in chunk.get("choices", ())
    )


def stretched(weights: str, context: int) -> str:
    """A copy of the weights that says it was trained on so many tokens, which llama.cpp holds a context to."""
    data = bytearray(Path(weights).read_bytes())
    name = b"llama.context_length" + struct.pack("<I", 4)  # a whole number of four bytes follows
    at = data.index(name) + len(name)
    data[at : at + 4] = struct.pack("<I", context)
    copy = Path(tempfile.mkdtemp()) / Path(weights).name
    copy.write_bytes(data)
    return str(copy)


def engine(weights: str, context: int) -> Engine:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # two lose reproducibility
    params.cache_prompt = False  # so does a cache
    params.cache_ram_mib = 0
    params.warmup = params.ui = False
    params.verbosity = -1
    return Engine(xllamacpp.Server(params))


def grammar(schema: Any) -> str:
    """A grammar for llguidance, which keeps a small model from writing runs of blanks."""
    shape = {"type": "object"} if schema == "json" else tightened(schema)
    shape["x-guidance"] = {"whitespace_flexible": False, "lenient": True}
    return f"%llguidance {{}}\nstart: %json {json.dumps(shape)}"


def tightened(schema: Any) -> Any:
    """The same schema with short lists and texts: what fits it fits the other, and a slow model comes to an end."""
    if isinstance(schema, list):
        return [tightened(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    tight = {name: tightened(value) for name, value in schema.items()}
    if tight.get("type") == "array":
        tight["maxItems"] = max(1, tight.get("minItems", 0))
    if tight.get("type") == "string" and "enum" not in tight:
        tight.pop("pattern", None)
        tight |= {"minLength": max(1, tight.get("minLength", 0)), "maxLength": 40}
    if tight.get("type") == "integer" and not {"enum", "const"} & tight.keys():
        tight = {"minimum": 0, "maximum": 999} | tight  # numbers have an end, too
    return tight


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    engine: Engine
    context = CONTEXT

    def do_GET(self) -> None:
        if self.path == "/live":
            self.reply(200, {"asked": self.engine.asked, "written": self.engine.written})
        elif self.path == "/api/tags":
            self.reply(200, {"models": [{"model": NAME, "name": NAME}]})
        elif self.path.partition("?")[0] == "/v1/models":
            one = {"id": NAME, "object": "model", "type": "model", "created": 1, "owned_by": "here"}
            one |= {"display_name": NAME, "created_at": "2026-01-01T00:00:00Z"}
            self.reply(
                200, {"object": "list", "data": [one], "has_more": False, "first_id": NAME, "last_id": NAME}
            )
        else:
            self.reply(404, {"error": f"there is nothing at {self.path}"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        try:
            self.answer(self.path.partition("?")[0], body)
        except RefusedError as refused:
            # Ollama has its words in `error`, the other two in `error.message`.
            words: Any = str(refused)
            if not self.path.startswith("/api/"):
                words = {"type": "invalid_request_error", "message": words}
            self.reply(refused.status, {"type": "error", "error": words})

    def answer(self, path: str, body: dict[str, Any]) -> None:
        if body.get("model") != NAME:
            raise RefusedError(404, f"model '{body.get('model')}' not found")
        if path == "/api/show":
            self.reply(200, {"model_info": {"llama.context_length": self.context}, "details": {}})
            return
        if path not in CHATS:
            raise RefusedError(404, f"there is nothing at {path}")
        chat = CHATS[path](body)
        self.engine.asked.append(path)
        if chat.streams:
            self.stream(chat)
        else:
            self.reply(200, chat.whole(self.engine.answer(chat)))

    def stream(self, chat: Chat) -> None:
        """Send each piece as soon as the model has written it; a refusal comes before the first."""
        begun = False

        def send(data: bytes) -> None:
            nonlocal begun
            if not begun:
                begun = True
                self.send_response(200)
                self.send_header("content-type", chat.kind)
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                data = chat.begin() + data
            with suppress(
                OSError
            ):  # nobody listens any more, and raised here it would pass through llama.cpp
                self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

        found = self.engine.answer(chat, lambda text: send(chat.piece(text)))
        send(chat.end(found))
        self.wfile.write(b"0\r\n\r\n")

    def reply(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the standard library's name
        """Say nothing."""


class Standin(ThreadingHTTPServer):
    daemon_threads = True


if __name__ == "__main__":
    weights = sys.argv[1]
    if len(sys.argv) > 3:  # long texts go in, and the model makes even less of them
        Handler.context = int(sys.argv[3])
        weights = stretched(weights, Handler.context)
    Handler.engine = engine(weights, Handler.context)
    with Standin(("127.0.0.1", int(sys.argv[2])), Handler) as listening:
        print(f"listening on port {listening.server_port}", flush=True)  # noqa: T201  # the test waits for this line
        listening.serve_forever()
