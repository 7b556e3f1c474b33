"""The author's page: each key sentence and distractor as readers met it, to be mapped back to the story (§3.3)."""

from collections.abc import Iterator, Sequence
from html import escape

from ludic_deepeval.errors import clean
from worth_deepeval.diagnosis.markdown import CUED
from worth_deepeval.diagnosis.page import opened, table
from worth_deepeval.diagnosis.pictures import item_map
from worth_deepeval.diagnosis.profiles import p_text, rate_text
from worth_deepeval.diagnosis.tables_runs import number
from worth_deepeval.diagnostics import Diagnosis
from worth_deepeval.episode import Sheet


def author_page(sheet: Sheet, found: Sequence[Diagnosis]) -> str:
    """Return one HTML page that loads and runs nothing. It shows the key."""
    lines = [
        *opened(sheet, f"{sheet.episode.title} ({sheet.episode.id}): for its author"),
        (
            '<p class="quiet">What readers took up and passed over, clue by clue. Figures of one set of readers do not say whether the'
            " story is too quiet or the readers too quick: see whether people and other models do the same.</p>"
        ),
    ]
    for one in found:
        lines.append(f"<section><h2>{_text(one.condition)}: {one.scored} of {one.runs} runs scored</h2>")
        lines += [f'<p class="warning">{CUED}</p>'] if one.cued else []
        if one.scored:
            lines += item_map(sheet, one)
            lines += _clues(sheet, one)
            lines += _distractors(sheet, one)
            lines += _participants(sheet, one)
        lines.append("</section>")
    return "\n".join([*lines, "</main></body></html>", ""])


def _clues(sheet: Sheet, one: Diagnosis) -> Iterator[str]:
    """A row for each key sentence, hardest first, with its function, its place in the argument and what is selected beside it."""
    texts = {each.id: each.text for each in sheet.episode.sentences}
    functions = {each.sentence: each.function or "" for each in sheet.key.clues}
    facts = {
        each.sentence: ", ".join(fact.id for fact in sheet.key.chain.facts if each.sentence in fact.needs)
        for each in sheet.key.clues
    }
    near = {each.sentence: each for each in one.near_misses}
    rows = []
    items = [each for each in one.items if each.kind == "sentence"]
    for item in sorted(items, key=lambda each: (each.difficulty.count, each.id)):
        beside = near[item.id]
        rows.append(
            [
                item.id,
                texts[item.id],
                functions[item.id],
                facts[item.id] or "–",
                rate_text(item.difficulty),
                f"{item.models.count}/{item.models.of}",
                number(item.discrimination),
                number(item.within),
                rate_text(beside.beside)
                + (f", {beside.chance:.0%} by chance" if beside.chance is not None else ""),
                item.remark,
            ]
        )
    head = ["Sentence", "Text", "What it is for", "Facts", "Selected", "Models", "Discrimination", "within models", "Missed, but beside it", "Remark"]  # fmt: skip
    yield from table("Key sentences, hardest first", head, rows)


def _distractors(sheet: Sheet, one: Diagnosis) -> Iterator[str]:
    """A row for each distractor: who is drawn, by what, and what clears them."""
    names = {each.id: each.name for each in sheet.episode.candidates}
    items = {each.id: each for each in one.items}
    roles = {each.role: each for each in one.roles}
    selected = {each.sentence: each.selected for each in one.sentences}
    cleared = {each.role: each for each in one.chain.verdicts if each.verdict == "excluded"}

    def told(sentences: Sequence[str]) -> str:
        return "; ".join(f"{each} {selected[each].count}/{selected[each].of}" for each in sentences) or "–"

    rows = []
    for each in sheet.key.distractors:
        item, end = items[each.role], cleared.get(each.role)
        rows.append(
            [
                names[each.role],
                rate_text(roles[each.role].named),
                f"{sum(bool(rate.count) for _, rate in roles[each.role].by_model)}/{item.models.of}",
                number(item.discrimination),
                told(each.incriminating),
                told(each.exonerating),
                rate_text(end.derivable) if end else "–",
                item.remark,
            ]
        )
    head = ["Distractor", "Named", "Models", "Discrimination", "What incriminates", "What clears", "Clearing follows from what was selected", "Remark"]  # fmt: skip
    yield from table("Distractors", head, rows)
    pairs = [
        [f"{each.suspicion}/{each.exoneration}", names[each.target], rate_text(each.selected_suspicion), rate_text(each.selected_exoneration), p_text(each.models.p_value)]
        for each in one.pairs
    ]  # fmt: skip
    yield from table("Suspicion beside what clears", ["Pair", "Of", "Suspicion", "What clears", "Sign test p (models)"], pairs)  # fmt: skip


def _participants(sheet: Sheet, one: Diagnosis) -> Iterator[str]:
    """A row for each participant: who sees them, and whether the argument for them was at hand."""
    names = {each.id: each.name for each in sheet.episode.candidates}
    ends = {each.role: each for each in one.chain.verdicts if each.verdict == "participant"}
    rows = []
    for item in one.items:
        if item.kind != "participant":
            continue
        end = ends.get(item.id)
        rows.append(
            [
                names[item.id],
                rate_text(item.difficulty),
                f"{item.models.count}/{item.models.of}",
                number(item.discrimination),
                rate_text(end.given_derivable) if end else "–",
                rate_text(end.given_not) if end else "–",
                item.remark,
            ]
        )
    head = ["Participant", "Named", "Models", "Discrimination", "Named where it follows", "Named where it does not", "Remark"]  # fmt: skip
    yield from table("Participants", head, rows)


def _text(text: str) -> str:
    return escape(clean(text, limit=600))
