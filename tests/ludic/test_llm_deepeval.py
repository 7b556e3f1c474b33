"""DeepEval's models here, and models from here inside DeepEval's G-Eval; no key, no network."""

import asyncio
import gc
import json
from pathlib import Path
from typing import Any

import pytest
from deepeval.metrics import GEval
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, SingleTurnParams
from pydantic import BaseModel

from ludic_deepeval.errors import InputError, ModelError
from ludic_deepeval.llm.client import Completion, Model, Producer, Request
from ludic_deepeval.llm.deepeval import AsDeepEval, FromDeepEval
from ludic_deepeval.llm.names import open_model
from ludic_deepeval.llm.recorded import RecordedModel, RecordingModel, Recordings
from tests.llm_faults import FaultServer, Models, failed, said


class Scripted(Model):
    """Says what it is told to, and keeps what it was asked."""

    provider = "scripted"

    def __init__(self, *answers: str) -> None:
        super().__init__("scripted:judge")
        self._answers = list(answers)
        self.asked: list[Request] = []

    @property
    def producer(self) -> Producer:
        return Producer("scripted", "scripted", "judge")

    async def answer(self, request: Request) -> Completion:
        self.asked.append(request)
        return Completion(
            text=self._answers[(len(self.asked) - 1) % len(self._answers)], model="judge", kind="scripted"
        )


def judge(chat: Any, *, async_mode: bool, **options: Any) -> GEval:
    return GEval(
        name="left open",
        model=AsDeepEval(chat, **options),
        evaluation_steps=["Count the threads that are left open."],
        evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT],
        async_mode=async_mode,
    )


def measured(metric: GEval) -> float:
    """Measure; awaited in a loop that is closed, since DeepEval leaves the one that it makes open."""
    if metric.async_mode:
        return float(asyncio.run(metric.a_measure(CASE, _show_indicator=False)))
    return float(metric.measure(CASE, _show_indicator=False))


CASE = LLMTestCase(input="-", actual_output="Somebody had paid for the bell not to ring.")


@pytest.mark.parametrize("async_mode", [False, True])
def test_a_model_from_here_judges_inside_g_eval(async_mode: bool) -> None:
    chat = Scripted('<think>Two?</think>```json\n{"reason": "one thread", "score": 7}\n```')
    metric = judge(chat, async_mode=async_mode, seed=3)
    # G-Eval maps 0 to 10 onto 0 to 1: 7 is .7, the raw number, since there are no log-probabilities.
    assert measured(metric) == pytest.approx(0.7)
    assert metric.reason == "one thread"
    assert metric.evaluation_model == "scripted:judge"
    (request,) = chat.asked
    assert "Somebody had paid" in request.prompt
    assert request.schema is not None
    assert set(request.schema["properties"]) == {"reason", "score"}
    assert (request.temperature, request.seed) == (0.0, 3)


@pytest.mark.parametrize("async_mode", [False, True])
@pytest.mark.parametrize(
    ("text", "kind"), [("I think it is a 7.", "malformed"), ('{"score": 7}', "malformed"), ("", "empty"), ('{"reason": "x", "score": "many"}', "malformed")]
)  # fmt: skip
def test_an_answer_that_is_no_score_is_an_error_and_no_score(text: str, kind: str, async_mode: bool) -> None:
    chat = Scripted(text)
    metric = judge(chat, async_mode=async_mode)
    with pytest.raises(ModelError) as caught:
        measured(metric)
    assert caught.value.kind == kind
    assert metric.score is None
    assert len(chat.asked) == 1


def test_the_runs_of_a_judge_replay_as_many(tmp_path: Path) -> None:
    chat = Scripted('{"reason": "x", "score": 4}', '{"reason": "x", "score": 8}')

    def run(model: Any, repetition: int) -> float:
        metric = judge(model, async_mode=False, repetition=repetition)
        return measured(metric)

    live = [run(RecordingModel(chat, Recordings(tmp_path)), repetition) for repetition in (1, 2)]
    replayed = [run(RecordedModel(tmp_path), repetition) for repetition in (1, 2)]
    assert live == replayed == [pytest.approx(0.4), pytest.approx(0.8)]
    assert RecordedModel(tmp_path).producer.kind == "scripted"


def test_a_server_behind_g_eval_is_asked_as_often_as_here(server: FaultServer, models: Models) -> None:
    server.play(failed("openai", 500), said("openai", '{"reason": "x", "score": 10}'))
    metric = judge(models("openai"), async_mode=True)
    assert measured(metric) == 1
    assert len(server.asked) == 2
    assert server.asked[0].body["response_format"]["type"] == "json_schema"


def test_without_a_schema_the_answer_is_text_without_thinking() -> None:
    assert AsDeepEval(Scripted("<think>Hm.</think>Odo.")).generate("Who?") == "Odo."


# DeepEval's models here


class Plain(DeepEvalBaseLLM):
    """A model as the handbook tells users to write one."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer
        self.prompts: list[str] = []
        super().__init__("mine")

    def load_model(self) -> "Plain":
        return self

    def get_model_name(self) -> str:
        return "mine"

    def generate(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    async def a_generate(self, prompt: str) -> str:
        return self.generate(prompt)


class Shaped(Plain):
    """One that takes a schema, and answers with an instance and a cost as DeepEval's own do."""

    def generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        self.prompts.append(prompt)
        self.shape = None if schema is None else schema.model_json_schema()
        return (schema.model_validate_json(self._answer) if schema else self._answer, 0.0)


def test_a_model_of_deepeval_can_be_asked_here() -> None:
    plain = Plain("Odo.")
    with FromDeepEval(plain) as model:
        got = model.complete("Who?", system="Read.", temperature=0.0, seed=1)
    assert (model.name, got.text, got.model) == ("deepeval:mine", "Odo.", "mine")
    assert got.ignored == ("temperature", "seed")
    assert (got.prompt_tokens, got.completion_tokens) == (None, None)
    assert plain.prompts == ["Read.\n\nWho?"]
    assert model.producer.client.startswith("deepeval 4.")


def test_a_model_without_schemas_is_told_in_words() -> None:
    plain = Plain('{"a": 1}')
    assert FromDeepEval(plain).complete("Who?", schema={"type": "object"}).json() == {"a": 1}
    assert plain.prompts[0].endswith('It must fit this JSON Schema:\n{"type": "object"}')


def test_a_model_with_schemas_gets_ours() -> None:
    shaped = Shaped('{"a": [1]}')
    schema = {"type": "object", "properties": {"a": {"type": "array"}}}
    assert FromDeepEval(shaped).complete("Who?", schema=schema).json() == {"a": [1]}
    assert shaped.shape == schema


class Status(Exception):  # noqa: N818  # as a client's error looks
    status_code = 401


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "timed-out"), (ConnectionError("sk-secret"), "unreachable"), (Status("sk-secret"), "denied"),
        (json.JSONDecodeError("sk-secret", "x", 0), "malformed"), (KeyError("sk-secret"), "server-error"),
    ],
)  # fmt: skip
def test_what_goes_wrong_in_deepeval_has_a_kind_and_shows_no_words_of_its_own(
    error: Exception, kind: str
) -> None:
    plain = Plain(error)
    with pytest.raises(ModelError) as caught:
        FromDeepEval(plain).complete("Who?")
    assert caught.value.kind == kind
    assert "secret" not in str(caught.value)
    assert len(plain.prompts) == 1


@pytest.mark.parametrize("answer", [None, 7, ("x", "y", "z")])
def test_no_text_is_malformed(answer: Any) -> None:
    with pytest.raises(ModelError, match="gave no text"):
        FromDeepEval(Plain(answer)).complete("Who?")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # DeepEval closes no client
def test_deepevals_own_classes_are_found_by_name(
    server: FaultServer, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_MODEL_BASE_URL", server.url)
    server.play(said("ollama", '{"a": 1}'))
    model = models("deepeval", "OllamaModel:qwen3:14b", base_url=None)
    assert model.name == "deepeval:OllamaModel:qwen3:14b"
    assert model.complete("Who?", schema={"type": "object"}).json() == {"a": 1}
    assert (server.asked[0].body["model"], server.asked[0].body["format"]) == (
        "qwen3:14b",
        {"type": "object"},
    )
    del model
    models.forget()
    gc.collect()


@pytest.mark.parametrize("name", ["AnthropicModel:x", "os:system", "GPT:x", "DeepEvalBaseLLM:x"])
def test_what_deepeval_cannot_make_is_one_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(InputError) as caught:
        open_model(f"deepeval:{name}").complete("Who?")
    assert "DeepEval cannot make" in str(caught.value)
    assert "\n" not in str(caught.value)
