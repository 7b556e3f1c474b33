"""What the DeepEval metrics have in common: how one measures, what it leaves behind, and where it finds a ledger."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Final

from deepeval.metrics import BaseMetric  # noqa: TID251  # this package is the adapter
from deepeval.test_case import LLMTestCase  # noqa: TID251

from ludic_deepeval.bible import Bible, load_bible, resolve_bible
from ludic_deepeval.check import Checker
from ludic_deepeval.consistency import check_consistency
from ludic_deepeval.errors import InputError, LudicError, shown
from ludic_deepeval.files import read_bytes
from ludic_deepeval.judging import Reading
from ludic_deepeval.ledger import FactLedger, load_ledger, load_model
from ludic_deepeval.lockfile import Lockfile, load_lockfile, verify
from ludic_deepeval.lookup import find_lockfile, is_lockfile, story_of
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import score_ledger
from ludic_deepeval.settings import find_policy
from ludic_deepeval.sources import Story
from ludic_deepeval.text import Prose

NotaryCall = Callable[[str], FactLedger]
"""Reads prose into a ledger; what a model's Notary will be."""

_THREE_WAYS: Final = (
    'give metadata={"ledger": …} (a ledger or its path), or keep the story\'s lockfile under {folder}'
    " (ludic annotate, ludic lock), or give the metric a notary"
)


@dataclass(frozen=True)
class Measured:
    """What one metric says: the exact value it stands for, the value in [0, 1], the parts and the note."""

    score: float
    holds: bool
    breakdown: dict[str, Any]
    reason: str


class LedgerMetric(BaseMetric):  # type: ignore[misc]  # DeepEval has no types
    """Base: finds the ledger, scores it, and leaves the rest to `_outcome`.

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
    score: float | None
    reason: str | None
    error: str | None
    score_breakdown: dict[str, Any] | None

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
        self._forget()
        try:
            return self._settle(self._outcome(test_case))
        except LudicError as error:
            return self._settle(error)

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """The same; there is nothing to wait for."""
        return self.measure(test_case)

    def _forget(self) -> None:
        self.score, self.score_breakdown = None, None
        self.reason, self.error = None, None
        self.success = False

    def _settle(self, outcome: Measured | Unscored | LudicError) -> float | None:
        if isinstance(outcome, LudicError):
            self.error = str(outcome)
            return None
        if isinstance(outcome, Unscored):
            self.error = f"could not be measured ({outcome.cause}): {outcome.reason}"
            return None
        self.score, self.success = outcome.score, outcome.holds
        self.score_breakdown, self.reason = outcome.breakdown, outcome.reason
        return self.score

    @abstractmethod
    def _outcome(self, test_case: LLMTestCase) -> Measured | Unscored: ...

    def is_successful(self) -> bool:
        """Whether the last test case held; decided on exact numbers, not on the float that is shown."""
        return bool(self.success) and self.error is None

    @property
    def __name__(self) -> str:
        return self._title

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
