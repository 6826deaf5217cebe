"""Depth of flesh in colliders."""

import numpy as np
import pytest
from jounce_core.body.colliders import Colliders, Kind, Solid
from jounce_core.mesh.surface import Part, Surface
from jounce_core.shot.penetration import deepest, depths

FRAMES = 5


class Rigid:
    """Replacement for a body with displacements as coefficients."""

    embedding = None

    @property
    def model(self):
        return self

    def displacement(self, coefficients, _embedding, _out=None):
        return coefficients.astype(np.float32)


@pytest.fixture
def row():
    """Points along x in two parts, posed as at rest."""
    points = np.array([(0.1 * x, 0.0, 0.0) for x in range(11)])
    weights = np.eye(2)[(points[:, 0] > 0.45).astype(int)]
    surface = Surface(points, np.array([(0, 1, 2)]), weights, (Part("Row", slice(0, 11), np.eye(3)),))
    return surface, [np.tile(np.eye(3, 4), (2, 1, 1))] * FRAMES, np.full((FRAMES, 11, 3), 1e-4)


def ball(radius, spared=()):
    ring = radius * np.concatenate([np.eye(3), -np.eye(3)])
    return Solid("Ball", Kind.SPHERE, ring, np.empty((0, 3), np.int64), 64, np.array(spared, np.int64))


def at(*place):
    return np.concatenate([np.eye(3), np.array(place)[:, None]], axis=1)[None]


def found(row, solid, places):
    surface, poses, moved = row
    return deepest(surface, Rigid(), Colliders((solid,), 0.5), poses, list(moved), places)


def test_frame_part_and_depth_of_the_deepest_place_are_told(row):
    places = [at(1.0, 0.0, height) for height in (0.5, 0.19, 0.15, 0.18, 0.5)]
    (depth,) = found(row, ball(0.2), places)
    assert (depth.collider, depth.frame, depth.bone) == (0, 2, 1)
    assert depth.metres == pytest.approx(0.05, abs=1e-3)


def test_what_is_hardly_seen_or_held_or_passes_is_not_told(row):
    assert found(row, ball(0.2), [at(1.0, 0.0, 0.1995)] * FRAMES) == []
    assert found(row, ball(0.2, spared=(9, 10)), [at(1.0, 0.0, 0.18)] * FRAMES) == []
    row[2][:, 9:] = 0.0
    assert found(row, ball(0.2), [at(1.0, 0.0, 0.18)] * FRAMES) == []


def test_points_inside_have_their_depth_unless_spared():
    points = np.array([(0.0, 0.0, height) for height in (0.0, 0.15, 0.3)])
    known = Colliders((ball(0.2, spared=(11,)), ball(0.1)), 0.5)
    places = np.concatenate([at(0.0, 0.0, 0.0), at(0.0, 0.0, 0.3)])
    assert np.allclose(depths(known, places, places, points), [0.2, 0.05, 0.1], atol=1e-3)
    assert np.allclose(depths(known, places, places, points, start=10), [0.2, 0.0, 0.1], atol=1e-3)
