"""Every fault of an episode is found and named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.errors import InputError
from worth_deepeval.episode import load_sheet
from worth_deepeval.validate import validate

Write = Callable[[Path, dict[str, Any]], Path]


def test_a_sound_episode_has_no_fault(folder: Path) -> None:
    assert validate(load_sheet(folder)) == ()


def _set(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        holder: Any = data
        *way, last = path.split(".")
        for step in way:
            holder = holder[int(step)] if step.isdecimal() else holder[step]
        holder[int(last) if last.isdecimal() else last] = value

    return change


@pytest.mark.parametrize(
    ("path", "value", "code", "named"),
    [
        ("key.clues.0.sentence", "S099", "unknown-sentence", "S099"),
        ("key.participants.1.role", "R09", "unknown-candidate", "R09"),
        ("key.annotations.0.target", "R09", "unknown-candidate", "R09"),
        ("key.pairs.0.suspicion", "S099", "unknown-sentence", "S099"),
        ("key.distractors.0.exonerating", ["S099"], "unknown-sentence", "S099"),
        ("key.chain.facts.0.needs", ["S099"], "unknown-sentence", "S099"),
        ("key.chain.facts.0.needs", ["nothing"], "unknown-candidate", "nothing"),
        ("key.chain.conclusions.0.facts", ["F9"], "unknown-fact", "F9"),
        ("key.clues.1.sentence", "S002", "twice", "S002"),
        ("key.participants.1.role", "R01", "twice", "R01"),
        ("key.chain.facts.1.id", "F1", "twice", "F1"),
        ("key.clues", [], "no-clues", "no key sentences"),
        ("key.participants.0.points", 0, "no-participant", "nobody takes part"),
        ("key.participants", [{"role": "R01", "points": 5}], "no-points", "R02"),
        ("quota.sentences", 3, "small-quota", "3 of 4"),
        ("key.clue_total", 11, "wrong-total", "10, not 11"),
        ("key.distractors.0.role", "R01", "guilty-distractor", "R01"),
        ("key.distractors.0.incriminating", [], "no-suspicion", "R02"),
        ("key.distractors.0.exonerating", [], "no-counter-evidence", "R02"),
        ("key.chain", {}, "no-chain", "no chain"),
        ("key.chain.facts.0.needs", ["S001"], "underivable", "F1 needs S001"),
        ("key.chain.facts.1.needs", ["F1", "F2"], "underivable", "F2 needs F2"),
        ("key.chain.conclusions.1.verdict", "participant", "wrong-verdict", "R02"),
        ("key.chain.conclusions.0.role", "R03", "unsolvable", "R01"),
        ("key.chain.facts.2.needs", ["S007"], "idle-clue", "S006"),
        ("key.chain.conclusions.1.facts", ["F4"], "idle-clue", "S006"),  # it gives F3, which leads nowhere then
        ("key.clues.0.weight", None, "no-weight", "S002"),
        ("key.clues.0.proposed", [{"fact": "a lock", "score": 60}], "unconfirmed", "S002"),
        ("key.unaligned", ["It was Tuesday."], "unaligned", "It was Tuesday."),
        ("key.unplaced", 3, "unplaced", "3 key sentences"),
        ("key.outside", ["S099"], "unknown-sentence", "S099"),
        ("key.outside", ["S002"], "inside-and-outside", "S002"),
        ("key.pairs.0.exoneration", "S005", "one-sentence-pair", "S005"),
        ("key.distractors.0.incriminating", ["S006"], "both-sides", "S006"),
        ("key.chain.conclusions.2.role", "R02", "twice", "R02"),
        ("key.pairs.0.target", "R09", "unknown-candidate", "R09"),
        ("key.annotations.0.sentence", "S099", "unknown-sentence", "S099"),
        ("key.distractors.0.role", "R09", "unknown-candidate", "R09"),
    ],
)  # fmt: skip
def test_each_fault_is_named_with_its_sentence_or_candidate(
    tmp_path: Path, data: dict[str, Any], write: Write, path: str, value: object, code: str, named: str
) -> None:
    _set(path, value)(data)
    faults = validate(load_sheet(write(tmp_path / "x", data)))
    assert any(one.code == code and named in one.message for one in faults), faults


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("sentences.1.id", "S001", "sentences[1].id: 'S001' is used twice"),
        ("candidates.1.id", "R01", "candidates[1].id: 'R01' is used twice"),
        (
            "sentences.0.id",
            "S1",
            "sentences[0].id: found 'S1'; allowed: S and three or four digits, such as S001",
        ),
        (
            "key.clues.0.sentence",
            "s002",
            "key: clues[0].sentence: found 's002'; allowed: S and three or four digits",
        ),
        (
            "key.participants.0.role",
            "Ada",
            "key: participants[0].role: found 'Ada'; allowed: R and two or three digits",
        ),
        (
            "key.chain.facts.0.id",
            "one",
            "key: chain.facts[0].id: found 'one'; allowed: F and up to three digits",
        ),
        ("id", "../x", "id: found '../x'; allowed: letters, digits, dots and dashes"),
        ("id", "桥", "id: found '桥'; allowed: letters"),
        ("version", 1, "version: found 1; allowed: text"),
        ("language", "fr", "language: found 'fr'"),
        ("key.clues.0.weight", "3", "key: clues[0].weight: found '3'"),
        ("key.clues.0.weight", 0, "key: clues[0].weight: found 0"),
        ("quota.sentences", True, "quota.sentences: found true"),
    ],
)
def test_an_episode_of_a_wrong_shape_is_one_line(
    tmp_path: Path, data: dict[str, Any], write: Write, path: str, value: object, line: str
) -> None:
    _set(path, value)(data)
    with pytest.raises(InputError) as caught:
        load_sheet(write(tmp_path / "x", data))
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_draft_claims_nothing_of_its_key(tmp_path: Path, data: dict[str, Any], write: Write) -> None:
    data["key"] |= {"status": "draft", "chain": {}, "distractors": []}
    assert validate(load_sheet(write(tmp_path / "x", data))) == ()


def test_the_command_says_what_is_wrong_and_how_it_ends(
    tmp_path: Path, data: dict[str, Any], write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    from typer.testing import CliRunner

    from worth_deepeval.cli import app

    good = write(tmp_path / "good", data)
    reply = tmp_path / "reply.txt"
    selected = {"clue_sentence_ids": ["S002"], "selected_role_ids": ["R02"]}
    reply.write_text(json.dumps(selected), encoding="utf-8")
    run = CliRunner().invoke
    assert run(app, ["validate", str(good)]).exit_code == 0
    scored = run(app, ["score", str(good), str(reply), "--json"])
    [one] = json.loads(scored.output)["replies"]
    # S002 is worth 3; R02 costs 8.
    assert (scored.exit_code, one["clue_score"], one["participant_score"], one["total"]) == (0, 3, -8, -5)
    assert (one["minimum"], one["maximum"], one["json"], one["compliant"]) == (-10, 15, "direct", False)
    said = run(app, ["score", str(good), str(reply)]).output
    assert "found 1 of 4 key sentences: 3 points (S002)" in said
    assert "rightly nobody, wrongly Ben" in said
    reply.write_text("I choose S002.", encoding="utf-8")
    scored = run(app, ["score", str(good), str(reply), "--json"])
    assert (scored.exit_code, json.loads(scored.output)["replies"][0]["total"]) == (1, None)
    data["key"]["clues"][0]["sentence"] = "S099"
    bad = write(tmp_path / "bad", data)
    found = run(app, ["validate", str(bad), "--json"])
    assert found.exit_code == 1
    assert json.loads(found.output)["episodes"][0]["faults"][0]["code"] == "unknown-sentence"
