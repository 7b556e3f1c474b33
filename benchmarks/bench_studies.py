"""Sensitivity against the bare arithmetic in NumPy, and the rank tests against a second and against their own size."""

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from benchmarks.measure import Row
from ludic_deepeval.stats import rank_battery
from ludic_deepeval.stats.inputs import Floats
from ludic_deepeval.studies.sensitivity import WEIGHTS, perturbed, weight_sobol, weight_stability

METRICS, ALGORITHMS, PROBLEMS = 4, 10, 40


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _in_turns(
    one: Callable[[], object], other: Callable[[], object], rounds: int
) -> tuple[float, float, float]:
    """The median ratio of two times that were taken in turns, and the median of either."""
    one(), other()
    times = [(_seconds(one), _seconds(other)) for _ in range(rounds)]
    return median(a / b for a, b in times), median(a for a, _ in times), median(b for _, b in times)


def _milliseconds(one: float, other: float) -> str:
    return f"{one * 1000:.0f} ms to {other * 1000:.0f} ms"


def _ledgers(count: int) -> Floats:
    """Components of as many ledgers, no two alike, so that nothing can be worked out once for several."""
    found = np.random.default_rng(0).random((count, 4))
    assert len(np.unique(found, axis=0)) == count
    return found


def _stability(ledgers: Floats, draws: int, rounds: int) -> Row:
    vectors = perturbed(np.array(WEIGHTS), 0.2, draws, np.random.default_rng(0))

    def bare() -> Floats:
        return np.sort(vectors @ ledgers.T, axis=1)

    def ours() -> None:
        found = weight_stability(ledgers, draws=draws)
        assert found.draws == draws
        assert found.spearman_mean is not None
        assert 0.9 < found.spearman_min <= found.spearman_mean < 1

    ratio, mine, theirs = _in_turns(ours, bare, rounds)
    what = f"{draws:,} weight vectors × {len(ledgers)} ledgers with Spearman to the bare product and sort"
    return Row(what, ratio, 3, _milliseconds(mine, theirs))


def _sobol(ledgers: Floats, n: int, rounds: int) -> Row:
    inputs = np.random.default_rng(0).random((6 * n, 4))

    def bare() -> Floats:
        return np.count_nonzero(inputs @ ledgers.T >= 0.7, axis=1)

    def ours() -> None:
        found = weight_sobol(ledgers, n=n)
        assert found.n == n
        assert sum(found.total) >= 1 - 0.05

    ratio, mine, theirs = _in_turns(ours, bare, rounds)
    what = f"Sobol's indices, n = {n:,}, {len(ledgers)} ledgers, to the bare product and count"
    return Row(what, ratio, 3, _milliseconds(mine, theirs))


def _metrics(problems: int) -> list[Floats]:
    """Four metrics: ratios of small counts with many ties, and others with few."""
    rng = np.random.default_rng(1)
    shape = (problems, ALGORITHMS)
    ratio = np.round(rng.integers(0, 8, shape) / rng.integers(8, 13, shape), 4)
    return [ratio, *(np.round(rng.random(shape), digits) for digits in (2, 4, 8))]


def _battery(metrics: list[Floats]) -> None:
    for metric in metrics:
        found = rank_battery(metric)
        assert len(found.shaffer) == ALGORITHMS * (ALGORITHMS - 1) // 2


def run(*, smoke: bool = False) -> list[Row]:
    """Four rows; the third is a bound in seconds, the fourth what a problem more costs when there are many."""
    rounds = 1 if smoke else 11
    ledgers = _ledgers(50 if smoke else 400)
    rows = [
        _stability(ledgers, 500 if smoke else 20_000, rounds),
        _sobol(ledgers, 64 if smoke else 4096, rounds),
    ]
    small, large = _metrics(PROBLEMS), _metrics(PROBLEMS * 10)
    largest = _metrics(PROBLEMS * (20 if smoke else 100))
    _battery(small)
    taken = median(_seconds(lambda: _battery(small)) for _ in range(rounds))
    what = f"every rank procedure, {METRICS} metrics × {ALGORITHMS} × {PROBLEMS}, to 1 s"
    rows.append(Row(what, taken, 1, f"{taken * 1000:.0f} ms to 1 s"))
    growth = len(largest[0]) / len(large[0])
    ratio, much, little = _in_turns(lambda: _battery(largest), lambda: _battery(large), 1 if smoke else 5)
    what = f"the same over {len(largest[0]):,} problems to {growth:.0f} times {len(large[0])}"
    return [*rows, Row(what, ratio / growth, 1.5, _milliseconds(much, little))]
