"""Cohen's kappa: weighted on an ordered scale, and plain on names."""

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


def nominal_kappa(pairs: Sequence[tuple[str, str]]) -> Fraction | None:
    """Cohen's kappa of two raters' names for the same things, none nearer to another.

        κ = (p_o − p_e) / (1 − p_e)

    with p_o the share of equal names and p_e = Σ_c p_1(c) p_2(c), the share by chance. Exact; in [−1, 1], 1 is full agreement, 0 what
    chance gives, and higher is better. Source: Cohen (1960).

    Returns:
        None without pairs, or when both use one and the same name throughout, where kappa is 0/0.
    """
    n = len(pairs)
    if not n:
        return None
    same = Fraction(sum(a == b for a, b in pairs), n)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chance = Fraction(sum(count * second[name] for name, count in first.items()), n * n)
    return (same - chance) / (1 - chance) if chance != 1 else None
