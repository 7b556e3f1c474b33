"""The triad judged by a model, over any `ChatModel`, in strict JSON: nothing of an answer is mended, and nothing is evaluated.

Statements are split here, by `statements.split`, and asked about a dozen at a time; each has one verdict and one reason. An answer
that cannot be used is asked for once more; if that cannot be used either, what was asked is `Unscored` (`model`), never 0. A
server that is not there, a model that there is not and a key that is not accepted raise `ModelError`, since every other question
would end the same way.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, TypeVar

from ludic_deepeval.errors import ModelError, clean, shown
from ludic_deepeval.llm.budget import Meter
from ludic_deepeval.llm.client import ChatModel, Request, unscored
from ludic_deepeval.llm.loop import run
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from ludic_deepeval.prompts import Prompt, load_prompt
from trulens_feedback.retrieval import Chunk
from trulens_feedback.setting import Setting
from trulens_feedback.statements import Background, Statement
from trulens_feedback.triad import Rated, Verdict

FOLDER: Final = Path(__file__).parent / "prompts"
BATCH: Final = 12  # statements a call: a long list makes small models lose count
TOP: Final = 3  # the best rating
_ANSWER: Final = 4_000
_REASON: Final = 400
_USELESS: Final = frozenset({"malformed", "empty", "truncated"})
_ENDS_ALL: Final = frozenset({"budget", "unrecorded"})
_STANDINGS: Final = ("private", "supported", "contradicted", "unsupported")

T = TypeVar("T")


class ModelJudge:
    """Judges by asking a model.

    Args:
        model: Who is asked.
        meter: What may be spent.
        temperature: None takes the server's own.
        seed: The model's seed; None takes none.
        repetition: Which of several askings this is; each is recorded apart.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        meter: Meter | None = None,
        temperature: float | None = 0.0,
        seed: int | None = 0,
        repetition: int = 1,
    ) -> None:
        self._model = model
        self._meter = meter
        self._temperature = temperature
        self._seed = seed
        self._repetition = repetition

    @property
    def name(self) -> str:
        """`provider:model`."""
        return self._model.name

    def relevance(self, query: str, chunks: Sequence[Chunk], setting: Setting) -> Outcome[tuple[Rated, ...]]:
        """Rate every chunk, 0 to 3 in thirds, in one call."""
        del setting
        lines = _lines([{"number": at, "passage": chunk.text} for at, chunk in enumerate(chunks, start=1)])
        return self._usable(
            load_prompt("context", folder=FOLDER),
            {"query": query, "chunks": lines},
            _listed("ratings", {"number": _WHOLE, "rating": _RATING, "reason": _TEXT}, len(chunks)),
            lambda answer: tuple(
                _rated(one, f"ratings[{at}]")
                for at, one in enumerate(_numbered(answer, "ratings", len(chunks), _RATED))
            ),
        )

    def verdicts(
        self,
        statements: Sequence[Statement],
        chunks: Sequence[Chunk],
        setting: Setting,
        background: Background,
    ) -> Outcome[tuple[Verdict, ...]]:
        """Judge every statement, a dozen a call; all or none are judged."""
        del setting, background
        found: list[Verdict] = []
        for first in range(0, len(statements), BATCH):
            part = self._batch(statements[first : first + BATCH], chunks)
            if isinstance(part, Unscored):
                return part
            found += part.value
        return Scored(tuple(found))

    def _batch(
        self, statements: Sequence[Statement], chunks: Sequence[Chunk]
    ) -> Outcome[tuple[Verdict, ...]]:
        ids = [chunk.id for chunk in chunks]
        fields = {
            "number": _WHOLE,
            "standing": {"type": "string", "enum": list(_STANDINGS)},
            "chunk": {"enum": [*ids, None]},
            "opens": {"type": "boolean"},
            "reason": _TEXT,
        }
        return self._usable(
            load_prompt("groundedness", folder=FOLDER),
            {
                "chunks": _lines([{"id": chunk.id, "passage": chunk.text} for chunk in chunks])
                or "(none was found)",
                "statements": _lines(
                    [{"number": at, "statement": one.text} for at, one in enumerate(statements, start=1)]
                ),
            },
            _listed("statements", fields, len(statements)),
            lambda answer: tuple(
                _verdict(one, frozenset(ids), f"statements[{at}]")
                for at, one in enumerate(_numbered(answer, "statements", len(statements), frozenset(fields)))
            ),
        )

    def fulfilment(self, request: str, prose: str) -> Outcome[Rated]:
        """Rate the prose, 0 to 3 in thirds."""
        schema = _object({"rating": _RATING, "reason": _TEXT})
        return self._usable(
            load_prompt("answer", folder=FOLDER),
            {"request": request, "prose": prose},
            schema,
            lambda answer: _rated(
                _fields(answer, frozenset({"rating", "reason"}), "the answer"), "the answer"
            ),
        )

    def _usable(
        self, prompt: Prompt, values: Mapping[str, str], schema: Mapping[str, Any], read: Callable[[Any], T]
    ) -> Outcome[T]:
        """Ask, and once more where the answer cannot be used."""
        again = ""
        why = ""
        for _ in range(2):
            request = Request(
                prompt=prompt.render(**values, again=again),
                system=prompt.system,
                schema=schema,
                temperature=self._temperature,
                seed=self._seed,
                max_tokens=_ANSWER,
                repetition=self._repetition,
            )
            try:
                return Scored(read(run(self._model.ask(request, self._meter)).json()))
            except _UnusableError as error:
                why = str(error)
            except ModelError as error:
                if error.for_all or error.kind in _ENDS_ALL:
                    raise
                if error.kind not in _USELESS:
                    return unscored(error)
                why = error.found
            again = f"\nYour last answer could not be used: {clean(why, limit=300)}. Answer anew, whole.\n"
        return Unscored(
            "model", f"{self.name} gave no usable answer when asked twice: {clean(why, limit=300)}"
        )


class _UnusableError(Exception):
    """JSON that is no answer to what was asked."""


_WHOLE: Final = {"type": "integer"}
_RATING: Final = {"type": "integer", "enum": list(range(TOP + 1))}
_TEXT: Final = {"type": "string"}
_RATED: Final = frozenset({"number", "rating", "reason"})


def _object(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def _listed(name: str, fields: Mapping[str, Any], count: int) -> dict[str, Any]:
    return _object({name: {"type": "array", "items": _object(fields), "minItems": count, "maxItems": count}})


def _lines(rows: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def _fields(value: Any, names: frozenset[str], where: str) -> dict[str, Any]:
    if not isinstance(value, dict) or value.keys() != names:
        found = ", ".join(map(str, value)) if isinstance(value, dict) else shown(value)
        raise _UnusableError(f"{where}: found {clean(found)}; wanted {', '.join(sorted(names))}")
    return value


def _numbered(answer: Any, name: str, count: int, names: frozenset[str]) -> list[dict[str, Any]]:
    """The entries of a list in the order of their numbers, which must be 1 to `count`, each once."""
    rows = _fields(answer, frozenset({name}), "the answer")[name]
    if not isinstance(rows, list):
        raise _UnusableError(f"{name}: found {shown(rows)}; wanted a list")
    entries = [_fields(row, names, f"{name}[{at}]") for at, row in enumerate(rows)]
    numbers = [entry["number"] for entry in entries]
    if any(type(number) is not int for number in numbers) or sorted(numbers) != list(range(1, count + 1)):
        raise _UnusableError(f"{name}: wanted each number from 1 to {count} once")
    return sorted(entries, key=lambda entry: entry["number"])


def _reason(entry: Mapping[str, Any], where: str) -> str:
    reason = entry["reason"]
    if not isinstance(reason, str) or not reason.strip():
        raise _UnusableError(f"{where}.reason: found {shown(reason)}; wanted a short text")
    return clean(" ".join(reason.split()), limit=_REASON)


def _rated(entry: Mapping[str, Any], where: str) -> Rated:
    rating = entry["rating"]
    if type(rating) is not int or not 0 <= rating <= TOP:  # true is no rating, and 2.0 is none
        raise _UnusableError(f"{where}.rating: found {shown(rating)}; wanted a whole number from 0 to {TOP}")
    return Rated(Fraction(rating, TOP), _reason(entry, where))


def _verdict(entry: Mapping[str, Any], ids: frozenset[str], where: str) -> Verdict:
    standing, chunk, opens = entry["standing"], entry["chunk"], entry["opens"]
    if standing not in _STANDINGS:
        raise _UnusableError(
            f"{where}.standing: found {shown(standing)}; wanted one of {', '.join(_STANDINGS)}"
        )
    if not isinstance(opens, bool):
        raise _UnusableError(f"{where}.opens: found {shown(opens)}; wanted true or false")
    if chunk is not None and (not isinstance(chunk, str) or chunk not in ids):
        raise _UnusableError(f"{where}.chunk: found {shown(chunk)}; wanted the id of a passage, or null")
    if standing in {"supported", "contradicted"} and chunk is None:
        raise _UnusableError(f"{where}.chunk: found nothing; wanted the passage by which it is {standing}")
    rests = chunk if standing in {"supported", "contradicted"} else None
    return Verdict(standing, rests, _reason(entry, where), opens=opens)
