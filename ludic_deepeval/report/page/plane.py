"""The LPI × PCV plane as a drawing: where each story stands, the gate's lines, and the four quarters by name."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from ludic_deepeval.check import StoryResult
from ludic_deepeval.outcome import Scored
from ludic_deepeval.policy import Policy
from ludic_deepeval.report.page.markup import Html, el, line
from ludic_deepeval.report.page.words import QUADRANTS, contradictions, told, verdict_of
from ludic_deepeval.scoring import decimal

WIDTH: Final = 630
HEIGHT: Final = 430
LEFT: Final = 66
TOP: Final = 14
ACROSS: Final = 550  # from LPI 0 to LPI 1
DOWN: Final = 360  # from the highest PCV shown to 0
_ROOM: Final = Fraction(6, 5)  # above the highest line
_STEPS: Final = (50, 100, 200, 250, 500)
_MOST_TICKS: Final = 7
_DOT: Final = 6
_DIGIT: Final = 7  # the width of a figure in a label
_LABEL: Final = 12  # and its height
_MOST_LABELS: Final = 200  # past it numbers would cover the dots
_RINGS: Final = 3  # how far from its dot a number may stand

_Box: TypeAlias = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Point:
    """A story on the plane.

    Attributes:
        number: The story's in the page, from 1.
        title: Its title.
        story: Its result.
        lpi: Its figures.
        pcv: Its figures.
        policy: Where its gate stands.
    """

    number: int
    title: str
    story: StoryResult
    lpi: Fraction
    pcv: Fraction
    policy: Policy


def points_of(stories: Iterable[StoryResult]) -> list[Point]:
    """Return the stories that have both figures."""
    found = []
    for number, story in enumerate(stories, start=1):
        card = story.outcome.value.card if isinstance(story.outcome, Scored) else None
        if card and isinstance(card.lpi, Fraction) and isinstance(card.pcv, Fraction):
            found.append(Point(number, story.title, story, card.lpi, card.pcv, card.policy))
    return found


def ceiling_of(points: list[Point]) -> tuple[int, int]:
    """Return the PCV at the upper edge and the step of its marks."""
    highest = max([*(point.pcv for point in points), *(point.policy.pcv_threshold for point in points)])
    need = highest * _ROOM
    power = 1
    while True:
        for step in _STEPS:
            if need <= step * power * _MOST_TICKS:
                return step * power * max(1, -(-need // (step * power))), step * power
        power *= 10


def across(lpi: Fraction) -> Fraction:
    """Where an LPI stands."""
    return LEFT + ACROSS * lpi


def up(pcv: Fraction | int, ceiling: int) -> Fraction:
    """Where a PCV stands."""
    return TOP + DOWN * (1 - Fraction(pcv) / ceiling)


def plane_of(points: list[Point]) -> Html:
    """Return the drawing. There has to be a point."""
    ceiling, step = ceiling_of(points)
    return el(
        "svg",
        *_quarters(points, ceiling),
        *_axes(ceiling, step),
        *_gates(points, ceiling),
        *_quarter_names(),
        *_dots(points, ceiling),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="group",
        aria_labelledby="plane-says",
        class_="plane",
    )


def _at(value: Fraction | float) -> str:
    """A coordinate to two places."""
    return f"{round(float(value), 2):.6g}"


def _line(
    x1: Fraction | float, y1: Fraction | float, x2: Fraction | float, y2: Fraction | float, css: str
) -> Html:
    return el("line", x1=_at(x1), y1=_at(y1), x2=_at(x2), y2=_at(y2), class_=css)


def _words(
    x: Fraction | float, y: Fraction | float, words: str, css: str, anchor: str = "start", **more: str
) -> Html:
    return el("text", line(words), x=_at(x), y=_at(y), class_=css, text_anchor=anchor, **more)


def _gate_lines(points: list[Point]) -> tuple[list[Fraction], dict[Fraction, list[str]]]:
    """The LPI gates, and each PCV gate with the profiles that have it."""
    profiles: dict[Fraction, list[str]] = {}
    for point in points:
        names = profiles.setdefault(point.policy.pcv_threshold, [])
        if point.policy.profile not in names:
            names.append(point.policy.profile)
    return sorted({point.policy.lpi_gate for point in points}), dict(sorted(profiles.items()))


def _quarters(points: list[Point], ceiling: int) -> Iterator[Html]:
    """A ground under the quarter in which every story is ready to play, whatever its profile."""
    lpi_gates, pcv_gates = _gate_lines(points)
    left, bottom = across(max(lpi_gates)), up(max(pcv_gates), ceiling)
    yield el("rect", x=LEFT, y=TOP, width=ACROSS, height=DOWN, class_="ground")
    yield el(
        "rect",
        x=_at(left),
        y=TOP,
        width=_at(LEFT + ACROSS - left),
        height=_at(bottom - TOP),
        class_="ready",
    )


def _axes(ceiling: int, step: int) -> Iterator[Html]:
    floor = TOP + DOWN
    for tenth in range(0, 11, 2):
        x = across(Fraction(tenth, 10))
        yield _line(x, floor, x, floor + 5, "axis")
        yield _words(x, floor + 19, f"{tenth / 10:g}", "tick", "middle")
    for value in range(0, ceiling + 1, step):
        y = up(value, ceiling)
        yield _line(LEFT - 5, y, LEFT, y, "axis")
        yield _words(LEFT - 9, y + 4, str(value), "tick", "end")
    yield _words(LEFT + ACROSS, floor + 42, "how much is left open (LPI) →", "name", "end")
    yield _words(15, TOP, "how much presses (PCV) →", "name", "end", transform=f"rotate(-90 15 {TOP})")


def _gates(points: list[Point], ceiling: int) -> Iterator[Html]:
    lpi_gates, pcv_gates = _gate_lines(points)
    floor = TOP + DOWN
    for gate in lpi_gates:
        yield _line(across(gate), TOP, across(gate), floor, "gate")
        yield _words(across(gate) - 5, floor - 26, f"needs {decimal(gate, gate)}", "needs", "end")
    for gate, profiles in pcv_gates.items():
        yield _line(LEFT, up(gate, ceiling), LEFT + ACROSS, up(gate, ceiling), "gate")
        says = f"{' and '.join(profiles)} needs {decimal(gate, gate, places=0)}"
        yield _words(LEFT + 6, up(gate, ceiling) - 5, says, "needs")


def _quarter_names() -> Iterator[Html]:
    floor, right = TOP + DOWN, LEFT + ACROSS
    yield _words(LEFT + 8, TOP + 20, QUADRANTS["explosive-but-shallow"].name, "quarter")
    yield _words(right - 8, TOP + 20, QUADRANTS["campaign-ready"].name, "quarter", "end")
    yield _words(LEFT + 8, floor - 9, QUADRANTS["unplayable-draft"].name, "quarter")
    yield _words(right - 8, floor - 9, QUADRANTS["rich-lore-flat-play"].name, "quarter", "end")


def _dots(points: list[Point], ceiling: int) -> Iterator[Html]:
    centres = [(across(point.lpi), up(point.pcv, ceiling)) for point in points]
    taken = _Taken(centres)
    for point, (x, y) in zip(points, centres, strict=True):
        clashes = contradictions(told(point.story))
        said = f"{point.number}. {point.title}: {verdict_of(point.story).name}"
        if clashes:
            said += ", contradicts itself"
        yield el(
            "a",
            el("title", line(said)),
            el(
                "circle",
                cx=_at(x),
                cy=_at(y),
                r=_DOT,
                class_=f"dot {'plays' if point.story.plays else 'short'}",
            ),
            _frame(x, y) if clashes else "",
            *(_label(point.number, x, y, taken) if len(points) <= _MOST_LABELS else ()),
            href=f"#s{point.number}",
        )


def _frame(x: Fraction, y: Fraction) -> Html:
    """A square on its corner around the dot of a story that contradicts itself."""
    r = _DOT + 6
    corners = ((x, y - r), (x + r, y), (x, y + r), (x - r, y))
    return el("path", d="M" + "L".join(f"{_at(a)} {_at(b)}" for a, b in corners) + "Z", class_="clash")


def _label(number: int, x: Fraction, y: Fraction, taken: "_Taken") -> Iterator[Html]:
    """The story's number beside its dot, with a line to it where it could not stand close by."""
    place = taken.place(float(x), float(y), str(number))
    if place is None:
        return
    if place.far:
        middle = place.left + _DIGIT * len(str(number)) / 2
        yield _line(x, y, middle, place.base - _LABEL / 3, "lead")
    yield _words(place.left, place.base, str(number), "label")


class _Place(NamedTuple):
    left: float
    base: float
    far: bool


class _Taken:
    """Finds room for the numbers beside the dots; a number without room is left out, the dot still says its title."""

    def __init__(self, centres: list[tuple[Fraction, Fraction]]) -> None:
        self._boxes = [
            (float(x) - _DOT, float(y) - _DOT, float(x) + _DOT, float(y) + _DOT) for x, y in centres
        ]

    def place(self, x: float, y: float, label: str) -> _Place | None:
        """Return where the label's text begins, at its base line."""
        wide, gap = _DIGIT * len(label), _DOT + 7
        for ring in range(_RINGS):
            out, away = gap + ring * (wide + 4), gap + ring * _LABEL
            for left, base in (
                (x + out, y + 4),
                (x - out - wide, y + 4),
                (x - wide / 2, y - away),
                (x - wide / 2, y + away + _LABEL - 3),
            ):
                box = (left, base - _LABEL + 2, left + wide, base + 2)
                if _within(box) and not any(_overlap(box, other) for other in self._boxes):
                    self._boxes.append(box)
                    return _Place(left, base, ring > 0)
        return None


def _within(box: _Box) -> bool:
    left, top, right, bottom = box
    return left >= LEFT and right <= LEFT + ACROSS and top >= TOP and bottom <= TOP + DOWN


def _overlap(a: _Box, b: _Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
