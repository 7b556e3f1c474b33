"""Reading answers strictly, bounds on tokens, and models' names."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludic_deepeval.errors import InputError, ModelError
from ludic_deepeval.llm.names import ModelName, choose_name, open_model, parse_name
from ludic_deepeval.llm.parsing import parse_json, split_thinking
from ludic_deepeval.llm.tokens import least_tokens, most_tokens
from ludic_deepeval.settings import find_policy

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(
    json_values,
    st.sampled_from(["{}", " {}\n", "```json\n{}\n```", "```\n{}```", "<think>a } b</think>\n{}"]),
)
def test_json_comes_back_as_it_was_written(value: object, wrap: str) -> None:
    assert parse_json(wrap.replace("{}", json.dumps(value))) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"quote": "</think>"}', {"quote": "</think>"}),  # a quoted tag is no end of thinking
        ('["<think>", "</think>"]', ["<think>", "</think>"]),
        ('```json\n{"quote": "```"}\n```', {"quote": "```"}),
        ("so I say</think>\n[1]", [1]),  # a server that leaves out the opening tag
        ("<think>[0]</think>[1]", [1]),
        ('"\\ud83d\\ude00"', "😀"),
        ("7", 7),
    ],
)
def test_what_is_quoted_is_not_taken_for_a_wrapping(text: str, value: object) -> None:
    assert parse_json(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "Here: [1]", "[1] I hope this helps", "[1]\n[2]", "[1,]", "{'a': 1}", "{a: 1}", "[1", '{"a": 1, "a": 1}', '{"a": {"b": 1, "b": 2}}',
        "NaN", "[Infinity]", "-Infinity", "[1] // done", "```json\n[1]", "```json [1]```", "```json\n```", "```yaml\na: 1\n```", '"\\ud800"',
        '["a\nb"]', "[" * 200_000, "9" * 10_000, "True", "<think>x</think>so: [1]", "```json\n[1]\n```\n```json\n[2]\n```",
    ],
)  # fmt: skip
def test_what_is_not_json_from_end_to_end_is_malformed(text: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_json(text, model="ollama:m")
    assert caught.value.kind in {"malformed", "empty"}
    assert str(caught.value).startswith("ollama:m: the answer")
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("text", ["", " \n", "<think>only", "<think>only</think>  "])
def test_no_answer_is_empty(text: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_json(text)
    assert caught.value.kind == "empty"


@pytest.mark.parametrize("part", ["x{", "<think>", "</think>", "```json\n", "\\", '{"a":', "[", '"\\ud800",'])
def test_ten_megabytes_of_anything_are_told_apart(part: str) -> None:
    """What is not linear does not come back from here."""
    with pytest.raises(ModelError):
        parse_json(part * (10_000_000 // len(part)))


def test_thinking_stands_apart_from_prose() -> None:
    assert split_thinking("<think>\nA door, then.\n</think>\n\nThe door is open.") == (
        "A door, then.",
        "The door is open.",
    )
    assert split_thinking("The door is open.\n") == ("", "The door is open.")


@pytest.mark.parametrize(
    ("text", "most", "least"),
    [
        ("", 0, 0),
        ("abc", 1, 0),  # 3 / 3; 1 word
        ("a" * 10, 4, 0),  # 10 / 3, upwards
        ("ten words are here and not one of them more", 15, 9),  # 43 / 3; 10 words
        ("鐘聲" * 10, 40, 9),  # 20 characters by 2; half a word each
        ("né", 3, 0),  # 1 / 3 upwards, and 2
    ],
)
def test_tokens_are_bounded_from_both_sides(text: str, most: int, least: int) -> None:
    assert (most_tokens(text), least_tokens(text)) == (most, least)


# Names


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("ollama:qwen3:14b", ModelName("ollama", "qwen3:14b")),
        ("anthropic:claude-opus-4-7", ModelName("anthropic", "claude-opus-4-7")),
        ("openai:meta/llama:free", ModelName("openai", "meta/llama:free")),
        ("deepeval:OllamaModel:qwen3:14b", ModelName("deepeval", "OllamaModel:qwen3:14b")),
        ("recorded:a/b", ModelName("recorded", "a/b")),
        ("recorded:a#b#ollama:m", ModelName("recorded", "a#b", "ollama:m")),
        ("recorded:a#b", ModelName("recorded", "a#b")),
        (" ollama:m ", ModelName("ollama", "m")),
    ],
)
def test_a_name_is_read_at_its_first_colon(name: str, read: ModelName) -> None:
    assert parse_name(name) == read
    assert parse_name(str(read)) == read


@pytest.mark.parametrize(
    "name", ["", "qwen3", "qwen3:14b", "Ollama:x", "ollama:", "ollama: ", ":x", "gpt:4", "a\x1b[2Jb"]
)
def test_what_is_no_name_is_told_how_one_looks(name: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_name(name)
    assert "provider:model, as ollama:qwen3:14b, anthropic:" in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_the_models_order_is_given_then_environment_then_settings_then_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LUDIC_MODEL", raising=False)
    inner = tmp_path / "stories" / "deep"
    inner.mkdir(parents=True)
    assert str(choose_name(start=inner)) == "ollama:qwen3:14b"
    (tmp_path / "pyproject.toml").write_text('[tool.ludic]\nmodel = "openai:local"\n')
    assert str(choose_name(start=inner)) == "openai:local"
    monkeypatch.chdir(inner)
    assert str(choose_name()) == "openai:local"
    (tmp_path / "stories" / "ludic.toml").write_text("lpi-gate = 0.6\n")
    assert str(choose_name()) == "ollama:qwen3:14b"  # the nearest settings decide, as they do for the policy
    monkeypatch.setenv("LUDIC_MODEL", "anthropic:a")
    assert str(choose_name()) == "anthropic:a"
    assert str(choose_name("recorded:x")) == "recorded:x"


@pytest.mark.parametrize(
    ("line", "where"), [("model = 7", "tool.ludic.model"), ('model = "qwen"', "tool.ludic.model")]
)
def test_a_wrong_model_in_the_settings_names_its_file(
    line: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LUDIC_MODEL", raising=False)
    (tmp_path / "ludic.toml").write_text(line)
    with pytest.raises(InputError) as caught:
        choose_name(start=tmp_path)
    assert where in str(caught.value)
    assert "ludic.toml" in str(caught.value)


def test_a_model_in_the_settings_is_no_part_of_the_policy(tmp_path: Path) -> None:
    (tmp_path / "ludic.toml").write_text('model = "ollama:m"\nlpi-gate = 0.6\n')
    assert float(find_policy(tmp_path)[0].lpi_gate) == 0.6


def test_a_wrong_model_in_the_environment_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUDIC_MODEL", "qwen")
    with pytest.raises(InputError, match=r"^\$LUDIC_MODEL: found 'qwen'"):
        choose_name()


def test_a_recording_has_no_server_and_is_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="recorded has no server"):
        open_model("recorded:x", base_url="http://x")
