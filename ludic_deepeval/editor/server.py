"""The language server behind `ludic lsp`: pygls on one side, `looking`, `hovering` and `changes` on the other.

The only place that imports pygls. Documents are sent whole at each change, since pygls counts other line ends than the
protocol does, and positions are always UTF-16 units, which every client has to know.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from lsprotocol import types  # noqa: TID251  # this module is the adapter
from pygls.exceptions import JsonRpcException  # noqa: TID251  # the adapter
from pygls.lsp.server import LanguageServer  # noqa: TID251  # the adapter
from pygls.protocol import LanguageServerProtocol  # noqa: TID251  # the adapter
from pygls.protocol.language_server import lsp_method  # noqa: TID251  # the adapter
from pygls.uris import from_fs_path, to_fs_path  # noqa: TID251  # the adapter

from ludic_deepeval.codes import CODES
from ludic_deepeval.editor import changes, hovering, keeping, places
from ludic_deepeval.editor.looking import Look, Note, is_watched, look
from ludic_deepeval.editor.stdio import Bounded
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import MAX_YAML_BYTES, decode, read_bytes
from ludic_deepeval.terminal import note

DELAY: Final = 0.3  # seconds without a change before a text is judged
_WHY_NOT: Final = "ludic.whyNot"

_SEVERITY: Final = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
_KIND: Final = {
    "quickfix": types.CodeActionKind.QuickFix,
    "mark": types.CodeActionKind.RefactorRewrite,
}


@dataclass(frozen=True, slots=True)
class Opened:
    """A document as the editor has it."""

    version: int
    text: str


class _Utf16(LanguageServerProtocol):
    """The protocol without a choice of what positions are counted in."""

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Begin, whatever the client would rather count in."""
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = None
        return (yield from super().lsp_initialize(params))

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Read a message; one that asks something and cannot be read is answered, or its sender would wait for ever."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" in data and isinstance(data.get("id"), int | str):
                self._send_response(data["id"], error=types.ResponseError(error.code, error.message))
            raise


class Server(LanguageServer):
    """A language server for stories.

    Args:
        version: What it tells editors.
        delay: Seconds without a change before a text is judged.
    """

    def __init__(self, version: str, *, delay: float = DELAY) -> None:
        whole = types.TextDocumentSyncKind.Full
        super().__init__("ludic", version, text_document_sync_kind=whole, protocol_cls=_Utf16)
        self.opened: dict[str, Opened] = {}
        self.asked_to_stop = False
        self._delay = delay
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._telling: set[asyncio.Task[None]] = set()
        self._round = 0  # goes up whenever files that verdicts rest on may have changed
        self._looks: dict[str, tuple[Opened, Look]] = {}
        self._turn = asyncio.Lock()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Say on standard error what could not be done; an editor shows that where people look for it."""
        del source
        note(f"ludic lsp: {type(error).__name__}: {error}")

    # Looking

    async def look_at(self, uri: str) -> Look | None:
        """The look at a document as it is now; None for one that is not open, or no file."""
        return (await self._look_at(uri))[1]

    async def _look_at(self, uri: str) -> tuple[Opened | None, Look | None]:
        """What was looked at, and the look. One at a time: who had to wait finds what the one before has found."""
        async with self._turn:
            opened, path = self.opened.get(uri), path_of(uri)
            if opened is None or path is None:
                return None, None
            known = self._looks.get(uri)
            if known is None or known[0] != opened:
                round_, known = self._round, (opened, await asyncio.to_thread(look, path, opened.text))
                if self._round == round_ and uri in self.opened:
                    self._looks[uri] = known
            return known

    def soon(self, uri: str, delay: float | None = None) -> None:
        """Judge a document once it has not changed for a while."""
        if waiting := self._waiting.pop(uri, None):
            waiting.cancel()
        wait = self._delay if delay is None else delay
        self._waiting[uri] = asyncio.get_running_loop().call_later(wait, self._begin, uri)

    def again(self) -> None:
        """Judge everything that is open anew: a file that verdicts rest on may have changed."""
        self._round += 1
        self._looks.clear()
        for uri in self.opened:
            self.soon(uri, 0)

    def forget(self, uri: str) -> None:
        """A document was closed: nothing more is told of it."""
        self.opened.pop(uri, None)
        self._looks.pop(uri, None)
        if waiting := self._waiting.pop(uri, None):
            waiting.cancel()
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def _begin(self, uri: str) -> None:
        self._waiting.pop(uri, None)
        path = path_of(uri)
        if path is not None and is_watched(path):
            task = asyncio.ensure_future(self._tell(uri))
            self._telling.add(task)  # a task that nothing refers to may be collected
            task.add_done_callback(self._telling.discard)

    async def _tell(self, uri: str) -> None:
        try:
            opened, found = await self._look_at(uri)
        except Exception as error:  # noqa: BLE001  # nobody waits for this task: said here, or never
            self.report_server_error(error, type(error))
            return
        if opened is not None and found is not None and self.opened.get(uri) == opened:
            notes = list(map(diagnostic, found.notes))
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, notes, opened.version))

    def sheet(self, path: Path) -> str | None:
        """A mark sheet as the editor has it, or else as it is saved."""
        for uri, opened in list(self.opened.items()):  # called from another thread
            if path_of(uri) == path:
                return opened.text
        return decode(read_bytes(path, limit=MAX_YAML_BYTES), path) if path.exists() else None

    # What the editor can do

    @property
    def _says_why_not(self) -> bool:
        document = self.client_capabilities.text_document
        action = document.code_action if document else None
        return bool(action and action.disabled_support)

    def offered(self, found: changes.Action, uri: str) -> types.CodeAction:
        """An action as an editor is offered it; what cannot be done says why when it is chosen."""
        offered = types.CodeAction(found.title, kind=_KIND[found.kind])
        if found.note is not None:
            offered.diagnostics = [diagnostic(found.note)]
        if found.command:
            offered.command = types.Command(found.title, found.command, arguments=[uri])
        elif found.change is not None:
            offered.edit = self._edit(found.change)
        elif self._says_why_not:
            offered.disabled = types.CodeActionDisabled(found.why_not)
        else:
            offered.title += " (not possible)"
            offered.command = types.Command("Why not?", _WHY_NOT, arguments=[found.why_not])
        return offered

    def _edit(self, change: changes.Change) -> types.WorkspaceEdit:
        uri = self._uri_of(change.path)
        edit = types.TextEdit(_range(change.range), change.text)
        workspace = self.client_capabilities.workspace
        can = workspace.workspace_edit if workspace else None
        creates = types.ResourceOperationKind.Create in ((can and can.resource_operations) or ())
        if not (can and can.document_changes and (creates or not change.creates)):
            return types.WorkspaceEdit(changes={uri: [edit]})
        opened = self.opened.get(uri)
        document = types.OptionalVersionedTextDocumentIdentifier(uri, opened.version if opened else None)
        made: list[Any] = [types.TextDocumentEdit(document, [edit])]
        if change.creates:
            made.insert(0, types.CreateFile(uri, options=types.CreateFileOptions(ignore_if_exists=True)))
        return types.WorkspaceEdit(document_changes=made)

    def _uri_of(self, path: Path) -> str:
        """As the editor spells it, where it has the file open."""
        return next((uri for uri in self.opened if path_of(uri) == path), from_fs_path(str(path)) or "")


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
        _range(found.range),
        found.message,
        severity=_SEVERITY[found.weight],
        code=found.code,
        source="ludic",
        data={"explain": said} if said else None,
    )


def _range(of: places.Range) -> types.Range:
    start, end = of.start, of.end
    return types.Range(types.Position(start.line, start.character), types.Position(end.line, end.character))


def _position(of: types.Position) -> places.Position:
    return places.Position(of.line, of.character)


# The protocol


def make_server(version: str, *, delay: float = DELAY) -> Server:
    """A server with everything that it can do."""
    server = Server(version, delay=delay)
    for register in (_documents, _questions, _life):
        register(server)
    return server


def _documents(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        server.opened[document.uri] = Opened(document.version, document.text)
        server.soon(document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        if uri not in server.opened or not params.content_changes:
            return
        server.opened[uri] = Opened(params.text_document.version, params.content_changes[-1].text)
        server.soon(uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        del params
        server.again()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(params: types.DidChangeWatchedFilesParams) -> None:
        del params
        server.again()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)


def _questions(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        found = await server.look_at(params.text_document.uri)
        said = await asyncio.to_thread(hovering.hover, found, _position(params.position)) if found else None
        if said is None:
            return None
        kind = _kind_of_text(server.client_capabilities)
        render = hovering.as_markdown if kind == types.MarkupKind.Markdown else hovering.as_plain
        return types.Hover(types.MarkupContent(kind, render(said)), _range(said.range))

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=list(_KIND.values())),
    )
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        found = await server.look_at(params.text_document.uri)
        if found is None:
            return []
        chosen = places.Range(_position(params.range.start), _position(params.range.end))
        made = keeping.keepers(found, chosen)
        made += await asyncio.to_thread(changes.actions, found, chosen, server.sheet)
        only = params.context.only
        wanted = [
            one for one in made if only is None or any(_is_of(_KIND[one.kind].value, kind) for kind in only)
        ]
        return [server.offered(one, params.text_document.uri) for one in wanted]

    @server.command(_WHY_NOT)
    def why_not(reason: str) -> None:
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, clean(reason, limit=800)))

    for command in keeping.TITLES:
        _keeper(server, command)


def _keeper(server: Server, command: str) -> None:
    @server.command(command)
    async def keep(uri: str) -> None:
        """Write the lockfile of an open story, and say what came of it."""
        opened, path = server.opened.get(uri), path_of(uri)
        if opened is None or path is None:
            return
        kind = types.MessageType.Info
        try:
            said = await asyncio.to_thread(keeping.keep, command, path, opened.text)
        except InputError as error:
            kind, said = types.MessageType.Error, str(error)
        server.window_show_message(types.ShowMessageParams(kind, f"ludic: {said}"))
        server.again()


def _kind_of_text(can: types.ClientCapabilities) -> types.MarkupKind:
    """Markdown, but for a client that says that it shows only plain text."""
    asked = can.text_document.hover if can.text_document else None
    formats = asked.content_format if asked else None
    plain = formats is not None and types.MarkupKind.Markdown not in formats
    return types.MarkupKind.PlainText if plain else types.MarkupKind.Markdown


def _is_of(kind: str, wanted: types.CodeActionKind | str) -> bool:
    """Whether a kind of code action is one that was asked for: `refactor.rewrite` is a `refactor`."""
    name = wanted.value if isinstance(wanted, types.CodeActionKind) else wanted
    return name in {"", kind} or kind.startswith(f"{name}.")


def _life(server: Server) -> None:
    @server.feature(types.INITIALIZED)
    def initialized(params: types.InitializedParams) -> None:
        del params
        workspace = server.client_capabilities.workspace
        watched = workspace.did_change_watched_files if workspace else None
        if watched and watched.dynamic_registration:
            globs = ("*.ledger.json", "*.marks.yaml", "ludic.toml", "pyproject.toml", "bible.yaml")
            watchers = [types.FileSystemWatcher(f"**/{glob}") for glob in globs]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            asked = types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(types.RegistrationParams([asked]))

    @server.feature(types.SHUTDOWN)
    def shutdown(params: None) -> None:
        del params
        server.asked_to_stop = True

    @server.feature(types.EXIT)
    def leave(params: None) -> None:
        """End at once: a text that is being judged would be waited for."""
        del params
        sys.stderr.flush()
        os._exit(0 if server.asked_to_stop else 1)


# Standard input and output


def serve(version: str) -> int:
    """Speak with an editor over standard input and output until it is done; return the exit code.

    Whatever else would be printed goes to standard error.
    """
    log = logging.getLogger("pygls")  # what matters of it comes by `report_server_error`, in one line
    log.addHandler(logging.NullHandler())
    log.propagate = False
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    server = make_server(version)
    server.start_io(cast("BinaryIO", Bounded(sys.stdin.buffer)), out)
    return 0 if server.asked_to_stop else 1
