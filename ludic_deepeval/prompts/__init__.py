"""Prompts as data: one YAML file a role, with a version, strict variables and a hash of its own.

::

    version: 1
    role: notary
    system: |          # optional: what is the same every time, and can be kept in a provider's cache
      You read a backstory and list what it says.
    text: |
      <prose>
      {{prose}}
      </prose>
    variables:
      prose: the story's body

A variable stands as `{{name}}` in `text`. Values are put in as they are, once: nothing in a value is looked at again, so that
prose which holds `{{prose}}` or braces stays prose.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.files import MAX_YAML_BYTES, decode, dump_json, load_yaml, read_bytes

FOLDER: Final = Path(__file__).parent
_FIELDS: Final = ("version", "role", "system", "text", "variables")
_VARIABLE: Final = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")


@dataclass(frozen=True)
class Prompt:
    """A prompt whose variables are still open.

    Attributes:
        version: Raised whenever the prompt changes.
        role: Who is spoken to: notary, architect …
        system: The fixed part, without variables; may be empty.
        text: The part with variables.
        variables: What each variable holds.
    """

    version: int
    role: str
    text: str
    variables: Mapping[str, str]
    system: str = ""

    @cached_property
    def sha256(self) -> str:
        """The hash of all five fields; comments and line endings of the file do not change it."""
        fields = {name: getattr(self, name) for name in _FIELDS} | {"variables": dict(self.variables)}
        return sha256(dump_json(fields).encode("utf-8")).hexdigest()

    def render(self, **values: str) -> str:
        """Return the text with its variables filled in.

        Raises:
            InputError: A variable that the prompt does not have, one that is left out, or a value that is no text.
        """
        called = f"prompt {self.role}"
        for name in sorted(values.keys() ^ self.variables.keys()):
            found = "unknown variable" if name in values else "no value for the variable"
            raise InputError(
                called, f"{found} '{clean(name)}'", allowed=", ".join(sorted(self.variables)) or "none"
            )
        for name, value in values.items():
            if not isinstance(value, str):
                raise InputError(called, f"found {shown(value)}", where=name, allowed="text")
        return _VARIABLE.sub(lambda match: values[match[1]], self.text)


def load_prompt(role: str, *, folder: Path = FOLDER) -> Prompt:
    """Return the prompt of a role, from `folder/role.yaml`.

    Raises:
        InputError: There is none, or it is not a prompt: an unknown or missing field, a variable that is used and not declared
            or declared and not used, a variable in the fixed part, or `{{` that opens no variable.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", role):
        raise InputError("prompt", f"found '{clean(role)}'", allowed="lower-case letters, digits, - and _")
    path = folder / f"{role}.yaml"
    return read_prompt(load_yaml(decode(read_bytes(path, limit=MAX_YAML_BYTES), path), path), path)


def read_prompt(data: Any, file: object) -> Prompt:
    """Check what a prompt's file holds; see `load_prompt`."""
    if not isinstance(data, dict):
        raise InputError(file, f"found {shown(data)}", allowed=f"a mapping with {', '.join(_FIELDS)}")
    for name in data:
        if name not in _FIELDS:
            raise InputError(file, "unknown field", where=clean(str(name)), allowed=", ".join(_FIELDS))
    version, variables = data.get("version"), data.get("variables", {})
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InputError(
            file, f"found {shown(version)}", where="version", allowed="a whole number of at least 1"
        )
    role, text = _text(data, "role", file), _text(data, "text", file)
    system = _text(data, "system", file) if "system" in data else ""
    if not isinstance(variables, dict) or not all(
        isinstance(name, str) and isinstance(what, str) for name, what in variables.items()
    ):
        raise InputError(
            file, f"found {shown(variables)}", where="variables", allowed="names, and what each holds"
        )
    _check_variables(text, system, variables, file)
    return Prompt(version, role, text, MappingProxyType(dict(variables)), system)


def _text(data: dict[str, Any], name: str, file: object) -> str:
    value = data.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InputError(file, f"found {shown(value)}", where=name, allowed="text")
    return value


def _check_variables(text: str, system: str, variables: dict[str, str], file: object) -> None:
    used = set(_VARIABLE.findall(text))
    if "{{" in system:
        raise InputError(
            file, "a variable in the fixed part", where="system", allowed="variables in text alone"
        )
    if "{{" in _VARIABLE.sub("", text):
        raise InputError(file, "'{{' that opens no variable", where="text", allowed="{{name}} in lower case")
    for name in sorted(used ^ variables.keys()):
        found = "used and not declared" if name in used else "declared and not used"
        raise InputError(file, found, where=clean(name), allowed="the same variables in text and variables")
