"""Prompts as data: strict variables, one pass, a hash of their own."""

from pathlib import Path

import pytest

from ludic_deepeval.errors import InputError
from ludic_deepeval.prompts import Prompt, load_prompt

NOTARY = """\
version: 3
role: notary
system: |
  You list what a backstory says.
text: |
  Names: {{names}}
  <prose>{{prose}}</prose> {{names}}
variables:
  names: names that are known
  prose: the body
"""


@pytest.fixture
def prompt(tmp_path: Path) -> Prompt:
    return written(tmp_path, NOTARY)


def written(folder: Path, text: str) -> Prompt:
    (folder / "notary.yaml").write_bytes(text.encode())
    return load_prompt("notary", folder=folder)


def test_a_prompt_is_read_whole(prompt: Prompt) -> None:
    assert (prompt.version, prompt.role, prompt.system) == (3, "notary", "You list what a backstory says.\n")
    assert dict(prompt.variables) == {"names": "names that are known", "prose": "the body"}


def test_every_variable_is_filled_in_wherever_it_stands(prompt: Prompt) -> None:
    assert prompt.render(names="Odo", prose="x") == "Names: Odo\n<prose>x</prose> Odo\n"


@pytest.mark.parametrize(
    "prose",
    [
        "{{names}}",
        "{{prose}}",
        "{names}",
        "{0.__class__}",
        "%(names)s",
        "$names",
        r"\g<1>",
        "\\1",
        "{{nobody}}",
        "}}{{",
    ],
)
def test_a_value_is_never_looked_at_again(prose: str, prompt: Prompt) -> None:
    assert prompt.render(names="Odo", prose=prose) == f"Names: Odo\n<prose>{prose}</prose> Odo\n"


def test_unknown_and_missing_variables_are_refused(prompt: Prompt) -> None:
    with pytest.raises(
        InputError, match="prompt notary: no value for the variable 'prose'; allowed: names, prose"
    ):
        prompt.render(names="Odo")
    with pytest.raises(InputError, match="unknown variable 'who'"):
        prompt.render(names="Odo", prose="x", who="y")
    with pytest.raises(InputError, match="names: found 7; allowed: text"):
        prompt.render(names=7, prose="x")  # type: ignore[arg-type]


def test_the_hash_is_of_what_the_prompt_says(tmp_path: Path, prompt: Prompt) -> None:
    same = NOTARY.replace("\n", "\r\n").replace("version: 3", "version: 3  # a comment")
    assert written(tmp_path, same).sha256 == prompt.sha256
    for old, new in (
        ("3", "4"),
        ("notary", "judge"),
        ("list", "count"),
        ("Names:", "Name:"),
        ("the body", "a body"),
    ):
        assert written(tmp_path, NOTARY.replace(old, new)).sha256 != prompt.sha256
    assert len(prompt.sha256) == 64


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("version: 3", "version: true", "version: found true"),
        ("version: 3", "version: 0", "version: found 0"),
        ("version: 3\n", "", "version: found nothing"),
        ("role: notary", "role: ''", "role: found ''"),
        ("role: notary", "rôle: notary", "rôle: unknown field"),
        ("system: |", "system: {{who}} |", "not valid YAML"),
        ("You list", "You, {{names}}, list", "system: a variable in the fixed part"),
        ("Names: {{names}}", "Names: {{ names }}", "text: '{{' that opens no variable"),
        ("Names: {{names}}", "Names: {{Names}}", "text: '{{' that opens no variable"),
        ("Names: {{names}}", "Names: {{who}}", "who: used and not declared"),
        ("  names: names that are known\n", "", "names: used and not declared"),
        ("{{prose}}", "", "prose: declared and not used"),
        ("prose: the body", "prose: 7", "variables: found a mapping"),
        (NOTARY, "", "found nothing"),
        (NOTARY, "- a", "found a list"),
        ("version: 3", "version: 3\nversion: 4", "given twice"),
    ],
)
def test_a_file_that_is_no_prompt_is_told_with_its_place(
    old: str, new: str, told: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        written(tmp_path, NOTARY.replace(old, new))
    assert told in str(caught.value)
    assert "notary.yaml" in str(caught.value)


@pytest.mark.parametrize("role", ["../notary", "Notary", "", "a/b", ".x"])
def test_a_role_is_no_path(role: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="prompt: found"):
        load_prompt(role, folder=tmp_path)


def test_a_role_without_a_prompt_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"judge\.yaml: no such file"):
        load_prompt("judge", folder=tmp_path)


def test_a_prompt_needs_neither_a_fixed_part_nor_variables(tmp_path: Path) -> None:
    bare = written(tmp_path, "version: 1\nrole: notary\ntext: Say yes.\n")
    assert (bare.system, bare.render()) == ("", "Say yes.")
