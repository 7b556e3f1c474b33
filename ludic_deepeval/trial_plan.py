"""A trial before anybody is asked: what is drawn, what is set, what the Architect is told, and what it would cost."""

from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from typing import Any, Final

from ludic_deepeval.bible import Bible, Node
from ludic_deepeval.errors import InputError
from ludic_deepeval.files import dump_json
from ludic_deepeval.genre_prompts import prompt_for
from ludic_deepeval.llm.budget import Preview, preview
from ludic_deepeval.llm.client import Request
from ludic_deepeval.notary import Settings, requests_for
from ludic_deepeval.policy import Policy
from ludic_deepeval.prompts import Prompt
from ludic_deepeval.settings import NUMBERS
from ludic_deepeval.text import Prose
from ludic_deepeval.trial import Arm, Plan, PromptUsed, World

MAX_ITER: Final = 3
MAX_TOKENS: Final = 4096
TEMPERATURE: Final = 0.8
MOST_REQUEST: Final = 2000  # characters
_FIRST_DRAFT: Final = 700  # words that the prompts ask for at most


@dataclass(frozen=True)
class Setting:
    """What a trial is played in and judged by, and how the models are asked.

    Attributes:
        bible: The Story Bible.
        policy: Weights and thresholds.
        notary: How the Notary is asked.
        temperature: How the Architect writes; None takes the server's own.
        max_tokens: The longest draft, thinking included.
    """

    bible: Bible
    policy: Policy
    notary: Settings = field(default_factory=Settings)
    temperature: float | None = TEMPERATURE
    max_tokens: int = MAX_TOKENS

    @property
    def reading(self) -> Settings:
        """How the Notary is asked under this policy's profile."""
        return replace(self.notary, policy=self.policy)


def draw(bible: Bible, seed: int) -> tuple[Node, Node]:
    """Draw a faction and a place: the same for a seed on every machine, whatever the order in the bible's file.

    Of the nodes sorted by id, the one whose number is SHA-256 of "<bible id>/<seed>/factions" (or "/locations"), as a
    whole number, modulo how many there are.

    Raises:
        InputError: A bible without factions or without places.
    """
    return _drawn(bible, seed, "factions"), _drawn(bible, seed, "locations")


def _drawn(bible: Bible, seed: int, kind: str) -> Node:
    nodes: list[Node] = sorted(
        (node for node in getattr(bible, kind) if node.retired is None), key=lambda node: node.id
    )
    if not nodes:
        raise InputError(
            f"bible {bible.id}", f"it has no {kind}", allowed="a bible with factions and locations"
        )
    number = int(sha256(f"{bible.id}/{seed}/{kind}".encode()).hexdigest(), 16)
    return nodes[number % len(nodes)]


def _said(bible: Bible) -> dict[str, Any]:
    """What a bible says; without entries as it was before there were any, so that older trials still know it."""
    return bible.model_dump(mode="json", exclude=None if bible.entries else {"entries"})


def make_plan(  # noqa: PLR0913  # all that a trial is set to
    setting: Setting,
    *,
    seed: int,
    architect: str,
    notary: str,
    arm: Arm = "architect",
    gated: bool = True,
    max_iter: int = MAX_ITER,
    request: str = "",
    world: World = "whole",
) -> Plan:
    """Set a trial; `architect` and `notary` are the names of the models.

    Raises:
        InputError: A bible to draw nothing from, or a request that is too long.
    """
    if len(request) > MOST_REQUEST:
        raise InputError("--request", f"{len(request):,} characters", allowed=f"at most {MOST_REQUEST:,}")
    faction, location = draw(setting.bible, seed)
    roles = [arm, *(["instability"] if gated else []), "notary", "notary-again"]
    values = {one.name: getattr(setting.policy, one.name) for one in fields(setting.policy)}
    return Plan(
        bible=f"{setting.bible.id}@{setting.bible.version}",
        bible_sha256=sha256(dump_json(_said(setting.bible)).encode()).hexdigest(),
        seed=seed,
        arm=arm,
        gated=gated,
        max_iter=max_iter if gated else 0,
        faction=faction.id,
        location=location.id,
        request=request,
        world=world,
        architect=architect,
        temperature=setting.temperature,
        max_tokens=setting.max_tokens,
        notary=notary,
        notary_options=setting.notary.recorded,
        prompts=tuple(PromptUsed.of(prompt_for(role, setting.policy)) for role in roles),
        policy={
            name: " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            for name, value in values.items()
            if name in NUMBERS or name == "profile"  # the rest is of findings, not of the gate
        },
    )


def cost_of(plan: Plan, setting: Setting) -> tuple[Preview, Preview]:
    """Say what a trial would cost at least and at most, without asking anybody; the draft's length is guessed."""
    first, _ = draft_request(plan, setting, None)
    guess = Prose(
        "\n\n".join(["seven words that stand for a draft"] * (_FIRST_DRAFT // 7)), front_matter=False
    )
    reading = requests_for(guess, setting.reading)
    rewrite, _ = draft_request(plan, setting, guess.body) if plan.gated else (first, None)
    least = [first, *reading]
    return preview(least), preview([*least, *([rewrite, *reading] * (plan.passes - 1))])


def shown_world(plan: Plan, bible: Bible) -> str:
    """What the Architect of a trial is shown of the setting: all of it, the drawn nodes and the laws, or its name."""
    if plan.world == "none":
        return bible.name
    if plan.world == "whole":
        return world_text(bible)
    drawn = {plan.faction, plan.location}
    return world_text(
        bible.model_copy(
            update={
                "factions": tuple(one for one in bible.factions if one.id in drawn),
                "locations": tuple(one for one in bible.locations if one.id in drawn),
                "deities": (),
                "history": (),
            }
        )
    )


def world_text(bible: Bible) -> str:
    """The setting as a model is told of it: every node of the bible."""
    titles = {
        "factions": "Factions",
        "locations": "Places",
        "deities": "Gods",
        "people": "People",
        "history": "History",
        "rules": "Laws",
        "entries": "Further lore",
    }
    lines = [bible.name]
    last = ""
    for kind, _, node in bible.nodes():
        if kind != last:
            lines.append(f"{titles[kind]}:")
            last = kind
        also = f" (also {', '.join(node.aliases)})" if node.aliases and kind != "rules" else ""
        text = f"no more since {node.retired.version}: {node.retired.text}" if node.retired else node.text
        lines.append(f"- {node.name}{also}: {text}")
    return "\n".join(lines)


def draft_request(
    plan: Plan, setting: Setting, draft: str | None, *, world: str | None = None
) -> tuple[Request, Prompt]:
    """What the Architect is asked, and by which prompt: a first draft, or with one a rewrite of the whole.

    Args:
        plan: What was set.
        setting: Its bible and how the models are asked.
        draft: What is to be rewritten.
        world: What is told of the setting; None tells what the plan says.
    """
    bible = setting.bible
    names = {
        "world": shown_world(plan, bible) if world is None else world,
        "faction": node_of(bible, plan.faction).name,
        "location": node_of(bible, plan.location).name,
    }
    if draft is None:
        prompt = prompt_for(plan.arm, setting.policy)
        text = prompt.render(**names, request=plan.request)
    else:
        prompt = prompt_for("instability", setting.policy)
        text = prompt.render(**names, draft=draft)
    request = Request(
        prompt=text,
        system=prompt.system,
        temperature=plan.temperature,
        seed=plan.seed,
        max_tokens=plan.max_tokens,
    )
    return request, prompt


def node_of(bible: Bible, name: str) -> Node:
    """Return the node that an id means; raise `InputError` when there is none."""
    found = bible.find(name)
    if found is None:
        raise InputError(f"bible {bible.id}", f"nothing in it is called '{name}'")
    return found[1]
