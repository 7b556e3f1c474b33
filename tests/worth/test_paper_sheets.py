"""The paper's two scoring sheets without their stories: what they know, and that they say so where they do not."""

import json
from itertools import combinations
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ludic_deepeval.errors import InputError
from ludic_deepeval.outcome import Scored, Unscored
from worth_deepeval.cli import app
from worth_deepeval.diagnostics import diagnose
from worth_deepeval.episode import Key, Sheet, load_question, load_sheet
from worth_deepeval.prompt import build_prompt
from worth_deepeval.runs import make_run
from worth_deepeval.scoring import score
from worth_deepeval.validate import validate

PAPER = Path(__file__).parents[2] / "test_cases" / "paper-sheets"
ORACLES = Path(__file__).parents[3] / "shared" / "oracles" / "paper_oracles.json"
JIA, HUANG, FATHER = "R04", "R05", "R06"


@pytest.fixture(scope="module")
def ep01() -> Sheet:
    return load_sheet(PAPER / "EP01")


@pytest.fixture(scope="module")
def ep02() -> Sheet:
    return load_sheet(PAPER / "EP02")


@pytest.mark.parametrize(
    ("name", "sentences", "candidates", "key", "least", "most", "clues"),
    [("EP01", 120, 6, 12, -15, 53, 36), ("EP02", 134, 9, 20, -22, 47, 41)],  # A.2
)
def test_the_sheets_have_the_sizes_and_ranges_of_a2(
    name: str, sentences: int, candidates: int, key: int, least: int, most: int, clues: int
) -> None:
    sheet = load_sheet(PAPER / name)
    assert validate(sheet) == ()
    assert (len(sheet.episode.sentences), len(sheet.episode.candidates)) == (sentences, candidates)
    assert len(sheet.key.clues) + sheet.key.unplaced == sheet.episode.quota.sentences == key
    assert isinstance(sheet.range, Scored)
    assert (sheet.range.value.minimum, sheet.range.value.maximum, sheet.range.value.clues) == (
        least,
        most,
        clues,
    )
    assert len(sheet.key.guilty) == 3


def test_a_sheet_without_a_story_makes_no_prompt() -> None:
    for name in ("EP01", "EP02"):
        assert load_sheet(PAPER / name).episode.withheld
        with pytest.raises(InputError, match="its story is not public"):
            build_prompt(load_question(PAPER / name))


def test_what_is_known_is_scored_and_what_is_not_is_unscored_with_its_cause(ep01: Sheet, ep02: Sheet) -> None:
    # Nothing of K can be in a selection of nothing, or of S124, which the paper says is none (§5.2.4).
    for clues in ([], ["S124"]):
        found = score(clues, ["R01", "R02"], ep02)
        assert isinstance(found, Scored)
        assert (found.value.clue, found.value.participant) == (0, 4)
    for clues, said in (
        (["S124", "S025"], "the weight of S025 is not known"),
        (["S113"], "whether S113 is a key sentence is not known"),
    ):
        found = score(clues, ["R01"], ep02)
        assert isinstance(found, Unscored)
        assert (found.cause, found.reason) == ("weights", said)
    assert isinstance(score(["S064"], ["R01"], ep01), Unscored)
    assert isinstance(score([], ["R04", "R01", "R02"], ep01), Scored)


def test_the_runs_that_the_paper_tells_of(ep02: Sheet) -> None:
    def participant(*roles: str) -> int:
        found = score([], roles, ep02)
        assert isinstance(found, Scored)
        return found.value.participant

    # §5.2: Kimi K3's response03 took the three and two more, −20; with 17 for clues −3.
    assert participant(JIA, HUANG, FATHER, "R07", "R08") == -20
    assert participant(JIA, HUANG, FATHER, "R07", "R08") + 17 == -3
    # GPT-5.6 Sol's response01: two right, nobody wrong, 12 for clues: 16.
    assert participant("R01", "R02") + 12 == 16
    # Hy4's response03 took nobody right with 18 for clues; the trio alone costs 16.
    assert participant(JIA, HUANG, FATHER) == -16  # MiniMax-M3's and Hy4's mean (§5.2)
    assert participant(*ep02.episode.role_ids) == 6 - 22
    # §5.2.8: Kimi K3's four runs with five wrong each and −19.5 on average: −78, so that one of them named one right.
    wrong = (JIA, HUANG, FATHER, "R07", "R08")
    assert 3 * participant(*wrong) + participant(*wrong, "R01") == -78


def test_the_command_tells_the_points_that_are_known() -> None:
    reply = PAPER / "kimi-03-roles.txt"
    done = CliRunner().invoke(app, ["score", str(PAPER / "EP02"), str(reply), "--json"])
    assert done.exit_code == 1  # not all were scored
    [one] = json.loads(done.output)["replies"]
    assert (one["participant_score"], one["clue_score"], one["total"]) == (-20, None, None)
    assert (one["minimum"], one["maximum"]) == (-22, 47)
    assert one["unscored"] == {"cause": "weights", "reason": "whether S113 is a key sentence is not known"}
    said = CliRunner().invoke(app, ["score", str(PAPER / "EP02"), str(reply)]).output
    assert "concluded: -20 points" in said
    assert said.splitlines()[-1] == "0 of 1 reply scored"


def test_replies_to_a_story_that_is_not_here_are_taken_in_with_the_prompt_that_was_sent(
    tmp_path: Path,
) -> None:
    reply, sheet = str(PAPER / "kimi-03-roles.txt"), str(PAPER / "EP02")
    said = ["import-run", sheet, reply, "--model", "m", "--interface", "web", "--hand-written"]
    said += ["--tested", "2026-08-30", "--out", str(tmp_path / "runs")]
    done = CliRunner().invoke(app, said)
    assert "its story is not public" in str(done.exception)
    sent = tmp_path / "prompt.txt"
    sent.write_text("what was sent", encoding="utf-8")
    assert CliRunner().invoke(app, [*said, "--prompt", str(sent)]).exit_code == 0
    found = json.loads(CliRunner().invoke(app, ["score", sheet, str(tmp_path / "runs"), "--json"]).output)
    assert found["replies"][0]["participant_score"] == -20
    assert found["runs"][0]["condition"] == "full-story"


# §5.2: each run's total. Of the paper: the means, the counts of runs, 16 and −3 of GPT-5.6 Sol, −3 of Kimi K3, −12 to −6 of
# DeepSeek-V4-Pro, and 28 of 37 below 0. The rest is chosen so that these come out.
TABLE: dict[str, tuple[list[int], tuple[float, float, float]]] = {
    "GPT-5.6 Sol": ([16, -3, 9, 8, 4], (6.8, 14.8, -8.0)),
    "Claude Opus 4.6": ([7, -3, -3, -3, -3], (-1.0, 12.2, -13.2)),
    "Gemini 3.1 Pro": ([8, 6, 4, 2], (5.0, 12.0, -7.0)),
    "GLM-5.3": ([-6, -6, -6, -7, -7], (-6.4, 10.0, -16.4)),
    "Kimi K3": ([-9, -10, -3, -10], (-8.0, 11.5, -19.5)),
    "DeepSeek-V4-Pro": ([-12, -6, -9, -8, -8], (-8.6, 9.0, -17.6)),
    "Hy4 preview": ([-1, -1, -1, -2], (-1.25, 14.75, -16.0)),
    "MiniMax-M3": ([-9, -9, -9, -9, -9], (-9.0, 7.0, -16.0)),
}


def reachable(values: dict[str, int]) -> dict[int, tuple[str, ...]]:
    """A selection for each sum that one can have."""
    return {
        sum(values[one] for one in chosen): chosen
        for n in range(len(values) + 1)
        for chosen in combinations(values, n)
    }


def split(totals: list[int], whole: int, roles: dict[int, tuple[str, ...]], most: int) -> list[int]:
    """Participant points for each total that sum to the table's, each with clue points from 0 to the most."""
    if not totals:
        return [] if not whole else [999]
    for one in sorted(roles, key=lambda value: abs(value - whole / len(totals))):
        if 0 <= totals[0] - one <= most:
            rest = split(totals[1:], whole - one, roles, most)
            if 999 not in rest:
                return [one, *rest]
    return [999]


def test_episode_02s_table_of_means_and_the_share_below_zero(ep02: Sheet) -> None:
    # The weights are not printed; any twenty of 1 to 4 that sum to 41 will do for sums: 19 · 2 + 3.
    rules = {"status": "draft", "clues": [{"sentence": f"S{n:03d}", "weight": 2} for n in range(1, 20)]}
    rules["clues"] = [*rules["clues"], {"sentence": "S020", "weight": 3}]  # type: ignore[list-item]  # made here
    key = Key.model_validate(rules | {"participants": [one.model_dump() for one in ep02.key.participants]})
    sheet = Sheet(ep02.episode, key, ep02.path)
    assert isinstance(sheet.range, Scored)
    assert sheet.range.value.maximum == 47
    roles = reachable(sheet.points)
    twos = [f"S{n:03d}" for n in range(1, 20)]
    runs = []
    for model, (totals, (_, clue, participant)) in TABLE.items():
        points = split(totals, round(participant * len(totals)), roles, 41)
        assert sum(points) == round(participant * len(totals))
        assert sum(totals) - sum(points) == round(clue * len(totals))  # 34 = 74 − 40 and so on
        for n, (total, part) in enumerate(zip(totals, points, strict=True), 1):
            found = total - part
            chosen = twos[: found // 2] if found % 2 == 0 else ["S020", *twos[: (found - 3) // 2]]
            text = json.dumps({"clue_sentence_ids": chosen, "selected_role_ids": roles[part]})
            runs.append(make_run(model, n, "full-story", text, sheet))
    (whole,) = diagnose(sheet, tuple(runs), draws=99)
    for row in whole.models:
        printed = TABLE[row.model][1]
        got = (row.total.mean, row.clue.mean, row.participant.mean)
        assert [round(one or 0.0, 2) for one in got] == list(printed), row.model
    assert (whole.negative.count, whole.negative.of) == (28, 37)  # §5.2.6: 75.7 %
    assert round(100 * (whole.negative.rate or 0), 1) == 75.7
    assert max(total for row in whole.models for total in row.totals) == 16
    deep = next(row for row in whole.models if row.model == "DeepSeek-V4-Pro")
    assert (min(deep.totals), max(deep.totals)) == (-12, -6)  # §5.2.8
    # −108 / 37: the sum of the eight models' sums.
    assert round(sum(sum(row.totals) for row in whole.models) / 37, 4) == -2.9189


@pytest.mark.skipif(not ORACLES.is_file(), reason="../shared is not there")
def test_the_table_here_is_that_of_the_oracles() -> None:
    found = {one["id"]: one for one in json.loads(ORACLES.read_text(encoding="utf-8"))["oracles"]}
    for model, (totals, (mean, clue, participant)) in TABLE.items():
        one = found[f"ep02.{model}"]
        assert (one["printed"], one["inputs"]["n"]) == (mean, len(totals))
        assert (one["inputs"]["clue"], one["inputs"]["participant"]) == (clue, participant)
