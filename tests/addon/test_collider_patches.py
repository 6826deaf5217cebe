"""Patches of deforming colliders: each triangle is in one, and each patch moves as its points do."""

from dataclasses import replace

import numpy as np
import pytest
from jounce_core.body import collider_patches
from jounce_core.body.colliders import Colliders, Kind, Solid


def ball(around=24, across=12):
    """Points and triangles of a ball of radius one, in rings between two poles."""
    turns, tilts = 2.0 * np.pi * np.arange(around) / around, np.pi * np.arange(1, across) / across
    ring = np.stack([np.cos(turns), np.sin(turns), np.zeros(around)], axis=1)
    rings = [np.sin(tilt) * ring + (0.0, 0.0, np.cos(tilt)) for tilt in tilts]
    points = np.concatenate([*rings, [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]])
    top, bottom, last = len(points) - 2, len(points) - 1, around * (across - 2)
    triangles = []
    for i in range(around):
        j = (i + 1) % around
        triangles += [(top, i, j), (bottom, last + j, last + i)]
        for low in range(0, last, around):
            triangles += [(low + i, low + around + i, low + j), (low + j, low + around + i, low + around + j)]
    return points, np.array(triangles)


POINTS, TRIANGLES = ball()


def assert_whole(patches):
    """Each triangle is in one patch, and no patch is too small to have a rotation."""
    assert np.array_equal(np.sort(np.concatenate(patches)), np.arange(len(TRIANGLES)))
    assert all(len(np.unique(TRIANGLES[patch])) >= collider_patches.FEWEST for patch in patches)


def test_even_patches_are_many_and_alike():
    patches = collider_patches.even(POINTS, TRIANGLES)
    assert_whole(patches)
    sizes = [len(patch) for patch in patches]
    assert len(patches) > 15 and max(sizes) < 8 * min(sizes)


@pytest.mark.parametrize("bones", [1, 2, 30, 200])
def test_patches_of_bones_are_those_of_the_heaviest_one(bones):
    turns = np.arange(bones) / bones * 2.0 * np.pi
    centres = np.stack([np.cos(turns), np.sin(turns), np.zeros(bones)], axis=1)
    weights = np.exp(-10.0 * np.linalg.norm(POINTS[:, None] - centres, axis=2))
    patches, heaviest = collider_patches.of_bones(POINTS, TRIANGLES, weights)
    assert_whole(patches)
    assert len(set(heaviest)) == len(heaviest) == len(patches)
    assert len(patches) == bones if bones < 3 else 10 < len(patches) <= min(bones, collider_patches.MOST)


def test_a_mesh_smaller_than_a_patch_is_one():
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], float)
    triangles = np.array([(0, 1, 2), (1, 3, 2)])
    ((patch,), _) = collider_patches.of_bones(corners, triangles, np.eye(4))
    assert patch.tolist() == [0, 1]
    (patch,) = collider_patches.even(corners, triangles)
    assert patch.tolist() == [0, 1]


def test_the_place_of_a_patch_is_that_of_its_points():
    rng = np.random.default_rng(5)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    for points in (rng.normal(size=(20, 3)), rng.normal(size=(20, 3)) * (1.0, 1.0, 0.0)):
        rotation, place = collider_patches.placed(points, points @ turn.T + (1.0, -2.0, 3.0))
        np.testing.assert_allclose(rotation, turn, atol=1e-12)
        np.testing.assert_allclose(place, (1.0, -2.0, 3.0), atol=1e-12)


@pytest.mark.parametrize("size", [(1.0, 1.0, 1.0), (2.0, 0.5, 1.0), (-1.0, 1.0, 1.0), (1.0, 0.0, 1.0)])
def test_a_patch_moves_as_its_bone_in_the_size_of_its_object(size):
    rng = np.random.default_rng(6)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    points, size = rng.normal(size=(20, 3)), np.diag(size)
    motion = np.column_stack([1.3 * turn @ size, (1.0, -2.0, 3.0)])
    found = collider_patches.of_motion(motion, size, points)
    middle = points.mean(axis=0)
    np.testing.assert_allclose(found[:, :3] @ middle + found[:, 3], motion[:, :3] @ middle + motion[:, 3])
    np.testing.assert_allclose(found[:, :3], turn @ size, atol=1e-12)


def test_patches_that_move_apart_collide_where_they_are():
    patches = [np.flatnonzero(POINTS[TRIANGLES].mean(axis=1)[:, 0] * side > 0.0) for side in (-1.0, 1.0)]
    ball = Solid("Ball", Kind.MESH, POINTS, TRIANGLES, 32, np.empty(0, np.int64), patches=tuple(patches))
    solids = (ball, replace(ball, patch=1))
    first = np.stack([np.eye(3, 4)] * 2)
    now = first.copy()
    now[1, 0, 3] = 5.0
    left, right = Colliders(solids, 0.5).distances(
        first, now, np.array([(-0.9, 0, 0), (0.9, 0, 0), (5.9, 0, 0)])
    )
    np.testing.assert_allclose(left[0], -0.1, atol=0.03)
    np.testing.assert_allclose(right[2], -0.1, atol=0.03)
    assert left[1] > 0.1 and right[0] > 4.0 and right[1] > 3.0
