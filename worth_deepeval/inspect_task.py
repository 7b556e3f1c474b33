"""WORTH as an Inspect AI task (extra `inspect`): the same prompt, the same reading of replies, the same points as `worth score`.

    inspect eval worth_deepeval/inspect_task.py --model openai/gpt-5 -T episode=$PWD/test_cases/episodes/WEN01

A task is of one episode under one condition; its one sample is the prompt, and epochs are the repetitions. Names of figures carry
the episode, since points of two episodes are on two scales (§4.10). A reply whose selections cannot be read or are not valid is unscored
in Inspect's own way (`Score.unscored`) and never 0. The key is in no sample, target or metadata that a model or solver may see.

The only module of this package that imports inspect_ai.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from inspect_ai import Epochs, Task, task  # noqa: TID251  # this module is the adapter
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: TID251
from inspect_ai.log import EvalLog, read_eval_log  # noqa: TID251
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer  # noqa: TID251
from inspect_ai.solver import Generate, Solver, TaskState, solver  # noqa: TID251

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.outcome import Unscored
from worth_deepeval.conditions import read_condition
from worth_deepeval.episode import Sheet, load_sheet
from worth_deepeval.runner import RUNS, Cell, prompt_of
from worth_deepeval.scoring import score_text

_TASK: Final = "worth"


@task  # type: ignore[untyped-decorator]  # its types are not read
def worth(episode: str, condition: str = "full-story", runs: int = RUNS) -> Task:
    """One episode under one condition.

    Args:
        episode: An episode's folder or its episode.yaml.
        condition: full-story or evidence-cueing, with +no-definition, +no-disclosure, +roster-N.
        runs: Repetitions; Inspect's `--epochs` goes first.

    Raises:
        InputError: The episode or the condition is not as it must be.
    """
    how = read_condition(condition)
    path = Path(episode).absolute()
    if not path.exists():
        raise InputError(
            path, "no such episode", hint="Inspect runs a task in its file's folder: give the whole path"
        )
    sheet = load_sheet(path)
    mark, prompt, text = prompt_of(Cell(path, how))
    metadata = {
        "episode": mark.id,
        "episode_version": mark.version,
        "episode_sha256": mark.sha256,
        "released": mark.released,
        "prompt_sha256": prompt.sha256,
        "prompt_version": prompt.version,
        "condition": how.name,
    }
    return Task(
        name=f"{_TASK}-{mark.id}-{how.name}",
        dataset=MemoryDataset([Sample(input=text, id=mark.id, metadata=metadata)], name=mark.id),
        solver=one_turn(),
        scorer=[worth_points(sheet, discovery=how.measures_discovery), worth_protocol(sheet)],
        epochs=Epochs(runs, "mean"),
        version=mark.version,
        metadata=metadata,
    )


@solver  # type: ignore[untyped-decorator]  # likewise
def one_turn() -> Solver:
    """Ask once: no system message, no tools, no second turn (§4.6)."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.tools = []
        return await generate(state, tool_calls="none")

    return solve


@scorer(metrics={"*": [mean()]})  # type: ignore[untyped-decorator]  # likewise
def worth_points(sheet: Sheet, discovery: bool = True) -> Scorer:
    """Points of a reply by §4.5: total, sentences and people, raw.

    Args:
        sheet: The episode and its key.
        discovery: Whether points for sentences are a result. Where the key was shown they are a check: they stand in the metadata alone.
    """
    name = sheet.episode.id

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001  # Inspect's signature
        text = state.output.completion
        response, outcome = score_text(text, sheet)
        metadata: dict[str, Any] = {
            "json": response.json,
            "selections": response.selections,
            "compliant": response.compliant,
            "violations": [{"code": one.code, "message": one.message} for one in response.violations],
        }
        if isinstance(outcome, Unscored):
            reason = "no_response" if not text.strip() else "invalid_response_format"
            return Score.unscored(
                reason=reason, answer=text, explanation=clean(outcome.reason, limit=400), metadata=metadata
            )
        found = outcome.value
        metadata |= {
            "clue_hits": list(found.hits),
            "correct": list(found.correct),
            "incorrect": list(found.incorrect),
            "clue": found.clue,
            "minimum": found.range.minimum,
            "maximum": found.range.maximum,
        }
        value: dict[str, float] = {f"participant [{name}]": found.participant}
        if discovery:
            value = {f"total [{name}]": found.total, f"clue [{name}]": found.clue} | value
        return Score(
            value=dict(value),
            answer=f"{', '.join(response.clue_ids) or 'no sentence'}; {', '.join(response.role_ids) or 'nobody'}",
            explanation=f"found {len(found.hits)} key sentences, {len(found.correct)} participants, {len(found.incorrect)} others",
            metadata=metadata,
        )

    return score


@scorer(metrics={"*": [mean()]})  # type: ignore[untyped-decorator]  # likewise
def worth_protocol(sheet: Sheet) -> Scorer:
    """How a reply could be read, as 0 or 1 each, over all replies: JSON alone, in text, none; scored; whole protocol (A.4)."""
    name = sheet.episode.id

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001  # Inspect's signature
        response, outcome = score_text(state.output.completion, sheet)
        found = {form: float(response.json == form) for form in ("direct", "embedded", "invalid")}
        found |= {"scored": float(not isinstance(outcome, Unscored)), "compliant": float(response.compliant)}
        return Score(value={f"{what} [{name}]": value for what, value in found.items()})

    return score


def log_runs(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a log's replies as the lines that `worth report` and `worth code` read.

    Raises:
        InputError: It is no log of this task.
    """
    try:
        log: EvalLog = read_eval_log(str(path))
    except Exception as error:  # noqa: BLE001  # whatever Inspect makes of a file that is no log of its own
        raise InputError(path, f"no log of Inspect AI ({type(error).__name__})") from None
    if not log.eval.task.rpartition("/")[2].startswith(_TASK):
        raise InputError(path, f"a log of {clean(log.eval.task)}", allowed=f"a log of the task {_TASK}")
    for sample in log.samples or []:
        metadata = sample.metadata
        yield {
            "model": log.eval.model,
            "repetition": sample.epoch,
            "condition": metadata["condition"],
            "episode": metadata["episode"],
            "episode_sha256": metadata["episode_sha256"],
            "text": None if sample.error else sample.output.completion,
        }
