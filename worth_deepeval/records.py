"""The record of a run: one line of JSON in `runs.jsonl`, written when the run has ended and never changed (WORTH §4.6, A.3).

A file of records only grows. Each line is written at once and forced to the disk; a last line that a kill has torn is
told by its missing end and is no record. A model's failure to answer is a record of its own and no reply: it can be
tried again, and the reply that comes of it stands beside it.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, BinaryIO, Final, Literal, Self, TypeAlias

from pydantic import Field, StringConstraints, ValidationError, model_validator

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import dump_json
from worth_deepeval.episode import Frozen

FILE: Final = "runs.jsonl"
MAX_LINE: Final = 64 * 1024 * 1024
_DAY: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"

Day: TypeAlias = Annotated[str, StringConstraints(pattern=_DAY)]
Word: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Switch: TypeAlias = Literal["off", "on", "unknown"]
Count: TypeAlias = Annotated[int, Field(strict=True, ge=0)]


class EpisodeMark(Frozen):
    """Which story was read: its id and version, the hash of all that its readers get, and when it could first be read."""

    id: Word
    version: Word
    sha256: Word
    released: str | None = None


class PromptMark(Frozen):
    """What was sent: the hash of the whole prompt, and the cell of the design that it belongs to."""

    sha256: Word
    version: Count | None = None
    condition: Word
    modification: Word = "none"
    rewrite: Word = "none"


class Access(Frozen):
    """Who was asked and how (A.3): the configured and the executed model and tier, and the interface."""

    model: Word
    executed: Word | None = None
    interface: Word
    tier_configured: Word | None = None
    tier_executed: Word | None = None
    client: Word | None = None


class Settings(Frozen):
    """What a product may add to a prompt, and whether it could."""

    conversation: Literal["fresh", "continued", "unknown"] = "unknown"
    memory: Switch = "unknown"
    personalization: Switch = "unknown"
    search: Switch = "unknown"
    tools: Switch = "unknown"


ALL_OFF: Final = Settings(
    conversation="fresh", memory="off", personalization="off", search="off", tools="off"
)


class Options(Frozen):
    """What was asked of the sampler; null is the server's own."""

    temperature: float | None = None
    seed: Annotated[int, Field(strict=True)] | None = None
    max_tokens: Count | None = None
    ignored: tuple[str, ...] = ()


class Window(Frozen):
    """From which day to which a run was made."""

    first: Day
    last: Day


class Usage(Frozen):
    """Tokens, as the server counted them; null where it did not say."""

    read: Count | None = None
    written: Count | None = None
    cached: Count = 0


class Failure(Frozen):
    """Why there is no reply."""

    kind: Word
    message: str


class RunRecord(Frozen):
    """One run: what was asked of whom, and the raw reply or why there is none.

    Attributes:
        key: What tells the run from every other one (see `run_key`).
        by: Whether a model, a script or a person wrote the reply.
        formal: Whether it counts; False is exploratory.
        repetition: 1 for the first time that this was asked.
        ended: When the reply had come, in UTC.
        stop: Why the reply ended.
        requests: How many were sent for it.
        replayed: Whether it comes from a recording.
        text: The raw reply, as the server gave it.
        thinking: What the server gave as thinking, apart.
        failure: Why there is no reply.
    """

    schema_version: Literal[1] = 1
    key: Word
    episode: EpisodeMark
    prompt: PromptMark
    access: Access
    settings: Settings
    options: Options = Options()
    by: Literal["model", "scripted", "hand-written"]
    formal: bool
    repetition: Annotated[int, Field(strict=True, ge=1)]
    tested: Window
    ended: str | None = None
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    usage: Usage = Usage()
    stop: Literal["end", "length", "context", "refusal", "other"] | None = None
    requests: Count = 1
    replayed: bool = False
    text: str | None = None
    thinking: str = ""
    failure: Failure | None = None
    note: str | None = None

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.text is None) == (self.failure is None):
            raise ValueError("a run has either a text or a failure")
        return self

    @property
    def name(self) -> str:
        """What people call it: model, condition, repetition."""
        return f"{self.access.model}, {self.condition}, run {self.repetition}"

    @property
    def condition(self) -> str:
        """Under which condition, modification and rewrite, for people."""
        design = [self.prompt.condition]
        design += [] if self.prompt.modification == "none" else [f"modification {self.prompt.modification}"]
        design += [] if self.prompt.rewrite == "none" else [f"rewrite {self.prompt.rewrite}"]
        return ", ".join(design)


def run_key(
    episode: EpisodeMark, prompt: PromptMark, access: Access, options: Options, repetition: int
) -> str:
    """What tells a run from every other one: story, prompt, model, interface, tiers, options and repetition.

    Not the client's version, nor what the server said of itself: a run that is resumed after an update is the same run.
    """
    decides = {
        "episode": [episode.id, episode.version, episode.sha256],
        "prompt": [prompt.sha256, prompt.condition, prompt.modification, prompt.rewrite],
        "access": [access.model, access.interface, access.tier_configured, access.tier_executed],
        "options": [options.temperature, options.seed, options.max_tokens],
        "repetition": repetition,
    }
    return sha256(dump_json(decides).encode("utf-8")).hexdigest()[:32]


def records_file(path: Path) -> Path:
    """The file of records that is meant by a path: the file itself, or `runs.jsonl` in a folder."""
    return path / FILE if path.is_dir() else path


def read_records(path: Path) -> tuple[RunRecord, ...]:
    """Read all records of a file or folder, failures among them, in the order in which they were written.

    A last line that is torn is left out.

    Raises:
        InputError: No such file, or a line that is no record.
    """
    file = records_file(path)
    try:
        with file.open("rb") as stream:
            return tuple(_read(stream, file))
    except FileNotFoundError:
        raise InputError(file, "no such file", hint="worth run and worth import-run make one") from None
    except OSError as error:
        raise InputError(file, f"cannot be read ({error.strerror or 'input or output error'})") from None


def _read(stream: BinaryIO, file: Path) -> Iterator[RunRecord]:
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise InputError(file, f"longer than {MAX_LINE // 1024 // 1024} MB", where=f"line {number}")
        try:
            yield RunRecord.model_validate_json(line)
        except ValidationError as error:
            if not line.endswith(b"\n"):
                return  # torn
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(
                file,
                f"no record of a run: {clean(str(first['msg']), limit=160)}",
                where=f"line {number}" + (f": {clean(place)}" if place else ""),
                allowed="a line of worth run or worth import-run",
            ) from None


def settled(records: Iterable[RunRecord]) -> dict[str, RunRecord]:
    """What stands of each run: its first reply, or where there is none the last failure."""
    found: dict[str, RunRecord] = {}
    for one in records:
        before = found.get(one.key)
        if before is None or before.failure is not None:
            found[one.key] = one
    return found


@dataclass(frozen=True)
class Writer:
    """What adds records to a file that is held open.

    Attributes:
        found: What was in it when it was opened.
        stream: The file.
    """

    found: tuple[RunRecord, ...]
    stream: BinaryIO

    def add(self, record: RunRecord) -> None:
        """Write a record; when this returns, it outlives the program and the machine's power."""
        try:
            self.stream.write((record.model_dump_json() + "\n").encode("utf-8"))
            self.stream.flush()
            os.fsync(self.stream.fileno())
        except OSError as error:
            raise InputError(FILE, f"cannot be written ({error.strerror or 'output error'})") from None


@contextmanager
def writing(folder: Path) -> Iterator[Writer]:
    """Open a folder's records for adding to them, and mend a last line that was torn.

    Raises:
        InputError: Another program is adding to them, or they cannot be read or written.
    """
    file = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = file.open("a+b")
    except OSError as error:
        raise InputError(file, f"cannot be written ({error.strerror or 'input or output error'})") from None
    with stream:
        _lock(stream, file)
        stream.seek(0)
        found = tuple(_read(stream, file))
        _mend(stream)
        yield Writer(found, stream)


def _mend(stream: BinaryIO) -> None:
    """End a last line that is whole but for its end, and cut off one that is torn."""
    size = stream.seek(0, os.SEEK_END)
    tail, at = b"", size
    while at > 0 and b"\n" not in tail:
        step = min(at, 64 * 1024)
        at = stream.seek(at - step)
        tail = stream.read(step) + tail
    line = tail[tail.rfind(b"\n") + 1 :]
    if not line:
        return
    try:
        RunRecord.model_validate_json(line)
    except ValidationError:
        stream.truncate(size - len(line))
        stream.seek(0, os.SEEK_END)
    else:
        stream.write(b"\n")
        stream.flush()


def _lock(stream: BinaryIO, file: Path) -> None:
    """Hold the file for this program alone, where the system can; a kill lets it go."""
    try:
        import fcntl  # noqa: PLC0415  # Windows has none
    except ImportError:
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError(file, "another program is adding runs to it", hint="wait for it to end") from None


def read_window(text: str) -> Window:
    """Read a day, or two with a slash or "to" between them, as A.3 writes test windows.

    Raises:
        InputError: It is neither.
    """
    from datetime import date  # noqa: PLC0415  # reading records needs none

    days = [one.strip() for one in re.split(r"/|\bto\b", text)]
    try:
        parsed = [date.fromisoformat(one) for one in days]
    except ValueError:
        parsed = []
    if not 1 <= len(parsed) <= 2 or parsed[0] > parsed[-1] or any(len(one) != 10 for one in days):
        raise InputError("--tested", f"found '{clean(text)}'", allowed="2026-08-30, or 2026-08-30/2026-08-31")
    return Window(first=days[0], last=days[-1])
