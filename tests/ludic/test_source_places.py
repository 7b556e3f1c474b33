"""Where the characters of a text stand in the file that it is embedded in."""

import ast
import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ludic_deepeval.errors import InputError
from ludic_deepeval.sources import in_csv, in_json, in_yaml
from ludic_deepeval.sources.passage import Passage
from ludic_deepeval.sources.reading import passages_in
from ludic_deepeval.sources.settings import Source, sources_from
from ludic_deepeval.sources.spelling import escape_pieces, spelled
from ludic_deepeval.text import Prose

# Letters of all widths, what the formats escape, and what they do with white space.
PROSE = st.text(st.sampled_from("ab  \n\n\t\r\"'\\,;:#-|>&*!%é\u0301中😀\x85\u2028\xa0\ufeff") | st.characters(codec="utf-8", exclude_characters="\0"), max_size=60)  # fmt: skip


# Lines that YAML can write as blocks, for it writes what is above in quotation marks.
LINES = st.lists(st.sampled_from(["a word or two", "it's", "", "  deeper", "é 😀 ends."]), max_size=8).map(
    "\n".join
)


def source(**table: Any) -> Source:
    [made] = sources_from([{"files": ["any"]} | table], "ludic.toml")
    return made


def read(raw: str, **table: Any) -> list[Passage]:
    return list(passages_in(source(**table), raw, "data"))


def at(raw: str, passage: Passage, words: str) -> tuple[int, int, int]:
    """Line, column and UTF-16 column at which words of a passage's prose stand."""
    prose = Prose(raw, part=(passage.text, passage.at))
    place = prose.place(prose.body.index(words))
    return place.line, place.column, place.utf16


# JSON


def test_json_escapes_are_as_wide_as_they_are_written() -> None:
    raw = '{"npcs": [\n  {"id": "bram", "backstory": "Caf\\u00e9 \\ud83d\\ude00 nights.\\nThe mill burned."}\n]}'
    [bram] = read(raw, kind="json", pointer="/npcs/*/backstory", id="../id")
    assert (bram.id, bram.text) == ("bram", "Café 😀 nights.\nThe mill burned.")
    # Two blanks, 15 characters to `"bram", `, 14 to the quotation mark after `"backstory": `: text begins in column 32.
    assert at(raw, bram, "Caf") == (2, 32, 32)
    # Caf 32–34, \u00e9 35–40, blank 41, \ud83d\ude00 42–53, blank 54, nights. 55–61, \n 62–63.
    assert at(raw, bram, "nights") == (2, 55, 55)
    assert at(raw, bram, "The mill") == (2, 64, 64)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_line_ends_and_a_byte_order_mark_move_nothing(end: str, bom: str) -> None:
    raw = bom + end.join(["[", ' "😀 one"]'])
    [only] = read(raw, kind="json", pointer="/0")
    # Line 2: blank 1, quotation mark 2, the emoji 3 (two UTF-16 units), blank 4, one 5.
    assert at(raw, only, "one") == (2, 5, 6)


def test_two_stories_of_one_line_are_told_apart() -> None:
    raw = '{"a":"One.","b":"Two."}'
    one, two = read(raw, kind="json", pointer="/*")
    assert (one.id, two.id) == ("a", "b")
    assert at(raw, one, "One") == (1, 7, 7)
    assert at(raw, two, "Two") == (1, 18, 18)  # {"a":"One.", is 12 characters, "b":" five more


def test_what_looks_like_front_matter_in_a_text_is_prose() -> None:
    [only] = read('["---\\ntitle: x\\n---\\nOnce."]', kind="json", pointer="/0")
    assert Prose("", part=(only.text, only.at)).body == "---\ntitle: x\n---\nOnce."


@given(PROSE, st.booleans(), st.sampled_from([None, 1]))
def test_every_place_in_json_decodes_to_its_character(text: str, plain: bool, indent: int | None) -> None:
    raw = json.dumps([{"x": [1, {"}": "]"}], text: 0, "t": text}, -1.5e3], ensure_ascii=plain, indent=indent)
    steps = (0, "t")
    found, places = in_json.text_at(raw, in_json.locate(raw, [steps], "f")[steps])
    assert found == text
    for n, char in enumerate(text):
        assert json.loads(f'"{raw[places[n] : places[n + 1]]}"') == char
    assert raw[places[len(text)]] == '"'


@given(PROSE)
def test_line_and_column_lead_to_the_character(text: str) -> None:
    raw = json.dumps({"é😀": 1, "t": text}, ensure_ascii=False, indent=1)
    found, places = in_json.text_at(raw, in_json.locate(raw, [("t",)], "f")[("t",)])
    prose = Prose(raw, part=(found, places))
    lines = raw.split("\n")  # JSON has no other line end in what json.dumps writes
    for n, char in enumerate(prose.body):
        place = prose.place(n)
        rest = lines[place.line - 1][place.column - 1 :]
        if char.isascii() and char.isalnum():
            assert rest[0] == char
        before = lines[place.line - 1][: place.column - 1]
        assert place.utf16 == len(before.encode("utf-16-le")) // 2 + 1


# YAML

YAML = """\
# people
a: Plain words
  that go on   # a note
b: "Quo\\u0074ed \\
    and joined"
c: 'It''s
  quiet'
d: |
    The mill

      burned for two nights.
e: >2
   Indented by one,
  folded
  over.
"""


def test_every_yaml_style_has_its_places() -> None:
    plain, double, single, literal, folded = read(YAML, kind="yaml", pointer="/*")
    assert plain.text == "Plain words that go on"
    assert at(YAML, plain, "Plain") == (2, 4, 4)
    assert at(YAML, plain, "that") == (3, 3, 3)
    assert double.text == "Quoted and joined"
    assert at(YAML, double, "ted") == (4, 8, 8)  # b: "Quo is 7 characters, then the escape
    assert at(YAML, double, "ed") == (4, 14, 14)
    assert at(YAML, double, "and") == (5, 5, 5)
    assert single.text == "It's quiet"
    # c 1, colon 2, blank 3, quotation mark 4, It 5–6, the doubled one 7–8.
    assert at(YAML, single, "'s quiet") == (6, 7, 7)
    assert at(YAML, single, "s quiet") == (6, 9, 9)
    assert at(YAML, single, "quiet") == (7, 3, 3)
    assert literal.text == "The mill\n\n  burned for two nights.\n"
    assert at(YAML, literal, "mill") == (9, 9, 9)
    assert at(YAML, literal, "burned") == (11, 7, 7)
    assert folded.text == " Indented by one,\nfolded over.\n"
    assert at(YAML, folded, "Indented") == (13, 4, 4)
    assert at(YAML, folded, "over") == (15, 3, 3)


def test_yaml_places_hold_with_crlf_and_a_byte_order_mark() -> None:
    raw = "\ufeff" + YAML.replace("\n", "\r\n")
    plain, *_, folded = read(raw, kind="yaml", pointer="/*")
    assert at(raw, plain, "that") == (3, 3, 3)
    assert at(raw, folded, "over") == (15, 3, 3)


def test_a_tag_is_no_part_of_the_text() -> None:
    raw = "a: !!str 😀 strs\nb: !note |\n  It is\n"
    one, two = read(raw, kind="yaml", pointer="/*")
    assert at(raw, one, "strs") == (1, 12, 13)  # a: !!str is 9 columns with its blank, the emoji 10, blank 11
    assert at(raw, two, "is") == (3, 6, 6)


@given(PROSE | LINES, st.sampled_from([None, "'", '"', "|", ">"]), st.booleans(), st.sampled_from([10, 80]))
def test_every_place_in_yaml_decodes_to_its_character(
    text: str, style: str | None, plain: bool, width: int
) -> None:
    raw = yaml.dump({"a": [{"t": text}], "z": 1}, default_style=style, allow_unicode=plain, width=width)
    tree = in_yaml.Tree(raw, "f")
    if not text.strip() or not isinstance(tree.data["a"][0]["t"], str):
        return
    with mock.patch.object(in_yaml, "_same_characters", side_effect=AssertionError("not mapped exactly")):
        found, places = tree.text_at(("a", 0, "t"))
    assert found == yaml.safe_load(raw)["a"][0]["t"]
    assert len(places) == len(found) + 1
    assert list(places) == sorted(places)
    for n, char in enumerate(found):
        rest = raw[places[n] :]
        if char.isspace():
            assert rest[0].isspace() or rest[0] == "\\"
        else:
            assert char in {rest[0], *_escaped(rest)}


def _escaped(rest: str) -> list[str]:
    """What PyYAML reads an escape as."""
    match = re.match(r"\\(?:x..|u....|U........|[^xuU])", rest)
    return [yaml.safe_load(f'"{match.group()}"')] if match else []


# CSV


def test_csv_places_count_doubled_quotes_and_lines_within_cells() -> None:
    raw = 'name,story\r\nAnn,"He said ""no"",\r\nand 😀 left."\r\nBob,Plain "as" told\r\n'
    ann, bob = read(raw, kind="csv", column="story", id="name")
    assert ann.text == 'He said "no",\r\nand 😀 left.'
    assert at(raw, ann, "He") == (2, 6, 6)
    assert at(raw, ann, "no") == (2, 16, 16)  # Ann," 5, He said 8 with its blank, two quotation marks: 15
    assert at(raw, ann, "left") == (3, 7, 8)
    assert (bob.id, bob.text) == ("Bob", 'Plain "as" told')
    assert at(raw, bob, "told") == (4, 16, 16)


@given(st.lists(st.lists(PROSE, max_size=4), max_size=4), st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))  # fmt: skip
def test_every_place_in_csv_decodes_to_its_character(
    table: list[list[str]], delimiter: str, end: str, quoting: Any
) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(table)
    raw = stream.getvalue()
    if list(csv.reader(io.StringIO(raw, newline=""), delimiter=delimiter)) != table or raw.startswith(
        "\ufeff"
    ):
        return  # Python 3.11 leaves a lone CR without quotation marks; and a first cell may look like a byte-order mark
    cells = list(in_csv.rows(raw, delimiter, "f"))
    assert [[cell.text(raw)[0] for cell in row] for row in cells] == table
    for row in cells:
        for cell in row:
            text, places = cell.text(raw)
            for n, char in enumerate(text):
                spelt = raw[places[n] : places[n + 1]]
                assert spelt == char or (spelt, char) == ('""', '"')


@given(st.text(st.sampled_from('ab"",,\n\r ;é'), max_size=30))
def test_any_csv_is_read_as_python_reads_it_or_refused_as_python_refuses_it(raw: str) -> None:
    try:
        wanted: list[list[str]] | None = list(csv.reader(io.StringIO(raw, newline=""), strict=True))
    except csv.Error:
        wanted = None
    try:
        found = [[cell.text(raw)[0] for cell in row] for row in in_csv.rows(raw, ",", "f")]
    except InputError:
        found = None
    assert found == wanted


# Code


def test_code_literals_have_places_through_their_escapes() -> None:
    raw = 'var id = "odo"\nvar story = "Odo \\"Marsh\\" \\u00e9\\nsigns."\n'
    pattern = r'id = "(?P<id>\w+)"\s+var story = "(?P<text>(?:[^"\\]|\\.)*)"'
    [odo] = read(raw, kind="regex", pattern=pattern, unescape="c")
    assert (odo.id, odo.text) == ("odo", 'Odo "Marsh" é\nsigns.')
    assert at(raw, odo, "Odo") == (2, 14, 14)
    # Odo 14–16, blank 17, \" 18–19, Marsh 20–24, \" 25–26, blank 27, \u00e9 28–33, \n 34–35.
    assert at(raw, odo, "Marsh") == (2, 20, 20)
    assert at(raw, odo, "signs") == (2, 36, 36)


ESCAPES = st.lists(
    st.sampled_from(["a", "é😀", "\\n", "\\t", "\\r", "\\a", "\\b", "\\f", "\\v", "\\\\", "\\'", '\\"', "\\x41", "\\101", "\\7", "\\60", "\\u00e9", "\\U0001f600", "\\\n"]), max_size=12
).map("".join)  # fmt: skip


@given(ESCAPES)
def test_c_escapes_mean_what_python_takes_them_for(literal: str) -> None:
    """Python's string literals have all of C's escapes but one."""
    text, places = spelled(literal, 0, len(literal), escape_pieces(literal, 0, len(literal), "c", "f"))
    assert text == ast.literal_eval(f'"{literal}"')
    for n, char in enumerate(text):
        spelt = literal[places[n] : places[n + 1]].replace("\\\n", "")
        assert ast.literal_eval(f'"{spelt}"') == char


def test_c_escapes_that_python_has_not() -> None:
    raw = r"\?\ud83d\ude00"
    assert spelled(raw, 0, len(raw), escape_pieces(raw, 0, len(raw), "c", "f"))[0] == "?😀"


@pytest.mark.parametrize(
    ("kind", "raw", "found"),
    [
        ("c", r"one \q", r"line 1, column 5: the escape '\q'"),
        ("c", r"\u12", r"line 1, column 1: the escape '\u'"),
        ("c", r"\U00110000", r"the escape '\U00110000'"),
        ("c", "end\\", "line 1, column 4: the escape '\\'"),
        ("json", r"\'", r"the escape '\''"),
        ("json", "end\\", "the escape '\\'"),
    ],
)
def test_an_escape_that_a_kind_does_not_have_is_an_error(kind: str, raw: str, found: str) -> None:
    with pytest.raises(InputError, match=re.escape(found)):
        list(escape_pieces(raw, 0, len(raw), kind, "f"))


@pytest.mark.parametrize(
    ("raw", "table", "found"),
    [
        (r'["a \ud83d b"]', {"kind": "json", "pointer": "/0"}, "line 1, column 5: half of a surrogate pair"),
        (r'["a \u0000"]', {"kind": "json", "pointer": "/0"}, "line 1, column 5: a NUL character"),
        ('- "a \\0"', {"kind": "yaml", "pointer": "/0"}, "line 1, column 6: a NUL character"),
        (r'"a \0"', {"kind": "regex", "pattern": '"(?P<text>.*)"', "unescape": "c"}, "a NUL character"),
    ],
)
def test_what_no_file_can_hold_is_refused(raw: str, table: dict[str, str], found: str) -> None:
    with pytest.raises(InputError, match=re.escape(found)):
        read(raw, **table)


def test_an_unmapped_scalar_still_has_the_right_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should a scalar ever be read otherwise than by PyYAML, its characters are looked for in their order."""
    monkeypatch.setattr(in_yaml, "_reading", lambda *_: ("something else", []))
    literal = read(YAML, kind="yaml", pointer="/d")[0]
    assert at(YAML, literal, "mill")[0] == 9
    assert at(YAML, literal, "nights")[0] == 11


def test_prose_of_a_file_of_its_own_is_placed_as_before(tmp_path: Path) -> None:
    raw = "\ufeff---\r\nid: a\r\n---\r\n\r\nOnce 😀 upon"
    prose = Prose(raw)
    place = prose.place(prose.body.index("upon"))
    assert (place.line, place.column, place.utf16) == (5, 8, 9)
