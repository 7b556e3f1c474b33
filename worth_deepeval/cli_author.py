"""`worth new` and `worth import-episode`: drafts of episodes, from plain text and from data sets of mysteries."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import print_json, say

if TYPE_CHECKING:
    from worth_deepeval.authoring.importing import Imported
    from worth_deepeval.authoring.splitting import Split

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Force = Annotated[bool, typer.Option("--force", help="Write over an episode that is there already.")]
_SHOWN: Final = 12
_ASK: Final = {
    "id": "An id for the episode (letters and digits, such as WEN02)",
    "title": "Its title",
    "question": "What is asked of the reader (such as: Who took part in the theft?)",
    "scope": "Which case is asked about, and which other wrongs of the story are not",
    "source": "Where the story comes from (such as: written for this project)",
}


def register(app: typer.Typer) -> None:
    """Add the two commands to `worth`."""
    app.command("new")(new)
    app.command("import-episode")(import_episode)


def new(  # noqa: PLR0913, PLR0917  # one argument an option of the command
    story: Annotated[Path, typer.Argument(metavar="STORY.txt", help="The story as plain text in UTF-8.")],
    id_: Annotated[str | None, typer.Option("--id", help="The episode's id, such as WEN02.")] = None,
    language: Annotated[str | None, typer.Option(help="en or zh; told by the script when left out.")] = None,
    title: Annotated[str | None, typer.Option(help="The story's title.")] = None,
    question: Annotated[str | None, typer.Option(help="What is asked of the reader.")] = None,
    scope: Annotated[str | None, typer.Option(help="Which case is asked about.")] = None,
    definition: Annotated[
        str | None, typer.Option(help="Who counts as a participant; the paper's words when left out.")
    ] = None,
    candidate: Annotated[
        list[str] | None, typer.Option(help='"NAME" or "NAME: NOTE"; two or more, in the order of the list.')
    ] = None,
    source: Annotated[str | None, typer.Option(help="Where the story comes from.")] = None,
    licence: Annotated[str | None, typer.Option(help="Under which licence it stands.")] = None,
    quota: Annotated[
        int | None, typer.Option(help="How many sentences a reply may select; a tenth when left out.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The episode's folder; its id when left out.")] = None,
    lines: Annotated[
        bool, typer.Option("--lines", help="Each line is a sentence already: split nothing.")
    ] = False,
    speeches: Annotated[
        bool, typer.Option("--speeches", help="Also cut between the sentences of one speech.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--show", help="Print the sentences, one on each line, and write nothing.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make a draft of an episode from plain text; say where its splitting into sentences should be looked at."""
    from ludic_deepeval.files import MAX_YAML_BYTES, decode, read_bytes
    from worth_deepeval.authoring.drafting import DEFINITION, Draft, draft_text, write_draft
    from worth_deepeval.authoring.splitting import split_story

    text = decode(read_bytes(story, limit=MAX_YAML_BYTES), story)
    if not text.strip("\ufeff \t\r\n"):
        raise InputError(story, "empty", allowed="a story")
    tongue = _language(language, text, story)
    split = split_story(text, tongue, lines=lines, speeches=speeches, file=story)
    if show:
        for one in split.sentences:
            say(one)
        return
    given = {"id": id_, "title": title, "question": question, "scope": scope, "source": source}
    known, people = _complete(given, candidate or [], ask=not as_json)
    draft = Draft(
        id=known["id"],
        title=known["title"],
        question=known["question"],
        scope=known["scope"],
        source=known["source"],
        language=tongue,
        definition=definition or DEFINITION[tongue],
        sentences=split.sentences,
        candidates=people,
        licence=licence,
        quota=quota,
    )
    folder = out or Path(draft.id)
    file = write_draft(draft_text(draft, story), folder, force=force)
    if as_json:
        print_json(_new_json(file, draft.id, split))
        return
    _say_new(file, split, len(people))


def _language(given: str | None, text: str, story: Path) -> Literal["en", "zh"]:
    if given is None:
        from ludic_deepeval.text import han_share

        latin, han, other = han_share(text)
        if other > latin + han or not latin + han:
            raise InputError(
                story, "neither English nor Chinese", allowed="a story in en or zh", hint="give --language"
            )
        return "zh" if han * 2 > latin else "en"
    if given not in {"en", "zh"}:
        raise InputError("--language", f"found '{clean(given)}'", allowed="en or zh")
    return cast("Literal['en', 'zh']", given)


def _complete(
    given: dict[str, str | None], candidates: list[str], *, ask: bool
) -> tuple[dict[str, str], tuple[tuple[str, str | None], ...]]:
    """What was given, and what a person at a terminal says of the rest; elsewhere an error that names all that is missing."""
    asks = ask and at_terminal()
    missing = [f"--{name}" for name, value in given.items() if not (value or "").strip()]
    missing += ["--candidate (two or more)"] if len(candidates) < 2 else []
    if missing and not asks:
        raise InputError("new", f"not said yet: {', '.join(missing)}", hint="give them as options")
    known = {
        name: value if value and value.strip() else typer.prompt(_ASK[name]) for name, value in given.items()
    }
    while len(candidates) < 2 or (missing and missing[-1].startswith("--candidate")):
        one = typer.prompt(
            "A candidate, as NAME or NAME: NOTE (nothing when there are no more)",
            default="",
            show_default=False,
        )
        if one.strip():
            candidates = [*candidates, one]
        elif len(candidates) >= 2:
            break
    people = []
    for one in candidates:
        name, _, note = one.replace("：", ":").partition(":")
        people.append((name.strip(), note.strip() or None))
        if not name.strip():
            raise InputError("--candidate", f"found '{clean(one)}'", allowed="NAME or NAME: NOTE")
        if name.strip() in {known for known, _ in people[:-1]}:
            raise InputError("--candidate", f"'{clean(name.strip())}' twice", allowed="each candidate once")
    return cast("dict[str, str]", known), tuple(people)


def at_terminal() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty()


def _count(sentences: int) -> str:
    return f"{sentences} {'sentence' if sentences == 1 else 'sentences'}"


def _new_json(file: Path, name: str, split: "Split") -> dict[str, Any]:
    from worth_deepeval.authoring.drafting import sentence_id

    return {
        "version": 1,
        "path": file.as_posix(),
        "episode": name,
        "status": "draft",
        "sentences": len(split.sentences),
        "doubts": [
            {
                "sentence": sentence_id(one.sentence),
                "code": one.code,
                "message": one.message,
                "place": one.place,
            }
            for one in split.doubts
        ],
    }


def _say_new(file: Path, split: "Split", people: int) -> None:
    from worth_deepeval.authoring.drafting import sentence_id

    say(f"{file.as_posix()}: {_count(len(split.sentences))}, {people} candidates; a draft without a key")
    if split.doubts:
        say(f"look at {len(split.doubts)} {'place' if len(split.doubts) == 1 else 'places'}:")
    for one in split.doubts:
        say(f"  {sentence_id(one.sentence)} {one.message}: {clean(one.place, limit=90)}")
    say(
        "next: mend the splitting (worth new --show, one sentence on each line, then --lines), write the key,"
    )
    say(f"  set status: final, and run: worth validate {file.parent.as_posix()}")


def import_episode(
    files: Annotated[list[Path], typer.Argument(metavar="FILE.json...", help="MuSR or Sherlock mysteries.")],
    out: Annotated[
        Path, typer.Option(help="The folder under which each mystery gets one of its own.")
    ] = Path("episodes"),
    least: Annotated[
        int | None,
        typer.Option(help="The score, 0 to 100, from which on a sentence is proposed; 50, for Sherlock 40."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make drafts from MuSR or Sherlock mysteries: sentences, candidates, and a key that is proposed and not confirmed."""
    from worth_deepeval.authoring.drafting import draft_text, write_draft
    from worth_deepeval.authoring.importing import import_file

    if least is not None and not 0 <= least <= 100:
        raise InputError("--least", f"found {least}", allowed="0 to 100")
    ready = [(one, draft_text(one.draft, path)) for path in files for one in import_file(path, least=least)]
    taken: dict[str, int] = {}
    for one, _ in ready:
        taken[one.draft.id] = taken.get(one.draft.id, 0) + 1
    if twice := next((name for name, count in taken.items() if count > 1), None):
        raise InputError(
            "import-episode", f"two mysteries would be '{twice}'", hint="import them into two folders"
        )
    if not force:
        for one, _ in ready:  # all or none
            if (out / one.draft.id / "episode.yaml").exists():
                raise InputError(
                    out / one.draft.id, "is there already", hint="give another --out, or --force"
                )
    found = [(one, write_draft(text, out / one.draft.id, force=force)) for one, text in ready]
    if as_json:
        print_json({"version": 1, "episodes": [_import_json(one, file) for one, file in found]})
        return
    for one, file in found:
        _say_import(one, file)
    say(
        "confirm by hand: read each sentence, take `proposed` and `unaligned` out, set status: final, run worth validate"
    )


def _import_json(one: "Imported", file: Path) -> dict[str, Any]:
    from worth_deepeval.authoring.drafting import sentence_id

    return {
        "path": file.as_posix(),
        "episode": one.draft.id,
        "status": "draft",
        "sentences": len(one.draft.sentences),
        "candidates": len(one.draft.candidates),
        "proposals": [
            {
                "fact": each.fact,
                "sentence": None if each.sentence is None else sentence_id(each.sentence),
                "score": each.score,
                "of": whose,
            }
            for whose, part in (("solution", one.proposals), ("others", one.about_others))
            for each in part
        ],
    }


def _say_import(one: "Imported", file: Path) -> None:
    from worth_deepeval.authoring.drafting import sentence_id

    draft = one.draft
    size = f"{_count(len(draft.sentences))}, {len(draft.candidates)} candidates"
    say(f"{file.as_posix()}: {size}; a draft")
    placed = [each for each in one.proposals if each.sentence is not None]
    clues = len(draft.key["clues"])
    say(f"  found {len(placed)} of the solution's {len(one.proposals)} facts in {_count(clues)}")
    for each in sorted(placed, key=lambda each: each.sentence or 0):
        say(f"    {sentence_id(each.sentence or 0)} {each.score:3d}  {clean(each.fact, limit=90)}")
    missing = [each for each in one.proposals if each.sentence is None]
    for each in missing[:_SHOWN]:
        say(f"    not found ({each.score})  {clean(each.fact, limit=90)}")
    if len(missing) > _SHOWN:
        say(f"    and {len(missing) - _SHOWN} more, which stand under unaligned in the file")
    if one.about_others:
        lost = sum(each.sentence is None for each in one.about_others)
        say(
            f"  of {len(one.about_others)} facts about the others, not found: {lost}; see unaligned in the file"
        )
