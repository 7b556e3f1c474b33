"""What a TruLens database holds, read back: records with their figures and reasons, and a leaderboard. Pure: no TruLens."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, Final

from ludic_deepeval.errors import clean
from ludic_deepeval.report.columns import columns, shorten

_WIDEST: Final = 110
_SHORT: Final = {
    "Consistency": "Cons",
    "Div_alpha": "Div",
    "Context relevance": "CtxRel",
    "Groundedness": "Ground",
}


@dataclass(frozen=True)
class Evaluation:
    """One figure of a record.

    Attributes:
        name: The metric's.
        score: Its value; None where it was not measured.
        reason: Why it is what it is, or why it is not there.
        higher_is_better: Its direction.
    """

    name: str
    score: float | None
    reason: str
    higher_is_better: bool = True


@dataclass(frozen=True)
class Did:
    """One step of a record.

    Attributes:
        name: What was done.
        decision: What was decided, of a gate.
        reasons: Why.
        failed: The error it ended in.
    """

    name: str
    decision: str = ""
    reasons: tuple[str, ...] = ()
    failed: str = ""


@dataclass(frozen=True)
class Seen:
    """One record as it was read back."""

    record_id: str
    app: str
    version: str
    id: str
    asked: str
    said: str
    when: datetime
    evaluations: tuple[Evaluation, ...]
    steps: tuple[Did, ...] = ()
    failed: str = ""


@dataclass(frozen=True)
class Mean:
    """A metric over the records of one version.

    Attributes:
        value: The mean of what was measured; None where nothing was.
        measured: How many records it is the mean of.
        unmeasured: How many it could not be measured of.
        higher_is_better: Its direction.
    """

    value: float | None
    measured: int
    unmeasured: int
    higher_is_better: bool


@dataclass(frozen=True)
class Row:
    """One version of an app on the leaderboard."""

    app: str
    version: str
    records: int
    means: dict[str, Mean]


def leaderboard(records: Sequence[Seen]) -> list[Row]:
    """A row for each version of each app. Means are of one version: nothing is averaged over two episodes of WORTH."""
    groups: dict[tuple[str, str], list[Seen]] = {}
    for one in records:
        groups.setdefault((one.app, one.version), []).append(one)
    return [Row(app, version, len(group), _means(group)) for (app, version), group in sorted(groups.items())]


def _means(group: Sequence[Seen]) -> dict[str, Mean]:
    found: dict[str, list[Evaluation]] = {}
    for record in group:
        for one in record.evaluations:
            found.setdefault(one.name, []).append(one)
    means = {}
    for name, all_of_it in found.items():
        scores = [Fraction(one.score) for one in all_of_it if one.score is not None]
        value = float(sum(scores, Fraction(0)) / len(scores)) if scores else None
        means[name] = Mean(value, len(scores), len(all_of_it) - len(scores), all_of_it[-1].higher_is_better)
    return means


def board_json(records: Sequence[Seen], place: str) -> dict[str, Any]:
    """Leaderboard and records for programs; what was not measured is null and has its reason."""
    return {
        "version": 1,
        "database": place,
        "leaderboard": [
            {
                "app": row.app,
                "app_version": row.version,
                "records": row.records,
                "metrics": {
                    name: {
                        "mean": mean.value,
                        "measured": mean.measured,
                        "unmeasured": mean.unmeasured,
                        "higher_is_better": mean.higher_is_better,
                    }
                    for name, mean in row.means.items()
                },
            }
            for row in leaderboard(records)
        ],
        "records": [
            {
                "record_id": one.record_id,
                "app": one.app,
                "app_version": one.version,
                "id": one.id,
                "input": one.asked,
                "when": one.when.isoformat(timespec="seconds"),
                "error": one.failed or None,
                "scores": {
                    e.name: {"score": e.score, "reason": e.reason, "higher_is_better": e.higher_is_better}
                    for e in one.evaluations
                },
                "steps": [
                    {
                        "name": step.name,
                        "decision": step.decision or None,
                        "reasons": list(step.reasons),
                        "error": step.failed or None,
                    }
                    for step in one.steps
                ],
            }
            for one in records
        ],
    }


def board_text(records: Sequence[Seen], place: str, *, most: int, reasons: bool = False) -> Iterator[str]:
    """Leaderboard and records as tables, an app at a time.

    Args:
        records: As they were read back.
        place: What the database is called.
        most: The most records listed for an app.
        reasons: Tell each record's steps and reasons instead of its row.
    """
    rows = leaderboard(records)
    if not rows:
        yield f"{place}: no records yet"
        return
    yield f"{place}: {len(records)} record{'' if len(records) == 1 else 's'}"
    for app in dict.fromkeys(row.app for row in rows):
        versions = [row for row in rows if row.app == app]
        within = sorted((one for one in records if one.app == app), key=lambda one: (one.version, one.id))
        names = list(dict.fromkeys(name for row in versions for name in row.means))
        low = {n for row in versions for n, mean in row.means.items() if not mean.higher_is_better}
        heads = [f"{_short(name)}{' ↓' if name in low else ''}" for name in names]
        yield ""
        yield clean(app, limit=80)
        table = [["version", "records", *heads]]
        for row in versions:
            cells = [_mean(row.means.get(name)) for name in names]
            table.append([clean(row.version, limit=200), str(row.records), *cells])
        yield from _table(table)
        yield ""
        if reasons:
            for one in within[:most]:
                yield from _told(one)
        else:
            several = len(versions) > 1
            table = [["record", *heads]]
            for one in within[:most]:
                scores = {e.name: e.score for e in one.evaluations}
                cells = [_score(scores[name]) if name in scores else "" for name in names]
                table.append([clean(f"{one.id} ({one.version})" if several else one.id, limit=200), *cells])
            yield from _table(table)
        if len(within) > most:
            yield f"  and {len(within) - most} more (--limit)"
    if any(e.score is None for one in records for e in one.evaluations):
        yield ""
        yield "– was not measured, which is not 0; --reasons says why. ↓ lower is better."


def _short(name: str) -> str:
    head, bracket, rest = name.partition(" [")
    head = _SHORT.get(head, head.removeprefix("WORTH "))
    return clean(f"{head}{bracket}{rest}", limit=40)


def _mean(mean: Mean | None) -> str:
    if mean is None:
        return ""
    part = f" ({mean.measured}/{mean.measured + mean.unmeasured})" if mean.unmeasured else ""
    return f"{_score(mean.value)}{part}"


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(columns(row[at]) for row in rows) for at in range(len(rows[0]))]
    room = _WIDEST - sum(widths[1:]) - 2 * len(widths)
    widths[0] = min(widths[0], max(room, 36))
    for row in rows:
        first = shorten(row[0], widths[0])
        cells = [first + " " * (widths[0] - columns(first))]
        cells += [
            " " * (width - columns(text)) + text for text, width in zip(row[1:], widths[1:], strict=True)
        ]
        yield f"  {'  '.join(cells)}".rstrip()


def _told(one: Seen) -> Iterator[str]:
    yield f"  {clean(one.id, limit=200)} ({clean(one.version, limit=200)})"
    if one.failed:
        yield f"    failed: {clean(one.failed, limit=400)}"
    steps = Counter(step.name for step in one.steps)
    if steps:
        yield "    steps: " + ", ".join(f"{name} × {n}" if n > 1 else name for name, n in steps.items())
    for step in one.steps:
        if step.failed:
            yield f"    {clean(step.name)} failed: {clean(step.failed, limit=400)}"
        if step.decision:
            why = f": {'; '.join(step.reasons)}" if step.reasons else ""
            yield f"    {clean(step.name)}: {clean(step.decision + why, limit=400)}"
    for e in one.evaluations:
        first, *more = e.reason.split("\n")
        yield f"    {clean(e.name, limit=80)} {_score(e.score)}  {clean(first, limit=600)}"
        yield from (f"      {clean(line, limit=600)}" for line in more)
