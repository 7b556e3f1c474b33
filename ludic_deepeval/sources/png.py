"""The text chunks of a PNG image. No pixel is decoded, so that it does not matter how many it claims to have."""

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.files import MAX_BYTES

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
MAX_IMAGE: Final = 10 * 1024 * 1024
_MAX_CHUNKS: Final = 100_000
_TEXTS: Final = frozenset({b"tEXt", b"zTXt", b"iTXt"})


def texts_in(path: Path, keywords: frozenset[str]) -> list[tuple[str, bytes]]:
    """Return the wanted text chunks of an image, in order, as (keyword in lower case, text).

    Args:
        path: The image.
        keywords: The keywords that are wanted, in lower case.

    Raises:
        InputError: It cannot be read, is larger than 10 MiB or is cut off, or a wanted chunk is damaged or unpacks to
            more than 8 MiB.
    """
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            if size > MAX_IMAGE:
                raise InputError(
                    path,
                    f"an image of more than {MAX_IMAGE // 1024:,} KiB",
                    allowed=f"at most {MAX_IMAGE // 1024:,} KiB",
                    hint="save it smaller, or export the card as JSON",
                )
            stream.seek(len(SIGNATURE))
            return list(_wanted(stream, size, keywords, path))
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror or 'input or output error'})") from None


def _wanted(stream: BinaryIO, size: int, keywords: frozenset[str], path: Path) -> Iterator[tuple[str, bytes]]:
    position = stream.tell()
    for _ in range(_MAX_CHUNKS):
        head = stream.read(8)
        if not head:
            return  # without an end; every viewer shows it all the same
        position += 8
        if len(head) < 8:
            raise InputError(path, "the image is cut off", allowed="a whole PNG")
        length, kind = struct.unpack(">I4s", head)
        if position + length + 4 > size:
            name = clean(kind.decode("latin-1"))
            raise InputError(path, f"the image is cut off in its chunk {name}", allowed="a whole PNG")
        if kind == b"IEND":
            return
        if kind in _TEXTS:
            data = stream.read(length)
            keyword = data[:80].partition(b"\0")[0].decode("latin-1").lower()
            if keyword in keywords:
                if struct.unpack(">I", stream.read(4))[0] != zlib.crc32(kind + data):
                    raise InputError(path, f"the chunk {keyword} is damaged: its checksum does not fit")
                yield keyword, _text(kind, data[len(keyword) + 1 :], keyword, path)
        position += length + 4
        stream.seek(position)
    raise InputError(path, f"more than {_MAX_CHUNKS:,} chunks", allowed="an image")


def _text(kind: bytes, data: bytes, keyword: str, path: Path) -> bytes:
    """What a chunk says after its keyword."""
    if kind == b"tEXt":
        return data
    packed = kind == b"zTXt" or data[:1] == b"\x01"
    method = data[:1] if kind == b"zTXt" else data[1:2]
    if kind == b"iTXt":
        _, first, rest = data[2:].partition(b"\0")  # language
        _, second, rest = rest.partition(b"\0")  # the keyword in that language
        if not (first and second):
            raise InputError(path, f"the chunk {keyword} is cut off", allowed="a whole iTXt chunk")
    else:
        rest = data[1:]
    if not packed:
        return rest
    if method != b"\0":
        raise InputError(path, f"the chunk {keyword} is packed in an unknown way", allowed="zlib")
    return unpacked(rest, f"the chunk {keyword}", path)


def unpacked(data: bytes, what: str, path: Path, *, limit: int = MAX_BYTES) -> bytes:
    """Return what zlib has packed, of at most `limit` bytes."""
    worker = zlib.decompressobj()
    try:
        text = worker.decompress(data, limit + 1)
    except zlib.error:
        raise InputError(path, f"{what} cannot be unpacked", allowed="zlib data") from None
    if len(text) > limit:
        raise InputError(
            path,
            f"{what} unpacks to more than {limit // 1024:,} KiB",
            allowed=f"at most {limit // 1024:,} KiB",
        )
    if not worker.eof:
        raise InputError(path, f"{what} is cut off", allowed="whole zlib data")
    return text
