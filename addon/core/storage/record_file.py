"""A file of records, each with its own hash, extended during the computation.

A first line identifies the inputs of all records. The hashes expose leftovers of a crash, a full disk or
another program: the records before the damage are valid, and writing continues there.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from jounce.records import Record, as_record, is_of_kind, next_record


class RecordFile:
    """The records of one origin. trouble: reason for an end of writing; empty while everything is written."""

    def __init__(self, path: Path, magic: bytes, origin: bytes) -> None:
        """magic: the first bytes of all files of this kind. origin: a separate line."""
        self.path = path
        self.trouble = ""
        self._magic = magic
        self._first = magic + origin + b"\n"
        # End of the last valid record, None without a file of this origin.
        self._end: int | None = None
        # Size of the file after the last write.
        self._size = 0

    def records(self) -> Iterator[Record]:
        """The valid records, in order; new records follow the last one read."""
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
        """Appends a record; returns its position."""
        start = len(self._first) if self._end is None else self._end
        self._change(start, as_record(kind, number, contents))
        return start

    def cut(self, end: int) -> None:
        """Drops all records from a place on."""
        self._change(end, b"")

    def _change(self, start: int, more: bytes) -> None:
        """Writes bytes at a position and ends the file there. Changes nothing after trouble."""
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
        """Makes a new file in the place of one of another origin."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.is_symlink() or (self.path.exists() and not is_of_kind(self.path, self._magic)):
            raise FileExistsError(0, "something is there that Jounce has not made")
        # A killed process leaves a file with a recognisable name.
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        try:
            part.write_bytes(self._first)
            os.replace(part, self.path)
        finally:
            part.unlink(missing_ok=True)
        self._end = self._size = len(self._first)
