import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.files import load_yaml

Ludic = Callable[..., Any]


def listing(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.fixture
def refused(ludic: Ludic, tmp_path: Path) -> Callable[..., str]:
    """Run a command that must fail with one line and exit code 2, and write nothing; return the line."""

    def run(*arguments: object) -> str:
        before = listing(tmp_path)
        ran = ludic(*arguments)
        assert ran.code == 2, (ran.out, ran.err)
        [line] = ran.faults
        assert line.startswith("ludic: ")
        assert line.isprintable()
        assert "Traceback" not in ran.out
        assert listing(tmp_path) == before
        return str(line.removeprefix("ludic: "))

    return run


Refused = Callable[..., str]

# Ledgers and lockfiles

GOOD: dict[str, Any] = {
    "schema_version": 1,
    "protagonist": "Ysolde",
    "npcs": [{"id": "odo", "name": "Odo"}, {"id": "piet", "name": "Piet", "status": "dead"}],
    "events": [
        {
            "id": "e1", "phase": "P1", "summary": "s", "immediacy": 1, "gravity": 2, "linkage": 3, "divergence": 4,
            "relations": [{"npc": "piet", "status": "dead"}],
        }
    ],
    "hooks": [{"id": "h1", "text": "t", "tier": 1, "npc": "odo"}],
    "goals": [{"id": "g1", "text": "t"}],
}  # fmt: skip


def with_value(path: str, value: object) -> bytes:
    """The good ledger with one value replaced, as JSON; a str that starts with = is put in as it is."""
    data = json.loads(json.dumps(GOOD))
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    holder = data
    for part in way:
        holder = holder[part]
    raw = value[1:] if isinstance(value, str) and value.startswith("=") else None
    holder[last] = "RAW" if raw is not None else value
    text = json.dumps(data)
    return (text.replace('"RAW"', raw) if raw is not None else text).encode()


def test_the_ledger_that_the_bad_ones_are_made_of_is_good(tmp_path: Path, ludic: Ludic) -> None:
    (tmp_path / "good.json").write_bytes(json.dumps(GOOD).encode())
    ran = ludic("score", tmp_path / "good.json")
    assert (ran.code, ran.err) == (1, "")


DIMENSION = "allowed: a whole number from 1 to 10"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not valid JSON: "),
        (b"{", "not valid JSON: "),
        (b'{"schema_version": 1, "protagonist": "Y"', "not valid JSON: "),
        (b'{"schema_version": 1,, "protagonist": "Y"}', "not valid JSON: "),
        (b"{'schema_version': 1}", "not valid JSON: "),
        (b"sheet: 1", "not valid JSON: "),
        (b'{"protagonist": "\xff"}', "not valid JSON: "),
        (b"\xff\xfe{\x00}\x00", "not valid JSON: "),
        (b'{"protagonist": "\\ud800", "schema_version": 1}', "not valid JSON: "),
        (b"[" * 200_000, "not valid JSON: recursion limit exceeded"),
        (b'{"a":' * 200_000, "not valid JSON: recursion limit exceeded"),
        (b'{"hooks": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "not valid JSON: recursion limit exceeded"),
        (b"7", "found 7; allowed: a mapping"),
        (b"null", "found nothing; allowed: a mapping"),
        (b"[]", "found a list; allowed: a mapping"),
        (b"{}", "schema_version: missing; allowed: 1; 1 more fault"),
        (b'{"schema_version": 1}', "protagonist: missing"),
        (with_value("schema_version", 2), "schema_version: found 2; allowed: 1"),
        (with_value("schema_version", True), "schema_version: found true; allowed: 1"),
        (with_value("schema_version", 1.0), "schema_version: found 1.0; allowed: 1"),
        (with_value("mood", "bad"), "mood: unknown field; allowed: schema_version, protagonist, npcs, events, hooks"),
        (with_value("hooks.0.mood", "bad"), "hooks[0].mood: unknown field; allowed: evidence, id, text, tier, open"),
        (with_value("hooks.0.npc", "nobody"), "hooks[0].npc: 'nobody' is nobody; allowed: the id of one of npcs: odo, piet"),
        (with_value("events.0.relations.0.npc", "x"), "events[0].relations[0].npc: 'x' is nobody; allowed: the id of one of npcs"),
        (with_value("npcs.1.id", "odo"), "npcs[1].id: the id 'odo' is used twice; allowed: ids unique in npcs"),
        (with_value("npcs.1.status", "alive"), "npcs[1].status: 'alive', but event 'e1' is the last to give 'Piet' a status and says 'dead'; allowed: 'dead'"),
        (with_value("background_log", [{"id": "e1", "phase": "P1", "kind": "death", "subject": "x", "text": "y"}]),
         "background_log: the id 'e1' is also that of an event"),
        (with_value("npcs.0.id", "two words"), "npcs[0].id: found 'two words'; allowed: text without blanks"),
        (with_value("npcs.0.id", ""), "npcs[0].id: found ''; allowed: text that is not empty"),
        (with_value("npcs.0.name", "  "), "npcs[0].name: found '  '; allowed: text that is not blank"),
        (with_value("npcs.0.name", None), "npcs[0].name: found nothing; allowed: text"),
        (with_value("protagonist", 7), "protagonist: found 7; allowed: text"),
        (with_value("protagonist", "x" * 5000), "protagonist: found 'xxx"),
        (with_value("npcs.0.unresolved", "yes"), "npcs[0].unresolved: found 'yes'; allowed: true or false"),
        (with_value("npcs.0.unresolved", 1), "npcs[0].unresolved: found 1; allowed: true or false"),
        (with_value("npcs.0.tie", "foe"), "npcs[0].tie: found 'foe'; allowed: 'enemy', 'rival', 'ally'"),
        (with_value("npcs", {"odo": {}}), "npcs: found a mapping; allowed: a list"),
        (with_value("npcs.0", "Odo"), "npcs[0]: found 'Odo'; allowed: a mapping with evidence, id, name"),
        (with_value("goals", [{"id": f"g{n}", "text": "t"} for n in range(1001)]), "goals: found a list; allowed: at most 1000 items"),
        (with_value("hooks.0.tier", 4), "hooks[0].tier: found 4; allowed: 1, 2 or 3"),
        (with_value("hooks.0.tier", 0), "hooks[0].tier: found 0; allowed: 1, 2 or 3"),
        (with_value("hooks.0.tier", True), "hooks[0].tier: found true; allowed: 1, 2 or 3"),
        (with_value("hooks.0.tier", "1"), "hooks[0].tier: found '1'; allowed: 1, 2 or 3"),
        (with_value("hooks.0.tier", 1.0), "hooks[0].tier: found 1.0; allowed: 1, 2 or 3"),
        (with_value("hooks.0.tier", None), "hooks[0].tier: found nothing; allowed: 1, 2 or 3"),
        (with_value("events.0.gravity", 0), f"events[0].gravity: found 0; {DIMENSION}"),
        (with_value("events.0.gravity", 11), f"events[0].gravity: found 11; {DIMENSION}"),
        (with_value("events.0.gravity", -3), f"events[0].gravity: found -3; {DIMENSION}"),
        (with_value("events.0.gravity", True), f"events[0].gravity: found true; {DIMENSION}"),
        (with_value("events.0.gravity", 7.5), f"events[0].gravity: found 7.5; {DIMENSION}"),
        (with_value("events.0.gravity", 7.0), f"events[0].gravity: found 7.0; {DIMENSION}"),
        (with_value("events.0.gravity", "7"), f"events[0].gravity: found '7'; {DIMENSION}"),
        (with_value("events.0.gravity", "=NaN"), f"events[0].gravity: found nan; {DIMENSION}"),
        (with_value("events.0.gravity", "=-Infinity"), f"events[0].gravity: found -inf; {DIMENSION}"),
        (with_value("events.0.gravity", "=1e999"), f"events[0].gravity: found inf; {DIMENSION}"),
        (with_value("events.0.gravity", "=" + "9" * 100), f"events[0].gravity: found a huge number; {DIMENSION}"),
        (with_value("events.0.gravity", [7]), f"events[0].gravity: found a list; {DIMENSION}"),
        (with_value("events.0.gravity", None), "events[0]: no gravity: all four dimensions or none"),
        (with_value("events.0.phase", "P4"), "events[0].phase: found 'P4'; allowed: 'P1', 'P2' or 'P3'"),
        (with_value("events.0.physical", [{"kind": "age"}]), "events[0].physical[0]: an age without a number"),
        (with_value("events.0.physical", [{"kind": "age", "age": -1}]), "events[0].physical[0].age: found -1; allowed: a whole number of at least 0"),
        (with_value("events.0.physical", [{"kind": "scar"}]), "events[0].physical[0]: a body change without a text that names it"),
        (with_value("events.0.inventory", [{"item": "x", "change": "eaten"}]), "events[0].inventory[0].change: found 'eaten'; allowed: 'gained', 'lost' or 'used'"),
    ],
)  # fmt: skip
def test_a_bad_ledger_is_refused_with_its_place_and_what_is_allowed(
    refused: Refused, tmp_path: Path, data: bytes, said: str
) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(data)
    assert refused("score", path).startswith(f"{path}: {said}")


@pytest.mark.parametrize("digits", [4000, 5000, 100_000])
def test_a_number_of_any_length_is_refused(refused: Refused, tmp_path: Path, digits: int) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(with_value("events.0.gravity", "=" + "9" * digits))
    assert len(refused("score", path)) < 500


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (lambda d: d | {"mood": 1}, "mood: unknown field"),
        (lambda d: d | {"source_sha256": "XY" + d["source_sha256"][2:]}, "source_sha256: found 'XY"),
        (lambda d: d["ledger"]["hooks"][0].update(tier=4) or d, "ledger.hooks[0].tier: found 4; allowed: 1, 2 or 3"),
        (lambda d: d["ledger"]["hooks"][0].update(npc="x") or d, "ledger.hooks[0].npc: 'x' is nobody"),
        (lambda d: d["ledger"]["hooks"][0]["evidence"][0].update(start=3) or d, "ledger.hooks[0].evidence: the quote"),
        (lambda d: d["ledger"]["hooks"][0]["evidence"][0].update(quote="was never in it") or d, "ledger.hooks[0].evidence: the quote 'was never in it' is not at"),
        (lambda d: d["ledger"]["hooks"][0].pop("evidence") and d, "ledger.hooks[0].evidence: no quote"),
        (lambda d: d["ledger"]["npcs"][0].update(name="Piet") or d, "ledger.npcs[0].evidence: the quote 'Odo Marsh still signs the ledgers' does not hold the name 'Piet'"),
        (lambda d: [d], "found a list; allowed: a mapping"),
    ],
)  # fmt: skip
def test_a_bad_lockfile_beside_a_story_is_refused(
    refused: Refused, locked: Path, tamper: Callable[[Any], Any], said: str
) -> None:
    path = locked / "tale.ledger.json"
    path.write_text(json.dumps(tamper(json.loads(path.read_bytes()))), encoding="utf-8")
    assert said in refused("check", "tale.md")


def test_a_truncated_lockfile_is_refused_by_every_command_that_reads_it(
    refused: Refused, locked: Path
) -> None:
    path = locked / "tale.ledger.json"
    path.write_bytes(path.read_bytes()[:-40])
    (locked / "tale.marks.yaml").unlink()
    for command in (["check", "tale.md"], ["advise", "tale.md"], ["relock", "tale.md"], ["annotate", "tale.md"],
                    ["score", "tale.ledger.json"], ["agree", "tale.ledger.json", "tale.ledger.json"]):  # fmt: skip
        assert refused(*command).startswith("tale.ledger.json: not valid JSON: ")


def test_a_bare_ledger_beside_a_story_is_no_lockfile(refused: Refused, locked: Path) -> None:
    (locked / "tale.ledger.json").write_bytes(json.dumps(GOOD).encode())
    assert refused("check", "tale.md").startswith("tale.ledger.json: ")


# YAML


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [1, 2", "not valid YAML: "),
        ("a: 'x", "not valid YAML: "),
        ("\ta: 1", "not valid YAML: "),
        ("a: b: c", "not valid YAML: mapping values are not allowed"),
        ("a: 1\n---\nb: 2", "not valid YAML: but found another document"),
        ("a: 1\nb: 2\na: 3", "line 3, column 1: not valid YAML: the key 'a' is given twice"),
        ("a:\n  b: 1\n  b: 2", "line 3, column 3: not valid YAML: the key 'b' is given twice"),
        ("a: &x [1]\nb: *x", "line 1: an anchor or alias (& or *); allowed: plain values; write the value out"),
        ("a: &a [*a]", "line 1: an anchor or alias"),
        ("a: {<<: *b}", "line 1: an anchor or alias"),
        ("a: &a ['lol','lol']\nb: &b [*a,*a]\nc: &c [*b,*b]", "line 1: an anchor or alias"),
        ("a: !!python/object/apply:os.system ['touch /tmp/x']", "line 1, column 4: not valid YAML: could not determine a constructor"),
        ("a: !!python/name:os.system", "line 1, column 4: not valid YAML: could not determine a constructor"),
        ("!!python/object/new:tuple [[1]]", "line 1, column 1: not valid YAML: could not determine"),
        ("a: !mine x", "line 1, column 4: not valid YAML: could not determine"),
        ("[" * 65, "line 1: nested more than 64 levels deep; allowed: at most 64"),
        ("[" * 200_000, " nest"),  # libyaml has a limit of its own
        ("{a: " * 100_000, " nest"),
        ("\n".join(" " * n + "a:" for n in range(1000)), "line 65: nested more than 64 levels deep"),
        ("- " * 70 + "x", "line 1: nested more than 64 levels deep"),
        ("? [a]\n: b", "not valid YAML: found unhashable key"),
        ("a: 2020-13-45", "not valid YAML: month must be in 1..12"),
        ("a: " + "9" * 10_000, "not valid YAML: Exceeds the limit"),
        ("a: \x01", "not valid YAML: "),
        ("x: " + "y" * (1024 * 1024), "more than 1,024 KiB of YAML; allowed: at most 1,024 KiB"),
    ],
)  # fmt: skip
def test_bad_yaml_is_one_line_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        load_yaml(text, "x.yaml")
    message = str(caught.value)
    assert message.startswith("x.yaml: ")
    assert said in message
    assert message.isprintable()


def test_yaml_that_names_an_object_runs_nothing(tale: Path, refused: Refused) -> None:
    (tale / "tale.marks.yaml").write_text("sheet: !!python/object/apply:os.mkdir [owned]\n", encoding="utf-8")
    assert refused("lock", "tale.md").startswith("tale.marks.yaml: line 1, column 8: not valid YAML: ")
    assert not (tale / "owned").exists()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"sheet: 1\nprotagonist: \xe9", "line 2: byte 0xe9 is not UTF-8; allowed: text in UTF-8; save it again as UTF-8"),
        ("sheet: 1".encode("utf-16"), "saved as UTF-16; allowed: UTF-8"),
        (b"sheet: 1\nprotagonist: a\x00b", "line 2: a NUL character"),
        (b"x" * (1024 * 1024 + 1), "larger than 1,024 KiB"),
        (b"", "found nothing; allowed: a mark sheet"),
        (b"sheet: 1\nsheet: 1", "line 2, column 1: not valid YAML: the key 'sheet' is given twice"),
    ],
)  # fmt: skip
def test_a_bad_sheet_is_refused_and_no_lockfile_is_written(
    tale: Path, refused: Refused, data: bytes, said: str
) -> None:
    (tale / "tale.marks.yaml").write_bytes(data)
    assert refused("lock", "tale.md").startswith(f"tale.marks.yaml: {said}")


def test_a_bad_sheet_leaves_the_lockfile_that_is_there(locked: Path, refused: Refused) -> None:
    (locked / "tale.marks.yaml").write_text("sheet: 1", encoding="utf-8")
    assert "no protagonist" in refused("lock", "tale.md")


# Prose


@pytest.mark.parametrize("command", [["check"], ["advise"], ["annotate", "--force"], ["lock"], ["relock"]])
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"Once\nupon a caf\xe9", "line 2: byte 0xe9 is not UTF-8; allowed: text in UTF-8; save it again as UTF-8"),
        ("Once upon".encode("utf-16"), "saved as UTF-16; allowed: UTF-8; save it again as UTF-8"),
        ("Once upon".encode("utf-16-be"), "a NUL character"),
        (b"Once\n\x00upon", "line 2: a NUL character; allowed: text in UTF-8"),
        (b"---\nid: a\nOnce upon a time", "line 1: the front matter is never closed; allowed: a second line of ---"),
        (b"---\nid: [a\n---\nOnce", "not valid YAML"),
        (b"---\nid: a\nid: b\n---\nOnce", "line 3, column 1: not valid YAML: the key 'id' is given twice"),
        (b"---\njust words\n---\nOnce", "line 2: the front matter is 'just words'; allowed: a mapping"),
        (b"---\na: &x 1\n---\nOnce", "line 2: an anchor or alias"),
        (b"---\nprofil: campaign\n---\nOnce", "front matter: unknown key 'profil'; allowed: profile"),
        (b"---\nbackground-log: []\n---\nOnce", "front matter: unknown key 'background-log'; allowed: background_log"),
        (b"---\nExpect: {}\n---\nOnce", "front matter: unknown key 'Expect'; allowed: expect"),
        (b"---\nprofile: Epic!\n---\nOnce", "profile: found 'Epic!'"),
        (b"---\nid: two words\n---\nOnce", "id: found 'two words'; allowed: text without blanks"),
        (b"---\ntitle: [7]\n---\nOnce", "title: found a list; allowed: text"),
        (b"---\nexpect: {gate: maybe}\n---\nOnce", "expect.gate: found 'maybe'; allowed: 'pass' or 'fail'"),
        (b"---\nexpect: {lpi: high}\n---\nOnce", "expect.lpi: found 'high'; allowed: a number such as 0.452 or 251/300"),
        (b"---\nexpect: {lpi: .nan}\n---\nOnce", "expect.lpi: found 'nan'; allowed: a number"),
        (b"---\nexpect: {pcv: 1e999}\n---\nOnce", "expect.pcv: found "),
        (b"---\nexpect: {consistency: true}\n---\nOnce", "expect.consistency: found true"),
        (b"---\nexpect: {consistency: 1, faults: [age-fell]}\n---\nOnce", "expect.faults: faults beside consistency: 1"),
        (b"---\nexpect: {gate: pass, reasons: [lpi]}\n---\nOnce", "expect.reasons: reasons to fail beside gate: pass"),
        (b"---\nexpect: {quadrent: x}\n---\nOnce", "expect.quadrent: unknown field; allowed: gate, reasons, quadrant"),
        (b"---\nbackground_log: [{id: a}]\n---\nOnce", "background_log[0].phase: missing"),
    ],
)  # fmt: skip
def test_a_story_that_cannot_be_used_is_refused_by_every_command(
    tmp_path: Path, refused: Refused, command: list[str], data: bytes, said: str
) -> None:
    path = tmp_path / "tale.md"
    path.write_bytes(data)
    line = refused(*command, path)
    assert line.startswith(f"{path}: ")
    assert said in line


def test_a_file_of_50_megabytes_is_refused(tmp_path: Path, refused: Refused) -> None:
    for name in ("big.md", "big.json"):
        with (tmp_path / name).open("wb") as stream:
            stream.truncate(50 * 1024 * 1024)
    for command, name in (("check", "big.md"), ("annotate", "big.md"), ("score", "big.json")):
        line = refused(command, tmp_path / name)
        assert line == f"{tmp_path}/{name}: larger than 8,192 KiB; allowed: at most 8,192 KiB"


@pytest.mark.parametrize("body", ["", "   \n\n", "---\nid: a\n---\n\n  \n"])
@pytest.mark.parametrize("command", ["check", "annotate"])
def test_a_story_without_prose_is_refused(tmp_path: Path, refused: Refused, command: str, body: str) -> None:
    (tmp_path / "tale.md").write_text(body, encoding="utf-8")
    assert (
        refused(command, tmp_path / "tale.md")
        == f"{tmp_path}/tale.md: no prose in this file; allowed: a story"
    )


def test_each_bad_story_of_a_folder_is_one_line_and_the_good_ones_are_judged(
    locked: Path, ludic: Ludic
) -> None:
    (locked / "a.md").write_bytes(b"caf\xe9")
    (locked / "z.md").write_bytes(b"---\nid: a")
    ran = ludic("check", ".")
    assert ran.code == 2
    assert [line.split(": ")[1] for line in ran.faults] == ["a.md", "z.md"]
    assert "tale.md" in ran.out
    assert "2 files cannot be used" in ran.out


# Paths


def test_a_missing_file_is_refused_by_every_command(tmp_path: Path, refused: Refused) -> None:
    gone = tmp_path / "gone.md"
    for command in ("check", "advise", "annotate", "lock", "relock", "score"):
        assert refused(command, gone) == f"{gone}: no such file"
    assert refused("agree", gone, gone) == f"{gone}: no such file"
    assert refused("bible", "check", tmp_path / "gone") == f"{tmp_path}/gone: no such folder"


def test_a_folder_where_a_file_is_expected_is_refused(tale: Path, refused: Refused) -> None:
    folder = tale / "in.md"
    folder.mkdir()
    (folder / "x.txt").write_text("x", encoding="utf-8")
    assert refused("score", folder) == f"{folder}: this is a folder; allowed: a file"
    assert refused("annotate", folder) == f"{folder}: this is a folder; allowed: a file"
    assert refused("agree", folder, folder) == f"{folder}: this is a folder; allowed: a file"
    assert refused("check", folder) == f"{folder}: no stories here; allowed: files ending in .markdown or .md"


def test_a_folder_in_the_place_of_a_lockfile_or_a_sheet_is_refused(tale: Path, refused: Refused) -> None:
    (tale / "tale.ledger.json").mkdir()
    assert refused("annotate", "--force", "tale.md") == "tale.ledger.json: this is a folder; allowed: a file"
    assert refused("check", "tale.md") == "tale.ledger.json: this is a folder; allowed: a file"
    assert refused("lock", "tale.md").startswith("tale.ledger.json: cannot be written")
    (tale / "tale.marks.yaml").unlink()
    (tale / "tale.marks.yaml").mkdir()
    assert refused("lock", "tale.md") == "tale.marks.yaml: this is a folder; allowed: a file"


def test_a_story_without_a_sheet_cannot_be_locked_and_one_without_a_lockfile_not_relocked(
    tale: Path, refused: Refused
) -> None:
    assert refused("relock", "tale.md").startswith("tale.ledger.json: no such file")
    (tale / "tale.marks.yaml").unlink()
    assert refused("lock", "tale.md") == (
        "tale.md: no mark sheet beside it; allowed: tale.marks.yaml; run first: ludic annotate tale.md"
    )


def test_an_empty_folder_is_refused(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "README.md").write_text("Read me.", encoding="utf-8")
    (tmp_path / "blank.md").write_text("\n", encoding="utf-8")
    for command in ("check", "advise", "lock", "relock"):
        assert (
            refused(command, tmp_path)
            == f"{tmp_path}: no stories here; allowed: files ending in .markdown or .md"
        )


def test_what_is_no_story_is_refused(tmp_path: Path, refused: Refused) -> None:
    for name, kind in (("tale.docx", ".docx"), ("tale", "no ending"), ("tale.ledger.json", ".json")):
        (tmp_path / name).write_text("x", encoding="utf-8")
        assert (
            refused("check", tmp_path / name)
            == f"{tmp_path}/{name}: not a story ({kind}); allowed: .markdown or .md"
        )


def test_a_link_out_of_a_folder_is_not_followed(locked: Path, ludic: Ludic, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("A secret.", encoding="utf-8")
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "other.md").write_text("Another.", encoding="utf-8")
    (locked / "link.md").symlink_to(tmp_path / "secret.md")
    (locked / "folder").symlink_to(tmp_path / "away")
    ran = ludic("check", locked, "--json")
    assert [story["id"] for story in json.loads(ran.out)["stories"]] == ["tale"]


def test_a_link_to_nowhere_or_to_itself_is_no_story(locked: Path, ludic: Ludic, refused: Refused) -> None:
    (locked / "gone.md").symlink_to(locked / "nowhere.md")
    (locked / "loop.md").symlink_to(locked / "loop.md")
    ran = ludic("check", locked, "--json")
    assert [story["id"] for story in json.loads(ran.out)["stories"]] == ["tale"]
    assert "gone.md: no such file" in refused("check", "gone.md")
    assert "loop.md: cannot be read" in refused("check", "loop.md")


@pytest.mark.skipif(os.name == "nt", reason="a named pipe")
def test_a_pipe_in_a_folder_is_no_story_and_does_not_hang(locked: Path, ludic: Ludic) -> None:
    os.mkfifo(locked / "pipe.md")
    assert ludic("check", locked).err == ""


@pytest.mark.parametrize(
    "name",
    [
        "../log.yaml",
        "/etc/passwd",
        "../../log.yaml",
        "log.txt",
        "inside/../../log.yaml",
        "link.yaml",
        "~/log.yaml",
    ],
)
def test_a_background_log_outside_the_storys_folder_is_refused(
    tale: Path, refused: Refused, name: str
) -> None:
    (tale.parent / "log.yaml").write_text("[]", encoding="utf-8")
    (tale / "link.yaml").symlink_to(tale.parent / "log.yaml")
    (tale / "tale.md").write_text(f"---\nbackground_log: {name}\n---\nOnce.", encoding="utf-8")
    line = refused("check", "tale.md")
    if name.startswith("~"):
        assert line == "~/log.yaml: no such file"
    else:
        assert (
            line
            == f"tale.md: background_log: found '{name}'; allowed: a list of events, or a .yaml file in the story's folder"
        )


def test_a_background_log_with_a_nul_in_its_name_is_refused(tale: Path, refused: Refused) -> None:
    (tale / "tale.md").write_text('---\nbackground_log: "a\\0.yaml"\n---\nOnce.', encoding="utf-8")
    assert refused("check", "tale.md").startswith("tale.md: background_log: found 'a\ufffd.yaml'")


def test_a_background_log_in_a_file_of_its_own_is_checked(tale: Path, refused: Refused) -> None:
    (tale / "tale.md").write_text("---\nbackground_log: log.yaml\n---\nOnce.", encoding="utf-8")
    assert refused("check", "tale.md") == "log.yaml: no such file"
    (tale / "log.yaml").write_text("- {id: a, phase: P9, kind: death, subject: x, text: y}", encoding="utf-8")
    assert "background_log[0].phase: found 'P9'; allowed: 'P1', 'P2' or 'P3'" in refused("check", "tale.md")
    (tale / "log.yaml").write_text("7", encoding="utf-8")
    assert "background_log: found 7; allowed: a list" in refused("check", "tale.md")


@pytest.mark.parametrize("name", ["nowhere", "nowhere@v1", "faerun@v9", "bad"])
def test_a_bible_that_is_not_there_is_refused(locked: Path, refused: Refused, name: str) -> None:
    (locked / "bible" / "faerun" / "v1").mkdir(parents=True)
    (locked / "bible" / "faerun" / "v1" / "bible.yaml").write_text(
        "schema_version: 1\nid: f\nname: F\n", encoding="utf-8"
    )
    (locked / "bible" / "bad").mkdir()
    tale = locked / "tale.md"
    tale.write_text(f"---\nbible: {name}\n---\n{tale.read_text(encoding='utf-8')}", encoding="utf-8")
    line = refused("check", "tale.md")
    assert name.partition("@")[0] in line
    assert "allowed: " in line or "no such" in line


@pytest.mark.parametrize(
    "name", ["../bible/faerun", "/etc", "a/b", "..", "a\\b", "faerun@latest", "'a b'", "''"]
)
def test_a_bible_given_as_a_path_is_refused(locked: Path, refused: Refused, name: str) -> None:
    tale = locked / "tale.md"
    tale.write_text(f"---\nbible: {name}\n---\n{tale.read_text(encoding='utf-8')}", encoding="utf-8")
    line = refused("check", "tale.md")
    assert line.startswith("tale.md: bible: found '")
    assert "allowed: " in line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "found nothing; allowed: a mapping with schema_version, id, name and nodes"),
        ("[]", "found a list; allowed: a mapping"),
        ("schema_version: 1\nid: x", "name: missing"),
        ("schema_version: 1\nid: x\nname: X\nfaction: []", "faction: unknown field; allowed: schema_version, id, name"),
        ("schema_version: 1\nid: x\nname: X\nlocations: [{id: a, name: A, text: t, allegiance: q}]",
         "locations[0].allegiance: 'q' is none of the factions; allowed: there are none"),
        ("schema_version: 1\nid: x\nname: X\nfactions: [{id: a, name: A, text: t}, {id: b, name: a, text: t}]",
         "factions[1]: 'a' is also a name of 'a'"),
        ("schema_version: 1\nid: x\nname: X\nname: Y", "line 4, column 1: not valid YAML: the key 'name' is given twice"),
    ],
)  # fmt: skip
def test_a_bad_bible_is_refused(tmp_path: Path, refused: Refused, text: str, said: str) -> None:
    (tmp_path / "bible.yaml").write_text(text, encoding="utf-8")
    assert refused("bible", "check", tmp_path).startswith(f"{tmp_path}/bible.yaml: {said}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("profile = ", "not valid TOML: "),
        ("profile = 'epic'", "tool.ludic.profile: found 'epic'; allowed: campaign or one-shot or cosy or submission"),
        ("mood = 1", "tool.ludic.mood: unknown setting; allowed: active_cap, "),
        ("fail_on = 'gate'", "tool.ludic.fail_on: found 'gate'; allowed: a list of gate, mysteries, warnings and codes"),
        ("fail_on = ['x']", "tool.ludic.fail_on: found a list"),
        ("lpi_gate = 'high'", "tool.ludic.lpi_gate: found 'high'; allowed: a number"),
        ("lpi_gate = nan", "tool.ludic.lpi_gate: found NaN; allowed: a number"),
        ("lpi_gate = inf", "tool.ludic.lpi_gate: found Infinity; allowed: a number"),
        ("lpi_gate = 1e999999", "tool.ludic.lpi_gate: found 1E+999999; allowed: a number"),
        ("lpi_gate = 2", "tool.ludic.lpi_gate: found 2.0; allowed: a number from 0 to 1"),
        ("lpi_gate = true", "tool.ludic.lpi_gate: found true; allowed: a number"),
        ("weights = [0.4, 0.3, 0.2, 0.2]", "tool.ludic.weights: found 0.4, 0.3, 0.2, 0.2; allowed: four shares that sum to 1"),
        ("goal_cap = 2.5", "tool.ludic.goal_cap: found 2.5; allowed: a whole number"),
        ("a = " + "[" * 5000, ""),
    ],
)  # fmt: skip
def test_a_bad_configuration_is_refused(locked: Path, refused: Refused, text: str, said: str) -> None:
    (locked / "ludic.toml").write_text(text, encoding="utf-8")
    line = refused("check", "tale.md")
    assert line.startswith(f"{locked}/ludic.toml: ")
    assert said in line


# The call


def test_a_profile_or_a_schema_that_does_not_exist_is_refused(locked: Path, refused: Refused) -> None:
    said = "--profile: found 'epic'; allowed: campaign, one-shot, cosy, submission"
    assert refused("check", "tale.md", "--profile", "epic") == said
    assert refused("advise", "tale.md", "--profile", "epic") == said
    assert refused("score", "tale.ledger.json", "--profile", "epic") == said
    assert refused("schema", "--for", "cat") == "--for: found 'cat'; allowed: ledger, lockfile, bible, notary"


@pytest.mark.parametrize(
    "arguments", [["check"], ["score"], ["nonsense"], ["check", "--nonsense", "x"], ["agree", "a"]]
)
def test_a_call_that_is_wrong_exits_with_2(ludic: Ludic, arguments: list[str]) -> None:
    ran = ludic(*arguments)
    assert ran.code == 2
    assert "Usage" in ran.err
    assert "Traceback" not in ran.err


def test_readings_of_different_prose_cannot_be_compared(locked: Path, refused: Refused) -> None:
    data = json.loads((locked / "tale.ledger.json").read_bytes())
    data["source_sha256"] = "0" * 64
    (locked / "b.json").write_text(json.dumps(data), encoding="utf-8")
    assert refused("agree", "tale.ledger.json", "b.json") == (
        "b.json: source_sha256: a reading of other prose; allowed: the prose of tale.ledger.json"
    )


def test_a_sheet_that_is_there_is_not_written_over(tale: Path, refused: Refused) -> None:
    assert refused("annotate", "tale.md") == (
        "tale.marks.yaml: there is a mark sheet already; edit it and run: ludic lock tale.md; or --force to write it anew from the lockfile"
    )


def test_a_stale_story_cannot_be_annotated(locked: Path, refused: Refused) -> None:
    with (locked / "tale.md").open("a", encoding="utf-8") as stream:
        stream.write("\n\nAnd more.\n")
    assert refused("annotate", "--force", "tale.md") == (
        "tale.ledger.json: the prose has changed since it was read; run first: ludic relock tale.md"
    )


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_one_line(tale: Path, refused: Refused) -> None:
    tale.chmod(0o555)
    try:
        assert "cannot be written" in refused("lock", "tale.md")
    finally:
        tale.chmod(0o755)


# Terminals

ESCAPES = "\x1b[31mred\x1b]0;title\x07\x9b2J\u202eevil\u2028\r\n\x08"


def safe(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


def test_escape_sequences_in_names_reach_no_terminal(tale: Path, ludic: Ludic) -> None:
    quoted = json.dumps(ESCAPES)
    sheet = (tale / "tale.marks.yaml").read_text(encoding="utf-8")
    sheet = (
        sheet.replace("Ysolde", quoted)
        .replace("text: reach a judge", f"text: {quoted}")
        .replace("summary: the mill burns", f"summary: {quoted}, location: {quoted}")
        .replace("id: fire", f"id: {json.dumps(''.join(ESCAPES.split()))}")
        .replace("name: Odo Marsh", f"name: {quoted}, aliases: [Odo Marsh]")
    )
    (tale / "tale.marks.yaml").write_text(
        sheet.replace("\x9b", "\\x9b").replace("\u2028", "\\u2028"), encoding="utf-8"
    )
    body = (tale / "tale.md").read_text(encoding="utf-8")
    (tale / "tale.md").write_text(
        f"---\ntitle: {quoted}\n---\n{body}".replace("\x9b", "\\x9b").replace("\u2028", "\\u2028"),
        encoding="utf-8",
    )
    assert ludic("lock", "tale.md").err == ""
    for command in (
        ["check", "tale.md"],
        ["advise", "tale.md"],
        ["score", "tale.ledger.json"],
        ["agree", "tale.ledger.json", "tale.ledger.json"],
    ):
        ran = ludic(*command)
        assert ran.err == ""
        assert safe(ran.out)
    with (tale / "tale.md").open("ab") as stream:
        stream.write(b"\n\nSomething \x1b[31mnew\x1b[0m has come.\n")
    ran = ludic("relock", "tale.md")
    assert "unread" in ran.out
    assert safe(ran.out)
    assert safe(ludic("check", "tale.md").out)


def test_escape_sequences_in_what_an_error_tells_reach_no_terminal(tmp_path: Path, refused: Refused) -> None:
    hostile = "".join(ESCAPES.split())
    data = GOOD | {"npcs": [{"id": hostile, "name": "x"}], "events": []}
    (tmp_path / "a.json").write_text(json.dumps(data), encoding="utf-8")
    assert "'odo' is nobody; allowed: the id of one of npcs: �[31mred" in refused(
        "score", tmp_path / "a.json"
    )
    (tmp_path / "b.json").write_text(json.dumps(GOOD | {hostile: 1}), encoding="utf-8")
    assert "unknown field" in refused("score", tmp_path / "b.json")
    (tmp_path / "c.json").write_text(json.dumps(GOOD | {"protagonist": {hostile: 1}}), encoding="utf-8")
    assert "protagonist: found a mapping" in refused("score", tmp_path / "c.json")
    assert "found '�[31mred" in refused("check", tmp_path, "--profile", hostile)
    assert "no such file" in refused("check", tmp_path / f"{hostile}.md")


@pytest.mark.skipif(os.name == "nt", reason="such names cannot be made")
def test_escape_sequences_in_the_name_of_a_file_reach_no_terminal(tmp_path: Path, ludic: Ludic) -> None:
    path = tmp_path / "a\x1b[31m\nb.md"
    path.write_text("Once upon a time.", encoding="utf-8")
    for command in (["check"], ["advise"], ["annotate"], ["lock"], ["relock"]):
        ran = ludic(*command, path)
        assert safe(ran.out)
        assert safe(ran.err)
        assert len(ran.faults) == (0 if command[0] in {"check", "advise", "annotate"} else 1)


def test_a_text_is_shown_bounded_and_without_anything_a_terminal_obeys() -> None:
    assert clean("a\x1b[0mb\nc\u202ed\u2066e\ud800") == "a�[0mb�c�d�e�"
    assert clean("x" * 81) == "x" * 80 + "…"
    assert clean("Zoë 葛含烟 😀 👩\u200d🚒 عمر") == "Zoë 葛含烟 😀 👩\u200d🚒 عمر"
    assert [shown(value) for value in ("a", {}, [], None, True, 7, 7.5, 10**5000)] == [
        "'a'", "a mapping", "a list", "nothing", "true", "7", "7.5", "a huge number",
    ]  # fmt: skip


# Good input stays good


@pytest.mark.parametrize(
    "name",
    ['Odo "the Reeve" Marsh', "O’Brien", "O'Brien-Marsh", "Zoe\u0308", "葛含烟", "عمر الخيام", "👩\u200d🚒 Ada", "Ann: #1", "{Odo}", "- Odo", "Ｏｄｏ", "Null", "№ 7"],
)  # fmt: skip
def test_a_name_of_any_script_or_punctuation_is_locked_and_judged(
    tale: Path, ludic: Ludic, name: str
) -> None:
    for file in ("tale.md", "tale.marks.yaml"):
        text = (tale / file).read_text(encoding="utf-8")
        if file == "tale.marks.yaml":
            quote = json.dumps(f"{name} still signs the ledgers", ensure_ascii=False)
            text = text.replace("name: Odo Marsh", f"name: {json.dumps(name, ensure_ascii=False)}")
            text = text.replace("quote: Odo Marsh still signs the ledgers", f"quote: {quote}")
        else:
            text = text.replace("Odo Marsh", name)
        (tale / file).write_text(text, encoding="utf-8")
    ran = ludic("lock", "tale.md")
    assert (ran.code, ran.err) == (0, "")
    ran = ludic("check", "tale.md", "--json")
    assert (ran.code, ran.err) == (0, "")
    [story] = json.loads(ran.out)["stories"]
    assert story["state"] == "read"
    assert ludic("score", "tale.ledger.json").err == ""
