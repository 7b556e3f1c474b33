"""Retrieval over a Story Bible: chunks that say where they come from, and what is found for a phase of a life."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.bible import Bible, open_bible
from ludic_deepeval.errors import InputError, ModelError
from ludic_deepeval.ledger import load_ledger
from ludic_deepeval.llm.embeddings import OllamaEmbedder
from ludic_deepeval.llm.retry import Retry
from tests.llm_faults import DROPPED, FaultServer, Step, failed
from trulens_feedback.lexicon import stems
from trulens_feedback.retrieval import (
    Bm25Retriever,
    EmbeddingRetriever,
    NoRetriever,
    chunks_of,
    merged,
    phase_queries,
    request_queries,
    retrieve_phases,
)

ROOT = Path(__file__).parents[2]
CHINESE: dict[str, Any] = {
    "schema_version": 1, "id": "yindu", "name": "银渡", "version": "v2", "language": "zh",
    "factions": [
        {"id": "yanbang", "name": "盐帮", "text": "盐帮管着河上的船，不收女人做徒弟。"},
        {"id": "dengshe", "name": "灯社", "text": "灯社替过路人点灯，从不收钱。"},
    ],
    "locations": [
        {"id": "yindu-town", "name": "银渡镇", "allegiance": "yanbang", "text": "银渡镇在三条河的渡口，镇上的秤归盐帮保管。"},
        {"id": "qingshi", "name": "青石集", "text": "青石集是最大的集市，每月逢三开市。",
         "retired": {"version": "v2", "how": "destroyed", "text": "青石集去年被大火烧毁，只剩一片废墟。"}},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def world() -> Bible:
    return open_bible(str(ROOT / "bible/ember-road@v2"))


def test_every_chunk_says_bible_version_kind_and_node(world: Bible) -> None:
    chunks = chunks_of(world)
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    assert {chunk.node for chunk in chunks} == {node.id for _, _, node in world.nodes()}
    for chunk in chunks:
        assert chunk.id.startswith(f"ember-road@v2/{chunk.kind}/{chunk.node}#")
        assert chunk.name in chunk.text


def test_what_a_version_retired_is_kept_with_that_version_its_end_first(world: Bible) -> None:
    end, was = [chunk for chunk in chunks_of(world) if chunk.node == "ombrey"]
    assert (end.retired, was.retired) == ("v2", "v2")
    assert "destroyed, no more since v2" in end.text
    assert "burned to the waterline" in end.text
    assert "as it was before v2" in was.text
    earlier = chunks_of(open_bible(str(ROOT / "bible/ember-road@v1")))
    assert {chunk.retired for chunk in earlier} == {None}


def test_a_long_node_is_cut_between_sentences(world: Bible) -> None:
    text = " ".join(
        f"The {word} wall of the harbour holds {at} grey stones."
        for at, word in enumerate(["inner", "outer"] * 20)
    )
    bible = Bible.model_validate(
        {
            "schema_version": 1,
            "id": "b",
            "name": "B",
            "locations": [{"id": "w", "name": "Wall", "text": text}],
        }
    )
    chunks = chunks_of(bible)
    assert len(chunks) > 2
    assert " ".join(chunk.text.removeprefix("Wall: ") for chunk in chunks) == text


def test_an_empty_bible_is_a_named_error() -> None:
    empty = Bible.model_validate({"schema_version": 1, "id": "b", "name": "B"})
    for make in (chunks_of, Bm25Retriever):
        with pytest.raises(InputError, match="bible b@v1: it is empty"):
            make(empty)
    with pytest.raises(InputError, match="there are no chunks"):
        Bm25Retriever(())


@pytest.mark.parametrize(
    ("query", "node"),
    [
        ("Where is salt counted by the sack?", "saltgrave"),
        ("who carries fire from hearth to hearth", "ash-sisters"),
        ("the man on the grey mule", "bastian-rook"),
        ("dousing hearths", "hearth-law"),
        ("the Weighmaster", "ilse-corran"),
    ],
)
def test_bm25_finds_a_node_by_its_words_aliases_and_practices(world: Bible, query: str, node: str) -> None:
    hits = Bm25Retriever(world).retrieve(query)
    assert hits[0].chunk.node == node
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert all(math.isfinite(hit.score) and hit.score > 0 for hit in hits)


def test_chinese_is_found_by_words_and_by_names_that_no_dictionary_has() -> None:
    retriever = Bm25Retriever(Bible.model_validate(CHINESE))
    assert retriever.retrieve("谁替过路的人点灯？")[0].chunk.node == "dengshe"
    assert retriever.retrieve("他在银渡镇等船")[0].chunk.node == "yindu-town"
    assert retriever.retrieve("青石集")[0].chunk.node == "qingshi"


def test_a_query_that_shares_no_word_finds_nothing(world: Bible) -> None:
    retriever = Bm25Retriever(world)
    assert retriever.retrieve("zzz qqq") == ()
    assert retriever.retrieve("") == ()
    assert retriever.retrieve("the of and") == ()
    assert NoRetriever().retrieve("Ombrey") == ()


def test_the_same_query_finds_the_same_chunks_in_the_same_order(world: Bible) -> None:
    one = Bm25Retriever(world).retrieve("fire on the road", most=9)
    two = Bm25Retriever(tuple(reversed(chunks_of(world)))).retrieve("fire on the road", most=9)
    assert [hit.chunk.id for hit in one] == [hit.chunk.id for hit in two]


def test_equal_scores_are_put_in_the_order_of_ids() -> None:
    nodes = [{"id": name, "name": f"Mill {name}", "text": "It grinds rye."} for name in ("c", "a", "b")]
    bible = Bible.model_validate({"schema_version": 1, "id": "b", "name": "B", "locations": nodes})
    assert [hit.chunk.node for hit in Bm25Retriever(bible).retrieve("rye")] == ["a", "b", "c"]


def test_a_chinese_name_is_found_though_the_dictionary_cuts_through_it() -> None:
    """rjieba cuts 只往 out of 他只往笔 …, so a place called 往笔 is no word of it; its pair of characters is."""
    nodes = [
        {"id": "w", "name": "往笔", "text": "往笔在河边。"},
        {"id": "x", "name": "灯社", "text": "灯社在山上。"},
    ]
    bible = Bible.model_validate({"schema_version": 1, "id": "b", "name": "B", "locations": nodes})
    query = "覃素只往笔尖上哈气"
    assert "往笔" not in stems(query)
    assert [hit.chunk.node for hit in Bm25Retriever(bible).retrieve(query)][:1] == ["w"]


def test_most_must_be_a_count(world: Bible) -> None:
    with pytest.raises(InputError, match="most: found 0"):
        Bm25Retriever(world).retrieve("salt", most=0)


def test_each_phase_asks_for_what_happens_in_it(world: Bible) -> None:
    ledger = load_ledger(
        {
            "schema_version": 1,
            "protagonist": "Ada",
            "events": [
                {"id": "a", "phase": "P1", "summary": "born in Saltgrave", "location": "Saltgrave"},
                {"id": "b", "phase": "P3", "summary": "owes the Sisters", "factions": ["the Ash Sisters"]},
            ],
        }
    )
    queries = phase_queries(ledger)
    assert list(queries) == ["P1", "P3"]  # no event, no query
    found = retrieve_phases(Bm25Retriever(world), queries)
    assert found["P1"][0].chunk.node == "saltgrave"
    assert found["P3"][0].chunk.node == "ash-sisters"
    chunks = merged(found)
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    assert list(request_queries("a carter")) == ["P1", "P2", "P3"]


# Embeddings, through Ollama's client


def vectors(*rows: object) -> Step:
    return Step(body=json.dumps({"model": "nomic-embed-text", "embeddings": list(rows)}))


@pytest.fixture
def embedder(server: FaultServer) -> Iterator[OllamaEmbedder]:
    with OllamaEmbedder("nomic-embed-text", base_url=server.url, retry=Retry(attempts=1)) as opened:
        yield opened


def test_embeddings_retrieve_by_cosine_and_leave_out_what_is_unlike(
    server: FaultServer, embedder: OllamaEmbedder
) -> None:
    bible = Bible.model_validate(CHINESE)
    chunks = chunks_of(bible)
    rows = [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [-1.0, 0.0], [-0.6, -0.8]]
    server.play(vectors(*rows[: len(chunks)]), vectors([1.0, 0.0]))
    retriever = EmbeddingRetriever(bible, embedder)
    hits = retriever.retrieve("灯")
    assert [(hit.chunk.id, round(hit.score, 6)) for hit in hits] == [(chunks[0].id, 1.0), (chunks[1].id, 0.6)]
    asked = server.asked[0].body
    assert asked["input"] == [chunk.search for chunk in chunks]
    assert asked["truncate"] is False
    assert retriever.name == "ollama:nomic-embed-text:yindu@v2"


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (vectors([1.0, 0.0]), "malformed"),  # one for many texts
        (Step(body='{"embeddings": [[NaN, 1.0]]}'), "malformed"),
        (Step(body='{"embeddings": [[Infinity, 1.0]]}'), "malformed"),
        (vectors([0.0, 0.0]), "malformed"),
        (vectors([]), "malformed"),
        (Step(body='{"embeddings": "none"}'), "malformed"),
        (Step(body="I cannot do that."), "malformed"),
        (DROPPED, "dropped"),
        (failed("ollama", 500, "out of memory"), "server-error"),
        (failed("ollama", 400, "input length exceeds the context length"), "too-long"),
        (failed("ollama", 404, "model not found"), "unknown-model"),
    ],
    ids=[
        "too few",
        "nan",
        "infinity",
        "zeros",
        "empty",
        "no list",
        "prose",
        "dropped",
        "fails",
        "too long",
        "unknown",
    ],
)
def test_vectors_that_cannot_be_used_are_a_named_error(
    server: FaultServer, embedder: OllamaEmbedder, step: Step, kind: str
) -> None:
    server.play(step)
    texts = ["a", "b"] if kind == "malformed" and step == vectors([1.0, 0.0]) else ["a"]
    with pytest.raises(ModelError) as caught:
        embedder.embed(texts)
    assert caught.value.kind == kind


def test_a_dead_server_is_a_named_error() -> None:
    with OllamaEmbedder("m", base_url="http://127.0.0.1:9") as dead, pytest.raises(ModelError) as caught:
        dead.embed(["a"])
    assert caught.value.kind == "unreachable"
