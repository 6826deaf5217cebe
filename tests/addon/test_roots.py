"""Roots of props: found by what they touch, their origin, their parent or their shape."""

import numpy as np
import pytest
from jounce_core.mesh import roots
from jounce_core.mesh.roots import End
from test_pinned import rod

FAR = np.full(3, 100.0)


def root(points, triangles, gaps=None, origin=FAR, parent=None):
    gaps = np.full(len(points), np.inf) if gaps is None else gaps
    return roots.found(points, triangles, gaps, origin, parent)


def cone(low, high, turned=False):
    """A rod whose radius goes from one to another; turned: along x."""
    points, triangles = rod()
    points[:, :2] *= ((1.0 - points[:, 2:]) * low + points[:, 2:] * high) / 0.03
    return (points[:, [2, 1, 0]] if turned else points), triangles


def test_it_is_pinned_where_it_touches():
    points, triangles = rod()
    found = root(points, triangles, np.abs(points[:, 2] - 1.0))
    assert found.end is End.TOUCHES
    assert np.array_equal(found.pinned, points[:, 2] > 0.99)


def test_both_ends_that_touch_are_pinned():
    points, triangles = rod()
    found = root(points, triangles, np.minimum(points[:, 2], 1.0 - points[:, 2]))
    assert np.array_equal(found.pinned, (points[:, 2] > 0.99) | (points[:, 2] < 0.01))


def test_what_lies_along_its_length_has_no_root():
    points, triangles = rod()
    points = points[:, [2, 1, 0]]
    assert root(points, triangles, points[:, 2] - points[:, 2].min()) is None


@pytest.mark.parametrize("height", [0.02, 0.97])
def test_the_origin_at_an_end_is_the_root(height):
    points, triangles = rod()
    found = root(points, triangles, origin=np.array([0.0, 0.0, height]))
    assert found.end is End.ORIGIN
    assert np.array_equal(found.pinned, np.abs(points[:, 2] - round(height)) <= 0.03)


def test_the_end_towards_the_parent_is_the_root():
    points, triangles = rod()
    found = root(points, triangles, origin=np.zeros(3), parent=np.array([0.0, 0.0, 1.05]))
    assert found.end is End.PARENT
    assert points[found.pinned, 2].min() > 0.9


def test_the_thin_end_is_the_root():
    for low, high, least in ((0.01, 0.08, 0.0), (0.08, 0.01, 1.0)):
        points, triangles = cone(low, high)
        found = root(points, triangles)
        assert found.end is End.THIN
        assert np.abs(points[found.pinned, 2] - least).max() <= 0.03


def test_the_lowest_end_of_what_stands_is_the_root():
    points, triangles = rod()
    found = root(points, triangles)
    assert found.end is End.LOWEST
    assert np.array_equal(found.pinned, points[:, 2] <= 0.03 * np.ptp(points[:, 2]))


def test_what_floats_level_has_no_root():
    points, triangles = rod()
    assert root(points[:, [2, 1, 0]], triangles) is None


def test_stray_vertices_are_no_root():
    points, triangles = rod()
    points = np.concatenate([points, [[0.0, 0.0, -0.02]]])
    found = root(points, triangles)
    assert not found.pinned[-1] and found.pinned.any()


def sheet(width, length):
    s, t = np.meshgrid(np.linspace(0.0, length, 11), np.linspace(0.0, width, 6), indexing="ij")
    points = np.stack([s, t, 0.1 * s**2], axis=-1).reshape(-1, 3)
    a = np.array([row * 6 + column for row in range(10) for column in range(5)])
    return points, np.concatenate([np.stack([a, a + 6, a + 7], 1), np.stack([a, a + 7, a + 1], 1)])


def test_rods_and_narrow_sheets_sway_and_stout_bodies_and_cloths_do_not():
    assert roots.is_slender(*rod())
    assert roots.is_slender(*sheet(0.3, 1.0))
    assert not roots.is_slender(*sheet(0.8, 1.0))
    assert not roots.is_slender(*rod(1.0, 0.4))
    assert not roots.is_slender(*rod(1.0, 0.25))


def test_a_heavy_end_on_a_thin_one_sways():
    points, triangles = rod()
    ball, faces = rod(0.25, 0.12, (0.0, 0.0, 0.95))
    assert roots.is_slender(np.concatenate([points, ball]), np.concatenate([triangles, faces + len(points)]))
