"""Keeps `deepeval test run` linear in the number of cases.

DeepEval writes all that was measured so far, and reads it back, after every case: to the file of the
test run and to two files of its cache. While one process does all the work nobody else reads those
files, so here they are kept in memory and written at the end. With several processes the files are
how the processes share the run, and DeepEval is left alone.

Twenty times a case DeepEval also reads the whole environment to see whether a setting has changed. Here
it looks only when the environment, or the file that it is filled up from, is not what it was.

A process that is killed cannot write at the end. For its sake a file is also written when its last
writing is long enough ago, which bounds what can be lost and costs a small, fixed share of the time.
"""

import functools
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_RELEASE = "4.3."
_COMMAND = "deepeval.cli.test.command"
_RUN = "deepeval.test_run.test_run"
_CACHE = "deepeval.test_run.cache"
_SETTINGS = "deepeval.config.settings"
_CONSTANTS = "deepeval.constants"
_USED = {
    _RUN: (
        "portalocker",
        "TestRunEncoder",
        "global_test_run_manager.save_test_run",
        "global_test_run_manager.temp_file_path",
        "global_test_run_manager.update_test_run",
        "TestRun.save",
    ),
    _CACHE: ("global_test_run_cache_manager.save_cached_test_run",),
    _SETTINGS: ("_calc_env_fingerprint",),
    _CONSTANTS: ("HIDDEN_DIR", "KEY_FILE"),
}

_SECONDS = 10.0  # between two writings of one file: what a killed run can lose
_SHARE = 20.0  # and never less than so many times what the last one took


class _Deferred:
    """A writing of a whole file, put off while the last one is recent."""

    def __init__(self, write: Callable[[], object]) -> None:
        self._write = write
        self._due = 0.0  # the first is not put off: DeepEval expects its cache files to exist
        self._wanted = False

    def __call__(self) -> None:
        """Write if it is time."""
        self._wanted = True
        started = time.monotonic()
        if started >= self._due:
            self._write()
            now = time.monotonic()
            self._due = now + max(_SECONDS, _SHARE * (now - started))

    def finish(self) -> None:
        """Write what may have been put off."""
        if self._wanted:
            self._write()


class _Fingerprint:
    """DeepEval's hash of the environment, taken anew when there is something new to take.

    Args:
        take: Takes it. It also fills up the environment from `file`.
        file: A file of settings, which seldom exists.
    """

    def __init__(self, take: Callable[[], str], file: Path) -> None:
        self.take = take
        self._file = file
        self._seen: tuple[object, ...] | None = None
        self._last = ""

    def __call__(self) -> str:
        """Return what `take` would."""
        if self._state() != self._seen:
            self._last = self.take()
            self._seen = self._state()
        return self._last

    def _state(self) -> tuple[object, ...]:
        try:
            stat = self._file.stat()
        except OSError:
            stamp = None
        else:
            stamp = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        # A copy of os.environ decodes every variable, which takes as long as the hash.
        return stamp, dict(getattr(os.environ, "_data", os.environ))


class _Held:
    """DeepEval's test run and cache, held in memory from construction to `release`."""

    def __init__(self, run: Any, cache: Any, settings: Any, key_file: Path) -> None:
        self._run = run
        self._manager = run.global_test_run_manager
        self._cache = cache.global_test_run_cache_manager
        self._lock = run.portalocker
        self._path = Path(self._manager.temp_file_path).absolute()  # a test may change directory
        self._update = self._manager.update_test_run
        self._save_run = _Deferred(self._write_run)
        save = self._cache.save_cached_test_run
        self._save_cache = {temp: _Deferred(functools.partial(save, to_temp=temp)) for temp in (False, True)}

        self._settings = settings
        self._fingerprint = _Fingerprint(settings._calc_env_fingerprint, key_file)  # noqa: SLF001
        settings._calc_env_fingerprint = self._fingerprint  # noqa: SLF001

        # Without a lock DeepEval believes that it may not write, and keeps the test run in memory.
        run.portalocker = None
        self._manager.update_test_run = self._add
        self._cache.save_cached_test_run = self._cached

    def _add(self, api_test_case: Any, test_case: Any) -> None:
        # Through the file, a case would stop sharing objects with the test, which may change them later.
        body = api_test_case.model_dump(by_alias=True, exclude_none=True)
        copy = type(api_test_case)(**json.loads(json.dumps(body, cls=self._run.TestRunEncoder)))
        self._update(copy, test_case)
        self._save_run()

    def _cached(self, to_temp: bool = False) -> None:
        self._save_cache[to_temp]()

    def _write_run(self) -> None:
        try:
            with self._lock.Lock(str(self._path), mode="w") as file:
                self._manager.test_run.save(file)
        except self._lock.exceptions.LockException:
            pass  # as DeepEval does; the writing at the end is still to come

    def release(self) -> None:
        """Give DeepEval its own ways back, and let it write what it has in memory."""
        self._run.portalocker = self._lock
        del self._manager.update_test_run, self._cache.save_cached_test_run
        self._settings._calc_env_fingerprint = self._fingerprint.take  # noqa: SLF001
        for save in self._save_cache.values():
            save.finish()
        if self._manager.test_run is not None:
            self._manager.save_test_run(self._manager.temp_file_path)


_held: list[_Held] = []


def keep_in_memory(config: pytest.Config) -> bool:
    """Keep the test run of `deepeval test run` in memory until pytest is done.

    To be called once DeepEval's plugin has started the run, which is when its files exist. Nothing
    happens in a run that `deepeval test run` did not start, or that several processes share. A
    DeepEval that this module does not know is left alone too, and one line says so.

    Args:
        config: The session's configuration. `write_once` is added to what it does on its way out.

    Returns:
        Whether the run is now kept in memory.
    """
    # Asked of sys.modules, so that a run without DeepEval does not pay for its import.
    run, cache = sys.modules.get(_RUN), sys.modules.get(_CACHE)
    if _COMMAND not in sys.modules or run is None or cache is None or _held or _is_shared(config):
        return False
    if unknown := _unknown():
        sys.stderr.write(
            f"ludic: leaves the test run to DeepEval, whose time grows with the square of the cases: {unknown}\n"
        )
        return False
    # No lock: DeepEval was told not to write. No run: its plugin was shut out.
    if run.portalocker is None or run.global_test_run_manager.test_run is None:
        return False
    settings, constants = sys.modules[_SETTINGS], sys.modules[_CONSTANTS]
    _held.append(_Held(run, cache, settings, Path(constants.HIDDEN_DIR, constants.KEY_FILE)))
    config.add_cleanup(write_once)
    return True


def write_once() -> None:
    """Write what was kept in memory, if anything was, and leave DeepEval as it was found."""
    while _held:
        _held.pop().release()


def _is_shared(config: pytest.Config) -> bool:
    """Return whether pytest-xdist or pytest-forked runs the cases in processes of their own."""
    by_xdist = hasattr(config, "workerinput") or config.getoption("dist", "no") != "no"
    return by_xdist or bool(config.getoption("forked", False))


def _unknown() -> str:
    """Return what there is about DeepEval that this module does not know, or nothing."""
    version = str(getattr(sys.modules["deepeval"], "__version__", "of no version"))
    if not version.startswith(_RELEASE):
        return f"this is DeepEval {version}, and only {_RELEASE}x is known here"
    for module, names in _USED.items():
        for name in names:
            found: object = sys.modules.get(module)
            for part in name.split("."):
                found = getattr(found, part, ...)
            if found is ...:
                return f"DeepEval {version} has no {module}.{name}"
    return ""


@pytest.hookimpl(trylast=True)  # after DeepEval's, which starts the run and writes its first file
def pytest_sessionstart(session: pytest.Session) -> None:
    """Keep the run in memory where that can be done."""
    keep_in_memory(session.config)
