"""Quest templates as data: a YAML file that a team can add to or replace."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import Field, field_validator, model_validator

from ludic_deepeval.errors import InputError, shown
from ludic_deepeval.files import MAX_YAML_BYTES, decode, load_yaml, read_bytes
from ludic_deepeval.ledger import (
    Event,
    Flag,
    Frozen,
    Goal,
    Hook,
    Id,
    Mystery,
    Npc,
    Status,
    Text,
    Tie,
    Tier,
    load_model,
)

DEFAULT: Final = Path(__file__).parent / "templates.yaml"
GrowsFrom: TypeAlias = Literal["hook", "mystery", "goal", "npc"]
_OWNERS: Final[Mapping[str, type[Frozen]]] = {
    "hook": Hook,
    "mystery": Mystery,
    "goal": Goal,
    "npc": Npc,
    "event": Event,
}
_SPEAKS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "hook": ("hook", "npc", "event"),
    "mystery": ("mystery",),
    "goal": ("goal",),
    "npc": ("npc", "event"),
}
_PLAIN: Final = {
    "hook": ("text", "location"),
    "mystery": ("text",),
    "goal": ("text",),
    "npc": ("name", "aliases", "faction", "status", "tie"),
    "event": ("summary", "location", "factions"),
}
_HOLE: Final = re.compile(r"\{([^{}]*)\}")


class Needs(Frozen):
    """What the item must be. An empty list asks for nothing."""

    tier: tuple[Tier, ...] = ()
    tie: tuple[Tie, ...] = ()
    status: tuple[Status, ...] = ()
    active: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A text with the template's fields in braces."""

    text: str

    @property
    def names(self) -> frozenset[str]:
        """The fields that it speaks of."""
        return frozenset(_HOLE.findall(self.text))

    def filled(self, values: Mapping[str, str]) -> str | None:
        """The text with its fields filled in, once; None when one has no value."""
        if not self.names <= values.keys():
            return None
        return _HOLE.sub(lambda hole: values[hole[1]], self.text)


@dataclass(frozen=True, slots=True)
class Paths:
    """Where a field's value is looked for, in order; an optional one may be found nowhere."""

    paths: tuple[str, ...]
    optional: bool


class _Written(Frozen):
    """A template as the file has it."""

    id: Annotated[Id, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    kind: Text
    grows_from: GrowsFrom = Field(alias="from")
    needs: Needs = Needs()
    otherwise: Flag = False
    title: Text
    summary: Text
    fields: Annotated[dict[str, Text], Field(min_length=1, max_length=20)]

    @field_validator("fields")
    @classmethod
    def _named(cls, fields: dict[str, str]) -> dict[str, str]:
        for name in fields:
            if not re.fullmatch(r"[a-z][a-z_]{0,39}", name):
                raise ValueError(f"@{name}@found {shown(name)}; allowed: small letters and _")
        return fields

    @model_validator(mode="after")
    def _speaks_of_what_there_is(self) -> Self:
        for name, text in self.fields.items():
            for path in _paths(text).paths:
                owner, _, attribute = path.partition(".")
                allowed = [
                    "protagonist",
                    *(f"{one}.{field}" for one in _SPEAKS_OF[self.grows_from] for field in _PLAIN[one]),
                ]
                if path != "protagonist" and (
                    owner not in _SPEAKS_OF[self.grows_from] or attribute not in _PLAIN[owner]
                ):
                    raise ValueError(f"@fields.{name}@found {shown(path)}; allowed: {', '.join(allowed)}")
        for where in ("title", "summary"):
            for hole in sorted(Line(getattr(self, where)).names - self.fields.keys()):
                raise ValueError(f"@{where}@found {{{hole}}}; allowed: {', '.join(self.fields)}")
        return self


class _File(Frozen):
    """A file of templates."""

    version: Literal[1]
    templates: Annotated[tuple[_Written, ...], Field(min_length=1, max_length=100)]

    @model_validator(mode="after")
    def _ids(self) -> Self:
        seen: set[str] = set()
        for at, template in enumerate(self.templates):
            if template.id in seen:
                raise ValueError(f"@templates[{at}].id@the id {shown(template.id)} is used twice")
            seen.add(template.id)
        return self


@dataclass(frozen=True, slots=True)
class Template:
    """What a quest needs and what it takes from the ledger.

    Attributes:
        id: Its name.
        kind: What players would call it: Bounty, Ambush, Search.
        grows_from: hook, mystery, goal, or npc: somebody unresolved whom no open hook is about.
        needs: What the item and its person must be.
        otherwise: Whether it is for items alone that no template before it has taken.
        title: With fields in braces.
        summary: What there is to do, with fields in braces.
        fields: Where each value comes from.
    """

    id: str
    kind: str
    grows_from: GrowsFrom
    needs: Needs
    otherwise: bool
    title: Line
    summary: Line
    fields: Mapping[str, Paths]


def load_templates(path: Path = DEFAULT) -> tuple[Template, ...]:
    """Read a file of templates.

    Raises:
        InputError: The file cannot be read, or something in it is not what it may be; one line that names the place.
    """
    written = load_yaml(decode(read_bytes(path, limit=MAX_YAML_BYTES), path), path)
    if not isinstance(written, dict):
        raise InputError(path, "no mapping in this file", allowed="version and templates")
    return tuple(
        Template(
            one.id,
            one.kind,
            one.grows_from,
            one.needs,
            one.otherwise,
            Line(one.title),
            Line(one.summary),
            {name: _paths(text) for name, text in one.fields.items()},
        )
        for one in load_model(_File, written, path).templates
    )


@cache
def default_templates() -> tuple[Template, ...]:
    """The templates that come with the program."""
    return load_templates()


def _paths(text: str) -> Paths:
    """Read "hook.location | event.location ?"."""
    stripped = text.strip()
    optional = stripped.endswith("?")
    parts = stripped.removesuffix("?").split("|")
    return Paths(tuple(part.strip() for part in parts), optional)
