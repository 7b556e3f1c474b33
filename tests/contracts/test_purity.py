"""What the packages may load, asked of a fresh interpreter."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = (
    "deepeval",
    "trulens",
    "inspect_ai",
    "ollama",
    "anthropic",
    "openai",
    "pandas",
    "numpy",
    "rich",
    "rjieba",
)
STORY = ROOT / "ludic_deepeval" / "demo" / "2-open.md"


def loaded(code: str) -> set[str]:
    """Run code in a fresh interpreter and return which heavy packages it loaded."""
    script = (
        f"import sys\n{code}\nprint('\\n'.join(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(done.stdout.split()) & set(HEAVY)


@pytest.mark.parametrize("package", ["ludic_deepeval", "worth_deepeval", "trulens_feedback"])
def test_importing_a_package_loads_no_harness(package: str) -> None:
    assert loaded(f"import {package}") == set()


def test_the_whole_public_interface_loads_no_harness() -> None:
    assert loaded("import ludic_deepeval as l\n[getattr(l, name) for name in l.__all__]") == set()


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_ludic_check_loads_no_harness(options: list[str]) -> None:
    code = (
        f"sys.argv = ['ludic', 'check', *{options!r}, {str(STORY)!r}]\n"
        "import io, contextlib\nfrom ludic_deepeval.cli import main\n"
        "try:\n    with contextlib.redirect_stdout(io.StringIO()):\n        main()\n"
        "except SystemExit as end:\n    assert not end.code"
    )
    assert loaded(code) == set()


def test_ludic_check_against_a_bible_loads_no_harness() -> None:
    code = (
        f"sys.argv = ['ludic', 'check', {str(STORY)!r}, '--bible', {str(ROOT / 'bible/ember-road@v2')!r}]\n"
        "import io, contextlib\nfrom ludic_deepeval.cli import main\n"
        "try:\n    with contextlib.redirect_stdout(io.StringIO()):\n        main()\n"
        "except SystemExit as end:\n    assert not end.code"
    )
    assert loaded(code) == set()


PURE = (
    "lexicon",
    "setting",
    "contradiction",
    "statements",
    "retrieval",
    "triad",
    "lexical",
    "judge",
    "lore",
    "edits",
    "lore_study",
)


@pytest.mark.parametrize("module", PURE)
def test_the_pure_half_of_trulens_feedback_loads_no_harness(module: str) -> None:
    assert loaded(f"import trulens_feedback.{module}") == set()


def test_only_commands_import_trulens_feedback_and_inside_themselves() -> None:
    """`ludic check --bible` is in terminal.py; what shows recorded runs is in cli files of its own."""
    importers = {
        path.name: line
        for package in ("ludic_deepeval", "worth_deepeval")
        for path in (ROOT / package).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith(("import trulens_feedback", "from trulens_feedback"))
    }
    assert all(line.startswith(" ") for line in importers.values())
    assert all(name == "terminal.py" or name.startswith("cli_") for name in importers)
    assert "terminal.py" in importers


def test_the_pytest_plugin_loads_no_harness() -> None:
    assert loaded("import ludic_deepeval.pytest_plugin") == set()


@pytest.mark.parametrize(
    "module", ["names", "pool", "recorded", "budget", "ollama", "anthropic", "openai", "embeddings"]
)
def test_models_load_no_client_before_one_is_opened(module: str) -> None:
    assert loaded(f"import ludic_deepeval.llm.{module}, ludic_deepeval.prompts") == set()


@pytest.mark.parametrize(
    "module", ["board", "figures", "gather", "notes", "recorded", "studies", "triad_figures"]
)
def test_what_is_recorded_is_read_and_measured_without_trulens(module: str) -> None:
    assert not loaded(f"import trulens_feedback.{module}") & {"trulens", "deepeval", "numpy", "pandas"}


def test_every_public_name_exists_and_unknown_ones_do_not() -> None:
    import ludic_deepeval

    for name in ludic_deepeval.__all__:
        assert getattr(ludic_deepeval, name).__module__.startswith("ludic_deepeval") or name == "Outcome"
    assert sorted(ludic_deepeval.__all__) == dir(ludic_deepeval)
    with pytest.raises(AttributeError, match="no attribute 'lpi'"):
        ludic_deepeval.lpi  # noqa: B018


def test_only_the_adapters_import_a_harness() -> None:
    """Ruff's banned-api says the same; this also sees what a noqa would hide."""
    allowed = {
        "ludic_deepeval/metrics/backstory.py",
        "ludic_deepeval/metrics/base.py",
        "ludic_deepeval/metrics/session.py",
        "ludic_deepeval/rubric_metrics.py",
        "ludic_deepeval/pytest_plugin.py",
        "ludic_deepeval/llm/deepeval.py",
        "trulens_feedback/app.py",
        "trulens_feedback/database.py",
        "trulens_feedback/metrics.py",
        "trulens_feedback/page.py",
        "trulens_feedback/reading.py",
        "trulens_feedback/replay.py",
        "worth_deepeval/metrics.py",
        "worth_deepeval/inspect_task.py",
        "trulens_feedback/assertions.py",
    }
    importers = {
        path.relative_to(ROOT).as_posix()
        for package in ("ludic_deepeval", "worth_deepeval", "trulens_feedback")
        for path in (ROOT / package).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith(
            (
                "import deepeval",
                "from deepeval",
                "import trulens.",
                "from trulens.",
                "import inspect_ai",
                "from inspect_ai",
            )
        )
    }
    assert importers == allowed


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ("outcome", "ledger"), ("errors", "ledger"), ("text", "ledger"), ("ledger", "scoring"), ("vagueness", "scoring"),
        ("bible", "consistency"), ("scoring", "advice"), ("consistency", "check"), ("lockfile", "check"), ("check", "metrics"),
    ],
)  # fmt: skip
def test_dependencies_point_one_way(lower: str, higher: str) -> None:
    """Nothing below imports what stands above it (DESIGN, layout)."""
    source = (ROOT / "ludic_deepeval" / f"{lower}.py").read_text(encoding="utf-8")
    assert f"ludic_deepeval.{higher} " not in source
    assert f"ludic_deepeval.{higher}\n" not in source
