"""Long campaigns (LudicMetrics §5.9): events of low cumulative PCV are folded into phase summaries, the others stay active.

An archive keeps every folded event whole. What is shorter is what a judge reads: one line a phase instead of one an event.
Verdicts are computed from all of it, so that folding changes neither the gate nor consistency.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from ludic_deepeval.compact import compact
from ludic_deepeval.ledger import PHASE_NAMES, PHASES, Event, FactLedger, Frozen, Phase, SchemaVersion, Text
from ludic_deepeval.llm.tokens import most_tokens
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import score_ledger
from ludic_deepeval.table import PRESSES
from ludic_deepeval.text import word_count

SHARE: Final = Fraction(1, 5)
"""The share of PCV that may be folded away by default."""
_WORDS: Final = 8  # of an event's summary, in a phase's


class PhaseArchive(Frozen):
    """The folded events of a life phase.

    Attributes:
        phase: Which.
        summary: What happened, in a line: the beginning of each event's own words.
        events: The events, whole, in the order of the ledger.
    """

    phase: Phase
    summary: Text
    events: Annotated[tuple[Event, ...], Field(min_length=1)]


class Archive(Frozen):
    """A ledger of which some events are folded.

    Attributes:
        schema_version: 1.
        kind: What tells this file from a ledger.
        active: The ledger with the events that stay.
        phases: What was folded; a phase without folded events is not there.
        order: The ids of all events in the order of the ledger.
    """

    schema_version: SchemaVersion
    kind: Literal["archive"]
    active: FactLedger
    phases: tuple[PhaseArchive, ...]
    order: tuple[str, ...]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        names = [event.id for event in self._events()]
        if sorted(names) != sorted(set(self.order)) or len(names) != len(self.order):
            raise ValueError("@order@is not the ids of all events, each once")
        return self

    def _events(self) -> Iterator[Event]:
        yield from self.active.events
        for part in self.phases:
            yield from part.events

    @property
    def whole(self) -> FactLedger:
        """The ledger with nothing folded, as it was."""
        by_id = {event.id: event for event in self._events()}
        parts = self.active.model_dump(exclude={"events"}) | {"events": [by_id[name] for name in self.order]}
        return FactLedger.model_validate(parts)

    def compact(self) -> str:
        """What a judge reads: the active ledger without evidence, and a line for each phase's folded events."""
        lines = [compact(self.active)]
        if self.phases:
            lines.append("long ago")
            lines += [f"- {part.phase}: {part.summary}" for part in self.phases]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Folding:
    """An archive with what folding did.

    Attributes:
        archive: The ledger, folded.
        events: How many events there are.
        folded: How many were folded.
        pcv: PCV of the whole ledger, which is unchanged.
        folded_pcv: What the folded events contribute to it.
        tokens_before: The most tokens that the compact ledger has, with nothing folded.
        tokens_after: The same with the folded ones as summaries.
    """

    archive: Archive
    events: int
    folded: int
    pcv: Fraction
    folded_pcv: Fraction
    tokens_before: int
    tokens_after: int

    @property
    def saved(self) -> float:
        """The share of tokens that a judge is spared, in [0, 1); 0 where summaries would be no shorter."""
        return 1 - self.tokens_after / self.tokens_before


def fold_events(
    ledger: FactLedger, policy: Policy | None = None, *, share: Fraction = SHARE
) -> Folding | Unscored:
    """Fold the weakest events, as many as together contribute at most `share` of PCV.

    An event stays active, however weak, if it presses (immediacy of at least 7), if somebody takes part in it about whom
    there is an open hook, or if it says how somebody ended: dead, missing, alive.

    Args:
        ledger: A ledger all of whose events have their dimensions.
        policy: Weights of Eq 7.
        share: Between 0 and 1.

    Returns:
        The folding, or why PCV could not be measured.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share}; allowed: 0 to 1")
    card = score_ledger(ledger, policy)
    if isinstance(card.pcv, Unscored):
        return card.pcv
    counted = {row.id: row.counted for row in card.events}
    names = _weakest(ledger, counted, share * card.pcv)
    archive = _archive(ledger, names)
    before, after = most_tokens(compact(ledger)), most_tokens(archive.compact())
    return Folding(
        archive,
        len(ledger.events),
        len(names),
        card.pcv,
        sum((counted[name] for name in names), Fraction(0)),
        before,
        after,
    )


def _weakest(ledger: FactLedger, counted: dict[str, Fraction], limit: Fraction) -> frozenset[str]:
    endings = {
        relation.npc: event.id
        for event in ledger.in_order()
        for relation in event.relations
        if relation.status is not None
    }.values()
    on_hooks = {hook.npc for hook in ledger.hooks if hook.open and hook.npc}
    free = [
        event
        for event in ledger.events
        if (event.immediacy or 0) < PRESSES
        and not any(relation.npc in on_hooks for relation in event.relations)
        and event.id not in endings
    ]
    names: list[str] = []
    total = Fraction(0)
    # The earlier of two that are as weak goes first: the past is what a campaign can do without.
    for event in sorted(free, key=lambda one: (counted[one.id], one.phase)):
        total += counted[event.id]
        if total > limit:
            break
        names.append(event.id)
    return frozenset(names)


def _archive(ledger: FactLedger, names: frozenset[str]) -> Archive:
    folded = [event for event in ledger.events if event.id in names]
    by_phase = [(phase, tuple(event for event in folded if event.phase == phase)) for phase in PHASES]
    return Archive(
        schema_version=1,
        kind="archive",
        active=ledger.model_copy(
            update={"events": tuple(event for event in ledger.events if event.id not in names)}
        ),
        phases=tuple(
            PhaseArchive(phase=phase, summary=_summary(phase, events), events=events)
            for phase, events in by_phase
            if events
        ),
        order=tuple(event.id for event in ledger.events),
    )


def _summary(phase: Phase, events: tuple[Event, ...]) -> str:
    return f"{PHASE_NAMES[phase]}: " + "; ".join(_beginning(event.summary) for event in events)


def _beginning(text: str) -> str:
    """The first words of a summary; of a text without blanks, as many characters as count for as many words."""
    words = text.split()
    if len(words) > _WORDS:
        return " ".join(words[:_WORDS]).rstrip(",;:") + " …"
    whole = " ".join(words)
    return whole if word_count(whole) <= _WORDS else whole[: 2 * _WORDS] + "…"
