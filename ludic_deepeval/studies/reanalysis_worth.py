"""WORTH: its totals, ranges and tests, from the figures that it prints."""

from collections.abc import Iterator
from itertools import product
from statistics import mean, stdev
from typing import Final

from ludic_deepeval.stats import fisher, mcnemar_exact, wilson
from ludic_deepeval.studies.reanalysis_figures import Figure, Found, Recipe, agreement, equal

_POINTS: Final = 3  # a clue of the first episode
_ROLE: Final = 5  # a participant, right or wrong
_ROLES: Final = 3
_MODELS: Final = (
    "GPT-5.6 Sol", "Claude Opus 4.6", "Gemini 3.1 Pro", "GLM-5.3", "Kimi K3", "DeepSeek-V4-Pro", "Hy4 preview", "MiniMax-M3",
)  # fmt: skip
_RUNS: Final = 37


def _first_episode(figure: Figure, _: dict[str, Figure]) -> Found:
    given = figure.inputs
    value = {
        "total": mean(given["totals"]),
        "sd": stdev(given["totals"]),
        "clue": _POINTS * given["hits"],
        "participant": _ROLE * (given["correct"] - given["incorrect"]),
    }
    adds_up = abs(value["clue"] + value["participant"] - value["total"]) < 1e-9
    found = agreement((value[name], figure.printed[name], 1) for name in value)
    return Found(value, found if adds_up else "disagrees", "mean, sample deviation, sum")


def _hits(figure: Figure, _: dict[str, Figure]) -> Found:
    """Which hits and net roles each run must have had: 3 h + 5 n is its total, and the sums are known."""
    given = figure.inputs
    runs = len(given["totals"])
    hits, net = round(given["hits"] * runs), round((given["correct"] - given["incorrect"]) * runs)

    def choices(total: int) -> Iterator[tuple[int, int]]:
        for n in range(-_ROLES, _ROLES + 1):
            h, rest = divmod(total - _ROLE * n, _POINTS)
            if h >= 0 and not rest:
                yield h, n

    fitting = [
        one
        for one in product(*(tuple(choices(total)) for total in given["totals"]))
        if sum(h for h, _ in one) == hits and sum(n for _, n in one) == net
    ]
    vectors = {tuple(h for h, _ in one) for one in fitting}
    if len(vectors) != 1:
        return Found({"hits": sorted(map(list, vectors))}, "left open", "whole-number solutions")
    (only,) = {tuple(n for _, n in one) for one in fitting}
    return Found(
        {"hits": list(vectors.pop()), "net_correct": list(only)}, "not printed", "whole-number solutions"
    )


def _first_range(figure: Figure, _: dict[str, Figure]) -> Found:
    given = figure.inputs
    value = [given["wrong"] * given["pen"], given["key"] * given["pts"] + sum(given["correct"])]
    return Found(value, equal(value, figure.printed), "sums")


def _second_range(figure: Figure, _: dict[str, Figure]) -> Found:
    given = figure.inputs
    named = [points for name, points in given["penalties"].items() if name != "others"]
    rest = given["min"] - sum(named)
    value = {
        "max": given["clue"] + sum(given["correct"]),
        "other_three_sum": rest,
        "other_each": rest // given["penalties"]["others"],
    }
    return Found(value, equal([given["min"], value["max"]], figure.printed), "sums")


def _second_episode(figure: Figure, _: dict[str, Figure]) -> Found:
    given = figure.inputs
    total, n = given["clue"] + given["participant"], given["n"]
    sums = [one * n for one in (total, given["clue"], given["participant"])]
    whole = all(abs(one - round(one)) < 1e-9 for one in sums)
    value = {
        "total": total,
        "sums": [round(one) for one in sums],
        "integer": whole,
        "even": round(sums[2]) % 2 == 0,
    }
    fits = agreement([(total, figure.printed, None)])
    return Found(value, fits if whole and value["even"] else "disagrees", "sums")


def _rate(figure: Figure, _: dict[str, Figure]) -> Found:
    found = wilson(figure.inputs["k"], figure.inputs["n"])
    value = 100 * (found.rate or 0.0)
    return Found(value, agreement([(value, figure.printed, 1)]), "wilson")


def _mean_of_all(_figure: Figure, every: dict[str, Figure]) -> Found:
    models = [every[f"ep02.{name}"] for name in _MODELS]
    total = sum(round(one.printed * one.inputs["n"]) for one in models)
    assert sum(one.inputs["n"] for one in models) == _RUNS  # noqa: S101  # the paper's count of scorable runs
    return Found(total / _RUNS, "not printed", "sum of the models' points")


def _kimi(figure: Figure, _: dict[str, Figure]) -> Found:
    value = {"participant": -8 - 6 - 2 - 2 - 2}
    value["total"] = figure.inputs["clue"] + value["participant"]
    return Found(value, equal(value, figure.printed), "sums")


def _validity(figure: Figure, _: dict[str, Figure]) -> Found:
    first, second, shown = figure.inputs["ep01"], figure.inputs["ep02"], figure.printed
    value = {
        "runs": [sum(first), sum(second), sum(first + second)],
        "cols": [a + b for a, b in zip(first, second, strict=True)],
        "scorable": [*shown["scorable"][:2], sum(shown["scorable"][:2])],
        "compliant": [*shown["compliant"][:2], sum(shown["compliant"][:2])],
    }
    return Found(value, equal(value, shown), "sums")


def _s081(figure: Figure, _: dict[str, Figure]) -> Found:
    (a, b), (c, d) = figure.inputs["table"]
    found = fisher(a, b, c, d)
    return Found({"p": found.p_value, "lift": found.effect}, "not printed", "fisher")


def _mcnemar(figure: Figure, _: dict[str, Figure]) -> Found:
    return Found(
        mcnemar_exact(figure.inputs["b"], figure.inputs["c"]).p_value, "not printed", "mcnemar_exact"
    )


def _kimi_correct(figure: Figure, _: dict[str, Figure]) -> Found:
    # Each of the four runs with the trio and two more loses 20; a right participant gives 2.
    return Found((figure.inputs["sum"] + figure.inputs["n"] * 20) / 2, "not printed", "sums")


def _whole(value: int) -> Recipe:
    return lambda figure, _: Found(value, equal(value, figure.printed), "sums")


def recipes(figures: dict[str, Figure]) -> dict[str, Recipe]:
    """Return how each figure of WORTH is recomputed."""
    found: dict[str, Recipe] = {
        "ep01.range": _first_range,
        "ep01.span": lambda figure, _: Found(
            figure.inputs["hi"] - figure.inputs["lo"],
            equal(figure.inputs["hi"] - figure.inputs["lo"], figure.printed),
            "sums",
        ),
        "ep02.range": _second_range,
        "ep02.gpt01": _whole(12 + 2 * 2),
        "ep02.kimi03": _kimi,
        "ep02.mean_all": _mean_of_all,
        "ep02.kimi_correct": _kimi_correct,
        "ep02.mcnemar": _mcnemar,
        "ep02.s081": _s081,
        "validity": _validity,
        "runs": _whole(6 * 5 + 8 * 5),
        "abstract.trio": lambda *_: Found("31 include the trio; 16 select exactly it", "remark", "reading"),
    }
    for name, figure in figures.items():
        if figure.paper == "WORTH" and name not in found:
            if name.startswith("ep01.hits."):
                found[name] = _hits
            elif name.startswith("ep01."):
                found[name] = _first_episode
            elif name.startswith("ep02.rate."):
                found[name] = _rate
            else:
                found[name] = _second_episode
    return found
