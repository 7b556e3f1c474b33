"""On which line of a TOML file a value stands: `tomllib` does not say, and an error should.

Only for texts that `tomllib` has read: it decides what is TOML, this merely finds tables and keys in it.
"""

import re
import tomllib
from typing import Final

_KEY: Final = re.compile(r"""\s*((?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*'))*)\s*""")  # fmt: skip
_PART: Final = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*'""")
_TOKEN: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[{]|[\]}]|\n|[^"\'#\[\]{}\n]+',
    re.DOTALL,
)

Path = tuple[str | int, ...]


def lines_of(text: str) -> dict[Path, int]:
    """Return the line of each table and of each key, by its path: names, and numbers in arrays of tables.

    The parts of an inline table or an array stand on the line of its key.
    """
    found: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    for number, statement in _statements(text):
        if statement.startswith("["):
            many = statement.startswith("[[")
            match = _KEY.match(statement, 2 if many else 1)
            if match is None:
                continue
            table = _with_numbers(_names(match[1]), counts)
            if many:
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            found.setdefault(table, number)
        elif (match := _KEY.match(statement)) is not None and statement[match.end() :].startswith("="):
            found.setdefault((*table, *_names(match[1])), number)
    return found


def _statements(text: str) -> list[tuple[int, str]]:
    """The beginning of each table header and of each key with its value, which may go over several lines."""
    found: list[tuple[int, str]] = []
    line, depth, begun, parts = 1, 0, 1, list[str]()
    for piece in _TOKEN.findall(text):
        if piece == "\n" and depth == 0:
            if "".join(parts).strip():
                found.append((begun, "".join(parts).strip()))
            parts = []
        elif not piece.startswith("#"):
            if not "".join(parts).strip():
                begun = line
            parts.append(piece)
            depth += (piece in "[{") - (piece in "]}")
        line += piece.count("\n")
    if "".join(parts).strip():
        found.append((begun, "".join(parts).strip()))
    return found


def _names(key: str) -> Path:
    return tuple(next(iter(tomllib.loads(f"{part} = 0"))) for part in _PART.findall(key))


def _with_numbers(path: Path, counts: dict[Path, int]) -> Path:
    """A table under an array of tables belongs to the last of them."""
    whole: Path = ()
    for part in path[:-1]:
        whole = (*whole, part)
        if whole in counts:
            whole = (*whole, counts[whole])
    return (*whole, path[-1])


def line_at(lines: dict[Path, int], where: str) -> int | None:
    """The line of a place as errors name it, such as `factors.gate.gated` or `hypotheses[2].metric`, or of what it stands in.

    Names with dots in them are tried too: `factors.generator.qwen3:4.b.architect`.
    """
    spelt = {_spelt(path): number for path, number in lines.items()}
    while where:
        if where in spelt:
            return spelt[where]
        where = where[: max(where.rfind("."), where.rfind("["), 0)]
    return None


def _spelt(path: Path) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
