"""A judge that does what a rubric's steps say, to the letter: a script, and no model.

`python -m tests.letter_judge` records its answers for test_cases/test_rubrics.py, as what they are: scripted.
"""

import json
import os
import re
from pathlib import Path

from ludic_deepeval.check import Checker
from ludic_deepeval.crosscheck import asks_for
from ludic_deepeval.llm.client import Request
from ludic_deepeval.llm.loop import run
from ludic_deepeval.llm.recorded import RecordingModel, Recordings
from ludic_deepeval.rubrics import Rubric
from tests.scripted import Scripted

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "test_cases" / "recordings" / "rubrics"
STORIES = ("three-liens", "five-doors", "four-hundred-and-six-gulls")
NAMES = ("rtn", "mv", "ucr")  # TH wants an eye for names


def score(number: object, reason: str = "counted") -> str:
    """An answer as G-Eval wants it."""
    return json.dumps({"reason": reason, "score": number})


def to_the_letter(one: Rubric, text: str) -> int | None:
    """What the steps lead to for the text that a judge is given; None for what it cannot count."""
    people = re.findall(r"^- \S+: .*?: (\w+), \w+.*?(unresolved)?$", _part(text, "people"), re.MULTILINE)
    hooks = re.findall(r"^- \S+: tier (\d), (open|closed)", _part(text, "hooks"), re.MULTILINE)
    tiers = [int(tier) for tier, is_open in hooks if is_open == "open"]
    if one.name == "rtn":
        number = min(sum(bool(open_) and status != "dead" for status, open_ in people), 3)
        reactive = min(sum({1: 1.0, 2: 0.6, 3: 0.2}[tier] for tier in tiers), 5)
        return round(10 * (0.7 * number / 3 + 0.3 * reactive / 5))
    if one.name == "mv":
        return round(10 * min(len(re.findall(r"^- \S+: pursued", text, re.MULTILINE)), 4) / 4)
    if one.name == "ucr":
        return round(10 * tiers.count(1) / len(tiers)) if tiers else 0
    return None


def _part(text: str, head: str) -> str:
    found = re.search(rf"^{head}\n((?:- .*\n?)*)", text, re.MULTILINE)
    return found[1] if found else ""


def record(folder: Path = FOLDER) -> None:
    """Record the answers for a few shipped stories."""
    from ludic_deepeval.rubric_metrics import judge_with  # DeepEval takes a second to import

    for story in STORIES:
        result = Checker().check(ROOT / "test_cases" / "backstories" / f"{story}.md")
        for ask in asks_for(result.outcome.value, "equation", dimensions=False):  # type: ignore[union-attr]  # they are read
            if ask.rubric.name in NAMES:

                def answer(_: Request, ask=ask) -> str:  # type: ignore[no-untyped-def]
                    return score(to_the_letter(ask.rubric, ask.text), "counted to the letter, by a script")

                model = Scripted(answer, name="ollama:to-the-letter")
                run(judge_with(RecordingModel(model, Recordings(folder)))(ask.rubric, ask.text))


if __name__ == "__main__":
    os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
    record()
