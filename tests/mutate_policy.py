# ruff: noqa: T201  # a script that reports
"""Break each default of `ludic_deepeval/policy.py` in turn and see a test fail.

    python tests/mutate_policy.py

Each mutant is a copy of the package with one default changed, put first on PYTHONPATH. Prints one line for each; exits
with 1 if a mutant survives, if a default has no mutant, or if the tests fail on the package as it is.
"""

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "ludic_deepeval"
TESTS = ("tests/oracles/test_paper_figures.py", "tests/ludic/test_scoring.py", "tests/ludic/test_policy.py")

# What each literal of a default becomes, in the order of the literals; a tuple changes several at once, since the four
# weights must go on summing to 1.
MUTANTS: dict[str, list[dict[int, str]]] = {
    "profile": [{0: "'one-shot'"}],
    "weights": [
        {0: "'0.41'", 1: "'0.29'"},
        {1: "'0.31'", 2: "'0.19'"},
        {2: "'0.21'", 3: "'0.09'"},
        {3: "'0.11'", 0: "'0.39'"},
    ],
    "tau": [{0: "'0.9'"}, {1: "'0.7'"}, {1: "'0.5'"}, {2: "'0.3'"}, {2: "'0.1'"}],
    "node_share": [{0: "'0.6'"}, {0: "'0.8'"}],
    "active_cap": [{0: "2"}, {0: "4"}],
    "reactivity_cap": [{0: "'4.9'"}, {0: "'5.1'"}],
    "goal_cap": [{0: "3"}, {0: "5"}],
    "hole_peak": [{0: "2"}, {0: "4"}],
    "hole_decay": [{0: "'0.14'"}, {0: "'0.16'"}],
    "density": [{0: "'0.29'"}, {0: "'0.31'"}, {0: "'0.36'"}],
    "pcv_weights": [{0: "3"}, {0: "5"}, {1: "3"}, {1: "5"}, {2: "0"}, {2: "2"}, {3: "0"}, {3: "2"}],
    "band_width": [{0: "2"}, {0: "4"}],
    "full_events": [{0: "1"}, {0: "3"}],
    "further_share": [{0: "'0.4'"}, {0: "'0.6'"}],
    "lpi_gate": [{0: "'0.69'"}, {0: "'0.71'"}, {0: "'0.7001'"}],
    "pcv_gate": [{0: "Fraction(149)"}, {0: "Fraction(151)"}],
    "campaign_tier": [{0: "149"}, {0: "151"}],
    "one_shot_tier": [{0: "99"}, {0: "101"}],
    "fail_on": [{}],
    "severity": [{}],
    "calibration": [{0: "'said to be'"}],
}
# What an empty tuple becomes, which has no literal in it.
FILLED = {"fail_on": "('gate',)", "severity": "(('few-hooks', 'error'),)"}


def literals(default: ast.expr) -> list[ast.Constant]:
    """The constants of a default in the order of the text."""
    found = [node for node in ast.walk(default) if isinstance(node, ast.Constant)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def replaced(source: str, changes: list[tuple[ast.expr, str]]) -> str:
    """The source with expressions exchanged, from the last to the first so that positions hold."""
    lines = source.splitlines(keepends=True)
    for node, text in sorted(
        changes, key=lambda change: (change[0].lineno, change[0].col_offset), reverse=True
    ):
        if node.lineno != node.end_lineno:
            sys.exit(f"line {node.lineno}: a default over several lines")
        line = lines[node.lineno - 1].encode()
        lines[node.lineno - 1] = (
            line[: node.col_offset] + text.encode() + line[node.end_col_offset :]
        ).decode()
    return "".join(lines)


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Yield (what is changed, the mutated source) for every default of `Policy`."""
    (policy,) = (
        node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == "Policy"
    )
    defaults = {
        node.target.id: node.value
        for node in policy.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
    }
    if defaults.keys() != MUTANTS.keys():
        sys.exit(f"no mutant, or no default: {', '.join(sorted(defaults.keys() ^ MUTANTS.keys()))}")
    for name, default in defaults.items():
        found = literals(default)
        untouched = set(range(len(found))) - {at for change in MUTANTS[name] for at in change}
        if untouched:
            sys.exit(f"{name}: no mutant changes literal {untouched}")
        for change in MUTANTS[name]:
            changes = [(found[at], text) for at, text in change.items()] or [(default, FILLED[name])]
            told = ", ".join(f"{ast.unparse(old)} → {new}" for old, new in changes)
            yield f"{name}: {told}", replaced(source, changes)


def first_failure(source: str) -> str | None:
    """Run the tests on the package with this policy.py; return the first that fails, or None."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / PACKAGE.name
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        (copy / "policy.py").write_text(source, encoding="utf-8")
        proof = f"import ludic_deepeval.policy as p; assert p.__file__.startswith({folder!r}), p.__file__"
        settings = {**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run([sys.executable, "-c", proof], cwd=folder, env=settings, check=True)
        # Not `-m pytest`, which would put the working folder, with the real package in it, before PYTHONPATH.
        command = [sys.executable, "-c", "import sys, pytest; sys.path.remove(''); sys.exit(pytest.main())"]
        # Nor the setting that puts it there for tests that share helpers.
        options = [
            "-o",
            "pythonpath=",
            "-x",
            "-q",
            "--no-header",
            "--tb=no",
            "-p",
            "no:cacheprovider",
            *TESTS,
        ]
        run = subprocess.run(
            [*command, *options], cwd=ROOT, env=settings, check=False, capture_output=True, text=True
        )
    if run.returncode == 0:
        return None
    failed = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if run.returncode != 1 or not failed:
        sys.exit(f"pytest did not run:\n{run.stdout}{run.stderr}")
    return failed[0].partition(" - ")[0].partition("::")[2]


def main() -> int:
    """Judge every mutant."""
    source = (PACKAGE / "policy.py").read_text(encoding="utf-8")
    if failure := first_failure(source):
        print(f"the tests fail on the package as it is: {failure}")
        return 1
    survived = 0
    listed = list(mutants(source))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (name, _), failure in zip(
            listed, pool.map(first_failure, (text for _, text in listed)), strict=True
        ):
            print(f"killed    {name}  by {failure}" if failure else f"SURVIVED  {name}", flush=True)
            survived += failure is None
    print(f"{len(listed) - survived} of {len(listed)} mutants killed")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
