"""What an editor is told and offered, as values: no server is started here."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ludic_deepeval.editor.changes import Action, actions
from ludic_deepeval.editor.hovering import Hover, Part, as_markdown, as_plain, hover
from ludic_deepeval.editor.insertion import add_entry
from ludic_deepeval.editor.looking import MAX_TEXT, Look, is_watched, look
from ludic_deepeval.editor.places import Position, Range, line_range, offset_in, range_in, range_of
from ludic_deepeval.editor.stdio import MAX_MESSAGE, Bounded
from ludic_deepeval.errors import InputError
from ludic_deepeval.files import load_yaml
from ludic_deepeval.sources.markdown import story_of
from ludic_deepeval.text import Prose
from tests.editor_client import slice_of

ROOT = Path(__file__).parents[2]
STORIES = ROOT / "test_cases/backstories"
Ludic = Callable[..., Any]
TEXTS = st.text(st.sampled_from("ab.é\u0301😀中\u2028\x0c\r\n\n\n -:'\"[]{}#*_<&\ufeff"), max_size=60)


def wire(place: Range) -> dict[str, Any]:
    """A range as the protocol writes it."""
    return {
        side: {"line": at.line, "character": at.character}
        for side, at in (("start", place.start), ("end", place.end))
    }


def on(text: str, words: str) -> Range:
    start = text.index(words)
    return range_in(text, start, start + len(words))


@pytest.fixture
def ferry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for file in (ROOT / "ludic_deepeval/demo").glob("1-closed.*"):
        shutil.copy(file, tmp_path / file.name.replace("1-closed", "ferry"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "ferry.md"


def seen(path: Path, text: str | None = None) -> Look:
    return look(path, path.read_text(encoding="utf-8") if text is None else text)


def sheet_at(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def marks(found: tuple[Action, ...]) -> dict[str, Action]:
    return {one.title.removeprefix("Mark selection as "): one for one in found if one.kind == "mark"}


# Places


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.data())
def test_a_range_means_by_the_protocol_what_it_means_in_the_body(raw: str, data: st.DataObject) -> None:
    try:
        prose = Prose(raw)
    except InputError:
        return  # front matter that is never closed
    start = data.draw(st.integers(0, len(prose.body)))
    end = data.draw(st.integers(start, len(prose.body)))
    # What the protocol makes of it, brought into the form of a body, is the part of the body.
    part = slice_of(raw, wire(range_of(prose, (start, end))))
    assert len(Prose(raw, part=(part, range(len(part) + 1))).body) <= len(part)
    if raw.isascii() and "\r" not in raw:
        assert part == prose.body[start:end]
    place = range_of(prose, (start, end)).start
    assert offset_in(prose, place) <= start
    assert range_of(prose, (offset_in(prose, place), start)).start == place


def test_positions_are_counted_in_utf16_units_and_lines_end_as_the_protocol_says() -> None:
    # By hand: U+1F600 is two units; U+2028 and form feed end no line; CRLF is one end, CR is another.
    prose = Prose("😀\u2028x\x0cy\r\nzw\rq", "t")
    assert range_of(prose, (0, 1)) == Range(Position(0, 0), Position(0, 2))
    assert range_of(prose, (4, 5)) == Range(Position(0, 5), Position(0, 6))  # y
    assert range_of(prose, (6, 8)) == Range(Position(1, 0), Position(1, 2))  # zw
    assert range_of(prose, (9, 10)) == Range(Position(2, 0), Position(2, 1))  # q
    assert offset_in(prose, Position(0, 1)) == 1  # in the middle of a character: the next
    assert offset_in(prose, Position(99, 99)) == len(prose.body)


def test_a_byte_order_mark_is_a_character_of_the_first_line_for_an_editor_that_keeps_it() -> None:
    prose = Prose("\ufeffab\ncd", "t")
    assert range_of(prose, (0, 2)) == Range(Position(0, 1), Position(0, 3))
    assert range_of(prose, (3, 5)) == Range(Position(1, 0), Position(1, 2))


def test_a_line_is_underlined_without_its_indentation_and_one_that_is_not_there_is_the_last() -> None:
    assert line_range("a\r\n  😀 b \nc", 2) == Range(Position(1, 2), Position(1, 6))
    assert line_range("a\nb", 99) == Range(Position(1, 0), Position(1, 1))
    assert line_range("", 1) == Range(Position(0, 0), Position(0, 0))


# Looking


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_no_text_is_too_strange_to_be_looked_at(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.getbasetemp()
    for name in ("strange.md", "strange.twee"):
        found = look(folder / name, text)
        place = Range(Position(0, 0), Position(2, 3))
        hover(found, Position(0, 0))
        for action in actions(found, place, sheet_at):
            assert (action.change is None) == bool(action.why_not)


@pytest.mark.parametrize("path", sorted(STORIES.glob("*.md")), ids=lambda path: path.stem)
def test_an_unedited_story_is_told_what_the_check_tells(path: Path) -> None:
    from ludic_deepeval.check import Checker

    if path.stem == "README":
        assert look(path, "x").notes == ()
        return
    found = seen(path)
    told = Checker().check(path)
    assert [note.finding for note in found.notes] == list(told.findings)
    for note in found.notes:
        if note.finding and note.finding.quote:
            assert slice_of(found.text, wire(note.range)).split() == note.finding.quote.split()


def test_files_that_are_no_stories_are_left_alone(tmp_path: Path) -> None:
    for name in ("README.md", "changelog.md", "_index.md", ".hidden.md", "tale.txt", "tale.ledger.json"):
        assert not is_watched(tmp_path / name)
        assert look(tmp_path / name, "Words that nobody has read.") == Look(
            tmp_path / name, "Words that nobody has read."
        )
    assert is_watched(tmp_path / "tale.md")
    assert is_watched(tmp_path / "tale.twee")


def test_a_story_that_nobody_has_read_is_one_hint(tmp_path: Path) -> None:
    found = look(tmp_path / "tale.md", "# A tale\n\nOdo Marsh still signs the ledgers.\n")
    assert [(note.code, note.weight) for note in found.notes] == [("unread", "hint")]
    assert "Select words and choose “Mark selection as …”" in found.notes[0].message
    assert look(tmp_path / "tale.md", "").notes == ()


def test_an_edit_is_judged_by_the_marks_moved_along(ferry: Path) -> None:
    text = ferry.read_text(encoding="utf-8")
    longer = text.replace("\n\nTace spent", "\n\nNobody could say who had painted it.\n\nTace spent")
    found = seen(ferry, longer)
    dead = next(note for note in found.notes if note.code == "dead-then-active")
    assert slice_of(longer, wire(dead.range)) == "Bram Underhay walked her down the aisle of the river chapel"
    assert [(note.code, note.weight) for note in found.notes if note.code in {"stale", "new-paragraph"}] == [
        ("new-paragraph", "information"),
        ("stale", "hint"),
    ]
    gone = seen(ferry, text.replace("Bram Underhay walked her", "Her uncle took her"))
    lost = next(note for note in gone.notes if note.weight == "information")
    assert "rested on words that are no longer here" in lost.message
    assert not any(note.code == "dead-then-active" for note in gone.notes)


def test_what_the_baseline_knows_is_not_told(ferry: Path, ludic: Ludic) -> None:
    (ferry.parent / "ludic.toml").write_text('baseline = "known.json"\n', encoding="utf-8")
    assert ludic("check", "--write-baseline", ferry).code == 0
    assert seen(ferry).notes == ()


@pytest.mark.parametrize(
    ("front", "line", "said"),
    [
        ("id: x\nprofile: epic", 3, "profile: found 'epic'"),
        ("id: x\nintentional: [{code: no, reason: x}]", 3, "intentional[0].code"),
        ("id: [", 3, "not valid YAML"),
        ("bible: nowhere", 2, "no Story Bible called 'nowhere'"),
        ("id: x\nexpct: {}", 1, "unknown key 'expct'"),
    ],
)
def test_an_error_stands_on_its_line(ferry: Path, front: str, line: int, said: str) -> None:
    (found,) = seen(ferry, f"---\n{front}\n---\n\nWords.\n").notes
    assert found.weight == "error"
    assert said in found.message
    assert found.range.start.line + 1 == line
    assert str(ferry) not in found.message[:20]


def test_what_rests_on_a_broken_file_is_told_at_the_top(ferry: Path) -> None:
    (ferry.parent / "ludic.toml").write_bytes(b"\xff")
    (found,) = seen(ferry).notes
    assert found.weight == "error"
    assert "ludic.toml: line 1: byte 0xff is not UTF-8" in found.message


def test_a_long_text_is_not_judged_while_somebody_types(tmp_path: Path) -> None:
    (found,) = look(tmp_path / "tale.md", "x" * (MAX_TEXT + 1)).notes
    assert "at most 200,000 while you type; run: ludic check" in found.message


def test_marks_are_not_moved_through_a_text_that_was_replaced_as_a_whole(
    tmp_path: Path, ludic: Ludic
) -> None:
    """Aligning two long texts takes time that grows with the square of their length."""
    path = tmp_path / "tale.md"
    path.write_text("Somebody paid the ringer. " + "ding " * 2000, encoding="utf-8")
    quote = "{quote: Somebody paid the ringer}"
    sheet = f"sheet: 1\nprotagonist: Ysolde\nmysteries: [{quote}]\n"
    (tmp_path / "tale.marks.yaml").write_text(sheet, encoding="utf-8")
    assert ludic("lock", path).code == 0
    found = look(path, "Nobody paid the ringer. " + "ding " * 2000)
    assert [(note.code, note.weight) for note in found.notes] == [("stale", "warning")]
    assert found.moved is None
    short = look(path, "Somebody paid the ringer. " + "ding " * 400)
    assert short.moved is not None


# Hovers


def test_nothing_that_a_story_holds_is_markup_in_a_hover() -> None:
    hostile = (
        "# a *b* _c_ `d` [e](http://f) ![g](h) <script>i</script> <!-- j --> &lt; | k | ~~l~~ \\*m\\* ${n}",
        "- item", "1. one", "12) twelve", "> quote", "=== x", "+ plus", "--- rule", "```js", "    indented",
    )  # fmt: skip
    for text in hostile:
        rendered = MarkdownIt("gfm-like", {"linkify": False}).render(
            as_markdown(Hover(Range(Position(0, 0), Position(0, 0)), (Part("text", text),)))
        )
        plain = " ".join(text.split())
        for raw, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
            plain = plain.replace(raw, entity)
        assert rendered == f"<p>{plain}</p>\n"


def test_a_hover_on_marked_words_says_what_they_are_and_what_they_come_to(tale: Path, ludic: Ludic) -> None:
    assert ludic("lock", "tale.md").code == 0
    path = tale / "tale.md"
    text = path.read_text(encoding="utf-8")

    def said(words: str) -> str:
        found = hover(seen(path), on(text, words).start)
        assert found is not None
        return as_plain(found)

    assert "Marked as a person: Odo Marsh\nenemy, alive at the end; counts: unfinished business" in said(
        "Odo Marsh"
    )
    assert (
        "Marked as a hook: he will come for the ledger\ntier 1: could drive the very next scene; open"
        in said("he signs")
    )
    # Nine words, none of them a name or a date.
    assert "0 of 9 words are names or dates: counts as left unexplained" in said("Somebody")
    # 0.4·3 + ... is checked in test_scoring; here only that the figures are those of the event.
    assert "in youth (P2); presses with" in said("the mill burned")
    assert "(immediacy 3, gravity 8, linkage 5, divergence 6)" in said("the mill burned")
    assert "Marked as a goal: reach a judge\nbeing pursued" in said("She means")
    assert hover(seen(path), on(text, "When she was twelve").start) is None


def test_a_hover_on_what_is_meant_says_why(ferry: Path) -> None:
    text = ferry.read_text(encoding="utf-8").replace(
        "id: closed", "id: closed\nintentional: [{code: dead-then-active, reason: he is a ghost}]"
    )
    found = hover(seen(ferry, text), on(text, "Bram Underhay walked").start)
    assert found is not None
    assert "Meant so: he is a ghost" in as_plain(found)


# Marking as intentional


@pytest.mark.parametrize(
    "front",
    [
        None,
        "",
        "id: closed",
        "id: closed\n# a remark\n",
        "title: |\n  The Ferry\n  Clerk",
        "intentional: []",
        "intentional:\n- code: few-hooks\n  reason: |\n    it is\n    short\ntags: [a, b]",
        "intentional:\n  - {code: few-hooks, reason: short}   # so it is\n\n# and more\ntags: [a]",
        "intentional: [{code: few-hooks, reason: 'a, b'}]",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_mark_of_intent_goes_into_any_front_matter_and_changes_nothing_else(
    ferry: Path, front: str | None, end: str
) -> None:
    body = ferry.read_text(encoding="utf-8").split("---\n", 2)[2]
    text = body.lstrip("\n") if front is None else f"---\n{front.rstrip()}\n---\n{body}"
    text = text.replace("\n", end)
    before = story_of(text, ferry)
    found = seen(ferry, text)
    dead = next(note for note in found.notes if note.code == "dead-then-active")
    (offered, *_) = [one for one in actions(found, dead.range, sheet_at) if one.kind == "quickfix"]
    assert offered.change is not None
    assert not offered.change.creates
    whole = wire(offered.change.range)
    at = len(slice_of(text, {"start": {"line": 0, "character": 0}, "end": whole["start"]}))
    after = text[:at] + offered.change.text + text[at + len(slice_of(text, whole)) :]
    assert end == "\n" or front == "" or "\n" not in after.replace("\r\n", "")
    now = story_of(after, ferry)
    assert now.prose.sha256 == before.prose.sha256
    assert now.front.intentional[:-1] == before.front.intentional
    assert now.front.intentional[-1].quote == "Bram Underhay walked her down the aisle of the river chapel"
    # Everything that stood there still does: comments, other keys, how they are written.
    assert all(line in after.splitlines() for line in text.splitlines() if "intentional" not in line)
    meant = next(note for note in seen(ferry, after).notes if note.code == "dead-then-active")
    assert meant.weight == "hint"


def test_front_matter_that_nothing_can_be_added_to_says_so(ferry: Path) -> None:
    body = ferry.read_text(encoding="utf-8").split("---\n", 2)[2]
    found = seen(ferry, "---\n{id: closed}\n---\n" + body)
    dead = next(note for note in found.notes if note.code == "dead-then-active")
    (offered,) = [one for one in actions(found, dead.range, sheet_at) if one.kind == "quickfix"]
    assert offered.change is None
    assert "add it by hand" in offered.why_not


def test_what_nobody_can_mean_is_not_offered_to_be_meant(tale: Path) -> None:
    path = tale / "tale.md"
    found = seen(path)
    assert [one for one in actions(found, found.notes[0].range, sheet_at) if one.kind == "quickfix"] == []


# Marking words


@pytest.mark.parametrize("sheet", sorted(STORIES.glob("*.marks.yaml")), ids=lambda path: path.name)
def test_an_entry_goes_to_the_end_of_its_section_in_every_sheet_there_is(sheet: Path) -> None:
    text = sheet.read_text(encoding="utf-8")
    before = yaml.safe_load(text)
    for section in ("people", "hooks", "goals", "mysteries", "events"):
        made = add_entry(text, section, (("quote", '"x y z"', "a remark"), ("open", "", "")), sheet)
        after = yaml.safe_load(made.applied(text))
        assert after[section] == [*(before.get(section) or []), {"quote": "x y z", "open": None}]
        assert {key: value for key, value in after.items() if key != section} == {
            key: value for key, value in before.items() if key != section
        }


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", "a:\n- q: 1  # why\n"),
        ("b: 2", "b: 2\na:\n- q: 1  # why\n"),
        ("a: []\nb: 2\n", "a:\n- q: 1  # why\nb: 2\n"),
        ("a: [] # none\nb: 2\n", "a: # none\n- q: 1  # why\nb: 2\n"),
        ("a:\nb: 2\n", "a:\n- q: 1  # why\nb: 2\n"),
        ("a: null\n", "a:\n- q: 1  # why\n"),
        ("a: # none\n\n# more\nb: 2\n", "a: # none\n- q: 1  # why\n\n# more\nb: 2\n"),
        ("a: [x]\n", "a: [x, {q: 1}]\n"),
        ("a:\n- x\n\n# more\nb: 2\n", "a:\n- x\n- q: 1  # why\n\n# more\nb: 2\n"),
        (
            "a:\n  - x: 1\n    y: [1,\n      2] # two\nb: 2\n",
            "a:\n  - x: 1\n    y: [1,\n      2] # two\n  - q: 1  # why\nb: 2\n",
        ),
        ("a:\n- x: |\n    one\n    two\nb: 2\n", "a:\n- x: |\n    one\n    two\n- q: 1  # why\nb: 2\n"),
        ("a:\n- x:\nb: 2\n", "a:\n- x:\n- q: 1  # why\nb: 2\n"),
        ("a:\n- x", "a:\n- x\n- q: 1  # why\n"),
        ("a:\r\n- x\r\nb: 2\r\n", "a:\r\n- x\r\n- q: 1  # why\r\nb: 2\r\n"),
    ],
)
def test_where_an_entry_goes(text: str, after: str) -> None:
    assert add_entry(text, "a", (("q", "1", "why"),), "t").applied(text) == after


@pytest.mark.parametrize("text", ["a: 7\n", "a: {b: 1}\n", "[1]\n", "x", "{a: []}\n", "a: &x []\n", "a: [\n"])
def test_a_text_that_nothing_can_be_added_to_for_certain_is_left_alone(text: str) -> None:
    with pytest.raises(InputError):
        add_entry(text, "a", (("q", "1", ""),), "t")


@settings(max_examples=300, deadline=None)
@given(
    st.recursive(
        st.none() | st.integers() | TEXTS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
        max_leaves=8,
    ),
    st.booleans(),
)
def test_adding_to_any_yaml_adds_one_entry_or_nothing(value: Any, flow: bool) -> None:
    data = {"b": value, "a": [value, {"x": value}], "c": value}
    text = yaml.safe_dump(data, default_flow_style=flow, allow_unicode=True, sort_keys=False)
    try:
        before = load_yaml(text, "t")
    except InputError:
        return
    try:
        made = add_entry(text, "a", (("q", "1", "why"),), "t")
    except InputError:
        return
    after = load_yaml(made.applied(text), "t")
    assert after == before | {"a": [*before["a"], {"q": 1}]}


def test_every_way_of_marking_makes_a_sheet_that_can_be_locked(tale: Path, ludic: Ludic) -> None:
    path, sheet = tale / "tale.md", tale / "tale.marks.yaml"
    text = path.read_text(encoding="utf-8")
    original = sheet.read_text(encoding="utf-8")
    chosen = on(text, "and he signs")
    titles = list(marks(actions(seen(path), chosen, sheet_at)))
    assert titles == [
        "a hook that could drive the next scene (tier 1)", "a hook to explore (tier 2)", "a hook for colour (tier 3)",
        "a mystery", "a goal", "a person", "an event of childhood", "an event of youth", "an event of adulthood",
    ]  # fmt: skip
    for title, offered in marks(actions(seen(path), chosen, sheet_at)).items():
        if title == "a person":
            assert offered.why_not == "No name in this selection: select the name of somebody."
            continue
        assert offered.change is not None
        at = len(
            slice_of(
                original, {"start": {"line": 0, "character": 0}, "end": wire(offered.change.range)["start"]}
            )
        )
        sheet.write_text(original[:at] + offered.change.text + original[at:], encoding="utf-8")
        assert ludic("lock", path).code == 0, title
        ledger = json.loads((tale / "tale.ledger.json").read_text(encoding="utf-8"))["ledger"]
        quotes = [
            e["quote"]
            for items in ledger.values()
            if isinstance(items, list)
            for item in items
            for e in item["evidence"]
        ]
        assert quotes.count("and he signs") == 1, title


def test_words_that_are_marked_already_and_people_who_are_known_say_so(tale: Path) -> None:
    path = tale / "tale.md"
    text = path.read_text(encoding="utf-8")
    hook = marks(actions(seen(path), on(text, "he signs them late"), sheet_at))
    assert "already, under hooks" in hook["a hook to explore (tier 2)"].why_not
    assert hook["a goal"].change is not None
    person = marks(actions(seen(path), on(text, "Odo Marsh"), sheet_at))
    assert "Odo Marsh is in the mark sheet already" in person["a person: Odo Marsh"].why_not


def test_a_sheet_that_is_begun_holds_what_was_read(ferry: Path) -> None:
    text = ferry.read_text(encoding="utf-8")
    (ferry.parent / "ferry.marks.yaml").unlink()
    edited = text.replace("She won it.", "She won it, slowly and in public.")
    found = marks(actions(seen(ferry, edited), on(edited, "hung a painted one"), sheet_at))
    change = found["a mystery"].change
    assert change is not None
    assert change.creates
    sheet = yaml.safe_load(change.text)
    assert sheet["protagonist"] == "Tace Underhay"
    assert [person["name"] for person in sheet["people"]] == ["Bram Underhay", "Lucan Frayne"]
    assert sheet["mysteries"][-1]["quote"] == "hung a painted one"


def test_a_selection_in_chinese_is_marked_by_characters(tmp_path: Path) -> None:
    path, text = tmp_path / "tale.md", "沈砚在雨里等了三个时辰。没有人知道谁动过那本账。\n"
    found = marks(actions(look(path, text), on(text, "沈砚"), sheet_at))
    person = found["a person: 沈砚"].change
    assert person is not None
    quote = yaml.safe_load(person.text)["people"][0]["quote"]
    assert quote.startswith("沈砚在雨里")
    assert len(quote) >= 6


# Standard input


def test_a_body_that_is_too_long_is_passed_over() -> None:
    class Endless:
        def __init__(self, size: int) -> None:
            self.left = size
            self.largest = 0

        def read(self, size: int) -> bytes:
            self.largest = max(self.largest, size)
            got = min(size, self.left)
            self.left -= got
            return b" " * got

    stream = Endless(MAX_MESSAGE * 2)
    assert Bounded(stream).read(MAX_MESSAGE + 5) == b"too long"  # type: ignore[arg-type]  # the part of a stream that is used
    assert stream.left == MAX_MESSAGE - 5
    assert stream.largest <= 64 * 1024
    assert Bounded(Endless(10)).read(10**18) == b""  # type: ignore[arg-type]
