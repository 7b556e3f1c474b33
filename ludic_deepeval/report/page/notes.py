"""What stands beside the prose: what is wrong, where, and the smallest thing that would fix it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ludic_deepeval.check import StoryResult
from ludic_deepeval.findings import Finding
from ludic_deepeval.outcome import Scored
from ludic_deepeval.report.page.markup import Html, el, join, line
from ludic_deepeval.report.page.places import Places, key_of
from ludic_deepeval.report.page.words import SEVERITY, STATUS, is_open, message_of, told, verdict_of

if TYPE_CHECKING:
    from ludic_deepeval.advice import Fix
    from ludic_deepeval.advice_changes import Change

_LISTS: Final = {
    "reopen-tie": "npcs",
    "pursue-goal": "goals",
    "make-urgent": "hooks",
    "reopen-hook": "hooks",
    "blur-mystery": "mysteries",
    "answer-mystery": "mysteries",
    "raise-immediacy": "events",
    "raise-gravity": "events",
}


def notes_of(story: StoryResult, places: Places, lang: str) -> Html:
    """Return the column of notes."""
    findings = list(enumerate(told(story), start=1))
    asking = [pair for pair in findings if is_open(pair[1])]
    settled = [pair for pair in findings if not is_open(pair[1])]
    return el(
        "section",
        _standing(story),
        *_wrong(story, asking, places, lang),
        *_fixes(story, places),
        *_settled(settled, places, lang),
        class_="notes",
        aria_label="Notes",
    )


def _standing(story: StoryResult) -> Html:
    if story.unscored is not None:
        return el("p", line(story.unscored.reason), class_="standing todo")
    meaning = verdict_of(story).meaning
    if isinstance(story.outcome, Scored) and (caveat := story.outcome.value.card.policy.caveat):
        meaning += f" ({caveat[0].upper()}{caveat[1:]}.)"
    return el("p", meaning, class_="standing")


def _wrong(
    story: StoryResult, findings: list[tuple[int, Finding]], places: Places, lang: str
) -> Iterator[Html]:
    for severity, heading in SEVERITY.items():
        group = [pair for pair in findings if pair[1].severity == severity]
        if group:
            yield el("h4", heading.capitalize())
            yield _listed(group, places, lang)
    if story.state == "read" and not findings:
        yield el("p", "Nothing is wrong with what was read.", class_="fine")


def _listed(findings: list[tuple[int, Finding]], places: Places, lang: str) -> Html:
    return el("ol", *(_finding(number, one, places, lang) for number, one in findings), class_="findings")


def _finding(number: int, finding: Finding, places: Places, lang: str) -> Html:
    parts = [
        el("span", str(number), class_=f"n f{finding.severity[0]}"),
        "" if is_open(finding) else el("b", f"{STATUS[finding.status]}: "),
        el("span", line(message_of(finding)), dir="auto"),
        " ",
        el("code", line(finding.code)),
    ]
    if finding.reason:
        parts.append(el("p", el("b", "Why: "), el("span", line(finding.reason), dir="auto"), class_="why"))
    if finding.quote:
        parts.append(_quote(f"line {finding.line}", finding.quote, places.words(f"f{number}"), lang))
    if finding.against:
        where, _, quote = finding.against.partition(": ")
        quote = quote.removeprefix("“").removesuffix("”")
        parts.append(_quote(f"against {where}", quote, places.words(f"f{number}", 2), lang))
    return el("li", *parts, id=f"{places.prefix}-f{number}", value=number)


def _quote(where: str, quote: str, address: str | None, lang: str) -> Html:
    """Words of the prose, linked to where they stand if they do."""
    place = line(where)
    said = el("q", line(quote), lang=lang, dir="auto")
    if address is None:
        return el("p", el("span", place, class_="where"), " ", said, class_="quote")
    return el("p", el("a", el("span", place, class_="where"), " ", said, href=address), class_="quote")


def _fixes(story: StoryResult, places: Places) -> Iterator[Html]:
    fixes = story.fixes
    if not fixes:
        if story.plays is False:
            yield el("h4", "The smallest fix")
            yield el("p", "Out of reach of a few changes.")
        return
    meant = all(not is_open(one) for one in told(story) if one.code in {"few-hooks", "flat-events"})
    yield el("h4", "The smallest fix, should you want one" if meant else "The smallest fix")
    yield _fix(story, fixes[0], places)
    if fixes[1:]:
        more = f"{len(fixes) - 1} more that are as small" if len(fixes) > 2 else "One more that is as small"
        rest = (el("li", el("p", "Or:"), _fix(story, fix, places)) for fix in fixes[1:])
        yield el("details", el("summary", more), el("ul", *rest, class_="ways"), class_="more")


def _fix(story: StoryResult, fix: "Fix", places: Places) -> Html:
    steps: dict[str, list[Change]] = {}
    for change in fix.changes:
        steps.setdefault(change.text, []).append(change)
    items = (el("li", _step(story, changes, places)) for changes in steps.values())
    effect = fix.effect.replace("LPI", "left open (LPI)").replace("PCV", "presses (PCV)")
    return join(el("ul", *items, class_="todo"), el("p", f"Then: {effect}", class_="effect"))


def _step(story: StoryResult, changes: "list[Change]", places: Places) -> Html:
    first = changes[0]
    said = line(f"{len(changes)} × {first.text}" if len(changes) > 1 else first.text)
    address = _address(story, first, places)
    return el("a", said, href=address, dir="auto") if address else el("span", said, dir="auto")


def _address(story: StoryResult, change: "Change", places: Places) -> str | None:
    """Where the words of what is to be changed stand; None for what is to be added."""
    name = _LISTS.get(change.kind)
    if name is None or not isinstance(story.outcome, Scored):
        return None
    items = getattr(story.outcome.value.ledger, name)
    at = next((at for at, item in enumerate(items) if item.id == change.target), None)
    return None if at is None else places.words(key_of(name, at))


def _settled(findings: list[tuple[int, Finding]], places: Places, lang: str) -> Iterator[Html]:
    if findings:
        statuses = {finding.status for _, finding in findings}
        names = [name for status, name in STATUS.items() if status in statuses]
        yield el("h4", f"{' or '.join(names).capitalize()}: nothing to do")
        yield _listed(findings, places, lang)
