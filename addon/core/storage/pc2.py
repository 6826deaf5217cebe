"""The PC2 point cache: positions of a fixed number of points, one sample a frame.

Little-endian: 12 bytes `POINTCACHE2`, then version 1 (i32), number of points (i32), first frame (f32), frames
a sample (f32), number of samples (i32), and the samples as f32 triples.
"""

import os
import platform
import re
import struct
from contextlib import suppress
from pathlib import Path

import numpy as np

from ..common.user_error import UserError

HEADER = struct.Struct("<12siiffi")
SIGNATURE = b"POINTCACHE2\0"
VERSION = 1
SUFFIX = ".pc2"
# An unfinished file has the writing process and machine in its name, to identify abandoned files.
MACHINE = re.sub(r"[^A-Za-z0-9_]", "_", platform.node())
PART = re.compile(rf".*{re.escape(SUFFIX)}\.{MACHINE}-(\d+)\.part")


class Writer:
    """Writes a cache beside its final place; the final name does not exist before `finish`.

    start: first frame. count: number of samples. size: of the finished file, in bytes.
    """

    def __init__(self, path: Path, points: int, start: int, count: int) -> None:
        self._path = path
        self._partial = path.with_name(f"{path.name}.{MACHINE}-{os.getpid()}.part")
        self._points = points
        self._left = count
        self.size = HEADER.size + 12 * points * count
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            sweep(path.parent)
            self._file = open(self._partial, "wb")  # noqa: SIM115
        except OSError as error:
            raise UserError(f"{path} cannot be written: {error.strerror}; choose another folder.") from error
        try:
            self._write(HEADER.pack(SIGNATURE, VERSION, points, start, 1.0, count))
        except UserError:
            self.discard()
            raise

    def add(self, positions: np.ndarray) -> None:
        """Appends a sample: positions (p, 3)."""
        if positions.shape != (self._points, 3) or not np.isfinite(positions).all():
            raise UserError(f"A frame of {self._path.name} has no finite place for each of its vertices.")
        self._write(np.ascontiguousarray(positions, "<f4").tobytes())
        self._left -= 1

    def finish(self) -> None:
        """Moves the complete file to its place, over an existing one."""
        try:
            self._file.close()
            if self._left != 0:
                raise UserError(f"{self._path.name} lacks {self._left} frames, so it was not written.")
            os.replace(self._partial, self._path)
            self._partial = self._path
        except OSError as error:
            raise UserError(
                f"{self._path} cannot be written: {error.strerror}; close programs that use it."
            ) from error

    def discard(self) -> None:
        """Removes the file, finished or not, if possible; may be called again."""
        # Closing writes the remainder, which fails on a full disk.
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._partial.unlink(missing_ok=True)

    def _write(self, data: bytes) -> None:
        try:
            self._file.write(data)
        except OSError as error:
            raise UserError(f"{self._path} cannot be written: {error.strerror}; free some space.") from error


def sweep(folder: Path) -> None:
    """Removes unfinished files of ended processes of this machine from a folder."""
    for path in folder.glob(f"*{SUFFIX}.*.part"):
        match = PART.fullmatch(path.name)
        if match is not None and not is_running(int(match[1])):
            with suppress(OSError):
                path.unlink()


def is_running(process: int) -> bool:
    """True if a process of this machine may still write."""
    if os.name == "nt":
        # Windows does not delete an open file.
        return process == os.getpid()
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def is_cache(path: Path) -> bool:
    """True for a complete cache by header and size."""
    try:
        with open(path, "rb") as file:
            signature, version, points, _, _, samples = HEADER.unpack(file.read(HEADER.size))
        size = HEADER.size + 12 * points * samples
        return signature == SIGNATURE and version == VERSION and path.stat().st_size == size
    except (OSError, struct.error):
        return False
