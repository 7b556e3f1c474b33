"""`worth run`, `worth import-run` and `worth compare`: making runs, taking in those of chat windows, and setting two side by side."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import print_json, say, say_now

if TYPE_CHECKING:
    from worth_deepeval.conditions import Condition
    from worth_deepeval.records import EpisodeMark, PromptMark, RunRecord
    from worth_deepeval.runner import Cell, Job, Outcome, Sampling

OUT: Final = Path("worth-runs")
_CONDITION: Final = "full-story or evidence-cueing, with +no-definition, +no-disclosure, +roster-N."
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Out = Annotated[Path, typer.Option(help="The folder of the records; they are added to runs.jsonl in it.")]


def run(  # noqa: PLR0913, PLR0917  # one argument an option of the command
    episodes: Annotated[list[Path] | None, typer.Argument(metavar="[EPISODE]...")] = None,
    model: Annotated[list[str] | None, typer.Option(help="provider:model; may be given again.")] = None,
    runs: Annotated[int | None, typer.Option(help="Repetitions of each; 5 when left out.")] = None,
    condition: Annotated[
        list[str] | None, typer.Option(help=f"{_CONDITION} May be given again; full-story when left out.")
    ] = None,
    matrix: Annotated[
        Path | None,
        typer.Option(metavar="FILE.yaml", help="A whole design in place of episodes and conditions."),
    ] = None,
    out: Out = OUT,
    record: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also record the answers, to be replayed.")
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="The server of ollama, anthropic or openai.")] = None,
    temperature: Annotated[float | None, typer.Option(help="The server's own when left out.")] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of the first repetition; each further one adds 1.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="The longest reply, thinking included; 16384 when left out.")
    ] = None,
    tier: Annotated[str | None, typer.Option(help="The configured tier, for the record.")] = None,
    timeout: Annotated[float, typer.Option(help="Seconds for one reply.")] = 600.0,
    concurrency: Annotated[int, typer.Option(help="How many runs may be under way.")] = 4,
    budget_calls: Annotated[int | None, typer.Option(help="The most requests.")] = None,
    budget_tokens: Annotated[int | None, typer.Option(help="The most tokens, read and written.")] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask again where the model gave no reply.")
    ] = False,
    exploratory: Annotated[
        bool, typer.Option("--exploratory", help="Record runs that are not to count.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked, and ask nobody.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Give episodes to models: one turn, a fresh conversation, no tools. The same command takes up where it was stopped."""
    from ludic_deepeval.llm.budget import Budget
    from worth_deepeval.runner import MAX_TOKENS, Sampling, preview_of
    from worth_deepeval.runner import run as make_runs

    for option, value, most in (("--timeout", timeout, 86_400), ("--concurrency", concurrency, 64)):
        if not 1 <= value <= most:
            raise InputError(option, f"found {value:g}", allowed=f"1 to {most:,}")
    cells, models, count = _design(
        episodes or [], model or [], condition or [], matrix, runs, as_json=as_json
    )
    how = Sampling(temperature, seed, MAX_TOKENS if max_tokens is None else max_tokens, tier)
    budget = Budget(budget_calls, budget_tokens)
    opened = [_opened(name, base_url, timeout, record, dry=dry_run) for name in models]
    jobs = [(one, _jobs(cells, name, count, how)) for one, name in opened]
    everything = [job for _, mine in jobs for job in mine]
    if len({job.key for job in everything}) < len(everything):
        raise InputError("--model", "one model is named twice", allowed="each model once")
    before = _recorded(out)
    ahead = preview_of(everything, before, retry=retry_failed)
    resume = shlex.join(["worth", *(word for word in sys.argv[1:] if word != "--dry-run")])
    done = len(everything) - ahead.calls
    tell = (lambda line: print(line, file=sys.stderr, flush=True)) if as_json else say_now  # noqa: T201
    tell(
        f"{len(everything):,} {_word(len(everything), 'run')}: {len(cells)} {_word(len(cells), 'prompt')},"
        f" {len(models)} {_word(len(models), 'model')}, {count} {_word(count, 'repetition')}; {done:,} recorded already"
    )
    tell(f"to ask: {ahead}")
    tell(
        f"records: {clean(str(out), limit=400)}; should it be stopped, go on with:\n  {clean(resume, limit=2000)}"
    )
    if dry_run:
        if as_json:
            print_json({**_summary(None, out, resume), "planned": len(everything), "left": ahead.calls,
                        "preview": {"calls": ahead.calls, "read": ahead.prompt_tokens, "written": ahead.completion_tokens}})  # fmt: skip
        return
    outcome = make_runs(
        [(one, mine) for one, mine in jobs if one is not None],
        out,
        formal=not exploratory,
        retry=retry_failed,
        concurrency=concurrency,
        budget=budget,
        told=lambda one: tell(f"  {_told(one)}"),
    )
    if as_json:
        print_json(_summary(outcome, out, resume))
    else:
        _say_outcome(outcome, resume)
    raise typer.Exit(0 if outcome.replied == outcome.planned else 1)


def _design(
    episodes: list[Path],
    models: list[str],
    conditions: list[str],
    matrix: Path | None,
    runs: int | None,
    *,
    as_json: bool,
) -> "tuple[list[Cell], list[str], int]":
    """What is to be run: cells, models, repetitions."""
    from ludic_deepeval.llm.names import choose_name
    from worth_deepeval.conditions import read_condition
    from worth_deepeval.runner import RUNS, Cell

    if matrix is not None:
        from worth_deepeval.matrix import load_matrix

        if episodes or conditions:
            raise InputError("--matrix", "beside episodes or conditions", allowed="one or the other")
        design = load_matrix(matrix)
        cells, models = list(design.cells), models or list(design.models)
        runs = design.runs if runs is None else runs
        for modification, rewrite in design.missing:
            if not as_json:
                say(f"no story with modification '{clean(modification)}' and rewrite '{clean(rewrite)}'")
    else:
        if not episodes:
            raise InputError("worth run", "no episode", allowed="EPISODE… or --matrix FILE.yaml")
        cells = [
            Cell(path, read_condition(name)) for path in episodes for name in (conditions or ["full-story"])
        ]
    return cells, models or [str(choose_name())], RUNS if runs is None else runs


def _opened(
    name: str, base_url: str | None, timeout: float, record: Path | None, *, dry: bool
) -> tuple[Any, str]:
    """A model and the name that its records bear; a dry run opens none but a recording, which costs nothing."""
    from ludic_deepeval.llm.names import open_model, parse_name

    parsed = parse_name(name)
    if dry and parsed.provider != "recorded":
        return None, str(parsed)
    model = open_model(parsed, base_url=base_url, timeout=timeout, record=record)
    return model, model.name


def _jobs(cells: "list[Cell]", model: str, runs: int, how: "Sampling") -> "list[Job]":
    from worth_deepeval.runner import plan

    return plan(cells, model, runs=runs, sampling=how)


def _recorded(out: Path) -> "Sequence[RunRecord]":
    from worth_deepeval.records import read_records, records_file

    return read_records(out) if records_file(out).is_file() and out.is_dir() else ()


def _word(count: int, one: str, several: str = "") -> str:
    return one if count == 1 else several or f"{one}s"


def _told(one: "RunRecord") -> str:
    """A line about one run that has ended."""
    head = f"{clean(one.episode.id)}, {clean(one.name, limit=200)}"
    if one.failure is not None:
        return f"{head}: no reply: {clean(one.failure.message, limit=300)}"
    written = "" if one.usage.written is None else f", {one.usage.written:,} tokens"
    took = "" if one.seconds is None else f", {one.seconds:.0f} s"
    cut = {"length": ", cut off", "context": ", cut off", "refusal": ", a refusal"}.get(one.stop or "", "")
    return f"{head}: {len(one.text or ''):,} characters{written}{took}{cut}{', replayed' if one.replayed else ''}"


def _say_outcome(outcome: "Outcome", resume: str) -> None:
    parts = [f"{outcome.replied:,} of {outcome.planned:,} runs have a reply"]
    parts += [f"{outcome.failed:,} failed"] if outcome.failed else []
    parts += [f"{outcome.left:,} left to ask"] if outcome.left else []
    say(f"{', '.join(parts)}; {outcome.spent}")
    if outcome.stopped:
        say(f"stopped: {clean(outcome.stopped, limit=800)}")
    if outcome.left:
        say(f"go on: {clean(resume, limit=2000)}")
    elif outcome.failed:
        say(f"ask those again: {clean(resume, limit=2000)} --retry-failed")


def _summary(outcome: "Outcome | None", out: Path, resume: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "version": 1,
        "out": out.as_posix(),
        "resume": resume,
        "dry_run": outcome is None,
    }
    if outcome is not None:
        found |= {
            "planned": outcome.planned,
            "replied": outcome.replied,
            "failed": outcome.failed,
            "left": outcome.left,
            "stopped": outcome.stopped,
            "spent": {
                "calls": outcome.spent.calls,
                "read": outcome.spent.prompt_tokens,
                "written": outcome.spent.completion_tokens,
            },
        }
    return found


def _sent(path: Path, how: "Condition", prompt: Path | None) -> "tuple[EpisodeMark, PromptMark]":
    """The marks of what was sent, which somebody may have kept; where a story is not public nobody can make it again."""
    from hashlib import sha256

    from worth_deepeval.cli import read_reply
    from worth_deepeval.episode import load_question
    from worth_deepeval.records import PromptMark
    from worth_deepeval.runner import Cell, mark, prompt_of

    sent = None if prompt is None else sha256(read_reply(prompt).encode("utf-8")).hexdigest()
    episode = load_question(path).episode
    if sent is not None and episode.withheld:
        return mark(episode), PromptMark(sha256=sent, condition=how.name)
    episode_mark, place, _ = prompt_of(Cell(path, how))
    if sent not in {None, place.sha256}:
        place = place.model_copy(update={"sha256": sent, "version": None})
    return episode_mark, place


def import_run(  # noqa: PLR0913, PLR0917  # likewise
    episode: Annotated[Path, typer.Argument(metavar="EPISODE")],
    replies: Annotated[list[Path], typer.Argument(metavar="REPLY...", help="Raw replies, a file each.")],
    model: Annotated[str, typer.Option(help="The model, as the product names it.")],
    interface: Annotated[str, typer.Option(help="Where it was asked: 'ChatGPT web'.")],
    tested: Annotated[
        str, typer.Option(metavar="DAY[/DAY]", help="When: 2026-08-30 or 2026-08-30/2026-08-31.")
    ],
    tier: Annotated[
        str | None, typer.Option(help="The tier or mode that ran, as the product labels it.")
    ] = None,
    tier_configured: Annotated[
        str | None, typer.Option(help="The tier that was set, where that is another.")
    ] = None,
    condition: Annotated[str, typer.Option(help=_CONDITION)] = "full-story",
    prompt: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What was sent, where it is not what `worth prompt` prints."),
    ] = None,
    repetition: Annotated[
        int | None,
        typer.Option(min=1, help="The number of the first reply; the next free one when left out."),
    ] = None,
    fresh: Annotated[
        bool | None, typer.Option("--fresh/--continued", help="Whether each had a conversation of its own.")
    ] = None,
    extras: Annotated[
        list[str] | None,
        typer.Option(
            "--setting", help="memory, personalization, search or tools, =off or =on; may be given again."
        ),
    ] = None,
    exploratory: Annotated[
        bool, typer.Option("--exploratory", help="Record runs that are not to count.")
    ] = False,
    hand_written: Annotated[
        bool, typer.Option("--hand-written", help="No model's: a person wrote them. They never count.")
    ] = False,
    note: Annotated[str | None, typer.Option(help="Whatever else there is to say.")] = None,
    out: Out = OUT,
    as_json: AsJson = False,
) -> None:
    """Take in replies that were pasted from a chat window, with how they were had."""
    from worth_deepeval.cli import read_reply
    from worth_deepeval.conditions import read_condition
    from worth_deepeval.imported import Chat, import_replies
    from worth_deepeval.records import Access, read_window

    for name, value in (("--model", model), ("--interface", interface)):
        if not value.strip():
            raise InputError(name, "it is empty", allowed="what the product calls it")
    episode_mark, place = _sent(episode, read_condition(condition), prompt)
    chat = Chat(
        access=Access(
            model=model,
            interface=interface,
            tier_configured=tier_configured or tier,
            tier_executed=tier,
        ),
        settings=_settings(extras or [], fresh=fresh),
        tested=read_window(tested),
        formal=not exploratory and not hand_written,
        by="hand-written" if hand_written else "model",
        note=note,
    )
    texts = [(path.as_posix(), read_reply(path)) for path in replies]
    added = import_replies(texts, out, episode=episode_mark, prompt=place, chat=chat, first=repetition)
    if as_json:
        print_json(
            {
                "version": 1,
                "out": out.as_posix(),
                "added": [{"key": one.key, "repetition": one.repetition} for one in added],
            }
        )
        return
    for one in added:
        say(f"{clean(one.episode.id)}, {clean(one.name, limit=200)}: {len(one.text or ''):,} characters")
    there = len(texts) - len(added)
    say(
        f"{len(added)} {_word(len(added), 'run')} added to {clean(str(out), limit=400)}"
        + (f"; {there} {_word(there, 'was', 'were')} there already" if there else "")
    )


def _settings(extras: list[str], *, fresh: bool | None) -> Any:
    """The switches that were noted; the rest are unknown."""
    from worth_deepeval.records import Settings

    noted: dict[str, str] = {}
    for one in extras:
        name, _, value = one.partition("=")
        if name not in {"memory", "personalization", "search", "tools"} or value not in {"off", "on"}:
            raise InputError(
                "--setting",
                f"found '{clean(one)}'",
                allowed="memory, personalization, search or tools, =off or =on",
            )
        noted[name] = value
    if fresh is not None:
        noted["conversation"] = "fresh" if fresh else "continued"
    return Settings.model_validate(noted)


def _as_recorded(name: str) -> str:
    """A condition by the name that records bear, in whatever order its variants were given; anything else as it is."""
    from worth_deepeval.conditions import read_condition

    try:
        return read_condition(name).name
    except InputError:
        return name


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A model, or a condition.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    episode: Annotated[Path, typer.Option(help="The one episode that is compared on.")],
    runs: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Records: a folder or a file; may be given again."),
    ] = None,
    condition: Annotated[
        str | None, typer.Option(help="Of two models: under which condition; full-story when left out.")
    ] = None,
    exploratory: Annotated[
        bool, typer.Option("--exploratory", help="Take runs that are not to count, too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare two models, or two conditions, on one episode: paired by repetition, exact."""
    from worth_deepeval.compare import compare as set_beside
    from worth_deepeval.conditions import read_condition
    from worth_deepeval.episode import load_sheet
    from worth_deepeval.records import read_records
    from worth_deepeval.report import draft_note
    from worth_deepeval.report_compare import comparison_json, comparison_text

    if condition is not None:
        condition = read_condition(condition).name
    records = [one for path in runs or [OUT] for one in read_records(path)]
    sheet = load_sheet(episode)
    models = {one.access.model for one in records}
    first, second = (one if one in models else _as_recorded(one) for one in (a, b))
    found = set_beside(sheet, records, first, second, condition=condition, exploratory=exploratory)
    if as_json:
        print_json(comparison_json(found) | {"status": sheet.key.status})
    else:
        for line in [*comparison_text(found), *draft_note(sheet)]:
            say(line)
    raise typer.Exit(0 if found.pairs else 1)
