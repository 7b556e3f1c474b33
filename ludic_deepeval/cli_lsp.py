"""The command `ludic lsp`: a language server, for editors to start."""

import sys

import typer

from ludic_deepeval.errors import InputError
from ludic_deepeval.terminal import note


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(lsp)


def lsp() -> None:
    """Serve an editor over standard input and output: findings while you type, advice, marks (docs/editors.md)."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        from ludic_deepeval.editor.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"pygls", "lsprotocol", "cattrs", "attrs", "attr"}:
            raise
        raise InputError(
            "ludic lsp", "the language server is not installed", hint="pip install 'ludic-worth[editor]'"
        ) from None
    if sys.stdin.isatty():
        note("ludic lsp: this is for editors to start (docs/editors.md); Ctrl-C ends")
    try:
        own = version("ludic-worth")
    except PackageNotFoundError:
        own = "0"
    raise typer.Exit(serve(own))
