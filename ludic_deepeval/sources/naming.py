"""What a story inside another file is called: its path `FILE#ID`, and the names of the files of its marks."""

import re
import unicodedata
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

_IN_PATHS: Final = frozenset("._-+@,=")
_PLAIN: Final = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
_TAKEN: Final = re.compile(r".*-[0-9a-f]{8}|.*\.second|(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
_SLUG_LENGTH: Final = 40


def virtual_path(file: Path, story_id: str) -> Path:
    """Return `FILE#ID`. What has a meaning in a path or in a shell is written as `%20`, so that it can be pasted."""
    said = "".join(
        char if char in _IN_PATHS or unicodedata.category(char)[0] in "LMN" else quote(char, safe="")
        for char in story_id
    )
    return file.with_name(f"{file.name}#{said}")


def split_path(path: Path) -> tuple[Path, str] | None:
    """Return the file and the id of `FILE#ID`; None for a path without an id."""
    name, mark, said = path.name.rpartition("#")
    return (path.with_name(name), unicodedata.normalize("NFC", unquote(said))) if name and mark else None


def stem_of(story_id: str) -> str:
    """Return how the files of a story's marks begin: the id where it is a plain lower-case name.

    Any other is spelt with what a file may be called everywhere, and a hash that tells it from its like: "Bram" from
    "bram", "a/b" from "a.b". A name that could be taken for one of those has a hash as well.
    """
    if _PLAIN.fullmatch(story_id) and not _TAKEN.fullmatch(story_id):
        return story_id
    slug = re.sub(r"[\W_]+", "-", story_id.lower()).strip("-")[:_SLUG_LENGTH].strip("-")
    return f"{slug or 'story'}-{sha256(story_id.encode('utf-8')).hexdigest()[:8]}"
