"""What `ludic watch` prints: a block a look, as text or as one line of JSON."""

from collections.abc import Iterator
from typing import Any, Final

from ludic_deepeval.check import CheckResult, StoryResult
from ludic_deepeval.difference import told
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.report.as_json import check_json
from ludic_deepeval.report.as_text import SAID, Paint, counted, plain, story_text
from ludic_deepeval.watch import Look, Moved

_QUOTE_WIDTH: Final = 160


def as_check(looks: tuple[Look, ...]) -> CheckResult:
    """The looks as the result of one check."""
    return CheckResult(
        tuple(look.result for look in looks if isinstance(look.result, StoryResult)),
        tuple(look.result for look in looks if isinstance(look.result, InputError)),
    )


def look_text(look: Look, at: str = "", *, paint: Paint = plain) -> Iterator[str]:
    """Yield the block of one look.

    Args:
        look: What was found.
        at: The time; without one it is the first look, which has nothing to compare with.
        paint: Colours a text, on a terminal.
    """
    path = clean(look.path.as_posix(), limit=400)
    head = f"{paint(at, 'bold')}  {path}: {_what(look)}"
    if not isinstance(look.result, StoryResult):
        if at:
            yield head
        return
    change = told(look.since)
    if look.same:
        yield f"{head}; {change[0]}{_briefly(look.moved)}"
        return
    if at:
        yield head
    yield from story_text(look.result, paint)
    if look.moved:
        yield from _moved(look.moved, path, paint)
    if at and look.changed != ("new",):
        yield f"  {paint('since the last look', 'bold')}: {clean(change[0], limit=400)}"
        yield from (f"    {clean(line, limit=400)}" for line in change[1:])


def _what(look: Look) -> str:
    if look.result is None:
        return "gone"
    if look.changed in {("new",), ("back",)}:
        return look.changed[0]
    said = f"{' and '.join(look.changed)} changed"
    return said + ("; it cannot be used" if isinstance(look.result, InputError) else "")


def _briefly(moved: Moved | None) -> str:
    if moved is None:
        return ""
    lost = counted(len(moved.lost), "quote", "quotes")
    return f" (as if relocked{f', {lost} lost' if moved.lost else ''})"


def _moved(moved: Moved, path: str, paint: Paint) -> Iterator[str]:
    yield f"  {paint('judged as if relocked', 'yellow')}; nothing is written (to keep it: ludic relock {path})"
    for kind, item, quote in moved.lost:
        yield f"    lost: {SAID[kind][0]} '{clean(item)}': “{clean(' '.join(quote.split()), limit=_QUOTE_WIDTH)}”"
    if moved.unread:
        lines = ", ".join(map(str, moved.unread))
        yield f"    not read yet, and left aside: {counted(len(moved.unread), 'paragraph', 'paragraphs')} (line {lines})"


def look_json(look: Look, at: str) -> dict[str, Any]:
    """One look for programs; `story` is as in `ludic check --json`, and null when there is none."""
    story = (
        check_json(CheckResult((look.result,)))["stories"][0]
        if isinstance(look.result, StoryResult)
        else None
    )
    return {
        "version": 1,
        "time": at,
        "path": look.path.as_posix(),
        "state": "gone" if look.result is None else "seen" if story else "unusable",
        "changed": list(look.changed),
        "story": story,
        "error": str(look.result) if isinstance(look.result, InputError) else None,
        "moved": look.moved
        and {
            "lost": [{"list": kind, "id": item, "quote": quote} for kind, item, quote in look.moved.lost],
            "unread_lines": list(look.moved.unread),
        },
        "since": {name: list(getattr(look.since, name)) for name in ("figures", "mended", "new")},
    }
