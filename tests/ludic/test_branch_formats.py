"""Readers of branching formats: files of our own in each, what others wrote, and anything at all."""

import json
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ludic_deepeval.branches.graph import Graph, on_circles
from ludic_deepeval.branches.reading import FORMATS, read_branches
from ludic_deepeval.branches.shape import flaws_of, play
from ludic_deepeval.errors import InputError

SAMPLES = Path(__file__).parents[3] / "shared/samples"

HTML = """<html><body><tw-storydata name="Mill" startnode="2" format="Harlowe" hidden>
<script type="text/twine-javascript">alert("[[Nowhere]]")</script>
<tw-passagedata pid="1" name="Loft" tags="">Dust &amp; straw.
[[Down-&gt;Mill]]</tw-passagedata>
<tw-passagedata pid="2" name="Mill" tags="">He says &quot;no&quot;.
[[Up-&gt;Loft]] [[Out|Road]]</tw-passagedata>
<tw-passagedata pid="3" name="Road" tags="">The end.</tw-passagedata>
</tw-storydata></body></html>"""

TWISON = json.dumps(
    {
        "name": "Mill",
        "startnode": "2",
        "passages": [
            {
                "pid": "1",
                "name": "Loft",
                "text": "Dust & straw.\n[[Down->Mill]]",
                "links": [{"name": "Down", "link": "Mill"}],
            },
            {"pid": "2", "name": "Mill", "text": 'He says "no".\n[[Up->Loft]] [[Out|Road]]'},
            {"pid": "3", "name": "Road", "text": "The end."},
        ],
    },
    indent=1,
)

TWEE = """:: StoryData
{"start": "Mill"}

:: Loft
Dust & straw.
[[Down->Mill]]

:: Mill
He says "no".
[[Up->Loft]] [[Out|Road]]

:: Road
The end.
"""

YARN = """title: Start
---
Miller: He says "no". #line:1
-> Up
    <<jump Loft>>
-> Out <<if $door>>
    <<jump Road>>
===
title: Loft
---
Dust & straw.
<<jump Start>>
===
title: Road
---
// a remark
The end.
===
"""

RENPY = """define m = Character("Miller")

label start:
    m "He says \\"no\\"."
    menu:
        "Up":
            jump loft
        "Out" if door:
            jump road

label loft:
    "Dust & straw."
    jump start

label road:
    "The end."
    return
"""

CHOICESCRIPT = """He says "no".
*choice
    #Up
        *goto loft
    *if (door) #Out
        *goto road
*label loft
Dust & straw.
*goto_scene start
*label road
The end.
*finish
"""

INK = """He says "no". -> mill
=== mill
+ [Up] -> loft
+ {door} [Out] -> road
VAR door = true
=== loft
Dust & straw. -> mill
=== road
The end. -> END
"""

# The same story, as inkjs 2.4 compiles it.
COMPILED = json.dumps(
    {
        "inkVersion": 21,
        "root": [
            ['^He says "no". ', {"->": "mill"}, "\n", ["done", {"#n": "g-0"}], None],
            "done",
            {
                "mill": [
                    [
                        "^A road forks. ", "\n", "ev", "str", "^Up", "/str", "/ev", {"*": ".^.c-0", "flg": 4},
                        "ev", "str", "^Out", "/str", {"VAR?": "door"}, "/ev", {"*": ".^.c-1", "flg": 5},
                        {
                            "c-0": ["^ ", {"->": "loft"}, "\n", {"#f": 5}],
                            "c-1": ["^ ", {"->": "road"}, "\n", {"#f": 5}],
                        },
                    ],
                    None,
                ],
                "loft": ["^Dust & straw. ", {"->": "mill"}, "\n", None],
                "road": ["^The end. ", "end", "\n", None],
                "global decl": ["ev", True, {"VAR=": "door"}, "/ev", "end", None],
            },
        ],
        "listDefs": {},
    }
)  # fmt: skip

FILES = {
    "mill.html": HTML,
    "mill.twison.json": TWISON,
    "mill.twee": TWEE,
    "mill.yarn": YARN,
    "mill.rpy": RENPY,
    "start.txt": CHOICESCRIPT,
    "mill.ink.json": COMPILED,
}
KNOWN = dict(
    zip(
        FILES,
        ("Twine 2 HTML", "Twison JSON", "Twee 3", "Yarn", "Ren'Py", "ChoiceScript", "ink (compiled)"),
        strict=True,
    )
)


def read(folder: Path, name: str, text: str | None = None) -> Graph:
    (folder / name).write_text(FILES[name] if text is None else text, encoding="utf-8")
    return read_branches(folder / name)[0]


@pytest.mark.parametrize("name", FILES)
def test_the_same_story_is_sound_in_every_format(tmp_path: Path, name: str) -> None:
    story = read(tmp_path, name)
    assert story.format == KNOWN[name]
    assert flaws_of(story) == ()
    assert set(play(story, plays=60, seed=1).seen) == set(story.reachable)


@pytest.mark.parametrize("name", FILES)
def test_a_format_is_told_by_what_a_file_holds_and_not_by_its_name(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, "story.dat", FILES[name]).format == KNOWN[name]


@pytest.mark.parametrize("name", FILES)
def test_the_prose_of_every_format_is_what_the_player_reads(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    graph, story = read_branches(tmp_path / name)
    assert 'He says "no".' in story.prose.body
    assert "Dust & straw." in story.prose.body
    for other in (
        "jump",
        "startnode",
        "tw-passage",
        "[[",
        "&amp;",
        "alert",
        "*goto",
        "#line",
        "remark",
        "->",
    ):
        assert other not in story.prose.body
    [(start, _)] = story.prose.find("Dust & straw.")
    place = story.prose.place(start)
    line = FILES[name].splitlines()[place.line - 1]
    spelled = re.sub(r"[^A-Za-z]", "", line[place.column - 1 :])
    assert spelled.startswith(("Dustampstraw", "Duststraw"))
    inside = graph.at(start)
    assert inside is not None
    assert inside.id.lower() == "loft"


def ways(story: Graph) -> dict[str, list[tuple[str, str, bool]]]:
    return {
        name.lower(): [(way.target.lower(), way.label, way.conditional) for way in passage.ways]
        for name, passage in story.passages.items()
        if not passage.aside
    }


def test_yarn_options_are_choices_and_a_condition_behind_one_counts(tmp_path: Path) -> None:
    assert ways(read(tmp_path, "mill.yarn")) == {
        "start": [("loft", "Up", False), ("road", "Out", True)],
        "loft": [("start", "", False)],
        "road": [],
    }


def test_renpy_menus_are_choices(tmp_path: Path) -> None:
    assert ways(read(tmp_path, "mill.rpy")) == {
        "start": [("loft", "Up", False), ("road", "Out", True)],
        "loft": [("start", "", False)],
        "road": [],
    }


def test_choicescript_goes_on_into_the_next_label_and_to_other_scenes(tmp_path: Path) -> None:
    story = read(tmp_path, "start.txt")
    assert ways(story) == {
        "start": [("loft", "Up", False), ("road", "Out", True)],
        "loft": [("start", "", False)],
        "road": [],
    }
    falls = read(tmp_path, "start.txt", "*label a\nOne.\n*label b\nTwo.\n*goto_scene other\n")
    assert ways(falls)["a"] == [("b", "", False)]
    assert falls.elsewhere == {"other"}
    assert flaws_of(falls) == ()


def test_compiled_ink_has_choices_with_their_text(tmp_path: Path) -> None:
    story = read(tmp_path, "mill.ink.json")
    found = ways(story)
    assert found["mill"] == [("mill.0.c-0", "Up", False), ("mill.0.c-1", "Out", True)]
    assert found["mill.0.c-0"] == [("loft", "", False)]
    assert found["(start)"] == [("mill", "", False)]
    assert story.passages["road"].ends
    assert story.passages["global decl"].aside


def test_ink_that_stops_without_an_ending_has_run_out_of_content(tmp_path: Path) -> None:
    broken = COMPILED.replace('"^The end. ", "end"', '"^The end. "')
    [flaw] = flaws_of(read(tmp_path, "mill.ink.json", broken))
    assert (flaw.code, flaw.passage) == ("out-of-content", "road")
    # Choices that are there once: coming back to mill a third time there is nothing left.
    once = COMPILED.replace('"flg": 4', '"flg": 20').replace('"flg": 5', '"flg": 21')
    [flaw] = flaws_of(read(tmp_path, "mill.ink.json", once))
    assert (flaw.code, flaw.passage, flaw.possible) == ("out-of-content", "mill", True)


def test_a_place_decided_while_playing_is_said(tmp_path: Path) -> None:
    story = read(
        tmp_path, "mill.ink.json", COMPILED.replace('{"->": "loft"}', '{"->": "where", "var": true}')
    )
    assert story.notes == ("where '-> where' leads is decided while playing",)
    assert (
        "leads is not written there"
        in read(tmp_path, "mill.yarn", YARN.replace("<<jump Loft>>", "<<jump {$x}>>")).notes[0]
    )
    assert read(tmp_path, "mill.rpy", RENPY.replace("jump loft", "jump expression x")).notes != ()
    assert read(tmp_path, "start.txt", CHOICESCRIPT.replace("*goto loft", "*goto {x}")).notes != ()


DEAD = {
    "mill.html": (HTML.replace("[[Up-&gt;Loft]]", "[[Up-&gt;Lofft]]"), "Lofft"),
    "mill.twison.json": (TWISON.replace("[[Up->Loft]]", "[[Up->Lofft]]"), "Lofft"),
    "mill.twee": (TWEE.replace("[[Up->Loft]]", "[[Up->Lofft]]"), "Lofft"),
    "mill.yarn": (YARN.replace("<<jump Loft>>", "<<jump Lofft>>"), "Lofft"),
    "mill.rpy": (RENPY.replace("jump loft", "jump lofft"), "lofft"),
    "start.txt": (CHOICESCRIPT.replace("*goto loft", "*goto lofft"), "lofft"),
    "mill.ink.json": (COMPILED.replace('{"->": "loft"}', '{"->": "lofft"}'), "lofft"),
}


@pytest.mark.parametrize("name", DEAD)
def test_a_link_to_what_is_not_there_is_found_in_every_format(tmp_path: Path, name: str) -> None:
    text, target = DEAD[name]
    assert text != FILES[name]
    dead = [flaw for flaw in flaws_of(read(tmp_path, name, text)) if flaw.code == "dead-link"]
    assert [target in flaw.message for flaw in dead] == [True]
    assert "is meant?" not in dead[0].message
    assert dead[0].path


def test_nodes_of_the_yarn_files_beside_it_are_there(tmp_path: Path) -> None:
    text = YARN.replace("<<jump Loft>>", "<<jump Cellar>>", 1)
    assert [flaw.code for flaw in flaws_of(read(tmp_path, "mill.yarn", text))] == [
        "unreachable",
        "dead-link",
    ][::-1]
    (tmp_path / "more.yarn").write_text("title: Cellar\n---\nDark.\n===\n", encoding="utf-8")
    assert [flaw.code for flaw in flaws_of(read_branches(tmp_path / "mill.yarn")[0])] == ["unreachable"]


def test_twee_without_a_start_says_so(tmp_path: Path, ludic: Any) -> None:
    (tmp_path / "a.twee").write_text(":: Here\n[[There]]\n\n:: There\nx\n", encoding="utf-8")
    done = ludic("branches", tmp_path / "a.twee")
    assert done.code == 1
    assert "nothing says where the story begins [no-start]" in done.out


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.ink.json", '{"inkVersion": 99, "root": []}', "inkVersion: found 99; allowed: 18 to 21"),
        ("a.ink.json", '{"inkVersion": 21}', "root: found nothing; allowed: a list"),
        ("a.ink.json", '{"inkVersion": 21,', "not valid JSON"),
        (
            "a.ink.json",
            '{"inkVersion": 21, "root": ' + "[" * 100_000 + "]" * 100_000 + "}",
            "nested too deeply",
        ),
        ("a.twison.json", '{"passages": 3}', "passages: found 3"),
        ("a.twison.json", '{"passages": [{"name": 1}]}', "passages[0]: found"),
        ("a.html", "<html>nothing</html>", "no branching story of a format that is known"),
        ("a.html", '<tw-storydata startnode="1"></tw-storydata>', "no passages in this file"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path: Path, ludic: Any, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = ludic("branches", tmp_path / name)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


def test_many_passages_in_a_row_are_no_depth(tmp_path: Path) -> None:
    """Twenty thousand knots, each leading to the next, and a circle at the end: nothing here recurses."""
    text = "".join(f":: p{n}\n[[p{n + 1}]]\n\n" for n in range(20_000)) + ":: p20000\n[[p19999]]\n"
    story = read(tmp_path, "mill.twee", ':: StoryData\n{"start": "p0"}\n\n' + text)
    assert len(story.reachable.to("p20000")) == 20_001
    assert on_circles(story) == {"p19999", "p20000"}
    assert [flaw.code for flaw in flaws_of(story)] == ["endless"]


# What others wrote


def sample(name: str) -> Graph:
    if not SAMPLES.is_dir():
        pytest.skip("no samples of others' beside this project")
    return read_branches(SAMPLES / name)[0]


def test_sallys_links_lead_to_nodes_that_are_not_there() -> None:
    dead = [flaw for flaw in flaws_of(sample("yarn/Sally.yarn")) if flaw.code == "dead-link"]
    assert [flaw.line for flaw in dead] == [22, 26, 28]
    assert [
        "Sally.Watch" in dead[0].message,
        "Sally.Sorry" in dead[1].message,
        "Sally.Exit" in dead[2].message,
    ] == [True] * 3


def test_the_case_has_a_passage_with_no_way_in() -> None:
    assert flaws_of(sample("twee/TheCase.twison.json")) == ()
    [flaw] = flaws_of(sample("twee/TheCase_fail.twison.json"))
    assert (flaw.code, flaw.message) == ("unreachable", "no way leads to 'Choice 6'")


def test_out_of_content_runs_out_of_content() -> None:
    flaws = flaws_of(sample("ink/inktester_outofcontent.ink.json"))
    assert [(flaw.code, flaw.passage) for flaw in flaws] == [
        ("out-of-content", "Intro"),
        ("out-of-content", "NewPlace"),
        ("unreachable", "Intro.0.g-0"),
    ]


@pytest.mark.parametrize("name", ["ink/LD41_Emoji.ink.json", "ink/inktester_outofcontent.ink.json"])
def test_a_player_of_another_hand_sees_only_passages_that_are_called_reachable(name: str) -> None:
    bink = pytest.importorskip("bink.story", reason="bink is not installed")
    graph = sample(name)
    text = (SAMPLES / name).read_text(encoding="utf-8-sig")
    draw = random.Random(11)  # noqa: S311  # a sample
    visited: set[str] = set()
    ran_out = 0
    for _ in range(60):
        try:
            bink_play(bink.Story(text), draw, visited)
        except RuntimeError as error:
            if "ran out of content" not in str(error):
                raise
            ran_out += 1
    # What the other player runs into is what our graph says may happen.
    may = any(flaw.code == "out-of-content" for flaw in flaws_of(graph))
    assert may or not ran_out
    if "outofcontent" in name:
        assert ran_out
    seen = {passage for path in visited if (passage := longest(path, graph))}
    assert len(seen) >= 2
    assert seen <= set(graph.reachable)


def bink_play(story: Any, draw: random.Random, visited: set[str]) -> None:
    for _ in range(200):
        while story.can_continue():
            story.cont()
            visited.add(story.get_current_path() or "")
        choices = list(story.get_current_choices())
        if not choices:
            return
        story.choose_choice_index(draw.randrange(len(choices)))


def longest(path: str, graph: Graph) -> str | None:
    """The innermost passage that a place in the tree lies in."""
    while path:
        if path in graph.passages:
            return path
        path = path.rpartition(".")[0]
    return None


def test_ink_is_compiled_where_node_has_inkjs(tmp_path: Path) -> None:
    node = shutil.which("node")
    there = (
        node is not None
        and not subprocess.run(
            [node, "-e", "require.resolve('inkjs/full')"],
            capture_output=True,
            check=False,
            cwd=tmp_path,
            timeout=60,
        ).returncode
    )
    (tmp_path / "mill.ink").write_text(INK, encoding="utf-8")
    if not there:
        with pytest.raises(InputError, match="compile it to JSON"):
            read_branches(tmp_path / "mill.ink")
        pytest.skip("no inkjs for Node here: npm install inkjs, and NODE_PATH that leads to it")
    story = read_branches(tmp_path / "mill.ink")[0]
    assert flaws_of(story) == ()
    assert ways(story)["mill"] == [("mill.0.c-0", "Up", False), ("mill.0.c-1", "Out", True)]
    (tmp_path / "mill.ink").write_text("INCLUDE ../secret.ink\n-> END\n", encoding="utf-8")
    (tmp_path.parent / "secret.ink").write_text("-> END\n", encoding="utf-8")
    with pytest.raises(InputError, match="INCLUDE leads out of the folder"):
        read_branches(tmp_path / "mill.ink")
    (tmp_path / "mill.ink").write_text("=== a\n-> nowhere\n", encoding="utf-8")
    with pytest.raises(InputError, match="does not compile"):
        read_branches(tmp_path / "mill.ink")


# Anything at all


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_reader_is_total(name: str, data: st.DataObject, tmp_path: Path) -> None:
    text = list(FILES[name])
    for _ in range(data.draw(st.integers(1, 10))):
        place = data.draw(st.integers(0, len(text)))
        text[place : place + data.draw(st.integers(0, 8))] = data.draw(
            st.text(alphabet="[]{}<>()|->=*#:\"'\\^.$\n\t 0üé大", max_size=5)
        )
    (tmp_path / name).write_text("".join(text), encoding="utf-8")
    try:
        graph, story = read_branches(tmp_path / name)
    except InputError:
        return
    flaws_of(graph)
    on_circles(graph)
    play(graph, plays=3, seed=0)
    for passage in graph.passages.values():
        assert 0 <= passage.start <= passage.end <= len(story.prose.body)


def test_every_format_is_held_to_these_tests() -> None:
    assert {one.name for one in FORMATS} - {"ink"} == set(KNOWN.values())
