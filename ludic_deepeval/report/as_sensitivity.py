"""What `ludic sensitivity` tells."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from ludic_deepeval.errors import clean
from ludic_deepeval.stats.variance import SobolIndices
from ludic_deepeval.studies.corpus import Corpus
from ludic_deepeval.studies.policies import PolicyStability
from ludic_deepeval.studies.sensitivity import ROBUST, WeightStability

_SHOWN: Final = 8
_FEW: Final = 20


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """One analysis of a corpus.

    Attributes:
        corpus: What was scored.
        sweep: The weights perturbed, by one spread or several.
        spread: That of everything below, and of the verdict.
        weights: Sobol's indices of the LPI weights; None where no draw moved a story.
        everything: All numbers of the policy perturbed at once; None when it was not asked for.
        numbers: Sobol's indices of all numbers, for LPI, PCV and the gate; None where nothing moved a story.
    """

    corpus: Corpus
    sweep: Sequence[WeightStability]
    spread: float
    weights: SobolIndices | None
    everything: PolicyStability | None
    numbers: dict[str, SobolIndices | None] | None

    @property
    def at(self) -> WeightStability:
        """The weights perturbed by the spread of the verdict."""
        return next(one for one in self.sweep if one.spread == self.spread)


def sensitivity_text(found: Sensitivity) -> Iterator[str]:
    """Yield the lines of a report."""
    corpus, at = found.corpus, found.at
    count = f"{len(corpus)} {'story' if len(corpus) == 1 else 'stories'}"
    passing = int(corpus.plays.sum())
    yield f"{count}, {passing} at or above their LPI threshold; {at.draws:,} draws of the four LPI weights"
    yield "  weights off by   change sides   never do   order kept: mean, least"
    for one in found.sweep:
        rho = (
            "–"
            if one.spearman_mean is None or one.spearman_min is None
            else f"{one.spearman_mean:.3f}, {one.spearman_min:.3f}"
        )
        yield f"  ±{one.spread:<14.0%} {one.reclassified:>12.2%} {one.never:>10.1%}   {rho}"
    yield from _fragile(found)
    yield ""
    if found.weights is None:
        yield "No draw moved a story: which weight decides cannot be asked."
    else:
        yield f"Which weight decides how many pass (±{found.spread:.0%}; alone, and with the others):"
        yield from _indices(found.weights, 4)
    yield from _everything(found)
    yield ""
    bound = f"{ROBUST:.0%} bound"
    if at.robust:
        yield f"Holds: {at.reclassified:.2%} change sides at ±{found.spread:.0%}, below the {bound}."
    else:
        yield f"Does not hold: {at.reclassified:.2%} change sides at ±{found.spread:.0%}, not below the {bound}."
    if len(corpus) < _FEW:
        yield f"With {count} these shares are coarse: one story is {1 / len(corpus):.0%} of them."
    for name, why in corpus.left_out:
        yield f"left out: {clean(name, limit=300)}: {clean(why, limit=300)}"


def _fragile(found: Sensitivity) -> Iterator[str]:
    """The stories that change sides most often."""
    moved = sorted(
        ((share, name) for share, name in zip(found.at.moved, found.corpus.names, strict=True) if share),
        key=lambda one: (-one[0], one[1]),
    )
    for share, name in moved[:_SHOWN]:
        yield f"    {clean(name, limit=300)}: on the other side in {share:.1%} of the draws at ±{found.spread:.0%}"
    if len(moved) > _SHOWN:
        yield f"    and {len(moved) - _SHOWN} more"


def _indices(index: SobolIndices, most: int) -> Iterator[str]:
    order = sorted(range(len(index.names)), key=lambda i: -index.total[i])
    for i in order[:most]:
        yield f"  {index.names[i]:<15}{index.first[i]:>6.2f}{index.total[i]:>7.2f}"


def _everything(found: Sensitivity) -> Iterator[str]:
    if found.everything is None or found.numbers is None:
        return
    one = found.everything
    yield ""
    yield (
        f"Every number of the policy at once, ±{one.spread:.0%}, {one.draws:,} policies: {one.lpi:.1%} change sides by LPI, {one.pcv:.1%} by PCV,"
        f" {one.gate:.1%} at the gate; {one.never:.1%} never leave their quadrant."
    )
    for name, title in (("lpi", "LPI"), ("pcv", "PCV"), ("gate", "the gate")):
        index = found.numbers[name]
        if index is None:
            yield f"What decides how many pass {title}: nothing does, no policy moved a story."
        else:
            yield f"What decides how many pass {title} (alone, and with the others):"
            yield from _indices(index, 5)


def sensitivity_json(found: Sensitivity) -> dict[str, Any]:
    """The same for programs, with every index and every story."""
    corpus = found.corpus
    return {
        "version": 1,
        "stories": list(corpus.names),
        "left_out": [{"path": name, "reason": why} for name, why in corpus.left_out],
        "passing": int(corpus.plays.sum()),
        "spread": found.spread,
        "robust": found.at.robust,
        "bound": ROBUST,
        "weights": [asdict(one) | {"robust": one.robust} for one in found.sweep],
        "sobol": asdict(found.weights) if found.weights else None,
        "everything": asdict(found.everything) if found.everything else None,
        "sobol_everything": (
            {name: asdict(one) if one else None for name, one in found.numbers.items()}
            if found.numbers is not None
            else None
        ),
    }
