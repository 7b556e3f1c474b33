"""Finding files from other programs in a folder: by their names first, and then by what they hold."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ludic_deepeval.files import MARKS_FOLDER

SEARCHED: Final = frozenset({".png", ".apng", ".charx", ".json", ".yaml", ".yml"})
BESIDE: Final = (".ledger.json", ".marks.yaml", ".about.yaml", ".marks.unsaved.yaml")
"""How the files end that lie beside a story."""


def known_in(folder: Path) -> list[Path]:
    """Return the cards and actors in a folder and below, in order. Plain text has to be named by itself.

    Passed over are hidden files, those whose names begin with `_`, marks, bibles, and links out of the folder.
    """
    home = folder.resolve()
    found: list[Path] = []
    for place, below, names in os.walk(folder):
        below[:] = [
            name
            for name in below
            if not name.startswith((".", "_")) and name != "bible" and not name.endswith(MARKS_FOLDER)
        ]
        found += (path for path in _in_one(Path(place), names, home))
    return sorted(found, key=lambda path: path.as_posix())


def _in_one(place: Path, names: list[str], home: Path) -> Iterator[Path]:
    for name in names:
        path = place / name
        if is_searched(path) and path.is_file() and path.resolve().is_relative_to(home):
            from ludic_deepeval.sources.known import holds_known  # noqa: PLC0415  # only where there is such a file

            if holds_known(path):
                yield path


def is_searched(path: Path) -> bool:
    """Whether a file of a folder is looked at by `known_in`."""
    return (
        path.suffix.lower() in SEARCHED
        and not path.name.startswith((".", "_"))
        and not path.name.lower().endswith(BESIDE)
    )
