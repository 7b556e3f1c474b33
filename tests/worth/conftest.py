import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from worth_deepeval.episode import Sheet, load_sheet

# The bridge was locked from the north (S002), Ada alone had that key (S004): she did it. Ben was across the water when
# it happened (S006). Cyn limps, and whoever did it ran (S005, S007).
EPISODE: dict[str, Any] = {
    "id": "T01",
    "version": "1",
    "language": "en",
    "canary": "canary-T01-5b1f",
    "title": "The Bridge",
    "question": "Who locked the bridge?",
    "scope": "The question is about the locking of the bridge on Friday night.",
    "participant_definition": "whoever locked it, or gave the key to whoever did.",
    "provenance": {"source": "written for these tests"},
    "quota": {"sentences": 4},
    "sentences": [
        {"id": "S001", "text": "The bridge was shut on Friday."},
        {"id": "S002", "text": "The lock hung on the north post, as it never does."},
        {"id": "S003", "text": "Ben had sworn to shut it."},
        {"id": "S004", "text": "Ada keeps the north key on a string about her neck."},
        {"id": "S005", "text": "Somebody was heard running."},
        {"id": "S006", "text": "Ben's boat lay on the far side until Sunday."},
        {"id": "S007", "text": "Cyn has not run since the winter."},
        {"id": "S008", "text": "It rained."},
    ],
    "candidates": [
        {"id": "R01", "name": "Ada"},
        {"id": "R02", "name": "Ben", "note": "a ferryman"},
        {"id": "R03", "name": "Cyn"},
    ],
    "key": {
        "status": "final",
        "clues": [
            {"sentence": "S002", "weight": 3},
            {"sentence": "S004", "weight": 4},
            {"sentence": "S006", "weight": 2},
            {"sentence": "S007", "weight": 1},
        ],
        "participants": [
            {"role": "R01", "points": 5},
            {"role": "R02", "points": -8},
            {"role": "R03", "points": -2},
        ],
        "distractors": [{"role": "R02", "incriminating": ["S003"], "exonerating": ["S006"]}],
        "pairs": [{"suspicion": "S005", "exoneration": "S007", "target": "R03"}],
        "annotations": [{"sentence": "S003", "role": "suspicion", "target": "R02", "force": "strong"}],
        "chain": {
            "facts": [
                {"id": "F1", "text": "It was locked with the north key.", "needs": ["S002"]},
                {"id": "F2", "text": "Ada alone could.", "needs": ["F1", "S004"]},
                {"id": "F3", "text": "Ben was across the water.", "needs": ["S006"]},
                {"id": "F4", "text": "Cyn could not have run.", "needs": ["S007"]},
            ],
            "conclusions": [
                {"role": "R01", "verdict": "participant", "facts": ["F2"]},
                {"role": "R02", "verdict": "excluded", "facts": ["F3"]},
                {"role": "R03", "verdict": "excluded", "facts": ["F4"]},
            ],
        },
    },
}


def write_episode(folder: Path, data: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "episode.yaml").write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
    return folder


@pytest.fixture
def data() -> dict[str, Any]:
    """A small episode, to be changed."""
    return copy.deepcopy(EPISODE)


@pytest.fixture
def write() -> Callable[[Path, dict[str, Any]], Path]:
    """What writes an episode into a folder."""
    return write_episode


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_episode(tmp_path / "T01", EPISODE)


@pytest.fixture
def sheet(folder: Path) -> Sheet:
    return load_sheet(folder)
