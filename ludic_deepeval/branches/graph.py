"""The one model of a branching story that every format is read into: passages, and ways from one to another."""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["choice", "jump", "call"]
MAX_PASSAGES: Final = 100_000
MAX_WAYS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Way:
    """A way out of a passage.

    Attributes:
        target: The id of the passage that it leads to, whether there is one or not.
        kind: A choice of the player's, a jump, or a call that comes back (a tunnel, a function, a detour).
        label: What the player reads; empty for jumps.
        line: Where it stands in the file, from 1; 0 where the file has no lines.
        conditional: Whether it depends on a variable or on what has been seen: on some paths it is not there.
    """

    target: str
    kind: Kind = "choice"
    label: str = ""
    line: int = 0
    conditional: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a story that is read as a whole.

    Attributes:
        id: What ways call it.
        line: Where it begins in the file, from 1; 0 where the file has no lines.
        ways: In the order in which they stand.
        ends: Whether it can end the story in words that the format has for it, such as ink's `-> END`.
        stops: Whether it may end without such words: where a format has them this is running out of content, where it
            has none it is how stories end.
        start: Where its prose begins in the story's body, in characters.
        end: Where it ends.
        returns: Whether it goes back to where it was called from, such as an ink tunnel.
        title: What to call it on a path where its id says little: the words of the choice that leads to it.
        aside: Whether it holds no story: a script, a stylesheet, a function, a list of variables.
    """

    id: str
    line: int = 0
    ways: tuple[Way, ...] = ()
    ends: bool = False
    stops: bool = False
    start: int = 0
    end: int = 0
    returns: bool = False
    aside: bool = False
    title: str = ""


@dataclass(frozen=True)
class Graph:
    """A branching story.

    Attributes:
        path: Its file, or the first of them.
        format: What it was told to be: "Twee 3", "ink (compiled)" …
        passages: By id, in the order of the file.
        first: The id of the passage that it begins with; None when the file names none.
        entries: Where it may begin when it names none: in Yarn the game says, so every node that nothing leads to.
        elsewhere: Passages that lie in other files and that ways may lead to.
        must_end: Whether its format has words for an ending, so that to stop without them is running out of content.
        notes: What the reader could not follow, one line each.
    """

    path: Path
    format: str
    passages: Mapping[str, Passage]
    first: str | None
    must_end: bool = False
    notes: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    elsewhere: frozenset[str] = frozenset()

    @property
    def starts(self) -> tuple[str, ...]:
        """Where the story begins, if that is there; without one, where it may begin."""
        if self.first is None:
            return self.entries
        return (self.first,) if self.first in self.passages else ()

    @cached_property
    def reachable(self) -> "Paths":
        """The passages that can be reached from the start."""
        return paths_from(self, self.starts)

    @cached_property
    def into(self) -> Mapping[str, tuple[str, ...]]:
        """For each passage, those with a way to it."""
        found: dict[str, list[str]] = {name: [] for name in self.passages}
        for passage in self.passages.values():
            for way in passage.ways:
                if way.target in found:
                    found[way.target].append(passage.id)
        return {name: tuple(before) for name, before in found.items()}

    def at(self, offset: int) -> Passage | None:
        """The passage whose prose holds a character of the body."""
        starts, passages = self._by_start
        place = bisect_right(starts, offset) - 1
        if place < 0:
            return None
        passage = passages[place]
        return passage if offset < passage.end else None

    @cached_property
    def _by_start(self) -> tuple[list[int], list[Passage]]:
        with_prose = sorted(
            (one for one in self.passages.values() if one.end > one.start), key=lambda one: one.start
        )
        return [one.start for one in with_prose], with_prose


@dataclass(frozen=True, slots=True)
class Step:
    """How a passage was come to.

    Attributes:
        passage: Which.
        way: The way that led there; None at the start.
    """

    passage: str
    way: Way | None


@dataclass(frozen=True, slots=True)
class Paths:
    """The shortest ways from where a search began.

    Attributes:
        sure: For each passage that can be reached by ways that depend on nothing: the passage before and the way.
        any: The same by any ways.
    """

    sure: Mapping[str, tuple[str | None, Way | None]]
    any: Mapping[str, tuple[str | None, Way | None]]

    def __contains__(self, name: str) -> bool:
        """Whether a passage can be reached."""
        return name in self.any

    def __iter__(self) -> Iterator[str]:
        """The passages that can be reached, the nearest first."""
        return iter(self.any)

    def is_sure(self, name: str) -> bool:
        """Whether a passage can be reached whatever the variables hold."""
        return name in self.sure

    def to(self, name: str) -> tuple[Step, ...]:
        """The shortest path to a passage that depends on nothing, or where there is none the shortest; the start first."""
        came = self.sure if name in self.sure else self.any
        found: list[Step] = []
        at: str | None = name
        while at is not None:
            before, way = came[at]
            found.append(Step(at, way))
            at = before
        return tuple(reversed(found))


def paths_from(graph: Graph, starts: Iterable[str], enter: Callable[[str], bool] = lambda _: True) -> Paths:
    """Search breadth first, once by ways that depend on nothing and once by all.

    Args:
        graph: Where.
        starts: Where from.
        enter: Whether to go on from a passage that was come to; one that is not gone on from still counts as reached.
    """
    starts = list(starts)
    return Paths(
        _walk(graph, starts, enter, conditional=False), _walk(graph, starts, enter, conditional=True)
    )


def _walk(
    graph: Graph, starts: list[str], enter: Callable[[str], bool], *, conditional: bool
) -> dict[str, tuple[str | None, Way | None]]:
    came: dict[str, tuple[str | None, Way | None]] = dict.fromkeys(starts, (None, None))
    queue = deque(starts)
    while queue:
        name = queue.popleft()
        if not enter(name):
            continue
        for way in graph.passages[name].ways:
            if (
                way.target in graph.passages
                and way.target not in came
                and (conditional or not way.conditional)
            ):
                came[way.target] = (name, way)
                queue.append(way.target)
    return came


def coming_back(graph: Graph, targets: set[str]) -> set[str]:
    """The passages from which one of the targets can be reached, the targets among them."""
    found = set(targets)
    queue = deque(targets)
    while queue:
        for before in graph.into[queue.popleft()]:
            if before not in found:
                found.add(before)
                queue.append(before)
    return found


def on_circles(graph: Graph) -> set[str]:
    """The passages from which they themselves can be come back to (Tarjan's components, without recursion)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    waiting: set[str] = set()
    found: set[str] = set()
    for root in graph.passages:
        if root in number:
            continue
        work = [(root, iter(graph.passages[root].ways))]
        number[root] = lowest[root] = len(number)
        stack.append(root)
        waiting.add(root)
        while work:
            name, ways = work[-1]
            way = next(ways, None)
            if way is None:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[name])
                if lowest[name] == number[name]:
                    found |= _component(graph, name, stack, waiting)
            elif way.target in graph.passages and way.target not in number:
                number[way.target] = lowest[way.target] = len(number)
                stack.append(way.target)
                waiting.add(way.target)
                work.append((way.target, iter(graph.passages[way.target].ways)))
            elif way.target in waiting:
                lowest[name] = min(lowest[name], number[way.target])
    return found


def _component(graph: Graph, name: str, stack: list[str], waiting: set[str]) -> set[str]:
    """Take a component off the stack; return it when it is a circle."""
    part: set[str] = set()
    while name not in part:
        part.add(stack.pop())
    waiting -= part
    itself = any(way.target == name for way in graph.passages[name].ways)
    return part if len(part) > 1 or itself else set()


def ways_of(graph: Graph) -> Iterator[tuple[Passage, Way]]:
    """Yield every way with the passage that it leaves."""
    for passage in graph.passages.values():
        for way in passage.ways:
            yield passage, way
