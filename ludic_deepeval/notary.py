"""The Notary (LudicMetrics §4.1): a model reads prose and writes down what it says; code checks every word of it.

One call reads a story that fits; a longer one is cut at paragraph ends and its parts are joined. Items whose quote was
not found are asked for once more. The model never writes the background log, and never a number that is not tied to words
of the prose.
"""

from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from typing import Any, Final

from ludic_deepeval.errors import ModelError, clean
from ludic_deepeval.genre_prompts import prompt_for
from ludic_deepeval.grounding import ITEM, Grounded, Span, ground
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.llm.budget import Meter
from ludic_deepeval.llm.client import ChatModel, Request
from ludic_deepeval.lockfile import ListName, Lockfile, Notary, Prompt, make_lockfile
from ludic_deepeval.merging import Settled, close_hooks, in_prose_order, merge
from ludic_deepeval.policy import Policy
from ludic_deepeval.schema import notary_schema
from ludic_deepeval.text import Prose, paragraphs

PART: Final = 24_000  # characters of prose to a call: about 6,000 tokens, and as many of an answer
ANSWER: Final = 12_000  # tokens
_MOST_AGAIN: Final = 40
_MOST_SETTLED: Final = 200
_MOST_KNOWN: Final = 60
_ANSWERS: Final = frozenset({"refused", "truncated", "empty", "malformed", "too-long"})
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
        policy: Whose genre asks the questions; None for the campaign's. The prompt's hash says which they were.
    """

    temperature: float | None = 0.0
    seed: int | None = 0
    part: int = PART
    ask_again: bool = True
    max_tokens: int = ANSWER
    policy: Policy | None = None

    @property
    def recorded(self) -> dict[str, Any]:
        """What a lockfile keeps of them."""
        return {
            "temperature": self.temperature,
            "seed": self.seed,
            "part": self.part,
            "ask_again": self.ask_again,
            "max_tokens": self.max_tokens,
        }

    def for_repetition(self, repetition: int) -> "Settings":
        """The same with the next seed for each further repetition: the same seed may give the same answer again."""
        return self if self.seed is None else replace(self, seed=self.seed + repetition - 1)


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
        repetition: Which of several readings this is, from 1; each is recorded apart, and asked with the next seed.
        known: An earlier lockfile of the same notary, moved to this prose: only its unread paragraphs are read, and what
            they say is added. What it lost to the edit is dropped.

    Raises:
        ModelError: The model gave no usable answer, or the budget is spent.
    """
    reader = _Reader(prose, model, settings or Settings(), meter, repetition)
    found: Grounded | None = None
    if known is not None:
        found = Grounded(known.ledger, tuple(one for one in known.ungrounded if not one.lost))
    for shown in _to_read(prose, reader.settings, known):
        read, settled = await reader.read(shown, found.ledger if found else None, anew=known is not None)
        if found is None:
            found = read
            continue
        before = {event.id for event in found.ledger.events}
        found = merge([close_hooks(found, settled, prose), read])
        if known is not None:
            fresh = frozenset(event.id for event in found.ledger.events) - before
            found = replace(found, ledger=in_prose_order(found.ledger, fresh))
    if found is None:
        raise ModelError("empty", model.name, "there is no prose to read")
    notary = notary_for(model.name, reader.settings, repetition)
    lock = make_lockfile(prose, found.ledger, notary, found.ungrounded)
    return Extraction(lock, found.repairs, reader.asked_again)


def notary_for(model: str, settings: Settings, repetition: int = 1) -> Notary:
    """What a lockfile says of who read and how; a reading by an equal one need not be made again."""
    first, again = (
        Prompt(version=str(prompt.version), sha256=prompt.sha256)
        for prompt in (prompt_for(role, settings.policy) for role in ("notary", "notary-again"))
    )
    return Notary(
        kind="model",
        model=model,
        prompt=first,
        again=again if settings.ask_again else None,
        options=settings.for_repetition(repetition).recorded,
        repetition=repetition,
    )


def requests_for(
    prose: Prose, settings: Settings, repetition: int = 1, *, known: Lockfile | None = None
) -> list[Request]:
    """What reading a story asks for at least, for a preview of the cost: a call a part, without second ones for quotes."""
    ledger = known.ledger if known else None
    return [
        _request(
            prose, shown, ledger, settings.for_repetition(repetition), repetition, anew=known is not None
        )
        for shown in _to_read(prose, settings, known)
    ]


def parts(body: str, most: int) -> list[Span]:
    """Cut a body at paragraph ends into parts of at most `most` characters; a longer paragraph is a part of its own."""
    spans: list[Span] = []
    for start, end in paragraphs(body):
        if spans and end - spans[-1][0] <= most:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _to_read(prose: Prose, settings: Settings, known: Lockfile | None) -> list[tuple[Span, ...]]:
    """What each call is shown: a part of the story, or as many unread paragraphs as fit."""
    if known is None:
        return [(span,) for span in parts(prose.body, settings.part)]
    calls: list[tuple[Span, ...]] = []
    for one in known.unread:
        held = sum(end - start for start, end in calls[-1]) if calls else 0
        if calls and held + one.end - one.start <= settings.part:
            calls[-1] += ((one.start, one.end),)
        else:
            calls.append(((one.start, one.end),))
    return calls


def _shown(prose: Prose, spans: tuple[Span, ...]) -> str:
    return "\n\n".join(prose.body[start:end] for start, end in spans)


@dataclass
class _Reader:
    """Asks for one story; counts what it asked for again."""

    prose: Prose
    model: ChatModel
    settings: Settings
    meter: Meter | None
    repetition: int
    asked_again: int = field(default=0, init=False)

    async def read(
        self, shown: tuple[Span, ...], known: FactLedger | None, *, anew: bool
    ) -> tuple[Grounded, tuple[Settled, ...]]:
        """Read one part, and say which hooks of the earlier parts it settles."""
        settings = self.settings.for_repetition(self.repetition)
        said = await self._json(_request(self.prose, shown, known, settings, self.repetition, anew=anew))
        found = ground(said, self.prose, shown, known=known)
        if found.unquoted and self.settings.ask_again:
            again = await self._quotes(said, found, shown)
            if again:
                for (name, index), quotes in again.items():
                    said[name][index] = said[name][index] | {"evidence": [{"quote": one} for one in quotes]}
                found = ground(said, self.prose, shown, known=known)
        settled = said.get("settled")
        return found, tuple(
            Settled(one["id"], one["quote"])
            for one in (settled[:_MOST_SETTLED] if isinstance(settled, list) else ())
            if isinstance(one, dict) and isinstance(one.get("id"), str) and isinstance(one.get("quote"), str)
        )

    async def _json(self, request: Request) -> dict[str, Any]:
        completion = await self.model.ask(request, self.meter)
        said = completion.json(self.model.name)
        if not isinstance(said, dict):
            raise ModelError("malformed", self.model.name, "the answer is JSON, but no ledger")
        return said

    async def _quotes(
        self, said: dict[str, Any], found: Grounded, shown: tuple[Span, ...]
    ) -> dict[tuple[ListName, int], list[str]]:
        """Ask once more for the quotes of items that had none."""
        wanted = found.unquoted[:_MOST_AGAIN]
        self.asked_again += len(wanted)
        lines = []
        for at, one in enumerate(wanted, 1):
            item = said[one.list][one.index]
            words = item.get("name") or item.get("text") or item.get("summary") or item.get("id")
            lines.append(f"{at}. {ITEM[one.list]}: {clean(str(words), limit=300)} ({one.reason})")
        text = _shown(self.prose, shown)
        prompt = prompt_for("notary-again", self.settings.policy).render(
            items="\n".join(lines), mark=fence(text), prose=text
        )
        settings = self.settings.for_repetition(self.repetition)
        request = Request(
            prompt=prompt,
            schema=_AGAIN_SCHEMA,
            temperature=settings.temperature,
            seed=settings.seed,
            max_tokens=min(settings.max_tokens, 200 * len(wanted) + 200),
            repetition=self.repetition,
        )
        try:
            answer = await self._json(request)
        except ModelError as error:
            if error.kind not in _ANSWERS:
                raise  # nobody answered: the story is not read, and can be read later
            return {}  # what was read stands; the items stay set apart
        given: dict[tuple[ListName, int], list[str]] = {}
        items = answer.get("items")
        for one in items if isinstance(items, list) else ():
            if not isinstance(one, dict) or not isinstance(one.get("quotes"), list):
                continue
            number = one.get("number")
            if type(number) is int and 1 <= number <= len(wanted):
                item = wanted[number - 1]
                given[item.list, item.index] = [quote for quote in one["quotes"] if isinstance(quote, str)]
        return {place: quotes for place, quotes in given.items() if quotes}


def fence(text: str) -> str:
    """A mark that says where prose ends: the prose cannot hold it, since it is made from the prose."""
    return sha256(text.encode("utf-8")).hexdigest()[:12]


@cache
def _schema(*, later: bool) -> dict[str, Any]:
    """What a model fills in; of a later part also which hooks it settles. Not to be changed."""
    schema = notary_schema()
    if later:
        schema["properties"]["settled"] = _SETTLED
    return schema


def _request(
    prose: Prose,
    shown: tuple[Span, ...],
    known: FactLedger | None,
    settings: Settings,
    repetition: int,
    *,
    anew: bool,
) -> Request:
    schema = _schema(later=known is not None)
    prompt = prompt_for("notary", settings.policy)
    text = _shown(prose, shown)
    rendered = prompt.render(
        protagonist_hint=f"The protagonist is {clean(known.protagonist, limit=200)}.\n" if known else "",
        known_so_far=_known_so_far(known, anew=anew) if known else "",
        mark=fence(text),
        prose=text,
    )
    return Request(
        prompt=rendered,
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
        "properties": {"id": {"type": "string"}, "quote": {"type": "string"}},
        "required": ["id", "quote"],
        "additionalProperties": False,
    },
}


def _known_so_far(ledger: FactLedger, *, anew: bool) -> str:
    """What a later part of a story, or paragraphs that are new in it, need to know of the rest."""
    people = "; ".join(
        f"{npc.id}: {', '.join(npc.names)} ({npc.status}, {'open' if npc.unresolved else 'settled'})"
        for npc in ledger.npcs[:_MOST_KNOWN]
    )
    hooks = "; ".join(f"{hook.id}: {hook.text}" for hook in ledger.hooks[:_MOST_KNOWN] if hook.open)
    where = (
        "These are new or changed paragraphs of a story that was read before."
        if anew
        else "This is a later part of the story."
    )
    return (
        f"{where} Known so far; use these ids for the same people, and do not repeat items. List one of these people again"
        " only if something changed between them and the protagonist, with `unresolved` as it is with all that is known."
        f"\nPeople: {clean(people, limit=6000) or 'none'}"
        f"\nOpen hooks: {clean(hooks, limit=6000) or 'none'}"
        "\nIn `settled`, list those open hooks that this text settles: the id, and a quote that says so.\n"
    )
