"""`deepeval test run` with our plugin against plain `pytest` on the same backstories, as their number grows."""

import json
import re
import tempfile
from itertools import pairwise
from pathlib import Path
from statistics import median

from benchmarks.measure import PYTEST_INI, Row, program, timed
from benchmarks.stories import write_story

TEST = """\
from deepeval import assert_test
from ludic_deepeval.metrics import PlayabilityGateMetric, TemporalConsistencyMetric

def test_story(backstory_case):
    assert_test(backstory_case, [PlayabilityGateMetric(), TemporalConsistencyMetric()], run_async=False)
"""
TARGET = 1.5
FLAT = 1.25  # of two costs that should be the same, on a machine that has other work


def _write(folder: Path, size: int) -> None:
    stories = folder / "stories"
    stories.mkdir(parents=True)
    for number in range(size):
        write_story(stories, number)
    (folder / "pytest.ini").write_text(PYTEST_INI, encoding="utf-8")
    (folder / "test_stories.py").write_text(TEST, encoding="utf-8")


def _round(folder: Path, size: int) -> tuple[float, float]:
    """Seconds of pytest and of DeepEval; every case passes under both, and DeepEval's file of results says so."""
    plain, said = timed(program("pytest"), "-q", "test_stories.py", folder=folder)
    assert re.search(rf"(?<!\d){size} passed", said)
    deepeval, said = timed(program("deepeval"), "test", "run", "test_stories.py", folder=folder)
    assert re.search(rf"(?<!\d){size} passed", said)
    results = json.loads((folder / ".deepeval" / ".latest_run_full.json").read_text(encoding="utf-8"))
    cases = results.get("testRunData", results)["testCases"]
    assert len({case["name"] for case in cases}) == size
    assert all(metric["success"] for case in cases for metric in case["metricsData"])
    return plain, deepeval


def run(*, smoke: bool = False) -> list[Row]:
    """Three sizes, in turns, three rounds."""
    sizes = (2, 8) if smoke else (100, 400, 1600)
    found: dict[int, list[tuple[float, float]]] = {size: [] for size in sizes}
    with tempfile.TemporaryDirectory() as name:
        for size in sizes:
            _write(Path(name, str(size)), size)
        for _ in range(1 if smoke else 3):
            for size in sizes:
                found[size].append(_round(Path(name, str(size)), size))
    plain, deepeval = (
        {size: median(pair[side] for pair in found[size]) for size in sizes} for side in (0, 1)
    )
    rows = [
        Row(
            f"`deepeval test run` of {size:,} backstories to `pytest`",
            median(pair[1] / pair[0] for pair in found[size]),
            TARGET,
            f"{deepeval[size]:.1f} s to {plain[size]:.1f} s",
        )
        for size in sizes
    ]
    # What one more case costs, so that the start, which is the same for any number, does not flatter the large runs.
    costs = [(deepeval[more] - deepeval[less]) / (more - less) for less, more in pairwise(sizes)]
    if len(costs) > 1:
        times = " to ".join(f"{cost * 1000:.1f} ms" for cost in reversed(costs))
        what = f"a case more between {sizes[1]:,} and {sizes[2]:,} to one between {sizes[0]} and {sizes[1]}"
        rows.append(Row(what, costs[-1] / costs[0], FLAT, times))
    return rows
