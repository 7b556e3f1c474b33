"""What scoring reads off many ledgers, as arrays, so that thousands of policies can be tried on them at once."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ludic_deepeval.errors import DataError
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import ScoreCard
from ludic_deepeval.stats.inputs import Floats

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
COMPONENTS: Final = ("rtn", "mv", "ucr", "th")
_SAME: Final = (
    "weights tau node_share active_cap reactivity_cap goal_cap hole_peak hole_decay density"
    " pcv_weights band_width full_events further_share lpi_gate"
).split()


@dataclass(frozen=True, eq=False)
class Corpus:
    """Scored ledgers as arrays; the first axis is the ledger unless an owner says otherwise.

    Attributes:
        names: Of the ledgers.
        policy: What they were scored under; PCV's threshold may differ by profile and is kept for each.
        lpi: LPI of each.
        pcv: PCV of each.
        components: RTN, MV, UCR, TH.
        plays: Whether LPI passes, told exactly.
        presses: Whether PCV passes, told exactly.
        lpi_least: The threshold of each.
        pcv_least: The threshold of each.
        active: N_act.
        tiers: Open hooks of tier 1, 2, 3.
        densities: Fact density of each mystery, and which ledger has it.
        mystery_owner: The ledger of each mystery, ascending.
        dimensions: I, G, V, D of each event.
        event_owner: The ledger of each event, ascending.
        left_out: Ledgers without an LPI or a PCV, and why.
    """

    names: tuple[str, ...]
    policy: Policy
    lpi: Floats
    pcv: Floats
    components: Floats
    plays: Bools
    presses: Bools
    lpi_least: Floats
    pcv_least: Floats
    active: Ints
    tiers: Floats
    densities: Floats
    mystery_owner: Ints
    dimensions: Floats
    event_owner: Ints
    left_out: tuple[tuple[str, str], ...]

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def weights(self) -> Floats:
        """ω as floats."""
        return np.array([float(weight) for weight in self.policy.weights])

    @cached_property
    def passes(self) -> Bools:
        """Whether the gate is passed."""
        return self.plays & self.presses


def corpus_of(cards: Iterable[tuple[str, ScoreCard]]) -> Corpus:
    """Take the figures of score cards apart.

    Args:
        cards: Each ledger's name and score card, all scored under the same numbers; profiles may differ.

    Raises:
        DataError: Nothing could be scored, or two ledgers were scored under different numbers.
    """
    kept: list[tuple[str, ScoreCard]] = []
    left_out: list[tuple[str, str]] = []
    for name, card in cards:
        lacking = next((part for part in (card.lpi, card.pcv) if isinstance(part, Unscored)), None)
        if lacking:
            left_out.append((name, lacking.reason))
        else:
            kept.append((name, card))
    if not kept:
        raise DataError(
            "sensitivity", f"no scored ledger ({len(left_out)} could not be scored)", allowed="at least one"
        )
    policy = kept[0][1].policy
    for name, card in kept:
        for field in _SAME:
            if getattr(card.policy, field) != getattr(policy, field):
                raise DataError(
                    "sensitivity",
                    f"{name} was scored under another {field}",
                    hint="score all of them under one profile",
                )
    rows = [card for _, card in kept]
    mysteries = [(i, row.measured) for i, card in enumerate(rows) for row in card.mysteries]
    events = [(i, row.dimensions) for i, card in enumerate(rows) for row in card.events]

    def floats(values: Iterable[Any]) -> Floats:
        return np.array([float(value) for value in values])

    return Corpus(
        names=tuple(name for name, _ in kept),
        policy=policy,
        lpi=floats(card.lpi for card in rows),
        pcv=floats(card.pcv for card in rows),
        components=np.array([[float(card.components[name]) for name in COMPONENTS] for card in rows]),  # type: ignore[arg-type]  # those without are left out
        plays=np.array([card.lpi >= card.policy.lpi_threshold for card in rows]),  # type: ignore[operator]  # as above
        presses=np.array([card.pcv >= card.policy.pcv_threshold for card in rows]),  # type: ignore[operator]  # as above
        lpi_least=floats(card.policy.lpi_threshold for card in rows),
        pcv_least=floats(card.policy.pcv_threshold for card in rows),
        active=np.array([card.counts.active for card in rows], dtype=np.int64),
        tiers=np.array([card.counts.tiers for card in rows], dtype=float).reshape(-1, 3),
        densities=floats(measured.density for _, measured in mysteries),  # type: ignore[union-attr]  # as above
        mystery_owner=np.array([i for i, _ in mysteries], dtype=np.int64),
        dimensions=np.array([dims for _, dims in events], dtype=float).reshape(-1, 4),
        event_owner=np.array([i for i, _ in events], dtype=np.int64),
        left_out=tuple(left_out),
    )
