"""What the pictures of a study have in common: a frame with axes, in plain SVG that needs no style of its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Final

from ludic_deepeval.report.page.markup import Html, el, line

COLOURS: Final = 10  # classes c0 … c9 of the page's style


def at(value: float) -> str:
    """A coordinate to two places."""
    return f"{round(value, 2):.6g}"


def stroke(x1: float, y1: float, x2: float, y2: float, css: str) -> Html:
    """A line."""
    return el("line", x1=at(x1), y1=at(y1), x2=at(x2), y2=at(y2), class_=css)


def words(x: float, y: float, text: str, css: str, anchor: str = "start", **more: str) -> Html:
    """A word or two."""
    return el("text", line(text), x=at(x), y=at(y), class_=css, text_anchor=anchor, **more)


def dot(x: float, y: float, css: str, says: str, *, radius: float = 5, open_: bool = False) -> Html:
    """A point that says what it is."""
    kind = f"{css} {'open' if open_ else 'full'}"
    return el("circle", el("title", line(says)), cx=at(x), cy=at(y), r=at(radius), class_=kind)


def svg(width: float, height: float, label: str, *parts: str) -> Html:
    """A picture that scales with the page."""
    return el(
        "svg",
        *parts,
        viewBox=f"0 0 {at(width)} {at(height)}",
        role="img",
        aria_label=line(label),
        class_="picture",
    )


@dataclass(frozen=True)
class Frame:
    """Where values stand.

    Attributes:
        left: The left edge of the plane.
        top: Its upper edge.
        width: How wide it is.
        height: How high.
        low: The value at the lower edge.
        high: The value at the upper edge.
    """

    left: float
    top: float
    width: float
    height: float
    low: float
    high: float

    def y(self, value: float) -> float:
        """Where a value stands."""
        return self.top + self.height * (1 - (value - self.low) / (self.high - self.low))

    @property
    def floor(self) -> float:
        """The lower edge."""
        return self.top + self.height

    def scale(self, name: str, steps: int = 5) -> Iterator[Html]:
        """The axis on the left with its marks and its name."""
        for value in ticks(self.low, self.high, steps):
            yield stroke(self.left, self.y(value), self.left + self.width, self.y(value), "grid")
            yield words(self.left - 8, self.y(value) + 4, f"{value:g}", "tick", "end")
        yield stroke(self.left, self.top, self.left, self.floor, "axis")
        x, y = 16.0, self.top + self.height / 2
        yield words(x, y, name, "name", "middle", transform=f"rotate(-90 {at(x)} {at(y)})")

    def columns(self, names: Sequence[str], below: float = 18) -> Iterator[Html]:
        """Names along the lower edge, each in the middle of its column."""
        yield stroke(self.left, self.floor, self.left + self.width, self.floor, "axis")
        for number, name in enumerate(names):
            yield words(self.middle(number, len(names)), self.floor + below, name, "tick", "middle")

    def middle(self, number: int, count: int) -> float:
        """The middle of a column."""
        return self.left + self.width * (number + 0.5) / count


def ticks(low: float, high: float, steps: int) -> list[float]:
    """Round numbers from low to high."""
    span = max(high - low, 1e-9)
    power = 10 ** floor(log10(span / steps))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if span / (power * factor) <= steps)
    first = ceil(low / step - 1e-9)
    found = []
    while (value := first * step) <= high + step * 1e-9:
        found.append(round(value, 10))
        first += 1
    return found


def legend(names: Sequence[tuple[str, str, bool]], x: float, y: float) -> Iterator[Html]:
    """Names with their dots, in a column: (name, css class, open)."""
    for number, (name, css, open_) in enumerate(names):
        yield dot(x, y + 18 * number - 4, css, name, open_=open_)
        yield words(x + 12, y + 18 * number, name, "tick")
