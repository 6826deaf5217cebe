"""One process at a time: a lock that the system takes back from a process that ends, however it does."""

import os
import sys
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

from .task import Step
from .user_error import UserError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# How long a process waits before it asks again.
WAIT_SECONDS = 0.2
# How often in a row Windows may refuse to open a file that it is about to delete.
DENIALS = 10


class FileLock:
    """Whoever holds the file of this name; it goes with the lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = -1
        self._denied = 0

    def taken(self) -> Generator[Step, None, None]:
        """Waits until nobody else has it."""
        while not self._take():
            yield Step(0.0, f"Waiting for whoever works on {self._path.stem}")
            time.sleep(WAIT_SECONDS)

    def free(self) -> None:
        """Lets others have it."""
        if self._file < 0:
            return
        # A name that goes after the lock may be that of the next holder; Windows deletes nothing open.
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
        """Whether the file still has its name, which goes when its holder frees it."""
        try:
            return os.path.samestat(os.fstat(file), os.stat(self._path))
        except OSError:
            return False


def is_locked(file: int) -> bool:
    """Locks an open file; whether nobody else has."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
