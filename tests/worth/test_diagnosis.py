"""What a diagnosis says of small samples that can be counted by hand."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ludic_deepeval.errors import InputError
from worth_deepeval.cli import app
from worth_deepeval.diagnosis.markdown import markdown
from worth_deepeval.diagnosis.page import page
from worth_deepeval.diagnosis.roles import attractor
from worth_deepeval.diagnosis.sample import Sample
from worth_deepeval.diagnostics import Diagnosis, diagnose
from worth_deepeval.episode import Sheet
from worth_deepeval.runs import Run, load_runs, make_run


def answer(clues: list[str], roles: list[str]) -> str:
    return json.dumps({"clue_sentence_ids": clues, "selected_role_ids": roles})


def run(sheet: Sheet, model: str, repetition: int, clues: str, roles: str) -> Run:
    """A run that selected "2 4" and named "1"."""
    text = answer([f"S00{one}" for one in clues.split()], [f"R0{one}" for one in roles.split()])
    return make_run(model, repetition, "full-story", text, sheet)


@pytest.fixture
def runs(sheet: Sheet) -> tuple[Run, ...]:
    # K is 2 (3 points), 4 (4), 6 (2), 7 (1); R01 +5 took part; R02 −8, R03 −2.
    return (
        run(sheet, "a", 1, "2 4", "1"),  # 7 + 5 = 12
        run(sheet, "a", 2, "2 4 6", "2"),  # 9 − 8 = 1
        run(sheet, "a", 3, "3 5", "2 3"),  # 0 − 10 = −10
        run(sheet, "b", 1, "5", "2 3"),  # −10
        run(sheet, "b", 2, "5 8", "1 2"),  # 0 − 3 = −3
        make_run("b", 3, "full-story", answer(["S099"], []), sheet),  # no such sentence
        make_run("b", 4, "full-story", None, sheet),
    )


@pytest.fixture
def found(sheet: Sheet, runs: tuple[Run, ...]) -> Diagnosis:
    return diagnose(sheet, runs, draws=199)[0]


def test_means_are_over_scored_runs_and_say_of_how_many(found: Diagnosis) -> None:
    a, b = found.models
    assert (a.totals, b.totals) == ((12, 1, -10), (-10, -3))
    assert a.total.mean == 1
    assert a.total.sd == pytest.approx(11)  # deviations 11, 0, −11: sqrt(242 / 2)
    assert (b.scored, b.runs, found.scored, found.runs) == (2, 4, 5, 7)
    assert (a.hits.mean, a.correct.mean, a.incorrect.mean) == pytest.approx((5 / 3, 1 / 3, 1))
    assert (found.negative.count, found.negative.of) == (3, 5)


def test_validity_counts_every_run_and_names_what_was_left_out(found: Diagnosis) -> None:
    whole = found.validity[-1]
    assert (whole.model, whole.runs, whole.direct.count, whole.invalid.count) == ("all", 7, 6, 1)
    assert (whole.scorable.count, whole.scorable.of) == (5, 7)
    assert [name for name, _ in whole.causes] == ["b run 3", "b run 4"]
    assert "S099" in whole.causes[0][1]


def test_finding_and_naming_are_ranked_apart(found: Diagnosis) -> None:
    assert found.dissociation is not None
    # Right less wrong: a (1 − 1 − 2) / 3, b (−2 + 0) / 2 = −1; hits a 5/3, b 0.
    rows = {one.model: (one.rank_hits, one.rank_net_correct) for one in found.dissociation.contrast}
    assert rows == {"a": (1, 1), "b": (2, 2)}
    # Hits 2 3 0 0 0: upper quarter from 2; of these, one names nobody right.
    assert found.dissociation.many == 2
    assert [(one.model, one.repetition) for one in found.dissociation.much_found_nobody_right] == [("a", 2)]
    assert (found.dissociation.much_found.count, found.dissociation.much_found.of) == (1, 2)
    # At most the median, 0: three runs, none of which names somebody right and nobody wrong.
    assert (found.dissociation.little_found.count, found.dissociation.little_found.of) == (0, 3)


def test_a_common_set_is_counted_exactly_contained_and_within_one(
    sheet: Sheet, runs: tuple[Run, ...], found: Diagnosis
) -> None:
    best = found.attractors.sets[0]
    assert best.roles == ("R02", "R03")
    assert (best.exact.count, best.contained.count, best.exact_models.count, best.participants) == (
        2,
        2,
        2,
        0,
    )
    # {2} differs from {2, 3} by one; {1} and {1, 2} by three and two.
    assert best.within_one.count == 3
    assert attractor(Sample(sheet, runs), ["R02"]).contained.count == 4


def test_watched_pairs_are_compared_over_runs_and_over_models(found: Diagnosis) -> None:
    (pair,) = found.pairs  # S005 against S007, selected by three runs and none
    assert (pair.only_suspicion, pair.only_exoneration) == (3, 0)
    assert pair.runs.p_value == 0.25  # 2 / 2³
    assert pair.models.p_value == 0.5  # both models lean one way: 2 / 2²


def test_a_run_that_selects_both_of_a_pair_says_nothing_about_it(sheet: Sheet) -> None:
    (pair,) = diagnose(sheet, (run(sheet, "a", 1, "5 7", "1"), run(sheet, "a", 2, "7", "1")), draws=99)[
        0
    ].pairs
    assert (pair.only_suspicion, pair.only_exoneration, pair.selected_exoneration.count) == (0, 1, 2)


def test_zero_hits_and_neighbours_beside_their_chance(found: Diagnosis) -> None:
    assert found.zero_hit == ("S007",)
    near = {one.sentence: one for one in found.near_misses}
    # Nobody has S007; a run 2 has S006, and b run 2 has S008.
    assert (near["S007"].beside.count, near["S007"].beside.of, near["S007"].neighbours) == (
        2,
        5,
        ("S006", "S008"),
    )
    # Seven others, two neighbours: 1 − C(5,m)/C(7,m) is 2/7, 11/21, 5/7 for m = 1, 2, 3; sizes are 2 3 2 1 2.
    assert near["S007"].chance == pytest.approx((3 * 11 / 21 + 5 / 7 + 2 / 7) / 5)


def test_a_sentence_that_everybody_selects_outside_k_is_told(sheet: Sheet) -> None:
    everybody = tuple(run(sheet, "a", n, "1 2", "1") for n in range(3))
    assert diagnose(sheet, everybody, draws=99)[0].unanimous == ("S001",)


def test_the_right_beside_a_distractor(found: Diagnosis) -> None:
    beside = found.with_distractor
    assert (beside.any_correct.count, beside.any_correct.of) == (2, 5)
    assert (beside.any_distractor.count, beside.any_distractor.of) == (1, 2)
    assert (beside.all_right.count, beside.none_wrong.count) == (1, 1)


def test_the_chain_breaks_at_the_first_fact_that_lacks_a_sentence(found: Diagnosis) -> None:
    links = {one.fact: one for one in found.chain.links}
    # F1 needs S002; F2 needs F1 and S004. Runs a1 and a2 have both; the others stop at F1 and never come to F2.
    assert (links["F1"].reached.count, links["F1"].broken.count) == (2, 3)
    assert (links["F2"].reached.count, links["F2"].broken.count) == (2, 0)
    assert [(one, rate.count, rate.of) for one, rate in links["F1"].missing] == [("S002", 3, 3)]
    ada = next(one for one in found.chain.verdicts if one.role == "R01")
    # It follows for a1 and a2; a1 says so. b2 says so without.
    assert (ada.given_derivable.count, ada.given_derivable.of) == (1, 2)
    assert (ada.given_not.count, ada.given_not.of) == (1, 3)


def test_items_are_correlated_with_the_rest_of_the_points(found: Diagnosis) -> None:
    items = {one.id: one for one in found.items}
    # S006: selected by a2 alone; the rest of the points 12, −1, −10, −10, −3: mean −2.4, a2 1.4 above it.
    squares = 14.4**2 + 1.4**2 + 7.6**2 + 7.6**2 + 0.6**2
    assert items["S006"].discrimination == pytest.approx(1.4 / (squares * 0.8) ** 0.5)
    assert items["S007"].discrimination is None
    # The distractor is got right by leaving it out, which a1 alone did.
    assert (items["R02"].difficulty.count, items["R02"].kind) == (1, "distractor")
    assert items["R02"].discrimination is not None
    assert items["R02"].discrimination > 0


def test_conditions_are_diagnosed_apart_and_a_shown_key_is_no_result(sheet: Sheet) -> None:
    both = (
        run(sheet, "a", 1, "2", "1"),
        make_run("a", 1, "evidence-cueing", answer(["S002"], ["R01"]), sheet),
    )
    one, other = diagnose(sheet, both, draws=99)
    assert (one.condition, one.runs, one.cued) == ("full-story", 1, False)
    assert (other.condition, other.runs, other.cued) == ("evidence-cueing", 1, True)
    assert "no result" in markdown(sheet, (other,))


@pytest.mark.parametrize("text", [None, "no JSON at all"])
def test_runs_of_which_none_was_scored_are_reported_as_such(sheet: Sheet, text: str | None) -> None:
    found = diagnose(sheet, (make_run("a", 1, "full-story", text, sheet),), draws=99)
    assert (found[0].scored, found[0].dissociation, found[0].negative.rate) == (0, None, None)
    assert "nothing was scored" in markdown(sheet, found)
    assert "0 of 1 runs scored" in page(sheet, found)


def test_the_page_escapes_what_strangers_wrote_and_loads_nothing(sheet: Sheet) -> None:
    hostile = make_run("<script>alert(1)</script>\x1b[2J|", 1, "full-story", answer(["S002"], ["R01"]), sheet)
    html, text = (
        page(sheet, diagnose(sheet, (hostile,), draws=99)),
        markdown(sheet, diagnose(sheet, (hostile,), draws=99)),
    )
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "\x1b" not in html + text
    assert "\\<script\\>" in text
    for loads in ("src=", "href=", "url(", "@import"):
        assert loads not in html


def lines(*records: Any) -> str:
    return "".join(json.dumps(one) + "\n" for one in records)


GOOD = {
    "model": "a",
    "repetition": 1,
    "condition": "full-story",
    "text": answer(["S002"], ["R01"]),
    "more": 1,
}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no runs"),
        ("{", "line 1: no JSON"),
        ("[1]\n", "line 1"),
        (lines(GOOD, GOOD), "line 2: a run 1 (full-story) is there twice"),
        (lines({**GOOD, "model": ""}), "line 1: model"),
        (lines({**GOOD, "repetition": True}), "line 1: repetition"),
        (lines({**GOOD, "text": 5}), "line 1: text"),
        (lines({"model": "a"}), "line 1: condition"),
        ("[" * 100_000, "line 1: no JSON"),
    ],
)
def test_a_file_of_runs_that_is_wrong_is_told_by_line(
    sheet: Sheet, tmp_path: Path, text: str, says: str
) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=says.replace("(", r"\(").replace(")", r"\)")):
        load_runs(file, sheet)


def report(folder: Path, records: Iterable[Any], *options: str) -> Any:
    file = folder.parent / "runs.jsonl"
    file.write_text(lines(*records), encoding="utf-8")
    return CliRunner().invoke(app, ["report", str(folder), str(file), *options])


def test_the_command_writes_all_three_forms_and_tells_what_was_not_scored(
    folder: Path, tmp_path: Path
) -> None:
    md, html = tmp_path / "r.md", tmp_path / "r.html"
    done = report(folder, [GOOD], "--json", "--markdown", str(md), "--html", str(html))
    assert done.exit_code == 0
    data = json.loads(done.stdout)
    assert (data["version"], data["episode"]) == (1, "T01")
    assert data["conditions"][0]["models"][0]["totals"] == [8]
    assert md.read_text(encoding="utf-8").startswith("# The Bridge (T01")
    assert html.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert report(folder, [{**GOOD, "text": None}]).exit_code == 1
