"""The macros of character cards: what a reader sees in place of `{{char}}` and `{{user}}`."""

import re
from collections.abc import Iterator
from typing import Final

from ludic_deepeval.sources.spelling import Piece

USER: Final = "User"
_MACRO: Final = re.compile(
    r"\{\{\s*(char|user)\s*\}\}|<(char|bot|user)>|\{\{\s*(?://|(?:comment|hidden_key)\s*:)[^{}]*\}\}",
    re.IGNORECASE,
)


def macro_pieces(text: str, name: str) -> Iterator[Piece]:
    """Yield the macros of a text and what stands in their place.

    `{{char}}`, `<char>` and `<bot>` are the character, `{{user}}` and `<user>` the player, in any case and with blanks
    inside; `{{// …}}`, `{{comment: …}}` and `{{hidden_key: …}}` are nothing. All others stay as they are, and what was put
    in is never looked at again.

    Args:
        text: The text.
        name: The character's name.
    """
    for match in _MACRO.finditer(text):
        who = (match[1] or match[2] or "").lower()
        yield (*match.span(), "" if not who else USER if who == "user" else name)


def expanded(text: str, name: str | None) -> str:
    """Return a text as a reader reads it; with no name of a character its macros stay."""
    if name is None:
        return text
    out: list[str] = []
    at = 0
    for start, end, said in macro_pieces(text, name):
        out += (text[at:start], said)
        at = end
    return "".join([*out, text[at:]])
