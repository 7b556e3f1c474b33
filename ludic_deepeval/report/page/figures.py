"""The figures of a story, plain words first, with the counts and events behind them."""

from collections.abc import Iterator
from fractions import Fraction

from ludic_deepeval.judging import Reading
from ludic_deepeval.ledger import PHASE_NAMES
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.report.as_text import counted
from ludic_deepeval.report.page.markup import Html, el, line
from ludic_deepeval.scoring import ScoreCard, decimal


def figures_of(reading: Reading, name: str) -> Html:
    """Return the tables, closed until asked for; `name` is the story's, for their captions."""
    card = reading.card
    parts: list[Html] = [_open(card, name)]
    if isinstance(card.pcv, Unscored):
        parts.append(el("p", line(f"What presses could not be measured: {card.pcv.reason}")))
    else:
        parts.append(_presses(reading, card.pcv, name))
    return el("details", el("summary", el("h4", "The figures behind it")), *parts, class_="figures")


def figure(value: Fraction | Unscored, against: Fraction | None = None, *, places: int = 2) -> str:
    """A figure with few digits, a dash when it could not be measured."""
    return "–" if isinstance(value, Unscored) else decimal(value, against, places=places)


def _row(*cells: str, css: str | None = None) -> Html:
    first, *rest = cells
    return el("tr", el("th", first, scope="row"), *(el("td", cell) for cell in rest), class_=css)


def _head(*names: str) -> Html:
    return el("thead", el("tr", *(el("th", name, scope="col") for name in names)))


def _open(card: ScoreCard, name: str) -> Html:
    counts, policy = card.counts, card.policy
    one, two, three = counts.tiers
    threads = one + two + three
    unexplained = "not measured" if counts.holes is None else f"{counts.holes} of {len(card.mysteries)}"
    people = counted(counts.active, "person", "people")
    tiers = f"{one} urgent, {two} to explore, {three} in the background"
    rows = (
        (
            "People with unfinished business, and threads that are open",
            f"{people}; {counted(threads, 'thread', 'threads')}: {tiers}",
            "RTN",
            card.rtn,
        ),
        ("Goals that are pursued", str(counts.goals), "MV", card.mv),
        ("Urgent threads among the open ones", f"{one} of {threads}", "UCR", card.ucr),
        ("Things left unexplained", unexplained, "TH", card.th),
    )
    body = [
        _row(words, found, short, figure(value), f"× {float(weight):g}")
        for (words, found, short, value), weight in zip(rows, policy.weights, strict=True)
    ]
    gate = policy.lpi_gate
    enough = f"{decimal(gate, gate)} is enough" if policy.lpi_threshold else "this profile asks for none"
    total = _row(
        "All together, of 1",
        enough,
        "LPI",
        figure(card.lpi, gate),
        "",
        css="total",
    )
    return el(
        "table",
        el("caption", "How much is left open ", el("span", line(name), class_="vh", dir="auto")),
        _head("What is counted", "Found", "Called", "Worth", "Weight"),
        el("tbody", *body, total),
    )


def _presses(reading: Reading, pcv: Fraction, name: str) -> Html:
    card = reading.card
    needed = card.policy.pcv_threshold
    total = el(
        "tr",
        el("th", f"All together ({card.tier} tier)", scope="row"),
        el("td", f"{decimal(needed, needed, places=0)} is enough", colspan=6),
        el("td", figure(pcv, needed, places=0), " ", el("abbr", "PCV", title="Potential Conflict Value")),
        class_="total",
    )
    return el(
        "table",
        el(
            "caption",
            "How much presses on the next session ",
            el("span", line(name), class_="vh", dir="auto"),
        ),
        _head("Event", "When", "Immediacy", "Gravity", "Linkage", "Divergence", "Worth", "Counts"),
        el("tbody", *_events(reading), total),
        class_="events",
    )


def _events(reading: Reading) -> Iterator[Html]:
    for event, row in zip(reading.ledger.events, reading.card.events, strict=True):
        counts = figure(row.counted, places=0)
        yield el(
            "tr",
            el("th", line(event.summary), scope="row", dir="auto"),
            el("td", PHASE_NAMES[event.phase]),
            *(el("td", str(value)) for value in row.dimensions),
            el("td", figure(row.raw, places=0)),
            el("td", counts if row.counted == row.raw else f"{counts}: two as grave are stronger"),
        )
