"""The forms in a real browser, from a disk: filled in by keyboard and mouse, saved, and read again by the program.

Skipped where there is no Chromium or no Playwright (`pip install playwright`, in the extra `dev`).
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.studies.ahp_form import make_forms, read_pairs, write_pair_forms
from ludic_deepeval.studies.assignment import assign
from ludic_deepeval.studies.rating_form import write_forms
from ludic_deepeval.studies.rating_key import RatingKey, make_key
from ludic_deepeval.studies.ratings import import_ratings
from ludic_deepeval.studies.sample import Candidate
from ludic_deepeval.text import Prose

sync_api = pytest.importorskip("playwright.sync_api", reason="no browser driver: pip install playwright")
CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))),
    None,
)
PROSE = (
    '<script>document.title = "owned"</script> </script><img src=x onerror="document.title=\'owned\'"> she waits.',
    "葛含烟站在台口，没有人来。",
    "مات الملك في الليل ولا أحد يعرف لماذا.",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium: the system's, else the driver's own."""
    with sync_api.sync_playwright() as driver:
        try:
            started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        except sync_api.Error as error:
            pytest.skip(f"no Chromium: {str(error).splitlines()[0]}")
        yield started
        started.close()


@contextmanager
def opened(browser: Any, path: Path, **options: Any) -> Iterator[Any]:
    """The page of a file. Whatever the browser complains of, or asks of another place, is a failure."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, **options)
    page = context.new_page()
    page.set_default_timeout(10_000)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda asked: complaints.append(asked.url) if not asked.url.startswith(("file:", "blob:")) else None)  # fmt: skip
    try:
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready]")
        yield page
        assert complaints == []
    finally:
        context.close()


@pytest.fixture
def forms(tmp_path: Path) -> tuple[RatingKey, Path]:
    """Three stories and one rater."""
    stories = [
        Candidate(
            f"s{at}", f"s{at}.md", Prose(text, front_matter=False), {"lpi": 0.5, "pcv": 1.0, "e_a": None}, {}
        )
        for at, text in enumerate(PROSE)
    ]
    strata = ["0"] * 3
    key = make_key(stories, strata, assign(strata, 1, per_story=1, seed=3), seed=3)
    write_forms(
        key, {item.item: one.prose.body for item, one in zip(key.items, stories, strict=True)}, tmp_path
    )
    return key, tmp_path / "rating-R01.html"


def saved(page: Any, folder: Path) -> Path:
    with page.expect_download() as waited:
        page.click("#save")
    path = folder / waited.value.suggested_filename
    waited.value.save_as(path)
    return path


def shown(page: Any) -> str:
    return str(page.locator(".item:visible").get_attribute("data-item"))


def test_a_form_filled_in_with_the_keyboard_alone_is_imported(
    browser: Any, forms: tuple[RatingKey, Path], tmp_path: Path
) -> None:
    key, path = forms
    given: dict[str, list[int]] = {}
    with opened(browser, path) as page:
        assert page.title() == "Rating backstories"
        for answers in ("5261", "7777", "1234"):
            given[shown(page)] = [int(one) for one in answers]
            for digit in answers:
                page.keyboard.press(digit)
            page.keyboard.press("n")
        assert page.locator("#count").inner_text() == "3 of 3 rated"
        assert "Save the file" in page.locator("[role=status]").inner_text()
        sheet = saved(page, tmp_path)
    assert sheet.name == f"ratings-{key.form}-R01.csv"
    found = import_ratings(key, [sheet])
    assert found.errors == ()
    assert {row.item: list(row.answers.values()) for row in found.ratings.rows} == given
    assert tuple(given) == key.items_of["R01"]


def test_arrows_move_within_a_scale_and_the_mouse_answers_as_well(
    browser: Any, forms: tuple[RatingKey, Path], tmp_path: Path
) -> None:
    key, path = forms
    with opened(browser, path) as page:
        code = shown(page)
        page.locator(f"input[name='{code}-q1'][value='3']").focus()
        page.keyboard.press("ArrowRight")
        page.locator(".item:visible .scale").nth(1).locator("label").nth(6).click()
        page.locator(".item:visible textarea").fill('=1+1, "quoted"\nsecond line 7')
        page.locator(".item:visible .next").click()
        page.locator(".list button").first.click()
        assert shown(page) == code
        sheet = saved(page, tmp_path)
    found = import_ratings(key, [sheet], allow_missing=True)
    assert found.errors == ()
    row = next(row for row in found.ratings.rows if row.item == code)
    assert dict(row.answers) == {"q1": 4, "q2": 7}
    assert row.comment == '=1+1, "quoted"\nsecond line 7'
    assert "'=1+1" in sheet.read_text(encoding="utf-8")  # no spreadsheet runs it


def test_what_was_answered_is_there_again_after_a_reload_and_from_a_saved_file(
    browser: Any, forms: tuple[RatingKey, Path], tmp_path: Path
) -> None:
    _, path = forms
    with opened(browser, path) as page:
        first = shown(page)
        for digit in "5261":
            page.keyboard.press(digit)
        page.reload()
        page.wait_for_selector("body[data-ready]")
        assert page.locator("#count").inner_text() == "1 of 3 rated"
        assert shown(page) != first  # it opens at the first that is not rated
        sheet = saved(page, tmp_path)
    with opened(browser, path) as page:  # another browser knows nothing of it
        assert page.locator("#count").inner_text() == "0 of 3 rated"
        page.set_input_files("#load", sheet)
        sync_api.expect(page.locator("#count")).to_have_text("1 of 3 rated")
        assert page.locator(f"input[name='{first}-q2']:checked").get_attribute("value") == "2"
        other = tmp_path / "other.csv"
        other.write_text(sheet.read_text(encoding="utf-8").replace("R01", "R02"), encoding="utf-8")
        page.set_input_files("#load", other)
        sync_api.expect(page.locator("[role=status]")).to_contain_text("not one of this page")


def test_a_hostile_story_is_words_and_nothing_runs(browser: Any, forms: tuple[RatingKey, Path]) -> None:
    _, path = forms
    with opened(browser, path) as page:
        assert page.locator("img").count() == 0
        said = page.locator(".prose").all_text_contents()
        assert {one.strip() for one in said} == set(PROSE)
        languages = {page.locator(".prose").nth(at).get_attribute("lang") for at in range(3)}
        assert languages == {"und-Latn", "zh", "und-Arab"}


def test_on_a_telephone_nothing_is_cut_off(browser: Any, forms: tuple[RatingKey, Path]) -> None:
    _, path = forms
    with opened(browser, path) as page:
        page.set_viewport_size({"width": 360, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_pairwise_form_says_when_its_answers_pull_apart_and_is_read_back(
    browser: Any, tmp_path: Path
) -> None:
    (form,) = make_forms(1, seed=2)
    write_pair_forms([form], tmp_path)
    # Every expert sees its own order; what is said here is of dimensions: each weighs twice the next, all the way.
    rank = {"people": 8, "goals": 4, "urgency": 2, "mysteries": 1}
    with opened(browser, tmp_path / "ahp-E01.html") as page:
        for at, (left, right) in enumerate(form.pairs):
            ratio = rank[left] / rank[right]
            step = -int(ratio - 1) if ratio > 1 else int(1 / ratio - 1)
            page.locator(".pair").nth(at).locator(f"input[value='{step}']").check(force=True)
        assert "they fit together" in page.locator("[role=status]").inner_text()
        sheet = saved(page, tmp_path)
        found = read_pairs([sheet])
        assert found.errors == ()
        assert found.ratios["E01"]["people", "mysteries"] == Fraction(8)
        assert found.ratios["E01"]["goals", "urgency"] == Fraction(2)
        # Turn the strongest one round: the same program then screens it out.
        worst = next(at for at, pair in enumerate(form.pairs) if set(pair) == {"people", "mysteries"})
        turned = 8 if form.pairs[worst][0] == "people" else -8
        page.locator(".pair").nth(worst).locator(f"input[value='{turned}']").check(force=True)
        assert f"pair {worst + 1}." in page.locator("[role=status]").inner_text()
        page.reload()
        page.wait_for_selector("body[data-ready]")
        assert page.locator("#count").inner_text() == "6 of 6 answered"


def test_a_browser_that_keeps_nothing_is_said_to_and_the_form_still_works(
    browser: Any, forms: tuple[RatingKey, Path], tmp_path: Path
) -> None:
    key, path = forms
    blind = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('denied'); }})"
    context = browser.new_context()
    context.add_init_script(blind)
    try:
        page = context.new_page()
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready]")
        assert "keeps nothing" in page.locator("[role=status]").inner_text()
        for digit in "5261":
            page.keyboard.press(digit)
        sheet = saved(page, tmp_path)
    finally:
        context.close()
    assert sum(len(row.answers) for row in import_ratings(key, [sheet], allow_missing=True).ratings.rows) == 4
