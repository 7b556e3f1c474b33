"""LudicMetrics §5.2 and 5.5 to 5.7: its tests, from the figures that it prints."""

from math import comb, sqrt
from typing import Final

from scipy.optimize import brentq

from ludic_deepeval.stats import (
    critical_difference,
    d_of_t,
    f_summary,
    holm,
    interval_backwards,
    power_r,
    power_t,
    r_summary,
    t_summary,
    tost_summary,
)
from ludic_deepeval.stats.posthoc import normal_p, range_p, true_counts
from ludic_deepeval.stats.ranks import friedman_of
from ludic_deepeval.studies.reanalysis_figures import (
    Figure,
    Found,
    Recipe,
    agreement,
    corners,
    equal,
    reaches,
)

_K: Final = 10
_N: Final = 40
_UNIT: Final = 0.005  # half a unit of two digits
_FINE: Final = 0.0005


def _t_p(t: float, df: float, alternative: str = "two-sided") -> float:
    return t_summary(t, df, alternative=alternative).p_value or 0.0  # type: ignore[arg-type]  # one of three


def _r_p(r: float, n: int, alternative: str = "greater") -> float:
    return r_summary(r, n, alternative=alternative).p_value or 0.0  # type: ignore[arg-type]  # one of three


def _sizes(figure: Figure, _: dict[str, Figure]) -> Found:
    cells, n = figure.inputs["cells"], figure.inputs["n"]
    value = {
        "N": [one * n for one in cells],
        "new": (cells[1] - cells[0]) * n,
        "df": [cells[0] * (n - 1), 8 * (n - 1)],
        "pairs": comb(cells[1], 2),
        "tests": 4 * 4,
    }
    return Found(value, equal(value, figure.printed), "counting")


def _h1a_delta(figure: Figure, _: dict[str, Figure]) -> Found:
    before, after = figure.inputs["ungated"], figure.inputs["gated"]
    value = {"delta": after - before, "rel_pct": 100 * (before - after) / before}
    return Found(value, agreement((value[one], figure.printed[one], None) for one in value), "difference")


def _h1a_p(figure: Figure, _: dict[str, Figure]) -> Found:
    value = _t_p(figure.inputs["t"], figure.inputs["df"], "less")
    return Found(value, agreement([(value, figure.printed, 3)]), "t_summary")


def _h1a_d(figure: Figure, _: dict[str, Figure]) -> Found:
    value = d_of_t(figure.inputs["t"], *figure.inputs["n"])
    return Found(value, agreement([(value, figure.printed, 2)]), "d_of_t")


def _h1c_p(figure: Figure, _: dict[str, Figure]) -> Found:
    t, df = figure.inputs["t"], figure.inputs["df"]
    value = [_t_p(t + off, df) for off in (-_UNIT, 0, _UNIT)]
    return Found(value, agreement([(value[1], figure.printed, 2)], [(value[2], value[0])]), "t_summary")


def _h1c_ci(figure: Figure, _: dict[str, Figure]) -> Found:
    (low, high), df = figure.inputs["ci"], figure.inputs["df"]
    centre, se = interval_backwards(low, high, df)
    value = {"centre": centre, "se": se, "t": centre / se}

    def t(a: float, b: float) -> float:
        middle, error = interval_backwards(a, b, df)
        return middle / error

    shown = figure.printed
    ends = [(low, _FINE), (high, _FINE)]
    verdict = agreement(
        [(centre, shown["delta"], 3), (value["t"], shown["t"], 2)],
        [corners(lambda a, b: (a + b) / 2, *ends), corners(t, *ends)],
    )
    return Found(value, verdict, "interval_backwards")


def _h1c_tost(figure: Figure, _: dict[str, Figure]) -> Found:
    given = figure.inputs
    found = tost_summary(given["delta"], given["se"], given["df"], given["bound"])
    return Found(found.p_value, "not printed", "tost_summary")


def _anova(figure: Figure, _: dict[str, Figure]) -> Found:
    f, df = figure.inputs["F"], figure.inputs["df"]
    found = f_summary(f, *df)
    value = {"p": found.p_value, "eta_p2": found.effect}
    asked, reach = [], []
    for name, shown in figure.printed.items():
        if isinstance(shown, str):  # "<.001"
            continue
        asked.append((value[name], shown, 3))
        reach.append(corners(lambda one, name=name: _of_f(one, df, name), (f, _UNIT)))
    return Found(value, agreement(asked, reach), "f_summary")  # type: ignore[arg-type]  # an F has both


def _of_f(f: float, df: list[float], name: str) -> float:
    found = f_summary(f, *df)
    return (found.p_value if name == "p" else found.effect) or 0.0


def _anova_from_cells(figure: Figure, _: dict[str, Figure]) -> Found:
    means, n = figure.inputs["means"], figure.inputs["n"]
    mse = n * sum(se**2 for se in figure.inputs["se"]) / 4  # each SE² is two variances over n
    (a, b), (c, d) = means["q14"], means["opus"]  # ungated, gated
    contrasts = [(b + d) - (a + c), (c + d) - (a + b), (b - a) - (d - c)]

    def f(contrast: float) -> float:
        return float(n * contrast**2 / (4 * mse))

    value = {"MSE": mse, "F": [f(one) for one in contrasts]}
    # Four means that are each off by at most half a unit move a contrast by at most two.
    reach = [corners(f, (abs(one), 4 * _FINE)) for one in contrasts]
    asked = [(one, shown, 2) for one, shown in zip(value["F"], figure.printed["F"], strict=True)]
    return Found(value, agreement(asked, reach), "F of contrasts")


def _sd_ratio(figure: Figure, every: dict[str, Figure]) -> Found:
    n = figure.inputs["n"]
    ratios, deviations = [], []
    for df, se in zip(figure.inputs["df"], every["anova1.from_cells"].inputs["se"], strict=True):
        # (n−1)(1+r)²/(1+r²) = df, a quadratic in r, the smaller variance over the larger.
        gap = n - 1 - df
        r = (-2 * (n - 1) + sqrt(4 * (n - 1) ** 2 - 4 * gap**2)) / (2 * gap)
        larger = n * se**2 / (1 + r)
        ratios.append(r)
        deviations.append([sqrt(larger), sqrt(larger * r)])
    return Found({"r": ratios, "SDs": deviations}, "not printed", "Satterthwaite's df solved")


def _mean_square(gaps: tuple[float, ...], n: int) -> list[float]:
    """The error that F = .78 for gating and F = 2.99 for the interaction imply for these four gate effects."""
    middle = sum(gaps) / len(gaps)
    gating = n * len(gaps) / 2 * middle**2
    interaction = n / 2 * sum((gap - middle) ** 2 for gap in gaps) / (len(gaps) - 1)
    return [gating / 0.78, interaction / 2.99]


def _anova_from_deltas(figure: Figure, _: dict[str, Figure]) -> Found:
    deltas, n = figure.inputs["deltas"], figure.inputs["n"]
    value = _mean_square(tuple(deltas), n)
    inputs = [(delta, _FINE) for delta in deltas]
    first, second = (corners(lambda *gaps, i=i: _mean_square(gaps, n)[i], *inputs) for i in (0, 1))
    meet = first[0] <= second[1] and second[0] <= first[1]
    return Found(value, "within rounding" if meet else "disagrees", "F solved for its error")


def _baseline(figure: Figure, _: dict[str, Figure]) -> Found:
    t, shown = figure.inputs["t"], figure.printed
    value = {
        "df78": [_t_p(t + off, 78) for off in (-_UNIT, 0, _UNIT)],
        "df156": _t_p(t, 156),
    }
    # Fewer degrees of freedom give a larger p, so that 78 is the kindest reading.
    verdict = agreement([(value["df78"][1], shown, 3)], [(value["df78"][2], value["df78"][0])])  # type: ignore[index]  # a list
    return Found(value, verdict, "t_summary")


def _counts(figure: Figure, _: dict[str, Figure]) -> Found:
    given = figure.inputs
    value = given["inv"] + given["reu"]
    reach = corners(lambda a, b: a + b, (given["inv"], _UNIT), (given["reu"], _UNIT))
    return Found(value, agreement([(value, figure.printed, 2)], [reach]), "sum")


def _iterations(figure: Figure, _: dict[str, Figure]) -> Found:
    value = figure.inputs["total"] / figure.inputs["n"]
    return Found(value, agreement([(value, figure.printed, 2)]), "share")


def _critical(figure: Figure, _: dict[str, Figure]) -> Found:
    value = critical_difference(figure.inputs["k"], figure.inputs["N"], alpha=figure.inputs["alpha"])
    return Found(value, agreement([(value, figure.printed, 3)]), "critical_difference")


def _shaffer(figure: Figure, _: dict[str, Figure]) -> Found:
    low, high = figure.inputs["ranks"]
    factor = true_counts(_K)[figure.inputs["step"] - 1]

    def p(gap: float) -> float:
        return float(normal_p(gap, _K, _N) * factor)

    reach = corners(p, (high - low, 2 * _UNIT))
    value = {"point": p(high - low), "rounding_interval": list(reach)}
    return Found(value, agreement([(p(high - low), figure.printed, 3)], [reach]), "normal_p, true_counts")


def _shaffer_next(figure: Figure, _: dict[str, Figure]) -> Found:
    gap = figure.inputs["dR"]
    value = {
        "shaffer": float(normal_p(gap, _K, _N)) * true_counts(_K)[4],
        "nemenyi_q": float(range_p(gap, _K, _N)),
    }
    return Found(value, "left open", "normal_p, true_counts, range_p")


def _friedman_bound(figure: Figure, _: dict[str, Figure]) -> Found:
    known = figure.inputs["known"]
    # The statistic is least where the four that are not printed share what is left.
    rest = (_K * (_K + 1) / 2 - sum(known)) / (_K - len(known))
    found = friedman_of([*known, *[round(rest, 2)] * (_K - len(known))], _N)
    value = {"chi2_min": found.statistic, "p": found.p_value}
    return Found(value, "agrees" if (found.p_value or 0) < 0.001 else "disagrees", "friedman_of")


def _llama(figure: Figure, _: dict[str, Figure]) -> Found:
    low, high = figure.inputs["ranks"]
    value = {"dR": high - low, "nemenyi_p": float(range_p(high - low, _K, _N))}
    return Found(value, "remark", "range_p")


def _q4_holm(figure: Figure, every: dict[str, Figure]) -> Found:
    n = figure.inputs["n"]
    others = [_r_p(every[name].inputs["r"], n) for name in ("r.Q3.p", "r.Q1", "r.Q2")]

    def first(r: float) -> float:
        return holm([_r_p(r, n), *others])[0]

    reach = corners(first, (figure.inputs["r"], _UNIT))
    needed = brentq(lambda r: first(r) - figure.printed, 0.3, 0.5)
    value = {"point": first(figure.inputs["r"]), "rounding_interval": list(reach), "r_needed": float(needed)}
    fits = reaches(reach, figure.printed, 3)
    return Found(value, "within rounding" if fits else "disagrees", "r_summary, holm")


def _q3(figure: Figure, _: dict[str, Figure]) -> Found:
    r, n = figure.inputs["r"], figure.inputs["n"]
    value = _r_p(r, n)
    reach = corners(lambda one: _r_p(one, n), (r, _UNIT))
    return Found(value, agreement([(value, figure.printed, 3)], [reach]), "r_summary")


def _q3_holm(figure: Figure, _: dict[str, Figure]) -> Found:
    return Found(holm([0.002, figure.inputs["p"], 0.5, 0.5])[1], "remark", "holm")


def _not_significant(figure: Figure, _: dict[str, Figure]) -> Found:
    value = _r_p(figure.inputs["r"], figure.inputs["n"])
    return Found(value, "agrees" if value > 0.05 else "disagrees", "r_summary")


def _q4_interval(figure: Figure, _: dict[str, Figure]) -> Found:
    found = r_summary(figure.inputs["r"], figure.inputs["n"])
    return Found(list(found.interval or ()), "remark", "r_interval")


def _power_r(figure: Figure, _: dict[str, Figure]) -> Found:
    n, power = figure.inputs["n"], figure.inputs["power"]
    value = {
        "r": power_r(n=n, power=power, tails="one").effect,
        "n_for_r32": power_r(r=0.32, power=power, tails="one").n,
        "power_at_r32": power_r(n=n, r=0.32, tails="one").power,
    }
    return Found(value, "agrees" if value["power_at_r32"] >= power else "disagrees", "power_r")


def _power_t(figure: Figure, _: dict[str, Figure]) -> Found:
    n, d = figure.inputs["n"], figure.inputs["d"]
    value = {
        "one_tailed_simple": power_t(n=n, d=d, tails="one").power,
        "two_tailed_80v80": power_t(n=2 * n, d=d).power,
        "d_for_80pct_one_tailed": power_t(n=n, power=0.8, tails="one").effect,
        "n_for_80pct": power_t(d=d, power=0.8, tails="one").n,
    }
    return Found(value, "left open", "power_t")


RECIPES: Final[dict[str, Recipe]] = {
    "sizes": _sizes,
    "h1a.delta": _h1a_delta,
    "h1a.p": _h1a_p,
    "h1a.d": _h1a_d,
    "h1c.p": _h1c_p,
    "h1c.ci": _h1c_ci,
    "h1c.tost": _h1c_tost,
    **dict.fromkeys(
        (f"anova{i}.{name}" for i in (1, 2) for name in ("gating", "generator", "interaction")), _anova
    ),
    "anova1.from_cells": _anova_from_cells,
    "welch.sd_ratio": _sd_ratio,
    "anova2.from_deltas": _anova_from_deltas,
    "baseline.t": _baseline,
    "counts.8b": _counts,
    **dict.fromkeys(("iters.opus", "iters.q14", "iters.llama", "iters.q8"), _iterations),
    "r.pooled": lambda figure, _: Found(
        _r_p(figure.inputs["r"], figure.inputs["n"], "two-sided"), "not printed", "r_summary"
    ),
    "nemenyi.cd": _critical,
    "shaffer.t10": lambda figure, _: Found(
        list(true_counts(figure.inputs["k"])), "not printed", "true_counts"
    ),
    **dict.fromkeys(
        (f"shaffer.{pair}" for pair in ("G-Llama.G-4B", "G-Llama.U-4B", "G-14B.G-4B", "U-8B.G-4B")), _shaffer
    ),
    "shaffer.next": _shaffer_next,
    "friedman.Ea.bound": _friedman_bound,
    "llama_vs_8b": _llama,
    "r.Q4.holm": _q4_holm,
    "r.Q3.p": _q3,
    "r.Q3.holm": _q3_holm,
    "r.Q1": _not_significant,
    "r.Q2": _not_significant,
    "r.Q4.ci": _q4_interval,
    "power.r": _power_r,
    "power.t": _power_t,
}
