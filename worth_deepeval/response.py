"""From a reply to what it selected, by §4.7 and nothing beyond it: a reply is read as it stands and never repaired.

Three facts are kept apart: how the JSON was found (`direct`, `embedded`, `invalid`), whether the selections are valid,
and whether the reply keeps the whole protocol. The table of cases is in docs/worth.md.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple

from ludic_deepeval.errors import shown
from worth_deepeval.episode import ROLE, SENTENCE, Episode
from worth_deepeval.finding import CLUES, ROLES, TWICE, Json, find

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
_LENIENT: Final = {
    CLUES: re.compile(r"(?<![A-Za-z0-9])S\s?([0-9]{1,4})(?![A-Za-z0-9])", re.IGNORECASE | re.ASCII),
    ROLES: re.compile(r"(?<![A-Za-z0-9])R\s?([0-9]{1,3})(?![A-Za-z0-9])", re.IGNORECASE | re.ASCII),
}
_MOST_LENIENT: Final = 200_000  # characters


class Violation(NamedTuple):
    """One breach of the protocol.

    Attributes:
        code: A word for programs.
        message: A line for people.
    """

    code: str
    message: str


_AROUND: Final = Violation("text-around", "there is text beside the JSON object")


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
    form, body, arrays, ambiguous = find(text)
    if body is not None and _keeps_all(
        body, episode
    ):  # nearly all replies, which need no list of what is wrong
        around = () if form == "direct" else (_AROUND,)
        return Response(form, tuple(body[CLUES]), tuple(body[ROLES]), "valid", around, body)
    violations: list[Violation] = []
    if form == "invalid":
        violations.append(Violation("not-json", "the reply holds no JSON object with both selections"))
    elif form == "embedded":
        violations.append(_AROUND)
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


# What was selected


def _selection(
    name: str, arrays: dict[str, Any], episode: Episode
) -> tuple[tuple[str, ...], list[Violation]]:
    what = "sentences" if name == CLUES else "candidates"
    if name not in arrays:
        return (), [Violation("no-selection", f"{name}: no array of {what} can be read")]
    given = arrays[name]
    if given is TWICE:
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


def _in_order(given: object, known: frozenset[str]) -> bool:
    """Whether it is a list of known ids and none is there twice: most selections, which need no closer look."""
    if not isinstance(given, list):
        return False
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


def _keeps_all(body: dict[str, Any], episode: Episode) -> bool:
    """Whether an object keeps everything that `_selection` and `_fields` look at, in one go."""
    if body.keys() != _ALL or body["episode_id"] != episode.id:
        return False
    clues, confidence = body[CLUES], body["confidence"]
    combined, concluded = body["evidence_combination"], body["final_conclusion"]
    return (
        _in_order(clues, episode.sentence_ids)
        and len(clues) <= episode.quota.sentences
        and _in_order(body[ROLES], episode.role_ids)
        and (type(confidence) is int or type(confidence) is float)
        and 0 <= confidence <= 100
        and type(combined) is str
        and type(concluded) is str
        and not (combined.isspace() or concluded.isspace() or combined == "" or concluded == "")
        and _one_to_one(body["clue_interpretations"], tuple(clues))
    )


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
        ids = tuple([one["sentence_id"] for one in given])
        texts = [one["interpretation"] for one in given]
        blank = any(map(str.isspace, texts))
        return (ids == clues or set(ids) == set(clues)) and not blank and all(texts)
    except (KeyError, TypeError):  # no objects of ids and texts
        return False
