"""`ludic extract` of many stories with a server that takes its time over each: what is under way at once, and what it adds."""

import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from benchmarks.measure import Row, program, timed
from benchmarks.stories import write_story

TARGET = 1.25
CONCURRENCY = 16


@contextmanager
def slow_server(seconds: float) -> Iterator[tuple[str, list[float]]]:
    """Ollama's protocol; each answer takes so long and marks the first words of the prose. Yields its URL and when it was asked."""
    asked: list[float] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            reply: dict[str, object] = {"details": {}, "model_info": {"x.context_length": 65536}}
            if self.path == "/api/chat":
                asked.append(time.perf_counter())
                prose = body["messages"][-1]["content"].partition("BEGIN PROSE")[2].partition("\n")[2]
                quote = " ".join(prose.split()[:5])
                hook = {"id": "h", "text": "x", "tier": 1, "evidence": [{"quote": quote}]}
                message = {
                    "role": "assistant",
                    "content": json.dumps({"protagonist": "x", "hooks": [hook]}),
                }
                time.sleep(seconds)
                reply = {"model": "m", "message": message, "done": True, "done_reason": "stop"}
            data = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        threading.Thread(target=http.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{http.server_address[1]}", asked
        finally:
            http.shutdown()


def run(*, smoke: bool = False) -> list[Row]:
    """One run, whole process: start, 64 answers of a second, 64 lockfiles."""
    size, seconds = (16, 0.1) if smoke else (64, 1.0)
    with tempfile.TemporaryDirectory() as name, slow_server(seconds) as (url, asked):
        folder = Path(name, "stories")
        folder.mkdir()
        for number in range(size):
            story, _ = write_story(folder, number)
            story.with_name(f"{story.stem}.ledger.json").unlink()
        before, os.environ["OLLAMA_HOST"] = os.environ.get("OLLAMA_HOST"), url
        try:
            command = (program("ludic"), "extract", "stories", "--model", "ollama:m")
            took, said = timed(*command, "--concurrency", str(CONCURRENCY), folder=Path(name))
            assert f"{size} stories read" in said
            since_first = time.perf_counter() - asked[0]
            assert len(asked) == size
            _, again = timed(*command, folder=Path(name))
            assert f"{size} unchanged" in again
            assert len(asked) == size
        finally:
            del os.environ["OLLAMA_HOST"]
            if before is not None:
                os.environ["OLLAMA_HOST"] = before
    least = size / CONCURRENCY * seconds
    return [
        Row(
            f"`ludic extract` of {size} stories, {CONCURRENCY} at once, {seconds:g} s an answer, to {least:g} s",
            took / least,
            TARGET,
            f"{took:.2f} s to {least:g} s",
        ),
        Row(
            "the same from its first question on",
            since_first / least,
            TARGET,
            f"{since_first:.2f} s to {least:g} s",
        ),
    ]
