"""A text on its way from a file to what a reader reads, with the place in the file of every character."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ludic_deepeval.sources.spelling import Piece, spelled


@dataclass(frozen=True, slots=True)
class Located:
    """A text and its places.

    Attributes:
        text: The text.
        at: For each of its characters, and for its end, the offset in the file.
    """

    text: str
    at: Sequence[int]

    def respelled(self, pieces: Iterable[Piece]) -> "Located":
        """Return the text in which some pieces stand for something else."""
        text, origin = spelled(self.text, 0, len(self.text), pieces)
        return Located(text, array("L", (self.at[place] for place in origin)))


def joined(parts: Sequence[Located], between: str) -> Located:
    """Return texts one after another; what stands between two of them is where the second begins."""
    out: list[str] = []
    at = array("L")
    for number, part in enumerate(parts):
        if number:
            out.append(between)
            at.extend([part.at[0]] * len(between))
        out.append(part.text)
        at.extend(part.at[: len(part.text)])
    at.append(parts[-1].at[-1] if parts else 0)
    return Located("".join(out), at)
