"""The upper part of the page: how many stories stand how, the plane, and the table of all stories."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from ludic_deepeval.check import CheckResult, StoryResult
from ludic_deepeval.outcome import Scored, Unscored
from ludic_deepeval.report.as_text import counted
from ludic_deepeval.report.page.figures import figure
from ludic_deepeval.report.page.language import language_of
from ludic_deepeval.report.page.markup import Html, el, join, line
from ludic_deepeval.report.page.plane import Point, plane_of, points_of
from ludic_deepeval.report.page.words import (
    VERDICTS,
    clashes_of,
    contradictions,
    is_open,
    message_of,
    summary,
    told,
    verdict_of,
    wants_work,
)

_FIRST: Final = 6  # errors told beside the drawing


def headline(result: CheckResult) -> str:
    """Say in one line how the stories stand."""
    if not result.stories:
        return "No story could be read"
    total = counted(len(result.stories), "story", "stories")
    working = sum(map(wants_work, result.stories))
    if not working:
        return f"{total}, nothing to mend"
    return f"{total}, {working if working < len(result.stories) else 'all'} with something to do"


def overview_of(result: CheckResult) -> Html:
    """Return the plane beside the counts."""
    points = points_of(result.stories)
    return el(
        "section",
        el("h2", "Where they stand", id="where"),
        el("div", _figure(points) if points else "", _standing(result, points), class_="sides"),
        aria_labelledby="where",
        class_="overview",
    )


def _figure(points: list[Point]) -> Html:
    return el(
        "figure",
        plane_of(points),
        el(
            "figcaption",
            "Every story by how much it leaves open and how much presses on the next session. ",
            "A filled dot is ready to play, a ring is not yet; a frame around it says that the story contradicts itself. ",
            "The dashed lines are what the gate needs. Numbers are those of the table, and every dot leads to its story.",
            id="plane-says",
        ),
    )


def _standing(result: CheckResult, points: list[Point]) -> Html:
    """How many stories there are of each verdict, and which have no place on the plane."""
    verdicts = [verdict_of(story) for story in result.stories]
    rows = [
        el("li", el("b", str(verdicts.count(verdict))), " ", badge(verdict.name, verdict.css))
        for verdict in VERDICTS
        if verdict in verdicts
    ]
    clashing = sum(contradictions(told(story)) > 0 for story in result.stories)
    if clashing:
        words = "contradicts itself" if clashing == 1 else "contradict themselves"
        rows.append(el("li", el("b", str(clashing)), " ", badge(words, "clash")))
    placed = {point.number for point in points}
    rest = [number for number in range(1, len(result.stories) + 1) if number not in placed]
    missing = ", ".join(el("a", str(number), href=f"#s{number}") for number in rest)
    aside = el("p", "Without a place in the drawing: ", Html(missing), ".", class_="aside") if rest else ""
    return el("div", el("ul", *rows, class_="tally"), aside, *_first(result))


def _first(result: CheckResult) -> Iterator[Html]:
    """The errors that ask to be mended, from the first story on; the table has the rest."""
    errors = [
        (number, at, story, finding)
        for number, story in enumerate(result.stories, start=1)
        for at, finding in enumerate(told(story), start=1)
        if finding.fails
    ]
    if not errors:
        return
    yield el("h3", "Mend first")
    yield el(
        "ul",
        *(
            el(
                "li",
                el("a", line(message_of(finding)), href=f"#s{number}-f{at}", dir="auto"),
                el("small", f"{number}. ", line(story.title), dir="auto"),
            )
            for number, at, story, finding in errors[:_FIRST]
        ),
        class_="first",
    )
    if errors[_FIRST:]:
        yield el("p", f"And {len(errors) - _FIRST} more: see the table.", class_="aside")


def badge(words: str, css: str) -> Html:
    """A verdict in its frame."""
    return el("span", words, class_=f"badge {css}")


def errors_of(result: CheckResult) -> Html:
    """Return the files that could not be used, or nothing."""
    if not result.errors:
        return Html("")
    return el(
        "section",
        el("h2", "Files that cannot be used", id="unusable"),
        el("ul", *(el("li", line(error), dir="auto") for error in result.errors), class_="unusable"),
        aria_labelledby="unusable",
    )


def table_of(result: CheckResult) -> Html:
    """Return all stories as a table; the page's script sorts and filters it."""
    names = ("No.", "Story", "Verdict", "Left open", "Presses", "What is wrong", "Smallest fix")
    css = (None, None, None, "wide", "wide", None, "wide")
    head = el("tr", *(el("th", name, scope="col", class_=of) for name, of in zip(names, css, strict=True)))
    rows = (_row(number, story) for number, story in enumerate(result.stories, start=1))
    return el(
        "section",
        el("h2", "All stories", id="all"),
        _filters(),
        el(
            "table",
            el("caption", "Every story with its verdict and the first thing to do", class_="vh"),
            el("thead", head),
            el("tbody", *rows),
            id="table",
            class_="stories",
        ),
        aria_labelledby="all",
        class_="list",
    )


def _filters() -> Html:
    """Shown by the script, since without it they would do nothing."""
    options = (el("option", verdict.name, value=verdict.name) for verdict in VERDICTS)
    return el(
        "div",
        el("label", "Find ", el("input", type="search", id="find", autocomplete="off")),
        el(
            "label",
            "Verdict ",
            el("select", el("option", "any", value=""), *options, id="verdict"),
        ),
        el("label", el("input", type="checkbox", id="work"), " only with something to do"),
        el("span", "", id="shown", role="status"),
        class_="filters",
        id="filters",
        hidden=True,
    )


def _row(number: int, story: StoryResult) -> Html:
    verdict = verdict_of(story)
    lpi, pcv = _figures(story)
    order = VERDICTS.index(verdict)
    return el(
        "tr",
        el("td", str(number), data_s=number),
        el(
            "th",
            el(
                "a",
                line(story.title),
                href=f"#s{number}",
                dir="auto",
                lang=language_of(story.story.prose.body),
            ),
            el("small", line(story.path.as_posix()), dir="auto"),
            scope="row",
        ),
        el("td", badge(verdict.name, verdict.css), data_s=order),
        el("td", lpi[0], data_s=lpi[1], class_="wide figure"),
        el("td", pcv[0], data_s=pcv[1], class_="wide figure"),
        el("td", *_wrong(number, story), data_s=_weight(story)),
        el("td", line(_fix(story)), class_="wide", dir="auto"),
        data_v=verdict.name,
        data_w="1" if wants_work(story) else "0",
    )


def _figures(story: StoryResult) -> tuple[tuple[str, str], tuple[str, str]]:
    """LPI and PCV as they are shown and as they are sorted."""
    if not isinstance(story.outcome, Scored):
        return ("–", ""), ("–", "")
    card = story.outcome.value.card
    return (
        (figure(card.lpi, card.policy.lpi_gate), _exact(card.lpi)),
        (figure(card.pcv, card.policy.pcv_threshold, places=0), _exact(card.pcv)),
    )


def _exact(value: Fraction | Unscored) -> str:
    return "" if isinstance(value, Unscored) else f"{float(value):.9g}"


def _weight(story: StoryResult) -> int:
    """More of it comes first: contradictions and other errors before warnings."""
    weights = {"error": 10_000, "warning": 100, "note": 0}
    asking = sum(weights[finding.severity] for finding in story.findings if is_open(finding))
    return asking + len(story.findings)


def _wrong(number: int, story: StoryResult) -> Iterator[Html]:
    """The first finding that asks for something, and how many of which kind there are."""
    if story.unscored is not None:
        yield el("p", line(story.unscored.reason))
    first = next((pair for pair in enumerate(told(story), start=1) if is_open(pair[1])), None)
    if first is not None and story.unscored is None:
        yield el("a", line(message_of(first[1])), href=f"#s{number}-f{first[0]}", dir="auto")
    clashes = clashes_of(story)
    counts = [*([clashes] if clashes else []), *summary(story)]
    if counts:
        yield el("small", ", ".join(counts))
    elif story.unscored is None:
        yield join("nothing")


def _fix(story: StoryResult) -> str:
    """The smallest fix in a line, unless the story is meant to be as it is."""
    low = [finding for finding in told(story) if finding.code in {"few-hooks", "flat-events"}]
    if not story.fixes or not any(map(is_open, low)):
        return ""
    first, *rest = story.fixes[0].todo
    return f"{first}, and {len(rest)} more" if len(rest) > 1 else "; ".join((first, *rest))
