"""What a mark sheet offers to its reader: recurring names, deaths and questions. Offers only; none is ever scored."""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from ludic_deepeval.text import MAX_QUOTE_WORDS, MIN_QUOTE_WORDS, Prose, sentence_starts, word_count

MAX_EACH: Final = 12
_CONTEXT_WORDS: Final = 5

_CAPITAL: Final = r"[^\W\d_a-zà-öø-ÿ][^\W\d_]+(?:['’-][^\W\d_]+)*"
_NAME: Final = re.compile(rf"\b{_CAPITAL}(?:\s+(?:of|the|van|de|von)\s+{_CAPITAL}|\s+{_CAPITAL})*")
_WITHIN: Final = re.compile(rf"(?<=\w)[,;]?\s+({_CAPITAL})\b")  # where a capital is not due to the sentence
_NO_NAME: Final = frozenset(
    "The A An And But Or So If When Where Who What Why How He She It They We You His Her Its Their Our My Then"
    " There This That These Those In On At By For From With Without After Before Since While As Not No Nobody"
    " Nothing Never Now Once One Two Some Somebody Every Everybody All Of To".split()
)
_DEATH: Final = re.compile(
    r"\b(?:die[sd]?|dying|dead|death|killed|murdered|drowned|hanged|buried|grave|funeral|widow(?:er)?|orphan)\b|[死亡葬]|去世|遇害"
)
_QUESTION: Final = re.compile(
    r"[?？]|\b(?:nobody|no one|never)\s+(?:\w+\s+)?(?:knew|knows|found|said|saw|learned|explained|asked)\b"
    r"|\b(?:someone|somebody|something|unknown|mysterious|missing|vanished|disappeared)\b|不知|不明|失踪|究竟|谜"
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Words that may be worth marking.

    Attributes:
        kind: What rule found them.
        about: The name and how often it stands, or the word that caught the eye.
        quote: The words around it, fit for a sheet's `quote`.
        line: Where, in the stored file.
    """

    kind: Literal["name", "death", "question"]
    about: str
    quote: str
    line: int


def find_candidates(prose: Prose) -> list[Candidate]:
    """Return names that recur, then sentences of deaths and of questions, at most a dozen of each."""
    return [*_names(prose), *_sentences(prose, "death", _DEATH), *_sentences(prose, "question", _QUESTION)]


def names_in(text: str) -> list[str]:
    """Return what looks like a name in a text, in order; for scripts with capitals only."""
    found: dict[str, None] = {}
    for match in _NAME.finditer(text):
        words = match.group().split()
        while words and words[0] in _NO_NAME:
            words = words[1:]
        if name := re.sub(r"['’]s$", "", " ".join(words)):
            found.setdefault(name)
    return list(found)


def _names(prose: Prose) -> list[Candidate]:
    body = prose.body
    starts = set(sentence_starts(body))
    within = {match.group(1) for match in _WITHIN.finditer(body)}
    found: Counter[str] = Counter()
    places: dict[str, list[int]] = {}
    for match in _NAME.finditer(body):
        words = match.group().split()
        at = match.start()
        while words and words[0] in _NO_NAME:
            at += len(words[0]) + 1
            words = words[1:]
        name = re.sub(r"['’]s$", "", " ".join(words))
        first_and_single = at in starts and len(words) == 1
        if not name or not name[0].isupper() or (first_and_single and name not in within):
            continue
        found[name] += 1
        places.setdefault(name, []).append(at)
    common = [name for name, count in found.most_common() if count > 1][:MAX_EACH]
    return [
        Candidate("name", f"{name} ({found[name]}×)", quote, prose.place(at).line)
        for name in common
        for at, quote in _first_fit(body, name, places[name])
    ]


def _first_fit(body: str, name: str, places: list[int]) -> list[tuple[int, str]]:
    """The first place of a name where the words around it can serve as a quote."""
    for at in places[:MAX_EACH]:
        quote = _around(body, at, at + len(name))
        if _fit(quote):
            return [(at, quote)]
    return []


def _fit(quote: str) -> bool:
    return MIN_QUOTE_WORDS <= word_count(quote) <= MAX_QUOTE_WORDS


def _around(body: str, start: int, end: int) -> str:
    """The match with a few words on either side, in one line of the prose."""
    before = re.search(rf"(?:\S+[^\S\n]+){{0,{_CONTEXT_WORDS}}}\S*\Z", body[max(0, start - 120) : start])
    after = re.match(rf"\S*(?:[^\S\n]+\S+){{0,{_CONTEXT_WORDS}}}", body[end : end + 120])
    return ((before.group() if before else "") + body[start:end] + (after.group() if after else "")).strip()


def _sentences(prose: Prose, kind: Literal["death", "question"], pattern: re.Pattern[str]) -> list[Candidate]:
    body = prose.body
    bounds = [*sentence_starts(body), len(body)]
    found = []
    for start, end in pairwise(bounds):
        match = pattern.search(body, start, end)
        if match is None:
            continue
        sentence = body[start:end].strip()
        if not _fit(sentence):
            sentence = _around(body, match.start(), match.end())
        if _fit(sentence):
            found.append(Candidate(kind, match.group(), sentence, prose.place(match.start()).line))
        if len(found) == MAX_EACH:
            break
    return found
