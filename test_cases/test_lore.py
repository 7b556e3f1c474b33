"""Dialogue and a backstory against a version of the world (LudicMetrics §6.3): offline, without TruLens and without a model."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from deepeval import assert_test
from deepeval.test_case import LLMTestCase

from ludic_deepeval.bible import open_bible
from ludic_deepeval.files import load_yaml
from ludic_deepeval.outcome import Scored
from ludic_deepeval.sources import read_story
from trulens_feedback.assertions import LoreGroundednessMetric, LoreMetric
from trulens_feedback.lexical import LexicalJudge
from trulens_feedback.lore import assert_lore, lore_faults
from trulens_feedback.retrieval import Bm25Retriever
from trulens_feedback.setting import Setting
from trulens_feedback.triad import groundedness

HERE = Path(__file__).parent
FILE = HERE / "lore/lines.yaml"
LINES: list[dict[str, Any]] = load_yaml(FILE.read_text(encoding="utf-8"), FILE)["lines"]
PLAIN = [line for line in LINES if line["part"] == "plain"]
HELD_OUT = [line for line in LINES if line["part"] == "held-out"]


@cache
def world(reference: str) -> Setting:
    return Setting(open_bible(str(HERE.parent / "bible" / reference)))


@pytest.mark.parametrize("line", PLAIN, ids=lambda line: f"{line['bible'][-2:]}: {line['text'][:40]}")
def test_a_line_fits_its_version_of_the_world_or_fails_naming_the_node(line: dict[str, Any]) -> None:
    if line["fits"]:
        assert_lore(line["text"], world(line["bible"]))
        return
    with pytest.raises(AssertionError) as failed:
        assert_lore(line["text"], world(line["bible"]), where="lines.yaml")
    (told,) = str(failed.value).splitlines()[:1]
    assert line["node"] in told
    assert line["bible"] in told


def test_what_the_offline_check_sees_of_lines_in_other_words_is_what_the_documentation_says() -> None:
    """A record and no standard: docs/lore.md tells these two counts, so they must be the real ones."""
    found = sum(
        any(fault.node == line["node"] for fault in lore_faults(line["text"], world(line["bible"])))
        for line in HELD_OUT
        if not line["fits"]
    )
    alarms = sum(bool(lore_faults(line["text"], world(line["bible"]))) for line in HELD_OUT if line["fits"])
    wrong = sum(not line["fits"] for line in HELD_OUT)
    page = (HERE.parent / "docs/lore.md").read_text(encoding="utf-8")
    assert f"{found} of {wrong} contradictions in other words" in page
    assert f"{alarms} of {len(HELD_OUT) - wrong} lines that fit" in page


def test_a_backstory_that_is_true_to_the_second_version_fits_it() -> None:
    prose = read_story(HERE / "lore/the-last-lamp.md").prose.body
    assert_lore(prose, world("ember-road@v2"), where="the-last-lamp.md")
    retriever = Bm25Retriever(world("ember-road@v2").bible)
    chunks = [hit.chunk for hit in retriever.retrieve(prose, most=20)]
    case = LLMTestCase(
        input="the-last-lamp",
        actual_output=prose,
        retrieval_context=[chunk.text for chunk in chunks],
        metadata={"bible": str(HERE.parent / "bible/ember-road@v2")},
    )
    assert_test(case, [LoreMetric(), LoreGroundednessMetric(threshold=0)], run_async=False)
    found = groundedness(prose, chunks, world("ember-road@v2"), LexicalJudge())
    assert found.counts["contradicted"] == 0
    assert found.counts["open"] >= 1
    assert isinstance(found.score, Scored)
