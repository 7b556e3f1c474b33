"""What a reader has to say about how a file was read."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from ludic_deepeval.errors import clean
from ludic_deepeval.sources.located import Located
from ludic_deepeval.text import word_count

_MOST: Final = 12


class Remark(NamedTuple):
    """One thing to tell about a file as a whole.

    Attributes:
        code: A key of `codes.CODES`.
        message: One line.
    """

    code: str
    message: str


def told_fields(read: Sequence[str], parts: Sequence[Located], skipped: Sequence[str], also: str = "") -> str:
    """Say which fields were read and which were not: "read description, scenario (412 words); skipped first_mes"."""
    count = int(sum(word_count(part.text) for part in parts))
    words = "1 word" if count == 1 else f"{count:,} words"
    head = f"read {', '.join(map(clean, read))} ({words})" if read else "read nothing"
    more = f", and {len(skipped) - _MOST} more" if len(skipped) > _MOST else ""
    tail = [f"skipped {', '.join(map(clean, skipped[:_MOST]))}{more}"] if skipped else []
    return "; ".join([head, *tail, *([also] if also else [])])
