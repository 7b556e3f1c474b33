"""The two layers of the Judge side by side (LudicMetrics §4.2, 5.1): arithmetic over the ledger, and a judge by rubrics.

Whoever asks the judge is handed in, so that nothing here knows of a harness. The second layer validates the first; it never
gives a story's score.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ludic_deepeval.errors import ModelError
from ludic_deepeval.judging import Reading
from ludic_deepeval.ledger import DIMENSIONS, Event
from ludic_deepeval.llm.tokens import most_tokens
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.rubrics import (
    COMPONENTS,
    Judged,
    Rubric,
    RubricKind,
    ScoreKind,
    reading_for,
    rubric,
)
from ludic_deepeval.scoring import Gate, ScoreCard, score_ledger

Verdict: TypeAlias = Literal["agrees", "rounding", "differs", "apart", "unmeasured"]
JudgeCall: TypeAlias = Callable[[Rubric, str], Awaitable[Judged]]
"""Asks a judge to score a text by a rubric; raises `ModelError` when there is no score."""

TOLERANCE: Final = Fraction(
    1, 50
)  # §5.1: "to within 2%", of the whole range: .843 and .860 agree, though .017/.843 > .02
HALF_STEP: Final = Fraction(1, 20)  # a whole number from 0 to 10 is no nearer to a share than that
LPI_MARGIN: Final = Fraction(1, 20)
PCV_MARGIN: Final = Fraction(15)


@dataclass(frozen=True)
class Ask:
    """One question to the judge: a rubric, the text it reads, and for a dimension the event."""

    rubric: Rubric
    text: str
    event: Event | None = None

    @property
    def key(self) -> str:
        """rtn, or immediacy of e1."""
        return self.rubric.name if self.event is None else f"{self.rubric.name} of {self.event.id}"


@dataclass(frozen=True)
class Row:
    """One figure in both layers.

    Attributes:
        name: A component, a dimension of an event, lpi or pcv.
        first: What arithmetic says; of a dimension, what the ledger has. None when unmeasured.
        second: What the judge says. None when unmeasured.
        verdict: `agrees` within 2%; `rounding`: farther, but not than a whole number from 0 to 10 has to be; `differs`;
            `apart`: another definition, so that nothing is compared; `unmeasured`.
        score_kind: Of what kind the judge's score is; None for what is worked out of several.
        reason: The judge's words, or why there is no figure.
    """

    name: str
    first: Fraction | None
    second: Fraction | None
    verdict: Verdict
    score_kind: ScoreKind | None = None
    reason: str = ""

    @property
    def difference(self) -> Fraction | None:
        """The judge's figure less the arithmetic's."""
        return None if self.first is None or self.second is None else self.second - self.first


@dataclass(frozen=True)
class CrossCheck:
    """One story.

    Attributes:
        path: Its file.
        id: Its id.
        kind: Which rubrics.
        rows: Every figure.
        ledger_tokens: What the judge read of the story, at most, over all questions.
        prose_tokens: What it would have read, had each question come with the prose.
        gates: Whether the story passes the gate by arithmetic, and whether it would by the judge's figures (where these lack
            PCV, by the arithmetic's); None unless both can be told.
    """

    path: Path
    id: str
    kind: RubricKind
    rows: tuple[Row, ...]
    ledger_tokens: int
    prose_tokens: int
    gates: tuple[bool, bool] | None = None

    @property
    def flagged(self) -> tuple[Row, ...]:
        """The rows that differ."""
        return tuple(row for row in self.rows if row.verdict == "differs")

    @property
    def unmeasured(self) -> tuple[Row, ...]:
        """The rows without a figure in one layer."""
        return tuple(row for row in self.rows if row.verdict == "unmeasured")


def is_borderline(
    card: ScoreCard, *, lpi_margin: Fraction = LPI_MARGIN, pcv_margin: Fraction = PCV_MARGIN
) -> bool:
    """Whether a small error could turn the gate: near a threshold on one axis, and not clearly below it on the other.

    Args:
        card: The first layer's scores; without a gate nothing is near it.
        lpi_margin: How near LPI must be.
        pcv_margin: How near PCV must be.
    """
    if not isinstance(card.gate, Gate) or isinstance(card.lpi, Unscored) or isinstance(card.pcv, Unscored):
        return False
    lpi, pcv = card.lpi - card.policy.lpi_threshold, card.pcv - card.policy.pcv_threshold
    if card.policy.lpi_threshold == 0:  # a profile that asks for no LPI
        return abs(pcv) <= pcv_margin
    near = abs(lpi) <= lpi_margin or abs(pcv) <= pcv_margin
    return near and lpi >= -lpi_margin and pcv >= -pcv_margin


def asks_for(reading: Reading, kind: RubricKind, *, body: str = "", dimensions: bool = True) -> list[Ask]:
    """Return the questions that a story takes: four, and four an event that has its dimensions.

    What the first layer could not measure is not asked.
    """
    card, ledger = reading.card, reading.ledger
    asks = []
    for name in COMPONENTS:
        if not isinstance(card.components[name], Unscored):
            one = rubric(name, kind, card.policy)
            asks.append(Ask(one, reading_for(one, ledger, body=body)))
    if dimensions and not isinstance(card.pcv, Unscored):
        for event in ledger.events:
            for name in DIMENSIONS:
                one = rubric(name, kind)
                asks.append(Ask(one, reading_for(one, ledger, event=event, names=reading.names), event))
    return asks


async def crosscheck(
    path: Path,
    story_id: str,
    reading: Reading,
    judge: JudgeCall,
    *,
    kind: RubricKind = "equation",
    body: str = "",
    dimensions: bool = True,
) -> CrossCheck:
    """Ask a judge for every figure of a story and set it beside the arithmetic.

    Raises:
        ModelError: One that would end every other question likewise, or a spent budget.
    """
    asks = asks_for(reading, kind, body=body, dimensions=dimensions)
    tasks = [asyncio.ensure_future(_asked(judge, ask)) for ask in asks]
    try:
        said = await asyncio.gather(*tasks)
    finally:
        for task in tasks:  # when one ends them all, the others are not asked any more
            task.cancel()
    answers = dict(zip((ask.key for ask in asks), said, strict=True))
    rows = tuple(compare(reading, kind, answers, dimensions=dimensions))
    return CrossCheck(
        path=path,
        id=story_id,
        kind=kind,
        rows=rows,
        ledger_tokens=sum(most_tokens(ask.text) for ask in asks),
        prose_tokens=len(asks) * most_tokens(body),
        gates=_gates(reading.card, {row.name: row.second for row in rows}) if kind == "equation" else None,
    )


def _gates(card: ScoreCard, second: dict[str, Fraction | None]) -> tuple[bool, bool] | None:
    lpi, pcv = second["lpi"], second.get("pcv", card.pcv)
    if not isinstance(card.gate, Gate) or lpi is None or not isinstance(pcv, Fraction):
        return None
    return card.gate.passed, lpi >= card.policy.lpi_threshold and pcv >= card.policy.pcv_threshold


async def _asked(judge: JudgeCall, ask: Ask) -> Judged | ModelError:
    try:
        return await judge(ask.rubric, ask.text)
    except ModelError as error:
        if error.for_all or error.kind in {"budget", "unrecorded"}:
            raise
        return error


def compare(
    reading: Reading, kind: RubricKind, answers: dict[str, Judged | ModelError], *, dimensions: bool = True
) -> Iterable[Row]:
    """Set a judge's answers beside a story's scores.

    Args:
        reading: The story.
        kind: Which rubrics were asked.
        answers: By `Ask.key`; a failure stands in the place of its figure.
        dimensions: Whether PCV was asked for.
    """
    card = reading.card
    rows = [
        compare_one(name, card.components[name], answers.get(name), kind, rounds=True) for name in COMPONENTS
    ]
    yield from rows
    yield _lpi(card, rows, kind)
    if not dimensions:
        return
    if isinstance(card.pcv, Unscored):
        yield Row("pcv", None, None, "unmeasured", reason=card.pcv.reason)
        return
    rated: list[Row] = []
    for event in reading.ledger.events:
        for name in DIMENSIONS:
            key = f"{name} of {event.id}"
            rated.append(
                compare_one(key, Fraction(getattr(event, name)), answers.get(key), kind, rounds=False)
            )
    yield from rated
    yield _pcv(reading, rated, kind)


def compare_one(
    name: str,
    first: Fraction | Unscored,
    answer: Judged | ModelError | None,
    kind: RubricKind,
    *,
    rounds: bool,
) -> Row:
    """Set one answer beside one figure.

    Args:
        name: What the row is called.
        first: The arithmetic's figure.
        answer: The judge's, or the failure in its place; None when it was not asked.
        kind: Which rubrics.
        rounds: Whether it is a share, which a whole number from 0 to 10 has to round; else a number from 1 to 10.
    """
    if isinstance(first, Unscored):
        return Row(name, None, None, "unmeasured", reason=first.reason)
    if answer is None or isinstance(answer, ModelError):
        why = "not asked" if answer is None else f"{answer.kind}: {answer}"
        return Row(name, first, None, "unmeasured", reason=why)
    second = Fraction(str(answer.value))
    if rounds:
        half = HALF_STEP if answer.score_kind == "raw-integer" else Fraction(0)
        verdict = _verdict(abs(second - first), half, kind)
    else:
        verdict = _verdict(abs(second - first) / 9, Fraction(0), kind)  # from 1 to 10
    return Row(name, first, second, verdict, answer.score_kind, answer.reason)


def _verdict(difference: Fraction, half: Fraction, kind: RubricKind) -> Verdict:
    if kind != "equation":
        return "apart"
    if difference <= TOLERANCE:
        return "agrees"
    return "rounding" if difference <= half else "differs"


def _lpi(card: ScoreCard, rows: list[Row], kind: RubricKind) -> Row:
    """Eq 1 over the judge's components."""
    lpi = None if isinstance(card.lpi, Unscored) else card.lpi
    found = [row.second for row in rows]
    if lpi is None or None in found:
        return Row("lpi", lpi, None, "unmeasured", reason="a component has no figure")
    pairs = zip(card.policy.weights, (value for value in found if value is not None), strict=True)
    second = sum((weight * value for weight, value in pairs), Fraction(0))
    verdict = _verdict(abs(second - lpi), Fraction(0), kind)
    if verdict == "differs" and all(row.verdict in {"agrees", "rounding"} for row in rows):
        verdict = "rounding"
    return Row("lpi", lpi, second, verdict)


def _pcv(reading: Reading, rated: list[Row], kind: RubricKind) -> Row:
    """Eq 7 over the judge's dimensions, which are whole numbers by their definition."""
    first = reading.card.pcv
    assert isinstance(first, Fraction)  # noqa: S101  # the caller has seen to it
    if any(row.second is None for row in rated):
        return Row("pcv", first, None, "unmeasured", reason="a dimension has no figure")
    numbers = iter([round(row.second) for row in rated if row.second is not None])
    events = tuple(
        event.model_copy(update={name: next(numbers) for name in DIMENSIONS})
        for event in reading.ledger.events
    )
    again = score_ledger(
        reading.ledger.model_copy(update={"events": events}), reading.card.policy, names=reading.names
    )
    assert isinstance(again.pcv, Fraction)  # noqa: S101  # every event has its four
    difference = abs(again.pcv - first)
    return Row(
        "pcv", first, again.pcv, _verdict(difference / first if first else difference, Fraction(0), kind)
    )
