"""A file of records, each with its own hash, that is added to while they are being computed.

It begins with a line on what all of them depend on. What a crash, a full disk or another program left
is known by the hashes: the records before it are right, and writing goes on from there.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from jounce.records import Record, as_record, is_of_kind, next_record


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
        start = len(self._first) if self._end is None else self._end
        self._change(start, as_record(kind, number, contents))
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
