"""The final motion of a body as it is kept: displacements of all vertices of its cage, in a file."""

import json
from pathlib import Path

import jounce
import numpy as np

from .cache import DIGEST_BYTES, MotionCache, Origin
from .record_file import Record, RecordFile, is_of_kind

MAGIC = b"jounce final motion 1\n"
SUFFIX = ".jcache"
FRAME, STATE = b"F", b"S"


class FinalCache(MotionCache):
    """Frames whose coefficients are (n, 3) f32, and the states between them, also in a file if it has a path.

    Where the file cannot be written, the motion stays in memory.
    """

    # A state takes as much as thirty frames.
    frames_per_state = 48

    def __init__(self, origin: Origin, first: int, path: Path | None = None) -> None:
        """Takes over what the file holds of this motion; a file of another one goes when a frame is added."""
        super().__init__(origin, first)
        self._starts: list[int] = []
        line = json.dumps({"origin": origin, "first": first}).encode()
        self._file = None if path is None else RecordFile(path, MAGIC, line)
        for record in () if self._file is None else self._file.records():
            if not self._take(record):
                break

    @property
    def path(self) -> Path | None:
        """Where the file is or will be."""
        return None if self._file is None else self._file.path

    @property
    def trouble(self) -> str:
        """Why frames are not written to the file; empty where they are."""
        return "" if self._file is None else self._file.trouble

    def append(self, digest: bytes, coefficients: np.ndarray) -> None:
        """Adds the next frame."""
        rounded = np.ascontiguousarray(coefficients, "<f4")
        if self._file is not None:
            self._starts.append(self._file.add(FRAME, len(self), digest + rounded.tobytes()))
        super().append(digest, rounded)

    def keep_state(self, index: int, state: "jounce.State") -> None:
        """Keeps the state after the frame that was added last."""
        super().keep_state(index, state)
        if self._file is not None:
            self._file.add(STATE, index, state.to_bytes())

    def truncate(self, count: int) -> None:
        """Keeps only the first frames."""
        if self._file is not None and count < len(self):
            self._file.cut(self._starts[count])
            del self._starts[count:]
        super().truncate(count)

    def moved(self, path: Path | None) -> "FinalCache":
        """The same motion in another place; the file that is there now stays."""
        copy = FinalCache(self.origin, self.first, path)
        copy.truncate(0)
        for index, (digest, coefficients) in enumerate(zip(self.digests, self.coefficients, strict=True)):
            copy.append(digest, coefficients)
            if index in self.states:
                copy.keep_state(index, self.states[index])
        return copy

    def _take(self, record: Record) -> bool:
        """Takes a record over; whether it is one that can come here."""
        if record.kind == FRAME and record.number == len(self):
            numbers = record.contents[DIGEST_BYTES:]
            if len(numbers) == 0 or len(numbers) % 12:
                return False
            frame = np.frombuffer(numbers, "<f4").reshape(-1, 3)
            if (
                self.coefficients
                and frame.shape != self.coefficients[0].shape
                or not np.isfinite(frame).all()
            ):
                return False
            self._starts.append(record.start)
            super().append(record.contents[:DIGEST_BYTES], frame)
            return True
        if record.kind != STATE or record.number != len(self) - 1:
            return False
        try:
            super().keep_state(record.number, jounce.State.from_bytes(record.contents))
        except ValueError:
            return False
        return True


def is_cache(path: Path) -> bool:
    """Whether a file is a final motion that Jounce has kept."""
    return is_of_kind(path, MAGIC)
