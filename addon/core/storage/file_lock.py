"""Lock for one process at a time. The system releases the lock when the process ends in any way."""

import os
import sys
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

from ..common.task import Step
from ..common.user_error import UserError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# Seconds between two attempts.
WAIT_SECONDS = 0.2
# Number of consecutive refusals tolerated when Windows opens a file marked for deletion.
DENIALS = 10


class FileLock:
    """Exclusive access to the file of this name; the file is deleted with the lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = -1
        self._denied = 0

    def taken(self) -> Generator[Step, None, None]:
        """Waits until the lock is free, and takes the lock."""
        while not self._take():
            yield Step(0.0, f"Waiting for another program that works on {self._path.stem}")
            time.sleep(WAIT_SECONDS)

    def free(self) -> None:
        """Releases the lock."""
        if self._file < 0:
            return
        # After the release the name may belong to the next holder; Windows deletes no open file.
        if sys.platform == "win32":
            self._close()
        with suppress(OSError):
            self._path.unlink()
        self._close()

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _take(self) -> bool:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            self._denied += 1
            passes = sys.platform == "win32" and isinstance(error, PermissionError)
            if passes and self._denied <= DENIALS:
                return False
            raise UserError(f"{self._path} cannot be written ({error.strerror}).") from error
        self._denied = 0
        if is_locked(file) and self._is_there(file):
            self._file = file
            return True
        os.close(file)
        return False

    def _is_there(self, file: int) -> bool:
        """True if the open file still has a name; the holder removes the name on release."""
        try:
            return os.path.samestat(os.fstat(file), os.stat(self._path))
        except OSError:
            return False


def is_locked(file: int) -> bool:
    """Locks an open file; True if no other process holds the lock."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
