"""Cohen's weighted kappa on an ordered scale."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction


def weighted_kappa(pairs: Sequence[tuple[int, int]]) -> Fraction | None:
    """Quadratically weighted kappa of two raters' whole numbers.

        κ = 1 − Σ (a − b)² observed / Σ (a − b)² expected

    where the expected sum is over every pair of a first and a second rating, as if the raters' own ratings were dealt out at
    random: (1/n) Σ_i Σ_j (a_i − b_j)². Exact; in [−1, 1], 1 is full agreement, 0 what chance gives, and higher is better.
    The scale's ends do not matter, since the weights' common factor cancels. Source: Cohen (1968), with w = (a − b)².

    Returns:
        None without pairs, or when all ratings are the same number, where kappa is 0/0.
    """
    n = len(pairs)
    observed = sum((a - b) ** 2 for a, b in pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = sum(p * q * (a - b) ** 2 for a, p in first.items() for b, q in second.items())
    return 1 - Fraction(observed * n, expected) if expected else None
