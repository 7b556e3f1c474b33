"""Every fault of decision 8: what it is, what explains it, and what does not."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludic_deepeval.bible import Bible
from ludic_deepeval.consistency import ConsistencyReport, check_consistency
from ludic_deepeval.faults import Fault
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.scoring import score_ledger

ILSE = {"id": "ilse", "name": "Ilse Ferrow", "aliases": ["Magpie"], "status": "alive"}


def event(name: str, phase: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "phase": phase, "summary": f"summary of {name}", **fields}


def meets(name: str, phase: str, status: str | None = None, **fields: Any) -> dict[str, Any]:
    return event(name, phase, relations=[{"npc": "ilse", "status": status}], **fields)


def body(
    name: str, phase: str, text: str, *, permanent: bool = False, present: bool = True
) -> dict[str, Any]:
    change = {"kind": "injury", "text": text, "permanent": permanent, "present": present}
    return event(name, phase, physical=[change])


def aged(name: str, phase: str, age: int) -> dict[str, Any]:
    return event(name, phase, physical=[{"kind": "age", "age": age}])


def has(name: str, phase: str, item: str, *changes: str, kind: str = "inventory") -> dict[str, Any]:
    key = "item" if kind == "inventory" else "skill"
    return event(name, phase, **{kind: [{key: item, "change": change} for change in changes]})


def logged(kind: str, phase: str, subject: str, name: str = "log") -> dict[str, Any]:
    return {"id": name, "phase": phase, "kind": kind, "subject": subject, "text": f"log: {kind} of {subject}"}


def ledger_of(
    *events: dict[str, Any], log: tuple[dict[str, Any], ...] = (), npc: dict[str, Any] = ILSE, **lists: Any
) -> FactLedger:
    last = [
        relation["status"]
        for phase in ("P1", "P2", "P3")
        for item in events
        if item["phase"] == phase and not item.get("asserted_by")
        for relation in item.get("relations", [])
        if relation["status"]
    ]
    npcs = [{**npc, "status": last[-1] if last else npc["status"]}]
    return FactLedger.model_validate(
        {
            "schema_version": 1,
            "protagonist": "Kaelen Vireth",
            "npcs": npcs,
            "events": list(events),
            "background_log": list(log),
            **lists,
        }
    )


def check(*events: dict[str, Any], bible: Bible | None = None, **more: Any) -> ConsistencyReport:
    return check_consistency(ledger_of(*events, **more), bible)


def only(report: ConsistencyReport) -> Fault:
    (fault,) = report.faults
    return fault


# Each fault, what explains it, and the kinds of log event that do not


DEATH = (meets("dies", "P1", "dead"), meets("returns", "P3", "alive"))
HAND = (
    body("loses-hand", "P1", "the lost hand", permanent=True),
    body("two-hands", "P3", "the lost hand", present=False),
)
AGE = (aged("thirty", "P1", 30), aged("twenty", "P3", 20))
ITEM_LOST = (
    has("loses", "P1", "the brass key", "gained", "lost"),
    has("uses", "P3", "the brass key", "used"),
)
SKILL_LOST = (
    has("forgets", "P1", "Thayan script", "gained", "lost", kind="skills"),
    has("reads", "P3", "Thayan script", "used", kind="skills"),
)
CASES = [
    pytest.param(DEATH, "dead-then-active", "Ilse Ferrow", {"resurrection", "return"}, id="death"),
    pytest.param(HAND, "injury-vanished", "lost hand", {"healing", "resurrection"}, id="injury"),
    pytest.param(AGE, "age-fell", "Kaelen Vireth", {"other"}, id="age"),
    pytest.param(ITEM_LOST, "item-not-held", "brass key", {"return", "other"}, id="item"),
    pytest.param(SKILL_LOST, "skill-not-had", "Thayan script", {"return", "healing", "other"}, id="skill"),
]
KINDS = {"death", "resurrection", "injury", "healing", "loss", "return", "destruction", "other"}


@pytest.mark.parametrize(("events", "code", "subject", "explained_by"), CASES)
def test_a_fault_names_its_code_both_events_their_phases_and_words(
    events: tuple[dict[str, Any], ...], code: str, subject: str, explained_by: set[str]
) -> None:
    report = check(*events)
    fault = only(report)
    first, second = events
    assert fault.code == code
    assert fault.events == (first["id"], second["id"])
    assert fault.phases == ("P1", "P3")
    assert fault.quotes == (first["summary"], second["summary"])
    assert "in childhood (P1)" in fault.message
    assert "in adulthood (P3)" in fault.message
    assert "\n" not in fault.message
    assert (report.score, report.temporal, report.lore) == (0, 1, 0)


@pytest.mark.parametrize("phase", ["P1", "P2", "P3"])
@pytest.mark.parametrize(("events", "code", "subject", "explained_by"), CASES)
def test_a_log_event_of_the_right_kind_in_either_phase_or_between_explains_it(
    events: tuple[dict[str, Any], ...], code: str, subject: str, explained_by: set[str], phase: str
) -> None:
    for kind in explained_by:
        assert check(*events, log=(logged(kind, phase, subject),)).score == 1, kind


@pytest.mark.parametrize(("events", "code", "subject", "explained_by"), CASES)
def test_a_log_event_of_the_wrong_kind_does_not_explain_it(
    events: tuple[dict[str, Any], ...], code: str, subject: str, explained_by: set[str]
) -> None:
    for kind in KINDS - explained_by:
        faults = check(*events, log=(logged(kind, "P2", subject),)).faults
        assert code in {fault.code for fault in faults}, kind


@pytest.mark.parametrize(("events", "code", "subject", "explained_by"), CASES)
def test_a_log_event_about_somebody_or_something_else_does_not_explain_it(
    events: tuple[dict[str, Any], ...], code: str, subject: str, explained_by: set[str]
) -> None:
    for kind in explained_by:
        assert only(check(*events, log=(logged(kind, "P2", "Dorcas Inkpen"),))).code == code


@pytest.mark.parametrize(("events", "code", "subject", "explained_by"), CASES)
@pytest.mark.parametrize(("phases", "outside"), [(("P1", "P2"), "P3"), (("P2", "P3"), "P1")])
def test_a_log_event_outside_the_phases_does_not_explain_it(
    events: tuple[dict[str, Any], ...],
    code: str,
    subject: str,
    explained_by: set[str],
    phases: tuple[str, str],
    outside: str,
) -> None:
    moved = [{**item, "phase": phase} for item, phase in zip(events, phases, strict=True)]
    for kind in explained_by:
        assert check(*moved, log=(logged(kind, phases[0], subject),)).score == 1
        assert only(check(*moved, log=(logged(kind, outside, subject),))).code == code


@pytest.mark.parametrize("asserted", [0, 1])
@pytest.mark.parametrize(("events", "code", "subject", "explained_by"), CASES)
def test_what_somebody_only_asserts_contradicts_nothing(
    events: tuple[dict[str, Any], ...], code: str, subject: str, explained_by: set[str], asserted: int
) -> None:
    told = [dict(item) for item in events]
    told[asserted]["asserted_by"] = "a drunk in the Gate"
    assert check(*told).score == 1


@pytest.mark.parametrize(("events", "code", "subject", "explained_by"), CASES)
def test_within_a_phase_the_order_of_telling_decides(
    events: tuple[dict[str, Any], ...], code: str, subject: str, explained_by: set[str]
) -> None:
    first, second = ({**item, "phase": "P2"} for item in events)
    assert only(check(first, second)).events == (first["id"], second["id"])
    backwards = check(second, first)
    if code in {"item-not-held", "skill-not-had"}:  # used, and only gained after that
        assert only(backwards).events == (second["id"], first["id"])
    else:
        assert backwards.score == 1


@pytest.mark.parametrize(("events", "code", "subject", "explained_by"), CASES)
def test_the_order_of_the_list_does_not_matter_across_phases(
    events: tuple[dict[str, Any], ...], code: str, subject: str, explained_by: set[str]
) -> None:
    first, second = events
    assert check(second, first) == check(first, second)


def test_a_ledger_without_events_is_consistent() -> None:
    report = check()
    assert (report.score, report.temporal, report.lore, report.faults) == (1, 0, 0, ())


def test_an_event_with_evidence_is_quoted_by_its_first_quote() -> None:
    dies, returns = (dict(item) for item in DEATH)
    dies["evidence"] = [
        {"quote": "they buried Ilse by the wall", "start": 0, "end": 28},
        {"quote": "nobody came to it", "start": 30, "end": 47},
    ]
    assert only(check(dies, returns)).quotes == ("they buried Ilse by the wall", "summary of returns")


# Death


def test_a_dead_person_who_acts_without_a_status_is_a_fault() -> None:
    fault = only(check(meets("dies", "P1", "dead"), meets("acts", "P3")))
    assert (fault.code, fault.events) == ("dead-then-active", ("dies", "acts"))


def test_a_death_told_again_is_no_fault() -> None:
    assert (
        check(meets("dies", "P1", "dead"), meets("grave", "P2", "dead"), meets("wake", "P3", "dead")).score
        == 1
    )


def test_a_dead_person_who_rises_undead_is_no_fault_and_may_act_after() -> None:
    assert check(meets("dies", "P1", "dead"), meets("rises", "P2", "undead"), meets("acts", "P3")).score == 1


@pytest.mark.parametrize("between", ["missing", "unknown"])
def test_a_death_that_is_doubted_meanwhile_still_forbids_a_living_return(between: str) -> None:
    report = check(
        meets("dies", "P1", "dead"), meets("doubt", "P2", between), meets("returns", "P3", "alive")
    )
    assert only(report).events == ("dies", "returns")


def test_the_missing_may_return_alive() -> None:
    assert check(meets("gone", "P1", "missing"), meets("back", "P3", "alive")).score == 1


def test_each_death_that_is_undone_is_a_fault_of_its_own() -> None:
    report = check(
        meets("d1", "P1", "dead"),
        meets("a1", "P1", "alive"),
        meets("d2", "P2", "dead"),
        meets("a2", "P3", "alive"),
    )
    assert [fault.events for fault in report.faults] == [("d1", "a1"), ("d2", "a2")]


@pytest.mark.parametrize(
    "subject", ["Ilse Ferrow", "ilse ferrow", "Magpie", "the Magpie", "ilse", "ILSE FERROW"]
)
def test_the_log_may_call_a_person_by_id_name_or_alias_in_any_case(subject: str) -> None:
    assert check(*DEATH, log=(logged("resurrection", "P2", subject),)).score == 1


# Body and age


def test_an_injury_that_is_not_for_good_may_heal_by_itself() -> None:
    assert check(body("cut", "P1", "a cut"), body("healed", "P2", "a cut", present=False)).score == 1


def test_a_permanent_injury_that_is_not_mentioned_again_is_no_fault() -> None:
    assert check(HAND[0], body("scar", "P3", "a burn")).score == 1


def test_a_healing_of_the_protagonist_explains_any_injury() -> None:
    assert check(*HAND, log=(logged("healing", "P2", "Kaelen Vireth"),)).score == 1


def test_the_same_age_twice_or_a_higher_one_is_no_fault() -> None:
    assert check(aged("a", "P1", 12), aged("b", "P2", 12), aged("c", "P3", 30)).score == 1


def test_an_age_is_compared_with_the_highest_before_it() -> None:
    fault = only(check(aged("a", "P1", 12), aged("b", "P2", 30), aged("c", "P3", 29)))
    assert fault.events == ("b", "c")
    assert "30" in fault.message
    assert "29" in fault.message


# Items and skills


KIND = pytest.mark.parametrize(
    ("kind", "code"), [("inventory", "item-not-held"), ("skills", "skill-not-had")]
)


@KIND
@pytest.mark.parametrize("change", ["used", "lost"])
def test_what_was_never_gained_may_have_been_there_from_the_start(kind: str, code: str, change: str) -> None:
    assert check(has("e", "P2", "the brass key", change, kind=kind)).score == 1


@KIND
@pytest.mark.parametrize("change", ["used", "lost"])
def test_what_is_gained_later_could_not_be_used_or_lost_before(kind: str, code: str, change: str) -> None:
    report = check(
        has("early", "P1", "the brass key", change, kind=kind),
        has("late", "P3", "the brass key", "gained", kind=kind),
    )
    fault = only(report)
    assert (fault.code, fault.events, fault.phases) == (code, ("early", "late"), ("P1", "P3"))


@KIND
def test_what_is_gained_again_after_a_loss_may_be_used(kind: str, code: str) -> None:
    report = check(
        has("a", "P1", "the brass key", "gained", "lost", kind=kind),
        has("b", "P2", "the brass key", "gained", kind=kind),
        has("c", "P3", "the brass key", "used", "lost", kind=kind),
    )
    assert report.score == 1


@KIND
def test_what_is_lost_twice_is_a_fault(kind: str, code: str) -> None:
    report = check(
        has("a", "P1", "the brass key", "lost", kind=kind), has("b", "P2", "the brass key", "lost", kind=kind)
    )
    assert (only(report).code, only(report).events) == (code, ("a", "b"))


@KIND
def test_a_thing_is_the_same_whatever_its_case_and_article(kind: str, code: str) -> None:
    report = check(
        has("a", "P1", "the Brass Key", "lost", kind=kind), has("b", "P2", "brass key", "used", kind=kind)
    )
    assert only(report).code == code


def test_an_item_and_a_skill_of_one_name_are_two_things() -> None:
    report = check(has("a", "P1", "the song", "lost"), has("b", "P2", "the song", "used", kind="skills"))
    assert report.score == 1


# Against the log


LOG_CASES = [
    pytest.param(
        logged("death", "P1", "Ilse Ferrow"),
        meets("acts", "P2", "alive"),
        "Ilse Ferrow",
        "resurrection",
        id="death",
    ),
    pytest.param(logged("death", "P1", "Magpie"), meets("acts", "P2"), "Magpie", "return", id="death-acting"),
    pytest.param(
        logged("destruction", "P1", "the Candle Tower"),
        event("visit", "P2", location="Candle Tower"),
        "Candle Tower",
        "other",
        id="destruction",
    ),
    pytest.param(
        logged("loss", "P1", "the brass key"),
        has("use", "P2", "brass key", "used"),
        "brass key",
        "return",
        id="loss",
    ),
    pytest.param(
        logged("loss", "P1", "Thayan script"),
        has("use", "P2", "Thayan script", "used", kind="skills"),
        "Thayan script",
        "healing",
        id="loss-of-skill",
    ),
    pytest.param(
        logged("injury", "P1", "the lost hand"),
        body("whole", "P2", "lost hand", present=False),
        "the lost hand",
        "healing",
        id="injury",
    ),
]


@pytest.mark.parametrize(("entry", "item", "subject", "explains"), LOG_CASES)
def test_prose_against_an_earlier_log_event_is_a_fault(
    entry: dict[str, Any], item: dict[str, Any], subject: str, explains: str
) -> None:
    fault = only(check(item, log=(entry,)))
    assert fault.code == "against-log"
    assert fault.events == ("log", item["id"])
    assert fault.phases == ("P1", "P2")
    assert fault.quotes == (entry["text"], item["summary"])


@pytest.mark.parametrize(("entry", "item", "subject", "explains"), LOG_CASES)
def test_another_log_event_explains_it_between_the_two_and_not_after(
    entry: dict[str, Any], item: dict[str, Any], subject: str, explains: str
) -> None:
    assert check(item, log=(entry, logged(explains, "P2", subject, "why"))).score == 1
    assert only(check(item, log=(entry, logged(explains, "P3", subject, "why")))).code == "against-log"
    assert only(check(item, log=(entry, logged(explains, "P2", "Dorcas", "why")))).code == "against-log"


@pytest.mark.parametrize(("entry", "item", "subject", "explains"), LOG_CASES)
@pytest.mark.parametrize("phase", ["P2", "P3"])
def test_a_log_event_of_the_same_or_a_later_phase_contradicts_nothing(
    entry: dict[str, Any], item: dict[str, Any], subject: str, explains: str, phase: str
) -> None:
    assert check(item, log=({**entry, "phase": phase},)).score == 1


@pytest.mark.parametrize(("entry", "item", "subject", "explains"), LOG_CASES)
def test_what_somebody_only_asserts_does_not_contradict_the_log(
    entry: dict[str, Any], item: dict[str, Any], subject: str, explains: str
) -> None:
    # With nobody met, the person's status at the end must not contradict the log by itself.
    told = {**item, "asserted_by": "a drunk in the Gate"}
    assert check(told, log=(entry,), npc={**ILSE, "status": "dead"}).score == 1


def test_a_person_dead_by_the_log_may_be_told_dead_or_rise_undead() -> None:
    death = logged("death", "P1", "Ilse Ferrow")
    assert check(meets("grave", "P2", "dead"), log=(death,)).score == 1
    assert check(meets("rises", "P2", "undead"), meets("acts", "P3"), log=(death,)).score == 1


@pytest.mark.parametrize("between", ["missing", "unknown"])
def test_a_death_by_the_log_that_is_doubted_meanwhile_still_forbids_a_living_return(between: str) -> None:
    log = (logged("death", "P1", "Ilse Ferrow"),)
    fault = only(check(meets("doubt", "P2", between), meets("returns", "P3", "alive"), log=log))
    assert (fault.code, fault.events) == ("against-log", ("log", "returns"))


def test_a_person_dead_by_the_log_and_alive_at_the_end_is_a_fault_though_no_event_shows_it() -> None:
    fault = only(check(log=(logged("death", "P2", "Ilse Ferrow"),)))
    assert (fault.code, fault.events, fault.phases) == ("against-log", ("log", "ilse"), ("P2", "P3"))
    assert fault.quotes == ("log: death of Ilse Ferrow", "Ilse Ferrow")


def test_a_thing_lost_by_the_log_may_be_gained_again() -> None:
    lost = logged("loss", "P1", "the brass key")
    assert check(has("a", "P2", "the brass key", "gained", "used"), log=(lost,)).score == 1


def test_a_log_event_about_what_the_prose_never_mentions_contradicts_nothing() -> None:
    log = (logged("death", "P1", "Dorcas Inkpen", "a"), logged("destruction", "P1", "the Tower", "b"))
    assert check(meets("e", "P2", "alive"), log=log).score == 1


# Lore


def bible_with(**rule: Any) -> Bible:
    return Bible.model_validate(
        {
            "schema_version": 1,
            "id": "coast",
            "name": "The Coast",
            "factions": [
                {"id": "alliance", "name": "the Alliance", "text": "x"},
                {"id": "thay", "name": "Thay", "text": "x"},
            ],
            "locations": [
                {
                    "id": "waterdeep",
                    "name": "Waterdeep",
                    "allegiance": "alliance",
                    "aliases": ["the City"],
                    "text": "x",
                },
                {"id": "enclave", "name": "the Enclave", "allegiance": "thay", "text": "x"},
                {"id": "moor", "name": "the Moor", "text": "x"},
            ],
            "rules": [
                {
                    "id": "magic-law",
                    "name": "the magic law",
                    "practice": "necromancy",
                    "aliases": ["raising the dead"],
                    "text": "no necromancy in the open",
                    **rule,
                }
            ],
        }
    )


def practises(
    where: str | None, practice: str = "necromancy", *, openly: bool = True, **fields: Any
) -> dict[str, Any]:
    return event("rite", "P3", location=where, practices=[{"practice": practice, "openly": openly}], **fields)


@pytest.mark.parametrize(
    ("rule", "where", "broken"),
    [
        ({"allegiance": "alliance"}, "Waterdeep", True),
        ({"allegiance": "alliance"}, "the city", True),
        ({"allegiance": "alliance"}, "the Enclave", False),
        ({"allegiance": "alliance"}, "the Moor", False),
        ({"allegiance": "alliance"}, "Nowhere", False),
        ({"allegiance": "alliance"}, None, False),
        ({"places": ["moor"]}, "the Moor", True),
        ({"places": ["moor"]}, "Waterdeep", False),
        ({"places": ["moor"], "allegiance": "thay"}, "the Moor", True),
        ({"places": ["moor"], "allegiance": "thay"}, "the Enclave", True),
        ({"places": ["moor"], "allegiance": "thay"}, "Waterdeep", False),
        ({}, "Waterdeep", True),
        ({}, "Nowhere", True),
        ({}, None, True),
    ],
)
def test_a_rule_holds_by_allegiance_by_place_or_everywhere(
    rule: dict[str, Any], where: str | None, broken: bool
) -> None:
    report = check(practises(where), bible=bible_with(**rule))
    assert (report.score, report.lore, report.temporal) == ((0, 1, 0) if broken else (1, 0, 0))


def test_a_lore_violation_names_the_event_and_the_rule() -> None:
    fault = only(check(practises("Waterdeep"), bible=bible_with(allegiance="alliance")))
    assert fault.code == "lore-violation"
    assert fault.events == ("rite", "magic-law")
    assert fault.phases == ("P3", "P3")
    assert fault.quotes == ("summary of rite", "no necromancy in the open")
    for word in ("necromancy", "Waterdeep", "the magic law", "The Coast"):
        assert word in fault.message


def test_a_secret_practice_breaks_only_a_rule_that_holds_in_secret_too() -> None:
    secret = practises("Waterdeep", openly=False)
    assert check(secret, bible=bible_with()).score == 1
    assert check(secret, bible=bible_with(openly=False)).lore == 1
    assert check(practises("Waterdeep"), bible=bible_with(openly=False)).lore == 1


@pytest.mark.parametrize("practice", ["Necromancy", "raising the dead", "Raising the Dead"])
def test_a_practice_is_known_by_its_aliases_in_any_case(practice: str) -> None:
    assert check(practises("Waterdeep", practice), bible=bible_with()).lore == 1


def test_another_practice_breaks_no_rule() -> None:
    assert check(practises("Waterdeep", "divination"), bible=bible_with()).score == 1


def test_a_practice_that_is_only_rumoured_breaks_no_rule() -> None:
    assert check(practises("Waterdeep", asserted_by="a rival"), bible=bible_with()).score == 1


def test_without_a_bible_no_rule_can_be_broken() -> None:
    assert check(practises("Waterdeep")).score == 1


def test_a_lore_violation_is_counted_apart_from_temporal_faults() -> None:
    report = check(*DEATH, practises("Waterdeep"), bible=bible_with())
    assert (report.score, report.temporal, report.lore) == (0, 1, 1)


dimension = st.integers(1, 10)


@settings(deadline=None)
@given(
    st.lists(st.booleans(), max_size=4),
    st.lists(st.integers(1, 3), max_size=5),
    st.integers(0, 5),
    st.lists(st.sampled_from(["nobody knows", "Waterdeep burned", "on October 12"]), max_size=5),
    st.tuples(dimension, dimension, dimension, dimension),
)
def test_a_lore_violation_never_changes_lpi_or_pcv(
    ties: list[bool], tiers: list[int], goals: int, texts: list[str], igvd: tuple[int, int, int, int]
) -> None:
    dimensions = dict(zip(("immediacy", "gravity", "linkage", "divergence"), igvd, strict=True))
    rite = practises("Waterdeep", **dimensions)
    lists: dict[str, Any] = {
        "npcs": [
            {"id": f"n{n}", "name": "a rival", "status": "alive", "unresolved": tied}
            for n, tied in enumerate(ties)
        ],
        "hooks": [{"id": f"h{n}", "text": "x", "tier": tier} for n, tier in enumerate(tiers)],
        "goals": [{"id": f"g{n}", "text": "x"} for n in range(goals)],
        "mysteries": [{"id": f"m{n}", "text": text} for n, text in enumerate(texts)],
    }
    breaking = ledger_of(rite, **lists)
    keeping = ledger_of({**rite, "practices": []}, **lists)
    bible = bible_with()
    assert check_consistency(breaking, bible).score == 0
    assert check_consistency(keeping, bible).score == 1
    broken, kept = (score_ledger(ledger, names=bible.names) for ledger in (breaking, keeping))
    assert (broken.lpi, broken.components, broken.mysteries) == (kept.lpi, kept.components, kept.mysteries)
    assert (broken.pcv, broken.events, broken.gate) == (kept.pcv, kept.events, kept.gate)
    assert isinstance(broken.lpi, Fraction)


# Order


def test_faults_stand_in_the_order_of_the_later_event() -> None:
    report = check(
        meets("dies", "P1", "dead"),
        has("gains", "P1", "the brass key", "gained", "lost"),
        has("uses", "P2", "the brass key", "used"),
        practises("Waterdeep"),
        meets("returns", "P3", "alive"),
        bible=bible_with(),
    )
    assert [(fault.code, fault.events) for fault in report.faults] == [
        ("item-not-held", ("gains", "uses")),
        ("dead-then-active", ("dies", "returns")),
        ("lore-violation", ("rite", "magic-law")),
    ]


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_same_ledger_gives_the_same_faults_however_its_phases_are_interleaved(random: Any) -> None:
    phases = [
        [meets("dies", "P1", "dead"), has("loses", "P1", "the key", "gained", "lost"), aged("old", "P1", 40)],
        [has("uses", "P2", "the key", "used"), aged("young", "P2", 12)],
        [meets("returns", "P3", "alive"), practises("Waterdeep")],
    ]
    expected = check(*phases[0], *phases[1], *phases[2], bible=bible_with())
    assert len(expected.faults) == 4
    left = [list(phase) for phase in phases]
    mixed = []
    while any(left):
        mixed.append(random.choice([phase for phase in left if phase]).pop(0))
    assert check(*mixed, bible=bible_with()) == expected
