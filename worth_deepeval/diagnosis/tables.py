"""All tables of a report, in the order in which they are shown."""

from collections.abc import Iterator

from worth_deepeval.diagnosis.contrasts import Contrast
from worth_deepeval.diagnosis.profiles import p_text, rate_text
from worth_deepeval.diagnosis.tables_runs import Table, number, run_tables
from worth_deepeval.diagnosis.tables_story import people_tables, story_tables
from worth_deepeval.diagnostics import Diagnosis
from worth_deepeval.episode import Sheet


def tables(sheet: Sheet, one: Diagnosis) -> Iterator[Table]:
    """Yield the tables of a condition: title, columns, rows of plain text. Markdown and HTML show the same."""
    names = {each.id: each.name for each in sheet.episode.candidates}
    yield from run_tables(one, names)
    yield from people_tables(one, names)
    yield from story_tables(sheet, one, names)


def contrast_tables(one: Contrast) -> Iterator[Table]:
    """Yield the tables of two conditions."""
    differences = (
        "Differences over pairs",
        ["Figure", "Mean difference", "Interval", "p (pairs)", "Models up : down", "p (models)", "How"],
        [
            [
                each.name if each.result else f"{each.name} (a check of what was shown, no result)",
                f"{each.mean:+.2f}",
                f"{each.interval.low:+.2f} to {each.interval.high:+.2f} ({100 * each.interval.level:.4g} %)"
                if each.interval
                else "–",
                p_text(each.p_value),
                f"{each.up} : {each.down}",
                p_text(each.models.p_value),
                each.method,
            ]
            for each in one.shifts
        ],
    )
    if one.shifts or not one.turns:
        yield differences
    yield (
        "What runs do, over pairs",
        ["What", one.base, one.other, "Alone", "McNemar p (pairs)", "Sign test p (models)"],
        [
            [
                each.name,
                rate_text(each.base),
                rate_text(each.other),
                f"{each.only_base} : {each.only_other}",
                p_text(each.runs.p_value),
                p_text(each.models.p_value),
            ]
            for each in one.turns
        ],
    )
    if one.models or not one.turns:
        yield (
            "Differences of each model",
            ["Model", "Pairs", "Total", "Sentences", "People"],
            [
                [each.model, str(each.pairs), number(each.total), number(each.clue), number(each.participant)]
                for each in one.models
            ],
        )


def contrast_title(one: Contrast) -> str:
    """Say which two conditions are contrasted, over how many pairs."""
    return f"{one.other} less {one.base}: {rate_text(one.of)} pairs scored on both sides"
