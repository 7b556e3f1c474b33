"""Paths in, findings out: what the command, the hook, the pytest plugin and the action all call."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from ludic_deepeval.codes import LORE_CODES, SEVERITIES
from ludic_deepeval.consistency import check_consistency
from ludic_deepeval.errors import InputError, StaleError
from ludic_deepeval.files import decode, read_bytes
from ludic_deepeval.findings import Finding, Placer, of_lock
from ludic_deepeval.judging import Reading, figures, graded, judge, marks_for, without_the_meant
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.lockfile import Lockfile, load_lockfile, sheet_digest, verify
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import Gate, score_ledger
from ludic_deepeval.settings import StoryPolicies
from ludic_deepeval.sources import Story, find_stories, read_story

if TYPE_CHECKING:
    import pandas as pd

    from ludic_deepeval.advice import Fix
    from ludic_deepeval.bible import Bible

State: TypeAlias = Literal["read", "unread", "unscored"]
MoveMarks: TypeAlias = Callable[[Lockfile, Story], Lockfile | None]
"""Makes of a stale lockfile one that fits the story, or none."""


class Lore(Protocol):
    """Holds prose against one version of a Story Bible (`trulens_feedback.lore.LoreCheck`)."""

    @property
    def bible(self) -> "Bible":
        """That version, which takes the place of the one that a story names."""

    def findings(self, story: Story, ledger: FactLedger | None, policy: Policy) -> Sequence[Finding]:
        """What the prose gets wrong; needs no ledger."""


@dataclass(frozen=True)
class StoryResult:
    """The verdict on one story.

    Attributes:
        path: The file as it was given; `FILE#ID` for a story inside another file.
        story: What was read from it.
        id: The story's id.
        title: Its title, or its id.
        profile: The profile it was judged under.
        state: `read`; `unread` (no ledger, or prose nobody has read); `unscored` (the gate could not be measured).
        outcome: The reading, or why there is none.
        findings: All there is to tell, errors first, then by place.
        holds: Whether it is what is expected of it: its front matter's `expect`, or by default no contradiction and
            nothing of the policy's `fail_on`. False when it is not read or not scored.
        unscored: Why the state is not `read`.
    """

    path: Path
    story: Story
    id: str
    title: str
    profile: str
    state: State
    outcome: Outcome[Reading]
    findings: tuple[Finding, ...]
    holds: bool
    unscored: Unscored | None = None

    @property
    def file(self) -> Path:
        """The file that the lines and columns of the findings are in."""
        return self.path.with_name(self.story.file.name)

    @property
    def plays(self) -> bool | None:
        """Whether the gate is passed; None when it was not measured."""
        gate = self.outcome.value.card.gate if isinstance(self.outcome, Scored) else None
        return gate.passed if isinstance(gate, Gate) else None

    @property
    def breaks_lore(self) -> bool:
        """Whether its prose gets the world wrong, which can be told of a story that nobody has read."""
        return any(finding.fails and finding.code in LORE_CODES for finding in self.findings)

    @property
    def has_idle_mark(self) -> bool:
        """Whether its front matter excuses what was not found."""
        return any(finding.fails and finding.code == "unused-mark" for finding in self.findings)

    @property
    def is_known_unread(self) -> bool:
        """Whether nobody has read it yet and the team's baseline knows."""
        return any(finding.code == "unread" and finding.status == "known" for finding in self.findings)

    @cached_property
    def fixes(self) -> "tuple[Fix, ...]":
        """The smallest sets of changes that would clear the gate; worked out when asked for."""
        if self.plays or not isinstance(self.outcome, Scored):
            return ()
        from ludic_deepeval.advice import cheapest_fixes  # noqa: PLC0415  # a story that plays needs none

        reading = self.outcome.value
        return cheapest_fixes(reading.ledger, reading.card.policy, names=reading.names)


@dataclass(frozen=True)
class CheckResult:
    """The verdict on many stories.

    Attributes:
        stories: In the order in which they were found.
        errors: Files that could not be used; they make the exit code 2.
        allow_unread: Whether unread and unscored stories are let through.
    """

    stories: tuple[StoryResult, ...]
    errors: tuple[InputError, ...] = ()
    allow_unread: bool = False

    @property
    def summary(self) -> dict[str, int]:
        """How many stories, passed, failed, unread and unscored; the last four add up to the first."""
        read = [story for story in self.stories if story.state == "read"]
        return {
            "stories": len(self.stories),
            "passed": sum(story.holds for story in read),
            "failed": sum(not story.holds for story in read),
            "unread": sum(story.state == "unread" for story in self.stories),
            "unscored": sum(story.state == "unscored" for story in self.stories),
        }

    @property
    def exit_code(self) -> int:
        """0 holds, 1 something falls short, 2 an input is wrong."""
        if self.errors:
            return 2
        if any(
            story.breaks_lore or (story.state == "unread" and story.has_idle_mark) for story in self.stories
        ):
            return 1
        apart = any(story.state != "read" and not story.is_known_unread for story in self.stories)
        return 1 if self.summary["failed"] or (apart and not self.allow_unread) else 0

    def to_frame(self) -> "pd.DataFrame":
        """One row a story, floats for figures and missing values for what was not measured (needs pandas)."""
        import pandas as pd  # noqa: PLC0415  # an extra

        rows: list[dict[str, Any]] = []
        for story in self.stories:
            row: dict[str, Any] = {
                "path": str(story.path),
                "id": story.id,
                "profile": story.profile,
                "state": story.state,
            }
            if isinstance(story.outcome, Scored):
                row |= figures(story.outcome.value)
            rows.append(row | {"holds": story.holds})
        return pd.DataFrame(rows)


class Checker:
    """Judges stories under one configuration; bibles are loaded once.

    Args:
        policy: The policy for every story; None looks for each story's own (`find_policy`).
        profile: A profile that overrides the stories' own.
        lore: Also hold the prose against this version of a bible.
    """

    def __init__(
        self, policy: Policy | None = None, *, profile: str | None = None, lore: Lore | None = None
    ) -> None:
        self._policies = StoryPolicies(policy, profile)
        self._lore = lore
        self._bibles: dict[Path, Bible] = {}

    def policy_for(self, story: Story) -> Policy:
        """The policy that a story is judged under: profile of the call, of the story, of the configuration."""
        return self._policies.of(story)

    def bible_for(self, story: Story) -> "Bible | None":
        """The bible that prose is held against, else the one that the front matter names, else the one that the story brings."""
        if self._lore is not None:
            return self._lore.bible
        if story.front.bible is None and story.book is None:
            return None
        from ludic_deepeval.bible import load_bible, resolve_bible  # noqa: PLC0415  # stories without one start faster

        folder = story.book
        if folder is None or story.front.bible is not None:
            folder = resolve_bible(str(story.front.bible), story.path.absolute().parent, story.path)
        if folder not in self._bibles:
            self._bibles[folder] = load_bible(folder)
        return self._bibles[folder]

    def read(self, story: Story, lock: Lockfile) -> Reading:
        """Score a story by its lockfile, which must be fresh."""
        return self.read_ledger(story, lock.ledger)

    def read_ledger(self, story: Story, ledger: FactLedger) -> Reading:
        """Score a story by a ledger of it; the front matter's background log is added."""
        bible = self.bible_for(story)
        if story.front.background_log:
            log = (*ledger.background_log, *story.front.background_log)
            whole = ledger.model_copy(update={"background_log": log})
            ledger = _validated(whole, story.path)
        names = bible.names if bible else ()
        card = score_ledger(ledger, self.policy_for(story), names=names)
        return Reading(ledger, card, check_consistency(ledger, bible), names)

    def check(self, path: Path, *, move_marks: MoveMarks | None = None) -> StoryResult:
        """Judge one story.

        Args:
            path: Its file.
            move_marks: Judge a story that was edited by what this makes of its lockfile; by default it is unread.

        Raises:
            InputError: The story, its lockfile or its bible cannot be used.
        """
        return self.check_story(read_story(path), move_marks=move_marks)

    def check_story(self, story: Story, *, move_marks: MoveMarks | None = None) -> StoryResult:
        """Judge a story that was read already, such as one that an editor has not saved; as `check`."""
        path = story.path
        policy = self.policy_for(story)

        def result(
            state: State,
            outcome: Outcome[Reading],
            findings: list[Finding],
            unscored: Unscored | None,
        ) -> StoryResult:
            told = [placer.at(0, code, message) for code, message in story.remarks]
            ordered = in_order(graded([*findings, *told], policy))
            holds = state == "read" and not any(finding.fails for finding in ordered)
            title = story.front.title or story.id
            return StoryResult(
                path, story, story.id, title, policy.profile, state, outcome, ordered, holds, unscored
            )

        def unread(why: Unscored, findings: list[Finding]) -> StoryResult:
            lore = self._lore_of(story, None, policy) or []
            marks = tuple(mark for mark in marks_for(story, lore=True) if mark.code in LORE_CODES)
            return result(
                "unread", why, [*findings, *without_the_meant(lore, marks if self._lore else ())], why
            )

        placer = Placer(story.prose, None)
        if not story.lockfile.exists():
            if not story.prose.body:
                raise InputError(path, "no prose in this file", allowed="a story")
            why = Unscored(
                "unread", f"not read yet (no ledger). Mark it up: ludic annotate {path}. No AI needed."
            )
            return unread(why, [placer.at(0, "unread", why.reason)])
        lock = load_lockfile(story.lockfile)
        try:
            verify(lock, story.prose, story.lockfile)
        except StaleError:
            moved = move_marks(lock, story) if move_marks else None
            if moved is None:
                why = Unscored(
                    "unread", f"changed since it was read. Move its marks along: ludic relock {path}"
                )
                return unread(why, [placer.at(0, "stale", why.reason)])
            lock = moved
        placer = Placer(story.prose, lock.ledger)
        aside = list(of_lock(lock, placer, story.prose))
        if _sheet_changed(story, lock):
            message = f"the mark sheet has changed since it was locked: ludic lock {path}"
            aside.append(placer.at(0, "unlocked-sheet", message))
        if lock.unread:
            count = "a paragraph" if len(lock.unread) == 1 else f"{len(lock.unread)} paragraphs"
            why = Unscored(
                "unread",
                f"{count} not read yet. Mark what is new: ludic annotate --force {path}; or, if nothing in it wants marking: ludic relock --read {path}",
            )
            return unread(why, aside)
        if why_not := lock.too_little_grounded:
            return result("unscored", why_not, [*aside, placer.at(0, "unscored", why_not.reason)], why_not)
        reading = self.read(story, lock)
        lore = self._lore_of(story, reading.ledger, policy)
        findings = judge(story, reading, placer, self.bible_for(story), lore) + aside
        if isinstance(reading.card.gate, Unscored):
            gap = reading.card.gate
            return result("unscored", Scored(reading), [*findings, placer.at(0, "unscored", gap.reason)], gap)
        return result("read", Scored(reading), findings, None)

    def _lore_of(self, story: Story, ledger: FactLedger | None, policy: Policy) -> list[Finding] | None:
        """What the prose gets wrong about the bible that it is held against; None when it is held against none."""
        return None if self._lore is None else list(self._lore.findings(story, ledger, policy))


def _sheet_changed(story: Story, lock: Lockfile) -> bool:
    recorded = lock.notary.options.get("sheet_sha256")
    if recorded is None or not story.sheet.is_file():
        return False
    return bool(sheet_digest(decode(read_bytes(story.sheet), story.sheet)) != recorded)


def in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    """Sort findings: errors first, then by place."""
    rank = {severity: at for at, severity in enumerate(SEVERITIES)}
    return tuple(sorted(findings, key=lambda finding: (rank[finding.severity], finding.line, finding.column)))


def _validated(ledger: FactLedger, path: Path) -> FactLedger:
    """Check the ids of a ledger and a log that come from two files."""
    taken = {event.id for event in ledger.events}
    for entry in ledger.background_log:
        if entry.id in taken:
            raise InputError(
                path,
                f"the id '{entry.id}' is used twice",
                where="background_log",
                allowed="an id that no other event has",
            )
        taken.add(entry.id)
    return ledger


def check_stories(
    paths: list[Path],
    *,
    policy: Policy | None = None,
    profile: str | None = None,
    allow_unread: bool = False,
    progress: Callable[[list[Path]], Any] = iter,
    lore: Lore | None = None,
) -> CheckResult:
    """Judge every story that files and folders hold.

    Args:
        paths: Files and folders.
        policy: One policy for all; by default each story's nearest `ludic.toml` or `pyproject.toml`.
        profile: Overrides the stories' own.
        allow_unread: Let unread and unscored stories through.
        progress: Wraps the list of files while it is worked through.
        lore: Also hold the prose of every story, read or not, against a version of a bible.

    Returns:
        The results in stable order. A file that cannot be used is in `errors` and does not stop the others.

    Raises:
        InputError: A path that does not exist, or a folder without stories.
    """
    checker = Checker(policy, profile=profile, lore=lore)
    stories: list[StoryResult] = []
    errors: list[InputError] = []
    for path in progress(find_stories(paths)):
        try:
            stories.append(checker.check(path))
        except InputError as error:
            errors.append(error)
    return CheckResult(tuple(stories), tuple(errors), allow_unread)
