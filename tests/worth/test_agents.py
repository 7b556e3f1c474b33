"""Scripted readers are told for what they are, and readers by lot are rarely told anything."""

from pathlib import Path

import pytest

from worth_deepeval.agents import AGENTS, reply
from worth_deepeval.diagnosis.profiles import HEADLINES, profiles
from worth_deepeval.diagnosis.roles import attractors
from worth_deepeval.diagnosis.sample import Sample
from worth_deepeval.diagnosis.sentences import covariations
from worth_deepeval.episode import Sheet, load_sheet
from worth_deepeval.runs import Run, make_run

EXPECTED = {
    "random": "no-better-than-lot",
    "salience-greedy": "drawn-to-suspicion",
    "attractor-bound": "one-wrong-answer",
    "finds-but-misconcludes": "finds-but-misconcludes",
    "over-cautious": "over-cautious",
    "evidence-responsive": "finds-and-concludes",
}


@pytest.fixture(scope="module")
def story() -> Sheet:
    return load_sheet(Path(__file__).parents[2] / "test_cases" / "episodes" / "WEN01")


def runs(story: Sheet, agent: str, model: str, seeds: range) -> list[Run]:
    return [make_run(model, seed, "full-story", reply(agent, story, seed), story) for seed in seeds]


def test_every_scripted_reply_keeps_the_whole_protocol(story: Sheet) -> None:
    for agent in AGENTS:
        for run in runs(story, agent, agent, range(5)):
            assert run.response.compliant, run.response.violations
    assert reply("random", story, 3) == reply("random", story, 3) != reply("random", story, 4)


def test_each_reader_is_told_for_what_it_is_in_nine_samples_of_ten(story: Sheet) -> None:
    assert set(EXPECTED) == set(AGENTS)
    for agent, code in EXPECTED.items():
        told = []
        for first in range(0, 400, 20):
            sample = Sample(story, tuple(runs(story, agent, agent, range(first, first + 20))))
            (profile,) = profiles(sample, seed=first, draws=199)
            told.append(profile.code)
            assert profile.headline == HEADLINES[profile.code]
            assert len(profile.figures) == 4
        assert told.count(code) >= 18, (agent, told)


def test_too_few_runs_are_called_nothing(story: Sheet) -> None:
    (profile,) = profiles(
        Sample(story, tuple(runs(story, "attractor-bound", "a", range(2)))), seed=1, draws=99
    )
    assert (profile.code, profile.traits) == ("too-few-runs", ())


def by_lot(story: Sheet, first: int) -> Sample:
    """Four models of five runs each, all by lot."""
    return Sample(
        story,
        tuple(
            run
            for n in range(4)
            for run in runs(story, "random", f"m{n}", range(first + n * 5, first + n * 5 + 5))
        ),
    )


def test_tests_alarm_falsely_about_as_often_as_they_say(story: Sheet) -> None:
    """Of 60 samples by lot, a test at 0.05 alarms in 3; more than 8 has a chance of some 4 in 1,000."""
    alarms = {"across": 0, "together": 0, "covariation": 0}
    named = 0
    for trial in range(60):
        sample = by_lot(story, 10_000 + trial * 20)
        found = attractors(sample, seed=trial, draws=59)
        assert found.across is not None
        assert found.together is not None
        alarms["across"] += found.across.p_value <= 0.05
        alarms["together"] += found.together.p_value <= 0.05
        alarms["covariation"] += any(one.adjusted <= 0.05 for one in covariations(sample))
        named += sum(bool(one.traits) for one in profiles(sample, seed=trial, draws=199))
    assert max(alarms.values()) <= 8, alarms
    # Of 240 models by lot: each of six traits at about one in a hundred, or less.
    assert named <= 240 * 0.05


def test_models_that_share_a_wrong_answer_are_told_from_models_that_each_have_their_own(story: Sheet) -> None:
    shared = [
        run for n in range(4) for run in runs(story, "attractor-bound", f"m{n}", range(n * 5, n * 5 + 5))
    ]
    found = attractors(Sample(story, tuple(shared)), seed=1, draws=499)
    assert found.across is not None
    assert found.across.p_value <= 0.01
    assert found.sets[0].roles == ("R01", "R02", "R04")
