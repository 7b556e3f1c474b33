"""What a story holds, item by item, each with the way to its words."""

from collections.abc import Iterator

from ludic_deepeval.judging import Reading
from ludic_deepeval.ledger import PHASE_NAMES, Event, Extracted, Goal, Hook, Mystery, Npc
from ludic_deepeval.report.as_text import counted
from ludic_deepeval.report.page.markup import Html, el, join, line
from ludic_deepeval.report.page.places import Places, key_of, label_of
from ludic_deepeval.report.page.words import KINDS, TIERS
from ludic_deepeval.text import Prose


def inventory_of(reading: Reading, places: Places, prose: Prose) -> Html:
    """Return a list for each kind of thing, closed until asked for."""
    ledger = reading.ledger
    holes = {row.id: row.hole for row in reading.card.mysteries}
    counts = [
        counted(len(items), kind.one, kind.many)
        for name, kind in KINDS.items()
        if (items := getattr(ledger, name))
    ]
    groups: list[Html] = []
    for name, kind in KINDS.items():
        items = getattr(ledger, name)
        if items:
            groups.append(
                join(
                    el("h5", kind.many.capitalize()),
                    el(
                        "ul",
                        *(
                            _item(item, key_of(name, at), kind.letter, holes, places, prose)
                            for at, item in enumerate(items)
                        ),
                    ),
                )
            )
    groups += _log(reading)
    return el(
        "details",
        el("summary", el("h4", f"What is in it: {', '.join(counts) or 'nothing that was marked'}")),
        *groups,
        class_="inventory",
    )


def _item(
    item: Extracted, key: str, letter: str, holes: dict[str, bool | None], places: Places, prose: Prose
) -> Html:
    said = Html("; ".join(line(part) for part in _facts(item, holes)))
    ways = [
        el("a", f"line {prose.place(evidence.start).line}", href=address)
        for number, evidence in enumerate(item.evidence, start=1)
        if (address := places.words(key, number))
    ]
    return el(
        "li",
        el("span", letter, class_=f"t {letter.lower()}", aria_hidden="true"),
        " ",
        el("b", line(label_of(item)), dir="auto"),
        el("span", " – ", said, class_="facts") if said else "",
        join(" · ", Html(", ".join(ways))) if ways else "",
        id=f"{places.prefix}-{key}",
    )


def _facts(item: Extracted, holes: dict[str, bool | None]) -> Iterator[str]:
    """What the reader noted about an item, in a few words each."""
    match item:
        case Npc():
            yield item.status if item.status != "unknown" else "nobody knows whether alive"
            if item.tie != "other":
                yield item.tie
            if item.unresolved:
                yield "unfinished business"
        case Hook():
            yield "open" if item.open else "closed"
            yield TIERS[item.tier]
        case Goal():
            yield "pursued" if item.proactive else "not pursued"
        case Mystery():
            yield {True: "left unexplained", False: "tells too much to count", None: "cannot be measured"}[
                holes.get(item.id)
            ]
        case Event():
            yield f"in {PHASE_NAMES[item.phase]}"
            if item.asserted_by:
                yield f"as {item.asserted_by} tells it"


def _log(reading: Reading) -> Iterator[Html]:
    log = reading.ledger.background_log
    if log:
        yield el("h5", "Off the page, by the background log")
        yield el(
            "ul",
            *(
                el(
                    "li",
                    el("b", line(entry.subject), dir="auto"),
                    f": {entry.kind}, in {PHASE_NAMES[entry.phase]}: ",
                    el("span", line(entry.text), dir="auto"),
                )
                for entry in log
            ),
        )
