"""Locks of files: a single, living holder at a time."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from jounce_core.common.user_error import UserError
from jounce_core.storage.file_lock import FileLock

HOLD = """
import sys
sys.path[:0] = sys.argv[2:]
import conftest
from pathlib import Path
from jounce_core.storage.file_lock import FileLock
lock = FileLock(Path(sys.argv[1]))
for step in lock.taken():
    pass
print("held", flush=True)
sys.stdin.read()
lock.free()
"""


def holder(path):
    """Another process with the lock."""
    paths = [str(Path(__file__).parent), *filter(None, sys.path)]
    command = [sys.executable, "-c", HOLD, str(path), *paths]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


def test_a_lock_is_one_process_at_a_time(tmp_path):
    path = tmp_path / "folder" / "a.lock"
    path.parent.mkdir()
    other = holder(path)
    lock = FileLock(path)
    waiting = lock.taken()
    assert "Waiting" in next(waiting).stage
    other.communicate()
    list(waiting)
    assert path.exists()
    lock.free()
    assert list(path.parent.iterdir()) == []
    lock.free()


def test_who_dies_holds_nothing(tmp_path):
    path = tmp_path / "a.lock"
    other = holder(path)
    other.kill()
    other.wait()
    lock = FileLock(path)
    assert list(lock.taken()) == []
    lock.free()
    assert not path.exists()


def test_many_that_wait_hold_it_one_after_the_other(tmp_path):
    path, inside, most = tmp_path / "a.lock", [], []

    def work():
        lock = FileLock(path)
        for _ in lock.taken():
            pass
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.01)
        inside.pop()
        lock.free()

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 12


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(UserError, match="cannot be written"):
        list(FileLock(tmp_path / "file" / "a.lock").taken())
