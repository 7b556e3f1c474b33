"""Running a study: trial after trial, so many at once, each kept as soon as it ended, whatever ends the run.

A trial is: Architect (and gate loop) → Notary → arithmetic → three outlines → reuse labels → E_a and Div_alpha. The steps are
those of `ludic generate` and `ludic stress`; here they are done for every cell and seed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from ludic_deepeval.architect import run_trial
from ludic_deepeval.errors import InputError, LudicError, ModelError
from ludic_deepeval.llm.budget import Meter, Spent
from ludic_deepeval.llm.pool import Stopped, work_through
from ludic_deepeval.stress import stress
from ludic_deepeval.studies.models import PASSING, Models, Share, Watched
from ludic_deepeval.studies.plan import StudyPlan, TrialKey
from ludic_deepeval.studies.record import line_of, line_of_failure
from ludic_deepeval.studies.store import Line, Store
from ludic_deepeval.trial import TrialFolder

AT_ONCE: Final = 4
_OUTCOMES: Final = frozenset({"refused", "truncated", "empty", "malformed", "too-long"})


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        done: Trials kept, those of earlier runs among them.
        total: All trials.
        seconds: How long this run has taken.
        here: Trials that this run has kept.
        spent: What it has spent.
    """

    done: int
    total: int
    seconds: float
    here: int
    spent: Spent

    @property
    def left(self) -> float | None:
        """Seconds that the rest will take if it goes on like this; None before the first trial."""
        return (self.total - self.done) * self.seconds / self.here if self.here else None


@dataclass
class Run:
    """What came of a run.

    Attributes:
        kept: Trials that this run has kept.
        failed: Trials that failed for a reason that may pass, or whose files cannot be used; they are tried again by the next run.
        stopped: What ended it before its end: Ctrl-C, a spent budget, or what every other trial would end in.
        spent: What was spent.
    """

    kept: int = 0
    failed: list[tuple[TrialKey, LudicError]] = field(default_factory=list)
    stopped: Stopped = None
    spent: Spent = field(default_factory=Spent)


OnLine = Callable[[Line, Progress], None]


async def perform(
    plan: StudyPlan, key: TrialKey, folder: TrialFolder, models: Models, meter: Meter, log: int
) -> Line:
    """Do one trial and return its line.

    Raises:
        InputError: A folder that was changed.
        ModelError: No answer for a reason that may pass, or that ends every trial.
    """
    level, roles = plan.level(key), plan.design.roles
    share = Share(meter)
    by = {
        role: Watched(models.get(name))
        for role, name in (
            ("generate", str(level.architect)),
            ("extract", roles.notary),
            ("outline", roles.tester),
            ("label", roles.judge),
        )
    }
    setting = plan.setting(key)
    try:
        trial = await run_trial(
            plan.plan(key), setting, folder, architect=by["generate"], notary=by["extract"], meter=share
        )
    except ModelError as error:
        if error.kind not in _OUTCOMES:
            raise
        stage = "extract" if by["extract"].failed else "generate"
        return line_of_failure(key, plan.drawn[key.seed], stage, error, log)
    last = trial.drafts[-1]
    session = await stress(
        key.id,
        last.story.prose,
        last.ledger,
        by["outline"],
        by["label"],
        plan.stress,
        meter=share,
        same_model=roles.same_model,
        policy=plan.policy,
    )
    for role in ("outline", "label"):  # what may pass is no outcome: the trial is done again
        failed = by[role].failed
        if session.unscored is not None and failed is not None and failed.kind in PASSING:
            raise failed
    seconds = {role: round(by[role].seconds, 3) for role in ("outline", "label")}
    return line_of(key, trial, session, setting.bible, seconds, log)


def run_study(
    store: Store,
    plan: StudyPlan,
    models: Models,
    *,
    meter: Meter | None = None,
    at_once: int = AT_ONCE,
    most: int | None = None,
    on_line: OnLine = lambda *_: None,
) -> Run:
    """Do the trials of a study that are not kept yet. The caller holds the store (`Store.locked`) and has mended it.

    Args:
        store: Where they are kept.
        plan: Which.
        models: By whom.
        meter: What may be spent.
        at_once: How many trials are under way at once; each model has its own limit beside.
        most: End after so many trials.
        on_line: Told of each trial once it is on the disk.
    """
    meter = meter or Meter()
    begun = Begun(store, plan, meter, on_line)
    left = begun.left[:most]

    async def work(key: TrialKey) -> Line | InputError:
        folder = TrialFolder(store.trial_folder(key.folder), bible="")
        try:
            return await perform(plan, key, folder, models, meter, begun.log)
        except InputError as error:
            return error

    for name in plan.models:  # whatever cannot be opened ends the run here, before anything is asked
        models.get(name)
    _, begun.run.stopped = work_through(
        left, work, workers=at_once, on_done=lambda at, found: begun.keep(left[at], found)
    )
    begun.run.spent = meter.spent
    return begun.run


class Begun:
    """A run under way: what is left, and how what comes is kept.

    Args:
        store: The store.
        plan: The study.
        meter: What has been spent.
        on_line: Told of each trial that is kept.
    """

    def __init__(self, store: Store, plan: StudyPlan, meter: Meter, on_line: OnLine) -> None:
        self._store, self._meter, self._on_line = store, meter, on_line
        done = store.done()
        self.total = len(plan.trials)
        self.left: Sequence[TrialKey] = [key for key in plan.trials if key.id not in done]
        self._before = self.total - len(self.left)
        self._started = monotonic()
        self.log = len(store.log())
        self.run = Run()

    def keep(self, key: TrialKey, found: Line | LudicError) -> None:
        """Put a trial's line on the disk, or note why there is none."""
        if isinstance(found, LudicError):
            self.run.failed.append((key, found))
            return
        self._store.append(found)
        self.run.kept += 1
        self._on_line(found, self.progress)

    @property
    def progress(self) -> Progress:
        """How far the run is."""
        return Progress(
            done=self._before + self.run.kept,
            total=self.total,
            seconds=monotonic() - self._started,
            here=self.run.kept,
            spent=self._meter.spent,
        )
