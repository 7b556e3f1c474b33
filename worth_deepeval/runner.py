"""Running episodes with models: one turn, a fresh conversation, no tools, each run recorded as it ends (WORTH §4.6).

A run is told by its key, so that the same command takes up where a kill left it: what is recorded is not asked again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeAlias

from ludic_deepeval.errors import InputError, ModelError, clean
from ludic_deepeval.llm.budget import Budget, Meter, Preview, Spent, preview
from ludic_deepeval.llm.client import Completion, Model, Request
from ludic_deepeval.llm.pool import CONCURRENCY, Answered, complete_many
from worth_deepeval.conditions import Condition
from worth_deepeval.episode import Episode, load_question, load_sheet
from worth_deepeval.prompt import build_prompt
from worth_deepeval.records import (
    ALL_OFF,
    Access,
    EpisodeMark,
    Failure,
    Options,
    PromptMark,
    RunRecord,
    Usage,
    Window,
    run_key,
    settled,
    writing,
)

RUNS: Final = 5
MAX_TOKENS: Final = 16_384  # thinking included
MOST_RUNS: Final = 10_000
Clock: TypeAlias = Callable[[], datetime]


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Cell:
    """One cell of a design: a story under a condition.

    Attributes:
        path: The episode.
        condition: How it is given.
        modification: Which evidence was changed; "none" for the story as it was written.
        rewrite: How it was told anew; likewise.
    """

    path: Path
    condition: Condition
    modification: str = "none"
    rewrite: str = "none"


@dataclass(frozen=True)
class Sampling:
    """What is asked of the sampler.

    Attributes:
        temperature: None leaves the server's own.
        seed: Of the first repetition; each further one adds 1, since one seed would give one answer five times.
        max_tokens: The longest reply, thinking included.
        tier: The tier that was configured, where there is such a thing.
    """

    temperature: float | None = None
    seed: int | None = None
    max_tokens: int = MAX_TOKENS
    tier: str | None = None


@dataclass(frozen=True)
class Job:
    """One run that is to be made."""

    episode: EpisodeMark
    prompt: PromptMark
    access: Access
    options: Options
    request: Request

    @property
    def key(self) -> str:
        """The key of its record."""
        return run_key(self.episode, self.prompt, self.access, self.options, self.request.repetition)


@dataclass(frozen=True)
class Outcome:
    """What came of a command.

    Attributes:
        planned: Runs that were asked for.
        replied: Of them, those that have a reply now, from this time or an earlier one.
        failed: Those in which the model gave none.
        left: Those that were not made.
        stopped: Why, where they were stopped.
        spent: What was spent this time.
    """

    planned: int
    replied: int
    failed: int
    left: int
    stopped: str | None
    spent: Spent


def mark(episode: Episode) -> EpisodeMark:
    """How records name an episode."""
    return EpisodeMark(
        id=episode.id,
        version=episode.version,
        sha256=episode.digest,
        released=episode.provenance.released,
    )


def prompt_of(cell: Cell) -> tuple[EpisodeMark, PromptMark, str]:
    """Return the marks of a cell and the text that is sent.

    Only a prompt that shows K's ids reads the key.
    """
    question = load_question(cell.path)
    cued = load_sheet(cell.path).key.sentences if cell.condition.cue == "evidence-cueing" else ()
    built = build_prompt(question, cell.condition, cued=cued)
    place = PromptMark(
        sha256=built.sha256,
        version=built.version,
        condition=cell.condition.name,
        modification=cell.modification,
        rewrite=cell.rewrite,
    )
    return mark(question.episode), place, built.text


def plan(
    cells: Sequence[Cell], model: str, *, runs: int = RUNS, sampling: Sampling | None = None
) -> list[Job]:
    """List the runs of one model: every repetition of a cell, then the next cell.

    Args:
        cells: Stories and conditions.
        model: `provider:model`.
        runs: Repetitions of each cell.
        sampling: What is asked of the sampler.

    Raises:
        InputError: An episode that cannot be read, no runs or too many, or two cells that ask the same.
    """
    how = sampling or Sampling()
    if not 1 <= runs * len(cells) <= MOST_RUNS:
        raise InputError("--runs", f"{runs * len(cells):,} runs", allowed=f"1 to {MOST_RUNS:,}")
    access = Access(model=model, interface=f"api: {model.partition(':')[0]}", tier_configured=how.tier)
    jobs = []
    for cell in cells:
        episode, place, text = prompt_of(cell)
        for repetition in range(1, runs + 1):
            seed = None if how.seed is None else how.seed + repetition - 1
            jobs.append(
                Job(
                    episode=episode,
                    prompt=place,
                    access=access,
                    options=Options(temperature=how.temperature, seed=seed, max_tokens=how.max_tokens),
                    request=Request(
                        prompt=text,
                        temperature=how.temperature,
                        seed=seed,
                        max_tokens=how.max_tokens,
                        repetition=repetition,
                    ),
                )
            )
    twice = [key for key, count in Counter(job.key for job in jobs).items() if count > 1]
    if twice:
        same = next(job for job in jobs if job.key == twice[0])
        raise InputError(
            "worth run",
            f"{clean(same.episode.id)} under {same.prompt.condition} is asked for twice",
            allowed="each episode and condition once",
        )
    return jobs


def preview_of(jobs: Iterable[Job], recorded: Iterable[RunRecord], *, retry: bool) -> Preview:
    """Say what is still to be asked, and what it may cost."""
    done = settled(recorded)
    return preview([job.request for job in jobs if _is_left(job, done, retry=retry)])


def _is_left(job: Job, done: dict[str, RunRecord], *, retry: bool) -> bool:
    before = done.get(job.key)
    return before is None or (retry and before.failure is not None)


def run(
    jobs: Sequence[tuple[Model, Sequence[Job]]],
    folder: Path,
    *,
    formal: bool = True,
    retry: bool = False,
    concurrency: int = CONCURRENCY,
    budget: Budget | None = None,
    told: Callable[[RunRecord], None] | None = None,
    now: Clock = _now,
) -> Outcome:
    """Make the runs that a folder has no record of, one model after the other, and record each as it ends.

    Args:
        jobs: Models, each with its runs.
        folder: Where `runs.jsonl` is or will be.
        formal: Whether they count. What a script or a person wrote never does.
        retry: Also ask again where a model failed.
        concurrency: How many may be under way.
        budget: The most that may be spent by all.
        told: Told each new record.
        now: The time.

    Raises:
        InputError: The records cannot be read or written.
    """
    meter = Meter(budget)
    stopped: str | None = None
    everything = [job for _, mine in jobs for job in mine]
    with writing(folder) as records:
        known = list(records.found)
        done = settled(known)
        for model, mine in jobs:
            left = [job for job in mine if _is_left(job, done, retry=retry)]
            written: set[int] = set()

            def keep(
                at: int,
                result: Answered,
                left: list[Job] = left,
                model: Model = model,
                written: set[int] = written,
            ) -> None:
                record = record_of(left[at], result, model, formal=formal, now=now)
                records.add(record)
                known.append(record)
                written.add(at)
                if told:
                    told(record)

            batch = complete_many(
                model, [job.request for job in left], concurrency=concurrency, budget=meter, on_done=keep
            )
            for at, result in enumerate(batch.results):  # what came in while it was being stopped
                if result is not None and at not in written:
                    keep(at, result)
            if batch.stopped is not None:
                stopped = str(batch.stopped)
                if batch.stopped == "interrupted" or batch.stopped.kind == "budget":
                    break
    done = settled(known)
    states = [done.get(job.key) for job in everything]
    return Outcome(
        planned=len(everything),
        replied=sum(one is not None and one.failure is None for one in states),
        failed=sum(one is not None and one.failure is not None for one in states),
        left=states.count(None),
        stopped=stopped,
        spent=meter.spent,
    )


def record_of(job: Job, result: Answered, model: Model, *, formal: bool, now: Clock = _now) -> RunRecord:
    """Make the record of a run. A reply that was refused, cut off or empty is a reply: it is what the model said."""
    reply = result.completion if isinstance(result, ModelError) else result
    producer = model.producer
    ended = now()
    day = ended.date().isoformat()
    first = day
    if reply is not None:
        first = reply.date or (ended - timedelta(seconds=reply.seconds)).date().isoformat()
    kind = reply.kind if reply is not None else producer.kind
    return RunRecord(
        key=job.key,
        episode=job.episode,
        prompt=job.prompt,
        access=job.access.model_copy(
            update={"executed": reply.model if reply else None, "client": producer.client or None}
        ),
        settings=ALL_OFF,
        options=job.options.model_copy(update={"ignored": reply.ignored if reply else ()}),
        by=kind,
        formal=formal and kind == "model",
        repetition=job.request.repetition,
        tested=Window(first=first, last=reply.date or day if reply else day),
        ended=None if reply and reply.replayed else ended.isoformat(timespec="seconds"),
        failure=Failure(kind=result.kind, message=clean(str(result), limit=800))
        if isinstance(result, ModelError) and reply is None
        else None,
        **_said(reply) if reply else {"requests": result.requests},
    )


def _said(reply: Completion) -> dict[str, Any]:
    return {
        "text": _writable(reply.text),
        "thinking": _writable(reply.thinking),
        "seconds": reply.seconds,
        "usage": Usage(read=reply.prompt_tokens, written=reply.completion_tokens, cached=reply.cached_tokens),
        "stop": reply.stop,
        "requests": reply.requests,
        "replayed": reply.replayed,
    }


def _writable(text: str) -> str:
    """Text without halves of surrogate pairs, which no file can hold."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
