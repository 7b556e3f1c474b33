"""The Notary (LudicMetrics §4.1): a model reads prose and writes down what it says; code checks every word of it.

One call reads a story that fits; a longer one is cut at paragraph ends and its parts are joined. Items whose quote was
not found are asked for once more. The model never writes the background log, and never a number that is not tied to words
of the prose.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ludic_deepeval.errors import ModelError, clean
from ludic_deepeval.grounding import Grounded, ground, merge
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.llm.budget import Meter
from ludic_deepeval.llm.client import ChatModel, Request
from ludic_deepeval.lockfile import Lockfile, Notary, Prompt, make_lockfile
from ludic_deepeval.prompts import load_prompt
from ludic_deepeval.schema import notary_schema
from ludic_deepeval.sources import Story
from ludic_deepeval.text import Prose, paragraphs

PART: Final = 24_000  # characters of prose to a call: about 6,000 tokens, and as many of an answer
ANSWER: Final = 12_000  # tokens
_MOST_AGAIN: Final = 40
_AGAIN_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "number": {"type": "integer"},
                    "quotes": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["number", "quotes"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["items"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Settings:
    """How the Notary is asked.

    Attributes:
        temperature: None takes the server's own.
        seed: None takes none.
        part: The most characters of prose in one call.
        ask_again: Whether items whose quote failed are asked for once more.
        max_tokens: The longest answer.
    """

    temperature: float | None = 0.0
    seed: int | None = 0
    part: int = PART
    ask_again: bool = True
    max_tokens: int = ANSWER

    @property
    def recorded(self) -> dict[str, Any]:
        """What a lockfile keeps of them."""
        return {"temperature": self.temperature, "seed": self.seed, "part": self.part}


@dataclass(frozen=True)
class Extraction:
    """One reading of one story.

    Attributes:
        lock: The lockfile to write.
        repairs: What had to be changed for the items to fit together.
        asked_again: How many items were asked for a second time.
    """

    lock: Lockfile
    repairs: tuple[str, ...] = ()
    asked_again: int = 0


async def extract(
    prose: Prose,
    model: ChatModel,
    settings: Settings | None = None,
    *,
    meter: Meter | None = None,
    repetition: int = 1,
    known: Lockfile | None = None,
) -> Extraction:
    """Read a story.

    Args:
        prose: The story.
        model: Who reads.
        settings: How it is asked.
        meter: What may be spent.
        repetition: Which of several readings this is; each is recorded apart.
        known: An earlier lockfile, moved to this prose: only its unread paragraphs are read, and what they say is added.

    Raises:
        ModelError: The model gave no usable answer, or the budget is spent.
    """
    reader = _Reader(prose, model, settings or Settings(), meter, repetition)
    found: Grounded | None = None
    if known is not None:
        found = Grounded(known.ledger, known.ungrounded)
        spans: Iterable[tuple[int, int]] = [(part.start, part.end) for part in known.unread]
    else:
        spans = parts(prose.body, reader.settings.part)
    for span in spans:
        read, settled = await reader.read(span, found.ledger if found else None)
        found = read if found is None else _closed(merge([found, read]), settled)
    if found is None:
        raise ModelError("empty", model.name, "there is no prose to read")
    prompt = load_prompt("notary")
    notary = Notary(
        kind="model",
        model=model.name,
        prompt=Prompt(version=str(prompt.version), sha256=prompt.sha256),
        options=reader.settings.recorded,
        repetition=repetition,
    )
    lock = make_lockfile(prose, found.ledger, notary, found.ungrounded)
    return Extraction(lock, found.repairs, reader.asked_again)


def requests_for(prose: Prose, settings: Settings, repetition: int = 1) -> list[Request]:
    """What reading a story would ask for at least, for a preview of the cost."""
    return [_request(prose, span, None, settings, repetition) for span in parts(prose.body, settings.part)]


def parts(body: str, most: int) -> list[tuple[int, int]]:
    """Cut a body at paragraph ends into parts of at most `most` characters; a longer paragraph is a part of its own."""
    spans: list[tuple[int, int]] = []
    for start, end in paragraphs(body):
        if spans and end - spans[-1][0] <= most:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


@dataclass
class _Reader:
    """Asks for one story; counts what it asked for again."""

    prose: Prose
    model: ChatModel
    settings: Settings
    meter: Meter | None
    repetition: int
    asked_again: int = field(default=0, init=False)

    async def read(self, span: tuple[int, int], known: FactLedger | None) -> tuple[Grounded, frozenset[str]]:
        """Read one part, and say which hooks of the earlier parts it settles."""
        request = _request(self.prose, span, known, self.settings, self.repetition)
        said = await self._json(request)
        found = ground(said, self.prose, span)
        if found.unquoted and self.settings.ask_again:
            again = await self._quotes(said, found, span)
            if again:
                for (name, index), quotes in again.items():
                    said[name][index] = said[name][index] | {"evidence": [{"quote": one} for one in quotes]}
                found = ground(said, self.prose, span)
        settled = said.get("settled")
        ids = [one.get("id") for one in settled if isinstance(one, dict)] if isinstance(settled, list) else []
        return found, frozenset(one for one in ids if isinstance(one, str))

    async def _json(self, request: Request) -> dict[str, Any]:
        completion = await self.model.ask(request, self.meter)
        said = completion.json()
        if not isinstance(said, dict):
            raise ModelError("malformed", self.model.name, "the answer is JSON, but no ledger")
        return said

    async def _quotes(
        self, said: dict[str, Any], found: Grounded, span: tuple[int, int]
    ) -> dict[tuple[str, int], list[str]]:
        """Ask once more for the quotes of items that had none."""
        wanted = found.unquoted[:_MOST_AGAIN]
        self.asked_again += len(wanted)
        lines = []
        for number, one in enumerate(wanted, 1):
            item = said[one.list][one.index]
            words = item.get("name") or item.get("text") or item.get("summary") or item.get("id")
            lines.append(f"{number}. {one.list.rstrip('s')}: {clean(str(words), limit=300)} ({one.reason})")
        prompt = load_prompt("notary-again").render(
            items="\n".join(lines), prose=self.prose.body[span[0] : span[1]]
        )
        request = Request(
            prompt=prompt,
            schema=_AGAIN_SCHEMA,
            temperature=self.settings.temperature,
            seed=self.settings.seed,
            max_tokens=min(self.settings.max_tokens, 200 * len(wanted) + 200),
            repetition=self.repetition,
        )
        try:
            answer = await self._json(request)
        except ModelError as error:
            if error.kind == "budget":
                raise
            return {}  # what was read stands; the items stay set apart
        given: dict[tuple[str, int], list[str]] = {}
        for one in answer.get("items", ()) if isinstance(answer.get("items"), list) else ():
            if isinstance(one, dict) and type(one.get("number")) is int and 1 <= one["number"] <= len(wanted):
                quotes = [quote for quote in one.get("quotes") or () if isinstance(quote, str)]
                if quotes:
                    item = wanted[one["number"] - 1]
                    given[item.list, item.index] = quotes
        return given


def _request(
    prose: Prose, span: tuple[int, int], known: FactLedger | None, settings: Settings, repetition: int
) -> Request:
    schema = notary_schema()
    if known is not None:
        schema["properties"]["settled"] = _SETTLED
    prompt = load_prompt("notary")
    text = prompt.render(
        protagonist_hint=f"The protagonist is {known.protagonist}.\n" if known else "",
        known_so_far=_known_so_far(known) if known else "",
        prose=prose.body[span[0] : span[1]],
    )
    return Request(
        prompt=text,
        system=prompt.system,
        schema=schema,
        temperature=settings.temperature,
        seed=settings.seed,
        max_tokens=settings.max_tokens,
        repetition=repetition,
    )


_SETTLED: Final[dict[str, Any]] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
        "additionalProperties": False,
    },
}


def _known_so_far(ledger: FactLedger) -> str:
    """What a later part of a story needs to know of the earlier ones."""
    people = "; ".join(f"{npc.id}: {', '.join(npc.names)} ({npc.status})" for npc in ledger.npcs[:60])
    hooks = "; ".join(f"{hook.id}: {hook.text}" for hook in ledger.hooks[:60] if hook.open)
    return (
        "This is a later part of the story. Known so far; use these ids for the same people, and do not repeat items."
        f"\nPeople: {clean(people, limit=6000) or 'none'}"
        f"\nOpen hooks: {clean(hooks, limit=6000) or 'none'}"
        "\nIn `settled`, list the ids of those open hooks that this part of the story settles.\n"
    )


def _closed(found: Grounded, settled: frozenset[str]) -> Grounded:
    """Close the hooks of earlier parts that a later one settles."""
    if not settled:
        return found
    hooks = tuple(
        hook.model_copy(update={"open": False}) if hook.id in settled else hook for hook in found.ledger.hooks
    )
    return replace(found, ledger=found.ledger.model_copy(update={"hooks": hooks}))


async def extract_all(
    stories: Iterable[Story],
    read: Callable[[Story], Awaitable[Extraction]],
    *,
    concurrency: int,
    on_done: Callable[[Story, Extraction | ModelError], None],
) -> None:
    """Read many stories, so many at a time; what is done is handed over at once, so that an interruption keeps it.

    A failure of one story stops no other, but a spent budget or a server that is not there ends the run.
    """
    gate = asyncio.Semaphore(concurrency)
    ended: list[ModelError] = []

    async def one(story: Story) -> None:
        async with gate:
            if ended:
                on_done(story, ended[0])
                return
            try:
                found: Extraction | ModelError = await read(story)
            except ModelError as error:
                found = error
                if error.kind in {"budget", "unreachable", "unknown-model"}:
                    ended.append(error)
            on_done(story, found)

    await asyncio.gather(*(one(story) for story in stories))
