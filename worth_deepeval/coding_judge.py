"""A model as one more coder of explanations, by G-Eval with fixed steps (WORTH §7.2). It gives codes; no code awards points.

What it says is a coder's sheet and no truth: it is laid beside a person's by `worth code agree` before anything is made of it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ludic_deepeval.errors import ModelError
from ludic_deepeval.llm.budget import Meter
from ludic_deepeval.prompts import Prompt, load_prompt
from ludic_deepeval.rubric_metrics import Judge, judge_with
from ludic_deepeval.rubrics import Rubric
from worth_deepeval.coding import CODES, SheetRow
from worth_deepeval.episode import Sheet

FOLDER: Final = Path(__file__).parent / "prompts"
# Between the two the judge was told to give 5; a mean weighted by log-probabilities may lie anywhere.
_YES, _NO = 7.5, 2.5


@dataclass(frozen=True)
class JudgeCodes:
    """What a model coded.

    Attributes:
        codes: By mark and column.
        reasons: What it said for each, by mark and column.
        failures: (mark, column, why): no answer that can be used; such a cell stays empty.
    """

    codes: Mapping[str, Mapping[str, str]]
    reasons: Mapping[str, Mapping[str, str]]
    failures: tuple[tuple[str, str, str], ...]


def coding_prompt(code: str) -> Prompt:
    """Return the prompt of a code: its steps are the lines of `system`, its text what the judge reads."""
    return load_prompt(f"coding-{code.replace('_', '-')}", folder=FOLDER)


def coding_rubric(code: str) -> Rubric:
    """Return the rubric of a code. It has three answers: 0 no, 5 unclear, 10 yes."""
    steps = tuple(coding_prompt(code).system.strip().splitlines())
    anchors = ((0, 4, "no"), (5, 5, "two careful readers would disagree"), (6, 10, "yes"))
    return Rubric(code, "worth-coding", steps, ("explanation",), 0, anchors)


def reading(code: str, sheet: Sheet, row: SheetRow) -> str:
    """Return what the judge of a code reads; only that of `omission` is told who took part."""
    prompt = coding_prompt(code)
    names = {one.id: one.name for one in sheet.episode.candidates}
    values = {
        "story": "\n".join(sheet.episode.numbered()),
        "candidates": "\n".join(f"{one} {name}" for one, name in names.items()),
        "participants": ", ".join(names[one] for one in sorted(sheet.key.guilty)),
        "named": row.shown["named"],
        "explanation": "\n\n".join(
            row.shown[part]
            for part in ("interpretations", "combination", "conclusion")
            if row.shown[part].strip()
        ),
    }
    return prompt.render(**{name: values[name] for name in prompt.variables})


def code_of(raw: float) -> str:
    """Return the code that a score from 0 to 10 stands for."""
    return "yes" if raw >= _YES else "no" if raw <= _NO else "unclear"


async def code_explanations(
    sheet: Sheet,
    rows: Sequence[SheetRow],
    model: Judge,
    *,
    meter: Meter | None = None,
    concurrency: int = 4,
    told: Callable[[str], None] = lambda _: None,
) -> JudgeCodes:
    """Have a model code explanations, every code of every row apart.

    Args:
        sheet: The episode and its key.
        rows: Rows of `rows_of("explanations", …)`.
        model: A model of this package or of DeepEval, or a name.
        meter: What may be spent.
        concurrency: How many requests may be under way.
        told: Is told each mark when its row is done.

    Returns:
        Its codes; what it gave no usable answer to is empty and named among the failures, never "no".

    Raises:
        ModelError: There was no answer at all.
    """
    judge = judge_with(model, meter=meter, concurrency=concurrency)
    codes: dict[str, dict[str, str]] = {row.item: {} for row in rows}
    reasons: dict[str, dict[str, str]] = {row.item: {} for row in rows}
    failures: list[tuple[str, str, str]] = []
    errors: list[ModelError] = []

    async def one(row: SheetRow, code: str) -> None:
        try:
            found = await judge(coding_rubric(code), reading(code, sheet, row))
        except ModelError as error:
            failures.append((row.item, code, error.found))
            errors.append(error)
            return
        codes[row.item][code] = code_of(found.raw)
        reasons[row.item][code] = found.reason

    async def whole(row: SheetRow) -> None:
        await asyncio.gather(*(one(row, code.name) for code in CODES["explanations"]))
        told(row.item)

    await asyncio.gather(*map(whole, rows))
    if errors and not any(codes.values()):
        raise errors[0]  # nobody answered at all: that is no sheet
    return JudgeCodes(codes, reasons, tuple(sorted(failures)))
