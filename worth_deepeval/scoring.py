"""Points of one reply under one episode's key (WORTH §4.5). Pure arithmetic on whole numbers.

    total = Σ weight of each selected sentence of K + Σ points of each selected candidate

A sentence outside of K costs nothing but its place in the quota. Points of two episodes are on two scales: nothing here
adds, averages or compares them (§4.10), and a score says which episode it is of.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ludic_deepeval.outcome import Outcome, Scored, Unscored
from worth_deepeval.episode import Range, Sheet
from worth_deepeval.response import Response, read_response


class WorthScore(NamedTuple):
    """The score of one reply.

    Attributes:
        episode: The episode's id: scores of different episodes are not comparable.
        hits: The selected sentences of K, in the reply's order.
        correct: The selected participants.
        incorrect: The selected candidates who took no part.
        clue: Points for sentences, at least 0; higher is better.
        participant: Points for candidates; higher is better, below 0 when the wrong ones outweigh the right.
        range: What was possible.
    """

    episode: str
    hits: tuple[str, ...]
    correct: tuple[str, ...]
    incorrect: tuple[str, ...]
    clue: int
    participant: int
    range: Range

    @property
    def total(self) -> int:
        """Points for sentences and candidates together."""
        return self.clue + self.participant


def score(clue_ids: Iterable[str], role_ids: Iterable[str], sheet: Sheet) -> Outcome[WorthScore]:
    """Score valid selections. No order of them matters.

    Args:
        clue_ids: Selected sentences, each once.
        role_ids: Selected candidates, each once.
        sheet: The episode and its key.

    Returns:
        The score; or `Unscored("weights")` when a selected key sentence has no known weight, or it is not known whether a
        selected sentence is one; or `Unscored("points")` when a selected candidate has no known points.
    """
    possible = sheet.range
    if isinstance(possible, Unscored):
        return possible
    weights, points = sheet.weights, sheet.points
    if sheet.key.unplaced:
        clue_ids = list(clue_ids)
        if open_ := [one for one in clue_ids if one not in weights and one not in sheet.key.outside]:
            return Unscored("weights", f"whether {open_[0]} is a key sentence is not known")
    hits = tuple([one for one in clue_ids if one in weights])
    gains = [weights[one] for one in hits]
    if None in gains:
        return Unscored("weights", f"the weight of {hits[gains.index(None)]} is not known")
    correct: list[str] = []
    incorrect: list[str] = []
    participant = 0
    for one in role_ids:
        gain = points.get(one)
        if gain is None:
            return Unscored("points", f"the points of {one} are not known")
        participant += gain
        (correct if gain > 0 else incorrect).append(one)
    return Scored(
        WorthScore(
            sheet.episode.id,
            hits,
            tuple(correct),
            tuple(incorrect),
            sum(gains),  # type: ignore[arg-type]  # none is None
            participant,
            possible.value,
        )
    )


def participant_points(response: Response, sheet: Sheet) -> int | None:
    """Points for candidates alone, which may be known where those for sentences are not; None where they are not known."""
    if response.selections == "invalid" or not set(response.role_ids) <= set(sheet.points):
        return None
    return sum(sheet.points[one] for one in response.role_ids)


def score_response(response: Response, sheet: Sheet) -> Outcome[WorthScore]:
    """Score a reply that was read; what could not be read or is not valid is `Unscored("selections")`, never 0."""
    if response.selections == "invalid":
        reasons = [one.message for one in response.violations if one.code not in {"text-around", "not-json"}]
        return Unscored("selections", reasons[0] if reasons else "no selections can be read")
    return score(response.clue_ids, response.role_ids, sheet)


def score_text(text: str, sheet: Sheet) -> tuple[Response, Outcome[WorthScore]]:
    """Read and score a raw reply."""
    response = read_response(text, sheet.episode)
    return response, score_response(response, sheet)
