"""Reading and writing files that somebody else may have made hostile.

Sizes, nesting and YAML aliases are bounded, nothing is evaluated, and a file is written whole or not at all.
"""

import json
from collections.abc import Hashable
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

import yaml

from ludic_deepeval.errors import InputError, clean

MAX_BYTES: Final = 8 * 1024 * 1024
MAX_YAML_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 64

# libyaml is seven times faster; PyYAML's wheels have it, a build from source may not.
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]  # the base is chosen at run time
    """PyYAML's safe loader that refuses a key given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key '{clean(str(key))}' is given twice", key_node.start_mark
                )
            if isinstance(key, Hashable):
                seen.add(key)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        return mapping


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
            nesting past `MAX_DEPTH`, or more than `MAX_YAML_BYTES`.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_YAML_BYTES:
        size = f"{MAX_YAML_BYTES // 1024:,} KiB"
        raise InputError(file, f"more than {size} of YAML", allowed=f"at most {size}")
    try:
        _refuse_unbounded(text, file, first_line)
        loader = _Loader(text)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
        where = f"line {mark.line + first_line}, column {mark.column + 1}" if mark else ""
        raise InputError(file, f"not valid YAML: {clean(str(what), limit=160)}", where=where) from None
    except (ValueError, OverflowError) as error:  # dates that do not exist, integers of a million digits
        raise InputError(file, f"not valid YAML: {clean(str(error), limit=160)}") from None


def _refuse_unbounded(text: str, file: object, first_line: int) -> None:
    """Walk the events, which needs no recursion, before anything is composed."""
    depth = 0
    for event in yaml.parse(text, Loader=_Base):
        line = f"line {event.start_mark.line + first_line}" if event.start_mark else ""
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise InputError(
                file,
                "an anchor or alias (& or *)",
                where=line,
                allowed="plain values",
                hint="write the value out",
            )
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise InputError(
                    file,
                    f"nested more than {MAX_DEPTH} levels deep",
                    where=line,
                    allowed=f"at most {MAX_DEPTH}",
                )
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def dump_json(value: Any) -> str:
    """Return JSON that is the same to the byte for the same value: sorted, indented, one newline at the end."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1, allow_nan=False) + "\n"


def write_atomic(path: Path, text: str) -> None:
    """Write a file whole or not at all, also beside other writers of the same file.

    A file that already holds exactly this text is left alone, so that build tools see no change.
    """
    data = text.encode("utf-8")
    try:
        if path.is_file() and path.read_bytes() == data:
            return
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
