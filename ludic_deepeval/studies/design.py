"""A study as one TOML file: factors and levels, seeds, models by role, bible, policy, hypotheses (LudicMetrics §4.5–4.6).

::

    version = 1
    id = "gate"
    bible = "faerun@v1"
    seeds = "1-40"

    [roles]
    notary = "ollama:qwen3:14b"
    tester = "anthropic:claude-opus-4-7"
    judge = "anthropic:claude-sonnet-4-5"

    [factors.gate.ungated]
    gated = false
    [factors.gate.gated]
    gated = true
    [factors.generator.14B]
    architect = "ollama:qwen3:14b"

A cell is one level of each factor; what its levels set lies over what the file sets for all. Errors name the line.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    field_serializer,
    model_validator,
)

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.files import MAX_YAML_BYTES, decode, read_bytes
from ludic_deepeval.ledger import Flag, Frozen, Text, load_model
from ludic_deepeval.llm.names import parse_name
from ludic_deepeval.policy import PROFILES, Policy
from ludic_deepeval.settings import NUMBERS, policy_from
from ludic_deepeval.studies.hypotheses import Hypothesis, levels_named
from ludic_deepeval.studies.toml_lines import line_at, lines_of
from ludic_deepeval.trial import Arm, World
from ludic_deepeval.trial_plan import MAX_ITER, MAX_TOKENS, MOST_REQUEST, TEMPERATURE

MOST_TRIALS: Final = 100_000
MOST_SEEDS: Final = 10_000
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:+-]{0,39}")
_SEEDS: Final = re.compile(r"(\d{1,9})-(\d{1,9})")


def _name(text: str) -> str:
    """A name that can be part of a folder's on every system."""
    if not _NAME.fullmatch(text):
        raise ValueError(
            f"found {shown(text)}; allowed: a letter from A to Z or a digit, then up to 39 of these, blanks and . _ : + -"
        )
    return text


Name: TypeAlias = Annotated[str, AfterValidator(_name)]


def _profile(text: str) -> str:
    if text not in PROFILES:
        raise ValueError(f"found {shown(text)}; allowed: {', '.join(PROFILES)}")
    return text


Profile: TypeAlias = Annotated[str, AfterValidator(_profile)]


def _seeds(value: object) -> object:
    """`"1-40"` or a list of whole numbers."""
    if isinstance(value, str):
        match = _SEEDS.fullmatch(value.strip())
        if match is None or int(match[2]) < int(match[1]):
            raise ValueError(f'found {shown(value)}; allowed: "1-40", or a list of whole numbers')
        first, last = int(match[1]), int(match[2])
        if last - first >= MOST_SEEDS:
            raise ValueError(f"found {last - first + 1:,} seeds; allowed: at most {MOST_SEEDS:,}")
        return tuple(range(first, last + 1))
    if not isinstance(value, list | tuple) or not all(type(one) is int and one >= 0 for one in value):
        raise ValueError(f'found {shown(value)}; allowed: "1-40", or a list of whole numbers')
    if len(set(value)) < len(value):
        raise ValueError("found a seed twice; allowed: each seed once")
    return tuple(value)


def _model(text: str) -> str:
    try:
        parse_name(text, source="model")
    except InputError as error:
        raise ValueError(f"{error.found}; allowed: {error.allowed}") from None
    return text


ModelText: TypeAlias = Annotated[str, StringConstraints(min_length=3, max_length=400), AfterValidator(_model)]
_Temperature: TypeAlias = Annotated[
    float, Field(ge=0, le=2), BeforeValidator(lambda v: float(v) if isinstance(v, Decimal) else v)
]
_Tokens: TypeAlias = Annotated[int, Field(strict=True, ge=16, le=1_000_000)]
_Many: TypeAlias = Annotated[int, Field(strict=True, ge=1, le=64)]


class Level(Frozen):
    """What a level of a factor sets, or the file for all cells.

    Attributes:
        architect: Who writes.
        arm: The prompt of the first draft: `architect` (the Architect of Hooks) or `control`.
        gated: Whether a draft below the gate is rewritten.
        max_iter: The most rewrites.
        temperature: How the Architect writes.
        max_tokens: The longest draft.
        world: What the Architect is shown of the Story Bible: `whole`, `drawn` (the drawn faction and place, and the laws), or
            `none` beside their names.
        bible: Which Story Bible.
        request: What is asked for beside.
    """

    architect: ModelText | None = None
    arm: Arm | None = None
    gated: Flag | None = None
    max_iter: Annotated[int, Field(strict=True, ge=0, le=20)] | None = None
    temperature: _Temperature | None = None
    max_tokens: _Tokens | None = None
    world: World | None = None
    bible: Text | None = None
    request: Annotated[str, StringConstraints(max_length=MOST_REQUEST)] | None = None

    @property
    def given(self) -> dict[str, Any]:
        """What it sets."""
        return {name: value for name, value in self.model_dump().items() if value is not None}


class Roles(Frozen):
    """Who plays the parts that every cell has in common.

    Attributes:
        notary: Who reads.
        tester: Who plans the sessions.
        judge: Who labels them.
        same_model: Let tester and judge be one model.
    """

    notary: ModelText
    tester: ModelText
    judge: ModelText
    same_model: Flag = False


class Asking(Frozen):
    """How the other roles are asked.

    Attributes:
        notary_temperature: How the Notary reads.
        notary_max_tokens: Its longest answer.
        stress_temperature: How tester and judge answer.
        stress_max_tokens: Their longest answer.
    """

    notary_temperature: _Temperature = 0.0
    notary_max_tokens: _Tokens = 12_000
    stress_temperature: _Temperature = 0.0
    stress_max_tokens: _Tokens = 6_000


class Design(Frozen):
    """A study, before anybody is asked.

    Attributes:
        version: 1.
        id: Its short name.
        title: Its name.
        seeds: Which seeds every cell has.
        bible: The Story Bible of all cells, as `faerun@v1`.
        profile: The profile of the policy.
        policy: Weights and thresholds as in `ludic.toml`, as text; those left out are the paper's.
        defaults: What holds in every cell whose levels do not say otherwise.
        roles: Who reads, tests and labels.
        asking: How they are asked.
        factors: Factor, level, and what it sets.
        concurrency: How many requests each model may be asked at once; `default` for those not named.
        gate: The factor that is the gate, with the level that is compared with and the one whose effect is told.
        ladder: The factor that is the generator, and which of its levels are the capability ladder, smallest first.
        hypotheses: What was said beforehand.
    """

    version: Literal[1]
    id: Name
    title: Text = ""
    seeds: Annotated[tuple[int, ...], BeforeValidator(_seeds), Field(min_length=1, max_length=MOST_SEEDS)]
    bible: Text
    profile: Profile = "campaign"
    policy: dict[str, Any] = Field(default_factory=dict)
    defaults: Level = Level()
    roles: Roles
    asking: Asking = Asking()
    factors: Annotated[dict[Name, Annotated[dict[Name, Level], Field(min_length=1)]], Field(min_length=1)]
    concurrency: dict[str, _Many] = Field(default_factory=dict)
    gate: "GateFactor | None" = None
    ladder: "Ladder | None" = None
    hypotheses: tuple[Hypothesis, ...] = ()

    @field_serializer("policy")
    def _policy_as_text(self, value: dict[str, Any]) -> dict[str, Any]:
        return {
            key: [str(v) for v in one] if isinstance(one, list) else str(one) for key, one in value.items()
        }

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        for factor, levels in self.factors.items():
            names = {frozenset(level.given) for level in levels.values()}
            if len(levels) < 2 and not any(names):
                raise ValueError(
                    f"@factors.{factor}@one level that sets nothing; allowed: levels that differ"
                )
            seen: dict[str, str] = {}
            for name, level in levels.items():
                key = repr(level.given)
                if key in seen:
                    raise ValueError(
                        f"@factors.{factor}.{name}@sets the same as '{seen[key]}'; allowed: levels that differ"
                    )
                seen[key] = name
        for cell in self.cells:
            if self.level_of(cell).architect is None:
                raise ValueError(
                    f"@factors@nobody writes in the cell {spelt(cell)}; allowed: an architect in each, or one in [defaults]"
                )
        if len(self.cells) * len(self.seeds) > MOST_TRIALS:
            count = len(self.cells) * len(self.seeds)
            raise ValueError(f"@seeds@{count:,} trials; allowed: at most {MOST_TRIALS:,}")
        if not self.roles.same_model and self.roles.tester == self.roles.judge:
            raise ValueError(
                "@roles.judge@the judge would label what it planned itself;"
                " allowed: another model than the tester, or same_model = true"
            )
        for key in self.policy:
            if key.replace("-", "_") not in NUMBERS:
                raise ValueError(f"@policy.{key}@unknown setting; allowed: {', '.join(sorted(NUMBERS))}")
        self._names()
        return self

    def _names(self) -> None:
        """Refuse what names a factor or a level that there is not."""
        named = [(f"hypotheses[{at}]", levels_named(one)) for at, one in enumerate(self.hypotheses)]
        if len({one.id for one in self.hypotheses}) < len(self.hypotheses):
            raise ValueError("@hypotheses@an id is used twice; allowed: each id once")
        if self.gate:
            named.append(("gate", {self.gate.factor: (self.gate.from_level, self.gate.to_level)}))
        if self.ladder:
            named.append(("ladder", {self.ladder.factor: (*self.ladder.levels, *self.ladder.controls)}))
        for where, found in named:
            for factor, levels in found.items():
                if factor not in self.factors:
                    raise ValueError(
                        f"@{where}@{shown(factor)} is no factor; allowed: {', '.join(self.factors)}"
                    )
                for level in levels:
                    if level not in self.factors[factor]:
                        allowed = ", ".join(self.factors[factor])
                        raise ValueError(
                            f"@{where}@{shown(level)} is no level of {factor}; allowed: {allowed}"
                        )

    @property
    def cells(self) -> tuple[dict[str, str], ...]:
        """Every combination of one level of each factor, in the file's order."""
        names = list(self.factors)
        return tuple(
            dict(zip(names, levels, strict=True)) for levels in product(*(self.factors[one] for one in names))
        )

    def level_of(self, cell: Mapping[str, str]) -> Level:
        """What holds in a cell; a later factor lies over an earlier one."""
        given = self.defaults.given
        for factor, name in cell.items():
            given |= self.factors[factor][name].given
        return Level(**given)

    def policy_for(self, file: object) -> Policy:
        """The policy of the study."""
        table = {key: _decimal(value) for key, value in self.policy.items()}
        try:
            return policy_from(table, file).with_profile(self.profile)
        except InputError as error:
            where = error.where.replace("tool.ludic", "policy", 1)
            raise InputError(file, error.found, where=where, allowed=error.allowed) from None


class GateFactor(Frozen):
    """Which factor is the gate, and between which of its levels an effect is told."""

    factor: Text
    from_level: Text = Field("ungated", alias="from")
    to_level: Text = Field("gated", alias="to")


class Ladder(Frozen):
    """Which factor is the generator: the levels of the capability ladder, smallest first, and those held out as controls."""

    factor: Text
    levels: tuple[Text, ...] = Field(min_length=1)
    controls: tuple[Text, ...] = ()


@dataclass(frozen=True)
class Loaded:
    """A study's file, read.

    Attributes:
        design: What it says.
        text: Its text.
        path: Where it is.
    """

    design: Design
    text: str
    path: Path


def load_design(path: Path) -> Loaded:
    """Read a study's file.

    Raises:
        InputError: It is not TOML, or says something that no study can; names the line.
    """
    text = decode(read_bytes(path, limit=MAX_YAML_BYTES), path).removeprefix("\ufeff")
    return Loaded(read_design(text, path), text, path)


def read_design(text: str, file: object) -> Design:
    """Read the text of a study; see `load_design`."""
    try:
        table = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise InputError(file, f"not valid TOML: {clean(str(error), limit=160)}") from None
    except RecursionError:
        raise InputError(file, "nested too deeply", allowed="plain tables") from None
    try:
        design = load_model(Design, _floats(table), file)
        design.policy_for(file)
    except InputError as error:
        number = line_at(lines_of(text), error.where)
        where = f"line {number}: {error.where}" if number else error.where
        raise InputError(file, error.found, where=where, allowed=error.allowed, hint=error.hint) from None
    return design


def _floats(table: dict[str, Any]) -> dict[str, Any]:
    """Decimals as floats, but for the policy, whose numbers are exact."""

    def plain(value: Any) -> Any:
        if isinstance(value, Decimal):
            return float(value)
        if isinstance(value, dict):
            return {key: plain(one) for key, one in value.items()}
        return [plain(one) for one in value] if isinstance(value, list) else value

    return {key: value if key == "policy" else plain(value) for key, value in table.items()}


def _decimal(value: Any) -> Any:
    """A number of the policy that was written down as text, exact again."""
    if isinstance(value, list):
        return [_decimal(one) for one in value]
    if isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value):
        return Decimal(value)
    return value


def spelt(cell: Mapping[str, str]) -> str:
    """A cell in words: `gated, 14B`."""
    return ", ".join(cell.values())


DEFAULTS: Final = {
    "arm": "architect",
    "gated": True,
    "max_iter": MAX_ITER,
    "temperature": TEMPERATURE,
    "max_tokens": MAX_TOKENS,
    "world": "whole",
    "request": "",
}
