"""What the commands say of a study while it runs and of how far it is."""

from collections.abc import Iterator
from typing import Any

from ludic_deepeval.errors import clean
from ludic_deepeval.studies.frozen import Sidecar
from ludic_deepeval.studies.plan import StudyPlan
from ludic_deepeval.studies.rows import sound
from ludic_deepeval.studies.runner import Progress
from ludic_deepeval.studies.store import Line, Store


def progress_text(progress: Progress) -> str:
    """`[12/160, about 3 h 5 min left]`."""
    left = progress.left
    rest = "" if left is None or progress.done >= progress.total else f", about {duration(left)} left"
    return f"[{progress.done}/{progress.total}{rest}]"


def duration(seconds: float) -> str:
    """A time in words, to what anybody wants to know."""
    if seconds < 90:
        return f"{round(seconds)} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours < 48 else f"{hours // 24} days {hours % 24} h"


def line_text(line: Line) -> str:
    """A trial in a line."""
    cell = ", ".join(line["cell"].values())
    measures = line["measures"]
    parts = [
        f"{name} {measures[key]:.{places}f}"
        for key, name, places in (("lpi", "LPI", 2), ("pcv", "PCV", 0), ("e_a", "E_a", 2))
        if measures[key] is not None
    ]
    gate = line["gate"]
    if gate and gate["converged"] is not None:
        rewrites = f"{gate['rewrites']} rewrite{'s' * (gate['rewrites'] != 1)}"
        parts.append(f"{'passed' if gate['converged'] else 'did not pass'} after {rewrites}")
    parts += [f"{one['stage']} unscored ({one['cause']})" for one in line["unscored"]]
    return clean(f"{cell}, seed {line['seed']}: {', '.join(parts)}", limit=400)


def status_json(plan: StudyPlan, sidecar: Sidecar, store: Store) -> dict[str, Any]:
    """How far a study is: `ludic study status --json`."""
    cells = {tuple(cell.values()): {"kept": 0, "unscored": 0} for cell in plan.design.cells}
    last = ""
    for number, line in store.lines():
        cell = cells[tuple(sound(line, number, plan.design)["cell"].values())]
        cell["kept"] += 1
        cell["unscored"] += bool(line["unscored"])
        last = max(last, line["times"]["finished"])
    kept, total = sum(cell["kept"] for cell in cells.values()), len(plan.trials)
    return {
        "version": 1,
        "id": plan.design.id,
        "title": plan.design.title,
        "folder": str(store.path),
        "frozen": sidecar.created,
        "commit": sidecar.environment.commit,
        "trials": total,
        "kept": kept,
        "left": total - kept,
        "last": last or None,
        "cells": [
            {"cell": list(name), "trials": len(plan.design.seeds), **counts} for name, counts in cells.items()
        ],
        "log": [entry.model_dump(mode="json") for entry in store.log()],
    }


def status_text(found: dict[str, Any]) -> Iterator[str]:
    """The same for people."""
    yield clean(
        f"{found['title'] or found['id']}: {found['kept']} of {found['trials']} trials are kept", limit=400
    )
    commit = f", code {found['commit'][:12]}" if found["commit"] else ""
    last = f", last trial {found['last']}" if found["last"] else ""
    yield f"frozen {found['frozen']}{commit}{last}"
    width = max(len(", ".join(cell["cell"])) for cell in found["cells"])
    for cell in found["cells"]:
        name = ", ".join(cell["cell"])
        unscored = f", {cell['unscored']} not wholly measured" if cell["unscored"] else ""
        yield f"  {name:<{width}}  {cell['kept']:>4} of {cell['trials']}{unscored}"
    for entry in found["log"]:
        yield f"{entry['kind']} of {entry['date']}, at {entry['trials']} trials: {entry['reason']}"
        yield from (f"  {change}" for change in entry["changes"])
