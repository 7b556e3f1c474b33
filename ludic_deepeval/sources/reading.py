"""One source and one file in, the passages of it out."""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from ludic_deepeval.errors import InputError, shown
from ludic_deepeval.sources import in_csv, in_json, pointer
from ludic_deepeval.sources.passage import MAX_STORIES, Passage, id_from
from ludic_deepeval.sources.pointer import MISSING, Steps
from ludic_deepeval.sources.settings import CodeSource, Column, Source, TableSource, TreeSource
from ludic_deepeval.sources.spelling import escape_pieces, require_text, spelled

_FRONT: Final = ("title", "profile", "bible")
_TREE_FRONT: Final = (*_FRONT, "background_log", "expect", "intentional")

Reader: TypeAlias = Callable[[Steps], Any]


def passages_in(source: Source, raw: str, file: object) -> Iterator[Passage]:
    """Yield the stories that a source finds in a file, in the file's order; texts without prose among them.

    Args:
        source: Where the stories are.
        raw: The decoded file.
        file: What to call it in errors.

    Raises:
        InputError: The file is not of the source's kind, holds nothing where the source says, or holds no text there.
    """
    if isinstance(source, TreeSource):
        found = _in_tree(source, raw, file)
    elif isinstance(source, TableSource):
        found = _in_table(source, raw, file)
    else:
        found = _in_code(source, raw, file)
    for passage in found:
        require_text(passage.text, passage.at, raw, file)
        yield passage


# JSON and YAML


def _in_tree(source: TreeSource, raw: str, file: object) -> Iterator[Passage]:
    keys = pointer.parse(source.pointer)
    data, opened = _open_json(raw, file) if source.kind == "json" else _open_yaml(raw, file)
    found = pointer.find(data, keys)
    if not found and (there := pointer.what_is_there(data, keys)):
        hint = "mend `pointer` in [[tool.ludic.sources]]"
        raise InputError(file, f"nothing at {shown(source.pointer)}; {there}", hint=hint)
    for steps, value in found:
        if value is not None and not isinstance(value, str):
            raise InputError(file, f"found {shown(value)}", where=pointer.write(steps), allowed="text")
    texts = [steps for steps, value in found if value is not None]
    if len(texts) > MAX_STORIES:
        raise InputError(file, f"more than {MAX_STORIES:,} stories", allowed=f"at most {MAX_STORIES:,}")
    read = opened(texts)
    for steps in texts:
        text, at = read(steps)
        if not text.strip():
            continue
        told = ".".join(map(str, steps)) or "text"
        story_id = told if source.id is None else _referred(source.id, keys, steps, data)
        front = {name: _front(getattr(source, name), keys, steps, data) for name in _TREE_FRONT}
        known = {name: value for name, value in front.items() if value is not None}
        yield Passage(id_from(story_id, raw, at[0], file), text, at, known)


def _open_json(raw: str, file: object) -> tuple[Any, Callable[[list[Steps]], Reader]]:
    def opened(texts: list[Steps]) -> Reader:
        offsets = in_json.locate(raw, texts, file)
        return lambda steps: in_json.text_at(raw, offsets[steps])

    return in_json.load(raw, file), opened


def _open_yaml(raw: str, file: object) -> tuple[Any, Callable[[list[Steps]], Reader]]:
    from ludic_deepeval.sources.in_yaml import Tree  # noqa: PLC0415  # a file of another kind needs no YAML

    tree = Tree(raw, file)
    return tree.data, lambda _: tree.text_at


def _front(setting: str | None, keys: tuple[str, ...], steps: Steps, data: object) -> object:
    """A constant, or the value that a pointer leads to."""
    if setting is None or not pointer.is_pointer(setting):
        return setting
    return _referred(setting, keys, steps, data)


def _referred(reference: str, keys: tuple[str, ...], steps: Steps, data: object) -> object:
    value = pointer.value_at(data, pointer.related(reference, keys, steps))
    return None if value is MISSING else value


# CSV


def _in_table(source: TableSource, raw: str, file: object) -> Iterator[Passage]:
    table = in_csv.Table(raw, source.delimiter, file)
    column, ids = table.column(source.column, "column"), table.column(source.id, "id")
    settings = {name: value for name in _FRONT if (value := getattr(source, name)) is not None}
    numbers = {
        name: table.column(value.column, name)
        for name, value in settings.items()
        if isinstance(value, Column)
    }
    for row in table.rows:

        def cell(number: int, row: list[in_csv.Cell] = row) -> str:
            return row[number].text(raw)[0].strip() if number < len(row) else ""

        if not cell(column):
            continue
        text, at = row[column].text(raw)
        given = {name: cell(numbers[name]) if name in numbers else value for name, value in settings.items()}
        front = {name: value for name, value in given.items() if value}
        yield Passage(id_from(cell(ids), raw, at[0], file), text, at, front)


# Code


def _in_code(source: CodeSource, raw: str, file: object) -> Iterator[Passage]:
    from ludic_deepeval.sources.in_code import find_all  # noqa: PLC0415  # other kinds need no process

    settings = {name: value for name in _FRONT if (value := getattr(source, name)) is not None}
    for n, spans in enumerate(find_all(source.pattern, raw, file), start=1):
        if "text" not in spans:
            continue
        start, end = spans["text"]
        text, at = spelled(raw, start, end, escape_pieces(raw, start, end, source.unescape, file))
        told = {name: raw[slice(*spans[name])].strip() for name in ("id", *_FRONT) if name in spans}
        story_id = told.pop("id", str(n))
        yield Passage(id_from(story_id, raw, start, file), text, at, settings | told)
