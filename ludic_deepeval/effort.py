"""What a game master had to invent (Eq 12) and how far three openings differ (§5.5): arithmetic over labelled outlines.

    E_a = #Invented / (#Reused + #Invented)
    Div_alpha = 1 − 1/6 · Σ over the three pairs of outlines of [J_NPC + J_hook],   J(A, B) = |A ∩ B| / |A ∪ B|

No model is asked here: `stress` makes the outlines and the labels.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final, Literal, TypeAlias

from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from ludic_deepeval.text import name_key

Verdict: TypeAlias = Literal["reused", "invented", "ambiguous"]
Kind: TypeAlias = Literal["npc", "hook"]
LOW: Final = Fraction(1, 5)  # §4.4: the backstory staffs the encounter
HIGH: Final = Fraction(2, 5)  # §4.4: substantial invention
CLUSTERED: Final = Fraction(1, 2)  # §5.3: the first count joined outlines at this overlap
_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Label:
    """What the reuse judge says of one person or hook of an outline.

    Attributes:
        kind: npc or hook.
        text: The name of the person, or the words of the hook.
        verdict: reused, invented or ambiguous.
        item: The id of the ledger's item that it rests on; None unless it is reused.
    """

    kind: Kind
    text: str
    verdict: Verdict
    item: str | None = None


@dataclass(frozen=True, slots=True)
class Effort:
    """The adaptation effort of one trial.

    Attributes:
        reused: How many people and hooks came from the ledger.
        invented: How many were new.
        ambiguous: How many could not be told; reported and not counted.
        outlines: E_a of each outline, None where nothing in it was told apart.
    """

    reused: int
    invented: int
    ambiguous: int
    outlines: tuple[Fraction | None, ...]

    @property
    def value(self) -> Fraction:
        """E_a in [0, 1], pooled over the outlines; lower is better (Eq 12)."""
        return Fraction(self.invented, self.reused + self.invented)

    @property
    def invented_of_all(self) -> Fraction:
        """Invented over everything emitted, ambiguous included (§5.3), in [0, 1]; lower is better."""
        return Fraction(self.invented, self.reused + self.invented + self.ambiguous)

    @property
    def band(self) -> Literal["low", "middle", "high"]:
        """Low up to .20, high from .40 (§4.4)."""
        return "low" if self.value <= LOW else "high" if self.value >= HIGH else "middle"


def adaptation_effort(outlines: Sequence[Sequence[Label]]) -> Outcome[Effort]:
    """Measure E_a over the outlines of one trial.

    Returns:
        The effort, or `Unscored("labels")` when nothing was told reused or invented.
    """
    counts = [_count(labels) for labels in outlines]
    reused, invented, ambiguous = (
        (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0, 0)
    )
    if not reused + invented:
        told = f"{ambiguous} ambiguous" if ambiguous else "no person and no hook"
        return Unscored("labels", f"nothing in the outlines was told reused or invented ({told})")
    each = tuple(Fraction(n, r + n) if r + n else None for r, n, _ in counts)
    return Scored(Effort(reused, invented, ambiguous, each))


def _count(labels: Iterable[Label]) -> tuple[int, int, int]:
    verdicts = [label.verdict for label in labels]
    return verdicts.count("reused"), verdicts.count("invented"), verdicts.count("ambiguous")


@dataclass(frozen=True, slots=True)
class Branching:
    """How different three openings of one backstory are.

    Attributes:
        value: Div_alpha in [0, 1]; higher is more divergent. 1: no shared person or hook, 0: the same opening thrice.
        npc_overlap: Mean Jaccard overlap of the people, in [0, 1].
        hook_overlap: Mean Jaccard overlap of the hooks as they are worded, in [0, 1].
        by_item: The same measure when what was labelled reused is compared by the ledger's item, since two wordings of
            one hook seldom match word for word.
        clusters: The paper's first count (§5.3): groups of outlines joined where the mean overlap reaches .5; 1 to 3.
    """

    value: Fraction
    npc_overlap: Fraction
    hook_overlap: Fraction
    by_item: Fraction
    clusters: int


def branching_diversity(outlines: Sequence[Sequence[Label]], ledger: FactLedger) -> Outcome[Branching]:
    """Measure Div_alpha over the three outlines of one trial.

    Args:
        outlines: Three outlines' people and hooks.
        ledger: Names and aliases of one person in it are one name.

    Returns:
        The diversity, or `Unscored("outlines")` when there are not three, or one has neither person nor hook.
    """
    if len(outlines) != 3:
        return Unscored("outlines", f"{len(outlines)} outlines, and Div_alpha compares three")
    if empty := [n for n, labels in enumerate(outlines, 1) if not labels]:
        return Unscored("outlines", f"outline {empty[0]} has neither a person nor a hook")
    same = {name_key(name): f"npc:{npc.id}" for npc in ledger.npcs for name in npc.names}

    def worded(label: Label) -> str:
        key = name_key(label.text)
        return same.get(key, key) if label.kind == "npc" else key

    def by_item(label: Label) -> str:
        return f"item:{label.item}" if label.verdict == "reused" and label.item else worded(label)

    people, hooks = (_overlaps(outlines, kind, worded) for kind in ("npc", "hook"))
    joined = [(one + two) / 2 for one, two in zip(people, hooks, strict=True)]
    items = [_overlaps(outlines, kind, by_item) for kind in ("npc", "hook")]
    return Scored(
        Branching(
            value=1 - sum(joined, _ZERO) / 3,
            npc_overlap=sum(people, _ZERO) / 3,
            hook_overlap=sum(hooks, _ZERO) / 3,
            by_item=1 - sum(items[0] + items[1], _ZERO) / 6,
            clusters=_clusters(joined),
        )
    )


def _overlaps(outlines: Sequence[Sequence[Label]], kind: str, key: Callable[[Label], str]) -> list[Fraction]:
    """The Jaccard overlap of each pair: (1, 2), (1, 3), (2, 3)."""
    sets = [{key(label) for label in labels if label.kind == kind} for labels in outlines]
    return [_jaccard(one, two) for one, two in combinations(sets, 2)]


def _jaccard(one: set[str], two: set[str]) -> Fraction:
    # Two empty sets are the same: else one opening told three times would not have a diversity of 0.
    return Fraction(len(one & two), len(one | two)) if one | two else _ONE


def _clusters(overlaps: list[Fraction]) -> int:
    """Outlines are joined where they overlap enough, directly or by way of the third."""
    joined = sum(overlap >= CLUSTERED for overlap in overlaps)
    return max(1, 3 - joined)
