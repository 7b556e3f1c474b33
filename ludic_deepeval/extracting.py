"""Reading many stories with a model: which are to be read, in what order, and what is kept when something ends it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from ludic_deepeval.errors import InputError, ModelError
from ludic_deepeval.llm.budget import Meter
from ludic_deepeval.llm.client import ChatModel, Request
from ludic_deepeval.llm.pool import Stopped, work_through
from ludic_deepeval.lockfile import Lockfile, load_lockfile
from ludic_deepeval.notary import Extraction, Settings, extract, notary_for, requests_for
from ludic_deepeval.reanchor import relock
from ludic_deepeval.settings import StoryPolicies
from ludic_deepeval.sources import Story

Action: TypeAlias = Literal["read", "read-new", "unchanged"]
Read: TypeAlias = Extraction | ModelError


@dataclass(frozen=True)
class Plan:
    """What is to be done with one story.

    Attributes:
        story: The story.
        action: Read all of it, read its unread paragraphs, or nothing.
        settings: How it is asked: under the story's own profile.
        known: The lockfile that there is, moved to the prose, when it can be used.
    """

    story: Story
    action: Action
    settings: Settings
    known: Lockfile | None = None


def plan(
    story: Story,
    model: str,
    settings: Settings,
    *,
    changed: bool = False,
    force: bool = False,
    policies: StoryPolicies | None = None,
) -> Plan:
    """Say what reading a story takes.

    Args:
        story: The story.
        model: Who would read it, as `provider:model`.
        settings: How it would be asked; unless they name a policy, the story's own decides on the questions.
        changed: Read only paragraphs that nobody has read, where the same notary read the others.
        force: Read what is read already, and write over marks that were made by hand.
        policies: Where the story's own policy is looked for; one for many stories reads a folder's settings once.

    Raises:
        InputError: No prose, a lockfile that cannot be read, or one that a person made (without `force`).
    """
    if not story.prose.body:
        raise InputError(story.path, "no prose in this file", allowed="a story")
    settings = (
        settings if settings.policy else replace(settings, policy=(policies or StoryPolicies()).of(story))
    )
    if not story.lockfile.exists():
        return Plan(story, "read", settings)
    lock = load_lockfile(story.lockfile)
    if lock.notary.kind == "hand":
        if not force:
            raise InputError(
                story.lockfile, "was marked by hand, and is left as it is", hint="--force writes over it"
            )
        return Plan(story, "read", settings)
    if lock.notary != notary_for(model, settings) or (force and not changed):
        return Plan(story, "read", settings)
    fresh = lock.source_sha256 == story.prose.sha256
    if fresh and not lock.unread:
        return Plan(story, "unchanged", settings, lock)
    if not changed or (not fresh and lock.fingerprint is None):
        return Plan(story, "read", settings)
    return Plan(story, "read-new", settings, relock(lock, story.prose, story.lockfile).lock)


@dataclass(frozen=True)
class Job:
    """One reading to be made.

    Attributes:
        plan: Of which story.
        repetition: Which of its readings.
    """

    plan: Plan
    repetition: int = 1

    @property
    def known(self) -> Lockfile | None:
        """The lockfile that the reading adds to."""
        return self.plan.known if self.plan.action == "read-new" and self.repetition == 1 else None


def jobs_for(plans: Sequence[Plan], repeat: int = 1) -> list[Job]:
    """The readings that are to be made: first ones first, so that a budget that ends has read as many stories as it can."""
    return [
        Job(one, repetition)
        for repetition in range(1, repeat + 1)
        for one in plans
        if repetition > 1 or one.action != "unchanged"
    ]


def requests_of(jobs: Sequence[Job]) -> Iterator[Request]:
    """What the readings ask for at least."""
    for job in jobs:
        yield from requests_for(job.plan.story.prose, job.plan.settings, job.repetition, known=job.known)


def first_request(job: Job) -> Request:
    """What a reading asks first. What it asks next depends on the answer."""
    return requests_for(job.plan.story.prose, job.plan.settings, job.repetition, known=job.known)[0]


@dataclass(frozen=True)
class Run:
    """What came of many readings.

    Attributes:
        results: For each job its reading, or the error that it ended in, or None when it was not made.
        stopped: What ended the run before its end: Ctrl-C, a spent budget, or what every other would end in.
    """

    results: tuple[Read | None, ...]
    stopped: Stopped


def read_all(
    jobs: Sequence[Job],
    model: ChatModel,
    *,
    concurrency: int,
    meter: Meter,
    on_done: Callable[[Job, Read], None],
) -> Run:
    """Make readings, so many at a time.

    Args:
        jobs: Which.
        model: Who reads.
        concurrency: How many stories are read at once.
        meter: What may be spent.
        on_done: Told of each as it ends, in the caller's thread, so that whatever ends the run keeps what is done.
    """

    async def read(job: Job) -> Extraction:
        return await extract(
            job.plan.story.prose,
            model,
            job.plan.settings,
            meter=meter,
            repetition=job.repetition,
            known=job.known,
        )

    results, stopped = work_through(
        jobs, read, workers=concurrency, on_done=lambda at, result: on_done(jobs[at], result)
    )
    return Run(results, stopped)
