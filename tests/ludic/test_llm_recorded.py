"""Recording answers and replaying them."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.errors import InputError, ModelError
from ludic_deepeval.llm.client import Completion, Kind, Producer, Request
from ludic_deepeval.llm.names import open_model
from ludic_deepeval.llm.pool import complete_many
from ludic_deepeval.llm.recorded import RecordedModel, Recordings
from tests.llm_faults import KEY, FaultServer, Models, failed, said

OLLAMA = "ollama:qwen3:14b"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "recordings"


def record(models: Models, folder: Path, provider: str = "ollama", **options: Any) -> Any:
    return models(provider, record=folder, **options)


def test_a_recording_replays_without_a_server(server: FaultServer, models: Models, folder: Path) -> None:
    server.play(said("ollama", '{"a": 1}', thinking="Hm.", read=31, written=5))
    options: dict[str, Any] = {"system": "Read.", "schema": {"type": "object"}, "temperature": 0.0, "seed": 0}
    first = record(models, folder).complete("Who?", **options)
    server.close()
    again = open_model(f"recorded:{folder}").complete("Who?", **options)
    assert (again.text, again.thinking, again.prompt_tokens, again.model) == ('{"a": 1}', "Hm.", 31, "m")
    assert (again.kind, again.replayed, first.replayed) == ("model", True, False)
    assert open_model(f"recorded:{folder}").name == OLLAMA  # whose words they are


def test_what_is_recorded_is_not_asked_again(server: FaultServer, models: Models, folder: Path) -> None:
    server.play(said("ollama", "One."), said("ollama", "Two."))
    model = record(models, folder)
    assert [model.complete("Who?").text for _ in range(3)] == ["One."] * 3
    assert record(models, folder).complete("Who?").replayed
    assert len(server.asked) == 1


def test_five_repetitions_replay_as_five(server: FaultServer, models: Models, folder: Path) -> None:
    server.play(*(said("ollama", f"Answer {run}.") for run in range(1, 6)))
    model = record(models, folder)
    for run in range(1, 6):
        model.complete("Who?", repetition=run)
    replayed = open_model(f"recorded:{folder}")
    assert [replayed.complete("Who?", repetition=run).text for run in range(5, 0, -1)] == [
        f"Answer {run}." for run in range(5, 0, -1)
    ]
    with pytest.raises(ModelError, match="the nearest differs in repetition"):
        replayed.complete("Who?", repetition=6)


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({"prompt": "Whom?"}, "prompt"), ({"system": "Skim."}, "system"), ({"schema": {"type": "array"}}, "schema"),
        ({"schema": None}, "schema"), ({"temperature": 0.5}, "temperature"), ({"temperature": None}, "temperature"),
        ({"seed": 1}, "seed"), ({"seed": None}, "seed"), ({"max_tokens": 5}, "max_tokens"), ({"repetition": 2}, "repetition"),
        ({"seed": 1, "prompt": "Whom?"}, "prompt, seed"),
    ],
)  # fmt: skip
def test_a_miss_says_what_differs_and_how_to_record_it(
    change: dict[str, Any], differs: str, server: FaultServer, models: Models, folder: Path
) -> None:
    server.play(said("ollama", "One."))
    asked: dict[str, Any] = {
        "prompt": "Who?",
        "system": "Read.",
        "schema": {"type": "object"},
        "temperature": 0.0,
        "seed": 0,
    }
    record(models, folder).complete(**asked)
    with pytest.raises(ModelError) as caught:
        open_model(f"recorded:{folder}").complete(**asked | change)
    assert caught.value.kind == "unrecorded"
    assert f"the nearest differs in {differs}; " in str(caught.value)
    assert f"record it: the same command with --model {OLLAMA} --record {folder}" in str(caught.value)


def test_a_miss_names_the_command_that_it_was_told(folder: Path) -> None:
    store(folder, "model")
    with pytest.raises(ModelError, match=r"record it: ludic extract a\.md --record x"):
        RecordedModel(folder, command="ludic extract a.md --record x").complete("Whom?")


def test_the_same_schema_in_another_order_is_the_same_request(
    server: FaultServer, models: Models, folder: Path
) -> None:
    server.play(said("ollama", "One."))
    record(models, folder).complete("Who?", schema={"a": 1, "b": 2})
    assert open_model(f"recorded:{folder}").complete("Who?", schema={"b": 2, "a": 1}).text == "One."


def test_cut_off_and_empty_answers_replay_as_the_same_errors(
    server: FaultServer, models: Models, folder: Path
) -> None:
    server.play(said("ollama", "Od", stop="length"), said("ollama", ""))
    for opened in ("live", "live again", "replayed"):
        model = open_model(f"recorded:{folder}") if opened == "replayed" else record(models, folder)
        kinds = []
        for prompt in ("1?", "2?"):
            with pytest.raises(ModelError) as caught:
                model.complete(prompt)
            kinds.append(caught.value.kind)
        assert kinds == ["truncated", "empty"]
    assert len(server.asked) == 2


def test_a_servers_failure_is_not_recorded(server: FaultServer, models: Models, folder: Path) -> None:
    server.play(failed("ollama", 500))
    with pytest.raises(ModelError):
        record(models, folder).complete("Who?")
    assert not folder.exists()


def test_replays_cost_nothing(server: FaultServer, models: Models, folder: Path) -> None:
    server.play(said("ollama", "One."))
    requests = [Request(prompt=f"{at}?") for at in range(4)]
    first = complete_many(record(models, folder), requests)
    again = complete_many(open_model(f"recorded:{folder}"), requests)
    mixed = complete_many(record(models, folder), [*requests, Request(prompt="5?")])
    assert [batch.spent.calls for batch in (first, again, mixed)] == [4, 0, 1]


def test_a_recording_says_who_made_it_and_when(server: FaultServer, models: Models, folder: Path) -> None:
    server.play(said("anthropic", "One."))
    record(models, folder, "anthropic").complete("Who?")
    (path,) = folder.iterdir()
    by = json.loads(path.read_text())["by"]
    assert (by["kind"], by["provider"], by["model"]) == ("model", "anthropic", "qwen3:14b")
    assert by["client"].startswith("anthropic 2.")
    assert date.fromisoformat(by["date"])


def test_no_key_and_no_prose_is_in_a_recording(server: FaultServer, models: Models, folder: Path) -> None:
    for provider in ("ollama", "anthropic", "openai"):
        server.play(said(provider, f"The key is {KEY}.", thinking=KEY))
        record(models, folder, provider).complete("Secret prose.", system="Also secret.")
    texts = [path.read_text() for path in folder.iterdir()]
    assert len(texts) == 3
    assert not any(KEY in text or "ecret" in text for text in texts)


# What was not said by a model


def store(folder: Path, kind: Kind, model: str = OLLAMA, prompt: str = "Who?", text: str = "One.") -> None:
    recordings = Recordings(folder, today=lambda: date(2026, 1, 2))
    producer = Producer(kind, "ollama", "qwen3:14b", "ollama 0.6.3")
    recordings.add(producer, model, Request(prompt=prompt), Completion(text=text, model="qwen3:14b"))


@pytest.mark.parametrize("kind", ["model", "scripted", "hand-written"])
def test_the_kind_travels_with_every_replay(kind: Kind, folder: Path) -> None:
    store(folder, kind)
    model = RecordedModel(folder)
    assert model.complete("Who?").kind == kind
    assert model.producer.kind == kind


def test_one_hand_written_answer_marks_the_whole_folder(folder: Path) -> None:
    store(folder, "model", prompt="1?")
    store(folder, "hand-written", prompt="2?")
    assert RecordedModel(folder).producer.kind == "hand-written"
    assert RecordedModel(folder).complete("1?").kind == "model"


def test_what_is_recorded_stays_as_it_is(folder: Path) -> None:
    store(folder, "model", text="One.")
    before = [path.read_bytes() for path in folder.iterdir()]
    store(folder, "hand-written", text="Two.")
    assert [path.read_bytes() for path in folder.iterdir()] == before


def test_the_same_answer_is_the_same_to_the_byte(tmp_path: Path) -> None:
    for name in ("a", "b"):
        store(tmp_path / name, "model")
    (one,), (two,) = ((tmp_path / name).iterdir() for name in ("a", "b"))
    assert (one.name, one.read_bytes()) == (two.name, two.read_bytes())
    assert one.read_bytes().endswith(b"}\n")


def test_two_writers_do_not_undo_each_other(folder: Path) -> None:
    first, second = Recordings(folder), Recordings(folder)
    producer = Producer("model", "ollama", "m")
    assert first.models == second.models == ()
    for store_, prompt in ((first, "1?"), (second, "2?"), (first, "3?")):
        store_.add(producer, "ollama:m", Request(prompt=prompt), Completion(text="x", model="m"))
    assert len(list(folder.iterdir())) == 3


# Stores that cannot be used


def test_a_folder_of_several_models_asks_which(folder: Path) -> None:
    store(folder, "model")
    store(folder, "model", model="openai:x", text="Two.")
    with pytest.raises(InputError) as caught:
        RecordedModel(folder)
    assert f"recorded:{folder}#{OLLAMA} or recorded:{folder}#openai:x" in str(caught.value)
    assert open_model(f"recorded:{folder}#openai:x").complete("Who?").text == "Two."
    with pytest.raises(InputError, match="recordings of ollama:qwen3:14b, openai:x"):
        open_model(f"recorded:{folder}#openai:y")


def test_no_folder_and_an_empty_one_say_how_to_record(folder: Path) -> None:
    with pytest.raises(InputError, match=r"no such folder of recordings; record it: .*--record"):
        RecordedModel(folder)
    folder.mkdir()
    with pytest.raises(InputError, match="no recordings; record it"):
        RecordedModel(folder)


def _edited(folder: Path, edit: Any) -> None:
    store(folder, "model")
    (path,) = folder.iterdir()
    data = json.loads(path.read_text())
    edit(data)
    path.write_text(json.dumps(data))


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda data: data["by"].pop("kind"), "by.kind: it is missing"),
        (lambda data: data["by"].update(kind="robot"), "by.kind: found 'robot'"),
        (lambda data: data.update(schema_version=2), "schema_version: found 2"),
        (lambda data: data.update(extra=1), "extra: found 1"),
        (lambda data: data["answer"].update(text=None), "answer.text: found nothing"),
        (
            lambda data: data["asked"].update(seed=3),
            "key: this answers another request than its name and key say",
        ),
        (lambda data: data["asked"].update(model="anthropic:better"), "key: this answers another request"),
        (lambda data: data.update(key="0" * 64), "key: this answers another request"),
    ],
)
def test_an_edited_recording_is_told_with_its_place(edit: Any, told: str, folder: Path) -> None:
    _edited(folder, edit)
    with pytest.raises(InputError) as caught:
        RecordedModel(folder)
    assert told in str(caught.value)
    assert str(folder) in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe", b"null", b"[" * 100_000, b"\x00"])
def test_a_broken_recording_is_told_in_one_line(data: bytes, folder: Path) -> None:
    folder.mkdir()
    (folder / "broken.json").write_bytes(data)
    with pytest.raises(InputError) as caught:
        RecordedModel(folder)
    assert "broken.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        store(tmp_path / "file" / "recordings", "model")


def test_a_recording_cannot_be_recorded(folder: Path) -> None:
    store(folder, "model")
    with pytest.raises(InputError, match="a recording cannot be recorded"):
        open_model(f"recorded:{folder}", record=folder)
