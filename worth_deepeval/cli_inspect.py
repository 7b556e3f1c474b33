"""`worth import-log`: the replies of an Inspect AI log as lines for `worth report` and `worth code`."""

from pathlib import Path
from typing import Annotated

import typer

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.terminal import say


def import_log(
    log: Annotated[Path, typer.Argument(metavar="LOG.eval", help="A log of the Inspect AI task.")],
    out: Annotated[Path, typer.Option(metavar="RUNS.jsonl", help="Where the lines go; a new file.")],
) -> None:
    """Write the replies of an Inspect AI log as a file that worth report reads."""
    import json

    from ludic_deepeval.files import write_atomic

    if out.exists():
        raise InputError(out, "it is there already", allowed="a new file")
    try:
        from worth_deepeval.inspect_task import log_runs
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "inspect_ai":
            raise
        raise InputError(
            "worth import-log", "Inspect AI is not installed", hint="pip install 'ludic-worth[inspect]'"
        ) from None
    lines = list(log_runs(log))
    write_atomic(out, "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines))
    say(f"{len(lines)} runs: {clean(str(out), limit=400)}")
