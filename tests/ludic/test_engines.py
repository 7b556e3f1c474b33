"""Exports for game engines: each is read back by a reader of its own form and gives the ledger again."""

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.engines import ENGINES, Exported
from ludic_deepeval.engines.rows import TABLES, ledgers_of
from ludic_deepeval.ledger import (
    Ability,
    BackgroundEvent,
    Event,
    FactLedger,
    Goal,
    Hook,
    Mystery,
    Npc,
    Physical,
    Possession,
    Practice,
    Relation,
)
from ludic_deepeval.lockfile import load_lockfile
from ludic_deepeval.quests import quests_of
from ludic_deepeval.quests.templates import default_templates

STORIES = Path(__file__).parents[2] / "test_cases/backstories"
NASTY = 'a "quoted" {brace} | bar \\ back, comma; <b>tag</b> >> << // 你好\nnext line'
HOSTILE = FactLedger(
    schema_version=1,
    protagonist=NASTY,
    npcs=(
        Npc(id="a", name=NASTY, aliases=(NASTY, "b"), status="missing", tie="enemy", faction=NASTY, unresolved=True),
        Npc(id="大門", name="</script><script>alert(1)</script>"),
        Npc(id="大门", name="${jndi}"),
        Npc(id="a-b", name="one"),
        Npc(id="a.b", name="another"),
    ),
    events=(
        Event(
            id="e1", phase="P2", summary=NASTY, immediacy=1, gravity=10, linkage=5, divergence=2, location=NASTY,
            factions=(NASTY, "g"), practices=(Practice(practice=NASTY, openly=True),), asserted_by=NASTY,
            physical=(Physical(kind="scar", text=NASTY, permanent=True), Physical(kind="age", age=0, present=False)),
            relations=(Relation(npc="a", status="missing", tie="enemy"), Relation(npc="a-b")),
            inventory=(Possession(item=NASTY, change="lost"),), skills=(Ability(skill=NASTY, change="gained"),),
        ),
        Event(id="e2", phase="P3", summary="=1+1"),
    ),
    hooks=(Hook(id="h", text=NASTY, tier=1, npc="a", location=NASTY), Hook(id="shut", text="x", tier=3, open=False)),
    goals=(Goal(id="g", text=NASTY, proactive=False),),
    mysteries=(Mystery(id="m", text=NASTY),),
    background_log=(BackgroundEvent(id="l", phase="P1", kind="death", subject=NASTY, text=NASTY),),
)  # fmt: skip


def bare(ledger: FactLedger) -> FactLedger:
    """The ledger as an export keeps it: without evidence and without the reader's own mark on mysteries."""
    parts = ledger.model_dump()
    for name in FactLedger.LISTS:
        for item in parts[name]:
            item["evidence"] = ()
            item.pop("thematic_hole", None)
    return FactLedger.model_validate(parts)


def stories() -> tuple[Exported, ...]:
    templates = default_templates()
    found = [("hostile", HOSTILE)]
    found += [
        (f"s{n}", load_lockfile(path).ledger) for n, path in enumerate(sorted(STORIES.glob("*.ledger.json")))
    ]
    return tuple(Exported(key, NASTY, ledger, quests_of(ledger, templates)) for key, ledger in found)


@pytest.fixture(scope="module")
def exported() -> tuple[Exported, ...]:
    return stories()


@pytest.fixture(scope="module")
def wanted(exported: tuple[Exported, ...]) -> dict[str, FactLedger]:
    return {story.key: bare(story.ledger) for story in exported}


def test_the_tables_hold_every_field_of_every_item() -> None:
    models = {
        "Npcs": Npc, "Events": Event, "EventRelations": Relation, "EventPhysical": Physical, "EventInventory": Possession,
        "EventSkills": Ability, "EventPractices": Practice, "Hooks": Hook, "Goals": Goal, "Mysteries": Mystery,
        "BackgroundEvents": BackgroundEvent,
    }  # fmt: skip
    nested = {"relations", "physical", "inventory", "skills", "practices"}
    for table, model in models.items():
        fields = set(model.model_fields) - {"evidence", "thematic_hole"} - nested
        assert set(TABLES[table]) - {"story", "event"} == fields


# Unity


def test_unitys_json_gives_the_ledgers_again(exported: Any, wanted: Any) -> None:
    data = json.loads(ENGINES["unity"](exported)["ludic.json"])
    tables = {table: data[table[0].lower() + table[1:]] for table in TABLES}
    assert ledgers_of(tables) == wanted


def test_unitys_json_has_nothing_that_its_reader_does_not_know(exported: Any) -> None:
    text = ENGINES["unity"](exported)["ludic.json"]
    data = json.loads(text, parse_float=lambda found: pytest.fail(f"a float: {found}"))
    assert "null" not in re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    for name, rows in data.items():
        assert name == "version" or all(
            isinstance(value, str | int | list) for row in rows for value in row.values()
        )


def test_unitys_types_have_the_fields_of_its_json(exported: Any) -> None:
    files = ENGINES["unity"](exported)
    classes = {
        name: re.findall(r"public (\S+) @?(\w+);", body)
        for name, body in re.findall(
            r"public class (\w+)\s*\{(.*?)\n    \}", files["LudicTypes.cs"], re.DOTALL
        )
    }
    kinds = {"string": str, "int": int, "bool": bool, "string[]": list}
    data = json.loads(files["ludic.json"])
    for kind, name in classes["LudicData"]:
        if name == "version":
            continue
        fields = {field: kinds[type_] for type_, field in classes[kind.removesuffix("[]")]}
        assert data[name] or name in {"eventPractices", "backgroundEvents"}
        for row in data[name]:
            assert {key: type(value) for key, value in row.items()} == fields


def test_the_c_sharp_compiles(tmp_path: Path, exported: Any) -> None:
    compiler = shutil.which("mcs") or shutil.which("csc")
    if compiler is None:
        pytest.skip("no C# compiler (mcs or csc) on this machine")
    source = tmp_path / "LudicTypes.cs"
    source.write_text(ENGINES["unity"](exported)["LudicTypes.cs"], encoding="utf-8")
    done = subprocess.run(
        [compiler, "-target:library", f"-out:{tmp_path / 'ludic.dll'}", str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


# Unreal


def column(name: str) -> str:
    """A column in Unreal's manner; Name is taken by the row's name."""
    return {"name": "DisplayName"}.get(name, "".join(part.capitalize() for part in name.split("_")))


def unreal_array(text: str) -> list[str]:
    """Read UE's text form of an array of strings: ("a","b \\" c")."""
    found = re.findall(r'"((?:[^"\\]|\\.)*)"', text, re.DOTALL)
    escapes = {"n": "\n", "r": "\r"}
    return [
        re.sub(r"\\(.)", lambda sign: escapes.get(sign[1], sign[1]), one, flags=re.DOTALL) for one in found
    ]


def test_unreals_csv_gives_the_ledgers_again(exported: Any, wanted: Any) -> None:
    files = ENGINES["unreal"](exported)
    readers = {
        "text": str, "number": int, "flag": {"True": True, "False": False}.__getitem__, "texts": unreal_array,
    }  # fmt: skip
    tables = {}
    for table, columns in TABLES.items():
        header, *rows = csv.reader(io.StringIO(files[f"Ludic{table}.csv"], newline=""))
        assert header == [
            "---",
            *map(column, columns),
        ]
        assert len({row[0] for row in rows}) == len(rows)  # row names are unique
        tables[table] = [
            {name: readers[kind](cell) for (name, kind), cell in zip(columns.items(), row[1:], strict=True)}
            for row in rows
        ]
    assert ledgers_of(tables) == wanted


def test_unreals_json_gives_the_ledgers_again(exported: Any, wanted: Any) -> None:
    files = ENGINES["unreal"](exported)
    tables = {}
    for table, columns in TABLES.items():
        by_column = {column(name): name for name in columns}
        rows = json.loads(files[f"Ludic{table}.json"])
        assert len({row.pop("Name") for row in rows}) == len(rows)
        tables[table] = [{by_column[key]: value for key, value in row.items()} for row in rows]
    assert ledgers_of(tables) == wanted


def test_unreals_structs_have_the_columns(exported: Any) -> None:
    header = ENGINES["unreal"](exported)["LudicRows.h"]
    structs = re.findall(r"struct FLudic(\w+)Row : public FTableRowBase\s*\{(.*?)\n\};", header, re.DOTALL)
    kinds = {"FString": "text", "int32": "number", "bool": "flag", "TArray<FString>": "texts"}
    found = {
        name: [(called, kinds[kind]) for kind, called in re.findall(r"    (\S+) (\w+)(?: = \S+)?;", body)]
        for name, body in structs
    }
    assert found == {
        table: [(column(name), kind) for name, kind in columns.items()] for table, columns in TABLES.items()
    }


# ink and Yarn

INK = re.compile(r'VAR ([A-Za-z]\w*) = (true|false|-?\d+|"[^"{}|\\\n]*")', re.ASCII)
YARN = re.compile(r'<<declare \$([A-Za-z]\w*) = (true|false|-?\d+|"(?:[^"\\]|\\.)*")>>', re.ASCII)


def test_ink_and_yarn_declare_the_same_names_once_each(exported: Any) -> None:
    ink = ENGINES["ink"](exported)["ludic.ink"].splitlines()
    yarn = ENGINES["yarn"](exported)["Ludic.yarn"].splitlines()
    assert yarn[:2] == ["title: LudicFacts", "---"]
    assert yarn[-1] == "==="
    declared = [INK.fullmatch(line) for line in ink if not line.startswith("//")]
    in_yarn = [YARN.fullmatch(line) for line in yarn[2:-1] if not line.startswith("//")]
    assert all(declared)
    assert all(in_yarn)
    names = [match[1] for match in declared if match]
    assert names == [match[1] for match in in_yarn if match]
    assert len(set(names)) == len(names)
    assert "hostile_npc_u5927u9580_name" in names  # 大 is U+5927, 門 is U+9580 and 门 is U+95E8
    assert "hostile_npc_u5927u95e8_name" in names
    assert {"hostile_npc_a_b_name", "hostile_npc_a_b_name_2"} <= set(names)  # a-b and a.b
    values = {match[1]: match[2] for match in in_yarn if match}
    assert json.loads(values["hostile_npc_a_status"]) == "missing"
    assert values["hostile_event_e2_gravity"] == "-1"
    assert values["hostile_hook_h_tier"] == "1"
    for value in values.values():
        assert not re.search(r"[{}]|<<|>>", value)


def test_ink_that_a_compiler_takes(tmp_path: Path, exported: Any) -> None:
    found = _inkjs(tmp_path)
    source = ENGINES["ink"](exported)["ludic.ink"] + "\n{hostile_npc_a_name}. {hostile_hook_h_tier}\n-> END\n"
    (tmp_path / "all.ink").write_text(source, encoding="utf-8")
    script = (
        f"const {{Compiler}} = require({json.dumps(found)});"
        f"const s = new Compiler(require('fs').readFileSync({json.dumps(str(tmp_path / 'all.ink'))}, 'utf8')).Compile();"
        "process.stdout.write(s.ContinueMaximally())"
    )
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    said = "a ”quoted” (brace) / bar / back, comma; <b>tag</b> >> << / / 你好 next line. 1"
    assert done.stdout.strip() == said


def _inkjs(folder: Path) -> str:
    """Where Node finds inkjs's compiler; skips the test where it does not."""
    node = shutil.which("node")
    if node is not None:
        done = subprocess.run(
            [node, "-e", "process.stdout.write(require.resolve('inkjs/full'))"],
            capture_output=True, text=True, cwd=folder, timeout=60, check=False,
        )  # fmt: skip
        if done.returncode == 0:
            return done.stdout
    pytest.skip("no inkjs for Node here: npm install inkjs, and NODE_PATH that leads to it")


# Foundry and articy


def test_a_foundry_journal_holds_the_ledger_and_no_markup_of_the_storys(exported: Any) -> None:
    files = ENGINES["foundry"](exported)
    assert len(files) == len(exported)
    for story in exported:
        entry = json.loads(files[f"fvtt-JournalEntry-{story.key}.json"])
        assert FactLedger.model_validate(entry["flags"]["ludic-worth"]["ledger"]) == story.ledger
        assert len({page["_id"] for page in entry["pages"]}) == len(entry["pages"]) == 2 + len(story.quests)
        for page in entry["pages"]:
            assert re.fullmatch(r"[0-9a-f]{16}", page["_id"])
            tags = set(re.findall(r"<(/?\w+)", page["text"]["content"]))
            known = {"h2", "ul", "li", "p", "table", "tbody", "tr", "th", "td", "code", "strong"}
            assert tags <= known | {f"/{tag}" for tag in known}


def test_articys_json_gives_the_ledgers_again(exported: Any, wanted: Any) -> None:
    data = json.loads(ENGINES["articy"](exported)["ludic.articy.json"])
    models = data["Packages"][0]["Models"]
    assert len({model["Properties"]["Id"] for model in models}) == len(models)
    assert all(re.fullmatch(r"0x[0-9A-F]{16}", model["Properties"]["Id"]) for model in models)
    assert {model["Type"] for model in models} == {one["Type"] for one in data["ObjectDefinitions"]}
    tables: dict[str, list[Any]] = {table: [] for table in TABLES}
    for model in models:
        [(name, row)] = model["Template"].items()
        tables[name.removeprefix("Ludic")].append(row)
    assert ledgers_of(tables) == wanted


# The command


def test_the_command_writes_the_files_and_says_so(tmp_path: Path, ludic: Any) -> None:
    out = tmp_path / "out"
    done = ludic("export", STORIES / "from-the-box.md", "--to", "unity", "--out", out, "--json")
    assert done.code == 0
    assert json.loads(done.out)["stories"] == ["from_the_box"]
    assert sorted(path.name for path in out.iterdir()) == ["LudicTypes.cs", "ludic.json"]
    before = (out / "ludic.json").read_bytes()
    assert ludic("export", STORIES / "from-the-box.md", "--to", "unity", "--out", out).code == 0
    assert (out / "ludic.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--to", "doom", "--out", "x"),
            "--to: found 'doom'; allowed: unity, unreal, ink, yarn, foundry, articy",
        )
    ],
)
def test_an_engine_that_there_is_not_is_refused(
    tmp_path: Path, ludic: Any, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = ludic("export", STORIES / "from-the-box.md", *arguments)
    assert done.code == 2
    assert said in done.err
    assert not list(tmp_path.iterdir())


def test_a_file_is_no_folder_to_write_into(tmp_path: Path, ludic: Any) -> None:
    (tmp_path / "out").write_text("mine", encoding="utf-8")
    assert ludic("export", STORIES / "from-the-box.md", "--to", "ink", "--out", tmp_path / "out").code == 2
    assert (tmp_path / "out").read_text(encoding="utf-8") == "mine"


def test_stories_of_one_name_keep_apart(tmp_path: Path, ludic: Any) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        for ending in ("md", "ledger.json"):
            shutil.copy(STORIES / f"five-doors.{ending}", tmp_path / folder)
    shutil.copytree(STORIES.parents[1] / "bible", tmp_path / "bible")
    done = ludic("export", tmp_path / "a", tmp_path / "b", "--to", "ink", "--out", tmp_path / "out", "--json")
    assert json.loads(done.out)["stories"] == ["five_doors", "five_doors_2"]
