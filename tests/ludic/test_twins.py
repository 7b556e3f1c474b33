"""A shipped story and its twin, whose ledger differs in one thing: which figure moves, which way, and by how much.

Stories and counts are those of test_cases/backstories; every figure is worked out in the comment beside it.
"""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from ludic_deepeval.check import Checker
from ludic_deepeval.crosscheck import asks_for
from ludic_deepeval.judging import Reading
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.scoring import ScoreCard, score_ledger
from ludic_deepeval.sources import find_stories

STORIES = Path(__file__).parents[2] / "test_cases" / "backstories"
PATHS = find_stories([STORIES])


def reading_of(name: str) -> Reading:
    result = Checker().check(STORIES / f"{name}.md")
    return result.outcome.value  # type: ignore[union-attr]  # every shipped story is read


def closed(ledger: FactLedger, hook: str) -> FactLedger:
    """The same with one thread settled."""
    hooks = [one.model_copy(update={"open": False}) if one.id == hook else one for one in ledger.hooks]
    return FactLedger.model_validate(ledger.model_dump() | {"hooks": [one.model_dump() for one in hooks]})


def killed(ledger: FactLedger, npc: str) -> FactLedger:
    """The same with one person dead, in the list and in every event that gives a status."""
    data = ledger.model_dump()
    for person in data["npcs"]:
        if person["id"] == npc:
            person["status"] = "dead"
    for event in data["events"]:
        for relation in event["relations"]:
            if relation["npc"] == npc and relation["status"] is not None:
                relation["status"] = "dead"
    return FactLedger.model_validate(data)


def without_goal(ledger: FactLedger, goal: str) -> FactLedger:
    """The same without one goal."""
    goals = [one.model_dump() for one in ledger.goals if one.id != goal]
    assert len(goals) < len(ledger.goals)
    return FactLedger.model_validate(ledger.model_dump() | {"goals": goals})


def again(reading: Reading, ledger: FactLedger) -> ScoreCard:
    return score_ledger(ledger, reading.card.policy, names=reading.names)


Twin = Callable[[FactLedger, str], FactLedger]


@pytest.mark.parametrize(
    ("story", "twin", "item", "figure", "before", "after", "lpi_falls_by"),
    [
        # A loop closed. Open 3 urgent and 1 to explore, then 2 and 1. Στ 3.6 → 2.6: RTN −.06; UCR 3/4 → 2/3.
        # LPI: −.4·.06 − .2/12 = −.024 − 1/60.
        ("three-liens", closed, "the-eyes", "ucr", "3/4", "2/3", "61/1500"),
        # The only two are urgent, so the share stays; Στ 2 → 1: RTN .82 → .76, LPI −.024.
        ("two-short-one-long", closed, 0, "ucr", "1", "1", "0.024"),
        # An enemy killed. Three people, then two; Στ 3: RTN .7 + .18 → 1.4/3 + .18. LPI −.4·.7/3.
        ("calibration-hesba-inkpen", killed, "tahl", "rtn", "0.88", "97/150", "7/75"),
        # Six people, then five: three saturate RTN, so a death among many costs nothing.
        ("five-doors", killed, "tobit", "rtn", "1", "1", "0"),
        # A goal removed. Three, then two: MV 3/4 → 1/2, LPI −.3/4.
        ("xiu-dipian-de-ren", without_goal, 0, "mv", "3/4", "1/2", "0.075"),
        # The other way round: a quiet thread closed raises the share (Eq 3), 3/4 → 1; Στ 3.6 → 3: RTN −.036.
        # LPI: +.05 − .0144. docs/metrics.md names this limit.
        ("three-liens", closed, "the-healer", "ucr", "3/4", "1", "-0.0356"),
    ],
)  # fmt: skip
def test_a_twin_moves_the_figure_that_it_should(
    story: str, twin: Twin, item: str | int, figure: str, before: str, after: str, lpi_falls_by: str
) -> None:
    reading = reading_of(story)
    if isinstance(item, int):
        item = {closed: reading.ledger.hooks, without_goal: reading.ledger.goals}[twin][item].id
    other = again(reading, twin(reading.ledger, item))
    assert getattr(reading.card, figure) == Fraction(before)
    assert getattr(other, figure) == Fraction(after)
    assert isinstance(reading.card.lpi, Fraction)
    assert isinstance(other.lpi, Fraction)
    assert reading.card.lpi - other.lpi == Fraction(lpi_falls_by)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_in_every_story_a_door_that_closes_never_raises_its_figure(path: Path) -> None:
    """An urgent thread closed lowers UCR unless all are urgent; a death lowers RTN, and a goal less MV, unless saturated."""
    reading = reading_of(path.stem)
    counts, card = reading.card.counts, reading.card
    for hook in reading.ledger.hooks:
        if hook.open and hook.tier == 1:
            other = again(reading, closed(reading.ledger, hook.id))
            all_urgent = counts.tiers[1] + counts.tiers[2] == 0
            last = sum(counts.tiers) == 1
            assert (other.ucr < card.ucr) is (not all_urgent or last)
            assert other.rtn <= card.rtn
            assert isinstance(other.lpi, Fraction)
            assert isinstance(card.lpi, Fraction)
            assert other.lpi < card.lpi
    for npc in reading.ledger.npcs:
        if npc.unresolved and npc.status != "dead":
            other = again(reading, killed(reading.ledger, npc.id))
            assert (other.rtn < card.rtn) is (counts.active <= 3)
            assert other.rtn <= card.rtn
    for goal in reading.ledger.goals:
        if goal.proactive:
            other = again(reading, without_goal(reading.ledger, goal.id))
            assert (other.mv < card.mv) is (counts.goals <= 4)


def test_a_judge_is_shown_what_was_changed() -> None:
    """What the second layer reads of a twin differs in that line and in nothing else."""
    reading = reading_of("three-liens")
    for twin, name, item, was, now in (
        (closed, "ucr", "the-eyes", "the-eyes: tier 1, open", "the-eyes: tier 1, closed"),
        (killed, "rtn", "drabb", "Master Drabb): alive", "Master Drabb): dead"),
    ):
        ledger = twin(reading.ledger, item)
        other = Reading(ledger, again(reading, ledger), reading.consistency, reading.names)
        texts = [
            next(ask.text for ask in asks_for(one, "equation") if ask.rubric.name == name)
            for one in (reading, other)
        ]
        assert was in texts[0]
        assert texts[1] == texts[0].replace(was, now)
