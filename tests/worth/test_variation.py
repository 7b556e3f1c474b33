"""Rewrites and modifications against the episode that they vary."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ludic_deepeval.errors import InputError
from worth_deepeval.cli import app
from worth_deepeval.episode import load_question, load_sheet
from worth_deepeval.prompt import build_prompt
from worth_deepeval.validate import validate
from worth_deepeval.variation import compare_with_base

Write = Callable[[Path, dict[str, Any]], Path]


@pytest.fixture
def third(data: dict[str, Any]) -> dict[str, Any]:
    """The bridge, told by somebody else: every fact as it was."""
    data["id"] = "T01-third"
    data["sentences"][7]["text"] = "He remembered that it had rained."
    data["key"]["varies"] = {"episode": "T01", "kind": "rewrite", "name": "third-person"}
    return data


@pytest.fixture
def ben(data: dict[str, Any]) -> dict[str, Any]:
    """The bridge with a second key: the lock hung on the south post, and Ada's key is of no use there; Ben has the other."""
    data["id"] = "T01-ben"
    changed = {"S002": "The lock hung on the south post.", "S004": "Ben keeps the south key in his boot.",
               "S006": "Ada lay ill on the far side until Sunday."}  # fmt: skip
    for one in data["sentences"]:
        one["text"] = changed.get(one["id"], one["text"])
    key = data["key"]
    key["participants"] = [
        {"role": "R01", "points": -8},
        {"role": "R02", "points": 5},
        {"role": "R03", "points": -2},
    ]
    key["distractors"] = [{"role": "R01", "incriminating": ["S001"], "exonerating": ["S006"]}]
    key["chain"]["conclusions"] = [
        {"role": "R02", "verdict": "participant", "facts": ["F2"]},
        {"role": "R01", "verdict": "excluded", "facts": ["F3"]},
        {"role": "R03", "verdict": "excluded", "facts": ["F4"]},
    ]
    key["varies"] = {
        "episode": "T01",
        "kind": "modification",
        "name": "second-key",
        "changed": sorted(changed),
    }
    return data


def codes(folder: Path, write: Write, tmp_path: Path, data: dict[str, Any]) -> dict[str, str]:
    other = load_sheet(write(tmp_path / "varied", data))
    return {one.code: one.message for one in compare_with_base(load_sheet(folder), other)}


def test_a_rewrite_holds_every_fact_constant(
    folder: Path, tmp_path: Path, write: Write, third: dict[str, Any]
) -> None:
    assert codes(folder, write, tmp_path, third) == {}
    third["key"]["clues"][1]["weight"] = 2
    assert codes(folder, write, tmp_path, third) == {"changed-key": "clues differ from T01: S004"}


def test_a_modification_changes_evidence_and_the_answer(
    folder: Path, tmp_path: Path, write: Write, ben: dict[str, Any]
) -> None:
    assert validate(load_sheet(write(tmp_path / "ben", ben))) == ()
    assert codes(folder, write, tmp_path, ben) == {}
    assert load_sheet(tmp_path / "varied").key.guilty != load_sheet(folder).key.guilty


def test_no_prompt_can_tell_that_it_is_of_a_variation(
    folder: Path, tmp_path: Path, write: Write, ben: dict[str, Any]
) -> None:
    with_it = build_prompt(load_question(write(tmp_path / "a", ben)))
    del ben["key"]["varies"]
    assert build_prompt(load_question(write(tmp_path / "b", ben))) == with_it


@pytest.mark.parametrize(
    ("way", "value", "code", "named"),
    [
        (("key", "varies"), None, "no-variation", "T01-ben"),
        (("key", "varies", "episode"), "T09", "wrong-base", "T09"),
        (("id",), "T01", "same-id", "T01"),
        (("language",), "zh", "other-language", "zh"),
        (("quota", "sentences"), 5, "other-quota", "5 sentences"),
        (("sentences", 7, "id"), "S009", "other-sentences", "S009"),
        (("candidates", 2, "id"), "R04", "other-candidates", "R04"),
        (("sentences", 7, "text"), "It snowed.", "undeclared-change", "S008"),
        (("sentences", 1, "text"), "The lock hung on the north post, as it never does.", "no-change", "S002"),
        (("key", "participants", 0, "points"), 1, "", ""),
    ],
)  # fmt: skip
def test_each_fault_of_a_variation_is_named(
    folder: Path,
    tmp_path: Path,
    write: Write,
    ben: dict[str, Any],
    way: tuple[Any, ...],
    value: object,
    code: str,
    named: str,
) -> None:
    holder: Any = ben
    for step in way[:-1]:
        holder = holder[step]
    holder[way[-1]] = value
    found = codes(folder, write, tmp_path, ben)
    assert named in found[code] if code else found == {}


def test_a_modification_that_changes_nothing_is_named(
    folder: Path, tmp_path: Path, write: Write, data: dict[str, Any]
) -> None:
    data["id"] = "T01-same"
    data["key"]["varies"] = {"episode": "T01", "kind": "modification", "name": "none"}
    found = codes(folder, write, tmp_path, data)
    assert set(found) == {"no-change", "same-answer", "same-evidence"}
    assert "R01" in found["same-answer"]


def test_the_command_takes_the_episode_that_is_varied(
    folder: Path, tmp_path: Path, write: Write, third: dict[str, Any]
) -> None:
    other = write(tmp_path / "third", third)
    assert CliRunner().invoke(app, ["validate", str(other), "--base", str(folder)]).exit_code == 0
    third["key"]["pairs"] = []
    write(tmp_path / "third", third)
    done = CliRunner().invoke(app, ["validate", str(other), "--base", str(folder)])
    assert (done.exit_code, "changed-key" in done.output) == (1, True)


def _ran(folder: Path, where: Path, out: Path, *replies: tuple[list[str], list[str]]) -> None:
    files = []
    where.mkdir()
    for at, (clues, roles) in enumerate(replies, start=1):
        files.append(where / f"{at}.txt")
        files[-1].write_text(
            json.dumps({"clue_sentence_ids": clues, "selected_role_ids": roles}), encoding="utf-8"
        )
    how = ["--model", "M", "--interface", "web", "--tested", "2026-08-30", "--out", str(out)]
    done = CliRunner().invoke(app, ["import-run", str(folder), *map(str, files), *how])
    assert done.exit_code == 0, done.output


def test_runs_of_a_rewrite_are_laid_beside_those_of_its_base_without_points(
    folder: Path, tmp_path: Path, write: Write, third: dict[str, Any]
) -> None:
    """Base: twice S005 alone, and Ben and Cyn. Rewrite: once the same, once S002, S004 and Ada.

    Over the two pairs: key sentences +0 and +2, mean +1; participants +0 and +1, mean +.5; others +0 and −2, mean −1.
    """
    other, runs = write(tmp_path / "third", third), tmp_path / "runs"
    wrong = (["S005"], ["R02", "R03"])
    _ran(folder, tmp_path / "a", runs, wrong, wrong)
    _ran(other, tmp_path / "b", runs, wrong, (["S002", "S004"], ["R01"]))
    call = ["report", str(other), str(runs), "--base", str(folder)]
    done = CliRunner().invoke(app, [*call, "--json"])
    [found] = json.loads(done.output)["contrasts"]
    assert (found["base"], found["other"]) == ("full-story of T01", f"full-story of {third['id']}")
    assert found["pairs"] == 2
    assert {one["name"]: one["mean"] for one in found["shifts"]} == {
        "key sentences": 1, "participants": 0.5, "others named": -1,
    }  # fmt: skip
    assert found["models"] == []  # which would hold points
    turns = {one["name"]: (one["base"]["count"], one["other"]["count"]) for one in found["turns"]}
    assert turns["select S005 against Cyn, and not S007, which clears"] == (2, 1)
    assert turns["name all participants and nobody else, by the key of T01"] == (0, 1)
    assert turns["name the base's most common answer, perhaps among others: Ben, Cyn"] == (2, 1)
    text = CliRunner().invoke(app, call).output
    assert "select S005 against Cyn, and not S007, which clears: 2/2, then 1/2" in text
    page = tmp_path / "page.html"
    CliRunner().invoke(app, [*call, "--html", str(page), "--csv", str(tmp_path / "csv")])
    assert "which clears" in page.read_text(encoding="utf-8")


def test_after_a_modification_it_is_asked_whose_answer_runs_give(
    folder: Path, tmp_path: Path, write: Write, ben: dict[str, Any]
) -> None:
    """A reader who follows the evidence names Ada first and then Ben; counts by two keys are no one figure."""
    other, runs = write(tmp_path / "ben", ben), tmp_path / "runs"
    _ran(folder, tmp_path / "a", runs, (["S002"], ["R01"]))
    _ran(other, tmp_path / "b", runs, (["S002"], ["R02"]))
    done = CliRunner().invoke(app, ["report", str(other), str(runs), "--base", str(folder), "--json"])
    [found] = json.loads(done.output)["contrasts"]
    assert found["shifts"] == []
    turns = {one["name"]: (one["base"]["count"], one["other"]["count"]) for one in found["turns"]}
    assert turns["name all participants and nobody else, by the key of T01"] == (1, 0)
    assert turns["name all participants and nobody else, by the key of T01-ben"] == (0, 1)
    assert turns["select S002, which differs"] == (1, 1)


def test_what_is_no_variation_of_an_episode_is_not_laid_beside_it(
    folder: Path, tmp_path: Path, write: Write, ben: dict[str, Any]
) -> None:
    ben["key"]["varies"]["episode"] = "T02"
    other, runs = write(tmp_path / "ben", ben), tmp_path / "runs"
    _ran(other, tmp_path / "b", runs, (["S002"], ["R02"]))
    done = CliRunner().invoke(app, ["report", str(other), str(runs), "--base", str(folder)])
    assert isinstance(done.exception, InputError)
    assert "--base: varies.episode: T01-ben varies T02, not T01" in str(done.exception)
    plain = tmp_path / "plain.jsonl"
    plain.write_text(json.dumps({"model": "a", "repetition": 1, "condition": "full-story", "text": "{}"}))
    done = CliRunner().invoke(app, ["report", str(other), str(plain), "--base", str(folder)])
    assert "a plain file, which tells no episode" in str(done.exception)
