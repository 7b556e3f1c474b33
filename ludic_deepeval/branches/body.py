"""The prose of a branching file as one body, with the way back to the file: what marks and quotes refer to."""

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ludic_deepeval.text import Prose, normalised

_BETWEEN: Final = "\n\n"


class BodyBuilder:
    """Collects the prose of passages in the order of the file.

    Args:
        raw: The decoded file.
    """

    def __init__(self, raw: str) -> None:
        self._raw = raw
        self._parts: list[str] = []
        self._at = array("L")
        self._length = 0

    def add(self, pieces: Sequence[tuple[str, Sequence[int] | int]]) -> tuple[int, int]:
        """Add a passage's prose, one piece a line, and return where it stands in the body.

        Args:
            pieces: A text, and where in the file it begins, or where each of its characters is.
        """
        lines = [line for piece, at in pieces if (line := _clean(piece, at))[0]]
        if not lines:
            return self._length, self._length
        if self._length:
            self._append(_BETWEEN, [lines[0][1][0]] * len(_BETWEEN))
        start = self._length
        for number, (text, at) in enumerate(lines):
            if number:
                self._append("\n", [at[0]])
            self._append(text, at)
        return start, self._length

    def _append(self, text: str, at: Sequence[int]) -> None:
        self._parts.append(text)
        self._at.extend(at)
        self._length += len(text)

    def prose(self, path: Path) -> Prose:
        """Return what was added as a story's prose."""
        end = self._at[-1] + 1 if self._at else 0
        return Prose(
            self._raw, path, front_matter=False, part=("".join(self._parts), array("L", [*self._at, end]))
        )


def _clean(text: str, at: Sequence[int] | int) -> tuple[str, list[int]]:
    """The text without blanks at its ends, as `Prose` would normalise it, with the place of each character."""
    plain, origin = normalised(text)
    places = range(len(plain)) if origin is None else origin
    lead = len(plain) - len(plain.lstrip())
    kept = plain.strip()
    inside = places[lead : lead + len(kept)]
    if isinstance(at, int):
        return kept, [at + place for place in inside]
    return kept, [at[place] for place in inside]
