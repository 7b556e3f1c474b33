"""Annotating in a real browser: the page with its keyboard, its mouse and its content security policy.

Skipped where there is no Chromium or no Playwright (`pip install playwright`, in the extra `dev`).
"""

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.lockfile import load_lockfile
from ludic_deepeval.sources import read_story
from ludic_deepeval.web.opening import open_session
from ludic_deepeval.web.server import PageServer

sync_api = pytest.importorskip("playwright.sync_api", reason="no browser driver: pip install playwright")
CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))),
    None,
)
Run = Callable[..., Any]

TALE = """\
Odo Marsh still signs the ledgers at the mill, and he signs them late.

When she was twelve the mill burned for two nights.
"""
# 🕯️ is two characters (three UTF-16 units), 👩‍🚒 three (five).
MIXED = """\
🕯️🕯️ 👩‍🚒 Zoë waits for the ship 🕯️ at dawn.

葛含烟站在台口，没有人来。

مات الملك في الليل ولا أحد يعرف لماذا.
"""
HOSTILE = """\
<script>document.title = "owned"</script> stands </script><img src=x onerror="document.title='owned'"> here, \
with a \x07 bell and an \x1b[31m escape.
"""


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
    """The page of a story. Whatever the browser complains of, or asks of another host, is a failure."""
    server = PageServer(open_session(path))
    thread = threading.Thread(target=server.run)
    thread.start()
    page = browser.new_page(viewport={"width": 1200, "height": 900}, **options)
    page.set_default_timeout(10_000)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda asked: complaints.append(asked.url) if not asked.url.startswith(server.url) else None)  # fmt: skip
    try:
        page.goto(server.url)
        page.wait_for_selector("body[data-ready]")
        yield page
        assert complaints == []
    finally:
        page.close()
        server.finish()
        thread.join()


def written(folder: Path, text: str) -> Path:
    path = folder / "tale.md"
    path.write_bytes(text.encode("utf-8"))
    return path


def find(page: Any, words: str) -> None:
    page.get_by_label("Or type the words").fill(words)
    page.keyboard.press("Enter")
    page.wait_for_selector("#bar:not([hidden])")


def keep(page: Any, card: str) -> None:
    page.get_by_role("button", name="Keep this mark").click()
    page.wait_for_selector(f"#{card}")


def selected(page: Any) -> str:
    return str(page.evaluate("getSelection().toString()"))


def drag(page: Any, words: str) -> None:
    """Select words as a mouse does: press before the first, let go behind the last."""
    box = page.evaluate(
        """(words) => {
            for (const piece of document.querySelectorAll(".piece")) {
                const at = piece.textContent.indexOf(words);
                if (at < 0) continue;
                const range = document.createRange();
                range.setStart(piece.firstChild, at);
                range.setEnd(piece.firstChild, at + words.length);
                const box = range.getBoundingClientRect();
                return [box.left, box.right, (box.top + box.bottom) / 2];
            }
        }""",
        words,
    )
    page.mouse.move(box[0] + 1, box[2])
    page.mouse.down()
    page.mouse.move(box[1] - 1, box[2], steps=4)
    page.mouse.up()
    page.wait_for_selector("#bar:not([hidden])")


def test_a_story_is_marked_judged_saved_and_opened_again(
    tmp_path: Path, browser: Any, ludic: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, TALE)
    with opened(browser, path) as page:
        assert "Nothing is marked yet" in page.inner_text("#verdict")
        page.get_by_label("Whose story is it?").fill("Ysolde")
        drag(page, "Odo Marsh")
        page.locator("#bar").get_by_text("Person").click()
        assert page.get_by_label("Name").input_value() == "Odo Marsh"
        assert "“Odo Marsh still”" in page.inner_text("#quotes")  # three words can be found again
        keep(page, "people-0")
        before = page.inner_text("#verdict")

        find(page, "he signs them late")
        page.keyboard.press("h")
        page.get_by_label("What could play pick up here?").fill("he will come for the ledger")
        page.get_by_role("button", name="Keep this mark").click()
        assert "How soon? This needs an answer." in page.inner_text("#wrong")
        page.get_by_label("it could drive the very next scene").check()
        page.get_by_label("Whose thread is it?").select_option(label="Odo Marsh")
        keep(page, "hooks-0")
        after = page.inner_text("#verdict")
        assert after != before
        assert "he will come for the ledger urgent" in after

        find(page, "the mill burned for two nights")
        page.keyboard.press("e")
        page.get_by_label("What happens?").fill("the mill burns")
        page.get_by_label("youth").check()
        for question, number in (("Must this", "3"), ("What is at stake", "8"), ("How much of", "5"), ("How many", "6")):  # fmt: skip
            page.get_by_role("group", name=question).get_by_label(number, exact=True).check()
        keep(page, "events-0")
        assert "55 (150 needed)" in page.inner_text("#verdict")  # 4·3 + 4·8 + 5 + 6

        page.get_by_role("button", name="Save").click()
        page.wait_for_selector("#told:text('Saved to tale.ledger.json.')")
        page.reload()
        page.wait_for_selector("body[data-ready]")
        assert page.inner_text("#state") == "saved"
        assert page.inner_text("#people-0 .what") == "Odo Marsh"
        assert page.locator(".piece.is-hooks").inner_text() == "he signs them late"
        page.get_by_role("button", name="Done").click()
        page.wait_for_selector("main.over")
    monkeypatch.chdir(tmp_path)
    ran = ludic("check", "tale.md", "--json")
    (row,) = json.loads(ran.out)["stories"]
    assert (ran.code, row["state"], row["pcv"]) == (0, "read", 55)
    assert "unlocked-sheet" not in {finding["code"] for finding in row["findings"]}


def test_emoji_chinese_and_right_to_left_words_keep_their_places(tmp_path: Path, browser: Any) -> None:
    path = written(tmp_path, MIXED)
    with opened(browser, path) as page:
        page.get_by_label("Whose story is it?").fill("Zoë")
        drag(page, "waits for the ship")
        page.keyboard.press("m")
        keep(page, "mysteries-0")
        page.focus("#prose")
        for _ in range(2):
            page.keyboard.press("ArrowDown")  # to the paragraph in Arabic
        assert selected(page) == "مات"
        page.keyboard.press("ArrowLeft")  # forwards, in a script that runs leftwards
        page.keyboard.press("Shift+ArrowLeft")
        page.keyboard.press("Shift+ArrowLeft")
        assert selected(page) == "الملك في الليل"
        page.keyboard.press("m")
        keep(page, "mysteries-1")
        find(page, "站在台口，没有人来")
        page.keyboard.press("m")
        keep(page, "mysteries-2")
        page.get_by_role("button", name="Save").click()
        page.wait_for_selector("#state:text-is('saved')")
    body = read_story(path).prose.body
    found = [
        (item.evidence[0].start, item.evidence[0].quote)
        for item in load_lockfile(tmp_path / "tale.ledger.json").ledger.mysteries
    ]
    # Two candles (4), a blank, a firefighter (3), a blank, "Zoë " (4): 13 characters before "waits".
    # Up to "dawn." there are 43, and two line ends: 葛含烟 are characters 45 to 47, so 站 is 48. That paragraph has 13
    # characters and two line ends: the third begins at 60, and "مات " is 4 characters.
    assert found == [(13, "waits for the ship"), (64, "الملك في الليل"), (48, "站在台口，没有人来")]
    assert all(body[start:].startswith(quote) for start, quote in found)


def test_marks_may_overlap_and_be_edited_deleted_and_brought_back(tmp_path: Path, browser: Any) -> None:
    with opened(browser, written(tmp_path, TALE)) as page:
        find(page, "still signs the ledgers at the mill")
        page.keyboard.press("g")
        page.get_by_label("What does the protagonist want?").fill("keep the ledgers")
        keep(page, "goals-0")
        find(page, "the ledgers at the mill, and he")
        page.keyboard.press("m")
        keep(page, "mysteries-0")
        kinds = page.evaluate(
            "() => [...document.querySelectorAll('.piece')].filter((p) => p.className !== 'piece').map((p) => [p.className, p.textContent])"
        )
        assert kinds == [
            ["piece is-goals", "still signs "],
            ["piece is-goals is-mysteries", "the ledgers at the mill"],
            ["piece is-mysteries", ", and he"],
        ]
        page.get_by_role("button", name="Edit: keep the ledgers").click()
        assert page.get_by_role("group", name="Is it being pursued").get_by_label("yes").is_checked()
        page.get_by_label("What does the protagonist want?").fill("burn the ledgers")
        find(page, "the mill burned for two nights")
        page.get_by_role("button", name="Add to the mark you are making").click()
        page.wait_for_selector("#quotes blockquote:nth-of-type(2)")
        keep(page, "goals-0:has-text('burn the ledgers')")
        assert page.locator(".piece.is-goals").count() == 3
        page.get_by_role("button", name="Delete: burn the ledgers").click()
        page.wait_for_selector("#goals-0", state="detached")
        page.get_by_role("button", name="Undo").click()
        page.wait_for_selector("#goals-0")


def test_a_mark_that_is_not_right_says_why_beside_it(tmp_path: Path, browser: Any) -> None:
    with opened(browser, written(tmp_path, TALE)) as page:
        page.get_by_label("Whose story is it?").fill("Ysolde")
        find(page, "signs the ledgers")
        page.keyboard.press("p")
        page.get_by_label("Name").fill("Jon")
        page.get_by_role("button", name="Keep this mark").click()
        page.wait_for_selector("#form .trouble")
        assert "does not hold the name 'Jon'" in page.inner_text("#wrong")
        page.get_by_role("button", name="Cancel").click()
        assert "does not hold the name 'Jon'" in page.inner_text("#people-0")
        page.get_by_role("button", name="Save").click()
        page.wait_for_selector("#told.bad")
        assert page.inner_text("#told").startswith("Not saved yet: 1 thing")
        page.get_by_role("button", name="Done").click()
        page.get_by_role("button", name="Finish without saving").click()
        page.wait_for_selector("main.over")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["tale.md"]


def test_hostile_prose_is_text_and_nothing_else(tmp_path: Path, browser: Any) -> None:
    path = written(tmp_path, HOSTILE)
    with opened(browser, path) as page:
        assert page.title() == "tale"
        assert page.evaluate("() => document.querySelectorAll('#prose script, #prose img').length") == 0
        assert (
            page.evaluate("() => document.querySelector('#prose').textContent") == read_story(path).prose.body
        )
        find(page, "stands </script><img src=x onerror=")
        page.keyboard.press("m")
        keep(page, "mysteries-0")
        assert "</script><img" in page.inner_text("#mysteries-0")
        assert page.title() == "● tale"


def test_every_control_has_a_name_and_the_verdict_is_announced(tmp_path: Path, browser: Any) -> None:
    with opened(browser, written(tmp_path, TALE), color_scheme="dark") as page:
        for words, key in (
            ("Odo Marsh still", "p"),
            ("he signs them late", "h"),
            ("the mill burned for", "e"),
        ):
            find(page, words)
            page.keyboard.press(key)
            page.wait_for_selector("#form form")
            nameless = page.evaluate(
                """() => [...document.querySelectorAll("input, select, button")].filter((one) =>
                    !one.labels?.length && !one.getAttribute("aria-label") && !one.textContent.trim()).map((one) => one.outerHTML)"""
            )
            assert nameless == []
            page.keyboard.press("Escape")
            page.wait_for_selector("#form", state="hidden")
            assert page.evaluate("() => document.activeElement.id") == "prose"
        find(page, "he signs them late")
        page.keyboard.press("m")
        keep(page, "mysteries-0")
        assert "Left open" in page.locator("#live[aria-live=polite]").text_content()
