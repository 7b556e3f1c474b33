"""`ludic extract`: prose in, grounded ledgers and lockfiles out, read by a model."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludic_deepeval.cli_batch import from_batch
from ludic_deepeval.errors import InputError, LudicError, ModelError, clean
from ludic_deepeval.terminal import INTERRUPTED, complain, guarded, note, print_json, say

if TYPE_CHECKING:
    from ludic_deepeval.extracting import Job, Plan, Read, Run
    from ludic_deepeval.injection import Suspicion
    from ludic_deepeval.llm.budget import Meter
    from ludic_deepeval.llm.client import Model
    from ludic_deepeval.notary import Settings
    from ludic_deepeval.report.as_extract import Report
    from ludic_deepeval.sources import Story
    from ludic_deepeval.stability import Stability


Stories = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Stories, or folders of stories.")]
ModelOption = Annotated[
    str | None,
    typer.Option("--model", metavar="PROVIDER:MODEL", help="Who reads; by default ollama:qwen3:14b."),
]
Concurrency = Annotated[int, typer.Option(min=1, max=256, help="How many stories are read at once.")]
Calls = Annotated[int | None, typer.Option("--budget-calls", min=0, help="The most calls.")]
Tokens = Annotated[
    int | None, typer.Option("--budget-tokens", min=0, help="The most tokens, read and written.")
]
Record = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Record every answer, for --model recorded:FOLDER.")
]
MaxTokens = Annotated[
    int | None,
    typer.Option(min=200, help="The longest answer, thinking included; 12,000. Less for a small context."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would cost, and ask nobody.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def extract(  # noqa: PLR0913, PLR0917  # one argument an option of the command
    paths: Stories,
    model: ModelOption = None,
    repeat: Annotated[
        int, typer.Option(min=1, max=30, help="Read each story so many times, and say what moves.")
    ] = 1,
    changed: Annotated[
        bool, typer.Option("--changed", help="Read only paragraphs that nobody has read.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Read again what is read, and write over marks made by hand.")
    ] = False,
    concurrency: Concurrency = 4,
    budget_calls: Calls = None,
    budget_tokens: Tokens = None,
    record: Record = None,
    temperature: Annotated[
        float, typer.Option(min=0, max=2, help="How freely the model chooses its words.")
    ] = 0.0,
    max_tokens: MaxTokens = None,
    batch: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Hand all stories in at once to Anthropic, at half the price and within a day; FILE remembers it.",
        ),
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Have a model read stories: each quote is found in the prose by code, and what rests on none is left out."""
    from ludic_deepeval.extracting import jobs_for, read_all
    from ludic_deepeval.llm.budget import Budget, Meter
    from ludic_deepeval.notary import ANSWER, Settings

    settings = Settings(temperature=temperature, max_tokens=max_tokens or ANSWER)
    name, opened = name_of(model, record)
    if batch is not None and not name.startswith("anthropic:"):
        raise InputError("--batch", f"{clean(name)} takes no batches", allowed="a model as anthropic:…")
    plans, errors = _plans(paths, name, settings, changed=changed, force=force)
    jobs = jobs_for(plans, repeat)
    if dry_run:
        say_cost(name, plans, jobs, as_json=as_json)
        _end(errors, 0)
    meter = Meter(Budget(budget_calls, budget_tokens))
    keeper = _Keeper()
    run = None
    left = ""
    if jobs:
        if repeat > 1 and temperature == 0:
            note("temperature 0: a model that keeps to it answers alike each time; try --temperature 0.7")
        with opened or open_asked(model, None if batch else record) as asked:
            reader, now = asked, jobs
            if batch is not None:
                reader, now, left = from_batch(batch, asked, jobs, meter.budget, record)
            run = read_all(now, reader, concurrency=concurrency, meter=meter, on_done=keeper.keep)
    if (
        run is not None
        and isinstance(run.stopped, ModelError)
        and run.stopped.kind != "budget"
        and not keeper.done
    ):
        raise run.stopped
    if batch is not None and run is not None and run.stopped is None:
        batch.unlink(missing_ok=True)  # all of it has been read
    report = _report(name, plans, jobs, run, meter, tuple(errors), keeper, repeat)
    report = replace(report, stopped=report.stopped or left)
    if plans or as_json:
        _tell(report, as_json=as_json)
    _end(errors, _code(run, report))


def main(words: list[str]) -> int:
    """Run this command alone, without those that it does not need, and return its exit code."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command()(extract)

    def run() -> int:
        alone(words, prog_name="ludic extract")
        return 0

    return guarded(run)


def say_cost(name: str, plans: "list[Plan]", jobs: "list[Job]", *, as_json: bool) -> None:
    """Say what readings would cost."""
    from ludic_deepeval.extracting import requests_of
    from ludic_deepeval.llm.budget import preview
    from ludic_deepeval.report.as_extract import preview_text

    to_read = {job.plan.story.path for job in jobs}
    found = preview(list(requests_of(jobs)))
    if as_json:
        cost = {
            "calls": found.calls,
            "prompt_tokens": found.prompt_tokens,
            "completion_tokens": found.completion_tokens,
        }
        print_json({"version": 1, "model": name, "stories": len(to_read), "at_most": cost})
        return
    for line in preview_text(name, len(plans) - len(to_read), len(to_read), found):
        say(line)


class _Keeper:
    """Writes each first reading when it ends, and keeps all of them."""

    def __init__(self) -> None:
        self.done: dict[tuple[Path, int], Read] = {}
        self.suspicions: dict[Path, tuple[Suspicion, ...]] = {}

    def keep(self, job: "Job", read: "Read") -> None:
        from ludic_deepeval.lockfile import write_lockfile

        if not isinstance(read, ModelError) and job.repetition == 1:
            story = job.plan.story
            story.lockfile.parent.mkdir(parents=True, exist_ok=True)
            write_lockfile(read.lock, story.lockfile)
        self.done[job.plan.story.path, job.repetition] = read
        self.suspicions_in(job.plan.story)  # while others are being waited for

    def suspicions_in(self, story: "Story") -> "tuple[Suspicion, ...]":
        from ludic_deepeval.injection import suspicions

        if story.path not in self.suspicions:
            self.suspicions[story.path] = suspicions(story.prose)
        return self.suspicions[story.path]


def name_of(model: str | None, record: Path | None) -> "tuple[str, Model | None]":
    """The name of the model to ask, and the model where only it knows its name."""
    from ludic_deepeval.llm.names import choose_name

    chosen = choose_name(model)
    if chosen.provider in {"recorded", "deepeval"}:
        opened = open_asked(model, record)
        return opened.name, opened
    return str(chosen), None


def open_asked(model: str | None, record: Path | None) -> "Model":
    """Open the model that a command asks."""
    from ludic_deepeval.llm.names import open_model

    return open_model(model, record=record)


def _plans(
    paths: list[Path], model: str, settings: "Settings", *, changed: bool, force: bool
) -> "tuple[list[Plan], list[InputError]]":
    from ludic_deepeval.extracting import plan
    from ludic_deepeval.settings import StoryPolicies
    from ludic_deepeval.sources import find_stories, read_story

    plans, errors, policies = [], [], StoryPolicies()
    for path in find_stories(paths):
        try:
            story = read_story(path)
            plans.append(plan(story, model, settings, changed=changed, force=force, policies=policies))
            for _, message in story.remarks:
                note(f"{path}: {message}")
        except InputError as error:
            errors.append(error)
    return plans, errors


def _report(
    model: str,
    plans: "list[Plan]",
    jobs: "list[Job]",
    run: "Run | None",
    meter: "Meter",
    errors: tuple[InputError, ...],
    keeper: _Keeper,
    repeat: int,
) -> "Report":
    from ludic_deepeval.report.as_extract import Report, Told

    stories = []
    for one in plans:
        found = keeper.done.get((one.story.path, 1))
        wanted = any(job.plan is one and job.repetition == 1 for job in jobs)
        error = found if isinstance(found, ModelError) else None
        read = None if isinstance(found, ModelError) else found
        state = "failed" if error else "read" if read else "left" if wanted else "unchanged"
        stories.append(
            Told(
                one.story.path,
                one.story.lockfile,
                state,  # type: ignore[arg-type]  # mypy joins the words above to str
                read,
                error,
                keeper.suspicions_in(one.story),
                _stability(one, keeper, repeat) if repeat > 1 else None,
            )
        )
    stopped = "" if run is None or run.stopped is None else getattr(run.stopped, "found", "interrupted")
    return Report(model, tuple(stories), errors, stopped, meter.spent)


def _stability(one: "Plan", keeper: _Keeper, repeat: int) -> "Stability":
    from ludic_deepeval.check import Checker
    from ludic_deepeval.outcome import Outcome, Scored
    from ludic_deepeval.scoring import ScoreCard
    from ludic_deepeval.stability import stability

    checker = Checker()
    locks = [one.known] if one.action == "unchanged" and one.known else []
    for repetition in range(1, repeat + 1):
        read = keeper.done.get((one.story.path, repetition))
        if read is not None and not isinstance(read, ModelError):
            locks.append(read.lock)
    readings = []
    for lock in locks:
        card: Outcome[ScoreCard] = lock.too_little_grounded or Scored(checker.read(one.story, lock).card)
        readings.append((lock.ledger, card))
    return stability(readings, repeat)


def _tell(report: "Report", *, as_json: bool) -> None:
    from ludic_deepeval.report.as_extract import extract_json, extract_text

    if as_json:
        print_json(extract_json(report))
        return
    for line in extract_text(report):
        say(line)


def _code(run: "Run | None", report: "Report") -> int:
    if run is None:
        return 0
    if run.stopped == "interrupted":
        return INTERRUPTED
    failed = [one for one in run.results if isinstance(one, ModelError)]
    stop = [run.stopped] if isinstance(run.stopped, ModelError) else []
    if any(error.wrong_call for error in (*failed, *stop)):
        return 2
    unscored = any(one.extraction and one.extraction.lock.too_little_grounded for one in report.stories)
    left = any(one.state == "left" for one in report.stories)
    return 1 if failed or stop or unscored or left else 0


def _end(errors: "list[InputError]", code: int) -> None:
    told: list[LudicError] = list(errors)
    for error in told:
        complain(error)
    raise typer.Exit(2 if errors else code)
