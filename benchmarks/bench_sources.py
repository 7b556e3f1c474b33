"""Vaults and cards: four times as many files should take four times as long, and a story's check must not feel the vault."""

import json
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median

from benchmarks.measure import Row
from ludic_deepeval.check import check_stories
from ludic_deepeval.lore.loading import read_lore

_WORDS = "The mill burned for two nights and somebody had paid for the bell not to ring. " * 12
CARD = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "data": {"name": "A", "description": _WORDS, "first_mes": "x"},
}


def vault_of(folder: Path, count: int) -> Path:
    """A vault of notes of a thousand characters, each with front matter, an alias and a link to the next."""
    home = folder / f"vault-{count}"
    (home / ".obsidian").mkdir(parents=True)
    for n in range(count):
        place = home / f"part-{n % 50}"
        place.mkdir(exist_ok=True)
        front = f"---\naliases: [Keeper {n}]\ntags: [npc]\n---\n"
        (place / f"Note {n}.md").write_text(
            f"{front}[[Note {(n + 1) % count}]] knows. {_WORDS}\n", encoding="utf-8"
        )
    return home


def cards_of(folder: Path, count: int) -> Path:
    """A folder of cards in JSON."""
    home = folder / f"cards-{count}"
    home.mkdir()
    for n in range(count):
        (home / f"{n}.json").write_text(json.dumps(CARD, indent=1), encoding="utf-8")
    return home


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _fourfold(small: Callable[[], object], large: Callable[[], object], rounds: int) -> tuple[float, str]:
    """The ratio of four times the files to once, over four; and the median times."""
    pairs = [(_seconds(small), _seconds(large)) for _ in range(rounds)]
    ratio = median(large / small for small, large in pairs) / 4
    return (
        ratio,
        f"{median(large for _, large in pairs):.2f} s to 4 × {median(small for small, _ in pairs):.2f} s",
    )


def run(*, smoke: bool = False) -> list[Row]:
    """2,500 and 10,000 notes, 500 and 2,000 cards, in turns, three rounds; then the memory of the larger vault."""
    few, many = (10, 40) if smoke else (2_500, 10_000)
    rounds = 1 if smoke else 3
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, large = vault_of(folder, few), vault_of(folder, many)
        assert len(read_lore(large).bible.entries) == many
        notes = _fourfold(lambda: read_lore(small), lambda: read_lore(large), rounds)
        tracemalloc.start()
        read_lore(large)
        peak = tracemalloc.get_traced_memory()[1] / sum(path.stat().st_size for path in large.rglob("*.md"))
        tracemalloc.stop()
        some, more = cards_of(folder, few // 5), cards_of(folder, many // 5)
        assert check_stories([more]).summary["unread"] == many // 5
        cards = _fourfold(lambda: check_stories([some]), lambda: check_stories([more]), rounds)
    return [
        Row(f"a vault of {many:,} notes to four of {few:,}", notes[0], 1.25, notes[1]),
        Row(f"peak memory of {many:,} notes to the size of their files", peak, 8, ""),
        Row(f"`ludic check` of {many // 5:,} cards to four times {few // 5:,}", cards[0], 1.25, cards[1]),
    ]
