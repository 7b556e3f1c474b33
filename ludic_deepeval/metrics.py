"""The scores as DeepEval metrics: every backstory is an assertion.

A metric finds its ledger in `test_case.metadata["ledger"]` (a `FactLedger`, a mapping, or the path of a ledger or
lockfile), else in the lockfile under `lockfiles` whose hash is that of `actual_output`, else by the `notary` that it was
given. When it cannot measure it sets `error` and fails; it never scores 0 for want of a measurement.

The only module of this package that imports DeepEval's metrics.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Final

from deepeval.metrics import BaseMetric  # noqa: TID251  # this module is the adapter
from deepeval.test_case import LLMTestCase  # noqa: TID251

from ludic_deepeval.bible import Bible, load_bible, resolve_bible
from ludic_deepeval.check import Checker
from ludic_deepeval.consistency import check_consistency
from ludic_deepeval.errors import InputError, LudicError, shown
from ludic_deepeval.files import read_bytes
from ludic_deepeval.judging import Reading, unmet
from ludic_deepeval.ledger import FactLedger, load_ledger, load_model
from ludic_deepeval.lockfile import Lockfile, load_lockfile, verify
from ludic_deepeval.lookup import find_lockfile, is_lockfile, story_of
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.policy import Policy, find_policy
from ludic_deepeval.report.as_json import fault_json
from ludic_deepeval.report.margin import count, fix_note, inventory
from ludic_deepeval.scoring import decimal, score_ledger
from ludic_deepeval.sources import Story, read_story
from ludic_deepeval.text import Prose

NotaryCall = Callable[[str], FactLedger]
"""Reads prose into a ledger; what a model's Notary will be."""

_THREE_WAYS: Final = (
    'give metadata={"ledger": …} (a ledger or its path), or keep the story\'s lockfile under {folder}'
    " (ludic annotate, ludic lock), or give the metric a notary"
)


@dataclass(frozen=True)
class _Measured:
    """What one metric says: the exact value it stands for, the value in [0, 1], the parts and the note."""

    score: float
    holds: bool
    breakdown: dict[str, Any]
    reason: str


class _LedgerMetric(BaseMetric):  # type: ignore[misc]  # DeepEval has no types
    """Base: finds the ledger, scores it, and leaves the rest to `_judge`.

    Args:
        threshold: What the score must reach.
        policy: Weights and thresholds; by default those of the nearest `ludic.toml` or `pyproject.toml`.
        profile: Overrides the story's own.
        bible: A `Bible`; by default the one that the story or `metadata["bible"]` names.
        lockfiles: The folder in which lockfiles are looked for by hash.
        notary: Reads prose that has no ledger.
        strict_mode: Raise the threshold to 1.
        verbose_mode: DeepEval's switch for its own logs.
    """

    _required_params: ClassVar[list[Any]] = []
    _title: ClassVar[str]

    def __init__(  # DeepEval copies a metric by the names of its arguments
        self,
        threshold: float = 1.0,
        policy: Policy | None = None,
        profile: str | None = None,
        bible: Bible | None = None,
        lockfiles: str | Path = "test_cases",
        notary: NotaryCall | None = None,
        strict_mode: bool = False,
        verbose_mode: bool = False,
    ) -> None:
        self.threshold = 1.0 if strict_mode else threshold
        self.policy = policy
        self.profile = profile
        self.bible = bible
        self.lockfiles = lockfiles
        self.notary = notary
        self.strict_mode = strict_mode
        self.verbose_mode = verbose_mode
        self.async_mode = True
        self.include_reason = True

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """Measure one test case; return the score, or None with `error` set."""
        self.score = self.reason = self.error = self.score_breakdown = None
        self.success = False
        try:
            story, reading = self._read(test_case)
            outcome = self._judge(reading, story)
        except LudicError as error:
            self.error = str(error)
            return None
        if isinstance(outcome, Unscored):
            self.error = f"could not be measured ({outcome.cause}): {outcome.reason}"
            return None
        self.score, self.success = outcome.score, outcome.holds
        self.score_breakdown, self.reason = outcome.breakdown, outcome.reason
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """The same; there is nothing to wait for."""
        return self.measure(test_case)

    def is_successful(self) -> bool:
        """Whether the last test case held; decided on exact numbers, not on the float that is shown."""
        return bool(self.success) and self.error is None

    @property
    def __name__(self) -> str:
        return self._title

    @abstractmethod
    def _judge(self, reading: Reading, story: Story | None) -> _Measured | Unscored: ...

    def _least(self) -> Fraction:
        return Fraction(Decimal(str(self.threshold)))

    def _read(self, test_case: LLMTestCase) -> tuple[Story | None, Reading]:
        metadata: Mapping[str, Any] = test_case.metadata or {}
        given = metadata.get("ledger")
        prose = Prose(test_case.actual_output) if test_case.actual_output else None
        if given is None and prose is not None:
            given = find_lockfile(prose, Path(self.lockfiles))
        if given is None:
            if self.notary is None or prose is None:
                raise InputError(
                    "test case",
                    "no ledger for this story",
                    hint=_THREE_WAYS.replace("{folder}", str(self.lockfiles)),
                )
            return None, self._score(self.notary(prose.body), metadata)
        if isinstance(given, str | Path):
            return self._from_path(Path(given), prose, metadata)
        if isinstance(given, FactLedger):
            return None, self._score(given, metadata)
        if isinstance(given, Mapping):
            return None, self._score(_ledger_of(dict(given), prose), metadata)
        raise InputError(
            'metadata["ledger"]', f"found {shown(given)}", allowed="a FactLedger, a mapping or a path"
        )

    def _from_path(
        self, path: Path, prose: Prose | None, metadata: Mapping[str, Any]
    ) -> tuple[Story | None, Reading]:
        data = read_bytes(path)
        if not is_lockfile(data):
            return None, self._score(load_ledger(data, path), metadata)
        lock = load_lockfile(path)
        story = story_of(path)
        if prose is None and story is not None:
            prose = story.prose
        if prose is not None:
            verify(lock, prose, path)
        if lock.unread:
            raise InputError(
                path,
                f"{len(lock.unread)} paragraphs not read yet",
                hint="mark what is new, or: ludic relock --read",
            )
        if why := lock.too_little_grounded:
            raise InputError(path, f"could not be measured ({why.cause}): {why.reason}")
        if story is None or self.bible is not None or "bible" in metadata:
            return story, self._score(lock.ledger, metadata)
        return story, Checker(self.policy, profile=self.profile).read(story, lock)

    def _score(self, ledger: FactLedger, metadata: Mapping[str, Any]) -> Reading:
        policy = (self.policy or find_policy(Path.cwd())[0]).with_profile(
            self.profile or metadata.get("profile")
        )
        bible = self.bible or _named_bible(metadata.get("bible"))
        names = bible.names if bible else ()
        if log := metadata.get("background_log"):
            whole = ledger.model_dump() | {"background_log": [*ledger.background_log, *log]}
            ledger = load_ledger(whole, 'metadata["background_log"]')
        return Reading(
            ledger, score_ledger(ledger, policy, names=names), check_consistency(ledger, bible), names
        )


def _ledger_of(data: dict[str, Any], prose: Prose | None) -> FactLedger:
    if "source_sha256" not in data:
        return load_ledger(data, 'metadata["ledger"]')
    lock = load_model(Lockfile, data, 'metadata["ledger"]')
    if prose is not None:
        verify(lock, prose, Path('metadata["ledger"]'))
    return lock.ledger


def _named_bible(given: object) -> Bible | None:
    if given is None or isinstance(given, Bible):
        return given
    if isinstance(given, Path):
        return load_bible(given)
    if isinstance(given, str):
        return load_bible(resolve_bible(given, Path.cwd(), 'metadata["bible"]'))
    raise InputError('metadata["bible"]', f"found {shown(given)}", allowed="a name, a folder or a Bible")


def backstory_case(path: str | Path) -> LLMTestCase:
    """Return the test case of one story: its prose as `actual_output`, its lockfile in the metadata."""
    story = read_story(Path(path))
    return LLMTestCase(
        name=story.id,
        input=story.front.title or story.id,
        actual_output=story.prose.body,
        metadata={"ledger": str(story.lockfile), "story": str(story.path)},
    )


class LudicPotentialIndexMetric(_LedgerMetric):
    """Ludic Potential Index, LPI (LudicMetrics Eq 1–4).

    Range [0, 1], higher is more playable; passes at `threshold` (0.70), compared exactly. `score_breakdown` has RTN,
    MV, UCR, TH and the counts behind them. The threshold is this metric's own; weights come from the policy.
    """

    _title = "Ludic Potential Index"

    def __init__(self, threshold: float = 0.7, **options: Any) -> None:
        super().__init__(threshold=threshold, **options)

    def _judge(self, reading: Reading, story: Story | None) -> _Measured | Unscored:
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
            return _Measured(float(card.lpi), holds, breakdown, f"{note}: enough is left open to play.")
        told = [row.id for row in card.mysteries if row.hole is False]
        closed = f" The mystery '{told[0]}' names so much that it is an explanation." if told else ""
        return _Measured(
            float(card.lpi),
            holds,
            breakdown,
            f"{note}, needs {decimal(self._least(), self._least())}.{closed}{fix_note(reading)}",
        )


class PotentialConflictValueMetric(_LedgerMetric):
    """Potential Conflict Value, PCV (LudicMetrics Eq 7, §3.5), as the share of what the profile needs, at most 1.

    Range [0, 1], higher is more pressing; passes at 1. `score_breakdown` has the raw PCV, what is needed, the tier and
    a row for each event. `Unscored` (an error, not 0) when an event lacks its dimensions.
    """

    _title = "Potential Conflict Value"

    def _judge(self, reading: Reading, story: Story | None) -> _Measured | Unscored:
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
        return _Measured(float(share), holds, breakdown, note if holds else note + fix_note(reading))


class TemporalConsistencyMetric(_LedgerMetric):
    """Consistency (LudicMetrics §4.1, 4.3): 1 without a contradiction, else 0; passes at 1.

    Temporal faults and lore violations are counted apart in `score_breakdown`. Openness is never a fault.
    """

    _title = "Temporal Consistency"

    def _judge(self, reading: Reading, story: Story | None) -> _Measured | Unscored:
        del story
        report = reading.consistency
        faults = [fault_json(fault) for fault in report.faults]
        breakdown = {"temporal": report.temporal, "lore": report.lore, "faults": faults}
        if not faults:
            return _Measured(
                1.0, True, breakdown, "Nothing contradicts itself, the background log or the Story Bible."
            )
        told = " ".join(
            f"{fault.message} (“{fault.quotes[0]}” against “{fault.quotes[1]}”)." for fault in report.faults
        )
        return _Measured(0.0, self.threshold <= 0, breakdown, told)


class PlayabilityGateMetric(_LedgerMetric):
    """The gate (LudicMetrics §4.2): 1 when LPI ≥ 0.70 and PCV ≥ 150 (one-shot 100), else 0; passes at 1.

    `score_breakdown` has LPI, PCV, tier, quadrant and the reasons.
    """

    _title = "Playability Gate"

    def _judge(self, reading: Reading, story: Story | None) -> _Measured | Unscored:
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
            return _Measured(
                1.0,
                True,
                breakdown,
                f"Ready to play ({card.tier} tier). {inventory(card, reading.ledger.protagonist)}",
            )
        told = (
            f"{'; '.join(card.gate.reasons)} ({card.quadrant}). {inventory(card, reading.ledger.protagonist)}"
        )
        return _Measured(0.0, self.threshold <= 0, breakdown, told + fix_note(reading))


class StoryExpectationMetric(_LedgerMetric):
    """Whether a story is what its front matter says: 1 when every figure under `expect` is met, else 0; passes at 1.

    So that a story which is meant to fail the gate, for a stated reason, is an assertion too.
    """

    _title = "Story Expectation"

    def _judge(self, reading: Reading, story: Story | None) -> _Measured | Unscored:
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
            return _Measured(1.0, True, breakdown, f"As its front matter expects: {met}.")
        return _Measured(0.0, self.threshold <= 0, breakdown, "; ".join(broken))


__all__ = [
    "LudicPotentialIndexMetric",
    "PlayabilityGateMetric",
    "PotentialConflictValueMetric",
    "StoryExpectationMetric",
    "TemporalConsistencyMetric",
    "backstory_case",
    "find_lockfile",
]
