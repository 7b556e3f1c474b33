"""Readers of prose: a file in, a `Story` out."""

from ludic_deepeval.sources.markdown import (
    Expectation,
    FrontMatter,
    Story,
    find_stories,
    read_story,
    real_file,
)

__all__ = ["Expectation", "FrontMatter", "Story", "find_stories", "read_story", "real_file"]
