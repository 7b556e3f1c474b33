"""Where in a reply the object stands, by §4.7: the whole of it, one object within, or the two selections alone.

Every search is bounded by the reply's length: 10 MB of brackets that lead nowhere take a few passes and no more.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple, NoReturn, TypeAlias

from pydantic_core import from_json

Json: TypeAlias = Literal["direct", "embedded", "invalid"]
CLUES: Final = "clue_sentence_ids"
ROLES: Final = "selected_role_ids"
_OPENS: Final = re.compile(r"[ \t\r\n]*\{")
_START: Final = re.compile(r'\{[ \t\r\n]*"')
# Groups: the name of a selection, the beginning of an object, its end; no group for any other string.
_TOKEN: Final = re.compile(rf'("(?:{CLUES}|{ROLES})")|"[^"\\]*+(?:\\.[^"\\]*+)*+"|(\{{)|(\}})', re.DOTALL)
_QUOTED: Final = (f'"{CLUES}"', f'"{ROLES}"')
# A search skips by the last letter, and few are as rare in a reply as this one.
_CLUES_BEGIN: Final = "clue_sentence_"
_ROLES_BEGIN: Final = "selected_role_"
_ARRAY: Final = {
    name: re.compile(
        rf'{name}(?<![A-Za-z0-9_]{name})["\']?[ \t\r\n]{{0,40}}[:=：][ \t\r\n]{{0,40}}(\[[^\[\]{{}}]{{0,20000}}\])'
    )
    for name in (CLUES, ROLES)
}
_THOUGHT: Final = "</think>"
# Bounds on work that leads nowhere: on decoding, as a multiple of the reply's length; on looking again, in characters.
_EFFORT: Final = 4
_PATIENCE: Final = 1_000_000


class Found(NamedTuple):
    """What stands in a reply.

    Attributes:
        form: How it was found.
        body: The object, where there is one.
        arrays: What stands under the name of each selection, if it could be read; whatever it is.
        ambiguous: Whether a selection is there several times, and not always the same.
    """

    form: Json
    body: dict[str, Any] | None
    arrays: dict[str, Any]
    ambiguous: bool


def _no_constant(name: str) -> NoReturn:
    """Refuse NaN and infinity, which JSON does not have."""
    raise ValueError(name)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Keep it in sight when a selection stands in one object twice."""
    found = dict(pairs)
    for name in (CLUES, ROLES):
        values = [value for key, value in pairs if key == name]
        if any(value != values[0] for value in values[1:]):
            found[name] = TWICE
    return found


class Twice:
    """A selection that one object gives twice, differently."""


class Broken:
    """What begins like an object and is none."""


TWICE: Final = Twice()
BROKEN: Final = Broken()
# What pydantic's reader says where the grammar of JSON is broken, which no other reader can take either.
_NO_JSON: Final = ("EOF while parsing", "trailing comma", "expected `", "key must be a string")
_PLAIN: Final = json.JSONDecoder(parse_constant=_no_constant)
_CAREFUL: Final = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_object)


def _names_twice(text: str) -> bool:
    """Whether one object may give a selection twice: strings are looked at, which is quick, and no structure."""
    return text.count(_CLUES_BEGIN) > 1 or text.count(_ROLES_BEGIN) > 1


def _value_at(text: str, start: int, *, twice: bool) -> tuple[Any, int] | None:
    """Decode the JSON value that begins there and say where it ends; None when there is none.

    Args:
        text: The text.
        start: Where.
        twice: Whether to look for a selection that is given twice, which costs time.
    """
    try:
        return (_CAREFUL if twice else _PLAIN).raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


def _quickly(text: str) -> dict[str, Any] | Broken | None:
    """Decode an object by pydantic's reader, twice as fast.

    Returns:
        The object; `BROKEN` where its first value is none in JSON; None for what that reader does not take, some of which is JSON
        all the same.
    """
    try:
        found = from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError) as error:  # TypeError: half a surrogate pair
        return BROKEN if str(error).startswith(_NO_JSON) else None
    return found if isinstance(found, dict) else None


def _decode(text: str) -> Any:
    """Decode JSON, or return None for what is none."""
    try:
        return (_CAREFUL if _names_twice(text) else _PLAIN).decode(text)
    except (ValueError, RecursionError):
        return None


def find(text: str) -> Found:
    """Look for the object in the three ways of §4.7, in their order. Never raises over a reply."""
    twice = _names_twice(text)
    opens = _OPENS.match(text)
    whole = None if twice or not opens else _quickly(text)
    first = _value_at(text, opens.end() - 1, twice=twice) if opens and whole is None else None
    if isinstance(whole, Broken):
        whole = None
    if first and not text[first[1] :].strip(" \t\r\n"):
        whole = first[0]
    if whole is not None:
        arrays: dict[str, Any] = {name: whole[name] for name in (CLUES, ROLES) if name in whole}
        return Found("direct", whole, arrays, False)
    answer = text[text.rfind(_THOUGHT) + len(_THOUGHT) :] if _THOUGHT in text else text
    broken = opens.end() - 1 if opens and first is None and answer is text else None
    objects = None if twice or broken is not None else _only_object(answer)
    if objects is None:
        objects = _plainly(answer, broken, twice=twice)
    if objects is None:
        objects = list(_objects(answer, broken))
    if objects and all(_same(one, objects[0]) for one in objects):
        body = objects[0]
        return Found("embedded", body, {name: body[name] for name in (CLUES, ROLES)}, ambiguous=False)
    read: dict[str, Any] = {}
    differ = False
    for name in (CLUES, ROLES):
        found = list(_arrays(name, answer))
        if found and all(one == found[0] for one in found):
            read[name] = found[0]
        differ |= bool(found) and name not in read
    return Found("invalid", None, read, ambiguous=differ)


def _only_object(text: str) -> list[dict[str, Any]] | None:
    """The object from the first thing that begins like one to the last bracket, when that is one; else None."""
    begin, end = _START.search(text), text.rfind("}") + 1
    if begin is None or end <= begin.start() or _START.search(text, end):
        return None
    found = _quickly(text[begin.start() : end])
    return [found] if isinstance(found, dict) and CLUES in found and ROLES in found else None


def _plainly(text: str, broken: int | None, *, twice: bool) -> list[dict[str, Any]] | None:
    """The objects of a reply in which all that begins like one is one, with both selections; None where it is not so simple.

    It finds what `_objects` finds, in the time that decoding takes.
    """
    found: list[dict[str, Any]] = []
    at = 0
    while (begin := _START.search(text, at)) is not None:
        read = None if begin.start() == broken else _value_at(text, begin.start(), twice=twice)
        if read is None or CLUES not in read[0] or ROLES not in read[0]:
            return None
        found.append(read[0])
        at = read[1]
    return found


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(one[CLUES] == other[CLUES] and one[ROLES] == other[ROLES])


def _objects(text: str, broken: int | None) -> Iterator[dict[str, Any]]:
    """Yield each complete object that has both selections and stands in no other such object.

    Args:
        text: The reply.
        broken: Where no object begins, as is known already.
    """
    # Whatever names both begins before the last of either: where nothing else does, nothing needs to be looked for.
    last = min(text.rfind(name) for name in _QUOTED)
    if not any(begin.start() != broken for begin in _START.finditer(text, 0, last + 1)):
        return
    end, effort = 0, _EFFORT * len(text)
    for start, stop in sorted(_spans(text), key=lambda span: (span[0], -span[1])):
        if start < end or start == broken or effort <= 0:
            continue
        effort -= stop - start
        found = _decode(text[start:stop])
        if isinstance(found, dict) and CLUES in found and ROLES in found:
            yield found
            end = stop


def _spans(text: str) -> list[tuple[int, int]]:
    """Where objects begin and end that name both selections, by brackets and strings alone: one pass over the text.

    Where prose leaves a quotation mark open, what follows is looked at again from the next beginning of an object; how
    often is bounded by the length, so that no reply takes more than a few passes.
    """
    spans: list[tuple[int, int]] = []
    tried: set[int] = set()
    at, effort = 0, len(text) + _PATIENCE
    while effort > 0 and (begin := _START.search(text, at)) is not None:
        at = begin.start() + 1
        if begin.start() in tried:
            continue
        effort -= len(text) - begin.start()
        open_: list[tuple[int, set[str]]] = []
        for token in _TOKEN.finditer(text, begin.start()):
            what = token.lastindex
            if what is None:
                continue
            if what == 2:
                open_.append((token.start(), set()))
                tried.add(token.start())
            elif what == 3:
                if not open_:
                    break
                start, named = open_.pop()
                if len(named) == len(_QUOTED):
                    spans.append((start, token.end()))
                if not open_:
                    break
            elif open_:
                open_[-1][1].add(token.group())
    return spans


def _array(text: str) -> Any:
    """Decode an array that holds no other and no object; None for what is none."""
    try:
        return from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError):
        return _decode(text)


def _arrays(name: str, text: str) -> Iterator[Any]:
    """Yield each complete flat array that stands behind the name of a selection."""
    at = text.find(name)
    while at >= 0:
        place = _ARRAY[name].match(text, at)
        found = _array(place.group(1)) if place else None
        if isinstance(found, list):
            yield found
        at = text.find(name, place.end() if place else at + len(name))
