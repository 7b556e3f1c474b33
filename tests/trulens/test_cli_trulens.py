"""The commands `ludic record`, `ludic trace` and `ludic dashboard`, as somebody at a terminal meets them."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.scripted_turns import READY, WEAK, Scripted, notary_of, prose_of
from tests.trulens.conftest import ROOT, Ludic
from trulens_feedback.dashboard import command, free_port
from trulens_feedback.database import Place, find_place

CASES = ROOT / "test_cases"
CHROMIUM = "/usr/bin/chromium"
LONG = 120_000  # milliseconds; the machine may be busy with other tests


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LUDIC_TRULENS_DATABASE", raising=False)
    return tmp_path


def test_one_command_records_what_lies_there_and_twice_adds_nothing(here: Path, ludic: Ludic) -> None:
    first = ludic("record", CASES / "sessions")
    assert (first.code, first.err) == (0, "")
    assert "5 of 5 records added; 2 figures could not be measured" in first.out
    assert "0 of 5 records added, 5 were there already" in ludic("record", CASES / "sessions").out
    assert (here / "trulens.sqlite").is_file()


def test_the_trace_is_a_table_with_what_was_not_measured_apart(here: Path, ludic: Ludic) -> None:
    ludic("record", CASES / "sessions", "--database", "x.db")
    ran = ludic("trace", "--database", "x.db")
    assert ran.code == 0
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert "record E_a ↓ Div" in lines
    assert "two-short-one-long 0.15 0.93" in lines
    assert "three-hours-dry – –" in lines
    assert "(4/5)" in ran.out


def test_the_documentation_shows_what_is_printed(here: Path, ludic: Ludic) -> None:
    """The blocks of docs/trulens.md, in the folder that it speaks of."""
    (here / "test_cases").symlink_to(CASES)
    text = (ROOT / "docs" / "trulens.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n\$ ludic (.*)\n([^`]*)```", text)
    assert [words.split()[0] for words, _ in blocks] == ["record", "trace", "trace"]
    for words, output in blocks:
        assert ludic(*shlex.split(words)).out.strip() == output.strip()


def test_reasons_are_told_on_demand(here: Path, ludic: Ludic) -> None:
    ludic("record", CASES / "backstories/five-doors.md")
    out = ludic("trace", "--reasons").out
    assert "gate: passed" in out
    assert "LPI 0.70" in out
    assert "PCV of 150 1.00" in out
    assert "PCV 150 (150 needed)" in out


def test_json_has_scores_reasons_and_null_for_what_was_not_measured(here: Path, ludic: Ludic) -> None:
    told = json.loads(ludic("record", CASES / "sessions", "--json").out)
    assert (told["added"], told["unmeasured"], told["errors"]) == (5, 2, [])
    data = json.loads(ludic("trace", "--json").out)
    (row,) = data["leaderboard"]
    assert row["metrics"]["E_a"]["measured"] == 4
    assert row["metrics"]["E_a"]["higher_is_better"] is False
    by_id = {one["id"]: one for one in data["records"]}
    assert by_id["three-hours-dry"]["scores"]["E_a"]["score"] is None
    assert "unmeasured (labels)" in by_id["three-hours-dry"]["scores"]["E_a"]["reason"]


def test_a_trial_of_ludic_generate_shows_why_its_draft_was_written_anew(
    here: Path, ludic: Ludic, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ludic_deepeval.llm import names

    models = iter([Scripted(prose_of(WEAK), prose_of(READY)), Scripted(notary_of(WEAK), notary_of(READY))])

    @contextmanager
    def opened(*_: Any, **__: Any) -> Iterator[Scripted]:
        yield next(models)

    monkeypatch.setattr(names, "open_model", opened)
    made = ludic("generate", "--out", "run", "--bible", ROOT / "bible/faerun", "--model", "ollama:scripted")
    assert made.code == 0, made.err
    assert ludic("record", "run").code == 0
    data = json.loads(ludic("trace", "--json").out)
    (record,) = data["records"]
    assert record["app"] == "ludic trials"
    assert "scripted" in record["app_version"]
    gates = [one for one in record["steps"] if one["name"] == "gate"]
    assert [one["decision"] for one in gates] == ["rewrite", "accept"]
    assert gates[0]["reasons"][0].startswith("LPI ")
    assert [one["name"] for one in record["steps"]] == ["generate", "extract", "score", "gate"] * 2


def test_runs_of_worth_are_recorded_under_their_episode(here: Path, ludic: Ludic, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    from worth_deepeval.cli import main

    reply = CASES / "episodes/WEN01/recordings/protocol/direct.txt"
    words = [
        "worth",
        "import-run",
        str(CASES / "episodes/WEN01"),
        str(reply),
        "--model",
        "Some Model",
        "--out",
        "runs",
    ]
    monkeypatch.setattr(
        sys, "argv", [*words, "--interface", "app", "--tested", "2026-08-30", "--hand-written"]
    )
    with pytest.raises(SystemExit) as end:
        main()
    if end.value.code:
        pytest.fail(capsys.readouterr().err)
    assert ludic("record", "runs", CASES / "episodes").code == 0
    data = json.loads(ludic("trace", "--app", "WORTH", "--json").out)
    rows = [one for one in data["leaderboard"] if "Some Model" in one["app_version"]]
    assert len(rows) == 1
    assert rows[0]["app_version"].startswith("WEN01 ")
    assert rows[0]["metrics"]["WORTH total [WEN01]"]["mean"] == pytest.approx(23 / 68)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("record", "nothing-here"), "nothing-here: no such file"),
        (("trace",), "trulens.sqlite: no such database; ludic record makes one"),
        (("dashboard",), "trulens.sqlite: no such database"),
        (("trace", "--database", "mysql://h/n"), "found mysql"),
        (
            ("record", CASES / "sessions", "--database", "postgresql://u:tops3cret@h/n"),
            "a password in an argument",
        ),
        (("trace", "--app", "none", "--database", "there.db"), "no record of 'none'"),
    ],
)
def test_a_wrong_call_is_one_line_without_a_password(
    words: tuple[object, ...], says: str, here: Path, ludic: Ludic
) -> None:
    ludic("record", CASES / "sessions", "--database", "there.db")
    ran = ludic(*words)
    assert ran.code == 2
    assert len(ran.faults) == 1
    assert says in ran.err
    assert "tops3cret" not in ran.out + ran.err


def test_a_file_that_cannot_be_used_is_named_and_the_others_are_recorded(here: Path, ludic: Ludic) -> None:
    (here / "bad").mkdir()
    (here / "bad/session.json").write_text("{}")
    ran = ludic("record", "bad", CASES / "sessions/from-the-box")
    assert ran.code == 2
    assert "1 of 1 records added" in ran.out
    assert "session.json" in ran.err


def test_without_trulens_one_line_says_how_to_get_it(
    here: Path, ludic: Ludic, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *more: None if name.startswith("trulens") else found(name, *more),
    )
    ran = ludic("trace")
    assert (ran.code, ran.err) == (2, "ludic: TruLens: not installed; pip install 'ludic-worth[trulens]'\n")


# The dashboard


def test_its_command_line_holds_no_password_and_loopback_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUDIC_TRULENS_DATABASE", "postgresql://u:tops3cret@h/n")
    words = command(find_place(), 8501)
    assert not [word for word in words if "tops3cret" in word]
    assert "--server.address=127.0.0.1" in words


def test_a_port_that_is_taken_is_named(here: Path, ludic: Ludic) -> None:
    ludic("record", CASES / "sessions")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ran = ludic("dashboard", "--no-open", "--port", taken.getsockname()[1])
    assert ran.code == 2
    assert "is taken; allowed: another port" in ran.err


@contextmanager
def started(
    place: Place, environment: dict[str, str], *paths: Path
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `ludic dashboard` as a program of its own; yields it and its address."""
    port = free_port()
    address = place.url if place.file is None else str(place.file)
    words = ["dashboard", *map(str, paths), "--no-open", "--port", str(port), "--database", address]
    process = subprocess.Popen(
        [sys.executable, "-m", "ludic_deepeval", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | environment | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert process.stdout is not None
    lines: list[str] = []
    try:
        while not (line := process.stdout.readline()).startswith("  http://"):
            lines.append(line)
            if not line:
                pytest.fail(f"it did not start: {lines} {process.communicate()}")
        yield process, line.strip()
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def children_of(pid: int) -> list[int]:
    """The processes that a process started, by /proc."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(path.parent.name))
    return found


def gone(pid: int) -> bool:
    path = Path(f"/proc/{pid}/stat")
    try:
        return path.read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def answers(url: str) -> bool:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
            f"{url}/_stcore/health", timeout=5
        ) as got:
            return bool(got.read() == b"ok")
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for child processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_it_serves_loopback_alone_and_leaves_no_child_behind(number: signal.Signals, here: Path, database_server: tuple[str, str]) -> None:  # fmt: skip
    """On PostgreSQL with a password, which no process shows."""
    url, password = database_server
    place = find_place(url)
    with started(place, {"PGPASSWORD": password}, CASES / "sessions") as (process, address):
        assert answers(address)
        assert address.startswith("http://127.0.0.1:")
        children = children_of(process.pid)
        assert children
        for pid in [process.pid, *children]:
            assert password not in Path(f"/proc/{pid}/cmdline").read_text()
        port = int(address.rpartition(":")[2])
        listening = [
            line.split()[1]
            for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
            if line.split()[3] == "0A"
        ]
        assert [one for one in listening if int(one.partition(":")[2], 16) == port] == [
            f"0100007F:{port:04X}"
        ]
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert out.rstrip().endswith("stopped")
        assert "Traceback" not in err
        assert password not in out + err
    end = time.monotonic() + 20
    while time.monotonic() < end and not all(map(gone, children)):
        time.sleep(0.2)
    assert all(map(gone, children))
    assert not answers(address)


@pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="no Chromium at /usr/bin/chromium")
def test_the_page_shows_leaderboard_records_and_the_reason_of_a_score(here: Path, tmp_path: Path) -> None:
    """In a headless browser that can reach nothing but this computer."""
    from playwright.sync_api import Frame, sync_playwright

    place = find_place(str(tmp_path / "shown.sqlite"))
    outside: list[str] = []
    with started(place, {}, CASES) as (_, address), sync_playwright() as playwright:
        flags = [
            "--no-sandbox",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        page = browser.new_page(viewport={"width": 1500, "height": 1400})
        page.set_default_timeout(LONG)
        page.on("request", lambda one: outside.append(one.url) if not one.url.startswith((address, "data:", "blob:", "ws:")) else None)  # fmt: skip

        def grid() -> Frame:
            page.wait_for_selector("iframe[title*=agGrid i], iframe[title*=aggrid i]")
            end = time.monotonic() + LONG / 1000
            while time.monotonic() < end:
                for frame in page.frames:
                    if "agGrid" in frame.url and frame.locator(".ag-row").count():
                        return frame
                page.wait_for_timeout(200)
            raise AssertionError([frame.url for frame in page.frames])

        page.goto(f"{address}/?app_name=ludic%20sessions")
        page.get_by_role("heading", name="Leaderboard").wait_for()
        board = grid()
        board.get_by_text("scripted:tester", exact=False).first.wait_for()
        cells = until(
            lambda: board.locator(".ag-row").all_inner_texts(),
            lambda texts: any("0.33" in one for one in texts),
        )
        assert any("0.33" in one for one in cells)  # the mean of 4/27, 5/17, 11/15, 2/14
        page.screenshot(path=tmp_path / "leaderboard.png")

        page.goto(f"{address}/Records?app_name=ludic%20sessions")
        page.get_by_text("Found 5 records").wait_for()
        records = grid()
        row = records.locator(".ag-row", has_text="four-hundred-and-six-gulls").first
        records.locator(f'.ag-row[row-id="{row.get_attribute("row-id")}"] .ag-checkbox-input').first.click(
            force=True
        )
        pill = page.get_by_text("E_a 0.73").last
        pill.click()
        page.get_by_text("11 of 15 people and threads had to be invented", exact=False).first.wait_for(
            state="attached"
        )
        page.screenshot(path=tmp_path / "record.png", full_page=True)
        browser.close()
    assert outside == []


def until(read: Callable[[], Any], good: Callable[[Any], bool]) -> Any:
    """Read until it is good, or for long enough; what was read last."""
    end = time.monotonic() + LONG / 1000
    while not good(found := read()) and time.monotonic() < end:
        time.sleep(0.3)
    return found
