"""Which sentence of a story says a fact: a proposal with its score, and nothing where no sentence says enough of it.

    score = 100 · Σ rarity of the fact's words that the sentence has / Σ rarity of the fact's words

A word counts as had when the sentence has one that is alike (`rapidfuzz.fuzz.ratio` of at least `ALIKE`, so that "argued" finds
"arguing"); rarity is log((n + 1) / (sentences with it + ½)), a word of the fact that no sentence has being the rarest. Range 0 to 100,
higher is better. It compares words and understands nothing: "had no key" is as near to "had a key" as can be.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Final

from ludic_deepeval.errors import InputError

ALIKE: Final = 75.0
LEAST: Final = 50
_FEWEST: Final = 2
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_STOP: Final = frozenset(
    "a an the and or but if of in on at to for from by with as is was were are be been being had has have did do does not no so"
    " that this these those it its he she they him her his hers their them i you we my your our me us who whom which what"
    " when where there then than would could should can may might must will shall about into over also very said one".split()
)


@dataclass(frozen=True, slots=True)
class Aligned:
    """A fact and the sentence that says it best.

    Attributes:
        fact: The fact.
        sentence: The sentence, counted from 0; None where none says enough of it.
        score: 0 to 100, of the best sentence, whether it suffices or not; 0 where none has two words of it beside names.
    """

    fact: str
    sentence: int | None
    score: int


def align(
    facts: Sequence[str], sentences: Sequence[str], *, names: Sequence[str] = (), least: int = LEAST
) -> tuple[Aligned, ...]:
    """Find for each fact the sentence that says most of it; the earlier of two that say as much.

    Args:
        facts: What a source says is so.
        sentences: The story.
        names: Who is in it: a sentence must have more of a fact than a name and one word.
        least: The score below which a fact is left unaligned.

    Raises:
        InputError: The extra `episodes` is not installed.
    """
    try:
        from rapidfuzz import fuzz, process  # noqa: PLC0415  # an extra
    except ImportError:
        raise InputError(
            "rapidfuzz",
            "not installed, and facts cannot be aligned without it",
            hint="install the extra episodes",
        ) from None
    where: dict[str, set[int]] = {}
    for at, one in enumerate(sentences):
        for word in _words(one):
            where.setdefault(word, set()).add(at)
    vocabulary = list(where)
    named = set().union(*map(_words, names)) if names else set()
    places: dict[str, set[int]] = {}
    out: list[Aligned] = []
    for fact in facts:
        words = _words(fact)
        for word in words - places.keys():
            near = process.extract(word, vocabulary, scorer=fuzz.ratio, score_cutoff=ALIKE, limit=None)
            places[word] = set().union(*(where[found] for found, _, _ in near)) if near else set()
        rarity = {word: log((len(sentences) + 1) / (len(places[word]) + 0.5)) for word in sorted(words)}
        total = sum(rarity.values())
        best, score = None, 0.0
        for at in sorted(set().union(*(places[word] for word in words)) if words else ()):
            had = [word for word in rarity if at in places[word]]
            has = sum(rarity[word] for word in had)
            if has > score and sum(word not in named for word in had) >= _FEWEST:
                best, score = at, has
        points = int(100 * score / total + 1e-9) if total else 0
        out.append(Aligned(fact, best if points >= least else None, points))
    return tuple(out)


def _words(text: str) -> set[str]:
    """The words that carry something. Very long ones are cut, so that comparing them costs what words cost."""
    found = (
        place.group().casefold().replace("’s", "").replace("'s", "")[:40] for place in _WORD.finditer(text)
    )
    return {word for word in found if word not in _STOP and len(word) > 1}
