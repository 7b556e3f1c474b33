"""The command `ludic generate`: backstories written by a model, read by the Notary, gated, and written anew."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludic_deepeval.errors import InputError, ModelError, clean
from ludic_deepeval.terminal import INTERRUPTED, complain, note, print_json, require_profile, say

if TYPE_CHECKING:
    from ludic_deepeval.bible import Bible
    from ludic_deepeval.contrast import Cell
    from ludic_deepeval.llm.budget import Meter
    from ludic_deepeval.llm.client import ChatModel
    from ludic_deepeval.trial import Arm, Plan
    from ludic_deepeval.trial_plan import Setting

_MOST = 100


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(generate)


@dataclass(frozen=True)
class _Job:
    """Everything that a run of the command needs: where, by whom, and for how much."""

    setting: "Setting"
    architect: "ChatModel"
    notary: "ChatModel"
    meter: "Meter"
    bible_for: str


def generate(  # noqa: PLR0913, PLR0917  # one argument an option of the command
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where everything is kept; a run in it is gone on with.")
    ],
    bible: Annotated[
        str, typer.Option(metavar="NAME", help="The Story Bible: a name such as faerun, or its folder.")
    ],
    model: Annotated[str | None, typer.Option(metavar="MODEL", help="Who writes, as provider:model.")] = None,
    notary: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Who reads; by default the same.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Draws faction and place, and is the model's seed.")] = 1,
    ungated: Annotated[bool, typer.Option("--ungated", help="Write one draft, and rewrite nothing.")] = False,
    control: Annotated[
        bool, typer.Option("--control", help="Write to the plain control prompt instead.")
    ] = False,
    max_iter: Annotated[int, typer.Option(min=0, max=20, help="The most rewrites.")] = 3,
    contrast: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=_MOST,
            metavar="N",
            help="N drafts to the control prompt beside N to the Architect's, from --seed on; not gated.",
        ),
    ] = None,
    request: Annotated[str, typer.Option(help="What to ask for beside, such as a class or a trade.")] = "",
    temperature: Annotated[float, typer.Option(min=0, max=2, help="How freely it writes.")] = 0.8,
    profile: Annotated[str | None, typer.Option(help="campaign, one-shot or cosy.")] = None,
    record: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Record every answer.")] = None,
    budget_calls: Annotated[int | None, typer.Option(min=0, help="The most requests.")] = None,
    budget_tokens: Annotated[
        int | None, typer.Option(min=0, help="The most tokens, read and written.")
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            min=200, help="The longest draft (4,096) and reading (12,000). Less for a small context."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would cost; ask nobody, write nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Have a backstory written, read and judged; below the gate, have it written anew."""
    from ludic_deepeval.llm.budget import Budget, Meter
    from ludic_deepeval.llm.names import choose_name, open_model
    from ludic_deepeval.notary import ANSWER, Settings
    from ludic_deepeval.settings import find_policy
    from ludic_deepeval.trial_plan import MAX_TOKENS, Setting, make_plan

    require_profile(profile)
    if contrast is not None and (ungated or control):
        raise InputError(
            "--contrast", "given with --ungated or --control", hint="it has both prompts and no gate"
        )
    names = [choose_name(one) for one in (model, notary or model)]
    world, bible_for = _bible(bible, out)
    setting = Setting(
        world,
        find_policy(Path.cwd())[0].with_profile(profile),
        Settings(max_tokens=max_tokens or ANSWER),
        temperature,
        max_tokens or MAX_TOKENS,
    )

    def plan(arm: "Arm", number: int, *, gated: bool) -> "Plan":
        return make_plan(
            setting,
            seed=number,
            architect=names[0].recorded_model or str(names[0]),
            notary=names[1].recorded_model or str(names[1]),
            arm=arm,
            gated=gated,
            max_iter=max_iter,
            request=request,
        )

    if contrast is None:
        plans = [(out, plan("control" if control else "architect", seed, gated=not ungated))]
    else:
        arms: tuple[Arm, ...] = ("control", "architect")
        plans = [
            (out / f"{arm}-{number}", plan(arm, number, gated=False))
            for number in range(seed, seed + contrast)
            for arm in arms
        ]
    if dry_run:
        _preview([one for _, one in plans], setting, as_json=as_json)
        return
    with ExitStack() as stack:
        opened: list[ChatModel] = [stack.enter_context(open_model(name, record=record)) for name in names]
        job = _Job(setting, opened[0], opened[1], Meter(Budget(budget_calls, budget_tokens)), bible_for)
        if contrast is None:
            code = _one(*plans[0], job, as_json=as_json)
        else:
            code = _both(plans, job, as_json=as_json)
    raise typer.Exit(code)


def _bible(given: str, out: Path) -> "tuple[Bible, str]":
    """The bible, and how the drafts in `out` can name it; empty when they could not find it from there."""
    from ludic_deepeval.bible import is_bible, load_bible, resolve_bible

    folder = Path(given)
    if not is_bible(folder):
        folder = resolve_bible(given, Path.cwd(), "--bible")
    world = load_bible(folder)
    reference = f"{world.id}@{world.version}"
    try:
        found = load_bible(resolve_bible(reference, out.absolute(), out))
    except InputError:
        return world, ""
    return world, reference if found == world else ""


def _names(plan: "Plan", setting: "Setting") -> tuple[str, str]:
    from ludic_deepeval.trial_plan import node_of

    return node_of(setting.bible, plan.faction).name, node_of(setting.bible, plan.location).name


def _preview(plans: "list[Plan]", setting: "Setting", *, as_json: bool) -> None:
    from ludic_deepeval.llm.budget import Preview
    from ludic_deepeval.report.as_trial import plan_text
    from ludic_deepeval.trial_plan import cost_of

    costs = [cost_of(plan, setting) for plan in plans]

    def total(at: int) -> Preview:
        found = [cost[at] for cost in costs]
        return Preview(
            sum(one.calls for one in found),
            sum(one.prompt_tokens for one in found),
            sum(one.completion_tokens for one in found),
        )

    least, most = total(0), total(1)
    if as_json:
        from dataclasses import asdict

        print_json(
            {
                "version": 1,
                "plans": [one.model_dump(mode="json") for one in plans],
                "least": asdict(least),
                "most": asdict(most),
            }
        )
        return
    for plan in plans:
        say(plan_text(plan, *_names(plan, setting)))
    say(f"without a rewrite {least}" if most.calls != least.calls else str(least))
    if most.calls != least.calls:
        say(f"with every rewrite {most}")
    say("and one call more for each draft with a quote that is not in it; nothing was asked or written")


def _one(folder: Path, plan: "Plan", job: _Job, *, as_json: bool) -> int:
    """Run one trial and tell of it as it goes."""
    from ludic_deepeval.architect import Draft, run_trial
    from ludic_deepeval.llm.loop import run
    from ludic_deepeval.report.as_trial import draft_text, end_text, plan_text, trial_json
    from ludic_deepeval.trial import TrialFolder

    faction, location = _names(plan, job.setting)
    done: list[Draft] = []

    def tell(draft: Draft) -> None:
        done.append(draft)
        if not as_json:
            for line in draft_text(draft, faction, location):
                say(line)

    if not as_json:
        say(plan_text(plan, faction, location))
    try:
        trial = run(
            run_trial(
                plan,
                job.setting,
                TrialFolder(folder, bible=job.bible_for),
                architect=job.architect,
                notary=job.notary,
                meter=job.meter,
                on_draft=tell,
            )
        )
    except (ModelError, KeyboardInterrupt) as ended:
        if as_json and done:
            print_json(trial_json(plan, done, None, folder, stopped=ended))
        return _stopped(ended, folder, job)
    if as_json:
        print_json(trial_json(plan, trial.drafts, trial.result, folder))
    else:
        for line in end_text(trial):
            say(line)
        say(clean(f"{_spent(job)}; all of it is in {folder}", limit=400))
    if trial.result.ended == "not-gated":
        return 0
    return 0 if trial.result.passed else 1


def _spent(job: _Job) -> str:
    return (
        str(job.meter.spent) if job.meter.spent.calls else "nobody was asked: every answer was there already"
    )


def _stopped(ended: ModelError | KeyboardInterrupt, folder: Path, job: _Job) -> int:
    """Say what was done when asking ended before the trial did: by an error, a spent budget or Ctrl-C."""
    if isinstance(ended, ModelError):
        complain(ended)
    else:
        note("interrupted")
    if (folder / "run.json").exists():
        note(f"{job.meter.spent}; what was done is in {folder}, and the same command goes on from there")
    if isinstance(ended, ModelError):
        return 2 if ended.wrong_call else 1
    return INTERRUPTED


def _both(plans: "list[tuple[Path, Plan]]", job: _Job, *, as_json: bool) -> int:
    """Run both arms and set them side by side."""
    from ludic_deepeval.contrast import contrast as side_by_side
    from ludic_deepeval.report.as_trial import contrast_json, contrast_text

    cells: list[Cell] = []
    for cell in _cells(plans, job):
        if isinstance(cell, ModelError | KeyboardInterrupt):
            return _stopped(cell, plans[len(cells)][0], job)
        cells.append(cell)
    found = side_by_side(cells)
    if as_json:
        print_json(contrast_json(found))
    else:
        for line in contrast_text(found):
            say(line)
        kinds = {one.producer.kind for one in (job.architect, job.notary)} - {"model"}
        if kinds:
            say(f"These answers are {' and '.join(sorted(kinds))}: no model gave them.")
        say(_spent(job))
    return 0 if all(cell.card for cell in cells) else 1


def _cells(plans: "list[tuple[Path, Plan]]", job: _Job) -> "Iterator[Cell | ModelError | KeyboardInterrupt]":
    """Run each trial; what ends all of them ends here, what ends one is its cell."""
    from ludic_deepeval.architect import run_trial
    from ludic_deepeval.contrast import Cell
    from ludic_deepeval.llm.loop import run
    from ludic_deepeval.trial import TrialFolder

    for folder, plan in plans:
        faction, location = _names(plan, job.setting)
        try:
            trial = run(
                run_trial(
                    plan,
                    job.setting,
                    TrialFolder(folder, bible=job.bible_for),
                    architect=job.architect,
                    notary=job.notary,
                    meter=job.meter,
                )
            )
        except ModelError as error:
            if error.kind in {"budget", "unrecorded"} or error.for_all:
                yield error
                return
            yield Cell(plan.arm, plan.seed, faction, location, why=str(error))
            continue
        except KeyboardInterrupt as pressed:
            yield pressed
            return
        (draft,) = trial.drafts
        why = f"{draft.unscored.cause}: {draft.unscored.reason}" if draft.unscored else ""
        yield Cell(plan.arm, plan.seed, faction, location, None if why else draft.card, why)
