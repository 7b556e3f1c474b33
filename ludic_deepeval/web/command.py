"""What `ludic annotate --web` does at a terminal."""

import threading
import webbrowser
from pathlib import Path

from ludic_deepeval.errors import clean
from ludic_deepeval.terminal import say
from ludic_deepeval.web.opening import open_session
from ludic_deepeval.web.server import PageServer


def annotate_in_browser(path: Path, *, second: bool = False, port: int = 0, open_browser: bool = True) -> int:
    """Open a story's page and serve it until the reader is done.

    Args:
        path: The story.
        second: Begin blind, and save as the second reading.
        port: On 127.0.0.1; 0 for any.
        open_browser: Open the page, too, and not only print its address.

    Returns:
        0; 1 when marks were left unsaved.

    Raises:
        InputError: The story cannot be marked, or the port cannot be had.
    """
    session = open_session(path, second=second)
    with PageServer(session, port) as server:
        say(clean(f"{path}: mark it at", limit=800))
        say(f"  {server.url}")
        say("The page is on this computer only. It ends with its Done button, or here with Ctrl-C.")
        if open_browser:
            # In a thread: a browser that runs in the terminal returns only when it is closed.
            threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
        server.run()
    if session.summary:
        say(clean(f"{session.lock_path}: {session.summary}", limit=800))
    if kept := session.keep_unsaved():
        say(
            clean(
                f"{kept}: marks that were not saved; the page takes them up again: {_again(path, second)}",
                limit=1200,
            )
        )
        return 1
    if session.summary:
        say(
            clean(f"then run: ludic check {path}", limit=800)
            if not second
            else clean(f"then compare: ludic agree {session.story.lockfile} {session.lock_path}", limit=800)
        )
    return 0


def _again(path: Path, second: bool) -> str:
    return f"ludic annotate --web {'--second ' if second else ''}{path}"
