"""Rest shapes that only the pose unfolds, distinguished from all others."""

import numpy as np
from jounce_core.mesh.rest_check import is_crumpled, posed_points
from jounce_core.mesh.surface import Surface


def strip(count=50):
    """A strip of triangles along x on two bones, weights blended over its middle."""
    x = np.arange(count) // 2 * 1.0
    points = np.column_stack((x, np.arange(count) % 2, np.zeros(count)))
    triangles = np.array([[i, i + 1, i + 2] for i in range(count - 2)])
    upper = np.clip((x - 10.0) / 5.0, 0.0, 1.0)
    return Surface(points, triangles, np.column_stack((1.0 - upper, upper)), ())


def pose(linear, offset=(0.0, 0.0, 0.0)):
    """The first bone rests, the second one has this transform."""
    rest = np.column_stack((np.eye(3), np.zeros(3)))
    return np.stack((rest, np.column_stack((linear, offset))))


def test_bends_moves_and_moderate_scales_are_fine():
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for moved in (pose(np.eye(3)), pose(turn, (12.0, -12.0, 0.0)), pose(1.5 * np.eye(3))):
        assert not is_crumpled(strip(), moved)


def test_a_rest_shape_of_another_size_or_torn_apart_is_found():
    assert is_crumpled(strip(), pose(0.1 * np.eye(3)))
    assert is_crumpled(strip(), pose(np.eye(3), (200.0, 0.0, 0.0)))


def test_posed_points_blend_linearly():
    points = posed_points(strip(), pose(np.eye(3), (0.0, 0.0, 2.0)))
    assert np.allclose(points[:, 2], 2.0 * strip().weights[:, 1])
