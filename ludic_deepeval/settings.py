"""Settings: `ludic.toml`, or `[tool.ludic]` in `pyproject.toml`, read into a `Policy`."""

from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ludic_deepeval.codes import CODES, GROUPS, SEVERITIES
from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.files import read_toml
from ludic_deepeval.policy import PROFILE_NAME, PROFILES, Policy

if TYPE_CHECKING:
    from ludic_deepeval.sources import Story

FILES: Final = ("ludic.toml", "pyproject.toml")  # in a folder, the first that has settings decides
SETTINGS: Final = frozenset(item.name for item in fields(Policy)) - {"genre", "general"}
NUMBERS: Final = SETTINGS - {"profile", "profiles", "fail_on", "severity", "calibration"}
_MAX_PROFILES: Final = 50
_LONGEST_NOTE: Final = 300
_OWN_TABLES: Final = frozenset(
    {"sources", "baseline", "model"}
)  # settings of others that stand in the same table


def policy_from(table: dict[str, Any], file: object) -> Policy:
    """Build a policy from a TOML table whose floats were parsed as `Decimal`.

    Raises:
        InputError: An unknown key, a value of the wrong kind, or one that `Policy` refuses.
    """
    known = SETTINGS
    values: dict[str, Any] = {}
    for raw_key, value in table.items():
        key = raw_key.replace("-", "_")
        if key in _OWN_TABLES:
            continue
        if key not in known:
            raise InputError(
                file,
                "unknown setting",
                where=f"tool.ludic.{clean(raw_key)}",
                allowed=", ".join(sorted(known)),
            )
        values[key] = _setting(key, value, file)
    profile = values.pop("profile", None)
    try:
        policy = Policy(**values)
        return policy if profile is None else _under(policy, profile, file)
    except InputError as error:
        raise InputError(
            file, error.found, where=f"tool.ludic.{error.where}", allowed=error.allowed
        ) from None


def _under(policy: Policy, profile: object, file: object) -> Policy:
    if not isinstance(profile, str):
        raise InputError(file, f"found {shown(profile)}", where="profile", allowed=" or ".join(PROFILES))
    return policy.with_profile(profile)


def numbers_from(table: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """Read the `[numbers]` of a profile.

    Raises:
        InputError: An unknown number, or a value of the wrong kind.
    """
    found = {}
    for raw_key, value in table.items():
        key = raw_key.replace("-", "_")
        if key not in NUMBERS:
            allowed = ", ".join(sorted(NUMBERS))
            raise InputError(file, "unknown number", where=f"numbers.{clean(raw_key)}", allowed=allowed)
        found[key] = _setting(key, value, file, table="numbers")
    return found


def _setting(key: str, value: object, file: object, *, table: str = "tool.ludic") -> object:
    where = f"{table}.{key}"
    if key == "profile":
        return value
    if read := {
        "fail_on": _fail_on,
        "severity": _severity,
        "profiles": _profiles,
        "calibration": _note,
    }.get(key):
        return read(value, where, file)
    if key in {"weights", "tau", "pcv_weights"}:
        length = 3 if key == "tau" else 4
        if not isinstance(value, list) or len(value) != length:
            raise InputError(
                file, f"found {shown(value)}", where=where, allowed=f"a list of {length} numbers"
            )
        return tuple(_number(item, where, file) for item in value)
    number = _number(value, where, file)
    if key in {"active_cap", "goal_cap", "hole_peak", "band_width", "full_events"}:
        if number.denominator != 1:
            raise InputError(file, f"found {shown(value)}", where=where, allowed="a whole number")
        return int(number)
    return number


def _note(value: object, where: str, file: object) -> str:
    if isinstance(value, str) and value == clean(value, limit=_LONGEST_NOTE):
        return value.strip()
    allowed = f"a line of at most {_LONGEST_NOTE} characters"
    raise InputError(file, f"found {shown(value)}", where=where, allowed=allowed)


def _fail_on(value: object, where: str, file: object) -> tuple[str, ...]:
    if isinstance(value, list) and all(
        isinstance(item, str) and (item in CODES or item in GROUPS) for item in value
    ):
        return tuple(value)
    allowed = f"a list of {', '.join(GROUPS)} and codes (ludic explain lists them)"
    raise InputError(file, f"found {shown(value)}", where=where, allowed=allowed)


def _severity(value: object, where: str, file: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise InputError(file, f"found {shown(value)}", where=where, allowed="a table of codes")
    for code, level in value.items():
        if code not in CODES:
            raise InputError(file, f"unknown code {shown(code)}", where=where, allowed=", ".join(CODES))
        if level not in (*SEVERITIES, "off"):
            allowed = ", ".join((*SEVERITIES, "off"))
            raise InputError(file, f"found {shown(level)}", where=f"{where}.{code}", allowed=allowed)
    return tuple(sorted(value.items()))


def _profiles(value: object, where: str, file: object) -> tuple[tuple[str, Path], ...]:
    if not isinstance(value, dict) or len(value) > _MAX_PROFILES:
        allowed = f"a table of at most {_MAX_PROFILES} names and files"
        raise InputError(file, f"found {shown(value)}", where=where, allowed=allowed)
    folder = Path(str(file)).parent
    for name, path in value.items():
        if not PROFILE_NAME.fullmatch(name) or name in PROFILES:
            allowed = f"a name of small letters, digits and hyphens, none of {', '.join(PROFILES)}"
            raise InputError(file, f"found {shown(name)}", where=where, allowed=allowed)
        if not isinstance(path, str) or not path.endswith(".toml"):
            raise InputError(
                file, f"found {shown(path)}", where=f"{where}.{name}", allowed="the path of a .toml file"
            )
    return tuple(sorted((name, folder / path) for name, path in value.items()))


def _number(value: object, where: str, file: object) -> Fraction:
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) <= 12:
        return Fraction(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**12:
        return Fraction(value)
    raise InputError(file, f"found {shown(value)}", where=where, allowed="a number")


def find_policy(start: Path) -> tuple[Policy, Path | None]:
    """Return the policy in force for a folder and the file that it comes from (see `find_table`)."""
    table, path = find_table(start)
    return (Policy(), None) if path is None else (policy_from(table, path), path)


class StoryPolicies:
    """The policy of each story, with the settings of a folder read once.

    Args:
        policy: The policy for every story; None looks for each story's own (`find_policy`).
        profile: A profile that overrides the stories' own.
    """

    def __init__(self, policy: Policy | None = None, profile: str | None = None) -> None:
        self._policy = policy
        self._profile = profile
        self._found: dict[Path, Policy] = {}

    def of(self, story: "Story") -> Policy:
        """The policy that a story is judged under: profile of the call, of the story, of the configuration.

        Raises:
            InputError: Settings that cannot be read, or a profile that there is not.
        """
        policy = self._policy
        if policy is None:
            folder = story.path.absolute().parent
            if folder not in self._found:
                self._found[folder] = find_policy(folder)[0]
            policy = self._found[folder]
        wanted = self._profile or story.front.profile
        try:
            return policy.with_profile(wanted)
        except InputError as error:
            if error.where != "profile":
                raise
            # Under the story's own name: which profiles there are depends on the folder that it lies in.
            raise InputError(story.file, error.found, where="profile", allowed=error.allowed) from None


def find_table(start: Path) -> tuple[dict[str, Any], Path | None]:
    """Return the settings in force for a folder and the file that holds them.

    The nearest folder upwards that has a `ludic.toml`, or a `pyproject.toml` with `[tool.ludic]`, decides.
    """
    for folder in (start, *start.parents):
        if found := settings_in(folder):
            return found
    return {}, None


def settings_in(folder: Path) -> tuple[dict[str, Any], Path] | None:
    """Return the settings that a folder has of its own, with their file; None when it has none."""
    for name in FILES:
        path = folder / name
        if path.is_file():
            table = read_toml(path)
            if name == "ludic.toml":
                return table, path
            tool = table.get("tool")
            if isinstance(tool, dict) and isinstance(tool.get("ludic"), dict):
                return tool["ludic"], path
    return None
