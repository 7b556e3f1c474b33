"""Where weights could come from, side by side: every method on one set of stories, against the weights in force."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypeVar

import numpy as np

from ludic_deepeval.check import StoryResult
from ludic_deepeval.errors import DataError, InputError, shown
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from ludic_deepeval.session import Session
from ludic_deepeval.studies.measured import Corpus, sessions_in
from ludic_deepeval.studies.rating_key import RatingKey
from ludic_deepeval.studies.rating_words import ASKS_AFTER, Question
from ludic_deepeval.studies.ratings import Ratings
from ludic_deepeval.studies.refusals import unscored
from ludic_deepeval.studies.sample import COMPONENTS
from ludic_deepeval.studies.sheets import Row, read_sheet
from ludic_deepeval.studies.weights import (
    NAMES,
    Comparison,
    Fit,
    Fitter,
    Observations,
    cross_validate,
    observe,
    rounded,
)
from ludic_deepeval.studies.weights_draws import (
    DrawComparison,
    Draws,
    cross_validate_draws,
    drawn_in,
    fit_draws,
)
from ludic_deepeval.studies.weights_factor import fit_factor
from ludic_deepeval.studies.weights_genetic import fit_genetic
from ludic_deepeval.studies.weights_ridge import fit_ridge

T = TypeVar("T")
Method: TypeAlias = Literal["ridge", "genetic", "factor", "draws"]
METHODS: Final[tuple[Method, ...]] = ("ridge", "genetic", "factor", "draws")
_NO_SESSIONS: Final = Unscored("data", "no recorded sessions given (PATH… --sessions FOLDER)")
_REVERSED: Final = frozenset({"q3"})  # the more has to be made up, the less playable


@dataclass(frozen=True)
class Effect:
    """What other weights would change of stories' verdicts.

    Attributes:
        stories: How many were looked at.
        gained: Stories that would reach the LPI gate.
        lost: Stories that would miss it.
    """

    stories: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]


@dataclass(frozen=True)
class Calibration:
    """What one method found.

    Attributes:
        name: `ridge`, `genetic`, `factor` or `draws`.
        fit: Its weights, or why there are none.
        comparison: Its cross-validation, or why there is none.
    """

    name: Method
    fit: Outcome[Fit]
    comparison: Outcome[Comparison | DrawComparison]


@dataclass(frozen=True)
class Basis:
    """What weights can be fitted to.

    Attributes:
        about: What the target is, in words.
        observations: Stories with a target, or why there is none.
        components: RTN, MV, UCR, TH of all stories, with a target or without.
        draws: What sessions drew on, or why that is not known.
        simulated: How many of the ratings behind the target a program made up.
        scripted: How many of the sessions behind it no model planned and labelled.
    """

    about: str
    observations: Outcome[Observations]
    components: tuple[tuple[float, ...], ...]
    draws: Outcome[Draws] = _NO_SESSIONS
    simulated: int = 0
    scripted: int = 0

    @property
    def stories(self) -> int:
        """How many stories have a target."""
        return len(self.observations.value) if isinstance(self.observations, Scored) else 0


def effect_of(weights: Sequence[float], stories: Sequence[StoryResult]) -> Effect:
    """Recompute LPI under other weights, exactly, and say which stories change sides of the LPI gate.

    Weights are taken to three decimals, as a setting would have them.
    """
    exact = [Fraction(one) for one in rounded(weights)]
    gained, lost, seen = [], [], 0
    for story in stories:
        if not isinstance(story.outcome, Scored):
            continue
        card = story.outcome.value.card
        values = list(card.components.values())
        if isinstance(card.lpi, Unscored) or any(isinstance(value, Unscored) for value in values):
            continue
        seen += 1
        lpi = sum((w * v for w, v in zip(exact, values, strict=True) if isinstance(v, Fraction)), Fraction(0))
        gate = card.policy.lpi_threshold
        if lpi >= gate > card.lpi:
            gained.append(story.path.as_posix())
        elif card.lpi >= gate > lpi:
            lost.append(story.path.as_posix())
    return Effect(seen, tuple(gained), tuple(lost))


def calibrate(
    methods: Sequence[Method], basis: Basis, default: Sequence[float], *, seed: int = 0
) -> list[Calibration]:
    """Fit each method and cross-validate it.

    Args:
        methods: Which.
        basis: What there is to fit them to.
        default: The weights in force.
        seed: Of searches and partitions.
    """
    observations = basis.observations
    fitters: dict[Method, Fitter] = {
        "ridge": partial(fit_ridge, prior=default, seed=seed),
        "genetic": partial(fit_genetic, prior=default, seed=seed),
        "factor": fit_factor,
    }
    found = []
    for name in methods:
        if name == "draws":
            found.append(_of_draws(basis.draws, default, seed))
        elif isinstance(observations, Scored):
            seen, fitter = observations.value, fitters[name]
            fit = _tried(partial(fitter, seen))
            tested: Outcome[Comparison | DrawComparison] = (
                _tried(partial(cross_validate, seen, fitter, default, seed=seed))
                if isinstance(fit, Scored)
                else fit
            )
            found.append(Calibration(name, fit, tested))
        elif name == "factor":
            table = np.array(basis.components, dtype=float).reshape(-1, len(NAMES))
            untargeted = Observations(table, np.zeros(len(table)))
            found.append(Calibration(name, _tried(partial(fit_factor, untargeted)), observations))
        else:
            found.append(Calibration(name, observations, observations))
    return found


def _of_draws(draws: Outcome[Draws], default: Sequence[float], seed: int) -> Calibration:
    if isinstance(draws, Unscored):
        return Calibration("draws", draws, draws)
    fit = _tried(partial(fit_draws, draws.value))
    tested: Outcome[Comparison | DrawComparison] = _tried(
        partial(cross_validate_draws, draws.value, default, seed=seed)
    )
    return Calibration("draws", fit, tested)


def _tried(function: Callable[[], T]) -> Outcome[T]:
    try:
        return Scored(function())
    except DataError as error:
        return unscored(error)


def _target(
    components: Sequence[Sequence[float]], target: Sequence[float], about: str
) -> Outcome[Observations]:
    try:
        return Scored(observe(components, target, about))
    except DataError as error:
        return unscored(error)


def from_ratings(key: RatingKey, ratings: Ratings, question: Question) -> Basis:
    """Stories with the mean rating that they got on a question; preparation is turned round."""
    given = ratings.by_item(question)
    known = [one for one in key.items if set(COMPONENTS) <= one.components.keys()]
    rows = [one for one in known if one.item in given]
    sign = -1 if question in _REVERSED else 1
    means = [sign * sum(given[one.item].values()) / len(given[one.item]) for one in rows]
    about = f"the rating of {ASKS_AFTER[question]}"
    return Basis(
        about,
        _target([_values(one.components) for one in rows], means, about),
        tuple(_values(one.components) for one in known),
        simulated=ratings.simulated,
    )


def from_stories(corpus: Corpus, sessions: Path | None) -> Basis:
    """Stories with 1 − E_a, what a game master did not have to invent, and with what sessions drew on.

    Raises:
        InputError: A folder without sessions, or one that cannot be read.
    """
    components = tuple(_values(one.components) for one in corpus.candidates)
    recorded = _sessions(corpus, sessions)
    rows = [one for one in corpus.candidates if one.metrics["e_a"] is not None]
    if sessions is None and not rows:
        why = Unscored("data", "no target given (--sessions, --ratings or --table)")
        return Basis("none", why, components)
    target = [1 - (one.metrics["e_a"] or 0.0) for one in rows]
    observed = _target([_values(one.components) for one in rows], target, "1 - E_a")
    scripted = sum({one.tester.kind, one.judge.kind} != {"model"} for one in recorded)
    return Basis("1 - E_a", observed, components, _draws(recorded, corpus), scripted=scripted)


def _sessions(corpus: Corpus, folder: Path | None) -> list[Session]:
    """The labelled sessions of these stories, of a folder and of stores."""
    found = [*(sessions_in(folder) if folder else ()), *corpus.sessions]
    known = {one.prose.sha256 for one in corpus.candidates}
    return [one for one in found if one.unscored is None and one.source_sha256 in known]


def _draws(sessions: Sequence[Session], corpus: Corpus) -> Outcome[Draws]:
    drawn = [
        drawn_in(one, corpus.ledgers[one.source_sha256])
        for one in sessions
        if one.source_sha256 in corpus.ledgers
    ]
    return Scored(Draws(tuple(drawn))) if drawn else Unscored("data", "no labelled session of these stories")


def from_table(file: Path) -> Basis:
    """Stories of a sheet with the columns rtn, mv, ucr, th and target.

    Raises:
        InputError: A cell that is no number, or a component outside 0 to 1.
    """
    rows = read_sheet(file, (*COMPONENTS, "target"))
    components = tuple(tuple(_cell(row, name, top=1.0) for name in COMPONENTS) for row in rows)
    target = [_cell(row, "target", top=None) for row in rows]
    return Basis(f"the target of {file}", _target(components, target, "the target"), components)


def _values(components: Mapping[str, float]) -> tuple[float, ...]:
    return tuple(components[name] for name in COMPONENTS)


def _cell(row: Row, name: str, *, top: float | None) -> float:
    said = row.cells[name]
    allowed = "a number" if top is None else f"a number from 0 to {top:g}"
    try:
        value = float(said)
    except ValueError:
        raise row.error(f"found {shown(said)}", column=name, allowed=allowed) from None
    if not np.isfinite(value) or (top is not None and not 0 <= value <= top):
        raise row.error(f"found {shown(said)}", column=name, allowed=allowed)
    return value


def read_log(file: Path) -> list[tuple[str, list[str]]]:
    """Read what players took up: a sheet with the columns session and drew, such as `3` and `RTN; TH`.

    Raises:
        InputError: A row without a session, or a dimension that is none.
    """
    found = []
    for row in read_sheet(file, ("session", "drew")):
        names = [one.strip().upper() for one in row.cells["drew"].replace(",", ";").split(";") if one.strip()]
        if unknown := [one for one in names if one not in NAMES]:
            raise row.error(
                f"found {shown(unknown[0])}", column="drew", allowed=f"{', '.join(NAMES)}, parted by ;"
            )
        if not row.cells["session"] or len(row.cells["session"]) > 80 or " " in row.cells["session"]:
            raise row.error(
                f"found {shown(row.cells['session'])}", column="session", allowed="a name without blanks"
            )
        found.append((row.cells["session"], names))
    if not found:
        raise InputError(file, "no session in this log", allowed="a row for each session")
    return found
