"""`ludic check --bible`: prose held against a version of a Story Bible, with a ledger or without; retired nodes of bibles."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.bible import Bible, dropped, load_bible, open_bible, versions_of
from ludic_deepeval.consistency import check_consistency
from ludic_deepeval.errors import InputError
from ludic_deepeval.ledger import load_ledger
from ludic_deepeval.trial_plan import draw, world_text

Ludic = Callable[..., Any]
SHIPPED = Path(__file__).parents[2] / "bible"
LINE = "Take the salt to Ombrey, they pay double at the bridge.\n"


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(SHIPPED, tmp_path / "bible")
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines/hawker.md").write_text(LINE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("bible", ["ember-road@v2", "ember-road", "bible/ember-road", "bible/ember-road@v2", "bible/ember-road/v2"])  # fmt: skip
def test_a_line_that_counts_on_what_is_gone_fails_also_without_a_ledger(
    lines: Path, ludic: Ludic, bible: str
) -> None:
    ran = ludic("check", "lines", "--bible", bible, "--allow-unread")
    assert ran.code == 1
    assert "error line 1: counts on Ombrey, destroyed in v2  [retired-lore]" in ran.out
    assert "against ember-road@v2, ombrey (v2): “Ombrey burned" in ran.out
    assert ran.out.splitlines()[-1] == "1 story: 1 not read, 1 against the Story Bible"


def test_the_same_line_fits_the_version_before(lines: Path, ludic: Ludic) -> None:
    assert ludic("check", "lines", "--bible", "ember-road@v1", "--allow-unread").code == 0
    assert ludic("check", "lines", "--allow-unread").code == 0


def test_programs_get_the_finding_with_its_code_quote_and_place(lines: Path, ludic: Ludic) -> None:
    ran = ludic("check", "lines", "--bible", "ember-road@v2", "--json")
    (story,) = json.loads(ran.out)["stories"]
    found = [one for one in story["findings"] if one["code"] == "retired-lore"]
    assert [(one["severity"], one["line"], one["quote"]) for one in found] == [("error", 1, LINE.strip())]
    assert story["state"] == "unread"


def test_a_mark_can_say_that_the_speaker_lies(lines: Path, ludic: Ludic) -> None:
    marked = "---\nintentional:\n- {code: retired-lore, quote: to Ombrey, reason: a swindler}\n---\n"
    (lines / "lines/hawker.md").write_text(marked + LINE, encoding="utf-8")
    ran = ludic("check", "lines", "--bible", "ember-road@v2", "--allow-unread")
    assert (ran.code, "intentional: a swindler" in ran.out) == (0, True)
    assert ludic("check", "lines", "--allow-unread").code == 0  # looked at only where lore is
    ran = ludic("check", "lines", "--bible", "ember-road@v1", "--allow-unread")
    assert (ran.code, "marked intentional, but not found" in ran.out) == (1, True)


def test_a_setting_can_turn_a_code_off(lines: Path, ludic: Ludic) -> None:
    (lines / "ludic.toml").write_text('[severity]\nretired-lore = "warning"\n', encoding="utf-8")
    ran = ludic("check", "lines", "--bible", "ember-road@v2", "--allow-unread")
    assert (ran.code, "warning line 1: counts on Ombrey" in ran.out) == (0, True)


def test_a_story_with_a_ledger_is_scored_as_ever_and_its_lpi_does_not_move(lines: Path, ludic: Ludic) -> None:
    for name in ("from-the-box.md", "from-the-box.ledger.json", "from-the-box.marks.yaml"):
        shutil.copy(SHIPPED.parent / "test_cases/backstories" / name, lines / "lines" / name)
    story = lines / "lines/from-the-box.md"

    def figures(*more: str) -> dict[str, Any]:
        found = json.loads(ludic("check", "lines/from-the-box.md", "--json", *more).out)["stories"][0]
        return {name: found[name] for name in ("lpi", "components", "pcv", "gate", "state")}

    assert figures() == figures("--bible", "ember-road@v2")
    prose = story.read_text(encoding="utf-8")
    story.write_text(f"{prose.rstrip()}\n\n{LINE}", encoding="utf-8")
    ludic("relock", "--read", "lines/from-the-box.md")
    ran = json.loads(ludic("check", "lines/from-the-box.md", "--json", "--bible", "ember-road@v2").out)
    (story_after,) = ran["stories"]
    assert "retired-lore" in {one["code"] for one in story_after["findings"]}
    assert story_after["state"] == "read"
    assert story_after["holds"] is False


@pytest.mark.parametrize("bible", ["nowhere", "ember-road@v9", "../etc", "bible", "", "ember-road@"])
def test_a_bible_that_there_is_not_is_one_line(lines: Path, ludic: Ludic, bible: str) -> None:
    ran = ludic("check", "lines", "--bible", bible)
    assert ran.code == 2
    assert len(ran.faults) == 1


def test_an_empty_bible_finds_nothing_and_says_nothing_false(lines: Path, ludic: Ludic) -> None:
    (lines / "bible/void").mkdir()
    (lines / "bible/void/bible.yaml").write_text(
        "schema_version: 1\nid: void\nname: Void\n", encoding="utf-8"
    )
    ran = ludic("check", "lines", "--bible", "void", "--allow-unread")
    assert ran.code == 2
    assert "void" in ran.err
    assert "empty" in ran.err


# Bibles


def shipped(version: str) -> dict[str, Any]:
    return load_bible(SHIPPED / "ember-road", version).model_dump(mode="json")


@pytest.mark.parametrize(
    ("version", "retired", "words"),
    [
        ("v1", "v2", "nothing retired in a first version"),
        ("v2", "v3", "v2 to v2"),
        ("v2", "v1", "v2 to v2"),
        ("v10", "v11", "v2 to v10"),
    ],
)
def test_a_version_retires_what_an_earlier_one_had_and_knows_no_later(
    version: str, retired: str, words: str
) -> None:
    data = shipped("v2") | {"version": version}
    for kind in ("locations", "people", "history", "rules"):
        for node in data[kind]:
            node["retired"] = None
    data["locations"][0]["retired"] = {"version": retired, "how": "destroyed", "text": "gone"}
    with pytest.raises(ValueError, match=words):
        Bible.model_validate(data)


def test_a_folder_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "v3").mkdir()
    shutil.copy(SHIPPED / "ember-road/v2/bible.yaml", tmp_path / "v3/bible.yaml")
    with pytest.raises(InputError, match="version: found 'v2'; allowed: v3, as its folder"):
        load_bible(tmp_path)


def test_a_node_that_a_version_drops_unsaid_fails_the_bibles_check(lines: Path, ludic: Ludic) -> None:
    one, two = versions_of(SHIPPED / "ember-road")
    assert dropped(one, two) == ()
    path = lines / "bible/ember-road/v2/bible.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("- id: hollow-inn", "- id: hollow-house"), encoding="utf-8")
    ran = ludic("bible", "check", "bible/ember-road")
    assert (ran.code, "v2 drops hollow-inn; keep what is no more, as retired" in ran.out) == (1, True)
    assert json.loads(ludic("bible", "check", "bible/ember-road", "--json").out)["dropped"] == {
        "v2": ["hollow-inn"]
    }


def test_a_law_that_was_repealed_forbids_nothing() -> None:
    event = {
        "id": "e", "phase": "P3", "summary": "drives dark", "location": "Kestrel Ford",
        "practices": [{"practice": "travelling without a lamp", "openly": True}],
    }  # fmt: skip
    ledger = load_ledger({"schema_version": 1, "protagonist": "A", "events": [event]})
    data = shipped("v2")
    data["locations"][1]["allegiance"] = (
        "carters-league"  # as in v1, so that only the repeal makes a difference
    )
    worlds = (load_bible(SHIPPED / "ember-road", "v1"), Bible.model_validate(data))
    assert [check_consistency(ledger, world).lore for world in worlds] == [1, 0]


def test_a_trial_is_never_set_in_what_is_gone_and_is_told_that_it_is() -> None:
    world = open_bible("ember-road@v2", SHIPPED)
    assert "ombrey" not in {draw(world, seed)[1].id for seed in range(60)}
    assert "- Ombrey (also the Ombrey market): no more since v2: Ombrey burned" in world_text(world)
