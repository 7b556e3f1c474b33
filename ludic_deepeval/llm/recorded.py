"""Answers that were given before: a folder of recordings, one JSON file for each answer.

A recording is found by the hash of all that decides an answer: model, prompt, system, schema, options, and the number of the
repetition, so that five runs replay as five. It says who gave the answer: `kind` is `model`, `scripted` or `hand-written`,
and travels with every replay, so that what a person wrote never passes as a model's. Recordings are only ever added, each
written whole or not at all, under a name that its request decides: two writers cannot undo each other's work.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ludic_deepeval.errors import InputError, ModelError, clean, shown
from ludic_deepeval.files import decode, dump_json, make_folder, read_bytes, write_atomic
from ludic_deepeval.llm.client import Completion, Kind, Model, Producer, Request, Stop, whole
from ludic_deepeval.llm.retry import Retry

if TYPE_CHECKING:
    from ludic_deepeval.llm.budget import Meter

_NAME_LENGTH: Final = 24


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Asked(_Part):
    """All that decides an answer; texts by their hash."""

    model: str
    prompt_sha256: str
    system_sha256: str
    schema_sha256: str | None
    temperature: float | None
    seed: int | None
    max_tokens: int
    repetition: int

    @property
    def key(self) -> str:
        return _sha256(json.dumps(self.model_dump(), sort_keys=True))


class _By(_Part):
    kind: Kind
    provider: str
    model: str
    client: str
    date: str


class _Given(_Part):
    text: str
    model: str
    stop: Stop
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int
    seconds: float
    thinking: str
    ignored: list[str]


class Recording(_Part):
    """One recorded answer: who gave it, to what, and what it was."""

    schema_version: Literal[1]
    key: str
    by: _By
    asked: _Asked
    answer: _Given

    def completion(self) -> Completion:
        """The answer as it was given."""
        given = self.answer.model_dump() | {"ignored": tuple(self.answer.ignored)}
        return Completion(**given, kind=self.by.kind, replayed=True, date=self.by.date)


def _sha256(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _asked(model: str, request: Request) -> _Asked:
    return _Asked(
        model=model,
        prompt_sha256=_sha256(request.prompt),
        system_sha256=_sha256(request.system),
        schema_sha256=_sha256(request.schema_text) if request.schema is not None else None,
        temperature=None if request.temperature is None else float(request.temperature),
        seed=request.seed,
        max_tokens=request.max_tokens,
        repetition=request.repetition,
    )


def request_key(model: str, request: Request) -> str:
    """A hash of a request and of who is asked: two that are the same in all that is asked have the same."""
    return _asked(model, request).key


class Recordings:
    """A folder of recordings.

    Args:
        folder: The folder; it need not exist before something is added.
        today: The date that new recordings bear.
    """

    def __init__(self, folder: Path, *, today: Callable[[], date] = lambda: datetime.now(UTC).date()) -> None:
        self.folder = folder
        self._today = today

    @cached_property
    def _known(self) -> dict[str, Recording]:
        return {one.key: one for one in map(_load, sorted(self.folder.glob("*.json")))}

    @property
    def models(self) -> tuple[str, ...]:
        """Whose answers are recorded, as `provider:model`."""
        return tuple(sorted({one.asked.model for one in self._known.values()}))

    def producer(self, model: str) -> Producer:
        """Who gave a model's answers; one that is not a model's tells for all of them."""
        found = [one.by for one in self._known.values() if one.asked.model == model]
        first = min(found, key=lambda by: (by.kind == "model", by.date, by.client))
        return Producer(first.kind, first.provider, first.model, first.client)

    def find(self, model: str, request: Request) -> Completion | None:
        """Return the recorded answer to a request, or None."""
        found = self._known.get(_asked(model, request).key)
        return found.completion() if found else None

    def add(self, producer: Producer, model: str, request: Request, completion: Completion) -> None:
        """Record an answer; one that is there already stays as it is."""
        asked = _asked(model, request)
        if asked.key in self._known:
            return
        given = {name: getattr(completion, name) for name in _Given.model_fields}
        one = Recording(
            schema_version=1,
            key=asked.key,
            by=_By(
                kind=producer.kind,
                provider=producer.provider,
                model=producer.model,
                client=producer.client,
                date=self._today().isoformat(),
            ),
            asked=asked,
            answer=_Given(
                **given | {"ignored": list(completion.ignored), "seconds": float(completion.seconds)}
            ),
        )
        make_folder(self.folder)
        write_atomic(self.folder / f"{asked.key[:_NAME_LENGTH]}.json", dump_json(one.model_dump()))
        self._known[asked.key] = one

    def why_missing(self, model: str, request: Request) -> str:
        """Say in what the nearest recording differs from a request that has none."""
        wanted = _asked(model, request).model_dump()
        nearest: list[str] | None = None
        for one in self._known.values():
            has = one.asked.model_dump()
            differs = [name for name in wanted if has[name] != wanted[name]]
            if has["model"] == model and (nearest is None or len(differs) < len(nearest)):
                nearest = differs
        if nearest is None:
            return "nothing of this model is recorded"
        return f"the nearest differs in {', '.join(name.removesuffix('_sha256') for name in nearest)}"


def _load(path: Path) -> Recording:
    try:
        one = Recording.model_validate(json.loads(decode(read_bytes(path), path)))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        found = "it is missing" if first["type"] == "missing" else f"found {shown(first['input'])}"
        raise InputError(
            path, found, where=clean(where), hint=f"no recording: {clean(first['msg'], limit=160)}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            path, f"not valid JSON: {clean(str(error), limit=160)}", hint="no recording"
        ) from None
    if one.key != one.asked.key or not one.key.startswith(path.stem):
        hint = "a recording is not edited: delete it and record it again"
        raise InputError(
            path, "this answers another request than its name and key say", where="key", hint=hint
        )
    return one


class RecordedModel(Model):
    """A model that says only what is recorded, costs nothing, and has the name of the model that said it.

    Args:
        folder: The recordings.
        model: Whose; may be left out when they are all of one model.
        command: The command that records what is missing, for the error.

    Raises:
        InputError: There is no such folder, it is empty, it holds answers of several models, or one cannot be read.
    """

    def __init__(self, folder: Path, model: str | None = None, *, command: str = "") -> None:
        self._recordings = Recordings(folder)
        if not folder.is_dir():
            raise InputError(
                folder,
                "no such folder of recordings",
                hint=_command(folder, model or "PROVIDER:MODEL", command),
            )
        models = self._recordings.models
        if not models or (model is None and len(models) > 1) or (model is not None and model not in models):
            found = f"recordings of {', '.join(models)}" if models else "no recordings"
            allowed = " or ".join(f"recorded:{folder}#{one}" for one in models)
            raise InputError(
                folder, found, allowed=allowed, hint=_command(folder, model or "PROVIDER:MODEL", command)
            )
        super().__init__(model or models[0], retry=Retry(attempts=1))
        self._command = command

    @property
    def producer(self) -> Producer:
        """Who gave the answers when they were recorded."""
        return self._recordings.producer(self.name)

    async def answer(self, request: Request) -> Completion:
        """Return what is recorded."""
        found = self._recordings.find(self.name, request)
        if found is not None:
            return found
        folder = self._recordings.folder
        why = self._recordings.why_missing(self.name, request)
        raise ModelError(
            "unrecorded",
            self.name,
            f"{folder} has no answer to this: {why}",
            hint=_command(folder, self.name, self._command),
        )

    async def ask(self, request: Request, meter: "Meter | None" = None) -> Completion:
        """Return what is recorded, at no cost; what was no whole answer is the same error again."""
        del meter
        return whole(await self.answer(request), request, self.name)


class RecordingModel(Model):
    """A model whose answers are recorded; what is recorded already is not asked again.

    Answers that were refused, cut off or empty are recorded too, and end the same way when they are replayed. Failures of a
    server or a network are not.

    Args:
        model: Who is asked.
        recordings: Where to.
    """

    def __init__(self, model: Model, recordings: Recordings) -> None:
        super().__init__(model.name, timeout=model.timeout, retry=model.retry)
        self._model = model
        self._recordings = recordings

    @property
    def producer(self) -> Producer:
        """Who gives the answers."""
        return self._model.producer

    async def answer(self, request: Request) -> Completion:
        """Ask, and record."""
        started = monotonic()
        completion = await self._model.answer(request)
        timed = replace(completion, seconds=round(monotonic() - started, 3))
        self._recordings.add(self.producer, self.name, request, timed)
        return completion

    async def ask(self, request: Request, meter: "Meter | None" = None) -> Completion:
        """Return what is recorded, or ask and record it."""
        found = self._recordings.find(self.name, request)
        if found is not None:
            return whole(found, request, self.name)
        return await super().ask(request, meter)

    async def aclose(self) -> None:
        """Close the model's connections."""
        await self._model.aclose()


def _command(folder: Path, model: str, command: str) -> str:
    return f"record it: {command or f'the same command with --model {model} --record {folder}'}"
