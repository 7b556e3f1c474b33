import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ludic_deepeval import linear_runs

ROOT = Path(__file__).parents[2]
needs_deepeval = pytest.mark.skipif(find_spec("deepeval") is None, reason="needs the extra deepeval")

CONFTEST = """
import atexit, collections, json, os
from pathlib import Path
from deepeval.test_run.cache import CachedTestRun
from deepeval.test_run.test_run import TestRun
from ludic_deepeval import linear_runs

if "KEPT" in os.environ:
    from ludic_deepeval.linear_runs import pytest_sessionstart
linear_runs._SECONDS = 0 if "AT_ONCE" in os.environ else 3600
linear_runs._SHARE = 0

writes = collections.Counter()

def count(kind):
    save = kind.save
    def counting(self, file):
        writes[kind.__name__] += 1
        return save(self, file)
    kind.save = counting

if "PYTEST_XDIST_WORKER" not in os.environ:
    count(TestRun)
    count(CachedTestRun)
    atexit.register(lambda: Path("writes.json").write_text(json.dumps(writes)))
"""

SUITE = """
import os
import deepeval, pytest
from deepeval import assert_test
from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

STOP = os.environ.get("STOP")
SHARED = {"of all": {}}

@deepeval.log_hyperparameters
def hyperparameters():
    return {"prompt": "v1"}

class Tiny(BaseMetric):
    __name__ = "Tiny"

    def __init__(self, threshold=0.5):
        self.threshold = threshold

    def measure(self, case, *args, **kwargs):
        with open("measured", "a") as file:
            file.write(case.input + "\\n")
        if case.actual_output is None:
            raise MissingTestCaseParamsError("no output")
        if case.actual_output == "interrupt":
            raise KeyboardInterrupt
        if case.actual_output == "error":
            raise RuntimeError("no judge")
        self.score = float(case.actual_output)
        self.score_breakdown = {"half": self.score / 2}
        self.reason = "because"
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, case, *args, **kwargs):
        return self.measure(case)

    def is_successful(self):
        return self.success

@pytest.mark.parametrize("i", range(12))
def test_case(i):
    output = "0.25" if i % 4 == 3 else "0.75"
    if i == 6 and STOP == "die":
        os._exit(9)
    if i == 6 and STOP == "interrupt":
        output = "interrupt"
    if STOP == "error":
        output = {4: None, 6: "error"}.get(i, output)
    SHARED["of all"]["last"] = i
    case = LLMTestCase(input=f"input {i}", actual_output=output, metadata=SHARED, tags=["t"])
    assert_test(case, [Tiny()], run_async=i % 2 == 0)
"""


@dataclass
class Run:
    directory: Path
    code: int
    output: str

    def read(self, name: str = ".deepeval/.latest_run_full.json") -> Any:
        return json.loads((self.directory / name).read_text())

    def cases(self) -> list[Any]:
        """The cases as the suite has them: DeepEval puts those measured without asyncio first."""
        return sorted(self.read()["testCases"], key=lambda case: int(case["input"].removeprefix("input ")))

    def timeless(self) -> Any:
        return _timeless(self.read())

    def table(self) -> str:
        return self.output.partition("Test Results")[2].partition("Evaluation completed")[0]

    def passes(self) -> list[str]:
        """The last line of pytest ("3 failed, 9 passed"), without its time."""
        return re.findall(r"\d+ (?:failed|passed)", re.sub(r"\x1b\[[\d;]*m", "", self.output))


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _timeless(v) for k, v in value.items() if k != "runDuration"}
    return [_timeless(v) for v in value] if isinstance(value, list) else value


def _start(directory: Path, *arguments: str, **settings: str) -> Run:
    directory.mkdir(exist_ok=True)
    (directory / "conftest.py").write_text(CONFTEST)
    (directory / "test_suite.py").write_text(SUITE)
    # An installed copy of this project must not add a second plugin.
    (directory / "pytest.ini").write_text("[pytest]\naddopts = -p no:ludic\n")
    keep = ("PATH", "HOME", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LANG", "VIRTUAL_ENV")
    environment = {name: os.environ[name] for name in keep if name in os.environ} | {
        "COLUMNS": "160",
        "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
        "PYTHONPATH": str(ROOT),
        **settings,
    }
    command = [sys.executable, "-c", "from deepeval.cli.main import app; app()"]
    done = subprocess.run(
        [*command, "test", "run", "test_suite.py", *arguments],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=400,
        check=False,
    )
    return Run(directory, done.returncode, done.stdout + done.stderr)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """All runs of this module by name, two at a time since each spends seconds importing DeepEval."""
    base = tmp_path_factory.mktemp("linear_runs")
    plans: dict[str, tuple[list[str], dict[str, str]]] = {
        "alone": ([], {}),
        "kept": ([], {"KEPT": "1"}),
        "kept twice": (["-r", "2"], {"KEPT": "1"}),
        "kept by two": (["-n", "2"], {"KEPT": "1"}),
        "alone interrupted": ([], {"STOP": "interrupt"}),
        "kept interrupted": ([], {"STOP": "interrupt", "KEPT": "1"}),
        "kept killed": ([], {"STOP": "die", "KEPT": "1", "AT_ONCE": "1"}),
        "kept -x": (["-x"], {"KEPT": "1"}),
        "alone -i -s": (["-i", "-s"], {"STOP": "error"}),
        "kept -i -s": (["-i", "-s"], {"STOP": "error", "KEPT": "1"}),
    }

    def start(name: str) -> Run:
        arguments, settings = plans[name]
        return _start(base / name.replace(" ", "_"), *arguments, **settings)

    with ThreadPoolExecutor(2) as pool:
        started: dict[str, Future[Run]] = {name: pool.submit(start, name) for name in plans}
    return lambda name: started[name].result()


@needs_deepeval
@pytest.mark.parametrize("mode", ["", " -i -s", " interrupted"])
def test_a_run_in_memory_ends_as_deepeval_alone_ends_it(run: Callable[[str], Run], mode: str) -> None:
    alone, kept = run("alone" + mode), run("kept" + mode)
    assert kept.timeless() == alone.timeless()
    assert kept.table() == alone.table() != ""
    assert kept.passes() == alone.passes()
    assert kept.code == alone.code
    names = {path.name for path in (alone.directory / ".deepeval").iterdir()}
    assert {path.name for path in (kept.directory / ".deepeval").iterdir()} == names
    cache = ".deepeval/.deepeval-cache.json"
    assert _timeless(kept.read(cache)) == _timeless(alone.read(cache))


@needs_deepeval
def test_failing_cases_still_fail(run: Callable[[str], Run]) -> None:
    kept = run("kept")
    assert kept.code == 1
    assert [case["success"] for case in kept.cases()] == [i % 4 != 3 for i in range(12)]
    assert kept.passes() == ["3 failed", "9 passed"]
    # Not what the test made of its dict later.
    assert [case["metadata"]["of all"]["last"] for case in kept.cases()] == list(range(12))
    assert kept.read()["hyperparameters"] == {"prompt": "v1"}


@needs_deepeval
def test_the_number_of_writings_does_not_grow_with_the_cases(run: Callable[[str], Run]) -> None:
    once, twice = run("kept"), run("kept twice")
    assert (len(once.cases()), len(twice.cases())) == (12, 24)
    assert once.read("writes.json") == twice.read("writes.json")
    assert sum(once.read("writes.json").values()) <= 12
    assert sum(run("alone").read("writes.json").values()) >= 3 * 12


@needs_deepeval
def test_several_processes_share_the_run_through_the_file(run: Callable[[str], Run]) -> None:
    shared = run("kept by two")
    assert shared.code == 1
    assert [case["input"] for case in shared.cases()] == [f"input {i}" for i in range(12)]
    assert "ludic:" not in shared.output


@needs_deepeval
def test_an_interrupted_run_keeps_what_was_done(run: Callable[[str], Run]) -> None:
    kept = run("kept interrupted")
    assert kept.code == 2
    assert [case["input"] for case in kept.cases()][:6] == [f"input {i}" for i in range(6)]


@needs_deepeval
def test_stopping_at_the_first_failure_keeps_what_was_done(run: Callable[[str], Run]) -> None:
    kept = run("kept -x")
    assert kept.code == 1
    assert [case["input"] for case in kept.cases()] == [f"input {i}" for i in range(4)]


@needs_deepeval
def test_a_killed_process_leaves_what_was_written_last(run: Callable[[str], Run]) -> None:
    killed = run("kept killed")
    assert killed.code == 9
    assert len(killed.read(".deepeval/.temp_test_run_data.json")["testCases"]) == 6
    assert len(killed.read(".deepeval/.deepeval-cache.json")["test_cases_lookup_map"]) == 6


@needs_deepeval
def test_the_cache_of_a_run_in_memory_serves_the_next(run: Callable[[str], Run]) -> None:
    first = run("kept")
    before = _scores(first)
    measured = (first.directory / "measured").read_text()
    again = _start(first.directory, "-c", KEPT="1")
    assert (first.directory / "measured").read_text() == measured
    assert len(measured.splitlines()) == 12
    assert (again.code, _scores(again)) == (1, before)


def _scores(run: Run) -> list[object]:
    return [(case["input"], case["success"], case["metricsData"][0]["score"]) for case in run.cases()]


@dataclass
class Options:
    """As much of pytest's configuration as is asked for."""

    options: dict[str, object]
    cleanups: list[Callable[[], object]]

    def getoption(self, name: str, default: object) -> object:
        return self.options.get(name, default)

    def add_cleanup(self, cleanup: Callable[[], object]) -> None:
        self.cleanups.append(cleanup)


def _options(**options: object) -> Any:
    return Options(options, [])


def _deepeval(monkeypatch: pytest.MonkeyPatch, version: str = "4.3.1") -> Any:
    """A stand-in for DeepEval, started by its own command."""

    class Manager:
        temp_file_path = "run.json"
        test_run = SimpleNamespace()
        saved = 0

        def save_test_run(self, path: str) -> None:
            assert path == self.temp_file_path
            self.saved += 1

        def update_test_run(self, api_test_case: object, test_case: object) -> None: ...

    class Cache:
        saved = 0

        def save_cached_test_run(self, to_temp: bool = False) -> None:
            assert not to_temp
            self.saved += 1

    run: Any = ModuleType("run")
    run.portalocker = SimpleNamespace(Lock=open, exceptions=SimpleNamespace(LockException=OSError))
    run.TestRunEncoder = json.JSONEncoder
    run.TestRun = SimpleNamespace(save=len)
    run.global_test_run_manager = Manager()
    cache: Any = ModuleType("cache")
    cache.global_test_run_cache_manager = Cache()
    settings: Any = ModuleType("settings")
    settings._calc_env_fingerprint = lambda: "as it was"
    constants: Any = ModuleType("constants")
    constants.HIDDEN_DIR, constants.KEY_FILE = ".deepeval", ".deepeval"
    root: Any = ModuleType("deepeval")
    root.__version__ = version
    for name, module in {
        "deepeval": root,
        "deepeval.cli.test.command": ModuleType("command"),
        "deepeval.test_run.test_run": run,
        "deepeval.test_run.cache": cache,
        "deepeval.config.settings": settings,
        "deepeval.constants": constants,
    }.items():
        monkeypatch.setitem(sys.modules, name, module)
    return run


def test_deepeval_is_found_again_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    run = _deepeval(monkeypatch)
    lock, manager = run.portalocker, run.global_test_run_manager
    settings: Any = sys.modules["deepeval.config.settings"]
    fingerprint = settings._calc_env_fingerprint
    cache: Any = sys.modules["deepeval.test_run.cache"].global_test_run_cache_manager
    config = _options(dist="no")
    assert linear_runs.keep_in_memory(config)
    assert run.portalocker is None
    assert not linear_runs.keep_in_memory(_options())  # a session inside the session
    for _ in range(5):
        cache.save_cached_test_run()
    assert cache.saved == 1
    assert config.cleanups == [linear_runs.write_once]
    linear_runs.write_once()
    linear_runs.write_once()
    assert run.portalocker is lock
    assert settings._calc_env_fingerprint is fingerprint
    assert vars(manager) == {"saved": 1}
    assert vars(cache) == {"saved": 2}


def test_the_environment_is_hashed_again_when_it_or_its_file_has_changed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    taken: list[str] = []

    def take() -> str:
        taken.append(os.environ.get("A_SETTING", ""))
        monkeypatch.setenv("FROM_THE_FILE", "1")  # as DeepEval's own may
        return taken[-1]

    fingerprint = linear_runs._Fingerprint(take, tmp_path / "keys")
    assert [fingerprint() for _ in range(3)] == ["", "", ""]
    monkeypatch.setenv("A_SETTING", "b")
    assert [fingerprint() for _ in range(3)] == ["b", "b", "b"]
    monkeypatch.delenv("A_SETTING")
    assert [fingerprint() for _ in range(3)] == ["", "", ""]
    (tmp_path / "keys").write_text("{}", encoding="utf-8")
    assert [fingerprint() for _ in range(3)] == ["", "", ""]
    assert taken == ["", "b", "", ""]


@pytest.mark.parametrize("options", [{"dist": "load"}, {"forked": True}])
def test_processes_that_share_a_run_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], options: dict[str, object]
) -> None:
    _deepeval(monkeypatch)
    assert not linear_runs.keep_in_memory(_options(**options))
    assert capfd.readouterr().err == ""


def test_a_worker_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    _deepeval(monkeypatch)
    config = _options()
    config.workerinput = {}
    assert not linear_runs.keep_in_memory(config)


@pytest.mark.parametrize("absent", ["deepeval.cli.test.command", "deepeval.test_run.test_run"])
def test_plain_pytest_is_left_alone(monkeypatch: pytest.MonkeyPatch, absent: str) -> None:
    _deepeval(monkeypatch)
    monkeypatch.delitem(sys.modules, absent)
    assert not linear_runs.keep_in_memory(_options())


@pytest.mark.parametrize("change", ["portalocker", "test_run"])
def test_a_run_that_deepeval_keeps_in_memory_itself_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], change: str
) -> None:
    run = _deepeval(monkeypatch)
    monkeypatch.setattr(run if change == "portalocker" else run.global_test_run_manager, change, None)
    assert not linear_runs.keep_in_memory(_options())
    assert capfd.readouterr().err == ""


def test_an_unknown_deepeval_is_left_alone_and_named(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _deepeval(monkeypatch, "4.4.0")
    assert not linear_runs.keep_in_memory(_options())
    assert re.fullmatch(r"ludic: .*DeepEval 4\.4\.0.*\n", capfd.readouterr().err)


@pytest.mark.parametrize("name", ["TestRunEncoder", "portalocker", "global_test_run_manager"])
def test_a_deepeval_without_what_is_used_is_left_alone_and_named(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    run = _deepeval(monkeypatch)
    monkeypatch.delattr(run, name)
    assert not linear_runs.keep_in_memory(_options())
    assert re.fullmatch(rf"ludic: .*{name}.*\n", capfd.readouterr().err)


def test_importing_the_module_does_not_import_deepeval() -> None:
    code = "import sys, ludic_deepeval.linear_runs; sys.exit('deepeval' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
