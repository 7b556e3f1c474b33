"""The two ways in which rewriting fails (LudicMetrics §5.5), named from a trial's drafts: pure functions, no model.

The *cascade* is loud: nothing ever passes the gate, and rewrite after rewrite the ledger stays nearly what it was, thins out or
scores less. The *quiet* failure looks like a success: the gate is passed, by people and threads that rest on nothing in the
Story Bible, so that whoever runs the game has to make the world up around them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final, Protocol

from ludic_deepeval.bible import Bible
from ludic_deepeval.effort import Effort
from ludic_deepeval.ledger import PHASES, FactLedger, Flag, Frozen, Hook, Npc, Phase
from ludic_deepeval.rewrites import anchors_of, likeness

NEAR: Final = 0.8  # likeness from which two ledgers are nearly identical
FEWEST_REWRITES: Final = 2
SIGNS_OF_CASCADE: Final = 2


class Draft(Protocol):
    """What is looked at of a draft: its ledger, its LPI, and whether it passed the gate."""

    @property
    def ledger(self) -> FactLedger:
        """What it says."""

    @property
    def lpi(self) -> Fraction:
        """Its LPI."""

    @property
    def passed(self) -> bool:
        """Whether it passed the gate."""


class Cascade(Frozen):
    """Whether a trial is a rewrite cascade, and what speaks for it.

    Attributes:
        found: No draft passed, there were at least two rewrites, and at least two of the three signs are there.
        near_identical: Sign: each rewrite's ledger is nearly that of the rewrite before (`NEAR`).
        phases_lost: Sign: the phases that hold fewer things in the last draft than in the first.
        falling: Sign: the last draft's LPI is below the first's.
        likeness: How alike each rewrite's ledger is to the one before it, from the second rewrite on.
    """

    found: Flag
    near_identical: Flag
    phases_lost: tuple[Phase, ...]
    falling: Flag
    likeness: tuple[float, ...]


class Quiet(Frozen):
    """Whether a trial passed the gate on things that rest on nothing in the bible.

    Attributes:
        found: The first draft did not pass and the last did, and the people and open hooks without an anchor grew, by more
            than those with one.
        anchored: How many more people and open hooks with an anchor the last draft has than the first.
        unanchored: How many more without.
    """

    found: Flag
    anchored: int
    unanchored: int


@dataclass(frozen=True, slots=True)
class QuietByEffort:
    """The same asked of what a game master had to invent, the paper's own measure.

    Attributes:
        found: The last draft passed and the first did not, more was invented from it, and E_a rose.
        reused: How many more people and hooks were reused.
        invented: How many more were invented.
        rise: E_a after less E_a before.
    """

    found: bool
    reused: int
    invented: int
    rise: Fraction


def cascade(drafts: Sequence[Draft]) -> Cascade:
    """Look for a rewrite cascade in the drafts of one trial, in order."""
    if not drafts:
        return Cascade(found=False, near_identical=False, phases_lost=(), falling=False, likeness=())
    first, last = drafts[0], drafts[-1]
    rewrites = drafts[1:]
    alike = tuple(likeness(one.ledger, other.ledger) for one, other in pairwise(rewrites))
    near = bool(alike) and min(alike) >= NEAR
    had, has = phase_items(first.ledger), phase_items(last.ledger)
    lost = tuple(phase for phase in PHASES if has[phase] < had[phase])
    falling = last.lpi < first.lpi
    signs = near + bool(lost) + falling
    return Cascade(
        found=len(rewrites) >= FEWEST_REWRITES
        and not any(draft.passed for draft in drafts)
        and signs >= SIGNS_OF_CASCADE,
        near_identical=near,
        phases_lost=lost,
        falling=falling,
        likeness=alike,
    )


def phase_items(ledger: FactLedger) -> dict[Phase, int]:
    """How much each life phase holds: its events, and what changes in them of body, people, things and skills."""
    held: dict[Phase, int] = dict.fromkeys(PHASES, 0)
    for event in ledger.events:
        changes = (event.physical, event.relations, event.inventory, event.skills)
        held[event.phase] += 1 + sum(map(len, changes))
    return held


def quiet_failure(drafts: Sequence[Draft], bible: Bible) -> Quiet:
    """Look for the quiet failure in the drafts of one trial, in order."""
    if not drafts:
        return Quiet(found=False, anchored=0, unanchored=0)
    (had, loose_before), (has, loose_after) = (entities(one.ledger, bible) for one in (drafts[0], drafts[-1]))
    anchored, unanchored = has - had, loose_after - loose_before
    turned = drafts[-1].passed and not drafts[0].passed
    return Quiet(
        found=turned and unanchored > 0 and unanchored > anchored, anchored=anchored, unanchored=unanchored
    )


def entities(ledger: FactLedger, bible: Bible) -> tuple[int, int]:
    """How many people and open hooks rest on a node of the bible, and how many on none."""
    items: tuple[Npc | Hook, ...] = (*ledger.npcs, *(hook for hook in ledger.hooks if hook.open))
    anchored = sum(bool(anchors_of(item, ledger, bible)) for item in items)
    return anchored, len(items) - anchored


def quiet_by_effort(
    before: Effort, after: Effort, *, passed_before: bool, passed_after: bool
) -> QuietByEffort:
    """Look for the quiet failure in the adaptation effort of the first and the last draft."""
    invented, rise = after.invented - before.invented, after.value - before.value
    turned = passed_after and not passed_before
    return QuietByEffort(turned and invented > 0 and rise > 0, after.reused - before.reused, invented, rise)
