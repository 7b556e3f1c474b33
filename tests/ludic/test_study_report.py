"""The report: every number again from the lines alone, nothing loaded from elsewhere, and all that others wrote is text."""

import json
import random
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from ludic_deepeval.errors import InputError
from ludic_deepeval.report.study.as_html import study_html
from ludic_deepeval.report.study.as_markdown import study_markdown
from ludic_deepeval.report.study.pictures import cliques
from ludic_deepeval.studies.findings import Findings, findings_json, findings_of
from ludic_deepeval.studies.frozen import freeze
from ludic_deepeval.studies.models import Models
from ludic_deepeval.studies.numbers import RECIPES
from ludic_deepeval.studies.rows import Data
from ludic_deepeval.studies.runner import run_study
from ludic_deepeval.studies.store import TRIALS, Store
from tests.ludic.conftest import Ludic
from tests.scripted_study import ROOT, TWO_BY_TWO, begun, opened, planned
from tests.simulated_store import PAPER, STUDY_2, simulated, study


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store of the paper's second study, simulated, with a few trials that were not wholly measured."""
    text = STUDY_2.read_text(encoding="utf-8")
    found = Store(tmp_path_factory.mktemp("report") / "s")
    found.begin(freeze(planned(text), text, created="2026-01-01T00:00:00+00:00"))
    lines = simulated(study(), PAPER, seed=11, narrowing=0.03)
    for line in lines[::37]:
        line["measures"] |= dict.fromkeys(
            ("e_a", "div_alpha", "reused", "invented", "ambiguous", "invented_of_all")
        )
        line["unscored"] = [{"stage": "label", "cause": "labels", "reason": "no usable answer"}]
    data = "".join(json.dumps(line, sort_keys=True) + "\n" for line in lines)
    (found.path / TRIALS).write_text(data, encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def found(store: Store) -> Findings:
    return findings_of(store)


# A second implementation: SciPy, statsmodels and a few lines, over `trials.jsonl` alone.


def at(line: dict[str, Any], path: str) -> float | None:
    value: Any = line
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return None if value is None else float(value)


def anova_again(groups: list[np.ndarray], recipe: str, columns: int) -> float:
    frame = pd.DataFrame(
        [
            (number // columns, number % columns, value)
            for number, group in enumerate(groups)
            for value in group
        ],
        columns=["a", "b", "y"],
    )
    table = anova_lm(ols("y ~ C(a) * C(b)", frame).fit(), typ=2)
    term = {"of rows": "C(a)", "of columns": "C(b)", "interaction": "C(a):C(b)"}[
        re.sub(r"^ANOVA | (residual df|F|p|eta|df)$", "", recipe)
    ]
    row, residual = table.loc[term], table.loc["Residual"]
    what = re.search(r"(residual df|F|p|eta|df)$", recipe)
    assert what
    return {
        "F": row["F"], "p": row["PR(>F)"], "df": row["df"], "residual df": residual["df"],
        "eta": row["sum_sq"] / (row["sum_sq"] + residual["sum_sq"]),
    }[what[1]]  # fmt: skip


def ranks_again(table: np.ndarray, recipe: str, more: dict[str, Any]) -> float:  # noqa: PLR0911  # one a recipe
    n, k = table.shape
    ranks = scipy_stats.rankdata(np.round(table, 12), axis=1)
    if recipe == "Friedman average rank":
        mean = ranks.mean(axis=0)[more["at"]]
        return k + 1 - mean if more["highest_first"] else mean
    error = (k * (k + 1) / (6 * n)) ** 0.5
    if recipe == "Nemenyi critical difference":
        return scipy_stats.studentized_range.ppf(0.95, k, np.inf) / 2**0.5 * error
    if recipe.startswith("Friedman"):
        return scipy_stats.friedmanchisquare(*table.T)[recipe.endswith(" p")]
    if recipe.startswith("Iman-Davenport"):
        chi = 12 * n / (k * (k + 1)) * ((ranks.mean(axis=0) ** 2).sum() - k * (k + 1) ** 2 / 4)
        f = (n - 1) * chi / (n * (k - 1) - chi)
        return scipy_stats.f.sf(f, k - 1, (k - 1) * (n - 1)) if recipe.endswith(" p") else f
    if recipe.startswith("aligned"):
        aligned = scipy_stats.rankdata(np.round(table - table.mean(axis=1, keepdims=True), 12)).reshape(n, k)
        top = (k - 1) * ((aligned.sum(axis=0) ** 2).sum() - k * n**2 / 4 * (k * n + 1) ** 2)
        t = top / (k * n * (k * n + 1) * (2 * k * n + 1) / 6 - (aligned.sum(axis=1) ** 2).sum() / k)
        return scipy_stats.chi2.sf(t, k - 1) if recipe.endswith(" p") else t
    if recipe.startswith("Quade"):
        q = scipy_stats.rankdata(np.round(np.ptp(table, axis=1), 12))
        s = q[:, None] * (ranks - (k + 1) / 2)
        b = (s.sum(axis=0) ** 2).sum() / n
        f = (n - 1) * b / ((s**2).sum() - b)
        return scipy_stats.f.sf(f, k - 1, (k - 1) * (n - 1)) if recipe.endswith(" p") else f
    # Shaffer's static procedure: t_i is the most hypotheses that can hold while i - 1 are false.
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    means = ranks.mean(axis=0)
    p = np.array([2 * scipy_stats.norm.sf(abs(means[i] - means[j]) / error) for i, j in pairs])
    possible = sorted(can_hold(k))
    adjusted, highest = np.empty(len(p)), 0.0
    for place, number in enumerate(np.argsort(p)):
        highest = max(highest, min(1.0, p[number] * max(c for c in possible if c <= len(p) - place)))
        adjusted[number] = highest
    if recipe == "Shaffer p":
        return adjusted[pairs.index(tuple(more["pair"]))]
    return float((adjusted < more["alpha"]).sum())


def can_hold(k: int) -> set[int]:
    """The numbers of pairs that can be equal at once among k: split k into classes (Shaffer 1986)."""
    if k < 2:
        return {0}
    return {j * (j - 1) // 2 + rest for j in range(1, k + 1) for rest in can_hold(k - j)}


def weights_again(scores: np.ndarray, recipe: str, more: dict[str, Any]) -> float:
    default = np.array(more["weights"])
    factors = np.random.default_rng(more["seed"]).uniform(
        1 - more["spread"], 1 + more["spread"], (more["draws"], 4)
    )
    vectors = default * factors
    vectors /= vectors.sum(axis=1, keepdims=True)
    base, found = scores @ default, vectors @ scores.T
    moved = (found >= more["least"] - 1e-9) != (base >= more["least"] - 1e-9)
    if recipe == "weights: reclassified":
        return float(moved.mean())
    if recipe == "weights: never reclassified":
        return float((~moved.any(axis=0)).mean())
    ranks = scipy_stats.rankdata(np.round(found, 12), axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    own = scipy_stats.rankdata(np.round(base, 12))
    own -= own.mean()
    rho = ranks @ own / np.sqrt((ranks**2).sum(axis=1) * (own @ own))
    return float(np.mean(rho)) if recipe.endswith("mean") else float(np.min(rho))


def again(number: dict[str, Any], lines: list[dict[str, Any]]) -> float:  # noqa: PLR0911  # one a kind of recipe
    """Work a number out from its recipe, its path and its lines."""
    recipe, more = number["recipe"], number.get("more", {})
    paths = number["path"].split()
    groups = [[lines[one - 1] for one in group] for group in number["groups"]]
    values = [np.array([at(one, paths[0]) for one in group], dtype=float) for group in groups]
    assert not any(np.isnan(group).any() for group in values), "a line without the value is among the lines"
    if recipe.startswith("weights"):
        return weights_again(np.array([[at(one, path) for path in paths] for one in groups[0]]), recipe, more)
    if recipe.startswith("ANOVA"):
        return anova_again(values, recipe, more["columns"])
    simple = {
        "count": len, "sum": np.sum, "mean": np.mean, "sd": lambda v: np.std(v, ddof=1), "min": np.min, "max": np.max,
    }  # fmt: skip
    if recipe in simple:
        return float(simple[recipe](values[0]))
    if recipe.startswith("interval of the mean"):
        interval = scipy_stats.t.interval(
            0.95, len(values[0]) - 1, np.mean(values[0]), scipy_stats.sem(values[0])
        )
        return float(interval["upper" in recipe])
    if recipe == "Pearson r":
        return float(np.corrcoef([[at(one, path) for one in groups[0]] for path in paths])[0, 1])
    if len(values) == 2 and not recipe.startswith(
        ("Friedman", "Shaffer", "Nemenyi", "Iman", "aligned", "Quade", "significant")
    ):
        return two_again(*values, recipe, more)
    return float(ranks_again(np.array(values).T, recipe, more))


def two_again(before: np.ndarray, after: np.ndarray, recipe: str, more: dict[str, Any]) -> float:
    test = scipy_stats.ttest_ind(after, before, equal_var=False)
    if recipe.startswith("interval"):
        return float(test.confidence_interval(0.95)[recipe.endswith("upper end")])
    if recipe == "TOST p":
        low = scipy_stats.ttest_ind(
            after + more["bound"], before, equal_var=False, alternative="greater"
        ).pvalue
        high = scipy_stats.ttest_ind(
            after - more["bound"], before, equal_var=False, alternative="less"
        ).pvalue
        return float(max(low, high))
    n, m = len(after), len(before)
    pooled = (((n - 1) * after.var(ddof=1) + (m - 1) * before.var(ddof=1)) / (n + m - 2)) ** 0.5
    return float(
        {
            "difference of means": after.mean() - before.mean(),
            "Welch t": test.statistic,
            "Welch df": test.df,
            "Welch p, two-sided": test.pvalue,
            "Welch p, lower": scipy_stats.t.cdf(test.statistic, test.df),
            "Welch p, higher": scipy_stats.t.sf(test.statistic, test.df),
            "Cohen's d": (after.mean() - before.mean()) / pooled,
        }[recipe]
    )


def check(number: dict[str, Any], lines: list[dict[str, Any]]) -> None:
    value = again(number, lines)
    assert number["value"] == pytest.approx(value, rel=1e-6, abs=1e-9), number["id"]


@pytest.fixture(scope="module")
def lines(store: Store) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (store.path / TRIALS).read_text(encoding="utf-8").splitlines()]


def test_fifty_random_numbers_of_the_report_come_again_from_the_lines_alone(
    found: Findings, lines: list[dict[str, Any]]
) -> None:
    numbers = json.loads(json.dumps(findings_json(found)))["numbers"]
    assert len(numbers) > 500
    for number in random.Random(20).sample(numbers, 50):  # noqa: S311
        check(number, lines)


def test_every_recipe_of_the_report_comes_again(found: Findings, lines: list[dict[str, Any]]) -> None:
    seen: dict[str, dict[str, Any]] = {}
    for number in json.loads(json.dumps(findings_json(found)))["numbers"]:
        seen[number["recipe"]] = number
    unused = set(RECIPES) - set(seen)
    assert unused <= {"min", "max", "sum", "Welch p, higher", "Welch p, lower"}
    for number in seen.values():
        check(number, lines)


def test_the_numbers_that_are_shown_are_those_that_are_listed(found: Findings) -> None:
    """What stands in the page is what report.json says of it, and every number in it is there."""
    shown = re.findall(r'<data value="([^"]+)" title="([^"]+)">([^<]+)</data>', study_html(found))
    listed = {(repr(number.value), number.text.replace("<", "&lt;")) for _, number in found.numbers()}
    assert {(value, text) for value, _, text in shown} == listed
    assert len(shown) == sum(1 for _ in found.numbers())
    assert all("line" in source for _, source, _ in shown)


def test_what_was_not_measured_is_in_no_mean_and_is_told(
    found: Findings, lines: list[dict[str, Any]]
) -> None:
    numbers = dict(found.numbers())
    count = sum(line["measures"]["e_a"] is None for line in lines)
    missing = next(table for table in found.tables if table.id == "missing")
    assert (
        sum(row[3].value for row in missing.rows if row[3] is not None and not isinstance(row[3], str))
        == count
    )
    blocks = next(table for table in found.tables if table.id == "omnibus")
    seeds = {line["seed"] for line in lines if line["measures"]["e_a"] is None}
    assert blocks.rows[0][1] == str(40 - len(seeds))
    assert numbers["cells/0/trials"].value == 40


# The page


class Loads(HTMLParser):
    """Collects what a page would fetch or run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"src", "srcset", "data", "action", "style"} or name.startswith("on"):
                self.found.append((tag, name))
            if name in {"href", "xlink:href"} and not str(value).startswith("#"):
                self.found.append((tag, str(value)))
        if tag in {"script", "iframe", "object", "embed", "link", "img", "base", "form"}:
            self.found.append((tag, ""))


def test_the_page_loads_and_runs_nothing(found: Findings) -> None:
    page = study_html(found)
    loads = Loads()
    loads.feed(page)
    assert loads.found == []
    assert "default-src &#x27;none&#x27;" in page
    assert "url(" not in page
    assert page == study_html(found)
    assert (
        page.count("<svg") == 8
    )  # plane, components, interaction, stages, and four critical-difference diagrams


def test_what_others_wrote_is_text_in_the_page_and_in_the_markdown(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>|`x`"
    text = TWO_BY_TWO.format(seeds=2).replace("version = 1", f'version = 1\ntitle = "{evil}"')
    store, plan = begun(tmp_path / "s", text)
    with Models(opener=opened) as models:
        run_study(store, plan, models)
    store.deviate(evil)
    found = findings_of(store)
    page, markdown = study_html(found), study_markdown(found)
    assert "<script" not in page
    assert "<script" not in markdown.replace("\\<script", "")
    assert "&lt;script&gt;" in page
    assert any("scripted" in one for one in found.cautions)


def test_a_report_of_nothing_and_of_one_trial_says_so(tmp_path: Path) -> None:
    store, plan = begun(tmp_path / "s", TWO_BY_TWO.format(seeds=2))
    for most in (None, 1):
        if most:
            with Models(opener=opened) as models:
                run_study(store, plan, models, most=most)
        found = findings_of(store)
        assert "this is no result yet" in found.cautions[0]
        assert study_html(found).startswith("<!doctype html>")
        assert study_markdown(found)


def test_the_command_writes_three_files_and_says_what_is_shown(
    store: Store, ludic: Ludic, tmp_path: Path
) -> None:
    ran = ludic("study", "report", store.path, "--out", tmp_path / "r")
    assert ran.code == 0
    assert "H2: not testable: Branching count is 3 in every trial" in ran.out
    assert {one.name for one in (tmp_path / "r").iterdir()} == {"report.json", "report.md", "report.html"}
    markdown = (tmp_path / "r" / "report.md").read_text(encoding="utf-8")
    for like in (
        "Table 4",
        "Table 6",
        "Table 7",
        "Table 8",
        "Table 9",
        "Table 10",
        "Table 11",
        "Table 12",
        "Table 13",
    ):
        assert f"({like})" in markdown
    assert ludic("study", "report", ROOT).code == 2


@pytest.mark.parametrize(
    "change",
    [
        {"cell": {"gate": "gated", "generator": "70B"}}, {"cell": ["gated"]}, {"seed": 41}, {"seed": "1"}, {"seed": True},
        {"measures": {"e_a": "0.2"}}, {"measures": {"e_a": float("nan")}}, {"measures": None}, {"unscored": [{"stage": "label"}]},
        {"unscored": "none"}, {"times": {}}, {"cost": {"label": {"calls": "many"}}}, {"producers": {"judge": {"kind": ["x"]}}},
        {"gate": 3},
    ],
)  # fmt: skip
def test_a_line_that_is_no_trial_of_the_study_is_an_error_that_names_it(
    store: Store, lines: list[dict[str, Any]], change: dict[str, Any]
) -> None:
    bad = [*lines[:6], {name: value for name, value in (lines[6] | change).items() if value is not None}]
    with pytest.raises(InputError, match=r"trials.jsonl line 7: "):
        Data.of(store.sidecar().plan().design, enumerate(bad, start=1))


def test_a_store_is_a_frame_with_a_row_a_trial(found: Findings, lines: list[dict[str, Any]]) -> None:
    frame = found.data.to_frame()
    assert list(frame["trial"]) == [line["trial"] for line in lines]
    assert list(frame["line"]) == list(range(1, 401))
    mean = frame.groupby(["gate", "generator"])["e_a"].mean()["gated", "14B"]
    assert mean == pytest.approx(dict(found.numbers())["cells/7/E_a"].value)
    assert frame["e_a"].isna().sum() == sum(line["measures"]["e_a"] is None for line in lines)


def test_cliques_are_the_longest_runs_within_the_critical_difference() -> None:
    """By hand: with 1, 2, 2.5, 4, 4.2 and a difference of 2: 1–2.5, 2–2.5–… ends at 4 (2.0 is not less), 2.5–4.2, nothing else."""
    assert cliques([1, 2, 2.5, 4, 4.2], 2.0) == [(0, 2), (2, 4)]
    assert cliques([1, 5], 2.0) == []
    assert cliques([1, 1], 2.0) == [(0, 1)]
