"""Reading and writing files that somebody else may have made hostile.

Sizes, nesting and YAML aliases are bounded, nothing is evaluated, and a file is written whole or not at all.
"""

import json
from decimal import Decimal
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from ludic_deepeval.errors import InputError, clean

MAX_BYTES: Final = 8 * 1024 * 1024
MAX_YAML_BYTES: Final = 1024 * 1024
MARKS_FOLDER: Final = (
    ".ludic"  # `npcs.json.ludic`, for the marks of the stories in `npcs.json`: made when needed
)


def read_bytes(path: Path, *, limit: int = MAX_BYTES) -> bytes:
    """Return a file's bytes; raise `InputError` when it cannot be read or is larger than `limit`."""
    try:
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except IsADirectoryError:
        raise InputError(path, "this is a folder", allowed="a file") from None
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror or 'input or output error'})") from None
    if len(data) > limit:
        raise InputError(path, f"larger than {limit // 1024:,} KiB", allowed=f"at most {limit // 1024:,} KiB")
    return data


def decode(data: bytes, file: object) -> str:
    """Return UTF-8 text; raise `InputError` naming the line of the first byte that is not."""
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        raise InputError(file, "saved as UTF-16", allowed="UTF-8", hint="save it again as UTF-8")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            file,
            f"byte 0x{data[error.start]:02x} is not UTF-8",
            where=f"line {line}",
            allowed="text in UTF-8",
            hint="save it again as UTF-8",
        ) from None
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise InputError(file, "a NUL character", where=f"line {line}", allowed="text in UTF-8")
    return text


def load_yaml(text: str, file: object, *, first_line: int = 1) -> Any:
    """Return the one document of a YAML text, or None when it is empty.

    Args:
        text: The YAML.
        file: What to call it in errors.
        first_line: The line of `file` on which `text` begins.

    Raises:
        InputError: Malformed YAML, a tag that names an object, an anchor or alias, a key given twice,
            nesting past 64 levels, or more than `MAX_YAML_BYTES`.
    """
    from ludic_deepeval.safe_yaml import load  # noqa: PLC0415  # a story without front matter needs no YAML

    return load(text, file, first_line)


def dump_json(value: Any) -> str:
    """Return JSON that is the same to the byte for the same value: sorted, indented, one newline at the end."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1, allow_nan=False) + "\n"


def read_toml(path: Path, *, limit: int = MAX_BYTES) -> dict[str, Any]:
    """Read a TOML file; its numbers stay the decimals that were written.

    Raises:
        InputError: It cannot be read, is not TOML or is nested too deeply.
    """
    import tomllib  # noqa: PLC0415  # most stories are judged by the paper's numbers

    try:
        text = decode(read_bytes(path, limit=limit), path).removeprefix("\ufeff")
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise InputError(path, f"not valid TOML: {clean(str(error), limit=160)}") from None
    except RecursionError:
        raise InputError(path, "nested too deeply", allowed="plain tables") from None


def make_folder(path: Path) -> None:
    """Make a folder and those above it; raise `InputError` when it cannot be made, as where a file has its name."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(path, f"cannot be made ({error.strerror or 'input or output error'})") from None


def write_atomic(path: Path, text: str) -> None:
    """Write a file whole or not at all, also beside other writers of the same file.

    A file that already holds exactly this text is left alone, so that build tools see no change.
    """
    if not path.name:
        raise InputError(path, "a folder", allowed="a file in it")
    data = text.encode("utf-8")
    try:
        if path.is_file() and path.read_bytes() == data:
            return
        if path.parent.suffix == MARKS_FOLDER:
            path.parent.mkdir(exist_ok=True)
        temporary = path.with_name(f".{path.name[:40]}.{token_hex(8)}.tmp")
        try:
            with temporary.open("xb") as stream:
                stream.write(data)
            if path.exists():
                temporary.chmod(path.stat().st_mode & 0o777)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(path, f"cannot be written ({error.strerror or 'input or output error'})") from None
