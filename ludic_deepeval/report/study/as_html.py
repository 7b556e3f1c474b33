"""A study's report as one HTML page: verdicts, tables, pictures. Nothing is loaded from anywhere; all that others wrote is text.

Each number says, where one points at it, by what recipe and from which lines of the store it comes.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ludic_deepeval.report.page.document import document
from ludic_deepeval.report.page.markup import Html, el, line
from ludic_deepeval.report.study import pictures
from ludic_deepeval.studies.findings import Findings
from ludic_deepeval.studies.numbers import Number
from ludic_deepeval.studies.tables import Entry, Table


def study_html(found: Findings) -> str:
    """Return the page: a whole HTML document, the same for the same store."""
    return document(line(f"{found.title}: what the study shows"), _style(), *_body(found))


@cache
def _style() -> Html:
    return Html(Path(__file__).with_name("study.css").read_text(encoding="utf-8"))


def _body(found: Findings) -> Iterator[Html]:
    environment = found.sidecar.environment
    code = (
        f"; code {environment.commit[:12]}{' (changed)' if environment.changed else ''}"
        if environment.commit
        else ""
    )
    yield el("a", "Skip to the verdicts", href="#hypotheses", class_="skip")
    yield el(
        "header",
        el("p", "ludic study report", class_="kicker"),
        el("h1", line(found.title)),
        el(
            "p",
            line(
                f"{len(found.data.rows)} of {found.data.trials} trials; frozen {found.sidecar.created}{code}"
            ),
        ),
        *(el("p", line(caution), class_="caution") for caution in found.cautions),
        el(
            "nav",
            *(el("a", line(table.title), href=f"#{table.id}") for table in found.tables),
            aria_label="Tables",
        ),
    )
    yield el("main", *_hypotheses(found), *_tables(found), *_log(found))
    yield el(
        "footer",
        el(
            "p",
            "Point at a number to see its recipe and its lines in trials.jsonl; report.json lists them all.",
        ),
    )


def _hypotheses(found: Findings) -> Iterator[Html]:
    if not found.verdicts:
        yield el("section", el("h2", "Hypotheses"), el("p", "None were set beforehand."), id="hypotheses")
        return
    items = []
    for one in found.verdicts:
        css = one.outcome.replace(" ", "-")
        missing = f" {one.missing} of its trials were not measured." if one.missing else ""
        items.append(
            el(
                "article",
                el("h3", line(one.hypothesis.id), " ", el("span", one.outcome, class_=f"badge {css}")),
                el("p", line(one.hypothesis.text)),
                el("p", line(f"{one.why}.{missing}"), class_="why"),
                el("p", *_named(one.numbers), class_="numbers") if one.numbers else "",
            )
        )
    yield el("section", el("h2", "Hypotheses"), *items, id="hypotheses")


def _named(numbers: tuple[tuple[str, Number], ...]) -> Iterator[Html]:
    for name, number in numbers:
        yield el("span", line(name), " ", _number(number), class_="pair")


def _number(number: Number) -> Html:
    return el("data", number.text, value=repr(number.value), title=line(number.source))


def _tables(found: Findings) -> Iterator[Html]:
    drawn = {
        "cells": pictures.plane(found),
        "interaction": pictures.interaction(found),
        "components": pictures.components(found),
        "cost": pictures.stages(found),
    }
    ranks = {f"ranks-{one.path.rpartition('.')[2]}": one for one in found.rankings}
    for table in found.tables:
        picture = pictures.critical(ranks[table.id]) if table.id in ranks else drawn.get(table.id)
        yield el(
            "section",
            el("h2", line(table.title), *([" ", el("small", line(table.like))] if table.like else [])),
            picture or "",
            _table(table) if table.rows else "",
            el("p", *_named(table.extra), class_="numbers") if table.extra else "",
            *(el("p", line(note), class_="note") for note in table.notes),
            id=table.id,
        )


def _table(table: Table) -> Html:
    numeric = [any(isinstance(row[at], Number) for row in table.rows) for at in range(len(table.columns))]
    head = el(
        "tr",
        *(
            el("th", line(column), scope="col", class_="number" if right else None)
            for column, right in zip(table.columns, numeric, strict=True)
        ),
    )
    rows = (el("tr", *(_entry(entry, first=at == 0) for at, entry in enumerate(row))) for row in table.rows)
    return el(
        "div", el("table", el("thead", head), el("tbody", *rows)), class_="wide", tabindex="0", role="region",
        aria_label=line(table.title),
    )  # fmt: skip


def _entry(entry: Entry, *, first: bool) -> Html:
    if isinstance(entry, Number):
        return el("td", _number(entry), class_="number")
    if entry is None:
        return el("td", "–", title="not measured", class_="number")
    return el("th", line(entry), scope="row") if first else el("td", line(entry))


def _log(found: Findings) -> Iterator[Html]:
    entries = [
        el(
            "li",
            line(f"{entry.kind} of {entry.date}, at {entry.trials} trials: {entry.reason}"),
            el("ul", *(el("li", line(change)) for change in entry.changes)) if entry.changes else "",
        )
        for entry in found.log
    ]
    body = el("ul", *entries) if entries else el("p", "None.")
    yield el("section", el("h2", "Amendments and deviations"), body, id="log")
    prompts = [
        el(
            "details",
            el("summary", line(f"{one.role}, version {one.version}, {one.sha256[:16]}")),
            el("pre", one.system + one.text),
        )
        for one in found.sidecar.prompts
    ]
    yield el("section", el("h2", "Prompts, verbatim"), *prompts, id="prompts")
