"""Final motions on disk: after any damage to a file, its valid frames are right, and writing continues."""

from functools import partial

import jounce
import numpy as np
import pytest
from jounce_core.passes.simulation_pass import SimulationPass
from jounce_core.stepping.motion import Schedule
from jounce_core.storage.final_cache import MAGIC, FinalCache, is_cache
from test_cache import ORIGIN, shake

DRIVES = [shake(frame) for frame in range(2 * FinalCache.frames_per_state + 5)]


@pytest.fixture(scope="module")
def model(body):
    """The body in the full space."""
    return body.full_space()


@pytest.fixture
def path(tmp_path):
    """Path of the motion; its folder is made by the cache."""
    return tmp_path / "caches" / "shot body.jounce"


def filled(model, drives, cache):
    """The cache after a pass over drives."""
    start = partial(jounce.Simulation, model, dt=1 / 24, damping=0.1, stiffness=0.01, max_iterations=5)
    filling = SimulationPass(cache, start, Schedule(pre_roll=2))
    for drive in drives:
        filling.feed(drive)
    filling.collect(wait=True)
    filling.close()
    return cache


@pytest.fixture(scope="module")
def whole(model):
    """The motion in memory alone."""
    return filled(model, DRIVES, FinalCache(ORIGIN, 1)).coefficients


def test_the_same_bits_come_back(model, whole, path):
    first = filled(model, DRIVES, FinalCache(ORIGIN, 1, path))
    assert first.trouble == "" and is_cache(path)
    again = FinalCache(ORIGIN, 1, path)
    assert again.digests == first.digests
    assert np.array_equal(again.coefficients, whole) and np.abs(whole).max() > 1e-3
    assert list(again.states) == [0, FinalCache.frames_per_state, 2 * FinalCache.frames_per_state]
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("count", [1, 30, FinalCache.frames_per_state + 1, len(DRIVES) - 1])
def test_a_motion_that_was_stopped_goes_on_from_where_it_was(model, whole, path, count):
    filled(model, DRIVES[:count], FinalCache(ORIGIN, 1, path))
    again = FinalCache(ORIGIN, 1, path)
    kept = list(again.coefficients)
    assert len(kept) == count
    filled(model, DRIVES, again)
    assert all(now is before for now, before in zip(again.coefficients, kept, strict=False))
    assert np.array_equal(again.coefficients, whole)
    assert np.array_equal(FinalCache(ORIGIN, 1, path).coefficients, whole)


def test_other_drives_change_the_file_from_there_on(model, path):
    filled(model, DRIVES, FinalCache(ORIGIN, 1, path))
    changed = [*DRIVES[:60], *(shake(2 * frame) for frame in range(60, 70))]
    filled(model, changed, FinalCache(ORIGIN, 1, path))
    expected = filled(model, changed, FinalCache(ORIGIN, 1)).coefficients
    assert np.array_equal(FinalCache(ORIGIN, 1, path).coefficients, expected)


def test_wherever_the_file_breaks_off_what_is_before_stands(model, path):
    drives = DRIVES[:5]
    expected = filled(model, drives, FinalCache(ORIGIN, 1, path)).coefficients
    data = path.read_bytes()
    for end in range(len(MAGIC), len(data), 97):
        path.write_bytes(data[:end])
        cache = FinalCache(ORIGIN, 1, path)
        assert np.array_equal(np.array(cache.coefficients), np.array(expected[: len(cache)]))
        filled(model, drives, cache)
        assert np.array_equal(cache.coefficients, expected)
        assert cache.trouble == ""
        assert np.array_equal(FinalCache(ORIGIN, 1, path).coefficients, expected)


def test_damage_is_noticed(model, path):
    drives = DRIVES[:5]
    expected = filled(model, drives, FinalCache(ORIGIN, 1, path)).coefficients
    data = path.read_bytes()
    rng = np.random.default_rng(3)
    for at in rng.integers(0, len(data), 60):
        damaged = bytearray(data)
        damaged[at] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        cache = FinalCache(ORIGIN, 1, path)
        assert all(np.array_equal(*pair) for pair in zip(cache.coefficients, expected, strict=False))


def test_the_file_of_another_motion_gives_way_to_the_first_frame(model, path):
    filled(model, DRIVES[:3], FinalCache(ORIGIN, 1, path))
    data = path.read_bytes()
    for other in (FinalCache(ORIGIN | {"Damping": "0.2"}, 1, path), FinalCache(ORIGIN, 2, path)):
        assert len(other) == 0 and path.read_bytes() == data
    filled(model, DRIVES[:2], other)
    assert len(FinalCache(ORIGIN, 2, path)) == 2 and len(FinalCache(ORIGIN, 1, path)) == 0


def test_what_jounce_has_not_made_stays(model, whole, path):
    path.parent.mkdir()
    path.write_bytes(b"thesis")
    cache = filled(model, DRIVES[:3], FinalCache(ORIGIN, 1, path))
    assert "has not made" in cache.trouble and path.read_bytes() == b"thesis" and not is_cache(path)
    assert np.array_equal(cache.coefficients, whole[:3])


def test_a_process_that_ends_as_it_begins_a_file_is_in_nobodys_way(model, whole, path, monkeypatch):
    def ends(self, data):
        with self.open("wb") as file:
            file.write(data[:3])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(type(path), "write_bytes", ends)
        filled(model, DRIVES[:2], FinalCache(ORIGIN, 1, path))
    cache = filled(model, DRIVES[:2], FinalCache(ORIGIN, 1, path))
    assert cache.trouble == ""
    assert np.array_equal(FinalCache(ORIGIN, 1, path).coefficients, whole[:2])
    assert list(path.parent.iterdir()) == [path]


def test_two_programs_do_not_write_to_one_file(model, whole, path):
    one, other = FinalCache(ORIGIN, 1, path), FinalCache(ORIGIN, 1, path)
    filled(model, DRIVES[:3], one)
    filled(model, DRIVES[:5], other)
    filled(model, DRIVES[:8], one)
    assert "another program" in one.trouble
    assert np.array_equal(one.coefficients, whole[:8])
    assert np.array_equal(FinalCache(ORIGIN, 1, path).coefficients, whole[:5])


def test_a_folder_that_cannot_be_written_is_told(model, whole, tmp_path):
    (tmp_path / "file").write_text("no folder")
    cache = filled(model, DRIVES[:3], FinalCache(ORIGIN, 1, tmp_path / "file" / "x.jounce"))
    assert "cannot be written" in cache.trouble
    assert np.array_equal(cache.coefficients, whole[:3])


def test_a_motion_can_move_to_another_file(model, path, tmp_path):
    here = filled(model, DRIVES[:60], FinalCache(ORIGIN, 1, path))
    data = path.read_bytes()
    there = here.moved(tmp_path / "other.jounce")
    assert path.read_bytes() == (tmp_path / "other.jounce").read_bytes() == data
    assert list(there.states) == list(here.states)


def test_a_file_knows_which_frames_have_not_converged(whole, path):
    cache = FinalCache(ORIGIN, 1, path)
    for index, coefficients in enumerate(whole[:6]):
        cache.append(bytes([index] * 16), coefficients)
        if index in (1, 4, 5):
            cache.mark_rough()
    assert FinalCache(ORIGIN, 1, path).rough == {1, 4, 5}
    again = FinalCache(ORIGIN, 1, path)
    again.truncate(5)
    again.append(bytes([9] * 16), whole[5])
    assert again.rough == FinalCache(ORIGIN, 1, path).rough == {1, 4}
    assert len(FinalCache(ORIGIN, 1, path)) == 6
    moved = again.moved(path.with_name("other.jounce"))
    assert moved.rough == {1, 4} and FinalCache(ORIGIN, 1, moved.path).rough == {1, 4}
