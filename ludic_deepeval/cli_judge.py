"""`ludic judge`: submissions on standard input, answers on standard output, for a platform's service."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Final, TextIO

import typer

from ludic_deepeval.errors import InputError, LudicError
from ludic_deepeval.terminal import complain, require_profile

if TYPE_CHECKING:
    from ludic_deepeval.policy import Policy
    from ludic_deepeval.submission import Reader

_CHUNK: Final = 64 * 1024


def judge(
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Read one request from standard input, write one answer.")
    ] = False,
    lines: Annotated[
        bool,
        typer.Option("--lines", help="Read a request from each line, write an answer a line, until the end."),
    ] = False,
    profile: Annotated[
        str,
        typer.Option(help="The profile of requests that name none: submission, one-shot, campaign or cosy."),
    ] = "submission",
    model: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER:MODEL",
            help="Who reads texts that come without ledger and marks; without it they stay unread.",
        ),
    ] = None,
) -> None:
    """Judge what players send in: a JSON request in, a JSON answer out, with a reply that a moderator can paste."""
    from ludic_deepeval.settings import find_policy  # other commands need none of this

    if stdin == lines:
        raise InputError("judge", "nothing says how requests come", allowed="either --stdin or --lines")
    require_profile(profile)
    policy = find_policy(Path.cwd())[0].with_profile(profile)
    serve = serve_lines if lines else serve_one
    if model is None:
        raise typer.Exit(serve(sys.stdin.buffer, sys.stdout, policy))
    from ludic_deepeval.llm.names import open_model  # as above
    from ludic_deepeval.reader import reader_of  # as above

    with open_model(model) as asked:
        raise typer.Exit(serve(sys.stdin.buffer, sys.stdout, policy, reader_of(asked)))


def serve_one(stream: BinaryIO, out: TextIO, policy: "Policy", reader: "Reader | None" = None) -> int:
    """Answer the one request that a stream holds.

    Returns:
        0 when it is accepted, 1 when it is not, 2 when it cannot be used; the reason is then on standard error, too.
    """
    from ludic_deepeval.submission import MAX_REQUEST_BYTES  # see `judge`

    answer, code = _answer(stream.read(MAX_REQUEST_BYTES + 1), policy, reader, complain)
    _write(out, answer, indent=1)
    return code


def serve_lines(stream: BinaryIO, out: TextIO, policy: "Policy", reader: "Reader | None" = None) -> int:
    """Answer each line in turn, flushed, until the stream ends; a line that cannot be used is answered with an error.

    Returns:
        2 when a line could not be used, 1 when one was not accepted, else 0.
    """
    from ludic_deepeval.submission import MAX_REQUEST_BYTES  # see `judge`

    worst = 0
    for line in _bounded_lines(stream, MAX_REQUEST_BYTES):
        answer, code = _answer(line, policy, reader, lambda _: None)
        _write(out, answer)
        worst = max(worst, code)
    return worst


def _answer(
    data: bytes, policy: "Policy", reader: "Reader | None", tell: Callable[[LudicError], None]
) -> tuple[dict[str, Any], int]:
    """The answer to one request, and its exit code; every failure is an answer."""
    from ludic_deepeval.report.answer import answer_json, error_json  # see `judge`
    from ludic_deepeval.submission import judge_submission, read_request  # see `judge`

    request_id = None
    try:
        request = read_request(data)
        request_id = request.id
        verdict = judge_submission(request, policy, reader)
        return answer_json(verdict), 0 if verdict.word == "accept" else 1
    except InputError as error:
        failure = error
    except Exception as error:  # noqa: BLE001  # one stranger's text must not end the service for all others
        failure = InputError("request", f"cannot be judged: a fault of this program ({type(error).__name__})")
    tell(failure)
    return error_json(failure, request_id), 2


def _bounded_lines(stream: BinaryIO, most: int) -> Iterator[bytes]:
    """Yield each line without its end; of one that is too long only so much that its length shows."""
    while line := stream.readline(most + 2):
        whole = line.endswith(b"\n")
        yield line.rstrip(b"\r\n")
        while not whole and (rest := stream.readline(_CHUNK)):
            whole = rest.endswith(b"\n")


def _write(out: TextIO, answer: dict[str, Any], *, indent: int | None = None) -> None:
    """Write JSON and flush it; where the stream has no Unicode, with escapes."""
    plain = not (out.encoding or "").lower().startswith("utf")
    out.write(json.dumps(answer, ensure_ascii=plain, indent=indent, allow_nan=False) + "\n")
    out.flush()
