"""Pictures of a report as SVG: how points are spread, confidence against points, what each clue tells. Everything is escaped."""

from collections.abc import Iterator
from html import escape
from typing import Final

from ludic_deepeval.errors import clean
from ludic_deepeval.outcome import Scored
from worth_deepeval.diagnosis.profiles import rate_text
from worth_deepeval.diagnosis.tables_runs import correlation_text, number
from worth_deepeval.diagnostics import Diagnosis
from worth_deepeval.episode import Sheet

_WIDE: Final = 640
_TALL: Final = 180
_LEFT: Final = 44
_TOP: Final = 12


def _svg(label: str, width: int, height: int) -> str:
    return f'<div class="wide"><svg role="img" aria-label="{escape(label)}" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'


def histogram(one: Diagnosis) -> Iterator[str]:
    """Yield how many runs have which points."""
    bins = one.histogram
    if not bins:
        return
    most = max(each.runs.count for each in bins) or 1
    step = _WIDE / len(bins)
    yield "<h3>How points are spread</h3>"
    yield (
        f'<p class="quiet">All {one.scored} scored runs over all that the key makes possible; totals below 0 in the warmer colour.'
        " Hover for the figure.</p>"
    )
    yield _svg("How points are spread", _LEFT + _WIDE + 20, _TOP + _TALL + 26)
    for at, each in enumerate(bins):
        tall = _TALL * each.runs.count / most
        x = _LEFT + at * step
        span = f"{each.low} to {each.high}" if each.low != each.high else str(each.low)
        yield (
            f'<rect x="{x + 1:.1f}" y="{_TOP + _TALL - tall:.1f}" width="{step - 2:.1f}" height="{max(tall, 0.5):.1f}"'
            f' class="{"k" if each.low < 0 else "o"}"><title>{span}: {rate_text(each.runs)}</title></rect>'
        )
        yield f'<text x="{x:.1f}" y="{_TOP + _TALL + 16}" class="tick">{each.low}</text>'
    for count in (0, most):
        yield f'<text x="{_LEFT - 6}" y="{_TOP + _TALL - _TALL * count / most + 4:.1f}" class="label">{count}</text>'
    yield "</svg></div>"


def confidences(sheet: Sheet, one: Diagnosis) -> Iterator[str]:
    """Yield a dot for each confidence and total, the larger the more runs."""
    found, possible = one.confidence, sheet.range
    if not found.points or not isinstance(possible, Scored):
        return
    least, most = possible.value.minimum, possible.value.maximum
    highest = max(runs for _, _, runs in found.points)
    yield "<h3>How sure runs say they are, against their points</h3>"
    yield (
        f'<p class="quiet">{found.stated.count} of {found.stated.of} scored runs state a confidence. Rank correlation within models'
        f" {escape(correlation_text(found.within))}. A dot is a confidence and a total; the larger, the more runs.</p>"
    )
    yield _svg("Confidence against points", _LEFT + _WIDE + 20, _TOP + _TALL + 40)

    def place(said: float, total: float) -> tuple[float, float]:
        return _LEFT + _WIDE * said / 100, _TOP + _TALL * (1 - (total - least) / max(1, most - least))

    for said, total, runs in found.points:
        x, y = place(said, total)
        size = 2 + 8 * (runs / highest) ** 0.5
        yield (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" class="{"k" if total < 0 else "o"}" fill-opacity="0.55">'
            f"<title>confidence {said:g}, {total} points: {runs} runs</title></circle>"
        )
    for total in sorted({least, 0, most}):
        y = place(0, total)[1]
        yield f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + _WIDE}" y2="{y:.1f}" class="axis"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" class="label">{total}</text>'
    for said in (0, 25, 50, 75, 100):
        yield f'<text x="{place(said, 0)[0]:.1f}" y="{_TOP + _TALL + 18}" class="tick">{said}</text>'
    yield f'<text x="{_LEFT + _WIDE / 2:.0f}" y="{_TOP + _TALL + 34}" class="tick">confidence that runs state</text>'
    yield "</svg></div>"


def item_map(sheet: Sheet, one: Diagnosis) -> Iterator[str]:
    """Yield each clue, participant and distractor by how many get it right and whether those are the ones who score well."""
    names = {each.id: each.name for each in sheet.episode.candidates}
    shown = [
        each for each in one.items if each.discrimination is not None and each.difficulty.rate is not None
    ]
    if not shown:
        return
    yield "<h3>For the author: what each clue and person tells</h3>"
    yield (
        '<p class="quiet">To the right: more runs get it right. Up: those who do score well otherwise. Near the left or right edge an item'
        " tells few readers apart; below the line it tells them apart the wrong way. Squares are people.</p>"
    )
    tall = 260
    yield _svg("Items by difficulty and discrimination", _LEFT + _WIDE + 60, _TOP + tall + 40)
    for value in (-1, -0.5, 0, 0.5, 1):
        y = _TOP + tall * (1 - (value + 1) / 2)
        yield f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + _WIDE}" y2="{y:.1f}" class="{"zeroline" if value == 0 else "axis"}"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" class="label">{value:g}</text>'
    for share in (0, 25, 50, 75, 100):
        yield f'<text x="{_LEFT + _WIDE * share / 100:.1f}" y="{_TOP + tall + 18}" class="tick">{share} %</text>'
    # A label may lie on no mark and on no other label.
    taken = [
        (
            _LEFT + _WIDE * (one.difficulty.rate or 0.0) - 5,
            _LEFT + _WIDE * (one.difficulty.rate or 0.0) + 5,
            _TOP + tall * (1 - ((one.discrimination or 0.0) + 1) / 2) + 4,
        )
        for one in shown
    ]
    for each in shown:
        x = _LEFT + _WIDE * (each.difficulty.rate or 0.0)
        y = _TOP + tall * (1 - ((each.discrimination or 0.0) + 1) / 2)
        name = names.get(each.id, each.id)
        said = f"{escape(clean(name))} · {each.kind} · {rate_text(each.difficulty)} · discrimination {number(each.discrimination)}"
        mark = (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" class="k">'
            if each.kind == "sentence"
            else f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" class="o">'
        )
        kind = "circle" if each.kind == "sentence" else "rect"
        yield f"{mark}<title>{said}</title></{kind}>"
        label = each.id if each.kind == "sentence" else clean(name, limit=18)
        at = _free(x, y, 6.2 * len(label), taken)
        if at:  # where there is no room, hovering tells
            yield f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" class="note">{escape(label)}</text>'
    yield "</svg></div>"


def _free(
    x: float, y: float, wide: float, taken: list[tuple[float, float, float]]
) -> tuple[float, float] | None:
    """Where a label beside a mark overlaps no other one, and take the place."""
    for left, base in (
        (x + 7, y + 4),
        (x - 7 - wide, y + 4),
        (x + 4, y - 7),
        (x + 4, y + 15),
        (x - wide, y - 7),
        (x - wide, y + 15),
    ):
        if left > 0 and all(
            abs(base - other) > 10 or left > end or left + wide < start for start, end, other in taken
        ):
            taken.append((left, left + wide, base))
            return left, base
    return None
