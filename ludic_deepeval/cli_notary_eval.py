"""`ludic notary-eval`: how a model's readings, or ready ones, stand to those that people made."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludic_deepeval.cli_extract import (
    AsJson,
    Calls,
    Concurrency,
    DryRun,
    MaxTokens,
    ModelOption,
    Record,
    Stories,
    Tokens,
    name_of,
    open_asked,
    say_cost,
)
from ludic_deepeval.errors import InputError, ModelError
from ludic_deepeval.terminal import INTERRUPTED, complain, print_json, say

if TYPE_CHECKING:
    from ludic_deepeval.extracting import Job
    from ludic_deepeval.llm.budget import Meter
    from ludic_deepeval.llm.client import Model
    from ludic_deepeval.lockfile import Lockfile
    from ludic_deepeval.notary_eval import Pair
    from ludic_deepeval.sources import Story


def notary_eval(  # noqa: PLR0913, PLR0917  # one argument an option of the command
    paths: Stories,
    model: ModelOption = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Score the lockfiles in a folder instead of asking a model."),
    ] = None,
    concurrency: Concurrency = 4,
    budget_calls: Calls = None,
    budget_tokens: Tokens = None,
    record: Record = None,
    max_tokens: MaxTokens = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Score a model's readings against marks made by hand: item by item, and in the figures they lead to. Writes no lockfile."""
    from ludic_deepeval.llm.budget import Budget, Meter
    from ludic_deepeval.notary_eval import evaluate
    from ludic_deepeval.report.as_notary_eval import eval_json, eval_text

    if against is not None and (model is not None or record is not None):
        raise InputError("--against", "given with --model or --record", allowed="one of them")
    if against is not None and dry_run:
        raise InputError("--against", "given with --dry-run", hint="lockfiles cost nothing")
    gold, errors = _gold(paths)
    meter = None
    interrupted = False
    if against is not None:
        reader, (reads, missing) = str(against), _ready(gold, against)
    else:
        jobs = _jobs(gold, max_tokens)
        reader, opened = name_of(model, record)
        if dry_run:
            say_cost(reader, [job.plan for job in jobs], jobs, as_json=as_json)
            for error in errors:
                complain(error)
            raise typer.Exit(2 if errors else 0)
        meter = Meter(Budget(budget_calls, budget_tokens))
        reads, missing = {}, []
        if jobs:
            with opened or open_asked(model, record) as asked:
                reads, missing, interrupted = _asked(list(gold), jobs, asked, concurrency, meter)
    found = evaluate(_pairs(gold, reads), missing)
    spent = meter.spent if meter else None
    if as_json:
        print_json(eval_json(found, reader, spent))
    else:
        for line in eval_text(found, reader, spent):
            say(line)
    for error in errors:
        complain(error)
    raise typer.Exit(2 if errors else INTERRUPTED if interrupted else 1 if missing else 0)


Gold = dict[Path, "tuple[Story, Lockfile]"]
Readings = tuple[dict[Path, "Lockfile"], list[tuple[str, str]]]


def _gold(paths: list[Path]) -> tuple[Gold, list[InputError]]:
    """The stories that people have marked."""
    from ludic_deepeval.sources import find_stories, read_story

    found: Gold = {}
    errors = []
    for path in find_stories(paths):
        try:
            found[path] = _marked(read_story(path))
        except InputError as error:
            errors.append(error)
    return found, errors


def _marked(story: "Story") -> "tuple[Story, Lockfile]":
    from ludic_deepeval.lockfile import load_lockfile, verify

    if not story.lockfile.exists():
        raise InputError(story.path, "no marks made by hand", hint=f"ludic annotate {story.path}")
    lock = load_lockfile(story.lockfile)
    if lock.notary.kind != "hand":
        raise InputError(story.lockfile, "a model's reading", allowed="marks made by hand")
    verify(lock, story.prose, story.lockfile)
    return story, lock


def _ready(gold: Gold, folder: Path) -> Readings:
    from ludic_deepeval.lockfile import load_lockfile, verify
    from ludic_deepeval.lookup import find_lockfile

    if not folder.is_dir():
        raise InputError(folder, "no such folder", allowed="a folder of lockfiles")
    reads, missing = {}, []
    for path, (story, _) in gold.items():
        place = find_lockfile(story.prose, folder)
        if place is None:
            missing.append((str(path), f"no lockfile of this prose in {folder}"))
        else:
            reads[path] = load_lockfile(place)
            verify(reads[path], story.prose, place)
    return reads, missing


def _jobs(gold: Gold, max_tokens: int | None) -> "list[Job]":
    from ludic_deepeval.check import Checker
    from ludic_deepeval.extracting import Job, Plan
    from ludic_deepeval.notary import ANSWER, Settings

    checker = Checker()  # each story is asked what `ludic extract` would ask of it
    return [
        Job(Plan(story, "read", Settings(max_tokens=max_tokens or ANSWER, policy=checker.policy_for(story))))
        for story, _ in gold.values()
    ]


def _asked(
    paths: list[Path], jobs: "list[Job]", model: "Model", concurrency: int, meter: "Meter"
) -> "tuple[dict[Path, Lockfile], list[tuple[str, str]], bool]":
    """The readings, why others are missing, and whether Ctrl-C ended it."""
    from ludic_deepeval.extracting import read_all

    reads: dict[Path, Lockfile] = {}
    missing: list[tuple[str, str]] = []
    run = read_all(jobs, model, concurrency=concurrency, meter=meter, on_done=lambda _job, _read: None)
    if isinstance(run.stopped, ModelError) and run.stopped.kind != "budget" and not any(run.results):
        raise run.stopped
    for path, result in zip(paths, run.results, strict=True):
        if result is None:
            missing.append((str(path), str(getattr(run.stopped, "found", "interrupted"))))
        elif isinstance(result, ModelError):
            missing.append((str(path), str(result)))
        else:
            reads[path] = result.lock
    return reads, missing, run.stopped == "interrupted"


def _pairs(gold: Gold, reads: "dict[Path, Lockfile]") -> "list[Pair]":
    from ludic_deepeval.check import Checker
    from ludic_deepeval.notary_eval import Pair
    from ludic_deepeval.outcome import Outcome, Scored
    from ludic_deepeval.scoring import ScoreCard

    checker = Checker()
    pairs = []
    for path, read in reads.items():
        story, lock = gold[path]
        card: Outcome[ScoreCard] = read.too_little_grounded or Scored(checker.read(story, read).card)
        pairs.append(Pair(str(path), lock.ledger, read, checker.read(story, lock).card, card))
    return pairs
