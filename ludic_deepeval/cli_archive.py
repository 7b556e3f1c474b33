"""The command `ludic archive`: what a long campaign can put into a summary without changing a verdict."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.terminal import complain, print_json, say

if TYPE_CHECKING:
    from ludic_deepeval.archive import Folding
    from ludic_deepeval.ledger import FactLedger


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(archive)


def archive(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Stories that have been read, lockfiles, or ledgers."),
    ],
    share: Annotated[
        str,
        typer.Option("--share", metavar="SHARE", help="The share of PCV that may be folded away, 0 to 1."),
    ] = "0.2",
    write: Annotated[
        bool,
        typer.Option(
            "--write", help="Write NAME.archive.json beside each; by default only say what would be."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Fold events of low cumulative PCV into a line for each life phase, and say what a judge is spared."""
    from ludic_deepeval.archive import fold_events
    from ludic_deepeval.files import dump_json, write_atomic
    from ludic_deepeval.outcome import Unscored
    from ludic_deepeval.settings import find_policy

    limit = _share(share)
    results: list[dict[str, Any]] = []
    code = 0
    for path in paths:
        try:
            ledger = _ledger(path)
        except InputError as error:
            complain(error)
            code = 2
            continue
        folding = fold_events(ledger, find_policy(path.absolute().parent)[0], share=limit)
        if isinstance(folding, Unscored):
            results.append(
                {"path": path.as_posix(), "unscored": {"cause": folding.cause, "reason": folding.reason}}
            )
            code = max(code, 1)
        else:
            target = path.with_name(f"{_stem(path)}.archive.json")
            if write:
                write_atomic(
                    target, dump_json(folding.archive.model_dump(mode="json", exclude_defaults=True))
                )
            results.append(_json(path, folding, target if write else None))
    if as_json:
        print_json({"version": 1, "ledgers": results})
    else:
        for result in results:
            for line in _lines(result):
                say(clean(line, limit=2000))
    raise typer.Exit(code)


def _share(text: str) -> Fraction:
    try:
        value = Fraction(text) if len(text) <= 20 and "e" not in text.lower() else None
    except (ValueError, ZeroDivisionError):
        value = None
    if value is None or not 0 <= value <= 1:
        raise InputError("--share", f"found {shown(text)}", allowed="a number from 0 to 1")
    return value


def _ledger(path: Path) -> "FactLedger":
    """The ledger of a story as it was last read, or one in a file by itself."""
    from ludic_deepeval.check import Checker
    from ludic_deepeval.files import read_bytes
    from ludic_deepeval.ledger import load_ledger
    from ludic_deepeval.lockfile import load_lockfile
    from ludic_deepeval.lookup import is_lockfile
    from ludic_deepeval.outcome import Scored

    if path.suffix == ".json":
        data = read_bytes(path)
        return load_lockfile(path).ledger if is_lockfile(data) else load_ledger(data, path)
    result = Checker().check(path)
    if not isinstance(result.outcome, Scored):
        raise InputError(path, result.outcome.reason)
    return result.outcome.value.ledger


def _stem(path: Path) -> str:
    return path.name.removesuffix(".json").removesuffix(".ledger").removesuffix(".md")


def _json(path: Path, folding: "Folding", target: Path | None) -> dict[str, Any]:
    return {
        "path": path.as_posix(),
        "events": folding.events,
        "folded": folding.folded,
        "active": folding.events - folding.folded,
        "pcv": float(folding.pcv),
        "folded_pcv": float(folding.folded_pcv),
        "tokens": {
            "before": folding.tokens_before,
            "after": folding.tokens_after,
            "saved": round(folding.saved, 4),
        },
        "phases": [
            {"phase": part.phase, "summary": part.summary, "events": [event.id for event in part.events]}
            for part in folding.archive.phases
        ],
        "written": target.as_posix() if target else None,
    }


def _lines(result: dict[str, Any]) -> list[str]:
    if "unscored" in result:
        return [f"{result['path']}: nothing folded: {result['unscored']['reason']}"]
    tokens = result["tokens"]
    less = f"({tokens['saved']:.0%} less)"
    reads = f"a judge reads at most {tokens['after']} tokens instead of {tokens['before']} {less}"
    share = f"with {result['folded_pcv']:g} of PCV {result['pcv']:g}"
    lines = [f"{result['path']}: {result['folded']} of {result['events']} events folded, {share}; {reads}"]
    lines += [f"  {part['summary']}" for part in result["phases"]]
    if result["folded"]:
        lines.append("  verdict unchanged: gate and consistency are computed from all events")
    if result["written"]:
        lines.append(f"  wrote {result['written']}")
    return lines
