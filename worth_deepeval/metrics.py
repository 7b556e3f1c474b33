"""WORTH's scores as DeepEval metrics: the raw reply is `actual_output`, the episode an argument.

A score is the share of what the episode makes possible, so that it lies in [0, 1]; the points themselves, their range and
their parts are in `score_breakdown` and `reason`. Each metric's name carries the episode's id: points of two episodes are
on two scales (§4.10), and DeepEval averages by name. A reply that cannot be scored sets `error` and fails; it is not 0.

The only module of this package that imports DeepEval.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from deepeval.metrics import BaseMetric  # noqa: TID251  # this module is the adapter
from deepeval.test_case import LLMTestCase  # noqa: TID251

from ludic_deepeval.errors import InputError, LudicError
from ludic_deepeval.files import read_bytes
from ludic_deepeval.outcome import Unscored
from worth_deepeval.conditions import read_condition
from worth_deepeval.episode import Sheet, load_sheet
from worth_deepeval.records import RunRecord
from worth_deepeval.response import Response, read_response
from worth_deepeval.scoring import WorthScore, score_response

_MOST_REPLY = 32 * 1024 * 1024


@dataclass(frozen=True)
class _Measured:
    """What one metric says: a share, its parts and a line."""

    share: Fraction
    breakdown: dict[str, Any]
    reason: str


class _WorthMetric(BaseMetric):  # type: ignore[misc]  # DeepEval has no types
    """Base: reads the reply, scores it, and leaves the figure to `_judge`.

    Args:
        episode: The episode: its folder, its file, or a `Sheet`.
        threshold: The share of its range that a reply must reach.
        strict_mode: Raise the threshold to 1.
        verbose_mode: DeepEval's switch for its own logs.
    """

    _required_params: ClassVar[list[Any]] = []
    _title: ClassVar[str]

    def __init__(  # DeepEval copies a metric by the names of its arguments
        self,
        episode: str | Path | Sheet,
        threshold: float = 0.5,
        strict_mode: bool = False,
        verbose_mode: bool = False,
    ) -> None:
        self.episode = episode
        self.threshold = 1.0 if strict_mode else threshold
        self.strict_mode = strict_mode
        self.verbose_mode = verbose_mode
        self.async_mode = True
        self.include_reason = True
        self.sheet = episode if isinstance(episode, Sheet) else load_sheet(Path(episode))

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """Measure one test case; return the share, or None with `error` set."""
        self.score = self.reason = self.error = self.score_breakdown = None
        self.success = False
        try:
            if test_case.actual_output is None:
                raise InputError("test case", "no actual_output", allowed="the raw reply")
            response = read_response(test_case.actual_output, self.sheet.episode)
            outcome = self._judge(response, test_case.metadata or {})
        except LudicError as error:
            self.error = str(error)
            return None
        if isinstance(outcome, Unscored):
            self.error = f"could not be scored ({outcome.cause}): {outcome.reason}"
            return None
        self.score, self.score_breakdown, self.reason = (
            float(outcome.share),
            outcome.breakdown,
            outcome.reason,
        )
        self.success = outcome.share >= Fraction(Decimal(str(self.threshold)))
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """The same; there is nothing to wait for."""
        return self.measure(test_case)

    def is_successful(self) -> bool:
        """Whether the last reply reached the threshold; decided on exact numbers."""
        return bool(self.success) and self.error is None

    @property
    def __name__(self) -> str:
        return f"{self._title} [{self.sheet.episode.id}]"

    @abstractmethod
    def _judge(self, response: Response, metadata: Mapping[str, Any]) -> _Measured | Unscored: ...

    def _scored(self, response: Response) -> WorthScore | Unscored:
        outcome = score_response(response, self.sheet)
        return outcome if isinstance(outcome, Unscored) else outcome.value

    def _require_discovery(self, metadata: Mapping[str, Any]) -> None:
        """Refuse points for sentences where the key was shown: they check the manipulation and are no result."""
        name = metadata.get("condition")
        if name is not None and not read_condition(str(name)).measures_discovery:
            raise InputError(
                'metadata["condition"]',
                "the key's ids were shown",
                allowed="full-story, for points on sentences",
            )


def _share(points: int, least: int, most: int) -> Fraction:
    return Fraction(points - least, most - least) if most > least else Fraction(1)


class WorthClueMetric(_WorthMetric):
    """Points for key sentences (§4.5), as the share of what all of K would give.

    Range [0, 1], higher is better: the overlap with the author's key sentences, not all evidence that there is (§4.2).
    """

    _title = "WORTH Clues"

    def _judge(self, response: Response, metadata: Mapping[str, Any]) -> _Measured | Unscored:
        self._require_discovery(metadata)
        found = self._scored(response)
        if isinstance(found, Unscored):
            return found
        most, size = found.range.clues, len(self.sheet.key.clues)
        others = [one for one in response.clue_ids if one not in found.hits]
        breakdown = {
            "episode": found.episode,
            "points": found.clue,
            "minimum": 0,
            "maximum": most,
            "hits": list(found.hits),
            "others": others,
            "key_size": size,
        }
        note = f"{found.clue} points of 0 to {most}: {len(found.hits)} of {size} key sentences, {len(others)} other sentences."
        return _Measured(_share(found.clue, 0, most), breakdown, note)


class WorthParticipantMetric(_WorthMetric):
    """Points for participants (§4.5), as the share of the way from the least to the most possible.

    Range [0, 1], higher is better. Choosing nobody is 0 points, which is seldom a share of 0: wrong choices cost points.
    """

    _title = "WORTH Participants"

    def _judge(self, response: Response, metadata: Mapping[str, Any]) -> _Measured | Unscored:
        del metadata
        found = self._scored(response)
        if isinstance(found, Unscored):
            return found
        least, most = found.range.participants
        names = {one.id: one.name for one in self.sheet.episode.candidates}
        breakdown = {
            "episode": found.episode,
            "points": found.participant,
            "minimum": least,
            "maximum": most,
            "correct": list(found.correct),
            "incorrect": list(found.incorrect),
        }
        right, wrong = (
            ", ".join(names[one] for one in chosen) or "nobody" for chosen in (found.correct, found.incorrect)
        )
        note = f"{found.participant} points of {least} to {most}: rightly {right}, wrongly {wrong}."
        return _Measured(_share(found.participant, least, most), breakdown, note)


class WorthTotalMetric(_WorthMetric):
    """All points (§4.5), as the share of the way from the least to the most possible.

    Range [0, 1], higher is better. A share of one episode and one of another are no more comparable than their points.
    """

    _title = "WORTH Total"

    def _judge(self, response: Response, metadata: Mapping[str, Any]) -> _Measured | Unscored:
        self._require_discovery(metadata)
        found = self._scored(response)
        if isinstance(found, Unscored):
            return found
        span = found.range
        breakdown = {
            "episode": found.episode,
            "points": found.total,
            "minimum": span.minimum,
            "maximum": span.maximum,
            "clue": found.clue,
            "participant": found.participant,
        }
        note = (
            f"{found.total} points of {span.minimum} to {span.maximum}: {found.clue} for sentences,"
            f" {found.participant} for participants."
        )
        return _Measured(_share(found.total, span.minimum, span.maximum), breakdown, note)


class WorthProtocolMetric(_WorthMetric):
    """Whether a reply keeps the whole protocol (§4.7): 1 or 0, passes at 1.

    It never fails to measure: a reply that cannot be scored breaks the protocol. Points are another matter.
    """

    _title = "WORTH Protocol"

    def __init__(
        self,
        episode: str | Path | Sheet,
        threshold: float = 1.0,
        strict_mode: bool = False,
        verbose_mode: bool = False,
    ) -> None:
        super().__init__(episode, threshold, strict_mode, verbose_mode)

    def _judge(self, response: Response, metadata: Mapping[str, Any]) -> _Measured | Unscored:
        del metadata
        breakdown = {
            "episode": self.sheet.episode.id,
            "json": response.json,
            "selections": response.selections,
            "compliant": response.compliant,
            "violations": [{"code": one.code, "message": one.message} for one in response.violations],
        }
        told = "; ".join(one.message for one in response.violations[:5])
        note = f"JSON {response.json}, selections {response.selections}" + (f": {told}." if told else ".")
        return _Measured(Fraction(int(response.compliant)), breakdown, note)


def reply_case(path: str | Path, *, condition: str = "full-story") -> LLMTestCase:
    """Return the test case of one raw reply in a file."""
    text = read_bytes(Path(path), limit=_MOST_REPLY).decode("utf-8-sig", errors="replace")
    return LLMTestCase(
        name=Path(path).stem, input=condition, actual_output=text, metadata={"condition": condition}
    )


def run_case(record: RunRecord) -> LLMTestCase:
    """Return the test case of one recorded run.

    Raises:
        InputError: The model gave no reply: a failure is none.
    """
    if record.text is None:
        raise InputError(record.name, "no reply", hint="worth run --retry-failed asks again")
    return LLMTestCase(
        name=record.name,
        input=record.prompt.sha256,
        actual_output=record.text,
        metadata={
            "condition": record.prompt.condition,
            "model": record.access.model,
            "repetition": record.repetition,
        },
    )


__all__ = [
    "WorthClueMetric",
    "WorthParticipantMetric",
    "WorthProtocolMetric",
    "WorthTotalMetric",
    "reply_case",
    "run_case",
]
