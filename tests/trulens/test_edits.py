"""The paper's central commitment (LudicMetrics §4.3), over edits that a seed makes and nobody picked:
an unresolved mystery never lowers groundedness, and a contradiction always does."""

import random
from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from ludic_deepeval.bible import open_bible
from ludic_deepeval.ledger import FactLedger, Mystery
from ludic_deepeval.lockfile import load_lockfile
from ludic_deepeval.outcome import Scored, Unscored
from ludic_deepeval.sources import read_story
from trulens_feedback import edits
from trulens_feedback.contradiction import contradictions
from trulens_feedback.lexical import LexicalJudge
from trulens_feedback.retrieval import Bm25Retriever, chunks_of
from trulens_feedback.setting import Setting
from trulens_feedback.statements import Background, split
from trulens_feedback.triad import Groundedness, Judged, groundedness

ROOT = Path(__file__).parents[2]
STORIES = sorted((ROOT / "test_cases/backstories").glob("*.md"))
STORIES = [path for path in STORIES if path.name != "README.md"]
BIBLES = ("ember-road@v1", "ember-road@v2", "faerun@v1", "long-ebb@v1")
SEEDS = range(200)
JUDGE = LexicalJudge()


@cache
def setting(reference: str) -> Setting:
    return Setting(open_bible(str(ROOT / "bible" / reference)))


@cache
def story(path: Path) -> tuple[str, FactLedger]:
    read = read_story(path)
    return read.prose.body, load_lockfile(read.lockfile).ledger


def drawn(seed: int) -> tuple[random.Random, str, FactLedger, Setting]:
    """A story of the repository, a bible, and some facts of that bible put into the story: all by the seed."""
    rng = random.Random(seed)  # noqa: S311  # edits, no secrets
    prose, ledger = story(rng.choice(STORIES))
    world = setting(rng.choice(BIBLES))
    facts = [edits.fact(world, rng) for _ in range(rng.randint(1, 5))]
    return rng, edits.inserted(prose, facts, rng), ledger, world


def judged(prose: str, world: Setting, ledger: FactLedger | None) -> Groundedness:
    return groundedness(prose, chunks_of(world.bible), world, JUDGE, background=Background(ledger))


def score(found: Groundedness) -> Fraction:
    assert isinstance(found.score, Scored)
    return found.score.value


def standing(found: Groundedness, text: str) -> Judged:
    (one,) = (one for one in found.statements if text in one.text)
    return one


@pytest.mark.parametrize("known", [True, False], ids=["with its ledger", "from the prose alone"])
def test_an_unresolved_mystery_never_lowers_groundedness(known: bool) -> None:
    moved: Counter[str] = Counter()
    for seed in SEEDS:
        rng, prose, ledger, world = drawn(seed)
        people = [npc.name for npc in ledger.npcs]
        mystery = edits.opening(world, rng, names=people)
        edited = edits.inserted(prose, [mystery], rng)
        if known:
            more = (*ledger.mysteries, Mystery(id="planted", text=mystery.text))
            ledger = ledger.model_copy(update={"mysteries": more})
        before = judged(prose, world, ledger if known else None)
        after = judged(edited, world, ledger if known else None)
        assert score(after) >= score(before), (seed, mystery.text)
        moved["same" if score(after) == score(before) else "up"] += 1
        assert standing(after, mystery.text).standing == "open", (seed, mystery.text)
        assert after.counts["open"] == before.counts["open"] + 1
    assert moved == {"same": len(SEEDS)}  # set apart: it is in neither part of the fraction


def test_a_contradiction_always_lowers_groundedness() -> None:
    kinds: Counter[str] = Counter()
    for seed in SEEDS:
        rng, prose, ledger, world = drawn(seed)
        wrong = edits.contradiction(world, rng)
        kinds[wrong.what] += 1
        before = judged(prose, world, ledger)
        after = judged(edits.inserted(prose, [wrong], rng), world, ledger)
        assert score(before) > 0
        assert score(after) < score(before), (seed, wrong)
        told = standing(after, wrong.text)
        assert told.standing == "contradicted"
        assert told.node == wrong.node, (seed, wrong, told)
    assert set(kinds) == {"retired", "denied", "swapped", "number", "allegiance", "law"}
    assert min(kinds.values()) >= 10, kinds


def test_a_contradiction_lowers_groundedness_when_bm25_found_its_node() -> None:
    """Retrieval may miss a node; then nobody can tell. Where it does not, the contradiction is charged."""
    missed = 0
    for seed in SEEDS:
        rng, prose, ledger, world = drawn(seed)
        wrong = edits.contradiction(world, rng)
        edited = edits.inserted(prose, [wrong], rng)
        chunks = [hit.chunk for hit in _retriever(world).retrieve(wrong.text, most=4)]
        found = groundedness(edited, chunks, world, JUDGE, background=Background(ledger))
        if any(chunk.node == wrong.node for chunk in chunks):
            assert standing(found, wrong.text).standing == "contradicted", wrong
        else:
            missed += 1
    assert missed <= len(SEEDS) // 20, missed


@cache
def _retriever(world: Setting) -> Bm25Retriever:
    return Bm25Retriever(world.bible)


def test_a_fact_of_the_bible_is_supported_by_a_chunk_of_its_node() -> None:
    for seed in SEEDS:
        rng = random.Random(seed)  # noqa: S311  # edits, no secrets
        world = setting(rng.choice(BIBLES))
        fact = edits.fact(world, rng)
        (one,) = judged(fact.text, world, None).statements
        assert (one.standing, one.chunk and one.chunk.split("/")[2].partition("#")[0]) == (
            "supported",
            fact.node,
        ), (
            fact,
            one,
        )


def test_a_mystery_that_counts_on_what_a_version_has_ended_is_charged_for_that_alone() -> None:
    world = setting("ember-road@v2")
    text = "Saltgrave is the white town above the pans. Nobody knows who still keeps the gate of Ombrey."
    found = judged(text, world, None)
    assert [one.standing for one in found.statements] == ["supported", "contradicted"]
    assert (found.statements[1].node, found.statements[1].version) == ("ombrey", "v2")
    assert found.score == Scored(Fraction(1, 2))  # one supported of two counted
    earlier = judged(text, setting("ember-road@v1"), None)
    assert [one.standing for one in earlier.statements] == ["supported", "open"]
    assert earlier.score == Scored(Fraction(1))


def test_a_mystery_that_names_too_much_is_no_opening() -> None:
    """LudicMetrics §3.6's second example, put as a question: five of fourteen tokens are names or dates."""
    world = setting("faerun@v1")
    text = "Was Kaelen's father killed by Captain Hook on October 12 with a silver dagger?"
    ledger = FactLedger(schema_version=1, protagonist="Kaelen")
    statement = split(text)[0]
    assert not Background(ledger).opens(statement, world)
    assert Background(ledger).opens(split("Who killed Kaelen's father with so odd a weapon?")[0], world)


def test_the_stories_of_the_repository_contradict_no_bible_that_they_are_set_in() -> None:
    """Every finding on them would be a false alarm: nobody wrote a contradiction of the bible's own words into them."""
    alarms = []
    for path in STORIES:
        read = read_story(path)
        if read.front.bible is None:
            continue
        world = setting(f"{read.front.bible}@v1")
        background = Background(story(path)[1])
        alarms += [
            (path.stem, statement.text, one.told)
            for statement in split(read.prose.body)
            for one in contradictions(statement.text, world, is_open=background.opens(statement, world))
        ]
    assert alarms == []


def test_a_text_without_world_facts_is_unscored_and_not_grounded() -> None:
    found = judged("I was born in a barn. My mother never spoke of it.", setting("faerun@v1"), None)
    assert isinstance(found.score, Unscored)
    assert found.score.cause == "claims"
    assert found.shares["private"] == 1
