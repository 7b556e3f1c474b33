"""A study's file: what it may say, and on which line it says what it may not."""

import re
from pathlib import Path

import pytest

from ludic_deepeval.bible import load_bible
from ludic_deepeval.errors import InputError
from ludic_deepeval.genre_prompts import prompt_for
from ludic_deepeval.studies.design import load_design, read_design
from ludic_deepeval.studies.frozen import PROMPTS, differences, freeze
from ludic_deepeval.studies.plan import TrialKey, planned
from ludic_deepeval.studies.toml_lines import line_at, lines_of
from ludic_deepeval.trial_plan import draft_request
from tests.scripted_study import ROOT, TWO_BY_TWO
from tests.scripted_study import planned as plan_of

STUDY = TWO_BY_TWO.format(seeds=3)


def line_with(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), start=1) if part in line)


@pytest.mark.parametrize(
    ("was", "now", "where", "says"),
    [
        ('seeds = "1-3"', 'seeds = "3-1"', 'seeds = "3-1"', "found '3-1'"),
        ('seeds = "1-3"', "seeds = [1, 1]", "seeds = [1, 1]", "a seed twice"),
        ('seeds = "1-3"', "seeds = [1, true]", "seeds = [1, true]", "whole numbers"),
        ("gated = false", "gated = 0", "gated = 0", "gated"),
        ("gated = false", "gate = false", "gate = false", "unknown field"),
        ("gated = false", "gated = true", "[factors.gate.gated]", "sets the same as 'ungated'"),
        ('architect = "ollama:small"', 'architect = "small"', 'architect = "small"', "provider:model"),
        ('judge = "ollama:judge"', 'judge = "ollama:tester"', 'judge = "ollama:tester"', "what it planned itself"),
        ('levels = ["small", "large"]', 'levels = ["small", "huge"]', "[ladder]", "'huge' is no level of generator"),
        ('factor = "gate"', 'factor = "gates"', "[gate]", "'gates' is no factor"),
        ("[gate]", '[policy]\nlpi-gate = 7\n[gate]', "[policy]", "a number from 0 to 1"),
        ("[gate]", "[policy]\nlpi-gat = 0.7\n[gate]", "lpi-gat = 0.7", "unknown setting"),
        ("[gate]", "[asking]\nnotary_max_tokens = 1\n[gate]", "notary_max_tokens = 1", "notary_max_tokens"),
        ("version = 1", "version = 2", "version = 2", "version"),
        ('id = "scripted"', 'id = "本地"', 'id = "本地"', "a letter from A to Z or a digit"),
        ("[factors.gate.gated]", '[factors.gate."有闸"]', '[factors.gate."有闸"]', "a letter from A to Z or a digit"),
        ('seeds = "1-3"', "seeds = []", "seeds = []", "at least 1 of them"),
        ("[gate]", "[defaults]\ntemperature = -1\n[gate]", "temperature = -1", "allowed: a number of at least 0"),
    ],
)  # fmt: skip
def test_what_a_study_may_not_say_is_refused_with_its_line(was: str, now: str, where: str, says: str) -> None:
    text = STUDY.replace(was, now, 1)
    with pytest.raises(InputError) as refused:
        read_design(text, "study.toml")
    assert f"line {line_with(text, where)}:" in str(refused.value)
    assert says in str(refused.value)


def test_what_is_no_toml_is_refused_with_its_line() -> None:
    with pytest.raises(InputError, match=r"not valid TOML.*line 2"):
        read_design("version = 1\nid = a", "study.toml")


def test_lines_are_found_past_long_values_strings_with_brackets_and_arrays_of_tables() -> None:
    text = '''a = """
[not.a.table]
b = 1
"""
c = [
  1, # ] no end
  "]",
]
[t."x.y"]
d = 'x # y'
[[many]]
e = 1
[[many]]
[many.in]
e = {f = 2,
  g = 3}
h = 4
'''
    found = lines_of(text)
    assert found == {
        ("a",): 1, ("c",): 5, ("t", "x.y"): 9, ("t", "x.y", "d"): 10, ("many", 0): 11, ("many", 0, "e"): 12, ("many", 1): 13,
        ("many", 1, "in"): 14, ("many", 1, "in", "e"): 15, ("many", 1, "in", "h"): 17,
    }  # fmt: skip
    assert line_at(found, "many[1].in.e.g") == 15
    assert line_at(found, "t.x.y.d[3]") == 10
    assert line_at(found, "nowhere") is None


def test_every_cell_has_every_seed_and_a_later_factor_lies_over_an_earlier() -> None:
    plan = plan_of(STUDY.replace("gated = true", 'gated = true\narchitect = "ollama:other"'))
    assert [key.id for key in plan.trials[:5]] == [
        "gate=ungated/generator=small/seed=1",
        "gate=ungated/generator=large/seed=1",
        "gate=gated/generator=small/seed=1",
        "gate=gated/generator=large/seed=1",
        "gate=ungated/generator=small/seed=2",
    ]
    assert len(plan.trials) == 12
    assert plan.level(plan.trials[2]).architect == "ollama:small"


def test_seeds_are_matched_across_the_cells() -> None:
    plan = plan_of(STUDY)
    for seed in (1, 2, 3):
        drawn = {(one.faction, one.location) for one in map(plan.plan, plan.trials) if one.seed == seed}
        assert drawn == {plan.drawn[seed]}
    # DRAWN of test_architect.py, worked out there by sha256sum.
    assert plan.drawn == {
        1: ("red-wizards", "candlekeep"),
        2: ("harpers", "waterdeep"),
        3: ("harpers", "waterdeep"),
    }


def test_bibles_that_draw_different_things_for_a_seed_are_refused() -> None:
    faerun = load_bible(ROOT / "bible" / "faerun")
    other = faerun.model_copy(update={"factions": faerun.factions[:1]})
    text = STUDY.replace("gated = true", 'gated = true\nbible = "other"')
    with pytest.raises(InputError, match=r"seed 1 draws .* so that seeds are matched"):
        planned(read_design(text, "study.toml"), {"faerun@v1": faerun, "other": other}, "study.toml")


@pytest.mark.parametrize(("world", "told", "untold"), [
    ("whole", ["Harpers", "Zhentarim", "Waterdeep"], []),
    ("drawn", ["Red Wizards of Thay", "Candlekeep"], ["Zhentarim", "Harpers"]),
    ("none", ["the Red Wizards of Thay and the place Candlekeep"], ["Zhentarim", "Places:", "Laws:"]),
])  # fmt: skip
def test_what_the_architect_is_shown_of_the_bible_is_a_level_of_its_own(
    world: str, told: list[str], untold: list[str]
) -> None:
    plan = plan_of(STUDY.replace("gated = false", f'gated = false\nworld = "{world}"'))
    key = TrialKey({"gate": "ungated", "generator": "small"}, 1)
    request, _ = draft_request(plan.plan(key), plan.setting(key), None)
    assert all(one in request.prompt for one in told)
    assert not any(one in request.prompt for one in untold)


def test_the_policy_of_a_study_is_exact() -> None:
    plan = plan_of(STUDY.replace("[gate]", "[policy]\nlpi-gate = 0.75\n[gate]"))
    assert str(plan.policy.lpi_gate) == "3/4"
    assert plan.plan(plan.trials[0]).policy["lpi_gate"] == "3/4"
    assert plan_of(STUDY + "\n").policy.pcv_threshold == 150
    assert plan_of('profile = "one-shot"\n' + STUDY).policy.pcv_threshold == 100


def test_the_sidecar_keeps_every_prompt_verbatim_and_differs_where_a_word_does() -> None:
    plan = plan_of(STUDY)
    sidecar = freeze(plan, STUDY, created="2026-01-01T00:00:00+00:00")
    assert {one.role for one in sidecar.prompts} == set(PROMPTS)
    instability = next(one for one in sidecar.prompts if one.role == "instability")
    assert "bring in one named person, still alive at the end of the text" in instability.text
    assert differences(sidecar, freeze(plan, "# a comment\n" + STUDY, created="later")) == ()
    other = sidecar.model_copy(
        update={
            "study": STUDY.replace('"1-3"', '"1-4"'),
            "prompts": tuple(
                one if one.role != "instability" else one.model_copy(update={"text": "Try again."})
                for one in sidecar.prompts
            ),
            "environment": sidecar.environment.model_copy(update={"python": "3.0"}),
        }
    )
    found = differences(sidecar, other)
    assert found[0] == "study.seeds: [1, 2, 3], and now [1, 2, 3, 4]"
    assert found[1].startswith("prompts.instability.text: ")
    assert found[-1].startswith("environment.python: ")


@pytest.mark.parametrize("profile", ["campaign", "cosy", "one-shot"])
def test_every_prompt_that_a_trial_may_use_is_the_one_that_is_frozen(profile: str) -> None:
    text = f'profile = "{profile}"\n{STUDY}'
    plan = plan_of(text)
    frozen = {one.role: one.sha256 for one in freeze(plan, text, created="now").prompts}
    for key in plan.trials:
        for used in plan.plan(key).prompts:
            assert used.sha256 in frozen.values()
    assert frozen["stress"] == prompt_for("stress", plan.policy).sha256
    assert frozen["reuse"] == prompt_for("reuse", None).sha256


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_the_studies_that_come_with_the_project_can_be_planned(path: Path) -> None:
    loaded = load_design(path)
    plan = plan_of(loaded.text)
    assert len(plan.trials) == len(plan.design.cells) * len(plan.design.seeds)
    assert re.fullmatch(r"[\w-]+", loaded.design.id)


def test_the_papers_study_2_has_its_cells_and_its_ladder_without_the_control() -> None:
    design = load_design(ROOT / "examples/paper-study-2.toml").design
    assert (len(design.cells), len(design.seeds)) == (10, 40)
    assert design.ladder is not None
    assert (design.ladder.levels, design.ladder.controls) == (("4B", "8B", "14B", "Opus"), ("Llama",))
    assert [one.id for one in design.hypotheses][:4] == ["H1a", "H1b", "H1c", "H2"]


def test_the_study_that_the_documentation_shows_can_be_planned() -> None:
    text = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    block = text.partition("```toml\n")[2].partition("```")[0]
    plan = plan_of(block)
    assert (len(plan.trials), plan.design.hypotheses[0].id) == (160, "H1a")
    with pytest.raises(InputError, match=r"line 28: factors.generator.14B.architect: found 'qwen3'"):
        read_design(block.replace('architect = "ollama:qwen3:14b"', 'architect = "qwen3"'), "gate.toml")
