"""The scores of a Fact Ledger as DeepEval metrics: every backstory is an assertion."""

from abc import abstractmethod
from fractions import Fraction
from pathlib import Path
from typing import Any

from deepeval.test_case import LLMTestCase  # noqa: TID251  # this package is the adapter

from ludic_deepeval.errors import InputError
from ludic_deepeval.judging import Reading, unmet
from ludic_deepeval.metrics.base import LedgerMetric, Measured
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.report.as_json import fault_json
from ludic_deepeval.report.margin import count, fix_note, inventory
from ludic_deepeval.scoring import decimal
from ludic_deepeval.sources import Story, read_story


def backstory_case(path: str | Path) -> LLMTestCase:
    """Return the test case of one story: its prose as `actual_output`, its lockfile in the metadata."""
    story = read_story(Path(path))
    return LLMTestCase(
        name=story.id,
        input=story.front.title or story.id,
        actual_output=story.prose.body,
        metadata={"ledger": str(story.lockfile), "story": str(story.path)},
    )


class _ReadingMetric(LedgerMetric):
    """Base: tells of one reading."""

    def _outcome(self, test_case: LLMTestCase) -> Measured | Unscored:
        story, reading = self._read(test_case)
        return self._judge(reading, story)

    @abstractmethod
    def _judge(self, reading: Reading, story: Story | None) -> Measured | Unscored: ...


class LudicPotentialIndexMetric(_ReadingMetric):
    """Ludic Potential Index, LPI (LudicMetrics Eq 1–4).

    Range [0, 1], higher is more playable; passes at `threshold` (0.70), compared exactly. `score_breakdown` has RTN,
    MV, UCR, TH and the counts behind them. The threshold is this metric's own; weights come from the policy.
    """

    _title = "Ludic Potential Index"

    def __init__(self, threshold: float = 0.7, **options: Any) -> None:
        super().__init__(threshold=threshold, **options)

    def _judge(self, reading: Reading, story: Story | None) -> Measured | Unscored:
        del story
        card = reading.card
        if isinstance(card.lpi, Unscored):
            return card.lpi
        holds = card.lpi >= self._least()
        parts = {name: float(value) for name, value in card.components.items() if isinstance(value, Fraction)}
        breakdown = parts | {
            "lpi": float(card.lpi),
            "active_people": card.counts.active,
            "open_hooks": list(card.counts.tiers),
            "goals": card.counts.goals,
            "holes": card.counts.holes,
        }
        note = f"{inventory(card, reading.ledger.protagonist)} LPI {decimal(card.lpi, self._least())}"
        if holds:
            return Measured(float(card.lpi), holds, breakdown, f"{note}: enough is left open to play.")
        told = [row.id for row in card.mysteries if row.hole is False]
        closed = f" The mystery '{told[0]}' names so much that it is an explanation." if told else ""
        return Measured(
            float(card.lpi),
            holds,
            breakdown,
            f"{note}, needs {decimal(self._least(), self._least())}.{closed}{fix_note(reading)}",
        )


class PotentialConflictValueMetric(_ReadingMetric):
    """Potential Conflict Value, PCV (LudicMetrics Eq 7, §3.5), as the share of what the profile needs, at most 1.

    Range [0, 1], higher is more pressing; passes at 1. `score_breakdown` has the raw PCV, what is needed, the tier and
    a row for each event. `Unscored` (an error, not 0) when an event lacks its dimensions.
    """

    _title = "Potential Conflict Value"

    def _judge(self, reading: Reading, story: Story | None) -> Measured | Unscored:
        del story
        card = reading.card
        if isinstance(card.pcv, Unscored):
            return card.pcv
        needed = card.policy.pcv_threshold
        share = min(Fraction(1), card.pcv / needed) if needed else Fraction(1)
        holds = share >= self._least()
        breakdown = {
            "pcv": float(card.pcv),
            "needed": float(needed),
            "tier": card.tier,
            "events": {
                row.id: {"raw": float(row.raw), "band": row.band, "counted": float(row.counted)}
                for row in card.events
            },
        }
        halved = [row.id for row in card.events if row.counted < row.raw]
        note = f"{count(len(card.events), 'event', 'events')}, PCV {decimal(card.pcv, needed, places=0)} ({decimal(needed, needed, places=0)} needed), {card.tier} tier."
        if halved:
            note += f" '{halved[0]}' counts half: two stronger events are as grave."
        return Measured(float(share), holds, breakdown, note if holds else note + fix_note(reading))


class TemporalConsistencyMetric(_ReadingMetric):
    """Consistency (LudicMetrics §4.1, 4.3): 1 without a contradiction, else 0; passes at 1.

    Temporal faults and lore violations are counted apart in `score_breakdown`. Openness is never a fault.
    """

    _title = "Temporal Consistency"

    def _judge(self, reading: Reading, story: Story | None) -> Measured | Unscored:
        del story
        report = reading.consistency
        faults = [fault_json(fault) for fault in report.faults]
        breakdown = {"temporal": report.temporal, "lore": report.lore, "faults": faults}
        if not faults:
            return Measured(
                1.0, True, breakdown, "Nothing contradicts itself, the background log or the Story Bible."
            )
        told = " ".join(
            f"{fault.message} (“{fault.quotes[0]}” against “{fault.quotes[1]}”)." for fault in report.faults
        )
        return Measured(0.0, self.threshold <= 0, breakdown, told)


class PlayabilityGateMetric(_ReadingMetric):
    """The gate (LudicMetrics §4.2): 1 when LPI ≥ 0.70 and PCV ≥ 150 (one-shot 100), else 0; passes at 1.

    `score_breakdown` has LPI, PCV, tier, quadrant and the reasons.
    """

    _title = "Playability Gate"

    def _judge(self, reading: Reading, story: Story | None) -> Measured | Unscored:
        del story
        card = reading.card
        if isinstance(card.gate, Unscored):
            return card.gate
        assert isinstance(card.lpi, Fraction)  # noqa: S101  # a gate was decided on both
        assert isinstance(card.pcv, Fraction)  # noqa: S101
        breakdown = {
            "lpi": float(card.lpi),
            "pcv": float(card.pcv),
            "tier": card.tier,
            "quadrant": card.quadrant,
            "reasons": list(card.gate.reasons),
        }
        if card.gate.passed:
            return Measured(
                1.0,
                True,
                breakdown,
                f"Ready to play ({card.tier} tier). {inventory(card, reading.ledger.protagonist)}",
            )
        told = (
            f"{'; '.join(card.gate.reasons)} ({card.quadrant}). {inventory(card, reading.ledger.protagonist)}"
        )
        return Measured(0.0, self.threshold <= 0, breakdown, told + fix_note(reading))


class StoryExpectationMetric(_ReadingMetric):
    """Whether a story is what its front matter says: 1 when every figure under `expect` is met, else 0; passes at 1.

    So that a story which is meant to fail the gate, for a stated reason, is an assertion too.
    """

    _title = "Story Expectation"

    def _judge(self, reading: Reading, story: Story | None) -> Measured | Unscored:
        if story is None or story.front.expect is None:
            raise InputError(
                "test case",
                "no story with an expectation",
                allowed="a lockfile beside a story with expect: in its front matter",
            )
        expected = story.front.expect.model_dump(exclude_none=True)
        broken = unmet(story, reading)
        breakdown = {"expected": expected, "unmet": broken}
        if not broken:
            met = ", ".join(
                f"{name} {'/'.join(map(str, value)) if isinstance(value, tuple) else value}"
                for name, value in expected.items()
            )
            return Measured(1.0, True, breakdown, f"As its front matter expects: {met}.")
        return Measured(0.0, self.threshold <= 0, breakdown, "; ".join(broken))
