"""JSON or YAML as plain data whose texts know where they stand in the file."""

import re
from collections.abc import Iterable
from typing import Any, Final

from ludic_deepeval.errors import InputError
from ludic_deepeval.files import MAX_YAML_BYTES
from ludic_deepeval.sources import in_json
from ludic_deepeval.sources.located import Located
from ludic_deepeval.sources.pointer import Steps
from ludic_deepeval.sources.spelling import require_text

_JSON: Final = re.compile(r"\ufeff?\s*[{\[]")


def is_json(raw: str) -> bool:
    """Whether a text begins as a JSON object or list does."""
    return _JSON.match(raw) is not None


class DataFile:
    """One file of JSON or YAML.

    Args:
        raw: The decoded file.
        file: What to call it in errors.

    Attributes:
        raw: The decoded file.
        data: Its plain data.

    Raises:
        InputError: It is malformed, nested too deeply, or YAML of more than 1 MiB or with anchors.
    """

    def __init__(self, raw: str, file: object) -> None:
        self.raw = raw
        self._file = file
        self._yaml: Any = None
        if is_json(raw):
            self.data: Any = in_json.load(raw, file)
        else:
            if len(raw) > MAX_YAML_BYTES:
                raise InputError(file, "more than 1,024 KiB of YAML", allowed="at most 1,024 KiB")
            from ludic_deepeval.sources.in_yaml import Tree  # noqa: PLC0415  # JSON needs no YAML

            self._yaml = Tree(raw, file)
            self.data = self._yaml.data

    def texts(self, wanted: Iterable[Steps]) -> list[Located]:
        """Return the texts at some places, each of which holds one.

        Raises:
            InputError: A key on the way that is given twice, or what no file in UTF-8 can hold.
        """
        steps = list(wanted)
        if self._yaml is None:
            offsets = in_json.locate(self.raw, steps, self._file)
            found = [Located(*in_json.text_at(self.raw, offsets[one])) for one in steps]
        else:
            found = [Located(*self._yaml.text_at(one)) for one in steps]
        for one in found:
            require_text(one.text, one.at, self.raw, self._file)
        return found
