"""What `ludic crosscheck` says: lines for people, JSON for programs. Nothing is computed here."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

from ludic_deepeval.crosscheck import CrossCheck, Row
from ludic_deepeval.errors import clean
from ludic_deepeval.report.margin import count
from ludic_deepeval.rubrics import COMPONENTS, EFFORT, RubricKind, rubric
from ludic_deepeval.scoring import decimal

_WHOLE: Final = (*COMPONENTS, "lpi", "pcv")
_SAID: Final = {
    "agrees": "",
    "rounding": "no farther than a whole number from 0 to 10 has to be",
    "differs": "differs",
    "apart": "by another definition",
}


def crosscheck_text(found: CrossCheck) -> Iterator[str]:
    """One story: its figures in both layers, and every dimension that differs."""
    yield clean(str(found.path), limit=400)
    for row in found.rows:
        if row.name in _WHOLE:
            yield f"  {row.name.upper():<4}{_row(row)}"
    if found.gates and found.gates[0] != found.gates[1]:
        first, second = ("passes" if passed else "fails" for passed in found.gates)
        yield f"  the gate: it {first} by arithmetic and {second} by the judge's figures"
    rated = [row for row in found.rows if row.name not in _WHOLE]
    if not rated:
        return
    odd = [row for row in rated if row.verdict in {"differs", "unmeasured"}]
    same = sum(row.difference == 0 for row in rated)
    yield f"  of {len(rated)} ratings of events the judge gives {same or 'none'} the same"
    for row in odd:
        yield f"    {row.name}: {re.sub(' +', ' ', _row(row)).strip()}"


def _row(row: Row) -> str:
    first = "–" if row.first is None else _figure(row, row.first)
    if row.verdict == "unmeasured":
        return f"{first:>6}  judge –: {clean(row.reason, limit=300)}"
    assert row.second is not None  # noqa: S101  # measured
    line = f"{first:>6}  judge {_figure(row, row.second):>6}"
    said = _SAID[row.verdict]
    reason = f": “{clean(row.reason, limit=160)}”" if row.verdict == "differs" and row.reason else ""
    return f"{line}  {said}{reason}".rstrip()


def _figure(row: Row, value: Fraction) -> str:
    return decimal(value, places=2 if row.name in {*COMPONENTS, "lpi"} else 0)


def summary_text(found: Sequence[CrossCheck], kind: RubricKind, skipped: int) -> Iterator[str]:
    """What was compared, how, and what it read."""
    flagged, missing = sum(len(one.flagged) for one in found), sum(len(one.unmeasured) for one in found)
    told = f"{count(len(found), 'story', 'stories')}"
    if skipped:
        told += f" of {len(found) + skipped}: the others are not near the gate"
    if kind == "equation":
        told += f"; {count(flagged, 'figure differs', 'figures differ')} by more than 2%"
    else:
        told += "; §4.2 defines RTN, MV and UCR in another way than the equations, so nothing is flagged"
    if missing:
        told += f"; {count(missing, 'figure', 'figures')} could not be compared"
    yield told
    kinds = sorted({row.score_kind for one in found for row in one.rows if row.score_kind})
    if kinds:
        words = {
            "raw-integer": "the whole numbers that the judge said",
            "raw-decimal": "the numbers that the judge said",
            "weighted": "means weighted by log-probabilities",
        }
        yield f"scores are {' and '.join(words[one] for one in kinds)}"
    read, instead = sum(one.ledger_tokens for one in found), sum(one.prose_tokens for one in found)
    if instead:
        share = f"{100 * read / instead:.0f}%"
        yield f"of the stories the judge read at most about {read:,} tokens; the prose each time would be {instead:,} ({share})"


def crosscheck_json(
    found: Sequence[CrossCheck], kind: RubricKind, unread: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """The same for programs; fields are only ever added."""

    def number(value: Fraction | None) -> float | None:
        return None if value is None else float(value)

    return {
        "version": 1,
        "rubrics": kind,
        "prompts": {name: rubric(name, kind).sha256 for name in (*COMPONENTS, EFFORT)},
        "stories": [
            {
                "path": one.path.as_posix(),
                "id": one.id,
                "rows": [
                    {
                        "name": row.name,
                        "arithmetic": number(row.first),
                        "judge": number(row.second),
                        "difference": number(row.difference),
                        "verdict": row.verdict,
                        "score_kind": row.score_kind,
                        "reason": row.reason,
                    }
                    for row in one.rows
                ],
                "gates": None if one.gates is None else {"arithmetic": one.gates[0], "judge": one.gates[1]},
                "tokens": {"ledger": one.ledger_tokens, "prose": one.prose_tokens},
            }
            for one in found
        ],
        "unread": [{"path": path, "reason": reason} for path, reason in unread],
    }
