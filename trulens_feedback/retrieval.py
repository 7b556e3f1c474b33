"""Retrieval over a Story Bible (LudicMetrics §4.3): which nodes bear on a phase of a life.

A bible becomes chunks, each with an id that says bible, version, kind and node: `ember-road@v2/locations/ombrey#1`. What a
version has retired stays among them, with that version: a writer, or a model, has to learn that the city is gone. BM25 (bm25s,
the extra `deepeval`) needs no model; embeddings through Ollama are an option.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Protocol

from ludic_deepeval.bible import Bible, Location, Node, NodeKind, Rule
from ludic_deepeval.errors import InputError
from ludic_deepeval.ledger import PHASE_NAMES, PHASES, FactLedger, Phase
from ludic_deepeval.text import sentence_starts
from trulens_feedback.lexicon import stems

MOST: Final = 4
_WORDS_A_CHUNK: Final = 80


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a bible that can be retrieved.

    Attributes:
        id: `BIBLE@VERSION/KIND/NODE#PART`; unique over all bibles and versions.
        bible: The bible's id.
        version: Its version.
        kind: The kind of the node that it comes from.
        node: That node's id.
        name: And name.
        text: What a reader is shown, beginning with the name.
        search: What is searched: `text`, aliases, and the names of what the node is tied to.
        retired: The version that retired the node; None while it is current.
    """

    id: str
    bible: str
    version: str
    kind: NodeKind
    node: str
    name: str
    text: str
    search: str
    retired: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that was found.

    Attributes:
        chunk: Which.
        score: How well it fits, higher is better; of no use between queries or retrievers. Always finite.
        rank: 1 for the best.
    """

    chunk: Chunk
    score: float
    rank: int


class Retriever(Protocol):
    """Finds chunks for a query."""

    @property
    def name(self) -> str:
        """What it is, over which bible and version: `bm25:ember-road@v2`."""

    def retrieve(self, query: str, *, most: int = MOST) -> tuple[Hit, ...]:
        """Return the chunks that fit best, best first; none where nothing fits."""


def chunks_of(bible: Bible) -> tuple[Chunk, ...]:
    """Cut a bible into chunks, node by node, between sentences.

    Raises:
        InputError: A bible without nodes.
    """
    found = [chunk for kind, _, node in bible.nodes() for chunk in _chunks(bible, kind, node)]
    if not found:
        raise InputError(f"bible {bible.id}@{bible.version}", "it is empty", allowed="a bible with nodes")
    return tuple(found)


def _chunks(bible: Bible, kind: NodeKind, node: Node) -> list[Chunk]:
    ties = " ".join(_ties(bible, node))
    parts = [f"{node.name}: {part}" for part in _cut(node.text)]
    if node.retired is not None:
        gone = f"{node.name} ({node.retired.how}, no more since {node.retired.version}): {node.retired.text}"
        parts = [
            gone,
            *(f"{node.name}, as it was before {node.retired.version}: {part}" for part in _cut(node.text)),
        ]
    return [
        Chunk(
            id=f"{bible.id}@{bible.version}/{kind}/{node.id}#{number}",
            bible=bible.id,
            version=bible.version,
            kind=kind,
            node=node.id,
            name=node.name,
            text=text,
            search=" ".join([text, *node.aliases, ties]),
            retired=node.retired.version if node.retired else None,
        )
        for number, text in enumerate(parts, start=1)
    ]


def _ties(bible: Bible, node: Node) -> list[str]:
    """The names of the faction and places that a place or law is tied to, and what a law forbids."""
    ids: list[str] = []
    if isinstance(node, Location | Rule) and node.allegiance:
        ids.append(node.allegiance)
    if isinstance(node, Rule):
        ids += node.places
    names = [found[1].name for one in ids if (found := bible.find(one))]
    return [*names, node.practice, *node.aliases] if isinstance(node, Rule) else names


def _cut(text: str) -> list[str]:
    """Whole sentences, joined while they stay under some eighty words."""
    starts = [*sentence_starts(text), len(text)]
    parts: list[str] = []
    for begin, end in itertools.pairwise(starts):
        sentence = text[begin:end].strip()
        if parts and len(stems(parts[-1])) + len(stems(sentence)) <= _WORDS_A_CHUNK // 2:
            parts[-1] = f"{parts[-1]} {sentence}"
        elif sentence:
            parts.append(sentence)
    return parts or [text.strip()]


class Bm25Retriever:
    """BM25 over a bible's chunks, by bm25s: English stems, Chinese words and pairs of characters.

    Deterministic: equal scores are put in the order of ids. A chunk that shares no word with the query is never returned.

    Args:
        bible: The bible; or chunks of one or more.

    Raises:
        InputError: An empty bible, or bm25s is not installed.
    """

    def __init__(self, bible: Bible | Sequence[Chunk]) -> None:
        self.chunks = _as_chunks(bible)
        self.name = f"bm25:{self.chunks[0].bible}@{self.chunks[0].version}"

    @cached_property
    def _index(self) -> Any:
        try:
            import bm25s  # noqa: PLC0415  # an extra, and NumPy with it
        except ImportError:
            raise InputError(
                "retrieval", "bm25s is not installed", hint="pip install 'ludic-worth[deepeval]'"
            ) from None
        index = bm25s.BM25(method="lucene")
        corpus = [list(stems(chunk.search, pairs=True)) or ["\0"] for chunk in self.chunks]
        index.index(corpus, show_progress=False)
        return index

    def retrieve(self, query: str, *, most: int = MOST) -> tuple[Hit, ...]:
        """Return the chunks that fit best, best first; none where no word is shared."""
        index = self._index
        known = [word for word in stems(query, pairs=True) if word in index.vocab_dict]
        if not known:
            return ()
        scores = index.get_scores(known)
        return _best(self.chunks, [float(score) for score in scores], most)


class Embedder(Protocol):
    """Turns texts into vectors; see `llm.embeddings`."""

    @property
    def name(self) -> str:
        """`provider:model`."""

    def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Return one vector a text, all of one length and finite; raise `ModelError` where there are none."""


class EmbeddingRetriever:
    """Cosine similarity of embeddings. Chunks are embedded once, when first asked; only positive similarity counts.

    Args:
        bible: The bible, or chunks.
        embedder: Who embeds, as `ludic_deepeval.llm.embeddings.OllamaEmbedder`.

    Raises:
        InputError: An empty bible.
        ModelError: On asking: no server, no such model, vectors that cannot be used.
    """

    def __init__(self, bible: Bible | Sequence[Chunk], embedder: Embedder) -> None:
        self.chunks = _as_chunks(bible)
        self.name = f"{embedder.name}:{self.chunks[0].bible}@{self.chunks[0].version}"
        self._embedder = embedder

    @cached_property
    def _vectors(self) -> tuple[tuple[float, ...], ...]:
        return self._embedder.embed([chunk.search for chunk in self.chunks])

    def retrieve(self, query: str, *, most: int = MOST) -> tuple[Hit, ...]:
        """Return the chunks most like the query, best first."""
        if not query.strip():
            return ()
        vectors = self._vectors
        (asked,) = self._embedder.embed([query])
        return _best(self.chunks, [_cosine(asked, vector) for vector in vectors], most)


class NoRetriever:
    """Finds nothing: the condition without a bible."""

    name = "none"

    def retrieve(self, query: str, *, most: int = MOST) -> tuple[Hit, ...]:
        """Return nothing."""
        del query, most
        return ()


def _as_chunks(bible: Bible | Sequence[Chunk]) -> tuple[Chunk, ...]:
    chunks = chunks_of(bible) if isinstance(bible, Bible) else tuple(bible)
    if not chunks:
        raise InputError("retrieval", "there are no chunks", allowed="a bible with nodes")
    return chunks


def _best(chunks: Sequence[Chunk], scores: Sequence[float], most: int) -> tuple[Hit, ...]:
    if most < 1:
        raise InputError("most", f"found {most}", allowed="a whole number of at least 1")
    fit = [
        (score, chunk)
        for score, chunk in zip(scores, chunks, strict=True)
        if math.isfinite(score) and score > 0
    ]
    fit.sort(key=lambda pair: (-round(pair[0], 6), pair[1].id))
    return tuple(Hit(chunk, score, rank) for rank, (score, chunk) in enumerate(fit[:most], start=1))


def _cosine(one: Sequence[float], two: Sequence[float]) -> float:
    lengths = math.hypot(*one) * math.hypot(*two)
    return sum(a * b for a, b in zip(one, two, strict=True)) / lengths if lengths else 0.0


def phase_queries(ledger: FactLedger) -> Mapping[Phase, str]:
    """What to look up for each phase of a life: the summaries, places, factions and practices of its events.

    A phase without events has no query and is left out.
    """
    found: dict[Phase, str] = {}
    for phase in PHASES:
        words = [
            word
            for event in ledger.in_order()
            if event.phase == phase
            for word in (
                event.summary,
                event.location or "",
                *event.factions,
                *(practice.practice for practice in event.practices),
                *(item.quote for item in event.evidence),
            )
            if word
        ]
        if words:
            found[phase] = " ".join(words)
    return MappingProxyType(found)


def request_queries(request: str) -> Mapping[Phase, str]:
    """What to look up before a draft exists: the design prompt, once for each phase of life."""
    return MappingProxyType({phase: f"{request} {PHASE_NAMES[phase]}" for phase in PHASES})


def retrieve_phases(
    retriever: Retriever, queries: Mapping[Phase, str], *, most: int = MOST
) -> Mapping[Phase, tuple[Hit, ...]]:
    """Retrieve for each phase."""
    return MappingProxyType({phase: retriever.retrieve(query, most=most) for phase, query in queries.items()})


def merged(found: Mapping[Phase, Sequence[Hit]]) -> tuple[Chunk, ...]:
    """Every chunk of several phases once, in the order in which they were first found."""
    return tuple({hit.chunk.id: hit.chunk for hits in found.values() for hit in hits}.values())
