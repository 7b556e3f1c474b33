"""Quests: grown from what is open, filled from the ledger alone, every value with its source."""

import json
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.errors import InputError
from ludic_deepeval.ledger import Event, FactLedger, Goal, Hook, Mystery, Npc, Relation
from ludic_deepeval.lockfile import load_lockfile
from ludic_deepeval.quests import Quest, quests_of
from ludic_deepeval.quests.templates import default_templates, load_templates

STORIES = Path(__file__).parents[2] / "test_cases/backstories"
TEMPLATES = default_templates()


def npc(**given: Any) -> Npc:
    return Npc(
        **(
            {"id": "rusk", "name": "Jacoba Rusk", "status": "alive", "tie": "enemy", "unresolved": True}
            | given
        )
    )


def hook(**given: Any) -> Hook:
    return Hook(**({"id": "vote", "text": "She wants the vote by noon", "tier": 1, "npc": "rusk"} | given))


def ledger_of(**lists: Any) -> FactLedger:
    return FactLedger(schema_version=1, protagonist="Ottilie", **lists)


def kinds(ledger: FactLedger) -> list[str]:
    return [quest.template for quest in quests_of(ledger, TEMPLATES)]


def values(quest: Quest) -> dict[str, tuple[str, str]]:
    return {one.name: (one.value, one.source) for one in quest.fields}


# §6.1: "a Tier-1 active enemy hook […] instantiates a Bounty or Ambush template populated from that NPC's Fact Ledger"


def test_an_urgent_hook_on_an_active_enemy_is_a_bounty() -> None:
    [quest] = quests_of(ledger_of(npcs=(npc(),), hooks=(hook(),)), TEMPLATES)
    assert quest.template == "bounty"
    assert quest.tier == 1
    assert quest.grows_from == "hooks/vote"
    assert values(quest) == {
        "target": ("Jacoba Rusk", "npcs/rusk.name"),
        "character": ("Ottilie", "protagonist"),
        "charge": ("She wants the vote by noon", "hooks/vote.text"),
    }


def test_where_the_place_is_known_it_can_be_an_ambush_too() -> None:
    placed = ledger_of(npcs=(npc(),), hooks=(hook(location="the gallery"),))
    assert kinds(placed) == ["ambush", "bounty"]
    by_event = Event(
        id="e", phase="P3", summary="She threatens", location="the quay", relations=(Relation(npc="rusk"),)
    )
    ambush, _ = quests_of(ledger_of(npcs=(npc(),), hooks=(hook(),), events=(by_event,)), TEMPLATES)
    assert values(ambush)["place"] == ("the quay", "events/e.location")


@pytest.mark.parametrize(
    ("person", "thread"),
    [
        ({"status": "dead"}, {}),
        ({"unresolved": False}, {}),
        ({"tie": "ally"}, {}),
        ({}, {"tier": 2}),
        ({}, {"open": False}),
        ({}, {"npc": None}),
    ],
)
def test_nobody_else_gets_a_bounty(person: dict[str, Any], thread: dict[str, Any]) -> None:
    found = kinds(ledger_of(npcs=(npc(**person),), hooks=(hook(**({"location": "here"} | thread)),)))
    assert not {"bounty", "ambush"} & set(found)


@pytest.mark.parametrize(
    ("person", "thread", "template"),
    [
        ({"tie": "creditor"}, {}, "collection"),
        ({"tie": "debtor"}, {"tier": 2}, "called-in"),
        ({"tie": "rival"}, {"tier": 3}, "contest"),
        ({"tie": "family", "status": "missing"}, {}, "search"),
        ({"tie": "mentor"}, {"tier": 2}, "errand"),
        ({"tie": "other"}, {}, "deadline"),
        ({"tie": "other"}, {"tier": 2}, "trail"),
        ({}, {"npc": None}, "deadline"),
    ],
)
def test_other_hooks_grow_other_quests(person: dict[str, Any], thread: dict[str, Any], template: str) -> None:
    found = kinds(ledger_of(npcs=(npc(**person),), hooks=(hook(**thread),)))
    assert [one for one in found if one != "encounter"] == [template]


def test_mysteries_goals_and_unsettled_people_grow_quests_too() -> None:
    ledger = ledger_of(
        npcs=(npc(tie="ally"), npc(id="old", name="Fulk", tie="mentor", unresolved=False)),
        goals=(Goal(id="a", text="Find the stair"), Goal(id="b", text="Rest", proactive=False)),
        mysteries=(Mystery(id="laugh", text="somebody laughed"),),
    )
    assert kinds(ledger) == ["encounter", "investigation", "undertaking"]


def test_a_story_with_nothing_open_grows_none() -> None:
    assert quests_of(ledger_of(npcs=(npc(status="dead"),), hooks=(hook(open=False),)), TEMPLATES) == ()


def test_hearsay_is_no_place_where_somebody_was_seen() -> None:
    rumour = Event(
        id="e",
        phase="P3",
        summary="x",
        location="the quay",
        relations=(Relation(npc="rusk"),),
        asserted_by="a drunk",
    )
    assert kinds(ledger_of(npcs=(npc(),), hooks=(hook(),), events=(rumour,))) == ["bounty"]


def test_every_value_stands_in_the_ledger_at_its_source() -> None:
    seen = 0
    for path in sorted(STORIES.glob("*.ledger.json")):
        ledger = load_lockfile(path).ledger
        whole = ledger.model_dump(mode="json")
        for quest in quests_of(ledger, TEMPLATES):
            for one in quest.fields:
                seen += 1
                place, _, name = one.source.rpartition(".")
                if not place:
                    assert one.value == " ".join(str(whole[one.source]).split())
                    continue
                list_name, _, item_id = place.partition("/")
                [item] = [item for item in whole[list_name] if item["id"] == item_id]
                value = item[name]
                said = ", ".join(value) if isinstance(value, list) else str(value)
                assert one.value == " ".join(said.split())
    assert seen > 300


def test_ids_are_unique_and_the_order_is_by_urgency() -> None:
    for path in STORIES.glob("*.ledger.json"):
        quests = quests_of(load_lockfile(path).ledger, TEMPLATES)
        assert len({quest.id for quest in quests}) == len(quests)
        assert [quest.tier for quest in quests] == sorted(quest.tier for quest in quests)


def test_what_a_story_says_is_put_in_once_and_never_read_as_a_template() -> None:
    [quest] = quests_of(ledger_of(npcs=(npc(name="{charge}"),), hooks=(hook(),)), TEMPLATES)
    assert quest.title == "{charge}"


# Templates are data

OWN = """\
version: 1
templates:
  - id: duel
    kind: Duel
    from: hook
    needs: {tie: [enemy]}
    title: "{who}"
    summary: "{who}, {where}"
    fields:
      who: npc.name
      where: hook.location ?
"""


def test_a_team_writes_its_own(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    [template] = load_templates(path)
    [quest] = quests_of(ledger_of(npcs=(npc(),), hooks=(hook(location="the bridge"),)), [template])
    assert (quest.kind, quest.summary) == ("Duel", "Jacoba Rusk, the bridge")
    # The summary speaks of a place that this ledger does not give: no quest with a gap in it.
    assert quests_of(ledger_of(npcs=(npc(),), hooks=(hook(),)), [template]) == ()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("version: 1", "version: 2", "version"),
        ("from: hook", "from: dream", "templates[0].from: found 'dream'"),
        ("tie: [enemy]", "tie: [foe]", "templates[0].needs.tie[0]: found 'foe'"),
        ("npc.name", "npc.secret", "fields.who: found 'npc.secret'; allowed: protagonist, hook.text"),
        ("npc.name", "mystery.text", "fields.who: found 'mystery.text'"),
        ("npc.name", "npc.__class__", "fields.who: found 'npc.__class__'"),
        ('title: "{who}"', 'title: "{whom}"', "title: found {whom}; allowed: who, where"),
        ("      who:", "      Who-1:", "allowed: small letters and _"),
        ("kind: Duel", "colour: red", "templates[0].kind: missing"),
        ("id: duel", "id: Duel!", "templates[0].id"),
        ("templates:", "things:", "templates: missing"),
    ],
)
def test_a_faulty_template_is_one_line_that_names_the_place(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    path = tmp_path / "own.yaml"
    assert old in OWN
    path.write_text(OWN.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_templates(path)
    assert said in str(caught.value)
    assert "own.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_templates_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(OWN + OWN.partition("templates:\n")[2], encoding="utf-8")
    with pytest.raises(InputError, match="the id 'duel' is used twice"):
        load_templates(path)


# The command


def test_the_command_lists_quests_with_their_sources(ludic: Any) -> None:
    done = ludic("quests", STORIES / "from-the-box.md")
    assert done.code == 0
    assert "Bounty: Jacoba Rusk" in done.out
    assert "[npcs/rusk.name]" in done.out
    assert "place: Waterdeep   [hooks/the-vote.location]" in done.out  # the bible's name, not its id


def test_the_json_has_the_same(ludic: Any) -> None:
    [story] = json.loads(ludic("quests", STORIES / "from-the-box.md", "--json").out)["stories"]
    bounty = next(quest for quest in story["quests"] if quest["template"] == "bounty")
    assert bounty["id"] == "bounty-the-vote"
    assert {"name": "target", "value": "Jacoba Rusk", "source": "npcs/rusk.name"} in bounty["fields"]


def test_an_unread_story_is_said_and_exits_with_1(tmp_path: Path, ludic: Any) -> None:
    (tmp_path / "new.md").write_text("Once upon a time.", encoding="utf-8")
    done = ludic("quests", tmp_path / "new.md")
    assert done.code == 1
    assert "not read yet" in done.err
    assert ludic("quests", tmp_path / "new.md", "--allow-unread").code == 0
    (tmp_path / "new.md").write_bytes(b"\xff\xfe\x00")
    assert ludic("quests", tmp_path / "new.md").code == 2
