"""The Inspect AI task on Inspect's own mock model: the points of `worth score`, unscored replies unscored, epochs as repetitions.

The replies are scripted; no model gave them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai")

from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, get_model

from ludic_deepeval.errors import InputError
from ludic_deepeval.outcome import Scored
from worth_deepeval.episode import Sheet
from worth_deepeval.inspect_task import log_runs, worth
from worth_deepeval.prompt import build_prompt
from worth_deepeval.runs import load_runs
from worth_deepeval.scoring import score_text

# Inspect leaves streams and event loops of its own open.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def no_download(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mock model counts tokens by a table that it would fetch; no figure here is of tokens."""
    monkeypatch.setattr("inspect_ai.model._model.count_text_tokens", lambda text: len(text) // 4)


# K is 2 (3 points), 4 (4), 6 (2), 7 (1); R01 +5 took part; R02 −8, R03 −2.
REPLIES = (
    '{"clue_sentence_ids": ["S002", "S004"], "selected_role_ids": ["R01"]}',  # 7 + 5
    'Well: {"clue_sentence_ids": ["S006"], "selected_role_ids": ["R02"]}',  # 2 − 8, in text
    '{"clue_sentence_ids": ["S099"], "selected_role_ids": ["R01"]}',  # no such sentence: not scored
    "",
    '"clue_sentence_ids": ["S005"], "selected_role_ids": ["R02", "R03"]',  # no JSON, and yet to be read: −10
)


def evaluated(folder: Path, logs: Path, replies: tuple[str, ...] = REPLIES, **options: Any) -> EvalLog:
    model = get_model(
        "mockllm/model",
        memoize=False,
        custom_outputs=[ModelOutput.from_content("mockllm/model", one) for one in replies],
    )
    (log,) = inspect_eval(
        worth(str(folder), runs=len(replies), **options),
        model=model,
        log_dir=str(logs),
        display="none",
        max_samples=1,
        max_connections=1,
    )
    assert log.status == "success", log.error
    return log


def figures(log: EvalLog, scorer: str) -> dict[str, float]:
    assert log.results is not None
    return {one.name: one.metrics["mean"].value for one in log.results.scores if one.scorer == scorer}


def test_points_are_those_of_worth_score_and_unscored_stays_unscored(
    folder: Path, sheet: Sheet, tmp_path: Path
) -> None:
    log = evaluated(folder, tmp_path)
    assert log.samples is not None
    assert [one.epoch for one in log.samples] == [1, 2, 3, 4, 5]
    for sample, reply in zip(log.samples, REPLIES, strict=True):
        given = (sample.scores or {})["worth_points"]
        _, outcome = score_text(reply, sheet)
        if isinstance(outcome, Scored):
            assert given.value == {
                "total [T01]": outcome.value.total,
                "clue [T01]": outcome.value.clue,
                "participant [T01]": outcome.value.participant,
            }
        else:
            assert isinstance(given.value, float)
            assert given.value != given.value  # NaN, Inspect's mark of what was not scored
            assert given.reason in {"invalid_response_format", "no_response"}
    # 12, −6 and −10 over three: what was not scored is in no mean.
    found = figures(log, "worth_points")
    assert found == pytest.approx(
        {"total [T01]": -4 / 3, "clue [T01]": 3, "participant [T01]": (5 - 8 - 10) / 3}
    )
    protocol = figures(log, "worth_protocol")
    assert protocol == pytest.approx(
        {
            "direct [T01]": 2 / 5,
            "embedded [T01]": 1 / 5,
            "invalid [T01]": 2 / 5,
            "scored [T01]": 3 / 5,
            "compliant [T01]": 0,
        }
    )


def test_the_model_is_asked_with_our_prompt_once_and_sees_no_key(folder: Path, tmp_path: Path) -> None:
    from worth_deepeval.episode import load_question

    log = evaluated(folder, tmp_path, REPLIES[:1])
    assert log.samples is not None
    sample = log.samples[0]
    assert sample.input == build_prompt(load_question(folder)).text
    assert [one.role for one in sample.messages] == ["user", "assistant"]
    assert sample.target == ""
    assert not {"key", "clues", "participants"} & set(sample.metadata)


def test_under_cueing_points_for_sentences_are_no_result(folder: Path, tmp_path: Path) -> None:
    log = evaluated(folder, tmp_path, REPLIES[:1], condition="evidence-cueing")
    assert set(figures(log, "worth_points")) == {"participant [T01]"}
    assert log.samples is not None
    assert "S002" in str(log.samples[0].input)


def test_a_log_becomes_runs_for_the_report(folder: Path, sheet: Sheet, tmp_path: Path) -> None:
    log = evaluated(folder, tmp_path / "logs")
    lines = list(log_runs(Path(log.location.removeprefix("file://"))))
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    runs = load_runs(tmp_path / "runs.jsonl", sheet)
    assert [run.repetition for run in runs] == [1, 2, 3, 4, 5]
    assert [run.score.total if run.score else None for run in runs] == [12, -6, None, None, -10]
    (tmp_path / "no.eval").write_text("{}")
    with pytest.raises(InputError, match="no log"):
        list(log_runs(tmp_path / "no.eval"))


def test_a_condition_that_is_none_is_told(folder: Path) -> None:
    with pytest.raises(InputError, match="--condition"):
        worth(str(folder), condition="half-story")
