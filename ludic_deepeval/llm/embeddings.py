"""Texts as vectors, through an Ollama server: for retrieval by likeness of meaning."""

import asyncio
import math
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, Self

from ludic_deepeval.errors import ModelError
from ludic_deepeval.llm.client import TIMEOUT
from ludic_deepeval.llm.loop import run
from ludic_deepeval.llm.ollama import OllamaModel
from ludic_deepeval.llm.retry import Retry

_BATCH: Final = 64


class OllamaEmbedder:
    """An embedding model behind Ollama, by the official client.

    Args:
        model: Its name there, `nomic-embed-text`.
        base_url: Where the server is; by default `$OLLAMA_HOST`, else this machine.
        timeout: Seconds for one request.
        retry: When it is sent again.
    """

    def __init__(
        self, model: str, *, base_url: str | None = None, timeout: float = TIMEOUT, retry: Retry | None = None
    ) -> None:
        self._model = OllamaModel(model, base_url=base_url, timeout=timeout, retry=retry)
        self._length: int | None = None

    @property
    def name(self) -> str:
        """`ollama:MODEL`."""
        return self._model.name

    def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Return one vector a text, all of one length, every number finite.

        Raises:
            ModelError: No server, no such model, a text that is too long, or a reply that is no such vectors.
        """
        found: list[tuple[float, ...]] = []
        for first in range(0, len(texts), _BATCH):
            found += run(self._embedded(texts[first : first + _BATCH]))
        return tuple(found)

    async def _embedded(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        tries = 0
        while True:
            tries += 1
            try:
                async with asyncio.timeout(self._model.timeout):
                    reply = await self._model.embed(texts)
                return self._vectors(reply, len(texts))
            except TimeoutError:
                failure = ModelError(
                    "timed-out", self.name, f"no whole answer within {self._model.timeout:g} s"
                )
            except ModelError as error:
                failure = error
            failure.requests = tries
            seconds = self._model.retry.wait(failure, tries)
            if seconds is None:
                raise failure
            await self._model.retry.sleep(seconds)

    def _vectors(self, reply: Any, count: int) -> list[tuple[float, ...]]:
        vectors = [tuple(map(float, vector)) for vector in reply.embeddings]
        lengths = {len(vector) for vector in vectors} | ({self._length} if self._length else set())
        if len(vectors) != count or len(lengths) != 1 or 0 in lengths:
            raise ModelError(
                "malformed",
                self.name,
                f"{len(vectors)} vectors of lengths {sorted(lengths)} for {count} texts",
            )
        if not all(math.isfinite(number) for vector in vectors for number in vector):
            raise ModelError("malformed", self.name, "a vector with a number that is not finite")
        if not all(any(vector) for vector in vectors):
            raise ModelError("malformed", self.name, "a vector of zeros, which is like nothing")
        (self._length,) = lengths
        return vectors

    def close(self) -> None:
        """Close connections."""
        self._model.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
