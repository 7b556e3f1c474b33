"""Prompts under a genre: the campaign's stay the paper's to the byte, others ask their own questions and have their own hash."""

from pathlib import Path

from ludic_deepeval.extracting import plan
from ludic_deepeval.genre import DIMENSIONS, load_genre
from ludic_deepeval.genre_prompts import prompt_for
from ludic_deepeval.notary import Settings, notary_for, requests_for
from ludic_deepeval.policy import Policy
from ludic_deepeval.prompts import load_prompt
from ludic_deepeval.settings import find_policy
from ludic_deepeval.sources import read_story
from ludic_deepeval.text import Prose

ROLES = ("notary", "notary-again", "architect", "control", "instability", "stress", "reuse")
COSY = Policy(profile="cosy")


def test_the_campaigns_prompts_are_the_files_to_the_byte() -> None:
    for role in ROLES:
        for policy in (None, Policy(), Policy(profile="one-shot"), Policy(profile="submission")):
            assert prompt_for(role, policy) == load_prompt(role)


def test_a_cosy_notary_asks_the_cosy_questions_and_everything_else_alike() -> None:
    plain, cosy = load_prompt("notary"), prompt_for("notary", COSY)
    assert cosy.sha256 != plain.sha256
    assert (cosy.text, cosy.variables, cosy.version) == (plain.text, plain.variables, plain.version)
    genre = load_genre("cosy")
    for name in DIMENSIONS:
        one = genre.dimensions[name]
        assert f"   - `{name}`: {one.asks} {one.low} is 1; {one.high} is 9." in cosy.system.splitlines()
    for word in ("bounty hunter", "divine curse", "double agent"):
        assert word in plain.system
        assert word not in cosy.system
    # Before the four questions and after them not a letter differs.
    head, tail = plain.system.split("   - `immediacy`")[0], plain.system.split("\n5. ")[1]
    assert cosy.system.startswith(head)
    assert cosy.system.endswith(tail)


def test_cosy_has_a_writer_a_rewrite_and_a_first_week_of_its_own() -> None:
    for role in ("architect", "instability", "stress"):
        plain, cosy = load_prompt(role), prompt_for(role, COSY)
        assert cosy.sha256 != plain.sha256
        assert cosy.variables.keys() == plain.variables.keys()
        words = f"{cosy.system} {cosy.text}".lower()
        for word in ("enemy", "confrontation", "urgent", "game master"):
            assert word not in words
    # The judge of reuse sees no scores and no genre; the control arm is a control.
    for role in ("reuse", "control", "notary-again"):
        assert prompt_for(role, COSY) == load_prompt(role)


def test_a_teams_questions_are_asked(tmp_path: Path) -> None:
    (tmp_path / "h.toml").write_text(
        'based-on = "campaign"\n[dimensions.gravity]\nasks = "How deep is the {water}?"\n', encoding="utf-8"
    )
    (tmp_path / "ludic.toml").write_text('[profiles]\nharbour = "h.toml"\n', encoding="utf-8")
    policy = find_policy(tmp_path)[0].with_profile("harbour")
    system = prompt_for("notary", policy).system
    assert "   - `gravity`: How deep is the {water}? a few coins is 1;" in system
    assert prompt_for("architect", policy) == load_prompt("architect")


def test_a_storys_own_profile_decides_what_its_notary_is_asked(tmp_path: Path) -> None:
    plans = {}
    for profile in ("campaign", "cosy"):
        path = tmp_path / f"{profile}.md"
        path.write_text(f"---\nprofile: {profile}\n---\nOnce upon a time there was a mill.", encoding="utf-8")
        plans[profile] = plan(read_story(path), "test:x", Settings())
    hashes = {}
    for profile, one in plans.items():
        [request] = requests_for(one.story.prose, one.settings)
        assert request.system == prompt_for("notary", Policy(profile=profile)).system
        hashes[profile] = notary_for("test:x", one.settings).prompt.sha256
    assert hashes["cosy"] != hashes["campaign"] == load_prompt("notary").sha256
    assert requests_for(Prose("x y z"), Settings())[0].system == load_prompt("notary").system
