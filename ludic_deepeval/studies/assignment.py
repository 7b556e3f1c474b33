"""Who rates what, and in which order: every story gets its raters, nobody much more than another (§5.7)."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from ludic_deepeval.errors import InputError

MAX_RATERS: Final = 500
_SWAPS_PER_ITEM: Final = 40


@dataclass(frozen=True)
class Assignment:
    """Which items each rater rates, in the rater's own order.

    Attributes:
        orders: For each rater, the numbers of the items, first to last.
        items: How many items there are.
    """

    orders: tuple[tuple[int, ...], ...]
    items: int

    @property
    def loads(self) -> tuple[int, ...]:
        """How many items each rater rates."""
        return tuple(map(len, self.orders))

    @property
    def raters_of(self) -> tuple[int, ...]:
        """How many raters each item has."""
        counts = Counter(item for order in self.orders for item in order)
        return tuple(counts[item] for item in range(self.items))

    @property
    def places(self) -> tuple[float, ...]:
        """The mean place of each item in its raters' orders: 0 first, 1 last; even orders bring it near 0.5."""
        return tuple(_mean(found) for found in _places(self.orders, self.items))


def assign(
    strata: Sequence[str], raters: int, *, per_story: int = 3, per_rater: int | None = None, seed: int
) -> Assignment:
    """Give every story its raters, and every rater an order.

    Stratum after stratum, each story takes those raters who have the fewest stories so far, among these those who have shared
    the fewest with the ones already taken; what is left is chance. So loads differ by at most one, at every point and with it
    (by at most two) in every stratum, and pairs of raters meet evenly.

    Orders are shuffled for each rater and then balanced: places are swapped within a rater's order as long as that brings
    a story's mean place over its raters closer to the middle, so that no story is always read first or always by the tired.

    Args:
        strata: The stratum of each story.
        raters: How many raters, 1 to 500.
        per_story: Raters for each story; the least, when `per_rater` gives more.
        per_rater: Stories for each rater; by default what `per_story` needs, as even as it can be.
        seed: The same seed gives the same assignment.

    Raises:
        InputError: Numbers that cannot be met, with what could.
    """
    stories = len(strata)
    if not 1 <= raters <= MAX_RATERS:
        raise InputError("--raters", f"found {raters}", allowed=f"1 to {MAX_RATERS}")
    if not 1 <= per_story <= raters:
        raise InputError("--per-story", f"found {per_story}", allowed=f"1 to {raters}, the number of raters")
    wanted = [per_story] * stories
    rng = random.Random(f"assign:{seed}")  # noqa: S311  # a design, no secret
    if per_rater is not None:
        wanted = _wanted(stories, raters, per_story, per_rater, rng)
    sets = _deal(strata, raters, wanted, rng)
    return Assignment(_orders(sets, stories, rng), stories)


def _wanted(stories: int, raters: int, per_story: int, per_rater: int, rng: random.Random) -> list[int]:
    least = -(-stories * per_story // raters)
    if not least <= per_rater <= stories:
        raise InputError(
            "--per-rater",
            f"found {per_rater}",
            allowed=f"{least} to {stories}, for {stories} stories with {per_story} raters each among {raters}"
            if least <= stories
            else f"more than {raters} raters",
        )
    each, more = divmod(raters * per_rater, stories)
    wanted = [each + (at < more) for at in range(stories)]
    rng.shuffle(wanted)
    return wanted


def _deal(strata: Sequence[str], raters: int, wanted: Sequence[int], rng: random.Random) -> list[list[int]]:
    given: list[list[int]] = [[] for _ in range(raters)]
    met: Counter[tuple[int, int]] = Counter()
    order = list(range(len(strata)))
    rng.shuffle(order)
    order.sort(key=lambda item: strata[item])
    for item in order:
        taken: list[int] = []
        chance = [rng.random() for _ in range(raters)]
        for _ in range(wanted[item]):

            def cost(rater: int) -> tuple[int, int, float]:
                shared = sum(met[min(rater, other), max(rater, other)] for other in taken)  # noqa: B023  # used at once
                return len(given[rater]), shared, chance[rater]  # noqa: B023  # used at once

            taken.append(min((rater for rater in range(raters) if rater not in taken), key=cost))
        for rater in taken:
            given[rater].append(item)
        met.update((min(pair), max(pair)) for pair in combinations(taken, 2))
    return given


def _orders(sets: list[list[int]], stories: int, rng: random.Random) -> tuple[tuple[int, ...], ...]:
    orders = [list(one) for one in sets]
    for order in orders:
        rng.shuffle(order)
    places = _places(orders, stories)
    sums, counts = [sum(found) for found in places], [len(found) for found in places]

    def off(item: int, change: float) -> float:
        return ((sums[item] + change) / counts[item] - 0.5) ** 2

    long = [order for order in orders if len(order) > 1]
    for _ in range(_SWAPS_PER_ITEM * stories if long else 0):
        order = rng.choice(long)
        one, other = rng.sample(range(len(order)), 2)
        step = (other - one) / (len(order) - 1)
        a, b = order[one], order[other]
        if off(a, step) + off(b, -step) < off(a, 0) + off(b, 0) - 1e-12:
            order[one], order[other] = b, a
            sums[a] += step
            sums[b] -= step
    return tuple(map(tuple, orders))


def _places(orders: Sequence[Sequence[int]], stories: int) -> list[list[float]]:
    """Where each item stands in each order that has it: 0 first, 1 last, the middle where it is alone."""
    found: list[list[float]] = [[] for _ in range(stories)]
    for order in orders:
        for at, item in enumerate(order):
            found[item].append(at / (len(order) - 1) if len(order) > 1 else 0.5)
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
