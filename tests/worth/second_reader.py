"""§4.7 a second time, for comparison: brute force at every bracket and a scanner by characters, with nothing of the first.

Written from DESIGN's parsing rules, the paper's §4.7 and the table in docs/worth.md. Quadratic, and meant for short replies.
"""

import json
from dataclasses import dataclass
from typing import Any

NAMES = ("clue_sentence_ids", "selected_role_ids")
REST = ("episode_id", "clue_interpretations", "evidence_combination", "final_conclusion", "confidence")
SPACE = " \t\r\n"


@dataclass(frozen=True)
class Reading:
    form: str
    valid: bool
    clues: tuple[str, ...]
    roles: tuple[str, ...]
    compliant: bool


class Differ:
    """What a selection is that an object gives twice, not the same."""


def _pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in found:
        if key in NAMES and key in out and out[key] != value:
            value = Differ  # noqa: PLW2901  # from here on it is no array
        if not (key in NAMES and out.get(key) is Differ):
            out[key] = value
    return out


def _refuse(_: str) -> None:
    raise ValueError


DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_refuse)


def _from(text: str, at: int) -> tuple[Any, int] | None:
    try:
        return DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None


def _arrays(text: str, name: str) -> list[list[Any]]:
    """Each flat array behind a name, found by walking."""
    out = []
    at = -1
    while (at := text.find(name, at + 1)) >= 0:
        before = text[at - 1] if at else " "
        if before == "_" or (before.isascii() and before.isalnum()):
            continue
        i = at + len(name)
        if text[i : i + 1] in {'"', "'"}:
            i += 1
        while text[i : i + 1] and text[i] in SPACE:
            i += 1
        if text[i : i + 1] not in {":", "=", "："}:
            continue
        i += 1
        while text[i : i + 1] and text[i] in SPACE:
            i += 1
        if text[i : i + 1] != "[":
            continue
        j = i + 1
        while j < len(text) and text[j] not in "[]{}":
            j += 1
        if text[j : j + 1] != "]":
            continue
        try:
            found = json.loads(text[i : j + 1], parse_constant=_refuse)
        except ValueError:
            continue
        out.append(found)
    return out


def read(text: str, episode: str, sentences: set[str], roles: set[str], quota: int) -> Reading:
    body: dict[str, Any] | None = None
    form = "invalid"
    picked: dict[str, Any] = {}
    differ = False
    stripped = text.strip(SPACE)
    whole = _from(stripped, 0) if stripped.startswith("{") else None
    if whole and whole[1] == len(stripped):
        form, body = "direct", whole[0]
        picked = {name: body[name] for name in NAMES if name in body}
    else:
        answer = text.rpartition("</think>")[2]
        found: list[dict[str, Any]] = []
        at = 0
        while (at := answer.find("{", at)) >= 0:
            one = _from(answer, at)
            if one and all(name in one[0] for name in NAMES):
                found.append(one[0])
                at = one[1]
            else:
                at += 1
        if found and all(one[name] == found[0][name] for one in found for name in NAMES):
            form, body = "embedded", found[0]
            picked = {name: body[name] for name in NAMES}
        else:
            for name in NAMES:
                arrays = _arrays(answer, name)
                if arrays and all(one == arrays[0] for one in arrays):
                    picked[name] = arrays[0]
                elif arrays:
                    differ = True
    good = {
        name: isinstance(picked.get(name), list)
        and all(isinstance(one, str) and one in known for one in picked[name])
        and len(set(picked[name])) == len(picked[name])
        and len(picked[name]) <= most
        for name, known, most in ((NAMES[0], sentences, quota), (NAMES[1], roles, len(roles)))
    }
    valid = all(good.values()) and not differ
    clues, chosen = (tuple(picked[name]) for name in NAMES) if valid else ((), ())
    return Reading(
        form, valid, clues, chosen, valid and form == "direct" and _complete(body or {}, episode, clues)
    )


def _complete(body: dict[str, Any], episode: str, clues: tuple[str, ...]) -> bool:
    """The other five fields."""
    if set(body) != {*NAMES, *REST} or body["episode_id"] != episode:
        return False
    texts = [body["evidence_combination"], body["final_conclusion"]]
    sure = body["confidence"]
    number = not isinstance(sure, bool) and isinstance(sure, int | float) and 0 <= sure <= 100
    if not number or not all(isinstance(one, str) and one.strip() for one in texts):
        return False
    told = body["clue_interpretations"]
    if not isinstance(told, list) or len(told) != len(clues):
        return False
    about = []
    for one in told:
        if not isinstance(one, dict) or not isinstance(one.get("interpretation"), str):
            return False
        if not one["interpretation"].strip() or not isinstance(one.get("sentence_id"), str):
            return False
        about.append(one["sentence_id"])
    return sorted(about) == sorted(clues)
