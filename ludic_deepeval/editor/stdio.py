"""Standard input as a language server reads it, with bounds that the protocol does not set."""

from typing import BinaryIO, Final

MAX_MESSAGE: Final = 32 * 1024 * 1024
_MAX_HEADER: Final = 1024  # also the digits of a length, of which Python reads 4300 at most
_CHUNK: Final = 64 * 1024


class Bounded:
    """A stream of messages none of which is longer than memory allows for.

    Args:
        stream: Where they come from.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        """A line of a header; of one that is too long, a part."""
        return self._stream.readline(_MAX_HEADER)

    def read(self, size: int) -> bytes:
        """A body; one that is too long is passed over, and what comes back is no message."""
        if size <= MAX_MESSAGE:
            return self._stream.read(size)
        left = size
        while left and (part := self._stream.read(min(left, _CHUNK))):
            left -= len(part)
        return b"" if left else b"too long"
