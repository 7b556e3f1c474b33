"""What a model of yours makes of stories that people have marked: `LUDIC_LIVE_MODEL=ollama:qwen3:14b pytest -m live tests/live/test_capable.py`.

Written before any model was asked. It measures and does not judge: a test fails when the model cannot be asked at all, is
shown as an expected failure when it gave no usable answer, and passes when there is something to report, good or bad.
`capable.json` in the folder of results says what was found.
"""

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from ludic_deepeval.errors import ModelError
from ludic_deepeval.llm.budget import Meter
from ludic_deepeval.llm.client import Model
from ludic_deepeval.llm.loop import run
from ludic_deepeval.llm.names import open_model
from ludic_deepeval.notary import Extraction, Settings, extract
from ludic_deepeval.prompts import load_prompt
from ludic_deepeval.sources import Story
from tests.live.capability import gold_stories, measured, pooled, repeated, second_readings
from tests.live.conftest import ROOT, write_result

MODEL: Final = os.environ.get("LUDIC_LIVE_MODEL", "")
STORIES: Final = Path(os.environ.get("LUDIC_LIVE_STORIES") or ROOT / "test_cases" / "backstories")
READINGS: Final = 3
REPEATED: Final = 3  # stories, the shortest ones
SETTINGS: Final = Settings()
_WRONG_CALL: Final = {"unreachable", "unknown-model", "denied", "budget", "unrecorded"}

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not MODEL, reason="no model of your own: set LUDIC_LIVE_MODEL to provider:model"),
]
GOLD: Final = gold_stories(STORIES) if MODEL else []


@dataclass
class Findings:
    """What was found so far, and the model that is asked."""

    model: Model
    meter: Meter = field(default_factory=Meter)
    rows: list[dict[str, Any]] = field(default_factory=list)
    repeats: list[dict[str, Any]] = field(default_factory=list)
    first: dict[str, Extraction | ModelError] = field(default_factory=dict)

    def read(self, story: Story, repetition: int) -> Extraction | ModelError:
        """Have the model read a story; the first reading is kept for the repetitions."""
        if repetition == 1 and story.id in self.first:
            return self.first[story.id]
        outcome: Extraction | ModelError
        try:
            outcome = run(extract(story.prose, self.model, SETTINGS, meter=self.meter, repetition=repetition))
        except ModelError as error:
            if error.kind in _WRONG_CALL:
                pytest.exit(str(error), returncode=2)
            outcome = error
        if repetition == 1:
            self.first[story.id] = outcome
        return outcome


@pytest.fixture(scope="module")
def findings() -> Iterator[Findings]:
    """Write what was found at the end, also when the run is interrupted."""
    with open_model(MODEL) as model:
        found = Findings(model)
        yield found
    prompt = load_prompt("notary")
    write_result(
        "capable.json",
        {
            "what": "a model's readings beside marks that people made; figures, and no verdict",
            "model": {"name": model.name, **asdict(model.producer)},
            "prompt": {"role": "notary", "version": prompt.version, "sha256": prompt.sha256},
            "options": SETTINGS.recorded | {"max_tokens": SETTINGS.max_tokens},
            "spent": asdict(found.meter.spent),
            "all_stories": pooled(found.rows),
            "stories": found.rows,
            "repeated": found.repeats,
            "second_readings_by_hand": pooled(second_readings(GOLD)),
        },
    )


@pytest.mark.parametrize("story", GOLD, ids=lambda story: story.id)
def test_a_reading_beside_the_marks(story: Story, findings: Findings) -> None:
    before = findings.meter.spent
    row = measured(story, findings.read(story, 1))
    spent = findings.meter.spent.since(before)
    findings.rows.append(
        row | {"calls": spent.calls, "tokens": [spent.prompt_tokens, spent.completion_tokens]}
    )
    if "failed" in row:
        pytest.xfail(row["reason"])


@pytest.mark.parametrize("story", GOLD[:REPEATED], ids=lambda story: story.id)
def test_readings_of_one_story_beside_each_other(story: Story, findings: Findings) -> None:
    row = repeated(story, {number: findings.read(story, number) for number in range(1, READINGS + 1)})
    findings.repeats.append(row)
    if row["failed"] == READINGS:
        pytest.xfail("no reading gave a usable answer")
