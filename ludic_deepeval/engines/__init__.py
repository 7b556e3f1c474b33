"""Ledgers and quests in the forms that game engines read (LudicMetrics §7): texts in memory, nothing written here.

Each engine is one function from stories to `{file name: text}`. Everything that a story says ends as data in these files,
never as code: quotes, braces and line breaks are escaped as the form wants it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.quests import Quest


@dataclass(frozen=True, slots=True)
class Exported:
    """A story to export.

    Attributes:
        key: What it is called in the engine: letters, digits and `_`, unique among the stories.
        title: What people call it.
        ledger: What it says.
        quests: What can be played of it.
    """

    key: str
    title: str
    ledger: FactLedger
    quests: tuple[Quest, ...]


Files: TypeAlias = Mapping[str, str]
Engine: TypeAlias = Callable[[tuple[Exported, ...]], Files]


def _unity(stories: tuple[Exported, ...]) -> Files:
    from ludic_deepeval.engines.unity import files  # noqa: PLC0415  # an export is to one engine

    return files(stories)


def _unreal(stories: tuple[Exported, ...]) -> Files:
    from ludic_deepeval.engines.unreal import files  # noqa: PLC0415

    return files(stories)


def _ink(stories: tuple[Exported, ...]) -> Files:
    from ludic_deepeval.engines.variables import ink  # noqa: PLC0415

    return ink(stories)


def _yarn(stories: tuple[Exported, ...]) -> Files:
    from ludic_deepeval.engines.variables import yarn  # noqa: PLC0415

    return yarn(stories)


def _foundry(stories: tuple[Exported, ...]) -> Files:
    from ludic_deepeval.engines.foundry import files  # noqa: PLC0415

    return files(stories)


def _articy(stories: tuple[Exported, ...]) -> Files:
    from ludic_deepeval.engines.articy import files  # noqa: PLC0415

    return files(stories)


ENGINES: Final[Mapping[str, Engine]] = {
    "unity": _unity,
    "unreal": _unreal,
    "ink": _ink,
    "yarn": _yarn,
    "foundry": _foundry,
    "articy": _articy,
}
