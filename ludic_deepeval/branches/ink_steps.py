"""The steps of a compiled ink story: points in its tree of containers, and where each can lead.

A point is a container and a place in it. Steps follow the runtime: content in order, into a nested container and out at its end,
and past the end of a container only where it stands in the content of the one around it (what is only named is entered by
a divert and left by one, else the story has run out of content).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from ludic_deepeval.errors import clean

EdgeKind: TypeAlias = Literal["flow", "jump", "choice", "call", "end", "done", "return", "stop", "dead"]
_CONDITION, _INVISIBLE, _ONCE = 1, 8, 16
_MAX_CONTAINERS: Final = 500_000


class Point(NamedTuple):
    """A place in a container: before the item of that index."""

    container: int
    at: int


@dataclass(frozen=True, slots=True)
class Edge:
    """Where a step leads.

    Attributes:
        kind: On to the next step, away by a divert, and so on; `dead` when the place is not there.
        point: Where; None where the story ends or the place is not there.
        target: What the file calls it, for what is not there.
        label: A choice's text.
        conditional: Whether the step is taken on a condition.
        once: Whether a choice can be taken only once.
        fallback: Whether a choice is taken by itself when no other is left.
    """

    kind: EdgeKind
    point: Point | None = None
    target: str = ""
    label: str = ""
    conditional: bool = False
    once: bool = False
    fallback: bool = False


@dataclass(slots=True)
class _Container:
    content: list[Any]
    named: dict[str, int]
    path: str
    parent: int | None
    at: int | None  # its index in the parent's content; None when it is only named
    children: dict[int, int]  # containers in the content, by index
    strings: dict[int, int]  # the number of each string of the content in the file, by index


class Steps:
    """A compiled story's steps.

    Args:
        root: The root container.
        places: Where its strings stand in the file, in order.

    Attributes:
        passages: Where each passage begins, by name.
        starts: The same points.
        names: The name of each of these points.
        functions: Names of passages that are only called as functions.
        notes: What could not be followed.
    """

    def __init__(self, root: list[Any], places: Sequence[tuple[int, int]]) -> None:
        self._containers: list[_Container] = []
        self._places = places
        self._count = 0
        self.notes: list[str] = []
        self._build(root, "", None, None)
        self._edges: dict[Point, tuple[Edge, ...]] = {}
        self.names: dict[Point, str] = {}
        self.functions: set[str] = set()
        self._name_passages()
        self.passages = {name: point for point, name in self.names.items()}
        self.starts = set(self.names)

    # The tree

    def _build(self, content: list[Any], path: str, parent: int | None, at: int | None) -> int:
        number = len(self._containers)
        if number >= _MAX_CONTAINERS:
            raise RecursionError
        body = content[:-1] if content and (content[-1] is None or isinstance(content[-1], dict)) else content
        last = content[-1] if content and isinstance(content[-1], dict) else {}
        mine = _Container(body, {}, path, parent, at, {}, {})
        self._containers.append(mine)
        for index, item in enumerate(body):
            if isinstance(item, str):
                mine.strings[index] = self._next_string()
            elif isinstance(item, list):
                name = item[-1].get("#n") if item and isinstance(item[-1], dict) else None
                inner = self._build(
                    item, _join(path, name if isinstance(name, str) else index), number, index
                )
                mine.children[index] = inner
                if isinstance(name, str):
                    mine.named[name] = inner
            elif isinstance(item, dict):
                self._skip_strings(item)
        for name, item in last.items():
            self._next_string()
            if isinstance(item, list) and not name.startswith("#"):
                mine.named[name] = self._build(item, _join(path, name), number, None)
            elif isinstance(item, str):
                self._next_string()
        return number

    def _next_string(self) -> int:
        self._count += 1
        return self._count - 1

    def _skip_strings(self, item: dict[str, Any]) -> None:
        for value in item.values():
            self._next_string()
            if isinstance(value, str):
                self._next_string()
            elif isinstance(value, dict):
                self._skip_strings(value)
            elif isinstance(value, list):
                for one in value:
                    if isinstance(one, str):
                        self._next_string()

    # Names

    def _name_passages(self) -> None:
        """Passages begin at the root, at what is named at the top two levels, and wherever a divert or choice leads."""
        self.names[Point(0, 0)] = "(start)"
        targets: dict[Point, str] = {}
        called: set[Point] = set()
        jumped: set[Point] = set()
        for number, container in enumerate(self._containers):
            for item in container.content:
                if not isinstance(item, dict):
                    continue
                found = self._leads(number, item)
                if found is None:
                    continue
                point, kind, _ = found
                if point is None:
                    continue
                (called if kind == "function" else jumped).add(point)
                inside = point.at == 0 and self._containers[point.container].path
                local = kind == "jump" and self._is_local(number, point)
                if inside and not local:
                    targets[point] = self._containers[point.container].path
        for container_number, container in enumerate(self._containers):
            depth = container.path.count(".") + 1 if container.path else 0
            named = container.path and not container.path.rpartition(".")[2].isdigit()
            if named and container.at is None and depth <= 2 and not _is_helper(container.path):
                targets.setdefault(Point(container_number, 0), container.path)
        for point, name in sorted(targets.items()):
            if point not in self.names and not _is_helper(name):
                self.names[point] = name
        self.functions = {self.names[point] for point in called - jumped if point in self.names}

    def _is_local(self, number: int, point: Point) -> bool:
        """Whether a divert stays within a condition: to a branch `b` beside it, or to a numbered place."""
        path = self._containers[point.container].path
        return path.rpartition(".")[2] == "b" and self._containers[point.container].parent == number

    # Steps

    def edges(self, point: Point) -> tuple[Edge, ...]:
        """Where a step can lead."""
        if point not in self._edges:
            self._edges[point] = tuple(self._from(point))
        return self._edges[point]

    def _from(self, point: Point) -> Iterator[Edge]:
        container = self._containers[point.container]
        if point.at >= len(container.content):
            yield self._after(point.container)
            return
        item = container.content[point.at]
        onward = Edge("flow", Point(point.container, point.at + 1))
        if isinstance(item, list):
            yield Edge("flow", Point(container.children[point.at], 0))
        elif item == "end":
            yield Edge("end")
        elif item == "done":
            yield Edge("done")
        elif item in ("->->", "~ret"):
            yield Edge("return")
        elif isinstance(item, dict):
            yield from self._of_item(point, item, onward)
        else:
            yield onward

    def _of_item(self, point: Point, item: dict[str, Any], onward: Edge) -> Iterator[Edge]:
        found = self._leads(point.container, item)
        if found is None or self._is_echo(point, item):
            yield onward
            return
        target, kind, name = found
        if kind == "unknown":
            self.notes.append(f"where '-> {clean(name, limit=60)}' leads is decided while playing")
            yield Edge("return")
        elif kind == "choice":
            flags = item.get("flg", 0) if isinstance(item.get("flg", 0), int) else 0
            yield Edge(
                "choice" if target is not None else "dead",
                target,
                name,
                "" if flags & _INVISIBLE else self._label(point),
                bool(flags & (_CONDITION | _INVISIBLE)),
                bool(flags & _ONCE),
                bool(flags & _INVISIBLE) and not flags & _CONDITION,
            )
            yield onward
        elif kind in {"tunnel", "function"} or self._is_thread(point):
            yield Edge("call" if target is not None else "dead", target, name)
            yield onward
        else:
            conditional = bool(item.get("c"))
            yield Edge("jump" if target is not None else "dead", target, name, conditional=conditional)
            if conditional:
                yield onward

    def _is_thread(self, point: Point) -> bool:
        """Whether a divert opens a thread (`<- knot`), after which the story goes on here."""
        return point.at > 0 and self._containers[point.container].content[point.at - 1] == "thread"

    def _is_echo(self, point: Point, item: dict[str, Any]) -> bool:
        """Whether a divert only fetches the text of a choice (to a container `s`, and back by a variable)."""
        target = item.get("->")
        return (
            isinstance(target, str) and target.rpartition(".")[2] == "s" and self._returns_by_variable(point)
        )

    def _returns_by_variable(self, point: Point) -> bool:
        content = self._containers[point.container].content
        return any(isinstance(one, dict) and one.get("temp=") == "$r" for one in content[: point.at])

    def _after(self, number: int) -> Edge:
        """Where the end of a container leads."""
        container = self._containers[number]
        if container.parent is None or container.at is None:
            return Edge("stop")
        return Edge("flow", Point(container.parent, container.at + 1))

    def _leads(self, number: int, item: dict[str, Any]) -> tuple[Point | None, str, str] | None:
        """Where an item leads, what kind it is, and what the file calls the place; None for items that lead nowhere."""
        for key, kind in (("->", "jump"), ("*", "choice"), ("->t->", "tunnel"), ("f()", "function")):
            target = item.get(key)
            if not isinstance(target, str):
                continue
            if item.get("var"):
                return None if target == "$r" else (None, "unknown", target)
            return self._resolve(number, target), kind, target
        return None

    def _resolve(self, number: int, path: str) -> Point | None:
        parts = path.split(".")
        here = number
        if path.startswith("."):
            parts = parts[1:]
            if parts and parts[0] == "^":
                parts = parts[1:]
        else:
            here = 0
        for place, part in enumerate(parts):
            container = self._containers[here]
            if part == "^":
                if container.parent is None:
                    return None
                here = container.parent
            elif part in container.named:
                here = container.named[part]
            elif part.isdigit() and len(part) < 9 and int(part) <= len(container.content):
                if int(part) in container.children:
                    here = container.children[int(part)]
                elif place == len(parts) - 1:
                    return Point(here, int(part))
                else:
                    return None
            else:
                return None
        return Point(here, 0)

    # Words

    def text(self, point: Point) -> str | None:
        """What a step says to the player: words, or a line break."""
        content = self._containers[point.container].content
        if point.at >= len(content):
            return None
        item = content[point.at]
        if not isinstance(item, str) or self._is_evaluated(point):
            return None
        return "\n" if item == "\n" else item[1:] if item.startswith("^") else None

    def place(self, point: Point) -> tuple[int, int] | None:
        """Where a step's words stand in the file, with their quotation marks."""
        number = self._containers[point.container].strings.get(point.at)
        return self._places[number] if number is not None and number < len(self._places) else None

    def _is_evaluated(self, point: Point) -> bool:
        """Whether words stand between `str` and `/str`: a choice's text or a value."""
        for item in reversed(self._containers[point.container].content[: point.at]):
            if item == "/str":
                return False
            if item == "str":
                return True
        return False

    def _label(self, point: Point) -> str:
        """The text of a choice: what stands before it between `str` and `/str`, and the words that it shares with its body."""
        content = self._containers[point.container].content
        words: list[str] = []
        inside = False  # going backwards
        for index in range(point.at - 1, max(-1, point.at - 60), -1):
            item = content[index]
            if item == "ev" or (isinstance(item, dict) and "*" in item):
                break
            if item in ("/str", "str"):
                inside = item == "/str"
            elif not inside:
                continue
            elif isinstance(item, str) and item.startswith("^"):
                words.append(item[1:])
            elif isinstance(item, dict) and str(item.get("->", "")).rpartition(".")[2] == "s":
                shared = self._resolve(point.container, item["->"])
                if shared is not None:
                    inner = self._containers[shared.container].content
                    words.append(
                        "".join(one[1:] for one in inner if isinstance(one, str) and one.startswith("^"))
                    )
        return " ".join("".join(reversed(words)).split())

    def order(self, point: Point) -> tuple[int, int]:
        """The order in which steps stand in the file."""
        return point.container, point.at


def _join(path: str, part: str | int) -> str:
    return f"{path}.{part}" if path else str(part)


def _is_helper(path: str) -> bool:
    """Whether a name is one that the compiler made for the branch of a condition, a sequence or a shared text."""
    last = path.rpartition(".")[2]
    return last in {"b", "s"} or last.startswith("$r") or (last[:1] == "s" and last[1:].isdigit())
