"""WORTH: the report over ten thousand records of runs against reading the same file with `json.loads`, and against ten seconds."""

import json
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.measure import Row
from worth_deepeval.agents import AGENTS, reply
from worth_deepeval.diagnosis.markdown import markdown
from worth_deepeval.diagnosis.page import page
from worth_deepeval.diagnostics import contrast_all, diagnose
from worth_deepeval.episode import Sheet, load_sheet
from worth_deepeval.records import ALL_OFF as OFF
from worth_deepeval.records import Access, Options, PromptMark, RunRecord, Window, run_key
from worth_deepeval.runner import mark
from worth_deepeval.runs import load_runs

EPISODE = Path(__file__).parents[1] / "test_cases" / "episodes" / "WEN01"
RUNS = 10_000
CONDITIONS = ("full-story", "full-story+no-definition")
SECONDS = 10.0
TARGET = 20.0  # ten seconds, where reading takes half of one


def _write(folder: Path, sheet: Sheet, runs: int) -> Path:
    """Records of scripted readers, as `worth run` writes them: six readers under two conditions."""
    names = list(AGENTS)
    each = -(-runs // (len(names) * len(CONDITIONS)))
    lines = []
    for condition in CONDITIONS:
        for name in names:
            for repetition in range(1, each + 1):
                episode, prompt = mark(sheet.episode), PromptMark(sha256="0" * 64, condition=condition)
                access = Access(model=f"scripted:{name}", interface="script")
                record = RunRecord(
                    key=run_key(episode, prompt, access, Options(), repetition),
                    episode=episode,
                    prompt=prompt,
                    access=access,
                    settings=OFF,
                    by="scripted",
                    formal=False,
                    repetition=repetition,
                    tested=Window(first="2026-11-30", last="2026-11-30"),
                    text=reply(name, sheet, repetition + (condition != CONDITIONS[0]) * each),
                )
                lines.append(record.model_dump_json())
    file = folder / "runs.jsonl"
    file.write_text("\n".join(lines[:runs]) + "\n", encoding="utf-8")
    return file


def _round(file: Path, sheet: Sheet) -> tuple[float, float]:
    """Seconds of reading the records, and of the whole report: text of all tables and the page, contrasts among it."""
    begun = time.perf_counter()
    for line in file.open(encoding="utf-8"):
        json.loads(line)
    read = time.perf_counter()
    runs = load_runs(file, sheet)
    found, contrasts = diagnose(sheet, runs), contrast_all(sheet, runs)
    text, html = markdown(sheet, found, contrasts), page(sheet, found, contrasts)
    done = time.perf_counter()
    assert sum(one.runs for one in found) == len(runs)
    assert len(contrasts) == 1
    assert len(text) < len(html)
    return read - begun, done - read


def run(*, smoke: bool = False) -> list[Row]:
    """Ten thousand records, three rounds."""
    sheet = load_sheet(EPISODE)
    with tempfile.TemporaryDirectory() as name:
        file = _write(Path(name), sheet, 120 if smoke else RUNS)
        rounds = [_round(file, sheet) for _ in range(1 if smoke else 3)]
    read, report = (median(side) for side in zip(*rounds, strict=True))
    return [
        Row(
            "`worth report` over 10,000 records to `json.loads` of each",
            median(two / one for one, two in rounds),
            TARGET,
            f"{report:.1f} s to {read * 1000:.0f} ms",
        ),
        Row("`worth report` over 10,000 records to 10 s", report / SECONDS, 1.0, f"{report:.1f} s to 10 s"),
    ]
