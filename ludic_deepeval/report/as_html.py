"""One HTML page that needs nothing but itself: every story's words with everything marked where it is.

Nothing is loaded from anywhere, and the page's own Content-Security-Policy forbids it. All that stories say is text.
The same result gives the same bytes.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from ludic_deepeval.check import CheckResult, StoryResult
from ludic_deepeval.outcome import Scored
from ludic_deepeval.report.page.document import document
from ludic_deepeval.report.page.figures import figures_of
from ludic_deepeval.report.page.inventory import inventory_of
from ludic_deepeval.report.page.language import language_of
from ludic_deepeval.report.page.markup import Html, el, line
from ludic_deepeval.report.page.notes import notes_of
from ludic_deepeval.report.page.overview import badge, errors_of, headline, overview_of, table_of
from ludic_deepeval.report.page.places import places_of
from ludic_deepeval.report.page.prose import prose_of
from ludic_deepeval.report.page.words import KINDS, clashes_of, summary, verdict_of

_FEW: Final = 3  # stories that stand open from the start


def check_html(result: CheckResult) -> str:
    """Return the page.

    Args:
        result: What was found.

    Returns:
        A whole HTML document, the same for the same result.
    """
    title = headline(result)
    return document(f"ludic check: {title}", _own("page.css"), *_body(result, title), script=_own("page.js"))


@cache
def _own(name: str) -> Html:
    """Return the page's own style or script, whose hash the policy names."""
    return Html((Path(__file__).parent / "page" / name).read_text(encoding="utf-8"))


def _body(result: CheckResult, title: str) -> Iterator[Html]:
    has_stories = bool(result.stories)
    yield el("a", "Skip to the stories", href="#stories" if has_stories else "#main", class_="skip")
    links = (("#where", "Where they stand"), ("#all", "All stories"), ("#stories", "The stories"))
    yield el(
        "header",
        el("p", "ludic check", class_="kicker"),
        el("h1", title),
        el(
            "nav",
            *(el("a", name, href=address) for address, name in links if has_stories),
            aria_label="On this page",
        ),
        id="top",
    )
    few = len(result.stories) <= _FEW
    parts = [errors_of(result)]
    if has_stories:
        stories = (_story(number, story, few=few) for number, story in enumerate(result.stories, start=1))
        parts += [
            overview_of(result),
            table_of(result),
            el(
                "section",
                el("h2", "The stories", id="stories"),
                _legend(),
                *stories,
                aria_labelledby="stories",
                class_="all",
            ),
        ]
    yield el("main", *parts, id="main")
    yield el("footer", el("p", el("a", "Back to the top", href="#top")))


def _legend() -> Html:
    """What the marks mean, each with a switch that hides it; it works without the script."""
    switches = [
        _switch("f", "1", "findings"),
        *(_switch(kind.css, kind.letter, kind.many) for kind in KINDS.values()),
    ]
    return el(
        "fieldset",
        el("legend", "Marked in the text", class_="vh"),
        *switches,
        class_="legend",
        id="legend",
    )


def _switch(css: str, tag: str, name: str) -> Html:
    sample = el("mark", name, class_="f fe" if css == "f" else f"{css}0")
    return el(
        "label",
        el("input", type="checkbox", id=f"show-{css}", checked=True),
        el("span", tag, class_=f"t {'f fe' if css == 'f' else css}", aria_hidden="true"),
        sample,
    )


def _story(number: int, story: StoryResult, *, few: bool) -> Html:
    prefix = f"s{number}"
    body = story.story.prose.body
    lang = language_of(body)
    places = places_of(story, prefix)
    verdict = verdict_of(story)
    clashes = clashes_of(story)
    title = el(
        "h3",
        el("span", f"{number}. "),
        el("span", line(story.title), lang=lang, dir="auto"),
        id=f"{prefix}-title",
    )
    head = el(
        "summary",
        title,
        el(
            "span",
            badge(verdict.name, verdict.css),
            badge(clashes, "clash") if clashes else "",
            el("small", rest) if (rest := ", ".join(summary(story))) else "",
            class_="state",
        ),
    )
    below: list[Html] = []
    if isinstance(story.outcome, Scored):
        below = [
            inventory_of(story.outcome.value, places, story.story.prose),
            figures_of(story.outcome.value, story.title),
        ]
    inside = el(
        "div",
        el("p", el("code", line(story.path.as_posix())), f" · {story.profile}", class_="path", dir="auto"),
        el("div", notes_of(story, places, lang), prose_of(body, places), class_="sides"),
        *below,
        el("p", el("a", "All stories", href="#all"), class_="back"),
        class_="inside",
        id=prefix,
    )
    return el(
        "article",
        el("details", head, inside, open=few),
        aria_labelledby=f"{prefix}-title",
        class_="story",
    )
