"""From a story in sentences to the file of an episode: always a draft, since only a person can say what its key is."""

from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

import yaml

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import MAX_YAML_BYTES, make_folder, write_atomic
from ludic_deepeval.ledger import load_model
from worth_deepeval.authoring.splitting import Language
from worth_deepeval.episode import Episode, Key

MAX_SENTENCES: Final = 2000
DEFINITION: Final[dict[Language, str]] = {
    # §4.3, the paper's words for its second episode.
    "en": "whoever planned or executed it or gave critical assistance, not limited to those who directly carried out fatal acts.",
    "zh": "包括谋划、实施或者提供关键帮助的人，不限于直接动手致死的人。",
}
_HEAD: Final = """\
# A draft: nobody has said yet that its key is right. Fill in what is missing (docs/worth-episodes.md), then set
# `status: final` and run `worth validate`.
"""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What an episode is made from.

    Attributes:
        id: The episode's id, which is also its folder's name.
        language: What its story is written in.
        title: Its title.
        question: What is asked.
        scope: Which case is asked about (the paper's own weak spot, §4.9).
        definition: Who counts as a participant.
        source: Where the story comes from.
        licence: Under which licence; None when nobody has said.
        note: What a reader of the file should know of its origin.
        sentences: The story.
        candidates: Names with their notes.
        quota: How many sentences a reply may select; None is a tenth of them, as in the paper's first episode.
        key: Whatever is proposed of the key, beside its status.
    """

    id: str
    language: Language
    title: str
    question: str
    scope: str
    definition: str
    source: str
    sentences: tuple[str, ...]
    candidates: tuple[tuple[str, str | None], ...]
    licence: str | None = None
    note: str | None = None
    quota: int | None = None
    key: dict[str, Any] = field(default_factory=dict)


def sentence_id(at: int) -> str:
    """The id of a sentence counted from 0."""
    return f"S{at + 1:03d}"


def role_id(at: int) -> str:
    """The id of a candidate counted from 0."""
    return f"R{at + 1:02d}"


def draft_text(draft: Draft, file: object) -> str:
    """The YAML of a draft, which reads back as an episode.

    Args:
        draft: What it is made from.
        file: What to call it in errors.

    Raises:
        InputError: Something in it cannot stand in an episode; the line names what.
    """
    if not draft.sentences:
        raise InputError(file, "no sentences", allowed="a story")
    if len(draft.sentences) > MAX_SENTENCES:
        raise InputError(
            file, f"{len(draft.sentences):,} sentences", allowed=f"at most {MAX_SENTENCES:,} sentences"
        )
    provenance = {"source": draft.source, "licence": draft.licence, "note": draft.note}
    data: dict[str, Any] = {
        "id": draft.id,
        "version": "0.1",
        "language": draft.language,
        "canary": f"ludic-worth-canary-{draft.id}-{token_hex(16)}",
        "title": draft.title,
        "question": draft.question,
        "scope": draft.scope,
        "participant_definition": draft.definition,
        "provenance": {name: value for name, value in provenance.items() if value},
        "quota": {"sentences": max(1, len(draft.sentences) // 10) if draft.quota is None else draft.quota},
        "sentences": [{"id": sentence_id(at), "text": one} for at, one in enumerate(draft.sentences)],
        "candidates": [
            {"id": role_id(at), "name": name} | ({"note": note} if note else {})
            for at, (name, note) in enumerate(draft.candidates)
        ],
    }
    key = {"status": "draft", **draft.key}
    # JSON from strangers may hold half a surrogate pair, which no file of text can.
    _require_text(data | {"key": key}, file)
    load_model(Episode, data, file)
    load_model(Key, key, f"{file}: key")
    text = _HEAD + yaml.safe_dump(data | {"key": key}, allow_unicode=True, sort_keys=False, width=110)
    if len(text.encode("utf-8")) > MAX_YAML_BYTES:
        raise InputError(file, "too long for an episode", allowed=f"at most {MAX_YAML_BYTES // 1024:,} KiB")
    return text


def _require_text(value: object, file: object) -> None:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            _require_text(one, file)
    elif isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise InputError(
                file, f"half a surrogate pair in '{clean(value, limit=40)}'", allowed="text in UTF-8"
            ) from None


def write_draft(text: str, folder: Path, *, force: bool = False) -> Path:
    """Write a draft into a folder of its own.

    Raises:
        InputError: An episode is there already and `force` is not set, or it cannot be written.
    """
    file = folder / "episode.yaml"
    if not force and (file.exists() or file.is_symlink()):
        raise InputError(file, "is there already", hint="give another --out, or --force to write over it")
    make_folder(folder)
    write_atomic(file, text)
    return file
