"""Story Bibles as data: the two that ship, what is refused, and how a story finds its own."""

import json
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.bible import Bible, linkage_support, load_bible, resolve_bible
from ludic_deepeval.errors import InputError
from ludic_deepeval.ledger import Event

SHIPPED = Path(__file__).parents[2] / "bible"

GOOD: dict[str, Any] = {
    "schema_version": 1,
    "id": "coast",
    "name": "The Coast",
    "factions": [{"id": "harpers", "name": "the Harpers", "aliases": ["Harper"], "text": "spies"}],
    "locations": [{"id": "keep", "name": "Candlekeep", "allegiance": "harpers", "text": "books"}],
    "rules": [{"id": "law", "name": "the law", "practice": "theft", "places": ["keep"], "text": "no theft"}],
}


def write(folder: Path, data: object = GOOD) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = data if isinstance(data, str) else json.dumps(data)  # JSON is YAML, and has no aliases
    (folder / "bible.yaml").write_text(text, encoding="utf-8")
    return folder


def refused(folder: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        load_bible(folder)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(folder))
    return caught.value


# The two that ship


@pytest.mark.parametrize("name", ["faerun", "long-ebb"])
def test_a_shipped_bible_loads_under_the_name_of_its_folder_in_version_1(name: str) -> None:
    bible = load_bible(SHIPPED / name)
    assert (bible.id, bible.version) == (name, "v1")
    for kind in ("factions", "locations", "deities", "history", "rules"):
        assert getattr(bible, kind), kind


def test_the_papers_example_of_a_lore_violation_is_a_rule_of_the_shipped_faerun() -> None:
    """§4.3: "openly using necromancy in a city of the Lords' Alliance, which the Bible forbids"."""
    faerun = load_bible(SHIPPED / "faerun")
    (rule,) = (rule for rule in faerun.rules if rule.practice == "necromancy")
    assert rule.openly
    assert faerun.find("the Lords' Alliance") == ("factions", faerun.factions[3])
    assert rule.allegiance == faerun.factions[3].id
    assert faerun.location("Waterdeep").allegiance == rule.allegiance
    assert faerun.location("Candlekeep").allegiance is None


# Names


def test_a_node_is_found_by_id_name_or_alias_whatever_its_case_and_article() -> None:
    bible = Bible.model_validate(GOOD)
    for name in ("harpers", "the Harpers", "HARPERS", "a Harper"):
        assert bible.find(name) == ("factions", bible.factions[0])
    assert bible.find("the Zhentarim") is None


def test_a_location_is_never_a_faction_or_a_rule() -> None:
    bible = Bible.model_validate(GOOD)
    assert bible.location("candlekeep") == bible.locations[0]
    assert bible.location("the Harpers") is None
    assert bible.location("the law") is None
    assert bible.location(None) is None


def test_the_names_of_a_bible_leave_out_its_rules() -> None:
    assert Bible.model_validate(GOOD).names == ("the Harpers", "Harper", "Candlekeep")


# What linkage rests on


def test_linkage_support_names_the_nodes_that_an_event_names_and_their_kinds() -> None:
    event = Event.model_validate(
        {
            "id": "raid",
            "phase": "P2",
            "summary": "A Harper warned of the Spellplague before Tymora's feast",
            "immediacy": 5,
            "gravity": 5,
            "linkage": 9,
            "divergence": 5,
            "location": "the gate",
            "factions": ["Zhent", "the Iron Ring"],
        }
    )
    found = linkage_support(event, load_bible(SHIPPED / "faerun"))
    assert (found.event, found.linkage) == ("raid", 9)
    assert {(kind, node) for kind, node, _ in found.supported} == {
        ("factions", "harpers"),
        ("factions", "zhentarim"),
        ("locations", "baldurs-gate"),
        ("deities", "tymora"),
        ("history", "spellplague"),
    }
    assert found.kinds == {"factions", "locations", "deities", "history"}
    assert found.unknown == ("the Iron Ring",)


def test_linkage_support_reads_the_quotes_too() -> None:
    event = Event.model_validate(
        {
            "id": "e",
            "phase": "P1",
            "summary": "somebody sold a book",
            "evidence": [{"quote": "the book went to Candlekeep", "start": 0, "end": 27}],
        }
    )
    found = linkage_support(event, Bible.model_validate(GOOD))
    assert found.supported == (("locations", "keep", "Candlekeep"),)
    assert found.linkage is None


def test_a_name_inside_another_word_supports_nothing() -> None:
    event = Event(id="e", phase="P1", summary="the sharper of the two Candlekeepings left")
    assert linkage_support(event, Bible.model_validate(GOOD)).supported == ()


def test_a_chinese_name_is_found_without_blanks_around_it() -> None:
    bible = Bible.model_validate(
        {**GOOD, "factions": [*GOOD["factions"], {"id": "qing", "name": "青帮", "text": "x"}]}
    )
    event = Event(id="e", phase="P1", summary="他欠青帮一笔钱")
    assert linkage_support(event, bible).supported == (("factions", "qing", "青帮"),)


# Malformed


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in GOOD.items() if name != key}


def with_node(kind: str, **changes: Any) -> dict[str, Any]:
    return {**GOOD, kind: [{**GOOD[kind][0], **changes}]}


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (without("schema_version"), "schema_version"),
        (without("id"), "id"),
        (without("name"), "name"),
        ({**GOOD, "schema_version": 2}, "schema_version"),
        ({**GOOD, "schema_version": True}, "schema_version"),
        ({**GOOD, "schema_version": "1"}, "schema_version"),
        ({**GOOD, "id": "two words"}, "id"),
        ({**GOOD, "name": " "}, "name"),
        ({**GOOD, "name": None}, "name"),
        ({**GOOD, "fraction": []}, "fraction"),
        ({**GOOD, "deities": {"id": "x"}}, "deities"),
        ({**GOOD, "deities": "x"}, "deities"),
        ({**GOOD, "deities": ["x"]}, "deities[0]"),
        ({**GOOD, "deities": [{"id": "d", "name": "D", "text": "x"}] * 20_001}, "deities"),
        (with_node("factions", text=""), "factions[0].text"),
        (with_node("factions", aliases="Harper"), "factions[0].aliases"),
        (with_node("factions", colour="red"), "factions[0].colour"),
        (with_node("locations", allegiance="zhentarim"), "locations[0].allegiance"),
        (with_node("rules", places=["harbour"]), "rules[0].places"),
        (with_node("rules", places=["harpers"]), "rules[0].places"),
        (with_node("rules", allegiance="keep"), "rules[0].allegiance"),
        (with_node("rules", openly="yes"), "rules[0].openly"),
        (with_node("rules", practice=None), "rules[0].practice"),
        (with_node("locations", name="The Harpers"), "locations[0]"),
        (with_node("locations", id="harper", name="Somewhere"), "locations[0]"),
        ({**GOOD, "factions": GOOD["factions"] * 2}, "factions[1]"),
        (
            {**GOOD, "factions": [*GOOD["factions"], {"id": "harpers", "name": "X", "text": "x"}]},
            "factions[1]",
        ),
        (with_node("locations", id="harpers"), "locations[0]"),
    ],
)
def test_a_malformed_bible_is_one_line_that_names_the_place(
    tmp_path: Path, data: dict[str, Any], where: str
) -> None:
    assert refused(write(tmp_path, data)).where == where


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- a list",
        "just words",
        "3",
        "id: [unclosed",
        "id: a\nid: b",
        "a: &x [1]\nb: *x",
        "id: !!python/object/apply:os.system ['true']",
        "a: " + "[" * 500 + "]" * 500,
        "id: \ttab",
        "1: 2",
        "? [a, b]\n: c",
        "id: \x07",
    ],
)
def test_text_that_is_no_bible_is_one_line_that_names_the_file(tmp_path: Path, text: str) -> None:
    assert refused(write(tmp_path, text)).file == str(tmp_path / "bible.yaml")


@pytest.mark.parametrize("data", [b"\xff\xfei\x00", b"id: \xe9", b"id: \x00"])
def test_bytes_that_are_no_utf_8_text_are_one_line_that_names_the_file(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "bible.yaml").write_bytes(data)
    assert refused(tmp_path).file == str(tmp_path / "bible.yaml")


def test_a_bible_larger_than_a_mebibyte_is_refused(tmp_path: Path) -> None:
    assert "1,024 KiB" in str(refused(write(tmp_path, "# " + "x" * 1024 * 1024)))


def test_a_folder_without_a_bible_is_refused(tmp_path: Path) -> None:
    assert "v1/bible.yaml" in refused(tmp_path).allowed
    assert "no such folder" in str(refused(tmp_path / "nowhere"))


def test_a_reference_to_nobody_says_who_there_is(tmp_path: Path) -> None:
    error = refused(write(tmp_path, with_node("locations", allegiance="zhentarim")))
    assert "'zhentarim'" in error.found
    assert error.allowed == "harpers"


# Versions


def test_the_newest_version_is_loaded_by_its_number_and_not_by_its_spelling(tmp_path: Path) -> None:
    for version in ("v1", "v2", "v10"):
        write(tmp_path / version, {**GOOD, "version": version})
    assert load_bible(tmp_path).version == "v10"
    assert load_bible(tmp_path, "v2").version == "v2"


def test_a_folder_that_is_no_version_is_not_one(tmp_path: Path) -> None:
    write(tmp_path / "v1", {**GOOD, "version": "v1"})
    write(tmp_path / "v2-draft", {**GOOD, "version": "draft"})
    (tmp_path / "v3").mkdir()
    assert load_bible(tmp_path).version == "v1"


def test_a_version_that_is_not_there_says_which_are(tmp_path: Path) -> None:
    write(tmp_path / "v1")
    write(tmp_path / "v2")
    with pytest.raises(InputError) as caught:
        load_bible(tmp_path, "v3")
    assert caught.value.allowed == "v1, v2"


# Finding a story's bible


@pytest.mark.parametrize(
    "reference",
    [
        "../faerun",
        "..",
        ".",
        "",
        "/etc",
        "a/b",
        "a\\b",
        "faerun@latest",
        "faerun@../v1",
        "faerun@v1/..",
        "faerun@",
        "faerun@v",
        "~",
        "faerun\n",
        "faerun v1",
        "http://x",
    ],
)
def test_a_reference_that_is_a_path_or_no_name_is_refused(tmp_path: Path, reference: str) -> None:
    write(tmp_path / "bible" / "faerun" / "v1")
    with pytest.raises(InputError) as caught:
        resolve_bible(reference, tmp_path, "story.md")
    assert caught.value.where == "bible"
    assert "not a path" in caught.value.allowed
    assert str(caught.value).startswith("story.md: bible: ")
    assert "\n" not in str(caught.value)


def test_a_bible_is_found_beside_the_story_and_above_it_nearest_first(tmp_path: Path) -> None:
    far = write(tmp_path / "bible" / "faerun" / "v1").parent
    deep = tmp_path / "stories" / "north"
    deep.mkdir(parents=True)
    assert resolve_bible("faerun", deep, "story.md") == far.resolve()
    near = write(tmp_path / "stories" / "bible" / "faerun")
    assert resolve_bible("faerun", deep, "story.md") == near.resolve()


def test_a_reference_with_a_version_leads_to_that_version(tmp_path: Path) -> None:
    write(tmp_path / "bible" / "faerun" / "v1", {**GOOD, "version": "v1"})
    write(tmp_path / "bible" / "faerun" / "v2", {**GOOD, "version": "v2"})
    assert load_bible(resolve_bible("faerun@v1", tmp_path, "s")).version == "v1"
    assert load_bible(resolve_bible("faerun", tmp_path, "s")).version == "v2"


def test_a_name_that_no_folder_has_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "bible" / "faerun").mkdir(parents=True)  # a folder, but no bible in it
    for name in ("faerun", "nowhere-at-all"):
        with pytest.raises(InputError, match=f"no Story Bible called '{name}'"):
            resolve_bible(name, tmp_path, "story.md")
