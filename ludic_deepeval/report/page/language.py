"""In which language a story seems to be written, so that a screen reader picks its voice and a browser its font."""

import re
from typing import Final

from ludic_deepeval.text import han_share

# What the script alone settles; where several languages share one, the tag names the script and no language.
_SCRIPTS: Final = (
    ("ja", "\u3041-\u30ff"),
    ("ko", "\uac00-\ud7af\u1100-\u11ff"),
    ("und-Arab", "\u0600-\u06ff\u0750-\u077f"),
    ("und-Hebr", "\u0590-\u05ff"),
    ("und-Cyrl", "\u0400-\u052f"),
    ("el", "\u0370-\u03ff"),
    ("und-Deva", "\u0900-\u097f"),
    ("th", "\u0e00-\u0e7f"),
)
_ENGLISH: Final = re.compile(r"\b(?:the|and|of|to|was|is|in|that|his|her)\b", re.IGNORECASE)
_ENOUGH: Final = 12  # in English one of these words comes every six or seven, in other languages hardly any
_LOOKED_AT: Final = 4000


def language_of(body: str) -> str:
    """Return a BCP 47 tag: `en`, `zh`, `ja` …, or `und-` and the script where no language can be told."""
    sample = body[:_LOOKED_AT]
    latin, han, other = han_share(sample)
    if other + han > latin:
        counts = {tag: len(re.findall(f"[{members}]", sample)) for tag, members in _SCRIPTS}
        if counts["ja"] * 10 > han:  # Japanese is written with kana between its ideographs
            counts["ja"] += han
        counts["zh"] = han if counts["ja"] * 10 <= han else 0
        best = max(counts, key=lambda tag: counts[tag])
        return best if counts[best] else "und"
    words = len(re.findall(r"[^\W\d_]+", sample))
    if not words:
        return "und"
    return "en" if len(_ENGLISH.findall(sample)) * _ENOUGH >= words else "und-Latn"
