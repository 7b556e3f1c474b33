"""Annotating in the browser, without a browser: what is asked, what marks come to, what is saved, who is served."""

import copy
import http.client
import json
import socket
import subprocess
import sys
import threading
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ludic_deepeval import ledger as models
from ludic_deepeval.errors import InputError
from ludic_deepeval.files import dump_json
from ludic_deepeval.ledger import FactLedger, Hook, Npc
from ludic_deepeval.lockfile import Notary, Ungrounded, load_lockfile, make_lockfile, write_lockfile
from ludic_deepeval.marks import SECTIONS, write_sheet
from ludic_deepeval.sources import read_story
from ludic_deepeval.text import Prose
from ludic_deepeval.web.anchors import Anchor, anchor
from ludic_deepeval.web.opening import open_session
from ludic_deepeval.web.questions import SECTIONS as ASKED
from ludic_deepeval.web.server import MAX_BODY, PageServer
from ludic_deepeval.web.session import Session, StaleMarksError
from ludic_deepeval.web.verdict import sift

Run = Callable[..., Any]
BACKSTORIES = Path(__file__).parents[2] / "test_cases" / "backstories"


def story(folder: Path, text: str, name: str = "tale.md") -> Path:
    path = folder / name
    path.write_bytes(text.encode("utf-8"))
    return path


def fresh(tale: Path) -> Session:
    """A session of the story nobody has marked."""
    (tale / "tale.marks.yaml").unlink()
    return open_session(tale / "tale.md")


def marks(**sections: Any) -> dict[str, Any]:
    return {"protagonist": "Ysolde"} | {section: sections.get(section, []) for section in SECTIONS}


TALE = "Odo Marsh still signs the ledgers at the mill, and he signs them late."
PERSON = {"name": "Odo Marsh", "quote": ["Odo Marsh still signs"], "status": "alive", "unresolved": True}
HOOK = {"text": "he comes", "quote": ["he signs them late"], "tier": 1, "npc": "Odo Marsh"}
FIRE = {"phase": "P2", "summary": "fire", "quote": ["the mill burned for two nights"]}


# What is asked


@pytest.mark.parametrize(
    ("section", "model"),
    [("people", models.Npc), ("hooks", models.Hook), ("goals", models.Goal), ("mysteries", models.Mystery), ("events", models.Event)],
)  # fmt: skip
def test_every_field_that_a_person_can_fill_is_asked_for_once(section: str, model: Any) -> None:
    asked = [q["key"] for part in ASKED if part["key"] == section for q in part["questions"]]
    assert sorted(asked) == sorted(set(model.model_fields) - {"id", "evidence"})


def test_what_an_unanswered_question_is_taken_for_is_what_the_ledger_takes_it_for() -> None:
    for part in ASKED:
        model = {"people": models.Npc, "hooks": models.Hook, "goals": models.Goal}.get(part["key"])
        for question in part["questions"]:
            if question["kind"] in {"choice", "yesno"} and model and not question.get("need"):
                assert question["unsaid"] == model.model_fields[question["key"]].default
            else:
                assert "unsaid" not in question


def test_the_choices_offered_are_those_that_the_ledger_allows() -> None:
    def offered(section: str, key: str) -> set[object]:
        (question,) = (
            q for part in ASKED if part["key"] == section for q in part["questions"] if q["key"] == key
        )
        return {value for value, _ in question["options"]}

    assert offered("people", "status") == set(typing.get_args(models.Status))
    assert offered("people", "tie") == set(typing.get_args(models.Tie))
    assert offered("events", "phase") == set(models.PHASES)
    assert offered("hooks", "tier") == {1, 2, 3}


# From a selection to a quote


@pytest.mark.parametrize(
    ("body", "selected", "quote"),
    [
        ("He saw Odo Marsh leave. Then it rained.", "Odo Marsh", "Odo Marsh leave"),  # grows to three words
        ("He saw Odo Marsh. Then it rained.", "Odo Marsh", "saw Odo Marsh"),  # at its sentence's end, backwards
        ("He saw Odo Marsh leave. Then it rained.", "do Marsh lea", "Odo Marsh leave"),  # whole words
        ("He saw  Odo Marsh leave . Then", " Odo Marsh leave ", "Odo Marsh leave"),  # no blanks at the ends
        ("The bell is here. Later the bell is here again.", "bell is here", "The bell is here"),
        ("One bell is here. Two bell is here too.", "bell is here too", "bell is here too"),
        ("Run. Odo ran. Away.", "Odo ran", "Odo ran. Away"),  # out of the sentence when it must
        ("她等了很久，没有人来。后来下雨了。", "没有人", "很久，没有人来"),
        ("🕯️🕯️ Zoë 👩‍🚒 lit the lamp.", "Zoë", "Zoë 👩‍🚒 lit the"),
        ("مات الملك في الليل ولا أحد يعرف", "الملك في", "الملك في الليل"),
        ("They can't go there now.", "can", "can't go there"),
    ],
)  # fmt: skip
def test_a_selection_becomes_the_smallest_quote_that_stands_once(
    body: str, selected: str, quote: str
) -> None:
    prose = Prose(body)
    # "bell is here" is the first of the two; the others stand once.
    start = prose.body.index(selected)
    made = anchor(prose, start, start + len(selected))
    assert isinstance(made, Anchor)
    assert made.quote == quote
    assert prose.body[made.start : made.end] == quote


def test_the_second_of_two_like_places_becomes_a_quote_of_that_place() -> None:
    body = "The bell is here. Later the bell is here again."
    start = body.rindex("bell is here")
    made = anchor(Prose(body), start, start + len("bell is here"))
    # forwards first, within its sentence
    assert made == Anchor(start, start + len("bell is here again"), "bell is here again")


@pytest.mark.parametrize(
    ("body", "span", "said"),
    [
        ("Odo came. 🕯️🕯️ Nobody knew.", (10, 13), "no word in this selection"),
        ("word " * 60, (0, 250), "too long: select at most 25 words"),
        ("The bell rang. " * 40, (0, 8), "cannot be told from others"),
        ("Odo.", (0, 3), "cannot be told from others"),
        ("Odo came home.", (-5, -2), "no word in this selection"),
        ("Odo came home.", (900, 1000), "no word in this selection"),
    ],
)
def test_a_selection_that_cannot_serve_says_why(body: str, span: tuple[int, int], said: str) -> None:
    made = anchor(Prose(body), *span)
    assert isinstance(made, str)
    assert said in made


# What marks come to


def test_marks_are_judged_as_they_are_made(tale: Path) -> None:
    session = fresh(tale)
    assert session.view()["verdict"] == {"empty": True}
    first = session.update(marks(people=[PERSON]), 0)
    assert first["ids"]["people"] == ["odo-marsh"]
    assert first["spans"]["people"] == [[(0, 21)]]  # "Odo Marsh still signs" has 21 characters
    assert first["verdict"]["presses"]["value"] == "0"
    scored = FIRE | {"immediacy": 3, "gravity": 8, "linkage": 5, "divergence": 6}
    second = session.update(marks(people=[PERSON], hooks=[HOOK], events=[scored]), 1)
    # 4·3 + 4·8 + 5 + 6 = 55, alone in its band
    assert second["verdict"]["presses"] == {
        "value": "55",
        "needed": "150",
        "enough": False,
        "share": 55 / 150,
    }
    assert second["verdict"]["threads"] == [{"text": "he comes", "urgent": True, "id": "he-comes"}]
    assert second["verdict"]["passed"] is False
    assert second["verdict"]["fix"]["todo"]
    assert second["troubles"] == []
    assert (second["revision"], second["dirty"]) == (2, True)


def test_an_event_without_its_four_answers_leaves_pressing_unmeasured(tale: Path) -> None:
    meter = fresh(tale).update(marks(events=[FIRE]), 0)["verdict"]["presses"]
    assert meter["value"] is None
    assert "fire" in meter["why"] or "dimension" in meter["why"]


def test_each_mark_that_is_wrong_says_so_and_the_rest_is_judged(tale: Path) -> None:
    stranger = PERSON | {"name": "Jon"}
    sheet = marks(
        people=[stranger, PERSON],
        hooks=[HOOK | {"quote": ["no such words here"]}, HOOK, HOOK | {"npc": "jon"}, {"quote": ["the mill burned"], "tier": 1}],
        events=[FIRE | {"gravity": 3}, FIRE | {"relations": [{"npc": "Jon"}]}],
    )  # fmt: skip
    result = fresh(tale).update(sheet, 0)
    assert [(one["section"], one["index"]) for one in result["troubles"]] == [
        ("people", 0),
        ("hooks", 0),
        ("hooks", 3),
        ("events", 0),
    ]
    said = {(one["section"], one["index"]): one["line"] for one in result["troubles"]}
    assert "does not hold the name 'Jon'" in said["people", 0]
    assert said["hooks", 0] == "'no such words here' is not in the prose"
    assert said["hooks", 3] == "What could play pick up here: not answered yet"
    assert said["events", 0].startswith("No immediacy and no linkage and no divergence")
    # Jon's fault is told at Jon alone: his thread and his death are judged without him.
    assert result["ids"]["hooks"] == [None, "he-comes", "he-comes-2", None]
    assert result["ids"]["events"] == [None, "fire"]


def test_a_missing_protagonist_is_said_and_the_marks_are_judged_all_the_same(tale: Path) -> None:
    result = fresh(tale).update(marks(hooks=[HOOK | {"npc": None}]) | {"protagonist": " "}, 0)
    assert [(one["section"], one["line"]) for one in result["troubles"]] == [
        ("protagonist", "Give the protagonist a name.")
    ]
    assert result["verdict"]["threads"]


def test_a_death_and_a_life_after_it_are_told_with_their_places(tale: Path) -> None:
    dead = FIRE | {"phase": "P1", "relations": [{"npc": "Odo Marsh", "status": "dead"}]}
    alive = {"phase": "P3", "summary": "he signs", "quote": ["he signs them late"], "relations": [{"npc": "Odo Marsh", "status": "alive"}]}  # fmt: skip
    verdict = fresh(tale).update(marks(people=[PERSON], events=[dead, alive]), 0)["verdict"]
    assert verdict["contradictions"] == 1
    (finding,) = (one for one in verdict["findings"] if one["code"] == "dead-then-active")
    start, end = finding["span"]
    body = read_story(tale / "tale.md").prose.body
    assert body[start:end] == "he signs them late"
    assert "the mill burned for two nights" in finding["against"]


def test_what_the_front_matter_expects_is_not_shown_to_who_marks(tmp_path: Path) -> None:
    path = story(tmp_path, "---\nexpect: {lpi: 0.9, gate: pass}\n---\nOdo Marsh still signs the ledgers.\n")
    result = open_session(path).update(marks(people=[PERSON]), 0)
    assert "expect" not in json.dumps(result)
    assert {one["severity"] for one in result["verdict"]["findings"]} == {"warning"}


@pytest.mark.parametrize(
    "sheet",
    [
        None,
        [],
        "marks",
        {"people": {}},
        {"hooks": ["x"]},
        {"goals": [{}] * 1001},
        {"evil": 1},
        {"people": 3},
    ],
)
def test_what_is_no_mark_sheet_is_refused_and_changes_nothing(tale: Path, sheet: object) -> None:
    session = fresh(tale)
    before = copy.deepcopy(session.sheet)
    with pytest.raises(InputError):
        session.update(sheet, 0)
    assert (session.sheet, session.revision) == (before, 0)


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"quote": 3},
        {"quote": [3, None]},
        {"quote": []},
        {"quote": "he signs them late", "npc": {"a": 1}},
        {"quote": ["he signs them late"], "tier": True, "text": "x"},
        {"quote": ["he signs them late"], "evidence": [{"start": 0}]},
        {"quote": ["he signs them late"], "id": "a b", "text": "x", "tier": 1},
        {"quote": ["\x00\x1b[31m he signs"], "text": "\x00", "tier": 1},
    ],
)
def test_hostile_items_are_troubles_and_no_crash(tale: Path, item: dict[str, Any]) -> None:
    result = fresh(tale).update(marks(people=[PERSON], hooks=[item, HOOK]), 0)
    assert [(one["section"], one["index"]) for one in result["troubles"]] == [("hooks", 0)]
    assert result["ids"]["hooks"] == [None, "he-comes"]
    assert not any(ord(c) < 32 for one in result["troubles"] for c in one["line"])


# What is saved, and where it begins


def test_saving_writes_what_ludic_lock_would_and_ludic_check_agrees(tale: Path, ludic: Run) -> None:
    session = fresh(tale)
    result = session.save(marks(people=[PERSON], hooks=[HOOK]), 0)
    assert (result["done"], result["dirty"], result["line"]) == (True, False, "Saved to tale.ledger.json.")
    saved = (tale / "tale.ledger.json").read_bytes()
    checked = ludic("check", "tale.md", "--json")
    (row,) = json.loads(checked.out)["stories"]
    assert not [one for one in row["findings"] if one["code"] == "unlocked-sheet"]
    assert f"{row['lpi']:.2f}" == result["verdict"]["left_open"]["value"]
    assert ludic("lock", "tale.md").code == 0
    assert (tale / "tale.ledger.json").read_bytes() == saved
    assert list(tale.glob("*.bak")) == []
    again = open_session(tale / "tale.md")
    assert again.sheet["hooks"] == [
        {"id": "he-comes", "text": "he comes", "tier": 1, "npc": "odo-marsh", "quote": ["he signs them late"]}
    ]
    assert not again.dirty


@pytest.mark.parametrize(
    "lockfile",
    sorted(set(BACKSTORIES.glob("*.ledger.json")) - set(BACKSTORIES.glob("*.second.ledger.json"))),
    ids=lambda path: path.stem,
)
def test_what_a_lockfile_holds_goes_through_the_page_unchanged(lockfile: Path) -> None:
    tale = read_story(lockfile.with_name(lockfile.name.replace(".ledger.json", ".md")))
    sifted = sift(open_session(tale.path).sheet, tale)
    assert sifted.troubles == ()
    assert sifted.ledger == load_lockfile(lockfile).ledger


def test_nothing_is_saved_while_a_mark_is_wrong(tale: Path) -> None:
    session = fresh(tale)
    result = session.save(marks(hooks=[HOOK]), 0)  # of Odo Marsh, who is not marked
    assert (result["done"], result["dirty"]) == (False, True)
    assert result["line"] == "Not saved yet: 1 thing below needs an answer or other words."
    assert sorted(path.name for path in tale.iterdir()) == ["tale.md"]


def test_a_sheet_written_by_hand_is_kept_when_the_page_writes_its_own(locked: Path) -> None:
    by_hand = (locked / "tale.marks.yaml").read_bytes()
    session = open_session(locked / "tale.md")
    first = session.save(session.sheet, 0)
    assert first["line"].endswith("The mark sheet that was there is kept as tale.marks.yaml.bak.")
    # A second save, and a second sitting, do not put the page's own sheet over what was kept.
    session.save(session.sheet | {"goals": []}, 1)
    other = open_session(locked / "tale.md")
    other.save(other.sheet | {"hooks": []}, 0)
    assert (locked / "tale.marks.yaml.bak").read_bytes() == by_hand


def test_a_sheet_edited_while_the_page_is_open_is_kept(tale: Path) -> None:
    session = fresh(tale)
    session.save(marks(people=[PERSON]), 0)
    (tale / "tale.marks.yaml").write_text("sheet: 1\n# my thoughts\n", encoding="utf-8")
    session.save(marks(people=[PERSON]), 1)
    assert "my thoughts" in (tale / "tale.marks.yaml.bak").read_text(encoding="utf-8")


def test_a_lockfile_changed_by_somebody_else_is_written_over_only_when_told(locked: Path) -> None:
    session = open_session(locked / "tale.md")
    theirs = load_lockfile(locked / "tale.ledger.json").model_copy(update={"notary": Notary(kind="hand")})
    write_lockfile(theirs, locked / "tale.ledger.json")
    refused = session.save(session.sheet, 0)
    assert (refused["done"], refused["conflict"]) == (False, True)
    assert load_lockfile(locked / "tale.ledger.json") == theirs
    assert session.save(session.sheet, 1, overwrite=True)["done"] is True
    assert load_lockfile(locked / "tale.ledger.json") != theirs


def test_marks_of_a_story_edited_meanwhile_are_saved_for_relock_to_move(tale: Path, ludic: Run) -> None:
    session = fresh(tale)
    story(tale, "It was autumn.\n\n" + (tale / "tale.md").read_text(encoding="utf-8"))
    result = session.save(marks(people=[PERSON], hooks=[HOOK]), 0)
    assert result["done"] is True
    assert "run ludic relock tale.md" in result["line"]
    assert "2 quotes on their words, 0 lost" in ludic("relock", "tale.md").out
    assert ludic("relock", "--read", "tale.md").code == 0
    assert ludic("check", "tale.md").code == 0


def test_the_page_begins_with_a_lockfile_and_moves_marks_along_that_lose_nothing(locked: Path) -> None:
    story(locked, "It was autumn.\n\n" + (locked / "tale.md").read_text(encoding="utf-8"))
    session = open_session(locked / "tale.md")
    assert [person["name"] for person in session.sheet["people"]] == ["Odo Marsh"]
    assert session.dirty
    assert any("moved along" in line for line in session.notices)
    assert session.view()["unread"] == [(0, 14)]
    assert session.save(session.sheet, 0)["done"] is True
    assert load_lockfile(locked / "tale.ledger.json").unread == ()


def test_a_story_whose_edit_lost_marks_asks_for_relock_and_then_shows_them_aside(
    locked: Path, ludic: Run
) -> None:
    text = (
        (locked / "tale.md").read_text(encoding="utf-8").replace("She means to stand before the judge", "x")
    )
    story(locked, text)
    with pytest.raises(InputError, match=r"1 mark has lost the words; run first: ludic relock .*tale\.md"):
        open_session(locked / "tale.md")
    assert (
        ludic("annotate", "--web", "--no-open", "tale.md")
        .err.strip()
        .endswith("run first: ludic relock tale.md")
    )
    ludic("relock", "tale.md")
    (aside,) = open_session(locked / "tale.md").aside
    assert (aside["section"], aside["item"]["text"]) == ("goals", "reach a judge")


def test_a_models_reading_is_there_to_be_corrected(tale: Path) -> None:
    path = tale / "tale.md"
    prose = read_story(path).prose
    (evidence,) = [prose.find("Odo Marsh still signs")]
    person = Npc.model_validate(
        {"id": "odo", "name": "Odo Marsh", "evidence": [{"quote": "Odo Marsh still signs", "start": evidence[0][0], "end": evidence[0][1]}]}
    )  # fmt: skip
    aside = Ungrounded(list="hooks", item={"id": "h", "text": "a lie", "tier": 1}, reason="not in the prose")
    lock = make_lockfile(
        prose,
        FactLedger(schema_version=1, protagonist="Ysolde", npcs=(person,)),
        Notary(kind="model", model="ollama:qwen3:14b"),
        [aside],
    )
    write_lockfile(lock, tale / "tale.ledger.json")
    session = open_session(path)
    assert any("ollama:qwen3:14b" in line for line in session.notices)
    assert session.aside == [
        {"section": "hooks", "item": {"id": "h", "text": "a lie", "tier": 1}, "reason": "not in the prose"}
    ]
    result = session.save(marks(people=[PERSON | {"id": "odo"}]), 0)
    assert "kept as tale.marks.yaml.bak" in result["line"]  # the sheet beside it was another reading
    saved = load_lockfile(tale / "tale.ledger.json")
    assert (saved.notary.kind, saved.ungrounded) == ("hand", ())
    assert "not in the prose" in (tale / "tale.marks.yaml").read_text(encoding="utf-8")
    # Once its words are found it is a mark like any other.
    result = session.save(
        marks(hooks=[{"id": "h", "text": "a lie", "tier": 1, "quote": ["he signs them late"]}]), 1
    )
    assert result["aside"] == []
    assert "not in the prose" not in (tale / "tale.marks.yaml").read_text(encoding="utf-8")


def test_a_quote_that_stands_twice_in_a_models_reading_is_told_apart_by_more_words(tmp_path: Path) -> None:
    path = story(tmp_path, "The bell is here. Later the bell is here again.\n")
    prose = read_story(path).prose
    start = prose.body.rindex("bell is here")
    hook = Hook.model_validate(
        {"id": "h", "text": "bell", "tier": 1, "evidence": [{"quote": "bell is here", "start": start, "end": start + 12}]}
    )  # fmt: skip
    ledger = FactLedger(schema_version=1, protagonist="Y", hooks=(hook,))
    write_lockfile(
        make_lockfile(prose, ledger, Notary(kind="model", model="m")), tmp_path / "tale.ledger.json"
    )
    assert open_session(path).sheet["hooks"][0]["quote"] == ["bell is here again"]


def test_a_sheet_begun_by_hand_is_taken_up_with_its_faults(tale: Path) -> None:
    sheet = (tale / "tale.marks.yaml").read_text(encoding="utf-8").replace("he signs them late", "he sings")
    (tale / "tale.marks.yaml").write_text(sheet, encoding="utf-8")
    session = open_session(tale / "tale.md")
    assert [(one["section"], one["index"]) for one in session.result()["troubles"]] == [("hooks", 0)]
    assert session.sheet["events"][0]["phase"] == "P2"


def test_a_blank_sheet_is_nothing_to_take_up(tale: Path) -> None:
    (tale / "tale.marks.yaml").write_text(write_sheet(read_story(tale / "tale.md")), encoding="utf-8")
    session = open_session(tale / "tale.md")
    assert session.sheet == marks() | {"protagonist": ""}
    session.save(marks(people=[PERSON]), 0)
    assert list(tale.glob("*.bak")) == []


def test_a_sheet_edited_since_it_was_locked_is_what_the_page_opens(locked: Path) -> None:
    sheet = (locked / "tale.marks.yaml").read_text(encoding="utf-8").replace("reach a judge", "see a judge")
    (locked / "tale.marks.yaml").write_text(sheet, encoding="utf-8")
    session = open_session(locked / "tale.md")
    assert session.sheet["goals"][0]["text"] == "see a judge"
    assert session.dirty
    assert session.keep_unsaved() is None  # it is on disk as it stands


def test_a_second_reader_sees_nothing_of_the_first_and_saves_beside_it(locked: Path, ludic: Run) -> None:
    first = (locked / "tale.ledger.json").read_bytes(), (locked / "tale.marks.yaml").read_bytes()
    session = open_session(locked / "tale.md", second=True)
    shown = json.dumps(session.view(), ensure_ascii=False)
    assert session.sheet == marks() | {"protagonist": ""}
    assert "reach a judge" not in shown
    assert session.save(marks(people=[PERSON]), 0)["line"] == "Saved to tale.second.ledger.json."
    assert ((locked / "tale.ledger.json").read_bytes(), (locked / "tale.marks.yaml").read_bytes()) == first
    agreed = ludic("agree", "tale.ledger.json", "tale.second.ledger.json", "--json")
    assert agreed.code == 0
    people = json.loads(agreed.out)["kinds"][0]
    assert (people["first"], people["second"], people["matched"]) == (1, 1, 1)
    assert open_session(locked / "tale.md", second=True).sheet["people"][0]["name"] == "Odo Marsh"


def test_marks_not_saved_are_kept_at_the_end_and_taken_up_again(tale: Path) -> None:
    session = fresh(tale)
    assert session.keep_unsaved() is None
    wrong = marks(hooks=[HOOK])
    session.update(wrong, 0)
    kept = session.keep_unsaved()
    assert kept == tale / "tale.marks.unsaved.yaml"
    assert yaml.safe_load(kept.read_text(encoding="utf-8")) == {"sheet": 1} | wrong
    again = open_session(tale / "tale.md")
    assert (again.sheet, again.dirty) == (wrong, True)
    again.save(marks(people=[PERSON], hooks=[HOOK]), 0)
    assert not kept.exists()


def test_discarding_goes_back_to_what_was_saved(tale: Path) -> None:
    session = fresh(tale)
    session.update(marks(people=[PERSON]), 0)
    session.keep_unsaved()
    session.discard()
    assert not session.dirty
    assert not session.unsaved_path.exists()


def test_a_second_tab_cannot_write_over_the_first(tale: Path) -> None:
    session = fresh(tale)
    session.update(marks(people=[PERSON]), 0)
    with pytest.raises(StaleMarksError):
        session.update(marks(), 0)
    with pytest.raises(StaleMarksError):
        session.save(marks(), 0)
    assert session.sheet["people"]


def test_a_log_that_a_person_wrote_into_a_lockfile_stays_in_it(locked: Path) -> None:
    lock = json.loads((locked / "tale.ledger.json").read_bytes())
    entry = {"id": "off", "phase": "P1", "kind": "death", "subject": "Odo Marsh", "text": "he drowns"}
    lock["ledger"]["background_log"] = [entry]
    (locked / "tale.ledger.json").write_text(dump_json(lock), encoding="utf-8")
    session = open_session(locked / "tale.md")
    session.save(session.sheet, 0)
    assert load_lockfile(locked / "tale.ledger.json").ledger.background_log[0].text == "he drowns"


def test_a_story_without_prose_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no prose in this file"):
        open_session(story(tmp_path, "---\ntitle: x\n---\n"))


@pytest.mark.parametrize(("options", "said"), [(["--second"], "--web"), (["--port", "8000"], "--web"), (["--no-open"], "--web")])  # fmt: skip
def test_options_of_the_page_need_the_page(tale: Path, ludic: Run, options: list[str], said: str) -> None:
    ran = ludic("annotate", "tale.md", *options)
    assert ran.code == 2
    assert said in ran.err


def test_only_the_page_loads_the_page() -> None:
    code = (
        "import sys, ludic_deepeval as l\n[getattr(l, name) for name in l.__all__]\n"
        "import ludic_deepeval.cli, ludic_deepeval.check, ludic_deepeval.terminal\n"
        "sys.exit('ludic_deepeval.web' in sys.modules or 'http.server' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Who is served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    """The page's server, running, for every test that it should outlive."""
    served = PageServer(open_session(story(tmp_path_factory.mktemp("served"), TALE)))
    thread = threading.Thread(target=served.run)
    thread.start()
    yield served
    served.finish()
    thread.join()


def ask(
    server: PageServer,
    path: str,
    body: bytes | None = None,
    *,
    method: str | None = None,
    **headers: str,
) -> tuple[int, dict[str, str], bytes]:
    """One request as a browser makes it; `{token}` in the path stands for the right one."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    sent = {"Host": f"127.0.0.1:{server.port}"} | (
        {} if body is None else {"Content-Type": "application/json"}
    )
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    verb = method or ("GET" if body is None else "POST")
    connection.request(verb, path.replace("{token}", server.token), body, sent)
    response = connection.getresponse()
    data = response.read()
    connection.close()
    return response.status, {key.lower(): value for key, value in response.getheaders()}, data


def test_the_page_and_its_files_are_served_with_strict_headers(server: PageServer) -> None:
    for name, kind in (("", "text/html"), ("page.js", "text/javascript"), ("page.css", "text/css"), ("session", "application/json")):  # fmt: skip
        status, headers, _ = ask(server, "/{token}/" + name)
        assert (status, headers["content-type"].partition(";")[0]) == (200, kind)
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in policy
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert not [name for name in headers if name.startswith("access-control")]


def test_the_page_holds_no_script_or_style_of_its_own_and_nothing_from_elsewhere() -> None:
    folder = Path(__file__).parents[2] / "ludic_deepeval" / "web"
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.count("<script") == 1
    assert '<script type="module" src="page.js"></script>' in page
    assert "<style" not in page
    for file in folder.glob("*.*"):
        text = file.read_text(encoding="utf-8")
        if file.suffix in {".js", ".css", ".html"}:
            assert "http" not in text
            assert not {"innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "document.write"} & {
                word for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "document.write") if word in text
            }  # fmt: skip


@pytest.mark.parametrize(
    "path",
    ["/", "/session", "/x/session", "/{token}", "/{token}x/session", "/%7Btoken%7D/session"],
)  # fmt: skip
def test_without_the_token_nothing_is_there(server: PageServer, path: str) -> None:
    assert ask(server, path)[0] == 404
    assert ask(server, path, b"{}")[0] == 404


def test_a_token_of_strange_bytes_is_no_token(server: PageServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as raw:
        raw.sendall(b"GET /\xc3\xa9\xff/session HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % server.port)
        assert raw.recv(100).startswith(b"HTTP/1.1 404 ")


def test_two_hosts_or_none_are_refused(server: PageServer) -> None:
    host = f"127.0.0.1:{server.port}"
    for lines in ("", f"Host: {host}\r\nHost: evil.example\r\n"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as raw:
            raw.sendall(f"GET /{server.token}/session HTTP/1.1\r\n{lines}\r\n".encode())
            assert raw.recv(100).startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize(
    "path",
    ["../pyproject.toml", "..%2f..%2fcli.py", "server.py", "session.py", "/etc/passwd", "page.js/../server.py", "page.js%00", "page.js?x", "."],
)  # fmt: skip
def test_no_other_file_is_served(server: PageServer, path: str) -> None:
    assert ask(server, "/{token}/" + path)[0] == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", "[::1]:{port}", ""])  # fmt: skip
def test_a_foreign_host_is_refused(server: PageServer, host: str) -> None:
    status, _, body = ask(server, "/{token}/session", Host=host.replace("{port}", str(server.port)))
    assert status == 403
    assert b"Odo" not in body


def test_localhost_is_a_name_of_this_host(server: PageServer) -> None:
    assert ask(server, "/{token}/session", Host=f"localhost:{server.port}")[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1", "http://127.0.0.1:{port}.evil.example"])  # fmt: skip
def test_a_foreign_origin_is_refused(server: PageServer, origin: str) -> None:
    sent = origin.replace("{port}", str(server.port))
    body = json.dumps({"sheet": marks(), "revision": server.session.revision}).encode()
    before = server.session.revision
    assert ask(server, "/{token}/marks", body, Origin=sent)[0] == 403
    assert ask(server, "/{token}/session", Origin=sent)[0] == 403
    assert server.session.revision == before


def test_its_own_origin_is_served(server: PageServer) -> None:
    body = json.dumps({"sheet": marks(people=[PERSON]), "revision": server.session.revision}).encode()
    status, _, data = ask(server, "/{token}/marks", body, Origin=f"http://127.0.0.1:{server.port}")
    assert status == 200
    assert json.loads(data)["ids"]["people"] == ["odo-marsh"]


def test_a_body_that_is_too_large_is_refused_unread(server: PageServer) -> None:
    assert ask(server, "/{token}/marks", b"{}", Content_Length=str(MAX_BODY + 1))[0] == 413
    assert ask(server, "/{token}/marks", b"{}", Content_Length="9" * 12)[0] == 413


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content_Length": "-1"}, 411),
        ({"Content_Length": "2, 2"}, 411),
        ({"Transfer_Encoding": "chunked"}, 411),
    ],
)
def test_a_body_of_another_kind_or_of_no_length_is_refused(
    server: PageServer, headers: dict[str, str], status: int
) -> None:
    assert ask(server, "/{token}/marks", b"{}", **headers)[0] == status


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b"null", b'{"revision": NaN}', b"\xff", b"[" * 100_000, b'{"sheet": "\\ud800", "revision": 0}', b'{"revision": true}', b'{"revision": "0"}'],
)  # fmt: skip
def test_a_body_that_is_no_json_mapping_is_refused(server: PageServer, body: bytes) -> None:
    assert ask(server, "/{token}/marks", body)[0] == 400
    assert ask(server, "/{token}/session")[0] == 200


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FOO"])
def test_other_methods_are_refused(server: PageServer, method: str) -> None:
    status, headers, _ = ask(server, "/{token}/session", method=method)
    assert (status, headers["allow"]) == (405, "GET, POST")
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("deed", ["quote", "marks", "save", "alive", "done"])
def test_reading_changes_nothing(server: PageServer, deed: str) -> None:
    before = server.session.revision
    assert ask(server, "/{token}/" + deed)[0] == 404
    assert server.session.revision == before
    assert ask(server, "/{token}/session")[0] == 200


def test_an_unknown_deed_is_not_found(server: PageServer) -> None:
    assert ask(server, "/{token}/shell", b"{}")[0] == 404


def test_a_stale_tab_and_a_bad_sheet_are_told_in_a_line(server: PageServer) -> None:
    status, _, data = ask(server, "/{token}/marks", json.dumps({"sheet": marks(), "revision": 99}).encode())
    assert (status, json.loads(data)["line"]) == (
        409,
        "Another tab has changed these marks. Load this page again.",
    )
    body = json.dumps({"sheet": [], "revision": server.session.revision}).encode()
    status, _, data = ask(server, "/{token}/marks", body)
    assert (status, json.loads(data)["line"]) == (422, "marks: no mark sheet; allowed: a mapping")


def test_done_is_answered_and_then_the_server_ends(tale: Path) -> None:
    served = PageServer(fresh(tale))
    thread = threading.Thread(target=served.run)
    thread.start()
    assert ask(served, "/{token}/done", b"{}")[0] == 200
    thread.join(timeout=10)
    assert not thread.is_alive()
    with pytest.raises(OSError, match="refused"):
        ask(served, "/{token}/session")


def test_nobody_there_for_long_ends_the_server(tale: Path) -> None:
    served = PageServer(fresh(tale), idle_seconds=0.05)
    thread = threading.Thread(target=served.run)
    thread.start()
    thread.join(timeout=10)
    assert not thread.is_alive()


def test_a_port_that_is_taken_is_told(server: PageServer) -> None:
    with pytest.raises(InputError, match=rf"--port: {server.port} cannot be had .*; allowed: a free port"):
        PageServer(server.session, server.port)


def test_tokens_are_long_and_differ(tale: Path) -> None:
    session = fresh(tale)
    with PageServer(session) as one, PageServer(session) as two:
        assert len(one.token) >= 43  # 32 bytes in base64
        assert one.token != two.token
        assert one.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script> stands here </script><!-- --> ]]> & &lt; so",
        '<img src=x onerror="alert(1)"> hangs in the hall " onload=alert(2)',
        "Bells \x07 rang \x1b[31m and \x0b died \x85 away \u2028 then \u202e there",
    ],
)
def test_hostile_prose_reaches_the_page_as_json_to_the_letter(tmp_path: Path, text: str) -> None:
    session = open_session(story(tmp_path, f"---\ntitle: '</title><script>'\n---\n{text}\n"))
    with PageServer(session) as served:
        thread = threading.Thread(target=served.run)
        thread.start()
        status, headers, data = ask(served, "/{token}/session")
        page = ask(served, "/{token}/")[2]
        served.finish()
        thread.join()
    assert (status, headers["content-type"]) == (200, "application/json")
    assert json.loads(data)["body"] == text
    assert data.isascii()
    assert b"alert" not in page


def test_the_command_prints_the_address_and_ends_with_done(
    tale: Path, ludic: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)

    def run(server: PageServer) -> None:
        sheet = marks(people=[PERSON])
        server.session.save(sheet, 0)

    monkeypatch.setattr(PageServer, "run", run)
    (tale / "tale.marks.yaml").unlink()
    ran = ludic("annotate", "--web", "--no-open", "tale.md")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[1].startswith("  http://127.0.0.1:")
    assert lines[-2:] == [
        "tale.ledger.json: 1 person, 0 hooks, 0 goals, 0 mysteries, 0 events",
        "then run: ludic check tale.md",
    ]
    assert opened == []


def test_the_command_says_what_is_not_saved_and_exits_with_1(
    tale: Path, ludic: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PageServer, "run", lambda server: server.session.update(marks(people=[PERSON]), 0))
    (tale / "tale.marks.yaml").unlink()
    ran = ludic("annotate", "--web", "--no-open", "tale.md")
    assert ran.code == 1
    assert (
        ran.out.splitlines()[-1]
        == "tale.marks.unsaved.yaml: marks that were not saved; the page takes them up again: ludic annotate --web tale.md"
    )
