"""What settings and files of embedded stories may get wrong, and what hostile ones try: one line each, exit code 2."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludic_deepeval.errors import InputError
from ludic_deepeval.settings import find_policy
from ludic_deepeval.sources import find_stories, in_code, pointer, read_story
from ludic_deepeval.sources.settings import sources_from

Ludic = Callable[..., Any]

JSON = 'files = ["d/*.json"]\nkind = "json"\n'
NPCS = JSON + 'pointer = "/npcs/*/story"\n'
YAML = 'files = ["d/*.yaml"]\nkind = "yaml"\npointer = "/*/story"\n'
CSV = 'files = ["d/*.csv"]\nkind = "csv"\ncolumn = "story"\nid = "name"\n'
CODE = 'files = ["d/*.gd"]\nkind = "regex"\n'
AT = "tool.ludic.sources[0]"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    return tmp_path


def said(settings: str, name: str, content: str | bytes) -> str:
    """The one error that a folder with one container ends in."""
    Path("ludic.toml").write_text(f"[[sources]]\n{settings}", encoding="utf-8")
    Path("d", name).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    with pytest.raises(InputError) as caught:
        list(map(read_story, find_stories([Path("d")])))
    line = str(caught.value)
    assert line.isprintable()
    return line


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        (JSON, f"{AT}.pointer: missing"),
        (JSON + 'pointer = "npcs"', f"{AT}.pointer: found 'npcs'; allowed: a pointer such as /npcs/*/backstory"),
        (JSON + 'pointer = "/a~2"', f"{AT}.pointer: found '~2'; allowed: ~0 for ~ and ~1 for / in a key"),
        (JSON + f'pointer = "{"/a" * 33}"', f"{AT}.pointer: found 33 steps; allowed: at most 32"),
        (NPCS + 'column = "x"', f"{AT}.column: unknown field; allowed: files, kind, pointer, id"),
        (NPCS + 'id = "id"', f"{AT}.id: found 'id'; allowed: a pointer such as ../id or /npcs/*/id"),
        (NPCS + 'id = "../../../../id"', f"{AT}.id: found '../../../../id'; allowed: at most one ../ for each key"),
        (NPCS + 'id = "../*/id"', f"{AT}.id: found '../*/id'; allowed: ../ and keys, without *"),
        (NPCS + 'id = "/a/*/*/b"', f"{AT}.id: found '/a/*/*/b'; allowed: at most as many * as pointer has"),
        (NPCS + 'profile = "Huge!"', f"{AT}.profile: found 'Huge!'; allowed: a profile's name, or a pointer"),
        (NPCS.replace("d/*.json", "../*.json"), f"{AT}.files[0]: found '../*.json'; allowed: files in the folder"),
        (NPCS.replace("d/*.json", "/etc/*.json"), f"{AT}.files[0]: found '/etc/*.json'"),
        (NPCS.replace("d/*.json", "C:/*.json"), f"{AT}.files[0]: found 'C:/*.json'"),
        (NPCS.replace("d/*.json", "d/**/../../x"), f"{AT}.files[0]: found 'd/**/../../x'"),
        (NPCS.replace('["d/*.json"]', "[]"), f"{AT}.files: found an empty list; allowed: at least one name"),
        (NPCS.replace("json\"\n", "xml\"\n"), f"{AT}.kind: found 'xml'; allowed: json, yaml, csv, regex"),
        (CSV + 'delimiter = ";;"', f"{AT}.delimiter: found ';;'; allowed: one character"),
        (CODE, f"{AT}.pattern: missing"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_named(place: Path, settings: str, found: str) -> None:
    assert f"{place}/ludic.toml: {found}" in said(settings, "a.json", "{}")


@pytest.mark.parametrize(
    ("toml", "found"),
    [
        ("sources = 3", "tool.ludic.sources: found 3; allowed: at most 100 tables [[tool.ludic.sources]]"),
        ("[sources]\nkind = 1", "tool.ludic.sources: found a mapping"),
        ("sources = [3]", f"{AT}: found 3; allowed: a table with files and kind"),
    ],
)
def test_sources_are_tables(place: Path, toml: str, found: str) -> None:
    (place / "ludic.toml").write_text(toml, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(found)):
        find_stories([Path("d")])


def test_a_source_that_reads_no_file_is_an_error_where_all_of_its_folder_is_searched(place: Path) -> None:
    (place / "ludic.toml").write_text(f"[[sources]]\n{NPCS}", encoding="utf-8")
    (place / "tale.md").write_text("Once.", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(f"{AT}.files: no such file here")):
        find_stories([place])
    (place / "other").mkdir()
    (place / "other" / "tale.md").write_text("Once.", encoding="utf-8")
    assert find_stories([Path("other")]) == [Path("other/tale.md")]


def test_settings_further_down_that_are_wrong_are_told_and_stop_nobody(place: Path, ludic: Ludic) -> None:
    (place / "tale.md").write_text("Once.", encoding="utf-8")
    (place / "d" / "ludic.toml").write_text("sources = 3", encoding="utf-8")
    (place / "d" / "tool").mkdir()
    (place / "d" / "tool" / "pyproject.toml").write_text("[broken", encoding="utf-8")
    ran = ludic("check", ".")
    assert ran.code == 2
    assert "tale.md: not read yet" in ran.out
    [line] = ran.faults
    assert line.endswith(
        "d/ludic.toml: tool.ludic.sources: found 3; allowed: at most 100 tables [[tool.ludic.sources]]"
    )


def test_a_markdown_story_is_read_beside_settings_whose_sources_are_wrong(place: Path, ludic: Ludic) -> None:
    """Its policy comes from the same file, and nothing else in it is looked at."""
    (place / "ludic.toml").write_text("sources = 3\nactive-cap = 2", encoding="utf-8")
    (place / "tale.md").write_text("Once.", encoding="utf-8")
    assert find_policy(place)[0].active_cap == 2
    ran = ludic("check", "tale.md")
    assert (ran.code, ran.err) == (1, "")


NO_ID = "allowed: text of one line, at most 200 characters, or a whole number"


@pytest.mark.parametrize(
    ("settings", "content", "found"),
    [
        (NPCS, '{"people": [], "b": 1}', "nothing at '/npcs/*/story'; at the top are the keys people, b; mend"),
        (NPCS, '{"npcs": [{"id": 1}, {"name": 2}]}', "at '/npcs/*' are the keys id, name"),
        (NPCS, "[1, 2]", "at the top is a list of 2"),
        (NPCS, '{"npcs": "x"}', "at '/npcs' is 'x'"),
        (NPCS, '{"npcs": [{"story": ["a"]}]}', "/npcs/0/story: found a list; allowed: text"),
        (NPCS, '{"npcs": [{"story": 7}]}', "/npcs/0/story: found 7; allowed: text"),
        (NPCS, '{"npcs": [{"story": "x"}', "line 1, column 25: not valid JSON: Expecting ',' delimiter"),
        (NPCS, '\ufeff{"npcs":\n 07}', "line 2, column 3: not valid JSON"),
        (NPCS, '{"npcs": [{"story": "x",\n"story": "y"}]}', "line 2, column 1: the key 'story' is given twice"),
        (NPCS, f'{{"npcs": {"9" * 5000}}}', "not valid JSON: a huge number"),
        (NPCS, '{"npcs": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        (NPCS, b'{"npcs": [{"story": "\xff"}]}', "line 1: byte 0xff is not UTF-8"),
        (NPCS, b" " * (8 * 1024 * 1024 + 1), "larger than 8,192 KiB"),
        (NPCS, '{"npcs": [' + '{"story": "x"},' * 10_000 + '{"story": "x"}]}', "more than 10,000 stories"),
        (NPCS + 'id = "../id"', '{"npcs": [{"story": "x"}]}', f"line 1, column 22: no id; {NO_ID}"),
        (NPCS + 'id = "../id"', '{"npcs": [{"story": "x", "id": ["b"]}]}', f"the id is a list; {NO_ID}"),
        (NPCS + 'id = "../id"', '{"npcs": [{"story": "x", "id": "a\\nb"}]}', "the id is 'a�b'"),
        (NPCS + 'id = "../id"', '{"npcs": [{"story": "x", "id": "\\ud800"}]}', "the id is '�'"),
        (NPCS + 'id = "../id"', '{"npcs": [{"story": "x", "id": "' + "a" * 201 + '"}]}', NO_ID),
        (NPCS + 'profile = "../p"', '{"npcs": [{"story": "x", "p": "Huge!"}]}', "a.json#npcs.0.story: profile: found 'Huge!'"),
        (NPCS + 'expect = "../e"', '{"npcs": [{"story": "x", "e": {"gat": 1}}]}', "expect.gat: unknown field"),
    ],
)  # fmt: skip
def test_a_json_file_that_cannot_be_used(
    place: Path, settings: str, content: str | bytes, found: str
) -> None:
    assert found in said(settings, "a.json", content)


def test_one_id_for_two_stories_and_two_sources_for_one_text_are_told(place: Path) -> None:
    twice = '{"npcs": [{"story": "x", "id": "b"},\n{"story": "y", "id": "b"}]}'
    line = said(NPCS + 'id = "../id"', "a.json", twice)
    assert "d/a.json: line 2, column 12: two stories are called 'b'; allowed: ids that differ; the other is at line 1, column 22" in line  # fmt: skip
    line = said(f"{NPCS}[[sources]]\n{NPCS}", "a.json", '{"npcs": [{"story": "x"}]}')
    assert "two stories are called 'npcs.0.story'" in line


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("a: &x {story: b}\nb: *x\n", "line 1: an anchor or alias"),
        ("a: {story: x}\na: {story: y}\n", "line 2, column 1: not valid YAML: the key 'a' is given twice"),
        ("? [a]\n: {story: x}\n", "line 1, column 3: not valid YAML: a key that is no text"),
        ("a: {story: !!python/object/apply:os.system x}\n", "could not determine a constructor for the tag"),
        ("a: {story: 2024-13-45}\n", "month must be in 1..12"),
        ("a: {story: true}\n", "/a/story: found true; allowed: text"),
        ("[" * 100 + "]" * 100, "nested more than 64 levels deep"),
        ("a: {story: x}\n---\nb: 1\n", "but found another document"),
        ("x" * (1024 * 1024 + 1), "larger than 1,024 KiB"),
        ("", "nothing at '/*/story'; at the top is nothing"),
    ],
)
def test_a_yaml_file_that_cannot_be_used(place: Path, content: str, found: str) -> None:
    assert found in said(YAML, "a.yaml", content)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("name,tale\nx,y\n", "column: no column 'story'; allowed: one of name, tale"),
        ("name,story,story\nx,y\n", "column: 2 columns are called 'story'"),
        ("", "no columns; allowed: a first row with their names"),
        ('name,story\nx,"y\n', "line 2, column 3: a quotation mark that is never closed"),
        ('name,story\nx,"y"z\n', "line 2, column 6: text after a closing quotation mark"),
        ("name,story\nx,one, two\n", "line 2, column 1: 3 cells in a row; allowed: at most 2"),
        ("name,story\nx,one\n,two\n", f"line 3, column 2: no id; {NO_ID}"),
    ],
)
def test_a_csv_file_that_cannot_be_used(place: Path, content: str, found: str) -> None:
    assert found in said(CSV, "a.csv", content)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("(", "pattern: not a regular expression: missing ), unterminated subpattern at position 0"),
        ("(?P<t>x)", "pattern: no group called text"),
        (f"(?P<text>{'(' * 5000}{')' * 5000})", "pattern: "),
    ],
)
def test_a_pattern_that_cannot_be_used(place: Path, pattern: str, found: str) -> None:
    assert found in said(f"{CODE}pattern = '{pattern}'\n", "a.gd", "x")


def test_a_pattern_that_never_ends_is_ended(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two to the power of 60 ways to fail: without an end to it this test would not have one."""
    monkeypatch.setattr(in_code, "SECONDS", 1)
    line = said(f"{CODE}pattern = '(?P<text>(a|a)+)b'\n", "a.gd", "a" * 60)
    assert "d/a.gd: pattern: the pattern takes longer than 1 seconds; allowed: a simpler pattern" in line


def test_code_without_a_match_and_texts_without_prose_are_no_stories(place: Path) -> None:
    (place / "ludic.toml").write_text(
        f"[[sources]]\n{CODE}pattern = '(?P<text>x+)'\n[[sources]]\n{NPCS}", encoding="utf-8"
    )
    (place / "d" / "a.gd").write_text("nothing", encoding="utf-8")
    (place / "d" / "b.gd").write_text("x", encoding="utf-8")
    empty = '{"npcs": [{"story": ""}, {"story": " \\n"}, {"story": null}, {}]}'
    (place / "d" / "a.json").write_text(empty, encoding="utf-8")
    (place / "d" / "b.json").write_text('{"npcs": []}', encoding="utf-8")
    assert find_stories([Path("d")]) == [Path("d/b.gd#1")]
    for name in ("a.gd", "a.json", "b.json"):
        with pytest.raises(InputError, match=re.escape(f"d/{name}: no prose in this file")):
            find_stories([Path("d", name)])


def test_naming_a_story_that_is_not_there_says_which_are(place: Path, ludic: Ludic) -> None:
    (place / "ludic.toml").write_text(f"[[sources]]\n{NPCS}", encoding="utf-8")
    (place / "d" / "a.json").write_text('{"npcs": [{"story": "One."}, {"story": "Two."}]}', encoding="utf-8")
    there = "allowed: a.json#npcs.0.story, a.json#npcs.1.story"
    for command, path, found in (
        ("check", "d/a.json#bram", f"no such story in this file; {there}"),
        ("check", "d/b.json#bram", "no such file"),
        ("check", "ludic.toml#bram", "no [[tool.ludic.sources]] reads this file; say in ludic.toml where its stories are"),
        ("annotate", "d/a.json", f"this file holds stories and is none; {there}"),
    ):  # fmt: skip
        ran = ludic(command, path)
        assert ran.code == 2
        assert f": {found}" in ran.faults[0]


def test_a_broken_container_is_one_line_and_the_others_are_judged(place: Path, ludic: Ludic) -> None:
    (place / "ludic.toml").write_text(f"[[sources]]\n{NPCS}", encoding="utf-8")
    (place / "d" / "a.json").write_text("{", encoding="utf-8")
    (place / "d" / "b.json").write_text('{"npcs": [{"story": "One."}]}', encoding="utf-8")
    ran = ludic("check", "d")
    assert ran.code == 2
    assert "d/b.json#npcs.0.story: not read yet" in ran.out
    assert len(ran.faults) == 1
    assert ran.faults[0].startswith("ludic: d/a.json: line 1, column 2: not valid JSON")


# Names of files, and pointers


@pytest.mark.parametrize(
    ("glob", "path", "covered"),
    [
        ("data/*.json", "data/a.json", True),
        ("data/*.json", "data/b/a.json", False),
        ("*.json", "data/a.json", False),
        ("**/*.json", "a.json", True),
        ("**/*.json", "data/b/a.json", True),
        ("data/**/x/*.json", "data/x/a.json", True),
        ("data/**/x/*.json", "data/y/z/x/a.json", True),
        ("data/**/x/*.json", "data/y/a.json", False),
        ("data/**", "data/y/a.json", True),
        ("data/**", "other/a.json", False),
        ("**/**/a", "a", True),
        ("data/?[ab].csv", "data/xa.csv", True),
        ("data/?[ab].csv", "data/xc.csv", False),
        ("data", "data/a", False),
    ],
)
def test_two_stars_are_folders_and_one_stays_within_a_name(glob: str, path: str, covered: bool) -> None:
    table = {"files": [glob], "kind": "csv", "column": "a", "id": "b"}
    assert sources_from([table], "f")[0].reads(path) is covered


# RFC 6901, section 5: the document and what each pointer evaluates to.
RFC = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", RFC), ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1), ("/c%d", 2), ("/e^f", 3), ("/g|h", 4),
        ("/i\\j", 5), ('/k"l', 6), ("/ ", 7), ("/m~0n", 8),
    ],
)  # fmt: skip
def test_pointers_are_those_of_rfc_6901(text: str, value: object) -> None:
    [(steps, found)] = pointer.find(RFC, pointer.parse(text))
    assert found == value
    assert pointer.write(steps) == text
    assert pointer.value_at(RFC, steps) == value


@pytest.mark.parametrize("text", ["/foo/2", "/foo/-", "/foo/00", "/foo/+1", "/nope", "/foo/0/x", "/foo/٣"])
def test_a_pointer_to_nothing_finds_nothing(text: str) -> None:
    assert pointer.find(RFC, pointer.parse(text)) == []


@given(st.recursive(st.none() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("*/~01", max_size=2), inner, max_size=3)))  # fmt: skip
def test_the_way_to_what_a_star_finds_leads_to_it(data: object) -> None:
    for keys in ((), ("*",), ("*", "*"), ("*", "0", "*")):
        for steps, value in pointer.find(data, keys):
            assert pointer.value_at(data, steps) is value


def test_references_go_up_from_the_text_or_repeat_its_stars() -> None:
    keys, steps = ("npcs", "*", "tales", "*"), ("npcs", 3, "tales", 0)
    assert pointer.related("../../id", keys, steps) == ("npcs", 3, "id")
    assert pointer.related("/npcs/*/id", keys, steps) == ("npcs", 3, "id")
    assert pointer.related("/ids/*/*", keys, steps) == ("ids", 3, 0)
    assert pointer.related("/title", keys, steps) == ("title",)
