"""Unreal: a DataTable for each list, as CSV and as JSON, and the row structs that they are imported with."""

import csv
import io
from typing import Any, Final

from ludic_deepeval.engines import Exported
from ludic_deepeval.engines.rows import TABLES, Kind, Row, tables_of
from ludic_deepeval.files import dump_json

_TYPES: Final = {"text": "FString", "number": "int32", "flag": "bool", "texts": "TArray<FString>"}


def files(stories: tuple[Exported, ...]) -> dict[str, str]:
    """Return `Ludic<Table>.csv` and `.json` for every table, and `LudicRows.h`."""
    found = {"LudicRows.h": header()}
    for table, rows in tables_of(stories).items():
        named = [(f"{row['story']}_{number}", row) for number, row in enumerate(rows, 1)]
        found[f"Ludic{table}.csv"] = _csv(table, named)
        found[f"Ludic{table}.json"] = dump_json(
            [{"Name": name} | {_column(key): value for key, value in row.items()} for name, row in named]
        )
    return found


def header() -> str:
    """Return the USTRUCTs, from the same tables as the data."""
    lines = [
        "// Written by `ludic export --to unreal`; do not edit. Import each Ludic<Table>.csv or .json as a DataTable of",
        "// FLudic<Table>Row. An empty string or -1 stands for what the ledger does not say.",
        "#pragma once",
        "",
        '#include "CoreMinimal.h"',
        '#include "Engine/DataTable.h"',
        '#include "LudicRows.generated.h"',
    ]
    for table, columns in TABLES.items():
        lines += ["", "USTRUCT(BlueprintType)", f"struct FLudic{table}Row : public FTableRowBase", "{"]
        lines += ["    GENERATED_BODY()"]
        for name, kind in columns.items():
            start = {"number": " = -1", "flag": " = false"}.get(kind, "")
            lines += [
                "",
                '    UPROPERTY(EditAnywhere, BlueprintReadOnly, Category = "Ludic")',
                f"    {_TYPES[kind]} {_column(name)}{start};",
            ]
        lines += ["};"]
    return "\n".join(lines) + "\n"


def _column(name: str) -> str:
    # In a DataTable's JSON "Name" is the name of the row.
    return "DisplayName" if name == "name" else "".join(part.capitalize() for part in name.split("_"))


def _csv(table: str, rows: list[tuple[str, Row]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    writer.writerow(["---", *map(_column, TABLES[table])])
    for name, row in rows:
        writer.writerow([name, *(_cell(row[key], kind) for key, kind in TABLES[table].items())])
    return stream.getvalue()


def _cell(value: Any, kind: Kind) -> str:  # a cell
    if kind == "flag":
        return "True" if value else "False"
    if kind == "texts":
        return "(" + ",".join(_quoted(one) for one in value) + ")" if value else ""
    return str(value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "\\r").replace("\n", "\\n")
    return f'"{escaped}"'
