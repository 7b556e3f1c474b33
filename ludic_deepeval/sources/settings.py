"""`[[tool.ludic.sources]]`: which files hold stories, and where in them."""

import re
from fnmatch import fnmatchcase
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import AfterValidator, StringConstraints, model_validator

from ludic_deepeval.errors import InputError, shown
from ludic_deepeval.ledger import Frozen, Text, load_model
from ludic_deepeval.policy import PROFILE_NAME
from ludic_deepeval.sources.pointer import ANY, is_pointer, parse, related

MAX_SOURCES: Final = 100
_KINDS: Final = ("json", "yaml", "csv", "regex")


def _glob(text: str) -> str:
    parts = text.split("/")
    if text.startswith("/") or "\\" in text or ".." in parts or "" in parts or re.match(r"[A-Za-z]:", text):
        raise ValueError(
            f"found {shown(text)}; allowed: files in the folder of the settings, such as data/npcs/*.json or data/**/*.csv"
        )
    return text


def _some(globs: tuple[str, ...]) -> tuple[str, ...]:
    if not globs:
        raise ValueError("found an empty list; allowed: at least one name such as data/npcs/*.json")
    return globs


def _delimiter(text: str) -> str:
    if len(text) != 1 or text in '"\r\n':
        raise ValueError(f"found {shown(text)}; allowed: one character")
    return text


def _pointer(text: str) -> str:
    parse(text)
    return text


def _reference(text: str) -> str:
    if not is_pointer(text):
        raise ValueError(f"found {shown(text)}; allowed: a pointer such as ../id or /npcs/*/id")
    return text


def _profile(text: str) -> str:
    if not PROFILE_NAME.fullmatch(text) and not is_pointer(text):
        raise ValueError(f"found {shown(text)}; allowed: a profile's name, or a pointer")
    return text


Glob: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=400), AfterValidator(_glob)]
Pointer: TypeAlias = Annotated[str, StringConstraints(max_length=400), AfterValidator(_pointer)]
Reference: TypeAlias = Annotated[str, StringConstraints(max_length=400), AfterValidator(_reference)]


ProfileName: TypeAlias = Annotated[str, StringConstraints(max_length=400), AfterValidator(_profile)]


class Column(Frozen):
    """A value that stands in a column of the story's row."""

    column: Text


class _Source(Frozen):
    files: Annotated[tuple[Glob, ...], AfterValidator(_some)]

    def reads(self, path: str) -> bool:
        """Whether this source is about a file, given by its path from the settings' folder, with `/`."""
        return any(_covers(glob, path) for glob in self.files)


class TreeSource(_Source):
    """Stories in the values of JSON or YAML files."""

    kind: Literal["json", "yaml"]
    pointer: Pointer
    id: Reference | None = None
    title: Text | None = None
    profile: ProfileName | None = None
    bible: Text | None = None
    background_log: Reference | None = None
    expect: Reference | None = None
    intentional: Reference | None = None

    @model_validator(mode="after")
    def _references_lead_somewhere(self) -> Self:
        keys = parse(self.pointer)
        steps = tuple(0 if key == ANY else key for key in keys)
        for name in ("id", "title", "profile", "bible", "background_log", "expect", "intentional"):
            reference = getattr(self, name)
            if reference is not None and is_pointer(reference):
                try:
                    related(reference, keys, steps)
                except ValueError as error:
                    raise ValueError(f"@{name}@{error}") from None
        return self


class TableSource(_Source):
    """Stories in a column of CSV files."""

    kind: Literal["csv"]
    column: Text
    id: Text
    delimiter: Annotated[str, AfterValidator(_delimiter)] = ","
    title: Text | Column | None = None
    profile: ProfileName | Column | None = None
    bible: Text | Column | None = None


class CodeSource(_Source):
    """Stories in string literals or comments of code."""

    kind: Literal["regex"]
    pattern: Text
    unescape: Literal["none", "json", "c"] = "none"
    title: Text | None = None
    profile: ProfileName | None = None
    bible: Text | None = None


Source: TypeAlias = TreeSource | TableSource | CodeSource
_MODELS: Final[dict[str, type[TreeSource] | type[TableSource] | type[CodeSource]]] = {
    "json": TreeSource,
    "yaml": TreeSource,
    "csv": TableSource,
    "regex": CodeSource,
}


def sources_from(value: object, file: object) -> tuple[Source, ...]:
    """Read the list of sources.

    Args:
        value: What stands under `sources`.
        file: The file of the settings, for errors.

    Raises:
        InputError: It is no list of tables, or one of them is wrong.
    """
    at = "tool.ludic.sources"
    if not isinstance(value, list) or len(value) > MAX_SOURCES:
        raise InputError(
            file, f"found {shown(value)}", where=at, allowed=f"at most {MAX_SOURCES} tables [[{at}]]"
        )
    return tuple(_source(table, f"{at}[{n}]", file) for n, table in enumerate(value))


def _source(table: object, at: str, file: object) -> Source:
    if not isinstance(table, dict):
        raise InputError(file, f"found {shown(table)}", where=at, allowed="a table with files and kind")
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in _MODELS:
        raise InputError(file, f"found {shown(kind)}", where=f"{at}.kind", allowed=", ".join(_KINDS))
    plain: dict[str, Any] = {str(key).replace("-", "_"): value for key, value in table.items()}
    try:
        return load_model(_MODELS[kind], plain, file)
    except InputError as error:
        where = f"{at}.{error.where}" if error.where else at
        raise InputError(file, error.found, where=where, allowed=error.allowed, hint=error.hint) from None


def _covers(glob: str, path: str) -> bool:
    """Whether a path is one that a glob names: `**` is any number of folders, `*` and `?` stay within a name."""
    parts = glob.split("/")
    reached = _past_folders(parts, {0})
    for name in path.split("/"):
        there = {at for at in reached if at < len(parts) and parts[at] == "**"}
        there |= {at + 1 for at in reached - there if at < len(parts) and fnmatchcase(name, parts[at])}
        reached = _past_folders(parts, there)
    return len(parts) in reached


def _past_folders(parts: list[str], reached: set[int]) -> set[int]:
    for at, part in enumerate(parts):
        if part == "**" and at in reached:
            reached.add(at + 1)
    return reached
