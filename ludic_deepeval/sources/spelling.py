"""From a text as a file spells it to the text itself, with the place of every character."""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from ludic_deepeval.errors import InputError, shown
from ludic_deepeval.text import place_in

Piece: TypeAlias = tuple[int, int, str]
"""What stands for something else: its half-open offsets in the file, and what it stands for."""

_JSON: Final = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.)|\Z)", re.DOTALL
)
_JSON_CHARS: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_C: Final = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2}))|([0-3]?[0-7]{1,2})|(\r\n|.)|\Z)",
    re.DOTALL,
)
_C_CHARS: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "'": "'", '"': '"', "?": "?", "\\": "\\", "\n": "", "\r\n": "", "\r": "",
}  # fmt: skip
_LAST: Final = 0x10FFFF  # of Unicode
_UNFIT: Final = re.compile("[\x00\ud800-\udfff]")


def spelled(raw: str, start: int, end: int, pieces: Iterable[Piece]) -> tuple[str, "array[int]"]:
    """Return what `raw[start:end]` says, and for each of its characters, and for its end, the offset in `raw`.

    Args:
        raw: The decoded file.
        start: Where the text begins.
        end: Where it ends.
        pieces: What does not stand for itself, in order.
    """
    out: list[str] = []
    at = array("L")
    position = start
    for begin, stop, text in pieces:
        out += (raw[position:begin], text)
        at.extend(range(position, begin))
        at.extend([begin] * len(text))
        position = stop
    out.append(raw[position:end])
    at.extend(range(position, end + 1))
    return "".join(out), at


def _pair(high: str, low: str) -> str:
    return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))


def json_pieces(raw: str, start: int, end: int) -> Iterator[Piece]:
    """Yield the escapes between the quotation marks of a JSON string that a JSON reader has accepted."""
    for match in _JSON.finditer(raw, start, end):
        high, low, code, char = match.groups()
        text = _pair(high, low) if high else chr(int(code, 16)) if code else _JSON_CHARS.get(char, char)
        yield (*match.span(), text)


def escape_pieces(raw: str, start: int, end: int, kind: str, file: object) -> Iterator[Piece]:
    r"""Yield the escapes of a string literal in code.

    Args:
        raw: The decoded file.
        start: Where the literal's inside begins.
        end: Where it ends.
        kind: `none`, `json`, or `c`: \n \r \t \a \b \f \v \' \" \? \\, \0 to \377, \xHH, \uHHHH (two for a surrogate
            pair), \UHHHHHHHH, and a backslash at the end of a line, which joins it to the next.
        file: What to call the file in errors.

    Raises:
        InputError: An escape that the kind does not have.
    """
    if kind == "none":
        return
    for match in (_JSON if kind == "json" else _C).finditer(raw, start, end):
        text = _json_char(match) if kind == "json" else _c_char(match)
        if text is None:
            said = raw[match.start() : min(match.end(), end)]
            allowed = f"an escape of {'JSON' if kind == 'json' else 'C'}, or another `unescape`"
            raise InputError(
                file, f"the escape {shown(said)}", where=where(raw, match.start()), allowed=allowed
            )
        yield (*match.span(), text)


def _json_char(match: re.Match[str]) -> str | None:
    high, low, code, char = match.groups()
    return _pair(high, low) if high else chr(int(code, 16)) if code else _JSON_CHARS.get(char)


def _c_char(match: re.Match[str]) -> str | None:
    high, low, short, long, byte, octal, char = match.groups()
    if high:
        return _pair(high, low)
    if octal:
        return chr(int(octal, 8))
    if digits := short or long or byte:
        return chr(int(digits, 16)) if int(digits, 16) <= _LAST else None
    return _C_CHARS.get(char)


def where(raw: str, offset: int) -> str:
    """Say where a character stands, as errors do."""
    place = place_in(raw, offset)
    return f"line {place.line}, column {place.column}"


def require_text(text: str, at: Sequence[int], raw: str, file: object) -> None:
    """Refuse what escapes can spell and no file in UTF-8 can hold: NUL, and half of a surrogate pair."""
    if bad := _UNFIT.search(text):
        what = "a NUL character" if bad.group() == "\x00" else "half of a surrogate pair"
        raise InputError(file, what, where=where(raw, at[bad.start()]), allowed="text")
