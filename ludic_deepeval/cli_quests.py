"""The commands `ludic quests` and `ludic export`: what can be played of a story, for a table or for a game engine."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import complain, note, print_json, say

if TYPE_CHECKING:
    from ludic_deepeval.bible import Bible
    from ludic_deepeval.engines import Exported
    from ludic_deepeval.ledger import FactLedger
    from ludic_deepeval.quests import Quest

Files = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Stories, or folders of stories.")]
Templates = Annotated[
    Path | None,
    typer.Option(
        "--templates", metavar="FILE", help="Quest templates of your own, instead of the built-in ones."
    ),
]
AllowUnread = Annotated[bool, typer.Option("--allow-unread", help="Let stories without a ledger through.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command()(quests)
    app.command()(export)


def quests(
    paths: Files,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    templates: Templates = None,
    allow_unread: AllowUnread = False,
) -> None:
    """List the quests that stories have the makings of, filled from their ledgers and nothing else."""
    wanted = _templates(templates)
    run = _Run()
    shown: list[dict[str, Any]] = []
    for path, title, ledger, bible in run.ledgers(paths):
        from ludic_deepeval.quests import quests_of

        found = quests_of(ledger, wanted, bible)
        if as_json:
            shown.append(
                {"path": path.as_posix(), "title": title, "quests": [quest_json(one) for one in found]}
            )
        else:
            for line in _lines(path, title, ledger, found):
                say(line)
    if as_json:
        print_json({"version": 1, "stories": shown, "unread": [path.as_posix() for path in run.unread]})
    raise typer.Exit(run.exit_code(allow_unread=allow_unread))


def export(
    paths: Files,
    to: Annotated[
        str, typer.Option("--to", metavar="ENGINE", help="unity, unreal, ink, yarn, foundry or articy.")
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder that the files are written into.")
    ],
    templates: Templates = None,
    allow_unread: AllowUnread = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Write ledgers and their quests in the form that a game engine reads."""
    from ludic_deepeval.engines import ENGINES, Exported
    from ludic_deepeval.files import make_folder, write_atomic
    from ludic_deepeval.quests import quests_of

    if to not in ENGINES:
        raise InputError("--to", f"found '{clean(to)}'", allowed=", ".join(ENGINES))
    if out.exists() and not out.is_dir():
        raise InputError(out, "is no folder", allowed="a folder, or a name that is free")
    wanted = _templates(templates)
    run = _Run()
    stories: list[Exported] = []
    for path, title, ledger, bible in run.ledgers(paths):
        stories.append(Exported(_key(path, stories), title, ledger, quests_of(ledger, wanted, bible)))
    written = []
    if stories:
        make_folder(out)
        for name, text in ENGINES[to](tuple(stories)).items():
            write_atomic(out / name, text)
            written.append(out / name)
    if as_json:
        print_json(
            {
                "version": 1,
                "engine": to,
                "files": [path.as_posix() for path in written],
                "stories": [story.key for story in stories],
                "unread": [path.as_posix() for path in run.unread],
            }
        )
    else:
        for path in written:
            say(clean(f"wrote {path}", limit=800))
    raise typer.Exit(run.exit_code(allow_unread=allow_unread))


class _Run:
    """Reads ledgers one after the other; what cannot be used is said and does not stop the others."""

    def __init__(self) -> None:
        self.unread: list[Path] = []
        self._failed = False

    def ledgers(self, paths: list[Path]) -> "Iterator[tuple[Path, str, FactLedger, Bible | None]]":
        """Yield path, title, ledger and bible of every story that was read."""
        from ludic_deepeval.check import Checker
        from ludic_deepeval.outcome import Scored
        from ludic_deepeval.sources import find_stories

        checker = Checker()
        for path in find_stories(paths):
            try:
                result = checker.check(path)
                bible = checker.bible_for(result.story)
            except InputError as error:
                complain(error)
                self._failed = True
                continue
            if isinstance(result.outcome, Scored):
                yield path, result.title, result.outcome.value.ledger, bible
            else:
                self.unread.append(path)
                note(clean(f"{path}: {result.outcome.reason}", limit=800))

    def exit_code(self, *, allow_unread: bool) -> int:
        """2 when a file could not be used, 1 when a story is unread, else 0."""
        return 2 if self._failed else 1 if self.unread and not allow_unread else 0


def _templates(path: Path | None) -> "tuple[Any, ...]":
    from ludic_deepeval.quests.templates import default_templates, load_templates

    return default_templates() if path is None else load_templates(path)


def _key(path: Path, before: "list[Exported]") -> str:
    """A name for a story in an engine: letters, digits and _, different from those before."""
    plain = "".join(
        c if c.isascii() and c.isalnum() else "_" for c in path.name.rpartition("#")[2].split(".")[0]
    )
    key = plain.strip("_").lower() or "story"
    key = key if key[0].isalpha() else f"s_{key}"
    taken = {story.key for story in before}
    number = 2
    unique = key
    while unique in taken:
        unique, number = f"{key}_{number}", number + 1
    return unique


def quest_json(quest: "Quest") -> dict[str, Any]:
    """One quest for programs."""
    return {
        "id": quest.id,
        "template": quest.template,
        "kind": quest.kind,
        "title": quest.title,
        "tier": quest.tier,
        "from": quest.grows_from,
        "summary": quest.summary,
        "fields": [{"name": one.name, "value": one.value, "source": one.source} for one in quest.fields],
    }


_TIERS = {1: "could open the next session", 2: "wants exploring", 3: "in the background"}


def _lines(path: Path, title: str, ledger: "FactLedger", found: "tuple[Quest, ...]") -> Iterator[str]:
    yield clean(f"{path}  {title}: {ledger.protagonist}", limit=600)
    if not found:
        yield "  nothing to make a quest of: no open thread, no mystery, no goal that is pursued"
    for quest in found:
        yield f"  {clean(quest.kind)}: {clean(quest.title, limit=300)}   ({_TIERS[quest.tier]})"
        yield f"    {clean(quest.summary, limit=600)}"
        for one in quest.fields:
            label = one.name.replace("_", " ")
            yield f"      {label}: {clean(one.value, limit=400)}   [{clean(one.source)}]"
    yield ""
