"""JSON in the manner of articy:draft's Unity and generic exports: packages of models with properties and templates.

It is read by importers that know that form; articy itself cannot import it. Ids are 16 hexadecimal digits, made from the
item's place in the ledger, so that they stay the same from one export to the next.
"""

from hashlib import sha256
from typing import Any, Final

from ludic_deepeval.engines import Exported
from ludic_deepeval.engines.rows import Row, tables_of
from ludic_deepeval.files import dump_json

_ENTITIES: Final = {"Characters": "Entity", "Npcs": "Entity", "Quests": "FlowFragment"}
_NAMES: Final = ("name", "title", "text", "summary", "protagonist", "id")


def files(stories: tuple[Exported, ...]) -> dict[str, str]:
    """Return `ludic.articy.json`."""
    tables = tables_of(stories)
    models = [
        _model(table, row, number) for table, rows in tables.items() for number, row in enumerate(rows, 1)
    ]
    kinds = sorted({model["Type"] for model in models})
    data = {
        "Settings": {"ExportVersion": "1.0", "set_Localization": "False"},
        "Project": {"Name": "ludic", "DetailName": "Fact Ledgers and quests", "TechnicalName": "ludic"},
        "GlobalVariables": [],
        "ObjectDefinitions": [{"Type": kind, "Class": kind} for kind in kinds],
        "Packages": [{"Name": "Ludic", "IsDefaultPackage": True, "Models": models}],
    }
    return {"ludic.articy.json": dump_json(data)}


def _model(table: str, row: Row, number: int) -> dict[str, Any]:
    key = row.get("id") or row.get("event") or row.get("quest") or ""
    technical = f"{row['story']}_{table}_{number}"
    name = next((str(row[column]) for column in _NAMES if row.get(column)), technical)
    return {
        "Type": _ENTITIES.get(table, f"Ludic{table}"),
        "Properties": {
            "Id": "0x" + sha256(f"{row['story']}/{table}/{key}/{number}".encode()).hexdigest()[:16].upper(),
            "TechnicalName": technical,
            "DisplayName": name,
        },
        "Template": {f"Ludic{table}": dict(row)},
    }
