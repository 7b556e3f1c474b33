"""Plain text files as stories; they may begin with front matter, as Markdown does."""

from pathlib import Path

from ludic_deepeval.sources.markdown import Story, front_matter_of
from ludic_deepeval.text import Prose


def read_plain(raw: str, path: Path) -> Story:
    """Read a text file: all of it is prose but for front matter at its top.

    Raises:
        InputError: Front matter that is wrong.
    """
    prose = Prose(raw, path)
    return Story(path, prose, front_matter_of(prose, path))
