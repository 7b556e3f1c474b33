"""The style and scripts of the forms, and the page that holds them: one file that loads nothing."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ludic_deepeval.report.page.document import document
from ludic_deepeval.report.page.markup import Attribute, Html, el


def page(title: str, lang: str, scripts: tuple[str, ...], *parts: str, **data: Attribute) -> str:
    """Return a whole document whose Content-Security-Policy allows its own style and script and nothing else.

    Args:
        title: The document's title.
        lang: The language of its words.
        scripts: The names of the scripts here, in their order; they run as one.
        parts: What stands in the body, escaped unless it is markup.
        data: Attributes of the body, which the scripts read.
    """
    script = Html("\n".join(_own(name) for name in scripts))
    return document(title, _own("form.css"), *parts, script=script, lang=lang, **data)


def bar(words: Mapping[str, str], who: str, count: int) -> Html:
    """Return the bar of a form: who fills it in, how far it is, and the buttons that load and save it."""
    return el(
        "div",
        el("span", words["you"], " ", el("b", who), class_="soft"),
        el("progress", max=count, value=0, aria_labelledby="count"),
        el("span", id="count"),
        el("span", role="status", aria_live="polite"),
        el(
            "span",
            el(
                "label",
                words["load"],
                el("input", type="file", accept=".csv,text/csv", id="load"),
                class_="button",
            ),
            el("button", words["save"], type="button", class_="main", id="save"),
            class_="end",
        ),
        class_="bar",
    )


@cache
def _own(name: str) -> Html:
    return Html((Path(__file__).parent / name).read_text(encoding="utf-8"))
