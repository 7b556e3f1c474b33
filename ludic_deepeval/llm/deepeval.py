"""The bridge to DeepEval, both ways: its models can be asked here, and any model here can judge there.

The only module of `llm` that imports DeepEval.
"""

import asyncio
import inspect
from collections.abc import Mapping
from typing import Any, Final

import deepeval.models  # noqa: TID251  # this module is the adapter
from deepeval.errors import DeepEvalError  # noqa: TID251
from deepeval.models import DeepEvalBaseLLM  # noqa: TID251
from pydantic import BaseModel, RootModel, ValidationError

from ludic_deepeval.errors import InputError, ModelError, clean
from ludic_deepeval.llm.budget import Meter
from ludic_deepeval.llm.client import TIMEOUT, ChatModel, Completion, Model, Request
from ludic_deepeval.llm.loop import arun, run
from ludic_deepeval.llm.retry import Retry
from ludic_deepeval.llm.servers import Server, client_version, whole_number

_OPTIONS: Final = ("temperature", "seed")


class FromDeepEval(Model):
    """A DeepEval model that can be asked here.

    DeepEval's models take a prompt and at most a schema: the fixed part is put before the prompt, the options are set when the
    model is made (they are named in `Completion.ignored`), and DeepEval's own retries are in force, so that one call counted
    here may be several requests. The schema is also put in words unless the model says that it enforces it.

    Args:
        model: The DeepEval model.
        name: `deepeval:…`, by default from the model's own name.
        timeout: Seconds for one answer, DeepEval's retries among them.
    """

    provider = "deepeval"

    def __init__(self, model: DeepEvalBaseLLM, *, name: str | None = None, timeout: float = TIMEOUT) -> None:
        super().__init__(
            name or f"deepeval:{model.get_model_name()}", timeout=timeout, retry=Retry(attempts=1)
        )
        self._model = model
        self._takes_schema = "schema" in inspect.signature(model.generate).parameters

    def client_version(self) -> str:
        """DeepEval and its version."""
        return client_version("deepeval")

    async def answer(self, request: Request) -> Completion:
        """Ask in a thread: a model's `a_generate` may well be its `generate`, which would hold up all others."""
        parts = [request.system, request.prompt]
        if request.schema is not None and not (
            self._takes_schema and self._model.supports_structured_outputs()
        ):
            parts.append(
                f"Answer with one JSON value and nothing else. It must fit this JSON Schema:\n{request.schema_text}"
            )
        prompt = "\n\n".join(filter(None, parts))
        options: dict[str, Any] = {}
        if request.schema is not None and self._takes_schema:
            options["schema"] = _shape(request.schema)
        try:
            result = await asyncio.to_thread(self._model.generate, prompt, **options)
        except Exception as error:  # noqa: BLE001  # whatever library DeepEval asks with
            failure = self._failure(error)
        else:
            return self._completion(result, request)
        raise failure

    def _completion(self, result: Any, request: Request) -> Completion:
        answer, cost = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
        if isinstance(answer, BaseModel):
            answer = answer.model_dump_json()
        if not isinstance(answer, str):
            raise ModelError("malformed", self.name, "DeepEval's model gave no text")
        return Completion(
            text=answer,
            model=str(self._model.get_model_name()),
            prompt_tokens=whole_number(getattr(cost, "input_tokens", None)),
            completion_tokens=whole_number(getattr(cost, "output_tokens", None)),
            ignored=tuple(name for name in _OPTIONS if getattr(request, name) is not None),
        )

    def _failure(self, error: Exception) -> ModelError:
        """What an error means, by its class and status; its words might hold a key."""
        server = Server(self.name, "the server that DeepEval asks", "see DeepEval's settings")
        status = getattr(error, "status_code", None)
        if isinstance(error, ModelError):
            return error
        if isinstance(status, int) and status >= 400:
            return server.status(status, "")
        if isinstance(error, TimeoutError):
            return ModelError("timed-out", self.name, "DeepEval got no answer in time")
        if isinstance(error, ValueError):  # pydantic's and json's errors are such
            return ModelError("malformed", self.name, "DeepEval could not read the answer")
        if isinstance(error, OSError) or "Connection" in type(error).__name__:
            return server.unreachable()
        return ModelError("server-error", self.name, f"DeepEval failed with {type(error).__name__}")


def _shape(schema: Mapping[str, Any]) -> type[BaseModel]:
    """A class that has a schema, for DeepEval's models want a class. What it reads is checked by who asked."""

    class Answer(RootModel[Any]):
        @classmethod
        def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
            del args, options
            return dict(schema)

    return Answer


class AsDeepEval(DeepEvalBaseLLM):  # type: ignore[misc]  # DeepEval has no types
    """Any model here as a judge there, inside G-Eval or another metric.

    It gives no log-probabilities, so G-Eval's score is the raw number that the model says.

    Args:
        chat: The model that is asked.
        temperature: As in `Request`.
        seed: As in `Request`.
        max_tokens: As in `Request`.
        repetition: As in `Request`: the runs of a judge are recorded apart.
        meter: What may be spent; None: as much as it takes.
    """

    def __init__(
        self,
        chat: ChatModel,
        *,
        temperature: float | None = 0.0,
        seed: int | None = None,
        max_tokens: int = 4096,
        repetition: int = 1,
        meter: Meter | None = None,
    ) -> None:
        self.chat = chat
        self.meter = meter
        self.temperature = temperature
        self.seed = seed
        self.max_tokens = max_tokens
        self.repetition = repetition
        super().__init__(chat.name)

    def load_model(self) -> "AsDeepEval":
        """Return itself: what it asks is open already."""
        return self

    def get_model_name(self) -> str:
        """`provider:model`."""
        return self.chat.name

    def supports_structured_outputs(self) -> bool:
        """Whether a schema may be asked for."""
        return True

    def supports_json_mode(self) -> bool:
        """Whether JSON may be asked for."""
        return True

    def generate(self, prompt: str, schema: type[BaseModel] | None = None) -> BaseModel | str:
        """Ask; with a schema return an instance of it.

        Raises:
            ModelError: No answer that can be used, or one that does not fit the schema.
        """
        found = run(self.chat.ask(self._request(prompt, schema), self.meter))
        return _fitted(found, schema, self.chat.name)

    async def a_generate(self, prompt: str, schema: type[BaseModel] | None = None) -> BaseModel | str:
        """Do what `generate` does, awaited."""
        found = await arun(self.chat.ask(self._request(prompt, schema), self.meter))
        return _fitted(found, schema, self.chat.name)

    def _request(self, prompt: str, schema: type[BaseModel] | None) -> Request:
        return Request(
            prompt=prompt,
            schema=None if schema is None else schema.model_json_schema(),
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
            repetition=self.repetition,
        )


def _fitted(completion: Completion, schema: type[BaseModel] | None, model: str) -> BaseModel | str:
    if schema is None:
        return completion.answer
    value = completion.json(model)
    try:
        return schema.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
    raise ModelError(
        "malformed", model, f"the answer does not fit the schema: {clean(place)}: {clean(first['msg'])}"
    )


def open_deepeval(name: str, *, timeout: float = TIMEOUT) -> FromDeepEval:
    """Return a DeepEval model by name: `OllamaModel:qwen3:14b` by its class, `gpt-4.1` as DeepEval is set up.

    Only DeepEval's own classes can be named; one of yours goes into `FromDeepEval`.

    Raises:
        InputError: DeepEval cannot make it, for want of a key or a setting.
    """
    from deepeval.metrics.utils import initialize_model  # noqa: PLC0415, TID251  # a second's import

    head, _, rest = name.partition(":")
    kind = getattr(deepeval.models, head, None) if rest else None
    try:
        if isinstance(kind, type) and issubclass(kind, DeepEvalBaseLLM) and kind is not DeepEvalBaseLLM:
            made = kind(model=rest)
        else:
            made, _ = initialize_model(name)
    except (DeepEvalError, ValueError, TypeError, ImportError) as error:
        found = f"DeepEval cannot make '{clean(name)}': {clean(str(error), limit=200)}"
        raise InputError("deepeval:…", found, hint="see DeepEval's own settings for its models") from None
    return FromDeepEval(made, name=f"deepeval:{name}", timeout=timeout)
