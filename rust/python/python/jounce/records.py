"""A file of records, each with its own hash, as a final motion is kept in: what is whole of it is known by the hashes."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

# What stands before the contents of a record: its kind, its number, how long they are, and the hash of all.
HEAD = struct.Struct("<cIQ16s")


class Record(NamedTuple):
    """Where a record begins in its file, and what it holds."""

    start: int
    kind: bytes
    number: int
    contents: bytes


def records(file: BinaryIO, size: int) -> Iterator[Record]:
    """The records from here on that are whole, up to the first that is not. size: of the file, in bytes."""
    while (record := next_record(file, size)) is not None:
        yield record


def next_record(file: BinaryIO, size: int) -> Record | None:
    """The next record of a file of so many bytes, None where none is whole."""
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
    """16 bytes by which a record is known to be whole."""
    hashed = hashlib.blake2b(struct.pack("<cI", kind, number), digest_size=16)
    hashed.update(contents)
    return hashed.digest()


def is_of_kind(path: Path, magic: bytes) -> bool:
    """Whether a file is there that begins with these bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(magic)) == magic
