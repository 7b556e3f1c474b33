"""The commands `ludic profile show` and `ludic profile new`: what a genre asks of a story, and a file to say it otherwise."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import print_json, say

if TYPE_CHECKING:
    from ludic_deepeval.genre import Genre
    from ludic_deepeval.policy import Policy

_app = typer.Typer(help="Genre profiles.", no_args_is_help=True, rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.add_typer(_app, name="profile")


@_app.command("show")
def show(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A profile, or its file; by default all of them.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Show what a profile asks: its thresholds, what the four dimensions mean under it, how advice and verdicts are worded."""
    from ludic_deepeval.policy import PROFILES
    from ludic_deepeval.settings import find_policy

    general = find_policy(Path.cwd())[0]
    general = general.general or general
    if name is None:
        names = [*PROFILES, *(own for own, _ in general.profiles)]
        shown = [_genre(general, one) for one in names]
        if as_json:
            print_json({"version": 1, "profiles": [_json(*pair) for pair in shown]})
        else:
            for policy, genre in shown:
                gate = f"LPI {float(policy.lpi_threshold):.2f}, PCV {float(policy.pcv_threshold):g}"
                say(
                    f"{genre.name:<12} {gate}  {genre.about}"
                    + (f" ({policy.caveat})" if policy.caveat else "")
                )
        return
    policy, genre = _genre(general, name)
    if as_json:
        print_json({"version": 1} | _json(policy, genre))
        return
    for line in _lines(policy, genre):
        say(line)


@_app.command("new")
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What stories will call it.")],
    based_on: Annotated[
        str, typer.Option("--based-on", help="The built-in profile that it starts from.")
    ] = "campaign",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="By default profiles/NAME.toml.")
    ] = None,
) -> None:
    """Write a profile of your own to change and share: every word and number of the one that it is based on."""
    from ludic_deepeval.files import make_folder, write_atomic
    from ludic_deepeval.genre import load_genre
    from ludic_deepeval.policy import PROFILE_NAME, PROFILES

    if not PROFILE_NAME.fullmatch(name) or name in PROFILES:
        allowed = f"small letters, digits and hyphens, none of {', '.join(PROFILES)}"
        raise InputError("NAME", f"found '{clean(name)}'", allowed=allowed)
    if based_on not in PROFILES:
        raise InputError("--based-on", f"found '{clean(based_on)}'", allowed=", ".join(PROFILES))
    path = out or Path("profiles") / f"{name}.toml"
    if path.suffix != ".toml":
        raise InputError("--out", f"found '{clean(str(path))}'", allowed="a file that ends in .toml")
    if path.exists():
        raise InputError(path, "there is a file already", allowed="a name that is free")
    make_folder(path.parent)
    write_atomic(path, _template(load_genre(based_on)))
    say(f"wrote {path}. Change what differs and delete the rest; then name it in ludic.toml:")
    say(f'\n[profiles]\n{name} = "{path.as_posix()}"\n')
    say(f"and in a story's front matter:  profile: {name}")


def _genre(general: "Policy", name: str) -> "tuple[Policy, Genre]":
    """The policy under a profile, and what it asks; a path is a profile that nothing names yet."""
    from dataclasses import replace

    from ludic_deepeval.genre import load_genre

    if name.endswith(".toml"):
        own = Path(name)
        called = "".join(c for c in own.stem.lower() if c.isascii() and (c.isalnum() or c == "-"))[:40]
        called = called if called[:1].isalpha() else "unnamed"
        general = replace(general, profiles=((called, own),))
        policy = general.with_profile(called)
    else:
        policy = general.with_profile(name)
    return policy, policy.genre or load_genre(policy.profile)


def _json(policy: "Policy", genre: "Genre") -> dict[str, Any]:
    return {
        "name": genre.name,
        "based_on": genre.built_in,
        "about": genre.about,
        "calibration": genre.calibration or None,
        "caveat": policy.caveat or None,
        "gate": {"lpi": float(policy.lpi_threshold), "pcv": float(policy.pcv_threshold)},
        "numbers": _all_numbers(policy),
        "dimensions": {
            name: {"name": one.name, "asks": one.asks, "low": one.low, "high": one.high}
            for name, one in genre.dimensions.items()
        },
        "words": dict(genre.words),
    }


def _numbers() -> list[str]:
    from dataclasses import fields

    from ludic_deepeval.policy import Policy
    from ludic_deepeval.settings import NUMBERS

    return [item.name for item in fields(Policy) if item.name in NUMBERS]


def _all_numbers(policy: "Policy") -> dict[str, Any]:
    return {name: _plain(getattr(policy, name)) for name in _numbers()} | {
        "pcv_gate": _plain(policy.pcv_threshold)
    }


def _plain(value: object) -> Any:  # what JSON and TOML can say
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if value is None or isinstance(value, int):
        return value
    return float(value)  # type: ignore[arg-type]  # the numbers of a policy are whole or fractions


def _lines(policy: "Policy", genre: "Genre") -> list[str]:
    lines = [f"{genre.name}: {genre.about}"]
    if genre.name != genre.built_in:
        lines.append(f"  based on {genre.built_in}; {genre.path}")
    lines += [
        f"  passes at LPI {float(policy.lpi_threshold):.2f} and PCV {float(policy.pcv_threshold):g}",
        f"  calibration: {genre.calibration or 'nobody has measured its numbers; reports say so'}",
        "",
        "What the four dimensions ask, from 1 to 10:",
    ]
    for key, one in genre.dimensions.items():
        called = one.name if one.name.lower() == key else f"{one.name} ({key})"
        lines += [f"  {called}: {one.asks}", f"    1: {one.low}", f"    9: {one.high}"]
    changed, plain = _all_numbers(policy), _all_numbers(type(policy)())
    if different := {name: value for name, value in changed.items() if value != plain[name]}:
        lines += ["", "Numbers that are not the paper's:"]
        lines += [
            f"  {name.replace('_', '-')}: {value} (paper {plain[name]})" for name, value in different.items()
        ]
    lines += ["", "How advice and verdicts are worded:"]
    lines += [f"  {kind}: {words}" for kind, words in genre.words.items()]
    return lines


def _template(base: "Genre") -> str:
    from ludic_deepeval.policy import Policy

    policy = Policy().with_profile(base.name)
    lines = [
        f'based-on = "{base.built_in}"',
        f"about = {_quoted(base.about)}",
        'calibration = ""  # who measured the numbers, on what; while it is empty, reports say that nobody has',
        "",
        "# Numbers that differ (all of them, as they are now):",
        "# [numbers]",
        *(
            f"# {name.replace('_', '-')} = {_plain(value)}"
            for name in _numbers()
            if (value := getattr(policy, name)) is not None
        ),
        f"# pcv-gate = {float(policy.pcv_threshold):g}",
    ]
    for key, one in base.dimensions.items():
        lines += ["", f"[dimensions.{key}]"]
        lines += [f"{aspect} = {_quoted(getattr(one, aspect))}" for aspect in ("name", "asks", "low", "high")]
    lines += [
        "",
        "# {name}, {now}, {value} and {ordinal} are filled in; a wording may leave them out.",
        "[words]",
    ]
    lines += [f"{kind} = {_quoted(words)}" for kind, words in base.words.items()]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
