"""PCV of Eq 7 (LudicMetrics §3.5): what each event adds, saturation by gravity band, and the tier.

Sums are whole numbers over one denominator, and what an event adds is worked out once for its four dimensions.
"""

from collections import Counter
from fractions import Fraction
from typing import Final, Literal, NamedTuple, TypeAlias

from ludic_deepeval.ledger import Event
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.policy import Policy

TierName: TypeAlias = Literal["campaign", "one-shot", "insufficient"]
_MOST_WORKED_OUT: Final = 4096


class EventRow(NamedTuple):
    """One event under Eq 7.

    Attributes:
        id: The event's id.
        phase: P1, P2 or P3.
        dimensions: I, G, V, D.
        raw: w·(I, G, V, D); from 10 to 100 with the default weights.
        band: ⌊G/3⌋, the gravity band that saturates.
        counted: What it adds to PCV: all of `raw`, or half of it past the second strongest of its band.
    """

    id: str
    phase: str
    dimensions: tuple[int, int, int, int]
    raw: Fraction
    band: int
    counted: Fraction


class Conflict(NamedTuple):
    """PCV and what follows from it alone."""

    pcv: Fraction
    tier: TierName
    pressing: bool


def tier_of(pcv: Fraction, policy: Policy | None = None) -> TierName:
    """The tier by PCV (§3.5): campaign from 150, one-shot from 100, else insufficient."""
    policy = policy or Policy()
    if pcv >= policy.campaign_tier:
        return "campaign"
    return "one-shot" if pcv >= policy.one_shot_tier else "insufficient"


class _Term(NamedTuple):
    """What one event adds, by its dimensions: as a whole number over a denominator, whole and halved."""

    scaled: int
    raw: Fraction
    band: int
    half: Fraction


def conflict_of(events: tuple[Event, ...], policy: Policy) -> Conflict | Unscored:
    """Sum the events of a ledger, or say which of them lacks its dimensions."""
    known = policy.terms
    part, whole = policy.further_share.as_integer_ratio()
    total = 0
    bands: dict[int, list[int]] = {}
    for event in events:
        dimensions = event.immediacy, event.gravity, event.linkage, event.divergence
        term = known.get(dimensions) or _term(dimensions, policy)
        if term is None:
            return Unscored(
                "dimensions", f"event '{event.id}' has no immediacy, gravity, linkage and divergence"
            )
        scaled, _, band, _ = term
        total += scaled
        if band in bands:
            bands[band].append(scaled)
        else:
            bands[band] = [scaled]
    total *= whole
    for members in bands.values():
        if len(members) > policy.full_events:
            # Strongest first: what a band counts in full must not depend on the order of telling.
            members.sort(reverse=True)
            total -= (whole - part) * sum(members[policy.full_events :])
    conflict: Conflict | None = policy.totals.get(total)
    return conflict or _total(total, policy)


def event_rows(events: tuple[Event, ...], policy: Policy) -> tuple[EventRow, ...]:
    """A row for each event, in the ledger's order; all of them have their dimensions."""
    found = [_term((e.immediacy, e.gravity, e.linkage, e.divergence), policy) for e in events]
    terms = [term for term in found if term is not None]
    in_full: Counter[int] = Counter()
    counted: dict[int, Fraction] = {}
    for at in sorted(range(len(terms)), key=lambda at: -terms[at].scaled):
        in_full[terms[at].band] += 1
        counted[at] = terms[at].half if in_full[terms[at].band] > policy.full_events else terms[at].raw
    return tuple(
        EventRow(
            event.id,
            event.phase,
            (event.immediacy, event.gravity, event.linkage, event.divergence),  # type: ignore[arg-type]  # a term has all four
            term.raw,
            term.band,
            counted[at],
        )
        for at, (event, term) in enumerate(zip(events, terms, strict=True))
    )


def _term(dimensions: tuple[int | None, ...], policy: Policy) -> _Term | None:
    i, g, v, d = dimensions
    if i is None or g is None or v is None or d is None:
        return None
    w_i, w_g, w_v, w_d, scale = policy.pcv_scaled
    scaled = w_i * i + w_g * g + w_v * v + w_d * d
    raw = Fraction(scaled, scale)
    term = _Term(scaled, raw, g // policy.band_width, raw * policy.further_share)
    policy.terms[dimensions] = term  # at most 10⁴ of them
    return term


def _total(total: int, policy: Policy) -> Conflict:
    pcv = Fraction(total, policy.pcv_scaled[-1] * policy.further_share.denominator)
    conflict = Conflict(pcv, tier_of(pcv, policy), pcv >= policy.pcv_threshold)
    if len(policy.totals) < _MOST_WORKED_OUT:
        policy.totals[total] = conflict
    return conflict
