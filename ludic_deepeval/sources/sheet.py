"""What is read from a file that holds one character or one text: its prose, and what to say about it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ludic_deepeval.branches.body import BodyBuilder
from ludic_deepeval.sources.about import about
from ludic_deepeval.sources.located import Located, joined
from ludic_deepeval.sources.markdown import FrontMatter, Story
from ludic_deepeval.sources.remarks import Remark

_BETWEEN: Final = "\n\n"


@dataclass(frozen=True, slots=True)
class Sheet:
    """The prose of a file in which it stands in fields.

    Attributes:
        raw: The decoded text that holds the fields.
        parts: The texts, in the order in which they are read.
        name: Whom it is about.
        remarks: What there is to say about how it was read.
        has_book: Whether it brings its own Story Bible.
    """

    raw: str
    parts: list[Located]
    name: str
    remarks: tuple[Remark, ...]
    has_book: bool = False

    def story(self, path: Path) -> Story:
        """Return it as a story, whose marks lie in `FILE.ledger.json` and whose front matter in `FILE.about.yaml`."""
        builder = BodyBuilder(self.raw)
        whole = joined(self.parts, _BETWEEN)
        builder.add([(whole.text, whole.at)])
        front: FrontMatter = about(path)
        if front.title is None and self.name:
            front = front.model_copy(update={"title": self.name})
        more: dict[str, Any] = {"book": path} if self.has_book and front.bible is None else {}
        return Story(path, builder.prose(path), front, remarks=self.remarks, **more)
