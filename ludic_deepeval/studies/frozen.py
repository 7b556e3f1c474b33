"""The sidecar of a study: all that is set, frozen before the first trial, and how a later run differs from it (§4.5).

Kept are the study's own text, the bibles whole, every prompt verbatim with its hash (INSTABILITY_PROMPT among them), the
player seeds, weights and thresholds, the versions of the packages, the git commit of the code, and a hash of the code itself, since
a checkout may hold changes that no commit has, and an installed package no commit at all.
"""

import os
import platform
import shutil
import subprocess
from dataclasses import fields
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, StringConstraints

from ludic_deepeval.bible import Bible
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.genre_prompts import prompt_for
from ludic_deepeval.ledger import Flag, Frozen, Text, load_model
from ludic_deepeval.lockfile import Sha256
from ludic_deepeval.policy import Policy
from ludic_deepeval.session import load_seeds
from ludic_deepeval.settings import NUMBERS
from ludic_deepeval.studies.design import read_design
from ludic_deepeval.studies.plan import StudyPlan, planned

PROMPTS: Final = ("architect", "control", "instability", "notary", "notary-again", "stress", "reuse")
PACKAGES: Final = ("ludic-worth", "pydantic", "PyYAML", "rjieba", "ollama", "anthropic", "openai", "deepeval")
_ROOT: Final = Path(__file__).parents[2]
_PACKAGE: Final = _ROOT / "ludic_deepeval"
_CODE: Final = frozenset({".py", ".yaml", ".toml", ".json"})
_Long = Annotated[str, StringConstraints(max_length=1_000_000)]


class FrozenPrompt(Frozen):
    """A prompt as it was, with its hash."""

    role: Text
    version: int
    sha256: Sha256
    system: _Long
    text: _Long


class Environment(Frozen):
    """What the code and its surroundings were.

    Attributes:
        commit: The git commit of the code; None where it is no checkout.
        changed: Whether the code differed from the commit; None likewise.
        python: Python's version.
        packages: The versions of the packages, `not installed` for those that are not there.
        code_sha256: Of the files of this package; None in a sidecar that is older than this field.
    """

    commit: str | None
    changed: Flag | None
    python: Text
    packages: dict[str, Text]
    code_sha256: Sha256 | None = None


class Sidecar(Frozen):
    """All that is set; see the module.

    Attributes:
        study: The study's file, verbatim.
        bibles: Every bible, whole, by the name that the study gives it.
        policy: Every weight and threshold, as text.
        prompts: Every prompt that may be used, verbatim.
        player_seeds: What the player says before each session, verbatim.
        drawn: The faction and the place of each seed.
        environment: The code and its surroundings.
        created: When it was frozen, in UTC.
    """

    schema_version: Literal[1] = 1
    study: _Long
    bibles: dict[str, Bible]
    policy: dict[str, str]
    prompts: Annotated[tuple[FrozenPrompt, ...], Field(max_length=100)]
    player_seeds: dict[str, str]
    drawn: dict[int, tuple[str, str]]
    environment: Environment
    created: Text

    def plan(self, file: object = "study") -> StudyPlan:
        """The study that was frozen."""
        return planned(read_design(self.study, file), self.bibles, file)


def freeze(plan: StudyPlan, text: str, *, created: str) -> Sidecar:
    """Write down all that a run of this study would be set to now."""
    prompts = [(role, prompt_for(role, plan.policy)) for role in PROMPTS]
    return Sidecar(
        study=text,
        bibles=dict(plan.bibles),
        policy=policy_text(plan.policy),
        prompts=tuple(
            FrozenPrompt(role=role, version=one.version, sha256=one.sha256, system=one.system, text=one.text)
            for role, one in prompts
        ),
        player_seeds={seed.id: seed.text for seed in load_seeds().seeds},
        drawn=plan.drawn,
        environment=environment(),
        created=created,
    )


def policy_text(policy: Policy) -> dict[str, str]:
    """Every weight and threshold, exactly, as text."""
    values = {one.name: getattr(policy, one.name) for one in fields(policy)}
    values["pcv_gate"] = policy.pcv_threshold
    return {
        name: " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        for name, value in values.items()
        if name in NUMBERS or name == "profile"  # the rest is of findings, not of the gate
    }


def environment() -> Environment:
    """Ask the interpreter, the installed packages, and git."""
    commit = _git("rev-parse", "HEAD")
    status = _git("status", "--porcelain", "--", "ludic_deepeval") if commit else None
    return Environment(
        commit=commit,
        changed=None if status is None else bool(status),
        python=platform.python_version(),
        packages={name: _version(name) for name in PACKAGES},
        code_sha256=_code_sha256(_PACKAGE),
    )


def _code_sha256(package: Path) -> str:
    """A hash of names and contents, the same whichever way a checkout ends its lines."""
    digest = sha256()
    files = {
        path.relative_to(package).as_posix(): path for path in package.rglob("*") if path.suffix in _CODE
    }
    for name, path in sorted(files.items()):
        digest.update(f"{name}\0".encode())
        digest.update(sha256(path.read_bytes().replace(b"\r\n", b"\n")).digest())
    return digest.hexdigest()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _git(*arguments: str) -> str | None:
    """What git says of this code; None where there is no git, or the code is in no repository of its own."""
    git = shutil.which("git")
    if git is None or not (_ROOT / ".git").exists():
        return None
    quiet = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
    try:
        done = subprocess.run(  # noqa: S603  # git itself, with words of our own
            [git, "-C", str(_ROOT), *quiet, *arguments],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            env=os.environ | {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def load_sidecar(data: bytes, file: object) -> Sidecar:
    """Read a sidecar; raise `InputError` when it is none."""
    return load_model(Sidecar, data, file)


def differences(was: Sidecar, now: Sidecar) -> tuple[str, ...]:
    """Say where a run differs from what was frozen, a line for each place; nothing where it does not.

    The study's text is compared by what it says, so that a comment changes nothing.
    """
    one, other = was.model_dump(mode="json", by_alias=True), now.model_dump(mode="json", by_alias=True)
    for side, sidecar in ((one, was), (other, now)):
        side["study"] = read_design(sidecar.study, "study").model_dump(mode="json", by_alias=True)
        side["prompts"] = {prompt.role: prompt.model_dump() for prompt in sidecar.prompts}
        del side["created"]
    return tuple(_walk("", one, other))


def is_environment(difference: str) -> bool:
    """Whether a difference is one of code and surroundings, not of what was set."""
    return difference.startswith("environment.")


def _walk(where: str, was: Any, now: Any) -> list[str]:
    if was == now:
        return []
    if isinstance(was, dict) and isinstance(now, dict):
        return [
            line
            for key in dict.fromkeys([*was, *now])
            for line in _walk(f"{where}.{key}" if where else str(key), was.get(key), now.get(key))
        ]
    if isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        return [
            line
            for at, (a, b) in enumerate(zip(was, now, strict=True))
            for line in _walk(f"{where}[{at}]", a, b)
        ]
    return [clean(f"{where}: {_short(was)}, and now {_short(now)}", limit=400)]


def _short(value: Any) -> str:
    return "nothing" if value is None else clean(str(value), limit=160)


def require_same(
    was: Sidecar, now: Sidecar, file: object, *, known: frozenset[str] = frozenset(), deviation: bool = False
) -> tuple[str, ...]:
    """Refuse a run that differs from what was frozen.

    Args:
        was: What was frozen.
        now: What a run would be set to.
        file: The sidecar, for the error.
        known: Differences that stand in the log of deviations already.
        deviation: Let code and surroundings differ, which the caller writes into that log.

    Returns:
        How code and surroundings differ, past what is known.

    Raises:
        InputError: They differ; names the first place and counts the others.
    """
    found = [one for one in differences(was, now) if not (is_environment(one) and one in known)]
    refused = [one for one in found if not (deviation and is_environment(one))]
    if refused:
        rest = len(refused) - 1
        more = f" ({rest} more difference{'s' * (rest > 1)})" if rest else ""
        hint = (
            "run it with the code and the packages that it was begun with, or put it on record: --deviation 'WHY'"
            if all(map(is_environment, refused))
            else "give another --out; before the first trial is kept, `ludic study amend` records a change"
        )
        raise InputError(file, f"this run differs from what was frozen: {refused[0]}{more}", hint=hint)
    return tuple(found)
