"""Numbers that say where they come from: each has its recipe, the path in the lines, and the lines themselves.

`report.json` lists them all, so that anybody can work one out again from `trials.jsonl` alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, TypeAlias

from ludic_deepeval import stats
from ludic_deepeval.studies.rows import Row

Groups: TypeAlias = tuple[tuple[Row, ...], ...]
_P: Final = "p"


@dataclass(frozen=True)
class Number:
    """One number of a report.

    Attributes:
        value: What it is.
        recipe: How it is worked out from the groups' values.
        path: What is read from each line.
        groups: The numbers of the lines, group by group; lines without a value are not among them.
        digits: How many decimals are shown; `p` shows a probability.
        more: What else the recipe needs.
        sign: Whether a plus is shown.
        percent: Whether it is shown as a percentage.
    """

    value: float
    recipe: str
    path: str
    groups: tuple[tuple[int, ...], ...]
    digits: int | str = 3
    more: Mapping[str, Any] = field(default_factory=dict)
    sign: bool = False
    percent: bool = False

    @property
    def text(self) -> str:
        """As it is shown."""
        if self.digits == _P:
            return "<.001" if self.value < 0.001 else f"{self.value:.3f}".removeprefix("0")
        if self.percent:
            return f"{100 * self.value:.{self.digits}f} %"
        text = f"{self.value:{'+' if self.sign else ''}.{self.digits}f}"
        return (
            text.replace("-0." + "0" * int(self.digits), "0." + "0" * int(self.digits))
            if float(text) == 0
            else text
        )

    @property
    def json(self) -> dict[str, Any]:
        """As `report.json` has it."""
        return {
            "value": self.value,
            "text": self.text,
            "recipe": self.recipe,
            "path": self.path,
            "groups": [list(group) for group in self.groups],
            **({"more": dict(self.more)} if self.more else {}),
        }

    @property
    def source(self) -> str:
        """Where it comes from, in words."""
        count = sum(map(len, self.groups))
        lines = spans([number for group in self.groups for number in group])
        return f"{self.recipe} of {self.path} over {count} line{'s' * (count != 1)}: {lines}"


def spans(numbers: Sequence[int], most: int = 12) -> str:
    """`1-4, 7, 9-12`, cut short when it is long."""
    found: list[list[int]] = []
    for one in sorted(set(numbers)):
        if found and one == found[-1][1] + 1:
            found[-1][1] = one
        else:
            found.append([one, one])
    shown = [f"{a}" if a == b else f"{a}-{b}" for a, b in found[:most]]
    return ", ".join([*shown, *(["…"] if len(found) > most else [])])


def measured(rows: Sequence[Row], path: str) -> tuple[Row, ...]:
    """The rows that have a value at the path."""
    return tuple(row for row in rows if row.value(path) is not None)


def make(
    recipe: str,
    path: str,
    groups: Sequence[Sequence[Row]],
    *,
    digits: int | str = 3,
    sign: bool = False,
    percent: bool = False,
    **more: Any,
) -> Number | None:
    """Work a number out; None when there is nothing to work it out from.

    Args:
        recipe: One of `RECIPES`.
        path: What is read from each line.
        groups: The rows; those without a value are left out, but for recipes over blocks, whose rows all have one.
        digits: Decimals to show, or `p`.
        sign: Show a plus.
        percent: Show a percentage.
        more: What else the recipe needs.

    Raises:
        DataError: The figures are too few or all alike for the recipe.
    """
    rows = tuple(measured(group, path) for group in groups)
    if not all(rows):
        return None
    values = tuple(tuple(row.value(path) or 0.0 for row in group) for group in rows)
    found = RECIPES[recipe](values, **more)
    if found is None:
        return None
    return Number(
        float(found),
        recipe,
        path,
        tuple(tuple(row.number for row in group) for group in rows),
        digits,
        more,
        sign,
        percent,
    )


_Values = tuple[tuple[float, ...], ...]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _sd(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    middle = _mean(values)
    return float((sum((one - middle) ** 2 for one in values) / (len(values) - 1)) ** 0.5)


def _mean_end(side: int) -> Callable[..., float | None]:
    """An end of the 95 % interval of a mean, by Student's t."""

    def recipe(values: _Values) -> float | None:
        from scipy.stats import t  # noqa: PLC0415

        spread, n = _sd(values[0]), len(values[0])
        if spread is None:
            return None
        return _mean(values[0]) + side * float(t.ppf(0.975, n - 1)) * spread / float(n**0.5)

    return recipe


def _pearson(values: _Values) -> float:
    return stats.pearson_r(values[0], values[1]).statistic


@lru_cache(maxsize=4096)
def _welch(values: _Values, alternative: str) -> stats.Result:
    before, after = values
    return stats.welch_t(after, before, alternative=alternative)  # type: ignore[arg-type]  # one of three words


@lru_cache(maxsize=256)
def anova_of(values: _Values, columns: int) -> stats.TwoWay:
    """The analysis of variance of cells row by row, `columns` in a row."""
    cells = {
        at: dict(enumerate(values[at * columns : (at + 1) * columns])) for at in range(len(values) // columns)
    }
    return stats.two_way_anova(cells)  # type: ignore[arg-type]  # whole numbers are objects too


def _anova(which: str, what: str) -> Callable[..., float]:
    def recipe(values: _Values, columns: int) -> float:
        effect = getattr(anova_of(values, columns), which)
        return float(_part(effect, what))

    return recipe


def _part(result: stats.Result, what: str) -> float:
    if what in {"low", "high"}:
        assert result.interval is not None  # noqa: S101  # each of these tests has one
        return result.interval[what == "high"]
    if what in {"df", "df1", "df2"}:
        df = result.df
        return float(df[what == "df2"]) if isinstance(df, tuple) else float(df or 0)
    return float(getattr(result, {"p": "p_value"}.get(what, what)))


def _test(what: str, alternative: str = "two-sided") -> Callable[..., float]:
    return lambda values: _part(_welch(values, alternative), what)


def _tost(what: str) -> Callable[..., float]:
    def recipe(values: _Values, bound: float) -> float:
        before, after = values
        return _part(stats.tost(after, before, bound), what)

    return recipe


@lru_cache(maxsize=64)
def _blocks(values: _Values, highest_first: bool) -> tuple[tuple[float, ...], ...]:
    """Problems × algorithms; turned round where the highest has rank 1."""
    return tuple(tuple(-one if highest_first else one for one in row) for row in zip(*values, strict=True))


@lru_cache(maxsize=256)
def _rank_test(values: _Values, name: str) -> stats.RankTest:
    found: stats.RankTest = getattr(stats, name)(_blocks(values, False))
    return found


def _ranked(name: str, what: str) -> Callable[..., float]:
    return lambda values: _part(_rank_test(values, name), what)


def _rank(values: _Values, at: int, highest_first: bool) -> float:
    return stats.mean_ranks(_blocks(values, highest_first))[at]


@lru_cache(maxsize=64)
def shaffer_of(values: _Values) -> tuple[tuple[tuple[int, int], ...], tuple[float, ...]]:
    """The pairs of algorithms, and their p adjusted by Shaffer."""
    found = stats.rank_pairs(_blocks(values, False))
    return found.pairs, tuple(stats.shaffer(found.p_values, len(values)))


def _shaffer(values: _Values, pair: Sequence[int]) -> float:
    pairs, p_values = shaffer_of(values)
    first, second = pair
    return p_values[pairs.index((first, second))]


def _significant(values: _Values, alpha: float) -> float:
    return float(sum(p < alpha for p in shaffer_of(values)[1]))


RECIPES: Final[Mapping[str, Callable[..., float | None]]] = {
    "count": lambda values: len(values[0]),
    "sum": lambda values: sum(values[0]),
    "mean": lambda values: _mean(values[0]),
    "sd": lambda values: _sd(values[0]),
    "min": lambda values: min(values[0]),
    "max": lambda values: max(values[0]),
    "interval of the mean, lower end": _mean_end(-1),
    "interval of the mean, upper end": _mean_end(1),
    "difference of means": lambda values: _mean(values[1]) - _mean(values[0]),
    "Welch t": _test("statistic"),
    "Welch df": _test("df"),
    "Welch p, two-sided": _test("p"),
    "Welch p, lower": _test("p", "less"),
    "Welch p, higher": _test("p", "greater"),
    "interval of the difference, lower end": _test("low"),
    "interval of the difference, upper end": _test("high"),
    "Cohen's d": _test("effect"),
    "TOST p": _tost("p"),
    "Friedman average rank": _rank,
    "Shaffer p": _shaffer,
    "significant pairs (Shaffer)": _significant,
    "Nemenyi critical difference": lambda values: stats.critical_difference(len(values), len(values[0])),
    **{
        f"ANOVA {label} {what}": _anova(which, part)
        for which, label in (("first", "of rows"), ("second", "of columns"), ("interaction", "interaction"))
        for what, part in (
            ("F", "statistic"),
            ("p", "p"),
            ("eta", "effect"),
            ("df", "df1"),
            ("residual df", "df2"),
        )
    },
    **{
        f"{label} {what}": _ranked(name, part)
        for name, label in (
            ("friedman", "Friedman"),
            ("iman_davenport", "Iman-Davenport"),
            ("aligned_friedman", "aligned ranks"),
            ("quade", "Quade"),
        )
        for what, part in (("statistic", "statistic"), ("p", "p"))
    },
}


def pearson(first: str, second: str, rows: Sequence[Row]) -> Number | None:
    """The correlation of two measures over rows that have both; `path` names both."""
    both = measured(measured(rows, first), second)
    if len(both) < 3:
        return None
    values = tuple(tuple(row.value(path) or 0.0 for row in both) for path in (first, second))
    numbers = tuple(row.number for row in both)
    return Number(_pearson(values), "Pearson r", f"{first} {second}", (numbers,), 3, {}, sign=True)
