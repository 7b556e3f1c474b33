"""The Strategic-Vagueness Rule (LudicMetrics §3.6, Eq 10 and 11).

    d(m) = |N(m)| / |T(m)|,  VI(m) = 1 − d(m),  VI = 1 for an empty span;  m is a thematic hole iff d(m) ≤ 0.30

T(m) are the tokens of a mystery's span, N(m) those that are names or parts of a date. The paper's printed detector
("capitalised in non-initial position") misses the name that begins its own second example; see docs/decisions.md.

English (any Latin script) is split at white space. Chinese is split into words by jieba's dictionary with the known
names kept whole; the threshold was set on English and is uncalibrated there. Other scripts are `Unscored`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final, Self

from ludic_deepeval.outcome import Unscored
from ludic_deepeval.text import ENDS_SENTENCE, han_share, sentence_starts

if TYPE_CHECKING:
    from ludic_deepeval.ledger import FactLedger

_CORE: Final = re.compile(r"[^\W_](?:.*[^\W_])?", re.DOTALL)
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_PRONOUN_I: Final = re.compile(r"I(?:['’]\w+)?$")
_MONTHS: Final = frozenset(
    # Gregorian, then the Calendar of Harptos with the commoner month names of Faerûn
    "January February March April May June July August September October November December"
    " Hammer Alturiak Ches Tarsakh Mirtul Kythorn Flamerule Eleasis Eleint Marpenoth Uktar Nightal".split()
)  # fmt: skip
# Words that stand in names ("Red Wizards of Thay", "the Reeve") without being names.
_FUNCTION_WORDS: Final = frozenset(
    "a an and as at by for from he her his i in it its my of on or our she that the their there they this to we with you"
    " la le les el los de del der die das von van du des"
    " every everybody everyone nobody nothing one some somebody someone something what when where who whose why".split()
)
_DIGITS: Final = "0-9０-９〇零一二三四五六七八九十百千廿卅两"
_HAN_DATE: Final = (  # compiled for those who write Chinese
    # Not 一点 "a little", 一时 "for a while", 当初 "at first", 自己未必 "oneself not surely", 孩子时 "as a child"
    rf"[{_DIGITS}]+(?:世纪|年代)|(?:民国|公元前?)?(?!一[点时])[{_DIGITS}元正]+(?:年|月|日|号|时|点)|初[{_DIGITS}]+|"
    rf"(?:腊月|冬月)[{_DIGITS}]*|除夕|元宵|清明|端午|中秋|重阳|冬至|夏至|立春|(?<![孩王妻女弟儿])子时|"
    "[丑寅卯辰巳午未申酉戌亥]时|[甲乙丙丁戊己庚辛壬癸][子丑寅卯辰巳午未申酉戌亥]年"
)


@dataclass(frozen=True, slots=True)
class Vagueness:
    """The fact density of one span.

    Attributes:
        tokens: |T(m)|, words without bare punctuation.
        named: N(m), the tokens that are names or date parts, as they stand.
    """

    tokens: int
    named: tuple[str, ...]

    @property
    def density(self) -> Fraction:
        """d(m) in [0, 1]; lower is vaguer. 0 for an empty span."""
        return Fraction(len(self.named), self.tokens) if self.tokens else Fraction(0)

    @property
    def index(self) -> Fraction:
        """VI(m) = 1 − d(m) in [0, 1]; higher is vaguer. 1 for an empty span."""
        return 1 - self.density

    def is_hole(self, maximum: Fraction) -> bool:
        """Whether the span passes Eq 11 at this density (0.30 by default), exactly."""
        part, whole = maximum.as_integer_ratio()
        return len(self.named) * whole <= self.tokens * part


class Names:
    """The names that a ledger and a Story Bible know, looked at only when a span needs them."""

    def __init__(self, ledger: "FactLedger", more: Iterable[str] = ()) -> None:
        self._ledger = ledger
        self._more = tuple(more)
        self._text: str | None = None

    def _all(self) -> Iterator[str]:
        yield self._ledger.protagonist
        for npc in self._ledger.npcs:
            yield from npc.names
            if npc.faction:
                yield npc.faction
        for hook in self._ledger.hooks:
            if hook.location:
                yield hook.location
        for event in self._ledger.events:
            if event.location:
                yield event.location
            yield from event.factions
        yield from self._more

    def __contains__(self, word: str) -> bool:
        """Whether a word is among `words`, which are told apart only when it stands in a name at all."""
        if self._text is None:
            self._text = "\n".join(self._all())
        return word in self._text and word in self.words

    @cached_property
    def words(self) -> frozenset[str]:
        """Each capitalised word of each name, without articles and other words that are no names."""
        found = set()
        for part in " ".join(self._all()).split():
            core = part if part.isalpha() else _bare(match.group()) if (match := _CORE.search(part)) else ""
            if core[:1].isupper() and core.lower() not in _FUNCTION_WORDS:
                found.add(core)
        return frozenset(found)

    @cached_property
    def han(self) -> re.Pattern[str] | None:
        """Matches any name in Chinese characters, longest first; None when there is none."""
        names = sorted(
            {name for name in self._all() if han_share(name)[1]}, key=lambda name: (-len(name), name)
        )
        return re.compile("|".join(map(re.escape, names))) if names else None


class Span(str):
    """The words of a mystery, told apart once when a ledger is read and not at each scoring.

    Attributes:
        parts: The tokens that are names or date parts, or would be if a known name held them: each with the word to
            look for among the known names, or None where no name is needed.
        tokens: |T(m)|.
        settled: The counts, where they do not depend on any known name.
        latin: Whether it is written in a Latin script; no other attribute means anything where it is not.
    """

    __slots__ = ("latin", "parts", "settled", "tokens")
    latin: bool
    parts: tuple[tuple[str, str | None], ...]
    tokens: int
    settled: Vagueness | None

    def __new__(cls, text: str) -> Self:
        """Tell the words apart."""
        self = super().__new__(cls, text)
        self.latin = text.isascii() or _mostly_latin(text)
        self.tokens, self.parts = _latin(text) if self.latin else (0, ())
        open_question = not self.latin or any(word for _, word in self.parts)
        self.settled = (
            None if open_question else Vagueness(self.tokens, tuple(part[0] for part in self.parts))
        )
        return self


def measure(span: str, names: Names) -> Vagueness | Unscored:
    """Count the tokens of a span and those among them that are names or date parts (Eq 10).

    Args:
        span: The words of the mystery, as they stand in the prose.
        names: The known names; they decide over a capital at the start of a sentence, and over Chinese.

    Returns:
        The counts, or `Unscored` when most letters are neither Latin nor Chinese: no rule here tells names in them.
    """
    if not isinstance(span, Span):
        span = Span(span)
    if span.settled is not None:
        return span.settled
    if not span.latin:
        return _other_script(span, names)
    return Vagueness(span.tokens, tuple(token for token, word in span.parts if word is None or word in names))


def _mostly_latin(span: str) -> bool:
    latin, han, other = han_share(span)
    return other <= latin + han and han <= latin


def _other_script(span: str, names: Names) -> Vagueness | Unscored:
    latin, han, other = han_share(span)
    if other > latin + han:
        return Unscored(
            "script", "written in a script in which names cannot be told; English and Chinese can be measured"
        )
    return _chinese(span, names)


def _latin(span: str) -> tuple[int, tuple[tuple[str, str | None], ...]]:
    words = span.split()
    tokens = len(words)
    starts = sentence_starts(span) if ENDS_SENTENCE.search(span, 0, max(len(span) - 1, 0)) else ()
    places = [match.start() for match in re.finditer(r"\S+", span)] if starts else ()
    parts: list[tuple[str, str | None]] = []
    first = True
    for index, word in enumerate(words):
        if word.isalpha() and word.islower():  # most words: a token and no name
            first = False
            continue
        core = _CORE.search(word)
        if core is None:
            tokens -= 1
            continue
        initial = first or (bool(places) and places[index] in starts)
        first = False
        if part := _part(core.group(), initial=initial):
            parts.append(part)
    return tokens, tuple(parts)


def _part(token: str, *, initial: bool) -> tuple[str, str | None] | None:
    if any(map(str.isdigit, token)):
        return token, None
    if not token[0].isupper() or _PRONOUN_I.match(token):
        return None
    bare = _bare(token)
    if not initial or bare in _MONTHS:
        return token, None
    return None if bare.lower() in _FUNCTION_WORDS else (token, bare)


def _bare(token: str) -> str:
    """Drop a possessive ending: "Kaelen's" is Kaelen, and so is "Kaelen" of "James'"."""
    return _POSSESSIVE.sub("", token) or token


def _chinese(span: str, names: Names) -> Vagueness:
    import rjieba  # noqa: PLC0415  # 5 MB of dictionary, for those who write Chinese

    named: list[str] = []
    tokens = 0
    pieces = [(span, False)]
    for pattern in (names.han, re.compile(_HAN_DATE)):
        if pattern is not None:
            pieces = [
                part
                for piece, known in pieces
                for part in ([(piece, True)] if known else _split(piece, pattern))
            ]
    for piece, known in pieces:
        if known:
            tokens += 1
            named.append(piece)
            continue
        for word in rjieba.cut(piece):
            if not _CORE.search(word):
                continue
            tokens += 1
            if any(map(str.isdigit, word)) or (
                word[0].isascii() and word[0].isupper() and not _PRONOUN_I.match(word)
            ):
                named.append(word)
    return Vagueness(tokens, tuple(named))


def _split(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, bool]]:
    at = 0
    for match in pattern.finditer(text):
        if match.start() > at:
            yield text[at : match.start()], False
        if match.end() > match.start():
            yield match.group(), True
        at = match.end()
    if at < len(text):
        yield text[at:], False
