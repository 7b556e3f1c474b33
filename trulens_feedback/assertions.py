"""The lore check and groundedness as DeepEval metrics, offline: the line or story is `actual_output`.

The only module of this package that imports DeepEval; it imports no TruLens. What could not be measured sets `error` and fails; it
does not score 0.
"""

from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from deepeval.metrics import BaseMetric  # noqa: TID251  # this module is the adapter
from deepeval.test_case import LLMTestCase  # noqa: TID251

from ludic_deepeval.bible import Bible, open_bible
from ludic_deepeval.errors import InputError, LudicError, clean
from ludic_deepeval.outcome import Unscored
from trulens_feedback.lexical import LexicalJudge
from trulens_feedback.lore import lore_faults
from trulens_feedback.retrieval import Chunk, chunks_of
from trulens_feedback.setting import Setting
from trulens_feedback.triad import groundedness


@dataclass(frozen=True)
class _Measured:
    """What one metric says: the exact score, its parts and a line."""

    score: Fraction
    breakdown: dict[str, Any]
    reason: str


class _BibleMetric(BaseMetric):  # type: ignore[misc]  # DeepEval has no types
    """Base: holds a text against a version of a bible.

    Args:
        bible: A `Bible`, or what `ludic check --bible` takes; by default what `metadata["bible"]` names.
        threshold: What the score must reach.
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
        bible: Bible | str | Path | None = None,
        threshold: float = 1.0,
        strict_mode: bool = False,
        verbose_mode: bool = False,
    ) -> None:
        self.bible = bible
        self.threshold = 1.0 if strict_mode else threshold
        self.strict_mode = strict_mode
        self.verbose_mode = verbose_mode
        self.async_mode = True
        self.include_reason = True

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """Measure one test case; return the score, or None with `error` set."""
        self.score, self.score_breakdown, self.reason, self.error = None, None, None, None
        self.success = False
        try:
            outcome = self._outcome(test_case, test_case.actual_output or "", self._setting(test_case))
        except LudicError as error:
            self.error = str(error)
            return None
        if isinstance(outcome, Unscored):
            self.error = f"could not be measured ({outcome.cause}): {outcome.reason}"
            return None
        self.score = float(outcome.score)
        self.success = outcome.score >= Fraction(Decimal(str(self.threshold)))
        self.score_breakdown, self.reason = outcome.breakdown, outcome.reason
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """The same; there is nothing to wait for."""
        return self.measure(test_case)

    @abstractmethod
    def _outcome(self, test_case: LLMTestCase, text: str, setting: Setting) -> _Measured | Unscored: ...

    def is_successful(self) -> bool:
        """Whether the last test case held; decided on the exact score."""
        return bool(self.success) and self.error is None

    @property
    def __name__(self) -> str:
        return self._title

    def _setting(self, test_case: LLMTestCase) -> Setting:
        given = self.bible if self.bible is not None else (test_case.metadata or {}).get("bible")
        if isinstance(given, Bible):
            return Setting(given)
        if isinstance(given, str | Path):
            return Setting(open_bible(str(given)))
        raise InputError(
            "test case", "no bible", hint='give the metric one, or metadata={"bible": "ember-road@v2"}'
        )


class LoreMetric(_BibleMetric):
    """Whether a text fits a version of the world (LudicMetrics §6.3): 1 without a fault, else 0; passes at 1.

    `score_breakdown["faults"]` has each fault's code, node, version and sentence.
    """

    _title = "Lore"

    def _outcome(self, test_case: LLMTestCase, text: str, setting: Setting) -> _Measured | Unscored:
        del test_case
        if not text.strip():
            return Unscored("claims", "there is no text")
        faults = lore_faults(text, setting)
        rows = [
            {"code": one.code, "node": one.node, "version": one.version, "text": one.statement.text}
            for one in faults
        ]
        told = " ".join(f"“{clean(one.statement.text)}” {one.message}." for one in faults)
        score = Fraction(0) if faults else Fraction(1)
        return _Measured(score, {"faults": rows}, told or f"Nothing in it goes against {setting.id}.")


class LoreGroundednessMetric(_BibleMetric):
    """Groundedness by words (LudicMetrics §4.3): supported / (supported + unsupported + contradicted), in [0, 1], higher is better.

    Held against the chunks in `retrieval_context` (their texts, as `retrieval` gave them), else against the whole bible. An open
    mystery is never charged. `score_breakdown` has the counts of the five standings, and every statement's.
    """

    _title = "Lore Groundedness"

    def __init__(
        self, bible: Bible | str | Path | None = None, threshold: float = 0.5, **options: Any
    ) -> None:
        super().__init__(bible=bible, threshold=threshold, **options)

    def _outcome(self, test_case: LLMTestCase, text: str, setting: Setting) -> _Measured | Unscored:
        chunks = _retrieved(test_case.retrieval_context, chunks_of(setting.bible))
        found = groundedness(text, chunks, setting, LexicalJudge())
        if isinstance(found.score, Unscored):
            return found.score
        rows = [
            {"text": one.text, "standing": one.standing, "chunk": one.chunk, "reason": one.reason}
            for one in found.statements
        ]
        counts: dict[str, int] = {standing: count for standing, count in found.counts.items()}  # noqa: C416  # keys of another type
        said = ", ".join(f"{count} {standing}" for standing, count in counts.items() if count)
        return _Measured(found.score.value, {**counts, "statements": rows}, f"Against {setting.id}: {said}.")


def _retrieved(texts: Any, chunks: tuple[Chunk, ...]) -> tuple[Chunk, ...]:
    if texts is None:
        return chunks
    by_text = {chunk.text: chunk for chunk in chunks}
    unknown = next((text for text in texts if text not in by_text), None)
    if unknown is not None:
        raise InputError("retrieval_context", f"'{clean(str(unknown))}' is no chunk of this bible")
    return tuple(by_text[text] for text in texts)
