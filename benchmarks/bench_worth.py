"""WORTH: reading and scoring replies against `json.loads` of the object inside each, and one whole `worth score`."""

import gc
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.measure import Row, program, timed
from ludic_deepeval.outcome import Scored
from worth_deepeval.episode import Sheet, load_sheet
from worth_deepeval.scoring import score_text

EPISODE = Path(__file__).parents[1] / "test_cases" / "episodes" / "WEN01"
TARGET = 3.0
TARGET_PROCESS = 6.0
REPLIES = 100_000
CHUNK = 500
# WORTH A.4: of 70 runs 48 were JSON as they stood, 16 held JSON, 6 were none (their arrays could still be read in most).
MIX = ("direct",) * 48 + ("fenced",) * 8 + ("around",) * 8 + ("comma",) * 4 + ("cut",) * 2


def _reply(sheet: Sheet, number: int) -> tuple[str, str]:
    """A reply, and the JSON object in it."""
    draw = random.Random(number)  # noqa: S311  # a benchmark
    ids = [one.id for one in sheet.episode.sentences]
    chosen = sorted(draw.sample(ids, draw.randint(8, sheet.episode.quota.sentences)))
    roles = sorted(draw.sample([one.id for one in sheet.episode.candidates], draw.randint(1, 4)))
    words = "the clock was wet before nine and nobody who had been below could say so on the Monday".split()
    body = {
        "episode_id": sheet.episode.id,
        "clue_sentence_ids": chosen,
        "selected_role_ids": roles,
        "clue_interpretations": [
            {"sentence_id": one, "interpretation": " ".join(draw.choices(words, k=35))} for one in chosen
        ],
        "evidence_combination": " ".join(draw.choices(words, k=200)),
        "final_conclusion": " ".join(draw.choices(words, k=100)),
        "confidence": draw.randint(40, 100),
    }
    text = json.dumps(body, indent=2 if draw.random() < 0.5 else None)
    kind = MIX[number % len(MIX)]
    if kind == "fenced":
        return f"```json\n{text}\n```", text
    if kind == "around":
        return f"I have checked the list.\n\n{text}\n\nThat is my answer.", text
    if kind == "comma":
        return text[:-1].rstrip() + ",}", text
    return (text[: -len(text) // 8] if kind == "cut" else text), text


def _round(sheet: Sheet, replies: list[tuple[str, str]]) -> tuple[int, int]:
    """Nanoseconds of either side over the same replies, in turns of a few hundred."""
    decoding = scoring = 0
    for at in range(0, len(replies), CHUNK):
        part = replies[at : at + CHUNK]
        begun = time.perf_counter_ns()
        for _, inner in part:
            json.loads(inner)
        decoded = time.perf_counter_ns()
        scored = [score_text(text, sheet)[1] for text, _ in part]
        scoring += time.perf_counter_ns() - decoded
        decoding += decoded - begun
        assert all(isinstance(one, Scored) for one in scored)
    return decoding, scoring


def run(*, smoke: bool = False) -> list[Row]:
    """A hundred thousand replies in the paper's mix of forms, and one whole process."""
    sheet = load_sheet(EPISODE)
    replies = [_reply(sheet, number) for number in range(len(MIX) * (1 if smoke else 72))]
    rounds = []
    gc.disable()  # as timeit does
    try:
        for _ in range(1 if smoke else REPLIES // len(replies) + 1):
            rounds.append(_round(sheet, replies))
            gc.collect()
    finally:
        gc.enable()
    each = [median(side) / len(replies) / 1000 for side in zip(*rounds, strict=True)]
    ratio = median(scoring / decoding for decoding, scoring in rounds)
    return [
        Row(
            "reading and scoring 100,000 replies to `json.loads` of the object in each",
            ratio,
            TARGET,
            f"{each[1]:.0f} µs to {each[0]:.0f} µs",
        ),
        _process(sheet, smoke=smoke),
    ]


def _process(sheet: Sheet, *, smoke: bool) -> Row:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reply = folder / "reply.txt"
        reply.write_text(_reply(sheet, 0)[0], encoding="utf-8")
        rounds = []
        for _ in range(1 if smoke else 15):
            ours, _ = timed(program("worth"), "score", EPISODE, reply, folder=folder)
            theirs, _ = timed(sys.executable, "-c", "import pydantic", folder=folder)
            rounds.append((ours, theirs))
    ours, theirs = (median(side) for side in zip(*rounds, strict=True))
    ratio = median(one / other for one, other in rounds)
    return Row(
        "`worth score` of one reply to `import pydantic`",
        ratio,
        TARGET_PROCESS,
        f"{ours * 1000:.0f} ms to {theirs * 1000:.0f} ms",
    )
