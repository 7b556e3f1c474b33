"""Write the sessions anew from scripts.yaml: python test_cases/sessions/make.py [FOLDER]. Needed when a prompt or a ledger changes."""

import json
import sys
from pathlib import Path
from typing import Any

import yaml

from ludic_deepeval.llm.client import Completion, Model, Producer, Request
from ludic_deepeval.llm.loop import run
from ludic_deepeval.lockfile import load_lockfile
from ludic_deepeval.session import Session, load_seeds, save_session
from ludic_deepeval.sources import read_story
from ludic_deepeval.stress import stress

HERE = Path(__file__).parent
STORIES = HERE.parent / "backstories"


class Script(Model):
    """Answers what scripts.yaml says, and says that it is a script."""

    def __init__(self, role: str, outlines: list[dict[str, Any]]) -> None:
        super().__init__(f"scripted:{role}")
        self.outlines = {one["seed"]: one for one in outlines}

    @property
    def producer(self) -> Producer:
        return Producer("scripted", "scripted", self.name.partition(":")[2])

    async def answer(self, request: Request) -> Completion:
        said = self.plan(request) if self.name == "scripted:tester" else self.labels(request)
        text = json.dumps(said, ensure_ascii=False)
        return Completion(text=text, model=self.name, prompt_tokens=0, completion_tokens=0, kind="scripted")

    def plan(self, request: Request) -> dict[str, Any]:
        seed = next(one.id for one in load_seeds().seeds if one.text in request.prompt)
        outline = self.outlines[seed]
        return {
            "npcs": [{"name": line[0], "role": line[1]} for line in outline["npcs"]],
            "hooks": [{"text": line[0]} for line in outline["hooks"]],
        }

    def labels(self, request: Request) -> dict[str, Any]:
        """Label the outline whose every line stands in the prompt."""
        lines = next(
            [*one["npcs"], *one["hooks"]]
            for one in self.outlines.values()
            if all(
                json.dumps(line[0], ensure_ascii=False) in request.prompt
                for line in [*one["npcs"], *one["hooks"]]
            )
        )
        told = [
            {"number": number, "label": line[-2], "item": line[-1]}
            for number, line in enumerate(lines, 1)
            if line[-2] != "missing"
        ]
        return {"labels": told}


def make(story: dict[str, Any]) -> Session:
    """Hold a trial of one story with its script."""
    read = read_story(STORIES / f"{story['story']}.md")
    tester, judge = (Script(role, story["outlines"]) for role in ("tester", "judge"))
    ledger = load_lockfile(read.lockfile).ledger
    return run(stress(read.id, read.prose, ledger, tester, judge))


def scripts() -> list[dict[str, Any]]:
    """Return the scripted stories."""
    stories: list[dict[str, Any]] = yaml.safe_load((HERE / "scripts.yaml").read_text(encoding="utf-8"))[
        "stories"
    ]
    return stories


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for one in scripts():
        save_session(make(one), folder / one["story"] / "session.json")
