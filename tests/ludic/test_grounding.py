"""What a model says reaches a score only through words that stand in the prose."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludic_deepeval.grounding import LISTS, ground
from ludic_deepeval.lockfile import evidence_problem
from ludic_deepeval.merging import merge
from ludic_deepeval.scoring import score_ledger
from ludic_deepeval.text import Prose

TEXT = """\
Odo Marsh still signs the ledgers at the mill, and he signs them late. The Reeve, as they call him, sleeps badly.

When she was twelve the mill burned for two nights. Somebody had paid for the bell not to ring.

Years on, she means to stand before the judge, and Odo Marsh means to stop her.
"""


def said(**lists: Any) -> dict[str, Any]:
    return {"schema_version": 1, "protagonist": "Ysolde", **lists}


def npc(**more: Any) -> dict[str, Any]:
    quote = {"quote": "Odo Marsh still signs the ledgers"}
    return {"id": "odo", "name": "Odo Marsh", "status": "alive", "evidence": [quote]} | more


def event(**more: Any) -> dict[str, Any]:
    quote = {"quote": "the mill burned for two nights"}
    return {"id": "fire", "phase": "P2", "summary": "the mill burns", "evidence": [quote]} | more


def test_a_quote_that_stands_in_the_prose_gets_its_offsets() -> None:
    found = ground(said(npcs=[npc()], events=[event()]), Prose(TEXT))
    assert not found.ungrounded
    [evidence] = found.ledger.events[0].evidence
    assert TEXT[evidence.start : evidence.end] == evidence.quote == "the mill burned for two nights"


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (npc(evidence=[{"quote": "Odo Marsh rules the whole county"}]), "is not in the prose"),
        (npc(evidence=[{"quote": "Odo Marsh"}]), "has fewer than 3 words"),
        (npc(evidence=[{"quote": TEXT[:200]}]), "has more than 25 words"),
        (npc(evidence=[{"quote": "the mill burned for two nights"}]), "does not hold the name 'Odo Marsh'"),
        (npc(evidence=[]), "no quote"),
        (npc(evidence="Odo Marsh still signs the ledgers"), "no quote"),
        (npc(evidence=[{"quote": "Odo Marsh still sings the ledgers"}]), "is not in the prose"),
        (npc(status="sleeping"), "not as the ledger has it: status"),
        (npc(name=7, aliases=["Odo Marsh"]), "not as the ledger has it: name"),
        (npc(score=1.0), "not as the ledger has it: score"),
        ("Odo Marsh", "found 'Odo Marsh' where an item should be"),
    ],
)
def test_an_item_without_words_of_the_prose_is_set_apart_with_its_reason(item: object, reason: str) -> None:
    found = ground(said(npcs=[item]), Prose(TEXT))
    assert not found.ledger.npcs
    [aside] = found.ungrounded
    assert (aside.list, reason in aside.reason) == ("npcs", True), aside.reason


def test_of_several_quotes_those_that_stand_are_kept() -> None:
    quotes = [{"quote": "Odo Marsh owns every one of us"}, {"quote": "Odo Marsh means to stop her"}]
    found = ground(said(npcs=[npc(evidence=quotes)]), Prose(TEXT))
    assert [one.quote for one in found.ledger.npcs[0].evidence] == ["Odo Marsh means to stop her"]


def test_the_text_of_a_mystery_is_its_quote_and_no_paraphrase() -> None:
    """Else a model could write a vague sentence of its own and have Eq 11 measure that."""
    quote = "Odo Marsh means to stop her"
    mystery = {"id": "m", "text": "something dark and nameless stirs", "evidence": [{"quote": quote}]}
    assert ground(said(mysteries=[mystery]), Prose(TEXT)).ledger.mysteries[0].text == quote


def test_people_are_found_by_name_alias_or_id_and_strangers_are_left_out() -> None:
    hooks = [
        {
            "id": "h1",
            "text": "x",
            "tier": 1,
            "npc": "the reeve",
            "evidence": [{"quote": "he signs them late"}],
        },
        {"id": "h2", "text": "x", "tier": 1, "npc": "Satan", "evidence": [{"quote": "he signs them late"}]},
    ]
    relations = [{"npc": "ODO MARSH", "status": "alive"}, {"npc": "Satan", "status": "alive"}]
    found = ground(
        said(npcs=[npc(aliases=["The Reeve"])], hooks=hooks, events=[event(relations=relations)]), Prose(TEXT)
    )
    assert [hook.npc for hook in found.ledger.hooks] == ["odo", None]
    assert [one.npc for one in found.ledger.events[0].relations] == ["odo"]
    assert len(found.repairs) == 2


def test_nobody_hangs_on_a_person_who_was_set_apart() -> None:
    hook = {"id": "h", "text": "x", "tier": 1, "npc": "odo", "evidence": [{"quote": "he signs them late"}]}
    found = ground(said(npcs=[npc(status="asleep")], hooks=[hook]), Prose(TEXT))
    assert (found.ledger.npcs, found.ledger.hooks[0].npc) == ((), None)


def test_a_person_ends_as_the_last_event_leaves_them() -> None:
    relations = [{"npc": "odo", "status": "dead"}]
    found = ground(said(npcs=[npc()], events=[event(relations=relations)]), Prose(TEXT))
    assert found.ledger.npcs[0].status == "dead"
    assert "taken as the event says" in found.repairs[0]


def test_ids_that_are_missing_or_given_twice_are_made_unique() -> None:
    twice = [event(), event(), event(id="  "), event(id=3)]
    ids = [one.id for one in ground(said(events=twice), Prose(TEXT)).ledger.events]
    assert ids == ["fire", "fire-2", "event-3", "event-4"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20)
    | st.sampled_from(["Odo Marsh", "he signs them late", "P1", "alive", "odo"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["id", "name", "evidence", "quote", "phase", "summary", "text", "tier", "npc", "relations",
                         "status", "aliases", "immediacy", "protagonist", *LISTS]) | st.text(max_size=5),
        inner, max_size=6,
    ),
    max_leaves=30,
)  # fmt: skip


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from([*LISTS, "protagonist", "background_log"]), json_values, max_size=7))
def test_whatever_a_model_writes_only_grounded_items_are_scored(reply: dict[str, Any]) -> None:
    prose = Prose(TEXT)
    found = ground(reply, prose)
    assert all(evidence_problem(item, prose.body) is None for _, _, item in found.ledger.items())
    assert not found.ledger.background_log
    score_ledger(found.ledger)


# Parts of a long story


def test_one_person_in_two_parts_is_one_person_with_the_later_state() -> None:
    first = ground(said(npcs=[npc(unresolved=True, tie="enemy")], events=[event()]), Prose(TEXT))
    later = npc(
        id="x",
        name="The Reeve",
        aliases=["Odo Marsh"],
        status="dead",
        unresolved=False,
        evidence=[{"quote": "The Reeve, as they call him"}],
    )
    again = event(id="fire", summary="the same fire, told again")
    third = event(
        id="fire",
        phase="P3",
        summary="she goes",
        evidence=[{"quote": "she means to stand before the judge"}],
        relations=[{"npc": "x", "status": "dead"}],
    )
    second = ground(said(npcs=[later], events=[again, third]), Prose(TEXT))
    both = merge([first, second]).ledger
    [person] = both.npcs
    assert (person.id, person.name, person.aliases) == ("odo", "Odo Marsh", ("The Reeve",))
    assert (person.status, person.tie, person.unresolved) == ("dead", "enemy", False)
    assert [(one.id, one.summary) for one in both.events] == [
        ("fire", "the mill burns"),
        ("fire-2", "she goes"),
    ]
    assert both.events[1].relations[0].npc == "odo"


def test_what_was_set_apart_in_any_part_stays_set_apart() -> None:
    parts = [
        ground(said(npcs=[npc(status="asleep")]), Prose(TEXT)),
        ground(said(events=[event()]), Prose(TEXT)),
    ]
    joined = merge(parts)
    assert (len(joined.ungrounded), len(joined.ledger.events)) == (1, 1)
