import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ludic_deepeval.check import check_stories
from ludic_deepeval.report.as_text import check_text

Ludic = Callable[..., Any]

ROOT = Path(__file__).parents[2]
BACKSTORIES = ROOT / "test_cases" / "backstories"
DEMO = ROOT / "ludic_deepeval" / "demo"
LUDIC = [sys.executable, "-c", "from ludic_deepeval.cli import main; main()"]


def run(
    *arguments: object, env: dict[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*LUDIC, *map(str, arguments)],
        capture_output=True,
        check=False,
        cwd=cwd,
        env=os.environ | (env or {}),
    )


# Exit codes


def test_check_exits_with_0_when_all_holds_and_1_when_something_does_not(locked: Path, ludic: Ludic) -> None:
    assert ludic("check", "tale.md").code == 0
    (locked / "ludic.toml").write_text('fail_on = ["gate"]', encoding="utf-8")
    assert ludic("check", "tale.md").code == 1


def test_check_of_an_unread_story_exits_with_1_unless_it_is_allowed(tale: Path, ludic: Ludic) -> None:
    assert ludic("check", "tale.md").code == 1
    assert ludic("check", "--allow-unread", "tale.md").code == 0


def playable(folder: Path) -> Path:
    """A ledger that passes the gate: three people, four goals, three mysteries, five urgent threads, four grave events."""
    data = {
        "schema_version": 1,
        "protagonist": "Y",
        "npcs": [{"id": f"n{n}", "name": f"N{n}", "unresolved": True} for n in range(3)],
        "hooks": [{"id": f"h{n}", "text": "t", "tier": 1} for n in range(5)],
        "goals": [{"id": f"g{n}", "text": "t"} for n in range(4)],
        "mysteries": [{"id": f"m{n}", "text": "somebody paid for it"} for n in range(3)],
        "events": [
            {
                "id": f"e{n}",
                "phase": "P3",
                "summary": "s",
                "immediacy": 9,
                "gravity": 3 * n,
                "linkage": 5,
                "divergence": 5,
            }
            for n in range(1, 4)
        ],
    }
    path = folder / "playable.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_score_exits_with_0_at_the_gate_and_1_below_it(locked: Path, ludic: Ludic) -> None:
    ran = ludic("score", playable(locked), "--json")
    data = json.loads(ran.out)
    # 3 events · (36 + 10) and 4 · (3 + 6 + 9): every band holds one event, so all count in full.
    assert (ran.code, data["lpi"], data["pcv"], data["gate"]) == (0, 1, 210, {"passed": True, "reasons": []})
    assert (data["version"], data["profile"], data["quadrant"]) == (1, "campaign", "campaign-ready")
    ran = ludic("score", "tale.ledger.json")
    assert ran.code == 1
    assert "people with unfinished business 1; open threads 1 (1 urgent); goals pursued 1" in ran.out
    assert "youth" not in ran.out
    assert "P2 fire: 55 (immediacy 3, gravity 8, linkage 5, divergence 6)" in ran.out


def test_score_takes_a_lockfile_or_a_bare_ledger_and_gives_the_same(locked: Path, ludic: Ludic) -> None:
    bare = json.loads((locked / "tale.ledger.json").read_bytes())["ledger"]
    (locked / "bare.json").write_text(json.dumps(bare), encoding="utf-8")
    one, two = (json.loads(ludic("score", name, "--json").out) for name in ("tale.ledger.json", "bare.json"))
    assert (one.pop("path"), two.pop("path")) == ("tale.ledger.json", "bare.json")
    assert one == two


def test_score_follows_the_profile(locked: Path, ludic: Ludic) -> None:
    assert "PCV 55 (150 needed)" in ludic("score", "tale.ledger.json").out
    assert "PCV 55 (100 needed)" in ludic("score", "tale.ledger.json", "--profile", "one-shot").out


def test_advise_says_changes_that_pass_the_gate_and_exits_with_1(locked: Path, ludic: Ludic) -> None:
    ran = ludic("advise", "tale.md", "--json", "--profile", "one-shot")
    assert ran.code == 1
    data = json.loads(ran.out)
    [row] = data["stories"]
    assert set(row) == {"path", "id", "passed", "fixes", "unscored"}
    assert (row["id"], row["passed"]) == ("tale", False)
    for fix in row["fixes"]:
        assert set(fix) == {"changes", "lpi", "pcv", "text"}
        assert fix["lpi"] >= 0.7
        assert fix["pcv"] >= 100
    assert row["unscored"] is None
    (locked / "ludic.toml").write_text("lpi_gate = 0\npcv_gate = 0", encoding="utf-8")
    ran = ludic("advise", "tale.md")
    assert (ran.code, ran.out) == (0, "tale.md\n  ready to play; nothing to add\n")


def test_advise_on_an_unread_story_exits_with_1(tale: Path, ludic: Ludic) -> None:
    ran = ludic("advise", "tale.md")
    assert ran.code == 1
    assert "not read yet" in ran.out


def test_annotate_writes_a_sheet_once(tale: Path, ludic: Ludic) -> None:
    (tale / "tale.marks.yaml").unlink()
    ran = ludic("annotate", "tale.md")
    assert (ran.code, ran.out) == (0, "tale.marks.yaml: fill it in, then run: ludic lock tale.md\n")
    first = (tale / "tale.marks.yaml").read_bytes()
    assert ludic("annotate", "tale.md").code == 2
    assert ludic("annotate", "--force", "tale.md").code == 0
    assert (tale / "tale.marks.yaml").read_bytes() == first
    assert ludic("lock", "tale.md").code == 2  # nobody has named the protagonist


def test_annotate_of_a_read_story_gives_its_ledger_back(locked: Path, ludic: Ludic) -> None:
    before = json.loads((locked / "tale.ledger.json").read_bytes())
    assert ludic("annotate", "--force", "tale.md").code == 0
    assert ludic("lock", "tale.md").code == 0
    after = json.loads((locked / "tale.ledger.json").read_bytes())
    assert after["ledger"] == before["ledger"]
    assert after["fingerprint"] == before["fingerprint"]


def test_annotate_keeps_the_sheet_that_was_there(tale: Path, ludic: Ludic) -> None:
    typed = (tale / "tale.marks.yaml").read_bytes()
    for _ in range(2):
        assert ludic("annotate", "--force", "tale.md").code == 0
        assert (tale / "tale.marks.yaml.bak").read_bytes() == typed


def test_annotate_after_an_edit_tells_what_is_new_and_what_was_lost(locked: Path, ludic: Ludic) -> None:
    path = locked / "tale.md"
    text = path.read_text(encoding="utf-8").replace(
        "Somebody had paid for the bell not to ring.", "The bell rang."
    )
    path.write_text(text + "\nThen a stranger came with a wooden leg.\n", encoding="utf-8")
    ran = ludic("relock", "tale.md")
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "tale.ledger.json: 4 quotes on their words, 1 lost, 1 paragraph unread",
        "  lost: mystery 'bell': “Somebody had paid for the bell not to ring”",
        "  unread: line 9: Then a stranger came with a wooden leg.…",
        "  then: ludic annotate --force tale.md to mark what is new; or, if there is nothing to mark: ludic relock --read tale.md",
    ]
    assert ludic("annotate", "--force", "tale.md").code == 0
    notes = [
        line
        for line in (locked / "tale.marks.yaml").read_text(encoding="utf-8").splitlines()
        if line.startswith("# ! ")
    ]
    assert notes[0] == "# ! not read yet: the paragraph at line 9"
    assert notes[1].startswith(
        "# ! mysteries: Somebody had paid for the bell not to ring: its words are no longer"
    )
    assert ludic("lock", "tale.md").code == 0
    assert ludic("check", "tale.md").code == 0


def test_lock_says_what_it_found(tale: Path, ludic: Ludic) -> None:
    ran = ludic("lock", ".")
    assert (ran.code, ran.out) == (0, "tale.ledger.json: 1 person, 1 hook, 1 goal, 1 mystery, 1 event\n")


def test_lock_of_many_goes_on_after_a_bad_one(tale: Path, ludic: Ludic) -> None:
    (tale / "a.md").write_text("No sheet for this.", encoding="utf-8")
    ran = ludic("lock", ".")
    assert ran.code == 2
    assert len(ran.faults) == 1
    assert (tale / "tale.ledger.json").is_file()


def test_relock_exits_with_0_when_every_quote_stands(locked: Path, ludic: Ludic) -> None:
    before = (locked / "tale.ledger.json").read_bytes()
    ran = ludic("relock", "tale.md")
    assert (ran.code, ran.out) == (
        0,
        "tale.ledger.json: 5 quotes on their words, 0 lost, 0 paragraphs unread\n",
    )
    assert (locked / "tale.ledger.json").read_bytes() == before


def test_agree_of_a_reading_with_itself_is_whole(locked: Path, ludic: Ludic) -> None:
    ran = ludic("agree", "tale.ledger.json", "tale.ledger.json", "--json")
    data = json.loads(ran.out)
    assert ran.code == 0
    assert data["version"] == 1
    assert [row["kind"] for row in data["kinds"]] == ["people", "events", "hooks", "goals", "mysteries"]
    for row in data["kinds"]:
        assert row == {"kind": row["kind"], "first": 1, "second": 1, "matched": 1, "same": 1, "f1": 1.0}
    assert data["first"] == data["second"]


def test_agree_counts_what_two_readers_share(locked: Path, ludic: Ludic) -> None:
    data = json.loads((locked / "tale.ledger.json").read_bytes())
    data["ledger"]["hooks"][0]["tier"] = 2
    data["ledger"]["goals"] = []
    data["ledger"]["npcs"][0]["id"] = data["ledger"]["hooks"][0]["npc"] = "marsh"
    (locked / "b.json").write_text(json.dumps(data), encoding="utf-8")
    ran = ludic("agree", "tale.ledger.json", "b.json", "--json")
    rows = {row["kind"]: row for row in json.loads(ran.out)["kinds"]}
    assert rows["people"]["same"] == 1
    assert (rows["hooks"]["matched"], rows["hooks"]["same"]) == (1, 0)
    assert (rows["goals"]["first"], rows["goals"]["second"], rows["goals"]["f1"]) == (1, 0, 0.0)
    text = ludic("agree", "tale.ledger.json", "b.json").out.splitlines()
    assert text[0].split() == ["A", "B", "both", "same", "answers", "F1"]
    assert text[3].split() == ["hooks", "1", "1", "1", "0", "of", "1", "1.00"]


@pytest.mark.parametrize(
    "folder", sorted(path for path in (ROOT / "bible").iterdir() if path.is_dir()), ids=lambda path: path.name
)
def test_every_bible_passes_its_check(ludic: Ludic, folder: Path) -> None:
    ran = ludic("bible", "check", folder, "--json")
    assert ran.code == 0
    data = json.loads(ran.out)
    assert list(data["nodes"]) == ["factions", "locations", "deities", "people", "history", "rules"]
    assert ludic("bible", "check", folder).out.startswith(
        f"{folder}: {data['name']} {data['bible_version']}: "
    )


@pytest.mark.skipif(not DEMO.is_dir(), reason="the demo has no stories yet")
def test_demo_shows_a_story_with_a_contradiction_and_exits_with_0(ludic: Ludic) -> None:
    ran = ludic("demo")
    assert (ran.code, ran.err) == (0, "")
    assert "error line " in ran.out


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["check"],
        ["score"],
        ["advise"],
        ["annotate"],
        ["lock"],
        ["relock"],
        ["agree"],
        ["schema"],
        ["bible"],
        ["bible", "check"],
        ["demo"],
    ],
)
def test_every_command_has_help(ludic: Ludic, command: list[str]) -> None:
    ran = ludic(*command, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert "Usage: ludic" in ran.out


# What a writer reads


def test_an_unread_story_is_told_in_one_line_word_for_word(tale: Path, ludic: Ludic) -> None:
    line = "tale.md: not read yet (no ledger). Mark it up: ludic annotate tale.md. No AI needed."
    assert ludic("check", "tale.md").out.splitlines() == [line, "", "1 story: 1 not read"]
    assert run("check", "tale.md", cwd=tale).stdout.decode().splitlines()[0] == line


def test_a_story_is_told_with_its_verdict_findings_and_smallest_fix(locked: Path, ludic: Ludic) -> None:
    lines = ludic("check", "tale.md").out.splitlines()
    assert lines[:2] == ["tale.md", "  not playable yet: too little is open and too little presses"]
    assert lines[2].startswith("  LPI 0.43 (RTN 0.29")
    assert lines[2].endswith("), PCV 55 (150 needed), insufficient tier")
    assert "  warning story: only one person has unfinished business with Ysolde  [few-people]" in lines
    assert lines[-1].startswith("1 story: 1 as it should be, 1 below the gate, which is a warning")


def test_a_title_stands_beside_the_path(locked: Path, ludic: Ludic) -> None:
    text = (locked / "tale.md").read_text(encoding="utf-8")
    (locked / "tale.md").write_text(f"---\ntitle: The Mill\n---\n{text}", encoding="utf-8")
    assert ludic("check", "tale.md").out.splitlines()[0] == "tale.md  The Mill"


def test_quiet_leaves_out_what_holds(locked: Path, ludic: Ludic) -> None:
    [line] = ludic("check", "-q", "tale.md").out.splitlines()
    assert line.startswith("1 story: 1 as it should be, ")
    (locked / "unread.md").write_text("Nobody has read this.", encoding="utf-8")
    out = ludic("check", "--quiet", ".").out
    assert "tale.md" not in out
    assert "unread.md: not read yet" in out
    assert "2 stories: 1 as it should be, 1 not read" in out


def test_json_goes_to_standard_output_and_complaints_to_standard_error(locked: Path, ludic: Ludic) -> None:
    (locked / "bad.md").write_bytes(b"\xff")
    ran = ludic("check", "--json", ".")
    assert json.loads(ran.out)["summary"]["stories"] == 1
    assert len(ran.faults) == 1


# Terminals and pipes


def test_no_colour_in_a_pipe(locked: Path) -> None:
    for env in ({"TERM": "xterm-256color"}, {"FORCE_COLOR": "1"}):
        ran = run("check", "tale.md", env=env, cwd=locked)
        assert (ran.returncode, ran.stderr) == (0, b"")
        assert b"\x1b" not in ran.stdout


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("env", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_on_a_terminal_unless_it_is_not_wanted(
    locked: Path, env: dict[str, str], coloured: bool
) -> None:
    import pty

    master, slave = pty.openpty()
    clean = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm"} | env
    ran = subprocess.run([*LUDIC, "check", "tale.md"], stdout=slave, check=False, cwd=locked, env=clean)
    os.close(slave)
    out = os.read(master, 100_000).decode()
    os.close(master)
    assert ran.returncode == 0
    assert ("\x1b[" in out) is coloured
    assert "not playable yet" in re.sub(r"\x1b\[\d+m", "", out)


def test_colours_wrap_words_and_change_none(locked: Path) -> None:
    result = check_stories([Path("tale.md")])
    marked = "\n".join(check_text(result, paint=lambda text, colour: f"<{colour}>{text}</>"))
    assert "<bold>tale.md</>" in marked
    assert re.sub(r"<[a-z]*>|</>", "", marked) == "\n".join(check_text(result))


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_of_any_encoding_ends_no_run(tale: Path, encoding: str) -> None:
    (tale / "葛.md").write_text("---\ntitle: 葛含烟 😀\n---\n葛含烟“站在”台口。", encoding="utf-8")
    env = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    ran = run("check", "葛.md", env=env, cwd=tale)
    assert (ran.returncode, ran.stderr) == (1, b"")
    ran = run("check", "--json", "葛.md", env=env, cwd=tale)
    assert json.loads(ran.stdout.decode(encoding))["stories"][0]["path"] == "葛.md"
    assert run("check", "没有.md", env=env, cwd=tale).stderr.count(b"\n") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_file_whose_name_is_no_text_ends_no_run(tale: Path) -> None:
    (tale / os.fsdecode(b"caf\xe9.md")).write_text("Once upon a time.", encoding="utf-8")
    for arguments in (["check", "."], ["annotate", os.fsdecode(b"caf\xe9.md")]):
        ran = run(*arguments, cwd=tale)
        assert (ran.returncode, ran.stderr) == (1 if arguments[0] == "check" else 0, b"")
    data = json.loads(run("check", "--json", ".", cwd=tale).stdout)
    assert [story["path"] for story in data["stories"]] == ["caf\udce9.md", "tale.md"]


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    for n in range(1500):
        (tmp_path / f"{n}.md").write_text("Once upon a time.", encoding="utf-8")
    command = [*LUDIC, "check", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_process_says_its_one_line_and_exits_with_2(tmp_path: Path) -> None:
    ran = run("check", "gone.md", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (2, b"ludic: gone.md: no such file\n")


# Schemas


def schema(ludic: Ludic, part: str) -> dict[str, Any]:
    ran = ludic("schema", "--for", part)
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)
    jsonschema.Draft202012Validator.check_schema(found)
    assert isinstance(found, dict)
    return found


LOCKFILES = sorted(BACKSTORIES.glob("*.ledger.json"))


def test_every_lockfile_and_its_ledger_fit_their_schemas(ludic: Ludic) -> None:
    ledger, lockfile = (
        jsonschema.Draft202012Validator(schema(ludic, part)) for part in ("ledger", "lockfile")
    )
    assert len(LOCKFILES) >= 8
    for path in LOCKFILES:
        data = json.loads(path.read_bytes())
        assert list(lockfile.iter_errors(data)) == []
        assert list(ledger.iter_errors(data["ledger"])) == []


def test_schema_alone_is_the_ledgers(ludic: Ludic) -> None:
    assert json.loads(ludic("schema").out) == schema(ludic, "ledger")
    assert schema(ludic, "ledger")["required"] == ["schema_version", "protagonist"]


def without_offsets(value: object) -> object:
    if isinstance(value, dict):
        return {
            key: without_offsets(part)
            for key, part in value.items()
            if key not in {"start", "end", "background_log"}
        }
    return [without_offsets(part) for part in value] if isinstance(value, list) else value


def test_the_notarys_schema_has_no_offsets_and_no_background_log_and_wants_evidence(ludic: Ludic) -> None:
    found = schema(ludic, "notary")
    text = json.dumps(found)
    for word in ('"start"', '"end"', "background_log", "BackgroundEvent", "offset"):
        assert word not in text
    assert set(found["$defs"]["Evidence"]["properties"]) == {"quote"}
    for name in ("Npc", "Event", "Hook", "Goal", "Mystery"):
        assert "evidence" in found["$defs"][name]["required"]
    notary = jsonschema.Draft202012Validator(found)
    for path in LOCKFILES:
        ledger = json.loads(path.read_bytes())["ledger"]
        assert list(notary.iter_errors(without_offsets(ledger))) == []
    bare = {"schema_version": 1, "protagonist": "Y", "goals": [{"id": "g", "text": "t"}]}
    assert [error.message for error in notary.iter_errors(bare)] == ["'evidence' is a required property"]


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": 2}, {"mood": 1}, {"protagonist": ""}, {"hooks": [{"id": "h", "text": "t", "tier": 4}]},
        {"events": [{"id": "e", "phase": "P4", "summary": "s"}]},
        {"events": [{"id": "e", "phase": "P1", "summary": "s", "gravity": 11}]},
        {"events": [{"id": "e", "phase": "P1", "summary": "s", "gravity": "7"}]},
        {"goals": [{"id": "two words", "text": "t"}]},
    ],
)  # fmt: skip
def test_the_schema_refuses_what_the_program_refuses(
    ludic: Ludic, tmp_path: Path, change: dict[str, Any]
) -> None:
    data = {"schema_version": 1, "protagonist": "Y"} | change
    assert list(jsonschema.Draft202012Validator(schema(ludic, "ledger")).iter_errors(data))
    (tmp_path / "x.json").write_text(json.dumps(data), encoding="utf-8")
    assert ludic("score", tmp_path / "x.json").code == 2


def test_in_a_job_on_github_no_line_is_a_command_of_the_runner(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runner obeys "##[…]" anywhere in a line and "::…::" at its beginning."""
    from ludic_deepeval.terminal import say

    text = "  “he said ##[add-mask]a”\n::stop-commands::x\n  ::error::y\nat ten :: at eleven"
    say(text)
    assert capsys.readouterr().out == f"{text}\n"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    say(text)
    lines = capsys.readouterr().out.splitlines()
    assert not any("##[" in line or line.lstrip().startswith("::") for line in lines)
    assert lines[3] == "at ten :: at eleven"
