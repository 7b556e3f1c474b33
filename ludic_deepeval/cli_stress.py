"""`ludic stress` and `ludic reuse-eval`: what a game master would have to invent, and how far those labels can be trusted."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludic_deepeval.errors import LudicError, ModelError, clean
from ludic_deepeval.terminal import complain, note, painter, print_json, say

if TYPE_CHECKING:
    from ludic_deepeval.llm.budget import Meter
    from ludic_deepeval.llm.client import Model
    from ludic_deepeval.stress import Settings
    from ludic_deepeval.stressing import Stories

Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Stories, or folders of stories.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Record = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Record the answers; what is recorded is not asked again."),
]
Calls = Annotated[
    int | None, typer.Option("--budget-calls", min=0, metavar="N", help="Send at most so many requests.")
]
Tokens = Annotated[
    int | None,
    typer.Option("--budget-tokens", min=0, metavar="N", help="Read and write at most so many tokens."),
]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command()(stress)
    app.command("reuse-eval")(reuse_eval)


def stress(  # noqa: PLR0913, PLR0917  # one argument an option of the command
    paths: Paths,
    tester: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Who plans the sessions; by default $LUDIC_MODEL.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Who labels them: another model than the tester.")
    ] = None,
    same_model: Annotated[
        bool, typer.Option("--same-model", help="Let one model label what it planned itself.")
    ] = False,
    repeat: Annotated[
        int, typer.Option(min=1, max=30, help="Test each story so many times, and say what moves.")
    ] = 1,
    record: Record = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Save each session as FOLDER/STORY/session.json."),
    ] = None,
    temperature: Annotated[
        float, typer.Option(min=0, max=2, help="How freely the models choose their words.")
    ] = 0.0,
    max_tokens: Annotated[
        int | None,
        typer.Option(min=100, help="The longest answer, thinking included; 6,000. Less for a small context."),
    ] = None,
    as_json: AsJson = False,
    budget_calls: Calls = None,
    budget_tokens: Tokens = None,
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="Stories at a time.")] = 4,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it would take; ask nobody.")
    ] = False,
) -> None:
    """Plan a first session from each story with a model, and have another say what in it had to be invented."""
    from ludic_deepeval.report.as_stress import stress_json, stress_text
    from ludic_deepeval.stress import ANSWER, Settings
    from ludic_deepeval.stressing import Stories, hold

    settings = Settings(temperature=temperature, max_tokens=max_tokens or ANSWER)
    found = Stories(paths, out, repeat)
    if dry_run:
        _say_cost(found, settings)
        raise typer.Exit(2 if found.errors else 0)
    meter = _meter(budget_calls, budget_tokens)
    ended: LudicError | None = None
    if found.ready:
        if repeat > 1 and temperature == 0:
            note("temperature 0: a model that keeps to it answers alike each time; try --temperature 0.7")
        planner, labeller = _models(tester, judge, record)
        with planner, labeller:
            ended = hold(
                found, planner, labeller, settings, meter, same_model=same_model, concurrency=concurrency
            )
    trials = found.trials
    # A spent budget is what the caller wanted; all else that ends a run is wrong.
    fatal = None if isinstance(ended, ModelError) and ended.kind == "budget" else ended
    if trials and (not fatal or any(trial.state == "measured" for trial in trials)):
        if as_json:
            print_json(stress_json(trials, meter.spent, found.errors))
        else:
            for line in stress_text(trials, meter.spent, paint=painter()):
                say(line)
        if found.interrupted:
            note("interrupted: what was measured is kept")
    for error in [*found.errors, *([fatal] if fatal else [])]:
        complain(error)
    short = any(trial.falls_short for trial in trials)
    raise typer.Exit(2 if found.errors or fatal else 130 if found.interrupted else 1 if short else 0)


def _models(tester: str | None, judge: str | None, record: Path | None) -> "tuple[Model, Model]":
    from ludic_deepeval.llm.names import choose_name, open_model

    command = "the same command with the models' own names and --record FOLDER"
    names = [choose_name(name) for name in (tester, judge)]
    replayed = [name.provider == "recorded" for name in names]
    planner, labeller = (
        # One that is replayed beside one that answers has nothing to record; two have been asked for nothing.
        open_model(name, record=None if replay and not all(replayed) else record, command=command)
        for name, replay in zip(names, replayed, strict=True)
    )
    return planner, labeller


def _meter(calls: int | None, tokens: int | None) -> "Meter":
    from ludic_deepeval.llm.budget import Budget, Meter

    budget: Budget = Budget(calls=calls, tokens=tokens)
    return Meter(budget)


def _say_cost(found: "Stories", settings: "Settings") -> None:
    """Say what a run would take at most, for each story and together."""
    from ludic_deepeval.llm.budget import Preview
    from ludic_deepeval.outcome import Scored
    from ludic_deepeval.stress import preview_of

    total = Preview(0, 0, 0)
    for story in found.read:
        if not isinstance(story.outcome, Scored):
            say(f"{clean(str(story.path), limit=400)}: nothing, it is not read yet")
            continue
        reading = story.outcome.value
        one = preview_of(story.story.prose, reading.ledger, settings, policy=reading.card.policy)
        cost = Preview(
            one.calls * found.repeat, one.prompt_tokens * found.repeat, one.completion_tokens * found.repeat
        )
        say(f"{clean(str(story.path), limit=400)}: {cost}")
        total = Preview(
            total.calls + cost.calls,
            total.prompt_tokens + cost.prompt_tokens,
            total.completion_tokens + cost.completion_tokens,
        )
    say(f"together: {total}; twice that if every answer had to be asked for again")
    for error in found.errors:
        complain(error)


def reuse_eval(
    pairs: Annotated[Path, typer.Argument(metavar="PAIRS", help="Hand-labelled pairs (YAML).")],
    stories: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where the lockfiles of their stories are."),
    ] = None,
    judge: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Also have this model label them.")
    ] = None,
    record: Record = None,
    as_json: AsJson = False,
    budget_calls: Calls = None,
    budget_tokens: Tokens = None,
) -> None:
    """Say how often the reuse labels are right on hand-labelled pairs: by words alone, and by a judge."""
    from ludic_deepeval.report.as_reuse import reuse_json, reuse_text
    from ludic_deepeval.reuse_pairs import evaluate, load_pairs

    loaded = load_pairs(pairs, stories or pairs.absolute().parent.parent / "backstories")
    results = {"words": evaluate(loaded)}
    unlabelled: list[str] = []
    if judge is not None:
        from ludic_deepeval.llm.names import choose_name, open_model
        from ludic_deepeval.reuse_pairs import judged

        with open_model(choose_name(judge), record=record) as model:
            results[model.name], unlabelled = judged(loaded, model, meter=_meter(budget_calls, budget_tokens))
    if as_json:
        print_json(reuse_json(results, unlabelled))
    else:
        for line in reuse_text(results, unlabelled):
            say(line)
    raise typer.Exit(1 if unlabelled else 0)
