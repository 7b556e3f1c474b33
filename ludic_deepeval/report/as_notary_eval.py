"""What `ludic notary-eval` tells."""

from collections.abc import Iterator
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from ludic_deepeval.errors import clean
from ludic_deepeval.llm.budget import Spent
from ludic_deepeval.notary_eval import Error, Evaluation, StoryRow
from ludic_deepeval.report.as_text import counted


def eval_text(found: Evaluation, reader: str, spent: Spent | None) -> Iterator[str]:
    """Yield the lines of a report."""
    yield clean(
        f"{reader} against marks made by hand, {counted(len(found.rows), 'story', 'stories')}", limit=400
    )
    yield f"  {'':<10}{'by hand':>8}{'read':>6}{'same':>6}{'precision':>11}{'recall':>8}{'F1':>6}{'no quote':>10}"
    for row in found.kinds:
        shares = f"{_share(row.precision):>11}{_share(row.recall):>8}{_share(row.f1):>6}"
        yield f"  {row.kind:<10}{row.gold:>8}{row.read:>6}{row.matched:>6}{shares}{row.ungrounded:>10}"
    yield "  on what both have:"
    for one in found.judgements:
        yield f"  {one.name:<11} the same on {one.same} of {one.pairs}, weighted kappa {_share(one.kappa)}"
    yield f"  LPI {_error(found.lpi, 2)}"
    yield f"  PCV {_error(found.pcv, 1)}"
    agree, both = found.gate
    yield f"  the gate says the same on {agree} of {both}; {len(found.rows) - both} without a verdict"
    for story in found.rows:
        yield f"    {_row(story)}"
    for path, why in found.missing:
        yield f"    {clean(path, limit=300)}: no reading: {clean(why, limit=300)}"
    if spent is not None:
        yield f"  {spent}"


def _row(row: StoryRow) -> str:
    name = clean(row.path, limit=300)
    parts = []
    if row.lpi_error is not None:
        parts.append(f"LPI {float(row.lpi_error):+.2f}")
    if row.pcv_error is not None:
        parts.append(f"PCV {float(row.pcv_error):+.1f}")
    if row.gates is not None:
        words = ["plays" if one else "falls short" for one in row.gates]
        parts.append(
            f"{words[0]} in both" if row.gates[0] == row.gates[1] else f"{words[0]}, but {words[1]} as read"
        )
    elif row.why_not:
        parts.append(f"no verdict: {clean(row.why_not, limit=200)}")
    return f"{name}: {', '.join(parts) or 'no verdict'}"


def _error(found: Error | None, digits: int) -> str:
    if found is None:
        return "error: not measured"
    return f"error: mean {float(found.mean):+.{digits}f}, mean size {float(found.absolute):.{digits}f}, on {counted(found.n, 'story', 'stories')}"


def _share(value: Fraction | None) -> str:
    return "–" if value is None else f"{float(value):.2f}"


def eval_json(found: Evaluation, reader: str, spent: Spent | None) -> dict[str, Any]:
    """The report for programs; null where nothing could be measured."""

    def number(value: Fraction | None) -> float | None:
        return None if value is None else float(value)

    def error(value: Error | None) -> dict[str, Any] | None:
        if value is None:
            return None
        return {"n": value.n, "mean": float(value.mean), "absolute": float(value.absolute)}

    agree, both = found.gate
    return {
        "version": 1,
        "reader": reader,
        "kinds": [
            asdict(row)
            | {"precision": number(row.precision), "recall": number(row.recall), "f1": number(row.f1)}
            for row in found.kinds
        ],
        "judgements": [asdict(one) | {"kappa": number(one.kappa)} for one in found.judgements],
        "lpi_error": error(found.lpi),
        "pcv_error": error(found.pcv),
        "gate": {"same": agree, "both": both, "stories": len(found.rows)},
        "stories": [
            {
                "path": row.path,
                "lpi_error": number(row.lpi_error),
                "pcv_error": number(row.pcv_error),
                "gate": None if row.gates is None else {"gold": row.gates[0], "read": row.gates[1]},
                "unscored": row.why_not or None,
            }
            for row in found.rows
        ],
        "missing": [{"path": path, "reason": why} for path, why in found.missing],
        "spent": None if spent is None else asdict(spent),
    }
