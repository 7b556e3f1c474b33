"""Finding the lockfile of a story by its prose, and the story of a lockfile by its name."""

import re
from pathlib import Path
from typing import Final

from ludic_deepeval.files import MARKS_FOLDER, read_bytes
from ludic_deepeval.sources import Story, read_story
from ludic_deepeval.text import Prose

_HASH: Final = re.compile(rb'"source_sha256"\s*:\s*"([0-9a-f]{64})"')
SECOND: Final = ".second.ledger.json"  # another person's reading, for `ludic agree`


def is_lockfile(data: bytes) -> bool:
    """Whether JSON is a lockfile and not a bare ledger."""
    return _HASH.search(data) is not None


def story_of(lockfile: Path) -> Story | None:
    """The story that a lockfile lies beside."""
    stem = lockfile.name.removesuffix(SECOND).removesuffix(".ledger.json")
    if lockfile.parent.suffix == MARKS_FOLDER:
        from ludic_deepeval.sources.embedded import story_beside  # noqa: PLC0415  # Markdown needs it not

        return story_beside(lockfile, stem)
    path = lockfile.with_name(f"{stem}.md")
    whole = lockfile.with_name(stem)  # of `aqua.png` it is `aqua.png.ledger.json`
    if not path.is_file() and whole.suffix and whole.is_file():
        path = whole
    return read_story(path) if path.is_file() else None


_by_hash: dict[Path, dict[str, Path]] = {}


def find_lockfile(prose: Prose, folder: Path) -> Path | None:
    """Return the lockfile under a folder that was made from this prose, or None.

    A second reading (`NAME.second.ledger.json`) is no candidate. The folder is listed once a process, and again when
    a hash is not among those known.
    """
    home = folder.absolute()
    found = _by_hash.get(home, {}).get(prose.sha256)
    if found is None or not found.is_file():
        known: dict[str, Path] = {}
        for path in sorted(home.rglob("*.ledger.json")) if home.is_dir() else ():
            match = None if path.name.endswith(SECOND) else _HASH.search(read_bytes(path))
            if match:
                known.setdefault(match.group(1).decode("ascii"), path)
        _by_hash[home] = known
        found = known.get(prose.sha256)
    return found
