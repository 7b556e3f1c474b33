"""Markdown for a pull request's comment or a job's summary.

Everything that is not ours is made inert: it can be no link, image, markup, mention or reference (see `inert`). The
whole fits a comment; what was cut is said at the end.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple, get_args

from ludic_deepeval.check import CheckResult, StoryResult
from ludic_deepeval.errors import clean
from ludic_deepeval.faults import FaultCode
from ludic_deepeval.findings import Finding
from ludic_deepeval.outcome import Scored
from ludic_deepeval.report.as_text import counted, details, summary_text, verdict_words, wants_fix

LIMIT: Final = 65_000
"""Characters. A comment on GitHub has at most 65,536, of which a caller may want some; a job's summary has 1 MiB."""

_FRAME: Final = 1_500  # headings of the tables, what folds them away, and the line that says what was cut
_FAULTS: Final = frozenset(get_args(FaultCode))
_COLUMNS: Final = "Story|Verdict|To play|Contradictions|Loose threads|People|Goals|Unexplained".split("|")

_BREAK: Final = "&#8203;"  # a space without width: seen by what looks for links, not by a reader
_MARKUP: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "$": "<span>$</span>"} | {
    char: f"\\{char}" for char in "\\`*_[]~"
}
_BLANKS: Final = re.compile(r"\s+")
_MARKS: Final = re.compile(r"[&<>|$\\`*_\[\]~]")
# What is looked for in the rendered text, where a backslash is gone: mentions, issues, addresses, emoji.
_LOOKED_FOR: Final = re.compile(
    r"(@|#(?=\w)|:(?=//)|\.(?=[^\W\d_])|\bwww(?=\.)|\bgh(?=-\d)|:(?=[\w+-]+:))", re.IGNORECASE
)


class _Block(NamedTuple):
    """A piece that is shown whole or not at all, and how many findings it tells."""

    text: str
    findings: int = 0


def check_markdown(result: CheckResult, *, limit: int = LIMIT) -> str:
    """The result of `ludic check` in GitHub's Markdown: the verdict, a table, then what to mend.

    Args:
        result: What was found.
        limit: How many characters there may be; at least 4,000.
    """
    head = f"## ludic: {_heading(result)}\n\n{f'{summary_text(result)}.' if result.stories else ''}\n\n"
    room = limit - len(head) - _FRAME
    rows, room, rows_cut = _fitting(
        [_Block(_row(story)) for story in result.stories], min(room, limit // 4), room
    )
    todo = [
        *_unusable(result),
        *(part for story in result.stories if not story.holds for part in _story(story)),
    ]
    told, room, todo_cut = _fitting(todo, room, room)
    told_of = [story for story in result.stories if story.holds and story.findings]
    held = [part for story in told_of for part in _story(story)]
    aside, room, held_cut = _fitting(held, room, room)
    figures = [_Block(line) for story in result.stories for line in _figures(story)]
    measured, room, figures_cut = _fitting(figures, room, room)
    parts = [
        head,
        _table(_COLUMNS, rows),
        _folded("Figures", _table(["Story", "Figures"], measured)),
        told,
        _folded(f"{counted(len(told_of), 'story that holds', 'stories that hold')}, with remarks", aside),
        _cut(len(rows_cut), sum(block.findings for block in (*todo_cut, *held_cut)), len(figures_cut)),
    ]
    return re.sub(r"\n{3,}", "\n\n", "".join(parts)).rstrip("\n") + "\n"


def inert(text: str, *, limit: int = 400) -> str:
    """Somebody else's text on one line, which renders as just these characters and does nothing."""
    parts = _LOOKED_FOR.split(clean(_BLANKS.sub(" ", text), limit=limit))
    escaped = [_MARKS.sub(lambda match: _MARKUP[match.group()], part) for part in parts]
    return "".join(part + _BREAK if at % 2 else part for at, part in enumerate(escaped))


def code(path: str) -> str:
    """A file's name, to be copied as it is."""
    flat = clean(_BLANKS.sub(" ", path), limit=400)
    return f"<code>{inert(flat)}</code>" if set("`|\\").intersection(flat) else f"`{flat}`"


def _fitting(blocks: list[_Block], most: int, room: int) -> tuple[str, int, list[_Block]]:
    """The first blocks that fit into `most` characters, the room left then, and the blocks that were cut."""
    used = 0
    for at, block in enumerate(blocks):
        if used + len(block.text) > most:
            return "".join(text for text, _ in blocks[:at]), room - used, blocks[at:]
        used += len(block.text)
    return "".join(text for text, _ in blocks), room - used, []


def _heading(result: CheckResult) -> str:
    total = counted(len(result.stories), "story", "stories")
    short = sum(story.state == "read" and not story.holds for story in result.stories)
    apart = sum(
        story.state != "read" and not (result.allow_unread or story.is_known_unread)
        for story in result.stories
    )
    parts = []
    alone = len(result.stories) == 1
    if short:
        parts.append(
            "the story falls short"
            if alone
            else f"{short} of {total} {'falls' if short == 1 else 'fall'} short"
        )
    if apart:
        of = "" if short else f" of {total}"
        who = "the story is" if alone else f"{apart}{of} {'is' if apart == 1 else 'are'}"
        parts.append(f"{who} not read or not scored")
    if result.errors:
        parts.append(f"{counted(len(result.errors), 'file', 'files')} cannot be used")
    if parts or not result.stories:
        return ", ".join(parts) or "no story to check"
    return (
        "every story is as it should be"
        if all(story.holds for story in result.stories)
        else "no story falls short"
    )


def _table(columns: list[str], rows: str) -> str:
    if not rows:
        return ""
    return f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n{rows}\n"


def _folded(summary: str, text: str) -> str:
    return f"\n<details><summary>{summary}</summary>\n\n{text.strip()}\n\n</details>\n\n" if text else ""


def _name(story: StoryResult) -> str:
    path = code(story.path.as_posix())
    return f"**{inert(story.title)}**<br>{path}" if story.title != story.id else path


def _verdict(story: StoryResult) -> str:
    if story.state != "read":
        return f"not {story.state.removeprefix('un')}"
    return "holds" if story.holds else "**falls short**"


def _row(story: StoryResult) -> str:
    cells = [_name(story), _verdict(story)]
    if isinstance(story.outcome, Scored):
        card = story.outcome.value.card
        counts = card.counts
        threads = sum(counts.tiers)
        cells += [
            verdict_words(card),
            _contradictions(story),
            f"{threads} ({counts.tiers[0]} urgent)" if threads else "0",
            str(counts.active),
            str(counts.goals),
            "?" if counts.holes is None else str(counts.holes),
        ]
    cells += ["–"] * (len(_COLUMNS) - len(cells))
    return f"| {' | '.join(cells)} |\n"


def _contradictions(story: StoryResult) -> str:
    statuses = Counter(finding.status for finding in story.findings if finding.code in _FAULTS)
    excused = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()) if status != "open")
    return f"{statuses['open']}{f' ({excused})' if excused else ''}"


def _figures(story: StoryResult) -> Iterator[str]:
    if isinstance(story.outcome, Scored):
        yield f"| {code(story.path.as_posix())} | {details(story.outcome.value.card)} |\n"


def _unusable(result: CheckResult) -> Iterator[_Block]:
    title = "### Files that cannot be used\n\n"
    for at, error in enumerate(result.errors):
        said = str(error).removeprefix(clean(error.file, limit=800))
        yield _Block(f"{'' if at else title}- {code(error.file)}{inert(said, limit=1000)}\n", 1)
    if result.errors:
        yield _Block("\n")


def _story(story: StoryResult) -> Iterator[_Block]:
    """A story's findings, the first with the heading, and the smallest fix."""
    title = f"\n### {inert(story.title)}\n\n{code(story.path.as_posix())}\n\n"
    for at, finding in enumerate(story.findings):
        yield _Block(f"{'' if at else title}{_finding(finding, story)}", 1)
    if wants_fix(story):
        todo = "".join(f"- {inert(line)}\n" for line in story.fixes[0].todo)
        yield _Block(f"\n**Smallest fix**: {story.fixes[0].effect}\n\n{todo}\n")


def _finding(finding: Finding, story: StoryResult) -> str:
    where = f" in {code(story.file.name)}, line {finding.line}" if finding.quote else ""
    # Some messages say what to type, with the path as it was given.
    parts = finding.message.split(str(story.story.path))
    message = code(story.path.as_posix()).join(inert(part, limit=600) for part in parts[:4])
    text = f"- **{finding.severity}**{where}: {message} ({finding.code})\n"
    quotes = [f"“{inert(finding.quote)}”"] if finding.quote else []
    quotes += [f"against {inert(finding.against)}"] if finding.against else []
    quoted = "  >\n".join(f"  > {quote}\n" for quote in quotes)
    return f"{text}\n{quoted}\n" if quoted else text


def _cut(rows: int, findings: int, figures: int) -> str:
    said = [
        counted(rows, "line of the table", "lines of the table") if rows else "",
        counted(findings, "finding", "findings") if findings else "",
        f"the figures of {counted(figures, 'story', 'stories')}" if figures else "",
    ]
    cut = ", ".join(filter(None, said))
    return f"\nCut to fit here: {cut}. `ludic check` shows them all.\n" if cut else ""
