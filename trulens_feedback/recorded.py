"""What is to be replayed: a record with its steps and its figures, bounded and fit for any database. Pure: no TruLens."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, Literal, TypeAlias

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import dump_json
from trulens_feedback.figures import Figure

MOST_TEXT: Final = 200_000  # characters of one value
MOST_NAME: Final = 200  # TruLens keeps names in 256
MOST_ATTRIBUTES: Final = (
    100  # of a span; OpenTelemetry drops the oldest beyond 128, and TruLens then the span
)
_UNFIT: Final = re.compile("[\x00\ud800-\udfff]")  # PostgreSQL refuses to read JSON that holds one

StepKind: TypeAlias = Literal["retrieval", "generation", "unknown"]


@dataclass(frozen=True)
class Step:
    """One step of a record: a span in TruLens.

    Attributes:
        name: What was done: retrieve, generate, extract, score, gate.
        given: What it was given, by name.
        gave: What came of it.
        kind: Retrieval, generation, or neither.
        notes: What a reader may want to know of it, by name.
    """

    name: str
    given: Mapping[str, Any] = field(default_factory=dict)
    gave: Any = ""
    kind: StepKind = "unknown"
    notes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Recorded:
    """One record: what was asked, what came of it, the steps between, and how it measures.

    Attributes:
        app: The app in TruLens: what kind of thing it is.
        version: Its version: what is compared within one app.
        id: What people call the record.
        asked: Its input.
        said: Its output.
        figures: Its figures, the unmeasured among them.
        steps: What was done, in order.
        notes: What else is known of it.
        ended: When it was made; None when nobody knows: TruLens is then told when it was recorded.
        seconds: How long it took.
        failed: Why it came to nothing, if it did.
    """

    app: str
    version: str
    id: str
    asked: str
    said: str
    figures: tuple[Figure, ...]
    steps: tuple[Step, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)
    ended: datetime | None = None
    seconds: float = 0.0
    failed: str = ""

    def __post_init__(self) -> None:
        """Refuse a record that would be lost or would spoil the others.

        Raises:
            InputError: Two figures of one name, too many notes, or a number that is not finite.
        """
        names = [one.name for one in self.figures]
        if len(names) > len(set(names)):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(self.id, f"the figure {twice} is there twice", allowed="each once")
        for where, notes in self._mappings():
            if len(notes) > MOST_ATTRIBUTES:
                raise InputError(
                    self.id,
                    f"{len(notes)} attributes",
                    where=where,
                    allowed=f"at most {MOST_ATTRIBUTES}: TruLens drops a span with more than 128",
                )
            for name, value in notes.items():
                require_finite(self.id, f"{where}.{name}", value)
        if not math.isfinite(self.seconds) or self.seconds < 0:
            raise InputError(self.id, f"found {self.seconds}", where="seconds", allowed="at least 0")

    def _mappings(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        yield "notes", self.notes
        for step in self.steps:
            yield f"{step.name}.notes", step.notes
            yield f"{step.name}.given", {**step.given, "return": step.gave}

    @property
    def digest(self) -> str:
        """The hash of all of it but its figures: the same thing recorded twice is one record."""
        told = {
            "app": self.app,
            "version": self.version,
            "id": self.id,
            "asked": self.asked,
            "said": self.said,
            "steps": [[one.name, one.kind, dict(one.given), one.gave, dict(one.notes)] for one in self.steps],
            "notes": dict(self.notes),
            "ended": self.ended.isoformat() if self.ended else None,
            "failed": self.failed,
        }
        return sha256(dump_json(fit(told)).encode()).hexdigest()


def require_finite(file: object, where: str, value: Any, depth: int = 0) -> None:
    """Refuse NaN and infinity, however deep they stand.

    Raises:
        InputError: There is one, or a value nested too deep.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(file, f"found {value}", where=where, allowed="a finite number")
    if depth > 60:
        raise InputError(file, "nested too deep", where=where, allowed="at most 60 levels")
    if isinstance(value, Mapping):
        for name, inner in value.items():
            require_finite(file, f"{where}.{clean(str(name))}", inner, depth + 1)
    elif isinstance(value, list | tuple):
        for at, inner in enumerate(value):
            require_finite(file, f"{where}[{at}]", inner, depth + 1)


def fit(value: Any) -> Any:
    """Return a value that every database can keep and read: no NUL, no half of a surrogate pair, bounded texts."""
    if isinstance(value, str):
        text = _UNFIT.sub("�", value)
        return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}… (cut: {len(text):,} characters)"
    if isinstance(value, Mapping):
        return {fit(str(name)): fit(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [fit(inner) for inner in value]
    return value


def flat(value: Any) -> str | bool | int | float | list[str]:
    """Return a value as a span's attribute holds it: what is nested becomes JSON."""
    value = fit(value)
    if isinstance(value, str | bool | int | float):
        return value
    if value is None:
        return ""
    if isinstance(value, Sequence) and all(isinstance(one, str) for one in value):
        return list(value)
    return fit(dump_json(value))  # type: ignore[no-any-return]  # a text stays one


def short_name(text: str) -> str:
    """Return a name that TruLens's columns hold; of a longer one the end becomes its hash."""
    plain = clean(text, limit=10_000).strip() or "unnamed"
    if len(plain) <= MOST_NAME:
        return plain
    return f"{plain[: MOST_NAME - 10]}…{sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"
