"""TruLens's dashboard on this computer alone: loopback, offline, no password in the list of processes, gone when it is left.

`run_dashboard()` of TruLens binds every interface, asks the network for an outside address, leaves its child behind, and puts
the database's password into argv. Streamlit is started here instead, on the same page.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import IO, Any, Final

from ludic_deepeval.errors import InputError, clean
from trulens_feedback.database import PREFIX, Place

HOST: Final = "127.0.0.1"
PORT: Final = 8501
START: Final = 120.0  # seconds; the first start on a busy machine compiles a lot
_STOP: Final = 10.0
_OPTIONS: Final = (
    f"--server.address={HOST}",
    f"--browser.serverAddress={HOST}",
    "--server.headless=true",
    "--server.fileWatcherType=none",
    "--browser.gatherUsageStats=false",
    "--client.toolbarMode=viewer",
    "--global.disableWidgetStateDuplicationWarning=true",
    "--theme.base=light",
)


@dataclass(frozen=True)
class Dashboard:
    """A dashboard that runs.

    Attributes:
        url: Its address.
        process: Streamlit.
    """

    url: str
    process: "subprocess.Popen[bytes]"


def command(place: Place, port: int) -> list[str]:
    """The command line that starts the dashboard; it holds no password."""
    page = _page()
    return [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        str(page),
        f"--server.port={port}",
        *_OPTIONS,
        "--",
        "--database-url",
        place.url,
        "--database-prefix",
        PREFIX,
    ]


def _page() -> Path:
    if find_spec("trulens.dashboard") is None or find_spec("streamlit") is None:
        raise InputError(
            "ludic dashboard", "the dashboard is not installed", hint="pip install 'ludic-worth[trulens]'"
        )
    return Path(__file__).with_name("page.py")


def free_port(wanted: int | None = None) -> int:
    """Return a port on loopback: the wanted one, else the usual one if it is free, else any.

    Raises:
        InputError: The wanted one is taken.
    """
    for port in [wanted] if wanted else [PORT, 0]:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise InputError("--port", f"{wanted} is taken", allowed="another port")


@contextmanager
def dashboard(place: Place, port: int | None = None, *, wait: float = START) -> Iterator[Dashboard]:
    """Start the dashboard, and stop it when the block is left, however it is left.

    Args:
        place: The database.
        port: On 127.0.0.1; None takes 8501 or any that is free.
        wait: Seconds until it must answer.

    Raises:
        InputError: The port is taken, or it does not start.
    """
    port = free_port(port)
    environment = dict(os.environ)
    environment |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false"}
    if place.password is not None:
        environment["PGPASSWORD"] = place.password
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(  # noqa: S603  # our own command
            command(place, port),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            # No shell's Ctrl-C reaches it: whoever started it stops it, once.
            start_new_session=os.name == "posix",
        )
        try:
            _wait(process, port, wait, log)
            yield Dashboard(f"http://{HOST}:{port}", process)
        finally:
            stop(process)


def _wait(process: "subprocess.Popen[bytes]", port: int, wait: float, log: IO[bytes]) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + wait
    while time.monotonic() < end:
        if process.poll() is not None:
            raise InputError("ludic dashboard", f"it ended at once: {_last(log)}")
        try:
            with opener.open(f"http://{HOST}:{port}/_stcore/health", timeout=2) as answer:
                if answer.read(16).strip() == b"ok":
                    return
        except OSError:
            time.sleep(0.2)
    raise InputError("ludic dashboard", f"no answer within {wait:.0f} seconds: {_last(log)}")


def _last(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read()[-20_000:].decode("utf-8", "replace").split("\n")
    return clean(next((line.strip() for line in reversed(lines) if line.strip()), "nothing said"), limit=300)


def stop(process: "subprocess.Popen[bytes]") -> None:
    """End a dashboard and all that it started; first gently."""
    if process.poll() is not None:
        return
    for how in ("SIGTERM", "SIGKILL"):
        _signal(process, getattr(signal, how, signal.SIGTERM))
        try:
            process.wait(_STOP)
        except subprocess.TimeoutExpired:
            continue
        return


def _signal(process: "subprocess.Popen[bytes]", number: int) -> None:
    try:
        if os.name == "posix":
            os.killpg(process.pid, number)  # it leads a session of its own
        else:
            process.terminate()
    except ProcessLookupError:
        pass


class _Left(BaseException):
    """A signal asked for the end."""


def serve_until_left(running: Dashboard) -> int:
    """Wait for Ctrl-C or SIGTERM, or for the dashboard to end by itself.

    Returns:
        0 when it was left, 1 when it ended by itself.
    """

    def leave(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise _Left

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before: dict[int, Any] = {
        getattr(signal, name): signal.signal(getattr(signal, name), leave) for name in names
    }
    try:
        running.process.wait()
    except (KeyboardInterrupt, _Left):
        return 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 1
