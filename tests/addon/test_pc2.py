"""The point cache: what is written can be read, and half a file never stands under the final name."""

import struct

import numpy as np
import pytest
from jounce_core import pc2
from jounce_core.refusal import Refusal


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
    with pytest.raises(Refusal, match="lacks 1 frames"):
        writer.finish()
    writer.discard()
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.pc2"] and path.read_bytes() == before
    write(path, np.ones((2, 1, 3)))
    assert path.read_bytes() != before


@pytest.mark.parametrize("sample", [np.zeros((2, 3)), np.full((1, 3), np.nan)])
def test_what_is_no_shape_is_refused(tmp_path, sample):
    writer = pc2.Writer(tmp_path / "a.pc2", 1, 0, 1)
    with pytest.raises(Refusal, match="no finite place"):
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
