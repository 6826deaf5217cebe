"""The point cache: written files can be read, and no partial file has the final name."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from jounce_core.common.user_error import UserError
from jounce_core.storage import pc2


def write(path, samples):
    """Writes samples (f, p, 3) from frame 5 on."""
    writer = pc2.Writer(path, samples.shape[1], 5, len(samples))
    for sample in samples:
        writer.add(sample)
    writer.finish()
    return writer


def test_the_file_is_as_the_format_says(tmp_path):
    samples = np.random.default_rng(0).normal(size=(3, 4, 3)).astype(np.float32)
    path = tmp_path / "new folder" / "a.pc2"
    writer = write(path, samples)
    data = path.read_bytes()
    assert struct.unpack("<12siiffi", data[:32]) == (b"POINTCACHE2\0", 1, 4, 5.0, 1.0, 3)
    assert np.array_equal(np.frombuffer(data[32:], "<f4").reshape(3, 4, 3), samples)
    assert writer.size == len(data)
    assert pc2.is_cache(path)


def test_an_earlier_file_stays_until_the_new_one_is_complete(tmp_path):
    path = tmp_path / "a.pc2"
    write(path, np.zeros((2, 1, 3)))
    before = path.read_bytes()
    writer = pc2.Writer(path, 1, 5, 2)
    writer.add(np.ones((1, 3)))
    with pytest.raises(UserError, match="lacks 1 frames"):
        writer.finish()
    writer.discard()
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.pc2"] and path.read_bytes() == before
    write(path, np.ones((2, 1, 3)))
    assert path.read_bytes() != before


@pytest.mark.parametrize("sample", [np.zeros((2, 3)), np.full((1, 3), np.nan)])
def test_what_is_no_shape_is_refused(tmp_path, sample):
    writer = pc2.Writer(tmp_path / "a.pc2", 1, 0, 1)
    with pytest.raises(UserError, match="no finite place"):
        writer.add(sample)
    writer.discard()


def test_other_files_are_no_caches(tmp_path):
    path = tmp_path / "a.pc2"
    assert not pc2.is_cache(path)
    path.write_bytes(b"POINT")
    assert not pc2.is_cache(path)
    write(path, np.zeros((2, 1, 3)))
    path.write_bytes(path.read_bytes()[:-1])
    assert not pc2.is_cache(path)


def run(program, folder):
    """Runs Python code on a folder in a separate process with a limit of 4096 bytes per file."""
    head = """
import resource, signal, sys
sys.path[:0] = sys.argv[2:]
import conftest, numpy as np
from pathlib import Path
from jounce_core.storage import pc2
from jounce_core.common.user_error import UserError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1]) / "a.pc2"
"""
    paths = [str(Path(__file__).parent), *filter(None, sys.path)]
    return subprocess.run([sys.executable, "-c", head + program, str(folder), *paths], check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits no file sizes")
def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path):
    program = """
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
writer = pc2.Writer(path, 100, 0, 9)
try:
    for _ in range(9):
        writer.add(np.zeros((100, 3)))
    writer.finish()
except UserError as refusal:
    assert "cannot be written" in str(refusal), refusal
else:
    raise SystemExit("nothing was refused")
writer.discard()
writer.discard()
"""
    assert run(program, tmp_path).returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows kills in other ways")
def test_what_a_killed_process_left_goes_with_the_next_cache(tmp_path):
    program = """
import os
writer = pc2.Writer(path, 100, 0, 9)
writer.add(np.zeros((100, 3)))
writer._file.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert run(program, tmp_path).returncode == -9
    (left,) = tmp_path.iterdir()
    kept = ["b.pc2.part", "b.pc2.elsewhere-1.part", f"b.pc2.{pc2.MACHINE}-{os.getpid()}.part", "notes.part"]
    for name in kept:
        (tmp_path / name).write_bytes(b"theirs")
    write(tmp_path / "c.pc2", np.zeros((2, 1, 3)))
    assert not left.exists()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted([*kept, "c.pc2"])
