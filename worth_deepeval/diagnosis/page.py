"""A diagnosis as one HTML page: tables, a heat map, the story shaded by how often each sentence was selected.

Everything comes from strangers: all text is escaped, and the page loads and runs nothing.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from ludic_deepeval.errors import clean
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.stats.intervals import Rate
from worth_deepeval.diagnosis.contrasts import Contrast
from worth_deepeval.diagnosis.markdown import CUED
from worth_deepeval.diagnosis.pictures import confidences, histogram, item_map
from worth_deepeval.diagnosis.profiles import rate_text
from worth_deepeval.diagnosis.tables import contrast_tables, contrast_title, tables
from worth_deepeval.diagnosis.tables_runs import WHY
from worth_deepeval.diagnostics import Diagnosis
from worth_deepeval.episode import Sheet
from worth_deepeval.report import draft_note

_ROW, _LABEL, _WIDE = 22, 190, 640
_LONG = frozenset({WHY, "Text", "Remark", "What", "Why", "Who"})
_TOP = 22


def page(sheet: Sheet, found: Sequence[Diagnosis], contrasts: Sequence[Contrast] = ()) -> str:
    """Return the page."""
    lines = [
        *opened(sheet, f"{sheet.episode.title} ({sheet.episode.id})"),
        (
            '<p class="quiet">Rates are count/of (rate, 95&nbsp;% Wilson interval). Runs of one model are alike: tests shuffle'
            " within it. This page shows the key: do not put it where a model may be trained on it.</p>"
        ),
        *(
            f'<p class="quiet"><strong>{_text(note[:1].upper() + note[1:])}.</strong></p>'
            for note in draft_note(sheet)
        ),
    ]
    for one in found:
        lines += _condition(sheet, one)
    for each in contrasts:
        lines.append(f"<section><h2>{_text(contrast_title(each))}</h2>")
        for title, head, rows in contrast_tables(each):
            lines += table(title, head, rows)
        lines.append("</section>")
    return "\n".join([*lines, "</main></body></html>", ""])


def opened(sheet: Sheet, title: str) -> Iterator[str]:
    """Yield the head of a page that loads and runs nothing, and its title."""
    style = files("worth_deepeval.diagnosis").joinpath("page.css").read_text(encoding="utf-8")
    yield "<!doctype html>"
    yield f'<html lang="{sheet.episode.language}"><head><meta charset="utf-8">'
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    yield '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
    yield f"<title>{_text(title)}</title><style>{style}</style></head><body><main>"
    yield f"<h1>{_text(title)}</h1>"
    yield f'<p class="quiet">{_text(sheet.episode.question)}</p>'


def _condition(sheet: Sheet, one: Diagnosis) -> Iterator[str]:
    yield f"<section><h2>{_text(one.condition)}: {one.scored} of {one.runs} runs scored</h2>"
    if one.cued:
        yield f'<p class="warning">{CUED}</p>'
    parts = list(tables(sheet, one))
    for title, head, rows in parts[:2]:
        yield from table(title, head, rows)
    if one.scored:
        yield from _totals(sheet, one)
        yield from histogram(one)
        yield from confidences(sheet, one)
        yield from _heat_map(one)
        yield from _people(sheet, one)
        yield from _story(sheet, one)
        yield from item_map(sheet, one)
    for title, head, rows in parts[2:]:
        yield from table(title, head, rows)
    yield "</section>"


def table(title: str, head: list[str], rows: list[list[str]]) -> Iterator[str]:
    """Yield a table, all of it escaped."""
    yield f"<h3>{_text(title)}</h3>"
    if not rows:
        yield '<p class="quiet">None.</p>'
        return
    # Where there is little width, rows with long texts become blocks; figures stay a table that can be moved sideways.
    stack = ' class="stack"' if len(head) > 1 and _LONG & set(head) else ""
    yield f'<div class="wide"><table{stack}><thead><tr>'
    yield "".join(f'<th scope="col">{_text(one)}</th>' for one in head) + "</tr></thead><tbody>"
    for row in rows:
        cells = (
            f'<td data-label="{_text(name)}">{_cell(cell, apart=name == WHY)}</td>'
            for name, cell in zip(head, row, strict=True)
        )
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"


def _cell(text: str, *, apart: bool) -> str:
    """A cell's text; where several things are said, a line each."""
    return "<br>".join(_text(part) for part in text.split("; ")) if apart else _text(text)


def _heat_map(one: Diagnosis) -> Iterator[str]:
    """A column for each sentence, a row for each model; a mark above the sentences of K."""
    cell = max(4, min(10, 960 // max(1, len(one.sentences))))
    models = [row for row in one.models if row.scored]
    width, height = _LABEL + cell * len(one.sentences) + 4, _TOP + _ROW * len(models) + 20
    yield "<h3>Which sentences each model selects</h3>"
    yield '<p class="quiet">A column is a sentence, in the order of the story; the stronger the colour, the more runs. ▾ is a key sentence.</p>'
    yield f'<div class="wide"><svg role="img" aria-label="Sentences by model" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    for n, model in enumerate(models):
        name = clean(model.model, limit=26)
        yield f'<text x="{_LABEL - 8}" y="{_TOP + n * _ROW + 14}" class="label">{escape(name)}</text>'
    for column, row in enumerate(one.sentences):
        x = _LABEL + column * cell
        if row.key:
            yield f'<text x="{x + cell / 2:g}" y="{_TOP - 6}" class="mark">▾</text>'
        if column % 10 == 9:
            yield f'<text x="{x + cell / 2:g}" y="{height - 6}" class="tick">{escape(row.sentence)}</text>'
        rates = dict(row.by_model)
        for n, model in enumerate(models):
            rate = rates[model.model]
            yield (
                f'<rect x="{x}" y="{_TOP + n * _ROW}" width="{cell - 1}" height="{_ROW - 3}" class="{"k" if row.key else "o"}"'
                f' fill-opacity="{_shade(rate)}"><title>{escape(row.sentence)} · {_text(model.model)} · {rate_text(rate)}'
                "</title></rect>"
            )
    yield "</svg></div>"


def _totals(sheet: Sheet, one: Diagnosis) -> Iterator[str]:
    """A row for each model, a stroke for each run's total, over the whole range that the key makes possible."""
    models = [row for row in one.models if row.scored]
    possible = sheet.range
    if isinstance(possible, Unscored):
        return
    least, most = possible.value.minimum, possible.value.maximum
    width, height = _LABEL + _WIDE + 30, _ROW * len(models) + 24
    step = _WIDE / max(1, most - least)
    yield f"<h3>Points, from {least} to {most}</h3>"
    yield '<p class="quiet">A stroke is a run; the stronger, the more runs with that total. The line is 0.</p>'
    yield f'<div class="wide"><svg role="img" aria-label="Points by model" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    zero = _LABEL - least * step
    for n, model in enumerate(models):
        y = n * _ROW
        yield f'<text x="{_LABEL - 8}" y="{y + 14}" class="label">{escape(clean(model.model, limit=26))}</text>'
        yield f'<rect x="{_LABEL}" y="{y + 9}" width="{_WIDE}" height="1" class="o" fill-opacity="0.3"/>'
        for total, count in sorted(Counter(model.totals).items()):
            shade = 0.35 + 0.65 * count / model.scored
            yield (
                f'<rect x="{_LABEL + (total - least) * step - 2:.1f}" y="{y}" width="4" height="{_ROW - 4}"'
                f' class="{"k" if total < 0 else "o"}" fill-opacity="{shade:.2f}"><title>{total}: {count}/{model.scored}</title></rect>'
            )
    yield f'<rect x="{zero:.1f}" y="0" width="1" height="{height - 18}" class="zero"/>'
    for value in (least, 0, most):
        yield f'<text x="{_LABEL + (value - least) * step:.1f}" y="{height - 6}" class="tick">{value}</text>'
    yield "</svg></div>"


def _people(sheet: Sheet, one: Diagnosis) -> Iterator[str]:
    """A row for each model, a column for each candidate."""
    names = {each.id: each.name for each in sheet.episode.candidates}
    models = [row.model for row in one.models if row.scored]
    yield "<h3>Whom each model names</h3>"
    yield '<p class="quiet">✓ took part. Runs that name them, of the scored runs; hover for the interval.</p>'
    yield '<div class="wide"><table class="matrix"><thead><tr><th></th>'
    for each in one.roles:
        kind = "✓ " if each.participant else ""
        yield f'<th scope="col">{kind}{_text(names[each.role])}</th>'
    yield "</tr></thead><tbody>"
    lines = [(model, [dict(each.by_model)[model] for each in one.roles]) for model in models]
    for model, rates in [*lines, ("all", [each.named for each in one.roles])]:
        yield f'<tr><th scope="row">{_text(model)}</th>'
        for each, rate in zip(one.roles, rates, strict=True):
            kind = "right" if each.participant else "wrong"
            yield (
                f'<td class="{kind}" style="--shade:{_shade(rate)}" title="{rate_text(rate)}">'
                f"{rate.count}/{rate.of}</td>"
            )
        yield "</tr>"
    yield "</tbody></table></div>"


def _story(sheet: Sheet, one: Diagnosis) -> Iterator[str]:
    """The story's own text, shaded by how often each sentence was selected."""
    rates = {row.sentence: row for row in one.sentences}
    yield "<h3>The story as it was read</h3>"
    yield (
        '<p class="quiet">The stronger the shade of a sentence, the more runs selected it; hover for the figure. Underlined: key sentences,'
        " with how many runs found them.</p>"
    )
    yield '<p class="story">'
    for sentence in sheet.episode.sentences:
        row = rates[sentence.id]
        said = f"{escape(sentence.id)} · {rate_text(row.selected)}{' · key sentence' if row.key else ''}"
        kind = "s key" if row.key else "s"
        count = f"<sup>{escape(sentence.id)} {row.selected.count}/{row.selected.of}</sup>" if row.key else ""
        yield (
            f'<span class="{kind}" style="--shade:{_shade(row.selected)}" title="{said}">'
            f"{_text(sentence.text, 20_000)}</span>{count}"
        )
    yield "</p>"


def _shade(rate: Rate) -> str:
    return f"{rate.rate or 0.0:.3f}"


def _text(text: str, limit: int = 600) -> str:
    return escape(clean(text, limit=limit))
