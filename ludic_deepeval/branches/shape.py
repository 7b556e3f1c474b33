"""What is wrong with a branching story's shape, whatever it says: arithmetic on the graph alone."""

import random
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ludic_deepeval.branches.graph import Graph, coming_back, ways_of

ShapeCode: TypeAlias = Literal["no-start", "dead-link", "unreachable", "endless", "out-of-content"]
_STEPS: Final = 1_000  # of one random play
_ALL_STEPS: Final = 5_000_000
MAX_PLAYS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing that is wrong with the shape.

    Attributes:
        code: What kind it is.
        passage: Where; empty when it is the whole story.
        line: In the file, from 1; 0 where it has no lines.
        message: One line for people.
        possible: Whether it depends on a variable, so that it may never show.
        path: The shortest path that shows it, the start first; empty where none leads there.
    """

    code: ShapeCode
    passage: str
    line: int
    message: str
    possible: bool = False
    path: tuple[str, ...] = ()


def flaws_of(graph: Graph) -> tuple[Flaw, ...]:
    """Find every flaw of a graph's shape, by line.

    - `no-start`: nothing says where the story begins, or it begins at a passage that is not there.
    - `dead-link`: a way leads to a passage that is not there.
    - `unreachable`: no way leads from the start to a passage.
    - `endless`: a passage can be reached, and from it no ending can.
    - `out-of-content`: a passage stops without an ending, in a format that has words for one.
    """
    if not graph.starts:
        said = (
            "nothing says where the story begins"
            if graph.first is None
            else f"it begins at '{graph.first}', which is not there"
        )
        return (Flaw("no-start", "", 0, said), *_dead_links(graph))
    found = [*_dead_links(graph), *_unreachable(graph), *_endless(graph), *_out_of_content(graph)]
    return tuple(sorted(found, key=lambda flaw: (flaw.line, flaw.code, flaw.passage)))


def _dead_links(graph: Graph) -> list[Flaw]:
    found = []
    for passage, way in ways_of(graph):
        if way.target not in graph.passages and way.target not in graph.elsewhere:
            said = f"'{way.label}' leads" if way.label else "a way leads"
            message = f"{said} to '{way.target}', which is not there{_near(graph, way.target)}"
            reached = passage.id in graph.reachable
            path = _names(graph, passage.id) if reached else ()
            found.append(Flaw("dead-link", passage.id, way.line, message, way.conditional, path))
    return found


def _near(graph: Graph, target: str) -> str:
    """A name that this one is probably a slip for."""
    from difflib import get_close_matches  # noqa: PLC0415  # most links lead somewhere

    if len(graph.passages) > 5_000:
        return ""
    close = get_close_matches(target, graph.passages, n=1, cutoff=0.8)
    return f"; is '{close[0]}' meant?" if close else ""


def _unreachable(graph: Graph) -> list[Flaw]:
    lost = [p for p in graph.passages.values() if not p.aside and p.id not in graph.reachable]
    heads = {p.id for p in lost if not any(before != p.id for before in graph.into[p.id])}
    led_to = coming_from(graph, heads)
    found = []
    for passage in lost:
        if passage.id in heads:
            message = f"no way leads to '{passage.id}'"
        elif passage.id in led_to:
            before = next(
                name for name in graph.into[passage.id] if name not in graph.reachable and name != passage.id
            )
            message = (
                f"'{passage.id}' is led to only from passages that cannot be reached, such as '{before}'"
            )
        else:
            message = f"'{passage.id}' lies on a circle that no way leads into"
        found.append(Flaw("unreachable", passage.id, passage.line, message))
    return found


def _names(graph: Graph, target: str) -> tuple[str, ...]:
    return tuple(step.passage for step in graph.reachable.to(target))


def coming_from(graph: Graph, starts: set[str], known: frozenset[str] | set[str] = frozenset()) -> set[str]:
    """The passages that can be reached from any of these, these among them, without going through `known`."""
    found, queue = set(starts), list(starts)
    while queue:
        for way in graph.passages[queue.pop()].ways:
            if way.target in graph.passages and way.target not in found and way.target not in known:
                found.add(way.target)
                queue.append(way.target)
    return found


def _endless(graph: Graph) -> list[Flaw]:
    """One flaw for each group of passages that leads nowhere else, at the one that is reached first."""
    ends = {p.id for p in graph.passages.values() if p.ends or p.stops or p.returns or _leaves(graph, p.id)}
    home = coming_back(graph, ends)
    lost = [name for name in graph.reachable if name not in home]
    found: list[Flaw] = []
    told: set[str] = set()
    for name in lost:
        if name in told:
            continue
        group = coming_from(graph, {name}, told)
        told |= group
        others = "" if len(group) == 1 else f", as from {len(group) - 1} more after it"
        found.append(
            Flaw(
                "endless",
                name,
                graph.passages[name].line,
                f"from '{name}' no ending can be reached{others}",
                not graph.reachable.is_sure(name),
                _names(graph, name),
            )
        )
    return found


def _leaves(graph: Graph, name: str) -> bool:
    """Whether a way out of it leads nowhere, which is told as a dead link, or to another file."""
    return any(way.target not in graph.passages for way in graph.passages[name].ways)


def _out_of_content(graph: Graph) -> list[Flaw]:
    if not graph.must_end:
        return []
    found = []
    for name in graph.reachable:
        passage = graph.passages[name]
        if passage.stops and not passage.aside:
            sure = not passage.ways and graph.reachable.is_sure(name)
            said = "runs out of content" if sure else "may run out of content"
            found.append(
                Flaw(
                    "out-of-content",
                    name,
                    passage.line,
                    f"'{name}' {said}: it stops without an ending",
                    not sure,
                    _names(graph, name),
                )
            )
    return found


@dataclass(frozen=True, slots=True)
class Coverage:
    """What random play saw: a second opinion on what can be reached.

    Attributes:
        plays: How many plays there were; fewer than asked for when they were long.
        seed: What they were drawn with.
        seen: How often each passage was seen, by id; those never seen are not there.
        ended: How many plays came to an ending or stopped.
        cut: How many were cut after 1,000 steps.
    """

    plays: int
    seed: int
    seen: dict[str, int]
    ended: int
    cut: int


def play(graph: Graph, *, plays: int, seed: int) -> Coverage:
    """Play a story at random, every way out of a passage as likely as another, whatever it depends on.

    Raises:
        ValueError: `plays` is not from 0 to 100,000.
    """
    if not 0 <= plays <= MAX_PLAYS:
        raise ValueError(f"plays is {plays}; allowed: 0 to {MAX_PLAYS}")
    seen: dict[str, int] = {}
    played = ended = cut = steps = 0
    draw = random.Random(seed)  # noqa: S311  # a sample, not a secret
    while graph.starts and played < plays and steps < _ALL_STEPS:
        visited, whole, took = _one_play(graph, draw)
        played, steps = played + 1, steps + took
        ended += whole
        cut += not whole
        for name in visited:
            seen[name] = seen.get(name, 0) + 1
    return Coverage(played, seed, seen, ended, cut)


def _one_play(graph: Graph, draw: random.Random) -> tuple[set[str], bool, int]:
    """The passages of one play, whether it came to its end, and its steps."""
    name: str | None = draw.choice(graph.starts)
    visited: set[str] = set()
    for step in range(_STEPS):
        if name is None:
            return visited, True, step
        visited.add(name)
        passage = graph.passages[name]
        exits: list[str | None] = [way.target for way in passage.ways if way.target in graph.passages]
        if passage.ends or passage.stops or passage.returns or not exits:
            exits.append(None)
        name = draw.choice(exits)
    return visited, name is None, _STEPS
