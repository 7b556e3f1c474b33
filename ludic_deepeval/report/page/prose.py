"""The prose of a story with everything marked where it is.

The text is the story's to the character: Markdown stays as it was written, and what the page adds to it stands in
elements of the class `t`.
"""

from collections.abc import Iterator
from typing import Final

from ludic_deepeval.report.page.language import language_of
from ludic_deepeval.report.page.markup import Html, el, join, text
from ludic_deepeval.report.page.places import GROUND, Mark, Places
from ludic_deepeval.report.page.segments import lanes, ordered, pieces
from ludic_deepeval.text import paragraphs

_ALOUD: Final = 300


def prose_of(body: str, places: Places) -> Html:
    """Return the marked prose. Its text, without the elements of class `t`, is the body."""
    marks = places.marks
    inside = [(mark.start, mark.end) for mark in marks]
    spans = paragraphs(body)
    rendered = _Pieces(body, places, _classes(marks))
    cuts = [edge for span in spans for edge in span]
    starts = dict(spans)
    out: list[str] = []
    paragraph: list[str] = []
    until = 0
    for piece in pieces(len(body), inside, cuts):
        if piece.start in starts:
            until = starts[piece.start]
        if piece.end <= until:
            paragraph.append(rendered.of(piece.start, piece.end, piece.over, tagged=True))
            if piece.end == until:
                out.append(el("p", *map(Html, paragraph), dir="auto"))
                paragraph = []
        else:  # the blank lines between two paragraphs
            out.append(rendered.of(piece.start, piece.end, piece.over, tagged=False))
    return el("div", *map(Html, out), class_="prose", lang=language_of(body))


class _Pieces:
    """Renders pieces in their order, each tag before the first words that it is about."""

    def __init__(self, body: str, places: Places, classes: list[str]) -> None:
        self._body = body
        self._places = places
        self._classes = classes
        self._untold = ordered([(mark.start, mark.end) for mark in places.marks])[::-1]

    def of(self, start: int, end: int, over: tuple[int, ...], *, tagged: bool) -> Html:
        words = text(self._body[start:end])
        marks = self._places.marks
        if over:
            css = " ".join(dict.fromkeys(" ".join(self._classes[at] for at in over).split()))
            keys = " ".join(dict.fromkeys(marks[at].key for at in over))
            words = el("mark", words, class_=css, data_i=keys)
        return join(*self._tags(end), words) if tagged else words

    def _tags(self, end: int) -> Iterator[Html]:
        while self._untold and self._places.marks[self._untold[-1]].start < end:
            yield _tag(self._places.marks[self._untold.pop()], self._places.prefix)


def _classes(marks: tuple[Mark, ...]) -> list[str]:
    """The class of each mark: a kind's letter with the lane in which its line is drawn, or a finding's."""
    lines = [at for at, mark in enumerate(marks) if not mark.css.startswith(GROUND)]
    found = [mark.css for mark in marks]
    for at, lane in zip(lines, lanes([(marks[at].start, marks[at].end) for at in lines]), strict=True):
        found[at] += str(lane)
    return found


def _tag(mark: Mark, prefix: str) -> Html:
    """The letter or number before some words: a link to what they are."""
    title = mark.title if len(mark.title) <= _ALOUD else f"{mark.title[:_ALOUD]}…"
    return el(
        "a",
        mark.tag,
        class_=f"t {mark.css}",
        id=f"{prefix}-{mark.key}w{mark.number}",
        href=f"#{prefix}-{mark.key}",
        aria_label=mark.name,
        title=title,
        dir="ltr",  # or its letter would decide the direction of a paragraph that it begins
    )
