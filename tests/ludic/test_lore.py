"""Lorebooks and vaults as Story Bibles, and lorebooks written back with nothing lost."""

import copy
import json
import sys
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ludic_deepeval.bible import Bible, Node, linkage_support, load_bible, resolve_bible
from ludic_deepeval.changed import changed_stories
from ludic_deepeval.errors import InputError
from ludic_deepeval.ledger import Event, Evidence
from ludic_deepeval.lore.book import Entry, book_in, with_entries
from ludic_deepeval.lore.loading import read_lore
from ludic_deepeval.sources import read_story
from ludic_deepeval.sources.wikilinks import as_read
from ludic_deepeval.text import Prose, name_key
from ludic_deepeval.trial_plan import world_text
from ludic_deepeval.watch import inputs_of

sys.path.insert(0, str(Path(__file__).parent))  # no package: it would shadow the library

from made_cards import AQUA, archive, image, packed, text

Ludic = Callable[..., Any]
SAMPLES = Path(__file__).parents[3] / "shared/samples"
WORLD: dict[str, Any] = {
    "entries": {
        "0": {"uid": 0, "key": ["Odo Marsh", "Odo"], "keysecondary": ["mill"], "comment": "Odo Marsh", "content": "He owns the mill.", "order": 90, "disable": False, "position": 4, "x": {"y": None}},
        "7": {"uid": 7, "key": ["Odo", "old magic"], "keysecondary": [], "comment": "", "content": "@@depth 4\n@@@role user\nNobody speaks of it.", "order": 100, "disable": False},
        "8": {"uid": 8, "key": ["Gone"], "comment": "Gone", "content": "x", "disable": True},
        "9": {"uid": 9, "key": [], "comment": "Off by decorator", "content": "@@dont_activate\nx", "disable": False},
    },
    "originalData": {"kept": [1, 2, {"z": 1, "a": 2}]},
}  # fmt: skip


def write(path: Path, data: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, indent=4), encoding="utf-8"
    )
    return path


def nodes(bible: Bible) -> list[tuple[str, str, tuple[str, ...], str]]:
    return [(kind, node.name, node.aliases, node.text) for kind, _, node in bible.nodes()]


# Reading


def test_world_info_is_a_bible_of_its_entries_that_are_in_use(tmp_path: Path) -> None:
    lore = read_lore(write(tmp_path / "Long Ebb.json", WORLD))
    assert (lore.bible.id, lore.bible.name) == ("long-ebb", "Long Ebb")
    assert nodes(lore.bible) == [
        ("entries", "Odo Marsh", ("Odo",), "He owns the mill."),
        # Odo is the first entry's already; what is left gives the second its name.
        ("entries", "Odo 2", ("old magic",), "Nobody speaks of it."),
    ]
    assert lore.told[0] == "2 entries are switched off"
    # What is written small throughout is no name to Eq 11, but is found in a text.
    assert lore.bible.names == ("Odo Marsh", "Odo", "Odo 2")
    assert [node.name for _, node, _ in lore.bible.named_in("An Old Magic of Odo's.")] == [
        "Odo Marsh",
        "Odo 2",
    ]


def test_a_cards_book_is_a_bible_with_its_macros_expanded(tmp_path: Path) -> None:
    for name, data in (
        ("aqua.json", json.dumps(AQUA).encode()),
        ("aqua.png", image(text("chara", packed(AQUA)))),
        ("aqua.charx", archive({"card.json": json.dumps(AQUA).encode()})),
    ):
        (tmp_path / name).write_bytes(data)
        lore = read_lore(tmp_path / name)
        assert (lore.bible.id, lore.bible.name) == ("aqua", "The Long Lock")
        assert nodes(lore.bible) == [
            ("entries", "Odo Marsh", ("the miller",), "Aqua's old master."),
            ("entries", "Bell", (), "It hangs in the mill."),
        ]
        assert lore.told == ("1 entry is switched off", "1 key is a pattern and no name")


def test_a_lorebook_of_v3_and_one_in_yaml(tmp_path: Path) -> None:
    book = AQUA["data"]["character_book"]
    lore = read_lore(write(tmp_path / "v3.json", {"spec": "lorebook_v3", "data": book}))
    # Nobody is {{char}} in a book without a character.
    assert nodes(lore.bible)[0][3] == "{{char}}'s old master."
    made = write(
        tmp_path / "b.yaml",
        "entries:\n- {keys: [Odo], content: 'He knows.', enabled: true, insertion_order: 0}\n",
    )
    assert nodes(read_lore(made).bible) == [("entries", "Odo", (), "He knows.")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"a": 1}, "no lorebook in this file"),
        ([1], "no lorebook in this file"),
        ({"entries": "x"}, "no lorebook in this file"),
        ({"entries": []}, "no entry of this lorebook is in use"),
        ({"entries": [1]}, "entries.0: found 1"),
        ({"entries": {"3": {"content": 5}}}, "entries.3.content: found 5"),
        ({"entries": [{"keys": [1]}]}, "entries.0.keys: found a list"),
        ({"entries": [{}] * 20_001}, "20,001 entries"),
        ({**AQUA, "data": {**AQUA["data"], "character_book": None}}, "data.character_book: found nothing"),
        ("{", "not valid JSON"),
    ],
)
def test_a_lorebook_that_cannot_be_used_is_one_clear_line(
    tmp_path: Path, ludic: Ludic, data: Any, message: str
) -> None:
    path = write(tmp_path / "b.json", data)
    ran = ludic("bible", "check", path)
    assert ran.code == 2
    [line] = ran.err.splitlines()
    assert line.startswith(f"ludic: {path}: ")
    assert message in line


def test_a_lorebook_named_as_a_story_says_what_it_is(tmp_path: Path, ludic: Ludic) -> None:
    path = write(tmp_path / "b.json", WORLD)
    assert "a lorebook is a Story Bible: ludic bible check" in ludic("check", path).err


def test_many_entries_of_one_name_all_get_a_name_and_an_id(tmp_path: Path) -> None:
    entries = [{"keys": ["Odo", "🙂", "!"], "content": "x"}] * 500 + [{"keys": ["///"], "content": "y"}]
    bible = read_lore(write(tmp_path / "b.json", {"entries": entries})).bible
    assert len(bible.entries) == 501
    assert len({name_key(node.name) for node in bible.entries}) == 501


def test_a_story_names_a_lorebook_as_it_names_a_bible(tmp_path: Path, monkeypatch: Any, ludic: Ludic) -> None:
    monkeypatch.chdir(tmp_path)
    lore = write(tmp_path / "bible/long-ebb.json", WORLD)
    write(tmp_path / "a/tale.md", "---\nbible: long-ebb\n---\nThe mill burned for two nights.\n")
    assert resolve_bible("long-ebb", tmp_path / "a", "x") == lore
    write(
        tmp_path / "a/tale.marks.yaml",
        "sheet: 1\nprotagonist: Y\nevents:\n- {phase: youth, id: fire, summary: a fire, quote: The mill burned for two nights, immediacy: 1, gravity: 1, linkage: 9, divergence: 1}\n",
    )
    assert ludic("lock", "a").code == 0
    assert "names nothing of long-ebb" in ludic("check", "a/tale.md").out
    assert inputs_of(tmp_path / "a/tale.md")[lore] == "Story Bible"
    with pytest.raises(InputError, match="no Story Bible called 'ebb'"):
        resolve_bible("ebb", tmp_path, "x")
    with pytest.raises(InputError, match="no Story Bible called 'long-ebb'"):
        resolve_bible("long-ebb@v1", tmp_path, "x")


# Writing


ODD = {
    "entries": [
        {"keys": "Odo, Marsh ,", "content": None, "enabled": 1},
        {"content": "@@depth 4"},
        {"key": [" x "], "disable": 0, "order": "10", "comment": " two  blanks "},
    ]
}


@pytest.mark.parametrize(
    "document", [WORLD, AQUA, ODD, {"spec": "lorebook_v3", "data": AQUA["data"]["character_book"]}]
)
def test_what_is_not_changed_is_the_same_to_the_byte(document: Any) -> None:
    book = book_in(document, "x")
    assert json.dumps(with_entries(book, book.entries)) == json.dumps(document)


def test_only_what_differs_is_written_and_the_rest_is_kept() -> None:
    before = copy.deepcopy(WORLD)
    book = book_in(WORLD, "x")
    odo, magic, gone, _ = book.entries
    assert (odo.secondary, odo.order, magic.decorators) == (("mill",), 90, ("@@depth 4", "@@@role user"))
    new = with_entries(
        book,
        [
            replace(odo, keys=(*odo.keys, "Marsh"), order=5),
            replace(magic, content="All speak of it.", name="Magic"),
            replace(gone, enabled=True),
            Entry("", "Wat", ("Wat",), "A brother."),
        ],
    )
    assert before == WORLD  # nothing that was given is changed
    expected = copy.deepcopy(WORLD)
    expected["entries"]["0"] |= {"key": ["Odo Marsh", "Odo", "Marsh"], "order": 5}
    expected["entries"]["7"] |= {"content": "@@depth 4\n@@@role user\nAll speak of it.", "comment": "Magic"}
    expected["entries"]["8"]["disable"] = False
    del expected["entries"]["9"]
    expected["entries"]["10"] = {
        "uid": 10, "key": ["Wat"], "keysecondary": [], "comment": "Wat", "content": "A brother.", "constant": False,
        "selective": False, "order": 100, "position": 0, "disable": False,
    }  # fmt: skip
    assert json.dumps(new) == json.dumps(expected)


@settings(max_examples=100, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    "entries keys key content name comment enabled disable order uid data spec x".split()
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=25,
    )
)
def test_any_data_is_a_lorebook_that_comes_back_whole_or_a_clear_line(data: Any) -> None:
    with suppress(InputError):  # which is one line, whatever it is about
        book = book_in(data, "x")
        assert json.dumps(with_entries(book, book.entries)) == json.dumps(data)


def test_a_bible_is_exported_as_world_info(tmp_path: Path, monkeypatch: Any, ludic: Ludic) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    ran = ludic("bible", "export", "bible/faerun", "--out", tmp_path / "faerun.json")
    assert (ran.code, ran.err) == (0, "")
    faerun, back = load_bible(Path("bible/faerun")), read_lore(tmp_path / "faerun.json").bible
    assert [(node.name, node.text) for node in back.entries] == [
        (node.name, node.text) for kind, _, node in faerun.nodes() if kind != "rules"
    ]
    assert set(map(name_key, back.names)) == set(map(name_key, faerun.names))


@pytest.mark.parametrize("indent", [None, 1, 4, "\t"])
def test_a_lorebook_is_brought_up_to_date_and_keeps_the_rest(
    tmp_path: Path, ludic: Ludic, indent: Any
) -> None:
    onto = tmp_path / "card.json"
    onto.write_text(json.dumps(AQUA, ensure_ascii=False, indent=indent), encoding="utf-8")
    # Its own lore changes nothing, though `{{char}}` reads as Aqua.
    ran = ludic("bible", "export", onto, "--onto", onto, "--out", tmp_path / "same.json")
    assert ran.out.strip().endswith("same.json: 0 added, 0 changed, 3 as they were")
    assert (tmp_path / "same.json").read_bytes() == onto.read_bytes()
    bible = write(
        tmp_path / "bible/lock/bible.yaml",
        "schema_version: 1\nid: lock\nname: Lock\nfactions: [{id: bell, name: The Bell, text: It rang., aliases: [Old Tom]}, {id: w, name: Wat, text: A brother.}]\n",
    )
    ran = ludic("bible", "export", bible.parent, "--onto", onto, "--out", tmp_path / "new.json")
    assert ran.out.strip().endswith("new.json: 1 added, 1 changed, 2 as they were")
    expected = copy.deepcopy(AQUA)
    entries = expected["data"]["character_book"]["entries"]
    entries[1]["content"] = "@@depth 4\n@@scan_depth 2\nIt rang."
    entries[1]["keys"] = ["/bell.*/i", "Old Tom"]
    found = json.loads((tmp_path / "new.json").read_text(encoding="utf-8"))
    added = found["data"]["character_book"]["entries"].pop()
    assert (added["name"], added["keys"], added["content"], added["id"]) == ("Wat", ["Wat"], "A brother.", 3)
    assert json.dumps(found) == json.dumps(expected)
    lines = (tmp_path / "new.json").read_text(encoding="utf-8").split("\n")
    assert (len(lines) == 1) == (indent is None)


def test_an_export_that_cannot_be_written_says_why(tmp_path: Path, ludic: Ludic) -> None:
    lore = write(tmp_path / "b.json", WORLD)
    (tmp_path / "a.png").write_bytes(image(text("chara", packed(AQUA))))
    for options, message in (
        (["--out", tmp_path / "x.png"], "--out: ends in '.png'"),
        (["--out", tmp_path / "x.json", "--onto", tmp_path / "a.png"], "an image or an archive"),
    ):
        ran = ludic("bible", "export", lore, *options)
        assert ran.code == 2
        assert message in ran.err


# Vaults

NFD = unicodedata.normalize("NFD", "Zoë")
NFC = unicodedata.normalize("NFC", "Zoë")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A vault as Obsidian leaves it on a Mac, with a story in it."""
    home = tmp_path / "My World"
    (home / ".obsidian").mkdir(parents=True)
    write(home / ".obsidian/notes.md", "Not a note.")
    write(
        home / "People" / f"{NFD}.md",
        "---\naliases: [The Keeper]\ntags: [npc]\n---\nShe hates [[House Marsh|the house]].\n",
    )
    write(
        home / "Factions/House Marsh.md",
        "They own [[The Mill#Cellar]] and ![[map.png]] know [[Nobody]] and [[Zoë]].\n",
    )
    write(
        home / "Places/The Mill.md",
        "---\ntype: location\nallegiance: '[[House Marsh]]'\naliases: Old Mill, Wheel\n---\nIt burned.\n",
    )
    write(home / "broken.md", "---\na: [\n---\nx\n")
    write(home / "README.md", "About.")
    write(
        home / "Stories/tale.md",
        f"---\nbible: my-world\n---\n[[{NFC}]] went to [[The Mill|the old mill]] and burned it.\n",
    )
    write(
        home / "Stories/tale.marks.yaml",
        "sheet: 1\nprotagonist: Zoë\nevents:\n- {phase: youth, id: fire, summary: a fire, quote: Zoë went to the old mill, location: Wheel, immediacy: 1, gravity: 1, linkage: 9, divergence: 1}\n",
    )
    return home


def test_a_vault_is_a_bible_of_its_notes(vault: Path, ludic: Ludic) -> None:
    bible = load_bible(vault)
    assert (bible.id, bible.name) == ("my-world", "My World")
    assert nodes(bible) == [
        ("factions", "House Marsh", (), "They own The Mill > Cellar and  know Nobody and Zoë."),
        ("locations", "The Mill", ("Old Mill", "Wheel"), "It burned."),
        ("people", NFC, ("The Keeper",), "She hates the house."),
    ]
    assert bible.locations[0].allegiance == bible.factions[0].id
    assert bible.find(NFD) == bible.find(NFC) != None  # noqa: E711  # a chain of comparisons
    out = ludic("bible", "check", vault).out
    # Zoë is written in one way in the link and in the other on the disk: that is one note.
    assert "links lead to 1 note that is not there (Nobody)" in out
    assert "1 note could not be read: " in out


def test_a_story_in_a_vault_goes_from_file_to_verdict(vault: Path, ludic: Ludic) -> None:
    tale = vault / "Stories/tale.md"
    story = read_story(tale)
    assert story.prose.body == "Zoë went to the old mill and burned it."
    # The words of a link stand where they are written: after `[[`, and after the bar.
    assert (story.prose.place(0).line, story.prose.place(0).column) == (4, 3)
    line = tale.read_text(encoding="utf-8").split("\n")[3]
    assert story.prose.place(story.prose.body.index("the old")).column == line.index("the old") + 1
    assert ludic("lock", tale).code == 0
    ran = ludic("check", tale, "--json")
    [told] = json.loads(ran.out)["stories"]
    assert told["state"] == "read"
    assert not [one for one in told["findings"] if one["code"] in {"bare-linkage", "unknown-place"}]
    assert inputs_of(tale)[vault / "Places/The Mill.md"] == "Story Bible"


def test_a_vault_of_more_notes_or_words_than_anybody_has_is_refused(
    vault: Path, monkeypatch: Any, ludic: Ludic
) -> None:
    monkeypatch.setattr("ludic_deepeval.lore.vault.MAX_NODES", 2)
    ran = ludic("bible", "check", vault)
    assert (ran.code, ran.err) == (2, f"ludic: {vault}: more than 2 notes; allowed: at most 2\n")
    monkeypatch.setattr("ludic_deepeval.lore.vault.MAX_NODES", 20_000)
    monkeypatch.setattr("ludic_deepeval.lore.vault.MAX_TOTAL", 100)
    assert "more than 0 MiB of notes" in ludic("bible", "check", vault).err


def test_a_vault_without_a_note_that_can_be_read_says_why(tmp_path: Path, ludic: Ludic) -> None:
    write(tmp_path / "v/.obsidian/x", "")
    assert "no notes here" in ludic("bible", "check", tmp_path / "v").err
    write(tmp_path / "v/a.md", "---\na: [\n---\n")
    assert "a.md: line 3, column 1: not valid YAML" in ludic("bible", "check", tmp_path / "v").err


def test_a_changed_note_concerns_the_stories_of_its_vault(vault: Path, monkeypatch: Any) -> None:
    import subprocess

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
            cwd=vault,
            check=True,
            capture_output=True,
        )

    git("init", "-q", "-b", "main")
    (vault / "aqua.png").write_bytes(image(text("chara", packed(AQUA))))
    git("add", "-A")
    git("commit", "-qm", "one")
    monkeypatch.chdir(vault)
    assert changed_stories([Path("Stories"), Path("aqua.png")], "HEAD").stories == ()
    write(vault / "Places/The Mill.md", "It stands.\n")
    assert changed_stories([Path("Stories")], "HEAD").stories == (Path("Stories/tale.md"),)
    git("commit", "-qam", "two")
    write(vault / "aqua.png.about.yaml", "title: Aqua\n")
    assert changed_stories([Path()], "HEAD").stories == (Path("aqua.png"),)
    assert changed_stories([Path("aqua.png")], "HEAD").stories == (Path("aqua.png"),)


def test_a_folder_of_notes_that_were_written_for_another_program_is_a_bible() -> None:
    folder = SAMPLES / "storybible/the-last-ember"
    if not folder.is_dir():
        pytest.skip("../shared is not here")
    bible = load_bible(folder)
    assert {node.name for node in bible.locations} == {"The Ashen Citadel", "The Whispering Vale"}
    assert {"Sera Voss", "Kael Voss", "Lord Maren", "The Shadow"} <= set(bible.names)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("a [[Name]] b", "a Name b"),
        ("[[Name|alias]] and [[Name|]]", "alias and Name"),
        ("[[Name#Heading]], [[#Heading]]", "Name > Heading, Heading"),
        ("| [[Name\\|alias]] |", "| alias |"),
        ("![[embed.png]]![[Note|200]]x", "x"),
        ("`[[code]]` and ``a ` [[code]]``", "`[[code]]` and ``a ` [[code]]``"),
        ("```\n[[code]]\n```\n[[Name]]", "```\n[[code]]\n```\nName"),
        ("~~~\n[[code]]", "~~~\n[[code]]"),
        ("a ` [[Name]]", "a ` Name"),
        ("a ` b\n\nc ` [[Name]]", "a ` b\n\nc ` Name"),
        ("[[]] [[a\nb]] [[[x]]", "[[]] [[a\nb]] [x"),
    ],
)
def test_links_are_shown_as_a_reader_sees_them(written: str, said: str) -> None:
    found, at = as_read(written)
    assert found == said
    assert len(at) == len(found) + 1
    assert list(at) == sorted(at)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=80), name=st.sampled_from(["n.md", "People/x.md"]))
def test_a_note_of_any_bytes_is_read_or_told(tmp_path: Path, data: bytes, name: str) -> None:
    home = tmp_path / "v"
    (home / ".obsidian").mkdir(parents=True, exist_ok=True)
    write(home / "whole.md", "A note.")
    (home / "People").mkdir(exist_ok=True)
    (home / name).write_bytes(b"---\n" + data)
    lore = read_lore(home)
    assert [node.text for node in lore.bible.entries if node.name == "whole"] == ["A note."]
    (home / name).unlink()


# Linkage, found by an index


def test_names_are_found_by_the_index_as_by_looking_at_each() -> None:
    """A second, plain implementation: every name of every node is looked for in the whole text."""

    def plainly(text: str, bible: Bible) -> list[str]:
        padded = f" {name_key(text)} "
        return [
            name
            for _, _, node in bible.nodes()
            for name in node.names
            if f" {(key := name_key(name))} " in padded
            or f" {key}s " in padded
            or (not key.isascii() and key in padded)
        ]

    names = ["Odo", "Odo Marsh", "the Mills", "Zoë", "龙城", "a b c", "Glass", "Glas", "Émile's"]
    bible = Bible(
        schema_version=1,
        id="b",
        name="B",
        entries=tuple(Node(id=f"n-{n}x", name=name, text="x") for n, name in enumerate(names)),
    )
    for said in (
        "Odo Marsh saw the Mill.",
        "Odos",
        "She went to 飞龙城下 with Zoës",
        "a b c and a b cs",
        "glass",
        "Émiles x",
        "Emile",
        "",
    ):
        assert [name for _, _, name in bible.named_in(said)] == plainly(said, bible), said
    event = Event(
        id="e",
        phase="P1",
        summary="Zoë and Odo Marsh",
        evidence=(Evidence(quote="in 龙城 they met", start=0, end=11),),
    )
    assert [node for _, node, _ in linkage_support(event, bible).supported] == [
        "n-0x",
        "n-1x",
        "n-3x",
        "n-4x",
    ]


def test_a_model_that_writes_in_a_vault_is_told_of_every_note(vault: Path) -> None:
    write(vault / "Notes/Salt.md", "Nobody eats it.")
    told = world_text(load_bible(vault))
    assert told.split("\n")[-2:] == ["Further lore:", "- Salt: Nobody eats it."]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_lorebook_with_any_bytes_changed_is_a_bible_or_a_clear_line(
    tmp_path: Path, data: st.DataObject
) -> None:
    whole = bytearray(json.dumps(WORLD, indent=1).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        if data.draw(st.booleans()):
            whole[at] ^= data.draw(st.integers(1, 255))
        else:
            del whole[at : at + data.draw(st.integers(1, 40))]
            whole = whole or bytearray(b"x")
    path = tmp_path / "b.json"
    path.write_bytes(bytes(whole))
    with suppress(InputError):  # which is one line, whatever it is about
        load_bible(path)


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("[]!|#\\`~\n ab/^é\u0301\r"), max_size=60))
def test_any_text_with_links_has_places_that_never_go_back(written: str) -> None:
    found, at = as_read(written)
    assert len(at) == len(found) + 1
    assert list(at) == sorted(at)
    prose = Prose(written, front_matter=False, reading=as_read)
    for offset in range(len(prose.body) + 1):
        prose.place(offset)
