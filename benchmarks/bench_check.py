"""`ludic check` of one story against `deepeval test run` of the same story: whole processes."""

import json
import shutil
import tempfile
from pathlib import Path
from statistics import median

import ludic_deepeval
from benchmarks.measure import PYTEST_INI, Row, program, timed

DEMO = Path(ludic_deepeval.__file__).with_name("demo")
TEST = """\
from deepeval import assert_test
from ludic_deepeval.metrics import PlayabilityGateMetric, TemporalConsistencyMetric, backstory_case

def test_story():
    assert_test(backstory_case("2-open.md"), [PlayabilityGateMetric(), TemporalConsistencyMetric()])
"""
TARGETS = {"text": 1 / 12, "--json": 1 / 15}


def _fresh(folder: Path) -> None:
    for name in ("2-open.md", "2-open.ledger.json"):
        shutil.copy(DEMO / name, folder)
    (folder / "pytest.ini").write_text(PYTEST_INI, encoding="utf-8")
    (folder / "test_story.py").write_text(TEST, encoding="utf-8")


def _round(folder: Path, times: int) -> dict[str, float]:
    seconds: dict[str, list[float]] = {name: [] for name in TARGETS}
    taken, said = timed(program("deepeval"), "test", "run", "test_story.py", folder=folder)
    assert "1 passed" in said
    for _ in range(times):
        took, said = timed(program("ludic"), "check", "2-open.md", folder=folder)
        assert "LPI 0.77" in said
        seconds["text"].append(took)
        took, said = timed(program("ludic"), "check", "2-open.md", "--json", folder=folder)
        assert json.loads(said)["summary"]["passed"] == 1
        seconds["--json"].append(took)
    return {"deepeval": taken} | {name: median(found) for name, found in seconds.items()}


def run(*, smoke: bool = False) -> list[Row]:
    """One process of DeepEval and five of each form of `ludic check`, in turns, nine rounds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _fresh(folder)
        if not smoke:
            _round(folder, 1)  # compiles, and warms the disk's cache
        rounds = [_round(folder, 1 if smoke else 5) for _ in range(1 if smoke else 9)]
    deepeval = median(one["deepeval"] for one in rounds)
    return [
        Row(
            f"`ludic check STORY.md`, {form}, to `deepeval test run`",
            median(one[form] / one["deepeval"] for one in rounds),
            target,
            f"{median(one[form] for one in rounds) * 1000:.0f} ms to {deepeval * 1000:.0f} ms",
        )
        for form, target in TARGETS.items()
    ]
