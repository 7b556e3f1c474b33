"""Every weight, cap and threshold of LPI, PCV and the gate, in one frozen value.

Numbers are read from their decimal text into exact fractions, so that 0.7 is seven tenths. The defaults are the
paper's (§3.2–3.6, 4.2). A team sets its own in `ludic.toml`, or in `[tool.ludic]` of `pyproject.toml`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property
from math import lcm
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ludic_deepeval.codes import CODES, GROUPS, Severity
from ludic_deepeval.errors import InputError, shown
from ludic_deepeval.wording import WORDS

if TYPE_CHECKING:
    from ludic_deepeval.genre import Genre

Profile: TypeAlias = Literal["campaign", "one-shot", "cosy", "submission"]
PROFILES: Final[tuple[Profile, ...]] = ("campaign", "one-shot", "cosy", "submission")
PROFILE_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,39}", re.ASCII)
UNCALIBRATED_WORDS: Final = 150  # below so many, what `submission` says is a guess
_CAVEATS: Final = {
    "cosy": "uncalibrated profile: cosy",
    "submission": f"uncalibrated for texts under about {UNCALIBRATED_WORDS} words",
}
_ONE_SHOT: Final = frozenset({"one-shot", "submission"})


def _fraction(text: str) -> Fraction:
    return Fraction(Decimal(text))


@dataclass(frozen=True)
class Policy:
    """The numbers that a verdict depends on.

    Attributes:
        profile: `campaign` (the default), `one-shot` (gate at PCV 100), `cosy` (§5.10: campaign's numbers with
            reinterpreted dimensions), or `submission` (§6.4: a player's short text, gate at PCV 100 alone). Nobody has
            calibrated the last two, and reports say so. Or one of `profiles`, by `with_profile`.
        weights: ω of RTN, MV, UCR, TH in Eq 1; they sum to 1.
        tau: Reactivity of an open hook of tier 1, 2, 3 (§3.4), each in [0, 1].
        node_share: The share of active people in RTN (Eq 2); open hooks have the rest.
        active_cap: Active people that saturate RTN.
        reactivity_cap: Sum of τ that saturates RTN.
        goal_cap: Proactive goals that saturate MV (Eq 3).
        hole_peak: Mysteries at which TH is 1 (Eq 4).
        hole_decay: What each mystery past the peak costs TH.
        density: The largest fact density of a thematic hole (Eq 11).
        pcv_weights: w of I, G, V, D in Eq 7.
        band_width: Gravity points to a band (§3.5).
        full_events: Events of a band that count in full.
        further_share: The share of every further one.
        lpi_gate: The least LPI that passes.
        pcv_gate: The least PCV that passes; None takes the profile's (150, one-shot and submission 100).
        campaign_tier: The least PCV of a campaign character.
        one_shot_tier: The least PCV of a one-shot character.
        fail_on: Findings that fail a check beside the errors: codes, or `gate`, `mysteries`, `warnings` for several.
        severity: Codes that weigh more or less than by default, or are `off`.
        calibration: What the weights were calibrated on, in words of the team's own; empty where nobody has.
        profiles: A team's own profiles: name and file (see `genre`).
        genre: The team's profile in force; None under a built-in one.
        general: The policy before that profile's numbers were taken; None under a built-in one.
    """

    profile: str = "campaign"
    weights: tuple[Fraction, Fraction, Fraction, Fraction] = (
        _fraction("0.4"),
        _fraction("0.3"),
        _fraction("0.2"),
        _fraction("0.1"),
    )
    tau: tuple[Fraction, Fraction, Fraction] = (_fraction("1.0"), _fraction("0.6"), _fraction("0.2"))
    node_share: Fraction = field(default=_fraction("0.7"))
    active_cap: int = 3
    reactivity_cap: Fraction = field(default=_fraction("5"))
    goal_cap: int = 4
    hole_peak: int = 3
    hole_decay: Fraction = field(default=_fraction("0.15"))
    density: Fraction = field(default=_fraction("0.30"))
    pcv_weights: tuple[Fraction, Fraction, Fraction, Fraction] = (
        Fraction(4),
        Fraction(4),
        Fraction(1),
        Fraction(1),
    )
    band_width: int = 3
    full_events: int = 2
    further_share: Fraction = field(default=_fraction("0.5"))
    lpi_gate: Fraction = field(default=_fraction("0.70"))
    pcv_gate: Fraction | None = None
    campaign_tier: Fraction = field(default=Fraction(150))
    one_shot_tier: Fraction = field(default=Fraction(100))
    fail_on: tuple[str, ...] = ()
    severity: tuple[tuple[str, Severity | Literal["off"]], ...] = ()
    calibration: str = ""
    profiles: tuple[tuple[str, Path], ...] = ()
    genre: "Genre | None" = None
    general: "Policy | None" = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse numbers under which LPI would leave [0, 1] or a cap would divide by nothing."""
        known = (*PROFILES, *(name for name, _ in self.profiles))
        _require(
            self.profile in PROFILES or (self.genre is not None and self.profile in known),
            "profile",
            shown(self.profile),
            " or ".join(known),
        )
        _require(
            min(self.weights) >= 0 and sum(self.weights) == 1,
            "weights",
            _listed(self.weights),
            "four shares that sum to 1",
        )
        _require(
            all(0 <= value <= 1 for value in self.tau), "tau", _listed(self.tau), "three numbers from 0 to 1"
        )
        _require(
            min(self.pcv_weights) >= 0, "pcv_weights", _listed(self.pcv_weights), "four numbers of at least 0"
        )
        for name in ("node_share", "density", "further_share", "hole_decay", "lpi_gate"):
            value = getattr(self, name)
            _require(0 <= value <= 1, name, str(float(value)), "a number from 0 to 1")
        for name in ("active_cap", "goal_cap", "hole_peak", "band_width", "reactivity_cap"):
            _require(getattr(self, name) > 0, name, str(getattr(self, name)), "a number above 0")
        for name in ("full_events", "campaign_tier", "one_shot_tier", "pcv_gate"):
            value = getattr(self, name)
            _require(value is None or value >= 0, name, str(value), "a number of at least 0")
        _require(
            self.one_shot_tier <= self.campaign_tier,
            "one_shot_tier",
            str(float(self.one_shot_tier)),
            "at most campaign_tier",
        )

    def severity_of(self, code: str) -> Severity | Literal["off"]:
        """How much a finding of this code weighs: `fail_on` over `severity` over the default; `off` is not told."""
        return self._severities[code]

    @cached_property
    def _severities(self) -> dict[str, Severity | Literal["off"]]:
        found = {code: default for code, (default, _) in CODES.items()} | dict(self.severity)
        for name in self.fail_on:
            for code in GROUPS.get(name, (name,)):
                if found[code] != "off":
                    found[code] = "error"
        return found

    @cached_property
    def pcv_threshold(self) -> Fraction:
        """The least PCV that passes the gate under this profile."""
        if self.pcv_gate is not None:
            return self.pcv_gate
        return self.one_shot_tier if self.built_in in _ONE_SHOT else self.campaign_tier

    @property
    def lpi_threshold(self) -> Fraction:
        """The least LPI that passes the gate under this profile; 0 for `submission`, which §6.4 gates by PCV alone."""
        return Fraction(0) if self.built_in == "submission" else self.lpi_gate

    @property
    def built_in(self) -> Profile:
        """The built-in profile in force, or the one that the team's is based on."""
        return self.genre.built_in if self.genre else self.profile  # type: ignore[return-value]  # by __post_init__

    @property
    def caveat(self) -> str:
        """What a report says beside a verdict under a profile or weights that nobody has calibrated; else empty."""
        own = f"uncalibrated profile: {self.profile}" if self.genre else _CAVEATS.get(self.profile, "")
        of_profile = "" if self.calibration else own
        return "; ".join(part for part in (of_profile, self.weights_caveat) if part)

    @property
    def weights_caveat(self) -> str:
        """The part of `caveat` that is about the weights: empty for the paper's and for those with a `calibration`."""
        # Of a team's profile that nobody has calibrated the first part says enough.
        told = self.calibration or self.has_default_weights or self.genre is not None
        return "" if told else "uncalibrated weights"

    @property
    def has_default_weights(self) -> bool:
        """Whether LPI and PCV are weighed as in the paper."""
        plain = _field_defaults()
        return (self.weights, self.pcv_weights) == (plain["weights"], plain["pcv_weights"])

    @property
    def provenance(self) -> str:
        """Where the weights come from, in one line: what the team says of them, or that nobody has calibrated them."""
        if self.calibration:
            return f"calibrated: {self.calibration}"
        if self.genre is not None:
            return f"the profile {self.profile}, which nobody has calibrated (say on what in its calibration)"
        if not self.has_default_weights:
            return "weights of your own that nobody has calibrated (say on what in calibration)"
        said = "the paper's weights: from one synthetic game master (§3.2); a panel of experts did not bear them out (§5.7)"
        return said + (f"; {caveat}" if (caveat := _CAVEATS.get(self.profile)) else "")

    @cached_property
    def words(self) -> Mapping[str, str]:
        """How advice is worded under this profile, by kind of change."""
        if self.genre is not None:
            return self.genre.words
        if self.profile != "cosy":
            return WORDS
        from ludic_deepeval.genre import load_genre  # noqa: PLC0415  # the others have their words here

        return load_genre(self.profile).words

    def with_profile(self, profile: str | None) -> "Policy":
        """Return the same policy under another profile (None: unchanged).

        A team's profile brings its own numbers; those that it does not have stay. Another one after it starts from
        the policy before it.

        Raises:
            InputError: There is no such profile, or its file is wrong.
        """
        if profile is None or profile == self.profile:
            return self
        general = self.general or self
        path = dict(general.profiles).get(profile)
        if path is None:
            return replace(general, profile=profile)
        from ludic_deepeval.genre import load_genre  # noqa: PLC0415  # most stories have a built-in profile
        from ludic_deepeval.settings import numbers_from  # noqa: PLC0415  # it needs this module

        genre = load_genre(profile, path)
        settings = numbers_from(genre.numbers, path)
        try:
            return replace(
                general,
                profile=profile,
                genre=genre,
                general=general,
                calibration=genre.calibration,
                **settings,
            )
        except InputError as error:
            raise InputError(
                path, error.found, where=f"numbers.{error.where}", allowed=error.allowed
            ) from None

    # What the score reads off, worked out once: Eq 1's terms are sums of these.

    @cached_property
    def node_terms(self) -> tuple[Fraction, ...]:
        """RTN's first term for 0 … active_cap active people."""
        return tuple(
            self.node_share * Fraction(count, self.active_cap) for count in range(self.active_cap + 1)
        )

    @cached_property
    def tau_scaled(self) -> tuple[int, int, int, int]:
        """τ and the reactivity cap as whole numbers over one denominator."""
        values = (*self.tau, self.reactivity_cap)
        scale = Fraction(1, 1)
        for value in values:
            scale *= (value * scale).denominator
        one, two, three, cap = (int(value * scale) for value in values)
        return one, two, three, cap

    @cached_property
    def goal_terms(self) -> tuple[Fraction, ...]:
        """MV for 0 … goal_cap proactive goals."""
        return tuple(Fraction(count, self.goal_cap) for count in range(self.goal_cap + 1))

    @cached_property
    def pcv_scaled(self) -> tuple[int, int, int, int, int]:
        """The weights of Eq 7 as whole numbers over one denominator, and that denominator."""
        scale = lcm(*(weight.denominator for weight in self.pcv_weights))
        i, g, v, d = (int(weight * scale) for weight in self.pcv_weights)
        return i, g, v, d, scale

    @cached_property
    def worked_out(self) -> dict[tuple[int, ...], Any]:
        """What `scoring` has worked out under this policy, by the counts that it was worked out from."""
        return {}

    @cached_property
    def terms(self) -> dict[tuple[int | None, ...], Any]:
        """The same for one event, by its four dimensions."""
        return {}

    @cached_property
    def totals(self) -> dict[int, Any]:
        """The same for a whole story, by the scaled sum of its events."""
        return {}


@cache
def _field_defaults() -> dict[str, Any]:
    return {item.name: item.default for item in fields(Policy)}


def _require(holds: bool, name: str, found: str, allowed: str) -> None:
    if not holds:
        raise InputError("policy", f"found {found}", where=name, allowed=allowed)


def _listed(values: tuple[Fraction, ...]) -> str:
    return ", ".join(str(float(value)) for value in values)
