"""The rating form: whom it takes, who rates what, what raters see and do not see, and what may come back."""

import csv
import io
import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.errors import InputError
from ludic_deepeval.studies.assignment import assign
from ludic_deepeval.studies.measured import read_corpus
from ludic_deepeval.studies.rating_form import blinded, form_csv, form_html, form_text
from ludic_deepeval.studies.rating_key import RatingKey, load_key, make_key, save_key
from ludic_deepeval.studies.rating_words import ASKED, PAGE, QUESTIONS
from ludic_deepeval.studies.ratings import import_ratings, ratings_csv
from ludic_deepeval.studies.rehearsal import rehearse
from ludic_deepeval.studies.sample import Candidate, bins_of, strata_of, stratified
from ludic_deepeval.text import Prose

ROOT = Path(__file__).parents[2]
STORIES = ROOT / "test_cases/backstories"
SESSIONS = ROOT / "test_cases/sessions"
HOSTILE = (
    '<script>alert(1)</script> "quoted" \x07 \u202e </section><img src=x onerror=alert(1)> &amp; {count}'
)


def candidate(at: int, prose: str = "", **metrics: float | None) -> Candidate:
    values: dict[Any, float | None] = {"lpi": 0.1234 + at / 50, "pcv": 101.5 + at, "e_a": 0.3571 + at / 100}
    return Candidate(
        f"story-{at}",
        f"/secret/gated-arm/story-{at}.md",
        Prose(prose or f"Here is the tale of number {'i' * (at + 1)}.", front_matter=False),
        values | metrics,  # type: ignore[operator]  # names of metrics
        {"rtn": 0.7123, "mv": 0.25, "ucr": 0.5, "th": 0.3331},
        cell="gated-arm",
    )


def keyed(
    count: int = 6, raters: int = 4, per_story: int = 2, **options: Any
) -> tuple[RatingKey, dict[str, str]]:
    stories = [candidate(at) for at in range(count)]
    strata = strata_of(stories)
    key = make_key(stories, strata, assign(strata, raters, per_story=per_story, seed=5), seed=5, **options)
    return key, {item.item: one.prose.body for item, one in zip(key.items, stories, strict=True)}


# The sample


def test_equal_values_lie_in_one_part_and_unmeasured_ones_in_none() -> None:
    # Six known values in three parts of two: 1 1 | 2 3 | 4 5.
    assert bins_of([1, 1, 2, None, 3, 4, 5], 3) == [0, 0, 1, None, 1, 2, 2]
    # Three ones lie where the first of them does.
    assert bins_of([1, 1, 1, 9], 2) == [0, 0, 0, 1]
    assert bins_of([], 3) == []


def test_a_sample_takes_from_the_rare_strata_first_and_is_the_seeds() -> None:
    names = ["crowd"] * 90 + ["rare"] * 6 + ["one"] * 1
    drawn = stratified(list(enumerate(names)), lambda pair: pair[1], 15, seed=3)
    # Rounds of three, then two strata: one 1, rare and crowd 7 each would be 15, but rare has 6: so 1 + 6 + 8.
    assert Counter(name for _, name in drawn) == {"one": 1, "rare": 6, "crowd": 8}
    assert drawn == stratified(list(enumerate(names)), lambda pair: pair[1], 15, seed=3)
    assert drawn != stratified(list(enumerate(names)), lambda pair: pair[1], 15, seed=4)
    assert [at for at, _ in drawn] == sorted(at for at, _ in drawn)


def test_more_stories_than_there_are_is_refused_with_how_many_there_are() -> None:
    with pytest.raises(InputError, match="1 to 3"):
        stratified("abc", str, 4, seed=1)


# Who rates what


@pytest.mark.parametrize(
    ("stories", "raters", "per_story"),
    [(60, 11, 3), (57, 11, 4), (40, 7, 5), (7, 5, 2), (12, 3, 3), (1, 1, 1), (10, 10, 1)],
)
def test_every_story_has_its_raters_and_no_rater_much_more_than_another(
    stories: int, raters: int, per_story: int
) -> None:
    strata = [str(at % 9) for at in range(stories)]
    for seed in range(5):
        plan = assign(strata, raters, per_story=per_story, seed=seed)
        assert set(plan.raters_of) == {per_story}
        assert max(plan.loads) - min(plan.loads) <= 1
        assert sum(plan.loads) == stories * per_story
        assert all(len(set(order)) == len(order) for order in plan.orders)


def test_the_papers_panel_of_eleven_gives_three_or_four_raters_to_a_story() -> None:
    # §5.7: 60 stories, 11 raters, 194 ratings. 194 is no multiple of 11; 18 each are 198 = 42 x 3 + 18 x 4.
    plan = assign(["a"] * 60, 11, per_story=3, per_rater=18, seed=1)
    assert Counter(plan.raters_of) == {3: 42, 4: 18}
    assert set(plan.loads) == {18}


def test_every_rater_sees_all_strata_and_pairs_of_raters_meet_evenly() -> None:
    strata = [str(at % 4) for at in range(60)]
    plan = assign(strata, 6, per_story=3, seed=2)
    for order in plan.orders:  # 30 stories of 4 strata with 15 each: 7.5 of each
        assert set(Counter(strata[item] for item in order).values()) <= {6, 7, 8, 9}
    raters = [{at for at, order in enumerate(plan.orders) if item in order} for item in range(60)]
    met = Counter(pair for one in raters for pair in combinations(sorted(one), 2))
    # 60 stories with 3 pairs each over 15 pairs: 12 each.
    assert len(met) == 15
    assert max(met.values()) - min(met.values()) <= 6


def test_no_story_is_always_first_or_always_last() -> None:
    plan = assign(["a"] * 40, 8, per_story=4, seed=7)
    assert max(abs(place - 0.5) for place in plan.places) < 0.15  # by chance alone up to 0.4
    assert plan.orders != assign(["a"] * 40, 8, per_story=4, seed=8).orders
    assert plan == assign(["a"] * 40, 8, per_story=4, seed=7)


@pytest.mark.parametrize(
    ("options", "where", "allowed"),
    [
        ({"raters": 0}, "--raters", "1 to 500"),
        ({"raters": 2, "per_story": 3}, "--per-story", "1 to 2"),
        ({"raters": 4, "per_story": 2, "per_rater": 4}, "--per-rater", "5 to 10"),  # 10 stories x 2 / 4
        ({"raters": 4, "per_story": 2, "per_rater": 11}, "--per-rater", "5 to 10"),
    ],
)
def test_numbers_that_cannot_be_met_say_what_could(options: dict[str, int], where: str, allowed: str) -> None:
    with pytest.raises(InputError) as caught:
        assign(["a"] * 10, seed=1, **options)
    assert caught.value.file == where
    assert allowed in caught.value.allowed


# What a rater sees


def forms_of(key: RatingKey, prose: dict[str, str]) -> str:
    return "\n".join(made(form) for form in blinded(key, prose) for made in (form_html, form_csv, form_text))


def test_no_form_holds_a_label_a_score_or_a_path() -> None:
    key, prose = keyed()
    said = forms_of(key, prose)
    for item in key.items:
        assert item.item in said
        secrets = [item.story, item.path, item.sha256, item.stratum, item.cell, "/secret", "gated", "secret"]
        figures = [*item.metrics.model_dump().values(), *item.components.values()]
        for value in figures:
            secrets += [f"{value}", f"{value:.2f}", f"{value:.3f}"] if len(f"{value}") > 3 else []
        assert [secret for secret in secrets if secret in said] == []
    for word in ("LPI", "PCV", "E_a", "RTN", "UCR", "lpi", "pcv", "stratum", "score", "gate"):
        assert word not in said


def test_a_form_is_the_same_to_the_byte_whatever_is_known_of_its_stories() -> None:
    key, prose = keyed()
    other = key.model_copy(
        update={
            "items": tuple(
                one.model_copy(
                    update={"story": "x", "path": "y", "cell": "z", "stratum": "0-0-0", "components": {}}
                )
                for one in key.items
            )
        }
    )
    assert forms_of(other, prose) == forms_of(key, prose)


def test_the_real_stories_forms_hold_no_path_and_no_figure(tmp_path: Path) -> None:
    corpus = read_corpus([STORIES], SESSIONS)
    strata = strata_of(corpus.candidates)
    key = make_key(list(corpus.candidates), strata, assign(strata, 3, per_story=2, seed=1), seed=1)
    prose = {item.item: one.prose.body for item, one in zip(key.items, corpus.candidates, strict=True)}
    said = forms_of(key, prose)
    own = " ".join(prose.values())
    for item in key.items:
        for secret in (Path(item.path).name, item.sha256, item.story, item.stratum, str(item.metrics.lpi)):
            assert secret not in said or secret in own


def test_codes_and_their_order_tell_nothing_of_the_stories() -> None:
    codes = [one.item for one in keyed(count=40)[0].items]
    assert len(set(codes)) == 40
    assert codes != sorted(codes)
    assert codes != sorted(codes, reverse=True)


def test_hostile_prose_is_text() -> None:
    stories = [candidate(0, HOSTILE)]
    key = make_key(stories, ["0"], assign(["0"], 1, per_story=1, seed=1), seed=1)
    (form,) = blinded(key, {key.items[0].item: stories[0].prose.body})
    page = form_html(form)
    assert "<script>alert" not in page
    assert "<img" not in page
    assert page.count("<script>") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{count}" in page  # a brace in a story is not the page's own
    rows = list(csv.DictReader(io.StringIO(form_csv(form))))
    assert [row["item"] for row in rows] == [key.items[0].item]


def test_the_page_loads_nothing_and_forbids_it() -> None:
    key, prose = keyed()
    page = form_html(next(iter(blinded(key, prose))))
    assert "default-src &#x27;none&#x27;" in page
    for word in ("http://", "https://", "src=", "@import", "url(", "fetch(", "XMLHttpRequest", "eval("):
        assert word not in page


def test_both_languages_say_the_same_things() -> None:
    assert ASKED["en"].keys() == ASKED["zh"].keys() == set(QUESTIONS)
    assert PAGE["en"].keys() == PAGE["zh"].keys()
    for name, said in PAGE["en"].items():
        assert {part for part in ("{done}", "{count}", "{name}") if part in said} == {
            part for part in ("{done}", "{count}", "{name}") if part in PAGE["zh"][name]
        }
    key, prose = keyed(language="zh")
    page = form_html(next(iter(blinded(key, prose))))
    assert '<html lang="zh">' in page
    assert "今晚就能开团" in page


# The key


def test_the_key_is_read_as_it_was_written_and_never_lies_among_the_forms(tmp_path: Path) -> None:
    key, _ = keyed()
    save_key(key, tmp_path / "key.json", tmp_path / "forms")
    assert load_key(tmp_path / "key.json") == key
    with pytest.raises(InputError, match="in the folder of the forms"):
        save_key(key, tmp_path / "forms" / "deep" / "key.json", tmp_path / "forms")
    assert not (tmp_path / "forms").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"raters": [{"rater": "R1", "items": ["X"]}]}, "is no item"),
        ({"raters": [{"rater": "R1", "items": []}, {"rater": "R1", "items": []}]}, "a rater is there twice"),
        ({"form": "<b>"}, "form"),
        ({"extra": 1}, "unknown field"),
        ({"version": 2}, "version"),
    ],
)
def test_a_key_that_is_none_is_one_line_that_says_why(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    data = json.loads(keyed()[0].model_dump_json()) | change
    (tmp_path / "key.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError, match=said) as caught:
        load_key(tmp_path / "key.json")
    assert "\n" not in str(caught.value)


# What comes back


def sheets(key: RatingKey, folder: Path, **options: Any) -> list[Path]:
    paths = []
    for rater, sheet in rehearse(key, **options).items():
        paths.append(folder / f"{rater}.csv")
        paths[-1].write_text(sheet, encoding="utf-8")
    return paths


def test_every_sheet_together_is_every_rating_that_was_asked_for(tmp_path: Path) -> None:
    key, _ = keyed()
    found = import_ratings(key, sheets(key, tmp_path))
    assert found.errors == ()
    assert (len(found.ratings.rows), found.ratings.asked, found.ratings.absent) == (12, 12, ())
    assert found.ratings.simulated == 12
    again = tmp_path / "all.csv"
    again.write_text(ratings_csv(found.ratings), encoding="utf-8")
    assert import_ratings(key, [again]).ratings == found.ratings


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_spreadsheets_marks_and_byte_order_mark_do_no_harm(tmp_path: Path, mark: str) -> None:
    key, _ = keyed()
    first = sheets(key, tmp_path)[0]
    text = first.read_text(encoding="utf-8").replace(",", mark).replace("\n", "\r\n")
    first.write_bytes(b"\xef\xbb\xbf" + text.encode())
    found = import_ratings(key, [first])
    assert found.errors == ()
    assert found.ratings.rows[0].rater == "R01"


def broken(key: RatingKey, folder: Path, old: str, new: str) -> Path:
    path = sheets(key, folder)[0]
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("q1", "8", "row 2: q1: found '8'; allowed: a whole number from 1 to 7"),
        ("q2", "0", "row 2: q2: found '0'"),
        ("q3", "3.0", "row 2: q3: found '3.0'"),
        ("q3", "４", "row 2: q3: found '４'"),
        ("q4", "-1", "row 2: q4: found '-1'"),
        ("q4", "", "row 2: q4: R01 left 1 question unanswered"),
        ("form", "F-OTHER", "row 2: form: found 'F-OTHER'"),
        ("rater", "R99", "row 2: rater: no rater 'R99'"),
        ("item", "ZZZZ", "row 2: item: no item 'ZZZZ'"),
        ("item", "=1+1", "row 2: item: no item '=1+1'"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_row(
    tmp_path: Path, column: str, value: str, said: str
) -> None:
    key, _ = keyed()
    path = sheets(key, tmp_path)[0]
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    rows[0][column] = value
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(out.getvalue(), encoding="utf-8")
    errors = [str(error) for error in import_ratings(key, [path]).errors]
    assert any(error.startswith(f"{path}: {said}") for error in errors), errors
    assert not any("\n" in error for error in errors)


def test_an_item_of_another_rater_is_refused(tmp_path: Path) -> None:
    key, _ = keyed()
    path = sheets(key, tmp_path)[0]
    foreign = next(one.item for one in key.items if one.item not in key.items_of["R01"])
    path.write_text(
        path.read_text(encoding="utf-8") + f"{key.form},R01,{foreign},1,1,1,1,\n", encoding="utf-8"
    )
    (error,) = import_ratings(key, [path]).errors
    assert f"{foreign} is not R01's to rate" in str(error)


def test_a_rater_in_two_files_an_item_twice_and_a_file_twice_are_refused(tmp_path: Path) -> None:
    key, _ = keyed()
    first = sheets(key, tmp_path)[0]
    copy = tmp_path / "copy.csv"
    copy.write_bytes(first.read_bytes())
    (error,) = import_ratings(key, [first, copy]).errors
    assert f"{copy}: row 2: rater: ratings of R01 are in {first} already" in str(error)
    (error,) = import_ratings(key, [first, first]).errors
    assert "given twice" in str(error)
    head, row, *rest = first.read_text(encoding="utf-8").splitlines()
    first.write_text("\n".join([head, row, row, *rest]), encoding="utf-8")
    (error,) = import_ratings(key, [first]).errors
    assert "row 3: item: R01 rates" in str(error)
    assert "a second time" in str(error)


def test_rows_left_out_are_wrong_unless_what_is_there_is_wanted(tmp_path: Path) -> None:
    key, _ = keyed()
    path = sheets(key, tmp_path)[0]
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[:-1]), encoding="utf-8")
    (error,) = import_ratings(key, [path]).errors
    assert "1 of 3 items of R01 are not there" in str(error)
    found = import_ratings(key, [path], allow_missing=True)
    assert found.errors == ()
    # Of R01's three items with four questions each, one is missing; of the three others nothing came.
    assert (len(found.ratings.rows), found.ratings.unanswered) == (2, 4)
    assert found.ratings.absent == ("R02", "R03", "R04")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "an empty file"),
        (b"form,rater,item,q1,q2,q3\n", "no column q4"),
        (b"form,rater,item,q1,q2,q3,q4,q4\n", "a column is there twice"),
        (b"form,rater,item,q1,q2,q3,q4\n", "no ratings in this sheet"),
        (b'form,rater,item,q1,q2,q3,q4\n"open', "not valid CSV"),
        (b"form,rater,item,q1,q2,q3,q4\na,b,c,1,1,1,1,1,extra\n", "more values than columns"),
        (b"\xff\xfe", "UTF-16"),
    ],
)
def test_a_file_that_is_no_sheet_is_one_line(tmp_path: Path, data: bytes, said: str) -> None:
    key, _ = keyed()
    path = tmp_path / "sheet.csv"
    path.write_bytes(data)
    (error,) = import_ratings(key, [path]).errors
    assert said in str(error)


def test_a_comment_that_would_run_in_a_spreadsheet_does_not(tmp_path: Path) -> None:
    key, _ = keyed()
    path = broken(key, tmp_path, "SIMULATED", '"=HYPERLINK(""http://x"")"')
    found = import_ratings(key, [path])
    assert found.ratings.rows[0].comment == '=HYPERLINK("http://x")'
    assert "'=HYPERLINK" in ratings_csv(found.ratings)


# The commands


def test_the_commands_write_forms_and_take_ratings_back(tmp_path: Path, ludic: Any) -> None:
    key, forms = tmp_path / "key.json", tmp_path / "forms"
    options = ("--raters", 5, "--sample", 8, "--out", forms, "--key", key, "--sessions", SESSIONS, "--json")
    ran = ludic("ratings", "form", STORIES, *options)
    data = json.loads(ran.out)
    assert (ran.code, data["stories"], data["per_story"], len(data["files"])) == (0, 8, [3, 3], 15)
    assert sorted(path.name for path in forms.iterdir())[:3] == [
        "rating-R01.csv",
        "rating-R01.html",
        "rating-R01.txt",
    ]
    assert ludic("ratings", "form", STORIES, *options).code == 2  # a key is not overwritten unasked
    before = key.read_bytes()
    ran = ludic("ratings", "form", STORIES, *options, "--force")
    assert (ran.code, "holds forms already (rating-R01.csv)" in ran.err) == (
        2,
        True,
    )  # nor a filled-in sheet, ever
    assert key.read_bytes() == before
    assert ludic("ratings", "rehearse", key, "--out", tmp_path / "sim").code == 0
    made = sorted((tmp_path / "sim").iterdir())
    ran = ludic("ratings", "import", key, *made, "--out", tmp_path / "all.csv")
    assert (ran.code, "24 of 24 ratings, by 5 raters, of 8 stories" in ran.out) == (0, True)
    assert "SIMULATED: 24" in ran.out
    ran = ludic("ratings", "import", key, made[0])
    assert (ran.code, "nothing came from R02, R03, R04, R05" in ran.out) == (1, True)
    ran = ludic("ratings", "import", key, forms / "rating-R01.csv")
    assert (ran.code, "unanswered" in ran.err) == (2, True)


def test_the_same_prose_is_rated_once_and_unread_stories_not_at_all(locked: Path) -> None:
    (locked / "unread.md").write_text("Nobody has read this.\n", encoding="utf-8")
    for ending in ("md", "ledger.json"):
        (locked / f"twin.{ending}").write_bytes((locked / f"tale.{ending}").read_bytes())
    found = read_corpus([locked])
    assert [one.id for one in found.candidates] == ["tale"]
    reasons = {Path(path).name: reason for path, reason in found.left_out}
    assert "the same prose as" in reasons["twin.md"]
    assert "not read yet" in reasons["unread.md"]


def test_forms_and_what_comes_back_need_no_numpy() -> None:
    import subprocess
    import sys

    modules = "rating_form ratings rating_key rehearsal ahp_form measured assignment sample".split()
    code = f"import sys, {', '.join(f'ludic_deepeval.studies.{one}' for one in modules)}, ludic_deepeval.cli; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def store_of(folder: Path) -> Path:
    """A store of trials as a study keeps them; its last line is torn."""
    session = json.loads((SESSIONS / "two-short-one-long/session.json").read_text(encoding="utf-8"))
    ledger = json.loads((STORIES / "two-short-one-long.ledger.json").read_text(encoding="utf-8"))["ledger"]
    measures = {"lpi": 0.8125, "rtn": 0.5, "mv": 1, "ucr": 0.25, "th": 1, "pcv": 151, "e_a": 0.125}
    first = (STORIES / "two-short-one-long.md").read_text(encoding="utf-8").partition("\n---\n")[2].strip()
    lines = [
        {
            "trial": "t1",
            "cell": {"gating": "on"},
            "prose": first,
            "measures": measures,
            "ledger": ledger,
            "session": session,
        },
        {
            "trial": "t2",
            "cell": {"gating": "off"},
            "prose": "Another one waits.",
            "measures": measures | {"e_a": None},
        },
        {"trial": "t3", "cell": {"gating": "off"}, "measures": dict.fromkeys(measures)},
    ]
    path = folder / "trials.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"trial": "t4', encoding="utf-8")
    return path


def test_a_studys_trials_are_rated_with_their_cells_in_the_key_alone(tmp_path: Path, ludic: Any) -> None:
    path = store_of(tmp_path)
    found = read_corpus([path])
    assert [(one.id, one.cell) for one in found.candidates] == [("t1", "gating on"), ("t2", "gating off")]
    assert found.candidates[0].metrics == {"lpi": 0.8125, "pcv": 151.0, "e_a": 0.125}
    assert [reason for _, reason in found.left_out] == ["nothing was measured of this trial"]
    assert len(found.sessions) == 1
    assert found.sessions[0].source_sha256 == found.candidates[0].prose.sha256
    options = ("--raters", 2, "--per-story", 2, "--out", tmp_path / "f", "--key", tmp_path / "k.json")
    assert ludic("ratings", "form", path, *options).code == 0
    assert "gating on" in (tmp_path / "k.json").read_text(encoding="utf-8")
    for form in (tmp_path / "f").iterdir():
        assert "gating" not in form.read_text(encoding="utf-8")
    ran = ludic("weights", "fit", path, "--method", "draws", "--json")
    assert json.loads(ran.out)["methods"][0]["details"]["sessions"] == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[]", "line 1: no trial"),
        ('{"measures": {"lpi": "high"}}', "line 1: found 'high'"),
        ('{"measures": {"lpi": NaN}}', "found NaN"),
        ('{"measures": {"lpi": true}}', "line 1: found true"),
        ("{", "not valid JSON"),
    ],
)
def test_a_line_that_is_no_trial_is_named(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "t.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_corpus([tmp_path / "t.jsonl"])
