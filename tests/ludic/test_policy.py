"""The numbers behind a verdict: their defaults, how a team sets them, and that each of them matters."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.errors import InputError
from ludic_deepeval.ledger import Event, FactLedger, Goal, Hook, Mystery, Npc
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import score_ledger
from ludic_deepeval.settings import find_policy, policy_from


def F(text: str) -> Fraction:  # noqa: N802  # short, since tables below are made of it
    return Fraction(text)


def from_toml(folder: Path, text: str) -> Policy:
    (folder / "ludic.toml").write_text(text, encoding="utf-8")
    policy, _ = find_policy(folder)
    return policy


# Defaults


def test_by_default_no_playability_finding_fails_a_check() -> None:
    assert Policy().fail_on == ()
    assert Policy().severity == ()


def test_the_default_profile_is_the_campaign() -> None:
    assert Policy().profile == "campaign"


@pytest.mark.parametrize(("profile", "threshold"), [("campaign", 150), ("one-shot", 100), ("cosy", 150)])
def test_the_profile_sets_the_pcv_that_passes(profile: str, threshold: int) -> None:
    assert Policy(profile=profile).pcv_threshold == threshold
    assert Policy().with_profile(profile).pcv_threshold == threshold


def test_a_pcv_gate_of_its_own_overrides_the_profiles() -> None:
    assert Policy(profile="one-shot", pcv_gate=F("120")).pcv_threshold == 120


def test_another_profile_keeps_every_other_number() -> None:
    policy = Policy(lpi_gate=F("0.6"))
    assert policy.with_profile("one-shot").lpi_gate == F("0.6")
    assert policy.with_profile(None) is policy
    assert policy.with_profile("campaign") is policy


def test_weights_that_nobody_calibrated_say_so_wherever_a_verdict_does() -> None:
    quarters = (F("1/4"),) * 4
    assert (Policy().caveat, Policy().has_default_weights) == ("", True)
    assert "a panel of experts did not bear them out" in Policy().provenance
    assert Policy(weights=quarters).caveat == "uncalibrated weights"
    assert "nobody has calibrated" in Policy(weights=quarters).provenance
    assert Policy(pcv_weights=(F(3), F(3), F(2), F(2))).caveat == "uncalibrated weights"
    assert (
        Policy(profile="cosy", weights=quarters).caveat == "uncalibrated profile: cosy; uncalibrated weights"
    )
    assert "uncalibrated profile: cosy" in Policy(profile="cosy").provenance
    calibrated = Policy(profile="cosy", weights=quarters, calibration="ridge on 60 stories")
    assert (calibrated.caveat, calibrated.provenance) == ("", "calibrated: ridge on 60 stories")


def test_a_profile_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="allowed: campaign or one-shot or cosy or submission"):
        Policy().with_profile("epic")


def test_a_policy_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Policy().lpi_gate = F("0")  # type: ignore[misc]


# Each number matters. One ledger, scored by hand:
#   two active people; one open hook of each tier (Σ τ = 1.8); two goals; five holes, one of them at 3 names in 10
#   RTN = 0.7·2/3 + 0.3·1.8/5 = 7/15 + 0.108; MV = 1/2; UCR = 1/3; TH = 1 − 0.15·2 = 0.7
#   LPI = 0.4·(7/15 + 0.108) + 0.15 + 0.2/3 + 0.07 = 1937/3750 = 0.51653…
#   events 82 (band 3), 78, 56 and 50 (band 2, so 50 counts half): PCV = 82 + 78 + 56 + 25 = 241


def event(name: str, i: int, g: int, v: int, d: int) -> Event:
    return Event(id=name, phase="P1", summary=name, immediacy=i, gravity=g, linkage=v, divergence=d)


LEDGER = FactLedger(
    schema_version=1,
    protagonist="nobody",
    npcs=tuple(Npc(id=f"n{n}", name="a rival", status="alive", unresolved=True) for n in range(2)),
    hooks=tuple(Hook(id=f"h{tier}", text="x", tier=tier) for tier in (1, 2, 3)),
    goals=tuple(Goal(id=f"g{n}", text="x") for n in range(2)),
    mysteries=(
        *(Mystery(id=f"m{n}", text="nobody knows") for n in range(4)),
        Mystery(id="at-the-limit", text="in the end they asked Ilse and Kaelen of Thay"),
    ),
    events=(
        event("e82", 9, 9, 5, 5),
        event("e78", 9, 8, 5, 5),
        event("e56", 5, 7, 4, 4),
        event("e50", 4, 6, 4, 6),
    ),
)


def test_the_ledger_below_scores_what_its_comment_works_out() -> None:
    card = score_ledger(LEDGER, Policy())
    assert card.rtn == F("7/15") + F("0.108")
    assert (card.mv, card.ucr, card.th) == (F("1/2"), F("1/3"), F("0.7"))
    assert card.lpi == F("1937/3750")
    assert card.pcv == 241
    assert card.quadrant == "explosive-but-shallow"


def weights(*texts: str) -> dict[str, Any]:
    return {"weights": tuple(map(F, texts))}


@pytest.mark.parametrize(
    ("change", "figure", "value"),
    [
        # LPI moves by the difference of the two components, a tenth of it each time.
        (
            weights("0.5", "0.2", "0.2", "0.1"),
            "lpi",
            F("1937/3750") + (F("7/15") + F("0.108") - F("1/2")) / 10,
        ),
        (weights("0.4", "0.2", "0.3", "0.1"), "lpi", F("1937/3750") + (F("1/3") - F("1/2")) / 10),
        (weights("0.4", "0.3", "0.1", "0.2"), "lpi", F("1937/3750") + (F("0.7") - F("1/3")) / 10),
        ({"tau": (F("0.5"), F("0.6"), F("0.2"))}, "rtn", F("7/15") + F("0.06") * F("1.3")),
        ({"tau": (F("1"), F("0.7"), F("0.2"))}, "rtn", F("7/15") + F("0.06") * F("1.9")),
        ({"tau": (F("1"), F("0.6"), F("0.4"))}, "rtn", F("7/15") + F("0.06") * F("2.0")),
        ({"node_share": F("0.6")}, "rtn", F("0.4") + F("0.4") * F("0.36")),
        ({"active_cap": 4}, "rtn", F("0.35") + F("0.108")),
        ({"reactivity_cap": F("6")}, "rtn", F("7/15") + F("0.3") * F("0.3")),
        ({"reactivity_cap": F("1.5")}, "rtn", F("7/15") + F("0.3")),
        ({"goal_cap": 5}, "mv", F("0.4")),
        ({"hole_peak": 4}, "th", F("0.85")),
        ({"hole_decay": F("0.2")}, "th", F("0.6")),
        ({"density": F("0.29")}, "th", F("0.85")),
        # a point more for one dimension: its values 9, 9, 5 and half of 4; 9, 8, 7 and half of 6; and so on
        ({"pcv_weights": (F("5"), F("4"), F("1"), F("1"))}, "pcv", 241 + 9 + 9 + 5 + 2),
        ({"pcv_weights": (F("4"), F("5"), F("1"), F("1"))}, "pcv", 241 + 9 + 8 + 7 + 3),
        ({"pcv_weights": (F("4"), F("4"), F("2"), F("1"))}, "pcv", 241 + 5 + 5 + 4 + 2),
        ({"pcv_weights": (F("4"), F("4"), F("1"), F("1.5"))}, "pcv", 241 + (5 + 5 + 4 + 3) * F("1/2")),
        ({"band_width": 4}, "pcv", 82 + 78 + 56 + 50),  # bands 2, 2, 1, 1
        ({"full_events": 1}, "pcv", 82 + 78 + 28 + 25),
        ({"full_events": 0}, "pcv", 41 + 39 + 28 + 25),
        ({"full_events": 3}, "pcv", 82 + 78 + 56 + 50),
        ({"further_share": F("0.25")}, "pcv", 82 + 78 + 56 + F("12.5")),
        ({"lpi_gate": F("1937/3750")}, "quadrant", "campaign-ready"),
        ({"lpi_gate": F("0.5166")}, "quadrant", "explosive-but-shallow"),
        ({"pcv_gate": F("242")}, "quadrant", "unplayable-draft"),
        ({"pcv_gate": F("241")}, "quadrant", "explosive-but-shallow"),
        ({"campaign_tier": F("241.5")}, "tier", "one-shot"),
        ({"campaign_tier": F("300"), "one_shot_tier": F("241")}, "tier", "one-shot"),
        ({"campaign_tier": F("300"), "one_shot_tier": F("242")}, "tier", "insufficient"),
    ],
)
def test_each_number_moves_the_figure_that_it_belongs_to(
    change: dict[str, Any], figure: str, value: object
) -> None:
    assert getattr(score_ledger(LEDGER, Policy(**change)), figure) == value


# Numbers that make no sense


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (weights("0.4", "0.3", "0.2", "0.2"), "weights"),
        (weights("0.4", "0.3", "0.2", "0.0999999999"), "weights"),
        (weights("-0.1", "0.8", "0.2", "0.1"), "weights"),
        ({"tau": (F("1.1"), F("0.6"), F("0.2"))}, "tau"),
        ({"tau": (F("1"), F("0.6"), F("-0.2"))}, "tau"),
        ({"pcv_weights": (F("-1"), F("4"), F("1"), F("1"))}, "pcv_weights"),
        ({"node_share": F("1.01")}, "node_share"),
        ({"density": F("-0.01")}, "density"),
        ({"further_share": F("1.5")}, "further_share"),
        ({"hole_decay": F("2")}, "hole_decay"),
        ({"lpi_gate": F("70")}, "lpi_gate"),
        ({"active_cap": 0}, "active_cap"),
        ({"goal_cap": 0}, "goal_cap"),
        ({"hole_peak": 0}, "hole_peak"),
        ({"band_width": 0}, "band_width"),
        ({"reactivity_cap": F("0")}, "reactivity_cap"),
        ({"full_events": -1}, "full_events"),
        ({"pcv_gate": F("-1")}, "pcv_gate"),
        ({"one_shot_tier": F("151")}, "one_shot_tier"),
    ],
)
def test_a_number_under_which_the_score_means_nothing_is_refused_by_name(
    change: dict[str, Any], where: str
) -> None:
    with pytest.raises(InputError) as caught:
        Policy(**change)
    assert caught.value.where == where
    assert caught.value.allowed


# TOML


def test_decimal_text_is_read_exactly(tmp_path: Path) -> None:
    policy = from_toml(
        tmp_path,
        "lpi_gate = 0.7\ndensity = 0.1\nweights = [0.1, 0.2, 0.3, 0.4]\npcv_weights = [3, 3.3, 1, 1]\n",
    )
    assert policy.lpi_gate == F("7/10")  # the float 0.7 is 3152519739159347/4503599627370496
    assert policy.density == F("1/10")
    assert policy.weights == (F("1/10"), F("2/10"), F("3/10"), F("4/10"))
    assert policy.pcv_weights[1] == F("33/10")


def test_every_setting_can_be_written_with_hyphens_or_underscores(tmp_path: Path) -> None:
    text = """
        profile = "one-shot"
        weights = [0.25, 0.25, 0.25, 0.25]
        tau = [0.9, 0.5, 0.1]
        node-share = 0.6
        active_cap = 4
        reactivity-cap = 6
        goal_cap = 5
        hole-peak = 2
        hole_decay = 0.1
        density = 0.25
        pcv-weights = [3, 3, 2, 2]
        band_width = 2
        full-events = 1
        further_share = 0.4
        lpi-gate = 0.65
        pcv_gate = 120.5
        campaign-tier = 160
        one_shot_tier = 90
        fail-on = ["gate", "mysteries"]
        calibration = "ridge on 60 stories"
    """
    assert from_toml(tmp_path, text) == Policy(
        profile="one-shot",
        weights=(F("1/4"),) * 4,
        tau=(F("0.9"), F("0.5"), F("0.1")),
        node_share=F("0.6"),
        active_cap=4,
        reactivity_cap=F("6"),
        goal_cap=5,
        hole_peak=2,
        hole_decay=F("0.1"),
        density=F("0.25"),
        pcv_weights=(F("3"), F("3"), F("2"), F("2")),
        band_width=2,
        full_events=1,
        further_share=F("0.4"),
        lpi_gate=F("0.65"),
        pcv_gate=F("120.5"),
        campaign_tier=F("160"),
        one_shot_tier=F("90"),
        fail_on=("gate", "mysteries"),
        calibration="ridge on 60 stories",
    )


@pytest.mark.parametrize(
    ("text", "where", "allowed"),
    [
        ("lpi_gaet = 0.7", "tool.ludic.lpi_gaet", "lpi_gate"),
        ('lpi_gate = "0.7"', "tool.ludic.lpi_gate", "a number"),
        ("lpi_gate = true", "tool.ludic.lpi_gate", "a number"),
        ("lpi_gate = nan", "tool.ludic.lpi_gate", "a number"),
        ("pcv_gate = inf", "tool.ludic.pcv_gate", "a number"),
        ("pcv_gate = 1e99999", "tool.ludic.pcv_gate", "a number"),
        ("lpi_gate = 1e-99999", "tool.ludic.lpi_gate", "a number"),
        ("lpi_gate = 1979-05-27", "tool.ludic.lpi_gate", "a number"),
        ("lpi_gate = 70", "tool.ludic.lpi_gate", "a number from 0 to 1"),
        ("goal_cap = 4.5", "tool.ludic.goal_cap", "a whole number"),
        ("goal_cap = -1", "tool.ludic.goal_cap", "a number above 0"),
        ("weights = 0.4", "tool.ludic.weights", "a list of 4 numbers"),
        ("weights = [0.4, 0.3, 0.3]", "tool.ludic.weights", "a list of 4 numbers"),
        ("weights = [0.4, 0.3, 0.2, nan]", "tool.ludic.weights", "a number"),
        ('weights = [0.4, 0.3, 0.2, "x"]', "tool.ludic.weights", "a number"),
        ("weights = [0.4, 0.3, 0.2, 0.2]", "tool.ludic.weights", "four shares that sum to 1"),
        ("tau = [1.0, 0.6, 0.2, 0.1]", "tool.ludic.tau", "a list of 3 numbers"),
        ('fail_on = "gate"', "tool.ludic.fail_on", "a list of gate, mysteries, warnings and codes"),
        ('fail_on = ["gates"]', "tool.ludic.fail_on", "a list of gate, mysteries, warnings and codes"),
        ("fail_on = [1]", "tool.ludic.fail_on", "a list of gate, mysteries, warnings and codes"),
        ("fail_on = [[1]]", "tool.ludic.fail_on", "a list of gate, mysteries, warnings and codes"),
        ('profile = "epic"', "tool.ludic.profile", "campaign or one-shot or cosy or submission"),
        ("profile = 3", "tool.ludic.profile", "campaign or one-shot or cosy or submission"),
        ("profile = [1]", "tool.ludic.profile", "campaign or one-shot or cosy or submission"),
        ("[weights]\nrtn = 1", "tool.ludic.weights", "a list of 4 numbers"),
        ("calibration = 60", "tool.ludic.calibration", "a line of at most 300 characters"),
        ('calibration = "a\\nb"', "tool.ludic.calibration", "a line of at most 300 characters"),
        (f'calibration = "{"x" * 301}"', "tool.ludic.calibration", "a line of at most 300 characters"),
    ],
)
def test_a_setting_that_cannot_be_used_is_one_line_that_names_it(
    tmp_path: Path, text: str, where: str, allowed: str
) -> None:
    with pytest.raises(InputError) as caught:
        from_toml(tmp_path, text)
    assert caught.value.where == where
    assert allowed in caught.value.allowed
    assert str(caught.value).startswith(f"{tmp_path / 'ludic.toml'}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "data", [b"lpi_gate = ", b"lpi_gate = 0.7\nlpi_gate = 0.8", b"a = [" * 5000, b"x = \xff"]
)
def test_a_file_that_is_no_toml_is_one_line_that_names_it(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "ludic.toml").write_bytes(data)
    with pytest.raises(InputError) as caught:
        find_policy(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'ludic.toml'}: ")
    assert "\n" not in str(caught.value)


def test_a_table_that_was_parsed_to_floats_is_refused_since_it_is_no_longer_exact() -> None:
    with pytest.raises(InputError, match="a number"):
        policy_from({"lpi_gate": 0.7}, "a table")
    assert policy_from({"lpi_gate": Decimal("0.7")}, "a table").lpi_gate == F("7/10")


# Finding the file


def test_without_a_file_the_papers_numbers_are_in_force(tmp_path: Path) -> None:
    policy, path = find_policy(tmp_path)
    assert policy == Policy()
    assert path is None


def test_the_file_is_found_in_a_folder_above(tmp_path: Path) -> None:
    (tmp_path / "ludic.toml").write_text("lpi_gate = 0.6", encoding="utf-8")
    deep = tmp_path / "stories" / "north"
    deep.mkdir(parents=True)
    assert find_policy(deep) == (Policy(lpi_gate=F("0.6")), tmp_path / "ludic.toml")


def test_the_nearest_file_decides_and_nothing_is_merged(tmp_path: Path) -> None:
    (tmp_path / "ludic.toml").write_text("lpi_gate = 0.6", encoding="utf-8")
    near = tmp_path / "stories"
    near.mkdir()
    (near / "ludic.toml").write_text("goal_cap = 5", encoding="utf-8")
    assert find_policy(near) == (Policy(goal_cap=5), near / "ludic.toml")


def test_pyproject_counts_by_its_table_alone(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ludic]\nlpi-gate = 0.6", encoding="utf-8")
    near = tmp_path / "stories"
    near.mkdir()
    (near / "pyproject.toml").write_text("[project]\nname = 'x'\n[tool.ruff]\n", encoding="utf-8")
    assert find_policy(near) == (Policy(lpi_gate=F("0.6")), tmp_path / "pyproject.toml")


def test_ludic_toml_comes_before_the_pyproject_beside_it(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ludic]\nlpi_gate = 0.6", encoding="utf-8")
    (tmp_path / "ludic.toml").write_text("lpi_gate = 0.5", encoding="utf-8")
    assert find_policy(tmp_path) == (Policy(lpi_gate=F("0.5")), tmp_path / "ludic.toml")


def test_an_error_in_pyproject_names_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ludic]\nlpi_gate = 2", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        find_policy(tmp_path)
    assert caught.value.file == str(tmp_path / "pyproject.toml")
