"""`ludic check --changed` of one changed story among many, and `ludic check` of a thousand: whole processes."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.measure import Row, program, timed
from benchmarks.stories import write_story

TARGET = 2.0
SECONDS = 10.0
_DIFFERENT = (
    100  # stories that are written; the rest are copies under other names, which git does not care about
)


def _write(folder: Path, size: int) -> None:
    folder.mkdir(parents=True)
    written = [write_story(folder, number)[0] for number in range(min(size, _DIFFERENT))]
    for number in range(len(written), size):
        story = written[number % _DIFFERENT]
        for file in (story, story.with_name(f"{story.stem}.ledger.json")):
            shutil.copyfile(file, folder / file.name.replace(story.stem, f"story-{number:05}"))


def _git(folder: Path, *words: str) -> None:
    who = {f"GIT_{role}_{what}": "bench" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *words], cwd=folder, env=os.environ | who, check=True, capture_output=True)  # noqa: S607  # wherever it is


def _repository(folder: Path, size: int) -> None:
    """A repository of `size` stories, one of which has been written anew since the last commit."""
    _write(folder / "stories", size)
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", "stories")
    changed, lock = folder / "stories/story-0001.md", folder / "stories/story-0001.ledger.json"
    shutil.copyfile(folder / "stories/story-0002.md", changed)
    shutil.copyfile(folder / "stories/story-0002.ledger.json", lock)


def _changed(*, smoke: bool) -> Row:
    sizes = (10, 40) if smoke else (10, 10_000)
    seconds: dict[int, list[float]] = {size: [] for size in sizes}
    with tempfile.TemporaryDirectory() as name:
        for size in sizes:
            _repository(Path(name, str(size)), size)
        for number in range(2 if smoke else 22):
            for size in sizes:
                took, said = timed(
                    program("ludic"), "check", "--changed", "stories", folder=Path(name, str(size))
                )
                assert "1 story: 1 as it should be" in said
                if number:  # the first compiles, and warms the disk's cache
                    seconds[size].append(took)
    few, many = (median(seconds[size]) for size in sizes)
    return Row(
        f"`ludic check --changed`, one story of {sizes[1]:,} changed, to one of {sizes[0]}",
        median(more / less for less, more in zip(*seconds.values(), strict=True)),
        TARGET,
        f"{many * 1000:.0f} ms to {few * 1000:.0f} ms",
    )


def _all(*, smoke: bool) -> Row:
    size = 10 if smoke else 1_000
    with tempfile.TemporaryDirectory() as name:
        _write(Path(name, "stories"), size)
        found = []
        for _ in range(1 if smoke else 5):
            took, said = timed(program("ludic"), "check", "stories", "--quiet", folder=Path(name))
            assert f"{size} stories: {size} as it should be" in said
            found.append(took)
    seconds = median(found)
    return Row(
        f"`ludic check` of {size:,} locked stories to {SECONDS:.0f} s",
        seconds / SECONDS,
        1.0,
        f"{seconds:.1f} s to {SECONDS:.0f} s",
    )


def run(*, smoke: bool = False) -> list[Row]:
    """Twenty-one rounds of the first in turns, five of the second."""
    return [_changed(smoke=smoke), _all(smoke=smoke)]
