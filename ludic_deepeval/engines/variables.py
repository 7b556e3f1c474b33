"""ink and Yarn Spinner: what is known as variables, and each quest as a list of what it is made of."""

import json
import re
from collections.abc import Iterator
from typing import Final

from ludic_deepeval.engines import Exported
from ludic_deepeval.engines.rows import NO_NUMBER, TABLES, tables_of

_NESTED: Final = frozenset(
    {"EventRelations", "EventPhysical", "EventInventory", "EventSkills", "EventPractices", "QuestFields"}
)
_UNUSED: Final = frozenset({"story", "id", "schema_version"})
Value = str | int | bool


def ink(stories: tuple[Exported, ...]) -> dict[str, str]:
    """Return `ludic.ink`, to be taken in with `INCLUDE ludic.ink`."""
    lines = [
        "// Written by `ludic export --to ink`; do not edit. INCLUDE ludic.ink",
        "// An empty string or -1 stands for what the ledger does not say.",
    ]
    lines += [f"VAR {name} = {_ink(value)}" for name, value in _variables(stories)]
    return {"ludic.ink": "\n".join(lines) + "\n"}


def yarn(stories: tuple[Exported, ...]) -> dict[str, str]:
    """Return `Ludic.yarn`: one node that declares every variable."""
    lines = [
        "title: LudicFacts",
        "---",
        "// Written by `ludic export --to yarn`; do not edit.",
        "// An empty string or -1 stands for what the ledger does not say.",
    ]
    lines += [f"<<declare ${name} = {_yarn(value)}>>" for name, value in _variables(stories)]
    return {"Ludic.yarn": "\n".join([*lines, "==="]) + "\n"}


def _variables(stories: tuple[Exported, ...]) -> Iterator[tuple[str, Value]]:
    """Yield name and value, the names unique and the same in both languages."""
    taken: set[str] = set()
    for table, rows in tables_of(stories).items():
        if table in _NESTED:
            continue
        for row in rows:
            head = _name(row["story"], *([] if table == "Characters" else [_one(table), row["id"]]))
            for column, kind in TABLES[table].items():
                if column in _UNUSED:
                    continue
                value = ", ".join(row[column]) if kind == "texts" else row[column]
                name = unique = _name(head, column)
                number = 2
                while unique in taken:
                    unique, number = f"{name}_{number}", number + 1
                taken.add(unique)
                yield unique, value


def _one(table: str) -> str:
    return {"Npcs": "npc", "Mysteries": "mystery", "BackgroundEvents": "log"}.get(
        table, table.lower().removesuffix("s")
    )


def _name(*parts: str) -> str:
    """Letters, digits and _ alone: what is neither becomes its code point, so that 大門 and 大门 stay two."""
    whole = "_".join(parts)
    return re.sub(r"[^A-Za-z0-9_]", lambda other: "_" if other[0] in "-. " else f"u{ord(other[0]):x}", whole)


def _line(text: str) -> str:
    return " ".join(text.split())


def _ink(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    # ink's strings know no escapes: a quotation mark would end one, and braces or bars would be logic.
    plain = _line(value)
    for sign, instead in (
        ('"', "”"),
        ("{", "("),
        ("}", ")"),
        ("|", "/"),
        ("\\", "/"),
        ("//", "/ /"),
        ("/*", "/ *"),
    ):
        plain = plain.replace(sign, instead)
    return f'"{plain}"'


def _yarn(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value >= 0 else f"{NO_NUMBER}"
    # A string in Yarn is JSON's, but that braces begin an expression and >> ends the command.
    plain = _line(value).replace("{", "(").replace("}", ")").replace(">>", "> >").replace("<<", "< <")
    return json.dumps(plain, ensure_ascii=False)
