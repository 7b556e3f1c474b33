"""The page's server: on loopback only, for one person, one story and one sitting.

Whoever else may be on the machine or in the browser is kept out by a random token in the path, without which nothing
is answered, not even the page; by the Host header, so that no foreign name resolves to it; and by the Origin header.
Reading changes nothing: whatever does is a POST with a JSON body of bounded size.
"""

import hmac
import json
import re
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, Final

from ludic_deepeval.errors import InputError
from ludic_deepeval.files import MAX_YAML_BYTES
from ludic_deepeval.web.session import Session, StaleMarksError

IDLE_SECONDS: Final = 30 * 60
"""So long after the last sign of life the server ends; an open page gives one every half minute."""
MAX_BODY: Final = MAX_YAML_BYTES

_FOLDER: Final = Path(__file__).parent
_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Refused(Exception):  # noqa: N818  # an answer, not a fault of this program
    """A request that is not served.

    Args:
        status: The HTTP status.
        line: What to say.
    """

    def __init__(self, status: HTTPStatus, line: str) -> None:
        self.status = status
        self.line = line
        super().__init__(line)


class PageServer(ThreadingHTTPServer):
    """Serves one session until the reader is done, or gone.

    Args:
        session: What is being marked.
        port: On 127.0.0.1; 0 takes any that is free.
        idle_seconds: How long without a request before it ends.

    Raises:
        InputError: The port cannot be had.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, session: Session, port: int = 0, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self.session = session
        self.token = token_urlsafe(32)
        self.turn = threading.Lock()
        self._idle_seconds = idle_seconds
        self._last_seen = time.monotonic()
        self._over = threading.Event()
        # Read once: a name that is asked for is a key here and never a path.
        self.files = {path.name: path.read_bytes() for path in _FOLDER.iterdir() if path.suffix in _TYPES}
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(
                "--port", f"{port} cannot be had ({reason})", allowed="a free port, or 0 for any"
            ) from None

    @property
    def port(self) -> int:
        """The port that was taken."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """The page's address, with the token in it."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    @property
    def hosts(self) -> tuple[str, str]:
        """What a request's Host may be."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    def seen(self) -> None:
        """Note a sign of life."""
        self._last_seen = time.monotonic()

    def finish(self) -> None:
        """End after this request: the reader is done."""
        self._over.set()

    def run(self) -> None:
        """Serve until the reader is done, nobody has been there for long, or Ctrl-C."""
        thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        thread.start()
        try:
            while not self._over.wait(timeout=min(1.0, self._idle_seconds)):
                if time.monotonic() - self._last_seen > self._idle_seconds:
                    break
        except KeyboardInterrupt:
            pass
        finally:
            with self.turn:  # whoever is writing, writes to the end
                self.shutdown()
                self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that hangs up is nobody's concern."""
        del request, client_address


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    server_version = "ludic"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 20

    def do_GET(self) -> None:
        self._serve(self._get)

    def do_POST(self) -> None:
        self._serve(self._post)

    def _serve(self, answer: Callable[[str], None]) -> None:
        try:
            answer(self._admitted())
        except Refused as refused:
            self.close_connection = True  # its body was not read
            self._send(refused.status, {"line": refused.line})
        except StaleMarksError:
            line = "Another tab has changed these marks. Load this page again."
            self._send(HTTPStatus.CONFLICT, {"line": line})
        except InputError as error:
            self._send(HTTPStatus.UNPROCESSABLE_ENTITY, {"line": str(error)})

    def _admitted(self) -> str:
        """Return what is asked for behind the token; refuse whoever has no business here."""
        if self.headers.get_all("Host", []) not in [[host] for host in self.server.hosts]:
            raise Refused(HTTPStatus.FORBIDDEN, "not this host")
        origins = self.headers.get_all("Origin", [])
        if origins and origins not in [[f"http://{host}"] for host in self.server.hosts]:
            raise Refused(HTTPStatus.FORBIDDEN, "not from there")
        token, slash, rest = self.path.removeprefix("/").partition("/")
        if not slash or not hmac.compare_digest(token.encode("utf-8"), self.server.token.encode("utf-8")):
            raise Refused(HTTPStatus.NOT_FOUND, "nothing here")
        self.server.seen()
        return rest

    def _get(self, what: str) -> None:
        if what == "session":
            with self.server.turn:
                view = self.server.session.view()
            self._send(HTTPStatus.OK, view)
            return
        name = what or "page.html"
        body = self.server.files.get(name)
        if body is None:
            raise Refused(HTTPStatus.NOT_FOUND, "nothing here")
        self._send_bytes(HTTPStatus.OK, body, _TYPES[Path(name).suffix])

    def _post(self, what: str) -> None:
        deed = _DEEDS.get(what)
        if deed is None:
            raise Refused(HTTPStatus.NOT_FOUND, "nothing here")
        body = self._body()
        with self.server.turn:
            done = deed(self.server, body)
        self._send(HTTPStatus.OK, done)
        if what == "done":  # only once the page has its answer
            self.server.finish()

    def _body(self) -> dict[str, Any]:
        if self.headers.get_content_type() != "application/json":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "JSON only")
        lengths = self.headers.get_all("Content-Length", [])
        if (
            len(lengths) != 1
            or not re.fullmatch(r"\d{1,12}", lengths[0])
            or "Transfer-Encoding" in self.headers
        ):
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "a body whose length is said")
        if int(lengths[0]) > MAX_BODY:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {MAX_BODY // 1024:,} KiB")
        data = self.rfile.read(int(lengths[0]))
        try:
            body = json.loads(data, parse_constant=_no_constant)
            json.dumps(body, ensure_ascii=False).encode("utf-8")  # half an emoji is no text
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise Refused(HTTPStatus.BAD_REQUEST, "not a JSON mapping")
        return body

    def _send(self, status: HTTPStatus, data: Any) -> None:
        body = json.dumps(data, ensure_ascii=True, allow_nan=False).encode("ascii")
        self._send_bytes(status, body, "application/json")

    def _send_bytes(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, POST")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What http.server itself refuses, other methods too: the same headers, and nothing of what was asked."""
        del message, explain
        self.close_connection = True
        status = HTTPStatus.METHOD_NOT_ALLOWED if code == HTTPStatus.NOT_IMPLEMENTED else HTTPStatus(code)
        self._send(status, {"line": "not a request that is served here"})

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name is http.server's
        """Say nothing: the terminal is the reader's, and the path holds the token."""


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _number(body: dict[str, Any], name: str) -> int:
    value = body.get(name)
    if type(value) is not int:
        raise Refused(HTTPStatus.BAD_REQUEST, f"{name}: a whole number")
    return value


def _quote(server: PageServer, body: dict[str, Any]) -> dict[str, Any]:
    return server.session.quote(_number(body, "start"), _number(body, "end"))


def _marks(server: PageServer, body: dict[str, Any]) -> dict[str, Any]:
    return server.session.update(body.get("sheet"), _number(body, "revision"))


def _save(server: PageServer, body: dict[str, Any]) -> dict[str, Any]:
    overwrite = body.get("overwrite") is True
    return server.session.save(body.get("sheet"), _number(body, "revision"), overwrite=overwrite)


def _alive(server: PageServer, body: dict[str, Any]) -> dict[str, Any]:
    del server, body
    return {}


def _done(server: PageServer, body: dict[str, Any]) -> dict[str, Any]:
    if body.get("discard") is True:
        server.session.discard()
    return {}


_DEEDS: Final[dict[str, Callable[[PageServer, dict[str, Any]], dict[str, Any]]]] = {
    "quote": _quote, "marks": _marks, "save": _save, "alive": _alive, "done": _done,
}  # fmt: skip
