"""`ludic lsp`, spoken to by a real client over standard input and output."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.editor_client import CAPABILITIES, EditorClient, applied, slice_of

pytest.importorskip("pygls", reason="needs the extra editor")

ROOT = Path(__file__).parents[2]
Ludic = Callable[..., Any]
DEAD = "Bram Underhay walked her down the aisle of the river chapel"


@pytest.fixture
def ferry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first story of `ludic demo`, in which a dead man walks in, and little is left open."""
    for file in (ROOT / "ludic_deepeval/demo").glob("1-closed.*"):
        shutil.copy(file, tmp_path / file.name.replace("1-closed", "ferry"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "ferry.md"


def codes(found: list[dict[str, Any]]) -> set[str]:
    return {one["code"] for one in found}


def range_of(text: str, words: str) -> dict[str, Any]:
    """Where words stand, for texts whose characters are all one UTF-16 unit."""
    start = text.index(words)
    places = []
    for at in (start, start + len(words)):
        before = text[:at]
        places.append({"line": before.count("\n"), "character": at - (before.rfind("\n") + 1)})
    return {"start": places[0], "end": places[1]}


def test_an_editor_is_told_while_typing_and_nothing_but_the_protocol_is_printed(ferry: Path) -> None:
    text = ferry.read_text(encoding="utf-8")
    with EditorClient() as editor:
        able = editor.server["capabilities"]
        assert able["positionEncoding"] == "utf-16"
        assert able["textDocumentSync"]["change"] == 1
        assert able["hoverProvider"]
        assert able["codeActionProvider"]["codeActionKinds"] == ["quickfix", "refactor.rewrite"]
        assert editor.server["serverInfo"]["name"] == "ludic"

        editor.open(ferry)
        found = editor.findings(ferry, 1)
        dead = next(one for one in found if one["code"] == "dead-then-active")
        assert slice_of(text, dead["range"]) == DEAD
        assert dead["severity"] == 1
        assert dead["source"] == "ludic"
        assert dead["data"] == {"explain": "ludic explain dead-then-active"}
        assert "against line 8" in dead["message"]
        assert {one["severity"] for one in found if one["code"] == "few-hooks"} == {2}

        editor.change(ferry, text.replace("Bram Underhay walked", "Her uncle walked"), 2)
        mended = editor.findings(ferry, 2)
        assert "dead-then-active" not in codes(mended)
        assert "stale" in codes(mended)  # the words of the event are gone, and that is said

        new = text + "\nAnd on Sunday a letter came that nobody had signed.\n"
        editor.change(ferry, new, 3)
        found = editor.findings(ferry, 3)
        assert {"dead-then-active", "new-paragraph"} <= codes(found)
        unread = next(one for one in found if one["code"] == "new-paragraph")
        assert slice_of(new, unread["range"]) == "And on Sunday a letter came that nobody"

        assert editor.leave() == 0
        assert editor.stray == b""
    assert editor.said == b""
    assert ferry.read_text(encoding="utf-8") == text


def test_only_the_last_of_many_changes_is_judged(ferry: Path) -> None:
    text = ferry.read_text(encoding="utf-8")
    with EditorClient() as editor:
        editor.open(ferry)
        editor.findings(ferry, 1)
        for version in range(2, 40):
            editor.change(ferry, text + "." * version, version)
        editor.findings(ferry, 39)
        published = [one for one in editor.seen if one.get("method") == "textDocument/publishDiagnostics"]
        assert len(published) < 10
        assert editor.leave() == 0


def test_hovering_says_what_a_finding_means_and_what_words_are_marked_as(ferry: Path) -> None:
    text = ferry.read_text(encoding="utf-8")
    with EditorClient() as editor:
        editor.open(ferry)
        found = editor.findings(ferry, 1)
        dead = next(one for one in found if one["code"] == "dead-then-active")["range"]["start"]
        said = editor.hover(ferry, dead["line"], dead["character"] + 3)
        assert said["contents"]["kind"] == "markdown"
        told = said["contents"]["value"]
        assert "To mend it: Change one of the two sentences" in told
        assert "Marked as an event: her father walks her down the aisle" in told
        assert "presses with 19 (immediacy 1, gravity 3, linkage 2, divergence 1)" in told
        assert slice_of(text, said["range"]) == DEAD
        story = next(one for one in found if one["code"] == "few-hooks")["range"]["start"]
        told = editor.hover(ferry, story["line"], story["character"])["contents"]["value"]
        assert "The smallest fix (LPI 0.03 → 0.76, PCV 105 → 163):" in told
        assert editor.hover(ferry, 0, 0) is None
        assert editor.leave() == 0


def test_a_client_that_shows_only_plain_text_gets_no_markup(ferry: Path) -> None:
    plain = {"textDocument": {"hover": {"contentFormat": ["plaintext"]}}}
    with EditorClient(plain) as editor:
        editor.open(ferry)
        dead = next(one for one in editor.findings(ferry, 1) if one["code"] == "dead-then-active")
        said = editor.hover(ferry, dead["range"]["start"]["line"], dead["range"]["start"]["character"])
        assert said["contents"]["kind"] == "plaintext"
        assert "**" not in said["contents"]["value"]
        assert editor.leave() == 0


def test_what_is_marked_as_intentional_is_accepted_by_the_check(ferry: Path, ludic: Ludic) -> None:
    assert ludic("check", ferry).code == 1
    with EditorClient() as editor:
        editor.open(ferry)
        dead = next(one for one in editor.findings(ferry, 1) if one["code"] == "dead-then-active")
        offered = editor.actions(ferry, dead["range"], only=["quickfix"])
        assert [one["title"] for one in offered] == ["Mark as intentional: dead-then-active"]
        assert offered[0]["diagnostics"][0]["range"] == dead["range"]
        text = applied(offered[0]["edit"])[ferry]
        editor.change(ferry, text, 2)
        meant = next(one for one in editor.findings(ferry, 2) if one["code"] == "dead-then-active")
        assert meant["severity"] == 4
        assert editor.actions(ferry, meant["range"], only=["quickfix"]) == []
        assert editor.leave() == 0
    ran = ludic("check", ferry)
    assert ran.code == 0
    assert "intentional: TODO: say why this is meant" in ran.out


def test_a_selection_becomes_an_entry_of_the_mark_sheet(tale: Path, ludic: Ludic) -> None:
    story, sheet = tale / "tale.md", tale / "tale.marks.yaml"
    text = story.read_text(encoding="utf-8")
    before = sheet.read_text(encoding="utf-8")
    chosen = range_of(text, "the bell not to ring")
    with EditorClient() as editor:
        editor.open(story)
        unread = editor.findings(story, 1)
        assert [(one["code"], one["severity"]) for one in unread] == [("unread", 4)]
        assert "Mark selection as" in unread[0]["message"]
        offered = {one["title"]: one for one in editor.actions(story, chosen)}
        hook = offered["Mark selection as a hook that could drive the next scene (tier 1)"]
        assert hook["kind"] == "refactor.rewrite"
        assert applied(hook["edit"]) == {sheet: sheet.read_text(encoding="utf-8")}
        assert editor.leave() == 0
    after = sheet.read_text(encoding="utf-8")
    assert [line for line in after.splitlines() if line not in before.splitlines()] == [
        '- text: "the bell not to ring"  # in a few words: what could play pick up here?',
        '  quote: "the bell not to ring"',
        "  tier: 1",
        "  open:  # false, if it was settled in the story",
        "  npc:  # whose thread it is, if anybody's",
    ]
    assert ludic("lock", story).code == 0
    lock = json.loads((tale / "tale.ledger.json").read_text(encoding="utf-8"))
    assert [hook["text"] for hook in lock["ledger"]["hooks"]] == [
        "he will come for the ledger",
        "the bell not to ring",
    ]
    assert ludic("check", story).code == 0


def test_where_there_is_no_sheet_one_is_begun(tale: Path, ludic: Ludic) -> None:
    story, sheet = tale / "tale.md", tale / "tale.marks.yaml"
    sheet.unlink()
    text = story.read_text(encoding="utf-8")
    with EditorClient() as editor:
        editor.open(story)
        editor.findings(story, 1)
        offered = {one["title"]: one for one in editor.actions(story, range_of(text, "Odo Marsh"))}
        person = offered["Mark selection as a person: Odo Marsh"]
        assert [one.get("kind") for one in person["edit"]["documentChanges"]] == ["create", None]
        applied(person["edit"])
        assert editor.leave() == 0
    made = sheet.read_text(encoding="utf-8")
    assert '- name: "Odo Marsh"\n  quote: "Odo Marsh still"\n  status:  # alive, dead' in made
    assert made.startswith("# Mark sheet for tale.md")  # as ludic annotate begins it
    sheet.write_text(made.replace("protagonist: \n", "protagonist: Ysolde\n"), encoding="utf-8")
    assert ludic("lock", story).code == 0


def test_what_cannot_be_marked_says_why(tale: Path) -> None:
    story = tale / "tale.md"

    def reasons(editor: EditorClient, length: int) -> dict[str, str]:
        words = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": length}}
        offered = editor.actions(story, words, only=["refactor"])
        return {one["title"]: one.get("disabled", {}).get("reason", "") for one in offered}

    with EditorClient() as editor:
        editor.open(story, "word " * 60)
        whole = "Mark selection as …"
        assert "too long" in reasons(editor, 290)[whole]
        editor.change(story, "...\n", 2)
        assert reasons(editor, 3) == {whole: "There is no word in this selection: select words of the story."}
        editor.change(story, "Two words.\n", 3)
        assert "Select at least 3 others close by" in reasons(editor, 9)[whole]
        editor.change(story, "somebody had paid for the bell not to ring\n", 4)
        offered = reasons(editor, 17)
        assert offered["Mark selection as a person"].startswith("No name in this selection")
        assert offered["Mark selection as a goal"] == ""
        (tale / "tale.marks.yaml").write_text("sheet: [\n", encoding="utf-8")
        (broken,) = reasons(editor, 17).values()
        assert "tale.marks.yaml" in broken
        assert "not valid YAML" in broken
        assert editor.leave() == 0


def test_a_client_without_disabled_actions_is_told_when_it_chooses_one(tale: Path) -> None:
    story = tale / "tale.md"
    with EditorClient({"workspace": {}}) as editor:
        editor.open(story, "word " * 60)
        words = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 290}}
        (long,) = editor.actions(story, words, only=["refactor"])
        assert long["title"] == "Mark selection as … (not possible)"
        editor.ask(
            "workspace/executeCommand",
            {"command": long["command"]["command"], "arguments": long["command"]["arguments"]},
        )
        shown = next(one for one in editor.seen if one.get("method") == "window/showMessage")
        assert "too long" in shown["params"]["message"]
        assert editor.leave() == 0


def test_ranges_are_in_utf16_units_whatever_else_a_line_holds(ferry: Path) -> None:
    text = ferry.read_text(encoding="utf-8").replace("Last spring Bram", "\u2028😀😀 Last spring Bram")
    for raw in (text, text.replace("\n", "\r\n"), "\ufeff" + text):
        with EditorClient() as editor:
            editor.open(ferry, raw)
            dead = next(one for one in editor.findings(ferry, 1) if one["code"] == "dead-then-active")
            assert slice_of(raw, dead["range"]) == DEAD
            (meant, *_) = editor.actions(ferry, dead["range"], only=["quickfix"])
            ferry.write_bytes(raw.encode("utf-8"))
            changed = applied(meant["edit"])[ferry]
            assert changed.replace("\r\n", "\n").count("intentional:") == 1
            assert editor.leave() == 0


def test_saving_or_a_file_that_changed_judges_again(tale: Path, ludic: Ludic) -> None:
    story = tale / "tale.md"
    watches = CAPABILITIES | {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}
    with EditorClient(watches) as editor:
        asked = editor.until(lambda one: one.get("method") == "client/registerCapability")
        editor.send({"jsonrpc": "2.0", "id": asked["id"], "result": None})
        editor.open(story)
        assert codes(editor.findings(story, 1)) == {"unread"}
        assert ludic("lock", story).code == 0
        editor.tell("workspace/didChangeWatchedFiles", {"changes": []})
        assert "unread" not in codes(editor.findings(story, 1))
        (tale / "tale.ledger.json").unlink()
        editor.tell("textDocument/didSave", {"textDocument": {"uri": story.as_uri()}})
        assert codes(editor.findings(story, 1)) == {"unread"}
        editor.tell("textDocument/didClose", {"textDocument": {"uri": story.as_uri()}})
        assert editor.findings(story) == []
        assert editor.leave() == 0


def test_the_lockfile_is_made_and_moved_along_from_the_editor(tale: Path, ludic: Ludic) -> None:
    story = tale / "tale.md"
    top = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}

    def do(editor: EditorClient, title: str) -> str:
        offered = {one["title"]: one.get("command") for one in editor.actions(story, top)}
        editor.ask("workspace/executeCommand", {key: offered[title][key] for key in ("command", "arguments")})
        shown = [one for one in editor.seen if one.get("method") == "window/showMessage"]
        return str(shown[-1]["params"]["message"])

    with EditorClient() as editor:
        editor.open(story)
        assert codes(editor.findings(story, 1)) == {"unread"}
        assert do(editor, "Lock the mark sheet (ludic lock)") == "ludic: tale.ledger.json: 5 marks"
        assert "unread" not in codes(editor.findings(story, 1))
        text = "Years later. " + story.read_text(encoding="utf-8")
        editor.change(story, text, 2)
        assert "stale" in codes(editor.findings(story, 2))
        moved = "Move the marks along with their words (ludic relock)"
        assert "it is not saved yet" in do(editor, moved)
        story.write_text(text, encoding="utf-8")
        assert (
            do(editor, moved)
            == "ludic: tale.ledger.json: 5 quotes on their words, 0 lost, 0 paragraphs unread"
        )
        assert editor.leave() == 0
    assert ludic("check", story).code == 0


def test_a_branching_story_is_told_what_is_wrong_with_its_shape(tmp_path: Path) -> None:
    story = tmp_path / "night.twee"
    text = ':: StoryData\n{"ifid": "D674C58C-DEFA-4F70-B7A2-27742230C0FC"}\n\n:: Start\n[[Door]] [[Cellar]]\n\n:: Door\nThe end.\n'
    story.write_text(text, encoding="utf-8")
    with EditorClient() as editor:
        editor.open(story)
        found = editor.findings(story, 1)
        dead = next(one for one in found if one["code"] == "dead-link")
        assert slice_of(text, dead["range"]) == "[[Door]] [[Cellar]]"
        editor.change(story, text + "\n:: Cellar\nThe end, too.\n", 2)
        assert "dead-link" not in codes(editor.findings(story, 2))
        assert editor.leave() == 0


GARBAGE = [
    b"hello\r\n\r\n",
    b"Content-Length: 5\r\n\r\n{]}{[",
    b"Content-Length: 2\r\n\r\n{}",
    b"Content-Length: 4\r\n\r\nnull",
    b"Content-Length: -1\r\n\r\n",
    b"Content-Length: many\r\n\r\n",
    b"Content-Length: " + b"9" * 6000 + b"\r\n\r\n",
    b"Content-Length: 3\r\n\r\n\xff\xfe\xfd",
    b"Content-Length: 40000\r\n\r\n" + b"[" * 40000,
    b"x" * 100_000 + b"\r\n\r\n",
    b"Content-Length: 40000000\r\n\r\n" + b" " * 40_000_000,
]


def test_garbage_ends_no_server(ferry: Path) -> None:
    with EditorClient() as editor:
        for bad in GARBAGE:
            editor.write(bad)
        for method in (
            "textDocument/didOpen",
            "textDocument/didChange",
            "textDocument/didClose",
            "initialized",
            "no/such",
        ):
            for params in (None, [], {}, {"textDocument": 7}, {"textDocument": {"uri": None}}):
                editor.tell(method, params)
        for method in (
            "textDocument/hover",
            "textDocument/codeAction",
            "workspace/executeCommand",
            "no/such",
        ):
            for params in (None, {}, {"textDocument": {"uri": "file:///x.md"}}, {"command": "rm"}):
                assert "error" in editor.ask(method, params)
        editor.open(ferry)
        assert "dead-then-active" in codes(editor.findings(ferry, 1))
        assert editor.leave() == 0
        assert editor.stray == b""
    assert b"Traceback" not in editor.said


ADDRESSES = [
    "untitled:Untitled-1", "http://example.org/tale.md", "", "tale.md", "file:", "file://", "file:///", "file://[x/tale.md",
    "file:///no/such/folder/tale.md", "file:///tmp/%00.md", "file:///tmp/%ff.md", "file:///dev/zero",
    "file:///tmp/" + "x" * 5000 + ".md", "vscode-notebook-cell:/tale.md#1",
]  # fmt: skip


def test_a_message_that_claims_to_be_endless_takes_no_memory() -> None:
    with EditorClient() as editor:
        editor.write(b"Content-Length: 1000000000000000\r\n\r\n" + b"x" * 1_000_000)
        assert editor.process.stdin is not None
        editor.process.stdin.close()
        assert editor.process.wait(60) == 1
    assert editor.said == b""


def test_unknown_addresses_are_no_crash(ferry: Path) -> None:
    with EditorClient() as editor:
        for uri in ADDRESSES:
            editor.open(ferry, "Some words that nobody has read.\n", uri=uri)
            where = {"textDocument": {"uri": uri}}
            place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 15}}
            editor.ask("textDocument/hover", where | {"position": {"line": 999, "character": 999}})
            editor.ask("textDocument/codeAction", where | {"range": place, "context": {"diagnostics": []}})
            editor.tell("textDocument/didSave", where)
            editor.tell("textDocument/didClose", where)
        editor.open(ferry)
        assert "dead-then-active" in codes(editor.findings(ferry, 1))
        assert editor.leave() == 0
    assert b"Traceback" not in editor.said


def test_a_huge_document_and_one_that_is_no_text_are_told_and_no_crash(ferry: Path) -> None:
    with EditorClient() as editor:
        editor.open(ferry, "word " * 1_000_000)
        (long,) = editor.findings(ferry, 1)
        assert "5,000,000 characters" in long["message"]
        assert editor.hover(ferry, 0, 0) is not None
        assert (
            editor.actions(ferry, {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 9}})
            == []
        )
        for version, text in enumerate(
            ("a\ud800b", "a\0b", "---\nid: [\n---\nx", "---\nnever closed", "", "\ufeff", "---\n---\n"), 2
        ):
            editor.change(ferry, text, version)
            editor.findings(ferry, version)
        ferry.write_bytes("Müller\n".encode("latin-1"))
        editor.change(ferry, "Müller\n", 20)
        found = editor.findings(ferry, 20)
        assert any("as it is saved: line 1: byte 0xfc is not UTF-8" in one["message"] for one in found)
        (ferry.parent / "ferry.ledger.json").write_bytes(b"\xff{")
        editor.tell("textDocument/didSave", {"textDocument": {"uri": ferry.as_uri()}})
        assert editor.findings(ferry, 20)
        assert editor.leave() == 0
    assert b"Traceback" not in editor.said


def test_leaving_without_shutting_down_is_exit_code_1() -> None:
    with EditorClient() as editor:
        editor.tell("exit", None)
        assert editor.process.wait(60) == 1
    with EditorClient() as editor:
        assert editor.process.stdin is not None
        editor.process.stdin.close()
        assert editor.process.wait(60) == 1


def test_without_the_extra_one_line_says_how_to_install_it(
    ludic: Ludic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "ludic_deepeval.editor.server", raising=False)
    monkeypatch.setitem(sys.modules, "lsprotocol", None)
    ran = ludic("lsp")
    assert ran.code == 2
    assert ran.out == ""
    assert ran.faults == [
        "ludic: ludic lsp: the language server is not installed; pip install 'ludic-worth[editor]'"
    ]
