"""What contradicts what along the paths of a branching story (LudicMetrics §6.2).

A contradiction is a pair: one event that fixes something and one that cannot come after it. What matters between the two is
only whether something on the way explains it, so each subject (a person, an item, an injury) is followed by itself through the
graph, and paths that meet in a passage go on as one: the work grows with passages and marks, not with paths.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ludic_deepeval.branches.graph import Graph, Paths, paths_from
from ludic_deepeval.branches.subjects import Subject, Token, subjects_of
from ludic_deepeval.consistency import check_consistency
from ludic_deepeval.faults import LORE, FaultCode, Past, quote_of
from ludic_deepeval.ledger import Event, FactLedger

if TYPE_CHECKING:
    from ludic_deepeval.bible import Bible

MAX_VISITS: Final = 5_000_000
"""How many passages may be looked at in all; what is left undone then is said."""


@dataclass(frozen=True, slots=True)
class PathFault:
    """Two passages that contradict each other on a path through both.

    Attributes:
        code: As in a story that does not branch.
        message: One line for people.
        events: The ids of the two events, the one that comes first on the path first; of a log entry or rule where that
            is what is contradicted.
        passages: Where they stand; for a log entry or rule the other's.
        quotes: Their words.
        path: The shortest path that shows it, from the start.
        possible: Whether the path depends on a variable, or comes back to a passage that may read otherwise by then.
    """

    code: FaultCode
    message: str
    events: tuple[str, str]
    passages: tuple[str, str]
    quotes: tuple[str, str]
    path: tuple[str, ...]
    possible: bool


@dataclass(frozen=True)
class Along:
    """What was found along the paths.

    Attributes:
        faults: By path length, then by code.
        unplaced: The ids of events whose words stand in no passage, so that they are on no path.
        searches: How many things that can be contradicted there are.
        done: How many of them were followed to the end before `MAX_VISITS`.
    """

    faults: tuple[PathFault, ...]
    unplaced: tuple[str, ...]
    searches: int
    done: int


def faults_along(graph: Graph, ledger: FactLedger, bible: "Bible | None" = None) -> Along:
    """Find what contradicts what along the paths.

    Args:
        graph: The story's passages.
        ledger: A ledger of its whole text; each event belongs to the passage that its first quote stands in.
        bible: The setting's rules.
    """
    placed, unplaced = place_events(graph, ledger)
    reached = graph.reachable
    search = _Search(
        graph, placed, Past(ledger, sorted(ledger.background_log, key=lambda entry: entry.phase))
    )
    faults = {(fault.code, fault.events): fault for fault in search.pairs(ledger)}
    for name, events in placed.items():
        if name in reached:
            for event in events:
                for fault in _alone(graph, name, event, ledger, bible):
                    faults.setdefault((fault.code, fault.events), fault)
    ordered = sorted(
        faults.values(), key=lambda fault: (len(fault.path), fault.path, fault.code, fault.events)
    )
    return Along(tuple(ordered), unplaced, search.searches, search.done)


def place_events(graph: Graph, ledger: FactLedger) -> tuple[dict[str, list[Event]], tuple[str, ...]]:
    """The events of each passage in the order of its words, and those that stand in none; hearsay is left out."""
    placed: dict[str, list[tuple[int, Event]]] = {}
    unplaced: list[str] = []
    for event in ledger.events:
        if event.asserted_by is not None:
            continue
        passage = graph.at(event.evidence[0].start) if event.evidence else None
        if passage is None:
            unplaced.append(event.id)
        else:
            placed.setdefault(passage.id, []).append((event.evidence[0].start, event))
    in_order = {
        name: [event for _, event in sorted(found, key=lambda pair: pair[0])]
        for name, found in placed.items()
    }
    return in_order, tuple(unplaced)


def _alone(
    graph: Graph, name: str, event: Event, ledger: FactLedger, bible: "Bible | None"
) -> Iterator[PathFault]:
    """What one event contradicts by itself wherever it is read: the log and the bible's rules."""
    if not ledger.background_log and (bible is None or not event.practices):
        return
    alone = ledger.model_copy(update={"events": (event,)})
    for fault in check_consistency(alone, bible).faults:
        if event.id in fault.events and fault.code in {"against-log", LORE}:
            path = tuple(step.passage for step in graph.reachable.to(name))
            yield PathFault(
                fault.code,
                fault.message,
                fault.events,
                (name, name),
                fault.quotes,
                path,
                not graph.reachable.is_sure(name),
            )


class _Search:
    """Follows each subject through the graph, within a bound."""

    def __init__(self, graph: Graph, placed: Mapping[str, list[Event]], past: Past) -> None:
        self._graph = graph
        self._placed = placed
        self._past = past
        self._visits = 0
        self.searches = 0
        self.done = 0

    def pairs(self, ledger: FactLedger) -> Iterator[PathFault]:
        for subject in subjects_of(ledger, self._placed):
            yield from self._follow(subject)

    def _follow(self, subject: Subject) -> Iterator[PathFault]:
        """Yield a fault for each pair of a fix and the nearest breaks that can be read after it."""
        tokens = subject.tokens
        stops = {name for name, found in tokens.items() if any(role != "fix" for role, _ in found)}
        before = self._graph.reachable
        if subject.fresh:
            before = paths_from(self._graph, self._graph.starts, lambda name: name not in stops)
        for name, found in tokens.items():
            if name not in before:
                continue
            for at, (role, event) in enumerate(found):
                if role != "fix" or (subject.fresh and any(other == "break" for other, _ in found[:at])):
                    continue
                self.searches += 1
                if self._visits >= MAX_VISITS:
                    continue
                self.done += 1
                for second, reached in self._after(name, at, tokens, stops):
                    if not self._past.explains(
                        subject.code, subject.about, event.phase, second[1].phase, own=subject.own
                    ):
                        yield self._fault(subject, (name, event), second, before, reached)

    def _after(
        self, name: str, at: int, tokens: Mapping[str, list[Token]], stops: set[str]
    ) -> Iterator[tuple[tuple[str, Event], Paths | None]]:
        """Yield the first breaks that can be read after a passage's token; None for the path when it is the same passage."""
        found = tokens[name]
        for role, event in found[at + 1 :]:
            if role == "break":
                yield (name, event), None
            if role != "fix":
                return
        reached = paths_from(self._graph, [name], lambda n: n == name or n not in stops)
        self._visits += len(reached.any)
        for other in reached:
            if other == name or other not in stops:
                continue
            role, event = next(token for token in tokens[other] if token[0] != "fix")
            if role == "break":
                yield (other, event), reached
        again = next((token for token in found[:at] if token[0] != "fix"), None)
        if (
            again is not None
            and again[0] == "break"
            and again[1] is not found[at][1]
            and self._comes_round(name, reached, stops)
        ):
            yield (name, again[1]), reached

    def _comes_round(self, name: str, reached: Paths, stops: set[str]) -> bool:
        return any(
            before in reached and (before == name or before not in stops) for before in self._graph.into[name]
        )

    def _fault(
        self,
        subject: Subject,
        first: tuple[str, Event],
        second: tuple[str, Event],
        before: Paths,
        reached: Paths | None,
    ) -> PathFault:
        (name, event), (other, breaks) = first, second
        path = [step.passage for step in before.to(name)]
        possible = not before.is_sure(name)
        if reached is not None:
            path += [name] if other == name else [step.passage for step in reached.to(other)][1:]
            possible = possible or other == name or not reached.is_sure(other)
        # A passage that was read before on this path may read otherwise the second time.
        again = reached is not None and len(set(path)) < len(path)
        round_again = " when it is come back to" if path.count(other) > 1 else ""
        head, middle, tail = subject.said
        return PathFault(
            subject.code,
            f"{head} in '{name}'{middle} in '{other}'{round_again}{tail}",
            (event.id, breaks.id),
            (name, other),
            (quote_of(event), quote_of(breaks)),
            tuple(path),
            possible or again,
        )
