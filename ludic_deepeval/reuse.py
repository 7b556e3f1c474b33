"""The reuse labels by words alone: a baseline that stands beside the judge's labels, and never takes their place.

A person is reused when the name or an alias of somebody in the ledger is the same name (`text.name_key`); a thread, when its
words are close enough to those of an item (rapidfuzz's token-set ratio, 0 to 100). It never says ambiguous. What it gets wrong
is measured on hand-labelled pairs (`reuse_pairs`, docs/metrics.md). Needs rapidfuzz (the extra `deepeval`).
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from ludic_deepeval.errors import InputError
from ludic_deepeval.session import Emitted, Known, Told, count_labels
from ludic_deepeval.text import folded, name_key, words

if TYPE_CHECKING:
    from ludic_deepeval.effort import Effort
    from ludic_deepeval.outcome import Outcome
    from ludic_deepeval.session import Session

THRESHOLD: Final = (
    90  # chosen on the development part of test_cases/reuse/pairs.yaml, by `reuse_pairs.best_threshold`
)


def lexical_labels(
    emitted: Sequence[Emitted], known: Sequence[Known], *, threshold: int = THRESHOLD
) -> tuple[Told, ...]:
    """Label people and threads by their words.

    Args:
        emitted: What an outline holds.
        known: What the ledger holds.
        threshold: From which token-set ratio on a thread counts as reused, 0 to 100.

    Raises:
        InputError: rapidfuzz is not installed.
    """
    named = {name_key(name): item.id for item in reversed(known) for name in item.names}
    told: list[Told] = []
    for one in emitted:
        if one.kind == "npc":
            item = named.get(name_key(one.text))
        else:
            score, closest = closest_item(one.text, known)
            item = closest if score >= threshold else None
        told.append(Told(label="reused", item=item) if item else Told(label="invented"))
    return tuple(told)


def closest_item(text: str, known: Sequence[Known]) -> tuple[float, str | None]:
    """Return the token-set ratio of the item whose text is closest, 0 to 100, and its id; the first of equals."""
    ratio = _ratio()
    best: tuple[float, str | None] = (0.0, None)
    mine = _tokens(text)
    for item in known:
        if item.text is not None:
            score = ratio(mine, _tokens(item.text))
            if score > best[0]:
                best = (score, item.id)
    return best


def lexical_effort(session: "Session", *, threshold: int = THRESHOLD) -> "Outcome[Effort]":
    """E_a of a session by the baseline's labels: what stands beside the judge's."""
    from ludic_deepeval.effort import adaptation_effort  # noqa: PLC0415  # the labels alone need it not

    return adaptation_effort(
        [
            count_labels(outline.emitted, lexical_labels(outline.emitted, session.known, threshold=threshold))
            for outline in session.outlines
        ]
    )


def agreement(session: "Session") -> tuple[int, int]:
    """How many of a session's labels the baseline gives too, and of how many: those that the judge told apart."""
    same = told = 0
    for outline, labels in zip(session.outlines, session.labels, strict=True):
        baseline = lexical_labels(outline.emitted, session.known)
        for judged, lexical in zip(labels, baseline, strict=True):
            told += judged.label != "ambiguous"
            same += judged.label == lexical.label
    return same, told


def _tokens(text: str) -> str:
    """Words, or Chinese characters, with blanks between: what a token-set ratio compares."""
    return " ".join(match.group() for match in words(folded(text).casefold()))


@cache
def _ratio() -> Callable[[str, str], float]:
    try:
        from rapidfuzz.fuzz import token_set_ratio  # noqa: PLC0415  # an extra
    except ImportError:
        raise InputError(
            "the lexical baseline",
            "rapidfuzz is not installed",
            hint="pip install 'ludic-worth[deepeval]'",
        ) from None
    return token_set_ratio
