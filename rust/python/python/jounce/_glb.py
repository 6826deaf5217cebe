"""The container of GLB files: a description and a binary part."""

from __future__ import annotations

import json
import struct
from typing import Any

HEADER, CHUNK = struct.Struct("<4sII"), struct.Struct("<I4s")


def chunks(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The description and the binary part of a GLB file."""
    if len(data) < 20 or data[:4] != b"glTF":
        raise ValueError("this is not a GLB file; export the character as glTF Binary (.glb)")
    found: dict[bytes, bytes] = {}
    at = HEADER.size
    while at + CHUNK.size <= len(data):
        length, kind = CHUNK.unpack_from(data, at)
        if at + CHUNK.size + length > len(data):
            raise ValueError("the GLB file is incomplete; export it again")
        found.setdefault(kind, data[at + CHUNK.size : at + CHUNK.size + length])
        at += CHUNK.size + length
    try:
        content = dict(json.loads(found[b"JSON"]))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError("the GLB file has no readable description; export it again") from error
    return content, found.get(b"BIN\0", b"")


def packed(content: dict[str, Any], binary: bytes) -> bytes:
    """A GLB file of a description and a binary part."""
    text = json.dumps(content, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    parts = ((b"JSON", text), (b"BIN\0", binary))
    body = b"".join(CHUNK.pack(len(part), kind) + part for kind, part in parts)
    return HEADER.pack(b"glTF", 2, HEADER.size + len(body)) + body
