"""The command `ludic crosscheck`: the arithmetic and a judge by rubrics, side by side."""

import os
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludic_deepeval.errors import InputError, ModelError, clean
from ludic_deepeval.terminal import INTERRUPTED, complain, note, print_json, require_profile, say

if TYPE_CHECKING:
    from ludic_deepeval.check import StoryResult
    from ludic_deepeval.crosscheck import CrossCheck
    from ludic_deepeval.judging import Reading
    from ludic_deepeval.llm.budget import Meter
    from ludic_deepeval.llm.client import ChatModel
    from ludic_deepeval.rubrics import RubricKind


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(crosscheck)


def crosscheck(  # noqa: PLR0913, PLR0917  # one argument an option of the command
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Stories with ledgers, or folders of such.")
    ],
    model: Annotated[str | None, typer.Option(metavar="MODEL", help="The judge, as provider:model.")] = None,
    rubrics: Annotated[
        str, typer.Option(help="equation: the measures' own definitions, or paper-4.2.")
    ] = "equation",
    borderline: Annotated[
        bool, typer.Option("--borderline", help="Only stories whose gate a small error could turn.")
    ] = False,
    lpi_margin: Annotated[float, typer.Option(min=0, max=1, help="How near LPI is to its threshold.")] = 0.05,
    pcv_margin: Annotated[float, typer.Option(min=0, help="How near PCV is to its threshold.")] = 15,
    no_pcv: Annotated[
        bool, typer.Option("--no-pcv", help="LPI alone: four questions a story, and none an event.")
    ] = False,
    profile: Annotated[
        str | None, typer.Option(help="campaign, one-shot or cosy; by default the story's own.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="How many questions at a time.")] = 4,
    record: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Record every answer.")] = None,
    budget_calls: Annotated[int | None, typer.Option(min=0, help="The most requests.")] = None,
    budget_tokens: Annotated[
        int | None, typer.Option(min=0, help="The most tokens, read and written.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would cost, and ask nobody.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Set what arithmetic says of stories beside what a judge says by rubrics; it validates and scores nothing."""
    os.environ.setdefault(
        "DEEPEVAL_TELEMETRY_OPT_OUT", "YES"
    )  # before DeepEval is imported: nothing is told to anybody
    from ludic_deepeval.check import Checker
    from ludic_deepeval.crosscheck import is_borderline
    from ludic_deepeval.outcome import Scored
    from ludic_deepeval.rubrics import rubric
    from ludic_deepeval.sources import find_stories

    require_profile(profile)
    kind: RubricKind = rubric("rtn", rubrics).kind  # type: ignore[arg-type,assignment]  # it refuses what is no kind
    checker = Checker(profile=profile)
    read: list[tuple[StoryResult, Reading]] = []
    unread: list[tuple[str, str]] = []
    failed = False
    for path in find_stories(paths):
        try:
            result = checker.check(path)
        except InputError as error:
            failed = True
            complain(error)
            continue
        if isinstance(result.outcome, Scored):
            read.append((result, result.outcome.value))
        else:
            unread.append((path.as_posix(), result.outcome.reason))
    near = [
        (result, reading)
        for result, reading in read
        if not borderline
        or is_borderline(reading.card, lpi_margin=_exact(lpi_margin), pcv_margin=_exact(pcv_margin))
    ]
    run = _Run(kind, dimensions=not no_pcv, skipped=len(read) - len(near), as_json=as_json)
    if dry_run:
        run.preview(near)
        code = 0
    else:
        code = run.ask(near, unread, model, (budget_calls, budget_tokens), concurrency, record)
    raise typer.Exit(2 if failed else code)


def _exact(value: float) -> Fraction:
    return Fraction(str(value))


class _Run:
    """One call of the command."""

    def __init__(self, kind: "RubricKind", *, dimensions: bool, skipped: int, as_json: bool) -> None:
        self.kind = kind
        self.dimensions = dimensions
        self.skipped = skipped
        self.as_json = as_json

    def preview(self, stories: "list[tuple[StoryResult, Reading]]") -> None:
        """Say what it would cost."""
        from ludic_deepeval.crosscheck import asks_for
        from ludic_deepeval.llm.budget import preview
        from ludic_deepeval.rubric_metrics import request_for

        requests = [
            request_for(ask.rubric, ask.text)
            for result, reading in stories
            for ask in asks_for(reading, self.kind, body=result.story.prose.body, dimensions=self.dimensions)
        ]
        cost = preview(requests)
        if self.as_json:
            print_json({"version": 1, "stories": len(stories), "cost": asdict(cost)})
        else:
            say(f"{len(stories)} of {len(stories) + self.skipped} stories: {cost}; nobody was asked")

    def ask(  # what the command was given
        self,
        stories: "list[tuple[StoryResult, Reading]]",
        unread: list[tuple[str, str]],
        model: str | None,
        budget: tuple[int | None, int | None],
        concurrency: int,
        record: Path | None,
    ) -> int:
        """Ask about every story, tell of each as it is done, and return the exit code."""
        from ludic_deepeval.llm.budget import Budget, Meter
        from ludic_deepeval.llm.names import open_model
        from ludic_deepeval.report.as_crosscheck import crosscheck_json, summary_text

        meter = Meter(Budget(*budget))
        done: list[CrossCheck] = []
        error: ModelError | KeyboardInterrupt | None = None
        if stories:
            with open_model(model, record=record) as judge:
                error = self._each(stories, judge, meter, concurrency, done)
                if isinstance(error, ModelError) and error.wrong_call and not done:
                    raise error  # one line: there is nothing to tell
                if judge.producer.kind != "model" and not self.as_json:
                    say(f"The judge's answers are {judge.producer.kind}: no model gave them.")
        if self.as_json:
            print_json(crosscheck_json(done, self.kind, unread))
        else:
            for path, reason in unread:
                say(clean(f"{path}: {reason}", limit=800))
            for line in summary_text(done, self.kind, self.skipped):
                say(line)
            say(str(meter.spent))
        if error is not None:
            if isinstance(error, ModelError):
                complain(error)
            else:
                note("interrupted")
            left = [clean(str(result.path), limit=200) for result, _ in stories[len(done) :]]
            note(f"left: {', '.join(left)}")
            if isinstance(error, ModelError):
                return 2 if error.wrong_call else 1
            return INTERRUPTED
        return 1 if unread or any(one.flagged or one.unmeasured for one in done) else 0

    def _each(
        self,
        stories: "list[tuple[StoryResult, Reading]]",
        model: "ChatModel",
        meter: "Meter",
        concurrency: int,
        done: "list[CrossCheck]",
    ) -> ModelError | KeyboardInterrupt | None:
        """Ask about the stories in turn; return what ended it before its end."""
        from ludic_deepeval.crosscheck import crosscheck as both_layers
        from ludic_deepeval.llm.loop import run
        from ludic_deepeval.report.as_crosscheck import crosscheck_text
        from ludic_deepeval.rubric_metrics import judge_with

        judge = judge_with(model, meter=meter, concurrency=concurrency)
        for result, reading in stories:
            try:
                found = run(
                    both_layers(
                        result.path,
                        result.id,
                        reading,
                        judge,
                        kind=self.kind,
                        body=result.story.prose.body,
                        dimensions=self.dimensions,
                    )
                )
            except (ModelError, KeyboardInterrupt) as ended:
                return ended
            done.append(found)
            if not self.as_json:
                for line in crosscheck_text(found):
                    say(line)
        return None
