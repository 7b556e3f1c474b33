"""The verdict on one branching story: shape, contradictions along the paths, what is open at the endings."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ludic_deepeval.branches.along import Along, PathFault, faults_along
from ludic_deepeval.branches.graph import Graph
from ludic_deepeval.branches.loops import Loops, loops_along
from ludic_deepeval.branches.reading import is_branching, read_branches
from ludic_deepeval.branches.shape import Coverage, Flaw, flaws_of, play
from ludic_deepeval.errors import InputError, StaleError
from ludic_deepeval.ledger import FactLedger, load_model
from ludic_deepeval.lockfile import Lockfile, load_lockfile, verify
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.sources.markdown import Story

CODES: Final = {
    "no-start": "nothing says where the story begins",
    "dead-link": "a way leads to a passage that is not there",
    "unreachable": "no way leads to a passage",
    "endless": "no ending can be reached from a passage",
    "out-of-content": "a passage stops without an ending",
    "all-closed": "an ending leaves nothing open that was opened",
    "dead-then-active": "somebody dies and takes part later on a path",
    "injury-vanished": "a permanent injury is gone later on a path",
    "age-fell": "somebody is younger later on a path",
    "item-not-held": "a thing is used on a path while not held",
    "skill-not-had": "a skill is used on a path while not had",
    "against-log": "a passage contradicts the background log",
    "lore-violation": "a passage breaks a law of the Story Bible",
}
_WARNINGS: Final = frozenset({"all-closed"})


@dataclass(frozen=True, slots=True)
class BranchFinding:
    """One finding.

    Attributes:
        code: One of `CODES`.
        message: One line for people.
        passage: Where.
        line: In the file, from 1; 0 where it has no lines.
        possible: Whether it depends on a variable.
        path: The shortest path that shows it, the start first.
        shown: Passage, line and words of what contradicts what.
        fails: Whether it makes the check fail.
    """

    code: str
    message: str
    passage: str
    line: int
    possible: bool
    path: tuple[str, ...]
    shown: tuple[tuple[str, int, str], ...] = ()
    fails: bool = True


@dataclass(frozen=True)
class Verdict:
    """What was found in one branching story.

    Attributes:
        graph: Its passages.
        findings: By line.
        along: What was found along the paths; or why nothing was looked for.
        loops: What is open at the endings; or why nothing was looked for.
        coverage: What random play saw; None when nobody asked.
        said: Further lines for people.
    """

    graph: Graph
    findings: tuple[BranchFinding, ...]
    along: Along | Unscored
    loops: Loops | Unscored
    coverage: Coverage | None
    said: tuple[str, ...]

    @property
    def falls_short(self) -> bool:
        """Whether something found fails the check."""
        return any(finding.fails for finding in self.findings)


def find(paths: Iterable[Path]) -> list[Path]:
    """Return the branching stories that files and folders hold, each once; a file is taken whatever it is called.

    Raises:
        InputError: A path that is not there, or a folder without any.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            root = path.resolve()
            inside = sorted(
                one
                for one in path.rglob("*")
                if is_branching(one)
                and one.is_file()
                and one.resolve().is_relative_to(root)
                and not any(part.startswith(".") for part in one.relative_to(path).parts)
            )
            if not inside:
                raise InputError(path, "no branching stories here", allowed="files or folders of them")
        elif path.exists():
            inside = [path]
        else:
            raise InputError(path, "no such file or folder")
        for one in inside:
            found.setdefault(one.absolute(), one)
    return list(found.values())


def judge(path: Path, *, plays: int = 0, seed: int = 0, allowed: frozenset[str] = frozenset()) -> Verdict:
    """Judge one branching story.

    Args:
        path: Its file.
        plays: How often to play it at random.
        seed: What the plays are drawn with.
        allowed: Codes that do not fail the check.

    Raises:
        InputError: The file, its lockfile, its bible or what stands beside it cannot be used.
    """
    graph, story = read_branches(path)
    findings = [_of_flaw(flaw, allowed) for flaw in flaws_of(graph)]
    ledger = _ledger(story)
    said: list[str] = []
    along: Along | Unscored
    loops: Loops | Unscored
    if isinstance(ledger, Unscored):
        along = loops = ledger
        said.append(f"contradictions were not looked for: {ledger.reason}")
    else:
        along = faults_along(graph, ledger, _bible(story))
        loops = loops_along(graph, ledger)
        findings += [_of_fault(fault, graph, story, ledger, allowed) for fault in along.faults]
        findings += _closed(loops, graph, allowed)
        said += _said(along, loops)
    coverage = play(graph, plays=plays, seed=seed) if plays else None
    if coverage is not None:
        said.append(_coverage(coverage, graph))
    ordered = sorted(
        findings, key=lambda finding: (finding.line, finding.code, finding.path, finding.message)
    )
    return Verdict(graph, tuple(ordered), along, loops, coverage, tuple(said))


def _ledger(story: Story) -> FactLedger | Unscored:
    if not story.lockfile.exists():
        return Unscored("unread", f"not read yet. Mark it up: ludic annotate {story.path}. No AI needed.")
    lock: Lockfile = load_lockfile(story.lockfile)
    try:
        verify(lock, story.prose, story.lockfile)
    except StaleError:
        return Unscored(
            "unread", f"changed since it was read. Move its marks along: ludic relock {story.path}"
        )
    if not story.front.background_log:
        return lock.ledger
    log = (*lock.ledger.background_log, *story.front.background_log)
    return load_model(
        FactLedger, lock.ledger.model_copy(update={"background_log": log}).model_dump(), story.path
    )


def _bible(story: Story) -> Any:  # a Bible, whose models a story without one does not load
    if story.front.bible is None:
        return None
    from ludic_deepeval.bible import load_bible, resolve_bible  # noqa: PLC0415

    return load_bible(resolve_bible(story.front.bible, story.path.absolute().parent, story.path))


def _of_flaw(flaw: Flaw, allowed: frozenset[str]) -> BranchFinding:
    fails = flaw.code not in allowed and not (flaw.possible and flaw.code == "out-of-content")
    return BranchFinding(
        flaw.code, flaw.message, flaw.passage, flaw.line, flaw.possible, flaw.path, fails=fails
    )


def _of_fault(
    fault: PathFault, graph: Graph, story: Story, ledger: FactLedger, allowed: frozenset[str]
) -> BranchFinding:
    events = {event.id: event for event in ledger.events}
    shown = []
    for event_id, passage, quote in zip(fault.events, fault.passages, fault.quotes, strict=True):
        event = events.get(event_id)
        has_lines = event is not None and bool(event.evidence) and graph.passages[passage].line > 0
        line = story.prose.place(event.evidence[0].start).line if event is not None and has_lines else 0
        shown.append((passage if event else event_id, line, quote))
    last = shown[-1][1] or graph.passages[fault.passages[-1]].line
    return BranchFinding(
        fault.code,
        fault.message,
        fault.passages[-1],
        last,
        fault.possible,
        fault.path,
        tuple(shown),
        fails=fault.code not in allowed,
    )


def _closed(loops: Loops, graph: Graph, allowed: frozenset[str]) -> list[BranchFinding]:
    return [
        BranchFinding(
            "all-closed",
            f"at '{one.passage}' everything that was opened has been closed: nothing is left to play",
            one.passage,
            graph.passages[one.passage].line,
            one.possible,
            one.closed_path,
            fails="all-closed" not in allowed and "all-closed" not in _WARNINGS,
        )
        for one in loops.endings
        if one.closed_path
    ]


def _said(along: Along, loops: Loops) -> list[str]:
    lines = []
    if along.done < along.searches:
        lines.append(
            f"{along.searches - along.done} of {along.searches} things that can be contradicted were not followed: too many passages"
        )
    if along.unplaced:
        lines.append(
            f"{len(along.unplaced)} events stand in no passage and are on no path: {', '.join(along.unplaced[:8])}"
        )
    for ending in loops.endings if loops.hooks else ():
        low, high = (f"{float(share):.2f}" for share in ending.ucr)
        fewest, most = ending.open
        lines.append(
            f"ending '{ending.passage}': {fewest}–{most} threads open, UCR {low}–{high}"
            if (fewest, low) != (most, high)
            else f"ending '{ending.passage}': {most} thread{'s' * (most != 1)} open, UCR {high}"
        )
    if not loops.complete:
        lines.append(
            f"what is open at the endings was followed through {loops.states:,} states, not through all of them"
        )
    return lines


def _coverage(coverage: Coverage, graph: Graph) -> str:
    reachable = [name for name in graph.reachable if not graph.passages[name].aside]
    never = [name for name in reachable if name not in coverage.seen]
    cut = f", {coverage.cut} were cut short" if coverage.cut else ""
    unseen = f"; never seen: {', '.join(never[:8])}" + (" …" if len(never) > 8 else "") if never else ""
    return (
        f"{coverage.plays} random plays (seed {coverage.seed}): {len(reachable) - len(never)} of {len(reachable)} reachable"
        f" passages seen, {coverage.ended} plays came to an end{cut}{unseen}"
    )


def as_json_of(verdict: Verdict) -> dict[str, Any]:
    """The verdict for programs."""
    graph = verdict.graph
    return {
        "path": graph.path.as_posix(),
        "format": graph.format,
        "start": graph.first,
        "passages": len(graph.passages),
        "reachable": list(graph.reachable),
        "findings": [
            {
                "code": one.code,
                "message": one.message,
                "passage": one.passage,
                "line": one.line or None,
                "possible": one.possible,
                "path": list(one.path),
                "shown": [{"passage": p, "line": line or None, "quote": q} for p, line, q in one.shown],
                "fails": one.fails,
            }
            for one in verdict.findings
        ],
        "endings": None
        if isinstance(verdict.loops, Unscored)
        else [
            {"passage": one.passage, "open": list(one.open), "ucr": [float(share) for share in one.ucr]}
            for one in verdict.loops.endings
        ],
        "bound": None
        if isinstance(verdict.along, Unscored) or isinstance(verdict.loops, Unscored)
        else {
            "searches": verdict.along.searches,
            "searches_done": verdict.along.done,
            "states": verdict.loops.states,
            "complete": verdict.loops.complete,
        },
        "unscored": {"cause": verdict.along.cause, "reason": verdict.along.reason}
        if isinstance(verdict.along, Unscored)
        else None,
        "coverage": None
        if verdict.coverage is None
        else {
            "plays": verdict.coverage.plays,
            "seed": verdict.coverage.seed,
            "seen": verdict.coverage.seen,
            "ended": verdict.coverage.ended,
            "cut": verdict.coverage.cut,
        },
        "notes": list(graph.notes),
    }
