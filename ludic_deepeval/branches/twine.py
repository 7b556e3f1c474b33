"""What Twine 2 writes: published HTML (or an archive of it), and Twison's JSON. The text of a passage is read as in Twee."""

import html
import re
from pathlib import Path
from typing import Final

from ludic_deepeval.branches.body import BodyBuilder
from ludic_deepeval.branches.graph import Graph, Passage, Way
from ludic_deepeval.branches.twee import SPECIAL, can_stop, prose_pieces, ways_in
from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.sources.in_json import load, locate, text_at
from ludic_deepeval.sources.spelling import spelled
from ludic_deepeval.text import Prose, place_in

_STORY: Final = re.compile(r"<tw-storydata\b([^>]{0,20000})>")
_PASSAGE: Final = re.compile(r"<tw-passagedata\b([^>]{0,20000})>(.*?)</tw-passagedata>", re.DOTALL)
_ATTRIBUTE: Final = re.compile(r"""([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{0,31});")


def is_html(raw: str) -> bool:
    """Whether a text is a story that Twine 2 has published."""
    return _STORY.search(raw) is not None


def read_html(raw: str, path: Path) -> tuple[Graph, Prose]:
    """Read a story that Twine 2 has published."""
    head = _STORY.search(raw)
    attributes = _attributes(head[1]) if head else {}
    builder = BodyBuilder(raw)
    passages: dict[str, Passage] = {}
    notes: list[str] = []
    first: str | None = None
    for found in _PASSAGE.finditer(raw):
        own = _attributes(found[1])
        name = own.get("name", "").strip()
        line = place_in(raw, found.start()).line
        if own.get("pid") and own.get("pid") == attributes.get("startnode"):
            first = name
        text, at = spelled(raw, found.start(2), found.end(2), _entities(raw, found.start(2), found.end(2)))
        _add(passages, builder, notes, name, line, text, list(at), raw, aside=name in SPECIAL)
    return Graph(path, "Twine 2 HTML", passages, first, notes=tuple(notes)), builder.prose(path)


def _attributes(text: str) -> dict[str, str]:
    return {
        one[1]: html.unescape(one[2] if one[2] is not None else one[3]) for one in _ATTRIBUTE.finditer(text)
    }


def _entities(raw: str, start: int, end: int) -> list[tuple[int, int, str]]:
    return [(one.start(), one.end(), html.unescape(one[0])) for one in _ENTITY.finditer(raw, start, end)]


def _add(  # noqa: PLR0913  # where things go, and a passage
    passages: dict[str, Passage],
    builder: BodyBuilder,
    notes: list[str],
    name: str,
    line: int,
    text: str,
    at: list[int],
    raw: str,
    *,
    aside: bool = False,
    links: tuple[tuple[str, str], ...] = (),
) -> None:
    if name in passages:
        notes.append(f"line {line}: '{clean(name)}' is there twice; the first is kept")
        return
    if aside:
        passages[name] = Passage(name, line, aside=True)
        return
    ways = ways_in(text, lambda place: place_in(raw, at[place]).line, notes)
    known = {way.target for way in ways}
    ways += [Way(target, "choice", label, line) for label, target in links if target not in known]
    pieces = [(piece, [at[place] for place in places]) for piece, places in prose_pieces(text, 0)]
    start, end = builder.add(pieces)
    passages[name] = Passage(name, line, tuple(ways), stops=can_stop(tuple(ways)), start=start, end=end)


def is_twison(raw: str) -> bool:
    """Whether a text is JSON with passages as Twison writes them."""
    return raw.lstrip("\ufeff \t\r\n").startswith("{") and '"passages"' in raw


def read_twison(raw: str, path: Path) -> tuple[Graph, Prose]:
    """Read a story that Twison has written."""
    data = load(raw, path)
    listed = data.get("passages") if isinstance(data, dict) else None
    if not isinstance(listed, list):
        raise InputError(path, f"found {shown(listed)}", where="passages", allowed="a list of passages")
    builder = BodyBuilder(raw)
    passages: dict[str, Passage] = {}
    notes: list[str] = []
    first: str | None = None
    wanted = [("passages", number, "text") for number in range(len(listed))]
    places = locate(raw, wanted, path)
    for number, one in enumerate(listed):
        where = f"passages[{number}]"
        if (
            not isinstance(one, dict)
            or not isinstance(one.get("name"), str)
            or not isinstance(one.get("text"), str)
        ):
            raise InputError(path, f"found {shown(one)}", where=where, allowed="a passage with name and text")
        name = one["name"].strip()
        if "startnode" in data and str(one.get("pid")) == str(data["startnode"]):
            first = name
        text, at = text_at(raw, places["passages", number, "text"])
        listed_links = one.get("links")
        links = tuple(
            (str(link.get("name", "")), str(link["link"]).strip())
            for link in (listed_links if isinstance(listed_links, list) else [])
            if isinstance(link, dict) and isinstance(link.get("link"), str)
        )
        line = place_in(raw, places["passages", number, "text"]).line
        _add(passages, builder, notes, name, line, text, list(at), raw, aside=name in SPECIAL, links=links)
    if first is None and "startnode" not in data and listed:
        first = listed[0]["name"].strip()
        notes.append("no startnode: the story is taken to begin with its first passage")
    return Graph(path, "Twison JSON", passages, first, notes=tuple(notes)), builder.prose(path)
