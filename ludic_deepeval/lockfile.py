"""The lockfile beside a story: the recorded ledger, bound to the prose by its hash and quotes.

`NAME.ledger.json` lies beside `NAME.md`. Unchanged prose is never read twice. When the prose has changed, `relock`
moves each quote to where its words now stand, by aligning the old words with the new; it needs no model, and what it
cannot place with certainty is listed as unread.
"""

from base64 import b64encode
from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints

from ludic_deepeval.errors import InputError, StaleError, shown
from ludic_deepeval.files import dump_json, read_bytes, write_atomic
from ludic_deepeval.ledger import (
    Extracted,
    FactLedger,
    Flag,
    Frozen,
    Npc,
    Offset,
    SchemaVersion,
    Text,
    load_model,
)
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.text import (
    MAX_QUOTE_WORDS,
    MIN_QUOTE_WORDS,
    Prose,
    folded,
    holds_name,
    paragraphs,
    word_count,
    words,
)

ListName: TypeAlias = Literal["npcs", "events", "hooks", "goals", "mysteries"]
WORD_CODE: Final = 4  # base64 characters a word: 24 bits
MAX_UNGROUNDED_SHARE: Final = (1, 5)

Sha256: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


def _finite(value: dict[str, Any]) -> dict[str, Any]:
    """Refuse NaN and infinity, which JSON cannot say."""
    rest: list[Any] = [value]
    while rest:
        part = rest.pop()
        if isinstance(part, float) and not isfinite(part):
            raise ValueError(f"found {part}; allowed: finite numbers")
        rest += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return value


Plain: TypeAlias = Annotated[dict[str, Any], AfterValidator(_finite)]


class Prompt(Frozen):
    """Which prompt a model was given."""

    version: Text
    sha256: Sha256


class Notary(Frozen):
    """Who read the prose: a person by a mark sheet, or a model.

    `prompt` is what a model was asked with, `again` what it is asked with once more where quotes were not found.
    """

    kind: Literal["hand", "model"]
    model: Text | None = None
    prompt: Prompt | None = None
    again: Prompt | None = None
    options: Plain = Field(default_factory=dict)
    repetition: Offset = 0


class Ungrounded(Frozen):
    """An item that rests on no quote of the prose: kept apart with its reason, never scored.

    `lost` says that it did rest on one until an edit took the words away, which is not the Notary's failing.
    """

    list: ListName
    item: Plain
    reason: Text
    lost: Flag = False


class Unread(Frozen):
    """A paragraph that nobody has read since it was written: its number from 0, and half-open offsets of the body."""

    paragraph: Offset
    start: Offset
    end: Offset


class Fingerprint(Frozen):
    """The words that were read, as short hashes, so that an edit can be aligned with them without keeping the prose.

    Attributes:
        words: Four base64 characters a word.
        paragraphs: The index of each paragraph's first word.
        at: For each quote ("start-end"), the index of its first word and how many words it has.
    """

    words: str
    paragraphs: tuple[Offset, ...]
    at: dict[str, tuple[Offset, Offset]]


class Lockfile(Frozen):
    """A recorded ledger and what it was made from."""

    schema_version: SchemaVersion
    source_sha256: Sha256
    notary: Notary
    ledger: FactLedger
    ungrounded: tuple[Ungrounded, ...] = ()
    unread: tuple[Unread, ...] = ()
    fingerprint: Fingerprint | None = None

    @property
    def too_little_grounded(self) -> Unscored | None:
        """Why a model's reading cannot be scored: it found nothing, or over a fifth of it is not in the prose."""
        if self.notary.kind != "model":
            return None
        good, bad = sum(1 for _ in self.ledger.items()), sum(not item.lost for item in self.ungrounded)
        if not good:
            return Unscored(
                "extraction",
                f"the Notary found nothing in the prose ({bad} {'item rests' if bad == 1 else 'items rest'} on no quote)",
            )
        most, of = MAX_UNGROUNDED_SHARE
        if bad * of > (good + bad) * most:
            return Unscored(
                "extraction",
                f"{bad} of the {good + bad} items that the Notary found rest on no quote of the prose",
            )
        return None


def sheet_digest(text: str) -> str:
    """The hash of a mark sheet, the same whatever its line ends."""
    return sha256("\n".join(text.splitlines()).encode("utf-8")).hexdigest()


# Reading and writing


def load_lockfile(path: Path) -> Lockfile:
    """Read a lockfile; raise `InputError` when it is none. Says nothing about the prose: see `verify`."""
    return load_model(Lockfile, read_bytes(path), path)


def verify(lock: Lockfile, prose: Prose, path: Path) -> None:
    """Check that a lockfile belongs to this prose and that every item rests on words of it.

    Raises:
        StaleError: The prose has changed since.
        InputError: An item without evidence, or a quote that does not stand where the lockfile says.
    """
    if lock.source_sha256 != prose.sha256:
        raise StaleError(
            path, "the prose has changed since it was read", hint=f"run: ludic relock {prose.file}"
        )
    body = prose.body
    for name, index, item in lock.ledger.items():
        if problem := evidence_problem(item, body):
            raise InputError(
                path,
                problem,
                where=f"ledger.{name}[{index}].evidence",
                allowed="exact words of the prose at their offsets",
            )
    if lock.notary.kind == "model" and lock.ledger.background_log:
        raise InputError(
            path,
            "a background log in a model's reading",
            where="ledger.background_log",
            allowed="a log in the story's front matter",
        )


def evidence_problem(item: Extracted, body: str) -> str | None:
    """Say what is wrong with an item's quotes, or None."""
    if not item.evidence:
        return "no quote"
    for evidence in item.evidence:
        if not evidence.start < evidence.end <= len(body):
            return (
                f"offsets {evidence.start} to {evidence.end} are outside the prose of {len(body)} characters"
            )
        there = body[evidence.start : evidence.end]
        if there != evidence.quote and folded(there) != folded(evidence.quote):
            return f"the quote {shown(evidence.quote)} is not at {evidence.start}; {shown(there)} is"
        if problem := quote_problem(evidence.quote):
            return problem
    if isinstance(item, Npc):
        return name_problem(item)
    return None


def quote_problem(quote: str) -> str | None:
    """Say why words cannot serve as evidence: too few to be found for certain, or too many to show."""
    count = word_count(quote)
    if count < MIN_QUOTE_WORDS:
        return f"the quote {shown(quote)} has fewer than {MIN_QUOTE_WORDS} words (Chinese: {MIN_QUOTE_WORDS * 2} characters)"
    if count > MAX_QUOTE_WORDS:
        return f"the quote {shown(quote)} has more than {MAX_QUOTE_WORDS} words (Chinese: {MAX_QUOTE_WORDS * 2} characters)"
    return None


def name_problem(npc: Npc) -> str | None:
    """Say which quote of a person holds none of the person's names."""
    for evidence in npc.evidence:
        if not any(holds_name(evidence.quote, name) for name in npc.names):
            return f"the quote {shown(evidence.quote)} does not hold the name {shown(npc.name)} or an alias"
    return None


def make_lockfile(
    prose: Prose, ledger: FactLedger, notary: Notary, ungrounded: Iterable[Ungrounded] = ()
) -> Lockfile:
    """Bind a grounded ledger to its prose."""
    return Lockfile(
        schema_version=1,
        source_sha256=prose.sha256,
        notary=notary,
        ledger=ledger,
        ungrounded=tuple(ungrounded),
        fingerprint=take_fingerprint(prose, ledger),
    )


def write_lockfile(lock: Lockfile, path: Path) -> None:
    """Write a lockfile, the same to the byte for the same reading, whole or not at all."""
    data = lock.model_dump(mode="json", exclude_defaults=True)
    write_atomic(path, dump_json(data))


def take_fingerprint(prose: Prose, ledger: FactLedger) -> Fingerprint:
    """Record the words of a body, its paragraphs, and which words each quote has."""
    found = words(prose.body)
    starts = [match.start() for match in found]
    at: dict[str, tuple[int, int]] = {}
    for _, _, item in ledger.items():
        for evidence in item.evidence:
            first, after = bisect_left(starts, evidence.start), bisect_left(starts, evidence.end)
            if first < after:
                at[f"{evidence.start}-{evidence.end}"] = (first, after - first)
    return Fingerprint(
        words="".join(word_code(match.group()) for match in found),
        paragraphs=tuple(first for first, _ in paragraph_words(prose)),
        at=at,
    )


@lru_cache(maxsize=65536)
def word_code(word: str) -> str:
    """The short hash of one word: 24 bits, so that two words of a story seldom share one."""
    return b64encode(sha256(folded(word).encode("utf-8")).digest()[:3]).decode("ascii")


def paragraph_words(prose: Prose) -> list[tuple[int, int]]:
    """The half-open word indexes of each paragraph."""
    starts = [match.start() for match in words(prose.body)]
    spans = []
    at = 0
    for _, end in paragraphs(prose.body):
        first = at
        while at < len(starts) and starts[at] < end:
            at += 1
        spans.append((first, at))
    return spans
