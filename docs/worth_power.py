"""Draw how often each diagnosis of `worth report` speaks, and print the numbers (needs the extra studies; from the root folder).

Everything is made by a script with fixed seeds: the same numbers and the same picture each time. Some ten minutes.
"""

import json
from multiprocessing import Pool
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes

from ludic_deepeval.stats.intervals import Rate
from worth_deepeval.diagnosis.profiles import rate_text
from worth_deepeval.episode import load_sheet
from worth_deepeval.power import SCENARIOS, Scenario, rate

mpl.use("Agg")
mpl.rcParams["svg.hashsalt"] = "worth"  # the same picture to the byte
mpl.rcParams["svg.fonttype"] = "none"

from matplotlib import pyplot as plt  # noqa: E402  # the backend is chosen first

ROOT = Path(__file__).parents[1]
STRENGTHS = (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
ALARMS, SAMPLES = 300, 100
STYLES = {5: ("o-", "#1b6ca8"), 20: ("s--", "#b3541e")}
JOBS = [(at, runs) for at, one in enumerate(SCENARIOS) for runs in ((5, 20) if one.models == 1 else (5,))]


def measure(job: tuple[int, int]) -> list[Rate]:
    """How often one diagnosis speaks at strength 0 and at each of the others."""
    at, runs = job
    sheet = load_sheet(ROOT / "test_cases" / "episodes" / "WEN01")
    return [
        rate(SCENARIOS[at], sheet, strength, runs=runs, samples=SAMPLES if strength else ALARMS)
        for strength in (0, *STRENGTHS)
    ]


def draw(axis: Axes, one: Scenario, curves: list[tuple[str, int, list[Rate]]]) -> None:
    """Draw the curves of one diagnosis."""
    for who, runs, found in curves:
        style, colour = STYLES[runs]
        x = (0, *STRENGTHS)
        axis.plot(
            x, [each.rate or 0 for each in found], style, color=colour, markersize=3, label=f"{who} runs"
        )
        low, high = [each.low or 0 for each in found], [each.high or 0 for each in found]
        axis.fill_between(x, low, high, color=colour, alpha=0.12, linewidth=0)
    axis.axhline(one.level, color="#888", linewidth=0.8, linestyle=":")
    axis.set_title(one.name, fontsize=9)
    axis.set_xlabel(one.strength, fontsize=7)
    axis.legend(frameon=False, fontsize=7, loc="lower right")
    axis.grid(alpha=0.3)
    axis.spines[["top", "right"]].set_visible(False)


def main() -> None:
    """Write docs/images/worth-power.svg and docs/images/worth-power.json, and print both tables."""
    alarms, powers, kept = [], [], []
    curves: dict[int, list[tuple[str, int, list[Rate]]]] = {}
    with Pool(2) as pool:
        for (at, runs), found in zip(JOBS, pool.imap(measure, JOBS), strict=True):
            one = SCENARIOS[at]
            who = f"{one.models} × {runs}" if one.models > 1 else f"{runs}"
            alarms.append(f"| {one.name} | {who} | {one.level:g} | {rate_text(found[0])} |")
            powers.append(f"| {one.name} | {who} | {' | '.join(f'{100 * (each.rate or 0):.0f}' for each in found[1:])} |")  # fmt: skip
            spoke = {str(strength): [each.count, each.of] for strength, each in zip((0, *STRENGTHS), found, strict=True)}  # fmt: skip
            kept.append({"diagnosis": one.name, "models": one.models, "runs": runs, "level": one.level, "spoke": spoke})  # fmt: skip
            curves.setdefault(at, []).append((who, runs, found))
            print(alarms[-1], powers[-1], flush=True)  # noqa: T201  # a script
    figure, axes = plt.subplots(5, 3, figsize=(10.5, 13), sharex=True, sharey=True, layout="constrained")
    for axis in list(axes.flat)[len(SCENARIOS) :]:
        axis.set_visible(False)
    for at, axis in zip(curves, axes.flat, strict=False):
        draw(axis, SCENARIOS[at], curves[at])
    figure.supylabel("share of samples in which the report says so", fontsize=9)
    images = ROOT / "docs" / "images"
    figure.savefig(images / "worth-power.svg", metadata={"Date": None})
    (images / "worth-power.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print("\n".join(["", *alarms, "", *powers]))  # noqa: T201


if __name__ == "__main__":
    main()
