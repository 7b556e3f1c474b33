"""Branching stories: what is wrong with the shape, and what contradicts what along the paths."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludic_deepeval.bible import load_bible
from ludic_deepeval.branches.along import faults_along
from ludic_deepeval.branches.graph import Graph, Passage, Way, paths_from
from ludic_deepeval.branches.loops import loops_along
from ludic_deepeval.branches.reading import read_branches
from ludic_deepeval.branches.shape import Flaw, flaws_of, play
from ludic_deepeval.errors import InputError
from ludic_deepeval.ledger import (
    BackgroundEvent,
    Event,
    Evidence,
    FactLedger,
    Hook,
    Npc,
    Physical,
    Possession,
    Practice,
    Relation,
)

ROOT = Path(__file__).parents[2]


def graph(text: str, *, first: str = "a", must_end: bool = False) -> Graph:
    """A graph from lines such as "a: b c? d!": ways, conditional ones with ?; ! ends, . stops."""
    passages = {}
    for number, line in enumerate(text.split("\n") if "\n" in text else text.split("; "), 1):
        name, _, rest = line.strip().partition(":")
        ways = tuple(
            Way(word.rstrip("?"), "jump", line=number, conditional=word.endswith("?"))
            for word in rest.split()
            if word not in {"!", "."}
        )
        words = rest.split()
        # Every passage holds ten characters of the body.
        passages[name] = Passage(
            name, number, ways, "!" in words, "." in words or not words, 10 * (number - 1), 10 * number
        )
    return Graph(Path("story.twee"), "test", passages, first, must_end)


def at(story: Graph, name: str, offset: int = 0) -> tuple[Evidence, ...]:
    start = story.passages[name].start + offset
    return (Evidence(quote=f"words in {name}", start=start, end=start + 1),)


def event(story: Graph, name: str, passage: str, offset: int = 0, **more: Any) -> Event:
    return Event(id=name, phase="P3", summary=name, evidence=at(story, passage, offset), **more)


def codes(flaws: tuple[Flaw, ...]) -> list[tuple[str, str]]:
    return [(flaw.code, flaw.passage) for flaw in flaws]


# Shape


def test_a_story_that_can_be_read_to_its_ends_has_no_flaw() -> None:
    assert flaws_of(graph("a: b c; b: d; c: d; d: !")) == ()


def test_a_way_to_a_passage_that_is_not_there_is_a_dead_link_with_the_way_to_it() -> None:
    [flaw] = flaws_of(graph("a: bridge; bridge: tower; towers: !; x: towers"))[:1]
    assert (flaw.code, flaw.passage, flaw.line) == ("dead-link", "bridge", 2)
    assert flaw.message == "a way leads to 'tower', which is not there; is 'towers' meant?"
    assert flaw.path == ("a", "bridge")


def test_what_cannot_be_reached_says_why() -> None:
    flaws = flaws_of(graph("a: !; lone: !; next: lone2; lone2: next; head: tail; tail: !; loop: loop"))
    assert codes(flaws) == [
        ("unreachable", name) for name in ("lone", "next", "lone2", "head", "tail", "loop")
    ]
    said = {flaw.passage: flaw.message for flaw in flaws}
    assert said["lone"] == "no way leads to 'lone'"
    assert said["lone2"] == "'lone2' lies on a circle that no way leads into"
    assert said["tail"] == "'tail' is led to only from passages that cannot be reached, such as 'head'"
    assert said["loop"] == "no way leads to 'loop'"


def test_where_no_ending_can_be_reached_the_first_such_passage_is_named_once() -> None:
    [flaw] = flaws_of(graph("a: b c; b: !; c: d; d: e; e: c"))
    assert (flaw.code, flaw.passage) == ("endless", "c")
    assert flaw.message == "from 'c' no ending can be reached, as from 2 more after it"
    assert flaw.path == ("a", "c")


def test_two_traps_are_two_flaws() -> None:
    assert codes(flaws_of(graph("a: b c !; b: b; c: c"))) == [("endless", "b"), ("endless", "c")]


def test_to_stop_without_an_ending_is_a_flaw_only_where_the_format_has_words_for_one() -> None:
    assert flaws_of(graph("a: b; b: .")) == ()
    [flaw] = flaws_of(graph("a: b; b: .", must_end=True))
    assert (flaw.code, flaw.passage, flaw.possible) == ("out-of-content", "b", False)


def test_to_stop_only_when_no_choice_is_left_is_possible() -> None:
    [flaw] = flaws_of(graph("a: b; b: c? .; c: !", must_end=True))
    assert (flaw.code, flaw.passage, flaw.possible) == ("out-of-content", "b", True)
    assert flaw.message == "'b' may run out of content: it stops without an ending"


@pytest.mark.parametrize(
    ("first", "said"), [(None, "nothing says"), ("z", "it begins at 'z', which is not there")]
)
def test_without_a_start_nothing_else_is_judged_but_dead_links(first: Any, said: str) -> None:
    flaws = flaws_of(graph("a: b x; b: !", first=first))
    assert codes(flaws) == [("no-start", ""), ("dead-link", "a")]
    assert said in flaws[0].message


def test_a_function_or_a_script_need_not_be_reached() -> None:
    story = Graph(Path("x"), "t", {"a": Passage("a", ends=True), "css": Passage("css", aside=True)}, "a")
    assert flaws_of(story) == ()


def test_a_path_that_depends_on_nothing_is_preferred_and_else_it_is_possible() -> None:
    story = graph("a: d? b; b: c; c: d; d: e?; e: !")
    assert [step.passage for step in story.reachable.to("d")] == ["a", "b", "c", "d"]
    assert story.reachable.is_sure("d")
    assert [step.passage for step in story.reachable.to("e")] == ["a", "d", "e"]  # by any ways, the shortest
    assert not story.reachable.is_sure("e")


NAMES = [f"p{n}" for n in range(8)]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.sampled_from([*NAMES, "gone"]), max_size=3), min_size=8, max_size=8), st.data())
def test_what_is_reachable_agrees_with_a_walk_of_another_kind(
    ways: list[list[str]], data: st.DataObject
) -> None:
    passages = {
        name: Passage(name, ways=tuple(Way(target) for target in out), stops=not out)
        for name, out in zip(NAMES, ways, strict=True)
    }
    story = Graph(Path("x"), "t", passages, "p0")
    known = {"p0"}
    for _ in NAMES:  # the closure, by as many rounds as there are passages
        known |= {t for name in known for t in ways[NAMES.index(name)] if t in passages}
    assert set(story.reachable) == known
    assert {f.passage for f in flaws_of(story) if f.code == "unreachable"} == set(NAMES) - known
    ends = {name for name, out in zip(NAMES, ways, strict=True) if not out or "gone" in out}
    back = set(ends)
    for _ in NAMES:
        back |= {name for name, out in zip(NAMES, ways, strict=True) if set(out) & back}
    told = {f.passage for f in flaws_of(story) if f.code == "endless"}
    assert bool(told) == bool(known - back)
    assert told <= known - back
    coverage = play(story, plays=40, seed=data.draw(st.integers(0, 9)))
    assert set(coverage.seen) <= known


def test_random_play_is_the_same_for_the_same_seed_and_says_what_it_missed() -> None:
    story = graph("a: b c; b: !; c: c")
    first, second = play(story, plays=50, seed=3), play(story, plays=50, seed=3)
    assert first == second
    assert first.ended + first.cut == first.plays == 50
    assert first.seen["a"] == 50
    assert first.seen["b"] == first.ended  # every play that chose b ended there
    assert play(story, plays=0, seed=3).seen == {}
    with pytest.raises(ValueError, match="plays is -1"):
        play(story, plays=-1, seed=0)


# Contradictions along the paths


def osk(status: str = "dead") -> tuple[Npc, ...]:
    return (Npc(id="osk", name="Osk", status=status),)  # type: ignore[arg-type]


def ledger_of(*events: Event, **lists: Any) -> FactLedger:
    return FactLedger.model_construct(
        **(
            {
                "schema_version": 1,
                "protagonist": "Ada",
                "npcs": osk(),
                "events": events,
                "hooks": (),
                "goals": (),
                "mysteries": (),
                "background_log": (),
            }
            | lists
        )
    )


def met(story: Graph, name: str, passage: str, status: Any = None, offset: int = 0) -> Event:
    return event(story, name, passage, offset, relations=(Relation(npc="osk", status=status),))


def test_a_death_before_a_meeting_is_a_fault_on_the_shortest_path_through_both() -> None:
    story = graph("a: b c; b: d; c: d; d: e; e: !")
    [fault] = faults_along(
        story, ledger_of(met(story, "death", "c", "dead"), met(story, "feast", "e"))
    ).faults
    assert (fault.code, fault.events) == ("dead-then-active", ("death", "feast"))
    assert fault.path == ("a", "c", "d", "e")
    assert fault.message == "Osk dies in 'c' and takes part again in 'e'"
    assert fault.quotes == ("words in c", "words in e")
    assert not fault.possible


def test_on_another_branch_nobody_contradicts_anybody() -> None:
    story = graph("a: b c; b: !; c: !")
    assert (
        faults_along(story, ledger_of(met(story, "death", "b", "dead"), met(story, "feast", "c"))).faults
        == ()
    )


def test_a_return_on_the_way_explains_it_and_one_on_another_way_does_not() -> None:
    story = graph("a: b; b: c d; c: e; d: e; e: !")
    death, feast = met(story, "death", "a", "dead"), met(story, "feast", "e")
    rises = met(story, "rises", "c", "undead")
    [fault] = faults_along(story, ledger_of(death, rises, feast)).faults
    assert fault.path == ("a", "b", "d", "e")
    only = graph("a: b; b: c; c: e; e: !")
    moved = [met(only, "death", "a", "dead"), met(only, "rises", "c", "undead"), met(only, "feast", "e")]
    assert faults_along(only, ledger_of(*moved)).faults == ()


def test_the_order_within_a_passage_is_that_of_its_words() -> None:
    story = graph("a: !")
    before = ledger_of(met(story, "feast", "a", offset=1), met(story, "death", "a", "dead", offset=5))
    after = ledger_of(met(story, "feast", "a", offset=5), met(story, "death", "a", "dead", offset=1))
    assert faults_along(story, before).faults == ()
    assert [fault.path for fault in faults_along(story, after).faults] == [("a",)]


def test_a_path_through_a_condition_is_possible() -> None:
    story = graph("a: b?; b: c; c: !")
    [fault] = faults_along(
        story, ledger_of(met(story, "death", "b", "dead"), met(story, "feast", "c"))
    ).faults
    assert fault.possible


def test_coming_back_to_a_hub_where_the_dead_still_stand_is_possible() -> None:
    story = graph("hub: cellar out; cellar: hub; out: !", first="hub")
    ledger = ledger_of(met(story, "talk", "hub"), met(story, "death", "cellar", "dead"))
    [fault] = faults_along(story, ledger).faults
    assert fault.path == ("hub", "cellar", "hub")
    assert fault.possible
    assert fault.message.endswith("takes part again in 'hub' when it is come back to")


def test_what_cannot_be_reached_contradicts_nothing() -> None:
    story = graph("a: !; b: c; c: !")
    assert (
        faults_along(story, ledger_of(met(story, "death", "b", "dead"), met(story, "feast", "c"))).faults
        == ()
    )


def test_the_background_log_explains_and_contradicts() -> None:
    story = graph("a: b; b: !")
    ledger = ledger_of(met(story, "death", "a", "dead"), met(story, "feast", "b"))
    back = BackgroundEvent(id="log1", phase="P3", kind="resurrection", subject="Osk", text="Osk wakes")
    assert faults_along(story, ledger.model_copy(update={"background_log": (back,)})).faults == ()
    died = BackgroundEvent(id="log1", phase="P1", kind="death", subject="Osk", text="Osk drowned")
    [fault] = faults_along(story, ledger_of(met(story, "feast", "b"), background_log=(died,))).faults
    assert (fault.code, fault.events, fault.path) == ("against-log", ("log1", "feast"), ("a", "b"))


def had(story: Graph, name: str, passage: str, change: Any) -> Event:
    return event(story, name, passage, inventory=(Possession(item="the key", change=change),))


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("lost", "used", "the item 'the key' is lost in 'a' and used or lost again in 'b'"),
        ("lost", "lost", "the item 'the key' is lost in 'a' and used or lost again in 'b'"),
        ("used", "gained", "the item 'the key' is used in 'a', before it is gained in 'b'"),
        ("gained", "used", None),
        ("used", "used", None),
        ("lost", "gained", "the item 'the key' is used in 'a', before it is gained in 'b'"),
    ],
)
def test_what_is_held_is_followed_along_the_path(first: str, second: str, said: str | None) -> None:
    story = graph("a: b; b: !")
    faults = faults_along(
        story, ledger_of(had(story, "e1", "a", first), had(story, "e2", "b", second))
    ).faults
    assert [fault.message for fault in faults] == ([said] if said else [])


def test_a_thing_found_on_one_way_and_used_on_both_was_never_held_on_the_other() -> None:
    """Used in d, and gained only on the way through b: by the other way it is used without, but nothing contradicts it:
    what no event of a path gains may have been there from the start."""
    story = graph("a: b c; b: d; c: d; d: !")
    assert (
        faults_along(story, ledger_of(had(story, "e1", "b", "gained"), had(story, "e2", "d", "used"))).faults
        == ()
    )


def test_injuries_and_ages_are_followed_too() -> None:
    story = graph("a: b; b: !")
    hurt = event(story, "e1", "a", physical=(Physical(kind="scar", text="a blind eye", permanent=True),))
    healed = event(story, "e2", "b", physical=(Physical(kind="scar", text="a blind eye", present=False),))
    assert [f.code for f in faults_along(story, ledger_of(hurt, healed)).faults] == ["injury-vanished"]
    old = event(story, "e1", "a", physical=(Physical(kind="age", age=30),))
    young = event(story, "e2", "b", physical=(Physical(kind="age", age=20),))
    [fault] = faults_along(story, ledger_of(old, young)).faults
    assert (fault.code, fault.message) == ("age-fell", "aged 30 in 'a', then younger in 'b'")
    other = graph("a: b c; b: !; c: !")
    apart = [
        event(other, "e1", "b", physical=(Physical(kind="age", age=30),)),
        event(other, "e2", "c", physical=(Physical(kind="age", age=20),)),
    ]
    assert faults_along(other, ledger_of(*apart)).faults == ()


def test_a_broken_law_is_found_wherever_it_can_be_read() -> None:
    bible = load_bible(ROOT / "bible/faerun")
    rule = next(rule for rule in bible.rules if rule.openly)
    [place, *_] = [p.id for p in bible.locations if p.id in rule.places or p.allegiance == rule.allegiance]
    story = graph("a: b; b: !; lost: !")
    practice = (Practice(practice=rule.practice, openly=True),)
    events = [
        event(story, "e1", "b", practices=practice, location=place),
        event(story, "e2", "lost", practices=practice, location=place),
    ]
    [fault] = faults_along(story, ledger_of(*events), bible).faults
    assert (fault.code, fault.events[0], fault.path) == ("lore-violation", "e1", ("a", "b"))


def test_hearsay_and_words_outside_of_passages_are_on_no_path() -> None:
    story = graph("a: b; b: !")
    rumour = met(story, "death", "a", "dead").model_copy(update={"asserted_by": "a drunk"})
    assert faults_along(story, ledger_of(rumour, met(story, "feast", "b"))).faults == ()
    outside = met(story, "death", "a", "dead").model_copy(
        update={"evidence": (Evidence(quote="x", start=900, end=901),)}
    )
    assert faults_along(story, ledger_of(outside)).unplaced == ("death",)


def ladder(steps: int) -> Graph:
    """Binary choices that meet again: 2 to the power of `steps` paths."""
    lines = []
    for n in range(steps):
        lines += [f"s{n}: l{n} r{n}", f"l{n}: s{n + 1}", f"r{n}: s{n + 1}"]
    return graph("\n".join([*lines, f"s{steps}: !"]), first="s0")


def test_a_contradiction_behind_forty_binary_choices_is_found_by_merging_not_by_walking() -> None:
    story = ladder(40)
    found = faults_along(story, ledger_of(met(story, "death", "l0", "dead"), met(story, "feast", "s40")))
    [fault] = found.faults
    assert len(fault.path) == 2 * 40 + 1
    assert fault.path[:3] == ("s0", "l0", "s1")
    assert fault.path[-1] == "s40"
    assert (found.searches, found.done) == (1, 1)
    hooks = tuple(
        Hook(id=f"h{n}", text=f"h{n}", tier=1, open=True, evidence=at(story, f"l{n}")) for n in range(40)
    )
    loops = loops_along(story, ledger_of(hooks=hooks), max_states=5_000)
    assert not loops.complete  # 2 to the power of 40 sets of hooks: the bound is kept and told
    assert loops.states == 5_000


# What is open at the endings


def hook(story: Graph, name: str, passage: str, closed_in: str | None = None, tier: Any = 1) -> Hook:
    evidence = at(story, passage) + (at(story, closed_in) if closed_in else ())
    return Hook(id=name, text=name, tier=tier, open=closed_in is None, evidence=evidence)


def test_ucr_at_an_ending_is_the_share_of_urgent_threads_among_those_still_open() -> None:
    # By b: h1 (tier 1) and h2 (tier 3) are open, 1/2. By c: h1 alone, 1/1.
    story = graph("a: b c; b: d; c: d; d: !")
    ledger = ledger_of(hooks=(hook(story, "h1", "a"), hook(story, "h2", "b", tier=3)))
    [ending] = loops_along(story, ledger).endings
    assert (ending.open, ending.ucr) == ((1, 2), (Fraction(1, 2), Fraction(1)))
    assert ending.closed_path == ()


def test_an_ending_where_everything_opened_has_been_closed_is_a_dead_end() -> None:
    story = graph("a: b c; b: d; c: e; d: !; e: !")
    ledger = ledger_of(hooks=(hook(story, "debt", "a", "b"),))
    dead, alive = loops_along(story, ledger).endings
    assert (dead.passage, dead.closed_path, dead.ucr) == ("d", ("a", "b", "d"), (0, 0))
    assert (alive.passage, alive.closed_path, alive.open) == ("e", (), (1, 1))


def test_an_ending_before_anything_was_opened_is_none() -> None:
    story = graph("a: b c; b: !; c: !")
    ledger = ledger_of(hooks=(hook(story, "debt", "b", "b"),))
    assert [bool(one.closed_path) for one in loops_along(story, ledger).endings] == [True, False]


# Twee


TWEE = """\
:: StoryTitle
The Mill

:: StoryData
{"start": "Mill"}

:: Mill [place] {"position":"1,1"}
Osk stands at the wheel and nods.
[[Go down->Cellar]]
<<if $lamp>>[[Look up|Loft]]<<endif>>

:: Cellar
The beam comes down and Osk is killed.
[[Back to the road<-Road]]

:: Loft
Dust. [[Road]]

:: Road
Osk waves from the road.
(if: $x)[ [[Home]] ]

:: Home
The end.

:: Style [stylesheet]
a { color: red } [[Nowhere]]
"""


def twee(folder: Path, text: str = TWEE, name: str = "mill.twee") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_twee_is_read_into_passages_and_ways(tmp_path: Path) -> None:
    story, source = read_branches(twee(tmp_path))
    assert story.first == "Mill"
    ways = {
        name: [(way.target, way.label, way.line, way.conditional) for way in passage.ways]
        for name, passage in story.passages.items()
        if not passage.aside
    }
    assert ways == {
        "Mill": [("Cellar", "Go down", 9, False), ("Loft", "Look up", 10, True)],
        "Cellar": [("Back to the road", "Road", 14, False)],
        "Loft": [("Road", "Road", 17, False)],
        "Road": [("Home", "Home", 21, True)],
        "Home": [],
    }
    assert source.prose.body.startswith("Osk stands at the wheel and nods.\nGo down\nLook up\n\nThe beam")
    assert "color" not in source.prose.body
    for passage in story.passages.values():
        if passage.end > passage.start:
            line = source.prose.place(passage.start).line
            assert line == passage.line + 1
            assert story.at(passage.start) is passage
            assert story.at(passage.end) is not passage


def test_the_start_is_the_passage_of_that_name_where_nothing_says_otherwise(tmp_path: Path) -> None:
    assert read_branches(twee(tmp_path, ":: Start\nx\n"))[0].first == "Start"
    assert read_branches(twee(tmp_path, ":: Begin\nx\n"))[0].first is None
    assert read_branches(twee(tmp_path, ":: StoryData\n{oops\n\n:: Start\nx\n"))[0].notes != ()


def test_the_command_names_both_lines_and_the_path(
    tmp_path: Path, ludic: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = twee(tmp_path, TWEE.replace("[[Back to the road<-Road]]", "[[Road<-Up again]]"))
    _, source = read_branches(path)
    quotes = {"death": "The beam comes down and Osk is killed", "wave": "Osk waves from the road"}
    events = []
    for name, quote in quotes.items():
        [(start, end)] = source.prose.find(quote)
        status = "dead" if name == "death" else None
        events.append(
            {
                "id": name, "phase": "P3", "summary": quote, "evidence": [{"quote": quote, "start": start, "end": end}],
                "relations": [{"npc": "osk"} | ({"status": status} if status else {})],
            }
        )  # fmt: skip
    [(start, end)] = source.prose.find("Osk stands at the wheel")
    npc = {
        "id": "osk",
        "name": "Osk",
        "status": "dead",
        "evidence": [{"quote": "Osk stands at the wheel", "start": start, "end": end}],
    }
    lock = {
        "schema_version": 1, "source_sha256": source.prose.sha256, "notary": {"kind": "hand"},
        "ledger": {"schema_version": 1, "protagonist": "Ada", "npcs": [npc], "events": events},
    }  # fmt: skip
    assert source.lockfile.name == "mill.twee.ledger.json"
    source.lockfile.write_text(json.dumps(lock), encoding="utf-8")
    done = ludic("branches", "mill.twee", "--plays", "20")
    assert done.code == 1
    assert "line 20: Osk dies in 'Cellar' and takes part again in 'Road' [dead-then-active]" in done.out
    assert "    line 13: “The beam comes down and Osk is killed”" in done.out
    assert "    path: Mill → Cellar → Road" in done.out
    assert "20 random plays (seed 0)" in done.out
    [story] = json.loads(ludic("branches", "mill.twee", "--json").out)["stories"]
    assert [one["code"] for one in story["findings"]] == ["dead-then-active"]
    assert ludic("branches", "mill.twee", "--allow", "dead-then-active").code == 0
    path.write_text(path.read_text(encoding="utf-8").replace("nods", "nods twice"), encoding="utf-8")
    assert "changed since it was read" in ludic("branches", "mill.twee").out


def test_a_branching_story_can_be_annotated(tmp_path: Path, ludic: Any) -> None:
    path = twee(tmp_path)
    assert ludic("annotate", path).code == 0
    assert (tmp_path / "mill.twee.marks.yaml").is_file()


def test_what_stands_beside_the_file_is_front_matter(tmp_path: Path) -> None:
    path = twee(tmp_path)
    (tmp_path / "mill.twee.about.yaml").write_text("title: The Mill\n", encoding="utf-8")
    assert read_branches(path)[1].front.title == "The Mill"
    (tmp_path / "mill.twee.about.yaml").write_text("- 1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"about\.yaml: is no mapping"):
        read_branches(path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--plays", "-1"), "--plays: found -1; allowed: 0 to 100000"),
        (("--allow", "everything"), "--allow: found 'everything'; allowed: no-start, dead-link"),
    ],
)
def test_a_wrong_call_is_refused(tmp_path: Path, ludic: Any, arguments: tuple[str, ...], said: str) -> None:
    done = ludic("branches", twee(tmp_path), *arguments)
    assert done.code == 2
    assert said in done.err


def test_what_is_no_branching_story_is_refused(tmp_path: Path, ludic: Any) -> None:
    for name, data in (("a.twee", b"Once upon a time"), ("b.twee", b"\xff\xfe"), ("c.twee", b"")):
        (tmp_path / name).write_bytes(data)
        done = ludic("branches", tmp_path / name)
        assert done.code == 2
        assert name in done.err
    assert ludic("branches", tmp_path / "none.twee").code == 2
    (tmp_path / "empty").mkdir()
    assert ludic("branches", tmp_path / "empty").code == 2


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_the_reader_of_twee_is_total(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    text = list(TWEE)
    for _ in range(data.draw(st.integers(1, 12))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place : place + data.draw(st.integers(0, 6))] = data.draw(
            st.text(alphabet="[]<>:|-{}()\n\r\"'ü", max_size=4)
        )
        if not text:
            break
    path = tmp_path_factory.getbasetemp() / "mutated.twee"
    path.write_text("".join(text), encoding="utf-8")
    try:
        story, source = read_branches(path)
    except InputError:
        return
    flaws_of(story)
    for passage in story.passages.values():
        assert 0 <= passage.start <= passage.end <= len(source.prose.body)


def test_a_search_that_is_not_entered_stops_there() -> None:
    story = graph("a: b; b: c; c: !")
    assert list(paths_from(story, ["a"], lambda name: name != "b")) == ["a", "b"]
