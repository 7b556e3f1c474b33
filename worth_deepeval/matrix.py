"""A control matrix: cue × modification × rewrite × definition, a whole design as one file for `worth run --matrix`."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.files import MAX_YAML_BYTES, decode, load_yaml, read_bytes
from worth_deepeval.conditions import CUES, Condition
from worth_deepeval.runner import RUNS, Cell

Factor: TypeAlias = Literal["cue", "definition", "disclosure", "roster"]
_LEVELS: Final[dict[Factor, str]] = {
    "cue": " or ".join(CUES),
    "definition": "given or withheld",
    "disclosure": "given or withheld",
    "roster": "as-written, or a whole number that shuffles it",
}


@dataclass(frozen=True)
class Matrix:
    """A whole design as one file.

    Attributes:
        cells: Every story under every combination of the prompt's factors.
        models: `provider:model`; empty where the command names them.
        runs: Repetitions of each cell.
        missing: Combinations of modification and rewrite of which there is no story.
    """

    cells: tuple[Cell, ...]
    models: tuple[str, ...]
    runs: int
    missing: tuple[tuple[str, str], ...]


def load_matrix(path: Path) -> Matrix:
    """Read a control matrix: cue × modification × rewrite × definition, with disclosure and roster where wanted.

    Raises:
        InputError: Something in it is not as it must be, or a combination stands in it twice.
    """
    data = load_yaml(decode(read_bytes(path, limit=MAX_YAML_BYTES), path), path)
    known = {"version", "stories", "models", "runs", *_LEVELS}
    if not isinstance(data, dict):
        raise InputError(path, f"found {shown(data)}", allowed=f"a mapping with {', '.join(sorted(known))}")
    if extra := [name for name in data if name not in known]:
        raise InputError(path, f"found {shown(extra[0])}", allowed=", ".join(sorted(known)))
    if data.get("version") != 1:
        raise InputError(path, f"found {shown(data.get('version'))}", where="version", allowed="1")
    stories = [_story(one, at, path) for at, one in enumerate(_listed(data, "stories", path))]
    if not stories:
        raise InputError(path, "nothing", where="stories", allowed="at least one episode")
    for name, count in Counter(stories).items():
        if count > 1:
            raise InputError(path, f"'{clean(str(name[0]))}' stands there twice", where="stories")
    conditions = [Condition()]
    for factor in _LEVELS:
        levels = _listed(data, factor, path) if factor in data else [None]
        if not levels or len(set(map(str, levels))) < len(levels):
            raise InputError(path, "no levels, or one twice", where=factor, allowed=_LEVELS[factor])
        conditions = [_with(one, factor, level, path) for one in conditions for level in levels]
    runs = data.get("runs", RUNS)
    models = _listed(data, "models", path) if "models" in data else []
    if not isinstance(runs, int) or isinstance(runs, bool) or runs < 1:
        raise InputError(path, f"found {shown(runs)}", where="runs", allowed="a whole number of at least 1")
    if not all(isinstance(one, str) for one in models):
        raise InputError(path, "no name of a model", where="models", allowed="provider:model")
    has = {(modification, rewrite) for _, modification, rewrite in stories}
    return Matrix(
        cells=tuple(
            Cell(episode, condition, modification, rewrite)
            for episode, modification, rewrite in stories
            for condition in conditions
        ),
        models=tuple(models),
        runs=runs,
        missing=tuple(
            (modification, rewrite)
            for modification in dict.fromkeys(one[1] for one in stories)
            for rewrite in dict.fromkeys(one[2] for one in stories)
            if (modification, rewrite) not in has
        ),
    )


def _listed(data: dict[str, Any], name: str, path: Path) -> list[Any]:
    found = data.get(name, [])
    if not isinstance(found, list):
        raise InputError(path, f"found {shown(found)}", where=name, allowed="a list")
    return found


def _story(one: object, at: int, path: Path) -> tuple[Path, str, str]:
    """An episode of the matrix, whose path is from the matrix's own folder."""
    where = f"stories[{at}]"
    if isinstance(one, str):
        one = {"episode": one}
    if not isinstance(one, dict) or not isinstance(one.get("episode"), str):
        raise InputError(path, f"found {shown(one)}", where=where, allowed="{episode, modification, rewrite}")
    names = [one.get(name, "none") for name in ("modification", "rewrite")]
    if len(one.keys() - {"episode", "modification", "rewrite"}) or not all(
        isinstance(name, str) and name.strip() for name in names
    ):
        raise InputError(path, "found other fields", where=where, allowed="episode, modification, rewrite")
    return path.parent / one["episode"], names[0], names[1]


def _with(condition: Condition, factor: Factor, level: object, path: Path) -> Condition:
    """A condition with one factor set; None leaves it as it is."""
    if level is None:
        return condition
    if factor == "cue" and level in CUES:
        return replace(condition, cue=level)
    if factor in {"definition", "disclosure"} and level in {"given", "withheld"}:
        return replace(condition, **{factor: level == "given"})  # type: ignore[arg-type]  # the factor's own field
    if factor == "roster" and level == "as-written":
        return condition
    if factor == "roster" and isinstance(level, int) and not isinstance(level, bool) and level >= 0:
        return replace(condition, roster_seed=level)
    raise InputError(path, f"found {shown(level)}", where=factor, allowed=_LEVELS[factor])
