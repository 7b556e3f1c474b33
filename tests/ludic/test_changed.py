"""`ludic check --changed` in scratch repositories."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ludic_deepeval.changed import Rests, changed_stories, concerned
from ludic_deepeval.check import check_stories
from ludic_deepeval.errors import InputError
from ludic_deepeval.report.as_json import check_json
from ludic_deepeval.sources import find_stories

Ludic = Callable[..., Any]

if shutil.which("git") is None:
    pytest.skip("git is not installed", allow_module_level=True)

PROSE = """\
Odo Marsh was hanged at the mill for two nights.

On the third day he raised the dead in the market square.
"""
SHEET = """\
sheet: 1
protagonist: Ysolde
people:
- {name: Odo Marsh, id: odo, quote: Odo Marsh was hanged, status: alive, tie: enemy}
events:
- {phase: youth, id: hanged, summary: he is hanged and lives, quote: hanged at the mill for two nights, relations: [{npc: odo, status: alive}], immediacy: 3, gravity: 8, linkage: 5, divergence: 6}
- {phase: adulthood, id: raise, summary: he raises the dead, quote: he raised the dead in the market square, location: market, practices: [{practice: necromancy, openly: true}], immediacy: 3, gravity: 5, linkage: 5, divergence: 6}
"""
BIBLE = """\
schema_version: 1
id: town
name: The Town
locations:
- {id: market, name: the market, text: A square with a well.}
"""
LAW = "rules:\n- {id: law, name: the law, practice: necromancy, places: [market], text: No raising of the dead.}\n"
LOG = "- {id: log-1, phase: P3, kind: other, subject: Ysolde, text: She turns forty.}\n"


def git(*words: object, cwd: Path | None = None) -> str:
    done = subprocess.run(
        ["git", *map(str, words)], cwd=cwd, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def commit(message: str = "edit") -> str:
    git("add", "-A")
    git("commit", "-q", "--allow-empty", "-m", message)
    return git("rev-parse", "HEAD").strip()


@pytest.fixture(autouse=True, scope="module")
def _quiet_git() -> Iterator[None]:
    """No settings of whoever runs this, nor of the run that it is a part of."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("GIT_")]:
            patch.delenv(name)
        patch.delenv("GITHUB_BASE_REF", raising=False)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        for who in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{who}_NAME", "Test")
            patch.setenv(f"GIT_{who}_EMAIL", "test@example.org")
        yield


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One locked story, to be copied."""
    from ludic_deepeval.lockfile import write_lockfile
    from ludic_deepeval.marks import lock_story
    from ludic_deepeval.sources import read_story

    folder = tmp_path_factory.mktemp("template")
    (folder / "t.md").write_text(PROSE, encoding="utf-8")
    (folder / "t.marks.yaml").write_text(SHEET, encoding="utf-8")
    story = read_story(folder / "t.md")
    write_lockfile(lock_story(story), story.lockfile)
    return folder


def put(template: Path, path: Path, front: str = "") -> Path:
    """A locked story under another name; front matter is no part of what was read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((f"---\n{front}\n---\n" if front else "") + PROSE, encoding="utf-8")
    for ending in (".ledger.json", ".marks.yaml"):
        shutil.copyfile(template / f"t{ending}", path.with_name(path.stem + ending))
    return path


@pytest.fixture
def repo(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stories that rest on a bible, on a log, on settings of their own, and on nothing; on main, with one commit."""
    root = tmp_path / "repo"
    (root / "bible/town/v1").mkdir(parents=True)
    (root / "bible/town/v1/bible.yaml").write_text(BIBLE, encoding="utf-8")
    (root / "ludic.toml").write_text("", encoding="utf-8")
    put(template, root / "stories/alone.md")
    put(template, root / "stories/town-one.md", "bible: town")
    put(template, root / "stories/deep/town-two.md", "bible: town@v1")
    put(template, root / "stories/logged.md", "background_log: logs/far.yaml")
    put(template, root / "cosy/own.md")
    (root / "stories/logs").mkdir()
    (root / "stories/logs/far.yaml").write_text(LOG, encoding="utf-8")
    (root / "cosy/ludic.toml").write_text('profile = "cosy"\n', encoding="utf-8")
    monkeypatch.chdir(root)
    git("init", "-q", "-b", "main")
    commit("start")
    return root


def names(*paths: object, base: str | None = None) -> list[str]:
    return [path.as_posix() for path in changed_stories([Path(str(path)) for path in paths], base).stories]


def touch(path: str, more: str = "\n") -> None:
    with Path(path).open("a", encoding="utf-8") as stream:
        stream.write(more)


# Which stories a change concerns, without git


def test_a_story_is_concerned_by_its_own_files_and_by_folders_above_them() -> None:
    one = Rests((Path("/r/a.md"), Path("/r/a.ledger.json")))
    two = Rests((Path("/r/sub/b.md"),))
    assert concerned([one, two], {Path("/r/a.ledger.json")}, set()) == [True, False]
    assert concerned([one, two], {Path("/r/sub")}, {Path("/r/sub")}) == [False, True]
    assert concerned([one, two], set(), set()) == [False, False]


def test_a_bible_is_changed_by_what_lies_in_it_or_in_a_version_of_it() -> None:
    story = Rests((Path("/r/a.md"),), (Path("/r/bible/town"),))
    for changed in ("/r/bible/town/bible.yaml", "/r/bible/town/v2/bible.yaml", "/r/bible/town", "/r/bible"):
        assert concerned([story], {Path(changed)}, {Path(changed)}) == [True], changed
    for changed in ("/r/bible/other/v1/bible.yaml", "/r/bible/town-two/bible.yaml", "/r/a.yaml"):
        assert concerned([story], {Path(changed)}, {Path(changed)}) == [False], changed


# What counts as a change of a story


def test_nothing_changed_is_said_and_exits_with_0(repo: Path, ludic: Ludic) -> None:
    ran = ludic("check", "--changed")
    assert (ran.code, ran.out, ran.err) == (0, "no story to check: none has changed since main\n", "")
    ran = ludic("check", "--changed", "--base", "HEAD")
    assert ran.out == "no story to check: none has changed since the last commit\n"
    ran = ludic("check", "--changed", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["stories"] == []


def test_staged_unstaged_untracked_and_committed_stories_are_judged(repo: Path, template: Path) -> None:
    git("switch", "-q", "-c", "draft")
    touch("stories/alone.md")
    commit()
    touch("stories/logged.md")
    git("add", "stories/logged.md")
    touch("cosy/own.md")
    put(template, repo / "stories/new.md")
    assert names() == ["cosy/own.md", "stories/alone.md", "stories/logged.md", "stories/new.md"]
    # HEAD leaves out what is committed.
    assert names(base="HEAD") == ["cosy/own.md", "stories/logged.md", "stories/new.md"]


def test_on_the_base_branch_itself_the_working_tree_is_compared(repo: Path) -> None:
    touch("stories/alone.md")
    commit()
    assert names() == []
    assert names(base="HEAD~1") == ["stories/alone.md"]
    touch("stories/logged.md")
    assert names() == ["stories/logged.md"]


def test_what_the_base_branch_did_meanwhile_is_no_change_of_ours(repo: Path) -> None:
    git("switch", "-q", "-c", "draft")
    touch("stories/alone.md")
    commit()
    git("switch", "-q", "main")
    touch("stories/logged.md")
    commit()
    git("switch", "-q", "draft")
    assert names() == ["stories/alone.md"]


@pytest.mark.parametrize("ending", [".ledger.json", ".marks.yaml"])
@pytest.mark.parametrize("gone", [False, True])
def test_a_lockfile_or_mark_sheet_concerns_its_story(repo: Path, ending: str, gone: bool) -> None:
    file = repo / f"stories/alone{ending}"
    if gone:
        file.unlink()
    else:
        touch(str(file))
    assert names() == ["stories/alone.md"]


def test_a_story_whose_lockfile_is_deleted_is_unread(repo: Path, ludic: Ludic) -> None:
    (repo / "stories/alone.ledger.json").unlink()
    ran = ludic("check", "--changed", "--json")
    assert ran.code == 1
    assert [(story["path"], story["state"]) for story in json.loads(ran.out)["stories"]] == [
        ("stories/alone.md", "unread")
    ]


def test_a_second_reading_concerns_no_story(repo: Path, template: Path) -> None:
    for ending in (".ledger.json", ".marks.yaml"):
        shutil.copy(template / f"t{ending}", repo / f"stories/alone.second{ending}")
    assert names() == []


def test_a_lockfile_that_was_renamed_is_missed_where_it_was(repo: Path) -> None:
    git("switch", "-q", "-c", "draft")
    git("mv", "stories/alone.ledger.json", "stories/alone.old.json")
    assert names() == ["stories/alone.md"]
    commit()
    assert names() == ["stories/alone.md"]


def test_a_story_named_twice_is_judged_once(repo: Path) -> None:
    touch("stories/alone.md")
    assert names("stories", repo / "stories", "stories/alone.md") == ["stories/alone.md"]


def test_a_deleted_story_is_skipped_and_a_renamed_one_judged_under_its_name(repo: Path) -> None:
    for ending in (".md", ".ledger.json", ".marks.yaml"):
        git("rm", "-q", f"stories/logged{ending}")
    git("mv", "stories/alone.md", "stories/renamed.md")
    assert names() == ["stories/renamed.md"]
    assert names("stories/logged.md", "stories") == ["stories/renamed.md"]
    shutil.rmtree(repo / "cosy")
    assert names("cosy") == []


def test_files_that_are_no_stories_are_left_out_as_in_a_full_check(repo: Path) -> None:
    for name in ("README.md", "_index.md", ".hidden/a.md", "notes.txt", "empty.md"):
        (repo / "stories" / name).parent.mkdir(exist_ok=True)
        (repo / "stories" / name).write_text("" if name == "empty.md" else "Some words.", encoding="utf-8")
    assert names() == []
    assert names("stories/README.md") == ["stories/README.md"]  # who names it means it


def test_an_ignored_story_is_none(repo: Path, template: Path) -> None:
    (repo / ".gitignore").write_text("drafts/\n", encoding="utf-8")
    put(template, repo / "drafts/a.md")
    assert names() == []


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
@pytest.mark.parametrize(
    "name", ["a b.md", 'she said "no".md', "two\nlines.md", "Zoë 故事.md", " -x.md", "tab\t.md"]
)
def test_names_are_taken_to_the_letter(repo: Path, template: Path, name: str) -> None:
    put(template, repo / "stories" / name)
    assert names("stories") == [f"stories/{name}"]
    commit()
    assert names("stories", base="HEAD~1") == [f"stories/{name}"]


@pytest.mark.skipif(sys.platform != "linux", reason="names are text elsewhere")
def test_a_name_that_is_no_text_is_taken_too(repo: Path, ludic: Ludic) -> None:
    Path(os.fsdecode(b"stories/caf\xe9.md")).write_text("Some words.", encoding="utf-8")
    assert ludic("check", "--changed").code == 1


# What stories rest on


BOTH = ["stories/deep/town-two.md", "stories/town-one.md"]


def test_a_bible_concerns_the_stories_that_name_it(repo: Path, ludic: Ludic) -> None:
    assert ludic("check", ".").code == 0
    touch("bible/town/v1/bible.yaml", LAW)
    assert names() == BOTH
    ran = ludic("check", "--changed", "--base", "HEAD", "--json")
    assert ran.code == 1
    assert [story["consistency"]["lore"] for story in json.loads(ran.out)["stories"]] == [1, 1]
    assert names("stories/town-one.md") == ["stories/town-one.md"]
    assert names("stories/alone.md", "cosy") == []


def test_a_key_of_the_front_matter_may_be_spelt_in_escapes(repo: Path, template: Path) -> None:
    put(template, repo / "stories/alone.md", '"bi\\x62le": town')
    commit()
    touch("bible/town/v1/bible.yaml", LAW)
    assert names() == ["stories/alone.md", *BOTH]


def test_a_bible_that_is_gone_and_one_that_is_nearer_are_changes(repo: Path) -> None:
    near = repo / "stories/deep/bible/town/bible.yaml"
    near.parent.mkdir(parents=True)
    near.write_text(BIBLE, encoding="utf-8")
    assert names() == ["stories/deep/town-two.md"]
    commit()
    # It hides the one above from the story beside it.
    touch("bible/town/v1/bible.yaml", LAW)
    assert names() == ["stories/town-one.md"]
    git("checkout", "-q", "--", ".")
    near.unlink()
    assert names() == ["stories/deep/town-two.md"]
    git("checkout", "-q", "--", ".")
    shutil.rmtree(repo / "bible")
    assert names() == ["stories/town-one.md"]


def test_a_background_log_concerns_the_stories_that_name_it_also_when_it_is_gone(
    repo: Path, ludic: Ludic
) -> None:
    touch("stories/logs/far.yaml", "# a word\n")
    assert names() == ["stories/logged.md"]
    assert names("cosy", "stories/alone.md") == []
    (repo / "stories/logs/far.yaml").unlink()
    assert names() == ["stories/logged.md"]
    ran = ludic("check", "--changed")
    assert ran.code == 2
    assert "far.yaml" in ran.err


def test_the_nearest_settings_concern_the_stories_below_them(repo: Path) -> None:
    below = ["stories/alone.md", "stories/deep/town-two.md", "stories/logged.md", "stories/town-one.md"]
    touch("ludic.toml", 'profile = "one-shot"\n')
    assert names() == below
    git("checkout", "-q", "--", ".")
    touch("cosy/ludic.toml", "# a word\n")
    assert names() == ["cosy/own.md"]
    (repo / "cosy/ludic.toml").unlink()
    assert names() == ["cosy/own.md"]
    git("checkout", "-q", "--", ".")
    (repo / "stories/deep/ludic.toml").write_text("", encoding="utf-8")
    assert names() == ["stories/deep/town-two.md"]


def test_a_pyproject_counts_when_it_has_settings_now_or_had_them_at_the_base(
    repo: Path, ludic: Ludic
) -> None:
    project = repo / "cosy/pyproject.toml"
    (repo / "cosy/ludic.toml").unlink()
    project.write_text("[project]\nname = 'x'\n", encoding="utf-8")
    commit()
    touch(str(project), "version = '1'\n")
    assert names() == []
    touch(str(project), "[tool.ludic]\nprofile = 'cosy'\n")
    assert names() == ["cosy/own.md"]
    commit()
    project.write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert names() == ["cosy/own.md"]
    project.unlink()
    assert names() == ["cosy/own.md"]
    commit()
    assert names() == []
    project.write_text("[project\n", encoding="utf-8")
    ran = ludic("check", "--changed")
    assert ran.code == 2
    assert "not valid TOML" in ran.err


def test_a_changed_baseline_concerns_every_story(repo: Path, ludic: Ludic) -> None:
    assert ludic("check", ".", "--baseline", "known.json", "--write-baseline").code == 0
    commit()
    touch("known.json", " ")
    ran = ludic("check", "--changed", "--baseline", "known.json", "--json")
    assert json.loads(ran.out)["summary"]["stories"] == 5
    ran = ludic("check", "--changed", "--baseline", "known.json", "--json", "cosy")
    assert json.loads(ran.out)["summary"]["stories"] == 1
    assert json.loads(ludic("check", "--changed", "--json").out)["stories"] == []


def test_other_data_concerns_nothing(repo: Path) -> None:
    for name in ("package.json", "stories/unrelated.yaml", "Cargo.toml", "tool.py", "bible/other.yaml"):
        (repo / name).write_text("{}", encoding="utf-8")
    assert names() == []


def test_a_story_that_cannot_be_read_and_was_not_touched_stays_out_of_it(repo: Path) -> None:
    (repo / "stories/broken.md").write_bytes(b"---\nbible: [\n---\nwords")
    (repo / "stories/latin.md").write_bytes(b"bible caf\xe9")
    commit()
    touch("bible/town/v1/bible.yaml", "\n")
    assert names() == BOTH


def test_only_stories_are_read_when_only_stories_changed(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch("stories/alone.md")
    (repo / "stories/town-one.ledger.json").unlink()
    shutil.copy("stories/alone.ledger.json", "stories/alone.second.ledger.json")
    read: list[str] = []
    opened = Path.open

    def spy(self: Path, *arguments: Any, **options: Any) -> Any:
        read.append(self.name)
        return opened(self, *arguments, **options)

    for ending in (".md", ".ledger.json", ".marks.yaml"):
        (repo / f"stories/logged{ending}").unlink()
    monkeypatch.setattr(Path, "open", spy)
    monkeypatch.setattr(Path, "rglob", lambda *_: pytest.fail("walked the folders"))
    assert names() == ["stories/alone.md", "stories/town-one.md"]
    assert set(read) <= {"alone.md", "town-one.md"}


# Stories inside other files

SOURCES = """\
[[sources]]
files = ["**/*.json"]
kind = "json"
pointer = "/npcs/*/tale"
id = "../id"
bible = "town"
"""


def put_data(template: Path, path: Path, *ids: str) -> Path:
    """A JSON file with stories in it, each of them locked, and settings that say so."""
    Path("ludic.toml").write_text(SOURCES, encoding="utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    npcs = [{"id": name, "tale": PROSE} for name in ids]
    path.write_text(json.dumps({"npcs": npcs}), encoding="utf-8")
    for name in ids:
        for ending in (".ledger.json", ".marks.yaml"):
            marks = path.with_name(f"{path.name}.ludic") / f"{name}{ending}"
            marks.parent.mkdir(exist_ok=True)
            shutil.copyfile(template / f"t{ending}", marks)
    return path


def test_a_file_with_stories_in_it_concerns_all_of_them_and_a_mark_its_own(
    repo: Path, template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = put_data(template, Path("data/b/npcs.json"), "bram", "ada")
    put_data(template, Path("data/z.json"), "zoe")
    commit()
    assert names() == []
    put_data(template, Path(".cache/npcs.json"), "bram")
    assert names() == []  # a folder's search passes it over
    assert names(".cache") == [".cache/npcs.json#bram"]
    shutil.rmtree(".cache")
    in_order = ["data/z.json#zoe", "data/b/npcs.json#bram", "data/b/npcs.json#ada"]
    assert [path.as_posix() for path in find_stories([Path("data")])] == in_order
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rglob", lambda *_: pytest.fail("walked the folders"))
        touch(str(data))
        assert names("data/b", "stories") == ["data/b/npcs.json#bram", "data/b/npcs.json#ada"]
        assert names("data/b/npcs.json#ada", "stories") == ["data/b/npcs.json#ada"]
        assert names("data/b/npcs.json") == ["data/b/npcs.json#bram", "data/b/npcs.json#ada"]
        assert names("data/z.json") == []
        touch("data/z.json")
        assert names() == in_order
        git("checkout", "-q", "--", ".")
        Path("data/b/npcs.json.ludic/ada.ledger.json").unlink()
        assert names() == ["data/b/npcs.json#ada"]
        git("checkout", "-q", "--", ".")
        touch("data/b/npcs.json.ludic/bram.marks.yaml")
        assert names("data/b/npcs.json#bram", "data/b/npcs.json#ada") == ["data/b/npcs.json#bram"]
        git("checkout", "-q", "--", ".")
        data.unlink()
        assert names() == names("data/b/npcs.json#ada") == names("data/b/npcs.json") == []


def test_stories_in_other_files_rest_on_bibles_and_settings_too(
    repo: Path, template: Path, ludic: Ludic
) -> None:
    put_data(template, Path("data/npcs.json"), "bram")
    commit()
    touch("bible/town/v1/bible.yaml", LAW)
    assert names() == [*BOTH, "data/npcs.json#bram"]
    assert names("data/npcs.json#bram") == ["data/npcs.json#bram"]
    git("checkout", "-q", "--", ".")
    touch("ludic.toml", "\n")
    assert names("data") == ["data/npcs.json#bram"]
    git("checkout", "-q", "--", ".")
    Path("data/npcs.json").write_text("{", encoding="utf-8")
    ran = ludic("check", "--changed")
    assert (ran.code, len(ran.faults)) == (2, 1)
    assert "data/npcs.json" in ran.err


# Links, submodules, worktrees, folders


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_change_is_seen_through_symbolic_links(repo: Path, template: Path) -> None:
    (repo / "shared").mkdir()
    shutil.move(repo / "bible/town", repo / "shared/town")
    (repo / "bible/town").symlink_to("../shared/town")
    put(template, repo / "stories/real.md")
    (repo / "stories/link.md").symlink_to("real.md")
    shutil.copy("stories/real.ledger.json", "stories/link.ledger.json")
    (repo / "cosy/ludic.toml").unlink()
    (repo / "cosy/ludic.toml").symlink_to("../shared/team.txt")
    (repo / "shared/team.txt").write_text("", encoding="utf-8")
    commit()
    assert names() == []
    touch("shared/town/v1/bible.yaml", LAW)
    assert names() == BOTH
    git("checkout", "-q", "--", ".")
    (repo / "bible/town").unlink()
    assert names() == BOTH
    git("checkout", "-q", "--", ".")
    touch("stories/real.md")
    assert names("stories") == ["stories/link.md", "stories/real.md"]
    git("checkout", "-q", "--", ".")
    touch("shared/team.txt")
    assert "cosy/own.md" in names()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_repository_reached_through_a_link_keeps_the_names_it_was_given(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "way").symlink_to("repo")
    touch("stories/alone.md")
    assert names(tmp_path / "way/stories") == [(tmp_path / "way/stories/alone.md").as_posix()]
    monkeypatch.chdir(tmp_path / "way")
    assert names("stories") == ["stories/alone.md"]


def test_from_a_folder_inside_only_what_is_below_it_is_judged(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch("stories/alone.md")
    touch("cosy/own.md")
    touch("bible/town/v1/bible.yaml", LAW)
    monkeypatch.chdir(repo / "stories/deep")
    assert names() == ["town-two.md"]
    assert names("..") == ["../alone.md", "../deep/town-two.md", "../town-one.md"]
    assert names("../../cosy", ".") == ["../../cosy/own.md", "town-two.md"]


def test_a_worktree_is_a_repository_of_its_own(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("worktree", "add", "-q", tmp_path / "beside", "-b", "other")
    touch("stories/alone.md")
    monkeypatch.chdir(tmp_path / "beside")
    assert names() == []
    touch("cosy/own.md")
    assert names() == ["cosy/own.md"]


def test_a_submodule_that_moved_or_is_dirty_concerns_all_its_stories(
    repo: Path, template: Path, tmp_path: Path
) -> None:
    inside = tmp_path / "lore"
    put(template, inside / "a.md")
    put(template, inside / "b.md")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "lore")):
        git(*words, cwd=inside)
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inside, "stories/lore")
    commit()
    assert names() == []
    touch("stories/lore/a.md")
    assert names() == ["stories/lore/a.md", "stories/lore/b.md"]
    git("commit", "-q", "-a", "-m", "on", cwd=repo / "stories/lore")
    assert names("stories") == ["stories/lore/a.md", "stories/lore/b.md"]
    commit()
    assert names(base="HEAD~1") == ["stories/lore/a.md", "stories/lore/b.md"]


def test_a_repository_inside_that_is_no_submodule_is_looked_through(repo: Path, template: Path) -> None:
    put(template, repo / "stories/nested/a.md")
    git("init", "-q", cwd=repo / "stories/nested")
    assert names() == ["stories/nested/a.md"]


def test_before_the_first_commit_everything_is_new(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(template, tmp_path / "fresh/a.md")
    monkeypatch.chdir(tmp_path / "fresh")
    git("init", "-q", "-b", "main")
    assert names() == ["a.md"]
    git("add", "-A")
    assert names(base="HEAD") == ["a.md"]


# The base


def clone(source: Path, target: Path, *options: str) -> None:
    git("clone", "-q", *options, source.as_uri(), target)


def test_the_base_is_what_was_asked_for_else_the_pull_requests_else_the_main_branch_at_origin(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("branch", "release")
    touch("stories/alone.md")
    commit()
    clone(repo, tmp_path / "clone")
    monkeypatch.chdir(tmp_path / "clone")
    touch("stories/logged.md")
    commit()
    # main itself has moved on: what is not at origin yet counts.
    assert changed_stories([]).base == "origin/main"
    assert names() == ["stories/logged.md"]
    monkeypatch.setenv("GITHUB_BASE_REF", "release")
    assert changed_stories([]).base == "origin/release"
    assert names() == ["stories/alone.md", "stories/logged.md"]
    assert names(base="HEAD") == []
    monkeypatch.delenv("GITHUB_BASE_REF")
    git("remote", "set-head", "origin", "release")
    assert changed_stories([]).base == "origin/release"
    git("remote", "set-head", "origin", "--delete")
    assert changed_stories([]).base == "origin/main"
    git("remote", "remove", "origin")
    assert changed_stories([]).base == "main"
    git("branch", "-m", "master")
    assert changed_stories([]).base == "master"


def test_without_any_known_branch_the_base_must_be_named(repo: Path, ludic: Ludic) -> None:
    git("branch", "-m", "trunk")
    ran = ludic("check", "--changed")
    assert (ran.code, len(ran.faults)) == (2, 1)
    assert "origin/HEAD, origin/main, origin/master, main, master" in ran.err
    assert "--base HEAD" in ran.err
    assert ludic("check", "--changed", "--base", "trunk").code == 0


def test_a_shallow_clone_without_a_merge_base_says_what_to_set(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ludic: Ludic
) -> None:
    git("switch", "-q", "-c", "draft")
    touch("stories/alone.md")
    commit()
    git("switch", "-q", "main")
    touch("stories/logged.md")
    commit()
    said = "ludic: --changed: no merge base with origin/main: set fetch-depth: 0\n"
    clone(repo, tmp_path / "both", "--depth", "1", "--no-single-branch", "-b", "draft")
    monkeypatch.chdir(tmp_path / "both")
    ran = ludic("check", "--changed")
    assert (ran.code, ran.out, ran.err) == (2, "", said)
    # As actions/checkout leaves it: the base branch is not even known.
    clone(repo, tmp_path / "one", "--depth", "1", "-b", "draft")
    monkeypatch.chdir(tmp_path / "one")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    assert ludic("check", "--changed").err == said
    monkeypatch.delenv("GITHUB_BASE_REF")
    git("branch", "-D", "-r", "origin/draft")
    if Path(".git/refs/remotes/origin/HEAD").exists():
        git("remote", "set-head", "origin", "--delete")
    assert ludic("check", "--changed").err == said
    assert ludic("check", "--changed", "--base", "origin/main").err == said


def test_histories_without_a_common_commit_have_no_merge_base(repo: Path, ludic: Ludic) -> None:
    git("checkout", "-q", "--orphan", "island")
    commit()
    ran = ludic("check", "--changed")
    assert (ran.code, len(ran.faults)) == (2, 1)
    assert "no merge base with main" in ran.err


# Wrong calls


@pytest.mark.parametrize("ref", ["--output=x", "-x", ""])
def test_a_base_that_git_would_take_for_an_option_is_refused(repo: Path, ludic: Ludic, ref: str) -> None:
    ran = ludic("check", "--changed", "--base", ref)
    assert (ran.code, len(ran.faults)) == (2, 1)
    assert "--base: found" in ran.err
    assert not (repo / "x").exists()


def test_wrong_calls_are_one_line_each(repo: Path, tmp_path: Path, ludic: Ludic) -> None:
    for words, said in (
        (["--changed", "--base", "nowhere"], "no commit called 'nowhere'"),
        (["--changed", tmp_path], "outside of the repository"),
        (["--changed", "../elsewhere.md"], "outside of the repository"),
        (["--base", "HEAD", "stories"], "--changed --base REF"),
        (["--changed", "--baseline", "b.json", "--write-baseline"], "not with --changed"),
        (["--changed", "absent.md"], "no such file"),
        (["--changed", "ludic.toml"], "not a story"),
    ):
        ran = ludic("check", *words)
        assert (ran.code, len(ran.faults)) == (2, 1), words
        assert said in ran.err, words


def test_outside_of_a_repository_and_without_git_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ludic: Ludic
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    ran = ludic("check", "--changed")
    assert (ran.code, len(ran.faults)) == (2, 1)
    assert "not in a git repository" in ran.err
    monkeypatch.setenv("PATH", "")
    ran = ludic("check", "--changed")
    assert (ran.code, len(ran.faults)) == (2, 1)
    assert "git was not found" in ran.err


def test_a_bare_repository_has_no_stories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ludic: Ludic
) -> None:
    git("init", "-q", "--bare", tmp_path / "bare")
    monkeypatch.chdir(tmp_path / "bare")
    ran = ludic("check", "--changed")
    assert (ran.code, len(ran.faults)) == (2, 1)
    assert "work tree" in ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_the_repositorys_own_configuration_runs_nothing_and_hides_nothing(repo: Path, tmp_path: Path) -> None:
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n", encoding="utf-8")
    evil.chmod(0o755)
    (repo / ".git/hooks").mkdir(exist_ok=True)
    shutil.copy(evil, repo / ".git/hooks/post-index-change")
    for name, value in (
        ("core.fsmonitor", evil), ("diff.external", evil), ("core.pager", evil), ("diff.renames", "copies"),
        ("status.showUntrackedFiles", "no"), ("core.quotePath", "true"), ("status.relativePaths", "true"),
    ):  # fmt: skip
        git("config", name, value)
    touch("stories/alone.md")
    shutil.copy("stories/alone.md", "stories/copié.md")
    os.utime("cosy/own.md", (1, 1))  # which `git status` would note in the index
    before = (repo / ".git/index").read_bytes()
    assert names() == ["stories/alone.md", "stories/copié.md"]
    assert not (tmp_path / "ran").exists()
    assert (repo / ".git/index").read_bytes() == before
    assert not (repo / ".git/index.lock").exists()


# Against a full check


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["prose", "law", "policy", "log", "unlock", "sheet", "delete", "rename", "new", "near", "front", "data"]),
        st.integers(0, 4),
        st.sampled_from(["", "", "add", "commit"]),
    ),
    min_size=1,
    max_size=5,
)  # fmt: skip


def edit(kind: str, at: int, template: Path) -> None:
    """One change to the repository in the current folder, at one of its stories if that is there."""
    stories = sorted([*Path().rglob("*.md"), *Path("data").rglob("*.json")])
    story = stories[at % len(stories)] if stories else Path("none.md")
    if kind == "law":
        Path("bible/town/v1/bible.yaml").write_text(BIBLE + LAW * (at % 2), encoding="utf-8")
    elif kind == "policy":
        folder = Path([".", "cosy", "stories", "stories/deep", "stories"][at])
        folder.mkdir(exist_ok=True)
        listed = '"gate"' if at % 2 else ""
        (folder / "ludic.toml").write_text(f"fail_on = [{listed}]\n", encoding="utf-8")
    elif kind == "log":
        Path("stories/logs").mkdir(exist_ok=True, parents=True)
        revived = (
            LOG if at % 2 else "- {id: log-1, phase: P1, kind: death, subject: Odo Marsh, text: He dies.}\n"
        )
        Path("stories/logs/far.yaml").write_text(revived, encoding="utf-8")
    elif kind == "new":
        put(
            template,
            Path(f"stories/new-{at}.md"),
            ["", "bible: town", "background_log: logs/far.yaml"][at % 3],
        )
    elif kind == "data":
        put_data(template, Path("data/npcs.json"), *["bram", "ada", "zoe"][: at % 3 + 1])
    elif kind == "near":
        Path("stories/bible/town").mkdir(exist_ok=True, parents=True)
        Path("stories/bible/town/bible.yaml").write_text(BIBLE + LAW, encoding="utf-8")
    elif story.exists() and kind == "prose":
        touch(str(story), "\nA new word or two of it.\n")
    elif story.exists() and kind == "front":
        put(template, story, ["bible: town", "profile: one-shot", "background_log: logs/far.yaml"][at % 3])
    elif kind in {"unlock", "sheet"}:
        file = story.with_name(story.stem + (".ledger.json" if kind == "unlock" else ".marks.yaml"))
        file.unlink(missing_ok=True)
    elif story.exists() and kind == "delete":
        story.unlink()
    elif story.exists() and kind == "rename":
        story.rename(story.with_name(f"moved-{at}.md"))


def verdicts() -> dict[str, Any]:
    """What each story of the current folder gets when it is judged by itself."""
    told = {}
    for path in find_stories([Path()]) if any(Path().rglob("*.md")) else []:
        result = check_stories([path])
        told[path.as_posix()] = json.loads(json.dumps(check_json(result)))
    return told


def refusal(work: Callable[[], object]) -> str | None:
    """The line with which work is refused, or None."""
    try:
        work()
    except InputError as error:
        return str(error)
    return None


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(edits=[("data", 0, ""), ("delete", 1, "")])  # a source whose only file is gone
@given(edits=EDITS)
def test_it_finds_what_a_full_check_finds_in_those_stories_and_misses_no_verdict_that_changed(
    edits: list[tuple[str, int, str]], template: Path, repo: Path, ludic: Ludic
) -> None:
    git("checkout", "-q", "-f", "main")
    git("clean", "-q", "-ffdx")
    before = verdicts()
    git("switch", "-q", "-C", "draft", "main")
    for kind, at, how in edits:
        edit(kind, at, template)
        if how:
            git("add", "-A")
        if how == "commit":
            commit()
    if (refused := refusal(verdicts)) is not None:  # settings that a full check of the folder refuses
        assert refusal(names) == refused
        return
    chosen = names()
    ran = ludic("check", "--changed", "--json")
    told = json.loads(ran.out)
    after = verdicts()
    assert chosen == [name for name in after if name in chosen]  # in a full check's order
    assert told["stories"] == [story for name in chosen for story in after[name]["stories"]]
    assert told.get("errors", []) == [error for name in chosen for error in after[name].get("errors", [])]
    assert ran.code == (check_stories(list(map(Path, chosen))).exit_code if chosen else 0)
    # The second implementation: judge everything at the base and now, and see which verdicts differ.
    assert {name for name, verdict in after.items() if before.get(name) != verdict} <= set(chosen)


def test_stories_inside_a_changed_file_are_checked_and_those_of_changed_marks_or_settings(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ludic: Ludic
) -> None:
    root = tmp_path / "game"
    root.mkdir()
    (root / "ludic.toml").write_text(
        '[[sources]]\nfiles = ["*.json"]\nkind = "json"\npointer = "/*/story"\nid = "/*/id"\n',
        encoding="utf-8",
    )
    for name in ("one", "two"):
        (root / f"{name}.json").write_text(
            json.dumps([{"id": f"of-{name}", "story": PROSE}]), encoding="utf-8"
        )
    put(template, root / "tale.md")
    git("init", "-q", "-b", "main", root)
    monkeypatch.chdir(root)
    for name in ("one", "two"):
        marks = root / f"{name}.json.ludic/of-{name}.marks.yaml"
        marks.parent.mkdir()
        shutil.copyfile(template / "t.marks.yaml", marks)
        assert ludic("lock", f"{name}.json#of-{name}").code == 0
    commit()

    def touched() -> list[str]:
        return [path.as_posix() for path in changed_stories([Path()]).stories]

    assert touched() == []
    (root / "one.json").write_text((root / "one.json").read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert touched() == ["one.json#of-one"]
    (root / "two.json.ludic/of-two.ledger.json").unlink()
    assert touched() == ["one.json#of-one", "two.json#of-two"]
    assert [path.as_posix() for path in changed_stories([Path("two.json")]).stories] == ["two.json#of-two"]
    git("checkout", "-q", ".")
    (root / "ludic.toml").write_text(
        (root / "ludic.toml").read_text(encoding="utf-8") + "\n", encoding="utf-8"
    )
    assert touched() == [path.as_posix() for path in find_stories([Path()])]
