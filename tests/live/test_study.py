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


def lines(folder: Path) -> list[bytes]:
    file = folder / "trials.jsonl"
    return file.read_bytes().splitlines(keepends=True) if file.exists() else []


def test_a_study_that_is_killed_once_and_resumed_is_finished_and_reported(
    local: Standin, tmp_path: Path
) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OLLAMA_HOST": local.url}
    text = (ROOT / "examples" / "local-study.toml").read_text(encoding="utf-8")
    study, folder = tmp_path / "study.toml", tmp_path / "s"
    study.write_text(text.replace("seeds = [1, 3]", "seeds = [1]"), encoding="utf-8")
    (tmp_path / "bible").symlink_to(ROOT / "bible")
    running = subprocess.Popen(
        command("run", study, "--out", folder, "--at-once", 1),
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
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
    done = subprocess.run(
        command("resume", folder, "--json"),
        env=environment, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kept_now"] == 1
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
    done = subprocess.run(
        command("report", folder), env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "L1: not testable" in done.stdout
    assert (folder / "report" / "report.html").is_file()
