"""From a reply to what it selected, by §4.7 and nothing beyond it: a reply is read as it stands and never repaired.

Three facts are kept apart: how the JSON was found (`direct`, `embedded`, `invalid`), whether the selections are valid,
and whether the reply keeps the whole protocol. The table of cases is in docs/worth.md.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple, NoReturn, TypeAlias

from pydantic_core import from_json

from ludic_deepeval.errors import shown
from worth_deepeval.episode import ROLE, SENTENCE, Episode

Json: TypeAlias = Literal["direct", "embedded", "invalid"]
CLUES: Final = "clue_sentence_ids"
ROLES: Final = "selected_role_ids"
FIELDS: Final = (
    "episode_id",
    CLUES,
    ROLES,
    "clue_interpretations",
    "evidence_combination",
    "final_conclusion",
    "confidence",
)
_ALL: Final = frozenset(FIELDS)
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
_LENIENT: Final = {
    CLUES: re.compile(r"(?<![A-Za-z0-9])S\s?([0-9]{1,4})(?![A-Za-z0-9])", re.IGNORECASE | re.ASCII),
    ROLES: re.compile(r"(?<![A-Za-z0-9])R\s?([0-9]{1,3})(?![A-Za-z0-9])", re.IGNORECASE | re.ASCII),
}
_MOST_LENIENT: Final = 200_000  # characters
# Bounds on work that leads nowhere: on decoding, as a multiple of the reply's length; on looking again, in characters.
_EFFORT: Final = 4
_PATIENCE: Final = 1_000_000


class Violation(NamedTuple):
    """One breach of the protocol.

    Attributes:
        code: A word for programs.
        message: A line for people.
    """

    code: str
    message: str


class Response(NamedTuple):
    """A reply as it was read.

    Attributes:
        json: How its JSON was found.
        clue_ids: The sentences that it selected, in its order; empty when they could not be read as valid.
        role_ids: The candidates; likewise.
        selections: Whether both selections were read and are valid; what is invalid is never scored.
        violations: Every breach of the protocol, selections first.
        body: The object, where there is one.
        lenient: What a generous reader would have made of it: reported in a column apart, never scored.
    """

    json: Json
    clue_ids: tuple[str, ...]
    role_ids: tuple[str, ...]
    selections: Literal["valid", "invalid"]
    violations: tuple[Violation, ...]
    body: dict[str, Any] | None
    lenient: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    @property
    def compliant(self) -> bool:
        """Whether it keeps the whole protocol: one JSON object and no other text, all seven fields, valid selections."""
        return self.json == "direct" and not self.violations


def read_response(text: str, episode: Episode) -> Response:
    """Read a reply.

    Args:
        text: The raw reply.
        episode: What it replies to.

    Returns:
        What it selected, or why that cannot be told. Linear in the reply's length; never raises over a reply.
    """
    form, body, arrays, ambiguous = _find(text)
    violations: list[Violation] = []
    if form == "invalid":
        violations.append(Violation("not-json", "the reply holds no JSON object with both selections"))
    elif form == "embedded":
        violations.append(Violation("text-around", "there is text beside the JSON object"))
    if ambiguous:
        violations.append(
            Violation("ambiguous", "there are several selections in the reply, and they differ")
        )
    clues, clue_faults = _selection(CLUES, arrays, episode)
    roles, role_faults = _selection(ROLES, arrays, episode)
    broken = [*clue_faults, *role_faults]
    violations += broken
    if body is not None:
        violations += _fields(body, episode, None if clue_faults else clues)
    valid = not broken and not ambiguous
    return Response(
        json=form,
        clue_ids=clues if valid else (),
        role_ids=roles if valid else (),
        selections="valid" if valid else "invalid",
        violations=tuple(violations),
        body=body,
        lenient=None if valid else (_leniently(CLUES, text, episode), _leniently(ROLES, text, episode)),
    )


# Finding the object


class _Found(NamedTuple):
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
            found[name] = _TWICE
    return found


class _Twice:
    """A selection that one object gives twice, differently."""


_TWICE: Final = _Twice()
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


def _quickly(text: str) -> dict[str, Any] | None:
    """Decode an object by pydantic's reader, twice as fast; None for what it does not take, some of which is JSON all the same."""
    try:
        found = from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError):  # TypeError: half a surrogate pair
        return None
    return found if isinstance(found, dict) else None


def _decode(text: str) -> Any:
    """Decode JSON, or return None for what is none."""
    try:
        return (_CAREFUL if _names_twice(text) else _PLAIN).decode(text)
    except (ValueError, RecursionError):
        return None


def _find(text: str) -> _Found:
    twice = _names_twice(text)
    opens = _OPENS.match(text)
    whole = None if twice or not opens else _quickly(text)
    first = _value_at(text, opens.end() - 1, twice=twice) if opens and whole is None else None
    if first and not text[first[1] :].strip(" \t\r\n"):
        whole = first[0]
    if whole is not None:
        arrays: dict[str, Any] = {name: whole[name] for name in (CLUES, ROLES) if name in whole}
        return _Found("direct", whole, arrays, ambiguous=False)
    answer = text[text.rfind(_THOUGHT) + len(_THOUGHT) :] if _THOUGHT in text else text
    broken = opens.end() - 1 if opens and first is None and answer is text else None
    objects = None if twice or broken is not None else _only_object(answer)
    if objects is None:
        objects = _plainly(answer, broken, twice=twice)
    if objects is None:
        objects = list(_objects(answer, broken))
    if objects and all(_same(one, objects[0]) for one in objects):
        body = objects[0]
        return _Found("embedded", body, {name: body[name] for name in (CLUES, ROLES)}, ambiguous=False)
    read: dict[str, Any] = {}
    differ = False
    for name in (CLUES, ROLES):
        found = list(_arrays(name, answer))
        if found and all(one == found[0] for one in found):
            read[name] = found[0]
        differ |= bool(found) and name not in read
    return _Found("invalid", None, read, ambiguous=differ)


def _only_object(text: str) -> list[dict[str, Any]] | None:
    """The object from the first thing that begins like one to the last bracket, when that is one; else None."""
    begin, end = _START.search(text), text.rfind("}") + 1
    if begin is None or end <= begin.start() or _START.search(text, end):
        return None
    found = _quickly(text[begin.start() : end])
    return [found] if found is not None and CLUES in found and ROLES in found else None


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
                    at = max(at, token.end())
                    break
            elif open_:
                open_[-1][1].add(token.group())
    return spans


def _arrays(name: str, text: str) -> Iterator[Any]:
    """Yield each complete flat array that stands behind the name of a selection."""
    for place in _ARRAY[name].finditer(text):
        found = _decode(place.group(1))
        if isinstance(found, list):
            yield found


# What was selected


def _selection(
    name: str, arrays: dict[str, Any], episode: Episode
) -> tuple[tuple[str, ...], list[Violation]]:
    what = "sentences" if name == CLUES else "candidates"
    if name not in arrays:
        return (), [Violation("no-selection", f"{name}: no array of {what} can be read")]
    given = arrays[name]
    if given is _TWICE:
        return (), [Violation("ambiguous", f"{name}: given twice, and they differ")]
    if not isinstance(given, list):
        return (), [Violation("wrong-type", f"{name}: found {shown(given)}; allowed: an array of ids")]
    known = episode.sentence_ids if name == CLUES else episode.role_ids
    if _in_order(given, known) and (name != CLUES or len(given) <= episode.quota.sentences):
        return tuple(given), []
    faults = []
    shape = SENTENCE if name == CLUES else ROLE
    seen: set[str] = set()
    for one in given:
        if not isinstance(one, str):
            faults.append(
                Violation("wrong-type", f"{name}: found {shown(one)}; allowed: ids in quotation marks")
            )
        elif one in seen:
            faults.append(Violation("duplicate", f"{name}: {shown(one)} is selected twice"))
        elif one in known:
            seen.add(one)
        elif shape.fullmatch(one):
            faults.append(Violation("unknown-id", f"{name}: {shown(one)} is none of the {len(known)} {what}"))
        else:
            faults.append(
                Violation(_shape_code(one), f"{name}: found {shown(one)}; allowed: ids such as {min(known)}")
            )
    if name == CLUES and len(given) > episode.quota.sentences:
        faults.append(
            Violation(
                "over-quota", f"{name}: {len(given)} selected, at most {episode.quota.sentences} allowed"
            )
        )
    return tuple(one for one in given if isinstance(one, str)), faults[:50]


def _in_order(given: list[Any], known: frozenset[str]) -> bool:
    """Whether all are known ids and none is there twice: most selections, which need no closer look."""
    try:
        chosen = frozenset(given)
    except TypeError:  # a list or an object among them
        return False
    return len(chosen) == len(given) and chosen <= known


def _shape_code(one: str) -> str:
    """What is wrong with an id that has not the shape of one."""
    if one != one.strip():
        return "blank-in-id"
    if any("０" <= char <= "９" or char in "ＳＲｓｒ" for char in one):
        return "full-width-id"
    if re.fullmatch(r"[sr][0-9]+", one, re.ASCII):
        return "lower-case-id"
    if re.fullmatch(r"[SR][0-9]+\s*(?:[-–—~～]|to|至|到)\s*[SR]?[0-9]+", one, re.ASCII):
        return "ranged-id"
    return "malformed-id"


def _leniently(name: str, text: str, episode: Episode) -> tuple[str, ...]:
    known = episode.sentence_ids if name == CLUES else episode.role_ids
    width = len(min(known)) - 1
    found: dict[str, None] = {}
    for place in _LENIENT[name].finditer(text[:_MOST_LENIENT]):
        one = f"{'S' if name == CLUES else 'R'}{int(place.group(1)):0{width}d}"
        if one in known:
            found[one] = None
    return tuple(found)


# The rest of the protocol


def _fields(body: dict[str, Any], episode: Episode, clues: tuple[str, ...] | None) -> Iterator[Violation]:
    if body.keys() != _ALL:
        for name in FIELDS:
            if name not in body and name not in (CLUES, ROLES):
                yield Violation("missing-field", f"{name}: missing")
        for name in body:
            if name not in _ALL:
                yield Violation("extra-field", f"{shown(name)}: not among the seven fields")
                break
    if "episode_id" in body and body["episode_id"] != episode.id:
        yield Violation(
            "wrong-episode", f"episode_id: found {shown(body['episode_id'])}; allowed: '{episode.id}'"
        )
    for name in ("evidence_combination", "final_conclusion"):
        if name in body and not (isinstance(body[name], str) and body[name].strip()):
            yield Violation("wrong-type", f"{name}: found {shown(body[name])}; allowed: text")
    confidence = body.get("confidence")
    if "confidence" in body and (
        isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 <= confidence <= 100
    ):
        yield Violation(
            "wrong-type", f"confidence: found {shown(confidence)}; allowed: a number from 0 to 100"
        )
    # What belongs to sentences that could not be read cannot be told.
    if (
        clues is not None
        and "clue_interpretations" in body
        and not _one_to_one(body["clue_interpretations"], clues)
    ):
        yield Violation("interpretations", "clue_interpretations: not one for each selected sentence")


def _one_to_one(given: object, clues: tuple[str, ...]) -> bool:
    if not isinstance(given, list) or len(given) != len(clues):
        return False
    try:
        ids = {one["sentence_id"] for one in given}
        texts = [str.strip(one["interpretation"]) for one in given]
    except (KeyError, TypeError):  # no objects of ids and texts
        return False
    return ids == set(clues) and all(texts)
