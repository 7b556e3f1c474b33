"""Cards, images and archives of our own, made byte by byte."""

import io
import json
import struct
import zipfile
import zlib
from base64 import b64encode
from typing import Any

AQUA: dict[str, Any] = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "data": {
        "name": "Aqua",
        "description": "{{char}} kept the lock-gate until it drowned a barge.\n\nOdo Marsh still wants {{ USER }} to pay for it.",
        "personality": "",
        "scenario": "Somebody has paid for the bell not to ring.",
        "first_mes": "Hello, {{user}}.",
        "mes_example": "",
        "character_book": {
            "name": "The Long Lock",
            "entries": [
                {"keys": ["Odo Marsh", "the miller"], "content": "{{char}}'s old master.", "enabled": True, "insertion_order": 1, "extensions": {}, "x-ours": [1, 2]},
                {"keys": ["/bell.*/i"], "name": "Bell", "content": "@@depth 4\n@@scan_depth 2\nIt hangs in the mill.", "enabled": True, "insertion_order": 2, "extensions": {}},
                {"keys": ["Nobody"], "content": "Off.", "enabled": False, "insertion_order": 3, "extensions": {}},
            ],
        },
        "extensions": {"depth_prompt": {"depth": 4}},
    },
}  # fmt: skip


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def image(*chunks: bytes, wide: int = 1, high: int = 1) -> bytes:
    """A PNG of one black pixel, or one that claims more; text chunks stand before the pixels."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", wide, high, 8, 0, 0, 0, 0))
    return (
        b"\x89PNG\r\n\x1a\n"
        + head
        + b"".join(chunks)
        + chunk(b"IDAT", zlib.compress(b"\0\0"))
        + chunk(b"IEND", b"")
    )


def packed(card: Any) -> bytes:
    return b64encode(json.dumps(card, ensure_ascii=False).encode())


def text(keyword: str, data: bytes) -> bytes:
    return chunk(b"tEXt", keyword.encode() + b"\0" + data)


def ztxt(keyword: str, data: bytes) -> bytes:
    return chunk(b"zTXt", keyword.encode() + b"\0\0" + zlib.compress(data))


def itxt(keyword: str, data: bytes, *, compressed: bool) -> bytes:
    flag = b"\x01\x00" if compressed else b"\x00\x00"
    return chunk(
        b"iTXt",
        keyword.encode() + b"\0" + flag + b"en\0Karte\0" + (zlib.compress(data) if compressed else data),
    )


def archive(files: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return out.getvalue()


def bomb() -> bytes:
    """128 MiB of zeros, packed into an eighth of a MiB."""
    packer = zlib.compressobj()
    return b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(128)), packer.flush()])


def bomb_archive() -> bytes:
    """An archive whose card is as large."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made, made.open("card.json", "w") as card:
        for _ in range(128):
            card.write(bytes(1 << 20))
    return out.getvalue()
