"""Stories inside other files: found, marked, locked, checked and moved along as those in Markdown are."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.changed import changed_stories
from ludic_deepeval.check import check_stories
from ludic_deepeval.errors import InputError
from ludic_deepeval.lookup import find_lockfile, story_of
from ludic_deepeval.sources import find_stories, read_story, real_file
from ludic_deepeval.sources.naming import stem_of, virtual_path
from ludic_deepeval.web.opening import open_session

Ludic = Callable[..., Any]

AGES = """\
😀 Zoë was nine when she first saw the sea.

It meant nothing at all. “When I was seven I sailed it,” she would say of her grown years.
"""
AGES_SHEET = """\
sheet: 1
protagonist: Zoë
events:
- {phase: childhood, id: sea, summary: sees the sea, quote: Zoë was nine when she first saw the sea, physical: [{kind: age, age: 9}]}
- {phase: adult, id: sail, summary: sails, quote: '“When I was seven I sailed it,”', physical: [{kind: age, age: 7}]}
"""
JSON = """\
[[sources]]
files = ["data/**/*.json"]
kind = "json"
pointer = "/npcs/*/backstory"
id = "../id"
title = "../name"
expect = "../expect"
background-log = "../log"
"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    return path


def npcs(path: Path, *people: dict[str, object]) -> Path:
    return write(path, json.dumps({"npcs": people}, ensure_ascii=False, indent=1))


@pytest.fixture
def data(tale: Path) -> Path:
    """The working directory with two people in a JSON file; the story of `ysolde` is that of the fixture `tale`."""
    text = (tale / "tale.md").read_text(encoding="utf-8")
    write(tale / "ludic.toml", JSON)
    npcs(
        tale / "data" / "npcs.json",
        {"id": "zoë", "name": "Zoë of the Sea", "backstory": AGES},
        {"id": "ysolde", "name": "Ysolde", "backstory": text},
        {"id": "nobody"},
        {"id": "unwritten", "backstory": " \n"},
    )
    (tale / "tale.marks.yaml").rename(tale / "sheet.yaml")
    (tale / "tale.md").unlink()
    return tale


@pytest.fixture
def read(data: Path, ludic: Ludic) -> Path:
    """The same once both are locked."""
    for person, sheet in (
        ("zoë", AGES_SHEET),
        ("ysolde", (data / "sheet.yaml").read_text(encoding="utf-8")),
    ):
        assert ludic("annotate", f"data/npcs.json#{person}").code == 0
        write(read_story(Path(f"data/npcs.json#{person}")).sheet, sheet)
    assert ludic("lock", "data").code == 0
    return data


def paths(*given: str) -> list[str]:
    return [path.as_posix() for path in find_stories([Path(path) for path in given])]


# The whole way


def test_findings_stand_where_their_words_do_in_the_container(read: Path, ludic: Ludic) -> None:
    ran = ludic("check", "data", "--json")
    assert ran.code == 1
    zoe, ysolde = json.loads(ran.out)["stories"]
    assert (zoe["path"], zoe["file"], zoe["id"]) == ("data/npcs.json#zoë", "data/npcs.json", "zoë")
    assert (ysolde["path"], ysolde["state"], ysolde["holds"]) == ("data/npcs.json#ysolde", "read", True)
    [fault] = [finding for finding in zoe["findings"] if finding["code"] == "age-fell"]
    # { 1, "npcs" 2, { 3, "id" 4, "name" 5, "backstory" 6. Its text begins in column 18: 3 blanks, 11, colon and blank,
    # quotation mark. The first sentence has 42 characters, \\n\\n is written with 4, "It meant nothing at all. " has 25.
    assert (fault["line"], fault["column"]) == (6, 18 + 42 + 4 + 25)
    assert fault["quote"] == "“When I was seven I sailed it,”"
    text = ludic("check", "data/npcs.json#zoë").out
    assert text.startswith("data/npcs.json#zoë  Zoë of the Sea\n")
    assert "error line 6, column 89: " in text
    assert "against line 6, column 20: “Zoë was nine" in text  # the emoji 18, a blank 19


def test_marks_lie_in_a_folder_beside_the_container(read: Path) -> None:
    marks = sorted(path.name for path in (read / "data" / "npcs.json.ludic").iterdir())
    # printf 'zoë' | sha256sum begins with 2752b886
    assert marks == [
        "ysolde.ledger.json",
        "ysolde.marks.yaml",
        "zoë-2752b886.ledger.json",
        "zoë-2752b886.marks.yaml",
    ]


def test_an_edit_beside_a_story_does_not_make_it_stale_and_one_in_it_moves_its_quotes(
    read: Path, ludic: Ludic
) -> None:
    path = read / "data" / "npcs.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    people = content["npcs"]
    people[0]["backstory"] = "All is new here. " + people[0]["backstory"]
    npcs(path, {"id": "first", "backstory": "Before them all."}, *people)
    states = {story.id: story.state for story in check_stories([Path("data")]).stories}
    assert states == {"first": "unread", "zoë": "unread", "ysolde": "read"}

    ran = ludic("relock", "--read", "data/npcs.json#zoë")
    assert (ran.code, ran.err) == (0, "")
    assert "2 quotes on their words, 0 lost" in ran.out
    [zoe] = check_stories([Path("data/npcs.json#zoë")]).stories
    [fault] = [finding for finding in zoe.findings if finding.code == "age-fell"]
    # Four lines of `first` more; 17 characters of the new sentence more.
    assert (fault.line, fault.column) == (6 + 4, 89 + 17)
    assert zoe.file == Path("data/npcs.json")


def test_annotate_writes_what_is_marked_and_advise_and_agree_find_the_story(read: Path, ludic: Ludic) -> None:
    assert ludic("annotate", "--force", "data/npcs.json#ysolde").code == 0
    sheet = (read / "data/npcs.json.ludic/ysolde.marks.yaml").read_text(encoding="utf-8")
    assert "Then run:  ludic lock npcs.json#ysolde\n" in sheet
    assert 'quote: "Odo Marsh still signs the ledgers"' in sheet
    assert ludic("advise", "data/npcs.json#ysolde").out.startswith("data/npcs.json#ysolde\n  fix: ")
    lock = "data/npcs.json.ludic/ysolde.ledger.json"
    second = write(
        read / lock.replace(".ledger", ".second.ledger"), (read / lock).read_text(encoding="utf-8")
    )
    ran = ludic("agree", second, lock)
    assert (ran.code, ran.err) == (0, "")
    assert "people        1    1     1        1 of 1   1.00" in ran.out


def test_a_lockfile_finds_its_story_and_a_story_its_lockfile(read: Path) -> None:
    story = read_story(Path("data/npcs.json#zoë"))
    beside = story_of(story.lockfile)
    assert beside is not None
    assert (beside.path, beside.file, beside.prose.body) == (story.path, story.file, story.prose.body)
    assert find_lockfile(story.prose, read) == (read / story.lockfile)
    assert story_of(read / "data" / "gone.json.ludic" / "a.ledger.json") is None
    assert story_of(read / "data" / "npcs.json.ludic" / "a.ledger.json") is None


def test_expectation_and_background_log_come_from_pointers(data: Path, ludic: Ludic) -> None:
    log = [{"id": "lie", "phase": "P3", "kind": "other", "subject": "Zoë", "text": "She lies about her age."}]
    person = {"id": "zoe", "backstory": AGES, "expect": {"consistency": 0, "faults": ["age-fell"]}}
    npcs(
        data / "data" / "npcs.json", person, person | {"id": "liar", "log": log, "expect": {"consistency": 1}}
    )
    for name in ("zoe", "liar"):
        ludic("annotate", f"data/npcs.json#{name}")
        write(data / f"data/npcs.json.ludic/{name}.marks.yaml", AGES_SHEET)
    assert ludic("lock", "data").code == 0
    # No dimensions: the gate is not measured, but consistency is.
    stories = json.loads(ludic("check", "data", "--json").out)["stories"]
    assert [story["consistency"]["score"] for story in stories] == [0, 1]
    assert not [f for story in stories for f in story["findings"] if f["severity"] == "error"]


def test_the_policy_of_the_same_file_is_in_force(read: Path, ludic: Ludic) -> None:
    write(read / "ludic.toml", 'fail-on = ["gate"]\n' + JSON)
    assert ludic("check", "data/npcs.json#ysolde").code == 1


def test_reports_for_other_programs_name_the_container(read: Path, ludic: Ludic) -> None:
    [run] = json.loads(ludic("check", "data", "--format", "sarif").out)["runs"]
    assert [artifact["location"]["uri"] for artifact in run["artifacts"]] == ["data/npcs.json"]
    assert "mimeType" not in run["artifacts"][0]
    places = [one["locations"][0]["physicalLocation"] for one in run["results"]]
    assert {place["artifactLocation"]["uri"] for place in places} == {"data/npcs.json"}
    assert {place["artifactLocation"]["index"] for place in places} == {0}
    [fault] = [one for one in run["results"] if one["ruleId"] == "age-fell"]
    region = fault["locations"][0]["physicalLocation"]["region"]
    # “When I was seven I sailed it,” has 31 characters.
    assert region == {"startLine": 6, "startColumn": 89, "endLine": 6, "endColumn": 89 + 31}
    [other] = fault["relatedLocations"]
    assert other["physicalLocation"]["region"]["startColumn"] == 20
    told = ludic("check", "data", "--format", "github").out
    assert "::error file=data/npcs.json,line=6,endLine=6,col=89,endColumn=119,title=" in told


def test_changed_settings_that_are_wrong_are_told(read: Path) -> None:
    """Else a change that breaks them would take every story out of a check of what changed."""

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words],
            check=True,
            capture_output=True,
        )

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    write(read / "ludic.toml", JSON.replace('pointer = "', 'pointer = "npcs'))
    with pytest.raises(InputError, match=r"tool\.ludic\.sources\[0\]\.pointer: found 'npcs/npcs"):
        changed_stories([Path("data")], "HEAD")


def test_a_second_reader_on_the_page_saves_beside_the_first(read: Path) -> None:
    session = open_session(Path("data/npcs.json#ysolde"), second=True)
    assert session.lock_path == Path("data/npcs.json.ludic/ysolde.second.ledger.json")
    assert session.sheet_path == Path("data/npcs.json.ludic/ysolde.second.marks.yaml")
    assert open_session(Path("data/npcs.json#ysolde")).sheet["people"]


# Where stories are


def test_folders_and_containers_give_their_stories_in_order_and_once(data: Path) -> None:
    write(data / "a.md", "Before.")
    write(
        data / "data" / "deep" / "b.json",
        '{"npcs": [{"id": "z", "backstory": "Z."}, {"id": "a", "backstory": "A."}]}',
    )
    inside = ["data/npcs.json#zoë", "data/npcs.json#ysolde"]
    deep = ["data/deep/b.json#z", "data/deep/b.json#a"]
    assert paths(".") == ["a.md", *inside, *deep]
    assert paths("data") == [*inside, *deep]
    assert paths("data/deep") == deep
    assert paths("data/npcs.json") == inside
    assert paths("data/npcs.json#ysolde", "data/npcs.json") == [inside[1], inside[0]]


def test_marks_hidden_files_markdown_and_links_out_are_no_containers(data: Path, tmp_path: Path) -> None:
    write(data / "ludic.toml", JSON.replace("data/**/*.json", "**"))
    for name in (
        ".hidden/x.json",
        "data/.x.json",
        "data/x.json.ludic/x.json",
        "data/x.json.ludic/deep/x.json",
        "data/x.ledger.json",
    ):
        npcs(data / name, {"id": "x", "backstory": "X."})
    npcs(tmp_path / "outside.json", {"id": "x", "backstory": "X."})
    (data / "data" / "link.json").symlink_to(tmp_path / "outside.json")
    (data / "sheet.yaml").unlink()
    (data / "ludic.toml").rename(data / "pyproject.toml")
    write(data / "pyproject.toml", JSON.replace("data/**/*.json", "data/**").replace("[[", "[[tool.ludic."))
    assert paths("data") == ["data/npcs.json#zoë", "data/npcs.json#ysolde"]
    # A name of the sources' own files that lies elsewhere is no container either.
    assert read_story(data / "data" / "link.json").container is None


def test_the_nearest_settings_decide_also_further_down(data: Path) -> None:
    other = JSON.replace("data/**/*.json", "*.json").replace("/npcs/*/backstory", "/*/tale")
    write(data / "data" / "inner" / "ludic.toml", other)
    write(data / "data" / "inner" / "x.json", '[{"id": "x", "tale": "X."}]')
    write(data / "data" / "bare" / "ludic.toml", 'fail-on = ["gate"]\n')
    npcs(data / "data" / "bare" / "y.json", {"id": "y", "backstory": "Y."})
    inside = ["data/npcs.json#zoë", "data/npcs.json#ysolde"]
    assert paths(".") == paths("data") == [*inside, "data/inner/x.json#x"]
    assert read_story(Path("data/inner/x.json#x")).prose.body == "X."


def test_a_real_file_of_a_storys_name_is_itself(data: Path) -> None:
    write(data / "data" / "npcs.json#ysolde.md", "A file of its own.")
    npcs(data / "data" / "npcs.json", {"id": "ysolde.md", "backstory": "Inside."})
    story = read_story(Path("data/npcs.json#ysolde.md"))
    assert (story.prose.body, story.file, story.container) == ("A file of its own.", story.path, None)
    assert real_file(Path("data/npcs.json#ysolde.md")) == Path("data/npcs.json#ysolde.md")
    assert real_file(Path("data/npcs.json#other")) == Path("data/npcs.json")
    assert real_file(Path("tale.md")) == Path("tale.md")


HARD_IDS = ["a/b", "a b", "..", "../../x", "a#b", "100%", "$(reboot)", "阿明", "Bram", "bram", "con", "a.second", "x" * 200, "é", "'", "50%20"]  # fmt: skip


def test_ids_of_any_kind_make_safe_names_and_find_their_story_again(data: Path, ludic: Ludic) -> None:
    npcs(data / "data" / "npcs.json", *({"id": name, "backstory": f"Of {name}."} for name in HARD_IDS))
    found = find_stories([Path("data")])
    stories = [read_story(path) for path in found]
    assert [story.id for story in stories] == HARD_IDS
    assert len({story.lockfile.name.casefold() for story in stories}) == len(HARD_IDS)
    for path, story in zip(found, stories, strict=True):
        assert path.parent == Path("data")
        assert not set(path.name) & set(" /\\'\"$()`;&|<>*?")
        assert story.lockfile.parent == story.sheet.parent == Path("data/npcs.json.ludic")
        assert len(story.lockfile.name.encode()) < 200
        again = story_of(story.lockfile)
        assert again is not None
        assert again.id == story.id
    # An id may be typed as it is.
    assert read_story(Path("data/npcs.json#a b")).prose.body == "Of a b."


def test_stems_are_plain_or_carry_a_hash() -> None:
    # printf 'Bram' | sha256sum begins with fdf7038f; of a/b with c14cddc0.
    assert stem_of("npcs.0.story") == "npcs.0.story"
    assert stem_of("Bram") == "bram-fdf7038f"
    assert stem_of("a/b") == "a-b-c14cddc0"
    for taken in ("bram-fdf7038f", "a.second", "con", "aux.txt", "com1", ".a", "a.", "", "b" * 65):
        assert stem_of(taken) != taken
    assert virtual_path(Path("x/n.json"), "a/b c").as_posix() == "x/n.json#a%2Fb%20c"
