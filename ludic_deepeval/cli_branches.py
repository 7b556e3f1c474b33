"""The command `ludic branches`: what is wrong with a branching story's shape, and what contradicts what along its paths."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import complain, print_json, say

if TYPE_CHECKING:
    from ludic_deepeval.branches.graph import Graph
    from ludic_deepeval.branches.report import Verdict

_SHOWN = 12  # passages of a path


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(branches)


def branches(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Branching stories, or folders of them.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    plays: Annotated[
        int,
        typer.Option(
            "--plays", metavar="N", help="Play at random N times, as a second opinion on what is seen."
        ),
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", help="What the plays are drawn with.")] = 0,
    allow: Annotated[
        list[str] | None, typer.Option("--allow", metavar="CODE", help="Findings that do not fail the check.")
    ] = None,
) -> None:
    """Check a branching story: dead links, what cannot be reached or ended, and contradictions along the paths."""
    from ludic_deepeval.branches.report import CODES, as_json_of, find, judge
    from ludic_deepeval.branches.shape import MAX_PLAYS

    allowed = frozenset(allow or ())
    for code in sorted(allowed - CODES.keys()):
        raise InputError("--allow", f"found '{clean(code)}'", allowed=", ".join(CODES))
    if not 0 <= plays <= MAX_PLAYS:
        raise InputError("--plays", f"found {plays}", allowed=f"0 to {MAX_PLAYS}")
    verdicts: list[Verdict] = []
    failed = False
    for path in find(paths):
        try:
            verdicts.append(judge(path, plays=plays, seed=seed, allowed=allowed))
        except InputError as error:
            complain(error)
            failed = True
    if as_json:
        print_json({"version": 1, "stories": [as_json_of(one) for one in verdicts]})
    else:
        for verdict in verdicts:
            for line in _lines(verdict):
                say(line)
    raise typer.Exit(2 if failed else 1 if any(verdict.falls_short for verdict in verdicts) else 0)


def _lines(verdict: "Verdict") -> Iterator[str]:
    graph = verdict.graph
    reached = sum(1 for _ in graph.reachable)
    whole = sum(not passage.aside for passage in graph.passages.values())
    ways = sum(len(passage.ways) for passage in graph.passages.values())
    yield clean(
        f"{graph.path}: {graph.format}, {whole} passages, {ways} ways, {reached} reachable", limit=800
    )
    for finding in verdict.findings:
        place = f"line {finding.line}: " if finding.line else ""
        maybe = ", possible" if finding.possible else ""
        yield clean(f"  {place}{finding.message} [{finding.code}{maybe}]", limit=1200)
        for passage, at, quote in finding.shown:
            where = f"line {at}" if at else passage
            yield clean(f"    {where}: “{quote}”", limit=600)
        if len(finding.path) > 1:
            yield clean(f"    path: {_path(verdict.graph, finding.path)}", limit=1500)
    for line in verdict.said:
        yield clean(f"  {line}", limit=1000)
    for note in graph.notes:
        yield clean(f"  note: {note}", limit=400)
    yield ""


def _path(graph: "Graph", path: tuple[str, ...]) -> str:
    names = [graph.passages[name].title or name for name in path]
    if len(names) <= _SHOWN:
        return " → ".join(names)
    half = _SHOWN // 2
    return " → ".join([*names[:half], f"… {len(names) - 2 * half} more …", *names[-half:]])
