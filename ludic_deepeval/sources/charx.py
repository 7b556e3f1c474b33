"""CHARX: a zip archive with the card in `card.json`. Nothing else in it is unpacked, and nothing is written anywhere."""

import os
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO, Final

from ludic_deepeval.errors import InputError, shown
from ludic_deepeval.files import MAX_BYTES

SIGNATURE: Final = b"PK\x03\x04"
CARD: Final = "card.json"
MAX_ARCHIVE: Final = 64 * 1024 * 1024
_MAX_CONTENTS: Final = 1024 * 1024  # bytes of the list of contents: ten thousand files
_END: Final = struct.Struct("<4s4H2LH")
_OUT: Final = re.compile(r"(?:^|[/\\])\.\.(?:[/\\]|$)|^[/\\]|^[A-Za-z]:")


def card_in(path: Path) -> bytes | None:
    """Return the card of an archive; None where the archive holds none.

    Raises:
        InputError: It cannot be read, is damaged, encrypted or larger than 64 MiB, names files outside of itself, or its card
            is there twice or unpacks to more than 8 MiB.
    """
    try:
        with path.open("rb") as stream:
            _require_bounded(stream, path)
            with zipfile.ZipFile(stream) as archive:
                return _card(archive, path)
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror or 'input or output error'})") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, struct.error, ValueError, OverflowError, RuntimeError):
        # RuntimeError: encrypted, or (NotImplementedError) packed in a way that zipfile does not know.
        raise InputError(path, "a damaged or encrypted archive", allowed="a CHARX archive") from None


def _require_bounded(stream: BinaryIO, path: Path) -> None:
    """Look at the end of an archive before zipfile reads its whole list of contents."""
    size = os.fstat(stream.fileno()).st_size
    if size > MAX_ARCHIVE:
        limit = f"{MAX_ARCHIVE // 1024:,} KiB"
        raise InputError(path, f"an archive of more than {limit}", allowed=f"at most {limit}")
    stream.seek(max(0, size - _END.size - 0xFFFF))
    tail = stream.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise InputError(path, "a damaged archive: its end is missing", allowed="a CHARX archive")
    contents = _END.unpack_from(tail, at)[5]
    if contents > _MAX_CONTENTS or b"PK\x06\x07" in tail:
        raise InputError(path, "an archive of too many files", allowed="a card and its assets")
    stream.seek(0)


def _card(archive: zipfile.ZipFile, path: Path) -> bytes | None:
    infos = archive.infolist()
    for info in infos:
        if _OUT.search(info.orig_filename) or "\0" in info.orig_filename:
            raise InputError(
                path, f"the archive holds {shown(info.orig_filename)}", allowed="files within the archive"
            )
    cards = [info for info in infos if info.filename == CARD]
    if not cards:
        return None
    if len(cards) > 1:
        raise InputError(path, f"the archive holds {CARD} {len(cards)} times", allowed="one card")
    if cards[0].compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise InputError(path, f"{CARD} is packed in an unknown way", allowed="stored or deflated")
    with archive.open(cards[0]) as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        limit = f"{MAX_BYTES // 1024:,} KiB"
        raise InputError(path, f"{CARD} unpacks to more than {limit}", allowed=f"at most {limit}")
    return data
