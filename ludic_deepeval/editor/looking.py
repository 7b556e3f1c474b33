"""What there is to tell of a text that an editor has open, whether or not it is saved: findings, with their places.

Edited prose is judged as `ludic watch` judges it: by the marks of the lockfile, moved along with their words. Nothing is
written.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ludic_deepeval.baseline import compare, find_baseline, load_baseline
from ludic_deepeval.branches.reading import is_branching
from ludic_deepeval.check import Checker, CheckResult, StoryResult
from ludic_deepeval.editor.places import TOP, Range, Span, line_range, range_of
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import decode, read_bytes
from ludic_deepeval.findings import Finding
from ludic_deepeval.report.as_text import SAID
from ludic_deepeval.sources import Story
from ludic_deepeval.sources.markdown import is_story_name, story_of
from ludic_deepeval.text import Prose, words
from ludic_deepeval.watch import Moved, judge_moved

Weight: TypeAlias = Literal["error", "warning", "information", "hint"]

MAX_TEXT: Final = 200_000  # characters; a novel has more, and is no backstory
MAX_EFFORT: Final = 1_000_000  # to move marks along: about a second, where a whole novelette was replaced
MAX_NOTES: Final = 200
UNUSABLE: Final = "unusable"  # what cannot be judged at all; no code of a finding
_LINE: Final = re.compile(r"line (\d{1,9})")
_SHOWN_WORDS: Final = 8
_WEIGHTS: Final[dict[str, Weight]] = {"error": "error", "warning": "warning", "note": "information"}
_IN_FRONT: Final = {"unused-mark": "intentional", "expectation": "expect"}


@dataclass(frozen=True, slots=True)
class Note:
    """One thing to show in a text.

    Attributes:
        range: Where.
        weight: How strongly; what is expected or meant is a hint.
        code: A key of `codes.CODES`, a code of `ludic branches`, or `UNUSABLE`.
        message: What to say, a line or a few.
        finding: The finding that it tells, if it does.
    """

    range: Range
    weight: Weight
    code: str
    message: str
    finding: Finding | None = None


@dataclass(frozen=True)
class Look:
    """A text as it was found.

    Attributes:
        path: Its file.
        text: What was looked at.
        notes: What to show, in the order of `ludic check`.
        story: The story in it; None where it cannot be read, is none, or branches.
        result: The verdict on it, if there could be one.
        moved: How its marks were moved along, where the prose is not what was locked.
    """

    path: Path
    text: str
    notes: tuple[Note, ...] = ()
    story: Story | None = None
    result: StoryResult | None = None
    moved: Moved | None = None


def is_watched(path: Path) -> bool:
    """Whether there is something to say of a file, going by its name."""
    plain = (
        path.suffix.lower() == ".txt"
    )  # of which most are no stories; those that are are checked on the command line
    return not path.name.startswith(".") and (is_story_name(path) or (is_branching(path) and not plain))


def look(path: Path, text: str) -> Look:
    """Judge a text as if it were saved in its file. Never raises over what is in it, or in the files that it rests on."""
    if not is_watched(path):
        return Look(path, text)
    try:
        raw = _plain(text, path)
        found = _branching(path, raw) if is_branching(path) else _story(path, raw)
    except InputError as error:
        found = Look(path, text, (_of_error(error, path, text),))
    if unfit := _unfit_on_disk(path):
        found = replace(found, notes=(unfit, *found.notes))
    return replace(found, notes=found.notes[:MAX_NOTES])


def _plain(text: str, path: Path) -> str:
    """The text, if a file could hold it and it is no longer than can be judged while somebody types."""
    if len(text) > MAX_TEXT:
        raise InputError(
            path,
            f"{len(text):,} characters",
            allowed=f"at most {MAX_TEXT:,} while you type",
            hint=f"run: ludic check {path}",
        )
    return decode(text.encode("utf-8", "surrogatepass"), path)


def _unfit_on_disk(path: Path) -> Note | None:
    """What is saved may be in an encoding that the editor understands and nobody else does."""
    try:
        if path.is_file():
            decode(read_bytes(path), path)
    except (InputError, OSError, ValueError) as error:
        said = str(error) if isinstance(error, InputError) else "it cannot be read"
        return Note(TOP, "warning", UNUSABLE, clean(f"as it is saved: {_unprefixed(said, path)}", limit=800))
    return None


# Stories


def _story(path: Path, raw: str) -> Look:
    story = story_of(raw, path)
    if not story.prose.body:
        return Look(path, raw, (), story)  # it is only being begun
    result, moved = judge_moved(path, Checker(), story, most=MAX_EFFORT)
    if isinstance(result, InputError):
        return Look(path, raw, (_of_error(result, path, raw),), story)
    result = _with_baseline(result)
    shown = [_of_finding(finding, story) for finding in result.findings if finding.status != "known"]
    return Look(path, raw, (*shown, *(_of_moved(moved, story) if moved else ())), story, result, moved)


def _with_baseline(result: StoryResult) -> StoryResult:
    """The result without what the team's baseline knows, as in `ludic check`."""
    baseline = find_baseline(result.path.absolute().parent)
    if baseline is None:
        return result
    return compare(
        CheckResult((result,)), load_baseline(baseline), baseline.absolute().parent
    ).result.stories[0]


def first_word(prose: Prose) -> Range:
    """Where findings on a story as a whole are shown."""
    found = next(iter(words(prose.body[:400])), None)
    return range_of(prose, found.span() if found else (0, min(1, len(prose.body))))


def _of_finding(finding: Finding, story: Story) -> Note:
    message = clean(finding.message, limit=1000)
    if finding.code == "unread":
        message = (
            "Nobody has read this story yet, so there is nothing to judge. Select words and choose “Mark selection as …”"
            f" among the code actions, or run: ludic annotate {clean(story.path.name, limit=200)}. No AI needed."
        )
    if finding.against:
        message += f"\nagainst {clean(' '.join(finding.against.split()), limit=400)}"
    weight = _WEIGHTS[finding.severity] if finding.status == "open" else "hint"
    if finding.code == "unread" and finding.severity == "warning":
        weight = "hint"
    return Note(_place(finding, story), weight, finding.code, message, finding)


def _place(finding: Finding, story: Story) -> Range:
    if finding.span is not None:
        span = finding.span
        return range_of(
            story.prose, _beginning(story.prose, span) if finding.code == "new-paragraph" else span
        )
    key = _IN_FRONT.get(finding.code)
    return (_of_key(story.prose, key) if key else None) or first_word(story.prose)


def _beginning(prose: Prose, span: Span) -> Span:
    """The first words of a paragraph, which need not be underlined as a whole."""
    start, end = span
    found = words(prose.body[start:end])[:_SHOWN_WORDS]
    return (start, start + found[-1].end()) if found else span


def _of_key(prose: Prose, key: str) -> Range | None:
    """The line of the front matter on which a key stands."""
    found = re.search(rf"(?m)^{re.escape(key)}\b", prose.front_matter or "")
    if found is None or prose.front_matter is None:
        return None
    before = prose.front_matter[: found.start()].replace("\r\n", "\n").replace("\r", "\n")
    return line_range(prose.raw, before.count("\n") + 2)


def _of_moved(moved: Moved, story: Story) -> Iterator[Note]:
    """How the marks were moved along: what was lost, what nobody has read, and how to keep the rest."""
    top, name = first_word(story.prose), clean(story.path.name, limit=200)
    for kind, item, quote in moved.lost:
        words_of = clean(" ".join(quote.split()), limit=160)
        message = f"{SAID[kind][0]} '{clean(item)}' rested on words that are no longer here, and does not count: “{words_of}”"
        yield Note(top, "information", "stale", message)
    for span in moved.spans:
        message = "new or changed, and not read yet: left aside. Mark what is in it, or, if there is nothing to mark, run:"
        yield Note(
            range_of(story.prose, _beginning(story.prose, span)),
            "information",
            "new-paragraph",
            f"{message} ludic relock --read {name}",
        )
    message = f"edited since it was read, and judged with its marks moved along. To keep them so: save it and run: ludic relock {name}"
    yield Note(top, "hint", "stale", message)


# What cannot be used


def _of_error(error: InputError, path: Path, text: str) -> Note:
    """An error at its line, if it is about this text; at the top if it is about a file that the story rests on."""
    place = line_range(text[:MAX_TEXT], 1)
    if error.file == str(path):
        line = _LINE.search(error.where)
        if line:
            place = line_range(text[:MAX_TEXT], int(line.group(1)))
        elif key := re.match(r"[a-z_]+", error.where):
            found = re.search(rf"(?m)^{re.escape(key.group())}\b", text[:MAX_TEXT])
            if found:
                place = line_range(text[:MAX_TEXT], len(text[: found.start()].splitlines()) + 1)
    return Note(place, "error", UNUSABLE, clean(_unprefixed(str(error), path), limit=1000))


def _unprefixed(said: str, path: Path) -> str:
    return said.removeprefix(f"{clean(str(path), limit=800)}: ")


# Branching stories


def _branching(path: Path, raw: str) -> Look:
    from ludic_deepeval.branches.report import judge  # noqa: PLC0415  # most stories do not branch

    verdict = judge(path, raw=raw)
    notes = []
    for found in verdict.findings:
        lines = [found.message + (" (possible: it depends on a variable)" if found.possible else "")]
        lines += [f"line {line}: “{' '.join(quote.split())}”" for _, line, quote in found.shown if line]
        if len(found.path) > 1:
            lines.append(f"path: {' → '.join(found.path[:12])}{' → …' if len(found.path) > 12 else ''}")
        message = "\n".join(clean(line, limit=600) for line in lines)
        weight: Weight = "error" if found.fails else "warning"
        notes.append(Note(line_range(raw, found.line), weight, found.code, message))
    notes += [
        Note(line_range(raw, 1), "hint", "unread", clean(line, limit=600))
        for line in verdict.said
        if line.startswith("contradictions were not")
    ]
    return Look(path, raw, tuple(notes))
