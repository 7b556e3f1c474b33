import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.bible import load_bible
from ludic_deepeval.ledger import load_ledger
from ludic_deepeval.party import Party, Sheet, make_sheet
from ludic_deepeval.report.as_sheet import sheet_markdown, sheet_text
from ludic_deepeval.report.columns import columns, shorten, wrap
from ludic_deepeval.report.sheet_layout import PAGE_LINES
from ludic_deepeval.sources import Story
from ludic_deepeval.sources.markdown import FrontMatter
from ludic_deepeval.table import NoPage, Page, page_of
from ludic_deepeval.text import Prose

Ludic = Callable[..., Any]
ROOT = Path(__file__).parents[2]
BACKSTORIES = ROOT / "test_cases" / "backstories"
FAERUN = load_bible(ROOT / "bible" / "faerun")


def npc(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name.replace(" ", "-").lower(), "name": name, "status": "alive", "unresolved": True} | more


def hook(text: str, tier: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": re.sub(r"\W", "-", text), "text": text, "tier": tier} | more


def event(summary: str, immediacy: int | None = None, **more: Any) -> dict[str, Any]:
    others = dict.fromkeys(("gravity", "linkage", "divergence"), 5) if immediacy else {}
    return (
        {"id": summary.replace(" ", "-"), "phase": "P3", "summary": summary, "immediacy": immediacy}
        | others
        | more
    )


def page(who: str, *, prose: str = "Nothing.", bible: Any = None, **lists: Any) -> Page:
    data = {"schema_version": 1, "protagonist": who, **lists}
    story = Story(Path(f"{who}.md".replace(" ", "-")), Prose(prose), FrontMatter())
    return page_of(story, load_ledger(data), bible)


def party(*pages: Page | NoPage) -> Party:
    found = make_sheet(pages).party
    assert found is not None
    return found


def text(*pages: Page | NoPage, width: int = 88) -> str:
    return "\n".join(sheet_text(make_sheet(pages), width=width))


# A character's page


def test_open_threads_stand_urgent_first_and_closed_ones_never() -> None:
    hooks = [
        hook("rain", 3),
        hook("a letter", 2),
        hook("the knock", 1),
        hook("paid", 1, open=False),
        hook("fire", 1),
    ]
    found = page("Mab", hooks=hooks)
    assert [(thread.number, thread.text) for thread in found.threads] == [
        (1, "the knock"),
        (2, "fire"),
        (3, "a letter"),
        (4, "rain"),
    ]
    assert [thread.text for thread in found.urgent] == ["the knock", "fire"]
    assert "paid" not in text(found)
    assert "rain (in the background)" in text(found)


def test_the_dead_and_the_settled_want_nothing_and_the_missing_and_undead_do() -> None:
    people = [
        npc("Ann", status="dead"),
        npc("Bea", unresolved=False),
        npc("Cid", status="missing"),
        npc("Dot", status="undead"),
    ]
    assert [person.name for person in page("Mab", npcs=people).wanting] == ["Cid", "Dot"]


def test_people_of_the_most_urgent_thread_come_first_with_its_number_and_the_tie_in_words() -> None:
    people = [
        npc("Ann", tie="rival"),
        npc("Bea", tie="creditor", faction="the Guild"),
        npc("Cid", tie="debtor", status="missing"),
    ]
    hooks = [hook("one", 1, npc="bea"), hook("two", 2, npc="cid"), hook("three", 3, npc="bea")]
    said = text(page("Mab", npcs=people, hooks=hooks)).partition("People with unfinished business\n")[2]
    assert [line.strip() for line in said.splitlines()[:3]] == [
        "- Bea (the Guild) is owed a debt: threads 1 and 3",
        "- Cid owes a debt, missing: thread 2",
        "- Ann is a rival",
    ]


def test_only_events_that_cannot_wait_stand_under_next_session_the_most_immediate_first() -> None:
    found = page("Mab", events=[event("old", 6), event("soon", 7), event("now", 10), event("unmarked")])
    assert [item.text for item in found.pressing] == ["now", "soon"]
    assert not found.idle
    assert page("Mab", events=[event("old", 6)]).idle


def test_an_event_that_an_urgent_thread_tells_of_is_not_told_twice() -> None:
    people = [npc("Ann"), npc("Bea")]
    events = [event("Ann comes", 9, relations=[{"npc": "ann"}]), event("Bea dies", 8)]
    hooks = [hook("Ann waits", 1, npc="ann"), hook("Ann writes", 1, npc="ann")]
    found = page("Mab", npcs=people, hooks=hooks, events=events)
    assert [(item.text, item.thread) for item in found.pressing] == [("Ann comes", 1), ("Bea dies", None)]
    assert "Ann comes" not in text(found)
    assert "Bea dies" in text(found)


def test_a_claim_says_whose_it_is() -> None:
    assert "- the king is dead (as Odo tells it)" in text(
        page("Mab", events=[event("the king is dead.", 9, asserted_by="Odo")])
    )


def test_a_quote_stands_with_the_line_of_the_stored_file() -> None:
    prose = "---\nid: a\n---\nFirst.\n\nHe signs\nthem late.\n"
    body = "First.\n\nHe signs\nthem late."
    start = body.index("He")
    quote = {"quote": "He signs them late.", "start": start, "end": len(body)}
    found = page("Mab", prose=prose, hooks=[hook("a late hand", evidence=[quote])])
    words = found.threads[0].words
    assert words is not None
    # Three lines of front matter, "First.", a blank line: the sixth.
    assert (words.line, words.quote) == (6, "He signs them late.")
    assert "line 6: “He signs them late.”" in text(found)


def test_an_empty_story_says_in_each_section_that_there_is_nothing() -> None:
    said = text(page("Mab"))
    for line in (
        "Pursues: nothing",
        "Next session: nothing; no thread is urgent, and no event is at the door",
        "Other open threads: none",
        "People with unfinished business: nobody",
        "Left unexplained: nothing",
    ):
        assert line in said


def full(who: str) -> Page:
    people = [npc(f"Person {n}", id=f"p{n}") for n in range(9)]
    hooks = [hook(f"urgent {n}") for n in range(6)] + [hook(f"later {n}", 2) for n in range(7)]
    quote = [{"quote": "a long quote of many words", "start": 0, "end": 26}]
    for item in (*people, *hooks):
        item["evidence"] = quote
    mysteries = [{"id": f"m{n}", "text": f"somebody paid {n} of them"} for n in range(8)]
    goals = [{"id": f"g{n}", "text": f"a goal that takes some words to say, number {n}"} for n in range(9)]
    return page(
        who,
        prose="a long quote of many words",
        npcs=people,
        hooks=hooks,
        mysteries=mysteries,
        goals=goals,
    )


def test_a_full_page_is_about_25_lines_and_says_how_many_more_there_are() -> None:
    lines = text(full("Mab")).splitlines()
    assert (
        len(lines) - 3 <= PAGE_LINES + 4
    )  # title, blank and name apart; what a section always keeps may go over
    said = "\n".join(lines)
    assert "1. urgent 0" in said
    assert re.search(r"People with unfinished business \(\d more: Person \d", said)
    for heading, one, there_are in (
        ("Next session", r"\d\. urgent", 6),
        ("Other open threads", r"\d\. later", 7),
        ("Left unexplained", "somebody paid", 8),
    ):
        more = re.search(rf"{heading} \((\d+) more\)", said)
        assert more
        assert len(re.findall(one, said)) + int(more.group(1)) == there_are


def test_what_does_not_fit_is_in_the_json(tmp_path: Path, ludic: Ludic) -> None:
    sheet = json.loads(ludic("hooks", "--json", BACKSTORIES / "from-the-box.md").out)
    ledger = json.loads((BACKSTORIES / "from-the-box.ledger.json").read_bytes())["ledger"]
    (character,) = sheet["characters"]
    assert sheet["party"] is None
    assert {thread["id"] for thread in character["threads"]} == {item["id"] for item in ledger["hooks"]}
    assert {said["id"] for said in character["unexplained"]} == {item["id"] for item in ledger["mysteries"]}
    # By hand from the ledger: Pip has nothing unfinished; the others do.
    assert [person["id"] for person in character["people"]] == ["rusk", "edvin", "fulk"]


# Wrapping


@pytest.mark.parametrize("width", [40, 60, 88])
def test_no_line_is_wider_than_asked_in_any_script(width: int) -> None:
    chinese = page("覃素", hooks=[hook("罗仲魁正午来取修好的底片，" * 6)], npcs=[npc("罗仲魁")])
    for line in text(full("Mab"), chinese, width=width).splitlines():
        assert columns(line) <= width


def test_a_chinese_line_breaks_between_characters_and_never_before_a_comma() -> None:
    # Each character takes two columns: five fit into ten, but the comma goes with the character before it.
    assert wrap("一二三四五，六七", 10) == ["一二三四", "五，六七"]
    assert shorten("一二三四五六", 7) == "一二三…"


def test_text_is_cut_at_a_word() -> None:
    assert shorten("the paper falls due", 15) == "the paper…"
    assert wrap("the paper falls due", 10) == ["the paper", "falls due"]
    assert wrap("abcdefghij", 4) == ["abcd", "efgh", "ij"]


def test_a_name_from_right_to_left_does_not_turn_its_neighbours_round() -> None:
    people = [npc("דוד לוי", faction="האגודה"), npc("Ann")]
    assert "- \u2068דוד לוי\u2069 (\u2068האגודה\u2069) is involved" in text(page("Mab", npcs=people))


def test_hostile_names_neither_drive_the_terminal_nor_the_notes() -> None:
    bad = page("Mab", hooks=[hook("\x1b[2J a [[link]] <b>*x*</b> #tag %%")], npcs=[npc("A\u202enn")])
    assert "\x1b" not in text(bad)
    assert "\u202e" not in text(bad)
    markdown = "\n".join(sheet_markdown(make_sheet([bad])))
    assert r"a \[\[link\]\] \<b\>\*x\*\</b\> \#tag \%\%" in markdown


def test_markdown_reads_as_one_list_a_section_whatever_the_words_begin_with() -> None:
    """Read by another program: markdown-it, which comes with rich."""
    from markdown_it import MarkdownIt

    hooks = [hook("- a dash", 2), hook("1. a number", 2), hook("+ a plus *and* `code`", 2)]
    tokens = MarkdownIt().parse("\n".join(sheet_markdown(make_sheet([page("Mab", hooks=hooks)]))))
    lists = [token for token in tokens if token.type in {"bullet_list_open", "ordered_list_open"}]
    assert [(token.type, token.level) for token in lists] == [("ordered_list_open", 0)]
    inline = [token.children for token in tokens if token.type == "inline"]
    words = ["".join(part.content for part in parts or ()) for parts in inline]
    assert words[-5:-2] == ["- a dash", "1. a number", "+ a plus *and* `code`"]


# The party


def test_a_person_in_two_backstories_comes_first_whatever_the_article_or_case() -> None:
    one = page(
        "Mab",
        npcs=[npc("the Grey Reeve", tie="enemy")],
        hooks=[hook("a warrant", npc="the-grey-reeve", location="Oxford")],
    )
    two = page("Fitch", npcs=[npc("grey reeve", tie="patron")], hooks=[hook("a room", 2, location="oxford")])
    found = party(one, two)
    assert [(item.kind, item.name, item.certain) for item in found.shared] == [
        ("person", "the Grey Reeve", True),
        ("place", "Oxford", True),
    ]
    (crossing,) = found.crossings
    assert (
        crossing.kind,
        [who for who, _ in crossing.against],
        [who for who, _ in crossing.beside],
    ) == ("person", ["Mab"], ["Fitch"])
    said = text(one, two)
    assert "Mab: is an enemy; 1. a warrant (urgent)" in said
    assert "- the Grey Reeve: is an enemy of Mab; is a patron of Fitch" in said


def test_a_given_name_in_a_threads_words_is_nobody_in_particular() -> None:
    one = page("Mab", npcs=[npc("Nan")])
    two = page("Fitch", hooks=[hook("Nan knocks")])
    three = page("Odo", npcs=[npc("Nan Ebble")])
    assert party(one, two).shared == ()
    assert [item.name for item in party(three, page("Fitch", hooks=[hook("Nan Ebble knocks")])).shared] == [
        "Nan Ebble"
    ]


def test_an_alias_joins_and_a_short_name_alone_is_only_perhaps_the_same() -> None:
    one = page("Mab", npcs=[npc("Jessom Vane", aliases=["the Old Gentleman", "Nan"])])
    two = page("Fitch", npcs=[npc("Mr Brown", aliases=["Jessom Vane"])])
    three = page("Odo", npcs=[npc("Nan Ebble", aliases=["Nan"])])
    assert [item.certain for item in party(one, two).shared] == [True]
    assert [item.certain for item in party(one, three).shared] == [False]
    assert "Jessom Vane or Nan Ebble: perhaps the same person" in text(one, three)


@pytest.mark.parametrize(
    ("name", "alias"), [("Mother", "my mother"), ("Ann Lee", "the usher"), ("母亲", "妈妈")]
)
def test_two_mothers_are_two_people(name: str, alias: str) -> None:
    one = page("Mab", npcs=[npc(name, aliases=[alias], id="one")])
    two = page("Fitch", npcs=[npc("Bea Day" if name == "Ann Lee" else name, aliases=[alias], id="two")])
    assert party(one, two).shared == ()


def test_a_chinese_name_joins_across_stories() -> None:
    one = page("覃素", npcs=[npc("覃简", aliases=["哥哥覃简"], tie="family", id="a")])
    two = page("葛含烟", npcs=[npc("覃简", tie="enemy", id="b")])
    (shared,) = party(one, two).shared
    assert (shared.name, shared.certain, [side.who for side in shared.sides]) == (
        "覃简",
        True,
        ["覃素", "葛含烟"],
    )


def test_a_character_in_another_ones_story_is_shared() -> None:
    one = page("Mab Corrigle")
    two = page("Fitch", npcs=[npc("Mab Corrigle", tie="debtor")])
    (shared,) = party(one, two).shared
    assert [(side.who, side.is_it) for side in shared.sides] == [("Mab Corrigle", True), ("Fitch", False)]
    said = text(one, two)
    assert "Mab Corrigle: is this character" in said
    assert "Fitch: owes a debt" in said


def test_dead_in_one_story_and_alive_in_another_is_said() -> None:
    one = page("Mab", npcs=[npc("Osk Hay", status="dead", tie="family")])
    two = page("Fitch", npcs=[npc("Osk Hay", tie="enemy")])
    assert "Mab: is family, dead" in text(one, two)
    assert party(one, two).crossings == ()  # the dead stand beside nobody


def test_a_bible_joins_an_id_with_a_name_and_words_that_name_a_side() -> None:
    one = page("Mab", npcs=[npc("Zeel", faction="red-wizards", tie="enemy")], hooks=[hook("due", npc="zeel")])
    one = page(
        "Mab",
        bible=FAERUN,
        npcs=[npc("Zeel", faction="red-wizards", tie="enemy")],
        hooks=[hook("due", npc="zeel")],
    )
    two = page("Fitch", bible=FAERUN, hooks=[hook("a Red Wizard wants the head", 2)])
    (shared,) = party(one, two).shared
    assert (shared.kind, shared.name, shared.touches) == ("faction", "the Red Wizards of Thay", True)
    assert [side.threads[0].text for side in shared.sides] == ["due", "a Red Wizard wants the head"]


def test_a_side_and_a_place_where_the_same_threads_meet_are_one_entry() -> None:
    pages = [
        page(
            who,
            npcs=[npc(f"Friend of {who}", faction="Guild", id="a")],
            hooks=[hook(f"{who} pays", npc="a", location="Oxford")],
        )
        for who in ("Mab", "Fitch")
    ]
    said = text(*pages)
    assert said.count("1. Mab pays (urgent)") == 1
    assert [item.name for item in party(*pages).shared] == ["Guild", "Oxford"]
    assert "- Guild, Oxford\n" in said


def test_an_enemy_and_a_friend_on_one_side_are_told() -> None:
    one = page("Mab", npcs=[npc("Ann", faction="Guild", tie="rival")])
    two = page("Fitch", npcs=[npc("Bea", faction="the guild", tie="mentor")])
    (crossing,) = party(one, two).crossings
    assert (crossing.kind, crossing.name) == ("faction", "Guild")
    assert "- Guild: Ann is a rival of Mab; Bea is a teacher of Fitch" in text(one, two)


def test_an_enemy_and_a_friend_in_one_story_are_that_storys_own_affair() -> None:
    one = page(
        "Mab", npcs=[npc("Ann", faction="Guild", tie="rival"), npc("Bea", faction="Guild", tie="ally")]
    )
    two = page("Fitch", npcs=[npc("Cid", faction="Guild", tie="creditor")])
    assert party(one, two).crossings == ()


def test_who_has_nothing_to_do_is_named_with_a_way_in() -> None:
    one = page("Mab", hooks=[hook("due", location="Oxford")])
    two = page("Fitch", hooks=[hook("a dusty room", 2, location="Oxford")])
    three = page("Odo")
    found = party(one, two, three)
    assert [(idle.who, [way.name for way in idle.ways_in]) for idle in found.idle] == [
        ("Fitch", ["Oxford"]),
        ("Odo", []),
    ]
    assert "Fitch. A way in, where it is urgent for somebody else: Oxford" in text(one, two, three)


def test_two_stories_about_one_character_are_no_party() -> None:
    assert make_sheet([page("Mab", npcs=[npc("Ann Lee")]), page("Mab", npcs=[npc("Ann Lee")])]).party is None


def test_a_story_that_is_not_read_says_so_in_its_place_and_is_not_compared() -> None:
    unread = NoPage(Path("odo.md"), "odo", "Odo's Tale", "not read yet (no ledger)")
    sheet = make_sheet([page("Mab"), unread, page("Fitch")])
    assert sheet.party is not None
    assert sheet.party.characters == ("Mab", "Fitch")
    said = "\n".join(sheet_text(sheet))
    assert "Not read, so not compared: Odo's Tale" in said
    assert "Odo's Tale  odo.md\n  not read yet (no ledger)" in said


def test_the_order_of_stories_changes_no_fact() -> None:
    def facts(sheet: Sheet) -> set[tuple[str, frozenset[str]]]:
        assert sheet.party is not None
        return {
            (item.kind, frozenset((side.who, len(side.threads)) for side in item.sides))  # type: ignore[misc]  # counts beside names
            for item in sheet.party.shared
        }

    pages = [
        page(
            "Mab",
            npcs=[npc("Ann Lee", faction="Guild")],
            hooks=[hook("due", npc="ann-lee", location="Oxford")],
        ),
        page("Fitch", npcs=[npc("Bea", faction="guild")], hooks=[hook("Ann Lee knows", 2)]),
        page("Odo", npcs=[npc("Ann Lee")], events=[event("a fire", 3, location="oxford")]),
    ]
    assert facts(make_sheet(pages)) == facts(make_sheet(pages[::-1]))


# The command


@pytest.fixture
def two(locked: Path) -> Path:
    """Two locked stories about two characters who share Odo Marsh."""
    for ending in ("md", "marks.yaml"):
        copied = (locked / f"tale.{ending}").read_text(encoding="utf-8")
        (locked / f"other.{ending}").write_text(copied.replace("Ysolde", "Perrin"), encoding="utf-8")
    return locked


def test_the_command_prints_a_page_for_each_story_and_one_for_the_party(two: Path, ludic: Ludic) -> None:
    assert ludic("lock", "other.md").code == 0
    ran = ludic("hooks", ".")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("At the table: Perrin, Ysolde\n\nThe party\n")
    assert "line 1: “he signs them late”" in ran.out


def test_an_unread_story_exits_with_1_unless_it_is_allowed(two: Path, ludic: Ludic) -> None:
    assert ludic("hooks", ".").code == 1
    ran = ludic("hooks", "--allow-unread", ".")
    assert ran.code == 0
    assert "not read yet (no ledger). Mark it up: ludic annotate other.md" in " ".join(ran.out.split())


def test_a_stale_story_says_so(locked: Path, ludic: Ludic) -> None:
    (locked / "tale.md").write_text("Another tale altogether, with other words.\n", encoding="utf-8")
    ran = ludic("hooks", "tale.md")
    assert ran.code == 1
    assert "changed since it was read" in ran.out


def test_a_file_that_cannot_be_used_is_one_line_and_the_others_are_printed(two: Path, ludic: Ludic) -> None:
    (two / "other.ledger.json").write_text("{", encoding="utf-8")
    ran = ludic("hooks", ".")
    assert ran.code == 2
    assert len(ran.faults) == 1
    assert "other.ledger.json" in ran.faults[0]
    assert "At the table: Ysolde" in ran.out
    assert json.loads(ludic("hooks", "--json", ".").out)["errors"]


def test_out_writes_a_file_over_an_older_sheet_and_over_nothing_else(locked: Path, ludic: Ludic) -> None:
    for options in ([], ["--markdown"], ["--json"]):
        out = locked.parent / f"sheet{''.join(options)}.txt"
        for _ in range(2):
            assert ludic("hooks", "tale.md", *options, "--out", out).code == 0
    prose = (locked / "tale.md").read_bytes()
    ran = ludic("hooks", "tale.md", "--markdown", "--out", "tale.md")
    assert (ran.code, len(ran.faults)) == (2, 1)
    assert (locked / "tale.md").read_bytes() == prose


def test_a_sheet_is_not_written_where_it_would_be_taken_for_a_story(locked: Path, ludic: Ludic) -> None:
    ran = ludic("hooks", ".", "--markdown", "--out", "session.md")
    assert ran.code == 2
    assert "_session.md" in ran.err
    assert ludic("hooks", ".", "--markdown", "--out", "_session.md").code == 0
    assert ludic("check", ".").out.count("tale.md") == 1


def test_markdown_and_json_exclude_each_other(locked: Path, ludic: Ludic) -> None:
    assert ludic("hooks", "tale.md", "--markdown", "--json").code == 2


def test_every_shipped_story_has_a_page_of_about_25_lines(ludic: Ludic) -> None:
    stories = [path for path in sorted(BACKSTORIES.glob("*.md")) if path.stem != "README"]
    for story in stories:
        ran = ludic("hooks", story)
        assert ran.code == 0
        assert len(ran.out.splitlines()) <= PAGE_LINES + 6
        dead = [
            item["name"]
            for item in json.loads(story.with_suffix(".ledger.json").read_bytes())["ledger"]["npcs"]
            if item.get("status") == "dead"
        ]
        people = ran.out.partition("People with unfinished business")[2].partition("Left unexplained")[0]
        assert not any(f"- {name}" in people for name in dead)


def test_the_manual_shows_what_the_command_prints(ludic: Ludic, monkeypatch: pytest.MonkeyPatch) -> None:
    manual = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    shown = re.search(r"\$ ludic hooks (.+)\n((?:.*\n)+?)```", manual)
    assert shown
    monkeypatch.chdir(BACKSTORIES)
    ran = ludic("hooks", *shown.group(1).split())
    parts = shown.group(2).split("[…]\n")
    assert len(parts) > 1
    assert ran.out.startswith(parts[0])
    assert all(part in ran.out for part in parts)
