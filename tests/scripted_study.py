"""A study whose models are scripts: what they say is worked out from what they are asked, so that two runs are alike.

Nothing here was said by a model, and every line of such a store says `scripted`.
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from ludic_deepeval.llm.client import Completion, Model, Producer, Request
from ludic_deepeval.llm.retry import Retry
from ludic_deepeval.studies.design import read_design
from ludic_deepeval.studies.frozen import freeze
from ludic_deepeval.studies.plan import StudyPlan, plan_study
from ludic_deepeval.studies.store import Store
from tests.scripted import emitted_in, known_in, outline
from tests.scripted_turns import READY, WEAK, notary_of, prose_of

ROOT = Path(__file__).parents[1]
TWO_BY_TWO = """\
version = 1
id = "scripted"
bible = "faerun@v1"
seeds = "1-{seeds}"

[roles]
notary = "ollama:notary"
tester = "ollama:tester"
judge = "ollama:judge"

[factors.gate.ungated]
gated = false
[factors.gate.gated]
gated = true
[factors.generator.small]
architect = "ollama:small"
[factors.generator.large]
architect = "ollama:large"

[gate]
factor = "gate"
[ladder]
factor = "generator"
levels = ["small", "large"]
"""


def draw(*parts: object) -> float:
    """A number in [0, 1) that these parts decide."""
    text = "/".join(map(str, parts))
    return int(sha256(text.encode()).hexdigest()[:12], 16) / 16**12


class Script(Model):
    """Plays whatever role it is asked for."""

    provider = "scripted"

    def __init__(self, name: str) -> None:
        super().__init__(name, retry=Retry(attempts=1))

    @property
    def producer(self) -> Producer:
        return Producer("scripted", "scripted", self.name)

    async def answer(self, request: Request) -> Completion:
        role = self.name.rpartition(":")[2]
        said = {"notary": notary, "tester": tester, "judge": judge}.get(role, architect)(self.name, request)
        text = said if isinstance(said, str) else json.dumps(said)
        return Completion(
            text=text,
            model=self.name,
            prompt_tokens=100,
            completion_tokens=50,
            kind="scripted",
            seconds=0.001,
        )


def opened(name: str) -> Model:
    """Open a script under a model's name."""
    return Script(name)


def architect(name: str, request: Request) -> str:
    """The large one's rewrite passes the gate, and now and then its first draft; the small one's seldom does."""
    rewrite = "BEGIN DRAFT" in request.prompt
    chance = {"large": 0.3, "small": 0.1}[name.rpartition(":")[2]] + (0.6 if rewrite else 0)
    ready = draw(name, request.seed, request.prompt[-400:]) < chance
    return prose_of(READY if ready else WEAK) + f"\n\nThis is the telling number {request.seed}."


def notary(_: str, request: Request) -> str:
    return notary_of(READY if "Sela Vant" in request.prompt.rpartition("<prose>")[2] else WEAK)


def tester(_: str, request: Request) -> dict[str, Any]:
    people = ["Odo Marsh", *(["Sela Vant", "Wat"] if "Sela Vant" in request.prompt else [])]
    seen = draw(request.prompt)
    new = [f"Stranger {int(seen * 97 + at) % 7}" for at in range(1 + int(seen * 4))]
    return outline(*people, *dict.fromkeys(new), hooks=("the ledger is wanted", f"a debt of {int(seen * 5)}"))


def judge(_: str, request: Request) -> dict[str, Any]:
    known = {one["name"]: one["id"] for one in known_in(request) if "name" in one}
    ids = {one["id"] for one in known_in(request)}
    labels = []
    for line in emitted_in(request):
        text = line.get("person") or line["thread"]
        item = known.get(text) or (
            "hooks:ledger" if text == "the ledger is wanted" and "hooks:ledger" in ids else None
        )
        labels.append({"number": line["number"], "label": "reused" if item else "invented", "item": item})
    return {"labels": labels}


def planned(text: str) -> StudyPlan:
    return plan_study(read_design(text, "study.toml"), ROOT, "study.toml")


def begun(path: Path, text: str) -> tuple[Store, StudyPlan]:
    """A store of a study that nobody has run yet."""
    plan, store = planned(text), Store(path)
    store.begin(freeze(plan, text, created="2026-01-01T00:00:00+00:00"))
    return store, plan
