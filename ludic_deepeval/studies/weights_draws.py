"""Weights by what a game master draws on: how often each dimension feeds a session (§3.2), and an update at the table (§7).

The paper's weights are the shares of four counts: of 160 stress tests 94 % drew on people, 71 % on goals, 48 % on urgent threads
and 19 % on mysteries, which is .405, .306, .207, .082. Here they are counted from recorded sessions by what the reuse judge
said that each person and thread was taken from; a session counts once for a dimension.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ludic_deepeval.errors import DataError, InputError
from ludic_deepeval.ledger import FactLedger, Frozen, Id
from ludic_deepeval.outcome import Outcome, Scored
from ludic_deepeval.session import Session
from ludic_deepeval.stats import bca
from ludic_deepeval.studies.refusals import unscored
from ludic_deepeval.studies.weights import FOLDS, NAMES, Fit

URGENT: Final = 1
"""The tier of a thread that counts for UCR (§3.4)."""
Drawn = frozenset[str]
"""The dimensions that one session drew on."""


def dimension_of(item: str, ledger: FactLedger) -> str | None:
    """Return the dimension that an item of a ledger belongs to; None for what none of the four counts.

    Living people with unfinished business are RTN, pursued goals MV, open threads of tier 1 UCR, mysteries TH (Eq 2–4). Other
    people and threads, events and the protagonist belong to none.

    Args:
        item: `LIST:ID`, as a session names what a label rests on.
        ledger: The story's.
    """
    kind, _, name = item.partition(":")
    if kind == "npcs":
        npc = next((one for one in ledger.npcs if one.id == name), None)
        return "RTN" if npc and npc.unresolved and npc.status != "dead" else None
    if kind == "goals":
        goal = next((one for one in ledger.goals if one.id == name), None)
        return "MV" if goal and goal.proactive else None
    if kind == "hooks":
        hook = next((one for one in ledger.hooks if one.id == name), None)
        return "UCR" if hook and hook.open and hook.tier == URGENT else None
    return "TH" if kind == "mysteries" and any(one.id == name for one in ledger.mysteries) else None


def drawn_in(session: Session, ledger: FactLedger) -> Drawn:
    """Return the dimensions that a session drew on: those of the items that its labels rest on."""
    items = {label.item for labels in session.told() for label in labels if label.item is not None}
    return frozenset(found for item in items if (found := dimension_of(item, ledger)) is not None)


@dataclass(frozen=True)
class Draws:
    """How often sessions drew on each dimension.

    Attributes:
        sessions: What each session drew on.
    """

    sessions: tuple[Drawn, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """Sessions that drew on RTN, MV, UCR, TH."""
        return tuple(sum(name in drawn for drawn in self.sessions) for name in NAMES)


@dataclass(frozen=True)
class DrawComparison:
    """How well shares predict what sessions that were not counted drew on, beside the weights in force.

    Attributes:
        error: Mean −ln w of the drawn dimension over draws, in nats; lower is better.
        default_error: The same of the weights in force.
        gain: Default less fitted, by session; above 0 when the fit is better.
        interval: 95 % BCa of the gain over sessions, or why there is none.
        sessions: How many were predicted.
        folds: In how many parts.
        ranges: The least and the largest weight of each dimension over the folds.
    """

    error: float
    default_error: float
    gain: float
    interval: Outcome[tuple[float, float]]
    sessions: int
    folds: int
    ranges: tuple[tuple[float, float], ...]

    @property
    def better(self) -> bool | None:
        """Whether the interval of the gain lies above 0; None without an interval."""
        return self.interval.value[0] > 0 if isinstance(self.interval, Scored) else None


def weights_of_counts(counts: Sequence[float]) -> tuple[float, ...]:
    """Return counts as shares: ω_i = n_i / Σ n (§3.2).

    Raises:
        DataError: Nothing was counted.
    """
    total = sum(counts)
    if total <= 0:
        raise DataError("draws", "no session drew on any of the four dimensions")
    return tuple(count / total for count in counts)


def fit_draws(draws: Draws) -> Fit:
    """Return weights in proportion to the sessions that drew on each dimension.

    Raises:
        DataError: None drew on any.
    """
    counts, sessions = draws.counts, len(draws.sessions)
    weights = weights_of_counts(counts)
    details = {"counts": dict(zip(NAMES, counts, strict=True)), "sessions": sessions}
    return Fit("draw frequencies", weights, details)


def cross_validate_draws(
    draws: Draws, default: Sequence[float], *, folds: int = FOLDS, seed: int = 0
) -> DrawComparison:
    """Count in all folds but one and predict what the sessions of that one drew on.

    Half a draw is added to each count of a training set, so that what was not seen yet is not impossible; the weights in force
    are taken as they are, but for zeros.

    Raises:
        DataError: Fewer than 4 sessions that drew on anything.
    """
    table = np.array([[name in drawn for name in NAMES] for drawn in draws.sessions if drawn], dtype=float)
    n = len(table)
    if n < 4:
        raise DataError("draws", f"{n} sessions drew on a dimension", allowed="at least 4")
    folds = max(2, min(folds, n // 2))
    part = np.random.default_rng([seed, 4]).permutation(n) % folds
    losses = np.zeros((2, n))
    fits = []
    for number in range(folds):
        counts = table[part != number].sum(axis=0) + 0.5
        fits.append(counts / counts.sum())
        for row, weights in enumerate((fits[-1], np.maximum(np.array(default, dtype=float), 1e-6))):
            losses[row, part == number] = -(table[part == number] @ np.log(weights / weights.sum()))
    gains = losses[1] - losses[0]
    interval: Outcome[tuple[float, float]]
    try:
        interval = Scored(bca(np.mean, gains, seed=seed))
    except DataError as error:
        interval = unscored(error)
    fitted, inforce = (float(one) for one in losses.sum(axis=1) / table.sum())
    ranges = tuple(
        (float(low), float(high)) for low, high in zip(np.min(fits, 0), np.max(fits, 0), strict=True)
    )
    return DrawComparison(fitted, inforce, float(gains.mean()), interval, n, folds, ranges)


class Seen(Frozen):
    """A session at the table that was counted."""

    session: Id
    drew: tuple[Literal["RTN", "MV", "UCR", "TH"], ...]


class OnlineWeights(Frozen):
    """Weights that follow what players take up, from a prior on (§7).

    ω = (s · prior + Σ γ^age n) / (s + Σ γ^age Σ n): a Dirichlet prior worth `strength` draws, and each session's draws, which
    fade by `keep` with every later session.

    Attributes:
        prior: The weights to begin with.
        strength: Draws that the prior is worth, above 0.
        keep: γ in (0, 1]; 1 forgets nothing.
        seen: The sessions counted, oldest first; one is counted once.
    """

    version: Literal[1] = 1
    kind: Literal["online-weights"] = "online-weights"
    prior: tuple[float, float, float, float]
    strength: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 40.0
    keep: Annotated[float, Field(gt=0, le=1)] = 1.0
    seen: Annotated[tuple[Seen, ...], Field(max_length=100_000)] = ()

    def update(self, sessions: Iterable[tuple[str, Iterable[str]]]) -> Self:
        """Return the weights after more sessions; one that was counted already changes nothing.

        Args:
            sessions: The name of each, and the dimensions that its players took up.

        Raises:
            InputError: A dimension that is none.
        """
        known = {one.session for one in self.seen}
        more = list(self.seen)
        for name, drew in sessions:
            kinds = set(drew)
            if unknown := sorted(kinds - set(NAMES)):
                raise InputError("session", f"found '{unknown[0]}'", where=name, allowed=", ".join(NAMES))
            if name not in known:
                known.add(name)
                more.append(Seen(session=name, drew=tuple(one for one in NAMES if one in kinds)))
        return self.model_copy(update={"seen": tuple(more)})

    @property
    def counts(self) -> Mapping[str, float]:
        """The faded draws of each dimension."""
        found = dict.fromkeys(NAMES, 0.0)
        for one in self.seen:
            for name in NAMES:
                found[name] = found[name] * self.keep + (name in one.drew)
        return found

    @property
    def weights(self) -> tuple[float, ...]:
        """Of RTN, MV, UCR, TH; they sum to 1."""
        base = np.array(self.prior, dtype=float)
        pseudo: NDArray[np.float64] = self.strength * base / base.sum() + np.array(list(self.counts.values()))
        return tuple((pseudo / pseudo.sum()).tolist())
