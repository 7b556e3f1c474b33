"""A small client of a language server over standard input and output, which sees every byte that the server writes."""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parents[1]
PATIENCE = 60  # seconds; only a server that hangs is waited for so long
CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-8", "utf-32", "utf-16"]},
    "textDocument": {
        "codeAction": {
            "disabledSupport": True,
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}},
        },
        "hover": {"contentFormat": ["markdown", "plaintext"]},
    },
    "workspace": {"workspaceEdit": {"documentChanges": True, "resourceOperations": ["create"]}},
}


class EditorClient:
    """Starts `ludic lsp` and talks to it."""

    def __init__(self, capabilities: dict[str, Any] | None = None, *, initialize: bool = True) -> None:
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ludic_deepeval", "lsp"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
        )  # fmt: skip
        self.messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.seen: list[dict[str, Any]] = []
        self.stray = b""  # what the server wrote that is no message
        self.said = b""
        self._ids = 0
        self._threads = [threading.Thread(target=one, daemon=True) for one in (self._read, self._listen)]
        for thread in self._threads:
            thread.start()
        if initialize:
            params = {"processId": os.getpid(), "rootUri": None, "capabilities": capabilities or CAPABILITIES}
            self.server = self.ask("initialize", params)
            self.tell("initialized", {})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    # The wire

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: object) -> None:
        body = json.dumps(message).encode("utf-8")
        self.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            length = None
            while header.strip():
                name, _, value = header.partition(b":")
                if name == b"Content-Length":
                    length = int(value)
                elif name != b"Content-Type":
                    self.stray += header
                header = stream.readline()
            if length is not None:
                self.messages.put(json.loads(stream.read(length)))
        self.messages.put(None)

    def _listen(self) -> None:
        assert self.process.stderr is not None
        self.said = self.process.stderr.read()

    # What a client says

    def tell(self, method: str, params: object) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: object) -> Any:
        """Return the result; an error comes back as it is."""
        self._ids += 1
        number = self._ids
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        answer = self.until(lambda message: message.get("id") == number and "method" not in message)
        return answer.get("result", answer)

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Take messages until one is what is wanted; the others stay in `seen`."""
        while True:
            message = self.messages.get(timeout=PATIENCE)
            assert message is not None, "the server has ended"
            self.seen.append(message)
            if wanted(message):
                return message

    def open(self, path: Path, text: str | None = None, *, uri: str | None = None) -> None:
        said = path.read_text(encoding="utf-8") if text is None else text
        document = {
            "uri": path.as_uri() if uri is None else uri,
            "languageId": "markdown",
            "version": 1,
            "text": said,
        }
        self.tell("textDocument/didOpen", {"textDocument": document})

    def change(self, path: Path, text: str, version: int) -> None:
        document = {"uri": path.as_uri(), "version": version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def findings(self, path: Path, version: int | None = None) -> list[dict[str, Any]]:
        """The next findings that are published on a file, of a version if one is asked for."""
        message = self.until(
            lambda one: (
                one.get("method") == "textDocument/publishDiagnostics"
                and one["params"]["uri"] == path.as_uri()
                and version in {None, one["params"].get("version")}
            )
        )
        found: list[dict[str, Any]] = message["params"]["diagnostics"]
        return found

    def hover(self, path: Path, line: int, character: int) -> Any:
        place = {"line": line, "character": character}
        return self.ask("textDocument/hover", {"textDocument": {"uri": path.as_uri()}, "position": place})

    def actions(self, path: Path, place: dict[str, Any], **context: Any) -> Any:
        asked = {
            "textDocument": {"uri": path.as_uri()},
            "range": place,
            "context": {"diagnostics": []} | context,
        }
        return self.ask("textDocument/codeAction", asked)

    def leave(self) -> int:
        """Shut the server down and return its exit code."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self.process.wait(PATIENCE)


def applied(edit: dict[str, Any]) -> dict[Path, str]:
    """Carry out a workspace edit on the files, by the protocol's own counting, and return what they hold then."""
    changes = edit.get("documentChanges") or [
        {"textDocument": {"uri": uri}, "edits": edits} for uri, edits in edit["changes"].items()
    ]
    done = {}
    for change in changes:
        path = Path(_path(change.get("uri") or change["textDocument"]["uri"]))
        if change.get("kind") == "create":
            path.touch()
            continue
        text = path.read_bytes().decode("utf-8") if path.exists() else ""
        for one in change["edits"]:
            start, end = (_offset(text, one["range"][side]) for side in ("start", "end"))
            text = text[:start] + one["newText"] + text[end:]
        path.write_bytes(text.encode("utf-8"))
        done[path] = text
    return done


def _path(uri: str) -> str:
    from urllib.parse import unquote, urlsplit

    return unquote(urlsplit(uri).path)


def slice_of(text: str, place: dict[str, Any]) -> str:
    """The part of a text that a range of the protocol means."""
    return text[_offset(text, place["start"]) : _offset(text, place["end"])]


def _offset(text: str, position: dict[str, int]) -> int:
    """By the protocol: lines end at LF, CRLF or CR, characters are UTF-16 units."""
    at = 0
    for _ in range(position["line"]):
        ends = [found for end in ("\n", "\r") if (found := text.find(end, at)) >= 0]
        at = min(ends)
        at += 2 if text[at : at + 2] == "\r\n" else 1
    units = position["character"]
    while units > 0:
        units -= 2 if ord(text[at]) > 0xFFFF else 1
        at += 1
    return at
