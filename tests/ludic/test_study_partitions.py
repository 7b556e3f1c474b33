"""A corpus scored part by part: JSONL or Parquet, here or by two workers, whole or cut anywhere, to the same figures."""

import json
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.errors import InputError
from ludic_deepeval.policy import Policy
from ludic_deepeval.studies.partitions import Counted, parts_of, score_corpus
from tests.ludic.conftest import Ludic
from tests.scripted_turns import READY, WEAK, bare

BROKEN = {"schema_version": 1, "protagonist": "Ysolde", "npcs": [{"id": "odo"}]}
ROWS: list[dict[str, Any]] = [
    {
        "id": f"story {number}",
        "ledger": [bare(READY), bare(WEAK), json.dumps(bare(READY)), BROKEN][number % 4],
        "other": [1],
    }
    for number in range(40)
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def read(out: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for part in sorted(out.glob("part-*.jsonl"))
        for line in part.read_text().splitlines()
    ]


def test_rows_are_scored_in_order_and_what_cannot_be_says_why(corpus: Path, tmp_path: Path) -> None:
    found = score_corpus(parts_of([corpus]), tmp_path / "out", Policy())
    assert found == Counted(rows=40, scored=30, passed=20)
    rows = read(tmp_path / "out")
    assert [row["id"] for row in rows] == [row["id"] for row in ROWS]
    # LPI and PCV of READY and WEAK are worked out in scripted_turns.py.
    assert rows[0]["lpi"] == pytest.approx(0.3424 + 0.225 + 2 / 15 + 1 / 30)
    assert (rows[0]["pcv"], rows[0]["passed"], rows[0]["tier"]) == (210, True, "campaign")
    assert (rows[1]["pcv"], rows[1]["passed"], rows[1]["unscored"]) == (49, False, None)
    assert rows[2] == rows[0] | {"id": "story 2"}
    assert rows[3]["lpi"] is None
    assert rows[3]["unscored"].startswith("unread: ")
    assert "npcs[0]" in rows[3]["unscored"]


@pytest.mark.parametrize("size", [1, 100, 997, 5000, 10**9])
def test_wherever_a_corpus_is_cut_each_line_is_scored_once(corpus: Path, tmp_path: Path, size: int) -> None:
    score_corpus(parts_of([corpus], max(size, 200)), tmp_path / "out", Policy())
    assert [row["id"] for row in read(tmp_path / "out")] == [row["id"] for row in ROWS]


def test_a_cut_on_a_line_break_loses_and_doubles_nothing(tmp_path: Path) -> None:
    line = json.dumps({"id": "a", "ledger": bare(WEAK)}) + "\n"
    path = tmp_path / "even.jsonl"
    path.write_text(line * 6)
    for size in (len(line) - 1, len(line), len(line) + 1):
        out = tmp_path / f"out{size}"
        assert score_corpus(parts_of([path], size), out, Policy()).rows == 6


def test_parts_that_are_written_are_not_done_again(corpus: Path, tmp_path: Path) -> None:
    parts, out = parts_of([corpus], 4000), tmp_path / "out"
    score_corpus(parts, out, Policy())
    kept = sorted(out.iterdir())
    assert len(kept) == len(parts) > 3
    before = kept[0].stat().st_mtime_ns
    text = kept[1].read_text()
    kept[1].unlink()
    assert score_corpus(parts, out, Policy()) == Counted(40, 30, 20)
    assert kept[0].stat().st_mtime_ns == before
    assert kept[1].read_text() == text


@pytest.mark.parametrize(
    "bad",
    ["not json", "[]", '{"id": 3}', '{"ledger": null}', '{"ledger": 1}', '{"ledger": {}, "ledger": {}}'],
)
def test_what_is_no_row_is_unscored_and_stops_nothing(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(bad + "\n\n" + json.dumps({"ledger": bare(WEAK)}) + "\n")
    assert score_corpus(parts_of([path]), tmp_path / "out", Policy()) == Counted(2, 1, 0)


def test_parquet_gives_what_jsonl_gives(corpus: Path, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra cluster")
    import pyarrow.parquet as pq

    texts = [row["ledger"] if isinstance(row["ledger"], str) else json.dumps(row["ledger"]) for row in ROWS]
    table = pa.table({"id": [row["id"] for row in ROWS], "ledger": texts})
    pq.write_table(table, tmp_path / "c.parquet", row_group_size=15)
    parts = parts_of([tmp_path / "c.parquet"])
    assert len(parts) == 3
    assert score_corpus(parts, tmp_path / "out", Policy()) == Counted(40, 30, 20)
    assert score_corpus(parts, tmp_path / "out", Policy()) == Counted(40, 30, 20)
    score_corpus(parts_of([corpus]), tmp_path / "lines", Policy())
    rows = [row for part in sorted((tmp_path / "out").iterdir()) for row in pq.read_table(part).to_pylist()]
    for one, other in zip(rows, read(tmp_path / "lines"), strict=True):
        assert one | {"unscored": None} == other | {"unscored": None}


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_two_workers_come_to_the_same(corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs the extra cluster")
    parts = parts_of([corpus], 4000)
    assert score_corpus(parts, tmp_path / "two", Policy(), "local:2") == Counted(40, 30, 20)
    score_corpus(parts, tmp_path / "one", Policy())
    assert read(tmp_path / "two") == read(tmp_path / "one")


def test_the_command(ludic: Ludic, corpus: Path, tmp_path: Path) -> None:
    ran = ludic("study", "score-corpus", corpus, "--out", tmp_path / "out")
    assert ran.code == 1
    assert "40 ledgers in 1 part: 20 of 30 scored ones clear the gate, 10 could not be scored" in ran.out
    found = json.loads(ludic("study", "score-corpus", corpus, "--out", tmp_path / "out", "--json").out)
    assert (found["rows"], found["passed"], found["unscored"]) == (40, 20, 10)
    assert ludic("study", "score-corpus", tmp_path / "none.jsonl", "--out", tmp_path / "o").code == 2
    with pytest.raises(InputError, match=r"allowed: \.jsonl, \.ndjson or \.parquet"):
        parts_of([Path(__file__)])
    with pytest.raises(InputError, match=r"given twice; allowed: each file once"):
        parts_of([corpus, corpus.parent / "." / corpus.name])
