"""The commands about Story Bibles: `ludic bible check` and `ludic bible export`."""

import itertools
from pathlib import Path
from typing import Annotated, Any

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import print_json, say

_ONE = {
    "factions": "faction",
    "locations": "location",
    "deities": "deity",
    "people": "person",
    "history": "history",
    "rules": "rule",
    "entries": "entry",
}


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    bible_app = typer.Typer(help="Story Bibles.", no_args_is_help=True, rich_markup_mode=None)
    bible_app.command("check")(check)
    bible_app.command("export")(export)
    app.add_typer(bible_app, name="bible")


def check(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A Story Bible's folder, a lorebook, a card or a vault.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Check a Story Bible: every field, every name and every reference, and that no version drops a node unsaid."""
    from ludic_deepeval.bible import KINDS, dropped, is_lore, versions_of

    lore = _lore(path)
    versions = (lore.bible,) if is_lore(path) else versions_of(path)
    bible = versions[-1]
    counts = {kind: len(getattr(bible, kind)) for kind in KINDS}
    if not bible.entries:
        del counts["entries"]  # which bibles of our own have none of
    retired = [node.id for _, _, node in bible.nodes() if node.retired]
    gone = {
        newer.version: lost
        for older, newer in itertools.pairwise(versions)
        if (lost := dropped(older, newer))
    }
    if as_json:
        told: dict[str, Any] = {"told": list(lore.told)} if lore.told else {}
        print_json(
            {
                "version": 1,
                "id": bible.id,
                "name": bible.name,
                "bible_version": bible.version,
                "nodes": counts,
                "versions": [one.version for one in versions],
                "retired": retired,
                "dropped": {version: list(lost) for version, lost in gone.items()},
            }
            | told
        )
    else:
        known = [
            f"{count:,} {_ONE.get(kind, kind) if count == 1 else kind}"
            for kind, count in counts.items()
            if count
        ]
        more = f"; {len(retired)} retired" if retired else ""
        say(clean(f"{path}: {bible.name} {bible.version}: {', '.join(known)}{more}", limit=1000))
        for line in lore.told:
            say(f"  {clean(line, limit=1000)}")
        for version, lost in gone.items():
            say(f"  {version} drops {', '.join(lost)}; keep what is no more, as retired")
    raise typer.Exit(1 if gone else 0)


def export(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A Story Bible's folder, a lorebook, a card or a vault.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The lorebook to write (JSON).")],
    onto: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A lorebook or card (JSON) to bring up to date; all else in it is kept."
        ),
    ] = None,
) -> None:
    """Write a Story Bible as World Info, or into a lorebook or card that is there, of which nothing is lost."""
    import json

    from ludic_deepeval.files import write_atomic
    from ludic_deepeval.lore.book import book_in, with_entries
    from ludic_deepeval.lore.loading import read_document, updated
    from ludic_deepeval.sources.cards import is_binary
    from ludic_deepeval.sources.tree import is_json

    bible = _lore(path).bible
    raw = '{\n "entries": {}\n}\n'
    document: Any = {"entries": {}}
    if onto is not None:
        if is_binary(onto):
            raise InputError(onto, "an image or an archive", allowed="a lorebook or card in JSON")
        raw, document = read_document(onto)
        if not is_json(raw):
            raise InputError(onto, "no JSON", allowed="a lorebook or card in JSON")
    if out.suffix.lower() != ".json":
        raise InputError(out, f"ends in '{clean(out.suffix)}'", where="--out", allowed=".json")
    book = book_in(document, onto or out)
    entries = updated(book, bible)
    new = with_entries(book, entries)
    text = (
        raw.removeprefix("\ufeff")
        if new == document and onto
        else json.dumps(new, ensure_ascii=False, **_layout(raw))
    )
    write_atomic(out, text if text.endswith("\n") == raw.endswith("\n") else text + "\n")
    changed = sum(one != other for one, other in zip(entries, book.entries, strict=False))
    added = len(entries) - len(book.entries)
    same = len(book.entries) - changed
    say(clean(f"{out}: {added:,} added, {changed:,} changed, {same:,} as they were", limit=1000))


def _layout(raw: str) -> dict[str, Any]:
    """How a JSON text is laid out, so that it can be written the same way."""
    head = raw.lstrip("\ufeff \t\r\n").removeprefix("{")
    lines = head.split("\n", 2)
    if len(lines) < 2 or lines[0].strip():
        return {
            "separators": (",", ":")
            if not head.lstrip('"').partition('"')[2].startswith((": ", " :"))
            else None
        }
    blank = lines[1][: len(lines[1]) - len(lines[1].lstrip())]
    return {"indent": "\t" if "\t" in blank else len(blank)}


def _lore(path: Path) -> Any:
    from ludic_deepeval.bible import is_lore, load_bible
    from ludic_deepeval.lore.loading import Lore, read_lore

    return read_lore(path) if is_lore(path) else Lore(load_bible(path))
