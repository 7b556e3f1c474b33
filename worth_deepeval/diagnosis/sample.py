"""The runs of one episode under one condition, arranged for counting.

Every set of runs is a whole number whose bit i stands for the i-th scored run: counting who selected what together is one
`&` and one `bit_count`, so that ten thousand runs take seconds.
"""

from dataclasses import dataclass
from functools import cached_property

from worth_deepeval.episode import Sheet
from worth_deepeval.runs import Run
from worth_deepeval.scoring import WorthScore


@dataclass(frozen=True)
class Sample:
    """Runs to be diagnosed.

    Attributes:
        sheet: The episode and its key.
        runs: All runs of one condition, also those that could not be scored.
    """

    sheet: Sheet
    runs: tuple[Run, ...]

    @cached_property
    def scored(self) -> tuple[Run, ...]:
        """The runs that were scored; everything but validity is counted over these."""
        return tuple(run for run in self.runs if run.score is not None)

    @cached_property
    def scores(self) -> tuple[WorthScore, ...]:
        """Their scores."""
        return tuple(run.score for run in self.runs if run.score is not None)

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The models, in the order of the runs; also those of which nothing was scored."""
        return tuple(dict.fromkeys(run.model for run in self.runs))

    @cached_property
    def positions(self) -> dict[str, tuple[int, ...]]:
        """For each model, which of the scored runs are its own."""
        found: dict[str, list[int]] = {model: [] for model in self.models}
        for i, run in enumerate(self.scored):
            found[run.model].append(i)
        return {model: tuple(each) for model, each in found.items()}

    @cached_property
    def by_model(self) -> dict[str, int]:
        """The runs of each model, as bits."""
        return {model: _bits(each) for model, each in self.positions.items()}

    @cached_property
    def by_sentence(self) -> dict[str, int]:
        """The runs that selected each sentence of the story, as bits."""
        found: dict[str, list[int]] = {one.id: [] for one in self.sheet.episode.sentences}
        for i, run in enumerate(self.scored):
            for sentence in run.response.clue_ids:
                found[sentence].append(i)
        return {sentence: _bits(each) for sentence, each in found.items()}

    @cached_property
    def by_role(self) -> dict[str, int]:
        """The runs that named each candidate, as bits."""
        found: dict[str, list[int]] = {one.id: [] for one in self.sheet.episode.candidates}
        for i, run in enumerate(self.scored):
            for role in run.response.role_ids:
                found[role].append(i)
        return {role: _bits(each) for role, each in found.items()}

    @cached_property
    def named(self) -> tuple[frozenset[str], ...]:
        """The candidates that each scored run named."""
        return tuple(frozenset(run.response.role_ids) for run in self.scored)

    @property
    def innocent(self) -> tuple[str, ...]:
        """The candidates who took no part, in the episode's order."""
        return tuple(one.id for one in self.sheet.episode.candidates if one.id not in self.sheet.key.guilty)


def _bits(positions: "list[int] | tuple[int, ...]") -> int:
    if not positions:
        return 0
    out = bytearray(max(positions) // 8 + 1)
    for i in positions:
        out[i // 8] |= 1 << (i % 8)
    return int.from_bytes(out, "little")


def flags(mask: int, n: int) -> list[bool]:
    """The bits of a set of runs, one for each of n runs."""
    return [bit == "1" for bit in f"{mask:b}".zfill(n)[::-1][:n]]
