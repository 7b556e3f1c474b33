"""Words as the offline baseline compares them: stems, clauses, and whether a clause denies.

English by suffixes and a short list of irregular verbs, Chinese by rjieba's dictionary and by pairs of characters, so that a
name that no dictionary has is found as well. Nothing here knows a synonym.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ludic_deepeval.text import folded, han_share

_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_HAN_RUN: Final = re.compile(r"[\u3400-\u9fff]+")
STOPWORDS: Final = frozenset(
    "a an the and or but nor so yet if then than as at by for from in into of off on onto out over to under up upon with"
    " without within about after again against all also am any anybody anyone anything are aren't be because been before being"
    " between both can cannot can't could did do does doing don't during each even ever every everybody everyone everything few had"
    " has have having he her here hers him his how i it its itself just may me might mine more most much must my never no nobody"
    " none not nothing now off once one only other our ours own same shall she should some somebody someone something still such"
    " that their theirs them themselves there these they this those though through too truly truth us very was we were what"
    " whatever when where which while who whoever whom whose why will would you your yours yes it's that's there's say says said"
    " true untrue false fact people folk contrary claim wrong lie nowadays today currently always hardly rarely seldom scarcely barely".split()
)
_IRREGULAR: Final = {
    past: base
    for base, forms in {
        "keep": "kept", "take": "took taken", "sell": "sold", "swear": "swore sworn", "run": "ran", "hold": "held", "give": "gave given",
        "go": "went gone", "leave": "left", "fall": "fell fallen", "burn": "burnt", "light": "lit", "ride": "rode ridden", "sleep": "slept",
        "buy": "bought", "bring": "brought", "build": "built", "send": "sent", "lend": "lent", "find": "found", "ring": "rang rung",
        "die": "dead death dying", "drown": "drowned", "sink": "sank sunk", "lose": "lost", "begin": "began begun", "come": "came", "tell": "told",
        "stand": "stood", "draw": "drew drawn", "break": "broke broken", "pay": "paid", "meet": "met", "win": "won", "owe": "owed", "use": "used",
        "rise": "rose risen", "row": "rowed", "walk": "walked", "know": "knew known", "think": "thought", "make": "made", "rule": "ruled",
        "weigh": "weight", "lie": "lay lain", "steal": "stole stolen", "forbid": "forbade forbidden", "sign": "signed", "wear": "wore worn",
    }.items()
    for past in forms.split()
}  # fmt: skip
_NEGATOR: Final = re.compile(
    r"\b(?:not|no|never|nobody|none|nothing|neither|without|cannot|nowhere|untrue|false|rarely|seldom|hardly|scarcely|barely|"
    r"contrary)\b|n't\b|[不没无未非莫勿](?!过)"
)
_CLAUSE: Final = re.compile(
    r"[,;:.!?()\"“”，。；：！？、]+|\s-+\s|\b(?:and|but|or|while|which|because|until|since|although|whereas)\b"
)
_NUMBER_WORDS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
    " twenty"
).split()
_NUMBERS: Final = {word: str(value) for value, word in enumerate(_NUMBER_WORDS) if value > 1} | {
    "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90",
    "hundred": "100", "thousand": "1000", "twice": "2x", "thrice": "3x",
    "first": "1.", "second": "2.", "third": "3.", "fourth": "4.", "fifth": "5.", "sixth": "6.", "seventh": "7.", "eighth": "8.",
    "ninth": "9.", "tenth": "10.", "eleventh": "11.", "twelfth": "12.",
}  # fmt: skip


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return what is left of an English word without its ending; other words as they are, in lower case."""
    word = word.casefold().removesuffix("'s").replace("'", "")
    if word in _IRREGULAR:
        word = _IRREGULAR[word]
    if not word.isascii() or len(word) <= 3:
        return word
    for ending, put in (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("ly", ""), ("es", "e"), ("s", "")):  # fmt: skip
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word.removesuffix(ending) + put
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


@lru_cache(maxsize=4096)
def stems(text: str, *, pairs: bool = False) -> tuple[str, ...]:
    """Return the content words of a text as stems, in order, function words left out.

    Args:
        text: Any text; folded first.
        pairs: Also give each pair of Chinese characters, for finding names that the dictionary does not have.
    """
    plain = folded(text)
    found = [
        stem(word)
        for match in _WORD.finditer(plain)
        if (word := match.group().casefold()) not in STOPWORDS and not _HAN_RUN.search(word)
    ]
    if han_share(plain)[1]:
        found += _chinese(plain, pairs=pairs)
    return tuple(found)


def _chinese(text: str, *, pairs: bool) -> Iterator[str]:
    import rjieba  # noqa: PLC0415  # 5 MB of dictionary, for those who write Chinese

    for run in _HAN_RUN.findall(text):
        yield from (
            word for word in rjieba.cut(run) if word not in "的了是在有和与也都就而及着之他她我你它这那不没"
        )
        if pairs:
            yield from (run[at : at + 2] for at in range(len(run) - 1))


@lru_cache(maxsize=4096)
def clauses(text: str) -> tuple[str, ...]:
    """Split a text into clauses, at punctuation and at words that join clauses."""
    return tuple(part.strip() for part in _CLAUSE.split(folded(text)) if part and part.strip())


def denials(text: str) -> int:
    """How often a text denies, as by "not", "nobody", "without" or 不."""
    plain = re.sub(
        r"\b(?:no longer|no more|not any ?more|no one knows|nobody knows)\b", "", folded(text).casefold()
    )
    return len(_NEGATOR.findall(plain))


def numbers(text: str) -> frozenset[str]:
    """The numbers of a text, whether in digits or in words up to a thousand."""
    found = set()
    for match in _WORD.finditer(folded(text)):
        word = match.group().casefold()
        if word.isdigit() or (word[:-2].isdigit() and word[-2:] in {"st", "nd", "rd", "th"}):
            found.add(word if word.isdigit() else f"{word[:-2]}.")
        elif word in _NUMBERS:
            found.add(_NUMBERS[word])
    return frozenset(found)
