"""Which model is meant by `provider:model`, and by nothing at all."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.llm.client import TIMEOUT, Model
from ludic_deepeval.llm.retry import Retry
from ludic_deepeval.settings import find_table

Provider: TypeAlias = Literal["ollama", "anthropic", "openai", "deepeval", "recorded"]
PROVIDERS: Final[tuple[Provider, ...]] = get_args(Provider)
DEFAULT: Final = "ollama:qwen3:14b"
VARIABLE: Final = "LUDIC_MODEL"
_EXAMPLES: Final = (
    "ollama:qwen3:14b, anthropic:claude-opus-4-7, openai:MODEL, deepeval:MODEL, recorded:FOLDER"
)


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model's name, read.

    Attributes:
        provider: Before the first colon.
        model: After it, colons and all. Of a recording: the folder.
        recorded_model: Of a recording: whose answers, when it says so after a `#`.
    """

    provider: Provider
    model: str
    recorded_model: str | None = None

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}" + (f"#{self.recorded_model}" if self.recorded_model else "")


def parse_name(name: str, *, source: str = "--model") -> ModelName:
    """Read `provider:model`.

    Args:
        name: The name.
        source: Where it stands, for the error.

    Raises:
        InputError: No provider that there is, or no model.
    """
    provider, colon, model = name.strip().partition(":")
    known = next((one for one in PROVIDERS if one == provider), None)
    if known is None or not colon or not model.strip():
        raise InputError(source, f"found '{clean(name)}'", allowed=f"provider:model, as {_EXAMPLES}")
    if known == "recorded":
        folder, hash_, whose = model.rpartition("#")
        if hash_ and whose.partition(":")[0] in PROVIDERS:
            return ModelName(known, folder, whose)
    return ModelName(known, model)


def choose_name(given: str | None = None, *, start: Path | None = None) -> ModelName:
    """Return the model to ask: the one given, else `$LUDIC_MODEL`, else the settings', else `ollama:qwen3:14b`.

    Args:
        given: The command's own, or None.
        start: The folder whose settings hold (the nearest `ludic.toml` or `[tool.ludic]` above it); by default the current one.

    Raises:
        InputError: What was chosen is no name of a model.
    """
    if given is not None:
        return parse_name(given)
    if from_environment := os.environ.get(VARIABLE):
        return parse_name(from_environment, source=f"${VARIABLE}")
    table, path = find_table((start or Path()).absolute())
    if "model" not in table:
        return parse_name(DEFAULT)
    if not isinstance(table["model"], str):
        raise InputError(path, f"found {shown(table['model'])}", where="tool.ludic.model", allowed=_EXAMPLES)
    return parse_name(table["model"], source=f"{path}: tool.ludic.model")


def open_model(
    name: ModelName | str | None = None,
    *,
    base_url: str | None = None,
    timeout: float = TIMEOUT,
    retry: Retry | None = None,
    record: Path | None = None,
    command: str = "",
) -> Model:
    """Return a model that can be asked; its client is loaded here, and nothing is sent yet.

    Args:
        name: Which; None chooses as `choose_name` does.
        base_url: Where its server is. Settings cannot say this, since they come with a repository and a key would follow.
        timeout: Seconds for one request.
        retry: When it is sent again.
        record: A folder in which to record its answers.
        command: The command that records a missing answer, for the error of a recording.

    Raises:
        InputError: No name of a model, a client that is not installed, or recordings that cannot be used.
        ModelError: `denied`, when there is no key for a provider that needs one.
    """
    chosen = name if isinstance(name, ModelName) else choose_name(name)
    model = _opened(chosen, base_url, timeout, retry, command)
    if record is None:
        return model
    if chosen.provider == "recorded":
        raise InputError("--record", "a recording cannot be recorded", allowed="a model that answers")
    if record.exists() and not record.is_dir():  # before anything is paid for
        raise InputError(record, "this is no folder", where="--record", allowed="a folder, also a new one")
    from ludic_deepeval.llm.recorded import RecordingModel, Recordings  # noqa: PLC0415

    return RecordingModel(model, Recordings(record))


def _opened(
    name: ModelName, base_url: str | None, timeout: float, retry: Retry | None, command: str
) -> Model:
    if base_url is not None and name.provider in {"deepeval", "recorded"}:
        raise InputError(
            "--base-url", f"{name.provider} has no server of its own", allowed="ollama, anthropic, openai"
        )
    match name.provider:
        case "ollama":
            from ludic_deepeval.llm.ollama import OllamaModel  # noqa: PLC0415  # each provider needs its own client

            return OllamaModel(name.model, base_url=base_url, timeout=timeout, retry=retry)
        case "anthropic":
            from ludic_deepeval.llm.anthropic import AnthropicModel  # noqa: PLC0415

            return AnthropicModel(name.model, base_url=base_url, timeout=timeout, retry=retry)
        case "openai":
            from ludic_deepeval.llm.openai import OpenAIModel  # noqa: PLC0415

            return OpenAIModel(name.model, base_url=base_url, timeout=timeout, retry=retry)
        case "deepeval":
            # Before DeepEval is loaded, and only then: whoever runs DeepEval themselves has decided already.
            os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
            from ludic_deepeval.llm.deepeval import open_deepeval  # noqa: PLC0415

            return open_deepeval(name.model, timeout=timeout)
        case "recorded":
            from ludic_deepeval.llm.recorded import RecordedModel  # noqa: PLC0415

            return RecordedModel(Path(name.model), name.recorded_model, command=command)
