"""How much is open along the paths of a branching story (LudicMetrics §6.2): UCR at each ending, and dead ends.

Paths on which the same hooks are open when they meet in a passage go on as one. A story whose hooks are opened
independently of each other can still have too many such states; then the search stops at a bound and says so.
"""

from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from ludic_deepeval.branches.graph import Graph, Way
from ludic_deepeval.ledger import FactLedger, Hook

MAX_STATES: Final = 200_000
_State = tuple[str, int, int]  # passage, hooks open, hooks that have been opened


@dataclass(frozen=True, slots=True)
class Ending:
    """An ending with what can be open there.

    Attributes:
        passage: Where a path can end.
        open: The fewest and the most hooks that can be open.
        ucr: The lowest and the highest UCR (Eq 3), in [0, 1]; 0 where nothing is open.
        closed_path: The shortest path on which every hook that was opened has been closed; empty when there is none.
        possible: Whether that path depends on a variable.
    """

    passage: str
    open: tuple[int, int]
    ucr: tuple[Fraction, Fraction]
    closed_path: tuple[str, ...] = ()
    possible: bool = False


@dataclass(frozen=True, slots=True)
class Loops:
    """What is open at the endings.

    Attributes:
        endings: The nearest first.
        hooks: How many hooks stand in a passage.
        unplaced: The ids of hooks whose words stand in no passage.
        states: How many states were looked at.
        complete: Whether that was all of them; otherwise a figure may be further out than it says.
    """

    endings: tuple[Ending, ...]
    hooks: int
    unplaced: tuple[str, ...]
    states: int
    complete: bool


def loops_along(graph: Graph, ledger: FactLedger, *, max_states: int = MAX_STATES) -> Loops:
    """Follow what is opened and closed along the paths.

    A hook is opened in the passage of its first quote. One that the story closes is closed in the passage of its last
    quote, when it has more than one.
    """
    opened, closed, unplaced = _moves(graph, ledger)
    tier_one = sum(1 << number for number, hook in enumerate(ledger.hooks) if hook.tier == 1)

    def enter(name: str, state: tuple[int, int]) -> tuple[int, int]:
        now = state[0] | opened.get(name, 0)
        return now & ~closed.get(name, 0), state[1] | opened.get(name, 0)

    starts: list[_State] = [(name, *enter(name, (0, 0))) for name in graph.starts]
    came: dict[_State, tuple[_State | None, Way | None]] = dict.fromkeys(starts, (None, None))
    queue = deque(starts)
    at_end: dict[str, list[_State]] = {}
    complete = True
    while queue:
        state = queue.popleft()
        passage = graph.passages[state[0]]
        ways = [way for way in passage.ways if way.target in graph.passages]
        if passage.ends or passage.stops or not ways:
            at_end.setdefault(passage.id, []).append(state)
        for way in ways:
            after: _State = (way.target, *enter(way.target, state[1:]))
            if after in came:
                continue
            if len(came) >= max_states:
                complete = False
                continue
            came[after] = (state, way)
            queue.append(after)
    endings = tuple(_ending(name, states, came, tier_one) for name, states in at_end.items())
    return Loops(endings, len(ledger.hooks) - len(unplaced), unplaced, len(came), complete)


def _moves(graph: Graph, ledger: FactLedger) -> tuple[dict[str, int], dict[str, int], tuple[str, ...]]:
    """Per passage the hooks that it opens and closes, as bits, and the hooks that stand nowhere."""
    opened: dict[str, int] = {}
    closed: dict[str, int] = {}
    unplaced: list[str] = []
    for number, hook in enumerate(ledger.hooks):
        first = graph.at(hook.evidence[0].start) if hook.evidence else None
        if first is None:
            unplaced.append(hook.id)
            continue
        opened[first.id] = opened.get(first.id, 0) | 1 << number
        if (last := _closing(graph, hook)) is not None:
            closed[last] = closed.get(last, 0) | 1 << number
    return opened, closed, tuple(unplaced)


def _closing(graph: Graph, hook: Hook) -> str | None:
    if hook.open:
        return None
    passage = graph.at(hook.evidence[-1].start)
    return passage.id if passage is not None else None


def _ending(
    name: str, states: list[_State], came: dict[_State, tuple[_State | None, Way | None]], tier_one: int
) -> Ending:
    counts = [state[1].bit_count() for state in states]
    shares = [Fraction((state[1] & tier_one).bit_count(), state[1].bit_count() or 1) for state in states]
    shut = next((state for state in states if state[2] and not state[1]), None)
    path: list[str] = []
    possible = False
    at = shut
    while at is not None:
        path.append(at[0])
        before, way = came[at]
        possible = possible or (way is not None and way.conditional)
        at = before
    return Ending(
        name, (min(counts), max(counts)), (min(shares), max(shares)), tuple(reversed(path)), possible
    )
