"""Ratings in a study's report: Table 14 again from the store's lines and the answers alone, and ratings of other stories refused."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="the extra studies")

from scipy import stats as scipy_stats  # noqa: E402  # after the skip
from statsmodels.stats.multitest import multipletests  # noqa: E402

from ludic_deepeval.studies.frozen import freeze  # noqa: E402
from ludic_deepeval.studies.store import TRIALS, Store  # noqa: E402
from tests.scripted_study import planned  # noqa: E402
from tests.simulated_store import PAPER, STUDY_2, simulated, study  # noqa: E402


def stored(folder: Path) -> Path:
    """The paper's second study, simulated, with prose; every ninth trial has no E_a."""
    text = STUDY_2.read_text(encoding="utf-8")
    store = Store(folder)
    store.begin(freeze(planned(text), text, created="2026-01-01T00:00:00+00:00"))
    lines = simulated(study(), PAPER, seed=4)
    for number, line in enumerate(lines):
        line["prose"] = f"The ferryman still owes number {number}.\n"
        if number % 9 == 0:
            line["measures"]["e_a"] = None
            line["unscored"] = [{"stage": "label", "cause": "labels", "reason": "no usable answer"}]
    (folder / TRIALS).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def ludic(folder: Path, *arguments: object) -> "subprocess.CompletedProcess[str]":
    """The command, in a process of its own, since fixtures of the module need it."""
    command = [sys.executable, "-m", "ludic_deepeval", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with ratings that a program made up, beside it."""
    folder = tmp_path_factory.mktemp("rated")
    stored(folder / "s")
    form = (
        "ratings",
        "form",
        "s/trials.jsonl",
        "--raters",
        11,
        "--sample",
        60,
        "--out",
        "forms",
        "--key",
        "key.json",
    )
    assert ludic(folder, *form).returncode == 0
    assert (
        ludic(
            folder, "ratings", "rehearse", "key.json", "--out", "sheets", "--validity", 0.5, "--seed", 2
        ).returncode
        == 0
    )
    sheets = sorted((folder / "sheets").iterdir())
    assert ludic(folder, "ratings", "import", "key.json", *sheets, "--out", "ratings.csv").returncode == 0
    return folder


@pytest.fixture(scope="module")
def report(rated: Path) -> dict[str, Any]:
    ran = ludic(rated, "study", "report", "s", "--key", "key.json", "--ratings", "ratings.csv")
    assert ran.returncode == 0, ran.stderr
    assert "SIMULATED: 180 of 180 ratings were made up by a program" in ran.stdout
    found: dict[str, Any] = json.loads((rated / "s" / "report" / "report.json").read_text(encoding="utf-8"))
    return found


# A second implementation, from trials.jsonl and the answers that report.json lists.


class Again:
    def __init__(self, lines: list[dict[str, Any]], ratings: dict[str, Any]) -> None:
        self.lines = lines
        self.answers = {one["line"]: one["answers"] for one in ratings["lines"]}

    def at(self, number: int, path: str) -> float:
        where, name = path.split(".")
        if where == "ratings":
            given = self.answers[number][name].values()
            return sum(given) / len(given)
        value = self.lines[number - 1]["measures"][name]
        assert value is not None
        return float(value)

    def icc(self, name: str, numbers: list[int]) -> float:
        """One-way random effects: (MSB − MSW) / (MSB + (k0 − 1) MSW)."""
        groups = [list(self.answers[number][name].values()) for number in numbers]
        everyone = [one for group in groups for one in group]
        middle, total, n = sum(everyone) / len(everyone), len(everyone), len(groups)
        msb = sum(len(group) * (sum(group) / len(group) - middle) ** 2 for group in groups) / (n - 1)
        msw = sum((one - sum(group) / len(group)) ** 2 for group in groups for one in group) / (total - n)
        k0 = (total - sum(len(group) ** 2 for group in groups) / total) / (n - 1)
        return (msb - msw) / (msb + (k0 - 1) * msw)

    def statistic(self, recipe: str, paths: list[str], numbers: list[int]) -> float:
        if "ICC(1)" in recipe:
            return self.icc(paths[0].removeprefix("ratings."), numbers)
        x, y = ([self.at(number, path) for number in numbers] for path in paths)
        return float(np.corrcoef(x, y)[0, 1])

    def bca(self, number: dict[str, Any], end: int, resamples: int = 2000) -> float:
        """Efron's interval, by hand, with other random numbers than the report's."""
        recipe, paths, lines = number["recipe"], number["path"].split(), number["groups"][0]
        rng = np.random.default_rng(7)
        theta = self.statistic(recipe, paths, lines)
        drawn = np.sort(
            [self.statistic(recipe, paths, list(rng.choice(lines, len(lines)))) for _ in range(resamples)]
        )
        knifed = np.array(
            [self.statistic(recipe, paths, lines[:at] + lines[at + 1 :]) for at in range(len(lines))]
        )
        off = knifed.mean() - knifed
        pull = (off**3).sum() / (6 * (off**2).sum() ** 1.5)
        z0 = scipy_stats.norm.ppf((drawn < theta).mean())
        z = z0 + scipy_stats.norm.ppf((0.025, 0.975)[end])
        return float(np.quantile(drawn, scipy_stats.norm.cdf(z0 + z / (1 - pull * z))))

    def p(self, paths: list[str], numbers: list[int]) -> float:
        x, y = ([self.at(number, path) for number in numbers] for path in paths)
        return float(scipy_stats.pearsonr(x, y, alternative="greater").pvalue)

    def value(self, number: dict[str, Any]) -> float:
        recipe, paths = number["recipe"], number["path"].split()
        if recipe == "count":
            return len([self.at(one, path) for one in number["groups"][0] for path in paths]) / len(paths)
        if recipe.endswith("by Holm"):
            pairs = zip(paths[::2], paths[1::2], number["groups"], strict=True)
            found = [self.p([one, two], lines) for one, two, lines in pairs]
            found += [1.0] * (number["more"]["of"] - len(found))
            return float(multipletests(found, method="holm")[1][number["more"]["at"]])
        if recipe.startswith("p-value"):
            return self.p(paths, number["groups"][0])
        return self.statistic(recipe, paths, number["groups"][0])


@pytest.fixture(scope="module")
def again(rated: Path, report: dict[str, Any]) -> Again:
    text = (rated / "s" / TRIALS).read_text(encoding="utf-8")
    return Again([json.loads(line) for line in text.splitlines()], report["ratings"])


def of(report: dict[str, Any], table: str) -> list[dict[str, Any]]:
    return [one for one in report["numbers"] if one["id"].startswith(f"{table}/")]


def test_every_number_on_ratings_comes_again_from_the_lines_and_the_answers(
    report: dict[str, Any], again: Again
) -> None:
    numbers = [one for table in ("validity", "discrimination", "correlations") for one in of(report, table)]
    # Four questions with their stories, r and ends, p, Holm's p, ICC(1) and ends; two r each; the lower half of seven by seven.
    assert len(numbers) == 4 * 9 + 4 * 2 + 21
    assert len({one["id"] for one in report["numbers"]}) == len(report["numbers"])
    for number in numbers:
        if not number["recipe"].startswith("BCa"):
            assert number["value"] == pytest.approx(again.value(number), abs=1e-9), number["id"]


def test_intervals_on_ratings_are_those_of_another_bootstrap(report: dict[str, Any], again: Again) -> None:
    ends = [one for one in of(report, "validity") if one["recipe"].startswith("BCa") and "/3/" in one["id"]]
    assert len(ends) == 4
    for number in ends:
        found = again.bca(number, "upper" in number["recipe"])
        assert number["value"] == pytest.approx(found, abs=0.03), number["id"]


def test_stories_without_a_figure_are_in_no_correlation_with_it(report: dict[str, Any], again: Again) -> None:
    lacking = {number for number, line in enumerate(again.lines, start=1) if line["measures"]["e_a"] is None}
    rated = {one["line"] for one in report["ratings"]["lines"]}
    assert len(rated) == 60
    assert rated & lacking
    r = next(one for one in of(report, "validity") if one["id"] == "validity/2/r")
    assert set(r["groups"][0]) == rated - lacking


def test_the_table_is_in_the_page_and_in_the_markdown(rated: Path, report: dict[str, Any]) -> None:
    page = (rated / "s" / "report" / "report.html").read_text(encoding="utf-8")
    markdown = (rated / "s" / "report" / "report.md").read_text(encoding="utf-8")
    r = next(one for one in of(report, "validity") if one["id"] == "validity/3/r")
    assert "(Table 14)" in markdown
    assert f"| q4, playability | LPI | 60 | {r['text']} |" in markdown
    assert "180 ratings by 11 raters of 60 stories" in page
    assert "SIMULATED" in page
    assert "SIMULATED" in markdown


def test_without_ratings_the_report_says_how_to_get_them(tmp_path: Path) -> None:
    stored(tmp_path / "s")
    assert ludic(tmp_path, "study", "report", "s").returncode == 0
    markdown = (tmp_path / "s" / "report" / "report.md").read_text(encoding="utf-8")
    assert "No ratings by people were given" in markdown
    assert json.loads((tmp_path / "s" / "report" / "report.json").read_text())["ratings"] is None


def test_what_did_not_come_back_is_told_and_a_rating_is_of_the_trial_that_was_rated(
    rated: Path, tmp_path: Path
) -> None:
    """An earlier line has the prose of a rated story and no LPI, as when its reading failed; R02's sheet lacks a row, and nothing
    came from R01."""
    stored(tmp_path / "s")
    file = tmp_path / "s" / TRIALS
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    items = json.loads((rated / "key.json").read_text(encoding="utf-8"))["items"]
    stories = {one["story"] for one in items}
    failed = next(line for line in lines if line["trial"] not in stories)
    twin = next(line for line in lines if line["trial"] == items[-1]["story"])
    assert lines.index(failed) < lines.index(twin)
    failed |= {"prose": twin["prose"], "measures": dict.fromkeys(failed["measures"])}
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    head, *rows = (rated / "ratings.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    first = next(at for at, row in enumerate(rows) if "R02" in row)
    came = tmp_path / "came.csv"
    came.write_text(head + "".join(rows[first + 1 :]), encoding="utf-8")
    given = ("--key", rated / "key.json", "--ratings", came)
    assert ludic(tmp_path, "study", "report", "s", *given).returncode == 2  # left out, and not said to be so
    ran = ludic(tmp_path, "study", "report", "s", *given, "--allow-missing")
    assert ran.returncode == 0, ran.stderr
    found = json.loads((tmp_path / "s" / "report" / "report.json").read_text(encoding="utf-8"))
    number = next(at for at, line in enumerate(lines, start=1) if line is twin)
    assert {one["item"]: one["line"] for one in found["ratings"]["lines"]}[items[-1]["item"]] == number
    lost = sum("R01" in row for row in rows) + 1
    markdown = (tmp_path / "s" / "report" / "report.md").read_text(encoding="utf-8")
    said = f"{180 - lost} of 180 ratings came back: nothing came from R01; 4 answers left out."
    assert said in markdown
    assert said in ran.stdout


def test_ratings_of_another_store_are_refused_with_the_item(rated: Path, tmp_path: Path) -> None:
    given = ("--key", rated / "key.json", "--ratings", rated / "ratings.csv")
    stored(tmp_path / "s")
    file = tmp_path / "s" / TRIALS
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["measures"]["lpi"] += 0.01
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    ran = ludic(tmp_path, "study", "report", "s", *given)
    assert ran.returncode == 2
    assert "ludic: --key: LPI of item " in ran.stderr
    assert "made from this store" in ran.stderr
    for line in lines:
        line["prose"] = "Another " + line["prose"]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    ran = ludic(tmp_path, "study", "report", "s", *given)
    assert ran.returncode == 2
    assert "is no story of this store" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--key", "key.json"], "--key without --ratings"),
        (["--ratings", "ratings.csv"], "--ratings without --key"),
        (["--allow-missing"], "--allow-missing without --ratings"),
    ],
)
def test_key_and_ratings_come_together(rated: Path, words: list[str], said: str) -> None:
    ran = ludic(rated, "study", "report", "s", *words)
    assert ran.returncode == 2
    assert said in ran.stderr
