"""Between our values and those of the protocol, both ways. Nothing is decided here."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lsprotocol import types  # noqa: TID251  # half of the adapter
from pygls.uris import from_fs_path, to_fs_path  # noqa: TID251  # half of the adapter

from ludic_deepeval.codes import CODES
from ludic_deepeval.editor import changes, places
from ludic_deepeval.editor.looking import Note

WHY_NOT: Final = "ludic.whyNot"

_SEVERITY: Final = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
KIND: Final = {
    "quickfix": types.CodeActionKind.QuickFix,
    "mark": types.CodeActionKind.RefactorRewrite,
}


@dataclass(frozen=True, slots=True)
class Opened:
    """A document as the editor has it."""

    version: int
    text: str


@dataclass(frozen=True, slots=True)
class Desk:
    """What an edit has to know of an editor.

    Attributes:
        can: What it says that it can.
        opened: What it has open, by address.
    """

    can: types.ClientCapabilities
    opened: dict[str, Opened]


def path_of(uri: str) -> Path | None:
    """The file that a URI names; None for what is no file."""
    try:
        path = to_fs_path(uri)
    except (ValueError, IndexError):
        return None
    return Path(path) if path and "\0" not in path and Path(path).is_absolute() else None


def diagnostic(found: Note) -> types.Diagnostic:
    """A note as the protocol has it."""
    said = f"ludic explain {found.code}" if found.code in CODES else None
    return types.Diagnostic(
        range_of(found.range),
        found.message,
        severity=_SEVERITY[found.weight],
        code=found.code,
        source="ludic",
        data={"explain": said} if said else None,
    )


def range_of(of: places.Range) -> types.Range:
    """A range as the protocol has it."""
    start, end = of.start, of.end
    return types.Range(types.Position(start.line, start.character), types.Position(end.line, end.character))


def position_of(of: types.Position) -> places.Position:
    """A position as we have it."""
    return places.Position(of.line, of.character)


def offered(found: changes.Action, uri: str, desk: Desk) -> types.CodeAction:
    """An action as an editor is offered it for a document; what cannot be done says why when it is chosen."""
    made = types.CodeAction(found.title, kind=KIND[found.kind])
    if found.note is not None:
        made.diagnostics = [diagnostic(found.note)]
    if found.command:
        made.command = types.Command(found.title, found.command, arguments=[uri])
    elif found.change is not None:
        made.edit = _edit(found.change, desk)
    elif _says_why_not(desk.can):
        made.disabled = types.CodeActionDisabled(found.why_not)
    else:
        made.title += " (not possible)"
        made.command = types.Command("Why not?", WHY_NOT, arguments=[found.why_not])
    return made


def _says_why_not(can: types.ClientCapabilities) -> bool:
    action = can.text_document.code_action if can.text_document else None
    return bool(action and action.disabled_support)


def _edit(change: changes.Change, desk: Desk) -> types.WorkspaceEdit:
    # The address as the editor spells it, where it has the file open.
    known = (uri for uri in desk.opened if path_of(uri) == change.path)
    uri = next(known, from_fs_path(str(change.path)) or "")
    edit = types.TextEdit(range_of(change.range), change.text)
    can = desk.can.workspace.workspace_edit if desk.can.workspace else None
    creates = types.ResourceOperationKind.Create in ((can and can.resource_operations) or ())
    if not (can and can.document_changes and (creates or not change.creates)):
        return types.WorkspaceEdit(changes={uri: [edit]})
    opened = desk.opened.get(uri)
    document = types.OptionalVersionedTextDocumentIdentifier(uri, opened.version if opened else None)
    made: list[Any] = [types.TextDocumentEdit(document, [edit])]
    if change.creates:
        made.insert(0, types.CreateFile(uri, options=types.CreateFileOptions(ignore_if_exists=True)))
    return types.WorkspaceEdit(document_changes=made)


def kind_of_text(can: types.ClientCapabilities) -> types.MarkupKind:
    """Markdown, but for a client that says that it shows only plain text."""
    asked = can.text_document.hover if can.text_document else None
    formats = asked.content_format if asked else None
    plain = formats is not None and types.MarkupKind.Markdown not in formats
    return types.MarkupKind.PlainText if plain else types.MarkupKind.Markdown


def is_asked_for(found: changes.Action, only: Iterable[types.CodeActionKind | str] | None) -> bool:
    """Whether an action is of a kind that was asked for; nothing asked for is everything."""
    return only is None or any(_is_of(KIND[found.kind].value, kind) for kind in only)


def _is_of(kind: str, wanted: types.CodeActionKind | str) -> bool:
    """Whether a kind of code action is one that was asked for: `refactor.rewrite` is a `refactor`."""
    name = wanted.value if isinstance(wanted, types.CodeActionKind) else wanted
    return name in {"", kind} or kind.startswith(f"{name}.")
