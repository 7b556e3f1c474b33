"""Hypothesis without deadlines: a first call that loads a dictionary is not a slow test, and machines are noisy."""

from collections.abc import Iterator

import certifi
import pytest
from hypothesis import settings

from tests.llm_faults import KEY, FaultServer, Models, fault_server

settings.register_profile("ludic", deadline=None)
settings.load_profile("ludic")


@pytest.fixture(scope="session")
def one_certificate(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file with one certificate: clients read all of the system's anew, for a fifth of a second each."""
    end = "-----END CERTIFICATE-----\n"
    path = tmp_path_factory.mktemp("tls") / "one.pem"
    path.write_text(certifi.contents().partition(end)[0] + end)
    return str(path)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    """A loopback server that plays what a test tells it to."""
    with fault_server() as playing:
        yield playing


@pytest.fixture
def models(server: FaultServer, one_certificate: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Models]:
    """Models behind that server, which wait for nothing between tries and note for how long they would have."""
    for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OLLAMA_API_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("SSL_CERT_FILE", one_certificate)
    with Models(server) as opened:
        yield opened
