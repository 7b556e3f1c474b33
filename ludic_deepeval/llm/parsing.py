"""Reading a model's answer strictly: its thinking apart, a code fence taken off, and nothing mended."""

import json
import re
from typing import Any, Final, NoReturn

from ludic_deepeval.errors import ModelError, clean

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"
_FENCE: Final = re.compile(r"```(?:json|JSON)?[ \t]*\n")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def split_thinking(text: str) -> tuple[str, str]:
    """Return a model's thinking, tagged in front of its answer, and the answer.

    An answer that begins as JSON or as a fence has none, so that a quoted tag is not taken for one. Some servers leave out
    the opening tag. What is never closed is all thinking.
    """
    begin = text.lstrip()
    if begin.startswith(_OPEN):
        thought, closed, answer = begin.removeprefix(_OPEN).partition(_CLOSE)
        return thought.strip(), answer.strip() if closed else ""
    if begin[:1] not in {"{", "[", "`"} and _CLOSE in begin:
        thought, _, answer = begin.partition(_CLOSE)
        return thought.strip(), answer.strip()
    return "", begin.rstrip()


def parse_json(text: str, *, model: str = "the model") -> Any:
    """Return the one JSON value that an answer is.

    Thinking in front of it is left out, and one fence around the whole is taken off. Otherwise the answer must be JSON
    (RFC 8259) from end to end: no text around it, no key twice, no NaN, no half of a surrogate pair. Time is linear.

    Args:
        text: The answer.
        model: Who gave it, for the error.

    Raises:
        ModelError: `empty` or `malformed`.
    """
    _, answer = split_thinking(text)
    if fence := _FENCE.match(answer):
        if not answer.endswith("```") or len(answer) < fence.end() + 3:
            raise ModelError("malformed", model, "the answer's code fence is not closed")
        answer = answer[fence.end() : -3].strip()
    if not answer:
        raise ModelError("empty", model, "the answer is empty")
    try:
        value = json.loads(answer, object_pairs_hook=_object, parse_constant=_no_constant)
        if _SURROGATE.search(answer):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        why = "nested too deeply"
    except (
        ValueError
    ) as error:  # bad JSON, a key twice, NaN, an integer of a million digits, half a surrogate pair
        why = "half a surrogate pair" if isinstance(error, UnicodeError) else str(error)
    else:
        return value
    raise ModelError(
        "malformed", model, f"the answer is not JSON: {clean(why, limit=160)}; it begins '{clean(answer)}'"
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # add gives None
        raise ValueError(f"the key '{twice}' is given twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
