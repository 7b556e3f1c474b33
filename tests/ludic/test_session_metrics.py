"""E_a and Div_alpha as DeepEval metrics: from a recorded session or from models, and handled as the harness handles metrics."""

import asyncio
from collections.abc import Coroutine, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("deepeval.metrics")

from deepeval import assert_test, evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics.utils import copy_metrics
from deepeval.test_case import LLMTestCase

from ludic_deepeval.genre_prompts import prompt_for
from ludic_deepeval.llm.recorded import RecordedModel, RecordingModel, Recordings
from ludic_deepeval.lockfile import load_lockfile
from ludic_deepeval.metrics import AdaptationEffortMetric, BranchingDiversityMetric, session_case
from ludic_deepeval.policy import Policy
from ludic_deepeval.session import load_session
from test_cases.sessions.make import make, scripts
from tests.scripted import SEEDS, Scripted, all_invented, judge_by, outline, seed_of

ROOT = Path(__file__).parents[2]
STORY = ROOT / "test_cases" / "backstories" / "two-short-one-long.md"
LOW = ROOT / "test_cases" / "sessions" / "two-short-one-long" / "session.json"
HIGH = ROOT / "test_cases" / "sessions" / "four-hundred-and-six-gulls" / "session.json"
GULLS = ROOT / "test_cases" / "backstories" / "four-hundred-and-six-gulls.md"
BOTH = [AdaptationEffortMetric, BranchingDiversityMetric]


def bare(session: object, **metadata: Any) -> LLMTestCase:
    return LLMTestCase(input="x", actual_output="", metadata={"session": session, **metadata})


def awaited(work: Coroutine[Any, Any, float | None]) -> float | None:
    """Await in a loop of its own; `asyncio.run` would leave the loop that DeepEval made unclosed."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()


@pytest.fixture
def own_loop() -> Iterator[None]:
    """A loop for DeepEval, which makes one where there is none and never closes it."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.mark.parametrize("script", scripts(), ids=lambda one: one["story"])
def test_the_sessions_in_the_repository_are_what_their_scripts_give(script: dict[str, Any]) -> None:
    """If this fails a prompt, a seed or a ledger has changed: python test_cases/sessions/make.py"""
    saved = load_session(ROOT / "test_cases" / "sessions" / script["story"] / "session.json")
    assert make(script) == saved


@pytest.mark.parametrize("given", ["path", "text", "mapping", "session"])
def test_a_session_is_taken_as_a_path_a_mapping_or_itself(given: str) -> None:
    session = load_session(LOW)
    forms = {"path": LOW, "text": str(LOW), "mapping": session.model_dump(mode="json"), "session": session}
    metric = AdaptationEffortMetric()
    # 23 reused and 4 invented, counted by hand in scripts.yaml.
    assert metric.measure(bare(forms[given])) == float(Fraction(4, 27))
    assert metric.error is None
    # One person of seven is shared by each two of three outlines, no thread: 1 − (3/7)/6.
    diversity = BranchingDiversityMetric()
    assert diversity.measure(bare(forms[given])) == float(Fraction(13, 14))
    assert diversity.score_breakdown["diversity"]["clusters"] == 3


def test_lower_effort_is_better_and_the_threshold_is_a_ceiling() -> None:
    high = AdaptationEffortMetric()
    assert high.measure(bare(HIGH)) == float(Fraction(11, 15))
    assert not high.is_successful()
    assert "11 of 15 people and threads had to be invented" in high.reason
    lenient = AdaptationEffortMetric(threshold=0.8)
    lenient.measure(bare(HIGH))
    assert lenient.is_successful()
    low = AdaptationEffortMetric()
    low.measure(bare(LOW))
    assert low.is_successful()
    strict = AdaptationEffortMetric(strict_mode=True)
    strict.measure(bare(LOW))
    assert strict.threshold == 0
    assert not strict.is_successful()


def test_the_ceiling_itself_passes_and_is_compared_exactly() -> None:
    """Two invented of five is .40, whose float is a little more."""
    label = [{"label": "reused", "item": "npcs:osk"}] * 3 + [{"label": "invented", "item": None}] * 2
    people = [{"name": f"N{n}", "role": "x"} for n in range(5)]
    data = load_session(LOW).model_dump(mode="json")
    data |= {"outlines": [{"seed": seed, "npcs": people} for seed in SEEDS], "labels": [label] * 3}
    metric = AdaptationEffortMetric()
    assert metric.measure(bare(data)) == 0.4
    assert metric.is_successful()
    assert metric.score_breakdown["effort"]["band"] == "high"


def test_the_baseline_stands_beside_the_judge_and_the_producers_are_named() -> None:
    metric = AdaptationEffortMetric()
    metric.measure(bare(LOW))
    assert metric.score_breakdown["baseline"]["of"] == 27
    assert metric.score_breakdown["baseline"]["value"] > metric.score
    assert "by words alone" in metric.reason
    assert "scripted:judge (scripted, no model)" in metric.reason


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("session", "said"),
    [
        ("no/such/session.json", "no such file"),
        (7, 'metadata["session"]: found 7'),
        ({"schema_version": 1}, "story: missing"),
        (None, "give the metric a tester and a judge"),
    ],
)
def test_what_is_no_session_is_an_error_and_never_a_score(kind: Any, session: object, said: str) -> None:
    metric = kind()
    assert metric.measure(bare(session)) is None
    assert said in metric.error
    assert not metric.is_successful()
    assert (metric.score, metric.reason) == (None, None)


def test_a_session_of_other_prose_or_another_ledger_is_not_scored() -> None:
    metric = AdaptationEffortMetric()
    metric.measure(LLMTestCase(input="x", actual_output="other prose", metadata={"session": str(LOW)}))
    assert "the prose has changed since it was tested" in metric.error
    facts = load_lockfile(STORY.with_name("two-short-one-long.ledger.json")).ledger
    metric.measure(bare(LOW, ledger=facts.model_copy(update={"hooks": facts.hooks[:1]})))
    assert "the ledger has changed since it was tested" in metric.error
    assert metric.measure(bare(LOW, ledger=facts)) is not None


@pytest.mark.parametrize("kind", BOTH)
def test_the_metrics_survive_being_copied_by_their_attributes(kind: Any) -> None:
    planner, labeller = Scripted("tester", lambda _: outline("A")), all_invented()
    metric = kind(
        threshold=0.25, tester=planner, judge=labeller, same_model=True, repetition=3, lockfiles="elsewhere"
    )
    (copy,) = copy_metrics([metric])
    assert (copy.threshold, copy.tester, copy.judge) == (0.25, planner, labeller)
    assert (copy.same_model, copy.repetition, copy.lockfiles) == (True, 3, "elsewhere")
    assert copy.measure(bare(LOW)) == metric.measure(bare(LOW))


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("session", [LOW, HIGH, "no/such/session.json"])
def test_async_gives_the_same(kind: Any, session: Any) -> None:
    one, two = kind(), kind()
    assert awaited(two.a_measure(bare(session))) == one.measure(bare(session))
    assert (two.reason, two.score_breakdown, two.error) == (one.reason, one.score_breakdown, one.error)


def test_an_error_does_not_outlive_the_next_measurement() -> None:
    metric = AdaptationEffortMetric()
    metric.measure(bare("no/such/session.json"))
    assert metric.measure(bare(LOW)) is not None
    assert metric.error is None
    assert metric.is_successful()


@pytest.mark.parametrize("run_async", [True, False])
def test_evaluate_and_assert_test_agree_with_measure(
    run_async: bool, own_loop: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    low, high = session_case(STORY, LOW), session_case(GULLS, HIGH)
    found = evaluate(
        [low, high],
        [kind() for kind in BOTH],
        async_config=AsyncConfig(run_async=run_async),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        cache_config=CacheConfig(write_cache=False),
    )
    results = {
        result.name: {data.name: data.success for data in result.metrics_data}
        for result in found.test_results
    }
    assert results["two-short-one-long"] == {"Adaptation Effort": True, "Branching Diversity": True}
    assert results["four-hundred-and-six-gulls"] == {"Adaptation Effort": False, "Branching Diversity": True}
    assert_test(low, [AdaptationEffortMetric()], run_async=run_async)
    with pytest.raises(AssertionError, match="Adaptation Effort"):
        assert_test(high, [AdaptationEffortMetric()], run_async=run_async)


# Live models


def story_case() -> LLMTestCase:
    """A story without a session: the ledger is found beside it."""
    return LLMTestCase(input="x", metadata={"ledger": str(STORY.with_name("two-short-one-long.ledger.json"))})


def osk_is_known() -> Scripted:
    return judge_by(lambda text: ("reused", "npcs:osk") if text == "Osk Corrigle" else ("invented", None))


@pytest.mark.parametrize("is_awaited", [True, False])
def test_without_a_session_the_models_are_asked(is_awaited: bool) -> None:
    planner = Scripted("tester", lambda request: outline("Osk Corrigle", f"New {seed_of(request)}"))
    metric = AdaptationEffortMetric(threshold=0.5, tester=planner, judge=osk_is_known())
    score = awaited(metric.a_measure(story_case())) if is_awaited else metric.measure(story_case())
    assert score == 0.5  # three reused, three invented
    assert metric.is_successful()
    assert all("My father could not write" in request.prompt for request in planner.asked)
    diversity = BranchingDiversityMetric(tester=planner, judge=osk_is_known())
    # People share one of three in each pair, and there are no threads, which count as the same: 1 − (1 + 3)/6.
    assert diversity.measure(story_case()) == float(Fraction(1, 3))


def test_a_live_trial_of_a_cosy_story_is_planned_as_a_cosy_session() -> None:
    """As `ludic stress` plans it: the genre's own prompt, and not the campaign's."""
    for profile in ("campaign", "cosy"):
        planner = Scripted("tester", lambda _: outline("Osk"))
        metric = AdaptationEffortMetric(tester=planner, judge=osk_is_known(), profile=profile)
        metric.measure(story_case())
        assert metric.error is None
        prompt = prompt_for("stress", Policy(profile=profile))
        assert {request.system for request in planner.asked} == {prompt.system}


def test_a_live_trial_that_cannot_be_labelled_is_an_error() -> None:
    planner = Scripted("tester", lambda _: outline("Osk Corrigle"))
    for kind in BOTH:
        metric = kind(tester=planner, judge=Scripted("judge", lambda _: {"labels": []}))
        assert metric.measure(story_case()) is None
        assert "could not be measured (labels)" in metric.error
        assert not metric.is_successful()
    same = AdaptationEffortMetric(tester=planner, judge=planner)
    assert same.measure(story_case()) is None
    assert "would label what it planned itself" in same.error


def test_five_recorded_trials_are_five_measurements(tmp_path: Path) -> None:
    def plans(request: Any) -> Any:
        return outline("Osk Corrigle", *[f"New {n}" for n in range(request.repetition - 1)])

    planner = RecordingModel(Scripted("tester", plans), Recordings(tmp_path / "tester"))
    labeller = RecordingModel(osk_is_known(), Recordings(tmp_path / "judge"))
    for run in range(1, 6):
        AdaptationEffortMetric(tester=planner, judge=labeller, repetition=run).measure(story_case())
    scores = [
        AdaptationEffortMetric(
            tester=RecordedModel(tmp_path / "tester"), judge=RecordedModel(tmp_path / "judge"), repetition=run
        ).measure(story_case())
        for run in range(1, 6)
    ]
    assert scores == [float(Fraction(n, n + 1)) for n in range(5)]
    missing = AdaptationEffortMetric(
        tester=f"recorded:{tmp_path / 'tester'}", judge=f"recorded:{tmp_path / 'judge'}", repetition=6
    )
    assert missing.measure(story_case()) is None
    assert "has no answer to this" in missing.error
