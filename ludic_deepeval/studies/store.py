"""The store of a study: a folder with the sidecar, the log of amendments, and one line of JSON for each trial.

    study.json         what was frozen (see `frozen`)
    log.jsonl          amendments and deviations, dated
    trials.jsonl       one line a trial, only ever appended, on the disk before the next trial is told as done
    trials/…           drafts and lockfiles of each trial, as `ludic generate` keeps them

A line is written in one piece and synced. What a kill leaves of a line that was not whole is cut off when the store is opened
next, so at most the trials that were under way are lost, and none is there twice.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, TypeAlias

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import dump_json, make_folder, read_bytes, write_atomic
from ludic_deepeval.ledger import Frozen, Text, load_model
from ludic_deepeval.studies.frozen import Sidecar, load_sidecar

SIDECAR: Final = "study.json"
LOG: Final = "log.jsonl"
TRIALS: Final = "trials.jsonl"
FOLDERS: Final = "trials"
LOCK: Final = ".lock"
MOST_BYTES: Final = 4 * 1024**3

Line: TypeAlias = dict[str, Any]


class Entry(Frozen):
    """An amendment or a deviation.

    Attributes:
        kind: `amendment`: what was set was changed, before the first trial was kept. `deviation`: something was not as it was set.
        date: When, in UTC.
        reason: Why, in the words of whoever did it.
        changes: What differs, a line for each place.
        trials: How many trials were kept then; 0 for every amendment.
    """

    kind: Literal["amendment", "deviation"]
    date: Text
    reason: Text
    changes: tuple[str, ...] = ()
    trials: int = 0


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Store:
    """A study's folder.

    Args:
        path: The folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def exists(self) -> bool:
        """Whether a study was begun here."""
        return (self.path / SIDECAR).is_file()

    def begin(self, sidecar: Sidecar) -> None:
        """Make the folder and freeze what was set.

        Raises:
            InputError: There is something else in the folder.
        """
        make_folder(self.path)
        others = [one.name for one in self.path.iterdir() if one.name != LOCK and not _is_leftover(one)]
        if others:
            raise InputError(
                self.path,
                f"there is something else in it ({clean(others[0])})",
                allowed="a new or empty folder",
            )
        self._freeze(sidecar)

    def _freeze(self, sidecar: Sidecar) -> None:
        write_atomic(self.path / SIDECAR, dump_json(sidecar.model_dump(mode="json")))
        _sync(self.path / SIDECAR)

    def sidecar(self) -> Sidecar:
        """What was frozen.

        Raises:
            InputError: No study was begun here.
        """
        file = self.path / SIDECAR
        if not file.is_file():
            raise InputError(self.path, "no study here", allowed="the folder of `ludic study run`")
        return load_sidecar(read_bytes(file, limit=64 * 1024**2), file)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the store; the system lets go of it when the process ends, however it ends.

        Raises:
            InputError: Another process holds it, or nothing can be written there.
        """
        make_folder(self.path)
        with _opened(self.path / LOCK, "ab", "written") as lock:
            if not _lock(lock.fileno()):
                raise InputError(
                    self.path, "another run is writing to this store", allowed="one run at a time"
                )
            yield

    # The log

    def log(self) -> tuple[Entry, ...]:
        """Every amendment and deviation, in order."""
        file = self.path / LOG
        return tuple(load_model(Entry, line, file) for line in _complete(file)) if file.exists() else ()

    def amend(self, sidecar: Sidecar, reason: str, changes: tuple[str, ...]) -> Entry:
        """Change what is frozen, before the first trial is kept.

        Raises:
            InputError: A trial is kept already.
        """
        kept = sum(1 for _ in self.lines())
        if kept:
            raise InputError(
                self.path,
                f"{kept} {'trial is' if kept == 1 else 'trials are'} kept already",
                allowed="amendments before the first outcome",
                hint="begin another study, or note it as what it is: --deviation",
            )
        entry = Entry(kind="amendment", date=now(), reason=reason, changes=changes)
        last = self.log()[-1:]
        if last and (last[0].kind, last[0].changes) == (entry.kind, changes):
            entry = last[0]  # a kill came between the two writes: it is on record already
        else:
            self._append(LOG, entry.model_dump(mode="json"))
        self._freeze(sidecar)
        return entry

    def deviate(self, reason: str, changes: tuple[str, ...] = ()) -> Entry:
        """Note that something was not as it was set."""
        entry = Entry(
            kind="deviation", date=now(), reason=reason, changes=changes, trials=sum(1 for _ in self.lines())
        )
        self._append(LOG, entry.model_dump(mode="json"))
        return entry

    # The trials

    def lines(self) -> Iterator[tuple[int, Line]]:
        """Every whole line with its number, from 1.

        Raises:
            InputError: A line that is no trial of a store, or a trial that is there twice.
        """
        file = self.path / TRIALS
        seen: dict[str, int] = {}
        for number, raw in enumerate(_complete(file), start=1):
            line = _trial(raw, file, number)
            first = seen.setdefault(line["trial"], number)
            if first != number:
                raise InputError(
                    file,
                    f"the trial {clean(line['trial'], limit=200)} is also on line {first}",
                    where=f"line {number}",
                )
            yield number, line

    def done(self) -> set[str]:
        """The names of the trials that are kept."""
        return {line["trial"] for _, line in self.lines()}

    def mend(self) -> int:
        """Cut off what a kill left of a line that was not whole; return how many bytes went.

        A last line that only lacks its end is whole and gets it.
        """
        return max(_mended(self.path / TRIALS), _mended(self.path / LOG))

    def append(self, line: Line) -> None:
        """Keep a trial: one line, on the disk when this returns."""
        self._append(TRIALS, line)

    def _append(self, name: str, value: dict[str, Any]) -> None:
        data = (json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n").encode("utf-8")
        file = self.path / name
        fresh = not file.exists()
        try:
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
            try:
                while data:
                    data = data[os.write(handle, data) :]
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise InputError(
                file, f"cannot be written ({error.strerror or 'input or output error'})"
            ) from None
        if fresh:
            _sync(self.path)

    def trial_folder(self, name: str) -> Path:
        """Where the drafts of a trial are kept; what a kill left half written there is swept out."""
        folder = self.path / FOLDERS / name
        make_folder(folder.parent)
        if folder.is_dir():
            for one in folder.iterdir():
                if _is_leftover(one):
                    one.unlink(missing_ok=True)
        return folder


def _is_leftover(path: Path) -> bool:
    """A file that `write_atomic` had not given its name yet."""
    return path.name.startswith(".") and path.name.endswith(".tmp")


def _trial(raw: bytes, file: Path, number: int) -> Line:
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        line = None
    if not isinstance(line, dict) or not isinstance(line.get("trial"), str):
        raise InputError(
            file, "no trial of a study", where=f"line {number}", hint="a store is not edited: restore it"
        )
    return line


def _complete(file: Path) -> Iterator[bytes]:
    """The lines of a file that end; a last one without its end counts when it is whole."""
    if not file.exists():
        return
    with _opened(file, "rb", "read") as stream:
        if file.stat().st_size > MOST_BYTES:
            raise InputError(file, f"larger than {MOST_BYTES // 1024**3} GiB", allowed="a store of a study")
        for raw in stream:
            if raw.endswith(b"\n") or _is_whole(raw):
                yield raw


def _opened(file: Path, mode: Literal["rb", "r+b", "ab"], what: str) -> BinaryIO:
    """Open a file of the store, which may be another user's."""
    try:
        return file.open(mode)
    except OSError as error:
        raise InputError(file, f"cannot be {what} ({error.strerror or 'input or output error'})") from None


def _is_whole(raw: bytes) -> bool:
    try:
        return isinstance(json.loads(raw), dict)
    except (ValueError, RecursionError):
        return False


def _mended(file: Path) -> int:
    if not file.exists() or file.stat().st_size == 0:
        return 0
    with _opened(file, "r+b", "written") as stream:
        size = stream.seek(0, os.SEEK_END)
        start = _last_line(stream.fileno(), size)
        stream.seek(start)
        tail = stream.read()
        if not tail:
            return 0
        if _is_whole(tail):
            stream.write(b"\n")
            lost = 0
        else:
            stream.truncate(start)
            lost = len(tail)
        stream.flush()
        os.fsync(stream.fileno())
    return lost


def _last_line(handle: int, size: int) -> int:
    """Where what comes after the last line break begins."""
    at = size
    while at > 0:
        begin = max(0, at - 65536)
        os.lseek(handle, begin, os.SEEK_SET)
        found = os.read(handle, at - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        at = begin
    return 0


def _sync(path: Path) -> None:
    """Have a file, or a folder's list of files, on the disk; Windows cannot do that to a folder, and does not need it."""
    if path.is_dir() and sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        pass  # some network file systems refuse
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
