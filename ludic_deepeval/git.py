"""What git says has changed since a base: the only place that runs git.

Git is only asked, never told: no lock is taken, no hook or file-system monitor of the repository's configuration is run,
and nothing is fetched. (Content filters that a repository configures, such as LFS, do run, as in every `git status`.)
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ludic_deepeval.errors import InputError, clean, shown

BASES: Final = (
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
)
_ASKED: Final = "--changed"  # what errors are about
_QUIET: Final = ("core.fsmonitor=false", f"core.hooksPath={os.devnull}", "core.quotePath=false")
_SURROUNDINGS: Final = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
_LINK: Final = b"120000 "


@dataclass(frozen=True)
class Changes:
    """What differs from the base: committed since then, staged, not staged, or not tracked yet.

    Attributes:
        root: The top folder of the working tree, without symbolic links.
        base: What the base is called: "origin/main", "the last commit".
        commit: The base itself; None when there is no commit yet, so that everything is new.
        paths: Absolute paths of files, also of those that are gone; a submodule or another repository inside stands
            there as its folder. A symbolic link is among them when what it points to is.
    """

    root: Path
    base: str
    commit: str | None
    paths: frozenset[Path]

    def before(self, path: Path) -> bytes | None:
        """What a file held at the base; None when it was not there."""
        if self.commit is None:
            return None
        name = os.fsencode(path.relative_to(self.root).as_posix())
        found = _run(["cat-file", "blob", f"{self.commit}:{os.fsdecode(name)}"], self.root)
        return found.stdout if found.returncode == 0 else None


def changes_since(asked: str | None = None) -> Changes:
    """Return what has changed in the repository of the current folder since its merge base with `asked`.

    Args:
        asked: A branch, tag or commit. By default the branch that `$GITHUB_BASE_REF` names at origin, else the first
            of `BASES` that there is. On that branch itself the merge base is the last commit that both have.

    Raises:
        InputError: Git is missing, this is no repository, there is no such commit, or no merge base.
    """
    if asked is not None and (not asked or asked.startswith("-")):
        raise InputError("--base", f"found {shown(asked)}", allowed="a branch, tag or commit")
    root = _root()
    head = _commit("HEAD", root)
    if head is None and asked in {None, "HEAD"}:
        return Changes(root, "the beginning", None, _with_links(_uncommitted(root), root))
    name, tip = _base(asked, root)
    commit = _merge_base(name, tip, root)
    base = "the last commit" if name == "HEAD" else name
    paths = _uncommitted(root)
    if commit != head:
        paths |= _listed(["diff-tree", "-r", "--name-only", "-z", "--no-renames", commit, "HEAD", "--"], root)
    return Changes(root, base, commit, _with_links(paths, root))


def _run(arguments: list[str], folder: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("git")
    if program is None:
        raise InputError(
            _ASKED, "git was not found", hint="install it, or name the stories: ludic check PATH..."
        )
    options = [word for setting in _QUIET for word in ("-c", setting)]
    return subprocess.run(  # noqa: S603  # a list, no shell; what a caller names is checked above
        [program, "--no-optional-locks", *options, *arguments],
        cwd=folder,
        env=os.environ | _SURROUNDINGS,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


def _asked(arguments: list[str], folder: Path | None = None) -> bytes:
    """What git answers; its complaint is an error."""
    done = _run(arguments, folder)
    if done.returncode == 0:
        return done.stdout
    said = done.stderr.decode("utf-8", "replace").strip()
    if "not a git repository" in said:
        raise InputError(
            _ASKED, "not in a git repository", hint="name the stories instead: ludic check PATH..."
        )
    line = said.partition("\n")[0].removeprefix("fatal: ") or f"exit code {done.returncode}"
    raise InputError(_ASKED, f"git says: {clean(line, limit=300)}")


def _root() -> Path:
    top = _asked(["rev-parse", "--show-toplevel"])
    return Path(os.path.realpath(os.fsdecode(top.removesuffix(b"\n"))))


def _commit(name: str, root: Path) -> str | None:
    found = _run(["rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"], root)
    return found.stdout.decode("ascii").strip() if found.returncode == 0 else None


def _base(asked: str | None, root: Path) -> tuple[str, str]:
    """The name and the commit of what is compared with."""
    if asked is not None:
        tip = _commit(asked, root)
        if tip is None and _is_shallow(root):
            raise _no_merge_base(asked)
        if tip is None:
            raise InputError(
                "--base", f"no commit called {shown(asked)}", hint="fetch it, or see: git branch --all"
            )
        return asked, tip
    if target := os.environ.get("GITHUB_BASE_REF"):
        # In a pull request no other branch will do: comparing with a wrong one would pass what was never judged.
        tip = _commit(f"refs/remotes/origin/{target}", root)
        if tip is None:
            raise _no_merge_base(f"origin/{target}")
        return f"origin/{target}", tip
    there = {}
    for line in _asked(["for-each-ref", "--format=%(refname) %(objectname) %(symref)", *BASES], root).split(
        b"\n"
    ):
        ref, _, rest = os.fsdecode(line).partition(" ")
        tip, _, points_to = rest.partition(" ")
        there[ref] = (points_to or ref, tip)
    for ref in BASES:
        if ref in there:
            full, tip = there[ref]
            return full.removeprefix("refs/remotes/").removeprefix("refs/heads/"), tip
    if _is_shallow(root):
        raise _no_merge_base("origin/main")
    names = ", ".join(ref.removeprefix("refs/remotes/").removeprefix("refs/heads/") for ref in BASES)
    raise InputError(
        _ASKED,
        f"no branch to compare with (looked for {names})",
        hint="name one with --base, or --base HEAD for what is not committed yet",
    )


def _merge_base(name: str, tip: str, root: Path) -> str:
    found = _run(["merge-base", tip, "HEAD"], root)
    if found.returncode != 0:
        raise _no_merge_base(name)
    return found.stdout.decode("ascii").strip()


def _no_merge_base(name: str) -> InputError:
    return InputError(_ASKED, f"no merge base with {clean(name)}: set fetch-depth: 0")


def _is_shallow(root: Path) -> bool:
    return _asked(["rev-parse", "--is-shallow-repository"], root).strip() == b"true"


def _listed(arguments: list[str], root: Path) -> set[Path]:
    return {root / os.fsdecode(name) for name in _asked(arguments, root).split(b"\0") if name}


def _uncommitted(root: Path) -> set[Path]:
    """What is staged, not staged, or not tracked and not ignored either."""
    arguments = [
        "status",
        "--porcelain",
        "-z",
        "--untracked-files=all",
        "--no-renames",
        "--ignore-submodules=none",
    ]
    # An entry is two letters, a blank and the path; a repository inside ends in a slash.
    return {root / os.fsdecode(entry[3:]) for entry in _asked([*arguments, "--"], root).split(b"\0") if entry}


def _with_links(paths: set[Path], root: Path) -> frozenset[Path]:
    """Add the tracked symbolic links through which a change is seen elsewhere."""
    entries = _asked(["ls-files", "--stage", "-z", "--"], root).split(b"\0")
    links = [root / os.fsdecode(entry.partition(b"\t")[2]) for entry in entries if entry.startswith(_LINK)]
    if not links:
        return frozenset(paths)
    above = {folder for path in paths for folder in path.parents}
    seen = set(paths)
    for link in links:
        target = Path(os.path.realpath(link))
        if target in above or target in paths or not paths.isdisjoint(target.parents):
            seen.add(link)
    return frozenset(seen)
