"""Fitting text to the columns of a terminal or a printed page, whatever its script."""

import re
import unicodedata
from typing import Final

_RIGHT_TO_LEFT: Final = frozenset({"R", "AL"})
_ISOLATE: Final = "\u2068"
_END: Final = "\u2069"
_NO_SPACE: Final = re.compile(
    r"[\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
_NOT_FIRST: Final = frozenset("，。、；：？！”’」』）》…,.;:?!)")
_NOT_LAST: Final = frozenset("“‘「『（《(")


def columns(text: str) -> int:
    """Count the columns that a text takes: two for a wide character, none for a mark."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def apart(text: str) -> str:
    """Keep a text that runs from right to left from turning round what stands beside it."""
    if text.isascii() or not any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for char in text):
        return text
    return f"{_ISOLATE}{text}{_END}"


def wrap(text: str, width: int) -> list[str]:
    """Break a text into lines of at most `width` columns, between words or between Chinese characters.

    A word that is longer than a line is broken.
    """
    lines = [""]
    for piece in _pieces(text):
        if columns(lines[-1] + piece.rstrip()) <= width:
            lines[-1] += piece
            continue
        if lines[-1].strip():
            lines.append("")
        piece = piece.lstrip()  # noqa: PLW2901  # a line begins with no blank
        while columns(piece.rstrip()) > width:
            head = _head(piece, width)
            lines[-1] = head
            piece = piece[len(head) :]  # noqa: PLW2901  # the rest of it
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines if line.strip()] or [""]


def shorten(text: str, width: int) -> str:
    """Cut a text to at most `width` columns, at a word, with an ellipsis where something is left out."""
    if columns(text) <= width:
        return text
    room = max(width - 1, 1)
    cut = wrap(text, room)[0].rstrip(" ,;:，；：、—–-") + "…"
    return cut + _END * (cut.count(_ISOLATE) - cut.count(_END))


def _head(text: str, width: int) -> str:
    taken = 0
    for at, char in enumerate(text):
        taken += _columns(char)
        if taken > width:
            return text[: max(at, 1)]
    return text


def _pieces(text: str) -> list[str]:
    """What may not be broken: words with the blanks after them, single Chinese characters with their punctuation."""
    pieces: list[str] = []
    glue = False
    for run in re.findall(r"\S+\s*|\s+", text):
        for part in _split(run):
            if pieces and (glue or (part[0] in _NOT_FIRST and not pieces[-1][-1].isspace())):
                pieces[-1] += part
            else:
                pieces.append(part)
            glue = part[-1] in _NOT_LAST
    return pieces


def _split(run: str) -> list[str]:
    if run.isascii() or not _NO_SPACE.search(run):
        return [run]
    return [part for part in re.split(f"(?<={_NO_SPACE.pattern})|(?={_NO_SPACE.pattern})", run) if part]
