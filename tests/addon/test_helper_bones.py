"""Keys of bones below their parents from their motions."""

import numpy as np
from jounce_core.bake.helper_bones import Skeleton, Wanted, evenly_scaled, keyed, with_helpers
from jounce_core.rig.volume import as_matrices

FRAMES = 7


def turned(random, count):
    """Random rotations (count, 3, 3)."""
    quaternions = random.normal(size=(count, 4))
    return as_matrices(quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True))


def placed(linear, places):
    """Matrices (n, 4, 4) of linear parts and places."""
    result = np.tile(np.eye(4), (len(linear), 1, 1))
    result[:, :3, :3], result[:, :3, 3] = linear, places
    return result


def chain(random):
    """Three bones, the root in the middle of the list."""
    rests = placed(turned(random, 3), random.normal(size=(3, 3)))
    return Skeleton(("tip", "root", "mid"), np.array([2, -1, 1]), rests, np.ones(3))


def poses(random, scales):
    """Motions (f, 3, 3, 4) of three bones."""
    linear = turned(random, 3 * FRAMES) * scales
    return placed(linear, random.normal(size=(3 * FRAMES, 3)))[:, :3].reshape(FRAMES, 3, 3, 4)


def replayed(skeleton, channels):
    """Blender's result of the channels, T (f, b, 4, 4)."""
    played = {}
    for bone in skeleton.order():
        linear = as_matrices(channels.rotations[:, bone]) * channels.scales[:, bone, None]
        own = placed(linear, channels.locations[:, bone])
        parent, rest = skeleton.parents[bone], skeleton.rests[bone]
        above = rest if parent < 0 else played[parent] @ np.linalg.inv(skeleton.rests[parent]) @ rest
        played[bone] = above @ own
    return np.stack([played[bone] @ np.linalg.inv(skeleton.rests[bone]) for bone in range(3)], axis=1)


def test_rigid_and_evenly_scaled_motions_are_keyed_exactly():
    random = np.random.default_rng(1)
    skeleton = chain(random)
    motion = poses(random, random.uniform(0.5, 2.0, (3 * FRAMES, 1, 1)))
    channels, played = keyed(skeleton, motion)
    assert np.allclose(played, motion, atol=1e-12)
    assert np.allclose(replayed(skeleton, channels)[:, :, :3], motion, atol=1e-12)


def test_what_is_said_to_be_played_is_what_the_channels_play_where_bones_are_sheared():
    random = np.random.default_rng(2)
    skeleton = chain(random)
    motion = poses(random, random.uniform(0.5, 2.0, (3 * FRAMES, 1, 3)))
    channels, played = keyed(skeleton, motion)
    assert np.allclose(replayed(skeleton, channels)[:, :, :3], played, atol=1e-12)
    assert not np.allclose(played, motion, atol=1e-3)


def test_a_bone_that_vanishes_leaves_finite_numbers():
    random = np.random.default_rng(3)
    motion = poses(random, 1.0)
    motion[3, 1, :, :3] = 0.0
    channels, played = keyed(chain(random), motion)
    for numbers in (channels.locations, channels.rotations, channels.scales, played):
        assert np.isfinite(numbers).all()


def test_turns_have_no_flips():
    random = np.random.default_rng(4)
    channels, _ = keyed(chain(random), poses(random, 1.0))
    assert ((channels.rotations[1:] * channels.rotations[:-1]).sum(axis=-1) >= 0.0).all()


def test_helpers_hang_below_what_keeps_angles():
    random = np.random.default_rng(5)
    skeleton = chain(random)
    scales = np.ones((FRAMES, 3, 1, 3))
    scales[:, 0, 0, 1] = 2.0
    even = evenly_scaled(poses(random, scales.reshape(-1, 1, 3)))
    assert even.tolist() == [False, True, True]
    points = random.normal(size=(4, 3))
    old = np.eye(3)[[0, 0, 2, 1]]
    new = np.concatenate((0.5 * old, 0.5 * np.eye(4)), axis=1)
    grown = with_helpers(skeleton, Wanted(points, np.zeros((1, 4, 3), np.float32), old), new, even)
    assert grown.parents[3:].tolist() == [2, 2, 2, 1]
    assert np.allclose(grown.rests[3:, :3, 3], points)
