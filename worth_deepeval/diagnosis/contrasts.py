"""Two conditions of one episode, paired by model and run (§3.4): what changed when the key was shown, or the telling.

A pair is the same repetition of the same model under both conditions, scored on both sides. The exact test over pairs flips
the sign of each pair's difference; it takes the pairs of a model for independent, which the vote over models beside it does not.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from statistics import fmean
from typing import Final, TypeAlias

from ludic_deepeval.stats.exact import Test, mcnemar, sign_test
from ludic_deepeval.stats.intervals import Z95, Rate, wilson
from worth_deepeval.compare import Interval, mean_interval, sign_flip
from worth_deepeval.diagnosis.roles import common_sets
from worth_deepeval.diagnosis.sample import Sample
from worth_deepeval.runs import Run
from worth_deepeval.scoring import WorthScore

Asked: TypeAlias = tuple[str, Callable[[Run], bool]]
BASE: Final = "full-story"
EXPLORATORY: Final = ", exploratory"
_MOST_EXACT: Final = 100  # pairs


@dataclass(frozen=True)
class Shift:
    """A figure of every pair: other condition less base.

    Attributes:
        name: Which figure.
        mean: The mean difference.
        interval: Of the mean, with the level that it really has.
        p_value: Two-sided, over pairs.
        method: How.
        up: Models whose mean rises.
        down: Models whose mean falls.
        models: Sign test over models.
        result: Whether the figure is a result on both sides, and not a check of what was shown.
    """

    name: str
    mean: float
    interval: Interval | None
    p_value: float
    method: str
    up: int
    down: int
    models: Test
    result: bool


@dataclass(frozen=True)
class Turn:
    """Something that a run does or does not do, over the pairs.

    Attributes:
        name: What.
        base: Runs that do it under the base.
        other: Runs that do it under the other condition.
        only_base: Pairs in which only the first does.
        only_other: Pairs in which only the second does.
        runs: Exact McNemar over pairs.
        models: Sign test over models, by which side does it more often.
    """

    name: str
    base: Rate
    other: Rate
    only_base: int
    only_other: int
    runs: Test
    models: Test


@dataclass(frozen=True)
class ModelShift:
    """One model's pairs: mean differences, other less base."""

    model: str
    pairs: int
    total: float
    clue: float
    participant: float


@dataclass(frozen=True)
class Contrast:
    """Two conditions.

    Attributes:
        base: The first.
        other: The second.
        pairs: Runs scored under both.
        of: Pairs that there would be, had everything been scored: runs of the same model and repetition under both.
        unpaired: Scored runs of either side without a scored partner.
        shifts: Points, sentences and people.
        turns: What runs do.
        models: Each model's own differences.
    """

    base: str
    other: str
    pairs: int
    of: Rate
    unpaired: int
    shifts: tuple[Shift, ...]
    turns: tuple[Turn, ...]
    models: tuple[ModelShift, ...]


_FIGURES: Final[dict[str, Callable[[WorthScore], int]]] = {
    "total": lambda one: one.total,
    "clue": lambda one: one.clue,
    "participant": lambda one: one.participant,
    "key sentences": lambda one: len(one.hits),
    "participants": lambda one: len(one.correct),
    "others named": lambda one: len(one.incorrect),
}
_OF_SENTENCES: Final = frozenset({"total", "clue", "key sentences"})


def contrasts(samples: Sequence[tuple[str, Sample]]) -> tuple[Contrast, ...]:
    """Contrast every condition with the base: full-story, or the first; exploratory runs among themselves."""
    out: list[Contrast] = []
    for exploratory in (False, True):
        mine = [(name, one) for name, one in samples if name.endswith(EXPLORATORY) == exploratory]
        if not mine:
            continue
        base = next((one for one in mine if one[0].removesuffix(EXPLORATORY) == BASE), mine[0])
        out += [contrast(base, one) for one in mine if one[0] != base[0]]
    return tuple(out)


def contrast(
    base: tuple[str, Sample],
    other: tuple[str, Sample],
    *,
    figures: Iterable[str] = tuple(_FIGURES),
    asked: Sequence[Asked] | None = None,
) -> Contrast:
    """Contrast two conditions.

    Args:
        base: The first, by name.
        other: The second.
        figures: Which figures of a score are laid side by side.
        asked: What is asked of each run; by default what the base's key and its most common answer suggest.
    """
    runs = [{(run.model, run.repetition): run for run in sample.runs} for _, sample in (base, other)]
    meant = runs[0].keys() & runs[1].keys()
    both = [one for one in runs[0] if one in meant and runs[0][one].score and runs[1][one].score]
    pairs = [(runs[0][one], runs[1][one]) for one in both]
    groups: dict[str, list[int]] = defaultdict(list)
    for at, (model, _) in enumerate(both):
        groups[model].append(at)
    found = {
        name: [_value(_FIGURES[name], b) - _value(_FIGURES[name], a) for a, b in pairs] for name in figures
    }
    cued = any(name.startswith("evidence-cueing") for name in (base[0], other[0]))
    scored = sum(run.score is not None for side in runs for run in side.values())
    return Contrast(
        base=base[0],
        other=other[0],
        pairs=len(pairs),
        of=wilson(len(pairs), len(meant)),
        unpaired=scored - 2 * len(pairs),
        shifts=tuple(
            _shift(name, each, groups, result=not (cued and name in _OF_SENTENCES))
            for name, each in found.items()
        )
        if pairs
        else (),
        turns=_turns(questions(base[1]) if asked is None else asked, pairs, groups) if pairs else (),
        models=tuple(
            ModelShift(
                model,
                len(own),
                *(fmean(found[name][i] for i in own) for name in ("total", "clue", "participant")),
            )
            for model, own in groups.items()
            if "total" in found
        ),
    )


def _value(value: Callable[[WorthScore], int], run: Run) -> int:
    return value(run.score) if run.score else 0  # pairs are scored on both sides


def _shift(name: str, differences: list[int], groups: dict[str, list[int]], *, result: bool) -> Shift:
    leaning = [sum(differences[i] for i in own) for own in groups.values()]
    up, down = sum(one > 0 for one in leaning), sum(one < 0 for one in leaning)
    n, middle = len(differences), fmean(differences)
    if n <= _MOST_EXACT:
        p, interval, method = sign_flip(differences), mean_interval(differences), "exact sign flips"
    else:
        squares = sum(one * one for one in differences)
        p = erfc(abs(sum(differences)) / sqrt(2 * squares)) if squares else 1.0
        half = Z95 * sqrt(max(0.0, squares / n - middle * middle) / (n - 1))
        interval, method = Interval(middle - half, middle + half, 0.95), "sign flips, normal"
    return Shift(name, middle, interval, p, method, up, down, sign_test(up, down), result)


def questions(base: Sample) -> list[Asked]:
    """What is asked of each run: whom it names of those that a key calls right and wrong, and of its runs' most common answer."""
    key = base.sheet.key
    distractors = frozenset(one.role for one in key.distractors) or frozenset(base.innocent)
    names = {one.id: one.name for one in base.sheet.episode.candidates}
    asked: list[Asked] = [
        ("name all participants and nobody else", lambda run: named(run) == key.guilty),
        ("name a participant", lambda run: bool(named(run) & key.guilty)),
        ("name a distractor", lambda run: bool(named(run) & distractors)),
    ]
    if common := next(iter(common_sets(base)), None):
        who = ", ".join(names[role] for role in sorted(common))
        asked.append(
            (
                f"name the base's most common answer, perhaps among others: {who}",
                lambda run: common <= named(run),
            )
        )
    return asked


def named(run: Run) -> frozenset[str]:
    """Whom a run names."""
    return frozenset(run.response.role_ids)


def _turns(
    asked: Sequence[Asked], pairs: "list[tuple[Run, Run]]", groups: dict[str, list[int]]
) -> tuple[Turn, ...]:
    out = []
    for name, does in asked:
        first, second = ([does(run) for run in side] for side in zip(*pairs, strict=True))
        leaning = [sum(second[i] - first[i] for i in own) for own in groups.values()]
        only_base = sum(a and not b for a, b in zip(first, second, strict=True))
        only_other = sum(b and not a for a, b in zip(first, second, strict=True))
        out.append(
            Turn(
                name=name,
                base=wilson(sum(first), len(pairs)),
                other=wilson(sum(second), len(pairs)),
                only_base=only_base,
                only_other=only_other,
                runs=mcnemar(only_base, only_other),
                models=sign_test(sum(one > 0 for one in leaning), sum(one < 0 for one in leaning)),
            )
        )
    return tuple(out)
