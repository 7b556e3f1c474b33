"""Gold ledgers made worse at known rates, so that an instrument that measures readings can be measured itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from ludic_deepeval.errors import InputError
from ludic_deepeval.grounding import LISTS, ground
from ludic_deepeval.ledger import Extracted, FactLedger, Hook, Npc
from ludic_deepeval.lockfile import Lockfile, Notary, make_lockfile
from ludic_deepeval.text import (
    MAX_QUOTE_WORDS,
    MIN_QUOTE_WORDS,
    Prose,
    name_key,
    paragraphs,
    word_count,
    words,
)

_TRIES: Final = 60
_NOISE: Final = "words that stand nowhere in this prose at all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How much of a ledger is made worse, each from 0 to 1.

    Attributes:
        dropped: The chance that an item is left out.
        invented: For each item, the chance that one is added that rests on other words of the prose.
        mistiered: The chance that a hook gets another tier.
        misquoted: The chance that an item's quotes are not in the prose.
    """

    dropped: float = 0.0
    invented: float = 0.0
    mistiered: float = 0.0
    misquoted: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no rate."""
        for name in self.__slots__:
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(name, f"found {getattr(self, name)}", allowed="a number from 0 to 1")


@dataclass(frozen=True, slots=True)
class Corrupted:
    """A reading that was made worse, and what was done to it.

    Attributes:
        lock: The reading, bound to the prose as a model's would be.
        items: How many items the gold ledger has.
        hooks: Of them, hooks.
        dropped: How many were left out.
        invented: How many were added.
        mistiered: How many hooks that were kept got another tier.
        misquoted: How many lost their quotes.
    """

    lock: Lockfile
    items: int
    hooks: int
    dropped: int
    invented: int
    mistiered: int
    misquoted: int


def corrupt(gold: FactLedger, prose: Prose, rates: Rates, seed: int = 0) -> Corrupted:
    """Make a ledger worse, and read the result as a model's answer is read.

    Args:
        gold: The ledger, with evidence.
        prose: What it rests on.
        rates: How much is done.
        seed: The same seed does the same to the same prose, and something else to any other.
    """
    random = Random(f"{seed}:{prose.sha256}")  # noqa: S311  # no secret
    said: dict[str, Any] = {"protagonist": gold.protagonist} | {name: [] for name in LISTS}
    spans = [(one.start, one.end) for _, _, item in gold.items() for one in item.evidence]
    done = dict.fromkeys(Rates.__slots__, 0)
    items = list(gold.items())
    known = {word for npc in gold.npcs for one in npc.names for word in name_key(one).split()}
    for name, _, item in items:
        if random.random() < rates.invented and (made := _invented(item, prose, spans, known, random)):
            done["invented"] += 1
            said[name].append(made)
        if random.random() < rates.dropped:
            done["dropped"] += 1
            continue
        data = _as_said(item)
        if isinstance(item, Hook) and random.random() < rates.mistiered:
            done["mistiered"] += 1
            data["tier"] = random.choice([tier for tier in (1, 2, 3) if tier != item.tier])
        if random.random() < rates.misquoted:
            done["misquoted"] += 1
            data["evidence"] = [{"quote": _NOISE}]
        said[name].append(data)
    found = ground(said, prose)
    lock = make_lockfile(prose, found.ledger, Notary(kind="model", model="corrupted:gold"), found.ungrounded)
    return Corrupted(lock, len(items), len(gold.hooks), **done)


def _as_said(item: Extracted) -> dict[str, Any]:
    data = item.model_dump(mode="json", exclude_defaults=True, exclude={"evidence"})
    return data | {"evidence": [{"quote": one.quote} for one in item.evidence]}


def _invented(
    like: Extracted, prose: Prose, taken: list[tuple[int, int]], known: set[str], random: Random
) -> dict[str, Any] | None:
    """An item of a kind on words that no item rests on; None where there are none."""
    place = _unused(prose, taken, random)
    if place is None:
        return None
    quote = prose.body[slice(*place)]
    data = _as_said(like) | {"id": f"invented-{len(taken)}", "evidence": [{"quote": quote}]}
    data.pop("npc", None)
    data.pop("relations", None)
    if isinstance(like, Npc):
        strange = [one.group() for one in words(quote) if name_key(one.group()) not in {*known, ""}]
        if not strange:
            return None
        name = max(strange, key=len)
        known.add(name_key(name))
        data |= {"name": name, "aliases": []}
    taken.append(place)
    return data


def _unused(prose: Prose, taken: Sequence[tuple[int, int]], random: Random) -> tuple[int, int] | None:
    found = [match.span() for match in words(prose.body)]
    bounds = paragraphs(prose.body)
    for _ in range(_TRIES):
        size = random.randint(4, 10)
        if len(found) <= size:
            return None
        at = random.randrange(len(found) - size)
        start, end = found[at][0], found[at + size - 1][1]
        quote = prose.body[start:end]
        whole = any(a <= start and end <= b for a, b in bounds)
        fits = MIN_QUOTE_WORDS <= word_count(quote) <= MAX_QUOTE_WORDS
        free = all(end <= a or b <= start for a, b in taken)
        if whole and fits and free and prose.find(quote) == [(start, end)]:
            return start, end
    return None
