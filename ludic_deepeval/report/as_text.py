"""What a writer reads in a terminal, in a writer's words; the figures stand in a details line."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from ludic_deepeval.check import CheckResult, StoryResult
from ludic_deepeval.errors import clean
from ludic_deepeval.findings import Finding
from ludic_deepeval.outcome import Scored, Unscored
from ludic_deepeval.scoring import ScoreCard, decimal

if TYPE_CHECKING:
    from ludic_deepeval.advice import Fix
    from ludic_deepeval.agreement import Agreement

Paint = Callable[[str, str], str]
"""Takes a text and a colour's name."""

_VERDICT: Final = {
    "campaign-ready": ("ready to play", "green"),
    "rich-lore-flat-play": ("rich lore, flat play: plenty is open, too little presses", "yellow"),
    "explosive-but-shallow": (
        "explosive but shallow: it starts with a bang and then has little left",
        "yellow",
    ),
    "unplayable-draft": ("not playable yet: too little is open and too little presses", "yellow"),
}
SAID: Final = {
    "npcs": ("person", "people"),
    "hooks": ("hook", "hooks"),
    "goals": ("goal", "goals"),
    "mysteries": ("mystery", "mysteries"),
    "events": ("event", "events"),
}
_COLOUR: Final = {"error": "red", "warning": "yellow", "note": "cyan"}
_QUOTE_WIDTH: Final = 160
_THIN: Final = frozenset({"few-hooks", "flat-events"})


def counted(number: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{number} {one if number == 1 else many}"


def plain(text: str, colour: str) -> str:
    """A painter that paints nothing."""
    del colour
    return text


def check_text(result: CheckResult, *, paint: Paint = plain, quiet: bool = False) -> Iterator[str]:
    """Yield the lines of `ludic check`.

    Args:
        result: What was found.
        paint: Colours a text, on a terminal.
        quiet: Leave out stories that hold.
    """
    for story in result.stories:
        if not (quiet and story.holds):
            yield from _story(story, paint)
            yield ""
    yield _summary(result, paint)


def _story(story: StoryResult, paint: Paint) -> Iterator[str]:
    path = paint(clean(story.path.as_posix(), limit=400), "bold")
    if not isinstance(story.outcome, Scored):
        yield f"{path}: {paint(clean(story.outcome.reason, limit=600), 'yellow')}"
    else:
        yield path + (f"  {clean(story.title)}" if story.title != story.id else "")
        yield from _verdict(story.outcome.value.card, paint)
    for finding in story.findings:
        if finding.code not in {"unread", "stale"}:
            yield from _finding(finding, paint, column=story.file != story.path)
    if story.fixes and not _expects_to_fail(story):
        yield from _fix("smallest fix", story.fixes[0], paint)


def _fix(title: str, fix: "Fix", paint: Paint) -> Iterator[str]:
    yield f"  {paint(title, 'green')}: {fix.effect}"
    for line in fix.todo:
        yield f"    + {clean(line, limit=300)}"


def _expects_to_fail(story: StoryResult) -> bool:
    return any(finding.severity == "note" and finding.code in _THIN for finding in story.findings)


def _verdict(card: ScoreCard, paint: Paint) -> Iterator[str]:
    if isinstance(card.quadrant, Unscored):
        yield f"  {paint('no verdict', 'yellow')}: {clean(card.quadrant.reason, limit=300)}"
    else:
        words, colour = _VERDICT[card.quadrant]
        yield f"  {paint(words, colour)}{' (uncalibrated profile: cosy)' if card.policy.profile == 'cosy' else ''}"
    yield f"  {paint(details(card), 'dim')}"


def details(card: ScoreCard) -> str:
    """The figures on one line: "LPI 0.93 (RTN 0.82, MV 1.00, UCR 1.00, TH 1.00), PCV 231, campaign"."""
    gate, needed = card.policy.lpi_gate, card.policy.pcv_threshold
    parts = ", ".join(f"{name.upper()} {_figure(value)}" for name, value in card.components.items())
    head = f"LPI {_figure(card.lpi, gate)} ({parts})"
    if isinstance(card.pcv, Unscored):
        return f"{head}, PCV unscored"
    return f"{head}, PCV {decimal(card.pcv, needed, places=0)} ({decimal(needed, needed, places=0)} needed), {card.tier} tier"


def _figure(value: Fraction | Unscored, against: Fraction | None = None, *, places: int = 2) -> str:
    return "unscored" if isinstance(value, Unscored) else decimal(value, against, places=places)


def _finding(finding: Finding, paint: Paint, *, column: bool) -> Iterator[str]:
    where = f"line {finding.line}" if finding.quote else "story"
    if finding.quote and column:  # a whole story may be on one line of another file
        where += f", column {finding.column}"
    yield f"  {paint(finding.severity, _COLOUR[finding.severity])} {where}: {clean(finding.message, limit=400)}  {paint(f'[{finding.code}]', 'dim')}"
    if finding.quote:
        yield f"      “{clean(' '.join(finding.quote.split()), limit=_QUOTE_WIDTH)}”"
    if finding.against:
        yield f"      against {clean(' '.join(finding.against.split()), limit=_QUOTE_WIDTH)}"


def _summary(result: CheckResult, paint: Paint) -> str:
    count = result.summary
    stories = counted(count["stories"], "story", "stories")
    said = {
        "passed": "as it should be",
        "failed": "not as it should be",
        "unread": "not read",
        "unscored": "not scored",
    }
    parts = [f"{count[name]} {words}" for name, words in said.items() if count[name]]
    thin = sum(
        story.holds and any(f.severity == "warning" and f.code in _THIN for f in story.findings)
        for story in result.stories
    )
    if thin:
        parts.append(
            f'{thin} below the gate, which is a warning (fail-on = ["gate"] in ludic.toml makes it an error)'
        )
    if result.errors:
        parts.append(f"{counted(len(result.errors), 'file', 'files')} cannot be used")
    return paint(f"{stories}: {', '.join(parts)}", "green" if result.exit_code == 0 else "red")


def score_text(card: ScoreCard, fixes: "tuple[Fix, ...]" = (), *, paint: Paint = plain) -> Iterator[str]:
    """Yield the lines of `ludic score`: the figures, the counts behind them, a row for each event, the fixes."""
    yield from _verdict(card, paint)
    counts = card.counts
    yield f"  people with unfinished business {counts.active}; open threads {sum(counts.tiers)} ({counts.tiers[0]} urgent); goals pursued {counts.goals}; left unexplained {'?' if counts.holes is None else counts.holes} of {len(card.mysteries)}"
    for row in card.events:
        share = (
            ""
            if row.counted == row.raw
            else f", counts {decimal(row.counted, places=0)}: two as grave are stronger"
        )
        i, g, v, d = row.dimensions
        yield f"  {row.phase} {clean(row.id)}: {decimal(row.raw, places=0)} (immediacy {i}, gravity {g}, linkage {v}, divergence {d}){share}"
    if not isinstance(card.gate, Unscored):
        yield f"  gate: {'passed' if card.gate.passed else '; '.join(card.gate.reasons)}"
    for fix in fixes:
        yield from _fix("fix", fix, paint)


def advise_text(result: CheckResult, *, paint: Paint = plain) -> Iterator[str]:
    """Yield the lines of `ludic advise`: for each story every smallest fix, or why there is none."""
    for story in result.stories:
        yield paint(clean(story.path.as_posix(), limit=400), "bold")
        said = why_no_fix(story)
        if said:
            yield f"  {clean(said, limit=600)}"
        for fix in story.fixes:
            yield from _fix("fix", fix, paint)


def why_no_fix(story: StoryResult) -> str:
    """Why there is nothing to advise, or nothing."""
    if story.fixes:
        return ""
    if story.unscored:
        return story.unscored.reason
    return "ready to play; nothing to add" if story.plays else "out of reach of a few changes"


def agree_text(found: "Agreement") -> Iterator[str]:
    """Yield the lines of `ludic agree`."""
    yield f"{'':<10} {'A':>4} {'B':>4} {'both':>5} {'same answers':>13}   F1"
    for row in found.kinds:
        f1 = "–" if row.f1 is None else f"{float(row.f1):.2f}"
        same = f"{row.same} of {row.matched}" if row.matched else "–"
        yield f"{row.kind:<10} {row.first:>4} {row.second:>4} {row.matched:>5} {same:>13}   {f1}"
    yield f"A: {details(found.first)}"
    yield f"B: {details(found.second)}"
