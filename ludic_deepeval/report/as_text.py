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
    from ludic_deepeval.stability import Interval

Paint = Callable[[str, str], str]
"""Takes a text and a colour's name."""

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
            yield from story_text(story, paint)
            yield ""
    yield paint(summary_text(result), "green" if result.exit_code == 0 else "red")


def story_text(story: StoryResult, paint: Paint = plain) -> Iterator[str]:
    """Yield the lines of one story in `ludic check`."""
    path = paint(clean(story.path.as_posix(), limit=400), "bold")
    if not isinstance(story.outcome, Scored):
        yield f"{path}: {paint(clean(story.outcome.reason, limit=600), 'yellow')}"
    else:
        yield path + (f"  {clean(story.title)}" if story.title != story.id else "")
        yield from _verdict(story.outcome.value.card, paint)
    for finding in story.findings:
        if finding.code not in {"unread", "stale"} and finding.status != "known":
            yield from finding_text(finding, paint, column=story.file != story.path)
    known = sum(finding.status == "known" for finding in story.findings)
    if known:
        known_findings = counted(known, "finding", "findings")
        yield f"  {paint(f'{known_findings} in the baseline', 'dim')}"
    if wants_fix(story):
        yield from _fix("smallest fix", story.fixes[0], paint)


def _fix(title: str, fix: "Fix", paint: Paint) -> Iterator[str]:
    yield f"  {paint(title, 'green')}: {fix.effect}"
    for line in fix.todo:
        yield f"    + {clean(line, limit=300)}"


def wants_fix(story: StoryResult) -> bool:
    """Whether there is a fix to show: not where the story is expected to be thin."""
    thin = any(finding.severity == "note" and finding.code in _THIN for finding in story.findings)
    return not thin and bool(story.fixes)


def verdict_words(card: ScoreCard) -> str:
    """How a story plays, in a writer's words."""
    if isinstance(card.quadrant, Unscored):
        return "no verdict"
    said = card.policy.words[f"verdict-{card.quadrant}"]
    return said + (f" ({caveat})" if (caveat := card.policy.caveat) else "")


def _verdict(card: ScoreCard, paint: Paint) -> Iterator[str]:
    words = paint(verdict_words(card), "green" if card.quadrant == "campaign-ready" else "yellow")
    why = f": {clean(card.quadrant.reason, limit=300)}" if isinstance(card.quadrant, Unscored) else ""
    yield f"  {words}{why}"
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


def finding_text(finding: Finding, paint: Paint = plain, *, column: bool = False) -> Iterator[str]:
    """Yield the lines of one finding; with its column where a whole story may be on one line of another file."""
    where = f"line {finding.line}" if finding.quote else "story"
    if finding.quote and column:
        where += f", column {finding.column}"
    yield f"  {paint(finding.severity, _COLOUR[finding.severity])} {where}: {clean(finding.message, limit=400)}  {paint(f'[{finding.code}]', 'dim')}"
    if finding.quote:
        yield f"      “{clean(' '.join(finding.quote.split()), limit=_QUOTE_WIDTH)}”"
    if finding.against:
        yield f"      against {clean(' '.join(finding.against.split()), limit=_QUOTE_WIDTH)}"


def summary_text(result: CheckResult) -> str:
    """How many stories there are, and how they fare, on one line."""
    if not result.stories and not result.errors:
        return "no story to check"
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
    if broken := sum(story.breaks_lore for story in result.stories):
        parts.append(f"{broken} against the Story Bible")
    if thin:
        parts.append(
            f'{thin} below the gate, which is a warning (fail-on = ["gate"] in ludic.toml makes it an error)'
        )
    if result.errors:
        parts.append(f"{counted(len(result.errors), 'file', 'files')} cannot be used")
    return f"{stories}: {', '.join(parts)}"


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


def explain_text(code: str | None, *, paint: Paint = plain) -> Iterator[str]:
    """Yield the lines of `ludic explain`: all codes, or one at length."""
    from ludic_deepeval.codes import CODES  # noqa: PLC0415  # for this command alone
    from ludic_deepeval.explain import EXPLANATIONS  # noqa: PLC0415

    if code is None:
        for name, (severity, what) in CODES.items():
            yield f"{paint(f'{severity:<8}', _COLOUR[severity])} {name:<19} {what}"
        return
    severity, what = CODES[code]
    why, example, mend = EXPLANATIONS[code]
    yield f"{paint(code, 'bold')}: {what} ({paint(severity, _COLOUR[severity])} by default)"
    from textwrap import wrap  # noqa: PLC0415  # for this command alone

    for title, text in (("Why it matters", why), ("For example", example), ("To mend it", mend)):
        yield ""
        yield from wrap(f"{title}: {text}", 100)


def agree_text(found: "Agreement") -> Iterator[str]:
    """Yield the lines of `ludic agree`."""
    yield f"{'':<10} {'A':>4} {'B':>4} {'both':>5} {'same answers':>13}   F1"
    for row in found.kinds:
        f1 = "–" if row.f1 is None else f"{float(row.f1):.2f}"
        same = f"{row.same} of {row.matched}" if row.matched else "–"
        yield f"{row.kind:<10} {row.first:>4} {row.second:>4} {row.matched:>5} {same:>13}   {f1}"
    yield f"A: {details(found.first)}"
    yield f"B: {details(found.second)}"


def interval_text(row: "Interval") -> str:
    """A figure over several readings."""
    spread = f"{row.minimum:.3g} to {row.maximum:.3g}, mean {row.mean:.3g}"
    if row.low is None or row.high is None:
        return f"{spread} (one reading)"
    return f"{spread} (95% t-interval of the mean: {row.low:.3g} to {row.high:.3g})"
