"""What a writer reads in a terminal, in a writer's words; the figures stand in a details line."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Final

from ludic_deepeval.advice import Fix, cheapest_fixes
from ludic_deepeval.check import CheckResult, StoryResult
from ludic_deepeval.errors import clean
from ludic_deepeval.findings import Finding
from ludic_deepeval.outcome import Scored, Unscored
from ludic_deepeval.scoring import ScoreCard, decimal

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
_COLOUR: Final = {"error": "red", "warning": "yellow", "note": "cyan"}
_QUOTE_WIDTH: Final = 160


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
    yield paint(clean(story.path.as_posix(), limit=400), "bold") + (
        f"  {clean(story.title)}" if story.title != story.id else ""
    )
    if not isinstance(story.outcome, Scored):
        yield f"  {paint(clean(story.outcome.reason, limit=400), 'yellow')}"
    else:
        reading = story.outcome.value
        yield from _verdict(reading.card, paint)
    for finding in story.findings:
        if finding.code not in {"unread", "stale"}:
            yield from _finding(finding, paint)
    if isinstance(story.outcome, Scored) and not _expects_to_fail(story):
        fixes = cheapest_fixes(
            story.outcome.value.ledger, story.outcome.value.card.policy, names=story.outcome.value.names
        )
        if fixes:
            yield f"  {paint('smallest fix', 'green')}  {clean(str(fixes[0]), limit=600)}"


def _expects_to_fail(story: StoryResult) -> bool:
    return any(
        finding.severity == "note" and finding.code in {"few-hooks", "flat-events"}
        for finding in story.findings
    )


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
    tier = card.tier if isinstance(card.tier, str) else "no tier"
    return f"LPI {_figure(card.lpi, gate)} ({parts}), PCV {_figure(card.pcv, needed, places=0)} of {decimal(needed, places=0)}, {tier} tier"


def _figure(value: Fraction | Unscored, against: Fraction | None = None, *, places: int = 2) -> str:
    return "unscored" if isinstance(value, Unscored) else decimal(value, against, places=places)


def _finding(finding: Finding, paint: Paint) -> Iterator[str]:
    where = f"line {finding.line}" if finding.quote else "story"
    yield f"  {paint(finding.severity, _COLOUR[finding.severity])} {where}: {clean(finding.message, limit=400)}  {paint(f'[{finding.code}]', 'dim')}"
    if finding.quote:
        yield f"      “{clean(' '.join(finding.quote.split()), limit=_QUOTE_WIDTH)}”"


def _summary(result: CheckResult, paint: Paint) -> str:
    count = result.summary
    stories = "1 story" if count["stories"] == 1 else f"{count['stories']} stories"
    parts = [f"{count['passed']} as expected"]
    parts += [
        f"{count[name]} {said}"
        for name, said in (("failed", "not"), ("unread", "not read"), ("unscored", "not scored"))
        if count[name]
    ]
    if result.errors:
        parts.append(
            "1 file cannot be used"
            if len(result.errors) == 1
            else f"{len(result.errors)} files cannot be used"
        )
    return paint(f"{stories}: {', '.join(parts)}", "green" if result.exit_code == 0 else "red")


def score_text(card: ScoreCard, fixes: tuple[Fix, ...] = (), *, paint: Paint = plain) -> Iterator[str]:
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
        yield f"  {paint('fix', 'green')}  {clean(str(fix), limit=600)}"
