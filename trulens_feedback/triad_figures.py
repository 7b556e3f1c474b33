"""The RAG triad as figures: each name carries its judge, since what two judges say is on two scales. Pure: no TruLens."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from ludic_deepeval.outcome import Outcome, Scored, Unscored
from trulens_feedback.figures import Figure, Measure, Scalar
from trulens_feedback.triad import STANDINGS, ContextRelevance, Groundedness, Rated

_MOST_TOLD: Final = 40  # statements in one reason


def triad_measures(judge: str) -> tuple[Measure, Measure, Measure]:
    """Context relevance, groundedness and answer relevance as one judge rates them."""
    return (
        Measure(f"Context relevance [{judge}]", "How well what was retrieved informs a phase of life (§4.3)"),
        Measure(
            f"Groundedness [{judge}]",
            "World-facts that rest on a retrieved chunk, among all world-facts (§4.3); openness is never charged",
        ),
        Measure(f"Answer relevance [{judge}]", "How far the prose does what the design prompt asked (§4.3)"),
    )


def context_figure(found: ContextRelevance, phase: str = "") -> Figure:
    """Context relevance of one phase, with a line for each chunk."""
    measure = triad_measures(found.judge)[0]
    told = "; ".join(f"{chunk} {float(one.score):.2f} ({one.reason})" for chunk, one in found.chunks)
    reason = f"{phase}: {told}" if phase else told
    return _figure(measure, found.score, reason, {"phase": phase} if phase else {})


def groundedness_figure(found: Groundedness) -> Figure:
    """Groundedness, with a line for each statement and the chunk that it rests on, and the counts of each standing."""
    measure = triad_measures(found.judge)[1]
    lines = [
        f"[{one.standing}] “{one.text}”"
        + (f" rests on {one.chunk}" if one.standing == "supported" and one.chunk else "")
        + (f" against {one.node} of {one.version}" if one.standing == "contradicted" and one.node else "")
        + (f": {one.reason}" if one.reason else "")
        for one in found.statements[:_MOST_TOLD]
    ]
    if len(found.statements) > _MOST_TOLD:
        lines.append(f"and {len(found.statements) - _MOST_TOLD} more statements")
    details: dict[str, Scalar] = {standing: found.counts[standing] for standing in STANDINGS}
    return _figure(measure, found.score, "\n".join(lines), details)


def answer_figure(found: Outcome[Rated], judge: str) -> Figure:
    """Answer relevance."""
    measure = triad_measures(judge)[2]
    if isinstance(found, Unscored):
        return Figure(measure, found, "")
    return Figure(measure, Scored(float(found.value.score)), found.value.reason)


def _figure(measure: Measure, score: Outcome[Fraction], reason: str, details: Mapping[str, Scalar]) -> Figure:
    if isinstance(score, Unscored):
        return Figure(measure, score, "", details)
    return Figure(measure, Scored(float(score.value)), reason, details)
