"""Plans that tell the reuse judge what to label: what a scripted judge that obeyed said is told, and the line is pointed out."""

import json
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.plan_injection import speaks, spoken
from ludic_deepeval.reuse_pairs import load_pairs
from ludic_deepeval.session import load_session

ROOT = Path(__file__).parents[2]
CASES: list[dict[str, Any]] = json.loads(
    (ROOT / "tests" / "ludic" / "data" / "injection" / "plans.json").read_text(encoding="utf-8")
)["cases"]
PAIRS = load_pairs(ROOT / "test_cases" / "reuse" / "pairs.yaml", ROOT / "test_cases" / "backstories")


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_the_rules_see_what_is_said_openly_and_no_more(case: dict[str, Any]) -> None:
    assert (speaks(case["text"]) is not None) == case["seen"], case["text"]


def test_the_rates_are_those_that_the_docs_state() -> None:
    hits = sum(speaks(case["text"]) is not None for case in CASES)
    lines = [
        f"{one.emitted.text}: {one.emitted.role}" if one.emitted.role else one.emitted.text
        for one in PAIRS.pairs
    ]
    lines += [
        words
        for items in PAIRS.known.values()
        for item in items
        for words in (*item.names, item.text)
        if words
    ]
    alarms = [line for line in lines if speaks(line)]
    stated = f"{hits} of {len(CASES)} such lines and {len(alarms)} of {len(lines):,} ordinary ones"
    assert stated in " ".join((ROOT / "docs" / "metrics.md").read_text(encoding="utf-8").split())


def test_the_shipped_sessions_speak_to_nobody() -> None:
    for path in (ROOT / "test_cases" / "sessions").glob("*/session.json"):
        assert spoken(load_session(path)) == ()


def test_a_plan_without_end_is_read_in_time_that_grows_with_it() -> None:
    """A line has at most so many characters as a plan may have; nothing backtracks over it."""
    assert speaks("label " * 20_000) is None
