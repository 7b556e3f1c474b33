"""Whom runs name: common attractors across models, and distractors beside the right people (§5.2.1, 5.2.7)."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ludic_deepeval.stats.intervals import Rate, wilson
from ludic_deepeval.stats.permutation import Permutation, permutation_test
from worth_deepeval.diagnosis.sample import Sample

MOST_SETS = 5
# Shuffled cells in all: keeps ten thousand runs at some seconds.
_EFFORT = 1_500_000


@dataclass(frozen=True)
class Attractor:
    """A set of candidates that several runs name.

    Attributes:
        roles: The set.
        participants: How many of them are participants.
        exact: Runs that name this set and nobody else.
        contained: Runs that name at least these.
        within_one: Runs that name this set with at most one candidate added or left out; the exact ones count.
        models: Of all models, those in which some run names at least these.
        exact_models: Of all models, those in which some run names exactly these.
    """

    roles: tuple[str, ...]
    participants: int
    exact: Rate
    contained: Rate
    within_one: Rate
    models: Rate
    exact_models: Rate


@dataclass(frozen=True)
class Attractors:
    """Common answers, and whether they are more common than chance.

    Attributes:
        sets: The most frequent sets, at least two candidates each, most frequent first.
        across: Whether the models agree on one set more than models would of which each had its own favourites: the
            candidates change places within each model, the same way in all its runs. None with one model.
        together: Whether candidates are named together more than each model's liking for each of them explains: each
            candidate's column is shuffled among the model's runs.
    """

    sets: tuple[Attractor, ...]
    across: Permutation | None
    together: Permutation | None


@dataclass(frozen=True)
class RoleRow:
    """One candidate: who named them."""

    role: str
    participant: bool
    distractor: bool
    named: Rate
    by_model: tuple[tuple[str, Rate], ...]


@dataclass(frozen=True)
class WithDistractor:
    """Of the runs that name a participant, those that also name a distractor.

    Attributes:
        any_correct: Runs that name at least one participant.
        all_right: Runs that name all participants and nobody else.
        none_wrong: Of the runs with a participant, those that name nobody else.
        any_distractor: Of the runs with a participant, those with a distractor.
        each: The same for every single distractor.
    """

    any_correct: Rate
    all_right: Rate
    none_wrong: Rate
    any_distractor: Rate
    each: tuple[tuple[str, Rate], ...]


def attractors(sample: Sample, *, seed: int, draws: int) -> Attractors:
    """Return the most common sets and the tests against two nulls that permute within model."""
    return Attractors(
        tuple(_attractor(sample, one) for one in common_sets(sample)),
        across(sample, seed=seed, draws=draws),
        together(sample, seed=seed, draws=draws),
    )


def across(sample: Sample, *, seed: int, draws: int) -> Permutation | None:
    """Return whether models agree on a set more than models with favourites of their own; see `Attractors`."""
    masks, roles = _masks(sample), len(sample.by_role)
    own = [Counter(masks[i] for i in positions) for positions in sample.positions.values() if positions]
    observed = _largest(Counter(masks))
    if not observed or len(own) < 2:
        return None
    rng = random.Random(seed)  # noqa: S311  # a shuffle, no secret
    return permutation_test(
        observed,
        lambda: _largest(_relabelled(own, roles, rng)),
        _affordable(masks, roles, draws),
        "candidates change places within each model; the size of the most common set",
    )


def together(sample: Sample, *, seed: int, draws: int) -> Permutation | None:
    """Return whether candidates are named together more than each model's liking for each explains; see `Attractors`."""
    masks, roles = _masks(sample), len(sample.by_role)
    observed = _largest(Counter(masks))
    if not observed:
        return None
    named = [
        (len(positions), [sum(masks[i] >> role & 1 for i in positions) for role in range(roles)])
        for positions in sample.positions.values()
    ]
    rng = random.Random(seed)  # noqa: S311  # a shuffle, no secret
    return permutation_test(
        observed,
        lambda: _largest(Counter(_recombined(named, rng))),
        _affordable(masks, roles, draws),
        "each candidate shuffled among each model's runs; the size of the most common set",
    )


def _affordable(masks: list[int], roles: int, draws: int) -> int:
    return max(99, min(draws, _EFFORT // max(1, len(masks) * roles)))


def common_sets(sample: Sample) -> list[frozenset[str]]:
    """Return the sets of at least two candidates that most runs name, most frequent first."""
    common = Counter(one for one in sample.named if len(one) > 1)
    # Equally frequent sets in an order that does not hang on hashing.
    return sorted(common, key=lambda one: (-common[one], sorted(one)))[:MOST_SETS]


def attractor(sample: Sample, roles: Sequence[str]) -> Attractor:
    """Return how common one set of candidates is that somebody had in mind beforehand."""
    return _attractor(sample, frozenset(roles))


def role_rows(sample: Sample) -> tuple[RoleRow, ...]:
    """Return for each candidate who named them, in the episode's order."""
    key, n = sample.sheet.key, len(sample.scored)
    distractors = {one.role for one in key.distractors}
    return tuple(
        RoleRow(
            role=role,
            participant=role in key.guilty,
            distractor=role in distractors,
            named=wilson(mask.bit_count(), n),
            by_model=tuple(
                (model, wilson((mask & own).bit_count(), own.bit_count()))
                for model, own in sample.by_model.items()
            ),
        )
        for role, mask in sample.by_role.items()
    )


def with_distractor(sample: Sample) -> WithDistractor:
    """Return how naming the right and leaving out the wrong go together. Without distractors in the key: any other."""
    key = sample.sheet.key
    distractors = tuple(one.role for one in key.distractors) or sample.innocent
    right = [named for named in sample.named if named & key.guilty]
    return WithDistractor(
        any_correct=wilson(len(right), len(sample.named)),
        all_right=wilson(sum(named == key.guilty for named in sample.named), len(sample.named)),
        none_wrong=wilson(sum(named <= key.guilty for named in right), len(right)),
        any_distractor=wilson(sum(not named.isdisjoint(distractors) for named in right), len(right)),
        each=tuple((role, wilson(sum(role in named for named in right), len(right))) for role in distractors),
    )


def _attractor(sample: Sample, roles: frozenset[str]) -> Attractor:
    n = len(sample.named)
    exact = [i for i, named in enumerate(sample.named) if named == roles]
    contained = [i for i, named in enumerate(sample.named) if named >= roles]
    near = sum(len(named ^ roles) <= 1 for named in sample.named)
    models = sum(bool(positions) for positions in sample.positions.values())
    return Attractor(
        roles=tuple(sorted(roles)),
        participants=len(roles & sample.sheet.key.guilty),
        exact=wilson(len(exact), n),
        contained=wilson(len(contained), n),
        within_one=wilson(near, n),
        models=wilson(len({sample.scored[i].model for i in contained}), models),
        exact_models=wilson(len({sample.scored[i].model for i in exact}), models),
    )


def _masks(sample: Sample) -> list[int]:
    place = {role: 1 << i for i, role in enumerate(sample.by_role)}
    return [sum(place[role] for role in named) for named in sample.named]


def _largest(sets: "Counter[int]") -> int:
    """How many runs share the most common set of at least two."""
    return max((count for one, count in sets.items() if one.bit_count() > 1), default=0)


def _relabelled(models: "list[Counter[int]]", roles: int, rng: random.Random) -> "Counter[int]":
    out: Counter[int] = Counter()
    for own in models:
        places = list(range(roles))
        rng.shuffle(places)
        for one, count in own.items():
            out[sum(1 << places[i] for i in range(roles) if one >> i & 1)] += count
    return out


def _recombined(named: list[tuple[int, list[int]]], rng: random.Random) -> list[int]:
    """Shuffle each candidate's column among each model's runs.

    Args:
        named: For each model how many runs it has, and how many of them name each candidate.
        rng: What shuffles.
    """
    out = []
    for n, counts in named:
        mixed = [0] * n
        for role, count in enumerate(counts):
            if not count:
                continue
            bit = 1 << role
            # Drawing who does not name them is the same, and less work where most do.
            if count > n - count:
                mixed = [one | bit for one in mixed]
            for i in rng.sample(range(n), min(count, n - count)):
                mixed[i] ^= bit
        out += mixed
    return out
