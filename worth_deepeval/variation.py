"""A variation of an episode against the one that it varies: is it what it says that it is (WORTH §3.4, §6.5)?

A *rewrite* holds the facts constant: the same candidates, the same key. A *modification* changes evidence and the answer with it: the
same candidates, another set of participants, and a changed sentence of K. In both the sentences keep their numbers, or what was
selected could not be compared.
"""

from collections.abc import Iterator

from worth_deepeval.episode import Key, Sheet
from worth_deepeval.validate import Fault


def compare_with_base(base: Sheet, other: Sheet) -> Iterator[Fault]:
    """Find what keeps a variation from being compared with the episode that it varies.

    Args:
        base: The episode that is varied.
        other: The variation, whose key says so under `varies`.
    """
    varies, one, two = other.key.varies, base.episode, other.episode
    if varies is None:
        yield Fault("no-variation", "varies", f"{two.id} does not say that it varies {one.id}")
        return
    if varies.episode != one.id:
        yield Fault("wrong-base", "varies.episode", f"{two.id} varies {varies.episode}, not {one.id}")
    if two.id == one.id:
        yield Fault("same-id", "id", f"{two.id} has the id of the episode that it varies")
    if two.language != one.language:
        yield Fault(
            "other-language", "language", f"{two.id} is in {two.language}, {one.id} in {one.language}"
        )
    if two.quota != one.quota:
        yield Fault(
            "other-quota",
            "quota",
            f"{two.quota.sentences} sentences may be selected, not {one.quota.sentences}",
        )
    before = {sentence.id: sentence.text for sentence in one.sentences}
    after = {sentence.id: sentence.text for sentence in two.sentences}
    for name in sorted(before.keys() ^ after.keys()):
        yield Fault(
            "other-sentences", "sentences", f"{name} is in {(one if name in before else two).id} alone"
        )
    for name in sorted(one.role_ids ^ two.role_ids):
        yield Fault(
            "other-candidates",
            "candidates",
            f"{name} is in {(one if name in one.role_ids else two).id} alone",
        )
    differ = {name for name in before.keys() & after.keys() if before[name] != after[name]}
    if varies.changed:
        for name in sorted(differ - set(varies.changed)):
            yield Fault(
                "undeclared-change",
                "sentences",
                f"{name} differs from {one.id} and is not among varies.changed",
            )
        for name in sorted(set(varies.changed) - differ):
            yield Fault("no-change", "varies.changed", f"{name} is as it is in {one.id}")
    if not differ:
        yield Fault("no-change", "sentences", f"{two.id} has the text of {one.id}")
    yield from _modified(base, other, differ) if varies.kind == "modification" else _rewritten(base, other)


def _modified(base: Sheet, other: Sheet, differ: set[str]) -> Iterator[Fault]:
    if base.key.guilty == other.key.guilty:
        names = ", ".join(sorted(other.key.guilty))
        yield Fault(
            "same-answer",
            "participants",
            f"{names} are the participants, as they were: the answer has not changed",
        )
    if not differ & (set(base.key.sentences) | set(other.key.sentences)):
        yield Fault(
            "same-evidence",
            "sentences",
            f"no key sentence differs: {', '.join(sorted(differ)) or 'none'} are in neither K",
        )


def _rewritten(base: Sheet, other: Sheet) -> Iterator[Fault]:
    for part in Key.model_fields:
        if part not in {"status", "varies"} and getattr(base.key, part) != getattr(other.key, part):
            yield Fault(
                "changed-key",
                part,
                f"{part} differ from {base.episode.id}: {_first(base.key, other.key, part)}",
            )


def _first(one: Key, two: Key, part: str) -> str:
    """What differs first, by its sentence or candidate."""
    before, after = getattr(one, part), getattr(two, part)
    if not isinstance(before, tuple) or not isinstance(after, tuple):
        return "a rewrite holds the facts constant"
    for left, right in zip(before, after, strict=False):
        if left != right:
            return str(getattr(right, "sentence", getattr(right, "role", right)))
    return f"{len(after)} in place of {len(before)}"
