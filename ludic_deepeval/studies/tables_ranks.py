"""Ranks over seed-matched trials (LudicMetrics §5.6): each cell is an algorithm, each seed a problem; Tables 11 to 13."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ludic_deepeval.errors import DataError
from ludic_deepeval.studies.numbers import Number, make, shaffer_of
from ludic_deepeval.studies.rows import Data, Row
from ludic_deepeval.studies.tables import Entry, Table, short

ALPHA: Final = 0.05
RANKED: Final = (
    ("measures.e_a", "E_a", False),
    ("measures.lpi", "LPI", True),
    ("measures.pcv", "PCV", True),
    ("measures.div_alpha", "Div_alpha", True),
)
_OMNIBUS: Final = ("Friedman", "Iman-Davenport", "aligned ranks", "Quade")


def omnibus_table(data: Data) -> Table:
    """Whether the cells differ at all, by ranks (Table 11)."""
    rows: list[tuple[Entry, ...]] = []
    notes: list[str] = []
    for path, label, _ in RANKED:
        seeds, groups = data.blocks(path)
        entries: list[Entry] = [label, str(len(seeds))]
        for test in _OMNIBUS:
            for what, digits in (("statistic", 2), ("p", "p")):
                entries.append(
                    ranked(f"{test} {what}", path, groups, digits=digits) if _enough(groups) else None
                )
        rows.append(tuple(entries))
        if len(seeds) < len(data.design.seeds):
            left = len(data.design.seeds) - len(seeds)
            notes.append(
                f"{label}: {left} of {len(data.design.seeds)} seeds are left out, for a cell without a value."
            )
    heads = ["measure", "seeds"]
    for test in _OMNIBUS:
        heads += [test, f"{test} p"]
    notes.append(f"Each of the {len(data.cells)} cells is an algorithm, each seed a problem.")
    return Table(
        "omnibus", "Whether the cells differ, by ranks", tuple(heads), tuple(rows), tuple(notes), "Table 11"
    )


def _enough(groups: Sequence[Sequence[Row]]) -> bool:
    return len(groups) > 1 and len(groups[0]) > 1


def ranked(recipe: str, path: str, groups: Sequence[Sequence[Row]], *, digits: int | str) -> Number | None:
    """A number of a rank test; None where it cannot be computed."""
    try:
        found = make(recipe, path, groups, digits=digits)
    except DataError:
        return None
    return found if found is not None and abs(found.value) != float("inf") else None


@dataclass(frozen=True)
class Ranking:
    """The average ranks of the cells on one measure.

    Attributes:
        path: Of the measure.
        label: Its name.
        highest_first: Whether rank 1 is the highest value.
        cells: The cells' names by rank, best first, each with its average rank.
        critical: Nemenyi's critical difference.
        pairs: The significant pairs by Shaffer, with their p, smallest first.
        significant: How many there are.
        seeds: Over how many seeds.
    """

    path: str
    label: str
    highest_first: bool
    cells: tuple[tuple[str, Number], ...]
    critical: Number
    pairs: tuple[tuple[str, str, Number], ...]
    significant: Number
    seeds: int


def rankings(data: Data) -> tuple[Ranking, ...]:
    """Rank the cells on each measure over the seeds at which all were measured; measures that cannot be ranked are left out."""
    return tuple(filter(None, (_ranking(data, *one) for one in RANKED)))


def _ranking(data: Data, path: str, label: str, highest_first: bool) -> Ranking | None:
    seeds, groups = data.blocks(path)
    if not _enough(groups):
        return None
    names = [short(cell) for cell in data.cells]
    ranks = [
        (name, make("Friedman average rank", path, groups, digits=2, at=at, highest_first=highest_first))
        for at, name in enumerate(names)
    ]
    found = sorted(((name, rank) for name, rank in ranks if rank is not None), key=lambda one: one[1].value)
    values = tuple(tuple(row.value(path) or 0.0 for row in group) for group in groups)
    pairs = []
    for (i, j), p in zip(*shaffer_of(values), strict=True):
        if p < ALPHA:
            number = make("Shaffer p", path, groups, digits="p", pair=(i, j))
            if number is not None:
                pairs.append((names[i], names[j], number))
    critical = make("Nemenyi critical difference", path, groups)
    count = make("significant pairs (Shaffer)", path, groups, digits=0, alpha=ALPHA)
    if critical is None or count is None:
        return None
    pairs.sort(key=lambda one: one[2].value)
    return Ranking(path, label, highest_first, tuple(found), critical, tuple(pairs), count, len(seeds))


def rank_tables(found: Sequence[Ranking], cells: int) -> Iterator[Table]:
    """Average ranks and the pairs that differ (Tables 12 and 13)."""
    for one in found:
        first = "highest" if one.highest_first else "lowest"
        notes = (
            f"Rank 1 is the {first} {one.label}; {one.seeds} seeds, {cells * (cells - 1) // 2} pairs of cells.",
        )
        extra = (
            ("Nemenyi's critical difference", one.critical),
            ("pairs that differ (Shaffer, .05)", one.significant),
            *((f"{a} and {b}: p", p) for a, b, p in one.pairs),
        )
        name = one.path.rpartition(".")[2]
        rows = tuple((str(at), cell, rank) for at, (cell, rank) in enumerate(one.cells, start=1))
        like = "Table 12" if name == "e_a" else "Table 13"
        title = f"Average ranks on {one.label}"
        yield Table(f"ranks-{name}", title, ("", "cell", "average rank"), rows, notes, like, extra)
