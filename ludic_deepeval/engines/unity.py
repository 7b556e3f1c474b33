"""Unity: one JSON file and the C# types that `JsonUtility` reads it with.

`JsonUtility` knows serializable classes with public fields, arrays and lists; no null, no dictionary, no array at the top.
"""

from typing import Final

from ludic_deepeval.engines import Exported
from ludic_deepeval.engines.rows import NO_NUMBER, TABLES, tables_of
from ludic_deepeval.files import dump_json

VERSION: Final = 1
_TYPES: Final = {"text": "string", "number": "int", "flag": "bool", "texts": "string[]"}
_KEYWORDS: Final = frozenset({"event", "open", "object", "string", "params", "namespace", "class", "base"})
_NOTE: Final = f"""// Written by `ludic export --to unity`; do not edit. Put ludic.json into a folder named Resources and read it with
//     var data = LudicData.Read(Resources.Load<TextAsset>("ludic").text);
// An empty string or {NO_NUMBER} stands for what the ledger does not say.
"""


def files(stories: tuple[Exported, ...]) -> dict[str, str]:
    """Return `ludic.json` and `LudicTypes.cs`."""
    data = {"version": VERSION} | {_list(table): rows for table, rows in tables_of(stories).items()}
    return {"ludic.json": dump_json(data), "LudicTypes.cs": types()}


def types() -> str:
    """Return the C# types, from the same tables as the data."""
    lines = [_NOTE, "using System;", "", "namespace Ludic", "{"]
    for table, columns in TABLES.items():
        lines += ["    [Serializable]", f"    public class {_class(table)}", "    {"]
        lines += [f"        public {_TYPES[kind]} {_field(name)};" for name, kind in columns.items()]
        lines += ["    }", ""]
    lines += ["    [Serializable]", "    public class LudicData", "    {", "        public int version;"]
    lines += [f"        public {_class(table)}[] {_field(_list(table))};" for table in TABLES]
    lines += [
        "#if UNITY_5_3_OR_NEWER",
        "        public static LudicData Read(string json)",
        "        {",
        "            return UnityEngine.JsonUtility.FromJson<LudicData>(json);",
        "        }",
        "#endif",
        "    }",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _class(table: str) -> str:
    singular = {"Mysteries": "Mystery", "EventPhysical": "EventPhysical", "EventInventory": "EventInventory"}
    return singular.get(table, table.removesuffix("s"))


def _list(table: str) -> str:
    return table[0].lower() + table[1:]


def _field(name: str) -> str:
    return f"@{name}" if name in _KEYWORDS else name
