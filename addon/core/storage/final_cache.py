"""The motion of a body as it is kept in a file: a record a frame, and now and then a state to go on from."""

import json
import math
from pathlib import Path
from typing import Self, TypeVar

import jounce
import numpy as np
from jounce.final_motion import DIGEST_BYTES, FRAME, MAGIC, ROUGH, SCENE, STATE
from jounce.records import Record, is_of_kind

from .cache import MotionCache, Origin
from .record_file import RecordFile

SUFFIX = ".jcache"
Cache = TypeVar("Cache", bound="FileCache")


class FileCache(MotionCache):
    """Frames and intermediate states, also in a file if there is a path.

    Without write access the motion stays in memory.
    """

    # First bytes of the files, their numbers, and the shape of a frame's coefficients.
    magic: bytes
    dtype: str
    row: tuple[int, ...]

    def __init__(self, origin: Origin, first: int, path: Path | None = None) -> None:
        """Reads the file's frames of this motion; a file of another motion is replaced by the first added
        frame.
        """
        super().__init__(origin, first)
        self._starts: list[int] = []
        self._scene = b""
        line = json.dumps({"origin": origin, "first": first}).encode()
        self._file = None if path is None else RecordFile(path, self.magic, line)
        for record in () if self._file is None else self._file.records():
            if not self._take(record):
                break

    @property
    def path(self) -> Path | None:
        """Path of the file, existing or not."""
        return None if self._file is None else self._file.path

    @property
    def trouble(self) -> str:
        """Reason why frames are not written to the file; empty without trouble."""
        return "" if self._file is None else self._file.trouble

    def append(self, digest: bytes, coefficients: np.ndarray) -> None:
        """Adds the next frame."""
        rounded = np.ascontiguousarray(coefficients, self.dtype)
        if self._file is not None:
            self._starts.append(self._file.add(FRAME, len(self), digest + rounded.tobytes()))
        super().append(digest, rounded)

    def mark_rough(self) -> None:
        """Notes that the last added frame has not converged."""
        super().mark_rough()
        if self._file is not None:
            self._file.add(ROUGH, len(self) - 1, b"")

    def keep_state(self, index: int, state: "jounce.State") -> None:
        """Keeps the state after the last added frame."""
        super().keep_state(index, state)
        if self._file is not None:
            self._file.add(STATE, index, state.to_bytes())

    def show(self, scene: bytes) -> None:
        """Keeps the scene that displays the frames, unless already kept."""
        if self._file is not None and len(self) > 0 and scene != self._scene:
            self._file.add(SCENE, len(self) - 1, scene)
            self._scene = scene

    def truncate(self, count: int) -> None:
        """Keeps only the first frames."""
        if count < len(self):
            self._scene = b""
            if self._file is not None:
                self._file.cut(self._starts[count])
                del self._starts[count:]
        super().truncate(count)

    def moved(self, path: Path | None) -> Self:
        """The same motion at another path; the present file stays."""
        copy = type(self)(self.origin, self.first, path)
        copy.truncate(0)
        for index, (digest, coefficients) in enumerate(zip(self.digests, self.coefficients, strict=True)):
            copy.append(digest, coefficients)
            if index in self.rough:
                copy.mark_rough()
            if index in self.states:
                copy.keep_state(index, self.states[index])
        if self._scene:
            copy.show(self._scene)
        return copy

    def _take(self, record: Record) -> bool:
        """Takes over a record; True if the record is valid here."""
        if record.kind == FRAME and record.number == len(self):
            numbers = record.contents[DIGEST_BYTES:]
            if len(numbers) == 0 or len(numbers) % (np.dtype(self.dtype).itemsize * math.prod(self.row)):
                return False
            frame = np.frombuffer(numbers, self.dtype).reshape(-1, *self.row)
            if (
                self.coefficients
                and frame.shape != self.coefficients[0].shape
                or not np.isfinite(frame).all()
            ):
                return False
            self._starts.append(record.start)
            super().append(record.contents[:DIGEST_BYTES], frame)
            return True
        if record.number != len(self) - 1 or record.kind not in (STATE, SCENE, ROUGH):
            return False
        if record.kind == ROUGH:
            super().mark_rough()
            return True
        if record.kind == SCENE:
            self._scene = record.contents
            return True
        try:
            super().keep_state(record.number, jounce.State.from_bytes(record.contents))
        except ValueError:
            return False
        return True


class FinalCache(FileCache):
    """The final motion: the displacements (n, 3) f32 of all vertices of the cage."""

    magic, dtype, row = MAGIC, "<f4", (3,)
    # A state takes as much as thirty frames.
    frames_per_state = 48


class DraftCache(FileCache):
    """The motion of the modes: (m, 3, 4) f64."""

    magic, dtype, row = b"jounce draft motion 1\n", "<f8", (3, 4)


def opened(kind: type[Cache], path: Path) -> Cache | None:
    """The motion in a file, None without a motion of this kind."""
    if not is_of_kind(path, kind.magic):
        return None
    with path.open("rb") as file:
        file.seek(len(kind.magic))
        try:
            head = json.loads(file.readline())
            return kind(head["origin"], head["first"], path)
        except (ValueError, KeyError, TypeError):
            return None


def is_cache(path: Path) -> bool:
    """True for a final-motion file of Jounce."""
    return is_of_kind(path, MAGIC)
