"""JSON from strangers: no key twice, no NaN, and bounds on depth, on the number of values and on the length of strings."""

import json
from typing import Any, Final

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.files import decode
from ludic_deepeval.text import has_pile

MAX_DEPTH: Final = 32
MAX_VALUES: Final = 40_000  # keys and values: a thousand events have half as many
MAX_LIST: Final = 1000
MAX_STRING: Final = 500  # characters: a quote of 25 words is some 150
MAX_CHARACTERS: Final = 256 * 1024  # of all strings together


def load_json(data: bytes, file: object) -> Any:
    """Return the value of a JSON text.

    Raises:
        InputError: It is not UTF-8 or not JSON, holds a key twice, NaN or infinity, or is nested too deeply to be read.
    """

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        whole = dict(found)
        if len(whole) < len(found):
            seen: set[str] = set()
            twice = next(key for key, _ in found if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # add gives None
            raise InputError(file, f"the key {shown(twice)} is given twice", allowed="each key once")
        return whole

    def constant(name: str) -> None:
        raise InputError(file, f"found {name}", allowed="finite numbers")

    try:
        return json.loads(decode(data, file), object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise InputError(file, f"not valid JSON: {clean(str(error), limit=160)}") from None
    except RecursionError:
        raise InputError(file, "nested too deeply", allowed=f"at most {MAX_DEPTH} levels") from None
    except ValueError:  # Python reads no number of more than 4300 digits
        raise InputError(
            file, "a number of too many digits", allowed="whole numbers that a ledger has"
        ) from None


def require_bounded(value: object, file: object) -> None:
    """Refuse a JSON value that is larger than any reading of a short text.

    Raises:
        InputError: It is nested past `MAX_DEPTH`, has over `MAX_VALUES` keys and values, a list of over `MAX_LIST`, a string of over
            `MAX_STRING` characters, or strings of over `MAX_CHARACTERS` in all; or a string cannot be written in UTF-8
            or piles up combining marks.
    """
    rest: list[tuple[object, int]] = [(value, 1)]
    values = characters = 0
    while rest:
        part, depth = rest.pop()
        values += 1
        if isinstance(part, str):
            characters += len(part)
            _require_plain(part, file)
        elif isinstance(part, dict | list):
            _at_most(depth, MAX_DEPTH, "levels", file)
            if isinstance(part, dict):
                rest += ((key, depth + 1) for key in part)
                rest += ((inner, depth + 1) for inner in part.values())
            else:
                _at_most(len(part), MAX_LIST, "entries in a list", file)
                rest += ((inner, depth + 1) for inner in part)
        _at_most(values + len(rest), MAX_VALUES, "keys and values", file)
        _at_most(characters, MAX_CHARACTERS, "characters beside the text", file)


def _at_most(found: int, most: int, what: str, file: object) -> None:
    if found > most:
        raise InputError(file, f"more than {most:,} {what}", allowed=f"at most {most:,}")


def _require_plain(text: str, file: object) -> None:
    where = shown(text[:40])
    _at_most(len(text), MAX_STRING, f"characters in one string ({where})", file)
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise InputError(file, "half a surrogate pair", allowed="text that can be written in UTF-8")
    if has_pile(text):
        raise InputError(
            file, f"more than 30 combining marks in a row ({where})", allowed="text that can be read"
        )
