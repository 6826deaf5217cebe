"""Dents of a shown skin by its colliders."""

import numpy as np
import pytest
from jounce_core.body.colliders import Colliders, Kind, Solid
from jounce_core.common.user_error import UserError
from jounce_core.display.dents import Dents
from jounce_core.mesh.surface import Part, Surface

STILL = np.eye(3, 4)[None]
# The size of the box is the square root of three.
DEPTH = 0.03


@pytest.fixture
def surface(body):
    points = np.asarray(body.points)
    return Surface(
        points, np.asarray(body.triangles), np.ones((8, 1)), (Part("Box", slice(0, 8), np.eye(3)),)
    )


def ball(radius=0.2, spared=(), keeps_size=False):
    """A ball about the origin of its object."""
    ring = radius * np.concatenate([np.eye(3), -np.eye(3)])
    none = np.empty((0, 3), np.int64)
    return Solid("Ball", Kind.SPHERE, ring, none, 64, np.array(spared, np.int64), keeps_size)


def at(*place, scale=1.0):
    return np.concatenate([scale * np.eye(3), np.array(place)[:, None]], axis=1)[None]


def shown(body, surface, solid, first, now, shift=0.0):
    """The box, shifted along z by its bone, with small displacements along x."""
    pose = STILL.copy()
    pose[0, 2, 3] = shift
    dents = Dents(body, surface, Colliders((solid,), 0.5))
    return dents.dented(np.full((8, 3), (0.01, 0.0, 0.0), np.float32), pose, (first, now), 7)


def test_the_corner_in_a_collider_moves_out_of_it(body, surface):
    place = at(1.01, 1.0, 2.2 - DEPTH)
    after = shown(body, surface, ball(), at(0.0, 0.0, 9.0), place, shift=1.0)
    assert after.dtype == np.float32
    moved = np.argmax(np.abs(after - (0.01, 0.0, 0.0)).max(axis=1))
    assert surface.points[moved].tolist() == [1.0, 1.0, 1.0]
    assert after[moved] == pytest.approx((0.01, 0.0, -0.98 * DEPTH), abs=1e-5)
    assert (np.delete(after, moved, axis=0) == np.float32((0.01, 0.0, 0.0))).all()


def test_nothing_comes_of_a_collider_far_away_or_that_spares_the_point(body, surface):
    near = at(1.01, 1.0, 1.2 - DEPTH)
    assert shown(body, surface, ball(), near, at(0.0, 0.0, 9.0)) is None
    corner = np.flatnonzero((surface.points == 1.0).all(axis=1))
    assert shown(body, surface, ball(spared=corner), near, near) is None
    assert shown(body, surface, ball(), near, near) is not None


def test_colliders_have_the_size_of_the_first_frame_or_are_refused(body, surface):
    small, large = at(1.01, 1.0, 1.2 - DEPTH, scale=0.5), at(1.01, 1.0, 1.2 - DEPTH)
    assert shown(body, surface, ball(0.4), small, small) is not None
    assert shown(body, surface, ball(keeps_size=True), small, large) is None
    with pytest.raises(UserError, match="Ball has another size in frame 7"):
        shown(body, surface, ball(), small, large)
