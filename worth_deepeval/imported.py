"""Replies that were pasted from a chat window, as records of runs with the fields of A.3."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ludic_deepeval.errors import InputError, clean
from worth_deepeval.records import (
    Access,
    EpisodeMark,
    Options,
    PromptMark,
    RunRecord,
    Settings,
    Window,
    run_key,
    settled,
    writing,
)


@dataclass(frozen=True)
class Chat:
    """How replies were had.

    Attributes:
        access: Model, interface and tiers, as the product's own labels say.
        settings: What the product may have added; unknown where nobody noted it.
        tested: From which day to which.
        formal: Whether the runs count.
        by: Whether a model or a person wrote them.
        note: Whatever else there is to say.
    """

    access: Access
    settings: Settings
    tested: Window
    formal: bool
    by: Literal["model", "hand-written"] = "model"
    note: str | None = None


def import_replies(
    replies: Sequence[tuple[str, str]],
    folder: Path,
    *,
    episode: EpisodeMark,
    prompt: PromptMark,
    chat: Chat,
    first: int | None = None,
) -> tuple[RunRecord, ...]:
    """Add replies to a folder's records, in their order as repetitions.

    Args:
        replies: Where each comes from, and its raw text.
        folder: Where `runs.jsonl` is or will be.
        episode: The story.
        prompt: What was sent.
        chat: How it was sent.
        first: The repetition of the first reply; None goes on after those that are there.

    Returns:
        The records that are new; a reply that is there already under the same repetition is left alone.

    Raises:
        InputError: Another reply stands under the same repetition; without `first`, a reply stands there already, since records
            cannot be taken back; or the records cannot be read or written.
    """
    added = []
    with writing(folder) as records:
        known = settled(records.found)
        at = first if first is not None else 1
        if first is None:
            _refuse_again(replies, known.values(), episode, prompt, chat.access)
            while run_key(episode, prompt, chat.access, Options(), at) in known:
                at += 1
        planned = []
        for repetition, (source, text) in enumerate(replies, start=at):
            key = run_key(episode, prompt, chat.access, Options(), repetition)
            before = known.get(key)
            if before is not None and before.text != text:
                raise InputError(
                    source,
                    f"another reply stands as {clean(before.name, limit=200)}",
                    hint="give the number that it has: --repetition N",
                )
            if before is None:
                planned.append((key, repetition, text))
        for key, repetition, text in planned:
            record = RunRecord(
                key=key,
                episode=episode,
                prompt=prompt,
                access=chat.access,
                settings=chat.settings,
                by=chat.by,
                formal=chat.formal,
                repetition=repetition,
                tested=chat.tested,
                text=text,
                note=chat.note,
            )
            records.add(record)
            added.append(record)
    return tuple(added)


def _refuse_again(
    replies: Sequence[tuple[str, str]],
    known: Iterable[RunRecord],
    episode: EpisodeMark,
    prompt: PromptMark,
    access: Access,
) -> None:
    """Refuse what was taken in before, so that a command that is given twice does not make ten runs of five."""
    there = {
        one.text: one
        for one in known
        if one.episode.sha256 == episode.sha256 and one.prompt == prompt and one.access == access
    }
    for source, text in replies:
        if before := there.get(text):
            raise InputError(
                source,
                f"the same reply stands already as {clean(before.name, limit=200)}",
                hint="if a model said this word for word once more, give its number: --repetition N",
            )
