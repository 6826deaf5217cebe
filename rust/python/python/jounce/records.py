"""File of records for final motions. A hash in each record proves the record complete."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

# Record header: kind, number, length of the contents, and hash.
HEAD = struct.Struct("<cIQ16s")


class Record(NamedTuple):
    """A record and its start position in the file."""

    start: int
    kind: bytes
    number: int
    contents: bytes


def records(file: BinaryIO, size: int) -> Iterator[Record]:
    """Complete records from the current position to the first damaged one. size: of the file, bytes."""
    while (record := next_record(file, size)) is not None:
        yield record


def next_record(file: BinaryIO, size: int) -> Record | None:
    """The next record of a file of `size` bytes; None at the end or if the record is damaged."""
    start = file.tell()
    head = file.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    kind, number, length, expected = HEAD.unpack(head)
    if length > size - file.tell():
        return None
    contents = file.read(length)
    if len(contents) < length or digest(kind, number, contents) != expected:
        return None
    return Record(start, kind, number, contents)


def as_record(kind: bytes, number: int, contents: bytes) -> bytes:
    """A record as bytes."""
    return HEAD.pack(kind, number, len(contents), digest(kind, number, contents)) + contents


def digest(kind: bytes, number: int, contents: bytes) -> bytes:
    """Hash of a record, 16 bytes."""
    hashed = hashlib.blake2b(struct.pack("<cI", kind, number), digest_size=16)
    hashed.update(contents)
    return hashed.digest()


def is_of_kind(path: Path, magic: bytes) -> bool:
    """True if the file exists and begins with these bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(magic)) == magic
