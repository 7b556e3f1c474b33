"""Is consistency with a Story Bible orthogonal to playability (LudicMetrics §4.3, the principal open item of §7)?

A retrieval-varying design on scripted drafts. A rule writes each draft from what was retrieved: from the right version of a bible,
from none, from another setting's, or from a stale version; with unresolved mysteries and contradictions planted in known
numbers, each independent of the other. What is measured is then held against what was planted. No model wrote a word of
it, and the ledger is written with the draft: the study shows what the *instruments* do, not how any generator behaves.

`python -m trulens_feedback.lore_study` runs it; docs/lore.md has what it gives.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Final

import typer

from ludic_deepeval.errors import InputError
from ludic_deepeval.stats.permutation import pearson
from ludic_deepeval.terminal import guarded
from trulens_feedback.study_drafts import CONDITIONS, OPENNESS, Design, Row
from trulens_feedback.study_figures import Interval, eta_squared, resampled, slope

SEEDS: Final = 20


@dataclass(frozen=True)
class Effect:
    """How an outcome moves.

    Attributes:
        outcome: Which.
        measured: In how many drafts it could be measured.
        retrieval: η² of the four conditions: the share of its variance that lies between them.
        openness: η² of the five levels of openness.
        with_faults: Pearson's r with the planted contradictions.
        with_mysteries: Pearson's r with the planted mysteries.
        means: The mean in each condition.
    """

    outcome: str
    measured: int
    retrieval: Interval | None
    openness: Interval | None
    with_faults: Interval | None
    with_mysteries: Interval | None
    means: Mapping[str, float | None]


@dataclass(frozen=True)
class Study:
    """The result.

    Attributes:
        rows: Every draft.
        effects: For each outcome.
        slope: Of found contradictions on planted ones: 1 when each is found and nothing else.
        exact: In how many drafts the count found is the count planted, of how many.
        opened: Drafts whose mysteries all pass Eq 11 and whose groundedness they moved, of how many.
        closed: Drafts with a mystery that names too much, and whose groundedness that moved, of how many.
        lpi_moved: Drafts whose LPI differs from that of the same draft in the right condition, of how many.
        lpi_largest: The largest such difference.
    """

    rows: tuple[Row, ...]
    effects: tuple[Effect, ...]
    slope: Interval | None
    exact: tuple[int, int]
    opened: tuple[int, int]
    closed: tuple[int, int]
    lpi_moved: tuple[int, int]
    lpi_largest: float


OUTCOMES: Final = ("faults", "in_world", "in_retrieved", "relevance", "open_found", "lpi")


def run_study(design: Design, *, seeds: int = SEEDS, draws: int = 1000) -> Study:
    """Write and measure every draft of the design, and say how each outcome moves.

    Args:
        design: The bibles.
        seeds: Lives in each cell of condition × openness.
        draws: Bootstrap draws for the intervals; whole lives are drawn, so that a life's conditions stay together.

    Raises:
        InputError: Fewer than two seeds.
    """
    if seeds < 2:
        raise InputError("--seeds", f"found {seeds}", allowed="a whole number of at least 2")
    rows = tuple(
        design.measure(condition, openness, seed)
        for seed in range(seeds)
        for openness in OPENNESS
        for condition in CONDITIONS
    )
    by_life = [[row for row in rows if row.seed == seed] for seed in range(seeds)]
    effects = tuple(_effect(name, rows, by_life, draws) for name in OUTCOMES)
    right = {(row.openness, row.seed): row.lpi for row in rows if row.condition == "right"}
    others = [(row.lpi, right[row.openness, row.seed]) for row in rows if row.condition != "right"]
    gaps = [abs(one - two) for one, two in others if one is not None and two is not None]
    return Study(
        rows=rows,
        effects=effects,
        slope=_interval(
            by_life, draws, lambda some: slope([row.planted for row in some], [row.faults for row in some])
        ),
        exact=(sum(row.planted == row.faults for row in rows), len(rows)),
        opened=_moved([row for row in rows if row.openness and not row.closed]),
        closed=_moved([row for row in rows if row.closed]),
        lpi_moved=(sum(gap > 1e-9 for gap in gaps), len(gaps)),
        lpi_largest=max(gaps),
    )


def _moved(rows: Sequence[Row]) -> tuple[int, int]:
    return sum(row.in_world != row.bare for row in rows), len(rows)


def _effect(name: str, rows: Sequence[Row], by_life: Sequence[Sequence[Row]], draws: int) -> Effect:
    def of(
        some: Sequence[Row], key: Callable[[Row], Any], figure: Callable[..., float | None]
    ) -> float | None:
        kept = [(key(row), value) for row in some if (value := getattr(row, name)) is not None]
        return figure([one for one, _ in kept], [float(two) for _, two in kept])

    def interval(key: Callable[[Row], Any], figure: Callable[..., float | None]) -> Interval | None:
        return _interval(by_life, draws, lambda some: of(some, key, figure))

    means: dict[str, float | None] = {
        condition: fmean(values)
        if (
            values := [
                v for row in rows if row.condition == condition and (v := getattr(row, name)) is not None
            ]
        )
        else None
        for condition in CONDITIONS
    }
    return Effect(
        outcome=name,
        measured=sum(getattr(row, name) is not None for row in rows),
        retrieval=interval(lambda row: row.condition, eta_squared),
        openness=interval(lambda row: row.openness, eta_squared),
        with_faults=interval(lambda row: float(row.planted), pearson),
        with_mysteries=interval(lambda row: float(row.openness), pearson),
        means=means,
    )


def _interval(
    by_life: Sequence[Sequence[Row]], draws: int, figure: Callable[[Sequence[Row]], float | None]
) -> Interval | None:
    return resampled(by_life, figure, draws=draws)


def table(study: Study) -> Iterator[str]:
    """The lines of the report."""
    yield f"{len(study.rows)} scripted drafts: {', '.join(CONDITIONS)} x openness {OPENNESS[0]}-{OPENNESS[-1]} x lives. No model wrote a word."
    yield ""
    yield f"{'outcome':<13}{'of':>5}  {'eta2 retrieval':<20}{'eta2 openness':<20}{'r planted faults':<22}{'r planted mysteries':<22}"
    for one in study.effects:
        figures = (one.retrieval, one.openness, one.with_faults, one.with_mysteries)
        cells = "".join(f"{_said(figure):<{20 if at < 2 else 22}}" for at, figure in enumerate(figures))
        yield f"{one.outcome:<13}{one.measured:>5}  {cells}".rstrip()
    yield ""
    yield f"{'mean in':<13}" + "".join(f"{condition:>9}" for condition in CONDITIONS)
    for one in study.effects:
        cells = "".join(f"{'-' if (mean := one.means[c]) is None else f'{mean:.3f}':>9}" for c in CONDITIONS)
        yield f"{one.outcome:<13}{cells}"
    yield ""
    same, of = study.exact
    yield f"contradictions found on planted: slope {_said(study.slope)}; the exact number in {same} of {of} drafts"
    moved, of = study.opened
    yield f"mysteries that pass Eq 11 moved groundedness in {moved} of {of} drafts that have some"
    moved, of = study.closed
    yield f"mysteries that name too much to pass moved it in {moved} of {of} drafts that have one"
    moved, of = study.lpi_moved
    yield f"LPI differs from the same life's in the right condition in {moved} of {of} drafts, by at most {study.lpi_largest:.3f}"


def _said(figure: Interval | None) -> str:
    return "-" if figure is None else f"{figure.value:.2f} [{figure.low:.2f}, {figure.high:.2f}]"


def _command(
    bible: Annotated[Path, typer.Option(help="The folder of Story Bibles.")] = Path("bible"),
    seeds: Annotated[int, typer.Option(help="Lives in each cell of the design.")] = SEEDS,
    draws: Annotated[int, typer.Option(help="Bootstrap draws.")] = 500,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, every draft's row in it.")] = False,
) -> None:
    """Run the orthogonality study on scripted drafts."""
    study = run_study(Design(bible), seeds=seeds, draws=draws)
    if as_json:
        sys.stdout.write(
            json.dumps({"version": 1} | asdict(study), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        )
    else:
        sys.stdout.write("".join(f"{line}\n" for line in table(study)))


def main() -> int:
    """Run the command; every error is one line and exit code 2."""

    def run() -> int:
        app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        app.command()(_command)
        app(prog_name="python -m trulens_feedback.lore_study", standalone_mode=True)
        return 0

    return guarded(run, "lore-study")


if __name__ == "__main__":
    sys.exit(main())
