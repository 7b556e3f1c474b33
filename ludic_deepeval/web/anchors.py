"""From words that somebody selected to words that can be found again: whole, enough of them, and standing only once."""

from dataclasses import dataclass
from itertools import pairwise

from ludic_deepeval.lockfile import quote_problem
from ludic_deepeval.text import MAX_QUOTE_WORDS, MIN_QUOTE_WORDS, Prose, paragraphs, sentence_starts, words


@dataclass(frozen=True, slots=True)
class Anchor:
    """Words of the prose that a mark can rest on.

    Attributes:
        start: Offset in the body, in characters.
        end: Behind the last one.
        quote: The words between.
    """

    start: int
    end: int
    quote: str


def anchor(prose: Prose, start: int, end: int) -> Anchor | str:
    """Return the smallest quote around a selection that can be found again, or why there is none, in plain words.

    A part of a word becomes the whole word. A quote that is too short, or stands more than once, grows by the words
    that follow it in its sentence, then by those before; past the sentence only if it must.
    """
    body = prose.body
    start, end = max(0, min(start, len(body))), max(0, min(end, len(body)))
    spans = [match.span() for match in words(body)]
    inside = [n for n, (first, last) in enumerate(spans) if first < end and start < last]
    if not inside:
        return "There is no word in this selection: select words of the story."
    first, last = inside[0], inside[-1]
    start = min(spans[first][0], start + len(body[start:end]) - len(body[start:end].lstrip()))
    end = max(spans[last][1], end - len(body[start:end]) + len(body[start:end].rstrip()))
    if _fits(prose, start, end):
        return Anchor(start, end, body[start:end])
    if last - first + 1 > MAX_QUOTE_WORDS and quote_problem(body[start:end]):
        return f"That is too long: select at most {MAX_QUOTE_WORDS} words (or {2 * MAX_QUOTE_WORDS} Chinese characters), those that say it."
    low, high = first, last
    for lower, upper in _regions(body, start, end):
        while True:
            if high + 1 < len(spans) and spans[high + 1][1] <= upper:
                high += 1
            elif low > 0 and spans[low - 1][0] >= lower:
                low -= 1
            else:
                break
            wider = min(start, spans[low][0]), max(end, spans[high][1])
            if _fits(prose, *wider):
                return Anchor(*wider, body[wider[0] : wider[1]])
            if high - low > 2 * MAX_QUOTE_WORDS:
                break
    where = ", ".join(dict.fromkeys(str(prose.place(at).line) for at, _ in prose.find(body[start:end])[:4]))
    also = f" (lines {where})" if "," in where else ""
    return f"These words cannot be told from others like them{also}, even with the words around. Select at least {MIN_QUOTE_WORDS} others close by."


def _fits(prose: Prose, start: int, end: int) -> bool:
    quote = prose.body[start:end]
    return quote_problem(quote) is None and prose.find(quote) == [(start, end)]


def _regions(body: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentences that a selection is in, its paragraphs, the whole: where it may grow, one after the other."""
    bounds = list(pairwise([*sentence_starts(body), len(body)]))
    regions = []
    for parts in (bounds, paragraphs(body)):
        touched = [part for part in parts if part[0] < end and start < part[1]]
        if touched:
            regions.append((touched[0][0], touched[-1][1]))
    return [*regions, (0, len(body))]
