from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ludic_deepeval.candidates import find_candidates
from ludic_deepeval.errors import InputError
from ludic_deepeval.files import decode, load_yaml
from ludic_deepeval.ledger import FactLedger, load_ledger
from ludic_deepeval.lockfile import Lockfile, load_lockfile, quote_problem, verify, write_lockfile
from ludic_deepeval.marks import lock_sheet, lock_story, write_sheet
from ludic_deepeval.scoring import score_ledger
from ludic_deepeval.sources import Story, read_story

BACKSTORIES = Path(__file__).parents[2] / "test_cases" / "backstories"
MARKED = sorted(BACKSTORIES.glob("*.marks.yaml"))

BODY = """\
Odo Marsh, whom they call the Reeve, still signs the ledgers. He signs them late.

Somebody had paid for the bell not to ring. The bell is at the mill. The bell is at the mill.

When she was twelve the mill burned for two nights, and nobody ever said why.

She means to stand before the judge.
"""

SHEET = """\
sheet: 1
story: tale.md
protagonist: Ysolde
people:
- name: Odo Marsh
  aliases: [the Reeve]
  quote: Odo Marsh, whom they call the Reeve
  status: alive
  tie: enemy
  unresolved: true
hooks:
- text: Odo will come for the ledger
  quote: still signs the ledgers
  tier: 1
  npc: the reeve
goals:
- text: get to a judge
  quote: She means to stand before the judge
mysteries:
- quote: Somebody had paid for the bell not to ring
  thematic_hole: true
events:
- phase: Childhood
  summary: the mill burns
  quote: [the mill burned for two nights, When she was twelve]
  immediacy: 3
  gravity: 8
  linkage: 5
  divergence: 6
  location:
  relations: [{npc: Odo Marsh, status: alive}]
  physical: [{kind: age, age: 12}]
"""


def story_of(folder: Path, body: str = BODY, name: str = "tale.md") -> Story:
    path = folder / name
    path.write_bytes(body.encode("utf-8"))
    return read_story(path)


def locked(sheet: str, story: Story) -> Lockfile:
    return lock_sheet(load_yaml(sheet, story.sheet), story, story.sheet)


# The blank sheet

HOSTILE = {
    "quotes": "He said \"x: y\" and 'z' # no comment — {a: [b, c]} & *d !e %f @g `h`.\n\nA\\B\\n C\\",
    "yaml": "- a: b\n- !!python/object:os.system {}\n\n&anchor *alias <<: no\n\nfoo: |\n  bar",
    "controls": "Never \x1b[31mred\x1b[0m \x07 was\x7f it \x85 nor\u2028 this\u2029 at\x0b all\x0c seen\u202e.",
    "braces": "{story} {0} %s ${x} {{ nobody knew }} who died: {",
    "chinese": "葛含烟死了。究竟是谁？不知道。\n葛含烟的哥哥失踪了，没有人回来。",
    "rtl": "مات الملك ولا أحد يعرف لماذا؟ \u202bمن هناك\u202c?",
    "emoji": "👩‍🚒 Zoë died. Why? Zoë and 🕯️🕯️ Zoë knew.",
    "marks": "a" + "\u0301" * 500 + " died? " + "x\u0323" * 200,
    "questions": "? ! ?? …?" * 50,
    "long word": "Nobody " + "x" * 20_000 + " died?",
    "many names": " ".join(f"Anna Bertha Number{n} Anna Bertha." for n in range(200)),
    "crlf": "Odo died.\r\n\r\nOdo was buried? Nobody said that Odo was.",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_blank_sheet_of_hostile_prose_loads_and_locks_once_the_protagonist_is_named(
    tmp_path: Path, name: str
) -> None:
    story = story_of(tmp_path, HOSTILE[name])
    text = decode(write_sheet(story).encode("utf-8"), "sheet")
    sheet = load_yaml(text, "sheet")
    assert sheet["sheet"] == 1
    assert sheet["story"] == "tale.md"
    with pytest.raises(
        InputError, match=r"tale\.marks\.yaml: protagonist: no protagonist; allowed: the name"
    ):
        lock_sheet(sheet, story, story.sheet)
    lock = locked(text.replace("\nprotagonist: \n", "\nprotagonist: Ysolde\n", 1), story)
    assert lock.ledger == FactLedger(schema_version=1, protagonist="Ysolde")
    verify(lock, story.prose, story.lockfile)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.sampled_from(
            ["Odo", "Odo Marsh", "died", "nobody knew", "?", "\n\n", ". ", '"', "'", "#", ": ", "- ", "🕯️"]
        )
        | st.characters(codec="utf-8", exclude_characters="\x00"),
        min_size=1,
    ).map(" ".join)
)
def test_a_blank_sheet_of_any_prose_loads_the_same_in_any_yaml_reader(
    tmp_path_factory: pytest.TempPathFactory, body: str
) -> None:
    story = story_of(tmp_path_factory.mktemp("any"), "Prose. " + body)
    text = write_sheet(story)
    offered = [
        {"kind": c.kind, "line": c.line, "about": c.about, "quote": c.quote}
        for c in find_candidates(story.prose)
    ]
    assert (load_yaml(text, "sheet").get("candidates") or []) == offered
    assert yaml.load(text, yaml.SafeLoader) == load_yaml(text, "sheet")


def test_a_name_of_a_file_cannot_break_the_sheet(tmp_path: Path) -> None:
    story = story_of(tmp_path, name='a "b": {c} #\'x\n- y.md')
    sheet = load_yaml(write_sheet(story), "sheet")
    assert sheet["story"] == 'a "b": {c} #\'x�- y.md'
    assert sheet["people"] == []


def test_no_clause_of_a_script_without_capitals_is_offered_as_a_name(tmp_path: Path) -> None:
    prose = story_of(
        tmp_path,
        "葛含烟站在台口，没有来。葛含烟站在台口，没有来。\n葛含烟死在了十七岁的冬天。",
    ).prose
    assert [(found.kind, found.about) for found in find_candidates(prose)] == [
        ("death", "死"),
    ]


def test_candidates_are_offered_and_never_scored(tmp_path: Path) -> None:
    body = "Odo died at sea. Nobody knew why Odo went. Was Odo dead? They never found Odo."
    story = story_of(tmp_path, body)
    text = write_sheet(story)
    kinds = {entry["kind"] for entry in load_yaml(text, "sheet")["candidates"]}
    assert kinds == {"name", "death", "question"}
    lock = locked(text.replace("\nprotagonist: \n", "\nprotagonist: Ysolde\n", 1), story)
    assert list(lock.ledger.items()) == []
    assert lock.ungrounded == ()
    counts = score_ledger(lock.ledger).counts
    assert (counts.active, counts.tiers, counts.goals, counts.holes) == (0, (0, 0, 0), 0, 0)


@pytest.mark.parametrize("path", sorted(BACKSTORIES.glob("*.md")), ids=lambda path: path.stem)
def test_the_words_of_a_candidate_stand_in_the_prose_and_can_serve_as_a_quote(path: Path) -> None:
    story = read_story(path)
    found = find_candidates(story.prose)
    assert found
    for candidate in found:
        assert quote_problem(candidate.quote) is None
        spans = [
            (story.prose.place(a).line, story.prose.place(b).line)
            for a, b in story.prose.find(candidate.quote)
        ]
        assert any(first <= candidate.line <= last for first, last in spans)


def test_the_examples_of_the_sheet_are_a_sheet_themselves(tmp_path: Path) -> None:
    """What the comments show is filled in as it stands; only its comment marks are taken away."""
    story = story_of(
        tmp_path,
        "Odo Marsh still signs the ledgers. By winter he gave her until the thaw.\n\n"
        "It is said that she means to stand before the judge.\n\nFor somebody had paid for the bell not to ring.\n\n"
        "In those days the mill burned for two nights.",
    )
    lines = []
    for line in write_sheet(story).splitlines():
        if line.startswith(("# - ", "#   ")):
            lines.append(line[2:])
        elif line.startswith("candidates"):
            break
        elif not line.startswith("#"):
            lines.append(line.removesuffix(" []"))
    sections: dict[str, list[str]] = {}
    entries: list[str] = []
    head: list[str] = []
    for line in lines:
        key = line.removesuffix(":")
        if key in {"people", "hooks", "goals", "mysteries", "events"}:
            sections[key], entries = entries, []
        elif line.startswith(("sheet:", "story:")):
            head.append(line)
        elif line.startswith("protagonist:"):
            head.append("protagonist: Ysolde")
        elif line:
            entries.append(line)
    text = "\n".join([*head, *(line for key, rows in sections.items() for line in (f"{key}:", *rows))])
    ledger = locked(text, story).ledger
    assert [len(getattr(ledger, name)) for name in ledger.LISTS] == [1, 1, 1, 1, 1]
    assert ledger.hooks[0].npc == ledger.npcs[0].id


# The filled sheet


def test_a_filled_sheet_locks_with_names_resolved_and_quotes_found(tmp_path: Path) -> None:
    story = story_of(tmp_path)
    lock = locked(SHEET, story)
    verify(lock, story.prose, story.lockfile)
    assert lock.notary.kind == "hand"
    ledger = lock.ledger
    assert ledger.protagonist == "Ysolde"
    [npc], [hook], [goal], [mystery], [event] = (
        ledger.npcs, ledger.hooks, ledger.goals, ledger.mysteries, ledger.events,
    )  # fmt: skip
    assert (npc.id, npc.status, npc.tie, npc.unresolved) == ("odo-marsh", "alive", "enemy", True)
    assert (hook.id, hook.npc, hook.tier, hook.open) == ("odo-will-come-for", "odo-marsh", 1, True)
    assert (goal.id, goal.proactive) == ("get-to-a-judge", True)
    assert mystery.text == "Somebody had paid for the bell not to ring"
    assert (event.phase, event.gravity, event.location) == ("P1", 8, None)
    assert event.relations[0].npc == "odo-marsh"
    assert [story.prose.body[e.start : e.end] for e in event.evidence] == [
        "the mill burned for two nights",
        "When she was twelve",
    ]


def test_a_quote_may_be_copied_with_other_quotation_marks_and_is_kept_as_the_prose_has_it(
    tmp_path: Path,
) -> None:
    story = story_of(tmp_path, "He said:\n“it’s  not — yet — over”, and left.")
    sheet = "sheet: 1\nprotagonist: Y\nmysteries: [{quote: 'it''s not - yet - over'}]"
    [mystery] = locked(sheet, story).ledger.mysteries
    assert mystery.evidence[0].quote == "it’s  not — yet — over"


def test_items_of_the_same_text_get_ids_of_their_own(tmp_path: Path) -> None:
    sheet = """
sheet: 1
protagonist: Y
goals:
- {text: the judge, quote: She means to stand}
- {text: The Judge!, quote: to stand before the judge}
- {text: the judge, id: judge-2, quote: means to stand before}
- {text: "…", quote: stand before the judge}
"""
    assert [goal.id for goal in locked(sheet, story_of(tmp_path)).ledger.goals] == [
        "judge",
        "judge-3",
        "judge-2",
        "goal",
    ]


@pytest.mark.parametrize(
    ("word", "phase"),
    [
        ("childhood", "P1"),
        ("infancy", "P1"),
        ("Youth", "P2"),
        ("adolescence", "P2"),
        ("adult", "P3"),
        ("now", "P3"),
        ("P2", "P2"),
        ("p3", "P3"),
    ],
)
def test_a_phase_may_be_given_in_plain_words(tmp_path: Path, word: str, phase: str) -> None:
    sheet = SHEET.replace("phase: Childhood", f"phase: {word}")
    assert locked(sheet, story_of(tmp_path)).ledger.events[0].phase == phase


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("still signs the ledgers", "still burns the ledgers",
         "hooks[0].quote: 'still burns the ledgers' is not in the prose; allowed: exact words of "),
        ("still signs the ledgers", "The bell is at the mill",
         "hooks[0].quote: 'The bell is at the mill' stands 2 times in the prose (lines 3); allowed: words that stand once; add a word"),
        ("still signs the ledgers", "the ledgers",
         "hooks[0].quote: the quote 'the ledgers' has fewer than 3 words (Chinese: 6 characters); allowed: 3 to 25 words"),
        ("still signs the ledgers", "word " * 26, "hooks[0].quote: the quote 'word word"),
        ("quote: still signs the ledgers", "quote: []", "hooks[0].quote: no quote; allowed: exact words"),
        ("quote: still signs the ledgers", "quote: 7", "hooks[0].quote: no quote; allowed: exact words"),
        ("quote: still signs the ledgers", "quote: [[a]]", "hooks[0].quote: no quote; allowed: exact words"),
        ("quote: still signs the ledgers", "quote: {a: b}", "hooks[0].quote: no quote; allowed: exact words"),
        ("  quote: still signs the ledgers\n", "", "hooks[0].quote: no quote; allowed: exact words"),
        ("quote: still signs the ledgers", 'quote: "  "', "hooks[0].quote: no quote; allowed: exact words"),
        ("Odo Marsh, whom they call the Reeve\n", "still signs the ledgers\n",
         "people[0].quote: the quote 'still signs the ledgers' does not hold the name 'Odo Marsh' or an alias"),
        ("npc: the reeve", "npc: Piet",
         "hooks[0].npc: 'Piet' is nobody; allowed: the id of one of people: odo-marsh"),
        ("npc: Odo Marsh,", "npc: Piet,",
         "events[0].relations[0].npc: 'Piet' is nobody; allowed: the id of one of people: odo-marsh"),
        ("tier: 1", "tier: 4", "hooks[0].tier: found 4; allowed: 1, 2 or 3"),
        ("tier: 1", "tier: true", "hooks[0].tier: found true; allowed: 1, 2 or 3"),
        ("tier: 1", 'tier: "1"', "hooks[0].tier: found '1'; allowed: 1, 2 or 3"),
        ("tier: 1", "urgent: yes", "hooks[0].tier: missing; allowed: 1, 2 or 3"),
        ("gravity: 8", "gravity: 11", "events[0].gravity: found 11; allowed: a whole number from 1 to 10"),
        ("gravity: 8", "gravity: 7.5", "events[0].gravity: found 7.5; allowed: a whole number from 1 to 10"),
        ("  gravity: 8\n", "", "events[0]: no gravity: all four dimensions or none"),
        ("status: alive\n", "status: tired\n", "people[0].status: found 'tired'; allowed: 'alive', 'dead', 'missing', 'undead' or 'unknown'"),
        ("status: alive}]", "status: dead}]", "people[0].status: 'alive', but event 'mill-burns' is the last to give 'Odo Marsh' a status and says 'dead'; allowed: 'dead'"),
        ("phase: Childhood", "phase: dotage", "events[0].phase: found 'dotage'; allowed: 'P1', 'P2' or 'P3'"),
        ("  tie: enemy", "  mood: bad", "people[0].mood: unknown field; allowed: quote, id, name"),
        ("  tie: enemy", "  evidence: []", "people[0].evidence: unknown field; allowed: quote"),
        ("  tie: enemy", "  7: bad", "people[0].7: unknown field; allowed: quote, id, name"),
        ("- name: Odo Marsh", "- name:", "people[0].name: missing"),
        ("- name: Odo Marsh", "- name: [Odo]", "people[0].name: found a list; allowed: text"),
        ("unresolved: true", "unresolved: 1", "people[0].unresolved: found 1; allowed: true or false"),
        ("aliases: [the Reeve]", "aliases: the Reeve", "people[0].aliases: found 'the Reeve'; allowed: a list"),
        ("goals:\n", "goal:\n", "unknown key 'goal'; allowed: sheet, story, protagonist, people, hooks"),
        ("sheet: 1", "sheet: 2", "sheet: found 2; allowed: 1"),
        ("sheet: 1", "sheet: true", "sheet: found true; allowed: 1"),
        ("sheet: 1", "sheet: 1.0", "sheet: found 1.0; allowed: 1"),
        ("sheet: 1\n", "", "sheet: found nothing; allowed: 1"),
        ("protagonist: Ysolde", "protagonist:", "protagonist: no protagonist; allowed: the name of"),
        ("protagonist: Ysolde", "protagonist: [a]", "protagonist: found a list; allowed: text"),
        ("protagonist: Ysolde", "protagonist: ' '", "protagonist: found ' '; allowed: text that is not blank"),
        ("goals:\n- text: get to a judge\n  quote: She means to stand before the judge", "goals: get to a judge",
         "goals: found 'get to a judge'; allowed: a list"),
        ("goals:\n- text: get to a judge\n  quote: She means to stand before the judge", "goals: false",
         "goals: found false; allowed: a list"),
        ("goals:\n- text: get to a judge\n  quote: She means to stand before the judge", "goals: [to a judge]",
         "goals[0]: found 'to a judge'; allowed: a mapping with a quote"),
    ],
)  # fmt: skip
def test_every_error_of_a_sheet_is_one_line_with_file_and_place(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    story = story_of(tmp_path)
    assert SHEET.count(old) == 1
    with pytest.raises(InputError) as caught:
        locked(SHEET.replace(old, new), story)
    message = str(caught.value)
    assert message.startswith(f"{story.sheet}: {said}")
    assert message.isprintable()


@pytest.mark.parametrize("sheet", ["", "[]", "7", "text", "- sheet: 1"])
def test_what_is_no_mapping_is_no_sheet(tmp_path: Path, sheet: str) -> None:
    with pytest.raises(InputError, match="allowed: a mark sheet as ludic annotate writes it"):
        locked(sheet, story_of(tmp_path))


# There and back again


def back(lock: Lockfile, story: Story) -> Lockfile:
    return locked(write_sheet(story, lock.ledger), story)


def test_a_ledger_written_as_a_sheet_and_locked_is_the_same_ledger(tmp_path: Path) -> None:
    story = story_of(tmp_path)
    lock = locked(SHEET, story)
    assert back(lock, story) == lock


FULL = """\
sheet: 1
protagonist: "Ysolde: the \\"Grey\\" # 1"
people:
- {name: "Odo Marsh", id: "1", quote: "Odo Marsh, whom they call the Reeve", status: dead, tie: other, faction: "yes"}
hooks:
- {text: "null", id: "true", quote: still signs the ledgers, tier: 3, open: false, location: "1990-01-01"}
goals:
- {text: "- [a, b]: {c}", id: "~", quote: She means to stand before the judge, proactive: false}
mysteries:
- {text: not the quote, id: m, quote: Somebody had paid for the bell not to ring, thematic_hole: false}
- {text: "Somebody had paid for the bell", id: n, quote: [had paid for the bell, Somebody had paid for the bell]}
events:
- phase: now
  id: e
  summary: "multi\\nline ‘quoted’ 葛含烟 🕯️ \\t tab"
  quote: the mill burned for two nights
  location: mill
  factions: ["a, b", "no"]
  asserted_by: Odo
  practices: [{practice: necromancy, openly: false}]
  physical: [{kind: scar, text: left hand, permanent: true, present: false}, {kind: age, age: 0}]
  relations: [{npc: "1", status: alive, tie: enemy}, {npc: "1"}]
  inventory: [{item: "brass: key", change: used}]
  skills: [{skill: lip-reading, change: lost}]
"""


def test_a_ledger_with_every_field_survives_the_sheet(tmp_path: Path) -> None:
    story = story_of(tmp_path)
    lock = locked(FULL, story)
    assert lock.ledger.hooks[0].location == "1990-01-01"
    assert back(lock, story) == lock


texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=30).filter(
    lambda text: bool(text.strip()) and not text.isspace()
)
WORDS = [f"word{n}" for n in range(60)]


@st.composite
def ledgers(draw: st.DrawFn) -> dict[str, Any]:
    body = " ".join(WORDS)

    def evidence() -> list[dict[str, Any]]:
        spans = draw(st.lists(st.tuples(st.integers(0, 50), st.integers(3, 9)), min_size=1, max_size=3))
        quotes = [" ".join(WORDS[first : first + count]) for first, count in spans]
        return [
            {"quote": quote, "start": body.index(quote), "end": body.index(quote) + len(quote)}
            for quote in quotes
        ]

    def some(**fields: st.SearchStrategy[Any]) -> list[dict[str, Any]]:
        made = draw(st.lists(st.fixed_dictionaries(fields), max_size=3))
        return [{"id": f"i{n}", **entry, "evidence": evidence()} for n, entry in enumerate(made)]

    flag = st.booleans()
    npcs = some(
        name=st.just("word"), aliases=st.lists(texts, max_size=2), unresolved=flag, faction=st.none() | texts,
        status=st.sampled_from(["alive", "dead", "missing", "undead", "unknown"]), tie=st.sampled_from(["ally", "other"]),
    )  # fmt: skip
    for npc in npcs:  # every quote must hold a name
        npc["aliases"] += [evidence["quote"] for evidence in npc["evidence"]]
    ids = st.none() | st.sampled_from([npc["id"] for npc in npcs] or [None])
    grades = st.sampled_from([None, 1, 5, 10])
    events = some(
        phase=st.sampled_from(["P1", "P2", "P3"]),
        summary=texts,
        location=st.none() | texts,
        factions=st.lists(texts, max_size=2),
    )
    for n in range(len(events)):
        if grade := draw(grades):
            events[n] |= dict.fromkeys(("immediacy", "gravity", "linkage", "divergence"), grade)
    return {
        "schema_version": 1,
        "protagonist": draw(texts),
        "npcs": npcs,
        "events": events,
        "hooks": some(text=texts, tier=st.integers(1, 3), open=flag, npc=ids, location=st.none() | texts),
        "goals": some(text=texts, proactive=flag),
        "mysteries": some(text=texts, thematic_hole=st.none() | flag),
    }


@settings(deadline=None, max_examples=80)
@given(ledgers())
def test_any_ledger_written_as_a_sheet_and_locked_is_the_same_ledger(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, Any]
) -> None:
    story = story_of(tmp_path_factory.mktemp("trip"), " ".join(WORDS))
    ledger = load_ledger(data)
    sheet = load_yaml(write_sheet(story, ledger), "sheet")
    assert lock_sheet(sheet, story, story.sheet).ledger == ledger


@pytest.mark.parametrize("sheet", MARKED, ids=lambda path: path.name.removesuffix(".marks.yaml"))
def test_locking_a_committed_sheet_reproduces_the_lockfile_beside_it_to_the_byte(
    tmp_path: Path, sheet: Path
) -> None:
    name = sheet.name.removesuffix(".marks.yaml")  # NAME.second is another person's sheet for NAME.md
    story = story_of(
        tmp_path, (BACKSTORIES / f"{name.removesuffix('.second')}.md").read_text(encoding="utf-8")
    )
    story.sheet.write_bytes(sheet.read_bytes())
    recorded = BACKSTORIES / f"{name}.ledger.json"
    lock = lock_story(story)
    if not load_lockfile(recorded).notary.options:  # a second reading may not remember its sheet's hash
        lock = lock_sheet(load_yaml(sheet.read_text(encoding="utf-8"), sheet), story, sheet)
    write_lockfile(lock, story.lockfile)
    assert story.lockfile.read_bytes() == recorded.read_bytes()
    assert back(lock, story).ledger == lock.ledger


def test_there_are_committed_sheets_to_reproduce() -> None:
    assert len(MARKED) >= 8
