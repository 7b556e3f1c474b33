"""Confidence, spread of points, contrasts of conditions, neighbours, items, CSV: on samples that can be counted by hand."""

import csv
import io
import json
import random
import re
from itertools import permutations
from math import atanh, sqrt, tanh
from pathlib import Path
from statistics import NormalDist

import pytest
from typer.testing import CliRunner

from ludic_deepeval.stats.permutation import correlation_within, pearson, product_test, ranks
from worth_deepeval.cli import app
from worth_deepeval.csv_text import cell
from worth_deepeval.diagnosis.author import author_page
from worth_deepeval.diagnosis.confidence import confidence
from worth_deepeval.diagnosis.contrasts import contrasts
from worth_deepeval.diagnosis.histogram import histogram
from worth_deepeval.diagnosis.neighbours import near_misses, nearness
from worth_deepeval.diagnosis.page import page
from worth_deepeval.diagnosis.sample import Sample
from worth_deepeval.diagnosis.tidy import as_csv, to_frame
from worth_deepeval.diagnostics import by_condition, contrast_all, diagnose
from worth_deepeval.episode import Sheet
from worth_deepeval.runs import Run, make_run


def run(
    sheet: Sheet,
    model: str,
    repetition: int,
    clues: str,
    roles: str,
    *,
    said: object = None,
    condition: str = "full-story",
) -> Run:
    """A run that selected "2 4", named "1" and said how sure it is."""
    body: dict[str, object] = {
        "clue_sentence_ids": [f"S00{one}" for one in clues.split()],
        "selected_role_ids": [f"R0{one}" for one in roles.split()],
    }
    if said is not None:
        body["confidence"] = said
    return make_run(model, repetition, condition, json.dumps(body), sheet)


# K is 2 (3 points), 4 (4), 6 (2), 7 (1); R01 +5 took part; R02 −8, R03 −2; totals go from −10 to 15.


def test_ranks_share_the_mean_of_their_places() -> None:
    assert ranks([10, 30, 10, 20]) == [3.5, 1, 3.5, 2]
    assert ranks([]) == []


def test_confidence_is_correlated_by_rank_within_each_model(sheet: Sheet) -> None:
    runs = (
        run(sheet, "a", 1, "2", "1", said=90),  # 8
        run(sheet, "a", 2, "4", "1", said=95),  # 9
        run(sheet, "a", 3, "2", "2", said=60),  # −5
        run(sheet, "b", 1, "2", "", said=100),  # 3
        run(sheet, "b", 2, "3", "2", said=100),  # −8
        run(sheet, "b", 3, "4", "1", said="high"),
        run(sheet, "b", 4, "4", "1", said=101),
    )
    found = confidence(Sample(sheet, runs), seed=1, draws=999)
    assert (found.stated.count, found.stated.of) == (5, 7)
    a, b = found.models
    assert (a.correlation.value, a.constant, b.constant) == (pytest.approx(1), False, True)
    assert (b.stated.count, b.stated.of, b.correlation.value) == (2, 4, None)
    assert (found.constant.count, found.constant.of) == (1, 2)
    # Over all: ranks of confidence 90 95 60 100 100 are 4 3 5 1.5 1.5, of totals 8 9 −5 3 −8 are 2 1 4 3 5.
    # Means 3; products (1·−1)+(0·−2)+(2·1)+(−1.5·0)+(−1.5·2) = −2; squares 9.5 and 10.
    assert found.whole.value == pytest.approx(-2 / sqrt(95))
    # n − k − 2 = 2; half width 1.959964 · sqrt((1 + r²/2) / 2).
    half = 1.959963984540054 * sqrt((1 + (4 / 95) / 2) / 2)
    assert found.whole.low == pytest.approx(tanh(atanh(-2 / sqrt(95)) - half))
    # Within: model a agrees wholly, 2 of 2; b adds (3−8)'s ranks ±0.5 to the totals' squares alone: 2 / sqrt(2 · 2.5).
    assert found.within.value == pytest.approx(2 / sqrt(2 * 2.5))
    # a's ranks can stand in 6 orders, 2 of them as extreme: p near 1/3.
    assert found.test is not None
    assert found.test.p_value == pytest.approx(1 / 3, abs=0.05)
    # 90, 95, 100, 100 are sure; b2 is below 0; b1 names nobody and b2 somebody wrong.
    assert (found.sure_and_negative.count, found.sure_and_negative.of) == (1, 4)
    assert found.sure_and_wrong.count == 2


def test_nothing_is_made_of_confidence_that_nobody_states(sheet: Sheet) -> None:
    found = confidence(Sample(sheet, (run(sheet, "a", 1, "2", "1"),)), seed=1, draws=99)
    assert (found.stated.count, found.whole.value, found.within.value, found.test) == (0, None, None, None)


def test_a_product_test_is_the_share_of_all_shuffles_within_groups() -> None:
    groups, one, other = [[0, 1, 2], [3, 4]], [1.0, 2, 4, 7, 9], [2.0, 1, 5, 3, 8]
    seen = correlation_within(groups, one, other)
    assert seen is not None
    both = [
        abs(correlation_within(groups, one, [*(other[i] for i in p), *(other[3 + i] for i in q)]) or 0)
        for p in permutations(range(3))
        for q in permutations(range(2))
    ]
    exact = sum(value >= abs(seen) - 1e-12 for value in both) / len(both)
    rng = random.Random(0)  # noqa: S311  # a shuffle
    found = product_test(groups, one, other, rng=rng, draws=4999, two_sided=True, method="")
    assert found is not None
    assert found.statistic == pytest.approx(seen)
    assert found.p_value == pytest.approx(exact, abs=0.025)


def test_many_runs_use_the_normal_distribution() -> None:
    """Another way to the same figure: without ties within a model, r times the root of n less models is near normal."""
    rng = random.Random(3)  # noqa: S311  # made data
    groups = [list(range(at, at + 700)) for at in (0, 700, 1400)]
    one = [rng.random() + at // 700 for at in range(2100)]
    other = [0.04 * value + rng.random() for value in one]
    found = product_test(groups, one, other, rng=rng, draws=99, two_sided=True, method="m")
    r = correlation_within(groups, one, other)
    assert found is not None
    assert r is not None
    assert found.draws == 0
    assert found.p_value == pytest.approx(2 * NormalDist().cdf(-abs(r) * sqrt(2100 - 3)), abs=0.005)
    upper = product_test(groups, one, other, rng=rng, draws=99, two_sided=False, method="m")
    assert upper is not None
    assert upper.p_value == pytest.approx(found.p_value / 2 if r > 0 else 1 - found.p_value / 2)


def test_points_are_counted_over_all_that_the_key_makes_possible(sheet: Sheet) -> None:
    runs = (run(sheet, "a", 1, "2", "1"), run(sheet, "b", 1, "3", "2 3"), run(sheet, "b", 2, "", ""))
    bins = histogram(Sample(sheet, runs))  # totals 8, −10, 0; 26 possible totals: steps of 2
    assert (bins[0].low, bins[-1].high) == (-10, 15)
    assert all(one.high < 0 or one.low >= 0 for one in bins)
    assert {(one.low, one.high): one.runs.count for one in bins if one.runs.count} == {
        (-10, -9): 1,
        (0, 1): 1,
        (8, 9): 1,
    }
    assert dict(bins[0].by_model) == {"a": 0, "b": 1}
    assert all(one.runs.of == 3 for one in bins)
    assert histogram(Sample(sheet, ())) == ()


def test_conditions_are_paired_by_model_and_run(sheet: Sheet) -> None:
    cue = "evidence-cueing"
    runs = (
        run(sheet, "a", 1, "2", "2"),  # −5
        run(sheet, "a", 2, "2", "2 3"),  # −7
        run(sheet, "b", 1, "4", "1"),  # 9
        run(sheet, "b", 2, "S", "1"),  # no such sentence: no pair
        run(sheet, "b", 3, "4", "1"),  # no partner
        run(sheet, "a", 1, "2 4", "1", condition=cue),  # 12
        run(sheet, "a", 2, "2 4", "2 3", condition=cue),  # −3
        run(sheet, "b", 1, "4", "1 3", condition=cue),  # 7
        run(sheet, "b", 2, "4", "1", condition=cue),
    )
    (found,) = contrast_all(sheet, runs)
    assert (found.base, found.other, found.pairs) == ("full-story", cue, 3)
    assert (found.of.count, found.of.of, found.unpaired) == (3, 4, 2)
    shifts = {one.name: one for one in found.shifts}
    # Totals +17, +4, −2: mean 19/3; sums at least 19 far from 0: only +++ (23), ++− (19) and their mirrors: 4 of 8.
    assert shifts["total"].mean == pytest.approx(19 / 3)
    assert shifts["total"].p_value == 0.5
    assert (shifts["total"].up, shifts["total"].down, shifts["total"].models.p_value) == (1, 1, 1)
    # People: −8 to +5, −10 to −10, +5 to +3.
    assert shifts["participant"].mean == pytest.approx((13 + 0 - 2) / 3)
    assert [one.result for one in found.shifts] == [False, False, True, False, True, True]
    turns = {one.name: one for one in found.turns}
    right = turns["name all participants and nobody else"]
    assert (right.base.count, right.other.count, right.only_base, right.only_other) == (1, 1, 1, 1)
    assert right.runs.p_value == 1
    assert {one.model: (one.pairs, one.total) for one in found.models} == {"a": (2, 10.5), "b": (1, -2)}


def test_exploratory_runs_are_contrasted_among_themselves(sheet: Sheet) -> None:
    names = ("full-story", "full-story, exploratory", "evidence-cueing, exploratory")
    runs = tuple(run(sheet, "a", 1, "2", "1", condition=name) for name in names)
    (found,) = contrasts(by_condition(sheet, runs))
    assert (found.base, found.other) == names[1:]


def test_many_pairs_use_the_normal_distribution(sheet: Sheet) -> None:
    runs = tuple(
        run(sheet, "a", n, "2" if n % 3 else "", "1", condition=name)
        for name in ("full-story", "evidence-cueing+no-definition")
        for n in range(101)
    )
    (found,) = contrast_all(sheet, runs)
    assert found.shifts[0].method == "sign flips, normal"
    assert (found.shifts[0].mean, found.shifts[0].p_value) == (0, 1)


def test_neighbours_are_tested_by_each_runs_own_chance(sheet: Sheet) -> None:
    # S007 has neighbours S006 and S008 among seven others. Runs of one sentence have one by chance with 2/7, of two with 11/21.
    runs = (run(sheet, "a", 1, "6", "1"), run(sheet, "a", 2, "8 1", "1"), run(sheet, "b", 1, "1", "1"))
    near = {one.sentence: one for one in near_misses(Sample(sheet, runs))}["S007"]
    assert near.test is not None
    a, b = 2 / 7, 11 / 21
    # At least two of chances a, b, a: both a's (b or not) + one a and b.
    assert near.test.p_value == pytest.approx(a * a + 2 * a * (1 - a) * b)
    assert near.chance == pytest.approx((2 * a + b) / 3)
    assert near.adjusted is not None
    assert near.adjusted >= near.test.p_value


def test_all_misses_are_held_against_those_of_any_sentences(sheet: Sheet) -> None:
    # Every run selects S003 and S005: beside 2, 4 and 6 always; 7 never.
    runs = tuple(run(sheet, "a", n, "3 5", "1") for n in range(4))
    found = nearness(Sample(sheet, runs), seed=1, draws=999)
    assert (found.beside.count, found.beside.of) == (12, 16)
    # Over all eight sentences: missed 1 2 4 6 7 8; beside 2, 4, 6 of them.
    assert found.test is not None
    assert found.test.expected == pytest.approx(0.5, abs=0.06)


def test_items_tell_the_author_what_does_not_tell_readers_apart(sheet: Sheet) -> None:
    runs = (
        run(sheet, "a", 1, "2 4", "2"),
        run(sheet, "a", 2, "2", "2 1"),
        run(sheet, "b", 1, "2", "2"),
    )
    (found,) = diagnose(sheet, runs, draws=99)
    items = {one.id: one for one in found.items}
    assert items["S002"].remark.startswith("everybody selects it")
    assert items["S007"].remark.startswith("nobody selects it")
    assert items["R02"].remark.startswith("everybody names them")
    assert (items["S004"].models.count, items["S004"].models.of) == (1, 2)
    # Within a alone it varies: right 1 0; the rest of the points 3 − 8 = −5 against 3 − 8 + 5 = 0: −1.
    assert items["S004"].within == pytest.approx(-1)
    assert pearson([1, 0, 0], [-5, 0, -5]) == pytest.approx(items["S004"].discrimination)


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@x", "\tx"])
def test_a_cell_is_no_formula(name: str) -> None:
    assert cell(name) == f"'{name}"
    assert cell(-3) == -3
    (row,) = csv.DictReader(io.StringIO(as_csv([{"model": name, "n": None, "b": True}])))
    assert row == {"model": f"'{name}", "n": "", "b": "yes"}


def test_every_part_of_a_diagnosis_is_in_every_form(folder: Path, sheet: Sheet, tmp_path: Path) -> None:
    lines = [
        {
            "model": model,
            "repetition": n,
            "condition": condition,
            "text": json.dumps(
                {
                    "clue_sentence_ids": ["S002", "S005"][: n % 2 + 1],
                    "selected_role_ids": ["R01", "R02"][n % 2 :],
                    "confidence": 50 + n,
                }
            ),
        }
        for condition in ("full-story", "evidence-cueing")
        for model in ("a", "=b")
        for n in range(4)
    ]
    file = tmp_path / "runs.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    options = [
        *("--csv", str(tmp_path / "csv"), "--author", str(tmp_path / "author.html")),
        *("--markdown", str(tmp_path / "r.md"), "--html", str(tmp_path / "r.html"), "--json"),
    ]
    done = CliRunner().invoke(app, ["report", str(folder), str(file), *options])
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    condition = data["conditions"][0]
    tables = {path.stem for path in (tmp_path / "csv").glob("*.csv")}
    # What the report is to have, with the field of --json and the file of --csv that has it.
    for field, table in {
        "models": "models", "validity": "validity", "dissociation": "dissociation", "attractors": "attractors",
        "pairs": "watched_pairs", "sentences": "sentences", "zero_hit": "zero_hit", "near_misses": "key_sentences",
        "nearness": "nearness", "covariations": "conditions", "with_distractor": "with_distractor",
        "confidence": "confidence", "histogram": "histogram", "chain": "links", "items": "items", "roles": "people",
    }.items():  # fmt: skip
        assert field in condition
        assert table in tables, table
    assert data["contrasts"][0]["pairs"] == 8
    assert {"contrast_shifts", "contrast_turns", "contrast_models"} <= tables
    written = [(tmp_path / name).read_text(encoding="utf-8") for name in ("r.md", "r.html")]
    for heading in (
        "Scores", "Found and named", "Validity of replies", "Finding against naming", "Common answers", "Watched pairs",
        "Key sentences", "Other sentences most selected", "The right beside the wrong", "Confidence against points",
        "How points are spread", "Where the argument breaks", "For the author: items", "Differences over pairs",
    ):  # fmt: skip
        assert all(heading in text for text in written), heading
    assert all(word in written[1] for word in ("Which sentences each model selects", "The story as it was read", "Whom each model names"))  # fmt: skip

    def table_of(name: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO((tmp_path / "csv" / name).read_text(encoding="utf-8"))))

    rows = table_of("runs.csv")
    assert len(rows) == 16
    assert rows[-1]["model"] == "'=b"
    rate = table_of("conditions.csv")[0]
    assert {"negative_count", "negative_of", "negative_rate", "negative_low", "negative_high"} <= rate.keys()
    assert "Key sentences, hardest first" in (tmp_path / "author.html").read_text(encoding="utf-8")


def test_the_authors_page_escapes_and_loads_nothing(sheet: Sheet) -> None:
    runs = (run(sheet, "<b>x</b>", 1, "2", "1"),)
    (found,) = diagnose(sheet, runs, draws=99)
    for html in (author_page(sheet, (found,)), page(sheet, (found,), contrast_all(sheet, runs))):
        assert "<b>x" not in html
        for loads in ("<script", "src=", "href=", "url(", "@import"):
            assert loads not in html


def test_runs_become_a_frame_with_missing_values_where_nothing_was_scored(sheet: Sheet) -> None:
    pd = pytest.importorskip("pandas")
    frame = to_frame(sheet, (run(sheet, "a", 1, "2", "1", said=70), run(sheet, "a", 2, "S", "1")))
    assert frame["total"][0] == 8
    assert pd.isna(frame["total"][1])
    assert (frame["confidence"][0], frame["unscored_reason"][0]) == (70, "")
    assert "S00S" in frame["unscored_reason"][1]


def test_under_a_draft_key_every_form_says_so(folder: Path, sheet: Sheet, tmp_path: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    body = json.dumps({"clue_sentence_ids": ["S002"], "selected_role_ids": ["R01"]})
    runs.write_text(
        "".join(
            json.dumps({"model": "m", "repetition": n, "condition": "full-story", "text": body}) + "\n"
            for n in (1, 2)
        ),
        encoding="utf-8",
    )
    said = "nobody has confirmed it"
    for status, told in (("final", False), ("draft", True)):
        path = folder / "episode.yaml"
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"(?m)^(\s*status:).*$", rf"\1 {status}", text), encoding="utf-8")
        done = CliRunner().invoke(
            app,
            [
                "report",
                str(folder),
                str(runs),
                "--markdown",
                str(tmp_path / "a.md"),
                "--html",
                str(tmp_path / "a.html"),
                "--json",
            ],
        )
        assert done.exit_code == 0
        assert f'"key": "{status}"' in done.output
        assert (said in done.stderr) is told
        for name in ("a.md", "a.html"):
            assert (said in (tmp_path / name).read_text(encoding="utf-8")) is told
