"""What runs that miss a key sentence select beside it, against chance (§5.2.5). Neighbours are the sentences one before and after."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, erfc, fsum, prod, sqrt
from typing import Final

from ludic_deepeval.stats.exact import Test, holm
from ludic_deepeval.stats.intervals import Rate, wilson
from ludic_deepeval.stats.permutation import Permutation, permutation_test
from worth_deepeval.diagnosis.sample import Sample, flags

_MOST_EXACT: Final = 500  # runs


@dataclass(frozen=True)
class NearMiss:
    """A key sentence, and what those who missed it selected beside it.

    Attributes:
        sentence: The key sentence.
        neighbours: The sentence before and the one after.
        beside: Of the runs that missed it, those that selected a neighbour.
        chance: The share that would, had each of these runs drawn as many sentences blindly; None when nobody missed it.
        test: Whether more do than by chance: the upper tail of the sum of the runs' own chances. It takes runs for independent;
            None when nobody missed it.
        adjusted: Its p-value, adjusted by Holm over the key sentences that somebody missed.
    """

    sentence: str
    neighbours: tuple[str, ...]
    beside: Rate
    chance: float | None
    test: Test | None
    adjusted: float | None


@dataclass(frozen=True)
class Nearness:
    """All key sentences together.

    Attributes:
        beside: Of all misses of a key sentence, those with a neighbour selected.
        test: Whether that is more than beside as many sentences drawn from the whole story: the runs stay as they are, so
            that their likeness to one another is no evidence. None when nothing was missed.
    """

    beside: Rate
    test: Permutation | None


def near_misses(sample: Sample) -> tuple[NearMiss, ...]:
    """Return for each key sentence what those who missed it selected beside it, and how many would by chance.

    A run that missed it and selected m of the other N − 1 sentences has one of d neighbours by chance with probability
    1 − C(N−1−d, m) / C(N−1, m).
    """
    ids = list(sample.by_sentence)
    place = {sentence: i for i, sentence in enumerate(ids)}
    sizes = [len(run.response.clue_ids) for run in sample.scored]
    found = []
    for sentence in sample.sheet.key.sentences:
        beside = _beside(ids, place[sentence])
        missed, near = _missed(sample, sentence, beside)
        many = Counter(size for size, flag in zip(sizes, flags(missed, len(sizes)), strict=True) if flag)
        chances = [(_by_chance(len(ids) - 1, len(beside), size), count) for size, count in many.items()]
        found.append((sentence, beside, wilson(near.bit_count(), missed.bit_count()), chances))
    tests = [_tail(rate.count, chances) if rate.of else None for _, _, rate, chances in found]
    adjusted = iter(holm([one.p_value for one in tests if one]))
    return tuple(
        NearMiss(
            sentence,
            beside,
            rate,
            fsum(p * count for p, count in chances) / rate.of if rate.of else None,
            test,
            next(adjusted) if test else None,
        )
        for (sentence, beside, rate, chances), test in zip(found, tests, strict=True)
    )


def nearness(sample: Sample, *, seed: int, draws: int) -> Nearness:
    """Return whether misses of key sentences have a neighbour selected more often than misses of any sentence."""
    ids = list(sample.by_sentence)
    counts = []
    for i, sentence in enumerate(ids):
        missed, near = _missed(sample, sentence, _beside(ids, i))
        counts.append((near.bit_count(), missed.bit_count()))
    key = [counts[i] for i, sentence in enumerate(ids) if sentence in set(sample.sheet.key.sentences)]
    near, missed = map(sum, zip(*key, strict=True)) if key else (0, 0)
    rng = random.Random(seed)  # noqa: S311  # a shuffle, no secret
    test = None
    if missed:
        test = permutation_test(
            near / missed,
            lambda: _share(rng.sample(counts, len(key))),
            draws,
            "as many sentences drawn from the whole story",
        )
    return Nearness(wilson(near, missed), test)


def _share(counts: Sequence[tuple[int, int]]) -> float:
    missed = sum(of for _, of in counts)
    return sum(near for near, _ in counts) / missed if missed else 0.0


def _beside(ids: list[str], at: int) -> tuple[str, ...]:
    return tuple(ids[i] for i in (at - 1, at + 1) if 0 <= i < len(ids))


def _missed(sample: Sample, sentence: str, beside: tuple[str, ...]) -> tuple[int, int]:
    """The runs that missed a sentence, and those of them that selected one beside it, as bits."""
    missed = ((1 << len(sample.scored)) - 1) & ~sample.by_sentence[sentence]
    near = 0
    for one in beside:
        near |= sample.by_sentence[one]
    return missed, missed & near


def _by_chance(others: int, neighbours: int, drawn: int) -> float:
    return 1 - prod((others - drawn - i) / (others - i) for i in range(neighbours) if others > i)


def _tail(count: int, chances: "list[tuple[float, int]]") -> Test:
    """P(at least `count`) of a sum of independent runs, of which some share one chance."""
    runs = sum(of for _, of in chances)
    mean = fsum(p * of for p, of in chances)
    if runs > _MOST_EXACT:
        spread = sqrt(fsum(p * (1 - p) * of for p, of in chances))
        tail = erfc((count - 0.5 - mean) / spread / sqrt(2)) / 2 if spread else float(count <= mean)
        return Test(count, tail, count / mean if mean else None, "normal, one-sided")
    whole = [1.0]
    for p, of in chances:
        part = [comb(of, k) * p**k * (1 - p) ** (of - k) for k in range(of + 1)]
        out = [0.0] * (len(whole) + of)
        for i, a in enumerate(whole):
            for j, b in enumerate(part):
                out[i + j] += a * b
        whole = out
    return Test(
        count, min(1.0, fsum(whole[count:])), count / mean if mean else None, "Poisson-binomial, one-sided"
    )
