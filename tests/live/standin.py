"""A real, very small model behind the protocols of Ollama, Anthropic and OpenAI: `python standin.py WEIGHTS.gguf PORT`.

llama.cpp has no Ollama routes, so this stands in front of `xllamacpp.Server`, in a process of its own that a test can kill.
It answers whole, as our clients ask; it does not stream. Beside the protocols, `GET /live` says what it is doing.
"""

import json
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NAME = "smollm2:135m"
CONTEXT = 8192


class RefusedError(Exception):
    """What the server does not do, with its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Answer:
    text: str
    cut: bool
    read: int
    written: int


@dataclass
class Engine:
    """One model, one thread, one answer at a time: the same request gives the same bytes, also after a restart."""

    server: Any
    turn: threading.Lock = field(default_factory=threading.Lock)
    asked: list[str] = field(default_factory=list)
    written: int = 0  # pieces of the answer under way

    def answer(self, messages: list[dict[str, Any]], schema: Any, options: Mapping[str, Any]) -> Answer:
        call: dict[str, Any] = {
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        call |= {name: value for name, value in options.items() if value is not None}
        if schema is not None:
            call["grammar"] = grammar(schema)
        chunks: list[dict[str, Any]] = []

        def heard(chunk: Any) -> None:
            chunks.extend(chunk if isinstance(chunk, list) else [chunk])
            self.written = len(chunks)

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
        text = "".join(choice["delta"].get("content") or "" for choice in choices)
        usage = next(chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage"))
        cut = any(choice.get("finish_reason") == "length" for choice in choices)
        return Answer(text, cut, usage["prompt_tokens"], usage["completion_tokens"])


def engine(weights: str) -> Engine:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.n_ctx = CONTEXT
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


def plain(content: Any) -> str:
    """The text of a message, which may come in blocks."""
    if isinstance(content, str):
        return content
    return "".join(str(block.get("text", "")) for block in content or ())


def ollama(engine: Engine, body: dict[str, Any]) -> dict[str, Any]:
    options = body.get("options") or {}
    found = engine.answer(
        body["messages"],
        body.get("format"),
        {
            "temperature": options.get("temperature", 0.8),
            "seed": options.get("seed"),
            "max_tokens": options.get("num_predict"),
        },
    )
    return {
        "model": NAME,
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": found.text},
        "done": True,
        "done_reason": "length" if found.cut else "stop",
        "prompt_eval_count": found.read,
        "eval_count": found.written,
    }


def anthropic(engine: Engine, body: dict[str, Any]) -> dict[str, Any]:
    messages = [{"role": one["role"], "content": plain(one["content"])} for one in body["messages"]]
    if body.get("system"):
        messages.insert(0, {"role": "system", "content": plain(body["system"])})
    schema = ((body.get("output_config") or {}).get("format") or {}).get("schema")
    forced = (body.get("tool_choice") or {}).get("name")
    for tool in body.get("tools") or ():
        if tool["name"] == forced:
            schema = tool["input_schema"]
    # Anthropic has no seed. Here there is one all the same, so that a test ends today as it ended yesterday.
    options = {"temperature": body.get("temperature", 1.0), "seed": 1, "max_tokens": body["max_tokens"]}
    found = engine.answer(messages, schema, options)
    stop = "max_tokens" if found.cut else "tool_use" if forced else "end_turn"
    block: dict[str, Any] = {"type": "text", "text": found.text}
    if forced and not found.cut:
        block = {"type": "tool_use", "id": "toolu_1", "name": forced, "input": json.loads(found.text)}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": NAME,
        "content": [block],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": found.read, "output_tokens": found.written},
    }


def openai(engine: Engine, body: dict[str, Any]) -> dict[str, Any]:
    asked = body.get("response_format") or {}
    schema = "json" if asked.get("type") == "json_object" else (asked.get("json_schema") or {}).get("schema")
    options = {name: body.get(name) for name in ("temperature", "seed", "max_tokens")}
    found = engine.answer(body["messages"], schema, options)
    message = {"role": "assistant", "content": found.text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": NAME,
        "choices": [{"index": 0, "finish_reason": "length" if found.cut else "stop", "message": message}],
        "usage": {
            "prompt_tokens": found.read,
            "completion_tokens": found.written,
            "total_tokens": found.read + found.written,
        },
    }


CHATS = {"/api/chat": ollama, "/v1/messages": anthropic, "/v1/chat/completions": openai}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    engine: Engine

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
            self.reply(200, self.answered(self.path.partition("?")[0], body))
        except RefusedError as refused:
            # Ollama has its words in `error`, the other two in `error.message`.
            words: Any = str(refused)
            if not self.path.startswith("/api/"):
                words = {"type": "invalid_request_error", "message": words}
            self.reply(refused.status, {"type": "error", "error": words})

    def answered(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if body.get("model") != NAME:
            raise RefusedError(404, f"model '{body.get('model')}' not found")
        if path == "/api/show":
            return {"model_info": {"llama.context_length": CONTEXT}, "details": {}}
        if path not in CHATS:
            raise RefusedError(404, f"there is nothing at {path}")
        if body.get("stream"):
            raise RefusedError(400, "this server does not stream")
        self.engine.asked.append(path)
        return CHATS[path](self.engine, body)

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
    Handler.engine = engine(sys.argv[1])
    with Standin(("127.0.0.1", int(sys.argv[2])), Handler) as listening:
        print(f"listening on port {listening.server_port}", flush=True)  # noqa: T201  # the test waits for this line
        listening.serve_forever()
