"""A file of records, each with its own hash, that is added to while they are being computed.

It begins with a line on what all of them depend on. What a crash, a full disk or another program left
is known by the hashes: the records before it are right, and writing goes on from there.
"""

import hashlib
import os
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


class RecordFile:
    """The records of one origin. trouble: why nothing is written any more; empty as long as all is."""

    def __init__(self, path: Path, magic: bytes, origin: bytes) -> None:
        """magic: the first bytes of all files of this kind. origin: a line of its own."""
        self.path = path
        self.trouble = ""
        self._magic = magic
        self._first = magic + origin + b"\n"
        # Where the last record that counts ends, None before there is a file of this origin.
        self._end: int | None = None
        # Of the whole file, as it was left.
        self._size = 0

    def records(self) -> Iterator[Record]:
        """The records that are whole, in order; what is added comes after the last that was asked for."""
        try:
            with self.path.open("rb") as file:
                if file.read(len(self._first)) != self._first:
                    return
                self._end, self._size = file.tell(), os.fstat(file.fileno()).st_size
                while (record := next_record(file, self._size)) is not None:
                    yield record
                    self._end = file.tell()
        except OSError:
            return

    def add(self, kind: bytes, number: int, contents: bytes) -> int:
        """Writes a record after the last one; where it begins."""
        head = HEAD.pack(kind, number, len(contents), digest(kind, number, contents))
        start = len(self._first) if self._end is None else self._end
        self._change(start, head + contents)
        return start

    def cut(self, end: int) -> None:
        """Drops all records from a place on."""
        self._change(end, b"")

    def _change(self, start: int, more: bytes) -> None:
        """Puts bytes to a place, at which the file ends otherwise. After trouble nothing is changed."""
        if self.trouble:
            return
        try:
            if self._end is None:
                self._begin()
            with self.path.open("r+b") as file:
                if os.fstat(file.fileno()).st_size != self._size:
                    self.trouble = f"another program has changed {self.path}"
                    return
                file.truncate(start)
                file.seek(start)
                file.write(more)
            self._end = self._size = start + len(more)
        except OSError as error:
            self.trouble = f"{self.path} cannot be written ({error.strerror})"

    def _begin(self) -> None:
        """Makes a new file, in the place of one of another origin."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.is_symlink() or (self.path.exists() and not is_of_kind(self.path, self._magic)):
            raise FileExistsError(0, "something is there that Jounce has not made")
        # A process that is killed leaves no file that is not known to be ours.
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        try:
            part.write_bytes(self._first)
            os.replace(part, self.path)
        finally:
            part.unlink(missing_ok=True)
        self._end = self._size = len(self._first)


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
