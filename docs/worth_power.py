"""Draw how often each diagnosis of `worth report` speaks, and print the numbers (needs the extra studies; from the root folder).

Everything is made by a script with fixed seeds: the same numbers and the same picture each time. Some ten minutes.
"""

import json
from pathlib import Path

import matplotlib as mpl

from worth_deepeval.diagnosis.profiles import rate_text
from worth_deepeval.episode import load_sheet
from worth_deepeval.power import SCENARIOS, rate

mpl.use("Agg")
mpl.rcParams["svg.hashsalt"] = "worth"  # the same picture to the byte
mpl.rcParams["svg.fonttype"] = "none"

from matplotlib import pyplot as plt  # noqa: E402  # the backend is chosen first

ROOT = Path(__file__).parents[1]
STRENGTHS = (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
ALARMS, SAMPLES = 400, 150
STYLES = {5: ("o-", "#1b6ca8"), 20: ("s--", "#b3541e")}


def main() -> None:
    """Write docs/images/worth-power.svg and docs/images/worth-power.json, and print both tables."""
    sheet = load_sheet(ROOT / "test_cases" / "episodes" / "WEN01")
    figure, axes = plt.subplots(5, 3, figsize=(10.5, 13), sharex=True, sharey=True, layout="constrained")
    alarms, powers, kept = [], [], []
    for axis, one in zip(axes.flat, SCENARIOS, strict=False):
        for runs in (5, 20) if one.models == 1 else (5,):
            null = rate(one, sheet, 0, runs=runs, samples=ALARMS)
            found = [rate(one, sheet, each, runs=runs, samples=SAMPLES) for each in STRENGTHS]
            who = f"{one.models} × {runs}" if one.models > 1 else f"{runs}"
            alarms.append(f"| {one.name} | {who} | {one.level:g} | {rate_text(null)} |")
            powers.append(f"| {one.name} | {who} | {' | '.join(f'{100 * (each.rate or 0):.0f}' for each in found)} |")  # fmt: skip
            kept.append(
                {
                    "diagnosis": one.name,
                    "models": one.models,
                    "runs": runs,
                    "level": one.level,
                    "alarms": [null.count, null.of],
                    "spoke": {
                        str(at): [each.count, each.of] for at, each in zip(STRENGTHS, found, strict=True)
                    },
                }
            )
            print(alarms[-1], powers[-1], flush=True)  # noqa: T201  # a script
            style, colour = STYLES[runs]
            rates = [each.rate or 0 for each in (null, *found)]
            axis.plot((0, *STRENGTHS), rates, style, color=colour, markersize=3, label=f"{who} runs")
            axis.fill_between(
                (0, *STRENGTHS),
                [each.low or 0 for each in (null, *found)],
                [each.high or 0 for each in (null, *found)],
                color=colour,
                alpha=0.12,
                linewidth=0,
            )
        axis.axhline(one.level, color="#888", linewidth=0.8, linestyle=":")
        axis.set_title(one.name, fontsize=9)
        axis.set_xlabel(one.strength, fontsize=7)
        axis.legend(frameon=False, fontsize=7, loc="lower right")
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in list(axes.flat)[len(SCENARIOS) :]:
        axis.set_visible(False)
    figure.supylabel("share of samples in which the report says so", fontsize=9)
    images = ROOT / "docs" / "images"
    figure.savefig(images / "worth-power.svg", metadata={"Date": None})
    (images / "worth-power.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print("\n".join([*alarms, "", *powers]))  # noqa: T201


if __name__ == "__main__":
    main()
