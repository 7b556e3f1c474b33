"""From HTML to the text that a browser would show: nothing is run, and each character is looked at once."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

from ludic_deepeval.sources.spelling import Piece

_NEXT: Final = re.compile(
    r"[ \t\r\n\f]+|<|&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
    r"|@[A-Z]\w{0,40}\[[^\]\[]{0,400}\]\{([^{}]{1,400})\}"
)
_TAG: Final = re.compile(r"</?([A-Za-z][^\s/>]{0,60})")
_TAG_END: Final = re.compile(r"""(?:[^>"']++|"[^"]*+"|'[^']*+')*+>""")
_DROPPED: Final = frozenset(
    "script style template iframe object noscript noembed noframes svg math head title".split()
)
_PARAGRAPHS: Final = frozenset(
    "p div section article aside header footer main nav blockquote figure figcaption pre h1 h2 h3 h4 h5 h6 ul ol dl"
    " table hr form fieldset details summary address".split()
)
_LINES: Final = frozenset("br li tr dt dd option".split())
_CELLS: Final = frozenset({"td", "th"})
_GAPS: Final = ("", " ", "\n", "\n\n")


def html_pieces(text: str) -> Iterator[Piece]:
    """Yield what in an HTML text does not stand for itself: tags, white space, entities, and scripts, which are dropped.

    Paragraphs are parted by a blank line, lines of a list by a line break. A link of Foundry, `@UUID[Actor.x]{Merric}`, is
    its words.

    Args:
        text: HTML, or plain text, which comes out with its white space folded.
    """
    gap = (0, 0, 0)  # where it begins and ends, and how wide it is
    at = 0
    while match := _NEXT.search(text, at):
        start, at = match.span()
        mark = match.group()
        if mark[0] in "&@":
            yield from _closed(gap)
            gap = (at, at, 0)
            said = match[1] if mark[0] == "@" else unescape(mark).replace("\xa0", " ")
            yield (start, at, said)
            continue
        width = 1
        if mark == "<":
            found = _markup(text, start)
            if found is None:
                continue
            at, width = found
        if gap[1] == start:
            gap = (gap[0], at, max(gap[2], width))
        else:
            yield from _closed(gap)
            gap = (start, at, width)
    if gap[1] == len(text):
        yield (gap[0], gap[1], "")
    else:
        yield from _closed(gap)


def _closed(gap: tuple[int, int, int]) -> Iterator[Piece]:
    start, end, width = gap
    if start < end:
        yield (start, end, _GAPS[width] if start else "")


def _markup(text: str, start: int) -> tuple[int, int] | None:
    """Where what begins with `<` ends, and how wide a gap it makes; None where it is only that sign."""
    if text.startswith("<!--", start):
        return _past(text, "-->", start + 4), 0
    if text[start + 1 : start + 2] in {"!", "?"}:
        return _past(text, ">", start), 0
    tag = _TAG.match(text, start)
    if tag is None:
        return None
    end = _TAG_END.match(text, tag.end())
    if end is None:
        return len(text), 0  # a tag that never ends swallows the rest, as in a browser
    name = tag[1].lower()
    after = end.end()
    if name in _DROPPED and text[start + 1] != "/" and not text.endswith("/>", start, after):
        closing = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(text, after)
        return (_past(text, ">", closing.end()) if closing else len(text)), 0
    width = 3 if name in _PARAGRAPHS else 2 if name in _LINES else 1 if name in _CELLS else 0
    return after, width


def _past(text: str, mark: str, start: int) -> int:
    found = text.find(mark, start)
    return len(text) if found < 0 else found + len(mark)
