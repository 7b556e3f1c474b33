"""How the page begins: with what is marked already, wherever the latest of it lies."""

from pathlib import Path
from typing import Final

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import decode, load_yaml
from ludic_deepeval.ledger import Evidence, FactLedger, Npc
from ludic_deepeval.lockfile import Lockfile, load_lockfile, sheet_digest, verify
from ludic_deepeval.lookup import SECOND
from ludic_deepeval.marks import SECTIONS, write_sheet
from ludic_deepeval.reanchor import relock
from ludic_deepeval.report.as_text import counted
from ludic_deepeval.sources import Story, read_story
from ludic_deepeval.web.anchors import Anchor, anchor
from ludic_deepeval.web.session import Session, bytes_of, shaped
from ludic_deepeval.web.verdict import Sheet

_SECTION_OF: Final = {name: section for section, name in SECTIONS.items()}


def open_session(path: Path, *, second: bool = False) -> Session:
    """Begin to mark a story, with what is marked already.

    That is, the first there is: marks not saved last time; the mark sheet, if it was edited since it was locked or
    never was; the lockfile, whoever made it. A second reader sees the second reading's alone.

    Raises:
        InputError: No prose; or marks that an edit of the story has lost, which `ludic relock` lists.
    """
    story = read_story(path)
    if not story.prose.body:
        raise InputError(path, "no prose in this file", allowed="a story")
    lock_path, sheet_path = story.lockfile, story.sheet
    if second:
        stem = lock_path.name.removesuffix(".ledger.json")
        lock_path = lock_path.with_name(f"{stem}{SECOND}")
        sheet_path = sheet_path.with_name(f"{stem}.second.marks.yaml")
    lock = load_lockfile(lock_path) if lock_path.exists() else None
    stale = lock is not None and lock.source_sha256 != story.prose.sha256
    if lock is not None:
        lock = _fresh(lock, story, lock_path, may_lose=second)
    sheet = _of_ledger(lock.ledger if lock else None, story)
    session = Session(story, sheet_path, lock_path, second, sheet, must_save=stale)
    if stale:
        session.notices.append(
            "The story was edited since it was marked. The marks have moved along with their words; save to keep them so."
        )
    session.notices += (f"From {path.name}: {message}." for _, message in story.remarks)
    if lock is not None:
        _tell_of(lock, session)
        session.background_log = lock.ledger.background_log
        session.own_sheets.add(
            session.sheet_of(lock.ledger)
        )  # the page's of last time, not one typed by hand
    _take_sheet(session, lock)
    return session


def _fresh(lock: Lockfile, story: Story, path: Path, *, may_lose: bool) -> Lockfile:
    """The lockfile with its marks on the words of today's prose."""
    if lock.source_sha256 != story.prose.sha256:
        moved = relock(lock, story.prose, path)
        if moved.lost and not may_lose:
            count = counted(len(moved.lost), "mark has", "marks have")
            raise InputError(
                path, f"the story was edited since, and {count} lost the words", hint=f"run first: ludic relock {story.path}"
            )  # fmt: skip
        lock = moved.lock
    verify(lock, story.prose, path)
    return lock


def _tell_of(lock: Lockfile, session: Session) -> None:
    """Say what of a lockfile a reader has to know before correcting it."""
    if lock.notary.kind == "model":
        who = clean(lock.notary.model or "a model")
        session.notices.append(f"These marks were made by {who}. Once you save, they count as yours.")
    if lock.unread:
        session.unread = [(part.start, part.end) for part in lock.unread]
        count = counted(len(lock.unread), "paragraph is", "paragraphs are")
        session.notices.append(
            f"{count} new, with a bar in the margin. Saving says that you have read all of it."
        )
    for item in lock.ungrounded:
        content = {key: value for key, value in item.item.items() if key not in {"evidence", "quote"}}
        session.aside.append({"section": _SECTION_OF[item.list], "item": content, "reason": item.reason})


def _take_sheet(session: Session, lock: Lockfile | None) -> None:
    """Begin with the mark sheet where it says more than the lockfile."""
    unsaved = bytes_of(session.unsaved_path)
    if unsaved is not None:
        text = decode(unsaved, session.unsaved_path)
        session.sheet = shaped(load_yaml(text, session.unsaved_path), session.unsaved_path)
        session.notices.append("Marks that were not saved last time are back. They still have to be saved.")
        return
    there = bytes_of(session.sheet_path)
    if there is None:
        return
    text = decode(there, session.sheet_path)
    recorded = lock.notary.options.get("sheet_sha256") if lock else None
    if lock is not None and recorded in {None, sheet_digest(text)}:
        if recorded is None and text != write_sheet(session.story, lock.ledger):
            session.notices.append(
                f"The mark sheet {clean(session.sheet_path.name)} is not what was locked, and not shown here. Saving keeps it as a .bak file."
            )
        return
    if text == write_sheet(session.story):
        return
    session.sheet = session.on_disk = shaped(load_yaml(text, session.sheet_path), session.sheet_path)
    if lock is not None:
        session.notices.append("This is your mark sheet as you edited it. It still has to be saved.")


def _of_ledger(ledger: FactLedger | None, story: Story) -> Sheet:
    """A ledger as marks: its items with their quotes, each made unlike any other words where it was not."""
    sheet: Sheet = {"protagonist": ledger.protagonist if ledger else ""}
    for section, name in SECTIONS.items():
        sheet[section] = []
        for item in getattr(ledger, name) if ledger else ():
            content = item.model_dump(mode="json", exclude_defaults=True, exclude={"evidence"})
            if isinstance(item, Npc):
                content |= {"status": item.status, "unresolved": item.unresolved}
            content["quote"] = []
            for evidence in item.evidence:
                content["quote"].append(_alone(evidence, story))
            if content.get("text") in content["quote"][:1] and section == "mysteries":
                del content["text"]
            sheet[section].append(content)
    return sheet


def _alone(evidence: Evidence, story: Story) -> str:
    """The quote; where its words stand elsewhere too, with as many more as tell it apart."""
    if len(story.prose.find(evidence.quote)) > 1:
        wider = anchor(story.prose, evidence.start, evidence.end)
        if isinstance(wider, Anchor):
            return wider.quote
    return evidence.quote
