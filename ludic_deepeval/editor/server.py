"""The language server behind `ludic lsp`: pygls on one side, `looking`, `hovering` and `changes` on the other.

With `wire` the only place that imports pygls. Documents are sent whole at each change, since pygls counts other line ends than the
protocol does, and positions are always UTF-16 units, which every client has to know.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from lsprotocol import types  # noqa: TID251  # this module is the adapter
from pygls.exceptions import JsonRpcException  # noqa: TID251  # the adapter
from pygls.lsp.server import LanguageServer  # noqa: TID251  # the adapter
from pygls.protocol import LanguageServerProtocol  # noqa: TID251  # the adapter
from pygls.protocol.language_server import lsp_method  # noqa: TID251  # the adapter

from ludic_deepeval.editor import changes, hovering, keeping, places
from ludic_deepeval.editor.looking import Look, is_watched, look
from ludic_deepeval.editor.stdio import Bounded
from ludic_deepeval.editor.wire import (
    KIND,
    WHY_NOT,
    Desk,
    Opened,
    diagnostic,
    is_asked_for,
    kind_of_text,
    offered,
    path_of,
    position_of,
    range_of,
)
from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import MAX_YAML_BYTES, decode, read_bytes
from ludic_deepeval.terminal import note

DELAY: Final = 0.3  # seconds without a change before a text is judged


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

    async def look_at(self, uri: str) -> tuple[Opened | None, Look | None]:
        """What a document is now, and the look at it; nothing for one that is not open, or no file.

        One at a time: who had to wait finds what the one before has found.
        """
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
            opened, found = await self.look_at(uri)
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
        _, found = await server.look_at(params.text_document.uri)
        said = await asyncio.to_thread(hovering.hover, found, position_of(params.position)) if found else None
        if said is None:
            return None
        kind = kind_of_text(server.client_capabilities)
        render = hovering.as_markdown if kind == types.MarkupKind.Markdown else hovering.as_plain
        return types.Hover(types.MarkupContent(kind, render(said)), range_of(said.range))

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=list(KIND.values())),
    )
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        opened, found = await server.look_at(uri)
        if found is None:
            return []
        chosen = places.Range(position_of(params.range.start), position_of(params.range.end))
        made = keeping.keepers(found, chosen)
        made += await asyncio.to_thread(changes.actions, found, chosen, server.sheet)
        if server.opened.get(uri) != opened:
            return []  # it was typed on meanwhile, and edits would go astray; editors ask again
        desk = Desk(server.client_capabilities, server.opened)
        return [offered(one, uri, desk) for one in made if is_asked_for(one, params.context.only)]

    @server.command(WHY_NOT)
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
