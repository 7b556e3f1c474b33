"""Genre profiles (§5.10): what the four dimensions ask, and how advice is worded, in one kind of game.

A profile is a TOML file that a team can write and share::

    based-on = "cosy"                   # campaign, one-shot, cosy or submission
    about = "Harbour towns, in which …"
    calibration = ""                    # who measured the numbers, on what; empty: nobody has

    [numbers]                           # any number of `Policy`
    pcv-gate = 90

    [dimensions.immediacy]              # immediacy, gravity, linkage, divergence
    name = "Company this week"
    asks = "Is there a chance for company this week?"
    low = "…"                           # what a 1 looks like
    high = "…"                          # what a 9 looks like

    [words]                             # how advice and verdicts are worded
    add-hook = "one more errand for this week"

What a profile leaves out it has from the one that it is based on. It is named in `ludic.toml`: `[profiles]`,
`harbour = "profiles/harbour.toml"`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, get_args

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.files import read_toml
from ludic_deepeval.wording import WORDS, holes

BuiltIn: TypeAlias = Literal["campaign", "one-shot", "cosy", "submission"]
BUILT_IN: Final[tuple[BuiltIn, ...]] = get_args(BuiltIn)
DimensionName: TypeAlias = Literal["immediacy", "gravity", "linkage", "divergence"]
DIMENSIONS: Final[tuple[DimensionName, ...]] = get_args(DimensionName)

_FOLDER: Final = Path(__file__).parent / "profiles"
_MAX_BYTES: Final = 64 * 1024
_MAX_TEXT: Final = 400
_KEYS: Final = ("based-on", "about", "calibration", "numbers", "dimensions", "words")
_ASPECTS: Final = ("name", "asks", "low", "high")


@dataclass(frozen=True)
class Dimension:
    """What one of the four dimensions of an event asks in a genre.

    Attributes:
        name: What it is called there.
        asks: The question that a number from 1 to 10 answers.
        low: What a 1 looks like.
        high: What a 9 looks like.
    """

    name: str
    asks: str
    low: str
    high: str


@dataclass(frozen=True, eq=False)
class Genre:
    """A profile as its file has it, with what it takes from the one that it is based on.

    Attributes:
        name: What it is called in `ludic.toml` and front matter.
        built_in: The built-in profile whose gate and tiers it has.
        about: What kind of game it is for.
        calibration: Who measured its numbers, on what; empty when nobody has.
        numbers: Settings of `Policy` that it changes, as its file has them.
        dimensions: What the four dimensions ask.
        words: How advice and verdicts are worded, all of them (see `wording`).
        path: Its file.
    """

    name: str
    built_in: BuiltIn
    about: str
    calibration: str
    numbers: Mapping[str, Any]
    dimensions: Mapping[DimensionName, Dimension]
    words: Mapping[str, str]
    path: Path


def load_genre(name: str, path: Path | None = None) -> Genre:
    """Read a profile.

    Args:
        name: A built-in profile; with a path, what the team calls its own.
        path: The file of a team's profile.

    Raises:
        InputError: The file cannot be read, or a key, a name or a text in it is not what it may be.
    """
    return _read(name, path or _FOLDER / f"{name}.toml", own=path is None)


def _read(name: str, path: Path, *, own: bool) -> Genre:
    table = read_toml(path, limit=_MAX_BYTES)
    _known(table, _KEYS, path)
    base = _base(table, path, own=own)
    dimensions = dict(base.dimensions) if base else {}
    for key, part in _table(table, "dimensions", path).items():
        where = f"dimensions.{clean(str(key))}"
        if key not in DIMENSIONS:
            raise InputError(path, "unknown dimension", where=where, allowed=", ".join(DIMENSIONS))
        dimensions[key] = _dimension(part, dimensions.get(key), path, where)
    words = dict(base.words if base else WORDS)
    for key, value in _table(table, "words", path).items():
        words[key] = _words(key, value, path)
    numbers = _table(table, "numbers", path)
    if own:
        kind: BuiltIn = name  # type: ignore[assignment]  # a name of BUILT_IN, by `load_genre`
    else:
        assert base is not None  # noqa: S101  # `_base` refuses a team's profile without one
        kind, numbers = base.built_in, {**base.numbers, **numbers}
    return Genre(
        name,
        kind,
        _text(table, "about", path, default=base.about if base else ""),
        # A team that changes numbers has measured them itself or nobody has: what the base says is not theirs.
        _text(table, "calibration", path, default=base.calibration if base and own else ""),
        MappingProxyType(numbers),
        MappingProxyType(dimensions),
        MappingProxyType(words),
        path,
    )


def _base(table: dict[str, Any], path: Path, *, own: bool) -> Genre | None:
    wanted = table.get("based-on")
    if own and wanted is None:
        return None
    if wanted not in BUILT_IN:
        found = "missing" if wanted is None else f"found {shown(wanted)}"
        raise InputError(path, found, where="based-on", allowed=" or ".join(BUILT_IN))
    return load_genre(wanted)


def _known(table: Mapping[str, Any], keys: tuple[str, ...], path: Path, where: str = "") -> None:
    for key in table:
        if key not in keys:
            raise InputError(path, "unknown key", where=f"{where}{clean(str(key))}", allowed=", ".join(keys))


def _table(table: dict[str, Any], key: str, path: Path) -> dict[str, Any]:
    part = table.get(key, {})
    if not isinstance(part, dict):
        raise InputError(path, f"found {shown(part)}", where=key, allowed=f"a table [{key}]")
    return part


def _text(table: Mapping[str, Any], key: str, path: Path, *, default: str, where: str = "") -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or len(value) > _MAX_TEXT or not value.isprintable():
        allowed = f"one line of text, at most {_MAX_TEXT} characters"
        raise InputError(path, f"found {shown(value)}", where=f"{where}{key}", allowed=allowed)
    return value.strip()


def _dimension(part: object, base: Dimension | None, path: Path, where: str) -> Dimension:
    if not isinstance(part, dict):
        raise InputError(path, f"found {shown(part)}", where=where, allowed=f"a table [{where}]")
    _known(part, _ASPECTS, path, f"{where}.")
    values = {
        key: _text(part, key, path, default=getattr(base, key, ""), where=f"{where}.") for key in _ASPECTS
    }
    for key, value in values.items():
        if not value:
            raise InputError(path, "empty", where=f"{where}.{key}", allowed="one line of text")
    return Dimension(**values)


def _words(key: str, value: object, path: Path) -> str:
    where = f"words.{clean(str(key))}"
    if key not in WORDS:
        raise InputError(path, "unknown wording", where=where, allowed=", ".join(WORDS))
    text = _text({key: value}, key, path, default="", where="words.")
    if not text:
        raise InputError(path, "empty", where=where, allowed="one line of text")
    for hole in sorted(holes(text) - holes(WORDS[key])):
        allowed = ", ".join(f"{{{one}}}" for one in sorted(holes(WORDS[key]))) or "no braces"
        raise InputError(path, f"found {{{hole}}}", where=where, allowed=allowed)
    return text
