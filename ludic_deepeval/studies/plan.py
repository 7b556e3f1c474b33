"""The trials of a study before anybody is asked: every cell with every seed, seeds matched, in one fixed order."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Final

from ludic_deepeval.bible import Bible, load_bible, resolve_bible
from ludic_deepeval.errors import InputError
from ludic_deepeval.llm.budget import Preview
from ludic_deepeval.llm.names import parse_name
from ludic_deepeval.notary import Settings as NotarySettings
from ludic_deepeval.policy import Policy
from ludic_deepeval.stress import Settings as StressSettings
from ludic_deepeval.studies.design import DEFAULTS, Design, Level, spelt
from ludic_deepeval.trial import Plan
from ludic_deepeval.trial_plan import Setting, cost_of, draw, make_plan

_OUTLINE: Final = 700  # tokens that an outline, or its labels, usually take
_ROUNDS: Final = 3
_LONGEST: Final = 160


@dataclass(frozen=True)
class TrialKey:
    """One trial of a study.

    Attributes:
        cell: A level of each factor.
        seed: Its seed.
    """

    cell: Mapping[str, str]
    seed: int

    @property
    def id(self) -> str:
        """Its name in the store, as `gate=gated/generator=14B/seed=7`."""
        return "/".join([*(f"{factor}={level}" for factor, level in self.cell.items()), f"seed={self.seed}"])

    @property
    def folder(self) -> str:
        """The name of its folder; no level's name holds what no folder's may, and a long one is cut."""
        name = "--".join([*self.cell.values(), f"{self.seed:04d}"]).replace(":", "_").replace(" ", "_")
        return (
            name
            if len(name) <= _LONGEST
            else f"{name[:_LONGEST]}--{sha256(self.id.encode()).hexdigest()[:16]}"
        )

    def __hash__(self) -> int:
        return hash(self.id)


@dataclass(frozen=True)
class StudyPlan:
    """A study whose bibles and policy are at hand.

    Attributes:
        design: What was set.
        bibles: Every bible that a cell names, by that name.
        policy: Weights and thresholds.
    """

    design: Design
    bibles: Mapping[str, Bible]
    policy: Policy

    @cached_property
    def trials(self) -> tuple[TrialKey, ...]:
        """Every trial: seed by seed, so that a study that ends early has whole blocks."""
        return tuple(TrialKey(cell, seed) for seed in self.design.seeds for cell in self.design.cells)

    def level(self, key: TrialKey) -> Level:
        """What holds in the trial's cell, with the defaults of `ludic generate`."""
        given = DEFAULTS | {"bible": self.design.bible} | self.design.level_of(key.cell).given
        return Level(**given)

    def setting(self, key: TrialKey) -> Setting:
        """Bible, policy and how Architect and Notary are asked."""
        level, asking = self.level(key), self.design.asking
        return Setting(
            self.bibles[str(level.bible)],
            self.policy,
            NotarySettings(temperature=asking.notary_temperature, max_tokens=asking.notary_max_tokens),
            temperature=level.temperature,
            max_tokens=level.max_tokens or 1,
        )

    @property
    def stress(self) -> StressSettings:
        """How tester and judge are asked."""
        asking = self.design.asking
        return StressSettings(temperature=asking.stress_temperature, max_tokens=asking.stress_max_tokens)

    def plan(self, key: TrialKey) -> Plan:
        """The trial as the Architect and the gate loop have it."""
        level = self.level(key)
        return make_plan(
            self.setting(key),
            seed=key.seed,
            architect=said_as(str(level.architect)),
            notary=said_as(self.design.roles.notary),
            arm=level.arm or "architect",
            gated=bool(level.gated),
            max_iter=level.max_iter or 0,
            request=level.request or "",
            world=level.world or "whole",
        )

    @cached_property
    def drawn(self) -> dict[int, tuple[str, str]]:
        """The faction and the place of each seed, the same in every cell.

        Raises:
            InputError: Two cells' bibles draw different ones, so that seeds would not be matched.
        """
        found: dict[int, tuple[str, str]] = {}
        for seed in self.design.seeds:
            for cell in self.design.cells:
                key = TrialKey(cell, seed)
                faction, place = draw(self.setting(key).bible, seed)
                if found.setdefault(seed, (faction.id, place.id)) != (faction.id, place.id):
                    raise InputError(
                        f"study {self.design.id}",
                        f"seed {seed} draws {faction.id} and {place.id} in {spelt(cell)},"
                        f" and {' and '.join(found[seed])} elsewhere",
                        allowed="bibles whose factions and places have the same ids, so that seeds are matched",
                    )
        return found

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Every model that is asked, as it is named in the file."""
        writers = [str(self.level(TrialKey(cell, 0)).architect) for cell in self.design.cells]
        roles = self.design.roles
        return tuple(dict.fromkeys([*writers, roles.notary, roles.tester, roles.judge]))

    def cost(self) -> tuple[Preview, Preview]:
        """What the study would cost at least and at most, without asking anybody."""
        least, most = Preview(0, 0, 0), Preview(0, 0, 0)
        for cell in self.design.cells:
            key = TrialKey(cell, self.design.seeds[0])
            one, other = cost_of(self.plan(key), self.setting(key))
            least, most = _plus(least, one), _plus(most, other)
        cells, seeds = len(self.design.cells), len(self.design.seeds)
        # A story and its ledger are some 1,500 tokens each; both are read for each of three openings.
        session = Preview(2 * _ROUNDS * cells, 4 * _ROUNDS * 1500 * cells, 2 * _ROUNDS * _OUTLINE * cells)
        return _times(_plus(least, session), seeds), _times(_plus(most, session), seeds)


def _plus(one: Preview, other: Preview) -> Preview:
    return Preview(
        one.calls + other.calls,
        one.prompt_tokens + other.prompt_tokens,
        one.completion_tokens + other.completion_tokens,
    )


def _times(one: Preview, count: int) -> Preview:
    return Preview(one.calls * count, one.prompt_tokens * count, one.completion_tokens * count)


def said_as(name: str) -> str:
    """A model's name as its answers bear it: a recording has that of the model that was recorded."""
    parsed = parse_name(name)
    return parsed.recorded_model or str(parsed)


def plan_study(design: Design, start: Path, file: object) -> StudyPlan:
    """Find the bibles of a study and check that its seeds are matched.

    Args:
        design: The study.
        start: Where its bibles are looked for, and above.
        file: The study's file, for errors.

    Raises:
        InputError: No such bible, or seeds that draw different things in different cells.
    """
    names = {
        design.bible,
        *(level.bible for levels in design.factors.values() for level in levels.values() if level.bible),
    }
    return planned(design, {name: _bible(name, start, file) for name in sorted(names)}, file)


def planned(design: Design, bibles: Mapping[str, Bible], file: object) -> StudyPlan:
    """Make a plan of a study whose bibles are at hand; see `plan_study`."""
    plan = StudyPlan(design, bibles, design.policy_for(file))
    _ = plan.drawn
    folders = [key.folder.casefold() for key in plan.trials]
    if len(set(folders)) < len(folders):
        raise InputError(file, "two cells would be kept in one folder", allowed="levels whose names differ")
    return plan


def _bible(name: str, start: Path, file: object) -> Bible:
    return load_bible(resolve_bible(name, start, file))
