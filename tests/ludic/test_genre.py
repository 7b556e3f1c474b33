"""Genre profiles: a team's own questions, numbers and wording, read from a file that somebody else may have written."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.advice import cheapest_fixes
from ludic_deepeval.errors import InputError
from ludic_deepeval.genre import BUILT_IN, DIMENSIONS, load_genre
from ludic_deepeval.ledger import Event, FactLedger, Goal, Hook, Mystery, Npc
from ludic_deepeval.policy import PROFILES, Policy
from ludic_deepeval.report.as_text import verdict_words
from ludic_deepeval.scoring import score_ledger
from ludic_deepeval.settings import find_policy
from ludic_deepeval.wording import WORDS, holes, worded

F = Fraction
BASED = 'based-on = "cosy"\n'


def team(folder: Path, profile: str, settings: str = "") -> Policy:
    """The policy of a folder whose `ludic.toml` names one profile, `harbour`."""
    (folder / "harbour.toml").write_text(profile, encoding="utf-8")
    text = f'{settings}\n[profiles]\nharbour = "harbour.toml"\n'
    (folder / "ludic.toml").write_text(text, encoding="utf-8")
    return find_policy(folder)[0]


def thin() -> FactLedger:
    """LPI 0.4·0.7·1/3 + 0.3·1/4 = 0.168 and PCV 4·5 + 4·5 + 3 + 3 = 46: short of both gates."""
    event = Event(
        id="e", phase="P3", summary="the mill stands still", immediacy=5, gravity=5, linkage=3, divergence=3
    )
    people = (Npc(id="n", name="Osk", status="alive", unresolved=True),)
    return FactLedger(
        schema_version=1,
        protagonist="Wenna",
        npcs=people,
        events=(event,),
        goals=(Goal(id="g", text="the weir"),),
    )


# Built-in profiles


def test_there_is_a_file_for_each_built_in_profile() -> None:
    assert BUILT_IN == PROFILES
    for name in PROFILES:
        genre = load_genre(name)
        assert genre.built_in == name
        assert tuple(genre.dimensions) == DIMENSIONS
        assert set(genre.words) == set(WORDS)


def test_cosy_asks_the_papers_other_questions_and_keeps_its_numbers() -> None:
    cosy = load_genre("cosy")
    # §5.10: Immediacy as "opportunity for social interaction this week", Gravity as "personal-stakes intensity"
    assert "company this week" in cosy.dimensions["immediacy"].asks
    assert "mean to the people" in cosy.dimensions["gravity"].asks
    assert not cosy.numbers
    assert not cosy.calibration  # nobody has measured it
    for name in ("weights", "tau", "pcv_weights", "lpi_gate", "pcv_threshold"):
        assert getattr(Policy(profile="cosy"), name) == getattr(Policy(), name)


def test_advice_in_a_cosy_game_asks_for_the_same_things_in_its_own_words() -> None:
    plain, cosy = (cheapest_fixes(thin(), Policy(profile=name)) for name in ("campaign", "cosy"))
    kinds = [[(change.kind, change.target, change.value) for change in fix.changes] for fix in plain]
    assert kinds == [[(change.kind, change.target, change.value) for change in fix.changes] for fix in cosy]
    said = " ".join(line for fix in cosy for line in fix.todo)
    assert "brings people together" in said
    assert "urgent" not in said


def test_the_wording_of_a_cosy_game_has_nothing_to_fight_with() -> None:
    words = " ".join(load_genre("cosy").words.values()).lower()
    for word in ("enemy", "urgent", "presses", "graver", "threat", "fight"):
        assert word not in words


# A team's own


def test_what_a_profile_leaves_out_it_has_from_its_base(tmp_path: Path) -> None:
    text = BASED + '[dimensions.immediacy]\nasks = "Is the boat in?"\n[words]\nadd-hook = "one more boat"\n'
    genre = team(tmp_path, text).with_profile("harbour").genre
    assert genre is not None
    cosy = load_genre("cosy")
    assert genre.dimensions["immediacy"].asks == "Is the boat in?"
    assert genre.dimensions["immediacy"].low == cosy.dimensions["immediacy"].low
    assert genre.dimensions["gravity"] == cosy.dimensions["gravity"]
    assert genre.words["add-hook"] == "one more boat"
    assert genre.words["add-goal"] == cosy.words["add-goal"]
    assert genre.about == cosy.about


def test_a_profiles_numbers_replace_the_settings_and_the_rest_stay(tmp_path: Path) -> None:
    text = BASED + "[numbers]\npcv-gate = 90\nweights = [0.1, 0.2, 0.3, 0.4]\n"
    policy = team(tmp_path, text, "lpi-gate = 0.6\npcv-gate = 120\n")
    assert policy.pcv_threshold == 120
    harbour = policy.with_profile("harbour")
    assert harbour.pcv_threshold == 90
    assert harbour.lpi_threshold == F("0.6")
    # RTN 0.7·1/3, MV 1/4: 0.1·7/30 + 0.2·1/4 = 7/300 + 15/300 = 22/300
    assert score_ledger(thin(), harbour).lpi == F(22, 300)


def test_another_profile_after_a_teams_starts_from_the_settings(tmp_path: Path) -> None:
    policy = team(tmp_path, BASED + "[numbers]\nlpi-gate = 0.5\n", 'profile = "harbour"\n')
    assert policy.profile == "harbour"
    assert policy.lpi_threshold == F("0.5")
    campaign = policy.with_profile("campaign")
    assert campaign.lpi_threshold == F("0.7")
    assert campaign.genre is None
    assert campaign.with_profile("harbour").lpi_threshold == F("0.5")


@pytest.mark.parametrize(
    ("base", "lpi", "pcv"), [("campaign", "0.7", 150), ("one-shot", "0.7", 100), ("submission", "0", 100)]
)
def test_a_profile_has_the_gate_of_its_base(tmp_path: Path, base: str, lpi: str, pcv: int) -> None:
    policy = team(tmp_path, f'based-on = "{base}"\n').with_profile("harbour")
    assert (policy.lpi_threshold, policy.pcv_threshold) == (F(lpi), pcv)


def test_a_profile_that_nobody_calibrated_says_so_wherever_a_verdict_stands(tmp_path: Path) -> None:
    said = verdict_words(score_ledger(thin(), team(tmp_path, BASED).with_profile("harbour")))
    assert said.endswith("(uncalibrated profile: harbour)")
    measured = team(tmp_path, BASED + 'calibration = "40 sessions, spring"\n').with_profile("harbour")
    assert (
        verdict_words(score_ledger(thin(), measured))
        == "not playable yet: too little is open and too little brings people together"
    )


def test_the_bases_calibration_is_not_the_teams(tmp_path: Path) -> None:
    policy = team(tmp_path, 'based-on = "campaign"\n[numbers]\nlpi-gate = 0.2\n').with_profile("harbour")
    assert load_genre("campaign").calibration
    assert policy.caveat == "uncalibrated profile: harbour"


def test_what_a_story_says_is_never_read_as_wording(tmp_path: Path) -> None:
    hostile = thin().model_copy(update={"goals": (Goal(id="g", text="{value} {name}", proactive=False),)})
    fixes = cheapest_fixes(hostile, team(tmp_path, BASED).with_profile("harbour"))
    assert any("have '{value} {name}' begun" in line for fix in fixes for line in fix.todo)
    assert worded("a {name} b", name="{name}") == "a {name} b"
    assert holes(WORDS["raise-gravity"]) == {"name", "now", "value"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "based-on: missing; allowed: campaign or one-shot or cosy or submission"),
        ('based-on = "harbour"\n', "based-on: found 'harbour'"),
        (BASED + "colour = 1\n", "colour: unknown key"),
        (BASED + "about = 7\n", "about: found 7"),
        (BASED + 'about = "two\\nlines"\n', "about: found"),
        (BASED + f'about = "{"x" * 401}"\n', "at most 400 characters"),
        (BASED + "numbers = 3\n", "numbers: found 3; allowed: a table [numbers]"),
        (BASED + "[numbers]\nlpi-gat = 0.5\n", "numbers.lpi-gat: unknown number"),
        (BASED + '[numbers]\nprofile = "x"\n', "numbers.profile: unknown number"),
        (BASED + '[numbers]\nlpi-gate = "high"\n', "numbers.lpi_gate: found 'high'; allowed: a number"),
        (BASED + "[numbers]\nlpi-gate = 2\n", "numbers.lpi_gate: found 2.0"),
        (BASED + "[numbers]\nlpi-gate = nan\n", "numbers.lpi_gate: found"),
        (BASED + "[dimensions.depth]\nname = 'x'\n", "dimensions.depth: unknown dimension"),
        (BASED + "[dimensions]\ngravity = 1\n", "dimensions.gravity: found 1"),
        (BASED + "[dimensions.gravity]\nname = ''\n", "dimensions.gravity.name: empty"),
        (BASED + "[dimensions.gravity]\nhue = ''\n", "dimensions.gravity.hue: unknown key"),
        (BASED + "[words]\nadd-dragon = 'x'\n", "words.add-dragon: unknown wording"),
        (
            BASED + "[words]\nadd-hook = 'one more {name}'\n",
            "words.add-hook: found {name}; allowed: no braces",
        ),
        (BASED + "[words]\nadd-goal = ''\n", "words.add-goal: empty"),
        (BASED + "[words\n", "not valid TOML"),
    ],
)
def test_a_faulty_profile_is_one_line_that_names_file_and_place(tmp_path: Path, text: str, said: str) -> None:
    policy = team(tmp_path, text)
    with pytest.raises(InputError) as caught:
        policy.with_profile("harbour")
    assert "harbour.toml" in str(caught.value)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("profiles = 3\n", "tool.ludic.profiles: found 3"),
        ('[profiles]\ncosy = "a.toml"\n', "found 'cosy'; allowed: a name"),
        ('[profiles]\nHarbour = "a.toml"\n', "found 'Harbour'"),
        ('[profiles]\nharbour = "a.md"\n', "found 'a.md'; allowed: the path of a .toml file"),
        ("[profiles]\nharbour = 1\n", "tool.ludic.profiles.harbour: found 1"),
        ("profile = 3\n", "profile: found 3"),
        ('profile = "epic"\n', "profile: found 'epic'; allowed: campaign or one-shot or cosy or submission"),
    ],
)
def test_faulty_settings_are_one_line(tmp_path: Path, settings: str, said: str) -> None:
    (tmp_path / "ludic.toml").write_text(settings, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        find_policy(tmp_path)
    assert said in str(caught.value)


def test_a_profile_whose_file_is_gone_says_which(tmp_path: Path) -> None:
    policy = team(tmp_path, BASED)
    (tmp_path / "harbour.toml").unlink()
    with pytest.raises(InputError, match=r"harbour\.toml"):
        policy.with_profile("harbour")


# The commands


def test_new_writes_a_profile_that_changes_nothing_yet(
    tmp_path: Path, ludic: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for base in PROFILES:
        done = ludic("profile", "new", f"my-{base}", "--based-on", base)
        assert done.code == 0
        (tmp_path / "ludic.toml").write_text(
            f'[profiles]\nmy-{base} = "profiles/my-{base}.toml"\n', encoding="utf-8"
        )
        mine, theirs = find_policy(tmp_path)[0].with_profile(f"my-{base}"), Policy(profile=base)
        assert mine.genre is not None
        assert mine.genre.dimensions == load_genre(base).dimensions
        assert mine.words == theirs.words
        assert (mine.lpi_threshold, mine.pcv_threshold) == (theirs.lpi_threshold, theirs.pcv_threshold)
        text = (tmp_path / f"profiles/my-{base}.toml").read_text(encoding="utf-8")
        # Every number that stands there as a comment is one that may be set.
        commented = "\n".join(
            line[2:] if line.startswith("# ") and " = " in line else line for line in text.splitlines()
        )
        (tmp_path / f"profiles/my-{base}.toml").write_text(
            commented.replace("# [numbers]", "[numbers]"), encoding="utf-8"
        )
        same = find_policy(tmp_path)[0].with_profile(f"my-{base}")
        assert (same.weights, same.tau, same.pcv_threshold) == (
            theirs.weights,
            theirs.tau,
            theirs.pcv_threshold,
        )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("cosy",), "NAME: found 'cosy'"),
        (("../x",), "NAME: found '../x'"),
        (("x", "--based-on", "epic"), "--based-on: found 'epic'"),
        (("x", "--out", "x.md"), "--out: found 'x.md'"),
    ],
)
def test_new_refuses_what_is_no_profile(
    tmp_path: Path, ludic: Any, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = ludic("profile", "new", *arguments)
    assert done.code == 2
    assert said in done.err
    assert not list(tmp_path.iterdir())


def test_new_overwrites_nothing(tmp_path: Path, ludic: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert ludic("profile", "new", "harbour").code == 0
    before = (tmp_path / "profiles/harbour.toml").read_text(encoding="utf-8")
    assert ludic("profile", "new", "harbour", "--based-on", "cosy").code == 2
    assert (tmp_path / "profiles/harbour.toml").read_text(encoding="utf-8") == before


def test_show_lists_built_in_profiles_and_the_teams(
    tmp_path: Path, ludic: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    team(tmp_path, BASED + "[numbers]\npcv-gate = 90\n")
    found = json.loads(ludic("profile", "show", "--json").out)["profiles"]
    assert [one["name"] for one in found] == [*PROFILES, "harbour"]
    assert [one["gate"]["pcv"] for one in found] == [150, 100, 150, 100, 90]
    assert [one["caveat"] is None for one in found] == [True, True, False, False, False]
    text = ludic("profile", "show", "harbour").out
    assert "pcv-gate: 90.0 (paper 150.0)" in text
    assert "PCV 90" in text
    assert "nobody has measured its numbers" in text
    assert ludic("profile", "show", "epic").code == 2


def test_show_reads_a_file_that_nothing_names_yet(tmp_path: Path, ludic: Any) -> None:
    path = tmp_path / "Harbour Town.toml"
    path.write_text(BASED, encoding="utf-8")
    done = ludic("profile", "show", path, "--json")
    assert json.loads(done.out)["name"] == "harbourtown"
    path.write_text(BASED + "hue = 1\n", encoding="utf-8")
    assert ludic("profile", "show", path).code == 2


def test_a_story_may_name_the_teams_profile_and_only_one_that_there_is(locked: Path, ludic: Any) -> None:
    team(locked, BASED + "[numbers]\npcv-gate = 1\n")
    tale = locked / "tale.md"
    tale.write_text("---\nprofile: harbour\n---\n" + tale.read_text(encoding="utf-8"), encoding="utf-8")
    done = ludic("check", "tale.md", "--json", "--allow-unread")
    assert json.loads(done.out)["stories"][0]["profile"] == "harbour"
    tale.write_text(tale.read_text(encoding="utf-8").replace("harbour", "harbor"), encoding="utf-8")
    done = ludic("check", "tale.md")
    assert done.code == 2
    assert (
        "tale.md: profile: found 'harbor'; allowed: campaign or one-shot or cosy or submission or harbour"
        in done.err
    )


@pytest.fixture
def hole() -> Mystery:
    return Mystery(id="m", text="nobody knows why")


def test_hooks_and_mysteries_are_worded_too(hole: Mystery, tmp_path: Path) -> None:
    words = '[words]\nmake-urgent = "bring {name} in on the tide"\nreopen-hook = "let {name} lie"\n'
    policy = team(tmp_path, BASED + words).with_profile("harbour")
    ledger = thin().model_copy(
        update={"hooks": (Hook(id="h", text="the wreck", tier=3, open=True),), "mysteries": (hole,)}
    )
    said = {line for fix in cheapest_fixes(ledger, policy) for line in fix.todo}
    assert "bring the wreck in on the tide" in said
