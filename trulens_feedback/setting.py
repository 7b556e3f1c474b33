"""A Story Bible made ready to be read against: where its names stand in a text, and what each clause of it says."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from ludic_deepeval.bible import Bible, Location, Node, NodeKind, Rule
from ludic_deepeval.errors import InputError
from ludic_deepeval.text import folded, han_share
from trulens_feedback.lexicon import clauses, denials, numbers, stems

_KEPT: Final = 4096  # sentences and clauses whose names are remembered
_ARTICLE: Final = re.compile(r"^(?:the|an?) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mention:
    """Where a text names a node: half-open offsets in the folded text."""

    node: Node
    kind: NodeKind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Said:
    """A clause of the bible.

    Attributes:
        node: The node in whose text it stands.
        text: The whole text: of the node, or of what became of it.
        clause: Its words.
        stems: Its content words.
        denials: How often it denies.
        numbers: The numbers in it.
        now: Whether it holds: the old text of a retired node does not.
    """

    node: Node
    text: str
    clause: str
    stems: frozenset[str]
    denials: int
    numbers: frozenset[str]
    now: bool


class Names:
    """Finds names in a text, the longest first, as whole words and in the bible's spelling.

    A capital is demanded where the name has one: "the Court" is not any court. The article may be another or missing.
    """

    def __init__(self, names: Iterable[str]) -> None:
        cores = sorted({_core(name) for name in names} - {""}, key=lambda core: (-len(core), core))
        latin = "|".join(re.escape(core) for core in cores if not han_share(core)[1])
        han = "|".join(re.escape(core) for core in cores if han_share(core)[1])
        parts = [rf"(?<!\w)(?:{latin})(?!\w)"] * bool(latin) + [han] * bool(han)
        self._pattern = re.compile("|".join(parts)) if parts else None

    def find(self, text: str) -> list[tuple[str, int, int]]:
        """Return each name with its offsets in the folded text; none overlap."""
        if self._pattern is None:
            return []
        return [(match.group(), *match.span()) for match in self._pattern.finditer(folded(text))]


def _core(name: str) -> str:
    return _ARTICLE.sub("", folded(name))


class Setting:
    """One version of a bible, ready to be read against.

    Args:
        bible: The bible.

    Raises:
        InputError: A bible without nodes: nothing could be told from it.
    """

    def __init__(self, bible: Bible) -> None:
        if next(bible.nodes(), None) is None:
            raise InputError(f"bible {bible.id}@{bible.version}", "it is empty", allowed="a bible with nodes")
        self.bible = bible
        self._nodes: dict[str, tuple[NodeKind, Node]] = {}
        for kind, _, node in bible.nodes():
            for name in node.names:
                core = _core(name)
                for form in (core, core[:1].upper() + core[1:], f"{core}s"):
                    self._nodes.setdefault(form, (kind, node))
        self._finder = Names(self._nodes)
        self.mentions = lru_cache(maxsize=_KEPT)(self._mentions)
        self.content = lru_cache(maxsize=_KEPT)(self._content)

    @property
    def id(self) -> str:
        """`BIBLE@VERSION`."""
        return f"{self.bible.id}@{self.bible.version}"

    def _mentions(self, text: str) -> tuple[Mention, ...]:
        """Return every place where a text names a node."""
        return tuple(
            Mention(self._nodes[name][1], self._nodes[name][0], start, end)
            for name, start, end in self._finder.find(text)
        )

    @cached_property
    def kinds(self) -> dict[str, NodeKind]:
        """The kind of each node, by id."""
        return {node.id: kind for kind, _, node in self.bible.nodes()}

    @cached_property
    def said(self) -> tuple[Said, ...]:
        """Every clause of the bible that has something in it to compare."""
        found = []
        for _, _, node in self.bible.nodes():
            texts = [(node.text, node.retired is None)]
            if node.retired is not None:
                texts.append((node.retired.text, True))
            for text, now in texts:
                for clause in clauses(text):
                    words = self.content(clause)
                    if len(words) >= 2:
                        found.append(
                            Said(
                                node,
                                text,
                                clause,
                                words,
                                denials(clause),
                                numbers(self.nameless(clause)),
                                now,
                            )
                        )
        return tuple(found)

    def nameless(self, text: str) -> str:
        """A folded text without the names of nodes."""
        plain, parts, at = folded(text), [], 0
        for mention in self.mentions(text):
            parts.append(plain[at : mention.start])
            at = mention.end
        return " ".join([*parts, plain[at:]])

    def _content(self, text: str) -> frozenset[str]:
        """The content words of a text without the names of nodes."""
        return frozenset(stems(self.nameless(text)))

    def holder(self, place: Location) -> Node | None:
        """The faction that a place belongs to."""
        found = self.bible.find(place.allegiance) if place.allegiance else None
        return found[1] if found else None

    def scope(self, rule: Rule) -> tuple[Location, ...] | None:
        """The places in which a law holds; None when it holds everywhere."""
        if not rule.places and rule.allegiance is None:
            return None
        return tuple(
            place
            for place in self.bible.locations
            if place.id in rule.places
            or (rule.allegiance is not None and place.allegiance == rule.allegiance)
        )
