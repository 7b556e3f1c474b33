"""What `worth humans report` says: lines for a terminal, and Markdown."""

from collections.abc import Iterator

from ludic_deepeval.errors import clean
from worth_deepeval.diagnosis.markdown import md
from worth_deepeval.diagnosis.profiles import rate_text
from worth_deepeval.diagnosis.tables_runs import Table, number, spread_text
from worth_deepeval.episode import Sheet
from worth_deepeval.reference import Reference


def reference_text(sheet: Sheet, found: Reference) -> Iterator[str]:
    """Yield lines for people."""
    people = found.people
    yield f"{clean(sheet.episode.title)} ({found.episode}): {people.players:,} players, each once; models under {clean(found.condition)}"
    yield found.note
    yield f"players: {number(people.total.mean, 1)} points (SD {number(people.total.sd, 1)}); below 0: {rate_text(people.negative)}"
    if people.quantiles:
        yield "  " + ", ".join(f"{percent} % at most {value:g}" for percent, value in people.quantiles)
    for one in found.models:
        runs = ", ".join(map(str, one.totals[:20])) or "none scored"
        yield f"{clean(one.model)}: {runs} ({len(one.totals)} of {one.runs} runs scored)"
        if one.mean is not None:
            yield f"  mean {one.mean:.1f}; players who score at most that: {rate_text(one.players_at_most)}"
    yield ""
    for each in found.seen:
        counts = ", ".join(f"{clean(model)} {count}/{of}" for model, count, of in each.models)
        yield f"{clean(each.name, limit=300)}: players {rate_text(each.players)}; {counts}"
    if found.skipped:
        yield f"left out, of other episodes: {found.skipped} rows"


def reference_markdown(sheet: Sheet, found: Reference) -> str:
    """Return the same as Markdown."""
    lines = [
        f"# {md(sheet.episode.title)} ({md(found.episode)}): people, and models beside them",
        "",
        found.note,
    ]
    for title, head, rows in _tables(found):
        lines += ["", f"## {md(title)}", "", f"| {' | '.join(map(md, head))} |", f"|{' --- |' * len(head)}"]
        lines += [f"| {' | '.join(md(cell, 600) for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _tables(found: Reference) -> Iterator[Table]:
    people = found.people
    yield (
        "Players",
        [
            "Players",
            "Total (SD)",
            "Sentences (SD)",
            "People (SD)",
            "Below 0",
            *(f"{one} % at most" for one, _ in people.quantiles),
        ],
        [
            [
                str(people.players),
                spread_text(people.total),
                spread_text(people.clue),
                spread_text(people.participant),
                rate_text(people.negative),
                *(f"{value:g}" for _, value in people.quantiles),
            ]
        ],
    )
    yield (
        "How players' points are spread",
        ["Points", "Players"],
        [[f"{one.low} to {one.high}", rate_text(one.runs)] for one in people.histogram],
    )
    yield (
        "Models beside them",
        ["Model", "Scored", "Totals", "Mean", "Players who score at most the mean"],
        [
            [
                one.model,
                f"{len(one.totals)}/{one.runs}",
                ", ".join(map(str, one.totals[:20])),
                number(one.mean),
                rate_text(one.players_at_most),
            ]
            for one in found.models
        ],
    )
    models = [one.model for one in found.models]
    yield (
        "What they do",
        ["What", "Players", "Models in which some run does", *models],
        [
            [
                one.name,
                rate_text(one.players),
                f"{one.in_models.count}/{one.in_models.of}",
                *(f"{count}/{of}" for _, count, of in one.models),
            ]
            for one in found.seen
        ],
    )
