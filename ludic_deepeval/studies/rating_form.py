"""The forms that raters fill in: a page and a CSV for each, with the prose and a code, and nothing else of a story (§5.7).

A form is made from what `Blinded` holds, so that a score, a path or a cell cannot get into it: it is not there.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ludic_deepeval.files import make_folder, write_atomic
from ludic_deepeval.report.page.language import language_of
from ludic_deepeval.report.page.markup import Html, el, text
from ludic_deepeval.studies.pages import bar, page
from ludic_deepeval.studies.rating_key import RatingKey
from ludic_deepeval.studies.rating_words import ASKED, PAGE, QUESTIONS, SCALE, Language
from ludic_deepeval.studies.sheets import require_no_forms

COLUMNS: Final = ("form", "rater", "item", *QUESTIONS, "comment")
MAX_COMMENT: Final = 1000


@dataclass(frozen=True)
class Blinded:
    """What a rater is given.

    Attributes:
        form: The form's code.
        rater: The rater's code.
        items: Each item's code and prose, in the rater's order.
        language: Of the questions.
    """

    form: str
    rater: str
    items: tuple[tuple[str, str], ...]
    language: Language


def blinded(key: RatingKey, prose: Mapping[str, str]) -> Iterator[Blinded]:
    """Yield what each rater is given.

    Args:
        key: Who rates what.
        prose: The text of each item, by its code.
    """
    for one in key.raters:
        yield Blinded(key.form, one.rater, tuple((code, prose[code]) for code in one.items), key.language)


def form_html(form: Blinded) -> str:
    """Return the page of a rater: one file that works from a disk, keeps the answers and saves them as CSV."""
    words = PAGE[form.language]
    count = len(form.items)
    shown = {name: words[name] for name in ("rated", "all", "saved", "loaded", "foreign", "memory")}
    return page(
        words["title"],
        form.language,
        ("form.js", "rating.js"),
        el("a", words["skip"], href="#items", class_="skip"),
        el(
            "header",
            el("h1", words["title"]),
            el("p", words["intro"].format(count=count)),
            el("p", words["keeping"]),
            el("p", words["keys"], class_="soft"),
            el("noscript", el("p", el("b", words["noscript"]))),
        ),
        bar(words, form.rater, count),
        el("main", *(_item(form, at, words) for at in range(count)), id="items"),
        el(
            "nav",
            el(
                "ol",
                *(el("li", el("button", str(at + 1), type="button")) for at in range(count)),
                class_="list",
            ),
            aria_label=words["list"],
        ),
        data_form=form.form,
        data_who=form.rater,
        **{f"data_{name}": value for name, value in shown.items()},
    )


def _item(form: Blinded, at: int, words: Mapping[str, str]) -> Html:
    code, prose = form.items[at]
    count = len(form.items)
    return el(
        "section",
        el(
            "h2",
            f"{words['story']} {at + 1} {words['of']} {count}",
            " ",
            el("code", code, class_="soft"),
            tabindex="-1",
        ),
        el("div", *_paragraphs(prose), class_="prose", lang=language_of(prose), dir="auto"),
        el(
            "div",
            *(_question(form.language, code, name) for name in QUESTIONS),
            el(
                "label",
                el("span", words["comment"], class_="soft"),
                el("textarea", maxlength=MAX_COMMENT, name=f"{code}-comment", autocomplete="off"),
            ),
            el(
                "div",
                el("button", words["back"], type="button", class_="back", disabled=at == 0),
                el("button", words["next"], type="button", class_="next", disabled=at == count - 1),
                class_="steps",
            ),
            class_="questions",
        ),
        class_="item",
        data_item=code,
        hidden=at > 0,
    )


def _paragraphs(prose: str) -> Iterator[Html]:
    for part in re.split(r"\n\s*\n", prose):
        if part.strip():
            yield el("p", text(part.strip("\n")), dir="auto")


def _question(language: Language, code: str, name: str) -> Html:
    asked, low, high = ASKED[language][name]  # type: ignore[index]  # a name of QUESTIONS
    first, last = SCALE
    marks = (
        el(
            "label",
            el(
                "input",
                type="radio",
                name=f"{code}-{name}",
                value=value,
                data_q=name,
                autocomplete="off",
                aria_label={first: f"{value}, {low}", last: f"{value}, {high}"}.get(value, str(value)),
            ),
            el("span", str(value), aria_hidden="true"),
        )
        for value in range(first, last + 1)
    )
    return el(
        "fieldset",
        el("legend", asked),
        el("div", *marks, class_="scale"),
        el(
            "div",
            el("span", f"{first}: {low}"),
            el("span", f"{last}: {high}"),
            class_="ends",
            aria_hidden="true",
        ),
        data_q=name,
    )


def form_csv(form: Blinded) -> str:
    """Return the sheet of a rater: a row for each item, its answers empty. The prose stands in `form_text`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([form.form, form.rater, code, *("" for _ in QUESTIONS), ""] for code, _ in form.items)
    return out.getvalue()


def form_text(form: Blinded) -> str:
    """Return what belongs to the sheet: the questions and the prose of each item, as plain text."""
    words = PAGE[form.language]
    first, last = SCALE
    parts = [f"{words['title']}: {words['you']} {form.rater}", words["intro"].format(count=len(form.items))]
    for name in QUESTIONS:
        asked, low, high = ASKED[form.language][name]
        parts.append(f"{name}: {asked}  {first} = {low}, {last} = {high}")
    for at, (code, prose) in enumerate(form.items, start=1):
        parts += [
            f"{'=' * 20} {words['story']} {at} {words['of']} {len(form.items)}: {code} {'=' * 20}",
            prose,
        ]
    return "\n\n".join(parts) + "\n"


def write_forms(key: RatingKey, prose: Mapping[str, str], folder: Path) -> list[Path]:
    """Write each rater's page, sheet and text into a folder; return the files.

    Raises:
        InputError: The folder cannot be made or a file not written.
    """
    require_no_forms(folder, "rating")
    make_folder(folder)
    written = []
    for form in blinded(key, prose):
        for ending, made in (("html", form_html(form)), ("csv", form_csv(form)), ("txt", form_text(form))):
            path = folder / f"rating-{form.rater}.{ending}"
            write_atomic(path, made)
            written.append(path)
    return written
