"""Players beside models: each described, the two never pooled and never tested against one another."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ludic_deepeval.errors import InputError
from worth_deepeval.cli import app
from worth_deepeval.episode import Sheet
from worth_deepeval.reference import NOTE, load_players, reference
from worth_deepeval.runs import Run, make_run

HEADER = "player,episode,submitted_at,clue_sentence_ids,selected_role_ids\n"
# K is 2 (3 points), 4 (4), 6 (2), 7 (1); R01 +5 took part; R02 −8, R03 −2. Totals 8, −1, −10, 0, 15.
ROWS = """\
p1,T01,2026-08-15T10:00:00,S002,R01
p2,T01,2026-08-15T10:00:00,S004 S002,R02
p3,T01,2026-08-15T10:00:00,S005,R02 R03
p4,T01,2026-08-15T10:00:00,,
p5,T01,2026-08-15T10:00:00,S002 S004 S006 S007,R01
p6,T02,2026-08-15T10:00:00,S002,R01
"""


def run(sheet: Sheet, model: str, repetition: int, clues: list[str], roles: list[str]) -> Run:
    text = json.dumps({"clue_sentence_ids": clues, "selected_role_ids": roles})
    return make_run(model, repetition, "full-story", text, sheet)


@pytest.fixture
def runs(sheet: Sheet) -> tuple[Run, ...]:
    return (
        run(sheet, "a", 1, ["S002"], ["R02", "R03"]),  # −7
        run(sheet, "a", 2, ["S002", "S001"], ["R01"]),  # 8
        run(sheet, "b", 1, ["S005", "S001"], ["R02", "R03"]),  # −10
        run(sheet, "b", 2, ["S099"], []),
    )


def players(tmp_path: Path, sheet: Sheet, rows: str = ROWS) -> tuple[tuple[Run, ...], int]:
    file = tmp_path / "first.csv"
    file.write_text(HEADER + rows, encoding="utf-8")
    return load_players(file, sheet)


def test_each_model_is_placed_among_the_players(tmp_path: Path, sheet: Sheet, runs: tuple[Run, ...]) -> None:
    people, skipped = players(tmp_path, sheet)
    found = reference(sheet, people, "full-story", runs, skipped)
    assert (found.people.players, found.skipped) == (5, 1)
    assert found.people.total.mean == pytest.approx((8 - 1 - 10 + 0 + 15) / 5)
    assert (found.people.negative.count, found.people.negative.of) == (2, 5)
    assert dict(found.people.quantiles)[50] == 0
    a, b = found.models
    assert (a.totals, a.mean, a.runs) == ((-7, 8), 0.5, 2)
    # Players at −10, −1 and 0 score at most .5.
    assert (a.players_at_most.count, a.players_at_most.of) == (3, 5)
    assert (b.totals, b.runs, b.players_at_most.count) == ((-10,), 2, 1)


def test_what_models_do_is_counted_among_players(tmp_path: Path, sheet: Sheet, runs: tuple[Run, ...]) -> None:
    seen = {one.code: one for one in reference(sheet, players(tmp_path, sheet)[0], "full-story", runs).seen}
    wrong = seen["attractor"]  # R02 with R03
    assert (wrong.players.count, wrong.players.of) == (1, 5)
    assert wrong.models == (("a", 1, 2), ("b", 1, 1))
    assert (wrong.in_models.count, wrong.in_models.of) == (2, 2)
    assert seen["key-S002"].players.count == 3
    assert seen["suspicion-S005-S007"].players.count == 1
    assert seen["exoneration-S005-S007"].players.count == 1
    assert (seen["all-right"].players.count, seen["all-right"].models) == (2, (("a", 1, 2), ("b", 0, 1)))


def test_no_figure_sets_one_side_against_the_other(
    tmp_path: Path, sheet: Sheet, runs: tuple[Run, ...]
) -> None:
    """Players and five runs of a model are no symmetric samples: there is no p, and no rate over all models' runs."""
    found = asdict(reference(sheet, players(tmp_path, sheet)[0], "full-story", runs))

    def keys(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value) | {key for each in value.values() for key in keys(each)}
        return {key for each in value for key in keys(each)} if isinstance(value, list | tuple) else set()

    assert not {key for key in keys(found) if key.startswith("p_") or "test" in key or "difference" in key}
    assert "no samples of one kind" in NOTE
    assert all(set(one) == {"code", "name", "players", "models", "in_models"} for one in found["seen"])


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (ROWS + "p1,T01,2026-08-16T10:00:00,S002,R01\n", "row 8: .*later-attempt"),
        ("p1,T01,2026-08-16T10:00:00,S207,R01\n", "row 2: .*invalid-first"),
        ("p1,T02,2026-08-16T10:00:00,S002,R01\n", "no submissions to T01"),
    ],
)
def test_a_file_that_was_not_cleaned_is_refused(tmp_path: Path, sheet: Sheet, rows: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        players(tmp_path, sheet, rows)


def test_the_command_writes_text_markdown_and_json(tmp_path: Path, folder: Path, sheet: Sheet) -> None:
    players(tmp_path, sheet)
    lines = [
        {"model": "<a>", "repetition": n, "condition": "full-story", "text": '{"clue_sentence_ids": ["S002"], "selected_role_ids": []}'}
        for n in range(2)
    ]  # fmt: skip
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    call = ["humans", "report", str(folder), str(tmp_path / "first.csv"), str(tmp_path / "runs.jsonl")]
    done = CliRunner().invoke(app, [*call, "--markdown", str(tmp_path / "h.md"), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["people"]["players"] == 5
    assert "\\<a\\>" in (tmp_path / "h.md").read_text(encoding="utf-8")
    said = CliRunner().invoke(app, call).stdout
    assert "5 players, each once" in said
    assert "no samples of one kind" in said
    wrong = CliRunner().invoke(app, [*call, "--condition", "evidence-cueing"])
    assert isinstance(wrong.exception, InputError)
