"""Moving the quotes of a lockfile to where their words stand after an edit, without a model.

The words that were read are aligned with the words there are now. What cannot be placed with certainty is unread.
"""

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from ludic_deepeval.errors import InputError, shown
from ludic_deepeval.ledger import Event, Evidence, FactLedger, Hook
from ludic_deepeval.lockfile import (
    WORD_CODE,
    Fingerprint,
    Lockfile,
    Ungrounded,
    Unread,
    make_lockfile,
    paragraph_words,
    word_code,
)
from ludic_deepeval.text import Prose, folded, paragraphs, words

_NEW_RUN: Final = 3  # so many new words in a row may say something; fewer is a correction


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
    old_codes, new_codes = _codes(mark.words), [word_code(match.group()) for match in now]
    new_paragraphs = paragraph_words(prose)
    matched = _align(old_codes, list(mark.paragraphs), new_codes, [first for first, _ in new_paragraphs])

    lost: list[tuple[str, str, str]] = []
    kept = 0

    def moved(evidence: Evidence) -> Evidence | None:
        first, count = mark.at.get(f"{evidence.start}-{evidence.end}", (0, 0))
        if first + count > len(old_codes):
            return None
        places = [matched.get(index) for index in range(first, first + count)]
        start = places[0] if places else None
        if start is None or places != list(range(start, start + count)):
            return None
        old_part = _part_of(first, [*mark.paragraphs, len(old_codes)])
        new_part = _part_of(start, [*(first for first, _ in new_paragraphs), len(now)])
        if _is_lookalike(range(first, first + count), start, matched, old_part, new_part):
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
                Ungrounded(
                    list=name,
                    item=content,
                    reason=f"its words are no longer in the prose: {quotes}",
                    lost=True,
                )
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
    ledger = without_dangling(lock.ledger, lists)
    fresh = make_lockfile(prose, ledger, lock.notary, ungrounded)
    return Relocked(fresh.model_copy(update={"unread": tuple(unread)}), kept, tuple(lost))


def effort(lock: Lockfile, prose: Prose) -> int:
    """Estimate the work of `relock` without doing it: the pairs of the same word in paragraphs that differ.

    A correction of a story comes to hundreds, four thousand English words that are all others to 150,000; a million
    takes about a second.
    """
    mark = lock.fingerprint
    if mark is None:
        return 0
    codes = _codes(mark.words), [word_code(match.group()) for match in words(prose.body)]
    firsts = list(mark.paragraphs), [first for first, _ in paragraph_words(prose)]
    old, new = (
        [part for _, part in _parts(found, starts)] for found, starts in zip(codes, firsts, strict=True)
    )
    same = set(old) & set(new)
    left, right = (
        Counter(code for part in parts if part not in same for code in part) for parts in (old, new)
    )
    return sum(count * right[code] for code, count in left.items())


def accept(lock: Lockfile) -> Lockfile:
    """Say that a person has read the new paragraphs and that nothing in them wants marking; drop what was lost."""
    return lock.model_copy(
        update={"unread": (), "ungrounded": tuple(item for item in lock.ungrounded if not item.lost)}
    )


def _part_of(index: int, bounds: list[int]) -> range:
    """The words of the paragraph that a word stands in."""
    at = bisect_right(bounds, index)
    return range(bounds[at - 1] if at else 0, bounds[at] if at < len(bounds) else index + 1)


def _is_lookalike(old: range, start: int, matched: dict[int, int], old_part: range, new_part: range) -> bool:
    """Whether a quote's words were aligned alone with words of another paragraph, while its own is still there."""
    if matched.get(old.start - 1) == start - 1 or matched.get(old.stop) == start + len(old):
        return False
    others = {index: matched[index] for index in old_part if index in matched and index not in old}
    # A stray "a" proves nothing; words in a row do.
    run = any(all(others.get(index + n) == at + n for n in range(_NEW_RUN)) for index, at in others.items())
    return run and not any(at in new_part for at in others.values())


def without_dangling(old: FactLedger, lists: dict[str, list[Any]]) -> FactLedger:
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


def _codes(text: str) -> list[str]:
    return [text[at : at + WORD_CODE] for at in range(0, len(text), WORD_CODE)]


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
    bounds = [*mark.paragraphs, len(mark.words) // WORD_CODE]
    old = {
        index
        for part in lock.unread
        if part.paragraph + 1 < len(bounds)
        for index in range(*bounds[part.paragraph :][:2])
    }
    return {matched[index] for index in old if index in matched}
