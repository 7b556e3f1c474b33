"""Each model in plain words, and the evidence for each word.

A trait is claimed only where a figure bears it: an interval that excludes the contrary, or a test at one in a hundred.
Nothing here says why a model did what it did.
"""

import random
from collections import Counter
from dataclasses import dataclass
from math import comb
from statistics import fmean
from typing import Final

from ludic_deepeval.errors import clean
from ludic_deepeval.stats.exact import mcnemar
from ludic_deepeval.stats.intervals import Rate, wilson
from ludic_deepeval.stats.permutation import permutation_test
from worth_deepeval.diagnosis.sample import Sample

# One in a hundred for each trait: with half a dozen traits a reader by lot is rarely called anything.
ALPHA: Final = 0.01
LEAST_RUNS: Final = 3

HEADLINES: Final = {
    "too-few-runs": "too few runs to say anything",
    "finds-and-concludes": "finds the evidence and names the right people",
    "finds-but-misconcludes": "finds the evidence, and does not name the right people by it",
    "over-cautious": "names too few people, hardly ever wrongly",
    "drawn-to-suspicion": "takes what throws suspicion and passes over what clears",
    "one-wrong-answer": "gives one wrong answer again and again, whatever it selected",
    "concludes-wrongly": "names the wrong people more than the right ones",
    "concludes-without-key": "names the right people without the author's evidence",
    "no-better-than-lot": "no better than lots drawn among sentences and people",
}


@dataclass(frozen=True)
class Trait:
    """One thing that can be said of a model, and what bears it."""

    code: str
    evidence: str


@dataclass(frozen=True)
class Profile:
    """One model in plain words.

    Attributes:
        model: Its name.
        scored: Over how many runs.
        code: The word for programs: a key of `HEADLINES`.
        headline: The words for people.
        traits: Everything that was found of it.
        figures: The figures behind them, also where nothing was found.
    """

    model: str
    scored: int
    code: str
    headline: str
    traits: tuple[Trait, ...]
    figures: tuple[str, ...]


@dataclass(frozen=True)
class _Facts:
    n: int
    hits: float
    expected: float
    hits_p: float
    right: Rate
    wrong: Rate
    only_bad: int
    only_good: int
    pairs_p: float
    answer: tuple[str, ...]
    answer_rate: Rate
    answer_p: float
    answer_wrong: bool
    named: float
    guilty: int


def profiles(sample: Sample, *, seed: int, draws: int) -> tuple[Profile, ...]:
    """Return the profile of each model."""
    return tuple(
        _profile(sample, model, positions, seed=seed, draws=draws)
        for model, positions in sample.positions.items()
    )


def _profile(sample: Sample, model: str, positions: tuple[int, ...], *, seed: int, draws: int) -> Profile:
    if len(positions) < LEAST_RUNS:
        said = (
            f"{len(positions)} scored {'run' if len(positions) == 1 else 'runs'}; {LEAST_RUNS} are the least"
        )
        return Profile(model, len(positions), "too-few-runs", HEADLINES["too-few-runs"], (), (said,))
    facts = _facts(sample, positions, random.Random(seed), draws)  # noqa: S311  # a shuffle, no secret
    traits = _traits(facts)
    codes = {trait.code for trait in traits}
    code = _headline(codes)
    return Profile(model, len(positions), code, HEADLINES[code], traits, _figures(facts))


def _headline(codes: set[str]) -> str:
    """The most telling of what was found: first what is said of both halves, then of one."""
    if "finds" in codes:
        return "finds-and-concludes" if "concludes" in codes else "finds-but-misconcludes"
    for code in ("over-cautious", "drawn-to-suspicion", "one-wrong-answer", "concludes-wrongly"):
        if code in codes:
            return code
    return "concludes-without-key" if "concludes" in codes else "no-better-than-lot"


def _facts(sample: Sample, positions: tuple[int, ...], rng: random.Random, draws: int) -> _Facts:
    n, key = len(positions), sample.sheet.key
    own = sample.by_model[sample.scored[positions[0]].model]
    counts = [(mask & own).bit_count() for mask in sample.by_sentence.values()]
    hits = sum((sample.by_sentence[one] & own).bit_count() for one in key.sentences)
    # Which sentences are K is shuffled, and the runs stay as they are: their likeness to one another is no evidence.
    found = permutation_test(hits, lambda: sum(rng.sample(counts, len(key.sentences))), draws, "key shuffled")
    right = sum(len(sample.named[i] & key.guilty) for i in positions)
    named = sum(len(sample.named[i]) for i in positions)
    bad = good = 0
    for pair in key.pairs:
        one, other = sample.by_sentence[pair.suspicion] & own, sample.by_sentence[pair.exoneration] & own
        bad, good = bad + (one & ~other).bit_count(), good + (other & ~one).bit_count()
    answers = Counter(sample.named[i] for i in positions if len(sample.named[i]) > 1)
    answer = min(answers, key=lambda one: (-answers[one], sorted(one)), default=frozenset())
    sizes = Counter(len(one) for one in answers.elements())
    lots = permutation_test(
        answers[answer] / n,
        lambda: _by_lot(sizes, len(sample.by_role), n, rng),
        min(draws, max(99, 100_000 // n)),
        "by lot",
    )
    return _Facts(
        n=n,
        hits=hits / n,
        expected=sum(counts) * len(key.sentences) / len(counts) / n,
        hits_p=found.p_value,
        right=wilson(right, n * len(key.guilty)),
        wrong=wilson(named - right, n * len(sample.innocent)),
        only_bad=bad,
        only_good=good,
        pairs_p=mcnemar(bad, good).p_value,
        answer=tuple(one.name for one in sample.sheet.episode.candidates if one.id in answer),
        answer_rate=wilson(answers[answer], n),
        answer_p=lots.p_value,
        answer_wrong=not answer <= key.guilty,
        named=fmean(len(sample.named[i]) for i in positions),
        guilty=len(key.guilty),
    )


def _by_lot(sizes: "Counter[int]", roles: int, runs: int, rng: random.Random) -> float:
    """The share of the most common answer when each run draws as many people as it named.

    Args:
        sizes: How many runs named each number of people above one.
        roles: How many candidates there are.
        runs: How many runs there are in all.
        rng: What draws.
    """
    most = 0
    for size, count in sizes.items():
        # Answers of one size are equally likely: their number in a list stands for them.
        most = max(most, *Counter(rng.choices(range(comb(roles, size)), k=count)).values())
    return most / runs


def _traits(facts: _Facts) -> tuple[Trait, ...]:
    out = []
    if facts.hits_p <= ALPHA:
        out.append(Trait("finds", _hits(facts)))
    if _above(facts.right, facts.wrong):
        out.append(Trait("concludes", _people(facts)))
    if _above(facts.wrong, facts.right):
        out.append(Trait("concludes-wrongly", _people(facts)))
    if facts.named <= facts.guilty / 2 and (facts.wrong.rate or 0.0) <= 0.1:
        out.append(
            Trait(
                "over-cautious", f"names {facts.named:.1f} people a run, of {facts.guilty}; {_people(facts)}"
            )
        )
    if facts.only_bad > facts.only_good and facts.pairs_p <= ALPHA:
        out.append(Trait("drawn-to-suspicion", _pairs(facts)))
    if facts.answer_wrong and (facts.answer_rate.rate or 0.0) >= 0.5 and facts.answer_p <= ALPHA:
        out.append(Trait("one-wrong-answer", _answer(facts)))
    return tuple(out)


def _above(one: Rate, other: Rate) -> bool:
    return one.low is not None and other.high is not None and one.low > other.high


def _figures(facts: _Facts) -> tuple[str, ...]:
    return (_hits(facts), _people(facts), _pairs(facts), _answer(facts))


def _hits(facts: _Facts) -> str:
    return f"{facts.hits:.1f} key sentences a run, {facts.expected:.1f} by lot (p {p_text(facts.hits_p)})"


def _people(facts: _Facts) -> str:
    return f"participants named {rate_text(facts.right)}, others named {rate_text(facts.wrong)}"


def _pairs(facts: _Facts) -> str:
    if not facts.only_bad + facts.only_good:
        return "no watched pair parted"
    return (
        f"of watched pairs that it parted, it took the suspicion {_times(facts.only_bad)} and what clears"
        f" {_times(facts.only_good)} (p {p_text(facts.pairs_p)})"
    )


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _answer(facts: _Facts) -> str:
    if not facts.answer:
        return "never names two people together"
    kind = "with somebody wrong in it" if facts.answer_wrong else "with nobody wrong in it"
    return (
        f"its most common answer, {kind}, is {', '.join(clean(one, limit=60) for one in facts.answer)}: {rate_text(facts.answer_rate)}"
        f" (by lot p {p_text(facts.answer_p)})"
    )


def rate_text(rate: Rate) -> str:
    """Return a rate for people: "12/30 (40 %, 25–58 %)", or "0/0" where there was nothing to count."""
    if rate.rate is None or rate.low is None or rate.high is None:
        return "0/0"
    return f"{rate.count}/{rate.of} ({rate.rate:.0%}, {rate.low:.0%}–{rate.high:.0%})"


def p_text(p: float) -> str:
    """Return a p-value for people: two significant digits, in powers where it is tiny."""
    return f"{p:.2g}" if p >= 0.001 else f"{p:.1e}"
