"""The part of `files` that needs PyYAML, whose import is not for stories without front matter to pay."""

from collections.abc import Callable, Hashable
from typing import Any, Final

import yaml

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import MAX_YAML_BYTES

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


def load(text: str, file: object, first_line: int) -> Any:
    """Do what `files.load_yaml` says."""
    return _read(text, file, first_line, lambda loader: loader.get_single_data())


def compose(text: str, file: object) -> tuple[yaml.Node | None, Any]:
    """Return the nodes of a YAML text, which know where they stand, and their plain data, under the same limits.

    In the data a key is the text that it is written as, and what has a tag of its own is a mapping, list or text as
    it is written.
    """

    def both(loader: Any) -> tuple[yaml.Node | None, Any]:
        node = loader.get_single_node()
        return node, None if node is None else _plain(node, yaml.constructor.SafeConstructor())

    found: tuple[yaml.Node | None, Any] = _read(text, file, 1, both)
    return found


def _plain(node: yaml.Node, constructor: yaml.constructor.SafeConstructor) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, constructor) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, Any] = {}
        for key_node, value in node.value:
            key = key_node.value
            if not isinstance(key, str) or key in mapping:
                what = (
                    f"the key '{clean(key)}' is given twice"
                    if isinstance(key, str)
                    else "a key that is no text"
                )
                raise yaml.constructor.ConstructorError(None, None, what, key_node.start_mark)
            mapping[key] = _plain(value, constructor)
        return mapping
    if node.tag.startswith("tag:yaml.org,2002:"):
        return constructor.construct_object(node)
    return node.value


def _read(text: str, file: object, first_line: int, work: Callable[[Any], Any]) -> Any:
    """Let a loader work on a text that is within the limits, and say what is wrong with it in one line."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_YAML_BYTES:
        size = f"{MAX_YAML_BYTES // 1024:,} KiB"
        raise InputError(file, f"more than {size} of YAML", allowed=f"at most {size}")
    try:
        _refuse_unbounded(text, file, first_line)
        loader = _Loader(text)
        try:
            return work(loader)
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
