"""What `ludic extract` tells: each story's reading, what was left out of it, and how repeated readings differ."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ludic_deepeval.errors import InputError, ModelError, clean
from ludic_deepeval.injection import RULES, Suspicion
from ludic_deepeval.llm.budget import Preview, Spent
from ludic_deepeval.notary import Extraction
from ludic_deepeval.report.as_text import SAID, counted, interval_text

if TYPE_CHECKING:
    from ludic_deepeval.stability import Stability

_MOST_SHOWN = 8


@dataclass(frozen=True)
class Told:
    """One story of the report.

    Attributes:
        path: The story.
        lockfile: Its lockfile.
        state: What became of it; `left` is not read yet.
        extraction: Its reading, if it was read now.
        error: Why it was not.
        suspicions: Where its prose speaks to a machine.
        stability: How its readings differ, when it was read more than once.
    """

    path: Path
    lockfile: Path
    state: Literal["read", "unchanged", "failed", "left"]
    extraction: Extraction | None = None
    error: ModelError | None = None
    suspicions: tuple[Suspicion, ...] = ()
    stability: "Stability | None" = None


@dataclass(frozen=True)
class Report:
    """What one run did.

    Attributes:
        model: Who read.
        stories: Each story.
        errors: Files that could not be used.
        stopped: Why the run ended early, or empty.
        spent: What it cost.
    """

    model: str
    stories: tuple[Told, ...]
    errors: tuple[InputError, ...] = ()
    stopped: str = ""
    spent: Spent = field(default_factory=Spent)


def extract_text(report: Report) -> Iterator[str]:
    """Yield the lines of a report."""
    for story in report.stories:
        yield from _story(story)
    states: Counter[str] = Counter(story.state for story in report.stories)
    parts = [f"{counted(states['read'], 'story', 'stories')} read"]
    parts += [
        f"{states[state]} {word}"
        for state, word in (("unchanged", "unchanged"), ("failed", "not readable"), ("left", "left to read"))
        if states[state]
    ]
    why = f" ({report.stopped})" if report.stopped else ""
    yield clean(f"{', '.join(parts)}{why}; {report.spent}", limit=1000)


def _story(story: Told) -> Iterator[str]:
    name = clean(str(story.lockfile), limit=400)
    if story.state == "failed" and story.error is not None:
        yield f"{clean(str(story.path), limit=400)}: not read: {story.error}"
    elif story.extraction is not None:
        lock = story.extraction.lock
        counts = Counter(SAID[kind] for kind, _, _ in lock.ledger.items())
        yield f"{name}: {', '.join(counted(counts[words], *words) for words in SAID.values())}"
        if lock.ungrounded:
            yield f"  left out: {counted(len(lock.ungrounded), 'item rests', 'items rest')} on no words of the prose"
            for one in lock.ungrounded[:_MOST_SHOWN]:
                words = (
                    one.item.get("name")
                    or one.item.get("text")
                    or one.item.get("summary")
                    or one.item.get("id")
                )
                yield f"    {SAID[one.list][0]} “{clean(str(words), limit=80)}”: {clean(one.reason, limit=200)}"
            if len(lock.ungrounded) > _MOST_SHOWN:
                yield f"    and {len(lock.ungrounded) - _MOST_SHOWN} more, all in the lockfile"
        if why := lock.too_little_grounded:
            yield f"  cannot be scored: {why.reason}"
        for repair in story.extraction.repairs[:_MOST_SHOWN]:
            yield f"  put right: {clean(repair, limit=300)}"
    elif story.state == "unchanged":
        yield f"{name}: unchanged"
    for place in story.suspicions[:_MOST_SHOWN]:
        yield f"  look at line {place.line}: it {RULES[place.rule]}: “{clean(place.words, limit=100)}”"
    if story.suspicions:
        yield "    (a model may have done as the prose told it: check what it marked before you believe the score)"
    if story.stability is not None:
        yield from _stability(story.stability)


def _stability(found: "Stability") -> Iterator[str]:
    apart = f", {len(found.unscored)} not scored" if found.unscored else ""
    few = f" of {found.asked} asked" if found.read < found.asked else ""
    yield f"  {counted(found.read, 'reading', 'readings')}{few}: plays in {found.passed} of {found.scored} scored{apart}"
    for name, row in (("LPI", found.lpi), ("PCV", found.pcv)):
        if row is not None:
            yield f"    {name} {interval_text(row)}"
    for one in found.unstable[:_MOST_SHOWN]:
        where = "in all" if one.readings == found.read else f"in {one.readings} of {found.read}"
        how = f", with {one.answers} different answers" if one.answers > 1 else ""
        yield f"    moves: {one.kind} “{clean(one.words, limit=80)}” {where}{how}"
    if len(found.unstable) > _MOST_SHOWN:
        yield f"    and {len(found.unstable) - _MOST_SHOWN} more items that move"
    if not found.unstable and found.read > 1:
        yield "    every item stands in every reading, with the same answers"


def preview_text(model: str, unchanged: int, stories: int, found: Preview) -> Iterator[str]:
    """Yield the lines of a preview."""
    yield clean(
        f"{model} would read {counted(stories, 'story', 'stories')}, {unchanged} unchanged: {found}",
        limit=400,
    )
    if stories:
        yield "a reading whose quotes are not all found asks once more for those, with one further call a part"


def extract_json(report: Report) -> dict[str, Any]:
    """The report for programs."""
    return {
        "version": 1,
        "model": report.model,
        "stories": [_story_json(story) for story in report.stories],
        "errors": [str(error) for error in report.errors],
        "stopped": report.stopped or None,
        "spent": asdict(report.spent),
    }


def _story_json(story: Told) -> dict[str, Any]:
    row: dict[str, Any] = {
        "path": story.path.as_posix(),
        "lockfile": story.lockfile.as_posix(),
        "state": story.state,
        "error": None if story.error is None else {"kind": story.error.kind, "message": str(story.error)},
        "suspicions": [asdict(one) for one in story.suspicions],
    }
    if story.extraction is not None:
        lock = story.extraction.lock
        why = lock.too_little_grounded
        row |= {
            "items": dict(Counter(kind for kind, _, _ in lock.ledger.items())),
            "ungrounded": [one.model_dump(mode="json") for one in lock.ungrounded],
            "repairs": list(story.extraction.repairs),
            "asked_again": story.extraction.asked_again,
            "unscored": None if why is None else {"cause": why.cause, "reason": why.reason},
        }
    if story.stability is not None:
        row["repeat"] = asdict(story.stability)
    return row
