"""A store's lines as rows to count with: which cell, which seed, and what was measured."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import BaseModel, Field, StrictInt

from ludic_deepeval.errors import InputError
from ludic_deepeval.ledger import load_model
from ludic_deepeval.studies.design import Design, spelt
from ludic_deepeval.studies.store import Line

if TYPE_CHECKING:
    from pandas import DataFrame

Levels: TypeAlias = Mapping[str, str | Sequence[str]]


_Figure: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False)]


@lru_cache(maxsize=256)
def _parts(path: str) -> tuple[str, ...]:
    return tuple(path.split("."))


@dataclass(frozen=True)
class Row:
    """One trial.

    Attributes:
        number: Its line in the store, from 1.
        line: The line.
    """

    number: int
    line: Line

    @property
    def cell(self) -> dict[str, str]:
        """A level of each factor."""
        found: dict[str, str] = self.line["cell"]
        return found

    @property
    def seed(self) -> int:
        """Its seed."""
        return int(self.line["seed"])

    def value(self, path: str) -> float | None:
        """What stands at a path such as `measures.e_a`; None when it was not measured. True counts 1, false 0."""
        found: Any = self.line
        for part in _parts(path):
            found = found.get(part) if isinstance(found, dict) else None
        return float(found) if isinstance(found, int | float) else None


def _place(row: Row) -> tuple[int, int]:
    return row.seed, row.number


class _Times(BaseModel):
    finished: str
    seconds: dict[str, _Figure]


class _Kept(BaseModel):
    """What has to be right of a line before anything is counted; the rest of it is looked up and may be missing."""

    cell: dict[str, str]
    seed: StrictInt
    measures: dict[str, _Figure | None]
    unscored: list[dict[str, str]]
    times: _Times
    gate: dict[str, Any] | None = None
    cost: dict[str, dict[str, _Figure]] = Field(default_factory=dict)
    producers: dict[str, dict[str, str]] = Field(default_factory=dict)


def sound(line: Line, number: int, design: Design) -> Line:
    """Return a line that can be counted.

    Raises:
        InputError: It is not of this study, or not of the shape of a line; names it and the place.
    """
    where = f"trials.jsonl line {number}"
    kept = load_model(_Kept, line, where)
    if kept.cell not in design.cells or kept.seed not in design.seeds:
        found = f"{spelt(kept.cell)}, seed {kept.seed}"
        raise InputError(where, f"no trial of this study: {found}", allowed="the study's cells and seeds")
    for one in kept.unscored:
        if not {"stage", "cause", "reason"} <= one.keys():
            raise InputError(where, "found no stage, cause and reason", where="unscored")
    return line


@dataclass(frozen=True)
class Data:
    """A study's design with what is kept of it.

    Attributes:
        design: The study.
        rows: Its trials, in the store's order.
    """

    design: Design
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, design: Design, lines: Iterable[tuple[int, Line]]) -> "Data":
        """Take lines as the store gives them.

        Raises:
            InputError: A line that is no trial of this study; names it.
        """
        return cls(design, tuple(Row(number, sound(line, number, design)) for number, line in lines))

    def select(self, levels: Levels | None = None) -> tuple[Row, ...]:
        """The rows at these levels, by seed; every row without any."""
        wanted = {name: {one} if isinstance(one, str) else set(one) for name, one in (levels or {}).items()}
        cells = [
            rows
            for cell, rows in self._by_cell.items()
            if all(dict(cell).get(name) in ones for name, ones in wanted.items())
        ]
        if len(cells) == 1:
            return cells[0]
        return tuple(sorted((row for rows in cells for row in rows), key=_place))

    @cached_property
    def _by_cell(self) -> dict[tuple[tuple[str, str], ...], tuple[Row, ...]]:
        found: dict[tuple[tuple[str, str], ...], list[Row]] = {}
        for row in self.rows:
            found.setdefault(tuple(row.cell.items()), []).append(row)
        return {cell: tuple(sorted(rows, key=_place)) for cell, rows in found.items()}

    @cached_property
    def cells(self) -> tuple[dict[str, str], ...]:
        """Every cell of the design."""
        return self.design.cells

    @cached_property
    def trials(self) -> int:
        """How many trials the design has."""
        return len(self.cells) * len(self.design.seeds)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Who gave the answers that were no model's: scripted, hand-written."""
        producers = (by for row in self.rows for by in row.line.get("producers", {}).values())
        return tuple(sorted({by["kind"] for by in producers} - {"model"}))

    def to_frame(self) -> "DataFrame":
        """A pandas frame with a row a trial: line, factors, seed, measures, gate, seconds and tokens; NaN where not measured."""
        from pandas import DataFrame  # noqa: PLC0415  # at the edge alone

        def flat(row: Row) -> dict[str, Any]:
            line = row.line
            found: dict[str, Any] = {"line": row.number, "trial": line["trial"], **row.cell, "seed": row.seed}
            found |= line["measures"] | (line.get("gate") or {})
            found |= {f"{stage}_seconds": one for stage, one in line["times"]["seconds"].items()}
            for stage, cost in line.get("cost", {}).items():
                found |= {f"{stage}_{name}": value for name, value in cost.items()}
            return found

        return DataFrame([flat(row) for row in self.rows])

    def blocks(self, path: str) -> tuple[tuple[int, ...], tuple[tuple[Row, ...], ...]]:
        """The seeds at which every cell has been measured, and for each cell its rows at those, in order."""
        by_cell = [
            {row.seed: row for row in self.select(cell) if row.value(path) is not None} for cell in self.cells
        ]
        seeds = tuple(seed for seed in self.design.seeds if all(seed in rows for rows in by_cell))
        return seeds, tuple(tuple(rows[seed] for seed in seeds) for rows in by_cell)
