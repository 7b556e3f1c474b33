"""A story cut into sentences, and the places at which a person should look (WORTH §4.1: numbered natural sentences).

Sentences are found by `sentencex` (extra `episodes`). No splitter is right everywhere: an abbreviation may end a sentence or
not, and what follows a closing quotation mark may belong to it or not. Such places are listed and never decided here.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ludic_deepeval.errors import InputError, clean

Language: TypeAlias = Literal["en", "zh"]
_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n")
_FULL_LINE: Final = re.compile(r"(?<=[.!?…。！？\"”’」』])\n")
_HAN: Final = r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef“”‘’…—]"
_JOINT: Final = re.compile(rf"(?<={_HAN})\s+(?={_HAN})")
_TITLES: Final = frozenset("mr mrs ms dr st rev hon prof capt col gen lt sgt messrs mme mlle vs no".split())
_INSIDE: Final = {
    "en": re.compile(r"\b(\w{0,20})[.!?…]{1,4}[\"”’')\]]{0,3} (?=[\"“‘'(\[]{0,3}[A-Z0-9])"),
    "zh": re.compile(r"()(?:[。！？]|…{1,2})[”’」』）]{0,3}(?=[^”’」』）。！？…—\s])"),
}
_CLOSED: Final = {
    "en": re.compile(r"[.!?…][\"”’']$"),
    "zh": re.compile(r"[。！？…][”’」』]$"),
}
_OPENS: Final = "“‘「『\"'（("
_TAG: Final = re.compile(
    r"[\"“‘']?(?:\w+[\w.'’-]*\s+){0,4}(?:said|asked|cried|replied|answered|whispered|shouted|called|added|went on|exclaimed"
    r"|explained|began|continued|murmured|told|says|asks)\b",
    re.IGNORECASE,
)
_ABBREVIATED: Final = re.compile(
    r"(?:^|\W)(?:[A-Z]|[a-z]\.[a-z]|Mr|Mrs|Ms|Dr|St|No|etc|Rev|Prof|Capt|Col)\.$"
)
_STRAY: Final = re.compile(r"^[”’」』）)\]，、；：,;:。！？.!?…—–-]")
_NO_END: Final = re.compile(r"(?:\.\.|…|\b[A-Za-z]\.)[\"”’')\]]{0,3} ?$")
MAX_TEXT: Final = 300_000
MAX_PARAGRAPH: Final = 40_000
MAX_MARKS: Final = 2_000  # of quotation in a paragraph: sentencex takes the square of their number
_MARKS: Final = frozenset("'`“”‘’«»‹›„‚「」『』（）()[]【】《》")
_SIDE: Final = 32
_LONGEST: Final = {"en": 400, "zh": 160}


@dataclass(frozen=True, slots=True)
class Doubt:
    """A place at which the splitting may be wrong.

    Attributes:
        sentence: The sentence, counted from 0.
        code: A word for programs.
        message: A line for people, without the sentence's number.
        place: The words around the place, with a bar where one sentence ends or may end.
    """

    sentence: int
    code: Literal["mark-inside", "goes-on", "after-quotation", "abbreviation", "very-long", "very-short"]
    message: str
    place: str


@dataclass(frozen=True, slots=True)
class Split:
    """A story in sentences.

    Attributes:
        sentences: In the story's order, nothing added and nothing but white space taken away.
        begins: The sentences, counted from 0, that begin a paragraph.
        doubts: Where to look, in the story's order.
    """

    sentences: tuple[str, ...]
    begins: frozenset[int]
    doubts: tuple[Doubt, ...]


def split_story(
    text: str, language: Language, *, lines: bool = False, speeches: bool = False, file: object = "the story"
) -> Split:
    """Cut a story into sentences.

    Args:
        text: Plain text. A blank line ends a paragraph, or, in a text without any, a line that ends with a sentence; other
            line ends are white space.
        language: What it is written in.
        lines: Whether each line is a sentence already, as a person has left it.
        speeches: Whether to cut between the sentences of a speech, which are else left together.
        file: What to call the text in errors.

    Raises:
        InputError: The extra `episodes` is not installed, or the text or a paragraph of it is too long.
    """
    if len(text) > MAX_TEXT:
        raise InputError(
            file, f"{len(text):,} characters", allowed=f"at most {MAX_TEXT:,} characters of story"
        )
    text = unicodedata.normalize("NFC", text.removeprefix("\ufeff")).replace("\r\n", "\n").replace("\r", "\n")
    if lines:
        parts = [text.split("\n")]
    else:
        paragraphs = (_BLANK_LINE if _BLANK_LINE.search(text.strip()) else _FULL_LINE).split(text)
        parts = [_sentences(one, language, speeches=speeches, file=file) for one in paragraphs]
    sentences: list[str] = []
    begins: set[int] = set()
    for part in parts:
        begins.add(len(sentences))
        sentences += [" ".join(one.split()) for one in part if one.strip()]
    return Split(
        tuple(sentences), frozenset(begins), () if lines else tuple(_doubts(sentences, begins, language))
    )


def _sentences(paragraph: str, language: Language, *, speeches: bool, file: object) -> list[str]:
    try:
        from sentencex import segment  # type: ignore[import-untyped]  # noqa: PLC0415  # an extra, which has no types
    except ImportError:
        raise InputError(
            "sentencex",
            "not installed, and sentences cannot be told apart without it",
            hint="pip install 'ludic-worth[episodes]'; worth new --lines needs none, where each line is a sentence",
        ) from None
    flat = " ".join(paragraph.split())
    if len(flat) > MAX_PARAGRAPH:
        raise InputError(
            file,
            f"a paragraph of {len(flat):,} characters",
            where=f"'{clean(flat, limit=40)}'",
            allowed=f"paragraphs of at most {MAX_PARAGRAPH:,} characters, with blank lines between them",
        )
    if sum(map(_MARKS.__contains__, flat)) > MAX_MARKS:
        raise InputError(
            file,
            f"more than {MAX_MARKS:,} quotation marks and brackets in a paragraph",
            where=f"'{clean(flat, limit=40)}'",
        )
    found = list(segment(language, _JOINT.sub("", flat) if language == "zh" else flat))
    return [part for one in found for part in _cut(one, language)] if speeches else found


def _cut(one: str, language: Language) -> list[str]:
    """A sentence that has the ends of others inside, in its parts."""
    ends = [
        place.end()
        for place in _INSIDE[language].finditer(one)
        if place.group(1).lower() not in _TITLES and not _NO_END.search(place.group())
    ]
    return [one[start:end] for start, end in zip([0, *ends], [*ends, len(one)], strict=True)]


def _doubts(sentences: list[str], begins: set[int], language: Language) -> list[Doubt]:
    found: list[Doubt] = []
    for at, one in enumerate(sentences):
        before = sentences[at - 1] if at and at not in begins else ""
        joint = _around(before, one)
        if before and (_STRAY.match(one) or (language == "en" and one[:1].islower())):
            found.append(Doubt(at, "goes-on", "may belong to the one before", joint))
        elif before and _CLOSED[language].search(before) and _may_belong(one, language):
            found.append(Doubt(at, "after-quotation", "may say who spoke in the one before", joint))
        elif before and language == "en" and _ABBREVIATED.search(before):
            found.append(Doubt(at, "abbreviation", "follows what may be an abbreviation", joint))
        inside = next(
            (end for end in _INSIDE[language].finditer(one) if end.group(1).lower() not in _TITLES), None
        )
        if inside:
            place = _around(one[: inside.end()], one[inside.end() :])
            found.append(Doubt(at, "mark-inside", "may be two", place))
        if len(one) > _LONGEST[language]:
            found.append(Doubt(at, "very-long", f"is long, {len(one)} characters", one[:_SIDE] + "…"))
        if sum(map(str.isalnum, one)) < 2:
            found.append(Doubt(at, "very-short", "has hardly a word", one[:_SIDE]))
    return found


def _around(before: str, after: str) -> str:
    left, right = before.rstrip(), after.lstrip()
    left = left if len(left) <= _SIDE else "…" + left[-_SIDE:]
    return f"{left} | {right if len(right) <= _SIDE else right[:_SIDE] + '…'}"


def _may_belong(one: str, language: Language) -> bool:
    """Whether a sentence after a closed quotation may say who spoke: any in Chinese, where no letter shows where one begins."""
    return one[0] not in _OPENS if language == "zh" else _TAG.match(one) is not None
