"""ink: the JSON that its compilers write, and `.ink` sources where Node and inkjs are there to compile them.

A compiled story is a tree of containers. Its steps are followed one by one (`ink_steps`), and put together again into passages: a
passage begins at a knot, a stitch, a gather or a choice's text, and ends where another begins. ink says `-> END` and `-> DONE`, so
to stop without them, with no choice left that is sure to be there, is running out of content.
"""

import re
import shutil
import subprocess
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ludic_deepeval.branches.body import BodyBuilder
from ludic_deepeval.branches.graph import Graph, Kind, Passage, Way, on_circles, ways_of
from ludic_deepeval.branches.ink_steps import Edge, Point, Steps
from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.sources.in_json import load, locate
from ludic_deepeval.sources.spelling import json_pieces, spelled
from ludic_deepeval.text import Prose

_VERSIONS: Final = range(18, 22)
_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
_KNOT: Final = re.compile(
    r"(?m)^[ \t]*={2,}[ \t]*(?:function[ \t]+)?\w|^[ \t]*-> ?\w|^[ \t]*[*+][ \t]*\S|^[ \t]*INCLUDE "
)
_MAX_STEPS: Final = 2_000_000
_COMPILE: Final = """
const {Compiler, CompilerOptions} = require('inkjs/full');
const fs = require('fs'), path = require('path');
const root = fs.realpathSync(process.argv[1]);
const inside = name => {
  const full = fs.realpathSync(path.join(root, name));
  if (full !== root && !full.startsWith(root + path.sep)) throw new Error('INCLUDE leads out of the folder: ' + name);
  return full;
};
const files = {ResolveInkFilename: inside, LoadInkFileContents: name => fs.readFileSync(name, 'utf8')};
const faults = [];
const options = new CompilerOptions(process.argv[2], [], false, (message, type) => { if (type === 2) faults.push(message); }, files);
try {
  const story = new Compiler(fs.readFileSync(inside(process.argv[2]), 'utf8'), options).Compile();
  if (faults.length) throw new Error(faults[0]);
  process.stdout.write(story.ToJson());
} catch (error) {
  process.stderr.write(String(faults[0] || error.message));
  process.exit(3);
}
"""


def is_compiled_ink(raw: str) -> bool:
    """Whether a text is a story that ink's compiler has written."""
    return '"inkVersion"' in raw and raw.lstrip("\ufeff \t\r\n").startswith("{")


def is_ink(raw: str, path: Path) -> bool:
    """Whether a text looks like ink's source: by its name, since much prose would pass for it, and by what stands in it."""
    return path.suffix.lower() == ".ink" and _KNOT.search(raw) is not None


def read_ink(_: str, path: Path) -> tuple[Graph, Prose]:
    """Compile a source with inkjs and read what comes out; the compiler reads the file itself, and what it includes.

    Raises:
        InputError: Node or inkjs is not there, or the source does not compile.
    """
    node = shutil.which("node")
    hint = "compile it to JSON (Inky: Export to JSON), or: npm install inkjs"
    if node is None:
        raise InputError(path, "ink's source needs Node with inkjs", hint=hint)
    folder = path.absolute().parent
    try:
        done = subprocess.run(  # noqa: S603  # a program of ours; names of files are arguments, never code
            [node, "-e", _COMPILE, str(folder), path.name],
            capture_output=True,
            check=False,
            timeout=60,
            cwd=folder,
        )
    except subprocess.TimeoutExpired:
        raise InputError(path, "did not compile within 60 seconds") from None
    said = done.stderr.decode("utf-8", "replace")
    if "Cannot find module 'inkjs" in said:
        raise InputError(path, "ink's source needs inkjs for Node", hint=hint)
    if done.returncode != 0:
        raise InputError(path, f"does not compile: {clean(said, limit=200)}")
    graph, prose = read_compiled_ink(done.stdout.decode("utf-8"), path)
    return Graph(path, "ink", graph.passages, graph.first, graph.must_end, graph.notes), prose


def read_compiled_ink(raw: str, path: Path) -> tuple[Graph, Prose]:
    """Read a compiled story.

    Raises:
        InputError: It is no story, of a version that is not known, or larger than can be followed.
    """
    data = load(raw, path)
    version = data.get("inkVersion") if isinstance(data, dict) else None
    if version not in _VERSIONS:
        allowed = f"{_VERSIONS.start} to {_VERSIONS.stop - 1}"
        raise InputError(path, f"found {shown(version)}", where="inkVersion", allowed=allowed)
    if not isinstance(data.get("root"), list):
        raise InputError(path, f"found {shown(data.get('root'))}", where="root", allowed="a list")
    try:
        steps = Steps(data["root"], _places(raw, path))
        return _graph(steps, raw, path)
    except RecursionError:
        raise InputError(path, "nested too deeply", allowed="a flatter story") from None


def _places(raw: str, path: Path) -> list[tuple[int, int]]:
    """Where the strings of the root stand, in the order of the file."""
    return [found.span() for found in _STRING.finditer(raw, locate(raw, [("root",)], path)[("root",)])]


def _graph(steps: Steps, raw: str, path: Path) -> tuple[Graph, Prose]:
    builder = BodyBuilder(raw)
    passages: dict[str, Passage] = {}
    spent: set[str] = set()  # that stop once every choice has been taken
    budget = _MAX_STEPS
    for name, start in steps.passages.items():
        region, budget = _region(steps, start, budget)
        if budget <= 0:
            raise InputError(path, "more steps than can be followed", allowed=f"at most {_MAX_STEPS:,}")
        exits = _exits(steps, start, region)
        begin, end = builder.add(_prose(steps, region, raw))
        aside = name in steps.functions or name == "global decl"
        if exits.stops_when_spent:
            spent.add(name)
        passages[name] = Passage(
            name, 0, exits.ways, exits.ends, exits.stops and not aside, begin, end, exits.returns, aside
        )
    graph = Graph(
        path, "ink (compiled)", passages, "(start)", must_end=True, notes=tuple(dict.fromkeys(steps.notes))
    )
    # Choices that can be taken once run out only where the story comes back to them.
    labels = {way.target: way.label for _, way in ways_of(graph) if way.kind == "choice" and way.label}
    for name, label in labels.items():
        if name in passages:
            passages[name] = replace(passages[name], title=f"“{label}”")
    for name in spent & on_circles(graph):
        passages[name] = replace(passages[name], stops=not passages[name].aside)
    return graph, builder.prose(path)


def _region(steps: Steps, start: Point, budget: int) -> tuple[list[Point], int]:
    """The steps from a passage's beginning up to where others begin."""
    seen = {start}
    order = []
    queue = deque([start])
    while queue and budget > 0:
        point = queue.popleft()
        order.append(point)
        budget -= 1
        for edge in steps.edges(point):
            target = edge.point
            if (
                target is not None
                and edge.kind in {"flow", "jump"}
                and target not in seen
                and target not in steps.starts
            ):
                seen.add(target)
                queue.append(target)
    return sorted(order, key=lambda point: (point != start, steps.order(point))), budget


@dataclass(frozen=True, slots=True)
class _Exits:
    """The ways out of a passage, and how it can end.

    Attributes:
        ways: In the order of the file.
        ends: Whether it can say that the story, or this part of it, is over.
        stops: Whether it can stop without saying so, every choice still there.
        stops_when_spent: Whether it can once its choices have been taken.
        returns: Whether it goes back to where it was called from.
    """

    ways: tuple[Way, ...]
    ends: bool
    stops: bool
    stops_when_spent: bool
    returns: bool


def _exits(steps: Steps, start: Point, region: list[Point]) -> _Exits:
    inside = set(region)
    leaving: list[tuple[Point, Edge]] = []
    ends = returns = False
    stopping: list[Point] = []
    for point in region:
        for edge in steps.edges(point):
            if edge.kind in {"end", "done"}:
                ends = True
            elif edge.kind == "return":
                returns = True
            elif edge.kind == "stop":
                stopping.append(point)
            elif edge.kind in {"choice", "call", "dead"} or edge.point not in inside or edge.point == start:
                leaving.append((point, edge))
    ways = []
    for point, edge in leaving:
        conditional = edge.conditional or not _unavoidable(steps, start, inside, point, edge)
        target = edge.target if edge.point is None else steps.names[edge.point]
        kind: Kind = "choice" if edge.kind == "choice" else "call" if edge.kind == "call" else "jump"
        ways.append(Way(target, kind, edge.label, 0, conditional))
    offered = {p for p, e in leaving if e.kind == "choice" and (not e.conditional or e.fallback)}
    lasting = {p for p, e in leaving if e.kind == "choice" and (e.fallback or not (e.conditional or e.once))}
    return _Exits(
        tuple(dict.fromkeys(ways)),
        ends,
        any(_reaches(steps, start, inside, point, offered) for point in stopping),
        any(_reaches(steps, start, inside, point, lasting) for point in stopping),
        returns,
    )


def _unavoidable(steps: Steps, start: Point, inside: set[Point], point: Point, edge: Edge) -> bool:
    """Whether every way through a passage comes by a step: no end of it is reached without."""
    if point == start:
        return all(
            other is edge or other.kind in {"choice", "call"} for other in steps.edges(point)
        ) or edge.kind in {
            "choice",
            "call",
        }
    seen, queue = {start}, [start]
    while queue:
        here = queue.pop()
        for other in steps.edges(here):
            if other.kind in {"choice", "call"}:
                continue
            if other.point is None or other.point not in inside or other.point == start:
                return False
            if other.point != point and other.point not in seen:
                seen.add(other.point)
                queue.append(other.point)
    others = [
        other for other in steps.edges(point) if other is not edge and other.kind not in {"choice", "call"}
    ]
    return edge.kind in {"choice", "call"} or not others


def _reaches(steps: Steps, start: Point, inside: set[Point], target: Point, without: set[Point]) -> bool:
    """Whether a step is come to without passing any of these."""
    if start in without:
        return False
    seen, queue = {start}, [start]
    while queue:
        here = queue.pop()
        if here == target:
            return True
        for edge in steps.edges(here):
            if (
                edge.kind in {"flow", "jump"}
                and edge.point in inside
                and edge.point not in seen
                and edge.point not in without
            ):
                seen.add(edge.point)
                queue.append(edge.point)
    return False


def _prose(steps: Steps, region: list[Point], raw: str) -> list[tuple[str, list[int]]]:
    """The lines that a player reads, with the place of each character."""
    lines: list[tuple[list[str], list[int]]] = [([], [])]
    for point in region:
        text = steps.text(point)
        if text is None:
            continue
        if text == "\n":
            lines.append(([], []))
            continue
        place = steps.place(point)
        if place is None:
            continue
        said, at = spelled(raw, place[0] + 1, place[1] - 1, json_pieces(raw, place[0] + 1, place[1] - 1))
        lines[-1][0].append(said[1:])
        lines[-1][1].extend(list(at)[1:-1])
    return [("".join(parts), places) for parts, places in lines if places]
