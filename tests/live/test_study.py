"""A study of two levels on the local model: run, killed in the middle of a trial, resumed, and reported, by the commands."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.live.conftest import ROOT, Standin

pytestmark = pytest.mark.live


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "ludic_deepeval", "study", *map(str, arguments)]


def told(environment: dict[str, str], *arguments: object, code: int = 0) -> str:
    done = subprocess.run(
        command(*arguments), env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == code, done.stderr
    return done.stdout


def lines(folder: Path) -> list[bytes]:
    file = folder / "trials.jsonl"
    return file.read_bytes().splitlines(keepends=True) if file.exists() else []


def test_a_study_that_is_killed_once_and_resumed_is_finished_and_reported(
    local: Standin, tmp_path: Path
) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OLLAMA_HOST": local.url}
    study, folder, said = (
        ROOT / "examples" / "local-study.toml",
        tmp_path / "local-study.study",
        tmp_path / "said",
    )
    with said.open("w") as out:
        running = subprocess.Popen(
            command("run", study, "--out", folder, "--at-once", 1),
            env=environment,
            stdout=out,
            stderr=subprocess.PIPE,
        )
    give_up = time.monotonic() + 500
    asked = 0
    while running.poll() is None and time.monotonic() < give_up:
        if lines(folder):
            asked = asked or len(local.asked)
            if len(local.asked) > asked or local.written > 2:  # the second trial is under way
                break
        time.sleep(0.05)
    assert running.poll() is None, running.stderr.read() if running.stderr else ""
    running.kill()
    running.communicate()
    (first,) = lines(folder)
    assert "[1/2, about " in said.read_text()
    status = told(environment, "status", folder, code=1)
    assert "1 of 2 trials are kept" in status
    resumed = told(environment, "resume", folder, "--at-once", 1)
    assert "2 of 2 trials are kept" in resumed
    kept = lines(folder)
    assert kept[0] == first
    found = [json.loads(line) for line in kept]
    assert {line["cell"]["gate"] for line in found} == {"ungated", "gated"}
    assert len({(line["faction"], line["location"]) for line in found}) == 1
    for line in found:
        assert all(by["kind"] == "model" for by in line.get("producers", {}).values())
        assert line["times"]["seconds"] or line["unscored"]
        # The model is far too small to read or to judge: what it could not do is said, and no number stands for it.
        measured = {name for name, value in line["measures"].items() if value is not None}
        assert "lpi" in measured or any(
            one["stage"] in {"generate", "extract", "score"} for one in line["unscored"]
        )
        assert "e_a" in measured or line["unscored"]
    report = told(environment, "report", folder)
    assert "L1: not testable" in report
    print(said.read_text(), status, resumed, report, sep="\n")  # noqa: T201  # what docs/studies.md shows; pytest -rP
    assert (folder / "report" / "report.html").is_file()
