"""The re-analysis is what its command writes, and stands to the papers' figures as an independent recomputation does."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.studies.reanalysis import main, reanalyse, to_markdown
from ludic_deepeval.studies.reanalysis_figures import FIGURES, corners, reaches, rounds_to

ROOT = Path(__file__).parents[2]
SHARED = Path(__file__).parents[3] / "shared" / "oracles" / "paper_oracles.json"
ROWS = {row.figure.id: row for row in reanalyse()}
DISAGREE = {
    "vi.detector_as_printed", "cal.det", "pilot.n", "baseline.t", "counts.8b", "gate_all_families", "r.Q4.holm",
    "ahp.inside_sweep", "pcv.threshold",
}  # fmt: skip
STATUS = {
    "agree": {"agrees"},
    "agree_within_rounding": {"agrees", "within rounding"},
    "disagree": {"disagrees"},
    "ambiguous": {"left open"},
    "note": {"remark"},
    "derived": {"not printed"},
}


def numbers(value: Any) -> Iterator[float]:
    """Every number of a figure, in order."""
    if isinstance(value, int | float):  # a yes is 1
        yield float(value)
    elif isinstance(value, dict):
        for one in value.values():
            yield from numbers(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from numbers(one)


def test_the_page_is_what_the_command_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["reanalysis", str(tmp_path / "page.md")])
    assert main() == 0
    written = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert written == to_markdown(reanalyse())
    assert written == (ROOT / "docs/reanalysis.md").read_text(encoding="utf-8")


def test_nine_figures_disagree_and_each_is_explained() -> None:
    assert {name for name, row in ROWS.items() if row.found.verdict == "disagrees"} == DISAGREE
    for row in ROWS.values():
        asks = row.found.verdict in {"disagrees", "left open", "remark"}
        assert bool(row.why) == asks, row.figure.id


def test_every_figure_has_a_verdict() -> None:
    assert len(ROWS) == 123
    for row in ROWS.values():
        if row.figure.id != "anova2.from_deltas":  # whether two printed F fit four printed differences
            assert (row.figure.printed is None) == (row.found.verdict == "not printed"), row.figure.id


@pytest.fixture(scope="module")
def oracles() -> dict[str, Any]:
    if not SHARED.exists():
        pytest.skip("../shared is not here: the figures were recomputed there once more, by other code")
    return {one["id"]: one for one in json.loads(SHARED.read_text(encoding="utf-8"))["oracles"]}


def test_the_figures_are_those_of_the_papers(oracles: dict[str, Any]) -> None:
    ours = {one["id"]: one for one in json.loads(FIGURES.read_text(encoding="utf-8"))["figures"]}
    assert list(ours) == list(oracles)
    for name, one in ours.items():
        assert one == {key: oracles[name][key] for key in one}


def test_every_figure_comes_to_what_it_comes_to_elsewhere(oracles: dict[str, Any]) -> None:
    compared = 0
    for name, row in ROWS.items():
        expected = list(numbers(oracles[name]["recomputed"]))
        found = list(numbers(row.found.value))
        if name.startswith("iters."):  # written there as the paper's program did
            found = [float(f"{one:.2f}") for one in found]
        assert len(found) == len(expected), name
        for one, other in zip(found, expected, strict=True):
            assert rounds_to(one, other), (name, one, other)  # theirs are written with three to six digits
        compared += len(expected)
    assert compared > 390


def test_every_verdict_is_that_of_the_independent_recomputation(oracles: dict[str, Any]) -> None:
    for name, row in ROWS.items():
        assert row.found.verdict in STATUS[oracles[name]["status"]], name


def test_a_figure_rounds_to_what_is_printed_whichever_way_a_half_goes() -> None:
    assert rounds_to(0.225, 0.23)
    assert rounds_to(0.225, 0.22)
    assert not rounds_to(0.2249, 0.23)
    assert rounds_to(0.0386, 0.04)
    assert not rounds_to(0.0386, 0.04, digits=3)  # printed .040


def test_rounding_of_the_inputs_reaches_so_far() -> None:
    # 1.13 ± .005 and −.32 ± .005 add up to between .80 and .82.
    ends = corners(lambda a, b: a + b, (1.13, 0.005), (-0.32, 0.005))
    assert ends == pytest.approx((0.80, 0.82))
    assert reaches(ends, 0.80)
    assert not reaches(ends, 0.78)
