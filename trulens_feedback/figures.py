"""Every figure of this project as one flat row: a name, a value or why there is none, a direction, a range, a reason.

Pure: TruLens is not imported here. `metrics` makes TruLens `Metric`s of these rows, `replay` writes rows that were measured
before. A row's value is a share in [0, 1], like the scores of the DeepEval metrics: PCV is the share of what its profile
needs, points of WORTH are the share of their range (the points themselves are in `details`). So no row can be -1, which TruLens
takes for a reply that could not be read.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from typing import Any, Final, TypeAlias

from ludic_deepeval.effort import Branching, Effort
from ludic_deepeval.errors import InputError, shown
from ludic_deepeval.files import dump_json
from ludic_deepeval.judging import Reading
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.report.margin import count, fix_note, inventory
from ludic_deepeval.scoring import ScoreCard, decimal
from ludic_deepeval.session import Session
from worth_deepeval.scoring import WorthScore

VERSION: Final = 1  # raised when a figure is computed otherwise: TruLens keeps one result a name and a record
MOST_DETAILS: Final = 40  # TruLens loses a metric whose span has more than 128 attributes, and says nothing
Scalar: TypeAlias = str | int | float | bool
# What decides each figure, by the names of `Policy`; gates decide verdicts, and profiles only what PCV is a share of.
_OF_LPI: Final = (
    "weights",
    "tau",
    "node_share",
    "active_cap",
    "reactivity_cap",
    "goal_cap",
    "hole_peak",
    "hole_decay",
    "density",
)
_OF_PCV: Final = ("pcv_weights", "band_width", "full_events", "further_share")


@dataclass(frozen=True, slots=True)
class Measure:
    """What a figure is.

    Attributes:
        name: Its name in TruLens, where results are told apart by it: it carries what makes them incomparable.
        says: What it measures, with its equation.
        higher_is_better: Its direction.
        low: Its least value.
        high: Its greatest value.
    """

    name: str
    says: str
    higher_is_better: bool = True
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that was measured, or the cause why it was not.

    Attributes:
        measure: What it is.
        outcome: Its value, or the cause and reason why there is none.
        reason: One line for people.
        details: Numbers and words behind it.
    """

    measure: Measure
    outcome: Outcome[float]
    reason: str
    details: Mapping[str, Scalar] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what would poison a database.

        Raises:
            InputError: NaN, infinity, a value outside of the range, or more details than fit.
        """
        if isinstance(self.outcome, Scored):
            require_score(self.measure.name, self.outcome.value, self.measure.low, self.measure.high)
        require_details(self.measure.name, self.details)

    @property
    def name(self) -> str:
        """The name of its measure."""
        return self.measure.name

    @property
    def value(self) -> float | None:
        """The value, None where it was not measured."""
        return self.outcome.value if isinstance(self.outcome, Scored) else None

    @property
    def why(self) -> str:
        """The reason, or why there is no value."""
        if isinstance(self.outcome, Scored):
            return self.reason
        return f"unmeasured ({self.outcome.cause}): {self.outcome.reason}"


def require_score(name: str, value: object, low: float = 0.0, high: float = 1.0) -> float:
    """Return a score that TruLens can keep.

    Raises:
        InputError: It is no number, NaN, infinite, or outside of its range (-1 is TruLens's sign for a failed judge).
    """
    if isinstance(value, Fraction):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"metric {name}", f"found {shown(value)}", allowed="a number")
    if not math.isfinite(value):
        raise InputError(f"metric {name}", f"found {value}", allowed="a finite number")
    if not low <= value <= high:
        raise InputError(f"metric {name}", f"found {value:g}", allowed=f"{low:g} to {high:g}")
    return float(value)


def require_details(name: str, details: Mapping[str, Any]) -> None:
    """Refuse details that TruLens would lose a metric for, or that no JSON holds.

    Raises:
        InputError: Too many, or a number that is not finite.
    """
    if len(details) > MOST_DETAILS:
        raise InputError(
            f"metric {name}",
            f"{len(details)} details",
            allowed=f"at most {MOST_DETAILS}: TruLens drops a metric with more than 128 attributes",
        )
    for key, value in details.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"metric {name}", f"found {value}", where=key, allowed="a finite number")
        if not isinstance(value, str | int | float | bool):
            raise InputError(
                f"metric {name}",
                f"found {shown(value)}",
                where=key,
                allowed="text, a number or a truth value",
            )


def policy_text(policy: Policy) -> dict[str, str]:
    """The numbers of a policy that decide figures, as exact text: what the sidecar of a study holds, too."""
    values = {name: getattr(policy, name) for name in (*_OF_LPI, *_OF_PCV)} | {
        "pcv_gate": policy.pcv_threshold
    }
    return {
        name: " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        for name, value in values.items()
    }


def tag(policy: Mapping[str, str], *, pcv: bool = False) -> str:
    """What a name carries when a figure was computed otherwise than by default: a version, and a hash of the settings."""
    default = policy_text(Policy())
    names = (*_OF_PCV, "pcv_gate") if pcv else _OF_LPI
    changed = {name: policy[name] for name in names if policy.get(name, default[name]) != default[name]}
    tags = [f"v{VERSION}"] if VERSION > 1 else []
    if changed:
        tags.append(sha256(dump_json(changed).encode()).hexdigest()[:8])
    return f" [{', '.join(tags)}]" if tags else ""


def reading_measures(policy: Policy | Mapping[str, str]) -> dict[str, Measure]:
    """The measures of a ledger's reading under a policy, or its text, by their short names."""
    text = policy_text(policy) if isinstance(policy, Policy) else policy
    mark, pcv = tag(text), tag(text, pcv=True)
    needed = decimal(Fraction(text["pcv_gate"]), places=0)
    return {
        "lpi": Measure(f"LPI{mark}", "Ludic Potential Index (Eq 1)"),
        "rtn": Measure(f"RTN{mark}", "Relational Tension Nodes (Eq 2)"),
        "mv": Measure(f"MV{mark}", "Motivation Vector (Eq 3)"),
        "ucr": Measure(f"UCR{mark}", "Unresolved Conflict Ratio, the urgent share of open threads (Eq 3)"),
        "th": Measure(f"TH{mark}", "Thematic Holes, what is left unexplained; peaks at three (Eq 4)"),
        "pcv": Measure(
            f"PCV of {needed}{pcv}", f"Potential Conflict Value (Eq 7) as the share of {needed}, at most 1"
        ),
        "consistency": Measure("Consistency", "1 without a contradiction, else 0 (§4.1, 4.3)"),
    }


def reading_figures(reading: Reading, why: Unscored | None = None) -> tuple[Figure, ...]:
    """LPI with its four parts, PCV and consistency of one reading.

    Args:
        reading: A scored ledger.
        why: Why the ledger cannot be relied on, if it cannot: then nothing was measured.
    """
    measures = reading_measures(reading.card.policy)
    if why is not None:
        return tuple(Figure(measure, why, "") for measure in measures.values())
    found = _reading_figures(reading, measures)
    return tuple(found)


def unread_figures(policy: Policy, why: Unscored) -> tuple[Figure, ...]:
    """The same figures of a story that nobody has read: none of them is measured."""
    return tuple(Figure(measure, why, "") for measure in reading_measures(policy).values())


def _reading_figures(reading: Reading, measures: Mapping[str, Measure]) -> Iterator[Figure]:
    card = reading.card
    counts = card.counts
    note = inventory(card, reading.ledger.protagonist)
    fix = fix_note(reading)
    yield _figure(
        measures["lpi"],
        card.lpi,
        note + fix,
        {
            **_shares(card),
            "passes": not isinstance(card.lpi, Unscored) and card.lpi >= card.policy.lpi_threshold,
        },
    )
    told = {
        "rtn": f"{count(counts.active, 'person', 'people')} with unfinished business; Σ τ of open threads"
        f" {decimal(counts.reactivity)}.",
        "mv": f"{count(counts.goals, 'goal', 'goals')} pursued.",
        "ucr": f"{counts.tiers[0]} of {count(sum(counts.tiers), 'open thread', 'open threads')} urgent.",
        "th": f"{count(counts.holes or 0, 'thing', 'things')} left unexplained.",
    }
    for name, text in told.items():
        yield _figure(measures[name], card.components[name], text)
    needed = card.policy.pcv_threshold
    if isinstance(card.pcv, Unscored):
        yield Figure(measures["pcv"], card.pcv, "")
    else:
        share = min(Fraction(1), card.pcv / needed) if needed else Fraction(1)
        what = count(len(card.events), "event", "events")
        yield _figure(
            measures["pcv"],
            share,
            f"{what}, PCV {decimal(card.pcv, needed, places=0)} ({decimal(needed, places=0)} needed), {card.tier} tier.",
            {"pcv": float(card.pcv), "needed": float(needed), "tier": str(card.tier)},
        )
    report = reading.consistency
    faults = " ".join(f"{fault.message}." for fault in report.faults)
    yield _figure(
        measures["consistency"],
        Fraction(report.score),
        faults or "Nothing contradicts itself, the background log or the Story Bible.",
        {"temporal": report.temporal, "lore": report.lore},
    )


def _shares(card: ScoreCard) -> dict[str, Scalar]:
    return {name: float(value) for name, value in card.components.items() if isinstance(value, Fraction)}


def _figure(
    measure: Measure, value: Fraction | Unscored, reason: str, details: Mapping[str, Scalar] | None = None
) -> Figure:
    if isinstance(value, Unscored):
        return Figure(measure, value, "")
    return Figure(measure, Scored(float(value)), reason, details or {})


EFFORT: Final = Measure(
    "E_a", "Adaptation Effort, the share of people and threads that had to be invented (Eq 12)", False
)
DIVERSITY: Final = Measure("Div_alpha", "Branching Diversity of three openings (§5.5)")


def session_figures(session: Session) -> tuple[Figure, ...]:
    """E_a (lower is better) and Div_alpha of a recorded stress test."""
    by = session.producers
    effort, branching = session.effort(), session.diversity()
    return (_effort(effort, by), _diversity(branching, by))


def _effort(outcome: Outcome[Effort], by: str) -> Figure:
    if isinstance(outcome, Unscored):
        return Figure(EFFORT, outcome, "")
    found = outcome.value
    told = found.reused + found.invented
    note = f"{found.invented} of {told} people and threads had to be invented"
    note += f", {found.ambiguous} could not be told" if found.ambiguous else ""
    details: dict[str, Scalar] = {
        "band": found.band,
        "reused": found.reused,
        "invented": found.invented,
        "ambiguous": found.ambiguous,
    }
    return _figure(EFFORT, found.value, f"{note} ({found.band}); {by}.", details)


def _diversity(outcome: Outcome[Branching], by: str) -> Figure:
    if isinstance(outcome, Unscored):
        return Figure(DIVERSITY, outcome, "")
    found = outcome.value
    details: dict[str, Scalar] = {
        "people": float(1 - found.npc_overlap),
        "threads": float(1 - found.hook_overlap),
        "by_item": float(found.by_item),
        "clusters": found.clusters,
    }
    note = f"people differ by {details['people']:.2f}, threads by {details['threads']:.2f}; {by}."
    return _figure(DIVERSITY, found.value, note, details)


def worth_measures(episode: str) -> tuple[Measure, Measure, Measure]:
    """Clue, participant and total of one episode: its id is in each name, since points of two are on two scales (§4.10)."""
    return (
        Measure(f"WORTH clue [{episode}]", "Points for key sentences (§4.5) as the share of what K gives"),
        Measure(
            f"WORTH participant [{episode}]", "Points for participants (§4.5) as the share of their range"
        ),
        Measure(f"WORTH total [{episode}]", "All points (§4.5) as the share of their range"),
    )


def worth_figures(
    episode: str, outcome: Outcome[WorthScore], *, discovery: bool = True
) -> tuple[Figure, ...]:
    """Clue, participant and total of one reply.

    Args:
        episode: The episode's id.
        outcome: The score of the reply, or why it has none.
        discovery: False where the key's sentences were shown: points for them check the manipulation and are no result.
    """
    clue, participant, total = worth_measures(episode)
    if isinstance(outcome, Unscored):
        return tuple(Figure(one, outcome, "") for one in (clue, participant, total))
    found = outcome.value
    least, most = found.range.participants
    span = found.range
    told = Figure(
        participant,
        Scored(_share(found.participant, least, most)),
        f"{found.participant} points of {least} to {most}: rightly {', '.join(found.correct) or 'nobody'},"
        f" wrongly {', '.join(found.incorrect) or 'nobody'}.",
        {"points": found.participant, "minimum": least, "maximum": most},
    )
    if not discovery:
        shown_key = Unscored("selections", "the key's ids were shown: points for sentences are no result")
        return (Figure(clue, shown_key, ""), told, Figure(total, shown_key, ""))
    return (
        Figure(
            clue,
            Scored(_share(found.clue, 0, span.clues)),
            f"{found.clue} points of 0 to {span.clues}: key sentences {', '.join(found.hits) or 'none'}.",
            {"points": found.clue, "minimum": 0, "maximum": span.clues},
        ),
        told,
        Figure(
            total,
            Scored(_share(found.total, span.minimum, span.maximum)),
            f"{found.total} points of {span.minimum} to {span.maximum}: {found.clue} for sentences,"
            f" {found.participant} for participants.",
            {"points": found.total, "minimum": span.minimum, "maximum": span.maximum},
        ),
    )


def _share(points: int, least: int, most: int) -> float:
    return float(Fraction(points - least, most - least)) if most > least else 1.0
