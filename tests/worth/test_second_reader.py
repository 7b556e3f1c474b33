"""The reader against a second one that was written apart from it, on ten thousand replies that were broken on purpose."""

import importlib.util
import json
import random
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from worth_deepeval.episode import Sheet
from worth_deepeval.response import read_response

FULL: dict[str, Any] = {
    "episode_id": "T01",
    "clue_sentence_ids": ["S002", "S004"],
    "selected_role_ids": ["R01"],
    "clue_interpretations": [
        {"sentence_id": "S002", "interpretation": "locked from {the} north [post]"},
        {"sentence_id": "S004", "interpretation": 'she said \\"mine\\"'},
    ],
    "evidence_combination": "North lock, north key: {so}.",
    "final_conclusion": "Ada.",
    "confidence": 80,
}
SHORT = {"clue_sentence_ids": ["S006"], "selected_role_ids": ["R02", "R03"]}
GOOD, BRIEF, WIDE = json.dumps(FULL), json.dumps(SHORT), json.dumps(FULL, indent=2)
BASES = (
    GOOD,
    WIDE,
    f"```json\n{WIDE}\n```",
    f"I have looked.\n{GOOD}\nThat is all.",
    f"<think>{BRIEF}</think>\n{GOOD}",
    GOOD + BRIEF,
    GOOD + GOOD,
    BRIEF,
    "[" + GOOD + "]",
    json.dumps({"answer": FULL}),
    '"clue_sentence_ids": ["S002"], "selected_role_ids": ["R01"]',
    "clue_sentence_ids = ['S002']; selected_role_ids：[\"R01\"]",
)
PIECES = (
    *'{}[]",:\\\'`\n \t=：',
    "{}", "[]", '""', "null", "true", "NaN", "1e999", "0", "\x00", "\ufeff", "\u2028", "\ud800", "\\u0053", "S002", "S207",
    "S０02", "s002", "S002 ", "R01", "R09", '"S002",', "</think>", "<think>", "clue_sentence_ids", '"clue_sentence_ids": ',
    '"selected_role_ids": ["R01"]', '"clue_sentence_ids": ["S004"],', "```", "//", "}{", "],[", "[[", '{"a":', BRIEF, "选择",
)  # fmt: skip


@pytest.fixture(scope="module")
def second() -> ModuleType:
    """The module beside this file; tests here are no package."""
    spec = importlib.util.spec_from_file_location(
        "second_reader", Path(__file__).with_name("second_reader.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["second_reader"] = module
    spec.loader.exec_module(module)
    return module


def mutated(draw: random.Random) -> str:
    text = draw.choice(BASES)
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 5))):
        at = draw.randrange(len(text) + 1)
        size = draw.choice((1, 1, 1, 2, 5, 20, 80))
        match draw.randrange(8):
            case 0 | 1:
                text = text[:at] + draw.choice(PIECES) + text[at:]
            case 2:
                text = text[:at] + text[at + size :]
            case 3:
                text = text[:at] + draw.choice(PIECES) + text[at + size :]
            case 4:
                text = text[:at] + text[at : at + size] * 2 + text[at + size :]
            case 5:
                text = text[:at]
            case 6:
                text = text[at:]
            case 7:
                one, other = draw.choice(
                    (("S00", "S0"), ('"', "'"), ("R01", "R02"), ("]", "],"), (": ", ":"), ("S004", "S002"))
                )
                text = text.replace(one, other, draw.choice((1, -1)))
    return text


def test_two_readers_read_ten_thousand_broken_replies_alike(sheet: Sheet, second: ModuleType) -> None:
    draw = random.Random(20261021)  # noqa: S311  # mutations
    episode = sheet.episode
    known = (episode.id, set(episode.sentence_ids), set(episode.role_ids), episode.quota.sentences)
    seen: Counter[tuple[str, bool]] = Counter()
    compliant = 0
    for _ in range(10_000):
        text = mutated(draw)
        ours, theirs = read_response(text, episode), second.read(text, *known)
        got = (ours.json, ours.selections == "valid", ours.clue_ids, ours.role_ids, ours.compliant)
        assert got == (theirs.form, theirs.valid, theirs.clues, theirs.roles, theirs.compliant), text
        seen[theirs.form, theirs.valid] += 1
        compliant += theirs.compliant
    # Every way to end is among them, often enough to mean something.
    assert len(seen) == 6
    assert min(seen.values()) > 100, seen
    assert compliant > 50
