"""Twee 3: `:: Name [tags] {"position": …}`, then the passage, with links as Twine's story formats write them.

Links: `[[Target]]`, `[[Text->Target]]`, `[[Target<-Text]]`, `[[Text|Target]]`, each with an optional setter after `][`.
SugarCube's `<<goto>>`, `<<include>>`, `<<link>>` and Harlowe's `(go-to:)`, `(display:)`, `(link-goto:)` are followed where their
target is a plain string; others are noted.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ludic_deepeval.branches.body import BodyBuilder
from ludic_deepeval.branches.graph import Graph, Kind, Passage, Way
from ludic_deepeval.errors import clean
from ludic_deepeval.text import Prose, place_in

HEADER: Final = re.compile(r"^::[ \t]*(?P<name>(?:\\.|[^\\\[\]{}\r\n])*)(?P<rest>[^\r\n]*)$", re.MULTILINE)
_TAGS: Final = re.compile(r"\[((?:\\.|[^\\\]])*)\]")
_LINK: Final = re.compile(r"\[\[([^\[\]\r\n]{1,2000})(?:\]\[[^\[\]\r\n]{0,2000})?\]\]")
_QUOTED: Final = r"""(?:"((?:\\.|[^"\\\r\n])*)"|'((?:\\.|[^'\\\r\n])*)')"""
_MACRO: Final = re.compile(
    rf"<<(goto|include|link|button|return|display|actions)\b\s*(?:{_QUOTED})?\s*(?:{_QUOTED})?[^>\r\n]{{0,500}}>>"
    rf"|\((go-to|goto|display|link-goto):\s*(?:{_QUOTED})?\s*,?\s*(?:{_QUOTED})?[^)\r\n]{{0,500}}\)"
)
_OPENS: Final = re.compile(
    r"<<(/?)(?:if|elseif|else|switch|case|linkreplace|nobr|widget|script)\b[^>\r\n]{0,500}>>"
    r"|\((?:if|unless|else-if|else|elseif):[^)\r\n]{0,500}\)\s*\["
)
SPECIAL: Final = frozenset(
    {
        "StoryTitle", "StoryData", "StoryAuthor", "StorySubtitle", "StoryInit", "StoryMenu", "StoryBanner", "StoryCaption",
        "StoryInterface", "StoryShare", "StoryDisplayTitle", "StoryIncludes", "StorySettings", "StoryMetadata",
        "PassageReady", "PassageDone", "PassageHeader", "PassageFooter", "UserScript", "UserStylesheet",
    }
)  # fmt: skip
_SPECIAL_TAGS: Final = frozenset(
    {"script", "stylesheet", "widget", "Twine.private", "annotation", "init", "startup"}
)


def is_twee(text: str) -> bool:
    """Whether a text looks like Twee: a passage header on its first line that says anything."""
    return bool(HEADER.search(text)) and text.lstrip("\ufeff \t\r\n").startswith("::")


def read_twee(raw: str, path: Path) -> tuple[Graph, Prose]:
    """Read a Twee 3 file."""
    headers = list(HEADER.finditer(raw))
    builder = BodyBuilder(raw)
    passages: dict[str, Passage] = {}
    notes: list[str] = []
    start: str | None = None
    for number, header in enumerate(headers):
        name = _unescaped(header["name"]).strip()
        tags = _tags(header["rest"])
        begin = header.end()
        end = headers[number + 1].start() if number + 1 < len(headers) else len(raw)
        line = place_in(raw, header.start()).line
        if name == "StoryData":
            start = _start(raw[begin:end], notes) or start
        aside = name in SPECIAL or bool(tags & _SPECIAL_TAGS)
        if name in passages:
            notes.append(f"line {line}: '{clean(name)}' is there twice; the first is kept")
            continue
        passages[name] = passage_of(raw, name, begin, end, line, builder, notes, aside=aside)
    if start is None and "Start" in passages:
        start = "Start"
    return Graph(path, "Twee 3", passages, start, notes=tuple(notes)), builder.prose(path)


def passage_of(
    raw: str,
    name: str,
    begin: int,
    end: int,
    line: int,
    builder: BodyBuilder,
    notes: list[str],
    *,
    aside: bool,
) -> Passage:
    """Read the text of one passage, between two offsets of the file."""
    text = raw[begin:end]
    if aside:
        return Passage(name, line, aside=True)
    ways = tuple(ways_in(text, lambda at: place_in(raw, begin + at).line, notes))
    where = builder.add(prose_pieces(text, begin))
    return Passage(name, line, ways, stops=can_stop(ways), start=where[0], end=where[1])


def can_stop(ways: tuple[Way, ...]) -> bool:
    """A passage ends the story where no way out of it is sure to be there."""
    return not any(way.kind != "call" and not way.conditional for way in ways)


def ways_in(text: str, line_of: Callable[[int], int], notes: list[str]) -> list[Way]:
    """Return the ways out of a passage, in order."""
    found: list[tuple[int, Way]] = []
    inside = _conditions(text)
    for link in _LINK.finditer(text):
        label, target = _parts(link[1])
        found.append(
            (link.start(), Way(target, "choice", label, line_of(link.start()), inside(link.start())))
        )
    for macro in _MACRO.finditer(text):
        name = macro[1] or macro[6]
        strings = [one for one in macro.groups()[1:5] + macro.groups()[6:10] if one is not None]
        two = name in {"link", "button", "link-goto"}
        leads = strings[-1] if strings and (not two or len(strings) > 1 or name == "link-goto") else None
        if leads is None:
            if name in {"goto", "go-to", "include", "display"}:
                notes.append(
                    f"line {line_of(macro.start())}: where '{clean(macro[0], limit=60)}' leads is not written there"
                )
            continue
        kind: Kind = "call" if name in {"include", "display"} else "choice" if two else "jump"
        shown = str(strings[0]) if two and len(strings) > 1 else ""
        found.append(
            (macro.start(), Way(leads.strip(), kind, shown, line_of(macro.start()), inside(macro.start())))
        )
    return [way for _, way in sorted(found, key=lambda pair: pair[0])]


def _parts(inside: str) -> tuple[str, str]:
    """Text and target of what stands between [[ and ]]."""
    for sign, text_first in (("->", True), ("<-", False), ("|", True)):
        if sign in inside:
            head, _, tail = inside.rpartition(sign) if sign == "->" else inside.partition(sign)
            label, target = (head, tail) if text_first else (tail, head)
            return label.strip(), target.strip()
    return inside.strip(), inside.strip()


def _conditions(text: str) -> Callable[[int], bool]:
    """Return whether an offset stands inside a conditional macro."""
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    for tag in re.finditer(r"<<(/?)(if|switch|linkreplace)\b[^>\r\n]{0,500}>>", text):
        if tag[1]:
            if opened:
                begin = opened.pop()
                spans.append((begin, tag.end()))
        else:
            opened.append(tag.start())
    spans += [(begin, len(text)) for begin in opened]
    for tag in re.finditer(r"\((?:if|unless|else-if|elseif|else):[^)\r\n]{0,500}\)\s*\[", text):
        spans.append((tag.start(), _closing(text, tag.end())))
    return lambda at: any(begin <= at < end for begin, end in spans)


def _closing(text: str, at: int) -> int:
    """Where a hook of Harlowe's that begins before `at` is closed."""
    depth = 1
    for sign in re.finditer(r"[\[\]]", text[at : at + 20_000]):
        depth += 1 if sign[0] == "[" else -1
        if depth == 0:
            return at + sign.end()
    return len(text)


_MARKUP: Final = re.compile(
    r"<<[^>\r\n]{0,2000}>>|\((?:[a-z-]+):[^)\r\n]{0,2000}\)|/\*.*?\*/|/%.*?%/|<!--.*?-->|</?[A-Za-z][^<>\r\n]{0,500}>",
    re.DOTALL,
)


def prose_pieces(text: str, begin: int) -> list[tuple[str, list[int]]]:
    """Return the lines that a player reads, with the place of each character: macros left out, links as their text."""
    keep = bytearray(b"\x01" * len(text))
    for found in _MARKUP.finditer(text):
        keep[found.start() : found.end()] = bytes(found.end() - found.start())
    for link in _LINK.finditer(text):
        keep[link.start() : link.end()] = bytes(link.end() - link.start())
        label, _ = _parts(link[1])
        at = link.start(1) + link[1].find(label)
        keep[at : at + len(label)] = b"\x01" * len(label)
    pieces = []
    at = 0
    for line in text.splitlines(keepends=True):
        kept = [place for place in range(at, at + len(line)) if keep[place] and text[place] not in "\r\n"]
        if kept:
            pieces.append(("".join(text[place] for place in kept), [begin + place for place in kept]))
        at += len(line)
    return pieces


def _unescaped(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)


def _tags(rest: str) -> frozenset[str]:
    found = _TAGS.search(rest)
    return frozenset(found[1].split()) if found else frozenset()


def _start(text: str, notes: list[str]) -> str | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        notes.append("StoryData is not valid JSON; the story is taken to begin at 'Start'")
        return None
    start = data.get("start") if isinstance(data, dict) else None
    return start if isinstance(start, str) and start else None
