"""A story's text as it was found inside another file, and what the settings or the file say about it."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.sources.spelling import where

MAX_STORIES: Final = 10_000
MAX_ID: Final = 200


@dataclass(frozen=True, slots=True)
class Passage:
    """One story's text in a file.

    Attributes:
        id: What tells it from the others of its file.
        text: The text, decoded.
        at: For each of its characters, and for its end, the offset in the file.
        front: What stands in for front matter: `title`, `profile`, `bible`, `background_log`, `expect`,
            `intentional`.
    """

    id: str
    text: str
    at: Sequence[int]
    front: Mapping[str, object]


def id_from(value: object, raw: str, offset: int, file: object) -> str:
    """Return an id that a file gives.

    Args:
        value: Text or a whole number.
        raw: The decoded file.
        offset: Where the story stands, for errors.
        file: What to call the file in errors.

    Raises:
        InputError: It is neither, is empty or too long, or has line breaks or other control characters.
    """
    text = str(value) if type(value) is int and abs(value) < 10**MAX_ID else value
    if isinstance(text, str):
        text = unicodedata.normalize("NFC", text.strip())
        if text and len(text) <= MAX_ID and clean(text, limit=MAX_ID) == text:
            return text
    found = "no id" if value is None or value == "" else f"the id is {shown(value)}"
    allowed = f"text of one line, at most {MAX_ID} characters, or a whole number"
    raise InputError(file, found, where=where(raw, offset), allowed=allowed)


def by_id(passages: Iterable[Passage], raw: str, file: object) -> dict[str, Passage]:
    """Return passages by their ids; raise `InputError` for two of one id, and for more than anybody has."""
    known: dict[str, Passage] = {}
    for passage in passages:
        other = known.setdefault(passage.id, passage)
        if other is not passage:
            raise InputError(
                file,
                f"two stories are called {shown(passage.id)}",
                where=where(raw, passage.at[0]),
                allowed="ids that differ",
                hint=f"the other is at {where(raw, other.at[0])}; give each its own `id`, or let only one source read it",
            )
        if len(known) > MAX_STORIES:
            raise InputError(file, f"more than {MAX_STORIES:,} stories", allowed=f"at most {MAX_STORIES:,}")
    return known
