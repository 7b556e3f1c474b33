"""The pre-commit hook, in a scratch repository that is set up as the README says."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from ludic_deepeval.lockfile import write_lockfile
from ludic_deepeval.marks import lock_story
from ludic_deepeval.sources import read_story

if shutil.which("git") is None:
    pytest.skip("git is not installed", allow_module_level=True)

ROOT = Path(__file__).parents[2]
HOOKS: dict[str, dict[str, Any]] = {
    hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}
PROSE = "Odo Marsh drowned in the mill race.\n\nLast night {} in the market square.\n"
DEAD = "they drank to Odo Marsh"
ALIVE = "Odo Marsh bought her a drink"
SHEET = """\
sheet: 1
protagonist: Ysolde
people:
- {{name: Odo Marsh, id: odo, quote: Odo Marsh drowned, status: {status}}}
events:
- {{phase: youth, id: race, summary: he drowns, quote: drowned in the mill race, relations: [{{npc: odo, status: dead}}], immediacy: 3, gravity: 8, linkage: 5, divergence: 6}}
- {{phase: adulthood, id: drink, summary: a drink, quote: '{last}', location: market, practices: [{{practice: toasting, openly: true}}], {relations}immediacy: 3, gravity: 5, linkage: 5, divergence: 6}}
"""
BIBLE = """\
schema_version: 1
id: town
name: The Town
locations:
- {id: market, name: the market, text: A square with a well.}
"""
LAW = "rules:\n- {id: law, name: the law, practice: toasting, places: [market], text: Nobody drinks to the dead.}\n"


def write(path: Path, *, alive: bool = False, bible: bool = False) -> None:
    """A locked story; with `alive` the drowned man buys a drink."""
    last = ALIVE if alive else DEAD
    front = "---\nbible: town\n---\n" if bible else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(front + PROSE.format(last), encoding="utf-8")
    relations = "relations: [{npc: odo, status: alive}], " if alive else ""
    sheet = SHEET.format(last=last, status="alive" if alive else "dead", relations=relations)
    path.with_name(f"{path.stem}.marks.yaml").write_text(sheet, encoding="utf-8")
    story = read_story(path)
    write_lockfile(lock_story(story), story.lockfile)


@pytest.fixture(autouse=True, scope="module")
def _quiet_git() -> Iterator[None]:
    """No settings of whoever runs this, nor of the run that it is a part of."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("GIT_", "PRE_COMMIT"))]:
            patch.delenv(name)
        patch.delenv("GITHUB_BASE_REF", raising=False)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        for who in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{who}_NAME", "Test")
            patch.setenv(f"GIT_{who}_EMAIL", "test@example.org")
        yield


def git(*words: object, code: int = 0) -> str:
    """Run git and return all that it and its hooks say."""
    done = subprocess.run(
        ["git", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == code, done.stdout
    return done.stdout


def commit(message: str, *, refused: bool = False) -> str:
    git("add", "-A")
    return git("commit", "-m", message, code=1 if refused else 0)


def start(folder: Path) -> None:
    """Five stories that hold, three of them in one setting, in a repository whose current branch is main."""
    for name in ("one", "two", "three"):
        write(folder / f"stories/{name}.md", bible=True)
    write(folder / "stories/alone.md")
    write(folder / "stories/other.md")
    (folder / "bible/town/v1").mkdir(parents=True)
    (folder / "bible/town/v1/bible.yaml").write_text(BIBLE, encoding="utf-8")
    git("init", "-q", "-b", "main")


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository with the hook's own entry as its commit hook."""
    monkeypatch.chdir(tmp_path)
    start(tmp_path)
    commit("start")
    program, *options = shlex.split(HOOKS["ludic-check"]["entry"])
    assert program == "ludic"
    words = shlex.join([sys.executable, "-m", "ludic_deepeval", *options, "stories"])
    hook = tmp_path / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {words}\n", encoding="utf-8")
    hook.chmod(0o755)
    return tmp_path


def test_the_hooks_are_what_pre_commit_asks_for() -> None:
    for hook in HOOKS.values():
        assert {"id", "name", "description", "entry", "language"} <= set(hook)
        assert hook["language"] == "python"
        # A bible concerns stories that were not touched, and pre-commit says nothing of what was deleted.
        assert hook["pass_filenames"] is False
        assert hook["always_run"] is True
        assert "additional_dependencies" not in hook  # the bare package is enough
    assert HOOKS["ludic-check"]["stages"] == ["pre-commit"]
    assert HOOKS["ludic-check-branch"]["stages"] == ["pre-push", "manual"]


def test_a_contradiction_is_rejected_and_the_mended_story_taken(repo: Path) -> None:
    write(repo / "stories/alone.md", alive=True)
    said = commit("he lives", refused=True)
    assert "dead-then-active" in said
    assert "1 story: 1 not as it should be" in said  # only what changed
    write(repo / "stories/alone.md")
    (repo / "stories/alone.md").write_text(f"---\ntitle: Odo\n---\n{PROSE.format(DEAD)}", encoding="utf-8")
    assert "1 story: 1 as it should be" in commit("he is dead")
    assert git("log", "--format=%s").split("\n")[0] == "he is dead"


def test_a_commit_without_stories_passes_and_says_so(repo: Path) -> None:
    (repo / "README.md").write_text("Stories.", encoding="utf-8")
    assert "no story to check: none has changed since the last commit" in commit("words")


def test_a_bible_that_breaks_three_untouched_stories_is_rejected(repo: Path) -> None:
    with (repo / "bible/town/v1/bible.yaml").open("a", encoding="utf-8") as stream:
        stream.write(LAW)
    said = commit("a law", refused=True)
    assert said.count("lore-violation") == 3
    assert "3 stories: 3 not as they should be" in said or "3 stories: 3 not as it should be" in said


def test_a_commit_that_only_deletes_a_lockfile_is_rejected(repo: Path) -> None:
    git("rm", "-q", "stories/other.ledger.json")
    said = git("commit", "-m", "gone", code=1)
    assert "stories/other.md: not read yet" in said


def test_a_commit_of_some_files_and_one_in_a_worktree_are_judged(repo: Path, tmp_path: Path) -> None:
    """Git gives such commits an index of their own."""
    write(repo / "stories/alone.md", alive=True)
    said = git("commit", "-m", "some", "--", "stories", code=1)
    assert "dead-then-active" in said
    git("checkout", "-q", "--", ".")
    git("worktree", "add", "-q", tmp_path / "beside", "-b", "beside")
    write(tmp_path / "beside/stories/other.md", alive=True)
    git("-C", tmp_path / "beside", "add", "-A")
    said = git("-C", tmp_path / "beside", "commit", "-m", "there", code=1)
    assert "stories/other.md" in said
    assert "1 story: 1 not" in said


def readme_config() -> str:
    """The configuration that the README tells people to write."""
    [config] = re.findall(
        r"```yaml\n(repos:\n.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    return str(config)


def test_the_readmes_configuration_names_a_hook_that_there_is() -> None:
    [repo] = yaml.safe_load(readme_config())["repos"]
    assert [hook["id"] for hook in repo["hooks"]] == ["ludic-check"]
    assert "ludic-check" in HOOKS


def has_pre_commit() -> bool:
    return find_spec("pre_commit") is not None


@pytest.mark.skipif(not has_pre_commit(), reason="pre-commit is not installed")
def test_pre_commit_installs_the_hook_and_runs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one slow test: pre-commit builds an environment with pip, which asks the package index."""
    ours, stories = tmp_path / "ludic", tmp_path / "game"
    ours.mkdir()
    stories.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, ours)
    for name in ("ludic_deepeval", "worth_deepeval", "trulens_feedback"):
        shutil.copytree(ROOT / name, ours / name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(ours)
    git("init", "-q", "-b", "main")
    commit("the hook")
    revision = git("rev-parse", "HEAD").strip()

    monkeypatch.chdir(stories)
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("PYTHONPATH", raising=False)  # the hook is to use what pip installed
    start(stories)
    config = readme_config().replace("https://github.com/OWNER/ludic-worth", ours.as_posix())
    config = config.replace("v0.1.0", revision)
    (stories / ".pre-commit-config.yaml").write_text(config, encoding="utf-8")
    commit("start")
    made = subprocess.run(
        [sys.executable, "-m", "pre_commit", "install", "--install-hooks"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if "No matching distribution" in made.stdout or "Could not find a version" in made.stdout:
        pytest.skip("no package index")
    assert made.returncode == 0, made.stdout
    bare = subprocess.run(
        [*(tmp_path / "cache").glob("repo*/py_env-*/*/python*"), "-c", "import deepeval"][-3:],
        capture_output=True,
        check=False,
    )
    assert b"No module named 'deepeval'" in bare.stderr

    write(stories / "stories/alone.md", alive=True)
    said = commit("he lives", refused=True)
    assert "dead-then-active" in said
    assert "1 story: 1 not" in said
    git("checkout", "-q", "HEAD", "--", ".")
    with (stories / "bible/town/v1/bible.yaml").open("a", encoding="utf-8") as stream:
        stream.write(LAW)
    assert commit("a law", refused=True).count("lore-violation") == 3
    git("checkout", "-q", "HEAD", "--", ".")
    # What is not staged is set aside, and the commit is judged without it.
    git("rm", "-q", "--cached", "stories/other.ledger.json")
    (stories / "stories/other.ledger.json").unlink()
    assert "not read yet" in git("commit", "-m", "gone", code=1)
    git("checkout", "-q", "HEAD", "--", ".")
    (stories / "stories/alone.md").write_text(f"---\ntitle: Odo\n---\n{PROSE.format(DEAD)}", encoding="utf-8")
    git("add", "-A")
    write(stories / "stories/other.md", alive=True)
    assert "ludic check" in git("commit", "-m", "a title")
