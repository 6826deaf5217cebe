"""The example of a thousand leaves: geometry nodes warp every instance by the amplitudes of its own modes."""

import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

COUNT, FRAME = 30, 17


@pytest.fixture
def leaves():
    import leaves

    return leaves


@pytest.fixture
def bush(leaves):
    return leaves.Bush(COUNT)


def turned(w, u):
    """The mean of the rotations from none to w of vectors u (.., 3), by Gauss's rule."""
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    axis = w / np.maximum(angle, 1e-300)
    along = axis * (axis * u).sum(axis=-1, keepdims=True)
    nodes, shares = np.polynomial.legendre.leggauss(20)
    mean = np.zeros_like(u)
    for node, share in zip(0.5 + 0.5 * nodes, 0.5 * shares, strict=True):
        cosine, sine = np.cos(node * angle), np.sin(node * angle)
        mean += share * (along + cosine * (u - along) + sine * np.cross(axis, u))
    return mean


def mixed(frames, frame, share):
    """Interpolation by a share of the way from a frame to the next."""
    return (1.0 - share) * frames[frame] + share * frames[frame + 1]


def quaternions(turns):
    return [Matrix(turn).to_quaternion() for turn in turns]


def expected(bush, frame, share, still=1.0):
    """Positions of the points of all leaves, (l p, 3)."""
    leaf, motion = bush.leaf, bush.motion
    amplitudes = still * mixed(motion.amplitudes, frame, share)
    u, w = (np.tensordot(amplitudes, fields, 1) for fields in (leaf.shapes, leaf.rotations))
    local = bush.scales[:, np.newaxis, np.newaxis] * (leaf.points + turned(w, u))
    pairs = zip(*(quaternions(motion.turns[at]) for at in (frame, frame + 1)), strict=True)
    turns = np.array([one.slerp(other, share).to_matrix() for one, other in pairs])
    world = mixed(motion.places, frame, share)[:, np.newaxis] + np.einsum("lij,lpj->lpi", turns, local)
    return world.reshape(-1, 3)


SHOWN = ((FRAME, 0.0, FRAME), (FRAME, 0.25, FRAME), (120, 0.0, 0), (120 + FRAME, 0.0, FRAME))


def test_nodes_warp_each_leaf_by_its_own_amplitudes(bush, leaves):
    long = np.ptp(bush.leaf.points[:, 0])
    for frame, share, shown in SHOWN:
        bpy.context.scene.frame_set(frame, subframe=share)
        points = leaves.evaluated(bush.leaves)
        np.testing.assert_allclose(points, expected(bush, shown, share), atol=2e-4 * long)
    assert np.abs(points - expected(bush, FRAME, 0.0, still=0.0)).max() > 0.3 * long


def test_branches_sway_and_leaves_ride_on_them(bush, leaves):
    motion = bush.motion
    for frame, share, shown in SHOWN:
        bpy.context.scene.frame_set(frame, subframe=share)
        points = leaves.evaluated(bush.twigs)
        np.testing.assert_allclose(points, mixed(motion.points, shown, share), atol=1e-6)
    swayed = np.linalg.norm(motion.points - motion.points.mean(axis=0), axis=2).max(axis=0)
    stations, around = bush.lines[0].rings.shape[:2]
    rings = swayed.reshape(-1, stations, around)
    assert rings[:, -1].mean() > 0.01 > rings[0, 0].max()
    # Leaves stay in their places on their branch: between the neighbouring rings.
    at = stations * bush.spots.twigs + bush.spots.stations
    middles = motion.points.reshape(leaves.FRAMES, -1, around, 3).mean(axis=2)
    for before, after in ((at, at + 1), (at + 1, at)):
        far = np.linalg.norm(motion.places - middles[:, before], axis=2)
        piece = np.linalg.norm(middles[:, after] - middles[:, before], axis=2)
        assert np.all(far < 1.1 * piece)


def test_many_leaves_are_instances_of_the_poses_of_a_few(leaves):
    forest = leaves.Forest(COUNT, 3)
    assert forest.poses.shape == (3, leaves.FRAMES, *forest.leaf.points.shape)
    assert set(forest.kinds) == {0, 1, 2} and np.ptp(forest.delays) > 1.0
    for frame in (FRAME, FRAME + leaves.FRAMES):
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        found = []
        for shown in graph.object_instances:
            if shown.is_instance and shown.parent.name == forest.leaves.name:
                points = np.array([vertex.co for vertex in shown.object.data.vertices])
                matrix = np.array(shown.matrix_world)
                found.append(points @ matrix[:3, :3].T + matrix[:3, 3])
        late = np.floor(FRAME - forest.delays).astype(int) % leaves.FRAMES
        local = forest.scales[:, np.newaxis, np.newaxis] * forest.poses[forest.kinds, late]
        world = forest.places[:, np.newaxis] + np.einsum("lij,lpj->lpi", forest.turns, local)
        np.testing.assert_allclose(found, world, atol=1e-5)


def test_leaves_swing_in_a_loop_and_none_as_another(bush):
    found = bush.amplitudes
    assert found.shape == (120, COUNT, 4)
    steps = np.abs(np.diff(found, axis=0)).max(axis=0)
    assert np.all(np.abs(found[0] - found[-1]) <= 1.2 * steps)
    places = bush.motion.places
    steps = np.abs(np.diff(places, axis=0)).max(axis=0)
    assert np.all(np.abs(places[0] - places[-1]) <= 1.2 * steps)
    likeness = np.corrcoef(found[:, :, 0].T) - np.eye(COUNT)
    assert likeness.max() < 0.999
    again = type(bush)(COUNT)
    assert np.array_equal(again.amplitudes, found)
