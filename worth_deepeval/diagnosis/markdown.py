"""A diagnosis as Markdown, and as the few lines that a terminal shows."""

from collections.abc import Iterator, Sequence

from ludic_deepeval.errors import clean
from worth_deepeval.diagnosis.contrasts import Contrast
from worth_deepeval.diagnosis.profiles import p_text
from worth_deepeval.diagnosis.tables import contrast_tables, contrast_title, tables
from worth_deepeval.diagnosis.tables_runs import common, number
from worth_deepeval.diagnostics import Diagnosis
from worth_deepeval.episode import Sheet
from worth_deepeval.report import draft_note

_ESCAPED = str.maketrans({one: f"\\{one}" for one in "\\`*_[]<>|#!~"})
CUED = "The ids of the key sentences were shown: figures about sentences check that, and are no result."


def md(text: str, limit: int = 300) -> str:
    """Return text that Markdown takes for text."""
    return clean(text, limit=limit).translate(_ESCAPED)


def terminal(sheet: Sheet, found: Sequence[Diagnosis], contrasts: Sequence[Contrast] = ()) -> Iterator[str]:
    """Yield what a terminal shows: each model in plain words, and what is common to all."""
    names = {one.id: one.name for one in sheet.episode.candidates}
    for one in found:
        yield f"{clean(sheet.episode.title)} ({one.episode}), {clean(one.condition)}: {one.scored} of {one.runs} runs scored"
        if one.cued:
            yield f"  {CUED}"
        for scores, profile in zip(one.models, one.profiles, strict=True):
            yield ""
            yield f"{clean(profile.model)}: {profile.headline}"
            if scores.scored:
                yield (
                    f"  {number(scores.total.mean, 1)} points a run (SD {number(scores.total.sd, 1)}),"
                    f" {scores.scored} of {scores.runs} runs scored"
                )
            for figure in profile.figures:
                yield f"  {figure}"
        yield ""
        yield from common(one, names)
    for each in contrasts:
        yield ""
        yield clean(contrast_title(each), limit=400)
        for shift in each.shifts:
            check = "" if shift.result else "  (the key was shown: a check, no result)"
            yield (
                f"  {shift.name}: {shift.mean:+.2f} a run (over pairs p {p_text(shift.p_value)}, over models"
                f" {shift.up} up, {shift.down} down, p {p_text(shift.models.p_value)}){check}"
            )
        for turn in each.turns:
            yield (
                f"  {clean(turn.name, limit=300)}: {turn.base.count}/{turn.base.of}, then {turn.other.count}/{turn.other.of}"
                f" (over pairs p {p_text(turn.runs.p_value)}, over models p {p_text(turn.models.p_value)})"
            )


def markdown(sheet: Sheet, found: Sequence[Diagnosis], contrasts: Sequence[Contrast] = ()) -> str:
    """Return the whole report as Markdown."""
    lines = [f"# {md(sheet.episode.title)} ({md(sheet.episode.id)}, version {md(sheet.episode.version)})", ""]
    lines.append(
        "Rates are given as count/of (rate, 95 % Wilson interval). Runs of one model are alike: tests shuffle within it."
    )
    for note in draft_note(sheet):
        lines += ["", f"**{md(note[:1].upper() + note[1:], 400)}.**"]
    for one in found:
        lines += ["", f"## {md(one.condition)}: {one.scored} of {one.runs} runs scored"]
        lines += ["", CUED] if one.cued else []
        for title, head, rows in tables(sheet, one):
            lines += _titled(title, head, rows)
    for each in contrasts:
        lines += ["", f"## {md(contrast_title(each), 400)}"]
        for title, head, rows in contrast_tables(each):
            lines += _titled(title, head, rows)
    return "\n".join(lines) + "\n"


def _titled(title: str, head: list[str], rows: list[list[str]]) -> list[str]:
    body = [[md(cell, 600) for cell in row] for row in rows]
    return ["", f"### {md(title)}", "", *(_table([md(one) for one in head], body) if body else ["None."])]


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|{' --- |' * len(head)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
