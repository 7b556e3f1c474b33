"""The one place for Unicode, newlines, quote folding, offsets and sentence ends.

A story's *body* is its file without byte-order mark and front matter, with newlines as LF, in NFC, stripped at both
ends. Offsets count characters of the body; `Prose.place` maps them back to the file as it is stored.
"""

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from typing import Final

from ludic_deepeval.errors import InputError

MIN_QUOTE_WORDS: Final = 3
MAX_QUOTE_WORDS: Final = 25
MAX_MARKS: Final = 30

# Ideographs, kana and hangul are written without spaces between words; white space between them means nothing.
_HAN: Final = (
    r"\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_CJK: Final = (
    _HAN
    + r"\u3001-\u3003\u3008-\u3020\u3030-\u30ff\u31f0-\u31ff\uac00-\ud7af\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uffef"
)
_UNSPACED: Final = _HAN + r"\u3041-\u30ff\u31f0-\u31ff\uac00-\ud7af"
_FIRST_CJK: Final = "\u2e80"  # nothing before it is in a class above
_SPACED_WORD: Final = r"[^\W_](?:[^\W_]|[\u0300-\u036f]|['’](?=[^\W_]))*"

_SINGLE: Final = "‘’‚‛′ʼ＇`´"
_DOUBLE: Final = "“”„‟″«»「」『』〝〞＂"
_DASH: Final = "‐‑‒–—―−－"
_DROPPED: Final = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_FULL_WIDTH: Final = 0xFEE0  # from "！" to "!"
_FOLDS: Final = (
    dict.fromkeys(_SINGLE, "'") | dict.fromkeys(_DOUBLE, '"') | dict.fromkeys(_DASH + "-", "-") | {"…": "..."}
)
_OTHER_RUNS: Final = rf"[{_DASH}-]+|…|[{_SINGLE}{_DOUBLE}]"
_FOLDED_RUN: Final = re.compile(rf"[\s{_DROPPED}]+|{_OTHER_RUNS}|[\uff01-\uff5e]")
# Without CJK characters a single blank stays as it is; in English prose most of what would be looked at is that.
_FOLDED_RUN_PLAIN: Final = re.compile(rf"[\s{_DROPPED}]{{2,}}|[^\S ]|[{_DROPPED}]|{_OTHER_RUNS}")

ENDS_SENTENCE: Final = re.compile(r"[.!?…。！？\n]")
_SENTENCE_END: Final = re.compile(r"(?:(?<![.!?…])[.!?…]++[\"'”’»)\]]*+\s+|[。！？…]+[”’」』）]*\s*|\n\s*)")
_ABBREVIATIONS: Final = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "dr",
        "st",
        "prof",
        "sr",
        "jr",
        "capt",
        "col",
        "gen",
        "lt",
        "sgt",
        "rev",
        "hon",
        "no",
        "vs",
    ]
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a character stands in the stored file; all counts from 1.

    Attributes:
        line: Lines end at LF, CRLF or CR.
        column: In characters (code points). A byte-order mark is not a column.
        utf16: The same column in UTF-16 units, as editors and SARIF count.
    """

    line: int
    column: int
    utf16: int


@lru_cache(maxsize=2)  # the stories of one file share it
def _line_starts(raw: str) -> list[int]:
    bom = 1 if raw.startswith("\ufeff") else 0
    return [bom, *(match.end() for match in re.finditer(r"\r\n|\r|\n", raw))]


def place_in(raw: str, position: int) -> Place:
    """Return where a character of a decoded file stands."""
    starts = _line_starts(raw)
    line = max(bisect_right(starts, position), 1)
    prefix = raw[starts[line - 1] : position]
    return Place(line, len(prefix) + 1, len(prefix.encode("utf-16-le", "surrogatepass")) // 2 + 1)


@dataclass(frozen=True, slots=True)
class Folded:
    """A text as quotes are compared in it, with the way back.

    Attributes:
        text: White space, quotation marks, dashes and full-width forms folded; no white space between CJK characters.
        starts: For each folded character, the offset in the original at which what it stands for begins.
        ends: And ends.
    """

    text: str
    starts: "array[int]"
    ends: "array[int]"


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    """Compile when first needed: these classes take longer to compile than an English story takes to read."""
    return re.compile(pattern)


def _is_in(char: str, members: str) -> bool:
    """Whether a character is in one of the classes above."""
    return char >= _FIRST_CJK and _pattern(f"[{members}]").match(char) is not None


def _word(text: str) -> re.Pattern[str]:
    """The pattern of a word, or of a CJK character where the text has any."""
    return _pattern(_SPACED_WORD if max(text, default="") < _FIRST_CJK else f"[{_UNSPACED}]|{_SPACED_WORD}")


def fold(text: str) -> Folded:
    """Fold what a careful copyist may change in a quotation. Everything else stays exact."""
    out: list[str] = []
    starts, ends = array("L"), array("L")
    position = 0
    runs = _FOLDED_RUN_PLAIN if max(text, default="") < _FIRST_CJK else _FOLDED_RUN
    for match in runs.finditer(text):
        begin, end = match.span()
        out.append(text[position:begin])
        starts.extend(range(position, begin))
        ends.extend(range(position + 1, begin + 1))
        new = _fold_run(text, match.group(), begin, end)
        out.append(new)
        starts.extend([begin] * len(new))
        ends.extend([end] * len(new))
        position = end
    out.append(text[position:])
    starts.extend(range(position, len(text)))
    ends.extend(range(position + 1, len(text) + 1))
    return Folded("".join(out), starts, ends)


def _fold_run(text: str, run: str, begin: int, end: int) -> str:
    first = run[0]
    if first.isspace() or first in _DROPPED:
        if not any(map(str.isspace, run)):
            return ""
        between_cjk = (
            begin > 0 and end < len(text) and _is_in(text[begin - 1], _CJK) and _is_in(text[end], _CJK)
        )
        return "" if between_cjk else " "
    return _FOLDS.get(first) or chr(ord(first) - _FULL_WIDTH)


@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """Return the folded text alone, without leading and trailing blanks: two quotes are the same if these are."""
    return fold(unicodedata.normalize("NFC", text)).text.strip()


def word_count(text: str) -> float:
    """Count words; a CJK character counts as half a word, so that six of them weigh as much as three words."""
    return sum(0.5 if _is_in(word[0], _UNSPACED) else 1.0 for word in _word(text).findall(text))


def words(text: str) -> list[re.Match[str]]:
    """Return each word of a text, or each CJK character, with its place."""
    return list(_word(text).finditer(text))


def has_pile(text: str) -> bool:
    """Whether more than 30 combining marks stand in a row: Unicode's Stream-Safe limit (UAX #15).

    Putting a longer pile into NFC takes time that grows with its square; no language needs one.
    """
    runs = _pattern(rf"[^\w\s\x00-\x7f]{{{MAX_MARKS + 1},}}").finditer(text)
    return any(
        len(pile) > MAX_MARKS
        for run in runs
        for pile in "".join(c if unicodedata.combining(c) else " " for c in run.group()).split()
    )


def han_share(text: str) -> tuple[int, int, int]:
    """Count the letters of a text by script: Latin, Han, any other."""
    if text.isascii():
        return sum(map(str.isalpha, text)), 0, 0
    latin = han = other = 0
    for char in text:
        if not char.isalpha():
            continue
        if _is_in(char, _HAN):
            han += 1
        elif ord(char) < 0x250 or 0x1E00 <= ord(char) < 0x1F00 or 0xFF21 <= ord(char) <= 0xFF5A:
            latin += 1
        else:
            other += 1
    return latin, han, other


def _sentence_ends(text: str) -> Iterator[re.Match[str]]:
    """Find what `_SENTENCE_END` finds, trying it only where it can begin: that is five times as fast."""
    at = 0
    while begins := ENDS_SENTENCE.search(text, at):
        match = _SENTENCE_END.match(text, begins.start())
        if match:
            yield match
        at = (match or begins).end()


def sentence_starts(text: str) -> list[int]:
    """Return the offset of each sentence's first character. Titles such as "Dr." end no sentence."""
    starts = [len(text) - len(text.lstrip())]
    for match in _sentence_ends(text):
        before = re.search(r"(\w+)\.\s*$", text[max(0, match.start() - 12) : match.end()].rstrip())
        if before and before.group(1).lower() in _ABBREVIATIONS:
            continue
        if match.end() < len(text):
            starts.append(match.end())
    return sorted(set(starts))


def paragraphs(body: str) -> list[tuple[int, int]]:
    """Return the half-open offsets of each paragraph: between blank lines, or each line where no line is blank."""
    gap = r"\n[^\S\n]*\n" if re.search(r"\n[^\S\n]*\n", body) else r"\n"
    spans = (match.span() for match in re.finditer(rf"\S.*?(?={gap}|\Z)", body, re.DOTALL))
    return [(start, start + len(body[start:end].rstrip())) for start, end in spans]


def holds_name(text: str, name: str) -> bool:
    """Whether a name stands in a text as whole words: "Ann" and "Ann's" hold Ann, "Hannah" does not.

    The article of "the Reeve" may be another or missing.
    """
    quote, wanted = folded(text), re.sub(r"^(?:the|an?) ", "", folded(name), flags=re.IGNORECASE)
    at = quote.find(wanted)
    while wanted and at >= 0:
        if not (_joined(quote, at) or _joined(quote, at + len(wanted))):
            return True
        at = quote.find(wanted, at + 1)
    return False


@lru_cache(maxsize=4096)
def name_key(text: str) -> str:
    """Return what names are compared by: NFKC, casefolded, no punctuation, no leading article."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    plain = " ".join(
        "".join(
            c if c.isalnum() or unicodedata.combining(c) else " " for c in re.sub(r"['’]", "", plain)
        ).split()
    )
    return re.sub(r"^(?:the|an?|his|her|their|my)\s+", "", plain)


class Prose:
    """A story's text: the file as stored, its front matter, its body, and the way between them.

    Args:
        raw: The decoded file.
        file: What to call it in errors.
        front_matter: Whether it may begin with front matter; otherwise all of it is prose.
        part: Where only a part of the file is the story, such as a string of a JSON file: its text, decoded, and for
            each character of it, and for its end, the offset in `raw`. What looks like front matter in it is prose.
        reading: Makes of the stored text what a reader reads, such as the words of a link: the text, and for each of its
            characters, and for its end, the offset in what it was given.

    Raises:
        InputError: Front matter that is opened and never closed.
    """

    def __init__(
        self,
        raw: str,
        file: object = "text",
        *,
        front_matter: bool = True,
        part: tuple[str, Sequence[int]] | None = None,
        reading: Callable[[str], tuple[str, Sequence[int]]] | None = None,
    ) -> None:
        self.raw = raw
        self.file = str(file)
        self.front_matter: str | None = None
        self._start, self._at = 0, part[1] if part else None
        if part is None:
            bom = 1 if raw.startswith("\ufeff") else 0
            self.front_matter, self._start = (
                _front_matter(raw, bom, self.file) if front_matter else (None, bom)
            )
        self._is_part = part is not None
        if part is None and reading is not None:
            part = reading(raw[self._start :])
            self._at = part[1]
        text, self._origin = normalised(part[0] if part else raw[self._start :])
        self._lead = len(text) - len(text.lstrip())
        self.body = text.strip()

    @cached_property
    def sha256(self) -> str:
        """The hash of the body, in hexadecimal: the same for LF and CRLF, with and without BOM, NFC and NFD."""
        return sha256(self.body.encode("utf-8")).hexdigest()

    @cached_property
    def folded(self) -> Folded:
        """The body as quotes are looked up in it."""
        return fold(self.body)

    @property
    def is_part(self) -> bool:
        """Whether it is only a part of its file."""
        return self._is_part

    @property
    def is_verbatim(self) -> bool:
        """Whether the body's words stand in the file as they are: no escapes, no links shown as their words."""
        return self._at is None

    def place(self, offset: int) -> Place:
        """Map a body offset to the stored file. Past the end it gives the end."""
        position = self._lead + min(max(offset, 0), len(self.body))
        if self._origin is not None:
            position = self._origin[position]
        if self._at is not None:
            position = self._at[position]
        return place_in(self.raw, position + self._start)

    def find(self, quote: str, *, tries: int | None = None) -> list[tuple[int, int]]:
        """Return the half-open body offsets of every place where the quote's exact words stand (see `places`)."""
        return list(self.places(quote, tries=tries))

    def places(self, quote: str, *, tries: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield those places in order; with `tries`, look at no more places than so many that seem to be one."""
        wanted = folded(quote)
        if not wanted:
            return
        text, starts, ends = self.folded.text, self.folded.starts, self.folded.ends
        at = text.find(wanted)
        looked = 0
        while at >= 0 and (tries is None or looked < tries):
            looked += 1
            stop = at + len(wanted)
            if _whole(text, at, stop) and not (_splits(starts, at) or _splits(starts, stop)):
                yield starts[at], ends[stop - 1]
            at = text.find(wanted, at + 1)


def _splits(starts: "array[int]", cut: int) -> bool:
    """Whether a cut falls inside what one stored character folds to, as between the dots of "…"."""
    return 0 < cut < len(starts) and starts[cut] == starts[cut - 1]


def _whole(text: str, start: int, stop: int) -> bool:
    """Whether a match begins and ends between words: "he art" is no quote of "the artist", "he can" none of "he can't"."""
    return not any(
        _joined(text, cut) or _joined(text, cut, over=1) or _joined(text, cut - 1, over=1)
        for cut in (start, stop)
    )


def _joined(text: str, cut: int, *, over: int = 0) -> bool:
    """Whether a cut parts the letters of one word; with `over`, across an apostrophe that follows the cut."""
    if not 0 < cut < len(text) - over or (over and text[cut] != "'"):
        return False
    before, after = text[cut - 1], text[cut + over]
    return (
        _in_word(before) and _in_word(after) and not (_is_in(before, _UNSPACED) or _is_in(after, _UNSPACED))
    )


def _in_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char)[0] == "M"


def _front_matter(raw: str, start: int, file: str) -> tuple[str | None, int]:
    opening = re.compile(r"---[^\S\r\n]*(?:\r\n|\r|\n)").match(raw, start)
    if not opening:
        return None, start
    closing = re.compile(r"^(?:---|\.\.\.)[^\S\r\n]*(?:\r\n|\r|\n|\Z)", re.MULTILINE).search(
        raw.replace("\r", "\n"), opening.end()
    )
    if not closing:
        raise InputError(
            file,
            "the front matter is never closed",
            where="line 1",
            allowed="a second line of ---",
            hint="close it, or begin with the prose",
        )
    return raw[opening.end() : closing.start()], _after_line(raw, closing.end())


def _after_line(raw: str, position: int) -> int:
    """A CRLF was searched as two line ends: step over its second half."""
    return position + 1 if raw[position - 1 : position + 1] == "\r\n" else position


def normalised(text: str) -> tuple[str, "array[int] | None"]:
    """Return LF and NFC text, and for each of its characters the offset in `text` (None: the same offset)."""
    if "\r" not in text and unicodedata.is_normalized("NFC", text):
        return text, None
    out: list[str] = []
    origin = array("L")
    for match in _cluster().finditer(text):
        cluster = match.group()
        new = "\n" if cluster in {"\r\n", "\r"} else unicodedata.normalize("NFC", cluster)
        out.append(new)
        origin.extend([match.start()] * len(new))
    origin.append(len(text))
    return "".join(out), origin


@lru_cache(maxsize=1)
def _cluster() -> re.Pattern[str]:
    """Match a character with all that NFC may join to it: marks, and vowels and finals of Hangul."""
    marks = "".join(
        f"\\U{code:08x}" for code in range(0x300, 0x1F000) if unicodedata.category(chr(code))[0] == "M"
    )
    return re.compile(rf"\r\n|\r|.[{marks}\u1160-\u11ff]*", re.DOTALL)
