"""`ludic extract --batch FILE`: handing in, waiting, and what of the batch a run can use."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ludic_deepeval.errors import InputError, ModelError, clean
from ludic_deepeval.terminal import INTERRUPTED, complain, note

if TYPE_CHECKING:
    from ludic_deepeval.extracting import Job
    from ludic_deepeval.llm.budget import Budget
    from ludic_deepeval.llm.client import Model


def from_batch(
    file: Path,
    model: "Model",
    jobs: "Sequence[Job]",
    budget: "Budget",
    record: Path | None,
) -> "tuple[Model, list[Job], str]":
    """Hand in what the jobs ask first, or go on with what was handed in, and wait for it.

    Returns:
        A model that gives the answers, the jobs that the batch holds, and why others are left.

    Raises:
        InputError: The file is of another model, or holds nothing of these stories.
        ModelError: The server does not take it, or has no such batch.
    """
    from ludic_deepeval.extracting import first_request
    from ludic_deepeval.llm.anthropic import AnthropicModel
    from ludic_deepeval.llm.batched import hand_in, load_handed, wait_for
    from ludic_deepeval.llm.recorded import RecordingModel, Recordings, request_key

    assert isinstance(model, AnthropicModel)  # noqa: S101  # its name begins with anthropic:
    asked = [(job, first_request(job)) for job in jobs]
    handed = load_handed(file, model.name)
    if handed is None:
        try:
            handed = hand_in(model, [request for _, request in asked], file, budget)
        except ModelError as error:
            if error.kind != "budget":
                raise
            complain(error)
            note("nothing was handed in: a batch cannot be stopped half way")
            raise typer.Exit(1) from None
    held = frozenset(handed.requests)
    ready = [(job, request) for job, request in asked if request_key(model.name, request) in held]
    if not ready:
        raise InputError(
            file,
            f"the batch {clean(handed.batch)} holds nothing of these stories as they are",
            allowed="the stories and options with which it was handed in, or a new file",
        )
    batched = wait_for(model, handed, [request for _, request in ready], note)
    if batched is None:
        note(f"no longer waiting; the batch goes on at the server, and the same command goes on with {file}")
        raise typer.Exit(INTERRUPTED)
    left = "" if len(ready) == len(asked) else f"not in the batch of {file}, new or changed since"
    answering: Model = RecordingModel(batched, Recordings(record)) if record else batched
    return answering, [job for job, _ in ready], left
