"""Stories in Markdown, with YAML front matter.

The keys of the front matter that mean something here are `id`, `title`, `profile`, `bible`, `background_log`,
`expect` and `intentional`. Others belong to other tools and are left alone, but one that is nearly ours is taken for a slip of the pen.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from ludic_deepeval.codes import CODES, NEVER_MEANT
from ludic_deepeval.conflict import TierName
from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.faults import FaultCode
from ludic_deepeval.files import MARKS_FOLDER, MAX_YAML_BYTES, decode, load_yaml, read_bytes
from ludic_deepeval.ledger import BackgroundEvent, Frozen, Id, Score01, Text, load_model
from ludic_deepeval.policy import PROFILE_NAME
from ludic_deepeval.scoring import Quadrant
from ludic_deepeval.text import Prose, folded

SUFFIXES: Final = frozenset({".md", ".markdown"})
_SKIPPED_NAMES: Final = frozenset({"readme", "changelog", "contributing", "license"})
_NUMBER: Final = re.compile(r"\d{1,9}(?:\.\d{1,9}|/[1-9]\d{0,8})?\Z")


class Expectation(Frozen):
    """What a story is meant to score. Each key replaces the default expectation for its figure.

    Numbers are compared at the digits in which they are written: "0.452" is met by 0.4517; "251/300" exactly.
    """

    gate: Literal["pass", "fail"] | None = None
    reasons: tuple[Literal["lpi", "pcv"], ...] | None = None
    quadrant: Quadrant | None = None
    tier: TierName | None = None
    lpi: Text | None = None
    pcv: Text | None = None
    consistency: Score01 | None = None
    faults: tuple[FaultCode, ...] | None = None
    rejected_mysteries: tuple[Id, ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _plain_numbers(cls, data: Any) -> Any:
        """A number without quotation marks means what it says."""
        if not isinstance(data, dict):
            return data
        return {
            key: str(value)
            if key in {"lpi", "pcv"} and isinstance(value, int | float) and not isinstance(value, bool)
            else value
            for key, value in data.items()
        }

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        for name in ("lpi", "pcv"):
            text = getattr(self, name)
            if text is not None and not _NUMBER.match(text):
                raise ValueError(f"@{name}@found {shown(text)}; allowed: a number such as 0.452 or 251/300")
        if self.gate == "pass" and self.reasons:
            raise ValueError("@reasons@reasons to fail beside gate: pass; allowed: reasons with gate: fail")
        if self.consistency == 1 and self.faults:
            raise ValueError("@faults@faults beside consistency: 1; allowed: faults with consistency: 0")
        return self


def meets(expected: str, value: Fraction) -> bool:
    """Whether a value, rounded to the digits of the expected number, is that number."""
    if "/" in expected:
        return Fraction(expected) == value
    places = len(expected.partition(".")[2])
    # A half may be rounded either way by hand; both are the number that was written.
    return (
        abs(Fraction(expected) - value) <= Fraction(1, 2 * 10**places)
        if places
        else Fraction(expected) == value
    )


class Intentional(Frozen):
    """A finding that the author means, and why. Without a quote it stands for every finding of its code."""

    code: Text
    reason: Text
    quote: Text | None = None

    @model_validator(mode="after")
    def _can_be_meant(self) -> Self:
        if self.code not in CODES or self.code in NEVER_MEANT:
            allowed = ", ".join(code for code in CODES if code not in NEVER_MEANT)
            raise ValueError(f"@code@found {shown(self.code)}; allowed: {allowed}")
        return self

    def means(self, code: str, quote: str | None) -> bool:
        """Whether this is about a finding of this code on these words."""
        if code != self.code:
            return False
        return self.quote is None or (quote is not None and folded(self.quote) in folded(quote))


class FrontMatter(Frozen):
    """What a story's author says about it."""

    id: Id | None = None
    title: Text | None = None
    profile: Annotated[str, Field(pattern=f"^{PROFILE_NAME.pattern}$")] | None = None
    bible: Text | None = None
    background_log: tuple[BackgroundEvent, ...] = ()
    expect: Expectation | None = None
    intentional: Annotated[tuple[Intentional, ...], Field(max_length=200)] = ()


@dataclass(frozen=True)
class Story:
    """A story as read from its file.

    Attributes:
        path: The file; for a story inside another file, `FILE#ID`.
        prose: Its text, with the way from body offsets to lines and columns.
        front: What its front matter says.
        container: The file that it is inside of, if it has none of its own.
        key: Its id in that file.
        remarks: What there is to say about how the file was read, as (code, message).
        book: The file of the Story Bible that the story brings along, such as a card's lorebook.
    """

    path: Path
    prose: Prose
    front: FrontMatter
    container: Path | None = None
    key: str = ""
    remarks: tuple[tuple[str, str], ...] = ()
    book: Path | None = None

    @property
    def file(self) -> Path:
        """The file that lines and columns are in."""
        return self.container or self.path

    @property
    def id(self) -> str:
        """The id of the front matter or in the container, else the file's name without its ending."""
        return self.key or self.front.id or unicodedata.normalize("NFC", self.path.stem)

    @property
    def lockfile(self) -> Path:
        """Where the recorded ledger lies."""
        return self._marks("ledger.json")

    @property
    def sheet(self) -> Path:
        """Where the mark sheet lies."""
        return self._marks("marks.yaml")

    def _marks(self, ending: str) -> Path:
        if self.container is None:
            own = self.path.suffix.lower() in SUFFIXES  # `Sally.yarn` may lie beside `Sally.md`
            return self.path.with_name(f"{self.path.stem if own else self.path.name}.{ending}")
        from ludic_deepeval.sources.naming import stem_of  # noqa: PLC0415  # Markdown needs it not

        folder = self.container.with_name(f"{self.container.name}{MARKS_FOLDER}")
        return folder / f"{stem_of(self.key)}.{ending}"


def real_file(path: Path) -> Path:
    """Return the file that a story's path stands for: the path itself, or FILE of `FILE#ID`."""
    name, mark, _ = path.name.rpartition("#")
    return path.with_name(name) if mark and name and not path.is_file() else path


def read_story(path: Path) -> Story:
    """Read one story.

    A path that ends in `#ID` and is no file names a story inside the file before it: see `sources.embedded`.

    Raises:
        InputError: It cannot be read, is not UTF-8, or its front matter is wrong.
    """
    if path.suffix.lower() not in SUFFIXES or "#" in path.name:
        from ludic_deepeval.sources.embedded import read_embedded  # noqa: PLC0415  # Markdown needs it not

        if (story := read_embedded(path)) is not None:
            return story
        from ludic_deepeval.branches.reading import holds_branches, read_branches  # noqa: PLC0415

        if path.is_file() and holds_branches(path):
            return read_branches(path)[1]
        from ludic_deepeval.sources.known import read_known  # noqa: PLC0415

        if (story := read_known(path)) is not None:
            return story
    return story_of(decode(read_bytes(path), path), path)


def story_of(raw: str, path: Path) -> Story:
    """Return the story that a Markdown file holds, or would if this text were saved in it.

    Raises:
        InputError: Its front matter is wrong.
    """
    prose = Prose(raw, path, reading=_links_as_words if "[[" in raw else None)
    return Story(path, prose, front_matter_of(prose, path))


def _links_as_words(text: str) -> tuple[str, Sequence[int]]:
    from ludic_deepeval.sources.wikilinks import as_read  # noqa: PLC0415  # few stories have links

    return as_read(text)


def front_matter_of(prose: Prose, path: Path) -> FrontMatter:
    """Return what a story's front matter says; raise `InputError` for what means nothing here and nearly does."""
    if prose.front_matter is None:
        return FrontMatter()
    data = load_yaml(prose.front_matter, path, first_line=2)
    if data is None:
        return FrontMatter()
    if not isinstance(data, dict):
        raise InputError(
            path,
            f"the front matter is {shown(data)}",
            where="line 2",
            allowed="a mapping such as id: my-story",
        )
    ours = {}
    known = [
        name for name in FrontMatter.model_fields if name != "title"
    ]  # a slip in it does no harm; "titles" is royal
    for key, value in data.items():
        name = str(key)
        if name in FrontMatter.model_fields:
            ours[name] = str(value) if name in {"id", "title"} and type(value) is int else value
        elif close := _nearest(name, known):
            raise InputError(path, f"unknown key {shown(name)}", where="front matter", allowed=close)
    if isinstance(ours.get("background_log"), str):
        ours["background_log"] = _log_beside(ours["background_log"], path)
    return load_model(FrontMatter, ours, path)


def _nearest(name: str, known: list[str]) -> str | None:
    """The key that a name is probably a slip for."""
    import difflib  # noqa: PLC0415  # most stories have only keys that are known

    return next(
        iter(difflib.get_close_matches(name.replace("-", "_").lower(), known, n=1, cutoff=0.85)), None
    )


def _log_beside(name: str, path: Path) -> Any:
    """Read a background log kept in a file of its own, in the story's folder or below it."""
    target = path.parent / name
    inside = "\0" not in name and target.resolve().is_relative_to(path.parent.resolve())
    if not inside or target.suffix not in {".yaml", ".yml", ".json"}:
        raise InputError(
            path,
            f"found {shown(name)}",
            where="background_log",
            allowed="a list of events, or a .yaml file in the story's folder",
        )
    data = load_yaml(decode(read_bytes(target, limit=MAX_YAML_BYTES), target), target)
    return data.get("background_log") if isinstance(data, dict) else data


def find_stories(paths: list[Path]) -> list[Path]:
    """Return the stories that files and folders hold, each once, in a stable order.

    A folder is searched to the bottom; README and its like, `_index.md`, hidden folders and files without prose are skipped.
    A story inside another file, where the settings say that there are some, is given as `FILE#ID`.

    Raises:
        InputError: A path that does not exist or is no story, or a folder without any.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            from ludic_deepeval.sources.embedded import embedded_in  # noqa: PLC0415  # a Markdown file needs it not

            inside = (
                sorted(_walk(path), key=lambda file: file.as_posix()) + embedded_in(path) + others_in(path)
            )
            if not inside:
                raise InputError(
                    path, "no stories here", allowed=f"files ending in {' or '.join(sorted(SUFFIXES))}"
                )
        elif path.suffix.lower() in SUFFIXES or not path.exists():
            inside = [path]
        elif not (inside := _inside(path)):
            raise InputError(
                path,
                f"not a story ({clean(path.suffix) or 'no ending'})",
                allowed=" or ".join(sorted(SUFFIXES)),
                hint=_hint(path),
            )
        for file in inside:
            found.setdefault(file.absolute(), file)
    return list(found.values())


def _inside(file: Path) -> list[Path]:
    """The stories inside a file that is no Markdown, or the file where it is one of another format; else none."""
    from ludic_deepeval.branches.reading import holds_branches  # noqa: PLC0415
    from ludic_deepeval.sources.embedded import embedded_of, sources_of  # noqa: PLC0415  # Markdown needs it not
    from ludic_deepeval.sources.known import is_known  # noqa: PLC0415

    sources = sources_of(file)
    if not sources and (holds_branches(file) or is_known(file)):
        return [file]
    inside = embedded_of(file, sources) if sources else []
    if sources and not inside:
        raise InputError(file, "no prose in this file", allowed="a story")
    return inside


def others_in(folder: Path) -> list[Path]:
    """The cards and actors of a folder that no source of the settings reads."""
    from ludic_deepeval.sources.embedded import sources_of  # noqa: PLC0415
    from ludic_deepeval.sources.search import known_in  # noqa: PLC0415

    return [path for path in known_in(folder) if not sources_of(path)]


def _hint(file: Path) -> str:
    from ludic_deepeval.sources.known import is_lorebook  # noqa: PLC0415  # only for an error

    return f"a lorebook is a Story Bible: ludic bible check {clean(str(file))}" if is_lorebook(file) else ""


def _walk(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if is_story_of(folder, path))


def is_skipped(name: str) -> bool:
    """Whether a Markdown file is by its name about other files and no story: a README, or `_index.md`."""
    return name.startswith("_") or name.rpartition(".")[0].lower() in _SKIPPED_NAMES


def is_story_of(folder: Path, path: Path) -> bool:
    """Whether `find_stories` finds a file when it is given a folder that the file lies in."""
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    if hidden or not is_story_name(path) or not path.is_file():
        return False
    if not path.resolve().is_relative_to(folder.resolve()):
        return False  # a link out of the folder
    return _has_prose(path)


def is_story_name(path: Path) -> bool:
    """Whether a Markdown file is a story by its name: no README or the like, no `_index.md`."""
    if path.suffix.lower() not in SUFFIXES or is_skipped(path.name):
        return False
    # What happened in a mystery is no backstory.
    return not (path.name == "archive.md" and path.with_name("episode.yaml").is_file())


def _has_prose(path: Path) -> bool:
    """Whether there is a body to read; a file that cannot be read is kept, so that its fault is reported."""
    try:
        return bool(Prose(decode(read_bytes(path), path), path).body)
    except InputError:
        return True
