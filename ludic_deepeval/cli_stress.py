"""`ludic stress` and `ludic reuse-eval`: what a game master would have to invent, and how far those labels can be trusted."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludic_deepeval.errors import InputError, LudicError, ModelError, clean
from ludic_deepeval.terminal import complain, note, painter, print_json, say

if TYPE_CHECKING:
    from ludic_deepeval.check import StoryResult
    from ludic_deepeval.llm.budget import Meter
    from ludic_deepeval.llm.client import Model
    from ludic_deepeval.report.as_stress import Trial
    from ludic_deepeval.session import Session

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
    record: Record = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Save each session as FOLDER/STORY/session.json."),
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

    found = _Stories(paths, out)
    if dry_run:
        _say_cost(found)
        raise typer.Exit(2 if found.errors else 0)
    meter = _meter(budget_calls, budget_tokens)
    ended: LudicError | None = None
    if found.ready:
        planner, labeller = _models(tester, judge, record)
        with planner, labeller:
            ended = _hold(found, planner, labeller, meter, same_model=same_model, concurrency=concurrency)
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


class _Stories:
    """The stories of a call, and what comes of each."""

    def __init__(self, paths: list[Path], out: Path | None) -> None:
        from ludic_deepeval.check import Checker
        from ludic_deepeval.sources import find_stories

        if out is not None and out.exists() and not out.is_dir():
            raise InputError(out, "this is no folder", where="--out", allowed="a folder, also a new one")
        self.out = out
        self.errors: list[LudicError] = []
        self.read: list[StoryResult] = []
        self.ended: dict[int, Trial] = {}
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
        from ludic_deepeval.outcome import Scored

        return [at for at, story in enumerate(self.read) if isinstance(story.outcome, Scored)]

    def folder(self, at: int) -> Path | None:
        """Where the session of a story is saved."""
        from ludic_deepeval.sources.naming import stem_of

        return self.out / stem_of(self.read[at].id) / "session.json" if self.out else None

    def _require_own_folders(self) -> None:
        taken: dict[Path, Path] = {}
        for at in self.ready:
            folder = self.folder(at)
            if folder is not None and folder in taken:
                raise InputError(
                    self.read[at].path,
                    f"would be saved where {taken[folder]} is",
                    where=f"id '{clean(self.read[at].id)}'",
                    allowed="stories with different ids, or one at a time",
                )
            if folder is not None:
                taken[folder] = self.read[at].path

    def keep(self, at: int, found: "Session | ModelError") -> None:
        """Take what came of a story, and save it."""
        from ludic_deepeval.outcome import Scored
        from ludic_deepeval.session import save_session

        if isinstance(found, ModelError):
            self.errors.append(found)
            self.ended[at] = self._trial(at, "left", reason=str(found))
            return
        path = self.folder(at)
        if path is not None:
            save_session(found, path)
        effort = found.effort()
        state = "measured" if isinstance(effort, Scored) else "unscored"
        reason = "" if isinstance(effort, Scored) else effort.reason
        self.ended[at] = self._trial(at, state, session=found, reason=reason, saved=path)

    @property
    def trials(self) -> "list[Trial]":
        """What came of each story, in order."""
        ready = set(self.ready)
        return [self.ended.get(at) or self._rest(at, at in ready) for at in range(len(self.read))]

    def _rest(self, at: int, is_ready: bool) -> "Trial":
        story = self.read[at]
        if is_ready:
            return self._trial(at, "left", reason=self.left)
        reason = story.unscored.reason if story.unscored else "it has no ledger"
        return self._trial(at, "unread" if story.state == "unread" else "unscored", reason=reason)

    def _trial(self, at: int, state: str, **more: object) -> "Trial":
        from ludic_deepeval.report.as_stress import Trial

        story = self.read[at]
        return Trial(story.path, story.id, story.title, state, **more)  # type: ignore[arg-type]  # a plain word


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


def _hold(
    found: _Stories,
    planner: "Model",
    labeller: "Model",
    meter: "Meter",
    *,
    same_model: bool,
    concurrency: int,
) -> LudicError | None:
    """Hold every trial; return what ended them before their end."""
    from ludic_deepeval.llm.loop import run
    from ludic_deepeval.outcome import Scored
    from ludic_deepeval.stress import require_two, stress_all
    from ludic_deepeval.stress import stress as hold

    require_two(planner, labeller, same_model=same_model)
    ready = found.ready

    def trial(at: int) -> "Callable[[], Awaitable[Session]]":
        story = found.read[at]
        assert isinstance(story.outcome, Scored)  # noqa: S101  # that is what makes it ready
        ledger = story.outcome.value.ledger
        return lambda: hold(
            story.id, story.story.prose, ledger, planner, labeller, meter=meter, same_model=same_model
        )

    try:
        ended = run(
            stress_all(
                [trial(at) for at in ready],
                concurrency=concurrency,
                on_done=lambda number, session: found.keep(ready[number], session),
            )
        )
    except KeyboardInterrupt:
        found.interrupted, found.left = True, "interrupted"
        return None
    if ended is not None:
        found.left = f"left: {ended.found if isinstance(ended, ModelError) else ended}"
    return ended


def _say_cost(found: _Stories) -> None:
    """Say what a run would take at most, for each story and together."""
    from ludic_deepeval.llm.budget import Preview
    from ludic_deepeval.outcome import Scored
    from ludic_deepeval.stress import preview_of

    total = Preview(0, 0, 0)
    for story in found.read:
        if not isinstance(story.outcome, Scored):
            say(f"{clean(str(story.path), limit=400)}: nothing, it is not read yet")
            continue
        cost = preview_of(story.story.prose, story.outcome.value.ledger)
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
