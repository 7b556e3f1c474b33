"""The pictures of a study: the LPI × PCV plane, E_a by gate and generator, components, critical differences, time by stage."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from statistics import quantiles
from typing import Final

from ludic_deepeval.report.page.markup import Html, el
from ludic_deepeval.report.study.axes import COLOURS, Frame, at, dot, legend, stroke, svg, ticks, words
from ludic_deepeval.studies.design import spelt
from ludic_deepeval.studies.findings import Findings
from ludic_deepeval.studies.numbers import Number
from ludic_deepeval.studies.record import STAGES
from ludic_deepeval.studies.rows import Data
from ludic_deepeval.studies.tables_ranks import Ranking

WIDTH: Final = 860


def looks(data: Data) -> list[tuple[str, bool]]:
    """For each cell its colour, by the generator where there is one, and whether its dots are open (no gate)."""
    gate, ladder = data.design.gate, data.design.ladder
    colours = (
        {name: number for number, name in enumerate(data.design.factors[ladder.factor])} if ladder else {}
    )
    found = []
    for number, cell in enumerate(data.cells):
        colour = colours[cell[ladder.factor]] if ladder else number
        found.append((f"c{colour % COLOURS}", bool(gate and cell[gate.factor] == gate.from_level)))
    return found


def plane(found: Findings) -> Html | None:
    """Every story on the plane of LPI and PCV, with the gate and the four quarters by name."""
    data, policy = found.data, found.sidecar.policy
    points = [
        (number, row, row.value("measures.lpi"), row.value("measures.pcv"))
        for number, cell in enumerate(data.cells)
        for row in data.select(cell)
    ]
    seen = [(number, row, x, y) for number, row, x, y in points if x is not None and y is not None]
    if not seen:
        return None
    lpi, pcv = float(Fraction(policy["lpi_gate"])), float(Fraction(policy["pcv_gate"]))
    frame = Frame(64, 16, 560, 380, 0, max([pcv, *(y for *_, y in seen)]) * 1.15)

    def x_of(value: float) -> float:
        return frame.left + frame.width * value

    def parts() -> Iterator[str]:
        yield el(
            "rect", x=at(x_of(lpi)), y=at(frame.top), width=at(x_of(1) - x_of(lpi)),
            height=at(frame.y(pcv) - frame.top), class_="ready",
        )  # fmt: skip
        yield from frame.scale("PCV")
        yield stroke(frame.left, frame.floor, x_of(1), frame.floor, "axis")
        for value in ticks(0, 1, 5):
            yield words(x_of(value), frame.floor + 18, f"{value:g}", "tick", "middle")
        yield words(x_of(0.5), frame.floor + 38, "LPI", "name", "middle")
        yield stroke(x_of(lpi), frame.top, x_of(lpi), frame.floor, "gate")
        yield stroke(frame.left, frame.y(pcv), x_of(1), frame.y(pcv), "gate")
        for x, y, name, anchor in (
            (x_of(1) - 6, frame.top + 16, "campaign-ready", "end"),
            (x_of(0) + 6, frame.top + 16, "explosive but shallow", "start"),
            (x_of(1) - 6, frame.floor - 8, "rich lore, flat play", "end"),
            (x_of(0) + 6, frame.floor - 8, "unplayable draft", "start"),
        ):
            yield words(x, y, name, "quarter", anchor)
        style = looks(data)
        for number, row, x, y in seen:
            css, open_ = style[number]
            says = f"{spelt(row.cell)}, seed {row.seed}: LPI {x:.3f}, PCV {y:g} (line {row.number})"
            yield dot(x_of(x), frame.y(y), css, says, radius=4, open_=open_)
        yield from legend([(spelt(cell), *style[i]) for i, cell in enumerate(data.cells)], 648, 34)

    return svg(WIDTH, 450, "Every story by LPI and PCV", *parts())


def interaction(found: Findings) -> Html | None:
    """The mean E_a of each generator without and with the gate, with 95 % intervals."""
    data, gate, ladder = found.data, found.data.design.gate, found.data.design.ladder
    table = next(one for one in found.tables if one.id == "interaction")
    rows = [
        (cell, row) for cell, row in zip(data.cells, table.rows, strict=True) if isinstance(row[1], Number)
    ]
    if not rows or gate is None or ladder is None:
        return None
    ends = [one.value for _, row in rows for one in row[1:] if isinstance(one, Number)]
    frame = Frame(64, 16, 560, 320, max(0, min(ends) - 0.05), min(1, max(ends) + 0.05))
    names = list(data.design.factors[ladder.factor])
    sides = (gate.from_level, gate.to_level)

    def parts() -> Iterator[str]:
        yield from frame.scale("E_a, lower is better")
        yield from frame.columns(names)
        last: dict[str, tuple[float, float]] = {}
        for cell, row in rows:
            side, name = cell[gate.factor], cell[ladder.factor]
            mean = row[1]
            if side not in sides or not isinstance(mean, Number):
                continue
            gated = side == gate.to_level
            x = frame.middle(names.index(name), len(names)) + (8 if gated else -8)
            css = "c0" if gated else "c1"
            low, high = row[2], row[3]
            said = f"{spelt(cell)}: {mean.text}"
            if isinstance(low, Number) and isinstance(high, Number):
                yield stroke(x, frame.y(low.value), x, frame.y(high.value), f"whisker {css}")
                said += f" ({low.text} to {high.text})"
            y = frame.y(mean.value)
            if name in ladder.levels:
                if side in last:
                    yield stroke(*last[side], x, y, f"join {css}")
                last[side] = (x, y)
            yield dot(x, y, css, said, open_=not gated)
        yield from legend([(gate.from_level, "c1", True), (gate.to_level, "c0", False)], 648, 34)
        if len(names) > len(ladder.levels):
            yield words(640, 90, "Levels off the ladder", "tick")
            yield words(640, 106, "are not joined.", "tick")

    return svg(WIDTH, 380, "Mean E_a by generator and gate", *parts())


def components(found: Findings) -> Html | None:
    """How RTN, MV, UCR and TH are spread in each cell: quartiles, median, and every story."""
    data = found.data
    names = ("rtn", "mv", "ucr", "th")
    if not any(row.value("measures.lpi") is not None for row in data.rows):
        return None
    style = looks(data)
    wide = (WIDTH - 64 - 20) / len(names)

    def parts() -> Iterator[str]:
        for at_name, name in enumerate(names):
            frame = Frame(64 + at_name * wide, 30, wide - 22, 220, 0, 1)
            if at_name == 0:
                yield from frame.scale("share of its maximum")
            else:
                yield from (
                    stroke(frame.left, frame.y(v), frame.left + frame.width, frame.y(v), "grid")
                    for v in ticks(0, 1, 5)
                )
            yield words(frame.left + frame.width / 2, 20, name.upper(), "name", "middle")
            yield stroke(frame.left, frame.floor, frame.left + frame.width, frame.floor, "axis")
            for number, cell in enumerate(data.cells):
                values = sorted(
                    v for row in data.select(cell) if (v := row.value(f"measures.{name}")) is not None
                )
                yield from _spread(
                    frame,
                    frame.middle(number, len(data.cells)),
                    values,
                    style[number],
                    f"{spelt(cell)}, {name.upper()}",
                )
        yield from _under([(spelt(cell), *style[i]) for i, cell in enumerate(data.cells)], 276)

    return svg(WIDTH, 284 + 20 * -(-len(data.cells) // 4), "Components of LPI in each cell", *parts())


def _under(names: Sequence[tuple[str, str, bool]], y: float) -> Iterator[Html]:
    """A legend in rows of four."""
    for number, (name, css, open_) in enumerate(names):
        x, down = 76 + (number % 4) * 195, y + (number // 4) * 20
        yield dot(x, down - 4, css, name, open_=open_)
        yield words(x + 12, down, name, "tick")


def _spread(
    frame: Frame, x: float, values: Sequence[float], look: tuple[str, bool], name: str
) -> Iterator[Html]:
    css, open_ = look
    if not values:
        return
    if len(values) > 1:
        low, middle, high = quantiles(values, n=4, method="inclusive")
        says = f"{name}: median {middle:.3f}, quartiles {low:.3f} and {high:.3f}, {len(values)} stories"
        top, height = frame.y(high), max(frame.y(low) - frame.y(high), 1)
        yield el(
            "rect",
            el("title", says),
            x=at(x - 6),
            y=at(top),
            width="12",
            height=at(height),
            class_=f"box {css}",
        )
        yield stroke(x - 8, frame.y(middle), x + 8, frame.y(middle), f"middle {css}")
    for value in values:
        yield dot(x, frame.y(value), css, f"{name}: {value:.3f}", radius=2, open_=open_)


def critical(ranking: Ranking) -> Html:
    """Average ranks on a line, and bars over those that do not differ by Nemenyi's critical difference (Demšar 2006)."""
    names = ranking.cells
    k, left, right = len(names), 200.0, WIDTH - 200.0
    half = -(-k // 2)

    def x_of(rank: float) -> float:
        return left + (right - left) * (rank - 1) / max(k - 1, 1)

    groups = cliques([rank.value for _, rank in names], ranking.critical.value)
    base = 62.0
    lowest = base + 14 + 8 * len(groups)

    def parts() -> Iterator[str]:
        wide = (right - left) * ranking.critical.value / max(k - 1, 1)
        yield stroke(left, 18, min(left + wide, WIDTH - 10), 18, "bar")
        yield words(left, 12, f"critical difference {ranking.critical.text}", "tick")
        yield stroke(left, base, right, base, "axis")
        for mark in range(1, k + 1):
            yield stroke(x_of(mark), base - 5, x_of(mark), base, "axis")
            yield words(x_of(mark), base - 9, str(mark), "tick", "middle")
        for number, (name, rank) in enumerate(names):
            first = number < half
            y = lowest + 20 * (number if first else k - 1 - number) + 12
            x = x_of(rank.value)
            yield stroke(x, base, x, y, "lead")
            yield stroke(x, y, left - 10 if first else right + 10, y, "lead")
            yield words(
                left - 14 if first else right + 14,
                y + 4,
                f"{name} ({rank.text})",
                "tick",
                "end" if first else "start",
            )
        for number, (begin, end) in enumerate(groups):
            y = base + 10 + 8 * number
            yield stroke(x_of(names[begin][1].value) - 4, y, x_of(names[end][1].value) + 4, y, "clique")

    return svg(WIDTH, lowest + 20 * half + 24, f"Average ranks on {ranking.label}", *parts())


def cliques(ranks: Sequence[float], critical_difference: float) -> list[tuple[int, int]]:
    """The longest runs of ranks, in order, whose ends differ by less than the critical difference; two at least."""
    found: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = max(at for at in range(first, len(ranks)) if ranks[at] - ranks[first] < critical_difference)
        if last > first and not (found and found[-1][1] >= last):
            found.append((first, last))
    return found


def stages(found: Findings) -> Html | None:
    """The mean seconds of each stage in each cell."""
    table = next(one for one in found.tables if one.id == "cost")
    rows = [
        (str(row[0]), [one.value if isinstance(one, Number) else 0.0 for one in row[1 : 1 + len(STAGES)]])
        for row in table.rows
    ]
    most = max((sum(values) for _, values in rows), default=0)
    if most <= 0:
        return None
    left, wide = 200.0, WIDTH - 200.0 - 90

    def parts() -> Iterator[str]:
        for number, (name, values) in enumerate(rows):
            y, x = 34.0 + 26 * number, left
            yield words(left - 10, y + 13, name, "tick", "end")
            for stage, (what, seconds) in enumerate(zip(STAGES, values, strict=True)):
                width = wide * seconds / most
                says = f"{name}, {what}: {seconds:.2f} s"
                yield el(
                    "rect",
                    el("title", says),
                    x=at(x),
                    y=at(y),
                    width=at(width),
                    height="18",
                    class_=f"part c{stage}",
                )
                x += width
            yield words(x + 8, y + 13, f"{sum(values):.3g} s", "tick")
        for stage, what in enumerate(STAGES):
            yield el(
                "rect", x=at(left + 120 * stage), y="6", width="12", height="12", class_=f"part c{stage}"
            )
            yield words(left + 120 * stage + 18, 16, what, "tick")

    return svg(WIDTH, 44 + 26 * len(rows), "Mean seconds of each stage", *parts())
