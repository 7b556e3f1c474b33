"""Draw how far the gate survives readings that are wrong at known rates (needs the extra studies; run from the root folder)."""

from pathlib import Path

import matplotlib as mpl

from ludic_deepeval.check import Checker
from ludic_deepeval.corruption import Rates, corrupt
from ludic_deepeval.lockfile import load_lockfile
from ludic_deepeval.notary_eval import Pair, evaluate
from ludic_deepeval.outcome import Scored
from ludic_deepeval.sources import find_stories, read_story

mpl.use("Agg")
mpl.rcParams["svg.hashsalt"] = "ludic"  # the same picture to the byte
mpl.rcParams["svg.fonttype"] = "none"

from matplotlib import pyplot as plt  # noqa: E402  # the backend is chosen first

ROOT = Path(__file__).parents[1]
RATES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
SEEDS = range(20)
KINDS = {
    "dropped": ("items left out", "o-", "#1b6ca8"),
    "invented": ("items invented on real words", "s-", "#b3541e"),
    "mistiered": ("hooks of another tier", "^-", "#3c7d3c"),
    "misquoted": ("quotes that are not there", "x-", "#7a4b8c"),
}


def measure(kind: str, rate: float) -> tuple[int, int, int]:
    """On how many of how many story readings the gate is the same, and how many have no verdict."""
    checker = Checker()
    same = both = every = 0
    for path in find_stories([ROOT / "test_cases" / "backstories"]):
        story = read_story(path)
        gold = load_lockfile(story.lockfile).ledger
        right = checker.read_ledger(story, gold).card
        pairs = []
        for seed in SEEDS:
            lock = corrupt(gold, story.prose, Rates(**{kind: rate}), seed).lock
            card = lock.too_little_grounded or Scored(checker.read(story, lock).card)
            pairs.append(Pair(str(path), gold, lock, right, card))
        agree, scored = evaluate(pairs).gate
        same, both, every = same + agree, both + scored, every + len(pairs)
    return same, both, every - both


def main() -> None:
    """Write docs/images/gate-corruption.svg, and print the numbers in it."""
    figure, (upper, lower) = plt.subplots(
        2, 1, figsize=(7.5, 5.6), sharex=True, height_ratios=(3, 1), layout="constrained"
    )
    for kind, (label, style, colour) in KINDS.items():
        found = [measure(kind, rate) for rate in RATES]
        print(kind, found)  # noqa: T201  # a script
        seen = [(rate, same / both) for rate, (same, both, _) in zip(RATES, found, strict=True) if both]
        upper.plot(*zip(*seen, strict=True), style, color=colour, label=label)
        lower.plot(RATES, [none / (both + none) for _, both, none in found], style, color=colour)
    upper.set(ylim=(0.5, 1.01), ylabel="same verdict as by hand\n(share of those with one)")
    upper.legend(frameon=False, loc="lower left")
    lower.set(ylim=(-0.05, 1.05), ylabel="no verdict\n(share)", xlabel="share of the ledger that is wrong")
    for axis in (upper, lower):
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    target = ROOT / "docs" / "images" / "gate-corruption.svg"
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main()
