"""Stress tests of many stories: which can be tested, what comes of each trial, and what is kept when something ends them."""

from pathlib import Path

from ludic_deepeval.check import Checker, StoryResult
from ludic_deepeval.errors import InputError, LudicError, ModelError, clean
from ludic_deepeval.llm.budget import Meter
from ludic_deepeval.llm.client import ChatModel
from ludic_deepeval.llm.pool import work_through
from ludic_deepeval.outcome import Scored, Unscored
from ludic_deepeval.report.as_stress import Trial
from ludic_deepeval.session import Session, save_session
from ludic_deepeval.sources import find_stories
from ludic_deepeval.sources.naming import stem_of
from ludic_deepeval.stability import trials
from ludic_deepeval.stress import Settings, require_two, stress


class Stories:
    """The stories of a run, and what comes of each.

    Args:
        paths: Stories, or folders of stories.
        out: Where sessions are saved, if they are.
        repeat: How many trials each story has.

    Raises:
        InputError: `out` is no folder, or two stories would be saved in one place.
    """

    def __init__(self, paths: list[Path], out: Path | None = None, repeat: int = 1) -> None:
        if out is not None and out.exists() and not out.is_dir():
            raise InputError(out, "this is no folder", where="--out", allowed="a folder, also a new one")
        self.out = out
        self.repeat = repeat
        self.errors: list[LudicError] = []
        self.read: list[StoryResult] = []
        self.held: dict[tuple[int, int], Session | ModelError] = {}
        self.interrupted = False
        self.left = "not asked"
        checker = Checker()
        for path in find_stories(paths):
            try:
                self.read.append(checker.check(path))
            except InputError as error:
                self.errors.append(error)
        self._require_own_folders()

    @property
    def ready(self) -> list[int]:
        """Which stories have a ledger."""
        return [at for at, story in enumerate(self.read) if isinstance(story.outcome, Scored)]

    @property
    def jobs(self) -> list[tuple[int, int]]:
        """Story and repetition of each trial; first trials first, so that a budget that ends has tested as many as it can."""
        return [(at, repetition) for repetition in range(1, self.repeat + 1) for at in self.ready]

    def place(self, at: int, repetition: int = 1) -> Path | None:
        """Where the session of a story is saved."""
        name = "session.json" if repetition == 1 else f"session-{repetition}.json"
        return self.out / stem_of(self.read[at].id) / name if self.out else None

    def _require_own_folders(self) -> None:
        taken: dict[Path, Path] = {}
        for at in self.ready:
            place = self.place(at)
            if place is not None and place in taken:
                raise InputError(
                    self.read[at].path,
                    f"would be saved where {taken[place]} is",
                    where=f"id '{clean(self.read[at].id)}'",
                    allowed="stories with different ids, or one at a time",
                )
            if place is not None:
                taken[place] = self.read[at].path

    def keep(self, job: tuple[int, int], found: Session | ModelError) -> None:
        """Take what came of a trial, and save it."""
        at, repetition = job
        if isinstance(found, ModelError):
            self.errors.append(found)
        elif (place := self.place(at, repetition)) is not None:
            save_session(found, place)
        self.held[job] = found

    @property
    def trials(self) -> list[Trial]:
        """What came of each story, in order."""
        ready = set(self.ready)
        return [self._ended(at) if at in ready else self._unready(at) for at in range(len(self.read))]

    def _ended(self, at: int) -> Trial:
        found = [self.held.get((at, repetition)) for repetition in range(1, self.repeat + 1)]
        sessions = tuple(one for one in found if isinstance(one, Session))
        repeated = trials(sessions, self.repeat) if self.repeat > 1 else None
        first = found[0]
        if first is None or isinstance(first, ModelError):
            reason = self.left if first is None else str(first)
            return Trial(*self._named(at), "left", reason=reason, sessions=sessions, repeated=repeated)
        effort = first.effort()
        return Trial(
            *self._named(at),
            "measured" if isinstance(effort, Scored) else "unscored",
            session=first,
            reason=effort.reason if isinstance(effort, Unscored) else "",
            saved=self.place(at),
            sessions=sessions,
            repeated=repeated,
        )

    def _unready(self, at: int) -> Trial:
        story = self.read[at]
        reason = story.unscored.reason if story.unscored else "it has no ledger"
        return Trial(*self._named(at), "unread" if story.state == "unread" else "unscored", reason=reason)

    def _named(self, at: int) -> tuple[Path, str, str]:
        story = self.read[at]
        return story.path, story.id, story.title


def hold(  # what is tested, by whom, how, and for how much
    stories: Stories,
    tester: ChatModel,
    judge: ChatModel,
    settings: Settings,
    meter: Meter,
    *,
    same_model: bool,
    concurrency: int,
) -> LudicError | None:
    """Hold every trial, so many at a time; each is kept as it ends.

    Returns:
        What ended the run before its end, and what the rest would have ended in likewise; None also when it was interrupted.

    Raises:
        InputError: Tester and judge are one model.
    """
    require_two(tester, judge, same_model=same_model)
    jobs = stories.jobs

    async def trial(job: tuple[int, int]) -> Session:
        at, repetition = job
        story = stories.read[at]
        assert isinstance(story.outcome, Scored)  # noqa: S101  # that is what makes it ready
        return await stress(
            story.id,
            story.story.prose,
            story.outcome.value.ledger,
            tester,
            judge,
            settings,
            meter=meter,
            repetition=repetition,
            same_model=same_model,
            policy=story.outcome.value.card.policy,
        )

    ended: LudicError | None = None
    try:
        _, stopped = work_through(
            jobs, trial, workers=concurrency, on_done=lambda at, found: stories.keep(jobs[at], found)
        )
    except InputError as error:
        ended = error
    else:
        if stopped == "interrupted":
            stories.interrupted, stories.left = True, "interrupted"
        else:
            ended = stopped
    if ended is not None:
        stories.left = f"left: {ended.found if isinstance(ended, ModelError) else ended}"
    return ended
