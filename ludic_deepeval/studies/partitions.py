"""Scoring a corpus of ledgers by partition: JSONL or Parquet in, one scored part out for each, on one machine or many.

A row has a `ledger` (a Fact Ledger, or its JSON as text), perhaps an `id`. What comes out has the id, LPI and its parts, PCV, tier,
quadrant, gate and consistency; a ledger that cannot be scored has the cause in `unscored`, never a number. A part is written
whole or not at all, so a run that was ended goes on with the parts that are missing. No model is asked.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ludic_deepeval.consistency import check_consistency
from ludic_deepeval.errors import InputError, LudicError, clean
from ludic_deepeval.files import make_folder, write_atomic
from ludic_deepeval.ledger import load_ledger
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.report.as_json import number, word
from ludic_deepeval.scoring import score_ledger
from ludic_deepeval.strict_json import load_json

PART: Final = 16 * 1024**2  # bytes of JSONL to a partition
_LONGEST: Final = 8 * 1024**2  # bytes of one line
FIGURES: Final = ("lpi", "rtn", "mv", "ucr", "th", "pcv")
COLUMNS: Final = ("id", *FIGURES, "tier", "quadrant", "passed", "consistency", "temporal", "lore", "unscored")
_TEXTS: Final = frozenset({"id", "tier", "quadrant", "unscored"})


@dataclass(frozen=True)
class Part:
    """A partition of a corpus.

    Attributes:
        file: Where it is.
        number: Which part of the corpus, from 0.
        start: Of JSONL, the byte at which it begins; of Parquet, its row group.
        end: Of JSONL, the byte at which it ends; lines belong to the part that they begin in.
    """

    file: str
    number: int
    start: int
    end: int

    @property
    def parquet(self) -> bool:
        """Whether it is Parquet."""
        return self.file.endswith(".parquet")

    def target(self, out: Path) -> Path:
        """Where its scores go."""
        return out / f"part-{self.number:05d}{'.parquet' if self.parquet else '.jsonl'}"


@dataclass(frozen=True)
class Counted:
    """What came of a part: how many rows, scored, passed, and unscored."""

    rows: int = 0
    scored: int = 0
    passed: int = 0

    def __add__(self, other: "Counted") -> "Counted":
        return Counted(self.rows + other.rows, self.scored + other.scored, self.passed + other.passed)


def parts_of(files: Sequence[Path], size: int = PART) -> list[Part]:
    """Cut a corpus into partitions, in order.

    Raises:
        InputError: No such file, one that is neither JSONL nor Parquet, or one that is given twice.
    """
    found: list[Part] = []
    seen: set[Path] = set()
    for file in files:
        if not file.is_file():
            what = "this is a folder" if file.is_dir() else "no such file"
            raise InputError(file, what, allowed="JSONL or Parquet")
        if (place := file.resolve()) in seen:
            raise InputError(file, "given twice", allowed="each file once")
        seen.add(place)
        if file.suffix == ".parquet":
            groups = _parquet().ParquetFile(file).num_row_groups
            found += [Part(str(file), len(found) + at, at, at + 1) for at in range(groups)]
        elif file.suffix in {".jsonl", ".ndjson"}:
            length = file.stat().st_size
            starts = range(0, max(length, 1), size)
            found += [
                Part(str(file), len(found) + at, start, min(start + size, length))
                for at, start in enumerate(starts)
            ]
        else:
            raise InputError(file, f"found '{clean(file.suffix)}'", allowed=".jsonl, .ndjson or .parquet")
    return found


def _parquet() -> Any:
    try:
        import pyarrow.parquet  # noqa: PLC0415
    except ImportError:
        raise InputError(
            "Parquet", "pyarrow is not installed", hint="pip install 'ludic-worth[cluster]'"
        ) from None
    return pyarrow.parquet


def score_part(part: Part, out: Path, policy: Policy) -> Counted:
    """Score one partition and write it; one that is written already is only counted."""
    target = part.target(out)
    if not target.exists():
        rows = [score_row(row, at, policy) for at, row in _rows(part)]
        _write(target, rows)
    else:
        rows = _written(target)
    return Counted(
        len(rows), sum(row["unscored"] is None for row in rows), sum(row["passed"] is True for row in rows)
    )


def score_row(row: object, name: str, policy: Policy) -> dict[str, Any]:
    """Score one row.

    Args:
        row: The row.
        name: What to call it when it has no id, and in errors.
        policy: Weights and thresholds.
    """
    given = row.get("id") if isinstance(row, dict) else None
    found: dict[str, Any] = dict.fromkeys(COLUMNS) | {
        "id": name if given is None else clean(str(given), limit=400)
    }
    if not isinstance(row, dict) or row.get("ledger") is None:
        return found | {"unscored": "unread: the row has no ledger"}
    try:
        ledger = load_ledger(row["ledger"], name)
    except LudicError as error:
        return found | {"unscored": clean(f"unread: {error}", limit=400)}
    card, report = score_ledger(ledger, policy), check_consistency(ledger)
    found |= {"consistency": report.score, "temporal": report.temporal, "lore": report.lore}
    if isinstance(card.gate, Unscored):
        found["unscored"] = f"{card.gate.cause}: {card.gate.reason}"
    else:
        found["passed"] = card.gate.passed
    figures = {name: number(getattr(card, name)) for name in FIGURES}
    return found | figures | {"tier": word(card.tier), "quadrant": word(card.quadrant)}


def _rows(part: Part) -> Iterator[tuple[str, object]]:
    if part.parquet:
        file = _parquet().ParquetFile(part.file)
        names = [name for name in ("id", "ledger") if name in file.schema_arrow.names]
        for at, row in enumerate(file.read_row_group(part.start, columns=names).to_pylist()):
            yield f"{Path(part.file).name} group {part.start} row {at}", row
        return
    with Path(part.file).open("rb") as stream:
        at = part.start
        if at:  # what a line before has begun is that part's
            stream.seek(at - 1)
            at += len(stream.readline(_LONGEST)) - 1
        while at < part.end and (raw := stream.readline(_LONGEST)):
            name = f"{Path(part.file).name} byte {at}"
            at += len(raw)
            if raw.strip():
                yield name, _read(raw, name)


def _read(raw: bytes, name: str) -> object:
    try:
        return load_json(raw, name)
    except InputError:
        return None


def _write(target: Path, rows: list[dict[str, Any]]) -> None:
    if target.suffix == ".jsonl":
        write_atomic(
            target, "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
        )
        return
    import pyarrow as pa  # noqa: PLC0415

    columns = {name: [row[name] for row in rows] for name in COLUMNS}
    kinds = {
        name: pa.string() if name in _TEXTS else pa.bool_() if name == "passed" else pa.int64()
        for name in COLUMNS
    } | dict.fromkeys(FIGURES, pa.float64())
    table = pa.table({name: pa.array(values, kinds[name]) for name, values in columns.items()})
    temporary = target.with_name(f".{target.name}.tmp")
    _parquet().write_table(table, temporary)
    temporary.replace(target)


def _written(target: Path) -> list[dict[str, Any]]:
    if target.suffix == ".jsonl":
        with target.open(encoding="utf-8") as stream:
            return [json.loads(line) for line in stream]
    rows: list[dict[str, Any]] = _parquet().read_table(target).to_pylist()
    return rows


def score_corpus(parts: Sequence[Part], out: Path, policy: Policy, cluster: str | None = None) -> Counted:
    """Score every partition, here or on a Dask cluster whose workers see the same folders.

    Raises:
        InputError: No Dask, or no such cluster.
    """
    make_folder(out)
    total = Counted()
    if cluster is None:
        for part in parts:
            total += score_part(part, out, policy)
        return total
    from ludic_deepeval.studies.cluster import client_at  # noqa: PLC0415

    with client_at(cluster) as client:
        from distributed import as_completed  # noqa: PLC0415

        futures = client.map(score_part, parts, out=out.absolute(), policy=_plain(policy), pure=False)
        for future in as_completed(futures):
            total += future.result()
    return total


def _plain(policy: Policy) -> Policy:
    """The policy without what it has worked out so far, to send."""
    return replace(policy)
