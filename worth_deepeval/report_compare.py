"""What `worth compare` says."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ludic_deepeval.errors import clean
from worth_deepeval.compare import Comparison, Interval, Paired, Side


def comparison_json(found: Comparison) -> dict[str, Any]:
    """The result of `worth compare --json`."""
    return {
        "version": 1,
        "episode": found.episode,
        "kind": found.kind,
        "held": found.held,
        "a": asdict(found.a) | {"mean": found.a.mean, "deviation": found.a.deviation},
        "b": asdict(found.b) | {"mean": found.b.mean, "deviation": found.b.deviation},
        "pairs": found.pairs,
        "unpaired": found.unpaired,
        "skipped": found.skipped,
        "discovery": found.discovery,
        "figures": {name: asdict(one) for name, one in found.figures.items()},
    }


def comparison_text(found: Comparison) -> Iterator[str]:
    """Yield the lines of `worth compare`."""
    held = {"model": f"under {found.held}", "condition": f"with {found.held} models"}[found.kind]
    if found.kind == "condition" and found.held != "several":
        held = f"with {found.held}"
    yield f"{clean(found.episode)}, {clean(held, limit=200)}"
    for letter, side in (("A", found.a), ("B", found.b)):
        yield from _side(letter, side)
    if found.skipped:
        yield f"left out, of other stories or versions: {found.skipped}"
    if not found.pairs:
        yield "no pair: no repetition was scored on both sides"
        return
    yield f"{found.pairs} {'pair' if found.pairs == 1 else 'pairs'} by repetition; without a scored partner: {found.unpaired}"
    for name, one in found.figures.items():
        mark = "" if found.discovery or name != "clue" else "  (the key was shown: no result, a check)"
        yield f"  {name} points, B − A: {_paired(one)}{mark}"


def _side(letter: str, side: Side) -> Iterator[str]:
    rate = f" ({_interval(side.scored_rate, percent=True)})" if side.scored_rate else ""
    failed = f"; {side.failures} failed and are no runs" if side.failures else ""
    yield f"{letter} {clean(side.name, limit=200)}: {side.scored} of {side.runs} runs scored{rate}{failed}"
    if side.totals:
        spread = "" if side.deviation is None else f", SD {side.deviation:.1f}"
        yield f"    totals {', '.join(map(str, side.totals))}: mean {side.mean:.2f}{spread}"


def _paired(one: Paired) -> str:
    span = f", {_interval(one.interval)}" if one.interval else ""
    return f"{one.effect:+.2f}{span}, p = {one.p_value:.4g} ({one.method})"


def _interval(one: Interval, *, percent: bool = False) -> str:
    level = f"{100 * one.level:.4g} %"
    if percent:
        return f"{100 * one.low:.0f} to {100 * one.high:.0f} %, {level} interval"
    return f"{level} interval {one.low:+.2f} to {one.high:+.2f}"
