"""What Ollama, Anthropic and OpenAI ask of a server and are answered, whole or in pieces: JSON in, JSON or bytes out."""

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Final

NAME = "smollm2:135m"


@dataclass(frozen=True)
class Answer:
    text: str
    cut: bool
    read: int
    written: int


class Chat(ABC):
    """One request for an answer, by one protocol.

    Attributes:
        kind: The content type of an answer in pieces.
        messages: What is said to the model.
        schema: What the answer has to fit, if anything.
        options: temperature, seed and max_tokens.
        streams: Whether the answer is wanted in pieces.
    """

    kind: ClassVar[str] = "text/event-stream"
    messages: list[dict[str, Any]]
    schema: Any
    options: dict[str, Any]
    streams: bool

    @abstractmethod
    def whole(self, found: Answer) -> dict[str, Any]:
        """The reply to who wants it at once."""

    def begin(self) -> bytes:
        """What comes before the first piece."""
        return b""

    @abstractmethod
    def piece(self, text: str) -> bytes:
        """A piece of the answer."""

    @abstractmethod
    def end(self, found: Answer) -> bytes:
        """What comes after the last piece."""


class Ollama(Chat):
    """`/api/chat`; in pieces it is a JSON object a line."""

    kind = "application/x-ndjson"

    def __init__(self, body: dict[str, Any]) -> None:
        options = body.get("options") or {}
        self.messages = body["messages"]
        self.schema = body.get("format")
        self.options = {
            "temperature": options.get("temperature", 0.8),
            "seed": options.get("seed"),
            "max_tokens": options.get("num_predict"),
        }
        self.streams = bool(body.get("stream", True))  # Ollama does unless told not to

    def whole(self, found: Answer) -> dict[str, Any]:
        return self._message(found.text) | {
            "done": True,
            "done_reason": "length" if found.cut else "stop",
            "prompt_eval_count": found.read,
            "eval_count": found.written,
        }

    def piece(self, text: str) -> bytes:
        return _line(self._message(text) | {"done": False})

    def end(self, found: Answer) -> bytes:
        return _line(self.whole(found) | self._message(""))

    def _message(self, text: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": text}
        return {"model": NAME, "created_at": "2026-01-01T00:00:00Z", "message": message}


class Anthropic(Chat):
    """`/v1/messages`; in pieces it is named events."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.messages = [{"role": one["role"], "content": plain(one["content"])} for one in body["messages"]]
        if body.get("system"):
            self.messages.insert(0, {"role": "system", "content": plain(body["system"])})
        self.schema = ((body.get("output_config") or {}).get("format") or {}).get("schema")
        self.tool = (body.get("tool_choice") or {}).get("name")
        for tool in body.get("tools") or ():
            if tool["name"] == self.tool:
                self.schema = tool["input_schema"]
        # Anthropic has no seed. Here there is one all the same, so that a test ends today as it ended yesterday.
        self.options = {
            "temperature": body.get("temperature", 1.0),
            "seed": 1,
            "max_tokens": body["max_tokens"],
        }
        self.streams = bool(body.get("stream"))

    def whole(self, found: Answer) -> dict[str, Any]:
        block: dict[str, Any] = {"type": "text", "text": found.text}
        if self.tool and not found.cut:
            block = self._block() | {"input": json.loads(found.text)}
        usage = {"input_tokens": found.read, "output_tokens": found.written}
        return self._message() | {"content": [block], "stop_reason": self._stop(found), "usage": usage}

    def begin(self) -> bytes:
        start = _event("content_block_start", index=0, content_block=self._block())
        return _event("message_start", message=self._message()) + start

    def piece(self, text: str) -> bytes:
        delta = {"type": "text_delta", "text": text}
        if self.tool:
            delta = {"type": "input_json_delta", "partial_json": text}
        return _event("content_block_delta", index=0, delta=delta)

    def end(self, found: Answer) -> bytes:
        stop = {"stop_reason": self._stop(found), "stop_sequence": None}
        usage = {"input_tokens": found.read, "output_tokens": found.written}
        last = _event("message_delta", delta=stop, usage=usage) + _event("message_stop")
        return _event("content_block_stop", index=0) + last

    def _stop(self, found: Answer) -> str:
        return "max_tokens" if found.cut else "tool_use" if self.tool else "end_turn"

    def _block(self) -> dict[str, Any]:
        if self.tool:
            return {"type": "tool_use", "id": "toolu_1", "name": self.tool, "input": {}}
        return {"type": "text", "text": ""}

    def _message(self) -> dict[str, Any]:
        who = {"id": "msg_1", "type": "message", "role": "assistant", "model": NAME, "content": []}
        usage = {"input_tokens": 0, "output_tokens": 0}
        return who | {"stop_reason": None, "stop_sequence": None, "usage": usage}


class OpenAI(Chat):
    """`/v1/chat/completions`; in pieces it is events without names, and a last one that is no JSON."""

    def __init__(self, body: dict[str, Any]) -> None:
        asked = body.get("response_format") or {}
        self.messages = body["messages"]
        self.schema = (asked.get("json_schema") or {}).get("schema")
        if asked.get("type") == "json_object":
            self.schema = "json"
        self.options = {name: body.get(name) for name in ("temperature", "seed", "max_tokens")}
        self.streams = bool(body.get("stream"))

    def whole(self, found: Answer) -> dict[str, Any]:
        message = {"role": "assistant", "content": found.text}
        choice = {"index": 0, "finish_reason": self._reason(found), "message": message}
        return self._reply("chat.completion", [choice]) | {"usage": self._usage(found)}

    def begin(self) -> bytes:
        return self._part({"role": "assistant", "content": ""})

    def piece(self, text: str) -> bytes:
        return self._part({"content": text})

    def end(self, found: Answer) -> bytes:
        usage = self._reply("chat.completion.chunk", []) | {"usage": self._usage(found)}
        return self._part({}, self._reason(found)) + _data(usage) + b"data: [DONE]\n\n"

    def _part(self, delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "finish_reason": reason, "delta": delta}
        return _data(self._reply("chat.completion.chunk", [choice]))

    def _reply(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": NAME, "choices": choices}

    def _reason(self, found: Answer) -> str:
        return "length" if found.cut else "stop"

    def _usage(self, found: Answer) -> dict[str, int]:
        read, written = found.read, found.written
        return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


CHATS: Final[dict[str, type[Ollama | Anthropic | OpenAI]]] = {
    "/api/chat": Ollama,
    "/v1/messages": Anthropic,
    "/v1/chat/completions": OpenAI,
}


def plain(content: Any) -> str:
    """The text of a message, which may come in blocks."""
    if isinstance(content, str):
        return content
    return "".join(str(block.get("text", "")) for block in content or ())


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _data(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _event(name: str, **fields: Any) -> bytes:
    return f"event: {name}\n".encode() + _data({"type": name, **fields})
