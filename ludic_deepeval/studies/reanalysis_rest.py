"""LudicMetrics §5: what is neither a score nor a test: shares, ranks, ratings, weights, and words against words."""

from typing import Final

from ludic_deepeval.policy import Policy
from ludic_deepeval.studies.reanalysis_figures import Figure, Found, Recipe, agreement, equal
from ludic_deepeval.studies.sensitivity import SPREAD

_DIMENSIONS: Final = ("RTN", "MV", "UCR", "TH")


def _deterministic(figure: Figure, _: dict[str, Figure]) -> Found:
    value = abs(figure.inputs["det"] - figure.inputs["target"]) / figure.inputs["target"]
    return Found(value, "agrees" if value <= 0.015 else "disagrees", "relative difference")


def _rubric(figure: Figure, _: dict[str, Figure]) -> Found:
    gap = abs(figure.inputs["rubric"] - figure.inputs["det"])
    value = [gap / figure.inputs["det"], gap / figure.inputs["rubric"]]
    return Found(value, "left open", "relative difference")


def _passes(figure: Figure, _: dict[str, Figure]) -> Found:
    given = figure.inputs
    value = {
        "q14": [one / given["n"] for one in given["q14"]],
        "opus": [one / given["n"] for one in given["opus"]],
        "opus_regenerated": given["n"] - given["opus_first"],
    }
    return Found(value, "not printed", "shares")


def _never(figure: Figure, _: dict[str, Figure]) -> Found:
    value = 100 * figure.inputs["k"] / figure.inputs["n"]
    return Found(value, agreement([(value, figure.printed, 1)]), "share")


def _flips(figure: Figure, _: dict[str, Figure]) -> Found:
    rates = zip(figure.inputs["rate_pct"], figure.inputs["n"], strict=True)
    return Found([rate * n / 100 for rate, n in rates], "not printed", "rate × n")


def _sobol_sums(figure: Figure, _: dict[str, Figure]) -> Found:
    return Found([sum(figure.inputs[name]) for name in ("ST160", "ST400")], "not printed", "sums")


def _spread(figure: Figure, _: dict[str, Figure]) -> Found:
    value = figure.inputs["b"] - figure.inputs["a"]
    return Found(value, agreement([(value, figure.printed, 2)]), "difference")


def _rank_sum(figure: Figure, _: dict[str, Figure]) -> Found:
    known, k = figure.inputs["known"], figure.inputs["k"]
    return Found((k * (k + 1) / 2 - sum(known)) / (k - len(known)), "not printed", "sum of ranks")


def _ranks(figure: Figure, _: dict[str, Figure]) -> Found:
    given = figure.inputs
    clique, gain = (3.35, 4.00), 2.54  # §5.6 and 5.12
    value = {
        "U4B_LPI": given["G4B_LPI"] - given["loss"],
        "ULlama_Div": given["GLlama_Div"] - given["loss2"],
        "ULlama_LPI_range": [one + gain for one in clique],
    }
    return Found(value, "not printed", "differences")


def _ratings(figure: Figure, _: dict[str, Figure]) -> Found:
    value = figure.inputs["four"] * 4 + figure.inputs["three"] * 3
    return Found(value, equal(value, figure.printed), "sum")


def _weights_sum(figure: Figure, _: dict[str, Figure]) -> Found:
    value = sum(figure.inputs["w"])
    return Found(value, agreement([(value, figure.printed, 2)]), "sum")


def _weights_delta(figure: Figure, _: dict[str, Figure]) -> Found:
    found, default = figure.inputs["w"], [float(weight) for weight in Policy().weights]
    gaps = [abs(a - b) for a, b in zip(found, default, strict=True)]
    order = sorted(range(4), key=lambda i: -found[i])
    met = order == [0, 1, 2, 3] and max(gaps) <= 0.10 + 1e-9
    value = {"abs": gaps, "order": ">".join(_DIMENSIONS[i] for i in order)}
    return Found(value, "disagrees" if met else "agrees", "|Δω|, order")


def _sweep(figure: Figure, _: dict[str, Figure]) -> Found:
    """A vector is reached by ±p exactly where its largest ratio to the default is at most (1+p)/(1−p) times its smallest."""
    ratios = [a / b for a, b in zip(figure.inputs["w"], figure.inputs["default"], strict=True)]
    farthest, spread = max(ratios) / min(ratios), figure.inputs["p"]
    limits = [(1 + p) / (1 - p) for p in (spread, SPREAD)]
    value = {"ratios": ratios, "max_over_min": farthest, "limit_p50": limits[0], "limit_p20": limits[1]}
    return Found(value, "agrees" if farthest <= limits[0] else "disagrees", "ratio of weights")


def _words(value: object, verdict: str) -> Recipe:
    return lambda *_: Found(value, verdict, "reading")  # type: ignore[arg-type]  # a verdict


RECIPES: Final[dict[str, Recipe]] = {
    "cal.det": _deterministic,
    "cal.rubric": _rubric,
    "pilot.Ea": lambda figure, _: Found(figure.inputs["Ea"], "remark", "reading"),
    "pilot.n": _words(None, "disagrees"),
    "passes": _passes,
    "jaccard.div": lambda figure, _: Found([1 - one for one in figure.inputs["J"]], "not printed", "1 − J"),
    "mc.never": _never,
    "mc.flips": _flips,
    "sobol.sums": _sobol_sums,
    "ranks.spread": _spread,
    "ranks.sum": _rank_sum,
    "ranks.derived": _ranks,
    "gate_all_families": _words("same paragraph: G-4B loses 1.26 LPI positions", "disagrees"),
    "bottom": _words("ungated U-4B ranks 9th, between them", "remark"),
    "ratings": _ratings,
    "ahp.sum": _weights_sum,
    "ahp.delta": _weights_delta,
    "ahp.inside_sweep": _sweep,
}
