"""A variation's runs beside those of the episode that it varies, paired by model and run (§3.4, 6.2): did answers move with it?

No points stand here: those of two episodes are on two scales (§4.10). What is laid side by side is whom runs name and which
sentences they select, since a variation keeps the ids of both.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

from worth_deepeval.diagnosis.contrasts import EXPLORATORY, Asked, Contrast, contrast, named, questions
from worth_deepeval.diagnosis.sample import Sample
from worth_deepeval.episode import Sheet
from worth_deepeval.runs import Run

# By one key on both sides, which a rewrite has and a modification has not.
_COUNTS: Final = ("key sentences", "participants", "others named")


def retold(base: tuple[Sheet, Sequence[Run]], other: tuple[Sheet, Sequence[Run]]) -> tuple[Contrast, ...]:
    """Contrast a variation with its base under each condition that both were given in.

    Args:
        base: The episode that is varied, and its runs.
        other: The variation, and its runs.
    """
    sides = [_by_condition(runs) for _, runs in (base, other)]
    rewrite = other[0].key.varies is not None and other[0].key.varies.kind == "rewrite"
    out = []
    for condition in sides[0]:
        if condition not in sides[1]:
            continue
        first, second = (
            (f"{condition} of {sheet.episode.id}", Sample(sheet, tuple(side[condition])))
            for (sheet, _), side in zip((base, other), sides, strict=True)
        )
        asked = _asked(first[1], other[0])
        out.append(contrast(first, second, figures=_COUNTS if rewrite else (), asked=asked))
    return tuple(out)


def _by_condition(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Runs by how their story was given: without the name of the rewrite or modification, which one side alone bears."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        given = run.condition.partition(", ")[0]
        given += EXPLORATORY if run.condition.endswith(EXPLORATORY) else ""
        found.setdefault(given, []).append(run)
    return found


def _asked(base: Sample, other: Sheet) -> list[Asked]:
    asked = [
        (
            f"{name}, by the key of {base.sheet.episode.id}" if at < 3 else name,
            does,
        )  # the first three ask for its key
        for at, (name, does) in enumerate(questions(base))
    ]
    if other.key.guilty != base.sheet.key.guilty:
        right = other.key.guilty
        asked.append(
            (
                f"name all participants and nobody else, by the key of {other.episode.id}",
                lambda run: named(run) == right,
            )
        )
    names = {one.id: one.name for one in base.sheet.episode.candidates}
    asked += [
        (
            f"select {pair.suspicion} against {names[pair.target]}, and not {pair.exoneration}, which clears",
            partial(_alone, pair.suspicion, pair.exoneration),
        )
        for pair in base.sheet.key.pairs
    ]
    changed = other.key.varies.changed if other.key.varies else ()
    asked += [(f"select {sentence}, which differs", partial(_selects, sentence)) for sentence in changed]
    return asked


def _alone(one: str, without: str, run: Run) -> bool:
    return one in run.response.clue_ids and without not in run.response.clue_ids


def _selects(sentence: str, run: Run) -> bool:
    return sentence in run.response.clue_ids
