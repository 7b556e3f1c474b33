"""Branching stories: what a passage more costs, and a contradiction behind forty choices between two, against its bound."""

import json
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.measure import Row
from ludic_deepeval.branches.reading import read_branches
from ludic_deepeval.branches.report import Verdict, judge


def _write(folder: Path, steps: int) -> Path:
    """A ladder of choices between two that meet again; somebody dies on the first rung and waves from the last."""
    lines = [':: StoryData\n{"start": "s0"}\n']
    for n in range(steps):
        lines.append(f":: s{n}\nThe road forks here for the {n}th time.\n[[Left->l{n}]] [[Right->r{n}]]\n")
        lines.append(f":: l{n}\nStone number {n} on the left.\n[[On->s{n + 1}]]\n")
        lines.append(f":: r{n}\nStone number {n} on the right.\n[[On->s{n + 1}]]\n")
    lines.append(f":: s{steps}\nOsk waves from the gate.\n")
    lines[2] = ":: l0\nThe beam comes down and Osk is dead.\n[[On->s1]]\n"
    path = folder / f"ladder{steps}.twee"
    path.write_text("\n".join(lines), encoding="utf-8")
    _, story = read_branches(path)
    events = []
    for name, quote, status in (
        ("death", "comes down and Osk is dead", "dead"),
        ("wave", "Osk waves from the gate", None),
    ):
        [(start, end)] = story.prose.find(quote)
        relation = {"npc": "osk"} | ({"status": status} if status else {})
        evidence = [{"quote": quote, "start": start, "end": end}]
        events.append(
            {"id": name, "phase": "P3", "summary": quote, "evidence": evidence, "relations": [relation]}
        )
    npc = {"id": "osk", "name": "Osk", "status": "dead", "evidence": events[1]["evidence"]}
    ledger = {"schema_version": 1, "protagonist": "Ada", "npcs": [npc], "events": events}
    lock = {
        "schema_version": 1,
        "source_sha256": story.prose.sha256,
        "notary": {"kind": "hand"},
        "ledger": ledger,
    }
    story.lockfile.write_text(json.dumps(lock), encoding="utf-8")
    return path


def _judged(path: Path, steps: int) -> float:
    begun = time.perf_counter()
    verdict: Verdict = judge(path)
    took = time.perf_counter() - begun
    assert [finding.code for finding in verdict.findings] == ["dead-then-active"]
    assert len(verdict.findings[0].path) == 2 * steps + 1
    return took


def run(*, smoke: bool = False) -> list[Row]:
    """Measure ladders of forty, a thousand and ten thousand choices."""
    small, large, rounds = (100, 200, 1) if smoke else (1_000, 10_000, 5)
    with TemporaryDirectory() as name:
        folder = Path(name)
        forty, few, many = (_write(folder, steps) for steps in (40, small, large))
        _judged(forty, 40)
        times = [(_judged(forty, 40), _judged(few, small), _judged(many, large)) for _ in range(rounds)]
    grows = median(c / (b * large / small) for _, b, c in times)
    first, one, other = (median(column) for column in zip(*times, strict=True))
    return [
        Row(
            "a contradiction behind 40 choices between two to 5 s",
            first / 5,
            1,
            f"{first * 1000:.0f} ms to 5 s",
        ),
        Row(
            f"`ludic branches` on {3 * large + 1:,} passages to {large // small} times {3 * small + 1:,}",
            grows,
            1.5,
            f"{other * 1000:.0f} ms to {one * 1000:.0f} ms",
        ),
    ]
