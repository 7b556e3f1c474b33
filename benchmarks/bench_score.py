"""`score_ledger` of a parsed ledger against parsing it: `FactLedger.model_validate_json`."""

import gc
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.measure import Row
from benchmarks.stories import LPI, PCV, write_story
from ludic_deepeval import FactLedger, score_ledger

TARGET = 0.10


def _ledgers(count: int) -> list[str]:
    """As many different ledgers, as JSON without blanks or defaults."""
    with tempfile.TemporaryDirectory() as name:
        locks = [write_story(Path(name), number)[1] for number in range(count)]
    found = [lock.ledger.model_dump_json(exclude_defaults=True) for lock in locks]
    assert len(set(found)) == count
    assert all(4_500 < len(text) < 5_500 for text in found)
    return found


def _round(texts: list[str]) -> tuple[int, int]:
    parsing = scoring = 0
    for text in texts:
        begun = time.perf_counter_ns()
        ledger = FactLedger.model_validate_json(text)
        parsed = time.perf_counter_ns()
        card = score_ledger(ledger)
        scored = time.perf_counter_ns()
        assert (card.lpi, card.pcv) == (LPI, PCV)
        parsing += parsed - begun
        scoring += scored - parsed
        del ledger, card  # now, so that neither side pays for taking the last ones apart
    return parsing, scoring


def run(*, smoke: bool = False) -> list[Row]:
    """A hundred ledgers, each parsed and then scored, thirty-one rounds."""
    texts = _ledgers(10 if smoke else 100)
    _round(texts)
    gc.disable()  # as timeit does
    try:
        rounds = [_round(texts) for _ in range(1 if smoke else 31)]
    finally:
        gc.enable()
    each = [median(side) / len(texts) / 1000 for side in zip(*rounds, strict=True)]
    ratio = median(scoring / parsing for parsing, scoring in rounds)
    return [
        Row("`score_ledger` to parsing the ledger", ratio, TARGET, f"{each[1]:.0f} µs to {each[0]:.0f} µs")
    ]
