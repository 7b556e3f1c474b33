"""The lockfile beside a story: the recorded ledger, bound to the prose by its hash and quotes.

`NAME.ledger.json` lies beside `NAME.md`. Unchanged prose is never read twice. When the prose has changed, `relock`
moves each quote to where its words now stand, by aligning the old words with the new; it needs no model, and what it
cannot place with certainty is listed as unread.
"""

from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, StringConstraints

from ludic_deepeval.errors import InputError, StaleError, shown
from ludic_deepeval.files import dump_json, read_bytes, write_atomic
from ludic_deepeval.ledger import (
    Event,
    Evidence,
    Extracted,
    FactLedger,
    Frozen,
    Hook,
    Npc,
    Offset,
    SchemaVersion,
    Text,
    load_model,
)
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.text import MAX_QUOTE_WORDS, MIN_QUOTE_WORDS, Prose, folded, paragraphs, word_count, words

ListName: TypeAlias = Literal["npcs", "events", "hooks", "goals", "mysteries"]
_WORD_CODE: Final = 4  # base64 characters a word: 24 bits
_NEW_RUN: Final = 3  # so many new words in a row may say something; fewer is a correction
MAX_UNGROUNDED_SHARE: Final = (1, 5)

Sha256: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Prompt(Frozen):
    """Which prompt a model was given."""

    version: Text
    sha256: Sha256


class Notary(Frozen):
    """Who read the prose: a person by a mark sheet, or a model."""

    kind: Literal["hand", "model"]
    model: Text | None = None
    prompt: Prompt | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    repetition: int = 0


class Ungrounded(Frozen):
    """An item that rests on no quote of the prose: kept apart with its reason, never scored."""

    list: ListName
    item: dict[str, Any]
    reason: Text


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
    paragraphs: tuple[int, ...]
    at: dict[str, tuple[int, int]]


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
        good, bad = sum(1 for _ in self.ledger.items()), len(self.ungrounded)
        if not good:
            return Unscored(
                "extraction", f"the Notary found nothing in the prose ({bad} items rest on no quote)"
            )
        most, of = MAX_UNGROUNDED_SHARE
        if bad * of > (good + bad) * most:
            return Unscored(
                "extraction",
                f"{bad} of the {good + bad} items that the Notary found rest on no quote of the prose",
            )
        return None


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
    names = [folded(name) for name in npc.names]
    for evidence in npc.evidence:
        quote = folded(evidence.quote)
        if not any(name in quote for name in names):
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
        fingerprint=_fingerprint(prose, ledger),
    )


def write_lockfile(lock: Lockfile, path: Path) -> None:
    """Write a lockfile, the same to the byte for the same reading, whole or not at all."""
    data = lock.model_dump(mode="json", exclude_defaults=True)
    write_atomic(path, dump_json(data))


# Re-anchoring


@dataclass(frozen=True, slots=True)
class Relocked:
    """What re-anchoring did.

    Attributes:
        lock: The lockfile for the new prose. Items that lost all their quotes are in its `ungrounded`.
        kept: How many quotes stand on their words.
        lost: (list, item id, quote) of each quote that was lost or could stand in more than one place.
    """

    lock: Lockfile
    kept: int
    lost: tuple[tuple[str, str, str], ...]


def relock(lock: Lockfile, prose: Prose, path: Path) -> Relocked:
    """Move every quote of a lockfile to where its words stand in the changed prose.

    The words that were read are aligned with the words there are now. A quote is kept only when all of its words are
    aligned, in one run: one that was deleted is lost, even if a lookalike stands elsewhere. A paragraph that was moved
    as a whole keeps its quotes.

    Raises:
        InputError: The lockfile has no fingerprint to align by.
    """
    if lock.source_sha256 == prose.sha256:
        return Relocked(lock, sum(len(item.evidence) for _, _, item in lock.ledger.items()), ())
    mark = lock.fingerprint
    if mark is None:
        raise InputError(
            path, "no fingerprint of the prose that was read", hint="lock the story anew from its mark sheet"
        )
    now = words(prose.body)
    old_codes, new_codes = _codes(mark.words), [_code(match.group()) for match in now]
    new_paragraphs = _paragraph_words(prose)
    matched = _align(old_codes, list(mark.paragraphs), new_codes, [first for first, _ in new_paragraphs])

    lost: list[tuple[str, str, str]] = []
    kept = 0

    def moved(evidence: Evidence) -> Evidence | None:
        first, count = mark.at.get(f"{evidence.start}-{evidence.end}", (0, 0))
        places = [matched.get(index) for index in range(first, first + count)]
        start = places[0] if places else None
        if start is None or places != list(range(start, start + count)):
            return None
        return _exactly(evidence.quote, prose, now[start].start(), now[start + count - 1].end())

    lists: dict[str, list[Any]] = {name: [] for name in FactLedger.LISTS}
    ungrounded = list(lock.ungrounded)
    for name, _, item in lock.ledger.items():
        standing = []
        for evidence in item.evidence:
            new = moved(evidence)
            if new is None:
                lost.append((name, item.id, evidence.quote))
            else:
                standing.append(new)
        kept += len(standing)
        if standing:
            lists[name].append(item.model_copy(update={"evidence": tuple(standing)}))
        else:
            content = item.model_dump(mode="json", exclude_defaults=True, exclude={"evidence"})
            quotes = "; ".join(shown(evidence.quote) for evidence in item.evidence)
            ungrounded.append(
                Ungrounded(list=name, item=content, reason=f"its words are no longer in the prose: {quotes}")
            )
    # A paragraph was read already if it is only moved or corrected; and one that was unread stays so.
    still = _still_unread(lock, mark, matched)
    unread = [
        Unread(paragraph=number, start=start, end=end)
        for number, ((first, last), (start, end)) in enumerate(
            zip(new_paragraphs, paragraphs(prose.body), strict=True)
        )
        if _has_new_words(first, last, set(matched.values()), still)
    ]
    ledger = _without_dangling(lock.ledger, lists)
    fresh = make_lockfile(prose, ledger, lock.notary, ungrounded)
    return Relocked(fresh.model_copy(update={"unread": tuple(unread)}), kept, tuple(lost))


def accept(lock: Lockfile) -> Lockfile:
    """Say that a person has read the new paragraphs and that nothing in them wants marking; drop what was lost."""
    return lock.model_copy(
        update={"unread": (), "ungrounded": () if lock.notary.kind == "hand" else lock.ungrounded}
    )


def _without_dangling(old: FactLedger, lists: dict[str, list[Any]]) -> FactLedger:
    """Rebuild the ledger without references to people who lost their last quote."""
    people = {npc.id for npc in lists["npcs"]}
    lists["hooks"] = [
        hook.model_copy(update={"npc": None}) if isinstance(hook, Hook) and hook.npc not in people else hook
        for hook in lists["hooks"]
    ]
    lists["events"] = [
        event.model_copy(update={"relations": tuple(r for r in event.relations if r.npc in people)})
        if isinstance(event, Event)
        else event
        for event in lists["events"]
    ]
    last: dict[str, Any] = {}
    draft = old.model_copy(update={name: tuple(items) for name, items in lists.items()})
    for event in draft.in_order():
        if event.asserted_by is None:
            last.update((r.npc, r.status) for r in event.relations if r.status is not None)
    npcs = tuple(npc.model_copy(update={"status": last.get(npc.id, npc.status)}) for npc in draft.npcs)
    return draft.model_copy(update={"npcs": npcs})


def _exactly(quote: str, prose: Prose, start: int, end: int) -> Evidence | None:
    """Widen a run of words by the punctuation that the quote begins and ends with; None if it is not the quote."""
    wanted = folded(quote)
    for found_start, found_end in prose.find(quote):
        if found_start <= start and end <= found_end and folded(prose.body[found_start:found_end]) == wanted:
            return Evidence(quote=quote, start=found_start, end=found_end)
    return None


def _fingerprint(prose: Prose, ledger: FactLedger) -> Fingerprint:
    found = words(prose.body)
    starts = [match.start() for match in found]
    at: dict[str, tuple[int, int]] = {}
    for _, _, item in ledger.items():
        for evidence in item.evidence:
            inside = [index for index, start in enumerate(starts) if evidence.start <= start < evidence.end]
            if inside:
                at[f"{evidence.start}-{evidence.end}"] = (inside[0], len(inside))
    return Fingerprint(
        words="".join(_code(match.group()) for match in found),
        paragraphs=tuple(first for first, _ in _paragraph_words(prose)),
        at=at,
    )


@lru_cache(maxsize=65536)
def _code(word: str) -> str:
    return b64encode(sha256(folded(word).encode("utf-8")).digest()[:3]).decode("ascii")


def _codes(text: str) -> list[str]:
    return [text[at : at + _WORD_CODE] for at in range(0, len(text), _WORD_CODE)]


def _paragraph_words(prose: Prose) -> list[tuple[int, int]]:
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


def _align(old: list[str], old_firsts: list[int], new: list[str], new_firsts: list[int]) -> dict[int, int]:
    """Map the index of each old word to that of the same word now.

    Paragraphs first, which is quick on long prose and lets whole ones move; words only where paragraphs differ.
    """
    old_parts, new_parts = _parts(old, old_firsts), _parts(new, new_firsts)
    matched: dict[int, int] = {}
    rest_old: list[int] = []
    rest_new: list[int] = []
    changed: list[tuple[range, range]] = []
    matcher = SequenceMatcher(
        None, [part for _, part in old_parts], [part for _, part in new_parts], autojunk=False
    )
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                _map_run(matched, old_parts[i][0], new_parts[j][0], len(old_parts[i][1]))
        else:
            changed.append((range(i1, i2), range(j1, j2)))
            rest_old += range(i1, i2)
            rest_new += range(j1, j2)
    moved = _moved_paragraphs(old_parts, rest_old, new_parts, rest_new)
    for i, j in moved.items():
        _map_run(matched, old_parts[i][0], new_parts[j][0], len(old_parts[i][1]))
    taken = set(moved.values())
    for olds, news in changed:
        a = [old_parts[i][0] + n for i in olds if i not in moved for n in range(len(old_parts[i][1]))]
        b = [new_parts[j][0] + n for j in news if j not in taken for n in range(len(new_parts[j][1]))]
        inner = SequenceMatcher(None, [old[i] for i in a], [new[j] for j in b], autojunk=False)
        for start_a, start_b, size in inner.get_matching_blocks():
            matched.update(zip(a[start_a : start_a + size], b[start_b : start_b + size], strict=True))
    return matched


def _parts(codes: list[str], firsts: list[int]) -> list[tuple[int, tuple[str, ...]]]:
    bounds = [*firsts, len(codes)]
    return [(start, tuple(codes[start:end])) for start, end in pairwise(bounds)]


def _moved_paragraphs(
    old: list[tuple[int, tuple[str, ...]]],
    rest_old: list[int],
    new: list[tuple[int, tuple[str, ...]]],
    rest_new: list[int],
) -> dict[int, int]:
    """Pair paragraphs that stand elsewhere word for word, where there is exactly one of each."""
    where: dict[tuple[str, ...], tuple[list[int], list[int]]] = {}
    for i in rest_old:
        where.setdefault(old[i][1], ([], []))[0].append(i)
    for j in rest_new:
        where.setdefault(new[j][1], ([], []))[1].append(j)
    return {a[0]: b[0] for text, (a, b) in where.items() if text and len(a) == len(b) == 1}


def _map_run(matched: dict[int, int], start_old: int, start_new: int, size: int) -> None:
    matched.update(zip(range(start_old, start_old + size), range(start_new, start_new + size), strict=True))


def _has_new_words(first: int, last: int, read: set[int], still: set[int]) -> bool:
    """Whether a paragraph holds a run of new words long enough to say something, or was unread before."""
    run = 0
    for index in range(first, last):
        if index in still:
            return True
        run = 0 if index in read else run + 1
        if run >= _NEW_RUN:
            return True
    return False


def _still_unread(lock: Lockfile, mark: Fingerprint, matched: dict[int, int]) -> set[int]:
    """Where the words now stand that were in a paragraph unread before this edit."""
    bounds = [*mark.paragraphs, len(mark.words) // _WORD_CODE]
    old = {
        index
        for part in lock.unread
        if part.paragraph + 1 < len(bounds)
        for index in range(*bounds[part.paragraph :][:2])
    }
    return {matched[index] for index in old if index in matched}
