"""The cache of a motion: contents, detection of changes, and filling."""

from dataclasses import replace

import jounce
import numpy as np
import pytest
from jounce_core.common.user_error import UserError
from jounce_core.mesh.stitches import NONE, Stitches
from jounce_core.mesh.surface import Part, Surface
from jounce_core.passes.simulation_pass import SimulationPass
from jounce_core.stepping.motion import FrameInput, Schedule
from jounce_core.storage.cache import MotionCache, digest_of, surface_origin, unpack

FRAMES_PER_STATE = MotionCache.frames_per_state
ORIGIN = {"Mesh": "a", "Damping": "0.1"}


def shake(frame):
    """The drive of a frame with a shaking bone."""
    pose = np.eye(3, 4)[None].copy()
    pose[0, 0, 3] = 0.1 * np.sin(1.3 * frame)
    return FrameInput(pose, 1.0)


def filled(body, drives, cache=None):
    """A finished pass over some drives."""
    filling = SimulationPass(
        MotionCache(ORIGIN, 1) if cache is None else cache, lambda: start(body), Schedule(pre_roll=2)
    )
    for drive in drives:
        filling.feed(drive)
    filling.collect(wait=True)
    return filling


def start(body):
    return jounce.Simulation(body.model, dt=1 / 24, damping=0.1, stiffness=0.01)


def stepped(body, drives):
    """The coefficients by a simulation alone."""
    simulation = start(body)
    simulation.reset(drives[0].pose)
    for _ in range(2):
        simulation.step(drives[0].pose)
    frames = [np.array(simulation.coefficients)]
    for drive in drives[1:]:
        simulation.strength = drive.strength
        simulation.step(drive.pose)
        frames.append(np.array(simulation.coefficients))
    return np.array(frames)


DRIVES = [shake(frame) for frame in range(3 * FRAMES_PER_STATE + 5)]


def test_filling_gives_the_bits_of_the_simulation(body):
    cache = filled(body, DRIVES).cache
    expected = stepped(body, DRIVES)
    assert np.abs(expected).max() > 1e-3
    assert np.array_equal(cache.coefficients, expected)
    assert cache.frames == range(1, len(DRIVES) + 1)
    assert np.array_equal(cache.get(7), expected[6])
    assert cache.get(0) is None
    assert cache.get(len(DRIVES) + 1) is None


def test_whoever_waits_for_a_filling_learns_how_far_it_is(body):
    filling = SimulationPass(MotionCache(ORIGIN, first=1), lambda: start(body), Schedule())
    drives = [shake(frame) for frame in range(200)]
    for drive in drives:
        filling.feed(drive)
    fractions = [step.fraction for step in filling.caught_up()]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert len(filling.cache) == 200 and list(filling.caught_up()) == []


def test_what_is_still_right_is_kept_and_the_rest_has_the_bits_of_a_new_simulation(body):
    first = filled(body, DRIVES)
    before = list(first.cache.coefficients)
    changed = list(DRIVES)
    changed[40] = FrameInput(DRIVES[40].pose, 0.5)
    again = filled(body, changed, first.cache)
    assert all(kept is old for kept, old in zip(again.cache.coefficients[:40], before[:40], strict=True))
    assert np.array_equal(again.cache.coefficients, stepped(body, changed))
    assert not np.array_equal(again.cache.coefficients[40], before[40])


@pytest.mark.parametrize("count", [1, 5, FRAMES_PER_STATE, FRAMES_PER_STATE + 1])
def test_a_cache_without_states_is_continued_from_its_start(body, count):
    cache = unpack(filled(body, DRIVES[:count]).cache.pack())
    again = filled(body, DRIVES, cache)
    assert np.array_equal(again.cache.coefficients, stepped(body, DRIVES))


def test_the_state_after_any_frame_goes_on_as_the_motion_does(body):
    filling = filled(body, DRIVES)
    for index in (0, 3, FRAMES_PER_STATE, 40):
        simulation = filling.simulation_at(index)
        assert np.array_equal(simulation.coefficients, filling.cache.coefficients[index])
        simulation.step(DRIVES[index + 1].pose)
        assert np.array_equal(simulation.coefficients, filling.cache.coefficients[index + 1])


def test_frames_agree_with_their_own_drives_only(body):
    filling = filled(body, DRIVES[:3])
    assert filling.agrees(2, shake(2))
    assert filling.agrees(2, FrameInput(shake(2).pose, 1.0, offsets=np.ones(3)))
    assert not filling.agrees(2, shake(3))
    assert not filling.agrees(2, FrameInput(shake(2).pose, 0.5))
    assert not filling.agrees(2, FrameInput(shake(2).pose, 1.0, cut=True))
    assert not filling.agrees(2, FrameInput(shake(2).pose, 1.0, force=np.ones((3, 3, 4))))
    assert not filling.agrees(3, shake(3))
    assert not filling.agrees(-1, shake(2))
    assert filling.checked == 3


def test_poses_that_are_no_numbers_are_refused_and_what_was_cached_stays(body):
    filling = filled(body, DRIVES[:3])
    filling.feed(FrameInput(np.full((1, 3, 4), np.nan), 1.0))
    with pytest.raises(UserError, match="pose"):
        filling.collect(wait=True)
    assert len(filling.cache) == 3


def test_packing_keeps_every_bit(body):
    cache = filled(body, DRIVES[:5]).cache
    again = unpack(cache.pack())
    assert (again.first, again.origin, again.digests) == (cache.first, cache.origin, cache.digests)
    assert np.array_equal(again.coefficients, cache.coefficients)
    assert len(unpack(MotionCache(ORIGIN, 4).pack())) == 0


def test_damaged_bytes_hold_no_cache(body):
    packed = filled(body, DRIVES[:3]).cache.pack()
    assert unpack(b"") is None
    assert unpack(b"something else") is None
    assert all(unpack(packed[:length]) is None for length in range(0, len(packed), 7))
    assert unpack(packed + b"\0") is None
    assert unpack(packed[:-8] + np.array([np.nan]).tobytes()) is None


def test_a_cache_names_what_has_changed():
    cache = MotionCache(ORIGIN, 1)
    assert cache.changes(dict(ORIGIN)) == []
    assert cache.changes({"Mesh": "a", "Damping": "0.2"}) == ["Damping"]
    assert cache.changes({"Mesh": "b", "Damping": "0.1", "Gravity": "1"}) == ["Mesh", "Gravity"]


def test_the_origin_of_a_surface_tells_meshes_from_weights():
    points, weights = np.arange(12.0).reshape(4, 3), np.ones((4, 1))
    part = Part("A", slice(0, 4), np.eye(3))
    surface = Surface(points, np.array([[0, 1, 2]]), weights, (part,))
    origin = surface_origin(surface)
    assert surface_origin(Surface(points, np.array([[0, 1, 2]]), weights, (part,))) == origin
    cache = MotionCache(origin, 1)
    other = surface_origin(Surface(points, np.array([[0, 1, 2]]), weights * 2, (part,)))
    assert cache.changes(other) == ["Weights"]
    other = surface_origin(Surface(points + 1, np.array([[0, 1, 2]]), weights, (part,)))
    assert cache.changes(other) == ["Mesh"]


def test_motions_from_before_stitches_opened_stay_right():
    def origin(stitches):
        points = np.arange(12.0).reshape(4, 3)
        surface = Surface(points, np.array([[0, 1, 2]]), np.ones((4, 1)), (), stitches=stitches)
        return surface_origin(surface)["Stitches"]

    assert origin(NONE) == digest_of(np.empty((0, 2), np.int64), np.empty(0), np.empty(0))
    one, shut = np.ones(1), np.zeros(1, bool)
    sewn = Stitches(np.array([[0, 1]]), one, one, np.zeros(1, int), np.zeros(1), shut)
    assert origin(sewn) == digest_of(sewn.pairs, sewn.stiffness, sewn.gap)
    assert origin(replace(sewn, opens=~shut)) != origin(sewn)


def test_digests_tell_shapes_and_missing_arrays_apart():
    a = np.zeros((2, 3))
    assert digest_of(a) == digest_of(a.copy())
    assert len({digest_of(a), digest_of(a.T), digest_of(None, a), digest_of(a, None)}) == 4


def test_the_digest_of_a_drive_covers_all_of_it():
    drive = shake(1)
    assert drive.digest() == shake(1).digest()
    assert len({drive.digest(), shake(2).digest(), FrameInput(drive.pose, 0.5).digest()}) == 3
